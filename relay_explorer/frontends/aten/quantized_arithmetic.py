"""Arithmetic, activation functions and normalizations of PyTorch's quantized tensors.

PyTorch computes them with real numbers and rounds once, and so does the imported program: a product alone is
computed with integers, which gives the same. `FakeQuantizationToInteger` replaces the real numbers.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import cast

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base import quantized as base
from .context import Aten
from .quantization import (
    Quantization,
    marked,
    quantization_of,
    quantized,
    real,
    through_real,
)
from .quantized_tensors import for_quantized, integer_of, requantized, threshold
from .registry import Conversion, aten, find
from .values import Value

_NEARLY = 1e-6  # a slope that differs less from 1 is 1


def _converter(name: str) -> Conversion:
    conversion = find(f"aten::{name}")
    assert conversion is not None, name
    return conversion


def _relu(ctx: Aten, x: Expr) -> Expr:
    return cast(Expr, for_quantized("aten::relu", _converter("relu"))(ctx, x))


# -- sums and products


def _added(is_bounded: bool) -> Conversion:
    def convert(ctx: Aten, x: Expr, y: Value, *parameters: Value) -> Value:
        if not parameters:
            return _shifted(is_bounded)(ctx, x, y)
        scale, zero = cast("tuple[float, int]", parameters)
        quantization = Quantization.of(scale, zero, quantization_of(ctx, x).dtype)
        total = relay.add(real(ctx, x), real(ctx, cast(Expr, y)))
        return quantized(ctx, relay.nn.relu(total) if is_bounded else total, quantization)

    return convert


def _multiplied(is_bounded: bool) -> Conversion:
    def convert(ctx: Aten, x: Expr, y: Value, *parameters: Value) -> Value:
        if not parameters:
            return _stretched(is_bounded)(ctx, x, y)
        scale, zero = cast("tuple[float, int]", parameters)
        left, right = quantization_of(ctx, x), quantization_of(ctx, cast(Expr, y))
        quantization = Quantization.of(scale, zero, left.dtype)
        factors = [
            relay.subtract(relay.cast(operand, "int32"), of.zero)
            for operand, of in ((x, left), (cast(Expr, y), right))
        ]
        (a, _), (b, _) = left.numbers, right.numbers
        whole = base.requantized(
            relay.multiply(*factors), base.float32(_product(a, b)), base.int32(0), quantization.scale,
            quantization.zero, quantization.dtype,
        )  # fmt: skip
        marked(ctx, whole, quantization)
        return _relu(ctx, whole) if is_bounded else whole

    return convert


def _product(a: float, b: float) -> float:
    import numpy as np

    return float(np.float32(a) * np.float32(b))


aten("quantized::add")(_added(False))
aten("quantized::add_relu")(_added(True))
aten("quantized::mul")(_multiplied(False))
aten("quantized::mul_relu")(_multiplied(True))


def _number(ctx: Aten, x: Value, y: Value) -> tuple[Expr, float]:
    """Return the operands of an operator with a number, which may be the first of them."""
    if isinstance(x, Expr) and x in ctx.quantized:
        return x, float(ctx.number(y, "the number"))
    return cast(Expr, y), float(ctx.number(x, "the number"))


def _shifted(is_bounded: bool) -> Conversion:
    """Return the converter of the sum with a number: it moves the zero point, and the integers stay as they
    are unless the new zero point would be outside of their range.
    """

    def convert(ctx: Aten, x: Value, y: Value) -> Value:
        operand, number = _number(ctx, x, y)
        before = quantization_of(ctx, operand)
        scale, zero = before.numbers
        first, last = before.bounds
        moved = zero - _rounded(number / scale)
        if first <= moved <= last:
            after = Quantization.of(scale, moved, before.dtype)
            whole = marked(ctx, relay.copy(operand), after)
        else:
            span = last - moved if moved < first else moved - first
            after = Quantization.of(
                span / (last - first) * scale, first if moved < first else last, before.dtype
            )
            shifted = base.requantized(
                relay.cast(operand, "int32"), before.scale, base.int32(moved), after.scale, after.zero,
                after.dtype,
            )  # fmt: skip
            whole = marked(ctx, shifted, after)
        return _relu(ctx, whole) if is_bounded else whole

    return convert


def _rounded(value: float) -> int:
    """Round half to even."""
    return round(value)


def _stretched(is_bounded: bool) -> Conversion:
    """Return the converter of the product with a number: it multiplies the scale; a negative number also
    reverses the order of the integers.
    """

    def convert(ctx: Aten, x: Value, y: Value) -> Value:
        operand, number = _number(ctx, x, y)
        before = quantization_of(ctx, operand)
        scale, zero = before.numbers
        first, last = before.bounds
        if not math.isfinite(number):
            raise RelayError(f"a quantized tensor cannot be multiplied by {number}")
        if number > 0:
            after = Quantization.of(scale * number, zero, before.dtype)
            whole: Expr = relay.copy(operand)
        elif number == 0:
            after = Quantization.of(1.0, 0, before.dtype)
            whole = relay.zeros_like(operand)
        else:
            after = Quantization.of(scale * -number, first + last - zero, before.dtype)
            reversed_ = relay.subtract(base.int32(first + last), relay.cast(operand, "int32"))
            whole = relay.cast(reversed_, before.dtype)
        marked(ctx, whole, after)
        return _relu(ctx, whole) if is_bounded else whole

    return convert


aten("quantized::add_scalar", "quantized::add_scalar.Tensor")(_shifted(False))
aten("quantized::add_scalar_relu", "quantized::add_scalar_relu.Tensor")(_shifted(True))
aten("quantized::mul_scalar", "quantized::mul_scalar.Tensor")(_stretched(False))
aten("quantized::mul_scalar_relu", "quantized::mul_scalar_relu.Tensor")(_stretched(True))


@aten("quantized::matmul")
def matmul(ctx: Aten, x: Expr, y: Expr, scale: float, zero: int) -> Value:
    left, right = quantization_of(ctx, x), quantization_of(ctx, y)
    result = Quantization.of(scale, zero, left.dtype)
    rank = ctx.rank(x)
    shapes = ctx.static_shape(x), ctx.static_shape(y)
    if rank < 3 or rank != ctx.rank(y) or shapes[0][:-2] != shapes[1][:-2]:
        product = cast(Expr, _converter("matmul")(ctx, real(ctx, x), real(ctx, y)))
        return quantized(ctx, product, result)
    batches = [relay.reshape(operand, (-1, *shape[-2:])) for operand, shape in zip((x, y), shapes)]
    sums = relay.qnn.batch_matmul(
        batches[0], relay.transpose(batches[1], (0, 2, 1)), left.zero, right.zero, left.scale, right.scale
    )
    whole = base.requantized(
        sums, base.float32(_product(left.numbers[0], right.numbers[0])), base.int32(0), result.scale,
        result.zero, result.dtype,
    )  # fmt: skip
    return marked(ctx, relay.reshape(whole, (*shapes[0][:-1], shapes[1][-1])), result)


def _concatenated(is_bounded: bool) -> Conversion:
    def convert(ctx: Aten, parts: Sequence[Expr], dim: int, scale: float | None, zero: int | None) -> Value:
        first = quantization_of(ctx, parts[0])
        result = first if scale is None or zero is None else Quantization.of(scale, zero, first.dtype)
        alike = [requantized(ctx, part, result) for part in parts]
        whole = marked(ctx, relay.concatenate(alike, ctx.axis(dim, ctx.rank(parts[0]))), result)
        return _relu(ctx, whole) if is_bounded else whole

    return convert


aten("quantized::cat")(_concatenated(False))
aten("quantized::cat_relu")(_concatenated(True))


# -- functions of one tensor whose result has a scale of its own


def _function(name: str, arguments: int, is_scale_first: bool = False) -> Conversion:
    """Return the converter of a function with `arguments` further arguments and the scale and zero point of
    its result, which come before them if `is_scale_first`.
    """

    def convert(ctx: Aten, x: Expr, *args: Value) -> Value:
        count = 2 if is_scale_first else len(args)
        scale, zero = cast("tuple[float, int]", args[count - 2 : count])
        others = args[2 : 2 + arguments] if is_scale_first else args[:arguments]
        result = Quantization.of(scale, zero, quantization_of(ctx, x).dtype)
        return through_real(ctx, x, result, lambda value: cast(Expr, _converter(name)(ctx, value, *others)))

    return convert


aten("quantized::hardswish")(_function("hardswish", 0))
aten("quantized::sigmoid")(_function("sigmoid", 0))
aten("quantized::softmax")(_function("softmax", 1))
aten("quantized::leaky_relu")(_function("leaky_relu", 1))
aten("quantized::elu")(_function("elu", 3, is_scale_first=True))
aten("quantized::celu")(_function("celu", 1, is_scale_first=True))


@aten("quantized::dropout")
def dropout(ctx: Aten, x: Expr, *_: Value) -> Value:
    """Return the operand: a model that is imported is not trained."""
    return x


@aten("quantized::relu6")
def relu6(ctx: Aten, x: Expr, *_: Value) -> Value:
    return for_quantized("aten::relu6", _converter("relu6"))(ctx, x)


@aten("quantized::clamp")
def clamp(ctx: Aten, x: Expr, low: float | None = None, high: float | None = None) -> Value:
    return for_quantized("aten::clamp", _converter("clamp"))(ctx, x, low, high)


aten("quantized::threshold")(threshold)


@aten("quantized::prelu")
def prelu(ctx: Aten, x: Expr, weight: Expr, scale: float, zero: int) -> Value:
    """Multiply negative elements by a slope, and the others by 1 as the slopes are quantized: PyTorch's
    kernel represents it with their scale, where the greatest integer may stand for less than 1.
    """
    result = Quantization.of(scale, zero, quantization_of(ctx, x).dtype)
    slopes = quantization_of(ctx, weight, "the slope")
    step, middle = slopes.numbers
    one = (integer_of(slopes, 1.0) - middle) * step

    def compute(value: Expr) -> Expr:
        bent = cast(Expr, _converter("prelu")(ctx, value, real(ctx, weight)))
        if abs(one - 1.0) < _NEARLY:
            return bent
        straight = relay.multiply(value, base.float32(one))
        return relay.where(relay.greater(value, base.float32(0.0)), straight, bent)

    return through_real(ctx, x, result, compute)


@aten("quantized::max_pool1d", "quantized::max_pool2d")
def max_pool(ctx: Aten, x: Expr, kernel: Sequence[int], *options: Value) -> Value:
    name = f"max_pool{len(kernel)}d"
    return for_quantized(f"aten::{name}", _converter(name))(ctx, x, kernel, *options)


# -- normalizations


def _batch_norm(is_bounded: bool) -> Conversion:
    def convert(
        ctx: Aten, x: Expr, weight: Value, bias: Value, mean: Value, variance: Value, eps: float,
        scale: float, zero: int,
    ) -> Value:  # fmt: skip
        result = Quantization.of(scale, zero, quantization_of(ctx, x).dtype)

        def compute(value: Expr) -> Expr:
            normal = _converter("batch_norm")(
                ctx, value, weight, bias, mean, variance, False, 0.1, eps, False
            )
            return relay.nn.relu(cast(Expr, normal)) if is_bounded else cast(Expr, normal)

        return through_real(ctx, x, result, compute)

    return convert


for _suffix in ("", "1d", "2d", "3d"):
    aten(f"quantized::batch_norm{_suffix}")(_batch_norm(False))
    aten(f"quantized::batch_norm{_suffix}_relu")(_batch_norm(True))


@aten("quantized::layer_norm")
def layer_norm(
    ctx: Aten, x: Expr, shape: Value, weight: Value, bias: Value, eps: float, scale: float, zero: int
) -> Value:
    return _normalized(ctx, "layer_norm", x, (shape, weight, bias, eps, False), scale, zero)


@aten("quantized::group_norm")
def group_norm(
    ctx: Aten, x: Expr, groups: int, weight: Value, bias: Value, eps: float, scale: float, zero: int
) -> Value:
    return _normalized(ctx, "group_norm", x, (groups, weight, bias, eps, False), scale, zero)


@aten("quantized::instance_norm")
def instance_norm(
    ctx: Aten, x: Expr, weight: Value, bias: Value, eps: float, scale: float, zero: int
) -> Value:
    args = (weight, bias, None, None, True, 0.1, eps, False)
    return _normalized(ctx, "instance_norm", x, args, scale, zero)


def _normalized(ctx: Aten, name: str, x: Expr, args: Sequence[Value], scale: float, zero: int) -> Value:
    result = Quantization.of(scale, zero, quantization_of(ctx, x).dtype)
    return through_real(ctx, x, result, lambda value: cast(Expr, _converter(name)(ctx, value, *args)))
