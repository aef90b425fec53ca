#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the session tickets against clients that this project did not write: openssl s_client,
gnutls-cli, Go's crypto/tls, and raw ClientHellos.  Emits TAP.

Usage: tls/tests/test_tls.py [--server PROGRAM] [--seed N] [TEST...]

Every server runs on loopback, on its own port, and is stopped at the end of its test. Attacks use
recorded bytes: a first flight is what a client sends before it hears from the server (ClientHello,
early data), captured by a listener that never answers. """
import argparse
import contextlib
import hmac
import os
import random
import re
import resource
import shutil
import signal
import socket
import ssl
import struct
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "..", "tools"))
import tap  # noqa: E402

ROOT = os.path.dirname(os.path.dirname(HERE))
SERVER = os.path.join(ROOT, "build", "pprf-tls-server")
SEED = 0
PATIENCE = 60
NOBODY = 65534
REQUEST = b"GET /early HTTP/1.0\r\n\r\n"
HANDSHAKE, ALERT, APPLICATION_DATA, CHANGE_CIPHER_SPEC = 22, 21, 23, 20


class Server:
    """build/pprf-tls-server with --stats; `log` has a line per connection."""

    def __init__(self, directory, *options):
        self.out = open(os.path.join(directory, f"log-{time.monotonic_ns()}"), "w+")
        self.process = subprocess.Popen(
            [SERVER, "--port", "0", "--stats", *map(str, options)], cwd=directory,
            stdin=subprocess.DEVNULL, stdout=self.out, stderr=subprocess.STDOUT)
        try:
            self.port = int(self.wait(r"listening on 127\.0\.0\.1:(\d+)").group(1))
        except BaseException:
            self.stop()
            raise

    def text(self):
        with open(self.out.name) as f:
            return f.read()

    def wait(self, pattern, count=1):
        """Wait until the log has `count` matches of the pattern; returns the last one."""
        end = time.monotonic() + PATIENCE
        while True:
            found = list(re.finditer(pattern, self.text(), re.M))
            if len(found) >= count:
                return found[count - 1]
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"not {count} x {pattern!r} in the log:\n{self.text()}")
            time.sleep(0.02)

    def connections(self, count):
        """The lines of the first `count` connections, once all are there."""
        pattern = r"^(TLSv1\.\d, .*|failed: .*)\n"
        self.wait(pattern, count)
        return re.findall(pattern, self.text(), re.M)

    def stats(self):
        line = re.findall(r"^  (issued .*) bytes$", self.text(), re.M)[-1]
        return {k: int(v) for k, v in re.findall(r"([a-z]+(?: [a-z]+)?) (\d+)", line)}

    def pids(self):
        """The server's process and its workers."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
            return [self.process.pid, *map(int, f.read().split())]

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(PATIENCE)
        self.out.close()


class Foreign:
    """Another project's server: its `process`, the file `log` with its output, its `port`."""

    def text(self):
        with open(self.log, errors="replace") as f:
            return f.read()

    def answers(self):
        try:
            socket.create_connection(("127.0.0.1", self.port), PATIENCE).close()
            return True
        except ConnectionError:
            return False

    def until(self, condition, what, alive=True):
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            if time.monotonic() > end or alive and self.process.poll() is not None:
                raise AssertionError(f"no {what} from the server:\n{self.text()}")
            time.sleep(0.02)
        return value


class Outcome:
    """What a client saw."""

    def __init__(self, text):
        found = re.search(r"Early data was (accepted|rejected|not sent)", text)
        self.early = found.group(1) if found else "not sent"
        self.reused = bool(re.search(r"^Reused, ", text, re.M))
        self.answered = "<p>served" in text
        self.handshake = (re.findall(r"^X-Handshake: (.*)", text, re.M) or ["none"])[0].strip()
        self.text = text

    def __str__(self):
        return f"{self.handshake}, answered: {self.answered}"


def s_client(port, sess_in=None, sess_out=None, early=None, options=(), until_ticket=False):
    """One connection of openssl s_client. The request is sent as early data and, if that is not
    accepted, after the handshake. until_ticket: end the connection when a ticket arrives after
    accepted early data."""
    command = ["openssl", "s_client", "-connect", f"127.0.0.1:{port}", "-ign_eof", *options]
    command = (["stdbuf", "-oL"] if until_ticket else []) + command
    command += ["-sess_in", sess_in] if sess_in else []
    command += ["-sess_out", sess_out] if sess_out else []
    command += ["-early_data", early] if early else []
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT)
    watchdog = threading.Timer(PATIENCE, p.kill)
    watchdog.start()
    text = b""
    try:
        for line in p.stdout:
            text += line
            if line.startswith(b"Early data was") and not line.startswith(b"Early data was accep"):
                break
            if line.startswith(b"SSL-Session:"):  # TLS 1.2 reports nothing about early data
                break
        else:
            p.wait()
            return Outcome(text.decode(errors="replace"))
        try:
            if b"Early data was accepted" not in text:
                p.stdin.write(REQUEST)
                p.stdin.flush()
        except BrokenPipeError:
            pass
        waited_for = (b"New Session Ticket arrived", b"<p>served")  # -sess_out has been written by then
        while not (until_ticket and all(part in text for part in waited_for)) and (line := p.stdout.readline()):
            text += line
        return Outcome(text.decode(errors="replace"))
    finally:
        watchdog.cancel()
        p.kill()
        p.wait()
        with contextlib.suppress(BrokenPipeError):  # unwritten data makes close fail
            p.stdin.close()
        p.stdout.close()


def records(data):
    """The complete TLS records at the start of data: (type, record with its header)."""
    at = 0
    while at + 5 <= len(data):
        size = 5 + struct.unpack(">H", data[at + 3:at + 5])[0]
        if at + size > len(data):
            return
        yield data[at], data[at:at + size]
        at += size


def capture(directory, sess_in, early, options=()):
    """The first flight of s_client with this session, with early data unless `early` is None;
    nobody answers it."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(PATIENCE)
        p = subprocess.Popen(
            ["openssl", "s_client", "-connect", f"127.0.0.1:{listener.getsockname()[1]}",
             "-sess_in", sess_in, *(["-early_data", early] if early else []), "-ign_eof", *options],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            conn, _ = listener.accept()
            with conn:
                conn.settimeout(PATIENCE)
                data = b""
                while (APPLICATION_DATA if early else HANDSHAKE) not in [t for t, _ in records(data)]:
                    more = conn.recv(65536)
                    if not more:
                        raise AssertionError("the client sent no whole flight")
                    data += more
                return data
        finally:
            p.kill()
            p.wait()


def send_flight(port, data, then=None):
    """Send bytes, then end; returns the type of the server's first record, or None."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as conn:
        conn.sendall(data)
        if then:
            then()
        answer = b""
        try:
            while len(answer) < 6:
                more = conn.recv(65536)
                if not more:
                    break
                answer += more
        except ConnectionError:
            pass
        try:
            conn.shutdown(socket.SHUT_WR)
            while conn.recv(65536):
                pass
        except OSError:
            pass
        return answer[0] if answer else None


def der(data):
    """The elements in the content of a DER sequence: (tag, content)."""
    at = 0
    while at < len(data):
        tag, size, at = data[at], data[at + 1], at + 2
        if size & 0x80:
            width = size & 0x7f
            size, at = int.from_bytes(data[at:at + width], "big"), at + width
        yield tag, data[at:at + size]
        at += size


def session(path):
    """The ticket and the pre-shared key in a session file of openssl."""
    with open(path) as f:
        raw = ssl.PEM_cert_to_DER_cert(f.read().replace("SSL SESSION PARAMETERS", "CERTIFICATE"))
    (_, body), = der(raw)
    fields = list(der(body))
    key = fields[4][1]
    ticket = [next(der(content))[1] for tag, content in fields if tag == 0xaa]
    return (ticket or [b""])[0], key


def client_hello(identities, rng, binder=32, cipher=0x1302, share=True):
    """A TLS 1.3 ClientHello that offers these PSK identities with random binders. Without a share
    the server asks for another one."""
    def vector(width, data):
        return len(data).to_bytes(width, "big") + data

    def extension(kind, data):
        return struct.pack(">H", kind) + vector(2, data)

    offered = b"".join(vector(2, i) + rng.randbytes(4) for i in identities)
    binders = b"".join(vector(1, rng.randbytes(binder)) for _ in identities)
    extensions = (
        extension(43, b"\x02\x03\x04") + extension(10, vector(2, b"\x00\x1d"))
        + extension(13, vector(2, b"\x04\x03\x08\x04\x04\x01"))
        + extension(45, b"\x01\x01")
        + extension(51, vector(2, b"\x00\x1d" + vector(2, rng.randbytes(32)) if share else b""))
        + extension(41, vector(2, offered) + vector(2, binders)))
    body = (b"\x03\x03" + rng.randbytes(32) + vector(1, rng.randbytes(32))
            + vector(2, cipher.to_bytes(2, "big")) + b"\x01\x00" + vector(2, extensions))
    message = b"\x01" + vector(3, body)
    return b"".join(b"\x16\x03\x01" + vector(2, message[i:i + 16384])
                    for i in range(0, len(message), 16384))


def memory(pid, modes=("rw-s", "rw-p")):
    """The process's memory in mappings with these permissions, in blocks that overlap by 64
    bytes."""
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            at, end, mode = re.match(r"([0-9a-f]+)-([0-9a-f]+) (\S+)", line).groups()
            if mode not in modes or "[v" in line:
                continue
            at, end = int(at, 16), int(end, 16)
            while at < end:
                try:
                    mem.seek(at)
                    block = mem.read(min(1 << 20, end - at))
                except OSError:
                    break
                if not block:
                    break
                yield block
                at += len(block) if at + len(block) >= end else len(block) - 64


def in_memory(pid, secret):
    """How often the bytes occur in the process's memory."""
    return sum(block.count(secret) for block in memory(pid))


def gives(pid, psk):
    """How many places in the process's memory hold a secret from which this ticket's can be derived
    (RFC 8446, 4.6.1: the connection's resumption master secret), for OpenSSL's first two nonces."""
    digest, size = ("sha384", 48) if len(psk) == 48 else ("sha256", 32)
    info = [struct.pack(">H", size) + b"\x10tls13 resumption\x08" + struct.pack(">Q", n) + b"\1"
              for n in range(2)]
    found = 0
    for block in memory(pid, ("rw-p",)):
        # secrets look random: only one in 2^42 has six consecutive zeros
        for match in re.finditer(rb"(?:[^\0]+\0{0,5})+", block):
            for at in range(max(0, (match.start() & ~3) - 4), match.end() - size + 8, 4):
                key = block[at:at + size]
                found += any(hmac.digest(key, m, digest) == psk for m in info)
    return found


class Case(unittest.TestCase):
    def setUp(self):
        self.dir, self.held = tempfile.mkdtemp(prefix="pprf-tls-"), []
        self.addCleanup(shutil.rmtree, self.dir)
        self.early = self.path("early")
        with open(self.early, "wb") as f:
            f.write(REQUEST)
        self.rng = random.Random(SEED)

    def path(self, name):
        return os.path.join(self.dir, name)

    def serve(self, *options):
        server = Server(self.dir, *options)
        self.addCleanup(server.stop)
        return server

    def ticket(self, server, name, options=()):
        """A session file from a full handshake."""
        path = self.path(name)
        seen = s_client(server.port, sess_out=path, options=options)
        self.assertEqual((seen.handshake, seen.answered), ("full", True), seen.text)
        return path

    def flight(self, server, name):
        return capture(self.dir, self.ticket(server, name), self.early)

    def held_open(self, server, name, options=(), tickets=2):
        """A connection of s_client that stays silent after its handshake; returns its session
        file."""
        path = self.path(name)
        p = subprocess.Popen(["stdbuf", "-oL", "openssl", "s_client", "-connect",
                              f"127.0.0.1:{server.port}", "-sess_out", path, *options],
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT)
        self.held.append(p)
        self.addCleanup(p.communicate)
        self.addCleanup(p.kill)
        for line in p.stdout:  # the file has the last ticket
            tickets -= b"New Session Ticket arrived" in line
            if tickets == 0:
                return path
        self.fail("not all tickets came")

    def ticket_keys(self, server, ticket):
        """The keys of an unused ticket by their names, of a test that has a way to find them."""
        return {}

    def found_while_open(self, server, pids, early=True):
        """What an attacker who reads the processes' memory finds of a used ticket while the
        connection that issued it and the one that it resumed are open: {secret: count}, only
        those found."""
        keys = self.path("keys")
        issuer = self.held_open(server, "issuer")
        psk = session(issuer)[1]
        ticket_keys = self.ticket_keys(server, session(issuer)[0])
        resumed = self.held_open(server, "resumed", ["-sess_in", issuer, "-keylogfile", keys,
                                                     *(["-early_data", self.early] if early else [])], 1)
        new, digest = session(resumed)[1], "sha384" if len(psk) == 48 else "sha256"
        secrets = {"the ticket's secret": psk, "its second half": psk[-16:], "the new ticket's secret": new,
                   "the early secret": hmac.digest(bytes(len(psk)), psk, digest), **ticket_keys}
        if early:
            with open(keys) as f:
                line = re.search("^CLIENT_EARLY_TRAFFIC_SECRET .* (.*)$", f.read(), re.M)
            secrets["the early data's secret"] = bytes.fromhex(line.group(1))
        end, pids = time.monotonic() + 5, pids()
        while sum(in_memory(p, new) for p in pids) and time.monotonic() < end:
            time.sleep(0.02)  # the ticket is sent slightly before the secret is wiped
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)  # otherwise they end idle connections after ten seconds
        try:
            found = dict.fromkeys(secrets, 0)
            for block in (block for p in pids for block in memory(p)):
                for what, secret in secrets.items():
                    found[what] += block.count(secret)
            found["the issuer's resumption master secret"] = sum(gives(p, psk) for p in pids)
            found["the resumed connection's"] = sum(gives(p, new) for p in pids)
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        return {what: times for what, times in found.items() if times}

    def expect(self, seen, handshake):
        self.assertEqual((seen.handshake, seen.answered), (handshake, True), seen.text)

    def early_deliveries(self, server, connections):
        return sum("request in early data" in line for line in server.connections(connections))


class SClient(Case):
    """The life of a ticket, with openssl s_client."""

    def test_full_then_early_data_then_replay_then_renewed_ticket(self):
        server = self.serve()
        first = self.ticket(server, "first")
        seen = s_client(server.port, first, self.path("renewed"), self.early)
        self.expect(seen, "0-RTT accepted")
        self.assertEqual((seen.early, seen.reused), ("accepted", True))
        for _ in range(2):
            seen = s_client(server.port, first, None, self.early)
            self.expect(seen, "0-RTT rejected")
            self.assertEqual((seen.early, seen.reused), ("rejected", False))
        self.expect(s_client(server.port, self.path("renewed"), None, self.early), "0-RTT accepted")
        self.assertEqual(server.connections(5), [
            "TLSv1.3, full, request", "TLSv1.3, 0-RTT accepted, request in early data",
            "TLSv1.3, 0-RTT rejected, request", "TLSv1.3, 0-RTT rejected, request",
            "TLSv1.3, 0-RTT accepted, request in early data"])
        stats = server.stats()
        # two tickets per full handshake, one per resumption
        want = {"issued": 8, "early": 2, "resumed": 0, "refused": 2, "foreign": 0, "outstanding": 6,
                "early rejected": 0, "expired": 0, "dropped": 0, "kept": 0}
        self.assertEqual({k: stats[k] for k in want}, want)

    def test_resumption_without_early_data_uses_the_ticket_up(self):
        server = self.serve()
        first = self.ticket(server, "first")
        self.expect(s_client(server.port, first), "resumed")
        self.expect(s_client(server.port, first), "full")
        self.expect(s_client(server.port, first, None, self.early), "0-RTT rejected")
        server.connections(4)
        self.assertEqual(server.stats()["resumed"], 1)

    def test_early_data_after_a_resumption_is_rejected(self):
        server = self.serve()
        first = self.ticket(server, "first")
        flight = capture(self.dir, first, self.early)
        self.expect(s_client(server.port, first), "resumed")
        self.assertEqual(send_flight(server.port, flight), HANDSHAKE)
        self.assertEqual(self.early_deliveries(server, 3), 0)

    def test_hello_retry_request(self):
        server = self.serve("--groups", "P-256")
        groups = ["-groups", "X25519:P-256"]
        first = self.ticket(server, "first", groups)
        seen = s_client(server.port, first, self.path("renewed"), self.early, groups)
        self.assertEqual((seen.early, seen.reused, seen.answered), ("rejected", True, True))
        server.connections(2)
        stats = server.stats()
        self.assertEqual((stats["resumed"], stats["early"], stats["refused"]), (1, 0, 0))
        self.expect(s_client(server.port, first, None, self.early, groups), "0-RTT rejected")
        seen = s_client(server.port, self.path("renewed"), None, None, ["-groups", "P-256"])
        self.expect(seen, "resumed")
        self.assertNotIn("failed", server.text())

    def test_tls_1_2_tickets_are_used_once(self):
        server = self.serve()
        old = ["-tls1_2"]
        first = self.ticket(server, "first", old)
        seen = s_client(server.port, first, self.path("renewed"), None, old)
        self.expect(seen, "resumed")
        self.assertTrue(seen.reused)
        # no successor, which would hold the same secret
        self.assertFalse(os.path.exists(self.path("renewed")))
        seen = s_client(server.port, first, None, None, old)
        self.expect(seen, "full")
        self.assertFalse(seen.reused)
        server.connections(3)
        stats = server.stats()
        self.assertEqual((stats["issued"], stats["refused"]), (2, 1))

    def test_without_tls_1_2_tickets_its_handshakes_are_full(self):
        server = self.serve("--no-tls12-tickets")
        old, first = ["-tls1_2"], self.path("first")
        self.expect(s_client(server.port, None, first, None, old), "full")
        self.assertFalse(os.path.exists(first), "a session without a ticket is none to keep")
        theirs = self.ticket(self.serve(), "theirs", old)
        self.expect(s_client(server.port, theirs, None, None, old), "full")
        server.connections(2)
        self.assertEqual(server.stats()["issued"], 0)

    def test_lifetime_ends_tickets(self):
        for lifetime in (2, 8, 32):
            server = self.serve("--lifetime", lifetime)
            path = self.ticket(server, "first")
            flight = capture(self.dir, path, self.early)
            if session(path)[0] in flight:
                break  # otherwise the machine was so slow that s_client no longer offered the ticket
        time.sleep(lifetime + 1.2)
        self.assertEqual(send_flight(server.port, flight), HANDSHAKE)
        self.ticket(server, "other")
        self.assertEqual(self.early_deliveries(server, 3), 0)
        stats = server.stats()
        self.assertEqual((stats["refused"], stats["expired"], stats["outstanding"]), (1, 2, 2))

    def test_tickets_within_their_lifetime_are_good(self):
        server = self.serve("--lifetime", 30)
        flight = self.flight(server, "first")
        time.sleep(2)
        send_flight(server.port, flight)
        self.assertEqual(self.early_deliveries(server, 2), 1)

    def test_missing_no_anti_replay_fails_closed(self):
        server = self.serve("--openssl-anti-replay")
        first = self.path("first")
        self.expect(s_client(server.port, None, first), "full")
        for _ in range(3):
            seen = s_client(server.port, first if os.path.exists(first) else None, None, self.early)
            self.assertNotEqual(seen.early, "accepted")
            self.assertTrue(seen.answered)
        self.assertEqual(self.early_deliveries(server, 4), 0)

    def test_exhausted_tree_is_followed_by_the_next(self):
        server = self.serve("--depth", 4)
        first, context = self.ticket(server, "first"), ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        connections = 1

        def full(n):
            nonlocal connections
            for _ in range(n):
                with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as raw:
                    with context.wrap_socket(raw) as conn:
                        conn.sendall(REQUEST)
                        while conn.recv(4096):
                            pass
            connections += n
            server.connections(connections)
        full(50)  # 102 tickets: in the seventh of eight trees
        self.assertEqual((server.stats()["issued"], server.stats()["dropped"]), (102, 0))
        early = capture(self.dir, first, self.early)
        self.expect(s_client(server.port, first, None, self.early), "0-RTT accepted")
        connections += 1
        last = self.ticket(server, "last")  # in the seventh tree
        connections += 1
        full(20)  # 145 tickets: in the tenth tree; two were dropped
        stats = server.stats()
        self.assertEqual((stats["issued"], stats["dropped"]), (145, 2))
        send_flight(server.port, early)
        self.expect(s_client(server.port, last, None, self.early), "0-RTT accepted")
        self.assertEqual(self.early_deliveries(server, connections + 2), 2)
        stats = server.stats()
        self.assertEqual((stats["keys"], stats["seeds"]), (8, 7 + 4))  # a root each, but four where one is punctured


class Suites(Case):
    """A server's trees use the requested suite."""

    def life(self, server, number):
        """Two workers: full handshake, early data, replays of it, early data with the renewed
        ticket."""
        first = self.ticket(server, "first")
        flight = capture(self.dir, first, self.early)
        self.expect(s_client(server.port, first, self.path("renewed"), self.early), "0-RTT accepted")
        for _ in range(4):
            send_flight(server.port, flight)
        self.expect(s_client(server.port, self.path("renewed"), None, self.early), "0-RTT accepted")
        self.assertEqual(self.early_deliveries(server, 7), 2)
        self.assertEqual(server.stats()["suite"], number)

    def test_tickets_of_each_suite_that_is_named_are_good_once(self):
        for number, name in enumerate(("sha3-256", "sha3-256-salted", "aes-128"), 1):
            with self.subTest(name):
                self.life(self.serve("--workers", 2, "--suite", name), number)

    def test_aes_128_is_the_default_where_the_processor_has_it_and_else_salted_sha3(self):
        with open("/proc/cpuinfo") as f:
            has = re.search(r"^(flags|Features)\s*:.*\baes\b", f.read(), re.M)
        self.life(self.serve(), 3 if has and os.uname().machine == "x86_64" else 2)
        for version in ("aes-bitsliced", "aes-evp"):
            os.environ["PPRF_AES"] = version  # as on a processor without AES instructions
            try:
                self.life(self.serve("--workers", 2), 2)
            finally:
                del os.environ["PPRF_AES"]

    def test_an_unknown_suite_is_refused_by_its_name(self):
        for name in ("", "aes", "AES-128", "sha3-256x", "mls-sha256", "3"):
            r = subprocess.run([SERVER, "-p", "0", f"--suite={name}"], cwd=self.dir,
                               capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"--suite: '{name}' is not sha3-256, sha3-256-salted or aes-128", r.stderr)
        r = subprocess.run([SERVER, "-p", "0", "--suite=aes-128", "--backend=valkey://h"], cwd=self.dir,
                           capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual((r.returncode, "--suite: not with --backend" in r.stderr), (1, True), r.stderr)


class Attacks(Case):
    """Recorded, copied and forged bytes."""

    def replays(self, *options):
        """A client talks through a proxy, which then sends the first flight three more times."""
        server = self.serve(*options)
        first = self.ticket(server, "first")
        recorded, done = [], threading.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        listener.settimeout(PATIENCE)

        def copy(source, sink, keep):
            heard_before = b""
            try:
                while data := source.recv(65536):
                    if keep and not done.is_set():
                        heard_before += data
                    elif not keep and not done.is_set():
                        done.set()
                    sink.sendall(data)
                sink.shutdown(socket.SHUT_WR)
            except OSError:
                pass
            if keep:
                recorded.append(heard_before)

        def proxy():
            client, _ = listener.accept()
            with client, socket.create_connection(("127.0.0.1", server.port), PATIENCE) as up:
                for s in (client, up):
                    s.settimeout(PATIENCE)
                back = threading.Thread(target=copy, args=(up, client, False))
                back.start()
                copy(client, up, True)
                back.join()
        thread = threading.Thread(target=proxy)
        thread.start()
        with listener:
            seen = s_client(listener.getsockname()[1], first, None, self.early)
            thread.join()
        self.expect(seen, "0-RTT accepted")
        for _ in range(3):
            send_flight(server.port, recorded[0])
        return self.early_deliveries(server, 5)

    def test_replayed_first_flight_is_delivered_once(self):
        self.assertEqual(self.replays(), 1)

    def test_a_copy_sent_first_has_the_request_happen_twice(self):
        """RFC 8446, section 8: single use stops replays, but not the client's own retry."""
        server = self.serve()
        first = self.ticket(server, "first")
        send_flight(server.port, capture(self.dir, first, self.early))
        self.expect(s_client(server.port, first, None, self.early), "0-RTT rejected")
        self.assertEqual(server.connections(3)[1:], [
            "failed: unexpected eof while reading, request in early data",
            "TLSv1.3, 0-RTT rejected, request"])

    def test_control_openssl_tickets_deliver_every_replay(self):
        self.assertEqual(self.replays("--openssl-tickets"), 4)

    def test_broken_binder_does_not_burn_the_ticket(self):
        server = self.serve()
        flight = self.flight(server, "first")
        parts = list(records(flight))
        self.assertEqual(parts[0][0], HANDSHAKE)
        for bit in (0, 7):
            hello = bytearray(parts[0][1])
            hello[-1] ^= 1 << bit
            broken = bytes(hello) + b"".join(r for _, r in parts[1:])
            self.assertEqual(send_flight(server.port, broken), ALERT)
        server.connections(3)
        self.assertEqual(server.stats()["outstanding"], 2)
        send_flight(server.port, flight)
        self.assertEqual(self.early_deliveries(server, 4), 1)

    def test_900_junk_identities_puncture_nothing(self):
        server = self.serve()
        flight = self.flight(server, "first")
        server.connections(1)
        before = server.stats()
        hello = client_hello([self.rng.randbytes(32) for _ in range(900)], self.rng)
        self.assertGreater(len(hello), 63000)
        self.assertEqual(send_flight(server.port, hello), HANDSHAKE)
        server.connections(2)
        after = server.stats()
        for what in ("seeds", "outstanding", "early", "resumed", "expired", "refused"):
            self.assertEqual(after[what], before[what], what)
        self.assertEqual(after["foreign"], 16)  # the server examines no more of one client's tickets
        send_flight(server.port, flight)
        self.assertEqual(self.early_deliveries(server, 3), 1)

    def test_900_copies_of_others_identities_burn_none(self):
        server = self.serve()
        paths = [self.ticket(server, f"victim{i}") for i in range(6)]
        tickets = [session(path)[0] for path in paths]
        server.connections(6)
        before = server.stats()
        # truncated so that 900 fit: the names are good, the tickets are not
        hello = client_hello([tickets[i % 6][:32] for i in range(900)], self.rng)
        self.assertEqual(send_flight(server.port, hello), HANDSHAKE)
        # as many whole tickets as fit, with binders made without their secrets
        hello = client_hello([tickets[i % 6] for i in range(60000 // (len(tickets[0]) + 55))],
                             self.rng, 48)
        self.assertEqual(send_flight(server.port, hello), ALERT)
        server.connections(8)
        after = server.stats()
        for what in ("seeds", "outstanding", "early", "resumed", "expired"):
            self.assertEqual(after[what], before[what], what)
        for path in paths:  # OpenSSL accepts no early data that is ten seconds old
            send_flight(server.port, capture(self.dir, path, self.early))
        self.assertEqual(self.early_deliveries(server, 14), 6)

    def test_malformed_tickets_cost_a_full_handshake_only(self):
        server = self.serve()
        path = self.ticket(server, "first")
        ticket, flight = session(path)[0], capture(self.dir, path, self.early)
        at = flight.index(ticket)
        rounds = 40
        for i in range(rounds):
            broken = bytearray(flight)
            region = [(0, 16), (16, 32), (32, len(ticket) - 32), (len(ticket) - 32, len(ticket))]
            low, high = region[i % 4]
            for k in range(self.rng.choice([1, 1, 2, high - low])):
                broken[at + self.rng.randrange(low, high)] ^= self.rng.randrange(1, 256)
            if broken[at:at + len(ticket)] == ticket:
                broken[at] ^= 1
            self.assertEqual(send_flight(server.port, bytes(broken)), HANDSHAKE, f"round {i}")
        for size in (1, 15, 16, 31, 32, 33, 63, 64, 65, 1000):
            hello = client_hello([self.rng.randbytes(size)], self.rng)
            self.assertEqual(send_flight(server.port, hello), HANDSHAKE, f"{size} bytes")
            hello = client_hello([(ticket * 8)[:size]], self.rng)
            self.assertEqual(send_flight(server.port, hello), HANDSHAKE, f"{size} bytes of ours")
        server.connections(rounds + 21)
        self.assertEqual(server.stats()["outstanding"], 2)
        send_flight(server.port, capture(self.dir, path, self.early))  # the first one may be too old by now
        self.assertEqual(self.early_deliveries(server, rounds + 22), 1)

    def test_flight_held_back_is_accepted_once_and_within_ten_seconds(self):
        server = self.serve()
        paths = [self.ticket(server, f"s{i}") for i in range(2)]
        flights = [capture(self.dir, path, self.early) for path in paths[::-1]][::-1]
        time.sleep(3)
        send_flight(server.port, flights[0])
        self.assertEqual(self.early_deliveries(server, 3), 1)
        time.sleep(10)
        send_flight(server.port, flights[0])
        self.assertEqual(send_flight(server.port, flights[1]), HANDSHAKE)
        self.assertEqual(self.early_deliveries(server, 5), 1)

    def test_two_processes_race_for_a_ticket_and_one_wins(self):
        server, rounds, connections = self.serve("--workers", 2), 50, 0
        path = self.path("session")
        self.ticket(server, "session")
        for i in range(rounds):
            flight = capture(self.dir, path, self.early)
            start = threading.Barrier(2)

            def racer():
                # all but the last byte first: both workers wait for that
                with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as conn:
                    conn.sendall(flight[:-1])
                    start.wait(PATIENCE)
                    conn.sendall(flight[-1:])
                    try:
                        conn.recv(65536)
                        conn.shutdown(socket.SHUT_WR)
                        while conn.recv(65536):
                            pass
                    except OSError:
                        pass
            threads = [threading.Thread(target=racer) for _ in range(2)]
            for t in threads:
                t.start()
            for t in threads:
                t.join()
            connections += 3
            if i + 1 < rounds:
                self.ticket(server, "session")
            self.assertEqual(self.early_deliveries(server, connections), i + 1, f"round {i}")

    def test_killed_worker_neither_wedges_nor_weakens_the_rest(self):
        server = self.serve("--workers", 3)
        paths = [self.ticket(server, f"s{i}") for i in range(3)]
        flights = [capture(self.dir, paths[0], self.early)]
        send_flight(server.port, flights[0])
        server.connections(4)
        victim = server.pids()[1]
        os.kill(victim, signal.SIGKILL)
        while victim in server.pids():  # otherwise it may still accept the next connection
            time.sleep(0.02)
        for path in paths[1:]:
            flights.append(capture(self.dir, path, self.early))
            send_flight(server.port, flights[-1])
        for flight in flights:
            send_flight(server.port, flight)
        self.assertEqual(self.early_deliveries(server, 9), 3)

    def test_half_of_a_certificate_is_an_error(self):
        for there, missing in (("cert", "key"), ("key", "cert")):
            with self.subTest(missing=missing):
                with open(self.path(there), "w") as f:
                    f.write("the user's")
                p = subprocess.run([SERVER, "--port", "0", "--cert", "cert", "--key", "key"], cwd=self.dir,
                                   capture_output=True, timeout=PATIENCE)
                self.assertNotEqual(p.returncode, 0)
                with open(self.path(there)) as f:
                    self.assertEqual(f.read(), "the user's")
                self.assertFalse(os.path.exists(self.path(missing)))
                os.remove(self.path(there))

    def test_a_worker_that_cannot_be_started_ends_the_server(self):
        home, options = tempfile.mkdtemp(prefix="pprf-tls-"), {}
        self.addCleanup(shutil.rmtree, home)
        program = shutil.copy(SERVER, home)  # another user may have no access to the build directory
        if os.geteuid() == 0:  # root has no process limit
            os.chmod(home, 0o755)
            os.chown(home, NOBODY, NOBODY)
            options = {"user": NOBODY, "group": NOBODY, "extra_groups": []}

        def limit():
            resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))
        p = subprocess.run([program, "--port", "0", "--workers", "2"], cwd=home, capture_output=True,
                           preexec_fn=limit, timeout=PATIENCE, **options)
        self.assertNotEqual(p.returncode, 0)
        self.assertIn(b"fork", p.stderr)


class Secrets(Case):
    def test_used_tickets_secret_is_in_no_workers_memory(self):
        server = self.serve("--workers", 2)
        first = self.ticket(server, "first")
        _, psk = session(first)
        self.assertGreaterEqual(len(psk), 32)
        flight = capture(self.dir, first, self.early)
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as conn:
            conn.sendall(flight)
            self.assertEqual(conn.recv(1)[0], HANDSHAKE)
            for pid in server.pids():
                os.kill(pid, signal.SIGSTOP)  # otherwise they may end an idle connection meanwhile
            held = sum(in_memory(pid, psk) for pid in server.pids())
            for pid in server.pids():
                os.kill(pid, signal.SIGCONT)
        self.assertEqual(self.early_deliveries(server, 2), 1)
        self.assertGreater(held, 0, "control: the secret is there in the middle of the handshake")
        seen = s_client(server.port, self.ticket(server, "other"), None, self.early)
        self.expect(seen, "0-RTT accepted")
        server.connections(4)
        for secret in (psk, session(self.path("other"))[1]):
            for part in (secret, secret[:16], secret[-16:]):
                for pid in server.pids():
                    self.assertEqual(in_memory(pid, part), 0)

    def test_used_tickets_secret_is_gone_while_its_connections_are_open(self):
        server = self.serve("--workers", 2)
        self.assertEqual(self.found_while_open(server, server.pids, early=False), {})

    def test_used_tickets_secret_is_gone_though_a_client_that_saw_it_is_silent(self):
        server = self.serve("--workers", 2)
        ticket = self.path("ticket")
        s_client(server.port, sess_out=ticket)
        name, psk = session(ticket)
        with socket.create_connection(("127.0.0.1", server.port), PATIENCE) as silent:
            silent.settimeout(PATIENCE)
            silent.sendall(client_hello([name], self.rng, cipher=0x1301, share=False))
            self.assertTrue(silent.recv(4096))  # a HelloRetryRequest: the ticket's session was decrypted
            self.assertEqual(s_client(server.port, ticket).handshake, "resumed")
            end = time.monotonic() + 5
            while sum(in_memory(p, psk) for p in server.pids()) and time.monotonic() < end:
                time.sleep(0.02)
            self.assertEqual(sum(in_memory(p, psk) for p in server.pids()), 0, "the ticket's secret")

    def test_control_openssl_keeps_what_gives_the_secrets_of_its_tickets(self):
        server = self.serve("--openssl-tickets")
        psk = session(self.held_open(server, "issuer"))[1]
        self.assertGreater(gives(server.process.pid, psk), 0)

    def test_control_the_search_finds_what_is_there(self):
        needle = self.rng.randbytes(32)
        p = subprocess.Popen([sys.executable, "-c",
                              "import sys; x = sys.stdin.buffer.read(32); print(1, flush=True); "
                              "sys.stdin.read()"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        try:
            p.stdin.write(needle)
            p.stdin.flush()
            p.stdout.readline()
            self.assertGreater(in_memory(p.pid, needle), 0)
        finally:
            p.kill()
            p.communicate()


class Options(Case):
    def test_wrong_options_are_refused_with_a_line_that_names_them(self):
        for option, value in (("depth", 3), ("depth", 33), ("depth", "x"), ("lifetime", 604801),
                              ("lifetime", -1), ("rotation", 7199), ("max-early-data", 2 ** 31),
                              ("workers", 0), ("workers", 65), ("port", 65536), ("port", ""),
                              ("groups", "nonsense"), ("connections", "1e3"), ("rate", "fast"),
                              ("memory", "8G"), ("lifetime", "1h"), ("rotation", "0x10"),
                              ("max-early-data", "-1"), ("workers", "two"), ("backend", "http://h"),
                              *((option, 0) for option in ("depth", "rate", "memory", "lifetime", "rotation",
                                                           "max-early-data"))):
            with self.subTest(option=option, value=value):
                r = subprocess.run([SERVER, "-p", "0", f"--{option}={value}"], cwd=self.dir,
                                   capture_output=True, text=True, timeout=PATIENCE)
                self.assertEqual(r.returncode, 1)
                self.assertIn(option.replace("-", "_")[:5], r.stderr.replace("-", "_"))
                self.assertNotIn("listening", r.stdout)

    def test_options_that_trees_on_servers_do_not_have_are_refused_by_name(self):
        for option in ("rotation=7200", "memory=1000000000", "suite=aes-128", "lifetime=432001"):
            r = subprocess.run([SERVER, "-p", "0", "--backend=valkey://127.0.0.1:9", f"--{option}"], cwd=self.dir,
                               capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(r.returncode, 1)
            self.assertIn(f"pprf-tls-server: --{option.split('=')[0]}: ", r.stderr)

    def test_more_servers_than_there_is_room_for_are_refused(self):
        for count in (8, 9, 40):  # these URLs are invalid, which is reported later
            r = subprocess.run([SERVER, "-p", "0", *["--backend=http://h"] * count], cwd=self.dir,
                               capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual((r.returncode, "--backend: more than 8" in r.stderr), (1, count > 8), r.stderr)

    def test_unknown_options_and_arguments_are_refused(self):
        for args in (["--nonsense"], ["extra"], ["--depth"]):
            r = subprocess.run([SERVER, *args], cwd=self.dir, capture_output=True, text=True,
                               timeout=PATIENCE)
            self.assertEqual(r.returncode, 1, args)

    def test_help_and_mistakes_read_as_pprfs(self):
        def said(*args, status=0):
            r = subprocess.run([SERVER, *args], cwd=self.dir, capture_output=True, text=True, timeout=PATIENCE)
            self.assertEqual(r.returncode, status, r.stderr)
            return r.stderr or r.stdout
        text = said("--help")
        self.assertEqual(said("-?"), text)
        self.assertRegex(text, r"\AUsage: pprf-tls-server \[OPTION\]\.\.\.\n")
        self.assertLessEqual(max(map(len, text.splitlines())), 80)
        with open(os.path.join(ROOT, "tls", "server", "pprf-tls-server.1"), encoding="utf-8") as page:
            documented = set(re.findall(r"Fl -([a-z0-9-]+)", page.read()))
        options = set(re.findall(r" --([a-z0-9-]+)", text))
        self.assertEqual(options - {"help", "usage", "version"}, documented)
        self.assertEqual(set(re.findall(r"\[--([a-z0-9-]+)", said("--usage"))), options)
        self.assertEqual(said("--detph=9", status=1), "pprf-tls-server: option '--detph': unknown: did you mean "
                                                      "'--depth'? (try 'pprf-tls-server --help')\n")
        self.assertEqual(said("x\033", status=1),
                         "pprf-tls-server: 'x?': unexpected argument (try 'pprf-tls-server --help')\n")


class Documents(Case):
    def test_sizing_table_is_computed(self):
        with open(os.path.join(ROOT, "docs", "tls.md")) as f:
            rows = re.findall(r"^\| ([\d ]+) \| ([\d ]+) s \| ([\d ]+) \| (\d+) \| ([\d.]+) MB \|"
                              r" ([\d ]+) MB \|$", f.read(), re.M)
        self.assertGreater(len(rows), 4)
        for row in rows:
            rate, life, tickets, depth, memory, cache = (float(x.replace(" ", "")) for x in row)
            self.assertEqual(tickets, rate * life)
            self.assertEqual(depth, (int(tickets) - 1).bit_length())
            self.assertAlmostEqual(memory, 8.3 * tickets / 1e6, delta=0.051)
            self.assertAlmostEqual(cache, 1047 * tickets / 2 / 1e6, delta=0.51)

    def test_named_tests_exist(self):
        known = ""
        for name in ("test_tls.py", "test_libraries.py", "test_pool.c", "test_attach.c", "test_tickets.c"):
            with open(os.path.join(HERE, name)) as f:
                known += f.read()
        with open(os.path.join(ROOT, "proofs", "expected-theorems.txt")) as f:
            theorems = re.findall(r"^\w+  \S+  Pprf\S*\.(\w+)$", f.read(), re.M)
        with open(os.path.join(ROOT, "docs", "tls.md")) as f:
            claims = f.read().split("## How to check each claim")[1]
        named = re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\|.*", claims, re.M)))
        self.assertGreater(len(named), 20)
        for name in named:
            self.assertTrue(f"def test_{name}(" in known or f'"{name}"' in known or
                            name in theorems, name)


class OtherClients(Case):
    def gnutls(self, port, request, *options):
        """Output and log of gnutls-cli for two connections, the second with the first one's
        ticket."""
        if not shutil.which("gnutls-cli"):
            self.skipTest("gnutls-cli is not installed (package gnutls-bin)")
        # its standard input stays open: otherwise gnutls-cli would not wait for the answer
        with subprocess.Popen(["gnutls-cli", "--insecure", "--logfile", self.path("log"), "-p", str(port),
                               "127.0.0.1", "--resume", "--waitresumption", *options],
                              stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT) as p:
            watchdog = threading.Timer(PATIENCE, p.kill)
            watchdog.start()
            try:
                p.stdin.write(request)
                p.stdin.flush()
            except BrokenPipeError:
                pass  # its output says why
            text = p.stdout.read()
            watchdog.cancel()
        with open(self.path("log"), "rb") as log:
            return text + log.read()

    def test_gnutls(self):
        server = self.serve()
        text = self.gnutls(server.port, REQUEST)
        self.assertEqual(server.connections(2)[1], "TLSv1.3, resumed, request", text)
        self.assertIn(b"<p>served", text)
        self.assertEqual(server.stats()["refused"], 0)

    def test_gnutls_early_data(self):
        server = self.serve()
        text = self.gnutls(server.port, b"", "--earlydata", self.early)
        if b"error sending early data" in text:
            # gnutls-cli passes early data to the library before the ticket that allows it, and
            # GnuTLS 3.8 refuses to send it. The same happens with other servers.
            key, cert = self.path("key.pem"), self.path("cert.pem")
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                            "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=localhost", "-keyout",
                            key, "-out", cert], check=True, capture_output=True, timeout=PATIENCE)
            with subprocess.Popen(["openssl", "s_server", "-accept", "127.0.0.1:0", "-early_data",
                                   "-no_anti_replay", "-key", key, "-cert", cert],
                                  stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, text=True) as other:
                self.addCleanup(other.kill)
                port = next(line.split(":")[1].strip() for line in other.stdout
                            if line.startswith("ACCEPT 127.0.0.1:"))
                control = self.gnutls(port, b"", "--earlydata", self.early)
                other.kill()
            self.assertIn(b"error sending early data", control)
            self.skipTest("this gnutls-cli cannot send early data, not even to openssl s_server")
        self.assertEqual(server.connections(2)[1],
                         "TLSv1.3, 0-RTT accepted, request in early data", text)
        self.assertIn(b"<p>served", text)
        self.assertEqual(server.stats()["refused"], 0)

    def test_go(self):
        if not shutil.which("go"):
            self.skipTest("go is not installed")
        program = self.path("client")
        r = subprocess.run(["go", "build", "-o", program, os.path.join(HERE, "client.go")],
                           cwd=self.dir, capture_output=True, text=True, timeout=600,
                           env=dict(os.environ, GOTOOLCHAIN="local", GO111MODULE="off",
                                    GOFLAGS="-p=1"))
        self.assertEqual(r.returncode, 0, r.stderr)
        server = self.serve()
        for version, last in (("1.3", "resumed"), ("1.2", "full")):
            r = subprocess.run([program, f"127.0.0.1:{server.port}", version], capture_output=True,
                               text=True, timeout=PATIENCE)
            # the same ticket three times, then the renewed one, which TLS 1.2 does not have
            self.assertEqual(r.stdout.split(), ["full", "resumed", "full", "full", last], r.stderr)
        server.connections(10)
        self.assertEqual((server.stats()["resumed"], server.stats()["refused"]), (3, 4))


def main():
    global SERVER, SEED
    parser = argparse.ArgumentParser(description="Tests of the session tickets; emits TAP.")
    parser.add_argument("--server", default=SERVER)
    parser.add_argument("--seed", type=int,
                        default=int(os.environ.get("SEED") or time.time_ns() % 2 ** 32))
    parser.add_argument("tests", nargs="*", metavar="TEST")
    options = parser.parse_args()
    SERVER, SEED = os.path.abspath(options.server), options.seed
    cases = (SClient, Suites, Attacks, Secrets, Options, Documents, OtherClients)
    sys.exit(tap.run(cases, options.tests, SEED))


if __name__ == "__main__":
    main()
