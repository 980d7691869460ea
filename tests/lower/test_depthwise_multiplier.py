"""Depthwise convolutions with several outputs per channel compute the same at every level of optimization.

The layout HWOI has the number of channels as O, and the outputs per channel as I.
"""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import IRModule
from relay_explorer.transform import PassContext


@pytest.mark.parametrize("stride", [1, 2])
def test_outputs_per_channel_in_the_layout_nhwc(stride: int) -> None:
    random = np.random.default_rng(0)
    x = relay.var("x", shape=(1, 9, 9, 12), dtype="float32")
    weight = relay.var("weight", shape=(3, 3, 12, 2), dtype="float32")
    y = relay.nn.conv2d(
        x, weight, strides=(stride, stride), groups=12, channels=24, kernel_size=(3, 3), data_layout="NHWC",
        kernel_layout="HWOI",
    )  # fmt: skip
    mod = IRModule.from_expr(relay.Function([x, weight], y))
    values = [random.normal(size=shape).astype(np.float32) for shape in ((1, 9, 9, 12), (3, 3, 12, 2))]
    expected = relay.create_executor("debug", mod).evaluate()(*values).numpy()
    with PassContext(opt_level=3):
        result = relay.create_executor("graph", mod).evaluate()(*values).numpy()
    np.testing.assert_allclose(result, expected, rtol=1e-5, atol=1e-5)
