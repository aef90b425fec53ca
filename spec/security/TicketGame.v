(* SPDX-License-Identifier: Apache-2.0 *)
(* The confidentiality of tickets that are encrypted under leaves: the game, and the two adversaries
   made from a ticket adversary. Definitions only.

   The adversary drives the device as in EvaluationGame.v; instead of a challenge value it gets a
   ticket under the leaf's value, which contains one of two texts of its choice. It may evaluate
   leaves whose tickets it knows, puncture (redeem and expire) and steal; challenge leaves are never
   revealed. It may have any ticket opened under any leaf, except a challenge ticket under its own
   leaf: under a challenge leaf even after it is punctured; under another leaf, the opened one
   counts as evaluated.

   A device holds 2^c trees with independent seeds: the first c bits of a leaf name its tree. *)
From mathcomp Require Import all_ssreflect all_algebra.
From Pprf.spec Require Import Ggm Probability Games Reductions Oracle EvaluationGame.
Set Implicit Arguments.
Unset Strict Implicit.
Unset Printing Implicit Defensive.
Import GRing.Theory.
Local Open Scope ring_scope.

Section TicketGame.
Variable Seed : finType.
Variable s0 : Seed.
Variable G : bitseq -> Seed -> Seed * Seed.
Variable d : nat.
Variables (Text : Type) (Ticket : eqType).
Variable seal : Seed -> Text -> prog Ticket.      (* encryption under a key, with its own coins *)
Variable unseal : Seed -> Ticket -> option Text.  (* decryption; None: it is no ticket *)

Inductive tk_query : Type :=
| Value of leaf d
| Use of {r : region | region_ok d r}             (* redeem a ticket, expire a range of them *)
| Theft of {p : bitseq | (size p <= d)%N}
| Seal of leaf d & Text & Text
| Open of leaf d & Ticket.

Definition tk_reply (q : tk_query) : Type :=
  match q with
  | Value _ => option Seed
  | Use _ => unit
  | Theft _ => option (key Seed)
  | Seal _ _ _ => option Ticket
  | Open _ _ => option Text                       (* None: no ticket, punctured, or refused *)
  end.

Definition tk_adversary := adversary tk_reply.

(* The challenge leaves, each with its key and its ticket. *)
Definition sealed := seq (bitseq * (Seed * Ticket)).

(* Open t with the i-th of these keys, unless t is its ticket. *)
Definition open_with (ks : seq (Seed * Ticket)) (i : nat) (t : Ticket) : option Text :=
  if nth None (map Some ks) i is Some (y, c) then if t == c then None else unseal y t else None.

(* In the ideal world each challenge leaf has a fresh uniform key. *)
Definition tk_oracle (w : world) (b : bool) (K0 : key Seed) (sts : ev_state Seed * sealed) (q : tk_query) :
  prog (tk_reply q * (ev_state Seed * sealed)) :=
  let: (st, ts) := sts in
  match q with
  | Value x =>
      if spoils x st then Ret (None, sts) else Ret (eval G (held st) x, (reveal x st, ts))
  | Use r =>
      Ret (tt, (State (puncture_region G (sval r) (held st)) (revealed st) (tested st), ts))
  | Theft p =>
      if spoils (sval p) st then Ret (None, sts)
      else Ret (Some (delegate G (sval p) (held st)), (reveal (sval p) st, ts))
  | Seal x m0 m1 =>
      if fresh_leaf st x then
        y <-$ answer s0 w (odflt s0 (eval G K0 x)) ;;
        c <-$ seal y (if b then m1 else m0) ;;
        Ret (Some c, (challenge x st, (tval x, (y, c)) :: ts))
      else Ret (None, sts)
  | Open x t =>
      if tval x \in map fst ts then Ret (open_with (map snd ts) (index (tval x) (map fst ts)) t, sts)
      else if spoils x st then Ret (None, sts)
      else Ret (obind (unseal^~ t) (eval G (held st) x), (reveal x st, ts))
  end.

Definition tk_game (c : nat) (w : world) (b : bool) (A : tk_adversary) : prog bool :=
  ss <-$ unifs s0 (2 ^ c) ;;
  let K0 := zip (roots c) ss in
  interact (fun _ b' => b') (tk_oracle w b K0) (fresh_state K0, [::]) A.

Definition tk_adv (c : nat) (A : tk_adversary) : rat :=
  Pr (tk_game c Real true A) - Pr (tk_game c Real false A).

Fixpoint seals_in (U : pred bitseq) (A : tk_adversary) : Prop :=
  match A with
  | Conclude _ => True
  | Random X x0 k => forall x, seals_in U (k x)
  | Ask q k => (if q is Seal x _ _ then U x : Prop else True) /\ forall y, seals_in U (k y)
  end.

(* ---- Against the puncturable PRF: encrypt under the challenge value -------------------- *)

Fixpoint toss (Query : Type) (Reply : Query -> Type) (T : Type) (c : prog T) (f : T -> adversary Reply) :
  adversary Reply :=
  match c with
  | Ret t => f t
  | Draw X x0 k => Random x0 (fun x => toss (k x) f)
  end.

Fixpoint as_ev (b : bool) (ts : sealed) (A : tk_adversary) : ev_adversary Seed d :=
  match A with
  | Conclude c => Conclude _ c
  | Random X x0 k => Random x0 (fun x => as_ev b ts (k x))
  | Ask q k =>
      match q return (tk_reply q -> tk_adversary) -> ev_adversary Seed d with
      | Value x => fun k => @Ask _ (@ev_reply Seed d) (Evaluate x) (fun y => as_ev b ts (k y))
      | Use r => fun k => @Ask _ (@ev_reply Seed d) (Punct r) (fun y => as_ev b ts (k y))
      | Theft p => fun k => @Ask _ (@ev_reply Seed d) (Reveal p) (fun y => as_ev b ts (k y))
      | Seal x m0 m1 => fun k => @Ask _ (@ev_reply Seed d) (Challenge x) (fun y =>
          if y is Some s then
            toss (seal s (if b then m1 else m0)) (fun c => as_ev b ((tval x, (s, c)) :: ts) (k (Some c)))
          else as_ev b ts (k None))
      | Open x t => fun k =>
          if tval x \in map fst ts then
            as_ev b ts (k (open_with (map snd ts) (index (tval x) (map fst ts)) t))
          else @Ask _ (@ev_reply Seed d) (Evaluate x) (fun y => as_ev b ts (k (obind (unseal^~ t) y)))
      end k
  end.

(* ---- Against the encryption: each query is answered under a fresh key ------------------- *)

(* Have one of two texts sealed under a fresh key; have a ticket opened with the i-th last of
   these keys. *)
Inductive seal_query : Type :=
| Encrypt of Text & Text
| Decrypt of nat & Ticket.

Definition seal_reply (q : seal_query) : Type :=
  match q with Encrypt _ _ => Ticket | Decrypt _ _ => option Text end.

Definition seal_adversary := adversary seal_reply.

Definition seal_oracle (b : bool) (ks : seq (Seed * Ticket)) (q : seal_query) :
  prog (seal_reply q * seq (Seed * Ticket)) :=
  match q with
  | Encrypt m0 m1 => y <-$ unif s0 ;; c <-$ seal y (if b then m1 else m0) ;; Ret (c, (y, c) :: ks)
  | Decrypt i t => Ret (open_with ks i t, ks)
  end.

Definition seal_adv (A : seal_adversary) : rat :=
  Pr (interact (fun _ b => b) (seal_oracle true) [::] A) -
  Pr (interact (fun _ b => b) (seal_oracle false) [::] A).

(* The reduction plays the device, on whose values no ticket depends; xs are the challenge
   leaves. *)
Fixpoint serve (st : ev_state Seed) (xs : seq bitseq) (A : tk_adversary) : seal_adversary :=
  match A with
  | Conclude c => Conclude _ c
  | Random X x0 k => Random x0 (fun x => serve st xs (k x))
  | Ask q k =>
      match q return (tk_reply q -> tk_adversary) -> seal_adversary with
      | Value x => fun k =>
          if spoils x st then serve st xs (k None) else serve (reveal x st) xs (k (eval G (held st) x))
      | Use r => fun k =>
          serve (State (puncture_region G (sval r) (held st)) (revealed st) (tested st)) xs (k tt)
      | Theft p => fun k =>
          if spoils (sval p) st then serve st xs (k None)
          else serve (reveal (sval p) st) xs (k (Some (delegate G (sval p) (held st))))
      | Seal x m0 m1 => fun k =>
          if fresh_leaf st x then
            @Ask _ seal_reply (Encrypt m0 m1) (fun c => serve (challenge x st) (tval x :: xs) (k (Some c)))
          else serve st xs (k None)
      | Open x t => fun k =>
          if tval x \in xs then
            @Ask _ seal_reply (Decrypt (index (tval x) xs) t) (fun m => serve st xs (k m))
          else if spoils x st then serve st xs (k None)
          else serve (reveal x st) xs (k (obind (unseal^~ t) (eval G (held st) x)))
      end k
  end.

Definition as_seal (c : nat) (A : tk_adversary) : seal_adversary :=
  toss (unifs s0 (2 ^ c)) (fun ss => serve (fresh_state (zip (roots c) ss)) [::] A).

End TicketGame.
