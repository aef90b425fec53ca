#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Line and branch coverage of ref and opt by the equivalence tests.

coverage.py BUILD PROGRAM...   BUILD: the directory of the instrumented programs

Runs the programs, merges their profiles, prints a table and what is not covered, writes
BUILD/../coverage.json.  Exit 1 below 95 % of the lines or 90 % of the branches, or if a program fails.
"""
import glob
import json
import os
import subprocess
import sys

LINES, BRANCHES = 95.0, 90.0


def tool(name):
    for candidate in (name, name + "-14"):
        if any(os.access(os.path.join(d, candidate), os.X_OK)
               for d in os.environ["PATH"].split(":")):
            return candidate
    sys.exit("coverage: %s is not installed (Debian package llvm)" % name)


def executed(segments, source):
    """Line number -> whether it was executed, for the lines that hold code."""
    lines = {}
    for (line, _, count, has_count, _, gap), after in zip(segments, segments[1:]):
        if not has_count or gap:
            continue
        for k in range(line, after[0] + (after[1] > 1)):
            if source[k - 1].strip() not in ("", "{", "}"):
                lines[k] = lines.get(k, False) or count > 0
    return lines


def ranges(numbers):
    found = []
    for k in numbers:
        if found and found[-1][1] == k - 1:
            found[-1][1] = k
        else:
            found.append([k, k])
    return ["%d" % a if a == b else "%d-%d" % (a, b) for a, b in found]


def main():
    if len(sys.argv) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, programs = sys.argv[1], sys.argv[2:]
    for old in glob.glob(os.path.join(build, "*.profraw")):
        os.remove(old)
    bad = False
    for program in programs:
        environment = dict(os.environ, SEED="1",
                           LLVM_PROFILE_FILE=os.path.join(build, "%p-%m.profraw"))
        done = subprocess.run([program], env=environment, stdout=subprocess.DEVNULL)
        if done.returncode != 0:
            print("coverage: %s failed" % program)
            bad = True
    profile = os.path.join(build, "merged.profdata")
    subprocess.run([tool("llvm-profdata"), "merge", "-o", profile] +
                   glob.glob(os.path.join(build, "*.profraw")), check=True)
    objects = []
    for program in programs[1:]:
        objects += ["-object", program]
    out = subprocess.run([tool("llvm-cov"), "export", "-instr-profile", profile, programs[0]] +
                         objects, check=True, stdout=subprocess.PIPE).stdout
    files, total = [], {"lines": [0, 0], "branches": [0, 0]}
    for f in json.loads(out)["data"][0]["files"]:
        name = os.path.relpath(f["filename"])
        if name.split(os.sep)[0] not in ("ref", "opt"):
            continue
        with open(name) as source:
            lines = executed(f["segments"], source.read().split("\n"))
        s = f["summary"]["branches"]
        entry = {"file": name, "not_covered": ranges(sorted(k for k in lines if not lines[k])),
                 "lines": [sum(lines.values()), len(lines)],
                 "branches": [s["covered"], s["count"]]}
        for kind in total:
            total[kind] = [total[kind][0] + entry[kind][0], total[kind][1] + entry[kind][1]]
        files.append(entry)

    def percent(pair):
        return 100.0 * pair[0] / pair[1] if pair[1] else 100.0

    for e in files + [dict(total, file="all", not_covered=[])]:
        print("coverage: %-16s lines %6.2f %%  branches %6.2f %%  %s" % (
            e["file"], percent(e["lines"]), percent(e["branches"]), ", ".join(e["not_covered"])))
    if not files:
        print("coverage: no file of ref or opt was measured")
        bad = True
    bad |= percent(total["lines"]) < LINES or percent(total["branches"]) < BRANCHES
    with open(os.path.join(os.path.dirname(build.rstrip("/")), "coverage.json"), "w") as f:
        json.dump({"lines": percent(total["lines"]), "branches": percent(total["branches"]),
                   "files": files}, f, indent=1)
        f.write("\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
