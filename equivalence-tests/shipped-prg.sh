#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: the vectors, and the search for residues of opt, with the PRG that ships with opt, in each
# version that this processor has (PPRF_PRG chooses).
here=${0%/*}
log=$here/shipped-prg.log
n=0 failed=0
check() {
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    grep -E -B3 '^not ok|Bail' "$log" | head -20 | sed 's/^/# /'
    failed=1
  fi
}
for version in avx512 avx2 scalar evp; do
  PPRF_PRG=$version "$here/vectors-shipped" > "$log" 2>&1
  status=$?
  if ! grep -q "^# PRG: $version" "$log"; then
    n=$((n + 1))
    echo "ok $n - $version # SKIP this processor does not have it"
    continue
  fi
  check $status "vectors_with_$version"
  PPRF_PRG=$version "$here/residue-shipped" > "$log" 2>&1
  check $? "residues_with_$version"
done
echo "1..$n"
exit $failed
