# SPDX-License-Identifier: Apache-2.0
"""Reads the results that other targets of make have left in build/, for the report, and formats
numbers."""
import csv
import json
import math
import os
import re
import statistics
import sys
import time

IMPLS = ["list", "list28", "bst", "array", "ref", "opt", "slots"]
OWN = ["opt", "slots"]  # the packed store, which is the default, and pair slots
STORES = ["opt", "slots", "btree", "hash", "openmls"]  # of bench/stores.c
SUITES = ["sha3-256", "sha3-256-salted", "aes-128", "mls-sha256"]  # of bench/suites.c


def read_json(path):
    """The object in the file; None if there is none, with a message on stderr if it is broken."""
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
    """The objects in the list data[key]; other items are left out."""
    found = data.get(key) if data else None
    return [x for x in found if isinstance(x, dict)] if isinstance(found, list) else []


def count(data, key):
    value = data.get(key)
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else 0


def read_csv(path):
    try:
        with open(path, encoding="utf-8") as f:
            rows = [{k: float(v) for k, v in row.items()} for row in csv.DictReader(f)]
        return rows or None
    except (OSError, ValueError, TypeError):
        return None


class Result:
    """A file of results: its data, when it was written, and from which sources."""

    def __init__(self, path, now):
        self.data = read_json(path) if path.endswith(".json") else self.text(path)
        source = read_json(path + ".source") or {}
        self.commit = source.get("commit")
        self.stale = self.data is not None and source.get("files") != now["files"]
        try:
            self.when = time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime(os.path.getmtime(path)))
        except OSError:
            self.when = None

    @staticmethod
    def text(path):
        try:
            with open(path, encoding="utf-8") as f:
                return f.read().strip() or None
        except OSError:
            return None


class Bench:
    """The repetitions of one Google Benchmark file."""

    def __init__(self, path):
        data = read_json(path) or {}
        self.context = data.get("context", {})
        self.runs = {}
        for b in objects(data, "benchmarks"):
            if b.get("run_type") == "iteration" and not b.get("error_occurred"):
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
    """(bytes requested, further bytes of the allocator) at the peak, or None."""
    try:
        with open(path, encoding="utf-8") as f:
            text = f.read()
    except OSError:
        return None
    useful = [int(x) for x in re.findall(r"^mem_heap_B=(\d+)", text, re.M)]
    extra = [int(x) for x in re.findall(r"^mem_heap_extra_B=(\d+)", text, re.M)]
    return max(zip(useful, extra), key=sum) if useful and len(useful) == len(extra) else None


# --- numbers as words ----------------------------------------------------------------------------

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


def duration(x):
    """x nanoseconds, in a unit that fits"""
    if x is None:
        return "–"
    for unit, scale in (("s", 1e9), ("ms", 1e6), ("µs", 1e3)):
        if x >= scale:
            return "%s %s" % (number(x / scale), unit)
    return "%s ns" % number(x)


def size(x):
    if x is None:
        return "–"
    for unit, scale in (("GB", 1e9), ("MB", 1e6), ("kB", 1e3)):
        if x >= scale:
            return "%s %s" % (number(x / scale, 4), unit)
    return "%d B" % x
