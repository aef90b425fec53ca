#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TAP: the gates of fuzzing, coverage and planted bugs fail when they should, and only then."""
import contextlib
import fnmatch
import glob
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, *(os.path.join(HERE, "..", *where) for where in (["fuzz"], ["..", "tools"]))]
import check  # noqa: E402
import random_bugs  # noqa: E402
import pack  # noqa: E402
import planting  # noqa: E402
import reach  # noqa: E402
import tap  # noqa: E402

GOOD = "#4242\tDONE   cov: 10 ft: 20 corp: 5/1b\nstat::number_of_executed_units: 4242\n"


class Case(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="pprf-gates-")
        self.addCleanup(shutil.rmtree, self.dir)

    def write(self, name, text, mode=0o644):
        path = os.path.join(self.dir, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)
        os.chmod(path, mode)
        return path


class Fuzzing(Case):
    def gate(self, text, status):
        """Run fuzz.py on a target with this output and exit status, and on a good one."""
        self.write("good", "#!/bin/sh\ncat <<'E'\n%sE\n" % GOOD, 0o755)
        self.write("target", "#!/bin/sh\ncat <<'E'\n%sE\nexit %d\n" % (text, status), 0o755)
        return subprocess.run([sys.executable, os.path.join(HERE, "..", "fuzz", "fuzz.py"), self.dir, "1", "good",
                               "target"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).returncode

    def test_a_run_without_findings_passes(self):
        self.assertEqual(self.gate(GOOD, 0), 0)

    def test_a_crash_fails(self):
        self.assertEqual(self.gate(GOOD + "Test unit written to x\n", 77), 1)

    def test_a_crash_fails_whatever_the_status(self):
        self.assertEqual(self.gate(GOOD + "Test unit written to x\n", 0), 1)

    def test_a_target_that_hardly_runs_fails(self):
        self.assertEqual(self.gate(GOOD.replace("4242", "42"), 0), 1)

    def test_a_target_that_does_not_start_fails(self):
        self.assertEqual(self.gate("no such file\n", 127), 1)

    def again(self, script):
        """Run fuzz.py on a good target whose kept input this program runs."""
        self.write("corpus/target/input", "x")
        if script is not None:
            self.write("again", "#!/bin/sh\n" + script, 0o755)
        self.write("target", "#!/bin/sh\ncat <<'E'\n%sE\n" % GOOD, 0o755)
        return subprocess.run([sys.executable, os.path.join(HERE, "..", "fuzz", "fuzz.py"), self.dir, "1",
                               "target:again"], check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE).returncode

    def test_kept_inputs_are_run_again(self):
        self.assertEqual(self.again('test "$(cat "$1")" = x\n'), 0)

    def test_a_kept_input_that_fails_fails(self):
        self.assertEqual(self.again('test "$(cat "$1")" != x\n'), 1)

    def test_a_program_that_is_missing_fails(self):
        self.assertNotEqual(self.again(None), 0)


class Packing(Case):
    """pack.py on a target that reaches the features named in an input, eight an edge, and dies of
    `crash`."""
    TARGET = """#!/usr/bin/env python3
import os, sys
control = next(a.split("=")[1] for a in sys.argv if a.startswith("-merge_control_file="))
paths = [os.path.join(d, n) for d in sys.argv if os.path.isdir(d) for n in os.listdir(d)]
with open(control, "w") as out:
    print(len(paths), 0, *paths, sep="\\n", file=out)
    for i, path in enumerate(paths):
        features = open(path).read()
        print("STARTED", i, len(features), file=out)
        if features != "crash":
            print("FT", i, features, file=out)
"""

    def gate(self, *inputs, most=300):
        """The exit status, and the packed inputs."""
        folder = tempfile.mkdtemp(dir=self.dir)
        for i, text in enumerate(inputs):
            self.write("%s/input-%d" % (folder, i), text)
        program, archive = self.write("target", self.TARGET, 0o755), os.path.join(folder, "archive")
        kept, pack.MOST, sys.argv[1:] = (pack.MOST, sys.argv[1:]), most, [program, archive, folder]
        try:
            with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                status = pack.main()
        except SystemExit as end:
            return str(end), None
        finally:
            pack.MOST, sys.argv[1:] = kept
        return status, archive if os.path.exists(archive) else None

    @staticmethod
    def members(archive):
        with tarfile.open(archive) as tar:
            return [(m, tar.extractfile(m).read()) for m in tar]

    def packs(self, chosen, *inputs, **kwargs):
        status, archive = self.gate(*inputs, **kwargs)
        self.assertEqual(status, 0)
        self.assertEqual(sorted(data.decode() for _, data in self.members(archive)), sorted(chosen))

    def test_an_input_that_adds_nothing_is_left_out(self):
        self.packs(["0 8 16"], "0 8", "0 8 16", "16")

    def test_one_that_adds_a_count_is_taken(self):
        self.packs(["0 8", "1"], "0 8", "1", "0")

    def test_edges_come_before_counts(self):
        self.packs(["0 8"], "0 1 2 3", "0 8", most=1)

    def test_no_more_than_allowed_are_taken(self):
        self.packs(["0 8", "1 2"], "0 8", "1 2", "3", most=2)

    def test_an_edge_left_out_fails(self):
        self.assertEqual(self.gate("0", "8", most=1), (1, None))

    def test_an_input_that_crashes_fails(self):
        status, archive = self.gate("0", "crash")
        self.assertIn("input-1", status)
        self.assertIsNone(archive)

    def test_no_input_fails(self):
        self.assertIn("no input", self.gate()[0])

    def test_the_same_inputs_make_the_same_archive(self):
        archives = []
        for inputs in (["0", "8", "16"], ["16", "0", "0", "8"]):
            _, archive = self.gate(*inputs)
            with open(archive, "rb") as f:
                archives.append(f.read())
        self.assertEqual(*archives)
        self.assertEqual(archives[0][4:8], bytes(4))  # the timestamp of gzip

    def test_the_committed_archives_are_as_pack_writes_them(self):
        archives = glob.glob(os.path.join(HERE, "..", "fuzz", "corpus", "*"))
        self.assertEqual(len(archives), 3)
        for archive in archives:
            members, again = self.members(archive), os.path.join(self.dir, "again")
            self.assertTrue(0 < len(members) <= pack.MOST, archive)
            pack.pack([data for _, data in members], again)
            for m, m2 in zip(members, self.members(again), strict=True):
                self.assertEqual((m[0].get_info(), m[1]), (m2[0].get_info(), m2[1]))


class Coverage(Case):
    """A program of 40 covered lines, an uncovered one, and a branch with only one outcome."""

    def gate(self, reasons, again=0):
        source = ("int f(int x)\n{\n" + "  x++;\n" * 40 + "  if (x == 7)\n    return 9;\n" * (1 + again) +
                  "  for (int i = 0; i < 1; i++)\n    x--;\n" * 12 + "  return x;\n}\n"
                  "int main(void)\n{\n  return f(0) - f(0);\n}\n")
        self.write("ref/x.c", source)
        self.write("equivalence-tests/gates/uncovered.txt", reasons)
        shutil.copy(os.path.join(HERE, "coverage.py"), os.path.join(self.dir, "equivalence-tests", "gates"))
        os.mkdir(os.path.join(self.dir, "cov"))
        subprocess.run(["clang", "-fprofile-instr-generate", "-fcoverage-mapping", "-o", "cov/x",
                        "ref/x.c"], cwd=self.dir, check=True)
        return subprocess.run([sys.executable, "equivalence-tests/gates/coverage.py", "cov", "cov/x"],
                              cwd=self.dir, check=False, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True)

    LINE = "ref/x.c | line | return 9; | seven is never reached here\n"
    BRANCH = "ref/x.c | true | x == 7 | seven is never reached here\n"

    def test_a_reason_for_everything_passes(self):
        r = self.gate(self.LINE + self.BRANCH)
        self.assertEqual(r.returncode, 0, r.stdout)

    def test_a_line_without_a_reason_fails(self):
        r = self.gate(self.BRANCH)
        self.assertEqual(r.returncode, 1)
        self.assertIn("no reason: ref/x.c | line | return 9;", r.stdout)

    def test_a_branch_without_a_reason_fails(self):
        r = self.gate(self.LINE)
        self.assertEqual(r.returncode, 1)
        self.assertIn("no reason: ref/x.c | true | x == 7", r.stdout)

    def test_a_reason_for_what_is_covered_fails(self):
        r = self.gate(self.LINE + self.BRANCH +
                      "ref/x.c | line | return x; | it is reached, though\n")
        self.assertEqual(r.returncode, 1)
        self.assertIn("a reason without a gap", r.stdout)

    def test_a_reason_is_for_as_many_places_as_it_says(self):
        r = self.gate(self.LINE + self.BRANCH, again=1)
        self.assertEqual(r.returncode, 1)
        for place in ("line | return 9;", "true | x == 7"):
            self.assertIn("2 places, not 1: ref/x.c | " + place, r.stdout)

    def test_a_reason_for_two_places_passes(self):
        r = self.gate((self.LINE + self.BRANCH).replace(" | line", " | line*2").replace("true", "true*2"), again=1)
        self.assertEqual(r.returncode, 0, r.stdout)

    def test_a_reason_for_more_places_than_there_are_fails(self):
        r = self.gate(self.LINE.replace("line", "line*2") + self.BRANCH)
        self.assertEqual(r.returncode, 1)
        self.assertIn("1 places, not 2", r.stdout)

    def test_two_reasons_for_one_text_fail(self):
        self.assertNotEqual(self.gate(self.LINE + self.BRANCH + self.LINE).returncode, 0)

    def test_a_line_of_another_form_fails(self):
        self.assertNotEqual(self.gate("ref/x.c | line | return 9;\n").returncode, 0)


class PlantedBugs(Case):
    """planting.py with one bug in one file, and a judge that notices it, or does not, or hangs."""

    def gate(self, line="a bug | file | judge | one ==> two", notices="grep -q two", args=(), text="one\n", more="",
             name="file"):
        self.write("list", line + "\n" + more)
        self.write("tree/" + name, text)
        self.write("judge", "#!/bin/sh\nif %s file; then echo 'not ok 1 - it'; exit 1; fi\n" % notices, 0o755)
        directory = self.dir

        class One(planting.Planter):
            def bugs(self):
                return planting.load(os.path.join(directory, "list"))

            def prepare(self, root):
                shutil.copy(os.path.join(directory, "tree", "file"), root)

            def judge(self, judge, root):
                if judge == "compiler":
                    return "broken", "it does not compile"
                return planting.run([os.path.join(directory, "judge")], root, 1), judge

        kept = planting.TOP, sys.argv, os.environ.pop("SEED", None), os.environ.pop("ALL", None)
        planting.TOP, sys.argv = os.path.join(directory, "tree"), ["planted.py", *args]
        try:
            with contextlib.redirect_stdout(io.StringIO()) as out:
                return planting.main(One(), ""), out.getvalue()
        finally:
            planting.TOP, sys.argv = kept[:2]
            os.environ.update({n: v for n, v in zip(("SEED", "ALL"), kept[2:]) if v is not None})

    def fails(self, says, *args, **kwargs):
        status, text = self.gate(*args, **kwargs)
        self.assertEqual(status, 1, text)
        self.assertIn(says, text)

    def passes(self, says, *args, **kwargs):
        status, text = self.gate(*args, **kwargs)
        self.assertEqual(status, 0, text)
        self.assertIn(says, text)
        self.assertNotIn("not ok", text.replace("# not ok 1 - it", ""))

    def test_a_bug_that_is_noticed_passes(self):
        self.passes("ok 3 - a bug: noticed by judge\n# not ok 1 - it\n# 1 of 1 planted bugs noticed")

    def test_a_bug_that_survives_fails(self):
        self.fails("not ok 3 - a bug: SURVIVED\n# 0 of 1", notices="grep -q three")

    def test_a_hang_is_noticed_only_where_the_list_says_so(self):
        loop = "while grep -q two file; do :; done; false"  # stopped by the limit on processor time
        self.fails("not ok 3 - a bug: hangs in judge", notices=loop)
        self.passes("a bug: noticed by judge", "a bug | file | judge (hangs) | one ==> two", notices=loop)

    def test_an_equivalent_change_must_pass(self):
        self.passes("a bug: equivalent, passes\n# 0 of 0", "~a bug | file | judge | one ==> 1")
        self.fails("not ok 3 - a bug: noticed by judge", "~a bug | file | judge | one ==> two")

    def test_an_unchanged_copy_that_fails_fails(self):
        self.fails("not ok 2 - judge passes without a planted bug\n# failed\n# not ok 1 - it", notices="grep -q .")

    def test_a_bug_that_does_not_apply_fails(self):
        for args in ((), ("--check",)):
            self.fails("a bug: file has 0 places for three", "a bug | file | judge | three ==> two", args=args)

    def test_a_bug_that_applies_twice_fails(self):
        for args in ((), ("--check",)):
            self.fails("a bug: file has 2 places for one", text="one\none\n", args=args)
            self.fails("a bug: file has 2 places for one", "a bug | file#3 | judge | one ==> two", text="one\none\n",
                       args=args)
        self.passes("noticed by judge", "a bug | file#2 | judge | one$ ==> two", text="one\none\n",
                    notices="grep -Pzq 'one\\ntwo'")
        self.passes("noticed by judge", "a bug | file#* | judge | one ==> two", text="one\none\n",
                    notices="grep -Pzq 'two\\ntwo'")

    def test_a_change_that_leaves_the_text_as_it_is_fails(self):
        self.fails("a bug: file has 1 places for one", "a bug | file | judge | one ==> one")

    def test_a_bug_may_have_several_changes(self):
        self.passes("noticed by judge", more="& file | $\\n ==> 3\\n\n", notices="grep -qx two3")

    def test_two_bugs_of_one_name_fail(self):
        self.fails("a bug: two bugs have this name", more="a bug | file | judge | o ==> two\n")

    def test_a_bug_that_does_not_compile_fails(self):
        self.fails("not ok 3 - a bug: it does not compile", "a bug | file | compiler | one ==> two")

    def test_bugs_that_do_not_compile_are_found_without_being_planted(self):
        bug, args = "a bug | file.c | judge | one ==> ", ("--check",)
        self.passes("1 bugs, 0 without a place", bug + "two", text="int one;\n", name="file.c", args=args)
        self.fails("a bug: it does not compile", bug + "2x", text="int one;\n", name="file.c", args=args)

    def test_a_place_that_others_lost_is_seen_in_a_sample(self):
        self.fails("not ok 1 - every planted bug has its place\n# lost", args=("--only", "a bug"),
                   more="lost | file | judge | three ==> two\n")

    def test_a_sample_says_how_to_repeat_it(self):
        more = "".join("%d | file | judge | one ==> two%d\n" % (i, i) for i in range(9))
        more += "~n | file | judge | o ==> 0\n"
        _, text = self.gate(args=("--sample", "1/5"), more=more)
        seed = re.match(r"# 3 of 11 planted bugs: SEED=(\d+); ALL=1: all\n", text).group(1)
        again, other = (self.gate(args=("--sample", "1/5", "--seed", s), more=more)[1] for s in (seed, "0" + seed))
        self.assertEqual(*(re.sub(r"\d+ s$", "", t, flags=re.M) for t in (again, text)))
        self.assertIn("n: equivalent", other)
        self.fails("SURVIVED", args=("--sample", "1"), notices="false")

    def test_marked_bugs_are_planted_in_each_short_run(self):
        more = "*marked | file | judge | one ==> two!\nother | file | judge | one ==> two?\n"
        self.assertRegex(self.gate(args=("--quick",), more=more)[1], "^1..3\n")
        self.assertRegex(self.gate(args=("--quick", "--sample", "1"), more=more)[1],
                         "marked: noticed.*\n.*\n.*: noticed")

    def test_bugs_that_a_sample_had_no_time_for_are_reported(self):
        self.passes("ok 4 - later # SKIP not tried within 1 seconds\n# 1 of 1 planted bugs noticed, ",
                    args=("--clock", "1"), notices="grep -q two file && sleep 1.1 && true",
                    more="later | file | judge | one ==> two two\n")

    def test_the_report_gets_what_survived(self):
        path = os.path.join(self.dir, "build", "results.json")
        self.gate(args=("--json", path), notices="grep -qx two", more="live | file | judge | one ==> 1\n"
                  "~equal | file | judge | one ==> 2\n")
        with open(path) as f:
            data = json.load(f)
        self.assertEqual((data["planted"], data["noticed"]), (2, 1))
        self.assertEqual([(m["name"], m["ok"]) for m in data["bugs"]],
                         [("a bug", True), ("live", False), ("equal", True)])

    def test_a_name_that_no_bug_has_fails(self):
        for args in (("another",), ("--only", "another")):
            with self.assertRaises(SystemExit), contextlib.redirect_stderr(io.StringIO()):
                self.gate(args=args)

    def test_every_bug_of_every_list_has_its_place_and_compiles(self):
        run = subprocess.run([planting.__file__, "--check"], check=False, text=True, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        self.assertEqual(run.returncode, 0, run.stdout)
        lists = {f for f in reach.files() if os.path.basename(f) == "planted.txt"}
        self.assertGreaterEqual(set(re.findall(r"^# (\S+): ", run.stdout, re.M)), lists)

    def test_a_list_that_names_no_program_fails(self):
        self.write("tree/a/planted.txt", "# a list of nobody's\n")
        with self.assertRaisesRegex(SystemExit, "a/planted.txt: its first line names no program"):
            self.gate(args=("--check",))

    def test_a_bug_is_planted_by_the_program_of_its_list(self):
        bug = planting.load(os.path.join(planting.TOP, "opt/tests/planted.txt"))[0].name
        for names, status, says in (((bug,), 0, r"# opt/tests/planted.txt: \d+ bugs, planted by opt/tests/planted.py\n"
                                                r"\d+ bugs, 0 without a place\n$"),
                                    ((bug, "no bug's name"), 2, r".*no such bug: no bug's name\n$")):
            run = subprocess.run([planting.__file__, "--check", *names], check=False, text=True,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            self.assertEqual(run.returncode, status, run.stdout)
            self.assertRegex(run.stdout, re.compile(says if status else "^" + says, re.S))

    def test_a_bug_without_a_name_is_called_by_its_change(self):
        self.write("list", "ref/a.c#2 | judge | one\\( ==> two\n")
        self.assertEqual([bug.name for bug in planting.load(os.path.join(self.dir, "list"))], ["judge: one( -> two"])


class RandomBugs(Case):
    CODE = """#include <x.h>
/*@ requires a < b; */
#ifdef __FRAMAC__
int no(int a) { return a < 7; }
#else
#define TWICE(x) ((x) + (x))
int yes(int a, int b)
{
  /* a < b */
  //@ assert a < b;
  if (a < 3)
    wipe(a, b);
  return 0;
}
#endif
"""

    def bugs(self):
        self.write("x.c", self.CODE)
        kept, random_bugs.TOP = random_bugs.TOP, self.dir
        try:
            return list(random_bugs.all_bugs("x.c", {}))
        finally:
            random_bugs.TOP = kept

    def test_code_alone_is_changed(self):
        lines = {m.line for m in self.bugs()}
        self.assertEqual(lines, {6, 11, 12, 13})

    def test_each_operator_is_used(self):
        self.assertLessEqual({"operator", "constant", "statement deleted", "condition negated",
                              "condition never", "condition always", "arguments exchanged",
                              "variable"}, {m.operator for m in self.bugs()})
        self.assertIn("if (a <= 3)", [m.new for m in self.bugs()])
        self.assertIn("wipe(b, a);", [m.new for m in self.bugs()])

    def test_a_seed_repeats_its_sample(self):
        first, second, other = ([m.name() for m, _ in zip(random_bugs.sample(["ref/core.c"], s),
                                                          range(50))] for s in ("1", "1", "2"))
        self.assertEqual(first, second)
        self.assertNotEqual(first, other)

    def drawn(self, text):
        """The sample for a file with this text, and the digest of its code."""
        self.write("ref/x.c", text)
        kept, random_bugs.TOP = random_bugs.TOP, self.dir
        for name in ("prg/prg.h", "opt/store.h", "opt/slots/bitmap.h", "include/pprf.h"):
            self.write(name, "")
        try:
            return ([m.key() for m in random_bugs.sample(["ref/x.c"], "1")],
                    random_bugs.code_digest(["ref"]))
        finally:
            random_bugs.TOP = kept

    def test_a_sample_outlives_a_change_elsewhere(self):
        before, _ = self.drawn(self.CODE)
        line = "int more(int a) { return a / 9; }\n"
        after, _ = self.drawn(line + self.CODE)
        self.assertGreater(len(after), len(before))
        self.assertEqual([k for k in after if "9" not in k.split(":")[1]], before)

    def test_verdicts_outlive_changes_of_comments_but_not_of_code(self):
        _, before = self.drawn(self.CODE)
        _, comment = self.drawn(self.CODE.replace("a < b */", "a > b\n  and more */"))
        _, code = self.drawn(self.CODE.replace("a < 3", "a < 4"))
        _, text = self.drawn(self.CODE.replace("wipe(a, b)", 'wipe("// a", b)'))
        _, other = self.drawn(self.CODE.replace("wipe(a, b)", 'wipe("// b", b)'))
        self.assertEqual(before, comment)
        self.assertEqual(len({before, code, text, other}), 4)

    def test_code_that_a_compiler_refuses_is_no_bug(self):
        copy = random_bugs.Copy.__new__(random_bugs.Copy)
        copy.root = self.dir
        copy.flags = random_bugs.make_variable(["CC", "ALL_CPPFLAGS", "ALL_CFLAGS"])
        for arguments, good in (("1, text", True), ("text, 1", False)):
            self.write("x.c", "int f(int a, const char *b);\nint g(const char *text);\n"
                       "int g(const char *text)\n{\n  return f(%s);\n}\n" % arguments)
            self.assertEqual(copy.compile("x.c") is not None, good, arguments)


class ChangedFiles(unittest.TestCase):
    """check.py: the tests that concern a changed file."""

    TESTS = ["build/equivalence-tests/" + t for t in ("vectors", "prg_choice", "residue", "api")] + [
        "build/opt/selftest", "cli/test_cli.py", "docs/tests/test_docs.py", "docs/rules"]

    def test_c_code_has_the_suites_of_its_plan(self):
        self.assertEqual(check.tests_of("prg/choice.c", self.TESTS)[:2],
                         ["build/equivalence-tests/prg_choice", "build/opt/selftest"])
        self.assertIn("cli/test_cli.py", check.tests_of("cli/key.c", self.TESTS))

    def test_a_test_is_its_own(self):
        self.assertEqual(check.tests_of("equivalence-tests/differential/api.c", self.TESTS),
                         ["build/equivalence-tests/api"])

    def test_a_document_has_the_test_of_documents(self):
        self.assertEqual(check.tests_of("docs/tls.md", self.TESTS), ["docs/tests/test_docs.py"])

    @classmethod
    def setUpClass(cls):
        cls.made = reach.make("-s", "--eval", "print-tests: ; @echo $(TAP_TESTS)", "print-tests").split()
        cls.graph = reach.Graph(cls.made)

    def test_every_test_that_a_table_names_is_one_of_make(self):
        named = {check.program_of(s) for _, suites in random_bugs.PLAN for s in suites}
        named |= {test for _, tests in check.ALSO for test in tests}
        self.assertEqual(sorted(named - set(self.made)), [])
        targets = {command.split()[1] for _, command in check.COMMANDS if command.startswith("make ")}
        self.assertEqual(sorted(targets - self.graph.edges[".PHONY"]), [])

    def test_every_pattern_of_a_table_is_one_of_a_file(self):
        patterns = [p for p, _ in check.ALSO] + [p for some, _ in check.COMMANDS for p in some] + check.PROVEN
        self.assertEqual([p for p in patterns if not fnmatch.filter(reach.files(), p)], [])

    def covered(self, file):
        tests = check.tests_of(file, self.made, self.graph)
        return tests + check.commands_of(file, None if tests else self.graph)

    def test_code_that_sees_seeds_is_tested_with_lazy_binding(self):
        for file in ("prg/common/prepare.c", "opt/batch.c", "opt/packed/index.c", "prg/choice.c", "prg/libcrypto.c"):
            self.assertIn("build/equivalence-tests/first_use", self.covered(file))

    def test_files_without_a_plan_have_the_tests_that_build_or_run_them(self):
        for language, file in (("go", "pprf.go"), ("go", "pprftls/pprftls.go"), ("python", "pprf/__init__.py"),
                               ("python", "tests/test_pprf.py"), ("rust", "pprf/src/lib.rs")):
            lists = ["cli/test_cli.py"] * (file in ("pprf.go", "pprf/__init__.py"))  # compares lists of suites
            self.assertEqual(self.covered(f"bindings/{language}/{file}"), [*lists, f"build/{language}-test"])
        self.assertIn("build/valkey/test_tree", self.covered("valkey/tree.c"))

    def test_every_file_has_a_test_or_is_of_a_kind_that_has_none(self):
        without = [f for f in sorted(self.graph.files) if not self.covered(f)]
        self.assertEqual([f for f in without if not check.untested(f)], [])
        for pattern, _ in check.UNTESTED:
            self.assertTrue(fnmatch.filter(without, pattern), f"untested.txt: no file without a test is {pattern}")

    def test_a_file_without_a_test_is_a_failure(self):
        # in build/, since other tests check whether results belong to the present sources
        with tempfile.NamedTemporaryFile(dir=os.path.join(reach.TOP, "build"), prefix="lonely-", suffix=".c") as lonely:
            for file, status in ((lonely.name, 1), (os.path.join(HERE, "no-such-file"), 1),
                                 (os.path.join(HERE, "..", "..", "LICENSE"), 0),
                                 (os.path.join(HERE, "..", "differential", "api.c"), 0)):
                said = io.StringIO()
                with contextlib.redirect_stdout(said):
                    result = check.main(["--list", " ".join(self.made), os.path.relpath(file, reach.TOP)])
                self.assertEqual(result, status, file)
                self.assertEqual("nothing builds or runs it" in said.getvalue(), status == 1)


if __name__ == "__main__":
    sys.exit(tap.run((Fuzzing, Packing, Coverage, PlantedBugs, RandomBugs, ChangedFiles), sys.argv[1:]))
