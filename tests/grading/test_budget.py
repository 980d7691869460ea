"""Learners' code comes to an end, whatever it does, and what it prints and raises is kept."""

from __future__ import annotations

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


def stubborn() -> None:
    """Catches every Exception, as learners' code may."""
    while True:
        try:
            forever()
        except Exception:
            continue


def grows() -> None:
    """Without end, and with ever more memory: little of it in this time."""
    numbers = [0]
    for number in numbers:
        time.sleep(0.001)
        numbers.append(number)


def recurses(n: int = 0) -> int:
    return recurses(n + 1)


def test_a_value_comes_back() -> None:
    outcome = limited(5, lambda a, b: a + b, 2, 3)
    assert outcome == (5, None, "")


@pytest.mark.parametrize("code", [forever, stubborn, grows])
def test_what_never_ends_is_ended(code: object) -> None:
    before = threading.active_count()
    outcome = limited(0.3, code)  # type: ignore[arg-type]  # a function
    assert isinstance(outcome.error, OutOfTimeError)
    assert str(outcome.error) == snapshot("it did not finish within 0.3 seconds")
    assert threading.active_count() == before


class Told:
    """A clock whose thread is as the system says: computing, standing in line, and how often it ran."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path, passed: float, process: float) -> None:
        times = {"monotonic": 100.0, "process_time": 10.0}
        monkeypatch.setattr(budget, "time", SimpleNamespace(**{n: lambda n=n: times[n] for n in times}))
        self.clock = _Clock(threading.current_thread())
        self.clock.told = str(folder / "schedstat")
        times.update(monotonic=100 + passed, process_time=10 + process)

    def seconds(self, message: str, waiting: float = 0.25) -> float:
        Path(self.clock.told).write_text(message)
        return self.clock.seconds(waiting)


def test_what_others_do_meanwhile_does_not_count(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Of 100 seconds a thread ran 2, stood in line for 90, and waited for 8 of its own accord."""
    message = Told(monkeypatch, tmp_path, passed=100.0, process=3.0)
    assert message.seconds("2000000000 90000000000 7000\n") == pytest.approx(2 + 8 / 4)
    assert message.seconds("2000000000 90000000000 7000\n", waiting=1.0) == pytest.approx(2 + 8)
    assert message.seconds("2000000000 99000000000 7000\n") == pytest.approx(
        2
    )  # the two are not read at once


@pytest.mark.parametrize("silent", ["0 0 0\n", "", "no numbers"])
def test_where_the_system_does_not_tell_what_a_thread_does(
    silent: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    message = Told(monkeypatch, tmp_path, passed=20.0, process=3.0)
    assert message.seconds(silent) == 3.0
    message = Told(monkeypatch, tmp_path, passed=80.0, process=3.0)
    assert message.seconds(silent) == 8.0


def test_this_thread_has_used_time() -> None:
    clock = _Clock(threading.current_thread())
    assert sum(range(100_000))
    assert 0 < clock.seconds(0) <= clock.seconds(1)


def test_a_search_ends_by_the_processor_s_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = {"monotonic": 0.0, "process_time": 0.0}
    monkeypatch.setattr(budget, "time", SimpleNamespace(**{n: lambda n=n: now[n] for n in now}))
    allowance = Allowance(4)
    for passed, used, left in ((15, 1, True), (17, 1, False), (5, 3.9, True), (5, 4.1, False)):
        now.update(monotonic=passed, process_time=used)
        assert allowance.left() == left


class Reluctant:
    """Takes its time to go; what is raised meanwhile, Python ignores and reports."""

    def __del__(self) -> None:
        until = time.monotonic() + 0.03
        while time.monotonic() < until:
            pass


def test_nothing_is_reported_of_code_that_is_ended_while_it_frees_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def frees() -> None:
        while True:
            Reluctant()
            time.sleep(0.01)

    reported: list[type[BaseException]] = []
    monkeypatch.setattr(sys, "unraisablehook", lambda what: reported.append(what.exc_type))
    for _ in range(5):
        assert isinstance(limited(0.05, frees).error, OutOfTimeError)
    assert not reported


def test_what_cannot_be_ended_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    """It waits for something that comes only afterwards."""
    monkeypatch.setattr(budget, "_PATIENCE", 0.1)
    event = threading.Event()
    outcome = limited(0.05, event.wait)
    event.set()
    assert str(outcome.error) == snapshot("it did not finish within 0.05 seconds, and could not be stopped")


def test_endless_recursion_is_an_error_of_the_code() -> None:
    assert isinstance(limited(10, recurses).error, RecursionError)


def test_deep_recursion_has_room() -> None:
    def deep(n: int) -> int:
        return 0 if n == 0 else 1 + deep(n - 1)

    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(20_000)
    try:
        assert limited(10, deep, 15_000).value == 15_000
    finally:
        sys.setrecursionlimit(limit)


@pytest.mark.parametrize("error", [ValueError("no"), KeyboardInterrupt(), SystemExit(3)])
def test_what_is_raised_is_kept(error: BaseException) -> None:
    def fails() -> None:
        raise error

    assert limited(5, fails).error is error


def test_the_end_of_what_is_printed_is_kept(capsys: pytest.CaptureFixture[str]) -> None:
    def talks() -> None:
        for number in range(10_000):
            print(number)

    outcome = limited(10, talks)
    assert outcome.printed.endswith("9998\n9999\n")
    assert len(outcome.printed) == MAX_PRINTED
    print("afterwards")
    assert capsys.readouterr().out == "afterwards\n"


def test_the_stack_size_of_other_threads_is_left_as_it_was() -> None:
    before = threading.stack_size()
    limited(1, lambda: None)
    assert threading.stack_size() == before


def test_only_the_learners_own_lines_are_shown() -> None:
    names: dict[str, object] = {}
    exec(compile("def answer():\n    return 1 // 0\n", "answer.py", "exec"), names)
    outcome = limited(5, names["answer"])  # type: ignore[arg-type]  # a function
    assert isinstance(outcome.error, ZeroDivisionError)
    assert own_lines(outcome.error) == "line 2 of answer"
