#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the module in a server on this machine: what the commands do, and that seeds are in no
file, replica or child, and in memory only where they belong."""
import argparse
import os
import random
import signal
import sys
import time
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import tap  # noqa: E402

try:
    import fleet
    from redis.exceptions import ConnectionError as Gone, NoPermissionError, ResponseError
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(0)

MODULE = os.environ.get("PPRF_MODULE", fleet.MODULE)
SEED = 0
PROMPT = 4000  # ms: a few calls are answered within this time even on a busy machine


class Case(unittest.TestCase):
    options = ()

    def server(self, *options):
        s = fleet.Server(*options, module=MODULE)
        self.addCleanup(s.close)
        return s

    def wait(self, holds):
        for _ in range(1000):
            if holds():
                return
            time.sleep(0.02)
        self.fail("timed out")

    def error(self, words, call, *arguments):
        """The call fails with an error that begins with these words."""
        with self.assertRaises(ResponseError) as e:
            call(*arguments)
        text = str(e.exception)  # the client removes the word ERR
        self.assertTrue(text.startswith(words), f"{words!r} expected, got {text!r}")


class Commands(Case):
    def setUp(self):
        self.s = self.server()
        self.c = self.s.client()

    def test_values_are_those_of_the_tree(self):
        model = fleet.Tree(5)
        t = self.c.create("k", 5)
        got = {}
        for n in (1, 7, 4096):  # the last call asks for more than are left
            got.update(self.c.issue("k", t, n))
        self.assertEqual(got, {leaf: model.value(leaf) for leaf in range(32)})
        self.error("FULL", self.c.issue, "k", t, 1)
        for leaf in random.Random(SEED).sample(range(32), 32):
            self.assertEqual(self.c.claim("k", t, leaf)[1], model.value(leaf))

    def test_a_leaf_is_claimed_by_one_at_a_time(self):
        t, other = self.c.create("k", 4), self.s.client()
        self.c.issue("k", t, 16)
        lease, value = self.c.claim("k", t, 3)
        for client in (self.c, other):
            self.error("LEASED", client.claim, "k", t, 3)
        self.error("OVER", other.commit, "k", t, 3, lease + 1)
        self.error("OVER", other.release, "k", t, 3, lease + 1)
        self.error("OVER", other.release, "k", t, 4, lease)
        self.error("LEASED", other.claim, "k", t, 3)
        self.assertEqual(self.c.release("k", t, 3, lease), b"OK")
        self.error("OVER", self.c.release, "k", t, 3, lease)
        again, same = other.claim("k", t, 3)
        self.assertEqual(same, value)
        self.assertNotEqual(again, lease)
        self.error("OVER", self.c.commit, "k", t, 3, lease)  # the first lease's number is no longer valid
        self.assertEqual(other.commit("k", t, 3, again), b"OK")
        self.error("OVER", other.commit, "k", t, 3, again)
        self.error("OVER", other.release, "k", t, 3, again)
        self.assertIsNone(self.c.claim("k", t, 3))
        self.assertEqual(self.c.info("k")["leases"], 0)

    def test_one_of_racing_clients_gets_the_leaf(self):
        t = self.c.create("k", 8)
        self.c.issue("k", t, 256)
        clients = [self.s.client() for _ in range(8)]
        for leaf in range(64):
            for client in clients:
                client.send("PPRF.CLAIM", "k", t, leaf)
            won = 0
            for client in clients:
                try:
                    claimed = client.reply()
                    if claimed is None:  # the claim came after the winner's commit
                        continue
                    client.unmask(claimed[1])
                    client.commit("k", t, leaf, claimed[0])
                    won += 1
                except ResponseError as e:
                    self.assertTrue(str(e).startswith("LEASED"))
            self.assertEqual(won, 1)

    def test_an_unanswered_lease_ends_with_a_puncture(self):
        t = self.c.create("k", 4, "LEASE", PROMPT)
        self.c.issue("k", t, 16)
        leases = {leaf: self.c.claim("k", t, leaf)[0] for leaf in range(4)}
        self.c.release("k", t, 1, leases[1])
        self.c.commit("k", t, 2, leases[2])
        self.wait(lambda: self.c.info("k")["leases"] == 0)  # by the server's cron, without a claim
        for leaf in (0, 2, 3):
            self.assertIsNone(self.c.claim("k", t, leaf))
        self.error("OVER", self.c.release, "k", t, 0, leases[0])
        self.assertIsNotNone(self.c.claim("k", t, 1))

    def test_a_paused_server_lets_no_lease_live_longer(self):
        t = self.c.create("k", 4, "LEASE", 50)
        self.c.issue("k", t, 4)
        lease = self.c.claim("k", t, 0)[0]
        self.s.process.send_signal(signal.SIGSTOP)
        time.sleep(0.2)
        self.c.send("PPRF.RELEASE", "k", t, 0, lease)
        self.s.process.send_signal(signal.SIGCONT)
        self.error("OVER", self.c.reply)
        self.assertIsNone(self.c.claim("k", t, 0))

    def test_a_tree_ends(self):
        t = self.c.create("k", 4, "LIFETIME", PROMPT)
        self.c.issue("k", t, 4)
        self.c.claim("k", t, 1)
        self.wait(lambda: self.c.info("k")["live"] == 0)
        info = self.c.info("k")
        self.assertEqual((info["live"], info["leases"], info["nodes"]), (0, 0, 0))
        self.error("DEAD", self.c.claim, "k", t, 0)
        self.error("DEAD", self.c.issue, "k", t, 1)
        self.assertNotEqual(self.c.create("k", 4), t)  # the name is free again
        self.assertEqual(self.c("PTTL", "k"), -1)  # a tree does not end by the system's clock

    def test_the_id_tells_trees_apart(self):
        t = self.c.create("k", 4)
        self.c.issue("k", t, 4)
        other = f"{int(t, 16) ^ 1:016x}"
        before = self.c.info("k")
        for call in ("PPRF.CLAIM", "PPRF.ISSUE", "PPRF.PUNCT"):
            self.error("DEAD", self.c, call, "k", other, 1)
        self.error("DEAD", self.c.commit, "k", other, 1, 1)
        after = self.c.info("k")
        for field in ("issued", "leases", "nodes"):
            self.assertEqual(before[field], after[field])

    def test_a_leaf_never_issued_cannot_be_claimed(self):
        t = self.c.create("k", 4)
        self.c.issue("k", t, 4)
        for leaf in (4, 15, 16, 2**32 - 1):
            self.error("leaf", self.c.claim, "k", t, leaf)
        self.assertEqual(self.c.info("k")["nodes"], 1)
        self.assertEqual(list(self.c.issue("k", t, 1)), [4])

    def test_leaves_are_handed_back_by_their_connection_alone_and_once(self):
        model, t, other = fleet.Tree(5), self.c.create("k", 5), self.s.client()
        self.c.issue("k", t, 8)  # 0 to 7
        other.issue("k", t, 8)   # 8 to 15
        refused = [(self.c, 8, 15), (other, 0, 7), (self.c, 0, 6), (self.c, 0, 8), (self.c, 0, 15), (self.c, 16, 31)]
        for client, first, last in refused:
            self.error("NOTYOURS", client, "PPRF.RETURN", "k", t, first, last)
        self.assertEqual(self.c.info("k")["issued"], 16)
        self.assertEqual(self.c("PPRF.RETURN", "k", t, 3, 7), b"OK")
        for first in (0, 3, 5):
            self.error("NOTYOURS", self.c, "PPRF.RETURN", "k", t, first, 7)
        self.error("leaf", self.c.claim, "k", t, 3)
        self.error("leaf", self.c, "PPRF.PUNCT", "k", t, 0, 15)
        self.assertEqual(self.c.info("k")["issued"], 11)
        self.assertEqual(other.issue("k", t, 4), {leaf: model.value(leaf) for leaf in range(3, 7)})
        self.error("NOTYOURS", self.c, "PPRF.RETURN", "k", t, 3, 6)
        lease, _ = self.c.claim("k", t, 9)  # a ticket has it, even if its lease is released
        self.c.release("k", t, 9, lease)
        for first in (8, 9):
            self.error("NOTYOURS", other, "PPRF.RETURN", "k", t, first, 15)
        self.assertEqual(other("PPRF.RETURN", "k", t, 10, 15), b"OK")
        self.assertEqual(list(self.c.issue("k", t, 9)), [7])  # only contiguous leaves
        other.close()
        self.wait(lambda: b"clients:1\r" in self.c("INFO", "clients").replace(b"connected_", b""))
        again = self.s.client()
        self.error("NOTYOURS", again, "PPRF.RETURN", "k", t, 3, 6)
        self.assertEqual(list(again.issue("k", t, 9)), list(range(10, 19)))

    def test_punct(self):
        model, t = fleet.Tree(4), self.c.create("k", 4)
        self.c.issue("k", t, 16)
        self.c.claim("k", t, 5)
        self.assertEqual(self.c("PPRF.PUNCT", "k", t, 3, 9), b"OK")
        self.assertIsNone(self.c("PPRF.PUNCT", "k", t, 4))  # already punctured
        self.assertEqual(self.c("PPRF.PUNCT", "k", t, 0), b"OK")
        for leaf in range(16):
            if leaf == 5:
                self.error("LEASED", self.c.claim, "k", t, 5)
            elif leaf == 0 or 3 <= leaf <= 9:
                self.assertIsNone(self.c.claim("k", t, leaf))
            else:
                self.assertEqual(self.c.claim("k", t, leaf)[1], model.value(leaf))
        self.error("leaf", self.c, "PPRF.PUNCT", "k", t, 3, 16)
        more = self.c.create("more", 4)
        self.c.issue("more", more, 4)
        self.error("leaf", self.c, "PPRF.PUNCT", "more", more, 3, 4)  # leaf 4 must have a value when it is issued
        self.error("last leaf", self.c, "PPRF.PUNCT", "k", t, 3, 2)

    def test_bad_arguments_change_nothing(self):
        t = self.c.create("k", 4)
        self.c.issue("k", t, 8)
        self.c("SET", "string", "x")
        bad = {
            "wrong number of arguments": [
                ("PPRF.HELLO",), ("PPRF.CREATE", "n", 4, "LEASE"), ("PPRF.ISSUE", "k", t), ("PPRF.INFO",),
                ("PPRF.CLAIM", "k", t, 1, 1), ("PPRF.COMMIT", "k", t, 1), ("PPRF.PUNCT", "k", t),
                ("PPRF.RETURN", "k", t, 1)],
            "an X25519 public key": [("PPRF.HELLO", "x"), ("PPRF.HELLO", b"a" * 33)],
            "last leaf must be 2 to 4294967295": [("PPRF.RETURN", "k", t, 2, 1)],
            "NOTYOURS": [("PPRF.RETURN", "k", t, 6, x) for x in (6, 8, 2**32 - 1)],
            "no channel": [("PPRF.HELLO", b"\0" * 32)],
            "depth must be 1 to 32": [("PPRF.CREATE", "n", d) for d in (0, 33, -1, "four", "", 2**70)],
            "LEASE must be 1 to 604800000": [("PPRF.CREATE", "n", 4, "LEASE", x) for x in (0, -1, "s")],
            "LIFETIME must be 1 to 604800000": [("PPRF.CREATE", "n", 4, "LIFETIME", 604800001)],
            "options are": [("PPRF.CREATE", "n", 4, "TTL", 5)],
            "EXISTS": [("PPRF.CREATE", "k", 4), ("PPRF.CREATE", "k", 4, "INSTEAD", f"{int(t, 16) ^ 1:016x}"),
                       ("PPRF.CREATE", "k", 4, "INSTEAD", "0" * 16)],
            "WRONGTYPE": [("PPRF.CREATE", "string", 4), ("PPRF.ISSUE", "string", t, 1),
                          ("PPRF.INFO", "string")],
            "NOKEY": [("PPRF.ISSUE", "none", t, 1), ("PPRF.INFO", "none")],
            "n must be 1 to 4096": [("PPRF.ISSUE", "k", t, n) for n in (0, 4097, -1)],
            "leaf must be 0 to 4294967295": [("PPRF.CLAIM", "k", t, x) for x in (-1, 2**32, "0x1", "")],
            "a tree's id has": [("PPRF.CLAIM", "k", i, 1)
                                for i in (t + "0", "g" * 16, t[:15] + "\0", t[:15], "", "A" * 16)],
            "lease must be 1 to": [("PPRF.COMMIT", "k", t, 1, 0), ("PPRF.RELEASE", "k", t, 1, -1)],
        }
        before = self.c.info("k")
        for text, calls in bad.items():
            for words in calls:
                with self.subTest(words=words):
                    self.error(text, self.c, *words)
        after = self.c.info("k")
        before.pop("lifetime_left_ms"), after.pop("lifetime_left_ms")
        self.assertEqual(before, after)
        self.assertEqual(self.c("EXISTS", "n"), 0)
        self.assertIsNotNone(self.c.claim("k", t, 1))

    def test_a_tree_gives_way_to_one_that_names_it(self):
        old = self.c.create("k", 4)
        self.c.issue("k", old, 4)
        new = self.c.create("k", 5, "INSTEAD", old)
        self.error("DEAD", self.c, "PPRF.CLAIM", "k", old, 1)
        self.error("EXISTS", self.c, "PPRF.CREATE", "k", 5, "INSTEAD", old)
        self.assertEqual(self.c.info("k")["issued"], 0)
        self.assertEqual(self.c.info("k")["leaves"], 32)
        self.assertNotEqual(new, old)

    def test_nothing_in_clear_without_hello(self):
        t = self.c.create("k", 4)
        plain = self.s.client(hello=False)
        self.error("say PPRF.HELLO", plain, "PPRF.ISSUE", "k", t, 4)
        self.c.issue("k", t, 4)
        self.error("say PPRF.HELLO", plain, "PPRF.CLAIM", "k", t, 0)
        self.assertEqual(self.c.info("k")["leases"], 0)
        self.assertIsNotNone(self.c.claim("k", t, 0))

    def test_masks_never_repeat(self):
        model, t = fleet.Tree(4), self.c.create("k", 4)
        self.c.issue("k", t, 16)
        masks = set()
        for i in range(300):
            if i % 50 == 0:
                self.c.hello()
            lease, masked = self.c("PPRF.CLAIM", "k", t, 7)
            masks.add(bytes(a ^ b for a, b in zip(masked, model.value(7))))
            self.assertEqual(self.c.unmask(masked), model.value(7))
            self.c.release("k", t, 7, lease)
        self.assertEqual(len(masks), 300)

    def test_the_name_key_belongs_to_the_process(self):
        first, other = self.c.name_key(), self.s.client()
        self.assertEqual(len(first[0]), 16)
        self.assertEqual(other.name_key()[0], first[0])
        self.wait(lambda: self.c.name_key()[1] > first[1])
        self.error("say PPRF.HELLO first", self.s.client(hello=False), "PPRF.NAMEKEY")
        self.s.restart()
        self.assertNotEqual(self.s.client().name_key()[0], first[0])

    def test_channels_come_and_go(self):
        t = self.c.create("k", 4)
        for _ in range(3):
            clients = [self.s.client() for _ in range(100)]
            for client in clients:
                client.hello()
                client.close()
        self.assertEqual(len(self.c.issue("k", t, 4)), 4)

    def test_scripts_get_no_values(self):
        t = self.c.create("k", 4)
        self.c.issue("k", t, 4)
        for command in ("PPRF.CLAIM", "PPRF.ISSUE"):
            with self.assertRaisesRegex(ResponseError, "not allowed from script"):
                self.c("EVAL", f"return redis.call('{command}', 'k', '{t}', '1')", 1, "k")
        self.assertEqual(self.c.info("k")["leases"], 0)

    def test_acl(self):
        t = self.c.create("k:1", 4)
        self.c.issue("k:1", t, 4)
        self.c("ACL", "SETUSER", "host", "on", "nopass", "~k:*", "+ping", "+pprf.hello", "+pprf.issue",
               "+pprf.claim", "+pprf.commit", "+pprf.release")
        host = self.s.client(hello=False)
        host("AUTH", "host", "any")
        host.hello()
        lease, _ = host.claim("k:1", t, 1)
        host.commit("k:1", t, 1, lease)
        for words in (("PPRF.PUNCT", "k:1", t, 2), ("PPRF.CLAIM", "other", t, 2), ("GET", "k:1")):
            with self.assertRaises(NoPermissionError):
                host(*words)

    def test_documented(self):
        for name, arity in (("hello", 2), ("create", -3), ("issue", 4), ("return", 5), ("claim", 4), ("commit", 5),
                            ("release", 5), ("punct", -4), ("info", 2)):
            info = self.c("COMMAND", "INFO", f"pprf.{name}")[0]
            self.assertEqual(info[1], arity, name)
            docs = self.c("COMMAND", "DOCS", f"pprf.{name}")  # a list or a dict, depending on redis-py's version
            self.assertIn("summary", repr(docs))

    def test_counts(self):
        t = self.c.create("k", 4, "LEASE", PROMPT)
        self.c.issue("k", t, 5)
        lease, _ = self.c.claim("k", t, 0)
        self.c.commit("k", t, 0, lease)
        self.assertIsNone(self.c.claim("k", t, 0))
        lease, _ = self.c.claim("k", t, 1)
        self.error("LEASED", self.c.claim, "k", t, 1)
        self.c.release("k", t, 1, lease)
        self.c.claim("k", t, 2)
        self.wait(lambda: self.c.info("k")["leases"] == 0)
        self.error("DEAD", self.c.claim, "k", "0" * 16, 1)
        self.c("PPRF.PUNCT", "k", t, 3)
        got = dict(line.split(":") for line in self.c("INFO", "pprf").decode().split("\r\n") if ":" in line)
        self.assertEqual({k.removeprefix("pprf_"): int(v) for k, v in got.items()}, {
            "trees_live": 1, "leases": 0, "leaves_issued": 5, "leaves_returned": 0, "claims": 3,
            "claims_refused_used": 1, "claims_refused_leased": 1, "refused_dead": 1, "commits": 1, "releases": 1,
            "leases_run_out": 1, "ranges_punctured": 1})
        self.c("FLUSHALL", "ASYNC")
        self.wait(lambda: b"pprf_trees_live:0" in self.c("INFO", "pprf"))


class Volatile(Case):
    """A tree exists only in one process's memory."""

    def filled(self, s, depth=6):
        c = s.client()
        t = c.create("k", depth, "LEASE", 600000)
        c.issue("k", t, 1 << depth)
        for leaf in (1, 2, 40):
            c.commit("k", t, leaf, c.claim("k", t, leaf)[0])
        c.claim("k", t, 7)
        return c, t, fleet.Tree(depth)

    def dead(self, c, t):
        self.error("DEAD", c.claim, "k", t, 0)
        self.assertEqual(c.info("k")["live"], 0)
        self.assertEqual(c.info("k")["id"], t.encode())

    def test_a_restart_ends_it(self):
        for mode in (("--appendonly", "no"),
                     ("--appendonly", "yes", "--aof-use-rdb-preamble", "yes"),
                     ("--appendonly", "yes", "--aof-use-rdb-preamble", "no")):
            with self.subTest(mode=mode):
                s = self.server(*mode)
                c, t, model = self.filled(s)
                if mode[1] == "yes":
                    c("BGREWRITEAOF")
                    while b"aof_rewrite_in_progress:1" in c("INFO", "persistence") or \
                            b"aof_rewrite_scheduled:1" in c("INFO", "persistence"):
                        time.sleep(0.02)
                    c.claim("k", t, 9)
                else:
                    c("SAVE")
                files = s.files()
                self.assertGreater(len(files), 1)  # the append-only file and a dump
                self.assertEqual(fleet.files_hold(files, model.seeds()), set())
                s.restart()
                c = s.client()
                if mode[-1] == "no" and mode[1] == "yes":
                    self.error("NOKEY", c.claim, "k", t, 0)
                else:
                    self.dead(c, t)

    def test_a_dump_holds_no_seed_and_restores_dead(self):
        s = self.server()
        c, t, model = self.filled(s)
        dump = c("DUMP", "k")
        self.assertEqual(fleet.files_hold({"dump": dump}, model.seeds()), set())
        c("RESTORE", "copy", 0, dump)
        self.error("DEAD", c.claim, "copy", t, 0)
        self.assertEqual(c.info("copy")["live"], 0)
        self.assertIsNotNone(c.claim("k", t, 0))
        self.error("not supported for this module key", c, "COPY", "k", "copy2")
        c("RENAME", "k", "renamed")
        self.assertIsNotNone(c.claim("renamed", t, 3))

    def test_a_replica_has_nothing_and_promotion_gives_it_nothing(self):
        first, second = self.server("--repl-diskless-sync-delay", "0"), self.server()
        c, t, model = self.filled(first)
        r = second.client()
        r("REPLICAOF", "127.0.0.1", first.port)
        for _ in range(400):
            if b"master_link_status:up" in r("INFO", "replication"):
                break
            time.sleep(0.025)
        self.assertIn(b"master_link_status:up", r("INFO", "replication"))
        late = c.create("late", 6)
        c.issue("late", late, 64)
        c.commit("late", late, 5, c.claim("late", late, 5)[0])
        self.assertEqual(c("WAIT", 1, 2000), 1)
        later = fleet.Tree(6, 1)
        self.error("You can't write", r.claim, "k", t, 0)
        self.error("You can't write", r, "PPRF.CREATE", "mine", 4)
        r("CONFIG", "SET", "replica-read-only", "no")
        self.error("DEAD", r.claim, "k", t, 0)
        self.error("a replica has no trees", r, "PPRF.CREATE", "mine", 4)
        seeds = model.seeds() + later.seeds()
        self.assertEqual(fleet.memory_holds(second.process.pid, seeds), set())
        self.assertEqual(fleet.files_hold(second.files(), seeds), set())
        self.assertNotEqual(fleet.memory_holds(first.process.pid, seeds), set())  # the search finds what is there
        r("REPLICAOF", "NO", "ONE")
        self.dead(r, t)
        self.error("NOKEY", r.claim, "late", late, 1)
        self.assertIsNotNone(c.claim("k", t, 0))  # the first server still has it

    def test_a_child_has_no_seed(self):
        s = self.server("--rdb-key-save-delay", "2000000")
        c, _, model = self.filled(s)
        chain = c.chain
        c("BGSAVE")
        children = []
        for _ in range(200):
            with open(f"/proc/{s.process.pid}/task/{s.process.pid}/children") as f:
                children = f.read().split()
            if children:
                break
            time.sleep(0.01)
        self.assertEqual(len(children), 1)
        needles = model.seeds() + [chain]
        self.assertEqual(fleet.memory_holds(int(children[0]), needles), set())
        held = fleet.memory_holds(s.process.pid, needles)
        self.assertIn(chain, held)
        self.assertGreater(len(held), 2)

    def test_what_is_punctured_is_in_no_byte_of_the_server(self):
        s = self.server()
        c, t, model = self.filled(s, 7)
        order = random.Random(SEED).sample(range(128), 128)
        punctured = [1, 2, 40]
        for leaf in order[:100]:
            got = c.claim("k", t, leaf) if leaf not in (1, 2, 40, 7) else None
            if got is not None:
                c.commit("k", t, leaf, got[0])
                punctured.append(leaf)
        held = fleet.memory_holds(s.process.pid, model.seeds())
        self.assertEqual(held & set(model.forbidden(punctured)), set())
        live = {model.level[h][i] for h in range(8) for i in range(1 << (7 - h))
                if not any(leaf >> h == i for leaf in punctured)
                and (h == 7 or any(leaf >> (h + 1) == i >> 1 for leaf in punctured))}
        self.assertEqual(held, live)  # exactly the seeds of the cover
        c("PPRF.PUNCT", "k", t, 0, 127)
        self.assertEqual(fleet.memory_holds(s.process.pid, model.seeds()), set())

    def test_an_old_chain_key_is_gone(self):
        s = self.server()
        c, t, _ = self.filled(s)
        old = c.chain
        self.assertIsNotNone(c.claim("k", t, 0))
        self.assertEqual(fleet.memory_holds(s.process.pid, [old, c.chain]), {c.chain})
        last = c.chain
        c.close()
        for _ in range(100):
            if not fleet.memory_holds(s.process.pid, [last]):
                break
        self.assertEqual(fleet.memory_holds(s.process.pid, [last]), set())

    def test_a_tree_that_goes_is_wiped(self):
        for how in (("DEL", "k"), ("UNLINK", "k"), ("FLUSHALL",), ("FLUSHALL", "ASYNC"), ("SET", "k", "x"),
                    ("PEXPIRE", "k", "1")):
            with self.subTest(how=how):
                s = self.server()
                c, _, model = self.filled(s)
                c(*how)
                for _ in range(20):
                    time.sleep(0.05)
                    if not fleet.memory_holds(s.process.pid, model.seeds()):
                        break
                self.assertEqual(fleet.memory_holds(s.process.pid, model.seeds()), set())
                s.close()


class Trouble(Case):
    def test_the_module_that_ships(self):
        s = fleet.Server(module=fleet.SHIPPED)
        self.addCleanup(s.close)
        c = s.client()
        values = []
        for key in ("k", "l"):
            t = c.create(key, 4)
            issued = c.issue(key, t, 16)
            values += issued.values()
            for leaf, value in issued.items():
                lease, same = c.claim(key, t, leaf)
                self.assertEqual(same, value)
                c.commit(key, t, leaf, lease)
                self.assertIsNone(c.claim(key, t, leaf))
        self.assertEqual(len(set(values)), 32)  # the roots are random
        self.assertEqual(set(values) & set(fleet.Tree(4).level[0]), set())
        self.assertEqual(fleet.memory_holds(s.process.pid, values), set())

    def test_eviction_is_refused(self):
        s = self.server("--maxmemory", "100mb", "--maxmemory-policy", "allkeys-lru")
        c = s.client()
        self.error("maxmemory-policy", c.create, "k", 4)
        c("CONFIG", "SET", "maxmemory-policy", "volatile-ttl")
        self.error("maxmemory-policy", c.create, "k", 4)
        c("CONFIG", "SET", "maxmemory-policy", "noeviction")
        c.create("k", 4)

    def test_out_of_memory_tickets_are_still_redeemed(self):
        c = self.server().client()
        t = c.create("k", 10)
        c.issue("k", t, 8)
        c("CONFIG", "SET", "maxmemory", "1")
        for call in ((c.issue, "k", t, 1), (c.create, "other", 4)):
            with self.assertRaisesRegex(ResponseError, "maxmemory"):
                call[0](*call[1:])
        lease, _ = c.claim("k", t, 3)
        self.assertEqual(c.commit("k", t, 3, lease), b"OK")

    def test_a_killed_clients_lease_expires(self):
        s = self.server()
        c = s.client()
        t = c.create("k", 4, "LEASE", PROMPT)
        c.issue("k", t, 4)
        c.claim("k", t, 1)
        c.close()
        other = s.client()
        self.error("LEASED", other.claim, "k", t, 1)
        self.wait(lambda: other.info("k")["leases"] == 0)
        self.assertIsNone(other.claim("k", t, 1))

    def test_kill_loses_the_tree_and_nothing_more(self):
        s = self.server("--appendonly", "yes")
        c = s.client()
        t = c.create("k", 8)
        c("SET", "other", "data")
        c.issue("k", t, 256)
        s.restart(signal.SIGKILL)
        with self.assertRaises((Gone, OSError)):
            c.claim("k", t, 1)
        c = s.client()
        self.error("NOKEY", c.claim, "k", t, 1)
        self.assertEqual(c("GET", "other"), b"data")

    def test_it_is_not_unloaded(self):
        c = self.server().client()
        with self.assertRaises(ResponseError):
            c("MODULE", "UNLOAD", "pprf")
        c.create("k", 4)


def main():
    global SEED
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    p.add_argument("test", nargs="*")
    a = p.parse_args()
    SEED = a.seed
    if fleet.SERVER is None:
        print("1..0 # SKIP neither valkey-server nor redis-server is installed")
        return 0
    return tap.run((Commands, Volatile, Trouble), a.test, a.seed)


if __name__ == "__main__":
    sys.exit(main())
