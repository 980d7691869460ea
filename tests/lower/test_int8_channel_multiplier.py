"""A depthwise convolution with several outputs per channel sums bytes exactly in the layout HWOI."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir.expr import Function
from relay_explorer.ir.module import IRModule
from relay_explorer.transform import PassContext


@pytest.mark.parametrize("kinds", [("int8", "int8"), ("uint8", "int8")])
def test_each_output_of_a_channel_is_exact(kinds: tuple[str, str]) -> None:
    rng = np.random.default_rng(0)
    data, weight = (np.iinfo(kind) for kind in kinds)
    x = relay.var("x", shape=(1, 5, 6, 12), dtype=kinds[0])
    kernel = rng.integers(weight.min, weight.max + 1, (3, 3, 12, 2)).astype(kinds[1])
    body = relay.nn.conv2d(
        x, relay.const(kernel), kernel_size=(3, 3), channels=24, groups=12, padding=(1, 1),
        data_layout="NHWC", kernel_layout="HWOI", out_dtype="int32",
    )  # fmt: skip
    mod = IRModule.from_expr(Function([x], body))
    values = rng.integers(data.min, data.max + 1, (1, 5, 6, 12)).astype(kinds[0])
    expected = relay.create_executor("debug", mod).evaluate()(values).numpy()
    with PassContext(opt_level=3):
        result = relay.create_executor("graph", mod, target="llvm").evaluate()(values).numpy()
    np.testing.assert_array_equal(result, expected)
