"""Limits the size of the kernel cache: the least recently used entries are removed first.

The environment variable RELAY_EXPLORER_CACHE_SIZE says how large, in megabytes. What was used in the last
hour stays in any case: another process may be about to load it. A program whose kernels went away all the
same, since it was built long before its first run, compiles them again.
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

_written: dict[Path, int] = {}  # by folder: bytes that this process has written since its last look


class Files(NamedTuple):
    """The files under one key, and when they were used last."""

    used: float
    bytes: int
    paths: list[Path]


def limit() -> int:
    """Return the size limit of the cache in bytes. Raise a RelayError where the environment variable is no
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
        f"{VARIABLE} is {setting[:40]!r}: it is how many megabytes the cache may take, "
        f"such as {DEFAULT_MEGABYTES}",
        help=[f"set it to a number, or unset it: it is {DEFAULT_MEGABYTES} then"],
    )


def touch(path: Path) -> None:
    """Mark an entry as used now."""
    with suppress(OSError):  # a cache that others fill may be read-only
        os.utime(path)


def wrote(folder: Path, size: int) -> None:
    """Record that `size` bytes were written, and prune the cache where it is too large: at the first write of
    a process, and after each twentieth of the limit.
    """
    most = limit()
    first = folder not in _written
    _written[folder] = _written.get(folder, 0) + size
    if first or _written[folder] > RECHECK_FRACTION * most:
        _written[folder] = 0
        prune(folder, most)


def prune(folder: Path, most: int, now: float | None = None) -> int:
    """Remove the least recently used entries until the cache is well below `most` bytes, if it is above, and
    the temporary files of writers that were killed. Return the bytes that remain.
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
    """Yield the cached files, with each entry (which `get` reads first) before the libraries that it
    names.
    """
    groups: dict[str, list[tuple[bool, Path, os.stat_result]]] = {}
    for path in folder.glob("??/*"):
        with suppress(OSError):
            state = path.stat()
            if path.name.startswith("."):  # not renamed yet, or never
                if now - state.st_mtime > RECENT_SECONDS:
                    path.unlink()
                continue
            name = path.name.partition(".")[0].partition("-")[0]
            groups.setdefault(name, []).append((path.suffix != ".json", path, state))
    for files in groups.values():
        files.sort(key=lambda file: file[:2])
        used = max(state.st_mtime for _, _, state in files)
        yield Files(used, sum(state.st_size for _, _, state in files), [path for _, path, _ in files])
