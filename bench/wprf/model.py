#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The weak PRF of docs/wprf.md from its definition, and TAP tests: the model and each form give the values of
VECTORS, the bias is what the document says, and the machine code of the form without tables is in constant time."""
import ctypes
import fractions
import hashlib
import itertools
import math
import pathlib
import platform
import struct
import subprocess
import sys

TOP = pathlib.Path(__file__).resolve().parents[2]
VECTORS = "fcfea57b45266aa659a633871ee58dd5c6e31f1c6f5ed95716fb2d01a28de8fb"


def shake(text, size):
    return hashlib.shake_128(text.encode()).digest(size)


def bits(data):
    return [byte >> i & 1 for byte in data for i in range(8)]


def matrix():
    stream = iter(bits(shake("libpprf wprf R", 8192)))
    pairs = (low + 2 * high for low, high in zip(stream, stream))
    trits = (trit for trit in pairs if trit != 3)
    return [list(itertools.islice(trits, 256)) for _ in range(81)]


R = matrix()


def wprf(key, x):
    """81 trits from 64 and 32 bytes."""
    k, x = bits(key), bits(x)
    y = [sum(k[256 + i - j] * x[j] for j in range(256)) % 2 for i in range(256)]
    return [sum(a * b for a, b in zip(row, y)) % 3 for row in R]


def number(trits, size):
    return sum(t * 3 ** i for i, t in enumerate(trits)) % 2 ** size


def children(key):
    inputs = shake("libpprf wprf inputs", 9 * 32)
    return number([t for c in range(9) for t in wprf(key, inputs[32 * c:32 * c + 32])], 1024)


class Version(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("form", ctypes.c_void_p), ("needs", ctypes.c_char_p)]


def words(data):
    return (ctypes.c_uint64 * (len(data) // 8))(*struct.unpack("<%dQ" % (len(data) // 8), data))


def compiled(library, version):
    """The functions of a form in C, as vectors() wants them."""
    form = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(version.form)
    buffer, result = words(bytes(32)), words(bytes(128))

    def both(key, x):
        form(words(key), words(x), buffer)
        msb, lsb = (buffer[i] | buffer[i + 1] << 64 for i in (0, 2))
        library.wprf_number(buffer, 1, result, 2)
        return ([{3: 0, 2: 1, 1: 2}[2 * (msb >> r & 1) + (lsb >> r & 1)] for r in range(81)],
                result[0] | result[1] << 64)

    def expand(key):
        library.wprf_expand(form, words(key), result)
        return sum(word << 64 * i for i, word in enumerate(result))
    return both, expand


def vectors(both=lambda key, x: (wprf(key, x), number(wprf(key, x), 128)), expand=children):
    data = shake("libpprf wprf vectors", 64 * 96)
    pairs = [(data[i:i + 64], data[i + 64:i + 96]) for i in range(0, len(data), 96)]
    text = repr([both(*pair) for pair in pairs] + [expand(key) for key, _ in pairs[:4]])
    return shake(text, 32).hex()


def distance(outcomes, values):
    """From uniform, of n mod values for uniform n below outcomes: r values have q + 1 preimages."""
    q, r = divmod(outcomes, values)
    return r * (fractions.Fraction(q + 1, outcomes) - fractions.Fraction(1, values))


def tests():
    """(result, claim); None: skipped"""
    yield vectors() == VECTORS, "the model's values have the digest VECTORS"
    library = ctypes.CDLL(str(TOP / "build/bench/wprf/wprf.so"))
    library.wprf_setup()
    for version in (Version * 7).in_dll(library, "wprf_versions"):
        same = VECTORS == vectors(*compiled(library, version)) if library.wprf_usable(ctypes.byref(version)) else None
        yield same, "the model's values: " + version.name.decode()
    page = (TOP / "docs/wprf.md").read_text()
    said = ("%.4f" % distance(3 ** 81, 2 ** 128), "2^%.1f" % math.log2(distance(3 ** 729, 2 ** 1024)))
    yield all(figure in page for figure in said), "docs/wprf.md has the bias: %s and %s" % said
    least = min(sum(max(0, fractions.Fraction(1, 8) - fractions.Fraction(m.count(v), 9)) for v in range(8))
                for m in itertools.combinations_with_replacement(range(8), 9))  # maps of two trits to three bits
    yield least == distance(9, 8), "no map of two trits to three bits has less bias than the remainder"
    flow = platform.machine() == "x86_64" and subprocess.run(
        [sys.executable, TOP / "equivalence-tests/secrets/vector_flow.py", TOP / "build/bench/wprf/wprf.o",
         "clmul_vpopcnt"], stdout=subprocess.DEVNULL, check=False)
    yield flow.returncode == 0 if flow else None, "no branch and no address of clmul_vpopcnt depends on key or input"


def main():
    failed = 0
    for n, (ok, claim) in enumerate(tests(), 1):
        skip = " # SKIP not on this processor" * (ok is None)
        print("%sok %d - %s%s" % ("not " * (ok is False), n, claim, skip))
        failed += ok is False
    print("1..%d" % n)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
