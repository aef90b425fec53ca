#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws the documents' pictures: draw.py [FOLDER] writes puncture.svg, leaf.svg and rooms.svg (here).

`make pictures` calls it; docs/tests/test_docs.py compares what it draws with the committed files.  The
colours follow the reader's light or dark mode."""
import pathlib
import sys

STYLE = """<style>
.line { stroke: #5b616b; stroke-width: 1.5; fill: none; }
.thin { stroke: #5b616b; stroke-width: 1.2; fill: none; stroke-dasharray: 4 3; }
.free { stroke: #5b616b; stroke-width: 1.5; fill: #fff; }
.seed { stroke: #0072b2; stroke-width: 1.5; fill: #0072b2; }
.gone { stroke: #d55e00; stroke-width: 2.5; fill: none; }
.room { stroke: #5b616b; stroke-width: 1.2; fill: #f5f6f8; }
text { fill: #202124; font: 14px system-ui, "DejaVu Sans", sans-serif; }
.small { font-size: 12px; } .soft { fill: #5b616b; } .bold { font-weight: 600; }
.mono { font: 12px ui-monospace, "DejaVu Sans Mono", monospace; }
.mid { text-anchor: middle; }
@media (prefers-color-scheme: dark) {
  .line, .thin, .free, .room { stroke: #a3aab4; } .free { fill: #15181c; } .room { fill: #1c2026; }
  .seed { stroke: #56b4e9; fill: #56b4e9; } .gone { stroke: #ff8a4c; }
  text { fill: #e6e8ea; } .soft { fill: #a3aab4; } }
</style>
"""


def svg(width, height, title, parts):
    return ('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" height="%d" '
            'role="img">\n<title>%s</title>\n%s%s\n</svg>\n'
            % (width, height, width, height, title, STYLE, "\n".join(parts)))


def text(x, y, words, *classes):
    return '<text x="%g" y="%g" class="%s">%s</text>' % (x, y, " ".join(classes), words)


def line(x1, y1, x2, y2, kind="line"):
    return '<line x1="%g" y1="%g" x2="%g" y2="%g" class="%s"/>' % (x1, y1, x2, y2, kind)


# --- a puncture: the key before and after leaf 011 ------------------------------------------------

DEPTH, LEAF = 3, "011"


def cover(punctured, prefix=""):
    """The key as the model defines it: the maximal subtrees without a punctured leaf."""
    if not any(leaf.startswith(prefix) for leaf in punctured):
        return [prefix]
    if len(prefix) == DEPTH:
        return []
    return cover(punctured, prefix + "0") + cover(punctured, prefix + "1")


def tree(left, punctured):
    def place(p):
        half = 2 ** (DEPTH - len(p))
        return left + 42 * (int(p or "0", 2) * half + half / 2), 62 + 56 * len(p)

    parts, stored = [], cover(punctured)
    nodes = [format(i, "0%db" % n) if n else "" for n in range(DEPTH + 1) for i in range(2 ** n)]
    for p in nodes[1:]:
        parts.append(line(*place(p[:-1]), *place(p)))
    for p in nodes:
        x, y = place(p)
        parts.append('<circle cx="%g" cy="%g" r="11" class="%s"/>'
                     % (x, y, "seed" if p in stored else "free"))
        if len(p) == DEPTH:
            parts.append(text(x, y + 30, p, "mono", "mid"))
        if p in punctured:
            parts += [line(x - 9, y - 9, x + 9, y + 9, "gone"),
                      line(x - 9, y + 9, x + 9, y - 9, "gone")]
    return parts


def puncture():
    parts = [text(10, 24, "Before: one seed, eight values", "bold"),
             text(440, 24, "After puncturing 011: three seeds, seven values", "bold")]
    parts += tree(20, []) + tree(440, [LEAF])
    parts += [line(378, 146, 414, 146), '<path d="M406 140 L416 146 L406 152" class="line"/>']
    y = 306
    for x, kind, words in ((20, "seed", "seed that the key stores"),
                           (240, "free", "not stored; computed from a seed above it, if there is one")):
        parts += ['<circle cx="%d" cy="%d" r="8" class="%s"/>' % (x + 8, y - 5, kind),
                  text(x + 24, y, words, "small")]
    parts += [line(642, y - 12, 656, y + 2, "gone"), line(642, y + 2, 656, y - 12, "gone"),
              text(664, y, "punctured", "small")]
    return svg(840, 322, "A puncture: the key stores the root; after leaf 011 was punctured it "
               "stores the three subtrees beside the path to it", parts)


# --- the way of one leaf through opt ---------------------------------------------------------------

STEPS = [  # function, its file, what it does, its proof or test: docs/one-puncture.md has the links
    ("pprf_eval_punct", "opt/core.c", "checks the arguments, and that the key belongs to this process", "tested"),
    ("opt_packed_find", "opt/packed/index.c",
     "finds the node that covers the leaf: its page by the index, then its tile",
     "proven: Frama-C"),
    ("opt_walk", "opt/walk.c", "walks down to the leaf and keeps the siblings beside the path", "proven: Frama-C"),
    ("prg_expand", "prg/choice.c", "at each level: derives both children's seeds by SHA3-256",
     "proven: Coq (the Keccak)"),
    ("opt_packed_puncture", "opt/packed/fit.c", "replaces the node by the siblings in the page, and marks the leaf",
     "proven: Frama-C"),
    ("prg_wipe", "prg/wipe.c", "overwrites the stack and the registers", "tested in the binary"),
]


def leaf():
    parts, high = [], 58
    for i, (function, file, what, proof) in enumerate(STEPS):
        y = 10 + i * (high + 16)
        parts += ['<rect x="10" y="%d" width="756" height="%d" rx="8" class="room"/>' % (y, high),
                  text(26, y + 24, function, "bold"), text(210, y + 24, file, "small", "soft"),
                  text(26, y + 44, what, "small"), text(572, y + 34, proof, "small", "soft")]
        if i:
            parts += [line(388, y - 16, 388, y - 3),
                      '<path d="M383 %d L388 %d L393 %d" class="line"/>' % (y - 8, y - 2, y - 8)]
    return svg(776, 10 + len(STEPS) * (high + 16), "The way of one leaf through opt", parts)


# --- the rooms: each includes what lies below it ----------------------------------------------------

ROOMS = [  # rows from the top; a room: its folders, its content, where its box begins and ends
    [("bindings/", "Python, Go, Rust", 10, 190), ("cli/", "the program pprf", 200, 360),
     ("vault/", "a key on disk", 370, 530), ("tls/  valkey/", "tickets; the fleet's module", 540, 766)],
    [("include/pprf.h", "the API, which ref and opt both implement", 10, 766)],
    [("ref/", "the reference: an array of nodes", 10, 380),
     ("opt/", "the implementation that ships: two stores", 390, 766)],
    [("prg/", "the PRG; wiping of stack and registers; detection of forks", 10, 766)],
]
JUDGES = [("spec/  proofs/", "definitions in Coq; proofs about the model, ref and opt"),
          ("equivalence-tests/", "compare ref, opt and the model; search for secrets; failures; hostile bytes"),
          ("bench/", "measures time and memory, also of other stores")]


def rooms():
    def box(x, y, to, name, what):
        return ['<rect x="%d" y="%d" width="%d" height="52" rx="8" class="room"/>' % (x, y, to - x),
                text(x + 14, y + 22, name, "bold"), text(x + 14, y + 41, what, "small")]

    parts, y = [], 10
    for row in ROOMS:
        for name, what, x, to in row:
            parts += box(x, y, to, name, what)
        y += 76
        parts += [line(388, y - 24, 388, y - 3),
                  '<path d="M383 %d L388 %d L393 %d" class="line"/>' % (y - 9, y - 3, y - 9)]
    parts = parts[:-2]
    parts.append(text(10, y + 8, "Checks, not part of any product", "small", "soft"))
    for i, (name, what) in enumerate(JUDGES):
        parts += box(10, y + 18 + 62 * i, 766, name, what)
    return svg(776, y + 18 + 62 * len(JUDGES), "The rooms of libpprf: each includes only what lies below it", parts)


PICTURES = {"puncture.svg": puncture, "leaf.svg": leaf, "rooms.svg": rooms}


def main():
    folder = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).parent)
    for name, draw in PICTURES.items():
        (folder / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
