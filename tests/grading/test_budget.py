"""Stop learners' code at its time limit, and return its output and errors."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from types import SimpleNamespace

import pytest
from inline_snapshot import snapshot

from relay_explorer.grading import budget
from relay_explorer.grading.budget import MAX_PRINTED, Allowance, OutOfTimeError, _Clock, limited
from relay_explorer.grading.check import own_lines


def forever() -> None:
    while True:
        pass


def catches_exceptions() -> None:
    """Catch every Exception, as learners' code may."""
    while True:
        try:
            forever()
        except Exception:
            continue


def grows() -> None:
    """Append to a list endlessly, slowly enough that it takes little memory within the time limit."""
    numbers = [0]
    for number in numbers:
        time.sleep(0.001)
        numbers.append(number)


def recurses(n: int = 0) -> int:
    return recurses(n + 1)


def test_returns_value() -> None:
    outcome = limited(5, lambda a, b: a + b, 2, 3)
    assert outcome == (5, None, "")


@pytest.mark.parametrize("code", [forever, catches_exceptions, grows])
def test_stops_endless_code(code: object) -> None:
    before = threading.active_count()
    outcome = limited(0.3, code)  # type: ignore[arg-type]  # a function
    assert isinstance(outcome.error, OutOfTimeError)
    assert str(outcome.error) == snapshot("it did not finish within 0.3 seconds")
    assert threading.active_count() == before


class StatedClock:
    """A clock of a thread for which the test states what Linux reports: time on a processor, time in the run
    queue, number of runs.
    """

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, passed: float, process: float) -> None:
        times = {"monotonic": 100.0, "process_time": 10.0}
        monkeypatch.setattr(budget, "time", SimpleNamespace(**{n: lambda n=n: times[n] for n in times}))
        self.clock = _Clock(threading.current_thread())
        self.clock.statistics = str(folder / "schedstat")
        times.update(monotonic=100 + passed, process_time=10 + process)

    def seconds(self, statistics: str, waiting: float = 0.25) -> float:
        Path(self.clock.statistics).write_text(statistics)
        return self.clock.seconds(waiting)


def test_does_not_count_time_in_run_queue(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of 100 seconds a thread ran 2, waited in the run queue for 90, and waited for 8 of its own accord."""
    clock = StatedClock(monkeypatch, tmp_path, passed=100.0, process=3.0)
    assert clock.seconds("2000000000 90000000000 7000\n") == pytest.approx(2 + 8 / 4)
    assert clock.seconds("2000000000 90000000000 7000\n", waiting=1.0) == pytest.approx(2 + 8)
    assert clock.seconds("2000000000 99000000000 7000\n") == pytest.approx(2)  # the two are not read at once


@pytest.mark.parametrize("silent", ["0 0 0\n", "", "no numbers"])
def test_estimates_time_without_thread_statistics(
    silent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    clock = StatedClock(monkeypatch, tmp_path, passed=20.0, process=3.0)
    assert clock.seconds(silent) == 3.0
    clock = StatedClock(monkeypatch, tmp_path, passed=80.0, process=3.0)
    assert clock.seconds(silent) == 8.0


def test_measures_time_of_this_thread() -> None:
    clock = _Clock(threading.current_thread())
    assert sum(range(100_000))
    assert 0 < clock.seconds(0) <= clock.seconds(1)


def test_search_stops_after_processor_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"monotonic": 0.0, "process_time": 0.0}
    monkeypatch.setattr(budget, "time", SimpleNamespace(**{n: lambda n=n: now[n] for n in now}))
    allowance = Allowance(4)
    for passed, used, left in ((15, 1, True), (17, 1, False), (5, 3.9, True), (5, 4.1, False)):
        now.update(monotonic=passed, process_time=used)
        assert allowance.left() == left


class Reluctant:
    """Has a slow destructor; Python reports errors raised in it as unraisable."""

    def __del__(self) -> None:
        until = time.monotonic() + 0.03
        while time.monotonic() < until:
            pass


def test_reports_nothing_if_stopped_in_destructor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    over = threading.Event()

    def frees() -> None:
        while not over.is_set():
            Reluctant()
            time.sleep(0.01)

    reported: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda unraisable: reported.append(unraisable.exc_type))
    for _ in range(5):
        assert isinstance(limited(0.05, frees).error, OutOfTimeError)
    over.set()  # also for one that a busy machine did not let end
    assert not reported


# A thread that executes no Python ends without raising the requested exception.
TRACED = """
import _thread, sys, time
from relay_explorer.grading.stop_request import clear_requests, request_stop

thread = _thread.start_new_thread(time.sleep, (0.2,))
time.sleep(0.05)
request_stop(thread)
time.sleep(0.4)
clear_requests()
events = []
sys.settrace(lambda frame, event, value: events.append(event))
(lambda: None)()
sys.settrace(None)
print(events)
"""


def test_tracing_works_after_thread_finished_before_stop() -> None:
    command = [sys.executable, "-c", TRACED]
    process = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert process.stdout == "['call']\n"


def test_abandons_code_that_cannot_be_stopped(monkeypatch: pytest.MonkeyPatch) -> None:
    """The code waits for an event that the test sets only afterwards."""
    monkeypatch.setattr(budget, "_PATIENCE", 0.1)
    event = threading.Event()
    outcome = limited(0.05, event.wait)
    event.set()
    assert str(outcome.error) == snapshot("it did not finish within 0.05 seconds, and could not be stopped")


def test_reports_endless_recursion() -> None:
    assert isinstance(limited(10, recurses).error, RecursionError)


def test_allows_deep_recursion() -> None:
    def deep(n: int) -> int:
        return 0 if n == 0 else 1 + deep(n - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert limited(10, deep, 15_000).value == 15_000
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3)])
def test_returns_raised_error(error: BaseException) -> None:
    def fails() -> None:
        raise error

    assert limited(5, fails).error is error


def test_keeps_end_of_output(capsys: pytest.CaptureFixture[str]) -> None:
    def prints() -> None:
        for number in range(10_000):
            print(number)

    outcome = limited(10, prints)
    assert outcome.printed.endswith("9998\n9999\n")
    assert len(outcome.printed) == MAX_PRINTED
    print("afterwards")
    assert capsys.readouterr().out == "afterwards\n"


def test_restores_stack_size() -> None:
    before = threading.stack_size()
    limited(1, lambda: None)
    assert threading.stack_size() == before


def test_shows_only_lines_of_learner() -> None:
    names: dict[str, object] = {}
    exec(compile("def answer():\n    return 1 // 0\n", "answer.py", "exec"), names)
    outcome = limited(5, names["answer"])  # type: ignore[arg-type]  # a function
    assert isinstance(outcome.error, ZeroDivisionError)
    assert own_lines(outcome.error) == "line 2 of answer"
