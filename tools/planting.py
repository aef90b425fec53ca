#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted bugs test the tests: each bug is put into a copy of the tree, where a test or proof must
fail.

A list of bugs is a file planted.txt in the folder of the tests, with a line for each bug:
  [NAME |] FILE[#N] | JUDGE | OLD ==> NEW
JUDGE, a test or the proof of a function, must detect the bug. OLD is a Python regular expression,
in which ^ and $ match at line ends; NEW may refer to its groups. OLD must match exactly once in
FILE; #N selects the N-th match, #* all. A bug without a name is called "JUDGE: OLD -> NEW".
  *NAME          also planted by --quick
  ~NAME          an equivalent change: it must pass, so that a judge that always fails is found
  JUDGE (hangs)  the bug may hang the judge; a hang of any other judge is an error
  & FILE[#N] | OLD ==> NEW   below a line: a further change of the same bug
The first line of a list names the program that plants its bugs. That program says how to make and
judge a copy (Planter, Suites), and calls main(). This file, run as a program, runs all those
programs with the same options."""
import argparse
import concurrent.futures
import contextlib
import fractions
import json
import math
import os
import platform
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import typing

HANGS = 600  # processor seconds after which a judge hangs: far above what any needs, also on a slower machine
TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


class Edit(typing.NamedTuple):
    file: str
    number: str  # index of the match; "": it must be the only one; "*": all
    old: str
    new: str


class Bug(typing.NamedTuple):
    name: str
    judge: str
    edits: list
    quick: bool = False
    equal: bool = False
    hangs: bool = False


class NoPlace(Exception):
    """A bug whose place is not found."""


NAMELESS = re.compile(r"(\w[\w.-]*/)+[\w.-]+(#\S+)? \|")  # a line that starts with a file name


def edit(file, change):
    file, _, number = file.strip(" ").partition("#")
    old, new = re.split(r" ==>(?: |$)", change, maxsplit=1)
    return Edit(file, number, old.strip(" "), new)


def programs():
    """{program: the lists whose first line names it}"""
    found = {}
    for folder, folders, files in os.walk(TOP):
        folders[:] = sorted(set(folders) - {"build", "target", ".git"})
        if "planted.txt" in files:
            path = os.path.relpath(os.path.join(folder, "planted.txt"), TOP)
            named = re.search(r"^# Bugs that (\S+\.py) plants;", read(os.path.join(TOP, path)), re.M)
            if not named:
                sys.exit(path + ": its first line names no program")
            found.setdefault(named[1], []).append(path)
    return found


def load(path):
    """The bugs in a list."""
    bugs = []
    with open(path, encoding="utf-8") as f:
        lines = [line for line in f.read().split("\n") if line and line[0] != "#"]
    for line in lines:
        if line[0] == "&":
            bugs[-1].edits.append(edit(*line[1:].split("|", 1)))
            continue
        marks, line = re.fullmatch("([*~]*)(.*)", line).groups()
        name, line = ("", line) if NAMELESS.match(line) else line.split("|", 1)
        file, judge, change = line.split("|", 2)
        judge, hangs = re.fullmatch(r" *(.*?)( \(hangs\))? *", judge).groups()
        change = edit(file, change)
        name = name.strip(" ") or "%s: %s -> %s" % (judge, re.sub(r"\\(.)", r"\1", change.old), change.new)
        bugs.append(Bug(name, judge, [change], "*" in marks, "~" in marks, hangs is not None))
    return bugs


def read(path):
    if not os.path.exists(path):
        return ""  # a bug may create a file
    with open(path, encoding="utf-8") as f:
        return f.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def place(text, change, start, end):
    """The text with the change made, looking only from start to end."""
    found = list(re.compile(change.old, re.M).finditer(text, start, end))
    if change.number.isdigit():
        chosen = found[int(change.number) - 1:int(change.number)]
    else:
        chosen = found if change.number == "*" or len(found) == 1 else []
    new = text
    for match in reversed(chosen):
        new = new[:match.start()] + match.expand(change.new) + new[match.end():]
    if new == text:
        raise NoPlace("%s has %d places for %s" % (change.file, len(found), " ".join(change.old.split())))
    return new


def run(command, root, cpu, **environment):
    """Run a command in a copy and return "passed", "failed" or "hung". Its output goes to the file
    log(root). The limit is processor time (cpu seconds), so the result does not depend on load;
    a command that only waits is stopped later."""
    def limit():
        os.setsid()
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):  # ignored in the background
            signal.signal(number, signal.SIG_DFL)
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu, cpu + 1))
    with open(log(root), "w") as out:
        process = subprocess.Popen(command, cwd=root, stdout=out, stderr=out, stdin=subprocess.DEVNULL,
                                   env=dict(os.environ, **environment), preexec_fn=limit)
    try:
        status = process.wait(timeout=min(20 * cpu, 1800 + cpu))
    except subprocess.TimeoutExpired:
        return "hung"
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # and processes that it left running
        process.wait()
    return "hung" if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU) else "failed" if status else "passed"


def log(root):
    return root + ".log"


def output(root):
    """The output of the last command."""
    with open(log(root), encoding="utf-8", errors="replace") as f:
        return f.read()


def copy_tree(root, built, *ignored):
    """Copy the sources and what is already built, with timestamps, so that make rebuilds only what
    a change affects."""
    for name in os.listdir(TOP):
        path = os.path.join(TOP, name)
        if name in ("docs", "proofs", "spec"):  # the rules refer to them, but nothing there is built
            os.symlink(path, os.path.join(root, name))
        elif os.path.isfile(path):
            shutil.copy2(path, root)
        elif name not in ("build", ".git"):
            shutil.copytree(path, os.path.join(root, name), ignore=shutil.ignore_patterns("__pycache__"))
    for name in built:
        path, to = (os.path.join(d, "build", name) for d in (TOP, root))
        if os.path.isdir(path):
            shutil.copytree(path, to, symlinks=True, ignore=shutil.ignore_patterns(*ignored))
        elif os.path.isfile(path):
            os.makedirs(os.path.dirname(to), exist_ok=True)
            shutil.copy2(path, to)


def make(targets, root):
    """Build in a copy. The oracle is not under test."""
    with open(log(root), "w") as out:
        return subprocess.run(["make", "-s", "-o", "build/oracle", "DEPS=skip", "WARN=-w", *targets], cwd=root,
                              stdout=out, stderr=out, stdin=subprocess.DEVNULL, check=False).returncode == 0


class Planter:
    """What a list's program defines. A judgement is (verdict, text): for "passed", "failed" and
    "hung" the text names the judge, for "broken" and "skip" it is the reason."""
    lists = ()  # the lists whose first line names this program
    jobs = 1
    fresh = False  # whether each group needs its own copy

    def options(self, parser):
        """Add options of this program alone."""

    def bugs(self):
        return [bug for path in self.lists for bug in load(os.path.join(TOP, path))]

    def groups(self, bugs):
        """Bugs that are planted one after another in the same copy."""
        return [[bug] for bug in bugs]

    def controls(self, bugs):
        """The judges, each of which must pass in a copy without a bug."""
        return sorted({bug.judge for bug in bugs})

    def prepare(self, root):
        """Make a copy."""
        raise NotImplementedError

    def judge(self, judge, root):
        raise NotImplementedError

    def scope(self, bug, text):
        """The part of a file in which to look for the bug's place."""
        return 0, len(text)

    def changed(self, bug, root):
        """{path: (text, text with the bug)}"""
        texts = {}
        for change in bug.edits:
            path = os.path.join(root, change.file)
            old, new = texts.get(path) or (read(path),) * 2
            texts[path] = old, place(new, change, *self.scope(bug, new))
        return texts

    @contextlib.contextmanager
    def planted(self, bug, root):
        texts = self.changed(bug, root)
        for path, (_, new) in texts.items():
            write(path, new)
        yield
        for path, (old, _) in texts.items():
            write(path, old)  # its timestamp is newer than the objects built with the bug

    def test(self, bug, root):
        with self.planted(bug, root):
            return self.judge(bug.judge, root)


class Suites(Planter):
    """Each judge is a test that make builds."""
    built = ()  # what to copy from build/
    environment = {"STOP": "1"}  # stop at the first failing test

    def suite(self, judge):
        """The targets to make, and the command to run."""
        raise NotImplementedError

    def prepare(self, root):
        copy_tree(root, self.built)

    def judge(self, judge, root):
        target, command = self.suite(judge)
        if not make(target.split(), root):
            return "broken", "it does not compile"
        return run(command, root, HANGS, SEED="1", **self.environment), judge


def asked(bug, arg):
    """Whether the command line names this bug."""
    return bug.name in arg.names or arg.only and (
        arg.only in bug.name or arg.only == bug.judge or any(arg.only in change.file for change in bug.edits))


def choose(bugs, arg, parser):
    """The bugs to plant in this run."""
    known = {bug.name for bug in bugs}
    if not known.issuperset(arg.names):
        parser.error("no such bug: " + ", ".join(sorted(set(arg.names) - known)))
    if arg.names or arg.only:
        found = [b for b in bugs if asked(b, arg)]
        return found or parser.error("no such bug: " + arg.only)
    if os.environ.get("ALL") or not (arg.quick or arg.sample):
        return bugs
    chosen = [bug for bug in bugs if arg.quick and bug.quick]
    if arg.sample:
        seed = arg.seed or str(random.SystemRandom().randrange(10 ** 9))
        equal, rest = ([b for b in bugs if b not in chosen and b.equal is e] for e in (True, False))
        count = math.ceil(arg.sample * len(rest) if arg.sample < 1 else arg.sample)
        chosen += random.Random(seed).sample(equal, min(1, len(equal)))
        chosen += random.Random(seed).sample(rest, min(count, len(rest)))
        print("# %d of %d planted bugs: SEED=%s; ALL=1: all" % (len(chosen), len(bugs), seed), flush=True)
    return chosen


def verdict_on(bug, judgement):
    """(whether the bug was judged as it should be, text)."""
    verdict, words = judgement
    if verdict == "skip":
        return True, "# SKIP " + words
    if verdict == "broken":
        return False, words
    if verdict == "passed":
        return (True, "equivalent, passes") if bug.equal else (False, "SURVIVED")
    if verdict == "hung" and not bug.hangs:
        return False, "hangs in %s, but its line is not marked (hangs)" % words
    return not bug.equal, "noticed by " + words


class Run:
    """One run over the chosen bugs, printed as TAP."""

    def __init__(self, planter, arg, chosen, directory):
        self.planter, self.arg, self.chosen, self.directory = planter, arg, chosen, directory
        self.controls = planter.controls(chosen)
        self.total = 1 + len(self.controls) + len(chosen)
        self.free, self.lock = [], threading.Lock()
        self.count = self.failed = self.late = 0
        self.results, self.begin = [], None

    def report(self, ok, claim, comments=()):
        with self.lock:
            self.count += 1
            self.failed += not ok
            print("%sok %d - %s" % ("" if ok else "not ", self.count, claim))
            print(*("# %s\n" % line for line in comments), sep="", end="", flush=True)
            if sys.stderr.isatty():
                sys.stderr.write("\r\033[K" + ("%d of %d" % (self.count, self.total)) * (self.count < self.total))
                sys.stderr.flush()

    @contextlib.contextmanager
    def copy(self):
        with self.lock:
            root = self.free.pop() if self.free else None
        if root is None:
            root = tempfile.mkdtemp(dir=self.directory)
            os.chmod(root, 0o755)
            self.planter.prepare(root)
        write(log(root), "")
        yield root
        if self.planter.fresh:
            shutil.rmtree(root)
        else:
            self.free.append(root)

    def control(self, judge):
        with self.copy() as root:
            verdict, words = self.planter.judge(judge, root)
            ok = verdict in ("passed", "skip")
            self.report(ok, judge + " passes without a planted bug" + (" # SKIP " + words) * (verdict == "skip"),
                        [] if ok else [verdict, *output(root).splitlines()[-15:]])

    def group(self, bugs):
        with self.copy() as root:
            for bug in bugs:
                self.begin = self.begin or time.time()
                if self.arg.clock and time.time() - self.begin > self.arg.clock:
                    self.late += 1
                    self.report(True, "%s # SKIP not tried within %d seconds" % (bug.name, self.arg.clock))
                    continue
                write(log(root), "")
                try:
                    judgement = self.planter.test(bug, root)
                except NoPlace as why:
                    judgement = "broken", str(why)
                ok, words = verdict_on(bug, judgement)
                if judgement[0] != "skip":
                    self.results.append({"name": bug.name, "ok": ok, "equal": bug.equal})
                lines = output(root).splitlines()
                self.report(ok, bug.name + (" " if words[0] == "#" else ": ") + words,
                            [line for line in lines if line.startswith("not ok")][:1] if ok else lines[-15:])

    def all(self):
        start = time.time()
        print("1..%d" % self.total, flush=True)
        wrong = places(self.planter, self.planter.bugs())
        self.report(not wrong, "every planted bug has its place", wrong)
        with concurrent.futures.ThreadPoolExecutor(self.arg.jobs) as pool:
            tasks = [pool.submit(self.control, judge) for judge in self.controls]
            tasks += [pool.submit(self.group, bugs) for bugs in self.planter.groups(self.chosen)]
            for task in tasks:
                task.result()
        bugs = [r for r in self.results if not r["equal"]]
        noticed = sum(r["ok"] for r in bugs)
        print("# %d of %d planted bugs noticed, %d s%s" % (
            noticed, len(bugs), time.time() - start,
            "; %d not tried in time" % self.late if self.late else ""), flush=True)
        if self.arg.json:
            os.makedirs(os.path.dirname(self.arg.json) or ".", exist_ok=True)
            with open(self.arg.json, "w", encoding="utf-8") as f:
                json.dump({"planted": len(bugs), "noticed": noticed, "bugs": self.results}, f, indent=1)
                f.write("\n")
        return 1 if self.failed else 0


def places(planter, bugs):
    """The errors in a list."""
    names = [bug.name for bug in bugs]
    wrong = ["%s: two bugs have this name" % name for name in sorted(set(names)) if names.count(name) > 1]
    for bug in bugs:
        try:
            planter.changed(bug, TOP)
        except NoPlace as why:
            wrong.append("%s: %s" % (bug.name, why))
    return wrong


# flags under which every C file of the project compiles
SYNTAX = [os.environ.get("CC", "cc"), "-fsyntax-only", "-w", "-std=gnu11", "-D_GNU_SOURCE", "-D_FILE_OFFSET_BITS=64"]
if platform.machine() == "x86_64":
    SYNTAX += ["-mavx2", "-mavx512f", "-mavx512vl", "-mavx512bw", "-maes", "-mvaes", "-msha"]


def compiles(planter, bugs):
    """Compiler errors of bugs in C. Without this check such a bug is found only when a sample
    happens to draw it."""
    def folders(top):
        return ["-I" + d for d, _, files in sorted(os.walk(top))
                if "/build" not in d[len(top):] and any(f.endswith(".h") for f in files)]
    includes = folders(TOP)
    made = os.path.join(TOP, "build", "tls", "nginx")  # by nginx's configure
    nginx = folders(os.environ.get("NGINX_SRC", "/usr/share/nginx/src")) if os.path.isdir(made) else []

    def tried(bug):
        wrong = []
        for path, (_, new) in planter.changed(bug, TOP).items():
            of_nginx = "<ngx_config.h>" in new
            if of_nginx and not nginx:
                print("# %s: SKIP: to compile it needs nginx's headers (make nginx-module)" % bug.name)
            elif path.endswith((".c", ".h")):
                more = ["-I" + made, *nginx] if of_nginx else []
                cc = subprocess.run([*SYNTAX, "-iquote", os.path.dirname(path), *more, *includes, "-x", "c", "-"],
                                    input=new, capture_output=True, text=True, check=False)
                if cc.returncode:
                    wrong += ["%s: it does not compile" % bug.name, *cc.stderr.splitlines()[:4]]
        return wrong

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return [line for wrong in pool.map(tried, bugs) for line in wrong]


def options(doc, jobs=None):
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter,
                                     epilog="ALL=1 in the environment: plant all, despite --quick and --sample")
    parser.add_argument("names", nargs="*", metavar="NAME", help="plant only these bugs")
    parser.add_argument("--only", metavar="TEXT",
                        help="plant only bugs whose name or file contains TEXT, or whose judge is TEXT")
    parser.add_argument("--quick", action="store_true", help="plant the bugs marked with *")
    parser.add_argument("--sample", type=fractions.Fraction, metavar="N", help="plant N bugs, or a "
                        "fraction 1/N, at random (with --quick: of the others), and one equivalent change")
    parser.add_argument("--seed", default=os.environ.get("SEED"), help="repeat the sample with this seed ($SEED)")
    parser.add_argument("--clock", type=int, metavar="SECONDS", help="start no bug after SECONDS")
    parser.add_argument("--jobs", type=int, default=jobs, help="bugs planted at the same time (%(default)s)")
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE, for the report")
    parser.add_argument("--check", action="store_true", help="only check that every bug has its place and, "
                        "if it is in C, compiles")
    return parser


def main(planter, doc):
    parser = options(doc, planter.jobs)
    planter.options(parser)
    planter.arg = arg = parser.parse_args()
    program = os.path.relpath(os.path.abspath(sys.argv[0]), TOP)
    planter.lists = programs().get(program, ())
    bugs = planter.bugs()
    if arg.check:
        wrong = places(planter, bugs)
        print(*wrong, "%d bugs, %d without a place" % (len(bugs), len(wrong)), sep="\n")
        wrong = wrong or compiles(planter, bugs)
        print(*(line + "\n" for line in wrong), sep="", end="")
        return 1 if wrong or not bugs else 0
    chosen = choose(bugs, arg, parser)
    with tempfile.TemporaryDirectory(prefix="pprf-planted-") as directory:
        os.chmod(directory, 0o755)  # some tests run the program as another user
        return Run(planter, arg, chosen, directory).all()


def every():
    """Run the programs of all lists, or those of the named bugs, with the same options."""
    parser = options(__doc__)
    arg = parser.parse_args()
    if arg.json:
        parser.error("--json works only with a single list's program")
    lists = {path: load(os.path.join(TOP, path)) for paths in programs().values() for path in paths}
    found = {path: {bug.name for bug in bugs if asked(bug, arg)} for path, bugs in lists.items()}
    unknown = set(arg.names).difference(*found.values())
    if unknown or arg.only and not any(found.values()):
        parser.error("no such bug: " + ", ".join(sorted(unknown) or [arg.only]))
    failed = False
    for program, paths in programs().items():
        mine = set().union(*(found[path] for path in paths))
        if mine or not (arg.names or arg.only):
            print(*("# %s: %d bugs, planted by %s" % (path, len(lists[path]), program) for path in paths), sep="\n",
                  flush=True)
            others = set(arg.names) - mine
            command = [os.path.join(TOP, program), *(a for a in sys.argv[1:] if a not in others)]
            failed |= subprocess.run(command, check=False).returncode != 0
    return int(failed)


if __name__ == "__main__":
    sys.exit(every())
