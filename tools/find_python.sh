#!/bin/sh
# Prints the path of a Python of one of the given versions that can make a virtual environment, preferring the first: find_python.sh 3.11 3.12
# Tries $PYTHON alone where it is set, else the search path and pyenv's versions. A pyenv shim that leads nowhere fails its trial run.
for version in "$@"; do
  for candidate in ${PYTHON:-"python$version" python3 "${PYENV_ROOT:-$HOME/.pyenv}/versions/$version".*/bin/python}; do
    found=$("$candidate" -c "
import sys, venv, ensurepip
if sys.version_info[:2] == tuple(map(int, '$version'.split('.'))) and sys.prefix == sys.base_prefix:
    print(sys.executable)" 2>/dev/null)
    if [ -n "$found" ]; then echo "$found"; exit 0; fi
  done
done
echo "No Python $* with venv and ensurepip found${PYTHON:+ at $PYTHON}. Install one (Debian: apt-get install python3-venv;" >&2
echo "any version: pyenv install $1), or name it: make PYTHON=/path/to/python …" >&2
exit 1
