"""Random fake-quantized programs: regions of operators between `qnn.dequantize` and `qnn.quantize`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything
from typing import TypeVar

import numpy as np

from relay_explorer import relay
from relay_explorer.ir import Call, Expr, Function, IRModule, Op, Var, const
from relay_explorer.ir.walk import free_vars, post_order
from relay_explorer.transform import FakeQuantizationToInteger
from relay_explorer.transform.fake_quantization import fake_quantized_regions
from relay_explorer.typing import infer_types
from tests.transform.golden import bare

Arrays = list[Anything]
T = TypeVar("T")
qnn = relay.qnn.op


def run(mod: IRModule, arrays: Arrays) -> Anything:
    """Evaluate `@main` in the interpreter."""
    return relay.create_executor("debug", mod).evaluate()(*arrays).numpy()


class Region:
    """A random region: its inputs, which are dequantized images of the shape (1, 4, 6, 6), and its result."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.inputs: list[Var] = []
        self.arrays: Arrays = []
        self.extent = 6

    def uniform(self, low: float, high: float) -> float:
        return float(self.random.uniform(low, high))

    def one_of(self, *values: T) -> T:
        return values[int(self.random.integers(len(values)))]

    def integers(self, shape: tuple[int, ...], dtype: str) -> Anything:
        limits = np.iinfo(dtype)
        return self.random.integers(max(limits.min, -500), min(limits.max, 500) + 1, shape).astype(dtype)

    def dequantized(
        self, shape: tuple[int, ...], dtype: str, scale: Anything, zero: Anything, axis: int = -1
    ) -> Expr:
        """Return a dequantized input of the program."""
        var = relay.var(f"x{len(self.inputs)}", shape=shape, dtype=dtype)
        self.inputs.append(var)
        self.arrays.append(self.integers(shape, dtype))
        return qnn.dequantize(var, const(np.float32(scale)), const(np.int32(zero)), axis)

    def image(self) -> Expr:
        dtype = self.one_of("int8", "uint8")
        zero = int(self.random.integers(-20, 20)) + (128 if dtype == "uint8" else 0)
        shape = (1, 4, self.extent, self.extent)
        return self.dequantized(shape, dtype, self.uniform(0.01, 0.2), zero)

    def convolution(self, x: Expr) -> Expr:
        size = self.one_of(1, 3)
        shape = (4, 4, size, size)
        if self.one_of(True, False):
            scale, zero = self.random.uniform(0.002, 0.02, 4), self.random.integers(-2, 3, 4)
            weight = self.dequantized(shape, "int8", scale, zero, 0)
        else:
            weight = self.dequantized(shape, "int8", 0.01, 0)
        result = relay.nn.conv2d(
            x, weight, kernel_size=(size, size), padding=(size // 2, size // 2), channels=4
        )
        bias = self.random.uniform(-1, 1, 4).astype("float32")
        return self.one_of(
            result, relay.nn.bias_add(result, const(bias)), relay.add(result, const(bias.reshape(4, 1, 1)))
        )

    def step(self, x: Expr) -> Expr:
        """Apply one operator that keeps the shape."""
        number = np.float32(self.uniform(-1, 2))
        steps: list[Callable[[], Expr]] = [
            lambda: relay.nn.relu(x),
            lambda: relay.clip(x, self.uniform(-2, 0), self.uniform(0, 6)),
            lambda: relay.maximum(x, const(number)),
            lambda: relay.minimum(self.image(), x),
            lambda: relay.add(x, self.image()),
            lambda: relay.subtract(self.image(), x),
            lambda: relay.add(const(number), x),
            lambda: relay.multiply(x, const(number)),
            lambda: relay.divide(x, const(np.float32(self.uniform(0.5, 3)))),
            lambda: relay.multiply(x, self.image()),
            lambda: relay.transpose(x, (0, 1, 3, 2)),
            lambda: relay.reverse(x, 2),
            lambda: relay.reshape(relay.reshape(x, (4, -1)), (1, 4, self.extent, self.extent)),
            lambda: relay.nn.max_pool2d(x, (3, 3), padding=(1, 1)),
            lambda: relay.strided_slice(
                relay.nn.pad(x, ((0, 0), (0, 0), (1, 0), (0, 0)), np.float32(self.one_of(0, -1))),
                (0, 0, 0, 0), (1, 4, self.extent, self.extent),
            ),
            lambda: relay.strided_slice(relay.concatenate([x, self.image()], 1), (0, 2, 0, 0), (1, 6, 9, 9)),
            lambda: relay.concatenate(list(relay.split(x, 2, 1))[::-1], 1),
            lambda: relay.tanh(x),
            lambda: relay.sigmoid(x),
            lambda: relay.negative(x),
        ]  # fmt: skip
        return self.one_of(*steps)()

    def result(self, length: int) -> Expr:
        """Return the result of a region of `length` operators, a mean or a convolution among them or not."""
        x = self.image()
        if self.one_of(True, False):
            x = self.convolution(x)
        for _ in range(length):
            x = self.step(x)
        last: list[Callable[[], Expr]] = [
            lambda: x,
            lambda: relay.nn.avg_pool2d(x, (2, 2), strides=(2, 2)),
            lambda: relay.nn.global_avg_pool2d(x),
            lambda: relay.mean(x, axis=(2, 3)),
            lambda: relay.sum(x, axis=1),
            lambda: relay.nn.adaptive_avg_pool2d(x, (4, 4)),
        ]
        return self.one_of(*last)()

    def program(self, length: int) -> tuple[IRModule, Arrays]:
        """Return a program that quantizes a region to the range of its values, and its inputs."""
        body = self.result(length)
        values = run(infer_types(IRModule.from_expr(Function(self.inputs, body))), self.arrays)
        dtype = self.one_of("int8", "uint8")
        low, high = float(values.min()), float(values.max())
        scale = max(high - low, 1e-3) / 255 * self.uniform(0.7, 1.5)  # some values saturate
        zero = round(np.iinfo(dtype).min - low / scale)
        quantized: Call = qnn.quantize(body, const(np.float32(scale)), const(np.int32(zero)), out_dtype=dtype)
        return infer_types(IRModule.from_expr(Function(self.inputs, quantized))), self.arrays


# -- programs made by hand


def typed(body: Expr) -> IRModule:
    return infer_types(IRModule.from_expr(Function(free_vars(body), body)))


def image(scale: float = 0.1, zero: int = 3, dtype: str = "int8", name: str = "x") -> Expr:
    return qnn.dequantize(relay.var(name, shape=(1, 4, 6, 6), dtype=dtype), const(scale), const(zero))


def quantized(body: Expr, scale: float = 0.05, zero: int = -8, dtype: str = "int8") -> Expr:
    return qnn.quantize(body, const(scale), const(zero), out_dtype=dtype)


def integer(mod: IRModule, **options: Anything) -> IRModule:
    return infer_types(FakeQuantizationToInteger(**options)(mod))


def main(mod: IRModule) -> str:
    """Return the body of `@main` as text."""
    return "\n".join(row.strip() for row in bare(mod.astext()).splitlines()[1:-1])


def operators(mod: IRModule) -> list[str]:
    """Return the names of the operators of `@main`, in the order of evaluation."""
    return [
        node.op.name for node in post_order(mod["main"]) if isinstance(node, Call) and isinstance(node.op, Op)
    ]


def reason(body: Expr) -> str:
    """Return why the only region of a program stays float."""
    (region,) = fake_quantized_regions(typed(body))
    assert region.converted is None
    return region.reason
