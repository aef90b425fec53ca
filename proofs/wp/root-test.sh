#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Tests where the C proofs run: other versions of a tool are noticed, an incomplete system is never
# used, a complete one is used again. Prints TAP. It makes no system: mmdebstrap is a stand-in.
set -u
cd "$(dirname "$0")/../.." || exit
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
n=0
ok() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; sed 's/^/# /' "$tmp/out"; failed=1; fi
}
failed=0
mkdir "$tmp/bin"
tool() { printf '#!/bin/sh\n%s\n' "$2" > "$tmp/bin/$1"; chmod +x "$tmp/bin/$1"; }
export PATH="$tmp/bin:$PATH" PYTHONDONTWRITEBYTECODE=1

versions() { python3 proofs/wp/prove.py --versions > "$tmp/out" 2>&1; }
tool frama-c 'echo "25.0-beta (Manganese)"'
tool why3 'echo "Why3 platform, version 1.5.1"'
tool z3 'echo "Z3 version 4.8.12 - 64 bit"'
tool cvc4 'echo "This is CVC4 version 1.8"'
tool cvc5 'echo "This is cvc5 version 1.0.3"'
versions; ok $? "the versions that the proofs need are accepted"
for other in 'frama-c 29.0 (Copper)' 'why3 Why3 platform, version 1.5.10' 'z3 Z3 version 4.13.3 - 64 bit' \
             'cvc4 This is CVC4 version 1.8.1' 'cvc5 This is cvc5 version 1.2.0'; do
  name=${other%% *}
  cp "$tmp/bin/$name" "$tmp/right"
  tool "$name" "echo '${other#* }'"
  ! versions && grep -q "^prove: $name: .*; needed: " "$tmp/out"; ok $? "another $name is not"
  tool "$name" "exit 127"
  ! versions; ok $? "no $name is not"
  cp "$tmp/right" "$tmp/bin/$name"
done

# PROVE_TOOLS. The tools are stand-ins, of another version; no function is called none.
tool z3 'echo "Z3 version 9.9.9 - 64 bit"'
way() { PROVE_TOOLS=$1 proofs/wp/run.sh prove.py --file none --function none > "$tmp/out" 2>&1; }
! way there && grep -q "^prove: PROVE_TOOLS=there: here or debian12$" "$tmp/out"
ok $? "where the proofs run is here or debian12, nothing else"
! way here && grep -q "^prove: z3: Z3 version 9.9.9" "$tmp/out" && ! grep -q "running in Debian 12" "$tmp/out"
ok $? "PROVE_TOOLS=here takes another z3, and says which"
mkdir "$tmp/few"
for name in bash dirname python3; do ln -s "$(command -v $name)" "$tmp/few"; done
for name in frama-c why3 z3 cvc5; do cp "$tmp/bin/$name" "$tmp/few"; done
! PATH="$tmp/few" way here && grep -q "^prove: PROVE_TOOLS=here: cvc4 is missing$" "$tmp/out"
ok $? "and says what is missing"

tool mmdebstrap 'for last; do :; done; echo made >> "$(dirname "$last")/made"; mkdir -p "$last/etc"
  [ ! -e "$(dirname "$last")/fail" ]'
make() { tools/root.sh make "$tmp/room/system" bookworm "$@" > "$tmp/out" 2>&1; }
times() { [ "$(wc -l < "$tmp/room/made")" = "$1" ]; }
mkdir "$tmp/room"
touch "$tmp/room/fail"
if tools/root.sh make "$tmp/room/system" bookworm one 2>&1 | grep -q "needs one of these"; then
  echo "ok $((n += 1)) - tools/root.sh # SKIP no root's rights, no sudo, no user namespaces with ids"
  echo "1..$n"; exit $failed
fi
! make one && times 2; ok $? "a system that could not be completed is made again"
touch "$tmp/room/system/rest"
rm "$tmp/room/fail"
make one && times 3 && [ ! -e "$tmp/room/system/rest" ]; ok $? "from scratch: nothing is left of the incomplete one"
make one && times 3; ok $? "a complete one is used again"
make one two && times 4; ok $? "with other packages it is made again"
tools/root.sh remove "$tmp/room/system" && [ ! -e "$tmp/room/system" ] && [ ! -e "$tmp/room/system.made" ]
ok $? "remove leaves nothing"
echo "1..$n"
exit $failed
