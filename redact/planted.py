#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of redact/planted.txt. TAP. Judges: a test of test_redact.py, or "fuzz"."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import planting  # noqa: E402


class Redact(planting.Suites):
    built = ["flags", "prg", "opt", "cli", "redact", "pprf-redact"]

    def suite(self, judge):
        if judge == "fuzz":
            return "build/redact/fuzz", ["build/redact/fuzz"]
        return "build/redact/test.so build/pprf-redact", ["/usr/bin/python3", "redact/test_redact.py", "test_" + judge]


if __name__ == "__main__":
    sys.exit(planting.main(Redact(), __doc__))
