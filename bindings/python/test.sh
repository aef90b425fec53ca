#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# TAP: the wheel is built, installed into a directory of its own, and tested there.  Needs no network: without
# the packages it is skipped, with the reason.
# Environment: B, PYTHON.
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
rm -rf "$work" bindings/python/build # of an older wheel
mkdir -p "$work"
echo "# $("$python" --version), $("$python" -c 'import cffi; print("cffi", cffi.__version__)')"
echo 1..3
if "$python" -m pip wheel -q --no-index --no-build-isolation --no-deps -w "$work" ./bindings/python > "$work/log" 2>&1 &&
    "$python" -m pip install -q --no-index --no-deps --target "$work/site" "$work"/pprf-*.whl >> "$work/log" 2>&1; then
  echo "ok 1 - a wheel is built and installed"
else
  sed 's/^/# /' "$work/log"
  echo "not ok 1 - a wheel is built and installed"
  exit 1
fi
names=$("$python" -m zipfile -l "$work"/pprf-*.whl | cut -d" " -f1)
if [[ $(echo "$work"/pprf-*.whl) == *-cp39-abi3-* ]] && grep -q 'dist-info/.*LICENSE$' <<< "$names" &&
    ! grep -E '\.[ch]$|_build' <<< "$names" && ! readelf -S "$work"/site/pprf/*.so | grep -q '\.debug_info'; then
  echo "ok 2 - the wheel is for every Python from 3.9 on, has the licence, no sources and no symbols"
else
  sed 's/^/# /' <<< "$names"
  echo "not ok 2 - the wheel is for every Python from 3.9 on, has the licence, no sources and no symbols"
  exit 1
fi
status=0
tree=$PWD # not the directory of the tests, which has the package without its extension
(cd "$work" && PYTHONPATH=$work/site PYTHONDONTWRITEBYTECODE=1 exec "$python" -m pytest -q -rs -p no:cacheprovider \
  -c "$tree/bindings/python/pyproject.toml" --rootdir "$tree/bindings/python" "$tree/bindings/python/tests") > "$work/log" 2>&1 || status=1
[ $status = 0 ] || sed 's/^/# /' "$work/log"
grep -E '^SKIPPED|passed|failed' "$work/log" | sed 's/^/# /'
[ $status = 0 ] || printf 'not '
echo "ok 3 - the tests pass with the installed wheel"
exit $status
