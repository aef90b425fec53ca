#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The library as one file to embed: pprf.c, and pprf.h beside it.

  amalgamate.py OUT --version V --include DIR... --core FILE... --prg FILE... --openssl FILE --builtin FILE
                --own-prg FILE

Each file becomes a section, headers before the files that include them. Annotations for the proofs
are removed, and so is code for Frama-C only; functions that pprf.h does not declare become static.
--openssl and --builtin are the two versions of prg.h's functions, under the names by which --prg's
files call them. --own-prg replaces all of these for programs that bring their own PRG.

If a file of --core includes other .c files (opt/wide.c), these are compiled a second time: their
sections appear again, with the names that it defines in place of the old ones; everything else that
they have at file scope is called wide_* there."""
import argparse
import os
import re
import sys

TOKEN = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|/\*.*?\*/|//[^\n]*', re.S)
# prg.h's functions, of which the library has two versions: choice.c calls those of libcrypto.c
BEHIND = re.compile(r"\bprg_(expand|expand_wide|calls|wipe_plan|digest)\b")


STEPS = set()  # macros that contain only annotations, of all files read so far


def without_annotations(text):
    """C without its ACSL comments; lines that contained nothing else are removed, too."""
    def drop(match):
        token = match.group()
        return "\0" if token.startswith(("/*@", "//@")) else token
    text = TOKEN.sub(drop, text)
    # macros that contain only annotations, with the comment before them; and their uses
    empty = re.compile(r"(?:^/\*(?:(?!\*/).)*\*/\n)?(?:^#define (\w+)(?:\([^)\n]*\))?(?:[ \t\0]|\\\n)*\0[ \t\0]*\n)+",
                       re.M | re.S)
    names = STEPS
    def forget(match):
        names.update(re.findall(r"^#define (\w+)", match.group(), re.M))
        return ""
    known = None
    while known != len(names):  # a macro may consist of other such macros
        known = len(names)
        text = empty.sub(forget, text)
        if names:
            text = re.sub(r"^[ \t]*(?:%s)[ \t]*(?=\\?$)" % "|".join(sorted(names)), "  \0 ", text, flags=re.M)
    if names:
        text = re.sub(r"^[ \t]*(?:%s)\b(?:\([^)\n]*\))?;?[ \t]*\n" % "|".join(sorted(names)), "", text, flags=re.M)
    # a comment on a removed annotation
    text = re.sub(r"(?:^/\*(?:(?!\*/).)*\*/\n)?^\0[ \t]*\n(?=\n|\Z)", "", text, flags=re.M | re.S)
    lines = text.split("\n")
    kept = []
    for line in lines:
        if "\0" in line:
            line = re.sub(r"[ \t]*\0", "", line)
            if not line.strip():
                continue
        kept.append(line)
    # what preceded a ghost argument: `f(x) /*@ ghost (d) */;`, perhaps on a separate line
    return re.sub(r"\n[ \t]*;", ";", "\n".join(kept))


def compiled(text, symbol="__FRAMAC__", defined=False):
    """C as it is if `symbol` is not defined (or is): its #ifdef, #ifndef, #else and #endif are
    resolved."""
    out, stack = [], []  # pairs: is the condition about the symbol, and are its lines kept
    for line in text.split("\n"):
        words = line.split("/*")[0].split()
        word = words[0] if words else ""
        if word in ("#if", "#ifdef", "#ifndef"):
            if symbol in words:
                if word == "#if" or len(words) != 2:
                    raise SystemExit(f"amalgamate.py: {line!r}: only #ifdef and #ifndef {symbol}")
                stack.append((True, (word == "#ifdef") == defined))
                continue
            stack.append((False, True))
        elif word in ("#else", "#elif") and stack[-1][0]:
            stack[-1] = (True, not stack[-1][1])
            continue
        elif word == "#endif":
            about, _ = stack.pop()
            if about:
                continue
        if all(kept for _, kept in stack):
            out.append(line)
    return "\n".join(out)


def without_guard(text, path):
    """A header without its include guard."""
    match = re.search(r"^#ifndef (\w+_H)\n#define \1\n(.*)^#endif\n*\Z", text, re.S | re.M)
    if match is None:
        raise SystemExit(f"amalgamate.py: {path}: no include guard")
    return text[:match.start()] + match.group(2)


def blank(text):
    """C of the same length, with comments, strings and preprocessor lines blanked."""
    def hide(match):
        return re.sub(r"[^\n]", " ", match.group())
    text = TOKEN.sub(hide, text)
    return re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", hide, text, flags=re.M)


def with_local(text, public):
    """C in which functions with external linkage that are not in `public` are declared
    PPRF_LOCAL."""
    bare, starts, depth, begin = blank(text), [], 0, None
    for at, char in enumerate(bare):
        if char == "{":
            if depth == 0 and begin is not None:
                starts.append((begin, bare[begin:at]))
            depth += 1
        elif char == "}":
            depth -= 1
            if depth == 0 and not bare[at + 1:at + 2].strip():
                begin = None
        elif char == ";" and depth == 0:
            if begin is not None:
                starts.append((begin, bare[begin:at]))
            begin = None
        elif depth == 0 and begin is None and not char.isspace():
            begin = at
    for begin, declaration in reversed(starts):
        plain = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", declaration, flags=re.S)
        if re.match(r"\s*(typedef\b|extern\b|struct\s+\w+\s*\{)", plain) or \
                re.search(r"\bstatic\b|_Static_assert|=", plain):
            continue
        name = re.search(r"\b(\w+)\s*\(", plain) or re.match(r"opt_(?:expand|node|wide)\w*\s+(\w+)", plain)
        if name is None or name.group(1) in public or name.group(1).isupper():  # a macro
            continue
        text = text[:begin] + "PPRF_LOCAL " + text[begin:]
    return text


def at_file_scope(text):
    """What C defines at file scope: ({functions}, {structure tags}, {variables and constants})."""
    bare, depth, begin = blank(text), 0, 0
    functions, tags, others = set(), set(), set()
    for at, char in enumerate(bare):
        if char == "{":
            if depth == 0:
                head = re.sub(r"__attribute__\s*\(\(.*?\)\)", "", bare[begin:at], flags=re.S)
                tag, variable = re.search(r"struct (\w+)\s*$", head), re.search(r"(\w+)(?:\[\w*\])?\s*=\s*$", head)
                function = re.search(r"\b(\w+)\s*\(", head)
                if tag:
                    tags.add(tag.group(1))
                elif variable:
                    others.add(variable.group(1))
                elif function:
                    functions.add(function.group(1))
                elif re.search(r"enum\s*$", head):
                    others.update(re.findall(r"\b(\w+)\s*=", bare[at:bare.index("}", at)]))
            depth += 1
        elif char == "}":
            depth -= 1
            begin = at + 1
        elif char == ";" and depth == 0:
            begin = at + 1
    return functions, tags, others


class Renaming:
    """Replaces names in C, outside comments and strings."""

    def __init__(self, given, text, declared):
        """given: {old: new}; text: other names at its file scope are replaced, too; declared:
        functions that keep their names."""
        functions, tags, others = at_file_scope(text)
        functions -= declared
        bare = blank(text)
        rules = [(rf"\b{old}\b", new) for old, new in given.items()]
        for name in sorted(functions - set(given)):
            uses = set(re.findall(rf"(?<![.>\w]){name}\b\s*(.)", bare))
            follow = r"(?=\s*[(,)])" if uses <= {"(", ",", ")"} else r"(?=\s*\()"
            rules.append((rf"(?<![.>\w]){name}\b{follow}", "wide_" + name))
        rules += [(rf"(?<=struct ){name}\b", "wide_" + name) for name in sorted(tags - set(given))]
        rules += [(rf"(?<![.>\w]){name}\b", "wide_" + name) for name in sorted(others - set(given))]
        self.rules = [(re.compile(old), new) for old, new in rules]

    def __call__(self, text):
        out, end = [], 0
        for match in TOKEN.finditer(text):
            out += [self.code(text[end:match.start()]), match.group()]
            end = match.end()
        return "".join(out) + self.code(text[end:])

    def code(self, text):
        for old, new in self.rules:
            text = old.sub(new, text)
        return text


def macros(text):
    """The macros that C defines: {name: [definition, ...]}."""
    found = {}
    for definition, name in re.findall(r"^(#[ \t]*define (\w+)(?:[^\n]*\\\n)*[^\n]*)", text, re.M):
        found.setdefault(name, []).append(re.sub(r"/\*.*?\*/|\\\n|\s+", " ", definition).split())
    return found


class Amalgamation:
    def __init__(self, include):
        self.include = include
        self.seen = {self.find("pprf.h", "")}
        self.system = set()
        self.public = set()
        self.contents = []
        self.functions = set()  # in headers that both compilations have in common
        self.macros = {}  # as the first compilation defined them
        self.again = None  # during the second compilation: transforms the sections' text

    def find(self, name, path):
        for directory in [os.path.dirname(path), *self.include]:
            candidate = os.path.normpath(os.path.join(directory, name))
            if os.path.exists(candidate):
                return candidate
        raise SystemExit(f"amalgamate.py: {path}: cannot find {name}")

    def section(self, path, rename=None):
        """The sections of a file and of the headers that must precede it."""
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for steps in re.findall(r'^#include "((?:.*/)?wp/.*)"', text, re.M):
            with open(self.find(steps, path), encoding="utf-8") as file:
                without_annotations(file.read())
        if re.search(r'^#include ".*\.c"', text, re.M) and path.endswith(".c"):
            return self.second(path, text)
        text = compiled(compiled(without_annotations(text)), "PPRF_WIDE", self.again is not None)
        if path.endswith(".h"):
            text = without_guard(text, path)
        out, lines, depth = [], [], 0
        for line in text.split("\n"):
            own = re.match(r'#include "(.*)"', line)
            system = re.match(r"#include <(.*)>", line)
            depth += bool(re.match(r"#\s*if", line)) - bool(re.match(r"#\s*endif", line))
            if own and "wp" in own.group(1).split("/"):
                continue  # only proof steps, which STEPS already contains
            if own:
                header = self.find(own.group(1), path)
                if header not in self.seen:
                    self.seen.add(header)
                    out.append(self.section(header))
            elif system and depth == 0 and not system.group(1).startswith("openssl/"):
                self.system.add(system.group(1))
            elif not line.startswith("/* SPDX-License-Identifier"):
                lines.append(line)
        text = "\n".join(lines)
        text = re.sub(r"/\*\* @file \S+\n \* ", "/* ", text, count=1)
        if rename:
            text = BEHIND.sub(rename, text)
        if self.again is not None:
            text = self.again(text)
        else:
            self.macros.update(macros(text))
        text = with_local(text, self.public).strip("\n")
        text = re.sub(r"\n{3,}", "\n\n", text)
        self.contents.append(path)
        rule = "=" * max(4, 92 - len(path))
        out.append(f"/* {rule} {path} */\n\n{text}\n")
        return "\n".join(out)

    def needed(self, name, path, seen):
        """Add a header, and those that it includes, to `seen`."""
        path = self.find(name, path)
        if path in seen or name.endswith(".acsl"):
            return
        seen.add(path)
        with open(path, encoding="utf-8") as file:
            text = compiled(file.read())
        self.functions.update(re.findall(r"\b(\w+)\(", blank(text)))
        for line in re.findall(r'^#include "(.*)"', text, re.M):
            self.needed(line, path, seen)

    def second(self, path, text):
        """The sections of a file that compiles other files a second time."""
        head, files = re.split(r'(?=^#include ".*\.c")', text, maxsplit=1, flags=re.M)
        files = [self.find(name, path) for name in re.findall(r'^#include "(.*)"', files, re.M)]
        given = dict(re.findall(r"^#define (\w+) (\w+)$", head, re.M))
        local = set(re.findall(r"^#define (\w+)\(\.\.\.\)", head, re.M))  # of this file
        known = set()
        for name in re.findall(r'^#include "(.*)"', head, re.M):
            self.needed(name, path, known)
        # headers that the first compilation did not need
        headers = [self.find(name, path) for name in re.findall(r'^#include "(.*)"', head, re.M)]
        before = "".join(self.section(header) for header in headers
                         if not (header in self.seen or self.seen.add(header)))
        own = re.sub(r'^#(?:include "|undef PPRF_SEED_BYTES|define \w+( \w+)?$).*\n', "", head, flags=re.M)
        own = re.sub(r"^/\* SPDX.*\n|^/\* (?:prg\.h|pprf\.h|the stores).*\*/\n", "", own, flags=re.M)

        def sections(again):
            seen, contents = self.seen, self.contents
            self.seen, self.contents, self.again = set(known), [], again
            out, again = "\n".join(self.section(name) for name in files), self.contents
            self.seen, self.contents, self.again = seen, contents, None
            return out, again

        renaming = Renaming(given, sections(lambda text: text)[0], self.functions)

        def renamed(text):
            text = renaming(text)
            for name, definitions in macros(text).items():
                if definitions != self.macros.get(name, definitions):
                    text = re.sub(rf"^(#[ \t]*define {name}\b)", rf"#undef {name}\n\1", text, flags=re.M)
            return text

        out, contents = sections(renamed)
        self.contents += [f"{path}: {', '.join(os.path.basename(name) for name in contents)} again"]
        rule = "=" * max(4, 92 - len(path))
        undo = "".join(f"#undef {name}\n" for name in sorted(local))
        return f"{before}/* {rule} {path} */\n\n{own.strip()}\n\n{out}\n{undo}"


HEAD = """\
/* SPDX-License-Identifier: Apache-2.0 */
/* libpprf {version} in one file: a puncturable pseudorandom function.  Made by `make amalgamation`; do
 * not change it here.
 *
 *     cc -O2 -c pprf.c              C11, gcc or clang, Linux; the program links -lcrypto -pthread
 *     cc -O2 -DPPRF_NO_OPENSSL ...  without OpenSSL: seeds from getrandom, its own hashes and AES,
 *                                   which must reproduce their standards' examples before their first use
 *
 * pprf.h says what the functions do.  The proofs that the sources carry as comments, and the tests,
 * are in libpprf's own tree.  The sections, in the order in which they need each other:
{contents} */
#ifndef __linux__
#error "libpprf runs on Linux alone: it needs MADV_WIPEONFORK, getrandom and mlock2"
#endif
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* mlock2, explicit_bzero, secure_getenv, getrandom */
#endif

{system}
#include "pprf.h"

#ifdef PPRF_EXTERNAL_PRG /* for tests: the program defines the functions of prg.h */
#define PPRF_LOCAL __attribute__((visibility("hidden")))
#else
#define PPRF_LOCAL static __attribute__((unused))
#endif
#pragma GCC diagnostic ignored "-Wunused-function" /* a header may define functions that no section uses */
"""


def declared(header):
    with open(header, encoding="utf-8") as file:
        return set(re.findall(r"^PPRF_API [^;(]*?(\w+)\(", file.read(), re.M))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out")
    for name, many in (("version", False), ("include", True), ("core", True), ("prg", True),
                       ("openssl", False), ("builtin", False), ("own-prg", False)):
        parser.add_argument("--" + name, required=True, nargs="+" if many else None)
    args = parser.parse_args()
    header = next(path for path in (os.path.join(d, "pprf.h") for d in args.include) if os.path.exists(path))
    a = Amalgamation(args.include)
    a.public = declared(header)
    body = [a.section(path) for path in args.core]
    # headers that only the PRG needs precede choice.c
    before = [a.section(path) for path in (a.find(name, args.prg[0]) for name in ("keccak.h", "lanes.h", "wide.h"))
              if not (path in a.seen or a.seen.add(path))]
    body += before
    body.append("#ifdef PPRF_EXTERNAL_PRG\n")
    body.append(a.section(args.own_prg))
    body.append("#else\n\n#ifdef PPRF_NO_OPENSSL\n")
    body.append(a.section(args.builtin, r"prg_\1_evp"))
    body.append("#else\n")
    body.append(a.section(args.openssl, r"prg_\1_evp"))
    body.append("#endif\n")
    body += [a.section(path) for path in args.prg]
    body.append("#endif")
    contents = "".join(f" *   {path}\n" for path in a.contents)
    system = "".join(f"#include <{name}>\n" for name in sorted(a.system))
    os.makedirs(args.out, exist_ok=True)
    text = HEAD.format(version=args.version, contents=contents, system=system) + "\n" + "\n".join(body) + "\n"
    for word in ("__FRAMAC__", "ghost ", "\\valid"):
        if word in text:
            sys.exit(f"amalgamate.py: {word!r} is left in pprf.c")
    with open(header, encoding="utf-8") as file:
        public = file.read()
    for name, content in (("pprf.c", text), ("pprf.h", public)):
        with open(os.path.join(args.out, name), "w", encoding="utf-8") as file:
            file.write(content)


main()
