"""Whole programs, compiled, give what the interpreter gives."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Call, Expr, Function, IRModule, TensorType, Tuple, TupleType, Type, Var
from relay_explorer.ir.narrow import as_tensor_type
from relay_explorer.models.dqn import dqn
from relay_explorer.models.lenet import lenet
from relay_explorer.models.lstm import lstm
from relay_explorer.models.mlp import mlp
from relay_explorer.models.mobilenet import mobilenet
from relay_explorer.models.resnet import resnet
from relay_explorer.models.transformer import encoder
from relay_explorer.relay import const
from relay_explorer.testing import Generator, tensor_call
from relay_explorer.typing import infer_types
from tests.analysis.storage_programs import random_function
from tests.transform.networks import Network

SEEDS = range(3)


def arguments(module: IRModule, seed: int = 0) -> list[Any]:
    """Random arguments for `main`: small weights, so that values stay small through many layers; positive
    variances.
    """
    rng = np.random.default_rng(seed)
    result = []
    for param in module["main"].params:
        type_ = param.checked_type
        type_ = as_tensor_type(type_)
        shape = type_.concrete_shape
        fan = int(np.prod(shape[1:])) if len(shape) > 1 else 1
        values = rng.standard_normal(shape) / max(1.0, fan) ** 0.5
        if "var" in param.name_hint:
            values = np.abs(values) + 0.5
        result.append(values.astype(type_.dtype) if type_.dtype != "bool" else values > 0)
    return result


def flat(value: Any) -> list[Any]:
    return [leaf for part in value for leaf in flat(part)] if isinstance(value, tuple) else [value]


def check(module: IRModule, opt_level: int = 3, bind: bool = True, seed: int = 0) -> None:
    """Compiles the module, all parameters but the first bound if `bind`, and compares."""
    module = infer_types(module)
    main = module["main"]
    inputs = arguments(module, seed)
    bound = {p.name_hint: array for p, array in list(zip(main.params, inputs))[1:]} if bind else {}
    exe = relay_explorer.build(module, params=bound, opt_level=opt_level)
    result = exe(*inputs[:1]) if bind else exe(*inputs)
    with np.errstate(all="ignore"):
        call = Call(module.get_global_var("main"), [const(array) for array in inputs])
        expected = Interpreter(module).evaluate(call)
    for a, b in zip(flat(expected), flat(result), strict=True):
        assert (a.dtype, a.shape) == (b.dtype, b.shape)
        scale = max(1e-3, float(np.abs(np.nan_to_num(a)).max(initial=0)))
        np.testing.assert_allclose(b, a, rtol=1e-4, atol=1e-4 * scale)


MODELS: dict[str, Callable[[], IRModule]] = {
    "mlp": mlp,
    "lenet": lenet,
    "dqn": dqn,
    "resnet": lambda: resnet(18, classes=10, image=(3, 32, 32)),
    "mobilenet": lambda: mobilenet(classes=10, image=(3, 32, 32)),
    "lstm": lambda: lstm(steps=4, inputs=16, hidden=32),
    "transformer": lambda: encoder(layers=1, tokens=16, width=64, heads=4, hidden=128),
}


@pytest.mark.parametrize("name", MODELS)
def test_models(name: str) -> None:
    check(MODELS[name]())


@pytest.mark.parametrize("seed", SEEDS)
def test_networks_of_images(seed: int) -> None:
    check(Network(seed, channels=(3, 8, 16)).images(8), seed=seed, bind=bool(seed % 2))


@pytest.mark.parametrize("seed", SEEDS)
def test_networks_of_rows(seed: int) -> None:
    check(Network(seed, channels=(4, 16, 32)).rows(10), seed=seed, bind=bool(seed % 2))


@pytest.mark.parametrize("seed", range(6))
def test_random_programs(seed: int) -> None:
    """With branches, tuples, names and shared values, fused and not."""
    module = IRModule.from_expr(random_function(seed))
    check(module, opt_level=3 if seed else 0, bind=False, seed=seed)


class Flow(Generator):
    """Random programs that only compute tensors, of all kinds of operators and element types."""

    def type(self, depth: int = 2) -> Type:
        if depth and self.chance(0.15):
            return TupleType([self.type(depth - 1) for _ in range(self.rng.randint(0, 3))])
        dtypes = ["float32", "float32", "float32", "int32", "bool", "float64"]
        return TensorType.of(self.shape(), self.rng.choice(dtypes))

    def producers(self, type_: Type) -> list[Callable[[Type], Expr]]:
        producers: list[Callable[[Type], Expr]] = [self.let, self.branch, self.projection]
        if isinstance(type_, TensorType):
            return producers + [lambda _: tensor_call(self, type_)] * 14
        return producers + [self.plain] * 8

    def flow(self) -> IRModule:
        params = [Var(f"x{number}", self.type(0)) for number in range(4)]
        self.types |= {param: as_tensor_type(param.type_annotation) for param in params}
        with self.within(params):
            return IRModule.from_expr(Function(params, Tuple([self.expr(self.type()) for _ in range(2)])))


@pytest.mark.parametrize("seed", [39, 53])
def test_programs_of_many_operators(seed: int) -> None:
    """In 39, loops that count in different types meet; in 53, a maximum that TVM does not take apart."""
    check(Flow(random.Random(seed), 25).flow(), bind=False, seed=seed)


def test_what_is_computed_within_what_stays_bounded() -> None:
    """Written as one expression, this has 2 ** 40 terms."""
    x = relay.var("x", shape=(4,))
    value: Any = x
    for _ in range(40):
        value = relay.maximum(value, const(0.5) - value)
    check(IRModule.from_expr(Function([x], value)), bind=False)
