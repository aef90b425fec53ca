# SPDX-License-Identifier: Apache-2.0
"""Builds the extension around the library in one file, which make writes in libpprf's tree."""
import os
import re
import shutil
import subprocess

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
EMBEDDED = os.path.join(HERE, "pprf", "_c")


def embed():
    """Have pprf.c and pprf.h in pprf/_c: a source distribution has them, libpprf's tree makes them."""
    if os.path.exists(os.path.join(TREE, "packaging", "amalgamation", "rules.mk")):
        subprocess.check_call(["make", "-s", "-C", TREE, "amalgamation"])
        os.makedirs(EMBEDDED, exist_ok=True)
        for name in ("pprf.c", "pprf.h"):
            shutil.copy(os.path.join(TREE, "build", "amalgamation", name), EMBEDDED)
    elif not os.path.exists(os.path.join(EMBEDDED, "pprf.c")):
        raise SystemExit("pprf: build it in libpprf's tree, or from a source distribution")


def version():
    with open(os.path.join(EMBEDDED, "pprf.h"), encoding="utf-8") as header:
        return re.search(r'#define PPRF_VERSION "(.*)"', header.read()).group(1)


embed()
os.chdir(HERE)
setup(version=version(), cffi_modules=["pprf/_build.py:ffibuilder"])
