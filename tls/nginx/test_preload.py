#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the preload shim with other projects' servers: openssl s_server and, where installed,
HAProxy and stunnel.  Emits TAP.

Usage: tls/nginx/test_preload.py [TEST...]

Every server runs on loopback, on a free port, and is stopped at the end of its test."""
import contextlib
import os
import shutil
import socket
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
import test_tls as tls  # noqa: E402
import tap  # noqa: E402  (test_tls adds its folder to the path)

SHIM = os.path.join(tls.ROOT, "build", "tls", "libpprf_tls_preload.so")
PATIENCE = tls.PATIENCE
HAPROXY = """
global
  nbthread 2
  log stdout format raw local0
defaults
  mode http
  timeout client 10s
  timeout connect 5s
  timeout server 5s
  log global
  log-format "resumed=%[ssl_fc_is_resumed] %r"
frontend tests
  bind 127.0.0.1:{port} ssl crt {directory} {options}
  http-request return status 200 content-type text/plain string "<p>served\\n"
"""

# One certificate and three addresses: one requests no client certificate, one requires it, one
# requires it for the second host name.
HAPROXY_CLIENTS = """
global
  nbthread 2
defaults answers
  mode http
  timeout client 10s
  timeout connect 5s
  timeout server 5s
  http-request return status 200 content-type text/plain string "<p>served\\n"
frontend open
  bind 127.0.0.1:{open} ssl crt certs/localhost.pem allow-0rtt
  bind 127.0.0.1:{port} ssl crt certs/localhost.pem allow-0rtt
frontend required
  bind 127.0.0.1:{required} ssl crt certs/localhost.pem verify required ca-file cert allow-0rtt
frontend list
  bind 127.0.0.1:{list} ssl crt-list list allow-0rtt
"""
HAPROXY_LIST = """certs/localhost.pem [allow-0rtt] localhost
certs/other.pem [verify required ca-file cert allow-0rtt] other
"""


# A program with two SSL_CTX: it sets the second one's callbacks after the shim has attached
# tickets. It prints how often they are called in one handshake.
LATE_CALLBACKS = """
import ctypes
ctypes.CDLL("libssl.so.3", ctypes.RTLD_GLOBAL)
lib = ctypes.CDLL(None)  # what is loaded before comes first
for name in ("TLS_server_method", "TLS_client_method", "SSL_CTX_new", "SSL_new"):
    getattr(lib, name).restype = ctypes.c_void_p
pointer = ctypes.c_void_p

def new_server():
    ctx = pointer(lib.SSL_CTX_new(pointer(lib.TLS_server_method())))
    assert lib.SSL_CTX_use_certificate_file(ctx, b"cert", 1) == 1
    assert lib.SSL_CTX_use_PrivateKey_file(ctx, b"key", 1) == 1
    return ctx

asked = 0
@ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer)
def generate(ssl, arg):
    global asked
    asked += 1
    return 1
@ctypes.CFUNCTYPE(ctypes.c_int, pointer, pointer, pointer, ctypes.c_size_t, ctypes.c_int, pointer)
def decrypt(ssl, session, name, length, status, arg):
    return 3  # use it

assert lib.SSL_new(new_server())
ctx = new_server()
assert lib.SSL_CTX_set_session_ticket_cb(ctx, generate, decrypt, None) == 1
client = pointer(lib.SSL_CTX_new(pointer(lib.TLS_client_method())))
ends, bios = [pointer(lib.SSL_new(c)) for c in (ctx, client)], [pointer(), pointer()]
assert lib.BIO_new_bio_pair(ctypes.byref(bios[0]), ctypes.c_size_t(0), ctypes.byref(bios[1]), ctypes.c_size_t(0)) == 1
for end, bio in zip(ends, bios):
    lib.SSL_set_bio(end, bio, bio)
lib.SSL_set_accept_state(ends[0])
lib.SSL_set_connect_state(ends[1])
done = [0, 0]
for _ in range(20):
    done = [lib.SSL_do_handshake(end) for end in ends]
print(done, asked)
"""


class Server(tls.Foreign):
    """A program on a free port, with or without the shim."""

    def __init__(self, directory, command, environment, shim=True):
        self.port = int(command[-1])
        self.log = os.path.join(directory, f"log-{time.monotonic_ns()}")
        self.out = open(self.log, "wb")
        self.process = subprocess.Popen(
            command[:-1], cwd=directory, stdin=subprocess.PIPE, stdout=self.out,
            stderr=subprocess.STDOUT,
            env=dict(os.environ, **({"LD_PRELOAD": SHIM} if shim else {}), **environment))
        try:
            self.until(self.answers, "answer")
        except BaseException:
            self.stop()
            raise

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.out.close()


class Case(tls.Case):
    def setUp(self):
        super().setUp()
        os.mkdir(self.path("certs"))
        for name in ("localhost", "other"):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.path("key"),
                            "-out", self.path("cert"), "-subj", f"/CN={name}"],
                           check=True, capture_output=True, timeout=PATIENCE)
            with open(self.path(f"certs/{name}.pem"), "w") as f:
                for part in ("key", "cert"):
                    with open(self.path(part)) as p:
                        f.write(p.read())

    def start(self, command, shim=True, **environment):
        server = Server(self.dir, command, environment, shim)
        self.addCleanup(server.stop)
        return server


class SServer(Case):
    def s_server(self, *options, **parts):
        port = tap.free_port()
        return self.start(["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert", "cert",
                           "-key", "key", *options, str(port)], **parts)

    def session(self, server, name, *options, patience=PATIENCE):
        """A session file: s_client waits for a ticket, and s_server sends nothing. None if no
        ticket came within this time. The client ends by itself, at the end of its input: it may
        be rewriting the file for the next ticket."""
        path = self.path(name)
        with contextlib.suppress(FileNotFoundError):
            os.remove(path)
        p = subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{server.port}",
                              "-sess_out", path, *options], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        try:
            for line in p.stdout:
                if line.startswith(b"Verify return code") or b"Verification" in line:
                    break
            end = time.monotonic() + patience
            while time.monotonic() < end:
                if os.path.exists(path):
                    with open(path) as f:
                        if "END SSL SESSION" in f.read():
                            p.communicate(timeout=PATIENCE)
                            return path
                time.sleep(0.02)
            return None
        finally:
            p.kill()
            p.communicate()

    def deliveries(self, server, flight, times):
        """How often it is delivered. s_server has written one connection's data when it answers the
        next one; the last connection here carries none."""
        for _ in range(times):
            tls.send_flight(server.port, flight)
        self.session(server, "last")
        return server.text().count("Early data received")

    def test_replayed_first_flight_is_delivered_once(self):
        server = self.s_server("-early_data")
        flight = tls.capture(self.dir, self.session(server, "first"), self.early)
        self.assertEqual(self.deliveries(server, flight, 4), 1)
        self.assertIn(tls.REQUEST.split()[1].decode(), server.text())

    def test_in_each_suite_it_is_delivered_once(self):
        for name in ("sha3-256", "sha3-256-salted", "aes-128"):
            server = self.s_server("-early_data", PPRF_TICKETS_SUITE=name)
            flight = tls.capture(self.dir, self.session(server, name), self.early)
            self.assertEqual(self.deliveries(server, flight, 2), 1, name)

    def test_control_without_the_shim_every_replay_is_delivered(self):
        for _ in range(3):
            server = self.s_server("-early_data", "-no_anti_replay", shim=False)
            begun = time.time()
            flight = tls.capture(self.dir, self.session(server, "first"), self.early)
            delivered = self.deliveries(server, flight, 4)
            # OpenSSL rejects early data that is ten seconds old by the clock: after a stall of the
            # machine this test proves nothing
            if 0 <= time.time() - begun < 8:
                break
        self.assertEqual(delivered, 4, f"{time.time() - begun:.1f} s by the clock\n{server.text()}")

    def test_servers_choice_of_no_early_data_stands(self):
        server = self.s_server("-www")
        first = self.session(server, "first")
        with open(first) as f:
            text = subprocess.run(["openssl", "sess_id", "-text", "-noout"], stdin=f,
                                  capture_output=True, text=True, timeout=PATIENCE).stdout
        self.assertIn("Max Early Data: 0", text)
        for reused in (True, False):
            self.assertEqual(tls.s_client(server.port, first).reused, reused)

    def test_tls_1_2_tickets_are_used_once(self):
        server = self.s_server("-www")
        first = self.session(server, "first", "-tls1_2")
        for reused in (True, False):
            seen = tls.s_client(server.port, first, options=["-tls1_2"])
            self.assertEqual(seen.reused, reused)

    def test_without_tls_1_2_tickets_its_handshakes_are_full(self):
        server = self.s_server("-www", PPRF_TICKETS_TLS12="off", PPRF_TICKETS_RATE="100")
        path = self.session(server, "none", "-tls1_2", patience=3)
        self.assertEqual(tls.session(path)[0] if path else b"", b"")
        first = self.session(server, "first")
        for reused in (True, False):
            self.assertEqual(tls.s_client(server.port, first).reused, reused)

    def test_callbacks_that_a_program_sets_late_are_asked(self):
        for shim in ({}, {"LD_PRELOAD": SHIM}):
            r = subprocess.run([sys.executable, "-c", LATE_CALLBACKS], cwd=self.dir, capture_output=True, text=True,
                               timeout=PATIENCE, env=dict(os.environ, PPRF_TICKETS_RATE="100", **shim))
            self.assertEqual((r.stdout, r.stderr), ("[1, 1] 2\n", ""))

    def test_bad_values_are_named_and_switch_tickets_off(self):
        for name, value in (("DEPTH", "33"), ("DEPTH", "x"), ("DEPTH", ""), ("LIFETIME", "0"),
                            ("LIFETIME", "604801"), ("ROTATION", "-1"), ("ROTATION", "7199"),
                            ("RATE", "0"), ("RATE", "600000"), ("MEMORY", "1000"), ("MEMORY", "1m"),
                            ("TLS12", "maybe"), ("SUITE", ""), ("SUITE", "aes"), ("LIFETIM", "60"),
                            ("LIFETIMES", "60"), ("lifetime", "60"), ("", "1"),
                            ("BACKEND", ""), ("BACKEND", "http://h"),
                            ("BACKEND", "valkey://h " * 9)):
            with self.subTest(name=name, value=value):
                variable = f"PPRF_TICKETS_{name}"
                server = self.s_server("-early_data", **{variable: value})
                lines = [line for line in server.text().splitlines() if variable in line]
                self.assertEqual(len(lines), 1, server.text())
        server = self.s_server("-early_data", PPRF_TICKETS_SUITE="aes-128",
                               PPRF_TICKETS_BACKEND="valkey://127.0.0.1:9")
        self.assertIn("not with PPRF_TICKETS_SUITE", server.text())
        self.assertIn("no tickets: ", server.text())
        server = self.s_server("-early_data", PPRF_TICKETS_LIFETIME="432001",
                               PPRF_TICKETS_BACKEND="valkey://127.0.0.1:9")
        self.assertIn("PPRF_TICKETS_BACKEND: with it PPRF_TICKETS_LIFETIME is 1 to 432000", server.text())
        server = self.s_server("-early_data", PPRF_TICKETS_BACKENDS="valkey://user:word@127.0.0.1:9")
        self.assertIn("PPRF_TICKETS_BACKENDS: unknown variable", server.text())
        self.assertNotIn("word", server.text())
        for version in ("-tls1_2", "-tls1_3"):  # of the last server
            path = self.session(server, "none", version, patience=3)
            if path:  # TLS 1.2 has a session without a ticket, which cannot be resumed
                self.assertEqual(tls.session(path)[0], b"")
                self.assertEqual(version, "-tls1_2")


class HAProxy(Case):
    def setUp(self):
        super().setUp()
        self.program = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
        if not self.program:
            self.skipTest("haproxy is not installed (package haproxy)")

    def haproxy(self, options="allow-0rtt", **parts):
        port = tap.free_port()
        with open(self.path("haproxy.cfg"), "w") as f:
            f.write(HAPROXY.format(port=port, directory=self.path("certs"), options=options))
        return self.start([self.program, "-db", "-f", "haproxy.cfg", str(port)], **parts)

    def life(self, server, options=()):
        """Full, early data, the same ticket twice again, the renewed ticket."""
        first, renewed = self.path("first"), self.path("renewed")
        self.assertFalse(tls.s_client(server.port, None, first, None, options).reused)
        seen = []
        for sess_in, sess_out in ((first, renewed), (first, None), (first, None), (renewed, None)):
            s = tls.s_client(server.port, sess_in, sess_out, self.early, options)
            self.assertTrue(s.answered, s.text)
            seen.append((s.early, s.reused))
        return seen

    def test_full_then_early_data_then_replay_then_renewed_ticket(self):
        server = self.haproxy()
        want = [("accepted", True), ("rejected", False), ("rejected", False), ("accepted", True)]
        self.assertEqual(self.life(server), want)
        # SNI selects an SSL_CTX other than the connection's first
        self.assertEqual(self.life(server, ["-servername", "other"]), want)

    def test_a_ticket_is_good_only_under_the_same_client_requirements(self):
        port = {name: tap.free_port() for name in ("port", "open", "required", "list")}
        for name, text in (("haproxy.cfg", HAPROXY_CLIENTS.format(**port)), ("list", HAPROXY_LIST)):
            with open(self.path(name), "w") as f:
                f.write(text)
        self.start([self.program, "-db", "-f", "haproxy.cfg", str(port["port"])])
        known, name = ["-cert", "cert", "-key", "key"], ["-servername", "other"]
        with contextlib.chdir(self.dir):
            for version, early in (("-tls1_3", None), ("-tls1_3", self.early), ("-tls1_2", None)):
                def at(where, sess_in=None, sess_out=None, options=()):
                    s = tls.s_client(port[where], sess_in, sess_out, early if sess_in else None, [version, *options])
                    return s.answered, s.reused, s.early == "accepted"

                full, resumed, nothing = (True, False, False), (True, True, bool(early)), (False, False, False)
                with self.subTest(version=version, early=bool(early)):
                    self.assertEqual(at("required"), nothing, "control")
                    for to, options in (("required", []), ("list", name)):
                        self.assertEqual(at("open", None, "of_open"), full)
                        self.assertEqual(at(to, None, "of_other", known + options), full)
                        self.assertEqual(at(to, "of_open", None, options), nothing, to)
                        self.assertEqual(at(to, "of_open", None, known + options), full, to)
                        self.assertEqual(at("open", "of_open"), resumed, "it is not used up")
                        # a ticket issued under a name is redeemed before the missing name is
                        # noticed
                        self.assertEqual(at("open", "of_other")[0], to == "required")
                        self.assertEqual(at(to, "of_other", None, options), resumed, to)

    def test_control_without_the_shim_a_ticket_is_good_again_and_again(self):
        self.assertEqual(self.life(self.haproxy(shim=False)), [("accepted", True)] * 4)

    def test_used_tickets_secret_is_in_no_memory(self):
        server = self.haproxy()
        first = self.path("first")
        tls.s_client(server.port, None, first)
        _, psk = tls.session(first)
        flight = tls.capture(self.dir, first, self.early)
        hello = next(tls.records(flight))[1]
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as conn:
            conn.sendall(hello)
            self.assertEqual(conn.recv(1)[0], tls.HANDSHAKE)
            self.assertGreater(tls.in_memory(server.process.pid, psk), 0, "control")
            conn.sendall(flight[len(hello):])
        server.until(lambda: not any(tls.in_memory(server.process.pid, part)
                                     for part in (psk[:16], psk[-16:])), "wiping")

    def test_with_the_shim_alone_nothing_is_found_while_connections_are_open(self):
        server = self.haproxy()
        with open(self.early, "wb") as f:
            f.write(b"GET /early HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assertEqual(self.found_while_open(server, lambda: [server.process.pid]), {})

    def test_bad_value_switches_tickets_off(self):
        server = self.haproxy(PPRF_TICKETS_DEPTH="33")
        for _ in range(2):
            seen = tls.s_client(server.port, None, self.path("none"))
            self.assertTrue(seen.answered)
        self.assertFalse(os.path.exists(self.path("none")))


class Stunnel(Case):
    def test_a_ticket_is_good_once_its_successor_too(self):
        program = shutil.which("stunnel4")
        if not program:
            self.skipTest("stunnel4 is not installed (package stunnel4)")
        port, backend = tap.free_port(), socket.create_server(("127.0.0.1", 0))
        self.addCleanup(backend.close)

        def serve():
            while True:
                try:
                    conn, _ = backend.accept()
                except OSError:
                    return
                with conn:
                    if conn.recv(4096):
                        conn.sendall(b"HTTP/1.0 200 OK\r\n\r\n<p>served\n")
        threading.Thread(target=serve, daemon=True).start()
        with open(self.path("stunnel.conf"), "w") as f:
            f.write(f"foreground = yes\npid =\n[test]\naccept = 127.0.0.1:{port}\nconnect = "
                    f"127.0.0.1:{backend.getsockname()[1]}\ncert = certs/localhost.pem\n")
        server = self.start([program, "stunnel.conf", str(port)])
        first, renewed, seen = self.path("first"), self.path("renewed"), []
        for sess_in, sess_out in ((None, first), (first, renewed), (first, None), (renewed, None)):
            s = tls.s_client(server.port, sess_in, sess_out)
            seen.append((s.answered, s.reused))
        self.assertEqual(seen, [(True, False), (True, True), (True, False), (True, True)])


def main():
    if not os.path.exists(SHIM):
        sys.exit(f"{SHIM} is missing: make")
    return tap.run((SServer, HAProxy, Stunnel), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
