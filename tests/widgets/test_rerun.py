"""A live widget runs the program again, with other arguments or another limit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import explore
from relay_explorer.execute import make_list, record
from relay_explorer.ir.errors import RelayError
from relay_explorer.views.evaluation.rerun import Rerun
from tests.support.views.check import check
from tests.views.runs import module

PROGRAM = """
def @main(%xs: List[int32], %k: int32, %w: Tensor[(2), float32], %big: Tensor[(9, 9), float32]) {
  (@map(fn (%x: int32) { multiply(%x, %k) }, %xs), %w, %big)
}
"""


def session() -> Rerun:
    program = module(PROGRAM)
    args = (make_list(program, [1, -2]), 3, np.array([0.5, 1], "float32"), np.ones((9, 9), "float32"))
    return Rerun(record(program, *args), 2000, "again")


def asked(session: Rerun, number: int, text: str) -> str:
    """Return the run's summary, with another text for one argument."""
    texts = list(session.texts)
    texts[number] = text
    return session.answer({"args": texts, "limit": 500}).summary.partition(":")[0]


def test_arguments_are_written_as_they_may_be_changed() -> None:
    result = session()
    assert result.view.live is not None
    assert result.view.live.args == (
        ("%xs", "Cons(1, Cons(-2, Nil))"), ("%k", "3"), ("%w", "[0.5, 1.0]"), ("%big", "(9, 9) f32"),
    )  # fmt: skip


def test_other_arguments() -> None:
    result = session()
    assert asked(result, 1, "10") == "@main returns (Cons(10, Cons(-20, Nil)), [0.5, 1], (9, 9) f32)"
    assert asked(result, 0, "Cons(7, Nil)") == "@main returns (Cons(70, Nil), [0.5, 1], (9, 9) f32)"
    assert asked(result, 2, "[1, 2]") == "@main returns (Cons(70, Nil), [1, 2], (9, 9) f32)"
    assert result.texts == ["Cons(7, Nil)", "10", "[1.0, 2.0]", "(9, 9) f32"]


@pytest.mark.parametrize(
    ("number", "text", "message"),
    [
        (0, "Cons(1", "expected"),
        (0, "Cons(1f, Nil)", "float32"),
        (0, "3", ""),
        (1, "[1, 2]", ""),
        (1, "__import__('os')", "is not a tensor of type int32"),
        (1, "9" * 3000, "longer than 2,000"),
        (1, "99999999999999", "is not a tensor of type int32"),
        (2, "[[1], [2, 3]]", "is not a tensor of type float32"),
        (3, "(3, 3) f32", "is not a tensor of type float32"),
    ],
)
def test_what_cannot_be_run_is_said_and_changes_nothing(number: int, text: str, message: str) -> None:
    result = session()
    before = result.view
    with pytest.raises(RelayError) as caught:
        asked(result, number, text)
    assert message in str(caught.value)
    assert result.view is before


@pytest.mark.parametrize(
    "question", [{"limit": 0}, {"limit": 10**9}, {"limit": "5"}, {"args": []}, {"args": 3}]
)
def test_questions_that_make_no_sense(question: dict[str, Any]) -> None:
    with pytest.raises(RelayError):
        session().answer(question)


def test_another_limit() -> None:
    result = session()
    view = result.answer({"limit": 5})
    assert view.gap is not None
    assert view.live is not None
    assert view.live.limit == 5


# Colab's ipykernel and ipywidgets are older than its Python and its traitlets.
@pytest.mark.filterwarnings("ignore:Parsing dates involving a day of month:DeprecationWarning")
@pytest.mark.filterwarnings("ignore:Deprecated in traitlets:DeprecationWarning")
def test_a_widget_answers() -> None:
    program = module("def @main(%n: int32) { add(%n, 1) }")
    result = explore(program, view="evaluation", args=(1,), name="live-run", live=True)
    widget = result.widget()
    assert check(widget.view) == []
    assert widget.view["result"] is not None
    widget.ask = {"args": ["41"], "limit": 100, "number": 1}
    assert widget.view["summary"].startswith("@main returns 42:")
    assert result.view.summary.startswith("@main returns 42:")
    widget.ask = {"args": ["x"], "limit": 100, "number": 2}
    assert (
        widget.problem
        == "`x` is not a tensor of type int32: write a number, or nested lists of numbers: [[1, 2], [3, 4]]."
    )
    assert widget.view["summary"].startswith("@main returns 42:")
    widget.ask = {"args": ["1"], "limit": 100, "number": 3}
    assert widget.problem == ""


def test_a_static_view_cannot_be_asked() -> None:
    result = explore(module("def @main(%n: int32) { %n }"), view="evaluation", args=(1,), name="still")
    assert result.to_dict()["live"] is None
