"""Einstein summation, against PyTorch, and how it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from relay_explorer.ir.expr import Call
from relay_explorer.ir.narrow import as_op
from relay_explorer.ir.types import Any, TensorType, TupleType
from relay_explorer.ops import contract
from tests.ops.tensor_programs import ints, refused, t, typed

EXTENT = {"a": 2, "b": 3, "i": 4, "j": 5, "k": 6}


@pytest.mark.parametrize(
    "equation",
    [
        "ij,jk->ik", "bij,bjk->bik", "ij->ji", "ij->", "ii->i", "ij,jk", "b i , i -> b", "ij,ij->i",
        "i,j,k->kji", "bij,bkj->bik",
    ],
)  # fmt: skip
def test_shapes_are_torchs(equation: str) -> None:
    terms = equation.replace(" ", "").split("->")[0].split(",")
    shapes = [tuple(EXTENT[c] for c in term) for term in terms]
    expected = torch.einsum(equation, *map(torch.empty, shapes)).shape
    call = contract.einsum([t(*shape, name=f"x{n}") for n, shape in enumerate(shapes)], equation)
    assert typed(call) == str(TensorType(tuple(expected)))


@pytest.mark.parametrize(
    ("equation", "shapes"),
    [
        ("...ij,...jk->...ik", [(2, 3, 4, 5), (2, 3, 5, 6)]),
        ("...ij,...jk", [(2, 4, 5), (2, 5, 6)]),
        ("...ij,...jk->...ik", [(2, 3, 4, 5), (3, 5, 6)]),
        ("...ij,jk->i...k", [(2, 3, 4, 5), (5, 6)]),
        ("i...->...", [(4, 2, 3)]),
        ("...i->...i", [(4,)]),
    ],
)
def test_dots_stand_for_the_axes_without_letters(equation: str, shapes: list[tuple[int, ...]]) -> None:
    arrays = [np.arange(1.0, 1 + math.prod(shape), dtype="float32").reshape(shape) for shape in shapes]
    call = contract.einsum([t(*shape, name=f"x{n}") for n, shape in enumerate(shapes)], equation)
    expected = torch.einsum(equation, *map(torch.from_numpy, arrays)).numpy()
    assert typed(call) == str(TensorType(expected.shape))
    assert isinstance(call, Call)
    compute = as_op(call.op).reference
    assert compute is not None
    assert np.allclose(compute(call.attrs, tuple(arrays)), expected)


def test_what_one_tensor_knows_serves_the_other() -> None:
    call = contract.einsum([t(Any(), 5), t(4, Any(), name="y")], "ij,ij->ij")
    assert typed(call) == "Tensor[(4, 5), float32]"


def test_work_is_a_multiplication_and_an_addition_a_place() -> None:
    call = contract.einsum([t(4, 5), t(5, 6, name="y")], "ij,jk->ik")
    assert isinstance(call, Call)
    types = [TupleType([TensorType((4, 5)), TensorType((5, 6))])]
    assert as_op(call.op).flops(call.attrs, types, TensorType((4, 6))) == 2 * 4 * 5 * 6


@pytest.mark.parametrize(
    ("equation", "message"),
    [
        ("ij,jk,kl->il", "the equation has 3 tensors, but the tuple has 2"),
        ("i,jk->ik", '"i" names 1 axes, but field 0 of the tuple is (4, 5)'),
        ("ij,kj->ik", '"j" is 5 in one tensor and 6 in field 1 of the tuple'),
        ("ij,jk->iz", '"z" occurs in the result of "ij,jk->iz" twice, or in no tensor'),
        ("ij,jk->ii", '"i" occurs in the result of "ij,jk->ii" twice, or in no tensor'),
        (
            "i.j,jk->ik",
            'the equation "i.j,jk->ik" may contain letters, commas, one -> and one ... per tensor',
        ),
        (
            "......j,jk->k",
            'the equation "......j,jk->k" may contain letters, commas, one -> and one ... per tensor',
        ),
    ],
)
def test_what_does_not_fit(equation: str, message: str) -> None:
    call = contract.einsum([t(4, 5), t(5, 6, name="y")], equation)
    assert refused(call).message == f"`einsum`: {message}"


def test_element_types_that_differ() -> None:
    call = contract.einsum([t(4), ints(4)], "i,i->i")
    assert refused(call).message == "`einsum`: the element types differ: float32 and int32"
