#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Runs README.md's section "In C" as it is typed: writes its program to example.c and runs its
# commands one after another, in a separate folder with the sources. `tools/test-root.sh` runs this
# in a clean Debian without a compiler; docs/tests/test_docs.py runs it where a compiler is installed:
# then the line that installs it is left out, which is reported.
set -eu
cd "$(dirname "$0")/../.."
block() { # LANGUAGE N: the Nth such block of the section
  awk -v begin="\`\`\`$1" -v n="$2" '/^## / {here = $0 == "## In C"} here && $0 == begin {i++; on = i == n; next}
    /^```$/ {on = 0} on' README.md
}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
block c 1 > "$work/example.c"
block sh 1 > "$work/install.sh"
block sh 2 > "$work/compile.sh"
[ -s "$work/example.c" ] && [ -s "$work/install.sh" ] && [ -s "$work/compile.sh" ]
if command -v cc > /dev/null; then
  echo "first.sh: there is a compiler; not run: $(grep '^apt-get' "$work/install.sh")" >&2
  sed -i '/^apt-get/d' "$work/install.sh"
fi
bash -eux "$work/install.sh" > "$work/log" 2>&1 || { cat "$work/log" >&2; exit 1; }
cd "$work"
bash -eu compile.sh
