# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154  # variables are shared with the scripts that source this
# Sourced by tests in the folder of a Cargo.toml: finds the toolchain and fetches the crates, or prints a TAP plan
# that skips everything, with the reason.
# In: log, a file.  Out: have, the version of rustc; where, --offline if there is no registry.
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
    echo "1..0 # SKIP the crates of Cargo.toml are not in cargo's cache, and cannot be fetched"
    exit 0
  fi
fi
