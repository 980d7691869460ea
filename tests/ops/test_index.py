"""Operators that index, search, scan, create and sample images."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir.attrs import Attrs
from relay_explorer.ir.expr import Expr, const
from relay_explorer.ir.narrow import as_a
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any, TensorType
from relay_explorer.ops import create, index, scan, sort
from relay_explorer.relay import image
from tests.ops.tensor_programs import ints, refused, t, typed

SHAPE = st.lists(st.integers(1, 4), min_size=1, max_size=3)


def shown(result: torch.Tensor, dtype: str = "float32") -> str:
    return str(TensorType(tuple(result.shape), dtype))


# Taking and putting


@settings(max_examples=60, deadline=None)
@given(SHAPE, SHAPE, st.data())
def test_take_replaces_an_axis(shape: list[int], places: list[int], data: st.DataObject) -> None:
    axis = data.draw(st.integers(-len(shape), len(shape) - 1))
    at = axis % len(shape)
    where = (slice(None),) * at + (torch.zeros(places, dtype=torch.long),)
    assert typed(index.take(t(*shape), ints(*places), axis)) == shown(torch.empty(shape)[where])


def test_take_of_the_flattened_tensor_and_of_batches() -> None:
    assert typed(index.take(t(4, 5), ints(2, 3))) == "Tensor[(2, 3), float32]"
    assert typed(index.take(t(4, 5, 6), ints(4, 2), axis=1, batch_dims=1)) == "Tensor[(4, 2, 6), float32]"
    assert typed(index.take(t(4, 5, 6), ints(4, 2), axis=2, batch_dims=-1)) == "Tensor[(4, 5, 2), float32]"
    assert typed(index.take(t(Any(), 5), ints(), axis=0)) == "Tensor[(5), float32]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (index.take(t(4), t(2, name="i")), "indices must be integers, but its elements are float32"),
        (
            index.take(t(4), ints(2), 1),
            "axis 1 is out of range: the tensor has 1 axis, so take takes -1 to 0",
        ),
        (
            index.take(t(4, 5), ints(3, 2), axis=1, batch_dims=1),
            "batch axis 0 is 4 in the data and 3 in the indices",
        ),
        (
            index.take(t(4, 5), ints(4, 2), axis=0, batch_dims=1),
            "batch_dims is 1, but it is at most the axis, 0, and the rank of indices, 2",
        ),
        (index.take(t(4), ints(2), mode="raise"), 'mode is "raise", but it is "clip", "wrap" or "fast"'),
    ],
)
def test_take_says_what_does_not_fit(call: Expr, message: str) -> None:
    assert refused(call).message == f"`take`: {message}"


def test_gather() -> None:
    expected = torch.gather(torch.empty(2, 3, 4), 1, torch.zeros(2, 7, 4, dtype=torch.long))
    assert typed(relay.gather(t(2, 3, 4), 1, ints(2, 7, 4))) == shown(expected)
    error = refused(relay.gather(t(2, 3), 1, ints(3, 7)))
    assert error.message == "`gather`: axis 0 is 2 in the data and 3 in the indices; only axis 1 may differ"
    error = refused(relay.gather(t(2, 3), 1, ints(2)))
    assert error.message == "`gather`: data (2, 3) and indices (2) must have the same number of axes"
    assert refused(relay.gather(t(2), 0, ints(0))).message == "`gather`: indices are empty on axis 0"


@pytest.mark.parametrize(
    ("data", "indices", "batch", "expected"),
    [
        ((2, 2), (2, 3), 0, (3,)),
        ((2, 2, 2), (2, 2), 0, (2, 2)),
        ((2, 2, 2), (1, 2), 1, (2, 2)),
        ((4, 5, 6), (2, 7, 8), 0, (7, 8, 6)),
        ((4, 5, 6), (3, 7), 0, (7,)),
        ((4, 5, 6), (1,), 0, (5, 6)),
    ],
)
def test_gather_nd(
    data: tuple[int, ...], indices: tuple[int, ...], batch: int, expected: tuple[int, ...]
) -> None:
    assert typed(relay.gather_nd(t(*data), ints(*indices), batch)) == str(TensorType(expected))


def test_gather_nd_says_what_does_not_fit() -> None:
    error = refused(relay.gather_nd(t(4, 5), ints(3, 2)))
    assert error.message == (
        "`gather_nd`: indices (3, 2) give 3 coordinates after 0 batch axes, but the data (4, 5) has 2 axes"
    )
    error = refused(relay.gather_nd(t(4, 5), ints(Any(), 2)))
    assert error.message == (
        "`gather_nd`: the first axis of indices holds the coordinates, so its extent must be static; "
        "indices are Tensor[(?, 2), int32]"
    )
    error = refused(relay.gather_nd(t(4, 5), ints(1, 3), batch_dims=1))
    assert error.message == "`gather_nd`: batch axis 0 is 4 in the data and 3 in the indices"


def test_scatter() -> None:
    data, updates = t(4, 5), t(2, 5, name="u")
    assert typed(relay.scatter_elements(data, ints(2, 5), updates)) == "Tensor[(4, 5), float32]"
    assert typed(relay.scatter_nd(data, ints(1, 2), updates)) == "Tensor[(4, 5), float32]"
    assert typed(relay.scatter_nd(data, ints(2, 3), t(3, name="u"), "add")) == "Tensor[(4, 5), float32]"
    error = refused(relay.scatter_elements(data, ints(2, 4), updates))
    assert error.message == (
        "`scatter_elements`: data (4, 5), indices (2, 4) and updates (2, 5) "
        "must have one rank, and indices and updates one shape"
    )
    error = refused(relay.scatter_nd(data, ints(1, 3), updates))
    assert error.message == (
        "`scatter_nd`: updates (2, 5) must have the shape (3, 5): "
        "the indices' axes after the first, then the data's axes that are not indexed"
    )
    error = refused(relay.scatter_nd(data, ints(3, 2), updates))
    assert error.message == "`scatter_nd`: indices (3, 2) give 3 coordinates, but the data (4, 5) has 2 axes"
    error = refused(relay.scatter_elements(data, ints(2, 5), updates, reduction="max!"))
    assert error.message == (
        '`scatter_elements`: reduction is "max!", but it is "update", "add", "mul", "mean", "min" or "max"'
    )


def test_adv_index_is_torchs() -> None:
    a, b = torch.zeros(3, 1, dtype=torch.long), torch.zeros(4, dtype=torch.long)
    expected = torch.empty(5, 6, 7)[a, b]
    assert typed(index.adv_index([t(5, 6, 7), ints(3, 1), ints(4, name="j")])) == shown(expected)
    error = refused(index.adv_index([t(5), ints(3), ints(3, name="j")]))
    assert error.message == "`adv_index`: there are 2 tensors of indices, but the data (5) has 1 axes"
    assert refused(index.adv_index([t(5)])).message == (
        "`adv_index`: adv_index needs at least one tensor of indices after the data"
    )


def test_coordinates() -> None:
    assert typed(index.unravel_index(ints(7), ints(3, name="s"))) == "Tensor[(3, 7), int32]"
    assert typed(index.unravel_index(ints(), ints(3, name="s"))) == "Tensor[(3), int32]"
    assert typed(index.argwhere(t(4, 5))) == "Tensor[(?, 2), int32]"
    assert (
        "unravel_index takes a vector" in refused(index.unravel_index(ints(7, 2), ints(3, name="s"))).message
    )


# Sorting and searching


def test_sorting() -> None:
    assert typed(sort.sort(t(3, 4), 0)) == "Tensor[(3, 4), float32]"
    assert typed(sort.argsort(t(3, 4))) == "Tensor[(3, 4), int32]"
    assert typed(sort.argsort(t(3, 4), dtype="int64")) == "Tensor[(3, 4), int64]"
    error = refused(sort.argsort(t(3, 4), axis=2))
    assert (
        error.message == "`argsort`: axis 2 is out of range: the tensor has 2 axes, so argsort takes -2 to 1"
    )


def test_topk() -> None:
    values, indices = as_a(TupleWrapper, sort.topk(t(3, 4), 2))
    assert typed(values) == "Tensor[(3, 2), float32]"
    assert typed(indices) == "Tensor[(3, 2), int32]"
    assert typed(sort.topk(t(3, 4), 2, axis=0, ret_type="values")) == "Tensor[(2, 4), float32]"
    assert typed(sort.topk(t(3, 4), 0, ret_type="indices", dtype="int64")) == "Tensor[(3, 4), int64]"
    error = refused(sort.topk(t(3, 4), 5))
    assert error.message == "`topk`: the 5 greatest are requested, but axis 1 of (3, 4) has 4"


def test_searchsorted_is_torchs() -> None:
    expected = torch.searchsorted(torch.empty(2, 5), torch.empty(2, 3))
    assert typed(sort.searchsorted(t(2, 5), t(2, 3, name="v"))) == shown(expected, "int32")
    assert typed(sort.searchsorted(t(5), t(2, 3, name="v"), dtype="int64")) == "Tensor[(2, 3), int64]"
    error = refused(sort.searchsorted(t(2, 5), t(3, name="v")))
    assert error.message == (
        "`searchsorted`: the sequences (2, 5) and the values (3) must agree on all axes but the last"
    )


# Rows and matrices


def test_running_sums() -> None:
    assert typed(scan.cumsum(t(2, 3), 1)) == "Tensor[(2, 3), float32]"
    assert typed(scan.cumprod(ints(2, 3), dtype="int64")) == "Tensor[(6), int64]"
    assert typed(scan.cumsum(t(Any(), 3))) == "Tensor[(?), float32]"
    error = refused(scan.cumsum(t(2, 3), 2))
    assert error.message == "`cumsum`: axis 2 is out of range: the tensor has 2 axes, so it takes -2 to 1"


def test_sequence_mask() -> None:
    assert typed(relay.sequence_mask(t(7, 2, 3), ints(2))) == "Tensor[(7, 2, 3), float32]"
    assert typed(relay.sequence_mask(t(2, 7), ints(2), axis=1)) == "Tensor[(2, 7), float32]"
    error = refused(relay.sequence_mask(t(7, 2), ints(7)))
    assert (
        error.message
        == "`sequence_mask`: valid_length has the shape (7), but axis 1 of the data has 2 sequences"
    )


@pytest.mark.parametrize(
    ("matrix", "k", "diagonal"),
    [
        ((2, 3, 4), 0, (2, 3)),
        ((3, 4), 1, (3,)),
        ((3, 4), -1, (2,)),
        ((2, 3, 4), (-1, 2), (2, 4, 3)),
        ((4, 3), (1, 2), (2, 2)),
    ],
)
def test_matrix_set_diag(
    matrix: tuple[int, ...], k: int | tuple[int, int], diagonal: tuple[int, ...]
) -> None:
    assert typed(relay.matrix_set_diag(t(*matrix), t(*diagonal, name="d"), k)) == str(TensorType(matrix))
    wrong = t(*diagonal[:-1], diagonal[-1] + 1, name="d")
    assert "diagonal has the shape" in refused(relay.matrix_set_diag(t(*matrix), wrong, k)).message


def test_matrix_set_diag_alignment() -> None:
    attrs = as_a(Attrs, relay.matrix_set_diag(t(3, 3), t(3, name="d"), align="LEFT_RIGHT").attrs)
    assert attrs.changed() == [("super_diag_right_align", False), ("sub_diag_right_align", True)]
    with pytest.raises(ValueError, match='align is "MIDDLE"'):
        relay.matrix_set_diag(t(3, 3), t(3, name="d"), align="MIDDLE")


def test_triangles_and_permutations() -> None:
    assert typed(relay.trilu(t(2, 3, 3), 1)) == "Tensor[(2, 3, 3), float32]"
    assert refused(relay.trilu(t(3), 0)).message == (
        "`trilu`: the data must be matrices, but is Tensor[(3), float32]"
    )
    assert typed(relay.invert_permutation(ints(5))) == "Tensor[(5), int32]"
    assert refused(relay.invert_permutation(ints(5, 2))).message == (
        "`invert_permutation`: a permutation is a vector of indices, not Tensor[(5, 2), int32]"
    )


def test_unique() -> None:
    four = "Tensor[(5), float32], Tensor[(5), int32], Tensor[(5), int32], Tensor[(1), int32]"
    assert typed(relay.unique(t(5))) == f"({four})"
    assert typed(relay.unique(t(5), return_counts=True)) == f"({four}, Tensor[(5), int32])"
    assert len(relay.unique(t(5), return_counts=True)) == 5
    assert (
        refused(relay.unique(t(5, 2))).message
        == "`unique`: unique takes a vector, not Tensor[(5, 2), float32]"
    )


# Creation


def test_filled_tensors() -> None:
    assert typed(create.zeros((2, 3), "int8")) == "Tensor[(2, 3), int8]"
    assert typed(create.ones(3, "float32")) == "Tensor[(3), float32]"
    assert typed(create.zeros(const([2, 3]), "float32")) == "Tensor[(2, 3), float32]"
    assert typed(create.full(const(1.0), (2, 3))) == "Tensor[(2, 3), float32]"
    assert typed(create.full(const(1), (2,), "float32")) == "Tensor[(2), float32]"
    assert typed(create.full_like(t(2, Any()), const(1.0))) == "Tensor[(2, ?), float32]"
    assert typed(create.zeros_like(t(2, Any()))) == "Tensor[(2, ?), float32]"
    assert typed(create.ones_like(ints(2))) == "Tensor[(2), int32]"
    error = refused(create.full(t(3), (2,)))
    assert error.message == "`full`: fill_value must be a scalar, but its type is Tensor[(3), float32]"
    assert (
        refused(create.zeros((-1,), "float32")).message == "`zeros`: shape=[-1] must be extents of 0 or more"
    )


@settings(max_examples=100, deadline=None)
@given(st.integers(-9, 9), st.integers(-9, 9), st.sampled_from([-3, -2, -1, 1, 2, 3]))
def test_arange_is_pythons(start: int, stop: int, step: int) -> None:
    call = relay.arange(start, stop, step, "int32")
    values = range(start, stop, step)
    if not values:
        assert refused(call).message == f"`arange`: a vector from {start} to {stop} by {step} is empty"
    else:
        assert typed(call) == f"Tensor[({len(values)}), int32]"


@settings(max_examples=60, deadline=None)
@given(st.floats(-4, 4, width=32), st.floats(0.125, 8, width=32), st.floats(0.125, 2, width=32))
def test_arange_of_fractions_is_torchs(start: float, length: float, step: float) -> None:
    stop = float(torch.tensor(start + length, dtype=torch.float32))
    expected = torch.arange(start, stop, step, dtype=torch.float64)
    if len(expected):
        assert typed(relay.arange(start, stop, step)) == shown(expected)


def test_arange_of_one_bound_and_of_computed_bounds() -> None:
    assert typed(relay.arange(5)) == "Tensor[(5), float32]"
    assert typed(relay.arange(const(5, "int32"), dtype="int32")) == "Tensor[(5), int32]"
    assert typed(relay.arange(ints(), dtype="int32")) == "Tensor[(?), int32]"
    assert refused(relay.arange(0, 5, 0)).message == "`arange`: a vector from 0.0 to 5.0 by 0.0 is infinite"


def test_one_hot() -> None:
    on, off = const(1.0), const(0.0)
    assert typed(relay.one_hot(ints(2, 3), on, off, 5, -1, "float32")) == "Tensor[(2, 3, 5), float32]"
    assert typed(relay.one_hot(ints(2, 3), on, off, 5, 0, "float32")) == "Tensor[(5, 2, 3), float32]"
    assert typed(relay.one_hot(ints(2, 3), on, off, 5, 1, "float32")) == "Tensor[(2, 5, 3), float32]"
    assert typed(relay.one_hot(ints(2), const(1), off, 5, -1, "float32")) == "Tensor[(2, 5), float32]"
    error = refused(relay.one_hot(ints(2), t(2), off, 5, -1, "float32"))
    assert error.message == ("`one_hot`: on_value must be a scalar, but its type is Tensor[(2), float32]")
    error = refused(relay.one_hot(ints(2), on, off, 0, -1, "float32"))
    assert error.message == "`one_hot`: depth is 0, but the new axis needs an extent of at least 1"


# Images


def test_resize_is_torchs() -> None:
    expected = torch.nn.functional.interpolate(torch.empty(2, 3, 8, 9), (4, 18))
    assert typed(image.resize2d(t(2, 3, 8, 9), (4, 18))) == shown(expected)
    assert typed(image.resize2d(t(2, 8, 9, 3), (4, 18), layout="NHWC")) == "Tensor[(2, 4, 18, 3), float32]"
    assert (
        typed(image.resize2d(t(2, 1, 8, 9, 4), (4, 18), layout="NCHW4c"))
        == "Tensor[(2, 1, 4, 18, 4), float32]"
    )
    assert typed(image.resize1d(t(2, 3, 8), 5, out_dtype="float16")) == "Tensor[(2, 3, 5), float16]"
    assert typed(image.resize3d(t(2, 3, 4, 5, 6), (8, 9, 7))) == "Tensor[(2, 3, 8, 9, 7), float32]"


def test_resize_says_what_does_not_fit() -> None:
    assert refused(image.resize2d(t(2, 3, 8, 9), (4,))).message == (
        "`image.resize2d`: size=[4] must be 2 positive numbers"
    )
    assert refused(image.resize2d(t(2, 3, 8, 9), (4, 4), method="best")).message == (
        '`image.resize2d`: method is "best", but it is one of nearest_neighbor, linear, cubic'
    )
    assert "has 3 axes" in refused(image.resize2d(t(3, 8, 9), (4, 4))).message


def test_crop_and_resize() -> None:
    call = image.crop_and_resize(t(2, 8, 9, 3), t(6, 4, name="boxes"), ints(6), (5, 5), "NHWC")
    assert typed(call) == "Tensor[(6, 5, 5, 3), float32]"
    error = refused(image.crop_and_resize(t(2, 3, 8, 9), t(6, 4, name="boxes"), ints(5), (5, 5), "NCHW"))
    assert error.message == "`image.crop_and_resize`: there are 6 boxes, but box_indices has the shape (5)"


def test_sampling_is_torchs() -> None:
    grid = torch.nn.functional.affine_grid(torch.empty(2, 2, 3), [2, 1, 5, 6], align_corners=True)
    assert typed(image.affine_grid(t(2, 2, 3), (5, 6))) == shown(grid.permute(0, 3, 1, 2))
    expected = torch.nn.functional.grid_sample(torch.empty(2, 3, 8, 9), grid, align_corners=True)
    assert typed(image.grid_sample(t(2, 3, 8, 9), t(2, 2, 5, 6, name="g"))) == shown(expected)
    deep = image.grid_sample(t(2, 3, 4, 8, 9), t(2, 3, 5, 6, 7, name="g"), layout="NCDHW")
    assert typed(deep) == "Tensor[(2, 3, 5, 6, 7), float32]"
    error = refused(image.grid_sample(t(2, 3, 8, 9), t(2, 5, 6, 2, name="g")))
    assert error.message == (
        "`image.grid_sample`: grid has the shape (2, 5, 6, 2), "
        "but data (2, 3, 8, 9) is sampled by one of (2, 2, rows, columns)"
    )
