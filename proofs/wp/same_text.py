#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Refuses if the compiler is given a different program from what Frama-C and the translators to Coq
read.

  same_text.py --read FILE      write what Frama-C is given for each proven file; runs where Frama-C is
  same_text.py --compare FILE   compare that, token by token, with what the compiler is given
  same_text.py --update FILE    the same, but write proofs/wp/differences.txt, keeping the reasons in it
  same_text.py --translated     compare what the translators to Coq read of prg/ with what the compiler is given

The compiler's text is the preprocessor's output under the command with which make compiles the file
(make -n), with the user's flags and macros. Three programs are compared: the library; the second
compilation of the same files for 32-byte seeds (wide.c), in which each renaming is undone; and the
one-file library (make amalgamation), which contains both. System headers, storage classes at file
scope, and attributes that do not change the meaning are left out. Other differences are listed in
differences.txt, word for word, with the reason; a listed block that does not occur is refused, too.

Also refused: compiler flags not known to keep the meaning of C, other attributes, pragmas except
those for warnings, #line, names that a renaming makes equal, a platform whose types differ from
those of the proofs (platform.c), arithmetic on plain char, and any name from the system's headers
that platform.c does not check."""
import concurrent.futures
import difflib
import json
import os
import re
import shlex
import subprocess
import sys

import proven_files

sys.path.append(os.path.join(proven_files.ROOT, "proofs", "tools"))
import keccak  # noqa: E402
import vectors  # noqa: E402

LISTED = os.path.join("proofs", "wp", "differences.txt")
PLATFORM = os.path.join("proofs", "wp", "platform.c")
ONE_FILE = os.path.join("build", "amalgamation", "pprf.c")
ALL = "(all of it)"
TRANSLATED = {"prg/keccak.c": keccak, "prg/aes.c": keccak, "prg/sha256.c": keccak, "prg/aes_instructions.c": vectors}
PROVEN = [file for file in proven_files.FILES if "/wp/" not in file]
WIDE = {folder: os.path.join(folder, "wide.c") for folder in proven_files.FOLDERS}
# Compiler flags: those whose effect shows in the text or in the platform's check, and those that do
# not affect the meaning of C.
TEXT_FLAGS = r"-[DUI].*|-std=c11|-pthread"
SAME_MEANING = r"-O[0-3sgz]?|-g.*|-W(?!p,|a,|l,).*|-pedantic|-pipe|-fPIC|-fpic|-fPIE|-flto.*|-m(arch|tune)=.*|" \
               r"-fvisibility=\w+|-fstack-protector(-\w+)?|-fstack-clash-protection|-fcf-protection(=\w+)?|" \
               r"-ffile-prefix-map=.*|-f(no-)?omit-frame-pointer|-fsanitize=.*|-fno-sanitize-recover=.*"
PRAGMAS = r'(diagnostic (push|pop|(ignored|error|warning) "-W[\w-]+")|unroll \d+)\s*'
REFUSED = {"_Noreturn", "_Alignas", "_Pragma", "_Generic", "typeof", "__typeof__", "goto"}
HARMLESS = {"noinline", "noipa", "visibility", "unused"}  # attributes
TOKEN = re.compile(r"""(?P<comment>/\*.*?\*/|//[^\n]*)|(?P<string>(?:u8|[uUL])?"(?:\\.|[^"\\\n])*")|"""
                   r"""(?:[uUL])?'(?:\\.|[^'\\\n])*'|[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.])*|"""
                   r"""\.\.\.|<<=|>>=|->|\+\+|--|<<|>>|[-+*/%&|^<>=!]=|&&|\|\||##|\S""", re.S)
KEYWORDS = set("""auto break case char const continue default do double else enum extern float for if inline int long
    register restrict return short signed sizeof static struct switch typedef union unsigned void volatile while
    __attribute__ __asm__ __extension__""".split())
MARK = re.compile(r'# (\d+) "((?:\\.|[^"\\])*)"')


class Refused(Exception):
    pass


def run(command, root):
    done = subprocess.run(command, cwd=root, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise Refused(f"{shlex.join(command)}: {done.stderr.strip()[-2000:]}")
    return done.stdout


def without_comments(text):
    return TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m["comment"] else m[0], text)


def own_tokens(root, text, what, section=lambda file, line: file, outside=False):
    """{file of the tree: its tokens} of preprocessed text; with outside also {None: the tokens of
    other files}."""
    found, file, line = {}, None, 0
    for row in without_comments(text).split("\n"):
        mark = MARK.match(row)
        if mark:
            name = mark[2]
            path = os.path.relpath(os.path.join(root, name), root)
            file, line = (path if not path.startswith("..") else None), int(mark[1])
            if not file and not name.startswith(("/usr/", "<")):
                raise Refused(f"{what}: {name}: a header that is neither the system's nor in the tree")
            if name.startswith("<"):
                file = None
            continue
        if row.lstrip().startswith("#"):
            if file and not re.fullmatch(r"\s*#\s*pragma GCC " + PRAGMAS, row):
                raise Refused(f"{what}: {file}: not allowed: {row.strip()}")
        elif file or outside:
            found.setdefault(section(file, line), []).extend(m[0] for m in TOKEN.finditer(row))
        line += 1
    return found


def plain(tokens, what):
    """The tokens without attributes that do not change the meaning, and with constants in one form:
    with 64 bits `long long` is `long`, a literal needs no parentheses, __restrict is restrict."""
    out = []
    for token in attributes(tokens, what):
        if token[0].isdigit():
            token = re.sub(r"[uUlL]+$", lambda m: re.sub(r"L+", "L", m[0].upper()), token)
        out.append({"__restrict": "restrict", "__restrict__": "restrict"}.get(token, token))
        literal = token == ")" and out[-3:-2] == ["("] and out[-2][0].isdigit()
        if literal and not re.match(r"(?!return$)[\w\])]", "".join(out[-4:-3])):
            out[-3:] = [out[-2]]
    return out


def attributes(tokens, what):
    """The tokens without attributes that do not change the meaning."""
    out, at = [], 0
    while at < len(tokens):
        if tokens[at] not in ("__attribute__", "__attribute"):
            if tokens[at] in REFUSED or tokens[at] == "char" and tokens[at - 1:at + 2] != ["const", "char", "*"] \
                    and tokens[at - 1] not in ("signed", "unsigned"):
                raise Refused(f"{what}: not allowed: {' '.join(tokens[max(at - 1, 0):at + 6])}")
            out.append(tokens[at])
            at += 1
            continue
        end, depth = at + 1, 0
        while not (depth == 0 and end > at + 1):
            depth += {"(": 1, ")": -1}.get(tokens[end], 0)
            end += 1
        inner = " ".join(tokens[at + 3:end - 2])
        names = {re.sub(r"^__(\w+)__$", r"\1", re.match(r"\w+", part.strip())[0])
                 for part in re.sub(r"\([^()]*\)", "", inner).split(",") if part.strip()}
        if names - HARMLESS:
            raise Refused(f"{what}: attribute {inner}: not known to change no meaning")
        at = end
    return out


def statements(tokens):
    """Tuples of tokens, each up to a semicolon or brace; storage classes at file scope left out."""
    out, one, depth = [], [], 0
    for token in tokens:
        depth += {"{": 1, "}": -1}.get(token, 0)
        if depth or token not in ("static", "extern", "inline"):
            one.append(token)
        if token in (";", "{", "}"):
            out.append(tuple(one))
            one = []
    return out + ([tuple(one)] if one else [])


def differences(compiled, read):
    """[(context, the compiler's statements, Frama-C's)] where the two differ. context: the head of
    the function, or of whatever else is open at file scope, and the previous statement."""
    a, b = statements(compiled), statements(read)
    heads, depth = [()], 0  # for Frama-C's statements
    for one in b:
        heads.append(one if not depth and one[-1] == "{" else heads[-1] if depth else ())
        depth += (one[-1] == "{") - (one[-1] == "}")
        if not depth:
            heads[-1] = ()
    found = []
    for tag, i, j, k, l in difflib.SequenceMatcher(None, a, b, autojunk=False).get_opcodes():
        if tag != "equal":
            before = [one for one in dict.fromkeys((heads[k], b[k - 1] if k else ())) if one]
            found.append(tuple(tuple(" ".join(one) for one in part) for part in (before, a[i:j], b[k:l])))
    return found


def commands(root, files):
    """{file: make's command that compiles it, to be run with -E}."""
    objects = [os.path.join("build", file[:-2] + ".o") for file in files]
    old = [part for file in files for part in ("-W", file)]
    text = run(["make", "-n", "V=1", "--no-print-directory", *old, *objects], root)
    found = {}
    for line in text.replace("\\\n", " ").split("\n"):
        words = shlex.split(line) if re.search(r"\s-c\s", line) else []
        if words and words[-1] in files:
            found.setdefault(words[-1], []).append(preprocessor(words))
    for file in files:
        if len(found.get(file, [])) != 1:
            raise Refused(f"{file}: make compiles it {len(found.get(file, []))} times")
    return {file: found[file][0] for file in files}


def preprocessor(words):
    out, at = [words[0], "-E"], 1
    while at < len(words):
        word = words[at]
        if word in ("-o", "-MF"):
            at += 1
        elif word in ("-include", "-isystem", "-I", "-D", "-U"):
            out += words[at:at + 2]
            at += 1
        elif re.fullmatch(rf"{TEXT_FLAGS}|{SAME_MEANING}", word) or not word.startswith("-"):
            out.append(word)
        elif word not in ("-c", "-MMD", "-MP"):
            raise Refused(f"{word}: a flag of the compiler that is not known to keep the meaning of C")
        at += 1
    return out


def no_line(root):
    """#line would make a file's text look like a system header's."""
    for folder in proven_files.SOURCES:
        for path, _, names in os.walk(os.path.join(root, folder)):
            for name in names:
                if name.endswith((".c", ".h", ".acsl")):
                    with open(os.path.join(path, name), encoding="utf-8") as f:
                        found = re.search(r"^[ \t]*(?:#|%:|\?\?=)[ \t]*(?:line\b|\d).*", f.read(), re.M)
                    if found:
                        raise Refused(f"{os.path.relpath(os.path.join(path, name), root)}: not allowed: {found[0]}")


def read_by_frama_c(root, units=tuple(PROVEN)):
    """{proven file: {file: its tokens}}, from the preprocessor commands that Frama-C prints."""
    platform = proven_files.run(["frama-c", "-c11", PLATFORM], cwd=root, env=dict(os.environ, PWD=root))
    if platform.returncode:
        raise Refused(f"{PLATFORM}: not what Frama-C takes for granted: {platform.stdout[-1000:]}")
    # -dD would add the definitions of macros
    extra = "-cpp-extra-args=" + proven_files.cpp_arguments(units[0])
    out = proven_files.run(["frama-c", "-print-cpp-commands", extra, *units],
                           cwd=root, env=dict(os.environ, PWD=root)).stdout
    found = {}
    for line in re.findall(r"^ +(\S.* -o .*)", out, re.M):
        words = [word for word in shlex.split(line) if word != "-dD"]
        at = words.index("-o")
        found[os.path.relpath(words[at - 1], root)] = [*words[:at], *words[at + 2:]]
    if list(found) != list(units):
        raise Refused(f"frama-c: {out[-2000:]}")
    return texts_of(root, found)


def compared(name):
    """Whether the text belongs to what is proven; other .c files do not."""
    return name in PROVEN or not name.endswith(".c")


def texts_of(root, commands):
    """{proven file: {file: its tokens}} from the output of these commands."""
    def text(item):
        file, command = item
        return file, {name: plain(tokens, f"{file}: {name}")
                      for name, tokens in own_tokens(root, run(command, root), file).items()
                      if tokens and compared(name)}
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(text, commands.items()))


def given_to_compiler(root):
    """The same for the library, and {wide.c: {file: tokens}}."""
    no_line(root)
    return texts_of(root, commands(root, [*PROVEN, *WIDE.values()]))


def renamings(root, wide):
    """{new name: old name} of a wide.c."""
    with open(os.path.join(root, wide), encoding="utf-8") as f:
        pairs = re.findall(r"^#define (\w+) ([A-Za-z_]\w*)$", f.read(), re.M)
    back = {new: old for old, new in pairs}
    if len(back) != len(pairs) or len({old for old, _ in pairs}) != len(pairs):
        raise Refused(f"{wide}: two names become one, or one becomes two")
    return back


def one_file(root):
    """The sections of the one-file library: {file: tokens}, and those that occur a second time."""
    with open(os.path.join(root, ONE_FILE), encoding="utf-8") as f:
        lines = f.read().split("\n")
    begins, seen = [], set()
    for number, line in enumerate(lines, 1):
        found = re.fullmatch(r"/\* =+ (\S+) \*/", line)
        if found:
            begins.append((number, (found[1], found[1] in seen or f"{found[1]}" in WIDE.values())))
            seen.add(found[1])

    def section(file, line):
        if file != ONE_FILE:
            return file, False
        return next((name for number, name in reversed(begins) if number <= line), (ONE_FILE, False))
    again = False
    for k, (number, (name, twice)) in enumerate(begins):  # everything after wide.c belongs to the second compilation
        again = again or name in WIDE.values()
        begins[k] = number, (name, twice and again)
    text = run(["gcc", "-O2", "-E", ONE_FILE], root)  # the command in its first comment
    return {key: plain(tokens, f"{ONE_FILE}: {key[0]}")
            for key, tokens in own_tokens(root, text, ONE_FILE, section).items() if compared(key[0])}


class Comparison:
    """blocks: {(file, context, the compiler's statements, Frama-C's): programs in which it
    occurs}."""

    def __init__(self, read):
        self.read, self.blocks = read, {}
        self.known = {}
        for texts in read.values():
            for file, tokens in texts.items():
                self.known.setdefault(file, []).append(tokens)

    def add(self, program, file, compiled, read):
        for block in differences(compiled, read):
            self.blocks.setdefault((file, *block), set()).add(program)

    def whole(self, file, side):
        """Only one of the two reads the header, in any unit."""
        self.blocks.setdefault((file, (), *((ALL,) if side == of else () for of in "-+")), set()).add("library")

    def file(self, program, file, compiled):
        """Compare with what Frama-C reads of the file: in the unit of its name, or in any unit."""
        if file in PROVEN:
            self.add(program, file, compiled, self.read[file][file])
        elif file in self.known:
            if compiled not in self.known[file]:
                self.add(program, file, compiled, self.known[file][0])
        elif program == "library":  # the other programs compile files that are not proven, with their headers
            self.whole(file, "-")

    def library(self, compiled):
        seen = {}
        for unit in compiled:
            for file, tokens in compiled[unit].items():
                seen.setdefault(file, []).append(tokens)
                if file in self.read[unit]:
                    self.add("library", file, tokens, self.read[unit][file])
                else:
                    self.file("library", file, tokens)
        for unit in compiled:
            for file, tokens in self.read[unit].items():
                if file not in seen:
                    self.whole(file, "+")
                elif file not in compiled[unit] and all(tokens != self.read[u].get(file) for u in compiled
                                                        if file in compiled[u]):
                    self.add("library", file, seen[file][0], tokens)

    def renamed(self, program, back, texts):
        """texts: {file: tokens} of a second compilation, with names that `back` maps to the old
        ones."""
        names = {token for tokens in self.known.values() for text in tokens for token in text}
        taken = sorted(new for new in back if new in names)
        if taken:
            raise Refused(f"{program}: {', '.join(taken)}: the name of something else, too")
        for file, tokens in texts.items():
            self.file(program, file, [back.get(token, token) for token in tokens])
            once = {old for new, old in back.items() if new in tokens}
            for name, follow in zip(tokens, tokens[1:]):
                if file in PROVEN and name in once and follow == "(":
                    raise Refused(f"{program}: {file}: {name} is called under two names")


def no_other_names(root, texts, command):
    """Compiled code uses only those names of system headers that platform.c checks."""
    with open(os.path.join(root, PLATFORM), encoding="utf-8") as f:
        checked = set(re.findall(r'"(\w+)"\);', f.read()))
    for unit, commanded in command.items():
        system = {None: [], **own_tokens(root, run(commanded, root), unit, outside=True)}[None]
        own = {token for tokens in texts[unit].values() for token in tokens if re.match(r"[A-Za-z_]", token)}
        odd = sorted((own & set(system)) - KEYWORDS - checked)
        if odd:
            raise Refused(f"{unit}: {', '.join(odd)}: of the system's headers, which Frama-C replaces by its own; "
                          f"{PLATFORM} says nothing of it")


def compare(root, read, units=tuple(PROVEN), one=True):
    """The blocks in which a program differs from what Frama-C reads, as in Comparison."""
    no_line(root)
    found = Comparison(read)
    wide = [file for file in WIDE.values() if one or set(units) == set(PROVEN)]
    command = commands(root, [*units, *wide])
    of_platform = [word for word in command[units[0]][:-1] if word != "-E"]
    run([*of_platform, "-fsyntax-only", PLATFORM], root)
    texts = texts_of(root, command)
    found.library({unit: texts[unit] for unit in units})
    no_other_names(root, texts, {unit: command[unit] for unit in units})
    for file in wide:
        found.renamed("wide", renamings(root, file), texts[file])
    if one:
        sections = one_file(root)
        found.renamed("one file", {}, {file: text for (file, again), text in sections.items() if not again})
        again = {file: text for (file, again), text in sections.items() if again}
        back = renamings(root, WIDE["opt"])
        back.update({name: name[len("wide_"):] for text in again.values() for name in text
                     if name.startswith("wide_") and name not in back})
        found.renamed("one file, wide", back, again)
    return found.blocks


def listed(root):
    """{block as in Comparison: (its programs, its reason)} from differences.txt."""
    found, reason, block = {}, "", None
    with open(os.path.join(root, LISTED), encoding="utf-8") as f:
        for line in f.read().splitlines():
            if line.startswith("# "):
                continue
            if line.startswith("@ "):
                file, programs = line[2:].split(": ")
                block = [file, [], [], [], set(programs.split("; "))]
                found[len(found)] = block, reason
            elif line[:2] in ("  ", "- ", "+ "):
                block[1 + " -+".index(line[0])].append(line[2:])
            elif line:
                reason = line
    return {(file, *map(tuple, parts)): (programs, why) for (file, *parts, programs), why in found.values()}


def show(block, programs):
    lines = [sign + " " + line for sign, part in zip(" -+", block[1:]) for line in part]
    return "\n".join([f"@ {block[0]}: {'; '.join(sorted(programs))}", *lines])


def check(root, blocks, partial=False):
    """partial: not everything was compared, so listed blocks may be missing."""
    known = listed(root)
    new = [show(block, programs) for block, programs in sorted(blocks.items())
           if not programs <= known.get(block, (set(), ""))[0]]
    if new:
        raise Refused("the compiler (-) and Frama-C (+) read different programs:\n" + "\n".join(new) +
                      f"\nIf that is meant: same_text.py --update build/prove/read.json, then a reason in {LISTED}")
    old = [show(block, programs) for block, (programs, _) in known.items() if blocks.get(block) != programs]
    if old and not partial:
        raise Refused(f"{LISTED} lists what is not met:\n" + "\n".join(old))
    if not all(why and "?" not in why for _, why in known.values()):
        raise Refused(f"{LISTED}: a block without a reason")


def update(root, blocks):
    known, by_reason = listed(root), {}
    for block, programs in sorted(blocks.items()):
        by_reason.setdefault(known.get(block, (set(), "? the reason"))[1], []).append(show(block, programs))
    with open(os.path.join(root, LISTED), encoding="utf-8") as f:
        head = [line for line in f.read().splitlines() if line.startswith("# ")]
    with open(os.path.join(root, LISTED), "w", encoding="utf-8") as f:
        f.write("\n".join(head + [text for why, shown in by_reason.items() for text in ("", why, *shown)]) + "\n")


def translated(root):
    """Check that the translators to Coq read what the compiler is given."""
    for source, translator in TRANSLATED.items():
        command = commands(root, [source])[source]
        # without the compiler's header of intrinsics, which they do not read
        given = own_tokens(root, run([*command[:-1], "-D_IMMINTRIN_H_INCLUDED", source], root), source)
        read = own_tokens(root, run([*(w for w in translator.PREPROCESS if w != "-P"), source], root), source)
        for file in sorted(given.keys() | read.keys()):
            found = differences(given.get(file, []), read.get(file, []))
            if found:
                raise Refused("the compiler (-) and the translator to Coq (+) read different programs:\n" +
                              show((file, *found[0]), [translator.__name__]))


def main():
    root, (what, *files) = proven_files.ROOT, sys.argv[1:] or [""]
    if what == "--translated" and not files:
        translated(root)
        print(f"same text: the compiler and the translators to Coq read the same of {', '.join(TRANSLATED)}")
        return
    if what not in ("--read", "--compare", "--update") or len(files) != 1:
        sys.exit(__doc__)
    if what == "--read":
        os.makedirs(os.path.dirname(files[0]), exist_ok=True)
        with open(files[0], "w", encoding="utf-8") as f:
            json.dump(read_by_frama_c(root), f)
        return
    with open(files[0], encoding="utf-8") as f:
        blocks = compare(root, json.load(f))
    if what == "--update":
        update(root, blocks)
    check(root, blocks)
    print(f"same text: {len(PROVEN)} proven files, wide.c and the one file: Frama-C reads what the compiler is given, "
          f"but for {len(blocks)} blocks, as {LISTED} lists them")


if __name__ == "__main__":
    try:
        main()
    except Refused as why:
        sys.exit(f"same text: {why}")
