// SPDX-License-Identifier: Apache-2.0

package pprf

import (
	"bytes"
	"debug/elf"
	"encoding/gob"
	"encoding/hex"
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../../equivalence-tests/vectors/" + name)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func unhex(t *testing.T, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func fresh(t *testing.T, depth uint, seed []byte) *Key {
	t.Helper()
	k, err := New(depth, seed)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(k.Close)
	return k
}

// A program that is linked with a library that needs libpprf exports what it has of the same names, and the library would
// call that.  So does -rdynamic, which this test takes, with every name.
func TestNoOtherLibraryFindsTheLibrary(t *testing.T) {
	name := filepath.Join(t.TempDir(), "program")
	said, err := exec.Command("go", "test", "-c", "-o", name, "-ldflags=-extldflags=-rdynamic", ".").CombinedOutput()
	if err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	program, err := elf.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer program.Close()
	symbols, err := program.DynamicSymbols()
	exported := map[string]bool{}
	for _, symbol := range symbols {
		if symbol.Section != elf.SHN_UNDEF {
			exported[symbol.Name] = true
		}
	}
	if err != nil || !exported["_cgo_get_context_function"] { // of Go's own C code
		t.Fatal(exported, err)
	}
	for name := range exported {
		if strings.HasPrefix(name, "pprf_") {
			t.Error(name)
		}
	}
}

func TestNoEncoderWritesAnEmptyKey(t *testing.T) {
	k := fresh(t, 4, nil)
	for _, v := range []any{k, *k, struct{ K *Key }{k}, []Key{*k}, map[string]any{"k": k}} {
		if data, err := json.Marshal(v); err == nil || !strings.Contains(err.Error(), "Export") {
			t.Errorf("json: %T: %s %v", v, data, err)
		}
	}
	if data, err := xml.Marshal(k); err == nil || !strings.Contains(err.Error(), "Export") {
		t.Errorf("xml: %s %v", data, err)
	}
	for _, v := range []any{k, struct {
		K *Key
		N int
	}{k, 1}} {
		if err := gob.NewEncoder(io.Discard).Encode(v); err == nil {
			t.Errorf("gob: %T", v)
		}
	}
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("made", "key", k)
	if !strings.Contains(log.String(), k.String()) {
		t.Errorf("slog: %s", log.String())
	}
}

func TestEvalVectors(t *testing.T) {
	var file struct {
		Count  int
		Groups []struct {
			Depth uint
			Seed  string
			Tests []struct {
				Leaf  uint64
				Value string
			}
		}
	}
	load(t, "eval.json", &file)
	n := 0
	for _, g := range file.Groups {
		k := fresh(t, g.Depth, unhex(t, g.Seed))
		var leaves []uint64
		var want []byte
		for _, test := range g.Tests {
			v, err := k.Eval(test.Leaf)
			if err != nil || hex.EncodeToString(v[:]) != test.Value {
				t.Errorf("depth %d leaf %d: %x %v", g.Depth, test.Leaf, v, err)
			}
			leaves, want, n = append(leaves, test.Leaf), append(want, v[:]...), n+1
		}
		out := make([]byte, len(want))
		if _, err := k.EvalMany(leaves, out); err != nil || !bytes.Equal(out, want) {
			t.Errorf("depth %d: EvalMany differs: %v", g.Depth, err)
		}
	}
	if n == 0 || n != file.Count {
		t.Errorf("%d tests of %d", n, file.Count)
	}
}

func TestPunctureVectors(t *testing.T) {
	for _, store := range []Store{DefaultStore, SlotStore, PackedStore} {
		punctureVectors(t, "puncture.json", store)
		punctureVectors(t, "suites.json", store)
		punctureVectors(t, "mls.json", store)
	}
}

func punctureVectors(t *testing.T, name string, store Store) {
	var file struct {
		Count  int
		Groups []struct {
			Comment    string
			Depth      uint
			Seed       string
			Suite      string
			Salt       string
			Operations []struct {
				Op, Result, Value, Key string
				Leaf, First, Last      uint64
			}
			Nodes int
			Key   string
		}
	}
	load(t, name, &file)
	suites := map[string]bool{}
	for _, g := range file.Groups {
		options, suite := Options{Seed: unhex(t, g.Seed), Store: store}, SHA3
		if store == SlotStore && g.Depth > 32 {
			continue // there is no such key
		}
		if g.Suite != "" {
			s, err := ParseSuite(g.Suite)
			if err != nil {
				t.Fatal(err)
			}
			options.Suite, suite = s, s
			if g.Salt != "" {
				options.Salt = unhex(t, g.Salt)
			}
		}
		k, err := NewWith(g.Depth, options)
		if err != nil {
			t.Fatal(err)
		}
		if k.Suite() != suite {
			t.Errorf("%s: %v, not %v", g.Comment, k.Suite(), suite)
		}
		suites[suite.String()] = true
		for _, op := range g.Operations {
			v, zero := make([]byte, k.ValueBytes()), make([]byte, suite.ValueBytes())
			var err error
			switch op.Op {
			case "eval":
				err = k.EvalInto(op.Leaf, v)
			case "punct":
				err = k.Puncture(op.Leaf)
			case "eval_punct":
				err = k.EvalPunctureInto(op.Leaf, v)
			case "range":
				err = k.PunctureRange(op.First, op.Last)
			case "delegate":
				var part *Key
				if part, err = k.Delegate(op.First, op.Last); err == nil {
					if data, err := part.Export(); err != nil || hex.EncodeToString(data) != op.Key {
						t.Errorf("%s: %+v: another key, %v", g.Comment, op, err)
					}
					part.Close()
				}
			}
			result := map[bool]string{errors.Is(err, ErrPunctured): "punctured", errors.Is(err, ErrRange): "range",
				err == nil: "ok"}[true]
			if result != op.Result || (op.Value != "" && hex.EncodeToString(v) != op.Value) ||
				(err != nil && !bytes.Equal(v, zero)) {
				t.Errorf("%s: %+v: %s %x", g.Comment, op, result, v)
			}
		}
		data, err := k.Export()
		if err != nil || hex.EncodeToString(data) != g.Key || k.Nodes() != g.Nodes || k.Depth() != g.Depth {
			t.Errorf("%s: the key differs: %v", g.Comment, err)
		}
		k.Close()
		k, err = Import(unhex(t, g.Key)) // made by another implementation
		if err != nil || k.Suite() != suite {
			t.Fatalf("%s: import: %v", g.Comment, err)
		}
		if data, err = k.Export(); err != nil || hex.EncodeToString(data) != g.Key {
			t.Errorf("%s: the imported key differs: %v", g.Comment, err)
		}
		k.Close()
	}
	want := map[string]string{"puncture.json": "map[sha3-256:true]",
		"suites.json": "map[aes-128:true sha3-256-salted:true]", "mls.json": "map[mls-sha256:true]"}
	n := len(file.Groups)
	if n < 20 || n != file.Count || fmt.Sprint(suites) != want[name] {
		t.Errorf("%s: %d of %d groups, %v", name, n, file.Count, suites)
	}
}

func TestEncodingVectors(t *testing.T) {
	encodingVectors(t, "encoding.json")
	encodingVectors(t, "encoding2.json")
	encodingVectors(t, "encoding_mls.json")
}

func encodingVectors(t *testing.T, name string) {
	var file struct {
		Tests []struct{ Reason, Result, Key string }
	}
	load(t, name, &file)
	for _, test := range file.Tests {
		if name == "encoding2.json" && strings.HasPrefix(test.Reason, "suite 4") {
			continue // of a decoder that takes no key of 32-byte seeds
		}
		k, err := Import(unhex(t, test.Key))
		if want, wrong := map[string]error{"format": ErrFormat, "suite": ErrSuite}[test.Result]; wrong {
			if !errors.Is(err, want) {
				t.Errorf("%s: %v", test.Reason, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", test.Reason, err)
			continue
		}
		if data, err := k.Export(); err != nil || hex.EncodeToString(data) != test.Key {
			t.Errorf("%s: exported %x, %v", test.Reason, data, err)
		}
		k.Close()
	}
	if _, err := Import(nil); !errors.Is(err, ErrFormat) {
		t.Error(err)
	}
}

func TestRandomRootsAreSaltedAndGivenOnesAreNot(t *testing.T) {
	salt := []byte("sixteen bytes...")
	var files [][]byte
	for _, test := range []struct {
		options Options
		suite   Suite
		version byte
	}{
		{Options{}, SHA3Salted, 2},
		{Options{}, SHA3Salted, 2},
		{Options{Seed: make([]byte, 16)}, SHA3, 1},
		{Options{Suite: SHA3}, SHA3, 1},
		{Options{Salt: salt}, SHA3Salted, 2},
		{Options{Suite: AES128, Store: PackedStore}, AES128, 2},
	} {
		k, err := NewWith(9, test.options)
		if err != nil {
			t.Fatal(err)
		}
		data, err := k.Export()
		if err != nil || k.Suite() != test.suite || data[7] != test.version || data[8] != byte(test.suite) {
			t.Errorf("%+v: %v, %x, %v", test.options, k.Suite(), data[:12], err)
		}
		files = append(files, data)
		k.Close()
		if k.Suite() != DefaultSuite {
			t.Error("a closed key has a suite")
		}
	}
	if bytes.Equal(files[0][20:36], files[1][20:36]) || bytes.Equal(files[0][38:54], files[1][38:54]) {
		t.Error("a salt or a seed was drawn twice")
	}
	if !bytes.Equal(files[4][20:36], salt) {
		t.Error("the salt is another one")
	}
}

func TestADeepKeyHasAPackedStore(t *testing.T) {
	if _, err := NewWith(33, Options{Store: SlotStore}); !errors.Is(err, ErrStore) {
		t.Error(err)
	}
	k, err := NewWith(63, Options{Seed: make([]byte, 16)})
	if err != nil {
		t.Fatal(err)
	}
	const last = 1<<63 - 1
	value, err := k.EvalPuncture(last)
	if err != nil || value == [ValueBytes]byte{} || k.Nodes() != 63 || k.MemoryBytes() >= 4000 {
		t.Error(err, k.Nodes(), k.MemoryBytes())
	}
	if err := k.Puncture(last); err == nil || err.Error() != "pprf: leaf 9223372036854775807: punctured already" {
		t.Error(err)
	}
	if err := k.Puncture(1 << 63); !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if ok, err := k.PunctureMany([]uint64{last, 0, last - 1}); err != nil || fmt.Sprint(ok) != "[false true true]" {
		t.Error(ok, err)
	}
	var leaf *LeafError
	for _, beyond := range []uint64{1 << 63, 1<<64 - 1} {
		if _, err := k.EvalMany([]uint64{5, beyond}, make([]byte, 32)); !errors.As(err, &leaf) || leaf.First != beyond {
			t.Error(err)
		}
		if _, err := k.PunctureMany([]uint64{5, beyond}); !errors.As(err, &leaf) || leaf.First != beyond {
			t.Error(err)
		}
	}
	out := make([]byte, 32)
	one, err := k.Eval(1 << 62)
	if ok, many := k.EvalMany([]uint64{1 << 62, last}, out); err != nil || many != nil ||
		fmt.Sprint(ok) != "[true false]" || !bytes.Equal(out, append(one[:], make([]byte, 16)...)) {
		t.Error(ok, err, many)
	}
	if err := k.PunctureRange(1, last-2); err != nil || k.Nodes() != 0 {
		t.Error(err, k.Nodes())
	}
}

func TestAPackedKeyIsSmallAndItsValuesAreTheSame(t *testing.T) {
	var files [][]byte
	var memory []int
	for _, store := range []Store{PackedStore, SlotStore} {
		k, err := NewWith(32, Options{Seed: make([]byte, 16), Store: store})
		if err == nil {
			err = k.Puncture(77)
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := k.Export()
		if err != nil {
			t.Fatal(err)
		}
		files, memory = append(files, data), append(memory, k.MemoryBytes())
		k.Close()
		k, err = ImportWith(data, ImportOptions{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		if again, err := k.Export(); err != nil || !bytes.Equal(again, data) || (k.MemoryBytes() < 2000) != (store == PackedStore) {
			t.Error(store, err, k.MemoryBytes())
		}
		k.Close()
	}
	if !bytes.Equal(files[0], files[1]) || memory[0] >= 2000 || memory[1] <= 2000 {
		t.Errorf("%v bytes, %x, %x", memory, files[0], files[1])
	}
	if _, err := ImportWith(files[0], ImportOptions{Store: 3}); !errors.Is(err, ErrStore) {
		t.Error(err)
	}
	k, err := New(33, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer k.Close()
	data, err := k.Export()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ImportWith(data, ImportOptions{Store: SlotStore}); !errors.Is(err, ErrStore) ||
		err.Error() != "pprf: no such store: pair slots deeper than 32" {
		t.Error(err)
	}
}

func TestWhatDoesNotFitASuiteIsNamed(t *testing.T) {
	salt := make([]byte, 16)
	for _, test := range []struct {
		options Options
		want    error
		text    string
	}{
		{Options{Suite: 5}, ErrSuite, "pprf: an unknown suite: 5"},
		{Options{Suite: MLSSHA256, Salt: salt}, ErrNoSalt, "pprf: the suite has no salt: mls-sha256"},
		{Options{Suite: MLSSHA256, Seed: salt}, ErrSeed, "pprf: a seed of another length: 16 bytes, not 32"},
		{Options{Seed: make([]byte, 32)}, ErrSeed, "pprf: a seed of another length: 32 bytes, not 16"},
		{Options{Suite: ^Suite(0)>>1 + 2}, ErrSuite, ""}, // its last 32 bits are SHA3's, where a uint has 64
		{Options{Suite: AES128, Salt: salt[:15]}, ErrSalt, "pprf: a salt has 16 bytes, not 15"},
		{Options{Salt: salt[:0]}, ErrSalt, "pprf: a salt has 16 bytes, not 0"},
		{Options{Suite: SHA3, Salt: salt}, ErrNoSalt, "pprf: the suite has no salt: sha3-256"},
		{Options{Seed: salt, Salt: salt}, ErrNoSalt, "pprf: the suite has no salt: sha3-256"},
		{Options{Store: 3}, ErrStore, "pprf: no such store: 3"},
	} {
		k, err := NewWith(4, test.options)
		if k != nil || !errors.Is(err, test.want) || (test.text != "" && err.Error() != test.text) {
			t.Errorf("%+v: %v", test.options, err)
		}
	}
	for _, name := range []string{"", "sha3", "AES-128", "default"} {
		if _, err := ParseSuite(name); !errors.Is(err, ErrSuite) {
			t.Errorf("%q: %v", name, err)
		}
	}
	for suite, name := range map[Suite]string{DefaultSuite: "default", SHA3: "sha3-256",
		SHA3Salted: "sha3-256-salted", AES128: "aes-128", MLSSHA256: "mls-sha256", 5: "suite 5"} {
		if suite.String() != name || (suite.ValueBytes() == 32) != (suite == MLSSHA256) {
			t.Errorf("%d: %v", uint(suite), suite)
		}
	}
}

func TestValuesHaveAsManyBytesAsTheSuiteSays(t *testing.T) {
	k, err := NewWith(6, Options{Suite: MLSSHA256})
	if err != nil || k.ValueBytes() != 32 {
		t.Fatal(err)
	}
	one, many := make([]byte, 32), make([]byte, 64)
	if err := k.EvalInto(9, one); err != nil || bytes.Equal(one, many[:32]) {
		t.Error(err)
	}
	if ok, err := k.EvalMany([]uint64{9, 9}, many); err != nil || len(ok) != 2 ||
		!bytes.Equal(many, append(one[:32:32], one...)) {
		t.Error(err)
	}
	for _, length := range []int{0, 16, 31, 33} { // and what was in it is gone
		out := bytes.Repeat([]byte{7}, length)
		if err := k.EvalInto(9, out); !errors.Is(err, ErrLength) || !bytes.Equal(out, make([]byte, length)) {
			t.Errorf("%d: %v", length, err)
		}
		if err := k.EvalPunctureInto(9, out); !errors.Is(err, ErrLength) {
			t.Errorf("%d: %v", length, err)
		}
	}
	if v, err := k.Eval(9); !errors.Is(err, ErrLength) || v != [16]byte{} {
		t.Error(v, err)
	}
	if v, err := k.EvalPuncture(9); !errors.Is(err, ErrLength) || v != [16]byte{} {
		t.Error(v, err)
	}
	if _, err := k.EvalMany([]uint64{9, 9}, one); !errors.Is(err, ErrLength) || k.Nodes() != 1 {
		t.Error(err, k.Nodes())
	}
	if err := k.EvalPunctureInto(9, one); err != nil || k.Nodes() != 6 {
		t.Error(err, k.Nodes())
	}
	if err := k.EvalInto(9, one); !errors.Is(err, ErrPunctured) || !bytes.Equal(one, make([]byte, 32)) {
		t.Error(err, one)
	}
	k.Close()
}

func TestErrorsNameTheLeaf(t *testing.T) {
	k := fresh(t, 8, nil)
	var leaf *LeafError
	if _, err := k.Eval(256); !errors.As(err, &leaf) || leaf.First != 256 || !errors.Is(err, ErrRange) {
		t.Error(err)
	}
	if err := k.Puncture(7); err != nil {
		t.Error(err)
	}
	if err := k.Puncture(7); !errors.Is(err, ErrPunctured) || err.Error() != "pprf: leaf 7: punctured already" {
		t.Error(err)
	}
	if _, err := k.EvalMany([]uint64{1, 999}, make([]byte, 32)); !errors.As(err, &leaf) || leaf.First != 999 {
		t.Error(err)
	}
	if _, err := k.EvalMany([]uint64{1}, make([]byte, 15)); !errors.Is(err, ErrLength) {
		t.Error(err)
	}
	out := make([]byte, 48)
	if ok, err := k.EvalMany([]uint64{6, 7, 6}, out); err != nil || fmt.Sprint(ok) != "[true false true]" ||
		!bytes.Equal(out[16:32], make([]byte, 16)) || !bytes.Equal(out[:16], out[32:]) {
		t.Error(ok, err, out)
	}
	if ok, err := k.PunctureMany([]uint64{7, 8, 8}); err != nil || fmt.Sprint(ok) != "[false true false]" {
		t.Error(ok, err)
	}
	for _, depth := range []uint{0, 64} {
		if _, err := New(depth, nil); !errors.Is(err, ErrDepth) {
			t.Error(err)
		}
	}
	if _, err := New(4, make([]byte, 15)); !errors.Is(err, ErrSeed) {
		t.Error(err)
	}
	k.Close()
	k.Close()
	if err := k.Puncture(1); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := k.Export(); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := k.EvalMany([]uint64{1}, make([]byte, 16)); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if _, err := k.PunctureMany([]uint64{1, 1 << 63}); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	if err := k.Prefault(); !errors.Is(err, ErrClosed) || k.Nodes() != 0 || k.Depth() != 0 || k.MemoryBytes() != 0 {
		t.Error(err, k.Nodes(), k.Depth(), k.MemoryBytes())
	}
}

func TestADelegatedKeyIsTheKeyPuncturedOutsideOfItsRange(t *testing.T) {
	for _, suite := range []Suite{SHA3, SHA3Salted, AES128, MLSSHA256} {
		k, err := NewWith(40, Options{Suite: suite})
		if err != nil || k.Puncture(9) != nil {
			t.Fatal(suite, err)
		}
		part, err := k.Delegate(8, 11)
		if err != nil {
			t.Fatal(suite, err)
		}
		data, _ := k.Export()
		rest, err := Import(data)
		if err != nil || rest.PunctureRange(0, 7) != nil || rest.PunctureRange(12, 1<<40-1) != nil {
			t.Fatal(suite, err)
		}
		got, _ := part.Export()
		want, _ := rest.Export()
		if !bytes.Equal(got, want) || part.Nodes() != 2 || part.Suite() != suite {
			t.Error(suite, part.Nodes())
		}
		value := make([]byte, part.ValueBytes())
		if err := k.Puncture(10); err != nil || part.EvalInto(10, value) != nil {
			t.Error(suite, err)
		}
		var leaf *LeafError
		if _, err := k.Delegate(9, 10); !errors.As(err, &leaf) || leaf.Err != ErrPunctured || leaf.Last != 10 {
			t.Error(suite, err)
		}
		for _, wrong := range [][2]uint64{{2, 1}, {0, 1 << 40}} {
			if _, err := k.Delegate(wrong[0], wrong[1]); !errors.Is(err, ErrRange) {
				t.Error(suite, err)
			}
		}
	}
}

func TestOfManyGoroutinesOneGetsAValue(t *testing.T) {
	k := fresh(t, 12, nil)
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[uint64]int{}
	for range 8 {
		wg.Add(1)
		go func() {
			defer wg.Done()
			for leaf := range uint64(1000) {
				if _, err := k.EvalPuncture(leaf); err == nil {
					mu.Lock()
					got[leaf]++
					mu.Unlock()
				}
				if _, err := k.Eval(3000); err != nil {
					t.Error(err)
				}
			}
		}()
	}
	wg.Wait()
	for leaf := range uint64(1000) {
		if got[leaf] != 1 {
			t.Fatalf("leaf %d: %d times", leaf, got[leaf])
		}
	}
}
