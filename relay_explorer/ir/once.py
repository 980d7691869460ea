"""Run a registration once per process, however many threads request it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def once(function: Callable[P, R]) -> Callable[P, R]:
    """Call `function` once for each combination of positional arguments, and return the stored result from
    then on.

    `functools.cache` would call it in every thread that calls before the first call has ended; here they
    wait.
    """
    results: dict[tuple[object, ...], R] = {}
    lock = threading.RLock()

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        if args not in results:
            with lock:
                if args not in results:
                    results[args] = function(*args, **kwargs)
        return results[args]

    return call
