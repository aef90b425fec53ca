// SPDX-License-Identifier: Apache-2.0

// Go's crypto/tls as a server with these tickets, for test_libraries.py: the functions of
// pprf_tickets.h behind WrapSession and UnwrapSession. Prints a line for each connection.
// / Usage: tickets tcp|quic
package main

/*
#include <stdlib.h>
#include <pprf_tickets.h>
*/
import "C"

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"time"
)

var tickets *C.pprf_tickets

func check(err error) {
	if err != nil {
		fmt.Println("error:", err)
		os.Exit(1)
	}
}

func seal(content []byte) ([]byte, error) {
	out := make([]byte, len(content)+C.PPRF_TICKET_OVERHEAD)
	n := C.size_t(len(out))
	if C.pprf_tickets_seal(tickets, (*C.uint8_t)(&content[0]), C.size_t(len(content)),
		(*C.uint8_t)(&out[0]), &n) != C.PPRF_OK {
		return nil, errors.New("no ticket")
	}
	return out[:n], nil
}

// The content and the ticket's number; number 0: not a valid ticket.
func open(ticket []byte) ([]byte, C.uint64_t) {
	if len(ticket) == 0 {
		return nil, 0
	}
	out, n, number := make([]byte, len(ticket)), C.size_t(len(ticket)), C.uint64_t(0)
	if C.pprf_tickets_open(tickets, (*C.uint8_t)(&ticket[0]), n, (*C.uint8_t)(&out[0]), &n,
		&number) != C.PPRF_OK {
		return nil, 0
	}
	return out[:n], number
}

func redeem(number C.uint64_t, early C.int) bool {
	return C.pprf_tickets_redeem(tickets, number, early) == C.PPRF_OK
}

// A configuration for one connection; *number is set to the ticket that it resumes.
func config(base *tls.Config, number *C.uint64_t) *tls.Config {
	c := base.Clone()
	c.WrapSession = func(_ tls.ConnectionState, s *tls.SessionState) ([]byte, error) {
		content, err := s.Bytes()
		if err != nil {
			return nil, err
		}
		return seal(content)
	}
	c.UnwrapSession = func(ticket []byte, _ tls.ConnectionState) (*tls.SessionState, error) {
		content, n := open(ticket)
		if n == 0 {
			return nil, nil // a full handshake
		}
		*number = n
		return tls.ParseSessionState(content)
	}
	return c
}

func certificate() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	check(err)
	of := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"localhost"},
		NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, of, of, &key.PublicKey, key)
	check(err)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// A client's cache that keeps the last session it is given and returns `offer`.
type cache struct{ kept, offer *tls.ClientSessionState }

func (c *cache) Get(string) (*tls.ClientSessionState, bool) { return c.offer, c.offer != nil }
func (c *cache) Put(_ string, s *tls.ClientSessionState)    { c.kept = s }

func clientConfig(c *cache) *tls.Config {
	return &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, ServerName: "localhost",
		ClientSessionCache: c, NextProtos: []string{"test"}}
}

// ---- TCP: redeem the ticket when the handshake is done

func serveTCP(listener net.Listener, base *tls.Config) {
	for {
		raw, err := listener.Accept()
		check(err)
		var number C.uint64_t
		outer := base.Clone()
		outer.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
			return config(base, &number), nil
		}
		conn := tls.Server(raw, outer)
		check(conn.Handshake())
		if conn.ConnectionState().DidResume {
			if redeem(number, 0) {
				fmt.Println("resumed")
			} else {
				fmt.Println("resumed, the ticket was used meanwhile")
			}
		} else {
			fmt.Println("full")
		}
		_, _ = conn.Write([]byte("x"))
		_ = conn.Close()
	}
}

func dial(address string, offer *tls.ClientSessionState) *tls.ClientSessionState {
	c := &cache{offer: offer}
	conn, err := tls.Dial("tcp", address, clientConfig(c))
	check(err)
	_, err = io.ReadAll(conn)
	check(err)
	_ = conn.Close()
	return c.kept
}

func tcp(base *tls.Config) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	check(err)
	go serveTCP(listener, base)
	address := listener.Addr().String()
	first := dial(address, nil)
	renewed := dial(address, first)
	dial(address, first)
	dial(address, first)
	dial(address, renewed)
}

// ---- QUIC: redeem the ticket when the keys of early data are available, after the binder check

type outcome struct {
	early, closed bool
	err           error
	session       *tls.ClientSessionState
}

// Change the last byte of the next ClientHello, which belongs to a binder.
var spoil bool

// Join a client and a server; before, if not nil, is called before a ticket is redeemed.
func quic(base *tls.Config, offer *tls.ClientSessionState, before func()) (o outcome) {
	var number C.uint64_t
	c := &cache{offer: offer}
	client := tls.QUICClient(&tls.QUICConfig{TLSConfig: clientConfig(c)})
	server := tls.QUICServer(&tls.QUICConfig{TLSConfig: config(base, &number)})
	client.SetTransportParameters(nil)
	server.SetTransportParameters(nil)
	check(client.Start(context.Background()))
	check(server.Start(context.Background()))
	for moved := true; moved; {
		moved = false
		for e := client.NextEvent(); e.Kind != tls.QUICNoEvent; e = client.NextEvent() {
			moved = true
			if e.Kind == tls.QUICWriteData {
				data := append([]byte{}, e.Data...)
				if spoil && e.Level == tls.QUICEncryptionLevelInitial {
					data[len(data)-1] ^= 1
				}
				if o.err = server.HandleData(e.Level, data); o.err != nil {
					return
				}
			}
		}
		for e := server.NextEvent(); e.Kind != tls.QUICNoEvent; e = server.NextEvent() {
			moved = true
			switch {
			case e.Kind == tls.QUICWriteData:
				check(client.HandleData(e.Level, append([]byte{}, e.Data...)))
			case e.Kind == tls.QUICSetReadSecret && e.Level == tls.QUICEncryptionLevelEarly:
				if before != nil {
					before()
				}
				if !redeem(number, 1) { // a replay: do not read its early data
					o.closed = true
					return
				}
				o.early = true
			case e.Kind == tls.QUICHandshakeDone:
				check(server.SendSessionTicket(tls.QUICSessionTicketOptions{EarlyData: true}))
			}
		}
	}
	o.session = c.kept
	_, _ = client.Close(), server.Close()
	return
}

func show(what string, o outcome) outcome {
	switch {
	case o.err != nil:
		fmt.Println(what+": failed:", o.err)
	case o.closed:
		fmt.Println(what + ": closed")
	case o.early:
		fmt.Println(what + ": early data")
	default:
		fmt.Println(what + ": full")
	}
	return o
}

func quicAll(base *tls.Config) {
	first := show("no ticket", quic(base, nil, nil)).session
	spoil = true
	show("a copy with a wrong binder", quic(base, first, nil))
	spoil = false
	renewed := show("the ticket", quic(base, first, nil)).session
	show("the same ticket", quic(base, first, nil))
	show("the renewed ticket", quic(base, renewed, nil))
	// two first flights at once: the ticket is opened twice before it is redeemed
	last := show("no ticket", quic(base, nil, nil)).session
	show("the slower", quic(base, last, func() { show("the faster", quic(base, last, nil)) }))
}

func main() {
	options := C.struct_pprf_tickets_options{size: C.sizeof_struct_pprf_tickets_options, depth: 10}
	if C.pprf_tickets_new(&tickets, &options) != C.PPRF_OK {
		check(errors.New("pprf_tickets_new"))
	}
	base := &tls.Config{Certificates: []tls.Certificate{certificate()}, MinVersion: tls.VersionTLS13,
		NextProtos: []string{"test"}}
	if os.Args[1] == "tcp" {
		tcp(base)
	} else {
		quicAll(base)
	}
	stats := C.struct_pprf_tickets_stats{size: C.sizeof_struct_pprf_tickets_stats}
	C.pprf_tickets_stats(tickets, &stats)
	fmt.Println("accepted", stats.early_accepted, "rejected", stats.early_rejected, "resumed",
		stats.resumed, "refused", stats.refused)
	C.pprf_tickets_free(tickets)
}
