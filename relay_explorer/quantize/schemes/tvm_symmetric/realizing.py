"""The integer arithmetic of TVM's scheme, operator by operator.

Values that have just been quantized are whole numbers in float32: the first operator that reads them casts
them. A change of scale by a power of two is a shift, any other a fixed-point multiplication.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ....ir.expr import Call, Expr, const
from ....ir.types import TensorType
from ....ops.calls import relay
from ....ops.numeric import Array, np
from ...annotation import SIMULATE
from ...forward import rebuilt
from ...quantized import Quantized
from ...quantizer import Role
from ...scales import BOUNDS
from ...scheme import Site

if TYPE_CHECKING:
    from . import TvmSymmetric

Values = Sequence[Quantized | Expr]
Rule = Callable[["TvmSymmetric", Call, Values], Quantized | None]


class Narrowed(Quantized):
    """Integers in a type that is too narrow for them, as in TVM, and the same ones in a wide type."""

    __slots__ = ("wide",)

    def __init__(self, narrow: Quantized, wide: Quantized) -> None:
        super().__init__(narrow.scheme, narrow.expr, narrow.dtype, narrow.scale)
        self.wide = wide

    def warn(self) -> None:
        """Say that the narrow integers are used, as TVM used them."""
        warnings.warn(
            f"TVM's scheme stores the first operand of a `concatenate` in {self.dtype}, as it does the "
            "second, but that is too narrow for it: use another scheme, such as PerChannelAsymmetric()",
            stacklevel=2,
        )


def quantized(scheme: TvmSymmetric, data: Expr, site: Site) -> Quantized:
    """Divide by the scale, round, and clip; the whole numbers stay in float32."""
    assert site.parameters is not None
    scale = site.parameters.scale
    steps = relay.round(relay.multiply(data, const(np.float32(1) / scale)))
    return Quantized(scheme, _clipped(steps, site), "float32", scale)


def dequantized(value: Quantized) -> Expr:
    """Cast to float32, and multiply by the scale."""
    if isinstance(value, Narrowed):
        value.warn()
    return relay.multiply(relay.cast(value.expr, "float32"), const(value.scale))


def requantized(scheme: TvmSymmetric, value: Quantized, site: Site) -> Quantized:
    """Change the scale of integers, and clip them. Equal scales leave only the clipping.

    A shift needs wide integers: where TVM's rules shift narrow ones, TVM rejects its own program.
    """
    assert site.parameters is not None
    before, after = value.scale, site.parameters.scale
    if isinstance(value, Narrowed):
        if before != after and _is_whole(np.log2(after / before)):
            value = value.wide
        else:
            value.warn()
    if before == after:
        return value.but(_clipped(value.expr, site))
    data: Expr
    bits = np.log2(after / before)
    wide = scheme.config.dtype_activation
    if not _is_whole(bits):
        data = relay.cast(value.expr, "int64")
        data = _fixed_point(scheme, data, before / after, _shape(site.expr))
        data = relay.cast(_clipped(data, site), value.dtype)
        return value.but(data, scale=after)
    data = value.expr if value.dtype == wide else relay.cast(value.expr, wide)
    if bits > 0:
        if scheme.config.round_for_shift:
            data = relay.add(data, const(int(2 ** (bits - 1)), wide))
        data = relay.right_shift(data, const(int(bits), wide))
    else:
        data = relay.left_shift(data, const(int(-bits), wide))
    return value.but(_clipped(data, site), wide, after)


def _is_whole(number: Array) -> bool:
    return bool(int(number) == number)


def _clipped(data: Expr, site: Site) -> Expr:
    """Clip at the bounds of a site, which TVM's scheme holds in float32: those of 32 bits are rounded."""
    low, high = np.float32(site.quantizer.lowest), np.float32(site.quantizer.highest)
    return relay.clip(data, float(low), float(high))


def _shape(expr: Expr) -> Sequence[int]:
    type_ = expr.checked_type
    assert isinstance(type_, TensorType)
    return type_.concrete_shape


def _fixed_point(scheme: TvmSymmetric, data: Expr, factor: float, shape: Sequence[int]) -> Expr:
    """Multiply integers by a real factor, as a 31-bit fraction and a shift."""
    fraction, shift = math.frexp(float(factor))
    multiplier = round(fraction * 2**31)
    if multiplier == 2**31:
        multiplier, shift = multiplier // 2, shift + 1
    if scheme.config.rounding == "UPWARD":
        return relay.fixed_point_multiply(data, multiplier, shift)
    data = relay.cast(data, "int64")
    if shift > 0:
        data = relay.left_shift(data, const(shift, "int64"))
    data = relay.multiply(data, const(multiplier, "int64"))
    right = 31 - min(shift, 0)
    half = const(2 ** (right - 1), "int64"), const(2 ** (right - 1) - 1, "int64")
    positive = relay.greater_equal(data, relay.zeros(shape, "int64"))
    data = relay.add(data, relay.where(positive, *[relay.full(value, shape, "int64") for value in half]))
    return relay.cast(relay.right_shift(data, const(right, "int64")), "int32")


# -- the rules


def _both(operands: Values) -> tuple[Quantized, Quantized] | None:
    a, b = operands
    return (a, b) if isinstance(a, Quantized) and isinstance(b, Quantized) else None


def _cast(value: Quantized, dtype: str, always: bool = False) -> Expr:
    return value.expr if value.dtype == dtype and not always else relay.cast(value.expr, dtype)


def _layer(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Multiply narrow integers, accumulating in wide ones."""
    both = _both(operands)
    if both is None:
        return None
    data, weight = both
    config = scheme.config
    wide = config.dtype_activation
    parts = [_cast(data, config.dtype_input), _cast(weight, config.dtype_weight, always=True)]
    return Quantized(scheme, rebuilt(call, parts, out_dtype=wide), wide, data.scale * weight.scale)


def _batch_matmul(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Multiply matrices of narrow integers, accumulating in wide ones."""
    both = _both(operands)
    if both is None:
        return None
    a, b = both
    config = scheme.config
    wide = config.dtype_activation
    parts = [_cast(a, config.dtype_input), _cast(b, config.dtype_weight)]
    return Quantized(scheme, rebuilt(call, parts, out_dtype=wide), wide, a.scale * b.scale)


def _multiply(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Multiply element-wise in wide integers."""
    both = _both(operands)
    if both is None:
        return None
    wide = scheme.config.dtype_activation
    a, b = both
    return Quantized(scheme, rebuilt(call, [_cast(a, wide), _cast(b, wide)]), wide, a.scale * b.scale)


def _add(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Add wide integers, both in steps of the finer scale."""
    both = _both(operands)
    if both is None:
        return None
    wide = scheme.config.dtype_activation
    parts, scale = _unified(scheme, call.args, both, wide)
    parts = [
        relay.annotation.stop_fusion(part) if value.dtype == "float32" else part
        for part, value in zip(parts, both)
    ]
    return Quantized(scheme, rebuilt(call, parts), wide, scale)


def _concatenate(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Concatenate integers of one type, in steps of one scale.

    Of two values, TVM's scheme looks only at the type of the second. Where that is narrow, a wide first one
    wraps around.
    """
    values = [value for value in operands if isinstance(value, Quantized)]
    if len(values) < len(operands):
        return None
    config = scheme.config
    narrow = len(values) == 2 and values[1].dtype == config.dtype_input
    dtype = config.dtype_input if narrow else config.dtype_activation
    (tuple_,) = call.args
    arguments: Sequence[Expr] = tuple_.fields  # type: ignore[attr-defined]  # an explicit tuple

    def joined(dtype: str) -> Quantized:
        parts, scale = _unified(scheme, arguments, values, dtype)
        return Quantized(scheme, rebuilt(call, parts), dtype, scale)

    if narrow and values[0].dtype != dtype and not _is_input(arguments[0]):
        return Narrowed(joined(dtype), joined(config.dtype_activation))
    return joined(dtype)


def _unified(
    scheme: TvmSymmetric, arguments: Sequence[Expr], values: Sequence[Quantized], dtype: str
) -> tuple[list[Expr], Array]:
    """Bring integers to one type and one scale: the finer of two; for more, that of accumulators."""
    config = scheme.config
    parts: list[Expr] = []
    for argument, value in zip(arguments, values):
        if value.dtype != dtype:
            parts.append(relay.cast(value.expr, dtype))
        elif _is_input(argument):
            stored = relay.annotation.stop_fusion(relay.cast(value.expr, config.dtype_input))
            parts.append(relay.cast(stored, dtype))
        else:
            parts.append(value.expr)
    finest = min(value.scale for value in values)
    if len(values) != 2:
        finest = np.asarray(config.global_scale / 2.0 ** (config.nbit_activation - 1), "float32")
    scaled = [
        _finer(scheme, part, value.scale, finest, dtype, _shape(argument))
        for part, value, argument in zip(parts, values, arguments)
    ]
    return scaled, finest


def _finer(
    scheme: TvmSymmetric, data: Expr, before: Array, after: Array, dtype: str, shape: Sequence[int]
) -> Expr:
    """Express integers in steps of a finer scale: by a shift, a product, or a fixed-point multiplication. A
    fixed-point multiplication, or a factor that the type cannot hold, takes 32 bits.
    """
    if before == after:
        return data
    factor = before / after
    bits = np.log2(factor)
    if int(bits) == bits and bits > 0:
        return relay.left_shift(data, const(int(bits), dtype))
    low, high = BOUNDS[dtype]
    if int(factor) == factor and factor <= high:
        return relay.multiply(data, const(int(factor), dtype))
    if dtype == "int32":
        return relay.cast(_fixed_point(scheme, data, factor, shape), dtype)
    wide = _fixed_point(scheme, relay.cast(data, "int32"), factor, shape)
    return relay.cast(relay.clip(wide, low, high), dtype)


def _is_input(argument: Expr) -> bool:
    """Whether an operand is a simulated quantization of an input."""
    if not isinstance(argument, Call) or getattr(argument.op, "name", "") != SIMULATE:
        return False
    assert argument.attrs is not None
    return int(argument.attrs["kind"]) == Role.INPUT


def _clip(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Clip integers at the bounds in steps."""
    (value,) = operands
    assert isinstance(value, Quantized)
    assert call.attrs is not None
    step = float(value.scale)
    bounds = {name: call.attrs[name] / step for name in ("a_min", "a_max")}
    return value.but(rebuilt(call, [value.expr], **bounds))


def _identity(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Apply the operator to integers."""
    value, *rest = operands
    if not isinstance(value, Quantized) or any(isinstance(other, Quantized) for other in rest):
        return None
    return value.but(rebuilt(call, [value.expr, *[other for other in rest if isinstance(other, Expr)]]))


def _narrow(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Apply the operator to narrow integers."""
    (value,) = operands
    assert isinstance(value, Quantized)
    dtype = scheme.config.dtype_input
    return value.but(rebuilt(call, [_cast(value, dtype, always=True)]), dtype)


def _average(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Average wide integers."""
    (value,) = operands
    assert isinstance(value, Quantized)
    wide = scheme.config.dtype_activation
    return value.but(rebuilt(call, [_cast(value, wide)]), wide)


def _cast_hint(scheme: TvmSymmetric, call: Call, operands: Values) -> Quantized | None:
    """Store integers in the type that is asked for."""
    (value,) = operands
    assert isinstance(value, Quantized)
    assert call.attrs is not None
    dtype = str(call.attrs["dtype"])
    return value.but(_cast(value, dtype, always=True), dtype)


def followed(
    scheme: TvmSymmetric, rule: Rule, call: Call, operands: Values, result: Quantized | None
) -> Quantized | None:
    """Where narrow integers wrap around, apply a rule that keeps the type to the wide ones as well; return
    the result of the rule otherwise.
    """
    narrow = [operand for operand in operands if isinstance(operand, Narrowed)]
    if result is None or not narrow:
        return result
    if rule in (_identity, _clip):
        other = rule(scheme, call, [narrow[0].wide, *operands[1:]])
        assert other is not None
        return Narrowed(result, other)
    narrow[0].warn()
    return result


RULES: dict[str, Rule] = {
    "nn.conv2d": _layer,
    "nn.conv1d": _layer,
    "nn.dense": _layer,
    "nn.batch_matmul": _batch_matmul,
    "multiply": _multiply,
    "add": _add,
    "clip": _clip,
    "concatenate": _concatenate,
    "nn.relu": _identity,
    "reshape": _identity,
    "strided_slice": _identity,
    "nn.batch_flatten": _identity,
    "transpose": _identity,
    "annotation.stop_fusion": _identity,
    "nn.max_pool2d": _narrow,
    "nn.max_pool1d": _narrow,
    "nn.avg_pool2d": _average,
    "nn.global_avg_pool2d": _average,
    "annotation.cast_hint": _cast_hint,
}
