# SPDX-License-Identifier: Apache-2.0
"""Results of bench/stores and bench/suites, and their targets, for the report and for the tables in
docs/ (tables.py)."""
import statistics

from results import count, duration, number, objects, spread


def verdict_of(target, values):
    """Whether the median meets "≤ x" or "≥ x"."""
    limit, mid = float(target[2:]), statistics.median(values)
    return "reached" if (mid <= limit if target[0] == "≤" else mid >= limit) else "missed"


def store_rows(stores, case, depth=None, punctures=None):
    return [r for r in objects(stores, "rows") if r.get("case") == case
            and depth in (None, r.get("depth")) and punctures in (None, r.get("punctures"))
            and isinstance(r.get("store"), str)]


def better(rows, field):
    """The values of that library store whose median is better."""
    own = [r[field] for r in rows if r["store"] in ("slots", "opt") and r.get(field)]
    return min(own, key=statistics.median, default=[])


def store_targets(stores):
    """The targets for bench/stores.c's cases. For bytes, the largest case decides."""
    def packed(rows, field):  # opt, as the library makes keys
        return next((r[field] for r in rows if r["store"] == "opt" and r.get(field)), [])

    def greatest(rows):
        found = [r["bytes_per_node"] for r in rows if r["store"] == "opt"
                 and r.get("bytes_per_node") and count(r, "nodes") >= 64]
        return [max(found)] if found else []

    random = store_rows(stores, "random")
    whole = packed(store_rows(stores, "first", 32), "key_bytes")
    out = [("packed: bytes a node, 10^-5 to half of the leaves, d = 16 to 24, the greatest", "≤ 24",
            greatest([r for r in random if count(r, "depth") <= 24]), 4),
           ("packed: the same, 64 punctures and more, d = 32, 48, 63", "≤ 24",
            greatest([r for r in random if count(r, "depth") >= 32]), 4),
           ("packed: 10 000 keys of 50 punctures, d = 32, bytes a node", "≤ 24",
            [r["bytes_per_node"] for r in store_rows(stores, "many keys", 32)
             if r["store"] == "opt"], 4),
           ("packed: whole key after one puncture, d = 32 [B]", "≤ 1000", [whole] if whole else [], 4),
           ("packed: set-up and free, d = 32 [ns]", "≤ 300",
            packed(store_rows(stores, "setup", 32), "ns"), 3)]
    out += [("packed: first eval_punct of a key / its PRG calls, d = %d" % d, "≤ 1.25",
             packed(store_rows(stores, "first", d), "ratio"), 3) for d in (16, 32)]
    return out + [
        (label, target, better(store_rows(stores, case, depth, n), "ratio"), 4)
        for label, target, case, depth, n in (
            ("better store: puncture / its PRG calls, 10^-4 at random, d = 24", "≤ 1.15", "random", 24,
             1677),
            ("the same, 10^-2", "≤ 1.35", "random", 24, 167772),
            ("the same, 10 000 at random, d = 63", "≤ 1.25", "random", 63, 10000),
            ("the same, worst case, d = 16", "≤ 1.10", "worst", 16, None),
            ("the same, random order, d = 16", "≤ 1.25", "all", 16, None),
            ("the same, tickets, d = 20", "≤ 1.10", "tickets", 20, None))]


def suite_rows(suites):
    """{(suite, version): row} for what this processor supports."""
    return {(r.get("suite"), r.get("version")): r for r in objects(suites, "rows") if r.get("one")}


def ratios(over, under, field):
    """A figure's ratio in each round."""
    if not over or not under:
        return []
    return [a / b for a, b in zip(over.get(field, []), under.get(field, [])) if b]


def suite_targets(suites):
    rows, chosen = suite_rows(suites), (suites or {}).get("default") or ["", ""]
    bare, salted = (rows.get((s, chosen[0])) for s in ("sha3-256", "sha3-256-salted"))
    aes = rows.get(("aes-128", chosen[min(1, len(chosen) - 1)]))  # then comes the one of SHA-256
    return [("worst-case puncture, sha3-256 / aes-128", "≥ 4", ratios(bare, aes, "punct"), 3),
            ("aes-128: fresh evaluation, d = 20 [ns]", "≤ 500", (aes or {}).get("fresh", []), 3),
            ("aes-128: an expansion in pprf_expand [ns]", "≤ 8", (aes or {}).get("expand", []), 3),
            ("aes-128: an expansion in pprf_eval_batch [ns]", "≤ 8", (aes or {}).get("batch", []), 3),
            ("sha3-256-salted / sha3-256: one lane", "≤ 1.03", ratios(salted, bare, "one"), 4),
            ("the same, worst-case puncture", "≤ 1.03", ratios(salted, bare, "punct"), 4),
            ("the same, fresh evaluation, d = 20", "≤ 1.03", ratios(salted, bare, "fresh"), 4)]


def openmls_suite(stores):
    """bench/stores.c's results for OpenMLS's tree, as a row of the suites: each leaf of the worst
    case is evaluated and punctured in one call."""
    ns = next((r["ns"] for r in store_rows(stores, "worst", 16) if r["store"] == "openmls" and r.get("ns")), None)
    return [{"suite": "mls-sha256", "version": "OpenMLS, evaluated too", "punct": ns}] if ns else []


SUITE_FIGURES = [("one", "one lane"), ("four", "each of 4"), ("eight", "each of 8"),
                 ("punct", "worst-case puncture"), ("fresh", "fresh evaluation, d = 20"),
                 ("expand", "in pprf_expand"), ("batch", "in pprf_eval_batch")]


def store_cases(stores):
    """The cases in order: (label, {store: row})."""
    cases = {}
    for r in objects(stores, "rows"):
        if isinstance(r.get("store"), str):
            cases.setdefault(str(r.get("label")), {})[r["store"]] = r
    return list(cases.items())


# Table 3 of docs/wprf.md's paper: µs a call, thousand calls a second
WPRF_PAPER = {"definition": (20.2, 50), "packed": (18.5, 65.4), "tables of 16 bits": (6.08, 165)}


def wprf_tables(data):
    """(caption, header, rows) of what bench/wprf/measure.c writes."""
    ns = {r["version"]: r["ns"] for r in objects(data, "rows") if r.get("ns")}
    paper, forms, trees = [], [], []
    for before, this in (("definition", "packed"), ("packed", "tables of 16 bits"), ("packed", "tables of 8 bits")):
        (t0, n0), (t1, n1) = WPRF_PAPER[before], WPRF_PAPER.get(this, (0, 0))
        paper.append(["%s / %s" % (before, this), number(t0 / t1) if t1 else "–", number(n1 / n0) if t1 else "–",
                      spread([a / b for a, b in zip(ns.get(before, []), ns.get(this, []))])])
    for row in objects(data, "rows"):
        name = str(row["version"])
        values = ns.get(name, [])
        median = duration(statistics.median(values)) if values else "not on this processor"
        if name.startswith("tree of "):
            calls, size = (9, 64) if "weak" in name else (1, 16)
            trees.append([name[8:], calls, size, 20 * size, median, duration(20 * statistics.median(values)),
                          spread([a / b for a, b in zip(values, ns["tree of sha3-256"])])])
        else:
            us, thousand = WPRF_PAPER.get(name, ("–", "–"))
            forms.append([name, us, thousand, number(1000 / us) if us != "–" else us, median,
                          spread([a / b for a, b in zip(ns["scalar multiplication, libsodium"], values)])])
    return [
        ("Factors between two rows of the paper's table 3, and here in one run",
         ["time / time", "paper, by its times", "paper, by its calls a second", "here"], paper),
        ("The paper's table 3, and here",
         ["form", "paper [µs]", "paper [thousand/s]", "thousand/s, by its µs", "here", "libsodium / this"], forms),
        ("A GGM tree: an expansion of a node, and a puncture of a new key of depth 20",
         ["PRG", "calls a node", "bytes a node", "bytes after it", "an expansion", "20 of them, a puncture",
          "times sha3-256"], trees)] if ns else []


REDACT = (("pprf", "this library"), ("merkle", "Merkle"), ("sd-jwt", "SD-JWT"))


def redact_tables(data):
    """(caption, header, rows) of what bench/redact.py writes."""
    rows = objects(data, "rows")
    if not rows:
        return []

    def proof(row, system, over=1):
        return (row[system]["file"] - row["shown_bytes"]) / over if system in row else None

    def each(row, show, field):
        return " / ".join(show(row[s][field]) if s in row else "–" for s, _ in REDACT)

    sizes = [[r["case"], *(number(r[n], 9) for n in ("parts", "hidden", "shown_bytes")),
              *(number(proof(r, s), 9) for s, _ in REDACT),
              *(number(proof(r, s, proof(r, "pprf"))) for s, _ in REDACT[1:]), each(r, number, "file")] for r in rows]
    times = [[r["case"], *(each(r, lambda s: duration(1e9 * s), step) for step in ("sign", "redact", "verify"))]
             for r in rows]
    goals = [(f"{r['case']}: bytes of proof, {of} / this library", f"≥ {least}", [proof(r, s, proof(r, "pprf"))])
             for s, of, least in (("sd-jwt", "SD-JWT", 15), ("merkle", "Merkle", 5))
             for r in rows[:2 if least == 15 else 1] if s in r]
    goals += [("verifying parts of 1 kB: its speed / that of openssl speed sha256", "≥ 0.6",
               [a / b for a, b in zip(data["speed"]["verify"], data["speed"]["openssl"])])]
    return [
        ("Bytes of proof: those of the file without the bytes of the shown parts",
         ["case", "parts", "hidden", "bytes shown", *(name for _, name in REDACT), "Merkle / this", "SD-JWT / this",
          "whole files, in this order"], sizes),
        ("CPU time, once: this library / Merkle / SD-JWT; the library is C, the others are Python",
         ["case", "sign", "redact", "verify"], times),
        ("Speed on parts of 1 kB [MB/s]", ["verify", "openssl speed sha256", "one digest of all bytes"],
         [[spread(data["speed"][name]) for name in ("verify", "openssl", "digest")]]),
        ("Against the goals", ["figure", "goal", "measured", ""],
         [[label, goal, spread(values), verdict_of(goal, values)] for label, goal, values in goals])]


VAULT_FIGURES = [("single", "durable erasures a second, one by one"), ("batch", "in batches of 4 096"),
                 ("pair", "pairs of synced writes, 4 kB and 32 B"),
                 ("cached_us", "an evaluation, its page cached [µs]"), ("uncached_us", "its page not cached [µs]"),
                 ("first_ms", "the first commit after opening [ms]"), ("open_bytes", "bytes read at opening"),
                 ("node_bytes", "bytes a node"),
                 ("nodes_an_erasure", "nodes an erasure"), ("bytes", "bytes")]


def vault_tables(data):
    """(caption, header, rows) of what bench/vault.c writes."""
    rows = objects(data, "rows")
    vaults = [r for r in rows if r.get("pair")]
    if not vaults:
        return []

    def ratio(a, b):
        return [x / y for x, y in zip(a, b)]

    figures = [[label, *("–" if r.get(f) is None else spread(r[f] if isinstance(r[f], list) else [r[f]], 4)
                         for r in rows)] for f, label in VAULT_FIGURES]
    ratios = [[label + ", the vault with %s ids / this" % v["case"].split()[1],
               *(spread(ratio(v[f], r[f])) if r.get(f) else "–" for r in rows)]
              for f, label in (("single", "one by one"), ("batch", "in batches")) for v in vaults]
    goals = [(f"{r['case']}: {name}", goal, values) for r in vaults for name, goal, values in (
        ("erasures one by one / pairs of 4 kB and 32 B, synced", "≥ 0.8", ratio(r["single"], r["pair"])),
        ("erasures a second in batches of 4 096", "≥ 10000", r["batch"]),
        ("an evaluation, its page cached [µs]", "≤ 5", r["cached_us"]),
        ("an evaluation, its page not cached [µs]", "≤ 100", r["uncached_us"]),
        ("bytes a node", "≤ 25", [r["node_bytes"]]), ("bytes read at opening", "≤ 65536", r["open_bytes"]))]
    return [
        ("A vault with %d records, a tenth of them erased, beside what is used instead; medians of %d rounds" % (
            data["records"], data["rounds"]), ["figure", *(r["case"] for r in rows)], figures + ratios),
        ("Against the goals", ["figure", "goal", "measured", ""],
         [[label, goal, spread(values), verdict_of(goal, values)] for label, goal, values in goals])]
