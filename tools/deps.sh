#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Installs the Debian packages that a group of make targets needs, and only those that are missing.
# Usage: tools/deps.sh GROUP...   GROUP: build prove prove-wp test fuzz fuzz-afl style python arch bench docs release root
# DEPS=skip forbids any installation: what is missing is then an error that names it.
set -eu
cd "$(dirname "$0")/.."
bookworm() { grep -qs '^VERSION_CODENAME=bookworm$' /etc/os-release; }
if bookworm; then rt=libclang-rt-14-dev valkey=redis-server; else rt=libclang-rt-dev valkey=valkey-server; fi
# The tools of the proofs of C code are Debian 12's: elsewhere these run in such a system (proofs/wp/run.sh).
wp="frama-c-base why3 z3 cvc4 cvc5 gcc libc6-dev binutils util-linux python3"
if [ "${PROVE_TOOLS:-}" = here ] || python3 proofs/wp/prove.py --versions >/dev/null 2>&1; then
  wp=python3
elif ! bookworm; then
  wp="mmdebstrap debian-archive-keyring python3"
  [ "$(id -u)" = 0 ] || wp+=" uidmap"
fi
declare -A packages=(
  [build]="gcc libc6-dev make pkg-config libssl-dev libjansson-dev libhiredis-dev libcbor-dev libsqlite3-dev python3"
  [prove]="coq libcoq-mathcomp-ssreflect libcoq-mathcomp-algebra ocaml-nox ocaml-findlib python3"
  [prove-wp]="$wp"
  [test]="git cmake zsh fish python3 perl openssl g++ e2fsprogs mandoc musl-tools util-linux valgrind gnutls-bin nginx nginx-dev haproxy stunnel4 apache2
          $valkey python3-redis python3-cryptography iproute2 strace mount xfsprogs btrfs-progs exfatprogs exfat-fuse ntfs-3g
          sshfs openssh-sftp-server fuse-overlayfs swtpm tpm2-tools"
  [fuzz]="clang llvm $rt libssl-dev"
  [fuzz-afl]="afl++"
  [style]="clang-format-19 flake8 python3 shellcheck"
  [python]="gcc libc6-dev make python3-dev python3-cffi python3-setuptools python3-wheel python3-pip
            python3-pytest python3-numpy python3-cryptography python3-sqlalchemy python3-argon2 mypy"
  [release]="git abigail-tools"
  [docs]="doxygen furo python3-breathe python3-myst-parser python3-sphinx"
  [root]="mmdebstrap debian-archive-keyring git"
  [arch]="gcc-i686-linux-gnu libc6-dev-i386-cross gcc-aarch64-linux-gnu libc6-dev-arm64-cross
          gcc-s390x-linux-gnu libc6-dev-s390x-cross qemu-user perl"
  [bench]="g++ libabsl-dev libbenchmark-dev libsodium-dev pkg-config python3 python3-cffi python3-cryptography
          python3-jinja2 python3-markdown python3-matplotlib python3-pip valgrind"
)
declare -A why=(
  [build]="to compile the libraries and the command line program"
  [prove]="to check the Coq proofs"
  [prove-wp]="to check the Frama-C proofs"
  [test]="to run the tests"
  [fuzz]="to fuzz the two implementations against each other"
  [fuzz-afl]="to fuzz with AFL++"
  [python]="to build the Python package and test it"
  [docs]="to write the documentation as pages"
  [release]="to compare the libraries with an earlier version's"
  [style]="to check the form of the files"
  [root]="to make a clean Debian and test in it"
  [arch]="to test on other processors"
  [bench]="to measure and to draw the report"
)
[ $# -gt 0 ] || { echo "usage: tools/deps.sh GROUP...  (${!packages[*]})" >&2; exit 1; }
for group in "$@"; do
  [ -n "${packages[$group]:-}" ] || { echo "tools/deps.sh: no group '$group'" >&2; exit 1; }
  missing=()
  for p in ${packages[$group]}; do
    [ "$(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null)" = installed ] || missing+=("$p")
  done
  [ ${#missing[@]} -gt 0 ] || continue
  if [ "${DEPS:-install}" = skip ]; then
    echo "tools/deps.sh: missing ${why[$group]}: ${missing[*]} (DEPS=skip forbids installing them)" >&2
    exit 1
  fi
  sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null || {
      echo "tools/deps.sh: missing ${why[$group]}: ${missing[*]}; not root and there is no sudo" >&2; exit 1; }
    sudo=(sudo)
  fi
  echo "deps: installing ${why[$group]}: ${missing[*]}" >&2
  if [ -z "${updated:-}" ]; then "${sudo[@]}" apt-get update -qq >&2; updated=1; fi
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends "${missing[@]}" >&2
done
