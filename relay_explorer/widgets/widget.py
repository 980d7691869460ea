"""The live widget: the bundle as an anywidget."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from .. import _project
from ..ir.errors import RelayError
from ..views.format import View
from . import bundle, states

Answer = Callable[[Mapping[str, Any]], View]


def available() -> bool:
    """Return whether anywidget can be imported."""
    from importlib.util import find_spec

    return find_spec("anywidget") is not None


def make(view: View, name: str, state: str, answer: Answer | None = None) -> Any:
    """Create a widget of `view`; its traits follow the reader's actions, and can be set. Needs anywidget.

    `answer` returns the view that the reader requests, or raises a RelayError that explains why there is
    none.
    """
    try:
        cls = _widget_class()
    except ImportError:
        raise ImportError(
            f'live widgets need anywidget: pip install "{_project.requirement("widget")}"'
        ) from None
    return cls(view, name, state, answer)


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
        """An explorer as a widget, which can be a part of others, such as a `VBox`.

        `state` is the token of the displayed state. `step` is the number of the displayed step, `steps` how
        many there are. `what_if` has the chosen answers to what-if questions, by question, and is empty for
        the actual run; `questions` has every question with its answers. `selection` describes the selected
        row: `row`, `text`, `name`, `operator`, `type` and `function`, and of a block of rows also its name,
        `group`, and its `last` row; it is empty without a selection. All of them follow the reader and can be
        observed, and all but `steps` and `questions` can be set, `selection` by its `row`, `name` or `group`.

        The other traits are the front end's: `view` is the data, `name` the explorer's name in addresses,
        `ask` a question of the reader, `problem` the reason why it has no answer. A kernel sends `_esm` for
        every widget, so it is small: it asks for the bundle, `code`, with `needs_code`, unless the page has
        the one called `digest`.
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
        step = traitlets.Int(None, allow_none=True)
        steps = traitlets.Int(read_only=True)
        selection = traitlets.Dict()
        what_if = traitlets.Dict()
        questions = traitlets.Dict(read_only=True)

        def __init__(self, view: View, name: str, state: str, answer: Answer | None) -> None:
            self._shown = view
            self._answer = answer
            super().__init__(view=view.to_dict(), name=name, state=state, digest=bundle.digest())
            self._follow()

        def show(self, view: View) -> None:
            """Show another view in the same state, as far as it has it."""
            self._shown = view
            self.problem = ""
            self.view = view.to_dict()
            self._follow()

        def _follow(self) -> None:
            """Derive the other traits from the state."""
            with self.hold_trait_notifications():
                self.set_trait("steps", states.steps(self._shown, self.state))
                self.step = states.step(self._shown, self.state)
                self.set_trait("questions", {q.name: list(q.answers) for q in self._shown.questions()})
                self.what_if = states.what_if(self._shown, self.state)
                self.selection = states.selection(self._shown, self.state)

        @traitlets.observe("state")
        def _state_changed(self, _change: object) -> None:
            self._follow()

        @traitlets.validate("step")
        def _existing(self, proposal: Mapping[str, Any]) -> int | None:
            number: int | None = proposal["value"]
            return number if number is None or not self.steps else max(0, min(number, self.steps))

        @traitlets.observe("step")
        def _step_changed(self, change: Mapping[str, Any]) -> None:
            if change["new"] != states.step(self._shown, self.state):
                value = "" if change["new"] is None else str(change["new"])
                self.state = states.changed(self.state, {self._shown.step_key: value})

        @traitlets.validate("what_if")
        def _answerable(self, proposal: Mapping[str, Any]) -> dict[str, str]:
            token = states.changed("", states.choosing(self._shown, proposal["value"]))
            return states.what_if(self._shown, token)

        @traitlets.observe("what_if")
        def _what_if_changed(self, change: Mapping[str, Any]) -> None:
            if change["new"] != states.what_if(self._shown, self.state):
                more = states.choosing(self._shown, change["new"])
                self.state = states.changed(self.state, more)

        @traitlets.validate("selection")
        def _complete(self, proposal: Mapping[str, Any]) -> dict[str, object]:
            more = states.selecting(self._shown, self.state, proposal["value"])
            token = states.changed(self.state, more)
            return states.selection(self._shown, token)

        @traitlets.observe("selection")
        def _selection_changed(self, change: Mapping[str, Any]) -> None:
            if change["new"] != states.selection(self._shown, self.state):
                more = states.selecting(self._shown, self.state, change["new"])
                self.state = states.changed(self.state, more)

        @traitlets.observe("needs_code")
        def _code_needed(self, _change: object) -> None:
            self.code = bundle.compressed()

        @traitlets.observe("ask")
        def _asked(self, change: Mapping[str, Any]) -> None:
            if self._answer is None:
                return
            try:
                view = self._answer(change["new"])
            except RelayError as problem:
                self.problem = ""  # so that a repeated sentence is a change too
                self.problem = _sentence(problem)
                return
            self.show(view)

    return ExplorerWidget
