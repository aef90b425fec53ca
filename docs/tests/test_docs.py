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

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.chdir(ROOT)
sys.path.insert(0, str(ROOT / "tools"))
import planting  # noqa: E402
import tap  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
FOLDERS = [d for d in sorted(ROOT.glob("[a-z]*/")) if d.name != "build"]
MAKEFILES = [ROOT / "Makefile", *(f for d in FOLDERS for f in d.glob("**/*.mk"))]
DOCS = sorted(
    p for p in [*ROOT.glob("*.md"), *(f for d in FOLDERS for f in d.glob("**/*.md"))] if BUILD not in p.parents)
SOUNDNESS = [ROOT / "docs/soundness.md", *sorted(ROOT.glob("docs/soundness/*.md"))]
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


def c_example(tmp):
    """The README's C program, with the library that `make lib` builds, as the README says."""
    r = run("docs/tests/first.sh 2>/dev/null", env=dict(os.environ, HOME=str(tmp), DEPS="skip"))
    want = ["first use: ", "second use: ", "20 seeds left"]
    got = r.stdout.splitlines()
    ok(r.returncode == 0 and len(got) == 3 and all(g.startswith(w) for g, w in zip(got, want))
       and got[0] != got[1], "README: the C example builds and runs", r.stdout)


def console_example(tmp, page):
    """Each `$ command` on the page prints the text below it."""
    env = dict(os.environ, PATH=f"{BUILD}:{os.environ['PATH']}")
    found = blocks((ROOT / page).read_text(), "console")
    ok(found != [], f"{page} has commands")
    for block in found:
        for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
            cmd, _, want = part.partition("\n")
            r = run(cmd, cwd=tmp, env=env)
            # memory figures are those for amd64's page size and allocator; whether memory is locked
            # depends on a limit
            number = r"(\d+)" if platform.machine() == "x86_64" else r"()\d+"
            mask = lambda s: re.sub(rf"(memory\D*){number}.*", r"\1\2", s)
            ok(mask(r.stdout) == mask(want), f"{page}: $ {cmd}", "printed:", *r.stdout.splitlines())


def links():
    for doc in DOCS:
        bad = [t for t in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", doc.read_text())
               if not t.startswith(("http:", "https:", "mailto:")) and not (doc.parent / t).exists()]
        ok(not bad, f"{doc.relative_to(ROOT)}: links lead to files", *bad)


LINK = re.compile(r"\[`([^`]+)`\]\(([^)#\s]+)[^)]*\)")
DEFINED = {".v": r"^\s*(?:Theorem|Lemma|Corollary|Definition|Fixpoint|Example|Inductive|Record|Variant)"
                 r"\s+{}\b", ".mk": r"^{}:", "Makefile": r"^{}:"}


def defines(path, name):
    """Whether the file has this name or, if it is a folder or a text, contains something of this
    name."""
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
    r = run("docs/pages/links.py --check")
    ok(r.returncode == 0, "the names in the tables are linked (else: make links)", r.stdout)
    sys.path.insert(0, str(ROOT / "docs/pages"))
    import links
    found = links.Names()
    ok(found.file_of("pprf_eval") and not found.file_of("free") and not found.file_of("encrypt"),
       "a word that other libraries have too is no link to ours")
    ok(found.file_of("opt_keccak_avx2_x4") == "prg/keccak.c", "a function with attributes is where it is defined")
    bad = [f"{doc.name}: {name} in {path}" for doc in DOCS for name, path in LINK.findall(doc.read_text())
           if found.ambiguous(name) and path.endswith((".v", ".h"))]
    ok(found.ambiguous("cover_size") and found.ambiguous("uint64_t") and not found.ambiguous("cover_minimal")
       and not bad, "no link for a C type, nor to Coq for a word of the contracts", *bad)
    # the part of a line that a reader sees: no link targets
    seen = lambda line: re.sub(r"\]\([^)]*\)|[|`\[]", " ", line).split()
    readme = (ROOT / "README.md").read_text()
    rows = readme.split("| claim | by | details |\n")[1].split("\n\n")[0].splitlines()[1:]
    ok(len(rows) == 8, "README: eight claims", f"{len(rows)}")
    bad = [row for row in rows if len(seen(row)) > 25 or "](docs/s" not in row.split("|")[3]]
    ok(not bad, "README: each claim has at most 25 words and leads to its page", *bad)
    words = len(re.sub(r"```.*?```", "", readme, flags=re.S).split())
    ok(words <= 900, "README: at most 900 words outside of code", f"{words}")
    bad = [f"{doc.name}: {cell}" for doc in SOUNDNESS for line in doc.read_text().splitlines()
           if line.startswith("|") for cell in line.split("|") if len(cell) > 200]
    ok(not bad, "docs/soundness: no cell of a table over 200 characters", *bad)
    claims = [item for doc in SOUNDNESS[1:] for item in re.findall(
        r"^- .*\n(?:  .*\n)*", doc.read_text(), re.M) if "](" in item]
    ok(len(claims) > 100, "docs/soundness: claims with a link to what carries them", f"{len(claims)}")
    two_hops = {target for row in rows for target in re.findall(r"\]\(([^)#]+)", row)}
    bad = [page for page in sorted(two_hops) if not re.search(
        r"\]\((?:\.\./)*(?:proofs|equivalence-tests|tls|opt|ref)/", (ROOT / page).read_text())]
    ok(len(two_hops) >= 6 and not bad, "README: each claim's page leads to proofs or tests", *bad)
    listed = set(re.findall(r"\]\((soundness/[^)#]+)", SOUNDNESS[0].read_text()))
    ok(listed == {f"soundness/{doc.name}" for doc in SOUNDNESS[1:]}, "docs/soundness.md lists its pages",
       *sorted(listed))


def pictures():
    """The committed pictures are what their scripts draw, and name things that exist."""
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
       "peers.svg is drawn from peers.json (bench/report/peers.py draw)")
    cases = json.loads(measured)["cases"]
    readme = re.sub(r"\s+", " ", (ROOT / "README.md").read_text())
    said = {"in order": r"in order \((\d+) bytes a seed", "array in order": r"sorted array (\d+)\)",
            "set up": r"set up in (\d+) ns", "least": r"takes (\d+) to \d+ bytes for each seed",
            "most": r"takes \d+ to (\d+) bytes for each seed",
            "faster": r"array is faster in (\w+) of the six workloads"}
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
    """The tables of stores and suites match the run in docs/measured, missed targets included."""
    r = run("bench/report/tables.py check")
    ok(r.returncode == 0, "the tables of stores and suites are those measured (bench/report/tables.py write)",
       r.stdout)


def figures():
    """A factor lost in the theorem is accompanied by its size in bits."""
    text = (ROOT / "docs/security.md").read_text()
    pairs = re.findall(r"`([^`]*\*[^`]*)`(?: \||,) (\d+\.\d)", text)
    bad = [f"{factor}: {bits}" for factor, bits in pairs if abs(math.log2(
        eval(factor, {"__builtins__": {}, "math": math, "d": 22, "q": 2**20})) - float(bits)) > 0.05]
    ok(len(pairs) == 11 and not bad, "docs/security.md: bits lost", f"{len(pairs)} figures", *bad)


def planted():
    """The number of planted bugs that a document states is that of the lists, without equivalent
    changes."""
    counts = {lists[0]: sum(not bug.equal for name in lists for bug in planting.load(ROOT / name))
              for lists in (("equivalence-tests/gates/planted.txt",), ("ref/wp/planted.txt", "opt/wp/planted.txt"))}
    bad, found = [], 0
    for doc in (ROOT / "README.md", *SOUNDNESS):
        for item in re.findall(r"^(?:\||- ).*\n(?:  .*\n)*", doc.read_text(), re.M):
            line = " ".join(item.split())
            for name, count in counts.items():
                numbers = re.findall(
                    r"(?:notice|finds|:|\() ?(\d+)(?: planted bugs| bugs planted|\), \[`opt/tests/planted)", line)
                if f"`{name}`" in line and numbers:
                    found += len(numbers)
                    bad += [f"{doc.name}: {n} bugs, the lists have {count}: {line}" for n in numbers if int(n) != count]
    ok(found == 3 and not bad, "README and docs/soundness: how many planted bugs there are", f"{found} places", *bad)
    heads = re.split(r"^# ---- (.*)\n", (ROOT / "equivalence-tests/gates/planted.txt").read_text(), flags=re.M)
    sections = {head: sum(line[0] not in "#&~" for line in lines.splitlines())
                for head, lines in zip(heads[1::2], heads[2::2])}
    packed = sum("packed" in bug.judge for bug in planting.load(ROOT / "opt/tests/planted.txt"))
    for name, pattern, count in (
            ("suites.md", r"notice (\d+) bugs planted in this code",
             sections["the suites with a salt"] + sections["keys of 32-byte seeds"]),
            ("sparse-store.md", r"(\d+) planted bugs in \[`opt/tests/planted", packed)):
        said = re.findall(pattern, " ".join((ROOT / "docs" / name).read_text().split()))
        ok(said == [str(count)], f"docs/{name}: how many bugs are planted in what it is about", f"{said}, not {count}")


def new_functions(changes, symbols):
    """Errors in CHANGELOG.md's number of new functions, given the libraries' lists."""
    section = re.search(r"^## Unreleased\n(.*?)(?=^## |\Z)", changes, re.M | re.S)
    if not section:
        return []
    said = re.search(r"This will be version ([\d.]+)\..*?(\d+) new functions "
                     r"\((\d+) in libpprf, (\d+) in libpprf_tls, (\d+) in libpprf_vault\)", section[1], re.S)
    if not said:
        return ["the section Unreleased does not say it"]
    true = [len(re.findall(rf"^pprf_\w+ {re.escape(said[1])}$", lines, re.M)) for lines in symbols]
    right = [*map(int, said.groups()[1:])] == [sum(true), *true]
    return [] if right else [f"{said[0]}, the lists have {true}"]


def changelog():
    """CHANGELOG.md states how many functions the next version adds."""
    changes = (ROOT / "CHANGELOG.md").read_text()
    symbols = [(ROOT / f"packaging/release/{name}.symbols").read_text()
               for name in ("libpprf", "libpprf_tls", "libpprf_vault")]
    bad = new_functions(changes, symbols)
    ok(not bad, "CHANGELOG.md: how many functions are new", *bad)
    ok(new_functions("## Unreleased\nThis will be version 1.1.0. 3 new functions (1 in libpprf, 2 in libpprf_tls, "
                     "0 in libpprf_vault)", ["pprf_a 1.1.0\npprf_b 1.1.0\n", "pprf_c 1.1.0\n", ""]),
       "a wrong number of new functions is noticed")


def axiomatic_blocks():
    """Each axiomatic block of the contracts' vocabulary has a row in docs/soundness.md."""
    found = {name for folder in FOLDERS for file in folder.glob("**/*.acsl")
             for name in re.findall(r"\baxiomatic (\w+)", file.read_text())}
    rows = {name for doc in SOUNDNESS for line in doc.read_text().splitlines() if line.startswith("|")
            for name in re.findall(r"`(\w+)`", line.split("|")[1])}
    missing = sorted(found - rows)
    ok(len(found) >= 15 and not missing, "docs/soundness: every axiomatic block of ACSL has a row",
       f"{len(found)} blocks", *missing)


def names():
    """`name` in a claim table is a Coq theorem, a C or ACSL name, a test, a file or a target."""
    theorems = set()
    for v in [*ROOT.glob("spec/**/*.v"), *ROOT.glob("proofs/**/*.v")]:
        theorems |= set(re.findall(
            r"^\s*(?:Theorem|Lemma|Corollary|Definition|Fixpoint|Example|Inductive|Record|Variant)"
            r"\s+([\w']+)", v.read_text(), re.M))
    sources = [p for d in ("include", "prg", "ref", "opt", "cli", "equivalence-tests", "bench", "tls")
               for p in ROOT.glob(d + "/**/*") if p.suffix in
               (".c", ".h", ".cc", ".py", ".acsl", ".sh", ".mk", ".json", ".txt")]
    text = "\n".join(p.read_text(errors="replace") for p in sources)
    words = set(re.findall(r"[A-Za-z_][\w']*", text))
    targets = set(re.findall(r"^([\w-]+)::?(?!=)",
                             "\n".join(p.read_text() for p in
                                       MAKEFILES), re.M))
    for doc in [ROOT / "README.md", *SOUNDNESS, *(ROOT / "docs" / f for f in (
            "architecture.md", "paper-claims.md", "platforms.md", "security.md"))]:
        if not doc.exists():
            ok(False, f"{doc.relative_to(ROOT)} exists")
            continue
        bad = []
        for line in doc.read_text().splitlines():
            if not line.startswith("|") and doc not in SOUNDNESS:
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
        ok(not bad, f"{doc.relative_to(ROOT)}: every name in its tables, or of a page of soundness, exists", *bad)
    ok("eval_puncture_all" in theorems and "no_such_theorem" not in theorems | words,
       "the look-up finds a known theorem and does not find an unknown one")


# the column in docs/platforms.md's table of systems: the package whose version it is
PACKAGES = {"gcc": "gcc", "clang": "clang", "OpenSSL": "openssl", "nginx": "nginx", "GnuTLS": "gnutls-bin",
            "Coq": "coq", "mathcomp": "libcoq-mathcomp-ssreflect", "Python": "python3"}
# the compilers that test-arch uses
CROSS = {"i386": "gcc-i686-linux-gnu", "arm64": "gcc-aarch64-linux-gnu", "s390x": "gcc-s390x-linux-gnu"}


def parameters():
    """Public headers: where a parameter is described, all are, as Doxygen wants it for `make docs`."""
    declaration = r"/\*\*((?:(?!\*/).)*)\*/\s*PPRF_API [^;(]*?(\w+)\(((?:[^()]|\([^()]*\))*)\);"
    bad, found = [], 0
    for header in (*ROOT.glob("include/*.h"), *ROOT.glob("tls/*.h")):
        for comment, name, given in re.findall(declaration, header.read_text(), re.S):
            said = set(re.findall(r"@param(?:\[[a-z,]*\])? +(\S+)", comment))
            has = {(re.search(r"\(\*(\w+)\)", part) or re.search(r"(\w+)(?:\[[^]]*\])*\s*$", part))[1]
                   for part in re.split(r",(?![^()]*\))", given)} - {"void"}
            found += bool(said)
            bad += [f"{header.name}: {name}: {word}" for word in sorted(said ^ has) if said]
    ok(found > 30 and not bad, "public headers: each parameter is described, none that is not there", f"{found}", *bad)


def manual_pages():
    """Section 3: each macro, constant and member of a structure of a header has its text in the header's page."""
    bad, found = [], 0
    for header in ("include/pprf.h", "redact/pprf_redact.h", "vault/pprf_vault.h"):
        page = run(f"{sys.executable} include/man.py {header}").stdout
        code = re.sub(r"/\*.*?\*/", "", (ROOT / header).read_text(), flags=re.S)
        names = [(page, rf"(?:#define )?{name}") for name in re.findall(r"^#define (PPRF_\w+)", code, re.M)
                 if not name.endswith("_H") and name != "PPRF_API"]
        names += [(page, name) for body in re.findall(r"\benum \{(.*?)\}", code, re.S)
                  for name in re.findall(r"(\w+)\s*=", body)]
        for name, body in re.findall(r"\bstruct (\w+) \{(.*?)\n\}", code, re.S):
            part = "".join(re.findall(rf"^\.SS struct {name}\n(.*?)(?=^\.S)", page, re.S | re.M))
            names += [(part, rf".*\b{member[0] or member[1]}") for member in
                      re.findall(r"(?:\(\*(\w+)\)[^;]*|(\w+)(?:\[\w*\])?);", body)]
        found += len(names)
        bad += [f"{header}: {name}" for text, name in names if not re.search(rf"^\.B {name}\b.*\n[^.\n]", text, re.M)]
    ok(found > 100 and not bad, "manual pages of section 3: options, constants and macros", f"{found}", *bad)
    with tempfile.TemporaryDirectory() as d:
        header = pathlib.Path(d, "pprf.h")
        header.write_text((ROOT / "include/pprf.h").read_text().replace("/**< 0 or PPRF_SHARED */", ""))
        said = run(f"{sys.executable} include/man.py {header}")
        ok(said.returncode == 1 and "'unsigned flags' without a comment" in said.stdout,
           "manual pages of section 3: a member without a comment is an error", said.stdout)


def pages():
    """`make docs` needs Sphinx, which the other tests lack: each document has its place in the contents."""
    sys.path.insert(0, str(ROOT / "docs/pages"))
    import build
    known = set(build.documents())
    contents = (build.HERE / "contents.txt").read_text()
    listed = set(map(pathlib.Path, re.findall(r"^(\S+/[\w-]+|[A-Z]+)$", contents, re.M)))
    placed = {f.with_suffix("") for path in known if path.name != "README.md" or path.parent != pathlib.Path(".")
              for f in build.below(path, known)}
    lost = {f.with_suffix("") for f in known} - listed - placed - {pathlib.Path("README")}
    ok(len(known) > 40 and not lost, "docs/pages/contents.txt: each document has its place", *map(str, sorted(lost)))


def platforms():
    """The table of systems names what the makefiles test, and this system's versions if it has a
    row."""
    makefiles = "\n".join(p.read_text() for p in MAKEFILES)
    suites = re.search(r"^TEST_ROOT_SUITES := (.*)", makefiles, re.M)[1].split()
    page = (ROOT / "docs/platforms.md").read_text()
    table = re.search(r"^(\| system .*\n)\|[-|]+\n((?:\|.*\n)+)", page, re.M)
    head, *rows = [[cell.strip() for cell in line.strip("| ").split("|")]
                   for line in (table[1] + table[2]).splitlines()]
    rows = [dict(zip(head, row)) for row in rows]
    tried = re.findall(r"`make test-root SUITE=(\w+)`", "".join(r["tried by"] for r in rows))
    ok(sorted(tried) == sorted(suites), "the systems in docs/platforms.md are those of test-roots",
       f"table: {tried}", f"Makefile: {suites}")
    ok(all("SUITE=" + r["system"].split(", ")[1] in r["tried by"]
           for r in rows if "SUITE" in r["tried by"]),
       "each row is tried by its own suite")
    arches = re.search(r"^EQ_ARCHES := (.*)", makefiles, re.M)[1].split()
    tried = [r["processor"] for r in rows if r["tried by"] == "`make test-arch`"]
    ok(sorted(tried) == sorted(arches), "the other processors in docs/platforms.md are those of test-arch",
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
    with tempfile.TemporaryDirectory() as d:
        c_example(pathlib.Path(d))
    with tempfile.TemporaryDirectory(dir=tap.place_of_keys()) as d:
        console_example(pathlib.Path(d), "docs/command-line.md")
        console_example(pathlib.Path(d), "docs/redact.md")
    links()
    named_links()
    tables_linked()
    pictures()
    measured_tables()
    figures()
    planted()
    changelog()
    axiomatic_blocks()
    names()
    parameters()
    manual_pages()
    pages()
    platforms()
    print(f"1..{count}")
    return failed != 0


sys.exit(main())
