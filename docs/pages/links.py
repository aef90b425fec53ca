#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links the names in the documents to the files that define them; run it when files have moved.

Usage: links.py           rewrites the tables of the documents below, and the text of docs/soundness/
       links.py --check   prints what it would change, and exits 1 if there is anything

A `name` is a file, a Coq theorem, a C function with its contract, or a test.  A name is not linked if no file
or several files define it without a preference, if it means one thing in Coq and another in ACSL, if it is a C
type, or if it is a plain word such as `free`, which other programs have too."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCUMENTS = ["README.md", "docs/architecture.md", "docs/soundness.md", "docs/paper-claims.md", "docs/theorems.md",
             "docs/one-puncture.md", "docs/security.md", "docs/tickets.md", "docs/tls.md"]
WHOLE = sorted(p.relative_to(ROOT).as_posix() for p in (ROOT / "docs/soundness").glob("*.md"))
NAME = re.compile(r"\[`([^`]+)`\]\([^)]*\)|`([^`]+)`")  # linked, or not
CODE = ("include", "ref", "opt", "prg", "tls")


def texts(pattern, *folders):
    found = {}
    for folder in folders:
        for path in sorted((ROOT / folder).glob(pattern)):
            found[path.relative_to(ROOT).as_posix()] = path.read_text(errors="replace")
    return found


class Names:
    def __init__(self):
        self.theorems, self.functions, self.tests, self.logic = {}, {}, {}, set()
        for path, text in texts("**/*.v", "spec", "proofs").items():
            for name in re.findall(r"^\s*(?:Theorem|Lemma|Corollary|Definition|Fixpoint)\s+([\w']+)",
                                   text, re.M):
                self.theorems.setdefault(name, path)
        sources = {**texts("**/*.h", *CODE), **texts("**/*.c", *CODE), **texts("**/*.acsl", *CODE)}
        for path, text in sources.items():
            self.logic.update(re.findall(r"\b(?:logic \w+|predicate) \*?(\w+)\s*[({]", text))
            text = re.sub(r"__attribute__\(\((?:[^()]|\([^()]*\))*\)\)\s*", "", text)
            for m in re.finditer(r"^(?!#|return\b|\s|[/*])[^\n;=]*?\b(\w+)\(", text, re.M):
                contract = text[:m.start()].rstrip().endswith("*/") and \
                    "/*@" in text[text.rfind("/*", 0, m.start()):m.start()]
                rank = (not contract, not path.endswith(".h"))
                if m[1] not in self.functions or rank < self.functions[m[1]][0]:
                    self.functions[m[1]] = (rank, path)
            for m in re.finditer(r"(?:FACT|lemma|ghost[^\n]*?)\s*\(?(\w+)", text):
                self.functions.setdefault(m[1], ((True, True), path))
        for path, text in {**texts("**/*.py", "tls/tests", "equivalence-tests", "cli"),
                           **texts("**/*.c", "tls/tests", "equivalence-tests", "cli")}.items():
            if "test" in path.removeprefix("tls/tests/"):
                for name in re.findall(r"\b(?:test_)?([a-z0-9]\w{8,})\b", text):
                    self.tests.setdefault(name, set()).add(path)

    def ambiguous(self, name):
        """A word of the contracts, for which Coq may have another meaning, or a C type."""
        return name in self.logic or name.endswith("_t")

    def file_of(self, name):
        if re.fullmatch(r"[\w./-]+", name) and ("/" in name or "." in name):
            return name if (ROOT / name).exists() and not name.startswith("build/") else None
        if not re.fullmatch(r"[A-Za-z0-9_]+_[\w']+", name):  # plain words are linked by hand
            return None
        if self.ambiguous(name):
            return None
        if name in self.theorems:
            return self.theorems[name]
        if name in self.functions:
            return self.functions[name][1]
        if len(self.tests.get(name, ())) == 1 and name.count("_") >= 2:
            return next(iter(self.tests[name]))
        return None


def linked(text, where, names, whole):
    def link(m):
        file = names.file_of(name := m[1] or m[2])
        return f"[`{name}`]({os.path.relpath(ROOT / file, where)})" if file else m[0]

    lines = []
    for line in text.splitlines(True):
        if line.startswith("|") or whole and not line.startswith(("#", "    ")):
            line = NAME.sub(link, line)
        lines.append(line)
    return "".join(lines)


def main():
    names, changed = Names(), []
    for document in DOCUMENTS + WHOLE:
        path = ROOT / document
        old = path.read_text()
        new = linked(old, path.parent, names, document in WHOLE)
        if new != old:
            changed += [f"{document}: {b.strip()[:100]}" for a, b in
                        zip(old.splitlines(), new.splitlines()) if a != b]
            if "--check" not in sys.argv[1:]:
                path.write_text(new)
    print("\n".join(changed) or "links: all as they should be")
    return 1 if changed and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
