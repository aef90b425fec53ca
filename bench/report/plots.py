# SPDX-License-Identifier: Apache-2.0
"""Plots with matplotlib: one panel per file, small enough to read on a phone. The colours are those
of Okabe and Ito, which colour-blind readers can tell apart; each line also has its own marker.
Text takes the page's colour."""
import os
import re

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

INK = "#202124"  # becomes the text colour of the page
OKABE_ITO = {"orange": "#e69f00", "sky": "#56b4e9", "green": "#009e73", "blue": "#0072b2",
             "vermillion": "#d55e00", "purple": "#cc79a7", "yellow": "#f0e442", "grey": "#999999",
             "black": INK}
COLOUR = {"list": OKABE_ITO["black"], "list28": OKABE_ITO["purple"], "bst": OKABE_ITO["vermillion"],
          "array": OKABE_ITO["orange"], "ref": OKABE_ITO["green"], "opt": OKABE_ITO["blue"],
          "slots": OKABE_ITO["sky"], "paper": OKABE_ITO["grey"]}
MARKER = {"list": "s", "list28": "D", "bst": "^", "array": "v", "ref": "o", "opt": "*",
          "slots": "h", "paper": "X"}
# bench/stores.c's stores and the suites have separate panels: colour and marker
STORE_LOOK = {"opt": ("blue", "*"), "slots": ("sky", "h"), "btree": ("vermillion", "^"),
              "hash": ("orange", "s"), "openmls": ("purple", "X")}
SUITE_LOOK = {"sha3-256": ("vermillion", "o"), "sha3-256-salted": ("orange", "D"), "aes-128": ("blue", "*"),
              "mls-sha256": ("green", "s")}

plt.rcParams.update({
    "font.size": 10, "font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "pprf",
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": .7,
    "axes.grid": True, "grid.color": INK, "grid.alpha": .13, "grid.linewidth": .6,
    "axes.titlesize": 10.5, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "legend.frameon": False, "legend.fontsize": 9, "lines.linewidth": 1.5, "lines.markersize": 5,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
})


def style(name, line="-", **extra):
    look = {"color": COLOUR[name], "marker": MARKER[name], "linestyle": line, "label": name,
            "markersize": 10 if name == "opt" else 5.5, "zorder": 9 if name == "opt" else 4}
    look.update(extra)
    return look


def drawn(looks, rows, field):
    """(name, its colour and marker, its rows) for each name in the rows; a name without a look is
    an error."""
    for name in dict.fromkeys(r[field] for r in rows):
        if name not in looks:
            raise ValueError("plots.py has no colour and marker for the %s %s" % (field, name))
        colour, marker = looks[name]
        yield name, {"color": OKABE_ITO[colour], "marker": marker, "label": name}, [
            r for r in rows if r[field] == name]


def panel(title, x, y, height=3.2, width=4.7):
    """A plot with labelled axes: what they show, and the unit."""
    fig, axes = plt.subplots(figsize=(width, height))
    axes.set_title(title)
    axes.set_xlabel(x)
    axes.set_ylabel(y)
    return fig, axes


def short(v):
    for mark, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if v >= scale:
            return "%g %s" % (v / scale, mark)
    return "%g " % v


def log_axis(axis, text=lambda v: short(v).strip()):
    """A log axis with plain numbers; narrow ranges also get ticks at 2 and 5."""
    axis.axes.set(**{axis.axis_name + "scale": "log"})
    low, high = axis.get_view_interval()
    axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high < 50 * low else
                                      (1, 3) if high < 2000 * low else (1,)))
    axis.set_major_formatter(FuncFormatter(lambda v, _: text(v)))
    axis.set_minor_formatter(NullFormatter())


def byte_axis(axis):
    log_axis(axis, lambda v: short(v) + "B")


def time_axis(axis):
    log_axis(axis, lambda v: "%g ms" % (v / 1e6) if v >= 1e6 else "%g µs" % (v / 1e3)
             if v >= 1e3 else "%g ns" % v)


def legend_below(axes, columns=3):
    axes.legend(loc="upper center", bbox_to_anchor=(.45, -.2), ncol=columns,
                columnspacing=1.2, handletextpad=.5)


class Plots:
    """Writes each panel as SVG and PNG, and returns the SVG for the page."""

    def __init__(self, out):
        self.out = out

    def save(self, fig, name, alt):
        for axes in fig.axes:
            if not (axes.get_xlabel() and axes.get_ylabel() and axes.get_title(loc="left")):
                raise ValueError("%s: an axis without a name" % name)
        path = os.path.join(self.out, name)
        fig.savefig(path + ".svg", bbox_inches="tight", metadata={"Date": None})
        fig.savefig(path + ".png", bbox_inches="tight", dpi=160, facecolor="white")
        plt.close(fig)
        return {"name": name, "alt": " ".join(alt.split()), "svg": inline_svg(path + ".svg", name)}


def inline_svg(path, prefix):
    with open(path, encoding="utf-8") as f:
        svg = f.read()
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.S)
    svg = re.sub(r'\bid="([^"]+)"', r'id="%s-\1"' % prefix, svg)
    svg = re.sub(r'url\(#([^)]+)\)', r'url(#%s-\1)' % prefix, svg)
    svg = re.sub(r'xlink:href="#([^"]+)"', r'xlink:href="#%s-\1"' % prefix, svg)
    svg = svg.replace(INK, "currentColor")
    width, height = re.search(r'viewBox="0 0 ([0-9.]+) ([0-9.]+)"', svg).groups()
    return re.sub(r'<svg [^>]*>', '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink='
                  '"http://www.w3.org/1999/xlink" viewBox="0 0 %s %s" aria-hidden="true">'
                  % (width, height), svg, count=1)


# --- the panels ----------------------------------------------------------------------------------

def floor_panels(plots, bench, cases, names):
    """Time over the floor, and bytes per node, with a row per case."""
    panels = []
    for field, title, label, floor, alt in (
            ("ratio", "Time", "time / time of its PRG calls alone", 1,
             "time of an operation over that of its PRG calls"),
            ("bytes_per_node", "Memory at the peak", "bytes for each stored seed", 16,
             "bytes for each stored seed")):
        rows = [c for c in cases if any(bench.values(of(c), field) for of in names.values())]
        fig, axes = panel(title, label, "case", .42 * len(rows) + 1.1, 3.7)
        for impl, of in names.items():
            points = [(y, bench.values(of(c), field)) for y, c in enumerate(rows)]
            points = [(y, v) for y, v in points if v]
            axes.plot([sorted(v)[len(v) // 2] for _, v in points], [y for y, _ in points],
                      **style(impl, "none"))
            for y, v in points:
                axes.plot([min(v), max(v)], [y, y], color=COLOUR[impl], linewidth=1, zorder=2)
        axes.axvline(floor, color=INK, linewidth=1, linestyle="--")
        log_axis(axes.xaxis)
        axes.grid(axis="y", alpha=0)
        axes.set_yticks(range(len(rows)), [re.sub(r"\^d", "$^d$", c[3]) for c in rows])
        axes.set_ylim(len(rows) - .4, -.6)
        axes.legend(loc="upper center", ncol=3,
                    bbox_to_anchor=(.2, -.6 / (.42 * len(rows) + .4)))
        panels.append(plots.save(fig, "floor-" + field.replace("_", "-"),
                                 "Dot plot with a row for each case: %s, for %s. A dashed line "
                                 "shows the least possible." % (alt, ", ".join(names))))
    return panels


def store_panels(plots, rows, depth):
    """Bytes and time of each store against the share of leaves punctured at random."""
    panels = []
    for field, label, least in (("bytes_per_node", "bytes for each stored seed", 16),
                                ("ratio", "time / time of its PRG calls alone", 1)):
        fig, axes = panel("Depth %d, punctures at random" % depth, "leaves punctured [%]", label)
        for _, look, mine in drawn(STORE_LOOK, [r for r in rows if r["depth"] == depth and r["case"] == "random"
                                                and r.get(field)], "store"):
            points = sorted((100 * r["punctures"] / 2 ** depth, r[field]) for r in mine)
            axes.plot([x for x, _ in points],
                      [y if field != "ratio" else sorted(y)[len(y) // 2] for _, y in points], **look)
        axes.axhline(least, color=INK, linewidth=1, linestyle="--")
        log_axis(axes.xaxis)
        log_axis(axes.yaxis)
        legend_below(axes)
        panels.append(plots.save(fig, "stores-" + field.replace("_", "-"),
                                 "Log-log plot of %s against the percentage of leaves punctured at "
                                 "random at depth %d, a line for each store. A dashed line shows "
                                 "the least possible." % (label, depth)))
    return panels


def suite_panels(plots, rows, figures, looks=None, name="suites-"):
    """A panel per figure with a row per version: points with the least and the greatest round."""
    panels = []
    for field, title in figures:
        fig, axes = panel(title, "CPU time", "version", .3 * len(rows) + 1.1, 3.7)
        for _, look, mine in drawn(looks or SUITE_LOOK, [r for r in rows if field in r], "suite"):
            places = [rows.index(r) for r in mine]
            axes.plot([sorted(r[field])[len(r[field]) // 2] for r in mine], places, linestyle="none", **look)
            for y, r in zip(places, mine):
                axes.plot([min(r[field]), max(r[field])], [y, y], color=look["color"], linewidth=1, zorder=2)
        time_axis(axes.xaxis)
        axes.grid(axis="y", alpha=0)
        axes.set_yticks(range(len(rows)), [r["version"] for r in rows])
        axes.set_ylim(len(rows) - .4, -.6)
        axes.legend(loc="upper center", ncol=2, bbox_to_anchor=(.35, -.6 / (.3 * len(rows) + .4)),
                    columnspacing=1, handletextpad=.3)
        panels.append(plots.save(fig, name + field,
                                 "Dot plot on a log axis: %s, a row for each version." % title))
    return panels


def growth_panels(plots, source, impls):
    panels = []
    for scenario, case in (("worst", "worst case"), ("random", "random order")):
        for what, field in (("time of a puncture", "cpu_time"), ("memory at the peak", None)):
            fig, axes = panel("%s: %s" % (case.capitalize(), what),
                              "depth d (2$^d$ leaves)", what)
            for impl in impls:
                depths = source.depths("Punct", impl, scenario)
                name = "BM_Punct/%s/" % impl + scenario + "/d:%d"
                points = [(d, source.median(name % d) if field else
                           source.median(name % d, "bytes_per_node")
                           * source.median(name % d, "nodes")) for d in depths]
                if points:
                    axes.plot(*zip(*points), **style(impl))
            (time_axis if field else byte_axis)(axes.yaxis)
            legend_below(axes)
            panels.append(plots.save(fig, "growth-%s-%s" % (scenario, "time" if field else "bytes"),
                                     "Line plot on a log axis: %s against the depth, %s."
                                     % (what, case)))
    return panels


def sparse_panels(plots, sparse, formula):
    panels = []
    for name, what, label in (("each", "Few punctures: bytes a seed", "bytes for each stored seed"),
                              ("all", "Few punctures: bytes in all", "bytes in all")):
        fig, axes = panel(what, "leaves punctured, at random [%]", label)
        for key, fill in (("slots-24", "full"), ("slots-32", "none"), ("bst-24", "full")):
            impl, d = key.split("-")
            if sparse.get(key):
                axes.plot([100 * r["fraction"] for r in sparse[key]],
                          [r["bytes"] / (r["nodes"] if name == "each" else 1)
                           for r in sparse[key]],
                          **style(impl, "none", label="%s, d = %s" % (impl, d), fillstyle=fill))
        for d, line in ((24, "-"), (32, ":")):
            x = [10 ** (e / 20) for e in range(-120 if d == 24 else -160, -19)]
            axes.plot([100 * q for q in x],
                      [formula(d, q)[1] / (formula(d, q)[0] if name == "each" else 1) for q in x],
                      color=COLOUR["slots"], linewidth=1, linestyle=line,
                      label="formula, d = %d" % d)
        if name == "each":
            axes.axhline(16, color=INK, linewidth=1, linestyle="--")
        log_axis(axes.xaxis)
        byte_axis(axes.yaxis)
        legend_below(axes, 2)
        panels.append(plots.save(fig, "sparse-" + name,
                                 "Log-log plot of %s against the percentage of leaves that are "
                                 "punctured at random, measured and by formula." % label))
    return panels


def paper_memory_panel(plots, bench, depths, massif, heap, total):
    fig, axes = panel("Worst case: memory at the peak", "the thesis's depth (ours: one less)",
                      "bytes", 3.6)
    axes.plot(depths, [36 * 2 ** (b - 2) + 24 for b in depths], color=INK, linewidth=1,
              linestyle="--", label="36 n + 24")
    axes.plot(depths, [64 * 2 ** (b - 2) + 32 for b in depths], color=INK, linewidth=1,
              linestyle=":", label="64 n + 32")
    if massif:
        axes.plot([p[0] for p in massif], [p[1] for p in massif],
                  **style("list", "none", label="list, asked for"))
        axes.plot([p[0] for p in massif], [p[2] for p in massif],
                  **style("list", "none", label="list, in all", markerfacecolor="none"))
    for impl in ("list28", "bst", "array", "ref", "slots"):
        v = [(b, bench.median("BM_Punct/%s/worst/d:%d" % (impl, b - 1), "bytes_per_node"))
             for b in depths]
        v = [(b, x * 2 ** (b - 2)) for b, x in v if x]
        if v:
            axes.plot(*zip(*v), **style(impl))
    axes.plot(list(heap), list(heap.values()),
              **style("paper", "none", label="thesis", markersize=9))
    axes.plot([16], [total], **style("paper", "none", marker="P", label="thesis, in all",
                                     markersize=9))
    byte_axis(axes.yaxis)
    legend_below(axes)
    return plots.save(fig, "thesis-memory", """Line plot of bytes at the worst-case peak against the
                      depth, with the points that the thesis printed and two formulas.""")


def paper_run_panels(plots, series):
    panels = []
    for key, title in (("worst", "List, worst case (figure 4.3)"),
                       ("best", "List, best case (figure 4.5)"),
                       ("normal-4", "List, σ = leaves/4 (figure 4.6)"),
                       ("normal-16", "List, σ = leaves/16 (figure 4.7)")):
        rows = series[key]
        fig, axes = panel(title, "punctures", "heap [kB]", 2.6)
        step = 64 if key == "best" else 1  # a sawtooth: draw the range of each window of 64
        groups = [rows[i:i + step] for i in range(0, len(rows), step)]
        for field, colour, label in (("bytes", INK, "in all"),
                                     ("effective_bytes", COLOUR["bst"], "asked for")):
            x = [g[0]["op"] for g in groups]
            high = [max(r[field] for r in g) / 1e3 for g in groups]
            axes.plot(x, high, color=colour, label=label)
            if step > 1:
                axes.fill_between(x, [min(r[field] for r in g) / 1e3 for g in groups], high,
                                  color=colour, alpha=.35, linewidth=0)
        axes.set_ylim(0)
        axes.legend(loc="best")
        panels.append(plots.save(fig, "thesis-run-" + key,
                                 "Line plot of the list's heap over one run: " + title))
    return panels


def paper_time_panel(plots, bench, nohash, paper):
    fig, axes = panel("Worst case: mean time of a puncture", "the thesis's depth (ours: one less)",
                      "time", 3.4)
    x = list(paper)
    axes.plot(x, [1e6 * v[0] for v in paper.values()], **style("paper", label="thesis"))
    axes.plot(x, [1e6 * v[1] for v in paper.values()],
              **style("paper", ":", label="thesis, no hash"))
    for impl in ("list", "slots"):
        for source, line, label in ((bench, "-", impl), (nohash, ":", impl + ", no hash")):
            v = [(b, source.median("BM_Punct/%s/worst/d:%d" % (impl, b - 1))) for b in x]
            v = [(b, t) for b, t in v if t]
            if v:
                axes.plot(*zip(*v), **style(impl, line, label=label))
    time_axis(axes.yaxis)
    legend_below(axes, 2)
    return plots.save(fig, "thesis-time", """Line plot of the mean time of a puncture against the
                      depth, with and without hashing: the thesis's list, ours, and pair slots.""")


def paper_single_panel(plots, worst, slots):
    fig, axes = panel("Single operations, worst case, d = 13", "punctures done", "time", 3.2)
    for rows, name, other in ((worst, "list", "bst"), (slots, "slots", "paper")):
        for field, colour, label in (("punct_ns", COLOUR[name], name + ", puncture"),
                                     ("eval_ns", COLOUR[other], name + ", eval")):
            axes.plot([r["op"] for r in rows], [r[field] for r in rows], ".", color=colour,
                      markersize=1.6, rasterized=True, label=label)
    time_axis(axes.yaxis)
    axes.legend(loc="upper center", bbox_to_anchor=(.45, -.2), ncol=2, markerscale=6)
    return plots.save(fig, "thesis-single", """Scatter plot of the time of single punctures and
                      evaluations over a worst-case run, for the list and for pair slots.""")


def sigma_panels(plots, rows, depths, limits):
    panels = []
    palette, marks = [OKABE_ITO[c] for c in ("blue", "orange", "vermillion")], "os^"
    for name, title, label, limit, y in (
            ("peak", "Peak of the key", "nodes at the peak / σ", limits["peak_per_sigma"],
             lambda r, k: r["peak"][k] / r["sigma"]),
            ("error", "Simulation against formula", "simulated − predicted peak [%]", 0,
             lambda r, k: 100 * (r["peak"][k] / r["peak"]["predicted"] - (k != "ci95"))),
            ("at", "Where the peak is", "leaves punctured at the peak / σ",
             limits["punctured_per_sigma"],
             lambda r, k: r["punctured"][k] * 2 ** r["depth"] / r["sigma"])):
        fig, axes = panel(title, "leaves / σ", label, 3)
        for i, d in enumerate(depths):
            own = [r for r in rows if r["depth"] == d]
            x = [r["divisor"] * 1.04 ** (i - 1) for r in own]
            axes.errorbar(x, [y(r, "mean") for r in own], [y(r, "ci95") for r in own],
                          fmt=marks[i % 3], capsize=2, color=palette[i % 3], markersize=4,
                          label="d = %d" % d, linewidth=1)
            if name != "error":
                axes.plot(x, [y(r, "predicted") for r in own], color=palette[i % 3], linewidth=1)
        axes.axhline(limit, color=INK, linewidth=.8, linestyle="--")
        axes.set_xscale("log", base=2)
        axes.set_xticks([4, 16, 64, 256, 1024], ["4", "16", "64", "256", "1024"])
        axes.legend(loc="best")
        panels.append(plots.save(fig, "sigma-" + name,
                                 "%s against leaves over sigma, simulated and by formula." % label))
    return panels
