"""Activations, normalizations and dropout: their results, what they infer of parameters, how they refuse."""

from __future__ import annotations

import pytest

from relay_explorer.ir import Attrs
from relay_explorer.ir.expr import Call, TupleGetItem, Var, var
from relay_explorer.ir.narrow import as_a, as_call, as_op
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any, TensorType
from relay_explorer.ops.nn import activation, norm, norm_other, softmax
from relay_explorer.relay import nn
from tests.ops.nn_programs import first_types, operands
from tests.ops.tensor_programs import refused, t, typed

LIKE_THEIR_DATA = [
    activation.relu(t(2, 3)),
    activation.leaky_relu(t(2, 3)),
    softmax.softmax(t(2, 3)),
    softmax.log_softmax(t(2, 3), 0),
    softmax.fast_softmax(t(2, 3), -2),
    norm_other.l2_normalize(t(2, 3), 1e-6, [0, -1]),
    norm_other.l2_normalize(t(2, 3), 1e-6),
    norm_other.lrn(t(2, 3)),
]


@pytest.mark.parametrize("call", LIKE_THEIR_DATA, ids=lambda call: call.op.name)
def test_these_give_a_tensor_like_their_data(call: Call) -> None:
    assert typed(operands(call)) == "Tensor[(2, 3), float32]"


@pytest.mark.parametrize(
    ("call", "parameter"),
    [
        (activation.prelu(t(2, 3, 4), var("a")), 3),
        (activation.prelu(t(2, 3, 4), var("a"), axis=2), 4),
        (norm.layer_norm(t(2, 3, 4), var("g"), var("b")), 4),
        (norm.layer_norm(t(2, 3, 4), var("g"), var("b"), axis=0), 2),
        (norm.instance_norm(t(2, 3, 4), var("g"), var("b")), 3),
        (norm.group_norm(t(2, 6, 4), var("g"), var("b"), 3), 6),
        (norm.group_norm(t(2, Any(), 4), var("g"), var("b"), 3), "?"),
    ],
)
def test_parameters_are_inferred(call: Call, parameter: object) -> None:
    types = first_types(operands(call))
    assert types[1:] == [f"Tensor[({parameter}), float32]"] * (len(types) - 1)
    assert typed(operands(call)) == types[0]


@pytest.mark.parametrize(("axis", "channels"), [(1, 8), (-1, 3), (0, 1)])
def test_batch_norm(axis: int, channels: int) -> None:
    gamma, beta, mean, variance = (var(name) for name in ("gamma", "beta", "mean", "variance"))
    result = nn.batch_norm(t(1, 8, 5, 3, dtype="float16"), gamma, beta, mean, variance, axis=axis)
    assert isinstance(result, TupleWrapper)
    assert first_types(result) == ["Tensor[(1, 8, 5, 3), float16]"] + [f"Tensor[({channels}), float16]"] * 4
    vector = str(TensorType((channels,), "float16"))
    assert typed(result) == f"(Tensor[(1, 8, 5, 3), float16], {vector}, {vector})"
    assert typed(result[0]) == "Tensor[(1, 8, 5, 3), float16]"


def test_dropout() -> None:
    assert typed(nn.dropout_raw(t(2, 3))) == "(Tensor[(2, 3), float32], Tensor[(2, 3), float32])"
    kept = nn.dropout(t(2, 3), 0.25)
    assert isinstance(kept, TupleGetItem)
    assert typed(kept) == "Tensor[(2, 3), float32]"
    assert kept.tuple_value.attrs.changed() == [("rate", 0.25)]  # type: ignore[attr-defined]


def batch_norm(data: Var, sizes: tuple[int, int, int, int], axis: int = 1) -> Call:
    """The call of `nn.batch_norm` with vectors of these sizes."""
    gamma, beta, mean, variance = (t(size, name=f"p{i}") for i, size in enumerate(sizes))
    return as_call(nn.batch_norm(data, gamma, beta, mean, variance, axis=axis).tuple_value)


REFUSED: list[tuple[Call, str, tuple[str, ...]]] = [
    (
        batch_norm(t(1, 8, 4, 4), (8, 4, 8, 8)),
        "beta has 4 values, but axis 1 of the data has 8",
        ("axis=3 has 4",),
    ),
    (
        batch_norm(t(1, 4, 4, 8), (8, 8, 8, 8)),
        "gamma has 8 values, but axis 1 of the data has 4",
        ("axis=3 has 8",),
    ),
    (
        batch_norm(t(1, 4, 4, 8), (8, 8, 8, 8), axis=-2),
        "axis=-2 must be counted from the front, or be -1",
        ("the data has 4 axes",),
    ),
    (
        norm.layer_norm(t(2, 3), t(2), t(2)),
        "gamma has 2 values, but axis 1 of the data has 3",
        ("axis=0 has 2",),
    ),
    (
        norm.layer_norm(t(2, 3), t(3), t(7)),
        "beta has 7 values, but axis 1 of the data has 3",
        ("give a vector of 3, or another axis",),
    ),
    (
        norm.instance_norm(t(2, 3), t(3), t(3)),
        "the data has 2 axes, but needs batch, channels and at least one more",
        (),
    ),
    (
        norm.group_norm(t(2, 8, 4), t(8), t(8), 3),
        "num_groups=3 does not divide the 8 channels",
        ("give a number that divides them",),
    ),
    (
        norm.group_norm(t(2, 8, 4), t(8), t(8), 0),
        "num_groups=0 must be positive",
        ("give a number that divides the channels",),
    ),
    (
        activation.prelu(t(2, 3), t(3), axis=-1),
        "axis=-1 must not be negative",
        ("count from the front: the data has 2 axes",),
    ),
    (activation.leaky_relu(t(2), -0.5), "alpha=-0.5 must not be negative", ("a slope of 0 is nn.relu",)),
    (
        nn.dropout_raw(t(2), 1.5),
        "rate=1.5 must be at least 0 and less than 1",
        ("it is the share of elements that are dropped",),
    ),
]


@pytest.mark.parametrize(("call", "message", "help"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_refusals(call: Call, message: str, help: tuple[str, ...]) -> None:
    error = refused(operands(call))
    assert error.message == f"`{as_op(call.op).name}`: {message}"
    assert error.help == help


@pytest.mark.parametrize(
    "call", [softmax.softmax(t(2, 3), 2), softmax.softmax(t(2, 3), -3), norm_other.lrn(t(2, 3), axis=2)]
)
def test_axes_that_are_not_there(call: Call) -> None:
    error = refused(call)
    axis = as_a(Attrs, call.attrs)["axis"]
    assert error.message.startswith(
        f"`{as_op(call.op).name}`: axis {axis} is out of range: the tensor has 2 axes"
    )
