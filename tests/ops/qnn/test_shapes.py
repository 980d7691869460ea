"""Quantized operators on tensors without elements, and on tensors whose sizes are known only at run time."""

from __future__ import annotations

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir.expr import Expr, const
from tests.ops.qnn.evaluate import program, value
from tests.ops.qnn.generate import Array

op = relay.qnn.op
ANY = relay.Any()
SCALE, TO, ZERO = const(0.1), const(0.3), const(4)


def data(*shape: object, dtype: str = "int8") -> Expr:
    return relay.var("x", shape=shape, dtype=dtype)


def empty() -> dict[str, tuple[Expr, tuple[Array, ...]]]:
    scales, zeros = const(np.zeros(0, "float32")), const(np.zeros(0, "int32"))
    x, wide = data(2, 0), data(2, 0, dtype="int32")
    none = np.zeros((2, 0), "int8")
    weight = relay.var("w", shape=(3, 0), dtype="int8")
    return {
        "requantize": (op.requantize(wide, scales, zeros, TO, ZERO), (none.astype("int32"),)),
        "quantize": (op.quantize(data(2, 0, dtype="float32"), scales, zeros), (none.astype("float32"),)),
        "dequantize": (op.dequantize(x, scales, zeros), (none,)),
        "softmax": (op.softmax(x, SCALE, ZERO, TO, ZERO, axis=0), (none,)),
        "add": (op.add(x, x, SCALE, ZERO, SCALE, ZERO, TO, ZERO), (none,)),
        "tanh": (op.tanh(x, SCALE, ZERO, TO, ZERO), (none,)),
        "dense": (op.dense(x, weight, ZERO, ZERO, SCALE, SCALE, 3), (none, np.zeros((3, 0), "int8"))),
    }


@pytest.mark.parametrize("name", empty())
def test_tensors_without_elements(name: str) -> None:
    body, arrays = empty()[name]
    found = value(body, *arrays)
    assert found.shape == ((2, 3) if name == "dense" else (2, 0))
    assert not found.any()


def dynamic() -> dict[str, tuple[Expr, tuple[int, ...], str]]:
    random = np.random.default_rng(0)
    kernel = const(random.integers(-100, 100, (4, 3, 3, 3)).astype("int8"))
    rows = const(random.integers(-9, 9, (5, 6)).astype("int8"))

    def conv(*shape: object) -> Expr:
        images = data(*shape, dtype="uint8")
        result: Expr = op.conv2d(images, kernel, ZERO, const(1), SCALE, SCALE, (3, 3), 4, padding=1)
        return result

    cube = data(ANY, ANY, ANY)
    return {
        "batch": (conv(ANY, 3, 8, 8), (2, 3, 8, 8), "uint8"),
        "image": (conv(1, 3, ANY, ANY), (1, 3, 5, 7), "uint8"),
        "channels": (conv(1, ANY, 8, 8), (1, 3, 8, 8), "uint8"),
        "rows": (op.dense(data(ANY, 6), rows, ZERO, const(2), SCALE, SCALE, 5), (7, 6), "int8"),
        "batch_matmul": (op.batch_matmul(cube, cube, ZERO, const(1), SCALE, SCALE), (2, 3, 4), "int8"),
        "softmax": (op.softmax(cube, SCALE, ZERO, const(1 / 256), const(-128)), (2, 3, 4), "int8"),
        "pair": (op.mul(cube, cube, SCALE, ZERO, SCALE, ZERO, TO, ZERO), (2, 3, 4), "int8"),
    }


@pytest.mark.parametrize("name", dynamic())
def test_sizes_that_are_known_at_run_time(name: str) -> None:
    body, shape, dtype = dynamic()[name]
    limits = np.iinfo(dtype)
    x = np.random.default_rng(1).integers(limits.min, limits.max, shape, dtype, endpoint=True)
    expected = value(body, x)
    assert len(np.unique(expected)) > 3
    if name in ("batch", "softmax"):
        found = relay.create_executor("vm", mod=program(body)).evaluate()(x)
        np.testing.assert_array_equal(found.numpy(), expected)
