#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that context.c leaves out assertions and does nothing else, and that a goal which does not
follow is never called proven, as TAP. SEED=... repeats a run."""
import os
import random
import re
import resource
import stat
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import prove  # noqa: E402

SEED = os.environ.get("SEED") or str(random.SystemRandom().randrange(10 ** 9))
PROVERS = [command.split()[:-1] for _, command in prove.COMMANDS.values()]
GOAL = ";; Goal wp_goal\n(assert (not (below a c)))\n"
HEAD = "(set-logic ALL)\n(declare-sort point 0)\n" + "".join(
    f"(declare-fun {name} () Int)\n" for name in "abc") + "(declare-fun below (Int Int) Bool)\n"
DEFINITION = ";; below'def\n(assert (forall ((x Int) (y Int)) (= (below x y) (< x y))))\n"
FACTS = [";; H1\n(assert (< a b))\n", ";; H2\n(assert (< b c))\n"]
# Z3 reads "q or c" in the fourth line; without the part that looks like an assertion it reads "q"
ODD_COMMENTS = """(set-logic ALL)
(declare-fun q () Bool)
(declare-fun c () Bool)
#| | |# (assert (or q #| (assert |# c #|) |# )) #| | |#
(assert (not q))
(check-sat)
"""
CHECK = "(check-sat)\n(get-info :reason-unknown)\n"


class Run:
    """Runs context on a text, with stubs for both provers or with the commands first and second."""

    def __init__(self, text, say="sat\\n", first=None, second=None, then="exit 0", milliseconds=5000):
        with tempfile.TemporaryDirectory() as tmp:
            self.path = os.path.join(tmp, "goal.smt2")
            with open(self.path, "w", encoding="utf-8") as f:
                f.write(text)
            stubs = {"first": f'cat "$1" > {tmp}/seen; printf "{say}"; {then}',
                     "second": f'printf "%s " "$@" > {tmp}/whole; cat "$1" >> {tmp}/whole; echo whole; exit 3'}
            for name, script in stubs.items():
                with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
                    f.write(f"#!/bin/sh\n{script}\n")
                os.chmod(f.name, stat.S_IRWXU)
            done = subprocess.run([PROGRAM, str(milliseconds), *(first or [os.path.join(tmp, "first")]), "--",
                                   *(second or [os.path.join(tmp, "second")]), self.path],
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
            self.status, self.output = done.returncode, done.stdout
            self.seen, self.whole = (self.read(os.path.join(tmp, name)) for name in ("seen", "whole"))
        self.text = text

    @staticmethod
    def read(path):
        if not os.path.exists(path):
            return None
        with open(path, encoding="utf-8", newline="") as f:
            return f.read()

    def asked_the_whole(self):
        """Whether the second prover saw the file itself, and only its output was printed."""
        return self.whole == self.path + " " + self.text and (self.output, self.status) == ("whole\n", 3)


def pieces(rng):
    """A goal in pieces: [(text, whether it is an assertion that may be left out)]."""
    names = ["f%d" % k for k in range(5)] + ["|f (%d)|" % k for k in range(2)]
    found = [("(set-logic ALL)\n", False)]
    found += [(f"(declare-fun {name} (Int) Int)\n", False) for name in names]
    odd = [" ; ) not the end (\n", ' ""', ' "; (assert"', " |; )|", ""]
    for k in range(rng.randrange(1, 40)):
        found.append((rng.choice([f";; Q_{k}\n", f";; f{k % 5}'def\n", "; (assert false)\n", "\n", '; "\n', "; |\n"]),
                      False))
        if rng.random() < 0.2:
            found.append((f"(declare-fun g{k} () Int)", False))
        words = " ".join(f"({rng.choice(names)} {rng.randrange(9)})" for _ in range(rng.randrange(4)))
        found.append((f"(assert (=> true{rng.choice(odd)}(distinct 0 1 {words})))", True))
    goal = rng.choice(["(not (= (f0 1) (f1 2)))", "(not (< (f0 (f1 (f2 3))) (|f (1)| 2)))", "false", "(not (< 1 2))"])
    return found + [(f"\n;; Goal\n(assert {goal})\n", False), (CHECK, False)]


def left_out(seen, parts):
    """How many pieces a copy lacks; None if it is anything but the pieces without some that may be
    left out."""
    at = missing = 0
    for text, may in parts:
        if seen.startswith(text, at):
            at += len(text)
        elif may:
            missing += 1
        else:
            return None
    return missing if at == len(seen) else None


def the_copy_lacks_assertions_and_nothing_else():
    rng, missing, kept = random.Random(SEED), 0, 0
    for _ in range(100):
        parts = pieces(rng)
        run = Run("".join(text for text, _ in parts))
        lacks = left_out(run.seen or "", parts)
        if lacks is None:
            print("#", repr(run.text), "\n#", repr(run.seen))
            return False
        missing += lacks
        kept += sum(may for _, may in parts) - lacks
    return missing > 20 and kept > 20


def a_copy_that_differs_would_be_noticed():
    parts = [("(a)", False), ("(assert b)", True), ("(assert c)", True)]
    return ([left_out(seen, parts) for seen in ("(a)(assert b)(assert c)", "(a)(assert c)")] == [0, 1] and
            all(left_out(seen, parts) is None for seen in (
                "(assert b)(assert c)", "(a)(assert d)(assert c)", "(a)(assert b)(assert c) ",
                "(a)(assert c)(assert b)", "(assert b)(a)(assert c)", "(a)(assert b")))


def what_the_goal_speaks_of_stays():
    run = Run(HEAD + DEFINITION + "".join(FACTS) + GOAL + CHECK)
    return DEFINITION in run.seen and GOAL in run.seen and not any(fact in run.seen for fact in FACTS)


def unsat_is_passed_on_with_all_that_was_said():
    run = Run(HEAD + GOAL + CHECK, "unsat\\n(error)\\n", then="exit 1")
    return run.output == "unsat\n(error)\n" and run.status == 0 and run.whole is None


def anything_else_asks_about_the_whole():
    says = ["", "sat\\n", "unknown\\n", "timeout\\n", "unsat", "unsatisfiable\\n", " unsat\\n", "UNSAT\\n",
            "sat\\nunsat\\n", "(error)\\nunsat\\n", "\\nunsat\\n"]
    return all(Run(HEAD + GOAL + CHECK, say).asked_the_whole() for say in says)


def a_prover_that_dies_is_not_believed():
    return Run(HEAD + GOAL + CHECK, "unsat\\n", then="kill -9 $$").asked_the_whole()


def a_prover_has_its_seconds():
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    ended = Run(HEAD + GOAL + CHECK, "", then="ulimit -t 10; while :; do :; done", milliseconds=500).asked_the_whole()
    return ended and resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 5


def other_commands_ask_about_the_whole_alone():
    texts = [HEAD + odd + DEFINITION + GOAL + CHECK for odd in (
        "(push 1)\n", "(pop 1)\n", "(reset)\n", "(check-sat)\n", "(assert-soft a)\n", "(define-fun-rec f () Int 1)\n",
        "(declare-fun", ")", '"', "|", "(exit)\n", "(include \"x\")\n")]
    texts += [HEAD + GOAL, HEAD + CHECK, HEAD + GOAL + CHECK + GOAL, HEAD + GOAL + CHECK + CHECK, ""]
    texts += [HEAD + GOAL + CHECK + open_end for open_end in ("(get-info :name", "(get-info :name))", "\r\n")]
    texts += [ODD_COMMENTS, HEAD + "(declare-fun |\\| () Int)\n" + GOAL + CHECK]
    return all(run.seen is None and run.asked_the_whole() for run in (Run(text, "unsat\\n") for text in texts))


def with_provers(text):
    """Each prover's answer, when asked first about the copy."""
    return [re.split(r"\n", Run(text, first=command, second=command).output)[0] for command in PROVERS]


def what_needs_an_assertion_left_out_is_still_proven():
    text = HEAD + DEFINITION + "".join(FACTS) + GOAL + CHECK
    return with_provers(text) == ["unsat"] * len(PROVERS)


def what_does_not_follow_is_not_proven():
    parts = [DEFINITION, *FACTS]
    weaker = [parts[:k] + parts[k + 1:] for k in range(len(parts))]
    weaker += [[DEFINITION, FACTS[0], FACTS[1].replace("< b c", "< c b")], [DEFINITION.replace("(< x", "(> x"), *FACTS],
               [DEFINITION, *FACTS, ";; H3\n; (assert false)\n"]]
    goals = [GOAL] * (len(weaker) - 1) + [GOAL.replace("a c", "c a")]
    texts = [HEAD + "".join(facts) + goal + CHECK for facts, goal in zip(weaker, goals)]
    return all("unsat" not in with_provers(text) for text in texts + [ODD_COMMENTS])


TESTS = [the_copy_lacks_assertions_and_nothing_else, a_copy_that_differs_would_be_noticed,
         what_the_goal_speaks_of_stays, unsat_is_passed_on_with_all_that_was_said, anything_else_asks_about_the_whole,
         a_prover_that_dies_is_not_believed, a_prover_has_its_seconds, other_commands_ask_about_the_whole_alone,
         what_needs_an_assertion_left_out_is_still_proven, what_does_not_follow_is_not_proven]


def main():
    print(f"1..{len(TESTS)}\n# SEED={SEED}", flush=True)
    failed = False
    for number, test in enumerate(TESTS, 1):
        good = test()
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {test.__name__}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as built:
        PROGRAM = prove.context(built)
        main()
