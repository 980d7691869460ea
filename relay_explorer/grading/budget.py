"""Running a learner's code for a limited time, in this process.

It runs in a thread of its own, so that it can be stopped wherever Python runs: in a notebook's kernel, on
Windows, and inside another thread, where alarms do not work.
"""

from __future__ import annotations

import contextlib
import ctypes
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .answer_values import ANSWERING

MAX_PRINTED = 2_000  # characters of what the code prints that are kept: the last ones
_STACK = 64 << 20  # bytes; threads of some systems have room for a few hundred calls only
_WAITING = 4  # times as long, for code that sleeps or waits for something
_UNKNOWN = 10  # and where nobody tells whether it waits of its own accord or for a processor
SHARE = 1.0  # of the seconds that are asked for: tests of what never ends give less
_PATIENCE = 1.0  # seconds in which code must stop once it is told to


class OutOfTimeError(Exception):
    """The code did not finish within its time."""


class _Stop(BaseException):
    """Raised inside the code to end it; not an Exception, so that `except Exception` does not swallow it."""


class Outcome(NamedTuple):
    """What code did: the value it gave, or the error that it raised; and what it printed."""

    value: Any
    error: BaseException | None
    printed: str


class _Tail(io.TextIOBase):
    """A stream that remembers the end of what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text[-MAX_PRINTED:])[-MAX_PRINTED:]
        return len(text)

    def writable(self) -> bool:
        return True


class _Clock:
    """The time that a thread has used. What it stands in line for a processor, which something else has, is
    not counted: Linux tells it of every thread.
    """

    def __init__(self, thread: threading.Thread) -> None:
        self.told = f"/proc/self/task/{thread.native_id}/schedstat"
        self.began, self.process = time.monotonic(), time.process_time()

    def seconds(self, waiting: float) -> float:
        """Return the processor time used, plus the time spent waiting, each second of which counts as
        `waiting` seconds.
        """
        passed = time.monotonic() - self.began
        try:
            with open(self.told) as file:
                ran, stood, times = map(int, file.read().split())
        except (OSError, ValueError):  # another system, or the thread has ended
            times = 0
        if not times:
            return max(time.process_time() - self.process, passed / _UNKNOWN)
        return ran / 1e9 + max(0.0, passed - (ran + stood) / 1e9) * waiting


class Allowance:
    """So many seconds of this process, for a search that may end early. A machine that is busy with something
    else takes nothing of them, unless it leaves the process less than a quarter of a processor.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds * SHARE
        self.began, self.process = time.monotonic(), time.process_time()

    def left(self) -> bool:
        passed = time.monotonic() - self.began
        return max(time.process_time() - self.process, passed / _WAITING) < self.seconds


def limited(seconds: float, code: Callable[..., Any], *args: Any) -> Outcome:
    """Run `code(*args)` for at most `seconds`. An exception is returned in the outcome, OutOfTimeError among
    them.

    The seconds are the processor's: what else the machine does must not make an answer wrong. Code that
    spends its time inside one call of a C function cannot be stopped before that call returns.
    """
    box: dict[str, Any] = {}
    tail = _Tail()

    def work() -> None:
        with contextlib.suppress(_Stop):  # one that arrives when all is done
            try:
                box["value"] = code(*args)
            except _Stop:
                box["error"] = OutOfTimeError(f"it did not finish within {seconds:g} seconds")
            except BaseException as error:
                box["error"] = error

    before = threading.stack_size(_STACK)
    try:
        thread = threading.Thread(target=work, daemon=True, name=ANSWERING)
        with contextlib.redirect_stdout(tail), contextlib.redirect_stderr(tail), _kernel_stays():
            thread.start()
            clock = _Clock(thread)
            try:
                _wait(thread, clock, seconds * SHARE)
            finally:  # also where the person at the keyboard interrupts
                if thread.is_alive():
                    _stop(thread, clock, box)
    finally:
        threading.stack_size(before)
    if not box:
        box["error"] = OutOfTimeError(
            f"it did not finish within {seconds:g} seconds, and could not be stopped"
        )
    return Outcome(box.get("value"), box.get("error"), tail.text)


def _wait(thread: threading.Thread, clock: _Clock, seconds: float) -> None:
    """Wait until the thread has ended, or has used up its time."""
    while thread.is_alive() and (used := clock.seconds(1 / _WAITING)) < seconds:
        thread.join(max(seconds - used, 0.01))


def _stop(thread: threading.Thread, clock: _Clock, box: dict[str, Any]) -> None:
    """Tells the thread to end, again and again, since it may catch what it is told; but not any more once it
    has an answer, when it only frees its memory.
    """
    last = clock.seconds(1.0) + _PATIENCE
    with _unreported():
        while thread.is_alive() and not box and clock.seconds(1.0) < last:
            ctypes.pythonapi.PyThreadState_SetAsyncExc(
                ctypes.c_ulong(thread.ident or 0), ctypes.py_object(_Stop)
            )
            thread.join(0.02)
        if box:
            thread.join()


@contextlib.contextmanager
def _kernel_stays() -> Iterator[None]:
    """Lets `exit()` end the code and not the notebook's kernel, and everything with it."""
    result = sys.modules.get("IPython")
    shell: Any = None if result is None else result.get_ipython()
    if shell is None:
        yield
        return

    def leave() -> None:
        raise SystemExit

    shell.ask_exit = leave
    try:
        yield
    finally:
        del shell.ask_exit


@contextlib.contextmanager
def _unreported() -> Iterator[None]:
    """Says nothing of a _Stop that came while Python freed memory (in a `__del__`, or what the garbage
    collector calls), where Python ignores what is raised and reports it: the thread is told again.
    """
    report = sys.unraisablehook

    def unless_stop(what: sys.UnraisableHookArgs) -> None:
        if not issubclass(what.exc_type, _Stop):
            report(what)

    sys.unraisablehook = unless_stop
    try:
        yield
    finally:
        sys.unraisablehook = report
