#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Does what a newcomer does, in a clean Debian with only git and make: clones the repository, types the README's
# section "In C" (docs/tests/first.sh), then runs make targets one after the other, even if one fails.  Prints the time
# of each and what was installed, also to build/root/SUITE.txt; each target's output goes to
# build/root/SUITE-TARGET.log.  Exits 1 if a target fails.  Uses the last commit, not uncommitted changes.
# Usage: tools/test-root.sh SUITE TARGET...   SUITE: bookworm, trixie, ...
set -eu -o pipefail # a failure must not be lost in a pipe to tee
cd "$(dirname "$0")/.."
suite=$1
root=build/root/$suite report=build/root/$suite.txt
mkdir -p build/root
exec 9> "$root.lock"
flock -n 9 || { echo "test-root: another one runs in $root" >&2; exit 1; }
tools/root.sh remove "$root"
tools/root.sh make "$root" "$suite" ca-certificates git make
commit=$(git rev-parse HEAD)
rm -rf "$root.clone"
git clone -q "file://$PWD" "$root.clone"
tar --create -C "$root.clone" . | tools/root.sh run "$root" 'tar --extract --no-same-owner && cd .. &&
  dpkg-query -W -f "\${Package}\n" | sort > before'
rm -rf "$root.clone"
{
  tools/root.sh run "$root" '. /etc/os-release; echo "$PRETTY_NAME, $(dpkg --print-architecture)"'
  echo "commit $commit"
  [ -z "$(git status --porcelain)" ] || echo "(what is not committed was not tried)"
} | tee "$report"
failed=()
try() { # NAME COMMAND
  local start=$SECONDS status=0 took
  echo "test-root: $suite: $2"
  tools/root.sh run "$root" "$2" 2>&1 | tee "$root-$1.log" || status=$?
  took=$((SECONDS - start))
  printf '%-6s %-21s %d min %02d s\n' "$([ $status = 0 ] && echo passed || echo FAILED)" \
    "$2" $((took / 60)) $((took % 60)) >> "$report"
  [ $status = 0 ] || failed+=("$1")
}
try readme docs/tests/first.sh # before any target installs packages
for target in "${@:2}"; do try "$target" "make $target"; done
# shellcheck disable=SC2016
tools/root.sh run "$root" 'cd ..; apt-mark showmanual | sort | comm -23 - before > asked
  dpkg-query -W -f "\${Package}\n" | sort | comm -23 - before > new
  echo "installed: $(wc -l < new) packages, of them asked for:"
  dpkg-query -W -f "  \${Package} \${Version}\n" $(cat asked)
  echo "disk: $(du -sxm libpprf | cut -f1) MB in the clone, $(du -sxm --exclude=./libpprf --exclude=./proc --exclude=./sys --exclude=./dev . | cut -f1) MB beside it"' >> "$report"
echo
cat "$report"
[ ${#failed[@]} = 0 ] || { echo "test-root: $suite: FAILED: ${failed[*]}"; exit 1; }
