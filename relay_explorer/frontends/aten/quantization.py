"""Quantized tensors of PyTorch: integers whose scale and zero point are known to the import.

In Relay a quantized tensor is an ordinary tensor of integers. `Aten.quantized` tells the quantization of each
one, and converters of operators that accept quantized tensors read and set it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ops.numeric import Array
from ..base import quantized as base
from .values import Scalar, Value

if TYPE_CHECKING:
    from .context import Aten


@dataclass(frozen=True, eq=False)
class Quantization:
    """How a tensor is quantized: its values are `(integers - zero) * scale`.

    `scale` (float32) and `zero` (int32) have no axes; with an `axis`, they have one value for each index.
    """

    scale: Expr
    zero: Expr
    dtype: str
    axis: int | None = None

    @classmethod
    def of(cls, scale: float, zero: int, dtype: str) -> Quantization:
        """Return the quantization with numbers that are known."""
        return cls(checked_scale(scale), base.int32(zero), dtype)

    @property
    def numbers(self) -> tuple[float, int]:
        """The scale and the zero point of a whole tensor, which must be known at compile time."""
        if self.axis is not None:
            raise RelayError("the operator requires one scale for the whole tensor, not one for each channel")
        if not isinstance(self.scale, Constant) or not isinstance(self.zero, Constant):
            raise RelayError(
                "the operator requires a scale and a zero point that are known at compile time, but the "
                "model computes them"
            )
        return float(self.scale.data.numpy().item()), int(self.zero.data.numpy().item())

    @property
    def bounds(self) -> tuple[int, int]:
        """The smallest and the greatest integer."""
        return base.RANGES[self.dtype]


def checked_scale(values: float | Array) -> Expr:
    """Return one scale, or those of the channels. Raise a RelayError unless all are positive and finite."""
    scale = base.float32(values)
    base.check_scale(scale)
    return scale


def quantization_of(ctx: Aten, x: Expr, role: str = "the operand") -> Quantization:
    """Return the quantization of a tensor; raise a RelayError if it is not quantized."""
    quantization = ctx.quantized.get(x)
    if quantization is None:
        raise RelayError(
            f"{role} must be a quantized tensor, but is one of {ctx.dtype(x)}",
            help=[
                "quantize it in the model with a QuantStub; a quantized tensor cannot be carried through a "
                "condition or a loop that is known only at run time"
            ],
        )
    return quantization


def known_number(ctx: Aten, value: Value) -> Value:
    """Return the number that a Scalar stands for where it is computed from weights: a scripted model keeps
    scales in buffers. Return other values as they are.
    """
    if not isinstance(value, Scalar):
        return value
    calls: list[Call] = []
    expr = value.expr
    while isinstance(expr, Call) and isinstance(expr.op, Op) and len(expr.args) == 1:
        calls.append(expr)
        expr = expr.args[0]
    expr = ctx.context.frozen(expr)
    if not isinstance(expr, Constant):
        return value
    for call in reversed(calls):
        expr = Call(call.op, [expr], call.attrs)
    return ctx.unwrapped(Scalar(expr))


def marked(ctx: Aten, x: Expr, quantization: Quantization) -> Expr:
    """Return integers after noting their quantization."""
    if x in ctx.quantized and ctx.quantized[x] is not quantization:
        raise RelayError("a quantized tensor would get a second quantization")
    ctx.quantized[x] = quantization
    return x


def quantized(ctx: Aten, real: Expr, quantization: Quantization) -> Expr:
    """Return real values quantized."""
    axis = -1 if quantization.axis is None else quantization.axis
    whole = base.quantized(
        ctx.cast(real, "float32"), quantization.scale, quantization.zero, quantization.dtype, axis
    )
    return marked(ctx, whole, quantization)


def real(ctx: Aten, x: Expr) -> Expr:
    """Return the real values of a quantized tensor."""
    quantization = quantization_of(ctx, x)
    axis = -1 if quantization.axis is None else quantization.axis
    return base.dequantized(x, quantization.scale, quantization.zero, axis)


def through_real(ctx: Aten, x: Expr, quantization: Quantization, compute: Callable[[Expr], Expr]) -> Expr:
    """Return a function of a quantized tensor's real values, quantized."""
    return quantized(ctx, compute(real(ctx, x)), quantization)


def same(a: Quantization, b: Quantization) -> bool:
    """Whether two quantizations are known to be equal."""
    return a is b or (
        a.dtype == b.dtype and a.axis == b.axis and _equal(a.scale, b.scale) and _equal(a.zero, b.zero)
    )


def _equal(a: Expr, b: Expr) -> bool:
    if a is b:
        return True
    if not isinstance(a, Constant) or not isinstance(b, Constant):
        return False
    left, right = a.data.numpy(), b.data.numpy()
    return bool(left.shape == right.shape and (left == right).all())
