"""Element-wise operators of one tensor. They differ only in what they compute, so the file is a table."""

from __future__ import annotations

import math
from collections.abc import Callable

from ..ir.attrs import Attrs, required
from ..ir.expr import Call, Expr
from ..ir.op import Flops, OpPattern, Relation, RelationError, flops_per_output, no_flops, size_of
from ..ir.types import TensorType, Type
from .arguments import expr, unary_builder
from .declare import declare
from .numeric import Array, is_float, limits, np
from .relation import IDENTITY, forward, is_integer, tensor

__all__ = [
    "abs",
    "acos",
    "acosh",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "bitwise_not",
    "ceil",
    "clip",
    "copy",
    "cos",
    "cosh",
    "erf",
    "exp",
    "fast_erf",
    "fast_exp",
    "fast_tanh",
    "floor",
    "isfinite",
    "isinf",
    "isnan",
    "log",
    "log2",
    "log10",
    "logical_not",
    "negative",
    "round",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "sqrt",
    "tan",
    "tanh",
    "trunc",
]  # fmt: skip


def _tested(attrs: None, data: Type) -> Type:
    return TensorType.of(tensor(data, 0, "data").shape, "bool")


_TEST = forward("IdentityComp", "{out} = bool of {0}", _tested)


def _whole(rounded: Callable[[Array], Array]) -> Callable[[Array], Array]:
    """A rounding, which leaves integers as they are."""
    return lambda x: rounded(x) if is_float(x) else x


def _erf(x: Array) -> Array:
    values = map(math.erf, x.reshape(-1).tolist())  # NumPy has no error function
    return np.fromiter(values, "float64", x.size).reshape(x.shape)


def _unary(
    name: str,
    description: str,
    formula: str,
    value: Callable[[Array], Array],
    *,
    level: int = 1,
    family: str = "arithmetic",
    relation: Relation = IDENTITY,
    flops: Flops = flops_per_output,
    lenient_in_tvm: str = "",
    gradient: str = "",
) -> Callable[[Expr], Expr]:
    """Declares an element-wise operator and gives its builder, a function of `data`.

    `value` is its meaning; what it makes is brought back to the data's element type (bool for a test).
    """

    def compute(attrs: None, x: Array) -> Array:
        return np.asarray(value(x)).astype(bool if relation is _TEST else x.dtype, copy=False)

    op = declare(
        name, description, formula=formula, relation=relation, pattern=OpPattern.ELEMWISE, flops=flops,
        compute=compute, family=family, level=level, lenient_in_tvm=lenient_in_tvm, gradient=gradient,
        lowering=f"elementwise.{name}",
    )  # fmt: skip
    return unary_builder(op, __name__)


# Exponentials and logarithms
exp = _unary(
    "exp",
    "E to the power of each element.",
    r"y = e^{x}",
    lambda x: np.exp(x),
    gradient="elementwise.exp",
)
log = _unary(
    "log",
    "The natural logarithm of each element.",
    r"y = \ln x",
    lambda x: np.log(x),
    gradient="elementwise.log",
)
log2 = _unary(
    "log2",
    "The logarithm to base 2 of each element.",
    r"y = \log_2 x",
    lambda x: np.log2(x),
    gradient="elementwise.log2",
)
log10 = _unary(
    "log10",
    "The logarithm to base 10 of each element.",
    r"y = \log_{10} x",
    lambda x: np.log10(x),
    gradient="elementwise.log10",
)
sqrt = _unary(
    "sqrt",
    "The square root of each element.",
    r"y = \sqrt{x}",
    lambda x: np.sqrt(x),
    gradient="elementwise.sqrt",
)
rsqrt = _unary(
    "rsqrt",
    "One over the square root of each element.",
    r"y = 1 / \sqrt{x}",
    lambda x: 1 / np.sqrt(x),
    gradient="elementwise.rsqrt",
)
erf = _unary(
    "erf",
    "The Gauss error function of each element.",
    r"y = \frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt",
    _erf,
    gradient="elementwise.erf",
)

# Activations that are plain functions of a number
sigmoid = _unary(
    "sigmoid",
    "The logistic function of each element.",
    r"y = \frac{1}{1 + e^{-x}}",
    lambda x: 1 / (1 + np.exp(-x)),
    family="activation",
    gradient="elementwise.sigmoid",
)
tanh = _unary(
    "tanh",
    "The hyperbolic tangent of each element.",
    r"y = \tanh x = \frac{e^x - e^{-x}}{e^x + e^{-x}}",
    lambda x: np.tanh(x),
    family="activation",
    gradient="elementwise.tanh",
)

# Trigonometry
sin = _unary(
    "sin",
    "The sine of each element, in radians.",
    r"y = \sin x",
    lambda x: np.sin(x),
    gradient="elementwise.sin",
)
cos = _unary(
    "cos",
    "The cosine of each element, in radians.",
    r"y = \cos x",
    lambda x: np.cos(x),
    gradient="elementwise.cos",
)
tan = _unary(
    "tan",
    "The tangent of each element, in radians.",
    r"y = \tan x",
    lambda x: np.tan(x),
    gradient="elementwise.tan",
)
sinh = _unary(
    "sinh",
    "The hyperbolic sine of each element.",
    r"y = \sinh x",
    lambda x: np.sinh(x),
    gradient="elementwise.sinh",
)
cosh = _unary(
    "cosh",
    "The hyperbolic cosine of each element.",
    r"y = \cosh x",
    lambda x: np.cosh(x),
    gradient="elementwise.cosh",
)
asin = _unary(
    "asin",
    "The angle, in radians, whose sine is the element.",
    r"y = \arcsin x",
    lambda x: np.arcsin(x),
    gradient="elementwise.asin",
)
acos = _unary(
    "acos",
    "The angle, in radians, whose cosine is the element.",
    r"y = \arccos x",
    lambda x: np.arccos(x),
    gradient="elementwise.acos",
)
atan = _unary(
    "atan",
    "The angle, in radians, whose tangent is the element.",
    r"y = \arctan x",
    lambda x: np.arctan(x),
    gradient="elementwise.atan",
)
asinh = _unary(
    "asinh",
    "The number whose hyperbolic sine is the element.",
    r"y = \operatorname{arsinh} x",
    lambda x: np.arcsinh(x),
    gradient="elementwise.asinh",
)
acosh = _unary(
    "acosh",
    "The number whose hyperbolic cosine is the element.",
    r"y = \operatorname{arcosh} x",
    lambda x: np.arccosh(x),
    gradient="elementwise.acosh",
)
atanh = _unary(
    "atanh",
    "The number whose hyperbolic tangent is the element.",
    r"y = \operatorname{artanh} x",
    lambda x: np.arctanh(x),
    gradient="elementwise.atanh",
)

# Sign and rounding
abs = _unary(
    "abs",
    "The absolute value of each element.",
    r"y = |x|",
    lambda x: np.abs(x),
    level=3,
    gradient="elementwise.abs",
)
sign = _unary(
    "sign",
    "1, 0 or -1: the sign of each element.",
    r"y = \operatorname{sign} x",
    lambda x: np.where(x > 0, 1, np.where(x < 0, -1, 0)),
    level=3,
    gradient="elementwise.none",
)
negative = _unary(
    "negative",
    "Each element with its sign changed.",
    r"y = -x",
    lambda x: -x,
    level=3,
    gradient="elementwise.negative",
)
floor = _unary(
    "floor",
    "The largest whole number not above each element.",
    r"y = \lfloor x \rfloor",
    _whole(lambda x: np.floor(x)),
    level=3,
    gradient="elementwise.none",
)
ceil = _unary(
    "ceil",
    "The smallest whole number not below each element.",
    r"y = \lceil x \rceil",
    _whole(lambda x: np.ceil(x)),
    level=3,
    gradient="elementwise.none",
)
round = _unary(
    "round",
    "The whole number nearest to each element.",
    r"y = \operatorname{round}(x)",
    _whole(lambda x: np.rint(x)),
    level=3,
    gradient="elementwise.none",
)
trunc = _unary(
    "trunc", "Each element with its fraction dropped.",
    r"y = \operatorname{sign}(x) \lfloor |x| \rfloor", _whole(lambda x: np.trunc(x)), level=3,
    gradient="elementwise.none",
)  # fmt: skip

# Approximations that FastMath puts in place of the exact operators. Their meaning is what they approximate:
# how far off a kernel may be is the kernel's affair
fast_exp = _unary(
    "fast_exp",
    "E to the power of each element, approximated by a polynomial.",
    r"y \approx e^{x}",
    lambda x: np.exp(x),
    gradient="elementwise.exp",
)
fast_tanh = _unary(
    "fast_tanh", "The hyperbolic tangent of each element, approximated by a quotient of polynomials.",
    r"y \approx \tanh x", lambda x: np.tanh(x), family="activation", gradient="elementwise.tanh",
)  # fmt: skip
fast_erf = _unary(
    "fast_erf", "The Gauss error function of each element, approximated by a quotient of polynomials.",
    r"y \approx \operatorname{erf} x", _erf, gradient="elementwise.erf",
)  # fmt: skip

copy = _unary(
    "copy",
    "The same tensor, in memory of its own.",
    r"y = x",
    lambda x: x,
    level=3,
    family="other",
    flops=no_flops,
    gradient="elementwise.same",
)


isnan = _unary(
    "isnan",
    "Whether each element is not a number.",
    r"y = [x = \mathrm{NaN}]",
    lambda x: np.isnan(x),
    level=3,
    family="comparison",
    relation=_TEST,
    gradient="elementwise.none",
)
isfinite = _unary(
    "isfinite",
    "Whether each element is neither infinite nor not a number.",
    r"y = [|x| < \infty]",
    lambda x: np.isfinite(x),
    level=3,
    family="comparison",
    relation=_TEST,
    gradient="elementwise.none",
)
isinf = _unary(
    "isinf",
    "Whether each element is infinite, of either sign.",
    r"y = [|x| = \infty]",
    lambda x: np.isinf(x),
    level=3,
    family="comparison",
    relation=_TEST,
    gradient="elementwise.none",
)


def _truth(attrs: None, data: Type) -> Type:
    found = tensor(data, 0, "data")
    if found.dtype != "bool":
        raise RelationError(
            f"logical_not takes booleans, but the elements are {found.dtype}",
            'compare first (relay.not_equal(x, zero)), or convert: relay.cast(x, "bool")',
            culprits=(0,),
        )
    return found


def _bits(attrs: None, data: Type) -> Type:
    found = tensor(data, 0, "data")
    if not is_integer(found.dtype) and found.dtype != "bool":
        raise RelationError(
            f"bitwise_not takes integers, but the elements are {found.dtype}",
            'convert them: relay.cast(x, "int32")',
            culprits=(0,),
        )
    return found


logical_not = _unary(
    "logical_not",
    "True where the element is false, and false where it is true.",
    r"y = \lnot x",
    lambda x: ~x,
    level=4,
    family="comparison",
    relation=forward("LogicalNot", "{out} = {0}, of booleans", _truth),
    lenient_in_tvm="It accepted elements of every type.",
    gradient="elementwise.none",
)
bitwise_not = _unary(
    "bitwise_not", "Each element with all its bits flipped.", r"y = \mathord{\sim} x", lambda x: ~x, level=4,
    relation=forward("BitwiseNot", "{out} = {0}, of integers", _bits),
    lenient_in_tvm="It accepted elements of every type.", gradient="elementwise.none",
)  # fmt: skip


class ClipAttrs(Attrs, key="relay.attrs.ClipAttrs"):
    a_min: float = required("The least value that is let through.")
    a_max: float = required("The greatest value that is let through.")


def _clipped(attrs: ClipAttrs, x: Array) -> Array:
    if is_float(x):
        return np.minimum(np.maximum(x, x.dtype.type(attrs.a_min)), x.dtype.type(attrs.a_max))
    least, most = limits(x)
    low, high = (int(min(max(bound, least), most)) for bound in (attrs.a_min, attrs.a_max))
    return np.minimum(np.maximum(x, x.dtype.type(low)), x.dtype.type(high))


def _clip_flops(attrs: ClipAttrs, inputs: object, output: Type) -> int:
    return 2 * size_of(output)  # one comparison with each bound


_CLIP = declare(
    "clip",
    "Each element, or the bound that it exceeds.",
    formula=r"y = \min(\max(x, a_{\min}), a_{\max})",
    relation=IDENTITY,
    attrs=ClipAttrs,
    pattern=OpPattern.ELEMWISE,
    flops=_clip_flops,
    compute=_clipped,
    family="activation",
    level=3,
    gradient="elementwise.clip",
    lowering="elementwise.clip",
)


def clip(a: Expr, a_min: float, a_max: float) -> Expr:
    """Each element of `a`, or the bound that it exceeds; the shape stays."""
    return Call(_CLIP, [expr(a)], ClipAttrs(a_min=a_min, a_max=a_max))
