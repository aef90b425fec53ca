#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants the bugs of tls/tests/planted.txt; the test named in each line must fail. TAP."""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools"))
import planting  # noqa: E402


class Tls(planting.Suites):
    built = ["flags", "prg", "opt", "tls"]

    def suite(self, judge):
        if judge.startswith("libraries "):
            return ("build/tls/libpprf_tls.a build/opt/libpprf.so",
                    ["python3", "tls/tests/test_libraries.py", "test_" + judge[10:]])
        if judge.startswith("server "):
            return "build/pprf-tls-server", ["python3", "tls/tests/test_tls.py", "test_" + judge[7:]]
        if judge.startswith("nginx "):
            return "build/tls/nginx/ngx_http_pprf_tickets_module.so", ["python3", "tls/nginx/test_nginx.py",
                                                                       "test_" + judge[6:]]
        if judge.startswith(("matrix ", "recipes ")):
            file, test = judge.split()
            made = "build/tls/libpprf_tls_preload.so build/tls/thief"
            if file == "recipes":
                made += " build/tls/nginx/ngx_http_pprf_tickets_module.so"
            return made, ["/usr/bin/python3", f"tls/tests/test_{file}.py", "test_" + test]
        return "build/tls/test_" + judge, ["build/tls/test_" + judge]


if __name__ == "__main__":
    sys.exit(planting.main(Tls(), __doc__))
