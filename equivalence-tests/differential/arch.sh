#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Other processors: the library, the program and the tickets compiled by Debian's cross compiler for
# one architecture. qemu-user runs the tests; those of i386 run on the processor itself if it and
# the kernel can (qemu-i386 hangs when a process that shares memory forks). TAP, one line per suite.
# Usage: arch.sh ARCH   ARCH: i386 (32 bits), arm64, s390x (big-endian)
# libssl, libjansson and libhiredis of that architecture are unpacked from the archive into
# build/arch/ARCH/root. apt has its own state there, so the machine's packages stay as they are.
set -eu
arch=$1
case $arch in
  i386) cross=i686-linux-gnu triple=i386-linux-gnu qemu=qemu-i386 ;;
  arm64) cross=aarch64-linux-gnu triple=aarch64-linux-gnu qemu=qemu-aarch64 ;;
  s390x) cross=s390x-linux-gnu triple=s390x-linux-gnu qemu=qemu-s390x ;;
  *) echo "arch.sh: no architecture '$arch'" >&2; exit 2 ;;
esac
cd "$(dirname "$0")/../.."
B=build/arch/$arch root=$PWD/build/arch/$arch/root log=$PWD/build/arch/$arch/log
mkdir -p "$log"

# ---- the libraries
packages=(libssl3 libssl-dev libjansson4 libjansson-dev libhiredis0.14 libhiredis-dev)
apt-cache show libssl3t64 >/dev/null 2>&1 && packages[0]=libssl3t64 # Debian 13's names
apt-cache show libhiredis1.1.0 >/dev/null 2>&1 && packages[4]=libhiredis1.1.0
if [ ! -f "$root/done" ]; then
  state=$PWD/$B/apt
  rm -rf "$root" "$state"
  mkdir -p "$root" "$state"/{lists,cache/archives}/partial
  : >"$state/status"
  options=(-o APT::Architecture="$arch" -o APT::Architectures="$arch" -o Dir::State="$state"
    -o Dir::State::lists="$state/lists" -o Dir::State::status="$state/status"
    -o Dir::Cache="$state/cache" -o Acquire::Languages=none)
  [ "$(id -u)" != 0 ] || options+=(-o APT::Sandbox::User=root)
  # a missing index is no error if the packages are there
  apt-get "${options[@]}" -qq update >"$log/apt" 2>&1 || true
  (cd "$state" && apt-get "${options[@]}" -qq download "${packages[@]}" >>"$log/apt" 2>&1) || {
    tail -5 "$log/apt" | sed 's/^/# /'
    echo "Bail out! the packages of $arch are not available"
    exit 1
  }
  for deb in "$state"/*.deb; do dpkg-deb -x "$deb" "$root"; done
  touch "$root/done"
fi
lib=$root/usr/lib/$triple

# ---- the build: as a user with another compiler runs make
loader=$(find "/usr/$cross/lib" -name 'ld-linux*.so.2' -o -name 'ld*.so.1' | head -1)
emulate() {
  if [ $arch = i386 ] && "$loader" --version >/dev/null 2>&1; then "$@"; else
    "$qemu" -L "/usr/$cross" "$@"
  fi
}
# MADV_REMOVE as the kernel does it; qemu's user mode does not
shim=
if [ $arch != i386 ]; then
  "$cross-gcc" -O2 -fPIC -c -o "$B/emulated.o" equivalence-tests/differential/emulated.c
  shim=$PWD/$B/emulated.o
fi
suites=(vectors api hostile prg_choice)
[ $arch != i386 ] || suites+=(random)
[ $arch = s390x ] || suites+=(residue wide_prg)
targets=("$B/opt/libpprf.so" "$B/ref/libpprf_ref.a" "$B/pprf" "$B/pprf-tls-server" "$B/opt/selftest"
  "$B"/tls/test_{pool,tickets,attach} "${suites[@]/#/$B/equivalence-tests/}")
n=0 bad=0
result() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}
status=0
make -s --no-print-directory DEPS=skip B="$B" CC="$cross-gcc" AR="$cross-ar" LD="$cross-ld" \
  OBJCOPY="$cross-objcopy" CPPFLAGS="-I$root/usr/include -I$root/usr/include/$triple" \
  LDFLAGS="$shim -L$lib -Wl,-rpath-link,$lib -Wl,-rpath,$lib:/usr/$cross/lib -Wl,--dynamic-linker=$loader" WERROR=-Werror "${targets[@]}" >"$log/make" 2>&1 || status=1
[ $status = 0 ] || grep -E 'error|Error' "$log/make" | head -20 | sed 's/^/# /'
result $status "${arch}_everything_compiles"
[ $status = 0 ] || { echo "1..$n"; exit 1; }

# ---- whether the C proofs apply to this architecture
status=0
"$cross-gcc" -std=c11 -fsyntax-only proofs/wp/platform.c 2>"$log/platform" || status=1
if [ $arch = i386 ]; then
  grep -q 'static assertion failed: "LP64"' "$log/platform" && status=0
  result $status i386_is_no_platform_of_the_proofs
else
  result $status "${arch}_is_a_platform_of_the_proofs"
fi

# ---- the tests
# An emulated program cannot start another program.
cannot='_in_a_program_that_is_executed(, in [a-z0-9-]+)?$'
if [ $arch = i386 ] && "$loader" --version >/dev/null 2>&1; then cannot='^$'; fi
suite() { # NAME PROGRAM ARGUMENT...
  local name=$1 status=0
  emulate "${@:2}" >"$log/$name" 2>&1 || status=$?
  if [ $status != 0 ] && grep -a '^not ok' "$log/$name" | grep -q -E -e "$cannot" &&
    ! grep -a '^not ok' "$log/$name" | grep -q -v -E -e "$cannot"; then
    sed -i -e '/^not ok/s/$/ # SKIP an emulated program cannot start another/' "$log/$name"
    status=0
  fi
  if [ $status != 0 ] || ! grep -a -q '^1\.\.' "$log/$name"; then
    grep -a -A3 '^not ok' "$log/$name" | head -20 | sed 's/^/# /'
    tail -3 "$log/$name" | sed 's/^/# /'
    status=1
  fi
  result $status "${arch}_${name} ($(grep -a -c '^ok' "$log/$name") tests)"
  if grep -a -q '# SKIP' "$log/$name"; then
    echo "# $arch $name: $(grep -a -c '# SKIP' "$log/$name") skipped:" \
      "$(grep -a -o '# SKIP.*' "$log/$name" | cut -c 8- | sort -u | paste -s -d ';')"
  fi
}
for s in "${suites[@]}"; do suite "$s" "$B/equivalence-tests/$s"; done
if [ $arch != i386 ]; then
  n=$((n + 1))
  echo "ok $n - ${arch}_random # SKIP qemu needs 22 GB for the large keys"
  echo "# $arch random: skipped: qemu needs 22 GB for the large keys"
fi
if [ $arch = s390x ]; then
  n=$((n + 1))
  echo "ok $n - ${arch}_residue # SKIP residues are searched on x86-64, i386 and arm64"
  echo "# $arch residue: skipped: residues are searched on x86-64, i386 and arm64"
fi
suite selftest "$B/opt/selftest" -t words,prg
suite test_pool "$B/tls/test_pool"
suite test_tickets "$B/tls/test_tickets"
suite test_attach "$B/tls/test_attach"

# the program: writes the README's known key here; compared with the one that this machine writes
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
status=0
{
  emulate "$B/pprf" setup --depth 4 --seed 000102030405060708090a0b0c0d0e0f "$dir/key" &&
    emulate "$B/pprf" eval "$dir/key" 6 && emulate "$B/pprf" punct "$dir/key" 6 8..11 &&
    emulate "$B/pprf" eval "$dir/key" 7
} >"$dir/out" 2>&1 || status=1
grep -q '^6 9745943107ca2a8a56b4a5e2e5cb7694$' "$dir/out" || status=1
grep -q '^7 885b6ecb08d09f82a911800200eec873$' "$dir/out" || status=1
build/pprf setup --depth 4 --seed 000102030405060708090a0b0c0d0e0f "$dir/native" &&
  build/pprf punct "$dir/native" 6 8..11 && cmp "$dir/key" "$dir/native" || status=1
[ $status = 0 ] || sed 's/^/# /' "$dir/out"
result $status "${arch}_the_program_writes_the_same_key_file"
echo "1..$n"
exit $bad
