#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of valkey/planted.txt. TAP. Judges: test_tree; a test of test_valkey.py; "host
TEST", a test of test_host.py; "hosts TEST", of test_hosts.py. Judges that need a server are
skipped if none is installed."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools"))
import planting  # noqa: E402

try:
    import fleet
    SERVER = fleet.SERVER
except ImportError:
    SERVER = None


class Valkey(planting.Suites):
    built = ["flags", "prg", "opt", "tls", "valkey", "pprf-tls-server"]
    environment = {"STOP": "1", "PATIENCE": "40"}  # seconds to wait for a host

    def suite(self, judge):
        if judge == "test_tree":
            return "build/valkey/test_tree", ["build/valkey/test_tree"]
        where, _, test = judge.rpartition(" ")
        target, script = {"host": ("build/valkey/host", "test_host.py"), "hosts": ("valkey/test_hosts.py",) * 2,
                          "": ("build/valkey/pprf_known.so", "test_valkey.py")}[where]
        return target, [sys.executable, "valkey/" + os.path.basename(script), "--seed", "1", "test_" + test]

    def judge(self, judge, root):
        if judge != "test_tree" and SERVER is None:
            return "skip", "no server"
        return super().judge(judge, root)


if __name__ == "__main__":
    sys.exit(planting.main(Valkey(), __doc__))
