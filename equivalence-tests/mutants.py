#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of mutants.txt: a suite has to fail, the one that the line names first.  TAP.

Without --first, --quick and --sample every suite has to pass without a bug, and what the named one lets through is
shown to the others."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import planting  # noqa: E402

SUITES = ["vectors", "vectors-asan", "hostile", "forks", "random", "exhaustive", "faults", "faults-asan",
          "residue", "residue-mls", "memory", "api", "prg_choice", "wide_prg", "wide_prg-libcrypto", "secret-flow",
          "threads", "corpus-ops", "corpus-import", "corpus-cli", "crash", "cli", "three-way"]


class Mutants(planting.Suites):
    list = "equivalence-tests/mutants.txt"
    built = ["flags", "oracle", "prg", "common", "ref", "opt", "cli", "bench",
             *("equivalence-tests/" + variant for variant in ("plain", "asan", "tsan"))]
    cpu = 240

    def options(self, parser):
        parser.add_argument("--first", action="store_true", help="only the suite that the line names")

    def short(self):
        return self.arg.quick or self.arg.sample  # the suites run on their own beside this

    def controls(self, bugs):
        return [] if self.short() else [s for s in SUITES if s in super(Mutants, self).controls(bugs)]

    def judges(self, bug):
        first = self.short() or self.arg.first or bug.equal
        return [bug.judge] + [suite for suite in SUITES if suite != bug.judge and not first]

    def suite(self, judge):
        if judge == "cli":
            return "build/pprf", ["python3", "cli/test_cli.py", "--pprf", "build/pprf", "--seed", "1"]
        target = "build/equivalence-tests/" + judge
        return target, [target]


if __name__ == "__main__":
    sys.exit(planting.main(Mutants(), __doc__))
