"""Activations: relu and its relatives, softmax and its relatives."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.expr import Call, Expr
from ...ir.op import (
    Compute,
    Flops,
    Op,
    OpPattern,
    Relation,
    RelationError,
    Reporter,
    flops_per_output,
    size_of,
)
from ...ir.types import IncompleteType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, along, limits, np
from ..relation import IDENTITY, normal_axis, tensor
from .layout import many
from .vector import axis_vector


class LeakyReluAttrs(Attrs, key="relay.attrs.LeakyReluAttrs"):
    alpha: float = attr(0.25, "The slope below zero.")


class PReluAttrs(Attrs, key="relay.attrs.PReluAttrs"):
    axis: int = attr(1, "The axis of the data that the slopes lie along.")


class SoftmaxAttrs(Attrs, key="relay.attrs.SoftmaxAttrs"):
    axis: int = attr(-1, "The axis over which the results sum to 1.")


_RELU = declare(
    "nn.relu",
    "Replaces negative elements by zero.",
    formula=r"y = \max(x, 0)",
    relation=IDENTITY,
    pattern=OpPattern.ELEMWISE,
    flops=flops_per_output,
    family="activation",
    level=1,
    compute=lambda attrs, x: np.maximum(x, x.dtype.type(0)),
    gradient="elementwise.relu",
    lowering="elementwise.relu",
)


def relu(data: Expr) -> Call:
    """The larger of each element and 0."""
    """`data` with what is negative replaced by 0."""
    return Call(_RELU, [expr(data)])


def _leaky(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Output like the input."""
    if attrs.alpha < 0:
        raise RelationError(f"alpha={attrs.alpha} must not be negative", "a slope of 0 is nn.relu")
    return IDENTITY.rule(types, num_inputs, attrs, reporter)


def _flops_each(count: int) -> Flops:
    """So many operations an element of the data."""
    return lambda attrs, inputs, output: count * size_of(inputs[0])


def _sloped(x: Array, slope: float | Array) -> Array:
    return np.where(x > 0, x, x * slope).astype(x.dtype)


_LEAKY_RELU = declare(
    "nn.leaky_relu",
    "Multiplies negative elements by a small slope.",
    formula=r"y = \begin{cases} x & x > 0 \\ \alpha x & \text{otherwise} \end{cases}",
    relation=Relation("Identity", _leaky, "{out} = {0}"),
    attrs=LeakyReluAttrs,
    pattern=OpPattern.ELEMWISE,
    flops=_flops_each(2),  # a comparison and a product
    family="activation",
    level=3,
    compute=lambda attrs, x: _sloped(x, attrs.alpha),
    gradient="elementwise.leaky_relu",
    lowering="elementwise.leaky_relu",
)


def leaky_relu(data: Expr, alpha: float = 0.01) -> Call:
    """`data` with negative elements multiplied by `alpha`."""
    """`data` with what is negative multiplied by `alpha`."""
    return Call(_LEAKY_RELU, [expr(data)], LeakyReluAttrs(alpha=alpha))


def _prelu(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs of any shape and (d) for the axis of length d; output like the first."""
    data, alpha, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if attrs.axis < 0:
        raise RelationError(
            f"axis={attrs.axis} must not be negative",
            f"count from the front: the data has {many(len(data.shape), 'axis', 'axes')}",
        )
    axis_vector(alpha, 1, "alpha", data, normal_axis(attrs.axis, len(data.shape), "prelu"), reporter)
    reporter.assign(out, data)
    return True


_PRELU = declare(
    "nn.prelu",
    "Multiplies negative elements by a slope that is learnt for each channel.",
    formula=(
        r"y_{\ldots,c,\ldots} = \begin{cases} x_{\ldots,c,\ldots} & x_{\ldots,c,\ldots} > 0 \\ \alpha_c\, "
        r"x_{\ldots,c,\ldots} & \text{otherwise} \end{cases}"
    ),
    relation=Relation("PRelu", _prelu, "{out} = {0}, and {1} lies along its axis"),
    inputs=("data", "alpha"),
    attrs=PReluAttrs,
    pattern=OpPattern.BROADCAST,
    flops=_flops_each(2),  # a comparison and a product
    family="activation",
    level=3,
    compute=lambda attrs, x, alpha: _sloped(x, along(alpha, attrs.axis, x.ndim)),
    gradient="elementwise.prelu",
    lowering="binary.prelu",
)


def prelu(data: Expr, alpha: Expr, axis: int = 1) -> Call:
    """`alpha` is a vector as long as the data's `axis`."""
    return Call(_PRELU, [expr(data), expr(alpha)], PReluAttrs(axis=axis))


def _softmax(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Output like the input, which has the axis."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    normal_axis(attrs.axis, len(data.shape), "softmax")
    reporter.assign(out, data)
    return True


def _softmax_op(
    name: str,
    description: str,
    formula: str,
    compute: Compute,
    gradient: str = "",
) -> Op:
    return declare(
        name,
        description,
        formula=formula,
        relation=Relation("Softmax", _softmax, "{out} = {0}"),
        attrs=SoftmaxAttrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        flops=_flops_each(
            5
        ),  # the maximum, a difference, an exponential, a sum, a quotient (for the logarithm a difference)
        compute=compute,
        family="activation",
        level=1,
        gradient=gradient,
        lowering="softmax." + name.removeprefix("nn."),
    )


def _shares(attrs: SoftmaxAttrs, x: Array) -> Array:
    powers = np.exp(
        x - x.max(attrs.axis, keepdims=True, initial=limits(x)[0])
    )  # shifted so that none overflows
    return (powers / powers.sum(attrs.axis, keepdims=True)).astype(x.dtype)


def _log_shares(attrs: SoftmaxAttrs, x: Array) -> Array:
    shifted = x - x.max(attrs.axis, keepdims=True, initial=limits(x)[0])
    return (shifted - np.log(np.exp(shifted).sum(attrs.axis, keepdims=True))).astype(x.dtype)


_SOFTMAX = _softmax_op(
    "nn.softmax",
    "Exponentials along an axis, divided by their sum.",
    r"y_i = \frac{e^{x_i}}{\sum_j e^{x_j}}",
    compute=_shares,
    gradient="normalize.softmax",
)
_FAST_SOFTMAX = _softmax_op(
    "nn.fast_softmax",
    "Softmax with an approximate exponential.",
    r"y_i = \frac{\tilde{e}^{x_i}}{\sum_j \tilde{e}^{x_j}}",
    compute=_shares,
    gradient="normalize.softmax",
)
_LOG_SOFTMAX = _softmax_op(
    "nn.log_softmax",
    "The logarithm of softmax.",
    r"y_i = x_i - \log \sum_j e^{x_j}",
    compute=_log_shares,
    gradient="normalize.log_softmax",
)


def softmax(data: Expr, axis: int = -1) -> Call:
    """Exponentials divided by their sum along `axis`; like `data` in shape."""
    """Weights that sum to 1 along `axis`, in proportion to the exponentials of `data`."""
    return Call(_SOFTMAX, [expr(data)], SoftmaxAttrs(axis=axis))


def fast_softmax(data: Expr, axis: int = -1) -> Call:
    """Softmax with an approximate exponential; like `data` in shape."""
    """Like `softmax`, with an approximated exponential."""
    return Call(_FAST_SOFTMAX, [expr(data)], SoftmaxAttrs(axis=axis))


def log_softmax(data: Expr, axis: int = -1) -> Call:
    """The logarithm of softmax along `axis`; like `data` in shape."""
    """The logarithm of `softmax`, computed without overflow."""
    return Call(_LOG_SOFTMAX, [expr(data)], SoftmaxAttrs(axis=axis))
