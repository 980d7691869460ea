"""Random quantized networks: the interpreter, the graph executor, the virtual machine and a program compiled
ahead of time compute the same elements, whatever the compiler fuses, folds and lays out anew.
"""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Expr, Function, const
from relay_explorer.ir.module import IRModule
from relay_explorer.transform import PassContext
from relay_explorer.typing import infer_types
from tests.ops.qnn.generate import Array

Quantized = tuple[Expr, float, int]  # an expression, its scale and its zero point


class Network:
    """A chain of layers on images of 8-bit integers, with a branch that is added or concatenated."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.dtype = ("uint8", "int8")[seed % 2]
        self.rounding = ("UPWARD", "TONEAREST", "TOEVEN")[seed % 3]
        self.compute = ("int64", "float32")[seed // 2 % 2]
        self.channels = int(self.random.choice([3, 16]))
        self.x = relay.var("x", shape=(1, self.channels, 8, 8))

    def parameters(self) -> tuple[float, int]:
        low, high = (0, 255) if self.dtype == "uint8" else (-128, 127)
        return float(self.random.uniform(0.02, 0.2)), int(self.random.integers(low, high + 1))

    def requantized(self, sums: Expr, scale: Array, axis: int) -> Quantized:
        to, zero = self.parameters()
        result = relay.qnn.op.requantize(
            sums,
            const(scale.astype("float32")),
            const(0),
            const(to),
            const(zero),
            axis,
            self.rounding,
            self.compute,
            self.dtype,
        )
        return result, to, zero

    def conv(self, data: Quantized, channels: int, depthwise: bool = False) -> Quantized:
        x, scale, zero = data
        groups = self.channels if depthwise else 1
        outputs = self.channels if depthwise else channels
        of_kernel = ("int8", "uint8")[int(self.random.integers(2))]
        limits = np.iinfo(of_kernel)
        weight = self.random.integers(
            limits.min, limits.max, (outputs, self.channels // groups, 3, 3), of_kernel, endpoint=True
        )
        kernel_zero = 0 if of_kernel == "int8" else 128
        scales = self.random.uniform(0.001, 0.01, outputs).astype("float32")
        sums = relay.qnn.op.conv2d(
            x,
            const(weight),
            const(zero),
            const(kernel_zero),
            const(scale),
            const(scales),
            kernel_size=(3, 3),
            channels=outputs,
            padding=(1, 1),
            groups=groups,
        )
        bias = const(self.random.integers(-3000, 3000, outputs).astype("int32"))
        self.channels = outputs
        return self.requantized(relay.nn.bias_add(sums, bias), np.float32(scale) * scales, 1)

    def function(self) -> Function:
        scale, zero = self.parameters()
        data: Quantized = (
            relay.qnn.op.quantize(self.x, const(scale), const(zero), out_dtype=self.dtype),
            scale,
            zero,
        )
        data = self.conv(data, 16)
        branch = self.conv(data, 16, depthwise=bool(self.random.integers(2)))
        to, shift = self.parameters()
        joined = relay.qnn.op.add(
            data[0],
            branch[0],
            const(data[1]),
            const(data[2]),
            const(branch[1]),
            const(branch[2]),
            const(to),
            const(shift),
        )
        pooled = relay.nn.max_pool2d(joined, (2, 2), (2, 2))
        table = relay.qnn.op.sigmoid(pooled, const(to), const(shift), const(to), const(shift))
        flat = relay.nn.batch_flatten(table)
        weight = const(self.random.integers(-127, 128, (10, 16 * 16)).astype("int8"))
        sums = relay.qnn.op.dense(flat, weight, const(shift), const(0), const(to), const(0.01), 10)
        result, last, end = self.requantized(sums, np.asarray(to * 0.01), -1)
        return Function([self.x], relay.qnn.op.dequantize(result, const(last), const(end)))


@pytest.mark.parametrize("seed", range(4))
def test_all_executors_compute_the_same_elements(seed: int) -> None:
    network = Network(seed)
    shape = (1, network.channels, 8, 8)
    module = infer_types(IRModule.from_expr(network.function()))
    x = network.random.normal(size=shape).astype("float32")
    expected = Interpreter(module).call("main", [x])
    assert len(np.unique(expected)) > 3
    kinds = [("graph", 3), ("vm", 2)] if seed else [("graph", 3), ("graph", 0), ("vm", 3), ("aot", 3)]
    for kind, level in kinds:
        with PassContext(opt_level=level):
            found = relay.create_executor(kind, mod=module).evaluate()(x)
        np.testing.assert_array_equal(found.numpy(), expected)
