"""The arguments of a run as texts: numbers, nested lists, or Relay expressions."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..execute.values import ConstructorValue, Value
from ..ir.errors import RelayError
from ..ir.expr import Var
from ..ir.module import IRModule
from ..ir.ndarray import NDArray
from ..ir.types import TensorType
from ..text import parse_expr
from ..text.literals import scalar_text
from ..text.names import plain_name
from .values import is_tensor, value_text

MAX_NUMBERS = 64  # elements of a tensor that is written out
MAX_LENGTH = 2_000  # characters of an argument


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
    text = _parsable(value)
    return text if text is not None else value_text(value, _function)


def parsable_texts(values: Sequence[Value]) -> tuple[str, ...]:
    """Write the arguments of a run as texts that can be parsed again: "" for one that is too large or has no
    text; nothing where there is no text at all.
    """
    texts = tuple([_parsable(value) or "" for value in values])
    return texts if any(texts) else ()


def _parsable(value: Value) -> str | None:
    if not is_tensor(value):
        return _written(value)
    short = value.size <= MAX_NUMBERS and value.dtype.kind in "biuf"
    return str(value.tolist()) if short else None


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
