#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: ThreadSanitizer finds no race if the rule of pprf.h is followed, also with the PRG that ships
# while another thread chooses its version; and it finds one if the rule is broken.
program=${0%/*}/threads_tsan
log=$program.log
failed=0
export TSAN_OPTIONS="halt_on_error=0 exitcode=66"
echo 1..4
if "$program" > "$log" 2>&1; then echo "ok 1 - no_race_while_the_rule_is_kept"; else
  echo "not ok 1 - no_race_while_the_rule_is_kept"
  head -60 "$log" | sed 's/^/# /'
  failed=1
fi
if "${program}_shipped" > "$log" 2>&1 && grep -q '^# with the PRG that ships' "$log"; then
  echo "ok 2 - nor_with_the_prg_that_ships_and_a_thread_that_chooses"
else
  echo "not ok 2 - nor_with_the_prg_that_ships_and_a_thread_that_chooses"
  head -60 "$log" | sed 's/^/# /'
  failed=1
fi
n=3
for impl in ref slots; do
  "$program" --break $impl > "$log" 2>&1
  if [ $? != 0 ] && grep -q 'WARNING: ThreadSanitizer' "$log"; then
    echo "ok $n - control_a_race_in_${impl}_is_found"
  else
    echo "not ok $n - control_a_race_in_${impl}_is_found"
    failed=1
  fi
  n=$((n + 1))
done
exit $failed
