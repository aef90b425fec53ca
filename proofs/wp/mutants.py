#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plant each bug of */wp/mutants.txt in a copy of the code and expect the proof of the function to fail.

The unchanged function is proven first with the same time limit (a control): a limit that is too
short for it would kill every mutant.  Goals a bug leaves unchanged come from a cache of this run."""
import argparse, os, re, shutil, sys, tempfile, time

import prove


def load(path):
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            yield [p.strip().replace(r"\|", "|") for p in re.split(r"(?<!\\)\|", line.rstrip("\n"))]


def plant(text, function, old, new):
    """Replace old in the function's body only, where it must be; returns None if it is not."""
    body = re.search(r"^[a-z][^\n;]*\b" + function + r"\((?:[^;{]|\n)*\n\{\n(?:.*\n)*?\}\n", text, re.M)
    if not body or old not in body.group(0):
        return None
    at = body.start() + body.group(0).index(old)
    return text[:at] + new + text[at + len(old):]


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--par", type=int, default=2)
    ap.add_argument("--timeout", type=int, default=10)
    ap.add_argument("--function", help="only the bugs of this function")
    ap.add_argument("--build", default=os.path.join(prove.ROOT, "build", "wp"))
    arg = ap.parse_args()
    env = prove.configure(arg.build)
    mutants = [m for folder in prove.FOLDERS
               for m in load(os.path.join(prove.ROOT, folder, "wp", "mutants.txt"))
               if not arg.function or m[1] == arg.function]
    killed, problems, controls = 0, [], {}
    with tempfile.TemporaryDirectory(dir=arg.build) as tmp:
        cache = ("-wp-cache", "update", "-wp-session", os.path.join(tmp, "cache"))
        for d in (*prove.FOLDERS, "include"):
            shutil.copytree(os.path.join(prove.ROOT, d), os.path.join(tmp, d))
        for n, (file, function, old, new) in enumerate(mutants, 1):
            start, unit = time.time(), "ref/core.c" if file == "ref/node.h" else file
            if function not in controls:
                t, v, failed, bad = prove.wp(tmp, unit, function, env, arg.build, arg.timeout, arg.par,
                                             cache)
                controls[function] = t > 0 and t == v and not bad
                if not controls[function]:
                    problems.append(f"{function}: not proven without a bug ({v}/{t})")
            path = os.path.join(tmp, file)
            text = open(path).read()
            bug = plant(text, function, old, new)
            verdict = "NOT PLANTED"
            if bug is not None:
                open(path, "w").write(bug)
                t, v, failed, bad = prove.wp(tmp, unit, function, env, arg.build, arg.timeout, arg.par,
                                             cache)
                open(path, "w").write(text)
                verdict = "NOT PARSED" if t == 0 else "SURVIVED" if v == t else "killed"
            if verdict == "killed" and controls[function]:
                killed += 1
            elif verdict != "killed":
                problems.append(f"{function}: {verdict}: {old} -> {new}")
            print(f"[{n}/{len(mutants)}] {verdict:8} {function:14} {old} -> {new}"
                  f"  ({time.time() - start:.1f} s)", flush=True)
    print(f"mutants-prove: {killed}/{len(mutants)} killed")
    for p in problems:
        print("  " + p)
    sys.exit(1 if problems or not mutants else 0)


if __name__ == "__main__":
    main()
