#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Two servers and several hosts in network namespaces of this machine. At random, links are cut and
healed and servers promoted, demoted, killed and paused. Then the history is checked: a ticket is
accepted at most once; a leaf whose puncture was acknowledged gives no value again; a ticket that
nobody has tried works exactly once; no server's memory holds a seed of a punctured leaf. Finally
the test builds a module that replicates its seeds, and the same check must find it."""
import argparse
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(HERE)
sys.path.insert(0, os.path.join(TOP, "tools"))
sys.path.insert(0, HERE)
import tap  # noqa: E402

try:
    import fleet
    import redis
except ImportError as missing:
    print(f"1..0 # SKIP {missing}")
    sys.exit(0)

SECONDS, SEED, HOSTS, DEPTH = 8, 0, 3, 6
TROUBLE = (redis.exceptions.ConnectionError, redis.exceptions.TimeoutError, redis.exceptions.ResponseError,
           OSError)


def ip(*words):
    subprocess.run(["ip", *words], check=True, capture_output=True)


class Network:
    """Servers a and b, each with a link to the hosts (here) and one to the other."""
    LINKS = {"hosts-a": ("va0", None, "10.77.1.1", "va1", "a", "10.77.1.2"),
             "hosts-b": ("vb0", None, "10.77.2.1", "vb1", "b", "10.77.2.2"),
             "a-b": ("vc0", "a", "10.77.3.1", "vc1", "b", "10.77.3.2")}

    def __init__(self):
        os.makedirs("/run/netns", exist_ok=True)
        subprocess.run(["mount", "-t", "tmpfs", "none", "/run/netns"], check=True)
        ip("link", "set", "lo", "up")
        for space in ("a", "b"):
            ip("netns", "add", space)
            ip("-n", space, "link", "set", "lo", "up")
        for near, space, address, far, other, peer in self.LINKS.values():
            ip("link", "add", near, "type", "veth", "peer", "name", far)
            for name, where, own in ((near, space, address), (far, other, peer)):
                if where:
                    ip("link", "set", name, "netns", where)
                at = ("-n", where) if where else ()
                ip(*at, "addr", "add", own + "/24", "dev", name)
                ip(*at, "link", "set", name, "up")

    def link(self, name, state):
        near, space, *_ = self.LINKS[name]
        ip(*(("-n", space) if space else ()), "link", "set", near, state)


class Node:
    """A server in its namespace, and a connection from the test that no cut link affects."""

    def __init__(self, name, address, peer, module):
        self.name, self.address, self.peer = name, address, peer
        self.life = 0
        self.server = fleet.Server("--repl-diskless-sync-delay", "0", "--repl-timeout", "2",
                                   "--repl-diskless-load", "on-empty-db", "--replica-read-only", "no",
                                   module=module, prefix=("ip", "netns", "exec", name), host=f"{address}",
                                   port=7000, bind=("127.0.0.1", peer[0]), known_prefix=self.prefix())

    def prefix(self):
        return f"{self.name} life {self.life:07d}"

    def tell(self, *words):
        cli = shutil.which("valkey-cli") or shutil.which("redis-cli")
        try:
            subprocess.run(["ip", "netns", "exec", self.name, cli, "-h", "127.0.0.1", "-p", "7000", *words],
                           capture_output=True, timeout=5)
        except subprocess.TimeoutExpired:
            pass

    def pid(self):
        return self.server.process.pid

    def restart(self):
        self.server.stop(signal.SIGKILL)
        self.life += 1
        self.server.env["KNOWN_ROOT"] = self.prefix()
        self.server.start()


class History:
    """What the hosts have seen."""

    def __init__(self):
        self.lock = threading.Lock()
        self.tickets = []       # (key, id, leaf)
        self.tried = set()      # (id, leaf)
        self.accepted = {}      # (id, leaf) -> times
        self.punctured = {}     # id -> leaves whose puncture was acknowledged
        self.trees = {}         # id -> (node, life, model)
        self.wrong = []
        self.counts = {}

    def count(self, what):
        with self.lock:
            self.counts[what] = self.counts.get(what, 0) + 1


class Host(threading.Thread):
    def __init__(self, nodes, history, seed, stop):
        super().__init__(daemon=True)
        self.nodes, self.history, self.random, self.stopped = nodes, history, random.Random(seed), stop
        self.clients = {}

    def client(self, node):
        if node not in self.clients:
            self.clients[node] = node.server.client(timeout=0.3)
        return self.clients[node]

    def run(self):
        while not self.stopped.is_set():
            node = self.random.choice(self.nodes)
            try:
                c = self.client(node)
                if self.random.random() < 0.04 or len(self.history.tickets) < 8:
                    self.make_tree(node, c)
                else:
                    self.redeem(c)
            except TROUBLE as e:
                self.history.count(str(e).split(" ")[0] if isinstance(e, redis.exceptions.ResponseError)
                                   else "no answer")
                if not isinstance(e, redis.exceptions.ResponseError):
                    self.clients.pop(node, None)
                    time.sleep(0.01)
            except Exception as e:  # an error in the test fails the test
                self.history.wrong.append(repr(e))
                return

    def make_tree(self, node, c):
        h, key = self.history, f"tree-{self.random.getrandbits(40)}"
        life = node.life
        tree = c.create(key, DEPTH, "LEASE", 300, "LIFETIME", 3600000)
        values = c.issue(key, tree, 1 << DEPTH)
        with h.lock:
            h.trees[tree] = (node, life, values)
            h.tickets += [(key, tree, leaf) for leaf in values]
        h.count("trees")

    def redeem(self, c):
        h = self.history
        with h.lock:
            # old tickets are replays, new ones mostly are not
            recent = self.random.random() < 0.5
            key, tree, leaf = self.random.choice(h.tickets[-64:] if recent else h.tickets)
            h.tried.add((tree, leaf))
        got = c.claim(key, tree, leaf)
        if got is None:
            h.count("used before")
            return
        lease, value = got
        if value != h.trees[tree][2][leaf]:
            h.wrong.append(f"{tree} {leaf}: not the value that was issued")
        what = self.random.random()
        if what < 0.2:  # as after a wrong binder
            c.release(key, tree, leaf, lease)
            h.count("released")
        elif what < 0.3:  # the host dies
            h.count("left alone")
        else:
            with h.lock:
                h.accepted[tree, leaf] = h.accepted.get((tree, leaf), 0) + 1
                if leaf in h.punctured.get(tree, ()):
                    h.wrong.append(f"{tree} {leaf}: a value after its puncture was acknowledged")
            h.count("accepted")
            if c.commit(key, tree, leaf, lease) == b"OK":
                with h.lock:
                    h.punctured.setdefault(tree, set()).add(leaf)


def trouble(network, nodes, seed, seconds, notes):
    """Cut, heal, promote, kill and pause for the given time; at the end everything is healed."""
    r = random.Random(seed)
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        node, what = r.choice(nodes), r.random()
        other = nodes[1 - nodes.index(node)]
        if what < 0.25:
            link = r.choice(list(Network.LINKS))
            network.link(link, "down")
            notes.append(f"cut {link}")
            time.sleep(r.uniform(0.1, 0.8))
        elif what < 0.45:
            for link in Network.LINKS:
                network.link(link, "up")
            notes.append("heal")
        elif what < 0.65:
            node.tell("REPLICAOF", node.peer[1], "7000")
            other.tell("REPLICAOF", "NO", "ONE") if r.random() < 0.5 else None
            notes.append(f"{node.name} follows")
        elif what < 0.85:
            node.tell("REPLICAOF", "NO", "ONE")
            notes.append(f"promote {node.name}")
        elif what < 0.93:
            node.server.process.send_signal(signal.SIGSTOP)
            time.sleep(r.uniform(0.1, 0.9))
            node.server.process.send_signal(signal.SIGCONT)
            notes.append(f"pause {node.name}")
        else:
            node.restart()
            notes.append(f"kill {node.name}")
        time.sleep(r.uniform(0.05, 0.4))
    for link in Network.LINKS:
        network.link(link, "up")
    for node in nodes:
        node.tell("REPLICAOF", "NO", "ONE")


def twice(history):
    # a copy: when a bug is planted, the clients go on during this check
    return sorted(t for t, n in history.accepted.copy().items() if n > 1)


class Partition(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.network = Network()

    def play(self, module, seconds, until=lambda h: False):
        nodes = [Node("a", "10.77.1.2", ("10.77.3.1", "10.77.3.2"), module),
                 Node("b", "10.77.2.2", ("10.77.3.2", "10.77.3.1"), module)]
        for node in nodes:
            self.addCleanup(node.server.close)
        history, stop, notes = History(), threading.Event(), []
        hosts = [Host(nodes, history, SEED * 100 + i, stop) for i in range(HOSTS)]
        for h in hosts:
            h.start()
        left = seconds
        while left > 0 and not until(history):
            trouble(self.network, nodes, SEED + left, min(left, 4), notes)
            left -= 4
        stop.set()
        for h in hosts:
            h.join(20)
        return nodes, history, notes

    def test_history(self):
        nodes, h, notes = self.play(fleet.MODULE, SECONDS)
        print(f"# {len(notes)} faults; " + ", ".join(f"{n} {w}" for w, n in sorted(h.counts.items())))
        self.assertEqual(h.wrong, [])
        self.assertEqual(twice(h), [])
        for what in ("trees", "accepted", "used before", "released"):
            self.assertGreater(h.counts.get(what, 0), 0, what)
        self.assertGreater(h.counts.get("DEAD", 0) + h.counts.get("NOKEY", 0), 0)  # trees were lost
        time.sleep(0.5)  # the last leases run out
        checked = 0
        for node in nodes:
            clients = [node.server.client() for _ in range(2)]
            alive = [(key, tree, leaf) for key, tree, leaf in h.tickets if h.trees[tree][0] is node
                     and (tree, leaf) not in h.tried]
            for key, tree, leaf in random.Random(SEED).sample(alive, min(len(alive), 200)):
                try:
                    lease, value = clients[leaf % 2].claim(key, tree, leaf)
                except redis.exceptions.ResponseError as e:
                    self.assertRegex(str(e), "DEAD|NOKEY")
                    continue
                self.assertEqual(value, h.trees[tree][2][leaf])
                clients[leaf % 2].commit(key, tree, leaf, lease)
                self.assertIsNone(clients[1 - leaf % 2].claim(key, tree, leaf))
                h.punctured.setdefault(tree, set()).add(leaf)
                checked += 1
        print(f"# {checked} untried tickets: each worked once")
        for node in nodes:
            models = {}
            for number in range(200):
                m = fleet.Tree(DEPTH, number, node.prefix())
                models[m.value(0)] = m
            mine = {tree: models[values[0]] for tree, (at, life, values) in h.trees.items()
                    if at is node and life == node.life and values[0] in models}
            forbidden = [s for tree, m in mine.items() for s in m.forbidden(h.punctured.get(tree, ()))]
            self.assertEqual(fleet.memory_holds(node.pid(), forbidden), set())
            print(f"# {node.name}: {len(forbidden)} forbidden seeds of {len(mine)} trees searched for in memory")

    def test_replicated_seeds_are_found(self):
        with tempfile.TemporaryDirectory(prefix="pprf-planted-") as folder:
            module = replicating_module(folder)
            _, h, _ = self.play(module, 600, until=twice)  # usually takes some seconds
            self.assertNotEqual(twice(h), [])
            print(f"# {len(twice(h))} tickets accepted twice")


def copy_module(folder):
    """Copy its sources; returns change(file, (old, new)...), which edits them."""
    for f in ("tree.c", "tree.h", "channel.c", "channel.h", "chain.c", "chain.h", "pprf_module.c"):
        shutil.copy(os.path.join(HERE, f), folder)

    def change(file, *pairs):
        path = os.path.join(folder, file)
        with open(path) as f:
            text = f.read()
        for old, new in pairs:
            assert text.count(old) == 1, old
            text = text.replace(old, new)
        with open(path, "w") as f:
            f.write(text)
    return change


def replicating_module(folder):
    """The forbidden module: its type saves its seeds, and so replicates them."""
    change = copy_module(folder)
    change("tree.h", ("#endif", "size_t tree_out(struct tree *t, uint8_t *b, size_t n);\n"
                      "struct tree *tree_in(uint64_t id, uint64_t issued, uint8_t *b, size_t n);\n#endif"))
    with open(os.path.join(folder, "tree.c"), "a") as f:
        f.write("""
size_t tree_out(struct tree *t, uint8_t *b, size_t n)
{
  return t->key != NULL && pprf_export(t->key, b, &n) == PPRF_OK ? n : 0;
}
struct tree *tree_in(uint64_t id, uint64_t issued, uint8_t *b, size_t n)
{
  pprf_key *k;
  struct tree *t;
  if (pprf_import(&k, b, n) != PPRF_OK || tree_new(&t, pprf_depth(k), 3600000, 300) != PPRF_OK)
    return NULL;
  pprf_free(t->key);
  t->key = k;
  t->id = id;
  t->issued = issued;
  return t;
}
""")
    # the child that saves has no seeds, so export at every change, while the parent still has them
    change("pprf_module.c",
           ("  RedisModule_SaveUnsigned(io, s.id);",
            "  RedisModule_SaveUnsigned(io, s.id);\n  RedisModule_SaveUnsigned(io, s.issued);\n"
            "  static uint8_t b[65536];\n  size_t n = tree_out(value, b, sizeof b);\n"
            "  RedisModule_SaveUnsigned(io, n);\n  for (size_t i = 0; i < n; i++)\n"
            "    RedisModule_SaveUnsigned(io, b[i]);"),
           ("  return tree_dead((unsigned)depth, id);",
            "  uint64_t issued = RedisModule_LoadUnsigned(io);\n  static uint8_t b[65536];\n"
            "  size_t n = RedisModule_LoadUnsigned(io);\n  for (size_t i = 0; i < n; i++)\n"
            "    b[i] = (uint8_t)RedisModule_LoadUnsigned(io);\n"
            "  return n == 0 ? tree_dead((unsigned)depth, id) : tree_in(id, issued, b, n);"))
    change("tree.c", (".suite = PPRF_SHA3_256};", ".suite = PPRF_SHA3_256, .flags = PPRF_SHARED};"))
    return build_module(folder)


def build_module(folder):
    env = os.environ
    target = os.path.join(folder, "pprf.so")
    subprocess.run([env.get("CC", "gcc"), "-D_GNU_SOURCE", "-I" + os.path.join(TOP, "include"), "-I" + folder,
                    "-I" + os.path.join(HERE, "redismodule"), "-std=c11", "-O1", "-w", "-fPIC", "-fvisibility=hidden",
                    "-shared", "-Wl,-z,defs,--exclude-libs,ALL", "-o", target,
                    *(os.path.join(folder, f) for f in ("tree.c", "channel.c", "chain.c", "pprf_module.c")),
                    os.path.join(fleet.BUILD, "known_root.o"),
                    os.path.join(TOP, "build", "opt", "libpprf.a"), "-lcrypto", "-pthread"], check=True)
    return target


def main():
    global SECONDS, SEED
    p = argparse.ArgumentParser(description=__doc__)
    p.add_argument("--seed", type=int, default=int(os.environ.get("SEED") or time.time()))
    p.add_argument("--seconds", type=int, default=SECONDS, help="of trouble (8)")
    p.add_argument("test", nargs="*")
    a = p.parse_args()
    SECONDS, SEED = a.seconds, a.seed
    return run_in_network((Partition,), a.test, __file__)


def run_in_network(cases, tests, file):
    """Run in a new network namespace, which needs root."""
    if fleet.SERVER is None:
        print("1..0 # SKIP neither valkey-server nor redis-server is installed")
        return 0
    if not os.environ.get("PPRF_OWN_NETWORK"):
        if subprocess.run(["unshare", "--net", "--mount", "true"], capture_output=True).returncode != 0:
            print("1..0 # SKIP no permission to create network namespaces (needs root)")
            return 0
        os.environ["PPRF_OWN_NETWORK"] = "1"
        os.execvp("unshare", ["unshare", "--net", "--mount", "--kill-child", "--fork", sys.executable,
                              os.path.abspath(file), "--seed", str(SEED), "--seconds", str(SECONDS), *tests])
    return tap.run(cases, tests, SEED)


if __name__ == "__main__":
    sys.exit(main())
