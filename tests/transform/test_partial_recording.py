"""A partial evaluation that is recorded: what the pass decided, in order."""

from __future__ import annotations

import pytest

from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.recorder import Recorder
from relay_explorer.text import parse
from relay_explorer.transform import PartialEvaluate
from relay_explorer.transform.partial_evaluate.record import Computed, Entered, Kept, PartialEvaluationEvent
from relay_explorer.transform.partial_evaluate.recording import PartialEvaluation, record_partial_evaluation

POWER = """
def @power(%x: float32, %n: int32) -> float32 {
  if (equal(%n, 0)) { 1f } else { multiply(%x, @power(%x, subtract(%n, 1))) }
}
def @main(%x: float32) { @power(%x, 2) }
"""
CELLS = """
def @main(%a: float32, %c: bool, %f: fn (float32) -> float32) {
  let %cell = ref(%a);
  let %one = ref_read(%cell);
  let %u = ref_write(%cell, exp(%one));
  let %two = if (%c) { ref_read(%cell) } else { 0f };
  let %three = %f(%two);
  (%three, ref_read(%cell))
}
"""


def told(event: PartialEvaluationEvent) -> str:
    """Describe an event in a word or two, with the operator that it is about."""
    word = event.reason if isinstance(event, Kept) else type(event).__name__.lower()
    if isinstance(event, Entered):
        word += f" {event.frame.turn} {event.smaller}"
    is_op = isinstance(event.at, Call) and isinstance(event.at.op, Op)
    return f"{word} {event.at.op.name}" if is_op else word  # type: ignore[attr-defined]


def recorded(text: str | IRModule, limit: int = 1000) -> PartialEvaluation:
    return record_partial_evaluation(parse(text) if isinstance(text, str) else text, limit=limit)


def test_a_recursion_is_followed_round_by_round() -> None:
    assert [told(event) for event in recorded(POWER).events] == [
        "entered 0 ()", "entered 0 ()",
        "computed equal", "decided", "computed subtract", "entered 1 (1,)",
        "computed equal", "decided", "computed subtract", "entered 2 (1,)",
        "computed equal", "decided",
        "returned", "operator multiply", "returned", "operator multiply", "returned", "returned", "finished",
    ]  # fmt: skip


def test_effects_are_kept_and_what_cells_hold_is_followed() -> None:
    run = recorded(CELLS)
    assert [told(event) for event in run.events] == [
        "entered 0 ()", "cell", "taken", "operator exp", "write", "undecided", "branch", "taken", "branch",
        "branches", "function", "read", "built", "returned", "finished",
    ]  # fmt: skip
    held = [len(event.cells) for event in run.events if event.cells is not None]
    assert held == [1, 1, 1, 0, 1, 0], "made, written, looked at in two branches, forgotten, read, ended"


def test_a_recording_changes_nothing() -> None:
    for text in (POWER, CELLS):
        module = parse(text)
        plain = PartialEvaluate()(module)["main"]
        assert structural_equal(plain, recorded(module).residual, True)


def test_every_binding_of_the_residual_program_is_told_once() -> None:
    for text in (POWER, CELLS):
        result = [var for event in recorded(text).events for var in event.made]
        assert len(result) == len(set(result)) > 0


def test_a_recording_is_bounded_and_ends_with_the_end() -> None:
    whole, part = recorded(POWER), recorded(POWER, limit=4)
    assert [told(event) for event in part.events] == [
        "entered 0 ()", "entered 0 ()", "computed equal", "decided", "finished",
    ]  # fmt: skip
    assert (whole.left_out, part.left_out) == (0, len(whole.events) - 5)
    assert len(part.frames) == 2
    assert structural_equal(whole.residual, part.residual, True)


def test_what_is_computed_knows_its_arguments() -> None:
    first = next(event for event in recorded(POWER).events if isinstance(event, Computed))
    arrays = [arg.static.array for arg in first.args]  # type: ignore[union-attr]
    assert [int(array) for array in arrays] == [2, 0]


def test_a_long_recursion_is_recorded() -> None:
    run = recorded(POWER.replace("@power(%x, 2)", "@power(%x, 600)"), limit=100_000)
    assert max(frame.turn for frame in run.frames) == 600
    assert run.left_out == 0


def test_nothing_to_record() -> None:
    with pytest.raises(RelayError, match="a recording of 0 events shows nothing"):
        recorded(POWER, limit=0)
    with pytest.raises(RelayError, match="main"):
        recorded("def @other(%x: float32) { %x }")


def test_the_pass_itself_can_be_recorded() -> None:
    with Recorder(Computed) as recorder:
        PartialEvaluate()(parse(POWER))
    whole = recorded(POWER)
    assert [type(event) for event in recorder.events] == [Computed] * whole.counts[Computed]
