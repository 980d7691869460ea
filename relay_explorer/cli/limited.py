"""Run `relay-explorer` with a limit on its memory: `python -m relay_explorer.cli.limited BYTES …`."""

from __future__ import annotations

import sys

from . import main

GIGABYTE = 1 << 30


def run(limit: int, arguments: list[str]) -> int:
    """Run the command; return its exit status, 1 if the memory is not enough."""
    _limit(limit)
    try:
        return main(arguments)
    except MemoryError:
        text = f"{limit / GIGABYTE:.3g} GB"
    print(f"error: this needs more than {text} of memory: `serve --memory GB` allows more", file=sys.stderr)
    return 1


def _limit(limit: int) -> None:
    """Bound the memory that the process and the compilers that it starts can write to, each on its own.
    Files that are only read do not count. Without effect where the system has no such limit.
    """
    try:
        import resource
    except ImportError:  # Windows
        return
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))


if __name__ == "__main__":
    sys.exit(run(int(sys.argv[1]), sys.argv[2:]))
