#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that same_text.py refuses changes after which Frama-C, or a translator to Coq, and the
compiler read different programs, as TAP. Each case is a change that shows in no goal and in no
digest of what Frama-C reads, or that changes a flag."""
import os
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import proven_files  # noqa: E402
import same_text  # noqa: E402

CORE = '#include "core.h"\n'
FLAGS = "OUR_CFLAGS := -std=c11"
DEFINED = "OUR_CPPFLAGS := -D_GNU_SOURCE"
PASTE = """#define PASTED(end) take_##end
#define TAKE(end) PASTED(end)
static int take_LIBRARY(void)
{
  return 0;
}
static int take_1(void)
{
  return 1;
}
int taken(void)
{
  return TAKE(LIBRARY)() + 0 * take_1() * take_LIBRARY();
}
"""


def in_core(text):
    return [("ref/core.c", CORE, CORE + text)]


def flag(text):
    return [("Makefile", FLAGS, FLAGS + " " + text)]


# name; changes of files (file, old, new); text of the refusal
PLANTED = [
    ("a_constant_of_libc", in_core("#include <stdlib.h>\nint most = RAND_MAX;\n"), "- int most = 2147483647 ;"),
    ("a_token_pasted_from_the_command_line", in_core(PASTE) +
     [("Makefile", DEFINED, DEFINED + " -DLIBRARY")], "- return take_1 ( )"),
    ("a_macro_of_one_objects_rule",
     [("ref/rules.mk", "LIBS += ", "$(B)/ref/core.o: ALL_CPPFLAGS += -Dlast=first\nLIBS += ")],
     "@ ref/core.c: library"),
    ("a_trigraph", in_core("int two(void)\n{\n  int n = 2; // a comment to the end of the line??/\n  n = 3;\n"
                           "  return n;\n}\n"), "+ n = 3 ;"),
    ("a_digraph_that_hides_a_directive", in_core('%:line 1 "/usr/include/stdlib.h"\nint hidden;\n'),
     "not allowed: %:line"),
    ("text_that_passes_for_a_systems_header", in_core('#line 1 "/usr/include/stdlib.h"\nint hidden;\n'),
     "not allowed: #line"),
    ("a_condition_in_a_file_with_another_name", in_core('#include "limit.inc"\nint most = LIMIT;\n') +
     [("ref/limit.inc", None, "#ifdef __OPTIMIZE__\n#define LIMIT 1\n#else\n#define LIMIT 2\n#endif\n")],
     "- int most = 1 ;"),
    ("an_ifdef", in_core("#ifdef __FRAMAC__\nint most = 1;\n#else\nint most = 2;\n#endif\n"), "- int most = 2 ;"),
    ("a_conditional_expression_of_the_preprocessor",
     in_core("#if __STDC_VERSION__ > 201710L || defined(__OPTIMIZE__)\nint most = 1;\n#endif\n"), "- int most = 1 ;"),
    ("chars_without_a_sign", flag("-funsigned-char"), "-funsigned-char: a flag"),
    ("overflow_that_wraps", flag("-fwrapv"), "-fwrapv: a flag"),
    ("overflow_that_traps", flag("-ftrapv"), "-ftrapv: a flag"),
    ("enums_of_a_byte", flag("-fshort-enums"), "-fshort-enums: a flag"),
    ("32_bits", flag("-m32"), "-m32: a flag"),
    ("a_flag_of_the_user", flag("$(NOTHING)"), "-fwrapv: a flag"),  # set in CFLAGS below
    ("a_pragma_that_packs", in_core("#pragma pack(1)\n"), "not allowed: #pragma pack"),
    ("a_pragma_that_optimizes", in_core('#pragma GCC optimize("wrapv")\n'), "not allowed: #pragma GCC optimize"),
    ("a_function_that_does_not_return", in_core("void never(void) __attribute__((noreturn));\n"), "attribute noreturn"),
    ("a_function_that_does_not_return_in_c11", in_core("_Noreturn void never(void);\n"), "not allowed: _Noreturn"),
    ("another_functions_name", in_core('int prg_other(void) __attribute__((alias("ref_find")));\n'), "attribute alias"),
    ("a_plain_char", in_core("int most(char c)\n{\n  return c > 127;\n}\n"), "not allowed: ( char c"),
    ("a_type_that_nobody_checks", in_core("#include <sys/types.h>\nssize_t most;\n"),
     "ssize_t: of the system's headers"),
    ("a_listed_block_in_another_place",
     [("opt/core.c", '#include "walk.h"\n', '#include "walk.h"\nint more(pprf_key *key)\n{\n  int n = 1;\n'
       '  PPRF_IF_WIDE(key, return opt_wide_key_punct(wide, 7);)\n  return n;\n}\n')],
     "opt_wide_key_punct ( wide , 7 )"),
    ("two_names_that_become_one", [("opt/wide.c", "opt_wide_siblings", "opt_wide_walk")], "two names become one"),
    ("a_name_that_is_something_elses", [("opt/wide.c", "opt_wide_siblings", "opt_fork")], "the name of something else"),
    ("another_constant_in_the_second_compilation",
     [("opt/wide.c", "#define PPRF_WIDE\n", "#define PPRF_WIDE\n#undef SIZE_MAX\n#define SIZE_MAX 0xffffffff\n")],
     "0xffffffff"),
    ("a_one_file_that_is_not_the_sources",
     [("packaging/amalgamation/amalgamate.py", 'strip("\\n")\n',
       'strip("\\n").replace("first > last", "first >= last")\n')],
     "- if ( first >= last"),
    ("a_block_that_is_not_met", [(same_text.LISTED, "opt_packed_near ( p , leaf )", "opt_packed_near ( p , 0 )")],
     "opt_packed_near ( p , leaf )"),
    ("a_block_without_a_reason", [(same_text.LISTED, "\nA prefetch, and a hint", "\n?")], "without a reason"),
]
TRANSLATED = [
    ("a_macro_that_the_translator_is_not_given",
     [("prg/rules.mk", "LIBS += ", "$(B)/prg/sha256.o: ALL_CPPFLAGS += -Dfirst_word=second_word\nLIBS += ")],
     "@ prg/sha256.c"),
    ("a_condition_that_the_translator_does_not_meet",
     [("prg/lanes.h", "#include \"prg.h\"\n",
       "#include \"prg.h\"\n#ifdef _FILE_OFFSET_BITS\nextern int more;\n#endif\n")],
     "@ prg/lanes.h"),
]
PLATFORM = "sizeof(long) == 8", "sizeof(long) == 4"


class Tree:
    """A copy of the tree, changed for one case after another."""

    def __init__(self, root):
        self.root = root
        for name in os.listdir(proven_files.ROOT):
            path = os.path.join(proven_files.ROOT, name)
            if name not in ("build", ".git"):
                (shutil.copytree if os.path.isdir(path) else shutil.copy2)(path, os.path.join(root, name))

    def refusal(self, changes, judge):
        """The refusal after the changes, which are then undone."""
        before = {}
        try:
            for file, old, new in changes:
                path = os.path.join(self.root, file)
                text = None
                if old is not None:
                    with open(path, encoding="utf-8") as f:
                        text = f.read()
                    if old not in text:
                        return f"{file} does not hold: {old}"
                before.setdefault(path, text)
                with open(path, "w", encoding="utf-8") as f:
                    f.write(new if old is None else text.replace(old, new, 1))
            judge([file for file, _, _ in changes])
            return "nothing is refused"
        except same_text.Refused as why:
            return str(why)
        finally:
            for path, text in before.items():
                if text is None:
                    os.unlink(path)
                else:
                    with open(path, "w", encoding="utf-8") as f:
                        f.write(text)

    def make_one_file(self):
        subprocess.run(["make", "-s", "--no-print-directory", same_text.ONE_FILE], cwd=self.root, check=True,
                       stdout=subprocess.DEVNULL)


def main():
    print(f"1..{len(PLANTED) + len(TRANSLATED) + 3}", flush=True)
    number, failed = 0, False

    def report(name, got, wanted):
        nonlocal number, failed
        good = wanted in got
        number, failed = number + 1, failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
        if not good:
            print("".join(f"# {line}\n" for line in [f"wanted: {wanted}", *got.splitlines()[-12:]]), end="", flush=True)

    with tempfile.TemporaryDirectory() as tmp:
        tree = Tree(tmp)
        tree.make_one_file()
        read = same_text.read_by_frama_c(tmp)

        def judge(files):
            """Compare the units that the files are, or one that reads them; everything if all units
            read them."""
            units = [file for file in files if file in same_text.PROVEN] or ["ref/core.c"]
            whole = any(file.startswith(("packaging/", "proofs/")) or file.endswith("wide.c") for file in files)
            if whole:
                tree.make_one_file()
            now = {**read, **same_text.read_by_frama_c(tmp, units)}
            same_text.check(tmp, same_text.compare(tmp, now, same_text.PROVEN if whole else units, whole), not whole)

        report("what_stands_is_accepted", tree.refusal([], lambda _: judge(["proofs/"])), "nothing is refused")
        for name, changes, wanted in PLANTED:
            if name == "a_flag_of_the_user":
                os.environ["CFLAGS"] = "-O2 -fwrapv"
            report(name, tree.refusal(changes, judge), wanted)
            os.environ.pop("CFLAGS", None)
        report("a_platform_that_is_not_frama_cs", tree.refusal([(same_text.PLATFORM, *PLATFORM)], judge),
               "takes for granted")
        report("what_the_translators_read_is_accepted", tree.refusal([], lambda _: same_text.translated(tmp)),
               "nothing is refused")
        for name, changes, wanted in TRANSLATED:
            report(name, tree.refusal(changes, lambda _: same_text.translated(tmp)), wanted)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
