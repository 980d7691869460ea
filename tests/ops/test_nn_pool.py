"""Pools of all kinds, against PyTorch, and how they refuse."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer.ir.expr import Call
from relay_explorer.ir.narrow import as_op
from relay_explorer.ir.types import Any, TensorType
from relay_explorer.ops.nn import pool, pool_adaptive
from relay_explorer.relay import nn
from tests.ops.nn_programs import operands
from tests.ops.tensor_programs import refused, t, typed

AXES = {1: "W", 2: "HW", 3: "DHW"}


@st.composite
def windows(draw: st.DrawFn) -> tuple[int, list[tuple[int, int, int, int]], bool]:
    """How many axes; (size, window, stride, padding) of each; and whether the last window may stick out.

    PyTorch wants padding at most half the window; where a window that sticks out would start in the padding
    PyTorch drops it and the reference does not, so strides are no larger than windows there, without padding.
    """
    axes, ceil_mode = draw(st.integers(1, 3)), draw(st.booleans())
    each = []
    for _ in range(axes):
        window = draw(st.integers(1, 4))
        stride = draw(st.integers(1, window if ceil_mode else 4))
        padding = 0 if ceil_mode else draw(st.integers(0, window // 2))
        each.append((window + draw(st.integers(0, 6)), window, stride, padding))
    return axes, each, ceil_mode


@settings(max_examples=150, deadline=None)
@given(windows(), st.sampled_from(["max", "avg"]), st.booleans())
def test_shapes_are_pytorchs(
    case: tuple[int, list[tuple[int, int, int, int]], bool], kind: str, channels_last: bool
) -> None:
    axes, each, ceil_mode = case
    sizes, window, strides, padding = (tuple(x) for x in zip(*each, strict=True))
    function = getattr(torch.nn.functional, f"{kind}_pool{axes}d")
    expected = function(
        torch.empty((2, 3, *sizes), device="meta"), window, strides, padding, ceil_mode=ceil_mode
    ).shape
    layout = f"N{AXES[axes]}C" if channels_last else f"NC{AXES[axes]}"
    shape = (2, *sizes, 3) if channels_last else (2, 3, *sizes)
    call = getattr(pool, f"{kind}_pool{axes}d")(
        t(*shape), window, strides, padding=padding, layout=layout, ceil_mode=ceil_mode
    )
    wanted = (2, *expected[2:], 3) if channels_last else tuple(expected)
    assert typed(call) == str(TensorType(wanted))


@settings(max_examples=60, deadline=None)
@given(
    st.integers(1, 3),
    st.lists(st.integers(1, 9), min_size=3, max_size=3),
    st.integers(1, 5),
    st.sampled_from(["max", "avg"]),
)
def test_adaptive_shapes_are_pytorchs(axes: int, sizes: list[int], output: int, kind: str) -> None:
    shape = (2, 3, *sizes[:axes])
    expected = getattr(torch.nn.functional, f"adaptive_{kind}_pool{axes}d")(torch.zeros(shape), output).shape
    call = getattr(pool_adaptive, f"adaptive_{kind}_pool{axes}d")(t(*shape), output)
    assert typed(call) == str(TensorType(tuple(expected)))


TYPED: list[tuple[Call, str]] = [
    (pool.max_pool2d(t(1, 64, 112, 112), 3, 2, padding=1), "(1, 64, 56, 56)"),
    (pool.max_pool2d(t(1, 2, 7, 7), 2, 2, ceil_mode=True), "(1, 2, 4, 4)"),
    (pool.max_pool2d(t(1, 2, 7, 7), 3, dilation=2), "(1, 2, 3, 3)"),
    (pool.max_pool2d(t(1, 2, 7, 7), 2, padding=(0, 1, 2, 3)), "(1, 2, 8, 10)"),
    (pool.max_pool2d(t(1, 2, 8, 8, 4), 2, 2, layout="NCHW4c"), "(1, 2, 4, 4, 4)"),
    (pool.avg_pool2d(t(Any(), 2, Any(), 8), 2, 2), "(?, 2, ?, 4)"),
    (nn.max_pool2d_grad(t(1, 2, 4, 4), t(1, 2, 8, 8), 2, 2), "(1, 2, 8, 8)"),
    (nn.avg_pool2d_grad(t(1, 2, 4, 4), t(1, 2, 8, 8), 2, 2), "(1, 2, 8, 8)"),
    (pool_adaptive.global_avg_pool2d(t(1, 2, 8, 8)), "(1, 2, 1, 1)"),
    (pool_adaptive.global_max_pool2d(t(1, 8, 8, 2), layout="NHWC"), "(1, 1, 1, 2)"),
    (pool_adaptive.global_max_pool1d(t(1, 2, 8)), "(1, 2, 1)"),
    (pool_adaptive.global_avg_pool1d(t(1, 2, 8)), "(1, 2, 1)"),
    (pool_adaptive.global_max_pool3d(t(1, 2, 8, 8, 8)), "(1, 2, 1, 1, 1)"),
    (pool_adaptive.global_avg_pool3d(t(1, 2, 8, 8, 8)), "(1, 2, 1, 1, 1)"),
    (pool_adaptive.adaptive_avg_pool2d(t(1, 2, Any(), 8), (3, 5)), "(1, 2, 3, 5)"),
    (pool_adaptive.adaptive_avg_pool2d(t(1, 2, 8, 8)), "(1, 2, 8, 8)"),
]


@pytest.mark.parametrize(("call", "shape"), TYPED)
def test_types(call: Call, shape: str) -> None:
    assert typed(operands(call)) == f"Tensor[{shape}, float32]"


REFUSED: list[tuple[Call, str, str]] = [
    (
        pool.max_pool2d(t(1, 2, 3, 3), 5),
        "the window is 5 wide, but the axis is only 3 wide",
        "use a smaller window or more padding",
    ),
    (
        pool.max_pool2d(t(1, 2, 8), 2),
        "the data has 3 axes, but its layout NCHW names 4",
        "give the layout that the data has",
    ),
    (
        pool.avg_pool2d(t(1, 2, 8, 8), 2, layout="NCHW", out_layout="NHWC"),
        'out_layout="NHWC" is not the data\'s layout "NCHW"',
        "relay.layout_transform changes a tensor's layout",
    ),
    (
        pool.max_pool2d(t(1, 2, 2, 8, 4), 2, layout="NCHW4h"),
        'the layout "NCHW4h" has blocks on an axis that the window slides over',
        "only N and C may be in blocks",
    ),
    (pool.max_pool2d(t(1, 2, 8, 8), (2, 2, 2)), "pool_size=[2, 2, 2] has 3 values for 2 axes", "give 2"),
    (pool.max_pool2d(t(1, 2, 8, 8), 0), "a window of size 0 is empty", "give a size of at least 1"),
    (
        pool_adaptive.adaptive_max_pool2d(t(1, 2, 8, 8), (1, 2, 3)),
        "output_size=[1, 2, 3] has 3 values for 2 axes",
        "give one, or 2",
    ),
    (
        nn.max_pool2d_grad(t(1, 2, 5, 5), t(1, 2, 8, 8), 2, 2),
        "the gradient has shape (1, 2, 5, 5), but the pool of the data has (1, 2, 4, 4)",
        "give the pool's own pool_size, strides and padding",
    ),
]


@pytest.mark.parametrize(("call", "message", "help"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_refusals(call: Call, message: str, help: str) -> None:
    error = refused(operands(call))
    assert error.message == f"`{as_op(call.op).name}`: {message}"
    assert error.help == (help,)
