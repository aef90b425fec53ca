#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipes of docs/uses.md for nginx and OpenSSL, as they are printed: a client offers one ticket three times.
Those for Go and Rust stand in sources that other tests run.  Prints TAP."""
import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
os.chdir(ROOT)
sys.path.insert(0, str(ROOT / "tools"))
import tap  # noqa: E402

BUILD = pathlib.Path(os.environ.get("BUILD", "build")).resolve()
MODULE = BUILD / "tls" / "nginx" / "ngx_http_pprf_tickets_module.so"
HARNESS = """
#include <openssl/ssl.h>
#include <stdlib.h>
#include <unistd.h>
#include <sys/socket.h>
int single_use_tickets(SSL_CTX *ctx);
int main(int argc, char **argv) /* a listening socket is descriptor 3 */
{
  SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
  if (argc != 3 || SSL_CTX_use_certificate_file(ctx, argv[1], SSL_FILETYPE_PEM) != 1 ||
      SSL_CTX_use_PrivateKey_file(ctx, argv[2], SSL_FILETYPE_PEM) != 1 || single_use_tickets(ctx) != 0)
    return 1;
  for (int s; (s = accept(3, NULL, NULL)) >= 0; close(s)) {
    SSL *ssl = SSL_new(ctx);
    SSL_set_fd(ssl, s);
    if (SSL_accept(ssl) == 1 && SSL_write(ssl, "hello", 5) == 5)
      SSL_shutdown(ssl);
    SSL_free(ssl);
  }
  return 0;
}
"""


def recipe(heading, language):
    """The section's blocks in a language, at most 15 lines together."""
    text = (ROOT / "docs" / "uses.md").read_text(encoding="utf-8")
    section = text.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    found = re.findall(rf"```{language}\n(.*?)```", section, re.S)
    assert found and sum(len(b.splitlines()) for b in found) <= 15
    return found


def run(*command, **more):
    return subprocess.run(command, text=True, capture_output=True, timeout=60, check=False, **more)


class Uses(unittest.TestCase):
    def setUp(self):
        self.dir = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.dir)
        made = run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                   "-subj", "/CN=x", "-keyout", "key.pem", "-out", "cert.pem", cwd=self.dir)
        self.assertEqual(made.returncode, 0, made.stderr)

    def spawn(self, *command, **more):
        process = subprocess.Popen(command, **more)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        return process

    def client(self, port, *session):
        """Whether a connection is New or Reused."""
        said = run("openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-tls1_3", "-ign_eof", *session,
                   input="GET / HTTP/1.0\r\n\r\n", cwd=self.dir).stdout
        return re.findall(r"^(New|Reused), TLSv1.3", said, re.M)

    def offers_one_ticket_three_times(self, port):
        self.assertEqual(self.client(port, "-sess_out", "session"), ["New"])
        self.assertTrue((self.dir / "session").exists())
        return [self.client(port, "-sess_in", "session") for _ in range(3)]

    def test_openssl_server(self):
        (code,) = recipe("A server on OpenSSL", "c")
        (self.dir / "use.c").write_text(code)
        (self.dir / "main.c").write_text(HARNESS)
        built = run("gcc", "-Wall", "-Wextra", "-Werror", f"-I{ROOT}/include", f"-I{ROOT}/tls", "use.c", "main.c",
                    f"{BUILD}/tls/libpprf_tls.a", "-lssl", "-lcrypto", "-pthread", "-o", "server", cwd=self.dir)
        self.assertEqual(built.returncode, 0, built.stderr)
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port, at = listener.getsockname()[1], listener.fileno()
            self.spawn("/bin/sh", "-c", f"exec ./server cert.pem key.pem 3<&{at}", cwd=self.dir, pass_fds=[at])
        self.assertEqual(self.offers_one_ticket_three_times(port), [["Reused"], ["New"], ["New"]])

    @unittest.skipUnless(MODULE.exists() and shutil.which("nginx"), "nginx or its module is not here (nginx-dev)")
    def test_nginx(self):
        load, http = recipe("nginx", "nginx")
        with socket.create_server(("127.0.0.1", 0)) as listener:
            port = listener.getsockname()[1]
        (self.dir / "modules").mkdir()
        (self.dir / "modules" / MODULE.name).symlink_to(MODULE)
        (self.dir / "nginx.conf").write_text(f"""{load}
daemon off; pid pid; error_log error.log; events {{ }}
http {{ access_log off; ssl_protocols TLSv1.3; ssl_certificate cert.pem; ssl_certificate_key key.pem;
  client_body_temp_path t; proxy_temp_path t; fastcgi_temp_path t; uwsgi_temp_path t; scgi_temp_path t;
{http}
  server {{ listen 127.0.0.1:{port} ssl; location / {{ return 200 hello; }} }} }}
""")
        self.spawn("nginx", "-p", str(self.dir), "-c", "nginx.conf", stderr=subprocess.DEVNULL)
        for _ in range(500):
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.02)
        self.assertEqual(self.offers_one_ticket_three_times(port), [["Reused"], ["New"], ["New"]])

    def test_go_and_rust_recipes_stand_in_tested_sources(self):
        (go,) = recipe("QUIC in Go", "go")
        self.assertIn(go, (ROOT / "bindings" / "go" / "quictest" / "quic_test.go").read_text(encoding="utf-8"))
        (rust,) = recipe("rustls", "rust")
        source = (ROOT / "bindings" / "rust" / "pprf-rustls" / "src" / "lib.rs").read_text(encoding="utf-8")
        self.assertIn(f"//! {rust}", source)


if __name__ == "__main__":
    sys.exit(tap.run([Uses], sys.argv[1:]))
