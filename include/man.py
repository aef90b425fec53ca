#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes pprf.3, the library's manual page, from pprf.h: what the header says is said once.

usage: man.py HEADER > PAGE"""
import re
import sys


def roff(text):
    """Text for a line of the page."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text[:1] in (".", "'") else text


def comment(text):
    """The lines of a comment, without its stars."""
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


def tags(lines):
    """What a comment says before its first tag, and its tags: (tag, name, lines)."""
    head, found = [], []
    for line in lines:
        m = re.match(r"@(param|retval)(?:\[[a-z,]+\])? +(\S+) *(.*)", line)
        if m:
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


def page(header):
    version = re.search(r'#define PPRF_VERSION "(.*)"', header).group(1)
    top = comment(re.search(r"/\*\* @file pprf\.h\n(.*?)\*/", header, re.S).group(1))
    results = re.search(r"(/\*\* Results of every.*?)\n\};", header, re.S).group(1)
    functions, declared = [], 0
    for m in re.finditer(r"/\*\*((?:(?!\*/).)*)\*/\n((?:PPRF_API|typedef int)[^;]*;)", header, re.S):
        declaration = m.group(2).replace("PPRF_API ", "")
        functions += entry(declaration, comment(" * " + m.group(1).strip()))
        declared += 1
    if declared != header.count("\nPPRF_API ") + header.count("\ntypedef int "):
        sys.exit("man.py: a function without a comment")
    out = ['.\\" SPDX-License-Identifier: Apache-2.0',
           '.\\" Written by man.py from pprf.h: change that one.',
           '.TH PPRF 3 "" "pprf %s" "Library functions"' % version,
           ".SH NAME", "pprf \\- puncturable pseudorandom function",
           ".SH SYNOPSIS", ".nf", ".B #include <pprf.h>", ".PP",
           "cc program.c $(pkg\\-config \\-\\-cflags \\-\\-libs pprf)", ".fi",
           ".SH DESCRIPTION"]
    out += flowing(top)
    out += [".SH FUNCTIONS"] + functions
    out += [".SH RESULTS", "Of every function that returns int."]
    for name, text in re.findall(r"(PPRF_\w+) = \d+,? */\*\*< (.*?) \*/", results):
        out += [".TP", ".B " + roff(name), roff(text)]
    out += [".SH SEE ALSO", ".BR pprf (1),", ".BR pprf_tls (3)", ""]
    return "\n".join(out)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with open(sys.argv[1]) as f:
        sys.stdout.write(page(f.read()))


main()
