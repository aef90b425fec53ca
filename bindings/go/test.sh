#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: the Go packages and, where quic-go is at hand, what a server on it does with a copied first flight.  What
# cannot run here is skipped, with the reason.
# Environment: B.
set -u
cd "$(dirname "$0")" || exit 1
log=$(realpath "../../$B")/go.log
export GOTOOLCHAIN=local
go=$(command -v go || ls /usr/local/go/bin/go /usr/lib/go-*/bin/go 2> /dev/null | tail -1)
wanted=$(sed -n 's/^go //p' go.mod)
have=$([ -z "$go" ] || "$go" env GOVERSION 2> /dev/null | sed 's/^go//')
if [ -z "$have" ] || [ "$(printf '%s\n%s\n' "$wanted" "$have" | sort -V | head -1)" != "$wanted" ]; then
  echo "1..0 # SKIP Go $wanted is needed, ${have:-none} is here"
  exit 0
fi
echo 1..6
failed=0
result() { # STATUS NUMBER NAME
  [ "$1" = 0 ] || { sed 's/^/# /' "$log"; printf 'not '; failed=1; }
  echo "ok $2 - $3"
}
echo "# $("$go" version)"
timeout 600 "$go" vet ./... > "$log" 2>&1
result $? 1 "go vet finds nothing"
timeout 600 "$go" test -count=1 -timeout 300s . > "$log" 2>&1
result $? 2 "package pprf: vectors, errors, goroutines, the example"
timeout 600 "$go" test -count=1 -timeout 300s ./pprftls > "$log" 2>&1
result $? 3 "package pprftls: a ticket resumes one connection, and expires"
timeout 600 "$go" test -race -count=1 -timeout 300s ./... > "$log" 2>&1
result $? 4 "their goroutines have no data race"
cd quictest || exit 1
if timeout 120 "$go" mod download > "$log" 2>&1; then
  timeout 600 "$go" test -count=1 -timeout 300s -run Stock . > "$log" 2>&1
  result $? 5 "control: quic-go as it comes takes the early data of a copied first flight every time"
  timeout 600 "$go" test -count=1 -timeout 300s -run Pprftls . > "$log" 2>&1
  result $? 6 "quic-go with pprftls takes it once"
else
  why="quic-go $(sed -n 's/.*quic-go v/v/p' go.mod) is neither in the module cache nor available"
  echo "ok 5 - control: quic-go as it comes # SKIP $why"
  echo "ok 6 - quic-go with pprftls # SKIP $why"
fi
exit $failed
