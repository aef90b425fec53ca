// SPDX-License-Identifier: Apache-2.0

package pprf_test

import (
	"errors"
	"fmt"

	pprf "github.com/libpprf/libpprf/bindings/go"
)

func Example() {
	key, err := pprf.New(20, nil) // 2^20 leaves, a random root seed
	if err != nil {
		panic(err)
	}
	defer key.Close()
	_, first := key.EvalPuncture(42) // the value of leaf 42, for the last time
	_, second := key.Eval(42)
	fmt.Println(first, second, errors.Is(second, pprf.ErrPunctured))
	fmt.Println(key)
	// Output:
	// <nil> pprf: leaf 42: punctured already true
	// pprf.Key(sha3-256-salted, depth 20, seeds 20)
}

func ExampleNewWith() {
	key, err := pprf.NewWith(40, pprf.Options{Suite: pprf.MLSSHA256, Store: pprf.PackedStore})
	if err != nil {
		panic(err)
	}
	defer key.Close()
	value := make([]byte, key.ValueBytes())
	err = key.EvalInto(1<<40-1, value) // clear(value) when it has been used
	fmt.Println(len(value), err)
	// Output: 32 <nil>
}

func ExampleKey_PunctureRange() {
	key, err := pprf.New(10, nil)
	if err != nil {
		panic(err)
	}
	defer key.Close()
	if err := key.PunctureRange(0, 511); err != nil {
		panic(err)
	}
	leaves := []uint64{500, 600}
	live, err := key.EvalMany(leaves, make([]byte, len(leaves)*key.ValueBytes()))
	fmt.Println(live, err, key.Nodes())
	// Output: [false true] <nil> 1
}

func ExampleImport() {
	key, err := pprf.New(10, nil)
	if err != nil {
		panic(err)
	}
	defer key.Close()
	data, err := key.Export() // as secret as the key
	if err != nil {
		panic(err)
	}
	copied, err := pprf.Import(data) // another key: what one punctures stays in the other
	if err != nil {
		panic(err)
	}
	defer copied.Close()
	fmt.Println(copied.Puncture(7), copied.Nodes(), key.Nodes())
	// Output: <nil> 10 1
}
