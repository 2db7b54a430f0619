#!/bin/sh
# boot.sh ROOT
# Boots the systemd of a root in namespaces of its own. It ends when this process is killed.
set -e
if [ -z "$AFIELD_ENTERED" ]; then
  AFIELD_ENTERED=1 exec unshare --mount --propagation private --pid --fork --kill-child --uts --ipc --net --cgroup "$0" "$@"
fi
unset AFIELD_ENTERED
root=$1
mount --bind "$root" "$root"
mount -t proc proc "$root/proc"
mount -t sysfs -o ro sysfs "$root/sys"
for directory in run tmp dev; do mount -t tmpfs -o mode=755 tmpfs "$root/$directory"; done
chmod 1777 "$root/tmp"
for device in null zero full random urandom tty; do
  touch "$root/dev/$device"
  mount --bind "/dev/$device" "$root/dev/$device"
done
mkdir "$root/dev/pts" "$root/dev/shm"
mount -t devpts -o newinstance,ptmxmode=0666 devpts "$root/dev/pts"
ln -s pts/ptmx "$root/dev/ptmx"
mount -t tmpfs tmpfs "$root/dev/shm"
ln -s /proc/self/fd "$root/dev/fd"
mount -t tmpfs -o mode=755 tmpfs "$root/sys/fs/cgroup" 2>/dev/null || true
mount -t cgroup2 cgroup2 "$root/sys/fs/cgroup"
ip link set lo up 2>/dev/null || true
mkdir -p "$root/old"
cd "$root"
pivot_root . old
umount -l /old
exec env -i container=afield /lib/systemd/systemd --system --log-target=null --show-status=no </dev/null >/dev/null 2>&1
