"""Recorded runs: the interpreter as it is, what it says of itself, and how much of it is kept."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.execute import Evaluation, ExecutionError, Interpreter, record
from relay_explorer.execute.events import EvaluationEvent, FunctionEntered, RunFinished, ValueComputed
from relay_explorer.execute.record import Chose, Entered, Failed, Finished, Made, Returned
from relay_explorer.execute.vm import Machine, compile_program
from relay_explorer.ir.errors import TypeInferenceError
from relay_explorer.ir.expr import Call
from relay_explorer.ir.recorder import Recorder, active
from relay_explorer.testing import generate
from relay_explorer.text import parse
from tests.property.test_evaluation import same, value_of
from tests.views.runs import CELLS, evaluation, module

LOOP = """
def @loop(%i: int32, %acc: int32) -> int32 {
  if (equal(%i, 0)) { %acc } else { @loop(subtract(%i, 1), add(%acc, %i)) }
}
def @main(%n: int32) { @loop(%n, 0) }
"""


def kinds(run: Evaluation) -> list[str]:
    return [type(step).__name__ for step in run.steps]


def result(run: Evaluation) -> object:
    last = run.steps[-1]
    assert isinstance(last, Finished)
    return last.value


def test_straight_line() -> None:
    run = record(parse("def @main(%x: float32) { %0 = exp(%x); add(%0, %0) }"), 0.0)
    assert kinds(run) == ["Entered", "Made", "Made", "Finished"]
    assert result(run) == 2
    assert [step.because for step in run.steps] == [(), (0,), (1,), (2,)]
    assert (run.totals.steps, run.totals.calls, run.totals.deepest) == (4, 0, 1)


def test_a_call_waits_and_a_tail_call_does_not() -> None:
    run = record(parse(LOOP), 3)
    assert kinds(run).count("Returned") == 0
    entered = [step for step in run.steps if isinstance(step, Entered)]
    assert [step.replaced is None for step in entered] == [True, False, False, False, False]
    assert [step.activation.turn for step in entered] == [0, 1, 2, 3, 4]
    assert (run.totals.calls, run.totals.tail_calls, run.totals.deepest) == (4, 4, 1)
    called = record(parse("def @f(%x: int32) { add(%x, 1) } def @main(%x: int32) { add(@f(%x), @f(1)) }"), 5)
    left = [step.left for step in called.steps if isinstance(step, Returned)]
    assert [activation is not None and activation.number for activation in left] == [1, 2]
    assert called.totals.deepest == 2


def test_a_call_at_the_end_of_a_branch_that_is_waited_for() -> None:
    """It is in the place of the branch's result, but its caller still has something to do."""
    run = record(
        parse("""
        def @f(%x: int32) { add(%x, 1) }
        def @main(%x: int32) { let %y = if (less(%x, 9)) { @f(%x) } else { 0 }; add(%y, %y) }
        """),
        1,
    )
    (call,) = [step for step in run.steps if isinstance(step, Entered) and step.activation.at is not None]
    assert call.replaced is None
    (returned,) = [step for step in run.steps if isinstance(step, Returned)]
    assert returned.left is call.activation
    assert (result(run), run.totals.deepest, run.totals.tail_calls) == (4, 2, 0)


def test_choices_and_what_they_bind() -> None:
    run = evaluation("tree")
    chosen = [step.number for step in run.steps if isinstance(step, Chose)]
    assert chosen == [1, 1, 0, 0, 1, 0, 1, 0, 0]  # Node is the clause 1, Leaf 0
    assert result(run) == 11


def test_a_read_names_the_write_that_it_reads() -> None:
    run = record(
        parse(
            "def @main() { let %r = ref(1); let %u = ref_write(%r, 2); let %v = ref_write(%r, 3); "
            "ref_read(%r) }"
        )
    )
    output = [step for step in run.steps if isinstance(step, Made)]
    read = output[-1]
    assert read.because == (1, 3)
    assert read.value == 3


def test_cells_of_arguments_are_remembered_as_they_were() -> None:
    from relay_explorer.execute import RefValue

    cell = RefValue(np.array(5, "int32"))
    run = record(parse("def @main(%r: ref(int32)) { let %u = ref_write(%r, 6); ref_read(%r) }"), cell)
    assert result(run) == 6
    assert [(c is cell, held) for c, held in run.cells] == [(True, 5)]


def test_only_the_first_steps_are_kept_and_the_last() -> None:
    run = record(parse(LOOP), 1000, limit=50)
    assert len(run.steps) == 51
    assert run.totals.steps == 5005
    assert run.left_out == 4954
    assert result(run) == 500500
    assert len(run.activations) <= 50


def test_evaluations_are_counted_over_the_whole_run() -> None:
    run = record(parse(LOOP), 1000, limit=50)
    assert run.operators() == {"equal": 1001, "subtract": 1000, "add": 1000}


def test_a_long_loop_is_not_kept() -> None:
    """The last turn does not hold on to those before it."""
    run = record(parse(LOOP), 1000, limit=50)
    last = run.steps[-1].activation
    assert (last.number, last.before, last.turn) == (-1, None, 1001)


def test_a_run_without_end_is_stopped() -> None:
    run = record(parse("def @main() -> int32 { @main() }"), limit=10, budget=1000)
    assert run.stopped
    assert run.error is None
    assert run.totals.steps == 1000
    assert len(run.steps) == 10


def test_what_goes_wrong_is_the_last_step() -> None:
    run = evaluation("unmatched")
    last = run.steps[-1]
    assert isinstance(last, Failed)
    assert isinstance(run.error, ExecutionError)
    assert run.error.message == snapshot("no clause matches Nil")
    assert last.because == (run.steps.index(last) - 1,)


def test_what_goes_wrong_after_the_limit_is_kept_too() -> None:
    text = """
    type L { C(L), E }
    def @down(%i: int32, %l: L) -> int32 { if (equal(%i, 0)) { match? (%l) { C(_) => { 1 } } }
      else { @down(subtract(%i, 1), %l) } }
    def @main() { @down(100, E) }
    """
    run = record(parse(text), limit=10)
    assert isinstance(run.steps[-1], Failed)
    assert len(run.steps) == 11
    assert run.steps[-1].activation.frame[0] == 0


def test_a_wrong_shape_at_run_time() -> None:
    text = "def @main(%x: Tensor[(?), float32], %y: Tensor[(?), float32]) { %0 = exp(%x); add(%0, %y) }"
    run = record(parse(text), np.ones(3, "float32"), np.ones(2, "float32"))
    assert isinstance(run.steps[-1], Failed)
    assert run.error is not None
    assert "`add` failed" in run.error.message


def test_arguments_are_checked_as_an_executor_does() -> None:
    program = parse("def @main(%x: Tensor[(2), float32]) { %x }")
    with pytest.raises(TypeInferenceError):
        record(program, np.ones(3, "float32"))
    with raises(
        snapshot("""\
RelayError:
error: the function has no parameter `%z`
help: its parameters are `%x`\
""")
    ):
        record(program, z=np.ones(2, "float32"))
    assert result(record(program, x=np.ones(2, "float32"))) is not None
    with raises(
        snapshot("""\
RelayError:
error: a recording of 0 steps is empty
help: record at least 1 step\
""")
    ):
        record(program, np.ones(2, "float32"), limit=0)


def test_another_entry_and_an_expression() -> None:
    assert result(record(parse(LOOP), 3, 10, entry="loop")) == 16
    assert result(record(parse("def @main(%x: int32) { add(%x, 1) }")["main"], 7)) == 8


def test_the_interpreter_runs_as_without_a_recorder() -> None:
    """Random programs with references, closures and recursion: the same results, and a sound recording."""
    for seed in range(60):
        program = generate(40_000 + seed, size=10 + seed % 40, closed=True).module
        with np.errstate(all="ignore"):
            run = record(program)
        assert same(result(run), value_of(program))
        sound(run)


def sound(run: Evaluation) -> None:
    """Causes come before effects, what returns was waiting, and every activation that ended has its step."""
    depth = 0
    for number, step in enumerate(run.steps):
        assert all(0 <= cause < number for cause in step.because)
        if isinstance(step, Entered):
            depth += step.replaced is None
            assert step.activation.first == number
        if isinstance(step, Returned) and step.left is not None:
            depth -= 1
            assert step.left.last == number
        assert 1 <= depth <= run.totals.deepest
    for activation in run.activations:
        assert all(origin <= used for slot, used in activation.used.items()
                   if (origin := activation.origin.get(slot)) is not None)  # fmt: skip


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 40), st.integers(1, 60))
def test_a_recording_is_a_beginning_of_the_whole_one(n: int, limit: int) -> None:
    whole, part = record(module(CELLS), n), record(module(CELLS), n, limit=limit)
    assert kinds(part)[:limit] == kinds(whole)[:limit]
    assert part.totals == whole.totals
    assert part.left_out == max(0, whole.totals.steps - limit - 1)


def test_nothing_is_recorded_by_default() -> None:
    assert active(EvaluationEvent) is None


def test_a_run_of_any_executor_can_be_recorded() -> None:
    run = relay.create_executor(mod=parse("def @main(%x: float32) { exp(exp(%x)) }")).evaluate()
    with Recorder(ValueComputed) as recorder:
        run(1.0)
    assert [
        str(event.instruction.node.op)
        for event in recorder.events
        if isinstance(event.instruction.node, Call)
    ] == ["exp", "exp"]


def test_a_function_of_another_executor_is_one_step() -> None:
    """Its own run, here in a virtual machine that computes kernels with the interpreter, is not recorded."""
    text = "def @main() -> fn (float32) -> float32 { fn (%x: float32) -> float32 { exp(exp(%x)) } }"
    foreign = Machine(compile_program(parse(text))).call("main", [])
    apply = parse("def @main(%f: fn (float32) -> float32) -> float32 { add(%f(1f), 1f) }")
    with Recorder(EvaluationEvent) as recorder:
        Interpreter(apply).call("main", [foreign])
    assert [type(event) for event in recorder.events] == [
        FunctionEntered, ValueComputed, ValueComputed, RunFinished,
    ]  # fmt: skip
