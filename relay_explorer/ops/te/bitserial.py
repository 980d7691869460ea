"""Products of numbers of a few bits.

TOPI packs bits and counts those that two words share. Here the numbers that the bits stand for are
multiplied; the result is the same.
"""

from __future__ import annotations

from typing import Any

from ..nn.layout import layout_map
from ..nn.sliding import sides
from .convolution import places, surrounded
from .library import tirx
from .lowered import Lowered
from .tensors import Tensor, Value, View, cast, dims, laid_out, number, quotient, reduce_axes, stage, sum_over


def _few_bits(x: Value, bits: int) -> Value:
    """The lowest bits of a number."""
    return tirx.bitwise_and(x.astype("int64"), number((1 << bits) - 1, "int64"))


def _weight(w: Value, attrs: Any) -> Value:
    """What the bits of a weight stand for: 1 and -1 each, or 1 and 0."""
    value = _few_bits(w, attrs.weight_bits)
    return value * 2 - number((1 << attrs.weight_bits) - 1, "int64") if attrs.unipolar else value


def conv2d(call: Lowered) -> list[Tensor]:
    attrs, dtype = call.attrs, call.out.dtype
    layout = layout_map(attrs.data_layout, "NCHW")
    data, weight = View(call.inputs[0], layout), View(call.inputs[1], layout_map(attrs.kernel_layout, "OIHW"))
    padded = surrounded(data, sides(attrs.padding, 2), number(0, data.dtype), f"{call.name}_pad")
    sizes = [
        places(dim, size, stride, 1, (0, 0))
        for dim, size, stride in zip(padded.shape[2:], weight.shape[2:], attrs.strides, strict=True)
    ]
    c, u, v = reduce_axes(weight.shape[1:])
    (down, across) = attrs.strides

    def value(n: Value, o: Value, i: Value, j: Value) -> Value:
        seen = _few_bits(padded(n, c, i * down + u, j * across + v), attrs.activation_bits)
        return sum_over(seen * _weight(weight(o, c, u, v), attrs), [c, u, v])

    total = laid_out((data.shape[0], weight.shape[0], *sizes), layout, value, f"{call.name}_sums")
    return [stage(total.shape, lambda *i: cast(total(*i), dtype), call.name)]


def dense(call: Lowered) -> list[Tensor]:
    attrs, dtype = call.attrs, call.out.dtype
    x, weight = call.inputs
    (k,) = reduce_axes([dims(x)[1]])

    def value(n: Value, j: Value) -> Value:
        return sum_over(_few_bits(x(n, k), attrs.data_bits) * _weight(weight(j, k), attrs), [k])

    total = stage((dims(x)[0], dims(weight)[0]), value, f"{call.name}_sums")
    return [stage(total.shape, lambda *i: cast(total(*i), dtype), call.name)]


def bitpack(call: Lowered) -> list[Tensor]:
    """The first of the elements that share a word is its highest bit."""
    x, attrs = call.inputs[0], call.attrs
    width, shape = int(attrs.pack_type[4:]), list(dims(x))
    axis = attrs.pack_axis % len(shape)
    shape[axis] = quotient(shape[axis], width)
    plane = attrs.bit_axis % (len(shape) + 1)
    shape.insert(plane, attrs.bits)
    (k,) = reduce_axes([width])

    def value(*i: Value) -> Value:
        at = [*i[:plane], *i[plane + 1 :]]
        element = x(*at[:axis], at[axis] * width + k, *at[axis + 1 :]).astype("int64")
        bit = tirx.bitwise_and(element >> i[plane].astype("int64"), number(1, "int64"))
        place = number(width - 1, attrs.pack_type) - k.astype(attrs.pack_type)
        return sum_over(bit.astype(attrs.pack_type) << place, [k])

    return [stage(shape, value, call.name)]
