#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The tables of docs/sparse-store.md, suites.md, wprf.md and redact.md, from one run of
`make stores suites bench-wprf bench-redact`.

Usage: tables.py measured BUILD   writes docs/measured/*.json from those in BUILD/bench,
                                   with the machine, the date and the load; then the tables
                                   tables.py write            writes the tables from docs/measured
                                   tables.py check            exit status 1 if a table differs from
                                   docs/measured
       tables.py wprf BUILD        prints those of `make bench-wprf`; redact and vault likewise"""
import json
import os
import re
import statistics
import sys
import time

from comparisons import (SUITE_FIGURES, openmls_suite, redact_tables, store_cases, store_targets, suite_rows,
                         suite_targets, vault_tables, verdict_of, wprf_tables)
from results import STORES, duration, number, spread

DOCS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs")
PRINTED = {"wprf": wprf_tables, "redact": redact_tables, "vault": vault_tables}
FILES = {"stores": "sparse-store.md", "suites": "suites.md", "wprf": "wprf.md", "redact": "redact.md"}


def rounded(x):
    if isinstance(x, dict):
        return {k: rounded(v) for k, v in x.items()}
    if isinstance(x, list):
        return [rounded(v) for v in x]
    return float("%.4g" % x) if isinstance(x, float) else x


def measured(build):
    """Keep a run; machine, date and load are those of this moment."""
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        info = f.read()
    os.makedirs(os.path.join(DOCS, "measured"), exist_ok=True)
    for name in FILES:
        path = os.path.join(build, "bench", name + ".json")
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            data = rounded(json.load(f))
        flags = re.search(r"^flags\s*: (.*)", info, re.M)[1].split()
        data["machine"] = "%s, family %s, with %s, %d processors" % (
            re.search(r"^model name\s*: (.*)", info, re.M)[1],
            re.search(r"^cpu family\s*: (.*)", info, re.M)[1],
            " and ".join(name for flag, name in (("avx512f", "AVX-512"), ("vaes", "VAES"))
                         if flag in flags) or "neither AVX-512 nor VAES",
            os.cpu_count())
        data["date"] = time.strftime("%Y-%m-%d", time.gmtime(os.path.getmtime(path)))
        data["load"] = os.getloadavg()[1]
        with open(os.path.join(DOCS, "measured", name + ".json"), "w", encoding="utf-8") as f:
            text = json.dumps(data, indent=1)
            f.write(re.sub(r"\[([^][{}]*)\]", lambda m: "[" + " ".join(m[1].split()) + "]", text)
                    + "\n")


def rows_of(header, rows):
    return ["| " + " | ".join(str(c) for c in row) + " |" for row in
            [header, ["---"] * len(header)] + rows]


def target_rows(targets):
    return rows_of(["figure", "target", "median (least – greatest)", ""], [
        [label, target, spread(values, digits), verdict_of(target, values)]
        for label, target, values, digits in targets if values])


def said(data):
    busy = ": other work ran beside it" if data["load"] > 1.5 else ""
    return ["Measured %s on %s; load %.1f%s." % (data["date"], data["machine"], data["load"], busy),
            "CPU time of the thread, in turns within each round; medians of %d rounds." % data["rounds"]]


def cell(row):
    """time (ratio), bytes per node"""
    if row is None:
        return "–"
    parts = [duration(statistics.median(row["ns"]))] if row.get("ns") else []
    if row.get("ratio"):
        parts[0] += " (%s)" % number(statistics.median(row["ratio"]))
    if row.get("bytes_per_node"):
        parts.append(number(row["bytes_per_node"]) + " B")
    return "; ".join(parts).replace("\u202f", " ")


def stores_table(data):
    lines = said(data) + [
        "Cases of more than 100 000 punctures ran 3 rounds, those of more than 200 000 one. A PRG call of",
        "OpenMLS is HKDF on a 32-byte seed.", ""]
    lines += rows_of(["case", "packed", "pair slots", "B-tree", "hash map", "OpenMLS 0.8.1"], [
        [label] + [cell(by.get(s)) for s in STORES] for label, by in store_cases(data)])
    return lines + ["", "Against the targets:", ""] + target_rows(store_targets(data))


def suites_table(data, stores):
    rows = [[r["suite"], r["version"]] + [number(statistics.median(r[f])) if f in r else "–" for f, _ in SUITE_FIGURES]
            for r in [*suite_rows(data).values(), *openmls_suite(stores)]]
    return said(data) + ["All in ns; the library chose %s and `%s` there." % (
        ", ".join("`%s`" % name for name in data["default"][:-1]), data["default"][-1]), ""] + \
        rows_of(["suite", "version"] + [n for _, n in SUITE_FIGURES], rows) + \
        ["", "Against the targets:", ""] + target_rows(suite_targets(data))


def lines_of(found, captions=False):
    return [line for caption, header, rows in found
            for line in [*(["", caption + ":"] if captions else []), "", *rows_of(header, rows)]]


def tables():
    """(document, its text, the text with the measured tables)"""
    of = {}
    for name in FILES:
        with open(os.path.join(DOCS, "measured", name + ".json"), encoding="utf-8") as f:
            of[name] = json.load(f)
    blocks = {"stores": stores_table(of["stores"]), "suites": suites_table(of["suites"], of["stores"]),
              "wprf": said(of["wprf"]) + lines_of(wprf_tables(of["wprf"])),
              "redact": said(of["redact"])[:1] + lines_of(redact_tables(of["redact"]), True)}
    for name, document in FILES.items():
        path = os.path.join(DOCS, document)
        with open(path, encoding="utf-8") as f:
            text = f.read()
        block = "\n".join(blocks[name]).replace("\u202f", " ")
        made = re.sub(r"(<!-- measured -->\n).*?(<!-- /measured -->)",
                      lambda m: m[1] + block + "\n" + m[2], text, count=1, flags=re.S)
        if "<!-- measured -->" not in text:
            sys.exit("tables: %s has no place for them" % document)
        yield path, text, made


def main():
    if len(sys.argv) == 3 and sys.argv[1] == "measured":
        measured(sys.argv[2])
    elif len(sys.argv) == 3 and sys.argv[1] in PRINTED:
        with open(os.path.join(sys.argv[2], "bench", sys.argv[1] + ".json"), encoding="utf-8") as f:
            return print(*lines_of(PRINTED[sys.argv[1]](json.load(f)), sys.argv[1] != "wprf"), sep="\n")
    elif len(sys.argv) != 2 or sys.argv[1] not in ("write", "check"):
        sys.exit(__doc__)
    bad = 0
    for path, text, made in tables():
        if sys.argv[1] == "check":
            bad |= text != made
            if text != made:
                print("%s: a table differs from docs/measured" % path)
        else:
            with open(path, "w", encoding="utf-8") as f:
                f.write(made)
    return bad


if __name__ == "__main__":
    sys.exit(main())
