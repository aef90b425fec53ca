#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What gate.py takes of coqchk's summary and of a file's words, and what it refuses, as TAP."""
import contextlib
import io
import os
import sys
import tempfile

sys.dont_write_bytecode = True
import gate  # noqa: E402  (beside this file)

AXIOMS = """  Coq.Numbers.Cyclic.Int63.PrimInt63.int
    Coq.Numbers.Cyclic.Int63.PrimInt63.addcarryc
    Coq.Strings.PrimString.string
"""


def summary(axioms="<none>", unsafe="<none>", positivity="<none>"):
    return f"""Modules were successfully checked

CONTEXT SUMMARY
===============

* Theory: Set is predicative
  
* Axioms: {axioms}
  
* Constants/Inductives relying on type-in-type: <none>
  
* Constants/Inductives relying on unsafe (co)fixpoints: {unsafe}
  
* Inductives whose positivity is assumed: {positivity}
"""  # noqa: W293


GOOD = [("no_axiom", summary(), "Axioms: <none>\n"),
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
            gate.coqchk(f.name)
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


def main():
    print(f"1..{len(GOOD) + len(BAD) + 2}")
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
    for number, good, name, got in [(len(cases) + 1, refused, "another_name_is_refused", old),
                                    (len(cases) + 2, own is None, "our_name_passes", own)]:
        failed = failed or not good
        print(f"{'ok' if good else 'not ok'} {number} - {name}" + ("" if good else f"\n# {got}"))
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
