#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""make test-full: every equivalence test at full length, about two hours on two cores.

full.py BUILD FUZZ_SECONDS   BUILD: the directory of the test programs; log in BUILD/full.log,
                             counts in BUILD/full.json

Every part runs even if others fail, and prints its time. At the end come counts: sequences, sets,
executions, coverage, planted bugs noticed, failures injected, kills survived.  Exit 1 if a part
fails.  """
import json
import os
import re
import subprocess
import sys
import time

LONG = ["residue", "memory", "exhaustive", "faults-asan", "random", "three-way", "crash",
        "faults", "shipped-prg"]
SHORT = ["vectors", "vectors-asan", "hostile", "hostile-asan", "vectors-regenerated", "api",
         "prg_choice", "forks", "threads", "secret-flow", "corpus-ops", "corpus-import", "corpus-cli"]


class Log:
    def __init__(self, path):
        self.file = open(path, "w")
        self.text = ""

    def print(self, line):
        print(line, flush=True)
        self.file.write(line + "\n")
        self.file.flush()
        self.text += line + "\n"


def run(log, command):
    """Run the command and log its output; returns whether it succeeded."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    for line in process.stdout:
        log.print(line.rstrip("\n"))
    return process.wait() == 0


def total(text, pattern):
    return sum(int(n) for n in re.findall(pattern, text))


def read(build, name):
    try:
        with open(os.path.join(build, name)) as f:
            return json.load(f)
    except (OSError, ValueError):
        return {}


def counts(build, text):
    coverage, planted, fuzz = (read(build, n) for n in ("coverage.json", "planted.json",
                                                        "fuzz.json"))
    return {
        "random sequences": total(text, r"# (\d+) sequences,"),
        "operations in them": total(text, r"sequences, (\d+) operations"),
        "sets of leaves": total(text, r"order_of_punctures_is_irrelevant \(\w+, (\d+) sets"),
        "orders of punctures": total(text, r"every_order_of_every_set_at_depth_3 \(\w+, (\d+)\)"),
        "ranges": total(text, r"every_range_after_every_puncture \(\w+, (\d+) ranges"),
        "key files truncated": total(text, r"every_prefix_is_rejected \(\w+, (\d+) files"),
        "key files changed": total(text, r"rejected_or_canonical \(\w+, (\d+) files"),
        "imports of these": total(text, r"keys compared, (\d+) imports"),
        "failures injected": total(text, r"# (\d+) failures injected"),
        "failures and kills at calls of pprf": total(text, r"# (\d+) failures and kills at calls"),
        "kills at random moments survived": total(text, r"old_or_the_new_key \((\d+) kills:"),
        "searches of the memory": total(text, r"# (\d+) searches"),
        "fuzzers' executions": fuzz.get("executions", 0),
        "crashes": fuzz.get("crashes", 0),
        "lines covered, %": round(coverage.get("lines", 0), 2),
        "branches covered, %": round(coverage.get("branches", 0), 2),
        "planted bugs": planted.get("planted", 0),
        "planted bugs noticed": planted.get("noticed", 0),
    }


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        return 2
    build, seconds = sys.argv[1:]
    jobs = str(min(os.cpu_count() or 1, 4))
    prove = ["prove", "--jobs", jobs, "--failures", "--comments", "--timer"]
    verbose = ["prove", "--jobs", jobs, "--verbose", "--timer"]  # test names contain counts
    make = ["make", "--no-print-directory"]
    parts = [
        ("long tests", verbose + [os.path.join(build, t) for t in LONG] + ["::", "--full"]),
        ("short tests", prove + [os.path.join(build, t) for t in SHORT] +
         ["cli/test_cli.py", "equivalence-tests/gates/test_gates.py"]),
        ("compilers and flags", make + ["residue-matrix"]),
        ("coverage", make + ["coverage"]),
        ("planted bugs", make + ["planted"]),
        ("fuzzing", make + ["fuzz", "FUZZ_SECONDS=" + seconds]),
    ]
    for name in ("coverage.json", "planted.json", "fuzz.json"):  # remove results of earlier runs
        if os.path.exists(os.path.join(build, name)):
            os.remove(os.path.join(build, name))
    log, begin, failed = Log(os.path.join(build, "full.log")), time.time(), []
    for i, (name, command) in enumerate(parts, 1):
        log.print("test-full: part %d of %d, %s; %d s so far" % (i, len(parts), name,
                                                                 time.time() - begin))
        part_begin = time.time()
        ok = run(log, command)
        log.print("test-full: %s: %s after %d s" % (name, "passed" if ok else "FAILED",
                                                    time.time() - part_begin))
        if not ok:
            failed.append(name)
    result = counts(build, log.text)
    log.print("test-full: %d s; %s" % (time.time() - begin, "failed: " + ", ".join(failed)
                                       if failed else "all passed"))
    for name, value in result.items():
        log.print("  %-36s %s" % (name, value))
    with open(os.path.join(build, "full.json"), "w") as f:
        json.dump({"seconds": round(time.time() - begin), "failed": failed, "counts": result}, f,
                  indent=1)
        f.write("\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
