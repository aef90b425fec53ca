#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Builds the wheel, installs it into a directory of its own, and tests it there; prints TAP.  Needs no network.
# Without the packages it is skipped, with the reason.
# Environment: B, PYTHON; TWINE, a version of twine, which the registry has, to check what is published.
set -u
cd "$(dirname "$0")/../.." || exit 1
B=$(realpath "$B")
need='cffi, setuptools, wheel, pip, pytest'
for python in "${PYTHON:-python3}" /usr/bin/python3; do
  "$python" -c "import $need" 2> /dev/null && break
  python=
done
if [ -z "$python" ]; then
  echo "1..0 # SKIP no Python with $need: DEPS=install tools/deps.sh python"
  exit 0
fi
work=$B/python
rm -rf "$work" bindings/python/build # from an older wheel
mkdir -p "$work"
echo "# $("$python" --version), $("$python" -c 'import cffi; print("cffi", cffi.__version__)')"
[ -n "${TWINE:-}" ] && echo 1..3 || echo 1..2
dist=$work/dist
pip() { timeout 300 "$python" -m pip "$@" >> "$work/log" 2>&1; }
# like pip for a user: from the source distribution, outside the tree, with the registry's setuptools
build() {
  (cd bindings/python && "$python" -c 'import sys; from setuptools import build_meta as b; b.build_sdist(sys.argv[1])' \
    "$dist") > "$work/log" 2>&1 || return 1
  export PIP_CONSTRAINT=$PWD/bindings/python/constraints.txt PIP_BUILD_CONSTRAINT=$PWD/bindings/python/constraints.txt
  if pip download -q --retries 0 --no-deps -d "$work/registry" -r "$PIP_CONSTRAINT"; then
    pip wheel -q --no-deps -w "$dist" "$dist"/pprf-*.tar.gz
  else
    echo "# no registry: built with setuptools $("$python" -c 'import setuptools; print(setuptools.__version__)')"
    pip wheel -q --no-index --no-build-isolation --no-deps -w "$dist" "$dist"/pprf-*.tar.gz
  fi && pip install -q --no-index --no-deps --target "$work/site" "$dist"/pprf-*.whl
}
if build; then
  echo "ok 1 - a wheel is built of the source distribution and installed"
else
  sed 's/^/# /' "$work/log"
  echo "not ok 1 - a wheel is built of the source distribution and installed"
  exit 1
fi
status=0
tree=$PWD # not the tests' directory, which has the package without its extension
# the libraries of pprf.vault and pprf.redact are not in the wheel
(cd "$work" && PPRF_DIST=$dist PPRF_VAULT_LIBRARY=$B/vault/libpprf_vault.so.0 PPRF_REDACT_LIBRARY=$B/redact/libpprf_redact.so \
  LD_LIBRARY_PATH=$B/opt PYTHONPATH=$work/site PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -rs \
  -p no:cacheprovider -c "$tree/bindings/python/pyproject.toml" --rootdir "$tree/bindings/python" \
  "$tree/bindings/python/tests") > "$work/log" 2>&1 || status=1
[ $status = 0 ] || sed 's/^/# /' "$work/log"
grep -E '^SKIPPED|passed|failed' "$work/log" | sed 's/^/# /'
[ $status = 0 ] || printf 'not '
echo "ok 2 - what is published has its files and no others; the tests pass with the installed wheel"
if [ -n "${TWINE:-}" ]; then
  checked() { # outside the tree, whose pprf is no module of twine's
    pip install -q --target "$work/twine" "twine==$TWINE" &&
      (cd "$work" && PYTHONPATH=$work/twine "$python" -m twine check --strict "$dist"/*) > "$work/log" 2>&1
  }
  checked || { sed 's/^/# /' "$work/log"; printf 'not '; status=1; }
  echo "ok 3 - twine $TWINE finds nothing in the wheel and the source distribution"
fi
exit $status
