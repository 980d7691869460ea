"""The number of threads that kernels run on: all cores, or the environment variable TVM_NUM_THREADS."""

from __future__ import annotations

import os

from ..ir.errors import RelayError

VARIABLE = "TVM_NUM_THREADS"
MAX_THREADS = 1024


def cores() -> int:
    """Return the number of cores that this process may use; two hardware threads of one core count once."""
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
    """Let TVM use all cores, unless the environment sets their number: by default TVM uses half of them,
    because it counts each as one of two hardware threads of a core. Threads are not bound to cores, since
    other processes may bind theirs to the same. Must run before TVM is loaded; nothing later changes it.
    """
    os.environ.setdefault(VARIABLE, str(cores()))
    os.environ.setdefault("TVM_BIND_THREADS", "0")
    threads()


def threads() -> int:
    """Return the number of threads that kernels use. Raise a RelayError where the environment variable is no
    such number.
    """
    setting = os.environ.get(VARIABLE, "").strip() or str(cores())
    if not (setting.isascii() and setting.isdigit() and 0 < int(setting) <= MAX_THREADS):
        raise RelayError(
            f"{VARIABLE} is {setting[:40]!r}: it is the number of threads that kernels run on, "
            f"1 to {MAX_THREADS}",
            help=["set it to a number, or unset it: kernels run on all cores then"],
        )
    return int(setting)
