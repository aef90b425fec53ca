#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The libraries as a user gets them: exported symbols, soname, an installed copy found through
# pkg-config, linked both ways and run, and nothing left after uninstall. TAP on standard output.
set -eu
cd "$(dirname "$0")/../.."
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

cat include/pprf.h include/pprf_shared.h | grep -v '^typedef' | grep -o '\bpprf_[a-z0-9_]*(' | tr -d '(' | sort -u >"$dir/declared"
nm -D --defined-only "$B/opt/libpprf.so.0" | awk '$2 == "T" {sub(/@.*/, "", $3); print $3}' |
  sort >"$dir/exported"
nm -D --defined-only "$B/opt/libpprf.so.0" | awk '$2 != "T" && $2 != "A" {print $3}' >"$dir/other"
run the_shared_library_exports_the_functions_of_the_headers diff "$dir/declared" "$dir/exported"
run the_shared_library_exports_nothing_else test ! -s "$dir/other"
run the_header_declares_the_whole_interface test "$(wc -l <"$dir/declared")" -ge 19
readelf -d "$B/opt/libpprf.so.0" >"$dir/dynamic"
run the_soname_is_libpprf.so.0 grep -q 'SONAME.*\[libpprf\.so\.0\]' "$dir/dynamic"
readelf -d "$B/opt/libpprf.so.0" "$B/pprf" >"$dir/needed"
run the_shared_library_needs_libcrypto_and_the_system_alone \
  test -z "$(awk '/NEEDED/ {print $5}' "$dir/dynamic" | grep -v -E '^\[(libcrypto|libc|ld-linux)[-.]')"
run control_the_program_needs_jansson grep -q 'NEEDED.*libjansson' "$dir/needed"
# names that are not static in an archive and not those of its header
foreign() { # ARCHIVE PREFIX
  nm -g "$B/$1" | awk 'NF == 3 && $2 ~ /^[A-Z]$/ {print $3}' | grep -v -E "^($2)" || true
}
run libpprf.a_defines_no_names_but_pprf_ test -z "$(foreign opt/libpprf.a pprf_)"
run libpprf_ref.a_defines_no_names_but_pprf_ test -z "$(foreign ref/libpprf_ref.a pprf_)"
run libpprf_tls.a_defines_no_names_but_its_own \
  test -z "$(foreign tls/libpprf_tls.a 'pprf_tickets_|pprf_tls_')"
run libpprf_redact.a_defines_no_names_but_its_own test -z "$(foreign redact/libpprf_redact.a pprf_redact_)"
run no_two_archives_have_one_name \
  test -z "$("$MAKE" -pn DEPS=skip clean | sed -n 's/^LIBS := //p' | tr ' ' '\n' |
    sed -n 's|.*/\(.*\.a\)$|\1|p' | sort | uniq -d)"

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
# every name that the archives' objects share with each other is also defined by a program
nm "$B"/{opt,opt/slots,opt/packed,opt/packed/{draft,sets},prg}/*.o "$B"/prg/common/{fork,strerror}.o "$B"/tls/{tickets/pool,openssl/attach,tickets/tickets}.o |
  awk 'NF == 3 && $2 ~ /^[TDBRC]$/ {print $3}' | grep -v -E '^(pprf_|main$)' | sort -u >"$dir/inner"
{
  cat "$dir/user.c"
  sed 's/.*/int &(void);\nint &(void) { return 77; }/' "$dir/inner"
} >"$dir/clash.c"
version=$(sed -n 's/^#define PPRF_VERSION "\(.*\)"/\1/p' include/pprf.h)
cat >"$dir/version.c" <<'END'
#include <pprf.h>
#include <stdio.h>
#include <string.h>
int main(void)
{
  char parts[40];
  snprintf(parts, sizeof parts, "%d.%d.%d", PPRF_VERSION_MAJOR, PPRF_VERSION_MINOR, PPRF_VERSION_PATCH);
  printf("%s %s %s\n", PPRF_VERSION, pprf_version(), parts);
  return strcmp(parts, PPRF_VERSION) != 0 || strcmp(pprf_version(), PPRF_VERSION) != 0;
}
END
cat >"$dir/plugin.c" <<'END'
#include <dlfcn.h>
#include <pprf.h>
#include <pthread.h>
static void *in_thread(void *library)
{
  int (*setup)(pprf_key **, unsigned, const uint8_t *);
  void (*give_back)(pprf_key *);
  const uint8_t seed[PPRF_SEED_BYTES] = {0};
  pprf_key *key;
  *(void **)&setup = dlsym(library, "pprf_setup");
  *(void **)&give_back = dlsym(library, "pprf_free");
  if (setup(&key, 8, seed) != PPRF_OK)
    return NULL;
  give_back(key);
  return dlclose(library) == 0 ? library : NULL; /* then this thread ends, and the process */
}
int main(int argc, char **argv)
{
  void *library = dlopen(argv[argc - 1], RTLD_NOW), *done = NULL;
  pthread_t thread;
  return library == NULL || pthread_create(&thread, NULL, in_thread, library) != 0 ||
         pthread_join(thread, &done) != 0 || done == NULL;
}
END
run install make_in install-library install-page
export PKG_CONFIG_PATH=$prefix/lib/pkgconfig
flags=$(pkg-config --cflags --libs pprf 2>&1) || true
static=$(pkg-config --static --cflags --libs pprf 2>&1) || true
run a_c_program_links_the_shared_library $CC -Wall -Werror -o "$dir/shared" "$dir/user.c" $flags
run and_runs env LD_LIBRARY_PATH="$prefix/lib" "$dir/shared"
needed=$(readelf -d "$dir/shared" | awk '/NEEDED/ {print $5}' | grep -v -E '^\[(libpprf|libc)\.' || true)
run and_needs_nothing_else test -z "$needed"
run pkg_config_names_neither_libssl_nor_jansson test -z "$(grep -o -E 'ssl|jansson' <<<"$flags $static" || true)"
run the_header_and_the_library_have_one_version \
  $CC -Wall -Werror -o "$dir/version" "$dir/version.c" $flags
run and_the_macros_agree env LD_LIBRARY_PATH="$prefix/lib" "$dir/version"
run pkg_config_has_it_too test "$(pkg-config --modversion pprf)" = "$version"
run the_program_has_it_too test "$("$B/pprf" --version)" = "pprf $version"
run a_program_that_loads_it_as_a_plugin $CC -Wall -Werror -I"$prefix/include" -o "$dir/plugin" "$dir/plugin.c" -ldl -pthread
run and_unloads_it_ends_well "$dir/plugin" "$prefix/lib/libpprf.so.0"
run a_cxx_program_links_the_shared_library $CXX -Wall -Werror -o "$dir/cxx" "$dir/user.cc" $flags
run and_runs_too env LD_LIBRARY_PATH="$prefix/lib" "$dir/cxx"
run a_c_program_links_the_archive $CC -Wall -Werror -o "$dir/static" "$dir/user.c" \
  -Wl,-Bstatic ${static/-lpprf/-lpprf -Wl,-Bdynamic}
run and_runs_without_the_library_path "$dir/static"
run there_are_names_to_clash_with test "$(wc -l <"$dir/inner")" -ge 30
run a_program_may_have_the_names_that_the_archives_use_within $CC -o "$dir/clash" "$dir/clash.c" \
  -Wl,--whole-archive "$B/opt/libpprf.a" "$B/tls/libpprf_tls.a" -Wl,--no-whole-archive \
  -I"$prefix/include" -lhiredis -lssl -lcrypto -pthread
run and_runs_with_them "$dir/clash"
man=$prefix/share/man/man3
well_formed() { # what mandoc says is wrong, also that it is not installed
  mandoc -T lint -W warning "$man"/pprf{,_shared}.3 > "$dir/lint" 2>&1
  ! grep -v 'missing date' "$dir/lint"
}
run the_manual_pages_are_well_formed well_formed
run man_finds_each_function sh -c "while read -r f; do grep -q '^.so man3/pprf.*\.3$' '$man/'\$f.3 &&
  test -e '$man/..'/\$(cut -d' ' -f2 '$man/'\$f.3) || exit 1; done < '$dir/declared'"
run every_function_is_in_them test -z "$(cat "$man"/pprf{,_shared}.3 | grep -o '^\.SS pprf_.*' | cut -c 5- | sort |
  comm -13 - "$dir/declared")"
# another C library; its headers come first, then OpenSSL's
musl() {
  local f machine
  machine=$($CC -dumpmachine)
  for f in prg/*.c prg/common/{fork,strerror}.c ref/{node,core,codec,pprf,batch}.c \
    opt/{slots/{bitmap,pages,store},core,pprf,batch,shared}.c tls/{tickets/pool,openssl/attach,tickets/tickets}.c; do
    musl-gcc -std=c11 -O2 -c -o "$dir/musl.o" -Wall -Wextra -Werror -D_GNU_SOURCE -D_FILE_OFFSET_BITS=64 -Iinclude \
      -Iprg -Iopt -Itls -idirafter /usr/include -idirafter "/usr/include/${machine/pc-/}" "$f" || return 1
  done
}
if command -v musl-gcc >/dev/null; then run the_libraries_compile_with_musl musl; else
  n=$((n + 1))
  echo "ok $n - the_libraries_compile_with_musl # SKIP musl-gcc is not installed"
fi
run uninstall make_in uninstall-lib
run uninstall_leaves_no_file test -z "$(find "$prefix" ! -type d)"

# `make lib && make install-lib`: needs a compiler and make, no OpenSSL; the installation may be
# moved
prefix=$dir/before/usr
run make_lib make_in lib
run make_install_lib make_in install-lib
mv "$dir/before" "$dir/moved"
export PKG_CONFIG_PATH=$dir/moved/usr/lib/pkgconfig
flags=$(pkg-config --cflags --libs pprf 2>&1) || true
static=$(pkg-config --static --libs pprf 2>&1) || true
readelf -d "$dir/moved/usr/lib/libpprf.so.0" >"$dir/dynamic"
run the_library_without_openssl_needs_the_system_alone \
  test -z "$(awk '/NEEDED/ {print $5}' "$dir/dynamic" | grep -v -E '^\[(libc|ld-linux)[-.]')"
run pkg_config_names_no_libcrypto_then test -z "$(grep crypto <<<"$static" || true)"
run a_program_finds_it_by_pkg_config_where_it_was_moved $CC -Wall -Werror -o "$dir/plain" "$dir/user.c" $flags
run and_runs_there env LD_LIBRARY_PATH="$dir/moved/usr/lib" "$dir/plain"
cat >"$dir/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.10)
project(user C)
find_package(pprf ${WANTED} REQUIRED)
foreach(kind pprf static)
  add_executable(user_${kind} user.c)
  target_link_libraries(user_${kind} pprf::${kind})
endforeach()
END
by_cmake() { # VERSION
  rm -rf "$dir/cmake"
  CC=$CC cmake -S "$dir" -B "$dir/cmake" -DCMAKE_PREFIX_PATH="$dir/moved/usr" -DWANTED="$1" &&
    cmake --build "$dir/cmake" && "$dir/cmake/user_pprf" && "$dir/cmake/user_static"
}
not_by_cmake() { ! by_cmake "$1"; }
if command -v cmake >/dev/null; then
  run a_program_finds_it_by_cmake_shared_and_static by_cmake "$version"
  run cmake_takes_an_earlier_version_of_the_same_soname by_cmake 0.2
  run but_none_of_another_soname not_by_cmake 1.0
  run and_no_later_one not_by_cmake "${version%.*}.99"
  sed -i "s|^get_filename_component.*|set(prefix $dir/before/usr)|" "$dir/moved/usr/lib/cmake/pprf/pprf-config.cmake"
  run control_a_place_that_is_written_down_is_not_found not_by_cmake "$version"
else
  for what in builds versions; do
    n=$((n + 1))
    echo "ok $n - cmake_$what # SKIP cmake is not installed"
  done
fi
prefix=$dir/moved/usr
run its_uninstall make_in uninstall-lib
run leaves_no_file test -z "$(find "$dir/moved" ! -type d)"
echo "1..$n"
exit $bad
