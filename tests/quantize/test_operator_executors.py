"""Random networks of activations, products and means in integers: all executors agree bit for bit."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Expr, Function, IRModule, Var
from relay_explorer.lower.build import build
from relay_explorer.lower.executor import create_executor
from relay_explorer.quantize import Quantization, trace
from relay_explorer.quantize.schemes import Int8Int16, PerChannelAsymmetric
from relay_explorer.typing import infer_types
from tests.quantize.networks import Array, Params, decibels, normal, run

Random = np.random.Generator
SHAPE = (1, 8, 6, 6)


class Network:
    """A network that grows by random steps, all of whose values have one shape."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)
        self.params: Params = {}
        self.x = relay.var("x", shape=SHAPE)
        self.values: list[Expr] = [self.x]
        self.convolve()
        for _ in range(8):
            step = STEPS[int(self.random.integers(len(STEPS)))]
            self.values.append(step(self, self.values[-1], self.other()))
            if self.random.random() < 0.4:
                self.convolve()
        self.convolve()

    def other(self) -> Expr:
        return self.values[int(self.random.integers(1, len(self.values)))]

    def constant(self, *shape: int) -> Var:
        name = f"p{len(self.params)}"
        self.params[name] = normal(self.random, shape)
        variable: Var = relay.var(name, shape=shape)
        return variable

    def convolve(self) -> None:
        weight = self.constant(8, 8, 3, 3)
        self.params[weight.name_hint] *= np.float32(0.2)
        sums = relay.nn.conv2d(self.values[-1], weight, padding=(1, 1), channels=8, kernel_size=(3, 3))
        self.values.append(relay.nn.bias_add(sums, self.constant(8)))

    def module(self) -> IRModule:
        parameters = relay.analysis.free_vars(self.values[-1])
        rest = [variable for variable in parameters if variable is not self.x]
        return infer_types(IRModule.from_expr(Function([self.x, *rest], self.values[-1])))


def gate(network: Network, x: Expr, other: Expr) -> Expr:
    result: Expr = x * relay.sigmoid(relay.mean(other, axis=(2, 3), keepdims=True))
    return result


def halves(network: Network, x: Expr, other: Expr) -> Expr:
    first, second = relay.split(x, 2, axis=1)
    result: Expr = relay.concatenate([relay.tanh(second), first], axis=1)
    return result


def enlarged(network: Network, x: Expr, other: Expr) -> Expr:
    method = "linear" if network.random.random() < 0.5 else "nearest_neighbor"
    rounding = "" if method == "linear" else "floor"
    large = relay.image.resize2d(
        relay.nn.max_pool2d(x, (2, 2), strides=(2, 2)),
        size=(6, 6),
        method=method,
        coordinate_transformation_mode="asymmetric",
        rounding_method=rounding,
    )
    result: Expr = large
    return result


Step = Callable[[Network, Expr, Expr], Expr]
STEPS: list[Step] = [
    lambda network, x, other: x * relay.sigmoid(x),
    lambda network, x, other: x * relay.clip(x + relay.const(3.0), 0, 6) / relay.const(6.0),
    lambda network, x, other: relay.nn.prelu(x, network.constant(8)),
    lambda network, x, other: relay.nn.leaky_relu(x, 0.2),
    lambda network, x, other: x * network.constant(8, 1, 1),
    lambda network, x, other: relay.tanh(x) * other,
    lambda network, x, other: x - other,
    lambda network, x, other: relay.maximum(x, other),
    lambda network, x, other: relay.minimum(x, relay.const(0.5)),
    gate,
    halves,
    enlarged,
]


def quantized(seed: int) -> tuple[Quantization, Array]:
    network = Network(seed)
    data = [{"x": normal(network.random, SHAPE)} for _ in range(3)]
    scheme = Int8Int16() if seed % 4 == 3 else PerChannelAsymmetric(signed=seed % 2 == 0)
    return trace(network.module(), scheme, network.params, data), data[0]["x"]


@pytest.mark.parametrize("seed", range(1, 4))
def test_compiled_programs_compute_what_the_interpreter_does(seed: int) -> None:
    quantization, x = quantized(seed)
    expected = run(quantization.realized, x)
    for kind in ("graph", "vm"):
        compiled = create_executor(kind, quantization.realized).evaluate()(x).numpy()
        np.testing.assert_array_equal(compiled, expected, err_msg=f"{kind}: {quantization.realized}")


@pytest.mark.parametrize("seed", [5])
def test_native_programs_compute_what_the_interpreter_does(seed: int) -> None:
    quantization, x = quantized(seed)
    native = build(quantization.realized, executor="aot", quiet=True)
    np.testing.assert_array_equal(native(x), run(quantization.realized, x))


@pytest.mark.parametrize("seed", range(20, 32))
def test_every_call_is_an_integer_one_that_the_simulation_predicts(seed: int) -> None:
    quantization, x = quantized(seed)
    assert not quantization.kept
    floats, simulated, integers = (
        run(mod, x) for mod in (quantization.float_program, quantization.calibrated, quantization.realized)
    )
    assert decibels(simulated, integers) > 20
    assert decibels(floats, integers) > min(15, decibels(floats, simulated) - 3)
