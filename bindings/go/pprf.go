// SPDX-License-Identifier: Apache-2.0

// Package pprf is a puncturable pseudorandom function: libpprf, embedded.
//
// A key of depth d is a function from the leaves 0 .. 2^d-1 to values of 16 bytes, or of 32 in the suite
// MLSSHA256.  Puncturing a leaf removes its value from the key for good: every other leaf keeps its value, and
// nobody who reads the key afterwards can compute the lost one.
//
// On every error the key is as it was.  Goroutines may share a key: readers run side by side, writers one at a
// time.  The key lies outside Go's heap, is kept out of core dumps and, as far as the limit allows, of swap,
// and is wiped.  Values are Go memory, which the runtime may copy: clear what you can.
package pprf

/*
#cgo CFLAGS: -std=c11 -O2 -DPPRF_NO_OPENSSL -D_GNU_SOURCE -DPPRF_API= -fvisibility=hidden
#cgo LDFLAGS: -pthread
#include <stdlib.h>
#include "pprf.h"

// cgo lets a function have pointers to Go's memory, but no structure that it points to.
static int setup_with(pprf_key **key, unsigned depth, const uint8_t *seed, unsigned suite, const uint8_t *salt,
                      unsigned store)
{
  struct pprf_options options = {.size = sizeof options, .seed = seed, .depth = depth, .store = store,
                                 .suite = suite, .salt = salt};
  return pprf_setup_with(key, &options);
}

static int import_any(pprf_key **key, const uint8_t *buf, size_t len, unsigned store)
{
  struct pprf_import_options options = {.size = sizeof options,
                                        .suites = PPRF_SUITES_16_BYTES | PPRF_SUITES_32_BYTES,
                                        .store = store};
  return pprf_import_with(key, buf, len, &options);
}

static int is_wide(unsigned suite)
{
  return suite < 64 && (PPRF_SUITES_32_BYTES >> suite & 1) != 0;
}
*/
import "C"

import (
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"unsafe"
)

// Sizes of the tree and of what it holds.
const (
	ValueBytes     = C.PPRF_SEED_BYTES      // bytes of a value and of a seed, except in MLSSHA256
	WideValueBytes = C.PPRF_VALUE_BYTES_MAX // those in MLSSHA256
	SaltBytes      = C.PPRF_SALT_BYTES      // bytes of a salt
	DepthMin       = C.PPRF_DEPTH_MIN
	DepthMax       = C.PPRF_DEPTH_MAX
)

// A Suite defines how a node's seed yields its children's seeds (docs/suites.md).
type Suite uint

// The suites.  DefaultSuite is SHA3Salted for a random seed and SHA3 for a given one.
const (
	DefaultSuite Suite = 0
	SHA3         Suite = C.PPRF_SHA3_256        // sha3-256: the thesis's, which has no salt
	SHA3Salted   Suite = C.PPRF_SHA3_256_SALTED // sha3-256-salted
	AES128       Suite = C.PPRF_AES_128         // aes-128
	MLSSHA256    Suite = C.PPRF_MLS_SHA256      // mls-sha256: values of 32 bytes, no salt
)

// ValueBytes returns the size of a seed and of a value in the suite.
func (s Suite) ValueBytes() int {
	if C.is_wide(C.uint(s)) != 0 && uint64(s) == uint64(C.uint(s)) {
		return WideValueBytes
	}
	return ValueBytes
}

// String returns the suite's name, as on the command line.
func (s Suite) String() string {
	if name := C.pprf_suite_name(C.uint(s)); name != nil && uint64(s) == uint64(C.uint(s)) {
		return C.GoString(name)
	}
	if s == DefaultSuite {
		return "default"
	}
	return fmt.Sprintf("suite %d", uint(s))
}

// ParseSuite returns the suite of that name; ErrSuite if there is none.
func ParseSuite(name string) (Suite, error) {
	for s := SHA3; C.pprf_suite_name(C.uint(s)) != nil; s++ {
		if s.String() == name {
			return s, nil
		}
	}
	return 0, fmt.Errorf("pprf: %w: %q", ErrSuite, name)
}

// A Store is where a key keeps its seeds.  The values, the encoding and the errors are the same.
type Store uint

// The stores.
const (
	DefaultStore Store = C.PPRF_STORE_DEFAULT // packed
	SlotStore    Store = C.PPRF_STORE_SLOTS   // fastest where punctures are dense; up to depth 32
	PackedStore  Store = C.PPRF_STORE_PACKED  // 17 to 21 bytes a seed: many keys, or few punctures in a large tree
)

// String returns the store's name.
func (s Store) String() string {
	switch s {
	case DefaultStore:
		return "default"
	case SlotStore:
		return "slots"
	case PackedStore:
		return "packed"
	}
	return fmt.Sprintf("store %d", uint(s))
}

// Options select what NewWith makes; zero fields are as in New.
type Options struct {
	Seed  []byte // the root's seed, as long as the suite's values; nil: random
	Suite Suite
	Salt  []byte // SaltBytes bytes, public, for a suite with a salt; nil: random.  Use a new salt for each key.
	Store Store
}

// Errors of keys.  Errors about leaves are *LeafError, which wraps one of the first two.
var (
	ErrPunctured = errors.New("punctured already")
	ErrRange     = errors.New("not a leaf of the tree")
	ErrDepth     = fmt.Errorf("depth not in %d..%d", DepthMin, DepthMax)
	ErrSeed      = errors.New("a seed of another length")
	ErrSuite     = errors.New("an unknown suite")
	ErrSalt      = fmt.Errorf("a salt has %d bytes", SaltBytes)
	ErrNoSalt    = errors.New("the suite has no salt")
	ErrStore     = errors.New("no such store")
	ErrMemory    = errors.New("out of memory")
	ErrCrypto    = errors.New("the digest or the random generator failed")
	ErrFormat    = errors.New("not a key file")
	ErrForked    = errors.New("the key belongs to the process that made it, before a fork")
	ErrClosed    = errors.New("the key is closed")
	ErrLength    = errors.New("the key's values have another length")
)

// A LeafError names the leaf or the range of an error.
type LeafError struct {
	First, Last uint64
	Err         error // ErrPunctured or ErrRange
}

func (e *LeafError) Error() string {
	if e.First == e.Last {
		return fmt.Sprintf("pprf: leaf %d: %v", e.First, e.Err)
	}
	return fmt.Sprintf("pprf: leaves %d..%d: %v", e.First, e.Last, e.Err)
}

// Unwrap is for errors.Is.
func (e *LeafError) Unwrap() error { return e.Err }

func errorOf(err C.int, first, last uint64) error {
	switch err {
	case C.PPRF_OK:
		return nil
	case C.PPRF_ERR_PUNCTURED:
		return &LeafError{first, last, ErrPunctured}
	case C.PPRF_ERR_RANGE:
		return &LeafError{first, last, ErrRange}
	case C.PPRF_ERR_NOMEM:
		return fmt.Errorf("pprf: %w", ErrMemory)
	case C.PPRF_ERR_FORMAT:
		return fmt.Errorf("pprf: %w", ErrFormat)
	case C.PPRF_ERR_SUITE:
		return fmt.Errorf("pprf: %w", ErrSuite)
	case C.PPRF_ERR_FORKED:
		return fmt.Errorf("pprf: %w", ErrForked)
	case C.PPRF_ERR_NULL:
		return fmt.Errorf("pprf: %w", ErrClosed)
	}
	return fmt.Errorf("pprf: %w", ErrCrypto)
}

// A Key is a punctured key.  A copy is the same key: puncturing or closing it affects both.  The
// zero Key and a nil pointer are closed keys.
type Key struct{ *state }

// What the copies of a key share.
type state struct {
	mu    sync.RWMutex
	key   *C.pprf_key // nil: closed
	bytes int         // of a value
}

func own(key *C.pprf_key) *Key {
	s := &state{key: key, bytes: int(C.pprf_value_bytes(key))}
	runtime.SetFinalizer(s, (*state).close)
	return &Key{s}
}

// shared returns the key's state; a key that was never made has that of a closed key.
func (k *Key) shared() *state {
	if k == nil || k.state == nil {
		return &state{}
	}
	return k.state
}

func (k *Key) read() *state {
	s := k.shared()
	s.mu.RLock()
	return s
}

func (k *Key) write() *state {
	s := k.shared()
	s.mu.Lock()
	return s
}

func pointer(b []byte) *C.uint8_t { return (*C.uint8_t)(unsafe.SliceData(b)) }

// New makes a key of 2^depth leaves, depth 1..63.  seed is the root's seed, ValueBytes bytes; nil:
// a random seed and salt (suite SHA3Salted).  A given seed yields the thesis's values (suite SHA3).
func New(depth uint, seed []byte) (*Key, error) {
	return NewWith(depth, Options{Seed: seed})
}

// NewWith makes a key of 2^depth leaves with the suite, salt and store in options.
func NewWith(depth uint, options Options) (*Key, error) {
	var key *C.pprf_key
	o := &options
	if depth < DepthMin || depth > DepthMax {
		return nil, fmt.Errorf("pprf: %w: %d", ErrDepth, depth)
	}
	if o.Suite != DefaultSuite && (o.Suite != Suite(C.uint(o.Suite)) || C.pprf_suite_name(C.uint(o.Suite)) == nil) {
		return nil, fmt.Errorf("pprf: %w: %d", ErrSuite, uint(o.Suite))
	}
	if o.Seed != nil && len(o.Seed) != o.Suite.ValueBytes() {
		return nil, fmt.Errorf("pprf: %w: %d bytes, not %d", ErrSeed, len(o.Seed), o.Suite.ValueBytes())
	}
	if o.Salt != nil && len(o.Salt) != SaltBytes {
		return nil, fmt.Errorf("pprf: %w, not %d", ErrSalt, len(o.Salt))
	}
	if o.Store > PackedStore {
		return nil, fmt.Errorf("pprf: %w: %d", ErrStore, uint(o.Store))
	}
	if o.Store == SlotStore && depth > C.PPRF_SLOTS_DEPTH_MAX {
		return nil, fmt.Errorf("pprf: %w: pair slots at depth %d", ErrStore, depth)
	}
	err := C.setup_with(&key, C.uint(depth), pointer(o.Seed), C.uint(o.Suite), pointer(o.Salt), C.uint(o.Store))
	if err == C.PPRF_ERR_RANGE { // all else that it can mean is checked above
		return nil, fmt.Errorf("pprf: %w: %v", ErrNoSalt, max(o.Suite, SHA3)) // SHA3: the default with a seed
	}
	if err != C.PPRF_OK {
		return nil, errorOf(err, 0, 0)
	}
	return own(key), nil
}

// Import makes a key from bytes that Export wrote.  Any other bytes are ErrFormat; a suite that
// this library does not know is ErrSuite.  The bytes need not be trusted.
func Import(data []byte) (*Key, error) {
	return ImportWith(data, ImportOptions{})
}

// ImportOptions select what ImportWith makes; zero fields are as in Import.
type ImportOptions struct {
	Store Store // the bytes do not say which one the key had
}

// ImportWith is Import with a chosen store.
func ImportWith(data []byte, options ImportOptions) (*Key, error) {
	var key *C.pprf_key
	if options.Store > PackedStore {
		return nil, fmt.Errorf("pprf: %w: %d", ErrStore, uint(options.Store))
	}
	if len(data) == 0 {
		return nil, fmt.Errorf("pprf: %w", ErrFormat)
	}
	err := C.import_any(&key, pointer(data), C.size_t(len(data)), C.uint(options.Store))
	if err == C.PPRF_ERR_RANGE { // all else that it can mean is checked above
		return nil, fmt.Errorf("pprf: %w: pair slots deeper than %d", ErrStore, C.PPRF_SLOTS_DEPTH_MAX)
	}
	if err != C.PPRF_OK {
		return nil, errorOf(err, 0, 0)
	}
	return own(key), nil
}

// Close wipes the key and releases its memory; later calls return ErrClosed.
func (k *Key) Close() { k.shared().close() }

func (s *state) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.key == nil {
		return
	}
	runtime.SetFinalizer(s, nil)
	C.pprf_free(s.key)
	s.key, s.bytes = nil, 0
}

// ValueBytes returns the size of the key's values: ValueBytes, or WideValueBytes in the suite
// MLSSHA256; 0 for a closed key.
func (k *Key) ValueBytes() int {
	s := k.read()
	defer s.mu.RUnlock()
	return s.bytes
}

// Eval returns the value of a leaf; ErrLength if the key's values have more than ValueBytes: see EvalInto.
func (k *Key) Eval(leaf uint64) (value [ValueBytes]byte, err error) {
	// not in the return statement: Go does not specify whether value is read before the call
	err = k.EvalInto(leaf, value[:])
	return value, err
}

// EvalPuncture returns the value of a leaf for the last time: only one of several callers gets it.
// Like Eval, it is for values of ValueBytes bytes.
func (k *Key) EvalPuncture(leaf uint64) (value [ValueBytes]byte, err error) {
	err = k.EvalPunctureInto(leaf, value[:])
	return value, err
}

// EvalInto writes the value of a leaf to out, which has k.ValueBytes() bytes; it writes zeros on an
// error.
func (k *Key) EvalInto(leaf uint64, out []byte) error {
	s := k.read()
	defer s.mu.RUnlock()
	if err := s.fits(out, 1); err != nil {
		return err
	}
	return errorOf(C.pprf_eval(s.key, C.uint64_t(leaf), pointer(out)), leaf, leaf)
}

// EvalPunctureInto is EvalPuncture for values of any size, as EvalInto is for Eval.
func (k *Key) EvalPunctureInto(leaf uint64, out []byte) error {
	s := k.write()
	defer s.mu.Unlock()
	if err := s.fits(out, 1); err != nil {
		return err
	}
	return errorOf(C.pprf_eval_punct(s.key, C.uint64_t(leaf), pointer(out)), leaf, leaf)
}

// fits checks, under the lock, that the key is open and that out has room for exactly `values`
// values; otherwise it clears out.
func (s *state) fits(out []byte, values int) error {
	if s.key != nil && len(out)%s.bytes == 0 && len(out)/s.bytes == values { // the product may overflow
		return nil
	}
	clear(out)
	if s.key == nil {
		return errorOf(C.PPRF_ERR_NULL, 0, 0)
	}
	return fmt.Errorf("pprf: %w: %d bytes for %d of %d", ErrLength, len(out), values, s.bytes)
}

// Puncture removes the value of a leaf.  ErrPunctured: it was already removed, perhaps by another
// caller.
func (k *Key) Puncture(leaf uint64) error {
	s := k.write()
	defer s.mu.Unlock()
	return errorOf(C.pprf_punct(s.key, C.uint64_t(leaf)), leaf, leaf)
}

// PunctureRange removes the values of first..last, however many.  ErrPunctured: all were already
// removed; ErrRange: first > last, or last is not in the tree.
func (k *Key) PunctureRange(first, last uint64) error {
	s := k.write()
	defer s.mu.Unlock()
	return errorOf(C.pprf_punct_range(s.key, C.uint64_t(first), C.uint64_t(last)), first, last)
}

// Delegate makes a key that gives the values of first..last that k gives, and no others.  Later punctures of one key do
// not reach the other.  ErrPunctured: nothing is left there; ErrRange: as for PunctureRange.
func (k *Key) Delegate(first, last uint64) (*Key, error) {
	s := k.read()
	defer s.mu.RUnlock()
	var part *C.pprf_key
	if err := C.pprf_delegate(s.key, C.uint64_t(first), C.uint64_t(last), &part); err != C.PPRF_OK {
		return nil, errorOf(err, first, last)
	}
	return own(part), nil
}

// batchError is the error of a batch; it names the leaf that is not in the tree.
func (s *state) batchError(err C.int, leaves []uint64) error {
	if err == C.PPRF_ERR_RANGE {
		for _, leaf := range leaves {
			if leaf>>uint(C.pprf_depth(s.key)) != 0 {
				return errorOf(err, leaf, leaf)
			}
		}
	}
	return errorOf(err, 0, 0)
}

func live(result []C.int) []bool {
	ok := make([]bool, len(result))
	for i, err := range result {
		ok[i] = err == C.PPRF_OK
	}
	return ok
}

// EvalMany writes the values of the leaves to out, k.ValueBytes() bytes each, and returns which
// leaves have one; the others' values are zero.  Leaves may be in any order and repeat; ascending
// order shares the most work.
func (k *Key) EvalMany(leaves []uint64, out []byte) ([]bool, error) {
	s := k.read()
	defer s.mu.RUnlock()
	if err := s.fits(out, len(leaves)); err != nil {
		return nil, err
	}
	result := make([]C.int, len(leaves))
	err := C.pprf_eval_batch(s.key, (*C.uint64_t)(unsafe.SliceData(leaves)), C.size_t(len(leaves)), pointer(out),
		unsafe.SliceData(result))
	if err != C.PPRF_OK {
		return nil, s.batchError(err, leaves)
	}
	return live(result), nil
}

// PunctureMany removes the values of all leaves, or of none on an error, and returns which ones
// this call removed.
func (k *Key) PunctureMany(leaves []uint64) ([]bool, error) {
	result := make([]C.int, len(leaves))
	s := k.write()
	defer s.mu.Unlock()
	err := C.pprf_punct_batch(s.key, (*C.uint64_t)(unsafe.SliceData(leaves)), C.size_t(len(leaves)),
		unsafe.SliceData(result))
	if err != C.PPRF_OK {
		return nil, s.batchError(err, leaves)
	}
	return live(result), nil
}

// Export returns the key's canonical encoding: equal keys give equal bytes.  They are as secret as the key.
func (k *Key) Export() ([]byte, error) {
	s := k.read()
	defer s.mu.RUnlock()
	var n C.size_t
	if err := C.pprf_export(s.key, nil, &n); err != C.PPRF_OK {
		return nil, errorOf(err, 0, 0)
	}
	data := make([]byte, n)
	return data, errorOf(C.pprf_export(s.key, pointer(data), &n), 0, 0)
}

// Prefault pre-faults the memory of a key with pair slots, so that no later puncture waits for a page.
func (k *Key) Prefault() error {
	s := k.write()
	defer s.mu.Unlock()
	return errorOf(C.pprf_prefault(s.key), 0, 0)
}

// Depth returns the number of tree levels below the root; 0 for a closed key.
func (k *Key) Depth() uint {
	s := k.read()
	defer s.mu.RUnlock()
	return uint(C.pprf_depth(s.key))
}

// Suite returns the key's suite; DefaultSuite for a closed key.
func (k *Key) Suite() Suite {
	s := k.read()
	defer s.mu.RUnlock()
	return Suite(C.pprf_suite(s.key))
}

// Nodes returns the number of seeds that the key stores.
func (k *Key) Nodes() int {
	s := k.read()
	defer s.mu.RUnlock()
	return int(C.pprf_node_count(s.key))
}

// MemoryBytes returns the memory that the key actually holds, in bytes.
func (k *Key) MemoryBytes() int {
	s := k.read()
	defer s.mu.RUnlock()
	return int(C.pprf_memory_bytes(s.key))
}

// String describes the key without secrets.
func (k *Key) String() string {
	s := k.read()
	defer s.mu.RUnlock()
	if s.key == nil {
		return "pprf.Key(closed)"
	}
	return fmt.Sprintf("pprf.Key(%v, depth %d, seeds %d)", Suite(C.pprf_suite(s.key)), C.pprf_depth(s.key),
		C.pprf_node_count(s.key))
}

// MarshalText returns an error, so that encoding/json and its like do not write an empty key: Export gives a
// key's bytes.
func (Key) MarshalText() ([]byte, error) {
	return nil, errors.New("pprf: a key is not written as text: Export gives its bytes, which are secret")
}

// LogValue is for log/slog: what String returns.
func (k Key) LogValue() slog.Value { return slog.StringValue(k.String()) }

// Version returns the embedded library's version.
func Version() string { return C.GoString(C.pprf_version()) }
