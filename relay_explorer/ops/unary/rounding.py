"""Sign, rounding, clamping, negation and copies."""

from __future__ import annotations

from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import required
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr
from ...ir.op import OpPattern, no_flops, size_of
from ...ir.types import Type
from ..arguments import Operand
from ..calls import relay
from ..examples import X
from ..gradient_tools import SAME, ZERO, masked, number
from ..layouts.same import elementwise_layout
from ..numeric import Array, is_float, limits, np
from ..operator import operator
from ..relation import IDENTITY
from ..te.elementwise import mapped, rounding
from ..te.library import te, tirx
from ..te.lowered import Lowered
from ..te.tensors import (
    Tensor,
    Value,
    between,
    dtype_of,
    greater_of,
    lesser_of,
    most,
    select,
    stage,
)
from ..te.tensors import is_float as is_float_type
from ..te.tensors import number as te_number
from .declaring import unary, whole

__all__ = ["abs", "ceil", "clip", "copy", "floor", "negative", "round", "sign", "trunc"]


def _negated(x: Value) -> Value:
    """Negate the elements; booleans, which NumPy cannot negate, stay unchanged."""
    dtype = dtype_of(x)
    if dtype.startswith("uint"):  # TVM simplifies 0 - x to 0, the least unsigned number
        return tirx.bitwise_not(x) + te_number(1, dtype)
    return x if dtype == "bool" else -x


def _absolute(x: Value) -> Value:
    dtype = dtype_of(x)
    return x if dtype == "bool" or dtype.startswith("uint") else te.abs(x)


def _sign(x: Value) -> Value:
    dtype = dtype_of(x)
    if dtype == "bool":
        return x
    zero, one = te_number(0, dtype), te_number(1, dtype)
    below = zero if dtype.startswith("uint") else select(x < zero, te_number(-1, dtype), zero)
    return select(x > zero, one, below)


def _negative_gradient(call: Call, grad: Expr) -> list[Expr]:
    return [relay.negative(grad)]


def _abs_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Differentiate the absolute value; at 0, where it has a corner, the slope is 1, as in the reference."""
    (x,) = call.args
    return [relay.where(relay.less(x, number(0, x)), relay.negative(grad), grad)]


@unary(
    "abs",
    description="Computes the absolute value of each element.",
    formula=r"y = |x|",
    reference=lambda x: np.abs(x),
    level=3,
    gradient=Gradient("dx = dy where x ≥ 0, else −dy", _abs_gradient),
    lowering=mapped(_absolute),
)
def abs(data: Operand) -> Call:
    """Compute the absolute value of each element."""


@unary(
    "sign",
    description="Computes the sign of each element: 1, 0 or -1.",
    formula=r"y = \operatorname{sign} x",
    reference=lambda x: np.where(x > 0, 1, np.where(x < 0, -1, 0)),
    level=3,
    gradient=ZERO,
    lowering=mapped(_sign),
)
def sign(data: Operand) -> Call:
    """Compute the sign of each element: 1, 0 or -1."""


@unary(
    "negative",
    description="Negates each element.",
    formula=r"y = -x",
    reference=lambda x: -x,
    level=3,
    gradient=Gradient("dx = −dy", _negative_gradient),
    lowering=mapped(_negated),
)
def negative(data: Operand) -> Call:
    """Negate each element."""


@unary(
    "floor",
    description="Rounds each element down to the largest integer not above it.",
    formula=r"y = \lfloor x \rfloor",
    reference=whole(lambda x: np.floor(x)),
    level=3,
    gradient=ZERO,
    lowering=rounding(lambda x: te.floor(x)),
    traits={Trait.ACTIVATION},
)
def floor(data: Operand) -> Call:
    """Round each element down to the largest integer not above it."""


@unary(
    "ceil",
    description="Rounds each element up to the smallest integer not below it.",
    formula=r"y = \lceil x \rceil",
    reference=whole(lambda x: np.ceil(x)),
    level=3,
    gradient=ZERO,
    lowering=rounding(lambda x: te.ceil(x)),
)
def ceil(data: Operand) -> Call:
    """Round each element up to the smallest integer not below it."""


@unary(
    "round",
    description="Rounds each element to the nearest integer; ties go to the even one.",
    formula=r"y = \operatorname{round}(x)",
    reference=whole(lambda x: np.rint(x)),
    level=3,
    gradient=ZERO,
    lowering=rounding(lambda x: te.round(x)),
    traits={Trait.ACTIVATION},
)
def round(data: Operand) -> Call:
    """Round each element to the nearest integer; ties go to the even one."""


@unary(
    "trunc",
    description="Rounds each element towards zero to an integer.",
    formula=r"y = \operatorname{sign}(x) \lfloor |x| \rfloor",
    reference=whole(lambda x: np.trunc(x)),
    level=3,
    gradient=ZERO,
    lowering=rounding(lambda x: te.trunc(x)),
)
def trunc(data: Operand) -> Call:
    """Round each element towards zero to an integer."""


@unary(
    "copy",
    description="Copies the tensor into a buffer of its own.",
    formula=r"y = x",
    reference=lambda x: x,
    level=3,
    family="other",
    flops=no_flops,
    gradient=SAME,
    lowering=mapped(lambda x: x),
    precision=Precision.FOLLOW,
    traits={Trait.SELECTION},
)
def copy(data: Operand) -> Call:
    """Copy the tensor into a buffer of its own."""


def _clipped(attrs: Anything, x: Array) -> Array:
    if is_float(x):
        return np.minimum(np.maximum(x, x.dtype.type(attrs.a_min)), x.dtype.type(attrs.a_max))
    least, most = limits(x)
    low, high = (int(min(max(bound, least), most)) for bound in (attrs.a_min, attrs.a_max))
    return np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high))


def _clip_flops(attrs: Anything, inputs: object, output: Type) -> int:
    return 2 * size_of(output)


def _bounded(bound: float, dtype: str) -> Value:
    """Convert a bound to an integer of the type; one beyond its range becomes the least or the greatest."""
    bits = int(dtype.lstrip("uint"))
    lowest, highest = (
        (0, 2**bits - 1) if dtype.startswith("uint") else (-(2 ** (bits - 1)), 2 ** (bits - 1) - 1)
    )
    inside = lowest if bound <= lowest else highest if bound >= highest else int(bound)
    return most(dtype) if inside > 2**62 else te_number(inside, dtype)


def _clip_te(call: Lowered) -> list[Tensor]:
    """Clamp the elements; bounds beyond the range of an integer type are clamped to it."""
    x, attrs = call.inputs[0], call.attrs
    dtype = dtype_of(x)
    if is_float_type(dtype):
        low, high = te_number(attrs.a_min, dtype), te_number(attrs.a_max, dtype)
        return [stage(x.shape, lambda *i: between(x(*i), low, high), call.name)]
    if dtype == "bool":
        low, high = (te_number(bool(min(max(int(v), 0), 1)), "bool") for v in (attrs.a_min, attrs.a_max))
        return [stage(x.shape, lambda *i: lesser_of(greater_of(x(*i), low), high), call.name)]
    low, high = (_bounded(bound, dtype) for bound in (attrs.a_min, attrs.a_max))
    return [stage(x.shape, lambda *i: te.min(te.max(x(*i), low), high), call.name)]


def _clip_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Mask the gradient; at the bounds the slope is 1."""
    (x,) = call.args
    assert call.attrs is not None
    low, high = number(call.attrs["a_min"], x), number(call.attrs["a_max"], x)
    inside = relay.logical_and(relay.greater_equal(x, low), relay.less_equal(x, high))
    return [masked(inside, grad)]


@operator(
    "clip",
    description="Limits each element to the range between two bounds.",
    formula=r"y = \min(\max(x, a_{\min}), a_{\max})",
    family="activation",
    level=3,
    relation=IDENTITY,
    pattern=OpPattern.ELEMENTWISE,
    flops=_clip_flops,
    reference=_clipped,
    gradient=Gradient("dx = dy where x lies between the bounds, else 0", _clip_gradient),
    lowering=_clip_te,
    layout=elementwise_layout,
    precision=Precision.FOLLOW,
    traits={Trait.ACTIVATION},
    example=lambda build: build(X, -1, 1),
)
def clip(
    a: Operand,
    a_min: Annotated[float, required("The lower bound.")],
    a_max: Annotated[float, required("The upper bound.")],
) -> Call:
    """Clamp each element of `a` to the bounds; the shape does not change."""
