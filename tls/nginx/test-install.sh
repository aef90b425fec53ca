#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does what docs/nginx.md tells a Debian user to do, in a clean Debian, with the document's own commands
# and configuration; then nginx, started by its service, must serve a ticket's early data once.  Then runs
# every command of docs/tls.md there.
# It takes the last commit.  Usage: test-install.sh SUITE   (bookworm, trixie)
set -eu
cd "$(dirname "$0")/../.."
suite=$1
root=build/root/nginx-$suite
mkdir -p build/root
exec 9> "$root.lock"
flock -n 9 || { echo "test-install: another one runs in $root" >&2; exit 1; }
tools/root.sh remove "$root"
tools/root.sh make "$root" "$suite" ca-certificates git make python3
git bundle create "$root.bundle" HEAD 2>/dev/null
tools/root.sh run "$root" 'cat > ../repository && cd .. && rm -r libpprf && git clone -q repository libpprf' \
  < "$root.bundle"
rm "$root.bundle"
tools/root.sh run "$root" 'tls/nginx/follow.py docs/nginx.md'
tools/root.sh run "$root" 'tls/nginx/follow.py docs/tls.md'
echo "test-install: $suite: passed"
