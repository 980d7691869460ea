"""What operators that make, move, join and cut tensors compute, against PyTorch and NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from relay_explorer import relay
from relay_explorer.execute import ExecutionError
from relay_explorer.ops import create, join
from relay_explorer.ops.nn import space
from tests.ops.meanings import close, evaluate, numbers, rng


@pytest.mark.parametrize("dtype", ["float16", "float64", "int8", "uint8", "int64", "bool"])
def test_tensors_of_one_value(dtype: str) -> None:
    kind = getattr(torch, dtype)
    close(evaluate(create.zeros, shape=(2, 3), dtype=dtype), torch.zeros(2, 3, dtype=kind))
    close(evaluate(create.ones, shape=(), dtype=dtype), torch.ones((), dtype=kind))
    three, x = np.array(3.0), numbers(rng(dtype), (2, 1), dtype)
    close(evaluate(create.full, three, shape=(4,), dtype=dtype), torch.full((4,), 3.0).to(kind))
    close(evaluate(create.full, three, shape=()), 3.0)
    close(evaluate(create.full_like, x, three), torch.full_like(torch.tensor(x), 3))
    close(evaluate(create.zeros_like, x), torch.zeros_like(torch.tensor(x)))
    close(evaluate(create.ones_like, x), torch.ones_like(torch.tensor(x)))


def test_tensors_of_a_shape_that_the_program_computes() -> None:
    extents, three = np.array([2, 3]), np.array(3.0)
    close(evaluate(lambda s: create.zeros(s, "int8"), extents), torch.zeros(2, 3))
    close(evaluate(lambda s: create.ones(s, "float16"), extents), torch.ones(2, 3))
    close(evaluate(create.full, three, extents), torch.full((2, 3), 3.0))
    with pytest.raises(ExecutionError, match=r"`dyn\.zeros` failed: negative dimensions are not allowed"):
        evaluate(lambda s: create.zeros(s, "int8"), -extents)


@pytest.mark.parametrize("bounds", [(0, 5, 1), (2, 11, 3), (10, -1, -2), (3, 4, 7)])
@pytest.mark.parametrize("dtype", ["int32", "int64", "float32"])
def test_arange(bounds: tuple[int, int, int], dtype: str) -> None:
    start, stop, step = bounds
    wanted = torch.arange(start, stop, step).to(getattr(torch, dtype))
    close(evaluate(relay.arange, start=start, stop=stop, step=step, dtype=dtype), wanted)
    given = [np.array(bound, dtype) for bound in bounds]
    close(evaluate(lambda first, last, by: relay.arange(first, last, by, dtype=dtype), *given), wanted)


def test_arange_by_fractions() -> None:
    found = evaluate(relay.arange, start=0.5, stop=2.0, step=0.3, dtype="float32")
    close(found, torch.arange(0.5, 2.0, 0.3))
    nothing = evaluate(lambda stop: relay.arange(stop, dtype="int32"), np.array(-2, "int32"))
    assert nothing.shape == (0,)


@pytest.mark.parametrize("to", ["float16", "float64", "int8", "uint8", "int64", "bool"])
@pytest.mark.parametrize("dtype", ["float32", "int32", "uint8", "bool"])
def test_cast(dtype: str, to: str) -> None:
    x = numbers(rng(dtype, to), (30,), dtype) * numbers(rng(to), (30,), "bool")
    x = np.abs(x) if to == "uint8" else x
    wanted = torch.tensor(x).to(getattr(torch, to))
    close(evaluate(relay.cast, x, dtype=to), wanted)
    close(evaluate(relay.cast_like, x, np.ones(2, to)), wanted)


def test_casting_drops_the_fraction() -> None:
    close(evaluate(relay.cast, np.array([-1.9, 1.9], "float32"), dtype="int32"), [-1, 1])


def test_an_element_type_that_numpy_has_not() -> None:
    with pytest.raises(ExecutionError, match="`cast` failed: NumPy has no element type float24"):
        evaluate(relay.cast, np.ones(2, "float32"), dtype="float24")


def test_a_cast_to_bfloat16_rounds_to_its_numbers() -> None:
    x = np.concatenate(
        [numbers(rng("bfloat16"), (200,)), [1.00390625, 1.01171875, 3.4e38, np.inf, np.nan, -0.0]]
    )
    x = x.astype("float32")
    wanted = torch.tensor(x).to(torch.bfloat16).to(torch.float32).numpy()
    found = evaluate(relay.cast, x, dtype="bfloat16")
    assert found.dtype == "float32"  # NumPy has no other type that holds them
    np.testing.assert_array_equal(found, wanted)


def test_reinterpret_keeps_the_bits() -> None:
    x = numbers(rng("bits"), (3, 4))
    bits = evaluate(relay.reinterpret, x, dtype="int32")
    close(bits, torch.tensor(x).view(torch.int32))
    close(evaluate(relay.reinterpret, bits, dtype="float32"), x)
    close(evaluate(relay.reinterpret, np.array(1.0, "float32"), dtype="uint32"), 0x3F800000)


def test_axes_are_moved_added_and_dropped() -> None:
    x = numbers(rng("axes"), (2, 3, 4))
    close(evaluate(relay.transpose, x), torch.tensor(x).permute(2, 1, 0))
    close(evaluate(relay.transpose, x, axes=(1, -1, 0)), torch.tensor(x).permute(1, 2, 0))
    for axis in range(-4, 4):
        close(evaluate(relay.expand_dims, x, axis=axis), torch.tensor(x).unsqueeze(axis))
    assert evaluate(relay.expand_dims, x, axis=-2, num_newaxis=3).shape == (2, 3, 1, 1, 1, 4)
    assert evaluate(relay.expand_dims, x, axis=0, num_newaxis=0).shape == (2, 3, 4)
    ones = x.reshape(1, 2, 1, 12)
    close(evaluate(relay.squeeze, ones), x.reshape(2, 12))
    close(evaluate(relay.squeeze, ones, axis=[-2]), x.reshape(1, 2, 12))
    close(evaluate(lambda v, a: relay.squeeze(v, a), ones, np.array([0, 2])), x.reshape(2, 12))
    found = evaluate(lambda v, a: relay.expand_dims(v, a, 2), x, np.array(-2))
    close(found, x.reshape(2, 3, 1, 1, 4))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_reverse(axis: int) -> None:
    x = numbers(rng(axis), (2, 3, 4))
    close(evaluate(relay.reverse, x, axis=axis), torch.flip(torch.tensor(x), [axis]))


@pytest.mark.parametrize(("seq_axis", "batch_axis"), [(1, 0), (0, 1), (-1, 1)])
def test_reverse_sequence(seq_axis: int, batch_axis: int) -> None:
    x = numbers(rng(seq_axis), (4, 3, 5))
    lengths = np.arange(x.shape[batch_axis]) % x.shape[seq_axis]
    found = evaluate(relay.reverse_sequence, x, lengths, seq_axis=seq_axis, batch_axis=batch_axis)
    for at in np.ndindex(x.shape):
        place, length = at[seq_axis], lengths[at[batch_axis]]
        source = list(at)
        source[seq_axis] = length - 1 - place if place < length else place
        assert found[at] == x[tuple(source)]


def test_reverse_sequence_clips_lengths() -> None:
    rows = np.arange(12).reshape(3, 4)
    reversed_rows = evaluate(relay.reverse_sequence, rows, np.array([-1, 0, 9]), seq_axis=1, batch_axis=0)
    assert reversed_rows.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7], [11, 10, 9, 8]]


@pytest.mark.parametrize(
    ("newshape", "shape"),
    [
        ((24,), (24,)), ((0, -1), (2, 12)), ((-1, 4, 1), (6, 4, 1)), ((-2,), (2, 3, 4)), ((-3, 4), (6, 4)),
        ((-4, 1, 2, -2), (1, 2, 3, 4)), ((0, -4, -1, 3, 0), (2, 1, 3, 4)),
    ],
)  # fmt: skip
def test_reshape(newshape: tuple[int, ...], shape: tuple[int, ...]) -> None:
    x = numbers(rng(newshape), (2, 3, 4))
    close(evaluate(relay.reshape, x, newshape=newshape), torch.tensor(x).reshape(shape))
    if min(newshape) >= -1:
        found = evaluate(relay.reshape, x, np.array(newshape))
        close(found, torch.tensor(x).reshape(shape))


def test_shapes_as_data() -> None:
    x = numbers(rng("shape"), (2, 3, 4))
    close(evaluate(relay.reverse_reshape, x, newshape=(-1, 0)), x.reshape(6, 4))
    like = np.ones((4, 6), "int8")
    close(evaluate(relay.reshape_like, x, like), x.reshape(4, 6))
    found = evaluate(relay.reshape_like, x, like.reshape(6, 4), lhs_end=2, rhs_end=1)
    close(found, x.reshape(6, 4))
    close(evaluate(relay.shape_of, x, dtype="int64"), np.array([2, 3, 4]))
    close(evaluate(relay.ndarray_size, x), np.array(24))


def test_a_shape_that_the_program_computes_and_that_does_not_fit() -> None:
    with pytest.raises(
        ExecutionError,
        match=r"`dyn\.reshape` failed: the tensor \(2, 3\) has 6 elements, but the new shape \(4\) has 4",
    ):
        evaluate(relay.reshape, np.ones((2, 3), "float32"), np.array([4]))


@pytest.mark.parametrize("dst", ["NHWC", "NCHW4c", "NCHW2n4c", "HWNC", "NHWC8c"])
def test_layouts_there_and_back(dst: str) -> None:
    x = numbers(rng(dst), (2, 8, 3, 5))
    there = evaluate(relay.layout_transform, x, src_layout="NCHW", dst_layout=dst)
    close(evaluate(relay.layout_transform, there, src_layout=dst, dst_layout="NCHW"), x)
    back = evaluate(relay.layout_transform, there, src_layout=dst, dst_layout="NCHW")
    close(back, x)
    for n, c, h, w in np.ndindex(x.shape):
        at = {
            "NHWC": (n, h, w, c), "NCHW4c": (n, c // 4, h, w, c % 4), "HWNC": (h, w, n, c),
            "NCHW2n4c": (n // 2, c // 4, h, w, n % 2, c % 4), "NHWC8c": (n, h, w, c // 8, c % 8),
        }[dst]  # fmt: skip
        assert there[at] == x[n, c, h, w]


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joining_and_splitting(axis: int) -> None:
    x, y = numbers(rng(axis), (2, 4, 6)), numbers(rng(axis, 2), (2, 4, 6))
    both = [torch.tensor(x), torch.tensor(y)]
    close(evaluate(lambda *v: join.concatenate(v, axis), x, y), torch.cat(both, axis))
    close(evaluate(lambda *v: join.stack(v, axis), x, y), torch.stack(both, axis))
    for part, wanted in zip(
        evaluate(join.split, x, indices_or_sections=2, axis=axis),
        torch.tensor_split(both[0], 2, axis),
        strict=True,
    ):
        close(part, wanted)
    parts = evaluate(join.split, x, indices_or_sections=(1,), axis=axis)
    for part, wanted in zip(parts, torch.tensor_split(both[0], [1], axis), strict=True):
        close(part, wanted)
    close(evaluate(relay.repeat, x, repeats=3, axis=axis), torch.repeat_interleave(both[0], 3, axis))


@pytest.mark.parametrize("reps", [(2,), (3, 1), (2, 1, 2), (2, 1, 1, 3)])
def test_tile(reps: tuple[int, ...]) -> None:
    x = numbers(rng(reps), (2, 3))
    close(evaluate(relay.tile, x, reps=reps), torch.tile(torch.tensor(x), reps))
    close(evaluate(relay.tile, x, np.array(reps)), torch.tile(torch.tensor(x), reps))


@pytest.mark.parametrize("indexing", ["ij", "xy"])
def test_meshgrid(indexing: str) -> None:
    data = [numbers(rng(n), (n,)) for n in (2, 3, 4)]
    found = evaluate(lambda *v: relay.meshgrid(v, indexing), *data)
    for grid, wanted in zip(found, torch.meshgrid(*map(torch.tensor, data), indexing=indexing), strict=True):
        close(grid, wanted)


@pytest.mark.parametrize("small", [(), (1,), (4,), (3, 1), (1, 4), (1, 3, 1), (2, 1, 4)])
def test_broadcasting_and_its_gradient(small: tuple[int, ...]) -> None:
    x, large = numbers(rng(small), small), numbers(rng(small, 2), (2, 3, 4))
    wide = torch.tensor(x, requires_grad=True)
    wanted = wide.broadcast_to(2, 3, 4)
    wanted.backward(torch.tensor(large))
    close(evaluate(relay.broadcast_to, x, shape=(2, 3, 4)), wanted.detach())
    close(evaluate(relay.broadcast_to, x, np.array([2, 3, 4])), wanted.detach())
    close(evaluate(relay.broadcast_to_like, x, large), wanted.detach())
    assert wide.grad is not None
    close(evaluate(relay.collapse_sum_like, large, x), wide.grad)
    close(evaluate(relay.collapse_sum_to, large, shape=small), wide.grad)


def test_the_argument_can_change_after_a_result_was_made_of_it() -> None:
    """The result keeps its value, also where NumPy would have given a view."""
    x = np.arange(6, dtype="float32").reshape(2, 3)
    results = [evaluate(relay.transpose, x), evaluate(relay.reshape, x, newshape=(6,))]
    kept = [result.copy() for result in results]
    x[:] = -1
    for result, old in zip(results, kept, strict=True):
        close(result, old)
        assert result.flags.writeable


def test_depth_to_space_takes_both_spellings_of_crd() -> None:
    x = np.arange(32).reshape(1, 8, 2, 2)
    rows = [evaluate(space.depth_to_space, x, block_size=2, mode=mode) for mode in ("CRD", "CDR", "DCR")]
    assert rows[0].tolist() == rows[1].tolist() != rows[2].tolist()
