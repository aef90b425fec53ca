// SPDX-License-Identifier: Apache-2.0

// Package pprftls gives servers on crypto/tls, QUIC's among them, session tickets that are used once and
// cannot be decrypted afterwards, not even by someone who steals the server.
//
//	tickets, err := pprftls.New(pprftls.Config{})
//	err = tickets.Attach(config)  // a *tls.Config
//
// Every ticket is sealed under a leaf of a puncturable key.  Opening it punctures the leaf, so that a copy of
// the ticket, and of the early data that came with it, is refused.  Tickets past their lifetime are punctured
// by range, and a key that is used up gives way to the next.
//
// Limits.  crypto/tls asks for the session before it has verified that the client knows its secret: whoever
// copies a ClientHello on its way can spoil its ticket (the client then makes a full handshake), and one
// ClientHello names up to five.  crypto/tls keeps the session's secret until the connection is closed, and
// nobody wipes what was in Go's memory.  The state is one process's.
//
// A ticket is good only under a configuration with the ClientAuth and the names in ClientCAs of the one that issued
// it: the configuration that was attached, or that its GetConfigForClient returned.  A Clone counts as its original,
// whatever is changed in it: clone first, then attach to each.
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
	Lifetime time.Duration    // a ticket is good for it, and up to a sixteenth more; default 2 hours, at most 7 days
	Rotation time.Duration    // a key gives tickets for so long; default: until they are used up
	Now      func() time.Time // default: a clock that runs in suspend, too, and that nobody sets
}

// Metrics count since New, and say what is held now.
type Metrics struct {
	Issued      uint64 // tickets made
	Redeemed    uint64 // tickets opened, each for the only time
	Refused     uint64 // tickets of ours that were used or expired, copies among them
	Foreign     uint64 // what was offered and is no ticket of ours, whole
	Failed      uint64 // tickets that could not be made
	Rotations   uint64 // keys begun after the first
	Dropped     uint64 // keys given up before their last ticket had expired: Depth is too small
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

// All leaves below next were given out at that time or before.
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
	expired uint64 // leaves below are punctured; less than due: that failed, and is tried again
	marks   []mark // ascending
}

// Tickets are the keys of one server.  All methods may be called at the same time.  A copy is the same tickets, with
// the same keys.  What New did not make, the zero Tickets or a nil pointer, is closed.
type Tickets struct{ *state }

// What the copies share: were it copied, one leaf would be given to two tickets.
type state struct {
	config Config
	name   cipher.Block // hides the leaf's number, which would tell clients how many tickets were made
	mu     sync.Mutex
	held   []*generation // the last is the one that gives tickets
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

// The time since the system's start.  What time.Now measures with stands still in suspend.
func sinceBoot() time.Time {
	var now syscall.Timespec
	if _, _, err := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockBoottime, uintptr(unsafe.Pointer(&now)), 0); err != 0 {
		return time.Now()
	}
	return time.Unix(now.Unix())
}

// shared returns what the copies share; of what was never made it is closed.
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

// What a configuration asks of its clients: a ticket is good only where the same is asked.
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

// Attach has every session of config become a ticket of these, and nothing else be accepted as one.  So it does with
// each configuration that config.GetConfigForClient returns, in a copy, but for those that have session tickets
// disabled or wrap their sessions themselves.  Call it before config is used, and set GetConfigForClient before.
//
// No error ends a handshake: while no ticket can be made, after Close for example, clients get one that nobody can
// open, and make a full handshake the next time.
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

// Set the functions that crypto/tls calls.  An error of theirs would end the handshake.
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
		state, err := tls.ParseSessionState(plain) // it points into plain, which so cannot be wiped
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

// Rotate has a new key give the tickets from now on; those given out stay good, unless eight keys are held already:
// then the oldest is given up.
func (t *Tickets) Rotate() error {
	s := t.lock()
	defer s.mu.Unlock()
	return s.begin()
}

// Close wipes all keys: no ticket can be opened any more, and none is made.
func (t *Tickets) Close() {
	s := t.lock()
	defer s.mu.Unlock()
	for _, g := range s.held {
		g.key.Close()
	}
	s.held, s.closed = nil, true
}

// Metrics expires what is due and counts.
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

// Begin a generation; under the lock.
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

// Puncture what is past its lifetime, and drop keys all of whose tickets are; under the lock.
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

// The next leaf to give a ticket; under the lock.
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
	// the last mark covers a sixteenth of the lifetime: it is dated to its end
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

// Seal makes a ticket of bytes: for servers that are not crypto/tls's.
func (t *Tickets) Seal(plain []byte) ([]byte, error) { return t.seal(plain, nil) }

// With rules the ticket is whole only for those who give the same.
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
	if err != nil { // Close, or a key that was given up, was faster
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
	case !given: // its key is gone, it has expired, or a leaf that no ticket has
		count = &s.count.Refused
	default:
		plain, count = s.redeem(g.key, leaf, ticket, rules)
	}
	s.mu.Lock()
	*count++
	s.mu.Unlock()
	return plain, plain != nil
}

// Puncture the leaf of a ticket that is whole.  Of several callers one gets the content: whose puncture it is.
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
