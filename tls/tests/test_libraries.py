#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the tickets in TLS libraries other than OpenSSL, through pprf_tickets.h.  Emits TAP.

Usage: tls/tests/test_libraries.py [TEST...]"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import tap  # noqa: E402

TLS = os.path.dirname(HERE)
ROOT = os.path.dirname(TLS)
LIBRARY = os.path.join(ROOT, "build", "tls", "libpprf_tls.a")
PATIENCE = 60


class Go(unittest.TestCase):
    """tls/tests/tickets.go uses WrapSession and UnwrapSession, which came with Go 1.21."""

    directory = None

    def build(self):
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        environment = dict(os.environ, GOTOOLCHAIN="local", GO111MODULE="off", GOFLAGS="-p=1",
                           CGO_ENABLED="1", CGO_CFLAGS=f"-I{TLS} -I{ROOT}/include",
                           CGO_LDFLAGS=f"{LIBRARY} -lcrypto")
        version = subprocess.run(["go", "env", "GOVERSION"], capture_output=True, text=True,
                                 env=environment, timeout=PATIENCE).stdout.strip()
        found = re.match(r"go1\.(\d+)", version)
        if not found or int(found.group(1)) < 21:
            self.skipTest(f"{version} has no WrapSession (1.21 has)")
        Go.directory = tempfile.TemporaryDirectory()
        r = subprocess.run(["go", "build", "-o", "tickets", os.path.join(HERE, "tickets.go")],
                           cwd=Go.directory.name, capture_output=True, text=True, timeout=600,
                           env=environment)
        self.assertEqual(r.returncode, 0, r.stderr)

    @classmethod
    def tearDownClass(cls):
        if cls.directory:
            cls.directory.cleanup()

    def lines(self, what):
        if not Go.directory:
            self.build()
        r = subprocess.run([os.path.join(Go.directory.name, "tickets"), what], capture_output=True,
                           text=True, timeout=PATIENCE)
        self.assertEqual(r.returncode, 0, r.stdout + r.stderr)
        return r.stdout.splitlines()

    def test_go_server_with_these_tickets(self):
        """the first ticket three times, then the renewed one"""
        self.assertEqual(self.lines("tcp"), ["full", "resumed", "full", "full", "resumed",
                                             "accepted 0 rejected 0 resumed 2 refused 2"])

    def test_quic_redeems_after_the_binder(self):
        self.assertEqual(self.lines("quic"), [
            "no ticket: full",
            "a copy with a wrong binder: failed: tls: invalid PSK binder",
            "the ticket: early data",  # the copy has not used it up
            "the same ticket: full",
            "the renewed ticket: early data",
            "no ticket: full",
            "the faster: early data",
            "the slower: closed",
            "accepted 3 rejected 1 resumed 0 refused 1"])


CLASH = """
#include <stdio.h>
#include <stdlib.h>
void *EVP_CIPHER_CTX_new(void) { puts("clash"); exit(3); }
int other_library(void) { return 1; }
"""
PROGRAM = """
#include <stdio.h>
#include <pprf_tickets.h>
int other_library(void);
int main(void)
{
  pprf_tickets *t;
  uint8_t out[PPRF_TICKET_OVERHEAD + 1];
  size_t n = sizeof out;
  if (pprf_tickets_new(&t, NULL) || pprf_tickets_seal(t, out, 0, out + 1, &n) || !other_library())
    return 1;
  puts("sealed");
  return 0;
}
"""


class OtherLibcrypto(unittest.TestCase):
    """A program with a static library that defines a function of libcrypto's name, as BoringSSL
    defines many."""

    def run_with(self, *flags):
        with tempfile.TemporaryDirectory() as d:
            for name, text in (("other.c", CLASH), ("program.c", PROGRAM)):
                with open(os.path.join(d, name), "w") as f:
                    f.write(text)
            cc, build = os.environ.get("CC", "cc"), os.path.dirname(LIBRARY)
            for command in ([cc, "-c", "other.c"], ["ar", "rcs", "libother.a", "other.o"],
                            [cc, f"-I{TLS}", f"-I{ROOT}/include", "program.c", "-L.", "-lother",
                             *flags, f"-L{build}", "-lpprf_tls", "-o", "program"]):
                subprocess.run(command, cwd=d, check=True, timeout=PATIENCE)
            return subprocess.run([os.path.join(d, "program")], capture_output=True, text=True,
                                  env=dict(os.environ, LD_LIBRARY_PATH=build),
                                  timeout=PATIENCE).stdout.strip()

    def test_programs_hide_a_libcrypto_of_their_own(self):
        self.assertEqual(self.run_with("-Wl,--exclude-libs,ALL"), "sealed")

    def test_control_one_that_is_not_hidden_clashes(self):
        self.assertEqual(self.run_with(), "clash")


class WithoutLibssl(unittest.TestCase):
    """The static library in a program that uses only pprf_tickets.h."""

    def link(self, text, *libraries):
        with tempfile.TemporaryDirectory() as d:
            with open(os.path.join(d, "program.c"), "w") as f:
                f.write(text)
            r = subprocess.run([os.environ.get("CC", "cc"), f"-I{TLS}", f"-I{ROOT}/include", "program.c",
                                LIBRARY, *libraries, "-pthread", "-o", "program"], cwd=d,
                               capture_output=True, text=True, timeout=PATIENCE)
            if r.returncode != 0:
                return r.stderr, ""
            needed = subprocess.run(["readelf", "-d", "program"], cwd=d, capture_output=True, text=True,
                                    check=True, timeout=PATIENCE).stdout
            return subprocess.run([os.path.join(d, "program")], capture_output=True, text=True,
                                  timeout=PATIENCE).stdout.strip(), needed

    def test_tickets_as_bytes_need_no_libssl(self):
        said, needed = self.link(PROGRAM.replace("!other_library()", "0"), "-lcrypto")
        self.assertEqual(said, "sealed")
        self.assertIn("libcrypto", needed)
        self.assertNotIn("libssl", needed)

    def test_control_tickets_in_openssl_need_it(self):
        program = '#include <pprf_tls.h>\nint main(void) { return pprf_tickets_attach(NULL, NULL) == 0; }'
        self.assertIn("SSL_CTX_", self.link(program, "-lcrypto")[0])
        self.assertIn("libssl", self.link(program, "-lssl", "-lcrypto")[1])


FIRST_CALLS = """
#include <stdio.h>
#include <pprf_tls.h>
#include "loop.h"
static SSL_CTX *client, *server;
static int handshakes(void) /* and one with early data */
{
  struct loop_result first = loop_connect(client, server, NULL, NULL, 0, NULL);
  struct loop_result second = loop_connect(client, server, NULL, first.session, 1, NULL);
  SSL_SESSION_free(first.session);
  SSL_SESSION_free(second.session);
  return second.early;
}
int main(void)
{
  pprf_tickets *t;
  uint8_t ticket[PPRF_TICKET_OVERHEAD + 1], content[sizeof ticket];
  size_t n = sizeof ticket, m = sizeof content;
  uint64_t number;
  client = loop_client(TLS1_3_VERSION);
  server = loop_server();
  (void)SSL_CTX_set_max_early_data(server, 1000);
  if (!handshakes()) /* with OpenSSL's tickets: binds what the program itself calls */
    return 1;
  server = loop_server();
  if (pprf_tickets_new(&t, NULL) || pprf_tickets_attach(server, t))
    return 2;
  fputs("there are tickets\\n", stderr);
  if (!handshakes() || pprf_tickets_seal(t, content, 1, ticket, &n) ||
      pprf_tickets_open(t, ticket, n, content, &m, &number) || pprf_tickets_redeem(t, number, 0))
    return 3;
  fputs("they were used\\n", stderr);
  return 0;
}
"""


class LazilyBound(unittest.TestCase):
    """The static library in a program that binds lazily, the default of gcc on Debian: a first call
    goes through the dynamic linker, which saves the registers below the caller, including a
    secret left in one of them."""

    def test_functions_that_see_secrets_are_bound_before_there_are_any(self):
        with tempfile.TemporaryDirectory() as d:
            program = os.path.join(d, "program")
            with open(program + ".c", "w") as f:
                f.write(FIRST_CALLS)
            subprocess.run([os.environ.get("CC", "cc"), "-D_GNU_SOURCE", f"-I{TLS}", f"-I{HERE}", f"-I{ROOT}/include",
                            program + ".c", os.path.join(HERE, "loop.c"), LIBRARY, "-lssl", "-lcrypto", "-pthread",
                            "-Wl,-z,lazy", "-o", program], check=True, timeout=PATIENCE)
            r = subprocess.run([program], capture_output=True, text=True, env=dict(os.environ, LD_DEBUG="bindings"),
                               timeout=PATIENCE)
        self.assertEqual(r.returncode, 0, r.stderr[-2000:])
        used = r.stderr.split("there are tickets\n")[1].split("they were used\n")[0]
        late = re.findall(rf"binding file {re.escape(program)} .*symbol `(\w+)'", used)
        self.assertIn("SSL_get_state", late, "control: the program binds lazily, and the handshakes bound functions")
        self.assertEqual([], [name for name in late if re.match(
            r"EVP_|OSSL_|CRYPTO_|OPENSSL_|mem|explicit_bzero|SSL_SESSION_(get|set1)_master_key", name)])


HOST = """
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
  void *library = dlopen(argv[argc - 1], RTLD_NOW), *key, *part;
  int (*setup)(void **, unsigned, const void *) = dlsym(library, "pprf_setup");
  int (*delegate)(void *, uint64_t, uint64_t, void **) = dlsym(library, "pprf_delegate");
  void (*give_back)(void *) = dlsym(library, "pprf_free");
  if (setup(&key, 20, NULL) || delegate(key, 7, 70, &part) || delegate(part, 0, 6, &key) != 1)
    return 1;
  give_back(part);
  return 0;
}
"""


class OtherLibpprf(unittest.TestCase):
    """A program that has functions of libpprf's names and shows them to libraries: it contains another version, and
    -rdynamic exports it.  The library must not give its keys to them."""

    def test_the_library_calls_its_own_functions(self):
        with open(os.path.join(ROOT, "packaging", "release", "libpprf.symbols")) as f:
            names = re.findall(r"^(pprf_\w+) ", f.read(), re.M)
        others = "".join(f"void {name}(void) {{ abort(); }}\n" for name in names)
        self.assertIn("void pprf_punct_range(void)", others)
        with tempfile.TemporaryDirectory() as d:
            program = os.path.join(d, "host")
            subprocess.run([os.environ.get("CC", "cc"), "-rdynamic", "-x", "c", "-", "-o", program, "-ldl"],
                           input=HOST + others, text=True, check=True, timeout=PATIENCE)
            r = subprocess.run([program, os.path.join(ROOT, "build", "opt", "libpprf.so.0")], timeout=PATIENCE)
        self.assertEqual(r.returncode, 0)

    def test_no_library_asks_for_a_function_of_its_own(self):
        for name in ("opt/libpprf", "redact/libpprf_redact", "tls/libpprf_tls", "vault/libpprf_vault"):
            said = subprocess.run(["readelf", "-W", "--relocs", "--dyn-syms", f"{ROOT}/build/{name}.so.0"],
                                  capture_output=True, text=True, check=True, timeout=PATIENCE).stdout
            own = set(re.findall(r" GLOBAL +DEFAULT +\d+ (pprf_\w+)", said))
            asked = set(re.findall(r"^[0-9a-f]{8,} .* (\w+)@?\S* \+ 0$", said, re.M))
            self.assertGreater(len(own), 9, name)
            self.assertIn("memcpy", asked, f"control: {name}")
            self.assertEqual(set(), own & asked, name)


if __name__ == "__main__":
    sys.exit(tap.run((Go, OtherLibcrypto, OtherLibpprf, WithoutLibssl, LazilyBound), sys.argv[1:]))
