// SPDX-License-Identifier: Apache-2.0

package pprftls_test

import (
	"crypto/tls"
	"fmt"
	"time"

	"github.com/libpprf/libpprf/bindings/go/pprftls"
)

func ExampleTickets_Attach() {
	tickets, err := pprftls.New(pprftls.Config{Lifetime: time.Hour})
	if err != nil {
		panic(err)
	}
	defer tickets.Close()        // handshakes go on, without resumption
	config := &tls.Config{}      // with certificates
	err = tickets.Attach(config) // before it is used
	fmt.Println(err, config.WrapSession != nil)
	// Output: <nil> true
}

func ExampleTickets_Seal() {
	tickets, err := pprftls.New(pprftls.Config{})
	if err != nil {
		panic(err)
	}
	defer tickets.Close()
	ticket, err := tickets.Seal([]byte("a session"))
	if err != nil {
		panic(err)
	}
	_, first := tickets.Open(ticket)
	_, second := tickets.Open(ticket) // nobody can any more
	fmt.Println(first, second)
	// Output: true false
}
