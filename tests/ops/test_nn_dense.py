"""Matrix products and biases, against NumPy; what they infer; and how they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.ir.expr import Call, var
from relay_explorer.ir.narrow import as_op
from relay_explorer.ir.types import Any, SizeVar, TensorType
from relay_explorer.relay import nn
from tests.ops.nn_programs import first_types, operands
from tests.ops.tensor_programs import refused, t, typed

SIZE = st.integers(1, 5)


@settings(max_examples=60, deadline=None)
@given(st.lists(SIZE, min_size=0, max_size=3), SIZE, SIZE, st.booleans())
def test_dense_is_a_product_with_the_transpose(lead: list[int], inner: int, units: int, told: bool) -> None:
    expected = (np.ones((*lead, inner)) @ np.ones((units, inner)).T).shape
    call = nn.dense(t(*lead, inner), t(units, inner, name="w"), units if told else None)
    assert typed(call) == str(TensorType(expected))


@settings(max_examples=60, deadline=None)
@given(SIZE, SIZE, SIZE, st.booleans(), st.booleans(), st.booleans())
def test_matmul_is_numpys(m: int, k: int, n: int, flip_a: bool, flip_b: bool, told: bool) -> None:
    a, b = np.ones((k, m) if flip_a else (m, k)), np.ones((n, k) if flip_b else (k, n))
    expected = ((a.T if flip_a else a) @ (b.T if flip_b else b)).shape
    call = nn.matmul(t(*a.shape), t(*b.shape, name="w"), n if told else None, "", flip_a, flip_b)
    assert typed(call) == str(TensorType(expected))


@settings(max_examples=60, deadline=None)
@given(SIZE, SIZE, SIZE, SIZE, st.booleans(), st.booleans(), st.sampled_from(["both", "first", "second"]))
def test_batch_matmul_is_numpys(
    batch: int, m: int, k: int, n: int, flip_a: bool, flip_b: bool, batched: str
) -> None:
    a = np.ones((1 if batched == "second" else batch, *((k, m) if flip_a else (m, k))))
    b = np.ones((1 if batched == "first" else batch, *((n, k) if flip_b else (k, n))))
    expected = (a.swapaxes(1, 2) if flip_a else a) @ (b.swapaxes(1, 2) if flip_b else b)
    call = nn.batch_matmul(t(*a.shape), t(*b.shape, name="w"), "", flip_a, flip_b)
    assert typed(call) == str(TensorType(expected.shape))


@pytest.mark.parametrize(
    ("call", "types"),
    [
        (nn.dense(t(2, 784), var("w"), 10), ["(2, 784)", "(10, 784)"]),
        (nn.matmul(t(2, 784), var("w"), 10), ["(2, 784)", "(784, 10)"]),
        (
            nn.matmul(t(784, 2), var("w"), 10, transpose_a=True, transpose_b=True),
            ["(784, 2)", "(10, 784)"],
        ),
        (nn.dense(t(2, Any()), t(10, 784)), ["(2, ?)", "(10, 784)"]),
        (nn.bias_add(t(2, 10), var("b")), ["(2, 10)", "(10)"]),
        (nn.bias_add(t(2, 8, 4, 3), var("b"), -1), ["(2, 8, 4, 3)", "(3)"]),
    ],
)
def test_what_is_inferred_of_arguments(call: Call, types: list[str]) -> None:
    assert first_types(operands(call)) == [f"Tensor[{shape}, float32]" for shape in types]


def test_weights_are_inferred_in_the_datas_element_type() -> None:
    data = t(2, 784, dtype="float16")
    assert first_types(nn.dense(data, var("w"), 10))[1] == "Tensor[(10, 784), float16]"
    assert typed(nn.dense(t(2, 8, dtype="int8"), t(4, 8, dtype="int8", name="w"), out_dtype="int32")) == (
        "Tensor[(2, 4), int32]"
    )


def test_unknown_and_named_dimensions() -> None:
    batch = SizeVar("batch")
    assert typed(nn.dense(t(batch, 784), t(10, 784, name="w"))) == "Tensor[(batch, 10), float32]"
    assert typed(nn.batch_matmul(t(Any(), 2, 3), t(4, 5, 3, name="w"))) == "Tensor[(?, 2, 5), float32]"
    assert (
        typed(nn.batch_matmul(t(batch, 2, 3), t(batch, 5, 3, name="w"))) == "Tensor[(batch, 2, 5), float32]"
    )
    assert typed(nn.dense(t(3), t(5, 3, name="w"))) == "Tensor[(5), float32]"


REFUSED: list[tuple[Call, str, tuple[str, ...]]] = [
    (
        nn.dense(t(1, 784), t(784, 128)),
        "the data has 784 features, but the weight (784, 128) takes 128",
        ("dense's weight is (units, input features): pass relay.transpose(weight), which is (128, 784)",),
    ),
    (
        nn.dense(t(1, 784), t(784, 128), 128),
        "784 features and units=128 need a weight (128, 784), not (784, 128)",
        ("dense's weight is (units, input features): pass relay.transpose(weight), which is (128, 784)",),
    ),
    (
        nn.dense(t(1, 784), t(128, 700)),
        "the data has 784 features, but the weight (128, 700) takes 700",
        ("a weight for this data has shape (128, 784)",),
    ),
    (
        nn.dense(t(1, 784), t(128, 784), 10),
        "units=10, but the weight (128, 784) produces 128 features",
        ("give units=128, or leave it out",),
    ),
    (
        nn.dense(t(1, 784), t(784), 10),
        "the weight (784) has 1 axis, but must have two, (units, input features)",
        ("for this data its shape is (10, 784)",),
    ),
    (
        nn.dense(t(), t(10, 784)),
        "the data is a scalar, but must have at least one axis, its features",
        (),
    ),
    (
        nn.matmul(t(2, 3), t(5, 3)),
        "the inner dimensions differ: 3 of (2, 3) and 5 of (5, 3)",
        ("transpose_b=True reads the second matrix transposed",),
    ),
    (
        nn.matmul(t(2, 3), t(1, 3, 5)),
        "the second argument (1, 3, 5) must be a matrix",
        ("relay.nn.batch_matmul multiplies batches of matrices",),
    ),
    (
        nn.matmul(t(2, 3), t(3, 5), units=4),
        "units=4, but the second matrix has 5 columns",
        ("give units=5, or leave it out",),
    ),
    (
        nn.batch_matmul(t(4, 2, 3), t(4, 3, 5)),
        "the inner dimensions differ: 3 of (4, 2, 3) and 5 of (4, 3, 5)",
        ("transpose_b=False would read 3 there",),
    ),
    (
        nn.batch_matmul(t(4, 2, 3), t(2, 5, 3)),
        "the batches differ: 4 and 2 matrices",
        ("the two must be equal, or one of them 1",),
    ),
    (
        nn.batch_matmul(t(2, 3), t(2, 5, 3)),
        "argument 0 has shape (2, 3), but must have three axes: batch, rows, columns",
        ("relay.expand_dims adds a batch axis",),
    ),
    (
        nn.bias_add(t(1, 8, 4, 4), t(4)),
        "the bias has 4 values, but axis 1 of the data has 8",
        ("axis=3 has 4",),
    ),
    (
        nn.bias_add(t(1, 8), t(1, 8)),
        "the bias has 2 axes, but must be a vector of 8, the length of the data's axis 1",
        ("relay.reshape(…, (8,)) makes a vector of it, if it has 8 elements",),
    ),
    (
        nn.bias_add(t(1, 8), t(8, dtype="float16")),
        "the bias holds float16, but the data float32",
        ('convert one of them: relay.cast(…, "float32")',),
    ),
]


@pytest.mark.parametrize(("call", "message", "help"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_refusals(call: Call, message: str, help: tuple[str, ...]) -> None:
    error = refused(operands(call))
    assert error.message == f"`{as_op(call.op).name}`: {message}"
    assert error.help == help


def test_matmul_with_a_transposed_weight_is_dense() -> None:
    assert nn.matmul(t(2, 3), t(5, 3), transpose_b=True).op.name == "nn.dense"  # type: ignore[attr-defined]
    assert nn.matmul(t(3, 2), t(5, 3), transpose_a=True, transpose_b=True).op.name == "nn.matmul"  # type: ignore[attr-defined]
