#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs libFuzzer targets side by side and says what they did.

fuzz.py BUILD SECONDS TARGET...   BUILD: the directory of the targets; results in BUILD/fuzz.json

Each target starts from corpus/TARGET beside this file and keeps what it finds in
BUILD/corpus/TARGET; a crashing input is kept in BUILD/crashes.  Exit 1 if there is one.
"""
import json
import os
import re
import subprocess
import sys
import time

HERE = os.path.dirname(os.path.abspath(__file__))
STATUS = re.compile(r"#(\d+)\s+\S+\s+cov: (\d+) ft: (\d+) corp: (\d+)")


def start(build, target, seconds):
    corpus, crashes = (os.path.join(build, d) for d in ("corpus/" + target, "crashes"))
    os.makedirs(corpus, exist_ok=True)
    os.makedirs(crashes, exist_ok=True)
    log = os.path.join(build, target + ".log")
    command = [os.path.join(build, target), "-max_total_time=%d" % seconds, "-timeout=25",
               "-rss_limit_mb=2048", "-malloc_limit_mb=256", "-print_final_stats=1", "-max_len=4096", "-artifact_prefix=%s/%s-" % (crashes, target)]
    dictionary = os.path.join(HERE, target + ".dict")
    if os.path.exists(dictionary):
        command.append("-dict=" + dictionary)
    command += [corpus, os.path.join(HERE, "corpus", target)]
    with open(log, "w") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out)
    return {"name": target, "process": process, "log": log}


def read(run):
    with open(run["log"], errors="replace") as f:
        text = f.read()
    seen = STATUS.findall(text)
    done = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
    executions, edges, features, corpus = (int(v) for v in seen[-1]) if seen else (0, 0, 0, 0)
    return {"name": run["name"], "executions": int(done[-1]) if done else executions,
            "coverage_edges": edges, "features": features, "corpus": corpus,
            "crashes": len(re.findall(r"Test unit written to", text))}, text


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    build, seconds, targets = sys.argv[1], int(sys.argv[2]), sys.argv[3:]
    begin = time.time()
    runs = [start(build, t, seconds) for t in targets]
    while any(r["process"].poll() is None for r in runs):
        time.sleep(0.5)
        if sys.stderr.isatty():
            parts = ["%s %d" % (r["name"], read(r)[0]["executions"]) for r in runs]
            sys.stderr.write("\r\033[Kfuzz %d of %d s: %s" % (time.time() - begin, seconds,
                                                             ", ".join(parts)))
            sys.stderr.flush()
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    results, bad = [], False
    for r in runs:
        result, text = read(r)
        code = r["process"].returncode
        if code != 0:
            bad = True
            result["crashes"] = max(1, result["crashes"])
            sys.stderr.write(text[-6000:])
            print("fuzz: %s FAILED with status %d, log %s" % (r["name"], code, r["log"]))
        elif result["executions"] < 1000:
            bad = True
            print("fuzz: %s ran only %d inputs" % (r["name"], result["executions"]))
        results.append(result)
        print("fuzz: %-12s %9d executions, %5d edges, %6d features, %5d inputs kept, %d crashes"
              % (r["name"], result["executions"], result["coverage_edges"], result["features"],
                 result["corpus"], result["crashes"]))
    with open(os.path.join(build, "fuzz.json"), "w") as f:
        json.dump({"seconds": seconds, "targets": results,
                   "executions": sum(r["executions"] for r in results),
                   "crashes": sum(r["crashes"] for r in results)}, f, indent=1)
        f.write("\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
