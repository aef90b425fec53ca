// SPDX-License-Identifier: Apache-2.0

package pprftls

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	pprf "github.com/libpprf/libpprf/bindings/go"
)

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

// A clock that the test moves.
type clock struct{ now time.Time }

func (c *clock) tell() time.Time { return c.now }

func fresh(t *testing.T, config Config) *Tickets {
	t.Helper()
	tickets, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(tickets.Close)
	return tickets
}

func seal(t *testing.T, tickets *Tickets, plain string) []byte {
	t.Helper()
	ticket, err := tickets.Seal([]byte(plain))
	if err != nil {
		t.Fatal(err)
	}
	return ticket
}

func opens(tickets *Tickets, ticket []byte, plain string) bool {
	got, ok := tickets.Open(ticket)
	return ok && string(got) == plain
}

// A client's cache that keeps the first session and gives it every time: a client that replays.
type frozen struct{ state *tls.ClientSessionState }

func (f *frozen) Get(string) (*tls.ClientSessionState, bool) { return f.state, f.state != nil }
func (f *frozen) Put(_ string, s *tls.ClientSessionState) {
	if f.state == nil && s != nil {
		f.state = s
	}
}

func resumes(t *testing.T, server *tls.Config, cache tls.ClientSessionCache, version uint16) bool {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	go func() {
		conn, err := listener.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		conn.SetDeadline(time.Now().Add(20 * time.Second))
		s := tls.Server(conn, server)
		if s.Handshake() == nil {
			s.Write([]byte("x"))
			s.Read(make([]byte, 9))
		}
	}()
	conn, err := net.Dial("tcp", listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	client := tls.Client(conn, &tls.Config{InsecureSkipVerify: true, ServerName: "x", ClientSessionCache: cache,
		MaxVersion: version})
	if err := client.Handshake(); err != nil {
		t.Fatal(err)
	}
	if _, err := client.Read(make([]byte, 1)); err != nil {
		t.Fatal(err)
	}
	return client.ConnectionState().DidResume
}

// crypto/tls itself resumes a session without a certificate where one is asked for and not required.
func TestATicketIsGoodOnlyWhereTheSameIsAskedOfClients(t *testing.T) {
	own, tickets := certificate(t), fresh(t, Config{})
	attached := func(auth tls.ClientAuthType, authority ...tls.Certificate) *tls.Config {
		c := &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: auth, ClientCAs: x509.NewCertPool()}
		for _, a := range authority {
			ca, err := x509.ParseCertificate(a.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			c.ClientCAs.AddCert(ca)
		}
		if err := tickets.Attach(c); err != nil {
			t.Fatal(err)
		}
		return c
	}
	none, asks := attached(tls.NoClientCert), attached(tls.RequestClientCert)
	another := attached(tls.RequestClientCert, own)
	chosen := &tls.Config{Certificates: []tls.Certificate{own}}
	chosen.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) {
		return &tls.Config{Certificates: []tls.Certificate{own}, ClientAuth: tls.RequestClientCert}, nil
	}
	if err := tickets.Attach(chosen); err != nil {
		t.Fatal(err)
	}
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		for i, pair := range [][2]*tls.Config{{none, asks}, {asks, none}, {asks, another}, {another, asks}, {none, chosen},
			{asks, chosen}} {
			cache := &frozen{}
			got := fmt.Sprint(resumes(t, pair[0], cache, version), resumes(t, pair[1], cache, version),
				resumes(t, pair[0], cache, version))
			if got != "false false true" {
				t.Errorf("version %x, pair %d: %s", version, i, got)
			}
		}
	}
}

func TestATicketResumesOneConnection(t *testing.T) {
	for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
		server := &tls.Config{Certificates: []tls.Certificate{certificate(t)}}
		stock := &frozen{}
		got := fmt.Sprint(resumes(t, server, stock, version), resumes(t, server, stock, version),
			resumes(t, server, stock, version))
		if got != "false true true" { // the control: what crypto/tls does by itself
			t.Errorf("stock, version %x: %s", version, got)
		}
		server = server.Clone()
		tickets := fresh(t, Config{})
		if err := tickets.Attach(server); err != nil {
			t.Fatal(err)
		}
		ours := &frozen{}
		got = fmt.Sprint(resumes(t, server, ours, version), resumes(t, server, ours, version),
			resumes(t, server, ours, version))
		if got != "false true false" {
			t.Errorf("version %x: %s", version, got)
		}
		if m := tickets.Metrics(); m.Redeemed != 1 || m.Refused != 1 || m.Foreign != 0 || m.Issued < 2 {
			t.Errorf("version %x: %+v", version, m)
		}
		if resumes(t, server, stock, version) {
			t.Errorf("version %x: a ticket of the stock server was taken", version)
		}
	}
}

func TestOnlyWholeTicketsAreTaken(t *testing.T) {
	tickets, other := fresh(t, Config{Depth: 8}), fresh(t, Config{Depth: 8})
	ticket := seal(t, tickets, "secret")
	for i := range ticket {
		bad := bytes.Clone(ticket)
		bad[i] ^= 1
		if _, ok := tickets.Open(bad); ok {
			t.Errorf("byte %d may be changed", i)
		}
	}
	for n := range ticket {
		if _, ok := tickets.Open(ticket[:n]); ok {
			t.Errorf("%d bytes are enough", n)
		}
	}
	if opens(other, ticket, "secret") {
		t.Error("another server's ticket was taken")
	}
	if !opens(tickets, ticket, "secret") || opens(tickets, ticket, "secret") {
		t.Error("a ticket opens once, whatever was tried before")
	}
	if !opens(tickets, seal(t, tickets, ""), "") {
		t.Error("an empty session")
	}
	if m := tickets.Metrics(); m.Foreign != uint64(2*len(ticket)) || m.Redeemed != 2 || m.Refused != 1 {
		t.Errorf("%+v", m)
	}
}

func TestOfManyCopiesOneIsRedeemed(t *testing.T) {
	tickets := fresh(t, Config{Depth: 10})
	for range 200 {
		ticket := seal(t, tickets, "x")
		var wg sync.WaitGroup
		var mu sync.Mutex
		taken := 0
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				if opens(tickets, ticket, "x") {
					mu.Lock()
					taken++
					mu.Unlock()
				}
			}()
		}
		wg.Wait()
		if taken != 1 {
			t.Fatalf("redeemed %d times", taken)
		}
	}
}

func TestTicketsExpire(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	tickets := fresh(t, Config{Depth: 6, Lifetime: 160 * time.Second, Now: c.tell})
	early := seal(t, tickets, "early")
	kept := seal(t, tickets, "kept")
	c.now = c.now.Add(100 * time.Second)
	late := seal(t, tickets, "late")
	if !opens(tickets, kept, "kept") {
		t.Error("good for its lifetime")
	}
	c.now = c.now.Add(70 * time.Second) // 170 s: the lifetime and a sixteenth
	if opens(tickets, early, "early") {
		t.Error("past its lifetime")
	}
	if !opens(tickets, late, "late") {
		t.Error("70 s old")
	}
	if m := tickets.Metrics(); m.Redeemed != 2 || m.Refused != 1 || m.Keys != 1 {
		t.Errorf("%+v", m)
	}
}

// In a namespace whose system has run for a day more.
func TestTheClockRunsInSuspend(t *testing.T) {
	const asked = "PPRF_TEST_CLOCK"
	now := fresh(t, Config{}).config.Now().Unix()
	if os.Getenv(asked) != "" {
		fmt.Println("since boot:", now)
		return
	}
	command := exec.Command("unshare", "--user", "--map-root-user", "--time", "--boottime", "86400", os.Args[0],
		"-test.run", "^TestTheClockRunsInSuspend$")
	command.Env = append(os.Environ(), asked+"=1")
	out, _ := command.Output()
	var there int64
	if _, err := fmt.Sscanf(string(out), "since boot: %d", &there); err != nil {
		t.Skipf("no time namespace is available here: %s", out)
	}
	if there+3600 < now+86400 {
		t.Errorf("%d here, %d where the system has run for a day more", now, there)
	}
}

func TestKeysRotate(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	tickets := fresh(t, Config{Depth: 2, Lifetime: time.Minute, Now: c.tell})
	var made [][]byte
	for range 10 {
		made = append(made, seal(t, tickets, "x"))
	}
	if m := tickets.Metrics(); m.Keys != 3 || m.Rotations != 2 || m.Dropped != 0 {
		t.Errorf("%+v", m)
	}
	for i, ticket := range made {
		if !opens(tickets, ticket, "x") || opens(tickets, ticket, "x") {
			t.Errorf("ticket %d", i)
		}
	}
	c.now = c.now.Add(2 * time.Minute)
	if m := tickets.Metrics(); m.Keys != 1 { // the tickets of the others have expired
		t.Errorf("%+v", m)
	}
	for range 4 * (maxKeys + 1) { // too many for so small a depth
		seal(t, tickets, "x")
	}
	if m := tickets.Metrics(); m.Keys != maxKeys || m.Dropped == 0 {
		t.Errorf("%+v", m)
	}

	tickets = fresh(t, Config{Depth: 8, Lifetime: time.Minute, Rotation: time.Minute, Now: c.tell})
	old := seal(t, tickets, "old")
	c.now = c.now.Add(30 * time.Second)
	if err := tickets.Rotate(); err != nil {
		t.Fatal(err)
	}
	seal(t, tickets, "new")
	if !opens(tickets, old, "old") {
		t.Error("a rotation spoils no ticket")
	}
	c.now = c.now.Add(70 * time.Second)
	seal(t, tickets, "newer")
	if m := tickets.Metrics(); m.Rotations != 2 || m.Keys != 1 {
		t.Errorf("%+v", m)
	}
}

// A key of two leaves in the place of one of 64 fails where it is asked for more: as if memory were short.
func TestWhatAKeyRefusesIsCountedAndMadeUpFor(t *testing.T) {
	c := &clock{time.Unix(1000, 0)}
	tickets := fresh(t, Config{Depth: 6, Lifetime: time.Minute, Now: c.tell})
	small, err := pprf.New(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	g := tickets.held[0]
	whole := g.key
	g.key = small
	old := [][]byte{seal(t, tickets, "old"), seal(t, tickets, "old")}
	if _, err := tickets.Seal([]byte("x")); !errors.Is(err, pprf.ErrRange) {
		t.Error(err)
	}
	if !opens(tickets, old[0], "old") {
		t.Error("control: the small key opens its tickets")
	}
	c.now = c.now.Add(2 * time.Minute)
	if m := tickets.Metrics(); m.Issued != 2 || m.Failed != 1 || m.Nodes == 0 {
		t.Errorf("not made, and not punctured: %+v", m)
	}
	if opens(tickets, old[1], "old") {
		t.Error("opened past its lifetime, though its key refused to puncture it")
	}
	g.key = whole
	small.Close()
	tickets.Metrics()
	for leaf := range uint64(4) {
		if _, err := whole.Eval(leaf); errors.Is(err, pprf.ErrPunctured) != (leaf < 3) {
			t.Errorf("leaf %d: %v", leaf, err)
		}
	}
}

func TestNothingIsLeftAfterClose(t *testing.T) {
	tickets := fresh(t, Config{Depth: 8})
	ticket := seal(t, tickets, "x")
	tickets.Close()
	if opens(tickets, ticket, "x") {
		t.Error("opened")
	}
	if _, err := tickets.Seal([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := tickets.Rotate(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	tickets = fresh(t, Config{Depth: 8}) // closed before it has given a ticket
	tickets.Close()
	if err := tickets.Rotate(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := tickets.Seal([]byte("x")); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

func TestNoErrorOfOursEndsAHandshake(t *testing.T) {
	small, err := pprf.New(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer small.Close()
	cert := certificate(t)
	for name, spoil := range map[string]func(*Tickets){
		"closed":               (*Tickets).Close,
		"a key that is closed": func(tickets *Tickets) { tickets.held[0].key.Close() },
		"a key that refuses":   func(tickets *Tickets) { tickets.held[0].key, tickets.held[0].next = small, 2 },
		"no next key":          func(tickets *Tickets) { tickets.held[0].next = 1 << 6; tickets.config.Depth = 6 + 64 },
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			tickets, server, client := fresh(t, Config{Depth: 6}), &tls.Config{Certificates: []tls.Certificate{cert}}, &frozen{}
			if err := tickets.Attach(server); err != nil {
				t.Fatal(err)
			}
			spoil(tickets)
			for range 3 { // with what it was given the first time
				if resumes(t, server, client, version) {
					t.Errorf("%s, version %x: resumed", name, version)
				}
			}
			if client.state == nil {
				t.Errorf("%s, version %x: no ticket", name, version)
			}
			if m := tickets.Metrics(); m.Redeemed != 0 || m.Failed == 0 {
				t.Errorf("%s, version %x: %+v", name, version, m)
			}
		}
	}
}

func TestAConfigurationThatIsChosenHasTheTicketsToo(t *testing.T) {
	cert := certificate(t)
	chosen := &tls.Config{Certificates: []tls.Certificate{cert}}
	for name, choose := range map[string]func() *tls.Config{
		"another": func() *tls.Config { return chosen },
		"a new":   chosen.Clone,
		"none":    func() *tls.Config { return nil },
	} {
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			tickets, client := fresh(t, Config{Depth: 6}), &frozen{}
			server := chosen.Clone()
			server.GetConfigForClient = func(*tls.ClientHelloInfo) (*tls.Config, error) { return choose(), nil }
			if err := tickets.Attach(server); err != nil {
				t.Fatal(err)
			}
			got := fmt.Sprint(resumes(t, server, client, version), resumes(t, server, client, version),
				resumes(t, server, client, version))
			if m := tickets.Metrics(); got != "false true false" || m.Redeemed != 1 || m.Refused != 1 {
				t.Errorf("%s, version %x: %s, %+v", name, version, got, m)
			}
		}
	}
	if chosen.WrapSession != nil {
		t.Error("the caller's configuration was changed")
	}
	other, ours := fresh(t, Config{}), fresh(t, Config{})
	if err := other.Attach(chosen); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	for _, test := range []struct {
		config *tls.Config
		err    error
	}{{chosen, nil}, {&tls.Config{SessionTicketsDisabled: true}, nil}, {nil, refused}} {
		server := &tls.Config{GetConfigForClient: func(*tls.ClientHelloInfo) (*tls.Config, error) { return test.config, test.err }}
		if err := ours.Attach(server); err != nil {
			t.Fatal(err)
		}
		if got, err := server.GetConfigForClient(nil); got != test.config || err != test.err {
			t.Errorf("%v, %v", got, err)
		}
	}
}

func TestNoEncoderWritesEmptyTickets(t *testing.T) {
	tickets := fresh(t, Config{Depth: 8})
	for _, v := range []any{tickets, *tickets} {
		if data, err := json.Marshal(v); err == nil {
			t.Errorf("json: %T: %s", v, data)
		}
	}
	if text := slog.AnyValue(tickets).Resolve().String(); text != tickets.String() {
		t.Errorf("slog: %s", text)
	}
}

func TestAttachTakesNothingOver(t *testing.T) {
	tickets := fresh(t, Config{Depth: 8})
	c := &tls.Config{}
	if err := tickets.Attach(c); err != nil {
		t.Error(err)
	}
	if err := tickets.Attach(c); !errors.Is(err, ErrTaken) {
		t.Error(err)
	}
	if err := tickets.Attach(&tls.Config{SessionTicketsDisabled: true}); !errors.Is(err, ErrDisabled) {
		t.Error(err)
	}
	for _, wrong := range []Config{{Depth: 33}, {Lifetime: -1}, {Lifetime: 8 * 24 * time.Hour}, {Rotation: -1}} {
		if _, err := New(wrong); err == nil {
			t.Errorf("%+v", wrong)
		}
	}
}
