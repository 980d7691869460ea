"""Integer arithmetic for the calls of quantized programs: the rules that schemes share.

They use plain operators on integers, or those of `qnn` where a zero point is not 0. Values enter integers and
leave them by the functions of `scales`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ..ir.declaration import Trait
from ..ir.expr import Call, Constant, Expr, const
from ..ir.op import Op
from ..ir.types import TensorType
from ..ops.calls import relay
from ..ops.numeric import np
from .affine import by_affine_types
from .elementwise import aligned, multiplied, scaled, sloped
from .forward import rebuilt
from .means import average, summed
from .quantized import Quantized
from .scales import BOUNDS, rescaled, scale, zero
from .tables import function, is_number, looked_up

if TYPE_CHECKING:
    from .scheme import Scheme

EXTRA_BITS = 12  # of a common scale, below the coarser of two scales that are added
LAYERS = (Trait.LINEAR_IN_WEIGHT, Trait.CONVOLUTION, Trait.TRANSPOSED_CONVOLUTION)
MAX_BIAS = 2**30  # in steps: with a greater one, accumulators of 32 bits could overflow

Values = Sequence[Quantized | Expr]


def realized(scheme: Scheme, call: Call, operands: Values) -> Quantized | Sequence[Quantized] | Expr | None:
    """Replace a call by the shared rule for its operator; None where there is none, or it does not apply."""
    op = call.op
    assert isinstance(op, Op)
    if any(map(needs_table, operands)) or len(operands) - sum(map(is_constant, operands)) > 1:
        looked = looked_up(call, operands)
        if looked is not None:
            return looked
    result = rule_of(op)(call, operands)
    if isinstance(result, Quantized) and result.table is None:
        result.table = function(call, operands, direct=False)
    return looked_up(call, operands) if result is None else result


def rule_of(op: Op) -> Rule:
    """Return the shared rule for an operator."""
    if op.name in RULES:
        return RULES[op.name]
    if is_product(op):
        return product
    if any(map(op.has, (Trait.RESHAPE, Trait.TRANSPOSE, Trait.COPY))):
        return moved
    return by_affine_types


def needs_table(value: Quantized | Expr) -> bool:
    """Whether a value is best computed by looking it up."""
    return isinstance(value, Quantized) and value.lazy


def is_constant(value: Quantized | Expr) -> bool:
    return isinstance(value, Constant)


def is_product(op: Op) -> bool:
    """Whether an operator sums products of the elements of its two operands: layers, and matrix products."""
    two = op.inputs is not None and len(op.inputs) == 2
    return two and (op.has(Trait.MULTIPLY_ADD) or is_layer(op))


def is_layer(op: Op) -> bool:
    """Whether an operator is a product with a weight, whose output channels have rows of their own."""
    return op.inputs is not None and len(op.inputs) == 2 and any(map(op.has, LAYERS))


def qnn_form(op: Op) -> Op | None:
    """Return the form of a product in `qnn`, which takes zero points; None where there is none."""
    return Op.find(f"qnn.{op.name.removeprefix('nn.')}")


def product(call: Call, operands: Values, dtype: str = "int32") -> Quantized | None:
    """Multiply integers, accumulating in `dtype`; the scale of the result is the product of the scales.

    A zero point of the data is handled by the operator's form in `qnn`. The weight may have a scale for each
    output channel. None where an operand is a float, or its scales differ along another axis.
    """
    data, weight = operands
    if not (isinstance(data, Quantized) and isinstance(weight, Quantized)):
        return None
    wide = ["8" not in value.dtype for value in (data, weight)]
    if all(wide) or "32" in data.dtype or "32" in weight.dtype:  # few products could overflow the accumulator
        return None
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    if data.scale.ndim or (weight.scale.ndim and weight.axis != output_axis_of_weight(call)):
        return None
    axis = output_axis(call) if weight.scale.ndim else None
    if data.is_symmetric and weight.is_symmetric:
        expr: Expr = rebuilt(call, [data.expr, weight.expr], out_dtype=dtype)
    else:
        with_zero_points = _qnn_product(call, data, weight)
        if with_zero_points is None:
            return None
        expr = with_zero_points
        if dtype != "int32":
            expr = relay.cast(expr, dtype)
    return Quantized(data.scheme, expr, dtype, data.scale * weight.scale, 0, axis)


def _qnn_product(call: Call, data: Quantized, weight: Quantized) -> Expr | None:
    """Build a product in `qnn`; None where that has no form of the operator with these attributes."""
    assert isinstance(call.op, Op)
    assert call.attrs is not None
    op = qnn_form(call.op)
    if not weight.dtype.endswith("int8"):  # no operator of `qnn` takes such a weight
        return None
    if op is None or op.attrs_class is None or not set(call.attrs.keys()) <= set(op.attrs_class._fields):
        return None
    attrs = op.attrs_class(**{**dict(call.attrs.items()), "out_dtype": "int32"})
    zeros = [zero(data.zero_point), zero(weight.zero_point)]
    return Call(op, [data.expr, weight.expr, *zeros, scale(data.scale), scale(weight.scale)], attrs)


def output_axis(call: Call) -> int:
    """Return the axis of a layer's result along which its output channels lie."""
    layout = attribute(call, "data_layout")
    if layout:
        return str(layout).index("C")
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    return len(type_.shape) - 1


def output_axis_of_weight(call: Call) -> int:
    """Return the axis of a layer's weight along which its output channels lie."""
    layout = attribute(call, "kernel_layout")
    return str(layout).index("O") if layout else 0


def channels_match(call: Call) -> bool:
    """Whether a layer's weight has as many output channels as its result: not with a channel multiplier."""
    type_, weight = call.checked_type, call.args[1].checked_type
    assert isinstance(type_, TensorType)
    assert isinstance(weight, TensorType)
    return type_.shape[output_axis(call)] == weight.shape[output_axis_of_weight(call)]


def attribute(call: Call, name: str) -> object:
    """Return an attribute of a call, None where it has none of that name."""
    return None if call.attrs is None else dict(call.attrs.items()).get(name)


def moved(call: Call, operands: Values) -> Quantized | None:
    """Move integers as the floats were moved: the values stay the same. One scale serves all of them."""
    value, *rest = operands
    if not isinstance(value, Quantized) or any(isinstance(part, Quantized) for part in rest):
        return None
    value = with_one_scale(value)
    return value.but(rebuilt(call, [value.expr, *[part for part in rest if isinstance(part, Expr)]]))


def with_one_scale(value: Quantized) -> Quantized:
    """Bring integers whose channels have scales of their own to the coarsest of these, in 32 bits."""
    if not value.scale.ndim:
        return value
    coarsest = np.asarray(value.scale.max(), "float32")
    expr = rescaled(value, coarsest, np.asarray(0), "int32")
    return Quantized(value.scheme, expr, "int32", coarsest)


def padded(call: Call, operands: Values) -> Quantized | None:
    """Pad integers with the zero point, which stands for 0."""
    value, filling = operands
    if not isinstance(value, Quantized) or value.scale.ndim or not isinstance(filling, Constant):
        return None
    if filling.data.numpy().any():
        return None
    return value.but(rebuilt(call, [value.expr, const(int(value.zero_point), value.dtype)]))


def relu(call: Call, operands: Values) -> Quantized:
    """Replace integers below the zero point by it."""
    (value,) = operands
    assert isinstance(value, Quantized)
    if value.is_symmetric:
        return value.but(rebuilt(call, [value.expr]))
    floor = const(np.asarray(value.zero_point, value.dtype))
    return value.but(relay.maximum(value.expr, floor))


def clip(call: Call, operands: Values) -> Quantized | None:
    """Clip integers at the quantized bounds."""
    (value,) = operands
    assert isinstance(value, Quantized)
    assert call.attrs is not None
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    bounds = [np.rint(call.attrs[name] / value.scale) + value.zero_point for name in ("a_min", "a_max")]
    low, high = (np.clip(bound, *BOUNDS[value.dtype]) for bound in bounds)
    if value.axis is None:
        return value.but(relay.clip(value.expr, float(low), float(high)))
    least, most = (
        const(aligned(bound, value.axis, len(type_.shape)).astype(value.dtype)) for bound in (low, high)
    )
    return value.but(relay.minimum(relay.maximum(value.expr, least), most))


def extreme(call: Call, operands: Values) -> Quantized | Sequence[Quantized] | None:
    """Compare integers with a number, or two of them in one scale."""
    first, second = operands
    value, other = (first, second) if isinstance(first, Quantized) else (second, first)
    if not isinstance(value, Quantized) or not is_number(other):
        return by_affine_types(call, operands)
    assert isinstance(other, Constant)
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    number = float(other.data.numpy().reshape(()))
    if type_ != call.args[0 if value is first else 1].checked_type or math.isnan(number):
        return None
    steps = np.clip(np.rint(number / value.scale.astype("float64")) + value.zero_point, *BOUNDS[value.dtype])
    bound = steps if value.axis is None else aligned(steps, value.axis, len(type_.shape))
    parts = [value.expr, const(bound.astype(value.dtype))]
    return value.but(rebuilt(call, parts if value is first else parts[::-1]))


def bias(call: Call, operands: Values) -> Quantized | None:
    """Add a constant to accumulators: it is converted to integers of their scale. Narrow integers become wide
    ones of a finer scale first.
    """
    value, other = operands
    constant_first = not isinstance(value, Quantized)
    if constant_first:
        value, other = other, value
    if not isinstance(value, Quantized) or not isinstance(other, Constant):
        return None
    if value.dtype != "int32":
        finer = np.asarray(value.scale.max() / 2**EXTRA_BITS, "float32")
        wide = rescaled(value, finer, np.asarray(0), "int32")
        value = Quantized(value.scheme, wide, "int32", finer)
    type_ = call.checked_type
    assert isinstance(type_, TensorType)
    rank = len(type_.shape)
    numbers, scales = other.data.numpy(), value.scale
    axis = attribute(call, "axis")
    if isinstance(axis, int):
        if value.axis is not None and axis % rank != value.axis % rank:
            return None
    elif value.axis is not None:
        scales = aligned(scales, value.axis, rank)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        steps = np.rint(numbers / scales.astype("float64"))
    if not value.is_symmetric or not np.abs(steps).max(initial=0) < MAX_BIAS:  # NaN stays in float, too
        return None
    integers = const(steps.astype("int32"))
    pair = [integers, value.expr] if constant_first else [value.expr, integers]
    return value.but(rebuilt(call, pair))


def add(call: Call, operands: Values) -> Quantized | None:
    """Add or subtract integers of different scales: both are brought to a common scale, finer than that of
    narrow ones, and not finer than that of accumulators, which could overflow.
    """
    a, b = operands
    if not (isinstance(a, Quantized) and isinstance(b, Quantized)):
        return bias(call, operands)
    finest = [value.scale.max() / (1 if value.dtype == "int32" else 2**EXTRA_BITS) for value in (a, b)]
    common = np.asarray(max(finest), "float32")
    parts = [rescaled(value, common, np.asarray(0), "int32") for value in (a, b)]
    return Quantized(a.scheme, rebuilt(call, parts), "int32", common)


def concatenate(call: Call, operands: Values) -> Quantized | None:
    """Concatenate integers, brought to a scale whose integers cover the ranges of all where they differ."""
    if not all(isinstance(value, Quantized) for value in operands):
        return None
    values = [value for value in operands if isinstance(value, Quantized)]
    if any(value.scale.ndim for value in values):
        return None
    target = values[0] if all(value.is_like(values[0]) for value in values) else _covering(values)
    parts = [
        value.expr
        if value.is_like(target)
        else rescaled(value, target.scale, target.zero_point, target.dtype)
        for value in values
    ]
    return target.but(rebuilt(call, parts))


def _covering(values: Sequence[Quantized]) -> Quantized:
    """Return a value, of no expression yet, whose integers cover the ranges of some others."""
    dtype = max((value.dtype for value in values), key=lambda dtype: BOUNDS[dtype][1] - BOUNDS[dtype][0])
    lowest, highest = BOUNDS[dtype]
    if lowest < 0 and all(value.is_symmetric for value in values):
        scale = max(float(value.scale) * BOUNDS[value.dtype][1] for value in values) / highest
        return Quantized(values[0].scheme, values[0].expr, dtype, scale)
    ends = [(np.asarray(BOUNDS[value.dtype], "float64") - value.zero_point) * value.scale for value in values]
    low, high = min(end[0] for end in ends), max(end[1] for end in ends)
    scale = (high - low) / (highest - lowest)
    return Quantized(values[0].scheme, values[0].expr, dtype, scale, round(lowest - low / scale))


def largest(call: Call, operands: Values) -> Quantized | None:
    """Take the maximum of windows of integers, each of one channel, and so of one scale."""
    (value,) = operands
    return value.but(rebuilt(call, [value.expr])) if isinstance(value, Quantized) else None


Rule = Callable[[Call, Values], Quantized | Sequence[Quantized] | Expr | None]
RULES: dict[str, Rule] = {
    "nn.relu": relu,
    "clip": clip,
    "nn.bias_add": bias,
    "add": add,
    "subtract": add,
    "maximum": extreme,
    "minimum": extreme,
    "multiply": multiplied,
    "divide": scaled,
    "concatenate": concatenate,
    "strided_slice": moved,
    "nn.pad": padded,
    "nn.max_pool1d": largest,
    "nn.max_pool2d": largest,
    "nn.max_pool3d": largest,
    "nn.avg_pool1d": average,
    "nn.avg_pool2d": average,
    "nn.avg_pool3d": average,
    "nn.global_avg_pool2d": average,
    "nn.prelu": sloped,
    "mean": summed,
    "sum": summed,
}
