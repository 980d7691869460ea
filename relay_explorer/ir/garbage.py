"""Python's collector of cyclic garbage, called less often while a compiler works.

A pass, the parser and the printer make many objects that live on, and next to no cycles. The collector, which
looks at all that lives each time its number has grown by a quarter, would find nothing, and take half of the
time that a long program needs to be read, or to go through a pipeline (`benchmarks/passes.md`).
"""

from __future__ import annotations

import gc
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_COLLECTION_THRESHOLD = 100_000  # objects allocated and not freed; Python's default is 700
_lock = threading.Lock()
_inside = 0  # how many `with` statements of all threads are open
_before = 0  # the number in force outside


@contextmanager
def collected_rarely() -> Iterator[None]:
    """While it is open, in any thread, the collector runs a hundredth as often. A collector that is off stays
    off, and one that was set meanwhile stays as it was set.
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
