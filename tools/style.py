#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks the form of C, Python and shell files, in seconds.  Prints TAP.

Usage: style.py               every file of the tree
       style.py --fix FILE... formats C files

C is checked by clang-format-19 (in Debian 12 and 13) and .clang-format.  Three things are not checked: the
indentation of a line with an annotation (/*@ or //@), because clang-format takes ghost parameters below a
function's head for a comment on the next function; the columns of a macro's backslashes; and the column of
a comment after code, because its continuation lines would not follow.  Python is checked by flake8 and
.flake8; shell by shellcheck, warnings and errors.  A script that pipes into tee must set pipefail:
otherwise a failure of the piped command is lost."""
import concurrent.futures
import difflib
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FORMAT = "clang-format-19"
count = failed = 0


def ok(good, name, why="", more=""):
    global count, failed
    count += 1
    failed += not good
    print("%sok %d - %s%s" % ("" if good else "not ", count, name, more))
    for line in why.splitlines() if not good else ():
        print("# " + line)
    sys.stdout.flush()


def run(*command, stdin=None):
    try:
        return subprocess.run(command, cwd=ROOT, input=stdin, capture_output=True, text=True,
                              check=False)
    except FileNotFoundError:
        sys.exit("Bail out! style: no %s (tools/deps.sh style)" % command[0])


def files(*suffixes):
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard").stdout.split("\n")
    if len(listed) < 2:  # no git: an unpacked tarball
        listed = [os.path.relpath(os.path.join(where, name), ROOT)
                  for where, _, names in os.walk(ROOT) for name in names]
    return sorted(f for f in listed if f.endswith(suffixes) and not f.startswith("build/")
                  and os.path.isfile(os.path.join(ROOT, f)))


def scripts():
    """All shell scripts, whatever their suffix."""
    return [f for f in files("") if f.endswith(".sh") or re.match(rb"#!.*\b(ba)?sh\b", head(f))]


def head(path):
    with open(os.path.join(ROOT, path), "rb") as f:
        return f.readline(80)


def normal(text):
    text = re.sub(r"^[ \t]+(?=/\*@|//@)", "", text, flags=re.M)
    text = re.sub(r"(?<=[^ \t\n])[ \t]+(?=/\*)", " ", text)
    return re.sub(r"[ \t]+\\$", r" \\", text, flags=re.M)


def formatted(text, name):
    """The text as formatted by clang-format, without changes to what is not checked."""
    old = text.splitlines(True)
    new = run(FORMAT, "--assume-filename=" + name, stdin=text).stdout.splitlines(True)
    same = difflib.SequenceMatcher(None, [normal(line) for line in old], [normal(line) for line in new],
                                   autojunk=False)
    return "".join(line for op, a, b, c, d in same.get_opcodes()
                   for line in (old[a:b] if op == "equal" else new[c:d]))


def differing(text, name):
    """The lines of the text that clang-format would change."""
    new = normal(formatted(text, name)).splitlines()
    old = normal(text).splitlines()
    return [] if new == old else [
        "%s:%d: %s" % (name, i + 1, a) for i, a in enumerate(old)
        if i >= len(new) or a != new[i]][:1] or ["%s: lines at its end" % name]


def of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as f:
        return f.read()


def lint(kind, text, name="x"):
    if kind == "python":
        return run("flake8", "--stdin-display-name", name, "-", stdin=text).stdout
    return run("shellcheck", "-S", "warning", "-s", "bash", "-", stdin=text).stdout


def hides_failures(text):
    """Whether the text pipes into tee without pipefail."""
    code = re.sub(r"(?m)^\s*#.*", "", text)
    return bool(re.search(r"\|\s*tee\b", code)) and not re.search(r"(?m)^set .*\bpipefail\b", code)


# What people use stands on the public headers.
CORE = ("opt/", "prg/", "ref/")
USERS = ("tls/", "valkey/")


def inner_includes(path, text, headers):
    """The lines that include a private header of the core."""
    found = []
    for m in re.finditer(r'(?m)^[ \t]*#[ \t]*include[ \t]*[<"]([^>"]+)[>"]', text):
        near = os.path.normpath(os.path.join(os.path.dirname(path), m.group(1)))
        meant = [near] if near in headers else [h for h in headers if ("/" + h).endswith("/" + m.group(1))]
        if any(h.startswith(CORE) for h in meant) and \
                not any(h.startswith(USERS + ("include/", "equivalence-tests/")) for h in meant):
            found.append("%s: %s" % (path, m.group(0).strip()))
    return found


def main():
    if sys.argv[1:2] == ["--fix"]:
        for f in sys.argv[2:]:
            if not f.endswith((".c", ".h")):
                sys.exit("style: %s: only C files are formatted" % f)
            text = of(os.path.abspath(f))
            new = formatted(text, f)
            if new != text:
                with open(os.path.abspath(f), "w", encoding="utf-8") as out:
                    out.write(new)
        return 0
    c = files(".c", ".h", ".cc", ".cpp")
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        bad = dict(zip(c, pool.map(lambda f: differing(of(f), f), c)))
    ok(len(c) > 50 and not any(bad.values()),
       "C: %d files are as clang-format would have them" % len(c),
       "\n".join(bad[f][0] for f in c if bad[f]) + "\nelse: tools/style.py --fix FILE")
    python = files(".py")
    r = run("flake8", *python)
    ok(len(python) > 20 and r.returncode == 0, "Python: flake8 finds nothing in %d files"
       % len(python), r.stdout + r.stderr)
    shell = scripts()
    r = run("shellcheck", "-S", "warning", *shell)
    ok(len(shell) > 10 and r.returncode == 0, "shell: shellcheck finds nothing in %d files"
       % len(shell), r.stdout + r.stderr)
    hidden = [f for f in shell if hides_failures(of(f))]
    ok(not hidden, "shell: what is piped into tee can fail", "\n".join(hidden) + "\nset -o pipefail")
    headers = set(files(".h"))
    users = [f for f in c if f.startswith(USERS)]
    inner = [line for f in users for line in inner_includes(f, of(f), headers)]
    ok(len(users) > 20 and not inner, "tls/ and valkey/ include nothing of %s" % ", ".join(CORE),
       "\n".join(inner) + "\npublic headers: include/")
    ok(differing("int f(void)\n{\n    return 1;\n}\n", "x.c")
       and not differing("int f(void)\n/*@ ghost (int R) */\n{\n  return 1;\n}\n", "x.c")
       and not differing("int f(void)\n  /*@ ghost (int R) */\n{\n  return 1;\n}\n", "x.c"),
       "a wrong indent is noticed, where an annotation begins is not")
    ok("F401" in lint("python", "import os\n") and "F821" in lint("python", "print(undefined)\n")
       and not lint("python", "print(1)\n"), "an unused and an undefined name are noticed")
    ok("SC2034" in lint("shell", "unused=1\n") and not lint("shell", "echo\n"),
       "an unused variable of a shell script is noticed")
    ok(hides_failures("set -eu\nfalse 2>&1 |tee log\n") and hides_failures("# set -o pipefail\nx | tee y\n")
       and not hides_failures("set -eu -o pipefail\nfalse | tee log\n"),
       "a failure that tee would hide is noticed")
    ok(all(inner_includes("tls/x.c", '# include "%s"\n' % n, headers)
           for n in ("prg.h", "../opt/key.h", "opt/store.h", "store.h", "shared.h", "options.h", "../ref/node.h"))
       and not any(inner_includes("tls/x.c", "#include %s\n" % n, headers)
                   for n in ('"tap.h"', '"pool.h"', "<pprf_shared.h>", "<string.h>", '"chain.h"', '"inject.h"')),
       "an include of the core is noticed, one of a public header is not")
    print("1..%d" % count)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
