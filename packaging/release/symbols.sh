#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: the shared libraries export exactly the names in packaging/release/*.symbols, no line there
# names a version later than this one, and debian/changelog has this version. A new function needs a
# new line with the version that adds it.
set -u
export LC_ALL=C
cd "$(dirname "$0")/../.." || exit 1
B=${B:-build} n=0 failed=0
version=$(sed -n 's/^#define PPRF_VERSION "\(.*\)"/\1/p' include/pprf.h)
result() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; failed=1; fi
}
for library in opt/libpprf tls/libpprf_tls redact/libpprf_redact vault/libpprf_vault; do
  name=${library##*/}
  difference=$(diff <(grep -v '^#' "packaging/release/$name.symbols" | cut -d' ' -f1) \
    <(nm -D --defined-only "$B/$library.so" | sed -n 's/.* T \([a-z0-9_]*\)@@.*/\1/p' | sort))
  result $? "$name exports what its list says"
  [ -z "$difference" ] || sed 's/^/# /; s/</listed and not exported:/; s/>/exported and not listed:/' <<< "$difference"
  later=$(grep -v '^#' "packaging/release/$name.symbols" | cut -d' ' -f2 | sort -V -u | tail -1)
  status=0
  [ "$(printf '%s\n%s\n' "$later" "$version" | sort -V | tail -1)" = "$version" ] || status=1
  result $status "$name: no line has a later version than $version"
  soname=$(readelf -d "$B/$library.so" | sed -n 's/.*soname: \[\(.*\)\]$/\1/p')
  package=${name//_/-}${soname##*.so.}
  [ "${soname%.so.*}" = "$name" ] && grep -qx "Package: $package" debian/control &&
    grep -q "/$soname" "debian/$package.install" && grep -q "symbols,$name,$package," debian/rules
  result $? "$name: the Debian package $package has $soname"
done
# names that opt and prg define for each other
nm --defined-only "$B"/opt/*.o "$B"/prg/*.o "$B"/prg/common/*.o | sed -n 's/.* [A-Z] //p' | sort -u |
  comm -23 - <(grep -v '^#' packaging/release/libpprf.symbols | cut -d' ' -f1) > "$B/tls/internal"
called=$(cd "$B/tls" && nm -u tickets/*.o openssl/attach.o openssl/clients.o fleet/*.o | sed -n 's/^ *U //p' |
  sort -u | comm -12 - internal)
status=0
[ -s "$B/tls/internal" ] && [ -z "$called" ] || status=1
result $status "libpprf_tls calls only functions that libpprf exports"
[ -z "$called" ] || sed 's/^/# called: /' <<< "$called"
for released in packaging/release/[0-9]*.symbols; do
  since=${released#packaging/release/}
  since=${since%.symbols}
  difference=$(diff <(grep -v '^#' "$released") \
    <(awk -v since="$since" '!/^#/ && NF {split($2, v, "."); split(since, s, ".")
        if (v[1] * 1000000 + v[2] * 1000 + v[3] <= s[1] * 1000000 + s[2] * 1000 + s[3]) print $1}' \
      packaging/release/libpprf*.symbols | sort))
  result $? "the lists give version $since to exactly the names that it exported"
  [ -z "$difference" ] || sed 's/^/# /' <<< "$difference"
done
status=0
[ "$(sed -n '1s/^libpprf (\(.*\)) .*/\1/p' debian/changelog)" = "$version" ] || status=1
result $status "the Debian packages have this version"
echo "1..$n"
exit $failed
