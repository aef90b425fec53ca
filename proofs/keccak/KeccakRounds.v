(* SPDX-License-Identifier: Apache-2.0 *)
(* The blocks of opt's Keccak functions compute the rounds of FIPS 202. *)
From Coq Require Import NArith Lia.
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Fips202 LaneCode KeccakCode.
From Pprf.proofs Require Import KeccakSym.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.

(* ---- The rounds of FIPS 202 on polynomials ------------------------------------------------ *)

Lemma bit_array f x y z : x < 5 -> y < 5 -> z < w -> bit (array f) x y z = f x y z.
Proof. by move=> ltx lty ltz; rewrite /bit /array !nth_mkseq. Qed.

(* Lane (x, y) is number x + 5 y. *)
Definition lanes (f : nat -> nat -> poly) : seq poly := mkseq (fun n => f (n %% 5) (n %/ 5)) 25.
Definition lane_at (s : seq poly) (x y : nat) : poly := nth [::] s (x + 5 * y).

Lemma lane_lt x y : x < 5 -> y < 5 -> x + 5 * y < 25.
Proof.
by move=> ltx lty; rewrite (@leq_trans (5 + 5 * y)) ?ltn_add2r // -mulnS (leq_mul2l 5 y.+1 5).
Qed.

Lemma lane_lanes f x y : x < 5 -> y < 5 -> lane_at (lanes f) x y = f x y.
Proof.
move=> ltx lty; have lt := lane_lt ltx lty.
by rewrite /lane_at nth_mkseq // addnC mulnC modnMDl divnMDl // modn_small // divn_small // addn0.
Qed.

Definition sym_theta_C (s : seq poly) (x : nat) : poly :=
  foldl add (lane_at s x 0) [:: lane_at s x 1; lane_at s x 2; lane_at s x 3; lane_at s x 4].
Definition sym_theta (s : seq poly) : seq poly :=
  let C := mkseq (sym_theta_C s) 5 in
  let D := mkseq (fun x =>
    add (nth [::] C ((x + 4) %% 5)) (rotate 1 (nth [::] C ((x + 1) %% 5)))) 5 in
  lanes (fun x y => add (lane_at s x y) (nth [::] D x)).
Definition sym_rho (s : seq poly) : seq poly :=
  lanes (fun x y => rotate (N.of_nat (rho_offset x y %% w)) (lane_at s x y)).
Definition sym_pi (s : seq poly) : seq poly := lanes (fun x y => lane_at s ((x + 3 * y) %% 5) x).
Definition sym_chi (s : seq poly) : seq poly :=
  lanes (fun x y => add (lane_at s x y)
    (mul (add (lane_at s ((x + 1) %% 5) y) (const ones)) (lane_at s ((x + 2) %% 5) y))).
Definition sym_iota (s : seq poly) (rc : poly) : seq poly :=
  lanes (fun x y => if (x, y) == (0, 0) then add (lane_at s 0 0) rc else lane_at s x y).
Definition sym_Rnd (s : seq poly) (rc : poly) : seq poly :=
  sym_iota (sym_chi (sym_pi (sym_rho (sym_theta s)))) rc.

Section Rounds.

Variable v : nat -> N.

Definition holds (A : state) (s : seq poly) : Prop :=
  forall x y z, x < 5 -> y < 5 -> z < w -> bit A x y z = at_ v (lane_at s x y) z.

Lemma holds_lanes f g :
  (forall x y z, x < 5 -> y < 5 -> z < w -> f x y z = at_ v (g x y) z) -> holds (array f) (lanes g).
Proof. by move=> same x y z ltx lty ltz; rewrite bit_array // lane_lanes // same. Qed.

Let mod5 x : x %% 5 < 5. Proof. by rewrite ltn_pmod. Qed.

Lemma sym_thetaP A s : holds A s -> holds (theta A) (sym_theta s).
Proof.
move=> As; apply: holds_lanes => x y z ltx lty ltz; rewrite at_add As //; congr xorb.
have C x' z' : x' < 5 -> z' < w -> theta_C A x' z' = at_ v (sym_theta_C s x') z'.
  by move=> ltx' ltz'; rewrite /sym_theta_C /= !at_add /theta_C !As.
rewrite nth_mkseq // at_add !nth_mkseq ?mod5 // at_rotate // /theta_D !C ?mod5 // back_lt //.
Qed.

Lemma sym_rhoP A s : holds A s -> holds (rho A) (sym_rho s).
Proof.
move=> As; apply: holds_lanes => x y z ltx lty ltz.
rewrite at_rotate //; last by apply: lt64; rewrite ltn_pmod.
by cbv beta zeta; rewrite Nnat.Nat2N.id As // back_lt.
Qed.

Lemma sym_piP A s : holds A s -> holds (pi A) (sym_pi s).
Proof. by move=> As; apply: holds_lanes => x y z ltx lty ltz; rewrite As. Qed.

Lemma sym_chiP A s : holds A s -> holds (chi A) (sym_chi s).
Proof.
move=> As; apply: holds_lanes => x y z ltx lty ltz.
rewrite at_add at_mul at_add at_const !As //.
by rewrite [tb ones z]/tb /ones N.ones_spec_low //; apply: lt64.
Qed.

Lemma sym_RndP A s ir rc :
  holds A s -> (forall z, z < w -> nth false (RC ir) z = at_ v rc z) ->
  holds (Rnd A ir) (sym_Rnd s rc).
Proof.
move=> As rcP; have {}As := sym_chiP (sym_piP (sym_rhoP (sym_thetaP As))).
apply: holds_lanes => x y z ltx lty ltz; case: ifP => _; last exact: As.
by rewrite at_add As // rcP.
Qed.

End Rounds.

Lemma RC_words i z : i < 24 -> z < w -> nth false (RC i) z = tb (nth 0%num iota_words i) z.
Proof.
move=> lti ltz.
have /allP/(_ i) :
    all (fun i => RC i == mkseq (tb (nth 0%num iota_words i)) w) (iota 0 24).
  by vm_compute.
by rewrite mem_iota => /(_ lti)/eqP ->; rewrite nth_mkseq.
Qed.

(* ---- The blocks of the C function ----------------------------------------------------------- *)

(* The 25 variables from `base' on hold the state A. *)
Definition in_env (base : nat) (r : env) (A : state) : Prop :=
  forall x y, x < 5 -> y < 5 ->
  exists2 a, nth None r (base + (x + 5 * y)) = Some a & forall z, z < w -> tb a z = bit A x y z.

Definition unknowns : seq poly := mkseq unknown 25.
Definition sym_state (base : nat) : sym_env :=
  nseq base None ++ mkseq (fun n => Some (unknown n)) 25.

(* The table's words at the counter are unknowns 25 and 26. *)
Definition makes_round (base : nat) (b : block) (s : sym_env) (lanes0 : seq poly) (rc : poly)
    (counted n : nat) : bool :=
  if sym_block iota_words 25 counted b s is Some s' then
    let lanes1 := sym_Rnd lanes0 rc in
    all (fun k => if nth None s' (base + k) is Some p then same_poly p (nth [::] lanes1 k)
                  else false) (iota 0 n)
  else false.

Section Blocks.

Variables (v : nat -> N) (i : option nat) (counted : nat).
Hypothesis counter :
  forall k, k < counted -> obind (fun i => get iota_words (i + k)) i = Some (v (25 + k)).

(* The first n lanes of a round are in the variables from `base' on. *)
Lemma makes_roundP base b s lanes0 rc n r A ir :
  makes_round base b s lanes0 rc counted n ->
  known v r s -> holds v A lanes0 -> (forall z, z < w -> nth false (RC ir) z = at_ v rc z) ->
  exists2 r', run_block iota_words i b r = Some r' &
  forall x y, x < 5 -> y < 5 -> x + 5 * y < n ->
  exists2 a, nth None r' (base + (x + 5 * y)) = Some a &
    forall z, z < w -> tb a z = bit (Rnd A ir) x y z.
Proof.
rewrite /makes_round; case E: sym_block => [s'|] // /allP same kn lanes0P rcP.
have [r' -> kn'] := sym_blockP counter kn E; exists r' => // x y ltx lty ltn.
have := same (x + 5 * y); rewrite mem_iota => /(_ ltn).
case E': nth => [p|] //; have [a -> ap] := kn' _ _ E'; move=> pP; exists a => // z ltz.
by rewrite ap // (sym_RndP lanes0P rcP) // (same_polyP _ ltz pP).
Qed.

End Blocks.

(* The variables from `base' on hold the values of the unknowns. *)
Definition values_at (base : nat) (r : env) (words : seq N) (n : nat) : N :=
  if n < 25 then odflt 0%num (nth None r (base + n)) else nth 0%num words (n - 25).

Lemma known_state base r A words : in_env base r A ->
  known (values_at base r words) r (sym_state base) /\ holds (values_at base r words) A unknowns.
Proof.
move=> rA; split.
  move=> u p; rewrite /sym_state nth_cat size_nseq nth_nseq.
  case: ltnP => // le; case: (ltnP (u - base) 25) => lt; last by rewrite nth_default // size_mkseq.
  rewrite nth_mkseq // => -[<-]; set n := u - base in lt *.
  have lt5 : n %/ 5 < 5 by rewrite ltn_divLR.
  have [|a] := rA (n %% 5) (n %/ 5) _ lt5; first by rewrite ltn_pmod.
  rewrite [n %% 5 + _]addnC mulnC -divn_eq => E _; exists a; first by rewrite -E subnKC.
  by move=> z ltz; rewrite at_unknown // /values_at lt E.
move=> x y z ltx lty ltz; have [a E aP] := rA x y ltx lty.
have lt := lane_lt ltx lty.
by rewrite /lane_at /unknowns nth_mkseq // at_unknown // /values_at lt E -aP.
Qed.

(* One round of the loop: rounds i and i + 1 of Keccak, the first from e to a. *)
Definition half : nat := (size (body opt_keccak_scalar))./2.

Lemma first_half : makes_round a0 (take half (body opt_keccak_scalar)) (sym_state e0)
  unknowns (unknown 25) 2 25.
Proof. by vm_compute. Qed.
Lemma second_half : makes_round e0 (drop half (body opt_keccak_scalar)) (sym_state a0)
  unknowns (unknown 26) 2 25.
Proof. by vm_compute. Qed.

Lemma last_round : makes_round e0 (after opt_keccak_scalar) (sym_state e0) unknowns
  (const (nth 0%num iota_words 23)) 0 4.
Proof. by vm_compute. Qed.

(* A block of n words, n < 16, followed by the padding of section 5. *)
Definition padded_word (n k : nat) : N :=
  if k == n then 6%num else if k == 16 then (2 ^ 63)%num else 0%num.
Definition first_lanes (n : nat) : seq poly :=
  mkseq unknown n ++ mkseq (fun k => const (padded_word n (n + k))) (25 - n).
Definition arguments (n : nat) : sym_env := mkseq (fun k => Some (unknown k)) n.

Lemma first_round : makes_round e0 (before opt_keccak_scalar) (arguments 2) (first_lanes 2)
  (const (nth 0%num iota_words 0)) 0 25.
Proof. by vm_compute. Qed.

Lemma first_round_of_node : makes_round e0 (before opt_salted_scalar) (arguments 5) (first_lanes 5)
  (const (nth 0%num iota_words 0)) 0 25.
Proof. by vm_compute. Qed.

Lemma run_block_cat t i b c r :
  run_block t i (b ++ c) r = obind (run_block t i c) (run_block t i b r).
Proof. by elim: b r => [|[u e] b IH] r //=; case: eval => /=. Qed.

Lemma body_two_rounds i r A : i + 1 < 24 -> in_env e0 r A ->
  exists2 r', run_block iota_words (Some i) (body opt_keccak_scalar) r = Some r' &
  in_env e0 r' (Rnd (Rnd A i) i.+1).
Proof.
move=> lt rA; pose words := [:: nth 0%num iota_words i; nth 0%num iota_words i.+1].
have counter base r' k : k < 2 -> obind (fun i => get iota_words (i + k)) (Some i) =
    Some (values_at base r' words (25 + k)).
  move=> lt2; rewrite /= /get (nth_map 0%num); last first.
    by rewrite (@leq_trans (i + 1).+1) // ltnS leq_add2l -ltnS.
  by case: k lt2 => [|[|//]] _; rewrite /values_at /= ?addn0 ?addn1.
rewrite -(cat_take_drop half (body _)) run_block_cat.
have [kn hA] := known_state words rA.
have [|r1 -> r1A] := makes_roundP (counter e0 r) first_half kn hA (ir := i).
  by move=> z ltz; rewrite at_unknown // RC_words // (leq_trans _ lt) // addn1.
have {}r1A : in_env a0 r1 (Rnd A i) by move=> x y ltx lty; apply: r1A (lane_lt ltx lty).
have {kn hA} [kn hA] := known_state words r1A.
have [|r2 run2 r2A] := makes_roundP (counter a0 r1) second_half kn hA (ir := i.+1).
  by move=> z ltz; rewrite at_unknown // RC_words // -addn1.
by exists r2 => // x y ltx lty; apply: r2A (lane_lt ltx lty).
Qed.

Definition rounds (A : state) (n : nat) : state := foldl Rnd A (iota 0 n).

Lemma roundsS A n : rounds A n.+1 = Rnd (rounds A n) n.
Proof. by rewrite /rounds -[n.+1]addn1 iotaD foldl_cat. Qed.

Lemma run_loopE t p n i r : run_loop t p n.+1 i r =
  if i < limit p then obind (run_loop t p n (i + step p)) (run_block t (Some i) (body p) r)
  else Some r.
Proof. by []. Qed.

Lemma loop_rounds A n i r : odd i -> i <= 23 -> 23 <= i + n -> in_env e0 r (rounds A i) ->
  exists2 r', run_loop iota_words opt_keccak_scalar n.+1 i r = Some r' & in_env e0 r' (rounds A 23).
Proof.
have limit_is : limit opt_keccak_scalar = 23 by [].
have step_is : step opt_keccak_scalar = 2 by [].
elim: n i r => [|n IH] i r oi le ge rA; rewrite run_loopE limit_is step_is.
  have e : i = 23 by apply/eqP; rewrite eqn_leq le -(addn0 i).
  by rewrite e ltnn in rA *; exists r.
case: ltnP => [lt | ge']; last first.
  have e : i = 23 by apply/eqP; rewrite eqn_leq le ge'.
  by rewrite e in rA; exists r.
have lt2 : i + 2 <= 23.
  rewrite addn2 ltn_neqAle lt andbT; apply/eqP => e.
  by rewrite -[odd i]negbK -[~~ odd i]/(odd i.+1) e in oi.
have [|r' -> r'A] := @body_two_rounds i r (rounds A i) _ rA.
  by rewrite addn1 -addn2 (leq_trans lt2).
apply: IH => //; first by rewrite oddD oi.
  by rewrite -addnA (leq_trans ge) // leq_add2l addnC addn2.
by rewrite addn2 !roundsS.
Qed.

(* The functions differ only before the loop. *)
Definition with_first_round (b : block) : program :=
  Program (variables opt_keccak_scalar) b (first opt_keccak_scalar) (limit opt_keccak_scalar)
    (step opt_keccak_scalar) (body opt_keccak_scalar) (after opt_keccak_scalar)
    (returned opt_keccak_scalar).

Lemma run_loop_same t b n i r :
  run_loop t (with_first_round b) n i r = run_loop t opt_keccak_scalar n i r.
Proof.
elim: n i r => [|n IH] i r //; rewrite !run_loopE.
have -> : limit (with_first_round b) = limit opt_keccak_scalar by [].
have -> : step (with_first_round b) = step opt_keccak_scalar by [].
have -> : body (with_first_round b) = body opt_keccak_scalar by [].
case: ltnP => // _; case: (run_block t (Some i) (body opt_keccak_scalar) r) => [r'|]; last by [].
exact: IH.
Qed.
