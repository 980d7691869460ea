"""Operators on the elements of quantized tensors: within one step of real arithmetic, or exactly rounded."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import relay
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import const
from relay_explorer.ops.qnn.config import requantize_config
from tests.ops.qnn.evaluate import program, value
from tests.ops.qnn.generate import Array

EVERY = {"int8": np.arange(-128, 128).astype("int8"), "uint8": np.arange(256).astype("uint8")}


def real(x: Array, scale: float, zero: int) -> Array:
    return np.asarray((x.astype("float64") - zero) * scale)


def nearest(values: Array, scale: float, zero: int, dtype: str) -> Array:
    limits = np.iinfo(dtype)
    units = np.rint(np.nan_to_num(values / scale, nan=0.0, posinf=1e9, neginf=-1e9)) + zero
    return np.asarray(np.clip(units, limits.min, limits.max), "int64")


FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "abs": np.abs,
    "erf": np.vectorize(math.erf),
    "exp": np.exp,
    "hardswish": lambda x: x * np.clip(x + 3, 0, 6) / 6,
    "log": np.log,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sqrt": np.sqrt,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_are_rounded_once(name: str, dtype: str) -> None:
    x, build = EVERY[dtype], getattr(relay.qnn.op, name)
    scale, zero, to, end = 0.05, 17, 0.03, 9
    data = relay.var("x", shape=x.shape, dtype=dtype)
    found = value(build(data, const(scale), const(zero), const(to), const(end)), x)
    with np.errstate(all="ignore"):
        values = FUNCTIONS[name](real(x, float(np.float32(scale)), zero))
    expected = nearest(values, float(np.float32(to)), end, dtype)
    # the argument of the function is rounded to float32, which can decide a tie
    assert (found != expected).sum() <= 4
    assert np.abs(found - expected).max() <= 1


def test_a_program_may_compute_the_parameters_of_a_function() -> None:
    x = EVERY["uint8"]
    data, scale = relay.var("x", shape=x.shape, dtype="uint8"), relay.var("s", shape=())
    body = relay.qnn.op.tanh(data, scale, const(128), const(0.01), const(100))
    module = program(body)
    arguments = [x, np.asarray(0.02, "float32")]
    exact = Interpreter(module).call("main", arguments)
    plain = Interpreter(relay.qnn.transform.CanonicalizeOps()(module)).call("main", arguments)
    assert np.abs(plain.astype("int64") - exact).max() <= 1


def test_a_function_of_a_result_without_a_scale_is_refused() -> None:
    data = relay.var("x", shape=(2,), dtype="int8")
    body = relay.qnn.op.exp(data, const(0.1), const(0), const(0.0), const(0))
    module = program(body)
    with raises(
        snapshot(
            "RelayError:\n"
            "error: `qnn.exp` cannot be compiled: the scale of the result is 0, but must be positive "
            "and finite\n"
            "help: compute scales from the range of the values: (maximum - minimum) / 255 for 8 bits"
        )
    ):
        relay.qnn.transform.CanonicalizeOps()(module)


PARAMETERS = (0.05, 17, 0.11, -4, 0.13, 5)


def pair(name: str, parameters: tuple[float, ...], dtype: str = "int8") -> tuple[Array, Array, Array]:
    """Evaluate a binary operator for all pairs of 64 integers; return them and the result."""
    random = np.random.default_rng(0)
    x, y = (random.choice(EVERY[dtype], (64, 1)), random.choice(EVERY[dtype], 64))
    operands = [relay.var(n, shape=a.shape, dtype=dtype) for n, a in (("x", x), ("y", y))]
    consts = [const(p, ("float32", "int32")[k % 2]) for k, p in enumerate(parameters)]
    return x, y, value(getattr(relay.qnn.op, name)(*operands, *consts), x, y)


COMBINED: dict[str, Anything] = {"add": np.add, "subtract": np.subtract, "mul": np.multiply}


@pytest.mark.parametrize("compute_dtype", ["int64", "float32", "float64"])
@pytest.mark.parametrize("name", COMBINED)
def test_pairs_are_within_one_step(name: str, compute_dtype: str) -> None:
    a, za, b, zb, c, zc = PARAMETERS
    with requantize_config(compute_dtype=compute_dtype, rounding="TOEVEN"):
        x, y, found = pair(name, PARAMETERS)
    values = COMBINED[name](real(x, a, int(za)), real(y, b, int(zb)))
    difference = np.abs(found - nearest(values, c, int(zc), "int8"))
    assert difference.max() <= 1
    if name == "mul":  # which is rounded once
        assert (difference > 0).mean() < 0.01


@pytest.mark.parametrize("name", ["add", "subtract"])
def test_equal_scales_are_exact(name: str) -> None:
    x, y, found = pair(name, (0.1, 3, 0.1, 3, 0.1, 3), "uint8")
    sign = 1 if name == "add" else -1
    units = (x.astype("int64") - 3) + sign * (y.astype("int64") - 3) + 3
    assert found.tolist() == np.clip(units, 0, 255).tolist()


@pytest.mark.parametrize("name", COMBINED)
def test_large_factors_saturate_rather_than_wrap(name: str) -> None:
    """Each operand saturates at 2³⁰, so that the sum of two does not leave 32 bits."""
    x, y, found = pair(name, (100.0, 0, 100.0, 0, 0.001, 0))
    values = COMBINED[name](x.astype("int64"), y.astype("int64"))
    certain = np.abs(values) > 0 if name == "mul" else (np.abs(x + 0 * y) > 0) & (np.abs(y + 0 * x) > 0)
    apart = np.sign(x.astype("int64")) != np.sign(y.astype("int64")) * (1 if name == "add" else -1)
    certain = certain & ~apart if name != "mul" else certain
    assert set(found[certain].tolist()) <= {-128, 127}
    assert (np.sign(found) == np.sign(values))[certain].all()


def test_products_of_16_bits_do_not_overflow() -> None:
    x = np.array([-32768, 32767, 12345, -1], "int16")
    a, b = (relay.var(n, shape=x.shape, dtype="int16") for n in "xy")
    one, scale = const(1.0), const(2.0**18)
    body = relay.qnn.op.mul(a, b, one, const(-32768), one, const(32767), scale, const(0))
    expected = (x.astype("int64") + 32768) * (x.astype("int64") - 32767) / 2**18
    assert value(body, x, x).tolist() == np.floor(expected + 0.5).tolist()


def test_scales_of_two_axes_are_refused() -> None:
    x, y = (relay.var(n, shape=(2, 2), dtype="int8") for n in "xy")
    vector = const(np.array([0.1, 0.2], "float32"))
    body = relay.qnn.op.mul(
        x, y, vector, const(0), vector, const(0), const(0.1), const(0), lhs_axis=0, rhs_axis=1
    )
    module = program(body)
    with raises(
        snapshot(
            "RelayError:\n"
            "error: `qnn.mul` cannot be compiled: the scales of both operands vary, along different "
            "axes of the product\n"
            "help: dequantize one of the operands: relay.qnn.op.dequantize"
        )
    ):
        relay.qnn.transform.CanonicalizeOps()(module)


def test_parts_of_a_concatenation_get_one_scale() -> None:
    x, y = np.array([[10, 20]], "int8"), np.array([[30, -100]], "int8")
    operands = [relay.var(n, shape=(1, 2), dtype="int8") for n in "xy"]
    scales, zeros = [const(0.5), const(0.25)], [const(0), const(10)]
    body = relay.qnn.op.concatenate(operands, scales, zeros, const(0.5), const(0), axis=1)
    assert value(body, x, y).tolist() == [[10, 20, 10, -55]]


@pytest.mark.parametrize("alpha", [0.1, 0.0, 1.5, -0.5])
def test_leaky_relu_is_rounded_once(alpha: float) -> None:
    x = EVERY["int8"]
    data = relay.var("x", shape=x.shape, dtype="int8")
    body = relay.qnn.op.leaky_relu(data, alpha, const(0.07), const(11), const(0.05), const(-3))
    values = real(x, float(np.float32(0.07)), 11)
    expected = nearest(np.where(values < 0, alpha * values, values), float(np.float32(0.05)), -3, "int8")
    with requantize_config(rounding="TOEVEN"):
        assert value(body, x).tolist() == expected.tolist()


def test_a_slope_that_is_no_number_is_refused() -> None:
    data = relay.var("x", shape=(2,), dtype="int8")
    body = relay.qnn.op.leaky_relu(data, math.inf, const(0.1), const(0), const(0.1), const(0))
    module = program(body)
    with raises(
        snapshot(
            "RelayError:\n"
            "error: `qnn.leaky_relu` cannot be compiled: alpha=inf must be finite, and less than "
            "5.37e+08\n"
            "help: it is the slope below zero, such as 0.1"
        )
    ):
        relay.qnn.transform.CanonicalizeOps()(module)


@pytest.mark.parametrize("dtype", EVERY)
@pytest.mark.parametrize("scale", [0.01, 0.2, 3.0])
def test_softmax_is_within_one_step(dtype: str, scale: float) -> None:
    x = np.random.default_rng(6).choice(EVERY[dtype], (5, 40))
    data = relay.var("x", shape=x.shape, dtype=dtype)
    zero = -128 if dtype == "int8" else 0
    body = relay.qnn.op.softmax(data, const(scale), const(3), const(1 / 256), const(zero))
    powers = np.exp(real(x, scale, 0) - real(x, scale, 0).max(1, keepdims=True))
    expected = nearest(powers / powers.sum(1, keepdims=True), 1 / 256, zero, dtype)
    assert np.abs(value(body, x) - expected).max() <= 1


def test_softmax_takes_a_scale_that_the_program_computes() -> None:
    x = np.random.default_rng(6).choice(EVERY["int8"], (3, 9))
    data, scale = relay.var("x", shape=x.shape, dtype="int8"), relay.var("s", shape=(1,))
    body = relay.qnn.op.softmax(data, scale, const(0), const(1 / 256), const(-128))
    module = program(body)
    arguments = [x, np.array([0.1], "float32")]
    exact = Interpreter(module).call("main", arguments)
    plain = Interpreter(relay.qnn.transform.CanonicalizeOps()(module)).call("main", arguments)
    assert np.abs(plain.astype("int64") - exact).max() <= 1


@pytest.mark.parametrize("padded", [False, True])
def test_a_mean_is_rounded_once(padded: bool) -> None:
    x = np.random.default_rng(8).choice(EVERY["uint8"], (1, 6, 6, 3))
    data = relay.var("x", shape=x.shape, dtype="uint8")
    padding = (1, 1) if padded else (0, 0)
    body = relay.qnn.op.avg_pool2d(
        data, const(0.1), const(50), const(0.07), const(3), (3, 3), (2, 2), padding, (1, 1), False, True
    )
    centered = np.pad(real(x, 0.1, 50), ((0, 0), *[(padding[0],) * 2] * 2, (0, 0)))
    windows = np.lib.stride_tricks.sliding_window_view(centered, (3, 3), (1, 2))[:, ::2, ::2]
    difference = np.abs(value(body, x) - nearest(windows.mean((-1, -2)), 0.07, 3, "uint8"))
    assert difference.max() <= 1
    assert (difference > 0).mean() < 0.02
