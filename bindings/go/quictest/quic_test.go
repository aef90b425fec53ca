// SPDX-License-Identifier: Apache-2.0

// Package quictest shows on quic-go what a server does with a copied first flight, whose early data is a
// payment: as crypto/tls comes, and with pprftls.
package quictest

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"math/big"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/quic-go/quic-go"

	"github.com/libpprf/libpprf/bindings/go/pprftls"
)

const payment = "PAY 100"

func certificate(t *testing.T) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{SerialNumber: big.NewInt(1), DNSNames: []string{"x"}, NotAfter: time.Now().Add(time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

// What the application gets: the payments that it could act on before the handshake was done, and others.
type ledger struct {
	mu          sync.Mutex
	early, late int
	first       chan struct{} // closed at the first early one
}

func (l *ledger) serve(ctx context.Context, listener *quic.EarlyListener) {
	for {
		conn, err := listener.Accept(ctx)
		if err != nil {
			return
		}
		go func() {
			stream, err := conn.AcceptStream(ctx)
			if err != nil {
				return
			}
			text := make([]byte, len(payment))
			if _, err := io.ReadFull(stream, text); err != nil || string(text) != payment {
				return
			}
			l.mu.Lock()
			if conn.ConnectionState().Used0RTT {
				if l.early++; l.early == 1 {
					close(l.first)
				}
			} else {
				l.late++
			}
			l.mu.Unlock()
			stream.Write([]byte("paid"))
			stream.Close()
		}()
	}
}

func (l *ledger) payments() (early, late int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.early, l.late
}

// A socket that keeps what is written before anything is read: a client's first flight.  Nothing is read before the
// server has the payment, as on a network with a long way back: a client that has the server's answer first sends
// the payment after it.
type recorder struct {
	*net.UDPConn
	paid   <-chan struct{} // nil: there is nothing to wait for
	mu     sync.Mutex
	flight [][]byte
	over   bool
}

func (r *recorder) WriteTo(p []byte, to net.Addr) (int, error) {
	r.mu.Lock()
	if !r.over {
		r.flight = append(r.flight, append([]byte{}, p...))
	}
	r.mu.Unlock()
	return r.UDPConn.WriteTo(p, to)
}

func (r *recorder) ReadFrom(p []byte) (int, net.Addr, error) {
	n, from, err := r.UDPConn.ReadFrom(p)
	if r.paid != nil && err == nil {
		select {
		case <-r.paid:
		case <-time.After(20 * time.Second):
			return 0, nil, errors.New("the server has no payment")
		}
	}
	r.mu.Lock()
	r.over = true
	r.mu.Unlock()
	return n, from, err
}

// net.PacketConn and no more: quic-go would else go round WriteTo.
type packetConn struct{ net.PacketConn }

func socket(t *testing.T) *net.UDPConn {
	t.Helper()
	conn, err := net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1)})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { conn.Close() })
	return conn
}

type lastSession struct {
	mu    sync.Mutex
	state *tls.ClientSessionState
	put   chan struct{}
}

func (l *lastSession) Get(string) (*tls.ClientSessionState, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.state, l.state != nil
}

func (l *lastSession) Put(_ string, s *tls.ClientSessionState) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s != nil && l.state == nil {
		l.state = s
		close(l.put)
	}
}

// Pay over a connection; the first flight as it was on the wire, which reaches the server before paid is closed.
func pay(t *testing.T, ctx context.Context, server net.Addr, cache tls.ClientSessionCache,
	paid <-chan struct{}) ([][]byte, bool) {
	t.Helper()
	wire := &recorder{UDPConn: socket(t), paid: paid}
	transport := &quic.Transport{Conn: packetConn{wire}}
	defer transport.Close()
	conn, err := transport.DialEarly(ctx, server, &tls.Config{InsecureSkipVerify: true, ServerName: "x",
		NextProtos: []string{"pay"}, ClientSessionCache: cache}, nil)
	if err != nil {
		t.Fatal(err)
	}
	stream, err := conn.OpenStreamSync(ctx)
	if err == nil {
		_, err = stream.Write([]byte(payment))
	}
	if err == nil {
		stream.Close()
		_, err = io.ReadAll(stream)
	}
	if errors.Is(err, quic.Err0RTTRejected) {
		return wire.flight, false
	}
	if err != nil {
		t.Fatal(err)
	}
	used := conn.ConnectionState().Used0RTT
	if last, ok := cache.(*lastSession); ok {
		select {
		case <-last.put:
		case <-ctx.Done():
			t.Fatal("no ticket")
		}
	}
	conn.CloseWithError(0, "")
	return wire.flight, used
}

// How many of one first flight and its three copies the application gets as early data; and what it got else.
func accepted(t *testing.T, tickets *pprftls.Tickets) (early, late int) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Second)
	defer cancel()
	config := &tls.Config{Certificates: []tls.Certificate{certificate(t)}, NextProtos: []string{"pay"}}
	if tickets != nil {
		if err := tickets.Attach(config); err != nil {
			t.Fatal(err)
		}
	}
	// stock: one key for all sockets below; pprftls seals by itself
	var key [32]byte
	rand.Read(key[:])
	config.SetSessionTicketKeys([][32]byte{key})
	book := ledger{first: make(chan struct{})}
	listen := func() net.Addr {
		server := &quic.Transport{Conn: socket(t)}
		t.Cleanup(func() { server.Close() })
		listener, err := server.ListenEarly(config, &quic.Config{Allow0RTT: true})
		if err != nil {
			t.Fatal(err)
		}
		go book.serve(ctx, listener)
		return listener.Addr()
	}
	server := listen()
	cache := &lastSession{put: make(chan struct{})}
	if _, used := pay(t, ctx, server, cache, nil); used {
		t.Fatal("early data without a ticket")
	}
	flight, used := pay(t, ctx, server, cache, book.first)
	if !used || len(flight) == 0 {
		t.Fatalf("the client's early data was not accepted (%d packets)", len(flight))
	}
	for range 3 {
		// Another socket of the server: on the same one a connection keeps its number for some seconds, which
		// a thief would wait for.
		address := listen()
		thief := socket(t)
		before, _ := book.payments()
		for _, packet := range flight {
			if _, err := thief.WriteTo(packet, address); err != nil {
				t.Fatal(err)
			}
		}
		thief.SetReadDeadline(time.Now().Add(10 * time.Second)) // the server answers each copy: it has seen it
		if _, _, err := thief.ReadFrom(make([]byte, 2048)); err != nil {
			t.Fatal(err)
		}
		wait := 500 * time.Millisecond // to hand over a payment that it should refuse
		if tickets == nil {
			wait = 10 * time.Second // or one that it takes
		}
		for end := time.Now().Add(wait); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if now, _ := book.payments(); now > before {
				break
			}
		}
	}
	return book.payments()
}

func TestStockTakesEveryCopy(t *testing.T) {
	if early, late := accepted(t, nil); early != 4 || late != 1 {
		t.Errorf("of one first flight and three copies %d were paid early, %d else", early, late)
	}
}

func TestWithPprftlsOneIsPaid(t *testing.T) {
	tickets, err := pprftls.New(pprftls.Config{})
	if err != nil {
		t.Fatal(err)
	}
	defer tickets.Close()
	if early, late := accepted(t, tickets); early != 1 || late != 1 {
		t.Errorf("of one first flight and three copies %d were paid early, %d else", early, late)
	}
	if m := tickets.Metrics(); m.Redeemed != 1 || m.Refused != 3 {
		t.Errorf("%+v", m)
	}
}

// docs/uses.md has its body.
func serve(server *quic.Transport, config *tls.Config) (*quic.EarlyListener, error) {
	tickets, err := pprftls.New(pprftls.Config{Lifetime: time.Hour})
	if err != nil {
		return nil, err
	}
	if err := tickets.Attach(config); err != nil { // a *tls.Config
		return nil, err
	}
	return server.ListenEarly(config, &quic.Config{Allow0RTT: true})
}

func TestPprftlsRecipe(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	server := &quic.Transport{Conn: socket(t)}
	defer server.Close()
	listener, err := serve(server, &tls.Config{Certificates: []tls.Certificate{certificate(t)},
		NextProtos: []string{"pay"}})
	if err != nil {
		t.Fatal(err)
	}
	book := ledger{first: make(chan struct{})}
	go book.serve(ctx, listener)
	cache := &lastSession{put: make(chan struct{})}
	var used []bool
	for range 3 { // the client offers its first ticket twice
		_, early := pay(t, ctx, listener.Addr(), cache, nil)
		used = append(used, early)
	}
	if used[0] || !used[1] || used[2] {
		t.Errorf("early data accepted: %v", used)
	}
}
