#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prove the C code with Frama-C/WP and compare the number of goals with the committed expectation.

It passes only if every function of the proven files has a contract, all its goals are proved, and
their number is that in the folder's wp/expected.json; likewise for the facts of the vocabulary.
That file also names the functions that are not proven, with the reason: `open` ones are still to be
proven, `outside` ones are trusted and tested; no function of ref may be open. `split`: functions
whose goals the provers find only path by path and conjunct by conjunct, which makes more goals and
usually takes longer. `hints`: which prover found a goal that the first one does not find quickly,
and the CPU seconds of slow goals; that prover is asked first and allowed three times as long. Hints
save time and prove nothing: the prover is run, and if it fails the goal goes to all of them.
`smoke`: the number of questions of --smoke; a function without requires, loop, branch and call has
none.

Each prover is called through context.c, which first asks about few of a goal's assertions. Nothing
is taken from an earlier run, except for the choice of --part: proven.json has a digest of each file
as Frama-C read it when all of it was proven, without the contracts of functions that it does not
call. frama-c's exit status is ignored; its JSON report is read."""
import argparse, concurrent.futures, functools, hashlib, json, math, os, random, re, shutil, signal
import subprocess, sys, tempfile, time

import assumptions
from proven_files import (FILES, FOLDERS, FROM_FACTS, INCLUDES, LEMMAS, OPT_FACTS, ROOT, WP, cpp_arguments,
                          expectation, has_lemmas, opt_facts, run)

NO_CACHE = ("-wp-cache", "none")
WHY3_DATA, WHY3_LIB = "/usr/share/why3", "/usr/lib/ocaml/why3"
COMMANDS = {  # prover: its driver and command; the one that proves most comes first
    "CVC4:1.8": ("cvc4_17", "cvc4 --stats --lang=smt2 %f"),
    "Z3:4.8.12": ("z3_471", "z3 -smt2 sat.random_seed=42 nlsat.randomize=false "
                            "smt.random_seed=42 -st %f"),
    "CVC5:1.0.3": (f"{WP}/cvc5.drv", "cvc5 --stats --lang=smt2 %f"),
}
PROVERS = list(COMMANDS)
# First question of context.c, about a goal without assertions that look superfluous, and its limit
# in milliseconds per second of the whole limit. Z3 does without model-based instantiation: so it
# finds most proofs quickly or not at all.
FEW_MS = 40
FEW_OPTIONS = {"Z3:4.8.12": "auto_config=false smt.mbqi=false"}
RECORD = os.path.join(WP, "proven.json")
PROVEN_HERE = os.path.join(ROOT, "build", "prove", "proven.json")
# CPU seconds per prover and goal. The first try has many functions in one run of Frama-C, and one
# prover after another, the recorded one first. SLOW are limits for goals with a recorded time: the
# least that is three times as long. Goals that stay open are tried function by function, then with
# all provers at once.
FIRST_TRY, SECOND_TRY = 16, 20
PART = 1 / 20  # share of the goals in unchanged files, for --part
TENTH_SECONDS = 60  # after this time --tenth starts no further function, if it has started TENTH_LEAST of those drawn
TENTH_LEAST = 1 / 8
MINUTES_BATCH = 60  # goals per run of Frama-C for the functions that --minutes draws
LANE_MB = 1500  # memory for a Frama-C and two provers
SLOW = (48, 144)
LAST_TRY = 6  # times the third try's limit
BATCH = 400  # goals per run of Frama-C: fewer runs parse less, more runs keep all cores busy to the end
# questions about each function besides its contract
CHECKS = ["-warn-unsigned-overflow", "-warn-unsigned-downcast", "-warn-signed-downcast", "-wp-rte"]
SMOKE, SMOKE_UPDATE = 2, 4  # seconds of a smoke test; more when counts are written, so that load alone lets none pass
PATIENCE = 20  # WP stops the prover after this many times its CPU limit by the clock


WANTED = (("frama-c -version", "25.0"), ("why3 --version", "version 1.5.1"), ("z3 -version", "version 4.8.12"),
          ("cvc4 --version", "version 1.8"), ("cvc5 --version", "version 1.0.3"))


def versions():
    """Print the versions that the proofs need and those installed, a line per tool; returns True if
    they agree. With other versions other goals may stay open."""
    lines, same = [], True
    for command, wanted in WANTED:
        try:
            found = run(command.split()).stdout.strip().split("\n")[0]
        except OSError:
            found = "not installed"
        fits = re.search(re.escape(wanted) + r"(?![\d.])", found)
        same = same and bool(fits)
        lines.append(f"prove: {command.split()[0]}: {found}" + ("" if fits else f"; needed: {wanted}"))
    return lines, same


def configure(build):
    """Check the tools' versions, also Why3's, since its drivers are used. PROVE_TOOLS=here accepts
    other versions: what they prove is proven, and the same number of goals must be proved."""
    os.makedirs(build, exist_ok=True)
    lines, same = versions()
    print(*lines, sep="\n", flush=True)
    if not same and os.environ.get("PROVE_TOOLS") != "here":
        sys.exit("prove: proofs/wp/run.sh prove.py runs this where the tools are as needed")


def context(build):
    """Compile the program context.c; returns it."""
    os.makedirs(build, exist_ok=True)
    program = os.path.join(build, "context")
    with tempfile.TemporaryDirectory(dir=build) as tmp:  # several runs may compile it at the same time
        made = os.path.join(tmp, "context")
        cc = run(["gcc", "-std=c11", "-O2", "-Wall", "-Wextra", "-Werror", "-o", made, os.path.join(WP, "context.c")])
        if cc.returncode:
            sys.exit(cc.stdout)
        os.replace(made, program)
    return program


@functools.cache
def context_here():
    return context(os.path.join(ROOT, "build", "wp"))


def asks(name, limit, few):
    """A prover's command with this many seconds; with `few`, asked about few of a goal's assertions
    first. Why3 splits it at spaces and quotes, so context.c's program is named without its
    folder."""
    command = COMMANDS[name][1]
    if not few:
        return command
    first = command.removesuffix(" %f") + " " + FEW_OPTIONS.get(name, "")
    return f"{os.path.basename(context_here())} {FEW_MS * limit} {first.strip()} -- {command}"


def provers(build, seconds, few=True):
    """The environment with a Why3 configuration in which each prover has this much CPU time. With
    wall-clock time, other load would decide what is proven."""
    conf = os.path.join(build, f"why3-{seconds}{'' if few else '-whole'}.conf")
    os.makedirs(build, exist_ok=True)
    with tempfile.NamedTemporaryFile("w", dir=build, delete=False) as f:
        f.write("[main]\nmagic = 14\nmemlimit = 2000\nrunning_provers_max = 8\n"
                f'datadir = "{WHY3_DATA}"\nlibdir = "{WHY3_LIB}"\n')
        for limit, alternative in ((seconds, ""), *((limit, f"{limit}s") for limit in SLOW)):
            for name, (driver, _) in COMMANDS.items():
                prover, version = name.split(":")
                f.write(f'\n[prover]\nname = "{prover}"\nversion = "{version}"\n'
                        f'alternative = "{alternative}"\n'
                        f'command = "prlimit --cpu={limit} {asks(name, limit, few)}"\ndriver = "{driver}"\n'
                        f'editor = ""\nin_place = false\ninteractive = false\n'
                        f'shortcut = "{prover.lower()}{alternative}"\n')
    os.replace(f.name, conf)
    path = os.path.dirname(context_here()) + os.pathsep + os.environ["PATH"]
    # with OCaml's small heap, half of Frama-C's time here would be garbage collection
    return dict(os.environ, PATH=path, WHY3CONFIG=conf, OCAMLRUNPARAM="s=8M,o=400")


def is_split(key):
    return key in expectation(key.split("/")[0])["split"]


def hints_of(key):
    return expectation(key.split("/")[0])["hints"].get(key, {})


def lines_of(expected):
    """The text of an expected.json: a line for each unit of each part."""
    def line(units, unit):
        value = f": {json.dumps(units[unit], sort_keys=True)}" if isinstance(units, dict) else ""
        return f"  {json.dumps(unit)}{value}"
    parts = []
    for name, units in sorted(expected.items()):
        left, right = "{}" if isinstance(units, dict) else "[]"
        lines = ",\n".join(line(units, unit) for unit in sorted(units))
        parts.append(f" {json.dumps(name)}: {left}\n{lines}\n {right}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def record(key, **known):
    """Write what is known of the unit to its part of expected.json: its goals and hints, or its
    smoke tests; with nothing given, remove the unit."""
    folder = key.split("/")[0]
    expected = expectation(folder)
    for part in known or ("goals", "hints", "smoke"):
        expected[part].pop(key, None)
    if "smoke" not in known:
        expected["open"].pop(key, None)
        expected["outside"].pop(key, None)
    if not known and key in expected["split"]:
        expected["split"].remove(key)
    for part, value in known.items():
        if value != {}:
            expected[part][key] = value
    path = os.path.join(ROOT, folder, "wp", "expected.json")
    with tempfile.NamedTemporaryFile("w", dir=os.path.dirname(path), delete=False) as f:
        f.write(lines_of({k: v for k, v in expected.items() if v}))
    os.chmod(f.name, 0o644)
    os.replace(f.name, path)


def digests(files):
    """A digest of what each file's goals depend on (assumptions.asked), and of the questions."""
    asked = [*CHECKS, *(version for _, version in WANTED)]
    return {name: hashlib.sha256(" ".join([*asked, file.digest]).encode()).hexdigest() for name, file in files.items()}


def proven_before(path):
    """{file: its digest when all of it was proven}."""
    found = read_report(path)
    return found if isinstance(found, dict) else {}


def part_of(todo, goals, unchanged, seed):
    """The units that --part proves: all of the changed files and all without a count; of the others
    random ones, until they have PART of the goals."""
    drawn = [job for job in todo if job[0] in unchanged and " ".join(job) in goals]
    random.Random(seed).shuffle(drawn)
    sizes = [goals[" ".join(job)] for job in drawn]
    enough = next(k for k in range(len(drawn) + 1) if sum(sizes[:k]) >= PART * sum(sizes))
    left = set(drawn[enough:])
    return [job for job in todo if job not in left]


def least_of(drawn):
    """How many of the functions drawn by --tenth are started, however late it is."""
    return math.ceil(TENTH_LEAST * len(drawn))


def begun_of(drawn, late, least):
    """The message about functions that were drawn but not started in time: (text, error)."""
    words = f"{len(drawn) - len(late)} of {len(drawn)} functions, {len(late)} not begun in time"
    return words, [] if len(drawn) - len(late) >= least else [f"{words}; at least {least} have to be"]


def in_minutes(todo, seed):
    """The units for --minutes: first those that are proven however long it takes, ref and the
    functions of pprf.h, then the others in random order. Returns both."""
    first = [(file, name) for file, name in todo if file.startswith("ref/") or name.startswith("pprf_")]
    others = [job for job in todo if job not in first]
    random.Random(seed).shuffle(others)
    return first, others


def lanes_for(processors, megabytes):
    """How many functions to prove at a time: Frama-C sleeps a third of its time, and each needs its
    memory."""
    return max(1, min(processors + 1, megabytes // LANE_MB))


def free_megabytes():
    """Memory available without swapping."""
    with open("/proc/meminfo", encoding="ascii") as f:
        return int(re.search(r"^MemAvailable: *(\d+) kB", f.read(), re.M)[1]) // 1024


def functions(root, file, build):
    """The functions that the file defines: for files in wp/ from the text, for others from the
    object."""
    if "/wp/" in file:
        text = open(os.path.join(root, file)).read()
        found = re.findall(r"^(?:  void|  uint64_t|static int) (\w+)\(", text, re.M)
        return ([LEMMAS] if has_lemmas(file) else []) + found
    obj = os.path.join(build, os.path.basename(file) + ".o")
    cc = run(["gcc", "-std=c11", "-O0", "-D_GNU_SOURCE", *INCLUDES, "-c", "-o", obj, file],
             cwd=root)
    if cc.returncode:
        sys.exit(cc.stdout)
    found = re.findall(r" [tT] (\w+)$", run(["nm", "-p", obj]).stdout, re.M)
    return ([LEMMAS] if has_lemmas(file) else []) + found


def report_of(build, file, function):
    return os.path.join(build, f"report-{file.replace('/', '-')}-{function}.json")


def unproved_in(out):
    """The goals that WP's output calls unproved."""
    return re.findall(r"\[Failed\] Goal typed_(\S+)", out)


def until_failure(cmd, known, **kw):
    """Run WP to the end, or until its first unproved goal that is not known as such. Returns the
    output so far."""
    lines = []
    with subprocess.Popen(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          start_new_session=True, **kw) as p:
        for line in p.stdout:
            lines.append(line)
            if set(unproved_in(line)) - known:
                os.killpg(p.pid, signal.SIGKILL)
                break
    return "".join(lines)


def annotation(goal):
    """The annotation that the goal is part of: when goals are taken apart, parts are numbered
    differently."""
    return re.sub(r"_part\d+$", "", goal)


def again(function, failed):
    """The argument of -wp-prop for these goals: annotations by name, or else all of a kind."""
    props = set()
    for goal in failed:
        if function == LEMMAS:
            props.add(goal.removeprefix("lemma_"))
            continue
        m = re.match(r"(?:assert|ensures|loop_invariant)_([a-z]\w*?)(?:_\d+)?"
                     r"(?:_established|_preserved)?(?:_part\d+)?$", goal[len(function) + 1:])
        if m and not m[1].startswith("rte_"):
            props.add(m[1])
        else:
            props |= {"@" + kind for kind in ("assert", "ensures", "invariant", "assigns", "requires",
                                              "variant") if kind in goal[len(function):]}
    return ",".join(sorted(props))


def session(build, file, function, hints):
    """Make WP's files for a function: its cache, if there is one, and for each goal with a hint a
    script that makes WP ask the named prover first. Returns the directory."""
    folder = os.path.join(build, f"session-{file.replace('/', '-')}-{function}")
    scripts = os.path.join(folder, "script")
    shutil.rmtree(scripts, ignore_errors=True)
    os.makedirs(scripts)
    version = {p.split(":")[0]: p for p in PROVERS}
    for goal, hint in hints.items():
        prover, *seconds = hint.split()
        limit = [f":{next((l for l in SLOW if 3 * float(s) <= l), SLOW[-1])}s" for s in seconds]
        with open(os.path.join(scripts, goal + ".json"), "w") as f:
            json.dump([{"prover": "".join([version[prover], *limit]), "verdict": "valid", "time": 1}], f)
    return folder


def read_report(path):
    """WP's report; None if there is no complete one, since frama-c may be stopped while writing
    it."""
    try:
        with open(path, encoding="utf-8") as f:
            return json.load(f)
    except (OSError, ValueError):
        return None


def frama_c(root, file, what, name, build, seconds, par, extra, stop, split, hints):
    """Run WP once on a part of the file. Returns its output and its report, None if there is
    none."""
    report = report_of(build, file, name)
    if os.path.exists(report):
        os.remove(report)
    cmd = ["frama-c", f"-cpp-extra-args={cpp_arguments(file)}", *CHECKS, "-wp",
           *(["-wp-split"] if split else []), "-wp-prover", ",".join((["script"] if hints else []) + PROVERS),
           "-wp-par", str(par),
           "-wp-timeout", str(PATIENCE * seconds), "-wp-time-extra", str(PATIENCE * SLOW[-1]),
           "-wp-session", session(build, file, name, hints or {}),
           "-wp-report-json", report, *what, *extra, file]
    few = "-wp-smoke-tests" not in extra  # contradictions are searched for among all assertions
    # frama-c resolves file names relative to PWD, not to its working directory
    env = dict(provers(build, seconds, few), PWD=root)
    out = run(cmd, cwd=root, env=env).stdout if stop is None else until_failure(cmd, stop, cwd=root, env=env)
    return out, read_report(report)


def complaints(out, data, functions, hints):
    """The errors of a run, except goals that stay unproved."""
    bad = [l for l in out.splitlines() if re.search(r"Warning:|User Error:|admit", l)]
    if data is None:
        return bad + out.splitlines()[-3:]
    for function in functions:
        for clause in ("ensures", "assigns"):
            if not any(n.startswith(f"{function}_{clause}")
                       for n in data.get("wp:functions", {}).get(function, {})):
                bad.append(f"{function} has no {clause} clause")
    goals = set(re.findall(r"Goal typed_(\S+)\s", out))
    return bad + [f"hint for {goal}: no such goal" for goal in hints or () if goal not in goals]


def proved_by(out):
    """The proved goals, each with its prover and the CPU seconds that it took."""
    found = {}
    for prover, goal, rest in re.findall(r"\[(\w+)[^]]*\] Goal typed_(\S+) : Valid(.*)", out):
        times = re.findall(r"(?<!:)\b([0-9.]+)(ms|s)\b", rest)
        n, unit = times[-1] if times else ("0", "s")
        found[goal] = (prover, float(n) / (1000 if unit == "ms" else 1))
    return found


def wp(root, file, function, build, seconds, par, extra=(), prop=None, stop=None, valid=None,
       split=False, hints=None):
    """Run WP on one function. Returns (total, proved, names of unproved goals, complaints). If stop
    is a set, the first unproved goal not in it ends the run, and the numbers are 1 and 0. Proved
    goals are added to the dict valid, as proved_by returns them. split: take goals apart even if
    expected.json does not ask for it. hints: {goal: prover to ask first}."""
    if function != LEMMAS:
        what = ["-wp-fct", function] + ([f"-wp-prop={prop}"] if prop else [])
    elif prop:
        what = ["-wp-prop", prop]
    elif file in OPT_FACTS:
        what = ["-wp-prop", ",".join(opt_facts(root, file))]
    elif "/wp/" in file:
        what = ["-wp-prop", ",".join(["@lemma", *("-" + f for f in FROM_FACTS)])]
    else:
        what = ["-wp-prop", "@lemma"]
    out, data = frama_c(root, file, what, function, build, seconds, par,
                        extra, stop, split or is_split(f"{file} {function}"), hints)
    if stop is not None:
        new = [goal for goal in unproved_in(out) if goal not in stop]
        if new:
            return 1, 0, new, []
    if valid is not None:
        valid.update(proved_by(out))
    bad = complaints(out, data, [function] if function != LEMMAS else [], hints)
    if data is None:
        return 0, 0, [], bad
    main = data["wp:global"]["wp:main"]
    return main["total"], main.get("valid", 0), unproved_in(out), bad


def wp_batch(root, file, names, build, par):
    """Run WP once on functions of a file, each goal's recorded prover first. Returns for each
    function what wp returns, and the proved goals as proved_by returns them; if some goals of a
    function are not accounted for, its results are empty."""
    hints = {goal: hint for name in names for goal, hint in hints_of(f"{file} {name}").items()}
    out, data = frama_c(root, file, ["-wp-fct", ",".join(names)], f"{names[0]}-{len(names)}", build,
                        FIRST_TRY, par, NO_CACHE, None, is_split(f"{file} {names[0]}"), hints)
    by, failed = proved_by(out), unproved_in(out)
    parts = (data or {}).get("wp:functions", {})
    if complaints(out, data, names, hints) or len(by) + len(failed) != data["wp:global"]["wp:main"]["total"]:
        return [(name, 0, 0, [], [], {}) for name in names]  # run alone, each reports its own errors

    def owner(goal):
        return max((name for name in names if goal.startswith(name + "_")), key=len, default=None)

    result = []
    for name in names:
        counts = parts[name]["wp:section"]["wp:main"]
        t, v = counts["total"], counts.get("valid", 0)
        left = [goal for goal in failed if owner(goal) == name]
        own = {goal: found for goal, found in by.items() if owner(goal) == name}
        result.append((name, t, v, left, [], own) if (t, v) == (len(left) + len(own), len(own))
                      else (name, 0, 0, [], [], {}))
    return result


def smoke(root, file, function, build, seconds):
    """Look for contradictions in one function's contract, in its loops, and in the contracts that
    it calls: WP must try to prove false at its start and in each loop and branch. Returns what
    wp returns, with these questions as the goals; a question passes if no prover answers it."""
    extra = ("-wp-cache", "none", "-wp-smoke-tests", "-wp-smoke-timeout", str(PATIENCE * seconds))
    prop = "-@ensures,-@invariant,-@assert,-@variant"  # the properties that the other run proves
    _, _, _, bad = wp(root, file, function, build, seconds, 1, extra, prop)
    report = report_of(build, file, function)
    bad = [l for l in bad if not l.endswith(("Failed smoke-test", "has no ensures clause"))]
    if not os.path.exists(report):
        return 0, 0, [], bad
    asked = {name: found["wp:main"] for part in json.load(open(report))["wp:functions"].values()
             for name, found in part.items() if "_wp_smoke_" in name}
    failed = [name for name, n in asked.items() if n.get("valid", 0) != n["total"]]
    total = sum(n["total"] for n in asked.values())
    return total, sum(n.get("valid", 0) for n in asked.values()), failed, bad


def smoke_control(build, seconds):
    """Check that a smoke run finds a contradiction where there is one; otherwise it means
    nothing."""
    file = os.path.join("proofs", "wp", "smoke.c")
    for function in ("sound", "bad_requires", "bad_callee", "bad_invariant"):
        total, passed, failed, bad = smoke(ROOT, file, function, build, seconds)
        if bad or total == 0 or (passed == total) != (function == "sound"):
            sys.exit(f"prove: the smoke tests' control {function}: {passed}/{total} {bad}")
        print(f"prove: control {function}:", " ".join(failed) or "no contradiction")


def write_record(texts):
    """Write what is proven to proven.json. Returns the files that are missing there."""
    before, here = proven_before(RECORD), proven_before(PROVEN_HERE)
    record = {file: text for file, text in texts.items() if text in (before.get(file), here.get(file))}
    with open(RECORD, "w", encoding="utf-8") as f:
        json.dump(record, f, indent=2)
        f.write("\n")
    return [file for file in FILES if file not in record]


def main():
    ap = argparse.ArgumentParser(description=__doc__)
    ap.add_argument("--par", type=int, help="functions at a time (one more than processors, if there is "
                                            f"memory: {LANE_MB} MB each)")
    ap.add_argument("--timeout", type=int, default=30,
                    help="seconds of CPU time per prover and goal in the third try; the last try, which runs "
                         "alone, has six times as many, since machines differ in speed")
    ap.add_argument("--file", help="only this file")
    ap.add_argument("--function", help="only this function")
    ap.add_argument("--quick", action="store_true",
                    help="one try of --seconds, ignoring expected.json; needs --function")
    ap.add_argument("--prop", help="with --quick: only these annotations, by name")
    ap.add_argument("--seconds", type=int,
                    help="per prover and goal: with --quick (default 5) or --smoke (default "
                         f"{SMOKE}; with --update {SMOKE_UPDATE}, and no less)")
    ap.add_argument("--update", action="store_true",
                    help="write the counts (with --smoke: those of its tests) to expected.json")
    ap.add_argument("--smoke", action="store_true", help="look for contradictory contracts instead")
    ap.add_argument("--part", action="store_true",
                    help="only the files that differ from proven.json, and of the others a twentieth of the "
                         "goals, functions at random")
    ap.add_argument("--minutes", type=int,
                    help="ref, the functions of pprf.h, and random others that start within MINUTES")
    ap.add_argument("--record", action="store_true",
                    help="prove nothing: write to proven.json the files that were completely proved here in "
                        "their present form")
    ap.add_argument("--tenth", action="store_true",
                    help="with --smoke: functions at random until a tenth of the tests has been run")
    ap.add_argument("--seed", default=os.environ.get("SEED") or None,
                    help="repeats the choice of --part, --minutes and --tenth")
    ap.add_argument("--json", help="write the results to this file, for the report")
    ap.add_argument("--build", default=os.path.join(ROOT, "build", "wp"))
    ap.add_argument("--versions", action="store_true",
                    help="only print the tools' versions; exit 1 if they are not those needed")
    arg = ap.parse_args()
    if arg.versions:
        lines, same = versions()
        print(*lines, sep="\n")
        sys.exit(0 if same else 1)
    if (arg.quick or arg.prop) and not (arg.quick and arg.file and arg.function):
        ap.error("--quick needs --file and --function, --prop needs --quick")
    if arg.tenth and not arg.smoke:
        ap.error("--tenth needs --smoke")
    if (arg.part or arg.minutes) and (arg.smoke or arg.update or arg.file or arg.function or arg.part and arg.minutes):
        ap.error("--part and --minutes are a choice among all goals")
    if arg.record and (arg.part or arg.minutes or arg.smoke or arg.quick or arg.file or arg.function):
        ap.error("--record goes alone: it proves nothing")
    if arg.smoke and arg.quick:
        ap.error("--smoke goes without --quick")
    if arg.smoke and arg.update and (arg.seconds or SMOKE_UPDATE) < SMOKE_UPDATE:
        ap.error(f"--smoke --update takes {SMOKE_UPDATE} seconds or more")
    if arg.smoke:
        arg.seconds = arg.seconds or (SMOKE_UPDATE if arg.update else SMOKE)
    configure(arg.build)
    if not arg.par:
        arg.par = lanes_for(os.cpu_count(), free_megabytes())
        print(f"prove: {arg.par} functions at a time: {os.cpu_count()} processors, {free_megabytes()} MB", flush=True)
    if arg.quick:
        t, v, failed, bad = wp(ROOT, arg.file, arg.function, arg.build, arg.seconds or 5, 1,
                               NO_CACHE, arg.prop)
        if arg.prop:  # other annotations were not checked
            bad = [l for l in bad if not l.endswith(("has no ensures clause", "has no assigns clause"))]
        print(*bad, *failed, f"{arg.file} {arg.function}: {v}/{t} goals", sep="\n")
        sys.exit(0 if t and v == t and not bad else 1)
    texts = {}
    if not arg.function:
        try:
            read = assumptions.read(ROOT, FILES)
            texts = digests(read)
            if arg.record:
                missing = write_record(texts)
                print(f"prove: proven.json: {len(FILES) - len(missing)} of {len(FILES)} files"
                      f"{'; not proven whole as they are now: ' + ' '.join(missing) if missing else ''}")
                sys.exit(1 if missing else 0)
            print("prove:", assumptions.run(ROOT, read), flush=True)
        except assumptions.Refused as why:
            sys.exit(f"prove: {why}")
    parts = [expectation(folder) for folder in FOLDERS]
    goals, open_, outside, tests = ({k: v for e in parts for k, v in e[part].items()}
                                    for part in ("goals", "open", "outside", "smoke"))
    todo = [(f, g) for f in FILES for g in functions(ROOT, f, arg.build)]
    # an inline function of a header is proven once; otherwise a function would hide another of the
    # same name
    for k, (f, g) in enumerate(todo):
        if g in [h for _, h in todo[:k]] and g != LEMMAS and re.search(
                r"^[A-Za-z][^\n;]*\b" + g + r"\((?:[^;{]|\n)*\n\{\n", open(os.path.join(ROOT, f)).read(), re.M):
            sys.exit(f"prove: {f}: there is another function called {g}")
    todo = [t for k, t in enumerate(todo)
            if t[1] == LEMMAS or t[1] not in [g for _, g in todo[:k]]]
    known = {f"{f} {g}" for f, g in todo}
    stale = sorted({*goals, *open_, *outside, *tests} - known)
    failures = [] if arg.update else [f"{k}: expected, but there is no such function" for k in stale]
    if not arg.update:  # all of ref must stay proven
        failures += [f"{k}: not proven" for k in sorted(open_) if k.startswith("ref/")]
    todo = [t for t in todo if (not arg.file or t[0] == arg.file)
            and (not arg.function or t[1] == arg.function)]
    expected, what = (tests, "smoke tests") if arg.smoke else (goals, "goals")
    total = proved = 0
    results = []
    late = set()  # functions for which --tenth or --minutes had no time
    begun = []  # functions that --tenth started
    found = {}  # for each unit, which prover finds goals that the first one does not find quickly

    def remember(key, by):
        """Record what found the goals, except those that the first prover finds at once."""
        hints = hints_of(key)
        for goal, (prover, seconds) in by.items():
            name = hints[goal].split()[0] if prover == "Script" else prover
            slow = 3 * seconds > FIRST_TRY
            if prover != "Qed" and (slow or name != PROVERS[0].split(":")[0]):
                found.setdefault(key, {})[goal] = f"{name} {seconds:.0f}" if slow else name

    def too_late(job):
        """Whether it is too late to start a function."""
        seconds = time.time() - begin
        return (arg.tenth and seconds > TENTH_SECONDS and len(begun) >= least_of(todo)
                or arg.minutes and seconds > 60 * arg.minutes and job not in first)

    def batch(file, names):
        """Prove these functions in one run. Yields what prove returns."""
        start = time.time()
        if too_late((file, names[0])):
            late.update(f"{file} {name}" for name in names)
            return [((file, name), 0, 0, [], [], {}, 0.0) for name in names]
        done = wp_batch(ROOT, file, names, arg.build, 2)
        seconds = (time.time() - start) / len(names)
        return [((file, name), t, v, failed, bad, by, seconds) for name, t, v, failed, bad, by in done]

    def prove(job, timeout):
        """Most goals are found at once by the right prover; the rest is split, then tried
        longer."""
        file, function = job
        start = time.time()
        if too_late(job):
            late.add(" ".join(job))
            return 0, 0, [], [], 0.0
        begun.append(job)
        if arg.smoke:
            return *smoke(ROOT, file, function, arg.build, arg.seconds), time.time() - start
        key, by = " ".join(job), {}
        t, v, failed, bad = wp(ROOT, file, function, arg.build, FIRST_TRY, 1, NO_CACHE,
                               valid=by, hints=hints_of(key))
        remember(key, by)
        if v != t and not bad:
            left = failed
            for seconds, split in ((SECOND_TRY, True), (timeout, False)):
                for prop in (again(function, left), None):  # None: the names did not cover all of them
                    if not left or prop == "":
                        continue
                    proved = {}
                    total, valid, unproved, _ = wp(ROOT, file, function, arg.build, seconds,
                                                   len(PROVERS), NO_CACHE, prop, valid=proved,
                                                   split=split)
                    if total == 0 or total != valid + len(unproved):
                        continue  # ended early: parts that were not tried are not proved
                    won, lost = ({annotation(goal) for goal in names} for names in (proved, unproved))
                    if not split:
                        remember(key, {goal: proved[goal] for goal in left if goal in proved})
                    left = [goal for goal in left
                            if annotation(goal) in lost or annotation(goal) not in won]
                    if all(annotation(goal) in lost for goal in left):
                        break
            v, failed = v + len(failed) - len(left), left
        return t, v, failed, bad, time.time() - start

    for word, names in (("OPEN", open_), ("outside", outside)):
        for key in sorted(names) if not arg.function else ():
            print(f"{key:44} {word}: {names[key]}", flush=True)
    if not arg.function:
        todo = [job for job in todo if " ".join(job) not in {**open_, **outside}]
    if arg.part:
        before = proven_before(RECORD)
        unchanged = {file for file in FILES if before.get(file) == texts[file]}
        seed = arg.seed or str(random.SystemRandom().randrange(10 ** 9))
        whole, todo = len(todo), part_of(todo, goals, unchanged, seed)
        asked = sum(goals.get(" ".join(job), 0) for job in todo)
        print(f"prove: {len(todo)} of {whole} functions, {asked} of {sum(goals.values())} goals: SEED={seed}; all of "
              f"{' '.join(f for f in FILES if f not in unchanged) or 'no file: none changed'}", flush=True)
    if arg.smoke:
        todo = [job for job in todo if job[1] != LEMMAS]
        if arg.tenth:
            seed = arg.seed or str(random.SystemRandom().randrange(10 ** 9))
            random.Random(seed).shuffle(todo)
            asked = [sum(tests.get(" ".join(job), 0) for job in todo[:k]) for k in range(len(todo) + 1)]
            todo = todo[:next(k for k, n in enumerate(asked) if 10 * n >= asked[-1])]
            print(f"prove: {len(todo)} functions with a tenth of {asked[-1]} smoke tests: SEED={seed}", flush=True)
        smoke_control(arg.build, arg.seconds)
    # many goals mean a long run: those start first, so that the lanes end together
    todo.sort(key=lambda job: -goals.get(" ".join(job), 1000))
    first = []  # with --minutes: functions that are always proven
    if arg.minutes:
        seed = arg.seed or str(random.SystemRandom().randrange(10 ** 9))
        first, others = in_minutes(todo, seed)
        print(f"prove: {len(first)} functions of ref and pprf.h; of {len(others)} others those that begin within "
              f"{arg.minutes} minutes: SEED={seed}", flush=True)
        todo = first + others
    begin = time.time()
    pool = concurrent.futures.ThreadPoolExecutor(arg.par)
    runs, batches = {}, []
    for job in todo:
        key = " ".join(job)
        if arg.smoke or job[1] == LEMMAS:
            runs[pool.submit(prove, job, arg.timeout)] = job
            continue
        size, kind = goals.get(key, BATCH), (job[0], is_split(key), job in first)
        most = MINUTES_BATCH if arg.minutes and job not in first else BATCH
        fits = [b for b in batches if b[0] == kind and not is_split(key) and b[2] + size <= most]
        if fits:
            fits[0][1].append(job[1])
            fits[0][2] += size
        else:
            batches.append([kind, [job[1]], size])
    batched = [pool.submit(batch, kind[0], names) for kind, names, _ in batches]
    alone = []  # other load costs the provers part of their time, so these are tried once more, alone

    def outcomes():
        for done in concurrent.futures.as_completed(batched):
            for job, t, v, failed, bad, by, seconds in done.result():
                if t and v == t or " ".join(job) in late:
                    remember(" ".join(job), by)
                    yield job, t, v, failed, bad, seconds
                else:
                    print(f"{' '.join(job):44} {v:4}/{t:<4} {seconds:6.1f} s  again alone: "
                          f"{' '.join(failed)}", flush=True)
                    runs[pool.submit(prove, job, arg.timeout)] = job
        for done in concurrent.futures.as_completed(runs):
            t, v, failed, bad, seconds = done.result()
            if v != t and not bad and not arg.smoke:
                alone.append(runs[done])
                print(f"{' '.join(runs[done]):44} {v:4}/{t:<4} {seconds:6.1f} s"
                      f"  again at the end: {' '.join(failed)}", flush=True)
            else:
                yield runs[done], t, v, failed, bad, seconds
        for job in alone:
            yield job, *prove(job, LAST_TRY * arg.timeout)

    for n, (job, t, v, failed, bad, seconds) in enumerate(outcomes(), 1):
        key = " ".join(job)
        total, proved = total + t, proved + v
        if key not in late:
            results.append({"name": key, "goals": t, "proved": v, "seconds": round(seconds, 1)})
        note = ""
        if bad:
            note = "; ".join(bad)
        elif v != t or t == 0 and not arg.smoke and key not in late:
            note = ("contradiction: " if arg.smoke else "unproved: ") + " ".join(failed)
        elif arg.update:
            record(key, **({"smoke": t} if arg.smoke else {"goals": t, "hints": found.get(key, {})}))
        elif t != expected.get(key) and key not in late:
            note = f"expected.json says {expected.get(key)} {what}"
        if note:
            failures.append(f"{key}: {note}")
        print(f"[{n}/{len(todo)}] {key:36} {v:4}/{t:<4} {seconds:6.1f} s"
              f"  {'FAILED ' + note if note else 'not begun in time' if key in late else 'ok'}", flush=True)
    part = ""
    if arg.tenth or arg.minutes:
        part, wrong = begun_of([" ".join(job) for job in todo], late, arg.minutes and 1 or least_of(todo))
        failures += wrong
        part = f"{total} of all {sum(expected.values())} {what}: {part}"
    if arg.tenth and not total:
        failures.append("no smoke test was run")
    if arg.update:
        for k in stale:
            record(k)
    whole = {file for file in texts if not arg.smoke and not arg.part and not arg.minutes and arg.file in (None, file)}
    whole -= {file for file in whole for failure in failures if failure.startswith(file + " ")}
    if whole:  # files that were changed meanwhile were not proven
        after = digests(assumptions.read(ROOT, FILES))
        whole = {file for file in whole if after[file] == texts[file]}
        os.makedirs(os.path.dirname(PROVEN_HERE), exist_ok=True)
        with open(PROVEN_HERE + ".tmp", "w", encoding="utf-8") as f:
            json.dump({**proven_before(PROVEN_HERE), **{file: texts[file] for file in whole}}, f, indent=2)
        os.replace(f.name, PROVEN_HERE)
    if arg.json:
        os.makedirs(os.path.dirname(arg.json), exist_ok=True)
        with open(arg.json, "w") as f:
            json.dump({"functions": results, "provers": PROVERS, "part": part, "open": open_,
                       "outside": outside, "passed": not failures, "failures": failures}, f, indent=2)
    print(f"prove: {proved}/{total} {what}{' passed' if arg.smoke else ''}" + (f"; {part}" if part else "") +
          (f"; {len(open_)} functions open" if open_ else "") +
          ("" if not failures else "; FAILED:"))
    for f in failures:
        print("  " + f)
    sys.exit(1 if failures or not results else 0)


if __name__ == "__main__":
    main()
