# SPDX-License-Identifier: Apache-2.0
"""Shared by the tests of the module: starts a server, a client that unmasks values, the expected
tree, and a search of a process's memory."""
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

import redis
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(HERE), "tools"))
import tap  # noqa: E402

BUILD = os.path.join(os.path.dirname(HERE), "build", "valkey")
SHIPPED = os.path.join(BUILD, "pprf.so")
MODULE = os.path.join(BUILD, "pprf_known.so")  # the same module with roots that the tests know
SERVER = shutil.which("valkey-server") or shutil.which("redis-server")
LABEL = b"libpprf valkey 1"
KNOWN_PREFIX = "the known root"  # 14 bytes


def shake(data, use, n):
    return hashlib.shake_256(data + bytes([use])).digest(n)


def children(seed):
    d = hashlib.sha3_256(seed).digest()
    return d[:16], d[16:]


class Tree:
    """Every seed of the tree of a root: level h has 2^(depth - h) seeds; level 0 is the leaves."""

    def __init__(self, depth, number=0, prefix=KNOWN_PREFIX):
        self.depth = depth
        self.level = {depth: [prefix.encode() + (257 + number).to_bytes(2, "big")]}
        for h in range(depth, 0, -1):
            self.level[h - 1] = [s for seed in self.level[h] for s in children(seed)]

    def value(self, leaf):
        return self.level[0][leaf]

    def seeds(self):
        return [s for level in self.level.values() for s in level]

    def forbidden(self, punctured):
        """The seeds from which the value of a punctured leaf can be computed."""
        return [self.level[h][i] for h in range(self.depth + 1)
                for i in sorted({leaf >> h for leaf in punctured})]


class Server:
    """A server process with the module, in its own directory."""

    def __init__(self, *options, module=MODULE, prefix=(), host="127.0.0.1",
                 port=None, bind=(), known_prefix=KNOWN_PREFIX):
        self.dir = tempfile.mkdtemp(prefix="pprf-fleet-")
        self.host = host
        self.port = port or tap.free_port()
        self.options, self.module, self.prefix = options, module, prefix
        self.bind = (host, *bind)
        self.env = dict(os.environ, KNOWN_ROOT=known_prefix)
        self.start()

    def start(self, *more):
        self.process = subprocess.Popen(
            [*self.prefix, SERVER, "--port", str(self.port), "--bind", *self.bind, "--dir", self.dir,
             "--logfile", os.path.join(self.dir, "log"), *(("--loadmodule", self.module) if self.module else ()),
             "--unixsocket", os.path.join(self.dir, "socket"),
             "--protected-mode", "no", "--save", "", *self.options, *more],
            env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # through its Unix socket, which cut links do not affect
        end = time.monotonic() + 60
        while time.monotonic() < end and self.process.poll() is None:
            try:
                self.ask_by_name()
                return
            except (redis.exceptions.ConnectionError, redis.exceptions.BusyLoadingError):
                time.sleep(0.025)
        self.process.kill()
        raise RuntimeError(f"the server did not start:\n{self.log()}")

    def ask_by_name(self):
        connection = redis.UnixDomainSocketConnection(path=os.path.join(self.dir, "socket"), socket_timeout=60)
        try:
            connection.connect()
            connection.send_command("PING")
            connection.read_response()
        finally:
            connection.disconnect()

    def log(self):
        try:
            with open(os.path.join(self.dir, "log"), errors="replace") as f:
                return f.read()
        except FileNotFoundError:
            return "(no log)"

    def client(self, hello=True, timeout=5):
        return Client(self.host, self.port, hello, timeout)

    def stop(self, how=signal.SIGTERM):
        if self.process.poll() is None:
            self.process.send_signal(how)
        self.process.wait(20)

    def restart(self, how=signal.SIGTERM):
        self.stop(how)
        self.start()

    def close(self):
        self.stop(signal.SIGKILL)
        shutil.rmtree(self.dir, ignore_errors=True)

    def files(self):
        """The content of every file that the server has written."""
        found = {}
        for folder, _, names in os.walk(self.dir):
            for name in names:
                if os.path.isfile(os.path.join(folder, name)):  # not the socket
                    with open(os.path.join(folder, name), "rb") as f:
                        found[name] = f.read()
        return found


class Client:
    """One connection; returns unmasked values."""

    def __init__(self, host, port, hello=True, timeout=5):
        self.connection = redis.Connection(host=host, port=port, socket_timeout=timeout,
                                           socket_connect_timeout=timeout)
        self.connection.connect()
        self("PING")
        if hello:
            self.hello()

    def send(self, *words):
        self.connection.send_command(*words)

    def reply(self):
        return self.connection.read_response()

    def __call__(self, *words):
        self.send(*words)
        return self.reply()

    def close(self):
        self.connection.disconnect()

    def hello(self):
        own = X25519PrivateKey.generate()
        public = own.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        peer = self("PPRF.HELLO", public)
        shared = own.exchange(X25519PublicKey.from_public_bytes(peer))
        self.chain = shake(shared + public + peer + LABEL, 0, 32)

    def unmask(self, value):
        out = b""
        for at in range(0, len(value), 1024):
            piece = value[at:at + 1024]
            out += bytes(a ^ b for a, b in zip(piece, shake(self.chain, 1, len(piece))))
            self.chain = shake(self.chain, 2, 32)
        return out

    def name_key(self):
        """(key for ticket names, clock of the trees in milliseconds)"""
        key, clock = self("PPRF.NAMEKEY")
        return self.unmask(key), clock

    def create(self, key, depth, *options):
        return self("PPRF.CREATE", key, depth, *options).decode()

    def issue(self, key, tree, n):
        """{leaf: value}"""
        first, values = self("PPRF.ISSUE", key, tree, n)
        values = self.unmask(values)
        return {first + i: values[16 * i:16 * i + 16] for i in range(len(values) // 16)}

    def claim(self, key, tree, leaf):
        """(lease, value), or None if the leaf is punctured"""
        got = self("PPRF.CLAIM", key, tree, leaf)
        return None if got is None else (got[0], self.unmask(got[1]))

    def commit(self, key, tree, leaf, lease):
        return self("PPRF.COMMIT", key, tree, leaf, lease)

    def release(self, key, tree, leaf, lease):
        return self("PPRF.RELEASE", key, tree, leaf, lease)

    def info(self, key):
        words = self("PPRF.INFO", key)
        return {words[i].decode(): words[i + 1] for i in range(0, len(words), 2)}


class Link:
    """A relay to the server that can be cut: sent bytes are held back, and neither side sees a
    connection end."""

    def __init__(self, port):
        self.to, self.open, self.back = port, threading.Event(), threading.Event()
        self.delay = 0
        self.heal()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.sockets = []
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.to), 60)
            except OSError:
                if self.listener.fileno() < 0:
                    return
                near.close()
                continue
            for s in (near, far):
                s.settimeout(None)
                s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.sockets += [near, far]
            threading.Thread(target=self.carry, args=(near, far, self.open), daemon=True).start()
            threading.Thread(target=self.carry, args=(far, near, self.back), daemon=True).start()

    def carry(self, source, sink, gate):
        try:
            while data := source.recv(65536):
                gate.wait()
                time.sleep(self.delay)
                sink.sendall(data)
        except OSError:
            pass
        gate.wait()
        for s in (source, sink):
            try:
                s.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def cut(self, answers_only=False):
        self.back.clear()
        if not answers_only:
            self.open.clear()

    def heal(self):
        self.open.set()
        self.back.set()

    def close(self):
        self.heal()
        self.listener.close()
        for s in self.sockets:
            s.close()


def written_memory(pid):
    """The writable memory of the process, without pages of zeros."""
    runs = []
    with open(f"/proc/{pid}/maps") as maps, open(f"/proc/{pid}/mem", "rb", 0) as mem:
        for line in maps:
            where, rights, *_ = line.split()
            if not rights.startswith("rw"):
                continue
            start, end = (int(x, 16) for x in where.split("-"))
            run = []
            try:
                mem.seek(start)
                for _ in range(start, end, 4096):
                    page = mem.read(4096)
                    if page.count(0) == len(page):
                        runs.append(b"".join(run))
                        run = []
                    else:
                        run.append(page)
            except (OSError, OverflowError):
                pass  # the mapping has gone meanwhile
            runs.append(b"".join(run))
    return [run for run in runs if run]


def memory_holds(pid, needles):
    """The needles found in the process's memory."""
    memory = b"\0".join(written_memory(pid))
    return {n for n in set(needles) if n in memory}


def files_hold(files, needles):
    return {n for n in set(needles) for content in files.values() if n in content}
