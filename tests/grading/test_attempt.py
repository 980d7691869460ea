"""Code that uses a learner's answer outside the checks never stops the notebook."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from contextlib import suppress

import pytest

from relay_explorer.grading import attempt
from relay_explorer.ir.errors import RelayError

HELP = "Run `check` again: it shows the smallest case on which the answer is wrong.\n"


def test_runs_the_body(capsys: pytest.CaptureFixture[str]) -> None:
    with attempt("sweep"):
        print("swept")
    assert capsys.readouterr().out == "swept\n"


def test_says_that_an_answer_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    with attempt("relation", "lowering", "pattern"):
        raise NotImplementedError
    assert capsys.readouterr().out == "`relation`, `lowering` or `pattern` is not written yet.\n"


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (KeyError("x"), "KeyError: 'x'"),
        (SystemExit(), "SystemExit"),
        (RelayError("it is wrong", help=["repair it"]), "RelayError: error: it is wrong"),
    ],
)
def test_shows_the_error_of_a_wrong_answer(
    error: BaseException, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    def sweep() -> None:
        raise error

    with attempt("sweep"):
        sweep()
    shown = capsys.readouterr().out
    assert shown.startswith(f"`sweep` does not work here yet: {message}\n")
    assert "of sweep: raise error\n" in shown
    assert shown.endswith(HELP)


@pytest.mark.parametrize("caught", [ZeroDivisionError, Exception])
def test_stops_an_answer_that_does_not_terminate(
    caught: type[Exception], capsys: pytest.CaptureFixture[str]
) -> None:
    def sweep() -> None:
        while True:
            with suppress(caught):
                time.sleep(0.001)

    before = threading.active_count()
    with attempt("sweep", seconds=0.3):
        sweep()
    assert "OutOfTimeError: it did not finish within 0.3 seconds" in capsys.readouterr().out
    assert threading.active_count() == before


def test_shows_the_notes_of_an_error(capsys: pytest.CaptureFixture[str]) -> None:
    error = TypeError("float32 is not int32")
    error.add_note("after the pass sweep")
    with attempt("sweep"):
        raise error
    assert "TypeError: float32 is not int32\nafter the pass sweep\n" in capsys.readouterr().out


def test_lets_the_user_interrupt() -> None:
    with pytest.raises(KeyboardInterrupt), attempt("sweep"):
        raise KeyboardInterrupt


# Python 3.11 hangs in the first traced function if a request to stop was withdrawn.
TRACED = """
import sys, time
from relay_explorer.grading import attempt

with attempt("sweep"):
    pass
with attempt("sweep", seconds=0.05):
    while True:
        time.sleep(0.001)
events = []
sys.settrace(lambda frame, event, value: events.append(event))
(lambda: None)()
sys.settrace(None)
print(events)
"""


def test_tracing_works_after_an_attempt() -> None:
    command = [sys.executable, "-c", TRACED]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout.endswith("\n['call']\n")
