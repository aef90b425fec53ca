#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applies the planted bugs of mutants.txt one at a time to a copy of the sources and requires that
a test fails.  A line whose name begins with ~ changes nothing that a test could see: that it passes shows
that "noticed" is not said of everything.

Exit 1 if a bug survives, a line does not apply, such a change is "noticed", or an unchanged copy fails.
"""
import argparse
import json
import os
import queue
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from concurrent import futures

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
SUITES = ["vectors", "vectors-asan", "hostile", "forks", "random", "exhaustive", "faults", "faults-asan",
          "residue", "residue-mls", "memory", "api", "prg_choice", "wide_prg", "wide_prg-libcrypto", "secret-flow",
          "threads", "corpus-ops", "corpus-import", "corpus-cli", "crash", "cli", "three-way"]
CPU_SECONDS = 240  # of one suite; more is a hang, which notices the bug only where the list says so
WAIT_SECONDS = 2400  # for one that waits and does not compute


class Mutant:
    def __init__(self, line):
        head, change = line.split(" ==> ", 1)
        name, file, suite, pattern = (p.strip(" ") for p in head.split("|", 3))
        self.quick = name.startswith("*")
        self.equal = name.lstrip("*").startswith("~")
        self.name = name.lstrip("*~")
        self.file, _, number = file.partition("#")
        self.number = int(number or 1)
        self.suite, _, hangs = suite.partition(" ")
        self.hangs = hangs == "(hangs)"
        self.pattern, self.change = pattern, change

    def apply(self, root):
        path = os.path.join(root, self.file)
        with open(path) as f:
            text = f.read()
        found = list(re.finditer(self.pattern, text))
        if len(found) < self.number:
            return False
        match = found[self.number - 1]
        new = text[:match.start()] + match.expand(self.change) + text[match.end():]
        with open(path, "w") as f:
            f.write(new)
        return new != text


def load():
    with open(os.path.join(HERE, "mutants.txt")) as f:
        return [Mutant(line.rstrip("\n")) for line in f if " ==> " in line and line[0] != "#"]


def copy_sources(root):
    for f in os.listdir(TOP):
        if os.path.isfile(os.path.join(TOP, f)):
            shutil.copy2(os.path.join(TOP, f), root)
        elif f in ("docs", "proofs", "spec"):  # named by other folders' rules, not built here
            os.symlink(os.path.join(TOP, f), os.path.join(root, f))
        elif f not in ("build", ".git"):
            shutil.copytree(os.path.join(TOP, f), os.path.join(root, f),
                            ignore=shutil.ignore_patterns("__pycache__"))
    # what is built already, with its times: make builds only what a changed file touches
    built = os.path.join(TOP, "build")
    for d in ("prg", "common", "ref", "opt", "cli", "bench", "equivalence-tests/plain", "equivalence-tests/asan",
              "equivalence-tests/tsan"):
        if os.path.isdir(os.path.join(built, d)):
            shutil.copytree(os.path.join(built, d), os.path.join(root, "build", d))
    for f in ("oracle", "flags"):
        if os.path.isfile(os.path.join(built, f)):
            shutil.copy2(os.path.join(built, f), os.path.join(root, "build"))


def target(suite):
    return "build/pprf" if suite == "cli" else "build/equivalence-tests/" + suite


def build(root, suite, log):
    """Build what a suite runs; make decides what the changed file touches, but the oracle is no
    part of what is tested."""
    return subprocess.run(["make", "-s", "-o", "build/oracle", "DEPS=skip", "WARN=-w",
                           target(suite)], cwd=root, stdout=log, stderr=log).returncode == 0


def run(root, suite, log):
    """"passed", "failed" or "hung".  Processor time is the limit, so that a busy machine decides
    nothing."""
    command = (["python3", "cli/test_cli.py", "--pprf", os.path.join(root, target(suite)),
                "--seed", "1"] if suite == "cli" else [target(suite)])
    environment = dict(os.environ, SEED="1", STOP="1")

    def limit():
        os.setsid()
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):  # ignored in the background
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))
    process = subprocess.Popen(command, cwd=root, stdout=log, stderr=log, env=environment,
                               stdin=subprocess.DEVNULL, preexec_fn=limit)
    try:
        status = process.wait(timeout=WAIT_SECONDS)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        return "hung"
    return ("passed" if status == 0 else
            "hung" if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU) else "failed")


def test(mutant, root, log, first):
    """The suite that notices the bug, 'compiler', None, or '!' and a reason."""
    path = os.path.join(root, mutant.file)
    shutil.copy2(path, path + ".kept")
    try:
        if not mutant.apply(root):
            return "!the pattern does not apply"
        os.utime(path)
        others = [] if first or mutant.equal else [s for s in SUITES if s != mutant.suite]
        for suite in [mutant.suite] + others:
            if not build(root, suite, log):
                return "!it does not compile"
            result = run(root, suite, log)
            if result == "hung" and not mutant.hangs:
                return "!it hangs in %s, which its line does not say" % suite
            if result != "passed":
                return suite
        return None
    finally:
        os.replace(path + ".kept", path)
        os.utime(path)


def check():
    bad = 0
    for mutant in load():
        with open(os.path.join(TOP, mutant.file)) as f:
            found = len(list(re.finditer(mutant.pattern, f.read())))
        if found < mutant.number:
            bad += 1
            print("%s: does not apply to %s" % (mutant.name, mutant.file))
    return 1 if bad else 0


class Workers:
    """Copies of the sources, each with its log; a task takes one and gives it back."""

    def __init__(self, directory, logs, count):
        self.free = queue.SimpleQueue()
        for i in range(count):
            root = os.path.join(directory, str(i))
            os.mkdir(root)
            copy_sources(root)
            self.free.put((root, open(os.path.join(logs, "mutants-%d.log" % i), "w")))

    def do(self, task, *arguments):
        root, log = self.free.get()
        try:
            return task(root, log, *arguments)
        finally:
            self.free.put((root, log))


def passes(root, log, suite):
    log.write("==== %s without a planted bug\n" % suite)
    log.flush()
    return build(root, suite, log) and run(root, suite, log) == "passed"


def plant(root, log, mutant, first):
    log.write("==== %s\n" % mutant.name)
    log.flush()
    return test(mutant, root, log, first)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="the lines marked with * only; TAP output")
    parser.add_argument("--first", action="store_true", help="only the suite that the line names")
    parser.add_argument("--jobs", type=int, default=1, help="so many at a time, each in a copy of its own")
    parser.add_argument("--only", default="", help="the lines whose name contains this, or whose suite it is")
    parser.add_argument("--check", action="store_true", help="only whether every line applies")
    parser.add_argument("--sample", type=int, metavar="N", help="N lines at random, by $SEED if that is set; "
                        "each has to be noticed by the suite that it names")
    parser.add_argument("--clock", type=int, metavar="SECONDS", help="begin no bug after so long")
    parser.add_argument("build", nargs="?", default="build", help="directory of the build")
    return parser.parse_args()


def main():
    arg = arguments()
    if arg.check:
        return check()
    only, jobs, quick = arg.only, arg.jobs, arg.quick
    first = quick or arg.first or arg.sample is not None
    build_dir = os.path.join(TOP, arg.build)
    mutants = [m for m in load() if (m.quick or not quick) and (only in m.name or
                                                                      only == m.suite)]
    if arg.sample is not None:
        seed = os.environ.get("SEED") or str(random.SystemRandom().randrange(10 ** 9))
        equal = [m for m in mutants if m.equal]
        mutants = random.Random(seed).sample([m for m in mutants if not m.equal], arg.sample)
        mutants[1:1] = random.Random(seed).sample(equal, min(1, len(equal)))
        print("# %d of the planted bugs: SEED=%s" % (len(mutants), seed), flush=True)
        quick = True  # the suites run on their own beside this
    suites = [] if quick else sorted({m.suite for m in mutants}, key=SUITES.index)
    results, begin = [], time.time()
    print("1..%d" % (len(suites) + len(mutants)), flush=True)

    def result(ok, claim, **more):
        results.append({"ok": ok, **more})
        print("%sok %d - %s" % ("" if ok else "not ", len(results), claim), flush=True)
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[K%d of %d" % (len(results), len(suites) + len(mutants)))
            sys.stderr.flush()

    def in_time(mutant):
        if arg.clock and time.time() - begin > arg.clock:
            return "late"
        return workers.do(plant, mutant, first)

    with tempfile.TemporaryDirectory(prefix="pprf-mutants-") as directory, \
            futures.ThreadPoolExecutor(jobs) as pool:
        os.chmod(directory, 0o755)  # tests run the program as another user, too
        workers = Workers(directory, os.path.join(build_dir, "equivalence-tests"), jobs)
        # Without a bug all is well; beside --quick the suites run on their own.
        for suite, ok in zip(suites, pool.map(lambda s: workers.do(passes, s), suites)):
            result(ok, suite + "_passes_without_a_planted_bug", name="none", suite=suite)
        killers = pool.map(in_time, mutants)
        for mutant, killer in zip(mutants, killers):
            if killer == "late":
                result(True, "%s # SKIP after %d seconds" % (mutant.name, arg.clock), name="late")
                continue
            noticed = killer is not None and not killer.startswith("!")
            ok = killer is None if mutant.equal else noticed
            how = ("noticed by " + killer if noticed else killer[1:] if killer is not None else
                   "changes nothing, passes" if mutant.equal else "SURVIVED")
            result(ok, "%s: %s" % (mutant.name, how), name=mutant.name, equal=mutant.equal, file=mutant.file,
                   suite=mutant.suite, noticed_by=killer)
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    planted = [r for r in results if r["name"] not in ("none", "late") and not r["equal"]]
    killed = sum(r["ok"] for r in planted)
    print("# %d of %d planted bugs noticed, %d s" % (killed, len(planted), time.time() - begin))
    if not only and arg.sample is None:
        name = "planted.json" if quick else "mutants.json"
        with open(os.path.join(build_dir, "equivalence-tests", name), "w") as f:
            json.dump({"planted": len(planted), "noticed": killed, "mutants": results}, f, indent=1)
            f.write("\n")
    return 0 if all(r["ok"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
