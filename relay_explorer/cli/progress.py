"""Show on a terminal which step is in progress, and for how long."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

DELAY_SECONDS = 0.5  # what takes less is not shown
_FRAMES = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


def on_terminal() -> bool:
    """Whether the standard error is a terminal, on which progress is shown."""
    return sys.stderr is not None and sys.stderr.isatty()


@contextmanager
def waiting(what: str) -> Iterator[None]:
    """Show that something is in progress, on a terminal, until it ends."""
    if not on_terminal():
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_show, args=(what, done), daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _show(what: str, done: threading.Event) -> None:
    started = time.perf_counter()
    if done.wait(DELAY_SECONDS):
        return
    with suppress(OSError, ValueError):  # the terminal is closed
        for frame in range(1_000_000):
            seconds = time.perf_counter() - started
            sys.stderr.write(f"\r{_FRAMES[frame % len(_FRAMES)]} {what} … {seconds:.0f} s")
            sys.stderr.flush()
            if done.wait(0.1):
                break
        sys.stderr.write("\r\x1b[K")
        sys.stderr.flush()
