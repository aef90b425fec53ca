#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of build/oracle, as TAP; `test_oracle.py speed` measures its speed. The answers (README.md)
must equal those of the Python model that writes the vectors, a dictionary of nodes on top of
hashlib; the answers to refused commands are listed here."""
import hashlib
import itertools
import json
import os
import resource
import subprocess
import sys

TOP = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
SUITES = os.path.join(TOP, "equivalence-tests/vectors/suites.json")
MLS = os.path.join(TOP, "equivalence-tests/vectors/mls.json")
ORACLE = os.environ.get("ORACLE", os.path.join(TOP, "build/oracle"))
sys.path.insert(0, os.path.join(TOP, "equivalence-tests/vectors"))
import gen_vectors  # noqa: E402


def ask(commands):
    run = subprocess.run([ORACLE], input="".join(c + "\n" for c in commands), text=True,
                         stdout=subprocess.PIPE, check=True)
    return run.stdout.splitlines()


class Random:
    """splitmix64: the sessions do not depend on a Python version."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        self.state = (self.state + 0x9E3779B97F4A7C15) % 2**64
        z = self.state
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
        return (z ^ (z >> 31)) % n


def setup(prg, d, n):
    low = 2**d if prg == "path" else 0x1122334455667788 * (n + 1) % 2**64
    seed = low.to_bytes(8, "little") + (n + 0x0F1E2D3C).to_bytes(8, "little")
    return [f"prg {prg}", f"setup {d} {seed.hex()}"]


def every_leaf(d):
    return [f"eval {x}" for x in range(2**d)]


def sessions():
    for prg in ("sha3", "path"):
        # small trees: every leaf after each operation
        for d in (1, 2, 3):
            out = setup(prg, d, d) + ["dump"] + every_leaf(d)
            order = sorted(range(2**d), key=lambda x: (x * 5 + 2) % 2**d)
            for x in order:
                out += [f"punct {x}", "dump", f"punct {x}"] + every_leaf(d)
            yield f"{prg}, depth {d}: every leaf in the order {order}", out
        out = setup(prg, 4, 4)
        for first in range(16):
            for last in range(first, 16, 3):
                out += setup(prg, 4, 4)[1:] + ["punct 6", f"range {first} {last}", "dump"]
        yield f"{prg}, depth 4: every third range after one puncture", out
        out = setup(prg, 5, 9) + [f"punct {x}" for x in range(0, 32, 2)] + ["count", "dump"]
        yield f"{prg}, depth 5: the worst case, every second leaf", out
        out = setup(prg, 6, 1) + sum(([f"punct {x}", "count"] for x in range(64)), [])
        yield f"{prg}, depth 6: ascending", out
        # nodes, and both ends of deep trees, the deepest one last
        for d in (32, 33, 63):
            end, half = 2**d - 1, 2**(d - 1)
            out = setup(prg, d, 7) + [f"eval {x}" for x in (0, 1, half - 1, half, end - 1, end)]
            out += ["punct 0", f"punct {end}", "count", f"prefix {half} {d - 2}", f"prefix {half} {d - 2}",
                    "range 1 4096", f"range {end - 100} {end}", "dump", "eval 0", "eval 4097",
                    "range 0 4097", f"eval {end}", f"range 0 {end}", "dump", f"range 0 {end}"]
            yield f"{prg}, depth {d}: first and last leaves, nodes, everything", out
        # random mixtures of operations
        for d, n, spread in ((10, 60, 2**9), (20, 40, 2**12), (32, 40, 2**31), (48, 20, 2**40),
                             (63, 20, 2**62)):
            rng, out = Random(d), setup(prg, d, d)
            for _ in range(n):
                x = rng.below(2**d)
                kind = rng.below(8)
                if kind < 3:
                    out += [f"eval {x}", f"punct {x}", f"eval {x}"]
                elif kind == 3:
                    out.append(f"range {x} {min(2**d - 1, x + rng.below(spread))}")
                elif kind == 4:
                    h = rng.below(d - 1)
                    out.append(f"prefix {x >> h << h} {h}")
                else:
                    out.append(f"eval {x}")
            yield f"{prg}, depth {d}: a random mixture", out + ["count", "dump"]


def path_children(seed, _salt, node_id):
    return [(node_id + move).to_bytes(8, "little") + seed[8:] for q in [(node_id & -node_id) // 2] for move in (-q, q)]


class Model:
    """The oracle's commands, on a key of gen_vectors."""

    def __init__(self):
        self.key = self.prg = None

    def answer(self, command):
        name, *args = command.split(" ")
        if name == "prg":
            self.prg = args[0]
        elif name == "setup":
            self.key = gen_vectors.Key(int(args[0]), bytes.fromhex(args[1]))
            if self.prg == "path":
                self.key.prg = path_children
        elif name == "count":
            return [str(len(self.key.nodes))]
        elif name == "dump":
            spans = sorted((self.key.span(node), seed) for node, seed in self.key.nodes.items())
            return [f"{first} {(last - first).bit_length()} {seed.hex()}" for (first, last), seed in spans] + ["end"]
        else:
            try:
                return [self.tree(name, *map(int, args))]
            except gen_vectors.Punctured:
                return ["punctured"]
        return ["ok"]

    def tree(self, name, first, last=0):
        if name == "eval":
            return self.key.eval(first).hex()
        if name == "punct":
            self.key.punct(first)
        elif name == "range":
            self.key.punct_range(first, last)
        else:
            self.key.punct_range(first, first + 2**last - 1)
        return "ok"


REFUSED = (
    ("prg sha3", "ok"),
    ("eval 0", "error: no key: setup first"),
    ("setup 0 " + "00" * 16, "error: depth 0 is not in 1..63"),
    ("setup 64 " + "00" * 16, "error: depth 64 is not in 1..63"),
    ("setup 3 00", "error: a seed has 16 bytes"),
    ("setup 3 " + "00" * 16, "ok"),
    ("eval 8", "error: leaf 8 outside the tree of depth 3"),
    ("eval -1", "error: not an integer: -1"),
    ("range 5 4", "error: empty range 5..4"),
    ("prefix 1 1", "error: no node (1, 1)"),
    ("prefix 0 4", "error: height 4 in a tree of depth 3"),
    ("eval 9223372036854775808", "error: not an integer: 9223372036854775808"),
    ("punch 1", "error: unknown command: punch 1"),
    ("prg md5", "error: no PRG md5"),
    ("dump", f"0 3 {'00' * 16}"), ("", "end"),
    ("prg path", "ok"),
    ("setup 3 " + "00" * 16, "error: the path PRG's root seed must begin with its id 2^3"),
)


def speed():
    """Operations per second (the oracle's CPU time) at depth 32, one puncture in 20."""
    for prg in ("sha3", "path"):
        for punctures in (10, 100, 300):
            rng, commands, n = Random(1), setup(prg, 32, 0), 20 * punctures
            for i in range(n):
                commands.append(f"{'eval' if i % 20 else 'punct'} {rng.below(2**32)}")
            rounds = -(-20000 // n)
            before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
            nodes = ask((commands) * rounds + ["count"])[-1]
            used = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before
            print(f"{prg}: {int(n * rounds / used)} operations/s, {nodes} nodes at the end")


def main():
    if sys.argv[1:] == ["speed"]:
        speed()
        return
    print("1..5")
    ok = True

    def check(number, good, name, detail):
        nonlocal ok
        ok = ok and good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(f"# {detail}")

    messages = [bytes((7 * i + n) % 256 for i in range(n)) for n in range(3 * 136 + 1)]
    want = [hashlib.sha3_256(m).hexdigest() for m in messages]
    got = ask(["sha3" + (" " + m.hex() if m else "") for m in messages])
    bad = [len(m) for m, w, g in zip(messages, want, got) if w != g]
    check(1, not bad and len(got) == len(want), "sha3_256_agrees_with_python_up_to_three_blocks",
          f"lengths {bad}")

    bad, asked, model = [], 0, Model()
    for title, commands in sessions():
        want = [line for command in commands for line in model.answer(command)]
        got = ask(commands)
        asked += len(commands)
        bad += [f"{title}: {w} wanted, {g} came" for w, g in itertools.zip_longest(want, got) if w != g][:1]
    check(2, not bad and asked > 1000, "sessions_are_answered_as_by_the_model_in_python", f"{bad}")
    got = ask([command for command, _ in REFUSED if command])
    check(3, got == [answer for _, answer in REFUSED], "what_is_no_command_is_refused_and_changes_nothing", f"{got}")
    # the suites' vectors come from hashlib, hmac and PyCA
    bad, evaluated = [], 0
    groups = []
    for name in (SUITES, MLS):
        with open(name, encoding="utf-8") as f:
            groups += json.load(f)["groups"]
    for group in groups:
        prg = {"sha3-256-salted": "sha3-salted", "aes-128": "aes", "mls-sha256": "mls"}[group["suite"]]
        values = [o for o in group["operations"] if o["op"] == "eval" and o["result"] == "ok"]
        got = ask([f"prg {prg} {group.get('salt', '')}".rstrip(), f"setup {group['depth']} {group['seed']}"]
                  + [f"eval {o['leaf']}" for o in values])
        if got != ["ok", "ok"] + [o["value"] for o in values]:
            bad.append((group["suite"], group["depth"], group["comment"]))
        evaluated += len(values)
    check(4, not bad and evaluated > 500, "the_suites_evaluate_to_the_vectors", f"{bad[:3]}")
    want = [hashlib.sha256(m).hexdigest() for m in messages]
    got = ask(["sha256" + (" " + m.hex() if m else "") for m in messages])
    check(5, got == want, "sha256_agrees_with_python_up_to_six_blocks", "")
    sys.exit(0 if ok else 1)


if __name__ == "__main__":
    main()
