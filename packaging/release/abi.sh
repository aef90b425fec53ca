#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Compares the libraries' binary interface with that of an earlier commit: abidiff on both, built
# alike. Exit 1 if anything changed except that functions were added; then someone must judge what
# the change means for programs.
# Usage: abi.sh COMMIT      the first baseline is the commit of version 0.2.0
set -eu
cd "$(dirname "$0")/../.."
commit=$(git rev-parse --verify "$1^{commit}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset MAKEFLAGS MFLAGS MAKELEVEL
export DEPS=skip
libraries=(build/opt/libpprf.so build/tls/libpprf_tls.so)
git archive "$commit" | tar --extract --directory "$work"
make -s -C "$work" "${libraries[@]}" >&2
make -s "${libraries[@]}" >&2
bad=0
for library in "${libraries[@]}"; do
  status=0
  abidiff --no-added-syms --hd1 "$work/include" --hd1 "$work/tls" --hd2 include --hd2 tls "$work/$library.0" "$library.0" || status=$?
  if [ $status != 0 ]; then
    echo "${library##*/}: the interface differs from that of $commit" >&2
    bad=1
  else
    echo "${library##*/}: the same interface as in $commit"
  fi
done
exit $bad
