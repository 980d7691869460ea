"""Operators that join, cut and broadcast tensors."""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr, Function, Let, Tuple, TupleGetItem, const, var
from relay_explorer.ir.types import Any, SizeVar, TensorType, TupleType
from relay_explorer.ops import join, slice
from tests.ops.tensor_programs import bools, ints, refused, t, type_of, typed

SHAPE = st.lists(st.integers(1, 4), min_size=1, max_size=4)
N = SizeVar("n")


# Joining


@settings(max_examples=60, deadline=None)
@given(SHAPE, st.data())
def test_concatenate_and_stack_are_numpys(shape: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    other = list(shape)
    other[axis] = data.draw(st.integers(1, 4))
    expected = np.concatenate([np.empty(shape), np.empty(other)], axis).shape
    assert typed(join.concatenate([t(*shape), t(*other, name="y")], axis)) == str(TensorType(expected))
    new = data.draw(st.integers(-len(shape) - 1, len(shape)))
    expected = np.stack([np.empty(shape)] * 3, new).shape
    assert typed(join.stack([t(*shape)] * 3, new)) == str(TensorType(expected))


def test_concatenate_knows_what_any_field_knows() -> None:
    assert typed(join.concatenate([t(Any(), 3), t(2, Any(), name="y")], 0)) == "Tensor[(?, 3), float32]"
    assert typed(join.concatenate([t(Any(), 3), t(2, Any(), name="y")], 1)) == "Tensor[(2, ?), float32]"
    assert typed(join.concatenate([t(N, 3)], 0)) == "Tensor[(n, 3), float32]"
    assert typed(join.concatenate(Tuple([t(2), t(3, name="y")]), 0)) == "Tensor[(5), float32]"


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ([t(2, 3), t(2, 4, name="y")], "axis 1 differs: it is 3 in field 0 of the tuple and 4 in field 1"),
        (
            [t(2, 3), ints(2, 3)],
            "the element types differ: field 0 of the tuple is float32 and field 1 is int32",
        ),
        (
            [t(2, 3), t(3, name="y")],
            "concatenate needs tensors of one rank: field 0 of the tuple is (2, 3) and field 1 is (3)",
        ),
        ([t(), t(name="y")], "scalars have no axis to be concatenated along"),
        ([Tuple([t(2)])], "field 0 of the tuple must be a tensor, not (Tensor[(2), float32],)"),
    ],
)
def test_concatenate_says_what_does_not_fit(fields: list[Expr], message: str) -> None:
    assert refused(join.concatenate(fields, 0)).message == f"`concatenate`: {message}"


def test_concatenate_of_one_tensor_says_what_to_write() -> None:
    error = refused(join.concatenate(t(2, 3), 0))
    assert (
        error.message == "`concatenate`: concatenate takes one tuple of tensors, not Tensor[(2, 3), float32]"
    )
    with pytest.raises(ValueError, match="takes a tuple or list of at least one expression"):
        join.concatenate([], 0)


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 12), st.data())
def test_split_is_numpys(extent: int, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.sets(st.integers(1, extent - 1), min_size=1, max_size=3)))
    expected = [part.shape for part in np.split(np.empty((2, extent)), cuts, axis=1)]
    parts = join.split(t(2, extent), cuts, axis=-1)
    assert len(parts) == len(expected)
    assert typed(parts) == f"({', '.join(str(TensorType(s)) for s in expected)})"


def test_split_into_equal_parts() -> None:
    parts = join.split(t(2, 6), 3, axis=1)
    assert [typed(part) for part in parts] == ["Tensor[(2, 2), float32]"] * 3
    assert typed(join.split(t(Any(), 6), 2)) == "(Tensor[(?, 6), float32], Tensor[(?, 6), float32])"
    assert typed(join.split(t(Any(), 6), (1, 3))) == (
        "(Tensor[(1, 6), float32], Tensor[(2, 6), float32], Tensor[(?, 6), float32])"
    )


@pytest.mark.parametrize(
    ("cuts", "message"),
    [
        (4, "axis 1 is 6, which is not 4 equal parts"),
        (0, "a tensor cannot be split into 0 parts"),
        ((3, 2), "the indices to split at, [3, 2], are not ascending: 2 comes after 3"),
        ((3, 6), "axis 1 is 6, so it cannot be split at 6"),
    ],
)
def test_split_says_what_does_not_fit(cuts: int | tuple[int, ...], message: str) -> None:
    assert refused(join.split(t(2, 6), cuts, axis=1)).message == f"`split`: {message}"


def test_wrapper_of_a_tuple() -> None:
    parts = join.split(t(2, 6), 3, axis=1)
    first, _, last = parts
    assert typed(first) == typed(last) == typed(parts[-1]) == "Tensor[(2, 2), float32]"
    with pytest.raises(IndexError, match="there is no field 3: the tuple has 3 fields"):
        parts[3]
    assert typed(join.concatenate(parts, 1)) == "Tensor[(2, 6), float32]"


@settings(max_examples=60, deadline=None)
@given(SHAPE, st.lists(st.integers(1, 3), min_size=1, max_size=5), st.integers(1, 3))
def test_tile_and_repeat_are_numpys(shape: list[int], reps: list[int], repeats: int) -> None:
    assert typed(relay.tile(t(*shape), reps)) == str(TensorType(np.tile(np.empty(shape), reps).shape))
    expected = np.repeat(np.empty(shape), repeats, axis=-1).shape
    assert typed(relay.repeat(t(*shape), repeats, -1)) == str(TensorType(expected))


def test_tile_and_repeat_refuse_nothing_at_all() -> None:
    assert refused(relay.tile(t(2), (0,))).message == "`tile`: reps=[0] must be one or more positive numbers"
    message = refused(relay.repeat(t(2), 0, 0)).message
    assert message == "`repeat`: repeats is 0, but must be at least 1"


def test_meshgrid() -> None:
    x, y = t(2), t(3, name="y")
    assert typed(relay.meshgrid([x, y])) == "(Tensor[(2, 3), float32], Tensor[(2, 3), float32])"
    assert typed(relay.meshgrid([x, y], "xy")) == "(Tensor[(3, 2), float32], Tensor[(3, 2), float32])"
    assert len(relay.meshgrid([x, y, t(name="z")])) == 3
    error = refused(relay.meshgrid([x, t(2, 2, name="z")]))
    assert error.message == (
        "`meshgrid`: meshgrid takes vectors of one element type: field 0 is Tensor[(2), float32] "
        "and field 1 is Tensor[(2, 2), float32]"
    )


# Broadcasting


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.sampled_from([1, 2, 3]), max_size=3),
    st.lists(st.sampled_from([1, 2, 3]), min_size=1, max_size=3),
)
def test_broadcast_to_is_numpys(shape: list[int], target: list[int]) -> None:
    like = t(*target, name="y")
    try:
        np.broadcast_to(np.empty(shape), target)
    except ValueError:
        assert "`broadcast_to`" in refused(relay.broadcast_to(t(*shape), target)).message
        assert "`broadcast_to_like`" in refused(relay.broadcast_to_like(t(*shape), like)).message
        assert "`collapse_sum_like`" in refused(relay.collapse_sum_like(like, t(*shape))).message
    else:
        assert typed(relay.broadcast_to(t(*shape), target)) == str(TensorType(target))
        assert typed(relay.broadcast_to_like(t(*shape), like)) == str(TensorType(target))
        assert typed(relay.collapse_sum_like(like, t(*shape))) == str(TensorType(shape))


def test_collapse_sum_to() -> None:
    assert typed(relay.collapse_sum_to(t(2, 3), [3])) == "Tensor[(3), float32]"
    assert typed(relay.collapse_sum_to(t(2, 3), ints(1))) == "Tensor[(?), float32]"
    error = refused(relay.collapse_sum_to(t(2, 3), [2]))
    assert error.message == (
        "`collapse_sum_to`: broadcasting (2) does not give (2, 3): axis -1 is 2 in one and 3 in the other"
    )


def test_broadcast_to_fewer_axes() -> None:
    error = refused(relay.broadcast_to(t(2, 3), (3,)))
    assert error.message == "`broadcast_to`: broadcasting (2, 3) does not give (3), which has fewer axes"


# Slicing


@settings(max_examples=200, deadline=None)
@given(
    st.integers(1, 6),
    st.integers(-7, 7),
    st.integers(-7, 7),
    st.sampled_from([1, 2, 3]),
)
def test_strided_slice_is_pythons(extent: int, begin: int, end: int, stride: int) -> None:
    forwards = len(range(extent)[begin:end:stride])
    call = slice.strided_slice(t(extent, 2), [begin], [end], [stride])
    kept = range(extent)[begin:end]
    if kept.stop < kept.start:
        assert "runs against its stride" in refused(call).message
    else:
        assert typed(call) == str(TensorType((forwards, 2)))


def test_strided_slice_backwards() -> None:
    assert typed(slice.strided_slice(t(5), [4], [0], [-1])) == "Tensor[(4), float32]"
    assert typed(slice.strided_slice(t(5), [4], [-7], [-2])) == "Tensor[(3), float32]"
    assert typed(slice.strided_slice(t(5), [], [], [-1])) == "Tensor[(4), float32]"


def test_strided_slice_of_sizes_and_axes() -> None:
    assert (
        typed(slice.strided_slice(t(5, 6), [1, 2], [3, -1], slice_mode="size")) == "Tensor[(3, 4), float32]"
    )
    assert typed(slice.strided_slice(t(5, 6), [2], [4], axes=[1])) == "Tensor[(5, 2), float32]"
    assert typed(slice.strided_slice(t(5, 6), [2, 0], [4, 3], axes=[-1, 0])) == "Tensor[(3, 2), float32]"
    assert typed(slice.strided_slice(t(Any(), 6), [0, 2], [3, 4])) == "Tensor[(?, 2), float32]"
    assert typed(slice.strided_slice(t(N, 6), [2], [4], axes=[1])) == "Tensor[(n, 2), float32]"
    assert typed(slice.strided_slice(t(5), const([1]), const([3]))) == "Tensor[(2), float32]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (slice.strided_slice(t(5), [0, 0], [1, 1]), "the slice names 2 axes, but the tensor has 1"),
        (slice.strided_slice(t(5), [0], [1], [0]), "strides=[0] has a 0, but a stride must not be 0"),
        (
            slice.strided_slice(t(5), [3], [1]),
            "the slice of axis 0, of extent 5, begins at 3 and ends at 1: it runs against its stride",
        ),
        (
            slice.strided_slice(t(5), [3], [1], [1], axes=[0, 0]),
            "axes names 2 axes, but there are 1 begins, 1 ends and 1 strides",
        ),
        (
            slice.strided_slice(t(5), [3], [4], slice_mode="length"),
            'slice_mode is "length", but it is "end" or "size"',
        ),
    ],
)
def test_strided_slice_says_what_does_not_fit(call: Expr, message: str) -> None:
    assert refused(call).message == f"`strided_slice`: {message}"


def test_strided_set() -> None:
    x = t(5, 4)
    assert typed(relay.strided_set(x, t(2, 4, name="v"), [1, 0], [3, 4])) == "Tensor[(5, 4), float32]"
    error = refused(relay.strided_set(x, t(4, name="v"), [1], [3]))
    assert error.message == ("`strided_set`: the value (4) and the data differ in rank: the data is (5, 4)")
    error = refused(relay.strided_set(x, t(2, 4, name="v"), bools(1), [3]))
    assert error.message == "`strided_set`: begin must be integers, but its elements are bool"


def test_slice_like() -> None:
    x = t(5, 6)
    assert typed(slice.slice_like(x, t(2, 3, name="y"))) == "Tensor[(2, 3), float32]"
    assert typed(slice.slice_like(x, t(2, 3, name="y"), axes=[1])) == "Tensor[(5, 3), float32]"
    assert typed(slice.slice_like(x, t(2, name="y"))) == "Tensor[(2, 6), float32]"
    assert refused(slice.slice_like(x, t(2, name="y"), axes=[])).message == "`slice_like`: axes is empty"
    error = refused(slice.slice_like(x, t(7, 3, name="y")))
    assert error.message == "`slice_like`: axis 0 is 5, which cannot be sliced to the 7 of shape_like"


def test_a_wrapper_stands_for_its_call_in_every_expression() -> None:
    x = t(4)
    parts = join.split(x, 2)
    both = "(Tensor[(2), float32], Tensor[(2), float32])"
    wrapped: Anything = parts  # a constructor takes a wrapper as well
    assert typed(Tuple([parts.tuple_value])) == f"({both},)"
    assert typed(TupleGetItem(wrapped, 1)) == "Tensor[(2), float32]"
    name = var("p")
    assert typed(Let(name, wrapped, TupleGetItem(name, 0))) == "Tensor[(2), float32]"
    whole = Function([x], wrapped)
    assert typed(whole(t(4, name="y"))) == both
    pair = var("pair", type_of(parts))
    assert typed(Function([pair], TupleGetItem(pair, 0))(parts)) == "Tensor[(2), float32]"


def test_named_sizes_add_up_and_divide() -> None:
    assert type_of(join.concatenate([t(N, 2), t(N, 2), t(3, 2)], axis=0)) == TensorType((2 * N + 3, 2))
    parts = type_of(join.split(t(N, 2), 2, axis=0).astuple())
    assert parts == TupleType([TensorType((N // 2, 2))] * 2)
    assert type_of(join.split(t(N, 2), (3,), axis=0).astuple()) == TupleType(
        [TensorType((3, 2)), TensorType((N - 3, 2))]
    )


def test_sizes_that_cannot_be_equal() -> None:
    error = refused(join.concatenate([t(2, N), t(2, N + 1)], axis=0))
    assert "axis 1 differs: it is n in field 0 of the tuple and n + 1 in field 1" in error.message


def test_the_parts_of_a_wrapper_are_taken_one_by_one() -> None:
    parts = join.split(t(2, 6), 3, axis=1)
    joined = join.concatenate(parts, axis=1)
    assert isinstance(joined, Call)
    (fields,) = joined.args
    assert isinstance(fields, Tuple)
    assert all(
        isinstance(field, TupleGetItem) and field.tuple_value is parts.astuple() and field.index == number
        for number, field in enumerate(fields.fields)
    )
    assert typed(joined) == "Tensor[(2, 6), float32]"
