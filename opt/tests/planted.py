#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of opt/tests/planted.txt.  TAP.  Their judges:

  GROUP,...        these groups of opt/selftest must fail
  arena_test       it contains opt/packed/arena.c and tears its lists
  batch_test       it contains opt/batch.c with narrower counts
  room_test        it contains opt/wide.c and fills pages to the last byte
  fallback         a wrong version of the PRG: its own test alone has to fail, because the library takes another version
  fallback-avx512  the same, of a version that not every processor can run"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import planting  # noqa: E402

SELFTEST = "build/opt/selftest"


class Opt(planting.Suites):
    built = ["flags", "prg", "opt"]
    environment = {}  # all failures are examined; -x stops at the first where one is enough

    def bugs(self):
        groups = re.findall(r'\{"(\w+)", \w+\}', planting.read(os.path.join(planting.TOP, "opt/selftest/main.c")))
        known = {*groups, "arena_test", "batch_test", "room_test", "fallback", "fallback-avx512"}
        found = super().bugs()
        for bug in found:
            if not known.issuperset(bug.judge.split(",")):
                sys.exit("%s: opt/selftest has no group %s" % (bug.name, bug.judge))
        return found

    def suite(self, judge):
        if judge in ("arena_test", "batch_test", "room_test"):
            return "build/opt/" + judge, ["build/opt/" + judge]
        return SELFTEST, [SELFTEST, *(["-t", "sets,prg"] if judge.startswith("fallback") else ["-x", "-t", judge]), "1"]

    def judge(self, judge, root):
        if judge == "fallback-avx512":
            planting.run([SELFTEST, "-t", "prg", "1"], root, planting.HANGS, PPRF_PRG="avx512")
            if "cannot run avx512" in planting.output(root):
                return "skip", "no AVX-512 here"
        verdict, words = super().judge(judge, root)
        if verdict == "failed" and judge.startswith("fallback"):
            text = planting.output(root)
            failed = re.findall(r"^not ok \d+ - (\w+)", text, re.M)
            if ("every_version_of_the_prg_is_sha3_256" not in failed or "\n# the PRG is evp" not in "\n" + text or
                    not all(re.match("every_version_|any_number_of_steps_", f) for f in failed) or
                    not re.search(r"^1\.\.\d+$", text, re.M)):
                return "broken", "other tests than the version's own fail, or there is no fallback"
        return verdict, words


if __name__ == "__main__":
    sys.exit(planting.main(Opt(), __doc__))
