"""Operators from outside the package: a user's file, which imports public names only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from relay_explorer.ops import (
    NO_LAYOUT_RULE,
    Call,
    Expr,
    Gradient,
    Lowered,
    Operand,
    OpPattern,
    Precision,
    RelationError,
    TensorType,
    Type,
    attr,
    broadcast_layout,
    forward,
    normal_axis,
    np,
    operator,
    relay,
    t,
    tensor,
    tvm,
)


def _gate_type(attrs: Any, data: Type, gate: Type) -> Type:
    first, second = tensor(data, 0, "data"), tensor(gate, 1, "gate")
    if first != second:
        raise RelationError(
            f"the data is {first} and its gate {second}", "give both one type", culprits=(0, 1)
        )
    return first


def _gate_te(call: Lowered) -> list[Any]:
    data, gate = call.inputs
    te, beta = tvm.te, tvm.tirx.const(call.attrs.beta, call.out.dtype)
    one = tvm.tirx.const(1, call.out.dtype)
    return [
        te.compute(data.shape, lambda *i: data(*i) * gate(*i) / (one + te.exp(-beta * gate(*i))), call.name)
    ]


def _gate_gradient(call: Call, grad: Expr) -> list[Expr]:
    data, gate = call.args
    assert call.attrs is not None
    scaled = relay.multiply(gate, relay.full_like(gate, call.attrs["beta"]))
    sigmoid = relay.sigmoid(scaled)
    slope = sigmoid + scaled * sigmoid * (relay.ones_like(gate) - sigmoid)
    return [grad * gate * sigmoid, grad * data * slope]


@operator(
    "my.swish_gate",
    formula=r"y = x \cdot g\, \sigma(\beta g)",
    family="activation",
    relation=forward("SwishGate", "{out} = {0} = {1}", _gate_type),
    pattern=OpPattern.BROADCAST,
    flops=lambda attrs, inputs, output: 6,
    reference=lambda attrs, x, g: x * g / (1 + np.exp(-np.float32(attrs.beta) * g)),
    gradient=Gradient("dx = dy · g σ(βg), dg = dy · x · (σ + βg σ (1 − σ))", _gate_gradient),
    lowering=_gate_te,
    layout=broadcast_layout,
    precision=Precision.FOLLOW,
    example=lambda build: build(t(2, 6), t(2, 6, name="gate")),
)
def swish_gate(
    data: Operand, gate: Operand, beta: Annotated[float, attr(1.0, "How steep the gate is.")] = 1.5
) -> Call:
    """Multiply data by a gate that is passed through the swish function."""


def _spread_type(attrs: Any, data: Type) -> Type:
    type_ = tensor(data, 0, "data")
    axis = normal_axis(attrs.axis, len(type_.shape), "my.spread")
    return TensorType.of((*type_.shape[:axis], *type_.shape[axis + 1 :]), type_.dtype)


def _spread_te(call: Lowered) -> list[Any]:
    te, (data,) = tvm.te, call.inputs
    axis = call.attrs.axis % len(data.shape)
    shape = [*data.shape[:axis], *data.shape[axis + 1 :]]

    def fold(reducer: Any, name: str) -> Any:
        k = te.reduce_axis((0, data.shape[axis]), "k")
        return te.compute(shape, lambda *i: reducer(data(*i[:axis], k, *i[axis:]), axis=k), name)

    high, low = fold(te.max, "high"), fold(te.min, "low")
    return [te.compute(shape, lambda *i: high(*i) - low(*i), call.name)]


def _spread_gradient(call: Call, grad: Expr) -> Sequence[Expr]:
    (data,), attrs = call.args, call.attrs
    assert attrs is not None
    axis = attrs["axis"]

    def chosen(extreme: Expr) -> Expr:
        return relay.cast_like(relay.equal(data, extreme), data)

    wide = relay.expand_dims(grad, axis)
    high, low = relay.max(data, axis, keepdims=True), relay.min(data, axis, keepdims=True)
    return [wide * (chosen(high) - chosen(low))]


@operator(
    "my.spread",
    formula=r"y = \max_i x_i - \min_i x_i",
    family="reduction",
    relation=forward("Spread", "{out} = {0} without the axis", _spread_type),
    pattern=OpPattern.REDUCTION,
    reference=lambda attrs, x: x.max(attrs.axis) - x.min(attrs.axis),
    gradient=Gradient("dx = dy at the greatest element, −dy at the least", _spread_gradient),
    lowering=_spread_te,
    layout=NO_LAYOUT_RULE,
    precision=Precision.NEVER,
    example=lambda build: build(t(2, 6), 1),
)
def spread(data: Operand, axis: Annotated[int, attr(-1, "The axis that is folded.")] = -1) -> Call:
    """Subtract the least element along an axis from the greatest."""
