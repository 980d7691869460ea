"""The entry of the page's worker: one session, and the functions that JavaScript calls."""

from __future__ import annotations

import gc
import sys
from collections.abc import Callable
from typing import Any

from . import messages
from .arrays import install
from .session import Session


def start() -> tuple[Callable[[str], str], Callable[[str, Any, str], str]]:
    """Start a session; return the function that answers a request, and the one that opens a model: it takes
    the name of the file, its bytes as JavaScript has them, and the path of the importer's archive.
    """
    sys.setrecursionlimit(min(sys.getrecursionlimit(), 1000))
    gc.freeze()  # what was imported stays: the collector need not look at it again
    install()
    session = Session()

    def open_model(name: str, data: Any, archive: str) -> str:
        messages.install(archive)
        return session.open(name, data.to_bytes())

    return session.answer, open_model
