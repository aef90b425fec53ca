#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The user's flags reach every command that compiles or links a product or a test, after ours. Asks
# make for its commands (make -n) and checks each. TAP on standard output.
set -eu
cd "$(dirname "$0")/../.."
MAKE=${MAKE:-make}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 bad=0
result() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}

names="CPPFLAGS CFLAGS CXXFLAGS LDFLAGS LDLIBS"
# shellcheck disable=SC2086
unset MAKEFLAGS MFLAGS MAKELEVEL WERROR CC CXX CLANG $names
user=()
for name in $names; do user+=("$name=-DUSER_$name"); done
dry() { "$MAKE" -n V=1 -B -o build/oracle DEPS=skip CC=usercc CXX=usercxx "$@"; }
all_of() { sed -e ':a' -e '/\\$/N; s/\\\n//; ta' | grep -E '(usercc|usercxx|clang(-fast)?) .* -o ' || true; }
targets=(products test-programs)
dry "${user[@]}" "${targets[@]}" | all_of >"$dir/line"
env "${user[@]}" "$MAKE" -n V=1 -B -o build/oracle DEPS=skip CC=usercc CXX=usercxx "${targets[@]}" |
  all_of >"$dir/environment"
dry "${targets[@]}" | all_of >"$dir/none"

# NAME FLAG PATTERN: some commands match, and all that match have the flag
has() {
  grep -E -- "$3" "$dir/line" >"$dir/those" || true
  grep -v -e "$2" "$dir/those" >"$dir/without" || true
  head -5 "$dir/without" | sed 's/^/# /'
  [ -s "$dir/those" ] && [ ! -s "$dir/without" ]
  result $? "$1"
}
set +e
test "$(wc -l <"$dir/line")" -ge 150
result $? make_runs_more_than_a_hundred_commands
has cppflags_reach_every_c_compilation -DUSER_CPPFLAGS ' -c '
has cflags_reach_all_that_cc_compiles -DUSER_CFLAGS 'usercc .* -c '
has cflags_reach_all_that_cc_links -DUSER_CFLAGS '^ *usercc '
has cxxflags_reach_all_that_cxx_compiles_or_links -DUSER_CXXFLAGS '^ *usercxx '
grep -v -e ' -c ' -e ' -nostdlib -r ' "$dir/line" >"$dir/links" # objects joined for an archive
cp "$dir/links" "$dir/line"
has ldflags_reach_every_link -DUSER_LDFLAGS '.'
has ldlibs_reach_every_link -DUSER_LDLIBS '.'

# ours are still there, before the user's
sed -E 's/ -DUSER_(CPPFLAGS|CFLAGS|CXXFLAGS|LDFLAGS|LDLIBS)//g; s/ +/ /g; s/ $//' "$dir/environment" >"$dir/a"
sed -E 's/ +/ /g; s/ $//' "$dir/none" >"$dir/b"
cmp -s "$dir/a" "$dir/b"
result $? without_the_users_flags_the_commands_are_ours
cmp -s <(dry "${user[@]}" "${targets[@]}" | all_of) "$dir/environment"
result $? the_environment_is_as_good_as_the_command_line
! grep -q -e '-DUSER_CPPFLAGS.*-Iinclude' -e '-DUSER_CFLAGS.*-std=' "$dir/environment"
result $? the_users_flags_come_last
! grep -q -e -Werror "$dir/none"
result $? a_users_make_knows_no_werror
"$MAKE" -n DEPS=skip test 2>/dev/null | grep -q 'WERROR=-Werror products\b'
result $? make_test_takes_warnings_for_errors
echo "1..$n"
exit $bad
