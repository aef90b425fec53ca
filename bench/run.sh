#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs the measurements: run.sh full|quick DIRECTORY, where DIRECTORY has the programs and receives
# the results. If the tool of a measurement is not installed it is left out, and the report says so.
# PEERS=1: a quick run also downloads and compiles OpenMLS, which takes longer than all the rest.
set -eu -o pipefail
mode=$1
dir=$2
if [ "$mode" = quick ]; then
  set=quick size_depths="12 13 14" runs=100 massif_depths="9 10 11 12 13"
  sparse=("slots 24 0.01" "bst 24 0.01" "slots 32 0.000001")
  steps=10 rounds=1 records=100000
else
  set=core size_depths="13 16 18" runs=100 massif_depths="9 10 11 12 13 14 15"
  sparse=("slots 24 0.1" "bst 24 0.1" "slots 32 0.0001")
  steps=11 rounds=5 records=1000000
fi
n=0 what=
step() {
  n=$((n + 1)) what=$*
  echo "bench: [$n/$steps] $what (after ${SECONDS} s)"
}
# A run that stops early says so: set -e alone is silent, and so is the shell of a killed program.
# STATUS
why() { # STATUS
  local by=
  [ "$1" -le 128 ] || by=", signal $(kill -l "$1" 2> /dev/null || echo $(($1 - 128)))"
  [ "$1" = 0 ] || echo "bench: [$n/$steps] $what: stopped after ${SECONDS} s with status $1$by" >&2
}
trap 'why $?' EXIT
for signal in HUP INT TERM; do
  # shellcheck disable=SC2064  # this signal's number
  trap "exit $((128 + $(kill -l $signal)))" $signal
done
rm -f "$dir"/*.json "$dir"/*.csv "$dir"/massif-*.out
# Busy ticks of all processors; own: those of this script and its programs, from the fields of
# /proc/PID/stat.
ticks() { awk 'NR == 1 {print $2 + $3 + $4 + $7 + $8 + $9}' /proc/stat; }
own() { sed 's/.*) //' /proc/$$/stat | awk '{print $12 + $13 + $14 + $15}'; }
record() { # MORE: how much of the machine other work used, once that is known
  printf '{"mode": "%s", "started": "%s", "load": "%s", "cores": %s%s}\n' "$mode" "$started" "$load" "$(nproc)" "$1" \
    > "$dir/run.json"
}
started=$(date -u +%FT%TZ) load=$(cut -d' ' -f1-3 /proc/loadavg) before=$(ticks)
record ''

step "time and memory, all implementations in one run"
"$dir/bench" --set=$set --benchmark_out="$dir/bench.json"
step "the same without hashing"
"$dir/bench-nohash" --set=$set --benchmark_out="$dir/nohash.json"
if [ "$mode" = full ]; then
  step "growth with the depth, 10 to 24"
  "$dir/bench" --set=growth --benchmark_out="$dir/growth.json"
fi
step "single operations over a run"
for scenario in worst best normal:4 normal:16; do
  "$dir/series" run list $scenario 13 > "$dir/run-list-${scenario/:/-}.csv"
done
"$dir/series" run slots worst 13 > "$dir/run-slots-worst.csv"
step "few punctures in a large domain"
for s in "${sparse[@]}"; do
  read -r impl depth fraction <<< "$s"
  "$dir/series" sparse $impl $depth $fraction > "$dir/sparse-$impl-$depth.csv"
done
step "the two stores of opt beside a B-tree, a hash map and OpenMLS"
if [ "$mode" = full ] || [ "${PEERS:-}" = 1 ]; then
  bench/openmls/build.sh "$dir/openmls"
else
  mkdir -p "$dir/openmls"
  rm -f "$dir/openmls/libopenmls_pprf.so"
  echo "make bench-quick PEERS=1 downloads and compiles it" > "$dir/openmls/why-not"
fi
"$dir/stores" $rounds "$dir/stores.json.part" "$dir/openmls/libopenmls_pprf.so" > "$dir/stores.md"
mv "$dir/stores.json.part" "$dir/stores.json"
step "the suites in the versions that this processor supports"
"$dir/suites" $((2 * rounds + 1)) "$dir/suites.json.part" > "$dir/suites.md"
mv "$dir/suites.json.part" "$dir/suites.json"
step "a weak PRF as an experiment"
"$dir/weakprf" $((2 * rounds + 1)) "$dir/wprf.json.part"
mv "$dir/wprf.json.part" "$dir/wprf.json"
step "a vault of $records records, beside a table of keys and a key file"
"$dir/vault" $rounds $records "$dir" "$(dirname "$dir")/pprf" "$dir/vault.json.part"
mv "$dir/vault.json.part" "$dir/vault.json"
step "the paper's list under valgrind's massif"
if command -v valgrind > /dev/null; then
  for d in $massif_depths; do
    valgrind -q --tool=massif --peak-inaccuracy=0.0 --massif-out-file="$dir/massif-$d.out" \
      "$dir/heap" $d > "$dir/heap-$d.csv"
    echo "bench: massif, d = $d"
  done
else
  echo "bench: valgrind is not installed: left out"
fi
step "key size against sigma"
"$dir/coversize" --runs $runs $size_depths > "$dir/coversize.json.part"
mv "$dir/coversize.json.part" "$dir/coversize.json"
others=$(awk "BEGIN {printf \"%.2f\", ($(ticks) - $before - $(own)) / $(getconf CLK_TCK) / ($SECONDS + 1)}")
record ", \"others\": $others"
echo "bench: done after ${SECONDS} s"
