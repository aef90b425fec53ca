#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: valgrind finds no branch and no address that depends on a seed in ref and opt, as compiled for
# the libraries; and it finds the ones that are planted.  The PRG is a portable one (secret_prg.c).
program=${0%/*}/secret_flow
log=$program.log
memcheck() { # expects an exit status; the rest: environment
  want=$1
  shift
  env "$@" valgrind --quiet --error-exitcode=9 --leak-check=no --track-origins=no "$program" \
    > "$log" 2>&1
  [ $? = "$want" ]
}
echo 1..3
if memcheck 0 PLANT=; then echo "ok 1 - no_branch_or_address_depends_on_a_seed"; else
  echo "not ok 1 - no_branch_or_address_depends_on_a_seed"
  head -40 "$log" | sed 's/^/# /'
  failed=1
fi
n=2
for plant in branch address; do
  if memcheck 9 PLANT=$plant && grep -q 'prg_expand' "$log"; then
    echo "ok $n - control_a_planted_${plant}_is_found"
  else
    echo "not ok $n - control_a_planted_${plant}_is_found"
    failed=1
  fi
  n=$((n + 1))
done
exit ${failed:-0}
