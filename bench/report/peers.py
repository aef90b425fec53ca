#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The README's figure: time and size of opt and its peers, from one run of the benchmarks.

Usage: peers.py measured BENCH.json   writes docs/pictures/peers.json from a run: machine, medians,
                                      least and greatest values
       peers.py draw [FOLDER]         draws peers.svg there (docs/pictures) from peers.json
`make peers` does both."""
import hashlib
import json
import os
import re
import statistics
import sys

import plots
from results import IMPLS as ALL, Bench

PICTURES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "pictures")
MEASURED = os.path.join(PICTURES, "peers.json")
IMPLS = [i for i in ALL if i != "slots"]  # the figure shows the default store
CASES = [("Punct/%s/worst/d:16", "puncture, worst case"),
         ("Punct/%s/random/d:16", "puncture, random order"),
         ("Punct/%s/normal/d:16", "puncture, σ = leaves/16"),
         ("EvalPunct/%s/tls/d:16", "use a TLS ticket once"),
         ("Range/%s/ranges/d:16", "puncture a range"),
         ("Punct/%s/best/d:15", "puncture in order"),
         ("Eval/%s/random/d:15", "evaluate, random key"),
         ("Setup/%s/fresh/d:16", "set up and free a key")]
FIELDS = {"cpu_time": "time of one operation: less is better",
          "bytes_per_node": "bytes for each stored seed: less is better"}


def measured(path):
    bench = Bench(path)
    out = {"cpu": bench.context.get("cpu_model"), "date": str(bench.context.get("date"))[:10],
           "compiler": bench.context.get("compiler"), "cases": {}}
    for name, _ in CASES:
        case = out["cases"][name % "*"] = {}
        for impl in IMPLS:
            for field in FIELDS:
                v = bench.values("BM_" + name % impl, field)
                if v:
                    case.setdefault(impl, {})[field] = [float("%.4g" % x) for x in (
                        statistics.median(v), min(v), max(v))]
                    out["repetitions"] = len(v)
        if "opt" not in case:
            sys.exit("peers: %s has no %s" % (path, name % "opt"))
    with open(MEASURED, "w", encoding="utf-8") as f:
        json.dump(out, f, indent=1)
        f.write("\n")


def digest():
    with open(MEASURED, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def draw(folder):
    with open(MEASURED, encoding="utf-8") as f:
        data = json.load(f)
    fig, panels = plots.plt.subplots(1, 2, figsize=(9.2, 4.1), sharey=True,
                                     gridspec_kw={"wspace": .05})
    for axes, (field, label) in zip(panels, FIELDS.items()):
        for impl in IMPLS:
            points = [(y, data["cases"][name % "*"].get(impl, {}).get(field))
                      for y, (name, _) in enumerate(CASES)]
            points = [(y, v) for y, v in points if v]
            axes.plot([v[0] for _, v in points], [y for y, _ in points],
                      **plots.style(impl, "none"))
            for y, v in points:
                axes.plot(v[1:], [y, y], color=plots.COLOUR[impl], linewidth=1.2, zorder=2)
        axes.set_xlabel(label)
        axes.grid(axis="y", alpha=0)
        (plots.byte_axis if field != "cpu_time" else plots.time_axis)(axes.xaxis)
    panels[0].set_yticks(range(len(CASES)), [words for _, words in CASES])
    panels[0].set_ylim(len(CASES) - .5, -.5)
    panels[1].axvline(16, color=plots.INK, linewidth=1, linestyle="--", label="16 B, the seed itself")
    panels[1].tick_params(axis="y", length=0)
    fig.legend(*panels[1].get_legend_handles_labels(), loc="lower center", ncol=7,
               bbox_to_anchor=(.45, .9))
    fig.text(.45, -.06, "%s, %s. Points: medians of %d repetitions; bars: the least and the "
             "greatest. 2$^{16}$ leaves, 2$^{15}$ in order and evaluated." % (
                 data["cpu"], data["date"], data["repetitions"]), ha="center", fontsize=8.5)
    path = os.path.join(folder, "peers.svg")
    fig.savefig(path, bbox_inches="tight", metadata={"Date": None})
    with open(path, encoding="utf-8") as f:
        svg = f.read()
    svg = re.sub(r"<metadata>.*?</metadata>\s*", "", svg, flags=re.S).replace(
        plots.INK, "currentColor")
    at = re.search(r"<svg [^>]*>", svg).end()
    svg = svg[:at] + ("\n<desc>peers.json %s</desc>" % digest()
                      + "\n<style>svg { color: #202124; } @media (prefers-color-scheme: dark) "
                      "{ svg { color: #e6e8ea; } }</style>") + svg[at:]
    with open(path, "w", encoding="utf-8") as f:
        f.write(re.sub(r"[ \t]+$", "", svg, flags=re.M))


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "measured":
        measured(sys.argv[2])
    elif len(sys.argv) in (2, 3) and sys.argv[1] == "draw":
        draw(sys.argv[2] if len(sys.argv) == 3 else PICTURES)
    else:
        sys.exit(__doc__)


if __name__ == "__main__":
    main()
