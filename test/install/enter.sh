#!/bin/sh
# enter.sh ROOT USER TMP DATA PROGRAM [ARGUMENT …]
# Runs a program in a root of its own that it cannot write to, as that user and group, with an empty PATH or IN_PATH; only TMP and DATA,
# directories of this system, can be written to, as /tmp and by their own name. It replaces this process, so a signal reaches it.
set -e
if [ -z "$AFIELD_ENTERED" ]; then AFIELD_ENTERED=1 exec unshare --mount --propagation private "$0" "$@"; fi
root=$1 user=$2 tmp=$3 data=$4
shift 4
mkdir -p "$data"
chown "$user:$user" "$tmp" "$data"
mkdir -p "$root/proc" "$root/dev" "$root/tmp"
# It may be in the directory that is hidden by TMP.
case "$data" in /tmp/*) mkdir -p "$tmp/${data#/tmp/}" ;; *) mkdir -p "$root$data" ;; esac
touch "$root/dev/null" "$root/dev/urandom"
mount --bind "$root" "$root"
mount -o remount,bind,ro "$root"
mount -t proc proc "$root/proc"
for device in null urandom; do mount --bind "/dev/$device" "$root/dev/$device"; done
mount --bind "$tmp" "$root/tmp"
[ -z "$TMP_OPTIONS" ] || mount -o "remount,bind,$TMP_OPTIONS" "$root/tmp"
mount --bind "$data" "$root$data"
exec env -i PATH="$IN_PATH" HOME="${IN_HOME:-/home}" $IN_ENV /usr/sbin/chroot --userspec="$user:$user" "$root" "$@"
