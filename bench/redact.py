#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Redacted documents beside SD-JWT and a Merkle tree with a random salt for each part: bytes of proof, and times.

Usage: redact.py LIBRARY FOLDER OUT.json [ROUNDS [MB]]   FOLDER has the package sd-jwt; 0 rounds: only the first case
The bytes of a proof are all bytes of a file but those of the parts that it shows, the same number for all three.  The
library is called in this process; the two others are Python.  Inputs come from a fixed seed."""
import hashlib
import importlib.util
import itertools
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time

from cryptography.hazmat.primitives import serialization as pem
from cryptography.hazmat.primitives.asymmetric import ed25519

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "docs"))
from redact_verify import Cbor, end_before, tree  # noqa: E402

KEY = ed25519.Ed25519PrivateKey.generate()
PRIVATE = KEY.private_bytes(pem.Encoding.PEM, pem.PrivateFormat.PKCS8, pem.NoEncryption())
PUBLIC = KEY.public_key().public_bytes(pem.Encoding.PEM, pem.PublicFormat.SubjectPublicKeyInfo)


def timed(call, *words):
    """What a call returns, and its CPU time in seconds."""
    start = time.process_time()
    made = call(*words)
    return made, time.process_time() - start


def text_of(data, major=2):
    """A CBOR string; of a number, its head only."""
    value, body = (data, b"") if isinstance(data, int) else (len(data), data)
    size = next(size for size, end in ((0, 24), (1, 1 << 8), (2, 1 << 16), (4, 1 << 32), (8, 1 << 64)) if value < end)
    more = value.to_bytes(size, "big") if size else b""
    return bytes([major << 5 | (23 + size.bit_length() if size else value)]) + more + body


class Merkle:
    """RFC 9162's tree over parts, each with a random salt of 16 bytes; in CBOR, like libpprf_redact's documents."""

    def __init__(self, parts):
        self.parts, self.salts, self.n = parts, [os.urandom(16) for _ in parts], len(parts)
        self.statement = self.n.to_bytes(8, "big") + tree(0, self.n, [], None, self.leaf)
        self.signature = KEY.sign(self.statement)

    def leaf(self, i):
        return self.salts[i] + self.parts[i]

    def hashes(self, runs, first, n):
        """Those of the maximal hidden subtrees, left to right."""
        if end_before(runs, first) >= first + n - 1:
            return tree(first, n, [], None, self.leaf)
        if end_before(runs, first + n - 1) < first:
            return b""
        left = 1 << (n - 1).bit_length() - 1
        return self.hashes(runs, first, left) + self.hashes(runs, first + left, n - left)

    def redact(self, runs):
        """The document's bytes, and the hashes in it."""
        shown, hashes = [i for i in range(self.n) if end_before(runs, i) < i], self.hashes(runs, 0, self.n)
        proof = [text_of(5, 4), text_of(self.statement), text_of(self.signature), text_of(len(runs), 4)]
        proof += [text_of(2, 4) + text_of(a, 0) + text_of(b, 0) for a, b in runs]
        proof += [text_of(b"".join(self.salts[i] for i in shown)), text_of(hashes)]
        return b"".join(proof + [text_of(self.parts[i]) for i in shown]), hashes

    def verify(self, runs, hashes):
        KEY.public_key().verify(self.signature, self.statement)
        assert tree(0, self.n, runs, Cbor(hashes), self.leaf) == self.statement[8:]


def runs_of(parts):
    firsts, lasts = sorted(p for p in parts if p - 1 not in parts), sorted(p for p in parts if p + 1 not in parts)
    return list(zip(firsts, lasts))


def sd_jwt(named, hidden):
    """Issue, present and verify with the package; elements of an array, or claims if the parts have names."""
    from jwcrypto.jwk import JWK
    from sd_jwt.common import SDObj
    from sd_jwt.holder import SDJWTHolder
    from sd_jwt.issuer import SDJWTIssuer
    from sd_jwt.verifier import SDJWTVerifier
    key = JWK.from_pem(PRIVATE)
    if isinstance(named, dict):
        claims = {SDObj(name): value for name, value in named.items()}
        shown = {name: True for i, name in enumerate(named) if i not in hidden}
    else:
        claims = {"parts": [SDObj(part.decode()) for part in named]}
        shown = {"parts": [i not in hidden for i in range(len(named))]}
    issued, sign = timed(lambda: SDJWTIssuer(claims, key, sign_alg="EdDSA").sd_jwt_issuance)
    holder = SDJWTHolder(issued)
    _, redact = timed(holder.create_presentation, shown)
    _, verify = timed(SDJWTVerifier, holder.sd_jwt_presentation, lambda *_: key)
    return {"file": len(holder.sd_jwt_presentation), "sign": sign, "redact": redact, "verify": verify}


def cases():
    """(name, parts as their bytes or by name, the hidden ones)."""
    draw = random.Random(52)
    claims = {f"claim_{i:04}": f"{draw.getrandbits(80):020x}" for i in range(1000)}
    every = set(range(50, 1000, 100))
    yield "1 000 claims, 10 hidden", claims, every
    yield "1 000 claims, 10 shown", claims, set(range(1000)) - every
    address = [b"%d.%d.%d.%d\n" % tuple(draw.randbytes(4)) for _ in range(100000)]
    entry = [b'- - [30/Nov/2026:%02d:%02d:%02d +0000] "GET /%x HTTP/1.1" %d %d\n' % (
        i // 4167, i // 70 % 60, i % 60, draw.getrandbits(48), draw.choice((200, 200, 304, 404)), draw.randrange(50000))
        for i in range(100000)]
    yield "log, 100 000 entries, each address a line before its entry", [line for both in zip(address, entry)
                                                                         for line in both], set(range(0, 200000, 2))
    yield "the same log, all addresses first", address + entry, set(range(100000))
    for size in (935, 10000, 100000, 585000):
        name = f"conversation of {size:,} B".replace(",", " ")
        text = draw.randbytes(size).hex().encode()
        request, rest = text[:399] + b"\n", size - 400
        records = [request] + [text[at:min(at + 16384, rest) - 1] + b"\n" for at in range(0, rest, 16384)]
        yield f"{name}, records, the request hidden", records, {0}
        chunks = [text[at:min(at + 16, size) - 1] + b"\n" for at in range(0, size, 16)]
        places = [8] + [len(chunks) * quarter // 4 for quarter in (1, 2, 3)]
        yield f"{name}, chunks of 16 B, 4 runs of 4 hidden", chunks, {
            at + i for at in places for i in range(4) if at + i < len(chunks)}


def measure(redact, name, named, hidden, with_sd_jwt):
    is_json = isinstance(named, dict)
    parts = [len(f"/{key}").to_bytes(4, "big") + f'/{key}"{value}"'.encode() for key, value in named.items()] \
        if is_json else named
    document = json.dumps(named).encode() if is_json else b"".join(parts)
    signed, sign = timed(lambda: redact.sign(document, PRIVATE, kind="json" if is_json else "lines"))
    runs = runs_of(hidden)
    left, hide = timed(lambda: redact.redact(signed, parts=[range(a, b + 1) for a, b in runs]))
    row = {"case": name, "parts": len(parts), "hidden": len(hidden),
           "shown_bytes": sum(len(part) for i, part in enumerate(parts) if i not in hidden)}
    row["pprf"] = {"file": len(left), "sign": sign, "redact": hide, "verify": timed(redact.verify, left, PUBLIC)[1]}
    made, sign = timed(Merkle, parts)
    (left, hashes), hide = timed(made.redact, runs)
    row["merkle"] = {"file": len(left), "sign": sign, "redact": hide, "verify": timed(made.verify, runs, hashes)[1]}
    if with_sd_jwt:
        row["sd-jwt"] = sd_jwt(named, hidden)
    return row


def speeds(redact, rounds, megabytes):
    """MB/s of verifying parts of 1 kB; of openssl speed on 1 kB; and of one digest of the same bytes, in turns."""
    found = {"verify": [], "openssl": [], "digest": []}
    with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
        text = b"".join(random.Random(i).randbytes(1023).replace(b"\n", b" ") + b"\n" for i in range(1000 * megabytes))
        file.write(redact.sign(text, PRIVATE))
        file.flush()
        for _ in range(rounds):
            found["verify"].append(len(text) / 1e6 / timed(redact.verify, file.name, PUBLIC)[1])
            said = subprocess.run(["openssl", "speed", "-mr", "-seconds", "1", "-bytes", "1024", "sha256"], check=True,
                                  capture_output=True, text=True).stdout
            found["openssl"].append(float(re.search(r"\+F:\d+:sha256:([\d.]+)", said)[1]) / 1e6)
            found["digest"].append(len(text) / 1e6 / timed(hashlib.sha256, text)[1])
    return found


def main(library, folder, out, rounds="5", megabytes="100"):
    os.environ["PPRF_REDACT_LIBRARY"] = library
    spec = importlib.util.spec_from_file_location(
        "redact", pathlib.Path(__file__).resolve().parent.parent / "bindings" / "python" / "pprf" / "redact.py")
    redact = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(redact)
    sys.path.insert(0, folder)
    there = importlib.util.find_spec("sd_jwt") is not None
    if not there:
        print(f"redact.py: SD-JWT is left out: the package is not in {folder}", file=sys.stderr)
    rows = [measure(redact, *case, there) for case in itertools.islice(cases(), None if int(rounds) else 1)]
    speed = speeds(redact, int(rounds), int(megabytes)) if int(rounds) else {}
    with open(out, "w", encoding="utf-8") as file:
        json.dump({"rounds": int(rounds), "rows": rows, "speed": speed}, file, indent=1)


if __name__ == "__main__":
    main(*sys.argv[1:])
