#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that spec/aes/Fips197.v is AES-128 and that proofs/tools/aes.py reads C correctly, as TAP;
run from the top of a tree whose build/coq is up to date, by `make test-prove-gate`.

  fips197     blocks computed in Coq equal those of PyCA's AES (FIPS 197's examples are in AesExamples.v)
  translated  small functions, compared with translations written by hand
  refused     other C: an error, never skipped
  run         the translated function, run in Coq, gives the two halves that PyCA's AES gives"""
import random
import struct
import sys

sys.dont_write_bytecode = True
import aes  # noqa: E402  (in this folder)
import keccak  # noqa: E402
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: E402

keccak_test = __import__("keccak-test")
keccak_test.HEAD = """From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import LaneCode AesCode Fips197.
"""
FIELDS = "struct pair { uint64_t lo, hi; }; struct planes { uint64_t bit[3]; }; enum { AT = 2 };\n"
HELPERS = """static inline uint64_t twice(uint64_t v) { v ^= v << 1; return v; }
static inline struct pair swapped(struct pair a) { return (struct pair){a.hi, a.lo}; }
static inline void clear(struct planes *p) { for (unsigned i = 0; i < 3; i++) p->bit[i] = 0; }
"""
# body of uint64_t f(uint64_t a, struct pair b), whose variables start at 3; its assignments, its
# result
TRANSLATED = [
    ("return a ^ b.lo & ~b.hi;", [], "Xor (Var 0) (And (Var 1) (Not (Var 2)))"),
    ("return a << 2 * 3 | a >> AT;", [], "Or (Shl (Var 0) 6) (Shr (Var 0) 2)"),
    ("uint64_t c = 1; c |= a; return c;", [(3, "Const 0x1"), (3, "Or (Var 3) (Var 0)")], "Var 3"),
    ("unsigned r = 0x80; r = r << 1 ^ (r >> 7) * 0x11b; return a ^ r;", [], "Xor (Var 0) (Const 0x1b)"),
    ("for (unsigned i = 0; i < 3; i++) if (i != 1) a ^= a << i; return a;",
     [(0, "Xor (Var 0) (Shl (Var 0) 0)"), (0, "Xor (Var 0) (Shl (Var 0) 2)")], "Var 0"),
    # a result goes to the caller's variable; the call's own variables come after it and are then
    # free again
    ("return twice(a) ^ twice(b.lo);",
     [(4, "Var 0"), (4, "Xor (Var 4) (Shl (Var 4) 1)"), (3, "Var 4"),
      (5, "Var 1"), (5, "Xor (Var 5) (Shl (Var 5) 1)"), (4, "Var 5")], "Xor (Var 3) (Var 4)"),
    # the old members, although both are assigned
    ("b = (struct pair){b.hi, b.lo}; return b.lo;",
     [(3, "Var 2"), (4, "Var 1"), (5, "Var 3"), (6, "Var 4"), (1, "Var 5"), (2, "Var 6")], "Var 1"),
    ("struct planes s; uint64_t *x = s.bit; clear(&s); x[AT] = a; return s.bit[2];",
     [(3, "Const 0x0"), (4, "Const 0x0"), (5, "Const 0x0"), (5, "Var 0")], "Var 5"),
    ("struct planes s = {{a}}; return s.bit[1];",
     [(3, "Var 0"), (4, "Const 0x0"), (5, "Const 0x0")], "Var 4"),
]
REFUSED = [  # body, error
    ("return a + b.lo;", "not known here"),
    ("return a * 3;", "not known here"),
    ("return a << b.lo;", "not known here"),
    ("return a << 64;", "as wide as its type"),
    ("return a ^ 1 << 31;", "overflows"),
    ("return a ^ (1 - 2);", "negative"),
    ("return ~1 ^ a;", "~ of int"),
    ("return a ^ 0x100000000;", "not a constant"),
    ("return (uint64_t)a;", "; expected"),
    ("return a ? a : b.lo;", "a condition on uint64_t"),
    ("if (a) a = b.lo; return a;", "a condition on uint64_t"),
    ("if (1) a = b.lo; else a = 1; return a;", "else"),
    ("while (1) a = 1; return a;", "= or ; expected"),
    ("for (unsigned i = 0; i < 3; i += 1) a ^= a; return a;", "expected"),
    ("for (unsigned i = 0; i < a; i++) a ^= a; return a;", "not known here"),
    ("for (unsigned i = 1; i > 0; i++) a ^= a; return a;", "a loop that long"),
    ("uint64_t c; return c;", "before it is set"),
    ("unsigned c; return a ^ c;", "before it is set"),
    ("struct planes s = {{0}}; return s.bit[3];", "not an index"),
    ("struct pair c; c.lo = a; b = c; return a;", "before it is set"),
    ("uint32_t c = 1; return a ^ c;", "expected"),
    ("return g(a);", "0 times g"),
    ("return twice(a, a);", "2 arguments"),
    ("twice(a); return a;", "is not used"),
    ("struct planes s; return clear(&s);", "is not const"),
    ("return a; a = 1;", "after return"),
    ("a = 1;", "no value is returned"),
    ("a = b; return a;", "where uint64_t is expected"),
    ("return a = b.lo;", "; expected"),
]


def pyca(seed, block):
    encryptor = Cipher(algorithms.AES(seed), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def fips197():
    cases = [(random.Random(n).randbytes(16), random.Random(-1 - n).randbytes(16)) for n in range(4)]
    cases.append((bytes(16), b"\xff" * 16))

    def listed(s):
        return "(pmap Byte.of_N [:: " + "; ".join(map(str, s)) + "]%num)"
    answers = keccak_test.coq("".join(
        f"Eval vm_compute in map Byte.to_N (aes_128 {listed(block)} {listed(seed)}).\n"
        for seed, block in cases))
    for (seed, block), a in zip(cases, answers):
        want = list(pyca(seed, block))
        yield f"fips197 of {block.hex()} under {seed.hex()}", a == want, f"{a}, not {want}"
    yield "fips197_answers", len(answers) == len(cases), str(len(answers))


def parse(body):
    return aes.Program(f"{FIELDS}{HELPERS}uint64_t f(uint64_t a, struct pair b) {{ {body} }}", "f")


def translated():
    for body, assignments, returned in TRANSLATED:
        try:
            program = parse(body)
            got = (sum(program.blocks, []), program.returned)
        except keccak.Error as why:
            got = str(why)
        yield f"translated: {body}", got == (assignments, [returned]), str(got)


def refused():
    for body, want in REFUSED:
        try:
            got = str(parse(body).blocks)
        except keccak.Error as why:
            got = f"error: {why}"
        yield f"refused: {body}", got.startswith("error: ") and want in got, got


def run():
    numbers = random.Random(197)
    cases = [[numbers.getrandbits(64) for _ in range(5)] for _ in range(3)]
    cases += [[0] * 5, [2 ** 64 - 1] * 5]
    answers = keccak_test.coq("".join(
        "Eval vm_compute in odflt [::] (run [::] opt_aes_bitsliced [:: "
        + "; ".join(map(str, c)) + "]%num).\n" for c in cases))
    for c, a in zip(cases, answers):
        halves = b"".join(pyca(struct.pack("<2Q", *c[:2]), struct.pack("<2Q", c[2] ^ c[4], c[3] ^ b))
                          for b in (0, 1))
        want = [*struct.unpack("<4Q", halves), 0]
        yield f"run on {c}", a == want, f"{a}, not {want}"
    yield "run_answers", len(answers) == len(cases), str(len(answers))


def main():
    results = [r for part in (fips197, translated, refused, run) for r in part()]
    print(f"1..{len(results)}")
    for number, (name, good, got) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name.replace('#', '')}")
        if not good:
            print("".join(f"# {line}\n" for line in got.splitlines()[:12]))
    sys.exit(not all(good for _, good, _ in results))


if __name__ == "__main__":
    main()
