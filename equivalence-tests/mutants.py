#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Applies the planted bugs of mutants.txt one at a time to a copy of the sources and requires that
a test fails.

mutants.py [--quick] [--only TEXT] [BUILD]
  --quick      the lines marked with * only; TAP output
  --only TEXT  the lines whose name contains TEXT
  --check      only whether every line applies
  BUILD        directory of the build (build); results in BUILD/equivalence-tests/mutants.json

Exit 1 if a bug survives, a line does not apply, or an unchanged copy fails.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
SUITES = ["vectors", "vectors-asan", "random", "exhaustive", "faults", "faults-asan", "residue",
          "api", "prg_choice", "corpus-ops", "corpus-import", "corpus-cli", "crash", "cli",
          "three-way"]
TIMEOUT = 240  # seconds for one suite: longer is a hang, and that is noticed too


class Mutant:
    def __init__(self, line):
        head, change = line.split(" ==> ", 1)
        name, file, suite, pattern = (p.strip(" ") for p in head.split("|", 3))
        self.quick = name.startswith("*")
        self.name = name.lstrip("*")
        self.file, _, number = file.partition("#")
        self.number = int(number or 1)
        self.suite, self.pattern, self.change = suite, pattern, change

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
    for d in ("include", "ref", "opt", "cli", "bench", "equivalence-tests"):
        shutil.copytree(os.path.join(TOP, d), os.path.join(root, d),
                        ignore=shutil.ignore_patterns("__pycache__", "wp"))
    for f in os.listdir(TOP):
        if os.path.isfile(os.path.join(TOP, f)):
            shutil.copy2(os.path.join(TOP, f), root)
    # what is built already, with its times: make builds only what a changed file touches
    built = os.path.join(TOP, "build")
    for d in ("ref", "opt", "cli", "bench", "equivalence-tests/plain", "equivalence-tests/asan"):
        if os.path.isdir(os.path.join(built, d)):
            shutil.copytree(os.path.join(built, d), os.path.join(root, "build", d))
    if os.path.isfile(os.path.join(built, "oracle")):
        shutil.copy2(os.path.join(built, "oracle"), os.path.join(root, "build"))
    for d in ("docs", "proofs"):  # named by other folders' rules, not built here
        if os.path.isdir(os.path.join(TOP, d)):
            os.symlink(os.path.join(TOP, d), os.path.join(root, d))


def target(suite):
    return "build/pprf" if suite == "cli" else "build/equivalence-tests/" + suite


def build(root, suite, log):
    """Build what a suite runs; make decides what the changed file touches, but the oracle is no
    part of what is tested."""
    return subprocess.run(["make", "-s", "-o", "build/oracle", "DEPS=skip", "WARN=-w",
                           target(suite)], cwd=root, stdout=log, stderr=log).returncode == 0


def run(root, suite, log):
    """True if the suite passes."""
    command = (["python3", "cli/test_cli.py", "--pprf", os.path.join(root, target(suite)),
                "--seed", "1"] if suite == "cli" else [target(suite)])
    environment = dict(os.environ, SEED="1", STOP="1")
    try:
        return subprocess.run(command, cwd=root, stdout=log, stderr=log, env=environment,
                              stdin=subprocess.DEVNULL, timeout=TIMEOUT).returncode == 0
    except subprocess.TimeoutExpired:
        return False


def test(mutant, root, log, quick):
    """The suite that notices the bug, 'compiler', None, or '!' and a reason."""
    path = os.path.join(root, mutant.file)
    shutil.copy2(path, path + ".kept")
    try:
        if not mutant.apply(root):
            return "!the pattern does not apply"
        os.utime(path)
        others = [] if quick else [s for s in SUITES if s != mutant.suite]
        for suite in [mutant.suite] + others:
            if not build(root, suite, log):
                return "!it does not compile"
            if not run(root, suite, log):
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


def main():
    arguments = sys.argv[1:]
    quick = "--quick" in arguments
    only = arguments[arguments.index("--only") + 1] if "--only" in arguments else ""
    rest = [a for a in arguments if not a.startswith("--") and a != only]
    if "--check" in arguments:
        return check()
    build_dir = os.path.join(TOP, rest[0] if rest else "build")
    mutants = [m for m in load() if (m.quick or not quick) and only in m.name]
    suites = sorted({m.suite for m in mutants}, key=SUITES.index)
    results, begin = [], time.time()
    with tempfile.TemporaryDirectory(prefix="pprf-mutants-") as root, \
            open(os.path.join(build_dir, "equivalence-tests", "mutants.log"), "w") as log:
        copy_sources(root)
        number = 0

        def result(ok, claim):
            nonlocal number
            number += 1
            print("%sok %d - %s" % ("" if ok else "not ", number, claim))
            sys.stdout.flush()

        # Without a bug all is well; beside --quick the suites run on their own.
        for suite in [] if quick else suites:
            ok = build(root, suite, log) and run(root, suite, log)
            result(ok, "%s_passes_without_a_planted_bug" % suite)
            results.append({"name": "none", "suite": suite, "ok": ok})
        for i, mutant in enumerate(mutants):
            if sys.stderr.isatty():
                sys.stderr.write("\r\033[K%d of %d: %s" % (i + 1, len(mutants), mutant.name))
                sys.stderr.flush()
            log.write("==== %s\n" % mutant.name)
            log.flush()
            killer = test(mutant, root, log, quick)
            ok = killer is not None and not killer.startswith("!")
            how = ("by " + killer if ok else "SURVIVED" if killer is None else killer[1:])
            result(ok, "%s: noticed %s" % (mutant.name, how) if ok else
                   "%s: %s" % (mutant.name, how))
            results.append({"name": mutant.name, "file": mutant.file, "suite": mutant.suite,
                            "noticed_by": killer, "ok": ok})
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    print("1..%d" % number)
    planted = [r for r in results if r["name"] != "none"]
    killed = sum(r["ok"] for r in planted)
    print("# %d of %d planted bugs noticed, %d s" % (killed, len(planted), time.time() - begin))
    if not only:
        name = "planted.json" if quick else "mutants.json"
        with open(os.path.join(build_dir, "equivalence-tests", name), "w") as f:
            json.dump({"planted": len(planted), "noticed": killed, "mutants": results}, f, indent=1)
            f.write("\n")
    return 0 if all(r["ok"] for r in results) else 1


if __name__ == "__main__":
    sys.exit(main())
