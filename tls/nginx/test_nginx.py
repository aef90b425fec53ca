#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the nginx module: Debian's nginx with several workers, driven by openssl s_client and by
recorded first flights.  Emits TAP.

Usage: tls/nginx/test_nginx.py [TEST...]

Every nginx runs in the foreground on loopback, on a free port, with a directory of its own, and is
stopped at the end of its test."""
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import test_tls as tls  # noqa: E402
import tap  # noqa: E402  (test_tls knows where)

MODULE = os.path.join(tls.ROOT, "build", "tls", "nginx", "ngx_http_pprf_tickets_module.so")
SHIM = os.path.join(tls.ROOT, "build", "tls", "libpprf_tls_preload.so")
PATIENCE = tls.PATIENCE
MAIN = """{load}
daemon off; worker_processes {workers}; pid pid; error_log error.log notice;
events {{ worker_connections 64; }}
http {{
  log_format line '$pid early=$ssl_early_data reused=$ssl_session_reused $status "$request"';
  access_log access.log line; keepalive_timeout 1;
  client_body_temp_path tmp; proxy_temp_path tmp; fastcgi_temp_path tmp; uwsgi_temp_path tmp;
  scgi_temp_path tmp;
  map $ssl_session_reused $how {{ r resumed; . full; }}
  ssl_certificate cert.pem; ssl_certificate_key key.pem; ssl_protocols TLSv1.2 TLSv1.3;
  {http}
  server {{
    listen 127.0.0.1:{port} ssl {listen};
    ssl_early_data on;
    {server}
    location / {{ add_header X-Handshake $how; return 200 "<p>served\\n"; }}
  }}
  {more}
}}
"""


class Nginx:
    """A master in the foreground and its workers."""

    def __init__(self, directory, environment=None, **parts):
        self.directory = directory
        with socket.create_server(("127.0.0.1", 0)) as s:
            self.port = s.getsockname()[1]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:P-256", "-nodes", "-keyout", self.path("key.pem"),
                        "-out", self.path("cert.pem"), "-subj", "/CN=localhost"],
                       check=True, capture_output=True, timeout=PATIENCE)
        self.workers = parts.get("workers", 3)
        self.configure(**parts)
        self.process = None
        self.environment = dict(os.environ, **(environment or {}))

    def path(self, name):
        return os.path.join(self.directory, name)

    def configure(self, workers=3, http="pprf_tickets on;", server="", more="", load=None,
                  listen="reuseport"):  # so that connections reach every worker
        load = f"load_module {MODULE};" if load is None else load
        with open(self.path("nginx.conf"), "w") as f:
            f.write(MAIN.format(load=load, workers=workers, http=http, server=server, more=more,
                                port=self.port, listen=listen))

    def command(self, *options):
        return ["nginx", "-p", self.directory + "/", "-c", "nginx.conf", *options]

    def check(self):
        """nginx -t: its exit status and what it says."""
        r = subprocess.run(self.command("-t"), capture_output=True, text=True, timeout=PATIENCE)
        return r.returncode, r.stderr

    def start(self):
        self.process = subprocess.Popen(self.command(), env=self.environment,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, start_new_session=True)
        self.until(lambda: os.path.exists(self.path("pid")) and self.children(), "a worker")
        return self

    def until(self, condition, what):
        end = time.monotonic() + PATIENCE
        while not (value := condition()):
            if time.monotonic() > end or self.process.poll() is not None:
                raise AssertionError(f"nginx: no {what}:\n{self.errors()}")
            time.sleep(0.02)
        return value

    def children(self):
        """The workers; none unless they are all there."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
            found = sorted(map(int, f.read().split()))
        return found if len(found) == self.workers else []

    def reload(self, **parts):
        before = self.children()
        self.configure(**parts)
        self.process.send_signal(signal.SIGHUP)
        return self.until(lambda: not set(before) & set(self.children() or before),
                          "new workers after a reload")

    def errors(self):
        with open(self.path("error.log")) as f:
            return f.read()

    def lines(self, count):
        """The access log, once it has `count` lines."""
        def read():
            with open(self.path("access.log")) as f:
                lines = f.read().splitlines()
            return lines if len(lines) >= count else None
        return self.until(read, f"{count} lines in the access log")

    def stop(self):
        """Ends nginx: the counters that its master logs."""
        if self.process is None:
            return {}
        try:
            if self.process.poll() is None:
                self.process.send_signal(signal.SIGTERM)
                self.process.wait(PATIENCE)
        finally:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)  # workers that outlived their master
            except ProcessLookupError:
                pass
            self.process.wait()
            self.process = None
        line = re.findall(r"pprf_tickets: (issued .*)", self.errors())
        names = ("issued", "resumed", "accepted", "rejected", "refused", "expired", "outstanding")
        return {n: int(re.search(rf"{n} (\d+)", line[-1]).group(1)) for n in names} if line else {}


class Case(tls.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)  # workers have another user id than root

    def nginx(self, **parts):
        nginx = Nginx(self.dir, **parts)
        self.addCleanup(nginx.stop)
        return nginx

    def early_data(self, nginx, sess_in, outcome, sess_out=None):
        """What becomes of a ticket with early data: "accepted", or "rejected" and a full handshake.
        ($ssl_early_data tells less: it is empty if the handshake was done first.)"""
        seen = tls.s_client(nginx.port, sess_in, sess_out, self.early)
        self.assertEqual((seen.early, seen.handshake, seen.answered),
                         (outcome, {"accepted": "resumed", "rejected": "full"}[outcome], True),
                         seen.text)

    def deliveries(self, nginx, flight, times):
        """How often a request in early data is delivered when its first flight is sent so often."""
        for _ in range(times):
            tls.send_flight(nginx.port, flight)
        self.ticket(nginx, "last")
        nginx.until(lambda: sum("early=- reused=." in line for line in nginx.lines(1)) == 2,
                    "line of the last request")
        return sum("early=1" in line for line in nginx.lines(1))


class Module(Case):
    def test_full_then_early_data_then_replay_then_renewed_ticket(self):
        nginx = self.nginx().start()
        first, renewed = self.ticket(nginx, "first"), self.path("renewed")
        # kept alive: nginx answers before the handshake is done, and only then renews the ticket
        with open(self.early, "wb") as f:
            f.write(b"GET /early HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.early_data(nginx, first, "accepted", renewed)
        for _ in range(2):
            self.early_data(nginx, first, "rejected")
        self.early_data(nginx, renewed, "accepted")
        self.assertEqual([re.search("reused=.*", line).group() for line in nginx.lines(5)], [
            'reused=. 200 "GET /early HTTP/1.0"', 'reused=r 200 "GET /early HTTP/1.1"',
            'reused=. 200 "GET /early HTTP/1.0"', 'reused=. 200 "GET /early HTTP/1.0"',
            'reused=r 200 "GET /early HTTP/1.1"'])
        self.assertEqual(nginx.stop(), {"issued": 8, "resumed": 0, "accepted": 2, "rejected": 0,
                                        "refused": 2, "expired": 0, "outstanding": 6})

    def test_tickets_of_any_worker_are_good_once_at_every_worker(self):
        nginx, rounds = self.nginx(workers=4).start(), 12
        for i in range(rounds):
            first = self.ticket(nginx, "first")
            self.early_data(nginx, first, "accepted")
            self.early_data(nginx, first, "rejected")
        pids = [int(line.split()[0]) for line in nginx.lines(3 * rounds)]
        self.assertLessEqual(set(pids), set(nginx.children()))
        pairs = list(zip(pids[0::3], pids[1::3], pids[2::3]))
        self.assertTrue(any(a != b for a, b, _ in pairs), f"issued and redeemed: {pairs}")
        self.assertTrue(any(b != c for _, b, c in pairs), f"redeemed and replayed: {pairs}")
        self.assertEqual(nginx.stop()["accepted"], rounds)

    def test_resumption_without_early_data_uses_the_ticket_up(self):
        nginx = self.nginx().start()
        first = self.ticket(nginx, "first")
        self.expect(tls.s_client(nginx.port, first), "resumed")
        self.expect(tls.s_client(nginx.port, first), "full")
        self.early_data(nginx, first, "rejected")

    def test_tls_1_2_tickets_are_used_once(self):
        nginx, old = self.nginx().start(), ["-tls1_2"]
        first = self.ticket(nginx, "first", old)
        self.expect(tls.s_client(nginx.port, first, None, None, old), "resumed")
        self.expect(tls.s_client(nginx.port, first, None, None, old), "full")

    def test_idle_server_expires_tickets(self):
        nginx = self.nginx(http="pprf_tickets on; pprf_tickets_lifetime 1;").start()
        self.ticket(nginx, "first")
        time.sleep(4)
        self.assertEqual(nginx.stop(), {"issued": 2, "resumed": 0, "accepted": 0, "rejected": 0,
                                        "refused": 0, "expired": 2, "outstanding": 0})


class Reload(Case):
    def test_reload_keeps_used_and_unused_tickets(self):
        nginx = self.nginx().start()
        used, unused = self.ticket(nginx, "used"), self.ticket(nginx, "unused")
        self.early_data(nginx, used, "accepted")
        for _ in range(2):
            nginx.reload()
        self.early_data(nginx, used, "rejected")
        self.early_data(nginx, unused, "accepted")
        self.early_data(nginx, unused, "rejected")
        self.assertEqual(nginx.stop()["accepted"], 2)

    def test_reload_with_another_depth_costs_a_full_handshake_and_nothing_else(self):
        nginx = self.nginx().start()
        used, unused = self.ticket(nginx, "used"), self.ticket(nginx, "unused")
        self.early_data(nginx, used, "accepted")
        nginx.reload(http="pprf_tickets on; pprf_tickets_depth 12;")
        self.early_data(nginx, used, "rejected")
        self.early_data(nginx, unused, "rejected")
        self.early_data(nginx, self.ticket(nginx, "new"), "accepted")

    def test_reload_that_fails_leaves_all_as_it_was(self):
        nginx = self.nginx().start()
        used, unused = self.ticket(nginx, "used"), self.ticket(nginx, "unused")
        self.early_data(nginx, used, "accepted")
        before = nginx.children()
        with socket.create_server(("127.0.0.1", 0)) as taken:
            # fails after the new tickets were made: the address is in use
            nginx.configure(http="pprf_tickets on; pprf_tickets_depth 12;", more="server { listen "
                            f"127.0.0.1:{taken.getsockname()[1]}; }}")
            nginx.process.send_signal(signal.SIGHUP)
            nginx.until(lambda: "still could not bind" in nginx.errors(), "failed reload")
        self.assertEqual(nginx.children(), before)
        nginx.reload()
        self.early_data(nginx, used, "rejected")
        self.early_data(nginx, unused, "accepted")

    def test_reload_without_the_module_and_back(self):
        nginx = self.nginx().start()
        first = self.ticket(nginx, "first")
        nginx.reload(load="", http="")
        for _ in range(2):  # each frees SSL_CTXs after the module is gone
            nginx.reload(load="", http="")
            self.early_data(nginx, first, "rejected")
        nginx.reload()
        self.early_data(nginx, first, "rejected")
        self.early_data(nginx, self.ticket(nginx, "new"), "accepted")
        self.assertNotIn("signal 11", nginx.errors())


class Workers(Case):
    def test_killed_worker_neither_stops_the_service_nor_revives_tickets(self):
        nginx = self.nginx().start()
        used, unused = self.ticket(nginx, "used"), self.ticket(nginx, "unused")
        self.early_data(nginx, used, "accepted")
        for _ in range(2):
            before = nginx.children()
            for pid in before:
                os.kill(pid, signal.SIGKILL)
            nginx.until(lambda: not set(before) & set(nginx.children() or before), "new workers")
            self.early_data(nginx, used, "rejected")
        self.early_data(nginx, unused, "accepted")
        self.early_data(nginx, unused, "rejected")
        self.assertEqual(nginx.stop()["accepted"], 2)


class Attacks(Case):
    def test_replayed_first_flight_is_delivered_once(self):
        nginx = self.nginx().start()
        flight = tls.capture(self.dir, self.ticket(nginx, "first"), self.early)
        self.assertEqual(self.deliveries(nginx, flight, 4), 1)

    def test_control_without_the_module_every_replay_is_delivered(self):
        nginx = self.nginx(load="", http="").start()
        flight = tls.capture(self.dir, self.ticket(nginx, "first"), self.early)
        self.assertEqual(self.deliveries(nginx, flight, 4), 4)


class Memory(Case):
    def left(self, **environment):
        """How often a used ticket's secret is left in the processes' memory."""
        nginx = self.nginx(environment=environment, workers=2).start()
        first = self.ticket(nginx, "first")
        _, psk = tls.session(first)
        flight = tls.capture(self.dir, first, self.early)
        hello = next(tls.records(flight))[1]
        with socket.create_connection(("127.0.0.1", nginx.port), PATIENCE) as conn:
            conn.sendall(hello)
            self.assertEqual(conn.recv(1)[0], tls.HANDSHAKE)
            pids = [nginx.process.pid, *nginx.children()]
            self.assertGreater(sum(tls.in_memory(pid, psk) for pid in pids), 0,
                               "control: in the middle of the handshake the secret is there")
            conn.sendall(flight[len(hello):])
            nginx.lines(2)
        self.early_data(nginx, self.ticket(nginx, "other"), "accepted")
        _, other = tls.session(self.path("other"))
        time.sleep(1)  # nginx may linger before it frees a connection
        return sum(tls.in_memory(pid, part) for pid in pids for secret in (psk, other)
                   for part in (secret[:16], secret[-16:]))

    def test_with_the_preload_shim_used_tickets_secrets_are_in_no_memory(self):
        self.assertEqual(self.left(LD_PRELOAD=SHIM), 0)

    def test_with_a_wiping_malloc_used_tickets_secrets_are_in_no_memory(self):
        self.assertEqual(self.left(
            GLIBC_TUNABLES="glibc.malloc.perturb=85:glibc.malloc.tcache_count=0"), 0)


class Configuration(Case):
    def refused(self, words, **parts):
        status, said = self.nginx(**parts).check()
        self.assertEqual(status, 1, said)
        lines = [line for line in said.splitlines() if all(w in line for w in words)]
        self.assertTrue(lines, f"no line with {words}:\n{said}")

    def test_good_values_pass(self):
        status, said = self.nginx(http="pprf_tickets on; pprf_tickets_depth 20; "
                                  "pprf_tickets_lifetime 2h; pprf_tickets_rotation 1d;").check()
        self.assertEqual(status, 0, said)

    def test_bad_values_are_refused_by_name(self):
        for name, value in (("depth", "3"), ("depth", "33"), ("depth", "0"), ("depth", "x"),
                            ("depth", "-4"), ("depth", "4294967306"), ("lifetime", "0"),
                            ("lifetime", "8d"), ("lifetime", "604801"), ("lifetime", "4294967297"),
                            ("lifetime", "soon"), ("rotation", "7199"), ("rotation", "0"),
                            ("rotation", "-1"), ("depth", "10 10"), ("depth", "")):
            for on in ("on", "off"):
                with self.subTest(name=name, value=value, on=on):
                    self.refused([f"pprf_tickets_{name}"],
                                 http=f"pprf_tickets {on}; pprf_tickets_{name} {value};")
        self.refused(['invalid value "maybe"', "pprf_tickets"], http="pprf_tickets maybe;")
        self.refused(["pprf_tickets_depth", "not allowed here"], server="pprf_tickets_depth 10;")

    def test_other_tickets_and_sessions_are_refused_by_name(self):
        with open(self.path("ticket.key"), "wb") as f:
            f.write(bytes(80))
        for directive in ("ssl_session_cache shared:s:1m", "ssl_session_cache builtin",
                          "ssl_session_tickets off", "ssl_session_ticket_key ticket.key"):
            with self.subTest(directive=directive):
                self.refused(["pprf_tickets", directive.split()[0], "nginx.conf:"],
                             server=directive + ";")
                status, said = self.nginx(http="", server=directive + ";").check()
                self.assertEqual(status, 0, said)

    def test_servers_that_share_an_address_must_agree(self):
        for http, server, other in (("", "", "pprf_tickets on;"), ("", "pprf_tickets on;", "")):
            nginx = self.nginx()
            nginx.configure(http=http, server=server, more="server { listen "
                            f"127.0.0.1:{nginx.port} ssl; server_name other; {other} }}")
            status, said = nginx.check()
            self.assertEqual(status, 1)
            self.assertRegex(said, r'"pprf_tickets" differs between the servers at '
                             r'\S+nginx.conf:\d+ and \S+nginx.conf:\d+')
            nginx.configure(more=f"server {{ listen 127.0.0.1:{nginx.port} ssl; }}")
            status, said = nginx.check()
            self.assertEqual(status, 0, said)

    def test_servers_by_name_share_the_tickets(self):
        nginx = self.nginx()
        nginx.configure(more=f"server {{ listen 127.0.0.1:{nginx.port} ssl; server_name other; "
                        "location / { add_header X-Handshake $how; return 200 '<p>served'; } }")
        nginx.start()
        name = ["-servername", "other"]
        first = self.ticket(nginx, "first", name)
        self.expect(tls.s_client(nginx.port, first, None, None, name), "resumed")
        self.expect(tls.s_client(nginx.port, first, None, None, name), "full")


class Document(Case):
    def test_documented_configuration_answers_425_and_tells_the_backend(self):
        with open(os.path.join(tls.ROOT, "docs", "nginx.md")) as f:
            text, = re.findall(r"^```nginx\n(.*?)^```$", f.read(), re.S | re.M)
        nginx = self.nginx()
        backend = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(backend.close)
        backend.settimeout(PATIENCE)
        for old, new in (("load_module modules/ngx_http_pprf_tickets_module.so", f"daemon off; "
                          f"load_module {MODULE}"), ("user www-data;", ""), ("auto", "3"),
                         ("/run/nginx.pid", "pid"), ("/var/log/nginx/", ""),
                         ("/etc/ssl/example.crt", "cert.pem"), ("/etc/ssl/example.key", "key.pem"),
                         ("listen 443 ssl", f"listen 127.0.0.1:{nginx.port} ssl"),
                         ("127.0.0.1:8080", f"127.0.0.1:{backend.getsockname()[1]}")):
            self.assertIn(old, text)
            text = text.replace(old, new)
        with open(nginx.path("nginx.conf"), "w") as f:
            f.write(text)
        nginx.start()
        requests = ("POST / HTTP/1.0\r\nContent-Length: 0\r\n\r\n",
                    "GET / HTTP/1.0\r\nEarly-Data: 2\r\n\r\n")
        for request in requests:
            with open(self.early, "w") as f:
                f.write(request)
            first = self.path("first")
            with subprocess.Popen(["openssl", "s_client", "-connect", f"127.0.0.1:{nginx.port}",
                                   "-sess_out", first, "-ign_eof"], stdin=subprocess.PIPE,
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as p:
                p.communicate(b"TRACE / HTTP/1.0\r\n\r\n", PATIENCE)  # nginx itself answers: 405
            flight = tls.capture(self.dir, first, self.early)  # the handshake is never done
            with socket.create_connection(("127.0.0.1", nginx.port), PATIENCE) as conn:
                conn.sendall(flight)
                if request.startswith("GET"):
                    up, _ = backend.accept()
                    with up:
                        heard = up.recv(65536).decode()
                        up.sendall(b"HTTP/1.0 200 OK\r\n\r\nserved\n")
                first_line = f'"{request.splitlines()[0]}" '
                nginx.until(lambda: first_line in "".join(nginx.lines(1)), "line in the log")
        self.assertEqual(re.findall(r"(?im)^early-data: (.*?)\r$", heard), ["1"])
        log = "\n".join(nginx.lines(1))
        self.assertIn('"GET / HTTP/1.0" 200', log)
        self.assertIn('"POST / HTTP/1.0" 425', log)


def missing():
    return [what for what, there in (("nginx (package nginx)", shutil.which("nginx")),
                                     (f"{MODULE} (make nginx-module; package nginx-dev)",
                                      os.path.exists(MODULE))) if not there]


def main():
    if missing():
        print(f"1..0 # SKIP not installed: {', '.join(missing())}")
        return 0
    return tap.run((Module, Reload, Workers, Attacks, Memory, Configuration, Document), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
