"""The number of threads that kernels run on: all cores, or the environment variable TVM_NUM_THREADS."""

from __future__ import annotations

import os

from ..ir.errors import RelayError

VARIABLE = "TVM_NUM_THREADS"
MAX_THREADS = 1024


def cores() -> int:
    """Return the number of cores that this process may use. The hardware threads of a core count as one."""
    allowed = getattr(os, "sched_getaffinity", None)
    if allowed is None:
        return os.cpu_count() or 1
    numbers = allowed(0)
    physical = set()
    for number in numbers:
        path = f"/sys/devices/system/cpu/cpu{number}/topology/thread_siblings_list"
        try:
            with open(path, encoding="ascii") as file:
                physical.add(file.read().strip())
        except OSError:
            return len(numbers)
    return len(physical) or 1


def use_all_cores() -> None:
    """Let TVM use all cores, unless the environment sets their number. By default TVM uses only half of the
    processors, because it assumes that each core has two hardware threads. Threads are not bound to cores,
    because other processes may bind theirs to the same cores. This must run before TVM is loaded, and has no
    effect later.
    """
    os.environ.setdefault(VARIABLE, str(cores()))
    os.environ.setdefault("TVM_BIND_THREADS", "0")
    threads()


def threads() -> int:
    """Return the number of threads that kernels use. Raise a RelayError if the environment variable is not a
    valid number of threads.
    """
    setting = os.environ.get(VARIABLE, "").strip() or str(cores())
    if not (setting.isascii() and setting.isdigit() and 0 < int(setting) <= MAX_THREADS):
        raise RelayError(
            f"{VARIABLE} is {setting[:40]!r}: it must be the number of threads for kernels, "
            f"1 to {MAX_THREADS}",
            help=["set it to a number, or unset it: kernels run on all cores then"],
        )
    return int(setting)
