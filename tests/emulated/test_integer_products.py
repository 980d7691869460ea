"""Products of bytes on a GPU: `dp4a` adds four of them, exactly."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Call, Expr, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.lower.codegen.compile_kernel import scheduled
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types
from tests.emulated.test_kernels import ARCH, agree, gpu
from tests.lower.kernels import Case

__all__ = ["gpu"]

RANDOM = np.random.default_rng(3)


def integers(*shape: int, dtype: str = "int8") -> Any:
    """Make bytes, extreme ones among them."""
    bounds = np.iinfo(dtype)
    values = RANDOM.integers(bounds.min, bounds.max + 1, shape).astype(dtype)
    values.flat[:: max(1, values.size // 7)] = bounds.min
    return values


def product(call: Any, *operands: Any) -> Case:
    """Build the program that applies `call` to variables, with their values."""
    params = [relay.var(f"x{n}", shape=x.shape, dtype=str(x.dtype)) for n, x in enumerate(operands)]
    return Case(infer_types(IRModule.from_expr(Function(params, call(*params)))), list(operands))


def dense(data: Var, weight: Var) -> Call:
    return relay.nn.dense(data, weight, out_dtype="int32")


def batch(transposed: bool) -> Any:
    def call(a: Var, b: Var) -> Expr:
        return relay.nn.relu(relay.nn.batch_matmul(a, b, out_dtype="int32", transpose_b=transposed))

    return call


def convolution(groups: int = 1, stride: int = 1, padding: int = 0) -> Any:
    def call(data: Var, weight: Var) -> Call:
        return relay.nn.conv2d(
            data,
            weight,
            strides=(stride, stride),
            padding=(padding, padding),
            groups=groups,
            out_dtype="int32",
        )

    return call


PRODUCTS = {
    "whole tiles": product(dense, integers(64, 128), integers(128, 128)),
    "rows that tiles do not divide": product(dense, integers(33, 36), integers(70, 36)),
    "few rows": product(dense, integers(2, 8), integers(3, 8)),
    "a batch": product(batch(True), integers(3, 17, 40), integers(3, 20, 40)),
    "a batch, not transposed": product(batch(False), integers(3, 17, 40), integers(3, 40, 20)),
    "3 x 3": product(convolution(padding=1), integers(1, 16, 14, 14), integers(32, 16, 3, 3)),
    "3 x 3, every second": product(convolution(stride=2), integers(1, 8, 7, 7), integers(12, 8, 3, 3)),
    "1 x 1": product(convolution(), integers(2, 16, 9, 9), integers(24, 16, 1, 1)),
    "groups": product(convolution(groups=2), integers(1, 16, 9, 9), integers(16, 8, 3, 3)),
}
# Four products of one sum are not adjacent in these.
OTHERS = {
    "three channels": product(convolution(padding=1), integers(1, 3, 9, 9), integers(8, 3, 3, 3)),
    "depthwise": product(convolution(groups=16), integers(1, 16, 9, 9), integers(16, 1, 3, 3)),
    "six features": product(dense, integers(5, 6), integers(4, 6)),
}


def test_products_use_the_dot_instruction_and_are_exact() -> None:
    """Some without it are compiled with them. The emulator also reports races and accesses out of bounds."""
    kernels = agree([*PRODUCTS.values(), *OTHERS.values()])
    with_dot = ["__dp4a" in kernel.mod.script() for kernel in kernels]
    assert with_dot == [True] * len(PRODUCTS) + [False] * len(OTHERS)
    for kernel in kernels[: len(PRODUCTS)]:
        assert kernel.candidates[0].why.startswith("dp4a: 4 products of int8 and int8 per lane; ")


def test_random_shapes_are_exact() -> None:
    """Whatever divides what: the results are those of the interpreter, and no access is out of bounds."""
    cases = []
    for _ in range(5):
        rows, columns, inner = (int(n) for n in RANDOM.integers(1, 70, 3))
        cases.append(product(dense, integers(rows, inner * 4), integers(columns, inner * 4)))
    for _ in range(5):
        channels, outputs, size = (int(n) for n in RANDOM.integers([1, 1, 5], [6, 40, 20]))
        kernel, stride, padding = (int(n) for n in RANDOM.integers([1, 1, 0], [5, 3, 3]))
        weight = integers(outputs, 4 * channels, kernel, kernel)
        call = convolution(stride=stride, padding=padding)
        cases.append(product(call, integers(1, 4 * channels, size, size), weight))
    agree(cases)


@pytest.mark.parametrize("arch", ["sm_60", "sm_61"])
def test_older_gpus_lack_the_instruction(arch: str) -> None:
    target = Target.of({"kind": "cuda", "arch": arch})
    with target.tvm:
        kernel = scheduled(PRODUCTS["whole tiles"].function, "k", target)
    assert ("__dp4a" in kernel.mod.script()) == (arch == "sm_61")


def test_unsigned_data_is_shifted_and_compensated() -> None:
    """The program is compiled as a whole, with a constant weight, and a zero point for the padding."""
    data = integers(1, 16, 10, 10, dtype="uint8")
    weight = relay.const(integers(8, 16, 3, 3))
    x = relay.var("x", shape=data.shape, dtype="uint8")
    around = relay.nn.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)), pad_value=7)
    layer = relay.nn.relu(relay.nn.conv2d(around, weight, out_dtype="int32"))
    module = IRModule.from_expr(Function([x], layer))
    exe = relay_explorer.build(module, ARCH.dict)
    np.testing.assert_array_equal(exe(data), Interpreter(module).call("main", [data]))
    assert any("__dp4a" in kernel.source("cuda") for kernel in exe.kernels)
