"""Normalizations, and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.expr import Call, Expr
from ...ir.op import Compute, Flops, Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import IncompleteType, TensorType, TupleType, Type
from ..arguments import expr
from ..declare import declare
from ..numeric import Array, along, np
from ..relation import normal_axis, tensor
from .layout import many
from .vector import axis_vector

__all__ = ["batch_norm", "dropout", "dropout_raw", "group_norm", "instance_norm", "layer_norm"]

CHANNEL_AXIS = "The axis of the channels, each with a scale and an offset of its own."
EPSILON = "Added to the variance, against division by zero."
CENTER = "Whether the offset beta is added."
SCALE = "Whether the scale gamma multiplies."


class BatchNormAttrs(Attrs, key="relay.attrs.BatchNormAttrs"):
    axis: int = attr(1, CHANNEL_AXIS)
    epsilon: float = attr(1e-5, EPSILON)
    center: bool = attr(True, CENTER)
    scale: bool = attr(True, SCALE)


class InstanceNormAttrs(Attrs, key="relay.attrs.InstanceNormAttrs"):
    axis: int = attr(1, CHANNEL_AXIS)
    epsilon: float = attr(1e-5, EPSILON)
    center: bool = attr(True, CENTER)
    scale: bool = attr(True, SCALE)


class LayerNormAttrs(Attrs, key="relay.attrs.LayerNormAttrs"):
    axis: int = attr(-1, "The axis that is normalized.")
    epsilon: float = attr(1e-5, EPSILON)
    center: bool = attr(True, CENTER)
    scale: bool = attr(True, SCALE)


class GroupNormAttrs(Attrs, key="relay.attrs.GroupNormAttrs"):
    num_groups: int = attr(0, "Into how many groups the channels fall, each normalized together.")
    axis: int = attr(1, CHANNEL_AXIS)
    epsilon: float = attr(1e-5, EPSILON)
    center: bool = attr(True, CENTER)
    scale: bool = attr(True, SCALE)


class DropoutAttrs(Attrs, key="relay.attrs.DropoutAttrs"):
    rate: float = attr(0.5, "The share of elements that are dropped while training.")


def _flops_each(count: int) -> Flops:
    """So many operations an element of the data."""
    return lambda attrs, inputs, output: count * size_of(inputs[0])


_BATCH_PARAMETERS = ("gamma", "beta", "the moving mean", "the moving variance")


def _batch_norm(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Inputs of any shape and four times (c) for the axis of length c; outputs like the first, (c), (c)."""
    data = types[0]
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if attrs.axis < -1:
        raise RelationError(
            f"axis={attrs.axis} must be counted from the front, or be -1",
            f"the data has {many(len(data.shape), 'axis', 'axes')}",
        )
    axis = normal_axis(attrs.axis, len(data.shape), "batch_norm")
    for operand, name in enumerate(_BATCH_PARAMETERS, 1):
        axis_vector(types[operand], operand, name, data, axis, reporter)
    channels = TensorType.of((data.shape[axis],), data.dtype)
    reporter.assign(types[5], TupleType((data, channels, channels)))
    return True


def _affine(attrs: Anything, y: Array, gamma: Array, beta: Array) -> Array:
    """`y` scaled and shifted along its channels, as far as `attrs` say, in gamma's element type."""
    if attrs.scale:
        y = y * along(gamma, attrs.axis, y.ndim)
    if attrs.center:
        y = y + along(beta, attrs.axis, y.ndim)
    return y.astype(gamma.dtype)


def _normal(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """`x` less its mean over `axes`, divided by its standard deviation."""
    count = max(1, prod([x.shape[axis] for axis in axes]))
    centred = x - x.sum(axes, "float64", keepdims=True) / count
    return centred / np.sqrt((centred**2).sum(axes, keepdims=True) / count + epsilon)


def _batch_normed(
    attrs: BatchNormAttrs, x: Array, gamma: Array, beta: Array, mean: Array, variance: Array
) -> tuple[Array, ...]:
    """As in inference: the moving mean and variance are used, and stay."""
    middle, spread = along(mean, attrs.axis, x.ndim), along(variance, attrs.axis, x.ndim)
    return _affine(attrs, (x - middle) / np.sqrt(spread + attrs.epsilon), gamma, beta), mean, variance


_BATCH_NORM = declare(
    "nn.batch_norm",
    "Normalizes each channel over the batch; also gives the new moving mean and variance.",
    formula=r"y = \gamma\,\frac{x - \mathrm{E}[x]}{\sqrt{\mathrm{Var}[x] + \epsilon}} + \beta",
    relation=Relation(
        "BatchNorm", _batch_norm, "{out} = ({0}, {3}, {4}), and {1} to {4} lie along its channels"
    ),
    inputs=("data", "gamma", "beta", "moving_mean", "moving_var"),
    attrs=BatchNormAttrs,
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=_flops_each(4),  # as in inference: subtract the mean, divide, scale, shift
    family="normalization",
    level=1,
    compute=_batch_normed,
    gradient="normalize.batch_norm",
    lowering="norm.batch_norm",
)


def batch_norm(
    data: Expr,
    gamma: Expr,
    beta: Expr,
    moving_mean: Expr,
    moving_var: Expr,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> TupleWrapper:
    """The normalized `data`, and the new moving mean and variance; the other arguments are vectors as long as
    the data's `axis`.
    """
    attrs = BatchNormAttrs(axis=axis, epsilon=epsilon, center=center, scale=scale)
    return TupleWrapper(
        Call(_BATCH_NORM, [expr(a) for a in (data, gamma, beta, moving_mean, moving_var)], attrs), 3
    )


def _scaled(name: str, least_rank: int = 1) -> Relation:
    """Input of any shape, gamma and beta as long as its axis; output like the input."""

    def rule(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        data, gamma, beta, out = types
        if isinstance(data, IncompleteType):
            return False
        data = tensor(data, 0, "data")
        if len(data.shape) < least_rank:
            raise RelationError(
                f"the data has {many(len(data.shape), 'axis', 'axes')}, but needs batch, channels and "
                "at least one more",
                culprits=(0,),
            )
        axis = normal_axis(attrs.axis, len(data.shape))
        if name == "GroupNorm":
            _check_groups(data, axis, attrs.num_groups)
        axis_vector(gamma, 1, "gamma", data, axis, reporter)
        axis_vector(beta, 2, "beta", data, axis, reporter)
        reporter.assign(out, data)
        return True

    return Relation(name, rule, "{out} = {0}, and {1} and {2} lie along its axis")


def _check_groups(data: TensorType, axis: int, groups: int) -> None:
    channels = data.shape[axis]
    if groups < 1:
        raise RelationError(
            f"num_groups={groups} must be positive", "give a number that divides the channels"
        )
    if isinstance(channels, int) and channels % groups:
        raise RelationError(
            f"num_groups={groups} does not divide the {channels} channels",
            "give a number that divides them",
            culprits=(0,),
        )


def _norm(
    name: str,
    description: str,
    over: str,
    relation: Relation,
    attrs: type[Attrs],
    compute: Compute,
    laxer: str = "",
    gradient: str = "",
) -> Op:
    return declare(
        name,
        description,
        formula=(
            rf"y = \gamma\,\frac{{x - \mathrm{{E}}_{{{over}}}[x]}}"
            rf"{{\sqrt{{\mathrm{{Var}}_{{{over}}}[x] + \epsilon}}}} + \beta"
        ),
        relation=relation,
        inputs=("data", "gamma", "beta"),
        attrs=attrs,
        compute=compute,
        flops=_flops_each(7),  # 1 for the mean, 2 for the variance, 4 to normalize, scale and shift
        family="normalization",
        level=1,
        lenient_in_tvm=laxer,
        gradient=gradient,
        lowering="norm." + name.removeprefix("nn."),
    )


def _instance_normed(attrs: InstanceNormAttrs, x: Array, gamma: Array, beta: Array) -> Array:
    space = tuple([axis for axis in range(1, x.ndim) if axis != attrs.axis % x.ndim])
    return _affine(attrs, _normal(x, space, attrs.epsilon), gamma, beta)


def _group_normed(attrs: GroupNormAttrs, x: Array, gamma: Array, beta: Array) -> Array:
    moved = np.moveaxis(x, attrs.axis, 1)
    groups = moved.reshape(len(moved), attrs.num_groups, prod(moved.shape[1:]) // attrs.num_groups)
    y = _normal(groups, (2,), attrs.epsilon).reshape(moved.shape)
    return _affine(attrs, np.moveaxis(y, 1, attrs.axis), gamma, beta)


_INSTANCE_NORM = _norm(
    "nn.instance_norm",
    "Normalizes each channel of each example.",
    r"\text{space}",
    _scaled("InstanceNorm", 3),
    InstanceNormAttrs,
    _instance_normed,
    gradient="normalize.instance_norm",
)
_LAYER_NORM = _norm(
    "nn.layer_norm",
    "Normalizes along one axis.",
    r"\text{axis}",
    _scaled("LayerNorm"),
    LayerNormAttrs,
    lambda attrs, x, gamma, beta: _affine(attrs, _normal(x, (attrs.axis,), attrs.epsilon), gamma, beta),
    gradient="normalize.layer_norm",
)
_GROUP_NORM = _norm(
    "nn.group_norm",
    "Normalizes groups of channels of each example.",
    r"\text{group}",
    _scaled("GroupNorm"),
    GroupNormAttrs,
    _group_normed,
    "It accepted a number of groups that does not divide the channels.",
    gradient="normalize.group_norm",
)


def instance_norm(
    data: Expr,
    gamma: Expr,
    beta: Expr,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Call:
    """`gamma` and `beta` are vectors as long as the data's `axis`."""
    return Call(
        _INSTANCE_NORM,
        [expr(data), expr(gamma), expr(beta)],
        InstanceNormAttrs(axis=axis, epsilon=epsilon, center=center, scale=scale),
    )


def layer_norm(
    data: Expr,
    gamma: Expr,
    beta: Expr,
    axis: int = -1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Call:
    """`gamma` and `beta` are vectors as long as the data's `axis`."""
    return Call(
        _LAYER_NORM,
        [expr(data), expr(gamma), expr(beta)],
        LayerNormAttrs(axis=axis, epsilon=epsilon, center=center, scale=scale),
    )


def group_norm(
    data: Expr,
    gamma: Expr,
    beta: Expr,
    num_groups: int,
    axis: int = 1,
    epsilon: float = 1e-5,
    center: bool = True,
    scale: bool = True,
) -> Call:
    """`gamma` and `beta` are vectors as long as the data's `axis`, which `num_groups` divides."""
    attrs = GroupNormAttrs(num_groups=num_groups, axis=axis, epsilon=epsilon, center=center, scale=scale)
    return Call(_GROUP_NORM, [expr(data), expr(gamma), expr(beta)], attrs)


def _dropout(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Output twice the input."""
    data, out = types
    if isinstance(data, IncompleteType):
        return False
    data = tensor(data, 0, "data")
    if not 0 <= attrs.rate < 1:
        raise RelationError(
            f"rate={attrs.rate} must be at least 0 and less than 1",
            "it is the share of elements that are dropped",
        )
    reporter.assign(out, TupleType((data, data)))
    return True


_DROPOUT = declare(
    "nn.dropout",
    "While training, drops a random share of the elements and scales up the rest; also gives the mask.",
    formula=r"y = \frac{m\, x}{1 - r}, \quad m \sim \mathrm{Bernoulli}(1 - r)",
    relation=Relation("Dropout", _dropout, "{out} = ({0}, {0})"),
    attrs=DropoutAttrs,
    flops=_flops_each(2),  # times the mask, times the scale
    family="training",
    level=1,
    lenient_in_tvm="It accepted any rate.",
    compute=lambda attrs, x: (x, np.ones_like(x)),
    gradient="normalize.dropout",
    lowering="norm.dropout",
)


def dropout(data: Expr, rate: float = 0.5) -> Expr:
    """`data` with a share `rate` of its elements dropped."""
    return TupleWrapper(dropout_raw(data, rate), 2)[0]


def dropout_raw(data: Expr, rate: float = 0.5) -> Call:
    """A pair: `data` with a share `rate` of its elements dropped, and the mask that says which."""
    return Call(_DROPOUT, [expr(data)], DropoutAttrs(rate=rate))
