# SPDX-License-Identifier: Apache-2.0
"""first_use.c in Python."""
import os
import sys

import pprf

DEPTH, LAST, LEAF, MANY = 12, (1 << 12) - 1, 1234, 40


def read_all(size):
    into = bytearray(size)
    view = memoryview(into)
    while len(view) > 0:
        n = os.readv(0, [view])
        if n == 0:
            os._exit(2)
        view = view[n:]
    return into


def clear(buffer):
    buffer[:] = bytes(len(buffer))


def stop():
    os.write(1, b"\0")
    os.read(0, 1)


def operate(key, name, value):
    leaves = [(LEAF + 977 * i) & LAST for i in range(MANY)]
    if name == "eval":
        key.eval_into(LEAF, value)
    elif name == "punct":
        key.puncture(LEAF)
    elif name == "eval_punct":
        key.eval_puncture_into(LEAF, value)
    elif name == "punct_range":
        key.puncture(range(LEAF, LEAF + 100))
    elif name == "delegate":
        key.delegate(range(LEAF, LEAF + 100)).close()
    elif name == "eval_batch":
        values = bytearray(MANY * len(value))
        key.eval_many(leaves, out=values)
        clear(values)
    elif name == "punct_batch":
        key.puncture_many(leaves)
    elif name == "export":
        clear(key.export())
    elif name == "prefault":
        key.prefault()
    elif name == "grow":
        for at in range(1, LAST // 2 + 2):
            key.eval_puncture_into((LEAF + 2 * at) & LAST, value)
            clear(value)
    elif name == "free":
        key.close()


def main():
    name, store = sys.argv[1], {"1": "slots", "2": "packed"}[sys.argv[3]]
    root = read_all(32)
    size = read_all(2)
    file = read_all(size[0] + 256 * size[1])
    seed = bytearray(16)
    seed[:] = memoryview(root)[:16]
    stop()
    key = pprf.Key.from_export(file, store=store) if name == "import" else \
        pprf.Key(depth=DEPTH, seed=seed, suite="sha3-256", store=store)
    for buffer in (root, seed, file):
        clear(buffer)
    stop()
    value = bytearray(16)
    operate(key, name, value)
    clear(value)
    stop()


main()
