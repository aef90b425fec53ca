# SPDX-License-Identifier: Apache-2.0
"""Builds the package around the amalgamated library, which make writes in libpprf's tree."""
import os
import re
import shutil
import subprocess

import setuptools
from setuptools import setup
from setuptools.command.build_py import build_py

HERE = os.path.dirname(os.path.abspath(__file__))
TREE = os.path.dirname(os.path.dirname(HERE))
EMBEDDED = os.path.join(HERE, "pprf", "_c")


def embed():
    """Put pprf.c and pprf.h into pprf/_c; a source distribution already has them."""
    if os.path.exists(os.path.join(TREE, "packaging", "amalgamation", "rules.mk")):
        subprocess.check_call(["make", "-s", "-C", TREE, "amalgamation"])
        os.makedirs(EMBEDDED, exist_ok=True)
        for name in ("pprf.c", "pprf.h"):
            shutil.copy(os.path.join(TREE, "build", "amalgamation", name), EMBEDDED)
        shutil.copy(os.path.join(TREE, "LICENSE"), HERE)
    elif not os.path.exists(os.path.join(EMBEDDED, "pprf.c")):
        raise SystemExit("pprf: build it in libpprf's tree, or from a source distribution")


def version():
    with open(os.path.join(EMBEDDED, "pprf.h"), encoding="utf-8") as header:
        return re.search(r'#define PPRF_VERSION "(.*)"', header.read()).group(1)


class Modules(build_py):
    """Leaves _build.py out of wheels; MANIFEST.in adds it to source distributions."""

    def find_package_modules(self, package, package_dir):
        return [module for module in super().find_package_modules(package, package_dir) if module[1] != "_build"]


embed()
os.chdir(HERE)
# an SPDX expression, whose field has another name before setuptools 77
LICENCE = "license_expression" if int(setuptools.__version__.split(".")[0]) >= 77 else "license"
setup(version=version(), **{LICENCE: "Apache-2.0"}, cmdclass={"build_py": Modules},
      cffi_modules=["pprf/_build.py:ffibuilder"],
      options={"bdist_wheel": {"py_limited_api": "cp39"}})  # as requires-python; the extension has the stable ABI
