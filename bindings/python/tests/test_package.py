# SPDX-License-Identifier: Apache-2.0
"""Tests of the source distribution and the wheel in the folder PPRF_DIST."""
import email
import glob
import os
import re
import subprocess
import tarfile
import zipfile

import pytest

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
DIST = os.environ.get("PPRF_DIST")
pytestmark = pytest.mark.skipif(DIST is None, reason="PPRF_DIST is not set: make test-python sets it")


def of_the_tree(name):
    """The file of this folder; LICENSE is that of the tree, which a build copies here."""
    with open(os.path.join(HERE, "../.." if name == "LICENSE" else "", name), "rb") as file:
        return file.read()


def the_only(pattern):
    [path] = glob.glob(os.path.join(DIST, pattern))
    return path


def licence(metadata):
    """The SPDX expression, whose field has another name before setuptools 77."""
    fields = email.message_from_bytes(metadata)
    return fields["License-Expression"] or fields["License"]


def test_the_wheel_is_for_every_python_and_has_no_sources(tmp_path):
    path = the_only("*.whl")
    assert re.search("-cp39-abi3-", path)
    with zipfile.ZipFile(path) as wheel:
        files = {re.sub(r"^pprf-[^/]*", "", name): wheel.read(name) for name in wheel.namelist()}
        extension = wheel.extract("pprf/_native.abi3.so", tmp_path)
    [text] = [files.pop(name) for name in list(files) if name.endswith("/LICENSE")]
    assert text == of_the_tree("LICENSE")
    assert licence(files["/METADATA"]) == "Apache-2.0"
    assert set(files) == {"pprf/__init__.py", "pprf/_native.abi3.so", "pprf/_native.pyi", "pprf/py.typed",
                          "pprf/redact.py", "pprf/vault.py", "/METADATA", "/RECORD", "/WHEEL", "/top_level.txt"}
    sections = subprocess.run(["readelf", "-SW", extension], capture_output=True, text=True, check=True).stdout
    assert ".text" in sections and not re.search(r"\.symtab|\.debug_", sections)


def test_the_source_distribution_has_what_a_build_needs():
    with tarfile.open(the_only("*.tar.gz")) as archive:
        files = {member.name.split("/", 1)[1]: archive.extractfile(member).read()
                 for member in archive.getmembers() if member.isfile()}
    for name in ("LICENSE", "README.md", "pyproject.toml", "setup.py", "pprf/__init__.py", "pprf/_build.py",
                 "pprf/_native.pyi", "pprf/py.typed", "pprf/redact.py", "pprf/_c/pprf.c", "pprf/_c/pprf.h",
                 "tests/test_pprf.py", "tests/test_redact.py"):
        assert files.get(name) == of_the_tree(name), name
    assert licence(files["PKG-INFO"]) == "Apache-2.0"
