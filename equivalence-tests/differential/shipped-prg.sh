#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: the vectors, and the search for residues of opt, with the PRG that opt ships with, in each
# version that this processor supports (PPRF_PRG chooses). /proc/cpuinfo says what it supports: if a
# supported version is not the one in use, the test fails.
here=${0%/*}
log=$here/shipped-prg.log
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
for version in avx512 avx2 scalar evp; do
  case $version in
  avx512) lack=$(lacks avx512f avx512vl) ;;
  avx2) lack=$(lacks avx2 bmi1 bmi2) ;;
  *) lack= ;;
  esac
  if [ -n "$lack" ]; then
    n=$((n + 1))
    not="$not $version"
    echo "ok $n - $version # SKIP this processor has no $lack"
    continue
  fi
  run="$run $version"
  for what in vectors residue; do
    PPRF_PRG=$version "$here/$what-shipped" > "$log" 2>&1
    status=$?
    [ $what = residue ] || grep -q "^# PRG: $version\$" "$log" || status=1
    check $status "${what}_with_$version"
  done
  # suites differ more than the versions of one suite: take the fastest and the slowest version of
  # each
  case $version in avx512 | scalar)
    TEST_SUITE=sha3-256-salted PPRF_PRG=$version "$here/residue-shipped" > "$log" 2>&1
    check $? "residue_of_the_salted_suite_with_$version" ;;
  esac
done
for version in aes-vaes aes-ni aes-bitsliced aes-evp; do
  case $version in
  aes-vaes) lack=$(lacks aes vaes avx512f avx512vl avx512bw) ;;
  aes-ni) lack=$(lacks aes ssse3) ;;
  *) lack= ;;
  esac
  if [ -n "$lack" ]; then
    n=$((n + 1))
    not="$not $version"
    echo "ok $n - $version # SKIP this processor has no $lack"
    continue
  fi
  run="$run $version"
  PPRF_AES=$version "$here/vectors-shipped" > "$log" 2>&1
  status=$?
  grep -q "^# AES: $version\$" "$log" || status=1
  check $status "vectors_with_$version"
  case $version in aes-vaes | aes-bitsliced)
    TEST_SUITE=aes-128 PPRF_AES=$version "$here/residue-shipped" > "$log" 2>&1
    check $? "residue_with_$version" ;;
  esac
done
for version in sha256-ni sha256-scalar sha256-evp; do
  lack=
  [ $version != sha256-ni ] || lack=$(lacks sha_ni sse4_1 ssse3)
  if [ -n "$lack" ]; then
    n=$((n + 1))
    not="$not $version"
    echo "ok $n - $version # SKIP this processor has no $lack"
    continue
  fi
  run="$run $version"
  PPRF_SHA256=$version "$here/vectors-shipped" > "$log" 2>&1
  status=$?
  grep -q "^# SHA-256: $version\$" "$log" || status=1
  check $status "vectors_with_$version"
  case $version in sha256-ni | sha256-scalar)
    TEST_SUITE=mls-sha256 PPRF_SHA256=$version "$here/residue-shipped" > "$log" 2>&1
    check $? "residue_with_$version" ;;
  esac
done
echo "# versions of the PRG run:$run; not supported by this processor:${not:- none}"
echo "1..$n"
exit $failed
