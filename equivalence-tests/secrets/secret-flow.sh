#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: valgrind finds no branch and no address that depends on a seed in ref and opt, compiled as
# for the libraries: with a portable PRG (secret_prg.c), and with the one that ships, in each
# version that valgrind can run. It cannot run AVX-512: the machine code of those versions is read
# (vector_flow.py), and the code that chooses among their lanes in opt_expand_many is checked only
# with the other versions. Each of these checks must also find planted bugs.
# Environment: CC and CPPFLAGS as make has them; B, the build folder.
eq=equivalence-tests
log=$B/$eq/secret-flow.log
n=0 failed=0
result() { # STATUS CLAIM
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    head -40 "$log" | sed 's/^/# /'
    failed=1
  fi
}
memcheck() { # STATUS PROGRAM [VARIABLE=VALUE...]: expects this exit status
  want=$1 program=$B/$eq/$2
  shift 2
  env "$@" valgrind --quiet --error-exitcode=9 --leak-check=no --track-origins=no "$program" \
    > "$log" 2>&1
  [ $? = "$want" ]
}
memcheck 0 secret_flow PLANT=
result $? no_branch_or_address_depends_on_a_seed
memcheck 0 secret_flow PLANT= TEST_SUITE=mls-sha256
result $? nor_on_one_of_32_bytes
for plant in branch address; do
  memcheck 9 secret_flow PLANT=$plant && grep -q 'violate' "$log"
  result $? "control_a_planted_${plant}_is_found"
done

# the PRG that ships; PPRF_PRG chooses a version, and the program prints which one it used
versions=scalar not=
if [ "$(uname -m)" = x86_64 ]; then
  flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo | head -1) "
  case $flags in
  *" avx2 "*) versions="avx2 scalar" ;;
  *) not="avx2 (not supported by this processor)" ;;
  esac
fi
for version in $versions evp; do
  memcheck 0 secret_flow_shipped PLANT= PPRF_PRG=$version && grep -q "^# PRG: $version\$" "$log"
  result $? "nor_in_the_prg_that_ships_$version"
done
for version in $versions evp; do
  memcheck 0 secret_flow_shipped PLANT= TEST_SUITE=sha3-256-salted PPRF_PRG=$version &&
    grep -q "^# PRG: $version\$" "$log"
  result $? "nor_in_the_salted_suite_${version}"
done
aes_versions='aes-bitsliced aes-evp'
case ${flags:-} in
*" aes "*) aes_versions="aes-ni $aes_versions" ;;
*) not="$not aes-ni (not supported by this processor)" ;;
esac
for version in $aes_versions; do
  memcheck 0 secret_flow_shipped PLANT= TEST_SUITE=aes-128 PPRF_AES=$version &&
    grep -q "^# AES: $version\$" "$log"
  result $? "nor_in_${version}"
done
# 32-byte seeds; valgrind has no SHA instructions, so that code is read below
for version in sha256-scalar sha256-evp; do
  memcheck 0 secret_wide PLANT= PPRF_SHA256=$version && grep -q "^# SHA-256: $version\$" "$log"
  result $? "nor_in_${version}"
done
memcheck 9 secret_flow PLANT=branch TEST_SUITE=mls-sha256 && grep -q 'violate' "$log"
result $? control_a_branch_planted_in_theirs_is_found
memcheck 0 secret_flow_shipped PLANT= TEST_SUITE=mls-sha256 PPRF_SHA256=sha256-scalar &&
  grep -q "^# SHA-256: sha256-scalar\$" "$log"
result $? nor_in_them_with_sha256-scalar
for plant in one many; do
  memcheck 9 secret_flow_shipped PLANT=$plant TEST_SUITE=mls-sha256 PPRF_SHA256=sha256-scalar &&
    grep -q '__wrap_' "$log"
  result $? "control_a_branch_on_what_${plant}_gave_of_32_bytes_is_found"
done
for plant in one many; do
  memcheck 9 secret_wide PLANT=$plant PPRF_SHA256=sha256-scalar && grep -q 'secret_wide.c' "$log"
  result $? "control_a_branch_on_a_child_of_32_bytes_from_${plant}_is_found"
done
for plant in one many; do
  memcheck 9 secret_flow_shipped PLANT=$plant PPRF_PRG=scalar && grep -q '__wrap_' "$log"
  result $? "control_a_branch_on_what_${plant}_gave_is_found"
done

if [ "$(uname -m)" = x86_64 ]; then
  vectors='opt_keccak_avx512 opt_keccak_avx512_x4 opt_keccak_avx512_x8
    opt_salted_avx512 opt_salted_avx512_x4 opt_salted_avx512_x8
    opt_keccak_avx512_descend opt_salted_avx512_descend'
  read_code() { # OBJECT FUNCTION...
    python3 $eq/secrets/vector_flow.py "$@" > "$log" 2>&1
  }
  read_code "$B/prg/keccak.o" $vectors
  result $? nor_in_the_machine_code_of_the_versions_with_avx512
  read_code "$B/prg/aes_instructions.o" opt_aes_vaes_x4 opt_aes_vaes_x8
  result $? nor_in_that_of_the_versions_with_vaes
  read_code "$B/prg/sha256_instructions.o" opt_sha256_ni
  result $? nor_in_that_of_the_version_with_sha_ni
  changed=$B/$eq/vector_flow_planted
  planted() { # NAME FUNCTION SED-EXPRESSION [FILE]
    file=${4:-prg/keccak.c}
    sed -e "$3" "$file" > "$changed.c"
    ! cmp -s "$file" "$changed.c" &&
      $CC $CPPFLAGS -std=c11 -O2 -w -c -o "$changed.o" "$changed.c" &&
      ! read_code "$changed.o" "$2" && grep -q 'seed\|secret' "$log"
    result $? "control_$1"
  }
  planted a_branch_on_a_seed_in_eight_lanes opt_keccak_avx512_x8 \
    's/^  SHA3_256_OF_SEED(__m512i, lo, hi);/  if (step[3].seed->lo \& 1) __asm__ volatile("nop");\n&/'
  planted an_address_from_a_seed_in_four_lanes opt_keccak_avx512_x4 \
    '/^opt_keccak_avx512_x4/,/^}/s/^  SHA3_256_OF_SEED/  lo ^= (long long)iota[step[1].seed->hi \& 15];\n&/'
  planted a_branch_on_a_seed_in_eight_salted_lanes opt_salted_avx512_x8 \
    '/^opt_salted_avx512_x8/,/^}/s/^  SHA3_256_OF_NODE/  if (step[5].seed->hi \& 2) __asm__ volatile("nop");\n&/'
  planted a_branch_on_a_seed_in_vaes opt_aes_vaes_x4 \
    's/^  key = next_key_4(key, rcons\[9\]);/  if (step[1].seed->lo \& 4) __asm__ volatile("nop");\n&/' prg/aes_instructions.c
  planted a_branch_on_a_seed_in_sha_ni opt_sha256_ni \
    's/^  struct ni_state outer = inner;/  if (seed.third \& 1) __asm__ volatile("nop");\n&/' prg/sha256_instructions.c
  planted an_address_from_a_seed_in_sha_ni opt_sha256_ni \
    's/^  struct ni_state outer = inner;/&\n  inner.abef = _mm_add_epi32(inner.abef, words(ni_constant[seed.lo \& 63], 0, 0, 0));/' prg/sha256_instructions.c
  planted a_branch_on_a_hash_in_sha_ni opt_sha256_ni \
    's/^  put_state(&c.right, right);/  if (_mm_movemask_epi8(left.abef) == 0) __asm__ volatile("nop");\n&/' prg/sha256_instructions.c
  planted a_test_of_a_hash_in_sha_ni opt_sha256_ni \
    's/^  put_state(&c.right, right);/  if (_mm_testz_si128(left.abef, right.abef)) __asm__ volatile("nop");\n&/' prg/sha256_instructions.c
  planted a_branch_on_a_seed_in_a_walk opt_keccak_avx512_descend \
    's/^  lo = CHOOSE(side, e2, e0);/  if (_mm_cvtsi128_si64(e2) \& 1) __asm__ volatile("nop");                                     \\\n&/'
  planted an_address_from_a_seed_in_a_salted_walk opt_salted_avx512_descend \
    's/^  __m128i s0 = CONSTANT(salt_lo), s1 = CONSTANT(salt_hi);/&\n  s0 = _mm_xor_si128(s0, CONSTANT(iota[seed.hi \& 15]));/'
  planted a_branch_on_a_seed_in_a_single_one opt_keccak_avx512 \
    '/^opt_keccak_avx512(/,/^}/s/^  SHA3_256_OF_SEED/  if (seed.hi >> 63) __asm__ volatile("nop");\n&/'
fi
[ -z "$not" ] || echo "# not run: $not"
echo "1..$n"
exit $failed
