"""Run a learner's code for a limited time, in this process.

The code runs in a thread of its own, so that it can be stopped wherever Python runs: in a notebook's
kernel, on Windows, and inside another thread, where alarms do not work.
"""

from __future__ import annotations

import contextlib
import io
import sys
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from .answer_values import ANSWERING
from .stop_request import Stop, clear_requests, request_stop

MAX_PRINTED = 2_000  # characters of the printed output that are kept: the last ones
_STACK = 64 << 20  # bytes; the threads of some systems have room for only a few hundred calls
_WAITING = 4  # multiple of the time limit for code that sleeps or waits for something
_UNKNOWN = 10  # the same, if the system does not report whether the code waits for a processor
SHARE = 1.0  # of the requested seconds: tests of code that never ends use less
_PATIENCE = 1.0  # seconds within which code must stop once it is asked to


class OutOfTimeError(Exception):
    """The code did not finish within its time."""


class Outcome(NamedTuple):
    """The outcome of running code: the value that it returned or the error that it raised, and what it
    printed.
    """

    value: Any
    error: BaseException | None
    printed: str


class _Tail(io.TextIOBase):
    """A stream that keeps the end of what is written to it."""

    def __init__(self) -> None:
        super().__init__()
        self.text = ""

    def write(self, text: str) -> int:
        self.text = (self.text + text[-MAX_PRINTED:])[-MAX_PRINTED:]
        return len(text)

    def writable(self) -> bool:
        return True


class _Clock:
    """The time that a thread has used. Time spent waiting for a processor that other programs occupy is not
    counted; Linux reports it for every thread.
    """

    def __init__(self, thread: threading.Thread) -> None:
        self.statistics = f"/proc/self/task/{thread.native_id}/schedstat"
        self.began, self.process = time.monotonic(), time.process_time()

    def seconds(self, waiting: float) -> float:
        """Return the processor time used, plus the time spent waiting, each second of which counts as
        `waiting` seconds.
        """
        passed = time.monotonic() - self.began
        try:
            with open(self.statistics) as file:
                ran, stood, times = map(int, file.read().split())
        except (OSError, ValueError):  # another system, or the thread has ended
            times = 0
        if not times:
            return max(time.process_time() - self.process, passed / _UNKNOWN)
        return ran / 1e9 + max(0.0, passed - (ran + stood) / 1e9) * waiting


class Allowance:
    """A budget of seconds of this process, for a search that may end early. A machine that is busy with
    other work uses none of it, unless it leaves the process less than a quarter of a processor.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds * SHARE
        self.began, self.process = time.monotonic(), time.process_time()

    def left(self) -> bool:
        passed = time.monotonic() - self.began
        return max(time.process_time() - self.process, passed / _WAITING) < self.seconds


def limited(seconds: float, code: Callable[..., Any], *args: Any) -> Outcome:
    """Run `code(*args)` for at most `seconds`. An exception is returned in the outcome, OutOfTimeError
    among them.

    Processor time is measured, because other work on the machine must not make an answer wrong. Code that
    spends its time inside one call of a C function cannot be stopped before that call returns.
    """
    box: dict[str, Any] = {}
    tail = _Tail()

    def work() -> None:
        with contextlib.suppress(Stop):  # one that arrives after the code has finished
            try:
                box["value"] = code(*args)
            except Stop:
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
            finally:  # also if the user interrupts
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
    """Ask the thread to end, repeatedly, since it may catch the exception; but not after it has an answer
    and only frees its memory.
    """
    last = clock.seconds(1.0) + _PATIENCE
    with _unreported():
        while thread.is_alive() and not box and clock.seconds(1.0) < last:
            request_stop(thread.ident or 0)
            thread.join(0.02)
        if box:
            thread.join()
    clear_requests()


@contextlib.contextmanager
def _kernel_stays() -> Iterator[None]:
    """Let `exit()` end the code and not the notebook's kernel."""
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
    """Ignore a Stop that arrives while Python frees memory (in a `__del__`, or in a callback of the
    garbage collector), where Python ignores and reports exceptions. The thread is asked again.
    """
    report = sys.unraisablehook

    def unless_stop(what: sys.UnraisableHookArgs) -> None:
        if not issubclass(what.exc_type, Stop):
            report(what)

    sys.unraisablehook = unless_stop
    try:
        yield
    finally:
        sys.unraisablehook = report
