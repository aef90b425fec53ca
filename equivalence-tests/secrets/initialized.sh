#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: MemorySanitizer finds no use of an uninitialized byte in ref and opt (initialized.c), and
# finds those that are planted in ref.
# Usage: initialized.sh FOLDER, which contains the program
# Environment: CLANG; CFLAGS, LDFLAGS, LDLIBS and OBJECTS of the program.
set -u
shopt -s extglob
# libcrypto is not instrumented, so memory that it writes and compares looks uninitialized (OpenSSL
# 3.5 does so when a cipher is fetched). Our own code calls memcmp only on the first bytes of a key
# file.
export MSAN_OPTIONS=exitcode=66:intercept_memcmp=0
program=$1/initialized_bytes
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 failed=0
result() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    sed 's/^/# /' "$dir/log" | head -40
    failed=1
  fi
}

SEED=${SEED:-} timeout 300 "$program" > "$dir/log" 2>&1
status=$?
grep '^# ' "$dir/log"
result $status no_uninitialized_byte_is_used

# Unoptimized: an optimizer may replace a value that was never set, and then nothing reads it.
# FILE NAME SED-EXPRESSION
planted() { # FILE NAME SED-EXPRESSION
  local status=1
  echo "the edit does not apply to ref/$1.c any more, or it does not compile" > "$dir/log"
  sed -e "$3" "ref/$1.c" > "$dir/$1.c"
  if ! cmp -s "ref/$1.c" "$dir/$1.c" && $CLANG $CFLAGS -w -O0 -c -o "$dir/$1.o" "$dir/$1.c" &&
    $CLANG $LDFLAGS -o "$dir/run" ${OBJECTS/*([^ ])\/ref\/$1.o/} "$dir/$1.o" $LDLIBS; then
    SEED=1 timeout 60 "$dir/run" > "$dir/log" 2>&1
    [ $? = 66 ] && grep -q 'MemorySanitizer: use-of-uninitialized-value' "$dir/log" && status=0
  fi
  result $status "control_$2_is_found"
}
planted codec a_byte_of_the_header_not_written 's/^  h\[11\] = 0;$//'
planted node a_node_beyond_the_co_path_copied 's/ref_copy(a, i, b, 0, m)/ref_copy(a, i, b, 1, m)/'
planted core a_count_of_siblings_not_set 's/^  \*left = lo;$//'
echo "1..$n"
exit $failed
