#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tests of the nginx module with HTTP/2 in early data: hand-made frames sent by openssl s_client,
and curl if it can send early data.  Emits TAP.

Usage: tls/nginx/test_http2.py [TEST...]"""
import os
import re
import shutil
import struct
import subprocess
import sys

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import test_nginx as base  # noqa: E402
from test_nginx import tap, tls  # noqa: E402

H2 = ("-alpn", "h2")


def frame(kind, flags, stream, payload=b""):
    """RFC 9113, 4.1"""
    return struct.pack(">I", len(payload))[1:] + bytes((kind, flags)) + struct.pack(">I", stream) + \
        payload


def request(path):
    """All that a client sends for one GET: the preface, SETTINGS, HEADERS (END_STREAM, END_HEADERS)
    with fields from RFC 7541's static table and strings without Huffman coding, and GOAWAY, so
    that the server closes the connection after its answer."""
    def string(index, text):
        return bytes((index, len(text))) + text.encode()
    fields = b"\x82\x87" + string(0x04, path) + string(0x01, "localhost")  # GET, https
    return (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + frame(4, 0, 0) + frame(1, 5, 1, fields)
            + frame(7, 0, 0, bytes(8)))


class Http2(base.Case):
    def setUp(self):
        super().setUp()
        self.assertEqual(tls.REQUEST[:4], b"GET ")
        self.addCleanup(setattr, tls, "REQUEST", tls.REQUEST)
        tls.REQUEST = request("/late")
        with open(self.early, "wb") as f:
            f.write(request("/early"))

    def nginx(self, **parts):
        return super().nginx(listen="http2 reuseport", **parts).start()

    def connect(self, nginx, sess_in=None, sess_out=None):
        """(fate of the early data, whether a page came)"""
        seen = tls.s_client(nginx.port, sess_in, sess_out, self.early if sess_in else None, H2)
        self.assertIn("ALPN protocol: h2", seen.text)
        self.assertTrue(seen.answered, seen.text)
        return seen.early

    def test_a_request_in_early_data_is_answered_once(self):
        nginx = self.nginx()
        first, renewed = self.path("first"), self.path("renewed")
        self.connect(nginx, None, first)
        self.assertEqual(self.connect(nginx, first, renewed), "accepted")
        for _ in range(3):
            self.assertEqual(self.connect(nginx, first), "rejected")
        self.assertEqual(self.connect(nginx, renewed), "accepted")
        self.assertEqual(
            [re.search("reused=.*", line).group() for line in nginx.lines(6)],
            ['reused=. 200 "GET /late HTTP/2.0"', 'reused=r 200 "GET /early HTTP/2.0"']
            + 3 * ['reused=. 200 "GET /late HTTP/2.0"'] + ['reused=r 200 "GET /early HTTP/2.0"'])
        counters = nginx.stop()
        self.assertEqual((counters["accepted"], counters["refused"]), (2, 3))

    def deliveries(self, nginx):
        """How often a request is delivered when its first flight is sent four times."""
        self.connect(nginx, None, self.path("first"))
        flight = tls.capture(self.dir, self.path("first"), self.early, H2)
        for _ in range(4):
            tls.send_flight(nginx.port, flight)
        self.connect(nginx, None, self.path("last"))
        nginx.until(lambda: sum("/late" in line for line in nginx.lines(1)) == 2, "the last request")
        return sum("/early" in line for line in nginx.lines(1))

    def test_replayed_first_flight_is_delivered_once(self):
        self.assertEqual(self.deliveries(self.nginx()), 1)

    def test_control_openssl_tickets_deliver_every_replay(self):
        self.assertEqual(self.deliveries(self.nginx(http="")), 4)


class Curl(base.Case):
    def test_curl_sends_early_data_once_a_ticket(self):
        """Four requests, each on its own connection. nginx closes a connection with early data
        before the handshake has brought the next ticket, so curl has only the two of the first
        connection."""
        curl = shutil.which("curl")
        if not curl or "--tls-earlydata" not in subprocess.run(
                [curl, "--help", "all"], capture_output=True, text=True, timeout=tls.PATIENCE).stdout:
            self.skipTest("curl has no --tls-earlydata (8.11 has)")
        nginx = self.nginx().start()
        command = [curl, "-sk", "--tls-earlydata", "--http1.1", "-H", "Connection: close"]
        urls = [f"https://localhost:{nginx.port}/{i}" for i in range(4)]
        r = subprocess.run([*command, "--resolve", f"localhost:{nginx.port}:127.0.0.1", *urls],
                           capture_output=True, text=True, timeout=tls.PATIENCE)
        self.assertEqual((r.returncode, r.stdout.count("<p>served")), (0, 4), r.stderr)
        lines = nginx.lines(4)
        self.assertEqual([line.split('"')[1] for line in lines],
                         [f"GET /{i} HTTP/1.1" for i in range(4)])
        early = sum("early=1" in line for line in lines)
        counters = nginx.stop()
        self.assertGreaterEqual(counters["accepted"], 2, lines)
        self.assertGreater(early, 0, lines)
        self.assertEqual((counters["rejected"], counters["refused"]), (0, 0))


def main():
    missing = base.missing()
    if missing:
        print(f"1..0 # SKIP not installed: {', '.join(missing)}")
        return 0
    return tap.run((Http2, Curl), sys.argv[1:])


if __name__ == "__main__":
    sys.exit(main())
