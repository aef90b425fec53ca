// SPDX-License-Identifier: Apache-2.0

// Package try is for tests: it calls every exported method of a value, found by reflection, so that one that is added
// tomorrow is called too.
package try

import (
	"bytes"
	"reflect"
	"testing"
)

const guard = 0xa5

// Bytes returns a buffer of n bytes with as many bytes behind it as two values have.
func Bytes(n int) reflect.Value {
	return reflect.ValueOf(bytes.Repeat([]byte{guard}, n+64)[:n])
}

// Arguments are what a method is called with, by the type of its parameter: made anew for each call.
type Arguments map[reflect.Type]func() []reflect.Value

// Methods calls every exported method of value with every choice of arguments.  A type that has none fails the test.
// Nothing may be written behind a buffer.  check gets the results, and buffers that were passed.
func Methods(t *testing.T, value any, arguments Arguments, check func(call string, in, out []reflect.Value)) {
	t.Helper()
	v := reflect.ValueOf(value)
	if v.NumMethod() == 0 {
		t.Fatalf("%T has no methods", value)
	}
	for i := range v.NumMethod() {
		method, name := v.Method(i), v.Type().Method(i).Name
		for _, in := range choices(t, name, method.Type(), 0, arguments) {
			out := method.Call(in)
			for _, a := range in {
				if b, is := a.Interface().([]byte); is {
					behind := b[len(b):cap(b)]
					if !bytes.Equal(behind, bytes.Repeat([]byte{guard}, len(behind))) {
						t.Errorf("%s wrote behind a buffer of %d bytes: %x", name, len(b), behind)
					}
				}
			}
			check(name, in, out)
		}
	}
}

// All combinations of the choices for parameter i and those after it.
func choices(t *testing.T, name string, method reflect.Type, i int, arguments Arguments) [][]reflect.Value {
	t.Helper()
	if i == method.NumIn() {
		return [][]reflect.Value{nil}
	}
	of, known := arguments[method.In(i)]
	if !known {
		t.Fatalf("%s has a parameter of type %v: the test needs values of it", name, method.In(i))
	}
	var all [][]reflect.Value
	for n := range of() { // each combination with arguments of its own
		for _, rest := range choices(t, name, method, i+1, arguments) {
			all = append(all, append([]reflect.Value{of()[n]}, rest...))
		}
	}
	return all
}

// Error returns the error among the results, and whether there is a place for one.
func Error(out []reflect.Value) (error, bool) {
	if n := len(out); n > 0 && out[n-1].Type() == reflect.TypeFor[error]() {
		err, _ := out[n-1].Interface().(error)
		return err, true
	}
	return nil, false
}

// Zero says whether all results but an error are zero: numbers, nil slices, values of zeros.
func Zero(out []reflect.Value) bool {
	for _, v := range out {
		if v.Type() != reflect.TypeFor[error]() && !v.IsZero() {
			return false
		}
	}
	return true
}
