#!/bin/sh
# Makes the passwords for compose.yaml, once, in the folder `secrets` beside it or in the one that is named.
# Only its owner can enter the folder. The files are readable because containers read them as other users.
set -eu
folder=${1:-$(dirname "$0")/secrets}
mkdir -m 700 "$folder"
cd "$folder"

random() { od -An -N24 -tx1 /dev/urandom | tr -d ' \n'; }
database=$(random)
redis=$(random)
umask 077
echo "$database" >postgres-password
echo "postgres://afield:$database@postgres/afield" >store
echo "redis://afield:$redis@redis:6379/0" >bus
cat >redis-users <<END
user default off
user afield on >$redis ~afield:* &afield:* +publish +subscribe +unsubscribe +set +get +ping +select
END
chmod 444 postgres-password store bus redis-users
