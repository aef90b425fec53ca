#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests the HTML pages: every document, function and Python name is there, and every link leads
somewhere. Prints TAP."""
import ast
import html
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import build

count = failed = 0


def ok(good, name, *why):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for line in why if not good else ():
        print(f"# {line}")
    sys.stdout.flush()


def exported(name):
    """The functions that a library exports."""
    symbols = (build.ROOT / f"packaging/release/{name}.symbols").read_text()
    return set(re.findall(r"^(pprf_\w+) ", symbols, re.M))


def python_names():
    found = set()
    for module in build.MODULES:
        file = module.replace(".", "/") + ("" if "." in module else "/__init__") + ".py"
        values = [n.value for n in ast.parse((build.ROOT / "bindings/python" / file).read_text()).body
                  if isinstance(n, ast.Assign) and n.targets[0].id == "__all__"]
        found |= {f"{module}.{name}" for name in ast.literal_eval(values[0])}
    return found - {"pprf.__version__"}


def pages(out):
    made = subprocess.run([build.HERE / "build.py", out], text=True, capture_output=True, check=False)
    ok(made.returncode == 0, "Doxygen and Sphinx have no warning, every link of the pages leads somewhere",
       *(made.stdout + made.stderr).splitlines()[-20:])
    found = {f.relative_to(out / "html"): build.Page(f) for f in (out / "html").glob("**/*.html")}
    missing = [str(d) for d in build.documents() if d.with_suffix(".html") not in found]
    ok(len(build.documents()) > 40 and not missing, "each document is a page", *missing)
    places = set().union(*(page.places for page in found.values())) if found else set()
    functions = set().union(*map(exported, ("libpprf", "libpprf_tls", "libpprf_redact", "libpprf_vault")))
    missing = sorted(functions - {p[2:] for p in places if p.startswith("c.")})
    ok(len(functions) > 40 and not missing, "each exported function has its place", *missing)
    missing = sorted(python_names() - places)
    ok(len(python_names()) > 10 and not missing, "each name of the Python package has its place", *missing)
    raw = []
    for path in found:
        text = re.sub(r"<(pre|code|script|style)\b.*?</\1>", "", (out / "html" / path).read_text(), flags=re.S)
        raw += [f"{path}: {line.strip()}" for line in html.unescape(re.sub(r"<[^>]*>", "", text)).split("\n")
                if re.search(r"\]\(|^#+ |^\|.*\|$|```|@(param|retval)", line.strip())]
    ok(not raw, "no page shows raw Markdown or commands of Doxygen", *raw)


def planted(tmp):
    """Planted errors are noticed."""
    site = tmp / "site"
    site.mkdir()
    (site / "a.html").write_text('<a href="b.html#there">1</a><a href="b.html#gone">2</a><a href="c.html">3</a>'
                                 '<img src="d.png"><a href="#own">4</a><a href="https://c/d#e">5</a>')
    (site / "b.html").write_text('<h1 id="there">b</h1><a href="a.html">6</a>')
    ok(sorted(build.broken(site)) == ["a.html: #own", "a.html: b.html#gone", "a.html: c.html", "a.html: d.png"],
       "links to pages, places and pictures that are not there are found", *build.broken(site))
    tree = tmp / "tree"
    for folder in ("include", "tls", "redact", "vault", "docs/pages"):
        shutil.copytree(build.ROOT / folder, tree / folder, ignore=shutil.ignore_patterns("*.py", "nginx", "tests"))
    header = tree / "include" / "pprf.h"
    text = header.read_text()
    ok(build.doxygen(tree, tmp / "xml") == 0, "a copy of the headers has no warning")
    for what, old, new in (("a function that is not there", "pprf_eval followed by pprf_punct", "pprf_evil"),
                           ("a parameter that is not there", "@param[in]  key  the key.", "@param[in]  kay  the key."),
                           ("a parameter without a word",
                            " * @param[in]     n      number of leaves, 0 allowed.\n", "")):
        header.write_text(text.replace(old, new))
        ok(text.count(old) > 0 and build.doxygen(tree, tmp / "xml") != 0, f"{what} is noticed")


def main():
    with tempfile.TemporaryDirectory(prefix="pprf-pages-") as tmp:
        pages(pathlib.Path(tmp) / "out")
        planted(pathlib.Path(tmp))
    print(f"1..{count}")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
