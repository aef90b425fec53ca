#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line and branch coverage of ref and opt by the equivalence tests, with a reason for every gap;
and coverage of the program pprf by cli/test_cli.py.

  coverage.py BUILD PROGRAM...   BUILD: the directory of the instrumented programs; the one named pprf
                                 is no test: cli/test_cli.py runs it

Runs the programs in parallel, merges their profiles, prints a table, writes BUILD/../coverage.json.
uncovered.txt in this folder must list exactly what is not covered, each with a reason. Exit 1
otherwise, below 95 % of the lines or 90 % of the branches, or if a program fails. Gaps of cli are
counted but need no reason: failing calls and dying processes are tested on the program without
counters (crash.py). cli/test_cli.py may fail here, since messages of the counters disturb some of
its tests; its own run counts. Exit 1 if less of cli is covered than PROGRAM says. The reasons were
written for clang 14: other versions count other branches."""
import glob
import json
import multiprocessing.pool
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
LINES, BRANCHES = 95.0, 90.0
PROGRAM = {"lines": 88.0, "branches": 75.0}
MOST = 1 << 60  # a higher count is a negative sum
NOT_MEASURED = ("cli/impls/impl.c", "cli/impls/list.c")  # not in any library


def tool(name):
    for candidate in (name, name + "-14"):
        if any(os.access(os.path.join(d, candidate), os.X_OK)
               for d in os.environ["PATH"].split(":")):
            return candidate
    sys.exit("coverage: %s is not installed (Debian package llvm)" % name)


def executed(segments, source):
    """{line number: whether it was executed}, for the lines that hold code. As in llvm-cov, a
    line's count is the maximum of the regions that begin in it and the region that it begins in."""
    lines, before, at = {}, None, 0  # before: the last segment of earlier lines
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
    """{(line, condition, which): how often a condition was true or false}. A condition compiled
    into several objects, in a header's function, counts once."""
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
    """{(file, what, text): (reason, number of places)}, without those that may turn out to be
    reached."""
    found, places = {}, {}
    with open(os.path.join(HERE, "uncovered.txt")) as f:
        for number, line in enumerate(f, 1):
            if line.startswith("#") or not line.strip():
                continue
            parts = [p.strip() for p in line.rstrip("\n").split(" | ")]
            what = re.fullmatch(r"(line|true|false)(\?|\*[2-9])?", parts[1]) if len(parts) == 4 else None
            if not what or len(parts[3]) < 10:
                sys.exit("coverage: uncovered.txt, line %d: not FILE | line, true or false | TEXT "
                         "| REASON" % number)
            key = (parts[0], what[1], parts[2])
            if key in found:
                sys.exit("coverage: uncovered.txt, line %d: this already has a reason" % number)
            found[key] = parts[3]
            if what[2] != "?":
                places[key] = int((what[2] or "*1")[1:])
                if parts[2] == "*":
                    sys.exit("coverage: uncovered.txt, line %d: * is only for what depends on the machine"
                             % number)
    return found, places


def reason_for(known, file, what, text):
    """The key of a gap's reason: of the gap itself, or of its whole file."""
    key = (file, what, text)
    return key if key in known or (file, what, "*") not in known else (file, what, "*")


def run_one(build, program):
    """Run a program; returns an error, or None."""
    begin, name = time.time(), os.path.basename(program)
    tests = name == "pprf"  # thousands of processes share four profiles; those of a test share one
    environment = dict(os.environ, SEED="1", LLVM_PROFILE_FILE=os.path.join(
        build, "%s-%s.profraw" % (name, "%4m" if tests else "%m")))
    command = ([sys.executable, "cli/test_cli.py", "--pprf", program, "--seed", "1"] if tests
               else [program])
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print("# %s: %d s" % (name, time.time() - begin), flush=True)
    text = done.stdout.decode(errors="replace")
    if tests:
        passed = text.count("\nok ")
        print("# %d tests of cli/test_cli.py pass with counters" % passed)
        return None if passed > 50 else "cli/test_cli.py fails with counters"
    if done.returncode == 0:
        return None
    failed = [line for line in text.splitlines() if line.startswith("not ok")]
    return "%s failed: %s" % (name, "; ".join(failed) or text[-500:] + done.stderr.decode(errors="replace")[-500:])


def run(build, programs):
    """Run the programs, as many at a time as there are cores; returns the errors."""
    for old in glob.glob(os.path.join(build, "*.profraw")):
        os.remove(old)
    with multiprocessing.pool.ThreadPool(os.cpu_count() or 1) as pool:
        return [wrong for wrong in pool.imap(lambda p: run_one(build, p), programs, 1) if wrong]


def measure(build, programs):
    """llvm-cov's data on the files of ref, opt and cli."""
    profile = os.path.join(build, "merged.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-o", profile] +
                   sorted(glob.glob(os.path.join(build, "*.profraw"))), check=True)
    objects = []
    for program in programs[1:]:
        objects += ["-object", program]
    out = subprocess.run([tool("llvm-cov"), "export", "-instr-profile", profile, programs[0]] +
                         objects, check=True, stdout=subprocess.PIPE).stdout
    files = []
    for f in json.loads(out)["data"][0]["files"]:
        name = os.path.relpath(f["filename"])
        if name.split(os.sep)[0] not in ("prg", "ref", "opt", "cli") or name in NOT_MEASURED \
                or name.startswith("opt/selftest/") or name.endswith("_test.c"):
            continue
        lost = any(at[2] >= MOST for at in f["segments"]) or any(max(b[4:6]) >= MOST for b in f["branches"])
        with open(name) as source:
            source = source.read().split("\n")
        lines = executed(f["segments"], source)
        taken = outcomes(f["branches"], source)
        gaps = [(k, "line", source[k - 1].strip()) for k in sorted(lines) if not lines[k]]
        gaps += [(k, which, text) for (k, _, text, which), n in sorted(taken.items())
                 if n == 0 and lines.get(k, True)]
        files.append({"file": name, "lines": [sum(lines.values()), len(lines)],
                      "branches": [sum(n > 0 for n in taken.values()), len(taken)],
                      "gaps": gaps, "lost": lost})
    return files


def judge(files, known, wanted):
    """{file: errors}: gaps without a reason (each text once), reasons without a gap or with a wrong
    number of places, and lost counts, from which wrong counts of other lines are derived."""
    wrong, used = {f["file"]: [] for f in files}, set()
    for f in files:
        if f["lost"]:
            wrong[f["file"]].append("a count is below zero: threads without atomic counters?")
        places = {}
        for line, what, text in f["gaps"]:
            places.setdefault((what, text), []).append(str(line))
        for (what, text), at in places.items():
            key = reason_for(known, f["file"], what, text)
            used.add(key)
            if key not in known:
                wrong[f["file"]].append("no reason: %s | %s | %s | ... (line %s)" % (
                    f["file"], what, text, ", ".join(at)))
            elif wanted.get(key, len(at)) != len(at):
                wrong[f["file"]].append("%d places, not %d: %s | %s | %s (line %s)" % (
                    len(at), wanted[key], f["file"], what, text, ", ".join(at)))
    for key in sorted(set(wanted) - used):
        wrong.setdefault(key[0], []).append("a reason without a gap (covered, or gone): %s | %s | %s" % key)
    return wrong


def percent(pair):
    return 100.0 * pair[0] / pair[1] if pair[1] else 100.0


def sums(files, name):
    return {"file": name, "lines": [sum(f["lines"][k] for f in files) for k in (0, 1)],
            "branches": [sum(f["branches"][k] for f in files) for k in (0, 1)]}


def row(f):
    return "%-18s lines %6.2f %% of %4d  branches %6.2f %% of %4d" % (
        f["file"], percent(f["lines"]), f["lines"][1], percent(f["branches"]), f["branches"][1])


def main():
    arguments = sys.argv[1:]
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    build, *programs = arguments
    problems = run(build, programs)
    measured, (known, wanted) = measure(build, programs), reasons()
    cli = [f for f in measured if f["file"].startswith("cli/")]
    files = [f for f in measured if f not in cli]
    total, program = sums(files, "ref and opt"), sums(cli, "cli")
    for f in files + [total] + cli + [program]:
        print("coverage: " + row(f))
    print("coverage: not covered, and why:")
    for f in files:
        for line, what, text in f["gaps"]:
            print("  %s:%d: %s%s\n      %s" % (
                f["file"], line, "" if what == "line" else "never %s: " % what, text,
                known.get(reason_for(known, f["file"], what, text), "NO REASON")))
    for wrong in judge(files, known, wanted).values():
        problems += wrong
    if not files:
        problems.append("no file of ref or opt was measured")
    for kind, least in (("lines", LINES), ("branches", BRANCHES)):
        if percent(total[kind]) < least:
            problems.append("below %d %% of the %s" % (least, kind))
    for kind, least in PROGRAM.items():
        if any(os.path.basename(p) == "pprf" for p in programs) and percent(program[kind]) < least:
            problems.append("below %d %% of the %s of cli" % (least, kind))
    for problem in problems:
        print("coverage: " + problem)
    with open(os.path.join(os.path.dirname(build.rstrip("/")), "coverage.json"), "w") as out:
        json.dump({"passed": not problems, "lines": percent(total["lines"]), "branches": percent(total["branches"]),
                   "cli": {kind: percent(program[kind]) for kind in PROGRAM},
                   "files": measured}, out, indent=1)
        out.write("\n")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
