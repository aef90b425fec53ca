#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The tests of the tests: plants bugs in a copy of the module one at a time, and the tests that are named
must fail.  TAP.  Needs CC, CPPFLAGS, LDLIBS, OBJ, TLS_OBJ and KNOWN from make."""
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
FILES = ["tree.c", "tree.h", "channel.c", "channel.h", "chain.c", "chain.h", "pprf_module.c", "server_api.h"]
HOST_FILES = ["fleet.c", "wire.c", "target.c"]
WRAP = ["-Wl,--wrap=" + f for f in ("clock_gettime", "pprf_punct", "malloc")]

# name, file, text, what takes its place; the tests of test_valkey.py, none: test_tree
BUGS = [
    ("a commit does not puncture", "tree.c", "int err = pprf_punct(t->key, l->leaf);", "int err = PPRF_OK;"),
    ("a release is free for all", "tree.c", "l == NULL || l->number != lease)\n    return leave(TREE_OVER);\n"
     "  remove_lease", "l == NULL)\n    return leave(TREE_OVER);\n  remove_lease",
     "a_leaf_is_claimed_by_one_at_a_time"),
    ("a leaf is leased twice", "tree.c", "if (find_lease(t, leaf) != NULL) {", "if (0) {"),
    ("a lease that runs out is given back", "tree.c", "if (puncture_leased(t, t->first.next) != PPRF_OK)\n"
     "      return; /* the next sweep tries again */", "remove_lease(t, t->first.next);"),
    ("leases last for ever", "tree.c", "now >= t->first.next->until", "0"),
    ("a lease is forgotten when its puncture fails", "tree.c",
     "  if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED)\n    return err;\n  remove_lease",
     "  if (err != PPRF_OK && err != PPRF_ERR_PUNCTURED) {\n    remove_lease(t, l);\n    return err;\n  }\n"
     "  remove_lease"),
    ("a failed commit can be released", "tree.c", "    l->number = 0;", "    ;"),
    ("leaves are issued twice", "tree.c", "t->issued += count;", "t->issued += count - 1;"),
    ("what was not issued can be claimed", "tree.c", "if (leaf >= t->issued)", "if (0)"),
    ("what was not issued can be punctured", "tree.c", "last >= t->issued)", "0)"),
    ("trees of another suite", "tree.c", ".suite = PPRF_SHA3_256}", ".suite = PPRF_SHA3_256_SALTED}"),
    ("any id will do", "tree.c", "t->key != NULL && t->id == id)", "t->key != NULL)"),
    ("leases are not bounded", "tree.c", "t->leases >= TREE_LEASES_MAX", "0"),
    ("the system's time is used", "tree.c", "CLOCK_BOOTTIME, &t", "CLOCK_REALTIME, &t"),
    ("a tree lives for ever", "tree.c", "if (now >= t->until) {", "if (0) {"),
    ("a tree is of another suite", "tree.c", ".suite = PPRF_SHA3_256}", ".suite = PPRF_SHA3_256_SALTED}",
     "masks_never_repeat"),
    ("a value is left in the reply", "pprf_module.c", "int masked = channel_mask(channel, value, n) == 0;",
     "int masked = 1; (void)channel;", "what_is_punctured_is_in_no_byte_of_the_server"),
    ("the chain key stands still", "chain.c", "memcpy(chain, mask, CHAIN_KEY_BYTES);", ";",
     "masks_never_repeat"),
    ("a channel outlives its client", "pprf_module.c", "  channel_close((int)c - 1);\n  (void)server.DictDelC",
     "  (void)server.DictDelC", "an_old_chain_key_is_gone"),
    ("chain keys go to a child", "channel.c", "(void)madvise(p, bytes, MADV_WIPEONFORK);", "",
     "a_child_has_no_seed"),
    ("a replica makes trees", "pprf_module.c", "(server.GetContextFlags(ctx) & SERVER_IS_PRIMARY) == 0", "0",
     "a_replica_has_nothing_and_promotion_gives_it_nothing"),
    ("eviction is not looked at", "pprf_module.c", "if (evicts(ctx))", "if (0)", "eviction_is_refused"),
    ("a script may claim", "pprf_module.c", '"pprf.claim", "write fast deny-script"', '"pprf.claim", "write fast"',
     "scripts_get_no_values"),
    ("a tree restored is alive", "pprf_module.c", "  return tree_dead((unsigned)depth, id);",
     "  struct tree *t;\n  (void)tree_dead;\n  return tree_new(&t, (unsigned)depth, 1000000, 1000) ? NULL : t;",
     "a_dump_holds_no_seed_and_restores_dead"),
    ("a value is in the dump", "pprf_module.c", "  server.SaveUnsigned(io, s.id);",
     "  uint8_t v[16];\n  uint64_t l, at[2];\n  (void)tree_claim(value, s.id, 20, &l, v);\n"
     "  memcpy(at, v, 16);\n  (void)at;\n  server.SaveUnsigned(io, s.id);\n  server.SaveUnsigned(io, at[0]);",
     "a_dump_holds_no_seed_and_restores_dead"),
]

# name, the test of test_host.py, then file, text, what takes its place
HOST_BUGS = [
    ("a ticket is redeemed without its lease", "of_all_calls_one_redeems",
     "fleet.c", "!forget(f->own, ticket, &t)) {", "(forget(f->own, ticket, &t), 0)) {"),
    ("a ticket stays open when it is redeemed", "of_all_calls_one_redeems",
     "fleet.c", "    *found = (struct ticket){0};", "    ;"),
    ("redeeming tells the server nothing", "the_server_is_told",
     "fleet.c", 'answer(&f->own->line[t.server], "PPRF.COMMIT", &t);', "(void)answer;"),
    ("a released ticket stays leased", "of_all_calls_one_redeems",
     "fleet.c", '    answer(&f->own->line[t.server], "PPRF.RELEASE", &t);', "    ;"),
    ("a leaf is issued twice", "trees_follow_each_other", "fleet.c", "    spent = b->next == b->n;",
     "    static int k;\n    b->next -= b->next < b->n && k++ == 3;\n    spent = b->next == b->n;",
     "fleet.c", "    OPENSSL_cleanse(b->value[b->next++], PPRF_SEED_BYTES);", "    b->next++;"),
    ("a value stays behind", "values_in_memory",
     "fleet.c", "OPENSSL_cleanse(b->value[b->next++], PPRF_SEED_BYTES);", "b->next++;"),
    ("a child has the parent's leaves", "a_child_has_leaves_of_its_own",
     "fleet.c", "(void)madvise(f->own, sizeof *f->own, MADV_WIPEONFORK);", "",
     "fleet.c", "memset(f->own, 0, sizeof *f->own);", ";"),
    ("a child keeps the connections", "connections_are_not_the_child_s",
     "fleet.c", "    close_fds(f);\n    if", "    if"),
    ("an event has a standard stream's number", "no_descriptor_is_a_standard_stream_s",
     "fleet.c", "l->fds[HALT_FD] = above_standard(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));",
     "l->fds[HALT_FD] = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);"),
    ("a connection has a standard stream's number", "no_descriptor_is_a_standard_stream_s",
     "wire.c", "above_standard(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));",
     "socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);"),
    ("old tickets are taken", "old_tickets_are_refused", "fleet.c", "if (is_too_old(f, n.made, ahead))", "if (0)"),
    ("an old tree is issued from", "leaves_of_an_old_tree_are_not_issued",
     "fleet.c", "b->next == b->n || now >= b->until", "b->next == b->n"),
    ("a host takes its own suite for the servers'", "a_host_names_the_servers_suite_and_none_may_be_given",
     "fleet.c", ".suite = server_origin.family.suite", ".suite = PPRF_AES_128"),
    ("a suite is taken and ignored", "a_host_names_the_servers_suite_and_none_may_be_given",
     "fleet.c", "o->suite != 0 ||", ""),
    ("names are in the clear", "names_say_nothing", "fleet.c", "return name_block(key, 1, plain, name);",
     "memcpy(name, plain, NAME_BYTES);\n  return key != NULL;"),
    ("a full tree is the last", "trees_follow_each_other",
     "fleet.c", "    l->tree.id = 0; /* it is full", "    ; /* it is full"),
    ("a connection is used after an answer that is late", "an_answer_that_is_late_is_nobody_s",
     "fleet.c", "  l->broken |= broken;", "  (void)broken;"),
    ("a wait has no end", "a_wait_has_an_end", "wire.c", "if (now >= deadline)\n      return -1;", ";",
     "wire.c", "poll(p, 2, (int)(deadline - now))", "poll(p, 2, -1)"),
    ("masks are not taken away", "of_all_calls_one_redeems",
     "fleet.c", "if (chain_mask(l->claims_chain, value, PPRF_SEED_BYTES) != 0)", "if (0)"),
]


def build_host(folder):
    flags = shlex.split(os.environ["CPPFLAGS"]) + ["-I" + folder, "-I" + os.path.join(TOP, "tls"), "-I" + HERE]
    objects = shlex.split(os.environ["TLS_OBJ"]) + shlex.split(os.environ["OBJ"])
    return subprocess.run([os.environ["CC"], *flags, "-std=c11", "-O1", "-w", "-fPIC", "-Wl,--wrap=clock_gettime", "-o",
                           os.path.join(folder, "host"), os.path.join(HERE, "host.c"), os.path.join(HERE, "chain.c"),
                           *(os.path.join(folder, f) for f in HOST_FILES), *objects, "-lhiredis", "-lssl",
                           *shlex.split(os.environ["LDLIBS"])], cwd=TOP, stdout=sys.stderr,
                          stderr=sys.stderr).returncode == 0


def build(folder, target):
    flags = shlex.split(os.environ["CPPFLAGS"]) + ["-I" + folder, "-I" + os.path.join(TOP, "valkey")]
    cc = [os.environ["CC"], *flags, "-std=c11", "-O1", "-w", "-fPIC", "-fvisibility=hidden"]
    sources = [os.path.join(folder, f) for f in FILES if f.endswith(".c")]
    tail = shlex.split(os.environ["LDLIBS"])
    if target == "test_tree":
        command = cc + WRAP + ["-o", os.path.join(folder, target), os.path.join(HERE, "test_tree.c"),
                               os.path.join(folder, "tree.c"), *shlex.split(os.environ["OBJ"]), *tail]
    else:
        command = cc + ["-shared", "-Wl,-z,defs", "-o", os.path.join(folder, "pprf.so"), *sources,
                        os.environ["KNOWN"], *shlex.split(os.environ["OBJ"]), *tail]
    return subprocess.run(command, cwd=TOP, stdout=sys.stderr, stderr=sys.stderr).returncode == 0


def passes(folder, tests, host=()):
    """Whether the tests pass; None: they do not compile, or hang."""
    target = "pprf.so" if tests else "test_tree"
    if not (build_host(folder) if host else build(folder, target)):
        return None
    if tests or host:
        command = [sys.executable, os.path.join(HERE, "test_host.py" if host else "test_valkey.py"), "--seed", "1",
                   *("test_" + t for t in host or tests)]
    else:
        command = [os.path.join(folder, "test_tree")]
    env = dict(os.environ, PPRF_MODULE=os.path.join(folder, "pprf.so"), SEED="1", STOP="1",
               PPRF_HOST=os.path.join(folder, "host"))
    if host:
        env.update(PPRF_MODULE="", PATIENCE="40")
    try:
        return subprocess.run(command, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              timeout=300).returncode == 0
    except subprocess.TimeoutExpired:
        return None


def main(only=sys.argv[1:]):
    try:
        import fleet
        server = fleet.SERVER
    except ImportError:
        server = None
    count = failed = 0

    def report(ok, name):
        nonlocal count, failed
        count += 1
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {count} - {name}", flush=True)

    for name, file, text, change, *tests in (b for b in BUGS if not only or b[0] in only):
        with tempfile.TemporaryDirectory(prefix="pprf-planted-") as folder:
            for f in FILES:
                shutil.copy(os.path.join(HERE, f), folder)
            path = os.path.join(folder, file)
            with open(path) as f:
                content = f.read()
            if content.count(text) != 1:
                report(False, f"{name}: its place is not found")
                continue
            with open(path, "w") as f:
                f.write(content.replace(text, change))
            if tests and server is None:
                count += 1
                print(f"ok {count} - {name} # SKIP no server", flush=True)
                continue
            report(passes(folder, tests) is False, name)
    hosts = [b for b in HOST_BUGS if not only or b[0] in only]
    if not only and "ALL" not in os.environ:  # each needs a server or two
        seed = os.environ.get("SEED") or str(time.time_ns())
        print(f"# SEED={seed}: 3 of {len(hosts)} bugs of a host; ALL=1: all")
        hosts = random.Random(seed).sample(hosts, 3)
    for name, test, *changes in hosts:
        if server is None:
            count += 1
            print(f"ok {count} - {name} # SKIP no server", flush=True)
            continue
        with tempfile.TemporaryDirectory(prefix="pprf-planted-") as folder:
            for f in HOST_FILES:
                shutil.copy(os.path.join(TOP, "tls", f), folder)
            found = True
            for file, text, change in zip(changes[::3], changes[1::3], changes[2::3]):
                path = os.path.join(folder, file)
                with open(path) as f:
                    content = f.read()
                found &= content.count(text) == 1
                with open(path, "w") as f:
                    f.write(content.replace(text, change))
            report(found and passes(folder, [], [test]) is False, name if found else f"{name}: its place is not found")
    with tempfile.TemporaryDirectory(prefix="pprf-planted-") as folder:
        for f in FILES:
            shutil.copy(os.path.join(HERE, f), folder)
        for f in HOST_FILES:
            shutil.copy(os.path.join(TOP, "tls", f), folder)
        report(passes(folder, []) is True, "without a bug the tests pass")
        if server is not None:
            report(passes(folder, [], sorted({b[1] for b in hosts})) is True, "so do those of a host")
    print(f"1..{count}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
