"""Normalizations without parameters: by neighbouring channels, and by the Euclidean norm."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import Relation, Reporter, size_of
from ...ir.types import IncompleteType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, np
from ..relation import IDENTITY, normal_axis, tensor
from .sliding import padded, windows

__all__ = ["l2_normalize", "lrn"]


class LRNAttrs(Attrs, key="relay.attrs.LRNAttrs"):
    size: int = attr(5, "How many neighbouring channels are summed.")
    axis: int = attr(1, "The axis of the channels.")
    bias: float = attr(2, "Added to the sum, against division by zero.")
    alpha: float = attr(0.0001, "The sum's factor.")
    beta: float = attr(0.75, "The divisor's exponent.")


class L2NormalizeAttrs(Attrs, key="relay.attrs.L2NormalizeAttrs"):
    eps: float = required("The least sum of squares, against division by zero.")
    axis: Ints | None = attr(None, "The axes that are summed over; all where it is left out.")


def _like_data(name: str) -> Relation:
    """Output like the input, whose axes the attribute `axis` names."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        for axis in (
            attrs.axis if isinstance(attrs.axis, tuple) else () if attrs.axis is None else (attrs.axis,)
        ):
            normal_axis(axis, len(data.shape), name)
        reporter.assign(out, data)
        return True

    return Relation(IDENTITY.name, rule, IDENTITY.formula)


def _lrn(attrs: LRNAttrs, x: Array) -> Array:
    if attrs.size < 1:
        raise ValueError(f"size={attrs.size} must be positive")
    before = attrs.size // 2
    squares = padded(np.moveaxis(x, attrs.axis, -1) ** 2, [(before, attrs.size - 1 - before)], 0)
    sums = np.moveaxis(windows(squares, (attrs.size,), (1,), (1,)).sum(-1), -1, attrs.axis)
    return (x / (attrs.bias + attrs.alpha / attrs.size * sums) ** attrs.beta).astype(x.dtype)


def _l2_normed(attrs: L2NormalizeAttrs, x: Array) -> Array:
    squares = np.sum(x**2, attrs.axis, keepdims=True)
    return (x / np.sqrt(np.maximum(squares, attrs.eps))).astype(x.dtype)


_LRN = declare(
    "nn.lrn",
    "Divides each element by a power of the squares' sum over neighbouring channels.",
    formula=r"y_c = \frac{x_c}{\left(b + \frac{\alpha}{n} \sum_{|c' - c| \le n/2} x_{c'}^2\right)^{\beta}}",
    relation=_like_data("lrn"),
    attrs=LRNAttrs,
    flops=lambda attrs, inputs, output: (
        (2 * attrs.size + 4) * size_of(output)
    ),  # squares and their sum, then factor, sum, power, quotient
    family="normalization",
    level=2,
    lenient_in_tvm="It accepted an axis that the data does not have.",
    compute=_lrn,
    gradient="normalize.lrn",
    lowering="norm.lrn",
)


def lrn(
    data: Expr, size: int = 5, axis: int = 1, bias: float = 2, alpha: float = 0.00001, beta: float = 0.75
) -> Call:
    """Local response normalization over `size` neighbouring channels."""
    return Call(_LRN, [expr(data)], LRNAttrs(size=size, axis=axis, bias=bias, alpha=alpha, beta=beta))


_L2_NORMALIZE = declare(
    "nn.l2_normalize",
    "Divides by the Euclidean norm along the given axes.",
    formula=r"y = \frac{x}{\sqrt{\max(\sum x^2, \epsilon)}}",
    relation=_like_data("l2_normalize"),
    attrs=L2NormalizeAttrs,
    flops=lambda attrs, inputs, output: 3 * size_of(output),  # a square, a sum, a quotient
    family="normalization",
    level=2,
    lenient_in_tvm="It accepted axes that the data does not have.",
    compute=_l2_normed,
    gradient="normalize.l2_normalize",
    lowering="norm.l2_normalize",
)


def l2_normalize(data: Expr, eps: float, axis: int | Sequence[int] | None = None) -> Call:
    """`data` divided by its Euclidean norm over `axis`, which is taken as `eps` at least."""
    return Call(_L2_NORMALIZE, [expr(data)], L2NormalizeAttrs(eps=eps, axis=axis))
