"""Reshape to extents of which some are known only at run time, with types as precise as Relay can express.

A `reshape` whose shape the program computes has a result all of whose extents are `?`. Most reshapes of
models keep, merge or split axes, which the special values 0, -3 and -4 of Relay's `reshape` express
statically.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.size import Size, SizeVar
from ...ir.types import Any, Dim
from ...ops import namespaces as relay

Extent = int | Size
INFERRED = -1


def named(shape: Sequence[Dim], prefix: str = "axis") -> list[Extent]:
    """Return a shape in which each unknown dimension has a name of its own."""
    return [SizeVar(f"{prefix}{i}") if isinstance(dim, Any) else dim for i, dim in enumerate(shape)]


def static_reshape(x: Expr, source: Sequence[Extent], target: Sequence[Extent]) -> Expr | None:
    """Reshape `x` from `source` to `target`, whose -1 stands for what remains, without computing a shape.
    Return None where the target needs one.
    """
    if list(target) == list(source):
        return x
    numbers = [extent for extent in target if isinstance(extent, int)]
    if len(numbers) == len(target):
        return relay.reshape(x, numbers, allowzero=0 in numbers)
    codes = special_values(source, target)
    return None if codes is None else relay.reshape(x, codes)


def with_inferred(source: Sequence[Extent], target: Sequence[Extent]) -> list[Extent]:
    """Return the new shape with -1 replaced by what it stands for, where that is a number or a size."""
    result = list(target)
    if result.count(INFERRED) > 1:
        raise RelayError(f"only one extent of the shape {result} can be -1")
    if INFERRED not in result:
        return result
    total = product(source)
    divisor = product([extent for extent in result if extent != INFERRED])
    if isinstance(total, Any) or isinstance(divisor, Any):
        return result
    if isinstance(total, int) and isinstance(divisor, int) and (divisor == 0 or total % divisor):
        raise RelayError(f"a tensor of {total} elements cannot be reshaped to {result}")
    if divisor == 0:
        return result
    inferred: Anything = cast(Anything, total) // divisor
    if not isinstance(inferred, Any) and inferred * divisor == total:
        result[result.index(INFERRED)] = inferred
    return result


def special_values(source: Sequence[Extent], target: Sequence[Extent]) -> list[int] | None:
    """Return the value of `newshape` that reshapes `source` to `target`, or None where none expresses it.

    0 copies an axis, -3 merges two, -4 splits one, and -1, once, is what remains.
    """
    codes: list[int] = []
    inferred = False
    at = position = 0  # the next axis of source and of target
    while position < len(target):
        extent = target[position]
        here = source[at] if at < len(source) else None
        following = source[at + 1] if at + 1 < len(source) else None
        split = _split(here, target[position : position + 2])
        if isinstance(extent, int) and extent > 0 and split is None:
            codes.append(extent)
            at += 1
        elif here is not None and extent == here:
            codes.append(0)
            at += 1
        elif here is not None and following is not None and product([here, following]) == extent:
            codes.append(-3)
            at += 2
        elif split is not None:
            codes += split
            at += 1
            position += 1
        elif not inferred and extent != 0:
            codes.append(INFERRED)
            inferred = True
            at += 1
        else:
            return None
        position += 1
    return codes


def _split(here: Extent | None, parts: Sequence[Extent]) -> list[int] | None:
    """Return the values that split the axis `here` into two of which one is a number, or None."""
    if not isinstance(here, Size) or len(parts) != 2 or product(parts) != here:
        return None
    left, right = parts
    if isinstance(right, int) and right > 1:
        return [-4, -1, right]
    if isinstance(left, int) and left > 1:
        return [-4, left, -1]
    return None


def product(dims: Sequence[Dim]) -> Dim:
    """Return the product of dimensions."""
    result: Anything = 1
    for dim in dims:
        result = result * dim
    return cast(Dim, result)
