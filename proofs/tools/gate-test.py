#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests what gate.py accepts and refuses of coqchk's summary and of source files, as TAP."""
import contextlib
import io
import os
import re
import sys
import tempfile

sys.dont_write_bytecode = True
import gate  # noqa: E402  (in this folder)

AXIOMS = """  Coq.Numbers.Cyclic.Int63.PrimInt63.int
    Coq.Numbers.Cyclic.Int63.PrimInt63.addcarryc
    Coq.Strings.PrimString.string
"""


MODULES = gate.modules(".")
CHECKED = [name for name in MODULES if not name.endswith("Examples")]


def summary(axioms="<none>", unsafe="<none>", positivity="<none>", checked=CHECKED, more=""):
    names = "".join(f"Checking library: {name}\n" for name in checked)
    return f"""{names}{more}Modules were successfully checked

CONTEXT SUMMARY
===============

* Theory: Set is predicative
  
* Axioms: {axioms}
  
* Constants/Inductives relying on type-in-type: <none>
  
* Constants/Inductives relying on unsafe (co)fixpoints: {unsafe}
  
* Inductives whose positivity is assumed: {positivity}
"""  # noqa: W293


GOOD = [("no_axiom", summary(), "Axioms: <none>\n"), ("all_modules", summary(checked=MODULES), "Axioms: <none>\n"),
        ("primitives_of_the_kernel", summary("\n  " + AXIOMS), "3 primitives of Coq's kernel are loaded\n")]
BAD = [
    ("an_axiom_of_ours", summary("\n    Pprf.proofs.model.Correctness.easy")),
    ("an_axiom_beside_primitives", summary("\n  " + AXIOMS + "    Pprf.proofs.c.Layout.easy\n")),
    ("an_axiom_of_coqs_library", summary("\n    Coq.Logic.Classical_Prop.classic")),
    ("an_axiom_about_a_primitive", summary("\n    Coq.Numbers.Cyclic.Int63.Uint63.of_to_Z")),
    ("an_axiom_of_ours_with_a_primitives_name", summary("\n    Pprf.spec.PrimInt63.add")),
    ("a_module_within_a_primitives", summary("\n    Coq.Strings.PrimString.More.easy")),
    ("primitives_where_fixpoints_are_listed", summary(unsafe="\n  " + AXIOMS)),
    ("an_unsafe_fixpoint", summary(unsafe="\n    Pprf.proofs.model.Tree.loop")),
    ("an_assumed_positivity", summary(positivity="\n    Pprf.proofs.model.Tree.t")),
    ("a_list_without_names", summary("")),
    ("a_list_of_one_module", summary(checked=["Pprf.spec.model.Ggm"])),
    ("a_list_without_one_module", summary(checked=CHECKED[:-1])),
    ("a_module_that_was_taken_as_it_is", summary(more="Admitting library: mathcomp.ssreflect.ssrbool\n")),
    ("no_summary", "Error: cannot find a module\n"),
    ("a_summary_that_says_nothing_of_axioms", summary().replace("* Axioms", "* Other")),
    ("a_summary_that_says_nothing_of_positivity", summary().replace("* Inductives", "* Other")),
]


def verdict(text):
    with tempfile.NamedTemporaryFile("w", suffix=".log", delete=False) as f:
        f.write(text)
    out = io.StringIO()
    try:
        with contextlib.redirect_stdout(out):
            gate.coqchk(".", f.name)
        return out.getvalue()
    except gate.Refused as why:
        return f"refused: {why}"
    finally:
        os.unlink(f.name)


def words(text):
    try:
        return gate.scan_file("proofs/x.v", text, gate.other_names("."))
    except gate.Refused as why:
        return f"refused: {why}"


EXTRACTS = [
    ("an_axiom", "Axiom a : nat."), ("a_constant_with_other_code", 'Extract Constant exec_eval => "fun _ -> None".'),
    ("an_axiom_and_its_code", 'Axiom a : seq bool -> bool. Extract Inlined Constant a => "fun _ -> true".'),
    ("an_inductive_type_with_other_code", 'Extract Inductive nat => int [ "0" "succ" ].'),
    ("another_table", "Require Import ExtrOcamlNatInt."), ("a_definition", "Definition exec_eval := 0."),
    ("a_parameter_in_a_module", "Module M. Parameter a : nat. End M."), ("another_file", 'Load "other".')]


def extraction(more):
    try:
        return gate.scan_extraction(gate.read(gate.EXTRACTION) + more)
    except gate.Refused as why:
        return f"refused: {why}"


def changes():
    """What is shown where the texts `before` had the digests of a list, and `now` are proved."""
    def of(theorems, definitions, arguments):
        found = gate.closure.Closure.__new__(gate.closure.Closure)
        found.statements, found.definitions, found.full = theorems, definitions, {}
        found.arguments = dict.fromkeys([*theorems, *definitions], "0") | {"Pprf.same": arguments}
        return found
    before = of({"Pprf.a": "  x\n  = y", "Pprf.gone": "  g"}, {"Pprf.same": "  s", "Pprf.d": "  old"}, "1")
    now = of({"Pprf.a": "  x\n  = z", "Pprf.new": "  n"}, {"Pprf.same": "  s", "Pprf.d": "  old"}, "2")
    shown = []
    for known in (True, False):
        with tempfile.TemporaryDirectory() as build, contextlib.redirect_stdout(io.StringIO()) as out:
            if known:
                with open(os.path.join(build, gate.AGREED), "w", encoding="utf-8") as f:
                    f.write(before.text())
            gate.show_changes(build, before.digests(), now)
        shown.append(re.sub(r"^(---|\+\+\+|@@).*\n", "", out.getvalue(), flags=re.M))
    return shown


ARGUMENT = "Pprf.same has another argument where Coq prints none (`Set Printing All` shows it)\n"
CHANGES = ["Pprf.a is changed:\n   x\n-  = y\n+  = z\nPprf.new is new:\n+  n\n" + ARGUMENT +
           "Pprf.gone is gone:\n-  g\n",
           "Pprf.a is changed:\n+  x\n+  = z\nPprf.new is new:\n+  n\n" + ARGUMENT + "Pprf.gone is gone:\n\n"]


def main():
    print(f"1..{len(GOOD) + len(BAD) + len(EXTRACTS) + 4}")
    failed = False
    cases = [(f"{name}_passes", text, want, False) for name, text, want in GOOD]
    cases += [(f"{name}_is_refused", text, "refused: ", True) for name, text in BAD]
    for number, (name, text, want, refused) in enumerate(cases, 1):
        got = verdict(text)
        good = got.startswith(want) if refused else got.endswith(want)
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}")
        if not good:
            print(f"# {got}")
    old, own = words("rewrite take_take."), words("rewrite take_of_take. (* take_take; take_takel *)")
    refused = old is not None and "not all versions of mathcomp have take_take" in old
    extracted = [(name, str(extraction("\n" + more))) for name, more in EXTRACTS]
    others = [(refused, "another_name_is_refused", old), (own is None, "our_name_passes", own),
              (changes() == CHANGES, "what_differs_is_shown_with_its_text", str(changes())),
              (extraction("") is None, "the_extraction_passes", extraction("")),
              *((got.startswith("refused: "), f"{name}_in_the_extraction_is_refused", got) for name, got in extracted)]
    for number, (good, name, got) in enumerate(others, len(cases) + 1):
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}" + ("" if good else f"\n# {got}"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
