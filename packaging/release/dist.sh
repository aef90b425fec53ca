#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Writes the release's files to OUT: the last commit's tree, with the one-file library copied into
# the bindings that embed it; a bill of materials; and SHA-256 checksums. The same commit always
# gives the same bytes, wherever and by whomever it is built.
# Usage: dist.sh OUT VERSION
set -eu
out=$(realpath -m "$1") version=$2
cd "$(dirname "$0")/../.."
git rev-parse -q --verify HEAD > /dev/null || { echo "dist: not a git repository" >&2; exit 1; }
export SOURCE_DATE_EPOCH TZ=UTC LC_ALL=C
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
umask 022
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
pack() { # NAME: the directory of that name in $work
  tar --create --directory "$work" --sort=name --mtime="@$SOURCE_DATE_EPOCH" --owner=0 --group=0 \
    --numeric-owner --mode=u+rw,go+r-w --format=ustar "$1" | gzip --no-name -9 > "$out/$1.tar.gz"
}

whole=$work/libpprf-$version one=$work/libpprf-$version-amalgamation
mkdir -p "$whole" "$one" "$out"
rm -f "$out"/libpprf-* "$out/SHA256SUMS"
git archive HEAD | tar --extract --directory "$whole"
committed=$(sed -n 's/^#define PPRF_VERSION "\(.*\)"/\1/p' "$whole/include/pprf.h")
[ "$committed" = "$version" ] || { echo "dist: the commit's version is $committed, not $version" >&2; exit 1; }
make -s -C "$whole" amalgamation MAKEFLAGS= > /dev/null
mv "$whole/build/amalgamation" "$work/am"
rm -rf "$whole/build"
cp "$work/am/pprf.c" "$work/am/pprf.h" "$whole/packaging/amalgamation/example.c" "$whole/packaging/amalgamation/README.md" \
  "$whole/LICENSE" "$one"
for place in bindings/{python/pprf/_c,go,rust/pprf-sys/c}; do # bindings that embed it, for users without make
  mkdir -p "$whole/$place"
  cp "$work/am/pprf.c" "$work/am/pprf.h" "$whole/$place"
done
pack "libpprf-$version"
pack "libpprf-$version-amalgamation"
python3 "$whole/packaging/release/sbom.py" "$version" "$whole" "$out"/libpprf-*.tar.gz > "$work/sbom"
mv "$work/sbom" "$out/libpprf-$version.spdx.json"
(cd "$out" && sha256sum libpprf-* > SHA256SUMS && cat SHA256SUMS)
