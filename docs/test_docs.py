#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The documents tell the truth: examples run as printed, links lead somewhere, and every theorem,
contract, test and make target that a document names exists.  Prints TAP."""
import hashlib
import json
import math
import os
import pathlib
import platform
import re
import shlex
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
os.chdir(ROOT)
sys.path.insert(0, str(ROOT / "tools"))
import planting  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
FOLDERS = [d for d in sorted(ROOT.glob("[a-z]*/")) if d.name != "build"]
MAKEFILES = [ROOT / "Makefile", *(f for d in FOLDERS for f in d.glob("**/*.mk"))]
DOCS = sorted(
    p for p in [*ROOT.glob("*.md"), *(f for d in FOLDERS for f in d.glob("**/*.md"))] if BUILD not in p.parents)
count = failed = 0


def ok(good, name, *why):
    global count, failed
    count += 1
    failed += not good
    print(f"{'ok' if good else 'not ok'} {count} - {name}")
    for line in why if not good else ():
        print(f"# {line}")
    sys.stdout.flush()


def blocks(text, lang):
    return re.findall(rf"^```{lang}\n(.*?)^```$", text, re.S | re.M)


def run(cmd, **kw):
    return subprocess.run(cmd, shell=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, executable="/bin/bash", **kw)


def c_example(readme, tmp):
    """The README's C program, built against an installed copy as the README says."""
    (tmp / "example.c").write_text(blocks(readme, "c")[0])
    install, *build = [b for b in blocks(readme, "sh") if "pkg-config" in b][0].splitlines()
    env = dict(os.environ, HOME=str(tmp), DEPS="skip")
    r = run(install.replace("make ", "make -s --no-print-directory ", 1), env=env)
    ok(r.returncode == 0, "README: make install", *r.stdout.splitlines()[-5:])
    r = run("set -e\n" + "\n".join(build), cwd=tmp, env=env)
    want = ["first use: ", "second use: ", "20 seeds left"]
    got = r.stdout.splitlines()
    ok(r.returncode == 0 and len(got) == 3 and all(g.startswith(w) for g, w in zip(got, want))
       and got[0] != got[1], "README: the C example builds and runs", r.stdout)


def console_example(readme, tmp):
    """Each `$ command` of the README's console block prints what stands below it."""
    env = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}")
    for block in blocks(readme, "console"):
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            cmd, _, want = part.partition("\n")
            r = run(cmd, cwd=tmp, env=env)
            # memory held is that of amd64's page size and allocator; whether it is locked is up to a limit
            number = r"(\d+)" if platform.machine() == "x86_64" else r"()\d+"
            mask = lambda s: re.sub(rf"(memory\D*){number}.*", r"\1\2", s)
            ok(mask(r.stdout) == mask(want), f"README: $ {cmd}", "printed:", *r.stdout.splitlines())


def links():
    for doc in DOCS:
        bad = [t for t in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", doc.read_text())
               if not t.startswith(("http:", "https:", "mailto:")) and not (doc.parent / t).exists()]
        ok(not bad, f"{doc.relative_to(ROOT)}: links lead to files", *bad)


LINK = re.compile(r"\[`([^`]+)`\]\(([^)#\s]+)[^)]*\)")
DEFINED = {".v": r"^\s*(?:Theorem|Lemma|Corollary|Definition|Fixpoint|Example|Inductive|Record|Variant)"
                 r"\s+{}\b", ".mk": r"^{}:", "Makefile": r"^{}:"}


def defines(path, name):
    """Whether the file is called so or, of a folder or a text, has something of that name."""
    if path.is_dir() or name.endswith(path.name):
        return path.exists() and (ROOT / name).exists() or name in path.name
    pattern = DEFINED.get(path.suffix, DEFINED.get(
        path.name, r"(?<![\w-])(?:test_)?{}(?![\w-])"))
    return path.is_file() and re.search(pattern.format(re.escape(name.rstrip("()"))),
                                        path.read_text(errors="replace"), re.M) is not None


def named_links():
    """A link whose text is a name leads to a file that has this name."""
    for doc in DOCS:
        found = LINK.findall(doc.read_text())
        bad = [f"{name} is not in {path}" for name, path in found
               if not path.startswith("http") and not defines(doc.parent / path, name)]
        if found:
            ok(not bad, f"{doc.relative_to(ROOT)}: what a link names is in its file", *bad)
    ok(not defines(ROOT / "proofs/Main.v", "eval_puncture_all")
       and defines(ROOT / "include/pprf.h", "pprf_eval")
       and not defines(ROOT / "include/pprf.h", "pprf_ev"),
       "a name that is used but not defined, or a part of a name, is not found")
    main = (ROOT / "proofs/Main.v").read_text()
    want = re.findall(r"^Print Assumptions (\w+)", main, re.M)
    got = re.findall(r"^\| \[`(\w+)`\]", (ROOT / "docs/theorems.md").read_text(), re.M)
    ok(len(want) > 90 and sorted(want) == sorted(got),
       "docs/theorems.md has each theorem of proofs/Main.v once",
       f"only in Main.v: {sorted({*want} - {*got})}", f"only in the document: "
       f"{sorted({*got} - {*want})}")


def tables_linked():
    r = run("docs/links.py --check")
    ok(r.returncode == 0, "the names in the tables are linked (else: make links)", r.stdout)
    table = (ROOT / "README.md").read_text().split("| claim | by | check |\n")[1].split("\n\n")[0]
    bad = [row for row in table.splitlines()[1:] if "](" not in row.split("|")[2]]
    ok(table.count("\n") > 25 and not bad, "README: each claim is a link away from what carries it",
       *bad)


def pictures():
    """The committed pictures are those that their scripts draw, and name what exists."""
    folder = ROOT / "docs/pictures"
    sys.path.insert(0, str(folder))
    import draw
    for name, picture in draw.PICTURES.items():
        ok((folder / name).read_text() == picture(), f"{name} is what draw.py draws (make pictures)")
    bad = [f"{function} is not in {file}" for function, file, _, _ in draw.STEPS
           if not defines(ROOT / file, function)]
    ok(not bad, "leaf.svg names functions in their files", *bad)
    measured = (folder / "peers.json").read_bytes()
    ok(hashlib.sha256(measured).hexdigest() in (folder / "peers.svg").read_text(),
       "peers.svg is drawn from peers.json (bench/peers.py draw)")
    cases = json.loads(measured)["cases"]
    readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text())
    said = {"in order": r"in order \((\d+) bytes a seed", "array in order": r"sorted array (\d+)\)",
            "set up": r"set up in (\d+) ns", "least": r"takes (\d+) to \d+ bytes for each seed",
            "most": r"takes \d+ to (\d+) bytes for each seed",
            "faster": r"array is faster in (\w+) of the six"}
    punctures = {name: case for name, case in cases.items() if "bytes_per_node" in case["opt"]}
    others = {name: {field: min(case[i][field][0] for i in case if i not in ("opt", "ref")) for field in (
        "bytes_per_node", "cpu_time")} for name, case in punctures.items()}
    lost = {field: [name for name, case in punctures.items() if others[name][field] < case["opt"][field][0]]
            for field in ("bytes_per_node", "cpu_time")}
    order = "Punct/*/best/d:15"
    size = [case["opt"]["bytes_per_node"][0] for name, case in punctures.items() if name != order]
    true = {"in order": cases[order]["opt"]["bytes_per_node"][0],
            "array in order": cases[order]["array"]["bytes_per_node"][0],
            "set up": cases["Setup/*/fresh/d:16"]["opt"]["cpu_time"][0], "least": min(size), "most": max(size),
            "faster": len(lost["cpu_time"])}
    words = {"none": 0, "one": 1, "two": 2, "three": 3, "four": 4}
    bad = [f"{what}: README says {found and found[1]}, peers.json {true[what]}"
           for what, pattern in said.items() for found in [re.search(pattern, readme)]
           if not found or words.get(found[1]) != true[what]
           and found[1].replace(" ", "") != str(round(true[what]))]
    if len(punctures) != 6 or lost["bytes_per_node"] != [order]:
        bad.append(f"opt is not the smallest in {lost['bytes_per_node']} of {len(punctures)}")
    ok(not bad, "README: the figures beside the picture are those measured", *bad)


def measured_tables():
    """The tables of stores and suites are those of the run in docs/measured, targets missed included."""
    r = run("bench/tables.py check")
    ok(r.returncode == 0, "the tables of stores and suites are those measured (bench/tables.py write)",
       r.stdout)


def figures():
    """A factor that the theorem loses stands beside its size in bits."""
    text = (ROOT / "docs/security.md").read_text()
    pairs = re.findall(r"`([^`]*\*[^`]*)`(?: \||,) (\d+\.\d)", text)
    bad = [f"{factor}: {bits}" for factor, bits in pairs if abs(math.log2(
        eval(factor, {"__builtins__": {}, "math": math, "d": 22, "q": 2**20})) - float(bits)) > 0.05]
    ok(len(pairs) == 12 and not bad, "docs/security.md: bits lost", f"{len(pairs)} figures", *bad)


def planted():
    """How many planted bugs a document names: as many as the lists have, but for those that mean nothing."""
    counts = {lists[0]: sum(not bug.equal for name in lists for bug in planting.load(ROOT / name, named))
              for named, *lists in ((True, "equivalence-tests/mutants.txt"),
                                    (False, "ref/wp/mutants.txt", "opt/wp/mutants.txt"))}
    bad, found = [], 0
    for doc in (ROOT / "README.md", ROOT / "docs/soundness.md"):
        for line in doc.read_text().splitlines():
            for name, count in counts.items():
                numbers = re.findall(r"(?:notice|:|\() ?(\d+)(?: planted bugs| bugs planted|\), \[`opt/planted)", line)
                if f"`{name}`" in line and numbers:
                    found += 1
                    bad += [f"{doc.name}: {n} bugs, the lists have {count}: {line}" for n in numbers if int(n) != count]
    ok(found == 4 and not bad, "README and docs/soundness.md: how many planted bugs there are", f"{found} places", *bad)
    heads = re.split(r"^# ---- (.*)\n", (ROOT / "equivalence-tests/mutants.txt").read_text(), flags=re.M)
    sections = {head: sum(line[0] not in "#&~" for line in lines.splitlines())
                for head, lines in zip(heads[1::2], heads[2::2])}
    packed = sum("packed" in bug.judge for bug in planting.load(ROOT / "opt/planted.txt"))
    for name, pattern, count in (
            ("suites.md", r"notice (\d+) bugs planted in this code",
             sections["the suites with a salt"] + sections["keys of 32-byte seeds"]),
            ("sparse-store.md", r"(\d+) planted bugs\sin \[`opt/planted", packed)):
        said = re.findall(pattern, (ROOT / "docs" / name).read_text())
        ok(said == [str(count)], f"docs/{name}: how many bugs are planted in what it is about", f"{said}, not {count}")


def axiomatic_blocks():
    """Each axiomatic block of the contracts' vocabulary has its row in docs/soundness.md."""
    found = {name for file in ROOT.glob("*/*.acsl") for name in re.findall(r"\baxiomatic (\w+)", file.read_text())}
    rows = {name for line in (ROOT / "docs/soundness.md").read_text().splitlines() if line.startswith("|")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    missing = sorted(found - rows)
    ok(len(found) >= 15 and not missing, "docs/soundness.md: every axiomatic block of ACSL has a row",
       f"{len(found)} blocks", *missing)


def names():
    """`name` in a claim table is a Coq theorem, a C or ACSL name, a test, a file or a target."""
    theorems = set()
    for v in [*ROOT.glob("spec/**/*.v"), *ROOT.glob("proofs/**/*.v")]:
        theorems |= set(re.findall(
            r"^\s*(?:Theorem|Lemma|Corollary|Definition|Fixpoint|Example|Inductive|Record|Variant)"
            r"\s+([\w']+)", v.read_text(), re.M))
    sources = [p for d in ("include", "prg", "common", "ref", "opt", "cli", "equivalence-tests", "bench", "tls")
               for p in ROOT.glob(d + "/**/*") if p.suffix in
               (".c", ".h", ".cc", ".py", ".acsl", ".sh", ".mk", ".json", ".txt")]
    text = "\n".join(p.read_text(errors="replace") for p in sources)
    words = set(re.findall(r"[A-Za-z_][\w']*", text))
    targets = set(re.findall(r"^([\w-]+)::?(?!=)",
                             "\n".join(p.read_text() for p in
                                       MAKEFILES), re.M))
    for doc in [ROOT / "README.md", *(ROOT / "docs" / f for f in (
            "soundness.md", "paper-claims.md", "security.md"))]:
        if not doc.exists():
            ok(False, f"{doc.relative_to(ROOT)} exists")
            continue
        bad = []
        for line in doc.read_text().splitlines():
            if not line.startswith("|"):
                continue
            for name in re.findall(r"`([^`]+)`", line):
                if name.startswith("make "):
                    good = all(w in targets or "=" in w for w in shlex.split(name)[1:])
                elif re.fullmatch(r"[\w./-]+", name) and ("/" in name or "." in name):
                    good = (ROOT / name).exists() or name.startswith("build/")
                elif re.fullmatch(r"[A-Za-z_][\w']*", name):
                    good = name in theorems or name in words
                else:
                    continue
                if not good:
                    bad.append(f"{name}  in: {line}")
        ok(not bad, f"{doc.relative_to(ROOT)}: every name in its tables exists", *bad)
    ok("eval_puncture_all" in theorems and "no_such_theorem" not in theorems | words,
       "the look-up finds a known theorem and does not find an unknown one")


# column of README's table of systems: the package whose version it is
PACKAGES = {"gcc": "gcc", "clang": "clang", "OpenSSL": "openssl", "nginx": "nginx", "GnuTLS": "gnutls-bin",
            "Coq": "coq", "mathcomp": "libcoq-mathcomp-ssreflect", "Python": "python3"}
# what test-arch compiles with
CROSS = {"i386": "gcc-i686-linux-gnu", "arm64": "gcc-aarch64-linux-gnu", "s390x": "gcc-s390x-linux-gnu"}


def platforms(readme):
    """The table of systems names what the makefiles try, and what this system has if it is there."""
    makefiles = "\n".join(p.read_text() for p in MAKEFILES)
    suites = re.search(r"^TEST_ROOT_SUITES := (.*)", makefiles, re.M)[1].split()
    table = re.search(r"^(\| system .*\n)\|[-|]+\n((?:\|.*\n)+)", readme, re.M)
    head, *rows = [[cell.strip() for cell in line.strip("| ").split("|")]
                   for line in (table[1] + table[2]).splitlines()]
    rows = [dict(zip(head, row)) for row in rows]
    tried = re.findall(r"`make test-root SUITE=(\w+)`", "".join(r["tried by"] for r in rows))
    ok(sorted(tried) == sorted(suites), "the systems in README's table are those of test-roots",
       f"table: {tried}", f"Makefile: {suites}")
    ok(all("SUITE=" + r["system"].split(", ")[1] in r["tried by"]
           for r in rows if "SUITE" in r["tried by"]),
       "each row is tried by its own suite")
    arches = re.search(r"^EQ_ARCHES := (.*)", makefiles, re.M)[1].split()
    tried = [r["processor"] for r in rows if r["tried by"] == "`make test-arch`"]
    ok(sorted(tried) == sorted(arches), "the other processors in README's table are those of test-arch",
       f"table: {tried}", f"rules.mk: {arches}")
    osr = pathlib.Path("/etc/os-release")
    name = re.search(r"^VERSION_CODENAME=(\w+)", osr.read_text() if osr.exists() else "", re.M)
    here = [r for r in rows if name and r["system"].endswith(", " + name[1])]
    bad = []
    for row in here:
        packages = PACKAGES
        if row["processor"] in CROSS:
            packages = {"gcc": CROSS[row["processor"]]}
        elif run("dpkg --print-architecture").stdout.strip() != row["processor"]:
            continue
        for tool, package in packages.items():
            version = run(f"dpkg-query -W -f '${{Version}}' {package} 2>/dev/null").stdout
            found = re.match(r"(?:\d+:)?([\d.]+)", version)  # without the epoch
            if found and "~bpo" not in version and not (found[1] + ".").startswith(row[tool] + "."):
                bad.append(f"{tool}: the table says {row[tool]}, here is {version}")
    ok(not bad, "the table says which versions this system has" +
       ("" if here else " # SKIP it is not in the table"), *bad)


def main():
    readme = (ROOT / "README.md").read_text()
    with tempfile.TemporaryDirectory() as d:
        c_example(readme, pathlib.Path(d))
    with tempfile.TemporaryDirectory() as d:
        console_example(readme, pathlib.Path(d))
    links()
    named_links()
    tables_linked()
    pictures()
    measured_tables()
    figures()
    planted()
    axiomatic_blocks()
    names()
    platforms(readme)
    print(f"1..{count}")
    return failed != 0


sys.exit(main())
