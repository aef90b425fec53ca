#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Prove one function, and show open goals in the contract's words, for use while changing a proof.

  one.py FUNCTION [--seconds N]    by `make prove FUNCTION=...`; N seconds of CPU time (5) per prover and goal

One try, without the hints and second tries of prove.py, so prove.py may still prove a goal that is
open here. For each open goal it prints the name and the clause, assertion or memory access as
Frama-C prints it, with macros expanded. Exit status 0 if no goal is open."""
import argparse, os, re, sys, time

sys.dont_write_bytecode = True
import prove  # noqa: E402  (in this folder)
import proven_files  # noqa: E402  (in this folder)

KINDS = {"ensures": "ensures", "requires": "requires", "assert": "assert", "loop_invariant": "loop invariant",
         "assigns": "assigns", "loop_assigns": "loop assigns", "loop_variant": "loop variant", "variant": "decreases"}


def files_of(root, function):
    """The proven files that define the function."""
    pattern = re.compile(r"^[A-Za-z][^\n;=]*\b%s\((?:[^;{]|\n)*\n?\{" % re.escape(function), re.M)
    reached = []
    for file in proven_files.FILES:
        text = open(os.path.join(root, file)).read()
        folder = os.path.dirname(file)
        headers = [os.path.join(d, h) for h in re.findall(r'#include "(.*?)"', text)
                   for d in (folder, *proven_files.SOURCES) if os.path.exists(os.path.join(root, d, h))]
        if any(pattern.search(open(os.path.join(root, f)).read()) for f in [file, *headers]):
            reached.append(file)
    return reached


def printed(root, file):
    """The file as Frama-C prints it, with the assertions against run-time errors."""
    run = proven_files.run(["frama-c", f"-cpp-extra-args={proven_files.cpp_arguments(file)}", "-warn-unsigned-overflow",
                            "-warn-unsigned-downcast", "-warn-signed-downcast", "-rte", file, "-then", "-print"],
                    cwd=root, env=dict(os.environ, PWD=root))
    return run.stdout


def text_of(text, function):
    """A function's contract and body in that text, or only its contract."""
    name = r"\b%s\(" % re.escape(function)
    contract = r"/\*@(?:(?!\*/).)*\*/\n"
    head = r"(?:[A-Za-z_][\w \t*]*?\n?[\w \t*]*)" + name
    found = list(re.finditer(r"(?:%s)?^%s(?:[^;{]|\n)*?(?:;|\{\n(?:.*\n)*?\}\n)" % (contract, head), text,
                             re.M | re.S))
    return max((m.group() for m in found), key=len, default="")


def clause(text, function, goal):
    """The text that a goal's name refers to."""
    rest = re.sub(r"(_established|_preserved)?(_part\d+)?$", "", goal[len(function) + 1:])
    call = re.match(r"call(?:_point)?_(\w+?)_(requires(?:_\w+)?)$", rest)
    if call:
        text, rest = text_of(text, call[1]), call[2]
    else:
        text = text_of(text, function)
    kind = next((k for k in sorted(KINDS, key=len, reverse=True) if rest == k or rest.startswith(k + "_")), None)
    if kind is None:
        return ""
    label, number = re.match(r"_?(.*?)(?:_(\d+))?$", rest[len(kind):]).groups()
    if label.startswith("rte_"):
        label = "rte: " + label[4:]
    words = re.findall(r"\b%s\b\s*(?:[^;{]|\{[\w, ]*\})*?;" % KINDS[kind], text)
    named = [w for w in words if not label or re.match(r"%s\s+%s\s*:" % (KINDS[kind], re.escape(label)), w)]
    if label and not named:  # the number belongs to the label's name
        named = [w for w in words if re.match(r"%s\s+%s_%s\s*:" % (KINDS[kind], re.escape(label), number), w)]
        number = None
    if not label:
        named = [w for w in words if not re.match(r"%s\s+\w+\s*:" % KINDS[kind], w)]
    at = int(number or 1) - 1
    return " ".join(named[at].split()) if at < len(named) else ""


def main():
    ap = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    ap.add_argument("function")
    ap.add_argument("--seconds", type=int, default=5)
    ap.add_argument("--build", default=os.path.join(proven_files.ROOT, "build", "wp"))
    arg = ap.parse_args()
    files = files_of(proven_files.ROOT, arg.function)
    keys = [k.split()[0] for d in proven_files.FOLDERS for part in ("goals", "open", "outside")
            for k in proven_files.expectation(d)[part] if k.split()[1] == arg.function]
    files = [f for f in files if f in keys] or files[:1]
    if not files:
        sys.exit(f"prove: no proven file defines {arg.function}; files: {' '.join(proven_files.FILES)}")
    lines, same = prove.versions()
    if not same:
        sys.exit("\n".join(lines))
    os.makedirs(arg.build, exist_ok=True)
    file, begin = files[0], time.time()
    total, valid, failed, bad = prove.wp(proven_files.ROOT, file, arg.function, arg.build, arg.seconds, os.cpu_count(),
                                         prove.NO_CACHE)
    text = printed(proven_files.ROOT, file) if failed else ""
    for line in bad:
        print(line)
    for goal in failed:
        part = re.search(r"_(established|preserved)$|_(established|preserved)_part", goal)
        note = f" ({part[1] or part[2]})" if part else ""
        print(f"open: {goal}{note}\n  {clause(text, arg.function, goal) or '(see WP: -wp-print)'}")
    expected = proven_files.expectation(file.split("/")[0])["goals"].get(f"{file} {arg.function}")
    print(f"{file} {arg.function}: {valid}/{total} goals in {time.time() - begin:.0f} s"
          + ("" if expected in (None, total) else f"; expected.json says {expected}"))
    sys.exit(0 if total and valid == total and not bad else 1)


if __name__ == "__main__":
    main()
