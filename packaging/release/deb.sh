#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The Debian packages of the last commit: built in a clean Debian with the build dependencies of
# debian/control, checked by lintian, installed in another clean Debian by `apt install ./*.deb`,
# and tested there by nginx with three lines of configuration and by debian/tests. Results are in
# build/deb/SUITE.
# Usage: deb.sh SUITE   (bookworm, trixie)
set -eu
cd "$(dirname "$0")/../.."
suite=$1 out=build/deb/$1
mkdir -p build/root "$out"
exec 9> "build/root/deb-$suite.lock"
flock -n 9 || { echo "deb: another one is running for $suite" >&2; exit 1; }

commit=$(git rev-parse HEAD)
base=build/root/base-$suite
tools/root.sh make "$base" "$suite" ca-certificates
clean() { # ROOT: a new system, and the commit in its /libpprf
  tools/root.sh copy "$base" "$1"
  git archive "$commit" | tools/root.sh run "$1" 'tar --extract --no-same-owner'
}
apt='env DEBIAN_FRONTEND=noninteractive apt-get -qq --yes --no-install-recommends'

root=build/root/deb-$suite
clean "$root"
tools/root.sh run "$root" "$apt update && $apt install dpkg-dev lintian && $apt build-dep ./ > /dev/null" > "$out/log"
echo "deb: $suite: building"
tools/root.sh run "$root" 'dpkg-buildpackage --no-sign' >> "$out/log" 2>&1 || { tail -30 "$out/log"; exit 1; }
tools/root.sh run "$root" '# debian/control names the policy of Debian 13
  lintian --allow-root --tag-display-limit 0 --display-info --pedantic --suppress-tags newer-standards-version \
  --fail-on error,warning,info,pedantic ../*.changes'
rm -f "$out"/*.deb "$out/commit"
# shellcheck disable=SC2016
tools/root.sh run "$root" 'cd .. && tar --create $(ls *.deb | grep -v -e -dbgsym_)' | tar --extract -C "$out"
tools/root.sh remove "$root"

clean "$root"
tar --create -C "$out" . | tools/root.sh run "$root" 'mkdir ../deb && tar --extract -C ../deb'
echo "deb: $suite: installing"
tools/root.sh run "$root" "$apt update && cd ../deb && $apt install ./*.deb openssl" >> "$out/log" 2>&1 ||
  { tail -30 "$out/log"; exit 1; }
tools/root.sh run "$root" 'debian/tests/nginx'
tools/root.sh run "$root" "$apt install autopkgtest" >> "$out/log" 2>&1
tools/root.sh run "$root" 'autopkgtest --no-built-binaries --ignore-restrictions=isolation-container . -- null'
tools/root.sh remove "$root"
echo "$commit" > "$out/commit"
echo "deb: $suite: passed; the packages are in $out"
