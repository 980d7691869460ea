"""Grey-scale dilation, against PyTorch's unfolding and the definition."""

from __future__ import annotations

from typing import Any as Anything

import pytest
import torch
from torch.nn import functional

from relay_explorer.ir.expr import Expr
from relay_explorer.ir.types import Any
from relay_explorer.relay import image
from tests.ops.meanings import close, evaluate, numbers, rng
from tests.ops.tensor_programs import refused, t, typed


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
@pytest.mark.parametrize(
    ("strides", "dilations", "padding"),
    [((1, 1), (1, 1), (0, 0)), ((2, 1), (1, 2), (1, 2)), ((1, 3), (2, 2), (0, 1, 2, 3))],
)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_dilation2d(
    dtype: str, strides: Anything, dilations: Anything, padding: Anything, layout: str
) -> None:
    random = rng(dtype, strides, padding)
    x, w = numbers(random, (2, 3, 6, 7), dtype), numbers(random, (3, 2, 3), dtype)
    top, left, bottom, right = padding if len(padding) == 4 else padding * 2
    framed = functional.pad(torch.tensor(x).double(), (left, right, top, bottom))
    seen = functional.unfold(framed, (2, 3), dilations, 0, strides).reshape(2, 3, 6, -1)
    greatest = (seen + torch.tensor(w).double().reshape(1, 3, 6, 1)).amax(2)
    height = (6 + top + bottom - dilations[0] - 1) // strides[0] + 1
    wanted = greatest.reshape(2, 3, height, -1).numpy().astype(dtype)
    named = {"strides": strides, "dilations": dilations, "padding": padding}
    if layout == "NHWC":
        named |= {"data_layout": layout, "kernel_layout": "HWI"}
        x, w, wanted = (
            x.transpose(0, 2, 3, 1).copy(),
            w.transpose(1, 2, 0).copy(),
            wanted.transpose(0, 2, 3, 1),
        )
    close(evaluate(image.dilation2d, x, w, **named), wanted)


def test_types() -> None:
    w = t(3, 2, 2, name="w")
    assert (
        typed(image.dilation2d(t(Any(), 3, 8, 9), w, out_dtype="float64")) == "Tensor[(?, 3, 7, 8), float64]"
    )
    assert typed(image.dilation2d(t(1, 3, 8, 9), w, (1, 1, 1, 1), 1)) == "Tensor[(1, 3, 9, 10), float32]"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            image.dilation2d(t(1, 4, 8, 8), t(3, 2, 2, name="w")),
            "the data has 4 channels, but the window 3",
        ),
        (
            image.dilation2d(t(1, 3, 8, 8), t(3, 2, 2, name="w", dtype="int8")),
            "the element types differ: float32 and int8",
        ),
        (
            image.dilation2d(t(1, 3, 8, 8), t(3, 2, 2, name="w"), strides=(1, 2, 1)),
            "strides=[1, 2, 1] must be 2 numbers, for rows and columns",
        ),
        (
            image.dilation2d(t(1, 3, 8, 8), t(3, 9, 2, name="w")),
            "the window is 9 wide, but the axis is only 8 wide",
        ),
    ],
)
def test_what_does_not_fit_is_said(call: Expr, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message
