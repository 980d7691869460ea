"""Passes one after the other on random networks of convolutions and dense layers: values stay."""

from __future__ import annotations

import random

import pytest

from relay_explorer.transform import (
    BackwardFoldScaleAxis,
    BatchingOps,
    CanonicalizeCast,
    CanonicalizeOps,
    CombineParallelConv2D,
    CombineParallelDense,
    CombineSharedDense,
    ConvertLayout,
    DynamicToStatic,
    EliminateCommonSubexpr,
    FoldConstant,
    FoldExplicitPadding,
    FoldScaleAxis,
    ForwardFoldScaleAxis,
    FuseOps,
    Pass,
    PassContext,
    SimplifyExpr,
    SimplifyInference,
    SplitArgs,
)
from tests.transform.networks import Network, broken

PASSES: list[Pass] = [
    BackwardFoldScaleAxis(), BatchingOps(), CanonicalizeCast(), CanonicalizeOps(), CombineParallelConv2D(2),
    CombineParallelDense(2), CombineParallelDense(2, to_batch=False), CombineSharedDense(2),
    ConvertLayout({"nn.conv2d": ["NHWC", "default"]}), ConvertLayout({"nn.conv2d": ["NCHW", "default"]}),
    DynamicToStatic(), EliminateCommonSubexpr(), FoldConstant(), FoldExplicitPadding(), FoldScaleAxis(),
    ForwardFoldScaleAxis(), SimplifyExpr(), SimplifyInference(), SplitArgs(5),
]  # fmt: skip


@pytest.mark.parametrize("seed", range(60))
def test_values_stay_in_any_order_of_passes(seed: int) -> None:
    steps = random.Random(seed).sample(PASSES, 5)
    names = [step.info.name for step in steps]
    layout = "NCHW" if seed % 2 else "NHWC"
    for module in (Network(500 + seed, layout).images(14), Network(500 + seed).rows(14)):
        with PassContext(opt_level=4):
            assert broken(module, [*steps, FuseOps(2)], error=5e-3) is None, names
