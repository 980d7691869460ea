"""Run Python's cyclic garbage collector less often while the compiler works.

A pass, the parser and the printer allocate many long-lived objects and next to no cycles. The collector
traverses all live objects each time their number has grown by a quarter. Here it would free nothing, and
would take half of the time that parsing a long program, or running it through a pipeline, needs
(`benchmarks/passes.md`).
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_COLLECTION_THRESHOLD = 100_000  # objects allocated and not freed; Python's default is 700
_lock = threading.Lock()
_inside = 0  # the number of open `with` statements, in all threads
_before = 0  # the threshold outside of them


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Run the collector a hundredth as often inside the `with` block, in every thread. A collector that is
    disabled stays disabled, and a threshold that was changed meanwhile stays as it was set.
    """
    global _inside, _before
    with _lock:
        _inside += 1
        if _inside == 1:
            _before = gc.get_threshold()[0]
            if 0 < _before < _COLLECTION_THRESHOLD:
                _set(_COLLECTION_THRESHOLD)
    try:
        yield
    finally:
        with _lock:
            _inside -= 1
            if _inside == 0 and gc.get_threshold()[0] == _COLLECTION_THRESHOLD:
                _set(_before)


def _set(objects: int) -> None:
    gc.set_threshold(objects, *gc.get_threshold()[1:])
