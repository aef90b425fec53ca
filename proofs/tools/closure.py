#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What theorems say, down to the libraries: their statements, and every definition of ours that
they mention, directly or indirectly, as text in which every name is unambiguous.

Coq is asked in a session that imports nothing, not even its prelude. So no notation, coercion or
short name is known: a name without a dot is bound locally, one with a dot is global. For each
global name Coq is asked for the full path, and ours are printed with it. So nothing that a file
declares (a notation `x = y', a definition of the same name, a printing option) can change the text
unless it changes the meaning.

The text omits arguments that Coq infers, because mathcomp 1 and 2 infer different structures (where
Coq prints some anyway, MATHCOMP2 and INFERRED list what is equal). Definitions of ours among them
(a canonical structure, a coercion) are still found: definitions are followed through the text with
all arguments. That text has a digest of its own, which is compared by the versions of Coq and
mathcomp that wrote it: it alone shows an argument of a library, or a constructor of ours, that was
given where Coq would infer another."""
import functools
import hashlib
import os
import re
import subprocess
import threading

OURS, LIBRARIES = "Pprf.", ("Coq.", "mathcomp.")
GLOBAL = re.compile(r"(?<![\w'.@])@?[^\W\d][\w']*(?:\.[^\W\d][\w']*)+")
# names of mathcomp 2 and the same in mathcomp 1, so that one list serves both
MATHCOMP2 = {
    "mathcomp.algebra.ssrnum.Num.norm": "ssrnum.Num.Def.normr",
    "mathcomp.ssreflect.bigop.bigop.body": "bigop.BigOp.bigop",
    "mathcomp.ssreflect.eqtype.Datatypes_bool__canonical__eqtype_Equality": "eqtype.bool_eqType",
    "mathcomp.ssreflect.finfun.finfun.body": "finfun.FinfunDef.finfun",
    "mathcomp.ssreflect.finfun.finfun_finfun_of__canonical__fintype_Finite": "finfun.finfun_finType",
    "mathcomp.ssreflect.finset.pred_of_set.body": "finset.SetDef.pred_of_set",
    "mathcomp.ssreflect.fintype.Datatypes_bool__canonical__fintype_Finite": "fintype.bool_finType",
    "mathcomp.ssreflect.fintype.Datatypes_prod__canonical__fintype_Finite": "fintype.prod_finType",
    "mathcomp.ssreflect.fintype.Datatypes_unit__canonical__fintype_Finite": "fintype.unit_finType",
    "mathcomp.ssreflect.fintype.Finite.Exports.fintype_Finite__to__eqtype_Equality": "fintype.Finite.eqType",
    "mathcomp.ssreflect.fintype.card.body": "fintype.CardDef.card",
    "mathcomp.ssreflect.fintype.fintype_ordinal__canonical__fintype_Finite": "fintype.ordinal_finType",
    "mathcomp.ssreflect.tuple.tuple_tuple_of__canonical__fintype_Finite": "tuple.tuple_finType",
    "mathcomp.ssreflect.ssrnat.BinNums_N__canonical__eqtype_Equality": "ssrnat.bin_nat_eqType",
    "mathcomp.ssreflect.seq.seq_bitseq__canonical__eqtype_Equality": "seq.bitseq_eqType",
}
# structures that Coq prints although it inferred them: of the rational numbers, of a set's elements
INFERRED = [
    (re.compile(r"\bssralg\.GRing\.(zero|one)\s+"
                r"(?:rat\.\w+|\([^()]*\brat\.\w+\)|\([^()]*\([^()]*\brat\.\w+\)\))"), r"ssralg.GRing.\1"),
    (re.compile(r"\bssralg\.GRing\.add\s+\(V:=rat\.\w+\)"), "ssralg.GRing.add"),
    (re.compile(r"\((ssralg\.GRing\.(?:zero|one|add))\)"), r"\1"),
    (re.compile(r"\bfinset\.set_of\s+([^\W\d][\w']*)"), r"finset.set_of (ssreflect.Phant (fintype.Finite.sort \1))"),
    (re.compile(r"\(Prelude\.reverse_coercion\s+\((?:[^()]|\([^()]*\))*\)\s+"), "(ssreflect.Phant "),
]
# Characters that occur in no global name end one. Translated programs are printed in hundreds of
# megabytes, and splitting is ten times as fast as searching.
ENDS_A_NAME = str.maketrans({c: " " for c in map(chr, range(128)) if not re.match(r"[\w'.@]", c)})
FIELD = re.compile(r"[{;]\s*([^\W\d][\w']*)\s*:")
LONG = 10000  # in characters; a longer definition (a translated program) is pinned by its digest
PATIENCE = 3600  # seconds for all questions: two minutes on an idle machine, half an hour on a very busy one
OPTIONS = ["Unset Printing Notations", "Unset Printing All", "Unset Printing Implicit Defensive",
           "Unset Printing Implicit", "Unset Printing Universes", "Unset Printing Records",
           "Unset Printing Projections", "Unset Printing Factorizable Match Patterns",
           "Unset Printing Allow Match Default Clause", "Set Printing Matching", "Set Printing Synth",
           "Unset Printing Primitive Projection Parameters",
           "Set Printing Depth 1000000000", "Set Printing Width 130"]


class Error(Exception):
    pass


class Coq:
    """A coqtop session with the compiled files in BUILD."""

    def __init__(self, build, modules):
        command = ["coqtop", "-noinit", "-q", "-w", "none"]
        for folder in ("spec", "proofs"):
            command += ["-Q", os.path.join(build, folder), OURS + folder]
        environment = {k: v for k, v in os.environ.items() if not k.startswith("COQ")}
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, encoding="utf-8",
                                        env=environment)
        self.asked = 0
        self.watch = threading.Timer(PATIENCE, self.process.kill)
        self.watch.start()
        # a loaded file may set options: set ours before reading the first answer
        (answer,) = self.ask([".\n".join([f"Require {' '.join(modules)}", *OPTIONS])])
        if "Error" in answer:
            raise Error(f"coqtop cannot load the proofs: {answer}")

    def ask(self, commands):
        """The answer to each command."""
        first, self.asked = self.asked, self.asked + len(commands)
        text = "".join(f"{c}.\nCheck forall (answered_{first + i} : Prop), answered_{first + i}.\n"
                       for i, c in enumerate(commands))

        def write():
            self.process.stdin.write(text)
            self.process.stdin.flush()
        writer = threading.Thread(target=write)
        writer.start()
        answers, lines = [], []
        while len(answers) < len(commands):
            line = self.process.stdout.readline()
            if not line:
                raise Error("coqtop died: " + "".join(lines[-20:]))
            while line.startswith("Coq < "):
                line = line.removeprefix("Coq < ")
            if line.startswith(f"forall answered_{first + len(answers)} : Prop, "):
                answers.append("".join(lines).strip("\n"))
                lines = []
            elif not (not lines and re.match(r"\s+: Prop$", line) or
                      line.startswith(("Fetching opaque proofs", "[Loading ML file"))):
                lines.append(line)
        writer.join()
        return answers

    def close(self):
        self.watch.cancel()
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


UNARY = re.compile(r"(?:\(?Datatypes\.S\s+)*\bDatatypes\.O\b\)*")
BITS = re.compile(r"(?:\(?BinNums\.x[OI]\s+)*BinNums\.xH\)*")
WORDS = re.compile(r"(\(?)BinNums\.(Zpos|Npos|Zneg)\s+(\d+)%positive(\)?)")


def numbers(text):
    """Print numbers as digits."""
    def unary(match):
        opened, count = match.group().count("("), match.group().count("Datatypes.S")
        return f"{count}%nat" + ")" * (match.group().count(")") - opened)

    @functools.cache
    def positive(text):
        value, opened = 1, text.count("(")
        for bit in reversed(re.findall(r"x([OI])", text)):
            value = 2 * value + (bit == "I")
        return f"{value}%positive" + ")" * (text.count(")") - opened)

    def word(match):
        opened, kind, value, closed = match.groups()
        if kind == "Zneg":
            value = "-" + value
        if bool(opened) == bool(closed):
            opened = closed = ""
        return f"{opened}{value}%{'N' if kind == 'Npos' else 'Z'}{closed or ''}"
    text = WORDS.sub(word, BITS.sub(lambda match: positive(match.group()), UNARY.sub(unary, text)))
    return text.replace("BinNums.Z0", "0%Z").replace("BinNums.N0", "0%N")


class Closure:
    """The statements of these theorems (short names), and the definitions that they mention."""

    def __init__(self, build, modules, theorems):
        self.coq = Coq(build, modules)
        try:
            self.full = {}  # {global name as Coq prints it: full path}
            self.statements, self.definitions, self.open = {}, {}, []
            self.arguments = {}  # digests of the texts with all arguments
            names = self.headline(theorems)
            self.assumptions(names)
            self.follow(names)
        finally:
            self.coq.close()

    def headline(self, theorems):
        """The full name of each theorem; no other file may have a theorem or definition of that
        name."""
        names = []
        for short, answer in zip(theorems, self.coq.ask([f"Locate {t}" for t in theorems])):
            found = re.findall(rf"^\w+ ({re.escape(OURS)}\S+)", answer, re.M)
            if len(found) != 1:
                raise Error(f"{short} is " + (" and ".join(found) if found else "not a theorem"))
            names += found
        return names

    def assumptions(self, names):
        """One question for all of them; if they depend on anything, one question for each."""
        pairs = names[-1]
        for name in reversed(names[:-1]):
            pairs = f"Datatypes.pair (@{name}) ({'@' if pairs == names[-1] else ''}{pairs})"
        defined, answer = self.coq.ask([f"Definition every_theorem := {pairs}",
                                        "Print Assumptions every_theorem"])
        if "is defined" not in defined:
            raise Error(f"coqtop: {defined}")
        if answer != "Closed under the global context":
            for name, rest in zip(names, self.coq.ask([f"Print Assumptions {n}" for n in names])):
                if rest != "Closed under the global context":
                    self.open.append(f"{name}: {rest}")
            if not self.open:
                raise Error(f"coqtop: {answer}")

    def follow(self, names):
        wanted, seen = list(names), set(names)
        kinds = dict(zip(names, self.coq.ask([f"About {n}" for n in names])))
        while wanted:
            # A theorem stands for its statement, a definition for its body; a constructor is part
            # of its type.
            queries = []
            for name in wanted:
                if self.kind(kinds[name]) == "Constant" and " is opaque" in kinds[name]:
                    queries.append(f"Check @{name}")
                elif self.kind(kinds[name]) == "Constructor":
                    queries.append(f"Check @{name}")
                else:
                    queries.append(f"Print {name}")
            plain = self.coq.ask(queries)
            answers = self.coq.ask(["Set Printing All", *queries, "Unset Printing All"])[1:-1]
            proofs = [n for n in wanted if n not in names and " is opaque" in kinds[n]]
            for name, answer in zip(proofs, self.coq.ask(
                    [f"Check ((fun (A : Prop) (_ : A) => A) _ (@{n}))" for n in proofs])):
                if "Error" in answer:
                    raise Error(f"{name} is no proof, and its body cannot be seen")
            tokens = sorted({t for a in plain + answers for t in self.globals(a)} - set(self.full))
            found = []
            for token, about in zip(tokens, self.coq.ask([f"About {t}" for t in tokens])):
                full = re.search(r"^Expands to:\s+(\w+)\s+(\S+)", about, re.M)
                if not full or not full[2].startswith((OURS, *LIBRARIES)):
                    raise Error(f"{token} is not from us, Coq or mathcomp: {about}")
                self.full[token] = full[2]
                kinds.setdefault(full[2], about)
            for name, text, whole in zip(wanted, plain, answers):
                if "Error" in text or not text:
                    raise Error(f"{name}: coqtop: {text}")
                if self.kind(kinds[name]) != "Constructor":
                    (self.statements if name in names else self.definitions)[name] = self.shown(text)
                    self.arguments[name] = digest(whole)
                found += [self.full[t] for t in sorted(self.globals(whole))]
            wanted = [n for n in dict.fromkeys(found) if n.startswith(OURS) and n not in seen]
            seen.update(wanted)
        # some versions of Coq mention a record's fields where others do not; the record's text
        # shows them anyway
        fields = {name.rsplit(".", 1)[0] + "." + field for name, text in self.definitions.items()
                  if text.lstrip().startswith("Record") for field in FIELD.findall(text)}
        for name in fields:
            self.definitions.pop(name, None)

    @staticmethod
    def kind(about):
        found = re.search(r"^Expands to:\s+(\w+)", about, re.M)
        if not found:
            raise Error(f"coqtop: {about}")
        return found[1]

    @staticmethod
    def globals(text):
        return {t.lstrip("@") for word in set(text.translate(ENDS_A_NAME).split()) for t in GLOBAL.findall(word)}

    def shown(self, answer):
        """Coq's text with full names of ours, without its remarks on implicit arguments."""
        answer = re.split(r"\n\n|\n(?=Arguments )", answer)[0]
        if answer.startswith(("Record", "Inductive", "Variant", "CoInductive")):
            body = answer
        else:  # else: a definition without its name and type, or the type of a name
            body = re.split(r"^\S+ =\s", answer, 1)
            body = re.split(r"^\S+\s+: ", answer, 1)[1] if len(body) == 1 else body[1].rsplit("\n     : ", 1)[0]
        body = numbers(GLOBAL.sub(lambda m: self.name(m.group()), body))
        for pattern, plain in INFERRED:
            body = pattern.sub(plain, body)
        flat = " ".join(body.split())
        if len(flat) > LONG:
            digest = hashlib.sha256(flat.encode()).hexdigest()
            return f"  ({len(flat)} characters, SHA-256 {digest})"
        return "\n".join("  " + line.rstrip() for line in body.splitlines() if line.strip())

    def name(self, token):
        bare = token.lstrip("@")
        full = self.full[bare]
        return (full if full.startswith(OURS) else MATHCOMP2.get(full, bare))

    def text(self, names=()):
        """The statements, and what they mention, as Coq prints them; or those that are called so, by short names."""
        every = [*self.statements.items(), *sorted(self.definitions.items())]
        return "\n\n".join(f"{full}\n{text}" for full, text in every
                           if not names or full in names or full.rsplit(".", 1)[1] in names) + "\n"

    def versions(self):
        coq = re.search(r"version (\S+)", subprocess.run(["coqtop", "--version"], capture_output=True, text=True,
                                                         check=True).stdout)[1]
        return f"Coq {coq} with mathcomp {2 if MATHCOMP2.keys() & set(self.full.values()) else 1}"

    def digests(self, versions=None):
        """The expected list, or what can be compared with one that these versions wrote."""
        same = versions in (None, self.versions())
        lines = ["# What is proven: the headline theorems, and below them every definition of ours that they mention,",
                 "# directly or through others. Each full name follows two SHA-256 digests: of its statement or",
                 "# definition, which `make theorems` prints, and of the same with all arguments that Coq infers, in",
                 f"# {versions or self.versions()}; other versions do not compare this one.",
                 "# Written by `make update-expected-theorems`, compared by `make prove-coq`.", ""]

        def listed(part):
            return [f"{digest(text)}  {self.arguments[full] if same else '-'}  {full}" for full, text in part]
        lines += listed(self.statements.items())
        lines += ["", "# ---- what they mention " + "-" * 70, ""]
        return "\n".join(lines + listed(sorted(self.definitions.items()))) + "\n"


def digest(text):
    """Where its lines break makes no difference."""
    return hashlib.sha256(" ".join(text.split()).encode()).hexdigest()


def comparable(want, versions):
    """The expected list without what other versions of Coq and mathcomp print differently; which versions wrote it."""
    wrote = re.search(r"^# (Coq \S+ with mathcomp \d);", want, re.M)[1]
    return (want if versions == wrote else re.sub(r"^(\w+)  \w+  ", r"\1  -  ", want, flags=re.M)), wrote


def parts(text):
    """{full name: text} of what Closure.text returned."""
    return dict(part.split("\n", 1) for part in text.strip("\n").split("\n\n"))
