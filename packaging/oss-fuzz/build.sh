#!/bin/bash -eu
# SPDX-License-Identifier: Apache-2.0
# Builds the fuzz targets as OSS-Fuzz requires, in libpprf's tree.
# Environment: CC, CFLAGS, LIB_FUZZING_ENGINE, OUT.
# Not fuzz_ops and fuzz_cli, which start the oracle and the program from build/.
b=build/oss-fuzz
targets=("$b/equivalence-tests/fuzz_import" "$b/tls/fuzz_tickets" "$b/tls/fuzz_wire" "$b/tls/fuzz_target")
make -j"$(nproc)" DEPS=skip B=$b CLANG="$CC" SANITIZE="$CFLAGS" ENGINE="$LIB_FUZZING_ENGINE" \
  LDFLAGS="-Wl,-rpath,'\$\$ORIGIN/lib'" "${targets[@]}"
mkdir -p "$OUT/lib"
cp "${targets[@]}" equivalence-tests/fuzz/fuzz_import.dict "$OUT"
ldd "${targets[@]}" | awk '/lib(ssl|crypto|hiredis)/ {print $3}' | sort -u | xargs cp -t "$OUT/lib"
(cd $b/equivalence-tests/inputs/fuzz_import && python3 -m zipfile -c "$OUT/fuzz_import_seed_corpus.zip" ./*)
