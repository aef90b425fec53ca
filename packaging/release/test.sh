#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: anyone who makes the release's files gets the same bytes; unpacked elsewhere, without git,
# they compile, pass quick tests, and serve a program once installed.
# Usage: test.sh OUT VERSION
set -u
out=$(realpath "$1") version=$2
cd "$(dirname "$0")/../.." || exit 1
tree=$PWD
unset MAKEFLAGS MFLAGS MAKELEVEL
export DEPS=skip
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
n=0 failed=0
run() { # NAME COMMAND...
  local name=$1 status=0
  shift
  "$@" > "$work/log" 2>&1 || status=$?
  n=$((n + 1))
  if [ $status = 0 ]; then echo "ok $n - $name"; else
    tail -15 "$work/log" | sed 's/^/# /'
    echo "not ok $n - $name"
    failed=1
  fi
}
elsewhere() { # the same commit with another place, umask, time zone, language and clock
  git clone -q "file://$tree" "$work/clone" || return 1
  (umask 077; TZ=Asia/Tokyo LANG=C.UTF-8 "$work/clone/packaging/release/dist.sh" "$work/again" "$version") &&
    cmp "$out/SHA256SUMS" "$work/again/SHA256SUMS"
}
run the_same_bytes_elsewhere elsewhere
run checksums_hold env -C "$out" sha256sum --quiet -c SHA256SUMS
# every tarball with its checksum and every crate of the lock file, in a document whose references
# resolve
materials() {
  python3 - "$out" "$version" "$tree" << 'END'
import hashlib, json, re, sys, tomllib
out, version, tree = sys.argv[1:]
with open(f"{out}/libpprf-{version}.spdx.json") as file:
    sbom = json.load(file)
packages = {p["SPDXID"]: p for p in sbom["packages"]}
digests = {p["name"]: p["checksums"][0]["checksumValue"] for p in packages.values() if "checksums" in p}
with open(out + "/SHA256SUMS") as file:
    sums = {name: digest for digest, name in map(str.split, file)}
with open(tree + "/bindings/rust/Cargo.lock", "rb") as file:
    crates = {c["name"] for c in tomllib.load(file)["package"] if "checksum" in c}
assert len(packages) == len(sbom["packages"]) and sbom["spdxVersion"] == "SPDX-2.3"
assert {name: sums[name] for name in sums if name.endswith(".gz")} == {
    name: digest for name, digest in digests.items() if name.endswith(".gz")}, digests
with open(tree + "/valkey/redismodule/redismodule.h", "rb") as file:
    assert digests["redismodule.h"] == hashlib.sha256(file.read()).hexdigest()
assert crates and crates <= digests.keys() and {"openssl", "hiredis", "jansson", "cffi"} <= {
    p["name"] for p in packages.values()}
related = {r["relatedSpdxElement"] for r in sbom["relationships"]}
assert related == packages.keys() and all(re.fullmatch(r"SPDXRef-[A-Za-z0-9.-]+", i) for i in packages)
END
}
run the_bill_of_materials_has_every_file_and_crate materials
changed() {
  cp "$out"/* "$work/changed/" && printf x >> "$work/changed/libpprf-$version.tar.gz" &&
    ! (cd "$work/changed" && sha256sum --quiet -c SHA256SUMS)
}
mkdir "$work/changed"
run a_changed_file_is_noticed changed
for file in libpprf-$version libpprf-$version-amalgamation; do
  run "$file.tar.gz_is_unpacked" tar --extract --gzip -f "$out/$file.tar.gz" -C "$work"
done
root=$work/libpprf-$version
run no_build_directory_and_no_git_in_it sh -c "! ls -d '$root/build' '$root/.git' 2> /dev/null"
run one_file_of_it_is_a_program sh -c "cd '$root-amalgamation' && gcc -DPPRF_NO_OPENSSL example.c pprf.c -pthread &&
  ./a.out | grep -x 'second use: punctured already'"
run bindings_have_the_library_inside cmp "$root/bindings/python/pprf/_c/pprf.c" "$root-amalgamation/pprf.c"
run and_so_does_go cmp "$root/bindings/go/pprf.c" "$root-amalgamation/pprf.c"
run and_rust cmp "$root/bindings/rust/pprf-sys/c/pprf.c" "$root-amalgamation/pprf.c"
run make make -s -j2 -C "$root" products
run quick_tests_are_made make -s -j2 -C "$root" build/equivalence-tests/vectors build/opt/bitwords_test build/ref/smoke
for test in build/equivalence-tests/vectors build/opt/bitwords_test build/ref/smoke; do
  run "${test##*/}_passes" env -C "$root" "$test"
done
run make_install make -s -C "$root" install PREFIX="$work/usr"
awk '/^```c$/ {on = 1; next} /^```$/ {on = 0} on' "$root/README.md" > "$work/example.c"
# shellcheck disable=SC2046  # pkg-config prints words
program() {
  export PKG_CONFIG_PATH=$work/usr/lib/pkgconfig LD_LIBRARY_PATH=$work/usr/lib
  [ "$(pkg-config --modversion pprf)" = "$version" ] &&
    cc "$work/example.c" $(pkg-config --cflags --libs pprf) -o "$work/example" && "$work/example" | grep '20 seeds left' &&
    [ "$("$work/usr/bin/pprf" --version | grep -o '[0-9.]*[0-9]' | head -1)" = "$version" ]
}
run the_readmes_program_runs_with_what_was_installed program
echo "1..$n"
exit $failed
