"""Reductions, against NumPy, and how they refuse."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.ir.attrs import Attrs
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.types import Any, TensorType
from relay_explorer.ops import namespaces as reduce
from tests.ops.tensor_programs import bools, ints, refused, t, typed

FLOATS = ["sum", "prod", "mean", "max", "min"]


@st.composite
def shape_and_axes(draw: st.DrawFn) -> tuple[tuple[int, ...], list[int]]:
    shape = draw(st.lists(st.integers(1, 4), min_size=1, max_size=4))
    axes = draw(st.lists(st.integers(0, len(shape) - 1), unique=True, min_size=1))
    return tuple(shape), [axis - len(shape) if draw(st.booleans()) else axis for axis in axes]


@settings(max_examples=120, deadline=None)
@given(shape_and_axes(), st.sampled_from(FLOATS), st.booleans())
def test_shapes_are_numpys(case: tuple[tuple[int, ...], list[int]], name: str, keepdims: bool) -> None:
    shape, axes = case
    expected = getattr(np, name)(np.ones(shape), axis=tuple(axes), keepdims=keepdims).shape
    assert typed(getattr(reduce, name)(t(*shape), axes, keepdims)) == str(TensorType(expected))


@settings(max_examples=60, deadline=None)
@given(shape_and_axes(), st.booleans())
def test_exclude_names_the_axes_that_stay(case: tuple[tuple[int, ...], list[int]], keepdims: bool) -> None:
    shape, axes = case
    others = [a for a in range(len(shape)) if a not in [x % len(shape) for x in axes]]
    expected = np.sum(np.ones(shape), axis=tuple(others), keepdims=keepdims).shape
    assert typed(reduce.sum(t(*shape), axes, keepdims, exclude=True)) == str(TensorType(expected))


@pytest.mark.parametrize("name", FLOATS)
@pytest.mark.parametrize("axis", [None, ()])
def test_no_axis_is_all_axes(name: str, axis: tuple[int, ...] | None) -> None:
    assert typed(getattr(reduce, name)(t(2, 3), axis)) == "float32"
    assert typed(getattr(reduce, name)(t(2, 3), axis, True)) == "Tensor[(1, 1), float32]"


def test_unknown_dimensions_go_or_stay() -> None:
    assert typed(reduce.sum(t(Any(), 3), 0)) == "Tensor[(3), float32]"
    assert typed(reduce.sum(t(Any(), 3), 1)) == "Tensor[(?), float32]"


def test_one_axis_is_written_as_a_list() -> None:
    assert as_a(Attrs, reduce.sum(t(2, 3), 1).attrs).changed() == [("axis", (1,))]


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions_are_int32(name: str) -> None:
    assert typed(getattr(reduce, name)(t(2, 3), 1)) == "Tensor[(2), int32]"
    assert typed(getattr(reduce, name)(t(2, 3), 1, keepdims=True)) == "Tensor[(2, 1), int32]"
    assert typed(getattr(reduce, name)(t(2, 3))) == "int32"
    assert refused(getattr(reduce, name)(t())).message == f"`{name}`: a scalar has no axis to search"
    error = refused(getattr(reduce, name)(t(2**16, 2**16)))
    assert (
        error.message == f"`{name}`: there are 4294967296 positions, more than the result's int32 can index"
    )


@pytest.mark.parametrize("name", ["all", "any"])
def test_truth_is_of_booleans(name: str) -> None:
    assert typed(getattr(reduce, name)(bools(2, 3), 0)) == "Tensor[(3), bool]"
    error = refused(getattr(reduce, name)(ints(2)))
    assert error.message == f"`{name}`: all and any reduce booleans, but the elements are int32"


def test_axes_that_are_not_there() -> None:
    error = refused(reduce.sum(t(2, 3), 2))
    assert error.message == "`sum`: axis 2 is out of range: the tensor has 2 axes, so it takes -2 to 1"
    assert refused(reduce.max(t(2, 3), [0, -2])).message == "`max`: axis 0 is given twice"
    assert refused(reduce.max(t(), 0)).message == "`max`: axis 0 is out of range: the tensor has no axes"


def test_variance_and_its_kin() -> None:
    x = t(2, 3, 4)
    assert typed(reduce.variance(x, 1)) == "Tensor[(2, 4), float32]"
    assert typed(reduce.variance(x, 1, keepdims=True)) == "Tensor[(2, 1, 4), float32]"
    assert typed(reduce.std(x, [0, 2])) == "Tensor[(3), float32]"
    assert typed(reduce.mean_variance(x, 1)) == "(Tensor[(2, 4), float32], Tensor[(2, 4), float32])"
    assert typed(reduce.mean_variance(x, 1, exclude=True)) == "(Tensor[(3), float32], Tensor[(3), float32])"
    assert typed(reduce.mean_std(x, 1, True)) == "(Tensor[(2, 1, 4), float32], Tensor[(2, 1, 4), float32])"
    assert typed(reduce.mean_std(x)) == "(float32, float32)"


def test_a_mean_of_other_axes_is_refused() -> None:
    error = refused(reduce.variance(t(2, 3), 1, with_mean=t(2, 3, name="m")))
    assert error.message == (
        "`variance`: the mean of Tensor[(2, 3), float32] over these axes is Tensor[(2, 1), float32], "
        "not Tensor[(2, 3), float32]"
    )
    assert error.help == (
        "compute it with the same axes and keepdims=True: relay.mean(data, axis, keepdims=True)",
    )


def test_logsumexp() -> None:
    assert typed(reduce.logsumexp(t(2, 3), 1)) == "Tensor[(2), float32]"
    assert typed(reduce.logsumexp(t(2, 3), 1, True)) == "Tensor[(2, 1), float32]"
    assert typed(reduce.logsumexp(t(2, 3))) == "float32"


def test_work_is_counted_on_the_input() -> None:
    call = reduce.variance(t(2, 3), 1)
    types = [TensorType((2, 3)), TensorType((2, 1))]
    assert call.op.flops(call.attrs, types, TensorType((2,))) == 18  # type: ignore[attr-defined]
    assert reduce.sum(t(2, 3)).op.flops(None, types, TensorType(())) == 6  # type: ignore[attr-defined]
