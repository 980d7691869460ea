"""The live widget: the bundle as an anywidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from ..ir.errors import RelayError
from .page import BUNDLE

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


def available() -> bool:
    """Whether anywidget can be imported."""
    from importlib.util import find_spec

    return find_spec("anywidget") is not None


def make(view: dict[str, Any], name: str, state: str, answer: Answer | None = None) -> Any:
    """A widget of `view`; its `state` follows what the reader does, and may be set. Needs anywidget.

    `answer` gives the view that the reader asks for, or a RelayError that says why there is none.
    """
    try:
        cls = _widget_class()
    except ImportError:
        raise ImportError('live widgets need anywidget: pip install "relay_explorer[widget]"') from None
    made = cls(view=view, name=name, state=state)
    if answer is not None:
        made.observe(lambda change: _answered(made, answer, change["new"]), "ask")
    return made


def _answered(made: Any, answer: Answer, question: Mapping[str, Any]) -> None:
    try:
        view = answer(question)
    except RelayError as problem:
        made.problem = ""  # the same sentence again is news too
        made.problem = _sentence(problem)
        return
    made.problem = ""
    made.view = view


def _sentence(problem: RelayError) -> str:
    text = problem.message[:1].upper() + problem.message[1:]
    return f"{text}: {'; '.join(problem.help)}." if problem.help else f"{text}."


@cache
def _widget_class() -> type[Any]:
    """The class, made when it is first needed: importing anywidget takes longer than the whole package."""
    import anywidget
    import traitlets

    class ExplorerWidget(anywidget.AnyWidget):
        """`view` is the data, `state` the token of what is shown, `name` what addresses call the explorer.
        `ask` is a question of the reader, `problem` why it has no answer.
        """

        _esm = BUNDLE
        view = traitlets.Dict().tag(sync=True)
        name = traitlets.Unicode().tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)
        ask = traitlets.Dict().tag(sync=True)
        problem = traitlets.Unicode().tag(sync=True)

    return ExplorerWidget
