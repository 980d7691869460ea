"""What operators with indices compute, against PyTorch or the definition, element by element."""

from __future__ import annotations

import builtins

import numpy as np
import pytest
import torch

from relay_explorer import relay
from relay_explorer.execute import ExecutionError
from relay_explorer.ops import index, slice
from tests.ops.meanings import close, evaluate, numbers, rng


@pytest.mark.parametrize("mode", ["clip", "wrap", "fast"])
def test_take(mode: str) -> None:
    random = rng(mode)
    x, low, high = numbers(random, (4, 5, 6)), *((0, 4) if mode == "fast" else (-7, 12))
    indices = random.integers(low, high, (2, 3)).astype("int32")
    for axis, extent in ((0, 4), (1, 5), (-1, 6)):
        places = np.clip(indices, 0, extent - 1) if mode == "clip" else indices % extent
        wanted = torch.tensor(x).index_select(axis, torch.tensor(places.ravel()))
        at = axis % 3
        close(
            evaluate(index.take, x, indices, axis=axis, mode=mode),
            wanted.reshape(*x.shape[:at], 2, 3, *x.shape[at + 1 :]),
        )
    places = np.clip(indices, 0, 119) if mode == "clip" else indices % 120
    close(
        evaluate(lambda v, i: index.take(v, i, mode=mode), x, indices),
        torch.take(torch.tensor(x), torch.tensor(places).long()),
    )


def test_take_in_batches() -> None:
    random = rng("batches")
    x, indices = numbers(random, (2, 3, 5, 4)), random.integers(0, 5, (2, 3, 6))
    wanted = torch.gather(torch.tensor(x), 2, torch.tensor(indices)[..., None].expand(2, 3, 6, 4))
    close(evaluate(lambda v, i: index.take(v, i, 2, 2), x, indices), wanted)
    one = np.stack([x[n].take(indices[n], 1) for n in range(2)])
    close(evaluate(lambda v, i: index.take(v, i, 2, 1), x, indices), one)
    close(evaluate(lambda v, i: index.take(v, i, 2, -2), x, indices), one)


def test_an_index_that_must_not_occur() -> None:
    with pytest.raises(
        ExecutionError, match="`take` failed: index 9 is out of bounds for axis 0 with size 3"
    ):
        evaluate(lambda v, i: index.take(v, i, 0, mode="fast"), np.ones(3, "float32"), np.array([9]))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_gather_and_scatter(axis: int) -> None:
    random = rng(axis)
    x = numbers(random, (4, 5, 6))
    extents = [*x.shape]
    extents[axis] = 3
    places = np.stack([random.permutation(x.shape[axis])[:3] for _ in range(np.prod(extents) // 3)], -1)
    indices = np.moveaxis(places.reshape(3, *np.delete(extents, axis)), 0, axis)
    close(
        evaluate(lambda v, i: relay.gather(v, axis, i), x, indices),
        torch.gather(torch.tensor(x), axis, torch.tensor(indices)),
    )
    updates = numbers(random, tuple(extents))
    wanted = torch.scatter(torch.tensor(x), axis, torch.tensor(indices), torch.tensor(updates))
    close(evaluate(lambda v, i, u: relay.scatter_elements(v, i, u, axis), x, indices, updates), wanted)


@pytest.mark.parametrize("dtype", ["float32", "int32"])
@pytest.mark.parametrize(
    ("how", "named"), [("add", "sum"), ("mul", "prod"), ("min", "amin"), ("max", "amax")]
)
def test_scatter_where_indices_meet(how: str, named: str, dtype: str) -> None:
    random = rng(how, dtype)
    x, updates = numbers(random, (4, 3), dtype), numbers(random, (6, 3), dtype)
    indices = random.integers(0, 4, (6, 3))
    wanted = torch.tensor(x).scatter_reduce(0, torch.tensor(indices), torch.tensor(updates), named)
    close(evaluate(lambda v, i, u: relay.scatter_elements(v, i, u, 0, how), x, indices, updates), wanted)
    flat = np.stack([indices.ravel(), np.tile(np.arange(3), 6)])
    close(evaluate(lambda v, i, u: relay.scatter_nd(v, i, u, how), x, flat, updates.ravel()), wanted)


def test_scatter_mean_is_taken_one_update_after_the_other() -> None:
    x, i, u = np.array([4.0, 8.0]), np.array([0, 0, 1]), np.array([2.0, 7.0, 0.0])
    close(
        evaluate(lambda data, at, new: relay.scatter_elements(data, at, new, 0, "mean"), x, i, u), [5.0, 4.0]
    )
    found = evaluate(
        lambda data, at, new: relay.scatter_elements(data, at, new, 0, "mean"),
        *(a.astype("int32") for a in (-x, i, -u)),
    )
    close(found, [-5, -4])


def test_slices_are_gathered_and_scattered() -> None:
    random = rng("nd")
    x = numbers(random, (4, 5, 6))
    indices = np.stack([random.permutation(4)[:3], random.integers(0, 5, 3)])
    wanted = torch.tensor(x)[torch.tensor(indices[0]), torch.tensor(indices[1])]
    close(evaluate(relay.gather_nd, x, indices), wanted)
    updates = numbers(random, (3, 6))
    put = torch.tensor(x).index_put(tuple(map(torch.tensor, indices)), torch.tensor(updates))
    close(evaluate(relay.scatter_nd, x, indices, updates), put)


def test_gather_nd_in_batches() -> None:
    random = rng("nd batches")
    x = numbers(random, (2, 3, 4, 5, 6))
    indices = np.stack([random.integers(0, 4, (2, 3, 7)), random.integers(0, 5, (2, 3, 7))])
    found = evaluate(lambda v, i: relay.gather_nd(v, i, 2), x, indices)
    for a, b, n in np.ndindex(2, 3, 7):
        close(found[a, b, n], x[a, b, indices[0, a, b, n], indices[1, a, b, n]])
    rows = np.stack([indices[0, :, 0] % 3, indices[1, :, 0] % 4])
    found = evaluate(lambda v, i: relay.gather_nd(v, i, 1), x, rows)
    for a, n in np.ndindex(2, 7):
        close(found[a, n], x[a, rows[0, a, n], rows[1, a, n]])
    assert found.shape == (2, 7, 5, 6)


def test_adv_index() -> None:
    random = rng("adv")
    x, i, j = numbers(random, (4, 5, 6)), random.integers(0, 4, (3, 1)), random.integers(0, 5, (2,))
    wanted = torch.tensor(x)[torch.tensor(i), torch.tensor(j)]
    close(evaluate(lambda *a: index.adv_index(a), x, i, j), wanted)


def test_argwhere_and_unravel_index_undo_each_other() -> None:
    x = numbers(rng("where"), (3, 4, 2), "bool")
    rows = evaluate(index.argwhere, x)
    close(rows, torch.argwhere(torch.tensor(x)))
    flat = np.flatnonzero(x).astype("int32")
    close(evaluate(index.unravel_index, flat, np.array([3, 4, 2], "int32")), rows.T)
    close(evaluate(index.unravel_index, np.array(7), np.array([3, 4])), [1, 3])


@pytest.mark.parametrize(
    ("begin", "end", "strides", "python"),
    [
        ([1], [3], None, np.s_[1:3]),
        ([0, -3], [4, -1], [2, 1], np.s_[0:4:2, -3:-1]),
        ([3, 4, 5], [0, -6, 1], [-1, -2, -3], np.s_[3:0:-1, 4:-6:-2, 5:1:-3]),
        ([-100], [100], [3], np.s_[::3]),
        ([2, 1], [2, 4], [1, 1], np.s_[2:2, 1:4]),
    ],
)
def test_strided_slice(
    begin: list[int], end: list[int], strides: list[int] | None, python: tuple[builtins.slice, ...]
) -> None:
    x = numbers(rng(begin, end), (4, 5, 6))
    close(evaluate(lambda v: slice.strided_slice(v, begin, end, strides), x), x[python])
    bounds = [np.array(b) for b in (begin, end, strides or [1] * len(begin))]
    close(evaluate(slice.strided_slice, x, *bounds), x[python])
    new = numbers(rng(begin), x[python].shape)
    wanted = x.copy()
    wanted[python] = new
    close(evaluate(lambda v, u: relay.strided_set(v, u, begin, end, strides), x, new), wanted)


def test_slices_by_axes_and_by_size() -> None:
    x = numbers(rng("size"), (4, 5, 6))
    close(
        evaluate(lambda v: slice.strided_slice(v, [1, 0], [3, -1], [1, 2], axes=[-1, 0]), x), x[0:3:2, :, 1:3]
    )
    close(evaluate(lambda v: slice.strided_slice(v, [1, 2], [2, -1], slice_mode="size"), x), x[1:3, 2:])
    like = np.ones((2, 9, 3), "float32")
    close(evaluate(lambda v, s: slice.slice_like(v, s, (0, -1)), x, like), x[:2, :, :3])
    close(evaluate(slice.slice_like, x, like[:, :4]), x[:2, :4, :3])
    close(evaluate(slice.slice_like, x[:, 0, 0], like[..., 0], axes=(-1,)), x[:2, 0, 0])


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_one_hot(axis: int) -> None:
    indices = rng(axis).integers(0, 4, (2, 3))
    wanted = np.moveaxis(torch.nn.functional.one_hot(torch.tensor(indices), 4).numpy(), -1, axis)
    values = np.array(5.0), np.array(-1.0)
    found = evaluate(lambda i, on, off: relay.one_hot(i, on, off, 4, axis, "float32"), indices, *values)
    close(found, wanted * 6.0 - 1)
    depth = np.array(4, "int32")
    found = evaluate(
        lambda i, on, off, d: relay.one_hot(i, on, off, d, axis, "int8"), indices, *values, depth
    )
    close(found, wanted * 6 - 1)
