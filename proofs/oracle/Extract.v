(* SPDX-License-Identifier: Apache-2.0 *)
(* The executable model as OCaml. bool, list, option and pairs become OCaml's own types
   (ExtrOcamlBasic); nothing else is replaced. *)
From mathcomp Require Import all_ssreflect.
From Pprf.spec Require Import Ggm.
From Pprf.proofs Require Import Executable.
Require Import Extraction ExtrOcamlBasic.
Extraction Language OCaml.
Extraction "model.ml" keygen exec_eval exec_puncture exec_puncture_prefix exec_puncture_range.
