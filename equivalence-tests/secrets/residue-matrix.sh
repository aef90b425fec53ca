#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: residue.c on libraries compiled with other compilers and flags than ours, with libcrypto's
# PRG and with each version of the one that ships. The test itself is compiled as always.
# Usage: residue-matrix.sh [--quick] CELL...
#   A cell is a compiler and its flags, e.g. gcc-O3 or clang-O2-flto or gcc-O3-march=native.
#   --quick: search only the stack, except for the version that is chosen by default.
# Environment: B, CPPFLAGS, LDLIBS, REF_SRC, OPT_SRC, BOTH_SRC (in both libraries),
# PRG_SRC, OPT_PRG_SRC.
set -u
base='-std=c11 -g -w -fvisibility=hidden -fstack-protector-strong -fPIC'
evp=$(printf -- '-Dprg_%s=prg_%s_evp ' expand expand expand_wide expand_wide digest digest wipe_plan wipe_plan calls calls)
n=0 failed=0
result() { # STATUS NAME LOG
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else
    echo "not ok $n - $2"
    grep -E -B3 '^not ok|Bail|rror' "$3" | head -40 | sed 's/^/# /'
    failed=1
  fi
}

build() { # CELL
  local cc=${1%%-*} flags source object objects=() prg=() shipped=()
  flags=" -${1#*-}"
  flags=${flags//-/ -}
  dir=$B/equivalence-tests/matrix/$1
  mkdir -p "$dir"/{ref,opt,prg/common}
  compile() { # OBJECT SOURCE FLAG...
    "$cc" $CPPFLAGS $base $flags "${@:3}" -c -o "$dir/$1" "$2"
  }
  for source in $REF_SRC $BOTH_SRC; do
    compile "${source%.c}.o" "$source" -include ref/names.h || return 1
    objects+=("$dir/${source%.c}.o")
  done
  for source in $OPT_SRC $BOTH_SRC; do
    object=${source%.c}.o
    object=opt/${object//\//-} # files in different folders may have the same name
    compile "$object" "$source" || return 1
    objects+=("$dir/$object")
  done
  for source in $PRG_SRC; do
    compile "prg-$(basename "$source" .c).o" "$source" || return 1
    prg+=("$dir/prg-$(basename "$source" .c).o")
  done
  compile prg-libcrypto_evp.o prg/libcrypto.c $evp || return 1
  shipped=("$dir/prg-libcrypto_evp.o")
  for source in $OPT_PRG_SRC; do
    compile "prg-$(basename "$source" .c).o" "$source" || return 1
    shipped+=("$dir/prg-$(basename "$source" .c).o")
  done
  local tests=$B/equivalence-tests/plain
  tests="$tests/secrets/residue.o $tests/cli/impls/impl_ref.o $tests/cli/impls/impl_opt.o"
  local wide=('-Wl,-z,now' '-Wl,--wrap=EVP_KDF_CTX_new' '-Wl,--wrap=EVP_KDF_derive'
    '-Wl,--wrap=RAND_priv_bytes' "$B/equivalence-tests/plain/secrets/wide_prg.o")
  "$cc" $flags -o "$dir/wide" "${wide[@]}" "${shipped[@]}" "$dir/opt/prg-common-fork.o" $LDLIBS &&
    "$cc" $flags -o "$dir/wide-libcrypto" "${wide[@]}" "${prg[@]}" "$dir/opt/prg-lanes.o" "$dir/opt/prg-common-fork.o" $LDLIBS || return 1
  tests="$tests -Wl,--wrap=prg_wipe"
  "$cc" $flags -Wl,-z,now -o "$dir/residue" $tests "${objects[@]}" "${prg[@]}" $LDLIBS &&
    "$cc" $flags -Wl,-z,now -o "$dir/residue-shipped" $tests "${objects[@]}" "${shipped[@]}" $LDLIBS
}

flags=" $(sed -n 's/^flags[^:]*: //p' /proc/cpuinfo | head -1) "
lacks() { # prints the first of these features that the processor lacks
  for feature; do
    case $flags in *" $feature "*) ;; *) echo "$feature"; return ;; esac
  done
}

part=
[ "${1:-}" = --quick ] && part=--stack && shift
for cell; do
  log=$B/equivalence-tests/matrix/$cell.log
  mkdir -p "${log%/*}"
  build "$cell" > "$log" 2>&1
  status=$?
  result $status "${cell}_compiles" "$log"
  [ $status = 0 ] || continue
  "$dir/residue" $part > "$log" 2>&1
  result $? "${cell}_residues_with_libcrypto" "$log"
  "$dir/wide" > "$log" 2>&1
  result $? "${cell}_residues_of_seeds_of_32_bytes" "$log"
  "$dir/wide-libcrypto" > "$log" 2>&1
  result $? "${cell}_residues_of_seeds_of_32_bytes_with_libcrypto" "$log"
  chosen=$("$dir/residue-shipped" --chosen 2> "$log")
  result $? "${cell}_runs_with_the_prg_that_ships" "$log"
  for version in avx512 avx2 scalar; do
    # /proc/cpuinfo says what the processor supports: a version whose program fails is not skipped
    case $version in
    avx512) lack=$(lacks avx512f avx512vl) ;;
    avx2) lack=$(lacks avx2 bmi1 bmi2) ;;
    *) lack= ;;
    esac
    if [ -n "$lack" ]; then
      echo "# this processor does not support $version"
      continue
    fi
    PPRF_PRG=$version "$dir/residue-shipped" --chosen 2> "$log" | grep -qx $version
    result $? "${cell}_has_$version" "$log"
    whole=$part
    [ $version = "$chosen" ] && whole=
    PPRF_PRG=$version "$dir/residue-shipped" $whole > "$log" 2>&1
    result $? "${cell}_residues_with_$version" "$log"
  done
done
echo "1..$n"
exit $failed
