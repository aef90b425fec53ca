(* SPDX-License-Identifier: Apache-2.0 *)
(* opt_aes_ni, which expands one node with the key schedule of encrypt_pair (prg/aes_instructions.c): its two blocks
   are the halves of the suite aes-128, with AES-128 as FIPS 197 defines it. *)
From Coq Require Import NArith Lia Init.Byte.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Codec VectorCode AesVectorCode.
From Pprf.proofs Require Import Compat AesSym AesRounds AesSteps VectorSym AesVectorRounds AesVectorSound.
From Pprf.spec Require Import Fips197.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

Local Opaque S_box xtimes key_expansion.

(* ---- The ring of encrypt_pair ------------------------------------------------------------------------- *)

(* Column k of the round key of pair 0; sums of columns. *)
Definition column (k : nat) : sval := unknowns (4 * k) 4.
Definition columns (ks : seq nat) : sval := foldr (fun k x => sym_xor (column k) x) (nseq 4 [::]) ks.
(* In all columns, turned back by r bytes. *)
Definition turned_back (r : nat) (x : sval) : sval :=
  flatten (nseq 4 (mkseq (fun i => nth [::] x ((i + 4 - r %% 4) %% 4)) 4)).
(* After round j, in terms of round key j: B(j), B(j - 1), B(j - 2) and B(j - 3) of prg/aes_instructions.c. *)
Definition ring (v a b j : nat) : sym_env := pattern_of
  [:: (a, unknowns 16 16); (b, unknowns 32 16);
      (v + j %% 4, turned_back j (columns [:: 3]));
      (v + (j + 3) %% 4, turned_back (j + 3) (columns [:: 2; 3]));
      (v + (j + 2) %% 4, turned_back (j + 2) (columns [:: 1; 3]));
      (v + (j + 1) %% 4, turned_back (j + 1) (columns [:: 0; 1; 2; 3]))].

(* ---- A function on one node --------------------------------------------------------------------------- *)

Definition arguments (n : nat) : sym_env := mkseq (fun k => Some (unknowns (8 * k) 8)) n.

Definition single_right (f : function) (pattern : nat -> sym_env) : bool :=
  let blocks := opening f in
  [&& if sym_code no_names (flatten (take 5 blocks)) (arguments 5) is Some s
      then becomes (first 1 (tail_form x00) (tail_form x01)) (pattern 0) s else false,
      all (round_right 1 pattern (take 9 (drop 5 blocks))) (iota 1 9),
      if sym_code no_names (flatten (drop 9 (drop 5 blocks))) (pattern 9) is Some s then
        if all_some (map (sym_eval no_names s) (returned f)) is Some [:: l; r; e]
        then [&& half_right 0 16 l, half_right 0 32 r & same_sval e (nseq 8 [::])] else false else false,
      nilp (loop f) & nilp (closing f)].

Lemma bytes_of_zeros u n : bytes_of u (nseq n [::]) = nseq n x00.
Proof. by elim: n => //= n ->. Qed.

Lemma sym_evalsP u c h r s es xs m : known u r s -> all_some (map (sym_eval no_names s) es) = Some xs ->
  all_some (map (eval c h r m) es) = Some (map (bytes_of u) xs).
Proof.
move=> kn; elim: es xs => [|e es IH] xs; first by move=> /Some_inj <-.
move=> E; have [x [xs' [Ex Exs ->]]] := all_some_cons E.
have Ee := @sym_evalP u c h no_names m (@no_namesP u c h m) _ _ kn e x Ex.
by rewrite [map _ _]/= [all_some _]/= Ee (IH _ Exs).
Qed.

Section Single.

Variables (f : function) (pattern : nat -> sym_env) (m : memory) (lo hi salt_lo salt_hi id : value).
Let args := [:: lo; hi; salt_lo; salt_hi; id].
Let seed := lo ++ hi.
Let salt := salt_lo ++ salt_hi.
Let c := Call [::] None 0.
Hypothesis args_8 : all (fun x : value => size x == 8) args.

Lemma single_sound : single_right f pattern ->
  run f c args m = Some ([:: aes_128 (block salt id (tail x00)) seed; aes_128 (block salt id (tail x01)) seed;
                             nseq 8 x00], m).
Proof.
case/and5P=> input rounds last noloop noclosing.
move: input; case Ei: sym_code => [s0|] // input.
move: last; case Eo: sym_code => [s3|] //; case El: all_some => [[|l [|r [|e []]]]|] // /and3P[left right zero].
pose v := inputs [:: seed] salt [:: id] [::]; pose u := nth x00 v.
have v_is : v = flatten args.
  rewrite /v /inputs -[flatten args]/(lo ++ (hi ++ (salt_lo ++ (salt_hi ++ id ++ [::])))).
  rewrite -[flatten [:: seed]]/(seed ++ [::]) -[flatten [:: id]]/(id ++ [::]).
  by rewrite /seed /salt !cats0 -!catA.
have arg k : k < 5 -> bytes_of u (unknowns (8 * k) 8) = nth [::] args k.
  move=> lt; rewrite bytes_unknowns; have sz : size (nth [::] args k) = 8.
    by apply/eqP; apply: (all_nthP [::] args_8).
  apply: (@eq_from_nth _ x00); first by rewrite size_mkseq sz.
  by move=> i; rewrite size_mkseq => lt8; rewrite nth_mkseq // /u v_is (nth_flatten args_8).
set r0 := map Some args ++ nseq (variables f - size args) None.
have kn0 : known u r0 (arguments 5).
  move=> k x; case: (ltnP k 5) => lt; last by rewrite nth_default // size_mkseq.
  by rewrite nth_mkseq // => /Some_inj <-; rewrite arg // /r0 nth_cat size_map lt (nth_map [::]).
have [r1 run1 kn1] := @sym_codeP u c None no_names m (@no_namesP u c None m) _ _ _ _ kn0 Ei.
have {}kn1 := becomesP input kn1.
have [/eqP lo8 /eqP hi8 /eqP slo8 /eqP shi8 id8] : [/\ size lo == 8, size hi == 8, size salt_lo == 8, size salt_hi == 8 &
    size id == 8] by move: args_8 => /= /and5P[-> -> -> -> /andP[-> _]].
have seeds_16 : all (fun x : value => size x == 16) [:: seed] by rewrite /= size_cat lo8 hi8.
have ids_8 : all (fun x : value => size x == 8) [:: id] by rewrite /= id8.
have salt_16 : size salt = 16 by rewrite size_cat slo8 shi8.
pose ps := pairs 1 [:: seed] [:: id] salt (tail x00) (tail x01).
have first_state_of : bytes_of (nth x00 v) (first 1 (tail_form x00) (tail_form x01)) = state_of ps 0.
  by apply: (@firstP 1 [:: seed] [:: id] salt [::] erefl erefl seeds_16 ids_8 salt_16) => // i lt; exact: tail_formP.
rewrite first_state_of in kn1.
have wps : all_whole ps := whole_pairs _ _ _ _ _ _.
have [r2 run2 kn2] := @rounds_run c None m ps pattern _ r1 9 wps rounds (leqnn 9) kn1.
have [r3 run3 kn3] := @sym_codeP _ c None no_names m (@no_namesP _ c None m) _ _ _ _ kn2 Eo.
have pieces : flatten (opening f) = flatten (take 5 (opening f)) ++
    (flatten (take 9 (drop 5 (opening f))) ++ flatten (drop 9 (drop 5 (opening f)))).
  by rewrite -!flatten_cat !cat_take_drop.
rewrite take_of_take // in run2.
rewrite /run (nilP noloop) (nilP noclosing) -/r0 pieces run_code_cat run1 [obind _ _]run_code_cat run2 [obind _ _]run3.
rewrite -[LHS]/(omap (fun xs => (xs, m)) (all_some (map (eval c None r3 m) (returned f)))).
rewrite (sym_evalsP _ _ _ kn3 El) -[LHS]/(Some ([:: bytes_of _ l; bytes_of _ r; bytes_of _ e], m)).
have -> : bytes_of (nth x00 (state_of ps 9)) l = aes_128 (block salt id (tail x00)) seed.
  exact: (@half_rightP 1 [:: seed] [:: id] salt 0 16 x00 l _ isT (or_introl erefl) erefl left).
have -> : bytes_of (nth x00 (state_of ps 9)) r = aes_128 (block salt id (tail x01)) seed.
  exact: (@half_rightP 1 [:: seed] [:: id] salt 0 32 x01 r _ isT (or_intror erefl) erefl right).
by rewrite (same_svalP _ zero) bytes_of_zeros.
Qed.

End Single.

(* ---- opt_aes_ni ----------------------------------------------------------------------------------------- *)

Lemma ni_right : single_right opt_aes_ni (ring aes_ni_encrypt_pair_v aes_ni_a aes_ni_b).
Proof. by vm_compute. Qed.

(* Its children are returned, and memory does not change. *)
Theorem aes_ni_sound lo hi salt_lo salt_hi id (m : memory) :
  let seed := put_le 8 lo ++ put_le 8 hi in
  let salt := put_le 8 salt_lo ++ put_le 8 salt_hi in
  run opt_aes_ni (Call [::] None 0) [seq VectorCode.word w | w <- [:: lo; hi; salt_lo; salt_hi; id]] m =
  Some ([:: aes_half seed salt (put_le 8 id) x00; aes_half seed salt (put_le 8 id) x01; VectorCode.word 0], m).
Proof.
have sizes : all (fun x : value => size x == 8) [:: VectorCode.word lo; VectorCode.word hi; VectorCode.word salt_lo;
    VectorCode.word salt_hi; VectorCode.word id] by apply/and5P; split; rewrite ?size_word.
exact: (single_sound m sizes ni_right).
Qed.
