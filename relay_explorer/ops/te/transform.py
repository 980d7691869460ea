"""Operators that keep a tensor's elements and change its element type, its axes, its shape or their order."""

from __future__ import annotations

from typing import Any

from ..nn.layout import layout_map, parse_layout
from .lowered import Lowered
from .tensors import (
    Shape,
    Tensor,
    Value,
    View,
    dims,
    known,
    laid_out,
    number,
    product,
    quotient,
    select,
    stage,
)
from .tensors import cast as converted
from .tensors import reshape as with_shape

# -- element types


# -- axes and shapes


def reshape(call: Lowered) -> list[Tensor]:
    """The same elements in row-major order, in the shape that the type relation has found."""
    x, shape = call.inputs[0], call.out_shape
    if call.op.name == "reshape" and sum(known(dim) is None for dim in shape) > 1:
        return [with_shape(x, _by_newshape(x, shape, call.attrs), call.name)]
    return [with_shape(x, _open_from(x, shape), call.name)]


contrib_reverse_reshape = reshape


def _by_newshape(x: Tensor, shape: Shape, attrs: Any) -> Shape:
    """`shape` with its sizes that are not known computed as `newshape` says."""
    sizes, wanted = list(dims(x)), iter(attrs.newshape)
    found: list[Any] = []
    left = None  # the axis of all elements that are left
    for code in wanted:
        if code == -1:
            left = len(found)
            found.append(1)
            sizes = sizes[1:]
        elif code == -2:
            found, sizes = [*found, *sizes], []
        elif code == -3:
            found.append(sizes[0] * sizes[1])
            sizes = sizes[2:]
        elif code == -4:
            first, second = next(wanted), next(wanted)
            found += [
                quotient(sizes[0], second) if first == -1 else first,
                quotient(sizes[0], first) if second == -1 else second,
            ]
            sizes = sizes[1:]
        else:
            found.append(code if code or attrs.allowzero else sizes[0])
            sizes = sizes[1:]
    if left is not None:
        found[left] = quotient(product(dims(x)), product(found))
    return [have if known(dim) is None else dim for dim, have in zip(shape, found, strict=True)]


def _open_from(x: Tensor, shape: Shape) -> Shape:
    """`shape` with its one size that is not known, if it has one, computed from the number of elements."""
    unknown = [axis for axis, dim in enumerate(shape) if known(dim) is None]
    if len(unknown) != 1:
        return shape
    found = list(shape)
    others = product([dim for axis, dim in enumerate(shape) if axis != unknown[0]])
    found[unknown[0]] = product(dims(x)) // others
    return found


def reshape_like(call: Lowered) -> list[Tensor]:
    x, like = call.inputs
    attrs = call.attrs
    first, last = _span(attrs.lhs_begin, attrs.lhs_end, len(x.shape))
    start, stop = _span(attrs.rhs_begin, attrs.rhs_end, len(like.shape))
    shape = (*dims(x)[:first], *dims(like)[start:stop], *dims(x)[last:])
    return [with_shape(x, shape, call.name)]


def _span(begin: int, end: int | None, rank: int) -> tuple[int, int]:
    last = rank if end is None else end
    return begin % (rank + 1) if begin >= 0 else begin + rank, last if last >= 0 else last + rank


def layout_transform(call: Lowered) -> list[Tensor]:
    """Blocks divide the axes: Relay's relation refuses others."""
    attrs = call.attrs
    canonical = "".join(letter for letter, _ in parse_layout(attrs.src_layout) if letter.isupper())
    view = View(call.inputs[0], layout_map(attrs.src_layout, canonical))
    return [laid_out(view.shape, layout_map(attrs.dst_layout, canonical), view, call.name)]


# -- shapes as data


def shape_of(call: Lowered) -> list[Tensor]:
    x, dtype = call.inputs[0], call.out.dtype

    def value(i: Value) -> Value:
        found: Any = number(0, dtype)
        for axis, dim in enumerate(dims(x)):
            size = number(dim, dtype) if isinstance(dim, int) else converted(dim, dtype)
            found = select(i == axis, size, found)
        return found

    return [stage((len(x.shape),), value, call.name)]


def ndarray_size(call: Lowered) -> list[Tensor]:
    size, dtype = product(dims(call.inputs[0])), call.out.dtype
    return [
        stage((), lambda: number(size, dtype) if isinstance(size, int) else converted(size, dtype), call.name)
    ]


# -- order along an axis
