#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Translates the Keccak functions of prg/keccak.c to Coq: build/coq/spec/keccak/KeccakCode.v.

  keccak.py TREE [OUT]    read TREE/prg/keccak.c; write OUT (only if it changes) or standard output

The C preprocessor expands the macros; the resulting function is written as a program of
spec/keccak/LaneCode.v, statement by statement. Any syntax except that of such programs is an error.

A function on vectors is read as its effect on one 64-bit element, from the declaration of its lanes
to its stores; its arguments are lo and hi, its results e0 .. e3. How seeds and node ids get into
the vectors, and results out of them, is not translated. Function.intrinsic has the effect of each
intrinsic on an element, as Intel defines it.

A function of sha3-256-salted has three more arguments: the salt's two words and the node's in-order
id. All programs have the same variables, so that facts about their rounds are proven only once: in
programs without a salt these three are not variables of the C function, and have no value in
Coq."""
import os
import re
import subprocess

from acsl import command

SOURCE = "prg/keccak.c"
SCALAR = ["opt_keccak_scalar", "opt_keccak_avx2"]
VECTOR = {"opt_keccak_avx512": "__m128i", "opt_keccak_avx2_x4": "__m256i",
          "opt_keccak_avx512_x4": "__m256i", "opt_keccak_avx512_x8": "__m512i"}
SALTED_SCALAR = ["opt_salted_scalar", "opt_salted_avx2"]
SALTED_VECTOR = {"opt_salted_avx512": "__m128i", "opt_salted_avx2_x4": "__m256i",
                 "opt_salted_avx512_x4": "__m256i", "opt_salted_avx512_x8": "__m512i"}
SEED, SALT = ("lo", "hi"), ("salt_lo", "salt_hi", "node_word")
# the three names in C: its parameters; its vectors, if each node's id has its own vector
PARAMETER_NAMES = {"salt_lo": "salt_lo", "salt_hi": "salt_hi", "id": "node_word"}
VECTOR_NAMES = {"s0": "salt_lo", "s1": "salt_hi", "id": "node_word"}
ONE_VECTOR_NAMES = {"s0": "salt_lo", "s1": "salt_hi", "at": "node_word"}
CONDITION = "OPT_KECCAK_X86"
PORTABLE = ["opt_keccak_scalar", "opt_salted_scalar"]  # compiled by every compiler
# Flags as for the library, but without the compiler's header of intrinsics: which intrinsics it
# defines as macros depends on compiler and flags.
PREPROCESS = ["gcc", "-E", "-P", "-std=c11", "-O2", "-D_GNU_SOURCE", "-D_IMMINTRIN_H_INCLUDED", "-Iinclude", "-Iprg"]
TYPES = {"pprf_seed": "uint64_t lo , hi ;",
         "pprf_children": "struct pprf_seed left , right ; int err ;"}
SEED_PARAMETERS = {
    "struct pprf_children": "struct pprf_seed seed , uint64_t start , unsigned height",
    "void": "const struct opt_step * step"}
NODE_PARAMETERS = {
    "struct pprf_children":
        "struct pprf_seed seed , uint64_t salt_lo , uint64_t salt_hi , uint64_t id",
    "void": "uint64_t salt_lo , uint64_t salt_hi , const struct opt_step * step"}
TABLE = "iota"
TOKEN = re.compile(
    r"\s*(0[xX][0-9a-fA-F]+|[1-9]\d*|0|[A-Za-z_]\w*|<<|>>|\+=|[-+*^&|~()\[\]{},;=<.])")
BINARY = [("|", "Or"), ("^", "Xor"), ("&", "And")]  # lowest precedence first

# _mm_NAME_si128, _mm256_NAME_epi64, ...: by the type of the lanes
PREFIX = {"__m128i": "_mm_", "__m256i": "_mm256_", "__m512i": "_mm512_"}
BITS = {"__m128i": "si128", "__m256i": "si256", "__m512i": "si512"}
# in __m128i the lower element counts
BROADCAST = {"__m128i": "cvtsi64_si128", "__m256i": "set1_epi64x", "__m512i": "set1_epi64"}
TERNARY = {  # immediate: bit 4 a + 2 b + c of it is the result
    0x96: (lambda a, b, c: a ^ b ^ c, "Xor (Xor ({a}) ({b})) ({c})"),
    0xd2: (lambda a, b, c: a ^ (1 - b & c), "Xor ({a}) (And (Not ({b})) ({c}))")}
assert all(f(a, b, c) == imm >> 4 * a + 2 * b + c & 1 for imm, (f, _) in TERNARY.items()
           for a in (0, 1) for b in (0, 1) for c in (0, 1))


class Error(Exception):
    pass


def tokens(text, token=TOKEN, error=Error):
    out, pos, text = [], 0, text.rstrip()
    while pos < len(text):
        m = token.match(text, pos)
        if not m:
            raise error(f"no token: {text[pos:pos + 20]!r}")
        out.append(m[1])
        pos = m.end()
    return out


def braces(text, start):
    """The text between the brace at start and the matching brace."""
    depth = 0
    for m in re.compile(r"[{}]").finditer(text, start):
        depth += 1 if m[0] == "{" else -1
        if depth == 0:
            return text[start + 1:m.start()]
    raise Error("unclosed brace")


def one(pattern, text, what):
    found = list(re.finditer(pattern, text))
    if len(found) != 1:
        raise Error(f"{len(found)} times {what}")
    return found[0]


class Function:
    """A parsed function. An expression is ("int", value), a constant; ("u64", Coq's term); or
    ("lane", Coq's term), if lanes are vectors. names: what the salt's words and the node's id
    are called in C; empty for a function without a salt."""

    def __init__(self, name, words, lane, names=None):
        self.name, self.tokens, self.at, self.lane = name, words, 0, lane
        self.kind = "u64" if lane == "uint64_t" else "lane"
        self.names, self.variables = names or {}, list(SEED + SALT)
        self.counter, self.loop, self.blocks, self.returned = None, None, [[]], None
        while self.at < len(self.tokens):
            self.statement()
        if self.loop is None or self.returned is None:
            raise Error("not a block, a loop, a block and a return")

    # -- tokens
    def peek(self, *want):
        return self.tokens[self.at:self.at + len(want)] == list(want)

    def take(self, *want):
        if not self.peek(*want):
            raise Error(f"{' '.join(self.tokens[self.at:self.at + 8])}: {' '.join(want)} expected")
        self.at += len(want)

    def next(self, pattern, what):
        word = self.tokens[self.at] if self.at < len(self.tokens) else "the end"
        if not re.fullmatch(pattern, word):
            raise Error(f"{word}: {what} expected")
        self.at += 1
        return word

    def a_name(self):
        return self.next(r"[A-Za-z_]\w*", "a name")

    def number(self):
        return int(self.next(r"0[xX][0-9a-fA-F]+|\d+", "a number"), 0)

    # -- statements
    def statement(self):
        if self.returned is not None:
            raise Error("a statement after return")
        if self.peek(";"):
            self.take(";")
        elif self.peek("(", "void", ")"):
            self.take("(", "void", ")")
            self.a_name()
            self.take(";")
        elif self.peek(self.lane):
            self.take(self.lane)
            self.declare()
            while self.peek(","):
                self.take(",")
                self.declare()
            self.take(";")
        elif self.peek("for"):
            self.for_loop()
        elif self.kind == "lane" and (self.peek("store_2") or self.peek("return")):
            if "=" in self.tokens[self.at:]:
                raise Error("an assignment after the stores begin")
            for k in range(4):
                if f"e{k}" not in self.variables or f"e{k}" not in self.tokens[self.at:]:
                    raise Error(f"e{k} is not stored")
            self.returned = [f"Var e{k}" for k in range(4)] + ["Const 0"]
            self.at = len(self.tokens)
        elif self.peek("return"):
            self.return_()
        else:
            self.blocks[-1].append(self.assignment())

    def declare(self):
        name = self.a_name()
        if name in self.variables + [TABLE, "seed", *self.names]:
            raise Error(f"{name}: declared twice")
        self.variables.append(name)

    def assignment(self):
        name = self.variable()
        if name in SALT:
            raise Error(f"{name}: an argument is assigned")
        self.take("=")
        value = self.typed(self.kind, self.expression())
        self.take(";")
        return name, value

    def variable(self):
        if self.kind == "u64" and (self.peek("seed", ".", "lo") or self.peek("seed", ".", "hi")):
            self.at += 3
            return self.tokens[self.at - 1]
        name = self.a_name()
        if name in self.names:
            return self.names[name]
        if name not in self.variables or name in SALT or self.kind == "u64" and name in SEED:
            raise Error(f"{name} not declared")
        return name

    def for_loop(self):
        if self.loop is not None:
            raise Error("a second loop")
        self.take("for", "(", "unsigned")
        self.counter = self.a_name()
        if self.counter in self.variables + [TABLE, *self.names]:
            raise Error(f"{self.counter}: declared twice")
        self.take("=")
        first = self.number()
        self.take(";", self.counter, "<")
        limit = self.number()
        self.take(";", self.counter, "+=")
        step = self.number()
        self.take(")", "{")
        if limit + step >= 2 ** 31:
            raise Error("a loop that long")
        body = []
        while not self.peek("}"):
            if self.peek(";"):
                self.take(";")
            else:
                body.append(self.assignment())
        self.take("}")
        self.loop, self.counter = (first, limit, step, body), None
        self.blocks.append([])

    def return_(self):
        self.take("return", "(", "struct", "pprf_children", ")", "{", "{")
        values = [self.expression()]
        for between in ([","], ["}", ",", "{"], [","]):
            self.take(*between)
            values.append(self.expression())
        self.take("}", ",")
        err = self.number()
        self.take("}", ";")
        self.returned = [self.typed("u64", v) for v in values] + [f"Const {err}"]

    # -- expressions
    @staticmethod
    def typed(kind, e):
        if e[0] != kind:
            raise Error(f"{e[1]}: not of the type {kind}")
        return e[1]

    @staticmethod
    def small(e):
        if e[0] != "int" or not 0 <= e[1] < 2 ** 31:
            raise Error(f"{e[1]}: not a small constant")
        return e[1]

    def expression(self, level=0):
        if level == len(BINARY):
            return self.shift()
        sign, word = BINARY[level]
        left = self.expression(level + 1)
        while self.peek(sign):
            self.take(sign)
            right = self.typed("u64", self.expression(level + 1))
            left = ("u64", f"{word} ({self.typed('u64', left)}) ({right})")
        return left

    def shift(self):
        left = self.sum()
        while self.peek("<<") or self.peek(">>"):
            word = "Shl" if self.peek("<<") else "Shr"
            self.at += 1
            left = ("u64", f"{word} ({self.typed('u64', left)}) {self.small(self.sum())}")
        return left

    def sum(self):
        left = self.product()
        while self.peek("+") or self.peek("-"):
            sign = 1 if self.peek("+") else -1
            self.at += 1
            left = ("int", self.small(left) + sign * self.small(self.product()))
            self.small(left)
        return left

    def product(self):
        left = self.unary()
        while self.peek("*"):
            self.take("*")
            left = ("int", self.small(left) * self.small(self.unary()))
            self.small(left)
        return left

    def unary(self):
        if self.peek("~"):
            self.take("~")
            return ("u64", f"Not ({self.typed('u64', self.unary())})")
        if self.peek("(", "uint64_t", ")"):
            self.take("(", "uint64_t", ")")
            return self.word(self.unary())
        if self.peek("("):
            self.take("(")
            e = self.expression()
            self.take(")")
            return e
        word = self.tokens[self.at] if self.at < len(self.tokens) else "the end"
        if re.match(r"\d", word):
            value = self.number()
            if value >= 2 ** 64:
                raise Error(f"{word}: too large")
            return ("int", value)
        if word == TABLE:
            return self.element()
        if word.startswith("_mm"):
            return ("lane", self.intrinsic())
        return (self.kind, f"Var {self.variable()}")

    def word(self, e):
        """e, converted to uint64_t."""
        return ("u64", f"Const {e[1]:#x}" if e[0] == "int" else self.typed("u64", e))

    def element(self):
        self.take(TABLE, "[")
        if self.counter is not None and self.peek(self.counter):
            self.take(self.counter)
            k = 0
            if self.peek("+"):
                self.take("+")
                k = self.number()
            e = ("u64", f"AtCounter {k}")
        else:
            e = ("u64", f"At {self.number()}")
        self.take("]")
        return e

    def intrinsic(self):
        """The effect of an intrinsic on one 64-bit element."""
        name = self.a_name()
        prefix = PREFIX.get(self.lane, "no intrinsic")
        what = name[len(prefix):] if name.startswith(prefix) else name
        bits = BITS.get(self.lane)
        if what == BROADCAST.get(self.lane):
            self.take("(", "(", "long", "long", ")")
            e = self.word(self.unary())[1]
            self.take(")")
            return e
        self.take("(")
        args = [self.expression()]
        while self.peek(","):
            self.take(",")
            args.append(self.expression())
        self.take(")")

        def lanes(n, more=0):
            if len(args) != n + more:
                raise Error(f"{name}: {len(args)} arguments")
            return [self.typed("lane", e) for e in args[:n]]
        if what in (f"xor_{bits}", f"or_{bits}"):
            a, b = lanes(2)
            return f"{'Xor' if what.startswith('xor') else 'Or'} ({a}) ({b})"
        if what == f"andnot_{bits}":
            a, b = lanes(2)
            return f"And (Not ({a})) ({b})"
        if what in ("slli_epi64", "srli_epi64"):
            [a] = lanes(1, 1)
            return f"{'Shl' if what[1] == 'l' else 'Shr'} ({a}) {self.small(args[1])}"
        if what == "rol_epi64":
            [a], n = lanes(1, 1), self.small(args[1])
            if not 0 < n < 64:
                raise Error(f"{name} by {n}")
            return f"Or (Shl ({a}) {n}) (Shr ({a}) {64 - n})"
        if what == "ternarylogic_epi64":
            a, b, c = lanes(3, 1)
            if self.small(args[3]) not in TERNARY:
                raise Error(f"{name} with {args[3][1]:#x}")
            return TERNARY[args[3][1]][1].format(a=a, b=b, c=c)
        raise Error(f"{name} not known")

    # -- Coq
    def text(self):
        def block(assignments):
            return "[::\n    " + ";\n    ".join(f"({v}, {e})" for v, e in assignments) + "]"
        first, limit, step, body = self.loop
        return f"""Definition {self.name} : program := {{|
  variables := {len(self.variables)};
  before := {block(self.blocks[0])};
  first := {first}; limit := {limit}; step := {step};
  body := {block(body)};
  after := {block(self.blocks[1])};
  returned := [:: {'; '.join(self.returned)}]
|}}.
"""


def conditions(tree, source, condition, portable):
    """Check the conditional code in the C text, so that every compiler compiles what is translated
    here: there is no condition but this one (None: none), and the portable functions, with all
    that they call, come before it."""
    with open(os.path.join(tree, source), encoding="utf-8") as f:
        text = f.read()
    found = list(re.finditer(r"^[ \t]*#[ \t]*(?:el)?if\w*[ \t]*(.*)|^[ \t]*#[ \t]*(else)\b", text, re.M))
    odd = [m[1] or m[2] for m in found if (m[1] or "").strip() != condition]
    if odd:
        raise Error(f"{source}: code under a condition that is not {condition}: {odd[0]}")
    for name in portable:
        body = one(rf"\b{name}\s*\([^()]*\)\s*(?=\{{)", text, name).end()
        if found and found[0].start() < body + len(braces(text, body)):
            raise Error(f"{source}: {name} stands behind a condition")


def preprocess(tree, source=SOURCE, condition=CONDITION, portable=PORTABLE):
    conditions(tree, source, condition, portable)
    run = subprocess.run([*PREPROCESS, source], cwd=tree, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                         text=True, check=False)
    if run.returncode:
        raise Error(run.stderr.strip())
    return run.stdout


def constants(text):
    """The words of the table."""
    m = one(rf"static const uint64_t {TABLE}\[(\d+)\] = (?=\{{)", text, f"the table {TABLE}")
    words = [w.strip() for w in braces(text, m.end()).split(",")]
    if len(words) != int(m[1]) or not all(re.fullmatch(r"0x[0-9a-f]{1,16}", w) for w in words):
        raise Error(f"the table {TABLE} is not so many hexadecimal words")
    return [int(w, 16) for w in words]


def in_lanes(text, lane, words):
    """Check that these vectors hold these words, each in every element, and are not set
    otherwise."""
    for name, word in words.items():
        one(rf"\b{name} = {PREFIX[lane]}{BROADCAST[lane]}\(\(long long\)\({word}\)\)[,;]", text,
            f"{name} as {word} in each element")
        one(rf"\b{name}\b", text, f"{name} before the lanes")


def function(text, name):
    salted = name in SALTED_SCALAR or name in SALTED_VECTOR
    m = one(rf"(struct pprf_children|void)\s+{name}\s*\(([^()]*)\)\s*(?=\{{)", text, name)
    if " ".join(tokens(m[2])) != (NODE_PARAMETERS if salted else SEED_PARAMETERS)[m[1]]:
        raise Error("other parameters")
    body = braces(text, m.end())
    if name in SCALAR + SALTED_SCALAR:
        return Function(name, tokens(body), "uint64_t", PARAMETER_NAMES if salted else None)
    lane = {**VECTOR, **SALTED_VECTOR}[name]
    start = one(rf"{lane} a0\b", body, "the lanes").start()
    if not salted:
        return Function(name, tokens(body[start:]), lane)
    words = {"s0": "salt_lo", "s1": "salt_hi"}
    if m[1] == "void":
        in_lanes(body[:start], lane, words)
        return Function(name, tokens(body[start:]), lane, VECTOR_NAMES)
    in_lanes(body[:start], lane, {**words, "at": "id"})
    return Function(name, tokens(body[start:]), lane, ONE_VECTOR_NAMES)


def translate(tree):
    text = preprocess(tree)
    for name, members in TYPES.items():
        m = one(rf"struct {name}\s*(?=\{{)", text, f"struct {name}")
        if " ".join(tokens(braces(text, m.end()))) != members:
            raise Error(f"struct {name} is not {members}")
    table, functions = constants(text), []
    for name in [*SCALAR, *VECTOR, *SALTED_SCALAR, *SALTED_VECTOR]:
        try:
            functions.append(function(text, name))
        except Error as why:
            raise Error(f"{name}: {why}") from None
    names = functions[0].variables
    if any(f.variables != names for f in functions):
        raise Error("the functions' variables differ")
    out = ["(* Written by proofs/tools/keccak.py from prg/keccak.c: not to be edited. *)",
           "From Coq Require Import NArith.", "From mathcomp Require Import all_ssreflect.",
           "From Pprf.spec Require Import LaneCode.", "",
           f"Definition {TABLE}_words : seq N := [::",
           ";\n".join(f"  {c:#018x}%num" for c in table) + "].", "",
           *[f"Definition {n} : nat := {i}." for i, n in enumerate(names)], "",
           *[f.text() for f in functions]]
    return "\n".join(out)


if __name__ == "__main__":
    command(__doc__, "keccak", translate, Error)
