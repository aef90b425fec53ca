// SPDX-License-Identifier: Apache-2.0

// first_use.c in Go; first_use.py builds it in a separate module.
package main

import (
	"os"
	"syscall"

	pprf "github.com/libpprf/libpprf/bindings/go"
)

const (
	depth = 12
	last  = 1<<depth - 1
	leaf  = 1234
	many  = 40
)

func readAll(to []byte) {
	for n := 0; n < len(to); {
		k, err := syscall.Read(0, to[n:])
		if err != nil || k == 0 {
			os.Exit(2)
		}
		n += k
	}
}

func stop(err error) {
	result := [1]byte{}
	if err != nil {
		result[0] = 1
	}
	if n, err := syscall.Write(1, result[:]); n != 1 || err != nil {
		os.Exit(2)
	}
	readAll(result[:])
}

func operate(key *pprf.Key, name string, value []byte) (err error) {
	leaves := make([]uint64, many)
	for i := range leaves {
		leaves[i] = uint64(leaf+977*i) & last
	}
	switch name {
	case "eval":
		err = key.EvalInto(leaf, value)
	case "punct":
		err = key.Puncture(leaf)
	case "eval_punct":
		err = key.EvalPunctureInto(leaf, value)
	case "punct_range":
		err = key.PunctureRange(leaf, leaf+99)
	case "delegate":
		var part *pprf.Key
		if part, err = key.Delegate(leaf, leaf+99); err == nil {
			part.Close()
		}
	case "eval_batch":
		values := make([]byte, many*len(value))
		_, err = key.EvalMany(leaves, values)
		clear(values)
	case "punct_batch":
		_, err = key.PunctureMany(leaves)
	case "export":
		var file []byte
		file, err = key.Export()
		clear(file)
	case "prefault":
		err = key.Prefault()
	case "grow":
		for at := uint64(1); at <= last/2+1 && err == nil; at++ {
			err = key.EvalPunctureInto((leaf+2*at)&last, value)
			clear(value)
		}
	case "free":
		key.Close()
	}
	return err
}

func main() {
	root, size := make([]byte, 32), make([]byte, 2)
	readAll(root)
	readAll(size)
	file := make([]byte, int(size[0])+256*int(size[1]))
	readAll(file)
	suite, store := pprf.Suite(os.Args[2][0]-'0'), pprf.Store(os.Args[3][0]-'0')
	options := pprf.Options{Suite: suite, Store: store, Seed: root[:suite.ValueBytes()]}
	if suite == pprf.SHA3Salted || suite == pprf.AES128 {
		options.Salt = []byte("a salt of a key\x00")
	}
	stop(nil)
	var key *pprf.Key
	var err error
	if os.Args[1] == "import" {
		key, err = pprf.ImportWith(file, pprf.ImportOptions{Store: store})
	} else {
		key, err = pprf.NewWith(depth, options)
	}
	clear(root)
	clear(file)
	stop(err)
	value := make([]byte, suite.ValueBytes())
	err = operate(key, os.Args[1], value)
	clear(value)
	stop(err)
}
