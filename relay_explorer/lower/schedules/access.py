"""Classifies a block's memory accesses along its last axis: only contiguous ones suit vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..require import tvm
from ..tvm_types import SBlock


class Access(NamedTuple):
    """How a block reads its operands.

    `branches`: a condition on the last axis selects the element that is read, and may differ within a vector.
    `pieces`: such a condition selects between tensors, as in a concatenation. `strided`: consecutive
    iterations read elements several apart, or some the same. `across`: the index of the axis along which the
    elements read are contiguous, if that is not the last axis, as in a transpose.
    """

    branches: bool = False
    strided: bool = False
    across: int | None = None
    pieces: bool = False

    @property
    def vectors(self) -> bool:
        """Whether to vectorize the last axis. Otherwise it is left to LLVM, which creates loops without the
        conditions, and shuffles elements within vectors.
        """
        return not (self.branches or self.strided)


def access_of(block: SBlock, lanes: int) -> Access:
    """Classify how a block of a schedule reads its operands."""
    axes = [axis.var for axis in block.iter_vars]
    if not axes or not hasattr(block.body, "value"):
        return Access()
    last = axes[-1]
    branches = strided = pieces = False
    across = None
    for part in parts_of(block.body.value):
        if _kind(part) == "Call" and _name(part) == "if_then_else":
            if any(_cuts(c, last, lanes) for c in _comparisons(part.args[0])):
                branches = True
                pieces = pieces or all(_reads(arm) for arm in part.args[1:])
        elif _kind(part) in _LOADS and len(part.indices):
            *before, inner = part.indices
            if _uses(inner, last):
                strided = strided or _leaps(inner, last)
            elif any(_uses(index, last) for index in before):
                number = next((n for n, axis in enumerate(axes) if inner.same_as(axis)), None)
                across = number if number is not None else across
    return Access(branches, strided, across, pieces and _parted(block.body.value, last))


def parts_of(value: Any) -> list[Any]:
    """Return an expression and all its subexpressions."""
    nodes, pending = [], [value]
    while pending:
        part = pending.pop()
        nodes.append(part)
        for name in _WITHIN:
            inner = getattr(part, name, None)
            if name in ("args", "indices"):
                pending += list(inner or [])
            elif inner is not None and not isinstance(inner, (int, float)):
                pending.append(inner)
    return nodes


_LOADS = ("TensorLoad", "BufferLoad")
_WITHIN = ("a", "b", "args", "indices", "condition", "true_value", "false_value", "value", "body")


def _kind(part: Any) -> str:
    return type(part).__name__


def _name(call: Any) -> str:
    return str(getattr(call.op, "name", "")).rpartition(".")[2]


def _uses(expression: Any, var: Any) -> bool:
    return any(part.same_as(var) for part in parts_of(expression))


def _reads(expression: Any) -> bool:
    return any(_kind(part) in _LOADS for part in parts_of(expression))


def _leaps(index: Any, last: Any) -> bool:
    """Whether consecutive iterations read elements that are several apart or the same, as at 2 i or ⌊i / 2⌋.
    It is False for indices that are themselves loaded or computed, or that wrap around: there, vectors
    gather.
    """
    kinds = {_kind(part) for part in parts_of(index)}
    if kinds & {*_LOADS, "Call", "Cast", "Select", "FloorMod", "Mod"}:
        return False
    if kinds & {"FloorDiv", "Div"}:
        return True
    coefficients = tvm().sym.detect_linear_equation(index, [last])
    return bool(coefficients) and hasattr(coefficients[0], "value") and abs(int(coefficients[0])) > 1


def _comparisons(condition: Any) -> list[Any]:
    return [part for part in parts_of(condition) if _kind(part) in ("LT", "LE", "GT", "GE", "EQ", "NE")]


def conditions_in(block: SBlock) -> list[Any]:
    """Return the comparisons by which a block chooses between values."""
    value = getattr(block.body, "value", None)
    conditions = _conditions(value) if value is not None else []
    return [comparison for condition in conditions for comparison in _comparisons(condition)]


def _conditions(value: Any) -> list[Any]:
    """Return the conditions by which an expression chooses between values."""
    conditional = [part for part in parts_of(value) if _kind(part) in ("Call", "Select")]
    return [p.args[0] if _kind(p) == "Call" else p.condition for p in conditional if _is_choice(p)]


def _parted(value: Any, last: Any) -> bool:
    """Whether all conditions on the last axis compare it with a constant. TVM also splits loops at other
    conditions, such as ⌊i / 8⌋ + 2 j < 1, but then it wrongly applies the result for one part to another.
    """
    comparisons = [c for condition in _conditions(value) for c in _comparisons(condition) if _uses(c, last)]
    return all(_kind(c) == "LT" and c.a.same_as(last) and hasattr(c.b, "value") for c in comparisons)


def _is_choice(part: Any) -> bool:
    return _kind(part) == "Select" or _name(part) == "if_then_else"


def _cuts(comparison: Any, last: Any, lanes: int) -> bool:
    """Whether a comparison can be true for some elements of a vector and false for others."""
    if not _uses(comparison, last):
        return False
    a, b = comparison.a, comparison.b
    if _kind(comparison) in ("LT", "GE") and a.same_as(last):
        return not (hasattr(b, "value") and int(b) % lanes == 0)
    if _kind(comparison) in ("LE", "GT") and b.same_as(last):
        return not (hasattr(a, "value") and int(a) % lanes == 0)
    return True
