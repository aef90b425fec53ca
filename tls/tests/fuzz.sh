#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: a few thousand runs of tls' fuzzers from a seed, so that their expectations stay true between
# long runs; then each fuzzer with a planted bug, which it must find. RUNS=... for more.
# Environment: FUZZERS, a folder with fuzz_tickets, fuzz_wire and their planted_ forms; SEED repeats
# a run.
set -u
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
seed=$((${SEED:-$(date +%s)} % 1000000000 + 1))
runs=${RUNS:-3000} count=0 failed=0
echo "# SEED=$((seed - 1)) repeats this run"
# $1: maximum input size; $2: the fuzzer
# Each starts with an input that reaches what it tests: by chance alone that might take more runs
# than there are.
fuzz() {
  mkdir "$dir/$2"
  case $2 in
    *tickets) printf '\0\0\3abc\17\0\0\0\1d\17\0\0\0\0\17\0\0\0\0\1\0\5\0' ;; # four keys, then the first ticket
    *wire*) # some replies; an array that is too long
      printf '\2$3\r\nabc\r\n*2\r\n+OK\r\n:-12\r\n-ERR no\r\n$-1\r\n$20\r\n01234567890123456789\r\n' > "$dir/$2/replies"
      printf '\77*65\r\n'
      for _ in {1..65}; do printf ':1\r\n'; done ;;
    *target*) printf 'valkeys://u:p@q@[::1]:1/n?ca=%%41&budget=1&timeout=2' ;;
  esac > "$dir/$2/first"
  timeout 600 "$FUZZERS/$2" -seed="$seed" -runs="$runs" -max_len="$1" -artifact_prefix="$dir/" "$dir/$2" > "$dir/log" 2>&1
}
result() { # STATUS NAME
  count=$((count + 1))
  [ "$1" = 0 ] || { tail -30 "$dir/log" | sed 's/^/# /'; printf 'not '; failed=1; }
  echo "ok $count - $2"
}
echo 1..9
fuzz 4096 fuzz_tickets
result $? "hostile tickets, numbers and call orders behave as the table says"
fuzz 2048 fuzz_wire
result $? "a hostile server's replies are read as hiredis reads them in one piece, or refused"
! fuzz 4096 planted_fuzz_tickets && grep -q "^fuzz_tickets: " "$dir/log"
result $? "planted: a key held longer than the table says is found"
! fuzz 2048 planted_fuzz_wire_lost && grep -q "^fuzz_wire: " "$dir/log"
result $? "planted: a lost byte is found"
! fuzz 2048 planted_fuzz_wire_long && grep -q "^fuzz_wire: a long array" "$dir/log"
result $? "planted: an array that is too long is found"
! fuzz 2048 planted_fuzz_wire_first && grep -q AddressSanitizer "$dir/log"
result $? "planted: a connection lost at the first of two addresses is found"
fuzz 512 fuzz_target
result $? "URLs mean what the table says, and the same after they are written again"
! fuzz 512 planted_fuzz_target_at && grep -q "^fuzz_target: " "$dir/log"
result $? "planted: a password that ends at its first @ is found by the table"
! fuzz 512 planted_fuzz_target_digit && grep -q "^fuzz_target: " "$dir/log"
result $? "planted: a lost digit of %XX is found by writing the URL again"
exit $failed
