#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# Ten ways to install and use the library, each from nothing to a working example in its own clean
# Debian: the commands that a user types, with the release's files. Debian 12; for Rust and Go 13,
# since their versions in Debian 12 are too old. The report takes too long for this: `make
# test-roots` makes it (bench-quick).
# Usage: ways.sh [WAY...]   WAY: source, cmake, program, debian, c, python, rust, go, nginx, valkey
# Prints TAP, with the seconds that each way took; its output is in build/ways/WAY.txt.
set -u
cd "$(dirname "$0")/../.." || exit 1
version=$(sed -n 's/^#define PPRF_VERSION "\(.*\)"/\1/p' include/pprf.h)
[ $# -gt 0 ] || set -- source cmake program debian c python rust go nginx valkey
out=build/ways
mkdir -p $out build/root
exec 9> build/root/ways.lock
flock -n 9 || { echo "ways: another one is running" >&2; exit 1; }

install='DEBIAN_FRONTEND=noninteractive apt-get -qq --yes --no-install-recommends install'
whole="tar xf libpprf-$version.tar.gz && cd libpprf-$version"
# shellcheck disable=SC2016  # for the shell in the root
readme='awk "/^\`\`\`c\$/ {on = 1; next} /^\`\`\`\$/ {on = 0} on" README.md > example.c'
c_wanted='20 seeds left'

# suite; the commands; the expected last line of the example's output
declare -A suite=([rust]=trixie [go]=trixie)
declare -A typed wanted
typed[source]="$install make
$whole
docs/tests/first.sh"
wanted[source]=$c_wanted
typed[cmake]="$install gcc libc6-dev make cmake
$whole; $readme
make lib && make install-lib
mkdir example; mv example.c example; cd example
cat > CMakeLists.txt << 'END'
cmake_minimum_required(VERSION 3.13)
project(example C)
find_package(pprf REQUIRED)
add_executable(example example.c)
target_link_libraries(example pprf::pprf)
END
cmake -B build && cmake --build build
ldconfig
build/example"
wanted[cmake]=$c_wanted
typed[program]="$install make
$whole
make && make install
pprf setup --depth 4 --seed 000102030405060708090a0b0c0d0e0f key
pprf punct key 6 8..11
pprf eval key 7"
wanted[program]='7 885b6ecb08d09f82a911800200eec873'
typed[valkey]="$install make redis-server
$whole
make && make install-valkey
printf 'loadmodule /usr/local/lib/pprf/pprf.so\\nmaxmemory-policy noeviction\\n' > redis.conf
redis-server redis.conf --daemonize yes
sleep 2
redis-cli PPRF.CREATE tree 4
redis-cli PPRF.INFO tree | tail -n +3 | head -6 | paste -sd ' '
redis-cli shutdown nosave"
wanted[valkey]='live 1 depth 4 leaves 16'
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
  local name=$1 root=build/root/way-$1 start
  tools/root.sh make "build/root/base-${suite[$name]:-bookworm}" "${suite[$name]:-bookworm}" ca-certificates &&
    tools/root.sh copy "build/root/base-${suite[$name]:-bookworm}" "$root" || return 1
  # the release's files, and certificates that this machine's administrator has added
  tar --create -C build/dist . | tools/root.sh run "$root" 'tar --extract --no-same-owner' || return 1
  case $name in
    debian | nginx)
      tar --create -C build/deb/bookworm . | tools/root.sh run "$root" 'tar --extract --no-same-owner' || return 1
      ;;
  esac
  if ls /usr/local/share/ca-certificates/*.crt > /dev/null 2>&1; then
    tar --create -C /usr/local/share/ca-certificates . | tools/root.sh run "$root" \
      'tar --extract -C /usr/local/share/ca-certificates && update-ca-certificates > /dev/null' || return 1
  fi
  start=$SECONDS
  tools/root.sh run "$root" "apt-get -qq update && export PIP_CERT=/etc/ssl/certs/ca-certificates.crt && set -ex
${typed[$name]}" > "$out/$name.txt" 2>&1 || return 1
  echo $((SECONDS - start)) > "$out/$name.seconds"
  tools/root.sh remove "$root"
  grep -v '^+ ' "$out/$name.txt" | tail -1 | grep -Fx "${wanted[$name]}"
}

packaging/release/dist.sh build/dist "$version" > /dev/null || exit 1
for name; do
  case $name in
    debian | nginx) packages bookworm > "$out/deb.log" 2>&1 || { tail -20 "$out/deb.log"; exit 1; } ;;
  esac
done
echo "1..$#"
n=0 failed=0
for name; do
  n=$((n + 1))
  if said=$(way "$name"); then
    sed -n 's/^\(+ .*\)/# \1/p' "$out/$name.txt"
    echo "# $said, after $(cat "$out/$name.seconds") s"
    echo "ok $n - $name, in a clean ${suite[$name]:-bookworm}"
  else
    tail -30 "$out/$name.txt" | sed 's/^/# /'
    echo "not ok $n - $name, in a clean ${suite[$name]:-bookworm}"
    failed=1
  fi
done
exit $failed
