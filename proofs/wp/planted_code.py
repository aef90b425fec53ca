#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of ref/wp/planted.txt and opt/wp/planted.txt. The judge, the proof of the
function that contains the bug, must fail. TAP.

The unchanged function is proven in the same way (a control): a bug is noticed if a goal stays
unproved that the control proves. If there is no such goal, and the control also has unproved goals,
these are taken apart and tried longer, with and without the bug. Goals that a bug leaves unchanged
come from this run's cache, and a bug's first unproved goal decides."""
import functools
import os
import re
import shutil
import sys

import prove
import proven_files

sys.path.insert(0, os.path.join(proven_files.ROOT, "tools"))
import planting  # noqa: E402

FIRST_TRY = 4  # seconds of CPU time per prover and goal: enough for most goals; every bug takes at least that


class Proofs(planting.Planter):
    jobs = os.cpu_count() + 1
    fresh = True  # each function has its own cache

    def __init__(self):
        goals = [key.split() for folder in proven_files.FOLDERS for key in proven_files.expectation(folder)["goals"]]
        self.unit_of = {function: unit for unit, function in goals}

    def options(self, parser):
        parser.add_argument("--function", help="only the bugs of this function")

    def bugs(self):
        return [bug for bug in super().bugs() if self.arg.function in (None, bug.judge)]

    def groups(self, bugs):
        functions = dict.fromkeys(bug.judge for bug in bugs)
        return [[bug for bug in bugs if bug.judge == function] for function in functions]

    def controls(self, _):
        prove.configure(os.path.join(proven_files.ROOT, "build", "wp"))
        return []  # each bug has its own

    def prepare(self, root):
        for folder in proven_files.SOURCES:
            shutil.copytree(os.path.join(proven_files.ROOT, folder), os.path.join(root, folder))

    def scope(self, bug, text):
        body = re.search(r"^[A-Za-z][^\n;]*\b" + bug.judge + r"\((?:[^;{]|\n)*\n\{\n(?:.*\n)*?\}\n", text, re.M)
        if not body or bug.judge not in self.unit_of:
            raise planting.NoPlace("%s is not among the proven functions of its file" % bug.judge)
        return body.span()

    def proof(self, function, root, prop, stop=None):
        """The first try; with prop the second one, for these annotations only."""
        unit = self.unit_of[function]
        hints = prove.hints_of(f"{unit} {function}")
        seconds, par, known = (FIRST_TRY, 1, hints) if prop is None else (prove.SECOND_TRY, len(prove.PROVERS), None)
        build = os.path.join(root, f"limit-{seconds}")  # a cache also keeps failures
        return prove.wp(root, unit, function, build, seconds, par, ("-wp-cache", "update"), prop, stop,
                        split=prop is not None, hints=known)

    @functools.cache
    def control(self, function, root, prop):
        """The goals that stay unproved without a bug."""
        total, valid, unproved, bad = self.proof(function, root, prop)
        if not valid or valid + len(unproved) != total or bad and prop is None:
            return None
        return set(unproved)

    def test(self, bug, root, prop=None):
        unproved = self.control(bug.judge, root, prop)
        if unproved is None:
            return "broken", "the unchanged function is not proven either"
        with self.planted(bug, root):
            total, _, failed, _ = self.proof(bug.judge, root, prop, unproved)
        if total == 0:
            return "broken", "Frama-C cannot read it"
        # by annotation, since a bug can change the numbers of its parts
        if {*map(prove.annotation, failed)} - {*map(prove.annotation, unproved)}:
            return "failed", "the proof"
        if prop is None and unproved:
            return self.test(bug, root, prove.again(bug.judge, unproved))
        return "passed", "the proof"


if __name__ == "__main__":
    sys.exit(planting.main(Proofs(), __doc__))
