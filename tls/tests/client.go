// SPDX-License-Identifier: Apache-2.0

// A client for test_tls.py that chooses the session it resumes: five connections, of which the
// second to the fourth offer the first one's ticket and the fifth offers the second one's.
// Usage: client ADDRESS 1.2|1.3
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"strings"
)

// cache keeps the first session it is given and returns `offer`.
type cache struct{ kept, offer *tls.ClientSessionState }

func (c *cache) Get(string) (*tls.ClientSessionState, bool) { return c.offer, c.offer != nil }
func (c *cache) Put(_ string, s *tls.ClientSessionState) {
	if c.kept == nil {
		c.kept = s
	}
}

func connect(address string, version uint16, offer *tls.ClientSessionState) *tls.ClientSessionState {
	c := &cache{offer: offer}
	conn, err := tls.Dial("tcp", address, &tls.Config{InsecureSkipVerify: true, MinVersion: version,
		MaxVersion: version, ClientSessionCache: c})
	if err == nil {
		_, err = io.WriteString(conn, "GET / HTTP/1.0\r\n\r\n")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	answer, _ := io.ReadAll(conn)
	conn.Close()
	outcome := "full"
	if conn.ConnectionState().DidResume {
		outcome = "resumed"
	}
	if !strings.Contains(string(answer), "<p>served") {
		outcome = "unanswered"
	}
	fmt.Println(outcome)
	return c.kept
}

func main() {
	address, version := os.Args[1], uint16(tls.VersionTLS13)
	if os.Args[2] == "1.2" {
		version = tls.VersionTLS12
	}
	first := connect(address, version, nil)
	renewed := connect(address, version, first)
	connect(address, version, first)
	connect(address, version, first)
	connect(address, version, renewed)
}
