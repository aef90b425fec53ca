# SPDX-License-Identifier: Apache-2.0
"""Runs unittest's cases and prints TAP, like tap.h for C programs; also gives ports and folders to tests."""
import os
import random
import socket
import subprocess
import sys
import tempfile
import unittest

_ports = set()  # returned by free_port


def free_port():
    """A free port of 127.0.0.1, each given only once.  Not from the range that the system uses for connections and
    for port 0, because another process might get the port in the meantime, or while the server restarts."""
    with open("/proc/sys/net/ipv4/ip_local_port_range", encoding="ascii") as file:
        high = int(file.read().split()[0])
    for _ in range(1000):
        port = random.SystemRandom().randrange(min(10000, high // 2), high)
        with socket.socket() as s:
            try:
                s.bind(("127.0.0.1", port))
            except OSError:
                continue
        if port not in _ports:  # its server may not have started yet
            _ports.add(port)
            return port
    raise AssertionError(f"no free port below {high}")


def place_of_keys():
    """The folder for key files, as an argument of tempfile's functions: in memory if the one for temporary files is on
    a file system of which the program warns at each change of a key (pprf-punct(1)), as in a container."""
    kind = subprocess.run(["stat", "-f", "-c", "%T", tempfile.gettempdir()], check=True, stdout=subprocess.PIPE,
                          text=True).stdout.strip()
    warned = kind in ("overlayfs", "btrfs", "zfs", "bcachefs", "f2fs", "nilfs", "fuseblk", "nfs", "smb2", "cifs",
                      "v9fs")
    return "/dev/shm" if warned and os.access("/dev/shm", os.W_OK) else None


class Tap(unittest.TestResult):
    """Prints a TAP line for each test, and its failure as comments with the command to repeat it."""

    def __init__(self, options):
        super().__init__()
        self.options = options
        self.count = 0
        self.trouble = []

    def report(self, test, ok, note=""):
        self.count += 1
        name = test.id().split(".", 1)[1].replace("test_", "")
        print(f"{'ok' if ok else 'not ok'} {self.count} - {name}{note}", flush=True)

    def addSubTest(self, test, subtest, err):
        super().addSubTest(test, subtest, err)
        if err is not None:
            self.trouble.append(self._exc_info_to_string(err, subtest))

    def addFailure(self, test, err):
        super().addFailure(test, err)
        self.trouble.append(self._exc_info_to_string(err, test))

    addError = addFailure

    def addSkip(self, test, reason):
        super().addSkip(test, reason)
        self.report(test, True, f" # SKIP {reason}")
        self.skip_reported = True

    def startTest(self, test):
        super().startTest(test)
        self.trouble, self.skip_reported = [], False

    def stopTest(self, test):
        super().stopTest(test)
        if not self.skip_reported:
            self.report(test, not self.trouble)
        for text in self.trouble:
            for line in text.splitlines():
                print(f"#   {line}", flush=True)
        if self.trouble:
            print(f"# again: {sys.argv[0]}{self.options} {test.id().split('.')[-1]}", flush=True)


def run(cases, only, seed=None):
    """Run the cases' tests, or those named in `only`; the process's exit status."""
    suite = unittest.TestSuite()
    for case in cases:
        for test in unittest.defaultTestLoader.loadTestsFromTestCase(case):
            if not only or test.id().split(".")[-1] in only:
                suite.addTest(test)
    print(f"1..{suite.countTestCases()}", flush=True)
    if suite.countTestCases() == 0:
        print("no such test", file=sys.stderr)
        return 1
    if seed is not None:
        print(f"# seed {seed}", flush=True)
    result = Tap("" if seed is None else f" --seed {seed}")
    result.failfast = "STOP" in os.environ  # for runs that only want to know
    suite.run(result)
    return 0 if result.wasSuccessful() else 1
