#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report claims nothing that did not happen; the prediction of the key's size holds; two runs
are compared as they should be.  Prints TAP."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
BUILD = pathlib.Path(os.environ.get("BUILD", HERE.parent / "build"))
count = failed = 0


def ok(good, name, why=""):
    global count, failed
    count += 1
    failed += not good
    print("%s %d - %s" % ("ok" if good else "not ok", count, name))
    for line in str(why).splitlines() if not good else ():
        print("# " + line)
    sys.stdout.flush()


def skip(name, why):
    global count
    count += 1
    print("ok %d - %s # SKIP %s" % (count, name, why))


def run(*args):
    return subprocess.run([str(a) for a in args], capture_output=True, text=True, check=False)


def report(tmp, **files):
    for name, data in files.items():
        path = tmp / name.replace("__", "/")
        path = path.with_suffix(".json")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(data if isinstance(data, str) else json.dumps(data))
    r = run(HERE / "report.py", tmp)
    page = tmp / "report" / "index.html"
    return r, page.read_text() if page.exists() else ""


def test_report():
    names = ["an empty build directory: everything is reported as not run",
             "goals left open are not called proven", "a crash is called a crash",
             "unreadable results are reported as not run", "the page needs nothing from outside"]
    if run("/usr/bin/python3", "-c", "import matplotlib").returncode != 0:
        for name in names:
            skip(name, "python3-matplotlib is not installed (./deps.sh bench)")
        return
    with tempfile.TemporaryDirectory() as t:
        r, page = report(pathlib.Path(t))
        ok(r.returncode == 0 and page.count(">not run<") >= 5 and 'class="status good"' not in page
           and "Nothing has been measured" in r.stdout, names[0], r.stderr + r.stdout[-2000:])
    with tempfile.TemporaryDirectory() as t:
        r, page = report(pathlib.Path(t),
                         prove__coq={"theorems": 1, "names": ["x"], "closed": False},
                         prove__wp={"functions": [{"name": "f", "goals": 3, "proved": 2}],
                                    "provers": ["p"]})
        ok(r.returncode == 0 and ">not all proven<" in page and ">FAILED<" in page
           and ">proven<" not in page, names[1], r.stderr)
    with tempfile.TemporaryDirectory() as t:
        fuzz = {"seconds": 1, "targets": [{"name": "f", "executions": 9, "crashes": 1}]}
        r, page = report(pathlib.Path(t), **{"equivalence-tests__fuzz": fuzz})
        ok(r.returncode == 0 and ">CRASHED<" in page and ">no crash<" not in page, names[2],
           r.stderr)
    with tempfile.TemporaryDirectory() as t:
        r, page = report(pathlib.Path(t), prove__coq="{", prove__wp="[]",
                         **{"equivalence-tests__fuzz": '{"targets": [1, {"executions": "x"}]}'},
                         bench__bench="", bench__coversize="[")
        ok(r.returncode == 0 and page.count(">not run<") >= 5, names[3], r.stderr)
        outside = (' src="http', ' href="http', "@import", "<script")
        ok(page and not any(x in page for x in outside), names[4])


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
test_prediction()
test_compare()
print("1..%d" % count)
sys.exit(failed != 0)
