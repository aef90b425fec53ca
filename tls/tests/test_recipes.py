#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The configurations of docs/nginx.md for HAProxy, Apache and a container, as they are printed, with other paths and
ports.  Each lives through what a cell of test_matrix.py does.  Emits TAP.

Usage: tls/tests/test_recipes.py [TEST...]"""
import http.server
import os
import re
import shlex
import shutil
import signal
import sys
import threading

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import test_matrix as matrix  # noqa: E402
from test_matrix import nginx, tap, tls  # noqa: E402

LIBRARY = "/usr/local/lib"


def blocks(heading):
    """The literal blocks of a section of docs/nginx.md: [(language, text)]."""
    with open(os.path.join(matrix.TOP, "docs", "nginx.md")) as f:
        section, = re.findall(rf"^#+ {heading}\n(.*?)^#+ \w", f.read(), re.S | re.M)
    return re.findall(r"^```(\w+)\n(.*?)^```$", section, re.S | re.M)


class Application(http.server.BaseHTTPRequestHandler):
    """Behind the documented servers."""
    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Length", "10")
        self.end_headers()
        self.wfile.write(b"<p>served\n")

    def log_message(self, *_):
        pass


class Recipe(matrix.Program):
    keeps = True  # a reload keeps unused tickets

    def replaced(self, text, paths):
        """The text with a test's paths and ports; each of them has to be there."""
        for old, new in paths.items():
            self.case.assertIn(old, text)
            text = text.replace(old, new)
        return text

    def application(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Application)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.case.addCleanup(server.server_close)
        self.case.addCleanup(server.shutdown)
        return f"127.0.0.1:{server.server_port}"

    def variables(self, text, pattern):
        """What a block sets in the environment, with the shim that was built."""
        found = dict(re.findall(pattern, text, re.M))
        found["LD_PRELOAD"] = self.replaced(found["LD_PRELOAD"], {LIBRARY: os.path.dirname(matrix.SHIM)})
        return found


class HAProxy(Recipe, matrix.HAProxy):
    keeps = False

    def configure(self):
        (_, drop_in), = blocks("HAProxy and other programs: the preload shim")[-1:]
        self.environment = dict(os.environ, **self.variables(drop_in, r"^Environment=(\w+)=(.*)$"))
        (_, text), = blocks("HAProxy")
        self.write("haproxy.cfg", self.replaced(text, {
            ":443 ": f"127.0.0.1:{self.port} ", "/etc/haproxy/example.pem": "pair.pem",
            "127.0.0.1:8080": self.application()}))


class Apache(Recipe, matrix.Apache):
    def configure(self):
        (_, site), (_, variables) = blocks("Apache")
        shutil.rmtree(self.case.path("apache2"), ignore_errors=True)
        root, path = self.case.path("apache2"), self.case.path
        shutil.copytree("/etc/apache2", root, symlinks=True)
        for name in ("run", "lock", "logs", "www"):
            os.makedirs(path(name), exist_ok=True)
        self.write("www/index.html", "<p>served\n")
        self.write("apache2/sites-available/example.conf", self.replaced(site, {
            "*:443": f"127.0.0.1:{self.port}", "/var/www/html": path("www"), "/etc/ssl/example.crt": path("cert.pem"),
            "/etc/ssl/example.key": path("key.pem")}) + "<Location />\nRequire all granted\n</Location>\n"
            "FallbackResource /index.html\n")
        self.write("apache2/ports.conf", f"Listen 127.0.0.1:{self.port}\n")
        with open(path("apache2/envvars"), "a") as f:
            f.write(f"export APACHE_PID_FILE={path('pid')} APACHE_RUN_DIR={path('run')} APACHE_LOCK_DIR={path('lock')} "
                    f"APACHE_LOG_DIR={path('logs')}\n"
                    + self.replaced(variables, {LIBRARY: os.path.dirname(matrix.SHIM)}))
        self.environment = dict(os.environ, APACHE_CONFDIR=root, PATH=os.environ["PATH"] + ":/usr/sbin")
        for word, what in (("a2dissite", "000-default"), ("a2enmod", "ssl"), ("a2ensite", "example")):
            matrix.subprocess.run([word, what], env=self.environment, check=True, capture_output=True)

    def command(self):
        return ["/usr/sbin/apache2ctl", "-DFOREGROUND"]

    def master(self):
        return self.pids()[1]


class Container(Recipe, matrix.Nginx):
    """The command of a container's engine, each option by what it makes the kernel do."""
    memlock = None  # instead of the documented limit

    def configure(self):
        (_, command), (_, conf) = blocks("In a container")
        path = self.case.path
        for file in (matrix.SHIM, nginx.MODULE):  # where a user without rights can read them
            shutil.copy(file, path(os.path.basename(file)))
        os.chmod(path("key.pem"), 0o644)
        self.write("nginx.conf", self.replaced(conf, {
            LIBRARY + "/nginx/modules": self.case.dir, "8443": f"127.0.0.1:{self.port}",
            "/etc/ssl/example/example.crt": path("cert.pem"), "/etc/ssl/example/example.key": path("key.pem"),
            "127.0.0.1:8080": self.application()}))
        words = shlex.split(self.replaced(command, {LIBRARY: self.case.dir, "\\\n": ""}))
        self.case.assertEqual(words[:2], ["docker", "run"])
        self.environment = dict(os.environ)
        script, privileges, limits, at = ["set -e", "echo 2 >/proc/sys/vm/memfd_noexec"], [], [], 2
        last, read_only = [], False
        while words[at].startswith("--"):
            option, value, at = words[at], words[at + 1], at + 2
            if option == "--read-only":
                read_only, at = True, at - 1
            elif option == "--tmpfs":
                script.append(f"mount -t tmpfs -o mode=1777 none {value}")
            elif option == "--user":
                user, group = value.split(":")
                privileges += [f"--reuid={user}", f"--regid={group}", "--clear-groups"]
            elif (option, value) == ("--cap-drop", "ALL"):
                privileges += ["--bounding-set=-all", "--inh-caps=-all"]
            elif (option, value) == ("--security-opt", "no-new-privileges"):
                privileges += ["--no-new-privs"]
            elif option == "--ulimit":
                name, limit = value.split("=")
                limits.append(f"--{name}=" + (self.memlock or limit.replace("-1", "unlimited")))
            elif option == "--env":
                last.append(value)
            elif (option, value) == ("--volume", "./nginx.conf:/etc/nginx/nginx.conf:ro"):
                script.append(f"mount --bind {path('nginx.conf')} /etc/nginx/nginx.conf")
            elif option == "--stop-signal":
                self.quits = getattr(signal, value)
            elif option not in ("--publish", "--volume"):
                self.case.fail(f"{option}: what does it do?")
        script += ["mount -o remount,bind,ro /"] if read_only else []
        script += ["! touch /usr/written 2>/dev/null",
                   shlex.join(["exec", "prlimit", *limits, "setpriv", *privileges, "env", *last, *words[at + 1:]])]
        self.script = "\n".join(script)

    def command(self):
        return ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc", "sh", "-c", self.script]

    def text(self):
        return matrix.Program.text(self)

    def master(self):
        return self.pids()[1]

    def status(self):
        context = tls.ssl._create_unverified_context()
        with tls.socket.create_connection(("127.0.0.1", self.port), matrix.PATIENCE) as raw, \
                context.wrap_socket(raw) as s:
            s.sendall(b"GET /tickets HTTP/1.0\r\n\r\n")
            return dict(re.findall(r"^(\w+) (\S+)$", b"".join(iter(lambda: s.recv(65536), b"")).decode(), re.M))


class Recipes(matrix.Matrix):
    def test_haproxy_as_documented(self):
        self.whole(HAProxy, "shim")

    def test_apache_as_documented(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, as Debian's Apache does")
        self.whole(Apache, "shim")

    def test_a_container_as_documented(self):
        if os.geteuid() != 0:
            self.skipTest("needs root, to make the namespaces")
        self.whole(Container, "module and shim")
        for limit, unlocked in (("65536", True), (None, False)):
            Container.memlock = limit
            self.addCleanup(setattr, Container, "memlock", None)
            server = Container(self, "module and shim", "one context", "")
            status = server.status()
            self.assertEqual((status["unlocked_bytes"] != "0", status["wiping"]), (unlocked, "full"))
            server.quit()

    def secrets(self, *_):
        """What stays in memory is the matrix' subject."""

    def whole(self, program, way):
        path = os.environ["PATH"] + ":/usr/sbin"
        if not shutil.which(program.name, path=path):
            self.skipTest(f"{program.name} is not installed (package {program.package})")
        if "module" in way and nginx.missing():
            self.skipTest("not installed: " + ", ".join(nginx.missing()))
        self.cell(program, way, "one context", "pool")
        self.server, ticket = program(self, way, "one context", ""), self.path("unused")
        self.connect(None, ticket)
        self.server.reload()
        seen = self.connect(ticket, None, program.early)
        self.assertEqual(seen, (program.keeps, program.keeps and program.early, True))
        self.server.quit()


if __name__ == "__main__":
    sys.exit(tap.run((Recipes,), sys.argv[1:]))
