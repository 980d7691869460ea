"""Limit the memory of a run: stop a program without an end before the system kills Python.

The memory of the process and of the system is queried at most every few milliseconds. Where the system does
not report it (Windows, a browser), only the depth of calls is limited.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

PAUSE = 0.01  # seconds between two queries
LEAST = 1 << 28  # bytes that a run may take even where less is free


class Budget:
    """Half of the memory that was free at the first query, and at least LEAST bytes."""

    def __init__(self) -> None:
        self.next_look = time.perf_counter() + PAUSE
        self.start: int | None = None
        self.most = 0

    def overdrawn(self) -> int | None:
        """Return the bytes that the process has allocated since the first check, if they are too many."""
        self.next_look = time.perf_counter() + PAUSE
        used = in_use()
        if used is None:
            self.next_look = float("inf")
            return None
        if self.start is None:
            spare = free()
            self.start, self.most = used, sys.maxsize if spare is None else max(LEAST, spare // 2)
        return used - self.start if used - self.start > self.most else None


def in_use() -> int | None:
    """Return the bytes of memory that this process holds, or where the system does not report that, the most
    it has ever held; None where it reports neither.
    """
    pages = _numbers("/proc/self/statm")
    try:
        import resource
    except ImportError:  # Windows, Pyodide
        return None
    if pages:
        return pages[1] * resource.getpagesize()
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return most if sys.platform == "darwin" else most * 1024


def free() -> int | None:
    """Return the bytes that the machine, and the container if there is one, still has; None where unknown."""
    limits = [n for n in (_free_of_machine(), _free_of_container()) if n is not None]
    return min(limits, default=None)


def _free_of_machine() -> int | None:
    available = _field("/proc/meminfo", "MemAvailable:")
    return None if available is None else available * 1024


def _free_of_container() -> int | None:
    """Return the bytes that Linux's control groups (version 2 or 1) still allow. Cached files do not count as
    used, because the kernel evicts them.
    """
    for limit, usage, name in (
        ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.stat", "anon"),
        ("/sys/fs/cgroup/memory/memory.limit_in_bytes", "/sys/fs/cgroup/memory/memory.stat", "total_rss"),
    ):
        most, used = _numbers(limit), _field(usage, name)
        if most and used is not None:
            return max(0, most[0] - used)
    return None


def _numbers(path: str) -> list[int]:
    """Read the numbers of a one-line file; an empty list where there is no such file, or no numbers in it."""
    try:
        with open(path, encoding="ascii") as file:
            return [int(word) for word in file.read().split()]
    except (OSError, ValueError):
        return []


def _field(path: str, name: str) -> int | None:
    """Read the number after `name` in a file with one such pair per line."""
    try:
        with open(path, encoding="ascii") as file:
            lines: Iterable[list[str]] = map(str.split, file)
            return next((int(words[1]) for words in lines if len(words) > 1 and words[0] == name), None)
    except (OSError, ValueError):
        return None
