#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The gate behind `make prove-coq`: checks what a successful compilation of the proofs does not
show.

  gate.py scan TREE            the sources contain no way to assume instead of prove
  gate.py theorems TREE BUILD  the headline theorems (proofs/Main.v) are applied (*Examples.v, where no function of
                               ref or opt is assumed), rest on no axiom, and they and all definitions that they mention
                               have the digests of proofs/expected-theorems.txt (closure.py).  What differs is
                               shown: beside what it was when BUILD last agreed with that list
  gate.py coqchk TREE LOG [all] the independent checker checked each module but the examples (all: these too) and found
                               no axiom: at most primitives of Coq's kernel
  gate.py summary TREE JSON    the last line, when all of that has passed; JSON for the report
  gate.py print TREE BUILD [NAME...]  print the statements and the definitions, or these
  gate.py update TREE BUILD    rewrite proofs/expected-theorems.txt (then review what it prints)
TREE holds _CoqProject, spec/ and proofs/; BUILD their compiled copies."""
import difflib
import glob
import json
import os
import re
import sys

sys.dont_write_bytecode = True
import acsl  # noqa: E402  (in this folder)
import acsl_api  # noqa: E402
import aes  # noqa: E402
import closure  # noqa: E402
import keccak  # noqa: E402
import sha  # noqa: E402
import vectors  # noqa: E402

COMPAT = "proofs/Compat.v"
FORBIDDEN = [  # regular expressions over comment-free source
    r"Admitted", r"Admit", r"admit", r"give_up", r"Obligations?",
    r"Program\s+(?:Definition|Example|Lemma|Theorem|Fact|Remark|Corollary|Fixpoint|CoFixpoint|Instance|Let)",
    r"Axioms?", r"Parameters?", r"Conjectures?",
    r"Unset\s+(Guard|Positivity|Universe)\b.*?", r"bypass_check", r"Declare\s+ML", r"Primitive",
    r"Extract\s+(Constant|Inductive|Inlined)", r"Load", r"Add\s+(Rec\s+)?LoadPath", r"Cd",
    # would change how another file is read; nothing here needs them
    r"Canonical", r"Coercions?", r"Instances?", r"HB", r"Global", r"global", r"export", r"Export",
    r"(?:Set|Unset)\s+(?!Implicit Arguments\.|Strict Implicit\.|Printing Implicit Defensive\.)[A-Z][\w ]*",
]
PROJECT_OPTIONS = {  # the only lines that _CoqProject may have besides file names
    "-Q spec Pprf.spec", "-Q proofs Pprf.proofs",
    "-arg -w -arg -notation-overridden,-ambiguous-paths",
}
GENERATED = {  # file: its translator; written to BUILD, never to TREE
    "spec/c/AcslRef.v": ("acsl", acsl.translate), "spec/c/AcslOpt.v": ("acsl", acsl.translate_opt),
    "spec/c/AcslApi.v": ("acsl", acsl_api.translate), "spec/c/AcslPacked.v": ("acsl", acsl_api.translate_packed),
    "spec/keccak/KeccakCode.v": ("keccak", keccak.translate), "spec/aes/AesCode.v": ("aes", aes.translate),
    "spec/aes/AesVectorCode.v": ("vectors", vectors.translate_aes),
    "spec/keccak/KeccakVectorCode.v": ("vectors", vectors.translate_keccak),
    "spec/sha/ShaCode.v": ("sha", sha.translate),
}
EXPECTED = "proofs/expected-theorems.txt"
AGREED = "theorems.txt"  # in BUILD: the text that last had the expected digests
EXTRACTION = "proofs/oracle/Extract.v"  # run beside the compiled files, by the oracle's rule
EXTRACTS = [  # all that it may say: what is extracted is the model, and only Coq's own table replaces something
    r"From mathcomp Require Import all_ssreflect", r"From Pprf\.(spec|proofs) Require Import \w+",
    r"Require Import Extraction ExtrOcamlBasic", r"Extraction Language OCaml", r"Extraction( \w+)+"]
ASSUMED_OUTSIDE_SECTIONS = {"Variable", "Variables", "Hypothesis", "Hypotheses", "Context"}
# The statements about ref, opt and packed keys assume functions that meet contracts.  These theorems prove that there
# are some, so they may not go, and no example may assume them again.
INHABITED = ["ref_inhabited", "opt_inhabited", "packed_inhabited"]
FUNCTIONS = r"\b((opt|packed)_)?(functions|meets_contracts|ready)\b"
PROOF_WORDS = {"Lemma", "Theorem", "Corollary", "Fact", "Remark", "Proposition", "Property",
               "Goal", "Proof", "Qed", "Defined"}


class Refused(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as f:
        return f.read()


def strip(text):
    """The source without its (nested) comments and strings; line numbers stay the same."""
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


def other_names(tree):
    """mathcomp names that its versions do not share: Compat.v says before each fact how both call
    it."""
    named = re.findall(r"^\(\* (\w+); (\w+) \*\)$", read(os.path.join(tree, COMPAT)), re.M)
    return {name for pair in named for name in pair}


def scan_file(name, text, others=frozenset()):
    code = strip(text)

    def at(pos):
        return f"{name}:{code.count(chr(10), 0, pos) + 1}"
    for pattern in FORBIDDEN:
        found = re.search(rf"(?<![\w']){pattern}(?![\w'])", code)
        if found:
            raise Refused(f"{at(found.start())}: forbidden: {' '.join(found.group().split())}")
    for word in re.finditer(r"[A-Za-z_]\w*", code):
        if word.group() in others:
            raise Refused(f"{at(word.start())}: not all versions of mathcomp have {word.group()}: see {COMPAT}")
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


def generated(tree, name):
    """The text of a file that is translated from C; an error names the translator."""
    by, translate = GENERATED[name]
    try:
        return translate(tree)
    except (acsl.Error, keccak.Error) as why:
        raise Refused(f"{by}: {why}") from None


def scan_extraction(text):
    for sentence in re.split(r"\.(?=\s|$)", strip(text)):
        words = " ".join(sentence.split())
        if words and not any(re.fullmatch(allowed, words) for allowed in EXTRACTS):
            raise Refused(f"{EXTRACTION}: not allowed: {words}")


def scan(tree):
    listed = sources(tree)
    present = sorted({os.path.relpath(f, tree) for d in ("spec", "proofs")
                      for f in glob.glob(os.path.join(tree, d, "**/*.v"), recursive=True)}
                     - {EXTRACTION})
    if sorted(listed) != sorted(present + list(GENERATED)):
        odd = sorted(set(listed) ^ set(present + list(GENERATED))) or GENERATED
        raise Refused(f"_CoqProject and the files disagree about {', '.join(odd)}")
    others = other_names(tree)
    if not others:
        raise Refused(f"{COMPAT} names nothing that mathcomp's versions call differently")
    for name in listed:
        scan_file(name, generated(tree, name) if name in GENERATED
                  else read(os.path.join(tree, name)), others)
    scan_extraction(read(os.path.join(tree, EXTRACTION)))
    print(f"coq: {len(listed)} files scanned: nothing assumed, spec/ holds definitions only")


def headline(tree):
    """The theorems whose assumptions Main.v prints."""
    code = strip(read(os.path.join(tree, "proofs/Main.v")))
    names = re.findall(r"Print\s+Assumptions\s+(\w+)\s*\.", code)
    twice = sorted({n for n in names if names.count(n) > 1})
    if twice:
        raise Refused(f"Main.v names twice: {', '.join(twice)}")
    if not set(INHABITED) <= set(names):
        raise Refused(f"Main.v leaves out {' or '.join(INHABITED)}: nothing might meet what the others assume")
    examples = {name: strip(read(os.path.join(tree, name))) for name in sources(tree)
                if name.endswith("Examples.v")}
    for name, code in examples.items():
        for words in map(str.split, re.split(r"\.\s", code)):
            if words and words[0] in ASSUMED_OUTSIDE_SECTIONS and re.search(FUNCTIONS, " ".join(words)):
                raise Refused(f"{name}: an example assumes what {', '.join(INHABITED)} prove: {' '.join(words)}")
    missing = set(names) - set(re.findall(r"\w+", "".join(examples.values())))
    if missing:
        raise Refused(f"no example of {', '.join(sorted(missing))}")
    return names


def ask_coq(tree, build):
    try:
        return closure.Closure(build, modules(tree), headline(tree))
    except closure.Error as why:
        raise Refused(why) from None


def theorems(tree, build):
    for name in GENERATED:
        if read(os.path.join(build, name)) != generated(tree, name):
            raise Refused(f"{name} is not what the C files say: build it again")
    proven = ask_coq(tree, build)
    if proven.open:
        raise Refused("not closed under the global context: " + "; ".join(proven.open))
    want, wrote = closure.comparable(read(os.path.join(tree, EXPECTED)), proven.versions())
    if wrote != proven.versions():
        print(f"coq: {EXPECTED}: the arguments that Coq infers are compared in {wrote} alone")
    if want != proven.digests(wrote):
        show_changes(build, want, proven)
        raise Refused(f"the theorems, or what they mention, differ from {EXPECTED}")
    with open(os.path.join(build, AGREED), "w", encoding="utf-8") as f:
        f.write(proven.text())
    files = {}
    for full in proven.statements:
        module, name = full.rsplit(".", 1)
        files.setdefault(module.replace("Pprf.", "").replace(".", "/") + ".v", []).append(name)
    for file, names in files.items():
        print(f"coq: {file}: {', '.join(names)}")
    print(f"coq: {len(proven.statements)} statements and the {len(proven.definitions)} definitions "
          "that they mention as expected")


def summary(tree, result):
    names = headline(tree)
    os.makedirs(os.path.dirname(result), exist_ok=True)
    with open(result, "w", encoding="utf-8") as f:
        json.dump({"theorems": len(names), "names": list(names), "closed": True,
                   "coqchk": "Axioms: <none>"}, f, indent=2)
    print(f"coq: {len(names)} theorems proved, closed under the global context")


def show_changes(build, want, proven):
    """What has another digest than in the list, is new or gone: its text now, and before if BUILD has that."""
    path, now = os.path.join(build, AGREED), closure.parts(proven.text())
    before = closure.parts(read(path)) if os.path.exists(path) else {}
    listed = {full: digests for *digests, full in re.findall(r"^(\w+)  (\S+)  (\S+)$", want, re.M)}
    for full in dict.fromkeys([*now, *listed]):
        was, text = before.get(full, ""), now.get(full, "")
        if full in now and full in listed and closure.digest(text) == listed[full][0]:
            if listed[full][1] not in ("-", proven.arguments[full]):
                print(f"{full} has another argument where Coq prints none (`Set Printing All` shows it)")
            continue
        print(f"{full} is {'new' if full not in listed else 'changed' if full in now else 'gone'}:")
        known = full in listed and closure.digest(was) == listed[full][0]
        print("\n".join(difflib.unified_diff(was.splitlines() if known else [], text.splitlines(), "expected", "proved",
                                             lineterm="")))


def print_text(tree, build, *names):
    text = ask_coq(tree, build).text(names)
    if not text.strip():
        raise Refused(f"no theorem, and nothing that one mentions, is called {' or '.join(names)}")
    sys.stdout.write(text)


def update(tree, build):
    proven, path = ask_coq(tree, build), os.path.join(tree, EXPECTED)  # before the file is touched
    show_changes(build, read(path), proven)
    with open(path, "w", encoding="utf-8") as f:
        f.write(proven.digests())


# Types and operations of machine integers and strings that are built into Coq's kernel. mathcomp 2
# loads them, and coqchk lists what is loaded. No theorem depends on one: Print Assumptions would
# name it.
PRIMITIVES = r"Coq\.(Numbers\.Cyclic\.Int63\.PrimInt63|Strings\.PrimString)\.\w+"


def modules(tree):
    return [closure.OURS + name[:-len(".v")].replace("/", ".") for name in sources(tree)]


def coqchk(tree, log, which=""):
    text = read(log)
    summary = text.split("CONTEXT SUMMARY", 1)
    if len(summary) != 2:
        raise Refused(f"coqchk failed: {text.strip()[-2000:]}")
    checked = set(re.findall(r"^Checking library: (\S+)$", summary[0], re.M))
    taken = sorted(set(re.findall(r"^Admitting library: (\S+)$", summary[0], re.M)))
    left = [name for name in modules(tree)
            if name not in checked and (which == "all" or not name.endswith("Examples"))]
    if taken or left:
        raise Refused(f"coqchk did not check {', '.join(taken + left)}")
    claims = re.findall(r"^\* (.+?):(.*?)(?=^\* |\Z)", summary[1], re.M | re.S)
    wanted = {"Axioms", "Constants/Inductives relying on type-in-type",
              "Constants/Inductives relying on unsafe (co)fixpoints",
              "Inductives whose positivity is assumed"}
    missing = wanted - {name for name, _ in claims}
    if missing:
        raise Refused(f"coqchk says nothing about {', '.join(sorted(missing))}")
    loaded = 0
    for name, value in claims:
        listed = [] if value.strip() == "<none>" else value.split() or [value]
        if name == "Axioms":
            loaded = len([a for a in listed if re.fullmatch(PRIMITIVES, a)])
            listed = [a for a in listed if not re.fullmatch(PRIMITIVES, a)]
        if name in wanted and listed:
            raise Refused(f"coqchk: {name}: {' '.join(listed)}")
    beside = f", {loaded} primitives of Coq's kernel are loaded" if loaded else ""
    ours = sum(name in checked for name in modules(tree))
    print(f"coq: coqchk, the independent checker, of {ours} of our modules and all that they load: "
          f"Axioms: <none>{beside}")


def main():
    commands = {"scan": scan, "theorems": theorems, "print": print_text, "update": update, "coqchk": coqchk,
                "summary": summary}
    try:
        commands[sys.argv[1]](*sys.argv[2:])
    except (IndexError, KeyError, TypeError):
        sys.exit(__doc__)
    except Refused as why:
        sys.exit(f"gate: {why}")


if __name__ == "__main__":
    main()
