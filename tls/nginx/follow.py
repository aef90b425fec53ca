#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Follows docs/nginx.md, as root on a Debian that may be changed: its configuration goes to where it
says, its `sh` blocks are run in order, and then a ticket's early data must be accepted once, with
and without the preload shim.  For test-install.sh."""
import os
import re
import subprocess
import sys
import time


def sh(command, **more):
    print(f"$ {command}", flush=True)
    return subprocess.run(["bash", "-ec", command], check=True, stdin=subprocess.DEVNULL, **more)


def connect(*options):
    """What s_client says of one connection: whether early data was accepted, and if resumed."""
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
    check(connect(*early), ("rejected", False), f"{what}: the same once more")


def status():
    import urllib.request
    return urllib.request.urlopen("http://127.0.0.1:8081/tickets", timeout=20).read().decode()


def main():
    with open(sys.argv[1]) as f:
        text = f.read()
    conf, = re.findall(r"^```nginx\n(.*?)^```$", text, re.S | re.M)
    blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.S | re.M)
    place = re.search(r"^`(/etc/nginx/nginx.conf)`:$", text, re.M).group(1)
    environment = dict(line.split("=", 1) for line in re.findall(
        r"^```ini\n\[Service\]\nEnvironment=(\S+)\n```$", text, re.M))
    assert len(blocks) == 2 and list(environment) == ["LD_PRELOAD"], (blocks, environment)
    os.environ["DEBIAN_FRONTEND"] = "noninteractive"
    sh(blocks[0])
    with open(place, "w") as f:
        f.write(conf)
    sh(blocks[1])
    time.sleep(1)
    life("nginx")
    accepted = re.search(r"^pprf_tickets_early_accepted_total (\d+)$", status(), re.M).group(1)
    check(accepted, "1", "the status")
    sh("nginx -s stop; sleep 2; nginx", env=dict(os.environ, **environment))
    with open("/run/nginx.pid") as f, open(f"/proc/{f.read().strip()}/maps") as maps:
        check(environment["LD_PRELOAD"] in maps.read(), True, "the shim is in nginx")
    life("nginx with the shim")
    sh("nginx -s stop")


if __name__ == "__main__":
    main()
