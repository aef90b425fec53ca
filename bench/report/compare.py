#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compare two benchmark runs.

Usage: compare.py A B [--threshold PERCENT]
  A, B: JSON files of Google Benchmark, or directories whose bench.json, nohash.json and growth.json
  are compared.  Printed: every benchmark and figure whose median changed by more than the threshold
  (default 5) and whose repetitions do not overlap.  Exit status 3 if any of them became worse.

If a repetition has bare PRG calls, times are compared as multiples of these, so that runs of two
machines, or of a shared machine at different hours, are comparable."""
import argparse
import json
import os
import statistics
import sys

SMALLER_IS_BETTER = ["ratio", "cpu_time", "bytes_per_node", "rss_per_node", "prg_per_op",
                     "vs_eval_then_punct", "file_bytes_per_node"]


def load(path):
    files = ([os.path.join(path, n) for n in ("bench.json", "nohash.json", "growth.json")]
             if os.path.isdir(path) else [path])
    runs = {}
    for file in files:
        if not os.path.exists(file):
            continue
        with open(file, encoding="utf-8") as f:
            data = json.load(f)
        label = "" if len(files) == 1 else os.path.basename(file)[:-5] + ":"
        for b in data["benchmarks"]:
            if b.get("run_type") != "iteration" or b.get("error_occurred"):
                continue
            for field in SMALLER_IS_BETTER:
                if field in b and not (field == "cpu_time" and "ratio" in b):
                    runs.setdefault((label + b["run_name"], field), []).append(b[field])
    return runs


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("a", metavar="A")
    parser.add_argument("b", metavar="B")
    parser.add_argument("--threshold", type=float, default=5, metavar="PERCENT")
    args = parser.parse_args()
    try:
        a, b = load(args.a), load(args.b)
    except (OSError, ValueError, KeyError) as e:
        sys.exit("compare.py: %s" % e)
    common = sorted(a.keys() & b.keys())
    if not common:
        sys.exit("compare.py: the runs have no benchmark in common")
    worse = changed = 0
    for key in common:
        old, new = statistics.median(a[key]), statistics.median(b[key])
        overlap = min(a[key]) <= max(b[key]) and min(b[key]) <= max(a[key])
        if old <= 0 or overlap or abs(new / old - 1) * 100 <= args.threshold:
            continue
        changed += 1
        worse += new > old
        print("%-6s %-46s %-18s %10.4g -> %10.4g  %+6.1f %%"
              % ("worse" if new > old else "better", key[0], key[1], old, new,
                 100 * (new / old - 1)))
    print("%d figures in both runs: %d changed by more than %g %%, %d of them worse; "
          "%d only in %s, %d only in %s" % (len(common), changed, args.threshold, worse,
                                            len(a.keys() - b.keys()), args.a,
                                            len(b.keys() - a.keys()), args.b))
    return 3 if worse else 0


if __name__ == "__main__":
    sys.exit(main())
