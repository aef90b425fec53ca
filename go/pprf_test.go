// SPDX-License-Identifier: Apache-2.0

package pprf

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"
)

func load(t *testing.T, name string, into any) {
	t.Helper()
	data, err := os.ReadFile("../equivalence-tests/vectors/" + name)
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
	var file struct {
		Groups []struct {
			Comment    string
			Depth      uint
			Seed       string
			Operations []struct {
				Op, Result, Value string
				Leaf, First, Last uint64
			}
			Nodes int
			Key   string
		}
	}
	load(t, "puncture.json", &file)
	for _, g := range file.Groups {
		k := fresh(t, g.Depth, unhex(t, g.Seed))
		for _, op := range g.Operations {
			var v [ValueBytes]byte
			var err error
			switch op.Op {
			case "eval":
				v, err = k.Eval(op.Leaf)
			case "punct":
				err = k.Puncture(op.Leaf)
			case "eval_punct":
				v, err = k.EvalPuncture(op.Leaf)
			case "range":
				err = k.PunctureRange(op.First, op.Last)
			}
			result := map[bool]string{errors.Is(err, ErrPunctured): "punctured", errors.Is(err, ErrRange): "range",
				err == nil: "ok"}[true]
			if result != op.Result || (op.Value != "" && hex.EncodeToString(v[:]) != op.Value) ||
				(err != nil && v != [ValueBytes]byte{}) {
				t.Errorf("%s: %+v: %s %x", g.Comment, op, result, v)
			}
		}
		data, err := k.Export()
		if err != nil || hex.EncodeToString(data) != g.Key || k.Nodes() != g.Nodes || k.Depth() != g.Depth {
			t.Errorf("%s: the key differs: %v", g.Comment, err)
		}
	}
	if len(file.Groups) < 20 {
		t.Error("few groups")
	}
}

func TestEncodingVectors(t *testing.T) {
	var file struct{ Tests []struct{ Reason, Result, Key string } }
	load(t, "encoding.json", &file)
	for _, test := range file.Tests {
		k, err := Import(unhex(t, test.Key))
		if test.Result == "format" {
			if !errors.Is(err, ErrFormat) {
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
	for _, depth := range []uint{0, 33} {
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

func ExampleKey() {
	key, err := New(20, nil) // 2^20 leaves, a random root seed
	if err != nil {
		panic(err)
	}
	defer key.Close()
	_, first := key.EvalPuncture(42) // the value of leaf 42, for the last time
	_, second := key.Eval(42)
	fmt.Println(first, second, key.Nodes())
	// Output: <nil> pprf: leaf 42: punctured already 20
}
