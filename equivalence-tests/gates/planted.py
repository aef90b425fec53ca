#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of planted.txt and bench/wprf/planted.txt: the suite named in a bug's line must
fail. TAP. Without --quick and --sample, that suite must also pass without a bug."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import planting  # noqa: E402


class Tests(planting.Suites):
    built = ["flags", "oracle", "prg", "ref", "opt", "cli", "bench",
             *("equivalence-tests/" + variant for variant in ("plain", "asan", "tsan"))]

    def controls(self, bugs):
        short = self.arg.quick or self.arg.sample  # make test runs the suites themselves, too
        return [] if short else super().controls(bugs)

    def suite(self, judge):
        if judge in ("cli", "file_systems"):
            return "build/pprf", ["python3", f"cli/test_{judge}.py", "--pprf", "build/pprf", "--seed", "1"]
        if judge.startswith("test_"):  # a test of test_gates.py
            return "Makefile", ["python3", "equivalence-tests/gates/test_gates.py", judge]
        if judge.startswith("wprf"):
            if judge in ("wprf_model", "wprf_flow"):
                return "build/bench/wprf/wprf.so", ["python3", "bench/wprf/model.py"]
            return "build/bench/wprf/test_wprf", ["build/bench/wprf/test_wprf"]
        target = "build/equivalence-tests/" + judge
        return target, [target]

    def judge(self, judge, root):
        found = super().judge(judge, root)
        lacks = [line for line in planting.output(root).splitlines() if "# SKIP" in line and judge.startswith("wprf_")]
        return ("skip", lacks[0]) if found[0] == "passed" and lacks else found


if __name__ == "__main__":
    sys.exit(planting.main(Tests(), __doc__))
