#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The libraries as a user meets them: exported symbols, soname, an installed copy found through
# pkg-config, linked both ways and run, and nothing left after uninstall.  TAP on standard output.
set -eu
cd "$(dirname "$0")/.."
B=${B:-build} CC=${CC:-gcc} CXX=${CXX:-g++} MAKE=${MAKE:-make}
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 bad=0
result() { # STATUS NAME
  n=$((n + 1))
  if [ "$1" = 0 ]; then echo "ok $n - $2"; else echo "not ok $n - $2"; bad=1; fi
}
run() { # NAME COMMAND...
  local name=$1 status=0
  shift
  "$@" >"$dir/log" 2>&1 || status=$?
  [ $status = 0 ] || sed 's/^/# /' "$dir/log"
  result $status "$name"
}

grep -v '^typedef' include/pprf.h | grep -o '\bpprf_[a-z_]*(' | tr -d '(' | sort -u >"$dir/declared"
nm -D --defined-only "$B/opt/libpprf.so.0" | awk '$2 == "T" {sub(/@.*/, "", $3); print $3}' |
  sort >"$dir/exported"
nm -D --defined-only "$B/opt/libpprf.so.0" | awk '$2 != "T" && $2 != "A" {print $3}' >"$dir/other"
run the_shared_library_exports_the_functions_of_the_header diff "$dir/declared" "$dir/exported"
run the_shared_library_exports_nothing_else test ! -s "$dir/other"
run the_header_declares_the_whole_interface test "$(wc -l <"$dir/declared")" -ge 19
readelf -d "$B/opt/libpprf.so.0" >"$dir/dynamic"
run the_soname_is_libpprf.so.0 grep -q 'SONAME.*\[libpprf\.so\.0\]' "$dir/dynamic"
nm "$B/opt/libpprf.a" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[A-Z]$/ {print $3}' |
  grep -v -E '^(pprf_|opt_|prg_)' >"$dir/foreign" || true
run the_archive_defines_only_prefixed_names test ! -s "$dir/foreign"

prefix=$dir/root/usr
make_in() { "$MAKE" -s --no-print-directory "$@" PREFIX="$prefix"; }
cat >"$dir/user.c" <<'END'
#include <pprf.h>
#include <stdio.h>
int main(void)
{
  const uint8_t seed[PPRF_SEED_BYTES] = {0};
  uint8_t value[PPRF_SEED_BYTES];
  pprf_key *key;
  if (pprf_setup(&key, 32, seed) != PPRF_OK || pprf_punct(key, 7) != PPRF_OK)
    return 1;
  int err = pprf_eval(key, 7, value);
  printf("%s, %zu nodes\n", pprf_strerror(err), pprf_node_count(key));
  const uint64_t leaf[2] = {8, 7};
  uint8_t values[2 * PPRF_SEED_BYTES];
  int result[2];
  if (pprf_eval_batch(key, leaf, 2, values, result) != PPRF_OK || result[0] != PPRF_OK ||
      result[1] != PPRF_ERR_PUNCTURED || pprf_prg_select(pprf_prg_name()) != PPRF_OK)
    return 1;
  pprf_free(key);
  return err == PPRF_ERR_PUNCTURED ? 0 : 1;
}
END
cp "$dir/user.c" "$dir/user.cc"
run install make_in install-lib
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags=$(pkg-config --cflags --libs pprf 2>&1) || true
static=$(pkg-config --static --cflags --libs pprf 2>&1) || true
run a_c_program_links_the_shared_library $CC -Wall -Werror -o "$dir/shared" "$dir/user.c" $flags
run and_runs env LD_LIBRARY_PATH="$prefix/lib" "$dir/shared"
run a_cxx_program_links_the_shared_library $CXX -Wall -Werror -o "$dir/cxx" "$dir/user.cc" $flags
run and_runs_too env LD_LIBRARY_PATH="$prefix/lib" "$dir/cxx"
run a_c_program_links_the_archive $CC -Wall -Werror -o "$dir/static" "$dir/user.c" \
  -Wl,-Bstatic ${static/-lpprf/-lpprf -Wl,-Bdynamic}
run and_runs_without_the_library_path "$dir/static"
run uninstall make_in uninstall-lib
run uninstall_leaves_no_file test -z "$(find "$prefix" ! -type d)"
echo "1..$n"
exit $bad
