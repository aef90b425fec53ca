#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A measurement that stops early says in which case and why. TAP on standard output.
# Usage: stops_test.sh [DIRECTORY]   the directory of the program stores, by default build/bench
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
    "^bench: \[1/10\] time and memory, .*: stopped after [0-9]+ s with status $status$by\$"
done

# A whole run of programs that measure nothing; a quick run needs no Rust.
printf '#!/bin/sh\nfor a; do case $a in *.part) echo > "$a" ;; esac; done\n' > "$dir/programs/bench"
printf '#!/bin/sh\necho "rustc 1.0.0"\necho asked > %s/rust\n' "$dir" > "$dir/programs/rustc"
for program in bench-nohash series stores suites weakprf vault heap coversize valgrind; do
  cp "$dir/programs/bench" "$dir/programs/$program"
done
chmod +x "$dir"/programs/*
cp "$dir/programs/rustc" "$dir/programs/cargo"
quick() { PATH=$dir/programs:$PATH PEERS=$1 bench/run.sh quick "$dir/programs" > "$dir/log" 2>&1; }
quick ""
says a_quick_run_downloads_nothing $? "$([ -e "$dir/rust" ] && echo 'no Rust asked for' || echo 0)" '^bench: done after'
grep -h . "$dir/programs/openmls/why-not" "$dir/programs/run.json" > "$dir/log"
says it_tells_how_to_have_openmls_and_what_ran_beside_it \
  "$(grep -c 'make bench-quick PEERS=1' "$dir/log")" 1 '"cores": [0-9]+, "others": -?[0-9]+\.[0-9]+\}$'
quick 1
says with_PEERS=1_it_asks_for_rust "$([ -e "$dir/rust" ] && echo 0)" 0 '^bench: OpenMLS is left out: Rust [0-9.]+ is needed, 1\.0\.0'
echo "1..$n"
exit $bad
