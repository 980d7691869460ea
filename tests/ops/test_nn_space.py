"""Operators that pad, spread, resize and rearrange, against NumPy and PyTorch, and how they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.ir.expr import Call, const, var
from relay_explorer.ir.narrow import as_op
from relay_explorer.ir.types import Any, SizeVar, TensorType
from relay_explorer.ops.nn import batch_space, misc, pad, space, upsampling
from tests.ops.nn_programs import operands
from tests.ops.tensor_programs import refused, t, typed

WIDTHS = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=4)


@settings(max_examples=50, deadline=None)
@given(WIDTHS)
def test_padding_is_numpys(axes: list[tuple[int, int, int]]) -> None:
    shape, widths = [size for size, _, _ in axes], [(before, after) for _, before, after in axes]
    expected = np.pad(np.zeros(shape), widths).shape
    assert typed(pad.pad(t(*shape), widths)) == str(TensorType(expected))


@settings(max_examples=50, deadline=None)
@given(WIDTHS, st.booleans())
def test_mirroring_is_numpys(axes: list[tuple[int, int, int]], repeat: bool) -> None:
    most = [size if repeat else size - 1 for size, _, _ in axes]
    widths = [(min(before, m), min(after, m)) for (_, before, after), m in zip(axes, most, strict=True)]
    shape = [size for size, _, _ in axes]
    expected = np.pad(np.zeros(shape), widths, "symmetric" if repeat else "reflect").shape
    call = pad.mirror_pad(t(*shape), widths, "SYMMETRIC" if repeat else "REFLECT")
    assert typed(call) == str(TensorType(expected))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(1, 3))
def test_blocks_are_pytorchs(batch: int, channels: int, size: int, block: int) -> None:
    deep = torch.zeros(batch, channels * block * block, size, size + 1)
    wide = torch.nn.functional.pixel_shuffle(deep, block)
    assert typed(space.depth_to_space(t(*deep.shape), block)) == str(TensorType(tuple(wide.shape)))
    assert typed(space.space_to_depth(t(*wide.shape), block)) == str(TensorType(tuple(deep.shape)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.lists(st.integers(1, 5), min_size=2, max_size=3), st.integers(1, 4))
def test_whole_upsampling_is_pytorchs(channels: int, sizes: list[int], factor: int) -> None:
    expected = torch.nn.functional.interpolate(torch.zeros(1, channels, *sizes), scale_factor=factor).shape
    data = t(1, channels, *sizes)
    flat = len(sizes) == 2
    call = (
        upsampling.upsampling(data, factor, factor)
        if flat
        else upsampling.upsampling3d(data, factor, factor, factor)
    )
    assert typed(call) == str(TensorType(tuple(expected)))


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 3), st.integers(1, 3), st.integers(1, 3), st.integers(0, 2), st.integers(1, 3))
def test_batch_and_space_are_inverse(batch: int, size: int, block: int, padding: int, rest: int) -> None:
    height = max(1, size * block - padding)
    before = size * block - height
    call = batch_space.space_to_batch_nd(t(batch, height, rest), [block], [(before, 0)])
    assert typed(call) == str(TensorType((batch * block, size, rest)))
    back = batch_space.batch_to_space_nd(t(batch * block, size, rest), [block], [(before, 0)])
    assert typed(back) == str(TensorType((batch, height, rest)))


SIZE = SizeVar("n")
TYPED: list[tuple[Call, str]] = [
    (pad.pad(t(2, Any()), ((1, 1), (2, 2))), "(4, ?)"),
    (pad.pad(t(2, SIZE), ((1, 1), (0, 0))), "(4, n)"),
    (pad.pad(t(5, 4), ((-1, -1), (0, 1))), "(3, 5)"),
    (pad.pad(t(2, 2), ((1, 1), (0, 0)), var("v", "float32")), "(4, 2)"),
    (pad.dilate(t(3, 4), (2, 1)), "(5, 4)"),
    (pad.dilate(t(3, Any()), (2, 3)), "(5, ?)"),
    (upsampling.upsampling(t(1, 8, 5, 5), 1.5, 2.0), "(1, 8, 8, 10)"),
    (upsampling.upsampling(t(1, 2, 4, 4, 8), 2, 2, layout="NCHW8c"), "(1, 2, 8, 8, 8)"),
    (
        upsampling.upsampling(t(1, 4, 4, 3), const(2), const(2.0), layout="NHWC", method="bilinear"),
        "(1, 8, 8, 3)",
    ),
    (space.space_to_depth(t(1, 4, 4, 3), 2, layout="NHWC"), "(1, 2, 2, 12)"),
    (misc.batch_flatten(t(2, 3, 4, 5)), "(2, 60)"),
    (misc.batch_flatten(t(2)), "(2, 1)"),
    (misc.batch_flatten(t(Any(), 3, 4)), "(?, 12)"),
    (misc.batch_flatten(t(2, Any(), 4)), "(2, ?)"),
    (misc.batch_flatten(t(2, SIZE)), "(2, n)"),
    (misc.fifo_buffer(t(2, 3), t(2, 8), axis=1), "(2, 8)"),
    (misc.correlation(t(1, 3, 10, 10), t(1, 3, 10, 10), 1, 4, 1, 1, 4, True, "NCHW"), "(1, 81, 10, 10)"),
    (misc.correlation(t(1, 3, 10, 10), t(1, 3, 10, 10), 3, 4, 2, 2, (5, 5), True, "NCHW"), "(1, 25, 5, 5)"),
]


@pytest.mark.parametrize(("call", "shape"), TYPED)
def test_types(call: Call, shape: str) -> None:
    assert typed(operands(call)) == f"Tensor[{shape}, float32]"


def test_a_number_to_pad_with_becomes_a_constant() -> None:
    assert str(pad.pad(t(2), [(1, 1)]).args[1].data.dtype) == "int32"  # type: ignore[attr-defined]
    assert str(pad.pad(t(2), [(1, 1)], 0.5).args[1].data.dtype) == "float32"  # type: ignore[attr-defined]


REFUSED: list[tuple[Call, str, tuple[str, ...]]] = [
    (
        pad.pad(t(2, 3), [(1, 1)]),
        "pad_width has 1 pair, but the data (2, 3) has 2 axes",
        ("give a pair (before, after) for each axis",),
    ),
    (pad.pad(t(2), [(1, 1, 1)]), "pad_width of axis 0 is [1, 1, 1], not a pair", ("give (before, after)",)),
    (pad.pad(t(3), [(-2, -2)]), "pad_width of axis 0 takes away 4 elements, but the data has only 3", ()),
    (pad.pad(t(2), [(1, 1)], t(2)), "pad_value must be one number, not Tensor[(2), float32]", ()),
    (
        pad.pad(t(2), [(1, 1)], pad_mode="wrap"),
        'pad_mode="wrap" is not a valid mode',
        ('the modes are "constant", "edge" and "reflect"',),
    ),
    (
        pad.mirror_pad(t(2), [(3, 0)]),
        "pad_width of axis 0 is [3, 0], but 2 elements mirror to 2 at most",
        ("use less padding",),
    ),
    (
        pad.mirror_pad(t(2), [(2, 0)], "REFLECT"),
        "pad_width of axis 0 is [2, 0], but 2 elements mirror to 1 at most",
        ("use less padding",),
    ),
    (
        pad.mirror_pad(t(4), [(-1, 0)]),
        "pad_width of axis 0 is [-1, 0], and must not be negative",
        ("relay.strided_slice cuts edges off",),
    ),
    (
        pad.dilate(t(2, 3), (2,)),
        "strides has 1 value, but the data (2, 3) has 2 axes",
        ("give one for each axis",),
    ),
    (
        upsampling.upsampling(t(1, 2, 3, 3), 2, 2, method="cubic"),
        'method="cubic" is not a valid method',
        ("the methods are nearest_neighbor, bilinear, bicubic",),
    ),
    (
        upsampling.upsampling(t(1, 2, 3, 3), 0, 2),
        "scale_h=0.0 must be positive",
        ("a factor of 1 keeps the size",),
    ),
    (
        space.depth_to_space(t(1, 6, 2, 2), 2),
        "the number of channels is 6, which 4 does not divide",
        ("each block of 2 × 2 takes 4 channels",),
    ),
    (
        space.space_to_depth(t(1, 3, 4, 5), 2),
        "the width is 5, which 2 does not divide",
        ("the image must divide into blocks of 2 × 2; relay.nn.pad can make it so",),
    ),
    (
        batch_space.space_to_batch_nd(t(1, 3, 4), [2, 2], [(0, 0), (0, 0)]),
        "axis 1 with its padding is 3, which 2 does not divide",
        ("choose paddings so that the blocks divide it",),
    ),
    (
        batch_space.space_to_batch_nd(t(1, 4), [2, 2], [(0, 0), (0, 0)]),
        "block_shape has 2 sizes, but the data (1, 4) has 1 axis after the batch",
        (),
    ),
    (
        batch_space.batch_to_space_nd(t(6, 2, 2), [2, 2], [(0, 0), (0, 0)]),
        "the batch is 6, which 4 does not divide",
        ("each block takes 4 images",),
    ),
    (
        batch_space.batch_to_space_nd(t(4, 1, 1), [2, 2], [(3, 0), (0, 0)]),
        "crops of axis 1 remove 3 elements, but there are only 2",
        (),
    ),
    (
        misc.batch_flatten(t()),
        "the data is a single number, but needs a batch axis",
        ("relay.expand_dims adds one",),
    ),
    (
        misc.fifo_buffer(t(3, 3), t(2, 8), 1),
        "the data (3, 3) and the buffer (2, 8) differ not only on axis 1",
        ("they must be alike on all other axes",),
    ),
    (
        misc.fifo_buffer(t(2, 8), t(2, 8), 1),
        "axis 1 of the data is 8, but must be shorter than the buffer's 8",
        (),
    ),
    (
        misc.correlation(t(1, 3, 4, 4), t(1, 3, 4, 4), 1, 4, 1, 1, 0, True, "NCHW"),
        "the border of 4 on both sides leaves nothing of an axis of 4 with 0 of padding",
        ("use more padding",),
    ),
]


@pytest.mark.parametrize(("call", "message", "help"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_refusals(call: Call, message: str, help: tuple[str, ...]) -> None:
    error = refused(operands(call))
    assert error.message == f"`{as_op(call.op).name}`: {message}"
    assert error.help == help
