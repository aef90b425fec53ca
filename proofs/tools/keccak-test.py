#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that spec/keccak/Fips202.v is SHA3-256 and that proofs/tools/keccak.py reads C correctly,
as TAP; run from the top of a tree whose build/coq is up to date, by `make test-prove-gate`.

  fips202     digests of messages of several lengths, computed in Coq, equal those of Python's hashlib
  translated  small functions, compared with translations written by hand
  refused     other C: an error, never skipped
  parameters  a function of sha3-256-salted whose salt vectors hold something else: an error
  run         the translated functions, run in Coq on seeds, salts and ids, give hashlib's
digests"""
import hashlib
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import keccak  # noqa: E402  (in this folder)

COQC = ["coqc", "-q", "-w", "none", "-Q", "build/coq/spec", "Pprf.spec"]
HEAD = """From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips202 LaneCode KeccakCode.
"""
# around the rate of 136 bytes, where the padding fills a block's end or takes another block
LENGTHS = [0, 1, 16, 134, 135, 136, 137, 272]
SEEDS = [(0, 0), (2 ** 64 - 1, 2 ** 64 - 1), (1, 2 ** 63)]
# seed, salt, id
NODES = [(0,) * 5, (2 ** 64 - 1,) * 5, (1, 2 ** 63, 3 << 40, 5, 2 ** 33 - 1), (9, 8, 7, 6, 2 ** 32)]

LOOP = "for (unsigned i = 0; i < 1; i += 1) { } "
RETURN = "return (struct pprf_children){{e0, e1}, {e1, e0}, 0};"
# lane type, statements before the loop, assignments in `before'
TRANSLATED = [
    ("uint64_t", "e0 = seed.lo ^ seed.hi & ~seed.lo;",
     "(e0, Xor (Var lo) (And (Var hi) (Not (Var lo))))"),
    ("uint64_t", "e0 = seed.lo | seed.hi ^ seed.lo;", "(e0, Or (Var lo) (Xor (Var hi) (Var lo)))"),
    ("uint64_t", "e0 = seed.lo << 3 | seed.lo >> (64 - 3);",
     "(e0, Or (Shl (Var lo) 3) (Shr (Var lo) 61))"),
    ("uint64_t", "e0 = (uint64_t)(0x10) << 1 + 1;", "(e0, Shl (Const 0x10) 2)"),
    ("uint64_t", "e0 = seed.lo ^ seed.lo ^ seed.hi;",
     "(e0, Xor (Xor (Var lo) (Var lo)) (Var hi))"),
    ("uint64_t", "e0 = seed.lo; e1 = ((uint64_t)(iota[3]));",
     "(e0, Var lo);\n    (e1, At 3)"),
    ("__m256i", "e0 = _mm256_andnot_si256(lo, hi);", "(e0, And (Not (Var lo)) (Var hi))"),
    ("__m256i", "e0 = _mm256_ternarylogic_epi64(lo, hi, lo, 0xd2);",
     "(e0, Xor (Var lo) (And (Not (Var hi)) (Var lo)))"),
    ("__m512i", "e0 = _mm512_rol_epi64(_mm512_set1_epi64((long long)(2 * 3)), 60);",
     "(e0, Or (Shl (Const 0x6) 60) (Shr (Const 0x6) 4))"),
    ("__m128i", "e0 = _mm_cvtsi64_si128((long long)(iota[0]));", "(e0, At 0)"),
]
# the same in a function with a salt and an id, under their names in C
SALTED = [
    ("uint64_t", keccak.PARAMETER_NAMES, "e0 = salt_lo ^ salt_hi & id;",
     "(e0, Xor (Var salt_lo) (And (Var salt_hi) (Var node_word)))"),
    ("__m256i", keccak.VECTOR_NAMES, "e0 = _mm256_xor_si256(s1, id); e1 = s0;",
     "(e0, Xor (Var salt_hi) (Var node_word));\n    (e1, Var salt_lo)"),
    ("__m128i", keccak.ONE_VECTOR_NAMES, "e0 = at;", "(e0, Var node_word)"),
]
REFUSED = [  # lane type, statements, error
    ("uint64_t", "e0 = seed.lo + seed.hi;", "small constant"),
    ("uint64_t", "e0 = 1;", "not of the type"),
    ("uint64_t", "e0 = ~6;", "not of the type"),
    ("uint64_t", "e0 = seed.lo << seed.hi;", "small constant"),
    ("uint64_t", "e0 = f(seed.lo);", "f not declared"),
    ("uint64_t", "e0 = lo;", "lo not declared"),
    ("uint64_t", "e2 = seed.lo;", "e2 not declared"),
    ("uint64_t", "e0 ^= seed.lo;", "= expected"),
    ("uint64_t", "e0 = e1 = seed.lo;", "; expected"),
    ("uint64_t", "if (1) e0 = seed.lo;", "if not declared"),
    ("uint64_t", "e0 = seed.lo; {", "a name expected"),
    ("uint64_t", "uint32_t x;", "uint32_t not declared"),
    ("uint64_t", "uint64_t e0;", "declared twice"),
    ("uint64_t", "e0 = iota[i];", "a number expected"),
    ("uint64_t", LOOP, "a second loop"),
    ("__m256i", "e0 = lo ^ hi;", "not of the type u64"),
    ("__m256i", "e0 = _mm512_xor_si512(lo, hi);", "not known"),
    ("__m256i", "e0 = _mm256_add_epi64(lo, hi);", "not known"),
    ("__m256i", "e0 = _mm256_xor_epi32(lo, hi);", "not known"),
    ("__m256i", "e0 = _mm256_ternarylogic_epi64(lo, hi, lo, 0xd3);", "with 0xd3"),
    ("__m256i", "e0 = _mm256_rol_epi64(lo, 64);", "by 64"),
    ("uint64_t", "e0 = salt_lo;", "salt_lo not declared"),
    ("uint64_t", "e0 = node_word;", "node_word not declared"),
    ("__m256i", "e0 = s0;", "s0 not declared"),
]
SALTED_REFUSED = [  # the same in a function with a salt and an id
    ("uint64_t", keccak.PARAMETER_NAMES, "e0 = s0;", "s0 not declared"),
    ("uint64_t", keccak.PARAMETER_NAMES, "e0 = node_word;", "node_word not declared"),
    ("uint64_t", keccak.PARAMETER_NAMES, "id = e0;", "an argument is assigned"),
    ("uint64_t", keccak.PARAMETER_NAMES, "uint64_t id;", "declared twice"),
    ("__m256i", keccak.VECTOR_NAMES, "e0 = salt_lo;", "salt_lo not declared"),
    ("__m128i", keccak.ONE_VECTOR_NAMES, "e0 = id;", "id not declared"),
]
# vectors before the lanes that do not hold the salt's words: function, C code there, error
PREPARED = [
    ("opt_salted_avx2_x4", "s0 = _mm256_set1_epi64x((long long)(salt_hi)), "
     "s1 = _mm256_set1_epi64x((long long)(salt_hi)), id = f(step);", "s0 as salt_lo"),
    ("opt_salted_avx2_x4", "s0 = _mm256_set1_epi64x((long long)(salt_lo)), "
     "s1 = _mm256_set_epi64x(salt_hi, salt_hi, 0, 0), id = f(step);", "s1 as salt_hi"),
    ("opt_salted_avx2_x4", "s0 = _mm256_set1_epi64x((long long)(salt_lo)), "
     "s1 = _mm256_set1_epi64x((long long)(salt_hi)), id = f(step); s0 = id;", "s0 before the lanes"),
    ("opt_salted_avx512", "s0 = _mm_cvtsi64_si128((long long)(salt_lo)), "
     "s1 = _mm_cvtsi64_si128((long long)(salt_hi)), at = _mm_cvtsi64_si128((long long)(salt_hi));", "at as id"),
]


def coq(text):
    with tempfile.NamedTemporaryFile("w", suffix=".v", prefix="query_") as f:
        f.write(HEAD + text)
        f.flush()
        run = subprocess.run([*COQC, f.name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                             text=True, check=False)
    if run.returncode:
        raise RuntimeError(run.stdout)
    return [[int(n) for n in re.findall(r"(?<![\w%])\d+", answer.split("\n     : ")[0])]
            for answer in run.stdout.split("     = ")[1:]]


def fips202():
    messages = [random.Random(n).randbytes(n) for n in LENGTHS]
    answers = coq("".join(
        "Eval vm_compute in map Byte.to_N (sha3_256 (pmap Byte.of_N [:: "
        + "; ".join(map(str, m)) + "]%num)).\n" if m else
        "Eval vm_compute in map Byte.to_N (sha3_256 [::]).\n" for m in messages))
    want = [list(hashlib.sha3_256(m).digest()) for m in messages]
    for n, a, w in zip(LENGTHS, answers, want):
        yield f"fips202_of_{n}_bytes", a == w, f"{a}, not {w}"
    yield "fips202_answers", len(answers) == len(want), str(len(answers))


def parse(lane, statements, names=None):
    if lane == "uint64_t":
        text = f"uint64_t e0, e1; {statements} {LOOP} {RETURN}"
    else:
        text = f"{lane} e0, e1, e2, e3; {statements} {LOOP} store_2(e0, e1, e2, e3);"
    return keccak.Function("f", keccak.tokens(text), lane, names)


def translated():
    for lane, names, statements, want in [(t[0], None, *t[1:]) for t in TRANSLATED] + SALTED:
        try:
            got = parse(lane, statements, names).text()
        except keccak.Error as why:
            got = str(why)
        yield f"translated: {lane}: {statements}", f"before := [::\n    {want}];" in got, got


def refused():
    for lane, names, statements, want in [(r[0], None, *r[1:]) for r in REFUSED] + SALTED_REFUSED:
        try:
            got = parse(lane, statements, names).text()
        except keccak.Error as why:
            got = f"error: {why}"
        yield f"refused: {lane}: {statements}", got.startswith("error: ") and want in got, got


def parameters():
    for name, before, want in PREPARED:
        lane = keccak.SALTED_VECTOR[name]
        result = "struct pprf_children" if lane == "__m128i" else "void"
        text = (f"{result} {name}({keccak.NODE_PARAMETERS[result]}) {{ {lane} {before} "
                f"{lane} a0, e0, e1, e2, e3; {LOOP} store_2(e0, e1, e2, e3); }}")
        try:
            got = keccak.function(text, name).text()
        except keccak.Error as why:
            got = f"error: {why}"
        yield f"parameters: {before}", got.startswith("error: ") and want in got, got


def run():
    cases = [(n, s) for n in [*keccak.SCALAR, *keccak.VECTOR] for s in SEEDS]
    cases += [(n, s) for n in [*keccak.SALTED_SCALAR, *keccak.SALTED_VECTOR] for s in NODES]
    answers = coq("".join("Eval vm_compute in odflt [::] "
                          f"(run iota_words {n} [:: {'; '.join(map(str, s))}]%num).\n" for n, s in cases))
    for (n, s), a in zip(cases, answers):
        message = struct.pack(f"<{len(s)}Q", *s)
        want = [*struct.unpack("<4Q", hashlib.sha3_256(message).digest()), 0]
        yield f"run {n} on {', '.join(map(hex, s))}", a == want, f"{a}, not {want}"
    yield "run_answers", len(answers) == len(cases), str(len(answers))


def main():
    results = [r for part in (fips202, translated, refused, parameters, run) for r in part()]
    print(f"1..{len(results)}")
    for number, (name, good, got) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name.replace('#', '')}")
        if not good:
            print("".join(f"# {line}\n" for line in got.splitlines()[:12]))
    sys.exit(not all(good for _, good, _ in results))


if __name__ == "__main__":
    main()
