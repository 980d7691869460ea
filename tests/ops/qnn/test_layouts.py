"""Quantized layers in other layouts: attributes follow, and the elements stay the same."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Call, Expr, Function, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.typed import tensor_type
from relay_explorer.ir.walk import post_order
from relay_explorer.ops.layouts.layout import Layout, Question
from relay_explorer.transform import ConvertLayout, PassContext
from relay_explorer.typing import infer_types

op = relay.qnn.op


def network(per_channel: bool) -> tuple[IRModule, tuple[int, ...]]:
    """Make a network of convolutions in NHWC, and of the operators that may follow them."""
    random = np.random.default_rng(3)
    scales = const(random.uniform(0.001, 0.02, 8).astype("float32") if per_channel else np.float32(0.01))

    def conv(x: Expr) -> Expr:
        w = const(random.integers(-127, 128, (3, 3, 8, 8)).astype("int8"))
        sums = op.conv2d(
            x, w, const(3), const(0), const(0.1), scales, (3, 3), 8,
            padding=1, data_layout="NHWC", kernel_layout="HWIO",
        )  # fmt: skip
        result: Expr = op.requantize(sums, scales, const(0), const(2.0), const(4), axis=3, out_dtype="uint8")
        return result

    x = relay.var("x", shape=(1, 6, 6, 8), dtype="uint8")
    s, z = const(0.1), const(3)
    joined = op.add(conv(x), conv(x), s, z, const(0.2), const(5), const(0.2), const(6))
    table = op.tanh(op.leaky_relu(joined, 0.1, s, z, s, z), s, z, s, z)
    pooled = op.avg_pool2d(table, s, z, s, z, (2, 2), (2, 2), (0, 0), (1, 1))
    several = op.concatenate([pooled, pooled], [const(0.1)] * 2, [const(3)] * 2, const(0.2), const(0), axis=3)
    body = op.dequantize(several, const(0.2), const(0))
    return infer_types(IRModule.from_expr(Function([x], body))), (1, 6, 6, 8)


@pytest.mark.parametrize("per_channel", [False, True])
def test_layers_are_converted_and_what_follows_adopts_the_layout(per_channel: bool) -> None:
    module, shape = network(per_channel)
    with PassContext(opt_level=3):
        moved = ConvertLayout({"qnn.conv2d": ["NCHW", "default"]})(module)
    x = np.random.default_rng(1).integers(0, 256, shape).astype("uint8")
    expected = Interpreter(module).call("main", [x])
    np.testing.assert_array_equal(Interpreter(moved).call("main", [x]), expected)
    calls = [node for node in post_order(moved["main"]) if isinstance(node, Call)]
    axes = {
        str(call.op): call.attrs["axis"] for call in calls if call.attrs is not None and "axis" in call.attrs
    }
    assert axes["qnn.requantize"] == axes["qnn.concatenate"] == 1
    transforms = [call for call in calls if call.op is Op.get("layout_transform")]
    big = [call for call in transforms if tensor_type(call).shape[0] == 1]
    assert len(big) == 2  # of the data, and of the result


def test_factors_of_channels_follow_into_blocks() -> None:
    """`fixed_point_multiply_per_axis` reads a blocked axis from factors in blocks."""
    x = relay.var("x", shape=(1, 8, 4, 4), dtype="int32")
    factors = const(np.arange(8, dtype="int32"))
    call = relay.fixed_point_multiply_per_axis(x, factors, factors, factors, False, True, [1])
    rule = Op.get("fixed_point_multiply_per_axis").layout
    assert callable(rule)
    old, new, vector = Layout("NCHW"), Layout("NCHW4c"), Layout("C")
    answer = rule(Question(call.attrs, [new, vector, vector, vector], [old, vector, vector, vector], []))
    assert [layout.name for layout in answer.input_layouts] == ["NCHW4c", "C4c", "C4c", "C4c"]
    assert [layout.name for layout in answer.output_layouts] == ["NCHW4c"]
    assert answer.new_attrs["axes"] == (1, 4)
    same = rule(Question(call.attrs, None, [old, None, None, None], []))
    assert [layout.name for layout in same.input_layouts] == ["NCHW", "C", "C", "C"]
    assert rule(Question(call.attrs, [Layout("NHW")], [old, vector, vector, vector], [])) is None
    assert rule(Question(call.attrs, None, [new, None, None, None], [])) is None
