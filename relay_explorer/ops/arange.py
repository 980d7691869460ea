"""Operators that create evenly spaced values (`arange`) and one-hot vectors (`one_hot`)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any as Anything

from ..ir.attrs import Attrs, DType, Number, attr, required
from ..ir.declaration import Gradient, Precision, Trait
from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import OpPattern, Relation, RelationError, Reporter, flops_per_output, no_flops
from ..ir.typed import tensor_type
from ..ir.types import Dim, TensorType, Type
from .arguments import Operand, computed, static_ints
from .calls import relay
from .examples import ints
from .layouts.layout import NO_LAYOUT_RULE
from .numeric import Array, along, element_type, np
from .operator import call, operator
from .relation import UNKNOWN, forward, integers, normal_axis, scalar
from .te.lowered import Lowered
from .te.tensors import Tensor, Value, cast, dtype_of, select, stage

__all__ = ["arange", "one_hot"]


class ArangeAttrs(Attrs, key="relay.attrs.ArangeAttrs"):
    start: Number | None = required("The first value, where it is static.")
    stop: Number | None = required("The value before which the vector ends, where it is static.")
    step: Number | None = required("The difference of two neighbouring values, where it is static.")
    dtype: DType = required("The element type of the result.")


def _arange_count(start: float, stop: float, step: float) -> int:
    """Count the values from `start`, by `step`, before `stop`; 0 where there are none."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))  # exact for integers of any size
    return max(0, math.ceil((stop - start) / step))


def _arange(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    for operand in types[:3]:
        reporter.assign(operand, TensorType.of((), attrs.dtype))
    length: Dim = UNKNOWN
    values = (attrs.start, attrs.stop, attrs.step)
    if None not in values:
        if attrs.step == 0 or not all(map(math.isfinite, values)):
            raise RelationError(
                f"a vector from {attrs.start} to {attrs.stop} by {attrs.step} is infinite",
                "give a step other than 0",
            )
        length = _arange_count(*values)
        if length == 0:
            raise RelationError(
                f"a vector from {attrs.start} to {attrs.stop} by {attrs.step} is empty",
                "exchange start and stop, or change the sign of step",
                culprits=(0, 1, 2),
            )
    reporter.assign(types[3], TensorType.of((length,), attrs.dtype))
    return True


def _row(attrs: ArangeAttrs, start: Array, stop: Array, step: Array) -> Array:
    if not step:
        raise ValueError("a step of 0 gives an infinite vector")
    length = _arange_count(start.item(), stop.item(), step.item())
    return start + np.arange(length).astype(start.dtype) * step


def _arange_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Differentiate element i, which is start + i · step."""
    start, _, step = call.args
    indices = relay.cumsum(relay.ones_like(grad), 0, exclusive=True)
    return [relay.cast_like(relay.sum(grad), start), None, relay.cast_like(relay.sum(grad * indices), step)]


def _arange_te(lowered: Lowered) -> list[Tensor]:
    """Compute the values from the operands, which are tensors. TOPI takes numbers instead; here the
    attributes only determine the length.
    """
    start, _, step = lowered.inputs
    dtype = dtype_of(start)
    return [stage(lowered.out_shape, lambda i: start() + cast(i, dtype) * step(), lowered.name)]


@operator(
    "arange",
    description="Returns evenly spaced values from start up to, but not including, stop.",
    formula=r"y_i = \mathit{start} + i \cdot \mathit{step}, \quad 0 \le i < "
    r"\lceil (\mathit{stop} - \mathit{start}) / \mathit{step} \rceil",
    family="creation",
    level=3,
    relation=Relation(
        "Arange", _arange, "{out} has as many elements as there are steps from {0} to {1} by {2}"
    ),
    inputs=("start", "stop", "step"),
    attrs=ArangeAttrs,
    pattern=OpPattern.OPAQUE,
    flops=flops_per_output,
    reference=_row,
    gradient=Gradient("d start = Σ dy, d step = Σ i · dy[i]", _arange_gradient),
    lowering=_arange_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.NEVER,  # a narrow type may not represent its bounds
    traits={Trait.SIZED_BY_VALUES},
    example=lambda build: [build(0, 6, 2), build(ints(), dtype="int32")],
)
def arange(
    start: Expr | float,
    stop: Expr | float | None = None,
    step: Expr | float | None = None,
    dtype: object = "float32",
) -> Call:
    """Create a vector of the values start, start + step, … below stop; `arange(stop)` starts at 0.

    Its length is `?` unless start, stop and step are constants.
    """
    if stop is None:
        start, stop = 0, start
    bounds = [
        value if isinstance(value, Expr) else const(value, dtype)
        for value in (start, stop, 1 if step is None else step)
    ]
    static = [b.data.item() if isinstance(b, Constant) and not b.data.shape else None for b in bounds]
    return call("arange", bounds, start=static[0], stop=static[1], step=static[2], dtype=dtype)


class OneHotAttrs(Attrs, key="relay.attrs.OneHotAttrs"):
    depth: int = attr(1, "The extent of the new axis.")
    axis: int = attr(-1, "The index of the new axis in the result; -1 is after the last.")
    dtype: DType | None = attr(None, "The element type of the result.")


def _one_hot(attrs: OneHotAttrs, indices: Type, on_value: Type, off_value: Type) -> Type:
    where = integers(indices, 0, "indices")
    on = scalar(on_value, 1, "on_value")
    scalar(off_value, 2, "off_value")
    if attrs.depth < 1:
        raise RelationError(f"depth is {attrs.depth}, but the new axis needs an extent of at least 1")
    axis = normal_axis(attrs.axis, len(where.shape) + 1, "one_hot")
    return TensorType.of((*where.shape[:axis], attrs.depth, *where.shape[axis:]), attrs.dtype or on.dtype)


def _marks(attrs: OneHotAttrs, indices: Array, on_value: Array, off_value: Array) -> Array:
    axis = attrs.axis % (indices.ndim + 1)
    positions = along(np.arange(attrs.depth), axis, indices.ndim + 1)
    marked = np.where(np.expand_dims(indices, axis) == positions, on_value, off_value)
    return marked.astype(element_type(attrs.dtype or on_value.dtype))


def _one_hot_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Return the gradients of the two values: each is summed over the elements that hold it."""
    indices, on, off, *rest = call.args
    assert call.attrs is not None
    dtype = tensor_type(call).dtype
    chosen = Call(call.op, [indices, const(1, dtype), const(0, dtype), *rest], call.attrs)
    by_on = relay.sum(grad * chosen)
    return [
        None,
        relay.cast_like(by_on, on),
        relay.cast_like(relay.sum(grad) - by_on, off),
        *[None] * len(rest),
    ]


ONE_HOT_GRADIENT = Gradient(
    "d on_value = Σ dy at the indices, d off_value = Σ dy elsewhere", _one_hot_gradient
)


def _one_hot_te(lowered: Lowered) -> list[Tensor]:
    indices, on, off = lowered.inputs
    rank = len(indices.shape)
    axis = lowered.attrs.axis % (rank + 1)
    shape = (*indices.shape[:axis], lowered.attrs.depth, *indices.shape[axis:])
    dtype = lowered.out.dtype

    def value(*i: Value) -> Value:
        here = indices(*i[:axis], *i[axis + 1 :]) == cast(i[axis], dtype_of(indices))
        return cast(select(here, on(), cast(off(), dtype_of(on))), dtype)

    return [stage(shape, value, lowered.name)]


@operator(
    "one_hot",
    description="Replaces each index by a vector with one value at that index and another value elsewhere.",
    formula=r"y_{i d} = \begin{cases} v_{\mathrm{on}} & d = x_i \\ v_{\mathrm{off}} & d \ne x_i \end{cases}",
    family="creation",
    relation=forward("OneHot", "{out} = {0} with a new axis of extent `depth`", _one_hot),
    inputs=("indices", "on_value", "off_value"),
    attrs=OneHotAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=no_flops,
    reference=_marks,
    gradient=ONE_HOT_GRADIENT,
    lowering=_one_hot_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    traits={Trait.SIZED_BY_VALUES},
    example=lambda build: build(ints(4), const(1.0), const(0.0), 3, -1, "float32"),
)
def one_hot(
    indices: Operand, on_value: Operand, off_value: Operand, depth: int | Expr, axis: int, dtype: object
) -> Call:
    """Add an axis of extent `depth`, with `on_value` at each of `indices` and `off_value` elsewhere."""
    operands = [indices, on_value, off_value]
    if computed(depth):
        return call("dyn.one_hot", [*operands, depth], axis=axis, dtype=dtype)
    return call("one_hot", operands, depth=static_ints(depth, "depth")[0], axis=axis, dtype=dtype)
