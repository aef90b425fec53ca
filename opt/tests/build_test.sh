#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# The products as others build them: in a folder with a space in its name, with link-time
# optimization, and in two places with the same bytes; and the program that tests them in a clean
# Debian reports failures. TAP on standard output.
set -eu
cd "$(dirname "$0")/../.."
MAKE=${MAKE:-make} CC=${CC:-gcc}
unset MAKEFLAGS MFLAGS MAKELEVEL WERROR # as a user builds: warnings are warnings
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
n=0 bad=0
run() { # NAME COMMAND...
  local name=$1 status=0
  shift
  "$@" >"$dir/log" 2>&1 || status=$?
  [ $status = 0 ] || tail -15 "$dir/log" | sed 's/^/# /'
  n=$((n + 1))
  if [ $status = 0 ]; then echo "ok $n - $name"; else echo "not ok $n - $name"; bad=1; fi
}
checkout() { # the sources alone
  mkdir -p "$1"
  tar -c --exclude=./build --exclude=./.git . | tar -x -C "$1"
}
make_in() { # FOLDER ARGUMENT...
  local folder=$1
  shift
  "$MAKE" -s --no-print-directory -C "$folder" DEPS=skip CC="$CC" "$@"
}
products=(build/opt/libpprf.so.0 build/opt/libpprf.a build/ref/libpprf_ref.a build/tls/libpprf_tls.so.0
  build/tls/libpprf_tls.a build/pprf build/vault/libpprf_vault.so.0 build/vault/libpprf_vault.a build/pprf-vault)

# ---- a path with a space and an apostrophe
space="$dir/it's a b"
checkout "$space"
run make_in_a_path_with_a_space_and_an_apostrophe make_in "$space" products
run its_quick_tests_compile make_in "$space" build/ref/smoke build/opt/bitwords_test
run and_pass "$space/build/ref/smoke"
run and_pass_too "$space/build/opt/bitwords_test"
private() { # COMMAND...: of a user whose files are nobody else's
  (umask 077 && "$@")
}
run make_install_to_a_path_with_a_space private make_in "$space" install install-valkey DESTDIR="$space/to d" PREFIX=/usr
cp "$dir/log" "$dir/installed"
run others_can_read_it test -z "$(find "$space/to d/usr" ! -type l ! -perm -044)"
run all_of_it_is_there test -s "$space/to d/usr/bin/pprf" -a -s "$space/to d/usr/lib/libpprf.so" -a \
  -s "$space/to d/usr/lib/libpprf_tls_preload.so" -a -s "$space/to d/usr/share/man/man3/pprf.3" -a \
  -s "$space/to d/usr/share/man/man1/pprf.1" -a -s "$space/to d/usr/lib/pkgconfig/pprf_tls.pc" -a \
  -s "$space/to d/usr/lib/pprf/pprf.so"
man="$space/to d/usr/share/man/man3"
for part in tls redact vault; do
  run "man_finds_each_function_of_pprf_$part" test -s "$man/pprf_$part.3" -a "$(grep -lx ".so man3/pprf_$part.3" "$man"/* |
    sed 's/.*\///; s/\.3$//' | sort)" = "$(grep -o '^pprf_[a-z_]*' "packaging/release/libpprf_$part.symbols" | sort)"
done
linted() { # PAGE...
  command -v mandoc && ! mandoc -T lint -W warning "$@" | grep -v 'missing date'
}
run their_pages_are_well_formed linted "$man"/pprf_{redact,vault}.3
run install_says_what_ldconfig_would_do grep -q ldconfig "$dir/installed"
refused() { # COMMAND...
  ! "$@"
}
run a_prefix_that_pkg_config_cannot_name_is_refused refused make_in "$space" install DESTDIR="$dir" PREFIX="/a b"
run make_uninstall make_in "$space" uninstall DESTDIR="$space/to d" PREFIX=/usr
run it_leaves_no_file test -z "$(find "$space/to d/usr" ! -type d)"

# ---- the same bytes elsewhere
other=$dir/elsewhere/deeper
checkout "$other"
run make_elsewhere make_in "$other" "${products[@]}"
for p in "${products[@]}"; do
  run "${p##*/}_does_not_depend_on_the_path" cmp "$space/$p" "$other/$p"
done

# ---- other flags, another list of sources: what they affect is rebuilt
cp "$other/build/opt/libpprf.a" "$dir/before.a"
run make_with_other_flags make_in "$other" CFLAGS=-O0 build/opt/libpprf.a
run they_are_in_the_archive test -n "$(cmp "$dir/before.a" "$other/build/opt/libpprf.a" 2>&1)"
run make_as_before make_in "$other" build/opt/libpprf.a
run the_archive_is_as_it_was cmp "$dir/before.a" "$other/build/opt/libpprf.a"
run make_without_batch make_in "$other" OPT_SRC="$(sed -n 's|^OPT_SRC := \(.*\)|\1|p' Makefile | sed 's| opt/batch.c||')" \
  build/opt/libpprf_opt.a
run its_object_is_gone test -z "$(nm "$other/build/opt/libpprf_opt.a" 2>&1 | grep ' T pprf_eval_batch')"
run make_with_warnings_as_errors make_in "$other" build/opt/libpprf.a
touch "$dir/now"
run again make_in "$other" WERROR=-Werror build/opt/libpprf.a
run without_warnings make_in "$other" WARN=-w build/opt/libpprf.a
run nothing_is_made_again test ! "$other/build/opt/core.o" -nt "$dir/now"

# ---- link-time optimization
rm -rf "$other/build"
lto=(CFLAGS=-flto LDFLAGS=-flto)
run make_with_lto make_in "$other" "${lto[@]}" "${products[@]}" build/ref/smoke \
  build/equivalence-tests/{api,vectors}
for t in ref/smoke equivalence-tests/api equivalence-tests/vectors; do
  run "${t##*/}_passes_with_lto" env -C "$other" "build/$t"
done
run the_archive_is_machine_code_with_lto test -n "$(nm "$other/build/opt/libpprf.a" | grep ' T pprf_setup')"
run its_names_are_local_too test -z "$(nm -g "$other/build/opt/libpprf.a" |
  awk 'NF == 3 && $2 ~ /^[A-Z]$/ && $3 !~ /^pprf_/')"

# ---- make test-root reports a failing target, even if its output goes through a pipe
clean="$dir/clean"
mkdir -p "$clean/tools"
cp tools/test-root.sh "$clean/tools"
cat >"$clean/tools/root.sh" <<'END'
#!/bin/bash
# In place of a Debian: accepts the sources, and of the make targets only "bad" fails.
[ "$1" = run ] || exit 0
case $3 in tar*) cat >/dev/null ;; "make bad") echo bad; exit 3 ;; make*) echo good ;; esac
END
chmod +x "$clean/tools/root.sh"
git -C "$clean" init -q
git -C "$clean" -c user.name=test -c user.email=test commit -q --allow-empty -m test
run test_root_passes_what_passes "$clean/tools/test-root.sh" trixie good
run test_root_fails_for_one_target bash -c '! "$1" trixie bad good' - "$clean/tools/test-root.sh"
run it_says_which grep -q '^FAILED make bad' "$clean/build/root/trixie.txt"
run and_which_passed grep -q '^passed make good' "$clean/build/root/trixie.txt"
echo "1..$n"
exit $bad
