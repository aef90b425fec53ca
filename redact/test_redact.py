#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""TAP: redactable documents. The library is compared with a second implementation of the format, here and in
docs/redact_verify.py: trees by recursion from the root, salts by hashlib. BYTES=... sets the size of the large file."""
import ctypes
import itertools
import json
import os
import random
import re
import shlex
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import time
import unittest


class Memory:
    """OpenSSL's memory, which is the library's too: any request can fail, and what is freed is searched for secrets."""
    libc, left, secrets, found = ctypes.CDLL(None), -1, [], set()
    libc.malloc.restype = libc.realloc.restype = ctypes.c_void_p
    libc.malloc.argtypes, libc.malloc_usable_size.argtypes = [ctypes.c_size_t], [ctypes.c_void_p]
    libc.realloc.argtypes, libc.free.argtypes = [ctypes.c_void_p, ctypes.c_size_t], [ctypes.c_void_p]

    @classmethod
    def fails(cls):
        cls.left -= 1
        return cls.left == -1

    @classmethod
    def search_at(cls, at):
        data = ctypes.string_at(at, cls.libc.malloc_usable_size(at)) if at and cls.secrets else b""
        cls.found.update(name for name, secret in cls.secrets if secret in data)

    @classmethod
    def free(cls, at, *_):
        cls.search_at(at)
        cls.libc.free(at)

    @classmethod
    def install(cls, crypto):
        where = ctypes.c_char_p, ctypes.c_int
        cls.functions = (
            ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_size_t, *where)(
                lambda n, *_: None if cls.fails() else cls.libc.malloc(n)),
            ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_void_p, ctypes.c_size_t, *where)(
                lambda at, n, *_: None if cls.fails() else cls.search_at(at) or cls.libc.realloc(at, n)),
            ctypes.CFUNCTYPE(None, ctypes.c_void_p, *where)(cls.free))
        assert crypto.CRYPTO_set_mem_functions(*cls.functions) == 1
        crypto.OPENSSL_init_crypto(ctypes.c_uint64(0x80000), None)  # OPENSSL_INIT_NO_ATEXIT: no call after Python's end


CRYPTO = ctypes.CDLL("libcrypto.so.3")
Memory.install(CRYPTO)  # before hashlib and cryptography ask for memory
import hashlib  # noqa: E402

from cryptography.hazmat.primitives import hashes, serialization  # noqa: E402
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path[:0] = [os.path.join(TOP, "tools"), os.path.join(TOP, "docs")]
import redact_verify  # noqa: E402
import tap  # noqa: E402

B = os.path.join(TOP, os.environ.get("B", "build"))
PROGRAM = os.path.join(B, "pprf-redact")
LIB = ctypes.CDLL(os.path.join(B, "redact", "test.so"))
for function in (CRYPTO.BIO_new_mem_buf, CRYPTO.PEM_read_bio_PrivateKey, CRYPTO.PEM_read_bio_PUBKEY):
    function.restype = ctypes.c_void_p
LIB.pprf_redact_strerror.restype = ctypes.c_char_p
with open(os.path.join(HERE, "pprf_redact.h")) as header:
    ERR = {n: int(v) for n, v in re.findall(r"PPRF_REDACT_ERR_(\w+) = (\d+)", header.read())}
with open(os.path.join(TOP, "include", "pprf.h")) as header:
    GENERAL = {n: int(v) for n, v in re.findall(r"PPRF_ERR_(\w+) = (\d+)", header.read())}
NAMES = {0: "OK", **{v: n for n, v in (*GENERAL.items(), *ERR.items())}}
LINES, JSON = 1, 2


def structure(*fields):
    return type("Structure", (ctypes.Structure,), {"_fields_": [
        (name, kind) for kind, names in fields for name in names.split()]})


SIZE, NUMBER = ctypes.c_size_t, ctypes.c_uint64
Run = structure((NUMBER, "first last"))
TEXTS = ctypes.POINTER(ctypes.c_char_p)
Options = structure((SIZE, "size"), (ctypes.c_int, "kind"), (ctypes.c_char_p, "context"), (SIZE, "context_len"),
                    (ctypes.POINTER(Run), "required"), (SIZE, "required_count"), (TEXTS, "pointers"), (SIZE, "count"),
                    (TEXTS, "required_pointers"), (SIZE, "required_pointer_count"))
Piece = structure((NUMBER, "part hidden offset len"), (ctypes.c_void_p, "bytes"), (SIZE, "bytes_len"))
READ = ctypes.CFUNCTYPE(ctypes.c_int64, ctypes.c_void_p, NUMBER, ctypes.c_void_p, SIZE)
WRITE = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p, SIZE)
EACH = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.POINTER(Piece))


class Key:
    """A pair of keys: .sign by cryptography, .private and .public for the library."""

    def __init__(self, pair):
        self.ed, self.pair = isinstance(pair, ed25519.Ed25519PrivateKey), pair
        pem, kinds = serialization.Encoding.PEM, serialization
        self.private_pem = self.pair.private_bytes(pem, kinds.PrivateFormat.PKCS8, kinds.NoEncryption())
        self.public_pem = self.pair.public_key().public_bytes(pem, kinds.PublicFormat.SubjectPublicKeyInfo)
        self.private = self.load(CRYPTO.PEM_read_bio_PrivateKey, self.private_pem)
        self.public = self.load(CRYPTO.PEM_read_bio_PUBKEY, self.public_pem)

    @staticmethod
    def load(read, pem):
        return ctypes.c_void_p(read(ctypes.c_void_p(CRYPTO.BIO_new_mem_buf(pem, len(pem))), None, None, None))

    def sign(self, data):
        return self.pair.sign(data, *([] if self.ed else [ec.ECDSA(hashes.SHA256())]))


ED, P256 = Key(ed25519.Ed25519PrivateKey.generate()), Key(ec.generate_private_key(ec.SECP256R1()))

# ---- the library


def reader(data, later=None, turn=0):
    """Reads data; from call number `turn` on, counted from 0, later: other data, or a result."""
    calls = itertools.count()

    def read(_, offset, buf, n):
        now = data if next(calls) < turn or later is None else later
        if isinstance(now, int):
            return now
        got = now[offset:offset + n]
        ctypes.memmove(buf, got, len(got))
        return len(got)
    return READ(read)


def writer(out):
    def write(_, data, n):
        out.extend(ctypes.string_at(data, n))
        return 0
    return WRITE(write)


def runs_of(some):
    """The runs of a set of numbers: sorted, disjoint, not adjacent."""
    out = []
    for i in sorted(some):
        if out and out[-1][1] == i - 1:
            out[-1][1] = i
        else:
            out.append([i, i])
    return out


def c_runs(runs):
    return (Run * (len(runs) + 1))(*[Run(*r) for r in runs]), len(runs)


def c_texts(texts):
    return (ctypes.c_char_p * (len(texts) + 1))(*[t.encode() for t in texts]), len(texts)


def sign(text, kind=LINES, key=ED, context=b"", required=(), pointers=(), required_pointers=(), **change):
    out, where = bytearray(), NUMBER()
    options = Options(ctypes.sizeof(Options), kind, context, len(context), *c_runs(list(required)), *c_texts(pointers),
                      *c_texts(required_pointers))
    err = LIB.pprf_redact_sign(reader(text, **change), None, key.private, ctypes.byref(options), writer(out), None,
                               ctypes.byref(where))
    return bytes(out) if err == 0 else (NAMES.get(err, err), where.value)


def with_document(data, use, **change):
    """The result of opening, or of use(document)."""
    doc, read = ctypes.c_void_p(), reader(data, **change)
    err = LIB.pprf_redact_open(ctypes.byref(doc), read, None)
    result = NAMES.get(err, err)
    if err == 0:
        result = use(doc)
        LIB.pprf_redact_close(doc)
    return result


def check(data, key=ED, context=b"", **change):
    """The library's verdict: the shown parts, or an error."""
    def use(doc):
        err = LIB.pprf_redact_verify(doc, key.public, context, SIZE(len(context)))
        return NAMES.get(err, err) if err else shown_parts(doc)
    return with_document(data, use, **change)


def verify(data, key=ED, context=b""):
    """The library's verdict; the reader of docs/redact_verify.py must agree, and read the same parts."""
    got = check(data, key, context)
    try:
        read, why = b"".join(part for _, part in redact_verify.verify(key.public_pem, data, context)), ""
    except redact_verify.Refused as refused:
        read, why = None, refused
    if read != (got if isinstance(got, bytes) else None):
        raise AssertionError(f"the readers disagree: C {got!r}, Python {read!r} {why}: {data.hex()}")
    return "OK" if read is not None else got


def shown_parts(doc):
    """The shown parts, or an error."""
    out = []

    def each(_, piece):
        if piece[0].hidden == 0:
            out.append(ctypes.string_at(piece[0].bytes, piece[0].bytes_len))
        return 0
    err = LIB.pprf_redact_parts(doc, EACH(each), None)
    return NAMES.get(err, err) if err else b"".join(out)


def hide(data, runs, **change):
    def use(doc):
        out = bytearray()
        array, n = c_runs(runs)
        err = LIB.pprf_redact_hide(doc, array, SIZE(n), writer(out), None)
        return bytes(out) if err == 0 else NAMES.get(err, err)
    return with_document(data, use, **change)


# ---- the second implementation


def head(major, n):
    for extra, form in ((24, ">B"), (25, ">H"), (26, ">I"), (27, ">Q")):
        if n < 24:
            return bytes([major << 5 | n])
        if n < 1 << 8 * struct.calcsize(form):
            return bytes([major << 5 | extra]) + struct.pack(form, n)


def cbor(x):
    if isinstance(x, int):
        return head(0, x)
    if isinstance(x, (list, tuple)):
        return head(4, len(x)) + b"".join(map(cbor, x))
    return head(2, len(x)) + x if isinstance(x, bytes) else head(3, len(x)) + x.encode()


def uncbor(data, at=0):
    """An item and the offset after it."""
    major, n, at = data[at] >> 5, data[at] & 31, at + 1
    if n >= 24:
        size = 1 << n - 24
        n, at = int.from_bytes(data[at:at + size], "big"), at + size
    if major in (2, 3):
        return (data[at:at + n] if major == 2 else data[at:at + n].decode()), at + n
    items = []
    for _ in range(n if major == 4 else 0):
        item, at = uncbor(data, at)
        items.append(item)
    return (items if major == 4 else n), at


class Document:
    """A signed document, from the bytes of the whole one: nothing hidden."""

    def __init__(self, whole, key=ED):
        (statement, self.signature, _, seeds, _), at = uncbor(whole)
        self.fields, self.parts, self.key = uncbor(statement)[0], [], key
        while at < len(whole):
            part, at = uncbor(whole, at)
            self.parts.append(part)
        self.n, self.seeds, self.salts = self.fields[5], {}, {}
        given = [seeds[i:i + 16] for i in range(0, len(seeds), 16)]
        self.grow(0, 40, None, given)
        self.entries = [self.fields[6] + self.salts[i] + struct.pack(">QQ", i, len(p)) + p
                        for i, p in enumerate(self.parts)]
        self.fields[8] = self.root(0, self.n)

    def grow(self, start, height, seed, given):
        """All seeds of the tree above leaves < n: of the given, or derived."""
        if start >= self.n:
            return
        if seed is None and start + 2 ** height <= self.n:
            seed = given.pop(0)
        if seed is not None:
            self.seeds[start, height] = seed
        if height == 0:
            self.salts[start] = seed
            return
        both = b"" if seed is None else hashlib.sha3_256(
            seed + self.fields[7] + struct.pack("<Q", 2 * start + 2 ** height)).digest()
        self.grow(start, height - 1, both[:16] or None, given)
        self.grow(start + 2 ** (height - 1), height - 1, both[16:] or None, given)

    def root(self, start, end):
        return redact_verify.tree(start, end - start, [], None, self.entries.__getitem__)

    def cover(self, shown, start=0, height=40):
        if start >= self.n:
            return []
        if all(i in shown for i in range(start, min(start + 2 ** height, self.n + 1))):
            return [self.seeds[start, height]]
        return [] if height == 0 else self.cover(shown, start, height - 1) + self.cover(
            shown, start + 2 ** (height - 1), height - 1)

    def hashes(self, hidden, start, end):
        if all(i in hidden for i in range(start, end)):
            return [self.root(start, end)]
        if end - start == 1:
            return []
        k = 1 << (end - start - 1).bit_length() - 1
        return self.hashes(hidden, start, start + k) + self.hashes(hidden, start + k, end)

    def write(self, secret=(), **change):
        """The document's bytes; change: other values of what it is made of, signed anew."""
        secret = set(secret)
        shown = set(range(self.n)) - secret
        fields = list(self.fields)
        for i, value in change.get("fields", {}).items():
            fields[i] = value
        statement = change.get("statement", cbor(fields))
        signature = self.signature
        if "fields" in change or "statement" in change:
            signature = self.key.sign(b"libpprf redact 1\0" + statement)
        proof = [statement, signature, change.get("hidden", runs_of(secret)),
                 change.get("seeds", b"".join(self.cover(shown))),
                 change.get("hashes", b"".join(self.hashes(secret, 0, self.n)))]
        parts = change.get("parts", [p for i, p in enumerate(self.parts) if i in shown])
        return change.get("proof", cbor(proof)) + b"".join(map(cbor, parts))


def subsets(n):
    return itertools.chain.from_iterable(itertools.combinations(range(n), k) for k in range(n + 1))


def lines(n):
    return b"".join(b"line %d\n" % i * (i % 3 + 1) if i % 3 == 0 else b"%d\n" % i for i in range(n))


class Trees(unittest.TestCase):
    # the reference tree of certificate-transparency, cpp/merkletree/merkle_tree_test.cc
    LEAVES = ["", "00", "10", "2021", "3031", "40414243", "5051525354555657", "606162636465666768696a6b6c6d6e6f"]
    ROOTS = ["6e340b9cffb37a989ca544e6bb780a2c78901d3fb33738768511a30617afa01d",
             "fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125",
             "aeb6bcfe274b70a14fb067a5e5578264db0fa9b51af5e0ba159158f329e06e77",
             "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
             "4e3bbb1f7b478dcfe71fb631631519a3bca12c9aefca1612bfce4c13a86264d4",
             "76e67dadbcdf1e10e1b74ddc608abd2f98dfb16fbce75277b5232a127f2087ef",
             "ddb89be403809e325750d3d263cd78929c2942b7942a34b77e122c9594a74c8c",
             "5dc9da79a70659a9ad559cb701ded9a2ab9d823aad2f4960cfe370eff4604328"]

    def test_roots_are_those_of_certificate_transparency(self):
        for n, root in enumerate(self.ROOTS, 1):
            tree, out = ctypes.create_string_buffer(1 << 13), ctypes.create_string_buffer(32)
            LIB.redact_tree_open(tree, None, NUMBER(n))
            for i, leaf in enumerate(self.LEAVES[:n]):
                LIB.redact_tree_add(tree, NUMBER(i), NUMBER(i + 1), hashlib.sha256(bytes.fromhex("00" + leaf)).digest())
            LIB.redact_tree_root(tree, out)
            LIB.redact_tree_close(tree)
            self.assertEqual(out.raw.hex(), root)
            self.assertEqual(redact_verify.tree(0, n, [], None, lambda i: bytes.fromhex(self.LEAVES[i])).hex(), root)


class Documents(unittest.TestCase):
    def test_all_redactions_of_small_documents_are_those_of_the_second_implementation(self):
        for n in range(1, 7):
            whole = sign(lines(n))
            doc = Document(whole)
            self.assertEqual(whole, doc.write())
            once = {h: hide(whole, runs_of(h)) for h in subsets(n)}
            for h, redacted in once.items():
                self.assertEqual(redacted, doc.write(h), (n, h))
                self.assertEqual(verify(redacted), "OK", (n, h))
                for more in subsets(n):
                    union = tuple(sorted(set(h) | set(more)))
                    self.assertEqual(hide(redacted, runs_of(more)), once[union], (n, h, more))

    def test_random_redactions_are_those_of_the_second_implementation(self):
        rng = random.Random(SEED)
        for _ in range(30):
            n = rng.choice([rng.randrange(7, 70), rng.randrange(60, 300)])
            doc = Document(whole := sign(lines(n)))
            hidden = set()
            for _ in range(4):
                first = rng.randrange(n)
                run = first, min(n - 1, first + rng.choice([0, 1, rng.randrange(n)]))
                hidden |= set(range(run[0], run[1] + 1))
                whole = hide(whole, [run])
                self.assertEqual(whole, doc.write(hidden), (n, runs_of(hidden)))
            self.assertEqual(verify(whole), "OK")

    def test_a_bit_flipped_anywhere_is_refused(self):
        for key, hidden in ((ED, (1, 2)), (P256, (0,)), (ED, (0, 1, 2, 3))):
            data = Document(sign(lines(4), key=key, context=b"c", required=[]), key).write(hidden)
            self.assertEqual(verify(data, key, b"c"), "OK")
            for i in range(8 * len(data)):
                flipped = bytearray(data)
                flipped[i // 8] ^= 1 << i % 8
                self.assertNotEqual(verify(bytes(flipped), key, b"c"), "OK", (i // 8, i % 8))

    def test_a_document_cut_anywhere_is_refused(self):
        data = Document(sign(lines(5))).write((1, 4))
        for i in range(len(data)):
            self.assertIn(verify(data[:i]), ("SHORT", "CBOR"), i)

    def test_each_bad_document_is_refused_with_its_reason(self):
        doc, h = Document(sign(lines(6), required=[(3, 3)], context=b"c")), (1, 2, 5)
        good, parts = doc.write(h), [doc.parts[i] for i in (0, 3, 4)]
        self.assertEqual(verify(good, context=b"c"), "OK")
        seeds, digests = b"".join(doc.cover({0, 3, 4})), b"".join(doc.hashes(set(h), 0, 6))
        runs, last = cbor(runs_of(h)), cbor(parts[2])
        cases = [
            ("empty", "SHORT", b""), ("not CBOR", "CBOR", b"hello"), ("tagged", "CBOR", b"\xc1" + good),
            ("long head", "CBOR", good.replace(last, b"\x58" + bytes([len(parts[2])]) + parts[2])),
            ("indefinite length", "CBOR", good.replace(last, b"\x5f" + last + b"\xff")),
            ("six items", "CBOR", b"\x86" + good[1:]), ("two documents", "TRAILING", good + good),
            ("trailing byte", "TRAILING", good + b"\0"), ("a required part hidden", "REQUIRED", doc.write((3,))),
            ("a count that lies", "CBOR", good.replace(runs, b"\x9b" + b"\x01" * 8 + runs[1:])),
            ("a length that lies", "SEEDS", good.replace(cbor(seeds), b"\x5b\x00" + b"\xff" * 7 + seeds)),
            ("seeds as text", "CBOR", good.replace(cbor(seeds), head(3, len(seeds)) + seeds)),
            ("a length beyond the end", "SHORT", good[:-1]),
            ("73 bytes of signature", "LIMIT", good.replace(cbor(doc.signature), cbor(bytes(73)))),
            ("signature", "SIGNATURE", good.replace(doc.signature, bytes(64))),
            ("another's signature", "SIGNATURE", good.replace(doc.signature, P256.sign(b"")[:64]))]
        cases += [(name, reason, doc.write(h, **change)) for name, reason, change in (
            ("a part more", "TRAILING", {"parts": [*parts, b"x\n"]}), ("a part less", "SHORT", {"parts": parts[:2]}),
            ("parts swapped", "ROOT", {"parts": [parts[1], parts[0], parts[2]]}),
            ("a part changed", "ROOT", {"parts": [b"other\n", *parts[1:]]}),
            ("a hidden part shown", "HASHES", {"hidden": [[1, 2]], "parts": [*parts, doc.parts[5]]}),
            ("a hidden part shown, its hash left out", "ROOT",
             {"hidden": [[1, 2]], "parts": [*parts, doc.parts[5]], "hashes": digests[:64]}),
            ("a shown part hidden", "SEEDS", {"hidden": [[0, 2], [5, 5]], "parts": parts[1:]}),
            ("a seed changed", "ROOT", {"seeds": bytes(16) + seeds[16:]}),
            ("a hash changed", "ROOT", {"hashes": bytes(32) + digests[32:]}),
            ("a seed more", "SEEDS", {"seeds": seeds + bytes(16)}), ("seeds cut", "SEEDS", {"seeds": seeds[:-1]}),
            ("a hash less", "HASHES", {"hashes": digests[:-32]}),
            ("runs out of order", "RUNS", {"hidden": [[5, 5], [1, 2]]}),
            ("a run reversed", "RUNS", {"hidden": [[2, 1], [5, 5]]}),
            ("runs that overlap", "RUNS", {"hidden": [[1, 2], [2, 2], [5, 5]]}),
            ("adjacent runs", "RUNS", {"hidden": [[1, 1], [2, 2], [5, 5]]}),
            ("a run beyond n", "RUNS", {"hidden": [[1, 2], [5, 6]]}),
            ("a run of one number", "CBOR", {"hidden": [[1], [5, 5]]}),
            ("a member more", "CBOR", {"statement": cbor([*doc.fields, 0])}),
            ("statement too long", "CBOR", {"statement": cbor(doc.fields) + b"\0"}),
            ("statement not canonical", "CBOR", {"statement": b"\x8b\x18\x01" + cbor(doc.fields)[2:]}),
            ("a line feed inside", "PART", {"parts": [b"a\nb\n", *parts[1:]]}),
            ("no line feed", "PART", {"parts": [b"a", *parts[1:]]}),
            ("no bytes", "PART", {"parts": [b"", *parts[1:]]}))]
        cases += [((i, value), reason, doc.write(h, fields={i: value})) for i, value, reason in (
            (0, 2, "VERSION"), (1, "words", "KIND"), (1, "w" * 100, "KIND"), (2, "rsa", "ALGORITHM"),
            (4, "md5", "HASH"), (2, "ecdsa-p256-sha256", "KEY"), (3, "aes-128", "SUITE"), (3, "sha3-256", "SUITE"),
            (5, 0, "COUNT"), (5, 2**40 + 1, "COUNT"), (5, 2**40, "SEEDS"), (5, 5, "RUNS"), (6, bytes(17), "CBOR"),
            (6, bytes(16), "ROOT"),
            (8, bytes(32), "ROOT"), (9, [[3, 3], [0, 0]], "RUNS"), (9, [[3, 6]], "RUNS"),
            (9, [[3, 3, 3]], "CBOR"), (10, "c", "CBOR"),
            (10, b"d", "CONTEXT"), (10, b"", "CONTEXT"))]
        for name, reason, data in cases:
            self.assertEqual(verify(data, context=b"c"), reason, name)
            if reason not in ("CONTEXT", "SIGNATURE", "KEY"):  # which are the verifier's alone
                self.assertEqual(hide(data, []), reason, name)
        self.assertEqual(verify(doc.write(fields={7: bytes(16)}), context=b"c"), "ROOT", "another salt of the key")
        for size, reason in ((1 << 16, "OK"), (1 + (1 << 16), "LIMIT")):
            self.assertEqual(verify(doc.write(fields={10: bytes(size)}), context=bytes(size)), reason)
            got = sign(lines(1), context=bytes(size))
            self.assertEqual("OK" if isinstance(got, bytes) else got[0], reason.replace("LIMIT", "RANGE"))
        self.assertEqual(verify(good, P256, b"c"), "KEY")
        self.assertEqual(verify(good, Key(ed25519.Ed25519PrivateKey.generate()), b"c"), "SIGNATURE")

    def test_bad_json_parts_are_refused(self):
        doc = Document(sign(b'{"a":1}', JSON))
        for part in (b"", b"\0\0\0", b"\0\0\0\0", b"\0\0\0\2/a", b"\0\0\0\4/a1", b"\0\0\0\1a1", b"\xff\xff\xff\xff/a1",
                     b"\0\0\x10\1/" + bytes(4096) + b"1"):
            signed = Document(doc.write(parts=[part])).write(fields={})  # with a root of its own
            self.assertEqual(verify(signed), "PART", part)

    def test_a_required_part_cannot_be_hidden(self):
        whole = sign(lines(8), required=[(6, 6), (2, 3), (3, 4)])
        self.assertEqual(uncbor(uncbor(whole)[0][0])[0][9], [[2, 4], [6, 6]])
        for i in range(8):
            self.assertEqual(hide(whole, [(i, i)]) == "REQUIRED", i in (2, 3, 4, 6), i)
        self.assertEqual(hide(whole, [(0, 7)]), "REQUIRED")
        for run in ((3, 2), (8, 8), (0, 8)):
            self.assertEqual(hide(whole, [run]), "RUNS", run)
        self.assertEqual(sign(lines(8), required=[(8, 8)])[0], "RUNS")

    def test_a_file_that_changes_while_it_is_read_is_refused(self):
        for text in (lines(5), b"1\n" + b"x" * (600 << 10) + b"\ny"):
            for later in (b"", text[:-1], text[:-2], text + b"x", text + b"z\n" * 9, text.replace(b"1", b"2")):
                seen = set()
                for turn in range(1, 16):
                    got = sign(text, later=later, turn=turn)
                    seen.add(got[0] if isinstance(got, tuple) else "signed")
                    if isinstance(got, bytes):
                        self.assertIn(b"".join(Document(got).parts), (text, later))
                self.assertIn("CHANGED", seen, later)
                self.assertLessEqual(seen, {"CHANGED", "signed"}, later)
        whole = sign(lines(5))
        for use in (check, lambda *args, **change: hide(*args, [], **change)):
            seen = [use(whole, later=whole.replace(b"1\n", b"2\n"), turn=turn) for turn in range(1, 16)]
            self.assertIn("CHANGED", seen)
            self.assertTrue(all(got in ("CHANGED", "ROOT", whole, lines(5)) for got in seen), seen)

    def test_a_read_that_fails_ends_every_call(self):
        text = b"1\n" + b"x" * (600 << 10)
        whole = sign(text)
        for result in (-1, 1 << 40):
            for use, good in ((lambda **c: sign(text, **c), bytes), (lambda **c: check(whole, **c), text),
                              (lambda **c: hide(whole, [(0, 0)], **c), bytes)):
                for turn in itertools.count():
                    got = use(later=result, turn=turn)
                    if isinstance(got, bytes):
                        break
                    self.assertEqual(got if isinstance(got, str) else got[0], "READ", turn)
                self.assertGreater(turn, 4)

    def test_memory_that_runs_out_is_an_error(self):
        text = b'{"a":[1,2,{"b":null}],"c":"d"}'
        whole = sign(text, JSON, required_pointers=["/c"])
        for use in (lambda: sign(text, JSON, required_pointers=["/c"]), lambda: check(whole),
                    lambda: hide(whole, [(0, 1)])):
            good, seen = use(), set()
            for Memory.left in itertools.count():
                got = use()
                if Memory.left >= 0:
                    break
                if isinstance(got, bytes):  # OpenSSL did without
                    self.assertTrue(got == good or isinstance(check(got), bytes))
                else:
                    seen.add(got if isinstance(got, str) else got[0])
            Memory.left = -1
            self.assertIsInstance(got, bytes)
            self.assertLessEqual({"NOMEM"}, seen)
            self.assertLessEqual(seen, {"NOMEM", "CRYPTO", "KEY", "SIGNATURE"}, "OpenSSL does not say why it fails")

    def test_salts_are_wiped(self):
        """In memory that is freed, and on the stack once they are hashed."""
        whole = sign(lines(40))
        doc = Document(whole)
        salts = [("a salt", salt) for salt in doc.salts.values()]
        with open("/proc/self/maps") as maps:
            low, high = (int(x, 16) for x in re.search(r"(\S+)-(\S+) .*\[stack\]", maps.read()).groups())
        stack, mem, found = bytearray(high - low), os.open("/proc/self/mem", os.O_RDONLY), []
        self.addCleanup(os.close, mem)

        def each(_, piece):
            os.preadv(mem, [stack], low)
            found.append(doc.fields[6] + doc.salts[piece[0].part] in stack)
            return 0
        self.assertEqual(with_document(whole, lambda d: LIB.pprf_redact_parts(d, EACH(each), None)), 0)
        self.assertEqual(found, [False] * 40)
        Memory.found.clear()
        for use in (lambda: hide(whole, [(3, 9)]), lambda: check(whole)):
            Memory.secrets = salts
            use()
            Memory.secrets = []
        self.assertEqual(Memory.found, set())

    def test_keys_of_other_algorithms_are_refused(self):
        doc = Document(sign(lines(3), key=P256), P256)
        for pair in (ec.generate_private_key(ec.SECP256K1()), ec.generate_private_key(ec.SECP384R1()),
                     rsa.generate_private_key(65537, 2048)):
            key = Key(pair)
            self.assertEqual(sign(lines(3), key=key)[0], "KEY")
            self.assertEqual(verify(doc.write(), key), "KEY")
            if not isinstance(pair, rsa.RSAPrivateKey) and pair.key_size == 256:
                doc.key = key
                self.assertEqual(verify(doc.write(fields={}), key), "KEY")

    def test_arguments_out_of_range_and_answers_of_callbacks(self):
        doc, out = ctypes.c_void_p(1), WRITE(lambda *_: 7)

        def answer(**change):
            options = Options(size=ctypes.sizeof(Options), **change)
            return LIB.pprf_redact_sign(reader(b"1"), None, ED.private, ctypes.byref(options), out, None, None)
        self.assertEqual((LIB.pprf_redact_open(ctypes.byref(doc), None, None), doc.value), (GENERAL["NULL"], None))
        for change in ({"required_count": 1}, {"context_len": 1}, {"count": 1}, {"required_pointer_count": 1}):
            self.assertEqual(answer(kind=JSON, **change), GENERAL["NULL"], change)
        self.assertEqual(answer(kind=LINES), -1)
        for hidden in ((), (0,)):
            whole = Document(sign(lines(2))).write(hidden)
            self.assertEqual(with_document(whole, lambda doc: LIB.pprf_redact_parts(doc, EACH(lambda *_: 7), None)), -1)

    def test_lines_have_any_bytes_and_lengths(self):
        window = 256 << 10
        for text in (b"\n", b"x", b"\n\n", bytes(300) + b"\nlast", b"a" * window + b"\nb",
                     b"a" * (3 * window + 1) + b"\n", b"x\n" * window + b"y" * window):
            whole = sign(text)
            self.assertEqual(verify(whole), "OK")
            at, parts = uncbor(whole)[1], []
            while at < len(whole):
                part, at = uncbor(whole, at)
                parts.append(part)
            self.assertEqual(parts, re.findall(b"[^\n]*\n|[^\n]+$", text))
        self.assertEqual(sign(b""), ("EMPTY", 2**64 - 1))


class Json(unittest.TestCase):
    def split(self, text, pointers=()):
        """The pointer and value of each part."""
        whole = sign(text, JSON, pointers=pointers)
        if not isinstance(whole, bytes):
            return whole
        parts = ((part[4:], int.from_bytes(part[:4], "big")) for part in Document(whole).parts)
        return [(part[:n].decode(), part[n:].decode()) for part, n in parts]

    def number(self, x):
        out = ctypes.create_string_buffer(32)
        LIB.redact_number(ctypes.c_double(x), out)
        return out.value.decode()

    def test_the_numbers_of_rfc_8785_appendix_b(self):
        for line in """0000000000000000 0|8000000000000000 0|0000000000000001 5e-324|8000000000000001 -5e-324
7fefffffffffffff 1.7976931348623157e+308|ffefffffffffffff -1.7976931348623157e+308|4340000000000000 9007199254740992
c340000000000000 -9007199254740992|4430000000000000 295147905179352830000|44b52d02c7e14af5 9.999999999999997e+22
44b52d02c7e14af6 1e+23|44b52d02c7e14af7 1.0000000000000001e+23|444b1ae4d6e2ef4e 999999999999999700000
444b1ae4d6e2ef4f 999999999999999900000|444b1ae4d6e2ef50 1e+21|3eb0c6f7a0b5ed8c 9.999999999999997e-7
3eb0c6f7a0b5ed8d 0.000001|41b3de4355555553 333333333.3333332|41b3de4355555554 333333333.33333325
41b3de4355555555 333333333.3333333|41b3de4355555556 333333333.3333334|41b3de4355555557 333333333.33333343
becbf647612f3696 -0.0000033333333333333333|43143ff3c1cb0959 1424953923781206.2""".replace("\n", "|").split("|"):
            bits, text = line.split()
            self.assertEqual(self.number(struct.unpack(">d", bytes.fromhex(bits))[0]), text)

    def test_numbers_have_the_digits_that_python_gives_them(self):
        rng = random.Random(SEED)
        numbers = [2.0 ** e for e in range(-1074, 1024)] + [rng.randrange(10**6) / 1000 for _ in range(2000)]
        numbers += [x for x in (struct.unpack(">d", rng.randbytes(8))[0] for _ in range(20000)) if x - x == 0]
        for x in numbers:
            (text, digits) = (self.number(x), re.sub(r"e.*|[.-]", "", repr(x)).strip("0"))
            self.assertEqual(float(text), x)
            self.assertEqual(re.sub(r"e.*|[.-]", "", text).strip("0"), digits, x.hex())

    def test_the_examples_of_rfc_8785_3_2(self):
        text = rb"""{"numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
            "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/", "literals": [null, true, false]}"""
        self.assertEqual(self.split(text, [""])[0][1], r"""{"literals":[null,true,false],"numbers":[333333333.33333"""
                         r"""33,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}""")
        text = rb"""{"\u20ac": "Euro Sign", "\r": "Carriage Return", "\ufb33": "Hebrew Letter Dalet With Dagesh",
            "1": "One", "\ud83d\ude00": "Emoji: Grinning Face", "\u0080": "Control",
            "\u00f6": "Latin Small Letter O With Diaeresis"}"""
        self.assertEqual([json.loads(value) for _, value in self.split(text)], [
            "Carriage Return", "One", "Control", "Latin Small Letter O With Diaeresis", "Euro Sign",
            "Emoji: Grinning Face", "Hebrew Letter Dalet With Dagesh"])

    def test_names_are_sorted_by_utf_16_and_values_keep_their_meaning(self):
        rng = random.Random(SEED)
        alphabet = "a~/\"\\\n\x7f\x80é€\ud7ff\ue000\ufb33\uffff\U00010000\U0010ffff"
        for _ in range(200):
            names = ["".join(rng.choices(alphabet, k=rng.randrange(4))) for _ in range(8)]
            value = {name: rng.choice([1, -0.5, {}, [], [[], "x\0"], {"": None}]) for name in names}
            ordered = dict(sorted(value.items(), key=lambda item: item[0].encode("utf-16-be")))
            got = self.split(json.dumps(value, ensure_ascii=rng.random() < 0.5).encode(), [""])[0][1]
            self.assertEqual(got, json.dumps(ordered, ensure_ascii=False, separators=(",", ":")))
            for pointer, text in self.split(json.dumps(value).encode()):
                at = value
                for name in pointer.split("/")[1:]:
                    at = at[int(name) if isinstance(at, list) else name.replace("~1", "/").replace("~0", "~")]
                self.assertEqual(json.loads(text), at)

    def test_parts_are_values_or_what_a_pointer_names(self):
        text = b'{"b":[1,{"c":[]}],"a/~":{"x":{},"y":"z"}}'
        self.assertEqual(self.split(text), [("/a~1~0/x", "{}"), ("/a~1~0/y", '"z"'), ("/b/0", "1"), ("/b/1/c", "[]")])
        self.assertEqual(self.split(text, ["/b", "/a~1~0/x"])[2], ("/b", '[1,{"c":[]}]'))
        for pointers, where in ((["/b", "/b/1"], 1), (["/c"], 0), (["/b/2"], 0), (["b"], 0), (["/b/"], 0)):
            self.assertEqual(self.split(text, pointers), ("POINTER", where), pointers)
        self.assertEqual(self.split(b"7"), [("", "7")])

    def test_bad_json_is_refused(self):
        for text in (b"", b"{", b"1 2", b'"\xff"', b'"\\ud800"', b"1e999", b"NaN", b"[1\0,2]", b"1\0"):
            self.assertEqual(self.split(text)[0], "JSON", text)
        for text, where in ((b'[0,{"%s":1}]' % (b"k" * 4094), 1), (b'{"%s":[1]}' % (b"~" * 2047), 0)):
            self.assertEqual(self.split(text), ("LIMIT", where))
            self.assertEqual(verify(sign(text.replace(b"kk", b"k", 1).replace(b"~~", b"~", 1), JSON)), "OK")
        for text in (b'{"a":1,"a":2}', b'{"a":{"b":1,"\\u0062":2}}'):
            self.assertEqual(self.split(text)[0], "DUPLICATE", text)

    def test_json_documents_are_those_of_the_second_implementation(self):
        text = b'{"b":[1,{"c":[]}],"a":{"x":{},"y":"z"}}'
        whole = sign(text, JSON, P256, required_pointers=["/b/1"])
        doc = Document(whole, P256)
        for h in subsets(4):
            self.assertEqual(hide(whole, runs_of(h)), "REQUIRED" if 3 in h else doc.write(h), h)
        self.assertEqual(verify(doc.write((0, 1, 2)), P256), "OK")


class Program(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.TemporaryDirectory(prefix="pprf-redact-")
        self.addCleanup(self.dir.cleanup)
        for name, data in (("key", ED.private_pem), ("pub", ED.public_pem), ("text", lines(9))):
            self.put(name, data)

    def put(self, name, data):
        with open(os.path.join(self.dir.name, name), "wb") as f:
            f.write(data)

    def run_it(self, args, status=0, data=None, limit=""):
        """Run pprf-redact, its arguments separated by spaces; its output, or what it says of an error."""
        done = subprocess.run(["sh", "-c", limit + 'exec "$@"', "sh", PROGRAM, *shlex.split(args)], cwd=self.dir.name,
                              input=data, check=False, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, status, done.stderr)
        self.errors = done.stderr.decode()
        if status != 0:
            self.assertEqual(done.stdout, b"")
        return done.stdout if status == 0 else self.errors

    def test_lines_are_hidden_by_number_from_1_and_by_expression(self):
        self.run_it("sign --key key --context c --require 9 text -o signed")
        with open(os.path.join(self.dir.name, "signed"), "rb") as f:
            doc = Document(f.read())
        for args, hidden in (("--lines 3,5..6", (2, 4, 5)), ("--lines 1 --match ^[47]$", (0, 4, 7)),
                             ("--match line", (0, 3, 6))):
            self.assertEqual(self.run_it(f"redact {args} signed"), doc.write(hidden))
        redacted = self.run_it("redact --lines 2..8 -", data=doc.write((2,)))
        self.assertEqual(redacted, doc.write(range(1, 8)))
        self.assertEqual(self.run_it("show --pub pub --context c -", data=redacted),
                         doc.parts[0] + b"[7 lines hidden]\n" + doc.parts[8])
        marks = sign(b"[2 lines hidden]\n\\[\nx\n [\n\xff[\x1b\n")
        self.assertEqual(self.run_it("show --pub pub -", data=hide(marks, [(2, 2)])),
                         b"\\[2 lines hidden]\n\\\\[\n[1 lines hidden]\n [\n\xff[\x1b\n")
        self.assertIn(b"2 of 9 lines shown", self.run_it("verify --pub pub --context c -", data=redacted))
        self.assertEqual(self.run_it("show signed"), lines(9))
        self.assertIn("NOT VERIFIED", self.errors)
        self.put("zero", b"[1\0,2]")
        self.put("json", b"[1]")
        self.put("large", b"\x85\x5a\x7f\xff\xff\xff")
        self.put("secret", ED.pair.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8,
                                                 serialization.BestAvailableEncryption(b"phrase")))
        os.truncate(os.path.join(self.dir.name, "large"), 1 << 31)
        self.put("long", sign(b"\n" + bytes(1 + (16 << 20))))
        names = os.listdir(self.dir.name)
        for line in """redact --lines 9 signed | 2 | required part cannot be hidden: line 9
redact --lines 2,4..10 signed | 1 | signed: it has no line 10: its last is 9
redact --lines 0 signed | 1 | from 1
redact --lines 3..2 signed | 1 | from 1
redact --match nothing signed | 1 | no shown part
redact --match ( signed | 1 | regular expression
redact signed | 1 | nothing to hide
redact --pointer /a signed | 1 | lines
verify --pub pub signed | 2 | another context
verify signed | 1 | --pub
verify --pub key signed | 2 | no public key
verify --pub pub text | 2 | CBOR
sign --key pub text | 2 | no private key
sign --key key none | 2 | No such file
sign --key key text -o /none/x | 4 | No such file
sign --key key -o bad - | 2 | empty file
redact --lines 1 -o none/x signed | 4 | No such file
sign --key secret text | 2 | encrypted
sign --key key --json zero | 2 | not JSON: byte 3
sign --key key --json --pointer /0 --pointer /2 json | 2 | no part: --pointer '/2'
sign --key key --json --pointer /0 --require /0 --require /b json | 2 | no part: --require '/b'
redact --match x long | 4 | longer than 16 MiB: line 2
verify --pub pub large | 2 | longer than the format allows""".splitlines():
            args, status, says = line.split(" | ")
            self.assertIn(says, self.run_it(args, int(status), b"", "ulimit -v 90000; "), args)
        self.assertEqual(os.listdir(self.dir.name), names)

    def test_a_regular_expression_that_fails_is_an_error(self):
        rng = random.Random(SEED)
        self.put("text", b"x\n" + bytes(rng.choices(b"ab", k=400000)) + b"aSmith\n")
        self.run_it("sign --key key text -o signed")
        limit = "ulimit -v 40000; "
        redacted = self.run_it("redact --match x|(a|b)*a.*Smith signed", limit=limit)
        self.assertEqual(self.run_it("show -", data=redacted), b"[2 lines hidden]\n")
        says = self.run_it("redact --match 'x|(a|b)*a(a|b){16}.*Smith' signed -o out", 4, limit=limit)
        self.assertIn("line 2", says)
        self.assertNotIn("out", os.listdir(self.dir.name))

    def test_an_output_keeps_its_kind_and_mode(self):
        def path(name):
            return os.path.join(self.dir.name, name)
        for name, mode in (("private", 0o600), ("shared", 0o664)):
            self.put(name, b"old")
            os.chmod(path(name), mode)
        if os.geteuid() == 0:
            os.chown(path("shared"), 7, 8)
        os.symlink("private", path("link"))
        os.symlink("nothing", path("dangling"))
        os.mkfifo(path("fifo"))
        for name in ("new", "link", "shared"):
            self.run_it(f"sign --key key text -o {name}", limit="umask 027; ")
        self.run_it("sign --key key text -o dangling", 4)
        stats = {name: os.stat(path(name)) for name in ("new", "private", "shared")}
        self.assertEqual({name: oct(s.st_mode & 0o7777) for name, s in stats.items()},
                         {"new": "0o640", "private": "0o600", "shared": "0o664"})
        if os.geteuid() == 0:
            self.assertEqual((stats["shared"].st_uid, stats["shared"].st_gid), (7, 8))
        self.assertTrue(os.path.islink(path("link")))
        with open(path("private"), "rb") as f:
            self.assertEqual(verify(f.read()), "OK")
        self.assertIn("standard output: No space left on device",
                      self.run_it("sign --key key text", 4, limit="exec > /dev/full; "))
        self.assertIn("long: File too large",
                      self.run_it("sign --key key text -o long", 4, limit="trap '' XFSZ; ulimit -f 0; "))
        self.assertIn("/: Is a directory", self.run_it("sign --key key /", 2))
        self.assertEqual(verify(self.run_it("sign --key key text -o -")), "OK")
        fifo = os.open(path("fifo"), os.O_RDONLY | os.O_NONBLOCK)  # no device: a bug would replace the system's
        self.addCleanup(os.close, fifo)
        self.run_it("sign --key key text -o fifo")
        self.assertEqual(verify(os.read(fifo, 1 << 16)), "OK")
        got = self.run_it("sign --key key -", limit="exec < text; dd bs=1 count=7 of=skipped status=none; ")
        self.assertEqual(b"".join(Document(got).parts), lines(9)[7:])
        self.assertNotIn("-", os.listdir(self.dir.name))

    def test_no_file_gets_the_number_of_a_closed_stream(self):
        for limit in ("exec <&- >&-; ", "exec >&- 2>&-; ", "exec <&- >&- 2>&-; "):
            self.run_it("sign --key key text -o closed", limit=limit)
            with open(os.path.join(self.dir.name, "closed"), "rb") as f:
                self.assertEqual(verify(f.read()), "OK")
            os.remove(os.path.join(self.dir.name, "closed"))
            self.run_it("sign --key key text", 4, limit=limit)
            self.assertFalse([name for name in os.listdir(self.dir.name) if name.startswith("closed")])

    def test_an_output_is_synced_or_removed(self):
        names = sorted(os.listdir(self.dir.name))
        with open(os.path.join(self.dir.name, "endless"), "wb") as f:
            f.truncate(1 << 40)
        for number in (signal.SIGTERM, signal.SIGHUP):  # nohup ignores it
            with subprocess.Popen([PROGRAM, "sign", "--key", "key", "endless", "-o", "out"], cwd=self.dir.name,
                                  preexec_fn=lambda n=number: signal.signal(n, signal.SIG_DFL)) as run:
                while not any(name.startswith("out.") for name in os.listdir(self.dir.name)):
                    self.assertIsNone(run.poll())
                    time.sleep(0.01)
                time.sleep(0.1)
                run.send_signal(number)
                self.assertEqual(run.wait(), -number)
        os.remove(os.path.join(self.dir.name, "endless"))
        self.assertEqual(sorted(os.listdir(self.dir.name)), names)
        if shutil.which("strace") is None:
            self.skipTest("not installed: strace")
        limit = 'set -- strace -qq -o log -e inject=fsync:error=EIO "$@"; '
        says = self.run_it("sign --key key text -o out", 4, limit=limit)
        self.assertIn("Input/output error", says)
        os.remove(os.path.join(self.dir.name, "log"))
        self.assertEqual(sorted(os.listdir(self.dir.name)), names)

    def test_a_document_that_fails_is_not_shown(self):
        doc = Document(sign(lines(9)))
        self.assertIn("wrong hash", self.run_it("show --pub pub -", 2, doc.write(parts=[*doc.parts[:8], b"x\n"])))

    def test_values_are_hidden_by_pointer(self):
        self.put("j", b'{"b":[1,{"c":[]}],"a":{"x":{},"y":"z"},"bb":3}')
        doc = Document(self.run_it("sign --key key --json --pointer /b/1 --require /a/x j"))
        self.assertEqual(doc.parts[3][4:], b'/b/1{"c":[]}')
        for args, hidden in (("--pointer /b", (2, 3)), ("--match [z3]", (1, 4)),
                             ("--pointer /bb --pointer /a/y", (1, 4))):
            self.assertEqual(self.run_it(f"redact {args} -", data=doc.write()), doc.write(hidden))
        self.assertEqual(self.run_it("show -", data=doc.write((1, 2))),
                         b'/a/x: {}\n[2 values hidden]\n/b/1: {"c":[]}\n/bb: 3\n')
        self.assertIn("required", self.run_it("redact --pointer /a -", 2, doc.write()))
        name = "\n\x7f\x80\x9f\xa0\\: b:c:"
        marks = sign(json.dumps({name: name, "c" * 4000: "\xc2\x80"}).encode(), JSON)
        self.assertEqual(self.run_it("show --pub pub -", data=marks).decode(),
                         r"/\u000a\u007f\u0080\u009f" "\xa0" r"\u005c\u003a b:c:: "
                         r'"\n\u007f\u0080\u009f' "\xa0" r'\\: b:c:"' f'\n/{"c" * 4000}: "\xc2' r'\u0080"' "\n")
        self.assertIn("no shown part", self.run_it("redact --pointer /a/y -", 1, doc.write((1,))))
        self.assertIn("--pointer", self.run_it("redact --lines 1 -", 1, doc.write()))

    def test_a_large_file_takes_little_memory(self):
        size = int(os.environ.get("BYTES", "50000000"))
        block = b"".join(b"%06d %s\n" % (i, b"x" * (i * 7919 % 1500)) for i in range(2000))
        with open(os.path.join(self.dir.name, "large"), "wb") as f:
            for _ in range(size // len(block) + 1):
                f.write(block)
        limit = "ulimit -v 90000; "  # kB, of addresses
        self.run_it("sign --key key large -o signed", limit=limit)
        self.run_it("redact --lines 2..60000,60002 signed -o redacted", limit=limit)
        self.assertIn(b"good", self.run_it("verify --pub pub redacted", limit=limit))
        self.assertIn("out of memory", self.run_it("sign --json --key key large", 4, limit=limit))


def fuzz(target, seconds):
    """Runs of the fuzzer on documents signed with its key, whose parts it knows."""
    with tempfile.TemporaryDirectory() as folder:
        run = [target, f"-seed={SEED % 10**9 + 1}", "-max_len=4096", "-artifact_prefix=" + folder + "/",
               "-max_total_time=%d" % seconds if seconds else "-runs=20000", folder]
        done = subprocess.run(run, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    print(f"1..1\n# SEED={SEED} repeats this run")
    print(("" if done.returncode == 0 else "not ") + "ok 1 - hostile documents are refused, or are what was signed")
    print("".join("# " + line + "\n" for line in done.stdout.splitlines()[-20:] if done.returncode), end="")
    return done.returncode


SEED = int(os.environ.get("SEED") or random.randrange(10**9))
if __name__ == "__main__":
    if sys.argv[1:2] == ["--fuzz"]:
        sys.exit(fuzz(sys.argv[2], int((sys.argv[3:] or ["0"])[0])))
    print(f"# SEED={SEED} repeats this run")
    sys.exit(tap.run((Trees, Documents, Json, Program), sys.argv[1:]))
