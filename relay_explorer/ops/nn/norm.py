"""Normalizations, and dropout."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, Ints, attr, required
from ...ir.expr import Call, Expr
from ...ir.op import Flops, Op, OpPattern, Relation, RelationError, Reporter, size_of
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import IncompleteType, TensorType, TupleType, Type
from ..arguments import expr
from ..declare import declare
from ..relation import IDENTITY, normal_axis, tensor
from .layout import many
from .vector import axis_vector

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


class LRNAttrs(Attrs, key="relay.attrs.LRNAttrs"):
    size: int = attr(5, "How many neighbouring channels are summed.")
    axis: int = attr(1, "The axis of the channels.")
    bias: float = attr(2, "Added to the sum, against division by zero.")
    alpha: float = attr(0.0001, "The sum's factor.")
    beta: float = attr(0.75, "The divisor's exponent.")


class L2NormalizeAttrs(Attrs, key="relay.attrs.L2NormalizeAttrs"):
    eps: float = required("The least sum of squares, against division by zero.")
    axis: Ints | None = attr(None, "The axes that are summed over; all where it is left out.")


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
    name: str, description: str, over: str, relation: Relation, attrs: type[Attrs], laxer: str = ""
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
        flops=_flops_each(7),  # 1 for the mean, 2 for the variance, 4 to normalize, scale and shift
        family="normalization",
        level=1,
        laxer_in_reference=laxer,
    )


_INSTANCE_NORM = _norm(
    "nn.instance_norm",
    "Normalizes each channel of each example.",
    r"\text{space}",
    _scaled("InstanceNorm", 3),
    InstanceNormAttrs,
)
_LAYER_NORM = _norm(
    "nn.layer_norm", "Normalizes along one axis.", r"\text{axis}", _scaled("LayerNorm"), LayerNormAttrs
)
_GROUP_NORM = _norm(
    "nn.group_norm",
    "Normalizes groups of channels of each example.",
    r"\text{group}",
    _scaled("GroupNorm"),
    GroupNormAttrs,
    "It accepted a number of groups that does not divide the channels.",
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

    return Relation(IDENTITY.name, rule, IDENTITY.law)


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
    laxer_in_reference="It accepted an axis that the data does not have.",
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
    flops=_flops_each(3),  # a square, a sum, a quotient
    family="normalization",
    level=2,
    laxer_in_reference="It accepted axes that the data does not have.",
)


def l2_normalize(data: Expr, eps: float, axis: int | Sequence[int] | None = None) -> Call:
    """`data` divided by its Euclidean norm over `axis`, all axes where it is left out."""
    """`data` divided by its Euclidean norm over `axis`, which is taken as `eps` at least."""
    return Call(_L2_NORMALIZE, [expr(data)], L2NormalizeAttrs(eps=eps, axis=axis))


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
    laxer_in_reference="It accepted any rate.",
)


def dropout(data: Expr, rate: float = 0.5) -> Expr:
    """`data` with a share `rate` of its elements dropped."""
    return TupleWrapper(dropout_raw(data, rate), 2)[0]


def dropout_raw(data: Expr, rate: float = 0.5) -> Call:
    """A pair: `data` with a share `rate` of its elements dropped, and the mask that says which."""
    return Call(_DROPOUT, [expr(data)], DropoutAttrs(rate=rate))
