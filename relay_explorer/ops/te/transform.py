"""Operators that keep a tensor's elements and change its element type, its axes, its shape or their order."""

from __future__ import annotations

from typing import Any

from ..nn.layout import layout_map, parse_layout
from ..relation import normal_axes
from .library import tirx
from .lowered import Lowered
from .tensors import (
    Index,
    Shape,
    Tensor,
    Value,
    View,
    dims,
    dtype_of,
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


def cast(call: Lowered) -> list[Tensor]:
    """`cast` and `cast_like`. A number becomes true where it is not 0, which TVM's cast to bool does not
    do.
    """
    x, dtype = call.inputs[0], call.out.dtype
    return [stage(x.shape, lambda *i: converted(x(*i), dtype), call.name)]


def reinterpret(call: Lowered) -> list[Tensor]:
    x, dtype = call.inputs[0], call.out.dtype
    if dtype_of(x) == dtype:
        return [stage(x.shape, lambda *i: x(*i), call.name)]
    if dtype_of(x) == "bool":
        return [stage(x.shape, lambda *i: converted(x(*i), dtype), call.name)]
    if dtype == "bool":
        return [stage(x.shape, lambda *i: x(*i) != number(0, dtype_of(x)), call.name)]
    return [stage(x.shape, lambda *i: tirx.reinterpret(dtype, x(*i)), call.name)]


# -- axes and shapes


def transpose(call: Lowered) -> list[Tensor]:
    x, rank = call.inputs[0], len(call.inputs[0].shape)
    axes = range(rank)[::-1] if call.attrs.axes is None else normal_axes(call.attrs.axes, rank)
    place = {axis: n for n, axis in enumerate(axes)}  # where each axis of x has gone
    shape = [x.shape[axis] for axis in axes]
    return [stage(shape, lambda *i: x(*[i[place[axis]] for axis in range(rank)]), call.name)]


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


def expand_dims(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    at = attrs.axis if attrs.axis >= 0 else len(x.shape) + attrs.axis + 1
    shape = (*x.shape[:at], *[1] * attrs.num_newaxis, *x.shape[at:])
    return [stage(shape, lambda *i: x(*i[:at], *i[at + attrs.num_newaxis :]), call.name)]


def squeeze(call: Lowered) -> list[Tensor]:
    x, rank = call.inputs[0], len(call.inputs[0].shape)
    if call.attrs.axis is None:
        dropped = [axis for axis, dim in enumerate(dims(x)) if known(dim) == 1]
    else:
        dropped = normal_axes(call.attrs.axis, rank)
    shape = [dim for axis, dim in enumerate(x.shape) if axis not in dropped]

    def value(*i: Value) -> Value:
        rest = iter(i)
        return x(*[0 if axis in dropped else next(rest) for axis in range(rank)])

    return [stage(shape, value, call.name)]


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


def _with(index: Index, axis: int, value: Value) -> list[Value]:
    """An index with another place on `axis`."""
    return [*index[:axis], value, *index[axis + 1 :]]


def reverse(call: Lowered) -> list[Tensor]:
    x = call.inputs[0]
    axis = call.attrs.axis % len(x.shape)
    last = dims(x)[axis] - 1
    return [stage(x.shape, lambda *i: x(*_with(i, axis, last - i[axis])), call.name)]


def reverse_sequence(call: Lowered) -> list[Tensor]:
    """Reverse a prefix of each sequence: none of it for a length below 1, all of it for one too long."""
    x, lengths = call.inputs
    seq, batch = call.attrs.seq_axis % len(x.shape), call.attrs.batch_axis % len(x.shape)
    extent = dims(x)[seq]

    def value(*i: Value) -> Value:
        length = converted(lengths(i[batch]), "int64")
        length = tirx.max(tirx.min(length, number(extent, "int64") if isinstance(extent, int) else extent), 0)
        return x(*_with(i, seq, select(i[seq] < length, length - 1 - i[seq], converted(i[seq], "int64"))))

    return [stage(x.shape, value, call.name)]
