#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that `prove.py --part` leaves out only what was proven in the same words, that chance alone
decides which of those, that functions which --minutes and --tenth do not start are reported, and
that a wrong number of goals fails. As TAP."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import assumptions  # noqa: E402
import prove  # noqa: E402
import proven_files  # noqa: E402

UNITS = [(file, name) for file in ("a.c", "b.c") for name in "abcdefghij"]
GOALS = {" ".join(unit): 1 + k for k, unit in enumerate(UNITS)}


def asked(unchanged, seed, goals=None):
    return prove.part_of(UNITS, goals or GOALS, unchanged, seed)


def a_changed_file_is_proven_whole():
    return all(set(UNITS[:10]) <= set(asked({"b.c"}, seed)) for seed in range(100)) and asked(set(), 1) == UNITS


def a_choice_that_forgets_what_changed_would_be_noticed():
    return not all(set(UNITS[:10]) <= set(asked({"a.c", "b.c"}, seed)) for seed in range(100))


def of_the_others_a_twentieth_of_the_goals():
    for seed in range(100):
        sizes = [GOALS[" ".join(unit)] for unit in asked({"a.c", "b.c"}, seed)]
        if not sum(GOALS.values()) <= 20 * sum(sizes) < sum(GOALS.values()) + 20 * max(GOALS.values()):
            return False
    return True


def each_function_has_its_turn():
    met = {unit for seed in range(100) for unit in asked({"a.c", "b.c"}, seed)}
    return met == set(UNITS)


def a_function_without_a_count_is_asked():
    fewer = {key: n for key, n in GOALS.items() if key != "b.c c"}
    return all(("b.c", "c") in asked({"a.c", "b.c"}, seed, fewer) for seed in range(100))


def another_text(old, new, file="ref/core.c"):
    """The digests of a file as it is, and after a change in prg/prg.h."""
    found = []
    for change in (False, True):
        with tempfile.TemporaryDirectory() as tmp:
            for folder in (*proven_files.SOURCES, "proofs/wp"):
                shutil.copytree(os.path.join(proven_files.ROOT, folder), os.path.join(tmp, folder), dirs_exist_ok=True)
            path = os.path.join(tmp, "prg/prg.h")
            with open(path, encoding="utf-8") as f:
                text = f.read()
            if old not in text:
                raise ValueError(f"prg/prg.h does not hold: {old}")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace(old, new, 1) if change else text)
            found.append(prove.digests(assumptions.read(tmp, [file])))
    return found


def a_clause_in_a_header_is_another_text():
    before, after = another_text("prg_error(\\result.err)", "\\result.err == 2")
    return before != after


def a_contract_counts_where_the_function_is_called():
    change = "ensures results: \\result == 0 || prg_error(\\result);", "ensures results: \\result == 0;"
    other, another = another_text(*change)
    user, changed = another_text(*change, "ref/codec.c")  # it calls prg_digest, ref/core.c does not
    return other == another and user != changed


def words_that_frama_c_does_not_read_are_the_same_text():
    before, after = another_text("#include", "/* a word for readers */\n#include")
    return before == after


def what_no_run_proved_is_not_recorded():
    with tempfile.TemporaryDirectory() as tmp:
        prove.RECORD, prove.PROVEN_HERE = os.path.join(tmp, "record"), os.path.join(tmp, "here")
        texts = {file: "now " + file for file in proven_files.FILES}
        first, *others = proven_files.FILES
        for path, found in ((prove.RECORD, {**texts, first: "earlier"}), (prove.PROVEN_HERE, {})):
            with open(path, "w", encoding="utf-8") as f:
                json.dump(found, f)
        refused = prove.write_record(texts) == [first] and set(prove.proven_before(prove.RECORD)) == set(others)
        with open(prove.PROVEN_HERE, "w", encoding="utf-8") as f:
            json.dump({first: texts[first]}, f)
        return refused and not prove.write_record(texts) and prove.proven_before(prove.RECORD) == texts


def minutes_begin_with_ref_and_the_api():
    todo = [("ref/core.c", "ref_eval"), *UNITS, ("opt/core.c", "pprf_eval"), ("opt/core.c", "eval")]
    first, others = prove.in_minutes(todo, 1)
    return (first == [todo[0], todo[-2]] and sorted(first + others) == sorted(todo) and
            others == prove.in_minutes(todo, 1)[1] != prove.in_minutes(todo, 2)[1])


def what_was_not_begun_is_said():
    drawn = [f"a.c {name}" for name in "abcdefghijklmnop"]
    said, wrong = prove.begun_of(drawn, set(drawn[2:]), prove.least_of(drawn))
    return said == "2 of 16 functions, 14 not begun in time" and not wrong


def a_sample_that_began_too_few_fails():
    drawn = [f"a.c {name}" for name in "abcdefghijklmnop"]
    return (prove.begun_of(drawn, set(drawn[1:]), prove.least_of(drawn))[1] ==
            ["1 of 16 functions, 15 not begun in time; at least 2 have to be"] and prove.least_of(drawn[:1]) == 1)


def lanes_have_processors_and_memory():
    return [prove.lanes_for(*machine) for machine in ((2, 24000), (16, 16000), (64, 1000))] == [3, 10, 1]


def with_a_wrong_number(*arguments):
    """A proof of ref_setup where expected.json says 8 goals: (result, the file before, after, as it should be). In a
    folder whose name Why3 would split."""
    with tempfile.TemporaryDirectory(prefix="it's a tree ") as tmp:
        for folder in (*proven_files.SOURCES, "proofs/wp"):
            shutil.copytree(os.path.join(proven_files.ROOT, folder), os.path.join(tmp, folder), dirs_exist_ok=True)
        path = os.path.join(tmp, "ref/wp/expected.json")
        with open(path, encoding="utf-8") as f:
            right = f.read()
        wrong = right.replace('"ref/core.c ref_setup": 9,', '"ref/core.c ref_setup": 8,', 1)
        with open(path, "w", encoding="utf-8") as f:
            f.write(wrong)
        result = subprocess.run([sys.executable, os.path.join(tmp, "proofs/wp/prove.py"), "--function", "ref_setup",
                                 *arguments], cwd=tmp, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                check=False)
        print("".join(f"# {line}\n" for line in result.stdout.splitlines()[-6:]), end="")
        with open(path, encoding="utf-8") as f:
            return result, wrong, f.read(), right


def a_wrong_number_of_goals_fails_and_is_not_recorded():
    result, before, after, _ = with_a_wrong_number()
    return result.returncode != 0 and "expected.json says 8 goals" in result.stdout and after == before


def an_update_writes_the_number():
    result, _, after, right = with_a_wrong_number("--update")
    return result.returncode == 0 and json.loads(after)["goals"] == json.loads(right)["goals"]


TESTS = [a_changed_file_is_proven_whole, a_choice_that_forgets_what_changed_would_be_noticed,
         of_the_others_a_twentieth_of_the_goals, each_function_has_its_turn, a_function_without_a_count_is_asked,
         a_clause_in_a_header_is_another_text,
         a_contract_counts_where_the_function_is_called, words_that_frama_c_does_not_read_are_the_same_text,
         what_no_run_proved_is_not_recorded, minutes_begin_with_ref_and_the_api, what_was_not_begun_is_said,
         a_sample_that_began_too_few_fails, lanes_have_processors_and_memory,
         a_wrong_number_of_goals_fails_and_is_not_recorded, an_update_writes_the_number]


def main():
    print(f"1..{len(TESTS)}", flush=True)
    failed = False
    for number, test in enumerate(TESTS, 1):
        good = test()
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {test.__name__}", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
