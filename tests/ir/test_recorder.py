"""The recorder: which events it receives, how many it keeps, and that there are none without it."""

from __future__ import annotations

import threading
from dataclasses import FrozenInstanceError, dataclass

import pytest

from relay_explorer.ir.recorder import Event, Recorder, active, unrecorded


@dataclass(frozen=True, slots=True)
class Step(Event):
    number: int


@dataclass(frozen=True, slots=True)
class LastStep(Step):
    pass


@dataclass(frozen=True, slots=True)
class Other(Event):
    pass


def emit(event: Event) -> None:
    recorder = active(type(event))
    if recorder is not None:
        recorder.emit(event)


def test_there_is_no_recorder_outside_of_a_with_block() -> None:
    recorder = Recorder(Step)
    assert active(Step) is None
    with recorder:
        assert active(Step) is recorder
    assert active(Step) is None


def test_keeps_the_events_of_its_kinds_and_of_their_subclasses() -> None:
    with Recorder(Step) as recorder:
        emit(Step(1))
        emit(Other())
        emit(LastStep(2))
    assert recorder.events == [Step(1), LastStep(2)]
    assert recorder.counts == {Step: 1, LastStep: 1}


def test_an_algorithm_asks_once_for_all_of_its_events() -> None:
    with Recorder(LastStep) as recorder:
        result = active(Step)
        assert result is not None  # one of the events that it asks for is wanted
        result.emit(Step(1))
        result.emit(LastStep(2))
    assert recorder.events == [LastStep(2)]


def test_the_limit_bounds_what_is_kept_and_not_what_is_counted() -> None:
    with Recorder(Step, limit=2) as recorder:
        for number in range(5):
            if recorder.full:
                recorder.count(Step)
            else:
                emit(Step(number))
    assert recorder.events == [Step(0), Step(1)]
    assert recorder.total == 5


def test_the_innermost_recorder_of_a_kind_receives_the_event() -> None:
    with Recorder(Step) as outer, Recorder(Other) as others:
        with Recorder(Step) as inner:
            emit(Step(1))
            emit(Other())
        emit(Step(2))
    assert (outer.events, inner.events, others.events) == ([Step(2)], [Step(1)], [Other()])


def test_an_algorithm_can_hide_recorders_from_what_it_calls() -> None:
    with Recorder(Step, Other) as recorder, unrecorded(Step):
        assert active(Step) is None
        emit(Other())
    assert recorder.events == [Other()]


def test_a_recorder_ends_where_an_error_leaves_its_block() -> None:
    with pytest.raises(ValueError, match="wrong"), Recorder(Step):
        raise ValueError("wrong")
    assert active(Step) is None


def test_a_recorder_can_be_entered_again() -> None:
    recorder = Recorder(Step)
    for number in range(2):
        with recorder:
            emit(Step(number))
    assert recorder.total == 2


def test_another_thread_is_not_recorded() -> None:
    result: list[object] = []
    with Recorder(Step):
        thread = threading.Thread(target=lambda: result.append(active(Step)))
        thread.start()
        thread.join()
    assert result == [None]


def test_an_event_is_frozen_and_has_slots() -> None:
    event = Step(1)
    with pytest.raises(FrozenInstanceError):
        event.number = 2  # type: ignore[misc]  # that is the point
    assert not hasattr(event, "__dict__")
