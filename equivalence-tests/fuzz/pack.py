#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Chooses inputs of a fuzz target and packs them into its archive; run by `make corpus-pack`.

  pack.py PROGRAM ARCHIVE FOLDER...   PROGRAM: the target with libFuzzer; FOLDER: inputs, one a file

Repeatedly takes the input that reaches the most new edges or, if none reaches a new edge, the most
new libFuzzer features (how often an edge was passed), until nothing is new or MOST are taken. The
archive's bytes depend only on the inputs. Exit 1 if an input crashes or an edge is left out."""
import gzip
import hashlib
import io
import os
import re
import subprocess
import sys
import tarfile
import tempfile

MOST = 300
FEATURES_PER_EDGE = 8  # libFuzzer numbers the ranges of an edge's counter in sequence


def features_of(program, folders):
    """{input: its features}"""
    with tempfile.TemporaryDirectory(prefix="pprf-pack-") as scratch:
        control, merged = os.path.join(scratch, "control"), os.path.join(scratch, "merged")
        os.mkdir(merged)
        done = subprocess.run([program, "-set_cover_merge=1", "-malloc_limit_mb=600", "-merge_control_file=" + control,
                               merged, *folders], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, env={**os.environ, "TMPDIR": scratch}, check=False)
        if done.returncode != 0:
            sys.exit("pack: %s:\n%s" % (program, done.stdout.decode(errors="replace")[-6000:]))
        with open(control, errors="surrogateescape") as f:
            lines = f.read().split("\n")
    paths = lines[2:2 + int(lines[0])]
    found = {int(i): {int(v) for v in values.split()}
             for i, values in re.findall(r"^FT (\d+)(.*)$", "\n".join(lines), flags=re.M)}
    missing = [path for i, path in enumerate(paths) if i not in found]
    if missing or not paths:
        sys.exit("pack: %s ends with %s" % (program, ", ".join(missing) or "no input"))
    inputs = {}
    for i, path in enumerate(paths):
        with open(path, "rb") as f:
            inputs[f.read()] = found[i]
    return inputs


def choose(inputs):
    """At most MOST of them, each for the new features that it adds."""
    seen, edges, chosen = set(), set(), []

    def adds(data):
        new = inputs[data] - seen
        return len({f // FEATURES_PER_EDGE for f in new} - edges), len(new), -len(data), data

    while len(chosen) < MOST:
        best = max(inputs, key=adds)
        if inputs[best] <= seen:
            break
        chosen.append(best)
        seen |= inputs[best]
        edges = {f // FEATURES_PER_EDGE for f in seen}
    return chosen


def pack(chosen, archive):
    """Files in the order of their names, which are digests as in libFuzzer, without times and
    owners."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w", format=tarfile.USTAR_FORMAT) as tar:
        for name, data in sorted((hashlib.sha1(data).hexdigest(), data) for data in chosen):
            member = tarfile.TarInfo(name)
            member.size = len(data)
            tar.addfile(member, io.BytesIO(data))
    with open(archive, "wb") as f, gzip.GzipFile("", "wb", 9, f, mtime=0) as packed:
        packed.write(out.getvalue())


def main():
    if len(sys.argv) < 4:
        print(__doc__, file=sys.stderr)
        return 2
    program, archive, *folders = sys.argv[1:]
    inputs = features_of(program, [f for f in folders if os.path.isdir(f)])
    chosen = choose(inputs)
    all_of, kept = (set().union(*some) for some in (inputs.values(), (inputs[data] for data in chosen)))
    edges, kept_edges = (len({f // FEATURES_PER_EDGE for f in s}) for s in (all_of, kept))
    print("pack: %s: %d of %d inputs, %d of %d edges, %d of %d features" % (
        os.path.basename(archive), len(chosen), len(inputs), kept_edges, edges, len(kept), len(all_of)))
    if kept_edges < edges:
        print("pack: %d inputs do not reach all edges" % MOST, file=sys.stderr)
        return 1
    pack(chosen, archive)
    return 0


if __name__ == "__main__":
    sys.exit(main())
