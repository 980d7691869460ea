#!/bin/sh
# Sees that Debian's packages that the tests need are there: install_system.sh COMMAND=PACKAGE…  Installs them when it may, else says what to do.
missing=""
for pair in "$@"; do
  command -v "${pair%%=*}" >/dev/null 2>&1 || missing="$missing ${pair#*=}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
fi
echo "The tests need these, and they are not installed:$missing" >&2
echo "On Debian and Ubuntu: sudo apt-get install$missing" >&2
exit 1
