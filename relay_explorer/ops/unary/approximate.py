"""Approximations that the pass FastMath substitutes for the exact operators. Their reference
implementations are those of the exact operators; only kernels approximate.
"""

from __future__ import annotations

import math

from ...ir.declaration import Precision, Trait
from ...ir.expr import Call
from ..arguments import Operand
from ..calls import relay
from ..gradient_tools import number, slope
from ..numeric import np
from ..te.elementwise import fast_exponential, real
from ..te.library import te
from ..te.tensors import (
    Value,
    dtype_of,
    select,
)
from ..te.tensors import number as te_number
from .declaring import erf_of, unary

__all__ = ["fast_erf", "fast_exp", "fast_tanh"]


def _fast_tanh(x: Value) -> Value:
    """Compute tanh x = 1 - 2 / (e^2x + 1) by the approximate exponential; near 0, x - x³/3 + … instead."""
    dtype = dtype_of(x)
    if dtype != "float32":
        return te.tanh(x)
    square, total = x * x, te_number(62 / 2835, "float32")
    for coefficient in (-17 / 315, 2 / 15, -1 / 3, 1.0):
        total = total * square + te_number(coefficient, "float32")
    one, two = te_number(1, "float32"), te_number(2, "float32")
    far = one - two / (fast_exponential(two * x) + one)
    return select(te.abs(x) < te_number(0.25, "float32"), x * total, far)


@unary(
    "fast_exp",
    description="Approximates the exponential function of each element by a polynomial.",
    formula=r"y \approx e^{x}",
    reference=lambda x: np.exp(x),
    gradient=slope("dx = dy · y, since exp is its own derivative", lambda x, y: y),
    lowering=real(fast_exponential),
    precision=Precision.FOLLOW,
    traits={Trait.APPROXIMATION},
)
def fast_exp(data: Operand) -> Call:
    """Approximate the exponential function of each element by a polynomial."""


@unary(
    "fast_tanh",
    description="Approximates the hyperbolic tangent of each element by fast_exp, or near 0 by a polynomial.",
    formula=r"y \approx \tanh x",
    reference=lambda x: np.tanh(x),
    family="activation",
    gradient=slope("dx = dy · (1 − y²)", lambda x, y: number(1, x) - y * y),
    lowering=real(_fast_tanh),
    precision=Precision.FOLLOW,
    traits={Trait.APPROXIMATION},
)
def fast_tanh(data: Operand) -> Call:
    """Approximate the hyperbolic tangent of each element by fast_exp, or near 0 by a polynomial."""


@unary(
    "fast_erf",
    description="Computes the Gauss error function of each element; its kernel here is that of erf.",
    formula=r"y \approx \operatorname{erf} x",
    reference=erf_of,
    gradient=slope(
        "dx = dy · 2/√π · exp(−x²)",
        lambda x, y: number(2 / math.sqrt(math.pi), x) * relay.exp(relay.negative(x * x)),
    ),
    lowering=real(lambda x: te.erf(x)),
    precision=Precision.FOLLOW,
    traits={Trait.APPROXIMATION},
)
def fast_erf(data: Operand) -> Call:
    """Compute the Gauss error function of each element; its kernel here is that of erf."""
