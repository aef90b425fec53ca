#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the fuzz targets in parallel and reports their results.

fuzz.py [--afl] BUILD SECONDS TARGET...
  TARGET a program; TARGET:AGAIN: afterwards the program AGAIN runs the inputs that it kept
  BUILD  the directory of the programs TARGET (libFuzzer), or of afl/TARGET with --afl (AFL++);
         results in BUILD/fuzz.json or BUILD/fuzz-afl.json

Each target starts from BUILD/inputs/TARGET, with TARGET.dict. New inputs are kept in
BUILD/corpus/TARGET, with --afl in BUILD/afl-out/TARGET; crashing inputs in BUILD/crashes, with
--afl in BUILD/afl-out/TARGET/default/crashes.  The log is BUILD/TARGET.log or BUILD/afl/TARGET.log.
Exit 1 if an input crashes, hangs or fails in AGAIN, or if a target hardly runs.
"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
EXECUTIONS_MIN = 1000


class LibFuzzer:
    """libFuzzer: the program fuzzes itself."""
    result_file = "fuzz.json"
    status = re.compile(r"#(\d+)\s+\S+\s+cov: (\d+) ft: (\d+) corp: (\d+)")

    def __init__(self, build, target, seconds):
        corpus, crashes = (os.path.join(build, d) for d in ("corpus/" + target, "crashes"))
        os.makedirs(corpus, exist_ok=True)
        os.makedirs(crashes, exist_ok=True)
        self.log, self.kept = os.path.join(build, target + ".log"), corpus
        self.command = [
            os.path.join(build, target), "-max_total_time=%d" % seconds, "-timeout=25",
            "-rss_limit_mb=2048", "-malloc_limit_mb=%d" % (600 if target == "fuzz_cli" else 256),
            "-print_final_stats=1", "-max_len=4096", "-artifact_prefix=%s/%s-" % (crashes, target),
            "-dict=" + os.path.join(HERE, target + ".dict"),
            corpus, os.path.join(build, "inputs", target)]
        self.environment = {}

    def read(self):
        with open(self.log, errors="replace") as f:
            text = f.read()
        seen = self.status.findall(text)
        done = re.findall(r"stat::number_of_executed_units:\s*(\d+)", text)
        executions, edges, features, corpus = (int(v) for v in seen[-1]) if seen else (0,) * 4
        return {"executions": int(done[-1]) if done else executions, "coverage_edges": edges,
                "features": features, "corpus": corpus,
                "hangs": text.count("ERROR: libFuzzer: timeout"),
                "crashes": len(re.findall(r"Test unit written to", text))}


class Afl:
    """AFL++: afl-fuzz runs the program, which repeats itself in one process (persistent mode)."""
    result_file = "fuzz-afl.json"

    def __init__(self, build, target, seconds):
        self.out = os.path.join(build, "afl-out", target)
        self.log = os.path.join(build, "afl", target + ".log")
        self.kept = os.path.join(self.out, "default", "queue")
        shutil.rmtree(self.out, ignore_errors=True)
        os.makedirs(self.out)
        self.command = [
            "afl-fuzz", "-V", str(seconds), "-i", os.path.join(build, "inputs", target),
            "-o", self.out, "-x", os.path.join(HERE, target + ".dict"), "-m", "none", "-t", "5000+",
            "--", os.path.join(build, "afl", target)]
        self.environment = {
            "AFL_NO_UI": "1", "AFL_NO_AFFINITY": "1", "AFL_SKIP_CPUFREQ": "1",
            "AFL_I_DONT_CARE_ABOUT_MISSING_CRASHES": "1", "AFL_FORKSRV_INIT_TMOUT": "60000",
            "AFL_FAST_CAL": "1", "AFL_HANG_TMOUT": "25000",
            "ASAN_OPTIONS": "abort_on_error=1:symbolize=0:detect_leaks=0:"
                            "malloc_context_size=0:allocator_may_return_null=1"}

    def read(self):
        stats = {}
        try:
            with open(os.path.join(self.out, "default", "fuzzer_stats")) as f:
                for line in f:
                    name, _, value = line.partition(":")
                    stats[name.strip()] = value.strip()
        except FileNotFoundError:
            pass
        return {"executions": int(stats.get("execs_done", 0)),
                "coverage_edges": int(stats.get("edges_found", 0)),
                "favored": int(stats.get("corpus_favored", 0)),
                "corpus": int(stats.get("corpus_count", 0)),
                "hangs": int(stats.get("saved_hangs", 0)),
                "crashes": int(stats.get("saved_crashes", 0))}


def run_again(program, folder):
    """Run the inputs that another program kept in the folder; returns how many, and whether all
    pass."""
    inputs = [os.path.join(folder, n) for n in sorted(os.listdir(folder))]
    for at in range(0, len(inputs), 500):
        done = subprocess.run([program] + inputs[at:at + 500], check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if done.returncode != 0:
            sys.stderr.write(done.stdout.decode(errors="replace")[-6000:])
            return len(inputs), False
    return len(inputs), True


def main():
    arguments = sys.argv[1:]
    kind = Afl if arguments[:1] == ["--afl"] else LibFuzzer
    arguments = arguments[kind is Afl:]
    if len(arguments) < 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, seconds = os.path.abspath(arguments[0]), int(arguments[1])
    again = dict(t.split(":") if ":" in t else (t, "") for t in arguments[2:])
    targets = list(again)
    begin, bad, results = time.time(), False, []
    # fuzz_cli's scratch directory, in memory if possible
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="pprf-fuzz-", dir=memory) as scratch:
        runs = {t: kind(build, t, seconds) for t in targets}
        processes = {}
        for target, run in runs.items():
            with open(run.log, "w") as out:
                processes[target] = subprocess.Popen(
                    run.command, stdin=subprocess.DEVNULL, stdout=out, stderr=out,
                    env={**os.environ, "TMPDIR": scratch, **run.environment})
        while any(p.poll() is None for p in processes.values()):
            time.sleep(0.5)
            if sys.stderr.isatty():
                parts = ["%s %d" % (t, r.read()["executions"]) for t, r in runs.items()]
                sys.stderr.write("\r\033[Kfuzz %d of %d s: %s" % (time.time() - begin, seconds,
                                                                 ", ".join(parts)))
                sys.stderr.flush()
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    for target, run in runs.items():
        result = {"name": target, **run.read()}
        code = processes[target].returncode
        if code != 0 or result["crashes"] or result["hangs"]:
            bad = True
            result["crashes"] = max(1, result["crashes"])
            with open(run.log, errors="replace") as f:
                sys.stderr.write(f.read()[-6000:])
            print("fuzz: %s FAILED with status %d, log %s" % (target, code, run.log))
        elif result["executions"] < EXECUTIONS_MIN:
            bad = True
            print("fuzz: %s ran only %d inputs, log %s" % (target, result["executions"], run.log))
        results.append(result)
        more = next(k for k in ("features", "favored") if k in result)
        print("fuzz: %-12s %9d executions, %5d edges, %6d %s, %5d inputs kept, %d crashes"
              % (target, result["executions"], result["coverage_edges"], result[more], more,
                 result["corpus"], result["crashes"]))
        if again[target]:
            inputs, good = run_again(os.path.join(build, again[target]), run.kept)
            bad |= not good
            result["crashes"] += not good
            print("fuzz: %-12s %9d inputs kept, run by %s%s" % (
                target, inputs, again[target], "" if good else ": FAILED"))
    with open(os.path.join(build, kind.result_file), "w") as f:
        json.dump({"seconds": seconds, "targets": results,
                   "executions": sum(r["executions"] for r in results),
                   "crashes": sum(r["crashes"] for r in results)}, f, indent=1)
        f.write("\n")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
