#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the weakenings of planted.txt, each of which must fail `make prove-coq-gate`, as TAP.

Run by `make test-prove-gate` in a tree whose build/coq is up to date: each weakening is planted in a copy, and the gate
must fail there with the message that belongs to it. Each compiles again what depends on it, all of them together for
a quarter of an hour: `make sample` runs a tenth."""
import glob
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import planting  # noqa: E402


class Gate(planting.Planter):
    """The judge is the gate, with the message that it must give."""
    jobs = os.cpu_count()
    fresh = True  # what is compiled of a weakening is no part of another copy

    def controls(self, _):
        return ["the gate"]

    def prepare(self, root):
        os.chdir(planting.TOP)
        files = [f for d in ("spec", "proofs", "proofs/tools")
                 for f in glob.glob(f"{d}/**/*.v", recursive=True) + glob.glob(f"{d}/*.*")]
        for f in files + ["Makefile", "_CoqProject"]:
            os.makedirs(os.path.dirname(os.path.join(root, f)), exist_ok=True)
            shutil.copy2(f, os.path.join(root, f))
        for d in ("build/coq", "include", "prg", "ref", "opt"):
            shutil.copytree(d, os.path.join(root, d), ignore=shutil.ignore_patterns("rules.mk"))
        for rules in glob.glob("*/rules.mk"):  # of other folders nothing is built
            path = os.path.join(root, rules)
            if not os.path.exists(path):
                os.makedirs(os.path.dirname(path), exist_ok=True)
                planting.write(path, "")

    def judge(self, judge, root):
        # -k: all that fails is named, whichever of several files is compiled first
        verdict = planting.run(["make", "-k", "--no-print-directory", "prove-coq-gate"], root, 3600)
        text = planting.output(root)
        # in spec/ it only has to compile: what does not shows nothing of the theorems
        said = any(re.search(message, text, re.S) for message in judge.split(" or "))
        if verdict == "failed" and judge != "the gate" and (not said or 'File "./spec/' in text):
            return "broken", "the gate fails for another reason"
        return verdict, "the gate"


if __name__ == "__main__":
    sys.exit(planting.main(Gate(), __doc__))
