#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests of the Rust crates, in TAP.  Tests that cannot run here are skipped, with the reason.
# Environment: B.
set -u
cd "$(dirname "$0")" || exit 1
mkdir -p "../../$B"
log=$(realpath "../../$B")/rust.log
CARGO_TARGET_DIR=$(realpath "../../$B")/rust
export CARGO_TARGET_DIR
# shellcheck source-path=SCRIPTDIR source=./toolchain.sh
. ./toolchain.sh
echo "# rustc $have"
echo 1..6
failed=0 n=0
run() { # NAME COMMAND...
  local status=0
  n=$((n + 1))
  timeout 900 "${@:2}" > "$log" 2>&1 || status=$?
  [ $status = 0 ] || { sed 's/^/# /' "$log"; printf 'not '; failed=1; }
  echo "ok $n - $1"
}
run "they compile" cargo test --locked $where --no-run
run "pprf: vectors, errors, threads, declarations, the example" cargo test --locked $where -p pprf
run "pprf-rustls: a copied first flight is not resumed, tickets expire, keys give way" cargo test --locked $where -p pprf-rustls
one_version() { ! grep -n '^version = "' pprf*/Cargo.toml && grep -qx "version = \"$(sed -n \
  's/^#define PPRF_VERSION "\(.*\)"/\1/p' ../../include/pprf.h)\"" Cargo.toml; }
export -f one_version
run "their version is the library's" bash -c one_version
if cargo fmt --version > "$log" 2>&1; then
  run "rustfmt changes nothing" cargo fmt --check
else
  n=$((n + 1))
  echo "ok $n - rustfmt changes nothing # SKIP no rustfmt"
fi
# pprf-sys/c is generated, so git does not list it
published() {
  local crate
  cargo publish --workspace --dry-run --allow-dirty || return 1
  for crate in pprf-sys pprf pprf-rustls; do
    cargo package --list --allow-dirty -p $crate | grep -qx LICENSE && cmp $crate/LICENSE ../../LICENSE || return 1
  done
  cargo package --list --allow-dirty -p pprf-sys | grep -qx c/pprf.c
}
export -f published
if [ -n "$where" ] || ! cargo publish --help | grep -q -e '--workspace'; then
  n=$((n + 1))
  echo "ok $n - the crates could be published # SKIP cargo 1.90 and the registry are needed"
else
  run "the crates could be published, with their licence" bash -c published
fi
exit $failed
