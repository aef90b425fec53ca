#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds OpenMLS's puncturable PRF for bench/stores, if there is a Rust: build.sh FOLDER
# Leaves FOLDER/libopenmls_pprf.so, or FOLDER/why-not with the reason in one line, and succeeds either way.
set -u
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$1"
cd "$1" || exit 1
rm -f libopenmls_pprf.so why-not
left_out() {
  echo "$1" > why-not
  echo "bench: OpenMLS is left out: $1"
  exit 0
}
export PATH=$PATH:${HOME:-/root}/.cargo/bin
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$here/Cargo.toml")
have=$(rustc --version 2> /dev/null | cut -d' ' -f2)
if [ -z "$have" ] || ! command -v cargo > /dev/null ||
    [ "$(printf '%s\n%s\n' "$wanted" "$have" | sort -V | head -1)" != "$wanted" ]; then
  left_out "Rust $wanted is needed, ${have:-none} is here"
fi
cp "$here/Cargo.toml" "$here/Cargo.lock" "$here/lib.rs" .
where=
if ! timeout 120 cargo fetch --locked > log 2>&1; then
  where=--offline
  cargo fetch --locked --offline > log 2>&1 ||
    left_out "the crates in its Cargo.lock are neither in cargo's cache nor available"
fi
# A copy of the crate, with the module that makes its tree callable.
source=$(cargo metadata --locked $where --format-version 1 2>> log |
  sed -n 's/.*"manifest_path":"\([^"]*openmls-0\.8\.1\)\/Cargo.toml".*/\1/p')
[ -d "$source" ] || left_out "cargo does not report where the crate openmls 0.8.1 is"
rm -rf openmls
cp -R "$source" openmls && cp "$here/opened.rs" openmls/src/schedule/ &&
  printf '#[cfg(feature = "extensions-draft-08")]\npub mod opened;\n' >> openmls/src/schedule/mod.rs ||
  left_out "the crate could not be copied"
printf '\n[patch.crates-io]\nopenmls = { path = "openmls" }\n' >> Cargo.toml
# shellcheck disable=SC2086  # empty or one word
if ! CARGO_TARGET_DIR=target cargo build --release $where >> log 2>&1; then
  left_out "it does not compile, see $1/log"
fi
cp target/release/libopenmls_pprf.so .
echo "bench: OpenMLS 0.8.1 is ready, rustc $have"
