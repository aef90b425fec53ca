#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""That proofs/tools/acsl.py reads ACSL as it is meant, as TAP; run from the top by `make test-prove-gate`.

  planted      small texts whose translation is written out here by hand
  refused      syntax outside the subset: an error, never passed over
  layout       the same for opt: the contract of a ghost function with what it speaks of
  api          the contracts of opt's API, in the tree's own text: members, pointers, arrays, bits, macros
  frama_c      the same text, read by Frama-C's own parser and typing and printed in its normal form,
               translates to the same Coq, definition by definition"""
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import acsl  # noqa: E402  (beside this file)
import acsl_api  # noqa: E402

HEAD = """#define SIZE 4
#ifdef GGM_DEFINITIONS
#define FACT lemma
#else
#define FACT axiom
#endif
struct pair { uint64_t a; unsigned b; };
"""

# The root's seed, and what can be said of it.
ROOT = """struct pprf_seed { uint64_t lo, hi; };
/*@ axiomatic R { type seed; logic seed words(integer lo, integer hi); logic seed root; logic integer first(seed s); }
    logic seed seed_value(struct pprf_seed v) = words(v.lo, v.hi); */
"""

# name, text, what its translation holds
PLANTED = [
    ("implication_associates_to_the_right", "/*@ predicate p(integer x) = x > 0 ==> x > 1 ==> x > 2; */",
     "((x > 0) -> ((x > 1) -> (x > 2)))"),
    ("equivalence_is_weaker_than_implication",
     "/*@ predicate p(integer x) = x > 0 <==> x > 1 && x > 2 || x > 3 ==> x > 4; */",
     "((x > 0) <-> ((((x > 1) /\\ (x > 2)) \\/ (x > 3)) -> (x > 4)))"),
    ("negation_binds_tightest", "/*@ predicate q(integer x) = x > 0;\n"
     "predicate p(integer x) = !q(x) && x > 1; */", "((~ (q V x)) /\\ (x > 1))"),
    ("relations_chain", "/*@ predicate p(integer x, integer y) = 0 <= x < y == 3; */",
     "(0 <= x /\\ x < y /\\ y = 3)"),
    ("a_quantifier_reaches_to_the_end",
     "/*@ predicate p(integer x) = x > 0 && \\forall integer y; y > x ==> y > 1; */",
     "((x > 0) /\\ (forall (y : Z), ((y > x) -> (y > 1))))"),
    ("exists", "/*@ predicate p(integer x) = \\exists integer y, z; y * z == x; */",
     "(exists (y : Z) (z : Z), ((y * z) = x))"),
    ("difference_associates_to_the_left", "/*@ logic integer f(integer x) = x - 1 - 2 * x + -3; */",
     "(((x - 1) - (2 * x)) + (- 3))"),
    ("division_truncates", "/*@ logic integer f(integer x) = x / 8 % 3; */",
     "(Z.rem (Z.quot x 8) 3)"),
    ("conditionals_nest", "/*@ logic integer f(integer x) = x < 0 || x > 9 ? 0 : x == 1 ? 2 : 3; */",
     "(if ((x <? 0) || (x >? 9)) then 0 else (if (x =? 1) then 2 else 3))"),
    ("recursion_is_an_equation", "/*@ logic integer f(integer x) = x <= 0 ? SIZE : f(x - 1); */",
     "f_def : forall (x : Z), f V x = (if (x <=? 0) then SIZE else (f V (x - 1)))"),
    ("constants_have_their_value", "/*@ logic integer f(integer x) = SIZE + 0x10; */",
     "Definition SIZE : Z := 4."),
    ("pointers_step_by_whole_structures",
     "/*@ predicate p{L}(struct pair *s, integer k) = (s + k)->b == s[k + 1].a; */",
     "((pair_b (pair_at L (shift 2 s k))) = (pair_a (pair_at L (shift 2 s (k + 1)))))"),
    ("a_label_is_the_memory_read",
     "/*@ predicate p{L1,L2}(uint8_t *s) = \\at(s[0],L1) == \\at(*s,L2); */",
     "((cell L1 (shift 1 s 0)) = (cell L2 s))"),
    ("a_call_passes_its_labels", "/*@ predicate q{L}(uint8_t *s) = *s == 0;\n"
     "predicate p{A,B}(uint8_t *s) = q{B}(s) && q{A}(s); */", "((q V B s) /\\ (q V A s))"),
    ("a_fact", "/*@ axiomatic A { FACT f{L}: \\forall uint8_t *s; *s == SIZE; } */",
     "Definition fact_f (V : logic) : Prop :=\n  forall (L : memory), "
     "(forall (s : pointer), ((cell L s) = SIZE))."),
    ("a_contract", "/*@ requires \\valid(s + (0 .. n - 1)) && \\separated(s + (0 .. n - 1), t);\n"
     "  assigns s[1 .. n], *t;\n  ensures end: \\result == \\old(*t) + s[n] + \\at(*t,Post) + *t; */\n"
     "int f(uint8_t *s, unsigned n, const size_t *t) /*@ ghost (struct pair r) */;",
     "f_ensures_end : (result = ((((cell Pre t) + (cell Post (shift 1 s n))) + (cell Post t)) + "
     "(cell Post t)));"),
    ("every_width_of_stdint", "/*@ requires a == 0; assigns \\nothing;\n"
     "  ensures \\result == 0; */ int f(uint8_t a, uint16_t b, uint32_t c, uint64_t d);",
     "c_uint8_t a /\\ c_uint16_t b /\\ c_uint32_t c /\\ c_uint64_t d"),
    ("what_a_contract_assigns", "/*@ requires \\valid(s + (0 .. n - 1)); assigns s[1 .. n], *t;\n"
     "  ensures \\result == 0; */ int f(uint8_t *s, unsigned n, struct pair *t);",
     "unchanged Pre Post [(span 1 s 1 n); (span 2 t 0 0)] /\\"),
    ("what_a_contract_requires", "/*@ requires \\valid(s + (0 .. n - 1)) && \\separated(s, t);\n"
     "  assigns \\nothing; ensures \\result == 0; */ int f(uint8_t *s, unsigned n, struct pair *t);",
     "((writable Pre (span 1 s 0 (n - 1))) /\\ (separated [(span 1 s 0 0); (span 2 t 0 0)]))"),
    ("a_formal_keeps_its_first_value", "/*@ requires n > 0; assigns \\nothing;\n"
     "  ensures \\result == n; */ int f(unsigned n);", "f_ensures_1 : (result = n);"),
    ("a_counter_has_two_values", "//@ ghost unsigned long count;\n/*@ requires n > 0; assigns count;\n"
     "  ensures \\result == n; ensures cost: count <= \\old(count) + n; */ int f(unsigned n);",
     "(result : Z) (before after : Z) : Prop :=\n  f_typed Pre n -> f_requires V Pre n ->\n"
     "  (after <= (before + n))."),
    ("a_counter_is_no_memory", "//@ ghost unsigned long count;\n/*@ requires n > 0; assigns count;\n"
     "  ensures \\result == n; ensures cost: count <= \\old(count) + n; */ int f(unsigned n);",
     "  unchanged Pre Post [] /\\\n  f_typed Post n /\\\n  c_int result /\\\n  f_ensures V Pre Post n result."),
    ("a_contract_is_one_for_each_root",
     ROOT + "/*@ requires first(root) > 0; assigns \\nothing; ensures \\result > 0; */\n"
     "int f(unsigned n) /*@ ghost (unsigned d) */;",
     "(n : Z) (R : pprf_seed) (d : Z) : Prop := f_requires_intro {\n"
     "  f_requires_1 : ((first V (seed_value V R)) > 0);"),
    ("a_parameter_may_be_called_as_the_root",
     ROOT + "/*@ requires root > 0; assigns \\nothing; ensures \\result > 0; */\n"
     "int f(unsigned root);", "(root : Z) : Prop := f_requires_intro {\n  f_requires_1 : (root > 0);"),
]

# name, text, the error
REFUSED = [
    ("let", "/*@ predicate p(integer x) = \\let y = x; y > 0; */", "not a term of the subset"),
    ("bits", "/*@ logic integer f(integer x) = x & 1; */", "; expected"),
    ("shift", "/*@ logic integer f(integer x) = x << 1; */", "; expected"),
    ("cast", "/*@ logic integer f(integer x) = (unsigned)x; */", "; expected|name not known"),
    ("real", "/*@ predicate p(real x) = x > 0; */", "type not known: real"),
    ("two_equivalences", "/*@ predicate p(integer x) = x > 0 <==> x > 1 <==> x > 2; */", "<==> twice"),
    ("chain_in_both_directions", "/*@ predicate p(integer x) = 0 < x > 1; */", "both directions"),
    ("inductive", "/*@ inductive p(integer x) { case c: p(0); } */", "annotation not known: inductive"),
    ("global_invariant", "/*@ global invariant g: SIZE == 4; */", "annotation not known: global"),
    ("axiom", "/*@ axiomatic A { axiom a: 0 == 1; } */", "axiom: a fact is to be a FACT"),
    ("behavior", "/*@ requires n > 0; behavior b: ensures n > 1; assigns \\nothing; */ int f(int n);",
     "clause not known: behavior"),
    ("no_assigns", "/*@ requires n > 0; ensures n > 1; */ int f(int n);", "no assigns"),
    ("contract_of_nothing", "/*@ requires n > 0; assigns \\nothing; */", "a contract without a function"),
    ("memory_without_a_label", "/*@ predicate p(uint8_t *s) = *s == 0; */", "without a label"),
    ("labels_left_out", "/*@ predicate q{A,B}(uint8_t *s) = \\at(*s,A) == \\at(*s,B);\n"
     "predicate p{A,B}(uint8_t *s) = q(s); */", "labels are needed"),
    ("unknown_name", "/*@ predicate p(integer x) = x == y; */", "name not known: y"),
    ("unknown_member", "/*@ predicate p{L}(struct pair *s) = s->c == 0; */", "no member c"),
    ("integer_for_pointer", "/*@ predicate q{L}(uint8_t *s) = *s == 0;\n"
     "predicate p{L}(integer x) = q(x); */", "given for"),
    ("defined_twice", "/*@ predicate p(integer x) = x > 0;\npredicate p(integer x) = x > 1; */",
     "defined twice"),
    ("directive", "#pragma once\n", "directive not known"),
    ("facts_for_the_code_only", "#ifndef GGM_DEFINITIONS\n/*@ axiomatic A { FACT f: 0 == 1; } */\n"
     "#endif\n", "facts proven and facts used differ"),
    ("counter_without_a_bound", "//@ ghost unsigned long count;\n/*@ requires n > 0; assigns count;\n"
     "  ensures \\result == n; */ int f(unsigned n);", "a counter that is assigned and not bounded"),
    ("counter_bounded_and_not_assigned", "//@ ghost unsigned long count;\n/*@ requires n > 0; assigns \\nothing;\n"
     "  ensures \\result == n; ensures cost: count <= 1; */ int f(unsigned n);", "bounded and not assigned"),
    ("counter_required", "//@ ghost unsigned long count;\n/*@ requires count > 0; assigns count;\n"
     "  ensures \\result == n; ensures cost: count <= 1; */ int f(unsigned n);", "bounded and not assigned"),
    ("counter_in_a_definition", "//@ ghost unsigned long count;\n/*@ predicate p(integer x) = x > count; */",
     "count outside an ensures"),
    ("declared_otherwise", "#ifdef GGM_DEFINITIONS\n/*@ logic integer f(integer x) = x; */\n#else\n"
     "/*@ axiomatic A { logic integer f(integer x, integer y); } */\n#endif\n",
     "declared otherwise than defined"),
    ("root_in_a_fact", ROOT + "/*@ axiomatic A { FACT f: first(root) == 1; } */", "of root contracts alone may speak"),
    ("root_in_a_lemma", ROOT + "/*@ lemma f: first(root) == 1; */", "of root contracts alone may speak"),
    ("root_in_a_definition", ROOT + "/*@ predicate p(integer x) = first(root) == x; */",
     "of root contracts alone may speak"),
    ("a_root_that_is_known", ROOT.replace("seed root;", "seed root = words(0, 0);"),
     "a constant of which nothing is known"),
]

# A text of opt, in which `is_punctured' may be any and the contract of f_lemma is wanted.
OPT = """#include "core.h"
/*@ predicate is_punctured{L}(struct bitmap *b, integer x) = (b->word & (1 << x)) != 0;
    predicate odd(integer x) = (x & 1) != 0; */
#ifdef GGM_DEFINITIONS
/*@ logic integer half(integer x) = x <= 0 ? 0 : half(x - 1) / 2; */
#else
/*@ axiomatic A { logic integer half(integer x); } */
#endif
/*@ axiomatic B { FACT half_0: half(0) == 0; FACT odd_1: odd(1); }
    predicate none{L}(struct bitmap *b, integer n) =
      \\forall integer x; half(x) == n ==> !is_punctured(b, x); */
"""
GHOST = """/*@ ghost
  // a step of no interest
  /@ assigns \\nothing; ensures odd(x) <==> (x & 1) == 1; @/
  void g_lemma(unsigned x);

  /@ requires d <= 3; requires n >= d;
     assigns \\nothing;
     ensures first: none(b, n);
     ensures half(d) == 0; @/
  void f_lemma(const struct bitmap *b, uint64_t n, unsigned d);
*/
"""
# name, what the translation of that holds
LAYOUT = [
    ("a_ghost_contract", "Definition fact_f_lemma (V : layout) : Prop :=\n"
     "  forall (L : memory) (b : pointer) (n : Z) (d : Z),\n"
     "  c_uint64_t n -> c_unsigned d -> (d <= 3) -> (n >= d) ->\n"
     "  (none V L b n) /\\\n  ((half V d) = 0)."),
    ("what_it_speaks_of", "Definition none (V : layout) (L : memory) (b : pointer) (n : Z) : Prop :=\n"
     "  (forall (x : Z), (((half V x) = n) -> (~ (is_punctured V L b x))))."),
    ("what_may_be_any", "  is_punctured : memory -> pointer -> Z -> Prop;\n  half : Z -> Z;\n}."),
    ("recursion_in_opt", "half_def : forall (x : Z), "
     "half V x = (if (x <=? 0) then 0 else (Z.quot (half V (x - 1)) 2));"),
    ("facts_on_these_alone", ": Prop := layout_facts_intro {\n  half_0_holds : fact_half_0 V;\n"
     "  f_lemma_holds : fact_f_lemma V;\n}."),
]
# name, a change of the text, the error
LAYOUT_REFUSED = [
    ("no_contract", "f_lemma(const", "h_lemma(const", "no contract of f_lemma"),
    ("ghost_code", "/*@ ghost\n", "/*@ ghost int h(int x) { return x; }\n", "not a list of contracts"),
    ("a_result", "void f_lemma", "unsigned f_lemma", "assigns or returns"),
    ("an_effect", "assigns \\nothing;\n", "assigns *b;\n", "assigns or returns"),
    ("two_states", "none(b, n);", "\\old(none(b, n));", "label not known: Pre"),
    ("bits_that_are_spoken_of", "none(b, n);", "odd(n);", "\\) expected"),
    ("declared_otherwise", "integer half(integer x);", "integer half(integer x, integer y);",
     "given|arguments|declared otherwise"),
    ("two_contracts", GHOST, GHOST + GHOST, "two contracts of f_lemma"),
    ("another_contract_for_the_code", GHOST, "#ifdef GGM_DEFINITIONS\n" + GHOST + "#else\n" +
     GHOST.replace("d <= 3", "d <= 2") + "#endif\n", "contracts proven and contracts used differ"),
    ("defined_twice", "predicate none", "predicate half(integer x) = x > 0; predicate none",
     "half is defined twice"),
]

# name, what the translation of opt/core.c holds
API = [
    ("ghost_variables", "Definition copied (V : api) (L : memory) (key_p : pointer) : Prop :=\n"
     "  (((cell L key_p) <> 0) /\\ ((cell L key_p) <> (process_number V)))."),
    ("bits", "Definition byte_of (V : api) (v : Z) (k : Z) : Z :=\n  (Z.land (Z.shiftr v (8 * k)) 255)."),
    ("shifts_bind_weaker_than_sums", "((Z.land w (Z.shiftl 1 i)) <> 0)."),
    # leaves is the third cell, summary the six behind it; a word of the summary is two cells
    ("pointers_in_arrays_of_a_structure", "(if (k =? 0) then (cell L (shift 1 (points V (cell L (shift 1 b 2))) i)) "
     "else (cell L (shift 2 (points V (cell L (shift 1 (shift 1 b 3) k))) i)))."),
    ("the_second_member_behind_a_pointer",
     "(cell L (shift 1 (shift 2 (points V (cell L (shift 1 (shift 1 b 3) k))) i) 1))"),
    ("null", "pprf_punct_ensures_null : ((result = PPRF_ERR_NULL) <-> (key_p = (null V)));"),
    # a key is its maker, the three words of its family, and the store
    ("macros_with_parameters", "(span 2 (points V (cell Pre (shift 1 (shift 1 (shift 1 key_p 4) 3) 5))) 0 "
     "((if (pointer_eqb (points V (cell Pre (shift 1 (shift 1 key_p 4) 16))) (null V)) then "
     "(words V (depth V Pre key_p) 5) else 0) - 1));"),
    ("the_set_of_leaves", "is_punctured_def : forall (L : memory) (b : pointer) (x : Z), is_punctured V L b x <-> "
     "((0 <= x /\\ x < (pow2 V (cell L b))) /\\ (in_full_block V L b 0 x));"),
]
# name, what the translation of the packed store's predicates holds
PACKED = [
    # a page is four numbers, 4096 tiles of one cell each, and 256 seeds of two
    ("casts_of_arrays", "Definition page_top (V : paged) (L : memory) (page : pointer) : pointer :=\n"
     "  (shift 2 (shift 1 page 4100) OPT_PAGE_SEEDS)."),
    ("places_below_a_pointer", "(seed_value V (pprf_seed_at L (shift 2 top ((- 1) - j))))."),
    ("pointers_to_pointers", "(points V (cell L (shift 1 (points V (cell L (shift 1 p 8))) i)))"),
    ("ranges_of_an_address", "(writable L (span 4612 (opt_pages V) 0 (OPT_PAGES_MAX - 1)))"),
    ("what_api_leaves_open", "packed_key_def : forall (L : memory) (R : (seed_t V)) (p : pointer), packed_key V L R p "
     "<-> ((packed_holds V L R p) /\\ (packed_owns V L p) /\\ (packed_counted V L p) /\\ (packed_sized V L p) /\\ "
     "(index_memory V L p));"),
]
# name, old and new text of opt/core.c, the error
API_REFUSED = [
    ("no_contract", "size_t pprf_node_count(", "size_t pprf_nodes(", "no contracts of pprf_node_count"),
    ("a_clause_that_is_not_known",
     "    ensures none: key == \\null", "    behavior b:\n    ensures none: key == \\null",
     "clause not known: behavior"),
    ("a_member_that_is_not_there", "cover_size(&key->store.slots.punctured, 0, 0, 0, depth(key)); */",
     "key->store.size; */", "no member size"),
]


def translation_of_api(old="", new=""):
    with tempfile.TemporaryDirectory() as tmp:
        for d in acsl.FOLDERS:
            shutil.copytree(d, os.path.join(tmp, d), ignore=shutil.ignore_patterns("rules.mk"))
        path = os.path.join(tmp, "opt", "core.c")
        text = acsl.read(path)
        if text.count(old) != 1 and old:
            return f"{text.count(old)} times: {old}"
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace(old, new) if old else text)
        try:
            return acsl_api.translate(tmp)
        except acsl.Error as why:
            return f"acsl: {why}"


def tree_of(tmp, text, codec="", store=""):
    for d in (*acsl.FOLDERS, "opt/slots"):
        os.makedirs(os.path.join(tmp, d))
    for name, content in (("ref/core.h", text), ("ref/codec.h", codec), ("opt/slots/slots.acsl", store)):
        with open(os.path.join(tmp, name), "w", encoding="utf-8") as f:
            f.write(content)
    return tmp


def translation(text):
    with tempfile.TemporaryDirectory() as tmp:
        try:
            return acsl.translate(tree_of(tmp, HEAD + text))
        except acsl.Error as why:
            return f"acsl: {why}"


def translation_of_opt(text):
    wanted = acsl.LAYOUT[:]
    with tempfile.TemporaryDirectory() as tmp:
        try:
            acsl.LAYOUT[:] = ["f_lemma"]
            return acsl.translate_opt(tree_of(tmp, HEAD, store=text))
        except acsl.Error as why:
            return f"acsl: {why}"
        finally:
            acsl.LAYOUT[:] = wanted


def statements(text, constants):
    """Definitions and record members by name; constants as their values."""
    for name, value in constants.items():
        text = re.sub(rf"\b{name}\b", str(value), text)
    found = re.findall(r"^Definition ([\w ]+?) .*?:=\s*(.*?)\.$|^  (\w+) : (.*?);$", text,
                       re.M | re.S)
    return {a or c: " ".join((b or d).split()) for a, b, c, d in found if not a.isdigit()}


def by_frama_c():
    """(translation of ref's text, translation of Frama-C's print of it)"""
    unit = acsl.Unit(".", {"GGM_DEFINITIONS": ""})
    mine = acsl.Coq(unit).whole()
    with tempfile.TemporaryDirectory() as tmp:
        source, out = os.path.join(tmp, "all.c"), os.path.join(tmp, "out.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write('#include "core.h"\n#include "codec.h"\n')
        run = subprocess.run(
            ["frama-c", "-no-unicode", "-keep-unused-types", "-cpp-extra-args=" +
             " ".join(f"-I{d}" for d in acsl.FOLDERS) + " -DGGM_DEFINITIONS", source,
             "-print", "-ocode", out], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False)
        if run.returncode or not os.path.exists(out):
            return None, run.stdout
        text = acsl.read(out)
        facts = [g[1] for g in unit.globals if g[0] == "FACT"]
        text = re.sub(rf"\blemma (?=(?:{'|'.join(facts)})\b)", "FACT ", text)
        text = re.sub(r"^#.*$", "", re.sub(r"\benum \w+ \{", "enum {", text), flags=re.M)
        text = text.replace("(unsigned long)", "")  # widening of unsigned, compared with size_t
        names = [c[0] for c in unit.contracts]

        class Printed(acsl.Unit):  # one file now: the other headers' contracts are in it as well
            def function(self, file, toks, ghost, contract):
                if toks[toks.index("(") - 1] in names:
                    super().function(file, toks, ghost, contract)
        printed = Printed(tree_of(tmp, text), {})
    return [statements(t, unit.constants) for t in (mine, acsl.Coq(printed).whole())]


def main():
    parts = (PLANTED, REFUSED, LAYOUT, LAYOUT_REFUSED, API, PACKED, API_REFUSED)
    print(f"1..{sum(map(len, parts)) + 1}", flush=True)
    number, failed = 0, False

    def report(good, name, lines):
        nonlocal number, failed
        number += 1
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
        if not good:
            print("".join(f"# {line}\n" for line in lines), end="", flush=True)

    for name, text, wanted in PLANTED:
        got = translation(text)
        report(wanted in got, name, ["wanted: " + wanted] + got.splitlines()[-12:])
    for name, text, wanted in REFUSED:
        got = translation(text)
        report(got.startswith("acsl: ") and re.search(wanted, got), "refused_" + name,
               got.splitlines()[-3:])
    for name, wanted in LAYOUT:
        got = translation_of_opt(OPT + GHOST)
        report(wanted in got, "layout_" + name, ["wanted: " + wanted] + got.splitlines()[-30:])
    got = translation_of_api()
    for name, wanted in API:
        report(wanted in got, "api_" + name, ["wanted: " + wanted] + got.splitlines()[-3:])
    got = acsl_api.translate_packed(".")
    for name, wanted in PACKED:
        report(wanted in got, "packed_" + name, ["wanted: " + wanted] + got.splitlines()[-3:])
    for name, old, new, wanted in API_REFUSED:
        got = translation_of_api(old, new)
        report(got.startswith("acsl: ") and re.search(wanted, got), "api_refused_" + name, got.splitlines()[-3:])
    for name, old, new, wanted in LAYOUT_REFUSED:
        assert (OPT + GHOST).count(old) == 1, name
        got = translation_of_opt((OPT + GHOST).replace(old, new))
        report(got.startswith("acsl: ") and re.search(wanted, got), "layout_refused_" + name,
               got.splitlines()[-3:])
    mine, printed = by_frama_c()
    if mine is None:
        report(False, "frama_c_reads_the_same", printed.splitlines()[-5:])
    else:
        odd = [n for n in {**mine, **printed} if mine.get(n) != printed.get(n)]
        report(len(mine) > 100 and not odd, "frama_c_reads_the_same",
               [f"{len(mine)} statements"] +
               [f"{n}: {t.get(n)}" for n in odd[:5] for t in (mine, printed)])
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
