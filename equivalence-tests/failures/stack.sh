#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: stack.c with the library as it is built, then with the one file as others build it. Other
# tests would not notice a call that needs 160 kB: their threads have stacks of megabytes, and their
# libraries are optimized.
# Usage: stack.sh [--full]; --full: more compilers and flags, and more stores and depths
# Environment: B, CPPFLAGS, LDLIBS.
set -u
here=equivalence-tests/failures
dir=$B/equivalence-tests/stack-work
rm -rf "$dir"
mkdir -p "$dir"
n=0 failed=0
result() { # STATUS NAME LOG: LOG says why it failed
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    grep -v -e '^ok' -e '^1\.\.' "$3" | head -20 | sed 's/^/# /'
    failed=1
  fi
}

cell() { # NAME COMPILER FLAG...
  local name=$1
  shift
  "$@" $CPPFLAGS -o "$dir/stack" > "$dir/log" 2>&1
  result $? "${name}_compiles" "$dir/log"
  [ -x "$dir/stack" ] || return
  "$dir/stack" ${full:+"$full"} > "$dir/log" 2>&1
  result $? "${name}_needs_no_more_stack_than_pprf.h_says" "$dir/log"
  sed -n 's/^.*: \([0-9]*\) bytes$/\1/p' "$dir/log" | sort -n | tail -1 | sed 's/.*/# at most & bytes/'
  "$dir/stack" --names | sort -u > "$dir/names"
  rm "$dir/stack"
}
library() { # the library that make builds, bound lazily, gcc's default
  cell library gcc -O2 -w -DSHARED "$here/stack.c" "$B/opt/libpprf.a" -Wl,-z,lazy $LDLIBS
  sed -n 's/^PPRF_API [^;(]*[ *]\(pprf_[a-z0-9_]*\)(.*/\1/p' include/pprf.h include/pprf_shared.h | sort > "$dir/declared"
  diff "$dir/declared" "$dir/names" > "$dir/log"
  result $? every_function_of_the_headers_is_measured "$dir/log"
}
one_file() { # COMPILER FLAG...
  local libs=(-pthread)
  [[ "$*" == *NO_OPENSSL* ]] || libs+=(-lcrypto)
  cell "one_file_$(tr -d ' ' <<< "$*")" "$@" -w -std=gnu11 "$here/stack.c" "$B/amalgamation/pprf.c" "${libs[@]}"
}

full=
[ "${1:-}" = --full ] && full=--full
library
cells=("gcc -O3 -march=native" "clang -O0" "musl-gcc -O0 -static -DPPRF_NO_OPENSSL")
[ -z "$full" ] || cells+=({gcc,clang}" -O"{0,1,2,3,s,g}{," -DPPRF_NO_OPENSSL"} "musl-gcc -O"{0,2,s}" -DPPRF_NO_OPENSSL" \
  {gcc,clang}" -O3 -flto")
for c in "${cells[@]}"; do
  if ! command -v "${c%% *}" > "$dir/log"; then
    n=$((n + 1))
    echo "ok $n - one_file_${c// /} # SKIP there is no ${c%% *}"
    continue
  fi
  read -ra words <<< "$c"
  one_file "${words[@]}"
done
echo "1..$n"
exit $failed
