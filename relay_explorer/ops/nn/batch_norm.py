"""Batch normalization, as in inference."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, Precision
from ...ir.expr import Expr, Tuple
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import IncompleteType, TensorType, TupleType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import operations_per_input
from ..examples import IMAGE
from ..gradient_tools import along as along_axis
from ..gradient_tools import axis_count, composed
from ..gradient_tools import number as number_like
from ..layouts.layout import Answer, Question
from ..layouts.normalization import normalization
from ..numeric import Array, along, np
from ..operator import operator
from ..relation import normal_axis, tensor
from ..te.library import te
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, cast, dtype_of, number, real_type, stage
from .layout import many
from .norm import CENTER, CHANNEL_AXIS, EPSILON, SCALE, VECTORS, affine, affine_expr, affine_te
from .vector import axis_vector

__all__ = ["batch_norm"]


_BATCH_PARAMETERS = ("gamma", "beta", "the moving mean", "the moving variance")


def _relation(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs of any shape and four times (c), for an axis of length c; outputs like the
    first input, (c), (c).
    """
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


def _reference(
    attrs: Anything, x: Array, gamma: Array, beta: Array, mean: Array, variance: Array
) -> tuple[Array, ...]:
    """Normalize as in inference: by the moving mean and variance, which are returned unchanged."""
    middle, spread = along(mean, attrs.axis, x.ndim), along(variance, attrs.axis, x.ndim)
    return affine(attrs, (x - middle) / np.sqrt(spread + attrs.epsilon), gamma, beta), mean, variance


def _composition(attrs: Anything, x: Expr, gamma: Expr, beta: Expr, mean: Expr, variance: Expr) -> Expr:
    rank = axis_count(x)
    deviation = relay.rsqrt(variance + number_like(attrs.epsilon, variance))
    value = (x - along_axis(mean, rank, attrs.axis)) * along_axis(deviation, rank, attrs.axis)
    return Tuple([affine_expr(attrs, value, gamma, beta, rank, attrs.axis), mean, variance])


def _batch_norm_te(call: Lowered) -> list[Tensor]:
    """Normalize by the moving mean and variance, and return both unchanged."""
    x, gamma, beta, mean, variance = call.inputs
    attrs, dtype = call.attrs, dtype_of(x)
    axis, real = attrs.axis % len(x.shape), real_type(dtype)

    def value(*i: Value) -> Value:
        c = i[axis]
        spread = te.sqrt(cast(variance(c), real) + number(attrs.epsilon, real))
        return affine_te(attrs, (cast(x(*i), real) - cast(mean(c), real)) / spread, gamma(c), beta(c), dtype)

    return [stage(x.shape, value, call.name), mean, variance]


def _batch_norm_layout(question: Question) -> Answer:
    return normalization(question, vectors=4, results=3)


@operator(
    "nn.batch_norm",
    description="Normalizes each channel by the moving mean and variance, as in inference, and returns both.",
    formula=r"y = \gamma\,\frac{x - \mathrm{E}[x]}{\sqrt{\mathrm{Var}[x] + \epsilon}} + \beta",
    family="normalization",
    level=1,
    relation=Relation(
        "BatchNorm", _relation, "{out} = ({0}, {3}, {4}); {1} to {4} are vectors of the channels"
    ),
    pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
    flops=operations_per_input(4),  # as in inference: subtract the mean, divide, scale, shift
    reference=_reference,
    gradient=Gradient(
        "as in inference, σ = √(variance + ε): dx = dy · γ / σ; dγ = Σ dy · (x − mean) / σ, dβ = Σ dy; "
        "dmean = −Σ dy · γ / σ and dvariance = −Σ dy · γ · (x − mean) / (2 σ³), each plus the derivative of "
        "the output that returns it",
        composed(_composition),
    ),
    lowering=_batch_norm_te,
    layout=_batch_norm_layout,
    precision=Precision.FOLLOW,
    example=lambda build: build(IMAGE, *VECTORS),
    results=3,
)
def batch_norm(
    data: Operand,
    gamma: Operand,
    beta: Operand,
    moving_mean: Operand,
    moving_var: Operand,
    axis: Annotated[int, attr(1, CHANNEL_AXIS)] = 1,
    epsilon: Annotated[float, attr(1e-5, EPSILON)] = 1e-5,
    center: Annotated[bool, attr(True, CENTER)] = True,
    scale: Annotated[bool, attr(True, SCALE)] = True,
) -> TupleWrapper:
    """Normalize each channel of `data`, as in inference; the other results are the moving mean and variance,
    unchanged.

    The other operands are vectors as long as the data's `axis`.
    """
