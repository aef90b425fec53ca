#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The cost of a ticket in the module, compared with one key per ticket in the same server:
throughput by number of connections and pipelining, latency, memory. Prints tables; ratios are
within one run."""
import os
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import fleet  # noqa: E402

DEPTH, ROUNDS = 19, 2000
THREADS, ROUND_TRIPS, BUDGET = 4, (0, 4, 10, 20), 0.25


def server_bytes(c):
    text = c("INFO", "memory").decode()
    return int(next(line for line in text.splitlines() if line.startswith("used_memory:")).split(":")[1])


def bytes_a_ticket(c):
    """(bytes per redeemable ticket, worst case: every other leaf redeemed; bytes per key)"""
    tree = c.create("memory", 16, "LEASE", 600000)
    for _ in range(16):
        c.issue("memory", tree, 4096)
    peak = c.info("memory")["memory_bytes"]
    for leaf in range(0, 1 << 16, 2):  # every other leaf: the worst case
        c("PPRF.PUNCT", "memory", tree, leaf)
    worst = c.info("memory")["memory_bytes"]
    before = server_bytes(c)
    for i in range(1 << 14):
        c("SET", f"{i * 0x9e3779b97f4a7c15 % 2**64:016x}", b"0123456789abcdef", "EX", 7200)
    key = (server_bytes(c) - before) / (1 << 14)
    c("FLUSHALL")
    return max(peak, worst) / (1 << 15), key


def show_latency(out):
    """Print throughput by round trip, and its ratio to what is wanted."""
    found = {}
    for line in out.splitlines():
        if not line.startswith("#"):
            kind, ms, *numbers = line.split()
            found.setdefault(float(ms), {})[kind] = [float(n) for n in numbers]
    print(f"{THREADS} threads, budget {BUDGET:.0%}; connections a second, client and server in the same thread")
    for ms, by in found.items():
        everything, resumed, _ = by["offering"]
        most = min(everything, BUDGET * THREADS / ms * 1000) if ms else everything
        print(f"round trip {ms:g} ms: without tickets {by['no-tickets'][0]:.0f}; every client offers a ticket "
              f"{everything:.0f} ({everything / by['no-tickets'][0]:.2f}; "
              f"{everything / by['no-tickets-offering'][0]:.2f} of those whose clients offer another server's), "
              f"resumed {resumed:.0f} "
              f"({resumed / most:.2f} of what the budget allows); no client offers one {by['full'][0]:.0f} "
              f"({by['full'][0] / by['own-tickets'][0]:.2f} of those with OpenSSL's own tickets); "
              f"during a flood of {by['full-and-flood'][2]:.0f} copies a second of a used ClientHello "
              f"{by['full-and-flood'][0]:.0f} ({by['full-and-flood'][0] / by['full'][0]:.2f}; without tickets "
              f"{by['no-tickets-and-flood'][0] / by['no-tickets'][0]:.2f}); without waiting {by['not-waiting'][0]:.0f} "
              f"({by['not-waiting'][0] / by['no-tickets'][0]:.2f}), resumed {by['not-waiting'][1]:.0f} "
              f"({by['not-waiting'][1] / found[0.0]['not-waiting'][1]:.2f} of those at 0 ms)")


def main():
    server = fleet.Server(module=fleet.SHIPPED)
    socket = "socket"
    try:
        c = server.client()
        print("measuring memory", flush=True)
        leaf, key = bytes_a_ticket(c)
        print(f"bytes per redeemable ticket, worst case: {leaf:.1f}; with one key per ticket: {key:.1f} "
              f"({key / leaf:.1f} times)", flush=True)
        tree = c.create("k", DEPTH)
        print("measuring time", flush=True)
        out = subprocess.run([os.path.join(fleet.BUILD, "bench", "tickets"), os.path.join(server.dir, socket), "k",
                              tree, str(DEPTH)], check=True, capture_output=True, text=True).stdout
        print("measuring handshakes", flush=True)
        latency = subprocess.run([os.path.join(fleet.BUILD, "bench", "latency"), os.path.join(server.dir, socket),
                                  str(THREADS), "2", *map(str, ROUND_TRIPS)],
                                 check=True, capture_output=True, text=True).stdout
        handshakes = subprocess.run([os.path.join(fleet.BUILD, "bench", "resume"), str(ROUNDS),
                                     f"unix=unix://{os.path.join(server.dir, socket)}?timeout=1000&budget=100",
                                     f"tcp=valkey://127.0.0.1:{server.port}?timeout=1000&budget=100"],
                                    check=True, capture_output=True, text=True).stdout
    finally:
        server.close()
    times, rows = {}, []
    for line in out.splitlines():
        kind, *rest = line.split()
        if kind == "throughput":
            times.setdefault((int(rest[1]), int(rest[2])), {}).setdefault(rest[0], []).append(float(rest[4]))
        elif kind == "latency":
            rows.append(f"{rest[0]:>14}: median {rest[1]} us, 99 % within {rest[2]} us")
        else:
            rows.append(f"ISSUE, 4096 at a time: {float(rest[0]):.0f} ns per leaf")
    print("microseconds per ticket, median of 3 [least, greatest]; CLAIM+COMMIT is two commands")
    for (connections, flight), by in times.items():
        cells = [f"{name} {statistics.median(v) / 1e3:.1f} [{min(v) / 1e3:.1f}, {max(v) / 1e3:.1f}]"
                 for name, v in by.items()]
        ratio = statistics.median(by["CLAIM+COMMIT"]) / statistics.median(by["GETDEL"])
        print(f"{connections:>3} connections, {flight:>2} in flight: " + "; ".join(cells) +
              f"; CLAIM+COMMIT / GETDEL {ratio:.2f}")
    print("\n".join(rows))
    print("a whole handshake, client and server, with tickets of this process, of a server by its Unix socket, and "
          "by TCP")
    for line in handshakes.splitlines():
        what, whose, n, median, most, ratio, more = line.split()
        print(f"{what:>10}, {whose:>7}: median {median} us, 99 % within {most} us, of {n}; {ratio} times this "
              f"machine's, {more} us")
    show_latency(latency)
    return 0


if __name__ == "__main__":
    sys.exit(main())
