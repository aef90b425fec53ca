#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A measurement that stops says in which case and why.  TAP on standard output.
# Usage: stops_test.sh [DIRECTORY], build/bench without it: where the program stores is
set -u
cd "$(dirname "$0")/.." || exit 1
stores=${1:-build/bench}/stores
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 bad=0
says() { # NAME STATUS WANTED-STATUS PATTERN
  n=$((n + 1))
  if [ "$2" = "$3" ] && grep -q -E "$4" "$dir/log"; then
    echo "ok $n - $1"
  else
    echo "not ok $n - $1"
    echo "# status $2, not $3, or no line like '$4':"
    sed 's/^/# /' "$dir/log" | tail -5
    bad=1
  fi
}

"$stores" 1 > /dev/full 2> "$dir/log"
says output_that_cannot_be_written $? 1 '^stores: .*standard output cannot be written$'

"$stores" 1 "$dir/none/stores.json" > /dev/null 2> "$dir/log"
says a_file_that_cannot_be_written $? 1 '^stores: .*the file cannot be written$'

(ulimit -v 150000; exec "$stores" 1) > /dev/null 2> "$dir/log"
says memory_that_is_short $? 1 '^stores: [a-z ]*, depth [0-9]+, [0-9]+ punctures, [a-z]+: out of memory$'

"$stores" 1 2> "$dir/log" | head -1 > /dev/null
says a_reader_that_has_gone "${PIPESTATUS[0]}" 1 '^stores: .*standard output cannot be written$'

for signal in TERM SEGV XCPU; do
  "$stores" 1 > /dev/null 2> "$dir/log" &
  child=$!
  sleep 0.3
  kill -$signal $child
  wait $child 2> /dev/null
  says signal_$signal $? $((128 + $(kill -l $signal))) \
    "^stores: [a-z ]*, depth [0-9]+, [0-9]+ punctures, [a-z]+: ended by signal $(printf %02d "$(kill -l $signal)")\$"
done

mkdir "$dir/programs"
# shellcheck disable=SC2016  # the program's own number
for how in 'exit 7' 'kill -KILL $$'; do
  printf '#!/bin/sh\n%s\n' "$how" > "$dir/programs/bench"
  chmod +x "$dir/programs/bench"
  status=7 by=
  [ "$how" = 'exit 7' ] || status=137 by=', signal KILL'
  bench/run.sh quick "$dir/programs" > /dev/null 2> "$dir/log"
  says "a_run_whose_program_ends_with_status_$status" $? $status \
    "^bench: \[1/8\] time and memory, .*: stopped after [0-9]+ s with status $status$by\$"
done
echo "1..$n"
exit $bad
