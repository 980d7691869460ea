"""The operator that overwrites a slice of a tensor."""

from __future__ import annotations

from typing import Any as Anything

from ..ir.declaration import Gradient, Precision
from ..ir.expr import Call, Expr
from ..ir.op import OpPattern, RelationError, no_flops
from ..ir.show import show_shape
from ..ir.types import Type
from .arguments import Operand, int_const
from .calls import relay
from .examples import X, t
from .gradient_tools import zeros_of
from .layouts.layout import (
    NO_LAYOUT_RULE,
)
from .numeric import Array, numbers
from .operator import call, operator
from .relation import forward, integers, same_dtypes, tensor
from .slice import Bounds, StridedSliceAttrs, slice_box
from .te.library import tirx
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, every, guarded, known, number, select, stage

__all__ = ["strided_set"]


def _strided_set(attrs: None, data: Type, v: Type, begin: Type, end: Type, strides: Type) -> Type:
    x, value = tensor(data, 0, "data"), tensor(v, 1, "v")
    same_dtypes(x, value)
    if len(x.shape) != len(value.shape):
        raise RelationError(
            f"the value {show_shape(value.shape)} and the data differ in rank: the data is "
            f"{show_shape(x.shape)}",
            "relay.expand_dims adds axes of 1",
            culprits=(0, 1),
        )
    for operand, (name, type_) in enumerate((("begin", begin), ("end", end), ("strides", strides)), 2):
        vector = integers(type_, operand, name)
        if len(vector.shape) != 1 or (isinstance(vector.shape[0], int) and vector.shape[0] > len(x.shape)):
            raise RelationError(
                f"{name} must be a vector of at most {len(x.shape)} integers, one per axis, not {vector}",
                culprits=(operand,),
            )
    return x


def _set(attrs: None, x: Array, v: Array, begin: Array, end: Array, strides: Array) -> Array:
    bounds = {"begin": numbers(begin), "end": numbers(end), "strides": numbers(strides)}
    y = x.copy()
    y[slice_box(StridedSliceAttrs(**bounds, axes=None), x.ndim)] = v
    return y


def _strided_set_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    _, value, begin, end, strides = call.args
    by_data = relay.strided_set(grad, zeros_of(value), begin, end, strides)
    return [by_data, relay.strided_slice(grad, begin, end, strides), None, None, None]


def _strided_set_te(lowered: Lowered) -> list[Tensor]:
    """Test whether each element lies in the slice, whose bounds are known only at run time, and if so read
    its new value. Indices into the values are clamped, in case the slice is larger.
    """
    x, v, begin, end, strides = lowered.inputs

    def value(*i: Value) -> Value:
        inside, source = [], []
        for axis, (at, dim) in enumerate(zip(i, x.shape, strict=True)):
            step = _bound_of(strides, axis, number(1, "int64"))
            first, last = _box_te(begin, end, axis, dim, step)
            offset = select(step > 0, at - first, first - at)
            size = select(step > 0, step, 0 - step)
            size = tirx.max(size, number(1, "int64"))
            within = select(step > 0, tirx.all(at >= first, at < last), tirx.all(at <= first, at > last))
            inside.append(tirx.all(within, tirx.truncmod(offset, size) == 0))
            whole = tirx.truncdiv(offset, size)
            source.append(0 if known(v.shape[axis]) == 1 else tirx.max(tirx.min(whole, v.shape[axis] - 1), 0))
        return guarded(every(inside), v(*source), x(*i))

    return [stage(x.shape, value, lowered.name)]


def _bound_of(vector: Tensor, axis: int, default: Value) -> Value:
    """Return the bound of an axis from a vector that has one for each of the first axes, else `default`."""
    return vector(axis).astype("int64") if axis < int(vector.shape[0]) else default


def _box_te(begin: Tensor, end: Tensor, axis: int, dim: Anything, step: Value) -> tuple[Value, Value]:
    """Return the begin and end of the slice on an axis, clamped as Python clamps those of its slices."""
    size = tirx.Cast("int64", dim)
    back = step < 0
    low = select(back, number(-1, "int64"), number(0, "int64"))
    high = select(back, size - 1, size)

    def clipped(bound: Value) -> Value:
        return tirx.max(tirx.min(select(bound < 0, bound + size, bound), high), low)

    first = (
        clipped(_bound_of(begin, axis, tirx.const(0, "int64")))
        if axis < int(begin.shape[0])
        else select(back, high, low)
    )
    last = clipped(_bound_of(end, axis, size)) if axis < int(end.shape[0]) else select(back, low + 1, high)
    return first, last


@operator(
    "strided_set",
    description="Overwrites a slice that has a begin, an end and a stride on each axis.",
    formula=r"y_{\mathit{begin} + i \cdot \mathit{stride}} = v_i, \quad y_j = x_j \text{ elsewhere}",
    family="index",
    level=4,
    relation=forward("StridedSet", "{out} = {0}", _strided_set),
    pattern=OpPattern.INJECTIVE,
    flops=no_flops,
    reference=_set,
    gradient=Gradient("dv = dy inside the slice; dx = dy outside, 0 inside", _strided_set_gradient),
    lowering=_strided_set_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(X, t(1, 6, name="y"), [0], [1]),
    lenient_in_tvm="It checked neither the value's type nor those of begin, end and strides.",
)
def strided_set(data: Operand, v: Operand, begin: Bounds, end: Bounds, strides: Bounds | None = None) -> Call:
    """Overwrite the slice of `data` from `begin` up to `end` by `strides` with `v`."""
    bounds = [int_const(bound) for bound in (begin, end, [1] if strides is None else strides)]
    return call("strided_set", [data, v, *bounds])
