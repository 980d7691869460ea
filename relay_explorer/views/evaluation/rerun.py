"""Rerun a program for a live widget, with other arguments or another number of steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ...execute.record import Evaluation, record
from ...ir.errors import RelayError
from ..arguments import argument, argument_text
from .format import ArgumentText, EvaluationView, Live
from .view import evaluation_view

MAX_STEPS = 20_000


class Rerun:
    """The last recorded run, and its arguments as texts.

    A tensor is written as a number or as nested lists, any other value as a Relay expression. A value that
    is too large for that is described instead. An argument whose text is unchanged keeps its value.
    """

    def __init__(self, evaluation: Evaluation, limit: int, title: str) -> None:
        self.title = title
        self.params = evaluation.module[evaluation.entry].params
        self._keep(evaluation, limit)

    def _keep(self, evaluation: Evaluation, limit: int) -> None:
        self.evaluation, self.limit = evaluation, limit
        self.texts = [argument_text(value) for value in evaluation.args]
        named = map(ArgumentText, [f"%{p.name_hint}" for p in self.params], self.texts)
        self.view: EvaluationView = evaluation_view(evaluation, self.title, Live(limit, tuple(named)))

    def answer(self, question: Mapping[str, Any]) -> EvaluationView:
        """Run the program again with the limit and arguments of a question, `{"limit": n, "args": [text,
        …]}`, and return the view. Raise a RelayError if they are not valid.
        """
        limit, texts = question.get("limit", self.limit), question.get("args", self.texts)
        if type(limit) is not int or not 1 <= limit <= MAX_STEPS:
            raise RelayError(
                f"{limit!r:.40} is not a valid number of steps", help=[f"from 1 to {MAX_STEPS:,}"]
            )
        if not isinstance(texts, (list, tuple)) or len(texts) != len(self.params):
            raise RelayError(f"the function expects {len(self.params)} arguments")
        old = zip(self.params, texts, self.texts, self.evaluation.args)
        module = self.evaluation.module
        args = [
            value if text == shown else argument(param, text, module) for param, text, shown, value in old
        ]
        run = record(module, *args, entry=self.evaluation.entry.name_hint, limit=limit)
        self._keep(run, limit)
        return self.view
