#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that assumptions.py refuses what a proof would accept without proving it, as TAP. Each case
is a change that is proven with (nearly) the expected number of goals and makes a claim empty."""
import os
import shutil
import sys
import tempfile

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "..", "tools")]
import assumptions  # noqa: E402
import proven_files  # noqa: E402

INCLUDE = '#include "core.h"\n'
WALK = '#include "walk.h"\n'
FIRST = "{\n  size_t lo"


def calling(call, before="#include <stdlib.h>\n"):
    """Changes after which ref_find begins with a call."""
    return [(INCLUDE, INCLUDE + before), (FIRST, FIRST.replace("\n", f"\n  {call};\n", 1))]


# name; file to change; old (or a list of changes); new; files that see the change; text of the
# refusal
PLANTED = [
    ("a_false_lemma_in_the_code", "opt/core.c", WALK, WALK + "/*@ lemma l: \\forall integer x; x > 0; */\n",
     ["opt/core.c"], "lemma l is proven nowhere"),
    ("an_axiom_in_the_code", "ref/core.c", INCLUDE,
     INCLUDE + "/*@ axiomatic A { axiom a: \\forall integer x; x > 0; } */\n", ["ref/core.c"],
     "axiom a is proven nowhere"),
    ("a_fact_with_other_words_where_the_code_is_proven", "prg/ggm.acsl",
     "FACT pow2_0: pow2(0) == 1;", "FACT pow2_0: pow2(0) == 2;",
     ["ref/core.c"], "axiom pow2_0 is not what ref/wp/ggm.c proves"),
    ("admit", "ref/core.c", "{\n  size_t lo", "{\n  //@ admit \\false;\n  size_t lo", ["ref/core.c"], "not allowed"),
    ("an_inductive_predicate", "opt/core.c", WALK,
     WALK + "/*@ inductive i(integer n) { case c: \\forall integer n; !i(n) ==> i(n); } */\n",
     ["opt/core.c"], "nothing discharges"),
    ("a_recursive_definition_without_an_end", "opt/core.c", WALK,
     WALK + "/*@ logic integer f(integer n) = f(n) + 1; */\n//@ ghost int f_used;\n", ["opt/core.c"], "recursive"),
    ("a_ghost_function_without_a_body", "opt/core.c", WALK,
     WALK + "/*@ ghost /@ assigns \\nothing; ensures \\false; @/ void bad_lemma(void); */\n"
     "void bad(void)\n{\n  //@ ghost bad_lemma();\n}\n", ["opt/core.c"], "function bad_lemma"),
    ("a_prg_that_never_fails", "prg/prg.h", "prg_error(\\result.err)", "\\false", ["ref/core.c"], "prg_expand"),
    ("a_digest_that_never_fails", "prg/prg.h", "ensures results: \\result == 0 || prg_error(\\result);",
     "ensures results: \\result == 0;", ["ref/codec.c"], "prg_digest"),
    ("code_that_is_not_what_was_proven", "ref/core.c", INCLUDE,
     INCLUDE + "#ifndef __FRAMAC__\n#define ref_wipe(a, from, to) ((void)0)\n#endif\n", [], "conditional ref/core.c"),
    ("the_reverse_test_of_framac", "ref/core.c", INCLUDE,
     INCLUDE + "#define PROOF defined(__FRAMAC__)\n#if PROOF\n#endif\n", [], "outside #if"),
    ("a_loop_without_a_variant", "ref/node.c", "loop variant to - k;", "", ["ref/node.c"], "with a variant"),
    ("a_loop_without_a_variant_in_a_function_with_an_attribute", "opt/walk.c",
     "out[0 .. height - 1], expansions;\n      loop variant h;", "out[0 .. height - 1], expansions;", ["opt/walk.c"],
     "opt_siblings: 1 loops, 0 with a variant"),
    ("assembly", "opt/core.c", WALK, WALK + 'void odd(void)\n{\n  __asm__ volatile("");\n}\n', ["opt/core.c"],
     "not allowed"),
    ("a_definition_of_two_meanings", "opt/core.c", WALK,
     WALK + "/*@ predicate bytes_unchanged{L1,L2}(uint8_t *p, integer n) = \\true; */\n", ["opt/core.c"],
     "has another definition"),
    ("a_seed_that_forgets_a_half", "prg/ggm.acsl", "seed_from_words(v.lo, v.hi)",
     "seed_from_words(v.lo, 0)", proven_files.FILES, "seed_from_words(v.lo, 0)"),
    ("a_weaker_contract_of_the_api", "opt/core.c", "punctured{Pre}(key, x) || first <= x <= last;",
     "punctured{Pre}(key, x) || x <= last;", ["opt/core.c"], "-  ensures leaves"),
    ("a_contract_under_a_condition_that_is_never_met", "opt/core.c",
     "copied(key) || tree_family(key->family);\n    requires out:",
     "copied(key) || tree_family(key->family);\n    requires leaf >= 33 && depth(key) >= 33;\n    requires out:",
     ["opt/core.c"], "+  requires leaf ≥ 33"),
    ("a_value_that_may_lie_in_the_key", "opt/core.c",
     "    requires apart: key == \\null || out == \\null || (\\separated(out + (0 .. 15), key) &&\n"
     "      (copied(key) || value_outside(key, out)));\n", "", ["opt/core.c"], "-  requires apart"),
    ("a_ghost_function_with_the_name_of_one_that_is_proven_elsewhere", "opt/core.c", WALK,
     WALK + "/*@ ghost /@ assigns \\nothing; ensures \\false; @/ void export_import(void) { } */\n", ["opt/core.c"],
     "export_import has another contract in ref/wp/codec.c"),
    ("a_function_with_the_name_of_one_that_is_proven_elsewhere", "opt/core.c", WALK,
     WALK + "#define HELPER(name) \\\n  /*@ assigns \\nothing; ensures \\false; */ static void name(void) {}\n"
     "HELPER(export_import)\n", ["opt/core.c"], "export_import has another contract in ref/wp/codec.c"),
    ("a_function_of_a_header_that_is_another_one_where_it_is_not_proven", "opt/seeds.h",
     "static inline void wipe_seed(struct pprf_seed *seed)\n{\n",
     "static inline void wipe_seed(struct pprf_seed *seed)\n{\n#ifdef PPRF_OPT_PACKED_CORE_H\n  return;\n#endif\n",
     ["opt/packed/core.c"], "wipe_seed has another body in opt/packed/core.c"),
    ("a_lemma_that_calls_itself", "opt/slots/wp/slots.c", "  void path_lemma(unsigned d)\n  {\n",
     "  void path_lemma(unsigned d)\n  {\n    path_lemma(d);\n", ["opt/slots/wp/slots.c"], "path_lemma calls itself"),
    ("a_constant_that_is_one_more_than_itself", "opt/core.c", WALK,
     WALK + "/*@ logic integer odd = odd + 1; */\n//@ ghost int odd_used;\n", ["opt/core.c"], "+recursive"),
    ("an_axiomatic_block", "opt/core.c", WALK,
     WALK + "/*@ axiomatic Extra { logic integer extra(integer x); } */\n", ["opt/core.c"], "+axiomatic Extra"),
    ("code_under_a_macro_that_the_compiler_is_given", "ref/core.c", INCLUDE,
     INCLUDE + "#ifdef _GNU_SOURCE\n#define ref_wipe(a, from, to) ((void)0)\n#endif\n", [], "conditional ref/core.c"),
    ("a_packed_key_of_depth_4", "opt/packed/load.h",
     "seed_value(*seed) == root;\n    requires depth: 1 <= depth <= 63;",
     "seed_value(*seed) == root;\n    requires depth: 1 <= depth <= 4;", ["opt/packed/load.c"], "+  requires depth"),
    ("an_inner_claim_that_says_nothing", "opt/packed/index.c", "ensures wiped: free_page(\\old(p->page[i])); */",
     "ensures wiped: free_page(\\old(p->page[i])) || \\true; */", ["opt/packed/index.c"], "-inner swap_page"),
    ("an_inner_claim_whose_definition_says_nothing", "opt/packed/draft/splice.acsl",
     "predicate page_wiped{L}(struct opt_page *page) =", "predicate page_wiped{L}(struct opt_page *page) = \\true ||",
     proven_files.FILES, "-inner opt_packed_splice "),
    ("a_round_trip_that_says_nothing", "ref/wp/codec.c", "equal(out, buf, len)", "equal(out, out, len)",
     ["ref/wp/codec.c"], "-  ensures bytes"),
    ("a_call_of_abort", "ref/core.c", calling("abort()"), "", ["ref/core.c"], "ref_find calls abort"),
    ("a_call_of_exit", "ref/core.c", calling("exit(0)"), "", ["ref/core.c"], "ref_find calls exit"),
    ("a_jump_out_of_the_function", "ref/core.c", calling("longjmp(place, 1)", "#include <setjmp.h>\njmp_buf place;\n"),
     "", ["ref/core.c"], "ref_find calls longjmp"),
    ("a_place_that_is_never_reached", "ref/core.c", calling("__builtin_unreachable()"), "", ["ref/core.c"],
     "ref_find calls __builtin_unreachable"),
    ("a_call_of_a_function_without_a_contract", "ref/core.c", calling("other()", "void other(void);\n"), "",
     ["ref/core.c"], "ref_find calls other"),
    ("a_call_by_a_pointer", "ref/core.c", calling("other()", "extern void (*other)(void);\n"), "", ["ref/core.c"],
     "ref_find calls a pointer"),
    ("a_call_by_a_member", "ref/core.c", calling("other.f[1]()", "struct { void (*f[2])(void); } other;\n"), "",
     ["ref/core.c"], "ref_find calls a pointer"),
    ("a_function_that_does_not_return", "ref/core.c",
     calling("other()", "/*@ assigns \\nothing; */ void other(void) __attribute__((noreturn));\n"), "", ["ref/core.c"],
     "noreturn"),
    ("a_contract_of_libc_that_hides_the_end", "ref/core.c",
     calling("other()", "/*@ assigns \\nothing; exits \\true; ensures \\false; */ void other(void);\n"), "",
     ["ref/core.c"], "+function other"),
    ("a_root_that_is_known", "prg/ggm.acsl", "logic seed root;", "logic seed root = seed_from_words(0, 0);",
     ["ref/core.c"], "root speaks of root"),
    ("a_root_of_another_kind", "prg/ggm.acsl", "logic seed root;", "logic seed root{L} reads \\nothing;",
     ["ref/node.c"],
     "root speaks of root"),
    ("an_axiom_about_the_root", "ref/core.c", INCLUDE,
     INCLUDE + "/*@ axiomatic A { axiom a: root == seed_from_words(0, 0); } */\n", ["ref/core.c"], "a speaks of root"),
    ("a_lemma_about_the_root", "opt/slots/store.c", '#include "pages.h"\n',
     '#include "pages.h"\n/*@ lemma l: root == root; */\n', ["opt/slots/store.c"], "l speaks of root"),
    ("a_predicate_about_the_root", "opt/core.c", WALK,
     WALK + "/*@ predicate p(integer x) = root == seed_from_words(x, x); */\n//@ ghost int p_used;\n", ["opt/core.c"],
     "p speaks of root"),
    ("a_prg_that_knows_the_root", "prg/prg.h", "prg_error(\\result.err)",
     "prg_error(\\result.err) && root == seed_from_words(0, 0)", ["ref/core.c"], "prg_expand"),
    ("a_requirement_of_the_root", "opt/core.c", "/*@ requires key: usable(root, key);",
     "/*@ requires root: root == seed_from_words(0, 0);\n    requires key: usable(root, key);", ["opt/core.c"],
     "+  requires root"),
    ("a_weaker_invariant", "opt/slots/slots.acsl", "opened(s)", "\\true", proven_files.FILES,
     "-definition predicate slots_hold_key"),
]


def comments():
    """A comment within a condition may change, but not code or annotations, whatever strings look
    like."""
    pairs = [("a; /* b\n c */ d; // e", "a; \n d; "), ('"/*"; a; "*/"', '"/*"; a; "*/"'),
             ("'\"'; /* a */ b; '\"'", "'\"'; b; '\"'".replace("; b", ";  b")),
             ("/*@ a */ //@ b", "/*@ a */ //@ b"), ("// it's\na; // it's", "\na; "), ('"\\"/*"; a;', '"\\"/*"; a;')]
    wrong = [f"{text!r}: {assumptions.without_comments(text)!r}" for text, wanted in pairs
             if assumptions.without_comments(text) != wanted]
    return not wrong, "a_comment_within_a_condition_is_not_pinned_and_code_is", wrong


def main():
    print(f"1..{len(PLANTED) + 2}", flush=True)
    files = assumptions.read(proven_files.ROOT, proven_files.FILES)
    number, failed = 0, False

    def report(good, name, lines):
        nonlocal number, failed
        number, failed = number + 1, failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
        if not good:
            print("".join(f"# {line}\n" for line in lines), end="", flush=True)

    try:
        report(True, "what_stands_is_accepted: " + assumptions.run(proven_files.ROOT, files), [])
    except assumptions.Refused as why:
        report(False, "what_stands_is_accepted", str(why).splitlines())
    for name, file, old, new, seen, wanted in PLANTED:
        with tempfile.TemporaryDirectory() as tmp:
            for folder in (*proven_files.SOURCES, "proofs/wp"):
                shutil.copytree(os.path.join(proven_files.ROOT, folder), os.path.join(tmp, folder))
            path = os.path.join(tmp, file)
            text = open(path, encoding="utf-8").read()
            changes = old if isinstance(old, list) else [(old, new)]
            if any(one not in text for one, _ in changes):
                report(False, name, [f"{file} does not hold: {old}"])
                continue
            for one, other in changes:
                text = text.replace(one, other, 1)
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            got = ""
            try:
                assumptions.run(tmp, {**files, **assumptions.read(tmp, seen)})
            except assumptions.Refused as why:
                got = str(why)
            report(wanted in got, name, ["wanted: " + wanted] + got.splitlines()[-12:])
    report(*comments())
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
