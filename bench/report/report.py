#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The report: what was proven and tested, what was measured, and where this library is weak.

Usage: report.py BUILD      reads BUILD/prove, BUILD/equivalence-tests, BUILD/test and BUILD/bench,
                            writes BUILD/report/index.html, report.txt and each plot as SVG and PNG,
                            and prints the text.

The text is in *.j2; this file computes its figures. A check that has not been run is "not run", one
that ran on other sources is "stale", and failures are named."""
import math
import os
import posixpath
import re
import statistics
import subprocess
import sys

import jinja2
import markdown as python_markdown
from markdown import treeprocessors

import plots as draw
import source
from comparisons import (SUITE_FIGURES, openmls_suite, redact_tables, store_cases, store_targets, suite_rows,
                         suite_targets, vault_tables, verdict_of, wprf_tables)
from results import (IMPLS, OWN, STORES, Bench, Result, count, duration, massif_peak, number, objects, read_csv,
                     read_json, size, spread)

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))


def table(caption, header, rows, fold=20, of_run=True):
    """A table for the templates; columns of numbers are right-aligned. of_run: the figures come
    from the run, and are marked if it was noisy."""
    right = [bool(rows) and all(NUMBER.match(str(r[i])) for r in rows)
             and any(r[i] != "–" for r in rows) for i in range(len(header))]
    return {"caption": caption, "header": header, "rows": rows, "right": right, "fold": len(rows) > fold,
            "of_run": of_run}


NUMBER = re.compile(r"^[−+-]?[0-9][0-9.\u202f]*( ?([nµm]?s|[kMG]?B|%|MHz))?( \(.*\)| ± .*)?$|^–$")


# --- what was checked ----------------------------------------------------------------------------

def check(name, command, result, judge):
    """An entry in the list of checks. judge(data) returns (good, figure, details)."""
    line = {"name": name, "command": command, "when": result.when, "commit": result.commit}
    if result.data is None:
        return dict(line, status="not run", figure="–", details=[])
    good, figure, details = judge(result.data)
    status = "failed" if not good else "stale" if result.stale else "passed"
    return dict(line, status=status, figure=figure, details=details)


def judge_coq(coq):
    good = coq.get("closed") is True
    return good, "%s theorems" % number(count(coq, "theorems")), [
        "no axiom, nothing admitted" if good else "not closed under the global context"] + (
        ["coqchk: %s" % coq["coqchk"]] if coq.get("coqchk") else [])


def judge_goals(what, least):
    """A function with fewer goals than `least`, or with an unproved goal, is a failure."""
    def judge(wp):
        functions = objects(wp, "functions")
        goals, proved = (sum(count(f, k) for f in functions) for k in ("goals", "proved"))
        missing = ["%s: %s of %s" % (f.get("name", "?"), f.get("proved", "?"), f.get("goals", "?"))
                   for f in functions if count(f, "proved") < max(least, count(f, "goals"))]
        failures = [str(f) for f in wp.get("failures") or [] if str(f).split(": ")[0] not in
                    {m.split(": ")[0] for m in missing}]
        good = bool(functions) and not missing and not failures and wp.get("passed") is not False
        details = missing + failures
        if wp.get("passed") is False and not details:
            details = ["the run failed"]
        if wp.get("part"):
            details.append("a part: %s" % wp["part"])
        if wp.get("open"):
            reasons = wp["open"] if isinstance(wp["open"], dict) else {}
            details.append("not proven yet: %s" % "; ".join(
                str(name) + (" (%s)" % reasons[name] if reasons.get(name) else "")
                for name in wp["open"]))
        of = ", a part of all" if wp.get("part") else ""
        return good, "%s of %s %s%s" % (number(proved, 9), number(goals, 9), what, of), details
    return judge


def judge_fuzz(fuzz):
    targets = objects(fuzz, "targets")
    crashed = ["%s: %s crashes" % (t.get("name", "?"), count(t, "crashes"))
               for t in targets if count(t, "crashes")]
    executions = sum(count(t, "executions") for t in targets)
    return (not crashed and executions > 0, "%s executions" % number(executions, 12),
            crashed or ["%d targets, %s s each, no crash" % (len(targets),
                                                            fuzz.get("seconds", "?"))])


def judge_tests(text):
    files = re.search(r"Files=(\d+), Tests=(\d+)", text)
    good = re.search(r"^Result: PASS", text, re.M) is not None
    bad = re.findall(r"^(\S+) .*\(Wstat", text, re.M)
    return good, "%s tests" % number(int(files[2]), 9) if files else "no total", (
        bad or [] if good else bad or [text.splitlines()[-1][:80]])


def judge_planted(data):
    survivors = [str(bug.get("name", "?")) for bug in objects(data, "bugs") if not bug.get("ok")]
    noticed, planted = count(data, "noticed"), count(data, "planted")
    good = planted > 0 and noticed == planted and not survivors
    return good, "%s of %s noticed" % (number(noticed), number(planted)), [
        "not noticed: %s" % s for s in survivors]


def judge_coverage(data):
    cli = data.get("cli") if isinstance(data.get("cli"), dict) else {}
    good = data.get("passed") is not False
    return good, "%.1f %% of lines" % count(data, "lines"), [
        "%.1f %% of branches of ref and opt; cli: %.1f %% of lines" % (
            count(data, "branches"), count(cli, "lines"))] + (
        [] if good else ["below the required share, or a gap without a written reason"])


def checks(build, now):
    def result(*path):
        return Result(os.path.join(build, *path), now)

    files = {"coq": result("prove", "coq.json"), "wp": result("prove", "wp.json"),
             "fuzz": result("equivalence-tests", "fuzz.json")}
    return [
        check("Theorems in Coq", "make prove-coq", files["coq"], judge_coq),
        check("Contracts of the C code", "make prove-wp", files["wp"], judge_goals("goals", 1)),
        check("Contradictions in contracts", "make prove-wp-smoke",
              result("prove", "wp-smoke.json"), judge_goals("smoke tests", 0)),
        check("Bugs planted in proven code", "make planted-prove",
              result("prove", "wp-planted.json"), judge_planted),
        check("Tests", "make tap", result("test", "summary.txt"), judge_tests),
        check("Bugs planted in tested code", "make planted",
              result("equivalence-tests", "planted.json"), judge_planted),
        check("Coverage by the tests", "make coverage",
              result("equivalence-tests", "coverage.json"), judge_coverage),
        check("Fuzzing", "make fuzz", files["fuzz"], judge_fuzz)], files


def theorems(checked):
    """Sections of docs/theorems.md, and for each theorem whether this build's gate has checked
    it."""
    sections = []
    with open(os.path.join(ROOT, "docs", "theorems.md"), encoding="utf-8") as f:
        for line in f:
            row = re.match(r"\| \[`(\w+)`\]\(\.\./([^)]+)\) \| (.*) \|$", line)
            if line.startswith("## "):
                sections.append({"title": line[3:].strip(), "rows": []})
            elif row:
                sections[-1]["rows"].append({"name": row[1], "file": row[2],
                                             "meaning": row[3].replace("\\|", "|"),
                                             "checked": row[1] in checked})
    return [s for s in sections if s["rows"]]


# --- what was measured ---------------------------------------------------------------------------

def targets(bench, nohash, growth, stores=None, suites=None):
    """The targets of opt; for punctures those of pair slots: (figure, target, values, digits), each
    from one run."""
    def quotient(results, over, under):
        a, b = results.values(over), results.values(under)
        return [x / statistics.median(b) for x in a] if a and b else []

    worst = bench.values("BM_Punct/slots/worst/d:16", "bytes_per_node")
    for d in growth.depths("Punct", "slots", "worst"):
        if d >= 16:
            worst = worst + growth.values("BM_Punct/slots/worst/d:%d" % d, "bytes_per_node")
    pair = next((v for v in (bench.values("BM_EvalPunct/opt/random/d:%d" % d, "vs_eval_then_punct")
                             for d in (16, 14)) if v), [])
    prefault = bench.values("BM_Latency/opt/prefault/d:20", "max_ns")
    lists = ("BM_Punct/list/worst/d:15", "BM_Punct/slots/worst/d:15")
    rows = [
        ("puncture / its PRG calls alone, worst case, 2^15 nodes", "≤ 1.05",
         bench.values("BM_Punct/slots/worst/d:16", "ratio"), 3),
        ("the same, random order, d = 16", "≤ 1.10",
         bench.values("BM_Punct/slots/random/d:16", "ratio"), 3),
        ("the same, random order, d = 21", "≤ 1.30",
         bench.values("BM_Punct/slots/random/d:21", "ratio"), 3),
        ("bytes a node, worst case, d ≥ 16", "≤ 16.3", worst, 4),
        ("bytes a node, random order, d = 16", "≤ 21",
         bench.values("BM_Punct/slots/random/d:16", "bytes_per_node"), 4),
        ("list / pair slots, no hashing, worst case, 2^15 leaves", "≥ 2000", quotient(nohash, *lists), 3),
        ("list / pair slots, worst case, 2^15 leaves", "≥ 100", quotient(bench, *lists), 3),
        ("longest puncture, d = 20, prefaulted [µs]", "≤ 5", [x / 1e3 for x in prefault], 3),
        ("libcrypto's SHA3 / own, scalar", "≥ 2", bench.values("BM_Prg/scalar/chain/d:1",
                                                               "vs_oneshot"), 3),
        ("libcrypto's SHA3 / own, AVX-512", "≥ 2.5", bench.values("BM_Prg/avx512/chain/d:1",
                                                                  "vs_oneshot"), 3),
        ("4 leaves at once / one by one", "≥ 3.7", bench.values("BM_Batch/opt/n4/d:15",
                                                                "vs_single"), 3),
        ("8 leaves at once / one by one", "≥ 5", bench.values("BM_Batch/opt/n8/d:15",
                                                              "vs_single"), 3),
        ("all of 2^20 leaves at once / one by one", "≥ 5",
         bench.values("BM_Expand/opt/all/d:20", "vs_single"), 3),
        ("eval_punct / (eval, then punct)", "≤ 0.6", pair, 3),
    ] + store_targets(stores) + suite_targets(suites)
    out = {"rows": [], "missed": [], "reached": 0, "measured": 0, "latency": None}
    for label, target, values, digits in rows:
        verdict = "not measured"
        if values:
            verdict = verdict_of(target, values)
            out["measured"] += 1
            out["reached"] += verdict == "reached"
            if verdict == "missed":
                out["missed"].append("%s: %s, target %s" % (label, spread(values, digits), target))
        out["rows"].append([label, target, spread(values, digits), verdict])
    out["table"] = table("opt against its targets",
                         ["figure", "target", "median (least – greatest)", ""], out["rows"])
    recurring = bench.values("BM_Latency/opt/prefault/d:20", "recurring_max_ns")
    machine = bench.values("BM_Latency/opt/prefault/d:20", "machine_max_ns")
    if prefault and recurring and machine:
        out["latency"] = {"machine": spread([x / 1e3 for x in machine]), "runs": len(recurring),
                          "recurring": duration(min(recurring))}
    return out


def rounds(data):
    return "one round" if data.get("rounds") == 1 else "%s rounds" % data.get("rounds")


def suites_section(plots, suites, stores):
    rows = objects(suites, "rows")
    if not suite_rows(suites):
        return None
    body = [[r.get("suite"), r.get("version")] + (
        [spread(r.get(f, [])) for f, _ in SUITE_FIGURES] if r.get("one") else
        ["not on this processor"] + ["–"] * (len(SUITE_FIGURES) - 1)) for r in rows]
    body += [[r["suite"], r["version"]] + [spread(r[f]) if f in r else "–" for f, _ in SUITE_FIGURES]
             for r in openmls_suite(stores)]
    return {"chosen": [str(x) for x in suites.get("default", [])],
            "panels": draw.suite_panels(plots, [r for r in rows if r.get("one")],
                                        [("punct", "Worst-case puncture, d = 16"),
                                         ("eight", "An expansion, eight at once"),
                                         ("fresh", "Fresh evaluation, d = 20")]),
            "table": table("Suites: CPU time in ns, median (least – greatest) of %s" % rounds(suites),
                           ["suite", "version"] + [n for _, n in SUITE_FIGURES], body)}


def wprf_section(plots, data):
    rows = [dict(r, suite=str(r["version"]).split(" of ", maxsplit=1)[0] if "tree" in r["version"] else "a call")
            for r in objects(data, "rows") if r.get("ns")]
    return rows and {"tables": [table(*t) for t in wprf_tables(data)],
                     "panels": draw.suite_panels(plots, rows, [("ns", "A call; an expansion in a tree")], {
                         "a call": ("blue", "*"), "tree": ("vermillion", "o")}, "wprf-")}


def stores_section(plots, stores, why_not):
    cases = store_cases(stores)
    if not cases:
        return None
    out = {"rounds": rounds(stores), "openmls": stores.get("openmls") is True,
           "why_not": why_not or "it was not built",
           "wipe": duration(stores.get("wipe_ns")), "tables": [],
           "panels": draw.store_panels(plots, objects(stores, "rows"), 24)}
    for caption, text in (
            ("CPU time of one operation", lambda r: duration(statistics.median(r["ns"]))
             if r.get("ns") else "–"),
            ("Time / time of its PRG calls alone", lambda r: spread(r.get("ratio", []))),
            ("Bytes a node", lambda r: number(r.get("bytes_per_node"), 4))):
        rows = [[label] + [text(by[s]) if s in by else "–" for s in STORES] for label, by in cases]
        out["tables"].append(table(caption, ["case"] + STORES,
                                   [r for r in rows if any(c != "–" for c in r[1:])]))
    return out


CASES = [("Punct", "worst", 15, "worst case, d = 15"), ("Punct", "worst", 16, "worst case, d = 16"),
         ("Punct", "descending", 15, "descending, d = 15"),
         ("Punct", "descending", 14, "descending, d = 14"),
         ("Punct", "best", 14, "best case, d = 14"), ("Punct", "random", 16, "random, d = 16"),
         ("Punct", "random", 21, "random, d = 21"), ("Punct", "normal", 16, "σ = 2^d/16, d = 16"),
         ("Punct", "normal", 14, "σ = 2^d/16, d = 14"),
         ("EvalPunct", "tls", 16, "TLS tickets, d = 16"),
         ("EvalPunct", "tls", 20, "TLS tickets, d = 20"),
         ("EvalPunct", "tls", 14, "TLS tickets, d = 14"), ("Range", "ranges", 20, "ranges, d = 20"),
         ("Range", "ranges", 14, "ranges, d = 14"), ("Eval", "fresh", 15, "eval, new key, d = 15"),
         ("Eval", "random", 15, "eval, random, d = 15")]


def name_of(impl):
    return lambda case: "BM_%s/%s/%s/d:%d" % (case[0], impl, case[1], case[2])


def measured(plots, bench, nohash):
    names = {i: name_of(i) for i in IMPLS}
    cases = [c for c in CASES if any(bench.values(of(c), "ratio") for of in names.values())]
    if not cases:
        return None
    out = {"panels": draw.floor_panels(plots, bench, cases, names), "tables": []}
    for field, caption, show in (
            ("cpu_time", "CPU time of one operation, median", duration),
            ("ratio", "Time / time of its PRG calls alone, median", number),
            ("bytes_per_node", "Bytes for each stored seed at the peak", lambda x: number(x, 4))):
        rows = [[c[3]] + [show(bench.median(of(c), field)) for of in names.values()] for c in cases
                if any(bench.values(of(c), field) for of in names.values())]
        out["tables"].append(table(caption, ["case"] + IMPLS, rows))
    rows = [[d] + [duration(nohash.median("BM_Punct/%s/worst/d:%d" % (i, d))) for i in IMPLS]
            for d in nohash.depths("Punct", "slots", "worst")]
    out["tables"].append(table("Worst-case puncture without hashing: the PRG is two additions",
                               ["d"] + IMPLS, rows))
    rows = []
    for op, scenario, label in (("Setup", "fresh", "set-up and free"),
                                ("Export", "worst", "export at the worst-case peak"),
                                ("Import", "worst", "import of that key"),
                                ("Delegate", "worst", "delegation of a third of that key"),
                                ("Delegate", "fresh", "delegation of a third of a new key")):
        for d in (10, 16, 20, 24, 30, 32):
            case = (op, scenario, d)
            if any(bench.values(of(case)) for of in names.values()):
                rows.append(["%s, d = %d" % (label, d)]
                            + [duration(bench.median(of(case))) for of in names.values()])
    out["tables"].append(table("Set-up, export, import, delegation: median CPU time", ["case"] + IMPLS, rows))
    return out


ASKED = "%s, if asked for, does not lose"


def explained(kind, own, best, wipe, arena):
    """The cause of a loss of opt, from this run's figures. own: {store: value} of opt's two
    stores; best: the best other store's value; wipe: ns that an operation spends
    wiping; arena: ns that a block of locked memory takes in a set-up of the packed store."""
    store, mine = min(own.items(), key=lambda x: x[1])
    if store != "opt" and mine <= best / .97:
        return ASKED % store
    if kind == "slower" and wipe and mine - best <= wipe:
        return "wiping: it takes %s, the difference is %s" % (duration(wipe), duration(mine - best))
    if kind == "slower" and store != "slots" and arena and mine - best <= wipe + arena:
        return "wiping and locked memory: they take %s, the difference is %s" % (
            duration(wipe + arena), duration(mine - best))
    return "not explained by wiping: %s more than the best" % (
        duration(mine - best) if kind == "slower" else number(mine - best) + " B a node")


def pairs(bench, growth, stores):
    """The comparisons: (case, kind, {store: values} of ours, {store: values} of the others)."""
    for results in (bench, growth):
        for name in sorted(results.runs):
            m = re.match(r"BM_(\w+)/opt/([\w:.]+)/d:(\d+)$", name)
            if m:
                names = {i: "BM_%s/%s/%s/d:%s" % (m[1], i, m[2], m[3]) for i in IMPLS}
                for field, kind in (("cpu_time", "slower"), ("bytes_per_node", "larger")):
                    found = {i: results.values(n, field) for i, n in names.items()}
                    yield ("%s, %s, d = %s" % m.groups(), kind,
                           {i: found[i] for i in OWN if found[i]},
                           {i: v for i, v in found.items() if v and i not in OWN})
    for label, by in store_cases(stores):
        for field, kind in (("ns", "slower"), ("bytes_per_node", "larger")):
            found = {i: r[field] if isinstance(r[field], list) else [r[field]]
                     for i, r in by.items() if r.get(field)}
            yield (label, kind, {i: found[i] for i in OWN if i in found},
                   {i: v for i, v in found.items() if i not in OWN})


def losses(bench, growth, stores=None):
    """Every case in which another store beats the default one, found by comparison, not by choice,
    and what explains it."""
    found, compared, open_rows, every = {"slower": [], "larger": []}, set(), 0, 0
    wipe, arena = (count(stores or {}, k) for k in ("wipe_ns", "arena_ns"))
    for label, kind, own, others in pairs(bench, growth, stores):
        if "opt" not in own or not others:
            continue
        compared.add(label)
        show = duration if kind == "slower" else lambda x: number(x, 4) + " B"
        best, name = min((statistics.median(v), i) for i, v in others.items())
        mine = {i: statistics.median(v) for i, v in own.items()}
        if best > .97 * mine["opt"] or (kind == "slower" and max(others[name]) >= min(own["opt"])):
            continue
        reason = explained(kind, mine, best, wipe, arena if label.lower().startswith("set") else 0)
        open_rows += reason.startswith("not")
        every += reason not in (ASKED % i for i in OWN)
        found[kind].append((mine["opt"] / best, [label, name, show(best)]
                            + [show(mine[i]) if i in mine else "–" for i in OWN]
                            + [number(mine["opt"] / best), reason]))
    out = {"compared": len(compared), "open": open_rows, "every": every}
    for kind, rows in found.items():
        rows.sort(key=lambda x: -x[0])
        out[kind] = {"count": len(rows), "worst": rows[0] if rows else None,
                     "table": table("Where opt is %s than the best other: %d of %d cases" % (
                         kind, len(rows), len(compared)),
                         ["case", "best other", "its value"] + OWN + ["opt / best", "what explains it"],
                         [r for _, r in rows], fold=12)}
    return out


def random_key(d, q):
    """Nodes, and bytes of pair slots, if a fraction q of 2^d leaves is punctured at random
    (docs/key-size.md, "Bytes").  A page holds the slots of 2^9 leaves, the bits of 2^15 leaves, or
    those of 2^20 leaves one level up."""
    free = [(1 - q) ** 2.0 ** h for h in range(d + 1)]  # a node of height h is free
    nodes = 2.0 ** d * (free[0] - sum(2.0 ** -h * free[h] for h in range(1, d + 1)))
    pages = sum(2.0 ** (d - h) * (1 - free[h]) for h in (9, 15, 20) if h <= d)
    pages += sum(2.0 ** (d - h) * (free[h] - free[h + 1]) for h in range(9, d))
    return nodes, 4096 * pages


def grown(plots, where, bench, growth):
    results = growth if growth.runs else bench
    sparse = {k: read_csv(os.path.join(where, "sparse-%s.csv" % k))
              for k in ("slots-24", "bst-24", "slots-32")}
    out = {"full": results is growth, "tables": [], "panels": None, "sparse": None,
           "crossing": None}
    if results.runs:
        out["panels"] = draw.growth_panels(plots, results, IMPLS)
        for scenario, case in (("worst", "worst case"), ("random", "random order")):
            rows = []
            for d in results.depths("Punct", "slots", scenario):
                names = ["BM_Punct/%s/%s/d:%d" % (i, scenario, d) for i in IMPLS]
                rows.append([d] + ["%s; %s B" % (
                    duration(results.median(n)), number(results.median(n, "bytes_per_node")))
                    if results.values(n) else "–" for n in names])
            out["tables"].append(table("Time of a puncture; bytes a node at the peak, " + case,
                                       ["d"] + IMPLS, rows))
    if sparse["slots-24"]:
        out["sparse"] = draw.sparse_panels(plots, sparse, random_key)
        if sparse["bst-24"]:
            better = [100 * a["fraction"] for a, b in zip(sparse["slots-24"], sparse["bst-24"])
                      if a["bytes"] <= b["bytes"]]
            out["crossing"] = ("from %s %% on" % number(min(better), 2) if better else
                               "at no density up to %s %%"
                               % number(100 * sparse["slots-24"][-1]["fraction"], 2))
        rows = []
        for key in ("slots-24", "bst-24", "slots-32"):
            impl, d = key.split("-")
            for r in sparse[key] or []:
                exponent = math.log10(r["fraction"] * 1.001)
                if abs(exponent - round(exponent)) < .05 or r is sparse[key][-1]:
                    nodes, pages = random_key(int(d), r["punctured"] / 2 ** int(d))
                    rows.append([impl, d, "%s %%" % number(100 * r["fraction"], 2),
                                 number(r["nodes"], 9), number(nodes, 4), size(r["bytes"]),
                                 size(pages) if impl == "slots" else "–",
                                 number(r["bytes"] / r["nodes"], 3), size(r["rss_bytes"]),
                                 duration(1e9 * r["cpu_seconds"] / r["punctured"])])
        out["tables"].append(table("Few punctures in a large tree", [
            "store", "d", "punctured", "nodes", "formula", "memory", "formula", "bytes a node",
            "process grew by", "time a puncture"], rows))
    out["formula"] = table(
        "What the formula says of pair slots, measured or not: memory; bytes a node",
        ["leaves punctured"] + ["d = %d" % d for d in (16, 20, 24, 28, 32)],
        [["%s %%" % number(100 * q, 2)] + ["%s; %s" % (size(b), number(b / n)) for n, b in
                                           (random_key(d, q) for d in (16, 20, 24, 28, 32))]
         for q in (1e-4, 1e-3, 1e-2, .03, .1, .34)], of_run=False)
    return out if results.runs or sparse["slots-24"] else None


# --- the thesis ----------------------------------------------------------------------------------

PAPER_HEAP = {14: 145.6e3, 15: 295.3e3, 16: 594.4e3}  # bytes that the program requested
PAPER_TOTAL_16 = 1159.3e3
PAPER_TIME = {10: (.068, .025), 11: (.089, .046), 12: (.13, .089), 13: (.22, .172),
              14: (.41, .351), 15: (.734, .687)}  # ms: with and without hashing


def line(points):
    """a and b of the line a + b n through the first and the last point (n, time)."""
    (n0, t0), (n1, t1) = points[0], points[-1]
    b = (t1 - t0) / (n1 - n0)
    return t0 - b * n0, b


def paper(plots, where, bench, nohash, cover):
    rows, massif, beyond = [], [], set()
    for big in range(10, 17):
        d, n = big - 1, 1 << (big - 2)
        peak = massif_peak(os.path.join(where, "massif-%d.out" % d))
        try:
            with open(os.path.join(where, "heap-%d.csv" % d), encoding="utf-8") as f:
                nodes, effective, total = map(int, f.read().split())
        except (OSError, ValueError):
            nodes = effective = total = None
        if peak:
            massif.append((big, peak[0], sum(peak)))
            if effective:
                beyond.add((peak[0] - effective, sum(peak) - total))
        slots = bench.median("BM_Punct/slots/worst/d:%d" % d, "bytes_per_node")
        rows.append([big, d, number(nodes or n, 9), size(PAPER_HEAP.get(big)), number(36 * n + 24),
                     number(effective), number(peak[0]) if peak else "–",
                     size(PAPER_TOTAL_16) if big == 16 else "–", number(64 * n + 32),
                     number(total), number(sum(peak)) if peak else "–",
                     number(int(slots * n)) if slots else "–"])
    out = {"beyond": sorted(beyond), "panels": [], "run": [], "time": None}
    out["memory"] = table("Worst case: heap bytes at the peak", [
        "its depth", "our d", "nodes", "thesis, asked for", "36 n + 24", "list asked", "massif",
        "thesis, in all", "64 n + 32", "list in all", "massif", "pair slots in all"], rows, of_run=False)
    out["excess"] = number(100 * (PAPER_TOTAL_16 / (64 << 14) - 1))
    if bench.runs:
        out["panels"].append(draw.paper_memory_panel(plots, bench, list(range(10, 17)), massif,
                                                     PAPER_HEAP, PAPER_TOTAL_16))
    a, b = line([(2 ** (big - 2), 1e6 * v[1]) for big, v in PAPER_TIME.items()])
    own = [(2 ** (big - 2), nohash.median("BM_Punct/list/worst/d:%d" % (big - 1)))
           for big in PAPER_TIME]
    own_a, own_b = line(own) if all(t for _, t in own) else (None, None)
    rows, ours = [], []
    for big, (with_hash, without) in PAPER_TIME.items():
        v = [[s.median("BM_Punct/%s/worst/d:%d" % (i, big - 1)) for s in (bench, nohash)]
             for i in ("list", "slots")]
        if all(v[1]):
            ours.append(v[1][0] - v[1][1])
        rows.append([big, big - 1, "%g ms" % with_hash, "%g ms" % without,
                     duration(a + b * 2 ** (big - 2)), "%.0f µs" % (1e3 * (with_hash - without)),
                     duration(v[0][0]), duration(v[0][1]),
                     duration(own_a + own_b * 2 ** (big - 2)) if own_b else "–",
                     duration(v[1][0]), duration(v[1][1])])
    if bench.runs:
        out["time"] = table("Worst case: mean time of a puncture", [
            "its depth", "our d", "thesis", "no hash", "a + b n", "hash", "list", "no hash",
            "a + b n", "pair slots", "no hash"], rows)
        out["slopes"] = [number(b), number(own_b)] if own_b else None
        out["hash"] = [duration(min(ours)), duration(max(ours))] if ours else None
        out["paper_hash"] = ["%.0f µs" % (1e3 * f(w - o for w, o in PAPER_TIME.values()))
                             for f in (min, max)]
        out["panels"].append(draw.paper_time_panel(plots, bench, nohash, PAPER_TIME))
    series = {s: read_csv(os.path.join(where, "run-list-%s.csv" % s))
              for s in ("worst", "best", "normal-4", "normal-16")}
    slots = read_csv(os.path.join(where, "run-slots-worst.csv"))
    if series["worst"] and slots:
        out["panels"].append(draw.paper_single_panel(plots, series["worst"], slots))
    if all(series.values()):
        out["run"] = draw.paper_run_panels(plots, series)
        peaks = {k: max(r["effective_bytes"] for r in v) for k, v in series.items()}
        out["best"] = {"nodes": number(max(r["nodes"] for r in series["best"])),
                       "asked": size(peaks["best"]),
                       "all": size(max(r["bytes"] for r in series["best"]))}
        predicted = {r["divisor"]: [36 * r["peak"][k] + (24 if k != "sd" else 0)
                                    for k in ("predicted", "mean", "sd")]
                     for r in objects(cover, "rows")
                     if r["depth"] == 13 and r["divisor"] in (4, 16)}
        out["normal"] = table("Normal distribution at its depth 14: heap asked for at the peak", [
            "σ", "leaves / σ", "thesis says", "thesis", "formula", "simulated, mean ± sd",
            "this run"], [[s, k, said, heap, size(predicted[k][0]) if k in predicted else "–",
                           "%s ± %s" % (size(predicted[k][1]), size(predicted[k][2]))
                           if k in predicted else "–", size(peaks["normal-%d" % k])]
                          for s, k, said, heap in ((2048, 4, "leaves/5", "104 kB"),
                                                   (512, 16, "leaves/20", "32 kB"))], of_run=False)
    return out if bench.runs or out["run"] or massif else None


def sigma(plots, cover):
    rows, limit = objects(cover, "rows"), (cover or {}).get("limit")
    if not rows or not limit:
        return None
    depths = sorted({r["depth"] for r in rows})
    body = []
    for r in rows:
        def pair(field, digits, scale=1):
            v = r[field]
            return ["%s ± %s" % (number(scale * v["mean"], digits), number(scale * v["ci95"], 2)),
                    number(scale * v["predicted"], digits)]
        body.append([r["depth"], "2^d/%d" % r["divisor"], number(r["sigma"], 4)] + pair("peak", 4)
                    + pair("mean_size", 4) + pair("punctured", 3, 100))
    worst = max(abs(r["peak"]["mean"] / r["peak"]["predicted"] - 1) for r in rows
                if r["sigma"] >= 8)
    return {"runs": cover["runs"], "depths": depths, "values": len({r["divisor"] for r in rows}),
            "limit": {k: number(v, 4) for k, v in limit.items()}, "worst": number(100 * worst, 2),
            "punctured": number(100 * limit["uniform_punctured"], 3),
            "panels": draw.sigma_panels(plots, rows, depths, limit),
            "table": table("Key size against σ: mean ± 95 % confidence", [
                "d", "σ", "σ in leaves", "peak nodes", "formula", "mean nodes", "formula",
                "punctured at the peak [%]", "formula"], body, of_run=False)}


# --- the page ------------------------------------------------------------------------------------

def command(*args):
    try:
        return subprocess.run(args, capture_output=True, text=True, timeout=20, check=True).stdout
    except (OSError, subprocess.SubprocessError):
        return ""


def machine(bench, run):
    c = bench.context
    caches = ", ".join("L%s %s %d KiB" % (x["level"], x["type"].lower(), x["size"] // 1024)
                       for x in c.get("caches", []))
    return table("Machine", ["what", "value"], [
        ["processor", c.get("cpu_model", "–")], ["cores", c.get("num_cpus", "–")],
        ["clock", "%s MHz" % c["mhz_per_cpu"] if "mhz_per_cpu" in c else "–"],
        ["caches", caches or "–"], ["kernel", c.get("kernel", "–")],
        ["compiler", c.get("compiler", "–")], ["digest", c.get("openssl", "–")],
        ["valgrind", command("valgrind", "--version").strip() or "not installed"],
        ["measured", "%s, %s run" % (run.get("started", "–"), run.get("mode", "?"))
         if run else "–"], ["load at the start", run.get("load", "–") if run else "–"],
        ["other work", "%s of the %s processors" % (number(run["others"]), run.get("cores", "?"))
         if run and "others" in run else "–"],
        ["PRG call", "%s ns" % spread(bench.values("BM_Prg/evp/chain/d:1"))]], of_run=False)


def noise(run):
    """How much of the machine other work used during the run, if more than a tenth; for a run that
    did not finish, judged by the load at its start."""
    if not run:
        return None
    load, cores = str(run.get("load", "")).split(" ")[0], count(run, "cores")
    if isinstance(run.get("others"), (int, float)):
        busy, words = run["others"], "other work took %s of the %s processors" % (number(run["others"]), cores)
    else:
        busy, words = float(load or 0), "it began at a load of %s on %s processors, and did not end" % (load, cores)
    return words if cores and busy > cores / 10 else None


SAID = ("eval_puncture_all", "ev_adv_bound_first")  # the theorems to read first


def cards(lines, bench, lost, aims, sections):
    """The four things that a reader should know after a minute."""
    by_name = {c["name"]: c for c in lines}
    proofs = [by_name[n] for n in ("Theorems in Coq", "Contracts of the C code")]
    said = [markdown(r["meaning"]) for s in sections for r in s["rows"] if r["checked"] and r["name"] in SAID]
    contradictions = by_name["Contradictions in contracts"]
    if contradictions["status"] == "failed":  # goals proven from contradictory contracts say nothing
        proofs.append(contradictions)
    worst = max(bench.depths("Punct", "opt", "worst"), default=None)
    out = [{"label": "Proven", "status": worst_of(proofs),
            "of_run": False, "figures": [p["figure"] for p in proofs if p["status"] != "not run"],
            "small": said + [d for p in proofs for d in p["details"]]}]
    fast = {"label": "Fast", "status": "not run", "figures": [], "small": []}
    small = {"label": "Small", "status": "not run", "figures": [], "small": []}
    if worst is not None:
        def of(impl, field, d=worst):
            return bench.median("BM_Punct/%s/worst/d:%d" % (impl, d), field)
        fast.update(status="measured", figures=[duration(of("opt", "cpu_time")) + " a puncture"],
                    small=["worst case, d = %d: %s times what its PRG calls alone take" % (
                        worst, number(of("opt", "ratio")))])
        small.update(status="measured", figures=[number(of("opt", "bytes_per_node"))
                                                 + " B a stored seed"],
                     small=["a seed is 16 B; worst case, d = %d" % worst])
        d = max(bench.depths("Punct", "list", "worst"), default=None)
        if d is not None:
            fast["small"].append("the thesis's list at d = %d: %s, opt there %s" % (
                d, duration(of("list", "cpu_time", d)), duration(of("opt", "cpu_time", d))))
            small["small"].append("the thesis's list: %s B" % number(
                of("list", "bytes_per_node", d)))
    weak = {"label": "Weak", "status": "not run", "figures": [], "small": []}
    if lost["compared"]:
        weak["status"] = "measured"
        weak["figures"] = ["slower in %d, larger in %d of %d cases" % (
            lost["slower"]["count"], lost["larger"]["count"], lost["compared"]),
            "with every store in %d" % lost["every"]]
        for kind in ("slower", "larger"):
            if lost[kind]["worst"]:
                factor, row = lost[kind]["worst"]
                weak["small"].append("%s: %s × %s at %s" % (kind, number(factor), row[1],
                                                            row[0]))
        weak["small"] += ["%d of %d targets missed" % (len(aims["missed"]), aims["measured"])] \
            if aims["missed"] else []
    return out + [dict(card, of_run=card is not small) for card in (fast, small, weak)]


def worst_of(lines):
    states = [c["status"] for c in lines]
    return next(s for s in ("failed", "not run", "stale", "passed") if s in states)


def main():
    build = sys.argv[1] if len(sys.argv) == 2 else "build"
    out = os.path.join(build, "report")
    os.makedirs(out, exist_ok=True)
    for old in os.listdir(out):
        if old.endswith((".svg", ".png", ".html", ".txt")):
            os.remove(os.path.join(out, old))
    where = os.path.join(build, "bench")
    bench, nohash, growth = (Bench(os.path.join(where, n))
                             for n in ("bench.json", "nohash.json", "growth.json"))
    cover = read_json(os.path.join(where, "coversize.json"))
    run = read_json(os.path.join(where, "run.json"))
    now, plots = source.state(), draw.Plots(out)
    lines, files = checks(build, now)
    coq, wp, fuzz = (files[k].data or {} for k in ("coq", "wp", "fuzz"))
    stores, suites = (read_json(os.path.join(where, n)) for n in ("stores.json", "suites.json"))
    wprf, redact, vault = (read_json(os.path.join(where, n + ".json")) for n in ("wprf", "redact", "vault"))
    lost, aims = losses(bench, growth, stores), targets(bench, nohash, growth, stores, suites)
    why_not = Result.text(os.path.join(where, "openmls", "why-not"))
    names = coq.get("names") if coq.get("closed") is True else None
    sections = theorems({str(n).split(".")[-1] for n in names}
                        if isinstance(names, list) else set())
    of_bench = Result(os.path.join(where, "bench.json"), now)
    page = {
        "source": now["commit"], "cards": cards(lines, bench, lost, aims, sections),
        "checks": lines, "theorems": sections,
        "contracts": table("Contracts, function by function",
                           ["function", "goals", "proved", "time [s]"],
                           [[f.get("name", "?"), f.get("goals", "?"), f.get("proved", "?"),
                             number(f.get("seconds"))] for f in objects(wp, "functions")], of_run=False),
        "fuzz": table("Fuzz targets", ["target", "time [s]", "executions", "edges", "crashes"],
                      [[t.get("name", "?"), t.get("seconds", fuzz.get("seconds", "?")),
                        number(t.get("executions"), 12),
                        t.get("coverage_edges", t.get("coverage", "?")), t.get("crashes", "?")]
                       for t in objects(fuzz, "targets")], of_run=False),
        "bench": {"stale": of_bench.stale, "commit": of_bench.commit, "ran": bool(bench.runs),
                  "date": str(bench.context.get("date", ""))[:16].replace("T", " "),
                  "cpu": bench.context.get("cpu_model"), "mode": (run or {}).get("mode")},
        "noise": noise(run) if bench.runs or stores or suites else None,
        "stores": stores_section(plots, stores, why_not), "suites": suites_section(plots, suites, stores),
        "wprf": wprf_section(plots, wprf), "redact": [table(*t) for t in redact_tables(redact)],
        "vault": [table(*t) for t in vault_tables(vault)],
        "targets": aims, "losses": lost, "measured": measured(plots, bench, nohash),
        "paper": paper(plots, where, bench, nohash, cover), "sigma": sigma(plots, cover),
        "growth": grown(plots, where, bench, growth), "machine": machine(bench, run),
    }
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(HERE), trim_blocks=True,
        lstrip_blocks=True, undefined=jinja2.StrictUndefined,
        autoescape=jinja2.select_autoescape(["html.j2"]))
    environment.filters["power"] = power
    environment.filters["markdown"] = markdown
    environment.filters["plain"] = plain
    environment.filters["whole"] = whole
    for template, name in (("page.html.j2", "index.html"), ("report.txt.j2", "report.txt")):
        text = environment.get_template(template).render(page)
        with open(os.path.join(out, name), "w", encoding="utf-8") as f:
            f.write(text)
    sys.stdout.write(text)
    print("\nreport: %s" % os.path.join(out, "index.html"))


def power(text):
    """2^d with the exponent raised."""
    from markupsafe import Markup, escape
    return Markup(re.sub(r"\^(\w+|\([^)]*\))", r"<sup>\1</sup>", str(escape(text))))


class Links(treeprocessors.Treeprocessor):
    """Make links of a document in docs/ lead to the same files from build/report/."""

    def run(self, root):
        for link in root.iter("a"):
            link.set("href", posixpath.normpath(posixpath.join("../../docs", link.get("href"))))


def whole(cell):
    """Parts of a table cell that must not break: words with hyphens, and (least – greatest)."""
    from markupsafe import Markup
    return Markup(re.sub(r"^[\w-]+$|\([^() ]+ – [^() ]+\)", r'<span class="whole">\g<0></span>', str(cell)))


def plain(text):
    """For the text report."""
    return text.striptags() if hasattr(text, "striptags") else text


def markdown(text):
    """A line of docs/ (Markdown) as HTML."""
    from markupsafe import Markup
    reader = python_markdown.Markdown()
    reader.treeprocessors.register(Links(reader), "links", 0)
    return power(Markup(reader.convert(text).removeprefix("<p>").removesuffix("</p>")))


if __name__ == "__main__":
    main()
