#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants bugs that nobody chose: a random sample of small changes to the C code, each of which a
test should notice.

  random_bugs.py [--seed S] [--count N] [--jobs J] [--seconds T] [--again] [--only NUMBER,...]
                 [--first NUMBER] [--files PATTERN] [--try SUITE,...] [--list]
  --seed S        of the sample; printed, so that a run can be repeated (default: random)
  --count N       number of bugs that compile and differ (400)
  --jobs J        bugs judged at the same time (1), each in its own copy of the sources
  --seconds T     start no bug after T seconds: the next run continues from there
  --again         ignore earlier verdicts
  --quick         without the suites of SLOW: a survivor is "open", to be judged by a run without --quick
  --only NUMBERS  only these bugs of the sample
  --first NUMBER  start with this bug of the sample
  --files REGEX   only the sample's bugs in these files
  --try SUITES    run only these suites, for a test under development: only kills are recorded
  --all           also run the bugs in equivalent.txt, to see whether a test notices one
  --list          print the sample; run nothing
  --bug TEXT      instead of a sample: all bugs whose changed line, as printed, contains TEXT

A bug is one change by one of the operators below to one place of the code. Annotations, comments,
strings and code that only Frama-C sees are not changed. Lines that can be changed are equally
likely, whatever their file; then one of the line's changes is drawn. The choice depends on the seed
and the line's text, so later changes to other code leave a seed's sample as it is.

A bug counts if it compiles and its object code at -O2 differs from the original's (otherwise it
cannot be observed). It is killed if one of its file's suites fails. They run in this order, until
one fails: the suite that killed it in other code, the one that killed a bug of the nearest line,
then the quickest first. Before a suite's first kill counts, the suite must pass without a bug. A
suite that takes two seconds and five times the processor time that it needs is stopped; the bug
then hangs, which counts as killed.

Each worker has a copy of the sources and of what was built from them. There make rebuilds what a
bug changes, for the suite to run; afterwards the original build is put back.

Verdicts are kept in build/equivalence-tests/random-bugs.jsonl with a digest, without comments, of
the C code that the suites of the file are linked from. So a stopped run can be continued, even on
another day and a later commit; if that code has changed, the bug is judged again. Survivors are
judged again by suites that have changed since, according to a digest of the suite's program without
a bug and of its scripts and data.

equivalent.txt lists survivors that were examined and have no observable effect, with the reason:
they do not count. Exit 1 if less than 95 % of the others are killed or an unchanged copy fails; 3
if --seconds ended the run."""
import argparse
import bisect
import difflib
import fnmatch
import glob
import hashlib
import itertools
import json
import os
import queue
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from concurrent import futures

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, "tools"))
import planting  # noqa: E402

EQ = "build/equivalence-tests/"
TARGET = 95.0  # per cent
# Processor seconds of each suite without a bug: they decide the order, and when a suite hangs.
SECONDS = {
    "arena_test": 0.1, "smoke": 0.1, "vectors": 0.1, "wide_prg": 0.1, "wide_prg-libcrypto": 0.1, "corpus-import": 0.1,
    "bitwords_test": 0.2, "api": 0.4, "corpus-ops": 0.5, "forks": 0.9, "hostile": 1, "corpus-cli": 1.1,
    "room_test": 0.6, "wipe": 0.6, "prg_choice": 1.1, "test_attach": 1.2, "selftest-quick": 2, "memory": 2.2,
    "cli-simulate": 2.5, "selftest-prg": 3.2, "selftest-packed": 3.3, "test_tickets": 4.4, "test_preload": 4.8,
    "cli-quick": 5, "test_pool": 5.6, "threads": 6, "cli-freed": 13, "residue": 14, "selftest": 14, "exhaustive": 15,
    "file_systems": 3.2,
    "random": 20, "crash": 20, "secret-flow": 25, "test_tls": 25, "cli": 40, "shipped-prg": 40, "faults": 45}
# 5 to 40 of these; they still judge a file that has no other suites
SLOW = {"selftest", "residue", "faults", "exhaustive", "random", "secret-flow", "threads", "shipped-prg",
        "cli-freed", "cli", "crash"}

OPT = ["vectors", "api", "forks", "hostile", "corpus-import", "corpus-ops", "memory", "selftest-quick",
       "selftest-packed", "selftest", "residue", "faults", "random", "exhaustive"]
# Files, and the suites that may kill their bugs. A suite is a target of make and a command; by
# default the command is the target.
PLAN = [
    (["prg/libcrypto.c", "prg/prg.h", "prg/wipe.[ch]", "prg/lanes.[ch]"],
     ["vectors", "api", "memory", "prg_choice", "wide_prg", "wide_prg-libcrypto", "wipe", "faults", "smoke", "residue",
      "secret-flow", "threads", "shipped-prg"]),
    (["ref/*.[ch]", "prg/bytes.h", "prg/common/*.[ch]"],
     ["vectors", "api", "forks", "hostile", "corpus-import", "corpus-ops", "memory", "residue",
      "faults", "random", "exhaustive"]),
    (["prg/keccak.c", "prg/aes.c", "prg/aes_instructions.c"],
     ["prg_choice", "selftest-prg", "shipped-prg"]),
    (["prg/choice.c"],
     ["prg_choice", "selftest-prg", "wide_prg", "wipe", "threads", "secret-flow", "shipped-prg"]),
    (["opt/packed/arena.[ch]"],
     ["arena_test"] + OPT),
    (["opt/packed/index.[ch]", "opt/packed/fit.[ch]", "opt/packed/load.[ch]"], ["room_test"] + OPT),
    (["opt/slots/bitmap.[ch]"],
     ["bitwords_test"] + OPT),
    (["opt/shared.c"], ["test_pool", "test_tickets", "test_attach"]),
    (["opt/*.[ch]"], OPT),
    (["cli/simulate.[ch]"], ["cli-simulate", "cli-quick", "cli-freed", "cli"]),
    (["cli/filesystem.[ch]", "cli/leftovers.[ch]", "cli/replace.[ch]"],
     ["cli-quick", "corpus-cli", "file_systems", "cli-freed", "cli", "crash"]),
    (["cli/*.[ch]"], ["cli-quick", "corpus-cli", "cli-freed", "cli", "crash"]),
    (["tls/tickets/pool.[ch]", "tls/tickets/descriptor.h"], ["test_pool", "test_tickets", "test_attach", "test_tls"]),
    (["tls/tickets/tickets.[ch]", "tls/tickets/backend.[ch]"],
     ["test_tickets", "test_pool", "test_attach", "test_tls"]),
    (["tls/openssl/attach.c", "tls/openssl/clients.c"], ["test_attach", "test_tickets", "test_tls"]),
    (["tls/server/server.c"], ["test_tls"]),
    (["tls/openssl/preload.c"], ["test_preload"]),
]
# folders that the suites of a folder are linked from
LINKED = {folder: ["include", "prg", "opt"] + own for folder, own in (
    ("prg", ["ref"]), ("ref", ["ref"]), ("opt", ["ref"]), ("cli", ["ref", "cli"]),
    ("tls", ["tls"]))}
NOT_MUTATED = ["*/wp/*", "ref/smoke.c", "ref/names.h", "cli/impls/*",
               "opt/selftest/*", "opt/tests/*", "tls/tests/*", "tls/fleet/fleet.c",
               "tls/fleet/wire.[ch]", "tls/fleet/target.[ch]", "tls/fleet/cause.[ch]", "tls/pprf_fleet.h"]
# what a compiler refuses by itself needs no test (gcc -w accepts everything)
TYPED = ["-Werror=int-conversion", "-Werror=incompatible-pointer-types",
         "-Werror=implicit-function-declaration"]
# tests of cli/test_cli.py that take more than half a second
CLI_SLOW = {"test_progress_shows_on_a_terminal_and_only_there", "test_planted_bugs_are_caught",
            "test_memory_at_the_node_peak_is_known_between_samples",
            "test_memory_is_sampled_wherever_it_may_have_grown",
            "test_leaves_that_do_not_turn_up_are_a_failure",
            "test_what_is_no_key_file_is_refused", "test_a_million_leaves_are_one_rewrite",
            "test_a_large_old_file_is_overwritten_to_its_end",
            "test_a_killed_puncture_leaves_one_whole_file", "test_the_program_compiles_with_musl",
            "test_every_key_is_freed"}


def cli_tests(inside):
    """The quick tests of cli/test_cli.py, in the class Simulate or in the others."""
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
    "arena_test": ("build/opt/arena_test", None),
    "room_test": ("build/opt/room_test", None),
    "bitwords_test": ("build/opt/bitwords_test", None),
    "selftest": ("build/opt/selftest", ["build/opt/selftest", "-x", "1"]),
    "selftest-prg": ("build/opt/selftest", ["build/opt/selftest", "-x", "-t", "sets,prg", "1"]),
    "selftest-packed": ("build/opt/selftest", ["build/opt/selftest", "-x", "-t", "packed", "1"]),
    "selftest-quick": ("build/opt/selftest", [
        "build/opt/selftest", "-x", "-t",
        "words,marks,failing,files,depth32,bytes,release,prefault,shared,damage,residue,random", "1"]),
    "cli-simulate": ("build/pprf", CLI + cli_tests(True)),
    "cli-quick": ("build/pprf", CLI + cli_tests(False)),
    "cli-freed": ("build/pprf", CLI + ["test_every_key_is_freed"]),
    "cli": ("build/pprf", CLI),
    "file_systems": ("build/pprf", [CLI[0], "cli/test_file_systems.py", *CLI[2:]]),
    "test_pool": ("build/tls/test_pool", None),
    "test_attach": ("build/tls/test_attach", None),
    "test_tickets": ("build/tls/test_tickets", None),
    "test_tls": ("build/pprf-tls-server", ["python3", "tls/tests/test_tls.py"]),
    "test_preload": ("build/tls/libpprf_tls_preload.so", ["python3", "tls/nginx/test_preload.py"]),
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
    """The text without comments, with what only Frama-C reads and preprocessor lines blanked,
    except the bodies of macros; and the line numbers of those bodies."""
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
    """Replace an operator: relations, arithmetic, bits, logic, steps."""
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
    """Make a constant one greater, one less, or zero."""
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
    """Delete a statement: a call, a wipe, an assignment, a jump."""
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
    """Make a condition negated, always true, or never true."""
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
    """Exchange two neighbouring arguments of a call."""
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
    """Return another result: zero, success, another error."""
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
    """Use another variable, or member, of the same type."""
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
    """{member: the members of its structure with the same type}"""
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


def squeezed(text):
    return " ".join(text.split())


class Source:
    """A file, and the places of its lines."""

    def __init__(self, file):
        with open(os.path.join(TOP, file)) as f:
            self.text = f.read()
        self.file, self.starts, self.places, counts = file, [0], [], {}
        for line in self.text.split("\n"):
            self.starts.append(self.starts[-1] + len(line) + 1)
            line = squeezed(line)
            counts[line] = counts.get(line, 0) + 1
            self.places.append((counts[line], line))  # its index among lines with this text

    def line_at(self, at):
        """From 0."""
        return bisect.bisect_right(self.starts, at) - 1


class Bug:
    def __init__(self, source, change):
        start, end, new, self.operator = change
        self.file, self.source = source.file, source
        if isinstance(new, tuple):  # two insertions
            before, second, after = new
            self.parts = [(start, before), (second, after)]
            end = second
        else:
            self.parts = [(start, new), (end, "")]
        first, last = source.line_at(start), source.line_at(end)
        self.line = first + 1
        low, high = source.starts[first], source.starts[last + 1] - 1
        self.old = squeezed(source.text[low:high])
        self.new = squeezed(self.changed(low, high))
        count, line = source.places[first]
        self.place = self.file + ("#%d" % count if count > 1 else "")  # its name in equivalent.txt
        self.line_text = self.place + " " + line

    def changed(self, low, high):
        """The text from low to high, with the change."""
        (start, before), (end, after) = self.parts
        kept = self.source.text[start:end] if after else ""
        return self.source.text[low:start] + before + kept + after + self.source.text[end:high]

    @property
    def text(self):
        return self.changed(0, len(self.source.text))

    def name(self):
        return "%s:%d %s: %s ==> %s" % (self.file, self.line, self.operator, self.old, self.new)

    def key(self):
        """Its name, independent of where its line is."""
        return "%s %s: %s ==> %s" % (self.place, self.operator, self.old, self.new)

    def diff(self):
        return "\n".join(list(difflib.unified_diff(
            self.source.text.split("\n"), self.text.split("\n"), self.file, self.file, n=2,
            lineterm=""))[2:])


def code_files(pattern):
    found = []
    for folder in ("prg", "ref", "opt", "cli", "tls"):
        for path in sorted(glob.glob(os.path.join(TOP, folder, "**", "*.[ch]"), recursive=True)):
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


def all_bugs(file, members):
    source = Source(file)
    text, tokens, seen = source.text, tokens_of(source.text), {hash(source.text)}
    for change in [*operators(tokens), *constants(tokens), *statements(tokens),
                   *conditions(tokens), *arguments(tokens, text), *returns(tokens, text),
                   *variables(tokens, text, members)]:
        bug = Bug(source, change)
        digest = hash(bug.text)
        if digest not in seen:
            seen.add(digest)
            yield bug


def sample(files, seed):
    """The bugs of the files in the order in which they are drawn: one of each line, then another
    one of each line that has more, and so on."""
    def drawn(text):
        return hashlib.sha256(("%s\n%s" % (seed, text)).encode()).digest()
    members = members_of(sorted(set(files) | {"prg/prg.h", "opt/store.h", "opt/slots/bitmap.h"}))
    by_line = {}
    for file in files:
        for bug in all_bugs(file, members):
            by_line.setdefault(bug.line_text, []).append(bug)
    lines = sorted(by_line, key=drawn)
    for bugs in by_line.values():
        bugs.sort(key=lambda m: drawn(m.key()))
    for k in range(max(map(len, by_line.values()))):
        yield from (by_line[line][k] for line in lines if k < len(by_line[line]))


# ---- compiling and running

def make_variable(names):
    line = " ".join("$(%s)" % n for n in names)
    out = subprocess.run(["make", "-s", "--no-print-directory", "DEPS=skip", "WARN=-w",
                          "--eval", "print-flags: ; @: $(info %s)" % line, "print-flags"],
                         cwd=TOP, stdout=subprocess.PIPE, check=True, text=True).stdout
    return [f for f in shlex.split(out) if f not in ("-g", "-w")]


def units(file):
    """The translation units that include a changed file."""
    if file.endswith(".c"):
        return [file]
    including, folder = {file}, file.split("/")[0]
    shared = folder == "prg"  # any library may include it
    sources = [os.path.relpath(p, TOP) for d in ("prg", "ref", "opt", "cli", "tls")
               for p in glob.glob(os.path.join(TOP, d, "**", "*.[ch]"), recursive=True)]
    grown = True
    while grown:
        grown = False
        for source in sources:
            if source in including:
                continue
            with open(os.path.join(TOP, source)) as f:
                names = set(re.findall(r'#include "(?:[^"]+/)?([^"/]+)"', f.read()))
            if names & {os.path.basename(i) for i in including}:
                including.add(source)
                grown = True
    return sorted(s for s in including if s.endswith(".c") and (shared or s.startswith(folder + "/")) and
                  not any(fnmatch.fnmatch(s, n) for n in NOT_MUTATED))


def limit_of(suite):
    """Processor seconds after which a suite counts as hung."""
    return int(2 + 5 * SECONDS[suite])


def target_of(suite):
    return COMMANDS[suite][0] if suite in COMMANDS else EQ + suite


# what the suites do not need from build/
NOT_BUILT = ["report", "bench", "afl", "cov", "covered", "msan", "coq", "wp", "*.log", "*.jsonl", "arch", "root",
             "root.*", "debian12*"]


class Copy:
    """A worker's copy of a folder, with the sources and what is built from them."""

    def __init__(self, kept, root, flags):
        self.kept, self.root, self.flags = kept, root, flags
        self.objects = {}
        shutil.copytree(kept, root, symlinks=True)
        self.times = self.built()

    def built(self):
        """{built file: its time}"""
        found = {}
        for directory, _, names in os.walk(os.path.join(self.root, "build")):
            for name in names:
                path = os.path.join(directory, name)
                found[os.path.relpath(path, self.root)] = os.lstat(path).st_mtime_ns
        return found

    def restore(self):
        """Put back what was built without a bug, with its times, so that make takes it as up to
        date."""
        now = self.built()
        for path in now.keys() | self.times.keys():
            if now.get(path) != self.times.get(path):
                if path in now:
                    os.unlink(os.path.join(self.root, path))
                if path in self.times:
                    shutil.copy2(os.path.join(self.kept, path), os.path.join(self.root, path),
                                 follow_symlinks=False)

    def compile(self, unit):
        """The object code, or None if it does not compile."""
        out = os.path.join(self.root, "bug.o")
        if subprocess.run(self.flags + ["-g0"] + TYPED + ["-c", "-o", out, unit], cwd=self.root,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
            return None
        with open(out, "rb") as f:
            return f.read()

    def original(self, unit):
        if unit not in self.objects:
            self.objects[unit] = self.compile(unit)
        return self.objects[unit]

    def build(self, suite):
        return planting.make([target_of(suite)], self.root)

    def run(self, suite):
        command = COMMANDS.get(suite, (None, None))[1] or [target_of(suite)]
        return planting.run(command, self.root, limit_of(suite), SEED="1", STOP="1")


def digest_of(files):
    """A digest of the names and contents of files."""
    digest = hashlib.sha256()
    for file in files:
        with open(os.path.join(TOP, file), "rb") as f:
            content = f.read()
        digest.update(b"%s %d\n" % (file.encode(), len(content)) + content)
    return digest.hexdigest()[:16]


def code_digest(folders):
    """A digest of the code in folders, without its comments."""
    digest = hashlib.sha256()
    for file in sorted({*code_files(""), "include/pprf.h"}):
        if file.split("/")[0] in folders:
            with open(os.path.join(TOP, file)) as f:
                text = re.sub(r"""/\*.*?\*/|//[^\n]*|"(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*'""",
                              lambda m: " " if m.group(0)[0] == "/" else m.group(0), f.read(), flags=re.S)
            digest.update(("%s %s\n" % (file, " ".join(text.split()))).encode())
    return digest.hexdigest()[:16]


class Verdicts:
    """Results of earlier runs: {bug: record}, and the suites that pass without a bug."""

    def __init__(self, path, kept, again):
        tracked = subprocess.run(
            ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--",
             "Makefile", "*.mk", "*.[ch]", "*.py", "*.sh", "*.dict", "*/corpus/*", "*/vectors/*"],
            cwd=TOP, stdout=subprocess.PIPE, check=True, text=True).stdout.split("\n")
        files = sorted(f for f in tracked if os.path.isfile(os.path.join(TOP, f)) and
                       not f.startswith(("docs/", "proofs/", "spec/", "bench/", "bindings/", "packaging/")))
        code = set(code_files("")) | {"include/pprf.h"}
        self.kept = kept
        self.code = {folder: code_digest(linked) for folder, linked in LINKED.items()}
        whole = code_digest({f for linked in LINKED.values() for f in linked})
        self.tests = whole + digest_of(f for f in files if f not in code and
                                       f != os.path.relpath(os.path.abspath(__file__), TOP))
        self.data = digest_of(f for f in files if "/corpus/" in f or "/vectors/" in f)
        self.suites = {}
        self.found, self.passes, self.killers = {}, set(), {}
        if os.path.exists(path) and not again:
            with open(path) as f:
                for record in map(json.loads, f):
                    if "passes" in record:
                        if record["digest"] == self.suite(record["passes"]):
                            self.passes.add(record["passes"])
                        continue
                    self.killers[record["bug"]] = record["suite"]
                    if record["code"] == self.code[record["bug"].split("/")[0]]:
                        self.found[record["bug"]] = record
        self.file = open(path, "a")

    def suite(self, name):
        """A digest of a suite's program without a bug, its scripts and its data; of all files if
        the program is a script itself."""
        if name not in self.suites:
            target = os.path.join(self.kept, target_of(name))
            content = b""
            if os.path.exists(target):  # --try compiles only the suites that it runs
                with open(target, "rb") as f:
                    content = f.read()
            scripts = [p for p in COMMANDS.get(name, (None, None))[1] or [] if p.endswith(".py")]
            digest = hashlib.sha256(content + self.data.encode() + digest_of(
                scripts + ["tools/tap.py"]).encode())
            if content[:4] != b"\x7fELF":
                digest.update(self.tests.encode())
            self.suites[name] = digest.hexdigest()[:16]
        return self.suites[name]

    def passed(self, record):
        """The suites that the bug passed and that have not changed since."""
        return {s for s, digest in record.get("passed", {}).items() if digest == self.suite(s)}

    def keep(self, **record):
        if "bug" in record:
            record["code"] = self.code[record["bug"].split("/")[0]]
            record["passed"] = {s: self.suite(s) for s in record["passed"]}
            self.found[record["bug"]] = record
        else:
            record["digest"] = self.suite(record["passes"])
        json.dump(record, self.file)
        self.file.write("\n")
        self.file.flush()


class Judge:
    def __init__(self, copies, verdicts, quick, only):
        self.quick, self.only, self.verdicts, self.trusted = quick, only, verdicts, verdicts.passes
        self.killers = {}  # {file: [(line number, suite)]}
        self.free, self.lock = queue.SimpleQueue(), threading.Lock()
        for copy in copies:
            self.free.put(copy)

    def suites(self, file):
        if self.only:
            return self.only
        all_of = suites_of(file)
        return [s for s in all_of if not (self.quick and s in SLOW)] or all_of

    def in_order(self, bug):
        """The suites to run: the ones that killed it in other code or killed the nearest bug, then
        the quickest first."""
        before = self.verdicts.killers.get(bug.key())
        near = min((abs(line - bug.line), suite) for line, suite in self.killers[bug.file])[1] \
            if self.killers.get(bug.file) else None
        return sorted(self.suites(bug.file), key=lambda s: (s != before, s != near, SECONDS[s]))

    def learn(self, bug, suite):
        self.killers.setdefault(bug.file, []).append((bug.line, suite))

    def settled(self, bug, record):
        """The verdict of an earlier run that was at least as thorough as this one, or None."""
        if record["verdict"] in ("invalid", "identical"):
            return record["verdict"]
        if record["verdict"] in ("killed", "hung"):
            self.learn(bug, record["suite"])
            return record["verdict"]
        asked = self.verdicts.passed(record)
        return self.alive() if all(s in asked for s in self.suites(bug.file)) else None

    def alive(self):
        return "open" if self.quick or self.only else "survived"

    def trust(self, suite, copy):
        """Whether the suite passes without a bug."""
        with self.lock:
            if suite not in self.trusted and copy.build(suite) and \
                    copy.run(suite) == "passed":
                self.trusted.add(suite)
                self.verdicts.keep(passes=suite)
            return suite in self.trusted

    def judge(self, bug, record):
        """The verdict, the suite that killed the bug, and the suites that passed."""
        copy = self.free.get()
        path = os.path.join(copy.root, bug.file)
        shutil.copy2(path, path + ".kept")
        killer, passed = None, self.verdicts.passed(record or {})
        try:
            for unit in units(bug.file):
                copy.original(unit)
            with open(path, "w") as f:
                f.write(bug.text)
            same = True
            for unit in units(bug.file):
                code = copy.compile(unit)
                if code is None:
                    return "invalid", "", passed
                same &= code == copy.original(unit)
            if same:
                return "identical", "", passed
            for suite in self.in_order(bug):
                if suite in passed:
                    continue
                if not copy.build(suite):
                    return "invalid", "", passed
                result = copy.run(suite)
                if result != "passed":
                    killer = suite
                    self.learn(bug, suite)
                    return "killed" if result == "failed" else "hung", suite, passed
                passed.add(suite)
            return self.alive(), "", passed
        finally:
            os.replace(path + ".kept", path)
            copy.restore()
            trusted = killer is None or self.trust(killer, copy)
            copy.restore()
            self.free.put(copy)
            if not trusted:
                raise RuntimeError("%s does not pass without a bug" % killer)


def triaged():
    """{(place, old line, new line): reason} of equivalent.txt."""
    found, at = {}, None
    with open(os.path.join(HERE, "equivalent.txt")) as f:
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
                sys.exit("equivalent.txt: not FILE: OLD ==> NEW with a reason below: " + line)
    for place, old, _ in found:
        with open(os.path.join(TOP, place.split("#")[0])) as f:
            if " ".join(old.split()) not in " ".join(f.read().split()):
                sys.exit("equivalent.txt: %s has no such line: %s" % (place, old))
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
    parser.add_argument("--bug", default="")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--try", dest="tried", default="")
    parser.add_argument("--list", action="store_true")
    o = parser.parse_args()
    seed = o.seed or str(random.SystemRandom().randrange(1 << 32))
    only = {int(n) for n in o.only.split(",") if n}
    files, known = code_files(""), triaged()
    print("# SEED=%s COUNT=%d: %d files, %d lines in equivalent.txt" % (
        seed, o.count, len(files), len(known)), flush=True)
    drawn = ((number, bug) for number, bug in enumerate(sample(files, seed), 1)
             if o.bug in bug.name() and re.search(o.files, bug.file))
    if o.list:
        for number, bug in itertools.islice(drawn, o.count):
            print(number, bug.name())
        return 0
    files = [f for f in files if re.search(o.files, f)]
    flags = make_variable(["CC", "ALL_CPPFLAGS", "ALL_CFLAGS"]) + [
        "-fPIC", "-Iopt", "-Itls", "-Iref", "-Icli"]
    logs = os.path.join(TOP, "build", "equivalence-tests")
    os.makedirs(logs, exist_ok=True)
    begin, results = time.time(), []
    with tempfile.TemporaryDirectory(prefix="pprf-bugs-") as directory:
        os.chmod(directory, 0o755)  # some tests run the program as another user
        kept = os.path.join(directory, "kept")
        os.mkdir(kept)
        planting.copy_tree(kept, [""], *NOT_BUILT)
        tried = [t for t in o.tried.split(",") if t]
        name = "try" if tried else "random"  # another run may be in progress, to develop a test
        if not planting.make(sorted({target_of(s) for f in files for s in tried or suites_of(f)}), kept):
            sys.exit("the tests do not compile:\n" + planting.output(kept))
        copies = [Copy(kept, os.path.join(directory, str(i)), flags) for i in range(o.jobs)]
        verdicts = Verdicts(os.path.join(logs, "random-bugs.jsonl"), kept, o.again)
        judge, lock = Judge(copies, verdicts, o.quick, tried), threading.Lock()

        def counted():
            return sum(r["verdict"] in ("killed", "hung", "survived", "open") for r in results)

        def work():
            while True:
                with lock:
                    if counted() >= o.count or time.time() - begin > o.seconds:
                        return
                    number, bug = next(drawn, (0, None))
                    while bug is not None and number < o.first:
                        number, bug = next(drawn, (0, None))
                    while bug is not None and only and number not in only:
                        if number > max(only):
                            return
                        number, bug = next(drawn, (0, None))
                if bug is None:
                    return
                reason = known.get((bug.place, bug.old, bug.new))
                before = verdicts.found.get(bug.key())
                settled = judge.settled(bug, before) if before and not tried else None
                started, suite, took = time.time(), "", 0
                if reason and not o.all:
                    verdict = "equivalent"
                elif settled:
                    verdict, suite, took = settled, before["suite"], before["seconds"]
                else:
                    verdict, suite, passed = judge.judge(bug, {} if tried else before)
                    took = time.time() - started
                with lock:
                    if not settled and verdict != "equivalent" and not (tried and verdict == "open"):
                        verdicts.keep(bug=bug.key(), verdict=verdict, suite=suite, passed=passed,
                                      seconds=round(took, 1))
                    if verdict in ("survived", "open") and reason:
                        verdict = "equivalent"
                    results.append({"number": number, "bug": bug.name(), "verdict": verdict,
                                    "file": bug.file, "suite": suite, "seconds": round(took, 1),
                                    "diff": bug.diff() if verdict in ("survived", "open") else ""})
                    if verdict not in ("invalid", "identical") and not settled:
                        print("%4d %-10s %-12s %5.1f s  %s" % (number, verdict, suite, took,
                                                             bug.name()), flush=True)
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
            print("# %s %d: %s\n%s" % (r["verdict"].upper(), r["number"], r["bug"], r["diff"]))
    killed, total = count["killed"] + count["hung"], counted()
    score = 100.0 * killed / total if total else 0.0
    print("# SEED=%s: %d bugs: %d killed (%d of them hung), %d survived, %d open: %.1f %%; beside them %d "
          "equivalent by equivalent.txt, %d of the same object code, %d that do not compile; "
          "%d s" % (seed, total, killed, count["hung"], count["survived"], count["open"], score,
                    count["equivalent"], count["identical"], count["invalid"], time.time() - begin))
    with open(os.path.join(logs, "random-bugs-%s.json" % name), "w") as f:
        json.dump({"seed": seed, "score": score, **count, "bugs": results}, f, indent=1)
        f.write("\n")
    if total < o.count and time.time() - begin > o.seconds:
        print("# stopped after %d of %d: the same command continues" % (total, o.count))
        return 3
    return 0 if total and score >= TARGET else 1


if __name__ == "__main__":
    sys.exit(main())
