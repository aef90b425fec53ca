#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plant each bug of */wp/mutants.txt in a copy of the code and expect the proof of the function to fail.

The unchanged function is proven in the same way (a control): a bug is found if a goal stays unproved
that the control proves.  Only if there is none, and the control has unproved goals too, these are taken
apart and tried for longer, with and without the bug.  Goals that a bug leaves unchanged come from a
cache of this run, and the first unproved goal settles a bug.

A line that begins with = changes no meaning: that it is proven shows that "killed" is not said of everything."""
import argparse, concurrent.futures, functools, json, os, random, re, shutil, sys, tempfile, time

import prove

FIRST_TRY = 4  # seconds of CPU time for a prover and goal: enough for most, and each bug has to wait for it


def load(path):
    for line in open(path):
        if line.strip() and not line.startswith("#"):
            yield [p.strip().replace(r"\|", "|") for p in re.split(r"(?<!\\)\|", line.rstrip("\n"))]


def plant(text, function, old, new):
    """Replace old in the function's body only, where it must be; returns None if it is not."""
    body = re.search(r"^[A-Za-z][^\n;]*\b" + function + r"\((?:[^;{]|\n)*\n\{\n(?:.*\n)*?\}\n", text, re.M)
    if not body or old not in body.group(0):
        return None
    at = body.start() + body.group(0).index(old)
    return text[:at] + new + text[at + len(old):]


def check(jobs, unit_of):
    """Whether each line applies; needs no prover."""
    problems = [f"{f}: not among the proven functions" for f in jobs if f not in unit_of]
    for function, bugs in jobs.items():
        for file, _, old, new in bugs:
            if plant(open(os.path.join(prove.ROOT, file.lstrip("= "))).read(), function, old, new) is None:
                problems.append(f"{function}: does not apply: {old} -> {new}")
    print(*problems, f"mutants-prove: {sum(map(len, jobs.values()))} lines, {len(problems)} do not apply", sep="\n")
    sys.exit(1 if problems or not jobs else 0)


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--par", type=int, default=os.cpu_count() + 1, help="functions at a time")
    ap.add_argument("--function", help="only the bugs of this function")
    ap.add_argument("--build", default=os.path.join(prove.ROOT, "build", "wp"))
    ap.add_argument("--json", help="write the results there, for the report")
    ap.add_argument("--check", action="store_true", help="only whether every line applies")
    ap.add_argument("--sample", type=int, metavar="N", help="N lines at random")
    ap.add_argument("--seed", default=os.environ.get("SEED") or None, help="for --sample, to repeat it")
    ap.add_argument("--clock", type=int, metavar="SECONDS", help="begin no bug after so long")
    arg = ap.parse_args()
    goals = [k.split() for f in prove.FOLDERS for k in prove.expectation(f)["goals"]]
    unit_of = {function: unit for unit, function in goals}
    jobs = {}  # the bugs of each function
    for folder in prove.FOLDERS:
        for m in load(os.path.join(prove.ROOT, folder, "wp", "mutants.txt")):
            if not arg.function or m[1] == arg.function:
                jobs.setdefault(m[1], []).append(m)
    if arg.check:
        check(jobs, unit_of)
    prove.configure(arg.build)
    if arg.sample is not None:
        seed = arg.seed or str(random.SystemRandom().randrange(10 ** 9))
        lines = [m for bugs in jobs.values() for m in bugs]
        equal = [m for m in lines if m[0].startswith("=")]
        chosen = random.Random(seed).sample([m for m in lines if m not in equal], arg.sample)
        chosen[:0] = random.Random(seed).sample(equal, min(1, len(equal)))
        jobs = {}
        for m in chosen:
            jobs.setdefault(m[1], []).append(m)
        print(f"mutants-prove: {len(chosen)} of {len(lines)} lines: SEED={seed}", flush=True)
    begin, late = time.time(), 0
    total = sum(map(len, jobs.values()))
    results = []
    done, killed, problems = 0, 0, [f"{f}: not among the proven functions"
                                    for f in jobs if f not in unit_of]

    def attack(function):
        """Yield (bug, verdict, seconds) for each bug of the function."""
        with tempfile.TemporaryDirectory(dir=arg.build) as tmp:
            unit = unit_of[function]
            hints = prove.hints_of(f"{unit} {function}")

            def proof(prop, stop=None):
                """The first try; with prop the second, of these annotations only."""
                seconds, par, known = (FIRST_TRY, 1, hints) if prop is None else (
                    prove.SECOND_TRY, len(prove.PROVERS), None)
                build = os.path.join(tmp, f"limit-{seconds}")  # a cache keeps failures for good
                return prove.wp(tmp, unit, function, build, seconds, par,
                                ("-wp-cache", "update"), prop, stop, split=prop is not None,
                                hints=known)

            @functools.cache
            def control(prop):
                """The goals that stay unproved without a bug."""
                total, valid, unproved, bad = proof(prop)
                if not valid or valid + len(unproved) != total or bad and prop is None:
                    return None
                return set(unproved)

            def verdict(path, text, bug, prop=None):
                if bug is None:
                    return "NOT PLANTED"
                unproved = control(prop)
                if unproved is None:
                    return "NO CONTROL"
                open(path, "w").write(bug)
                total, _, failed, _ = proof(prop, unproved)
                open(path, "w").write(text)
                if total == 0:
                    return "NOT PARSED"
                # by annotation: a bug can change the numbers of its parts
                if {*map(prove.annotation, failed)} - {*map(prove.annotation, unproved)}:
                    return "killed"
                if prop is None and unproved:
                    return verdict(path, text, bug, prove.again(function, unproved))
                return "SURVIVED"

            for d in prove.SOURCES:
                shutil.copytree(os.path.join(prove.ROOT, d), os.path.join(tmp, d))
            for m in jobs[function]:
                if arg.clock and time.time() - begin > arg.clock:
                    yield m, "LATE", 0.0
                    continue
                start, (file, _, old, new) = time.time(), m
                path = os.path.join(tmp, file.lstrip("= "))
                text = open(path).read()
                yield m, verdict(path, text, plant(text, function, old, new)), time.time() - start

    def run(function):
        nonlocal done, killed, late
        for (file, _, old, new), verdict, seconds in attack(function):
            done += 1
            late += verdict == "LATE"
            equal = file.startswith("=")
            good = verdict == ("SURVIVED" if equal else "killed")
            verdict = "proven" if equal and good else verdict
            killed += good
            if verdict != "LATE":
                results.append({"name": f"{function}: {old} -> {new}", "ok": good})
                if not good:
                    problems.append(f"{function}: {verdict}{', which changes no meaning' * equal}: {old} -> {new}")
            print(f"[{done}/{total}] {verdict:8} {function:14} {old} -> {new}  ({seconds:.1f} s)",
                  flush=True)

    with concurrent.futures.ThreadPoolExecutor(arg.par) as pool:
        list(pool.map(run, [f for f in jobs if f in unit_of]))
    print(f"mutants-prove: {killed}/{total - late} as they should be" +
          (f"; {late} not tried within {arg.clock} s" if late else ""))
    if arg.json:
        os.makedirs(os.path.dirname(arg.json), exist_ok=True)
        with open(arg.json, "w") as f:
            json.dump({"planted": total - late, "noticed": killed, "mutants": results}, f, indent=1)
    for p in problems:
        print("  " + p)
    sys.exit(1 if problems or killed == 0 else 0)


if __name__ == "__main__":
    main()
