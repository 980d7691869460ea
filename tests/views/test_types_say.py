"""What the explorer says of a relation's run: what was known before it, and what it found."""

from __future__ import annotations

from inline_snapshot import snapshot

from relay_explorer.text import parse
from relay_explorer.typing import record
from relay_explorer.views.types.view import types_view


def queue(program: str) -> list[str]:
    """The relations in the queue at the last step, front first, as the front end replays it."""
    view = types_view(record(parse(program)))
    waiting: list[int] = []
    for step in view.steps:
        for kind, relation, *_ in step.changes:
            if kind in ("q", "f", "p"):
                waiting = [w for w in waiting if w != relation]
            if kind in ("q", "f"):
                waiting.insert(0 if kind == "f" else len(waiting), relation)
    return [view.relations[relation].name for relation in waiting]


def said(program: str, operator: str) -> str:
    """The sentence of the (last) run of an operator's relation, with its arguments put in."""
    view = types_view(record(parse(program)))
    sentences = [template.format(*arguments) for template, *arguments in (step.say for step in view.steps)]
    return [s for s in sentences if s.startswith((f"{operator} can", f"{operator} holds"))][-1]


X = "%x: Tensor[(1, 3, 8, 8), float32]"


def test_forwards_all_arguments_were_known() -> None:
    program = f"def @main({X}, %y: Tensor[(8), float32]) {{ add(%x, %y) }}"
    assert said(program, "add") == snapshot(
        "add can be solved now: the types of %x and %y are known, so α = Tensor[(1, 3, 8, 8), float32]."
    )


def test_what_a_relation_tells_its_argument_was_not_known() -> None:
    program = (
        f"def @main({X}, %w) {{ nn.conv2d(%x, %w, channels=4, kernel_size=[3, 3], padding=[1, 1, 1, 1]) }}"
    )
    assert said(program, "nn.conv2d") == snapshot(
        "nn.conv2d can be solved now: the type of %x is known, so β = Tensor[(1, 4, 8, 8), "
        "float32].\n"
        "From the result follows: %w is Tensor[(4, 3, 3, 3), float32]."
    )


def test_several_arguments_of_one_type_are_told_together() -> None:
    program = f"def @main({X}, %g, %b, %m, %v) {{ nn.batch_norm(%x, %g, %b, %m, %v).0 }}"
    assert said(program, "nn.batch_norm") == snapshot(
        "nn.batch_norm can be solved now: the type of %x is known, so ε = (Tensor[(1, 3, 8, 8), "
        "float32], Tensor[(3), float32], Tensor[(3), float32]).\n"
        "From the result follows: %g, %b, %m and %v are Tensor[(3), float32]."
    )


def test_from_the_result_alone() -> None:
    program = f"""
    def @main({X}) {{
      let %f = fn (%a) {{ nn.relu(%a) }};
      let %y = if (True) {{ %f(tanh(%x)) }} else {{ %x }};
      %y
    }}
    """
    assert said(program, "nn.relu") == snapshot(
        "nn.relu can be solved from its result: %a is Tensor[(1, 3, 8, 8), float32]."
    )


def test_nothing_was_left_to_find() -> None:
    program = "def @main(%x: float32, %r: ref(float32)) { ref_write(%r, add(%x, %x)) }"
    assert said(program, "add") == snapshot(
        "add holds: all types that it reads were known already, and agree."
    )


def test_the_relation_that_is_refused_was_taken_from_the_queue() -> None:
    assert queue(f"def @main({X}, %y: Tensor[(5), float32]) {{ nn.relu(add(%x, %y)) }}") == ["nn.relu"]


def test_a_relation_that_waited_in_vain_is_still_in_it() -> None:
    assert queue(f"def @main({X}, %y) {{ add(%x, %y) }}") == ["add"]
