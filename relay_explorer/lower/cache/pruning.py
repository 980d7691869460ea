"""Limits the size of the kernel cache: the least recently used entries are removed first.

The environment variable RELAY_EXPLORER_CACHE_SIZE sets the limit in megabytes. Entries that were used in the
last hour are never removed, because another process may be about to load them. If a program's kernels were
removed between its build and its first run, it compiles them again.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from ...ir.errors import RelayError

VARIABLE = "RELAY_EXPLORER_CACHE_SIZE"
DEFAULT_MEGABYTES = 2000  # megabytes
RETAINED_FRACTION = 0.9  # of the limit, when the cache exceeded it
RECHECK_FRACTION = 0.05  # of the limit: after so many new bytes the size is checked again
RECENT_SECONDS = 3600  # seconds

_written: dict[Path, int] = {}  # by folder: bytes that this process has written since its last check


class Files(NamedTuple):
    """The files of one cache entry: the time of its last use, its size, and its paths."""

    used: float
    bytes: int
    paths: list[Path]


def limit() -> int:
    """Return the size limit of the cache in bytes. Raise a RelayError if the environment variable is not a
    size.
    """
    setting = os.environ.get(VARIABLE, "").strip()
    try:
        megabytes = float(setting or DEFAULT_MEGABYTES)
        if megabytes >= 0:
            return int(megabytes * 1e6)
    except (ValueError, OverflowError):
        pass
    raise RelayError(
        f"{VARIABLE} is {setting[:40]!r}: it must be the size of the cache in megabytes, "
        f"such as {DEFAULT_MEGABYTES}",
        help=[f"set it to a number, or unset it for the default, {DEFAULT_MEGABYTES}"],
    )


def touch(path: Path) -> None:
    """Mark an entry as used now."""
    with suppress(OSError):  # a shared cache may be read-only
        os.utime(path)


def wrote(folder: Path, size: int) -> None:
    """Record that `size` bytes were written, and prune the cache if it is too large. Its size is checked at
    the first write of a process, and whenever another twentieth of the limit has been written.
    """
    most = limit()
    first = folder not in _written
    _written[folder] = _written.get(folder, 0) + size
    if first or _written[folder] > RECHECK_FRACTION * most:
        _written[folder] = 0
        prune(folder, most)


def prune(folder: Path, most: int, now: float | None = None) -> int:
    """Remove the least recently used entries until the cache is well below `most` bytes, if it is above that.
    Also remove temporary files that killed writers left behind. Return the size of the cache in bytes.
    """
    now = time.time() if now is None else now
    entries = sorted(_entries(folder, now))
    total = sum(files.bytes for files in entries)
    if total <= most:
        return total
    for files in entries:
        if total <= RETAINED_FRACTION * most or now - files.used < RECENT_SECONDS:
            break
        for path in files.paths:
            with suppress(OSError):  # another process prunes, too
                path.unlink()
        total -= files.bytes
    return total


def _entries(folder: Path, now: float) -> Iterator[Files]:
    """Yield the files of each entry; its JSON file, which `get` reads first, precedes the libraries that it
    names.
    """
    groups: dict[str, list[tuple[bool, Path, os.stat_result]]] = {}
    for path in folder.glob("??/*"):
        with suppress(OSError):
            state = path.stat()
            if path.name.startswith("."):  # a temporary file: still being written, or left behind
                if now - state.st_mtime > RECENT_SECONDS:
                    path.unlink()
                continue
            name = path.name.partition(".")[0].partition("-")[0]
            groups.setdefault(name, []).append((path.suffix != ".json", path, state))
    for files in groups.values():
        files.sort(key=lambda file: file[:2])
        used = max(state.st_mtime for _, _, state in files)
        yield Files(used, sum(state.st_size for _, _, state in files), [path for _, path, _ in files])
