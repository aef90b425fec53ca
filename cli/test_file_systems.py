#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the program pprf on real file systems, and where system calls are refused.  Emits TAP.

Usage: cli/test_file_systems.py [--pprf PROGRAM] [--seed N] [TEST...]

A file system is mounted from an image or in user space, in a mount namespace that ends with this
program.  Images are searched for the seeds above a punctured leaf.  Each test of class FileSystems
is a row of the table in docs/command-line.md.
"""
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time

import test_cli
from test_cli import DONE, FAILED, HERE, PUNCTURED, Case, children, cover, encode, value

DEPTH, LEAF = 20, 77
LEFT = ".pprf-0123456789abcdef.tmp"
# file systems without permissions
MODES = "its file system does not keep it from other users (mode 0777)"
READABLE = "all users may read it (mode 0777)"


def table():
    """{test: (the warning when a key is replaced, whether the old key's seeds are gone then)}, from
    the rows of the table."""
    with open(os.path.join(HERE, "..", "docs", "command-line.md"), encoding="utf-8") as f:
        section = f.read().split("\n## File systems\n")[1].split("\n## ")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in section.splitlines() if line[:1] == "|"]
    return {test: ([] if row[2] == "none" else [row[2]], row[3].startswith("gone"))
            for row in rows[2:] for test in re.findall(r"`(\w+)`", row[4])}


def above(seed, leaf):
    """The seeds from which the leaf's value can be computed."""
    yield seed
    for height in reversed(range(DEPTH)):
        seed = children(seed)[leaf >> height & 1]
        yield seed


class Mounted(Case):
    """A key on a file system of the test's own."""

    def setUp(self):
        super().setUp()
        if os.environ["PPRF_MOUNTS"]:
            self.skipTest(os.environ["PPRF_MOUNTS"])
        self.place = self.folder("place")
        self.key = os.path.join(self.place, "key")
        self.image = os.path.join(self.dir, "image")
        self.root = random.Random(f"{test_cli.SEED} {self.id()}").randbytes(16)
        self.warning, self.gone = table().get(self._testMethodName.removeprefix("test_"), ([], False))

    def folder(self, name):
        path = os.path.join(self.dir, name)
        os.mkdir(path)
        return path

    def needs(self, *programs, kernel):
        with open("/proc/filesystems", encoding="ascii") as f:
            if kernel not in f.read().split():
                self.skipTest(f"the kernel has no {kernel}")
        missing = [p for p in programs if not shutil.which(p, path=os.environ["PATH"] + ":/usr/sbin:/sbin")]
        if missing:
            self.skipTest(f"not installed: {' '.join(missing)}")

    def command(self, *words):
        r = subprocess.run(words, check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True)
        if r.returncode != 0:
            self.skipTest(f"{' '.join(words).replace(self.dir + '/', '')}: {' '.join(r.stdout.split())}")
        return r.stdout

    def mount(self, *words):
        """Run a command that mounts something at its last word, or at self.place."""
        at = words[-1] if words[-1].startswith(self.dir) else self.place
        self.command(*words)
        self.addCleanup(self.unmount, at)

    def unmount(self, at=None):
        at = at or self.place
        deadline = time.monotonic() + 60
        while os.path.ismount(at) and subprocess.run(["umount", at], check=False,
                                                     stderr=subprocess.PIPE).returncode != 0:
            self.assertLess(time.monotonic(), deadline, f"{at} stays mounted")
            time.sleep(0.1)

    def make_image(self, megabytes, *words):
        with open(self.image, "wb") as f:
            f.truncate(megabytes << 20)
        self.command(*words, self.image)

    def in_image(self, *seeds):
        """How often the seeds lie in the image: what is written of it, once the file system has
        given all."""
        if os.path.ismount(self.place):
            self.command("sync", "-f", self.place)
        found = 0
        with open(self.image, "rb") as f:
            size = os.fstat(f.fileno()).st_size
            at = 0
            while at < size:
                try:
                    at = os.lseek(f.fileno(), at, os.SEEK_DATA)
                except OSError:  # there is no more data
                    break
                end = os.lseek(f.fileno(), at, os.SEEK_HOLE)
                data = os.pread(f.fileno(), end - at, at)
                found += sum(data.count(seed) for seed in seeds)
                at = end
        return found

    def says(self, expected, status, *args):
        """Run the program: it prints these warnings, each once, and no other line; its output."""
        r = self.run_(*args)
        lines = r.stderr.decode().splitlines()
        self.assertEqual(r.returncode, status, lines)
        self.assertEqual(sorted(lines), sorted(
            f"pprf {args[0]}: warning: {self.key}: {text}" for text in expected), args)
        return r.stdout.decode()

    def use(self, new=(), read=()):
        """What people do with a key: everything works, and the program warns as the table says; also
        of a new file, and when one is read."""
        replaced = self.warning
        def beside():
            return sorted(set(os.listdir(self.place)) - {"lost+found"})
        self.says(new, DONE, "setup", "-d", DEPTH, "-s", self.root.hex(), self.key)
        whole = encode(DEPTH, cover(DEPTH, [], self.root))
        self.assertEqual(self.read(), whole)
        if os.path.exists(self.image):
            self.assertGreater(self.in_image(self.root), 0, "a seed that is there is not found")
        self.assertEqual(self.says(read, DONE, "eval", self.key, LEAF),
                         f"{LEAF} {value(DEPTH, LEAF, self.root)}\n")
        self.assertEqual(self.says([*read, *replaced], DONE, "punct", "--eval", self.key, LEAF),
                         f"{LEAF} {value(DEPTH, LEAF, self.root)}\n")
        self.says(read, PUNCTURED, "eval", "-c", self.key, LEAF)
        self.assertEqual(self.read(), encode(DEPTH, cover(DEPTH, [(LEAF, LEAF)], self.root)))
        self.assertEqual(beside(), ["key"])
        self.write(whole, os.path.join(self.place, LEFT))  # as a killed command leaves it
        self.says([*read, *replaced], DONE, "punct", self.key, "4000..9999")
        self.assertEqual(beside(), ["key"])
        at_once = [self.wait(p) for p in [self.start("punct", "-q", self.key, leaf) for leaf in range(100, 108)]]
        self.assertEqual([(r.returncode, r.stderr) for r in at_once], [(DONE, b"")] * 8)
        self.assertEqual(self.read(), encode(DEPTH, cover(
            DEPTH, [(LEAF, LEAF), (100, 107), (4000, 9999)], self.root)))
        r = self.run_("setup", "-d", DEPTH, self.key)
        self.assertEqual(r.returncode, FAILED)
        self.assertIn(b"already exists", r.stderr)
        self.says({*new, *replaced}, DONE, "setup", "-f", "-d", 4, "-s", self.root[::-1].hex(), self.key)
        self.assertEqual(self.read(), encode(4, cover(4, [], self.root[::-1])))
        self.assertEqual(beside(), ["key"])

    def search(self):
        """After one puncture the old key's seeds lie in the image, or do not, as the table says."""
        seed = self.root[::-1]
        self.expect(DONE, "setup", "-f", "-d", DEPTH, "-s", seed.hex(), self.key)
        self.assertGreater(self.in_image(seed), 0, "a seed that is there is not found")
        self.expect(DONE, "punct", self.key, LEAF)
        self.unmount()
        left = self.in_image(*above(seed, LEAF))
        self.assertEqual(left == 0, self.gone, f"seeds above a punctured leaf: {left}")

    def overwrites(self, path):
        """The old key's file is overwritten where it lies."""
        with open(path, "rb") as old:
            self.says(self.warning, DONE, "punct", self.key, 1)
            content = old.read()
            self.assertEqual(content, bytes(len(content)))

    def in_user_space(self, *words):
        """Mount by a program that stays in the foreground; the process."""
        process = subprocess.Popen(words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(self.unmount)
        deadline = time.monotonic() + 60
        while not os.path.ismount(self.place):
            if process.poll() is not None:
                self.skipTest(f"{words[0]}: {' '.join(process.stdout.read().decode().split())}")
            self.assertLess(time.monotonic(), deadline, "it is not mounted")
            time.sleep(0.02)
        return process

    def exfat(self):
        self.needs("mkfs.exfat", "mount.exfat-fuse", "losetup", kernel="fuse")
        self.make_image(16, "mkfs.exfat")
        device = self.command("losetup", "--show", "-f", self.image).strip()
        self.addCleanup(subprocess.run, ["losetup", "-d", device], check=False, stderr=subprocess.PIPE)
        self.mount("mount.exfat-fuse", device, self.place)
        self.command("losetup", "-d", device)  # once it is unmounted

    def ntfs(self):
        self.needs("mkfs.ntfs", "ntfs-3g", kernel="fuse")
        self.make_image(16, "mkfs.ntfs", "-F", "-q")
        return self.in_user_space("ntfs-3g", "-o", "no_detach", self.image, self.place)

    def stopped_before_the_wipe(self):
        """A punct that is stopped when the new key has its name and the old one is to be
        overwritten."""
        strace = shutil.which("strace")
        if strace is None:
            self.skipTest("not installed: strace")
        trace = os.path.join(self.dir, "trace")
        process = self.start("-f", "-qq", "-o", trace, "-e", "trace=pwrite64", "-e",
                             "inject=pwrite64:error=EIO:signal=SIGSTOP:when=1", os.path.abspath(test_cli.PPRF),
                             "punct", self.key, LEAF, program=strace)
        deadline = time.monotonic() + 60
        while True:
            self.assertIsNone(process.poll(), "it was not stopped")
            self.assertLess(time.monotonic(), deadline, "it was not stopped")
            with open(f"/proc/{process.pid}/task/{process.pid}/children", encoding="ascii") as f:
                child = f.read().split()
            if child and os.path.exists(trace):
                with open(f"/proc/{child[0]}/stat", encoding="ascii") as f, open(trace, encoding="ascii") as log:
                    if f.read().rsplit(")", 1)[1].split()[0] in "tT" and "SIGSTOP" in log.read():
                        return process, int(child[0])
            time.sleep(0.02)


class FileSystems(Mounted):
    def test_ext4(self):
        self.needs("mkfs.ext4", kernel="ext4")
        self.make_image(16, "mkfs.ext4", "-q")
        self.mount("mount", "-o", "loop", self.image, self.place)
        self.use()
        self.search()

    def test_xfs(self):
        self.needs("mkfs.xfs", kernel="xfs")
        self.make_image(300, "mkfs.xfs", "-q")
        self.mount("mount", "-o", "loop", self.image, self.place)
        self.use()
        self.search()

    def test_ext4_journal(self):
        self.needs("mkfs.ext4", kernel="ext4")
        self.make_image(16, "mkfs.ext4", "-q")
        self.mount("mount", "-o", "loop,data=journal", self.image, self.place)
        self.use()
        self.search()

    def test_ext4_inline(self):
        """Content in the inode, which ext4 writes to its journal: of keys that fit there only."""
        self.needs("mkfs.ext4", kernel="ext4")
        self.make_image(16, "mkfs.ext4", "-q", "-O", "inline_data", "-I", "256")
        self.mount("mount", "-o", "loop", self.image, self.place)
        self.says([], DONE, "setup", "-d", DEPTH, "-s", self.root.hex(), self.key)
        self.says(self.warning, DONE, "punct", self.key, LEAF)
        self.says([], DONE, "punct", self.key, LEAF + 1)
        self.search()

    def test_btrfs(self):
        self.needs("mkfs.btrfs", kernel="btrfs")
        self.make_image(120, "mkfs.btrfs", "-q")
        self.mount("mount", "-o", "loop", self.image, self.place)
        self.use()
        self.search()

    def test_tmpfs(self):
        self.needs(kernel="tmpfs")
        self.mount("mount", "-t", "tmpfs", "pprf", self.place)
        self.use()
        self.overwrites(self.key)

    def layers(self):
        """Mount an overlay whose upper layer is in memory."""
        self.mount("mount", "-t", "tmpfs", "pprf", self.dir + "/memory")
        for name in ("upper", "work"):
            os.mkdir(f"{self.dir}/memory/{name}")
        self.mount("mount", "-t", "overlay", "pprf", "-o", f"lowerdir={self.dir}/lower,upperdir={self.dir}/memory/"
                   f"upper,workdir={self.dir}/memory/work", self.place)

    def test_overlayfs(self):
        self.needs(kernel="overlay")
        self.folder("lower")
        self.folder("memory")
        self.layers()
        self.use(new=self.warning)

    def test_overlayfs_lower(self):
        self.needs(kernel="overlay")
        self.folder("memory")
        lower = os.path.join(self.folder("lower"), "key")
        self.make(DEPTH, lower)
        before = self.read(lower)
        self.layers()
        self.says(self.warning, DONE, "punct", self.key, LEAF)
        self.says([], PUNCTURED, "eval", "-c", self.key, LEAF)
        self.assertEqual(self.read(lower), before, "the lower layer's key")
        for at in (self.place, self.dir + "/memory"):
            self.unmount(at)
        self.layers()  # as after a reboot
        self.assertEqual(self.says([], DONE, "eval", "-c", self.key, LEAF), f"{LEAF} live\n")

    def test_exfat(self):
        self.exfat()
        self.use(new=[MODES], read=[READABLE])
        self.search()

    def test_exfat_kill(self):
        self.exfat()
        self.says([MODES], DONE, "setup", "-d", DEPTH, "-s", self.root.hex(), self.key)
        process, child = self.stopped_before_the_wipe()
        os.kill(child, signal.SIGKILL)
        self.wait(process)
        self.says([READABLE], PUNCTURED, "eval", "-c", self.key, LEAF)
        self.assertEqual(os.listdir(self.place), ["key"])
        self.unmount()
        self.assertGreater(self.in_image(self.root), 0)

    def test_ntfs(self):
        self.ntfs()
        self.use(new=[MODES], read=[READABLE])

    def test_ntfs_record(self):
        self.ntfs()
        self.search()

    def test_ntfs_power_cut(self):
        daemon = self.ntfs()
        self.says([MODES], DONE, "setup", "-d", DEPTH, "-s", self.root.hex(), self.key)
        process, child = self.stopped_before_the_wipe()
        self.command("sync", "-f", self.place)
        daemon.kill()
        os.kill(child, signal.SIGKILL)
        self.wait(process)
        self.command("umount", "-l", self.place)
        self.in_user_space("ntfs-3g", "-o", "no_detach", self.image, self.place)
        hidden = [name for name in os.listdir(self.place) if name.startswith(".fuse_hidden")]
        self.assertEqual(len(hidden), 1, os.listdir(self.place))
        self.assertIn(self.root, self.read(os.path.join(self.place, hidden[0])))
        r = self.run_("eval", "-c", self.key, LEAF)
        self.assertEqual(r.returncode, PUNCTURED)
        self.assertIn(f"{self.key}: a killed command left an older key beside it, {hidden[0]}", r.stderr.decode())
        with open(os.path.join(self.place, hidden[0]), "rb") as old:
            self.expect(DONE, "punct", self.key, 1)
            content = old.read()
            self.assertEqual(content, bytes(len(content)))
        self.unmount_and_mount_ntfs()
        self.assertEqual(os.listdir(self.place), ["key"])

    def unmount_and_mount_ntfs(self):
        self.unmount()
        self.in_user_space("ntfs-3g", "-o", "no_detach", self.image, self.place)

    def remote(self):
        """A folder behind sshfs."""
        server = "/usr/lib/openssh/sftp-server"
        self.needs("sshfs", kernel="fuse")
        if not os.path.exists(server):
            self.skipTest("not installed: sftp-server")
        ssh = os.path.join(self.dir, "ssh")
        with open(ssh, "w", encoding="ascii") as f:
            f.write(f"#!/bin/sh\nexec {server}\n")
        os.chmod(ssh, 0o700)
        remote = self.folder("remote")
        self.in_user_space("sshfs", "-f", "-o", f"ssh_command={ssh}", "host:" + remote, self.place)
        return remote

    def test_sshfs(self):
        remote = self.remote()
        self.use()
        self.overwrites(os.path.join(remote, "key"))

    def test_fuse_overlayfs(self):
        self.needs("fuse-overlayfs", kernel="fuse")
        lower = os.path.join(self.folder("lower"), "key")
        self.make(DEPTH, lower)
        before = self.read(lower)
        for name in ("upper", "work"):
            self.folder(name)
        self.in_user_space("fuse-overlayfs", "-f", "-o", f"lowerdir={self.dir}/lower,upperdir={self.dir}/upper,"
                           f"workdir={self.dir}/work", self.place)
        self.says(self.warning, DONE, "punct", self.key, LEAF)
        self.says([], PUNCTURED, "eval", "-c", self.key, LEAF)
        self.assertEqual(self.read(lower), before, "the lower layer's key")
        os.remove(self.key)
        self.use()

    def other(self, kernel, *words, new=(), read=()):
        """One that few kernels have."""
        self.needs(words[0], kernel=kernel)
        self.make_image(120, *words)
        self.mount("mount", "-o", "loop", self.image, self.place)
        self.use(new=new, read=read)
        self.search()

    def test_f2fs(self):
        self.other("f2fs", "mkfs.f2fs", "-q")

    def test_nilfs2(self):
        self.other("nilfs2", "mkfs.nilfs2", "-q")

    def test_bcachefs(self):
        self.other("bcachefs", "mkfs.bcachefs", "-q")

    def test_fat(self):
        self.other("vfat", "mkfs.vfat", new=[MODES.replace("0777", "0755")], read=[READABLE.replace("0777", "0755")])


class Table(Case):
    def test_each_row_has_its_tests(self):
        self.assertEqual({"test_" + name for name in table()}, {n for n in dir(FileSystems) if n.startswith("test_")})


class Refused(Case):
    """A container's filter of system calls, played by strace."""

    OPTIONAL = ("renameat2 linkat fstatfs getrandom fgetxattr fremovexattr ioctl access madvise mlock mlock2 munlock "
                "prctl prlimit64 mincore rt_sigaction").split()

    def setUp(self):
        super().setUp()
        self.log = os.path.join(self.dir, "trace")
        r = self.traced([], "--version")
        if r is None or r.returncode != DONE:
            self.skipTest("not installed: strace" if r is None else "strace: " + r.stderr.decode())
        self.make(DEPTH)
        self.old = self.read()
        self.new = encode(DEPTH, cover(DEPTH, [(LEAF, LEAF)]))
        self.fresh = encode(DEPTH, cover(DEPTH, []))

    def traced(self, injected, *args):
        strace = shutil.which("strace")
        return strace and self.run_("-f", "-qq", "-o", self.log, *(word for text in injected for word in (
            "-e", "inject=" + text)), os.path.abspath(test_cli.PPRF), *args, program=strace)

    def calls(self, *args):
        """The system calls of a command, with the count of each before the key is looked at."""
        self.traced([], *args)
        before, names, begun = {}, set(), False
        with open(self.log, encoding="utf-8", errors="replace") as f:
            for line in f:
                found = re.match(r"\d+ +(\w+)\(", line)
                begun = begun or os.path.basename(self.key) + '"' in line and "execve" not in line
                if found and begun:
                    names.add(found[1])
                elif found:
                    before[found[1]] = before.get(found[1], 0) + 1
        return {name: before.get(name, 0) + 1 for name in names | set(self.OPTIONAL) & set(before)}

    def again(self, content):
        for name in os.listdir(self.dir):
            os.remove(os.path.join(self.dir, name))
        if content is not None:
            self.write(content)
            os.chmod(self.key, 0o600)

    def beside(self):
        return sorted(set(os.listdir(self.dir)) - {"key", "trace"})

    def test_what_is_refused_and_not_needed_counts_as_not_there(self):
        seed = ["-d", DEPTH, "-s", test_cli.ROOT_SEED.hex()]
        for args, old, new in ((["punct", self.key, LEAF], self.old, self.new),
                               (["setup", *seed, self.key], None, self.fresh),
                               (["setup", "-f", *seed, self.key], self.new, self.fresh)):
            self.again(old)
            asked = self.calls(*args)
            self.assertLessEqual({"linkat", "fstatfs", "madvise"}, set(asked))
            sets = [[name] for name in self.OPTIONAL if name in asked]
            for names in [*sets, ["linkat", "renameat2"], [name for name in self.OPTIONAL if name in asked]]:
                for error in ("EPERM", "ENOSYS"):
                    with self.subTest(args=args, refused=names, error=error):
                        self.again(old)
                        with open(self.key if old else "/dev/null", "rb") as kept:
                            r = self.traced([f"{name}:error={error}" for name in names], *args)
                            self.assertEqual((r.returncode, r.stderr), (DONE, b""))
                            self.assertEqual((self.read(), self.beside()), (new, []))
                            if old:
                                self.assertEqual(kept.read(), bytes(len(old)))

    def test_what_is_refused_and_needed_leaves_the_key_as_it_was(self):
        asked = self.calls("punct", self.key, LEAF)
        self.assertLessEqual({"flock", "fsync", "openat", "unlinkat", "pwrite64", "write"}, set(asked))
        for name in sorted(set(asked) - set(self.OPTIONAL) - {"exit_group"}):
            for error in ("EPERM", "ENOSYS"):
                with self.subTest(refused=name, error=error):
                    self.again(self.old)
                    r = self.traced([f"{name}:error={error}:when={asked[name]}+"], "punct", self.key, LEAF)
                    said = r.stderr.decode()
                    if r.returncode == DONE:  # all is done, or what stays is named
                        self.assertEqual(self.read(), self.new)
                        self.assertTrue(said or not self.beside())
                        self.assertRegex(said, r"\A(pprf punct: warning: [^\n]*\n)*\Z")
                    else:
                        late = "a crash may undo it" in said or "standard output: " in said
                        self.assertTrue(self.read() == self.old or late and self.read() == self.new, (name, said))
                    self.expect(PUNCTURED if self.read() == self.new else DONE, "punct", self.key, LEAF)
                    self.assertEqual((self.read(), self.beside()), (self.new, []))


def main():
    if "PPRF_MOUNTS" not in os.environ:
        alone = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc",
                 *(["--map-root-user"] if os.geteuid() != 0 else [])]
        tried = subprocess.run([*alone, "true"], check=False, stderr=subprocess.PIPE, text=True)
        os.environ["PPRF_MOUNTS"] = "" if tried.returncode == 0 else " ".join(tried.stderr.split())
        if tried.returncode == 0:
            os.execvp(alone[0], [*alone, sys.executable, *sys.argv])
    test_cli.main((Table, FileSystems, Refused), __doc__)


if __name__ == "__main__":
    main()
