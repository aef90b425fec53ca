// SPDX-License-Identifier: Apache-2.0

package pprftls

import (
	"crypto/tls"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	pprf "github.com/libpprf/libpprf/bindings/go"
	"github.com/libpprf/libpprf/bindings/go/internal/try"
)

func arguments(tickets ...[]byte) try.Arguments {
	return try.Arguments{
		reflect.TypeFor[[]byte](): func() []reflect.Value {
			all := []reflect.Value{reflect.ValueOf([]byte(nil)), try.Bytes(0), try.Bytes(15), try.Bytes(100)}
			for _, ticket := range tickets {
				all = append(all, reflect.ValueOf(ticket))
			}
			return all
		},
		reflect.TypeFor[*tls.Config](): func() []reflect.Value { return []reflect.Value{reflect.ValueOf(&tls.Config{})} },
	}
}

func TestTicketsThatAreNotThereSaySoAndWriteNothing(t *testing.T) {
	gone := fresh(t, Config{Depth: 8})
	copied := *gone
	ticket := seal(t, gone, "x")
	gone.Close()
	for name, tickets := range map[string]*Tickets{"nil": nil, "zero": {}, "closed": gone, "copy of a closed": &copied} {
		try.Methods(t, tickets, arguments(ticket), func(call string, in, out []reflect.Value) {
			if err, has := try.Error(out); has && !errors.Is(err, ErrClosed) {
				t.Errorf("%s of tickets that are %s: %v", call, name, err)
			}
			if call == "Metrics" { // what was counted stays
				m := out[0].Interface().(Metrics)
				out = []reflect.Value{reflect.ValueOf(m.Keys + m.Nodes + m.MemoryBytes), reflect.ValueOf(m.Redeemed)}
			}
			if call == "String" && strings.HasSuffix(out[0].String(), "(closed)") {
				return
			}
			if !try.Zero(out) {
				t.Errorf("%s of tickets that are %s: %v", call, name, out)
			}
			for _, a := range in {
				if c, is := a.Interface().(*tls.Config); is && (c.WrapSession != nil || c.UnwrapSession != nil) {
					t.Errorf("%s of tickets that are %s changed the configuration", call, name)
				}
			}
		})
	}
}

func TestACopyIsTheSameTickets(t *testing.T) {
	tickets := fresh(t, Config{Depth: 8})
	copied := *tickets
	first, second := seal(t, tickets, "1"), seal(t, &copied, "2") // two leaves
	if !opens(&copied, first, "1") || opens(tickets, first, "1") || !opens(tickets, second, "2") {
		t.Error("a copy is another")
	}
	if m := tickets.Metrics(); m.Issued != 2 || m.Redeemed != 2 || m.Refused != 1 {
		t.Errorf("%+v", m)
	}
}

func TestTicketsMayBeClosedWhileTheyAreUsed(t *testing.T) {
	for range 20 {
		tickets := fresh(t, Config{Depth: 8})
		ticket := seal(t, tickets, "x")
		var wg sync.WaitGroup
		begin := make(chan struct{})
		for range 4 {
			wg.Add(1)
			go func() {
				defer wg.Done()
				<-begin
				try.Methods(t, tickets, arguments(ticket), func(call string, _, out []reflect.Value) {
					err, _ := try.Error(out)
					if err != nil && !errors.Is(err, ErrClosed) && !errors.Is(err, pprf.ErrClosed) {
						t.Errorf("%s: %v", call, err)
					}
				})
			}()
		}
		close(begin)
		wg.Wait()
		if m := tickets.Metrics(); m.Redeemed > 1 || m.Keys != 0 {
			t.Errorf("%+v", m)
		}
	}
}
