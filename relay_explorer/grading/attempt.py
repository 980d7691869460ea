"""`attempt`: run code that uses a learner's answer outside the checks, so that a missing or wrong answer does
not stop the notebook.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from .budget import Allowance, OutOfTimeError
from .check import message_of, own_lines
from .stop_request import Stop, clear_requests, request_stop

SECONDS = 60.0
_INTERVAL = 0.2  # seconds between two checks of the time
_REQUESTS = 5  # times that code is asked to stop, one per second, since it may catch the exception


@contextmanager
def attempt(*names: str, seconds: float = SECONDS) -> Iterator[None]:
    """Run the body of a `with` statement, which uses the answers called `names`. If one of them is missing,
    raises an error or does not terminate, print what happened and continue after the body.
    """
    *others, last = (f"`{name}`" for name in names)
    answer = f"{', '.join(others)} or {last}" if others else last
    try:
        with _time_limit(seconds):
            yield
    except NotImplementedError:
        print(f"{answer} is not written yet.")
    except (Exception, SystemExit) as error:
        print(f"{answer} does not work here yet: {message_of(error).splitlines()[0]}")
        details = *getattr(error, "__notes__", ()), own_lines(error)
        print("\n".join(filter(None, details)))
        print("Run `check` again: it shows the smallest case on which the answer is wrong.")


@contextmanager
def _time_limit(seconds: float) -> Iterator[None]:
    """Raise an OutOfTimeError in this thread if the body runs for more than `seconds`."""
    caller = threading.get_ident()
    finished, lock = threading.Event(), threading.Lock()
    allowance = Allowance(seconds)
    requested = False

    def watch() -> None:
        nonlocal requested
        while allowance.left():
            if finished.wait(_INTERVAL):
                return
        for _ in range(_REQUESTS):
            with lock:
                if finished.is_set():
                    return
                requested = True
                request_stop(caller)
            if finished.wait(1.0):
                return

    def end() -> None:
        """Let the watcher send nothing more, and discard a request that has not arrived."""
        with lock:
            finished.set()
        if requested:
            clear_requests()

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        try:
            yield
        finally:
            end()
    except Stop:
        end()  # again, because the request may have arrived inside it
        raise OutOfTimeError(f"it did not finish within {seconds:g} seconds") from None
    finally:
        watcher.join()
