#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report claims nothing that did not happen; the prediction of the key's size holds; two runs
are compared correctly. Prints TAP."""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile

from results import SUITES

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", HERE.parents[1] / "build"))
count = failed = 0


def ok(good, name, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    for line in str(why).splitlines() if not good else ():
        print("# " + line)
    sys.stdout.flush()


def run(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False)


def report(**files):
    """The page and the text made from a build directory with these files; of(file) is a file's
    source."""
    with tempfile.TemporaryDirectory() as t:
        tmp = pathlib.Path(t)
        for name, data in files.items():
            path = tmp / name.replace("__", "/")
            path = path.with_suffix(".txt" if name.endswith("summary") else ".json")
            if isinstance(data, Of):
                run("/usr/bin/python3", HERE / "source.py", path)
                if data.changed:
                    source = json.loads((path.parent / (path.name + ".source")).read_text())
                    source["files"] = "0" * 64
                    (path.parent / (path.name + ".source")).write_text(json.dumps(source))
                data = data.data
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(data if isinstance(data, str) else json.dumps(data))
        r = run(HERE / "report.py", tmp)
        page = tmp / "report" / "index.html"
        return r, page.read_text() if page.exists() else ""


class Of:
    """A result from these sources, or from changed ones."""

    def __init__(self, data, changed=False):
        self.data, self.changed = data, changed


def badges(page, status):
    return page.count('class="status %s"' % status.replace(" ", "-"))


CHECKS = 8  # entries in the list of checks
COQ = {"theorems": 2, "names": ["eval_puncture_all", "no_ancestor"], "closed": True}
WP = {"functions": [{"name": "f", "goals": 3, "proved": 3}], "open": {"a/b.c slow": "no time"},
      "provers": ["p"], "passed": True}
PASSED = {
    "prove__coq": COQ, "prove__wp": WP, "prove__wp-smoke": dict(WP, open={}),
    "prove__wp-planted": {"planted": 1, "noticed": 1, "bugs": [{"name": "m", "ok": True}]},
    "test__summary": "All tests successful.\nFiles=2, Tests=31, 1 wallclock\nResult: PASS\n",
    "equivalence-tests__planted": {"planted": 1, "noticed": 1,
                                   "bugs": [{"name": "m", "ok": True}]},
    "equivalence-tests__coverage": {"passed": True, "lines": 99.0, "branches": 98.0,
                                    "cli": {"lines": 97.0}},
    "equivalence-tests__fuzz": {"seconds": 1,
                                "targets": [{"name": "f", "executions": 9, "crashes": 0}]}}
FAILED = {  # a planted failure, and the text that the page must contain
    "prove__coq": (dict(COQ, closed=False), "not closed under the global context"),
    "prove__wp": (dict(WP, functions=[{"name": "unlucky", "goals": 3, "proved": 2}]),
                  "unlucky: 2 of 3"),
    "prove__wp-smoke": (dict(WP, open={}, passed=False,
                             failures=["g: expected.json says 4 smoke tests"]),
                        "g: expected.json says 4"),
    "prove__wp-planted": ({"planted": 1, "noticed": 0, "bugs": [{"name": "survivor",
                                                                  "ok": False}]}, "survivor"),
    "test__summary": ("x/y.py (Wstat: 256 Tests: 3 Failed: 1)\nFiles=2, Tests=31, 1 s\n"
                      "Result: FAIL\n", "x/y.py"),
    "equivalence-tests__planted": ({"planted": 2, "noticed": 1, "bugs": [
        {"name": "deaf", "ok": False}]}, "deaf"),
    "equivalence-tests__coverage": ({"passed": False, "lines": 9.0, "branches": 9.0, "cli": {}},
                                    "without a written reason"),
    "equivalence-tests__fuzz": ({"seconds": 1, "targets": [
        {"name": "fuzz_x", "executions": 9, "crashes": 1}]}, "fuzz_x: 1 crashes")}


def benchmark(times, sizes):
    """A run in which a puncture's PRG calls take 1000 ns: times and bytes per node of each
    store."""
    return {"context": {"cpu_model": "planted"}, "benchmarks": [
        {"run_name": "BM_Punct/%s/worst/d:16" % impl, "run_type": "iteration",
         "cpu_time": time * x, "ratio": time * x / 1000, "bytes_per_node": sizes[impl],
         "nodes": 1 << 15}
        for impl, time in times.items() for x in (.99, 1, 1.01)]}


def test_report():
    missing = [m for m in ("matplotlib", "jinja2")
               if run("/usr/bin/python3", "-c", "import " + m).returncode != 0]
    ok(not missing, "the report's libraries are installed (tools/deps.sh bench)", missing)
    if missing:
        return
    r, page = report()
    ok(r.returncode == 0 and badges(page, "not run") == CHECKS + 4
       and not any(badges(page, s) for s in ("passed", "failed", "stale", "measured"))
       and "Nothing has been measured" in r.stdout,
       "an empty build directory: everything is reported as not run", r.stderr + r.stdout[-2000:])
    r, page = report(**{k: Of(v) for k, v in PASSED.items()})
    ok(r.returncode == 0 and badges(page, "passed") == CHECKS + 1
       and not badges(page, "failed") + badges(page, "stale"),
       "a complete run passes although a function is listed as open", r.stderr + r.stdout)
    ok("not proven yet: a/b.c slow (no time)" in page, "the open function is named", r.stdout)
    ok(page.count("not checked</span>") > 90
       and not re.search(r"no_ancestor</code></a> <span", page)
       and re.search(r"cover_minimal</code></a> <span", page),
       "a theorem counts as checked if the gate named it")
    r, page = report(prove__wp=Of(dict(WP, part="3 of all 17 goals: 1 of 5 functions")))
    ok("3 of 3 goals, a part of all" in page and "a part: 3 of all 17 goals: 1 of 5 functions" in page,
       "for a part, the report says how many there are", r.stdout)
    for of, name in ((Of, "of changed sources"), (lambda d, _: d, "of sources not recorded")):
        r, page = report(**{k: of(v, True) for k, v in PASSED.items()})
        ok(r.returncode == 0 and badges(page, "stale") == CHECKS + 1
           and not badges(page, "failed") + badges(page, "passed"),
           "results " + name + " are stale", r.stderr + r.stdout)
    for name, (data, words) in FAILED.items():
        r, page = report(**{k: Of(data if k == name else v) for k, v in PASSED.items()})
        card = name in ("prove__coq", "prove__wp", "prove__wp-smoke")
        ok(r.returncode == 0 and badges(page, "failed") == 1 + card
           and badges(page, "passed") == CHECKS - card and words in page
           and (name == "prove__coq") == ("has no value" not in page.split('id="checks"')[0]),
           "%s: only what failed is red and named" % name, r.stderr + r.stdout)
    r, page = report(**{"prove__coq": "{", "prove__wp": "[]", "bench__bench": "",
                        "bench__coversize": "[", "equivalence-tests__fuzz":
                        '{"targets": [1, {"executions": "x"}]}'})
    ok(r.returncode == 0 and badges(page, "not run") >= CHECKS - 1 + 4 and not badges(page, "passed"),
       "unreadable results do not pass", r.stderr)
    words = re.sub(r"<style>.*?</style>|<[^>]*>", "", page, flags=re.S)
    ok(not re.search(r"\]\(|\\\\|`|\*\*", words) and 'href="../../prg/keccak.c"' in page
       and "SHA3-256(seed || salt || id)" in page and "&lt;span" not in page,
       "no Markdown is left in text from the documents", re.findall(r".*(?:\]\(|`).*", words)[:3])
    outside = (' src="http', ' href="http', "@import", "<script")
    ok(page and not any(x in page for x in outside), "the page needs nothing from outside")


def test_figures():
    """The page's statements about figures follow from the figures."""
    stores = ("list", "list28", "bst", "array", "ref", "opt", "slots")
    own = ("opt", "slots")
    good = benchmark({s: 1000 if s in own else 5000 for s in stores},
                     {s: 16.2 if s in own else 64 for s in stores})
    r, page = report(bench__bench=Of(good), bench__nohash=good)
    ok(r.returncode == 0 and "slower in 0, larger in 0 of 1 cases" in page
       and page.count("in none of 1 cases") == 2, "no loss is claimed if there is none",
       r.stderr + r.stdout)
    ok("<b>1 µs a puncture<" in page and "<b>16.2 B a stored seed<" in page
       and badges(page, "missed") == 0 and badges(page, "reached") == 2,
       "time, size and targets come from the run", r.stdout)
    bad = benchmark({s: 5000 if s in own else 1000 for s in stores},
                    {s: 640 if s in own else 64 for s in stores})
    r, page = report(bench__bench=Of(bad, True), bench__nohash=bad)
    ok("slower in 1, larger in 1 of 1 cases" in page and "in none of" not in page
       and badges(page, "missed") == 2 and badges(page, "reached") == 0,
       "a slow and large opt loses and misses its targets", r.stderr + r.stdout)
    ok("of other sources than these" in page, "figures from other sources are marked", r.stdout)
    check = """
import sys
sys.path.insert(0, %r)
import plots
import results
assert len({*plots.COLOUR.values()}) == len(plots.COLOUR) == len({*plots.MARKER.values()})
assert {*plots.COLOUR.values()} <= {*plots.OKABE_ITO.values()}
for looks, names in ((plots.STORE_LOOK, results.STORES), (plots.SUITE_LOOK, results.SUITES)):
    assert list(looks) == names, looks
    assert all(len({*each}) == len(names) for each in zip(*looks.values())), looks
fig, axes = plots.panel("title", "x", "")
try:
    plots.Plots("/nonexistent").save(fig, "name", "alt")
except ValueError:
    sys.exit(0)
sys.exit("an axis without a name was drawn")""" % str(HERE)
    r = run("/usr/bin/python3", "-c", check)
    ok(r.returncode == 0, "each store has its own colour and marker, each axis a label",
       r.stderr)


def test_noise():
    """A run beside other work says so first, and marks its own figures and nothing else."""
    figures = benchmark({"opt": 1000, "slots": 1000, "list": 5000}, {"opt": 16.2, "slots": 16.2, "list": 64})

    def page_of(**run):
        return report(bench__bench=Of(figures), bench__nohash=figures, bench__stores=stores_json(104, 105, 300),
                      bench__run=dict({"mode": "quick", "load": "0.10 1.00 1.00", "cores": 2}, **run), **PASSED)

    r, page = page_of(others=1.84)
    top, rest = page.split('id="checks"', 1)
    captions = re.findall(r"<caption>(.*?)</caption>", rest)
    ok("other work took 1.84 of the 2 processors" in top and badges(top, "noisy") == 3
       and "A noisy run: other work took 1.84" in r.stdout, "a noisy run says so at the top", r.stdout)
    marked = [c for c in captions if badges(c, "noisy")]
    ok(len(marked) > 5 and "opt against its targets" in {c.split(" <")[0] for c in marked}
       and {c for c in captions if c not in marked} >= {"Machine", "Contracts, function by function"},
       "every table of its figures is marked, and no table of proofs", captions)
    ok("a load of 13.5 on 2 processors, and did not end" in page_of(load="13.5 9 8")[1],
       "an unfinished run is judged by the load at its start")
    ok(not any(badges(p, "noisy") or "noisy run" in p for p in (page_of(others=.19)[1], page_of()[1])),
       "a quiet run marks nothing")


def stores_json(opt, slots, other, wipe=20):
    """A run of stores: two cases, with times and bytes of opt's two stores and another store.
    OpenMLS was not built."""
    return {"rounds": 3, "openmls": False, "wipe_ns": wipe, "rows": [
        {"case": case, "label": label, "depth": depth, "punctures": n, "store": store, "nodes": 100,
         "bytes_per_node": x / 10, "key_bytes": x * 10, "ns": [x - 1, x, x + 1],
         "ratio": [x / 100] * 3}
        for case, label, depth, n in (("random", "planted case", 24, 1677),
                                      ("worst", "other case", 16, 32768))
        for store, x in (("opt", opt), ("slots", slots), ("btree", other))]}


def suites_json(bare, salted, aes):
    return {"rounds": 3, "default": ["avx512", "aes-ni"], "rows": [
        {"suite": suite, "version": version, **{f: [x] * 3 for f in (
            "one", "four", "eight", "punct", "fresh", "expand", "batch")}}
        for suite, version, x in (("sha3-256", "avx512", bare), ("sha3-256-salted", "avx512", salted),
                                  ("aes-128", "aes-ni", aes), ("mls-sha256", "sha-ni", bare))]
        + [{"suite": "aes-128", "version": "aes-vaes"}]}


def test_stores_and_suites():
    """The figures of stores and suites decide targets and losses; what was left out is named."""
    def losses_of(page):
        return page.split('id="losses"')[1].split('id="targets"')[0]

    good, fast = stores_json(104, 105, 300), suites_json(100, 102, 7)
    r, page = report(bench__stores=good, bench__suites=fast)
    ok(r.returncode == 0 and page.count("in none of 2 cases") == 2
       and badges(page, "missed") == 0 and badges(page, "reached") == 10,
       "good stores and suites reach their targets and lose nowhere", r.stderr + r.stdout)
    ok("OpenMLS was left out</strong>: it was not built" in page
       and "OpenMLS was left out: it was not built" in r.stdout,
       "page and text say that OpenMLS was left out", r.stdout)
    with tempfile.TemporaryDirectory() as t:
        folder = pathlib.Path(t) / "bench"
        (folder / "openmls").mkdir(parents=True)
        (folder / "openmls" / "why-not").write_text("no Rust is here\n")
        (folder / "stores.json").write_text(json.dumps(good))
        r = run(HERE / "report.py", t)
        ok("OpenMLS was left out: no Rust is here" in r.stdout, "and why", r.stdout)
    ok("not on this processor" in report(bench__suites=fast)[1],
       "a version that this processor does not support has a row that says so")
    unknown = dict(fast, rows=fast["rows"] + [dict(fast["rows"][0], suite="unheard-of")])
    r, page = report(bench__suites=unknown)
    ok(r.returncode != 0 and not page and "no colour and marker for the suite unheard-of" in r.stderr,
       "a suite with an empty row is an error", r.stderr[-300:])
    row = "<td>OpenMLS, evaluated too</td>"
    theirs = dict(good, openmls=True, rows=good["rows"] + [dict(good["rows"][3], store="openmls", ns=[2100] * 3)])
    page = report(bench__stores=theirs, bench__suites=fast)[1]
    ok(page.count(row) == 1 and "2\u202f100" in page.split(row)[1].split("</tr>")[0]
       and row not in report(bench__stores=good, bench__suites=fast)[1],
       "OpenMLS has a row among the suites if it was measured")
    r, page = report(bench__stores=stores_json(104, 900, 300))
    ok(page.count("in none of 2 cases") == 2, "a loss of a non-default store is no loss of opt", r.stdout)
    r, page = report(bench__stores=stores_json(900, 104, 300))
    ok("slots, if asked for, does not lose" in losses_of(page) and "not explained by wiping:" not in page
       and losses_of(page).count("<td>planted case</td>") == 2
       and "0 are losses with every store" in " ".join(losses_of(page).split()),
       "a store that does not lose is named", r.stdout)
    r, page = report(bench__stores=stores_json(115, 900, 100, 20))
    ok("wiping: it takes 20 ns, the difference is 15 ns" in losses_of(page),
       "a loss no greater than the time of wiping is attributed to it", r.stdout)
    r, page = report(bench__stores=stores_json(150, 900, 100, 20))
    ok("not explained by wiping: 50 ns more than the best" in losses_of(page)
       and "4 are losses with every store, 4 of them not explained" in
       " ".join(losses_of(page).split()),
       "a greater loss counts as not explained", r.stdout)
    r, page = report(bench__suites=suites_json(100, 110, 90))
    ok(badges(page, "missed") == 6 and badges(page, "reached") == 1,
       "slow suites miss their targets", r.stdout)


def test_wprf():
    """The weak PRF has a section with the paper's table beside ours; a form not measured is named."""
    rows = [{"version": v, "ns": [x, x + 1, x + 2]} for v, x in (
        ("definition", 40000), ("packed", 1000), ("tables of 16 bits", 500),
        ("scalar multiplication, libsodium", 60000),
        ("tree of the weak PRF", 1000), ("tree of sha3-256", 200))] + [{"version": "CLMUL, VPOPCNTDQ"}]
    r, page = report(bench__wprf={"rounds": 3, "rows": rows})
    section = page.split('id="wprf"')[1].split('id="machine"')[0]
    ok(r.returncode == 0 and all(text in section for text in (
        "<svg", ">59.9 <", ">18.5<", ">65.4<", ">54.1<", "not on this processor", ">1280<")),
       "the weak PRF's tables stand beside the paper's", r.stderr + section)
    ok("bench-wprf report" in report()[1], "and if it was not measured, the page says how to")


def test_redact():
    """The section on redaction has the ratios, says what was not measured, and shows losses."""
    rows = [{"case": case, "parts": 1000, "hidden": 10, "shown_bytes": 1000,
             "pprf": {"file": 3000, "sign": .001, "redact": .001, "verify": .001},
             "merkle": {"file": file, "sign": .002, "redact": .002, "verify": .002}} for case, file in (
                 ("A", 8000), ("B", 5000))]
    rows[0]["sd-jwt"] = {"file": 32000, "sign": .003, "redact": .003, "verify": .003}
    r, page = report(bench__redact={"rows": rows, "speed": {"verify": [700], "openssl": [1000], "digest": [1100]}})
    section = page.split('id="redact"')[1].split('id="machine"')[0]
    ok(r.returncode == 0 and all(text in section for text in (
        ">15.5<", ">3.50<", "1 ms / 2 ms / 3 ms", "1 ms / 2 ms / –", ">0.700<")) and badges(section, "missed") == 1
       and badges(section, "reached") == 2, "the tables of redaction stand in the report", r.stderr + section)
    ok("bench-redact report" in report()[1], "and if it was not measured, the page says how to")
    with tempfile.TemporaryDirectory() as t:
        out = pathlib.Path(t) / "redact.json"
        r = subprocess.run([HERE.parent / "redact.py", BUILD / "redact" / "libpprf_redact.so", t, out, "0", "0"],
                           env=dict(os.environ, LD_LIBRARY_PATH=str(BUILD / "opt")), capture_output=True, text=True,
                           check=False)
        (row,) = json.loads(out.read_text())["rows"] if r.returncode == 0 else [{}]
        ok(row and row["shown_bytes"] < row["pprf"]["file"] < row["merkle"]["file"] and "sd-jwt" not in row
           and "SD-JWT is left out" in r.stderr, "redact.py measures; without SD-JWT's package it says so", r.stderr)


def test_vault():
    """The vault has a section, from what its program writes for few records; without a file the page says how."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "vault.json")
        subprocess.run([BUILD / "bench" / "vault", "1", "100000", folder, BUILD / "pprf", out], check=True,
                       stderr=subprocess.DEVNULL)
        with open(out, encoding="utf-8") as f:
            data = json.load(f)
        left = os.listdir(folder)
    r, page = report(bench__vault=data)
    section = page.split('id="vault"')[1].split('id="machine"')[0]
    dense, sparse = data["rows"][:2]
    ok(r.returncode == 0 and left == ["vault.json"] and "100000 records" in section and "pprf punct on" in section
       and dense["nodes_an_erasure"] < 4 and sparse["nodes_an_erasure"] > 40 and dense["node_bytes"] <= 25,
       "the vault is measured beside a table of keys and a key file; dense ids cost few nodes", r.stderr + section)
    ok("bench-vault report" in report()[1], "and if it was not measured, the page says how to")


def test_prediction():
    program = BUILD / "bench" / "coversize"
    r = run(program, "--runs", 100, "--seed", 7, 11)
    rows = json.loads(r.stdout)["rows"] if r.returncode == 0 else []
    bad = []
    for row in rows:
        for field in ("peak", "mean_size"):
            v = row[field]
            if row["sigma"] >= 4 and abs(v["mean"] - v["predicted"]) > 2.5 * v["ci95"] + 0.5:
                bad.append("sigma %g: %s %g, predicted %g" % (row["sigma"], field, v["mean"],
                                                              v["predicted"]))
    ok(len(rows) == 14 and not bad, "simulated key sizes agree with the formula (d = 11)",
       "\n".join(bad) + r.stderr)
    ok(run(program, "--runs", "x", 11).returncode == 1, "coversize refuses a wrong argument")


def test_programs():
    """No other part of `make test` runs these programs."""
    for name in ("bench", "bench-nohash"):
        r = run(BUILD / "bench" / name, "--set=quick", "--benchmark_list_tests")
        ok(r.returncode == 0 and "BM_Punct/opt/worst/d:9" in r.stdout, name + " starts",
           r.stderr[-500:])
    with tempfile.TemporaryDirectory() as t:
        out = pathlib.Path(t) / "suites.json"
        r = run(BUILD / "bench" / "suites", 1, out)
        rows = json.loads(out.read_text())["rows"] if r.returncode == 0 else []
        ok({x["suite"] for x in rows if len(x.get("punct", ())) == 1} ==
           {*SUITES}, "suites measures every suite, and the report knows them", r.stderr)
        r = run(BUILD / "bench" / "weakprf", 1, out)
        rows = json.loads(out.read_text())["rows"] if r.returncode == 0 else []
        ok(len(rows) == 11 and all(len(x.get("ns", [1])) == 1 for x in rows), "weakprf measures every form", r.stderr)
    r = run(BUILD / "bench" / "stores", 0)
    ok(r.returncode == 1 and "usage" in r.stderr, "stores refuses a wrong argument", r.stderr)
    r = run(BUILD / "bench" / "heap", 9)
    ok(r.returncode == 0 and r.stdout.split()[0] == "256", "heap: 2^8 nodes at d = 9", r.stderr)


def test_compare():
    def bench(ratio):
        return {"benchmarks": [{"run_name": "BM_Punct/opt/worst/d:9", "run_type": "iteration",
                                "cpu_time": 1.0, "ratio": ratio * x} for x in (.99, 1, 1.01)]}
    with tempfile.TemporaryDirectory() as t:
        paths = []
        for i, ratio in enumerate((1, 1, 1.5)):
            paths.append(pathlib.Path(t) / ("%d.json" % i))
            paths[-1].write_text(json.dumps(bench(ratio)))
        same, worse = run(HERE / "compare.py", *paths[:2]), run(HERE / "compare.py", *paths[1:])
        better = run(HERE / "compare.py", paths[2], paths[1])
        ok(same.returncode == 0 and " 0 changed" in same.stdout, "equal runs: nothing changed",
           same.stdout)
        ok(worse.returncode == 3 and "worse" in worse.stdout, "a slower run fails", worse.stdout)
        ok(better.returncode == 0 and "better" in better.stdout, "a faster run passes",
           better.stdout)
        ok(run(HERE / "compare.py", paths[0], "nowhere").returncode not in (0, 3),
           "a missing run is an error")


test_report()
test_figures()
test_noise()
test_stores_and_suites()
test_wprf()
test_redact()
test_vault()
test_prediction()
test_programs()
test_compare()
print("1..%d" % count)
sys.exit(failed != 0)
