#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes a manual page of section 3 from a header of the library, so that the text exists only
once.

Doxygen's manual pages are named after the file, pprf.h(3), declare everything twice and do not say how to compile.

usage: man.py HEADER > PAGE"""
import os
import re
import sys


def roff(text):
    """Text in the form of a line of the page."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def comment(text):
    """The lines of a comment, without the stars."""
    return [re.sub(r"^ ?\* ?", "", line).rstrip() for line in text.strip().split("\n")]


def flowing(lines):
    """Lines as paragraphs."""
    out, blank = [], True
    for line in lines:
        if line == "":
            blank = True
            continue
        if blank and out:
            out.append(".PP")
        blank = False
        out.append(roff(line.strip()))
    return out


def bold(text):
    return ".B " + roff(text).replace('"', "\\(dq")


def tags(lines):
    """A comment's text before its first tag, and its tags: (tag, name, lines)."""
    head, found = [], []
    for line in lines:
        m = re.match(r"@(param|retval)(?:\[[a-z,]+\])? +(\S+) *(.*)", line)
        if line.startswith("@return "):
            head += ["", "Returns" + line[len("@return"):]]
        elif m:
            found.append((m.group(1), m.group(2), [m.group(3)]))
        elif found:
            found[-1][2].append(line)
        else:
            head.append(line)
    return head, found


def entry(declaration, lines):
    name = re.search(r"(\w+)\(", declaration).group(1)
    out = [".SS " + name, ".nf"]
    out += [roff(line) for line in declaration.split("\n")]
    out += [".fi", ".PP"]
    head, found = tags(lines)
    out += flowing(head)
    for tag, word, text in found:
        if tag == "retval" and word == "as":  # "as pprf_punct, and ..."
            out += [".PP", "Returns " + roff("as " + " ".join(t.strip() for t in text))]
            continue
        out += [".TP", (".I " if tag == "param" else ".B ") + roff(word)]
        out += [roff(t.strip()) for t in text if t.strip()]
    return out


def items(body, separator):
    """What a body declares, with the comment before or after each, as tagged paragraphs."""
    found, before = [], None
    parts = re.split(r"/\*\*(<?)(.*?)\*/", body, flags=re.S) + ["", ""]
    for code, after, words in zip(parts[::3], parts[1::3], parts[2::3]):
        for name in filter(None, (re.sub(r"\*\s+(?=\w+$)", "*", " ".join(n.split())) for n in code.split(separator))):
            found.append([name, before])
            before = None
        if after:
            found[-1][1] = words
        else:
            before = words
    out = []
    for name, words in found:
        if not words:
            sys.exit("man.py: '%s' without a comment" % name)
        head, told = tags(comment("\n".join(line.strip() for line in words.split("\n"))))
        out += [".TP", bold(name.split(" = ")[0])] + [roff(line.strip()) for line in head if line]
        for _, word, text in told:
            out += [".br", roff(word + ": " + " ".join(t.strip() for t in text if t))]
    return out


def types(header, results):
    """Macros, and enumerations but the results; then structures."""
    constants, structures = [], []
    for m in re.finditer(r"/\*\*((?:(?!\*/).)*)\*/\n(?:#define ((?:\\\n|[^\n])*)|(enum|struct \w+) \{\n(.*?)\n\};|"
                         r"typedef (struct \w+) \w+;)", header, re.S):
        words, macro, kind, body, name = m.groups()
        words = flowing(comment(" * " + words.strip()))
        if macro:
            constants += [".TP", bold("#define " + " ".join(macro.replace("\\\n", " ").split()))] + words
        elif name or kind != "enum":
            structures += [".SS " + (name or kind)] + words + items(body or "", ";")
        elif not results or body not in results:
            constants += ([".PP"] if constants else []) + words + items(body, ",")
    return constants + structures


# the description after the name
ABOUT = {"pprf": "puncturable pseudorandom function",
         "pprf_shared": "keys in memory of the caller's, and secrets from a leaf's value",
         "pprf_redact": "documents that are signed once and can be redacted later",
         "pprf_vault": "a key on disk from which single leaves are erased for good"}


def page(name, header, version):
    top = comment(re.search(r"/\*\* @file %s\.h\n(.*?)\*/" % name, header, re.S).group(1))
    results = re.search(r"/\*\* Results of every.*?\nenum \{\n(.*?)\n\};|$", header, re.S).group(1)
    functions, declared = [], 0
    for m in re.finditer(r"/\*\*((?:(?!\*/).)*)\*/\n((?:PPRF_API|typedef int\w*) [^;]*;)", header, re.S):
        declaration = m.group(2).replace("PPRF_API ", "")
        functions += entry(declaration, comment(" * " + m.group(1).strip()))
        declared += 1
    if declared != len(re.findall(r"^(?:PPRF_API|typedef int\w*) ", header, re.M)):
        sys.exit("man.py: a function without a comment")
    out = ['.\\" SPDX-License-Identifier: Apache-2.0',
           '.\\" Written by man.py from %s.h: change that one.' % name,
           '.TH %s 3 "" "pprf %s" "Library functions"' % (name.upper(), version),
           ".SH NAME", "%s \\- %s" % (name, roff(ABOUT[name])),
           ".SH SYNOPSIS", ".nf", ".B #include <%s.h>" % name, ".PP",
           "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs %s)" % name.replace("_shared", ""),
           ".fi",
           ".SH DESCRIPTION"]
    out += flowing(top)
    out += [".SH FUNCTIONS"] + functions
    described = types(header, results)
    if described:
        out += [".SH TYPES AND OPTIONS"] + described
    if results:
        out += [".SH RESULTS", "Of every function that returns int."] + items(results, ",")
    others = [n for n in ABOUT if n != name]
    out += [".SH SEE ALSO", ".BR pprf (1),"] + [".BR %s (3)," % n for n in others] + [".BR pprf_tls (3)", ""]
    return "\n".join(out)


def read(path):
    with open(path) as f:
        return f.read()


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    where, name = os.path.dirname(os.path.abspath(__file__)), os.path.basename(sys.argv[1])
    version = re.search(r'#define PPRF_VERSION "(.*)"', read(os.path.join(where, "pprf.h"))).group(1)
    sys.stdout.write(page(name[:-2], read(sys.argv[1]), version))


main()
