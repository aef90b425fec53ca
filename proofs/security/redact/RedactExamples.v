(* SPDX-License-Identifier: Apache-2.0 *)
(* The tree of seven parts; openings that collide under a weak hash; and the hiding game on one-bit
   seeds, a broken PRG and a one-time pad for the hash. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame Redact.
From Pprf.proofs Require Import Compat ProbabilityFacts EvaluationExamples RedactBinding RedactSecurity.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory Num.Theory Order.Theory.
Local Open Scope ring_scope.

(* RFC 9162, 2.1.5: seven leaves are four and three, these are two and one. *)
Example seven_parts : rfc_tree 7 =
  Join (Join (Join (Tip 0) (Tip 1)) (Join (Tip 2) (Tip 3))) (Join (Join (Tip 4) (Tip 5)) (Tip 6)).
Proof. by []. Qed.

(* A hash without collisions: what was hashed, written down. Salts, parts are numbers. *)
Definition written (x : hash_input nat_eqType nat_eqType (seq_eqType nat_eqType)) : seq nat :=
  match x with LeafInput (y, i, p) => [:: 0; y; i; p] | NodeInput a b => 1 :: a ++ b end%N.

Definition entries : seq (nat * nat * nat) := [seq (i + 10, i, i + 20)%N | i <- iota 0 7].
Definition leaf_hashes : seq (seq nat) := [seq written (LeafInput _ e) | e <- entries].

(* Parts 1, 4, 5 and 6 are hidden: the hashes of leaf 1 and of the subtree of the last three. *)
Example hidden_of_seven :
  hidden_hashes written (fun i => i \in [:: 1; 4; 5; 6]%N) (nth [::] leaf_hashes) (rfc_tree 7) =
  [:: nth [::] leaf_hashes 1; tree_hash written (nth [::] leaf_hashes) (Join (Join (Tip 4) (Tip 5)) (Tip 6))].
Proof. by []. Qed.

Example rfc_tree_hash_ex := @rfc_tree_hash _ _ _ written [::] leaf_hashes erefl.

(* Under a weak hash, the exclusive or, another salt and part have the same hash: the collision
   that the two openings give is found at leaf 0. The second opening hides part 1. *)
Definition weak (x : hash_input one_bit one_bit one_bit) : bool :=
  match x with LeafInput (y, _, p) => y (+) p | NodeInput a b => a (+) b end.

Definition opening1 : opening one_bit one_bit one_bit :=
  Opening (fun i => if i is 0 then Some (true, 0, false) else Some (true, 1, true))%N [::].
Definition opening2 : opening one_bit one_bit one_bit :=
  Opening (fun i => if i is 0 then Some (false, 0, true) else None)%N [:: false].

Example openings_collide : [/\ accepted weak 2 true opening1, accepted weak 2 true opening2 &
  collision weak 2 opening1 opening2 =
  Some (LeafInput one_bit (true, 0, false), LeafInput one_bit (false, 0, true))%N].
Proof. by []. Qed.

Example redact_binding_ex := @redact_binding _ _ _ weak 2 true opening1 opening2 isT isT isT.

(* ---- Hiding ------------------------------------------------------------------------------------ *)

(* Two documents that agree in part 0. With the broken PRG all salts are equal, so salt and part
   0, which are shown, reveal part 1, which is hidden. A request to show part 1 is refused. *)
Definition two_documents : documents one_bit 2 := exist _ [:: (true, true); (false, true)] isT.

Definition read_hidden : hide_adversary one_bit one_bit one_bit unit 2 :=
  Ret (two_documents, fun root _ =>
    @Ask _ (@redact_reply one_bit one_bit one_bit) (pred1 0)%N (fun none =>
    @Ask _ (@redact_reply one_bit one_bit one_bit) (pred1 1)%N (fun r => Conclude _
      (if (none, r) is (None, Some (Redacted [:: (_, y)] [:: c] [:: (0, true)])) then
         (root == c (+) y (+) true) && (c (+) y) else false)%N))).

Local Notation unsigned := (fun (_ : nat) (_ : bool) => Ret tt).

Example read_hidden_wins : hide_adv false copy_prg 1 false false weak unsigned read_hidden = 1.
Proof.
rewrite /hide_adv /hide_game /Pr /= !avg_bool /=.
by apply/eqP; vm_compute.
Qed.

(* It wins against the PRG: a one-time pad hides the part. *)
Example weak_hides j : commit_adv false weak (exchange false copy_prg 1 false false weak unsigned j read_hidden) = 0.
Proof.
apply/eqP; rewrite subr_eq0; apply/eqP; rewrite /commit_game /exchange !Pr_bind !ex_bind.
apply: eq_ex => s; case: s; case: j => [|[|j]]; rewrite /Pr /= ?nth_nil !avg_bool /= ?avg_bool /=;
  by apply/eqP; vm_compute.
Qed.

Example hide_adv_sum_ex : 1 =
  ev_adv false copy_prg 0 (hide_as_ev false 1 false false weak unsigned true read_hidden) -
  ev_adv false copy_prg 0 (hide_as_ev false 1 false false weak unsigned false read_hidden).
Proof.
rewrite -read_hidden_wins (@hide_adv_sum _ false copy_prg 1 _ _ _ false false weak unsigned 2 isT).
by rewrite big1 ?addr0 // => j _; apply: weak_hides.
Qed.

Example hide_adv_bound_ex eps eps' :=
  @hide_adv_bound _ false copy_prg 1 _ _ _ false false weak unsigned 2 isT read_hidden eps eps'.

Example redact_verifies_ex :=
  @redact_verifies _ copy_prg 1 _ _ false false weak true [:: true; false] (pred1 1%N) isT.
