#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: OSS-Fuzz's build with build.sh makes fuzz targets that run, each with the libraries beside
# it.
set -u
cd "$(dirname "$0")/../.." || exit 1
unset MAKEFLAGS MFLAGS MAKELEVEL
OUT=$(mktemp -d)
trap 'rm -rf "$OUT"' EXIT
export OUT CC=clang LIB_FUZZING_ENGINE=-fsanitize=fuzzer
export CFLAGS='-O1 -fno-omit-frame-pointer -gline-tables-only -fsanitize=address -fsanitize=fuzzer-no-link'
echo 1..5
failed=0 n=1
result() { # STATUS NAME
  [ "$1" = 0 ] || { tail -20 "$OUT/log" | sed 's/^/# /'; printf 'not '; failed=1; }
  echo "ok $n - $2"
  n=$((n + 1))
}
packaging/oss-fuzz/build.sh > "$OUT/log" 2>&1
result $? "build.sh builds"
for target in fuzz_import fuzz_tickets fuzz_wire fuzz_target; do
  (cd "$OUT" && ldd "$OUT/$target" | grep -q " $OUT/lib/libcrypto" && timeout 300 ./$target -runs=500 -max_len=512 > log 2>&1)
  result $? "$target runs, with the libraries beside it"
done
exit $failed
