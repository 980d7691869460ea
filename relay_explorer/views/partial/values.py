"""Format the static parts of a value in one line, and tell how much of it is static."""

from __future__ import annotations

from collections.abc import Callable

from ...ir.expr import Constant, Expr, GlobalVar
from ...transform.partial_evaluate.values import (
    Known,
    Static,
    StaticCallee,
    StaticData,
    StaticFunction,
    StaticRef,
    StaticTensor,
    StaticTuple,
)
from ..values import FEW, tensor_type
from .format import State

MAX_LENGTH = 60
LATER = "run time"  # for a value that has no name


class KnownTexts:
    """Formats the evaluator's values. `name` returns the residual program's name for a variable, or ""."""

    def __init__(self, name: Callable[[Expr], str]) -> None:
        self.name = name
        self._whole: dict[int, bool] = {}

    def state(self, value: Known) -> State:
        if value.static is None:
            return State.UNKNOWN
        return State.KNOWN if self._is_whole(value.static) else State.PART

    def _is_whole(self, static: Static) -> bool:
        """Whether all of a value is static. Parts precede their owners, so most results are cached."""
        pending = [static]
        while pending:
            part = pending[-1]
            fields = part.fields if isinstance(part, (StaticTuple, StaticData)) else ()
            inner = [field.static for field in fields]
            if any(s is None or self._whole.get(id(s)) is False for s in inner):
                self._whole[id(part)] = False
            else:
                missing = [s for s in inner if s is not None and id(s) not in self._whole]
                if missing:
                    pending += missing
                    continue
                self._whole[id(part)] = True
            pending.pop()
        return self._whole[id(static)]

    def text(self, value: Known, most: int = MAX_LENGTH) -> str:
        """Write a value, `Node(Leaf(%a), …)`; a dynamic part as its variable in the residual program."""
        parts: list[str] = []
        length = 0
        pending: list[Known | str] = [value]
        while pending:
            current = pending.pop()
            if length >= most:
                return "".join(parts)[: most - 1] + "…"
            text = current if isinstance(current, str) else self._opened(current, pending)
            parts.append(text)
            length += len(text)
        text = "".join(parts)
        return text if len(text) <= most else text[: most - 1] + "…"

    def _opened(self, value: Known, pending: list[Known | str]) -> str:
        match value.static:
            case StaticTensor(array=array):
                return number(array)
            case StaticTuple(fields=fields):
                _push(pending, fields, ",)" if len(fields) == 1 else ")")
                return "("
            case StaticData(constructor=constructor, fields=fields):
                if fields:
                    _push(pending, fields, ")")
                return constructor.name_hint + ("(" if fields else "")
            case StaticFunction():
                return self._function(value)
            case StaticRef():
                return self.name(value.dynamic) or "a cell"
            case StaticCallee(callee=callee):
                return callee.name
        if isinstance(value.dynamic, Constant):
            return number(value.dynamic.data.numpy())
        return self.name(value.dynamic) or LATER

    def _function(self, value: Known) -> str:
        if isinstance(value.dynamic, GlobalVar):
            return f"@{value.dynamic.name_hint}"
        return self.name(value.dynamic) or "fn"


def number(array: object) -> str:
    """Write a tensor's elements if they are few, otherwise its type."""
    size = getattr(array, "size", 1)
    if size > FEW:
        return tensor_type(array)
    values = array.tolist() if hasattr(array, "tolist") else array
    return f"{values:.4g}" if isinstance(values, float) else str(values)


def _push(pending: list[Known | str], values: tuple[Known, ...], closing: str) -> None:
    pending.append(closing)
    for index, value in enumerate(reversed(values[:MAX_LENGTH])):
        if index:
            pending.append(", ")
        pending.append(value)
