"""Between real numbers and integers with a scale and a zero point."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr, required
from ...ir.declaration import Gradient, NotApplicable, Precision
from ...ir.expr import Call, Expr, const
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.typed import tensor_type
from ...ir.types import TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input
from ..examples import X, ints
from ..numeric import Array
from ..operator import operator
from .arithmetic import HIGHEST_FLOAT32, dequantized, quantized
from .arithmetic import spread as spread_array
from .documents import AXIS, OUT_DTYPE
from .layouts import per_channel
from .parameters import NARROW, QUANTIZED, are_known, check_channels, elements, out_elements
from .plain import (
    BOUNDS,
    SMALL_ZERO_POINT,
    cast,
    centered,
    is_zero,
    number,
    numbers,
    operand_type,
    problem,
    spread,
    widened,
)

__all__ = ["dequantize", "quantize"]


def _check(types: Sequence[Type], data: TensorType, side: str, attrs: Anything, operator: str) -> None:
    operands = [(1, f"{side}_scale"), (2, f"{side}_zero_point")]
    check_channels(types, operands, data, attrs.axis, operator)


def _quantize(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if not are_known(types, 3):
        return False
    data = elements(types[0], 0, "data", ("float32",))
    _check(types, data, "output", attrs, "quantize")
    reporter.assign(types[3], TensorType.of(data.shape, out_elements(attrs.out_dtype, QUANTIZED)))
    return True


def _dequantize(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    if not are_known(types, 3):
        return False
    data = elements(types[0], 0, "data", QUANTIZED)
    _check(types, data, "input", attrs, "dequantize")
    dtype = out_elements(attrs.out_dtype, ("float32", "float16"))
    reporter.assign(types[3], TensorType.of(data.shape, dtype))
    return True


# -- quantize


def _quantize_array(attrs: Anything, x: Array, scale: Array, zero_point: Array) -> Array:
    axis, rank = attrs.axis, x.ndim
    return quantized(
        x, spread_array(scale, axis, rank), spread_array(zero_point, axis, rank), attrs.out_dtype
    )


def quantized_expr(
    x: Expr,
    scale: Expr,
    zero_point: Expr,
    dtype: str,
    types: tuple[TensorType, TensorType],
    axis: int,
    rank: int,
) -> Expr:
    """Build round(x / scale) + zero_point, saturated to `dtype`, from float32; NaN becomes the zero point.

    `types` are those of scale and zero point, which may be vectors along `axis` of a tensor with `rank` axes.
    Raise a RelationError where a constant is not a scale.
    """
    check_scale(scale)
    units = relay.round(relay.divide(x, spread(scale, types[0], axis, rank)))
    shift, value = spread(zero_point, types[1], axis, rank), number(zero_point)
    low, high = BOUNDS[dtype]
    if value is not None and dtype in NARROW and low <= value <= high and abs(value) < SMALL_ZERO_POINT:
        # NaN passes the clamp, and is cast to a number whose low 16 bits are 0: it becomes the zero point
        whole = relay.cast(relay.clip(units, low - value, high - value), "int32")
        return relay.cast(whole if value == 0 else relay.add(whole, shift), dtype)
    defined = relay.where(relay.isnan(units), const(0.0, "float32"), units)
    whole = relay.cast(relay.clip(defined, BOUNDS["int32"][0], HIGHEST_FLOAT32), "int32")
    if dtype == "int32" and is_zero(zero_point):
        return whole
    moved = relay.add(relay.cast(whole, "int64"), widened(shift))
    return relay.cast(relay.clip(moved, low, high), dtype)


def check_scale(scale: Expr) -> None:
    """Raise a RelationError where a constant cannot be the scale of a result."""
    for value in numbers(scale) or []:
        if not 0 < value < float("inf"):
            raise RelationError(
                f"the scale of the result is {value:g}, but must be positive and finite",
                "compute scales from the range of the values: (maximum - minimum) / 255 for 8 bits",
            )


def _quantize_canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs, types = call.attrs, [operand_type(call, operand) for operand in range(3)]
    assert attrs is not None
    rank = len(types[0].shape)
    try:
        x, scale, zero_point = operands
        dtype, axis = attrs["out_dtype"], attrs["axis"]
        return quantized_expr(x, scale, zero_point, dtype, (types[1], types[2]), axis, rank)
    except RelationError as error:
        raise problem(call, error) from None


# -- dequantize


def _dequantize_array(attrs: Anything, x: Array, scale: Array, zero_point: Array) -> Array:
    axis, rank = attrs.axis, x.ndim
    real = dequantized(x, spread_array(scale, axis, rank), spread_array(zero_point, axis, rank))
    return real.astype(attrs.out_dtype)


def _dequantize_canonical(call: Call, operands: Sequence[Expr]) -> Expr:
    attrs, types = call.attrs, [operand_type(call, operand) for operand in range(3)]
    assert attrs is not None
    x, scale, zero_point = operands
    axis, rank = attrs["axis"], len(types[0].shape)
    whole = centered(x, types[0].dtype, spread(zero_point, types[2], axis, rank))
    real = relay.multiply(relay.cast(whole, "float32"), spread(scale, types[1], axis, rank))
    return cast(real, "float32", attrs["out_dtype"])


def _dequantize_gradient(call: Call, grad: Expr) -> list[Expr | None]:
    """Return the derivative by the scale: the sum of dy · (x − z) over the elements that share it."""
    x, scale, zero_point = call.args
    assert call.attrs is not None
    axis, rank = call.attrs["axis"], len(tensor_type(x).shape)
    shift = spread(zero_point, tensor_type(zero_point), axis, rank)
    whole = relay.cast(centered(x, tensor_type(x).dtype, shift), "float32")
    products = relay.multiply(relay.cast(grad, "float32"), whole)
    if not tensor_type(scale).shape:
        return [None, relay.sum(products), None]
    along = relay.sum(products, axis=axis, exclude=True) if rank else products
    return [None, relay.reshape_like(relay.collapse_sum_like(along, scale), scale), None]


@operator(
    "qnn.quantize",
    description="Converts real numbers to integers with a scale and a zero point.",
    formula=r"y = \operatorname{clip}(\operatorname{round}(x / s) + z)",
    family="quantization",
    level=11,
    relation=Relation("Quantize", _quantize, "{out} has the shape of {0} and the element type `out_dtype`"),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(3),  # a quotient, a rounding, a sum
    reference=_quantize_array,
    gradient=NotApplicable("its result is integers; qnn.simulated_quantize passes gradients through"),
    canonical=_quantize_canonical,
    layout=per_channel,
    precision=Precision.UNLISTED,
    example=lambda build: [
        build(X, const(0.05), const(3)),
        build(X, const([0.1, 0.2]), const([0, 1]), axis=0, out_dtype="uint8"),
    ],
)
def quantize(
    data: Operand,
    output_scale: Operand,
    output_zero_point: Operand,
    axis: Annotated[int, attr(-1, AXIS)] = -1,
    out_dtype: Annotated[str, required(OUT_DTYPE, kind="DType")] = "int8",
) -> Call:
    """Convert `data` to integers: round(data / output_scale) + output_zero_point, saturated.

    Ties are rounded to the even integer; NaN becomes the zero point.
    """


@operator(
    "qnn.dequantize",
    description="Converts integers with a scale and a zero point to real numbers.",
    formula=r"y = s\,(x - z)",
    family="quantization",
    level=11,
    relation=Relation(
        "Dequantize", _dequantize, "{out} has the shape of {0} and the element type `out_dtype`"
    ),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(2),  # a difference and a product
    reference=_dequantize_array,
    gradient=Gradient("ds = Σ dy · (x − z) over the elements that share the scale", _dequantize_gradient),
    canonical=_dequantize_canonical,
    layout=per_channel,
    precision=Precision.UNLISTED,
    example=lambda build: build(ints(2, 6), const(0.05), const(3)),
)
def dequantize(
    data: Operand,
    input_scale: Operand,
    input_zero_point: Operand,
    axis: Annotated[int, attr(-1, AXIS)] = -1,
    out_dtype: Annotated[str, required(OUT_DTYPE, kind="DType")] = "float32",
) -> Call:
    """Convert `data`, integers, to real numbers: input_scale · (data - input_zero_point)."""
