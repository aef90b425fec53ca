#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the nginx module: Debian's nginx with several workers, driven by openssl s_client and by
recorded first flights.  Emits TAP.

Usage: tls/nginx/test_nginx.py [TEST...]

Every nginx runs in the foreground on loopback, on a free port, in its own directory, and is stopped
at the end of its test."""
import http.client
import json
import os
import re
import resource
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests"))
import test_tls as tls  # noqa: E402
import tap  # noqa: E402  (test_tls adds its folder to the path)

MODULE = os.path.join(tls.ROOT, "build", "tls", "nginx", "ngx_http_pprf_tickets_module.so")
SHIM = os.path.join(tls.ROOT, "build", "tls", "libpprf_tls_preload.so")
TUNABLES = "glibc.malloc.perturb=85:glibc.malloc.tcache_count=0"
PATIENCE = tls.PATIENCE
MAIN = """{load}
daemon {daemon}; worker_processes {workers}; pid pid; error_log error.log notice;
events {{ worker_connections 64; }}
http {{
  log_format line '$pid early=$ssl_early_data reused=$ssl_session_reused $status "$request"';
  access_log access.log line; keepalive_timeout {keepalive};
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
        self.port = tap.free_port()
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
                  daemon="off", listen="reuseport",  # so that connections reach every worker
                  keepalive=1):
        load = f"load_module {MODULE};" if load is None else load
        with open(self.path("nginx.conf"), "w") as f:
            f.write(MAIN.format(load=load, daemon=daemon, workers=workers, http=http, server=server, more=more,
                                port=self.port, listen=listen, keepalive=keepalive))

    def command(self, *options):
        return ["nginx", "-p", self.directory + "/", "-c", "nginx.conf", *options]

    def check(self):
        """Run nginx -t; returns its exit status and output."""
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
            died = self.process is not None and self.process.poll() is not None
            if time.monotonic() > end or died:
                raise AssertionError(f"nginx: no {what}:\n{self.errors()}")
            time.sleep(0.02)
        return value

    def children(self):
        """The workers, once all are there; otherwise none."""
        with open(f"/proc/{self.process.pid}/task/{self.process.pid}/children") as f:
            found = sorted(map(int, f.read().split()))
        return found if len(found) == self.workers else []

    def reload(self, **parts):
        before = self.until(self.children, "a worker")
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
        """Stop nginx; returns the counters that its master logs."""
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
        names = ("issued", "resumed", "accepted", "rejected", "refused", "expired", "dropped",
                 "outstanding")
        return {n: int(re.search(rf"{n} (\d+)", line[-1]).group(1)) for n in names} if line else {}


class Process:
    """A process that is not our child, with the methods of subprocess.Popen."""

    def __init__(self, pid):
        self.pid = pid

    def poll(self):
        try:
            with open(f"/proc/{self.pid}/stat") as f:
                return None if f.read().split(")")[1].split()[0] != "Z" else 0
        except (FileNotFoundError, ProcessLookupError):  # it ended before or after the file was opened
            return 0

    def send_signal(self, sig):
        os.kill(self.pid, sig)

    def wait(self, patience=PATIENCE):
        end = time.monotonic() + patience
        while self.poll() is None:
            if time.monotonic() > end:
                raise AssertionError(f"process {self.pid} did not end")
            time.sleep(0.02)


class Daemon(Nginx):
    """nginx as Debian starts it: the process that reads the configuration does not become the
    master."""

    def __init__(self, directory, environment=None, **parts):
        super().__init__(directory, environment, daemon="on", **parts)

    def configure(self, **parts):
        super().configure(**{"daemon": "on", **parts})

    def start(self):
        # USR2 executes the program that argv[0] names
        subprocess.run([shutil.which("nginx"), *self.command()[1:]], env=self.environment, check=True, timeout=PATIENCE,
                       stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        self.process = Process(self.until(self.pid, "its master's process id"))
        self.until(self.children, "a worker")
        return self

    def pid(self):
        """The master's process id, as nginx writes it; 0 until then."""
        try:
            with open(self.path("pid")) as f:
                return int(f.read() or 0)
        except FileNotFoundError:
            return 0


class Case(tls.Case):
    def setUp(self):
        super().setUp()
        os.chmod(self.dir, 0o755)  # workers do not run as root

    def nginx(self, kind=Nginx, **parts):
        nginx = kind(self.dir, **parts)
        self.addCleanup(nginx.stop)
        return nginx

    def early_data(self, nginx, sess_in, outcome, sess_out=None, until_ticket=False):
        """The fate of a ticket with early data: "accepted", or "rejected" and a full handshake.
        ($ssl_early_data says less: it is empty if the handshake was completed first.)"""
        seen = tls.s_client(nginx.port, sess_in, sess_out, self.early, (), until_ticket)
        self.assertEqual((seen.early, seen.handshake, seen.answered),
                         (outcome, {"accepted": "resumed", "rejected": "full"}[outcome], True),
                         seen.text)

    def deliveries(self, nginx, flight, times):
        """How often a request in early data is delivered when its first flight is sent `times`
        times."""
        for _ in range(times):
            tls.send_flight(nginx.port, flight)
        self.ticket(nginx, "last")
        nginx.until(lambda: sum("early=- reused=." in line for line in nginx.lines(1)) == 2,
                    "line of the last request")
        return sum("early=1" in line for line in nginx.lines(1))


class Module(Case):
    def test_full_then_early_data_then_replay_then_renewed_ticket(self):
        nginx = self.nginx(keepalive=PATIENCE).start()
        first, renewed = self.ticket(nginx, "first"), self.path("renewed")
        # kept alive: nginx answers before the handshake is done, and renews the ticket only then
        with open(self.early, "wb") as f:
            f.write(b"GET /early HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.early_data(nginx, first, "accepted", renewed, until_ticket=True)
        for _ in range(2):
            self.early_data(nginx, first, "rejected")
        self.early_data(nginx, renewed, "accepted", until_ticket=True)
        self.assertEqual([re.search("reused=.*", line).group() for line in nginx.lines(5)], [
            'reused=. 200 "GET /early HTTP/1.0"', 'reused=r 200 "GET /early HTTP/1.1"',
            'reused=. 200 "GET /early HTTP/1.0"', 'reused=. 200 "GET /early HTTP/1.0"',
            'reused=r 200 "GET /early HTTP/1.1"'])
        self.assertEqual(nginx.stop(), {"issued": 8, "resumed": 0, "accepted": 2, "rejected": 0,
                                        "refused": 2, "expired": 0, "dropped": 0, "outstanding": 6})

    def test_tickets_of_any_worker_are_good_once_at_every_worker(self):
        nginx, rounds, pairs = self.nginx(workers=4).start(), 0, []

        def apart():
            """Whether some ticket was redeemed at a worker other than its issuer, and some ticket
            replayed at a worker other than its redeemer."""
            return any(a != b for a, b, _ in pairs), any(b != c for _, b, c in pairs)
        # a ticket meets the same worker 1 time in 4: 12 rounds, and up to 40 if all were alike
        while rounds < 12 or (not all(apart()) and rounds < 40):
            first = self.ticket(nginx, "first")
            self.early_data(nginx, first, "accepted")
            self.early_data(nginx, first, "rejected")
            rounds += 1
            pids = [int(line.split()[0]) for line in nginx.lines(3 * rounds)]
            pairs = list(zip(pids[0::3], pids[1::3], pids[2::3]))
        self.assertLessEqual(set(pids), set(nginx.children()))
        self.assertEqual(apart(), (True, True), f"issued, redeemed, replayed: {pairs}")
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

    def test_without_tls_1_2_tickets_its_handshakes_are_full(self):
        nginx = self.nginx(http="pprf_tickets on; pprf_tickets_tls12 off;").start()
        path = self.path("none")
        self.expect(tls.s_client(nginx.port, None, path, None, ["-tls1_2"]), "full")
        self.assertFalse(os.path.exists(path))
        self.early_data(nginx, self.ticket(nginx, "first"), "accepted")

    def test_idle_server_expires_tickets(self):
        port = tap.free_port()  # a request there issues no ticket
        nginx = self.nginx(http="pprf_tickets on; pprf_tickets_lifetime 1;", more="server { listen "
                           f"127.0.0.1:{port}; location / {{ pprf_tickets_status; }} }}").start()
        self.ticket(nginx, "first")

        def outstanding():
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=PATIENCE) as answer:
                return int(re.search(rb"(?m)^outstanding (\d+)$", answer.read()).group(1))
        nginx.until(lambda: outstanding() == 0, "end of the tickets")
        self.assertEqual(nginx.stop(), {"issued": 2, "resumed": 0, "accepted": 0, "rejected": 0,
                                        "refused": 0, "expired": 2, "dropped": 0,
                                        "outstanding": 0})


def secrets(pid):
    """What looks random in the mapping of the tickets: its seeds, and the key for ticket names."""
    found = set()
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            if "memfd:pprf-tickets" not in line and "/dev/zero" not in line:
                continue
            at, end = (int(x, 16) for x in line.split()[0].split("-"))
            while at < end:
                mem.seek(at)
                block = mem.read(min(1 << 20, end - at))
                for page in range(0, len(block), 4096):
                    part = block[page:page + 4096]
                    if part.count(0) < 4096:
                        found |= {part[i:i + 16] for i in range(0, 4096, 8)
                                  if len(set(part[i:i + 16])) > 12}
                at += len(block)
    return found


class Hanging:
    """A backend that never answers, so that an old worker stays. It records which worker asked."""
    SERVER = "location /hang {{ proxy_set_header X-Pid $pid; proxy_pass http://127.0.0.1:{0}; }}"

    def __init__(self, case):
        self.case, self.open = case, {}
        self.backend = socket.create_server(("127.0.0.1", 0))
        self.backend.settimeout(PATIENCE)
        case.addCleanup(self.backend.close)
        self.server = self.SERVER.format(self.backend.getsockname()[1])

    def hang(self, nginx):
        """Send one more request; returns the worker that has it."""
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        raw = socket.create_connection(("127.0.0.1", nginx.port), PATIENCE)
        client = context.wrap_socket(raw)
        client.sendall(b"GET /hang HTTP/1.0\r\n\r\n")
        up, _ = self.backend.accept()
        pid = int(re.search(rb"X-Pid: (\d+)", up.recv(65536)).group(1))
        self.open.setdefault(pid, []).extend((up, client))
        self.case.addCleanup(up.close)
        self.case.addCleanup(client.close)
        return pid

    def let_go(self, pid):
        for s in self.open.pop(pid):
            s.close()


def new_master(case, nginx):
    """Send SIGUSR2; returns the new master, which runs beside the old one."""
    old = nginx.process
    old.send_signal(signal.SIGUSR2)
    nginx.until(lambda: os.path.exists(nginx.path("pid.oldbin")) and
                nginx.pid() not in (0, old.pid), "new master")
    new = nginx.process = Process(nginx.pid())
    case.addCleanup(lambda: new.poll() is None and (new.send_signal(signal.SIGTERM), new.wait()))
    nginx.until(nginx.children, "a worker of the new master")
    return new


def tickets_descriptors(pid):
    """How many descriptors of the tickets' memory an execve in this process would close, and how
    many it would keep."""
    closed = [0, 0]
    for fd in os.listdir(f"/proc/{pid}/fd"):
        try:
            if "memfd:pprf-tickets" in os.readlink(f"/proc/{pid}/fd/{fd}"):
                with open(f"/proc/{pid}/fdinfo/{fd}") as f:
                    flags = int(re.search(r"flags:\s*(\d+)", f.read()).group(1), 8)
                closed[not flags & os.O_CLOEXEC] += 1
        except (FileNotFoundError, ProcessLookupError):
            pass  # closed meanwhile
    return tuple(closed)


def upgrade(case, nginx, meanwhile=lambda: None):
    """Replace the master; returns the new one once the old one has ended."""
    old = nginx.process
    new = new_master(case, nginx)
    meanwhile()
    old.send_signal(signal.SIGQUIT)
    old.wait()
    return new


def file_secrets(fd):
    """The same for the tickets' memory itself, through this descriptor."""
    text = os.pread(fd, os.fstat(fd).st_size, 0)
    return {text[i:i + 16] for i in range(0, len(text), 8) if len(set(text[i:i + 16])) > 12}


def hold_memory(case, pid, flags=os.O_RDONLY):
    """A descriptor of the tickets' memory of a master."""
    for fd in os.listdir(f"/proc/{pid}/fd"):
        if "memfd:pprf-tickets" in os.readlink(f"/proc/{pid}/fd/{fd}"):
            held = os.open(f"/proc/{pid}/fd/{fd}", flags)
            case.addCleanup(os.close, held)
            return held
    raise AssertionError("the master has no memory for tickets")


class Draining(Case):
    def test_a_daemon_wipes_the_keys_that_a_reload_gives_up_in_draining_workers_too(self):
        for upgraded in (False, True):
            with self.subTest(upgraded=upgraded):
                self.reload_gives_up_keys(upgraded)

    def reload_gives_up_keys(self, upgraded):
        hanging = Hanging(self)
        nginx = self.nginx(Daemon, workers=1, server=hanging.server).start()
        if upgraded:
            upgrade(self, nginx)
        self.early_data(nginx, self.ticket(nginx, "first"), "accepted")
        old = hanging.hang(nginx)
        before = secrets(old)
        self.assertGreater(len(before), 10, "control: the keys are in memory")
        nginx.configure(workers=1, http="pprf_tickets on; pprf_tickets_depth 12;",
                        server=hanging.server)
        nginx.process.send_signal(signal.SIGHUP)
        nginx.workers = 2
        nginx.until(nginx.children, "new worker beside the draining one")
        nginx.until(lambda: not before & secrets(old), "end of the seeds in the draining worker's memory")
        nginx.stop()

    def test_a_daemon_keeps_tickets_over_a_reload_and_ends_them_when_it_ends(self):
        nginx = self.nginx(Daemon).start()
        used, unused = self.ticket(nginx, "used"), self.ticket(nginx, "unused")
        self.early_data(nginx, used, "accepted")
        nginx.reload()
        self.early_data(nginx, used, "rejected")
        self.early_data(nginx, unused, "accepted")
        self.assertEqual(nginx.stop()["accepted"], 2)

    def test_a_draining_worker_expires_tickets(self):
        for last in range(2):
            for seconds in (4, 16, 64):  # a draining worker cannot be asked whether it is done
                counters = self.drain(last, seconds)
                if counters["outstanding"] == 0:
                    break
            self.assertEqual(counters["outstanding"], 0, f"worker {last}: {counters}")

    def drain(self, last, seconds):
        """The counters after the last of two workers has drained for so many seconds."""
        hanging = Hanging(self)
        nginx = self.nginx(Daemon, workers=2, server=hanging.server,
                           http="pprf_tickets on; pprf_tickets_lifetime 1;").start()
        workers = nginx.children()
        while len(hanging.open) < 2:
            hanging.hang(nginx)
        self.ticket(nginx, "first")
        nginx.process.send_signal(signal.SIGWINCH)  # workers end when they become idle
        hanging.let_go(workers[1 - last])
        Process(workers[1 - last]).wait()
        self.assertIsNone(Process(workers[last]).poll(), "the other one drains")
        time.sleep(seconds)
        return nginx.stop()


class Upgrade(Case):
    def test_an_upgrade_of_the_binary_keeps_what_wipes_freed_memory(self):
        nginx = self.nginx(Daemon, environment={"LD_PRELOAD": SHIM, "GLIBC_TUNABLES": TUNABLES,
                                                "OTHER": "not kept"}).start()
        for _ in range(2):
            master = upgrade(self, nginx)
            for pid in (master.pid, *nginx.children()):
                with open(f"/proc/{pid}/maps") as f:
                    self.assertTrue(os.path.basename(SHIM) in f.read(), "the shim is gone")
            # nginx has moved it: its place is now the process title, padded with zeros
            self.assertGreater(tls.in_memory(master.pid, b"GLIBC_TUNABLES=" + TUNABLES.split(":")[0].encode()), 0)
            self.assertEqual(tls.in_memory(master.pid, b"OTHER=not kept"), 0)
        self.early_data(nginx, self.ticket(nginx, "new"), "accepted")

    def test_an_upgrade_of_the_binary_keeps_used_and_unused_tickets(self):
        nginx = self.nginx(Daemon).start()
        for round in range(2):
            used, unused, third = (self.ticket(nginx, f"{n}{round}") for n in ("used", "unused", "third"))
            self.early_data(nginx, used, "accepted")
            old = nginx.process
            new = upgrade(self, nginx, lambda: [  # at a worker of the old or of the new master
                self.early_data(nginx, used, "rejected"), self.early_data(nginx, third, "accepted")])
            self.assertNotEqual(old.pid, new.pid)
            for ticket, outcome in ((used, "rejected"), (third, "rejected"), (unused, "accepted"),
                                    (unused, "rejected")):
                self.early_data(nginx, ticket, outcome)
            self.early_data(nginx, self.ticket(nginx, "new"), "accepted")
        self.assertEqual(nginx.stop()["accepted"], 8)
        self.assertNotIn("those of the previous binary end", nginx.errors())

    def test_a_master_that_quits_wipes_unused_tickets_keys_unless_a_new_binary_has_them(self):
        for depth, upgraded in ((10, None), (10, "with the same directives"), (12, "with another depth")):
            with self.subTest(upgraded=upgraded):
                nginx = self.nginx(Daemon, http="pprf_tickets on; pprf_tickets_depth 10;", workers=1).start()
                self.early_data(nginx, self.ticket(nginx, "used"), "accepted")
                self.ticket(nginx, "unused")
                memory = hold_memory(self, nginx.process.pid)
                before = file_secrets(memory)
                self.assertGreater(len(before), 3, "control: the keys are there")
                old = nginx.process
                if upgraded:
                    nginx.configure(http=f"pprf_tickets on; pprf_tickets_depth {depth};", workers=1)
                    new_master(self, nginx)
                old.send_signal(signal.SIGQUIT)
                old.wait()
                left = before & file_secrets(memory)
                if upgraded == "with the same directives":
                    self.assertEqual(left, before)
                else:
                    self.assertEqual(left, set())
                if upgraded:
                    nginx.stop()
                    self.assertEqual(before & file_secrets(memory), set())

    def test_an_upgrade_keeps_tickets_and_their_suite_and_ends_those_of_another(self):
        status = Status.SERVER

        def suite_of(nginx):
            return int(re.search(r"\nsuite (\d)\n", Status.get(self, nginx, "/plain")[2]).group(1))
        nginx = self.nginx(Daemon, http="pprf_tickets on; pprf_tickets_suite sha3-256-salted;",
                           server=status).start()
        first, second = self.ticket(nginx, "first"), self.ticket(nginx, "second")
        self.assertEqual(suite_of(nginx), 2)
        # no suite named: the tickets keep theirs; another rate of the same depth
        nginx.configure(http="pprf_tickets on; pprf_tickets_tls12 off; pprf_tickets_rate 499;", server=status)
        upgrade(self, nginx)
        self.early_data(nginx, first, "accepted")
        self.assertEqual(suite_of(nginx), 2)
        self.assertNotIn("those of the previous binary end", nginx.errors())
        for name, number in (("aes-128", 3), ("sha3-256", 1)):
            nginx.configure(http=f"pprf_tickets on; pprf_tickets_suite {name};", server=status)
            upgrade(self, nginx)
            self.early_data(nginx, second, "rejected")
            second = self.ticket(nginx, "second")
            self.assertEqual(suite_of(nginx), number)
        self.early_data(nginx, second, "accepted")
        self.assertEqual(nginx.errors().count("those of the previous binary end"), 2)

    def test_an_upgrade_that_is_taken_back_keeps_tickets(self):
        nginx = self.nginx(Daemon).start()
        used, unused = self.ticket(nginx, "used"), self.ticket(nginx, "unused")
        self.early_data(nginx, used, "accepted")
        old = nginx.process
        new = new_master(self, nginx)
        new.send_signal(signal.SIGQUIT)
        new.wait()
        nginx.process = old
        nginx.until(lambda: nginx.pid() == old.pid, "old master's number")
        self.early_data(nginx, used, "rejected")
        self.early_data(nginx, unused, "accepted")

    def test_an_upgrade_with_another_depth_starts_again_and_says_so(self):
        nginx = self.nginx(Daemon).start()
        first = self.ticket(nginx, "first")
        nginx.configure(http="pprf_tickets on; pprf_tickets_depth 12;")
        upgrade(self, nginx)
        self.early_data(nginx, first, "rejected")
        self.early_data(nginx, self.ticket(nginx, "new"), "accepted")
        self.assertIn("those of the previous binary end", nginx.errors())

    def test_only_masters_could_execute_another_program_with_the_tickets(self):
        nginx = self.nginx(Daemon).start()
        for _ in range(2):
            for pid in (nginx.process.pid, *nginx.children()):
                expected = (1, int(pid == nginx.process.pid))
                # a worker closes its copy some time after it appears
                nginx.until(lambda: tickets_descriptors(pid) == expected, f"{expected} descriptors of {pid}")
            upgrade(self, nginx)

    def test_an_upgrade_that_takes_no_tickets_over_keeps_no_descriptor_of_them(self):
        """Another program's workers would have all keys, and tickets made later would be those ended."""
        on = "pprf_tickets on;"
        for directives, own in (("", 0), (on + "pprf_tickets_backend valkey://127.0.0.1:1;", 0), (on, 1)):
            with self.subTest(directives=directives):
                nginx = self.nginx(Daemon, workers=1).start()
                first = self.ticket(nginx, "first")
                if own:  # the memory is another version's
                    with open(f"/proc/self/fd/{hold_memory(self, nginx.process.pid, os.O_RDWR)}", "r+b") as f:
                        f.write(bytes(8))
                nginx.configure(workers=1, http=directives)
                master = upgrade(self, nginx)
                for pid in (master.pid, *nginx.children()):
                    expected = (own, own * (pid == master.pid))
                    nginx.until(lambda: tickets_descriptors(pid) == expected, f"{expected} descriptors of {pid}")
                self.assertEqual(nginx.errors().count("those of the previous binary end"), 1)
                nginx.reload(workers=1)
                self.early_data(nginx, first, "rejected")
                self.early_data(nginx, self.ticket(nginx, "new"), "accepted")
                nginx.stop()
                os.remove(nginx.path("error.log"))

    def test_without_wiping_a_line_of_the_log_says_so(self):
        line = "neither LD_PRELOAD=libpprf_tls_preload.so nor GLIBC_TUNABLES"
        nginx = self.nginx(Daemon).start()
        self.assertIn(line, nginx.errors())
        nginx.stop()
        os.remove(nginx.path("error.log"))
        nginx = self.nginx(Daemon, environment={"LD_PRELOAD": SHIM}).start()
        self.assertNotIn(line, nginx.errors())


class Status(Case):
    HTTP = """pprf_tickets on; pprf_tickets_depth 8;
      log_format counters '$pprf_tickets_issued $pprf_tickets_dropped $pprf_tickets_depth $pprf_tickets_wiping';
      access_log counters.log counters;"""
    SERVER = "".join(f"location /{n} {{ pprf_tickets_status {n}; }}"
                     for n in ("plain", "json", "prometheus")) + \
        "location = /status { pprf_tickets_status; }"

    def get(self, nginx, path, method="GET", how="https"):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        c = http.client.HTTPSConnection("127.0.0.1", nginx.port, timeout=PATIENCE, context=context)
        try:
            c.request(method, path)
            r = c.getresponse()
            return r.status, r.getheader("Content-Type"), r.read().decode()
        finally:
            c.close()

    def test_the_counters_are_shown_in_three_formats_and_as_variables(self):
        # one worker: it logs a request before it accepts the next connection
        nginx = self.nginx(http=self.HTTP, server=self.SERVER, workers=1).start()
        first = self.ticket(nginx, "first")
        for outcome in ("accepted", "rejected"):
            self.early_data(nginx, first, outcome)
        status, kind, text = self.get(nginx, "/plain")
        self.assertEqual((status, kind), (200, "text/plain"))
        self.assertEqual(text.splitlines()[-1], "wiping partial")  # freed memory is not wiped
        plain = {k: int(v) for k, v in (line.split() for line in text.splitlines()[:-1])}
        with open(os.path.join(tls.ROOT, "tls", "pprf_tickets.h")) as f:
            body = re.search(r"struct pprf_tickets_stats {(.*?)};", f.read(), re.S).group(1)
        self.assertEqual(set(plain), set(re.findall(r"uint64_t (\w+);", body)) | {"locked_bytes", "unlocked_bytes"})
        # two for each full handshake; one for the resumption whose early data is answered, if the
        # client's Finished arrives before the connection ends
        issued = plain["issued"]
        self.assertIn(issued, (6, 7))
        self.assertEqual({k: plain[k] for k in ("early_accepted", "refused", "dropped", "depth", "kept")},
                         {"early_accepted": 1, "refused": 1, "dropped": 0, "depth": 8, "kept": 0})
        self.assertEqual((plain["current"], plain["imported"]), (issued, 0))
        self.assertEqual(self.get(nginx, "/status")[1], "text/plain")
        status, kind, text = self.get(nginx, "/json")
        self.assertEqual((status, kind), (200, "application/json"))
        self.assertEqual((set(json.loads(text)), json.loads(text)["issued"], json.loads(text)["wiping"]),
                         (set(plain) | {"wiping"}, issued + 4, "partial"))
        status, kind, text = self.get(nginx, "/prometheus")
        self.assertEqual((status, kind), (200, "text/plain; version=0.0.4"))
        kinds = dict(re.findall(r"^# TYPE (\w+) (\w+)$", text, re.M))
        values = dict(re.findall(r"^(\w+) (\d+)$", text, re.M))
        self.assertEqual(set(kinds), set(values))
        self.assertEqual({re.sub("^pprf_tickets_|_total$", "", k) for k in values}, set(plain) | {"wiping"})
        self.assertEqual(values["pprf_tickets_wiping"], "1")
        for name, what in kinds.items():
            self.assertEqual(what, "counter" if name.endswith("_total") else "gauge")
            self.assertRegex(text, rf"(?m)^# HELP {name} \S")
        self.assertEqual(values["pprf_tickets_issued_total"], str(issued + 6))
        self.assertEqual(self.get(nginx, "/plain", "POST")[0], 405)
        self.assertEqual(self.get(nginx, "/plain", "HEAD")[::2], (200, ""))
        with open(nginx.path("counters.log")) as f:
            self.assertEqual(f.read().splitlines()[3], f"{issued} 0 8 partial")

    def test_without_tickets_there_is_no_status(self):
        nginx = self.nginx(http="", server=self.SERVER).start()
        self.assertEqual(self.get(nginx, "/plain")[0], 404)

    def test_when_keys_are_given_up_the_log_and_the_status_say_so(self):
        nginx = self.nginx(http="pprf_tickets on; pprf_tickets_depth 4;", workers=1,
                           server=self.SERVER).start()
        dropped = 0
        while dropped == 0:
            dropped = int(re.search(r"dropped (\d+)", self.get(nginx, "/plain")[2]).group(1))
        nginx.until(lambda: "keys dropped before their tickets had expired" in nginx.errors(),
                    "line in the log")
        self.assertRegex(nginx.errors(), r"\[warn\].* pprf_tickets: \d+ keys dropped .* depth 4 ")
        before = nginx.errors().count("keys dropped")
        for _ in range(3):  # reloads drop no further keys
            nginx.reload(http="pprf_tickets on; pprf_tickets_depth 4;", workers=1, server=self.SERVER)
            self.assertEqual(self.get(nginx, "/plain")[0], 200)
        self.assertEqual(nginx.errors().count("keys dropped"), before)

    def test_keys_are_rotated_and_revoked_by_a_request(self):
        control = "location = /control { allow 127.0.0.1; deny all; pprf_tickets_control; }" \
                  "location = /closed { deny all; pprf_tickets_control; }"
        nginx = self.nginx(server=self.SERVER + control, workers=1).start()

        def counters():
            return {k: int(v) for k, v in re.findall(r"(?m)^(\w+) (\d+)$", self.get(nginx, "/plain")[2])}
        first, second, third = (self.ticket(nginx, name) for name in ("first", "second", "third"))
        before = counters()
        self.assertEqual(before["keys"], 1)
        self.assertEqual(self.get(nginx, "/control?rotate", "POST")[::2], (204, ""))
        self.early_data(nginx, first, "accepted")  # it stays valid, and its successor uses the next key
        after = counters()
        self.assertEqual(after["keys"], 2)
        # the previous key's: all before, and the two of the connection that rotated
        self.assertEqual(after["issued"] - after["current"], before["issued"] + 2)
        for path, method, status in (("/control?rotate", "GET", 405), ("/control", "POST", 400),
                                     ("/control?rotate&revoke", "POST", 400), ("/control?revok", "POST", 400),
                                     ("/closed?revoke", "POST", 403)):
            self.assertEqual(self.get(nginx, path, method)[0], status, path)
        with open(self.early, "wb") as f:  # early data may be a replay
            f.write(b"POST /control?revoke HTTP/1.0\r\nContent-Length: 0\r\n\r\n")
        self.assertIn("425", tls.s_client(nginx.port, second, None, self.early).text)
        self.assertEqual(counters()["keys"], 2)
        self.assertEqual(self.get(nginx, "/control?revoke", "POST")[0], 204)
        with open(self.early, "wb") as f:
            f.write(tls.REQUEST)
        self.early_data(nginx, third, "rejected")
        self.early_data(nginx, self.ticket(nginx, "new"), "accepted")
        for word in ("rotate", "revoke"):
            self.assertEqual(len(re.findall(rf"\[notice\].* pprf_tickets: {word}: done", nginx.errors())), 1)

    def test_memory_that_is_not_locked_is_shown_and_told_once(self):
        limits = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        self.addCleanup(resource.setrlimit, resource.RLIMIT_MEMLOCK, limits)
        line = "not locked and may be swapped: raise RLIMIT_MEMLOCK"

        def shown(nginx):
            text = self.get(nginx, "/plain")[2]
            return [int(re.search(rf"^{name}_bytes (\d+)$", text, re.M).group(1)) for name in ("locked", "unlocked")]
        if 0 <= limits[1] < 1 << 22:
            self.skipTest(f"no more than {limits[1]} bytes may be locked here")
        for soft, locks in ((limits[1], True), (65536, False)):
            resource.setrlimit(resource.RLIMIT_MEMLOCK, (soft, limits[1]))
            nginx = self.nginx(workers=1, http="pprf_tickets on; pprf_tickets_depth 12;", server=self.SERVER).start()
            self.early_data(nginx, self.ticket(nginx, "first"), "accepted")
            locked, not_locked = shown(nginx)
            if locks:
                self.assertGreater(locked, 4096)
                self.assertEqual((not_locked, nginx.errors().count(line)), (0, 0))
            else:
                self.assertGreater(not_locked, locked)
                nginx.until(lambda: line in nginx.errors(), "line in the log")
                nginx.reload(workers=1, http="pprf_tickets on; pprf_tickets_depth 12;", server=self.SERVER)
                self.assertEqual(self.get(nginx, "/plain")[0], 200)
                self.assertEqual(nginx.errors().count(line), 1)
            nginx.stop()

    def test_the_rate_chooses_the_depth(self):
        nginx = self.nginx(http="pprf_tickets on; pprf_tickets_rate 100; pprf_tickets_lifetime 2h;",
                           server=self.SERVER).start()
        self.assertIn("\ndepth 20\n", self.get(nginx, "/plain")[2])

    def test_the_memory_chooses_how_many_keys_are_held(self):
        for depth, memory, keys in ((22, "268m", 8), (22, "67m", 2), (20, "1g", 64)):
            nginx = self.nginx(http=f"pprf_tickets on; pprf_tickets_depth {depth}; "
                               f"pprf_tickets_memory {memory};", server=self.SERVER).start()
            self.assertIn(f"\nkeys_max {keys}\n", self.get(nginx, "/plain")[2])
            nginx.stop()


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

    def test_reload_with_another_suite_costs_a_full_handshake_and_nothing_else(self):
        nginx = self.nginx(http="pprf_tickets on; pprf_tickets_suite aes-128;").start()
        first = self.ticket(nginx, "first")
        nginx.reload(http="pprf_tickets on; pprf_tickets_suite sha3-256-salted;")
        self.early_data(nginx, first, "rejected")
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
        for _ in range(2):  # each frees SSL_CTXs after the module is unloaded
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

    def test_a_copy_sent_first_is_answered_425_and_the_request_happens_once(self):
        """The copy's early data is accepted; the client's own is rejected and sent again."""
        post = b"POST /pay HTTP/1.0\r\nContent-Length: 0\r\n\r\n"
        with open(self.early, "wb") as f:
            f.write(post)
        self.addCleanup(setattr, tls, "REQUEST", tls.REQUEST)
        tls.REQUEST = post
        for answers, server in ((["200", "200"], ""), (["425", "200"],
                                                       "if ($ssl_early_data) { return 425; }")):
            nginx = self.nginx(server=server).start()
            first = self.ticket(nginx, "first")
            tls.send_flight(nginx.port, tls.capture(self.dir, first, self.early))
            seen = tls.s_client(nginx.port, first, None, self.early)
            self.assertEqual((seen.early, seen.answered), ("rejected", True), seen.text)
            posts = [line.split()[3] for line in nginx.lines(3) if '"POST' in line]
            self.assertEqual(posts[1:], answers)  # after the request that brought the ticket
            nginx.stop()
            os.remove(nginx.path("access.log"))

    def test_control_a_wrong_binder_is_logged_alike_with_nginxs_own_tickets(self):
        for parts in ({}, {"load": "", "http": ""}):
            nginx = self.nginx(**parts).start()
            hello = bytearray(next(tls.records(tls.capture(
                self.dir, self.ticket(nginx, "first"), self.early)))[1])
            hello[-1] ^= 1
            self.assertEqual(tls.send_flight(nginx.port, bytes(hello)), tls.ALERT)
            nginx.until(lambda: "binder does not verify" in nginx.errors(), "line in the log")
            self.assertRegex(nginx.errors(), r"\[crit\].*binder does not verify")
            nginx.stop()
            os.remove(nginx.path("error.log"))

    def test_control_without_the_module_every_replay_is_delivered(self):
        nginx = self.nginx(load="", http="").start()
        flight = tls.capture(self.dir, self.ticket(nginx, "first"), self.early)
        self.assertEqual(self.deliveries(nginx, flight, 4), 4)


class Memory(Case):
    def wiped(self, **environment):
        """Check that used tickets' secrets disappear from the memory of all processes."""
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
                               "control: the secret is there in the middle of the handshake")
            conn.sendall(flight[len(hello):])
            nginx.lines(2)
        self.early_data(nginx, self.ticket(nginx, "other"), "accepted")
        _, other = tls.session(self.path("other"))
        nginx.until(lambda: not any(  # a worker may linger before it frees a connection
            tls.in_memory(pid, part) for pid in pids for secret in (psk, other)
            for part in (secret[:16], secret[-16:])), "end of a used ticket's secret in memory")

    def test_with_the_preload_shim_used_tickets_secrets_are_in_no_memory(self):
        self.wiped(LD_PRELOAD=SHIM)

    def test_with_a_wiping_malloc_used_tickets_secrets_are_in_no_memory(self):
        self.wiped(GLIBC_TUNABLES=TUNABLES)

    def while_open(self, **environment):
        """What an attacker finds in memory while a used ticket's connections are open; and `kept`
        and `wiping` of the status."""
        with open(self.early, "wb") as f:
            f.write(b"GET /early HTTP/1.1\r\nHost: localhost\r\n\r\n")
        nginx = self.nginx(environment=environment, workers=2, keepalive=PATIENCE, server=Status.SERVER).start()
        found = self.found_while_open(nginx, lambda: [nginx.process.pid, *nginx.children()])
        text = Status.get(self, nginx, "/plain")[2]
        return found, *(re.search(rf"(?m)^{name} (.*)$", text).group(1) for name in ("kept", "wiping"))

    def test_with_the_module_and_the_shim_nothing_is_found_while_connections_are_open(self):
        self.assertEqual(self.while_open(LD_PRELOAD=SHIM), ({}, "0", "full"))

    def test_with_the_module_and_a_wiping_malloc_nothing_is_found_while_connections_are_open(self):
        self.assertEqual(self.while_open(GLIBC_TUNABLES=TUNABLES), ({}, "0", "full"))

    def test_with_the_module_alone_wiping_is_partial(self):
        """Freed memory is not wiped: it may hold what a client knows, too, but nothing of the open
        connections."""
        found, kept, wiping = self.while_open()
        self.assertEqual((kept, wiping), ("0", "partial"))
        self.assertEqual({what for what in found if "master" in what or "early" in what}, set())

    def test_a_malloc_that_wipes_only_partly_does_not_count(self):
        for value in ("glibc.malloc.perturb=85", "glibc.malloc.perturb=0:glibc.malloc.tcache_count=0",
                      "glibc.malloc.tcache_count=0"):
            nginx = self.nginx(environment={"GLIBC_TUNABLES": value}, server=Status.SERVER).start()
            self.assertIn("\nwiping partial\n", Status.get(self, nginx, "/plain")[2], value)
            self.assertIn("wipes freed memory", nginx.errors())
            nginx.stop()
            os.remove(nginx.path("error.log"))

    def test_seeds_are_locked_in_every_worker(self):
        """A master's lock does not cover a page that only a worker touches."""
        nginx = self.nginx(Daemon).start()
        for pid in (nginx.process.pid, *nginx.children()):
            def locked():
                with open(f"/proc/{pid}/status") as f:
                    return int(re.search(r"VmLck:\s*(\d+) kB", f.read()).group(1))
            # a worker locks them after the fork, some time after it appears
            nginx.until(locked, f"locked memory in {pid} of {nginx.process.pid}, {nginx.children()}")


class Configuration(Case):
    def refused(self, words, **parts):
        status, said = self.nginx(**parts).check()
        self.assertEqual(status, 1, said)
        lines = [line for line in said.splitlines() if all(w in line for w in words)]
        self.assertTrue(lines, f"no line with {words}:\n{said}")

    def test_good_values_pass(self):
        status, said = self.nginx(http="pprf_tickets on; pprf_tickets_depth 20; "
                                  "pprf_tickets_lifetime 2h; pprf_tickets_rotation 1d; pprf_tickets_memory 1g;").check()
        self.assertEqual(status, 0, said)
        for name in ("sha3-256", "sha3-256-salted", "aes-128"):
            status, said = self.nginx(http=f"pprf_tickets on; pprf_tickets_suite {name};").check()
            self.assertEqual(status, 0, said)

    def test_bad_values_are_refused_by_name(self):
        for name, value in (("depth", "3"), ("depth", "33"), ("depth", "0"), ("depth", "x"),
                            ("depth", "-4"), ("depth", "4294967306"), ("lifetime", "0"),
                            ("lifetime", "8d"), ("lifetime", "604801"), ("lifetime", "4294967297"),
                            ("lifetime", "soon"), ("rotation", "7199"), ("rotation", "0"),
                            ("rotation", "-1"), ("depth", "10 10"), ("depth", ""), ("rate", "0"),
                            ("rate", "596524"), ("rate", "x"), ("memory", "0"),
                            ("memory", "1k"), ("memory", "64m"), ("memory", "much"), ("tls12", "maybe"),
                            ("suite", "aes"), ("suite", "3"), ("suite", '""'), ("suite", "aes-128 x")):
            for on in ("on", "off"):
                with self.subTest(name=name, value=value, on=on):
                    self.refused([f"pprf_tickets_{name}"],
                                 http=f"pprf_tickets {on}; pprf_tickets_{name} {value};")
        self.refused(['invalid value "maybe"', "pprf_tickets"], http="pprf_tickets maybe;")
        self.refused(["pprf_tickets_depth", "not allowed here"], server="pprf_tickets_depth 10;")
        self.refused(['"pprf_tickets_suite": "sha3" is not "sha3-256", "sha3-256-salted" or "aes-128"'],
                     http="pprf_tickets_suite sha3;")
        self.refused(["pprf_tickets_suite", "duplicate"],
                     http="pprf_tickets_suite aes-128; pprf_tickets_suite aes-128;")
        self.refused(["pprf_tickets_suite: not with pprf_tickets_backend"],
                     http="pprf_tickets_suite aes-128; pprf_tickets_backend valkey://127.0.0.1;")
        self.refused(["pprf_tickets_rate"], http="pprf_tickets_depth 10; pprf_tickets_rate 1;")
        self.refused(["pprf_tickets_status", "xml"], server="location /s { "
                     "pprf_tickets_status xml; }")
        self.refused(["pprf_tickets_status", "duplicate"], server="location /s { "
                     "pprf_tickets_status; pprf_tickets_status; }")

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
        for on_top, server, other in (("", "", "pprf_tickets on;"), ("", "pprf_tickets on;", "")):
            nginx = self.nginx()
            nginx.configure(http=on_top, server=server, more="server { listen "
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

    def test_a_server_by_name_has_its_own_early_data_and_asks_its_own_clients(self):
        nginx = self.nginx()
        rules = {"late": "ssl_early_data off;", "early": "ssl_early_data on;",
                 "members": "ssl_early_data on; ssl_verify_client on; ssl_client_certificate cert.pem;"}
        nginx.configure(more="".join(
            f"server {{ listen 127.0.0.1:{nginx.port} ssl; server_name {name}; {rule} location / "
            "{ add_header X-Handshake $how; return 200 '<p>served'; } }" for name, rule in rules.items()))
        nginx.start()

        def at(name, sess_in=None, sess_out=None, options=()):
            early = self.early if sess_in else None
            s = tls.s_client(nginx.port, sess_in, sess_out, early, ["-servername", name, *options] if name else [])
            return s.early == "accepted", s.reused, s.answered

        for name, outcome in (("late", (False, True, True)), ("early", (True, True, True))):
            self.assertEqual(at(name, self.ticket(nginx, "first")), outcome, name)
        first, member = self.ticket(nginx, "first"), self.path("member")
        self.assertEqual(at("members", first), (False, False, False))
        self.assertEqual(at("members", None, member, ["-cert", nginx.path("cert.pem"), "-key", nginx.path("key.pem")]),
                         (False, False, True))
        self.assertEqual(at("members", member), (True, True, True))
        self.early_data(nginx, first, "accepted")


class Document(Case):
    def test_documented_configuration_answers_425_and_tells_the_backend(self):
        with open(os.path.join(tls.ROOT, "docs", "nginx.md")) as f:
            text = re.search(r"^```nginx\n(.*?)^```$", f.read(), re.S | re.M)[1]  # the other is a container's
        nginx = self.nginx()
        backend = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(backend.close)
        backend.settimeout(PATIENCE)
        for old, new in (("load_module /usr/local/lib/nginx/modules/ngx_http_pprf_tickets_module.so",
                          f"daemon off; load_module {MODULE}"), ("user www-data;", ""), ("auto", "3"),
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
                p.communicate(b"TRACE / HTTP/1.0\r\n\r\n", PATIENCE)  # nginx itself answers with 405
            flight = tls.capture(self.dir, first, self.early)  # the handshake is never completed
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
    return tap.run((Module, Draining, Upgrade, Status, Reload, Workers, Attacks, Memory, Configuration,
                     Document), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
