"""`tvm.relay.op._make`: operators as TVM's C++ code built them, where the arguments are others than those of
`relay`."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Call, Expr
from ..ops import namespaces as relay


def variance(
    data: Expr, mean: Expr, axis: Sequence[int] | None, keepdims: bool, exclude: bool, unbiased: bool
) -> Call:
    """Compute the variance of `data` over `axis`, given its mean with keepdims."""
    return relay.variance(data, axis, keepdims, exclude, unbiased, mean)


__all__ = ["variance"]
