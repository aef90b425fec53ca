#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants bugs that nobody chose: a random sample of small changes to the C code, each of which a
test should notice.

mutants_random.py [--seed S] [--count N] [--jobs J] [--seconds T] [--again] [--only NUMBER,...]
                  [--first NUMBER] [--files PATTERN] [--list]
  --seed S        of the sample; printed, so that a run can be had again (drawn if not given)
  --count N       so many mutants that compile and differ (400)
  --jobs J        so many at a time (1), each in a copy of the sources
  --seconds T     begin no mutant after so many seconds: the next run goes on from there
  --again         judge all anew
  --quick         without the suites of SLOW: what lives is "open", and asked by a run without it
  --only NUMBERS  of the sample these alone
  --first NUMBER  begin the sample there
  --files REGEX   of the files of PLAN those alone
  --all           run those of mutants-equivalent.txt too, to see whether a test notices one
  --list          print the sample; run nothing
  --mutant TEXT   instead of a sample: all mutants whose changed line, as printed, contains TEXT

A mutant is one change by one of the operators below to one place of the code: annotations,
comments, strings and what only Frama-C sees are left alone.  Lines that can be changed are equally
likely, whatever file they are in; then one of a line's changes is drawn.  The seed and the line's text
decide: where the code changes later, the rest of a seed's sample stays.

A mutant counts if it compiles and its object code at -O2 differs from the original's (else nobody
can run it).  It is killed if one of the suites of its file fails; the quickest runs first and the
first that fails ends it.  Before its first kill counts, a suite has to pass without a bug.  A suite that
takes more processor time than LIMIT is stopped and the mutant is said to hang; that counts as killed.

Verdicts are kept in build/equivalence-tests/mutants-random.jsonl with digests of the C code that the
suites of their file are linked from, without its comments, and of the tests: a run that was stopped goes
on from there, on another day and a later commit too.  Other code asks anew, other tests ask again what
survived.

mutants-equivalent.txt lists survivors that were looked at and change nothing that anybody could
notice, with the reason: they do not count.  Exit 1 if less than 95 % of the others are killed or
an unchanged copy fails; 3 if --seconds ended it.
"""
import argparse
import difflib
import fnmatch
import glob
import hashlib
import json
import os
import queue
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
from concurrent import futures

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
EQ = "build/equivalence-tests/"
TARGET = 95.0  # per cent
# Seconds of processor time after which a suite hangs: several times what it takes without a bug.
LIMIT, LIMITS = 60, {"vectors": 5, "api": 10, "prg_choice": 10, "memory": 15, "corpus-import": 10,
                     "smoke": 5, "secret-flow": 100, "shipped-prg": 120, "cli": 300, "crash": 300,
                     "cli-quick": 100, "cli-simulate": 100, "test_tls": 300}
# processor seconds of each: 5 to 30
SLOW = {"selftest", "residue", "faults", "exhaustive", "random", "secret-flow", "threads", "shipped-prg",
        "cli", "crash"}

# What kills: the files, and their suites in the order in which they run.  A suite is a target of
# make and a command, the target itself where there is no other.
PLAN = [
    (["prg/libcrypto.c", "prg/prg.h", "prg/wipe.[ch]", "prg/lanes.[ch]"],
     ["vectors", "api", "memory", "prg_choice", "faults", "smoke", "residue", "secret-flow",
      "threads", "shipped-prg"]),
    (["ref/*.[ch]", "prg/bytes.h", "common/*.[ch]"],
     ["vectors", "api", "forks", "hostile", "corpus-import", "corpus-ops", "memory", "residue",
      "faults", "random", "exhaustive"]),
    (["prg/keccak.c"],
     ["prg_choice", "selftest-prg", "shipped-prg"]),
    (["prg/choice.c"],
     ["prg_choice", "selftest-prg", "threads", "secret-flow", "shipped-prg"]),
    (["opt/*.[ch]"],
     ["vectors", "api", "forks", "hostile", "corpus-import", "corpus-ops", "memory", "selftest",
      "residue", "faults", "random", "exhaustive"]),
    (["cli/simulate.[ch]"], ["cli-simulate", "cli-quick", "cli"]),
    (["cli/*.[ch]"], ["cli-quick", "corpus-cli", "cli", "crash"]),
    (["tls/pool.[ch]"], ["test_pool", "test_tickets", "test_attach", "test_tls"]),
    (["tls/tickets.[ch]", "tls/handle.[ch]", "tls/backend.[ch]"],
     ["test_tickets", "test_pool", "test_attach", "test_tls"]),
    (["tls/attach.c"], ["test_attach", "test_tickets", "test_tls"]),
    (["tls/server.c"], ["test_tls"]),
]
# the folders that the suites of a folder are linked from
LINKED = {folder: ["include", "prg", "common", "opt"] + own for folder, own in (
    ("prg", ["ref"]), ("common", ["ref"]), ("ref", ["ref"]), ("opt", ["ref"]), ("cli", ["ref", "cli"]),
    ("tls", ["tls"]))}
NOT_MUTATED = ["ref/smoke.c", "common/names.h", "common/impl.[ch]", "common/list.[ch]", "common/tap.h",
               "opt/selftest/*", "opt/bitwords_test.c", "opt/arena_test.c", "tls/test_*", "tls/fuzz_*",
               "tls/bench_tls.c", "tls/loop.[ch]",
               "tls/fleet.c", "tls/wire.[ch]", "tls/target.[ch]", "tls/pprf_fleet.h"]
# what a compiler refuses without being asked: not even a test is needed (with -w gcc takes it all)
TYPED = ["-Werror=int-conversion", "-Werror=incompatible-pointer-types",
         "-Werror=implicit-function-declaration"]
# of cli/test_cli.py: those that take more than half a second
CLI_SLOW = {"test_progress_shows_on_a_terminal_and_only_there", "test_planted_bugs_are_caught",
            "test_memory_at_the_node_peak_is_known_between_samples",
            "test_memory_is_sampled_wherever_it_may_have_grown",
            "test_leaves_that_do_not_turn_up_are_a_failure",
            "test_what_is_no_key_file_is_refused", "test_a_million_leaves_are_one_rewrite",
            "test_a_large_old_file_is_overwritten_to_its_end",
            "test_a_killed_puncture_leaves_one_whole_file", "test_the_program_compiles_with_musl"}


def cli_tests(inside):
    """The quick tests of cli/test_cli.py in the class Simulate, or in the others."""
    found, group = [], ""
    with open(os.path.join(TOP, "cli", "test_cli.py")) as f:
        for line in f:
            m = re.match(r"class (\w+)|    def (test_\w+)", line)
            if m and m.group(1):
                group = m.group(1)
            elif m and (group == "Simulate") == inside and m.group(2) not in CLI_SLOW:
                found.append(m.group(2))
    return found


CLI = ["python3", "cli/test_cli.py", "--pprf", "build/pprf", "--seed", "1"]
COMMANDS = {
    "smoke": ("build/ref/smoke", None),
    "selftest": ("build/opt/selftest", ["build/opt/selftest", "-x", "1"]),
    "selftest-prg": ("build/opt/selftest", ["build/opt/selftest", "-x", "-t", "sets,prg", "1"]),
    "cli-simulate": ("build/pprf", CLI + cli_tests(True)),
    "cli-quick": ("build/pprf", CLI + cli_tests(False)),
    "cli": ("build/pprf", CLI),
    "test_pool": ("build/tls/test_pool", None),
    "test_attach": ("build/tls/test_attach", None),
    "test_tickets": ("build/tls/test_tickets", None),
    "test_tls": ("build/pprf-tls-server", ["python3", "tls/test_tls.py"]),
}

# ---- the code as tokens

TOKEN = re.compile(r"""
  (?P<comment>/\*.*?\*/|//[^\n]*) | (?P<string>"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')
  | (?P<number>0[xX][0-9a-fA-F]+[uUlL]*|[0-9]+\.[0-9]+|[0-9]+[uUlL]*) | (?P<name>[A-Za-z_]\w*)
  | (?P<op><<=|>>=|\.\.\.|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|\#\#|[^\s\w])
  """, re.X | re.S)
KEYWORDS = set("""if else for while do switch case default return break continue goto sizeof struct
  union enum typedef static const volatile extern inline unsigned signed int long short char void
  float double register restrict _Atomic _Thread_local _Static_assert""".split())
TYPES = r"(?:unsigned|int|size_t|ssize_t|uint64_t|uint32_t|uint8_t|uintptr_t|double|long|char|" \
        r"struct\s+\w+|pprf_key|SSL|SSL_CTX|\w+_t)"


class Token:
    __slots__ = ("kind", "text", "start", "end", "where")

    def __init__(self, kind, text, start):
        self.kind, self.text, self.start, self.end = kind, text, start, start + len(text)
        self.where = None  # "code": in a function or a macro; "data": in an initializer


def compiled(text):
    """The text, its comments blank already, with what Frama-C alone reads and the preprocessor's
    lines blank too, but for the bodies of macros; and the numbers of the lines of those."""
    out, macros, active, before, in_directive = [], set(), [], "", False
    for number, line in enumerate(text.split("\n")):
        continued = before.endswith("\\")
        directive = None if continued else re.match(r"\s*#\s*(\w+)(.*)", line)
        before = line
        if directive:
            word, rest = directive.groups()
            if word.startswith("if"):
                framac = "__FRAMAC__" in rest
                active.append([framac, word == "ifndef" or not framac])
            elif word == "else" and active[-1][0]:
                active[-1][1] = not active[-1][1]
            elif word == "endif":
                active.pop()
            macro = re.match(r"\s*#\s*define\s+\w+(\([^)]*\))?", line)
            kept = len(macro.group(0)) if macro else len(line)
        elif not continued:
            macro, kept = None, 0
        else:
            kept = 0 if macro or not in_directive else len(line)
        in_directive = directive is not None or (continued and in_directive)
        if not all(a for _, a in active):
            kept = len(line)
        if in_directive and macro:
            macros.add(number)
        out.append(" " * kept + line[kept:])
    return "\n".join(out), macros


def tokens_of(text):
    blank = re.sub(r"/\*.*?\*/|//[^\n]*", lambda m: re.sub(r"[^\n]", " ", m.group(0)), text,
                   flags=re.S)
    clean, macros = compiled(blank)
    found = [Token(m.lastgroup, m.group(0), m.start()) for m in TOKEN.finditer(clean)]
    found = [t for t in found if t.text != "\\"]
    stack, before = [], None
    for t in found:
        if t.text == "{":
            inside = stack[-1] if stack else None
            stack.append("code" if inside == "code" or (not stack and before == ")") else
                         "data" if before in ("=", ",", "{") or inside == "data" else "type")
        t.where = stack[-1] if stack else None
        if t.text == "}" and stack:
            stack.pop()
        before = t.text
    for t in found:
        if text.count("\n", 0, t.start) in macros:
            t.where = "code"
    return found


def matching(tokens, i):
    """Index of the bracket that closes the one at i, or None."""
    pairs, depth = {"(": ")", "[": "]", "{": "}"}, 0
    opened, closed = tokens[i].text, pairs[tokens[i].text]
    for k in range(i, len(tokens)):
        if tokens[k].text == opened:
            depth += 1
        elif tokens[k].text == closed:
            depth -= 1
            if depth == 0:
                return k
    return None


# ---- the operators: each yields (start, end, new text, operator)

SWAPS = {
    "<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="],
    "!=": ["=="], "&&": ["||"], "||": ["&&"], "+": ["-"], "-": ["+"], "*": ["/", "+"], "/": ["*"],
    "%": ["/"], "&": ["|", "^"], "|": ["&", "^"], "^": ["|", "&"], "<<": [">>"], ">>": ["<<"],
    "+=": ["-=", "="], "-=": ["+=", "="], "*=": ["/="], "/=": ["*="], "%=": ["/="],
    "&=": ["|=", "="], "|=": ["&=", "="], "^=": ["|=", "="], "<<=": [">>="], ">>=": ["<<="],
    "++": ["--"], "--": ["++"],
}
ERRORS = re.compile(r"(?:PPRF_(?:ERR_\w+|OK)|STATUS_\w+)$")


def operators(tokens):
    """Another operator: relations, arithmetic, bits, logic, steps."""
    for k, t in enumerate(tokens):
        if t.kind != "op" or t.text not in SWAPS or t.where != "code":
            continue
        before = tokens[k - 1] if k > 0 else None
        binary = before is not None and (before.kind in ("name", "number") and before.text not in (
            KEYWORDS - {"sizeof"}) or before.text in (")", "]"))
        if t.text in ("+", "-", "*", "&") and not binary:
            continue
        for other in SWAPS[t.text]:
            yield t.start, t.end, other, "operator"


def constants(tokens):
    """A constant one greater, one less, or zero."""
    for t in tokens:
        if t.kind != "number" or t.where not in ("code", "data") or "." in t.text:
            continue
        digits = t.text.rstrip("uUlL")
        octal = re.match("0[0-7]+$", digits) is not None
        suffix, value = t.text[len(digits):], int(digits, 8 if octal else 0)
        show = ((lambda v: "0x%0*x" % (len(digits) - 2, v)) if digits[:2] in ("0x", "0X") else
                (lambda v: "0%o" % v) if octal else str)
        for other in sorted({value + 1, value - 1, 0} - {value}):
            if other >= 0:
                yield t.start, t.end, show(other) + suffix, "constant"


def statements(tokens):
    """A statement deleted: a call, a wipe, an assignment, a jump."""
    for k, t in enumerate(tokens):
        if t.where != "code" or k == 0:
            continue
        before = tokens[k - 1].text
        if before not in (";", "{", "}", ")", "else", "do") or t.kind not in ("name", "op"):
            continue
        if t.text in KEYWORDS - {"break", "continue", "goto"} or t.text in "{};)(,.=" and \
                t.text != "(" or (before == ")" and t.text in ("(", "*", "-", "+", "&")):
            continue
        if before == ")" and t.kind == "op" and t.text not in ("++", "--", "("):
            continue
        end, depth = k, 0
        while end < len(tokens) and (tokens[end].text != ";" or depth > 0):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[end].text, 0)
            if depth < 0:
                break
            end += 1
        if end >= len(tokens) or depth < 0 or tokens[end].text != ";":
            continue
        words = [x.text for x in tokens[k:end]]
        if re.match(TYPES + r"\s+\**\s*\w+", " ".join(words)) and words[0] not in ("goto",):
            continue
        yield t.start, tokens[end].start, "", "statement deleted"


def conditions(tokens):
    """A condition negated, always true, or never."""
    for k, t in enumerate(tokens):
        if t.where != "code" or t.text not in ("if", "while") or tokens[k + 1].text != "(":
            continue
        close = matching(tokens, k + 1)
        if close is None:
            continue
        start, end = tokens[k + 1].end, tokens[close].start
        yield start, start, ("!(", end, ")"), "condition negated"
        yield start, end, "0", "condition never"
        if t.text == "if":
            yield start, end, "1", "condition always"


def arguments(tokens, text):
    """Two neighbouring arguments of a call exchanged."""
    for k, t in enumerate(tokens):
        if t.where != "code" or t.text != "(" or k == 0 or tokens[k - 1].kind != "name" or \
                tokens[k - 1].text in KEYWORDS:
            continue
        close = matching(tokens, k)
        if close is None:
            continue
        cuts, depth = [k], 0
        for i in range(k + 1, close):
            depth += {"(": 1, "[": 1, "{": 1, ")": -1, "]": -1, "}": -1}.get(tokens[i].text, 0)
            if depth == 0 and tokens[i].text == ",":
                cuts.append(i)
        cuts.append(close)
        parts = [(tokens[a + 1].start, tokens[b - 1].end) for a, b in zip(cuts, cuts[1:])
                 if b > a + 1]
        for (a, b), (c, d) in zip(parts, parts[1:]):
            if text[a:b] != text[c:d]:
                yield a, d, text[c:d] + text[b:c] + text[a:b], "arguments exchanged"


def returns(tokens, text):
    """Another result: zero, success, another error."""
    for k, t in enumerate(tokens):
        if t.where == "code" and t.text == "return" and tokens[k + 1].text != ";":
            end = k + 1
            while tokens[end].text != ";":
                end += 1
            value = text[tokens[k + 1].start:tokens[end].start]
            if value not in ("0", "PPRF_OK") and not value.startswith("("):
                yield tokens[k + 1].start, tokens[end].start, "0", "result"
        if t.where == "code" and t.kind == "name" and ERRORS.match(t.text):
            for other in (["PPRF_OK", "PPRF_ERR_FORMAT"] if t.text.startswith("PPRF_") else
                          ["STATUS_DONE", "STATUS_FAILED"]):
                if other != t.text:
                    yield t.start, t.end, other, "result"


def variables(tokens, text, members):
    """Another variable, or member, of the same type."""
    k = 0
    while k < len(tokens):
        if not (tokens[k].text == "{" and tokens[k].where == "code" and k > 0 and
                tokens[k - 1].text == ")" and not tokens[k - 1].where):
            k += 1
            continue
        close = matching(tokens, k) or len(tokens) - 1
        first, depth = k - 1, 0
        while first > 0:  # the parameters
            depth += {")": 1, "(": -1}.get(tokens[first].text, 0)
            if depth == 0:
                break
            first -= 1
        kinds = {}
        body = " ".join(t.text for t in tokens[first:close])
        for m in re.finditer(r"(?:const )?(" + TYPES + r") ((?:\* )*)(?:restrict )?([a-z_]\w*)((?: =[^;]*?)?"
                             r"(?: , (?:\* )?[a-z_]\w*(?: = [^,;()]*)?)*)(?= [;,)=\[:])", body):
            for name in [m.group(3)] + re.findall(r", ([a-z_]\w*)(?: =|(?=[ ,]|$))", m.group(4)):
                if name not in KEYWORDS:
                    kinds.setdefault(name, m.group(1) + m.group(2))
        for i in range(k + 1, close):
            t = tokens[i]
            if t.kind != "name" or t.text in KEYWORDS:
                continue
            if tokens[i - 1].text in (".", "->"):
                for other in members.get(t.text, ()):
                    yield t.start, t.end, other, "member"
            elif t.text in kinds and tokens[i + 1].text != "(":
                for other, kind in kinds.items():
                    if kind == kinds[t.text] and other != t.text:
                        yield t.start, t.end, other, "variable"
        k = close + 1


def members_of(paths):
    """Member -> the members of its structure that have its type."""
    found = {}
    for path in paths:
        with open(os.path.join(TOP, path)) as f:
            text = re.sub(r"/\*.*?\*/|//[^\n]*", "", f.read(), flags=re.S)
        for body in re.findall(r"struct\s+\w*\s*\{([^{}]*)\}", text):
            groups = {}
            for declaration in body.split(";"):
                m = re.match(r"\s*(?:const\s+)?(" + TYPES + r")\s+(.*)", declaration, re.S)
                if m:
                    for name in m.group(2).split(","):
                        base = re.match(r"[\s*]*(\w+)", name)
                        if base:
                            kind = m.group(1) + "*" * name.count("*") + "[" * name.count("[")
                            groups.setdefault(kind, []).append(base.group(1))
            for names in groups.values():
                for name in names:
                    found.setdefault(name, set()).update(n for n in names if n != name)
    return {name: sorted(others) for name, others in found.items()}


class Mutant:
    def __init__(self, file, text, change):
        start, end, new, self.operator = change
        if isinstance(new, tuple):  # two insertions
            before, second, after = new
            self.text = text[:start] + before + text[start:second] + after + text[second:]
        else:
            self.text = text[:start] + new + text[end:]
        self.file, self.line, self.original = file, text.count("\n", 0, start) + 1, text
        self.column = start - text.rfind("\n", 0, start)
        old, now = text.split("\n"), self.text.split("\n")
        until = text.count("\n", 0, end) + 1
        if isinstance(new, tuple):
            until = text.count("\n", 0, second) + 1
        cut = len(old) - until
        self.old = " ".join(" ".join(old[self.line - 1:until]).split())
        self.new = " ".join(" ".join(now[self.line - 1:len(now) - cut]).split())
        same = [k for k, line in enumerate(old[:self.line], 1) if " ".join(line.split()) == " ".join(
            old[self.line - 1].split())]
        self.place = file + ("#%d" % len(same) if len(same) > 1 else "")  # in mutants-equivalent.txt
        self.line_text = self.place + " " + " ".join(old[self.line - 1].split())

    def name(self):
        return "%s:%d %s: %s ==> %s" % (self.file, self.line, self.operator, self.old, self.new)

    def key(self):
        """Its name wherever its line is."""
        return "%s %s: %s ==> %s" % (self.place, self.operator, self.old, self.new)

    def diff(self):
        return "\n".join(list(difflib.unified_diff(
            self.original.split("\n"), self.text.split("\n"), self.file, self.file, n=2,
            lineterm=""))[2:])


def code_files(pattern):
    found = []
    for folder in ("prg", "common", "ref", "opt", "cli", "tls"):
        for path in sorted(glob.glob(os.path.join(TOP, folder, "*.[ch]"))):
            name = os.path.relpath(path, TOP)
            if suites_of(name) and re.search(pattern, name) and not any(
                    fnmatch.fnmatch(name, n) for n in NOT_MUTATED):
                found.append(name)
    return found


def suites_of(file):
    for patterns, suites in PLAN:
        if any(fnmatch.fnmatch(file, p) for p in patterns):
            return suites
    return []


def all_mutants(file, members):
    with open(os.path.join(TOP, file)) as f:
        text = f.read()
    tokens = tokens_of(text)
    seen = set()
    for change in [*operators(tokens), *constants(tokens), *statements(tokens),
                   *conditions(tokens), *arguments(tokens, text), *returns(tokens, text),
                   *variables(tokens, text, members)]:
        mutant = Mutant(file, text, change)
        if mutant.text not in seen and mutant.text != text:
            seen.add(mutant.text)
            yield mutant


def sample(files, seed):
    """The mutants of the files in the order in which they are drawn: one of each line, then another of
    each that has more, and so on."""
    def drawn(text):
        return hashlib.sha256(("%s\n%s" % (seed, text)).encode()).digest()
    members = members_of(sorted(set(files) | {"prg/prg.h", "opt/store.h", "opt/bitmap.h"}))
    by_line = {}
    for file in files:
        for mutant in all_mutants(file, members):
            by_line.setdefault(mutant.line_text, []).append(mutant)
    lines = sorted(by_line, key=drawn)
    for mutants in by_line.values():
        mutants.sort(key=lambda m: drawn(m.key()))
    for k in range(max(map(len, by_line.values()))):
        yield from (by_line[line][k] for line in lines if k < len(by_line[line]))


# ---- compiling and running

def make_variable(names):
    line = " ".join("$(%s)" % n for n in names)
    out = subprocess.run(["make", "-s", "--no-print-directory", "DEPS=skip", "WARN=-w",
                          "--eval", "print-flags: ; @echo '%s'" % line, "print-flags"],
                         cwd=TOP, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [f for f in out.split() if f not in ("-g", "-w")]


def units(file):
    """The translation units that a changed file is compiled in."""
    if file.endswith(".c"):
        return [file]
    including, folder = {file}, os.path.dirname(file)
    shared = folder in ("prg", "common")  # any library may include it
    sources = [os.path.relpath(p, TOP) for d in ("prg", "common", "ref", "opt", "cli", "tls")
               for p in glob.glob(os.path.join(TOP, d, "*.[ch]"))]
    grown = True
    while grown:
        grown = False
        for source in sources:
            if source in including:
                continue
            with open(os.path.join(TOP, source)) as f:
                names = set(re.findall(r'#include "([^"]+)"', f.read()))
            if names & {os.path.basename(i) for i in including}:
                including.add(source)
                grown = True
    return sorted(s for s in including if s.endswith(".c") and (shared or s.startswith(folder + "/")) and
                  not any(fnmatch.fnmatch(s, n) for n in NOT_MUTATED))


class Copy:
    """A copy of the sources and of what is built."""

    def __init__(self, root, flags, log):
        self.root, self.flags, self.log = root, flags, log
        self.objects = {}
        for name in sorted(os.listdir(TOP)):
            path = os.path.join(TOP, name)
            if name in (".git", "build", "docs", "proofs", "spec"):
                continue
            if os.path.isdir(path):
                shutil.copytree(path, os.path.join(root, name),
                                ignore=shutil.ignore_patterns("__pycache__"))
            else:
                shutil.copy2(path, root)
        for name in ("docs", "proofs", "spec"):
            os.symlink(os.path.join(TOP, name), os.path.join(root, name))
        shutil.copytree(os.path.join(TOP, "build"), os.path.join(root, "build"), symlinks=True,
                        ignore=shutil.ignore_patterns("report", "bench", "fuzz", "afl", "cov",
                                                      "msan", "coq", "wp", "*.log", "*.jsonl",
                                                      "arch", "root", "root.*", "debian12*"))

    def compile(self, unit):
        """The object code, or None if it does not compile."""
        out = os.path.join(self.root, "mutant.o")
        if subprocess.run(self.flags + ["-g0"] + TYPED + ["-c", "-o", out, unit], cwd=self.root,
                          stdout=self.log, stderr=self.log).returncode != 0:
            return None
        with open(out, "rb") as f:
            return f.read()

    def original(self, unit):
        if unit not in self.objects:
            self.objects[unit] = self.compile(unit)
        return self.objects[unit]

    def build(self, suites):
        targets = [COMMANDS[s][0] if s in COMMANDS else EQ + s for s in suites]
        return subprocess.run(["make", "-s", "-o", "build/oracle", "DEPS=skip", "WARN=-w"] + targets,
                              cwd=self.root, stdout=self.log, stderr=self.log,
                              stdin=subprocess.DEVNULL).returncode == 0

    def run(self, suite, seconds):
        """"passed", "failed" or "hung", and the processor time.  Only processor time ends a run that
        computes, so that a loaded machine kills nobody; one that waits for ever ends too."""
        command = COMMANDS.get(suite, (None, None))[1] or [
            COMMANDS[suite][0] if suite in COMMANDS else EQ + suite]
        environment = dict(os.environ, SEED="1", STOP="1")

        def limits():
            os.setsid()
            for number in (signal.SIGINT, signal.SIGHUP, signal.SIGQUIT):  # ignored in the background
                signal.signal(number, signal.SIG_DFL)
            resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        before = time.time()
        used = resource.getrusage(resource.RUSAGE_CHILDREN)
        process = subprocess.Popen(command, cwd=self.root, stdout=self.log, stderr=self.log,
                                   env=environment, stdin=subprocess.DEVNULL, preexec_fn=limits)
        try:
            status = process.wait(timeout=20 * seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            return "hung", time.time() - before
        finally:
            try:
                os.killpg(process.pid, signal.SIGKILL)  # what it left running
            except ProcessLookupError:
                pass
        now = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
        if status in (-signal.SIGXCPU, 128 + signal.SIGXCPU):
            return "hung", cpu
        return ("passed" if status == 0 else "failed"), cpu


def digest_of(files):
    """Of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        with open(os.path.join(TOP, file), "rb") as f:
            content = f.read()
        digest.update(b"%s %d\n" % (file.encode(), len(content)) + content)
    return digest.hexdigest()[:16]


def code_digest(folders):
    """Of the code of folders, without its comments."""
    digest = hashlib.sha256()
    for file in sorted({*code_files(""), "include/pprf.h"}):
        if os.path.dirname(file) in folders:
            with open(os.path.join(TOP, file)) as f:
                text = re.sub(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""",
                              lambda m: " " if m.group(0)[0] == "/" else m.group(0), f.read(), flags=re.S)
            digest.update(("%s %s\n" % (file, " ".join(text.split()))).encode())
    return digest.hexdigest()[:16]


class Verdicts:
    """What earlier runs found: mutant -> record, and the suites that pass without a bug."""

    def __init__(self, path, again, quick):
        tracked = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--",
             "Makefile", "*.mk", "*.[ch]", "*.py", "*.sh", "*.dict", "*/corpus/*", "*/vectors/*"],
            cwd=TOP, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
        files = sorted(f for f in tracked if os.path.isfile(os.path.join(TOP, f)) and
                       not f.startswith(("docs/", "proofs/", "spec/", "bench/", "python/", "amalgamation/")))
        code = set(code_files("")) | {"include/pprf.h"}
        self.code = {folder: code_digest(linked) for folder, linked in LINKED.items()}
        whole = self.code[""] = code_digest({f for linked in LINKED.values() for f in linked})
        self.tests = digest_of(f for f in files if f not in code and
                               f != os.path.relpath(os.path.abspath(__file__), TOP))
        self.found, self.passes = {}, set()
        if os.path.exists(path) and not again:
            with open(path) as f:
                for record in map(json.loads, f):
                    same = record["tests"] == self.tests
                    if "passes" in record:
                        if record["code"] == whole and same:
                            self.passes.add(record["passes"])
                    elif record["code"] == self.code[record["mutant"].split("/")[0]]:
                        if record["verdict"] == "open" and not quick:
                            continue
                        if same or record["verdict"] not in ("survived", "open"):
                            self.found[record["mutant"]] = record
                        else:
                            self.found.pop(record["mutant"], None)
        self.file = open(path, "a")

    def keep(self, **record):
        folder = record["mutant"].split("/")[0] if "mutant" in record else ""
        json.dump({"code": self.code[folder], "tests": self.tests, **record}, self.file)
        self.file.write("\n")
        self.file.flush()


class Judge:
    def __init__(self, copies, verdicts, quick):
        self.quick, self.verdicts, self.trusted = quick, verdicts, verdicts.passes
        self.free, self.lock = queue.SimpleQueue(), threading.Lock()
        for copy in copies:
            self.free.put(copy)

    def trust(self, suite, copy):
        """Whether a suite passes without a bug."""
        with self.lock:
            if suite not in self.trusted and copy.build([suite]) and \
                    copy.run(suite, LIMITS.get(suite, LIMIT))[0] == "passed":
                self.trusted.add(suite)
                self.verdicts.keep(passes=suite)
            return suite in self.trusted

    def judge(self, mutant):
        copy = self.free.get()
        path = os.path.join(copy.root, mutant.file)
        shutil.copy2(path, path + ".kept")
        begin, killer = time.time(), None
        try:
            for unit in units(mutant.file):
                copy.original(unit)
            copy.log.write("==== %s\n" % mutant.name())
            copy.log.flush()
            with open(path, "w") as f:
                f.write(mutant.text)
            same = True
            for unit in units(mutant.file):
                code = copy.compile(unit)
                if code is None:
                    return "invalid", "", time.time() - begin
                same &= code == copy.original(unit)
            if same:
                return "identical", "", time.time() - begin
            suites = [s for s in suites_of(mutant.file) if not (self.quick and s in SLOW)]
            for group in [suites[:1], suites[1:3], suites[3:5], *[[s] for s in suites[5:]]]:
                if not copy.build(group):
                    return "invalid", "", time.time() - begin
                for suite in group:
                    result, _ = copy.run(suite, LIMITS.get(suite, LIMIT))
                    if result != "passed":
                        killer = suite
                        return "killed" if result == "failed" else "hung", suite, \
                            time.time() - begin
            return "open" if self.quick else "survived", "", time.time() - begin
        finally:
            os.replace(path + ".kept", path)
            os.utime(path)
            trusted = killer is None or self.trust(killer, copy)
            self.free.put(copy)
            if not trusted:
                raise RuntimeError("%s does not pass without a bug" % killer)


def triaged():
    """{(place, old line, new line): reason} of mutants-equivalent.txt."""
    found, at = {}, None
    with open(os.path.join(HERE, "mutants-equivalent.txt")) as f:
        for line in f:
            line = line.rstrip("\n")
            m = re.match(r"(\S+): (.*) ==> (.*)$", line)
            if line.startswith("#") or not line:
                continue
            if not line.startswith("  ") and m:
                at = (m.group(1), m.group(2), m.group(3))
            elif line.startswith("  ") and at:
                found[at] = (found.get(at, "") + " " + line.strip()).strip()
            else:
                sys.exit("mutants-equivalent.txt: not FILE: OLD ==> NEW and a reason below: " + line)
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seed", default="")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=float("inf"))
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--only", default="")
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--files", default="")
    parser.add_argument("--mutant", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--list", action="store_true")
    o = parser.parse_args()
    seed = o.seed or str(random.SystemRandom().randrange(1 << 32))
    only = {int(n) for n in o.only.split(",") if n}
    files, known = code_files(o.files), triaged()
    print("# SEED=%s COUNT=%d: %d files, %d lines in mutants-equivalent.txt" % (
        seed, o.count, len(files), len(known)), flush=True)
    if o.mutant:
        drawn = [m for m in sample(files, seed) if o.mutant in m.name()]
    else:
        drawn = sample(files, seed)
    if o.list:
        for number, mutant in zip(range(1, o.count + 1), drawn):
            print(number, mutant.name())
        return 0
    flags = make_variable(["CC", "ALL_CPPFLAGS", "ALL_CFLAGS"]) + [
        "-fPIC", "-Iopt", "-Itls", "-Iref", "-Icli"]
    logs = os.path.join(TOP, "build", "equivalence-tests")
    os.makedirs(logs, exist_ok=True)
    begin, results = time.time(), []
    with tempfile.TemporaryDirectory(prefix="pprf-mutants-") as directory:
        os.chmod(directory, 0o755)  # tests run the program as another user, too
        copies = []
        for i in range(o.jobs):
            root = os.path.join(directory, str(i))
            os.mkdir(root)
            copies.append(Copy(root, flags, open(os.path.join(logs, "random-%d.log" % i), "w")))
        verdicts = Verdicts(os.path.join(logs, "mutants-random.jsonl"), o.again, o.quick)
        judge, lock, numbers = Judge(copies, verdicts, o.quick), threading.Lock(), enumerate(drawn, 1)

        def counted():
            return sum(r["verdict"] in ("killed", "hung", "survived", "open") for r in results)

        def work():
            while True:
                with lock:
                    if counted() >= o.count or time.time() - begin > o.seconds:
                        return
                    number, mutant = next(numbers, (0, None))
                    while mutant is not None and number < o.first:
                        number, mutant = next(numbers, (0, None))
                    while mutant is not None and only and number not in only:
                        if number > max(only):
                            return
                        number, mutant = next(numbers, (0, None))
                if mutant is None:
                    return
                reason = known.get((mutant.place, mutant.old, mutant.new))
                before = verdicts.found.get(mutant.key())
                if reason and not o.all:
                    verdict, suite, took = "equivalent", "", 0
                elif before:
                    verdict, suite, took = before["verdict"], before["suite"], before["seconds"]
                else:
                    verdict, suite, took = judge.judge(mutant)
                with lock:
                    if not before and (o.all or not reason):
                        verdicts.keep(mutant=mutant.key(), verdict=verdict, suite=suite,
                                      seconds=round(took, 1))
                    if verdict in ("survived", "open") and reason:
                        verdict = "equivalent"
                    results.append({"number": number, "mutant": mutant.name(), "verdict": verdict,
                                    "file": mutant.file, "suite": suite, "seconds": round(took, 1),
                                    "diff": mutant.diff() if verdict in ("survived", "open") else ""})
                    if verdict not in ("invalid", "identical") and not before:
                        print("%4d %-10s %-12s %5.1f s  %s" % (number, verdict, suite, took,
                                                             mutant.name()), flush=True)
                    if sys.stderr.isatty():
                        sys.stderr.write("\r\033[K%d of %d" % (counted(), o.count))
        with futures.ThreadPoolExecutor(o.jobs) as pool:
            for task in [pool.submit(work) for _ in range(o.jobs)]:
                task.result()
    results.sort(key=lambda r: r["number"])
    count = {v: sum(r["verdict"] == v for r in results) for v in (
        "killed", "hung", "survived", "open", "equivalent", "identical", "invalid")}
    for r in results:
        if r["verdict"] in ("survived", "open"):
            print("# %s %d: %s\n%s" % (r["verdict"].upper(), r["number"], r["mutant"], r["diff"]))
    killed, total = count["killed"] + count["hung"], counted()
    score = 100.0 * killed / total if total else 0.0
    print("# SEED=%s: %d mutants: %d killed (%d of them hung), %d survived, %d open: %.1f %%; beside them %d "
          "equivalent by mutants-equivalent.txt, %d of the same object code, %d that do not compile; "
          "%d s" % (seed, total, killed, count["hung"], count["survived"], count["open"], score,
                    count["equivalent"], count["identical"], count["invalid"], time.time() - begin))
    with open(os.path.join(logs, "mutants-random.json"), "w") as f:
        json.dump({"seed": seed, "score": score, **count, "mutants": results}, f, indent=1)
        f.write("\n")
    if total < o.count and time.time() - begin > o.seconds:
        print("# stopped after %d of %d: the same command goes on" % (total, o.count))
        return 3
    return 0 if total and score >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
