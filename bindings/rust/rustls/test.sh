#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Test, in TAP, that rustls with the lines of insert.py delivers a payment once, and that a test fails without any
# one of the lines.  Uses the crate that cargo fetches; tests that cannot run here are skipped, with the reason.
# Environment: B.
set -u
cd "$(dirname "$0")" || exit 1
work=$(realpath "../../../$B")/rustls-proposal
mkdir -p "$work"
log=$work/log
export CARGO_TARGET_DIR=$work/target
# shellcheck source-path=SCRIPTDIR source=../toolchain.sh
. ../toolchain.sh
crate=$(cargo metadata --offline --format-version 1 | python3 -c '
import json, os, sys
print(*(os.path.dirname(p["manifest_path"]) for p in json.load(sys.stdin)["packages"] if p["name"] == "rustls"))')
echo "# rustc $have, ${crate##*/}"
echo 1..9
failed=0 n=0
run() { # NAME COMMAND...
  local status=0
  n=$((n + 1))
  "${@:2}" > "$log" 2>&1 || status=$?
  [ $status = 0 ] || { tail -40 "$log" | sed 's/^/# /'; printf 'not '; failed=1; }
  echo "ok $n - $1"
}
tests() { timeout 400 cargo test $where --config "patch.crates-io.rustls.path=\"$work/rustls\""; }
lines_are_inserted_only() {
  diff -r "$crate" "$work/rustls" > "$work/changes"
  [ $? = 1 ] && ! grep '^<' "$work/changes" &&
    grep "inserts $(grep -c '^>' "$work/changes") lines" README.md
}
another_version_is_refused() {
  rm -rf "$work/other" && cp -r "$crate" "$work/other" && : > "$work/other/src/server/tls12.rs" &&
    ! ./insert.py "$work/other" "$work/none" 2> "$work/said" && grep 'another version of rustls' "$work/said"
}
# an insertion left out: the named tests fail, and no other
fails() { # INSERTION TEST...
  ./insert.py "$crate" "$work/rustls" --without "$1" && ! tests > "$work/out" 2>&1 || return 1
  sed -n 's/^test \([a-z_0-9]*\) \.\.\. FAILED$/\1/p' "$work/out" | sort > "$work/got"
  printf '%s\n' "${@:2}" | sort | diff - "$work/got"
}
run lines_are_inserted ./insert.py "$crate" "$work/rustls"
run nothing_of_the_crate_is_changed_or_removed lines_are_inserted_only
run another_version_is_refused another_version_is_refused
run a_payment_is_delivered_once_and_a_bad_binder_burns_nothing tests
once='a_payment_is_delivered_once_and_replays_are_refused'
race='of_copies_at_the_same_time_one_is_delivered'
burnt='a_copy_with_a_bad_binder_burns_nothing'
run planted_not_redeemed_after_the_binder fails binder $once $race
run planted_not_redeemed_in_tls_1_2 fails tls12 a_tls_1_2_ticket_resumes_one_connection
run planted_no_early_data_accepted fails early $once $race $burnt
run planted_no_early_data_announced fails announce $once $race $burnt
# without the hook's declaration nothing that calls it compiles
does_not_compile() { ./insert.py "$crate" "$work/rustls" --without trait && ! tests; }
run planted_no_hook does_not_compile
exit $failed
