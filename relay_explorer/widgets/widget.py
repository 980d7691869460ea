"""The live widget: the bundle as an anywidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from .. import _project
from ..ir.errors import RelayError
from . import bundle

Answer = Callable[[Mapping[str, Any]], dict[str, Any]]


def available() -> bool:
    """Return whether anywidget can be imported."""
    from importlib.util import find_spec

    return find_spec("anywidget") is not None


def make(view: dict[str, Any], name: str, state: str, answer: Answer | None = None) -> Any:
    """Create a widget of `view`; its `state` follows the reader's actions, and can be set. Needs anywidget.

    `answer` returns the view that the reader requests, or raises a RelayError that explains why there is
    none.
    """
    try:
        cls = _widget_class()
    except ImportError:
        raise ImportError(
            f'live widgets need anywidget: pip install "{_project.requirement("widget")}"'
        ) from None
    widget = cls(view=view, name=name, state=state, digest=bundle.digest())
    widget.observe(lambda _: widget.set_trait("code", bundle.compressed()), "needs_code")
    if answer is not None:
        widget.observe(lambda change: _answered(widget, answer, change["new"]), "ask")
    return widget


def _answered(widget: Any, answer: Answer, question: Mapping[str, Any]) -> None:
    try:
        view = answer(question)
    except RelayError as problem:
        widget.problem = ""  # so that a repeated sentence is a change too
        widget.problem = _sentence(problem)
        return
    widget.problem = ""
    widget.view = view


def _sentence(problem: RelayError) -> str:
    text = problem.message[:1].upper() + problem.message[1:]
    return f"{text}: {'; '.join(problem.help)}." if problem.help else f"{text}."


@cache
def _widget_class() -> type[Any]:
    """Return the widget class, created at its first use because importing anywidget takes longer than the
    whole package.
    """
    import anywidget
    import traitlets

    class ExplorerWidget(anywidget.AnyWidget):
        """`view` is the data, `state` the token of the displayed state, `name` the explorer's name in
        addresses. `ask` is a question of the reader, `problem` the reason why it has no answer. A kernel
        sends `_esm` for every widget, so it is small. It asks for the bundle, `code`, with `needs_code`,
        unless the page has the one called `digest`.
        """

        _esm = bundle.module("widget.js")
        digest = traitlets.Unicode().tag(sync=True)
        code = traitlets.Unicode().tag(sync=True)
        needs_code = traitlets.Bool().tag(sync=True)
        view = traitlets.Dict().tag(sync=True)
        name = traitlets.Unicode().tag(sync=True)
        state = traitlets.Unicode().tag(sync=True)
        ask = traitlets.Dict().tag(sync=True)
        problem = traitlets.Unicode().tag(sync=True)

    return ExplorerWidget
