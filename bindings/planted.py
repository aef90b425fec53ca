#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of bindings/*/planted.txt: the test that the line names has to fail.
A judge is a test's name, of Rust "CRATE TEST".  What is not installed here is skipped.  TAP."""
import os
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import planting  # noqa: E402

PYTHON = "/usr/bin/python3"  # which has cffi and pytest


class Bindings(planting.Planter):
    def __init__(self):
        os.environ["PATH"] += ":/usr/local/go/bin:" + os.path.expanduser("~/.cargo/bin")
        os.environ["GOTOOLCHAIN"] = "local"

    def bugs(self):
        return [bug._replace(judge=f"{path.split('/')[1]} {bug.judge}") for path in self.lists
                for bug in planting.load(os.path.join(planting.TOP, path))]

    def groups(self, bugs):
        return [bugs]  # one copy: compilers take longest for what all have

    def prepare(self, root):
        planting.copy_tree(root, ["flags", "amalgamation"])

    def commands(self, language, test, root):
        """What builds, and what tests."""
        folder = os.path.join(root, "bindings", language)
        if language == "go":
            go = ["go", "-C", folder]
            return [*go, "build", "./..."], [*go, "test", "-count=1", "-run", f"^{test}$", "./..."]
        if language == "rust":
            crate, test = test.split()
            which = ["-q", "--manifest-path", folder + "/Cargo.toml", "-p", crate]
            return ["cargo", "build", *which], ["cargo", "test", *which, test]
        dist, site = (os.path.join(folder, "build", name) for name in ("dist", "site"))
        build = f"rm -rf build; {PYTHON} setup.py -q sdist -d {dist} bdist_wheel -d {dist} && " \
                f"{PYTHON} -m zipfile -e {dist}/*.whl {site}"
        return (["env", "-C", folder, "sh", "-c", build],
                ["env", f"PPRF_REDACT_LIBRARY={planting.TOP}/build/redact/libpprf_redact.so",
                 f"PPRF_VAULT_LIBRARY={planting.TOP}/build/vault/libpprf_vault.so.0", "PPRF_DIST=" + dist,
                 f"LD_LIBRARY_PATH={planting.TOP}/build/opt", "PYTHONPATH=" + site, PYTHON, "-m", "pytest", "-q", "-p",
                 "no:cacheprovider", "-c", folder + "/pyproject.toml", "--rootdir", folder, folder + "/tests",
                 "-k", test])

    def judge(self, judge, root):
        language, test = judge.split(" ", 1)
        tool = {"rust": "cargo", "python": PYTHON}.get(language, language)
        needed = [PYTHON, "-c", "import cffi, pytest, setuptools, wheel"]
        if shutil.which(tool) is None or language == "python" and subprocess.run(
                needed, stderr=subprocess.DEVNULL, check=False).returncode:
            return "skip", f"no {language} here"
        build, command = self.commands(language, test, root)
        if planting.run(build, root, planting.HANGS) != "passed":
            return "broken", "it does not compile"
        return planting.run(command, root, planting.HANGS), judge


if __name__ == "__main__":
    sys.exit(planting.main(Bindings(), __doc__))
