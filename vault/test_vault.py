#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TAP: the vault by the program, and with cells behind commands, one of them in a TPM."""
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(HERE)
BUILD = os.path.join(ROOT, os.environ.get("B", "build"))
sys.path[:0] = [os.path.join(ROOT, "tools")]
import tap  # noqa: E402

DONE, USAGE, FILE, PUNCTURED, FAILED = range(5)


class Case(unittest.TestCase):
    def setUp(self):
        self.said = ""
        self.dir = tempfile.mkdtemp(prefix="pprf-vault-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
        self.addCleanup(shutil.rmtree, self.dir)
        self.vault = os.path.join(self.dir, "v")

    def file(self, name, text, mode=0o644):
        path = os.path.join(self.dir, name)
        with open(path, "w", encoding="ascii") as f:
            f.write(text)
        os.chmod(path, mode)
        return path

    def run_vault(self, status, *args, program=("pprf", "vault"), stdin=None, cwd=None):
        done = subprocess.run([os.path.join(BUILD, program[0]), *program[1:], *map(str, args)], input=stdin, text=True,
                              capture_output=True, timeout=200, check=False, cwd=cwd)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        self.said = done.stderr
        return done.stdout if status == DONE else done.stderr


class Program(Case):
    def test_create_erase_and_evaluate(self):
        self.run_vault(DONE, "create", self.vault, "-d", 63)
        last = 2**63 - 1
        values = self.run_vault(DONE, "eval", self.vault, "0..3", last)
        self.assertRegex(values, r"\A(\d+ [0-9a-f]{32}\n){5}\Z")
        self.run_vault(DONE, "erase", self.vault, 1, f"{last - 1}..{last}")
        self.assertIn("leaf 1: it is erased", self.run_vault(PUNCTURED, "eval", self.vault, 0, 1))
        self.assertEqual(self.run_vault(DONE, "eval", self.vault, 0, 2), "".join(values.splitlines(True)[0:3:2]))
        self.run_vault(DONE, "erase", self.vault, "-", stdin="4\n6..9\n")
        self.run_vault(PUNCTURED, "erase", self.vault, 1, 11)
        self.run_vault(PUNCTURED, "eval", self.vault, 11)
        info = self.run_vault(DONE, "info", self.vault)
        self.assertRegex(info, r"(?m)^suite +sha3-256-salted\ndepth +63$")
        self.assertRegex(info, r"(?m)^cell writes 4$")
        self.assertRegex(self.run_vault(DONE, "verify", self.vault), r"\A\d+ pages? are good\n")

    def test_the_commands_of_the_page(self):
        with open(os.path.join(ROOT, "docs", "vault.md"), encoding="utf-8") as f:
            page = f.read()
        make, commands = re.findall(r"(?m)^```sh\n(.*?)^```$", page, re.S)
        targets = make.split("\nmake ")[1].split()
        subprocess.run(["make", "-n", *targets], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
        done = subprocess.run(["bash", "-ec", commands], cwd=self.dir, text=True, capture_output=True, check=False,
                              env={**os.environ, "PATH": BUILD + ":" + os.environ["PATH"]})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("the store was restored", done.stderr)
        values = re.findall(r"(?m)^8 [0-9a-f]{32}$", done.stdout)
        self.assertEqual((len(values), len(set(values))), (2, 1))

    def test_wrong_use_names_what_is_wrong(self):
        self.run_vault(DONE, "create", self.vault, "-d", 4)
        for args, word in ((["creat", "x"], "creat"), ([], "COMMAND"), (["info"], "VAULT"),
                           (["eval", self.vault], "LEAF"),
                           (["eval", self.vault, "16"], "16"), (["eval", self.vault, "x"], "x"),
                           (["mirror", self.vault], "DIR"), (["info", self.vault, "-d", "4"], "--depth"),
                           (["create", "x", "-d", "64"], "64"), (["verify", self.vault, "1"], "'1'")):
            self.assertIn(word, self.run_vault(USAGE, *args))
        self.assertIn("No such file", self.run_vault(FILE, "info", self.vault + "no"))
        self.assertIn("it holds a value", self.run_vault(FILE, "create", self.vault))
        os.rename(self.vault + ".cell", self.vault + ".kept")
        self.assertIn("never held a value", self.run_vault(FILE, "info", self.vault))
        self.assertIn("exists", self.run_vault(FILE, "create", self.vault))
        for name, text in (("text", "words\n" * 2000), ("empty", "")):
            path = self.file(name, text)
            self.assertRegex(self.run_vault(FILE, "info", path, "-c", f"file:{self.vault}.kept"),
                             "not a (vault|database)")
        with sqlite3.connect(self.file("app", "")) as other:
            other.execute("CREATE TABLE t (a)")
        other.close()
        for name in ("empty", "app"):  # another program's file is not touched
            path = os.path.join(self.dir, name)
            with open(path, "rb") as f:
                before = f.read()
            self.assertIn("not a vault", self.run_vault(FILE, "info", path, "-c", f"file:{self.vault}.kept"))
            with open(path, "rb") as f:
                self.assertEqual(f.read(), before)
        os.mkdir(os.path.join(self.dir, "file:copies"))
        for name in (":memory:", "file:app", "file:x?mode=memory"):  # to SQLite these are no files of these names
            self.run_vault(DONE, "create", name, cwd=self.dir)
            self.run_vault(DONE, "erase", name, "3", cwd=self.dir)
            self.assertIn("erased", self.run_vault(PUNCTURED, "eval", name, "3", cwd=self.dir))
            self.run_vault(DONE, "mirror", name, "file:copies", cwd=self.dir)
            self.assertTrue(os.path.exists(os.path.join(self.dir, "file:copies", name)))
        with open(os.path.join(self.dir, "app"), "rb") as f:
            self.assertEqual(f.read(), before)
        self.run_vault(DONE, "--help")

    def test_the_manual_page_names_the_commands_and_options(self):
        with open(os.path.join(HERE, "pprf-vault.1"), encoding="ascii") as f:
            page = f.read()
        text = self.run_vault(DONE, "--help")
        offered = set(re.findall(r" --([a-z]+)", text)) - {"help", "usage", "version"}
        self.assertEqual(offered, set(re.findall(r"^\.It .*Fl -([a-z]+)", page, re.M)))
        commands = set(re.findall(r"(?m)^  ([a-z]+) VAULT", text))
        self.assertEqual(commands, set(re.findall(r"^\.It Cm ([a-z]+)", page, re.M)))
        self.assertEqual(text, self.run_vault(DONE, "--help", program=("pprf-vault",)))
        subprocess.run(["mandoc", "-Tlint", "-Wwarning", os.path.join(HERE, "pprf-vault.1")], check=True)

    def test_what_is_printed_never_goes_into_the_store(self):
        self.run_vault(DONE, "create", self.vault)
        program = os.path.join(BUILD, "pprf-vault")
        for closed in ("<&-", ">&-", "2>&-", "<&- >&- 2>&-"):
            for arguments in ("eval {} 8", "info {}", "eval {} 4294967296"):
                subprocess.run(["sh", "-c", f"exec {program} {arguments.format(self.vault)} {closed}"],
                               capture_output=True, check=False)
        self.run_vault(DONE, "eval", self.vault, 8)

    def test_a_read_only_mount_is_named(self):
        self.run_vault(DONE, "create", self.vault)
        mount = "mount --bind . . && cd . && mount -o remount,ro,bind . && cd . && exec "
        tried = subprocess.run(["unshare", "-m", "sh", "-c", mount + "true"], cwd=self.dir, capture_output=True,
                               check=False)
        if tried.returncode:
            self.skipTest(f"no mounts of its own: {tried.stderr.decode().strip()}")
        done = subprocess.run(["unshare", "-m", "sh", "-c", f"{mount} {BUILD}/pprf vault eval $PWD/v 1"], cwd=self.dir,
                              text=True, capture_output=True, check=False)
        self.assertIn("Read-only file system", done.stderr)
        self.assertEqual(done.returncode, FILE)
        self.run_vault(DONE, "eval", self.vault, 1)

    def test_a_mirror_opens_when_the_store_is_lost(self):
        mirror = os.path.join(self.dir, "m")
        os.mkdir(mirror)
        self.run_vault(DONE, "create", self.vault)
        self.run_vault(DONE, "erase", self.vault, "10..20")
        self.run_vault(DONE, "mirror", self.vault, mirror)
        self.assertIn("there was none", self.said)
        for args, said in (((30,), "not written now"), ((5, "-m", mirror), "not of the same commit"),
                           ((31, "-m", mirror), "")):
            self.run_vault(DONE, "erase", self.vault, *args)
            self.assertRegex(self.said, said or r"\A\Z")
        value = self.run_vault(DONE, "eval", self.vault, 6)
        os.unlink(self.vault)
        cell = ("-c", f"file:{self.vault}.cell")
        self.assertEqual(self.run_vault(DONE, "eval", os.path.join(mirror, "v"), 6, *cell), value)
        self.run_vault(PUNCTURED, "eval", os.path.join(mirror, "v"), 5, *cell)
        self.run_vault(DONE, "mirror", os.path.join(mirror, "v"), self.dir, *cell)  # and back
        self.run_vault(DONE, "erase", self.vault, 6)


class Commands(Case):
    def cell(self, before="", after=""):
        return self.file("cell", f"""#!/bin/sh
echo "$@" >> {self.dir}/calls
case $1 in
  read) [ ! -e {self.dir}/value ] || cat {self.dir}/value;;
  write) {before}
cat > {self.dir}/new && mv {self.dir}/new {self.dir}/value; {after}
esac
""", 0o755)

    def test_a_command_holds_the_cell(self):
        cell = self.cell()
        self.run_vault(DONE, "create", self.vault, "-c", cell)
        before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # which the program does not inherit
        self.addCleanup(signal.signal, signal.SIGCHLD, before)
        self.run_vault(DONE, "erase", self.vault, 7, "-c", cell)
        signal.signal(signal.SIGCHLD, before)
        self.run_vault(PUNCTURED, "eval", self.vault, 7, "-c", cell)
        with open(os.path.join(self.dir, "calls"), encoding="ascii") as f:
            self.assertEqual(set(f.read().split()), {"read", "write"})  # no value among the arguments
        with open(os.path.join(self.dir, "value"), "rb") as f:
            value = f.read()
        self.assertEqual(len(value), 32)
        self.assertEqual(sorted(os.listdir(self.dir)), ["calls", "cell", "v", "value"])
        with open(self.vault, "rb") as f:
            self.assertNotIn(value[8:], f.read())

    def test_a_command_gives_a_time_of_grace(self):
        with open(os.path.join(ROOT, "docs", "vault.md"), encoding="utf-8") as f:
            (script,) = re.findall(r"(?m)^```bash\n(.*?)^```$", f.read(), re.S)
        cell = ("-c", f"{self.file('keep', script, 0o755)} {self.dir}/cell")
        now, old = (os.path.join(self.dir, "cell", name) for name in ("now", "old"))
        os.mkdir(os.path.join(self.dir, "cell"))
        self.run_vault(DONE, "create", self.vault, *cell)
        self.run_vault(DONE, "erase", self.vault, 1, *cell)
        shutil.copy(self.vault, self.vault + ".copy")
        with open(now, "rb") as f:
            value = f.read()
        self.run_vault(DONE, "erase", self.vault, 2, *cell)
        for kept in os.listdir(old):
            with open(os.path.join(old, kept), "rb") as f:
                if f.read() == value:
                    break
        shutil.copy(os.path.join(old, kept), now)
        shutil.copy(self.vault + ".copy", self.vault)
        self.run_vault(DONE, "eval", self.vault, 2, *cell)
        self.run_vault(PUNCTURED, "eval", self.vault, 1, *cell)
        self.assertEqual(len(os.listdir(old)), 2)
        for kept in os.listdir(old):
            os.utime(os.path.join(old, kept), (time.time() - 86500,) * 2)
        self.run_vault(DONE, "info", self.vault, *cell)
        self.assertEqual(os.listdir(old), [])

    def test_a_failing_command_is_asked_again(self):
        self.run_vault(DONE, "create", self.vault, "-c", self.cell())
        self.run_vault(DONE, "erase", self.vault, 7, "-c", self.cell(after="exit 9"))  # it wrote, and failed
        self.assertIn("status 9", self.run_vault(FAILED, "erase", self.vault, 8, "-c", self.cell(before="exit 9")))
        self.assertIn("another value", self.run_vault(FAILED, "erase", self.vault, 8, "-c", self.cell(before="exit 0")))
        self.run_vault(PUNCTURED, "eval", self.vault, 7, "-c", self.cell())
        self.run_vault(DONE, "eval", self.vault, 8, "-c", self.cell())
        start = time.monotonic()  # what the command leaves running holds the pipe
        self.run_vault(DONE, "erase", self.vault, 9, "-c", self.cell(after="sleep 30 2>&- &"))
        self.assertLess(time.monotonic() - start, 20)
        for cell, word in (("exit 3;", "status 3"), ("echo short #", "fewer"), ("head -c 99 /dev/zero #", "more"),
                           ("no-such-command", "status 127")):
            self.assertIn(word, self.run_vault(FILE, "info", self.vault, "-c", cell))

    def test_a_tpm_holds_the_cell(self):
        tools = [t for t in ("swtpm", "tpm2_nvdefine", "tpm2_nvwrite") if not shutil.which(t)]
        if tools:
            self.skipTest("not installed: " + " ".join(tools))
        port = tap.free_port()  # the library finds the control channel at the next one
        server = subprocess.Popen(["swtpm", "socket", "--tpm2", "--tpmstate", "dir=" + self.dir, "--flags",
                                   "not-need-init,startup-clear", "--server", f"type=tcp,port={port},disconnect",
                                   "--ctrl", f"type=tcp,port={port + 1}"], stdout=subprocess.DEVNULL)
        self.addCleanup(server.wait)
        self.addCleanup(server.kill)
        os.environ["TPM2TOOLS_TCTI"] = f"swtpm:port={port}"
        self.addCleanup(os.environ.pop, "TPM2TOOLS_TCTI")
        define = ["tpm2_nvdefine", "0x1500020", "-C", "o", "-s", "32", "-a", "ownerread|ownerwrite|no_da"]
        for _ in range(50):
            made = subprocess.run(define, capture_output=True, text=True, check=False)
            if made.returncode == 0:
                break
            time.sleep(0.1)
        self.assertEqual(made.returncode, 0, made.stderr)
        cell = os.path.join(HERE, "tpm-cell.sh") + " 0x1500020"
        self.run_vault(DONE, "create", self.vault, "-c", cell)
        self.run_vault(DONE, "erase", self.vault, 3, "-c", cell)
        self.run_vault(PUNCTURED, "eval", self.vault, 3, "-c", cell)
        kept = os.path.join(self.dir, "kept")
        shutil.copy(self.vault, kept)  # a backup, later brought back
        for leaf in (4, 5):
            self.run_vault(DONE, "erase", self.vault, leaf, "-c", cell)
        shutil.copy(kept, self.vault)
        self.assertIn("the store was restored", self.run_vault(FILE, "info", self.vault, "-c", cell))


if __name__ == "__main__":
    sys.exit(tap.run((Program, Commands), sys.argv[1:]))
