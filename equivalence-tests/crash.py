#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TAP: a key file is as before or as after `pprf punct` and `pprf setup --force`, never between.

  - every call that can fail (files, memory, digest, random generator) fails, each in turn;
  - the program is killed before every such call in turn;
  - `pprf punct` is killed at random moments (100; --full: 1000).

After each: the file decodes and holds the old key or the new one; the new one if the program said
that it was done.  The environment's SEED repeats the random moments.
"""
import hashlib
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

BUILD = os.environ.get("BUILD", "build")
PPRF = os.path.join(BUILD, "pprf")
PRELOAD = os.path.abspath(os.path.join(BUILD, "equivalence-tests", "crash_preload.so"))
DONE, PUNCTURED = 0, 3
number = failed = 0


def result(ok, claim):
    global number, failed
    number += 1
    failed += not ok
    print("%sok %d - %s" % ("" if ok else "not ", number, claim), flush=True)
    if not ok and "STOP" in os.environ:  # for runs that only want to know
        sys.exit(1)


def note(text):
    print("# " + text, flush=True)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def decodes(data):
    return (len(data) >= 48 and data[:9] == b"PPRFKEY\1\1" and
            hashlib.sha3_256(data[:-32]).digest() == data[-32:])


def run(arguments, **environment):
    return subprocess.run([PPRF] + arguments, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          env=dict(os.environ, **environment))


class Case:
    """A key file, what one command makes of it, and how the command is run again from the start."""

    def __init__(self, directory, impl, depth, before, command, leaves):
        self.directory, self.path = directory, os.path.join(directory, "key")
        self.command = command + ["--impl", impl, self.path] + leaves
        seed = "000102030405060708090a0b0c0d0e0f"
        run(["setup", "--force", "--impl", impl, "--depth", str(depth), "--seed", seed, self.path])
        if before:
            run(["punct", "--impl", impl, self.path] + before)
        self.old = read(self.path)
        code = run(self.command).returncode
        if code != DONE:
            sys.exit("Bail out! pprf punct: %d" % code)
        self.new = read(self.path)
        if self.old == self.new:
            sys.exit("Bail out! nothing changes")

    def reset(self):
        for name in os.listdir(self.directory):
            os.unlink(os.path.join(self.directory, name))
        with open(self.path, "wb") as f:
            f.write(self.old)

    def holds(self, code, what):
        """The file is the old or the new key, the new one if `code` says so."""
        data = read(self.path)
        if data == self.new:
            return "new"
        if data == self.old and code not in (DONE, PUNCTURED):
            return "old"
        note("%s: status %s, %d bytes, %s" % (
            what, code, len(data), "the old key" if data == self.old else
            "a key" if decodes(data) else "no key"))
        return None

    def calls(self, scratch):
        log = os.path.join(scratch, "calls")
        self.reset()
        run(self.command, LD_PRELOAD=PRELOAD, COUNT_TO=log)
        return read(log).decode().split()


def points(names, full):
    """The numbers of the calls to fail.  The digest is compared with the library's own in hundreds of
    calls, of which the quick run takes some."""
    digest = [at for at, name in enumerate(names, 1) if name.startswith("EVP_Digest")]
    left_out = set() if full else set(digest[3:-12]) - set(digest[3:-12:31])
    return [(at, name) for at, name in enumerate(names, 1) if at not in left_out]


def every_call(case, calls, kill):
    ok, after = True, {"old": 0, "new": 0}
    for at, name in calls:
        case.reset()
        environment = {"LD_PRELOAD": PRELOAD, "FAIL_AT": str(at)}
        if kill:
            environment["FAIL_KILL"] = "1"
        code = run(case.command, **environment).returncode
        held = case.holds(code, "%s at call %d, %s" % ("killed" if kill else "failure", at, name))
        ok &= held is not None and (not kill or code == -signal.SIGKILL)
        if held:
            after[held] += 1
        # whatever happened, the command then does its work
        code = run(case.command).returncode
        ok &= code in (DONE, PUNCTURED) and read(case.path) == case.new
    return ok, after


def random_kills(case, count, rng):
    case.reset()
    begin = time.monotonic()
    for _ in range(5):
        case.reset()
        run(case.command)
    whole = (time.monotonic() - begin) / 5
    ok, after = True, {"old": 0, "new": 0}
    for i in range(count):
        case.reset()
        process = subprocess.Popen([PPRF] + case.command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * whole * 1.2)
        process.kill()
        held = case.holds(process.wait(), "kill %d" % i)
        ok &= held is not None
        if held:
            after[held] += 1
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[Kkills: %d of %d" % (i + 1, count))
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    return ok, after


def main():
    full = "--full" in sys.argv
    seed = int(os.environ.get("SEED") or str(random.SystemRandom().getrandbits(48)), 0)
    rng = random.Random(seed)
    note("seed=0x%x (SEED=0x%x repeats the random moments)" % (seed, seed))
    again = ["setup", "--force", "--depth", "9", "--seed", "f" * 32]
    injected = 0
    with tempfile.TemporaryDirectory(prefix="pprf-crash-") as scratch:
        for impl, command, leaves in (("ref", ["punct"], ["77", "1000..5000", "0"]),
                                      ("opt", ["punct"], ["77", "1000..5000", "0"]),
                                      ("opt", ["punct", "--eval"], ["77", "1000..1010"]),
                                      ("opt", again, [])):
            name = "_".join([impl] + [w.strip("-") for w in command[:2]])
            directory = os.path.join(scratch, name)
            os.mkdir(directory)
            case = Case(directory, impl, 20, ["5", "900000..900100"], command, leaves)
            names = case.calls(scratch)
            named = names.index("renameat")
            written = max(i for i in range(named) if names[i] == "write")
            result("fsync" in names[written:named] and "fsync" in names[named:],
                   "%s_the_new_file_is_synced_before_it_is_named_and_its_directory_after" % name)
            for kill in (False, True):
                calls = points(names, full)
                ok, after = every_call(case, calls, kill)
                injected += len(calls)
                result(ok and len(calls) > 20 and after["old"] > 0 and after["new"] > 0,
                       "%s_%s_every_call_leaves_the_old_or_the_new_key "
                       "(%d calls: %d old, %d new)" % (name, "kill_before" if kill else "failure_of",
                                                       len(calls), after["old"], after["new"]))
            note(", ".join("%d %s" % (names.count(n), n) for n in sorted(set(names))))
            if command == ["punct"]:
                count = 500 if full else 50
                ok, after = random_kills(case, count, rng)
                result(ok and sum(after.values()) == count,
                       "%s_kill_at_a_random_moment_leaves_the_old_or_the_new_key "
                       "(%d kills: %d old, %d new)" % (name, count, after["old"], after["new"]))
        note("%d failures and kills at calls" % injected)
        # the test of the test: a file in between is seen
        case.reset()
        with open(case.path, "wb") as f:
            f.write(case.new[:-1])
        seen = case.holds(DONE, "control") is None
        with open(case.path, "wb") as f:
            f.write(case.old)
        result(seen and case.holds(DONE, "control") is None,
               "control_a_torn_file_and_a_lost_puncture_are_noticed")
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
