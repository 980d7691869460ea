"""The entry of the page's worker: one session, and a function that JavaScript calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable

from .arrays import install
from .session import Session


def start() -> Callable[[str], str]:
    """Start a session; return the function that answers a request."""
    sys.setrecursionlimit(min(sys.getrecursionlimit(), 1000))
    gc.freeze()  # what was imported stays: the collector need not look at it again
    install()
    return Session().answer
