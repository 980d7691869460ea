"""The entry of the page's worker: one session, and a function that JavaScript calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from .arrays import install
from .session import Session


def start() -> Callable[[str, Any], str]:
    """Start a session; return the function that answers a request, with a file's bytes or None."""
    sys.setrecursionlimit(min(sys.getrecursionlimit(), 1000))
    gc.freeze()  # what was imported stays: the collector need not look at it again
    install()
    session = Session()

    def answer(request: str, data: Any) -> str:
        return session.answer(request, bytes(data.to_py()) if data is not None else b"")

    return answer
