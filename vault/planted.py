#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of vault/planted.txt. TAP. Judges: test_vault; test_faults; "cli TEST", a test of test_vault.py."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import planting  # noqa: E402


class Vault(planting.Suites):
    built = ["flags", "prg", "opt", "ref", "cli", "vault", "pprf", "pprf-vault"]

    def suite(self, judge):
        if judge in ("test_vault", "test_faults"):
            return f"build/vault/{judge}", [f"build/vault/{judge}"] + (["800"] if judge == "test_faults" else [])
        return "build/pprf build/pprf-vault", [sys.executable, "vault/test_vault.py", "test_" + judge.split()[1]]


if __name__ == "__main__":
    sys.exit(planting.main(Vault(), __doc__))
