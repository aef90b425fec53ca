#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests that a changed file touches: behind `make check`.

  check.py [--list] TESTS FILE...   TESTS: all of make's TAP_TESTS; without FILE what git says has changed

For the C code the suites that a change of the file must make fail (PLAN in mutants_random.py); for the
rest the tests in the file's folder and those of what it builds.  Proofs are named, not run: they take
their own time."""
import fnmatch
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "tools")]
sys.dont_write_bytecode = True
import mutants_random  # noqa: E402

TAP = {"smoke": "build/ref/smoke", "selftest": "build/opt/selftest", "selftest-prg": "build/opt/selftest",
       "cli": "cli/test_cli.py", "test_tls": "tls/tests/test_tls.py", "test_preload": "tls/nginx/test_preload.py"}
MADE = {"cli/test_cli.py": ["build/pprf"], "tls/tests/test_tls.py": ["build/pprf-tls-server"],
        "tls/nginx/test_preload.py": ["build/tls/libpprf_tls_preload.so"]}
# what no folder says: files, tests
ALSO = [("*.md", ["docs/test_docs.py"]),
        ("include/pprf.h", ["opt/library_test.sh", "build/equivalence-tests/api", "build/equivalence-tests/vectors"]),
        ("*rules.mk", ["opt/flags_test.sh"]), ("Makefile", ["opt/flags_test.sh", "opt/build_test.sh"]),
        ("common/impl.*", ["build/equivalence-tests/api"]), ("common/list.*", ["build/bench/test_baselines"]),
        ("equivalence-tests/mutants*", ["equivalence-tests/test_gates.py"]),
        ("packaging/amalgamation/*", ["build/amalgamation/test"]),
        *((f"bindings/{name}/*", [f"build/{name}-test"]) for name in ("go", "python", "rust")),
        ("tools/planting.py", ["equivalence-tests/test_gates.py"])]
COMMANDS = [  # what is no TAP test of make
    (["spec/*.v", "proofs/*.v"], "make prove-coq"),
    (["*.acsl", "ref/*.[ch]", "prg/keccak.[ch]", "prg/aes*.[ch]", "prg/lanes.h"], "make prove-coq"),
    (["proofs/tools/*.py"], "make test-prove-gate"),
    (["proofs/oracle/*"], "make test-oracle"),
    (["proofs/wp/prove.py", "proofs/wp/assumptions*"], "python3 proofs/wp/test_assumptions.py")]
PROVEN = ["prg/*.h", "prg/*.acsl", "common/fork.h", "ref/*.[ch]", "ref/*.acsl", "ref/wp/*", "opt/*.[ch]", "opt/*.acsl",
          "opt/wp/*"]


def changed():
    """What git says is changed or new."""
    out = subprocess.run(["git", "status", "--porcelain", "--untracked-files=all"], stdout=subprocess.PIPE,
                         check=True, text=True).stdout
    return [line[3:].split(" -> ")[-1] for line in out.splitlines()]


def program_of(suite):
    """The TAP test behind a name of PLAN."""
    target = (mutants_random.COMMANDS[suite][0] if suite in mutants_random.COMMANDS else mutants_random.EQ + suite)
    return TAP.get(suite) or {"build/pprf": TAP["cli"]}.get(target, target)


def tests_of(file, tests):
    """The TAP tests that a change of the file touches, quickest first."""
    if "/wp/" in file:
        return []
    found = []
    if file in tests:
        found.append(file)
    for suite in mutants_random.suites_of(file):
        found.append(program_of(suite))
    for pattern, more in ALSO:
        if fnmatch.fnmatch(file, pattern):
            found += more
    name, folder = os.path.splitext(os.path.basename(file))[0], os.path.dirname(file).split("/")[0]
    found += [t for t in tests if os.path.basename(t) == name and folder in t.split("/")]
    if not found:  # no plan for it: its folder's own
        found = [t for t in tests if t.startswith((folder + "/", "build/" + folder + "/"))] if folder else []
    return [t for t in dict.fromkeys(found) if t in tests]


def main():
    arguments = sys.argv[1:]
    listing = "--list" in arguments
    tests, *files = [a for a in arguments if a != "--list"]
    tests = tests.split()
    files = [f.removeprefix("./") for f in files] or changed()
    if not files:
        print("check: nothing has changed; say CHANGED=FILE")
        return 0
    todo, commands = [], []
    for file in files:
        mine = tests_of(file, tests)
        mine_too = [c for patterns, c in COMMANDS if any(fnmatch.fnmatch(file, p) for p in patterns)]
        if any(fnmatch.fnmatch(file, p) for p in PROVEN):
            mine_too.append("make prove FUNCTION=... for each changed function; then make prove-wp")
        print(f"check: {file}: {' '.join(mine + mine_too) or 'no test'}")
        todo += [t for t in mine if t not in todo]
        commands += [c for c in mine_too if c not in commands]
    for command in commands:
        print(f"check: not run here: {command}")
    if listing or not todo:
        return 0
    targets = [t for test in todo for t in MADE.get(test, []) + [test]]
    build = subprocess.run(["make", "-s", "--no-print-directory", "DEPS=skip", *targets])
    if build.returncode:
        return build.returncode
    return subprocess.run(["prove", "--jobs", "2", "--failures", "--comments", *todo]).returncode


if __name__ == "__main__":
    sys.exit(main())
