"""Element-wise comparisons of two tensors."""

from __future__ import annotations

from ...ir.declaration import Precision
from ...ir.expr import Call
from ..arguments import Operand
from ..te.binary import pairwise
from ..te.tensors import (
    differs,
    plain,
)
from .declaring import compared

__all__ = ["equal", "greater", "greater_equal", "less", "less_equal", "not_equal"]


@compared(
    "equal",
    description="Tests whether two elements are equal.",
    formula=r"z = [x = y]",
    reference=lambda x, y: x == y,
    lowering=pairwise(lambda x, y: plain(x) == plain(y)),
)
def equal(lhs: Operand, rhs: Operand) -> Call:
    """Test whether two elements are equal."""


@compared(
    "not_equal",
    description="Tests whether two elements differ.",
    formula=r"z = [x \ne y]",
    reference=lambda x, y: x != y,
    lowering=pairwise(lambda x, y: differs(plain(x), plain(y))),
)
def not_equal(lhs: Operand, rhs: Operand) -> Call:
    """Test whether two elements differ."""


@compared(
    "less",
    description="Tests whether the first element is less than the second.",
    formula=r"z = [x < y]",
    reference=lambda x, y: x < y,
    lowering=pairwise(lambda x, y: plain(x) < plain(y)),
    precision=Precision.FOLLOW,
)
def less(lhs: Operand, rhs: Operand) -> Call:
    """Test whether the first element is less than the second."""


@compared(
    "less_equal",
    description="Tests whether the first element is less than or equal to the second.",
    formula=r"z = [x \le y]",
    reference=lambda x, y: x <= y,
    lowering=pairwise(lambda x, y: plain(x) <= plain(y)),
    precision=Precision.FOLLOW,
)
def less_equal(lhs: Operand, rhs: Operand) -> Call:
    """Test whether the first element is less than or equal to the second."""


@compared(
    "greater",
    description="Tests whether the first element is greater than the second.",
    formula=r"z = [x > y]",
    reference=lambda x, y: x > y,
    lowering=pairwise(lambda x, y: plain(x) > plain(y)),
    precision=Precision.FOLLOW,
)
def greater(lhs: Operand, rhs: Operand) -> Call:
    """Test whether the first element is greater than the second."""


@compared(
    "greater_equal",
    description="Tests whether the first element is greater than or equal to the second.",
    formula=r"z = [x \ge y]",
    reference=lambda x, y: x >= y,
    lowering=pairwise(lambda x, y: plain(x) >= plain(y)),
    precision=Precision.FOLLOW,
)
def greater_equal(lhs: Operand, rhs: Operand) -> Call:
    """Test whether the first element is greater than or equal to the second."""
