#!/bin/sh
# enter-anywhere.sh ROOT TMP serve [OPTION …]: enters the root with the directory named by --data.
set -e
root=$1 tmp=$2
shift 2
previous='' data=''
for word in "$@"; do
  [ "$previous" != --data ] || data=$word
  previous=$word
done
exec "$(dirname "$0")/enter.sh" "$root" 1000 "$tmp" "$data" /afield "$@"
