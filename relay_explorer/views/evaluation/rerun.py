"""Rerun a program for a live widget, with other arguments or another number of steps."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from ...execute.record import Evaluation, record
from ...execute.values import ConstructorValue, Value
from ...ir.errors import RelayError
from ...ir.expr import Var
from ...ir.module import IRModule
from ...ir.ndarray import NDArray
from ...ir.types import TensorType
from ...text import parse_expr
from ...text.literals import scalar_text
from ...text.names import plain_name
from ..values import is_tensor, value_text
from .format import ArgumentText, EvaluationView, Live
from .view import evaluation_view

MAX_NUMBERS = 64  # elements of a tensor that the widget shows for editing
MAX_LENGTH = 2_000  # characters of an argument
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


def argument(param: Var, text: object, module: IRModule) -> object:
    """Parse an argument's text: for a tensor a number or nested lists, for any other type a Relay expression.
    Raise a RelayError for any other text.
    """
    if type(text) is not str or len(text) > MAX_LENGTH:
        raise RelayError(f"the text for `%{param.name_hint}` is longer than {MAX_LENGTH:,} characters")
    type_ = param.type_annotation
    if not isinstance(type_, TensorType):
        return parse_expr(text, f"%{param.name_hint}", module)
    import numpy

    try:
        return numpy.array(ast.literal_eval(text.strip()), type_.dtype)
    except (ValueError, SyntaxError, TypeError, OverflowError, MemoryError, RecursionError):
        raise RelayError(
            f"`{text:.60}` is not a tensor of type {type_.dtype}",
            help=["write a number, or nested lists of numbers: [[1, 2], [3, 4]]"],
        ) from None


def argument_text(value: Value) -> str:
    """Write a value as text that can be parsed again, if that is short; otherwise describe it."""
    if is_tensor(value):
        if value.size <= MAX_NUMBERS and value.dtype.kind in "biuf":
            return str(value.tolist())
        return value_text(value, _function)
    expression = _written(value)
    return expression if expression is not None else value_text(value, _function)


def _written(value: Value) -> str | None:
    """Write constructed values, tuples and scalars as a Relay expression; None where they contain anything
    else, or are long.
    """
    parts: list[str] = []
    pending: list[Value | str] = [value]
    while pending:
        current = pending.pop()
        if isinstance(current, str):
            text: str | None = current
        elif isinstance(current, (ConstructorValue, tuple)):
            fields = current.fields if isinstance(current, ConstructorValue) else current
            text = plain_name(current.constructor.name_hint) if isinstance(current, ConstructorValue) else ""
            if fields or not text:
                text += "("
                pending.append(",)" if len(fields) == 1 and isinstance(current, tuple) else ")")
                for index, part in enumerate(reversed(fields)):
                    pending += [", ", part] if index else [part]
        elif is_tensor(current) and current.ndim == 0:
            text = scalar_text(NDArray.from_numpy(current))
        else:
            return None
        if text is None or sum(map(len, parts)) > MAX_LENGTH:
            return None
        parts.append(text)
    return "".join(parts)


def _function(value: Value) -> str:
    return "a function"
