#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that sha.py and aes.py read C as the compiler does, as TAP. Random functions, made of
surprising parts of C, are compiled and run on random inputs (with -fsanitize=undefined), and
translated and run in Coq; the results must be equal.

Functions that a reader refuses are counted and left out: it must be cautious, not complete. The
functions use integer promotion and the usual conversions, ?: with branches of two types, shifts
close to a type's width, constants around 2^31 and 2^32, casts, operators without parentheses,
compound assignments, calls, loops. The same functions must detect bugs planted in the readers.
SEED=N repeats a run."""
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import aes  # noqa: E402  (in this folder)
import keccak  # noqa: E402
import sha  # noqa: E402

keccak_test = __import__("keccak-test")
HEAD = """From Coq Require Import NArith.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import %s.
"""
MANY, INPUTS, TRIES = 60, 3, 20000
NUMBERS = ["0", "1", "2", "7", "31", "32", "0x7fffffff", "2147483647", "AT", "i", "n", "i", "n"]
UNSIGNED = ["1u", "0x80000000", "0xffffffff", "0xfffffffeu"]
SIGNS = ["|", "^", "&", "<<", ">>", "+", "-", "*", "==", "!=", "<", ">", "<=", ">=", "&&", "||"]


class Language:
    """The parts of a reader's random functions, and how its programs are run in Coq."""

    def __init__(self, name, types, numbers, words, signs, casts, module, call, parse):
        self.name, self.numbers, self.words, self.signs = name, numbers, words, signs
        self.casts, self.module, self.call, self.parse = casts, module, call, parse
        self.word = types[0]
        self.file = (f"struct pair {{ {types[0]} lo, hi; }}; enum {{ AT = 2 }};\n"
                     f"static inline {self.word} twice({self.word} v) {{ v ^= v << 1; return v; }}\n")
        if name == "sha":
            self.file += "static const uint32_t k[3] = {1, 0x80000000, 0xfffffffe};\n"
        self.parameters = f"{types[0]} a, struct pair b, {types[1]} d"

    def number(self, r, depth):
        """An expression of int and unsigned, which the reader computes: missing parentheses
        show."""
        if depth == 0 or r.random() < 0.3:
            return r.choice(self.numbers)
        if r.random() < 0.12:
            return f"({self.number(r, depth - 1)} ? {self.number(r, depth - 1)} : {self.number(r, depth - 1)})"
        sign = r.choice(SIGNS if r.random() < 0.5 else ["&", "|", "^", "==", "!=", "<", "&&"])
        return self.paired(r, self.number(r, depth - 1), sign, self.number(r, depth - 1))

    @staticmethod
    def paired(r, left, sign, right):
        text = f"{left} {sign} {right}"
        return f"({text})" if r.random() < 0.4 else text

    def expression(self, r, depth):
        kind = r.random()
        if depth == 0 or kind < 0.15:
            return r.choice(self.words)
        if kind < 0.3:
            return self.number(r, 1)
        if kind < 0.45:
            condition = r.choice(["i < n", "n == AT", "i", "1", "0", "i > 3 && n",
                                  "i & 1 == n", "n | i < 3", "i ^ n == 1"])
            if kind < 0.36:  # an operation on a value with the type of either branch
                return f"(({condition} ? {r.choice(self.words)} : {r.choice(self.words)}) " \
                       f"{r.choice(['<< 7', '<< n', '+ a', '+ 1'])})"
            return f"({condition} ? {self.expression(r, depth - 1)} : {self.expression(r, depth - 1)})"
        if kind < 0.55:
            return f"~({self.expression(r, depth - 1)})" if r.random() < 0.5 else f"~{r.choice(self.words)}"
        if kind < 0.65 and self.casts:
            return f"({r.choice(self.casts)})({self.expression(r, depth - 1)})"
        if kind < 0.8:
            by = r.choice(["1", "7", "31", "32", "33", "63", "i", "n", "i + 3", "1 + n"])
            return self.paired(r, self.expression(r, depth - 1), r.choice(["<<", ">>"]), by)
        return self.paired(r, self.expression(r, depth - 1), r.choice(self.signs), self.expression(r, depth - 1))

    def body(self, r):
        lines = [f"unsigned i = {r.randrange(5)};", f"int n = {r.randrange(5)};",
                 f"{self.word} c = {self.expression(r, 1)};"]
        for _ in range(r.randrange(4)):
            target = r.choice(["a", "c", "d", "b.lo", "b.hi"])
            change = f"{target} {r.choice(['=', '^=', '|=', '&=', '+='])} {self.expression(r, 2)};"
            lines.append(r.choice([change, change, f"if ({self.number(r, 1)}) {change}", f"i = {self.number(r, 2)};",
                                   f"for (unsigned j = 0; j < {r.randrange(4)}; j++) {change}",
                                   f"c = twice({self.expression(r, 1)});"]))
        ends = [self.expression(r, 3), self.number(r, 2), self.number(r, 3)]
        return " ".join([*lines, "return ({}) ^ ({}) ^ ({}) << 8;".format(*ends)])

    def function(self, name, body):
        return f"uint64_t {name}({self.parameters}) {{ {body} }}\n"


SHA = Language("sha", ["uint32_t", "uint64_t"], NUMBERS + UNSIGNED,
               ["a", "b.lo", "b.hi", "c", "d", "d", "k[i]", "k[2]", "1UL", "0x100000000ULL", "0xffffffff",
                "twice(a)"],
               ["|", "^", "&", "+", "+", "+"], ["uint32_t", "uint64_t", "unsigned"], "WordCode", "run_leaf",
               sha.Program)
AES = Language("aes", ["uint64_t", "uint64_t"], NUMBERS,
               ["a", "b.lo", "b.hi", "c", "d", "1UL", "0x100000000ULL", "0xffffffffffffffffUL", "twice(a)"],
               ["|", "^", "&"], [], "LaneCode", "run [::]", aes.Program)


def accepted(language, r, many):
    """Bodies that the reader translates, with their programs; and the number that it refused."""
    found, refused = [], 0
    while len(found) < many and refused < TRIES:
        body = language.body(r)
        try:
            found.append((body, language.parse(language.file + language.function("f", body), "f")))
        except keccak.Error:
            refused += 1
    return found, refused


def inputs(r):
    return [[r.choice([r.getrandbits(64), 0, 2 ** 64 - 1, 2 ** 31, 2 ** 32 - 1]) for _ in range(4)]
            for _ in range(INPUTS)]


def compiled(language, bodies, cases):
    """Results of the compiled functions, a list for each; if a run stops, the rest is missing."""
    calls = "".join(f'  printf("%llu\\n", (unsigned long long)f{k}({x[0]}ULL, (struct pair){{{x[1]}ULL, {x[2]}ULL}}, '
                    f'{x[3]}ULL));\n' for k, case in enumerate(cases) for x in case)
    text = "#include <stdint.h>\n#include <stdio.h>\n" + language.file + "".join(
        language.function(f"f{k}", body) for k, body in enumerate(bodies)) + f"int main(void)\n{{\n{calls}}}\n"
    with tempfile.TemporaryDirectory() as tmp:
        path = os.path.join(tmp, "f.c")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        subprocess.run(["gcc", "-std=c11", "-O1", "-w", "-fsanitize=undefined", "-fno-sanitize-recover=all", "-o",
                        os.path.join(tmp, "f"), path], check=True)
        run = subprocess.run([os.path.join(tmp, "f")], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                             check=False)
    values = [int(line) for line in run.stdout.split()]
    return [values[k * INPUTS:(k + 1) * INPUTS] for k in range(len(bodies))], run.stderr


def in_coq(language, programs, cases):
    text = ""
    for k, program in enumerate(programs):
        program.name = f"p{k}"
        text += program.text()
    keccak_test.HEAD = HEAD % language.module
    text += "".join(f"Eval vm_compute in odflt [::] ({language.call} p{k} [:: {'; '.join(map(str, x))}]%num).\n"
                    for k, case in enumerate(cases) for x in case)
    values = [answer[0] if len(answer) == 1 else None for answer in keccak_test.coq(text)]
    return [values[k * INPUTS:(k + 1) * INPUTS] for k in range(len(programs))]


def different(language, found, r):
    """A description of the differences."""
    if not found:
        return []
    cases = [[[*(v % 2 ** 32 for v in x[:3]), x[3]] if language is SHA else x for x in inputs(r)] for _ in found]
    want, undefined = compiled(language, [body for body, _ in found], cases)
    got = in_coq(language, [program for _, program in found], cases)
    odd = [f"{body}: on {case}: compiled {w}, in Coq {g}" for (body, _), case, w, g in zip(found, cases, want, got)
           if w != g]
    return odd + ([f"undefined in C: {undefined}"] if undefined else [])


class Planted:
    """A reader with a bug: one of its attributes is replaced meanwhile."""

    def __init__(self, name, where, attribute, value):
        self.name, self.where, self.attribute, self.value = name, where, attribute, value

    def __enter__(self):
        self.before = self.where.__dict__[self.attribute]
        setattr(self.where, self.attribute, self.value)

    def __exit__(self, *_):
        setattr(self.where, self.attribute, self.before)


def left_type(self, sign, a, b):
    """Planted: a sum in the type of its left operand."""
    if sign in ("+", "^", "|", "&") and a[0] == "uint32_t" and b[0] == "uint64_t":
        b = ("uint32_t", f"Cast 32 ({b[1]})")
    return BINARY(self, sign, a, b)


def arithmetic_shift(self, sign, a, b):
    """Planted: every shift in 64 bits."""
    return BINARY(self, sign, ("uint64_t", a[1]) if sign == "<<" and a[0] == "uint32_t" else a, b)


BINARY = sha.Run.binary
BUGS = [
    Planted("a_truth_that_is_a_number", aes, "NUMBERS", {**aes.NUMBERS, "&&": lambda a, b: a and b}),
    Planted("the_type_of_the_branch_that_is_chosen", aes.Run, "type_of", lambda self, e, scope: None),
    Planted("a_sum_of_the_left_operands_type", sha.Run, "binary", left_type),
    Planted("a_shift_of_64_bits", sha.Run, "binary", arithmetic_shift),
    Planted("a_shift_before_a_sum", aes.Parser, "BINARY",
            aes.BINARY[:-3] + [aes.BINARY[-2], aes.BINARY[-3], aes.BINARY[-1]]),
    Planted("a_comparison_after_an_and", aes.Parser, "BINARY",
            aes.BINARY[:4] + [aes.BINARY[5], aes.BINARY[4]] + aes.BINARY[6:]),
]


def main():
    seed = os.environ.get("SEED") or str(random.SystemRandom().randrange(10 ** 9))
    print(f"# SEED={seed}\n1..{2 + len(BUGS)}", flush=True)
    results = []
    for language in (SHA, AES):
        r = random.Random(f"{seed} {language.name}")
        found, refused = accepted(language, r, MANY)
        odd = different(language, found, r)
        if len(found) < MANY:
            odd.append(f"only {len(found)} functions are read")
        results.append((f"{language.name}.py reads {len(found)} random functions as the compiler does; "
                        f"{refused} refused", odd))
    for bug in BUGS:
        r = random.Random(f"{bug.name}")  # the same functions each time: they include one that detects it
        with bug:
            found, _ = accepted(SHA, r, 2 * MANY)
        results.append((f"noticed: {bug.name}", [] if different(SHA, found, r) else ["nothing is different"]))
    for number, (name, odd) in enumerate(results, 1):
        print(f"{'not ok' if odd else 'ok'} {number} - {name}")
        print("".join(f"# {line}\n" for line in odd[:6]), end="")
    sys.exit(any(odd for _, odd in results))


if __name__ == "__main__":
    main()
