"""The queue, the classes and the recording, on programs small enough to know the right order by hand."""

from __future__ import annotations

import pytest

from relay_explorer.ir import IRModule, Var, structural_equal
from relay_explorer.ir.errors import TypeInferenceError
from relay_explorer.ir.narrow import as_call, as_op
from relay_explorer.ir.recorder import Recorder
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types, record
from relay_explorer.typing.events import Ended, InferenceEvent, Moved, Queued, Refused, Started, Typed
from relay_explorer.typing.history import History
from relay_explorer.typing.variables import InferenceVariable

# `%f`'s relations are queued before anything is known of `%a`: the sum must wait for `exp`.
WAITS = """
def @main(%x: Tensor[(3, 4), float32]) {
  let %f = fn (%a, %b) { add(%a, %b) };
  %f(exp(%x), %x)
}
"""


def runs(events: list[InferenceEvent]) -> list[tuple[str, bool]]:
    return [(as_op(as_call(e.relation.call).op).name, e.done) for e in events if isinstance(e, Ended)]


def test_a_relation_that_cannot_move_waits_and_is_run_again_when_its_variable_is_known() -> None:
    events = record(parse(WAITS)).events
    assert runs(events) == [("add", False), ("exp", True), ("add", True)]


def test_the_affected_relation_moves_to_the_front() -> None:
    """Three sums wait; what becomes known concerns the last one only, which is therefore run next, before the
    others are tried again.
    """
    program = """
    def @main(%x: Tensor[(2), float32]) {
      let %f = fn (%a) { add(%a, %a) };
      let %g = fn (%b) { subtract(%b, %b) };
      let %h = fn (%c) { multiply(%c, %c) };
      %0 = %h(exp(%x));
      %1 = %g(log(%x));
      %2 = %f(sqrt(%x));
      (%0, %1, %2)
    }
    """
    events = record(parse(program)).events
    assert runs(events) == [
        ("add", False), ("subtract", False), ("multiply", False),
        ("exp", True), ("multiply", True), ("log", True), ("subtract", True), ("sqrt", True), ("add", True),
    ]  # fmt: skip
    assert [as_op(as_call(e.relation.call).op).name for e in events if isinstance(e, Moved) and e.waited] == [
        "multiply",
        "subtract",
        "add",
    ]


def test_every_relation_in_a_straight_program_is_run_once() -> None:
    body = "".join(f"  let %v{i + 1} = tanh(%v{i});\n" for i in range(500))
    events = record(parse(f"def @main(%v0: Tensor[(2), float32]) {{\n{body}  %v500\n}}")).events
    assert sum(isinstance(e, Started) for e in events) == 500


def test_runs_grow_linearly_where_relations_are_written_down_in_the_worst_order() -> None:
    """Each function waits for the one after it. Without moving to the front, every round would solve one
    relation only.
    """

    def count(n: int) -> int:
        lets = "".join(f"let %f{i} = fn (%a{i}, %b{i}) {{ add(%a{i}, %b{i}) }};\n" for i in range(n))
        calls = "".join(f"let %y{i + 1} = %f{n - 1 - i}(%y{i}, %x);\n" for i in range(n))
        return sum(
            isinstance(e, Started)
            for e in record(
                parse(f"def @main(%x: float32) {{ let %y0 = exp(%x); {lets} {calls} %y{n} }}")
            ).events
        )

    assert count(10) == 10 + 1 + 10
    assert count(100) == 100 + 1 + 100


def test_variables_that_must_be_one_type_are_one_class() -> None:
    events = record(
        parse("def @main(%x: float32) { let %f = fn (%a) { %a }; let %g = fn (%b) { %f(%b) }; %g(%x) }")
    ).events
    numbers = {
        e.expr.name_hint: e.type.number
        for e in events
        if isinstance(e, Typed) and isinstance(e.expr, Var) and isinstance(e.type, InferenceVariable)
    }
    history = History(events)
    assert numbers["a"] != numbers["b"]
    assert history.root(numbers["a"]) == history.root(numbers["b"])


def test_every_relation_is_queued_once_and_every_run_ends() -> None:
    events = record(parse(WAITS)).events
    queued = [e.relation for e in events if isinstance(e, Queued)]
    assert len(queued) == len(set(queued)) == 2
    assert sum(isinstance(e, Started) for e in events) == sum(isinstance(e, Ended) for e in events)


def test_a_failed_inference_ends_with_the_refusal() -> None:
    result = record(
        parse("def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(exp(%x), %y) }")
    )
    assert result.module is None
    last = result.events[-1]
    assert isinstance(last, Refused)
    assert (str(last.left), str(last.right)) == ("Tensor[(2), float32]", "Tensor[(3), float32]")


def test_causes_lead_back_to_what_was_known() -> None:
    history = History(record(parse("def @main(%x: Tensor[(2), float32]) { tanh(exp(%x)) }")).events)
    run = {
        as_op(as_call(s.main.relation.call).op).name: s for s in history.steps if isinstance(s.main, Started)
    }
    assert run["exp"].index in run["tanh"].because
    (source,) = [history.steps[i] for i in run["exp"].because]
    assert isinstance(source.main, Typed)
    assert isinstance(source.main.expr, Var)
    assert source.main.expr.name_hint == "x"


def test_recording_changes_no_answer() -> None:
    module = parse(WAITS)
    recorded = record(module).module
    assert recorded is not None
    assert structural_equal(recorded, infer_types(module))


def test_the_input_stays_as_it_was() -> None:
    module = parse(WAITS)
    before = astext(module)
    body = module["main"].body
    infer_types(module)
    assert astext(module) == before
    assert module["main"].body is body
    assert body._checked_type is None


def test_annotated_parameters_are_the_same_objects_afterwards() -> None:
    module = parse(WAITS)
    assert infer_types(module)["main"].params[0] is module["main"].params[0]


def test_every_expression_knows_where_it_came_from() -> None:
    module = parse(WAITS)
    typed = infer_types(module)["main"]
    assert typed.body.origin == (module["main"].body,)
    assert typed.body.span is module["main"].body.span


def test_a_module_without_functions() -> None:
    assert infer_types(IRModule()).functions == {}


def test_any_inference_can_be_recorded_by_its_events() -> None:
    text = "def @main(%x: float32) { add(exp(%x), %x) }"
    with Recorder(Started) as recorder:
        infer_types(parse(text))
    assert [type(event) for event in recorder.events] == [Started] * 2


def test_the_explanation_of_an_error_is_not_recorded_twice() -> None:
    with Recorder(Refused) as recorder, pytest.raises(TypeInferenceError):
        infer_types(parse("def @main(%x: Tensor[(2), float32], %y: Tensor[(3), float32]) { add(%x, %y) }"))
    assert len(recorder.events) == 1
