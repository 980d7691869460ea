"""Runs kernels in a forked process.

The thread pool of this package starts new threads in a forked process. But where kernels run on TVM's pool
(see `thread_pool`), its worker threads belong to the thread that first ran a kernel, and a fork does not copy
them. A kernel that the forked process runs on the same thread would wait for them forever, so kernels run on
another thread there, which gets its own worker threads.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

_stale = 0  # in a forked process: the id of the thread that it was forked with
_other: ThreadPoolExecutor | None = None


def _forget() -> None:
    global _stale, _other
    _stale, _other = threading.get_ident(), None


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(after_in_child=_forget)


def here() -> bool:
    """Whether this thread may run kernels."""
    return not _stale or threading.get_ident() != _stale


def elsewhere(call: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any]) -> Any:
    """Call `call` on a thread that may run kernels, and return its result."""
    global _other
    if _other is None:
        _other = ThreadPoolExecutor(1)
    return _other.submit(call, *args, **named).result()
