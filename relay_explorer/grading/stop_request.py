"""Ask a thread to stop wherever it executes Python: CPython raises an exception in it."""

from __future__ import annotations

import contextlib
import ctypes
import threading
import time


class Stop(BaseException):
    """Raised inside a learner's code to end it; `except Exception` does not catch it."""


def request_stop(ident: int) -> None:
    """Raise a Stop in the thread `ident` at the next instruction that it executes."""
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(Stop))


def clear_requests() -> None:
    """Discard a request for this thread and clear the interpreter's flag for requests.

    A request that no thread raises leaves the flag set, because its thread ended first or because it was
    withdrawn. Python 3.11 then hangs in the first function that is traced. Raising a requested exception is
    the only thing that clears the flag, so this thread requests one from itself.
    """
    with contextlib.suppress(Stop):
        request_stop(threading.get_ident())
        while True:  # until it is raised
            time.sleep(0)
