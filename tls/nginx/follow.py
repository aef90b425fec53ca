#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows a document, as root on a Debian system that it may change. For test-install.sh.

docs/nginx.md: its configuration goes to the stated file, its `sh` blocks are run in order, and then
a ticket's early data must be accepted once, with and without the preload shim. docs/tls.md: every
command in it is run. Usage: follow.py DOCUMENT"""
import os
import re
import socket
import subprocess
import sys
import time


def sh(command, **more):
    print(f"$ {command}", flush=True)
    return subprocess.run(["bash", "-ec", command], check=True, stdin=subprocess.DEVNULL, **more)


def until(condition, what):
    """Wait until the condition returns something true, and return that."""
    end = time.monotonic() + 60
    while not (value := condition()):
        if time.monotonic() > end:
            sys.exit(f"not ok - {what}")
        time.sleep(0.05)
    return value


def master():
    """The process id of nginx's master once it listens; 0 until then."""
    try:
        with open("/run/nginx.pid") as f:
            pid = int(f.read() or 0)
        socket.create_connection(("127.0.0.1", 443), 20).close()
        return pid
    except OSError:
        return 0


def connect(*options):
    """What s_client reports of one connection: whether early data was accepted, and whether it was
    resumed."""
    p = subprocess.run(["timeout", "20", "openssl", "s_client", "-connect", "127.0.0.1:443",
                        "-ign_eof", *options], input=b"GET / HTTP/1.0\r\n\r\n",
                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    text = p.stdout.decode(errors="replace")
    return ((re.findall(r"Early data was (accepted|rejected|not sent)", text) or ["none"])[0],
            bool(re.search(r"^Reused, ", text, re.M)))


def check(got, want, what):
    print(f"{'ok' if got == want else 'not ok'} - {what}: {got}", flush=True)
    if got != want:
        sys.exit(1)


def life(what):
    check(connect("-sess_out", "/tmp/session"), ("not sent", False), f"{what}: a ticket")
    with open("/tmp/early", "w") as f:
        f.write("GET /early HTTP/1.0\r\n\r\n")
    early = ["-sess_in", "/tmp/session", "-early_data", "/tmp/early"]
    check(connect(*early), ("accepted", True), f"{what}: its early data")
    check(connect(*early), ("rejected", False), f"{what}: the same again")


def status():
    import urllib.request
    return urllib.request.urlopen("http://127.0.0.1:8081/tickets", timeout=20).read().decode()


# Replacements for placeholders in commands of docs/tls.md, and the commands not run here; a
# document may contain no others.
FILE, NAME = "/tmp/follow.json", "full_then_early_data_then_replay_then_renewed_ticket"
TARGETS_ONLY = {"make test-tls": "minutes; its suites are in `make test`",
                "make bench-tls": "minutes; -w and -l of its program are run"}
NOT_HERE = {"build/tls/bench_tls -r FILE": "real-time priority is not available in an unshared root"}


def commands(text):
    """Run every command in backquotes that begins with make or with a program of the repository."""
    found = set(re.findall(r"`((?:make |build/tls/|tls/)[^`\n]*)`", text))
    check({"make demo", *TARGETS_ONLY, *NOT_HERE} <= found, True, f"commands of {len(found)}")
    for command in sorted(found - set(NOT_HERE)):
        words = command.split()
        if words[0] == "make":
            sh(f"make --dry-run {words[1]} >/dev/null" if command in TARGETS_ONLY else command)
            continue
        if words[0].startswith("build/"):
            sh(f"make DEPS=skip {words[0]}")
        check(os.access(words[0], os.X_OK), True, f"{words[0]} exists")
        sh(command.replace("FILE", FILE).replace("test_NAME", f"test_{NAME}"))
        if "FILE" in words:
            check(os.path.getsize(FILE) > 100, True, f"{command} wrote")
            os.remove(FILE)


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    if "```nginx" not in text:
        commands(text)
        return
    # other blocks are a container's, and Apache's: tls/tests/test_recipes.py
    conf = re.search(r"^```nginx\n(.*?)^```$", text, re.S | re.M)[1]
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M)[:2]
    place = re.search(r"^`(/etc/nginx/nginx.conf)`:$", text, re.M).group(1)
    environment = dict(line.split("=", 1) for line in re.findall(
        r"^```ini\n\[Service\]\nEnvironment=(\S+)\n```$", text, re.M))
    assert list(environment) == ["LD_PRELOAD"], environment
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    sh(blocks[0])
    with open(place, "w") as f:
        f.write(conf)
    sh(blocks[1])
    until(master, "nginx")
    life("nginx")
    accepted = re.search(r"^pprf_tickets_early_accepted_total (\d+)$", status(), re.M).group(1)
    check(accepted, "1", "the status")
    sh("nginx -s stop")
    until(lambda: not os.path.exists("/run/nginx.pid"), "nginx's end")
    sh("nginx", env=dict(os.environ, **environment))
    with open(f"/proc/{until(master, 'nginx')}/maps") as maps:
        check(environment["LD_PRELOAD"] in maps.read(), True, "the shim is in nginx")
    life("nginx with the shim")
    sh("nginx -s stop")


if __name__ == "__main__":
    main()
