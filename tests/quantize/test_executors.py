"""Random quantized programs: interpreter, graph executor, VM and native code agree bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Expr, Function, IRModule, Var
from relay_explorer.lower.build import build
from relay_explorer.lower.executor import create_executor
from relay_explorer.quantize import KLDivergence, Quantization, Scheme, qconfig, trace
from relay_explorer.quantize.schemes import (
    Int8Int16,
    PerChannelAsymmetric,
    Ternary,
    TvmSymmetric,
)
from relay_explorer.typing import infer_types
from tests.quantize.networks import Array, Inputs, Params, normal, operators, run

Random = np.random.Generator
CHANNELS = 4


def random_program(seed: int) -> tuple[IRModule, Params, Inputs]:
    """Build a random network: convolutions and what stands between them, a dense layer at the end."""
    random = np.random.default_rng(seed)
    params: Params = {}
    x = relay.var("x", shape=(1, CHANNELS, 8, 8))
    values: list[Expr] = [x]
    for step in range(int(random.integers(3, 7))):
        operand = values[int(random.integers(max(len(values) - 2, 0), len(values)))]
        values.append(random.choice(STEPS)(random, operand, values, f"p{step}", params))  # type: ignore[arg-type]  # functions
    flat = relay.nn.batch_flatten(relay.nn.max_pool2d(values[-1], pool_size=(8, 8)))
    params["last"] = normal(random, (5, CHANNELS))
    result = relay.nn.dense(flat, weight("last", params), units=5)
    names: dict[str, Var] = {}
    for var in relay.analysis.free_vars(result):
        names[var.name_hint] = var
    mod = infer_types(IRModule.from_expr(Function([x, *[v for n, v in names.items() if n != "x"]], result)))
    data: Inputs = [{"x": normal(random, (1, CHANNELS, 8, 8))} for _ in range(3)]
    return mod, params, data


def weight(name: str, params: Params) -> Var:
    variable: Var = relay.var(name, shape=params[name].shape)
    return variable


Step = Callable[[Random, Expr, list[Expr], str, Params], Expr]


def convolution(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    params[name] = normal(random, (CHANNELS, CHANNELS, 3, 3)) * 0.3
    result: Expr = relay.nn.conv2d(
        x, weight(name, params), padding=(1, 1), channels=CHANNELS, kernel_size=(3, 3)
    )
    if random.random() < 0.5:
        params[f"{name}b"] = normal(random, (CHANNELS,))
        result = relay.nn.bias_add(result, weight(f"{name}b", params))
    return result


def depthwise(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    params[name] = normal(random, (CHANNELS, 1, 3, 3))
    result: Expr = relay.nn.conv2d(
        x, weight(name, params), padding=(1, 1), channels=CHANNELS, groups=CHANNELS, kernel_size=(3, 3)
    )
    return result


def relu(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    result: Expr = relay.nn.relu(x) if random.random() < 0.5 else relay.clip(x, 0.0, 1.7)
    return result


def pooled(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    pool = relay.nn.max_pool2d if random.random() < 0.5 else relay.nn.avg_pool2d
    result: Expr = pool(x, pool_size=(3, 3), padding=(1, 1))
    return result


def added(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    return x + values[int(random.integers(len(values)))]


def scaled(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    if random.random() < 0.5:
        return x * relay.const(0.37)
    params[name] = normal(random, (CHANNELS, 1, 1))
    return x + weight(name, params)


def as_float(random: Random, x: Expr, values: list[Expr], name: str, params: Params) -> Expr:
    """An operation that no scheme quantizes, and that all executors compute alike."""
    result: Expr = relay.abs(x)
    return result


STEPS: list[Step] = [convolution, convolution, depthwise, relu, pooled, added, scaled, as_float]
EVERYTHING = {"skip_conv_layers": None, "skip_dense_layer": False}
KL = qconfig(**EVERYTHING, calibrate_mode="kl_divergence", weight_scale="max")
SCHEMES: list[Scheme] = [
    PerChannelAsymmetric(),
    PerChannelAsymmetric(signed=False, calibrator=KLDivergence()),
    Int8Int16(),
    Ternary(keep=()),
    TvmSymmetric(KL),
    TvmSymmetric(qconfig(**EVERYTHING)),
]


def quantized(seed: int) -> tuple[Quantization, Array]:
    mod, params, data = random_program(seed)
    quantization = trace(mod, SCHEMES[seed % len(SCHEMES)], params, data)
    return quantization, data[0]["x"]


@pytest.mark.parametrize("seed", range(6))
def test_compiled_programs_compute_what_the_interpreter_does(seed: int) -> None:
    quantization, x = quantized(seed)
    expected = run(quantization.realized, x)
    assert np.isfinite(expected).all()
    for kind in ("graph", "vm"):
        compiled = create_executor(kind, quantization.realized).evaluate()(x).numpy()
        np.testing.assert_array_equal(compiled, expected, err_msg=f"{kind}: {quantization.realized}")


@pytest.mark.parametrize("seed", [0])
def test_native_programs_compute_what_the_interpreter_does(seed: int) -> None:
    quantization, x = quantized(seed)
    native = build(quantization.realized, executor="aot", quiet=True)
    np.testing.assert_array_equal(native(x), run(quantization.realized, x))


@pytest.mark.parametrize("seed", range(40, 52))
def test_integers_are_what_the_simulation_predicts(seed: int) -> None:
    """The simulation rounds at the same places; fixed-point arithmetic adds at most a few steps."""
    quantization, x = quantized(seed)
    simulated, integers = run(quantization.calibrated, x), run(quantization.realized, x)
    signal, noise = (simulated**2).sum(), ((simulated - integers) ** 2).sum()
    assert noise <= signal * 10**-2.0, (signal, noise)
    assert any("conv2d" in name or "dense" in name for name in operators(quantization.realized))
