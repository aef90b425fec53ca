#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: pprf.c compiles everywhere without a warning, defines no names other than pprf.h's, and in
# opt's place passes the vectors, the residue search and the random sequences.
#  Usage: test.sh [--residue CELL...]     CELL: a compiler and its flags, e.g. clang-O2-flto
# Environment: B, CPPFLAGS, LDLIBS; EQ_OBJ (impl_ref.o, impl_opt.o), REF_LIBS, TOY_OBJ (ref, the
# test PRG and the sequences).
set -u
export LC_ALL=C
here=packaging/amalgamation
am=$B/amalgamation
dir=$am/work
log=$dir/log
rm -rf "$dir"
mkdir -p "$dir"
n=0 failed=0
result() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    tail -20 "$log" | sed 's/^/# /'
    failed=1
  fi
}
run() { # NAME COMMAND...: the result of a command
  local name=$1
  shift
  "$@" > "$log" 2>&1
  result $? "$name"
}
strict='-std=c11 -Wall -Wextra -pedantic -Werror'
plain=$B/equivalence-tests/plain

# pprf.c in opt's place, in a test of both implementations
# PROGRAM OBJECT CC FLAG...
linked() { # PROGRAM OBJECT CC FLAG...
  local program=$1 object=$2 cc=$3
  shift 3
  "$cc" "$@" -Wl,-z,now -o "$dir/$program" "$plain"/*/"${program%%-*}.o" $EQ_OBJ "$object" $REF_LIBS -ljansson $LDLIBS
}
residue() { # CELL OPTIONS: the library as others build it
  local cc=${1%%-*} flags=" -${1#*-}" name=residue-$1$2
  flags=${flags//-/ -}
  run "compiles_$1$2" "$cc" -w -std=c11 -g $flags $2 -I"$am" -c -o "$dir/$name.o" "$am/pprf.c"
  run "links_$1$2" linked "$name" "$dir/$name.o" "$cc" $flags
  run "no_residue_$1$2" "$dir/$name"
}

if [ "${1:-}" = --residue ]; then
  shift
  for cell; do
    residue "$cell" ""
    residue "$cell" -DPPRF_NO_OPENSSL
  done
  echo "1..$n"
  exit $failed
fi

elsewhere() { # FILE: the first error on other systems
  gcc -U__linux__ -Iinclude -Iprg -I"$am" -fsyntax-only "$1" 2>&1 | grep -m 1 error: |
    grep 'libpprf runs on Linux alone'
}
run another_system_is_refused_first elsewhere "$am/pprf.c"
run and_by_the_librarys_own_sources elsewhere prg/common/fork.c
for cc in gcc clang; do
  for options in "" -DPPRF_NO_OPENSSL; do
    object=$dir/$cc$options.o
    run "${cc}_compiles_it_without_a_warning$options" "$cc" $strict -O2 -I"$am" $options -c -o "$object" "$am/pprf.c"
    nm --defined-only --extern-only "$object" | awk '{print $3}' | sort > "$dir/defined"
    sed -n 's/^PPRF_API [^;(]*[ *]\(pprf_[a-z0-9_]*\)(.*/\1/p' include/pprf.h | sort > "$dir/declared"
    run "${cc}_sees_no_names_but_those_of_the_header$options" cmp "$dir/defined" "$dir/declared"
    "$cc" $strict -O2 -I"$am" $options -DPPRF_API= -fvisibility=hidden -fPIC -shared -o "$object.so" "$am/pprf.c" \
      ${options:--lcrypto} -pthread
    run "${cc}_embeds_it_without_a_name$options" [ -z "$(nm -D --defined-only "$object.so" | grep pprf)" ]
    run "vectors_$cc$options" linked "vectors-$cc$options" "$object" "$cc"
    run "vectors_hold_$cc$options" "$dir/vectors-$cc$options"
  done
  nm -u "$dir/$cc-DPPRF_NO_OPENSSL.o" > "$dir/undefined"
  run "${cc}_needs_no_libcrypto_then" awk '/ (EVP|RAND|OPENSSL)_/ {print; bad = 1} END {exit bad}' "$dir/undefined"
done

# the example: in C, in C++, and compiled in two commands
printf 'first use: done\nsecond use: punctured already\n20 seeds left\n' > "$dir/wanted"
example() { # COMPILER FLAG...
  "$@" -Wall -Wextra -pedantic -Werror -I"$am" -DPPRF_NO_OPENSSL "$here/example.c" -x none "$dir/gcc-DPPRF_NO_OPENSSL.o" \
    -o "$dir/example" -pthread && "$dir/example" | cmp - "$dir/wanted"
}
run example_in_c example gcc -std=c11 -x c
run example_in_c++ example g++ -std=c++17 -x c++
# another C library, for which there is no libcrypto: built by its compiler, linked with nothing
# else
musl() {
  musl-gcc -std=c11 -O2 -Wall -Wextra -Werror "$@" -I"$am" -DPPRF_NO_OPENSSL "$here/example.c" "$am/pprf.c" \
    -o "$dir/musl" && "$dir/musl" | cmp - "$dir/wanted"
}
if command -v musl-gcc >/dev/null; then
  run example_with_musl musl
  run example_with_musl_static musl -static
else
  n=$((n + 1))
  echo "ok $n - example_with_musl # SKIP musl-gcc is not installed"
fi

# no annotations are left, nor other text for the proofs
run no_annotation_is_left sh -c "! grep -nE '/\*@|//@|__FRAMAC__|\bghost\b|\\\\(valid|forall|result)' '$am/pprf.c'"
run the_header_is_pprf_h cmp "$am/pprf.h" include/pprf.h

# random sequences on ref and a naive model, with the test PRG in place of the library's
run sequences_compile gcc -std=c11 -O2 -w -I"$am" -DPPRF_EXTERNAL_PRG -c -o "$dir/toy.o" "$am/pprf.c"
run sequences_link gcc -o "$dir/random" $TOY_OBJ "$dir/toy.o" $LDLIBS
run sequences_agree_with_ref_and_the_model "$dir/random"

# without OpenSSL no key is made unless SHA3-256 reproduces the examples
cp "$am/pprf.h" "$dir/"
broken() { # NAME SED: the result of pprf_setup in a broken pprf.c
  sed "$2" "$am/pprf.c" > "$dir/broken.c"
  cmp -s "$am/pprf.c" "$dir/broken.c" && { echo "# nothing changed"; false; } > "$log"
  gcc -w -O1 -DPPRF_NO_OPENSSL "$here/example.c" -I"$dir" "$dir/broken.c" -pthread -o "$dir/broken" > "$log" 2>&1 &&
    ! cmp -s "$am/pprf.c" "$dir/broken.c" && ! "$dir/broken" >> "$log" 2>&1
  result $? "$1"
}
broken a_wrong_round_constant_is_no_sha3 's/\* 0x171;/* 0x173;/'
broken a_wrong_padding_is_no_sha3 's/UINT64_C(0x06) << 8/UINT64_C(0x1f) << 8/'
broken a_wrong_second_block_is_no_sha3 's/if (++at == RATE_BYTES)/if (++at == RATE_BYTES + 1)/'
broken a_wrong_shift_is_no_sha256 's/ \^ b >> 10) + w/ ^ b >> 11) + w/'
broken a_wrong_length_is_no_sha256 's/(uint64_t)len \* 8 >> 8 \* i/(uint64_t)len * 8 >> 8 * i + 1/'
broken a_wrong_pad_is_no_hmac 's/\^= 0x36 ^ 0x5c;/^= 0x36 ^ 0x5d;/'

residue clang-O3-march=native ""
residue gcc-O3-flto -DPPRF_NO_OPENSSL
for version in builtin scalar avx2 avx512; do
  if [ "$(PPRF_PRG=$version "$dir/residue-gcc-O3-flto-DPPRF_NO_OPENSSL" --chosen)" != $version ]; then
    echo "# this processor does not support $version"
    continue
  fi
  PPRF_PRG=$version "$dir/vectors-gcc-DPPRF_NO_OPENSSL" > "$log" 2>&1
  result $? "vectors_hold_with_$version"
done
for version in sha256-builtin sha256-scalar sha256-ni; do
  PPRF_SHA256=$version "$dir/vectors-gcc-DPPRF_NO_OPENSSL" > "$log" 2>&1
  result $? "vectors_hold_with_$version"
done
echo "1..$n"
exit $failed
