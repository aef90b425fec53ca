#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The life of a ticket: build/pprf-tls-server and openssl s_client on loopback.  Everything this
# makes is in a directory that is removed at the end.  Usage: tls/server/demo.sh [BUILD]
set -eu
build=$(cd "${1:-build}" && pwd)
dir=$(mktemp -d)
server=
stop() {
  [ -z "$server" ] || { kill "$server" 2>/dev/null && wait "$server" 2>/dev/null; } || true
  rm -rf "$dir"
}
trap stop EXIT
cd "$dir"

# until_true COMMAND...: try for 20 seconds
until_true() {
  for _ in $(seq 200); do "$@" && return; sleep 0.1; done
}
"$build/pprf-tls-server" --port 0 --stats > log 2>&1 &
server=$!
until_true grep -q '^listening' log
port=$(sed -n 's/^listening on 127.0.0.1://p' log)
[ -n "$port" ] || { cat log; exit 1; }
printf 'GET / HTTP/1.0\r\n\r\n' > request

connections=0 failed=0
# what s_client is given to send: the request, unless it was accepted as early data
late_request() {
  until_true grep -q '^Early data was' seen
  grep -q '^Early data was accepted' seen || cat request
  until_true test -e closed
}
logged() { [ "$(grep -c '^  issued' log)" -ge $connections ]; }
# connect WHAT WANT OPTIONS...
connect() {
  local what=$1 want=$2 got key bytes
  shift 2
  rm -f closed
  : > seen
  late_request | {
    timeout 30 openssl s_client -connect "127.0.0.1:$port" -ign_eof "$@" > seen 2>&1 || true
    touch closed
  }
  connections=$((connections + 1))
  until_true logged
  got=$(grep -E '^(TLSv1|failed)' log | sed -n "${connections}p")
  key=$(grep '^  issued' log | sed -n "${connections}p" | sed 's/.*seeds \([0-9]*\).*/\1/')
  bytes=$(grep '^  issued' log | sed -n "${connections}p" | sed 's/.*memory \([0-9]*\).*/\1/')
  printf '%-34s %-52s %5s %9s\n' "$what" "${got#TLSv1.3, }" "$key" "$bytes"
  grep -q '<p>served' seen || { echo "  the request was not answered"; failed=1; }
  case $got in *", $want"*) ;; *) echo "  expected: $want"; failed=1 ;; esac
}

printf '%-34s %-52s %5s %9s\n' client server seeds bytes
connect 'new client' 'full' -sess_out first
connect 'its ticket, with early data' '0-RTT accepted' -sess_in first -early_data request -sess_out renewed
connect 'the same ticket again: a replay' '0-RTT rejected' -sess_in first -early_data request
connect 'the renewed ticket' '0-RTT accepted' -sess_in renewed -early_data request
printf '\n%s\n' 'A replay costs a full handshake and is answered; its early data is never read.  The key holds'
printf '%s\n' 'a seed for each subtree of unused tickets (2^22 tickets in all), and none for the used ones.'
exit $failed
