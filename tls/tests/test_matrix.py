#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Whole servers as operators run them: another project's server with the nginx module, the preload
shim or both; one context or several; keys in this process or on a Redis server that answers at
once or after 8 ms. Emits TAP.

  Usage: tls/tests/test_matrix.py [TEST...]     ALL=1: every cell; otherwise one random cell per program (SEED)

In each cell: a ticket works once, and so does its successor; while its connections are open, no
process's memory holds what decrypts them; a reload revives no used ticket; the server ends when
told to. With a second context, chosen by name: its early data is off, and stays off for tickets of
the first. With one that requires client certificates: the other's tickets do not work there."""
import base64
import hmac
import os
import pathlib
import random
import shutil
import signal
import socket
import subprocess
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.join(HERE, "..", "..")
for folder in ("tls/tests", "tls/nginx", "valkey"):
    sys.path.insert(0, os.path.join(TOP, folder))
import test_tls as tls  # noqa: E402
import test_nginx as nginx  # noqa: E402
import tap  # noqa: E402  (test_tls adds its folder to the path)

SHIM, PATIENCE = nginx.SHIM, tls.PATIENCE
THIEF = os.path.join(TOP, "build", "tls", "thief")
WAYS = {"module": {}, "shim": {"LD_PRELOAD": SHIM}, "module and shim": {"LD_PRELOAD": SHIM},
        "module and tunables": {"GLIBC_TUNABLES": nginx.TUNABLES}}
SHAPES = ("one context", "early data off by name", "certificates by name")
BACKENDS = ("pool", "fleet", "fleet at 8 ms")


class Program(tls.Foreign):
    """A server in a directory. `early`: whether it accepts early data; `shapes`: the configurations
    it supports."""
    early, shapes, ways = True, SHAPES, ("shim",)
    ticket_last = False  # it closes a connection before sending the ticket that follows early data

    def __init__(self, case, way, shape, url):
        self.case, self.way, self.shape, self.url = case, way, shape, url
        self.port, self.process = tap.free_port(), None
        self.environment = dict(os.environ, **WAYS[way])
        if url and way == "shim":
            self.environment["PPRF_TICKETS_BACKEND"] = url
        self.log = os.path.join(case.dir, "log")
        case.addCleanup(self.kill)
        self.configure()
        self.start()

    def write(self, name, text):
        with open(self.case.path(name), "w") as f:
            f.write(text)

    def start(self):
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command(), cwd=self.case.dir, env=self.environment, stdout=log,
                                            stderr=log, stdin=subprocess.DEVNULL, start_new_session=True)
        self.until(self.answers, "answer")

    def pids(self):
        """The process and all its descendants."""
        found = [self.process.pid]
        for pid in found:
            with open(f"/proc/{pid}/task/{pid}/children") as f:
                found += map(int, f.read().split())
        return found

    def reload(self):
        """Wait until other processes, or another context, serve."""
        before = set(self.pids())
        os.kill(self.master(), self.reloads)
        self.until(lambda: set(self.pids()) - before, "new process after a reload")

    def master(self):
        """The process that gets signals."""
        return self.process.pid

    def quit(self):
        os.kill(self.master(), self.quits)
        self.until(lambda: self.process.poll() is not None, "end", alive=False)

    def kill(self):
        if self.process:
            try:
                os.killpg(self.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self.process.wait()


class Nginx(Program):
    ways, ticket_last = ("module", "module and shim", "module and tunables"), True
    reloads, quits = signal.SIGHUP, signal.SIGQUIT
    name, package = "nginx", "nginx"
    RULES = {"early data off by name": "", "certificates by name": "ssl_early_data on; ssl_verify_client on; "
             "ssl_client_certificate cert.pem;"}

    def configure(self):
        other = "" if self.shape not in self.RULES else (
            f"server {{ listen 127.0.0.1:{self.port} ssl; server_name otherhost; {self.RULES[self.shape]} "
            "location / { return 200 '<p>served'; } }")
        self.write("nginx.conf", nginx.MAIN.format(
            load=f"load_module {nginx.MODULE};", daemon="off", workers=2, server="", more=other, port=self.port,
            http="pprf_tickets on;" + (f" pprf_tickets_backend {self.url};" if self.url else ""), listen="",
            keepalive=PATIENCE))

    def command(self):
        return ["nginx", "-p", self.case.dir + "/", "-c", "nginx.conf"]

    def reload(self):
        pids = self.pids()
        old = set(pids[pids.index(self.master()) + 1:])
        super().reload()  # an old worker closes a connection before the ticket, also a kept one
        self.until(lambda: not old & set(self.pids()), "end of the old workers")

    def text(self):
        with open(self.case.path("error.log"), errors="replace") as f:
            return super().text() + f.read()


class HAProxy(Program):
    shapes, reloads, quits = ("one context", "certificates by name"), signal.SIGUSR2, signal.SIGTERM
    name, package = "haproxy", "haproxy"

    def configure(self):
        crt = "crt pair.pem"
        if self.shape == "certificates by name":
            self.write("list", "pair.pem localhost\nother.pem [verify required ca-file cert.pem] otherhost\n")
            crt = "crt-list list"
        self.write("haproxy.cfg", f"""
global
  nbthread 2
defaults
  mode http
  timeout client 60s
  timeout connect 5s
  timeout server 5s
frontend tests
  bind 127.0.0.1:{self.port} ssl {crt} allow-0rtt
  http-request return status 200 content-type text/plain string "<p>served\\n"
""")

    def command(self):
        return [shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin"), "-W", "-db", "-f", "haproxy.cfg"]


class Stunnel(Program):
    early, shapes, reloads, quits = False, ("one context", "certificates by name"), signal.SIGHUP, signal.SIGTERM
    name, package = "stunnel4", "stunnel4"

    def configure(self):
        backend = socket.create_server(("127.0.0.1", 0))
        self.case.addCleanup(backend.close)

        def answer(conn):
            with conn:
                stays = True
                while stays and b"\r\n\r\n" in (request := conn.recv(4096)):
                    conn.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n<p>served\n")
                    stays = b"HTTP/1.1" in request

        def serve():
            while True:
                try:
                    conn, _ = backend.accept()
                except OSError:
                    return
                threading.Thread(target=answer, args=(conn,), daemon=True).start()
        threading.Thread(target=serve, daemon=True).start()
        to = f"connect = 127.0.0.1:{backend.getsockname()[1]}\ncert = pair.pem\n"
        other = "" if self.shape == "one context" else (
            f"[other]\nsni = tests:otherhost\n{to}verifyChain = yes\nCAfile = cert.pem\n")
        self.write("stunnel.conf", f"foreground = yes\npid =\n[tests]\naccept = 127.0.0.1:{self.port}\n{to}{other}")

    def command(self):
        return ["stunnel4", "stunnel.conf"]

    def reload(self):  # the same process
        os.kill(self.process.pid, signal.SIGHUP)
        self.until(lambda: self.text().count("Configuration successful") > 1, "second configuration")


class Apache(Program):
    early, shapes, reloads, quits = False, ("one context", "certificates by name"), signal.SIGUSR1, signal.SIGWINCH
    name, package = "apache2", "apache2"

    def configure(self):
        certificate = "SSLEngine on\nSSLCertificateFile pair.pem\n"
        other = "" if self.shape == "one context" else (
            f"<VirtualHost *:{self.port}>\nServerName otherhost\n{certificate}SSLVerifyClient require\n"
            "SSLCACertificateFile cert.pem\n</VirtualHost>\n")
        os.mkdir(self.case.path("www"))
        self.write("www/index.html", "<p>served\n")
        modules = "".join(f"LoadModule {m}_module /usr/lib/apache2/modules/mod_{m}.so\n" for m in
                          ("mpm_event", "authz_core", "dir", "socache_shmcb", "ssl"))
        user = "User www-data\nGroup www-data\n" if os.geteuid() == 0 else ""
        self.write("apache.conf", f"""ServerRoot {self.case.dir}
ServerName localhost
{modules}{user}PidFile pid
ErrorLog error.log
Listen 127.0.0.1:{self.port}
StartServers 1
MinSpareThreads 2
MaxSpareThreads 25
ThreadsPerChild 8
MaxRequestWorkers 16
ServerLimit 2
KeepAlive On
KeepAliveTimeout {PATIENCE}
SSLSessionCache none
DocumentRoot www
DirectoryIndex index.html
FallbackResource /index.html
<VirtualHost *:{self.port}>
ServerName localhost
{certificate}</VirtualHost>
{other}""")

    def command(self):
        return [shutil.which("apache2", path=os.environ["PATH"] + ":/usr/sbin"), "-f", self.case.path("apache.conf"),
                "-DFOREGROUND"]


class Own(Program):
    """pprf-tls-server, which contains the library. It runs two processes and cannot reload."""
    ways, shapes, reloads, quits = ("shim",), ("one context",), None, signal.SIGTERM
    name = package = None

    def configure(self):
        self.environment.pop("LD_PRELOAD")
        self.environment.pop("PPRF_TICKETS_BACKEND", None)

    def command(self):
        return [tls.SERVER, "--port", str(self.port), "--workers", "2", *(["--backend", self.url] if self.url else [])]

    def reload(self):
        pass


PROGRAMS = (Nginx, HAProxy, Stunnel, Apache, Own)


class Matrix(tls.Case):
    keys = None  # the server of them

    def backend(self, name):
        if name == "pool":
            return ""
        try:
            import fleet
        except ImportError as why:
            self.skipTest(f"{why} (package python3-redis)")
        if not os.path.exists(fleet.MODULE):
            self.skipTest(f"{fleet.MODULE} is missing (make)")
        self.keys = server = fleet.Server()
        self.addCleanup(server.close)
        link = fleet.Link(server.port)
        self.addCleanup(link.close)
        link.delay = 0.004 if "8 ms" in name else 0
        return f"valkey://127.0.0.1:{link.port}/matrix?timeout=1000&budget=100"  # generous: tests only wait

    def of_another_name(self, path, name):
        """The session with another name of the same length, since s_client sends early data only to
        the session's name."""
        with open(path) as f:
            head, *body, tail = f.read().split("\n")[:-1]
        der = base64.b64decode("".join(body)).replace(b"localhost", name.encode())
        with open(path + "-" + name, "w") as f:
            f.write(f"{head}\n{base64.encodebytes(der).decode()}{tail}\n")
        return path + "-" + name

    def connect(self, sess_in=None, sess_out=None, early=True, name="localhost", known=()):
        """(resumed, early data accepted, a page came)"""
        early = early and sess_in
        if sess_in and name != "localhost":
            sess_in = self.of_another_name(sess_in, name)
        stays = bool(early and sess_out and self.server.ticket_last)
        tls.REQUEST = b"GET /early HTTP/1.%d\r\nHost: %s\r\n\r\n" % (stays, name.encode())
        with open(self.early, "wb") as f:
            f.write(tls.REQUEST)
        s = tls.s_client(self.server.port, sess_in, sess_out, self.early if early else None,
                         ["-servername", name, *known], stays)
        return s.reused, s.early == "accepted", s.answered

    def cell(self, program, way, shape, backend):
        os.chmod(self.dir, 0o755)
        for host, key, certificate, pair in (("localhost", "key.pem", "cert.pem", "pair.pem"),
                                             ("otherhost", "other-key.pem", "other-cert.pem", "other.pem")):
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                            "-keyout", key, "-out", certificate, "-subj", "/CN=" + host], cwd=self.dir, check=True,
                           capture_output=True, timeout=PATIENCE)
            with open(self.path(pair), "wb") as f:
                for part in (key, certificate):
                    f.write(pathlib.Path(self.path(part)).read_bytes())
        self.server = program(self, way, shape, self.backend(backend))
        used = self.life(program.early, backend)
        if shape == "early data off by name":
            self.early_data_off()
        elif shape == "certificates by name":
            self.certificates(program.early)
        self.secrets(program.early, way)
        self.server.reload()
        self.assertEqual(self.connect(used, None, program.early), (False, False, True), "after a reload")
        self.life(program.early, backend)
        self.server.quit()

    def life(self, early, backend):
        """The file of a used ticket whose successor is used, too."""
        first, second = self.path("first"), self.path("second")
        full, resumed = (False, False, True), (True, early, True)
        if backend != "pool":  # a process may issue its first ticket before it has leaves
            self.server.until(lambda: all(self.connect(None, first)[2] and self.connect(first, None, False)[0]
                                          for _ in range(6)), "leaf")
        self.assertEqual(self.connect(None, first), full)
        self.assertEqual(self.connect(first, second, early), resumed, "a ticket")
        self.assertEqual(self.connect(first, None, early), full, "the same again")
        self.assertEqual(self.connect(second, None, early), resumed, "its successor")
        self.assertEqual(self.connect(second, None, early), full, "the same again")
        return first

    def early_data_off(self):
        first = self.path("of_first")
        self.connect(None, first)
        self.assertEqual(self.connect(first, None, True, "otherhost"), (True, False, True), "early data are off there")

    def certificates(self, early):
        first, other = self.path("of_first"), self.path("of_other")
        known = ["-cert", self.path("cert.pem"), "-key", self.path("key.pem")]
        self.assertFalse(self.connect(None, None, False, "otherhost")[2], "control: without a certificate")
        self.connect(None, first)
        self.assertFalse(self.connect(first, None, early, "otherhost")[2], "with a ticket instead of a certificate")
        self.assertTrue(self.connect(None, other, False, "otherhost", known)[2])
        self.assertEqual(self.connect(other, None, early, "otherhost"), (True, early, True), "its own ticket")
        self.assertEqual(self.connect(first, None, early)[0], True, "the first context's ticket is not used up")

    def ticket_keys(self, server, ticket):
        """From the memory of the processes before the ticket is used, and of the fleet's server from its roots."""
        value = [self.fleet_value(ticket).hex()] if self.keys else []
        for pid in server.pids():
            r = subprocess.run([THIEF, str(pid), ticket.hex(), *value], capture_output=True, text=True,
                               timeout=PATIENCE)
            self.assertIn(r.returncode, (0, 1), r.stderr)
            if r.returncode == 0:
                found = [bytes.fromhex(line) for line in r.stdout.split()]
                self.assertEqual(hmac.digest(found[4], ticket[:-32], "sha256"), ticket[-32:], "control: its MAC's key")
                return dict(zip(("its leaf's value", "its first cipher key", "its first MAC key", "its cipher key",
                                 "its MAC key"), found))
        self.fail("the ticket's keys are found in no process before it is used")

    def fleet_value(self, ticket):
        """The value of a ticket's leaf, by the key for names and a root that the test has given."""
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
        import fleet
        client = self.keys.client()
        key, _ = client.name_key()
        plain = Cipher(algorithms.AES(key), modes.ECB()).decryptor().update(ticket[:16])
        tree, leaf = f"{int.from_bytes(plain[:8], 'little'):016x}", int.from_bytes(plain[8:12], "little")
        info = client.info("{matrix}:%d" % plain[14])
        self.assertEqual(info["id"].decode(), tree)
        self.assertEqual(len(client("KEYS", "*")), 1, "the first root that was drawn is its")
        value, = fleet.Tree(0).level[0]
        for bit in range(info["depth"] - 1, -1, -1):
            value = fleet.children(value)[leaf >> bit & 1]
        return value

    def all_pids(self):
        if not self.keys:
            return self.server.pids()
        client = self.keys.client()
        self.server.until(lambda: client.info("{matrix}:0")["leases"] == 0, "commit")
        return [*self.server.pids(), self.keys.process.pid]

    def secrets(self, early, way):
        with open(self.early, "wb") as f:
            f.write(b"GET /early HTTP/1.1\r\nHost: localhost\r\n\r\n")
        found = self.found_while_open(self.server, self.all_pids, early)
        if way == "module":  # freed memory is not wiped (docs/nginx.md: partial)
            found = {what: n for what, n in found.items() if "ticket's secret" not in what and "half" not in what}
        self.assertEqual(found, {})
        for client in self.held:  # a server that ends waits for them
            client.kill()


def cells():
    return [(program, way, shape, backend) for program in PROGRAMS for way in program.ways
            for shape in program.shapes for backend in BACKENDS]


def name_of(cell):
    program, way, shape, backend = cell
    return "test_%s_with_%s_%s_%s" % tuple(
        word.replace(" ", "_") for word in (program.__name__.lower(),
                                            "the_library" if program is Own else way, shape, backend))


def add(cell):
    def test(self):
        program = cell[0]
        path = os.environ["PATH"] + ":/usr/sbin"
        if program.name and not shutil.which(program.name, path=path):
            self.skipTest(f"{program.name} is not installed (package {program.package})")
        if "module" in cell[1] and nginx.missing():
            self.skipTest("not installed: " + ", ".join(nginx.missing()))
        self.cell(*cell)
    setattr(Matrix, name_of(cell), test)


def main():
    every = cells()
    chosen = every
    if not os.environ.get("ALL") and not sys.argv[1:]:
        seed = os.environ.get("SEED") or str(random.randrange(2 ** 32))
        rng = random.Random(seed)
        chosen = [rng.choice([c for c in every if c[0] is program]) for program in PROGRAMS]
        print(f"# {len(chosen)} of {len(every)} cells: SEED={seed}; ALL=1: all")
    print("# not possible: the module outside nginx; only the shim in nginx, which makes contexts of\n"
          "# either end; early data in stunnel and Apache, which have none, or off by name in HAProxy; a second\n"
          "# context or a reload in pprf-tls-server")
    for cell in chosen:
        add(cell)
    return tap.run((Matrix,), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
