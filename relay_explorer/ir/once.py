"""Registrations that happen once in a process, however many threads ask for them."""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def once(function: Callable[P, R]) -> Callable[P, R]:
    """Call `function` once for each choice of positional arguments, and return that result from then on.

    `functools.cache` calls it in every thread that asks before the first call has ended; here they wait.
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
