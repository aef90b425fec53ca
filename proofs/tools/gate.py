#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gate behind `make prove-coq`: what a green build of the proofs does not say by itself.

  gate.py scan TREE            the sources contain no way to assume instead of prove
  gate.py theorems TREE BUILD  the headline theorems (proofs/Main.v) are pinned (Pinned.v), applied
                               (*Examples.v), state what proofs/expected-theorems.txt says, and
                               rest on no axiom
  gate.py coqchk LOG           the independent checker found no axiom
  gate.py summary TREE JSON    the last line, when all of that has passed; JSON for the report
  gate.py update TREE BUILD    rewrite proofs/expected-theorems.txt (then review the diff)
TREE holds _CoqProject, spec/ and proofs/; BUILD their compiled copies."""
import difflib
import glob
import json
import os
import re
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
import acsl  # noqa: E402  (beside this file)
import keccak  # noqa: E402

FORBIDDEN = [  # regular expressions over comment-free source
    r"Admitted", r"admit", r"give_up", r"Axioms?", r"Parameters?", r"Conjectures?",
    r"Unset\s+(Guard|Positivity|Universe)\b.*?", r"bypass_check", r"Declare\s+ML", r"Primitive",
    r"Extract\s+(Constant|Inductive|Inlined)", r"Load", r"Add\s+(Rec\s+)?LoadPath", r"Cd",
]
PROJECT_OPTIONS = {  # all that _CoqProject may say besides the file names
    "-Q spec Pprf.spec", "-Q proofs Pprf.proofs",
    "-arg -w -arg -notation-overridden,-ambiguous-paths",
}
GENERATED = {  # written into BUILD, never in TREE
    "spec/c/AcslRef.v": acsl.translate, "spec/c/AcslOpt.v": acsl.translate_opt,
    "spec/keccak/KeccakCode.v": keccak.translate,
}
EXTRACTION = "proofs/oracle/Extract.v"  # run beside the compiled files, by the oracle's rule
# What mathcomp 2 calls otherwise than mathcomp 1 in the statements, where Coq shows it: printed by the
# old name, so that there is one list of expected statements.  These are mathcomp's own constants, by
# their full names; the sources may not use either name (FORBIDDEN), let alone define it.
MATHCOMP2 = {
    "bool_eqType": "mathcomp.ssreflect.eqtype.Datatypes_bool__canonical__eqtype_Equality",
}
FORBIDDEN += [re.escape(name) for old, new in MATHCOMP2.items() for name in (old, new.split(".")[-1])]
ASSUMED_OUTSIDE_SECTIONS = {"Variable", "Variables", "Hypothesis", "Hypotheses", "Context"}
PROOF_WORDS = {"Lemma", "Theorem", "Corollary", "Fact", "Remark", "Proposition", "Property",
               "Goal", "Proof", "Qed", "Defined"}


class Refused(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def strip(text):
    """The source without its (nested) comments and strings; line numbers are kept."""
    out, depth, i = [], 0, 0
    while i < len(text):
        if text[i] == '"':
            end = i + 1
            while end < len(text) and text[end] != '"':
                end += 1
            chunk, i = text[i:end + 1], end + 1
        elif text.startswith("(*", i):
            depth, chunk, i = depth + 1, "  ", i + 2
        elif depth and text.startswith("*)", i):
            depth, chunk, i = depth - 1, "  ", i + 2
        else:
            if not depth:
                out.append(text[i])
                i += 1
                continue
            chunk, i = text[i], i + 1
        out.append(re.sub(r"[^\n]", " ", chunk))
    if depth:
        raise Refused("unclosed comment")
    return "".join(out)


def sources(tree):
    lines = [line.strip() for line in read(os.path.join(tree, "_CoqProject")).splitlines()]
    for line in lines:
        if line and not line.endswith(".v") and line not in PROJECT_OPTIONS:
            raise Refused(f"_CoqProject: option not allowed: {line}")
    return [line for line in lines if line.endswith(".v")]


def scan_file(name, text):
    code = strip(text)

    def at(pos):
        return f"{name}:{code.count(chr(10), 0, pos) + 1}"
    for pattern in FORBIDDEN:
        found = re.search(rf"(?<![\w']){pattern}(?![\w'])", code)
        if found:
            raise Refused(f"{at(found.start())}: forbidden: {' '.join(found.group().split())}")
    sections = 0
    for word in re.finditer(r"(?<![\w'.])[A-Z]\w*", code):
        if word.group() == "Section":
            sections += 1
        elif word.group() == "End":
            sections = max(0, sections - 1)
        elif word.group() in ASSUMED_OUTSIDE_SECTIONS and not sections:
            raise Refused(f"{at(word.start())}: {word.group()} outside a section is an axiom")
        elif word.group() == "Module":
            raise Refused(f"{at(word.start())}: no modules (the section count relies on it)")
    if name.startswith("spec/"):
        if re.search(r"\bPprf\.proofs\b", code):
            raise Refused(f"{name}: spec/ imports nothing of proofs/")
        for word in re.finditer(r"[A-Za-z_]\w*", code):
            if word.group() in PROOF_WORDS:
                raise Refused(f"{at(word.start())}: spec/ holds definitions only: {word.group()}")


def scan(tree):
    listed = sources(tree)
    present = sorted({os.path.relpath(f, tree) for d in ("spec", "proofs")
                      for f in glob.glob(os.path.join(tree, d, "**/*.v"), recursive=True)}
                     - {EXTRACTION})
    if sorted(listed) != sorted(present + list(GENERATED)):
        odd = sorted(set(listed) ^ set(present + list(GENERATED))) or GENERATED
        raise Refused(f"_CoqProject and the files disagree about {', '.join(odd)}")
    try:
        for name in listed:
            scan_file(name, GENERATED[name](tree) if name in GENERATED
                      else read(os.path.join(tree, name)))
    except acsl.Error as why:
        raise Refused(f"acsl: {why}") from None
    except keccak.Error as why:
        raise Refused(f"keccak: {why}") from None
    print(f"coq: {len(listed)} files scanned: nothing assumed, spec/ holds definitions only")


def headline(tree):
    """The names that Main.v prints the assumptions of, and what it loads."""
    code = strip(read(os.path.join(tree, "proofs/Main.v")))
    names = re.findall(r"Print\s+Assumptions\s+(\w+)\s*\.", code)
    pinned = re.findall(r"Definition\s+(\w+)_statement\b",
                        strip(read(os.path.join(tree, "proofs/Pinned.v"))))
    for what, seq in (("Main.v", names), ("Pinned.v", pinned)):
        twice = sorted({n for n in seq if seq.count(n) > 1})
        if twice:
            raise Refused(f"{what} names twice: {', '.join(twice)}")
    if set(names) != set(pinned):
        odd = sorted(set(names) ^ set(pinned))
        raise Refused(f"Main.v and Pinned.v disagree about {', '.join(odd)}")
    examples = "".join(strip(read(os.path.join(tree, name))) for name in sources(tree)
                       if name.endswith("Examples.v"))
    missing = set(names) - set(re.findall(r"\w+", examples))
    if missing:
        raise Refused(f"no example of {', '.join(sorted(missing))}")
    return names, re.sub(r"Print\s+Assumptions\s+\w+\s*\.", "", code)


def coqc(build, text):
    """Have Coq read the text beside the compiled files."""
    with tempfile.TemporaryDirectory() as tmp:
        query = os.path.join(tmp, "Query.v")
        with open(query, "w", encoding="utf-8") as f:
            f.write(text)
        return subprocess.run(
            ["coqc", "-q", "-w", "none", "-Q", os.path.join(build, "spec"), "Pprf.spec",
             "-Q", os.path.join(build, "proofs"), "Pprf.proofs", query],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def one_name(build):
    """Definitions that make Coq print what MATHCOMP2 lists as mathcomp 1 does; none for mathcomp 1."""
    old_names = "".join(f"Check {new.rsplit('.', 1)[0]}.{old}.\n" for old, new in MATHCOMP2.items())
    if not coqc(build, f"From mathcomp Require all_ssreflect.\n{old_names}").returncode:
        return ""
    return "".join(f"Notation {old} := {new}.\n" for old, new in MATHCOMP2.items())


def ask_coq(tree, build):
    """{qualified name: (statement, assumptions)} as Coq prints them, in Main.v's order."""
    names, header = headline(tree)
    queries = "".join(f'Goal True. idtac "@@ {n}". Abort.\nAbout {n}.\n'
                      f'Goal True. idtac "@@ check". Abort.\nCheck @{n}.\n'
                      f'Goal True. idtac "@@ assumptions". Abort.\nPrint Assumptions {n}.\n'
                      for n in names)
    # with nat_scope open mathcomp 2's power of types does not make it say (2 ^ d)%N
    run = coqc(build, f"{header}\n{one_name(build)}Open Scope nat_scope.\nSet Printing Width 100.\n{queries}")
    if run.returncode:
        raise Refused(f"coqc refuses the query: {run.stderr.strip()}")
    parts = [p.split("\n", 1) for p in run.stdout.split("@@ ")[1:]]
    if len(parts) != 3 * len(names):
        raise Refused("coqc answers something unexpected")
    answers = {}
    for i, name in enumerate(names):
        (got, about), (_, check), (_, assumptions) = parts[3 * i:3 * i + 3]
        full = re.search(r"Expands to: Constant (\S+)", about)
        if got.strip() != name or not full:
            raise Refused(f"{name} is not a theorem")
        statement = check.split(":", 1)[1]
        answers[full[1]] = (statement.strip("\n"), assumptions.strip())
    return answers


def expected_text(answers):
    lines = ["# The headline theorems and their statements as Coq prints them; written by",
             "# `make update-expected-theorems`, compared by `make prove-coq`."]
    for full, (statement, _) in answers.items():
        lines += ["", full]
        lines += ["  " + line.strip() for line in statement.splitlines() if line.strip()]
    return "\n".join(lines) + "\n"


def theorems(tree, build):
    for name, translate in GENERATED.items():
        if read(os.path.join(build, name)) != translate(tree):
            raise Refused(f"{name} is not what the C files say: build it again")
    answers = ask_coq(tree, build)
    open_ones = [f"{n}: {a}" for n, (_, a) in answers.items()
                 if a != "Closed under the global context"]
    if open_ones:
        raise Refused("not closed under the global context: " + "; ".join(open_ones))
    path = os.path.join(tree, "proofs/expected-theorems.txt")
    want, got = read(path), expected_text(answers)
    if want.split() != got.split():
        sys.stdout.writelines(difflib.unified_diff(
            want.splitlines(True), got.splitlines(True), "expected-theorems.txt", "proved"))
        raise Refused("the theorems differ from proofs/expected-theorems.txt")
    files = {}
    for full in answers:
        module, name = full.rsplit(".", 1)
        files.setdefault(module.replace("Pprf.", "").replace(".", "/") + ".v", []).append(name)
    for file, names in files.items():
        print(f"coq: {file}: {', '.join(names)}")
    print(f"coq: {len(answers)} statements as pinned and expected")


def summary(tree, result):
    names, _ = headline(tree)
    os.makedirs(os.path.dirname(result), exist_ok=True)
    with open(result, "w", encoding="utf-8") as f:
        json.dump({"theorems": len(names), "names": list(names), "closed": True,
                   "coqchk": "Axioms: <none>"}, f, indent=2)
    print(f"coq: {len(names)} theorems proved, closed under the global context")


def update(tree, build):
    with open(os.path.join(tree, "proofs/expected-theorems.txt"), "w", encoding="utf-8") as f:
        f.write(expected_text(ask_coq(tree, build)))


def coqchk(log):
    text = read(log)
    summary = text.split("CONTEXT SUMMARY", 1)
    if len(summary) != 2:
        raise Refused(f"coqchk failed: {text.strip()[-2000:]}")
    claims = re.findall(r"^\* (.+?):(.*?)(?=^\* |\Z)", summary[1], re.M | re.S)
    wanted = {"Axioms", "Constants/Inductives relying on type-in-type",
              "Constants/Inductives relying on unsafe (co)fixpoints",
              "Inductives whose positivity is assumed"}
    missing = wanted - {name for name, _ in claims}
    if missing:
        raise Refused(f"coqchk says nothing about {', '.join(sorted(missing))}")
    for name, value in claims:
        if name in wanted and value.strip() != "<none>":
            raise Refused(f"coqchk: {name}: {' '.join(value.split())}")
    print("coq: coqchk, the independent checker: Axioms: <none>")


def main():
    commands = {"scan": scan, "theorems": theorems, "update": update, "coqchk": coqchk,
                "summary": summary}
    try:
        commands[sys.argv[1]](*sys.argv[2:])
    except (IndexError, KeyError, TypeError):
        sys.exit(__doc__)
    except Refused as why:
        sys.exit(f"gate: {why}")


if __name__ == "__main__":
    main()
