"""The gradients of operators that move elements: reshapes, transpositions, joins, cuts and copies."""

from __future__ import annotations

from itertools import accumulate

from ...ir.expr import Call, Expr, Tuple
from ...ir.types import TupleType
from .. import join
from ..broadcast import broadcast_to_like, collapse_sum_like
from ..gradient_tools import axis_count, extent, extents, field_of
from ..gradient_tools import moved as moved
from ..gradient_tools import moved_field as moved_field
from ..gradient_tools import reshaped as reshaped
from ..gradient_tools import typed_field as typed_field
from ..reduce import sum as sum_of
from ..reshape import reshape, reshape_like
from ..transform import cast_like, squeeze
from ..transform import reverse as reversed_
from ..transform import transpose as transposed


def broadcast(call: Call, grad: Expr) -> list[Expr | None]:
    return [collapse_sum_like(grad, call.args[0]), *[None] * (len(call.args) - 1)]


def collapsed(call: Call, grad: Expr) -> list[Expr | None]:
    return [broadcast_to_like(grad, call.args[0]), None]


def filled(call: Call, grad: Expr) -> list[Expr | None]:
    """Of full: every element is the one that it was given."""
    return [cast_like(sum_of(grad), call.args[0]), *[None] * (len(call.args) - 1)]


def filled_like(call: Call, grad: Expr) -> list[Expr | None]:
    return [None, cast_like(sum_of(grad), call.args[1])]


def transpose(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    rank = axis_count(call.args[0])
    axes = [axis % rank for axis in call.attrs["axes"] or ()]
    back = sorted(range(rank), key=axes.__getitem__) if axes else None
    return [transposed(grad, back)]


def reverse(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [reversed_(grad, call.attrs["axis"])]


def concatenate(call: Call, grad: Expr) -> list[Expr]:
    """Cut where the tensors were joined."""
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    parts = [typed_field(fields, k) for k in range(len(fields.checked_type.fields))]
    axis = call.attrs["axis"] % axis_count(call)
    ends = list(accumulate(extent(part, axis, "the gradient of `concatenate`") for part in parts))
    return [join.split(grad, ends[:-1], axis).tuple_value]


def stack(call: Call, grad: Expr) -> list[Expr]:
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    axis = call.attrs["axis"] % axis_count(call)
    parts = join.split(grad, len(fields.checked_type.fields), axis)
    return [Tuple([squeeze(part, [axis]) for part in parts])]


def split(call: Call, grad: Expr) -> list[Expr]:
    assert call.attrs is not None
    return [join.concatenate(grad, call.attrs["axis"])]


def meshgrid(call: Call, grad: Expr) -> list[Expr]:
    """Each vector is repeated along the axes of the others."""
    (fields,) = call.args
    assert call.attrs is not None
    assert isinstance(fields.checked_type, TupleType)
    count = len(fields.checked_type.fields)
    places = list(range(count))
    if call.attrs["indexing"] == "xy" and count > 1:
        places[:2] = [1, 0]
    found = []
    for number, place in enumerate(places):
        by_field = sum_of(field_of(grad, number), [axis for axis in range(count) if axis != place])
        found.append(reshape_like(by_field, typed_field(fields, number)))
    if count == 1:
        return [Tuple([reshape_like(field_of(grad, 0), typed_field(fields, 0))])]
    return [Tuple(found)]


def repeat(call: Call, grad: Expr) -> list[Expr]:
    """The repetitions stand side by side: an axis of their own, which is summed."""
    (x,) = call.args
    assert call.attrs is not None
    shape = extents(x, "the gradient of `repeat`")
    axis = call.attrs["axis"] % len(shape)
    apart = [*shape[: axis + 1], call.attrs["repeats"], *shape[axis + 1 :]]
    return [sum_of(reshape(grad, apart), axis + 1)]
