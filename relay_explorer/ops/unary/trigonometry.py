"""Trigonometric and hyperbolic functions, and their inverses."""

from __future__ import annotations

from ...ir.expr import Call
from ..arguments import Operand
from ..gradient_tools import number, slope
from ..numeric import np
from ..operator import call
from ..te.elementwise import library, real
from ..te.library import te
from .declaring import unary

__all__ = ["acos", "acosh", "asin", "asinh", "atan", "atanh", "cos", "cosh", "sin", "sinh", "tan"]


@unary(
    "sin",
    description="Computes the sine of each element, which is in radians.",
    formula=r"y = \sin x",
    reference=lambda x: np.sin(x),
    gradient=slope("dx = dy · cos x", lambda x, y: call("cos", [x])),
    lowering=real(lambda x: te.sin(x)),
)
def sin(data: Operand) -> Call:
    """Compute the sine of each element, which is in radians."""


@unary(
    "cos",
    description="Computes the cosine of each element, which is in radians.",
    formula=r"y = \cos x",
    reference=lambda x: np.cos(x),
    gradient=slope("dx = −dy · sin x", lambda x, y: call("negative", [call("sin", [x])])),
    lowering=real(lambda x: te.cos(x)),
)
def cos(data: Operand) -> Call:
    """Compute the cosine of each element, which is in radians."""


@unary(
    "tan",
    description="Computes the tangent of each element, which is in radians.",
    formula=r"y = \tan x",
    reference=lambda x: np.tan(x),
    gradient=slope("dx = dy · (1 + y²)", lambda x, y: number(1, x) + y * y),
    lowering=real(lambda x: te.tan(x)),
)
def tan(data: Operand) -> Call:
    """Compute the tangent of each element, which is in radians."""


@unary(
    "sinh",
    description="Computes the hyperbolic sine of each element.",
    formula=r"y = \sinh x",
    reference=lambda x: np.sinh(x),
    gradient=slope("dx = dy · cosh x", lambda x, y: call("cosh", [x])),
    lowering=real(library("sinh")),
)
def sinh(data: Operand) -> Call:
    """Compute the hyperbolic sine of each element."""


@unary(
    "cosh",
    description="Computes the hyperbolic cosine of each element.",
    formula=r"y = \cosh x",
    reference=lambda x: np.cosh(x),
    gradient=slope("dx = dy · sinh x", lambda x, y: call("sinh", [x])),
    lowering=real(library("cosh")),
)
def cosh(data: Operand) -> Call:
    """Compute the hyperbolic cosine of each element."""


@unary(
    "asin",
    description="Computes the arcsine of each element, in radians.",
    formula=r"y = \arcsin x",
    reference=lambda x: np.arcsin(x),
    gradient=slope("dx = dy / √(1 − x²)", lambda x, y: call("rsqrt", [number(1, x) - x * x])),
    lowering=real(lambda x: te.asin(x)),
)
def asin(data: Operand) -> Call:
    """Compute the arcsine of each element, in radians."""


@unary(
    "acos",
    description="Computes the arccosine of each element, in radians.",
    formula=r"y = \arccos x",
    reference=lambda x: np.arccos(x),
    gradient=slope(
        "dx = −dy / √(1 − x²)", lambda x, y: call("negative", [call("rsqrt", [number(1, x) - x * x])])
    ),
    lowering=real(lambda x: te.acos(x)),
)
def acos(data: Operand) -> Call:
    """Compute the arccosine of each element, in radians."""


@unary(
    "atan",
    description="Computes the arctangent of each element, in radians.",
    formula=r"y = \arctan x",
    reference=lambda x: np.arctan(x),
    gradient=slope("dx = dy / (1 + x²)", lambda x, y: number(1, x) / (number(1, x) + x * x)),
    lowering=real(lambda x: te.atan(x)),
)
def atan(data: Operand) -> Call:
    """Compute the arctangent of each element, in radians."""


@unary(
    "asinh",
    description="Computes the inverse hyperbolic sine of each element.",
    formula=r"y = \operatorname{arsinh} x",
    reference=lambda x: np.arcsinh(x),
    gradient=slope("dx = dy / √(x² + 1)", lambda x, y: call("rsqrt", [x * x + number(1, x)])),
    lowering=real(lambda x: te.asinh(x)),
)
def asinh(data: Operand) -> Call:
    """Compute the inverse hyperbolic sine of each element."""


@unary(
    "acosh",
    description="Computes the inverse hyperbolic cosine of each element.",
    formula=r"y = \operatorname{arcosh} x",
    reference=lambda x: np.arccosh(x),
    gradient=slope("dx = dy / √(x² − 1)", lambda x, y: call("rsqrt", [x * x - number(1, x)])),
    lowering=real(lambda x: te.acosh(x)),
)
def acosh(data: Operand) -> Call:
    """Compute the inverse hyperbolic cosine of each element."""


@unary(
    "atanh",
    description="Computes the inverse hyperbolic tangent of each element.",
    formula=r"y = \operatorname{artanh} x",
    reference=lambda x: np.arctanh(x),
    gradient=slope("dx = dy / (1 − x²)", lambda x, y: number(1, x) / (number(1, x) - x * x)),
    lowering=real(lambda x: te.atanh(x)),
)
def atanh(data: Operand) -> Call:
    """Compute the inverse hyperbolic tangent of each element."""
