#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: the vectors, and the search for residues of opt, with the PRG that opt ships with, in each
# version that this processor supports (an environment variable chooses). /proc/cpuinfo says what it
# supports: if a supported version is not the one in use, the test fails. A search takes half a
# minute: three of them at random (SEED=... repeats them), with --full all.
here=${0%/*}
log=$here/shipped-prg.log
SEED=${SEED:-$RANDOM}
n=0 failed=0 run='' not=''
check() {
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    grep -E -B3 '^not ok|Bail|^# PRG' "$log" | head -20 | sed 's/^/# /'
    failed=1
  fi
}
flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo | head -1) "
lacks() { # prints the first of these features that the processor lacks
  for feature; do
    case $flags in *" $feature "*) ;; *) echo "$feature"; return ;; esac
  done
}
# what a run is called | variable | version | the features that it needs
versions='PRG PPRF_PRG avx512 avx512f avx512vl
PRG PPRF_PRG avx2 avx2 bmi1 bmi2
PRG PPRF_PRG scalar
PRG PPRF_PRG evp
AES PPRF_AES aes-vaes aes vaes avx512f avx512vl avx512bw
AES PPRF_AES aes-ni aes ssse3
AES PPRF_AES aes-bitsliced
AES PPRF_AES aes-evp
SHA-256 PPRF_SHA256 sha256-ni sha_ni sse4_1 ssse3
SHA-256 PPRF_SHA256 sha256-scalar
SHA-256 PPRF_SHA256 sha256-evp'
while read -r name variable version features; do
  # shellcheck disable=SC2086
  lack=$(lacks $features)
  if [ -n "$lack" ]; then
    n=$((n + 1))
    not="$not $version"
    echo "ok $n - $version # SKIP this processor has no $lack"
    continue
  fi
  run="$run $version"
  env "$variable=$version" "$here/vectors-shipped" > "$log" 2>&1 < /dev/null
  status=$?
  grep -q "^# $name: $version\$" "$log" || status=1
  check $status "vectors_with_$version"
done <<< "$versions"
# Suites differ more than the versions of one suite: of each the fastest and the slowest version.
searches='sha3-256 PPRF_PRG avx512
sha3-256 PPRF_PRG avx2
sha3-256 PPRF_PRG scalar
sha3-256 PPRF_PRG evp
sha3-256-salted PPRF_PRG avx512
sha3-256-salted PPRF_PRG scalar
aes-128 PPRF_AES aes-vaes
aes-128 PPRF_AES aes-bitsliced
mls-sha256 PPRF_SHA256 sha256-ni
mls-sha256 PPRF_SHA256 sha256-scalar'
possible=$(while read -r suite variable version; do
  case $run\  in *" $version "*) echo "$suite $variable $version" ;; esac
done <<< "$searches")
if [ "${1:-}" != --full ]; then
  possible=$(shuf -n 3 --random-source=<(yes "$SEED") <<< "$possible")
  echo "# SEED=$SEED"
fi
while read -r suite variable version; do
  env "TEST_SUITE=$suite" "$variable=$version" "$here/residue-shipped" > "$log" 2>&1 < /dev/null
  check $? "residue_of_${suite}_with_$version"
done <<< "$possible"
echo "# versions of the PRG run:$run; not supported by this processor:${not:- none}"
echo "1..$n"
exit $failed
