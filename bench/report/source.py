#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records which sources a result belongs to.

Usage: source.py RESULT     before a run: removes RESULT, and writes RESULT.source beside it

RESULT.source holds the commit and a digest of all files in the tree, committed or not. The report
compares it with its own tree, and marks results of other sources."""
import hashlib
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))


def git(*args):
    try:
        return subprocess.run(("git", "-C", ROOT) + args, capture_output=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return b""


def files():
    """The tree's files: those that git tracks or does not ignore; without git, all except
    build/."""
    listed = git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
    if listed:
        return sorted(set(listed.decode().rstrip("\0").split("\0")))
    found = []
    for where, dirs, names in os.walk(ROOT):
        dirs[:] = [d for d in dirs if d not in ("build", ".git", "__pycache__")]
        found += [os.path.relpath(os.path.join(where, n), ROOT) for n in names]
    return sorted(found)


def state():
    digest = hashlib.sha256()
    for name in files():
        try:
            with open(os.path.join(ROOT, name), "rb") as f:
                content = f.read()
        except OSError:
            continue  # removed and not committed yet, or a directory
        digest.update(b"%d %s %d " % (len(name.encode()), name.encode(), len(content)))
        digest.update(content)
    commit = git("describe", "--always", "--abbrev=10", "--dirty=+", "--match=").decode().strip()
    return {"commit": commit or "no commit", "files": digest.hexdigest()}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    result = sys.argv[1]
    os.makedirs(os.path.dirname(result) or ".", exist_ok=True)
    if os.path.exists(result):
        os.remove(result)
    with open(result + ".source", "w", encoding="utf-8") as f:
        json.dump(state(), f)


if __name__ == "__main__":
    main()
