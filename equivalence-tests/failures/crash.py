#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""TAP: `pprf punct` and `pprf setup` leave the old key file or the new one, never anything between,
and punctured seeds are no longer on the disk.

  - the trace of a command, which names files instead of descriptors, has every step in its place:
    locking, checking, writing, syncing, naming, overwriting and removing;
  - every call that can fail (files, memory, digest, random generator) fails in turn;
  - the program is killed before every call in turn, also on file systems without nameless files,
    without exchange of names, and without hard links;
  - a signal comes before every call in turn;
  - `pprf punct` is killed at random moments (100; --full: 1000);
  - no seed is left in memory, argument or buffer at the end.

After each: the file decodes and holds the old key or the new one, and the new one if the program
reported success. Leftover files are recognised: reading commands warn of them, and after the next
writing command only the key is there, and every byte of the old key's file is zero. The
environment's SEED repeats the random moments.
"""
import hashlib
import os
import pty
import random
import re
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, "tools")
import tap  # noqa: E402

BUILD = os.environ.get("BUILD", "build")
PPRF = os.path.join(BUILD, "pprf")
PRELOAD = os.path.abspath(os.path.join(BUILD, "equivalence-tests", "crash_preload.so"))
DONE, USAGE, FILE, PUNCTURED, FAILED = range(5)
SEED = "9b3e61d07f24c8a55d12e6f0834bb97c"  # not a constant that code might load into a vector register
ACL = "system.posix_acl_access"
TEMPORARY = re.compile(r"\.pprf-[0-9a-f]{16}\.tmp")
# What a file system may lack. If it lacks all, a kill leaves the old bytes, as SECURITY.md says.
KINDS = {"": {}, "_named": {"NO_TMPFILE": "1"}, "_no_exchange": {"NO_EXCHANGE": "1"},
         "_named_no_exchange": {"NO_TMPFILE": "1", "NO_EXCHANGE": "1"},
         "_rename_only": {"NO_EXCHANGE": "1", "NO_LINK": "1"},
         "_filtered_rename_only": {"FILTERED": "1", "NO_TMPFILE": "1"}}
# Calls in cli/ that touch no file, or only read what one of the calls above opened.
HARMLESS = set("""
    __errno_location __stack_chk_fail _exit _GLOBAL_OFFSET_TABLE_ __cxa_atexit atexit clock_gettime
    closedir exp log ldexp sqrt sincos round explicit_bzero fclose fcntl fcntl64 fdopen fdopendir ferror
    fflush fgets fprintf fputc fputs free fwrite geteuid getopt_long getrusage isatty madvise memcmp
    memcpy memmove memset mlock prctl printf putc putchar puts qsort raise readdir readdir64
    secure_getenv setrlimit setrlimit64 sigaction sigfillset signal snprintf stat stat64 lstat lstat64
    strcmp strcspn strerror strlen strncmp strrchr strspn strstr strtod sysconf tcgetattr tcsetattr
    vsnprintf access execv ioctl readlink optarg opterr optind optopt stderr stdout stdin strchr
    json_delete json_dumpf json_integer json_object_set_new json_pack json_real""".split())
number = failed = 0


def result(ok, claim):
    global number, failed
    number += 1
    failed += not ok
    print("%sok %d - %s" % ("" if ok else "not ", number, claim), flush=True)
    if not ok and "STOP" in os.environ:  # stop at the first failure
        sys.exit(1)


def note(text):
    print("# " + text, flush=True)


def read(path):
    with open(path, "rb") as f:
        return f.read()


def decodes(data):
    return (len(data) >= 48 and data[:9] == b"PPRFKEY\1\1" and
            hashlib.sha3_256(data[:-32]).digest() == data[-32:])


def run(arguments, text=b"", **environment):
    return subprocess.run([PPRF] + arguments, input=text, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=dict(os.environ, **environment))


def parse(text):
    """The trace's lines: (event, {name: value}), with numbers converted."""
    events = []
    for line in text.splitlines():
        event, *rest = line.split("\t")
        values = dict(item.split("=", 1) for item in rest if not item.startswith("="))
        events.append((event, {k: int(v) if re.fullmatch(r"-?\d+", v) else v
                               for k, v in values.items()}))
    return events


class Case:
    """A key file and a command that changes it; the command can be run again from the start."""

    acl = None  # the key's access control list
    left = False  # whether a killed command left a copy of the old key beside it

    def __init__(self, scratch, name, impl, depth, before, command, leaves):
        self.directory, self.log = os.path.join(scratch, name), os.path.join(scratch, name + ".log")
        os.mkdir(self.directory)
        self.name, self.path = name, os.path.join(self.directory, "key")
        self.kept = self.kept_left = None
        self.command = command + ["--impl", impl, self.path] + leaves
        self.old = None
        if before is not None:
            run(["setup", "--impl", impl, "--depth", str(depth), "--seed", SEED, self.path])
            if before:
                run(["punct", "--impl", impl, self.path] + before)
            self.old = read(self.path)
        code = run(self.command).returncode
        if code != DONE:
            sys.exit("Bail out! %s: %d" % (command, code))
        self.new = read(self.path)
        if self.old == self.new:
            sys.exit("Bail out! the command changed nothing")

    def reset(self):
        if self.kept is not None:
            os.close(self.kept)
            self.kept = None
        for name in os.listdir(self.directory):
            os.unlink(os.path.join(self.directory, name))
        if self.old is not None:
            with open(self.path, "wb", opener=lambda p, f: os.open(p, f, 0o640)) as f:
                f.write(self.old)
            self.kept = os.open(self.path, os.O_RDONLY)  # the file itself, even if its name goes away
        if self.acl is not None:
            os.setxattr(self.path, ACL, self.acl)
        if self.left:
            path = os.path.join(self.directory, ".pprf-0123456789abcdef.tmp")
            with open(path, "wb") as f:
                f.write(self.old)
            if self.kept_left is not None:
                os.close(self.kept_left)
            self.kept_left = os.open(path, os.O_RDONLY)

    def trace(self, **environment):
        """Run the command; returns its outcome and its events."""
        self.reset()
        if os.path.exists(self.log):
            os.unlink(self.log)
        r = run(self.command, LD_PRELOAD=PRELOAD, TRACE_TO=self.log, **environment)
        return r, parse(read(self.log).decode(errors="replace"))

    def holds(self, code, what):
        """Whether the file is the old or the new key; it must be the new one if `code` says
        success."""
        data = read(self.path) if os.path.exists(self.path) else None
        if data == self.new:
            return "new"
        if data == self.old and code not in (DONE, PUNCTURED):
            return "old"
        note("%s: status %s, %s" % (what, code, "no file" if data is None else "the old key"
                                    if data == self.old else "%d bytes, %s" % (
                                        len(data), "a key" if decodes(data) else "no key")))
        return None

    def permissions(self):
        """Whether the key grants no rights that the old one did not: mode 0640, or a list with that
        mask."""
        mode = stat.S_IMODE(os.stat(self.path).st_mode)
        acl = os.getxattr(self.path, ACL) if ACL in os.listxattr(self.path) else None
        if self.acl is not None and acl is None:
            return mode & ~0o600 == 0  # the group itself had no rights
        return mode & ~0o640 == 0 and acl in (None, self.acl)

    def beside(self):
        return sorted(set(os.listdir(self.directory)) - {"key"})

    def old_is_erased(self):
        """Whether the file that held the old key holds zeros, or is still the key."""
        if self.left and os.pread(self.kept_left, 2 * len(self.old), 0) != bytes(len(self.old)):
            return False
        if self.kept is None:
            return True
        if os.path.exists(self.path) and os.path.samestat(os.fstat(self.kept), os.stat(self.path)):
            return True
        size = os.fstat(self.kept).st_size
        return size == len(self.old) and os.pread(self.kept, size, 0) == bytes(size)

    def clean_after_next(self, what, erased=True):
        """Files beside the key are recognised: a reader warns of them and leaves them; the command,
        run again, does its work and leaves only the key in the directory."""
        beside = self.beside()
        ok = all(TEMPORARY.fullmatch(n) for n in beside)
        if beside and os.path.exists(self.path):
            warned = run(["info", self.path])
            ok &= warned.returncode == DONE and all(n in warned.stderr.decode() for n in beside)
            ok &= self.beside() == beside
        again = run(self.command + (["--force"] if "setup" in self.command else []))
        ok &= again.returncode in (DONE, PUNCTURED) and read(self.path) == self.new
        ok &= self.beside() == [] and (not erased or self.old_is_erased())
        if not ok:
            note("%s: beside the key %s, then %s; run again: %d %s; the old file is %serased" % (
                what, beside, self.beside(), again.returncode, again.stderr.decode().strip(),
                "" if self.old_is_erased() else "not "))
        return ok


# ---- the trace ----

class Trace:
    """The events of an undisturbed run, with its files by inode number."""

    def __init__(self, case, events):
        self.events = events
        self.old = os.fstat(case.kept).st_ino if case.kept is not None else -1
        self.new = os.stat(case.path).st_ino
        self.dir = os.stat(case.directory).st_ino
        self.end = len(events)

    def all(self, event, **wanted):
        return [i for i, (e, v) in enumerate(self.events) if e == event and
                all(v.get(k) == w for k, w in wanted.items())]

    def first(self, event, after=-1, **wanted):
        return next((i for i in self.all(event, **wanted) if i > after), self.end)

    def last(self, event, before=None, **wanted):
        before = self.end if before is None else before
        return max((i for i in self.all(event, **wanted) if i < before), default=-1)


def steps(case, events, kind):
    """Yields the claims about the order of steps, each with whether it holds."""
    t = Trace(case, events)
    named = "NO_TMPFILE" in KINDS[kind]
    renamed = kind.endswith("_rename_only") or ("NO_EXCHANGE" in KINDS[kind] and t.old > 0)
    placed = (t.first("renameat", ok=1, **{"from": t.new}) if renamed else
              t.first("exchange", ok=1, **{"from": t.new, "to": t.old}) if t.old > 0 else
              t.first("exchange", ok=1, **{"from": t.new}) if kind == "_named" else
              t.first("linkat", ok=1, ino=t.new, name="key"))
    linked = t.first("linkat", ok=1, ino=t.new)
    changes = [i for e in ("write", "pwrite", "fchmod", "fchown", "fsetxattr", "fremovexattr")
               for i in t.all(e, ino=t.new)]
    dir_synced = t.first("fsync", after=placed, ino=t.dir, ok=1)
    created = t.first("openat", ino=t.new, ok=1)
    locked_new = t.first("flock", ino=t.new, how=2, ok=1)
    written = sum(v["len"] for e, v in events if e == "write" and v.get("ino") == t.new and v["ok"])
    blocked = t.last("sigprocmask", before=created, how="block")
    unblocked = t.first("sigprocmask", after=blocked, how="set")
    yield ("the_new_file_is_made_exclusively_or_without_a_name",
           created < t.end and (events[created][1]["unnamed"] == (0 if named else 1)) and
           (not named or events[created][1]["exclusive"] == events[created][1]["nofollow"] == 1))
    yield ("the_new_file_is_locked_before_it_has_content_or_a_name",
           created < locked_new < min(linked, min(changes)))
    yield ("the_new_file_is_locked_until_the_directory_is_synced",
           dir_synced < t.first("close", ino=t.new))
    yield ("the_new_file_has_its_permissions_after_its_content",
           t.first("fchmod", ino=t.new, mode=0o600) < t.first("write", ino=t.new) and
           (t.old < 0 or "setup" in case.command or
            t.last("write", ino=t.new) < t.last("fchmod", ino=t.new, mode=0o640)))
    yield ("the_new_file_is_synced_after_its_last_change_and_before_it_is_named",
           written == len(case.new) and
           max(changes) < t.last("fsync", before=min(linked, placed), ino=t.new, ok=1))
    yield "the_directory_is_synced_after_the_names_change", placed < dir_synced < t.end
    yield ("signals_are_held_from_before_the_new_file_to_the_end",
           blocked >= 0 and events[blocked][1]["signals"] >= 62 and
           max(t.last("unlinkat"), t.last("fsync"), t.last("pwrite")) < unblocked < t.end)
    yield ("nothing_is_printed_before_the_directory_is_synced",
           t.first("write", fd=1) > t.last("fsync", ino=t.dir))
    if t.old < 0:
        return
    locked = t.first("flock", ino=t.old, how=2, ok=1)
    content = t.first("pread", ino=t.old)
    temporary = [v["name"] for e, v in events if e in ("linkat", "exchange") and
                 TEMPORARY.fullmatch(str(v.get("name"))) and v["ok"]][-1:]
    gone = t.first("unlinkat", ino=t.old, ok=1)
    zeros = [(v["at"], v["at"] + v["len"]) for i, (e, v) in enumerate(events)
             if e == "pwrite" and v["ino"] == t.old and v["zero"] and v["ok"] and
             dir_synced < i < gone]
    covered = 0
    for begin, end in sorted(zeros):
        covered = max(covered, end) if begin <= covered else covered
    replaced = gone if not kind.endswith("_rename_only") else t.last("fsync", ino=t.old)
    yield ("the_old_file_is_locked_before_it_is_read_until_it_is_replaced",
           locked < min(content, created) and replaced < t.first("close", ino=t.old) and
           t.all("flock", ino=t.old) == [locked])
    yield ("the_name_is_checked_under_the_lock_and_again_at_the_end",
           t.first("fstatat", after=locked, name="key", ino=t.old) < created and
           t.last("fstatat", before=placed, name="key", ino=t.old) > t.last("write", ino=t.new) and
           (kind.endswith("_rename_only") or
            t.first("fstatat", ino=t.old, **({"name": temporary[0]} if temporary else {})) < gone))
    yield ("the_old_file_is_overwritten_in_full_once_the_directory_is_synced",
           covered == len(case.old) and dir_synced < t.first("pwrite", ino=t.old))
    overwritten = t.last("pwrite", ino=t.old)
    synced = t.first("fsync", after=overwritten, ino=t.old, ok=1)
    yield "the_overwritten_file_is_synced_before_it_is_removed", synced < min(gone, t.end)
    if not kind.endswith("_rename_only"):
        yield ("the_directory_is_synced_after_the_removal",
               gone < t.first("fsync", after=gone, ino=t.dir, ok=1) < t.end)


def sweep_steps(case, events):
    """The same for files that a killed command left."""
    t = Trace(case, events)
    left = os.fstat(case.kept_left).st_ino
    wiped = t.all("pwrite", ino=left, zero=1, ok=1)
    gone = t.first("unlinkat", ino=left, ok=1)
    yield ("what_was_left_is_locked_without_waiting_before_it_is_overwritten",
           t.first("flock", ino=left, how=6, ok=1) < wiped[0] if wiped else False)
    yield ("the_directory_is_synced_before_what_was_left_is_overwritten",
           bool(wiped) and t.first("fsync", ino=t.dir, ok=1) < wiped[0])
    yield ("what_was_left_is_overwritten_and_synced_before_it_is_removed",
           sum(events[i][1]["len"] for i in wiped) == len(case.old) and
           wiped[-1] < t.first("fsync", ino=left, ok=1) < gone < t.end)
    yield ("the_directory_is_synced_after_what_was_left_is_removed",
           gone < t.first("fsync", after=gone, ino=t.dir) < t.first("openat", ino=t.new))
    yield ("the_key_is_locked_before_anything_beside_it_is_touched",
           t.first("flock", ino=t.old, how=2, ok=1) < t.first("flock", ino=left))


# ---- failures, kills, signals ----

def points(events, full, files_only):
    """The numbers of the calls to fail or kill at, with their names. Hundreds of calls compare the
    digest with the library's own; the quick run takes only some of these."""
    names = [v["name"] for e, v in events if e == "call"]
    digest = [at for at, name in enumerate(names, 1) if name.startswith("EVP_Digest")]
    left_out = set() if full else set(digest[3:-12]) - set(digest[3:-12:31])
    memory = ("EVP", "RAND", "malloc", "calloc", "realloc", "mmap", "munmap", "strdup", "read")
    return [(at, name) for at, name in enumerate(names, 1) if at not in left_out and
            not (files_only and name.startswith(memory) and name != "realpath")]


def every_call(case, calls, kill, kind=""):
    ok, after, left = True, {"old": 0, "new": 0}, {"old": 0, "new": 0, "zero": 0, "part": 0}
    for at, name in calls:
        what = "%s%s at call %d, %s" % ("killed" if kill else "failure", kind, at, name)
        more = {"FAIL_KILL": "1"} if kill else {}
        r, events = case.trace(FAIL_AT=str(at), **more, **KINDS[kind])
        held = case.holds(r.returncode, what)
        ok &= held is not None and (not kill or r.returncode == -signal.SIGKILL)
        after[held or "old"] += 1
        if os.path.exists(case.path) and not case.permissions():
            note("%s: mode %o" % (what, os.stat(case.path).st_mode))
            ok = False
        for name in case.beside():
            data = read(os.path.join(case.directory, name))
            left["old" if data == case.old else "new" if data == case.new else
                 "part" if data.strip(b"\0") else "zero"] += 1
        if not kill:
            undone = b"a crash may undo it" in r.stderr
            unprinted = b"standard output: " in r.stderr
            lost = any(v.get("lost") for _, v in events) and not kind.endswith("_rename_only")
            good = (r.returncode in (DONE, FAILED, FILE, USAGE) and
                    (held == "old" or r.returncode == DONE or undone or unprinted) and
                    (r.returncode == DONE or r.stderr != b"") and not lost and
                    not (undone and (r.returncode != FAILED or r.stdout != b"")) and
                    # every output that is not a warning is a failure
                    (r.returncode != DONE or all(b": warning: " in line
                                                 for line in r.stderr.splitlines())))
            if not good:
                note("%s: %s key, status %d, %s%s" % (
                    what, held, r.returncode, r.stderr.decode().strip(),
                    ", bytes of a key lost their name" if lost else ""))
            ok &= good
        ok &= case.clean_after_next(what, erased=not kind.endswith("_rename_only"))
    return ok, after, left


def every_signal(case, events):
    """While signals are held, the work is finished before a signal ends the program."""
    held, ok, count, at = False, True, 0, 0
    for event, v in events:
        if event == "sigprocmask":
            held = v["how"] == "block"
        if event != "call":
            continue
        at += 1
        if not held or v["name"].startswith(("EVP", "malloc")) or v["name"] == "sigprocmask":
            continue
        for number_ in (signal.SIGTERM, signal.SIGALRM):
            r, _ = case.trace(FAIL_AT=str(at), FAIL_RAISE=str(int(number_)))
            good = (r.returncode == -number_ and case.holds(DONE, "signal at call %d" % at) == "new"
                    and case.beside() == [] and case.old_is_erased())
            if not good:
                note("signal %d at call %d, %s: status %d, beside the key %s" % (
                    number_, at, v["name"], r.returncode, case.beside()))
            ok, count = ok and good, count + 1
    return ok and count > 20, count


def replaced_by_another(case, kind, name, which, foreign):
    """A program that ignores the lock replaces the key just before a call."""
    _, events = case.trace(**KINDS[kind])
    calls = [v["name"] for e, v in events if e == "call"]
    at = [i for i, n in enumerate(calls, 1) if n == name][which]
    case.reset()
    process = subprocess.Popen(
        [PPRF] + case.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_AT=str(at),
                                         FAIL_RAISE=str(int(signal.SIGSTOP)), **KINDS[kind]))
    os.waitpid(process.pid, os.WUNTRACED)
    with open(case.path + ".other", "wb") as f:
        f.write(foreign)
    inode = os.stat(case.path + ".other").st_ino
    os.rename(case.path + ".other", case.path)
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate()
    ok = (process.returncode == FAILED and b"another program replaced it" in err and
          read(case.path) == foreign and os.stat(case.path).st_ino == inode and
          case.beside() == [])
    if not ok:
        note("%s: status %d, %s, %s" % (name, process.returncode, err.decode(), case.beside()))
    return ok


def unknown_sizes(case):
    """A key file is not read if its type, or its size under the lock, cannot be determined."""
    ok = True
    for command in (case.command, ["info", case.path]):
        case.reset()
        if os.path.exists(case.log):
            os.unlink(case.log)
        run(command, LD_PRELOAD=PRELOAD, TRACE_TO=case.log)
        calls = [v["name"] for e, v in parse(read(case.log).decode()) if e == "call"]
        # before the lock and under it; the first fstat is of standard error
        for at in [i for i, n in enumerate(calls, 1) if n == "fstat"][1:3]:
            case.reset()
            r = run(command, LD_PRELOAD=PRELOAD, FAIL_AT=str(at))
            good = (r.returncode == FILE and b"Input/output error" in r.stderr and r.stdout == b"" and
                    read(case.path) == case.old and case.beside() == [])
            if not good:
                note("%s, call %d: status %d, %s" % (command[0], at, r.returncode, r.stderr.decode().strip()))
            ok &= good
    return ok


def complains_without_memory(scratch):
    """The message of a failure if there is no memory for its text: the same one, of less than 512 bytes."""
    missing, log = os.path.join(scratch, "missing"), os.path.join(scratch, "missing.log")
    whole = run(["info", missing], LD_PRELOAD=PRELOAD, TRACE_TO=log)
    calls = [v["name"] for e, v in parse(read(log).decode()) if e == "call"]
    r = run(["info", missing], LD_PRELOAD=PRELOAD, FAIL_AT=str(calls.index("vasprintf") + 1))
    return (whole.stderr == b"pprf info: " + missing.encode() + b": No such file or directory\n" and
            (r.returncode, r.stdout, r.stderr) == (whole.returncode, b"", whole.stderr))


def file_systems(scratch):
    """The warning about file systems that keep older keys or lose newer ones, and none on
    others."""
    case = Case(scratch, "file_systems", "opt", 20, ["5"], ["punct"], ["77"])
    for name, number_ in (("overlayfs", 0x794c7630), ("btrfs", 0x9123683e), ("zfs", 0x2fc12fc1),
                          ("bcachefs", 0xca451a4e), ("f2fs", 0xf2f52010), ("nilfs2", 0x3434), ("FUSE", 0x65735546),
                          ("NFS", 0x6969), ("SMB", 0xfe534d42), ("SMB", 0xff534d42), ("9P", 0x1021997), ("", 0xef53)):
        r, _ = case.trace(FILE_SYSTEM=str(number_))
        quiet = run(["punct", "-q", case.path, "78"], LD_PRELOAD=PRELOAD, FILE_SYSTEM=str(number_))
        said = r.stderr.decode()
        result(r.returncode == quiet.returncode == DONE and read(case.path) != case.old and
               said.count("warning: ") == (name != "") and name in said and quiet.stderr == b"",
               "punct_says_what_%s_keeps" % (name or "ext4"))
    for kind in ("", "_named"):
        for turn in "01":
            case.reset()
            r = run(case.command, LD_PRELOAD=PRELOAD, INTERRUPTED=turn, **KINDS[kind])
            result(r.returncode == DONE and r.stderr == b"" and case.beside() == [] and read(case.path) != case.old,
                   "opt_punct%s_makes_interrupted_calls_again_%s" % (kind, turn))
    # a filter that refuses linkat: then a nameless file is made again with a name
    for arguments in (["setup", "-fd4", case.path], ["setup", "-d4", case.path + "2"]):
        r = run(arguments, LD_PRELOAD=PRELOAD, FILTERED="1")
        result(r.returncode == DONE and r.stderr == b"" and case.beside() in ([], ["key2"]),
               "a_filter_that_refuses_links_stops_no_setup%s" % arguments[1])
    # FUSE's name of a file that was open when the machine stopped is recognised; a file that only
    # looks like it stays
    for content, gone in ((case.old, True), (b"none of ours", False)):
        case.reset()
        hidden = os.path.join(case.directory, ".fuse_hidden0000000400000001")
        with open(hidden, "w+b") as f:
            f.write(content)
            f.flush()
            r = run(case.command)
            left = os.pread(f.fileno(), 1 << 16, 0)
        result(r.returncode == DONE and os.path.exists(hidden) != gone and
               left == (bytes(len(content)) if gone else content),
               "a_hidden_file_that_is_%s" % ("an_old_key_is_erased" if gone else "no_key_stays"))


def swept_by_another(case):
    """A file that has its name but is not locked yet looks left over to another writer."""
    _, events = case.trace(NO_TMPFILE="1")
    calls = [v["name"] for e, v in events if e == "call"]
    at = max(i for i, n in enumerate(calls, 1) if n == "flock")
    case.reset()
    process = subprocess.Popen(
        [PPRF] + case.command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, env=dict(os.environ, LD_PRELOAD=PRELOAD, FAIL_AT=str(at),
                                         FAIL_RAISE=str(int(signal.SIGSTOP)), NO_TMPFILE="1"))
    os.waitpid(process.pid, os.WUNTRACED)
    made = case.beside()
    other = os.path.join(case.directory, "other")
    r = run(["setup", "--depth", "4", other])
    ok = len(made) == 1 and r.returncode == DONE and case.beside() == ["other"]
    process.send_signal(signal.SIGCONT)
    _, err = process.communicate()
    ok &= process.returncode == DONE and err == b"" and case.beside() == ["other"]
    return ok and read(case.path) == case.new and case.old_is_erased()


def no_terminal():
    """Why there is no pseudo-terminal here, or None."""
    try:
        for fd in pty.openpty():
            os.close(fd)
    except OSError as e:
        return str(e)
    return None


def no_lists(directory):
    """Why there are no access control lists here, or None."""
    try:
        os.listxattr(directory)
        os.setxattr(directory, ACL, struct.pack("<IHHIHHIHHI", 2, 1, 7, 2 ** 32 - 1, 4, 0, 2 ** 32 - 1,
                                                0x20, 0, 2 ** 32 - 1))
    except OSError as e:
        return str(e)
    return None


def shows_progress(case, quiet):
    """What punct shows on a terminal when it is stopped for more than a second between two
    leaves."""
    master, slave = pty.openpty()
    environment = {"LD_PRELOAD": PRELOAD, "PPRF_PRG": "evp", "TERM": "xterm"}
    leaves = [str(leaf) for leaf in range(100, 140)]
    arguments = ["punct"] + quiet + [case.path] + leaves
    if os.path.exists(case.log):
        os.unlink(case.log)
    case.reset()
    run(arguments, TRACE_TO=case.log, **environment)
    calls = [v["name"] for e, v in parse(read(case.log).decode()) if e == "call"]
    last = max(at for at, name in enumerate(calls, 1) if name == "EVP_DigestInit_ex")
    case.reset()
    process = subprocess.Popen([PPRF] + arguments, stdin=subprocess.DEVNULL, stderr=slave, env=dict(
        os.environ, FAIL_AT=str(last - 40), FAIL_RAISE=str(int(signal.SIGSTOP)), **environment))
    os.close(slave)
    os.waitpid(process.pid, os.WUNTRACED)
    time.sleep(1.1)
    process.send_signal(signal.SIGCONT)
    shown = b""
    try:
        while data := os.read(master, 4096):
            shown += data
    except OSError:  # the last writer has closed
        pass
    os.close(master)
    return process.wait(), shown


def random_kills(case, count, rng):
    case.reset()
    begin = time.monotonic()
    for _ in range(5):
        case.reset()
        run(case.command)
    whole = (time.monotonic() - begin) / 5
    ok, after = True, {"old": 0, "new": 0}
    for i in range(count):
        case.reset()
        process = subprocess.Popen([PPRF] + case.command, stdin=subprocess.DEVNULL,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(rng.random() * whole * 1.2)
        process.kill()
        held = case.holds(process.wait(), "kill %d" % i)
        ok &= held is not None and case.clean_after_next("kill %d" % i)
        if held:
            after[held] += 1
        if sys.stderr.isatty():
            sys.stderr.write("\r\033[Kkills: %d of %d" % (i + 1, count))
    if sys.stderr.isatty():
        sys.stderr.write("\r\033[K")
    return ok, after


# ---- secrets ----

def masked(*secrets):
    return ",".join(bytes(b ^ 0x5a for b in s).hex() for s in secrets)


def value(depth, leaf):
    seed = bytes.fromhex(SEED)
    for i in reversed(range(depth)):
        digest = hashlib.sha3_256(seed).digest()
        seed = digest[16:] if leaf >> i & 1 else digest[:16]
    return seed


def rest_of(mapping, events):
    """The part of a mapping that is left when the program first advises on it: ends may have been
    unmapped."""
    at, end = mapping["at"], mapping["at"] + mapping["len"]
    for e, v in events:
        if e not in ("unmapped", "advised", "locked") or not at <= v["at"] < end:
            continue
        if e != "unmapped":
            break
        if v["at"] == at and v["len"] < end - at:
            at += v["len"]
        elif v["at"] + v["len"] == end and v["at"] > at:
            end = v["at"]
    return {"at": at, "len": end - at}


def secrets(scratch):
    """Runs that handle a known seed: it is nowhere at the end, nor in memory when that is given
    back."""
    directory = os.path.join(scratch, "secrets")
    os.mkdir(directory)
    log, mapped = os.path.join(scratch, "secrets.log"), []
    root, five = bytes.fromhex(SEED), value(9, 5)
    wanted = masked(root, SEED.encode()[:20], five, five.hex().encode()[:20])

    def searched(name, words, text=b"", expected=DONE):
        if os.path.exists(log):
            os.unlink(log)
        r = run(words, text, LD_PRELOAD=PRELOAD, TRACE_TO=log, SECRETS=wanted)
        events = parse(read(log).decode(errors="replace"))
        found = [v for e, v in events if e == "secret"]
        for v in found[:5]:
            note("%s: found in %s" % (name, v["where"]))
        # Every mapping is for secrets and kept out of core dumps and swap, except a page each that
        # fork wipes: one of the library, made when it is loaded, and one of the reference. opt's
        # store takes only the pages that it touches: its slots are locked, its bitmap is not.
        wiped = 0
        for i, (e, v) in enumerate(events):
            if e != "mapped":
                continue
            v = {**v, **rest_of(v, events[i + 1:])}
            place = {"at": v["at"], "len": v["len"]}
            advice = [w["advice"] for f, w in events if f == "advised" and {**w, **place} == w]
            if v["len"] == os.sysconf("SC_PAGESIZE") and advice == [18] and wiped < 2:  # MADV_WIPEONFORK
                wiped += 1
                continue
            locked = [w["len"] for f, w in events if f == "locked" and w["at"] == v["at"]]
            kept = 16 in advice and (  # MADV_DONTDUMP
                v["len"] in locked if v["reserved"] else any(0 < n <= v["len"] for n in locked))
            if not kept:
                note("%s: a mapping of %d bytes is not kept out of dumps and swap" % (name, v["len"]))
            mapped.append(kept)
        result(r.returncode == expected and not found and ("searched", {}) in events,
               "no_seed_and_no_value_is_left_in_memory_after_" + name)

    for impl in ("ref", "opt"):
        key, other = (os.path.join(directory, impl + n) for n in ("", "2"))
        made = ["setup", "--impl", impl, "--depth", "9"]
        searched(impl + "_setup_with_a_seed_argument", made + ["--seed", SEED, key])
        searched(impl + "_setup_with_a_seed_in_one_word", made + ["-fs" + SEED, key])
        searched(impl + "_setup_with_a_seed_line", made + ["--seed=-", other], SEED.encode() + b"\n")
        searched(impl + "_setup_with_a_seed_that_is_too_long", made + ["--seed=" + SEED + "0", other],
                 b"", USAGE)
        searched(impl + "_setup_with_a_seed_line_that_is_too_long", made + ["--seed=-", other],
                 SEED.encode() + b"0\n", USAGE)
        searched(impl + "_setup_with_a_wrong_option_before_a_seed",
                 made + ["--wrong", "--seed", SEED, other], b"", USAGE)
        searched(impl + "_setup_that_fails", made + ["--seed", SEED, key], b"", FAILED)
        searched(impl + "_eval", ["eval", "--impl", impl, key, "5"])
        searched(impl + "_eval_as_json", ["eval", "--impl", impl, "--json", key, "5", "0..300"])
        searched(impl + "_punct_of_another_leaf", ["punct", "--impl", impl, other, "300"])
        searched(impl + "_punct_with_values", ["punct", "--impl", impl, "--eval", other, "5"])
        searched(impl + "_punct_with_values_as_json",
                 ["punct", "--impl", impl, "--eval", "--json", key, "5"])
    result(len(mapped) > 20 and all(mapped),
           "memory_for_secrets_is_kept_out_of_core_dumps_and_swap (%d mappings)" % len(mapped))
    # a test of this test: a file name is an argument, and stays in memory
    secret = os.path.join(directory, SEED)
    run(["setup", "--depth", "9", secret])
    r = run(["info", secret], LD_PRELOAD=PRELOAD, TRACE_TO=log, SECRETS=wanted)
    result(r.returncode == DONE and "secret\twhere=[stack]" in read(log).decode(errors="replace"),
           "control_a_seed_that_is_left_is_found")


def every_import_is_known():
    """Every function of another library that cli/ calls is intercepted or listed as harmless
    above."""
    with open(os.path.join(os.path.dirname(PRELOAD), "..", "..", "equivalence-tests", "failures",
                           "crash_preload.c")) as f:
        source = f.read()
    objects = [os.path.join(BUILD, "cli", n) for n in os.listdir(os.path.join(BUILD, "cli"))
               if n.endswith(".o") and not n.startswith("impl_")]
    symbols = subprocess.run(["nm"] + objects, check=True, stdout=subprocess.PIPE).stdout.decode()
    defined = set(re.findall(r" [A-TV-Z] (\w+)$", symbols, re.M))
    used = {re.sub(r"^__(\w+)_chk$", r"\1", n)  # the names of -D_FORTIFY_SOURCE
            for n in set(re.findall(r"^ +U (\w+)$", symbols, re.M)) - defined}
    unknown = sorted(n for n in used - HARMLESS
                     if not re.search(r"\b%s\(|\b\w+, %s, " % (n, n), source)
                     and not n.startswith(("pprf_", "impl_", "ref_", "opt_", "prg_", "list_")))
    for name in unknown:
        note("cli/ calls %s: intercept it in crash_preload.c, or list it as harmless" % name)
    result(len(used) > 40 and not unknown, "every_function_that_the_program_calls_is_known_here")


def main():
    full = "--full" in sys.argv
    seed = int(os.environ.get("SEED") or str(random.SystemRandom().getrandbits(48)), 0)
    rng = random.Random(seed)
    note("seed=0x%x (SEED=0x%x repeats the random moments)" % (seed, seed))
    again = ["setup", "--force", "--depth", "9", "--seed", "f" * 32]
    fresh = ["setup", "--depth", "9", "--seed", "f" * 32]
    some = ["5", "900000..900100"]
    injected = 0
    os.umask(0o027)
    # in memory if TMPDIR is not set: the disk would be synced thousands of times
    where = "/dev/shm" if not full and "TMPDIR" not in os.environ and os.path.isdir("/dev/shm") else tap.place_of_keys()
    with tempfile.TemporaryDirectory(prefix="pprf-crash-", dir=where) as scratch:
        every_import_is_known()
        secrets(scratch)
        for name, impl, before, command, leaves, kinds in (
                ("opt_punct", "opt", some, ["punct"], ["77", "1000..5000", "0"], KINDS),
                ("ref_punct", "ref", some, ["punct"], ["77", "1000..5000", "0"], [""]),
                ("opt_punct_eval", "opt", some, ["punct", "--eval"], ["77", "1000..1010"], [""]),
                ("opt_setup_force", "opt", some, again, [], [""]),
                ("opt_setup", "opt", None, fresh, [],
                 ["", "_named", "_named_no_exchange", "_filtered_rename_only"])):
            case = Case(scratch, name, impl, 20, before, command, leaves)
            for kind in kinds:
                r, events = case.trace(**KINDS[kind])
                if r.returncode != DONE or r.stderr != b"" or read(case.path) != case.new:
                    sys.exit("Bail out! %s%s: %s" % (name, kind, r))
                for claim, ok in steps(case, events, kind):
                    result(ok, "%s%s_%s" % (name, kind, claim))
                calls = points(events, full, kind != "" or (name != "opt_punct" and not full))
                for kill in (True, False):
                    ok, after, left = every_call(
                        case, calls, kill, kind)
                    injected += len(calls)
                    if kill and case.old is not None and not kind.endswith("_rename_only"):
                        ok &= left["old"] > 0 and left["zero"] > 0
                    result(ok and len(calls) > 10 and after["old"] > 0 and after["new"] > 0,
                           "%s%s_%s_every_call_leaves_the_old_or_the_new_key_and_what_is_erased "
                           "(%d calls: %d old, %d new)" % (
                               name, kind, "kill_before" if kill else "failure_of", len(calls),
                               after["old"], after["new"]))
                    note("left beside the key: %s" % ", ".join("%d %s" % (n, k)
                                                               for k, n in left.items()))
            if name == "opt_punct":
                case.trace()
                ok, count = every_signal(case, case.trace()[1])
                result(ok, "%s_a_signal_before_any_call_waits_until_all_is_done (%d)" % (name, count))
                claim = name + "_shows_its_progress_on_a_terminal_unless_it_is_quiet"
                missing = no_terminal()
                if missing:
                    result(True, "%s # SKIP there is no pseudo-terminal: %s" % (claim, missing))
                else:
                    (code, shown), silent = shows_progress(case, []), shows_progress(case, ["-q"])
                    result((code, silent) == (DONE, (DONE, b"")) and re.fullmatch(
                        rb"(\rpprf punct \[[# ]{32}\] +\d+%  \d+:\d\d left\x1b\[K)+\r\x1b\[K", shown), claim)
                result(unknown_sizes(case), name + "_a_file_whose_size_cannot_be_asked_is_not_read")
                result(swept_by_another(case), name + "_named_a_file_that_another_writer_swept_is_"
                       "made_anew")
                for kind, call, which in (("", "fstatat", -2), ("", "exchange", 0),
                                          ("_named", "exchange", 0), ("_no_exchange", "linkat", -1)):
                    result(replaced_by_another(case, kind, call, which, case.new[::-1]),
                           "%s%s_a_file_that_another_program_put_there_before_%s_stays" % (
                               name, kind, call))
            if command == ["punct"]:
                count = 500 if full else 50
                ok, after = random_kills(case, count, rng)
                result(ok and sum(after.values()) == count,
                       "%s_kill_at_a_random_moment_leaves_the_old_or_the_new_key "
                       "(%d kills: %d old, %d new)" % (name, count, after["old"], after["new"]))
        file_systems(scratch)
        result(complains_without_memory(scratch), "a_failure_is_said_in_one_line_without_memory_for_its_text")
        # an access control list may be lost, but not the restrictions that it made
        case = Case(scratch, "opt_punct_with_a_list", "opt", 20, some, ["punct"], ["77"])
        entries = ((1, 6, -1), (2, 4, 65534), (4, 0, -1), (0x10, 4, -1), (0x20, 0, -1))
        case.acl = struct.pack("<I", 2) + b"".join(
            struct.pack("<HHI", tag, rights, who % 2 ** 32) for tag, rights, who in entries)
        claim = case.name + "_failure_of_every_call_gives_nobody_a_right"
        missing = no_lists(case.directory)
        if missing:
            result(True, "%s # SKIP no access control lists here: %s" % (claim, missing))
        else:
            r, events = case.trace()
            kept = r.returncode == DONE and os.getxattr(case.path, ACL) == case.acl
            calls = points(events, full, True)
            ok, after, _ = every_call(case, calls, False)
            injected += len(calls)
            result(ok and kept and "fsetxattr" in [n for _, n in calls] and after["new"] > 0,
                   "%s (%d calls)" % (claim, len(calls)))
        # the command after a killed one may be killed, too
        case = Case(scratch, "opt_punct_after_a_kill", "opt", 20, some, ["punct"], ["77"])
        case.left = True
        r, events = case.trace()
        for claim, ok in sweep_steps(case, events):
            result(ok and r.returncode == DONE and r.stderr == b"", case.name + "_" + claim)
        for kill in (True, False):
            calls = points(events, full, True)
            ok, after, left = every_call(case, calls, kill)
            injected += len(calls)
            result(ok and after["old"] > 10 and after["new"] > 0,
                   "%s_%s_every_call_leaves_what_is_erased (%d calls)" % (
                       case.name, "kill_before" if kill else "failure_of", len(calls)))
        note("%d failures and kills at calls" % injected)
        # a test of this test: it notices a broken file, a lost puncture and old bytes
        case = Case(scratch, "control", "opt", 20, some, ["punct"], ["77"])
        case.reset()
        with open(case.path, "wb") as f:
            f.write(case.new[:-1])
        seen = case.holds(DONE, "control") is None
        with open(case.path, "wb") as f:
            f.write(case.old)
        seen &= case.holds(DONE, "control") is None
        os.unlink(case.path)
        result(seen and not case.old_is_erased(),
               "control_a_torn_file_a_lost_puncture_and_old_bytes_are_noticed")
    print("1..%d" % number)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
