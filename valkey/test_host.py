#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the library's part in the fleet, without TLS: processes seal, open, redeem and release
tickets of one server, and the tests search their memory."""
import argparse
import os
import random
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))
sys.path.insert(0, HERE)
import tap  # noqa: E402

try:
    import fleet
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(0)

PROGRAM = os.environ.get("PPRF_HOST", os.path.join(fleet.BUILD, "host"))
CHECKED = os.path.join(fleet.BUILD, "host_checked")  # built with AddressSanitizer
PATIENCE = int(os.environ.get("PATIENCE") or 60)
SEED = 0
OK, PUNCTURED, FORMAT, BACKEND = "error 0", "error 1", "error 5", "error 37"


class Failed(Exception):
    pass


class Host:
    def __init__(self, case, *urls, depth=10, lifetime=7200, program=None, prefix=(), environment=None):
        self.p = subprocess.Popen([*prefix, program or PROGRAM, str(depth), str(lifetime), *urls], text=True,
                                  env=dict(os.environ, **(environment or {})), stdin=subprocess.PIPE,
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        case.addCleanup(self.close)
        self.answer()

    def answer(self):
        watchdog = threading.Timer(PATIENCE, self.p.kill)
        watchdog.start()
        line = self.p.stdout.readline()
        watchdog.cancel()
        if not line:
            self.p.kill()
            raise Failed(f"the host exited:\n{self.p.stderr.read()}")
        return line.rstrip("\n")

    def __call__(self, *words):
        self.p.stdin.write(" ".join(words) + "\n")
        self.p.stdin.flush()
        return self.answer()

    def seal(self):
        """A ticket, as soon as one can be made."""
        end = time.monotonic() + PATIENCE
        while (ticket := self("seal")) == BACKEND and time.monotonic() < end:
            time.sleep(0.01)
        if ticket.startswith("error"):
            raise Failed(ticket)
        return ticket

    def use(self, ticket):
        number = self("open", ticket)
        return number if number.startswith("error") else self("redeem", number)

    def stats(self):
        return {k: int(v) for k, v in (f.split("=") for f in self("stats").split())}

    def end(self):
        """Close its input; returns its last line and its exit status."""
        self.p.stdin.close()
        return self.answer(), self.p.wait(PATIENCE)

    def close(self):
        self.p.kill()
        self.p.wait()
        for pipe in (self.p.stdin, self.p.stdout, self.p.stderr):
            try:
                pipe.close()
            except BrokenPipeError:
                pass


class Case(unittest.TestCase):
    def setUp(self):
        self.random = random.Random(SEED)
        self.server = fleet.Server()
        self.addCleanup(self.server.close)
        self.patient = f"valkey://127.0.0.1:{self.server.port}?timeout=1000"
        self.url = self.patient + "&budget=100"  # generous: these tests only wait for servers

    def host(self, **more):
        return Host(self, self.url, **more)

    def counted(self, what, section="pprf", prefix="pprf_"):
        text = self.server.client()("INFO", section).decode()
        return int(re.search(rf"^{prefix}{what}[:=](?:calls=)?(\d+)", text, re.M).group(1))

    def wait(self, holds, what):
        end = time.monotonic() + PATIENCE
        while not holds():
            if time.monotonic() > end:
                self.fail(f"timed out waiting for {what}")
            time.sleep(0.02)


class Tickets(Case):
    def test_exactly_one_call_redeems(self):
        a, b = self.host(), self.host()
        a.seal()
        b.seal()  # both are connected
        for first, second in ((a, a), (a, b), (b, a)):
            ticket = first.seal()
            number = first("open", ticket)
            for host in (a, b):
                self.assertEqual(host("open", ticket), PUNCTURED)  # it is leased
            self.assertEqual(second("redeem", str(int(number) + 1)), PUNCTURED)
            self.assertEqual(first("release", number), OK)
            self.assertEqual(first("redeem", number), PUNCTURED)  # it was released
            other = second("open", ticket)
            self.assertEqual(second("redeem", other), OK)
            self.assertEqual(second("redeem", other), PUNCTURED)
            self.assertEqual(second("release", other), OK)  # has no effect
            for host in (a, b):
                self.assertEqual(host("open", ticket), PUNCTURED)

    def test_a_released_ticket_is_punctured_whoever_has_it(self):
        a, b = self.host(), self.host()
        b.seal()  # both are connected
        for first, second, opened in ((a, a, 0), (a, b, 0), (b, a, 5000)):  # 5000: more than a process remembers
            ticket = first.seal()
            number = first("open", ticket)
            self.assertEqual(first("release", number), OK)
            self.assertEqual(first("use-many", str(opened)), "0")
            again = second("open", ticket)  # leased
            before = first.stats()["resumed"]
            self.assertEqual(first("puncture", number, ticket), OK)
            self.assertEqual(first.stats()["resumed"], before + 1)
            self.assertEqual(second("release", again), OK)
            self.assertEqual(second("puncture", again, ticket), PUNCTURED)
            for host in (a, b):
                self.assertEqual(host("open", ticket), PUNCTURED)

    def test_unanswered_punctures_are_retried(self):
        a, b = self.host(), self.host()
        tickets = [b.seal() for _ in range(30)]
        a.seal()  # both are connected
        numbers = [a("open", t) for t in tickets]
        for number in numbers:
            self.assertEqual(a("release", number), OK)
        self.server.process.send_signal(signal.SIGSTOP)
        self.addCleanup(self.server.process.send_signal, signal.SIGCONT)
        for number, ticket in zip(numbers, tickets):
            self.assertEqual(a("puncture", number, ticket), BACKEND)
        self.assertEqual(a.stats()["unanswered"], 30)
        self.server.process.send_signal(signal.SIGCONT)
        c = self.server.client()
        self.wait(lambda: b"ranges_punctured:30\r" in c("INFO", "pprf"), "30 punctures")
        self.assertEqual([b("open", t) for t in tickets], [PUNCTURED] * 30)

    def test_a_changed_ticket_burns_nothing(self):
        a, b = self.host(), self.host()
        ticket = a.seal()
        b.seal()
        for at in self.random.sample(range(len(ticket)), 40):
            digit = int(ticket[at], 16) ^ self.random.randrange(1, 16)
            changed = f"{ticket[:at]}{digit:x}{ticket[at + 1:]}"
            self.assertIn(b("open", changed), (FORMAT, PUNCTURED))
        self.assertEqual(b.use(ticket), OK)

    def test_trees_follow_each_other(self):
        """with 16 leaves per tree: at most 16 trees, and no leaf is issued twice"""
        a, b = self.host(depth=4), self.host(depth=4)
        tickets = []
        for host in (a, b) * 40:
            tickets.append(host.seal())
        self.assertEqual(len({t[:32] for t in tickets}), len(tickets))
        trees = len(self.server.client()("KEYS", "*"))
        self.assertGreater(trees, 80 // 16)
        info = self.server.client()("INFO", "commandstats").decode()
        refused = int(re.search(r"^cmdstat_pprf\.issue:.*failed_calls=(\d+)", info, re.M).group(1))
        self.assertLessEqual(refused, 2 * trees)  # each host asks a full tree once, then moves to another
        for ticket in tickets:
            self.assertEqual(self.random.choice((a, b)).use(ticket), OK)
        for ticket in tickets:
            self.assertEqual(self.random.choice((a, b)).use(ticket), PUNCTURED)

    def test_when_all_trees_are_full_the_oldest_gives_way(self):
        """16 trees of 16 leaves, and 160 trees' worth of unused tickets"""
        a = self.host(depth=4)
        issued = [a.seal() for _ in range(160 * 16)]
        for _ in range(200):
            self.assertEqual(a.use(a.seal()), OK)
        self.assertEqual(len(self.server.client()("KEYS", "*")), 16)
        self.assertGreaterEqual(a.stats()["dropped"], 160 - 16)
        fresh = [a.seal() for _ in range(150)]  # leaves fetched earlier belong to other trees
        self.assertEqual([a.use(t) for t in fresh], [OK] * 150)  # the youngest trees are still there
        self.assertEqual([a("open", t) for t in issued], [PUNCTURED] * len(issued))

    def test_leaves_that_no_ticket_has_are_handed_back(self):
        """when a process or its child ends: the server counts only leaves in tickets as issued and
        issues the rest again"""
        c, tickets = self.server.client(), []
        for n in range(12):
            a = self.host(depth=8)
            tickets += [a.seal() for _ in range(1 + 5 * (n % 5))]  # sometimes more than the first fetch brought
            tickets.append(a("seal-in-child"))
            self.assertEqual(a.end(), ("freed", 0))
            self.assertEqual(c.info("{pprf}:0")["issued"], len(tickets))
        self.assertGreaterEqual(self.counted("leaves_issued"), len(tickets) + 12 * 32)
        self.assertEqual(c("KEYS", "*"), [b"{pprf}:0"])
        a = self.host(depth=8)
        a.seal()  # it is connected
        self.assertEqual([a.use(t) for t in tickets], [OK] * len(tickets))  # no two share a leaf
        self.assertEqual([a.use(t) for t in tickets], [PUNCTURED] * len(tickets))

    def test_leaves_of_a_host_that_is_killed_or_was_cut_off_stay_issued(self):
        """also those of a connection that ended: only the host knows whether tickets contain
        them"""
        c, tickets = self.server.client(), []
        a = self.host(depth=8)
        tickets += [a.seal() for _ in range(3)]
        self.wait(lambda: c.info("{pprf}:0")["issued"] == 32, "two batches")
        a.close()
        a = self.host(depth=8)
        tickets += [a.seal() for _ in range(3)]
        self.wait(lambda: c.info("{pprf}:0")["issued"] == 64, "two batches")
        c("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.wait(lambda: a.stats()["connected"] >= 2, "a connection")
        tickets += [a.seal() for _ in range(20)]
        self.assertEqual(a.use(tickets.pop()), OK)
        self.assertEqual(a.end(), ("freed", 0))
        issued = c.info("{pprf}:0")["issued"]
        self.assertGreaterEqual(issued, 64)
        a = self.host(depth=8)
        tickets += [a.seal() for _ in range(100)]
        self.assertEqual([a.use(t) for t in tickets], [OK] * len(tickets))

    def test_leaves_are_fetched_as_they_are_needed(self):
        """few at first, twice as many each time while they go fast, then fewer; the test controls
        the clock"""
        a, sealed = Host(self, self.url, depth=17, environment={"HOST_STILL": "1"}), 0

        def seal(n, held):
            nonlocal sealed
            for _ in range(n):
                a.seal()
            sealed += n
            self.wait(lambda: self.server.client().info("{pprf}:0")["issued"] == sealed + held, f"{held} leaves")
        def fetches():
            return self.counted("issue", "commandstats", "cmdstat_pprf.")
        seal(1, 31)
        before = fetches()  # plus one with which the host asks for permission
        seal(31, 32 + 64)
        seal(96, 128 + 256)
        seal(384, 512 + 512)
        seal(2048, 1024)  # but never more
        self.assertEqual(fetches() - before, 10)
        for n, held in ((1024, 256 + 128), (384, 64 + 32), (96, 16 + 16), (32, 32)):
            a("clock", "20")
            seal(n, held)

    def test_how_many_leaves_are_left_and_how_long_they_last(self):
        """looked at every ten seconds of a clock that the test controls"""
        a, c = Host(self, self.url, depth=10, environment={"HOST_STILL": "1"}), self.server.client()
        a.seal()

        def left():
            return 16 * 1024 - sum(c.info(key)["issued"] for key in c("KEYS", "*"))
        self.wait(lambda: a("left 0") == f"1 {16 * 1024 - 32} {2**64 - 1}", "a look")
        for passed, trees, many in ((10, 1, 0), (20, 1, 500), (30, 4, 2600), (70, 4, 0)):
            for _ in range(many):
                a.seal()
            a("clock", "40" if passed == 70 else "10")
            self.wait(lambda: a("left 0") == f"{trees} {left()} {left() * passed // (16 * 1024 - left())}", "a rate")
        a("clock", "10")  # none was issued in the last minute
        self.wait(lambda: a("left 0") == f"4 {left()} {2**64 - 1}", "no rate")

    def test_leaves_of_a_tree_that_is_gone_are_not_issued(self):
        """DEL revokes a tree; a host notices at the first ticket that the server does not know"""
        a, server = self.host(depth=17), self.server.client()
        a.seal()
        self.wait(lambda: server.info(server("KEYS", "*")[0])["issued"] >= 32, "two batches")
        server("DEL", *server("KEYS", "*"))
        self.assertEqual(a.use(a.seal()), PUNCTURED)
        for _ in range(3):
            self.assertEqual(a.use(a.seal()), OK)

    def test_each_server_is_asked_about_its_own_tickets(self):
        """one in 4096 names of another server also reads as a name under this server's key, with an
        arbitrary date: until two of them look old"""
        other = fleet.Server()
        self.addCleanup(other.close)
        a = Host(self, self.url, f"valkey://127.0.0.1:{other.port}?timeout=1000&budget=100", depth=17)
        a.seal()
        self.wait(lambda: a.stats()["connected"] >= 2, "both servers")
        key, clock = self.server.client().name_key()
        block, found = Cipher(algorithms.AES(key), modes.ECB()).decryptor(), []
        while len(found) < 2:
            ticket = a.seal()
            plain = block.update(bytes.fromhex(ticket[:32]))
            age = clock // 16000 - int.from_bytes(plain[12:14], "little") & 0xffff
            if plain[14] < 16 and plain[15] == 0 and 460 < age < 0xe000:  # this server's own are new
                found.append(ticket)
        self.assertEqual([a.use(t) for t in found], [OK] * 2)

    def test_old_tickets_are_refused(self):
        a, b = self.host(lifetime=100), self.host(lifetime=100)
        old, new = a.seal(), a.seal()
        b.seal()
        b("clock", "90")
        self.assertEqual(b.use(new), OK)
        b("clock", "50")
        self.assertEqual(b("open", old), PUNCTURED)
        self.assertEqual(a.use(old), OK)  # a's own clock did not advance
        a("clock", "80000")  # as if b's machine had stood still for most of a day
        self.assertEqual(b.use(a.seal()), OK)

    def test_leaves_of_an_old_tree_are_not_issued(self):
        """with lifetime 20, leaves of a tree are issued for ten seconds"""
        a, server = self.host(lifetime=20), self.server.client()
        a.seal()
        trees = server("KEYS", "*")
        self.wait(lambda: server.info(trees[0])["lifetime_left_ms"] <= 20000, "the tree's tenth second")
        a.seal()  # still has leaves of the old tree
        self.assertGreater(len(server("KEYS", "*")), len(trees))

    def test_names_reveal_nothing(self):
        a, names = self.host(), set()
        for _ in range(64):
            names.add(a.seal()[:32])
        columns = [len({name[i] for name in names}) for i in range(32)]
        self.assertGreater(min(columns), 8)  # 64 random values of 16 digits

    def test_what_a_fleet_cannot_do_is_refused(self):
        a = self.host()
        ticket = a.seal()
        self.assertEqual(a("export"), BACKEND)
        self.assertEqual(a("open", "00" * 95), FORMAT)
        self.assertEqual(a("redeem", "0"), PUNCTURED)
        self.assertEqual(a.use(ticket), OK)
        stats = a.stats()
        self.assertEqual((stats["issued"], stats["early_accepted"], stats["early_rejected"], stats["foreign"],
                          stats["depth"]), (1, 1, 1, 1, 10))
        self.assertEqual(a.end(), ("freed", 0))

    def test_a_host_names_the_servers_suite_and_none_may_be_given(self):
        a = self.host()
        self.assertEqual(a.use(a.seal()), OK)
        self.assertEqual(a.stats()["suite"], 1)  # PPRF_SHA3_256
        for suite in range(1, 4):
            r = subprocess.run([PROGRAM, "10", "60", self.url], text=True, capture_output=True, timeout=PATIENCE,
                               stdin=subprocess.DEVNULL, env=dict(os.environ, HOST_SUITE=str(suite)))
            self.assertEqual((r.returncode, r.stdout), (1, "an option's value is out of range\n"))

    def test_the_server_learns_of_commits_and_releases(self):
        a, c = self.host(), self.server.client()

        def count(what):
            return int(next(line for line in c("INFO", "pprf").decode().splitlines()
                            if line.startswith(f"pprf_{what}:")).split(":")[1])
        self.assertEqual(a.use(a.seal()), OK)
        self.wait(lambda: count("commits") == 1 and count("leases") == 0, "the commit")
        self.assertEqual(a("release", a("open", a.seal())), OK)
        self.wait(lambda: count("releases") == 1 and count("leases") == 0, "the release")


class Orders(Case):
    """Rotation and revocation, which any host may order."""
    def hosts(self, **more):
        """Two hosts by clocks that stand still, with leaves; each looks at the trees every ten seconds."""
        hosts = [Host(self, self.url, environment={"HOST_STILL": "1"}, **more) for _ in range(2)]
        return hosts, [[host.seal() for _ in range(4)] for host in hosts]

    def look(self, host):
        """Have its thread look at the trees: what it counts then is what there is."""
        host("clock", "10")
        c = self.server.client()
        self.wait(lambda: host("left 0").split()[0] == str(sum(c.info(k)["live"] for k in c("KEYS", "*"))), "a look")

    def test_after_a_rotation_tickets_are_of_a_new_tree(self):
        """at all hosts, though they have leaves of the old one; its tickets stay good"""
        (a, b), tickets = self.hosts()
        c = self.server.client()
        old, = c("KEYS", "*")
        self.assertEqual(a("rotate"), OK)
        new = [a.seal() for _ in range(4)]
        self.look(b)
        before = c.info(old)["issued"]
        new += [b.seal() for _ in range(40)]  # more than it had fetched
        self.assertEqual(c.info(old)["issued"], before)
        self.assertEqual([b.use(t) for t in tickets[0]] + [a.use(t) for t in tickets[1][:2]], [OK] * 6)
        c("DEL", old)
        self.assertEqual([b.use(t) for t in new[:20]] + [a.use(t) for t in new[20:]], [OK] * 44)
        self.assertEqual([a("open", t) for t in tickets[1]], [PUNCTURED] * 4)
        self.assertEqual(a.stats()["dropped"], 0)

    def test_a_tree_that_was_rotated_out_issues_no_more(self):
        """when the next one is full, either"""
        a, c = self.host(depth=8), self.server.client()
        a.seal()
        old, = c("KEYS", "*")
        self.assertEqual(a("rotate"), OK)
        before = c.info(old)["issued"]
        for _ in range(300):
            a.seal()
        self.assertEqual([c.info(old)["issued"], len(c("KEYS", "*"))], [before, 3])

    def test_after_a_revocation_no_ticket_is_good_and_no_seed_is_there(self):
        """of all trees, at any host; new tickets are good"""
        (a, b), tickets = self.hosts(depth=4)
        tickets = [t for own in tickets for t in own] + [a.seal() for _ in range(100)]
        c = self.server.client()
        keys = c("KEYS", "*")
        self.assertGreater(len(keys), 6)
        number = b("open", tickets.pop())
        seeds = [s for n in range(len(keys)) for s in fleet.Tree(4, n).seeds()]
        held = fleet.memory_holds(self.server.process.pid, seeds)
        self.assertGreater(len(held), 6)  # control
        self.assertEqual(a("revoke"), OK)
        self.assertEqual(fleet.memory_holds(self.server.process.pid, held), set())
        self.assertEqual([h("open", t) for h in (a, b) for t in tickets], [PUNCTURED] * 2 * len(tickets))
        self.assertEqual([a.use(a.seal()) for _ in range(20)], [OK] * 20)
        self.look(b)
        self.assertEqual([b.use(b.seal()) for _ in range(20)], [OK] * 20)
        self.assertEqual(b("redeem", number), OK)  # it was opened before
        self.assertEqual(a("revoke"), OK)  # also what has been revoked before

    def test_an_order_that_a_server_does_not_do_is_an_error(self):
        """and the other servers have done it: without memory, when it stands still, when it is gone"""
        other = fleet.Server()
        self.addCleanup(other.close)
        a = Host(self, self.url, f"valkey://127.0.0.1:{other.port}?timeout=1000&budget=100")
        a.seal()
        self.wait(lambda: a.stats()["connected"] >= 2, "both servers")
        c = other.client()

        def live(server):
            client = server.client()
            return {k: i["id"] for k in client("KEYS", "*") if (i := client.info(k))["live"]}
        for _ in range(2):
            a.use(a.seal())
        self.wait(lambda: live(self.server) and live(other), "a tree on each")
        c("CONFIG", "SET", "maxmemory", "1")
        kept, gone = live(other), live(self.server)
        self.assertEqual(a("revoke"), BACKEND)
        self.assertEqual(live(other), kept)
        self.assertFalse(set(live(self.server).values()) & set(gone.values()))
        self.wait(lambda: "no memory left" in a("server 1"), "the reason")
        self.assertIn("no memory left", a("failure"))
        c("CONFIG", "SET", "maxmemory", "0")
        self.assertEqual(a("revoke"), OK)
        self.assertFalse(set(live(other).values()) & set(kept.values()))
        self.wait(lambda: a("server 1").split(" ", 3)[3] == "", "no reason")
        other.process.send_signal(signal.SIGSTOP)
        self.addCleanup(other.process.send_signal, signal.SIGCONT)
        for word in ("rotate", "revoke", "revoke"):
            self.assertEqual(a(word), BACKEND)
        other.process.send_signal(signal.SIGCONT)
        self.wait(lambda: a("rotate") == OK, "the connection")
        other.stop(signal.SIGKILL)
        self.assertEqual(a("rotate"), BACKEND)


class Waiting(Case):
    def test_threads_claim_side_by_side(self):
        """no claim waits for the answer to another: all reach the server while no answer comes
        back"""
        link, threads = fleet.Link(self.server.port), 6
        self.addCleanup(link.close)
        a, c = Host(self, f"valkey://127.0.0.1:{link.port}?timeout=1000&budget=100", depth=17), self.server.client()
        a.seal()
        link.delay = 0.02
        self.wait(lambda: (a("open-together", str(threads)), len(c("CLIENT", "LIST").splitlines()) >= threads + 2)[1],
                  "one connection per thread, one for leaves, and the test's")
        link.delay = 0
        self.wait(lambda: a("open-together", str(threads)) == str(threads), "an answer for each")
        before = self.counted("claims")
        link.cut(answers_only=True)
        self.assertEqual(a("open-together", str(threads)), "0")
        self.assertEqual(self.counted("claims") - before, threads)
        link.heal()
        self.wait(lambda: a.use(a.seal()) == OK, "tickets again")

    def served(self, n=6, version="", **more):
        """A host with n TLS clients that have tickets, behind a link, with enough connections to
        the server"""
        link, c = fleet.Link(self.server.port), self.server.client()
        self.addCleanup(link.close)
        a = Host(self, f"valkey://127.0.0.1:{link.port}?timeout=1000", depth=17, **more)

        def waiting():
            self.assertEqual(a(f"sessions{version}", str(n)), str(n))
            found = a("begin")
            a("end")
            return found

        link.delay = 0.02
        self.wait(lambda: waiting() == str(n), "one connection per client")
        link.delay = 0
        self.assertGreater(len(c("CLIENT", "LIST").splitlines()), n)
        self.assertEqual(a(f"sessions{version}", str(n)), str(n))
        return a, link

    def test_a_thread_that_does_not_wait_claims_side_by_side(self):
        """also without a budget for waiting: one thread begins all handshakes while no answer comes back"""
        for version in "", "-1.2":
            for program in None, CHECKED:
                with self.subTest(version=version, program=program):
                    a, link = self.served(version=version, program=program)
                    before = self.counted("claims")
                    link.cut(answers_only=True)
                    self.assertEqual(a("begin"), "6")
                    self.wait(lambda: self.counted("claims") - before == 6, "six claims")
                    link.heal()
                    self.assertEqual(a("end"), "6 0")
                    self.assertEqual(a.stats()["over_budget"], 0)

    def test_clients_that_leave_while_their_tickets_are_claimed(self):
        """their leases are released: the tickets are good again"""
        a, link = self.served()
        link.cut(answers_only=True)
        self.assertEqual(a("begin"), "6")
        a("leave")
        before = self.counted("releases")
        link.heal()
        self.wait(lambda: self.counted("releases") - before == 6, "six releases")
        self.assertEqual(a("begin"), "6")
        self.assertEqual(a("end"), "6 0")

    def test_answers_that_do_not_come_cost_a_full_handshake(self):
        a, link = self.served(program=CHECKED)
        before = a.stats()["unanswered"]
        link.cut()
        self.assertEqual(a("begin"), "6")
        self.assertEqual(a("end"), "0 6")
        self.assertEqual(a.stats()["unanswered"] - before, 6)
        link.heal()
        self.wait(lambda: a.use(a.seal()) == OK, "tickets again")

    def test_a_process_ends_whoever_waits(self):
        """for answers that come late or never, or that nobody fetches"""
        for left in False, True:
            a, link = self.served(program=CHECKED)
            link.cut(answers_only=True)
            self.assertEqual(a("begin"), "6")
            if left:
                a("leave")
            self.assertEqual(a.end(), ("freed", 0))
        a, link = self.served()
        link.cut(answers_only=True)
        self.assertEqual(a("begin"), "6")
        with self.assertRaisesRegex(Failed, "^the host exited:\n$"):
            a("exit")
        self.assertEqual(a.p.wait(PATIENCE), 0)

    def test_a_server_that_takes_no_more_connections_is_asked_by_those_there_are(self):
        a, c = self.host(), self.server.client()
        a.seal()
        c("CONFIG", "SET", "maxclients", str(len(c("CLIENT", "LIST").splitlines())))
        before = a.stats()["connected"]
        self.assertEqual([a("open-together", "6") for _ in range(20)], ["6"] * 20)
        self.assertEqual(a.stats()["connected"], before)

    def test_a_used_ticket_is_asked_about_once(self):
        """per host, whichever of its processes has asked; a leased one may be released, so it is
        asked about again"""
        a, b = self.host(), self.host()
        a.seal()
        b.seal()
        ticket = a.seal()
        number = a("open", ticket)
        self.assertEqual(b("open", ticket), PUNCTURED)
        self.assertEqual(a("release", number), OK)
        self.assertEqual(b.use(ticket), OK)
        for host, asked in ((b, 0), (a, 1)):
            before = self.counted("claims_refused_used")
            self.assertEqual(host("open-in-child", ticket), PUNCTURED)
            self.assertEqual([host("open", ticket) for _ in range(50)], [PUNCTURED] * 50)
            self.assertEqual(self.counted("claims_refused_used") - before, asked)
            self.assertEqual(host.stats()["remembered"], 51 - asked)
        self.assertEqual(a.stats()["refused"], 51)
        other = a.seal()
        a("release", a("open", other))
        self.assertEqual(a("puncture", a("open", other), other), OK)
        before = self.counted("claims_refused_used")
        self.assertEqual(a("open", other), PUNCTURED)
        self.assertEqual(self.counted("claims_refused_used"), before)

    def test_memory_of_used_tickets_is_bounded(self):
        """the newest stay: consecutive leaves are spread evenly over 2048 sets of four"""
        a, many = self.host(depth=17), 3000
        self.assertEqual(a("use-many", "20000"), "0")
        tickets = [a.seal() for _ in range(many)]
        self.assertEqual([a.use(t) for t in tickets], [OK] * many)
        self.assertEqual([a("open", t) for t in tickets], [PUNCTURED] * many)
        self.assertEqual(a.stats()["remembered"], many)

    def test_a_thread_that_has_waited_too_much_does_not_ask(self):
        """on a clock that goes on by 10 ms each time that it is read: an open reads it once, and twice more if it asks,
        so a claim waits 10 ms, which is the budget of 200; after a pause 125 of them are there"""
        a = Host(self, f"{self.patient}&budget=5", environment={"HOST_STEP": "10000"}, depth=17)
        found = [a("open", a.seal()) != BACKEND for _ in range(50)]
        # the first claim leaves 75 ms; the second one, which comes after 80 and takes 20 more, 175
        asked = [0, 8, 8 + 18]
        self.assertEqual([i for i, asks in enumerate(found[:27]) if asks], asked)
        stats = a.stats()
        self.assertEqual((self.counted("claims"), stats["over_budget"], stats["unanswered"]),
                         (sum(found), 50 - sum(found), 0))
        b = Host(self, f"{self.patient}&budget=100", environment={"HOST_STEP": "500000"}, depth=17)
        self.assertEqual([b.use(b.seal()) for _ in range(9)], [OK] * 9)

    def test_the_documented_rates_are_reached_and_not_exceeded(self):
        """the table of docs/fleet.md: a thread that does nothing else, for some seconds of a clock that goes on by the
        round trip each time that it is read"""
        with open(os.path.join(HERE, "..", "docs", "fleet.md")) as f:
            head, rows = re.search(r"^\| round trip \|(.*)\n\|.*\n((?:\|.* ms \|.*\n)+)", f.read(), re.M).groups()
        budgets = re.findall(r"budget=(\d+)", head)
        for row in rows.splitlines():
            ms, *rates = re.findall(r"[\d.]+", row)
            for budget, rate in zip(budgets, map(int, rates)):
                with self.subTest(ms=ms, budget=budget):
                    self.assertEqual(rate, int(int(budget) * 10 / float(ms)))
                    claims = self.claims(float(ms) / 1000, budget)
                    self.assertGreaterEqual(claims, 0.8 * rate)
                    self.assertLessEqual(claims, rate * (1 + 1 / 8 / 4) + 1)  # a pause's budget once in four seconds

    def claims(self, wait, budget, seconds=4):
        """A second.  An open reads the clock once, and twice more if it asks."""
        a = Host(self, f"{self.patient}&budget={budget}", environment={"HOST_STEP": str(round(wait * 1e6))}, depth=17)
        ticket, before, read = a.seal(), self.counted("claims"), 0
        while read * wait < seconds:
            number = a("open", ticket)
            read += 1 if number == BACKEND else 3
            if number != BACKEND:
                ticket = a.seal()
        return (self.counted("claims") - before) / seconds


class Processes(Case):
    def test_a_child_has_leaves_of_its_own(self):
        a = self.host()
        tickets = [a.seal() for _ in range(5)]
        tickets += [a("seal-in-child") for _ in range(5)]
        tickets += [a.seal() for _ in range(5)]
        self.assertEqual(len({t[:32] for t in tickets}), 15)
        for ticket in tickets:
            self.assertEqual([a.use(ticket), a.use(ticket)], [OK, PUNCTURED])
        self.assertEqual(a.stats()["issued"], 15)  # counts all processes
        self.assertEqual(a.end(), ("freed", 0))

    def test_values_in_memory(self):
        """in its own process no value of a sealed or redeemed ticket; in a child no value of any
        leaf"""
        a, model = self.host(depth=8), fleet.Tree(8)
        values = {model.value(leaf): leaf for leaf in range(256)}
        self.assertEqual(a.use(a.seal()), OK)
        tickets = [a.seal() for _ in range(10)]
        self.wait(lambda: self.server.client().info("{pprf}:0")["issued"] >= 32, "two batches")
        self.assertEqual(a.use(tickets[3]), OK)
        number = a("open", tickets[4])
        held = {values[v] for v in fleet.memory_holds(a.p.pid, values)}
        issued = self.server.client().info("{pprf}:0")["issued"]
        self.assertLessEqual(held, set(range(11, issued)))
        self.assertGreaterEqual(len(held), 16)  # the search finds values that are there
        child = int(a("child"))
        self.assertEqual(fleet.memory_holds(child, values), set())
        self.assertEqual(a("redeem", number), OK)

    def test_values_are_locked_in_every_process(self):
        """a child does not have its parent's locks"""
        a = self.host()
        a.seal()
        child = int(a("sealing-child"))

        def locked(pid):
            with open(f"/proc/{pid}/status") as f:
                return next(int(line.split()[1]) for line in f if line.startswith("VmLck:"))
        soft, _ = resource.getrlimit(resource.RLIMIT_MEMLOCK)
        self.assertEqual(locked(child), locked(a.p.pid))
        self.assertTrue(locked(child) > 0 or soft < 1 << 16, "no memory is locked")

    def test_a_child_closes_its_parents_connections(self):
        a = self.host()
        a.seal()
        self.wait(lambda: a.stats()["connected"] >= 1, "both connections")
        child = int(a("child"))

        def sockets(pid):
            links = (os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd"))
            return {name for name in links if name.startswith("socket:")}
        self.wait(lambda: len(sockets(a.p.pid)) == 2, "two connections")
        self.wait(lambda: sockets(child) == set(), "the child has closed them")

    def test_no_descriptor_has_a_standard_streams_number(self):
        """in a program without standard error, whose output would otherwise go to a server or end
        the threads"""
        a = self.host(prefix=("sh", "-c", 'exec "$@" 2>&-', "sh"))
        a.seal()
        self.wait(lambda: a.stats()["connected"] >= 1, "both connections")
        child = int(a("child"))
        self.assertNotIn("2", os.listdir(f"/proc/{a.p.pid}/fd"))
        self.wait(lambda: "2" not in os.listdir(f"/proc/{child}/fd"), "the child to close its pipe to the parent")
        self.assertGreaterEqual(len(os.listdir(f"/proc/{a.p.pid}/fd")), 6)  # 0 and 1, sockets, event descriptors

    def test_a_server_that_ends_is_noticed(self):
        a = self.host()
        ticket = a.seal()
        self.server.restart()
        self.wait(lambda: a.use(a.seal()) == OK, "tickets again")
        self.assertIn(a("open", ticket), (FORMAT, PUNCTURED))  # its key is gone; 1 in 4096 still reads as a name


class Urls(unittest.TestCase):
    def test_what_is_refused(self):
        for url, words in (
                ("http://h", "it begins with valkey://"),
                ("valkey://", "there is no host"),
                ("valkey://h:0", "the port"),
                ("valkey://h:65536", "the port"),
                ("valkey://[::1", "an IPv6"),
                ("valkey://h]:7", "a host has letters"),
                ("valkey://h/a%41", "a name"),
                ("valkey://u@h", "a user has a password"),
                ("valkey://u:%4@h", "a %"),
                ("valkey://u:%00@h", "a %"),
                ("valkey://h?timeout=0", "timeout: 1..1000"),
                ("valkey://h?timeout=1001", "timeout: 1..1000"),
                ("valkey://h?budget=0", "budget: 1..100"),
                ("valkey://h?budget=101", "budget: 1..100"),
                ("valkey://h?ca=/x", "ca, cert and key"),
                ("valkeys://h?cert=/x", "cert and key belong together"),
                ("valkey://h?x=1", "the options"),
                ("valkey://h?timeout", "an option is not"),
                ("unix://path", "a socket's path"),
                ("unix:///" + "p" * 200, "a socket's path"),
                ("valkeys://127.0.0.1?ca=/no/such/file", "its password file or certificate cannot be used"),
                ("valkey://u@127.0.0.1?passfile=/no/such/file", "its password file or certificate cannot be used")):
            with self.subTest(url=url):
                r = subprocess.run([PROGRAM, "10", "7200", "valkey://127.0.0.1", url], text=True, capture_output=True,
                                   timeout=PATIENCE)
                self.assertEqual(r.returncode, 1)
                self.assertIn(words, r.stdout)


class Reasons(Case):
    def fails(self, url, words, **more):
        """A host of this server reports, once, why it cannot use it, and shows the reason until it
        can."""
        a = Host(self, url, **more)
        a("seal")
        self.wait(lambda: words in a("server 0"), words + " in: " + a("server 0"))
        told = a("failure")
        self.assertRegex(told, "^server 1, [a-z]*://.*: .*" + re.escape(words))
        self.assertNotIn("secret", told + a("server 0"))
        time.sleep(0.2)  # it fails again
        self.assertEqual((a("failure"), a("server 0")[:2]), ("", "0 "), words)
        return a

    def recovers(self, host):
        host.seal()
        self.wait(lambda: re.fullmatch(r"1 [1-9]\d* \S+ ", host("server 0")), "no failure")
        self.assertEqual(host("failure"), "")
        host.close()

    def test_a_server_that_is_not_there(self):
        port = tap.free_port()
        a = self.fails(f"valkey://127.0.0.1:{port}", "nothing listens there")
        again = fleet.Server(port=port)
        self.addCleanup(again.close)
        self.recovers(a)
        b = Host(self, f"valkey://127.0.0.1:{port}")
        b.seal()
        again.stop()
        for _ in range(2):  # a failure that returns is reported again
            self.wait(lambda: b("failure") != "", "a failure")
            again.start()
            b.seal()
            self.wait(lambda: b("server 0").startswith("1 ") and b("failure") == "", "the server")
            again.stop()
        self.fails(f"unix://{self.server.dir}/none", "there is no such socket")

    def test_a_socket_that_others_may_not_use(self):
        if os.getuid() != 0:
            self.skipTest("needs root, to change the user")
        path = os.path.join(self.server.dir, "socket")
        os.chmod(self.server.dir, 0o755)
        os.chmod(path, 0o700)
        program = os.path.join(self.server.dir, "host")
        shutil.copy(PROGRAM, program)
        nobody = {"prefix": ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"), "program": program}
        a = self.fails(f"unix://{path}", "no permission to use its socket (unixsocketperm)", **nobody)
        os.chmod(path, 0o777)
        self.recovers(a)

    def test_a_user_without_permission(self):
        c = self.server.client()
        place = f"127.0.0.1:{self.server.port}/web"
        c("ACL", "SETUSER", "hosts", "on", ">secret", "~{web}:*", "+@all")
        for url, words in ((f"valkey://hosts:secret1@{place}", "wrong user or password"),
                           (f"valkey://others:secret@{place}", "wrong user or password"),
                           (f"valkey://hosts:secret@127.0.0.1:{self.server.port}/mail", "may not use these keys")):
            self.fails(url, words).close()
        for word in ("hello", "namekey", "info", "create", "issue", "claim", "commit", "release", "punct"):
            c("ACL", "SETUSER", "hosts", "-pprf." + word)
            a = self.fails(f"valkey://hosts:secret@{place}", f"its user may not use PPRF.{word.upper()}")
            c("ACL", "SETUSER", "hosts", "+pprf." + word)
            self.recovers(a)
        c("ACL", "SETUSER", "hosts", "-pprf.return")
        a = Host(self, f"valkey://hosts:secret@{place}")
        a.seal()  # the host works without it
        self.wait(lambda: a("failure").endswith("its user may not use PPRF.RETURN"), "the failure")
        self.assertRegex(a("server 0"), "^1 .*may not use PPRF.RETURN$")
        c("ACL", "SETUSER", "default", "resetpass", ">secret")
        self.fails(f"valkey://{place}", "it wants a password")

    def test_a_server_that_does_not_serve(self):
        c = self.server.client()
        for change, back, words in (
                (("CONFIG", "SET", "maxmemory", "100mb", "maxmemory-policy", "allkeys-lru"),
                 ("CONFIG", "SET", "maxmemory", "0", "maxmemory-policy", "noeviction"), "not noeviction"),
                (("REPLICAOF", "127.0.0.1", "1"), ("REPLICAOF", "NO", "ONE"), "it is a replica"),
                (("CONFIG", "SET", "maxmemory", "1"), ("CONFIG", "SET", "maxmemory", "0"), "no memory left"),
                (("CONFIG", "SET", "maxclients", "1"), ("CONFIG", "SET", "maxclients", "1000"), "(maxclients)"),
                (("MSET", *(w for i in range(16) for w in ("{pprf}:%d" % i, "x"))), ("FLUSHALL",),
                 "hold something else")):
            with self.subTest(words=words):
                c("FLUSHALL")
                c(*change)
                a = Host(self, self.url)
                a("seal")
                self.wait(lambda: words in a("server 0"), words)
                self.assertIn(words, a("failure"))
                self.assertEqual(a("failure"), "")
                c(*back)
                self.recovers(a)

    def test_a_server_without_the_module_is_recognized(self):
        bare = fleet.Server(module=None)
        self.addCleanup(bare.close)
        self.fails(f"valkey://127.0.0.1:{bare.port}", "it has no module pprf")
        self.fails(f"valkeys://127.0.0.1:{self.server.port}", "it does not speak TLS at this port")
        with socket.create_server(("127.0.0.1", 0)) as silent:
            self.fails(f"valkey://127.0.0.1:{silent.getsockname()[1]}", "it does not answer in time")

    def test_a_name_is_looked_up_again(self):
        """a name without an address is no error at the start; if the address changes, the new one
        is used"""
        names, other = os.path.join(self.server.dir, "names"), fleet.Server(host="127.0.0.7", port=self.server.port)
        self.addCleanup(other.close)

        def name(address):
            with open(names, "w") as f:
                f.write(address)
        name("")
        a = self.fails(self.url.replace("127.0.0.1", "a-server"), "its host name has no address",
                       environment={"HOST_NAMES": names})
        name("127.0.0.1")
        a.seal()
        self.wait(lambda: re.fullmatch(r"1 [1-9]\d* valkey://a-server:\d+/pprf ", a("server 0")), "the server")
        name("127.0.0.7")
        self.server.stop()
        self.wait(lambda: other.client()("KEYS", "*"), "a connection to the other server")
        self.wait(lambda: a.use(a.seal()) == OK, "its tickets")

    def test_a_password_is_read_again(self):
        """by renew; a missing file changes nothing"""
        c, passfile = self.server.client(), os.path.join(self.server.dir, "pass")

        def password(word):
            with open(passfile, "w") as f:
                f.write(word + "\n")
            c("ACL", "SETUSER", "hosts", "on", "resetpass", ">" + word, "~*", "+@all")
        password("secret")
        a = Host(self, f"valkey://hosts@127.0.0.1:{self.server.port}?passfile={passfile}&timeout=1000&budget=100")
        a.seal()
        os.rename(passfile, passfile + ".away")
        self.assertEqual(a("renew"), BACKEND)
        before = a.stats()["connected"]
        c("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.wait(lambda: a.stats()["connected"] > before, "a connection with the old password")
        password("secret2")
        c("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
        self.wait(lambda: "wrong user or password" in a("failure"), "the failure")
        self.assertEqual(a("renew"), OK)
        self.wait(lambda: a.use(a.seal()) == OK, "tickets again")
        child = a("seal-in-child")
        self.assertEqual(a.use(child), OK)


class Enemies(Case):
    def test_an_address_that_is_silent_leaves_time_for_the_next(self):
        with socket.socket() as silent:  # its queue is full and nobody accepts
            silent.bind(("127.0.0.9", self.server.port))
            silent.listen(0)
            waiting = [socket.socket() for _ in range(4)]
            for s in waiting:
                self.addCleanup(s.close)
                s.setblocking(False)
                s.connect_ex(("127.0.0.9", self.server.port))
            a = self.host(environment={"HOST_FIRST": "127.0.0.9"})
            self.assertEqual(a.use(a.seal()), OK)

    def test_a_tls_connection_that_ends_at_once(self):
        """as from a proxy whose server is down: it is noticed and costs no time"""
        def accept():
            while True:
                try:
                    s, _ = listener.accept()
                except OSError:
                    return
                s.recv(1)
                s.close()
        with socket.create_server(("127.0.0.1", 0)) as listener:
            threading.Thread(target=accept, daemon=True).start()
            a = Host(self, f"valkeys://127.0.0.1:{listener.getsockname()[1]}?timeout=1000&budget=100")
            self.assertEqual(a("seal"), BACKEND)
            begin = self.seconds(a)
            time.sleep(3)
            self.assertLess(self.seconds(a) - begin, 0.3)

    @staticmethod
    def seconds(host):
        """Processor seconds used so far."""
        with open(f"/proc/{host.p.pid}/stat") as f:
            return sum(map(int, f.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")

    def test_a_server_that_lies(self):
        """it answers in another protocol, or to another command"""
        for answer in (b"", b"-ERR no\r\n", b"+OK\r\n", b"$32\r\n" + bytes(32) + b"\r\n", b"*-7\r\n",
                       b"$99999999999\r\n", b"\0" * 70000, b"HTTP/1.1 400 no\r\n\r\n",
                       b"*2147483647\r\n", b"*60\r\n" * 9, b"$1000000\r\n" + bytes(1000000) + b"\r\n",
                       b"$32\r\n" + bytes([9]) * 32 + b"\r\n"):
            with self.subTest(answer=answer[:20]), socket.create_server(("127.0.0.1", 0)) as liar:
                seen = []

                def lie():
                    try:
                        while True:
                            c, _ = liar.accept()
                            with c:
                                c.settimeout(PATIENCE)
                                c.recv(65536)
                                seen.append(c)
                                c.sendall(answer * 3)
                                c.recv(65536)
                    except OSError:
                        pass
                threading.Thread(target=lie, daemon=True).start()
                a = Host(self, f"valkey://127.0.0.1:{liar.getsockname()[1]}", program=CHECKED)
                self.assertEqual(a("seal"), BACKEND)
                self.wait(lambda: seen, "a connection")
                self.assertEqual(a("seal"), BACKEND)
                self.assertEqual(a.stats()["connected"], 0)
                self.assertEqual(a.end(), ("freed", 0))

    def test_a_wait_has_an_end(self):
        a = Host(self, f"valkey://127.0.0.1:{self.server.port}?timeout=50&budget=100")
        tickets = [a.seal() for _ in range(20)]
        self.server.process.send_signal(signal.SIGSTOP)
        try:
            self.assertEqual([a("open", t) for t in tickets], [BACKEND] * 20)
        finally:
            self.server.process.send_signal(signal.SIGCONT)
        self.assertEqual(a.stats()["unanswered"], 20)

    def test_a_late_answer_is_discarded(self):
        link = fleet.Link(self.server.port)
        self.addCleanup(link.close)
        a = Host(self, f"valkey://127.0.0.1:{link.port}?timeout=500&budget=100")
        first, *others = [a.seal() for _ in range(6)]
        self.wait(lambda: a.use(a.seal()) == OK, "a connection")
        link.cut(answers_only=True)
        self.assertEqual(a("open", first), BACKEND)
        link.heal()
        for ticket in others:
            self.wait(lambda: (found := a("open", ticket)) == BACKEND or a("redeem", found) == OK, "its own value")
        self.wait(lambda: a.use(a.seal()) == OK, "a connection")

    def test_answers_that_are_changed(self):
        """bytes of the server's answers are changed, dropped or inserted on the way: the host
        survives, accepts no ticket twice, and recovers"""
        changing = threading.Event()
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        r = random.Random(SEED)

        def carry(source, sink, change):
            try:
                while data := bytearray(source.recv(65536)):
                    if change and changing.is_set() and r.random() < 0.02:
                        at = r.randrange(len(data))
                        what = r.random()
                        if what < 0.6:
                            data[at] = r.randrange(256)
                        elif what < 0.8:
                            del data[at]
                        else:
                            data[at:at] = r.choice((b"*3\r\n", b"$-1\r\n", b"\r\n", b":9\r\n", b"-DEAD x\r\n",
                                                    b"$16\r\n"))
                    sink.sendall(data)
            except OSError:
                pass
            for s in (source, sink):
                try:
                    s.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

        def run():
            try:
                while True:
                    near, _ = listener.accept()
                    far = socket.create_connection(("127.0.0.1", self.server.port))
                    for pair in ((near, far, False), (far, near, True)):
                        threading.Thread(target=carry, args=pair, daemon=True).start()
            except OSError:
                pass
        threading.Thread(target=run, daemon=True).start()
        a = Host(self, f"valkey://127.0.0.1:{listener.getsockname()[1]}?timeout=200&budget=100", program=CHECKED)
        a.seal()
        changing.set()
        used, good = 0, []
        end = time.monotonic() + 4
        while time.monotonic() < end:
            ticket = a("seal")
            if ticket.startswith("error"):
                time.sleep(0.005)
                continue
            good.append(ticket)
            used += a.use(ticket) == OK
            if a.use(self.random.choice(good)) == OK and len(good) > 1:
                used += 1
        changing.clear()
        self.wait(lambda: a.use(a.seal()) == OK, "tickets again")
        stats = a.stats()
        print(f"# {len(good)} tickets, {used} redeemed, {stats['connected']} connections, "
              f"{stats['unanswered']} unanswered")
        self.assertGreater(stats["connected"], 1)
        again = [a.use(t) for t in good]
        self.assertLessEqual(used + again.count(OK), len(good))
        self.assertEqual(a.end(), ("freed", 0))


def main():
    global SEED
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    p.add_argument("test", nargs="*")
    a = p.parse_args()
    SEED = a.seed
    if fleet.SERVER is None:
        print("1..0 # SKIP neither valkey-server nor redis-server is installed")
        return 0
    return tap.run((Tickets, Orders, Waiting, Processes, Urls, Reasons, Enemies), a.test, SEED)


if __name__ == "__main__":
    sys.exit(main())
