"""Sparse tensors and matrices, against PyTorch and the definitions."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from relay_explorer import relay
from relay_explorer.execute import ExecutionError
from relay_explorer.ir.expr import Expr, Var, const
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any
from relay_explorer.relay import nn
from tests.ops.meanings import Array, close, evaluate, numbers, rng, shape
from tests.ops.tensor_programs import ints, refused, t, typed


def elements(random: np.random.Generator, extents: tuple[int, ...]) -> Array:
    """The coordinates of some elements of a tensor, each at most once, in any order."""
    everywhere = np.argwhere(np.ones(extents, bool))
    some = int(random.integers(1, len(everywhere) + 1))
    return np.asarray(random.permutation(everywhere)[:some])


@pytest.mark.parametrize("seed", range(8))
def test_sparse_to_dense(seed: int) -> None:
    random = rng("dense", seed)
    extents, dtype = shape(random, 1 + seed % 3), ["float32", "int64"][seed % 2]
    where = elements(random, extents).astype(["int32", "int64"][seed % 2])
    values = numbers(random, (len(where),), dtype)
    coo = torch.sparse_coo_tensor(torch.tensor(where.T), torch.tensor(values), extents, check_invariants=True)
    wanted = coo.to_dense().numpy()
    close(evaluate(lambda i, v: relay.sparse_to_dense(i, extents, v), where, values), wanted)
    filled = np.full(extents, 7, dtype)
    filled[tuple(where.T)] = values
    seven = const(7, dtype)
    close(evaluate(lambda i, v: relay.sparse_to_dense(i, extents, v, seven), where, values), filled)
    given = np.array(extents, "int64")
    close(evaluate(lambda i, v, s: relay.sparse_to_dense(i, s, v, seven), where, values, given), filled)


def test_one_value_and_one_coordinate_need_no_axes() -> None:
    one = evaluate(lambda i, v: relay.sparse_to_dense(i, [4], v, 2), np.array(1), np.array(5.0))
    close(one, np.array([2, 5, 2, 2.0]))
    row = evaluate(lambda i, v: relay.sparse_to_dense(i, [4], v), np.array([3, 0]), np.array(5))
    close(row, np.array([5, 0, 0, 5]))


def test_an_element_outside_is_an_error() -> None:
    with pytest.raises(
        ExecutionError, match=r"the element at \[1, 4\] is outside a tensor of shape \[2, 4\]"
    ):
        evaluate(lambda i, v: relay.sparse_to_dense(i, [2, 4], v), np.array([[0, 0], [1, 4]]), np.ones(2))


@pytest.mark.parametrize(
    ("old", "new"),
    [((2, 3, 4), (6, -1)), ((12,), (3, 2, 2)), ((4, 6), (-1,)), ((2, 3), (2, 3)), ((5,), (1, 5, -1))],
)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_sparse_reshape(old: tuple[int, ...], new: tuple[int, ...], dtype: str) -> None:
    random = rng(old, new, dtype)
    where = elements(random, old).astype(dtype)
    found, became = evaluate(relay.sparse_reshape, where, np.array(old, dtype), np.array(new, dtype))
    dense = np.zeros(old)
    dense[tuple(where.T)] = np.arange(1, len(where) + 1)
    moved = dense.reshape(new)
    assert tuple(became) == moved.shape
    close(moved[tuple(found.T)], np.arange(1, len(where) + 1))


def test_sparse_reshape_of_nothing_and_into_what_does_not_fit() -> None:
    found, became = evaluate(
        relay.sparse_reshape, np.zeros((0, 2), "int32"), np.array([3, 4]), np.array([-1, 2])
    )
    assert found.shape == (0, 2)
    assert became.tolist() == [6, 2]
    for new, message in (
        ([5, -1], "does not divide"),
        ([-1, -1], "more than one -1"),
        ([5], "a different number"),
    ):
        with pytest.raises(ExecutionError, match=message):
            evaluate(relay.sparse_reshape, np.array([[0, 1]]), np.array([3, 4]), np.array(new))


@pytest.mark.parametrize("seed", range(6))
def test_empty_rows_are_filled(seed: int) -> None:
    random = rng("rows", seed)
    extents = (6, 3) if seed % 2 else (6, 2, 2)
    where = elements(random, extents)[:4].astype("int64")
    values = numbers(random, (len(where),))
    rows, filled, empty = evaluate(
        lambda i, v: relay.sparse_fill_empty_rows(i, v, extents, const(9.0)), where, values
    )
    wanted_rows, wanted_values = [], []
    for row in range(extents[0]):
        here = np.flatnonzero(where[:, 0] == row)
        assert empty[row] == (len(here) == 0)
        wanted_rows += [where[n] for n in here] or [np.array([row] + [0] * (len(extents) - 1))]
        wanted_values += [values[n] for n in here] or [9.0]
    close(rows, np.array(wanted_rows))
    again = evaluate(
        lambda i, v, d: relay.sparse_fill_empty_rows(i, v, extents, d),
        where,
        values,
        np.array([9], "float32"),
    )
    close(again[1], filled)
    close(filled, np.array(wanted_values, "float32"))


@pytest.mark.parametrize("segments", [None, 7])
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_segment_sum(segments: int | None, dtype: str) -> None:
    random = rng(segments, dtype)
    for extents in ((6,), (6, 2), (6, 2, 3)):
        x, ids = numbers(random, extents, dtype), random.integers(0, 5, 6).astype("int32")
        wanted = torch.zeros(segments or int(ids.max()) + 1, *extents[1:], dtype=torch.tensor(x).dtype)
        wanted.index_add_(0, torch.tensor(ids), torch.tensor(x))
        close(evaluate(lambda a, b: relay.segment_sum(a, b, segments), x, ids), wanted)


def test_slices_without_a_segment_are_left_out() -> None:
    found = evaluate(relay.segment_sum, np.array([[1.0], [2.0], [4.0]]), np.array([1, 1]))
    assert found.tolist() == [[0.0], [3.0]]
    assert typed(relay.segment_sum(t(Any(), 3), ints(Any()))) == "Tensor[(?, ?), float32]"


# Matrices


def parts(matrix: Array, block: tuple[int, int] | None) -> list[Array]:
    """The values, columns and row starts of a matrix, of blocks where their size is given."""
    dense = torch.tensor(matrix)
    packed = dense.to_sparse_csr() if block is None else dense.to_sparse_bsr(block)
    return [
        packed.values().numpy(), packed.col_indices().int().numpy(), packed.crow_indices().int().numpy()
    ]  # fmt: skip


def thinned(random: np.random.Generator, extents: tuple[int, int], dtype: str = "float32") -> Array:
    return numbers(random, extents, dtype) * (random.random(extents) < 0.3)


@pytest.mark.filterwarnings("ignore:Sparse .* tensor support is in beta")
@pytest.mark.parametrize("block", [None, (1, 1), (2, 3)])
@pytest.mark.parametrize("left", [False, True])
def test_sparse_dense(left: bool, block: tuple[int, int] | None) -> None:
    random = rng(left, block)
    x, w = numbers(random, (5, 6)), thinned(random, (4, 6)).astype("float32")
    found = evaluate(lambda a, *s: nn.sparse_dense(a, s, left), x, *parts(w, block))
    close(found, w @ x.T if left else x @ w.T, 1e-5)


@pytest.mark.filterwarnings("ignore:Sparse .* tensor support is in beta")
def test_sparse_sum_and_transpose() -> None:
    random = rng("sum")
    x, s = numbers(random, (4, 4)), thinned(random, (4, 4)).astype("float32")
    close(evaluate(lambda a, *p: nn.sparse_add(a, p), x, *parts(s, None)), x + s)
    for found, wanted in zip(
        evaluate(lambda *p: nn.sparse_transpose(p), *parts(s, None)), parts(s.T.copy(), None), strict=True
    ):
        close(found, wanted)


class Matrix:
    """A sparse matrix as SciPy holds it."""

    def __init__(self) -> None:
        self.data, self.indices, self.indptr = np.ones(1, "float32"), np.array([1]), np.array([0, 0, 1])


def test_a_matrix_of_arrays_is_taken_as_it_is() -> None:
    found = evaluate(lambda x: nn.sparse_add(x, Matrix()), np.zeros((2, 2), "float32"))
    assert found.tolist() == [[0, 0], [0, 1]]
    with pytest.raises(ValueError, match="a sparse matrix is its data, indices and indptr, not 2 arrays"):
        nn.sparse_add(t(2, 2), [t(1), ints(1)])


def csr(values: Var, indices: Var, indptr: Var) -> list[Var]:
    return [values, indices, indptr]


I3, P3 = ints(3, name="columns"), ints(3, name="starts")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            relay.sparse_to_dense(ints(2, 3), [4, 5], t(2, name="v")),
            "each element has 3 coordinates, but the result (4, 5) has 2 axes",
        ),
        (
            relay.sparse_to_dense(ints(2, 2), [4, 5], t(3, name="v")),
            "there are 2 elements, but sparse_values has the shape (3)",
        ),
        (
            relay.sparse_to_dense(ints(2, 2, 2), [4, 5], t(2, name="v")),
            "sparse_indices has 3 axes, but it is a row of coordinates for each element",
        ),
        (
            relay.sparse_to_dense(ints(2, 3), ints(2, name="s"), t(2, name="v")),
            "each element has 3 coordinates, but output_shape has 2 extents",
        ),
        (
            relay.sparse_reshape(ints(2, 3), [4, 5], [20]),
            "each element has 3 coordinates, but prev_shape has 2 axes",
        ),
        (
            relay.sparse_fill_empty_rows(ints(2, 2), t(3, name="v"), [4, 5], const(0.0)),
            "sparse_indices (2, 2) must have a row for each of the 3 values and a column for each of the 2 "
            "axes",
        ),
        (
            relay.sparse_fill_empty_rows(ints(2, 2), t(2, name="v"), [4, 5], t(2, name="d")),
            "default_value must be a scalar, not Tensor[(2), float32]",
        ),
        (
            nn.sparse_dense(t(2, 4), csr(t(2, name="v"), I3, P3)),
            "there are 2 values, but sparse_indices has the shape (3)",
        ),
        (
            nn.sparse_dense(t(2, 4), csr(t(3, 2, 3, name="v"), I3, P3)),
            "blocks of 3 columns do not divide the 4 of the dense matrix",
        ),
        (
            nn.sparse_dense(t(2, 4), csr(t(3, 2, 0, name="v"), I3, P3)),
            "the blocks are empty: their shape is (2, 0)",
        ),
        (
            relay.sparse_to_dense(ints(1, 0), [], t(1, name="v")),
            "output_shape=[] must be the extents of the result, at least one",
        ),
        (
            nn.sparse_dense(t(4), csr(t(3, name="v"), I3, P3)),
            "a matrix is multiplied with a sparse one, whose values are a vector, or blocks with 3 axes, not "
            "Tensor[(4), float32] with Tensor[(3), float32]",
        ),
        (
            nn.sparse_add(t(4, 4), csr(t(3, name="v"), I3, P3)),
            "the sparse matrix has 2 rows, but the dense one 4",
        ),
        (
            nn.sparse_add(t(2, 4), csr(t(3, dtype="int8", name="v"), I3, P3)),
            "the element types differ: float32 and int8",
        ),
        (
            nn.sparse_transpose(csr(t(3, 1, 1, name="v"), I3, P3)),
            "sparse_data must be a vector of values, not Tensor[(3, 1, 1), float32]",
        ),
    ],
)
def test_what_does_not_fit_is_said(call: Expr | TupleWrapper, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message


def test_arrays_that_contradict_each_other_are_noticed() -> None:
    x, values = np.zeros((2, 4), "float32"), np.ones(2, "float32")
    for columns, starts, message in (
        ([0, 4], [0, 1, 2], "sparse_indices must lie from 0 to 3, the columns that there are"),
        ([0, 1], [0, 2, 1], "sparse_indptr must rise from 0 to 2, the number of values"),
        ([0, 1], [0, 1, 1], "sparse_indptr must rise from 0 to 2, the number of values"),
    ):
        with pytest.raises(ExecutionError, match=message):
            evaluate(lambda a, *p: nn.sparse_dense(a, p), x, values, np.array(columns), np.array(starts))
