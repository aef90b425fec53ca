#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests the test: each planted bug in opt must make opt/selftest fail.  TAP on standard output.
# A mutant runs the groups of selftest that concern it; only what it changes is compiled again.
# A random quarter of them, by the seed SEED; ALL=1: all.  That each still has its place is looked at in any case.
# Environment: CC, CPPFLAGS, LDLIBS as make has them; B, the build folder.
set -eu
cd "$(dirname "$0")/.."
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 bad=0 bugs=0 drawn=0
seed=${SEED:-$((RANDOM * 32768 + RANDOM))}
RANDOM=$((seed % 32768))
flags=(-std=c11 -O1 -w)
# shellcheck disable=SC2054  # the commas are the linker's
wrap=(-Wl,--wrap=prg_expand,--wrap=opt_expand_many,--wrap=free,--wrap=malloc,--wrap=opt_arena_take,--wrap=madvise)
sources="bitmap pages levels arena tiles packed store core pprf batch wide"
for f in $sources; do
  $CC $CPPFLAGS -Iopt "${flags[@]}" -c -o "$dir/$f.o" "opt/$f.c"
done
tests=()
for f in opt/selftest/*.c; do
  tests+=("$dir/selftest-$(basename "$f" .c).o")
  $CC $CPPFLAGS -Iopt "${flags[@]}" -c -o "${tests[-1]}" "$f"
done

# Bugs for which a test may run on for ever: elsewhere that is no proof that it notices anything.
hangs=" "

# Run selftest's groups; 60 seconds of processor time, so that a busy machine decides nothing.
# Status 3: it hangs.
run() { # ARGUMENT...
  local status=0
  (ulimit -t 60; exec timeout 1200 "$dir/run" "$@") >"$dir/log" 2>&1 || status=$?
  case $status in
  124 | 137 | 152) return 3 ;;
  *) return $status ;;
  esac
}

result() { # STATUS NAME [WHY]
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2 # $3"; bad=1; fi
}

# Link the objects in $dir with MUTANT.o in place of the one of that name.
link() { # MUTANT OBJECT...
  local mutant=$1 objects=("${tests[@]}") f
  shift
  for f in $sources; do
    if [ "$f" = "$mutant" ]; then objects+=("$dir/mutant.o"); else objects+=("$dir/$f.o"); fi
  done
  $CC "${wrap[@]}" -o "$dir/run" "${objects[@]}" "$@" "$B"/prg/lanes.o "$B"/common/{strerror,fork}.o $LDLIBS
}

planted() { # FILE GROUPS NAME SED-EXPRESSION
  local file=$1 groups=$2 name=$3 expression=$4 f status=0
  rm -rf "$dir/src"
  mkdir "$dir/src"
  cp -r opt/*.c opt/*.h opt/wp opt/selftest "$dir/src/"
  sed -i -e "$expression" "$dir/src/$file"
  if cmp -s "opt/$file" "$dir/src/$file"; then
    result 1 "$name" "the edit does not apply to $file any more"
    return
  fi
  bugs=$((bugs + 1))
  [ -n "${ALL:-}" ] || [ $((RANDOM % 4)) = 0 ] || return 0
  drawn=$((drawn + 1))
  if [ "$file" = bitmap.h ]; then # inlined everywhere: in selftest too it tells the tests nothing
    mutants=()
    for f in $(printf "$dir/src/%s.c " $sources) "$dir"/src/selftest/*.c; do
      mutants+=("${f%.c}.o")
      $CC $CPPFLAGS -I"$dir/src" "${flags[@]}" -c -o "${mutants[-1]}" "$f" || status=1
    done
    $CC "${wrap[@]}" -o "$dir/run" "${mutants[@]}" "$B/prg/libprg_keccak.a" "$B"/prg/lanes.o "$B"/common/{strerror,fork}.o \
      $LDLIBS || status=1
  else
    $CC $CPPFLAGS -Iopt "${flags[@]}" -c -o "$dir/mutant.o" "$dir/src/$file" &&
      link "${file%.c}" "$B/prg/libprg_keccak.a" || status=1
  fi
  if [ $status != 0 ]; then
    result 1 "$name" "it does not compile"
    return
  fi
  run -x -t "$groups" "${SEED:-1}" || status=$?
  case $status in
  0) result 1 "$name" "not caught" ;;
  3)
    case $hangs in
    *" $name "*) result 0 "$name" ;;
    *) result 1 "$name" "it hangs, which the list of those that do does not say" ;;
    esac
    ;;
  *)
    echo "# $(grep -m1 '^not ok' "$dir/log" || echo "ended with status $status")"
    result 0 "$name"
    ;;
  esac
}

# What no bug is planted in passes, group by group: else a mutant could fail for another reason.
link none "$B/prg/libprg_keccak.a"
for group in words ranges sets random batches residue marks failing files depth32 bytes release prefault \
  shared prg; do
  run -x -t $group "${SEED:-1}" || {
    sed 's/^/# /' "$dir/log"
    result 1 "the_group_${group}_passes_alone" "see above"
  }
done
[ $bad = 1 ] || result 0 every_group_passes_without_a_bug

# A wrong version of the PRG must fail its own test, and nothing else: the library falls back.
wrong_keccak() { # NAME SED-EXPRESSION
  local name=$1 status=0
  sed -e "$2" prg/keccak.c >"$dir/keccak.c"
  if cmp -s prg/keccak.c "$dir/keccak.c" ||
    ! $CC $CPPFLAGS -Iopt "${flags[@]}" -O2 -c -o "$dir/keccak.o" "$dir/keccak.c" ||
    ! link none "$dir/keccak.o" "$B"/prg/{aes,aes_instructions,sha256,sha256_instructions,choice,libcrypto_evp,wipe}.o; then
    result 1 "$name" "the edit does not apply or compile"
    return
  fi
  run -t sets,prg "${SEED:-1}" || status=$?
  grep '^not ok' "$dir/log" | sed 's/^/# /'
  if [ $status = 1 ] && grep -q '^not ok [0-9]* - every_version_of_the_prg_is_sha3_256' "$dir/log" &&
    ! grep '^not ok' "$dir/log" | grep -q -v ' every_version_\| any_number_of_steps_' &&
    grep -q '^# the PRG is evp' "$dir/log"; then
    result 0 "$name"
  else
    result 1 "$name" "not caught, or no fallback"
  fi
}
wrong_keccak a_wrong_rotation_falls_back 's/b2 = ROL(XOR(a##12, d2), 43)/b2 = ROL(XOR(a##12, d2), 42)/'
wrong_keccak a_wrong_constant_falls_back 's/0x8000000000008089, /0x8000000000008088, /'
wrong_keccak a_wrong_first_round_falls_back 's/b3 = ROL(d2, 15)/b3 = ROL(d2, 14)/'
if [ "$(PPRF_PRG=avx512 "$dir/run" -t prg 1 2>&1 | grep -c 'cannot run avx512')" = 0 ]; then
  wrong_keccak wrong_lanes_fall_back 's/STORE_8(2, 6, right, _mm512_unpackhi/STORE_8(2, 6, right, _mm512_unpacklo/'
fi

planted bitmap.h words right_neighbour_ignored 's/if (right != 0)/if (0)/'
planted bitmap.h words left_neighbour_ignored 's/if (left != 0)/if (0)/'
planted bitmap.c ranges full_words_not_promoted 's/full_at(b, level, i) == UINT64_MAX/0/'
planted bitmap.c ranges any_not_set_above 's/    mark_any_above(b, k, i);/    ;/'
planted bitmap.c ranges search_stops_at_the_word 's/^  for (; level < b->levels; level++) {/  for (; level < 1; level++) {/'
planted bitmap.c ranges last_word_of_range 's/if (to != 63)/if (to < 62)/'
planted bitmap.c ranges first_word_of_range '/if (from != 0)/{n;n;s/i++;/;/}'
planted bitmap.c depth32 untouched_words_read 's|if (!opt_has(b->summary\[level\]\[block / 64\].any, block % 64))|if (0)|'
planted store.c sets leaf_seed_kept 's/if (height == 0)/if (0)/'
planted store.c sets sibling_in_wrong_slot 's/opt_sibling_start(leaf, i)/opt_start(leaf, i)/'
planted store.c sets count_off_by_one 's/s->nodes + height - 1/s->nodes + height/'
planted store.c random range_keeps_seeds 's/^  put_slot(s, node.start >> 1, (struct .*$/  ;/'
planted store.c release live_block_released 's/i += !opt_bitmap_is_full.*/;/'
planted store.c bytes,batches neighbour_block_released 's/(block + 1) << 6 \* SLOTS_LEVEL/(block + 2) << 6 * SLOTS_LEVEL/'
planted pages.c bytes nothing_released 's/if (a >= b)/if (1)/'
planted store.c batches set_keeps_seeds 's/^        s->slot\[node.start >> 1\] = .*$/        ;/'
planted store.c batches set_given_back_too_early 's/^    puncture_leaf(s, leaf\[i\]).*$/    { puncture_leaf(s, leaf[i]); if (s->nodes == 0) opt_pages_release_all(s); }/'
planted pages.c prefault last_page_not_touched 's/at < s->mapped; at += s->page/at + s->page < s->mapped; at += s->page/'
planted pages.c prefault held_pages_released 's/if (s->held)/if (0)/'
planted pages.c prefault pages_overwritten 's/byte\[at\] = byte\[at\]/byte[at] = 0/'
planted pages.c shared clear_keeps_seeds 's/^    explicit_bzero(s->slot, s->mapped);$/    ;/'
planted pages.c shared clear_keeps_bitmaps 's/^      memset(k == 0 ? .*$/      (void)(/'
planted pages.c shared start_keeps_the_top 's/^  memset(top_level(s).*$/  ;/'
planted tiles.c packed lowest_seed_left 's/^  seed\[0\] = (struct pprf_seed){0, 0};$/  ;/'
planted tiles.c packed path_mirrored 's/is_left = (unsigned)(leaf >>/is_left = (unsigned)(~leaf >>/'
planted tiles.c packed group_without_its_last_tile 's/^    at.tile += GROUP;$/    at.tile += GROUP - 1;/'
planted packed.c packed dead_siblings_stay_two 's/^  merge_dead(page.*$/  ;/'
planted packed.c packed range_without_its_last_leaf 's/return start <= c->last \&\&/return start < c->last \&\&/'
planted packed.c packed set_without_a_last_leaf 's/\*c->leaf < end;$/*c->leaf + 1u < end;/'
planted packed.c packed refused_page_used 's/if (left == NULL || right == NULL)/if (left == NULL)/'
planted packed.c packed refused_page_punctured 's/^    err = resize_page(p, i, bytes_after(p->page\[i\], h));$/    (void)resize_page(p, i, bytes_after(p->page[i], h));/'
planted packed.c packed refused_rewrite_put_in 's/^  if (d.err == PPRF_OK)$/  if (d.n > 0)/'
planted packed.c packed refused_rewrite_keeps_its_pages 's/^      free_page(d.pages\[--d.n\]);$/      --d.n;/'
planted packed.c packed blocks_twice_too_great 's/^  size_t block = opt_arena_fit(bytes);$/  size_t block = opt_arena_fit(2 * bytes < OPT_ARENA_MAX ? 2 * bytes : OPT_ARENA_MAX);/'
planted packed.c packed set_writes_all_between 's/if (runs > 0 \&\& run\[runs - 1\].to + 1 == met)/if (runs > 0)/'
planted packed.c packed new_pages_stay_too_great 's/^      tidy(p, i);$/      ;/'
planted packed.c packed later_runs_not_moved 's/^    run\[k\].from += more;$/    ;/'
planted packed.c packed index_stays_great 's/^  tidy_index(p);$/  ;/'
planted packed.c packed many_pages_stay_small 's/^    p->page_max = OPT_ARENA_MAX;$/    ;/'
planted packed.c packed index_loses_its_last_page 's/^  memcpy(page, old_page, p->pages \* sizeof \*page);$/  memcpy(page, old_page, (p->pages - 1) * sizeof *page);/'
planted arena.c packed block_given_back_unwiped 's/^  explicit_bzero(block, bytes);$/  ;/'
planted arena.c packed empty_region_kept 's/ \&\& a->count > 1)$/ \&\& 0)/'
planted arena.c packed child_has_a_copy 's/^  (void)madvise(p, REGION_BYTES, MADV_WIPEONFORK);$/  ;/'
# opt/arena_test.c contains arena.c and tears its lists
torn() { # NAME SED-EXPRESSION
  local status=0
  mkdir -p "$dir/torn"
  sed -e "$2" opt/arena.c > "$dir/torn/arena.c"
  cp opt/arena_test.c "$dir/torn/"
  if [ -n "$2" ] && cmp -s opt/arena.c "$dir/torn/arena.c"; then
    result 1 "$1" "the edit does not apply to arena.c any more"
  elif ! $CC $CPPFLAGS -Iopt "${flags[@]}" -o "$dir/run" "$dir/torn/arena_test.c" $LDLIBS; then
    result 1 "$1" "it does not compile"
  else
    run || status=$?
    if [ -n "$2" ]; then
      result $((status == 0)) "$1" "not caught"
    else
      result $((status != 0)) "$1" "fails"
    fi
  fi
}
torn without_a_bug_the_test_of_torn_lists_passes ''
torn child_follows_the_lists 's/r = r->older)/r = r->next)/'
torn region_is_remembered_after_it_is_unmapped 's/^  atomic_store(&r->mapped, NULL);.*/  ;/'
torn region_is_not_used_again 's/^  put_region(&a->spare, r);$/  ;/'
planted store.c marks seed_in_the_bitmap 's/opt_bitmap_puncture_range(&s->punctured, first, last);/& s->punctured.dead[0] |= s->slot[0].lo;/'
planted core.c random wrong_side_kept 's/if (right != right_side)/if (right == right_side)/'
planted core.c random range_without_right_end 's/opt_store_find(s, last, &node)/0/'
planted core.c failing prg_failure_ignored 's/if (c.err != PPRF_OK) {/if (0) {/'
planted pprf.c files mergeable_siblings_accepted 's/n->height == r->height \&\&/0 \&\&/'
planted pprf.c files overlap_accepted 's/if (n->start < r->end)/if (0)/'
planted pprf.c files digest_not_compared 's/return d == 0;/return 1;/'
planted core.c residue children_left_on_the_stack 's/^ *prg_wipe(.*$/  ;/'
planted pprf.c random gap_at_the_end_forgotten 's/if (end >> depth == 0)/if (0)/'
planted pprf.c shared clear_does_nothing 's/^  opt_store_clear(&key->store);$/  ;/'
planted batch.c batches split_off_by_one 's/if (leaf\[at\] < mid)/if (leaf[at] <= mid)/'
planted batch.c batches dense_split_off_by_one 's/return lo + (uint32_t)(mid - leaf\[lo\]);/return lo + (uint32_t)(mid - leaf[lo]) + 1;/'
planted batch.c batches sibling_on_the_wrong_side 's/m == g->first ? start : mid/m == g->first ? mid : start/'
planted batch.c batches last_steps_forgotten 's/if (err == PPRF_OK \&\& n > 0)/if (0)/'
planted batch.c batches ancestors_not_shared 's/if (x < \*end) {/if (0) {/'
planted batch.c batches unsorted 's/^  if (sorted >= n)$/  if (1)/'
planted batch.c batches last_digit_not_sorted 's/shift < 32 + depth; shift += 8/shift < 24 + depth; shift += 8/'
planted batch.c batches repeat_not_seen 's/at += (size_t)live;.*$/at += (size_t)(live \&\& (i + 1 == n || items[i + 1] >> 32 != items[i] >> 32));/'
planted batch.c batches failing_walk_applied 's/if (err == PPRF_OK \&\& f.leaves > 0)/if (f.leaves > 0)/'
planted batch.c batches values_left_after_an_error 's/^      explicit_bzero(out, n \* PPRF_SEED_BYTES);$/      ;/'
planted batch.c batches count_of_siblings_too_small 's/siblings += inner - (g->last - g->first);/siblings += 0;/;s/malloc((size_t)n \* size)/calloc(n, size)/'
planted batch.c batches expand_not_clipped 's/if (mid <= x->last) {/if (1) {/'
planted batch.c batches expand_splits_runs_wrongly 's/f->leaf\[to\] == f->leaf\[to - 1\] + 1/1/'
planted batch.c batches expand_goes_on_after_a_stop 's/from < f->leaves \&\& stop == 0/from < f->leaves/'
planted batch.c residue values_in_freed_memory 's/^  explicit_bzero(w->seed, .*$/  ;/'
planted batch.c residue siblings_in_freed_memory 's/^    explicit_bzero(f.sibling, .*$/    ;/'
planted batch.c residue expansion_in_freed_memory 's/^  explicit_bzero(x, sizeof \*x);$/  ;/'
planted batch.c residue batch_leaves_the_stack 's/^ *prg_wipe(.*$/  ;/'
planted batch.c batches each_sibling_twice 's/f->siblings++/f->siblings/'
echo "# SEED=$seed: $drawn of $bugs bugs; ALL=1: all"
echo "1..$n"
exit $bad
