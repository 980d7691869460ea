"""Exponentials, logarithms and roots, and functions composed of them."""

from __future__ import annotations

import math

from ...ir.declaration import Precision, Trait
from ...ir.expr import Call
from ..arguments import Operand
from ..gradient_tools import number, slope
from ..numeric import np
from ..operator import call
from ..te.elementwise import one_over, real
from ..te.library import te
from ..te.tensors import (
    dtype_of,
)
from ..te.tensors import number as te_number
from .declaring import erf_of, unary

__all__ = ["erf", "exp", "log", "log2", "log10", "rsqrt", "sigmoid", "sqrt", "tanh"]


@unary(
    "exp",
    description="Computes the exponential of each element.",
    formula=r"y = e^{x}",
    reference=lambda x: np.exp(x),
    gradient=slope("dx = dy · y, since exp is its own derivative", lambda x, y: y),
    lowering=real(lambda x: te.exp(x)),
    precision=Precision.NEVER,
)
def exp(data: Operand) -> Call:
    """Compute the exponential of each element."""


@unary(
    "log",
    description="Computes the natural logarithm of each element.",
    formula=r"y = \ln x",
    reference=lambda x: np.log(x),
    gradient=slope("dx = dy / x", lambda x, y: number(1, x) / x),
    lowering=real(lambda x: te.log(x)),
)
def log(data: Operand) -> Call:
    """Compute the natural logarithm of each element."""


@unary(
    "log2",
    description="Computes the base-2 logarithm of each element.",
    formula=r"y = \log_2 x",
    reference=lambda x: np.log2(x),
    gradient=slope("dx = dy / (x · ln 2)", lambda x, y: number(1 / math.log(2), x) / x),
    lowering=real(lambda x: te.log2(x)),
)
def log2(data: Operand) -> Call:
    """Compute the base-2 logarithm of each element."""


@unary(
    "log10",
    description="Computes the base-10 logarithm of each element.",
    formula=r"y = \log_{10} x",
    reference=lambda x: np.log10(x),
    gradient=slope("dx = dy / (x · ln 10)", lambda x, y: number(1 / math.log(10), x) / x),
    lowering=real(lambda x: te.log10(x)),
)
def log10(data: Operand) -> Call:
    """Compute the base-10 logarithm of each element."""


@unary(
    "sqrt",
    description="Computes the square root of each element.",
    formula=r"y = \sqrt{x}",
    reference=lambda x: np.sqrt(x),
    gradient=slope("dx = dy / (2y)", lambda x, y: number(0.5, x) / y),
    lowering=real(lambda x: te.sqrt(x)),
    precision=Precision.FOLLOW,
)
def sqrt(data: Operand) -> Call:
    """Compute the square root of each element."""


@unary(
    "rsqrt",
    description="Computes the reciprocal of the square root of each element.",
    formula=r"y = 1 / \sqrt{x}",
    reference=lambda x: 1 / np.sqrt(x),
    gradient=slope("dx = −dy · y / (2x)", lambda x, y: number(-0.5, x) * y / x),
    lowering=real(lambda x: one_over(te.sqrt(x))),
)
def rsqrt(data: Operand) -> Call:
    """Compute the reciprocal of the square root of each element."""


@unary(
    "erf",
    description="Computes the Gauss error function of each element.",
    formula=r"y = \frac{2}{\sqrt\pi} \int_0^x e^{-t^2} dt",
    reference=erf_of,
    gradient=slope(
        "dx = dy · 2/√π · exp(−x²)",
        lambda x, y: number(2 / math.sqrt(math.pi), x) * call("exp", [call("negative", [x * x])]),
    ),
    lowering=real(lambda x: te.erf(x)),
    precision=Precision.NEVER,
)
def erf(data: Operand) -> Call:
    """Compute the Gauss error function of each element."""


@unary(
    "sigmoid",
    description="Computes the logistic function of each element.",
    formula=r"y = \frac{1}{1 + e^{-x}}",
    reference=lambda x: 1 / (1 + np.exp(-x)),
    family="activation",
    gradient=slope("dx = dy · y · (1 − y)", lambda x, y: y * (number(1, x) - y)),
    lowering=real(lambda x: one_over(te_number(1, dtype_of(x)) + te.exp(-x))),
    precision=Precision.FOLLOW,
    traits={Trait.ACTIVATION},
)
def sigmoid(data: Operand) -> Call:
    """Compute the logistic function of each element."""


@unary(
    "tanh",
    description="Computes the hyperbolic tangent of each element.",
    formula=r"y = \tanh x = \frac{e^x - e^{-x}}{e^x + e^{-x}}",
    reference=lambda x: np.tanh(x),
    family="activation",
    gradient=slope("dx = dy · (1 − y²)", lambda x, y: number(1, x) - y * y),
    lowering=real(lambda x: te.tanh(x)),
    precision=Precision.FOLLOW,
    traits={Trait.ACTIVATION},
)
def tanh(data: Operand) -> Call:
    """Compute the hyperbolic tangent of each element."""
