#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that the headers of libpprf_tls, its manual page and its symbols agree. Emits TAP.

  Usage: tls/tests/test_api.py [TEST...]"""
import os
import re
import subprocess
import sys
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import tap  # noqa: E402

TLS = os.path.dirname(HERE)
ROOT = os.path.dirname(TLS)
HEADERS = ("pprf_tickets.h", "pprf_fleet.h", "pprf_tls.h")


def read(name):
    with open(os.path.join(TLS, name)) as f:
        return f.read()


def header_functions(text):
    """{name: (result type, [parameters], {results})} of the functions in a header."""
    found = {}
    for comment, kind, name, parameters in re.findall(
            r"/\*\*((?:(?!\*/).)*)\*/\s*PPRF_API ([\w *]+?)\s*(\w+)\(([^)]*)\);", text, re.S):
        parameters = re.sub(r"\s+", " ", parameters)
        found[name] = (kind.strip(), [] if parameters == "void" else parameters.split(", "),
                       set(re.findall(r"@retval (\w+)", comment)))
    return found


def header_fields(text, struct):
    body = re.search(rf"struct {struct} {{(.*?)\n}};", text, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    return re.findall(r"(\w+);", body)


def page_functions(text):
    """{name: (result type, [parameters])} of the functions in the manual page."""
    found = {}
    for kind, name, rest in re.findall(r"^\.Ft (.*)\n\.Fn (\w+)(.*)$", text, re.M):
        parameters = re.findall(r'"([^"]*)"', rest)
        found[name] = (kind, parameters or [p for p in rest.split() if p != "void"])
    return found


def page_sections(text):
    """{name: text} of the subsections."""
    parts = re.split(r"^\.S[sh] (.*)\n", text, flags=re.M)
    return dict(zip(parts[1::2], parts[2::2]))


class Documents(unittest.TestCase):
    def setUp(self):
        self.headers = "\n".join(map(read, HEADERS))
        self.page = read("pprf_tls.3")
        self.functions = header_functions(self.headers)
        self.sections = page_sections(self.page)

    def test_every_declared_function_is_found(self):
        self.assertEqual(set(self.functions), set(re.findall(r"\b(pprf_t\w+)\(", re.sub(
            r"/\*.*?\*/", "", self.headers, flags=re.S))))
        self.assertGreater(len(self.functions), 8)

    def test_prototypes_agree(self):
        self.assertEqual(page_functions(self.page),
                         {n: (kind, parameters)
                          for n, (kind, parameters, _) in self.functions.items()})
        self.assertEqual(set(re.findall(r"^\.Nm (\w+)", self.page, re.M)), set(self.functions))

    def test_every_result_is_documented_alike(self):
        for name, (kind, _, results) in self.functions.items():
            with self.subTest(name):
                self.assertIn(name, self.sections)
                listed = set(re.findall(r"^\.It Dv (\w+)", self.sections[name], re.M))
                self.assertEqual(listed, results)
                # a callback returns what OpenSSL asks of it
                self.assertEqual(bool(results & {"PPRF_OK", "SSL_CLIENT_HELLO_SUCCESS"}), kind == "int")

    def test_every_error_has_a_meaning(self):
        own = set(re.findall(r"^  (PPRF_TLS_ERR_\w+) =", self.headers, re.M))
        self.assertEqual(own, {r for _, _, results in self.functions.values() for r in results
                               if r.startswith("PPRF_TLS")})

    def test_every_field_is_documented(self):
        for struct, section in (("pprf_tickets_options", "pprf_tickets_new"),
                                ("pprf_tickets_stats", "pprf_tickets_stats")):
            with self.subTest(struct):
                self.assertEqual(re.findall(r"^\.It Va (\w+)", self.sections[section], re.M),
                                 header_fields(self.headers, struct))

    def test_the_library_exports_what_the_headers_declare(self):
        out = subprocess.run(["nm", "-D", "--defined-only",
                              os.path.join(ROOT, "build", "tls", "libpprf_tls.so")],
                             capture_output=True, text=True, check=True).stdout
        exported = {line.split()[2].split("@")[0] for line in out.splitlines()
                    if line.split()[1] != "A"}
        self.assertEqual(exported, set(self.functions))

    def test_a_difference_is_seen(self):
        """a test of these tests"""
        less = self.headers.replace(" * @retval PPRF_ERR_RANGE", " * PPRF_ERR_RANGE")
        self.assertNotEqual(header_functions(less), self.functions)
        self.assertNotEqual(page_functions(self.page.replace('"int early"', '"unsigned early"')),
                            page_functions(self.page))
        self.assertNotEqual(header_fields(self.headers.replace("uint64_t nodes;", ""),
                                          "pprf_tickets_stats"),
                            header_fields(self.headers, "pprf_tickets_stats"))


if __name__ == "__main__":
    sys.exit(tap.run((Documents,), sys.argv[1:]))
