"""Padding and upsampling by amounts that the program computes: what the static forms give."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer.execute import ExecutionError
from relay_explorer.ir.expr import Call, Expr, const
from relay_explorer.ir.op import Op
from relay_explorer.relay import nn
from tests.ops.meanings import close, evaluate, numbers, rng
from tests.ops.tensor_programs import ints, refused, t, typed


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect"])
def test_pad(mode: str) -> None:
    x, widths = numbers(rng(mode), (3, 4)), np.array([[1, 2], [0, 3]])
    static = evaluate(nn.pad, x, pad_width=widths.tolist(), pad_value=2.5, pad_mode=mode)
    close(evaluate(lambda v, w: nn.pad(v, w, 2.5, mode), x, widths), static)


def test_widths_that_are_constants_are_known() -> None:
    call = nn.pad(t(3, 4), const(np.array([[1, 2], [0, 3]])))
    assert call.op is Op.get("nn.pad")
    assert typed(call) == "Tensor[(6, 7), float32]"


@pytest.mark.parametrize("method", ["nearest_neighbor", "bilinear", "bicubic"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_upsampling(layout: str, method: str) -> None:
    x = numbers(rng(layout, method), (2, 3, 4, 5))
    static = evaluate(nn.upsampling, x, scale_h=2.0, scale_w=1.5, layout=layout, method=method)
    found = evaluate(lambda v, h: nn.upsampling(v, h, 1.5, layout, method), x, np.array(2.0))
    close(found, static)


@pytest.mark.parametrize("method", ["nearest_neighbor", "trilinear"])
def test_upsampling3d(method: str) -> None:
    x, factors = numbers(rng(method), (1, 2, 3, 2, 4)), (2.0, 3.0, 1.5)
    static = evaluate(
        nn.upsampling3d, x, scale_d=factors[0], scale_h=factors[1], scale_w=factors[2], method=method
    )
    found = evaluate(
        lambda v, d, h, w: nn.upsampling3d(v, d, h, w, method=method), x, *map(np.array, factors)
    )
    close(found, static)


def test_extents_are_unknown_and_the_rank_is_known() -> None:
    scale = t(name="s")
    for call, name, expected in (
        (nn.pad(t(2, 3), ints(2, 2)), "dyn.nn.pad", "Tensor[(?, ?), float32]"),
        (nn.upsampling(t(2, 3, 4, 5), scale, 2), "dyn.nn.upsampling", "Tensor[(2, 3, ?, ?), float32]"),
        (
            nn.upsampling3d(t(2, 4, 5, 6, 3), 1, scale, layout="NDHWC"),
            "dyn.nn.upsampling3d",
            "Tensor[(2, ?, ?, ?, 3), float32]",
        ),
    ):
        assert isinstance(call, Call)
        assert call.op is Op.get(name)
        assert typed(call) == expected


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            nn.pad(t(2, 3), ints(3, 2)),
            "pad_width must hold a pair for each of the 2 axes, as a matrix of shape (2, 2), not "
            "Tensor[(3, 2), int32]",
        ),
        (
            nn.upsampling(t(2, 3, 4, 5), t(1, name="s")),
            "scale_h must be a scalar, but its type is Tensor[(1), float32]",
        ),
    ],
)
def test_what_does_not_fit_is_said(call: Expr, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message


def test_amounts_that_make_no_sense_are_noticed_when_the_program_runs() -> None:
    x = np.ones((1, 1, 2, 2), "float32")
    with pytest.raises(ExecutionError, match=r"scale_h is -1\.0, but it must be positive"):
        evaluate(lambda v, h: nn.upsampling(v, h), x, np.array(-1.0))
    with pytest.raises(ExecutionError, match="crops more elements than there are"):
        evaluate(lambda v, w: nn.pad(v, w), x[0, 0], np.array([[-2, -1], [0, 0]]))
