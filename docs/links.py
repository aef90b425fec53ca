#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Links the names in the documents' tables to the files they stand in; run it when files have moved.

Usage: links.py           rewrites the tables of the documents below
       links.py --check   says what it would change, and exits 1 if there is anything

A `name` is a file, a Coq theorem, a C function with its contract, or a test; one that stands in no
file or in several without a preference is left alone."""
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCUMENTS = ["README.md", "docs/soundness.md", "docs/paper-claims.md", "docs/theorems.md",
             "docs/one-puncture.md", "docs/security.md", "docs/tickets.md", "docs/tls.md"]
LINK = re.compile(r"\[(`[^`]+`)\]\([^)]*\)")
CODE = ("include", "ref", "opt", "prg", "common", "tls")


def texts(pattern, *folders):
    found = {}
    for folder in folders:
        for path in sorted((ROOT / folder).glob(pattern)):
            found[path.relative_to(ROOT).as_posix()] = path.read_text(errors="replace")
    return found


class Names:
    def __init__(self):
        self.theorems, self.functions, self.tests = {}, {}, {}
        for path, text in texts("**/*.v", "spec", "proofs").items():
            for name in re.findall(r"^\s*(?:Theorem|Lemma|Corollary|Definition|Fixpoint)\s+([\w']+)",
                                   text, re.M):
                self.theorems.setdefault(name, path)
        sources = {**texts("**/*.h", *CODE), **texts("**/*.c", *CODE), **texts("**/*.acsl", *CODE)}
        for path, text in sources.items():
            for m in re.finditer(r"^(?!#|return\b|\s|[/*])[^\n;=]*?\b(\w+)\(", text, re.M):
                contract = text[:m.start()].rstrip().endswith("*/") and \
                    "/*@" in text[text.rfind("/*", 0, m.start()):m.start()]
                rank = (not contract, not path.endswith(".h"))
                if m[1] not in self.functions or rank < self.functions[m[1]][0]:
                    self.functions[m[1]] = (rank, path)
            for m in re.finditer(r"(?:FACT|lemma|ghost[^\n]*?)\s*\(?(\w+)", text):
                self.functions.setdefault(m[1], ((True, True), path))
        for path, text in {**texts("*.py", "tls", "equivalence-tests", "cli"),
                           **texts("*.c", "tls", "equivalence-tests", "cli")}.items():
            if "test" in path:
                for name in re.findall(r"\b(?:test_)?([a-z0-9]\w{8,})\b", text):
                    self.tests.setdefault(name, set()).add(path)

    def file_of(self, name):
        if re.fullmatch(r"[\w./-]+", name) and ("/" in name or "." in name):
            return name if (ROOT / name).exists() and not name.startswith("build/") else None
        if not re.fullmatch(r"[A-Za-z0-9_][\w']+", name):  # one letter is a number in a formula
            return None
        if name in self.theorems:
            return self.theorems[name]
        if name in self.functions:
            return self.functions[name][1]
        if len(self.tests.get(name, ())) == 1 and name.count("_") >= 2:
            return next(iter(self.tests[name]))
        return None


def linked(text, where, names):
    def link(m):
        file = names.file_of(m[1])
        return f"[`{m[1]}`]({os.path.relpath(ROOT / file, where)})" if file else m[0]

    lines = []
    for line in text.splitlines(True):
        if line.startswith("|"):
            line = re.sub(r"(?<!\[)`([^`]+)`(?!\])", link, LINK.sub(r"\1", line))
        lines.append(line)
    return "".join(lines)


def main():
    names, changed = Names(), []
    for document in DOCUMENTS:
        path = ROOT / document
        old = path.read_text()
        new = linked(old, path.parent, names)
        if new != old:
            changed += [f"{document}: {b.strip()[:100]}" for a, b in
                        zip(old.splitlines(), new.splitlines()) if a != b]
            if "--check" not in sys.argv[1:]:
                path.write_text(new)
    print("\n".join(changed) or "links: all as they should be")
    return 1 if changed and "--check" in sys.argv[1:] else 0


if __name__ == "__main__":
    sys.exit(main())
