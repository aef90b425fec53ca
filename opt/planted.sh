#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the test: each planted bug in opt must make opt/selftest fail.  TAP on standard output.
# Environment: CC, CPPFLAGS, LDLIBS as make has them; B, the build folder.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 bad=0
flags=(-std=c11 -O1 -w)
$CC $CPPFLAGS -Iopt "${flags[@]}" -c -o "$dir/selftest.o" opt/selftest.c

planted() { # FILE NAME SED-EXPRESSION
  local file=$1 name=$2 expression=$3
  n=$((n + 1))
  cp opt/*.c opt/*.h "$dir/"
  sed -i -e "$expression" "$dir/$file"
  if cmp -s "opt/$file" "$dir/$file"; then
    echo "not ok $n - $name # the edit does not apply to $file any more"; bad=1; return
  fi
  local test=$dir/selftest.o
  [ "$file" = bitmap.h ] && test=$dir/selftest.c
  if ! $CC $CPPFLAGS -I"$dir" "${flags[@]}" -Wl,--wrap=prg_expand -o "$dir/selftest" \
    "$test" "$dir"/bitmap.c "$dir"/store.c "$dir"/pprf.c "$B"/opt/strerror.o \
    "$B"/opt/libpprf_prg.a $LDLIBS >"$dir/log" 2>&1; then
    sed 's/^/# /' "$dir/log"
    echo "not ok $n - $name # it does not compile"; bad=1; return
  fi
  if timeout 120 "$dir/selftest" -x "${SEED:-1}" >"$dir/log" 2>&1; then
    echo "not ok $n - $name # not caught"; bad=1
  else
    echo "# $(grep -m1 '^not ok' "$dir/log" || echo 'crash or hang')"
    echo "ok $n - $name"
  fi
}

# A wrong version of the PRG must fail its own test, and nothing else: the library falls back.
for edit in 's/b2 = ROL(XOR(a##12, d2), 43)/b2 = ROL(XOR(a##12, d2), 42)/' \
  's/0x8000000000008089, /0x8000000000008088, /'; do
  n=$((n + 1))
  sed -e "$edit" opt/keccak.c >"$dir/keccak.c"
  status=0
  if cmp -s opt/keccak.c "$dir/keccak.c" || ! $CC $CPPFLAGS -Iopt "${flags[@]}" -O2 \
    -Wl,--wrap=prg_expand -o "$dir/selftest" opt/selftest.c opt/bitmap.c opt/store.c opt/pprf.c \
    "$dir/keccak.c" opt/keccak_prg.c "$B"/opt/prg_evp.o "$B"/opt/strerror.o $LDLIBS; then
    echo "not ok $n - wrong_keccak_falls_back # the edit does not apply or compile"; bad=1; continue
  fi
  timeout 120 "$dir/selftest" "${SEED:-1}" >"$dir/log" 2>&1 || status=$?
  grep '^not ok' "$dir/log" | sed 's/^/# /'
  if [ $status = 1 ] && [ "$(grep -c '^not ok' "$dir/log")" = 1 ] &&
    grep -q '^not ok [0-9]* - every_version_of_the_prg_is_sha3_256' "$dir/log" &&
    grep -q '^# the PRG is evp' "$dir/log"; then
    echo "ok $n - wrong_keccak_falls_back"
  else
    echo "not ok $n - wrong_keccak_falls_back"; bad=1
  fi
done

planted bitmap.h right_neighbour_ignored 's/if (right != 0)/if (0)/'
planted bitmap.h left_neighbour_ignored 's/if (left != 0)/if (0)/'
planted bitmap.c full_words_not_promoted 's/full_word(b, level, i) != UINT64_MAX/1/'
planted bitmap.c any_not_set_above 's/    b->summary\[k\]\[i\].any |= bits;/    ;/'
planted bitmap.c search_stops_at_the_word 's/^  for (; level < b->levels; level++) {/  for (; level < 1; level++) {/'
planted bitmap.c last_word_of_range 's/if (to != 63)/if (to < 62)/'
planted bitmap.c first_word_of_range '/opt_bits(from, 63)/{n;s/i++;/;/}'
planted bitmap.c untouched_words_read 's/if (!opt_has(b->summary\[level\]\[block >> 6\].any, block \& 63))/if (0)/'
planted store.c leaf_seed_kept 's/if (node.height == 0)/if (0)/'
planted store.c sibling_in_wrong_slot 's/(leaf >> i ^ 1) << i/(leaf >> i) << i/'
planted store.c count_off_by_one 's/node.height - 1;/node.height;/'
planted store.c range_keeps_seeds 's/^    s->slot\[n.start >> 1\] = .*$/    ;/'
planted store.c live_block_released 's/i += !opt_bitmap_is_full.*/;/'
planted store.c neighbour_block_released 's/(block + 1) << 6 \* SLOTS_LEVEL/(block + 2) << 6 * SLOTS_LEVEL/'
planted store.c nothing_released 's/if (a >= b)/if (1)/'
planted pprf.c wrong_side_kept 's/if (right != right_side)/if (right == right_side)/'
planted pprf.c range_without_right_end 's/opt_store_find(s, last, &node)/0/'
planted pprf.c prg_failure_ignored 's/if (c.err != PPRF_OK) {/if (0) {/'
planted pprf.c mergeable_siblings_accepted 's/n.height == height \&\&/0 \&\&/'
planted pprf.c overlap_accepted 's/if (n.start < end)/if (0)/'
planted pprf.c digest_not_compared 's/return d == 0;/return 1;/'
planted pprf.c children_left_on_the_stack 's/^  prg_wipe_stack();$/  ;/'
planted pprf.c gap_at_the_end_forgotten 's/if (end >> s->punctured.depth == 0)/if (0)/'
echo "1..$n"
exit $bad
