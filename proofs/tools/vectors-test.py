#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that spec/aes/VectorCode.v defines each intrinsic as the processor executes it, and that
proofs/tools/vectors.py reads C correctly, as TAP; run from the top of a tree whose build/coq is
up to date, by `make test-prove-gate`.

  intrinsics  each intrinsic of the language, in Coq and by this processor's instruction, on random bytes
  undefined   what C or an instruction leaves undefined has no value in Coq
  translated  small functions, compared with translations written by hand
  refused     other C: an error, never skipped
  conditions  an unknown preprocessor condition: an error
  header      a compiler whose intrinsics are macros: the same translation
  run         the translated functions, run in Coq on seeds in memory, leave there what PyCA's AES and
              hashlib's SHA3-256 compute"""
import hashlib
import os
import platform
import random
import re
import struct
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import keccak  # noqa: E402  (in this folder)
import vectors  # noqa: E402
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes  # noqa: E402

keccak_test = __import__("keccak-test")
keccak_test.HEAD = """From Coq Require Import NArith Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Codec VectorCode AesVectorCode KeccakVectorCode.
Definition shown (v : option value) := if v is Some v then map Byte.to_N v else [:: 999%num].
"""
NONE = [999]
SEED = int(os.environ.get("SEED") or random.SystemRandom().randrange(10 ** 9))
TIMES = 3  # inputs for each intrinsic


# ---- intrinsics: the assumption about each -------------------------------------------------------------

def table():
    """Rows: Coq's operator; C's expression; bytes of its arguments' registers; which of these are
    used; bytes of the result; required processor feature."""
    numbers, avx512 = random.Random(SEED), "avx512f"
    byte = [str(numbers.randrange(256)) for _ in range(3)]
    bits = [0, 1, 32, 63, numbers.randrange(64)]
    word = [f"0x{numbers.getrandbits(32):08x}" for _ in range(5)]

    def plain(name, expression, widths, result, needs):
        return [(name, expression, widths, widths, result, needs)]

    def call(name, widths, result, needs, constants=(None,), looked=None):
        args = ", ".join(f"{{{i}}}" for i in range(len(widths)))
        return [(name if c is None else f"{name} {c}", f"_{name}({args}{'' if c is None else f', {c}'})", widths,
                 widths if looked is None else looked(c), result(c) if callable(result) else result, needs)
                for c in constants]

    out = []
    for name, sign in [("xor64", "^"), ("and64", "&"), ("or64", "|"), ("add64", "+"), ("mul64", "*")]:
        out += plain(name, f"(uint64_t){{0}} {sign} (uint64_t){{1}}", [8, 8], 8, "sse2")
    for name, sign in [("shl64", "<<"), ("shr64", ">>")]:
        out += plain(name, f"(uint64_t){{0}} {sign} (uint64_t){{1}}", [8, "shift"], 8, "sse2")
    out += call("mm_set_epi64x", [8, 8], 16, "sse2")
    out += plain(f"mm_set_epi32 {' '.join(word[:4])}", f"_mm_set_epi32((int){', (int)'.join(word[:4])})", [], 16,
                 "sse2")
    out += plain(f"mm_set1_epi32 {word[4]}", f"_mm_set1_epi32((int){word[4]})", [], 16, "sse2")
    out += call("mm_xor_si128", [16, 16], 16, "sse2") + call("mm_slli_si128", [16], 16, "sse2", [0, 4, 8, 15, 16])
    out += call("mm_shuffle_epi8", [16, 16], 16, "ssse3") + call("mm_shuffle_epi32", [16], 16, "sse2", [255, *byte])
    out += call("mm_aesenc_si128", [16, 16], 16, "aes") + call("mm_aesenclast_si128", [16, 16], 16, "aes")
    out += call("mm_aeskeygenassist_si128", [16], 16, "aes", [1, 54, *byte])
    out += call("mm_cvtsi64_si128", [8], 16, "sse2") + call("mm_cvtsi128_si64", [16], 8, "sse2")
    out += call("mm_rol_epi64", [16], 16, "avx512vl", bits)
    out += call("mm_ternarylogic_epi64", [16] * 3, 16, "avx512vl", [0x96, 0xd2, *byte])
    out += call("mm256_castsi128_si256", [16], 16, "avx2") + call("mm256_castsi256_si128", [32], 16, "avx2")
    out += call("mm256_inserti128_si256", [32, 16], lambda c: 16 * c + 16, "avx2", range(2), lambda c: [16 * c, 16])
    out += call("mm256_extracti128_si256", [32], 16, "avx2", range(2))
    out += call("mm256_set_epi64x", [8] * 4, 32, "avx2") + call("mm256_set1_epi64x", [8], 32, "avx2")
    for name in ["unpacklo_epi64", "unpackhi_epi64", "xor_si256", "or_si256", "andnot_si256"]:
        out += call(f"mm256_{name}", [32, 32], 32, "avx2")
    out += call("mm256_slli_epi64", [32], 32, "avx2", bits) + call("mm256_srli_epi64", [32], 32, "avx2", bits)
    out += call("mm256_rol_epi64", [32], 32, "avx512vl", bits)
    out += call("mm256_ternarylogic_epi64", [32] * 3, 32, "avx512vl", [0x96, 0xd2, *byte])
    out += call("mm512_castsi256_si512", [32], 32, avx512) + call("mm512_castsi512_si256", [64], 32, avx512)
    out += call("mm512_inserti64x4", [64, 32], lambda c: 32 * c + 32, avx512, range(2), lambda c: [32 * c, 32])
    out += call("mm512_extracti64x4_epi64", [64], 32, avx512, range(2))
    out += call("mm512_unpacklo_epi64", [64, 64], 64, avx512) + call("mm512_unpackhi_epi64", [64, 64], 64, avx512)
    out += call("mm512_set1_epi64", [8], 64, avx512) + call("mm512_rol_epi64", [64], 64, avx512, bits)
    out += call("mm512_castsi128_si512", [16], 16, avx512) + call("mm512_castsi512_si128", [64], 16, avx512)
    out += call("mm512_inserti32x4", [64, 16], lambda c: 16 * c + 16, avx512, range(4), lambda c: [16 * c, 16])
    out += call("mm512_extracti32x4_epi32", [64], 16, avx512, range(4))
    out += call("mm512_set_epi64", [8] * 8, 64, avx512) + call("mm512_set4_epi64", [8] * 4, 64, avx512)
    out += plain(f"mm512_set1_epi32 {word[4]}", f"_mm512_set1_epi32((int){word[4]})", [], 64, avx512)
    out += call("mm512_xor_si512", [64, 64], 64, avx512)
    out += call("mm512_ternarylogic_epi64", [64] * 3, 64, avx512, [0x96, 0xd2, *byte])
    out += call("mm512_shuffle_epi8", [64, 64], 64, "avx512bw")
    out += call("mm512_bslli_epi128", [64], 64, "avx512bw", [0, 4, 8, 15, 16])
    out += call("mm512_aesenc_epi128", [64, 64], 64, "vaes") + call("mm512_aesenclast_epi128", [64, 64], 64, "vaes")
    return out


TARGET = {"avx512vl": "avx512f,avx512vl", "avx512bw": "avx512f,avx512bw", "vaes": "avx512f,aes,vaes"}
REGISTER = {8: ("long long", "*(long long *)(void *){0}"), 16: ("__m128i", "_mm_loadu_si128((void *){0})"),
            32: ("__m256i", "_mm256_loadu_si256((void *){0})"), 64: ("__m512i", "_mm512_loadu_si512({0})")}
REGISTER["shift"] = REGISTER[8]


def c_program(rows):
    """A program that applies each row's intrinsic to bytes of standard input, which no compiler can
    know, and prints the result in hexadecimal, or -."""
    out = ["#include <immintrin.h>", "#include <stdint.h>", "#include <stdio.h>", "#include <string.h>",
           "static unsigned char in[8][64];",
           "static void show(const void *p, int n) { for (int i = 0; i < n; i++) printf(\"%02x\", "
           "((const unsigned char *)p)[i]); puts(\"\"); }"]
    calls = []
    for k, (_, expression, widths, _, result, needs) in enumerate(rows):
        args = [REGISTER[w][1].format(f"in[{i}]") for i, w in enumerate(widths)]
        expression = expression.format(*args)
        out.append(f"__attribute__((target(\"{TARGET.get(needs, needs)}\"), noinline)) static void f{k}(void) {{ "
                   f"__typeof__({expression}) r = {expression}; show(&r, {result}); }}")
        ok = " && ".join(f"__builtin_cpu_supports(\"{n}\")" for n in TARGET.get(needs, needs).split(","))
        calls.append(f"for (int t = 0; t < {TIMES}; t++) {{ if (fread(in, 1, sizeof in, stdin) != sizeof in) return 1; "
                     f"if ({ok}) f{k}(); else puts(\"-\"); }}")
    return "\n".join([*out, "int main(void) {", *calls, "return 0; }"])


def listed(s):
    return "(pmap Byte.of_N [:: " + "; ".join(map(str, s)) + "]%num)" if s else "[::]"


def intrinsics():
    rows, numbers, stdin, queries = table(), random.Random(SEED + 1), b"", ""
    operators = {r[0].split()[0] for r in rows}
    for op, _, widths, looked, _, _ in rows:
        for _ in range(TIMES):
            given = [numbers.randbytes(64) for _ in range(8)]
            for i, w in enumerate(widths):
                if w == "shift":
                    given[i] = bytes([numbers.randrange(64)]) + bytes(63)
            stdin += b"".join(given)
            args = [listed(given[i][:8 if w == "shift" else w]) for i, w in enumerate(looked)]
            queries += f"Eval vm_compute in shown (apply ({op}) [:: {'; '.join(args)}]).\n"
    with tempfile.TemporaryDirectory() as tmp:
        source, program = os.path.join(tmp, "intrinsics.c"), os.path.join(tmp, "intrinsics")
        with open(source, "w", encoding="utf-8") as f:
            f.write(c_program(rows))
        subprocess.run(["gcc", "-std=gnu11", "-O1", "-w", "-o", program, source], check=True)
        real = subprocess.run([program], input=stdin, stdout=subprocess.PIPE, check=True).stdout.decode().split()
    answers = keccak_test.coq(queries)
    yield "intrinsics_answers", len(answers) == len(real) == TIMES * len(rows), f"{len(answers)}, {len(real)}"
    for k, (op, _, _, _, result, needs) in enumerate(rows):
        got, want = answers[TIMES * k:TIMES * k + TIMES], real[TIMES * k:TIMES * k + TIMES]
        if want == ["-"] * TIMES:
            yield f"intrinsic {op} # SKIP the processor has no {needs}", True, ""
        else:
            yield (f"intrinsic {op}", [bytes(a).hex() for a in got if a != NONE] == want and len(want[0]) == 2 * result,
                   f"{got}, not {want}; SEED={SEED}")
    unknown = {o[1:] for o in vectors.INTRINSICS} - operators
    yield "every intrinsic that the translator knows is among them", not unknown, str(unknown)


# operator, its arguments in Coq
UNDEFINED = [
    ("shl64", "word 1; word 64"), ("shr64", "word 1; word 64"), ("mm_xor_si128", "word 1; word 1"),
    ("mm_xor_si128", "nseq 16 x00"), ("mm_slli_si128 17", "nseq 16 x00"), ("mm_shuffle_epi32 256", "nseq 16 x00"),
    ("mm_aeskeygenassist_si128 256", "nseq 16 x00"), ("mm512_xor_si512", "nseq 64 x00; nseq 48 x00"),
    ("mm512_inserti32x4 2", "nseq 16 x00; nseq 16 x00"), ("mm512_inserti32x4 4", "nseq 64 x00; nseq 16 x00"),
    ("mm512_extracti32x4_epi32 4", "nseq 64 x00"), ("mm256_slli_epi64 64", "nseq 32 x00"),
    ("mm256_srli_epi64 64", "nseq 32 x00"), ("mm256_rol_epi64 64", "nseq 32 x00"),
    ("mm512_rol_epi64 64", "nseq 64 x00"), ("mm256_inserti128_si256 2", "nseq 32 x00; nseq 16 x00"),
    ("mm256_inserti128_si256 1", "nseq 32 x00; nseq 16 x00"), ("mm256_xor_si256", "nseq 32 x00; nseq 16 x00"),
    ("mm256_ternarylogic_epi64 256", "nseq 32 x00; nseq 32 x00; nseq 32 x00"),
    ("mm512_inserti64x4 1", "nseq 16 x00; nseq 32 x00"), ("mm512_extracti64x4_epi64 2", "nseq 64 x00"),
    ("mm512_castsi512_si128", "nseq 16 x00"), ("mm_rol_epi64 64", "nseq 16 x00"), ("mm_cvtsi64_si128", "nseq 16 x00"),
    ("mm_cvtsi128_si64", "word 1"),
]


def undefined():
    answers = keccak_test.coq("".join(f"Eval vm_compute in shown (apply ({op}) [:: {args}]).\n" for op,
                                      args in UNDEFINED))
    for (op, args), a in zip(UNDEFINED, answers):
        yield f"undefined: {op} of {args}", a == NONE, str(a)
    yield "undefined_answers", len(answers) == len(UNDEFINED), str(len(answers))


# ---- the translator ------------------------------------------------------------------------------------

STRUCTS = ("struct pprf_seed { uint64_t lo, hi; }; struct pprf_children { struct pprf_seed left, right; int err; };\n"
           "struct opt_step { const struct pprf_seed *seed; struct pprf_seed *left, *right; uint64_t start;\n"
           "unsigned height; }; enum { AT = 2 };\nstatic const uint8_t bytes[3] = {0x01, 0x80, 0x1b};\n"
           "static const uint64_t words[2] = {0x0000000000000001, 0x8000000080008081};\n")
HELPERS = """static inline void put(struct pprf_seed *p, __m128i v) { _mm_storeu_si128((__m128i *)(void *)p, v); }
static inline __m128i get(const struct pprf_seed *p) { return _mm_loadu_si128((const __m128i *)(const void *)p); }
static inline void add(__m128i *p, __m128i v) { *p = _mm_xor_si128(*p, v); }
static inline uint64_t id(const struct opt_step *s) { return 2 * s->start + (1UL << s->height); }
static inline __m128i putting(const struct opt_step *s, __m128i v) { put(s->left, v); return v; }
"""
STEPS = "void f_x2(uint64_t a, uint64_t b, const struct opt_step *step)"  # a is variable 0, b 1, others follow
WALK = ("struct pprf_seed f(struct pprf_seed seed, uint64_t a, unsigned height, struct pprf_seed *copath)"
        )  # seed is variables 0 and 1, a is 2, the bytes of seed are 3; others follow
DOWN = "for (unsigned h = height; h > 0; h--)"
ONE = "_mm_set1_epi32(1)"
ONE_OP = "Op (mm_set1_epi32 0x00000001) [:: ]"
RETURN = "put(&seed, v); return seed;"
# function, body, the pieces of its parts, its result
TRANSLATED = [
    (STEPS, "_mm_storeu_si128((__m128i *)(void *)step[0].right, "
     "_mm_loadu_si128((const __m128i *)(const void *)step[1].seed));", [["Store (Right 0) (Loadu (Seed 1))"]], []),
    # a call's arguments and results have their own variables
    (STEPS, "put((step + 1)[0].left, get(step[0].seed));",
     [["Assign 2 (Loadu (Seed 0))", "Assign 3 (Var 2)", "Store (Left 1) (Var 3)"]], []),
    (STEPS, "uint64_t c = id(&step[1]) ^ a;",
     [["Assign 2 (Op add64 [:: Op mul64 [:: Word 0x2; Start 1]; Op shl64 [:: Word 0x1; Height 1]])",
       "Assign 3 (Op xor64 [:: Var 2; Var 0])"]], []),
    (STEPS, "__m128i v = _mm_set_epi64x((long long)a, (long long)b);",
     [["Assign 2 (Op mm_set_epi64x [:: Var 0; Var 1])"]],
     []),
    (STEPS, "int z = (int)0x80808080u; __m128i v = _mm_set_epi32(z, 1, AT, 3);",
     [["Assign 2 (Op (mm_set_epi32 0x80808080 0x00000001 0x00000002 0x00000003) [:: ])"]], []),
    (STEPS, f"__m128i v = _mm_slli_si128({ONE}, 2 * AT);", [[f"Assign 2 (Op (mm_slli_si128 4) [:: {ONE_OP}])"]], []),
    (STEPS, "__m128i v[2]; for (unsigned i = 0; i < 3; i++) v[i % 2] = _mm_set1_epi32((int)(bytes[i] << 8 * i));",
     [["Assign 2 (Op (mm_set1_epi32 0x00000001) [:: ])", "Assign 3 (Op (mm_set1_epi32 0x00008000) [:: ])",
       "Assign 2 (Op (mm_set1_epi32 0x001b0000) [:: ])"]], []),
    (STEPS, "for (unsigned i = 0; i < 2; i++) a = words[i] ^ b;",
     [["Assign 0 (Op xor64 [:: Word 0x0000000000000001; Var 1])",
       "Assign 0 (Op xor64 [:: Word 0x8000000080008081; Var 1])"]], []),
    (STEPS, "for (unsigned i = 1; i < 6; i += 2) a = a ^ i;",
     [["Assign 0 (Op xor64 [:: Var 0; Word 0x1])", "Assign 0 (Op xor64 [:: Var 0; Word 0x3])",
       "Assign 0 (Op xor64 [:: Var 0; Word 0x5])"]], []),
    (STEPS, "__m256i v = _mm256_set1_epi64x((long long)((uint64_t)(6) << (21) | (uint64_t)(6) >> (64 - (21))));",
     [["Assign 2 (Op mm256_set1_epi64x [:: Op or64 [:: Op shl64 [:: Word 0x6; Word 0x15]; "
       "Op shr64 [:: Word 0x6; Word 0x2b]]])"]], []),
    (STEPS, "(void)b; uint64_t c = (uint64_t)_mm_cvtsi128_si64(_mm_cvtsi64_si128((long long)(a)));",
     [["Assign 2 (Op mm_cvtsi128_si64 [:: Op mm_cvtsi64_si128 [:: Var 0]])"]], []),
    (STEPS, "uint64_t c = a & 0x8000000000000000;", [["Assign 2 (Op and64 [:: Var 0; Word 0x8000000000000000])"]], []),
    (STEPS, "__m256i v = _mm256_slli_epi64(_mm256_set1_epi64x((long long)(a)), 64 - (20));",
     [["Assign 2 (Op (mm256_slli_epi64 44) [:: Op mm256_set1_epi64x [:: Var 0]])"]], []),
    # nine rounds or more: one piece each
    (STEPS, f"__m128i v = {ONE}; for (unsigned i = 0; i < 9; i++) add(&v, v);",
     [[f"Assign 2 ({ONE_OP})"]] + [["Assign 3 (Var 2)", "Assign 2 (Op mm_xor_si128 [:: Var 2; Var 3])"]] * 9, []),
    (STEPS, f"__m128i v = {ONE}; if (AT == 3) put(step[0].left, v); else put(step[0].right, v);",
     [[f"Assign 2 ({ONE_OP})"], ["Assign 3 (Var 2)", "Store (Right 0) (Var 3)"]], []),
    (STEPS, f"__m512i v = _mm512_inserti32x4(_mm512_castsi128_si512(get(step[0].seed)), {ONE}, 1);",
     [["Assign 2 (Loadu (Seed 0))",
       f"Assign 3 (Op (mm512_inserti32x4 1) [:: Op mm512_castsi128_si512 [:: Var 2]; {ONE_OP}])"]], []),
    (WALK, f"__m128i v = _mm_set_epi64x((long long)seed.hi, (long long)seed.lo); {DOWN} {{ "
     "uint64_t c = a >> h << h, d = a >> (h - 1) & 1; v = _mm_set_epi64x((long long)d, (long long)c); "
     f"if (copath != ((void *)0)) put(&copath[h - 1], v); }} {RETURN}",
     [["Assign 4 (Op mm_set_epi64x [:: Var 1; Var 0])"], "loop",
      ["Assign 5 (Op shl64 [:: Op shr64 [:: Var 2; Counter 0]; Counter 0])",
       "Assign 6 (Op and64 [:: Op shr64 [:: Var 2; Counter 1]; Word 0x1])"],
      ["Assign 4 (Op mm_set_epi64x [:: Var 6; Var 5])"], ["Assign 7 (Var 4)", "StoreUnlessNull (Copath 1) (Var 7)"],
      "closing", ["Assign 5 (Var 4)", "Assign 3 (Var 5)"]], ["Var 3"]),
]
REFUSED = [  # function, body, error
    (STEPS, "__m128i v; put(step[0].left, v);", "before it is set"),
    (STEPS, "uint64_t c; __m128i v = _mm_set_epi64x((long long)c, 1);", "before it is set"),
    (STEPS, "__m128i v = _mm_set_epi64x(a, b);", "where long long is expected"),
    (STEPS, f"__m128i v = _mm_add_epi64({ONE}, {ONE});", "_mm_add_epi64 not known"),
    (STEPS, "__m128i v = _mm_aesdec_si128(get(step[0].seed), get(step[0].seed));", "_mm_aesdec_si128 not known"),
    (STEPS, f"__m128i v = _mm_xor_si128({ONE});", "1 arguments"),
    (STEPS, f"__m512i v = _mm512_xor_si512({ONE}, {ONE});", "__m128i where __m512i is expected"),
    (STEPS, f"__m512i v = {ONE};", "__m128i where __m512i is expected"),
    (STEPS, f"__m128i v = _mm_slli_si128({ONE}, 256);", "not a constant"),
    (STEPS, f"__m128i v = _mm_slli_si128({ONE}, a);", "not a constant"),
    (STEPS, f"__m128i v = {ONE} ^ {ONE};", "where uint64_t is expected"),
    (STEPS, "__m128i v = _mm_set1_epi32(0x100000000);", "not a constant"),
    (STEPS, "struct pprf_seed s = *step[0].seed;", "read by a load only"),
    (STEPS, "*step[0].left = (struct pprf_seed){a, b};", "only stored to"),
    (STEPS, "step[0].left->lo = a;", "half a seed"),
    (STEPS, "uint64_t c = step[0].seed->lo;", "half a seed"),
    (STEPS, "step[0].start = a;", "only read"),
    (STEPS, f"__m128i v = putting(&step[0], {ONE});", "within an expression"),
    (STEPS, "put(step[2].left, get(step[0].seed));", "not an index"),
    (STEPS, f"put((step + 1)[1].left, {ONE});", "not an index"),
    (STEPS, "__m128i v[2]; put(step[0].left, v[2]);", "not an index"),
    (STEPS, "__m128i v = _mm_set1_epi32(bytes[3]);", "not an index"),
    (STEPS, "bytes[0] = 1;", "only read"),
    (STEPS, "if (a) put(step[0].left, get(step[0].seed));", "a condition on uint64_t"),
    (STEPS, f"while (1) put(step[0].left, {ONE});", "expected"),
    (STEPS, "for (unsigned i = 3; i < 4; i -= 1) a ^= a;", "\\+\\+, -- or \\+= expected"),
    (STEPS, "for (unsigned i = 0; i < 3; i += b) a ^= a;", "a number expected"),
    (STEPS, "for (unsigned i = 0; i < 3; i += 0) a ^= a;", "a loop that long"),
    (STEPS, "uint64_t c = words[2];", "not an index"),
    (STEPS, "uint64_t c = _mm_cvtsi128_si64(_mm_set1_epi32(1));", "where uint64_t is expected"),
    (STEPS, "(void)f(a);", "expected"),
    (STEPS, "words[0] = a;", "only read"),
    (STEPS, "uint64_t c = a ^ 9223372036854775808;", "not a constant known here"),
    (STEPS, "uint64_t c = a ^ 0x7fffffffffffffff;", "not a constant known here"),
    (STEPS, "__m256i v = _mm256_set1_epi64x(a);", "where long long is expected"),
    (STEPS, "__m256i v = _mm256_slli_epi64(_mm256_set1_epi64x(1), a);", "not a constant"),
    (STEPS, "__m256i v = _mm256_add_epi64(_mm256_set1_epi64x(1), _mm256_set1_epi64x(1));",
     "_mm256_add_epi64 not known"),
    (STEPS, "for (unsigned i = 1; i > 0; i++) a ^= a;", "a loop that long"),
    (STEPS, "for (unsigned i = 3; i > 0; i--) a ^= a;", "not from height down to 1"),
    (STEPS, "uint64_t c = a << 64;", "as wide as its type"),
    (STEPS, "uint64_t c = a >> b;", "not known here"),
    (STEPS, "uint64_t c = a - b;", "not known here"),
    (STEPS, "unsigned c = a;", "where unsigned is expected"),
    (STEPS, "int c = 1 << 31;", "overflows"),
    (STEPS, "unsigned c = 3 % 0;", "% 0"),
    (STEPS, "uint64_t c = (uint64_t)step[0].left;", "uint64_t made of pointer"),
    (STEPS, "put((struct pprf_seed *)step[0].seed, get(step[0].seed));", "expected"),
    (STEPS, "__m128i v = _mm_loadu_si128((const __m128i *)(const void *)&a);", "\\* made of"),
    (STEPS, f"struct pprf_seed s; put(&s, {ONE}); uint64_t c = s.lo;", "before it is set"),
    (STEPS, "return a;", "a return too few or too many"),
    (STEPS, "a = b; return; a = b;", "expected"),
    (STEPS, "__asm__(\"\");", "no token"),
    (WALK, f"__m128i v = {ONE}; {DOWN} v = {ONE}; {DOWN} v = {ONE}; {RETURN}", "not the function's only one"),
    (WALK, f"__m128i v = {ONE}; for (unsigned h = 3; h > 0; h--) v = {ONE}; {RETURN}", "not from height down to 1"),
    (WALK, f"__m128i v = {ONE}; for (unsigned h = height; h > 1; h--) v = {ONE}; {RETURN}",
     "not from height down to 1"),
    (WALK, f"__m128i v = {ONE}; unsigned n = 0; {DOWN} n = n + 1; {RETURN}", "changes in the loop"),
    (WALK, f"__m128i v; {DOWN} {{ {DOWN} v = {ONE}; }} {RETURN}", "not the function's only one"),
    (WALK, f"__m128i v = {ONE}; {DOWN} put(&copath[h - 2], v); {RETURN}", "not known here"),
    (WALK, f"__m128i v = {ONE}; {DOWN} put(&copath[1], v); {RETURN}", "not at the counter"),
    (WALK, f"__m128i v = {ONE}; {DOWN} {{ if (copath != ((void *)0)) v = {ONE}; }} {RETURN}", "more than a store"),
    (WALK,
     f"__m128i v = {ONE}; unsigned n = 0; {DOWN} {{ if (copath != ((void *)0)) {{ put(&copath[h - 1], v); n = 1; }} "
     f"}} {RETURN}", "a number changes"),
    (WALK,
     f"__m128i v = {ONE}; {DOWN} {{ if (copath != ((void *)0)) put(&copath[h - 1], v); else v = {ONE}; }} {RETURN}",
     "more than a store"),
    (WALK, f"__m128i v = {ONE}; {DOWN} {{ if (copath == ((void *)0)) v = {ONE}; }} {RETURN}", "a pointer made of int"),
    (WALK, f"__m128i v = {ONE}; {DOWN} a = a << height; {RETURN}", "not known here"),
]


def parse(head, body):
    return vectors.Function(f"{STRUCTS}{HELPERS}{head} {{ {body} }}", head.split("(")[0].split()[-1])


def translated():
    for head, body, pieces, returned in TRANSLATED:
        try:
            function = parse(head, body)
            opening, loop, closing = function.parts
            got = (opening + (["loop"] + loop + ["closing"] + closing if loop or closing else []), function.returned)
        except keccak.Error as why:
            got = str(why)
        yield f"translated: {body}", got == (pieces, returned), str(got)


def refused():
    for head, body, want in REFUSED:
        try:
            got = str(parse(head, body).parts)
        except keccak.Error as why:
            got = f"error: {why}"
        yield f"refused: {body}", got.startswith("error: ") and re.search(want, got) is not None, got


def conditions():
    """A file of the tree with one line added, or one removed."""
    for source in vectors.CONDITIONS:
        with open(source, encoding="utf-8") as f:
            text = f.read()
        cut = "\n".join(line for k, line in enumerate(text.split("\n"))
                        if k != max(k for k, line in enumerate(text.split("\n")) if line.startswith("#if")))
        for what, changed in [("more", text + "#ifdef __clang__\n#endif\n"), ("less", cut)]:
            with tempfile.TemporaryDirectory() as tree:
                os.makedirs(os.path.join(tree, os.path.dirname(source)))
                with open(os.path.join(tree, source), "w", encoding="utf-8") as f:
                    f.write(changed)
                try:
                    got = vectors.conditions(tree, source)
                except keccak.Error as why:
                    got = str(why)
                yield f"conditions of {source}: one {what}", "conditions are not those" in (got or ""), str(got)


def header():
    """A header like gcc 14's, in which an AES intrinsic is a macro."""
    text = vectors.translate_aes(".")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "immintrin.h"), "w", encoding="utf-8") as f:
            f.write("#ifndef _IMMINTRIN_H_INCLUDED\n#define _IMMINTRIN_H_INCLUDED\n"
                    "#define _mm_aesenclast_si128(X, Y) ((__m128i)__builtin_of_its_own((__v2di)(X), (__v2di)(Y)))\n"
                    "#endif\n")
        os.environ["CPATH"] = folder
        try:
            got = vectors.translate_aes(".")
        except keccak.Error as why:
            got = str(why)
        del os.environ["CPATH"]
    yield "header: intrinsics that are macros", got == text, got


# ---- the functions ---------------------------------------------------------------------------------------

def pyca(seed, block):
    encryptor = Cipher(algorithms.AES(seed), modes.ECB()).encryptor()
    return encryptor.update(block) + encryptor.finalize()


def half(seed, salt, node, side):
    block = struct.pack("<2Q", node, side)
    return pyca(seed, bytes(a ^ b for a, b in zip(salt, block)))


def keccak_half(seed, _salt, _node, side):
    return hashlib.sha3_256(seed).digest()[16 * side:16 * side + 16]


def salted_half(seed, salt, node, side):
    return hashlib.sha3_256(seed + salt + struct.pack("<Q", node)).digest()[16 * side:16 * side + 16]


def words(s):
    return "; ".join(f"word {w}" for w in struct.unpack(f"<{len(s) // 8}Q", s))


def memory(seeds):
    return "(fun q => nth [::] [:: " + "; ".join(map(listed, seeds)) + "] (N.to_nat q))"


def shown(call, places):
    """The returned value, and afterwards the contents of memory, one after another."""
    return (f"Eval vm_compute in shown (omap (fun x => flatten x.1 ++ flatten [seq x.2 q | q <- "
            f"[:: {'; '.join(map(str, places))}]%num]) ({call})).\n")


KECCAK = [(f"opt_{suite}_{name}", int(name[-1]), suite == "salted") for suite in ("keccak", "salted")
          for name in ("avx2_x4", "avx512_x4", "avx512_x8")]


def run():
    numbers, cases = random.Random(197), []
    for name, n in [("opt_aes_ni_x4", 4), ("opt_aes_vaes_x4", 4)]:
        salt, seeds = numbers.randbytes(16), [numbers.randbytes(16) for _ in range(n)]
        nodes = [(numbers.randrange(2 ** 62), numbers.randrange(63)) for _ in range(n)]
        # a left child replaces the next step's seed, a right child goes elsewhere
        steps = [f"Step {k} {(k + 1) % n} {n + k} {start} {height}" for k, (start, height) in enumerate(nodes)]
        want = [half(seeds[k], salt, 2 * start + 2 ** height, side) for side in (0, 1)
                for k, (start, height) in enumerate(nodes)]
        want = want[n - 1:n] + want[:n - 1] + want[n:]
        cases.append((name,
                      shown(f"run {name} (Call [:: {'; '.join(steps)}]%num None 0) [:: {words(salt)}] {memory(seeds)}",
                                  range(2 * n)), b"".join(want)))
    for _ in range(1):
        seed, salt, node = numbers.randbytes(16), numbers.randbytes(16), numbers.randbytes(8)
        want = b"".join(half(seed, salt, struct.unpack("<Q", node)[0], side) for side in (0, 1)) + bytes(8)
        cases.append(("opt_aes_ni", shown(f"run opt_aes_ni (Call [::] None 0) [:: {words(seed + salt + node)}] "
                                          f"(fun _ => [::])", []), want))
    for name, a_half in [("opt_aes_ni_descend", half), ("opt_keccak_avx512_descend", keccak_half),
                         ("opt_salted_avx512_descend", salted_half)]:
        for height, copath in [(0, True), (1, False), (2, True)]:
            seed, salt, leaf = numbers.randbytes(16), numbers.randbytes(16), numbers.randrange(2 ** 63)
            own, siblings = seed, {}
            for h in range(height, 0, -1):
                node, side = 2 * (leaf >> h << h) + 2 ** h, leaf >> h - 1 & 1
                siblings[h - 1] = a_half(own, salt, node, 1 - side)
                own = a_half(own, salt, node, side)
            places = range(100, 100 + height) if copath else []
            call = f"(Call [::] {'(Some (fun k => N.of_nat (100 + k)))' if copath else 'None'} {height})"
            cases.append((f"{name} from height {height}",
                          shown(f"run {name} {call} [:: {words(seed + salt + struct.pack('<Q', leaf))}] "
                                f"(fun _ => [::])", places),
                          own + b"".join(siblings[p - 100] for p in places)))
    for name, n, salted in KECCAK:
        salt, seeds = numbers.randbytes(16), [numbers.randbytes(16) for _ in range(n)]
        nodes = [(numbers.randrange(2 ** 62), numbers.randrange(63)) for _ in range(n)]
        steps = [f"Step {k} {(k + 1) % n} {n + k} {start} {height}" for k, (start, height) in enumerate(nodes)]
        digests = [hashlib.sha3_256(seeds[k] + (salt + struct.pack("<Q", 2 * start + 2 ** height) if salted else b""))
                   .digest() for k, (start, height) in enumerate(nodes)]
        left, right = [d[:16] for d in digests], [d[16:] for d in digests]
        args = words(salt) if salted else ""
        cases.append((name, shown(f"run {name} (Call [:: {'; '.join(steps)}]%num None 0) [:: {args}] {memory(seeds)}",
                                  range(2 * n)), b"".join([left[n - 1], *left[:n - 1], *right])))
    for salted in (False, True):
        seed, salt, node = numbers.randbytes(16), numbers.randbytes(16), numbers.randbytes(8)
        name, args = ("opt_salted_avx512", seed + salt + node) if salted else ("opt_keccak_avx512", seed + node)
        want = hashlib.sha3_256(args if salted else seed).digest() + bytes(8)
        cases.append((name, shown(f"run {name} (Call [::] None 0) [:: {words(args)}] (fun _ => [::])", []), want))
    answers = keccak_test.coq("".join(query for _, query, _ in cases))
    for (name, _, want), a in zip(cases, answers):
        yield f"run {name}", a == list(want), f"{a}, not {list(want)}"
    yield "run_answers", len(answers) == len(cases), str(len(answers))


def main():
    if platform.machine() != "x86_64":
        parts = (undefined, translated, refused, conditions, header, run)
        print(f"# no intrinsics: {platform.machine()} has other instructions")
    else:
        parts = (intrinsics, undefined, translated, refused, conditions, header, run)
        print(f"# SEED={SEED}")
    results = [r for part in parts for r in part()]
    print(f"1..{len(results)}")
    for number, (name, good, got) in enumerate(results, 1):
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print("".join(f"# {line}\n" for line in got.splitlines()[:12]))
    sys.exit(not all(good for _, good, _ in results))


if __name__ == "__main__":
    main()
