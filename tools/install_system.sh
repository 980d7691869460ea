#!/bin/sh
# Check that programs from Debian's packages are installed: install_system.sh [--optional] COMMAND=PACKAGE…
# Install them if that is allowed, else say which are missing; --optional makes that a remark and no failure.
optional=""
if [ "${1:-}" = --optional ]; then optional=yes; shift; fi
missing=""
for pair in "$@"; do
  command -v "${pair%%=*}" >/dev/null 2>&1 || missing="$missing ${pair#*=}"
done
[ -n "$missing" ] || exit 0
if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
  apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null && exit 0
fi
if [ -n "$optional" ]; then
  echo "Not installed:$missing. Cells of the book that need them will say so instead of showing their output." >&2
else
  echo "The tests need these, and they are not installed:$missing" >&2
fi
echo "On Debian and Ubuntu: sudo apt-get install$missing" >&2
[ -n "$optional" ]
