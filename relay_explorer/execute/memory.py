"""How much memory a run may take: a program without an end is stopped before the system stops Python.

What the system says of the process and of itself is asked for at most every few milliseconds. Where it says
nothing (Windows, a browser) there is no bound but that on the depth of calls.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable

PAUSE = 0.01  # seconds between two looks
LEAST = 1 << 28  # bytes that a run may take on the fullest machine


class Budget:
    """Half of the memory that was free when it was first asked, and at least LEAST bytes."""

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
    """Bytes of memory that this process holds; the most it ever held where the system tells no more."""
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
    """Bytes that the machine, and the container if there is one, could still give; None where not known."""
    limits = [n for n in (_free_of_machine(), _free_of_container()) if n is not None]
    return min(limits, default=None)


def _free_of_machine() -> int | None:
    available = _field("/proc/meminfo", "MemAvailable:")
    return None if available is None else available * 1024


def _free_of_container() -> int | None:
    """By the second version of Linux's control groups, or the first. Files in memory do not count: they give
    way.
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
