"""A process that writes an entry of the cache and is killed at a given step of it.

`python -m tests.lower.cache_writer STEP` ends with SIGKILL before its STEP-th operation on a file, or prints
how many operations there were.
"""

from __future__ import annotations

import os
import signal
import sys

from relay_explorer.lower.cache import store

NAME, LIBRARY, OBJECT = "ab" + "0" * 38, b"library" * 100_000, b"object" * 1000
ENTRY = {"sizes": [1, 2]}
OPERATIONS = ("open", "os.mkdir", "os.rename", "os.remove", "os.chmod", "os.truncate", "tempfile.mkstemp")


def main(step: int) -> None:
    store.folder()
    done = 0

    def count(event: str, args: tuple[object, ...]) -> None:
        nonlocal done
        if event in OPERATIONS:
            done += 1
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    store.put(NAME, LIBRARY, ".so", ENTRY, OBJECT)
    print(done)


if __name__ == "__main__":
    main(int(sys.argv[1]))
