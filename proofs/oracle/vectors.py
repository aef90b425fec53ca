#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of build/oracle, as TAP; `vectors.py generate` rewrites vectors.txt with its answers,
`vectors.py speed` measures.

vectors.txt holds sessions: a line that begins with "> " is a command, the lines below it are the
answer (README.md gives both). Lines that begin with # and blank lines are comments."""
import hashlib
import json
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SUITES = os.path.join(HERE, "../../equivalence-tests/vectors/suites.json")
MLS = os.path.join(HERE, "../../equivalence-tests/vectors/mls.json")
ORACLE = os.environ.get("ORACLE", os.path.join(HERE, "../../build/oracle"))
VECTORS = os.path.join(HERE, "vectors.txt")
HEADER = """# SPDX-License-Identifier: Apache-2.0
# Sessions of the extracted Coq model: "> command", then its answer (README.md).
# Written by `vectors.py generate`; `make test-oracle` checks that they come out the same.
"""


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
        # small trees, every leaf after each operation
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
        # nodes and the ends of deep trees, the deepest one last
        for d in (32, 33, 63):
            end, half = 2**d - 1, 2**(d - 1)
            out = setup(prg, d, 7) + [f"eval {x}" for x in (0, 1, half - 1, half, end - 1, end)]
            out += ["punct 0", f"punct {end}", "count", f"prefix {half} {d - 2}", f"prefix {half} {d - 2}",
                    "range 1 4096", f"range {end - 100} {end}", "dump", "eval 0", "eval 4097",
                    "range 0 4097", f"eval {end}", f"range 0 {end}", "dump", f"range 0 {end}"]
            yield f"{prg}, depth {d}: first and last leaves, nodes, everything", out
        # random mixtures
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
    yield "what is refused", [
        "prg sha3", "eval 0", "setup 0 " + "00" * 16, "setup 64 " + "00" * 16, "setup 3 00",
        "setup 3 " + "00" * 16, "eval 8", "eval -1", "range 5 4", "prefix 1 1", "prefix 0 4",
        "eval 9223372036854775808", "punch 1", "prg md5", "dump", "prg path", "setup 3 " + "00" * 16]


def generate():
    with open(VECTORS, "w", encoding="ascii") as f:
        f.write(HEADER)
        for title, commands in sessions():
            f.write(f"\n# {title}\n")
            for command in commands_with_answers(commands):
                f.write(command)


def commands_with_answers(commands):
    """Each command followed by its answer: the unknown command ? marks where an answer ends."""
    marked = [c for command in commands for c in (command, "?")]
    answer, at = [], 0
    for line in ask(marked):
        if line == "error: unknown command: ?":
            yield f"> {commands[at]}\n" + "".join(a + "\n" for a in answer)
            answer, at = [], at + 1
        else:
            answer.append(line)


def speed():
    """Operations a second (CPU time of the oracle) at depth 32, one puncture in 20."""
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
    if sys.argv[1:] in (["generate"], ["speed"]):
        {"generate": generate, "speed": speed}[sys.argv[1]]()
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

    with open(VECTORS, encoding="ascii") as f:
        lines = [line.rstrip("\n") for line in f]
    lines = [line for line in lines if line and not line.startswith("#")]
    commands = [line[2:] for line in lines if line.startswith("> ")]
    got = "".join(commands_with_answers(commands)).splitlines()
    differ = [i for i, (a, b) in enumerate(zip(lines, got)) if a != b]
    check(2, lines == got and len(commands) > 1000, "vectors_come_out_the_same",
          f"{len(lines)} lines recorded, {len(got)} now; first difference: "
          + (f"{lines[differ[0]]} / {got[differ[0]]}" if differ else "none"))
    generated = [c for _, session in sessions() for c in session]
    check(3, generated == commands, "the_recorded_commands_are_those_of_this_script", "regenerate")
    # the vectors of the suites come from hashlib, hmac and PyCA
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
