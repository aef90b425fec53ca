#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Planted weakenings of the Coq proofs, each of which must fail `make prove-coq-gate`, as TAP.

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

EXEC, CORRECT = "proofs/model/Executable.v", "proofs/model/Correctness.v"
EXEC_EVAL = "Theorem exec_eval_correct K x : exec_eval K x = eval G K x."
EXEC_EVAL_PROOF = "elim: K => //= -[p s] K ->; rewrite /eval_node /=;"
GGM, NODE, CORE = "prg/ggm.acsl", "ref/node.acsl", "ref/core.h"
STORE, BESIDE, BITMAP = "opt/store.acsl", "opt/beside.acsl", "opt/slots/bitmap.acsl"
LAYOUT, MEMORY = "proofs/c/AcslLayout.v", "spec/c/AcslMemory.v"
COST = "proofs/security/evaluation/EvaluationCost.v"
CODEC, CODEC_H = "ref/codec.acsl", "ref/codec.h"
KECCAK, AES, SHA = "prg/keccak.c", "prg/aes.c", "prg/sha256.c"
INSTRUCTIONS, VECTOR_CODE = "prg/aes_instructions.c", "spec/aes/VectorCode.v"
FIPS180 = "spec/sha/Fips180.v"
EV, POOL, SEAL = "spec/security/EvaluationGame.v", "spec/model/Tickets.v", "spec/security/TicketGame.v"
REF_GAME = "spec/security/RefGame.v"
OPT_GAME, CODE_SUITE = "spec/security/OptGame.v", "spec/security/CodeSuite.v"
SALTED, SALTED_PROOF = "spec/security/SaltedSuite.v", "proofs/security/suites/SaltedSecurity.v"
AES_SUITE = "spec/security/AesSuite.v"
OPT_CORE = "opt/core.c"
PUNCT_START = ("    assigns key->store.nodes, key->store.slot[0 .. pow2(key->store.punctured.depth - 1) - 1],\n"
               "      BITMAP_WORDS(&key->store.punctured), expansions;\n"
               "    ensures null: \\result == PPRF_ERR_NULL <==> key == \\null;\n"
               "    ensures forked: \\result == PPRF_ERR_FORKED <==> key != \\null && copied{Pre}(key);\n"
               "    ensures key: key != \\null ==> !copied{Pre}(key) ==> key(root, &key->store);\n"
               "    ensures range: \\result == PPRF_ERR_RANGE <==>\n"
               "      key != \\null && !copied{Pre}(key) && leaf >=")
PUNCT = ("      \\result == PPRF_ERR_FORKED || \\result == PPRF_ERR_RANGE ||\n"
         "      \\result == PPRF_ERR_PUNCTURED || prg_error(\\result);\n"
         "    ensures cost: key != \\null ==> !copied{Pre}(key) ==>\n"
         "      \\forall integer s, h; LIVE_BEFORE(&key->store.punctured, s, h, leaf) ==>\n"
         "      expansions <= \\old(expansions) + h;\n"
         "    ensures free: \\result != PPRF_OK ==> !prg_error(\\result) ==> expansions <= \\old(expansions);\n")
PUNCT_LEAVES = ("    ensures leaves: \\result == PPRF_OK ==>\n"
              "      \\forall integer x; is_punctured(&key->store.punctured, x) <==>\n"
              "      is_punctured{Pre}(&key->store.punctured, x) || x == leaf;\n"
              "    ensures error: \\result != PPRF_OK ==> key != \\null ==>\n"
              "      same_words{Pre,Post}(&key->store.punctured) && same_slots{Pre,Post}(&key->store) &&\n"
              "      key->store.nodes == \\old(key->store.nodes); */")
EVAL_END = ("      seed_from_words(lo, hi) == leaf_value(root, key->store.punctured.depth, leaf);\n"
            "    ensures error: \\result != PPRF_OK ==> out != \\null ==> seed_bytes(out, 0, 0); */")
RANGE_ERROR = ("      is_punctured{Pre}(&key->store.punctured, x) || first <= x <= last;\n"
               "    ensures error: \\result != PPRF_OK ==> key != \\null ==>\n"
               "      same_words{Pre,Post}(&key->store.punctured) &&")
IDEAL, ATTACK = "spec/security/IdealGame.v", "spec/security/Attack.v"
WEAK = "spec/security/WeakSeeds.v"
PRP, SUITES = "spec/security/PrpGame.v", "spec/security/SuiteFamilies.v"
SWITCH = "proofs/security/suites/PrpSwitch.v"

# name, what the gate must say, [(file, old text, new text)]; old "" appends, new file if absent
MUTANTS = [
    ("admit", r"forbidden: admit",
     [(EXEC, EXEC_EVAL_PROOF, "admit. " + EXEC_EVAL_PROOF)]),
    ("Admitted_theorem", r"forbidden: Admitted",
     [(EXEC, "", "\nLemma anything : False. Proof. Admitted.\n")]),
    ("obligation_that_is_admitted", r"forbidden: Admit",
     [(EXEC, "", "\nAdmit Obligations.\n")]),
    ("definition_with_obligations", r"forbidden: Program Definition",
     [(EXEC, "", "\nProgram Definition anything : False := _.\n")]),
    ("axiom", r"forbidden: Axiom",
     [(EXEC, "", "\nAxiom anything : False.\n")]),
    ("axiom_after_a_comment_with_a_quote", r"forbidden: Axiom",
     [(EXEC, "", '\n(* "(*" *) Local Axiom anything : False. (* *)\n')]),
    ("variable_outside_a_section", r"Variable outside a section is an axiom",
     [(EXEC, "", "\nVariable anything : False.\n")]),
    ("canonical_structure", r"forbidden: Canonical",
     [(EXEC, "", "\nCanonical another := Type.\n")]),
    ("coercion", r"forbidden: Coercion",
     [(EXEC, "", "\nCoercion another : nat >-> Sortclass.\n")]),
    ("option_of_printing", r"forbidden: Set Printing Depth",
     [(EXEC, "", "\nSet Printing Depth 2.\n")]),
    ("option_for_all_files", r"forbidden: global",
     [(EXEC, "", "\n#[global] Unset Strict Implicit.\n")]),
    ("module_called_as_a_file_of_spec", r"no modules",
     [(EXEC, "", "\nModule Ggm.\nEnd Ggm.\n")]),
    ("no_guard_check", r"forbidden: Unset Guard",
     [(EXEC, "Section Executable.", "Unset Guard Checking.\nSection Executable.")]),
    ("bypass_check", r"forbidden: bypass_check",
     [(EXEC, "Fixpoint exec_eval ", "#[bypass_check(guard)] Fixpoint exec_eval ")]),
    ("type_in_type", r"option not allowed: -arg -type-in-type",
     [("_CoqProject", "", "-arg -type-in-type\n")]),
    ("set_as_prop", r"option not allowed: -arg -impredicative-set",
     [("_CoqProject", "", "-arg -impredicative-set\n")]),
    ("no_prelude", r"option not allowed: -arg -noinit", [("_CoqProject", "", "-arg -noinit\n")]),
    ("proofs_found_as_spec", r"option not allowed: -R proofs Pprf.spec",
     [("_CoqProject", "", "-R proofs Pprf.spec\n")]),
    # A definition that the statements mention, shadowed or emptied: all else passes.
    ("cost_shadowed", r"differ from proofs/expected-theorems.txt",
     [(COST, "(* At most one PRG call for each level of each value",
       "Definition costs_at_most (n m : nat) (T : Type) (R : T) : Prop := True.\n"
       "Arguments costs_at_most : clear implicits.\nArguments costs_at_most n m {T} R.\n"
       "(* At most one PRG call for each level of each value"),
      (COST, "Proof.\nmove=> cd H.\nhave sz x", "Proof. by []. Qed.\n(*\nhave sz x"),
      (COST, "by apply: runs_within_bind (C ab) _.\nQed.\n\nEnd", "*)\n\nEnd")]),
    ("readable_memory_that_is_not", r'The term "I" has type "True"',  # an example no longer holds
     [(MEMORY, "forall q, r q -> may_read L q.", "forall q, r q -> may_read L q \\/ r q.")]),
    ("unsigned_up_to_2_33", r"differ from proofs/expected-theorems.txt",
     [(MEMORY, "c_unsigned (v : Z) : Prop := 0 <= v < 2 ^ 32", "c_unsigned (v : Z) : Prop := 0 <= v < 2 ^ 33")]),
    ("file_left_out", r"disagree about proofs/Extra.v",
     [("proofs/Extra.v", "", "Lemma extra : True. Proof. by []. Qed.\n")]),
    ("proof_in_spec", r"spec/ holds definitions only",
     [("spec/model/Ggm.v", "", "\nLemma extra : True. Proof. by []. Qed.\n")]),
    ("proof_imported_by_spec", r"spec/ imports nothing of proofs/",
     [("spec/model/Tickets.v", "From Pprf.spec Require Import Ggm.",
       "From Pprf.spec Require Import Ggm.\nFrom Pprf.proofs Require Import Compat.")]),
    ("hypothesis_added", r"differ from proofs/expected-theorems.txt",
     [(EXEC, EXEC_EVAL, EXEC_EVAL.replace("x :", "x : K <> [::] ->")),
      (EXEC, EXEC_EVAL_PROOF, "move=> _; " + EXEC_EVAL_PROOF)]),
    ("conclusion_dropped", r"differ from proofs/expected-theorems.txt",
     [(EXEC, "exec_puncture x K = puncture G x K.",
       "size (exec_puncture x K) = size (puncture G x K)."),
      (EXEC, "apply: exec_replaceE => -[p s]; rewrite /puncture_node",
       "congr (size _); apply: exec_replaceE => -[p s]; rewrite /puncture_node")]),
    ("conclusion_of_a_base_theorem_dropped", r"differ from proofs/expected-theorems.txt",
     [(CORRECT, "forall y v, eval (delegate x K) y = Some v -> prefix x y /\\ eval K y = Some v].",
       "True]."),
      (CORRECT, "by move=> y v; rewrite delegate_eval; case: ifP.\n", "")]),
    ("classical_axiom", r"not closed under the global context: Pprf.proofs.model.Executable.exec_eval",
     [(EXEC, "Set Implicit Arguments.",
       "From Coq Require Import Classical_Prop.\nSet Implicit Arguments."),
      (EXEC, EXEC_EVAL_PROOF, "have _ := classic (K = K). " + EXEC_EVAL_PROOF)]),
    ("theorem_gone_from_main", r"exec_eval_correct is gone.*differ from proofs/expected-theorems.txt",
     [("proofs/Main.v", "Print Assumptions exec_eval_correct.\n", "")]),
    ("example_leaves", r"no example of exec_eval_correct",
     [("proofs/Examples.v", "Example exec_eval_correct_ex := @exec_eval_correct _ label root x011.",
       "")]),
    # The ACSL: each weakening of the vocabulary or of a contract breaks a theorem on it.
    ("acsl_inv_without_maximal", r"AcslAgree.v",
     [(NODE, "correct_nodes(R, d, a, n) && sorted(a, n) && maximal(d, a, n);",
       "correct_nodes(R, d, a, n) && sorted(a, n);")]),
    ("acsl_inv_without_order", r"AcslAgree.v",
     [(NODE, "correct_nodes(R, d, a, n) && sorted(a, n) && maximal(d, a, n);",
       "correct_nodes(R, d, a, n) && maximal(d, a, n);")]),
    ("acsl_node_without_its_seed", r"AcslAgree.v",
     [(NODE, "tree_node(d, p->start, p->height) && seed_value(p->seed) == node_seed(R, d, p->start, p->height);",
       "tree_node(d, p->start, p->height);")]),
    ("acsl_half_a_seed_equal", r"AcslAgree.v",
     [(NODE, "\\at(p->height,L1) == \\at(q->height,L2) &&\n"
       "      \\at(p->seed.lo,L1) == \\at(q->seed.lo,L2) && ",
       "\\at(p->height,L1) == \\at(q->height,L2) &&\n      ")]),
    ("acsl_left_and_right_swapped_in_a_fact", r"AcslAgree.v",
     [(GGM, "node_seed(R, d, s, g) == prg_l(node_seed(R, d, s, h), s, h);",
       "node_seed(R, d, s, g) == prg_r(node_seed(R, d, s, h), s, h);")]),
    ("acsl_left_and_right_swapped_in_the_definition", r"AcslAgree.v",
     [(GGM, "is_node(d, s, h + 1) ? prg_l(node_seed(R, d, s, h + 1), s, h + 1)\n"
       "                           : prg_r(node_seed(R, d, s - pow2(h), h + 1), s - pow2(h), h + 1);",
       "is_node(d, s, h + 1) ? prg_r(node_seed(R, d, s, h + 1), s, h + 1)\n"
       "                           : prg_l(node_seed(R, d, s - pow2(h), h + 1), s - pow2(h), h + 1);")]),
    ("acsl_siblings_of_unequal_height", r"AcslAgree.v",
     [(GGM, "g == h && t == s + pow2(h) && tree_node(d, s, h + 1);",
       "t == s + pow2(h) && tree_node(d, s, h + 1);")]),
    ("acsl_siblings_of_different_parents", r"AcslAgree.v",
     [(GGM, "g == h && t == s + pow2(h) && tree_node(d, s, h + 1);", "g == h && t == s + pow2(h);")]),
    ("acsl_covers_one_leaf_more", r"AcslAgree.v",
     [(GGM, "s <= x < s + pow2(h);", "s <= x <= s + pow2(h);")]),
    ("acsl_fact_too_strong", r"AcslAgree.v",
     [(GGM, "FACT tn_root: \\forall integer d; d >= 0 ==> tree_node(d, 0, d);",
       "FACT tn_root: \\forall integer d; tree_node(d, 0, d);")]),
    ("acsl_fact_without_a_theorem", r"AcslAgree.v",
     [(GGM, "FACT pow2_0: pow2(0) == 1;", "FACT pow2_0: pow2(0) == 1;\n"
       "      FACT pow2_1: pow2(1) == 2;")]),
    ("acsl_axiom", r"gate: acsl: .*axiom: a fact is to be a FACT",
     [(GGM, "FACT pow2_0: pow2(0) == 1;", "axiom pow2_0: pow2(0) == 1;")]),
    ("acsl_axiom_of_opt", r"gate: acsl: store.acsl: axiom: a fact is to be a FACT",
     [("opt/store.acsl", "", "\n/*@ axiomatic Handy { axiom handy: 0 == 1; } */\n")]),
    ("acsl_fact_for_the_code_only", r"gate: acsl: facts proven and facts used differ: handy",
     [(GGM, "#define FACT axiom\n", "#define FACT axiom\n"
       "/*@ axiomatic Handy { FACT handy: 0 == 1; } */\n")]),
    ("acsl_declared_and_never_defined", r"gate: acsl: handy is declared and not defined",
     [(GGM, "#define FACT axiom\n", "#define FACT axiom\n"
       "/*@ axiomatic Handy { logic integer handy; } */\n")]),
    ("acsl_second_contract_at_the_definition", r"gate: acsl: .*contract of a function that is not",
     [("ref/core.c", "int ref_eval_punct(", "/*@ requires x == 0; */\nint ref_eval_punct(")]),
    ("acsl_seed_forgets_half", r"AcslSound.v",
     [(GGM, "seed_value(struct pprf_seed v) = seed_from_words(v.lo, v.hi);",
       "seed_value(struct pprf_seed v) = seed_from_words(v.lo, 0);")]),
    ("acsl_setup_covers_at_most", r"AcslSound.v",
     [(CORE, "0 <= y < pow2(d) <==> covered(a, 1, y);", "covered(a, 1, y) ==> 0 <= y < pow2(d);")]),
    ("acsl_eval_may_fail_on_a_live_leaf", r"AcslSound.v",
     [(CORE, "\\result == PPRF_ERR_PUNCTURED <==> x < pow2(d) && !covered(a, n, x);",
       "x < pow2(d) && !covered(a, n, x) ==> \\result == PPRF_ERR_PUNCTURED;")]),
    ("acsl_eval_may_succeed_on_a_punctured_leaf", r"AcslSound.v",
     [(CORE, "\\result == PPRF_ERR_PUNCTURED <==> x < pow2(d) && !covered(a, n, x);",
       "\\result == PPRF_ERR_PUNCTURED ==> x < pow2(d) && !covered(a, n, x);")]),
    ("acsl_eval_leaves_the_value_on_an_error", r"AcslSound.v",
     [(CORE, "    ensures error: \\result != PPRF_OK ==> zero_seed(*value); */\nint ref_eval(",
       "    ensures error: \\true; */\nint ref_eval(")]),
    ("acsl_eval_writes_the_key", r"AcslSound.v",
     [(CORE, "    assigns *value, expansions;\n", "    assigns *value, expansions, a[0 .. n-1];\n")]),
    ("acsl_eval_asks_for_more", r"AcslSound.v",
     [(CORE, "    requires nodes: inv(root, d, a, n);\n    assigns *value, expansions;",
       "    requires nodes: inv(root, d, a, n) && x == 0;\n    assigns *value, expansions;")]),
    ("acsl_depth_32_at_most", r"AcslSound.v",
     [("ref/node.h", "#define REF_DEPTH_MAX 63", "#define REF_DEPTH_MAX 32")]),
    ("acsl_punct_without_others_stay", r"AcslSound.v",
     [(CORE, "ensures others_stay: \\forall integer y; y != x ==>\n      (covered(a, *n, y) <==> "
       "covered{Pre}(a, \\old(*n), y));", "ensures others_stay: \\true;")]),
    ("acsl_punct_others_may_be_lost", r"AcslSound.v",
     [(CORE, "ensures others_stay: \\forall integer y; y != x ==>\n      (covered(a, *n, y) <==> "
       "covered{Pre}(a, \\old(*n), y));", "ensures others_stay: \\forall integer y; y != x ==>\n"
       "      (covered(a, *n, y) ==> covered{Pre}(a, \\old(*n), y));")]),
    ("acsl_punct_clause_leaves", r"AcslSound.v",
     [(CORE, "    ensures leaves: \\result == PPRF_OK ==> !covered(a, *n, x);\n", "")]),
    ("acsl_punct_keeps_a_node_behind_the_last", r"AcslSound.v",
     [(CORE, "    ensures clear: zeros(a, *n, cap);\n    ensures error: \\result != PPRF_OK ==>\n      zero_seed",
       "    ensures clear: zeros(a, *n, \\old(*n));\n    ensures error: \\result != PPRF_OK ==>\n      zero_seed")]),
    ("acsl_range_keeps_a_node_behind_the_last", r"AcslSound.v",
     [(CORE, "    ensures clear: zeros(a, *n, cap);\n    ensures error: \\result != PPRF_OK ==> *n",
       "    ensures clear: zeros(a, *n, \\old(*n));\n    ensures error: \\result != PPRF_OK ==> *n")]),
    ("acsl_range_end_lives", r"AcslSound.v",
     [(CORE, "first <= y <= last ==> !covered(a, *n, y);",
       "first <= y < last ==> !covered(a, *n, y);")]),
    ("acsl_range_moves_the_array_on_an_error", r"AcslSound.v",
     [(CORE, "\\result != PPRF_OK ==> *n == \\old(*n) && same{Post,Pre}(a, 0, cap); */\n"
       "int ref_punct_range(", "\\result != PPRF_OK ==> *n == \\old(*n); */\nint ref_punct_range(")]),
    ("acsl_file_of_another_version", r"AcslCodec.v",
     [(CODEC, "p[7] == 1 &&", "p[7] == 2 &&")]),
    ("acsl_file_with_half_the_seed", r"AcslCodec.v",
     [(CODEC, "bytes(p, at + id_bytes(d), 8, x->seed.lo) &&\n      ", "")]),
    ("acsl_file_without_its_digest", r"AcslCodec.v",
     [(CODEC, "records(p, a, n, d) && sealed(p, record_at(d, n)); */",
       "records(p, a, n, d); */")]),
    ("acsl_encoder_may_write_any_records", r"AcslCodec.v",
     [(CODEC_H, "\\result == PPRF_OK ==> encodes(buf, a, n, d);\n    ensures error",
       "\\result == PPRF_OK ==> starts(buf, d, n);\n    ensures error")]),
    ("acsl_decoder_may_accept_siblings", r"ImportSound.v",
     [(CODEC, "node_shapes(d, a, n) && sorted(a, n) && maximal(d, a, n); */",
       "node_shapes(d, a, n) && sorted(a, n); */")]),
    ("acsl_decoder_promises_no_order", r"ImportSound.v",
     [(CODEC_H, "\\result == PPRF_OK ==> canonical(d, a, n) && encodes", "\\result == PPRF_OK ==> encodes")]),
    ("acsl_decoder_leaves_seeds_on_an_error", r"ImportSound.v",
     [(CODEC_H, "    ensures error: \\result != PPRF_OK ==> zeros(a, 0, n); */", "    ensures error: \\true; */")]),
    ("import_with_another_prg_below_the_nodes", r"ImportSound.v",
     [("spec/c/AcslImport.v", "graft s (h - 1) (prg_l V v s h)", "graft s (h - 1) (prg_r V v s h)")]),
    ("acsl_syntax_that_the_translator_does_not_know", r"gate: acsl: .*not a term of the subset",
     [(GGM, "covers(integer s, integer h, integer x) = s <= x",
       "covers(integer s, integer h, integer x) = \\let z = s; z <= x")]),
    ("acsl_clause_that_the_translator_does_not_know", r"gate: acsl: .*clause not known: behavior",
     [(CORE, "    assigns *value, expansions;\n", "    behavior b:\n    assigns *value, expansions;\n")]),
    ("acsl_generated_file_in_the_tree", r"disagree about spec/c/AcslRef.v",
     [("spec/c/AcslRef.v", "", "Definition x := 0.\n")]),
    # The facts about opt's layout: a weakening of one differs from its theorem, or makes it false.
    ("layout_pair_without_its_start", r"AcslLayout.v",
     [(STORE, "       s == t && h == g;\n", "       h == g;\n")]),
    ("layout_pair_of_one_start", r"AcslLayout.v", [(STORE, "s / 2 == t / 2 ==>", "s == t ==>")]),
    ("layout_live_nodes_may_meet", r"AcslLayout.v",
     [(STORE, "(s == t && h == g) || s + pow2(h) <= t ||", "s == t || s + pow2(h) <= t ||")]),
    ("layout_asks_for_more", r"AcslLayout.v",
     [(STORE, "// live nodes are one or apart\n  /@ requires d <= 32;",
       "// live nodes are one or apart\n  /@ requires d <= 32 && lo == hi;")]),
    ("layout_overwritten_by_no_sibling", r"AcslLayout.v",
     [(STORE, "integer i; 0 <= i < h && beside(x, i) / 2", "integer i; 0 <= i <= h && beside(x, i) / 2")]),
    ("layout_puncture_brings_any_node", r"AcslLayout.v",
     [(STORE, "(0 <= g < h && t == beside(x, g));", "0 <= g < h;")]),
    ("layout_puncture_clause_leaves", r"AcslLayout.v",
     [(STORE, "     ensures copath: \\forall integer i; 0 <= i < h ==> live(b, x, x + 1, d, "
       "beside(x, i), i);\n", "")]),
    ("layout_live_below_a_live_node", r"AcslLayout.v",
     [(STORE, " &&\n      (h < d ==> !intact(b, lo, hi, covering_start(s, h + 1), h + 1));", ";")]),
    ("layout_root_never_live", r"AcslLayout.v",
     [(STORE, "0 <= h <= d && 0 <= s < pow2(d) && tree_node(d, s, h) && intact",
       "0 <= h < d && 0 <= s < pow2(d) && tree_node(d, s, h) && intact")]),
    ("layout_one_leaf_less_punctured", r"AcslLayout.v",
     [(STORE, "!is_punctured(b, x) && !(lo <= x < hi);", "!is_punctured(b, x) && !(lo < x < hi);")]),
    ("layout_sibling_is_the_node", r"AcslLayout.v",
     [(BESIDE, "2 * covering_start(x, h + 1) + pow2(h) - covering_start(x, h); */", "covering_start(x, h); */")]),
    ("layout_fact_too_strong", r"AcslLayout.v",
     [(BITMAP, "FACT covering_start_zero: \\forall integer x, h; shift_right(x, h) == 0 ==>",
       "FACT covering_start_zero: \\forall integer x, h; shift_right(x, h) <= 0 ==>")]),
    ("layout_fact_without_a_theorem", r"AcslLayout.v",
     [(BITMAP, "FACT covering_start_0: ", "FACT covering_start_1: \\forall integer x; covering_start(x, 0) <= x;\n"
       "      FACT covering_start_0: ")]),
    ("layout_theorem_asks_for_more", r"AcslLayout.v",
     [(LAYOUT, "c_unsigned d -> 1 <= d <= 32 ->\n  forall s h t g",
       "c_unsigned d -> 2 <= d <= 32 ->\n  forall s h t g")]),
    ("layout_contract_leaves", r"gate: acsl: no contract of slot_overwritten_lemma",
     [(STORE, "void slot_overwritten_lemma(", "void slot_written_lemma(")]),
    ("layout_for_the_code_otherwise", r"gate: acsl: beside is declared otherwise than defined",
     [(BESIDE, "logic integer beside(integer x, integer h);",
       "logic integer beside(integer x, integer g);")]),
    ("layout_generated_file_in_the_tree", r"disagree about .*spec/c/AcslOpt.v",
     [("spec/c/AcslOpt.v", "", "Definition x := 0.\n")]),
    # The contracts of opt's API: a weakened clause breaks a theorem.
    ("api_punct_leaves_in_one_direction", r"ApiSound.v",
     [(OPT_CORE, PUNCT + PUNCT_LEAVES, PUNCT + PUNCT_LEAVES.replace("<==>", "==>"))]),
    ("api_punct_keeps_any_key", r"ApiSound.v",
     [(OPT_CORE, PUNCT_START, PUNCT_START.replace("key(root, &key->store)", "key == key"))]),
    ("api_punct_of_deep_keys_only", r"ApiSound.v",
     [(OPT_CORE, PUNCT_START, "    requires depth: key->store.punctured.depth >= 33;\n" + PUNCT_START)]),
    ("api_eval_of_another_leaf", r"ApiSound.v",
     [(OPT_CORE, EVAL_END, EVAL_END.replace("punctured.depth, leaf)", "punctured.depth, 0)"))]),
    ("api_eval_leaves_bytes_on_an_error", r"ApiSound.v",
     [(OPT_CORE, EVAL_END, EVAL_END.replace("seed_bytes(out, 0, 0)", "\\true"))]),
    ("api_eval_of_a_copy", r"ApiSound.v",
     [(OPT_CORE, "    ensures forked: \\result == PPRF_ERR_FORKED <==>\n"
       "      key != \\null && out != \\null && copied{Pre}(key);",
       "    ensures forked: \\result == PPRF_ERR_FORKED ==>\n"
       "      key != \\null && out != \\null && copied{Pre}(key);")]),
    ("api_range_error_may_change_the_key", r"ApiSound.v",
     [(OPT_CORE, RANGE_ERROR, RANGE_ERROR.replace("same_words{Pre,Post}(&key->store.punctured) &&", "\\true &&"))]),
    ("api_count_of_nothing", r"ApiSound.v",
     [(OPT_CORE, "    ensures count: key != \\null && !copied{Pre}(key) ==> \\result ==\n"
       "      cover_size(&key->store.punctured, 0, 0, 0, key->store.punctured.depth); */",
       "    ensures count: \\result == \\result; */")]),
    ("api_seeds_in_any_slot", r"ApiSound.v",
     [(STORE, "seed_value(slot[s / 2]) == node_seed(R, d, s, h);",
       "seed_value(slot[s / 2]) == seed_value(slot[s / 2]);")]),
    ("api_slots_that_keep_seeds", r"ApiSound.v",
     [(STORE, "        zero_seed(slot[j]) || owned(b, lo, hi, d, j);",
       "        zero_seed(slot[j]) || slot[j].lo != 0;")]),
    ("cost_of_a_walk_and_one_call_more", r"CostSound.v",
     [(CORE, "covers_at{Pre}(a + k, x) ==>\n      expansions <= \\old(expansions) + \\at(a[k].height,Pre);\n"
       "    ensures free: \\result == PPRF_ERR_RANGE || \\result == PPRF_ERR_PUNCTURED ==>",
       "covers_at{Pre}(a + k, x) ==>\n      expansions <= \\old(expansions) + \\at(a[k].height,Pre) + 1;\n"
       "    ensures free: \\result == PPRF_ERR_RANGE || \\result == PPRF_ERR_PUNCTURED ==>")]),
    ("cost_of_a_puncture_at_height_0_alone", r"CostSound.v",
     [(CORE, "    ensures cost: \\forall integer k; 0 <= k < \\old(*n) && covers_at{Pre}(a + k, x) ==>",
       "    ensures cost: \\forall integer k; 0 <= k < \\old(*n) && covers_at{Pre}(a + k, x) &&\n"
       "      \\at(a[k].height,Pre) == 0 ==>")]),
    ("cost_of_a_range_four_times_the_depth", r"CostSound.v",
     [(CORE, "\\old(expansions) + 2 * d;", "\\old(expansions) + 4 * d;")]),
    ("cost_assigned_and_not_bounded", r"a counter that is assigned and not bounded",
     [(CORE, "    ensures cost: expansions <= \\old(expansions) + node.height;\n", "")]),
    ("api_cost_of_a_range_in_leaves", r"CostSound.v",
     [(OPT_CORE, "expansions <= \\old(expansions) + 2 * key->store.punctured.depth;",
       "expansions <= \\old(expansions) + last - first;")]),
    ("api_refusals_of_a_range_that_cost", r"CostSound.v",
     [(OPT_CORE, "2 * key->store.punctured.depth;\n    ensures free: \\result != PPRF_OK ==> !prg_error(\\result) ==>",
       "2 * key->store.punctured.depth;\n    ensures free: \\result == PPRF_ERR_NULL ==>")]),
    ("api_generated_file_in_the_tree", r"disagree about .*spec/c/AcslApi.v",
     [("spec/c/AcslApi.v", "", "Definition x := 0.\n")]),
    ("keccak_rotation_off_by_one", r"KeccakRounds.v",
     [(KECCAK, "a##22, d2, 61);", "a##22, d2, 60);")]),
    ("keccak_wrong_round_constant", r"KeccakRounds.v",
     [(KECCAK, "0x8000000000008080, 0x0000000080000001", "0x8000000080008080, 0x0000000080000001")]),
    ("keccak_inputs_of_chi_swapped", r"KeccakRounds.v",
     [(KECCAK, f"e3 = CHI(b3, b4, b0);{' ' * 76}\\\n", "e3 = CHI(b3, b0, b4); \\\n")]),
    ("keccak_lane_of_another_column", r"KeccakRounds.v",
     [(KECCAK, "RHO_PI(a##1, d1, 1, a##7,", "RHO_PI(a##1, d1, 1, a##8,")]),
    ("keccak_one_round_less", r"KeccakRounds.v",
     [(KECCAK, "i < 23; i += 2", "i < 21; i += 2")]),
    ("keccak_constants_of_the_round_before", r"KeccakRounds.v",
     [(KECCAK, "ROUND(a, e, iota[i + 1]);", "ROUND(a, e, iota[i]);")]),
    ("keccak_padded_as_keccak_256", r"KeccakRounds.v",
     [(KECCAK, "b3 = CONSTANT(ROTATED(0x06, 21));", "b3 = CONSTANT(ROTATED(0x01, 21));")]),
    ("keccak_children_swapped", r"KeccakSound.v",
     [(KECCAK, "opt_keccak_scalar(struct pprf_seed seed, uint64_t start, unsigned height)\n{\n"
       "  (void)start;\n  (void)height;\n  SHA3_256_OF_SEED(uint64_t, seed.lo, seed.hi);\n"
       "  return (struct pprf_children){{e0, e1}, {e2, e3}, 0};",
       "opt_keccak_scalar(struct pprf_seed seed, uint64_t start, unsigned height)\n{\n"
       "  (void)start;\n  (void)height;\n  SHA3_256_OF_SEED(uint64_t, seed.lo, seed.hi);\n"
       "  return (struct pprf_children){{e2, e3}, {e0, e1}, 0};")]),
    ("keccak_value_used_before_it_is_set", r"KeccakRounds.v",
     [(KECCAK, "  d2 = c1;", "  d2 = c2;")]),
    ("keccak_andnot_of_vectors_swapped", r"KeccakSound.v",
     [(KECCAK, "_mm256_andnot_si256(b, c)", "_mm256_andnot_si256(c, b)")]),
    ("keccak_vector_version_renamed", r"gate: keccak: opt_keccak_avx512_x8: 0 times",
     [(KECCAK, "\nopt_keccak_avx512_x8(", "\nopt_keccak_avx512_by8(")]),
    ("keccak_syntax_that_the_translator_does_not_know", r"gate: keccak: .*small constant",
     [(KECCAK, "#define XOR(a, b) ((a) ^ (b))", "#define XOR(a, b) ((a) + (b))")]),
    ("keccak_for_another_compiler", r"gate: keccak: .*under a condition .*__clang__",
     [(KECCAK, "#define XOR(a, b) ((a) ^ (b))", "#ifdef __clang__\n#define XOR(a, b) ((a) | (b))\n#else\n"
       "#define XOR(a, b) ((a) ^ (b))\n#endif")]),
    ("keccak_with_a_condition_within_a_portable_function", r"gate: keccak: .*opt_salted_scalar stands behind",
     [(KECCAK, "\nstruct pprf_children opt_salted_scalar(", "\n#if OPT_KECCAK_X86\nextern int other;\n#endif\n"
       "struct pprf_children opt_salted_scalar(")]),
    ("keccak_specified_otherwise", r"KeccakRounds.v|KeccakSound.v",
     [("spec/keccak/Fips202.v", "(2 * xy.1 + 3 * xy.2) %% 5", "(3 * xy.1 + 2 * xy.2) %% 5")]),
    ("aes_s_box_constant", r"AesRounds.v", [(AES, "x[6] = ~t46;", "x[6] = t46;")]),
    ("aes_s_box_of_another_field", r"AesRounds.v",
     [(AES, "return (struct gf4){a.lo, a.hi ^ a.lo};", "return (struct gf4){a.hi ^ a.lo, a.lo};")]),
    ("aes_round_constant", r"AesRounds.v", [(AES, "(rcon >> 7) * 0x11b", "(rcon >> 7) * 0x11d")]),
    ("aes_row_shifted_otherwise", r"AesRounds.v", [(AES, "((v & low4) << 12)", "((v & low4) << 8)")]),
    ("aes_mix_columns_in_the_last_round", r"AesRounds.v", [(AES, "if (round < 10)", "if (round < 11)")]),
    ("aes_nine_rounds", r"AesRounds.v", [(AES, "round <= 10; round++", "round <= 9; round++")]),
    ("aes_bytes_in_another_order", r"AesRounds.v",
     [(AES, "lo |= (p->bit[i] >> at & 0xff) << 8 * i;", "lo |= (p->bit[i] >> at & 0xff) << (56 - 8 * i);")]),
    ("aes_side_in_another_byte", r"AesRounds.v",
     [(AES, "put_block(&s, RIGHT, seed.lo ^ salt_lo ^ id, seed.hi ^ salt_hi ^ 1);",
       "put_block(&s, RIGHT, seed.lo ^ salt_lo ^ id ^ 1, seed.hi ^ salt_hi);")]),
    ("aes_without_the_id", r"AesRounds.v",
     [(AES, "put_block(&s, LEFT, seed.lo ^ salt_lo ^ id, seed.hi ^ salt_hi);",
       "put_block(&s, LEFT, seed.lo ^ salt_lo, seed.hi ^ salt_hi);")]),
    ("aes_children_swapped", r"AesRounds.v",
     [(AES, "{get_block(&s, LEFT), get_block(&s, RIGHT), 0}", "{get_block(&s, RIGHT), get_block(&s, LEFT), 0}")]),
    ("aes_variable_used_before_it_is_set", r"gate: aes: .*before it is set",
     [(AES, "struct planes s = {{0}}, key;", "struct planes s, key;")]),
    ("aes_syntax_that_the_translator_does_not_know", r"gate: aes: .*not known here",
     [(AES, "return key ^ rotated;", "return key + rotated;")]),
    ("aes_for_another_compiler", r"gate: aes: .*under a condition .*__clang__",
     [(AES, "enum { LEFT = 0, RIGHT = 16, KEY = 32 };", "#ifdef __clang__\nenum { LEFT = 16, RIGHT = 0, KEY = 32 };\n"
       "#else\nenum { LEFT = 0, RIGHT = 16, KEY = 32 };\n#endif")]),
    ("aes_specified_otherwise", r"Aes(Rounds|Steps|Examples).v",
     [("spec/aes/Fips197.v", "at_ s r ((c + r) %% 4)", "at_ s r ((c + 4 - r) %% 4)")]),
    # AES by the processor's instructions, from the seeds in memory to the children's.
    ("instructions_last_round_in_each_round", r"AesVectorSound.v",
     [(INSTRUCTIONS, "  a = _mm_aesenc_si128(a, key);    \\", "  a = _mm_aesenclast_si128(a, key);    \\")]),
    ("instructions_seed_loaded_twice", r"AesVectorSound.v",
     [(INSTRUCTIONS, "    key[i] = load_block(step[i].seed);\n    a[i] = _mm_xor_si128(",
       "    key[i] = load_block(step[0].seed);\n    a[i] = _mm_xor_si128(")]),
    ("instructions_lanes_in_another_order", r"AesVectorSound.v",
     [(INSTRUCTIONS, "s[1].seed), 1);", "s[1].seed), 2);"), (INSTRUCTIONS, "s[2].seed), 2);", "s[2].seed), 1);")]),
    ("instructions_lane_stored_elsewhere", r"AesVectorSound.v",
     [(INSTRUCTIONS, "(s)[2].side, _mm512_extracti32x4_epi32(v, 2));",
       "(s)[2].side, _mm512_extracti32x4_epi32(v, 3));")]),
    ("instructions_left_child_stored_to_the_right", r"AesVectorSound.v",
     [(INSTRUCTIONS, "store_block(step[i].left, _mm_aesenclast_si128(a[i], key[i]));",
       "store_block(step[i].right, _mm_aesenclast_si128(a[i], key[i]));")]),
    ("instructions_key_schedule_of_two_words", r"AesVectorSound.v",
     [(INSTRUCTIONS, "key = _mm_xor_si128(key, _mm_slli_si128(key, 4));",
       "key = _mm_xor_si128(key, _mm_slli_si128(key, 8));")]),
    ("instructions_round_constant", r"AesVectorSound.v", [(INSTRUCTIONS, "AES_ROUND_4(0x1b)", "AES_ROUND_4(0x1d)")]),
    ("instructions_word_not_rotated", r"AesVectorSound.v",
     [(INSTRUCTIONS, "rotated_last = _mm512_set1_epi32(0x0c0f0e0d);",
       "rotated_last = _mm512_set1_epi32(0x0f0e0d0c);")]),
    ("instructions_other_sum_of_three", r"AesVectorSound.v", [(INSTRUCTIONS, "word, 0x96);", "word, 0x97);")]),
    ("instructions_ids_swapped", r"AesVectorSound.v",
     [(INSTRUCTIONS, "(long long)opt_step_id(&s[3]), 0, (long long)opt_step_id(&s[2])",
       "(long long)opt_step_id(&s[2]), 0, (long long)opt_step_id(&s[3])")]),
    ("instructions_id_without_the_height", r"AesVectorSound.v",
     [("prg/lanes.h", "return 2 * s->start + (UINT64_C(1) << s->height);", "return 2 * s->start + 1;")]),
    ("instructions_side_in_another_byte", r"AesVectorSound.v",
     [(INSTRUCTIONS, "_mm512_xor_si512(a, _mm512_set4_epi64(1, 0, 1, 0));",
       "_mm512_xor_si512(a, _mm512_set4_epi64(0, 1, 0, 1));")]),
    ("instructions_variable_used_before_it_is_set", r"gate: vectors: opt_aes_ni_x4: .*before it is set",
     [(INSTRUCTIONS, "b[i] = _mm_xor_si128(a[i], other_side);", "b[i] = _mm_xor_si128(b[i], other_side);")]),
    ("instructions_that_the_translator_does_not_know", r"gate: vectors: .*_mm512_bsrli_epi128 not known",
     [(INSTRUCTIONS, "_mm512_bslli_epi128(two, 8)", "_mm512_bsrli_epi128(two, 8)")]),
    ("instructions_for_another_compiler", r"gate: vectors: .*the conditions are not those",
     [(INSTRUCTIONS, "#define SUM _mm_xor_si128", "#ifdef __clang__\n#define SUM _mm_or_si128\n#else\n"
       "#define SUM _mm_xor_si128\n#endif")]),
    # AES-NI of one seed, with the key schedule of encrypt_pair.
    ("instructions_pair_starts_with_another_column", r"AesVectorPair.v",
     [(INSTRUCTIONS, "v[2] = SUM(turned(key, ALL_COLUMNS, 1, 2), turned(key, ALL_COLUMNS, 3, 2));",
       "v[2] = SUM(turned(key, ALL_COLUMNS, 1, 2), turned(key, ALL_COLUMNS, 2, 2));")]),
    ("instructions_pair_round_constant_not_turned", r"AesVectorPair.v",
     [(INSTRUCTIONS, "rcons[r - 1] << 8 * now));", "rcons[r - 1] << 8 * before_1));")]),
    ("instructions_pair_key_without_a_column", r"AesVectorPair.v",
     [(INSTRUCTIONS, "SUM(turned(v[before_1], 5, 0, before_1),", "SUM(turned(v[before_1], 1, 0, before_1),")]),
    ("instructions_pair_side_in_another_byte", r"AesVectorPair.v",
     [(INSTRUCTIONS, "__m128i b = _mm_xor_si128(a, _mm_set_epi64x(1, 0));",
       "__m128i b = _mm_xor_si128(a, _mm_set_epi64x(0, 1));")]),
    ("instructions_pair_salt_in_another_order", r"AesVectorPair.v",
     [(INSTRUCTIONS, "__m128i a = _mm_set_epi64x((long long)salt_hi, (long long)(salt_lo ^ id));",
       "__m128i a = _mm_set_epi64x((long long)salt_lo, (long long)(salt_hi ^ id));")]),
    ("instructions_pair_children_swapped", r"AesVectorPair.v",
     [(INSTRUCTIONS, "encrypt_pair(key, &a, &b);\n  store_block(&c.left, a);\n  store_block(&c.right, b);",
       "encrypt_pair(key, &a, &b);\n  store_block(&c.left, b);\n  store_block(&c.right, a);")]),
    # Keccak of several seeds, from the seeds in memory to the children's.
    ("keccak_lanes_seed_loaded_twice", r"KeccakVectorSound.v",
     [(KECCAK, "(const __m128i *)(const void *)s[1].seed);", "(const __m128i *)(const void *)s[0].seed);")]),
    ("keccak_lanes_halves_in_another_order", r"KeccakVectorSound.v",
     [(KECCAK, "_mm512_inserti64x4(_mm512_castsi256_si512(load_2(s)), load_2(t), 1);",
       "_mm512_inserti64x4(_mm512_castsi256_si512(load_2(t)), load_2(s), 1);")]),
    ("keccak_lanes_stored_elsewhere", r"KeccakVectorSound.v",
     [(KECCAK, "store_2((s)[2].left, (s)[3].left, _mm256_unpackhi_epi64(e0, e1));",
       "store_2((s)[3].left, (s)[2].left, _mm256_unpackhi_epi64(e0, e1));")]),
    ("keccak_lanes_words_of_both_children", r"KeccakVectorSound.v",
     [(KECCAK, "SHA3_256_OF_SEED(__m512i, lo, hi);\n  STORE_8(0, 4, left, _mm512_unpacklo_epi64(e0, e1));",
       "SHA3_256_OF_SEED(__m512i, lo, hi);\n  STORE_8(0, 4, left, _mm512_unpacklo_epi64(e0, e2));")]),
    ("salted_lanes_ids_in_another_order", r"KeccakVectorSound.v",
     [(KECCAK, "_mm256_set_epi64x(ID(s, 3), ID(s, 1), ID(s, 2), ID(s, 0))",
       "_mm256_set_epi64x(ID(s, 3), ID(s, 2), ID(s, 1), ID(s, 0))")]),
    ("keccak_one_seed_words_swapped", r"KeccakVectorSound.v",
     [(KECCAK, "__m128i lo = CONSTANT(seed.lo), hi = CONSTANT(seed.hi);\n  SHA3_256_OF_SEED(__m128i, lo, hi);",
       "__m128i lo = CONSTANT(seed.hi), hi = CONSTANT(seed.lo);\n  SHA3_256_OF_SEED(__m128i, lo, hi);")]),
    ("salted_one_seed_returned_in_another_order", r"KeccakVectorSound.v",
     [(KECCAK, "SHA3_256_OF_NODE(__m128i, lo, hi, s0, s1, at);\n"
       "  return (struct pprf_children){{(uint64_t)_mm_cvtsi128_si64(e0), (uint64_t)_mm_cvtsi128_si64(e1)},",
       "SHA3_256_OF_NODE(__m128i, lo, hi, s0, s1, at);\n"
       "  return (struct pprf_children){{(uint64_t)_mm_cvtsi128_si64(e1), (uint64_t)_mm_cvtsi128_si64(e0)},")]),
    ("vectors_word_in_the_second_place", r"VectorWords.v",
     [(VECTOR_CODE, "from (iota 0 8) ++ nseq 8 None", "nseq 8 None ++ from (iota 0 8)")]),
    ("keccak_lanes_by_what_the_translator_does_not_know", r"gate: vectors: .*_mm256_unpacklo_epi32 not known",
     [(KECCAK, "__m256i lo = _mm256_unpacklo_epi64(s01, s23), hi",
       "__m256i lo = _mm256_unpacklo_epi32(s01, s23), hi")]),
    ("vectors_rotated_the_other_way", r"VectorWords.v",
     [(VECTOR_CODE, "N.lor (N.shiftl c imm) (N.shiftr c (64 - imm))",
       "N.lor (N.shiftr c imm) (N.shiftl c (64 - imm))")]),
    ("vectors_and_not_of_the_other", r"VectorWords.v",
     [(VECTOR_CODE, "bytewise (fun x y => ~~ x && y) a b", "bytewise (fun x y => x && ~~ y) a b")]),
    ("vectors_unpacked_in_another_order", r"KeccakVectorSound.v",
     [(VECTOR_CODE, "from (elements [:: 0; 4; 2; 6])", "from (elements [:: 0; 2; 4; 6])")]),
    ("vectors_aes_step_without_its_rows", r"VectorSym.v",
     [(VECTOR_CODE, "xor_bytes (shift_rows (sub_bytes a)) key.", "xor_bytes (sub_bytes a) key.")]),
    ("vectors_bytes_shifted_the_other_way", r"AesVectorSound.v",
     [(VECTOR_CODE, "nseq n None ++ from (iota (16 * l) (16 - n))",
       "from (iota (16 * l + n) (16 - n)) ++ nseq n None")]),
    ("vectors_that_may_be_cut", r"VectorSym.v|differ from proofs/expected-theorems.txt",
     [(VECTOR_CODE,
       "Definition store (p : location) (v : value) (m : memory) : option memory :=\n  if size v == 16 then",
       "Definition store (p : location) (v : value) (m : memory) : option memory :=\n  if size v <= 16 then")]),
    ("sha_rotation", r"ShaCompress.v", [(SHA, "ROTR(x, 13) ^ ROTR(x, 22)", "ROTR(x, 13) ^ ROTR(x, 23)")]),
    ("sha_majority_of_two", r"ShaCompress.v", [(SHA, "((x) & (z)) ^ ((y) & (z)))", "((x) & (z)) ^ ((y) | (z)))")]),
    ("sha_schedule_from_another_word", r"ShaCompress.v",
     [(SHA, "back_7 = m.word[(t + 9) & 15]", "back_7 = m.word[(t + 8) & 15]")]),
    ("sha_63_rounds", r"ShaCompress.v", [(SHA, "t < 64; t++", "t < 63; t++")]),
    ("sha_without_the_feed_forward", r"ShaCompress.v", [(SHA, "hash.d + v.d,", "v.d,")]),
    ("sha_round_constant", r"ShaCompress.v", [("prg/sha256.h", "0xa4506ceb", "0xa4506cea")]),
    ("sha_pads_swapped", r"ShaSound.v",
     [(SHA, "keyed(key, 0x36363636)", "keyed(key, 0x5c5c5c5c)"),
      (SHA, "outer = keyed(key, 0x5c5c5c5c)", "outer = keyed(key, 0x36363636)")]),
    ("sha_label_of_another_length", r"ShaSound.v", [(SHA, "0, 688}};", "0, 680}};")]),
    ("sha_children_swapped", r"ShaSound.v",
     [(SHA, "seed_of(hmac(inner, outer, left))", "seed_of(hmac(inner, outer, right))"),
      (SHA, "seed_of(hmac(inner, outer, right)), 0", "seed_of(hmac(inner, outer, left)), 0")]),
    ("sha_bytes_in_another_order", r"ShaSound.v",
     [(SHA, "(uint64_t)SWAP(first) | (uint64_t)SWAP(second) << 32",
       "(uint64_t)SWAP(second) | (uint64_t)SWAP(first) << 32")]),
    ("sha_half_of_the_seed", r"ShaSound.v", [(SHA, "(uint32_t)(v >> 32);", "(uint32_t)v;")]),
    ("sha_variable_used_before_it_is_set", r"gate: sha: .*before it is set",
     [(SHA, "struct sha256_state v = hash;", "struct sha256_state v;")]),
    ("sha_syntax_that_the_translator_does_not_know", r"gate: sha: .*not known here",
     [(SHA, "v.e = v.d + t1;", "v.e = v.d - t1;")]),
    ("sha_word_cut_without_a_cast", r"gate: sha: .*where uint32_t is expected",
     [(SHA, "uint32_t word = (uint32_t)v;", "uint32_t word = v;")]),
    ("sha_for_another_compiler", r"gate: sha: .*under a condition .*__clang__",
     [(SHA, "#define CH(x, y, z)", "#ifdef __clang__\n#define CH(x, y, z) (x)\n#else\n#endif\n#define CH(x, y, z)")]),
    ("sha_specified_with_another_rotation", r"ShaCompress.v|ShaExamples.v",
     [(FIPS180, "(ROTR 7 x) (ROTR 18 x)", "(ROTR 7 x) (ROTR 17 x)")]),
    ("sha_specified_with_another_constant", r"ShaCompress.v|ShaExamples.v", [(FIPS180, "0x428a2f98", "0x428a2f99")]),
    ("sha_specified_without_the_length", r"Sha(Sound|Examples).v",
     [(FIPS180, "bits_of_word 64 (N.of_nat l).", "bits_of_word 64 0.")]),
    ("hmac_specified_with_one_pad", r"Sha(Sound|Examples).v",
     [(FIPS180, "let opad := [seq xor_byte x x5c | x <- key] in", "let opad := [seq xor_byte x x36 | x <- key] in")]),
    ("labels_specified_alike", r"Sha(Sound|Examples).v",
     [(FIPS180, '(ascii "tree") (ascii "right") 32.', '(ascii "tree") (ascii "left") 32.')]),
    # The game with evaluations: each makes it easier to be secure, or the theorem false.
    ("game_without_evaluation", r"Evaluation(Security|Examples).v",
     [(EV, "else Ret (eval G (held st) x, reveal x st)", "else Ret (None, reveal x st)")]),
    ("game_without_theft", r"Evaluation(Security|Examples).v",
     [(EV, "else Ret (Some (delegate G (sval p) (held st)), reveal (sval p) st)",
       "else Ret (None, st)")]),
    ("game_without_challenges", r"Evaluation(Security|Examples).v",
     [(EV, "~~ revealed st x && (x \\notin tested st).",
       "false && ~~ revealed st x && (x \\notin tested st).")]),
    ("game_with_two_real_worlds", r"Evaluation(Security|Examples).v",
     [(EV, "y <-$ answer s0 w (odflt", "y <-$ answer s0 Real (odflt")]),
    ("game_where_a_revealed_leaf_is_challenged", r"EvaluationSecurity.v",
     [(EV, "~~ revealed st x && (x \\notin tested st).", "x \\notin tested st.")]),
    ("game_where_a_challenge_leaf_is_stolen", r"EvaluationSecurity.v",
     [(EV, "has (fun x => prefix p x && alive (held st) x) (tested st).", "false.")]),
    # The game with an ideal PRG.
    ("ideal_game_with_two_real_worlds", r"IdealSecurity.v",
     [(IDEAL, "Pr (id_game c Real A) - Pr (id_game c Ideal A).",
       "Pr (id_game c Real A) - Pr (id_game c Real A).")]),
    ("ideal_game_with_another_function_for_the_adversary", r"IdealSecurity.v",
     [(IDEAL, "| Hash t s => Ret (g (t, s), st)", "| Hash t s => Ret ((s0, s0), st)")]),
    ("ideal_game_with_queries_for_nothing", r"Ideal(Security|Examples).v",
     [(IDEAL, "(0 < Q)%N /\\ forall y, hashes_at_most Q.-1 (k y)", "forall y, hashes_at_most Q (k y)")]),
    ("ideal_game_with_one_salt", r"IdealSuites.v",
     [(IDEAL, "(nth salt0 ts (val (take c p)), ", "(nth salt0 ts 0, ")]),
    ("attack_that_finds_nothing", r"AttackGain.v",
     [(ATTACK, "(Some ab.1, Some ab.2) \\in values then Conclude _ true",
       "(Some ab.1, Some ab.2) \\in values then Conclude _ false")]),
    # The PRG with weak seeds: the attacks on it bounded for nothing, or the tree easier to attack.
    ("weak_prg_game_with_two_real_worlds", r"WeakSeedsGain.v",
     [(WEAK, "if w is Real then weak_prg g t s else h t", "weak_prg g t s")]),
    ("weak_prg_attack_with_outputs_that_count", r"WeakSeedsGain.v",
     [(WEAK, "| Ask (Output _) k => forall ab, calls_at_most Q (k ab)",
       "| Ask (Output _) k => (0 < Q)%N /\\ forall ab, calls_at_most Q.-1 (k ab)")]),
    ("weak_tree_with_another_prg", r"WeakSeedsGain.v",
     [(WEAK, "fun p => weak_prg g (tag p).", "fun p s => (s, s).")]),
    ("weak_seeds_fewer_in_the_statement", r"differ from proofs/expected-theorems.txt",
     [("proofs/security/ideal/WeakSeedsGain.v", "calls_at_most #|weak| A -> `|weak_prg_adv",
       "calls_at_most 0 A -> `|weak_prg_adv"),
      ("proofs/security/ideal/WeakSeedsGain.v", "first by have := weak_prg_bound s0 weak H; rewrite addnn -mul2n.",
       "first by apply: le_trans (weak_prg_bound s0 weak H) _; apply: le_mul2r;\n"
       "  rewrite ?invr_ge0 ?ler0n // ler_nat addn0 leq_pmull.")]),
    # The game on C's memory: each makes it easier to be secure, or the theorem false.
    ("ref_game_where_a_challenge_leaf_is_stolen", r"MemoryGame.v",
     [(REF_GAME, "| Steal _ => ~~ has (living st) (challenged st)",
       "| Steal _ => true || ~~ has (living st) (challenged st)")]),
    ("ref_game_without_theft", r"RefSecurity.v",
     [(REF_GAME, "Ret (Some (map (cell (mem st)) qs), stolen st)", "Ret (None, st)")]),
    ("ref_game_with_two_real_worlds", r"MemoryGame.v",
     [(REF_GAME, "z <-$ answer (zero_block S) w y", "z <-$ answer (zero_block S) Real y")]),
    ("ref_memory_that_nobody_reads", r"RefSecurity.v",
     [(REF_GAME, "Ret (Some (map (cell (mem st)) qs), stolen st)",
       "Ret (Some (map (fun=> 0%Z) qs), stolen st)")]),
    ("ref_memory_without_right_words", r"RefSecurity.v",
     [(REF_GAME, "else if j =? 2 then low_word n.2 else high_word n.2", "else low_word n.2")]),
    ("ref_calls_that_meet_no_contract", r"RefSecurity.v",
     [(REF_GAME, "[/\\ contract_of c M M' R result, obeys", "[/\\ True, obeys")]),
    ("opt_game_without_theft", r"OptSecurity.v",
     [(OPT_GAME, "Ret (Some (map (opt_peek (mem st)) qs), stolen d st)",
       "Ret (if shown is _ :: _ then None else None, st)")]),  # or shown is no argument of the game
    ("opt_memory_that_nobody_reads", r"OptSecurity.v",
     [(OPT_GAME, "if in_bitmap M q && ~~ has (fun p => same_cell p q) shown then 0%Z else cell M q.",
       "if in_bitmap M q && ~~ has (fun p => same_cell p q) shown then 0%Z else 0%Z.")]),
    ("opt_memory_without_right_words", r"OptSecurity.v",
     [(OPT_GAME, "if (w =? 0)%Z then low_word n.2 else high_word n.2", "low_word n.2")]),
    ("opt_calls_that_meet_no_contract", r"OptSecurity.v",
     [(OPT_GAME, "[/\\ opt_contract_of c o M M' R result, opt_obeys", "[/\\ True, opt_obeys")]),
    ("code_of_no_function", r"CodeSecurity.v",
     [(CODE_SUITE, "seq program :=\n  [:: opt_keccak_scalar; opt_keccak_avx2; opt_keccak_avx512; opt_keccak_avx2_x4; "
       "opt_keccak_avx512_x4;\n      opt_keccak_avx512_x8].", "seq program := [::].")]),
    ("code_with_two_left_children", r"CodeSecurity.v",
     [(CODE_SUITE, "if right then seed_of_words (Z.of_N r0) (Z.of_N r1) else",
       "if right then seed_of_words (Z.of_N l0) (Z.of_N l1) else")]),
    ("code_that_never_succeeds", r"CodeSecurity.v",
     [(CODE_SUITE, "is Some [:: l0; l1; r0; r1; 0%num]", "is Some [:: l0; l1; r0; r1; 1%num]")]),
    ("keccak_walk_with_another_bit_of_the_leaf", r"KeccakWalk.v",
     [(KECCAK, "(leaf >> ((h) - 1) & 1) * UINT64_MAX", "(leaf >> (h) & 1) * UINT64_MAX")]),
    ("keccak_walk_keeps_the_child_that_it_takes", r"KeccakWalk.v",
     [(KECCAK, "other_hi = CHOOSE(side, e1, e3);", "other_hi = CHOOSE(side, e3, e1);")]),
    ("salted_walk_with_another_nodes_id", r"KeccakWalk.v",
     [(KECCAK, "+ (UINT64_C(1) << h));", "+ (UINT64_C(1) << (h - 1)));")]),
    # sha3-256-salted: another function than SHA3-256 of seed, salt and id, in C or in the statement.
    ("salted_code_with_one_word_of_the_salt", r"KeccakRounds.v",
     [(KECCAK, "d2 = XOR(c1, ROL(s1, 1));", "d2 = XOR(c1, ROL(s0, 1));")]),
    ("salted_code_without_the_id", r"KeccakRounds.v",
     [(KECCAK, "b0 = ROL(XOR(id, d4), 27);", "b0 = ROL(d4, 27);")]),
    ("salted_code_padded_as_a_seed", r"KeccakRounds.v",
     [(KECCAK, "b1 = ROL(XOR(d0, CONSTANT(0x06)), 36);", "b1 = ROL(d0, 36);")]),
    ("salted_lanes_with_one_word_of_the_salt", r"gate: keccak: opt_salted_avx512_x8: 0 times s1 as salt_hi",
     [(KECCAK, "__m512i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi);",
       "__m512i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_lo);")]),
    ("salted_suite_without_the_salt", r"KeccakSuite.v",
     [(SALTED, "tval s ++ tval salt ++ mkseq", "tval s ++ mkseq")]),
    ("salted_suite_without_the_node", r"SaltedSecurity.v",
     [(SALTED, "id_at (start height : Z) : Z := (2 * start + 2 ^ height)%Z.",
       "id_at (start height : Z) : Z := 0%Z.")]),
    ("salted_model_with_another_node", r"SaltedSecurity.v",
     [(SALTED, "let id := Z.of_N (node_id (first_leaf d p) (d - size p)) in",
       "let id := Z.of_N (node_id (first_leaf d p) (d - size p).+1) in")]),
    ("salted_code_of_no_function", r"KeccakSuite.v",
     [(SALTED, "seq program :=\n  [:: opt_salted_scalar; opt_salted_avx2; opt_salted_avx512; opt_salted_avx2_x4; "
       "opt_salted_avx512_x4;\n      opt_salted_avx512_x8].", "seq program := [::].")]),
    ("salted_code_that_never_succeeds", r"SaltedSecurity.v",
     [(SALTED, "is Some [:: l0; l1; r0; r1; 0%num]", "is Some [:: l0; l1; r0; r1; 1%num]")]),
    ("salted_statement_without_memory", r"CodeSecurity.v|differ from proofs/expected-theorems.txt",
     [(CODE_SUITE, "r.1 = m.1 /\\ forall q : pointer, cell r.2 q = image d l M0 m.2 q) /\\", "r.1 = m.1) /\\"),
      ("proofs/security/suites/CodeSecurity.v",
       "by rewrite (same_model_calls prg_is).\n- move=> A; rewrite adv /ref_node",
       "by rewrite (same_model_calls prg_is) => -[].\n- move=> A; rewrite adv /ref_node")]),
    ("drawn_salt_for_trees_of_one_leaf", r"SaltedExamples.v|differ from proofs/expected-theorems.txt",
     [(SALTED_PROOF, "(F : sha3_seed -> functions Fault) (M0 : memory) :\n  (forall salt, meets",
       "(F : sha3_seed -> functions Fault) (M0 : memory) :\n  d = 0%N -> (forall salt, meets"),
      (SALTED_PROOF, "move=> meets rdy em A.\nhave E", "move=> _ meets rdy em A.\nhave E")]),
    # aes-128: another function than AES-128 at the node's two points, or an attack on other points.
    ("aes_suite_with_one_half_twice", r"AesSecurity.v",
     [(AES_SUITE, "(seed_bytes salt) (id_bytes id) x01)", "(seed_bytes salt) (id_bytes id) x00)")]),
    ("aes_suite_without_the_node", r"AesSecurity.v",
     [(AES_SUITE, "(fun s start height => right s (id_at start height))", "(fun s start height => right s 0%Z)")]),
    ("aes_code_that_never_succeeds", r"AesSecurity.v",
     [(AES_SUITE, "is Some [:: l0; l1; r0; r1; 0%num]", "is Some [:: l0; l1; r0; r1; 1%num]")]),
    ("aes_cipher_with_key_and_block_swapped", r"AesSecurity.v",
     [(AES_SUITE, "aes_128 (seed_bytes block) (seed_bytes key)", "aes_128 (seed_bytes key) (seed_bytes block)")]),
    ("aes_attack_that_asks_without_the_salt", r"AesSecurity.v|differ from proofs/expected-theorems.txt",
     [(AES_SUITE, "ask_points (aes_point d 0 [:: salt]) D.", "ask_points (aes_point d 0 [::]) D.")]),
    # The pool of tickets.
    ("pool_redeems_without_a_puncture", r"Ticket(Pool|Examples).v",
     [(POOL, "Pool (puncture G x (pool_key p)) (given_out p)", "p")]),
    ("pool_expires_nothing", r"Ticket(Pool|Examples).v",
     [(POOL, "Pool (puncture_range G first last (pool_key p)) (given_out p)", "p")]),
    ("pool_that_redeems_nothing", r"Ticket(Pool|Examples).v",
     [(POOL, "if given p x && isSome (eval G (pool_key p) x) then", "if false then")]),
    # The game of tickets.
    ("ticket_game_with_one_text", r"Ticket(Security|GameExamples).v",
     [(SEAL, "(eval G K0 x)) ;;\n        c <-$ seal y (if b then m1 else m0) ;;",
       "(eval G K0 x)) ;;\n        c <-$ seal y m0 ;;")]),
    ("ticket_game_without_theft", r"Ticket(Security|GameExamples).v",
     [(SEAL, "else Ret (Some (delegate G (sval p) (held st)), (reveal (sval p) st, ts))",
       "else Ret (None, sts)")]),
    ("ticket_game_without_values", r"Ticket(Security|GameExamples).v",
     [(SEAL, "else Ret (eval G (held st) x, (reveal x st, ts))", "else Ret (None, sts)")]),
    ("ticket_game_that_opens_nothing", r"Ticket(Security|GameExamples).v",
     [(SEAL, "if t == c then None else unseal y t else None.", "None else None.")]),
    ("ticket_game_that_opens_the_challenge", r"Ticket(Security|GameExamples).v",
     [(SEAL, "if t == c then None else unseal y t else None.", "unseal y t else None.")]),
    ("ticket_game_with_one_tree", r"Ticket(Security|GameExamples).v",
     [(SEAL, "Definition tk_game (c : nat) (w : world) (b : bool) (A : tk_adversary) : prog bool :=\n"
       "  ss <-$ unifs s0 (2 ^ c) ;;\n  let K0 := zip (roots c) ss in",
       "Definition tk_game (c : nat) (w : world) (b : bool) (A : tk_adversary) : prog bool :=\n"
       "  ss <-$ unifs s0 1 ;;\n  let K0 := zip (roots 0) ss in")]),
    # The suites: what cryptanalysis looks at, and what is hashed or enciphered at a node.
    ("prp_game_that_asks_one_point_twice", r"PrpSwitch.v|SuiteExamples.v",
     [(PRP, "xf.2 (E k xf.1.1, E k xf.1.2)", "xf.2 (E k xf.1.1, E k xf.1.1)")]),
    ("prp_game_against_any_function", r"PrpSwitch.v",
     [(PRP, "(Phant {f : {ffun Block -> Block} | injectiveb f}).\n",
       "(Phant {f : {ffun Block -> Block} | injectiveb f || true}).\n"),
      (PRP, "exist (fun f : {ffun Block -> Block} => injectiveb f) same_block (introT (injectiveP same_block)\n"
       "    (fun x y e => etrans (esym (ffunE id x)) (etrans e (ffunE id y)))).",
       "exist (fun f : {ffun Block -> Block} => injectiveb f || true) same_block (orbT _).")]),
    ("prp_game_with_a_known_key", r"PrpSwitch.v|SuiteExamples.v",
     [(PRP, "k <-$ unif b0 ;; xf.2 (E k xf.1.1, E k xf.1.2)", "xf.2 (E b0 xf.1.1, E b0 xf.1.2)")]),
    ("prf_game_against_nothing", r"PrpSwitch.v|SuiteExamples.v",
     [(PRP, "Pr (prf_game Real A) - Pr (prf_game Ideal A).", "Pr (prf_game Real A) - Pr (prf_game Real A).")]),
    ("aes_points_without_the_half", r"SuiteBounds.v",
     [(SUITES, "(tval (id_of p) ++ [:: b])", "(tval (id_of p) ++ [:: false])")]),
    ("aes_points_without_the_salt", r"SuiteBounds.v",
     [(SUITES, "xorb (nth false (salt_of p) i)", "xorb (false && nth false (salt_of p) i)")]),
    ("salted_hash_without_the_id", r"SuiteExamples.v",
     [(SUITES, "sha3_256_bits (tval s ++ tval m.1 ++ tval m.2)", "sha3_256_bits (tval s ++ tval m.1)")]),
    ("one_salt_for_all_users", r"SuiteBounds.v",
     [(SUITES, "nth zeros salts (val (take c p)).", "nth zeros salts 0.")]),
    ("salts_that_are_not_drawn", r"SuiteBounds.v",
     [(SUITES, "  ts <-$ unifs zeros (2 ^ c) ;; ev_game zeros (G ts) c w (A ts).",
       "  let ts := nseq (2 ^ c) zeros in ev_game zeros (G ts) c w (A ts).")]),
    ("switching_term_that_an_attack_on_the_cipher_may_have", r"SuiteExamples.v",
     [(SWITCH, "= - N%:R^-1 /\\\n  prp_adv b0 E (ask_points point (Ret (p, @equal_halves Block))) = 0.",
       "= - N%:R^-1."),
      (SWITCH, "split; [rewrite -I -sub0r -R | rewrite -(subrr 0) -{1}R -P]; by [].", "by rewrite -I -sub0r -R.")]),
    # Without opt_inhabited all else would pass.
    ("opt_memory_that_is_never_ready", r"OptMemory.v",
     [(OPT_GAME, "[/\\ (0 < d <= 32)%N /\\ cell M store", "[/\\ (0 < d <= 0)%N /\\ cell M store")]),
    ("opt_example_that_assumes_its_functions", r"OptExamples.v: an example assumes what opt_inhabited proves",
     [("proofs/security/suites/OptExamples.v", "Example scalar :",
       "Section Assumed.\nVariable O : opt_functions unit.\n"
       "End Assumed.\nExample scalar :")]),
    ("hypothesis_made_unsatisfiable", r"Correctness.v|Examples.v",
     [("spec/model/Ggm.v", "| Leaf x => size x == d", "| Leaf x => (size x == d) && (d == 0)")]),
]


class Gate(planting.Planter):
    """The judge is the gate, with the message that it must give."""
    jobs = os.cpu_count()
    fresh = True  # what is compiled of a weakening is no part of another copy

    def bugs(self):
        return [planting.Bug(name, message, [planting.Edit(file, "", re.escape(old) or r"\Z", new.replace("\\", r"\\"))
                                             for file, old, new in edits]) for name, message, edits in MUTANTS]

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
        if verdict == "failed" and judge != "the gate" and (
                not re.search(judge, text, re.S) or 'File "./spec/' in text):
            return "broken", "the gate fails for another reason"
        return verdict, "the gate"


if __name__ == "__main__":
    sys.exit(planting.main(Gate(), __doc__))
