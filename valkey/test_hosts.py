#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two TLS hosts that share tickets: two nginx behind a balancer that alternates between them, and a
server with the module. First flights are recorded and sent several times; the hosts' logs show
what was delivered.

  --flights N: how many flights each_ticket_is_delivered_once_at_whichever_host replays"""
import argparse
import collections
import grp
import json
import os
import random
import re
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
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
for folder in ("tls/nginx", "tls/tests", "tools", "valkey"):
    sys.path.insert(0, os.path.join(TOP, folder))
import tap  # noqa: E402

try:
    import fleet
    import test_nginx as nginx
    import test_preload as preload
    import test_tls as tls
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(0)

MODULE = os.environ.get("PPRF_MODULE", fleet.SHIPPED)
FLIGHTS = os.path.join(fleet.BUILD, "flights")
PATIENCE = 60
SEED, REPLAYS = 0, 640  # fewer might all reach one host by chance (2^-31)
HAPROXY = """global
  maxconn 512
defaults
  mode tcp
  timeout connect 10s
  timeout client 60s
  timeout server 60s
listen both
  bind 127.0.0.1:{}
  balance roundrobin
{}
"""


class Hosts(unittest.TestCase):
    def setUp(self):
        self.dir = tempfile.mkdtemp(prefix="pprf-hosts-")
        os.chmod(self.dir, 0o755)  # nginx's workers do not run as root
        self.addCleanup(shutil.rmtree, self.dir)
        self.random = random.Random(SEED)
        self.early = os.path.join(self.dir, "early")
        with open(self.early, "wb") as f:
            f.write(tls.REQUEST)

    def server(self, *options, **more):
        s = fleet.Server(*options, module=MODULE, **more)
        self.addCleanup(s.close)
        return s

    def link(self, server):
        link = fleet.Link(server.port)
        self.addCleanup(link.close)
        return link

    def host(self, *urls, **parts):
        return self.host_of(f"pprf_tickets on; pprf_tickets_backend {' '.join(urls)};" + parts.pop("more_http", ""),
                            **parts)

    def host_of(self, http, **parts):
        directory = tempfile.mkdtemp(dir=self.dir)
        os.chmod(directory, 0o755)
        parts.setdefault("workers", 2)
        # the status, for tests that wait for its counters
        host = nginx.Nginx(directory, http=http, server="location /status { pprf_tickets_status json; }",
                           **parts)
        self.addCleanup(host.stop)
        for name in ("cert.pem", "key.pem"):  # all hosts use the first one's certificate: nginx ties sessions to it
            shared = os.path.join(self.dir, name)
            if os.path.exists(shared):
                shutil.copy(shared, host.path(name))
            else:
                shutil.copy(host.path(name), shared)
        return host.start()

    @staticmethod
    def url(place, more=""):
        # generous limits, since a machine under test may be slow
        return f"valkey://127.0.0.1:{place.port}{more or '?timeout=1000&budget=100'}"

    def wait(self, holds, what):
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                self.fail(f"timed out waiting for {what}")
            time.sleep(0.02)

    def status(self, host):
        return {k: int(v) for k, v in re.findall(r'"(\w+)": (\d+)', self.json(host))}

    def servers(self, host):
        return json.loads(self.json(host))["servers"]

    @staticmethod
    def json(host):
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        with socket.create_connection(("127.0.0.1", host.port), PATIENCE) as raw, context.wrap_socket(raw) as c:
            c.sendall(b"GET /status HTTP/1.0\r\n\r\n")
            text = ""
            while more := c.recv(65536):
                text += more.decode()
        return text.partition("\r\n\r\n")[2]

    def ticket(self, host):
        """A session file from a full handshake; it does not exist if the client got no ticket."""
        path = tempfile.mktemp(dir=self.dir)
        seen = tls.s_client(host.port, sess_out=path)
        self.assertEqual((seen.handshake, seen.answered), ("full", True), seen.text)
        return path

    def offer(self, host, path):
        """What happens to an offered ticket. The request is served in any case."""
        if not os.path.exists(path):
            return "none"
        seen = tls.s_client(host.port, path, None, self.early)
        self.assertTrue(seen.answered, seen.text)
        return seen.early

    def ready(self, *hosts):
        """Wait until each host's workers have leaves and accept a ticket of every host."""
        for host in hosts:
            for other in hosts:
                self.wait(lambda: self.offer(other, self.ticket(host)) == "accepted", "a redeemed ticket")

    def flights(self, port, count, prefix):
        out = subprocess.run([FLIGHTS, str(port), str(count), prefix], check=True, capture_output=True,
                             timeout=600).stdout
        found, at = [], 0
        while at < len(out):
            n, = struct.unpack(">I", out[at:at + 4])
            found.append(out[at + 4:at + 4 + n])
            at += 4 + n
        self.assertEqual(len(found), count)
        return found

    def send(self, port, flights, threads=8):
        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(lambda f: tls.send_flight(port, f), flights))

    def delivered(self, *hosts):
        """Where each request arrived as early data: {path: [host, ...]}."""
        found = collections.defaultdict(list)
        for host in hosts:
            try:
                with open(host.path("access.log")) as f:
                    for line in f:
                        if m := re.search(r'early=1 .*"GET /(\S+) ', line):
                            found[m.group(1)].append(host)
            except FileNotFoundError:
                pass
        return found

    def balancer(self, *hosts):
        port = tap.free_port()
        path = os.path.join(self.dir, "haproxy.cfg")
        lines = "\n".join(f"  server h{i} 127.0.0.1:{h.port}" for i, h in enumerate(hosts))
        with open(path, "w") as f:
            f.write(HAPROXY.format(port, lines))
        p = subprocess.Popen(["haproxy", "-db", "-f", path], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(p.wait)
        self.addCleanup(p.kill)

        def listens():
            try:
                socket.create_connection(("127.0.0.1", port), 1).close()
                return True
            except OSError:
                return False
        self.wait(listens, "the balancer")
        return port

    def session(self, host):
        path = tempfile.mktemp(dir=self.dir)
        tls.s_client(host.port, None, path)
        return path if os.path.exists(path) else None

    def programs(self, server):
        """Functions that start pprf-tls-server, or openssl s_server with the shim."""
        keys = [os.path.join(self.dir, name) for name in ("cert.pem", "key.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-keyout", keys[1], "-out", keys[0], "-subj", "/CN=localhost"], check=True,
                       capture_output=True)

        def started(host):
            self.addCleanup(host.stop)
            return host

        def own():
            return started(tls.Server(self.dir, "--backend", self.url(server), "--cert", keys[0], "--key", keys[1]))

        def shimmed(shim=preload.SHIM):
            port = tap.free_port()
            return started(preload.Server(self.dir, ["openssl", "s_server", "-accept", f"127.0.0.1:{port}", "-cert",
                                                     keys[0], "-key", keys[1], "-www", str(port)],
                                          {"PPRF_TICKETS_BACKEND": self.url(server), "LD_PRELOAD": shim}, False))
        return own, shimmed


class Tickets(Hosts):
    def test_each_ticket_is_delivered_once_at_whichever_host(self):
        if not shutil.which("haproxy"):
            self.skipTest("haproxy is not installed")
        server = self.server()
        hosts = [self.host(self.url(server)) for _ in range(2)]
        port = self.balancer(*hosts)
        self.ready(*hosts)
        copies = 10
        count = REPLAYS // copies // 2
        before = self.flights(port, count, "before-")
        sent = before * (copies // 2)
        self.random.shuffle(sent)
        half = len(sent) // 2
        self.send(port, sent[:half])
        sender = threading.Thread(target=self.send, args=(port, sent[half:]))
        sender.start()
        server.restart(signal.SIGKILL)  # while flights are sent
        sender.join()
        self.ready(*hosts)
        after = self.flights(port, count, "after-")
        sent = before * (copies - copies // 2) + after * copies
        self.random.shuffle(sent)
        self.send(port, sent)
        self.ready(*hosts)  # then the logs contain all that was sent
        found = self.delivered(*hosts)
        old = [len(found[f"before-{i}"]) for i in range(count)]
        new = [len(found[f"after-{i}"]) for i in range(count)]
        unanswered = [self.status(h)["unanswered"] for h in hosts]
        print(f"# unanswered, including while the server was down: {unanswered}")
        print(f"# {2 * count * copies} flights of {2 * count} tickets; delivered: {sum(old)} of {count} from before "
              f"the restart, {sum(new)} of {count} from after it")
        self.assertEqual(max(old), 1)
        self.assertEqual(set(new), {1})
        places = collections.Counter(hosts.index(found[f"after-{i}"][0]) for i in range(count))
        self.assertEqual(len(places), 2, f"delivered at both: {places}")

    def test_a_ticket_of_one_host_is_good_once_at_the_other(self):
        server = self.server()
        a, b = (self.host(self.url(server)) for _ in range(2))
        self.ready(a, b)
        ticket = self.ticket(a)
        self.assertEqual([self.offer(h, ticket) for h in (b, a, b)], ["accepted", "rejected", "rejected"])
        tree = self.tree(server)
        c = server.client()
        # a resumption without early data uses the ticket up, too
        ticket = self.ticket(b)
        self.assertEqual([tls.s_client(h.port, ticket).handshake for h in (a, b)], ["resumed", "full"])
        self.assertEqual(c.info(tree)["leases"], 0)

    def test_no_ticket_is_sent_that_nobody_can_decrypt(self):
        """nor by a process that has had no connection and so has no leaves, nor while no server is
        up"""
        server = self.server()
        for program in self.programs(server):
            with self.subTest(program=program.__name__):
                host = program()
                for _ in range(10):
                    path = self.session(host)
                    self.assertTrue(path is None or tls.s_client(host.port, path).reused)
                self.wait(lambda: tls.s_client(host.port, self.session(host)).reused, "a ticket")
        server.stop()
        for program in self.programs(server):
            with self.subTest(program=program.__name__):
                host = program()
                self.assertEqual([self.session(host) for _ in range(3)], [None] * 3)

    def test_other_programs_have_it_too(self):
        server = self.server()
        for program in self.programs(server):
            with self.subTest(program=program.__name__):
                a, b = program(), program()
                for host in (a, b):
                    # each is ready once it resumes its own ticket
                    self.wait(lambda: tls.s_client(host.port, self.session(host)).reused, "a ticket")
                ticket = self.session(a)
                self.assertEqual([tls.s_client(h.port, ticket).reused for h in (b, a, b)], [True, False, False])
                ticket = self.session(b)
                self.assertEqual([tls.s_client(h.port, ticket).reused for h in (a, b)], [True, False])
        tree = self.tree(server)
        self.assertEqual(server.client().info(tree)["leases"], 0)

    def test_hosts_are_upgraded_one_by_one(self):
        """a ticket of another version costs a full handshake, and stays valid where it belongs"""
        server = self.server()
        _, host = self.programs(server)
        other = os.path.join(TOP, "build", "tls", "other_version.so")
        for options in ([], ["-tls1_2"]):
            a, b = host(), host(other)

            def ticket(h):
                path = tempfile.mktemp(dir=self.dir)
                tls.s_client(h.port, sess_out=path, options=options)
                return path

            def seen(*hosts, path):
                return [tls.s_client(h.port, path, options=options).reused for h in hosts]
            for h in (a, b):
                self.wait(lambda: seen(h, path=ticket(h)) == [True], "a ticket")
            self.assertEqual(seen(b, b, a, a, path=ticket(a)), [False, False, True, False])
            self.assertEqual(seen(a, a, b, b, path=ticket(b)), [False, False, True, False])
            old, new = ticket(b), ticket(a)
            self.assertEqual(server.client().info(self.tree(server))["leases"], 0)
            b.stop()
            c = host()
            self.wait(lambda: seen(c, path=ticket(c)) == [True], "a ticket")
            self.assertEqual(seen(c, a, path=old), [False] * 2)
            self.assertEqual(seen(c, a, path=new), [True, False])
            a.stop()
            c.stop()

    def tree(self, server):
        """The key of the tree that tickets come from."""
        keys = server.client()("KEYS", "*")
        self.assertEqual(len(keys), 1, keys)  # both hosts use the same tree
        return keys[0]

    def test_tls_1_2_and_a_second_hello(self):
        server = self.server()
        a, b = (self.host(self.url(server), more_http="ssl_ecdh_curve secp384r1;") for _ in range(2))
        for host in (a, b):  # a second ClientHello ends early data
            self.wait(lambda: tls.s_client(host.port, self.ticket(host)).handshake == "resumed", "a resumption")
        for options in (["-tls1_2"], ["-groups", "X25519:P-384"]):  # -groups: the server asks for another key share
            path = tempfile.mktemp(dir=self.dir)
            tls.s_client(a.port, sess_out=path, options=options)
            seen = [tls.s_client(h.port, path, options=options).handshake for h in (b, a, b)]
            self.assertEqual(seen, ["resumed", "full", "full"], options)

    def test_an_observer_cannot_block_a_tls_1_2_ticket(self):
        server = self.server()
        a, b = (self.host(self.url(server)) for _ in range(2))
        self.ready(a, b)
        path, options = tempfile.mktemp(dir=self.dir), ["-tls1_2"]
        tls.s_client(a.port, sess_out=path, options=options)
        copy = tls.capture(self.dir, path, None, options)
        with ExitStack() as silent:  # send a ClientHello, then nothing
            for host in (a, b, a):
                conn = silent.enter_context(socket.create_connection(("127.0.0.1", host.port), PATIENCE))
                conn.settimeout(PATIENCE)
                conn.sendall(copy)
                answer = b""
                while tls.CHANGE_CIPHER_SPEC not in [t for t, _ in tls.records(answer)]:  # the ticket was opened
                    answer += conn.recv(1) or self.fail("no answer")
            self.assertEqual(server.client().info(self.tree(server))["leases"], 0)
            seen = [tls.s_client(h.port, path, options=options).handshake for h in (b, a)]
            self.assertEqual(seen, ["resumed", "full"])

    def test_an_observer_cannot_block_a_ticket_by_silence(self):
        """after a HelloRetryRequest: the cipher suite's digest differs from the ticket's, so no
        binder is checked"""
        server = self.server()
        a, b = (self.host(self.url(server)) for _ in range(2))
        self.ready(a, b)
        for options in ([], ["-tls1_2"]):
            path = tempfile.mktemp(dir=self.dir)
            tls.s_client(a.port, sess_out=path, options=options)
            hello = tls.client_hello([tls.session(path)[0]], self.random, cipher=0x1301, share=False)
            with socket.create_connection(("127.0.0.1", b.port), PATIENCE) as silent:
                silent.settimeout(PATIENCE)
                silent.sendall(hello)
                while not list(tls.records(answer := silent.recv(4096, socket.MSG_PEEK))):
                    self.assertTrue(answer)
                self.assertEqual(answer[11:15].hex(), "cf21ad74")  # HelloRetryRequest's random bytes
                self.wait(lambda: server.client().info(self.tree(server))["leases"] == 0, "no lease")
                seen = [tls.s_client(h.port, path, options=options).handshake for h in (a, b)]
                self.assertEqual(seen, ["resumed", "full"], options)

    def test_an_observer_cannot_use_up_a_ticket(self):
        server = self.server()
        a, b = (self.host(self.url(server)) for _ in range(2))
        self.ready(a, b)
        key, c = self.tree(server), server.client()
        flight, = self.flights(a.port, 1, "mine-")
        for host in (a, b):
            tls.send_flight(host.port, self.forged(flight))
        self.wait(lambda: c.info(key)["leases"] == 0, "the lease to end")
        self.assertEqual(len(self.delivered(a, b)["mine-0"]), 0)
        for host in (b, a):
            tls.send_flight(host.port, flight)
        self.wait(lambda: self.delivered(a, b)["mine-0"], "the request")
        self.assertEqual(self.delivered(a, b)["mine-0"], [b])

    def test_what_copies_of_a_client_hello_take(self):
        """Counts of clients whose ticket a copy of their ClientHello takes, sent to the other host."""
        server, clients = self.server(), 12
        a, b = (self.host(self.url(server)) for _ in range(2))
        self.ready(a, b)
        key, c, lost = self.tree(server), server.client(), collections.Counter()
        for n in range(clients):
            near, far = ((a, b), (b, a))[n % 2]
            for which, options in (("first", []), ("second", []), ("wrong binder", []), ("TLS 1.2", ["-tls1_2"])):
                path = tempfile.mktemp(dir=self.dir)
                tls.s_client(near.port, sess_out=path, options=options)
                flight = tls.capture(self.dir, path, None if options else self.early, options)
                if which == "second":
                    lost[which] += self.offer(near, path) != "accepted"
                if which == "wrong binder":
                    flight = self.forged(flight)
                tls.send_flight(far.port, flight)
                self.wait(lambda: c.info(key)["leases"] == 0, "the lease's end")
                if options:
                    lost[which] += not tls.s_client(near.port, path, options=options).reused
                elif which != "second":
                    lost[which] += self.offer(near, path) != "accepted"
        print(f"# of {clients} clients lost their ticket: {dict(lost)}")
        self.assertEqual(lost, {"first": clients, "second": 0, "wrong binder": 0, "TLS 1.2": 0})

    def test_a_copy_with_a_wrong_binder_holds_a_ticket_for_a_round_trip_only(self):
        server = self.server()
        link = self.link(server)
        a, b = self.host(self.url(link), workers=1), self.host(self.url(server))
        self.ready(a, b)
        key, c = self.tree(server), server.client()
        link.delay = 0.4

        def denied():
            ticket = self.ticket(b)
            copy = self.forged(tls.capture(self.dir, ticket, self.early))
            sender = threading.Thread(target=tls.send_flight, args=(a.port, copy))
            sender.start()
            self.wait(lambda: c.info(key)["leases"] or not sender.is_alive(), "the copy's lease")
            seen = self.offer(b, ticket)
            sender.join()
            self.wait(lambda: c.info(key)["leases"] == 0, "the lease's end")
            return seen == "rejected" and self.offer(b, ticket) == "accepted"
        self.wait(denied, "a ticket that a copy holds, and that works afterwards")

    @staticmethod
    def forged(flight):
        """A first flight whose binder, at the end of the ClientHello, is wrong."""
        hello = 5 + struct.unpack(">H", flight[3:5])[0]
        return flight[:hello - 1] + bytes([flight[hello - 1] ^ 1]) + flight[hello:]


class Trouble(Hosts):
    def test_the_server_is_killed_and_comes_back(self):
        server = self.server()
        a, b = (self.host(self.url(server)) for _ in range(2))
        self.ready(a, b)
        ticket = self.ticket(a)
        server.stop(signal.SIGKILL)
        for host in (a, b):
            self.assertEqual(self.offer(host, ticket), "rejected")
        server.start()
        self.ready(a, b)
        self.assertEqual(self.offer(a, ticket), "rejected")  # its tree was lost
        self.assertEqual([self.offer(h, self.ticket(a)) for h in (b, a)], ["accepted"] * 2)

    def test_without_a_server_from_the_start(self):
        server = self.server()
        server.stop()
        host = self.host(self.url(server))
        self.assertEqual(self.offer(host, self.ticket(host)), "none")
        self.assertEqual(self.status(host)["not_issued"], 4)  # including this connection's
        server.start()
        self.ready(host)

    def test_a_server_that_stands_still(self):
        server = self.server()
        a, b = (self.host(self.url(server, "?timeout=200&budget=100")) for _ in range(2))
        self.ready(a, b)
        tickets, before = [self.ticket(a) for _ in range(6)], self.status(b)["unanswered"]
        server.process.send_signal(signal.SIGSTOP)
        try:
            for ticket in tickets:
                self.assertEqual(self.offer(b, ticket), "rejected")  # served, with a full handshake
            self.assertEqual(self.status(b)["unanswered"] - before, len(tickets))
        finally:
            server.process.send_signal(signal.SIGCONT)
        self.ready(a, b)
        # claims that reached the server meanwhile are leases that no host holds; they end as
        # punctures
        for ticket in tickets:
            self.offer(a, ticket)
            self.assertEqual(self.offer(b, ticket), "rejected")

    def test_a_slow_server(self):
        """an answer within the timeout is used, however slow; the host does not wait for a later
        one"""
        server = self.server()
        link = self.link(server)
        a, b = self.host(self.url(link, "?timeout=800&budget=100")), self.host(self.url(server))
        link.delay = 0.02  # in each direction
        self.ready(a, b)
        self.assertEqual(self.offer(a, self.ticket(b)), "accepted")
        tickets, before = [self.ticket(b) for _ in range(4)], self.status(a)["unanswered"]
        link.delay = 2
        for ticket in tickets:
            self.assertEqual(self.offer(a, ticket), "rejected")
        self.assertEqual(self.status(a)["unanswered"] - before, 4)
        link.delay = 0
        self.ready(a, b)

    def test_a_host_that_is_cut_off(self):
        server = self.server()
        link = self.link(server)
        a, b = self.host(self.url(link)), self.host(self.url(server))
        self.ready(a, b)
        first, second = self.ticket(a), self.ticket(a)
        link.cut()
        for _ in range(2):
            self.assertEqual(self.offer(a, first), "rejected")
        self.assertEqual(self.offer(b, first), "accepted")  # the server was never asked about it
        self.assertEqual(self.offer(b, first), "rejected")
        self.assertEqual(self.offer(b, self.ticket(a)), "accepted")  # sealed now, with a leaf fetched before the cut
        link.heal()
        self.ready(a, b)
        self.assertEqual([self.offer(h, second) for h in (a, b)], ["accepted", "rejected"])

    def test_an_answer_that_is_lost(self):
        server = self.server()
        link = self.link(server)
        a, b = self.host(self.url(link), workers=1), self.host(self.url(server))
        self.ready(a, b)
        ticket = self.ticket(a)
        link.cut(answers_only=True)
        self.assertEqual(self.offer(a, ticket), "rejected")
        for _ in range(3):
            self.assertEqual(self.offer(b, ticket), "rejected")  # first leased to a, then punctured
        link.heal()
        self.ready(a, b)
        self.assertEqual([self.offer(h, ticket) for h in (a, b)], ["rejected"] * 2)

    def test_servers_are_independent(self):
        servers = [self.server() for _ in range(2)]
        urls = [self.url(s) for s in servers]
        a, b = self.host(*urls, workers=1), self.host(*reversed(urls), workers=1)
        self.ready(a, b)
        self.wait(lambda: all(s.client()("KEYS", "*") for s in servers), "a tree on each")
        tickets = []
        for _ in range(12):  # s_client keeps the second of two tickets, and servers alternate: five tickets at a time
            tickets.append(self.ticket(a))
            self.assertEqual(tls.s_client(a.port, self.ticket(a)).handshake, "resumed")
        claimed = [self.claims(s) for s in servers]
        for ticket in tickets[:6]:
            self.assertEqual(self.offer(b, ticket), "accepted")
        self.assertEqual(sum(map(self.claims, servers)) - sum(claimed), 6)
        servers[0].stop(signal.SIGKILL)
        self.ready(a, b)  # only with the other server's tickets
        good = sum(self.offer(b, t) == "accepted" for t in tickets[6:])
        self.assertEqual([self.offer(a, t) for t in tickets], ["rejected"] * 12)
        self.assertEqual(good, 3)

    @staticmethod
    def claims(server):
        text = server.client()("INFO", "pprf").decode()
        return int(re.search(r"pprf_claims:(\d+)", text).group(1))


class Configuration(Hosts):
    def test_acl_user_and_names(self):
        server = self.server()
        c = server.client()
        with open(os.path.join(TOP, "docs", "fleet.md")) as f:
            rules = re.search(r"^user tls-hosts on >PASSWORD (.*)$", f.read(), re.M).group(1).split()
        c("ACL", "SETUSER", "tls-hosts", "on", ">se cr:et", *rules)
        c("ACL", "SETUSER", "may-not-puncture", "on", "nopass", "~{web}:*", "resetchannels", "+@all", "-pprf.punct")
        c("ACL", "SETUSER", "default", "resetpass", "nopass", "-pprf.namekey")
        place = f"127.0.0.1:{server.port}"
        good = self.host(f"valkey://tls-hosts:se%20cr%3aet@{place}/web?timeout=1000&budget=100")
        self.ready(good)
        self.assertEqual(c("KEYS", "*"), [b"{web}:0"])
        passfile = os.path.join(self.dir, "pass")
        with open(passfile, "w") as f:
            f.write("se cr:et\n")
        other = self.host(f"redis://tls-hosts@{place}?passfile={passfile}&name=web&timeout=1000")
        self.ready(good, other)
        good.stop()
        self.assertNotIn(b"pprf_leaves_returned:0\r", c("INFO", "pprf"))
        for wrong, why in ((f"valkey://tls-hosts:other@{place}/web", "wrong user or password"),
                           (f"valkey://tls-hosts:se%20cr%3aet@{place}/mail", "its user may not use these keys"),
                           (f"valkey://{place}/web", "its user may not use PPRF.NAMEKEY"),
                           (f"valkey://may-not-puncture:any@{place}/web", "its user may not use PPRF.PUNCT")):
            self.useless(wrong, why)

    def test_the_documented_server_serves_the_documented_hosts(self):
        """the two files of docs/fleet.md, with other paths: one host uses the socket, one the user
        and password"""
        if os.getuid() != 0:
            self.skipTest("needs root, to give the server the group of nginx's workers")
        with open(os.path.join(TOP, "docs", "fleet.md")) as f:
            conf, nginx_conf = re.search(r"```\n(# valkey.conf.*?)```\n```\n(# nginx.conf.*?)```", f.read(),
                                         re.S).groups()
        folder = tempfile.mkdtemp(prefix="pprf-fleet-", dir=self.dir)
        os.chmod(folder, 0o755)
        paths = {"/usr/local/lib/pprf/pprf.so": MODULE, "/run/valkey/pprf.sock": os.path.join(folder, "sock")}
        for path, here in paths.items():
            self.assertIn(path, conf + nginx_conf)
            conf, nginx_conf = conf.replace(path, here), nginx_conf.replace(path, here)
        with open(os.path.join(folder, "conf"), "w") as f:
            f.write(conf)
        port = tap.free_port()
        group = grp.getgrnam("nogroup").gr_gid
        os.chown(folder, 0, group)
        server = subprocess.Popen(["setpriv", f"--regid={group}", "--clear-groups", fleet.SERVER,
                                   os.path.join(folder, "conf"), "--port", str(port), "--bind", "127.0.0.1"],
                                  cwd=self.dir, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        a = self.host_of(nginx_conf)
        b = self.host(f"valkey://tls-hosts:PASSWORD@127.0.0.1:{port}/web?timeout=1000&budget=100")
        self.ready(a, b)
        self.assertEqual([seen["failure"] for seen in self.servers(a) + self.servers(b)], ["", ""])
        ticket = self.ticket(a)
        self.assertEqual([self.offer(h, ticket) for h in (b, a)], ["accepted", "rejected"])

    def test_a_unix_socket(self):
        server = self.server("--unixsocketperm", "777")
        os.chmod(server.dir, 0o755)
        path = os.path.join(server.dir, "socket")
        a, b = self.host(f"unix://{path}?timeout=1000&budget=100"), self.host(self.url(server))
        self.ready(a, b)

    def test_tls_to_the_server(self):
        for name, issuer in (("ca", None), ("other", None), ("server", "ca"), ("client", "ca"), ("liar", "other")):
            self.certificate(name, issuer)
        port = tap.free_port()
        file = lambda name: os.path.join(self.dir, name)  # noqa: E731
        self.server("--tls-port", str(port), "--tls-cert-file", file("server.crt"), "--tls-key-file",
                    file("server.key"), "--tls-ca-cert-file", file("ca.crt"), "--tls-auth-clients", "yes",
                    bind=("127.0.0.2",))
        own = f"cert={file('client.crt')}&key={file('client.key')}"
        a, b = (self.host(f"valkeys://localhost:{port}?timeout=1000&budget=100&ca={file('ca.crt')}&{own}")
                for _ in range(2))
        self.ready(a, b)
        for wrong, why in (
                (f"valkeys://localhost:{port}?ca={file('other.crt')}&{own}", "its certificate is not valid"),
                (f"valkeys://localhost:{port}?ca={file('ca.crt')}", "it refuses the client certificate, or wants one"),
                (f"valkeys://127.0.0.2:{port}?ca={file('ca.crt')}&{own}", "its certificate is not valid: not its name"),
                (f"valkey://localhost:{port}", "it ends connections at once: a port with TLS")):
            host = self.useless(wrong, why)
            self.assertEqual(self.status(host)["connected"], 0, wrong)
        # a reload reads the files again
        for name in ("ca.crt", "client.crt", "client.key"):
            shutil.copy(file(name), file("new-" + name))
        for name in ("other.crt", "liar.crt", "liar.key"):
            shutil.copy(file(name), file("new-" + name.replace("other", "ca").replace("liar", "client")))
        url = f"valkeys://localhost:{port}?timeout=1000&budget=100&ca={file('new-ca.crt')}" \
              f"&cert={file('new-client.crt')}&key={file('new-client.key')}"
        host = self.useless(url, "its certificate is not valid")
        os.remove(file("new-ca.crt"))
        host.process.send_signal(signal.SIGHUP)
        self.wait(lambda: '"pprf_tickets_backend": the tickets\' server gives' in host.errors(), "a refused reload")
        for name in ("ca.crt", "client.crt", "client.key"):
            shutil.copy(file(name), file("new-" + name))
        self.again(host, url)
        self.ready(host)
        self.assertEqual(self.servers(host)[0]["failure"], "")

    def test_a_reload_reads_a_password_again(self):
        server, passfile = self.server(), os.path.join(self.dir, "pass")
        c = server.client()

        def password(word):
            with open(passfile, "w") as f:
                f.write(word + "\n")
            os.chmod(passfile, 0o600)  # only the master process reads it
            c("ACL", "SETUSER", "hosts", "on", "resetpass", ">" + word, "~*", "+@all")
        password("one")
        url = f"valkey://hosts@127.0.0.1:{server.port}?passfile={passfile}&timeout=1000&budget=100"
        host = self.host(url)
        self.ready(host)
        password("two")
        self.again(host, url)
        c("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")  # close the old workers' connections
        self.ready(host)
        ticket = self.ticket(host)
        self.again(host, url)
        self.assertEqual(self.offer(host, ticket), "accepted")

    def test_a_name_without_an_address_is_no_error(self):
        host = self.useless("valkey://no-such-host.invalid", "its host name has no address")
        self.assertEqual(self.servers(host)[0]["up"], 0)

    def test_failures_are_told_by_every_program_once(self):
        server = self.server()
        server.stop()
        words = f"server 1, valkey://127.0.0.1:{server.port}/pprf: nothing listens there"
        host = self.useless(self.url(server), "nothing listens there")
        for program in self.programs(server):
            with self.subTest(program=program.__name__):
                other = program()
                self.wait(lambda: (self.session(other), self.said(other))[1].count(words) == 1, words)
                for _ in range(5):
                    self.session(other)
                self.assertEqual(self.said(other).count(words), 1)
        self.assertEqual(host.errors().count(words), 1)
        server.start()
        self.ready(host)
        seen, = self.servers(host)
        self.assertEqual((seen["server"], seen["up"], seen["failure"]),
                         (f"valkey://127.0.0.1:{server.port}/pprf", 1, ""))
        self.assertGreater(seen["round_trip_us"], 0)
        server.stop()
        self.wait(lambda: self.servers(host)[0]["up"] == 0, "the server's end in the status")
        self.wait(lambda: host.errors().count(words) == 2, "the same failure in the log again")

    def test_keys_are_rotated_and_revoked_by_a_request_at_any_host(self):
        server = self.server()
        control = "server { listen 127.0.0.1:%d; location / { pprf_tickets_control; } }"
        ports = [tap.free_port() for _ in range(2)]
        a, b = (self.host(self.url(server), more_http=control % port, workers=1) for port in ports)
        self.ready(a, b)

        def order(host, word):
            with socket.create_connection(("127.0.0.1", ports[(a, b).index(host)]), PATIENCE) as s:
                s.sendall(f"POST /?{word} HTTP/1.0\r\nContent-Length: 0\r\n\r\n".encode())
                return int(b"".join(iter(lambda: s.recv(4096), b"")).split()[1])
        old = [self.ticket(a) for _ in range(3)]
        self.assertEqual(order(b, "rotate"), 204)
        new = self.ticket(b)
        self.assertEqual([self.offer(h, old.pop()) for h in (a, b)], ["accepted"] * 2)
        c = server.client()
        rotated, = [k for k in c("KEYS", "*") if c.info(k)["lease_ms"] == 10001]
        self.wait(lambda: (self.ticket(b), c.info(rotated)["issued"] > 0)[1], "leaves of the new tree")
        c("DEL", *(k for k in c("KEYS", "*") if k != rotated))
        self.assertEqual(self.offer(a, new), "accepted")
        new = self.ticket(b)
        self.assertEqual(order(a, "revoke"), 204)
        self.assertEqual([self.offer(h, t) for h in (a, b) for t in (new, *old)], ["rejected"] * 4)
        self.ready(a, b)
        server.stop(signal.SIGKILL)
        self.wait(lambda: order(a, "revoke") == 502, "the connection's end")
        self.assertIn("pprf_tickets: revoke: not done at every server of pprf_tickets_backend", a.errors())
        server.start()
        self.ready(a, b)

    def test_alerts_are_about_metrics_that_there_are(self):
        """and promtool accepts the file, if it is installed"""
        path, server = os.path.join(TOP, "tls", "nginx", "alerts.yml"), self.server()
        c = server.client()
        host = self.host(self.url(server), more_http="server { listen 127.0.0.1:%d; "
                         "location / { pprf_tickets_status prometheus; } }" % (port := tap.free_port()))
        self.ready(host)
        c("ACL", "SETUSER", "default", "-pprf.return")  # so that a failure is shown, too
        c("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")

        def metrics():
            with socket.create_connection(("127.0.0.1", port), PATIENCE) as s:
                s.sendall(b"GET / HTTP/1.0\r\n\r\n")
                text = b"".join(iter(lambda: s.recv(65536), b"")).decode()
            lines = (shown := text.partition("\r\n\r\n")[2]).splitlines()
            kinds = {line.split()[2]: line.split()[3] for line in lines if line.startswith("# TYPE")}
            found = {}
            for line in lines:
                if not line.startswith("#"):
                    name, labels, value = re.fullmatch(r'(\w+)(?:{((?:\w+="[^"]*",?)+)})? (\d+|\+Inf)', line).groups()
                    found.setdefault(name, []).append((labels, value))
            self.assertLessEqual(set(found), set(kinds))
            if shutil.which("promtool"):  # its other answers are advice on names
                r = subprocess.run(["promtool", "check", "metrics"], input=shown, text=True, capture_output=True,
                                   timeout=PATIENCE)
                self.assertIn(r.returncode, (0, 3), r.stderr)
            return found
        self.wait(lambda: "pprf_tickets_server_failure" in metrics(), "the failure")
        found = metrics()
        place = f'server="valkey://127.0.0.1:{server.port}/pprf"'
        self.assertEqual(found["pprf_tickets_server_up"], [(place, "1")])
        self.assertEqual(found["pprf_tickets_server_trees"], [(place, "1")])
        self.assertEqual(found["pprf_tickets_server_failure"],
                         [(place + ',failure="its user may not use PPRF.RETURN"', "1")])
        with open(path) as f:
            named = set(re.findall(r"pprf_tickets_\w+", re.sub(r"#.*|summary:.*|name:.*", "", f.read())))
        self.assertGreaterEqual(len(named), 9)
        self.assertEqual(named - set(found), set())
        if shutil.which("promtool"):
            subprocess.run(["promtool", "check", "rules", path], check=True, capture_output=True, timeout=PATIENCE)
        else:
            print("# promtool is not installed: alerts.yml was not checked")

    @staticmethod
    def said(program):
        """What a program has logged."""
        with open(getattr(program, "log", program.out.name), errors="replace") as f:
            return f.read()

    def useless(self, url, why):
        """A host that cannot use its server says so once, and serves."""
        host = self.host(url)
        self.assertEqual(self.offer(host, self.ticket(host)), "none")
        self.assertGreater(self.status(host)["not_issued"], 0)
        self.wait(lambda: host.errors().count(why) == 1, why)
        self.assertIn(why, self.servers(host)[0]["failure"])
        return host

    def again(self, host, url):
        host.reload(workers=2, http=f"pprf_tickets on; pprf_tickets_backend {url};",
                    server="location /status { pprf_tickets_status json; }")

    def certificate(self, name, issuer):
        path = os.path.join(self.dir, name)
        subprocess.run(["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout",
                        path + ".key", "-subj", f"/CN={name}", *(("-x509",) if not issuer else ()), "-out",
                        path + (".csr" if issuer else ".crt")], check=True, capture_output=True)
        if issuer:
            with open(path + ".ext", "w") as f:
                f.write("subjectAltName=DNS:localhost,IP:127.0.0.1\n")
            by = os.path.join(self.dir, issuer)
            subprocess.run(["openssl", "x509", "-req", "-in", path + ".csr", "-CA", by + ".crt", "-CAkey", by + ".key",
                            "-CAcreateserial", "-extfile", path + ".ext", "-out", path + ".crt"], check=True,
                           capture_output=True)
        os.chmod(path + ".key", 0o644)  # the server may run as another user

    def test_what_is_refused(self):
        for urls, words in (
                (["valkey://h:1"] * 9, "more than 8"),
                (["valkey://h:1", "valkey://h:x"], "server 2 of \"pprf_tickets_backend\": the port"),
                (["valkeys://localhost?ca=/no/such/file"], "its password file or certificate cannot be used")):
            with self.subTest(urls=urls):
                host = nginx.Nginx(self.dir, http=f"pprf_tickets on; pprf_tickets_backend {' '.join(urls)};")
                status, text = host.check()
                self.assertNotEqual(status, 0)
                self.assertIn(words, text)
        for more in ("pprf_tickets_rotation 3h;", "pprf_tickets_memory 1g;", "pprf_tickets_lifetime 6d;",
                     "pprf_tickets_backend valkey://127.0.0.1;"):
            host = nginx.Nginx(self.dir, http=f"pprf_tickets on; pprf_tickets_backend valkey://127.0.0.1; {more}")
            self.assertNotEqual(host.check()[0], 0, more)

    def test_reloads_use_no_leaves_up(self):
        """ten reloads of four workers, each with a redeemed ticket: leaves of old workers are
        issued again"""
        server = self.server()
        host = self.host(self.url(server), workers=4)
        http = f"pprf_tickets on; pprf_tickets_backend {self.url(server)};"
        self.ready(host)
        key, c = "{pprf}:0", server.client()

        def held():
            return c.info(key)["issued"] - self.status(host)["issued"]
        for _ in range(10):
            host.reload(workers=4, http=http, server="location /status { pprf_tickets_status json; }")
            self.ready(host)
        self.wait(lambda: held() <= 4 * 2 * 16, "the old workers to return their leaves")
        issued = int(re.search(rb"pprf_leaves_issued:(\d+)", c("INFO", "pprf")).group(1))
        print(f"# 10 reloads of 4 workers, {self.status(host)['issued']} tickets: {issued} leaves were issued, "
              f"of which {c.info(key)['issued']} cannot be issued again")

    def test_a_reload_and_a_new_binary_keep_the_tickets(self):
        server = self.server()
        host = self.host(self.url(server))
        self.ready(host)
        http = f"pprf_tickets on; pprf_tickets_backend {self.url(server)};"
        ticket = self.ticket(host)
        host.reload(workers=2, http=http)
        self.assertEqual([self.offer(host, ticket) for _ in range(2)], ["accepted", "rejected"])
        self.ready(host)
        ticket = self.ticket(host)
        host.stop()
        again = self.host(self.url(server))
        self.ready(again)
        self.assertEqual([self.offer(again, ticket) for _ in range(2)], ["accepted", "rejected"])


def main():
    global REPLAYS, SEED
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    p.add_argument("--flights", type=int, default=REPLAYS)
    p.add_argument("test", nargs="*")
    a = p.parse_args()
    SEED, REPLAYS = a.seed, a.flights
    for name, found in (("valkey-server nor redis-server", fleet.SERVER), ("nginx", shutil.which("nginx")),
                        ("the nginx module", os.path.exists(nginx.MODULE))):
        if not found:
            print(f"1..0 # SKIP {name} is installed")
            return 0
    return tap.run((Tickets, Trouble, Configuration), a.test, SEED)


if __name__ == "__main__":
    sys.exit(main())
