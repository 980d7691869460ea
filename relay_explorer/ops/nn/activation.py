"""The rectified linear unit, and its variants with a nonzero slope for negative inputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import Gradient, Precision, Trait
from ...ir.expr import Call, Expr, var
from ...ir.op import OpPattern, Relation, RelationError, Reporter
from ...ir.types import IncompleteType, Type
from ..arguments import Operand
from ..calls import relay
from ..cost import flops_per_output, operations_per_input
from ..examples import IMAGE, X
from ..gradient_tools import along as along_axis
from ..gradient_tools import axis_count, masked, number
from ..layouts.layout import Answer, Question
from ..layouts.normalization import normalization
from ..layouts.same import elementwise_layout
from ..numeric import Array, along, np
from ..operator import operator
from ..relation import IDENTITY, normal_axis, tensor
from ..te.elementwise import mapped
from ..te.lowered import Lowered
from ..te.tensors import Tensor, Value, cast, dtype_of, is_float, select, stage
from ..te.tensors import number as te_number
from .layout import many
from .vector import axis_vector

__all__ = ["leaky_relu", "prelu", "relu"]


def _relu_te(x: Value) -> Value:
    """Return 0 where `x` is negative; comparing in this order propagates NaN, and takes one instruction."""
    if dtype_of(x) == "bool":
        return x
    zero = te_number(0, dtype_of(x))
    return select(x < zero, zero, x)


def _relu_gradient(call: Call, grad: Expr) -> list[Expr]:
    """Mask the gradient; at 0 the slope is 1, as in TVM."""
    (x,) = call.args
    return [masked(relay.greater_equal(x, number(0, x)), grad)]


@operator(
    "nn.relu",
    description="Replaces negative elements by zero.",
    formula=r"y = \max(x, 0)",
    family="activation",
    level=1,
    relation=IDENTITY,
    pattern=OpPattern.ELEMENTWISE,
    flops=flops_per_output,
    reference=lambda attrs, x: np.maximum(x, x.dtype.type(0)),
    gradient=Gradient("dx = dy where x ≥ 0, else 0", _relu_gradient),
    lowering=mapped(_relu_te),
    layout=elementwise_layout,
    precision=Precision.FOLLOW,
    traits={Trait.POSITIVELY_HOMOGENEOUS, Trait.ACTIVATION},
    example=lambda build: build(X),
)
def relu(data: Operand) -> Call:
    """Compute the larger of each element and 0."""


def _leaky(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: the output is like the input."""
    if attrs.alpha < 0:
        raise RelationError(f"alpha={attrs.alpha} must not be negative", "a slope of 0 is nn.relu")
    return IDENTITY.rule(types, num_inputs, attrs, reporter)


def _sloped(x: Array, slope: float | Array) -> Array:
    return np.where(x > 0, x, x * slope).astype(x.dtype)


def _sloped_te(x: Value, slope: Value) -> Value:
    """Multiply `x` by `slope` where it is not positive."""
    if dtype_of(x) == "bool":
        return x
    return select(x > te_number(0, dtype_of(x)), x, x * slope)


def _leaky_relu_te(call: Lowered) -> list[Tensor]:
    """Scale negative elements; integers are multiplied in floating point, and the product is truncated."""
    x, alpha = call.inputs[0], call.attrs.alpha

    def value(one: Value) -> Value:
        dtype = dtype_of(one)
        if is_float(dtype):
            return _sloped_te(one, te_number(alpha, dtype))
        return cast(_sloped_te(one.astype("float64"), te_number(alpha, "float64")), dtype)

    return [stage(x.shape, lambda *i: value(x(*i)), call.name)]


def _leaky_relu_gradient(call: Call, grad: Expr) -> list[Expr]:
    (x,), attrs = call.args, call.attrs
    assert attrs is not None
    return [relay.where(relay.greater(x, number(0, x)), grad, grad * number(attrs["alpha"], x))]


@operator(
    "nn.leaky_relu",
    description="Multiplies negative elements by a constant slope.",
    formula=r"y = \begin{cases} x & x > 0 \\ \alpha x & \text{otherwise} \end{cases}",
    family="activation",
    level=3,
    relation=Relation("Identity", _leaky, "{out} = {0}"),
    pattern=OpPattern.ELEMENTWISE,
    flops=operations_per_input(2),  # a comparison and a product
    reference=lambda attrs, x: _sloped(x, attrs.alpha),
    gradient=Gradient("dx = dy where x > 0, else alpha · dy", _leaky_relu_gradient),
    lowering=_leaky_relu_te,
    layout=elementwise_layout,
    precision=Precision.FOLLOW,
    traits={Trait.POSITIVELY_HOMOGENEOUS, Trait.ACTIVATION},
    example=lambda build: build(X, 0.1),
)
def leaky_relu(data: Operand, alpha: Annotated[float, attr(0.25, "The slope below zero.")] = 0.01) -> Call:
    """Multiply the negative elements of `data` by `alpha`."""


def _prelu(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
    """Relate the types: inputs of any shape and (d), for an axis of length d; the output is like the first
    input.
    """
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


def _prelu_te(call: Lowered) -> list[Tensor]:
    x, alpha = call.inputs
    axis = call.attrs.axis
    return [stage(x.shape, lambda *i: _sloped_te(x(*i), alpha(i[axis])), call.name)]


def _prelu_gradient(call: Call, grad: Expr) -> list[Expr]:
    (x, alpha), attrs = call.args, call.attrs
    assert attrs is not None
    axis = attrs["axis"]
    positive = relay.greater(x, number(0, x))
    sloped = grad * along_axis(alpha, axis_count(x), axis)
    by_alpha = relay.where(positive, relay.zeros_like(grad), grad * x)
    return [relay.where(positive, grad, sloped), relay.sum(by_alpha, axis, exclude=True)]


def _prelu_layout(question: Question) -> Answer:
    return normalization(question, vectors=1)


@operator(
    "nn.prelu",
    description="Multiplies negative elements by a slope that is learned for each channel.",
    formula=(
        r"y_{\ldots,c,\ldots} = \begin{cases} x_{\ldots,c,\ldots} & x_{\ldots,c,\ldots} > 0 \\ \alpha_c\, "
        r"x_{\ldots,c,\ldots} & \text{otherwise} \end{cases}"
    ),
    family="activation",
    level=3,
    relation=Relation("PRelu", _prelu, "{out} = {0}; {1} is a vector along the axis"),
    pattern=OpPattern.BROADCAST,
    flops=operations_per_input(2),  # a comparison and a product
    reference=lambda attrs, x, alpha: _sloped(x, along(alpha, attrs.axis, x.ndim)),
    gradient=Gradient(
        "dx = dy where x > 0, else alpha · dy; d alpha = dy · x summed where x ≤ 0", _prelu_gradient
    ),
    lowering=_prelu_te,
    layout=_prelu_layout,
    precision=Precision.FOLLOW,
    attrs_key="relay.attrs.PReluAttrs",
    example=lambda build: build(IMAGE, var("alpha")),
)
def prelu(
    data: Operand,
    alpha: Operand,
    axis: Annotated[int, attr(1, "The axis of the data that the slopes belong to.")] = 1,
) -> Call:
    """Multiply negative elements by `alpha`, a vector as long as the data's `axis`."""
