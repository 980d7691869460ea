"""Operators that make tensors from nothing but their shape, or after another tensor."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any as Anything

from ..ir.attrs import Attrs, DType, Ints, Number, attr, required
from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import Compute, Op, OpPattern, Relation, RelationError, Reporter, flops_per_output, no_flops
from ..ir.types import Dim, TensorType, Type
from .arguments import computed, expr, static_ints, unary_builder
from .declare import declare
from .numeric import Array, along, element_type, np
from .relation import IDENTITY, UNKNOWN, forward, integers, normal_axis, scalar, tensor

__all__ = ["arange", "full", "full_like", "one_hot", "ones", "ones_like", "zeros", "zeros_like"]


class InitOpAttrs(Attrs, key="relay.attrs.InitOpAttrs"):
    shape: Ints | None = required("The shape of the result.")
    dtype: DType | None = attr(None, "The element type of the result.")


def _extents(attrs: InitOpAttrs) -> tuple[int, ...]:
    if attrs.shape is None or any(extent < 0 for extent in attrs.shape):
        raise RelationError(
            f"shape={attrs.shape if attrs.shape is None else list(attrs.shape)} must be extents of 0 or more"
        )
    return attrs.shape


def _init(attrs: InitOpAttrs) -> Type:
    if not attrs.dtype:
        raise RelationError("the element type is missing", 'give it: dtype="float32"')
    return TensorType.of(_extents(attrs), attrs.dtype)


def _full(attrs: InitOpAttrs, fill_value: Type) -> Type:
    fill = scalar(fill_value, 0, "fill_value")
    return TensorType.of(_extents(attrs), attrs.dtype or fill.dtype)


def _full_like(attrs: None, data: Type, fill_value: Type) -> Type:
    scalar(fill_value, 1, "fill_value")
    return tensor(data, 0, "data")


def _makes(
    name: str,
    description: str,
    formula: str,
    relation: Relation,
    *,
    inputs: tuple[str, ...] = (),
    attrs: type[Attrs] | None = None,
    pattern: OpPattern = OpPattern.ELEMWISE,
    level: int = 3,
    compute: Compute,
    gradient: str = "",
) -> Op:
    return declare(
        name, description, formula=formula, relation=relation, inputs=inputs, attrs=attrs, pattern=pattern,
        flops=no_flops, compute=compute, family="creation", level=level, gradient=gradient,
        lowering=f"create.{name}",
    )  # fmt: skip


def _filled(attrs: InitOpAttrs, fill_value: Array) -> Array:
    return np.full(attrs.shape, fill_value, element_type(attrs.dtype or fill_value.dtype))


_INIT = forward("InitOp", "{out} has `shape` and `dtype`", _init)
_ZEROS = _makes(
    "zeros",
    "A tensor of zeros.",
    r"y_i = 0",
    _INIT,
    attrs=InitOpAttrs,
    compute=lambda attrs: _filled(attrs, 0),
    gradient="elementwise.none",
)
_ONES = _makes(
    "ones",
    "A tensor of ones.",
    r"y_i = 1",
    _INIT,
    attrs=InitOpAttrs,
    compute=lambda attrs: _filled(attrs, 1),
    gradient="elementwise.none",
)
_FULL = _makes(
    "full",
    "A tensor that holds one number everywhere.",
    r"y_i = v",
    forward("Full", "{out} has `shape`, and `dtype` or that of {0}", _full),
    inputs=("fill_value",),
    attrs=InitOpAttrs,
    compute=_filled,
    gradient="shape.filled",
)
_FULL_LIKE = _makes(
    "full_like",
    "A tensor of another's shape that holds one number everywhere.",
    r"y_i = v",
    forward("FullLike", "{out} = {0}, if {1} is one number", _full_like),
    inputs=("data", "fill_value"),
    compute=lambda attrs, x, fill_value: np.full_like(x, fill_value),
    gradient="shape.filled_like",
)

zeros_like = unary_builder(
    _makes(
        "zeros_like",
        "Zeros in the shape of a tensor.",
        r"y_i = 0",
        IDENTITY,
        inputs=("data",),
        level=4,
        compute=lambda attrs, x: np.zeros_like(x),
        gradient="elementwise.none",
    ),
    __name__,
)
ones_like = unary_builder(
    _makes(
        "ones_like",
        "Ones in the shape of a tensor.",
        r"y_i = 1",
        IDENTITY,
        inputs=("data",),
        level=4,
        compute=lambda attrs, x: np.ones_like(x),
        gradient="elementwise.none",
    ),
    __name__,
)


def zeros(shape: int | Sequence[int] | Expr, dtype: object) -> Expr:
    """A tensor of zeros."""
    if computed(shape):
        return Call(Op.get("dyn.zeros"), [expr(shape)], InitOpAttrs(shape=None, dtype=dtype))
    return Call(_ZEROS, [], InitOpAttrs(shape=static_ints(shape, "shape"), dtype=dtype))


def ones(shape: int | Sequence[int] | Expr, dtype: object) -> Expr:
    """A tensor of ones."""
    if computed(shape):
        return Call(Op.get("dyn.ones"), [expr(shape)], InitOpAttrs(shape=None, dtype=dtype))
    return Call(_ONES, [], InitOpAttrs(shape=static_ints(shape, "shape"), dtype=dtype))


def full(data: Expr, shape: int | Sequence[int] | Expr = (), dtype: object = "") -> Expr:
    """A tensor of `data`, a scalar, everywhere; its element type is the scalar's unless `dtype` is given."""
    if computed(shape):
        attrs = InitOpAttrs(shape=None, dtype=dtype or None)
        return Call(Op.get("dyn.full"), [expr(data), expr(shape)], attrs)
    return Call(_FULL, [expr(data)], InitOpAttrs(shape=static_ints(shape, "shape"), dtype=dtype or None))


def full_like(data: Expr, fill_value: Expr) -> Expr:
    """A tensor like `data` that holds `fill_value`, a scalar, everywhere."""
    return Call(_FULL_LIKE, [expr(data), expr(fill_value)])


class ArangeAttrs(Attrs, key="relay.attrs.ArangeAttrs"):
    start: Number | None = required("The first value, where it is known when the program is written.")
    stop: Number | None = required("The value before which the row ends, where known.")
    step: Number | None = required("The distance of two values, where known.")
    dtype: DType = required("The element type of the result.")


def _arange_count(start: float, stop: float, step: float) -> int:
    """How many values there are from `start`, by `step`, before `stop`; 0 where there are none."""
    if isinstance(start, int) and isinstance(stop, int) and isinstance(step, int):
        return max(0, -((start - stop) // step))  # exact for integers of any size
    return max(0, math.ceil((stop - start) / step))


def _arange(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    for given in types[:3]:
        reporter.assign(given, TensorType.of((), attrs.dtype))
    length: Dim = UNKNOWN
    values = (attrs.start, attrs.stop, attrs.step)
    if None not in values:
        if attrs.step == 0 or not all(map(math.isfinite, values)):
            raise RelationError(
                f"a row from {attrs.start} to {attrs.stop} by {attrs.step} never ends",
                "give a step other than 0",
            )
        length = _arange_count(*values)
        if length == 0:
            raise RelationError(
                f"a row from {attrs.start} to {attrs.stop} by {attrs.step} has no values",
                "exchange start and stop, or change the sign of step",
                culprits=(0, 1, 2),
            )
    reporter.assign(types[3], TensorType.of((length,), attrs.dtype))
    return True


def _row(attrs: ArangeAttrs, start: Array, stop: Array, step: Array) -> Array:
    if not step:
        raise ValueError("a row by steps of 0 never ends")
    length = _arange_count(start.item(), stop.item(), step.item())
    return start + np.arange(length).astype(start.dtype) * step


_ARANGE = declare(
    "arange",
    "Evenly spaced values from start to before stop.",
    formula=r"y_i = \mathit{start} + i \cdot \mathit{step}, \quad 0 \le i < "
    r"\lceil (\mathit{stop} - \mathit{start}) / \mathit{step} \rceil",
    relation=Relation(
        "Arange", _arange, "{out} has as many elements as there are steps from {0} to {1} by {2}"
    ),
    inputs=("start", "stop", "step"),
    attrs=ArangeAttrs,
    pattern=OpPattern.OPAQUE,
    flops=flops_per_output,
    family="creation",
    level=3,
    compute=_row,
    gradient="indexing.arange",
    lowering="create.arange",
)


def arange(
    start: Expr | float,
    stop: Expr | float | None = None,
    step: Expr | float | None = None,
    dtype: object = "float32",
) -> Expr:
    """The values start, start + step … before stop, a vector; `arange(stop)` starts at 0.

    Its length is `?` unless all three are constants.
    """
    if stop is None:
        start, stop = 0, start
    bounds = [
        value if isinstance(value, Expr) else const(value, dtype)
        for value in (start, stop, 1 if step is None else step)
    ]
    known = [b.data.item() if isinstance(b, Constant) and not b.data.shape else None for b in bounds]
    return Call(_ARANGE, bounds, ArangeAttrs(start=known[0], stop=known[1], step=known[2], dtype=dtype))


class OneHotAttrs(Attrs, key="relay.attrs.OneHotAttrs"):
    depth: int = attr(1, "The extent of the new axis.")
    axis: int = attr(-1, "The place of the new axis in the result; -1 is after the last.")
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
    places = along(np.arange(attrs.depth), axis, indices.ndim + 1)
    marked = np.where(np.expand_dims(indices, axis) == places, on_value, off_value)
    return marked.astype(element_type(attrs.dtype or on_value.dtype))


_ONE_HOT = _makes(
    "one_hot",
    "For every index a vector that holds one value at the index and another elsewhere.",
    r"y_{i d} = \begin{cases} v_{\mathrm{on}} & d = x_i \\ v_{\mathrm{off}} & d \ne x_i \end{cases}",
    forward("OneHot", "{out} = {0} with an axis of `depth`", _one_hot),
    inputs=("indices", "on_value", "off_value"),
    attrs=OneHotAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    level=10,
    compute=_marks,
    gradient="indexing.one_hot",
)


def one_hot(
    indices: Expr, on_value: Expr, off_value: Expr, depth: int | Expr, axis: int, dtype: object
) -> Expr:
    """A new axis of extent `depth` for each of `indices`: `on_value` at the index, `off_value` elsewhere."""
    if computed(depth):
        values = [expr(indices), expr(on_value), expr(off_value), expr(depth)]
        return Call(Op.get("dyn.one_hot"), values, OneHotAttrs(axis=axis, dtype=dtype))
    deep = static_ints(depth, "depth")[0]
    return Call(
        _ONE_HOT,
        [expr(indices), expr(on_value), expr(off_value)],
        OneHotAttrs(depth=deep, axis=axis, dtype=dtype),
    )
