#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs a program of this folder where its tools have the versions that the proofs need: here if they
# do, otherwise on a copy of the tree in a Debian 12 (build/debian12, made the first time; `make
# clean` removes it). What the program writes there is copied back.
# PROVE_TOOLS=here: with the tools of this system, whatever their versions; none may be missing.
# PROVE_TOOLS=debian12: in that Debian 12 even if the versions here are right.
# Usage: run.sh prove.py ARGUMENT...
set -eu
cd "$(dirname "$0")/../.."
export PYTHONDONTWRITEBYTECODE=1
case ${PROVE_TOOLS:-} in
  "" | here | debian12) ;;
  *) echo "prove: PROVE_TOOLS=$PROVE_TOOLS: here or debian12" >&2; exit 1 ;;
esac
if [ "${PROVE_TOOLS:-}" = here ]; then
  for tool in frama-c why3 z3 cvc4 cvc5; do
    command -v $tool >/dev/null || { echo "prove: PROVE_TOOLS=here: $tool is missing" >&2; exit 1; }
  done
  exec python3 "proofs/wp/$1" "${@:2}"
fi
if [ "${PROVE_TOOLS:-}" != debian12 ] && python3 proofs/wp/prove.py --versions >/dev/null; then
  exec python3 "proofs/wp/$1" "${@:2}"
fi
root=build/debian12
echo "prove: the tools here have other versions than the proofs need; running in Debian 12 ($root)" >&2
python3 proofs/wp/prove.py --versions | sed 's/^prove:/  here:/' >&2 || true
mkdir -p build
exec 9> $root.lock
flock 9
tools/root.sh make $root bookworm gcc make libc6-dev libssl-dev binutils util-linux python3 frama-c-base why3 z3 cvc4 cvc5
tar --create --exclude=./build --exclude=./.git . | tools/root.sh run $root '
  find . -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
  tar --extract --no-same-owner && touch .copied && mkdir -p build/wp build/prove'
status=0
tools/root.sh run $root "PYTHONDONTWRITEBYTECODE=1 python3 proofs/wp/$(printf '%q ' "$@")" || status=$?
tools/root.sh run $root 'find . -path ./build -prune -o -type f -newer .copied -print0 &&
  find build/prove -type f -newer .copied -print0' > $root.changed
tools/root.sh run $root 'tar --create --null --files-from=-' < $root.changed |
  tar --extract --no-same-owner
exit $status
