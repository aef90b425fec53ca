// SPDX-License-Identifier: Apache-2.0

// Package try is for tests: it finds and calls every exported method of a value by reflection, so
// that methods added later are called too.
package try

import (
	"bytes"
	"reflect"
	"testing"
)

const guard = 0xa5

// Bytes returns a buffer of n bytes with spare capacity for two values.
func Bytes(n int) reflect.Value {
	return reflect.ValueOf(bytes.Repeat([]byte{guard}, n+64)[:n])
}

// Arguments maps a parameter's type to its choices of arguments, which are made anew for each call.
type Arguments map[reflect.Type]func() []reflect.Value

// Methods calls every exported method of value, a pointer, with every choice of arguments, but not those that
// encoders and loggers call, which have a receiver that is no pointer.  A parameter type without choices fails the
// test.  Nothing may be written beyond a buffer.  check gets the results
// and the buffers passed.
func Methods(t *testing.T, value any, arguments Arguments, check func(call string, in, out []reflect.Value)) {
	t.Helper()
	v := reflect.ValueOf(value)
	if v.NumMethod() == 0 {
		t.Fatalf("%T has no methods", value)
	}
	for i := range v.NumMethod() {
		method, name := v.Method(i), v.Type().Method(i).Name
		if _, is := v.Type().Elem().MethodByName(name); is {
			continue
		}
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
	for n := range of() { // fresh arguments for each combination
		for _, rest := range choices(t, name, method, i+1, arguments) {
			all = append(all, append([]reflect.Value{of()[n]}, rest...))
		}
	}
	return all
}

// Error returns the error among the results, and whether the method returns one.
func Error(out []reflect.Value) (error, bool) {
	if n := len(out); n > 0 && out[n-1].Type() == reflect.TypeFor[error]() {
		err, _ := out[n-1].Interface().(error)
		return err, true
	}
	return nil, false
}

// Zero reports whether all results except the error are zero.
func Zero(out []reflect.Value) bool {
	for _, v := range out {
		if v.Type() != reflect.TypeFor[error]() && !v.IsZero() {
			return false
		}
	}
	return true
}
