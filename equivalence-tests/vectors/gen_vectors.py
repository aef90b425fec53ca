#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Known-answer vectors for the GGM puncturable PRF, computed only with Python's hashlib and PyCA's
cryptography. A node is a string of path bits ('' is the root, '0' its left child), a key a
dictionary from nodes to seeds: nothing here shares code or data structures with the C
implementations.

  gen_vectors.py          write vectors/*.json beside this file
  gen_vectors.py --check  exit 1 if a committed file differs from what would be written, or does
                          not match vectors/schema.json"""
import copy
import hashlib
import hmac
import json
import os
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

HERE = os.path.dirname(os.path.abspath(__file__))
OUT = HERE


# ------------------------------------------------------------------ the function itself

def sha3(data):
    return hashlib.sha3_256(data).digest()


def prg(seed):
    digest = sha3(seed)
    return digest[:16], digest[16:]


def aes(key, block):
    return Cipher(algorithms.AES(key), modes.ECB()).encryptor().update(block)


def prg_bare(seed, salt, node_id):
    return prg(seed)


def prg_salted(seed, salt, node_id):
    return prg(seed + salt + node_id.to_bytes(8, "little"))


def prg_aes(seed, salt, node_id):
    def block(side):
        plain = node_id.to_bytes(8, "little") + bytes([side]) + bytes(7)
        return bytes(a ^ b for a, b in zip(plain, salt))
    return aes(seed, block(0)), aes(seed, block(1))


def expand_with_label(secret, label, context, length):
    """RFC 9420, 8, with HKDF-Expand (RFC 5869) of SHA-256."""
    def vector(data):  # below 64 bytes; RFC 9420, 2.1.2
        return bytes([len(data)]) + data
    info = length.to_bytes(2, "big") + vector(b"MLS 1.0 " + label) + vector(context)
    out = block = b""
    for number in range(1, -(-length // 32) + 1):
        block = hmac.digest(secret, block + info + bytes([number]), "sha256")
        out += block
    return out[:length]


def prg_mls(seed):
    """RFC 9420, 9: the tree of secrets."""
    return tuple(expand_with_label(seed, b"tree", side, 32) for side in (b"left", b"right"))


SUITES = {"sha3-256": (1, prg_bare), "sha3-256-salted": (2, prg_salted), "aes-128": (3, prg_aes),
          "mls-sha256": (4, lambda seed, salt, node_id: prg_mls(seed))}


def path(depth, leaf):
    return format(leaf, "0%db" % depth)


class Punctured(Exception):
    pass


class Key:
    def __init__(self, depth, seed, suite="sha3-256", salt=bytes(16)):
        self.depth, self.nodes, self.salt = depth, {"": seed}, salt
        self.suite, self.prg = SUITES[suite]

    def children(self, node, seed):
        return self.prg(seed, self.salt, self.in_order_id(node))

    def covering(self, leaf):
        bits = path(self.depth, leaf)
        for end in range(self.depth + 1):
            if bits[:end] in self.nodes:
                return bits[:end], bits
        raise Punctured

    def eval(self, leaf):
        node, bits = self.covering(leaf)
        seed = self.nodes[node]
        for at in range(len(node), self.depth):
            seed = self.children(bits[:at], seed)[int(bits[at])]
        return seed

    def punct(self, leaf):
        node, bits = self.covering(leaf)
        seed = self.nodes.pop(node)
        for at in range(len(node), self.depth):
            children = self.children(bits[:at], seed)
            bit = int(bits[at])
            self.nodes[bits[:at] + str(1 - bit)] = children[1 - bit]
            seed = children[bit]

    def span(self, node):
        low = int(node + "0" * (self.depth - len(node)), 2) if self.depth else 0
        return low, low + (1 << (self.depth - len(node))) - 1

    def punct_range(self, first, last):
        hit = [n for n in self.nodes if self.span(n)[0] <= last and self.span(n)[1] >= first]
        if not hit:
            raise Punctured
        for node in hit:
            self.remove(node, self.nodes.pop(node), first, last)

    def remove(self, node, seed, first, last):
        """Store what remains of the subtree `node` without the leaves first..last."""
        low, high = self.span(node)
        if first <= low and high <= last:
            return
        if last < low or high < first:
            self.nodes[node] = seed
            return
        for bit, child in zip("01", self.children(node, seed)):
            self.remove(node + bit, child, first, last)

    def delegate(self, first, last):
        """The key of the nodes, as large as possible, whose leaves all lie in first..last."""
        part = copy.copy(self)
        part.nodes = {}
        for node, seed in self.nodes.items():
            part.keep(node, seed, first, last)
        if not part.nodes:
            raise Punctured
        return part

    def keep(self, node, seed, first, last):
        """Store what of the subtree `node` lies in first..last."""
        low, high = self.span(node)
        if first <= low and high <= last:
            self.nodes[node] = seed
        elif low <= last and first <= high:
            for bit, child in zip("01", self.children(node, seed)):
                self.keep(node + bit, child, first, last)

    def in_order_id(self, node):
        return 2 * self.span(node)[0] + (1 << (self.depth - len(node)))

    def records(self):
        return [(i, s) for i, s in sorted((self.in_order_id(n), s) for n, s in self.nodes.items())]

    def encode(self):
        if self.suite == 1 and self.depth <= 32:
            return encode(self.depth, self.records())
        return encode2(self.depth, self.records(), self.suite, self.salt)


def encode(depth, records, magic=b"PPRFKEY", version=1, prg_id=1, reserved=b"\0\0", count=None,
           width=None, order="little", tail=b"", digest=sha3):
    width = depth // 8 + 1 if width is None else width
    count = len(records) if count is None else count
    head = magic + bytes([version, prg_id, depth]) + reserved + count.to_bytes(4, order)
    body = b"".join(i.to_bytes(width, order) + s for i, s in records)
    return head + body + tail + digest(head + body + tail)


def encode2(depth, records, suite, salt, version=2, magic=b"PPRFKEY", reserved=b"\0\0", count=None,
            width=None, tail=b"", digest=sha3):
    width = depth // 8 + 1 if width is None else width
    count = len(records) if count is None else count
    head = magic + bytes([version, suite, depth]) + reserved + count.to_bytes(8, "little") + salt
    body = b"".join(i.to_bytes(width, "little") + s for i, s in records)
    return head + body + tail + digest(head + body + tail)


# ------------------------------------------------------------------ deterministic choices

def noise(label, count=16):
    return hashlib.shake_256(b"libpprf vectors: " + label.encode()).digest(count)


def number(label, below):
    return int.from_bytes(noise(label, 16), "big") % below


# ------------------------------------------------------------------ the files

DEEP = (33, 48, 63)  # depths beyond those of version 1 of the key file


def prg_file():
    tests = []
    for comment, seed in [("all zero", bytes(16)), ("all one", b"\xff" * 16),
                          ("counting", bytes(range(16))),
                          ("first bit", b"\x80" + bytes(15)), ("last bit", bytes(15) + b"\x01"),
                          ("first byte 1", b"\x01" + bytes(15))] + \
            [("random %d" % i, noise("prg %d" % i)) for i in range(26)]:
        left, right = prg(seed)
        tests.append({"comment": comment, "seed": seed.hex(), "left": left.hex(),
                      "right": right.hex()})
    return {"kind": "prg", "tests": tests}


# The MLS working group's secret-tree.json: cipher suite 1, 8 leaves, the handshake keys of
# generation 15.
MLS_ENCRYPTION_SECRET = "01d0e99e8944f05e1ffba9c55a924aa3263fc2f736804ca6e18abebd9cfcf2a0"
MLS_HANDSHAKE_KEYS = [
    "8e82d0c1ad6f44ac65465658be9365f4", "5714795d8279239141e01bfdb63c6404",
    "9dd7f19524d431a40d100312bb458f5f", "5bcb0fb1deaaf4c28497a15dfc89caf9",
    "f55bbd7b4e6bffbf301505ac059d84ba", "6eeacee4bf60ece22e2f25149cd80705",
    "aab3051b872a6f79a4956e554754842d", "06aaa2796346525ff90d138ee3d368f7"]


def mls_handshake_key(leaf):
    """RFC 9420, 9.1, from the secret of a leaf."""
    secret = expand_with_label(leaf, b"handshake", b"", 32)
    for generation in range(15):
        secret = expand_with_label(secret, b"secret", generation.to_bytes(4, "big"), 32)
    return expand_with_label(secret, b"key", (15).to_bytes(4, "big"), 16)


def wide_file():
    tests = []

    def test(comment, seed):
        left, right = prg_mls(seed)
        tests.append({"comment": comment, "seed": seed.hex(), "left": left.hex(), "right": right.hex()})
        return left, right

    for comment, seed in [("all zero", bytes(32)), ("all one", b"\xff" * 32), ("counting", bytes(range(32))),
                          ("first bit", b"\x80" + bytes(31)), ("last bit", bytes(31) + b"\x01"),
                          ("as HMAC's inner pad", b"\x36" * 32), ("as its outer pad", b"\x5c" * 32)] + \
            [("random %d" % i, noise("wide %d" % i, 32)) for i in range(26)]:
        test(comment, seed)
    level = [bytes.fromhex(MLS_ENCRYPTION_SECRET)]
    for depth in range(3):
        level = [child for i, node in enumerate(level)
                 for child in test("secret-tree.json, level %d, node %d" % (depth, i), node)]
    if [mls_handshake_key(leaf).hex() for leaf in level] != MLS_HANDSHAKE_KEYS:
        sys.exit("gen_vectors.py: not the MLS working group's handshake keys")
    return {"kind": "wide", "tests": tests}


def eval_file():
    groups = []
    for depth in [*range(1, 33), *DEEP]:
        for k, seed in enumerate([noise("eval seed %d" % depth)] + ([bytes(16)] * (depth == 8))):
            key = Key(depth, seed)
            last = (1 << depth) - 1
            leaves = {0, last, last // 2, last // 2 + 1, 1, last - 1}
            leaves |= {1 << b for b in range(depth)} if depth in (3, 8, 32, 63) else set()
            leaves |= {number("eval %d %d %d" % (depth, k, i), last + 1) for i in range(4)}
            leaves = set(range(last + 1)) if depth <= 4 else leaves
            groups.append({"depth": depth, "seed": seed.hex(),
                           "tests": [{"leaf": x, "value": key.eval(x).hex()}
                                     for x in sorted(leaves)]})
    return {"kind": "eval", "groups": groups}


def run(key, operation):
    """Apply one operation [name, leaf...] and return it with its result."""
    name, arguments = operation[0], operation[1:]
    done = {"op": name}
    if name in ("range", "delegate"):
        done["first"], done["last"] = arguments
    else:
        done["leaf"], = arguments
    limit = 1 << key.depth
    try:
        if any(a >= limit for a in arguments) or arguments[0] > arguments[-1]:
            done["result"] = "range"
            return done
        if name in ("eval", "eval_punct"):
            done["value"] = key.eval(*arguments).hex()
        if name in ("punct", "eval_punct"):
            key.punct(*arguments)
        if name == "range":
            key.punct_range(*arguments)
        if name == "delegate":
            done["key"] = key.delegate(*arguments).encode().hex()
        done["result"] = "ok"
    except Punctured:
        done.pop("value", None)
        done["result"] = "punctured"
    return done


def delegations(depth):
    """Ranges of a key are made keys of their own, before it is punctured and after that."""
    last = (1 << depth) - 1
    a, b = sorted(number("delegate %d %d" % (depth, i), last + 1) for i in range(2))
    ranges = [(0, last), (1, last - 1), (a, b), (0, b), (a, a), (last, 0)]
    ranges += [(last, last + 1)] if depth < 63 else []
    some = [["delegate", *r] for r in ranges]
    return [*some, ["punct", a], ["range", b // 2, b // 2 + last // 8], *some]


def puncture_file():
    groups = []

    def group(comment, depth, operations):
        seed = noise("puncture %s %d" % (comment, depth))
        key = Key(depth, seed)
        done = [run(key, o) for o in operations]
        groups.append({"comment": comment, "depth": depth, "seed": seed.hex(), "operations": done,
                       "nodes": len(key.nodes), "key": key.encode().hex()})

    for depth in [*range(1, 33), *DEEP]:
        last = (1 << depth) - 1
        group("nothing punctured", depth, [])
        group("first leaf", depth, [["punct", 0], ["eval", 0], ["punct", 0], ["eval", last]])
        group("last leaf", depth, [["eval_punct", last], ["eval_punct", last], ["eval", 0]])
        group("everything at once", depth, [["range", 0, last], ["range", 0, last],
                                            ["punct", last], ["eval", 0]])
        if depth < 63:  # with 63 bits every number is a leaf, and some JSON readers know no greater numbers
            group("out of the tree", depth, [["punct", last + 1], ["eval", last + 1],
                                             ["eval_punct", (1 << max(40, depth)) + 1], ["range", 0, last + 1],
                                             ["range", last, last - 1]])
    for depth in (1, 2, 3, 4):
        leaves = range(1 << depth)
        group("all ascending", depth, [["eval_punct", x] for x in leaves])
        group("all descending", depth, [["punct", x] for x in reversed(leaves)])
    for depth in (2, 4, 6, 7, 8):
        evens = range(0, 1 << depth, 2)
        group("worst case: every second leaf", depth, [["punct", x] for x in evens])
        group("worst case by odd leaves, descending", depth,
              [["eval_punct", x + 1] for x in reversed(evens)])
    for depth in (5, 8, 15, 16, 23, 24, 31, 32, *DEEP):
        size = 1 << depth
        pick = [number("random %d %d" % (depth, i), size) for i in range(12)]
        group("random leaves", depth, [["eval_punct" if i % 3 else "punct", x]
                                       for i, x in enumerate(pick)])
        group("neighbours", depth, [["punct", x ^ (1 << b)] for x in pick[:1]
                                    for b in range(depth)] + [["punct", pick[0]]])
        group("one leaf as a range", depth, [["range", pick[0], pick[0]], ["punct", pick[0]],
                                             ["range", pick[0], pick[0]]])
        group("left half", depth, [["range", 0, size // 2 - 1], ["eval", size // 2]])
        group("all but the ends", depth, [["range", 1, size - 2], ["eval", 0],
                                          ["eval", size - 1], ["eval", 1]])
        group("across the middle", depth, [["range", size // 2 - 1, size // 2],
                                           ["eval", size // 2 + 1]])
        a, b = sorted(pick[1:3])
        c, e = sorted(pick[3:5])
        group("overlapping ranges", depth, [["range", a, b], ["range", c, e], ["punct", a],
                                            ["range", min(a, c), max(b, e)],
                                            ["eval", min(a, c)], ["range", a, b]])
        group("ranges after leaves", depth, [["punct", x] for x in pick[5:9]] +
              [["range", *sorted(pick[6:8])], ["eval_punct", pick[9]]])
    for depth in (1, 2, 3, 7, 8, 15, 16, 31, 32, *DEEP):
        group("delegated ranges", depth, delegations(depth))
    group("every range delegated", 3, [["punct", 3], ["punct", 4]] +
          [["delegate", a, b] for a in range(8) for b in range(a, 8)])
    for depth in (3, 6):
        size = 1 << depth
        for first in range(0, size, 1 if depth == 3 else 13):
            for last in range(first, size, 1 if depth == 3 else 11):
                group("range %d..%d" % (first, last), depth, [["range", first, last]])
    group("64-leaf blocks", 16, [["range", 64 * i, 64 * i + 63] for i in (0, 2, 3, 1023, 512)] +
          [["range", 4096, 8191], ["punct", 64], ["punct", 127], ["punct", 8192],
           ["range", 4095, 8193]])
    return {"kind": "puncture", "groups": groups}


def encoding_file():
    tests = []

    def wrong(reason, key):
        tests.append({"reason": reason, "result": "format", "key": key.hex()})

    def right(reason, key):
        tests.append({"reason": reason, "result": "ok", "key": key.hex()})

    seed = noise("encodings")
    fresh = Key(8, seed)
    punctured = Key(8, seed)
    punctured.punct(5)
    good, rec = punctured.encode(), punctured.records()
    right("one leaf of depth 8", good)
    right("a root", fresh.encode())
    right("no node", encode(8, []))
    right("no node, depth 32", encode(32, []))
    right("the last leaf of depth 32 alone", encode(32, [((1 << 33) - 1, seed)]))
    right("a zero seed", encode(8, [(1, bytes(16))]))
    # A decoder cannot see whether a key's seeds come from one root: such files are valid keys.
    right("unrelated seeds", encode(2, [(1, noise("a")), (6, noise("b"))]))
    right("the same seed twice", encode(2, [(1, seed), (6, seed)]))

    wrong("empty", b"")
    for size in (1, 7, 8, 15, 16, 17, 31, 32, 47, 48, len(good) - 33, len(good) - 32,
                 len(good) - 1):
        wrong("truncated to %d bytes" % size, good[:size])
        if 16 <= size != len(good) - 32:
            wrong("truncated to %d bytes and a right digest" % size, good[:size] +
                  sha3(good[:size]))
    wrong("a byte after the digest", good + b"\0")
    wrong("a byte before the digest", encode(8, rec, tail=b"\0"))
    wrong("a record before the digest that n does not count",
          encode(8, rec, count=len(rec) - 1))
    wrong("n counts a record that is not there", encode(8, rec, count=len(rec) + 1))
    wrong("n = 0 with records", encode(8, rec, count=0))
    wrong("no node and a byte", encode(8, [], tail=b"\0"))
    wrong("twice the same file", good + good)
    for i in range(7):
        magic = bytearray(b"PPRFKEY")
        magic[i] ^= 0x20
        wrong("magic, byte %d" % i, encode(8, rec, magic=bytes(magic)))
    for v in (0, 2, 255):
        wrong("version %d" % v, encode(8, rec, version=v))
        wrong("PRG %d" % v, encode(8, rec, prg_id=v))
    for i, r in enumerate([b"\1\0", b"\0\1", b"\x80\0", b"\0\x80"]):
        wrong("reserved bytes %s" % r.hex(), encode(8, rec, reserved=r))
    for d in (0, 33, 64, 255):
        wrong("depth %d" % d, encode(d, [], width=1))
        wrong("depth %d with a root" % d, encode(d, [(1, seed)], width=d // 8 + 1))
    wrong("depth 0 with its one leaf", encode(0, [(1, seed)]))
    wrong("depth 9: a child of the root, then the root",
          encode(9, [(i, s) for i, s in fresh.records()] + [(512, seed)]))
    wrong("records as wide as those of depth 7 at depth 8", encode(8, [(1, seed)], width=1))
    wrong("records as wide as those of depth 8 at depth 7", encode(7, [(1, seed)], width=2))
    wrong("big-endian ids and count", encode(8, rec, order="big"))
    wrong("n = 2 at depth 1: siblings", encode(1, [(1, seed), (3, seed)]))
    wrong("n = 3 at depth 2", encode(2, [(1, seed), (3, seed), (5, seed)]))
    wrong("n = 2^32 - 1 and no record", encode(32, [], count=(1 << 32) - 1))
    wrong("n = 2^31 and no record", encode(32, [], count=1 << 31))
    # n (w + 16) is correct modulo 2^32, and n <= 2^(d-1)
    for d, w in ((32, 21), (31, 20), (16, 19)):
        for extra in range(1, 64):
            if w % 2:
                n = extra * pow(w, -1, 1 << 32) % (1 << 32)
            else:
                n = ((1 << 32) + extra * w) // w
            size = n * w % (1 << 32)
            if n <= 1 << (d - 1) and size < 64 and n > 63:
                # The ids that a decoder reads before it passes the file's end are in order.
                for leaf in range(1, 1 << 14, 2):
                    tail = (leaf.to_bytes(w - 16, "little") + noise("tail", 64))[:size]
                    wrap = encode(d, [], count=n, tail=tail)
                    second = wrap[16 + w:16 + w + w - 16]
                    if leaf + 2 < int.from_bytes(second, "little") < 1 << (d + 1):
                        break
                wrong("length right modulo 2^32 at depth %d, n = %d" % (d, n), wrap)
                break
    wrong("id 0", encode(8, [(0, seed)]))
    wrong("id 0 first of two", encode(8, [(0, seed), (5, seed)]))
    for d in (1, 2, 7, 8, 15, 16, 31, 32):
        w = d // 8 + 1
        top = (1 << (8 * w)) - 1
        for i in sorted({1 << (d + 1), (1 << (d + 1)) + 1, 3 << d, top}):
            if (1 << (d + 1)) <= i <= top:
                wrong("id %d at depth %d: out of the tree" % (i, d), encode(d, [(i, seed)]))
                wrong("id %d at depth %d: out of the tree, last of two" % (i, d),
                      encode(d, [(1, seed), (i, seed)]))
    for d in (3, 8, 32):
        size = 1 << d
        wrong("depth %d: one leaf twice" % d, encode(d, [(5, seed), (5, seed)]))
        wrong("depth %d: descending" % d, encode(d, [(9, seed), (5, seed)]))
        wrong("depth %d: root then a leaf below it" % d, encode(d, [(size, seed), (size + 1, seed)]))
        wrong("depth %d: a leaf then the root above it" % d,
              encode(d, [(1, seed), (size, seed)]))
        wrong("depth %d: first leaf then its parent" % d, encode(d, [(1, seed), (2, seed)]))
        wrong("depth %d: parent then its second leaf" % d, encode(d, [(2, seed), (3, seed)]))
        wrong("depth %d: a node and its left child's right child" % d,
              encode(d, [(3, seed), (4, seed)]))
        wrong("depth %d: sibling leaves 0 and 1" % d, encode(d, [(1, seed), (3, seed)]))
        wrong("depth %d: the last two leaves" % d,
              encode(d, [(2 * size - 3, seed), (2 * size - 1, seed)]))
        wrong("depth %d: sibling nodes of height 1" % d, encode(d, [(2, seed), (6, seed)]))
        wrong("depth %d: the root's two children" % d,
              encode(d, [(size // 2, seed), (size + size // 2, seed)]))
        wrong("depth %d: siblings after another node" % d,
              encode(d, [(1, seed), (5, seed), (7, seed)]))
        right("depth %d: leaves 1 and 2 are not siblings" % d, encode(d, [(3, seed), (5, seed)]))
        right("depth %d: a leaf, then a node of height 1" % d, encode(d, [(3, seed), (6, seed)]))
    for i in (0, 15, 16, 31):
        bad = bytearray(good)
        bad[len(good) - 32 + i] ^= 1
        wrong("digest, byte %d" % i, bytes(bad))
    wrong("digest zero", encode(8, rec, digest=lambda data: bytes(32)))
    wrong("digest is SHA2-256", encode(8, rec, digest=lambda d: hashlib.sha256(d).digest()))
    wrong("digest is SHAKE256", encode(8, rec, digest=lambda d: hashlib.shake_256(d).digest(32)))
    wrong("digest of the records only", encode(8, rec, digest=lambda d: sha3(d[16:])))
    wrong("digest reversed", encode(8, rec, digest=lambda d: sha3(d)[::-1]))
    bad = bytearray(good)
    bad[20] ^= 1
    wrong("a seed bit", bytes(bad))
    return {"kind": "encoding", "tests": tests}


def suite_file():
    groups = []

    def group(comment, suite, depth, operations, salt=None):
        label = "%s %s %d" % (comment, suite, depth)
        seed, salt = noise("suite " + label), noise("salt " + label) if salt is None else salt
        key = Key(depth, seed, suite, salt)
        done = [run(key, o) for o in operations]
        groups.append({"comment": comment, "suite": suite, "salt": salt.hex(), "depth": depth,
                       "seed": seed.hex(), "operations": done, "nodes": len(key.nodes),
                       "key": key.encode().hex()})

    for suite in ("sha3-256-salted", "aes-128"):
        for depth in [*range(1, 33), *DEEP]:
            last = (1 << depth) - 1
            pick = [number("%s %d %d" % (suite, depth, i), last + 1) for i in range(6)]
            group("a few leaves", suite, depth, [["eval", x] for x in (0, last, *pick)])
            if depth in (1, 2, 3, 7, 8, 16, 31, 32, *DEEP):
                group("punctures", suite, depth, [["eval_punct", pick[0]], ["punct", pick[1]],
                                                  ["eval", pick[0]], ["range", *sorted(pick[2:4])],
                                                  ["eval_punct", pick[4]], ["eval", pick[5]]])
        group("every leaf", suite, 6, [["eval", x] for x in range(64)])
        group("every second leaf", suite, 6, [["eval_punct", x] for x in range(0, 64, 2)])
        group("a zero salt", suite, 5, [["eval", 0], ["eval_punct", 9], ["range", 20, 27]], bytes(16))
        group("a salt of ones", suite, 5, [["eval", 0], ["eval_punct", 9], ["eval", 8]], b"\xff" * 16)
        group("everything at once", suite, 9, [["range", 0, 511], ["eval", 3]])
        for depth in (3, 32, 63):
            group("delegated ranges", suite, depth, delegations(depth))
    return {"kind": "suite", "groups": groups}


def mls_file():
    groups = []

    def group(comment, depth, operations, seed=None):
        seed = noise("mls %s %d" % (comment, depth), 32) if seed is None else seed
        key = Key(depth, seed, "mls-sha256")
        done = [run(key, o) for o in operations]
        groups.append({"comment": comment, "suite": "mls-sha256", "depth": depth, "seed": seed.hex(),
                       "operations": done, "nodes": len(key.nodes), "key": key.encode().hex()})
        return done

    for depth in [*range(1, 33), *DEEP]:
        last = (1 << depth) - 1
        pick = [number("mls %d %d" % (depth, i), last + 1) for i in range(6)]
        group("a few leaves", depth, [["eval", x] for x in (0, last, *pick)])
        if depth in (1, 2, 3, 7, 8, 16, 23, 24, 31, 32, *DEEP):
            group("punctures", depth, [["eval_punct", pick[0]], ["punct", pick[1]], ["eval", pick[0]],
                                       ["range", *sorted(pick[2:4])], ["eval_punct", pick[4]], ["eval", pick[5]]])
    group("every leaf", 6, [["eval", x] for x in range(64)])
    group("every second leaf", 6, [["eval_punct", x] for x in range(0, 64, 2)])
    group("everything at once", 9, [["range", 0, 511], ["eval", 3]])
    for depth in (3, 32, 63):
        group("delegated ranges", depth, delegations(depth))
    leaves = group("the MLS working group's secret-tree.json, cipher suite 1, 8 leaves", 3,
                   [["eval", x] for x in range(8)], bytes.fromhex(MLS_ENCRYPTION_SECRET))
    if [mls_handshake_key(bytes.fromhex(x["value"])).hex() for x in leaves] != MLS_HANDSHAKE_KEYS:
        sys.exit("gen_vectors.py: not the MLS working group's handshake keys")
    return {"kind": "suite", "groups": groups}


def deep_tests(test, name, suite, seed, salt):
    """The same kinds of files for keys deeper than 32."""
    for d in (33, 48, 62, 63):
        at, top = name + "depth %d, " % d, 1 << d
        test("ok", at + "a root", encode2(d, [(top, seed)], suite, salt))
        test("ok", at + "no node", encode2(d, [], suite, salt))
        test("ok", at + "the last leaf alone", encode2(d, [(2 * top - 1, seed)], suite, salt))
        test("ok", at + "the first leaf and the last", encode2(d, [(1, seed), (2 * top - 1, seed)], suite, salt))
        test("ok", at + "the two leaves in the middle", encode2(d, [(top - 1, seed), (top + 1, seed)], suite, salt))
        test("format", at + "the root's two children",
             encode2(d, [(top >> 1, seed), (3 * (top >> 1), seed)], suite, salt))
        test("format", at + "the last two leaves", encode2(d, [(2 * top - 3, seed), (2 * top - 1, seed)], suite, salt))
        test("format", at + "the last leaf, then the first", encode2(d, [(2 * top - 1, seed), (1, seed)], suite, salt))
        test("format", at + "id 0", encode2(d, [(0, seed)], suite, salt))
        if d < 63:
            test("format", at + "id out of the tree", encode2(d, [(2 * top, seed)], suite, salt))
        test("format", at + "records one byte narrower", encode2(d, [(1, seed)], suite, salt, width=d // 8))
        test("format", at + "in the layout of version 1", encode(d, [(top, seed)], prg_id=suite))
        test("format", at + "the digest of version 1 before its own",
             encode2(d, [(top, seed)], suite, salt, tail=encode(d, [(top, seed)])[-32:]))
        for r in (b"\1\0", b"\0\x80"):
            test("format", at + "reserved bytes %s" % r.hex(), encode2(d, [(top, seed)], suite, salt, reserved=r))
        record = d // 8 + 1 + len(seed)
        as_one = 1 + (1 << 64) // (record & -record)  # this many records have as many bytes as one, modulo 2^64
        for count in (2, 1 << (d - 1), (1 << (d - 1)) + 1, 1 + (1 << 32), as_one, (1 << 64) - 1):
            if count < 1 << 64:
                test("format", at + "n = %d" % count, encode2(d, [(top, seed)], suite, salt, count=count))


def version2_tests(suites, seed, salt):
    """Files of version 2 that a decoder accepts or rejects, for each suite."""
    tests = []

    def test(result, reason, key):
        tests.append({"reason": reason, "result": result, "key": key.hex()})

    for suite in suites:
        key = Key(8, seed, {2: "sha3-256-salted", 3: "aes-128", 4: "mls-sha256"}[suite], salt)
        key.punct(5)
        good, rec, name = key.encode(), key.records(), "suite %d: " % suite
        test("ok", name + "one leaf of depth 8", good)
        test("ok", name + "a root and a zero salt", encode2(8, [(256, seed)], suite, bytes(16)))
        test("ok", name + "no node", encode2(32, [], suite, salt))
        for size in (1, 8, 12, 16, 20, 36, 47, 48, 67, len(good) - 33, len(good) - 32, len(good) - 1):
            test("format", name + "truncated to %d bytes" % size, good[:size])
            test("format", name + "truncated to %d bytes and a right digest" % size,
                 good[:size] + sha3(good[:size]) if size < len(good) - 32 else good[:size])
        test("format", name + "a byte after the digest", good + b"\0")
        test("format", name + "a byte before the digest", encode2(8, rec, suite, salt, tail=b"\0"))
        test("format", name + "in the layout of version 1", encode(8, rec, prg_id=suite))
        test("format", name + "version 1 in its place", encode2(8, rec, suite, salt, version=1))
        test("format", name + "version 3", encode2(8, rec, suite, salt, version=3))
        test("format", name + "magic", encode2(8, rec, suite, salt, magic=b"PPRFKEy"))
        for r in (b"\1\0", b"\0\x80"):
            test("format", name + "reserved bytes %s" % r.hex(), encode2(8, rec, suite, salt, reserved=r))
        for d in (0, 64, 255):
            test("format", name + "depth %d" % d, encode2(d, [], suite, salt, width=1))
        deep_tests(test, name, suite, seed, salt)
        for n in (len(rec) - 1, len(rec) + 1, 0, len(rec) + (1 << 32), len(rec) + (1 << 63)):
            test("format", name + "n = %d" % n, encode2(8, rec, suite, salt, count=n))
        test("format", name + "siblings", encode2(8, [(1, seed), (3, seed)], suite, salt))
        test("format", name + "descending", encode2(8, [(9, seed), (5, seed)], suite, salt))
        test("format", name + "id 0", encode2(8, [(0, seed)], suite, salt))
        test("format", name + "id out of the tree", encode2(8, [(512, seed)], suite, salt))
        for at in (20, 35, 40, len(good) - 1):
            bad = bytearray(good)
            bad[at] ^= 1
            test("format", name + "byte %d changed" % at, bytes(bad))
        test("format", name + "digest of version 1",
             encode2(8, rec, suite, salt, digest=lambda _: encode(8, rec)[-32:]))
    return tests, test


def mls_encoding_file():
    seed, none = noise("encodings mls", 32), bytes(16)
    tests, test = version2_tests((4,), seed, none)
    for at in (0, 7, 8, 15):
        salt = bytes(at) + b"\1" + bytes(15 - at)
        test("format", "suite 4: byte %d of a salt" % at, encode2(8, [(256, seed)], 4, salt))
    test("format", "suite 4: a seed of 16 bytes", encode2(8, [(256, seed[:16])], 4, none))
    test("format", "suite 2: a seed of 32 bytes", encode2(8, [(256, seed)], 2, none))
    test("ok", "suite 4: the last leaf of depth 32 alone", encode2(32, [((1 << 33) - 1, seed)], 4, none))
    test("ok", "suite 4: a zero seed", encode2(8, [(1, bytes(32))], 4, none))
    for suite in (0, 5, 255):
        test("suite", "suite %d" % suite, encode2(8, [(256, seed)], suite, none))
    return {"kind": "encoding", "tests": tests}


def encoding2_file():
    seed, salt = noise("encodings 2"), noise("encodings 2, salt")
    tests, test = version2_tests((2, 3), seed, salt)
    for d in (1, 8, 31, 32):
        test("format", "version 2 of a key that version 1 holds, depth %d" % d,
             encode2(d, [(1 << d, seed)], 1, bytes(16)))
    deep_tests(test, "suite 1: ", 1, seed, bytes(16))
    for at in (0, 7, 8, 15):
        test("format", "suite 1: byte %d of a salt" % at,
             encode2(33, [(1 << 33, seed)], 1, bytes(at) + b"\1" + bytes(15 - at)))
    for suite in (0, 4, 255):
        test("suite", "suite %d" % suite, encode2(8, [(256, seed)], suite, salt))
        test("format", "suite %d and reserved bytes" % suite,
             encode2(8, [(256, seed)], suite, salt, reserved=b"\1\0"))
        test("format", "suite %d in 67 bytes" % suite, encode2(8, [], suite, salt)[:67])
    return {"kind": "encoding", "tests": tests}


FILES = {"suites.json": suite_file, "encoding2.json": encoding2_file, "prg.json": prg_file, "wide.json": wide_file,
         "mls.json": mls_file, "encoding_mls.json": mls_encoding_file,
         "eval.json": eval_file, "puncture.json": puncture_file,
         "encoding.json": encoding_file}
ABOUT = {"suites.json": "operations on fresh keys of the suites with a salt, then the encoding",
         "encoding2.json": "as encoding.json, for version 2 of the key file",
         "mls.json": "operations on fresh keys of mls-sha256, then the encoding; one is the MLS working group's",
         "encoding_mls.json": "as encoding2.json, for keys of mls-sha256 and a decoder that takes them",
         "prg.json": "seed -> its children's seeds",
         "wide.json": "seed -> its children's seeds in mls-sha256; with the MLS working group's tree of 8 leaves",
         "eval.json": "values of leaves of a fresh key",
         "puncture.json": "operations on a fresh key, then its canonical encoding",
         "encoding.json": "byte strings that a decoder accepts (ok) or rejects (format)"}


def render(name):
    data = {"schema": "schema.json", "about": ABOUT[name], "generator": "gen_vectors.py",
            "algorithm": "GGM-PPRF-MLS-SHA256" if name == "wide.json" else
                         "GGM-PPRF" if "2" in name or "suite" in name or "mls" in name else "GGM-PPRF-SHA3-256"}
    data.update(FILES[name]())
    entries = data.get("tests") or data["groups"]
    data["count"] = sum(len(e["tests"]) if "tests" in e else 1 for e in entries)
    # One test per line: diffs are readable, and the files stay small.
    out = ["{"]
    lists = [k for k in ("tests", "groups") if k in data]
    for k in sorted(set(data) - set(lists)):
        out.append(" %s: %s," % (json.dumps(k), json.dumps(data[k])))
    for k in lists:
        out.append(" %s: [" % json.dumps(k))
        out.append(",\n".join("  " + json.dumps(e) for e in data[k]))
        out.append(" ]")
    out.append("}")
    return "\n".join(out) + "\n"


# ------------------------------------------------------------------ the subset of JSON Schema in use

def violations(value, schema, root, at="$"):
    """Every place where value breaks schema; supports the keywords that vectors/schema.json
    uses."""
    known = {"$schema", "$id", "title", "description", "$defs", "$ref", "oneOf", "type", "const",
             "enum", "pattern", "minimum", "maximum", "properties", "required",
             "additionalProperties", "items", "minItems"}
    if set(schema) - known:
        return ["%s: schema keyword not known: %s" % (at, sorted(set(schema) - known))]
    if "$ref" in schema:
        target = root
        for part in schema["$ref"][2:].split("/"):
            target = target[part]
        return violations(value, target, root, at)
    bad = []
    if "oneOf" in schema:
        results = [violations(value, s, root, at) for s in schema["oneOf"]]
        if sum(not r for r in results) != 1:
            bad += ["%s: matches %d of oneOf; nearest: %s" % (
                at, sum(not r for r in results), min(results, key=len)[:3])]
    types = {"object": dict, "array": list, "string": str, "integer": int}
    if "type" in schema and (not isinstance(value, types[schema["type"]]) or
                             isinstance(value, bool)):
        return bad + ["%s: not of type %s" % (at, schema["type"])]
    if "const" in schema and value != schema["const"]:
        bad.append("%s: not %r" % (at, schema["const"]))
    if "enum" in schema and value not in schema["enum"]:
        bad.append("%s: %r not in %r" % (at, value, schema["enum"]))
    if "pattern" in schema:
        import re
        if not re.search(schema["pattern"], value):
            bad.append("%s: does not match %s" % (at, schema["pattern"]))
    if "minimum" in schema and value < schema["minimum"]:
        bad.append("%s: below %d" % (at, schema["minimum"]))
    if "maximum" in schema and value > schema["maximum"]:
        bad.append("%s: above %d" % (at, schema["maximum"]))
    if isinstance(value, list):
        if len(value) < schema.get("minItems", 0):
            bad.append("%s: too few items" % at)
        for i, item in enumerate(value):
            bad += violations(item, schema.get("items", {}), root, "%s[%d]" % (at, i))
    if isinstance(value, dict):
        properties = schema.get("properties", {})
        bad += ["%s: lacks %s" % (at, k) for k in schema.get("required", []) if k not in value]
        for k, item in value.items():
            if k in properties:
                bad += violations(item, properties[k], root, "%s.%s" % (at, k))
            elif schema.get("additionalProperties") is False:
                bad.append("%s: unexpected %s" % (at, k))
    return bad


def check():
    """TAP: the committed files equal this program's output and match the schema."""
    with open(os.path.join(OUT, "schema.json"), encoding="utf-8") as f:
        schema = json.load(f)
    print("1..%d" % (2 * len(FILES) + 2))
    failed = number_of_test = 0

    def result(ok, claim, notes=()):
        nonlocal failed, number_of_test
        number_of_test += 1
        failed += not ok
        print("%s %d - %s" % ("ok" if ok else "not ok", number_of_test, claim))
        for note in notes:
            print("# " + note)

    for name in FILES:
        with open(os.path.join(OUT, name), encoding="utf-8") as f:
            text = f.read()
        result(text == render(name), "%s_is_what_the_generator_writes" % name)
        data = json.loads(text)
        bad = violations(data, schema, schema)
        result(not bad, "%s_matches_the_schema" % name, bad[:5])
    data["tests"][0]["key"] = "xyz"
    result(violations(data, schema, schema), "the_schema_check_finds_a_planted_error")
    digest = sha3(b"")
    result(digest.hex() == "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a",
           "hashlib_has_the_sha3_of_fips_202")
    return 1 if failed else 0


def main():
    if sys.argv[1:] == ["--check"]:
        return check()
    if sys.argv[1:]:
        print(__doc__, file=sys.stderr)
        return 1
    for name in FILES:
        with open(os.path.join(OUT, name), "w", encoding="utf-8") as f:
            f.write(render(name))
    return 0


if __name__ == "__main__":
    sys.exit(main())
