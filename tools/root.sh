#!/bin/bash
# SPDX-License-Identifier: Apache-2.0
# A Debian system in a directory, made by mmdebstrap, and commands in it.
#   tools/root.sh make DIR SUITE PACKAGE...   make it, unless DIR is already such a system, complete
#   tools/root.sh copy DIR COPY
#   tools/root.sh run DIR COMMAND...          run a shell command in it, in its /libpprf
#   tools/root.sh remove DIR
# Runs as root if you are root; otherwise in a user namespace if you may map the ids of a whole system
# (package uidmap, /etc/subuid); otherwise through sudo.
# DEBIAN_MIRROR: a mirror other than mmdebstrap's default.
set -eu
me=$(realpath "$0")

# In a namespace of its own, as its root: SCRIPT ARGUMENT...
isolated() {
  if [ "$(id -u)" = 0 ]; then
    if unshare --mount --pid --fork true 2>/dev/null; then
      unshare --mount --pid --fork --kill-child bash -c "$@"
    else # a container without the right to mount: what mmdebstrap made of /dev has to do
      bash -c "$@"
    fi
  elif namespaces; then
    unshare --user --map-root-user --map-auto --mount --pid --fork --kill-child bash -c "$@"
  elif command -v sudo >/dev/null; then
    sudo "$me" "${verb[@]}"
  else
    echo "tools/root.sh: a Debian system in $dir needs one of these: root's rights; sudo; user namespaces" \
      "with ids for $(id -un) in /etc/subuid and /etc/subgid (packages uidmap and passwd)" >&2
    exit 1
  fi
}
namespaces() { unshare --user --map-root-user --map-auto --mount --pid --fork true 2>/dev/null; }

verb=("$@")
[ $# -ge 2 ] || { sed -n '3,10s/^# \?//p' "$me" >&2; exit 1; }
dir=$(realpath -m "$2")
case $1 in
  make)
    wanted="$3 ${*:4} ${DEBIAN_MIRROR:-}"
    if [ "$(cat "$dir.made" 2>/dev/null)" = "$wanted" ]; then exit; fi
    command -v mmdebstrap >/dev/null || {
      echo "tools/root.sh: mmdebstrap is missing: it makes the Debian system in $dir" >&2; exit 1; }
    echo "root: making Debian $3 in $dir, with ${*:4}" >&2
    mkdir -p "$(dirname "$dir")"
    rm -f "$dir.made"
    "$me" remove "$dir"
    # shellcheck disable=SC2016
    isolated 'mmdebstrap --variant=minbase --format=directory --dpkgopt=force-unsafe-io --include="$1" "${@:2}" && mkdir "$3/libpprf"' \
      - "$(IFS=,; echo "${*:4}")" "$3" "$dir" ${DEBIAN_MIRROR:+"$DEBIAN_MIRROR"}
    # the last step, so a system that is half made is never taken for one
    echo "$wanted" > "$dir.made" ;;
  copy) # the same again, in less time
    "$me" remove "$3"
    isolated 'cp -a "$1" "$2"' - "$dir" "$3"
    cp "$dir.made" "$(realpath -m "$3").made" ;;
  run) # the shell stays to the end: as process 1 it has to reap what daemons leave
    # shellcheck disable=SC2016
    isolated 'set -e; dir=$1
      mount --bind "$dir" "$dir" 2>/dev/null || true # its / is a mount, as that of a system is
      mount -t proc proc "$dir/proc" 2>/dev/null || mount --rbind /proc "$dir/proc" 2>/dev/null || true
      for d in dev sys; do mount --rbind "/$d" "$dir/$d" 2>/dev/null || true; done
      cp -L /etc/resolv.conf "$dir/etc/resolv.conf" 2>/dev/null || true
      exec chroot "$dir" /usr/bin/env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" bash -c "cd /libpprf && $2
exit \$?"' - "$dir" "${*:3}" ;;
  remove)
    rm -f "$dir.made"
    [ ! -e "$dir" ] || isolated 'rm -rf --one-file-system "$1"' - "$dir" ;;
  *) echo "tools/root.sh: no command '$1'" >&2; exit 1 ;;
esac
