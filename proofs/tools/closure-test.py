#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests that closure.py shows what a theorem means, whatever its files declare, as TAP. A small
development of two files has a theorem of each kind. Then come changes that weaken a theorem,
hidden as someone who wants to deceive would hide them, each of which must show; and changes that
keep the meaning, which must not show."""
import os
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import closure  # noqa: E402  (in this folder)

SPEC = """
Inductive world : Set := Real | Ideal.
Record game : Type := Game { limit : nat; wins : nat -> Prop }.
Definition twice (n : nat) : nat := n + n.
Fixpoint sum (n : nat) : nat := match n with O => O | S m => S (sum m) end.
Definition bound : nat := 300.
Definition fair (g : game) : Prop := forall n, wins g n -> sum n <= limit g + twice n.
Definition holds (n : nat) : Prop := sum n = n.
Coercion holds : nat >-> Sortclass.
Structure cmp : Type := Cmp { carrier : Type; same : carrier -> carrier -> Prop }.
Arguments same {_}.
Canonical nat_cmp : cmp := Cmp nat (@eq nat).
Definition either (w : world) : nat := match w with Real => 1 | _ => 2 end.
"""
PROOFS = """
From Coq Require Import Lia ssrfun ssrbool.
From Pprf.spec Require Import Spec.
Lemma sum_id n : sum n = n.
Proof. first [reflexivity | induction n; simpl; congruence]. Qed.
Ltac shown := repeat intro; unfold twice in *; pose proof sum_id;
  repeat match goal with
    | H : forall n, wins _ n -> _, W : wins _ ?m |- _ => specialize (H m W)
    | |- context [sum ?m] => rewrite (sum_id m)
  end; first [reflexivity | lia | easy].
Theorem equal n : sum n = n.
Proof. shown. Qed.
Theorem all_fair g : (forall n, wins g n -> n <= limit g) -> fair g.
Proof. shown. Qed.
Theorem coerced (n : nat) : n.
Proof. hnf; first [exact (sum_id n) | shown]. Qed.
Theorem inferred (n : nat) : same n n.
Proof. hnf; first [exact (eq_refl n) | shown]. Qed.
Theorem inferred_too (n : nat) : same n (0 + n).
Proof. hnf; first [exact (eq_refl n) | shown]. Qed.
Theorem a_member (p : pred nat) n : p n -> in_mem n (mem p).
Proof. first [exact (fun h => h) | easy]. Qed.
Theorem bounded w : either w <= bound.
Proof. destruct w; unfold either, bound; lia. Qed.
"""
THEOREMS = ["equal", "all_fair", "coerced", "inferred", "inferred_too", "a_member", "bounded"]
BEFORE, FAIR = "Theorem equal n", "Theorem all_fair"

# name, file, old, new; the text must differ, or the session must refuse
WEAKER = [
    ("a_definition_shadowed", "proofs", FAIR, "Definition fair (g : game) : Prop := sum 0 = 0.\n" + FAIR),
    ("a_definition_shadowed_by_an_abbreviation", "proofs", FAIR,
     "Notation fair := (fun _ => sum 0 = 0).\n" + FAIR),
    ("equality_shadowed_by_a_notation", "proofs", BEFORE,
     'Notation "x = y" := (eq x x \\/ eq x y) : type_scope.\n' + BEFORE),
    ("a_section_variable_called_as_a_definition", "proofs", BEFORE,
     "Section A.\nVariable sum : nat -> nat.\nHypothesis sum_id : forall n, eq (sum n) n.\n" + BEFORE),
    ("a_definition_weakened", "spec", "sum n <= limit g", "sum n + 0 <= limit g"),
    ("a_definition_below_weakened", "spec", "n + n.", "n + n + n."),
    ("a_fixpoint_replaced", "spec", "Fixpoint sum (n : nat) : nat := match n with O => O | S m => S (sum m) end.",
     "Definition sum (n : nat) : nat := n."),
    ("a_number_changed", "spec", "nat := 300", "nat := 301"),
    ("a_constructor_added", "spec", "Real | Ideal.\n", "Real | Ideal | Dream.\n"),
    ("a_constructor_renamed", "spec", "Real | Ideal.\n", "Ideal | Real.\n"),
    ("a_field_of_another_type", "spec", "wins : nat -> Prop", "wins : nat -> Type"),
    ("a_field_added", "spec", "limit : nat;", "limit : nat; handicap : nat;"),
    ("a_coercion_weakened", "spec", "holds (n : nat) : Prop := sum n = n", "holds (n : nat) : Prop := sum n <= sum n"),
    ("a_coercion_redefined", "spec", "Coercion holds",
     "Definition mild (n : nat) : Prop := sum n <= n.\nCoercion mild"),
    ("a_canonical_structure_redefined", "spec", "Canonical nat_cmp : cmp := Cmp nat (@eq nat).",
     "Definition nat_cmp : cmp := Cmp nat (@eq nat).\nCanonical other : cmp := Cmp nat (fun a b => a = a)."),
    ("another_structure_given", "proofs", "same n n.",
     "same (c := Cmp nat (fun a b => a = a)) n n."),
    ("an_argument_of_a_library_that_coq_would_infer_otherwise", "proofs", "Theorem a_member",
     "Local Notation mem := (@mem nat (PredType (fun (_ : pred nat) (_ : nat) => true))).\nTheorem a_member"),
    ("an_argument_with_a_constructor_of_ours", "proofs", "Theorem inferred_too (n : nat) : same n (0 + n).",
     "Local Notation same := (@same (Cmp nat (fun a b => a = a))).\nTheorem inferred_too (n : nat) : same n (0 + n)."),
    ("a_canonical_structure_weakened", "spec", "Cmp nat (@eq nat)", "Cmp nat (fun a b => a = a \\/ a = b)"),
    ("a_body_that_nobody_sees", "spec", "Definition bound : nat := 300.",
     "Definition bound' : nat. Proof. exact 300. Qed.\nDefinition bound : nat := 300 + bound' * 0."),
    ("printing_cut_short", "proofs", BEFORE, "Global Set Printing Depth 2.\nGlobal Unset Printing Matching.\n"
     "Definition sum := Spec.sum.\n" + BEFORE),
    ("an_axiom", "proofs",
     "Lemma sum_id n : sum n = n.\nProof. first [reflexivity | induction n; simpl; congruence]. Qed.",
     "Axiom sum_id : forall n, sum n = n."),
    ("a_theorem_twice", "proofs", BEFORE, "Module Other.\nDefinition equal := sum_id.\nEnd Other.\n" + BEFORE),
    ("a_module_called_as_a_file", "proofs", BEFORE,
     "Module Spec.\nDefinition sum (n : nat) := n.\nEnd Spec.\nTheorem equal n : Spec.sum n = n.\n"
     "Proof. reflexivity. Qed.\nTheorem equal_ n"),
]
# the statements with an added hypothesis or a dropped conclusion
WEAKER += [("a_hypothesis_added", "proofs", "all_fair g :", "all_fair g : limit g = limit g ->"),
           ("a_quantifier_narrowed", "proofs", "equal n : sum n = n", "equal n : sum (n + n) = n + n")]
SAME = [
    ("a_comment", "spec", "Definition twice", "(* 2 n *) Definition twice"),
    ("another_proof", "proofs", "n = n.\nProof. shown. Qed.\nTheorem all",
     "n = n.\nProof. exact (sum_id n). Qed.\nTheorem all"),
    ("a_lemma_more", "proofs", BEFORE, "Lemma nothing : True. Proof. exact I. Qed.\n" + BEFORE),
    ("a_notation_that_says_the_same", "proofs", BEFORE, 'Notation "x == y" := (eq x y) (at level 70).\n'
     "Theorem equal n : sum n == n.\nProof. shown. Qed.\nTheorem equal_ n"),
    ("an_option_of_printing", "proofs", BEFORE, "Global Set Printing Depth 2.\n" + BEFORE),
]
NUMBERS = [
    ("BinNums.Zpos (BinNums.xO (BinNums.xI BinNums.xH))", "6%Z"), ("(BinNums.Zpos BinNums.xH)", "1%Z"),
    ("f (BinNums.Npos (BinNums.xO BinNums.xH)) x", "f 2%N x"), ("(BinNums.Zneg (BinNums.xO BinNums.xH))", "-2%Z"),
    ("f (Datatypes.S (Datatypes.S Datatypes.O)) y", "f 2%nat y"), ("f (Datatypes.S x)", "f (Datatypes.S x)"),
    ("Datatypes.S (f Datatypes.O)", "Datatypes.S (f 0%nat)"), ("(f BinNums.Z0)", "(f 0%Z)"),
    ("(BinInt.Z.pow (BinNums.Zpos (BinNums.xO BinNums.xH))\n (BinNums.Zpos\n (BinNums.xO BinNums.xH)))",
     "(BinInt.Z.pow 2%Z\n 2%Z)"),
]


def shown(spec, proofs):
    """closure.py's text for the theorems in these two files."""
    with tempfile.TemporaryDirectory() as build:
        for folder, name, text in (("spec", "Spec", spec), ("proofs", "Thm", proofs)):
            os.makedirs(os.path.join(build, folder), exist_ok=True)
            with open(os.path.join(build, folder, name + ".v"), "w", encoding="utf-8") as f:
                f.write(text)
            run = subprocess.run(["coqc", "-q", "-w", "none", "-Q", "spec", "Pprf.spec", "-Q", "proofs",
                                  "Pprf.proofs", f"{folder}/{name}.v"], cwd=build, text=True, check=False,
                                 stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
            if run.returncode:
                return "does not compile: " + run.stdout
        try:
            found = closure.Closure(build, ["Pprf.spec.Spec", "Pprf.proofs.Thm"], THEOREMS)
        except closure.Error as why:
            return f"refused: {why}"
        return "refused: " + "; ".join(found.open) if found.open else found.digests()


def changed(file, old, new):
    files = {"spec": SPEC, "proofs": PROOFS}
    assert files[file].count(old) == 1, old
    files[file] = files[file].replace(old, new)
    if "Section A." in new:
        files[file] = files[file].replace("Theorem all_fair", "End A.\nTheorem all_fair")
    return files["spec"], files["proofs"]


def main():
    print(f"1..{1 + len(WEAKER) + len(SAME) + len(NUMBERS)}", flush=True)
    number, failed = 0, False

    def report(good, name, text):
        nonlocal number, failed
        number, failed = number + 1, failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}", flush=True)
        if not good:
            print("".join(f"# {line}\n" for line in text.splitlines()[-40:]), end="", flush=True)

    right = shown(SPEC, PROOFS)
    report(right.startswith("# What") and all(f"  Pprf.proofs.Thm.{t}\n" in right for t in THEOREMS) and
           all(f"  Pprf.spec.Spec.{d}\n" in right for d in
               ("world", "game", "twice", "sum", "bound", "fair", "holds", "cmp", "nat_cmp", "either")),
           "all_that_the_theorems_mention_is_there", right)
    for name, file, old, new in WEAKER:
        got = shown(*changed(file, old, new))
        report(got != right and not got.startswith("does not compile"), name, got)
    for name, file, old, new in SAME:
        got = shown(*changed(file, old, new))
        report(got == right, "unchanged_by_" + name, got)
    for text, wanted in NUMBERS:
        got = closure.numbers(text)
        report(got == wanted, "number_" + "".join(c if c.isalnum() else "_" for c in wanted), got)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
