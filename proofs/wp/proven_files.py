# SPDX-License-Identifier: Apache-2.0
"""Which C files are proven, where their facts and lemmas are, and how Frama-C reads them. prove.py
proves them, and assumptions.py lists what remains assumed."""
import json, os, pathlib, re, subprocess, sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WP = os.path.dirname(os.path.abspath(__file__))
FILES = ["ref/wp/ggm.c", "ref/wp/codec.c", "ref/node.c", "ref/core.c", "ref/codec.c", "opt/slots/wp/bitmap.c",
         "opt/slots/wp/slots.c", "opt/packed/wp/tiles.c", "opt/slots/bitmap.c", "opt/slots/store.c",
         "opt/slots/levels.c", "opt/walk.c", "opt/packed/tiles.c", "opt/packed/wp/index.c",
         "opt/packed/sets/wp/range.c", "opt/packed/wp/core.c", "opt/packed/sets/wp/set.c", "opt/packed/index.c",
         "opt/packed/draft/draft.c", "opt/packed/draft/rewrite.c", "opt/packed/fit.c", "opt/packed/draft/splice.c",
         "opt/packed/sets/rewrite.c", "opt/packed/sets/range.c", "opt/packed/core.c", "opt/packed/core_range.c",
         "opt/core.c", "opt/packed/load.c", "opt/packed/read.c", "opt/packed/draft/rewrite_set.c",
         "opt/packed/sets/set.c", "opt/packed/sets/runs.c", "opt/packed/sets/splice_runs.c", "opt/packed/sets/batch.c"]
FOLDERS = ["ref", "opt"]
SOURCES = ["include", "prg", *FOLDERS]  # everything that the proofs read
INCLUDES = ["-I" + folder for folder in SOURCES]
LEMMAS = "(facts)"
# Consequences of the facts are proven from them, in node.c and store.c; the facts themselves are
# proven from the definitions, in wp/: there, unfolding a recursive definition would keep the
# provers from using the facts.
FROM_FACTS = ["inv_same", "covered_same"]
# opt's vocabularies with facts, each above its lemmas, and the files that prove these facts.
OPT_FACTS = {"opt/slots/wp/bitmap.c": "opt/slots/bitmap.acsl", "opt/packed/wp/tiles.c": "opt/packed/tiles.acsl",
             "opt/packed/wp/index.c": "opt/packed/index.acsl"}


def run(cmd, **kw):
    return subprocess.run(cmd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, **kw)


def expectation(folder):
    path = os.path.join(ROOT, folder, "wp", "expected.json")
    found = json.load(open(path)) if os.path.exists(path) else {}
    return {"goals": {}, "open": {}, "outside": {}, "split": [], "hints": {}, "smoke": {}, **found}


def has_lemmas(file):
    """Whether a file's lemmas, or some of them, are proven in that file."""
    return (file in ("ref/node.c", "opt/slots/store.c", "opt/packed/index.c", "opt/packed/draft/draft.c",
                    "opt/packed/draft/splice.c", "opt/packed/sets/range.c", "opt/packed/draft/rewrite_set.c",
                    "opt/packed/sets/set.c", "opt/packed/sets/runs.c", "opt/packed/sets/splice_runs.c")
            or "/wp/" in file and file not in ("opt/slots/wp/slots.c", "opt/packed/sets/wp/range.c",
                                               "opt/packed/wp/core.c", "opt/packed/sets/wp/set.c"))


def lemmas_of(root, file):
    """Which of the lemmas that the file sees are proven there: it has a function of that name."""
    if file in OPT_FACTS:
        return opt_facts(root, file).__contains__
    return lambda name: "/wp/" not in file or name not in FROM_FACTS


def cpp_arguments(file):
    """The arguments for Frama-C's preprocessor. -CC keeps annotations in macros."""
    return " ".join(["-CC", *INCLUDES]) + (" -DGGM_DEFINITIONS" if "/wp/" in file else "")


def opt_facts(root, file):
    """The facts of opt that the file proves, and the lemmas about the definitions that prove
    them."""
    text = open(os.path.join(root, OPT_FACTS[file])).read()
    for path in map(str, pathlib.Path(root, "opt").rglob("*.acsl")):
        if os.path.relpath(path, root) not in OPT_FACTS.values() and "FACT " in open(path).read():
            sys.exit(f"prove: {path}: facts stand in {' and '.join(OPT_FACTS.values())}, where they are proven")
    definitions = re.search(r"#ifdef GGM_DEFINITIONS\n(.*?)#else", text, re.S)[1]
    return re.findall(r"\blemma (\w+)", definitions) + re.findall(r"\bFACT (\w+)", text)
