// SPDX-License-Identifier: Apache-2.0

package pprf

import (
	"errors"
	"reflect"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/libpprf/libpprf/bindings/go/internal/try"
)

var arguments = try.Arguments{
	reflect.TypeFor[uint64](): func() []reflect.Value { return []reflect.Value{reflect.ValueOf(uint64(1))} },
	reflect.TypeFor[[]byte](): func() []reflect.Value {
		return []reflect.Value{reflect.ValueOf([]byte(nil)), try.Bytes(0), try.Bytes(16), try.Bytes(32), try.Bytes(33)}
	},
	reflect.TypeFor[[]uint64](): func() []reflect.Value {
		return []reflect.Value{reflect.ValueOf([]uint64(nil)), reflect.ValueOf([]uint64{1}), reflect.ValueOf([]uint64{1, 2})}
	},
}

func closed(t *testing.T) *Key {
	t.Helper()
	k, err := New(8, nil)
	if err != nil {
		t.Fatal(err)
	}
	k.Close()
	return k
}

func TestAKeyThatIsNotThereSaysSoAndWritesNothing(t *testing.T) {
	gone := fresh(t, 8, nil)
	copied := *gone
	gone.Close()
	for name, k := range map[string]*Key{"nil": nil, "zero": {}, "closed": closed(t), "copy of a closed": &copied} {
		try.Methods(t, k, arguments, func(call string, in, out []reflect.Value) {
			if err, has := try.Error(out); has && !errors.Is(err, ErrClosed) {
				t.Errorf("%s of a key that is %s: %v", call, name, err)
			}
			if call == "String" && strings.HasSuffix(out[0].String(), "(closed)") {
				return
			}
			if !try.Zero(out) {
				t.Errorf("%s of a key that is %s: %v", call, name, out)
			}
			for _, a := range in {
				if b, is := a.Interface().([]byte); is && !reflect.DeepEqual(b, make([]byte, len(b))) && b != nil {
					t.Errorf("%s of a key that is %s left %x", call, name, b)
				}
			}
		})
	}
}

func TestACopyIsTheSameKey(t *testing.T) {
	k := fresh(t, 8, nil)
	copied := *k
	if err := copied.Puncture(1); err != nil {
		t.Fatal(err)
	}
	if err := k.Puncture(1); !errors.Is(err, ErrPunctured) {
		t.Error(err)
	}
	copied.Close()
	copied.Close()
	if err := k.Puncture(2); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
}

// While the test holds the key for reading, a method that changes the key waits, and then nobody else may begin to read.
func TestMethodsThatChangeAKeyHaveItAlone(t *testing.T) {
	changes := map[string]bool{"Close": true, "EvalPuncture": true, "EvalPunctureInto": true, "Prefault": true,
		"Puncture": true, "PunctureMany": true, "PunctureRange": true}
	k, waited := fresh(t, 8, nil), map[string]bool{}
	called, next := make(chan string), make(chan bool)
	k.mu.RLock()
	go func() {
		defer close(called)
		try.Methods(t, k, arguments, func(call string, _, _ []reflect.Value) {
			called <- call
			<-next
		})
	}()
	for waits := false; ; runtime.Gosched() {
		select {
		case call, more := <-called:
			if !more {
				k.mu.RUnlock()
				if !reflect.DeepEqual(waited, changes) {
					t.Errorf("%v had the key alone, not %v", waited, changes)
				}
				return
			}
			if waits {
				waited[call], waits = true, false
				k.mu.RLock()
			}
			next <- true
		default:
			if k.mu.TryRLock() {
				k.mu.RUnlock()
			} else if !waits {
				waits = true
				k.mu.RUnlock()
			}
		}
	}
}

func TestAKeyMayBeClosedWhileItIsUsed(t *testing.T) {
	for range 20 {
		k := fresh(t, 8, nil)
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-begin
				try.Methods(t, k, arguments, func(call string, _, out []reflect.Value) {
					err, _ := try.Error(out)
					for _, expected := range []error{ErrClosed, ErrPunctured, ErrLength} {
						if errors.Is(err, expected) {
							return
						}
					}
					if err != nil {
						t.Errorf("%s: %v", call, err)
					}
				})
			}()
		}
		close(begin)
		wg.Wait()
	}
}
