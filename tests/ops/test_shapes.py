"""Operators that move elements: axes and reshaping."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir.expr import const
from relay_explorer.ir.types import Any, SizeVar, TensorType
from tests.ops.tensor_programs import ints, refused, t, type_of, typed

SHAPE = st.lists(st.integers(1, 4), min_size=1, max_size=4)
N = SizeVar("n")


# Axes


@settings(max_examples=80, deadline=None)
@given(st.permutations(range(4)), st.integers(0, 15))
def test_transpose_is_numpys(axes: list[int], negatives: int) -> None:
    given_axes = [a - 4 if negatives >> i & 1 else a for i, a in enumerate(axes)]
    expected = np.transpose(np.empty((2, 3, 4, 5)), axes).shape
    assert typed(relay.transpose(t(2, 3, 4, 5), given_axes)) == str(TensorType(expected))


def test_transpose_without_axes_reverses() -> None:
    assert typed(relay.transpose(t(2, Any(), 4))) == "Tensor[(4, ?, 2), float32]"


@pytest.mark.parametrize(
    ("axes", "message"),
    [
        ((0, 1), "axes=[0, 1] names 2 axes, but the tensor (2, 3, 4) has 3"),
        ((0, 1, 1), "axis 1 is given twice"),
        ((0, 1, 3), "axis 3 is out of range: the tensor has 3 axes, so transpose takes -3 to 2"),
    ],
)
def test_transpose_names_every_axis_once(axes: tuple[int, ...], message: str) -> None:
    assert refused(relay.transpose(t(2, 3, 4), axes)).message == f"`transpose`: {message}"


@settings(max_examples=60, deadline=None)
@given(SHAPE, st.data())
def test_expand_dims_is_numpys(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape) - 1, len(shape)))
    expected = np.expand_dims(np.empty(shape), axis).shape
    assert typed(relay.expand_dims(t(*shape), axis)) == str(TensorType(expected))


def test_expand_dims_by_several() -> None:
    assert typed(relay.expand_dims(t(2, 3), 1, 2)) == "Tensor[(2, 1, 1, 3), float32]"
    assert typed(relay.expand_dims(t(2, 3), -1, 3)) == "Tensor[(2, 3, 1, 1, 1), float32]"
    assert typed(relay.expand_dims(t(2, 3), 1, 0)) == "Tensor[(2, 3), float32]"
    error = refused(relay.expand_dims(t(2, 3), 3))
    assert (
        error.message == "`expand_dims`: axis 3 is out of range: new axes of the tensor (2, 3) have the "
        "indices -3 to 2"
    )


def test_squeeze() -> None:
    assert typed(relay.squeeze(t(1, 3, 1))) == "Tensor[(3), float32]"
    assert typed(relay.squeeze(t(1, 3, 1), 2)) == "Tensor[(1, 3), float32]"
    assert typed(relay.squeeze(t(1, 3, 1), [0, -1])) == "Tensor[(3), float32]"
    assert typed(relay.squeeze(t(1, 1))) == "float32"
    assert typed(relay.squeeze(t(Any(), 3), [0])) == "Tensor[(3), float32]"
    error = refused(relay.squeeze(t(1, 3), [1]))
    assert error.message == "`squeeze`: axis 1 of (1, 3) is 3, but only axes of extent 1 can be removed"
    error = refused(relay.squeeze(t(Any(), 3)))
    assert (
        error.message == "`squeeze`: axis 0 of (?, 3) may or may not be 1, so the result's rank is not known"
    )


def test_reverse() -> None:
    assert typed(relay.reverse(t(2, 3), -1)) == "Tensor[(2, 3), float32]"
    assert (
        typed(relay.reverse_sequence(t(4, 2), ints(2), seq_axis=0, batch_axis=1)) == "Tensor[(4, 2), float32]"
    )
    error = refused(relay.reverse_sequence(t(4, 2), ints(2), seq_axis=1, batch_axis=0))
    assert error.message == (
        "`reverse_sequence`: seq_lengths has the shape (2), but axis 0 of the data, (4, 2), has 4 sequences"
    )


# Reshaping


@pytest.mark.parametrize(
    ("source", "newshape", "expected"),
    [
        ((2, 3, 4), (6, 4), (6, 4)),
        ((2, 3, 4), (4, 0, 2), (4, 3, 2)),
        ((2, 3, 4), (2, 0, 0), (2, 3, 4)),
        ((2, 3, 4), (6, 1, -1), (6, 1, 4)),
        ((2, 3, 4), (3, -1, 8), (3, 1, 8)),
        ((2, 3, 4), (-1,), (24,)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((2, 3, 4), (2, -2), (2, 3, 4)),
        ((2, 3, 4), (-2, 1, 1), (2, 3, 4, 1, 1)),
        ((2, 3, 4), (-3, 4), (6, 4)),
        ((2, 3, 4, 5), (-3, -3), (6, 20)),
        ((2, 3, 4), (0, -3), (2, 12)),
        ((2, 3, 4), (-3, -2), (6, 4)),
        ((2, 3, 4), (-4, 1, 2, -2), (1, 2, 3, 4)),
        ((2, 3, 4), (2, -4, -1, 3, -2), (2, 1, 3, 4)),
        ((1,), (), ()),
        ((), (1, 1), (1, 1)),
        ((0, 4), (-1, 4), (0, 4)),
        ((N, 4), (-1, 4), (N, 4)),
        ((N, 4), (0, 2, 2), (N, 2, 2)),
        ((N, 4), (-1, 2), (2 * N, 2)),
        ((N, 4), (-3,), (4 * N,)),
        ((N, 3), (2, -1), (2, 3 * N // 2)),
        ((Any(), 4), (2, 8), (2, 8)),
        ((Any(), 4), (-1, 2), (Any(), 2)),
        ((Any(), 4), (0, 2, -1), (Any(), 2, 2)),
        ((Any(), 6), (-3,), (Any(),)),
        ((Any(), 6), (-4, 2, -1, 6), (2, Any(), 6)),
    ],
)  # fmt: skip
def test_special_values_of_reshape(
    source: tuple[object, ...], newshape: tuple[int, ...], expected: tuple[object, ...]
) -> None:
    assert type_of(relay.reshape(t(*source), newshape)) == TensorType(expected)


def test_zero_can_be_an_extent() -> None:
    assert typed(relay.reshape(t(0, 4), (2, 0), allowzero=True)) == "Tensor[(2, 0), float32]"


@pytest.mark.parametrize(
    ("source", "newshape", "expected"),
    [
        ((10, 5, 4), (-1, 0), (50, 4)),
        ((10, 5, 4), (0, -3), (10, 20)),
        ((2, 3, 4), (-2,), (2, 3, 4)),
        ((4, 6, 5), (2, -1, 0), (2, 12, 5)),
    ],
)  # fmt: skip
def test_reverse_reshape_reads_from_the_right(
    source: tuple[int, ...], newshape: tuple[int, ...], expected: tuple[int, ...]
) -> None:
    assert type_of(relay.reverse_reshape(t(*source), newshape)) == TensorType(expected)


@pytest.mark.parametrize(
    ("newshape", "message"),
    [
        ((5,), "the tensor (2, 3) has 6 elements, but the new shape (5) has 5"),
        ((4, -1), "the tensor (2, 3) has 6 elements for -1 and the other extents, 4, but 4 does "
                  "not divide 6"),
        ((-1, -1), "newshape=[-1, -1] leaves two dimensions unspecified"),
        ((0, 0, 0), "newshape=[0, 0, 0] asks for axis 2 of the tensor with 0, but (2, 3) has 2"),
        ((2, -3), "newshape=[2, -3] asks for axis 2 of the tensor with -3, but (2, 3) has 2"),
        ((-5,), "newshape=[-5] has -5, which has no meaning"),
        (
            (-4, 2),
            "newshape=[-4, 2]: after -4 come two positive factors, of which one may be -1, as in (-4, 2, -1)",
        ),
        ((0, -4, 2, 2), "newshape=[0, -4, 2, 2] splits axis 1, 3, into 2 and 2, whose product it is not"),
    ],
)  # fmt: skip
def test_reshape_says_what_does_not_fit(newshape: tuple[int, ...], message: str) -> None:
    assert refused(relay.reshape(t(2, 3), newshape)).message == f"`reshape`: {message}"


@settings(max_examples=100, deadline=None)
@given(SHAPE, st.data())
def test_reshape_is_numpys(shape: list[int], data: st.DataObject) -> None:
    size = int(np.prod(shape))
    newshape = data.draw(st.lists(st.integers(1, 6), min_size=1, max_size=3))
    newshape[data.draw(st.integers(0, len(newshape) - 1))] = -1
    call = relay.reshape(t(*shape), newshape)
    try:
        expected = np.empty(size).reshape(newshape).shape
    except ValueError:
        assert "does not divide" in refused(call).message
    else:
        assert typed(call) == str(TensorType(expected))


def test_reshape_takes_constants() -> None:
    assert typed(relay.reshape(t(2, 3), const([3, 2]))) == "Tensor[(3, 2), float32]"
    assert typed(relay.reshape(t(2, 3), 6)) == "Tensor[(6), float32]"


def test_reshape_like() -> None:
    assert typed(relay.reshape_like(t(1, 2, 3, 4), t(6, 4, name="y"))) == "Tensor[(6, 4), float32]"
    like = relay.reshape_like(t(1, 2, 3, 4), t(6, 2, 2, 3, name="y"), lhs_begin=1, rhs_end=3)
    assert typed(like) == "Tensor[(1, 6, 2, 2), float32]"
    error = refused(relay.reshape_like(t(2, 3), t(5, name="y")))
    assert error.message == "`reshape_like`: the tensor (2, 3) has 6 elements, but the new shape (5) has 5"
    error = refused(relay.reshape_like(t(2, 3), t(6, name="y"), lhs_begin=3))
    assert error.message == "`reshape_like`: lhs_begin=3 and lhs_end=None are not a range of the 2 axes"


def test_layout_transform() -> None:
    assert typed(relay.layout_transform(t(1, 32, 7, 8), "NCHW", "NHWC")) == "Tensor[(1, 7, 8, 32), float32]"
    blocked = relay.layout_transform(t(1, 32, 7, 8), "NCHW", "NCHW16c")
    assert typed(blocked) == "Tensor[(1, 2, 7, 8, 16), float32]"
    assert typed(relay.layout_transform(blocked, "NCHW16c", "NHWC")) == "Tensor[(1, 7, 8, 32), float32]"
    assert typed(relay.layout_transform(t(8, 4, 3, 3), "OIHW", "HWIO")) == "Tensor[(3, 3, 4, 8), float32]"
    assert "16 does not divide" in refused(relay.layout_transform(t(1, 3, 7, 8), "NCHW", "NCHW16c")).message


def test_shapes_as_data() -> None:
    assert typed(relay.shape_of(t(2, Any(), 4))) == "Tensor[(3), int32]"
    assert typed(relay.shape_of(t(2), "int64")) == "Tensor[(1), int64]"
    assert typed(relay.ndarray_size(t(2, 3))) == "int32"
