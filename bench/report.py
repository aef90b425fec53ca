#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The report: what was proven, how much was fuzzed, what the tests said, what was measured.

Usage: report.py BUILD      reads BUILD/prove, BUILD/equivalence-tests, BUILD/test and BUILD/bench,
                            writes BUILD/report/index.html, report.txt and each plot as SVG and PNG,
                            and prints the text.

Nothing is claimed that no file says: what has not been run is reported as "not run".  Times are
CPU times; ratios are taken within one repetition; every figure is a median with the least and the
greatest value of the repetitions."""
import csv
import html
import json
import math
import os
import re
import statistics
import subprocess
import sys
import textwrap
import time

import matplotlib
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.ticker import FuncFormatter, LogLocator, NullFormatter  # noqa: E402

IMPLS = ["list", "list28", "bst", "array", "ref", "opt"]
ABOUT = {
    "list": "the paper's linked list, two allocations an element",
    "list28": "the paper's proposal: one 28-byte struct an element",
    "bst": "the paper's future work: a balanced search tree (std::map)",
    "array": "a sorted array of 20-byte records",
    "ref": "the proven reference: a sorted array of nodes",
    "opt": "the implementation to ship: dense pair slots",
}
# Okabe and Ito's palette, which colour-blind readers can tell apart; a marker each besides.
COLOUR = {"list": "#7f7f7f", "list28": "#b07aa1", "bst": "#cc6677", "array": "#e69f00",
          "ref": "#009e73", "opt": "#1a7fc4", "paper": "#d55e00"}
MARKER = {"list": "s", "list28": "D", "bst": "^", "array": "v", "ref": "o", "opt": "*",
          "paper": "x"}
INK = "#202124"  # replaced by the page's text colour in the inlined SVG


# --- reading -------------------------------------------------------------------------------------

def read_json(path):
    try:
        with open(path, encoding="utf-8") as f:
            data = json.load(f)
        if isinstance(data, dict):
            return data
        print("report: %s is not an object" % path, file=sys.stderr)
    except FileNotFoundError:
        pass
    except (OSError, ValueError) as e:
        print("report: %s is unreadable: %s" % (path, e), file=sys.stderr)
    return None


def objects(data, key):
    """The objects in the list data[key]; what is none of that is left out."""
    found = data.get(key) if data else None
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def count(data, key):
    return data[key] if isinstance(data.get(key), (int, float)) else 0


def read_csv(path):
    try:
        with open(path, encoding="utf-8") as f:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]
        return rows or None
    except (OSError, ValueError, TypeError):
        return None


class Bench:
    """The repetitions of one Google Benchmark file."""

    def __init__(self, path):
        data = read_json(path) or {}
        self.context = data.get("context", {})
        self.runs, self.left_out = {}, {}
        for b in data.get("benchmarks", []):
            if b.get("run_type") != "iteration":
                continue
            if b.get("error_occurred"):
                self.left_out[b["run_name"]] = b.get("error_message", "")
            else:
                self.runs.setdefault(b["run_name"], []).append(b)

    def values(self, name, field="cpu_time"):
        return [r[field] for r in self.runs.get(name, []) if field in r]

    def median(self, name, field="cpu_time"):
        v = self.values(name, field)
        return statistics.median(v) if v else None

    def depths(self, op, impl, scenario):
        pattern = re.compile(r"BM_%s/%s/%s/d:(\d+)$" % (op, impl, re.escape(scenario)))
        return sorted(int(m.group(1)) for m in map(pattern.match, self.runs) if m)


def massif_peak(path):
    """(effective, total) heap bytes at the peak, or None."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return None
    useful = [int(x) for x in re.findall(r"^mem_heap_B=(\d+)", text, re.M)]
    extra = [int(x) for x in re.findall(r"^mem_heap_extra_B=(\d+)", text, re.M)]
    return max(zip(useful, extra), key=sum) if useful and len(useful) == len(extra) else None


# --- words ---------------------------------------------------------------------------------------

def number(x, digits=3):
    """x with about `digits` significant digits, thousands separated by narrow spaces."""
    if not isinstance(x, (int, float)):
        return "–" if x is None else str(x)
    if x == 0:
        return "0"
    places = 0 if x == int(x) else max(0, digits - 1 - math.floor(math.log10(abs(x))))
    return ("{:,.%df}" % places).format(x).replace(",", "\u202f")


def spread(values, digits=3):
    """median (least – greatest)"""
    if not values:
        return "–"
    low, high = number(min(values), digits), number(max(values), digits)
    mid = number(statistics.median(values), digits)
    return mid if low == high == mid else "%s (%s – %s)" % (mid, low, high)


def nanoseconds(x):
    if x is None:
        return "–"
    for unit, size in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if x >= size:
            return "%s %s" % (number(x / size), unit)
    return "%s ns" % number(x)


def size(x):
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if x >= scale:
            return "%s %s" % (number(x / scale, 4), unit)
    return "%d B" % x


# --- the document --------------------------------------------------------------------------------

class Doc:
    """Blocks that become HTML and plain text."""

    def __init__(self):
        self.blocks = []

    def heading(self, text, anchor=None):
        self.blocks.append(("heading", text, anchor))

    def text(self, text):
        self.blocks.append(("text", " ".join(text.split())))

    def table(self, caption, header, rows, note=None):
        if rows:
            self.blocks.append(("table", caption, header, rows, note))

    def figure(self, name, alt, caption):
        self.blocks.append(("figure", name, " ".join(alt.split()), " ".join(caption.split())))

    def cards(self, cards):
        self.blocks.append(("cards", cards))


STATUS = {"proven": "good", "reached": "good", "passed": "good", "no crash": "good",
          "missed": "bad", "FAILED": "bad", "not all proven": "bad", "CRASHED": "bad",
          "not measured": "none", "not run": "none", "not measured": "none"}


def inline(text):
    out = html.escape(str(text), quote=False)
    out = re.sub(r"`([^`]+)`", r"<code>\1</code>", out)
    return re.sub(r"\^([0-9a-z.+−-]+|\{[^}]*\})",
                  lambda m: "<sup>%s</sup>" % m.group(1).strip("{}"), out)


NUMBER = re.compile(r"^[−+-]?[0-9][0-9.\u202f]*( ?([nµm]?s|[kMG]?B|%|MHz))?( \(.*\)| ± .*)?$|^–$")


def html_table(header, rows):
    """Columns that hold nothing but numbers are set flush right."""
    right = [all(NUMBER.match(str(r[i])) for r in rows) and any(r[i] != "–" for r in rows)
             for i in range(len(header))]
    head = "".join('<th scope="col"%s>%s</th>' % (' class="num"' if num else "", inline(h))
                   for h, num in zip(header, right))
    body = []
    for r in rows:
        cells = []
        for value, num in zip(r, right):
            text = str(value)
            if text in STATUS:
                cells.append('<td><span class="status %s">%s</span></td>'
                             % (STATUS[text], inline(text)))
            else:
                cells.append("<td%s>%s</td>" % (' class="num"' if num else "", inline(text)))
        body.append("<tr>%s</tr>" % "".join(cells))
    return "<thead><tr>%s</tr></thead><tbody>%s</tbody>" % (head, "".join(body))


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
    svg = re.sub(r'<svg [^>]*>', '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink='
                 '"http://www.w3.org/1999/xlink" viewBox="0 0 %s %s" aria-hidden="true">'
                 % (width, height), svg, count=1)
    return svg


CSS = """
:root { color-scheme: light dark; --ink: #202124; --soft: #5b616b; --paper: #fff; --line: #d9dce1;
  --band: #f5f6f8; --accent: #0b5c8f; --good: #0a6b3d; --good-bg: #e3f4ea; --bad: #9c2f12;
  --bad-bg: #fbe8e1; --none: #5b616b; --none-bg: #eceef1; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e8ea; --soft: #a3aab4; --paper: #15181c;
  --line: #343a42; --band: #1c2026; --accent: #7cc0ec; --good: #7fd8a6; --good-bg: #12321f;
  --bad: #ffab8f; --bad-bg: #411d11; --none: #a3aab4; --none-bg: #272c33; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 16px/1.55 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
main { max-width: 66rem; margin: 0 auto; padding: 2rem 1.25rem 5rem; }
h1 { font-size: 2rem; line-height: 1.2; margin: 0 0 .25rem; letter-spacing: -.01em; }
h2 { font-size: 1.35rem; margin: 3.2rem 0 .6rem; padding-top: .8rem;
  border-top: 2px solid var(--line); }
p { max-width: 46rem; margin: .6rem 0; } .lead { color: var(--soft); margin-top: 0; }
a { color: var(--accent); }
nav { margin: 1rem 0 0; font-size: .92rem; line-height: 1.9; }
nav a { margin-right: 1.1rem; display: inline-block; }
sup { line-height: 0; font-size: .72em; }
code { font: .9em ui-monospace, "DejaVu Sans Mono", monospace; background: var(--band);
  padding: .05em .3em; border-radius: 3px; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(11.6rem, 1fr)); gap: .9rem;
  margin: 1.5rem 0 1rem; }
.card { border: 1px solid var(--line); border-radius: 8px; padding: .9rem 1rem; }
.card b { display: block; font-size: 1.35rem; line-height: 1.25; margin: .3rem 0 .15rem;
  font-variant-numeric: tabular-nums; }
.card p { margin: 0; font-size: .88rem; color: var(--soft); }
.card .label { font-size: .8rem; font-weight: 600; letter-spacing: .04em; text-transform: uppercase;
  color: var(--soft); display: flex; justify-content: space-between; gap: .5rem; }
.status { display: inline-block; padding: .02em .55em; border-radius: 1em; font-size: .8rem;
  font-weight: 600; white-space: nowrap; letter-spacing: 0; text-transform: none; }
.status.good { color: var(--good); background: var(--good-bg); }
.status.bad { color: var(--bad); background: var(--bad-bg); }
.status.none { color: var(--none); background: var(--none-bg); }
.scroll { overflow-x: auto; margin: 1.2rem 0 .4rem; }
table { border-collapse: collapse; font-size: .89rem; line-height: 1.4; min-width: 50%; }
caption { text-align: left; font-weight: 600; padding-bottom: .45rem; }
th, td { padding: .32rem 1.1rem .32rem 0; border-bottom: 1px solid var(--line);
  vertical-align: top; text-align: left; }
th { font-weight: 600; color: var(--soft); vertical-align: bottom; }
.num { font-variant-numeric: tabular-nums; text-align: right; }
tbody tr:hover { background: var(--band); }
details { margin: 1.2rem 0 .4rem; }
summary { cursor: pointer; font-size: .89rem; font-weight: 600; }
.note { font-size: .86rem; color: var(--soft); margin-top: .3rem; }
figure { margin: 1.6rem 0; } figure svg { width: 100%; height: auto; display: block; }
figcaption { font-size: .9rem; color: var(--soft); max-width: 46rem; margin-top: .5rem; }
figcaption a { white-space: nowrap; }
@media print { main { max-width: none; } figure, tr { break-inside: avoid; } }
"""


def to_html(doc, title, lead, out):
    parts, nav, n = [], [], 0
    for block in doc.blocks:
        kind = block[0]
        if kind == "heading":
            anchor = block[2] or re.sub(r"[^a-z0-9]+", "-", block[1].lower()).strip("-")
            nav.append('<a href="#%s">%s</a>' % (anchor, inline(block[1])))
            parts.append('<h2 id="%s">%s</h2>' % (anchor, inline(block[1])))
        elif kind == "text":
            parts.append("<p>%s</p>" % inline(block[1]))
        elif kind == "cards":
            parts.append('<div class="cards">%s</div>' % "".join(
                '<section class="card"><div class="label">%s '
                '<span class="status %s">%s</span></div>'
                "<b>%s</b><p>%s</p></section>"
                % (inline(label), STATUS.get(status, "none"), inline(status), inline(big),
                   inline(small)) for label, status, big, small in block[1]))
        elif kind == "table":
            _, caption, header, rows, note = block
            table = ('<div class="scroll" tabindex="0" role="region" aria-label="%s"><table>'
                     "<caption>%s</caption>%s</table></div>"
                     % (html.escape(caption), inline(caption), html_table(header, rows)))
            if len(rows) > 20:
                table = ("<details><summary>%s: %d rows</summary>%s</details>"
                         % (inline(caption), len(rows), table))
            parts.append(table)
            if note:
                parts.append('<p class="note">%s</p>' % inline(" ".join(note.split())))
        else:
            _, name, alt, caption = block
            n += 1
            parts.append('<figure role="group"><div role="img" aria-label="%s">%s</div><figcaption>'
                         'Figure %d. %s <a href="%s.svg">SVG</a> <a href="%s.png">PNG</a>'
                         "</figcaption></figure>"
                         % (html.escape(alt), inline_svg(os.path.join(out, name + ".svg"), name), n,
                            inline(caption), name, name))
    return ('<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" '
            'content="width=device-width, initial-scale=1"><title>%s</title><style>%s</style>'
            '</head><body><main><header><h1>%s</h1><p class="lead">%s</p>'
            '<nav aria-label="Sections">%s</nav></header>%s</main></body></html>\n'
            % (html.escape(title), CSS, inline(title), inline(lead), "\n".join(nav),
               "\n".join(parts)))


def plain(text):
    return re.sub(r"\^\{([^}]*)\}", r"^(\1)", str(text)).replace("`", "")


def to_text(doc, title, lead):
    lines, n = [title, "=" * len(title)] + textwrap.wrap(lead, 98), 0
    for block in doc.blocks:
        kind = block[0]
        if kind == "heading":
            lines += ["", "", block[1], "-" * len(block[1])]
        elif kind == "text":
            lines += [""] + textwrap.wrap(plain(block[1]), 98)
        elif kind == "cards":
            lines.append("")
            for label, status, big, small in block[1]:
                line = plain("%-10s %-14s %s; %s" % (label, status, big, small))
                lines += textwrap.wrap(line, 98, subsequent_indent=" " * 26)
        elif kind == "table":
            _, caption, header, rows, note = block
            cells = [[plain(c) for c in r] for r in [header] + rows]
            widths = [max(len(r[i]) for r in cells) for i in range(len(header))]
            right = [all(NUMBER.match(str(r[i])) for r in rows) for i in range(len(header))]
            lines += ["", caption]
            for i, r in enumerate(cells):
                lines.append("  " + "  ".join(
                    c.rjust(w) if num else c.ljust(w)
                    for c, w, num in zip(r, widths, right)).rstrip())
                if i == 0:
                    lines.append("  " + "  ".join("-" * w for w in widths))
            if note:
                lines += textwrap.wrap(plain(" ".join(note.split())), 98,
                                       initial_indent="  ", subsequent_indent="  ")
        else:
            n += 1
            line = plain("Figure %d (%s.svg). %s" % (n, block[1], block[3]))
            lines += [""] + textwrap.wrap(line, 98, subsequent_indent="  ")
    return "\n".join(lines) + "\n"


# --- plots ---------------------------------------------------------------------------------------

plt.rcParams.update({
    "font.size": 9.5, "font.family": "DejaVu Sans", "svg.fonttype": "path", "svg.hashsalt": "pprf",
    "text.color": INK, "axes.labelcolor": INK, "axes.edgecolor": INK, "xtick.color": INK,
    "ytick.color": INK, "axes.spines.top": False, "axes.spines.right": False, "axes.linewidth": .7,
    "axes.grid": True, "grid.color": INK, "grid.alpha": .13, "grid.linewidth": .6,
    "axes.titlesize": 10, "axes.titleweight": "bold", "axes.titlelocation": "left",
    "legend.frameon": False, "legend.fontsize": 9, "lines.linewidth": 1.5, "lines.markersize": 5,
    "figure.facecolor": "none", "axes.facecolor": "none", "savefig.facecolor": "none",
})


class Plots:
    def __init__(self, out):
        self.out = out

    def save(self, fig, name):
        path = os.path.join(self.out, name)
        fig.savefig(path + ".svg", bbox_inches="tight", metadata={"Date": None})
        fig.savefig(path + ".png", bbox_inches="tight", dpi=160, facecolor="white")
        plt.close(fig)


def style(name, line="-", **extra):
    s = {"color": COLOUR[name], "marker": MARKER[name], "linestyle": line, "label": name,
         "markersize": 9 if name == "opt" else 5, "zorder": 3 + IMPLS.index(name)
         if name in IMPLS else 9}
    s.update(extra)
    return s


def short(v):
    for mark, scale in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if v >= scale:
            return "%g %s" % (v / scale, mark)
    return "%g " % v


def log_axis(axis, text=lambda v: short(v).strip()):
    """A log axis with plain numbers; narrow ranges get ticks at 2 and 5, too."""
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


# --- sections ------------------------------------------------------------------------------------

def proof_cards(build):
    """What the proofs' and the fuzzers' own gates wrote down, never more."""
    def when(*path):
        try:
            stamp = os.path.getmtime(os.path.join(build, *path))
            return time.strftime(", %Y-%m-%d %H:%M UTC", time.gmtime(stamp))
        except OSError:
            return ""

    cards = []
    coq = read_json(os.path.join(build, "prove", "coq.json"))
    if coq is None:
        cards.append(("Coq", "not run", "–", "`make prove` checks the theorems"))
    else:
        closed = coq.get("closed") is True
        cards.append(("Coq", "proven" if closed else "FAILED",
                      "%s theorems" % coq.get("theorems", "?"),
                      ("every one closed under the global context: no axiom, nothing admitted"
                       if closed else "not closed under the global context")
                      + ("; coqchk: %s" % coq["coqchk"] if coq.get("coqchk") else "")
                      + when("prove", "coq.json")))
    wp = read_json(os.path.join(build, "prove", "wp.json"))
    if wp is None:
        cards.append(("Frama-C", "not run", "–", "`make prove` checks the contracts of ref"))
    else:
        functions = objects(wp, "functions")
        goals, proved = (sum(count(f, k) for f in functions) for k in ("goals", "proved"))
        cards.append(("Frama-C", "proven" if functions and goals == proved > 0 and not wp.get("open")
                      else "not all proven", "%d / %d goals" % (proved, goals),
                      "of %d functions and lemmas of ref and opt, %d more not proven yet; by %s" % (
                          len(functions), len(wp.get("open") or []),
                          ", ".join(map(str, wp.get("provers") or [])) or "?")
                      + when("prove", "wp.json")))
    fuzz = read_json(os.path.join(build, "equivalence-tests", "fuzz.json"))
    if fuzz is None:
        cards.append(("Fuzzing", "not run", "–", "`make fuzz` compares ref and opt"))
    else:
        targets = objects(fuzz, "targets")
        crashes = sum(count(t, "crashes") for t in targets)
        executions = sum(count(t, "executions") for t in targets)
        cards.append(("Fuzzing", "CRASHED" if crashes else "no crash" if executions else "not run",
                      "%s executions" % number(executions, 12),
                      "%d targets, %s s each" % (len(targets), fuzz.get("seconds", "?"))
                      + when("equivalence-tests", "fuzz.json")))
    try:
        with open(os.path.join(build, "test", "summary.txt"), encoding="utf-8") as f:
            text = f.read().strip()
        last = text.splitlines()[-1] if text else "empty"
        good = re.search(r"Result: PASS", text) is not None
        cards.append(("Tests", "passed" if good else "FAILED", last[:60],
                      "`make test`" + when("test", "summary.txt")))
    except OSError:
        cards.append(("Tests", "not run", "–", "`make test` runs them; this report had no summary"))
    return cards, coq, wp, fuzz


def proof_section(doc, coq, wp, fuzz):
    doc.heading("What was proven and fuzzed", "proven")
    if coq is None and wp is None and fuzz is None:
        doc.text("None of the proof checkers and fuzzers has run in this build directory, so this "
                 "report claims nothing about them.")
        return
    if coq and isinstance(coq.get("names"), list):
        doc.text("Theorems that Coq checked: " + ", ".join("`%s`" % n for n in coq["names"]) + ".")
    if objects(wp, "functions"):
        doc.table("Contracts of ref and opt", ["function", "goals", "proved", "time [s]"],
                  [["`%s`" % f.get("name", "?"), f.get("goals", "?"), f.get("proved", "?"),
                    number(f.get("seconds"))] for f in objects(wp, "functions")],
                  "A goal is one verification condition of a function's ACSL contract.")
    if objects(fuzz, "targets"):
        doc.table("Fuzz targets", ["target", "time [s]", "executions", "edges covered", "crashes"],
                  [["`%s`" % t.get("name", "?"), t.get("seconds", fuzz.get("seconds", "?")),
                    number(t.get("executions"), 12),
                    t.get("coverage_edges", t.get("coverage", "?")), t.get("crashes", "?")]
                   for t in objects(fuzz, "targets")])


def figures_section(doc, bench, nohash, growth):
    """The targets of the implementation, from one run."""
    def ratio_row(label, target, name):
        return (label, target, bench.values(name, "ratio"), "not measured", 3)

    def quotient(source, over, under):
        a, b = source.values(over), source.values(under)
        return [x / statistics.median(b) for x in a] if a and b else []

    bytes_worst = bench.values("BM_Punct/opt/worst/d:16", "bytes_per_node")
    for d in growth.depths("Punct", "opt", "worst"):
        if d >= 16:
            bytes_worst = bytes_worst + growth.values("BM_Punct/opt/worst/d:%d" % d,
                                                      "bytes_per_node")
    pair = next((v for v in (bench.values("BM_EvalPunct/opt/random/d:%d" % d, "vs_eval_then_punct")
                             for d in (16, 14)) if v), [])
    scalar = bench.values("BM_Prg/scalar/chain/d:1", "vs_oneshot")
    avx512 = bench.values("BM_Prg/avx512/chain/d:1", "vs_oneshot")
    prefault = bench.values("BM_Latency/opt/prefault/d:20", "max_ns")
    rows = [
        ratio_row("puncture / bare PRG calls, worst case, 2^15 live nodes", "≤ 1.05",
                  "BM_Punct/opt/worst/d:16"),
        ratio_row("the same, random order, d = 16", "≤ 1.10", "BM_Punct/opt/random/d:16"),
        ratio_row("the same, random order, d = 21", "≤ 1.30", "BM_Punct/opt/random/d:21"),
        ("bytes a live node, worst case, peak, d ≥ 16", "≤ 16.3", bytes_worst, "not measured", 4),
        ("bytes a live node, random order, peak, d = 16", "≤ 21",
         bench.values("BM_Punct/opt/random/d:16", "bytes_per_node"), "not measured", 4),
        ("time without hashing, `list` / `opt`, worst case, 2^15 leaves", "≥ 2000",
         quotient(nohash, "BM_Punct/list/worst/d:15", "BM_Punct/opt/worst/d:15"),
         "not measured", 3),
        ("time with hashing, `list` / `opt`, worst case, 2^15 leaves", "≥ 100",
         quotient(bench, "BM_Punct/list/worst/d:15", "BM_Punct/opt/worst/d:15"), "not measured", 3),
        ("largest single puncture, d = 20, prefaulted [µs]", "≤ 5", [x / 1e3 for x in prefault],
         "not measured", 3),
        ("own SHA3 / EVP, scalar", "≥ 2", scalar, "not measured", 3),
        ("own SHA3 / EVP, AVX-512", "≥ 2.5", avx512, "not measured", 3),
        ("batch of evals, 4 lanes / single", "≥ 3.7",
         bench.values("BM_Batch/opt/n4/d:15", "vs_single"), "not measured", 3),
        ("batch of evals, 8 lanes / single", "≥ 5",
         bench.values("BM_Batch/opt/n8/d:15", "vs_single"), "not measured", 3),
        ("expansion of 2^20 leaves / single lane", "≥ 5",
         bench.values("BM_Expand/opt/all/d:20", "vs_single"), "not measured", 3),
        ("eval_punct / (eval, then punct), random order", "≤ 0.6", pair, "not measured", 3),
    ]
    table, reached, measured = [], 0, 0
    for label, target, values, absent, digits in rows:
        verdict = absent
        if values:
            limit, mid = float(target[2:]), statistics.median(values)
            good = mid <= limit if target[0] == "≤" else mid >= limit
            verdict = "reached" if good else "missed"
            measured += 1
            reached += good
        table.append([label, target, spread(values, digits), verdict])
    doc.heading("Figures", "figures")
    doc.text("Each figure is a ratio within one run, so that it holds on a machine that others "
             "use, too. The median of the repetitions decides.")
    doc.table("opt against its targets",
              ["figure", "target", "median (least – greatest)", ""], table,
              """A bare PRG call is one `prg_expand`, timed between slices of the same
              repetition. Bytes include everything: slots, bitmaps and the key's own block. The
              time of `opt` without hashing includes wiping its stack and registers after each
              operation.""")
    recurring = bench.values("BM_Latency/opt/prefault/d:20", "recurring_max_ns")
    machine = bench.values("BM_Latency/opt/prefault/d:20", "machine_max_ns")
    if prefault and recurring and machine:
        doc.text("The largest single puncture is what interrupts make of it: the largest of as "
                 "many bare PRG calls in a row, which touch no memory, takes %s µs in the same "
                 "run. The largest that recurs at the same puncture in all %d repetitions takes "
                 "%s with prefaulting and %s without. The first puncture calls the PRG d times." % (
                     spread([x / 1e3 for x in machine]), len(recurring),
                     nanoseconds(min(recurring)),
                     nanoseconds(min(bench.values("BM_Latency/opt/random/d:20",
                                                  "recurring_max_ns") or recurring))))
    return reached, measured


def overview_section(doc, plots, bench, nohash):
    doc.heading("Time and memory", "measured")
    doc.text("Hashing is the floor: no implementation of this PPRF can puncture with fewer PRG "
             "calls. So times are given as multiples of the time that the same number of bare PRG "
             "calls takes, measured in the same repetition.")
    wanted = [("Punct", "worst", 15, "worst case, d = 15"),
              ("Punct", "worst", 16, "worst case, d = 16"),
              ("Punct", "descending", 15, "worst case, descending, d = 15"),
              ("Punct", "descending", 14, "worst case, descending, d = 14"),
              ("Punct", "best", 14, "best case, d = 14"),
              ("Punct", "random", 16, "random order, d = 16"),
              ("Punct", "random", 21, "random order, d = 21"),
              ("Punct", "normal", 16, "normal, σ = 2^d/16, d = 16"),
              ("Punct", "normal", 14, "normal, σ = 2^d/16, d = 14"),
              ("EvalPunct", "tls", 16, "TLS tickets, d = 16"),
              ("EvalPunct", "tls", 20, "TLS tickets, d = 20"),
              ("EvalPunct", "tls", 14, "TLS tickets, d = 14"),
              ("Range", "ranges", 20, "ranges, d = 20"), ("Range", "ranges", 14, "ranges, d = 14"),
              ("Eval", "fresh", 15, "eval, new key, d = 15"),
              ("Eval", "random", 15, "eval, random peak, d = 15")]
    names = lambda w: ["BM_%s/%s/%s/d:%d" % (w[0], i, w[1], w[2]) for i in IMPLS]  # noqa: E731
    rows = [w for w in wanted if any(bench.values(n, "ratio") for n in names(w))]
    if not rows:
        doc.text("Nothing has been measured: run `make bench`.")
        return
    fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, .36 * len(rows) + 1.3), sharey=True,
                                      gridspec_kw={"width_ratios": [1.25, 1], "wspace": .06})
    for axes, field in ((left, "ratio"), (right, "bytes_per_node")):
        for impl in IMPLS:
            points = [(y, bench.values("BM_%s/%s/%s/d:%d" % (w[0], impl, w[1], w[2]), field))
                      for y, w in enumerate(rows)]
            points = [(y, v) for y, v in points if v]
            s = style(impl, "none")
            axes.plot([statistics.median(v) for _, v in points], [y for y, _ in points], **s)
            for y, v in points:
                axes.plot([min(v), max(v)], [y, y], color=COLOUR[impl], linewidth=1, zorder=2)
        axes.set_xscale("log")
        axes.grid(axis="y", alpha=0)
        log_axis(axes.xaxis)
    left.axvline(1, color=INK, linewidth=1)
    left.set_yticks(range(len(rows)), [re.sub(r"\^d", "$^d$", w[3]) for w in rows])
    left.set_ylim(len(rows) - .4, -.6)
    left.set_title("time / time of its PRG calls")
    right.axvline(16, color=INK, linewidth=1)
    right.set_title("bytes a node at the peak")
    right.set_xticks([16, 32, 64, 128, 256, 512, 1024, 2048],
                     ["16", "32", "64", "128", "256", "512", "1k", "2k"])
    right.tick_params(axis="y", length=0)
    handles, labels = left.get_legend_handles_labels()
    fig.legend(handles, labels, loc="lower center", ncol=6,
               bbox_to_anchor=(.5, .89 + .2 / fig.get_figheight()))
    plots.save(fig, "overview")
    doc.figure("overview", """Dot plot. Left: time of an operation over the time of its bare PRG
               calls for six implementations and %d scenarios; opt lies closest to 1 in most,
               list and list28 furthest. Right: bytes a node at the peak; opt lies at 16 to 21
               where many leaves are punctured and far higher where few are.""" % len(rows),
               """Distance to the floor. Vertical lines: nothing but hashing (left), nothing but
               the seed's 16 bytes (right). Bars span the repetitions. The same values are in the
               tables.""")
    doc.table("Implementations", ["name", "what it is"], [["`%s`" % i, ABOUT[i]] for i in IMPLS])
    for field, what, digits in (("cpu_time", "CPU time of one operation", 3),
                                ("ratio", "Time / time of the same number of bare PRG calls", 3),
                                ("bytes_per_node", "Bytes a node at the peak", 4)):
        table = []
        for w in rows:
            meds = [bench.median(n, field) for n in names(w)]
            if any(m is not None for m in meds):
                show = nanoseconds if field == "cpu_time" else lambda m, k=digits: number(m, k)
                table.append([w[3]] + [show(m) for m in meds])
        doc.table(what, ["median"] + IMPLS, table,
                  "–: not measured; over the time limit of this run, or the operation is missing."
                  if field == "cpu_time" else None)
    table = []
    for d in nohash.depths("Punct", "opt", "worst"):
        table.append([d] + [nanoseconds(nohash.median("BM_Punct/%s/worst/d:%d" % (i, d)))
                            for i in IMPLS])
    doc.table("Worst-case puncture without hashing (the PRG replaced by two additions)",
              ["d"] + IMPLS, table)
    table = []
    for op in ("Setup", "Export", "Import"):
        for scenario in ("fresh", "worst"):
            for d in (10, 16, 20, 24, 30, 32):
                v = ["BM_%s/%s/%s/d:%d" % (op, i, scenario, d) for i in IMPLS]
                if any(bench.values(n) for n in v):
                    label = {"Setup": "setup and free", "Export": "export at the worst-case peak",
                             "Import": "import of that key"}[op]
                    table.append(["%s, d = %d" % (label, d)]
                                 + [nanoseconds(bench.median(n)) for n in v])
    doc.table("Setup, export, import", ["median CPU time"] + IMPLS, table)


def losses_section(doc, bench, growth):
    """Every case where another implementation beats opt, found by comparison, not by choice."""
    doc.heading("Where opt loses", "losses")
    doc.text("Every benchmark of this run in which another implementation took at least 3 % less "
             "time than `opt` (and its slowest repetition beat the fastest of `opt`), or at least "
             "3 % less memory.")
    faster, smaller = [], []
    for source in (bench, growth):
        for name in sorted(source.runs):
            m = re.match(r"BM_(\w+)/opt/([\w:.]+)/d:(\d+)$", name)
            if not m:
                continue
            label = "%s, %s, d = %s" % (m.group(1), m.group(2), m.group(3))
            others = [(i, "BM_%s/%s/%s/d:%s" % (m.group(1), i, m.group(2), m.group(3)))
                      for i in IMPLS if i != "opt"]
            for field, out in (("cpu_time", faster), ("bytes_per_node", smaller)):
                mine = source.values(name, field)
                best = min(((statistics.median(v), i, v) for i, n in others
                            for v in [source.values(n, field)] if v), default=None)
                if not mine or not best or best[0] > .97 * statistics.median(mine):
                    continue
                if field == "cpu_time" and max(best[2]) >= min(mine):
                    continue
                show = nanoseconds if field == "cpu_time" else lambda x: number(x, 4) + " B"
                out.append((statistics.median(mine) / best[0],
                            [label, best[1], show(best[0]), show(statistics.median(mine)),
                             number(statistics.median(mine) / best[0])]))
    for caption, rows in (("Slower", faster), ("Larger", smaller)):
        rows = [r for _, r in sorted(rows, key=lambda x: -x[0])]
        if not rows:
            doc.text("%s: nowhere in this run." % caption)
        doc.table("%s than the best other implementation%s" % (
            caption, "" if len(rows) <= 15 else " (the 15 worst of %d)" % len(rows)),
            ["case", "best", "its value" if caption == "Slower" else "its bytes a node", "opt",
             "opt / best"], rows[:15])
    doc.text("The pattern: the baselines wipe nothing, neither stack nor freed nodes; a key with a "
             "handful of nodes costs `opt` whole pages; and a map that lives in the processor's "
             "first cache is hard to beat when there are only a few nodes.")


PAPER_HEAP = {14: ("145.6 kB", 145.6e3, "effective"), 15: ("295.3 kB", 295.3e3, "effective"),
              16: ("594.4 kB", 594.4e3, "effective")}
PAPER_TOTAL_16 = 1159.3e3
PAPER_TIME = {10: (.068, .025), 11: (.089, .046), 12: (.13, .089), 13: (.22, .172),
              14: (.41, .351), 15: (.734, .687)}  # ms: with and without hashing


def paper_section(doc, plots, build, bench, nohash, cover):
    where = os.path.join(build, "bench")
    doc.heading("The paper's evaluation, redone", "paper")
    doc.text("The paper measures a linked list in its chapter 4. Its depth counts the levels of "
             "the tree with the root, ours without: its depth D is our d = D − 1, so its depth 15 "
             "has 2^14 leaves, at most 2^13 nodes, and 36 · 8192 + 24 = 294 936 bytes, which is "
             "the 295.3 kB it measured.")
    rows, massif_points, beyond = [], [], set()
    for big in range(10, 17):
        d, n = big - 1, 1 << (big - 2)
        peak = massif_peak(os.path.join(where, "massif-%d.out" % d))
        try:
            with open(os.path.join(where, "heap-%d.csv" % d), encoding="utf-8") as f:
                nodes, effective, memory = map(int, f.read().split())
        except (OSError, ValueError):
            nodes = effective = memory = None
        if peak:
            massif_points.append((big, peak[0], sum(peak)))
            if effective:
                beyond.add((peak[0] - effective, sum(peak) - memory))
        paper = PAPER_HEAP[big][0] if big in PAPER_HEAP else "–"
        opt = bench.median("BM_Punct/opt/worst/d:%d" % d, "bytes_per_node")
        rows.append([big, d, number(nodes, 9) if nodes else number(n, 9), paper,
                     number(36 * n + 24, 9), number(effective, 9) if effective else "–",
                     number(peak[0], 9) if peak else "–",
                     "1159.3 kB" if big == 16 else "–", number(64 * n + 32, 9),
                     number(memory, 9) if memory else "–", number(sum(peak), 9) if peak else "–",
                     number(opt * n, 9) if opt else "–"])
    doc.table("Worst case: heap bytes at the peak",
              ["its depth", "our d", "nodes", "effective: paper", "36 n + 24", "list asked",
               "massif", "total: paper", "64 n + 32", "list spent", "massif", "opt, all"],
              rows, """Effective: what the program asked for. Total: with the allocator's
              overhead. The paper prints three values beside the one in its text; the two
              labelled 145.6 kB and 594.4 kB are within 1.3 % of the formula. Its total of 1159.3
              kB at depth 16 is 10.6 % above 64 n, and neither its text nor our massif runs
              explain the excess: the list alone takes 64 bytes an element in ours. The
              paper's proposal of a 28-byte struct takes 40 bytes
              by massif's rule (8 more, rounded to 8), but 48 in glibc, whose chunks are
              multiples of 16; `list28` is measured with 48.""")
    if len(beyond) == 1:
        doc.text("Massif confirms the list's own account: it counts %d bytes more, %d with "
                 "overhead, at every depth. They are the key's own block and one element that exists "
                 "twice for a moment, while a puncture replaces it." % next(iter(beyond)))
    elif beyond:
        doc.text("Massif differs from the list's own account by %d to %d bytes, %d to %d with "
                 "overhead." % (min(x for x, _ in beyond), max(x for x, _ in beyond),
                                min(x for _, x in beyond), max(x for _, x in beyond)))
    fig, axes = plt.subplots(figsize=(7.6, 3.9))
    depths = list(range(10, 17))
    axes.plot(depths, [36 * 2 ** (b - 2) + 24 for b in depths], color=INK, linewidth=1,
              linestyle="--", label="formula 36 n + 24")
    axes.plot(depths, [64 * 2 ** (b - 2) + 32 for b in depths], color=INK, linewidth=1,
              linestyle=":", label="64 n + 32")
    if massif_points:
        axes.plot([p[0] for p in massif_points], [p[1] for p in massif_points],
                  **style("list", "none", label="list, effective (massif)"))
        axes.plot([p[0] for p in massif_points], [p[2] for p in massif_points],
                  **style("list", "none", label="list, total (massif)", markerfacecolor="none"))
    for impl in ("list28", "bst", "array", "ref", "opt"):
        v = [(b, bench.median("BM_Punct/%s/worst/d:%d" % (impl, b - 1), "bytes_per_node"))
             for b in depths]
        axes.plot([b for b, x in v if x], [x * 2 ** (b - 2) for b, x in v if x], **style(impl))
    axes.plot(list(PAPER_HEAP), [v[1] for v in PAPER_HEAP.values()],
              **style("paper", "none", label="paper, effective", markersize=8, markeredgewidth=2))
    axes.plot([16], [PAPER_TOTAL_16], **style("paper", "none", marker="+", label="paper, total",
                                              markersize=10, markeredgewidth=2))
    axes.set_yscale("log")
    byte_axis(axes.yaxis)
    axes.set_xlabel("the paper's depth (ours: one less)")
    axes.set_title("Worst case: memory at the peak")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, .5))
    plots.save(fig, "paper-heap-worst")
    doc.figure("paper-heap-worst", """Line plot of heap bytes at the worst-case peak against the
               depth. The paper's points and massif's lie on the formulas 36 n + 24 and 64 n +
               32; opt lies lowest at 16.3 bytes a node.""",
               """The paper's figure 4.1 with everything else on it.""")

    series = {s: read_csv(os.path.join(where, "run-list-%s.csv" % s))
              for s in ("worst", "best", "normal-4", "normal-16")}
    if all(series.values()):
        fig, panels = plt.subplots(1, 4, figsize=(10.6, 2.7))
        titles = {"worst": "worst (4.3)", "best": "best (4.5)", "normal-4": "σ = leaves/4 (4.6)",
                  "normal-16": "σ = leaves/16 (4.7)"}
        for axes, (key, title) in zip(panels, titles.items()):
            rows = series[key]
            step = 64 if key == "best" else 1  # a sawtooth: draw what each window of 64 spans
            groups = [rows[i:i + step] for i in range(0, len(rows), step)]
            for field, colour, label in (("bytes", COLOUR["list"], "total"),
                                         ("effective_bytes", COLOUR["paper"], "effective")):
                x = [g[0]["op"] for g in groups]
                high = [max(r[field] for r in g) / 1e3 for g in groups]
                axes.plot(x, high, color=colour, label=label)
                if step > 1:
                    axes.fill_between(x, [min(r[field] for r in g) / 1e3 for g in groups], high,
                                      color=colour, alpha=.35, linewidth=0)
            axes.set_title(title)
            axes.set_xlabel("punctures")
            axes.set_ylim(0)
        panels[0].set_ylabel("heap of list [kB]")
        panels[0].legend(loc="upper left")
        fig.tight_layout(w_pad=.8)
        plots.save(fig, "paper-heap-run")
        peaks = {k: max(r["effective_bytes"] for r in v) / 1e3 for k, v in series.items()}
        doc.figure("paper-heap-run", """Four line plots of the list's heap over one run at the
                   paper's depth 14: straight growth in the worst case, a sawtooth under 1 kB in
                   the best, and a rise to a peak and a slow fall for the two normal
                   distributions.""",
                   """The paper's figures 4.3, 4.5, 4.6 and 4.7: heap over one run at its depth
                   14 (d = 13); the best case moves within the bands. Effective peaks of these
                   runs: %s kB and %s kB; the paper's: 104 and 32 kB."""
                   % (number(peaks["normal-4"]), number(peaks["normal-16"])))
        predicted = {}
        for r in (cover or {}).get("rows", []):
            if r["depth"] == 13 and r["divisor"] in (4, 16):
                predicted[r["divisor"]] = (36 * r["peak"]["predicted"] + 24,
                                           36 * r["peak"]["mean"] + 24, 36 * r["peak"]["sd"])
        doc.table("Normal distribution at its depth 14: effective heap at the peak",
                  ["σ", "leaves / σ", "paper says", "paper", "formula", "100 runs, mean ± sd",
                   "this run"],
                  [[s, k, said, paper, size(predicted[k][0]) if k in predicted else "–",
                    "%s ± %s" % (size(predicted[k][1]), size(predicted[k][2]))
                    if k in predicted else "–", size(1e3 * peaks["normal-%d" % k])]
                   for s, k, said, paper in ((2048, 4, "leaves/5", "104 kB"),
                                             (512, 16, "leaves/20", "32 kB"))],
                  """The paper states σ = leaves/5 = 2048 and leaves/20 = 512. With its 8192
                  leaves (depth 14) these are leaves/4 and leaves/16; no power of two is
                  divisible by 5. The heap it measured agrees with the values 2048 and 512, not
                  with the fractions. Its "nearly three times smaller" is a factor of 3.2, in its
                  own numbers 3.25; it is below 4 because a tree of 4 σ leaves is too narrow for
                  the larger window.""")
        rows = series["best"]
        doc.text("Best case: at most %d nodes, %s bytes effective and %s in all; the paper: below "
                 "3 kB for all its depths." % (max(r["nodes"] for r in rows),
                                          number(max(r["effective_bytes"] for r in rows), 6),
                                          number(max(r["bytes"] for r in rows), 6)))

    def line(points):
        """a and b of a + b n through the first and the last of the points (n, time)."""
        (n0, t0), (n1, t1) = points[0], points[-1]
        b = (t1 - t0) / (n1 - n0)
        return t0 - b * n0, b

    a, b = line([(2 ** (big - 2), 1e6 * v[1]) for big, v in PAPER_TIME.items()])
    own = [(2 ** (big - 2), nohash.median("BM_Punct/list/worst/d:%d" % (big - 1)))
           for big in PAPER_TIME]
    own_a, own_b = line(own) if all(t for _, t in own) else (None, None)
    rows = []
    for big, (with_hash, without) in PAPER_TIME.items():
        d, n = big - 1, 2 ** (big - 2)
        v = lambda source, impl: source.median("BM_Punct/%s/worst/d:%d" % (impl, d))  # noqa: E731
        rows.append([big, d, "%g ms" % with_hash, "%g ms" % without, nanoseconds(a + b * n),
                     "%.0f µs" % (1e3 * (with_hash - without)),
                     nanoseconds(v(bench, "list")), nanoseconds(v(nohash, "list")),
                     nanoseconds(own_a + own_b * n) if own_b else "–",
                     nanoseconds(v(bench, "opt")), nanoseconds(v(nohash, "opt"))])
    if bench.runs:
        doc.table("Worst case: mean time of a puncture",
                  ["its depth", "our d", "paper", "no hash", "a + b n", "hash", "list", "no hash",
                   "a + b n", "opt", "no hash"], rows,
                  """a + b n, n = 2^{d−1} nodes at the end, is the line through the first and the
                  last value without hashing: the paper's b is %s ns a node, that of our list %s ns.
                  Both grow by the same law. Why ours takes so much less a node the paper does not
                  tell; in ours the elements lie in memory in the order of the search. The paper's
                  two hashes take 41 to 59 µs at every depth, ours a microsecond. `opt` does not
                  grow."""
                  % (number(b), number(own_b)))
        fig, axes = plt.subplots(figsize=(7.6, 3.6))
        x = list(PAPER_TIME)
        axes.plot(x, [1e6 * v[0] for v in PAPER_TIME.values()], **style("paper", label="paper"))
        axes.plot(x, [1e6 * v[1] for v in PAPER_TIME.values()],
                  **style("paper", ":", label="paper, no hash"))
        for impl in ("list", "opt"):
            for source, line, label in ((bench, "-", impl), (nohash, ":", impl + ", no hash")):
                v = [(b, source.median("BM_Punct/%s/worst/d:%d" % (impl, b - 1))) for b in x]
                axes.plot([b for b, t in v if t], [t for _, t in v if t],
                          **style(impl, line, label=label))
        axes.set_yscale("log")
        time_axis(axes.yaxis)
        axes.set_xlabel("the paper's depth (ours: one less)")
        axes.set_title("Worst case: mean time of a puncture")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, .5))
        plots.save(fig, "paper-time")
        doc.figure("paper-time", """Line plot of the mean puncture time against the depth with
                   and without hashing: paper and list double with every level, opt stays flat at
                   the time of two hashes.""",
                   "The paper's figure 4.9; its times come from its own laptop.")

    opt = read_csv(os.path.join(where, "run-opt-worst.csv"))
    if series["worst"] and opt:
        fig, axes = plt.subplots(figsize=(7.6, 3.4))
        for rows, name in ((series["worst"], "list"), (opt, "opt")):
            for field, colour, label in (("punct_ns", COLOUR[name], name + ", puncture"),
                                         ("eval_ns", COLOUR["paper"] if name == "list"
                                          else COLOUR["bst"], name + ", eval")):
                axes.plot([r["op"] for r in rows], [r[field] for r in rows], ".", color=colour,
                          markersize=1.6, rasterized=True, label=label)
        axes.set_yscale("log")
        time_axis(axes.yaxis)
        axes.set_xlabel("punctures done, d = 13")
        axes.set_title("Single operations over a worst-case run")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, .5), markerscale=6)
        plots.save(fig, "paper-single")
        doc.figure("paper-single", """Scatter plot of the time of single punctures and
                   evaluations over a worst-case run: those of list rise with the length of the
                   list, those of opt stay between about one and a few microseconds whatever the
                   size of the key.""",
                   """The paper's figures 4.8 and 4.10. Each point is the least of five runs.
                   Punctures whose node lies high in the tree need more PRG calls, hence the
                   bands.""")


def sigma_section(doc, plots, cover):
    doc.heading("Key size against σ", "sigma")
    if not cover or not cover.get("rows"):
        doc.text("Not run: `make bench` or `make bench-quick` simulates it.")
        return
    rows, limit = cover["rows"], cover["limit"]
    c, k, m, mean = (limit[x] for x in ("peak_per_sigma", "excess", "punctured_per_sigma",
                                        "mean_per_sigma"))
    depths = sorted({r["depth"] for r in rows})
    doc.text("The paper leaves open how the key's size depends on the width σ of the window of "
             "punctures. %d runs for each of %d values of σ at d = %s, and a formula derived in "
             "docs/key-size.md without a fitted parameter: the number of nodes is the number of "
             "free leaves less the number of free inner nodes, and after a Poisson number t of "
             "draws a subtree of probability p is free with probability exp(−t p), so the "
             "expected size is the sum of exp(−t p) over the leaves less the same sum over the "
             "inner nodes. Its largest value over t, plus what a random walk gains over the top "
             "of a parabola, is the predicted peak."
             % (cover["runs"], len({r["divisor"] for r in rows}), ", ".join(map(str, depths))))
    doc.text("In short: for σ ≤ 2^d/12 the peak is %s σ + %s σ^{1/3} + 2 log2(2^d/σ) − 5.5 ± 1 "
             "nodes, reached when %s σ leaves are punctured; over the first 4 σ punctures the key "
             "has %s σ nodes in the mean. Punctured uniformly at random, a key peaks at %s nodes "
             "a leaf, when %s of the leaves are punctured." % (
                 number(c, 4), number(k, 3), number(m, 4), number(mean, 4),
                 number(limit["uniform_peak_per_leaf"], 3),
                 "%s %%" % number(100 * limit["uniform_punctured"], 3)))
    fig, (left, middle, right) = plt.subplots(1, 3, figsize=(10.6, 3.5))
    palette, marks = ["#0072b2", "#e69f00", "#cc6677"], "os^"
    for i, d in enumerate(depths):
        own = [r for r in rows if r["depth"] == d]
        x = [r["divisor"] * 1.04 ** (i - 1) for r in own]
        for axes, field, scale in ((left, "peak", lambda r: r["sigma"]),
                                   (right, "punctured", lambda r: r["sigma"] / 2 ** d)):
            axes.errorbar(x, [r[field]["mean"] / scale(r) for r in own],
                          [r[field]["ci95"] / scale(r) for r in own], fmt=marks[i % 3], capsize=2,
                          color=palette[i % 3], markersize=4, label="d = %d" % d, linewidth=1)
            axes.plot(x, [r[field]["predicted"] / scale(r) for r in own], color=palette[i % 3],
                      linewidth=1)
        middle.errorbar(x, [100 * (r["peak"]["mean"] / r["peak"]["predicted"] - 1) for r in own],
                        [100 * r["peak"]["ci95"] / r["peak"]["predicted"] for r in own],
                        fmt=marks[i % 3], capsize=2, color=palette[i % 3], markersize=4,
                        linewidth=1)
    left.axhline(c, color=INK, linewidth=.8, linestyle="--")
    right.axhline(m, color=INK, linewidth=.8, linestyle="--")
    middle.axhline(0, color=INK, linewidth=.8)
    for axes, title in ((left, "peak nodes / σ"), (middle, "simulated − predicted peak [%]"),
                        (right, "punctured at the peak / σ")):
        axes.set_xscale("log", base=2)
        axes.set_xticks([4, 16, 64, 256, 1024], ["4", "16", "64", "256", "1024"])
        axes.set_xlabel("leaves / σ")
        axes.set_title(title)
    left.legend(loc="upper left")
    fig.tight_layout(w_pad=1.2)
    plots.save(fig, "key-size-sigma")
    doc.figure("key-size-sigma", """Three plots against leaves over sigma. Left: peak nodes over
               sigma; simulated points lie on the predicted curves and approach 1.77 for large
               sigma. Middle: simulated less predicted peak in percent, within about one percent.
               Right: punctures at the peak over sigma, about 1.74.""",
               """Points: means of %d runs with 95 %% confidence intervals. Lines: the formula.
               Dashed: its limit for a wide window in a wide tree. The maximum is flat, so where
               it is reached scatters more than how high it is.""" % cover["runs"])
    table = []
    for r in rows:
        def pair(field, digits, scale=1):
            v = r[field]
            return ["%s ± %s" % (number(scale * v["mean"], digits), number(scale * v["ci95"], 2)),
                    number(scale * v["predicted"], digits)]
        table.append([r["depth"], "2^d/%d" % r["divisor"], number(r["sigma"], 4)] + pair("peak", 4)
                     + pair("mean_size", 4) + pair("punctured", 3, 100))
    doc.table("Key size against σ: %d runs each, mean ± 95 %% confidence" % cover["runs"],
              ["d", "σ", "σ in leaves", "peak nodes", "formula", "mean nodes", "formula",
               "punctured at the peak [%]", "formula"], table,
              """Mean nodes: over the first 4 σ punctures (for σ = 2^d/4, over all leaves). The
              formulas are asymptotic; where σ is only 2 to 4 leaves they are off by up to 3 %
              (peak) and 25 % or more (where the peak is).""")


def random_key(d, q):
    """Nodes, and bytes of opt, when a fraction q of 2^d leaves is punctured at random
    (docs/key-size.md, "Bytes").  A page holds the slots of 2^9 leaves, the bits of 2^15 leaves, or
    those of 2^20 leaves one level up."""
    free = [(1 - q) ** 2.0 ** h for h in range(d + 1)]  # a node of height h is free
    nodes = 2.0 ** d * (free[0] - sum(2.0 ** -h * free[h] for h in range(1, d + 1)))
    pages = sum(2.0 ** (d - h) * (1 - free[h]) for h in (9, 15, 20) if h <= d)
    pages += sum(2.0 ** (d - h) * (free[h] - free[h + 1]) for h in range(9, d))
    return nodes, 4096 * pages


def growth_section(doc, plots, build, bench, growth):
    doc.heading("Growth and sparse sets", "growth")
    source = growth if growth.runs else bench
    if source.runs:
        if source is bench:
            doc.text("The run to d = 24 is part of `make bench`; here are the depths of the quick "
                     "run.")
        fig, panels = plt.subplots(2, 2, figsize=(9.4, 6), sharex=True)
        for column, scenario in enumerate(("worst", "random")):
            for impl in IMPLS:
                depths = source.depths("Punct", impl, scenario)
                name = "BM_Punct/%s/" % impl + scenario + "/d:%d"
                panels[0][column].plot(depths, [source.median(name % d) for d in depths],
                                       **style(impl))
                panels[1][column].plot(
                    depths, [source.median(name % d, "bytes_per_node")
                             * source.median(name % d, "nodes") for d in depths], **style(impl))
            panels[0][column].set_title("%s: time of a puncture" %
                                        {"worst": "worst case", "random": "random order"}[scenario])
            panels[1][column].set_title("memory at the peak")
            panels[1][column].set_xlabel("depth d")
            for axes in (panels[0][column], panels[1][column]):
                axes.set_yscale("log")
            time_axis(panels[0][column].yaxis)
            byte_axis(panels[1][column].yaxis)
        handles, labels = panels[0][0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="upper center", ncol=6, bbox_to_anchor=(.5, 1.03))
        fig.tight_layout()
        plots.save(fig, "growth")
        doc.figure("growth", """Four line plots on log axes against the depth: puncture time and
                   memory at the peak in the worst case and in random order. list and list28
                   double in time with every level; array and ref do so in random order; bst and
                   opt grow slowly. Memory doubles with every level for all, opt lowest.""",
                   """The cost of growth. A line ends where one repetition would have taken
                   longer than the run's limit.""")
        depths = sorted({d for i in IMPLS for s in ("worst", "random")
                         for d in source.depths("Punct", i, s)})
        for scenario, what in (("worst", "worst case"), ("random", "random order")):
            doc.table("Time of a puncture and bytes a node at the peak, %s" % what, ["d"] + IMPLS,
                      [[d] + ["%s; %s B" % (nanoseconds(source.median(n)),
                                            number(source.median(n, "bytes_per_node")))
                              if source.values(n) else "–" for n in
                              ["BM_Punct/%s/%s/d:%d" % (i, scenario, d) for i in IMPLS]]
                       for d in depths if source.depths("Punct", "opt", scenario).count(d)])
    where = os.path.join(build, "bench")
    sparse = {k: read_csv(os.path.join(where, "sparse-%s.csv" % k))
              for k in ("opt-24", "bst-24", "opt-32")}
    if sparse["opt-24"]:
        fig, (left, right) = plt.subplots(1, 2, figsize=(9.4, 3.6))
        for key, fill in (("opt-24", "full"), ("opt-32", "none"), ("bst-24", "full")):
            rows = sparse[key]
            if rows:
                impl, d = key.split("-")
                x = [100 * r["fraction"] for r in rows]
                look = style(impl, "none", label="%s, d = %s" % (impl, d), fillstyle=fill)
                left.plot(x, [r["bytes"] / r["nodes"] for r in rows], **look)
                right.plot(x, [r["bytes"] for r in rows], **look)
        for d, line in ((24, "-"), (32, ":")):
            x = [10 ** (e / 20) for e in range(-120 if d == 24 else -160, -19)]
            left.plot([100 * q for q in x], [random_key(d, q)[1] / random_key(d, q)[0] for q in x],
                      color=COLOUR["opt"], linewidth=1, linestyle=line, label="formula, d = %d" % d)
            right.plot([100 * q for q in x], [random_key(d, q)[1] for q in x],
                       color=COLOUR["opt"], linewidth=1, linestyle=line)
        left.axhline(16, color=INK, linewidth=.8, linestyle="--")
        left.set_title("bytes a node")
        right.set_title("bytes in all")
        for axes in (left, right):
            axes.set_xscale("log")
            axes.set_yscale("log")
            axes.set_xlabel("leaves punctured, at random [%]")
        byte_axis(left.yaxis)
        byte_axis(right.yaxis)
        left.legend()
        fig.tight_layout()
        plots.save(fig, "sparse")
        cross = None
        if sparse["bst-24"]:
            for a, b in zip(sparse["opt-24"], sparse["bst-24"]):
                if a["bytes"] <= b["bytes"]:
                    cross = 100 * a["fraction"]
                    break
        doc.figure("sparse", """Two log-log plots against the percentage of leaves punctured at
                   random: bytes a node and bytes in all. opt needs thousands of bytes a node
                   when a millionth of the leaves is punctured and falls towards 16 to 30 as the
                   set grows denser; the balanced tree stays at 64.""",
                   """What dense pair slots are bad at: a page is held for the few seeds in it.
                   Points are measured, lines are the formula of docs/key-size.md.""")
        doc.text("By the formula `opt` takes less memory than a balanced tree where 3 %% of the "
                 "leaves or more are punctured at random, at any depth; measured at d = 24: %s."
                 % ("from %s %% on" % number(cross, 2) if cross else "at no density up to %s %%"
                    % number(100 * sparse["opt-24"][-1]["fraction"], 2)))
        table = []
        doc.table("What the formula says of `opt`, measured or not: memory; bytes a node",
                  ["leaves punctured"] + ["d = %d" % d for d in (16, 20, 24, 28, 32)],
                  [["%s %%" % number(100 * q, 2)]
                   + ["%s; %s" % (size(b), number(b / n)) for n, b in
                      (random_key(d, q) for d in (16, 20, 24, 28, 32))]
                   for q in (1e-4, 1e-3, 1e-2, .03, .1, .34)],
                  "A balanced tree takes 64 bytes a node at every density.")
        for key in ("opt-24", "bst-24", "opt-32"):
            for r in sparse[key] or []:
                exponent = math.log10(r["fraction"] * 1.001)
                if abs(exponent - round(exponent)) < .05 or r is (sparse[key] or [None])[-1]:
                    impl, d = key.split("-")
                    table.append([impl, d, "%s %%" % number(100 * r["fraction"], 2),
                                  number(r["nodes"], 9),
                                  number(random_key(int(d), r["punctured"] / 2 ** int(d))[0], 4),
                                  size(r["bytes"]),
                                  size(random_key(int(d), r["punctured"] / 2 ** int(d))[1])
                                  if impl == "opt" else "–",
                                  number(r["bytes"] / r["nodes"], 3), size(r["rss_bytes"]),
                                  nanoseconds(1e9 * r["cpu_seconds"] / r["punctured"])])
        doc.table("Few punctures in a large domain", ["impl", "d", "punctured", "nodes", "formula",
                                                      "memory", "formula", "bytes a node",
                                                      "process grew by", "time a puncture"], table,
                  """Memory is `pprf_memory_bytes`; the growth of the process's resident memory
                  is measured beside it. d = 32 ends at the memory or time limit of this run.""")


def command(*args):
    try:
        return subprocess.run(args, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def machine_section(doc, bench, run):
    doc.heading("Machine and method", "machine")
    c = bench.context
    memory = re.search(r"MemTotal:\s+(\d+)", open("/proc/meminfo", encoding="utf-8").read())
    caches = ", ".join("L%s %s %d KiB" % (x["level"], x["type"].lower(), x["size"] // 1024)
                       for x in c.get("caches", []))
    rows = [["processor", c.get("cpu_model", "–")], ["cores", c.get("num_cpus", os.cpu_count())],
            ["clock", "%s MHz" % c["mhz_per_cpu"] if "mhz_per_cpu" in c else "–"],
            ["caches", caches or "–"],
            ["memory", "%.1f GiB" % (int(memory.group(1)) / 2 ** 20) if memory else "–"],
            ["kernel", c.get("kernel", "–")], ["compiler", c.get("compiler", "–")],
            ["digest", c.get("openssl", "–")],
            ["valgrind", command("valgrind", "--version").strip() or "not installed"],
            ["measured", "%s, %s run" % (run.get("started", "–"), run.get("mode", "?"))
             if run else "–"],
            ["load at the start", run.get("load", "–") if run else "–"],
            ["PRG call", "%s ns" % spread(bench.values("BM_Prg/evp/chain/d:1"))]]
    doc.table("Machine", ["what", "value"], rows)
    doc.text("One repetition runs a whole scenario on a new key; its inputs are made beforehand "
             "from a fixed seed and its results are consumed and checked: a wrong result, or a "
             "number of nodes at the peak that differs from arithmetic, fails the run. Times are "
             "CPU times of the measuring thread, so that other processes cost nothing but cache. "
             "`bench/compare.py A B` compares two runs.")


def main():
    build = sys.argv[1] if len(sys.argv) == 2 else "build"
    out = os.path.join(build, "report")
    os.makedirs(out, exist_ok=True)
    for old in os.listdir(out):
        if old.endswith((".svg", ".png", ".html", ".txt")):
            os.remove(os.path.join(out, old))
    where = lambda name: os.path.join(build, "bench", name)  # noqa: E731
    bench, nohash, growth = (Bench(where(n)) for n in ("bench.json", "nohash.json", "growth.json"))
    cover, run = read_json(where("coversize.json")), read_json(where("run.json"))
    doc, plots = Doc(), Plots(out)

    cards, coq, wp, fuzz = proof_cards(build)
    place = len(doc.blocks)
    reached, measured = figures_section(doc, bench, nohash, growth)
    cards.append(("Figures", "not run" if not measured else
                  "reached" if reached == measured else "missed",
                  "%d of %d" % (reached, measured) if measured else "–",
                  "targets reached of those measured in this run" if measured
                  else "`make bench` measures them"))
    doc.blocks.insert(place, ("cards", cards))
    proof_section(doc, coq, wp, fuzz)
    overview_section(doc, plots, bench, nohash)
    if bench.runs:
        losses_section(doc, bench, growth)
    paper_section(doc, plots, build, bench, nohash, cover)
    sigma_section(doc, plots, cover)
    growth_section(doc, plots, build, bench, growth)
    machine_section(doc, bench, run)

    commit = command("git", "describe", "--always", "--dirty").strip()
    title = "libpprf: what was proven, tested and measured"
    lead = "%s%s" % (bench.context.get("cpu_model", "not measured"),
                     ", source " + commit if commit else "")
    if bench.context.get("date"):
        lead = "%s, %s" % (bench.context["date"][:16].replace("T", " "), lead)
    with open(os.path.join(out, "index.html"), "w", encoding="utf-8") as f:
        f.write(to_html(doc, title, lead, out))
    text = to_text(doc, title, lead)
    with open(os.path.join(out, "report.txt"), "w", encoding="utf-8") as f:
        f.write(text)
    sys.stdout.write(text)
    print("\nreport: %s" % os.path.join(out, "index.html"))


if __name__ == "__main__":
    main()
