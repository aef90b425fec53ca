#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line and branch coverage of ref and opt by the equivalence tests, with a reason for every gap, and of
the program pprf by cli/test_cli.py.

coverage.py BUILD PROGRAM...   BUILD: the directory of the instrumented programs; the one whose name is
                               pprf is not a test: cli/test_cli.py runs it

Runs the programs, merges their profiles, prints a table, writes BUILD/../coverage.json.  Whatever
is not covered must stand in uncovered.txt beside this file, with a reason, and nothing else may
stand there.  Exit 1 if not so, below 95 % of the lines or 90 % of the branches, or if a program
fails.  Of cli the gaps are counted and not explained: what happens when a call fails or the process
dies is tested on the program without counters (crash.py), and whether cli/test_cli.py passes is for
its own run to say, as the counters' messages disturb some of its tests.  Exit 1 if less of it is
covered than PROGRAM says.
"""
import glob
import json
import os
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LINES, BRANCHES = 95.0, 90.0
PROGRAM = {"lines": 88.0, "branches": 75.0}
NOT_MEASURED = ("common/impl.c", "common/list.c", "common/tap.h")  # in no library


def tool(name):
    for candidate in (name, name + "-14"):
        if any(os.access(os.path.join(d, candidate), os.X_OK)
               for d in os.environ["PATH"].split(":")):
            return candidate
    sys.exit("coverage: %s is not installed (Debian package llvm)" % name)


def executed(segments, source):
    """Line number -> whether it was executed, for the lines that hold code.  As llvm-cov counts: a
    line's count is the greatest of the regions that begin in it and of the one that it begins in."""
    lines, before, at = {}, None, 0  # before: the last segment of the lines above
    for k, text in enumerate(source, 1):
        here = []
        while at < len(segments) and segments[at][0] == k:
            here.append(segments[at])
            at += 1
        counts = [s[2] for s in here if s[3] and s[4] and not s[5]]
        if before is not None and before[3]:
            counts.append(before[2])
        skipped = here and not here[0][3] and here[0][4]
        if counts and not skipped and text.strip() not in ("", "{", "}"):
            lines[k] = max(counts) > 0
        before = here[-1] if here else before
    return lines


def outcomes(branches, source):
    """(line, condition, which) -> how often a condition was true or false; one that is in several
    objects, in a header's function, counts once."""
    found = {}
    for line, column, last, end, true, false, *_ in branches:
        text = source[line - 1:last]
        text[-1] = text[-1][:end - 1]
        text[0] = text[0][column - 1:]
        condition = " ".join(" ".join(text).split())
        for which, count in (("true", true), ("false", false)):
            key = (line, column, condition, which)
            found[key] = found.get(key, 0) + count
    return found


def reasons():
    """(file, what, text) -> reason, and the set of those that may turn out to be reached."""
    found, optional = {}, set()
    with open(os.path.join(HERE, "uncovered.txt")) as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            parts = [p.strip() for p in line.rstrip("\n").split(" | ")]
            what = parts[1].rstrip("?") if len(parts) == 4 else ""
            if what not in ("line", "true", "false") or len(parts[3]) < 10:
                sys.exit("coverage: uncovered.txt, line %d: not FILE | line, true or false | TEXT "
                         "| REASON" % number)
            key = (parts[0], what, parts[2])
            found[key] = parts[3]
            if parts[1] != what:
                optional.add(key)
            elif parts[2] == "*":
                sys.exit("coverage: uncovered.txt, line %d: * only for what depends on the machine"
                         % number)
    return found, optional


def reason_for(known, file, what, text):
    """The key of a gap's reason: its own, or the file's."""
    key = (file, what, text)
    return key if key in known or (file, what, "*") not in known else (file, what, "*")


def run(build, programs):
    """Run the programs; True if all passed."""
    passed = True
    for i, program in enumerate(programs):
        begin = time.time()
        environment = dict(os.environ, SEED="1",
                           LLVM_PROFILE_FILE=os.path.join(build, "%p-%m.profraw"))
        tests = os.path.basename(program) == "pprf"
        if tests:  # thousands of processes share four profiles
            environment["LLVM_PROFILE_FILE"] = os.path.join(build, "cli-%4m.profraw")
        command = ([sys.executable, "cli/test_cli.py", "--pprf", program, "--seed", "1"] if tests
                   else [program])
        done = subprocess.run(command, env=environment, stdout=subprocess.PIPE)
        if tests:
            passed_tests = done.stdout.decode(errors="replace").count("\nok ")
            print("coverage: %d tests of cli/test_cli.py pass with counters" % passed_tests)
            passed &= passed_tests > 50
        print("coverage: %d of %d programs run, %s in %d s" % (
            i + 1, len(programs), os.path.basename(program), time.time() - begin), flush=True)
        if done.returncode != 0 and not tests:
            print("coverage: %s failed" % program)
            sys.stdout.flush()
            sys.stdout.buffer.write(done.stdout[-2000:])
            passed = False
    return passed


def measure(build, programs):
    """What llvm-cov says about the files of ref, opt and cli."""
    profile = os.path.join(build, "merged.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-o", profile] +
                   glob.glob(os.path.join(build, "*.profraw")), check=True)
    objects = []
    for program in programs[1:]:
        objects += ["-object", program]
    out = subprocess.run([tool("llvm-cov"), "export", "-instr-profile", profile, programs[0]] +
                         objects, check=True, stdout=subprocess.PIPE).stdout
    files = []
    for f in json.loads(out)["data"][0]["files"]:
        name = os.path.relpath(f["filename"])
        if name.split(os.sep)[0] not in ("prg", "common", "ref", "opt", "cli") or name in NOT_MEASURED \
                or name.startswith("opt/selftest/"):
            continue
        with open(name) as source:
            source = source.read().split("\n")
        lines = executed(f["segments"], source)
        taken = outcomes(f["branches"], source)
        gaps = [(k, "line", source[k - 1].strip()) for k in sorted(lines) if not lines[k]]
        gaps += [(k, which, text) for (k, _, text, which), n in sorted(taken.items())
                 if n == 0 and lines.get(k, True)]
        files.append({"file": name, "lines": [sum(lines.values()), len(lines)],
                      "branches": [sum(n > 0 for n in taken.values()), len(taken)],
                      "gaps": gaps})
    return files


def percent(pair):
    return 100.0 * pair[0] / pair[1] if pair[1] else 100.0


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, programs = sys.argv[1], sys.argv[2:]
    for old in glob.glob(os.path.join(build, "*.profraw")):
        os.remove(old)
    bad = not run(build, programs)
    measured, (known, optional), used = measure(build, programs), reasons(), set()
    cli = [f for f in measured if f["file"].startswith("cli/")]
    files = [f for f in measured if f not in cli]
    total, program = ({"file": name, "lines": [0, 0], "branches": [0, 0]}
                      for name in ("ref and opt", "cli"))
    for part, sum_of in ((files, total), (cli, program)):
        for f in part:
            for kind in ("lines", "branches"):
                sum_of[kind] = [a + b for a, b in zip(sum_of[kind], f[kind])]
    for f in files + [total] + cli + [program]:
        print("coverage: %-18s lines %6.2f %% of %4d  branches %6.2f %% of %4d" % (
            f["file"], percent(f["lines"]), f["lines"][1], percent(f["branches"]),
            f["branches"][1]))
    print("coverage: not covered, and why:")
    for f in files:
        for line, what, text in f["gaps"]:
            key = reason_for(known, f["file"], what, text)
            used.add(key)
            print("  %s:%d: %s%s\n      %s" % (f["file"], line, "" if what == "line" else
                                              "never %s: " % what, text,
                                              known.get(key, "NO REASON")))
    for f in files:
        for _, what, text in f["gaps"]:
            if reason_for(known, f["file"], what, text) not in known:
                bad = True
                print("coverage: no reason: %s | %s | %s | ..." % (f["file"], what, text))
    for key in sorted(set(known) - optional - used):
        bad = True
        print("coverage: a reason for nothing (covered, or gone): %s | %s | %s" % key)
    if not files:
        print("coverage: no file of ref or opt was measured")
        bad = True
    for kind, least in (("lines", LINES), ("branches", BRANCHES)):
        if percent(total[kind]) < least:
            print("coverage: below %d %% of the %s" % (least, kind))
            bad = True
    for kind, least in PROGRAM.items():
        if any(os.path.basename(p) == "pprf" for p in programs) and percent(program[kind]) < least:
            print("coverage: below %d %% of the %s of cli" % (least, kind))
            bad = True
    with open(os.path.join(os.path.dirname(build.rstrip("/")), "coverage.json"), "w") as out:
        json.dump({"passed": not bad, "lines": percent(total["lines"]), "branches": percent(total["branches"]),
                   "cli": {kind: percent(program[kind]) for kind in PROGRAM},
                   "files": measured}, out, indent=1)
        out.write("\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
