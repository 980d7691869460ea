"""Random networks of small integers: whatever their layers, sizes and element types, every executor and every
processor computes the same bits as the interpreter.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Expr, Function, IRModule
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types

nn = relay.nn
TARGETS: list[Any] = [
    "cpu",
    *({"kind": "llvm", "mcpu": cpu} for cpu in ("cascadelake", "haswell", "nehalem")),
]


class Network:
    """Builds a random network; `x` is its last value, of `channels` channels and `size` rows and columns."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.numbers = np.random.default_rng(seed)
        self.dtype = self.random.choice(("int8", "uint8"))
        self.channels = self.random.choice((1, 3, 8, 12, 16))
        self.size = self.random.randint(5, 12)
        self.input = relay.var("x", shape=(1, self.channels, self.size, self.size), dtype=self.dtype)
        self.x: Expr = self.input

    def constant(self, shape: tuple[int, ...], dtype: str) -> Expr:
        least, most = np.iinfo(dtype).min, np.iinfo(dtype).max
        return relay.const(self.numbers.integers(least, most + 1, shape).astype(dtype))

    def narrowed(self, sums: Expr, channels: int, terms: int) -> Expr:
        """Add a bias, scale, and saturate."""
        bias = relay.const(self.numbers.integers(-999, 999, (channels, 1, 1)).astype("int32"))
        scales = (self.numbers.random((channels, 1, 1)) / terms**0.5 / 50).astype("float32")
        product = relay.cast(sums + bias, "float32") * relay.const(scales)
        least, most = float(np.iinfo(self.dtype).min), float(np.iinfo(self.dtype).max)
        return relay.cast(relay.round(relay.clip(product, least, most)), self.dtype)

    def convolution(self) -> None:
        channels = self.random.choice((4, 10, 16, 17, 24, 48))
        kernel, stride = self.random.choice((1, 3)), self.random.choice((1, 1, 2))
        weight = self.constant(
            (channels, self.channels, kernel, kernel), self.random.choice(("int8", "uint8"))
        )
        x, padding = self.x, self.random.choice((0, kernel // 2))
        if padding and self.random.random() < 0.7:
            border = relay.const(np.array(self.random.randint(0, 100), self.dtype))
            x = nn.pad(x, ((0, 0), (0, 0), (padding,) * 2, (padding,) * 2), pad_value=border)
            padding = 0
        sums = nn.conv2d(
            x, weight, strides=(stride,) * 2, padding=(padding,) * 2, channels=channels,
            kernel_size=(kernel,) * 2, out_dtype="int32",
        )  # fmt: skip
        self.x, self.channels = self.narrowed(sums, channels, self.channels * kernel**2), channels
        self.measure()

    def depthwise(self) -> None:
        weight = self.constant((self.channels, 1, 3, 3), "int8")
        sums = nn.conv2d(
            self.x, weight, padding=(1, 1), channels=self.channels, kernel_size=(3, 3), groups=self.channels,
            out_dtype="int32",
        )  # fmt: skip
        self.x = self.narrowed(sums, self.channels, 9)

    def residual(self) -> None:
        before, channels = self.x, self.channels
        weight = self.constant((channels, channels, 3, 3), "int8")
        sums = nn.conv2d(
            before, weight, padding=(1, 1), channels=channels, kernel_size=(3, 3), out_dtype="int32"
        )
        after = self.narrowed(sums, channels, 9 * channels)
        total = relay.cast(before, "int32") + relay.cast(after, "int32")
        least, most = float(np.iinfo(self.dtype).min), float(np.iinfo(self.dtype).max)
        self.x = relay.cast(relay.clip(total, least, most), self.dtype)

    def pool(self) -> None:
        if self.size >= 4:
            self.x = nn.max_pool2d(self.x, (2, 2), strides=(2, 2))
            self.measure()

    def measure(self) -> None:
        typed = infer_types(IRModule.from_expr(Function([self.input], self.x)))
        self.size = typed["main"].body.checked_type.concrete_shape[2]  # type: ignore[attr-defined]

    def module(self) -> IRModule:
        for _ in range(self.random.randint(3, 5)):
            layers = (self.convolution, self.convolution, self.depthwise, self.residual, self.pool)
            self.random.choice(layers)()
        features = self.channels * self.size**2
        weight = self.constant((self.random.choice((3, 10, 32)), features), "int8")
        return infer_types(
            IRModule.from_expr(
                Function([self.input], nn.dense(nn.batch_flatten(self.x), weight, out_dtype="int32"))
            )
        )


@pytest.mark.parametrize("seed", range(6))
def test_all_executors_and_processors_agree(seed: int) -> None:
    network = Network(seed)
    module = network.module()
    shape = network.input.type_annotation.concrete_shape  # type: ignore[union-attr]
    least, most = np.iinfo(network.dtype).min, np.iinfo(network.dtype).max
    data = network.numbers.integers(least, most + 1, shape).astype(network.dtype)
    expected = np.asarray(Interpreter(module).call("main", [data]))
    target = TARGETS[seed % len(TARGETS)]
    runs = [("graph", "cpu"), ("vm", "cpu")] if seed % 2 else [("graph", "cpu"), ("graph", target)]
    for executor, where in runs:
        if Target.of(where).runs_here:
            exe = relay_explorer.build(module, target=where, executor=executor, quiet=True)
            assert np.array_equal(np.asarray(exe(data)), expected), (executor, where)
