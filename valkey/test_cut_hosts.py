#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two hosts in network namespaces, each with its own link to a server that stays up. Links are cut
and healed at random, also between opening and redeeming, and every ticket is offered to both
hosts repeatedly: it is accepted at most once. Once the links are healed, a ticket that nobody
has tried works exactly once, at either host. Finally the test builds a module that returns a
leaf when its lease expires, a bug that shows only if a host is cut off before its COMMIT
arrives; the same check must find it."""
import argparse
import os
import random
import sys
import tempfile
import time
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_partition as partition  # noqa: E402
import test_host  # noqa: E402
from test_host import BACKEND, OK, PUNCTURED, fleet  # noqa: E402

PATIENCE = 120


class CutHosts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = partition.Network()

    def play(self, module):
        self.random = random.Random(partition.SEED)
        self.up = {"hosts-a": True, "hosts-b": True}
        self.server = fleet.Server(module=module, host="10.77.1.1", bind=("127.0.0.1", "10.77.2.1"))
        self.addCleanup(self.server.close)
        self.hosts = [test_host.Host(self, f"valkey://10.77.{i}.1:{self.server.port}?timeout=100&budget=100", depth=12,
                                     prefix=("ip", "netns", "exec", space)) for i, space in ((1, "a"), (2, "b"))]
        self.sealed, self.tried, self.accepted = [], set(), {}
        self.cuts = self.cut_open = self.unanswered = 0
        end = time.monotonic() + partition.SECONDS
        while time.monotonic() < end:
            self.trouble()
        # the last cut lasts until all leases whose COMMIT was lost have expired
        cut = self.trouble()
        end = time.monotonic() + PATIENCE
        while self.leases() > 0:
            self.assertLess(time.monotonic(), end, "leases do not end")
            time.sleep(0.1)
        for ticket in sorted(self.accepted):
            self.offer(self.hosts[1 - cut], ticket)
        self.heal()
        for ticket in sorted(self.accepted):
            self.offer(self.random.choice(self.hosts), ticket)
        print(f"# {self.cuts} cuts, {self.cut_open} while a ticket was open; {len(self.sealed)} tickets, "
              f"{len(self.accepted)} accepted, {self.unanswered} unanswered")

    def leases(self):
        c = self.server.client()
        return sum(c.info(key).get("leases", 0) for key in c("KEYS", "*"))

    def set_link(self, link, up):
        if self.up[link] != up:
            self.network.link(link, "up" if up else "down")
            self.up[link] = up
            self.cuts += not up

    def heal(self):
        for link in self.up:
            self.set_link(link, True)
        for host in self.hosts:
            self.serves(host)

    def serves(self, host):
        end = time.monotonic() + PATIENCE
        while host.use(host.seal()) != OK:
            self.assertLess(time.monotonic(), end, "the host does not come back")
            time.sleep(0.05)

    def trouble(self):
        """With all links healed, cut off a host that has tickets open, and let it go on. Returns
        which host."""
        self.heal()
        for _ in range(self.random.randrange(4, 20)):
            self.step()
        cut = self.random.randrange(2)
        opened = []
        for _ in range(4):
            ticket = self.random.choice(self.hosts).seal()
            self.sealed.append(ticket)
            self.tried.add(ticket)
            opened.append((ticket, self.hosts[cut]("open", ticket)))
        self.set_link(("hosts-a", "hosts-b")[cut], False)
        for ticket, number in opened:
            if not number.startswith("error"):
                self.cut_open += 1
                self.decide(self.hosts[cut], ticket, number)
        for _ in range(self.random.randrange(4, 20)):
            self.step()
            if self.random.random() < 0.1:
                link = ("hosts-b", "hosts-a")[cut]
                self.set_link(link, not self.up[link])
        self.set_link(("hosts-b", "hosts-a")[cut], True)
        self.serves(self.hosts[1 - cut])
        return cut

    def step(self):
        host = self.random.choice(self.hosts)
        if self.random.random() < 0.4 or not self.sealed:
            ticket = host("seal")
            if ticket != BACKEND:
                self.sealed.append(ticket)
        else:
            recent = self.random.random() < 0.5
            ticket = self.random.choice(self.sealed[-6:] if recent else self.sealed)
            self.offer(host, ticket)
        time.sleep(self.random.uniform(0, 0.02))

    def offer(self, host, ticket):
        self.tried.add(ticket)
        number = host("open", ticket)
        if number.startswith("error"):
            self.assertIn(number, (PUNCTURED, BACKEND))
            self.unanswered += number == BACKEND
            return
        self.decide(host, ticket, number)

    def decide(self, host, ticket, number):
        what = self.random.random()
        if what < 0.1:  # as after a wrong binder
            host("release", number)
        elif what < 0.15:
            pass  # the handshake breaks off
        elif host("redeem", number) == OK:
            self.accepted[ticket] = self.accepted.get(ticket, 0) + 1

    def twice(self):
        return [n for n in self.accepted.values() if n > 1]

    def test_a_ticket_is_accepted_once_whatever_is_cut(self):
        self.play(fleet.MODULE)
        self.assertEqual(self.twice(), [])
        for count in (self.cuts, self.cut_open, self.unanswered, len(self.accepted)):
            self.assertGreater(count, 0)
        fresh = [t for t in self.sealed if t not in self.tried]
        self.assertGreater(len(fresh), 0)
        for ticket in fresh[:200]:
            first, second = self.random.sample(self.hosts, 2)
            self.assertEqual([h.use(ticket) for h in (first, second, first)], [OK, PUNCTURED, PUNCTURED])
        print(f"# {len(fresh[:200])} untried tickets: each worked once, at either host")

    def test_a_lease_that_is_given_back_is_found(self):
        with tempfile.TemporaryDirectory(prefix="pprf-planted-") as folder:
            change = partition.copy_module(folder)
            change("tree.c", ("if (puncture_leased(t, t->first.next) != PPRF_OK)\n"
                              "      return; /* the next sweep tries again */", "remove_lease(t, t->first.next);"))
            self.play(partition.build_module(folder))
        self.assertNotEqual(self.twice(), [])


def main():
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    p.add_argument("--seconds", type=int, default=20, help="of trouble, about (20)")
    p.add_argument("test", nargs="*")
    a = p.parse_args()
    partition.SECONDS, partition.SEED = a.seconds, a.seed
    return partition.run_in_network((CutHosts,), a.test, __file__)


if __name__ == "__main__":
    sys.exit(main())
