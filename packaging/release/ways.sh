#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Six ways to the library, each from nothing to a working example, in a clean Debian of its own: what a user types,
# with the release's files.  Debian 12; 13 for Rust and Go, whose Debian 12 versions are too old.
# Usage: ways.sh [WAY...]   WAY: debian, c, python, rust, go, nginx
# Prints TAP; the output of each way is in build/ways/WAY.txt.
set -u
cd "$(dirname "$0")/../.." || exit 1
version=$(sed -n 's/^#define PPRF_VERSION "\(.*\)"/\1/p' include/pprf.h)
[ $# -gt 0 ] || set -- debian c python rust go nginx
out=build/ways
mkdir -p $out build/root
exec 9> build/root/ways.lock
flock -n 9 || { echo "ways: another one runs" >&2; exit 1; }

install='DEBIAN_FRONTEND=noninteractive apt-get -qq --yes --no-install-recommends install'
whole="tar xf libpprf-$version.tar.gz && cd libpprf-$version"
# shellcheck disable=SC2016  # for the shell in the root
readme='awk "/^\`\`\`c\$/ {on = 1; next} /^\`\`\`\$/ {on = 0} on" README.md > example.c'
c_wanted='20 seeds left'

# suite, what is typed, what the example's last line has to be
declare -A suite=([debian]=bookworm [c]=bookworm [python]=bookworm [rust]=trixie [go]=trixie [nginx]=bookworm)
declare -A typed wanted
typed[debian]="$install ./libpprf0_*.deb ./libpprf-dev_*.deb gcc libc6-dev pkg-config
$whole; $readme
cc example.c \$(pkg-config --cflags --libs pprf) -o example
./example"
wanted[debian]=$c_wanted
typed[c]="$install gcc libc6-dev
tar xf libpprf-$version-amalgamation.tar.gz; cd libpprf-$version-amalgamation
cc -DPPRF_NO_OPENSSL example.c pprf.c -pthread
./a.out"
wanted[c]=$c_wanted
typed[python]="$install python3-venv python3-dev gcc libc6-dev make
$whole
python3 -m venv /venv
/venv/bin/pip install -q ./bindings/python
cat > example.py << 'END'
import pprf
with pprf.Key(depth=20) as key:
    value = key.eval_puncture(42)
    try:
        key.eval(42)
    except pprf.PuncturedError as error:
        print(len(value), 'bytes, then', error)
END
/venv/bin/python example.py"
wanted[python]='16 bytes, then leaf 42 was punctured before'
typed[rust]="$install cargo gcc libc6-dev
$whole
cargo new -q example; cd example
echo 'pprf = { path = \"../bindings/rust/pprf\" }' >> Cargo.toml
cat > src/main.rs << 'END'
fn main() -> Result<(), pprf::Error> {
    let mut key = pprf::Key::new(20)?;
    let value = key.eval_puncture(42)?;
    if let Err(why) = key.eval(42) {
        println!(\"{} bytes, then {why}\", value.len());
    }
    Ok(())
}
END
cargo run -q"
wanted[rust]='16 bytes, then leaf 42 is punctured already'
typed[go]="$install golang-go gcc libc6-dev
$whole
mkdir example; cd example
go mod init example
go mod edit -require github.com/libpprf/libpprf/bindings/go@v0.0.0 -replace github.com/libpprf/libpprf/bindings/go=../bindings/go
cat > main.go << 'END'
package main

import (
	\"errors\"
	\"fmt\"
	pprf \"github.com/libpprf/libpprf/bindings/go\"
)

func main() {
	key, err := pprf.New(20, nil)
	if err != nil {
		panic(err)
	}
	value, err := key.EvalPuncture(42)
	if err != nil {
		panic(err)
	}
	_, err = key.Eval(42)
	fmt.Println(len(value), \"bytes, then punctured:\", errors.Is(err, pprf.ErrPunctured))
}
END
go run ."
wanted[go]='16 bytes, then punctured: true'
typed[nginx]="$install ./libnginx-mod-http-pprf-tickets_*.deb nginx openssl
$whole
debian/tests/nginx"
wanted[nginx]='the ticket is used: New rejected'

packages() { # SUITE: of this commit
  [ "$(cat "build/deb/$1/commit" 2> /dev/null)" = "$(git rev-parse HEAD)" ] || packaging/release/deb.sh "$1"
}
way() {
  local name=$1 root=build/root/way-$1
  tools/root.sh make "build/root/base-${suite[$name]}" "${suite[$name]}" ca-certificates &&
    tools/root.sh copy "build/root/base-${suite[$name]}" "$root" || return 1
  # the release's files, and the certificates that this machine's administrator has added
  tar --create -C build/dist . | tools/root.sh run "$root" 'tar --extract --no-same-owner' || return 1
  case $name in
    debian | nginx)
      tar --create -C "build/deb/${suite[$name]}" . | tools/root.sh run "$root" 'tar --extract --no-same-owner' || return 1
      ;;
  esac
  if ls /usr/local/share/ca-certificates/*.crt > /dev/null 2>&1; then
    tar --create -C /usr/local/share/ca-certificates . | tools/root.sh run "$root" \
      'tar --extract -C /usr/local/share/ca-certificates && update-ca-certificates > /dev/null' || return 1
  fi
  tools/root.sh run "$root" "apt-get -qq update && export PIP_CERT=/etc/ssl/certs/ca-certificates.crt && set -ex
${typed[$name]}" > "$out/$name.txt" 2>&1 || return 1
  tools/root.sh remove "$root"
  grep -v '^+ ' "$out/$name.txt" | tail -1 | grep -Fx "${wanted[$name]}"
}

packaging/release/dist.sh build/dist "$version" > /dev/null || exit 1
for name; do
  case $name in
    debian | nginx) packages "${suite[$name]}" > "$out/deb.log" 2>&1 || { tail -20 "$out/deb.log"; exit 1; } ;;
  esac
done
echo "1..$#"
n=0 failed=0
for name; do
  n=$((n + 1))
  if said=$(way "$name"); then
    sed -n 's/^\(+ .*\)/# \1/p' "$out/$name.txt"
    echo "# $said"
    echo "ok $n - $name, in a clean ${suite[$name]}"
  else
    tail -30 "$out/$name.txt" | sed 's/^/# /'
    echo "not ok $n - $name, in a clean ${suite[$name]}"
    failed=1
  fi
done
exit $failed
