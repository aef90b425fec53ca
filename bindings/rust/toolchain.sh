# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # its variables are of those who read it
# For tests in TAP, read by their shell in the folder of a Cargo.toml: the toolchain and the crates, or a plan that
# skips all, with the reason.
# In: log, a file.  Out: have, rustc's version; where, --offline if cargo has to be told.
export PATH=$PATH:${HOME:-/root}/.cargo/bin
wanted=$(sed -n 's/^rust-version = "\(.*\)"/\1/p' "$(dirname "${BASH_SOURCE[0]}")/Cargo.toml")
have=$(rustc --version 2> /dev/null | cut -d' ' -f2)
if [ -z "$have" ] || ! command -v cargo > /dev/null ||
    [ "$(printf '%s\n%s\n' "$wanted" "$have" | sort -V | head -1)" != "$wanted" ]; then
  echo "1..0 # SKIP Rust $wanted is needed, ${have:-none} is here"
  exit 0
fi
where=
if ! timeout 90 cargo fetch > "$log" 2>&1; then
  where=--offline
  if ! cargo fetch --offline > "$log" 2>&1; then
    echo "1..0 # SKIP the crates that Cargo.toml names are neither in cargo's cache nor to be had"
    exit 0
  fi
fi
