#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A second reader of redacted documents, written from docs/redact.md alone: it shares no code with libpprf_redact.

Usage: redact_verify.py PUB.pem FILE [CONTEXT]   prints the shown parts, or why they are refused, with status 1"""
import bisect
import hashlib
import sys

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519


class Refused(Exception):
    """The bytes are no redacted document of this key and this context; the text says why."""


def demand(holds, why):
    if not holds:
        raise Refused(why)


class Cbor:
    """Reads integers, strings and arrays of deterministic CBOR (RFC 8949, 4.2.1), and nothing else."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, size, what):
        demand(size <= len(self.data) - self.at, f"the bytes end in {what}")
        self.at += size
        return self.data[self.at - size:self.at]

    def head(self, major, what):
        first = self.take(1, what)[0]
        demand(first >> 5 == major and first & 31 < 28, f"{what}: another type, or an indefinite length")
        if first & 31 < 24:
            return first & 31
        size = 1 << (first & 31) - 24
        value = int.from_bytes(self.take(size, what), "big")
        demand(value >= (24 if size == 1 else 1 << 4 * size), f"{what}: not the shortest head")
        return value

    def string(self, what, size=None, major=2):
        data = self.take(self.head(major, what), what)
        demand(size in (None, len(data)), f"{what} has {len(data)} bytes, not {size}")
        return data

    def runs(self, n, what):
        """Sorted, disjoint runs of parts that are not adjacent."""
        runs = []
        for _ in range(self.head(4, what)):
            demand(self.head(4, what) == 2, f"{what}: a run has two members")
            first, last = self.head(0, what), self.head(0, what)
            demand((not runs or first > runs[-1][1] + 1) and first <= last < n, f"{what}: {first}..{last} is no run")
            runs.append((first, last))
        return runs


def check_signature(pem, algorithm, signature, signed):
    key = serialization.load_pem_public_key(pem)
    try:
        if isinstance(key, ed25519.Ed25519PublicKey) and algorithm == b"ed25519":
            return key.verify(signature, signed)
        p256 = isinstance(key, ec.EllipticCurvePublicKey) and key.curve.name == "secp256r1"
        demand(p256 and algorithm == b"ecdsa-p256-sha256", "the key is of another algorithm than the statement")
        key.verify(signature, signed, ec.ECDSA(hashes.SHA256()))
    except InvalidSignature:
        raise Refused("the signature is not the key's") from None


def end_before(runs, part):
    """The end of the last run that begins at the part or before it; -1 if there is none."""
    i = bisect.bisect_left(runs, (part + 1, 0))
    return runs[i - 1][1] if i > 0 else -1


def salts(n, hidden, seeds, key_salt, start=0, height=40, seed=None):
    """The leaves of the maximal nodes all of whose leaves are shown, in the suite sha3-256-salted (docs/suites.md)."""
    last, half = start + (1 << height) - 1, 1 << height >> 1
    if seed is None and last < n and end_before(hidden, last) < start:
        seed = seeds.take(16, "seeds")
    if height == 0 and seed is not None:
        yield seed
    elif seed is not None or start < n and end_before(hidden, start) < min(last, n - 1):
        identity = (2 * start + 2 * half).to_bytes(8, "little")
        both = hashlib.sha3_256(seed + key_salt + identity).digest() if seed else None
        yield from salts(n, hidden, seeds, key_salt, start, height - 1, both and both[:16])
        yield from salts(n, hidden, seeds, key_salt, start + half, height - 1, both and both[16:])


def tree(first, n, hidden, known, leaf):
    """The root of RFC 9162 (2.1.1) over n entries from first; known has the roots of hidden subtrees, left to right."""
    if end_before(hidden, first) >= first + n - 1:
        return known.take(32, "hashes")
    if n == 1:
        return hashlib.sha256(b"\0" + leaf(first)).digest()
    left = 1 << (n - 1).bit_length() - 1
    sides = tree(first, left, hidden, known, leaf), tree(first + left, n - left, hidden, known, leaf)
    return hashlib.sha256(b"\1" + b"".join(sides)).digest()


def verify(pem, document, context=b""):
    """The shown parts, (number, bytes) each, if pem's key signed their document for this context."""
    c = Cbor(document)
    demand(c.head(4, "proof") == 5, "the proof has five members")
    s, signature = Cbor(c.string("statement")), c.string("signature")
    demand(len(s.data) <= 1 << 24 and len(signature) <= 72, "a statement or a signature that is too long")
    demand(s.head(4, "statement") == 11 and s.head(0, "version") == 1, "another version")
    kind, algorithm, *names = (s.string("name", None, 3) for _ in range(4))
    demand(kind in (b"lines", b"json") and names == [b"sha3-256-salted", b"sha-256"], "an unknown name")
    n, salt, key_salt, root = s.head(0, "n"), s.string("salt", 16), s.string("key salt", 16), s.string("root", 32)
    demand(1 <= n <= 1 << 40, f"n is {n}")
    required = s.runs(n, "required")
    demand(s.string("context") == context and len(context) <= 1 << 16, "a proof for another context, or too long a one")
    demand(s.at == len(s.data), "bytes after the statement")
    check_signature(pem, algorithm, signature, b"libpprf redact 1\0" + s.data)
    hidden, seeds, known = c.runs(n, "hidden"), Cbor(c.string("seeds")), Cbor(c.string("hashes"))
    demand(all(end_before(required, last) < first for first, last in hidden), "a required part is hidden")
    salt_of, shown = salts(n, hidden, seeds, key_salt), []

    def leaf(i):
        part = c.string(f"part {i}")
        line = part and (part[-1:] == b"\n" or i == n - 1) and b"\n" not in part[:-1]
        size = int.from_bytes(part[:4], "big")
        pointer_and_value = len(part) > 4 + size <= 4100 and part[4:4 + size][:1] in (b"", b"/")
        demand(line if kind == b"lines" else pointer_and_value, f"part {i} is not one of the kind {kind.decode()}")
        shown.append((i, part))
        return salt + next(salt_of) + i.to_bytes(8, "big") + len(part).to_bytes(8, "big") + part
    demand(tree(0, n, hidden, known, leaf) == root, "the parts are not those of the root")
    demand(all(x.at == len(x.data) for x in (seeds, known, c)), "bytes are left over")
    return shown


if __name__ == "__main__":
    try:
        with open(sys.argv[1], "rb") as key, open(sys.argv[2], "rb") as file:
            for _, text in verify(key.read(), file.read(), *(word.encode() for word in sys.argv[3:])):
                sys.stdout.buffer.write(text)
    except Refused as refused:
        sys.exit(f"redact_verify.py: {refused}")
