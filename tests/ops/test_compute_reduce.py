"""What reductions, scans and sorting compute, against NumPy and PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any as Anything

import numpy as np
import pytest
import torch

from relay_explorer import relay
from relay_explorer.execute import ExecutionError
from relay_explorer.ops import contract, scan, sort
from relay_explorer.ops import namespaces as reduce
from tests.ops.meanings import Array, close, evaluate, numbers, rng

REDUCTIONS: dict[str, Callable[..., Anything]] = {
    "sum": np.add.reduce, "prod": np.multiply.reduce, "max": np.maximum.reduce, "min": np.minimum.reduce,
    "all": np.logical_and.reduce, "any": np.logical_or.reduce,
}  # fmt: skip
AXES = [axes for count in range(1, 4) for axes in combinations(range(3), count)]


@pytest.mark.parametrize("keepdims", [False, True])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions_over_all_choices_of_axes(name: str, keepdims: bool) -> None:
    x = numbers(rng(name), (2, 3, 4), "bool" if name in ("all", "any") else "float32")
    build = getattr(reduce, name)
    for axes in AXES:
        rest = tuple(sorted({0, 1, 2} - set(axes)))
        wanted = REDUCTIONS[name](x, axis=axes, keepdims=keepdims)
        close(evaluate(build, x, axis=[a - 3 for a in axes], keepdims=keepdims), wanted)
        if rest:
            close(evaluate(build, x, axis=rest, keepdims=keepdims, exclude=True), wanted)
    close(
        evaluate(lambda v: build(v, None, keepdims), x),
        REDUCTIONS[name](x, axis=(0, 1, 2), keepdims=keepdims),
    )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float16", "float64"])
def test_sums_stay_in_their_element_type(dtype: str) -> None:
    x = numbers(rng(dtype), (3, 50), dtype)
    wanted = np.array([sum(row.astype("float64" if dtype[0] == "f" else object)) for row in x])
    held = wanted if dtype[0] == "f" else np.array([int(v) & 0xFFFFFFFFFFFFFFFF for v in wanted], "uint64")
    close(evaluate(lambda v: reduce.sum(v, 1), x), held.astype(dtype), 2e-2 if dtype == "float16" else None)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_mean_variance_and_deviation(dtype: str) -> None:
    x = numbers(rng(dtype), (4, 5, 6), dtype)
    reference = torch.tensor(x, dtype=torch.float64)
    digits = {"float16": 2e-2, "float32": 1e-5, "float64": 1e-11}[dtype]
    for unbiased in (False, True):
        spread, middle = torch.var_mean(reference, (0, 2), correction=int(unbiased))
        found = evaluate(reduce.mean_variance, x, axis=[0, 2], unbiased=unbiased)
        close(found[0], middle, digits)
        close(found[1], spread, digits)
        close(evaluate(reduce.std, x, axis=[0, 2], unbiased=unbiased), spread.sqrt(), digits)
    close(evaluate(lambda v: reduce.logsumexp(v, 1), x), torch.logsumexp(reference, 1), digits)


def test_the_mean_of_integers_drops_the_fraction() -> None:
    x = np.array([[-3, 0, -4], [3, 0, 4]], "int32")
    close(evaluate(lambda v: reduce.mean(v, 1), x), [-2, 2])
    close(evaluate(lambda v: reduce.mean(v), np.array([[1, 2]], "uint8")), 1)


def test_a_count_that_the_element_type_does_not_hold() -> None:
    """The sum wraps around as that of int8 does: 400 is -112, and -112 over 400 has no whole part."""
    close(evaluate(reduce.mean, np.ones(400, "int8")), np.array(0))
    close(evaluate(reduce.mean, np.ones((300, 2), "uint8"), axis=0), [0, 0])
    with pytest.raises(ExecutionError, match="`mean` failed: an integer is divided by zero"):
        evaluate(reduce.mean, np.ones((2, 0), "int32"), axis=1)


@pytest.mark.parametrize("name", ["argmax", "argmin"])
def test_positions(name: str) -> None:
    x = numbers(rng(name), (3, 4, 5))
    build, reference = getattr(reduce, name), getattr(torch, name)
    for axis in range(3):
        close(evaluate(build, x, axis=axis), reference(torch.tensor(x), axis))
        close(
            evaluate(build, x, axis=axis - 3, keepdims=True), reference(torch.tensor(x), axis, keepdim=True)
        )
    close(evaluate(build, x), reference(torch.tensor(x)))
    pairs = reference(torch.tensor(x).permute(1, 0, 2).reshape(4, 15), 1)
    close(evaluate(lambda v: build(v, [0, 2]), x), pairs)
    close(evaluate(lambda v: build(v, 1, exclude=True), x), pairs)


def test_the_first_of_equal_elements_is_found_unless_the_last_is_asked_for() -> None:
    x = np.array([[1, 3, 3, 0], [2, 2, 2, 2]], "int32")
    close(evaluate(lambda v: reduce.argmax(v, 1), x), [1, 0])
    close(evaluate(lambda v: reduce.argmax(v, 1, select_last_index=True), x), [2, 3])
    close(evaluate(lambda v: reduce.argmin(v, 1, select_last_index=True), x), [3, 3])


def test_the_greatest_of_nothing_is_an_error() -> None:
    with pytest.raises(ExecutionError, match="`max` failed: zero-size array"):
        evaluate(lambda v: reduce.max(v, 1), np.ones((2, 0), "float32"))
    close(evaluate(lambda v: reduce.sum(v, 1), np.ones((2, 0), "float32")), [0, 0])


@pytest.mark.parametrize("dtype", ["float32", "int8", "int64"])
def test_running_sums_and_products(dtype: str) -> None:
    x = numbers(rng(dtype), (3, 4), dtype)
    kind = getattr(torch, dtype)
    for axis in (0, 1, -1):
        close(evaluate(scan.cumsum, x, axis=axis), torch.cumsum(torch.tensor(x), axis, dtype=kind))
        close(evaluate(scan.cumprod, x, axis=axis), torch.cumprod(torch.tensor(x), axis, dtype=kind))
    close(evaluate(scan.cumsum, x), torch.cumsum(torch.tensor(x).flatten(), 0, dtype=kind))


def test_exclusive_scans_leave_out_their_own_element() -> None:
    x = np.array([[1, 2, 3], [4, 5, 6]], "int32")
    close(evaluate(lambda v: scan.cumsum(v, 1, exclusive=True), x), [[0, 1, 3], [0, 4, 9]])
    close(evaluate(lambda v: scan.cumprod(v, 0, exclusive=True), x), [[1, 1, 1], [1, 2, 3]])
    close(evaluate(lambda v: scan.cumsum(v, None, "float64", True), x), [0.0, 1, 3, 6, 10, 15])
    close(evaluate(lambda v: scan.cumsum(v, 0, exclusive=True), np.ones((0,), "int32")), np.ones((0,)))


@pytest.mark.parametrize("ascending", [True, False])
@pytest.mark.parametrize("dtype", ["float32", "int8", "uint8", "bool"])
def test_sorting(dtype: str, ascending: bool) -> None:
    x = numbers(rng(dtype, ascending), (3, 8, 2), dtype)
    for axis in (0, 1, -1):
        values, places = torch.sort(torch.tensor(x), dim=axis, descending=not ascending, stable=True)
        close(evaluate(sort.sort, x, axis=axis, is_ascend=ascending), values)
        close(evaluate(sort.argsort, x, axis=axis, is_ascend=ascending, dtype="int64"), places)
    close(evaluate(lambda v: sort.argsort(v), x), torch.sort(torch.tensor(x), stable=True)[1])


@pytest.mark.parametrize("ascending", [True, False])
def test_topk(ascending: bool) -> None:
    x = numbers(rng(ascending), (4, 6))
    for axis, k in ((0, 1), (1, 3), (-1, 6)):
        options = {"k": k, "axis": axis, "is_ascend": ascending}
        values, places = torch.topk(torch.tensor(x), k, axis, largest=not ascending)
        found = evaluate(sort.topk, x, **options, dtype="int64")
        close(found[0], values)
        close(found[1], places)
        close(evaluate(sort.topk, x, **options, ret_type="values"), values)
        close(evaluate(sort.topk, x, **options, ret_type="indices"), places)
    close(
        evaluate(lambda v: sort.topk(v, 0, 1, "values", ascending), x),
        torch.topk(torch.tensor(x), 6, 1, not ascending)[0],
    )
    given = evaluate(lambda v, k: sort.topk(v, k, 1, "values", ascending), x, np.array(2))
    close(given, torch.topk(torch.tensor(x), 2, 1, not ascending)[0])


def test_more_are_asked_for_than_there_are() -> None:
    with pytest.raises(
        ExecutionError, match=r"`dyn\.topk` failed: the first 5 are requested, but the axis has 3"
    ):
        evaluate(lambda v, k: sort.topk(v, k), np.ones(3, "float32"), np.array(5))


@pytest.mark.parametrize("right", [False, True])
def test_searchsorted(right: bool) -> None:
    random = rng(right)
    row, values = np.sort(random.integers(0, 9, 7)), random.integers(-1, 11, (2, 5))
    rows = np.sort(random.integers(0, 9, (2, 3, 7)), -1)
    wanted = torch.searchsorted(torch.tensor(row), torch.tensor(values), right=right)
    close(evaluate(lambda s, v: sort.searchsorted(s, v, right), row, values), wanted)
    asked = random.integers(-1, 11, (2, 3, 4))
    wanted = torch.searchsorted(torch.tensor(rows), torch.tensor(asked), right=right)
    close(evaluate(lambda s, v: sort.searchsorted(s, v, right, "int64"), rows, asked), wanted)


def test_unique_is_filled_up_with_zeros() -> None:
    x = np.array([5, 2, 5, 7, 2, 5], "int32")
    values, first, inverse, count, counts = evaluate(lambda v: relay.unique(v, True, True), x)
    close(values, [2, 5, 7, 0, 0, 0])
    close(first, [1, 0, 3, 0, 0, 0])
    close(inverse, [1, 0, 1, 2, 0, 1])
    close(count, [3])
    close(counts, [2, 3, 1, 0, 0, 0])
    values, first, inverse, count = evaluate(lambda v: relay.unique(v, False), x)
    close(values, [5, 2, 7, 0, 0, 0])
    close(first, [0, 1, 3, 0, 0, 0])
    close(inverse, [0, 1, 0, 2, 1, 0])


def test_unique_agrees_with_torch() -> None:
    x: Array = rng("unique").integers(-4, 5, 40)
    values, _, inverse, count, counts = evaluate(lambda v: relay.unique(v, True, True), x)
    wanted = torch.unique(torch.tensor(x), return_inverse=True, return_counts=True)
    close(values[: count[0]], wanted[0])
    close(inverse, wanted[1])
    close(counts[: count[0]], wanted[2])


@pytest.mark.parametrize("axis", [0, 1])
def test_sequence_mask(axis: int) -> None:
    x = numbers(rng(axis), (4, 3, 2))
    lengths = np.array([2, 0, 4] if axis == 0 else [3, 0, 1, 2], "int32")
    wanted = x.copy()
    for number, length in enumerate(lengths):
        if axis == 0:
            wanted[length:, number] = -1.5
        else:
            wanted[number, length:] = -1.5
    close(evaluate(lambda v, n: relay.sequence_mask(v, n, -1.5, axis), x, lengths), wanted)


def test_invert_permutation() -> None:
    x = rng("permutation").permutation(9)
    close(x[evaluate(relay.invert_permutation, x)], np.arange(9))
    with pytest.raises(ExecutionError, match="the data is not a permutation of 0 to 2"):
        evaluate(relay.invert_permutation, np.array([0, 2, 2]))


@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("k", [-2, 0, 1])
def test_trilu(k: int, upper: bool) -> None:
    x = numbers(rng(k), (2, 3, 4))
    wanted = (torch.triu if upper else torch.tril)(torch.tensor(x), k)
    close(evaluate(lambda v, d: relay.trilu(v, d, upper), x, np.array(k)), wanted)


@pytest.mark.parametrize("k", [-1, 0, 2])
def test_one_diagonal_is_set(k: int) -> None:
    x, values = numbers(rng(k), (2, 3, 4)), numbers(rng(k, 2), (2, min(3 + min(k, 0), 4 - max(k, 0))))
    wanted = torch.diagonal_scatter(torch.tensor(x), torch.tensor(values), k, 1, 2)
    close(evaluate(lambda v, d: relay.matrix_set_diag(v, d, k), x, values), wanted)


def test_several_diagonals_are_set_the_highest_first() -> None:
    """Short diagonals are aligned as asked: above the main one right, below it left, by default."""
    x = np.zeros((3, 3), "int32")
    values = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 0]], "int32")
    wanted = [[3, 1, 0], [6, 4, 2], [0, 7, 5]]
    close(evaluate(lambda v, d: relay.matrix_set_diag(v, d, (-1, 1)), x, values), wanted)
    values = np.array([[1, 2, 0], [3, 4, 5], [0, 6, 7]], "int32")
    close(evaluate(lambda v, d: relay.matrix_set_diag(v, d, (-1, 1), "LEFT_RIGHT"), x, values), wanted)


@pytest.mark.parametrize(
    "equation", ["ij,jk->ik", "ij,jk", "bij,bkj->bik", "ii->i", "ij->", "i,j->ji", "ijk->kij"]
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_einsum(equation: str, dtype: str) -> None:
    sides = {"i": 3, "j": 3, "k": 2, "b": 4}
    terms = equation.partition("->")[0].split(",")
    data = [numbers(rng(equation, term, dtype), tuple([sides[c] for c in term]), dtype) for term in terms]
    found = evaluate(lambda *v: contract.einsum(v, equation), *data)
    close(found, torch.einsum(equation, *map(torch.tensor, data)))


def test_half_precision_holds_the_mean_of_many() -> None:
    """Their sum, 160,000, is more than float16 holds."""
    x = np.full((200, 200), 4, "float16")
    x[0, 0] = 0
    assert evaluate(reduce.mean, x) == np.float16(3.9999)
    middle, spread = evaluate(reduce.mean_variance, x + np.float16(1))
    assert middle == 5
    close(spread, np.array(25 / 40000, "float16"))
