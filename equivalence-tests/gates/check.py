#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tests that concern a changed file; run by `make check`.

  check.py [--list] TESTS FILE...   TESTS: all of make's TAP_TESTS; default FILEs: those that git lists

For the C code these are the suites that detect bugs in the file (PLAN in random_bugs.py); for other
files, the tests that make builds from the file or that run it (reach.py). Proofs and tests outside
TESTS are named but not run, since they take long. A file that no test covers is a failure, except
for the kinds in untested.txt."""
import fnmatch
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools")]
sys.dont_write_bytecode = True
import random_bugs  # noqa: E402
import planting  # noqa: E402
import reach  # noqa: E402

TAP = {"smoke": "build/ref/smoke", "selftest": "build/opt/selftest", "selftest-prg": "build/opt/selftest",
       "cli": "cli/test_cli.py", "file_systems": "cli/test_file_systems.py", "test_tls": "tls/tests/test_tls.py",
       "test_preload": "tls/nginx/test_preload.py"}
MADE = {"cli/test_cli.py": ["build/pprf"], "cli/test_file_systems.py": ["build/pprf"],
        "tls/tests/test_tls.py": ["build/pprf-tls-server"],
        "tls/nginx/test_preload.py": ["build/tls/libpprf_tls_preload.so"]}
# dependencies that neither make nor a script shows: files, tests
ALSO = [("*.md", ["docs/tests/test_docs.py"]), ("docs/command-line.md", ["cli/test_file_systems.py"]),
        ("include/pprf.h", ["opt/tests/library_test.sh", "build/equivalence-tests/api",
                            "build/equivalence-tests/vectors"]),
        *((pattern, ["build/equivalence-tests/first_use"])  # code that runs while seeds are in memory
          for pattern in ("prg/common/prepare.[ch]", "opt/*.[ch]", "prg/*.c")),
        ("prg/sha256*", ["build/equivalence-tests/prg_choice", "build/equivalence-tests/wide_prg"]),
        ("prg/*.h", ["build/equivalence-tests/prg_choice", "build/equivalence-tests/wide_prg"]),
        *((f"equivalence-tests/fuzz/corpus/fuzz_{name}.tar.gz", [
            f"build/equivalence-tests/corpus-{name}", "equivalence-tests/gates/test_gates.py"])
          for name in ("cli", "import", "ops")),
        ("equivalence-tests/vectors/*", [
            "build/equivalence-tests/vectors", "build/equivalence-tests/vectors-regenerated", "build/go-test",
            "build/python-test", "build/rust-test"]),
        ("equivalence-tests/gates/coverage.py", ["equivalence-tests/gates/test_gates.py"]),
        ("cli/completions/*", ["cli/test_cli.py"]),
        ("include/man.py", ["opt/tests/library_test.sh"]), ("bench/report/*", ["bench/report/test_report.py"]),
        ("docs/*.json", ["docs/tests/test_docs.py"]), ("tls/*.[13]", ["opt/tests/build_test.sh"]),
        ("cli/man/*.1", ["opt/tests/build_test.sh"]), ("redact/*.1", ["opt/tests/build_test.sh"]),
        ("vault/*.1", ["vault/test_vault.py", "opt/tests/build_test.sh"]),
        ("*.in", ["opt/tests/build_test.sh", "opt/tests/library_test.sh"]),
        ("equivalence-tests/gates/untested.txt", ["equivalence-tests/gates/test_gates.py"]),
        ("equivalence-tests/fuzz/fuzz.py", ["equivalence-tests/gates/test_gates.py"]),
        ("equivalence-tests/fuzz/pack.py", ["equivalence-tests/gates/test_gates.py"]),
        ("*rules.mk", ["opt/tests/flags_test.sh"]), ("Makefile", ["opt/tests/flags_test.sh",
                                                                  "opt/tests/build_test.sh"]),
        ("cli/impls/impl.*", ["build/equivalence-tests/api"]), ("cli/impls/list.*", ["build/bench/test_baselines"]),
        *((f"equivalence-tests/gates/{name}", ["equivalence-tests/gates/test_gates.py"])
          for name in ("planted.*", "random_bugs.py", "equivalent.txt")),
        ("packaging/amalgamation/*", ["build/amalgamation/test"]),
        ("tools/planting.py", ["equivalence-tests/gates/test_gates.py"])]
# pairs: a pattern, and the reason why no test covers such files
UNTESTED = [[part.strip() for part in line.split("|")] for line in
            planting.read(os.path.join(HERE, "untested.txt")).split("\n") if line and line[0] != "#"]
COMMANDS = [  # checks that are not TAP tests of make
    (["spec/*.v", "proofs/*.v", "proofs/expected-theorems.txt"], "make prove-coq"),
    (["*.acsl", "ref/*.[ch]", "prg/keccak.[ch]", "prg/aes*.[ch]", "prg/lanes.h"], "make prove-coq"),
    (["proofs/tools/*.py"], "make test-prove-gate"),
    (["proofs/oracle/*"], "make test-oracle"),
    (["debian/*"], "make deb"), (["packaging/oss-fuzz/*"], "make test-oss-fuzz"),
    (["docs/pages/*"], "make test-docs"), (["tls/server/demo.sh"], "make demo"), (["bench/openmls/*"], "make bench"),
    (["proofs/wp/*"], "make test-prove-tools"), (["packaging/release/*"], "make dist"),
    (["equivalence-tests/differential/arch.sh", "equivalence-tests/differential/emulated.c"], "make test-arch"),
    (["equivalence-tests/fuzz/*.dict", "equivalence-tests/differential/replay.c"], "make fuzz"),
    (["equivalence-tests/fuzz/make_corpus.c"], "make corpus-pack"),
    (["valkey/bench/*"], "make bench-fleet"),
    (["proofs/wp/prove.py", "proofs/wp/proven_files.py", "proofs/wp/assumptions*"],
     "python3 proofs/wp/test_assumptions.py"),
    (["proofs/wp/same_text.py", "proofs/wp/differences.txt", "proofs/wp/platform.c"],
     "python3 proofs/wp/test_same_text.py"),
    (["proofs/tools/aes.py", "proofs/tools/sha.py"], "python3 proofs/tools/readers-test.py")]
PROVEN = ["prg/*.h", "prg/*.acsl", "ref/*.[ch]", "ref/*.acsl", "ref/wp/*", "opt/*.[ch]", "opt/*.acsl", "opt/*wp/*"]


def changed():
    """The files that git lists as changed or new."""
    out = subprocess.run(["git", "status", "--porcelain", "--untracked-files=all"], stdout=subprocess.PIPE,
                         check=True, text=True).stdout
    return [line[3:].split(" -> ")[-1] for line in out.splitlines()]


def removed(file):
    """Whether a missing file was in the last commit."""
    return not subprocess.run(["git", "cat-file", "-e", "HEAD:" + file], stderr=subprocess.DEVNULL).returncode


def program_of(suite):
    """The TAP test behind a name of PLAN."""
    target = (random_bugs.COMMANDS[suite][0] if suite in random_bugs.COMMANDS else random_bugs.EQ + suite)
    return TAP.get(suite) or {"build/pprf": TAP["cli"]}.get(target, target)


def tests_of(file, tests, graph=None):
    """The TAP tests that a change of the file concerns, quickest first."""
    if "/wp/" in file and file not in tests:
        return []
    found = []
    if file in tests:
        found.append(file)
    for suite in random_bugs.suites_of(file):
        found.append(program_of(suite))
    for pattern, more in ALSO:
        if fnmatch.fnmatch(file, pattern):
            found += more
    name, folder = os.path.splitext(os.path.basename(file))[0], os.path.dirname(file).split("/")[0]
    found += [t for t in tests if os.path.basename(t) == name and folder in t.split("/")]
    if not found and graph and not commands_of(file):  # PLAN has no entry for it
        found = [t for t in tests if file in graph.reached(t)]
    return [t for t in dict.fromkeys(found) if t in tests]


def commands_of(file, graph=None):
    """The commands that check the file but are not run here; if there are none, and a graph is
    given, the smallest target of make."""
    commands = [c for patterns, c in COMMANDS if any(fnmatch.fnmatch(file, p) for p in patterns)]
    if any(fnmatch.fnmatch(file, p) for p in PROVEN):
        commands.append("make prove FUNCTION=... for each changed function; then make prove-wp")
    if graph and not commands:
        goals = [t for t in graph.edges[".PHONY"] if t.startswith(("test-", "bench", "fuzz", "planted", "random-bugs"))]
        sizes = sorted((len(graph.reached(t)), t) for t in goals if file in graph.reached(t))
        commands += ["make " + target for _, target in sizes[:1]]
    return commands


def untested(file):
    """The reason why no test covers the file; None: no reason, it should be covered."""
    return next((why for pattern, why in UNTESTED if fnmatch.fnmatch(file, pattern)), None)


def main(arguments):
    listing = "--list" in arguments
    tests, *files = [a for a in arguments if a != "--list"]
    tests = tests.split()
    files = [f.removeprefix("./") for f in files] or changed()
    if not files:
        print("check: nothing has changed; use CHANGED=FILE")
        return 0
    todo, commands, graph, uncovered = [], [], reach.Graph(tests), 0
    for file in files:
        mine = tests_of(file, tests, graph)
        mine_too = commands_of(file, graph if not mine else None)
        why = untested(file) if file in graph.files else "it was removed" if removed(file) else None
        uncovered += not (mine or mine_too or why)
        print(f"check: {file}: {' '.join(mine + mine_too) or 'no test: ' + (why or 'nothing builds or runs it')}")
        todo += [t for t in mine if t not in todo]
        commands += [c for c in mine_too if c not in commands]
    for command in commands:
        print(f"check: not run here: {command}")
    if uncovered:
        print("check: a file that no test covers needs one, or a line in equivalence-tests/gates/untested.txt")
    if listing or uncovered or not todo:
        return 1 if uncovered else 0
    targets = [t for test in todo for t in MADE.get(test, []) + [test]]
    build = subprocess.run(["make", "-s", "--no-print-directory", "DEPS=skip", *targets])
    if build.returncode:
        return build.returncode
    return subprocess.run(["prove", "--jobs", "2", "--failures", "--comments", *todo]).returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
