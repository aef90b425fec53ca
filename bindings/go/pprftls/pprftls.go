// SPDX-License-Identifier: Apache-2.0

// Package pprftls gives servers on crypto/tls, QUIC's among them, session tickets that are used
// once and cannot be decrypted afterwards, not even by an attacker who steals the server.
//
//	tickets, err := pprftls.New(pprftls.Config{})
//	err = tickets.Attach(config)  // a *tls.Config
//
// Every ticket is sealed under a leaf of a puncturable key.  Opening it punctures the leaf, so a
// copy of the ticket, and of the early data that came with it, is refused.  Expired tickets are
// punctured by range when the next ticket is made or offered, or by Metrics, which a server that may be
// idle calls from a timer.  A key that is used up is replaced by the next.
//
// Limits.  crypto/tls asks for the session before it has verified that the client knows its secret.
// So an attacker who copies a ClientHello in transit can use up its ticket (the client then makes a
// full handshake), and one ClientHello names up to five tickets.  crypto/tls keeps the session's
// secret until the connection is closed, and Go's memory is not wiped.  The state belongs to one
// process.
//
// A ticket is good only under a configuration with the same ClientAuth and names in ClientCAs as
// the one that issued it: the attached configuration, or one returned by its GetConfigForClient.  A
// Clone counts as its original even if it is changed: clone first, then attach to each.
package pprftls

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"encoding/binary"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"syscall"
	"time"
	"unsafe"

	pprf "github.com/libpprf/libpprf/bindings/go"
)

// Config says what tickets to make.  Zero means the default.
type Config struct {
	Depth    uint             // a key gives 2^Depth tickets; default 20
	Lifetime time.Duration    // of a ticket, plus up to a sixteenth; default 2 hours, at most 7 days
	Rotation time.Duration    // how long a key issues tickets; default: until they are used up
	Now      func() time.Time // default: a monotonic clock that also runs in suspend
}

// Metrics are counters since New, and what is held now.
type Metrics struct {
	Issued      uint64 // tickets made
	Redeemed    uint64 // tickets opened, each for the only time
	Refused     uint64 // our tickets that were used or expired, including copies
	Foreign     uint64 // offered, but not an intact ticket of ours
	Failed      uint64 // tickets that could not be made
	Rotations   uint64 // keys begun after the first
	Dropped     uint64 // keys dropped before their last ticket had expired: Depth is too small
	Keys        int    // keys held
	Nodes       int    // seeds held
	MemoryBytes int    // memory that the keys hold
}

const (
	nameBytes   = aes.BlockSize // a ticket's first block: which key and leaf, enciphered
	marks       = 16            // the times of issue are known to within Lifetime / marks
	maxKeys     = 8
	maxLifetime = 7 * 24 * time.Hour // RFC 8446, 4.6.1
)

// Errors of Attach.
var (
	ErrTaken    = errors.New("pprftls: the configuration wraps its sessions already")
	ErrDisabled = errors.New("pprftls: the configuration has session tickets disabled")
	ErrClosed   = errors.New("pprftls: closed")
)

// A mark: all leaves below next were issued at that time or earlier.
type mark struct {
	at   time.Time
	next uint64
}

// A generation is a key and the tickets made with it.
type generation struct {
	id      uint32
	key     *pprf.Key
	born    time.Time
	next    uint64 // the first leaf that was not given out
	due     uint64 // leaves below are past their lifetime
	expired uint64 // leaves below this are punctured; less than due: puncturing failed and is retried
	marks   []mark // ascending
}

// Tickets are the keys of one server.  All methods may be called concurrently.  A copy has the same
// keys.  The zero Tickets and a nil pointer are closed.
type Tickets struct{ *state }

// The state that copies share: if it were copied, two tickets would get one leaf.
type state struct {
	config Config
	name   cipher.Block // hides the leaf's number, which would reveal how many tickets were made
	mu     sync.Mutex
	held   []*generation // the last one issues tickets
	closed bool
	count  Metrics
}

// New makes tickets with a key of their own.
func New(config Config) (*Tickets, error) {
	if config.Depth == 0 {
		config.Depth = 20
	}
	if config.Depth > 32 { // a ticket's name has 32 bits of leaf
		return nil, fmt.Errorf("pprftls: a depth of %d, more than 32", config.Depth)
	}
	if config.Lifetime == 0 {
		config.Lifetime = 2 * time.Hour
	}
	if config.Lifetime < 0 || config.Lifetime > maxLifetime || config.Rotation < 0 {
		return nil, fmt.Errorf("pprftls: a lifetime of %v, a rotation of %v", config.Lifetime, config.Rotation)
	}
	if config.Now == nil {
		config.Now = sinceBoot
	}
	s := &state{config: config}
	var key [16]byte
	rand.Read(key[:]) // never fails (crypto/rand)
	s.name, _ = aes.NewCipher(key[:])
	clear(key[:])
	if err := s.begin(); err != nil {
		return nil, err
	}
	return &Tickets{s}, nil
}

const clockBoottime = 7 // CLOCK_BOOTTIME of clock_gettime(2)

// The time since boot.  The clock of time.Now stops during suspend.
func sinceBoot() time.Time {
	var now syscall.Timespec
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0); err != 0 {
		return time.Now()
	}
	return time.Unix(now.Unix())
}

// shared returns the copies' state; Tickets that were never made have a closed one.
func (t *Tickets) shared() *state {
	if t == nil || t.state == nil {
		return &state{config: Config{Now: sinceBoot}, closed: true}
	}
	return t.state
}

func (t *Tickets) lock() *state {
	s := t.shared()
	s.mu.Lock()
	return s
}

func (t *Tickets) isClosed() bool {
	s := t.lock()
	defer s.mu.Unlock()
	return s.closed
}

// The client requirements of a configuration: a ticket is good only under the same ones.
func asked(config *tls.Config) []byte {
	rules := binary.BigEndian.AppendUint32(nil, uint32(config.ClientAuth))
	if config.ClientAuth != tls.NoClientCert && config.ClientCAs != nil {
		rules = append(rules, 1)             // no pool: the system's
		names := config.ClientCAs.Subjects() // a pool of the program's own has all its names
		slices.SortFunc(names, bytes.Compare)
		for _, name := range names {
			rules = append(binary.BigEndian.AppendUint32(rules, uint32(len(name))), name...)
		}
	}
	digest := sha256.Sum256(rules)
	return digest[:]
}

// Attach makes config issue and accept only these tickets.  It does the same for a copy of each
// configuration that config.GetConfigForClient returns, except those that disable session tickets
// or wrap sessions themselves.  Call it before config is used and after setting GetConfigForClient.
//
// No error ends a handshake.  While no ticket can be made, for example after Close, clients get a
// ticket that nobody can open, and make a full handshake next time.
func (t *Tickets) Attach(config *tls.Config) error {
	if t.isClosed() {
		return ErrClosed
	}
	if config.WrapSession != nil || config.UnwrapSession != nil {
		return ErrTaken
	}
	if config.SessionTicketsDisabled {
		return ErrDisabled
	}
	t.wrap(config)
	if choose := config.GetConfigForClient; choose != nil {
		config.GetConfigForClient = func(hello *tls.ClientHelloInfo) (*tls.Config, error) {
			chosen, err := choose(hello)
			if err != nil || chosen == nil || chosen.SessionTicketsDisabled || chosen.WrapSession != nil ||
				chosen.UnwrapSession != nil {
				return chosen, err
			}
			chosen = chosen.Clone() // it may be in use
			t.wrap(chosen)
			return chosen, nil
		}
	}
	return nil
}

// Set the functions that crypto/tls calls.  They return no errors, which would end the handshake.
func (t *Tickets) wrap(config *tls.Config) {
	config.WrapSession = func(_ tls.ConnectionState, state *tls.SessionState) ([]byte, error) {
		plain, err := state.Bytes()
		if err == nil {
			if ticket, err := t.seal(plain, asked(config)); err == nil {
				return ticket, nil
			}
		}
		ticket := make([]byte, nameBytes+len(plain)+16) // an empty one would break the protocol
		rand.Read(ticket)
		return ticket, nil
	}
	config.UnwrapSession = func(ticket []byte, _ tls.ConnectionState) (*tls.SessionState, error) {
		if len(ticket) == 0 {
			return nil, nil // a TLS 1.2 client that asks for its first ticket
		}
		plain, ok := t.open(ticket, asked(config))
		if !ok {
			return nil, nil // a full handshake
		}
		state, err := tls.ParseSessionState(plain) // it points into plain, which therefore cannot be wiped
		if err != nil {
			return nil, nil
		}
		return state, nil
	}
}

// String says how many keys there are, and seeds in them.
func (t *Tickets) String() string {
	if t.isClosed() {
		return "pprftls.Tickets(closed)"
	}
	m := t.Metrics()
	return fmt.Sprintf("pprftls.Tickets(keys %d, seeds %d, issued %d)", m.Keys, m.Nodes, m.Issued)
}

// MarshalText returns an error, so that encoding/json and its like do not write empty tickets.
func (Tickets) MarshalText() ([]byte, error) {
	return nil, errors.New("pprftls: tickets are not written as text: their keys stay in the process")
}

// LogValue is for log/slog: what String returns.
func (t Tickets) LogValue() slog.Value { return slog.StringValue(t.String()) }

// Rotate starts a new key for all further tickets.  Issued tickets stay good, unless eight keys are
// already held: then the oldest is dropped.
func (t *Tickets) Rotate() error {
	s := t.lock()
	defer s.mu.Unlock()
	return s.begin()
}

// Close wipes all keys: no ticket can be opened or made any more.
func (t *Tickets) Close() {
	s := t.lock()
	defer s.mu.Unlock()
	for _, g := range s.held {
		g.key.Close()
	}
	s.held, s.closed = nil, true
}

// Metrics expires due tickets and returns the counters.
func (t *Tickets) Metrics() Metrics {
	s := t.lock()
	defer s.mu.Unlock()
	s.expire()
	m := s.count
	m.Keys = len(s.held)
	for _, g := range s.held {
		m.Nodes += g.key.Nodes()
		m.MemoryBytes += g.key.MemoryBytes()
	}
	return m
}

// Begin a generation.  Needs the lock.
func (s *state) begin() error {
	if s.closed {
		return ErrClosed
	}
	key, err := pprf.New(s.config.Depth, nil)
	if err != nil {
		return err
	}
	g := &generation{key: key, born: s.config.Now()}
	if len(s.held) > 0 {
		g.id = s.held[len(s.held)-1].id + 1
		s.count.Rotations++
	}
	s.held = append(s.held, g)
	s.expire()
	for len(s.held) > maxKeys {
		s.held[0].key.Close()
		s.held = s.held[1:]
		s.count.Dropped++
	}
	return nil
}

// Puncture expired tickets and drop keys whose tickets have all expired.  Needs the lock.
func (s *state) expire() {
	limit := s.config.Now().Add(-s.config.Lifetime)
	kept := s.held[:0]
	for i, g := range s.held {
		for len(g.marks) > 0 && !g.marks[0].at.After(limit) {
			g.due, g.marks = g.marks[0].next, g.marks[1:]
		}
		if g.due > g.expired {
			// ErrPunctured: each of them was redeemed
			if err := g.key.PunctureRange(g.expired, g.due-1); err == nil || errors.Is(err, pprf.ErrPunctured) {
				g.expired = g.due
			}
		}
		if i < len(s.held)-1 && g.expired == g.next {
			g.key.Close()
			continue
		}
		kept = append(kept, g)
	}
	clear(s.held[len(kept):])
	s.held = kept
}

// Take the next leaf for a ticket.  Needs the lock.
func (s *state) take() (*generation, uint64, error) {
	if len(s.held) == 0 {
		return nil, 0, ErrClosed
	}
	s.expire()
	now, g := s.config.Now(), s.held[len(s.held)-1]
	if g.next == 1<<s.config.Depth || (s.config.Rotation > 0 && now.Sub(g.born) >= s.config.Rotation) {
		if err := s.begin(); err != nil {
			return nil, 0, err
		}
		g = s.held[len(s.held)-1]
	}
	leaf := g.next
	g.next++
	// a mark covers a sixteenth of the lifetime and is dated to its end
	if n := len(g.marks); n > 0 && now.Before(g.marks[n-1].at) {
		g.marks[n-1].next = g.next
	} else {
		g.marks = append(g.marks, mark{now.Add(s.config.Lifetime / marks), g.next})
	}
	return g, leaf, nil
}

func (s *state) find(id uint32) *generation {
	for _, g := range s.held {
		if g.id == id {
			return g
		}
	}
	return nil
}

// A leaf's value seals one ticket, so the nonce may be constant.
func aead(value *[pprf.ValueBytes]byte) cipher.AEAD {
	block, _ := aes.NewCipher(value[:])
	clear(value[:])
	gcm, _ := cipher.NewGCM(block)
	return gcm
}

var nonce [12]byte

// Seal makes a ticket from bytes, for servers other than crypto/tls's.
func (t *Tickets) Seal(plain []byte) ([]byte, error) { return t.seal(plain, nil) }

// With rules, the ticket opens only with the same rules.
func (t *Tickets) seal(plain, rules []byte) ([]byte, error) {
	s := t.lock()
	g, leaf, err := s.take()
	if err == nil {
		s.count.Issued++
	} else {
		s.count.Failed++
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	value, err := g.key.Eval(leaf)
	if err != nil { // closed, or the key was dropped, in the meantime
		s.mu.Lock()
		s.count.Issued--
		s.count.Failed++
		s.mu.Unlock()
		return nil, err
	}
	ticket := make([]byte, nameBytes, nameBytes+len(plain)+16)
	binary.BigEndian.PutUint32(ticket[4:], g.id)
	binary.BigEndian.PutUint64(ticket[8:], leaf)
	s.name.Encrypt(ticket, ticket)
	return aead(&value).Seal(ticket, nonce[:], plain, append(rules, ticket...)), nil
}

// Open returns what was sealed, once: afterwards nobody can open the ticket.
func (t *Tickets) Open(ticket []byte) (plain []byte, ok bool) { return t.open(ticket, nil) }

func (t *Tickets) open(ticket, rules []byte) (plain []byte, ok bool) {
	s := t.shared()
	var name [nameBytes]byte
	if len(ticket) >= nameBytes && s.name != nil {
		s.name.Decrypt(name[:], ticket[:nameBytes])
	} else {
		name[0] = 1
	}
	id, leaf := binary.BigEndian.Uint32(name[4:]), binary.BigEndian.Uint64(name[8:])
	s.mu.Lock()
	s.expire()
	g := s.find(id)
	foreign := binary.BigEndian.Uint32(name[:4]) != 0 || leaf>>s.config.Depth != 0
	given := g != nil && leaf < g.next && leaf >= g.due
	s.mu.Unlock()
	var count *uint64
	switch {
	case foreign:
		count = &s.count.Foreign
	case !given: // its key is gone, it has expired, or no ticket has this leaf
		count = &s.count.Refused
	default:
		plain, count = s.redeem(g.key, leaf, ticket, rules)
	}
	s.mu.Lock()
	*count++
	s.mu.Unlock()
	return plain, plain != nil
}

// Puncture the leaf of an intact ticket.  Only the caller that punctures it gets the content.
func (s *state) redeem(key *pprf.Key, leaf uint64, ticket, rules []byte) ([]byte, *uint64) {
	value, err := key.Eval(leaf)
	if err != nil {
		return nil, &s.count.Refused
	}
	plain, err := aead(&value).Open([]byte{}, nonce[:], ticket[nameBytes:], append(rules, ticket[:nameBytes]...))
	if err != nil {
		return nil, &s.count.Foreign
	}
	if err := key.Puncture(leaf); err != nil {
		clear(plain)
		return nil, &s.count.Refused
	}
	return plain, &s.count.Redeemed
}
