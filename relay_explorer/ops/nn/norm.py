"""Normalizations along an axis, over spatial axes or channel groups; and code shared with `batch_norm`.

Kernels accumulate in float32, and in float64 for float64 and integers; the reference implementation
accumulates in float64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Annotated, ParamSpec, TypeVar
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, NotApplicable, Precision
from ...ir.expr import Call, Expr
from ...ir.op import Reference, Relation, RelationError, Reporter
from ...ir.types import IncompleteType, TensorType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input
from ..examples import IMAGE, V, X, t
from ..gradient_tools import along as along_axis
from ..gradient_tools import axis_count, composed, extents
from ..gradient_tools import number as number_like
from ..layouts.layout import NO_LAYOUT_RULE, Answer, LayoutRule, Question
from ..layouts.normalization import normalization
from ..numeric import Array, along, np
from ..operator import Example, operator
from ..relation import normal_axis, tensor
from ..te.library import te, tirx
from ..te.lowered import Lowered, Lowering
from ..te.tensors import (
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    number,
    product,
    quotient,
    real_type,
    reduce_axes,
    stage,
    sum_over,
)
from .layout import many
from .vector import axis_vector

__all__ = ["group_norm", "instance_norm", "layer_norm"]

VECTORS = [t(4, name=f"c{n}") for n in range(4)]  # as long as IMAGE has channels

P = ParamSpec("P")
R = TypeVar("R")


CHANNEL_AXIS = "The axis of the channels, each with its own scale and offset."

EPSILON = "Added to the variance, against division by zero."

CENTER = "Whether the offset beta is added."

SCALE = "Whether the scale gamma multiplies."


# -- shared with batch_norm: scale and offset


def affine(attrs: Anything, y: Array, gamma: Array, beta: Array) -> Array:
    """Scale and shift `y` along its channels if the attributes say so; return gamma's element type."""
    if attrs.scale:
        y = y * along(gamma, attrs.axis, y.ndim)
    if attrs.center:
        y = y + along(beta, attrs.axis, y.ndim)
    return y.astype(gamma.dtype)


def affine_expr(attrs: Anything, value: Expr, gamma: Expr, beta: Expr, rank: int, axis: int) -> Expr:
    if attrs.scale:
        value = value * along_axis(gamma, rank, axis)
    return value + along_axis(beta, rank, axis) if attrs.center else value


def affine_te(attrs: Anything, y: Value, gamma: Value, beta: Value, dtype: str) -> Value:
    """Scale and shift `y` if the attributes say so."""
    real = dtype_of(y)
    if attrs.scale:
        y = y * cast(gamma, real)
    if attrs.center:
        y = y + cast(beta, real)
    return cast(y, dtype)


# -- type relations


def _scaled(name: str, least_rank: int = 1) -> Relation:
    """Build the relation: input of any shape, gamma and beta as long as its axis; output like the input."""

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

    return Relation(name, rule, "{out} = {0}; {1} and {2} are vectors along the axis")


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


# -- reference implementations


def _normal(x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    """Subtract from `x` its mean over `axes`, and divide by its standard deviation."""
    count = max(1, prod([x.shape[axis] for axis in axes]))
    centred = x - x.sum(axes, "float64", keepdims=True) / count
    return centred / np.sqrt((centred**2).sum(axes, keepdims=True) / count + epsilon)


def _instance_normed(attrs: Anything, x: Array, gamma: Array, beta: Array) -> Array:
    space = tuple([axis for axis in range(1, x.ndim) if axis != attrs.axis % x.ndim])
    return affine(attrs, _normal(x, space, attrs.epsilon), gamma, beta)


def _group_normed(attrs: Anything, x: Array, gamma: Array, beta: Array) -> Array:
    moved = np.moveaxis(x, attrs.axis, 1)
    groups = moved.reshape(len(moved), attrs.num_groups, prod(moved.shape[1:]) // attrs.num_groups)
    y = _normal(groups, (2,), attrs.epsilon).reshape(moved.shape)
    return affine(attrs, np.moveaxis(y, 1, attrs.axis), gamma, beta)


# -- compositions of operators that have gradients


def _normal_expr(x: Expr, axes: list[int], epsilon: float, like: Expr) -> Expr:
    centred = x - relay.mean(x, axes, keepdims=True)
    variance = relay.mean(centred * centred, axes, keepdims=True)
    return centred * relay.rsqrt(variance + number_like(epsilon, like))


def _layer_norm_expr(attrs: Anything, x: Expr, gamma: Expr, beta: Expr) -> Expr:
    return affine_expr(
        attrs, _normal_expr(x, [attrs.axis], attrs.epsilon, x), gamma, beta, axis_count(x), attrs.axis
    )


def _instance_norm_expr(attrs: Anything, x: Expr, gamma: Expr, beta: Expr) -> Expr:
    rank = axis_count(x)
    axes = [axis for axis in range(1, rank) if axis != attrs.axis % rank]
    return affine_expr(attrs, _normal_expr(x, axes, attrs.epsilon, x), gamma, beta, rank, attrs.axis)


def _group_norm_expr(attrs: Anything, x: Expr, gamma: Expr, beta: Expr) -> Expr:
    shape = extents(x)
    rank, axis, groups = len(shape), attrs.axis % len(shape), attrs.num_groups
    apart = [*shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]]
    axes = [a for a in range(1, rank + 1) if a != axis]
    value = relay.reshape(_normal_expr(relay.reshape(x, apart), axes, attrs.epsilon, x), shape)
    return affine_expr(attrs, value, gamma, beta, rank, axis)


# -- lowerings


def _normalized_te(
    call: Lowered,
    shape: Sequence[Anything],
    folded: Sequence[Anything],
    read: Callable[..., Value],
    row: Callable[[Sequence[Value]], list[Value]],
    axis: int,
) -> list[Tensor]:
    """Subtract the mean of `x`, divide by its standard deviation, and scale and shift along `axis`.

    `shape` is the shape of the means, `folded` the extents over which they are taken, `read(*mean's index,
    *folded)` the element there, and `row` maps an index of the data to the index of its mean.
    """
    x, gamma, beta = call.inputs
    dtype = dtype_of(x)
    real = real_type(dtype)
    count = product(folded)
    many = number(max(count, 1), real) if isinstance(count, int) else cast(tirx.max(count, 1), real)
    k, m = reduce_axes(folded), reduce_axes(folded, "m")
    total = stage(shape, lambda *i: sum_over(cast(read(*i, *k), real), k), f"{call.name}_sum")

    def square(*i: Value) -> Value:
        apart = cast(read(*i, *m), real) - total(*i) / many
        return sum_over(apart * apart, m)

    squares = stage(shape, square, f"{call.name}_squares")

    def value(*i: Value) -> Value:
        at, c = row(i), i[axis]
        spread = te.sqrt(squares(*at) / many + number(call.attrs.epsilon, real))
        apart = (cast(x(*i), real) - total(*at) / many) / spread
        return affine_te(call.attrs, apart, gamma(c), beta(c), dtype)

    return [stage(x.shape, value, call.name)]


def _over_te(call: Lowered, folded: Sequence[int]) -> list[Tensor]:
    """Normalize over whole axes."""
    x = call.inputs[0]
    sizes, rank = dims(x), len(x.shape)
    remaining = [axis for axis in range(rank) if axis not in folded]

    def read(*i: Value) -> Value:
        at = dict(zip([*remaining, *folded], i, strict=True))
        return x(*[at[axis] for axis in range(rank)])

    axis = call.attrs.axis % rank
    extents = [sizes[a] for a in folded]
    return _normalized_te(
        call, [sizes[a] for a in remaining], extents, read, lambda i: [i[a] for a in remaining], axis
    )


def _layer_norm_te(call: Lowered) -> list[Tensor]:
    return _over_te(call, [call.attrs.axis % len(call.inputs[0].shape)])


def _instance_norm_te(call: Lowered) -> list[Tensor]:
    rank = len(call.inputs[0].shape)
    return _over_te(call, [axis for axis in range(1, rank) if axis != call.attrs.axis % rank])


def _group_norm_te(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    rank, sizes = len(x.shape), dims(x)
    axis = attrs.axis % rank
    batch, *space = [a for a in range(rank) if a != axis]
    each = quotient(sizes[axis], attrs.num_groups)

    def read(n: Value, g: Value, c: Value, *i: Value) -> Value:
        at = {batch: n, axis: g * each + c, **dict(zip(space, i, strict=True))}
        return x(*[at[a] for a in range(rank)])

    shape, folded = [sizes[batch], attrs.num_groups], [each, *[sizes[a] for a in space]]
    return _normalized_te(call, shape, folded, read, lambda i: [i[batch], i[axis] // each], axis)


# -- the operators


def _normalization(
    name: str,
    *,
    description: str,
    over: str,
    relation: Relation,
    reference: Reference,
    gradient: Gradient,
    lowering: Lowering,
    layout: LayoutRule | NotApplicable,
    precision: Precision,
    example: Example,
    lenient_in_tvm: str = "",
) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Declare a normalization by the mean and variance over some axes, with a scale and an offset."""
    return operator(
        name,
        description=description,
        formula=(
            rf"y = \gamma\,\frac{{x - \mathrm{{E}}_{{{over}}}[x]}}"
            rf"{{\sqrt{{\mathrm{{Var}}_{{{over}}}[x] + \epsilon}}}} + \beta"
        ),
        family="normalization",
        level=1,
        relation=relation,
        flops=operations_per_input(7),  # 1 for the mean, 2 for the variance, 4 to normalize, scale and shift
        reference=reference,
        gradient=gradient,
        lowering=lowering,
        layout=layout,
        precision=precision,
        example=example,
        lenient_in_tvm=lenient_in_tvm,
    )


def _gradient(over: str, build: Callable[..., Expr]) -> Gradient:
    """Build the gradient of a normalization whose mean and variance are taken over `over`."""
    return Gradient(
        f"dx = (g − mean(g) − n · mean(g · n)) / σ, means over {over}, n = (x − μ) / σ and g = γ · dy; "
        "dγ = Σ dy · n, dβ = Σ dy",
        composed(build),
    )


def _instance_norm_layout(question: Question) -> Answer:
    """Keep the first axis, the batch, in its position."""
    old, new = question.old[0], question.new
    if old is not None and new is not None and new[0][0] != old[0]:
        return None
    return normalization(question)


@_normalization(
    "nn.instance_norm",
    description="Normalizes each channel of each example.",
    over=r"\text{space}",
    relation=_scaled("InstanceNorm", 3),
    reference=_instance_normed,
    gradient=_gradient("space", _instance_norm_expr),
    lowering=_instance_norm_te,
    layout=_instance_norm_layout,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, *VECTORS[:2]),
)
def instance_norm(
    data: Operand,
    gamma: Operand,
    beta: Operand,
    axis: Annotated[int, attr(1, CHANNEL_AXIS)] = 1,
    epsilon: Annotated[float, attr(1e-5, EPSILON)] = 1e-5,
    center: Annotated[bool, attr(True, CENTER)] = True,
    scale: Annotated[bool, attr(True, SCALE)] = True,
) -> Call:
    """Normalize each channel of each example; `gamma` and `beta` are vectors as long as the data's `axis`."""


@_normalization(
    "nn.layer_norm",
    description="Normalizes along one axis.",
    over=r"\text{axis}",
    relation=_scaled("LayerNorm"),
    reference=lambda attrs, x, gamma, beta: affine(
        attrs, _normal(x, (attrs.axis,), attrs.epsilon), gamma, beta
    ),
    gradient=_gradient("the axis", _layer_norm_expr),
    lowering=_layer_norm_te,
    layout=normalization,
    precision=Precision.NEVER,
    example=lambda build: build(X, V, t(6, name="b")),
)
def layer_norm(
    data: Operand,
    gamma: Operand,
    beta: Operand,
    axis: Annotated[int, attr(-1, "The axis that is normalized.")] = -1,
    epsilon: Annotated[float, attr(1e-5, EPSILON)] = 1e-5,
    center: Annotated[bool, attr(True, CENTER)] = True,
    scale: Annotated[bool, attr(True, SCALE)] = True,
) -> Call:
    """Normalize along `axis`; `gamma` and `beta` are vectors as long as that axis."""


@_normalization(
    "nn.group_norm",
    description="Normalizes groups of channels of each example.",
    over=r"\text{group}",
    relation=_scaled("GroupNorm"),
    reference=_group_normed,
    gradient=_gradient("the group", _group_norm_expr),
    lowering=_group_norm_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(IMAGE, *VECTORS[:2], num_groups=2),
    lenient_in_tvm="It accepted a number of groups that does not divide the channels.",
)
def group_norm(
    data: Operand,
    gamma: Operand,
    beta: Operand,
    num_groups: Annotated[int, attr(0, "The number of channel groups; each group is normalized together.")],
    axis: Annotated[int, attr(1, CHANNEL_AXIS)] = 1,
    epsilon: Annotated[float, attr(1e-5, EPSILON)] = 1e-5,
    center: Annotated[bool, attr(True, CENTER)] = True,
    scale: Annotated[bool, attr(True, SCALE)] = True,
) -> Call:
    """Normalize each group of channels; `gamma` and `beta` are vectors as long as the data's `axis`, which
    `num_groups` divides.
    """
