"""Find expressions that are a contiguous part of another tensor: consecutive elements in its memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ir.declaration import Trait
from ..ir.expr import Call, Expr, TupleGetItem
from ..ir.op import Op
from ..ir.types import TensorType, Type
from ..ops.slice import slice_plan

if TYPE_CHECKING:
    from ..ops.slice import StridedSliceAttrs


class Piece(NamedTuple):
    """The elements of `source` from index `first` on, in row-major order."""

    source: Expr
    first: int


def piece_of(expr: Expr) -> Piece:
    """Return the tensor of which `expr` is a contiguous part, through slices, splits and reshapes; `expr`
    itself where there is none.
    """
    first = 0
    while True:
        whole: Expr
        if isinstance(expr, TupleGetItem):
            whole, begin = expr.tuple_value, split_piece(expr)
            source = whole.args[0] if isinstance(whole, Call) else whole
        elif isinstance(expr, Call) and isinstance(expr.op, Op) and expr.args:
            source = expr.args[0]
            begin = 0 if expr.op.has(Trait.RESHAPE) and _is_static(source, expr) else slice_piece(expr)
        else:
            return Piece(expr, first)
        if begin is None:
            return Piece(expr, first)
        expr, first = source, first + begin


def slice_piece(call: Call) -> int | None:
    """Return the index of the first element that a `strided_slice` takes, if it takes a contiguous part."""
    if not (isinstance(call.op, Op) and call.op.name == "strided_slice" and _is_static(call.args[0], call)):
        return None
    attrs: StridedSliceAttrs = call.attrs  # type: ignore[assignment]  # those of its operator
    shape = _shape(call.args[0])
    begins = [0] * len(shape)
    for axis, begin, _, stride in slice_plan(attrs, len(shape)):
        if stride != 1 and _shape(call)[axis] > 1:
            return None
        begins[axis] = min(max(begin + shape[axis] if begin < 0 else begin, 0), max(shape[axis] - 1, 0))
    return _first(shape, _shape(call), begins)


def split_piece(field: TupleGetItem) -> int | None:
    """Return the index of the first element of a part of a `split`, if the part is contiguous."""
    call = field.tuple_value
    if not (isinstance(call, Call) and isinstance(call.op, Op) and call.op.name == "split"):
        return None
    if not _is_static(call.args[0], field):
        return None
    assert call.attrs is not None
    shape = _shape(call.args[0])
    axis, cuts = call.attrs["axis"] % len(shape), call.attrs["indices_or_sections"]
    begins = [0] * len(shape)
    if isinstance(cuts, int):
        begins[axis] = field.index * (shape[axis] // cuts)
    elif field.index:
        begins[axis] = int(cuts[field.index - 1])
    return _first(shape, _shape(field), begins)


def _first(shape: tuple[int, ...], sizes: tuple[int, ...], begins: list[int]) -> int | None:
    """Return the index of the first element of a part that takes `sizes` elements of each axis, starting at
    `begins`; None where it is not contiguous: all axes after the first one of which it takes several elements
    must be complete.
    """
    if 0 in shape or 0 in sizes:
        return None
    first, several = 0, False
    for extent, size, begin in zip(shape, sizes, begins):
        if several and size != extent:
            return None
        several |= size > 1
        first = first * extent + begin
    return first


def _is_static(*parts: Expr) -> bool:
    types: list[Type] = [part.checked_type for part in parts]
    return all(isinstance(type_, TensorType) and type_.is_static for type_ in types)


def _shape(expr: Expr) -> tuple[int, ...]:
    type_ = expr.checked_type
    assert isinstance(type_, TensorType)
    return type_.concrete_shape
