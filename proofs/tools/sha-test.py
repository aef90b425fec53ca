#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that spec/sha/Fips180.v is SHA-256, HMAC and ExpandWithLabel and that proofs/tools/sha.py
reads C correctly, as TAP; run from the top of a tree whose build/coq is up to date, by `make
test-prove-gate`.

  fips180     digests of messages of several lengths, computed in Coq, equal those of Python's hashlib
  hmac        HMACs under keys of several lengths, HKDF-Expands and labels equal those of Python's hmac
  translated  small functions, compared with translations written by hand
  refused     other C: an error, never skipped
  run         the translated functions, run in Coq on seeds, give the children that Python
computes"""
import hashlib
import hmac
import random
import struct
import sys

sys.dont_write_bytecode = True
import keccak  # noqa: E402  (in this folder)
import sha  # noqa: E402

keccak_test = __import__("keccak-test")
keccak_test.HEAD = """From Coq Require Import NArith Init.Byte Strings.String.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import WordCode ShaCode Fips180.
"""
# around 56 bytes, where the length starts to need another block, and around a block
LENGTHS = [0, 1, 55, 56, 57, 63, 64, 65, 119, 120]
# key, text
HMACS = [(0, 0), (32, 21), (63, 1), (64, 64), (65, 3), (131, 54)]
# secret, context, length of the result; a context of 64 bytes has a length field of two bytes
LABELS = [(32, 4, 32), (32, 63, 33), (32, 64, 64), (16, 0, 1)]

FIELDS = ("struct pair { uint32_t lo, hi; }; struct block { uint32_t w[3]; }; enum { AT = 2 };\n"
          "static const uint32_t k[3] = {1, 0x80000000, 3};\n"
          "static const struct pair start = {5, 6};\n")
HELPERS = """static inline uint32_t twice(uint32_t v) { v += v; return v; }
static inline struct pair swapped(struct pair a) { return (struct pair){a.hi, a.lo}; }
static inline struct pair compress(struct pair a, const struct block *b)
{ return (struct pair){a.lo ^ b->w[0], a.hi}; }
static inline void mix(uint32_t h[2], uint32_t w) { h[0] += w; }
"""
# body of uint32_t f(uint32_t a, struct pair b, uint64_t d), whose variables start at 4; its
# statements, its result
TRANSLATED = [
    ("return a ^ b.lo & ~b.hi;", [], "Xor (Var 0) (And (Var 1) (Not 32 (Var 2)))"),
    ("return a >> 2 * 3 | a << (32 - 6);", [], "Or (Shr 32 (Var 0) 6) (Shl 32 (Var 0) 26)"),
    ("return a + b.lo + 1;", [], "Add 32 (Add 32 (Var 0) (Var 1)) (Const 0x1)"),
    ("return (uint32_t)(d >> 32);", [], "Cast 32 (Shr 64 (Var 3) 32)"),
    ("return (uint32_t)((uint64_t)a << 33 | a);", [], "Cast 32 (Or (Shl 64 (Var 0) 33) (Var 0))"),
    ("return (uint32_t)(a + d);", [], "Cast 32 (Add 64 (Var 0) (Var 3))"),
    ("return a ^ 0xffffffff ^ k[1];", [], "Xor (Xor (Var 0) (Const 0xffffffff)) (Const 0x80000000)"),
    ("uint32_t c = AT; c += a; return c;", [("Assign", 4, "Const 0x2"), ("Assign", 4, "Add 32 (Var 4) (Var 0)")],
     "Var 4"),
    ("for (unsigned i = 0; i < 3; i += 2) a ^= k[i]; return a;",
     [("Assign", 0, "Xor (Var 0) (Const 0x1)"), ("Assign", 0, "Xor (Var 0) (Const 0x3)")], "Var 0"),
    # a result goes to the caller's variable; the call's own variables come after it and are then
    # free again
    ("return twice(a);", [("Assign", 5, "Var 0"), ("Assign", 5, "Add 32 (Var 5) (Var 5)"), ("Assign", 4, "Var 5")],
     "Var 4"),
    ("struct block m = {{a}}; b = compress(start, &m); return b.lo;",
     [("Assign", 4, "Var 0"), ("Assign", 5, "Const 0x0"), ("Assign", 6, "Const 0x0"),
      ("Call", [7, 8], ["Const 0x5", "Const 0x6", "Var 4", "Var 5", "Var 6"]),
      ("Assign", 9, "Var 7"), ("Assign", 10, "Var 8"), ("Assign", 1, "Var 9"), ("Assign", 2, "Var 10")], "Var 1"),
    # a structure is copied together with its array
    ("struct block m = {{a, a, a}}, n = m; m.w[0] = 0; return n.w[0];",
     [("Assign", 4, "Var 0"), ("Assign", 5, "Var 0"), ("Assign", 6, "Var 0")]
     + [("Assign", 7 + i, f"Var {4 + i}") for i in range(3)] + [("Assign", 10 + i, f"Var {7 + i}") for i in range(3)]
     + [("Assign", 4, "Const 0x0")], "Var 10"),
]
REFUSED = [  # body, error
    ("return d;", "where uint32_t is expected"),
    ("a = d; return a;", "where uint32_t is expected"),
    ("return a + d;", "where uint32_t is expected"),
    ("return twice(d);", "where uint32_t is expected"),
    ("return a - b.lo;", "not known here"),
    ("return a * 3;", "not known here"),
    ("return a << b.lo;", "not known here"),
    ("return 1 << a;", "not known here"),
    ("return a << 32;", "as wide as its type"),
    ("return (uint32_t)(d >> 64);", "as wide as its type"),
    ("return a ^ (1 - 2);", "negative"),
    ("return ~1 ^ a;", "~ of int"),
    ("return a ^ 0x100000000;", "not a constant"),
    ("return a ^ 2147483648;", "not a constant"),
    ("return (int)a;", "a cast of uint32_t to int"),
    ("return (uint8_t)a;", "; expected"),
    ("if (a) a = b.lo; return a;", "a condition on uint32_t"),
    # C computes these in 64 bits, whichever branch is chosen
    ("return (uint32_t)((1 ? a : d) >> 1 << 1);", "?: of uint32_t and uint64_t"),
    ("return (uint32_t)((1 ? 0xffffffff : d) + 1 >> 32);", "?: of unsigned and uint64_t"),
    ("return (uint32_t)((AT ? 0xffffffff + 1 : (uint64_t)a << 1) >> 1);", "?: of unsigned and uint64_t"),
    ("return (1 ? 0 : k[1]) + a;", "?: of int and uint32_t"),
    ("if (1) a = b.lo; else a = 1; return a;", "else"),
    ("while (1) a = 1; return a;", "= or ; expected"),
    ("for (unsigned i = 3; i > 0; i--) a ^= a; return a;", "++ or += expected"),
    ("for (unsigned i = 0; i < a; i++) a ^= a; return a;", "not known here"),
    ("for (unsigned i = 1; i > 0; i++) a ^= a; return a;", "a loop that long"),
    ("uint32_t c; return c;", "before it is set"),
    ("struct block m; b = compress(b, &m); return a;", "before it is set"),
    ("return k[3];", "not an index"),
    ("k[0] = a; return a;", "a constant is assigned"),
    ("return g[0];", "neither declared here nor a constant table"),
    ("return g(a);", "0 times g"),
    ("b = compress(b, b); return a;", "is another pointer"),
    ("b = compress(b); return a;", "1 arguments"),
    ("compress(b, 0); return a;", "is another pointer"),
    ("uint32_t h[2] = {a, a}; mix(h, d); return h[0];", "where uint32_t is expected"),
    ("twice(a); return a;", "is not used"),
    ("return a; a = 1;", "after return"),
    ("a = 1;", "a return too few"),
    ("a = b; return a;", "expected"),
    ("__asm__(\"\"); return a;", "no token"),
]
# calls of compress that are refused: its first statements, then the call
ALIASED = ("static inline void compress(struct pair *a, const struct pair *b) { a->lo ^= b->lo; }\n",
           "compress(&b, &b); return b.lo;", "two arguments point to one object")


def listed(s):
    return "(pmap Byte.of_N [:: " + "; ".join(map(str, s)) + "]%num)" if s else "[::]"


def compared(name, cases):
    """Terms of type seq byte, computed in Coq, and their expected values."""
    answers = keccak_test.coq("".join(f"Eval vm_compute in map Byte.to_N ({term}).\n" for _, term, _ in cases))
    for (what, _, want), a in zip(cases, answers):
        yield f"{name} of {what}", a == list(want), f"{a}, not {list(want)}"
    yield f"{name}_answers", len(answers) == len(cases), str(len(answers))


def message(n, seed):
    return random.Random(seed).randbytes(n)


def fips180():
    yield from compared("fips180", [(f"{n} bytes", f"sha_256 {listed(m)}", hashlib.sha256(m).digest())
                                    for n in LENGTHS for m in [message(n, n)]])


def expand(secret, info, length):
    out, t, i = b"", b"", 1
    while len(out) < length:
        t = hmac.digest(secret, t + info + bytes([i]), "sha256")
        out, i = out + t, i + 1
    return out[:length]


def label(secret, name, context, length):
    def opaque(s):
        assert len(s) < 2 ** 14
        return (bytes([len(s)]) if len(s) < 64 else struct.pack(">H", 1 << 14 | len(s))) + s
    return expand(secret, struct.pack(">H", length) + opaque(b"MLS 1.0 " + name) + opaque(context), length)


def hmacs():
    cases = [(f"{len(t)} bytes under {len(k)}", f"hmac {listed(k)} {listed(t)}", hmac.digest(k, t, "sha256"))
             for a, b in HMACS for k, t in [(message(a, 180), message(b, 4))]]
    for a, b, length in LABELS:
        s, c = message(a, 5869), message(b, 9420)
        cases.append((f"a label with a context of {b} to {length}",
                      f"expand_with_label {listed(s)} (ascii \"tree\") {listed(c)} {length}",
                      label(s, b"tree", c, length)))
    yield from compared("hmac", cases)


def parse(body, helpers=HELPERS):
    return sha.Program(f"{FIELDS}{helpers}uint32_t f(uint32_t a, struct pair b, uint64_t d) {{ {body} }}", "f",
                       "compress")


def translated():
    for body, statements, returned in TRANSLATED:
        try:
            program = parse(body)
            got = (program.statements, program.returned)
        except keccak.Error as why:
            got = str(why)
        yield f"translated: {body}", got == (statements, [returned]), str(got)


def refused():
    for body, helpers, want in [(b, HELPERS, w) for b, w in REFUSED] + [(ALIASED[1], ALIASED[0], ALIASED[2])]:
        try:
            got = str(parse(body, helpers).statements)
        except keccak.Error as why:
            got = f"error: {why}"
        yield f"refused: {body}", got.startswith("error: ") and want in got, got


def run():
    numbers = random.Random(9420)
    cases = [[numbers.getrandbits(64) for _ in range(4)] for _ in range(3)] + [[0] * 4, [2 ** 64 - 1] * 4]
    answers = keccak_test.coq("".join(
        "Eval vm_compute in odflt [::] (run_calling opt_sha256_compress opt_sha256_scalar [:: "
        + "; ".join(map(str, c)) + "]%num).\n" for c in cases))
    for c, a in zip(cases, answers):
        seed = struct.pack("<4Q", *c)
        want = [*struct.unpack("<8Q", label(seed, b"tree", b"left", 32) + label(seed, b"tree", b"right", 32)), 0]
        yield f"run on {c}", a == want, f"{a}, not {want}"
    yield "run_answers", len(answers) == len(cases), str(len(answers))


def main():
    results = [r for part in (fips180, hmacs, translated, refused, run) for r in part()]
    print(f"1..{len(results)}")
    for number, (name, good, got) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name.replace('#', '')}")
        if not good:
            print("".join(f"# {line}\n" for line in got.splitlines()[:12]))
    sys.exit(not all(good for _, good, _ in results))


if __name__ == "__main__":
    main()
