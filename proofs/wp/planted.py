#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of planted.txt in this folder. TAP. Their judges are programs in this folder."""
import os
import shutil
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import planting  # noqa: E402
import proven_files  # noqa: E402


class Wp(planting.Planter):
    def prepare(self, root):
        for folder in ("proofs/wp", *proven_files.SOURCES):
            shutil.copytree(os.path.join(planting.TOP, folder), os.path.join(root, folder))

    def judge(self, judge, root):
        return planting.run([sys.executable, "proofs/wp/" + judge], root, planting.HANGS, SEED="1"), judge


if __name__ == "__main__":
    sys.exit(planting.main(Wp(), __doc__))
