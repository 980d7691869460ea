"""Chapter 11: the relations agree with NumPy on the operators' reference implementations."""

from __future__ import annotations

import random

import numpy as np
from pocket import bridge, ir
from pocket.interpreter import apply
from pocket.relations import result_type
from pocket.types import TensorType, TupleType, TypeVariable

from tests.pocket.programs import programs

image, kernel = TensorType((1, 3, 9, 8)), TensorType((4, 3, 3, 2))
size = {"kernel_size": (3, 2), "padding": (1, 0), "strides": (2, 3)}
assert result_type("nn.conv2d", [image, kernel], size) == TensorType((1, 4, 5, 3))
assert result_type("add", [image, TypeVariable("a")], {}) is None
assert result_type("less", [TensorType((3, 1)), TensorType((4,))], {}) == TensorType((3, 4), "bool")
for name, *operands in [
    ("add", TensorType((3,)), TensorType((4,))),
    ("add", TensorType((3,)), TensorType((3,), "int32")),
    ("nn.dense", TensorType((1, 784)), TensorType((784, 256))),
    ("nn.bias_add", TensorType((1, 3)), TensorType((2,))),
    ("nn.conv2d", image, TensorType((4, 2, 3, 2))),
]:
    try:
        result_type(name, operands, {})
    except (TypeError, ValueError):
        continue
    raise AssertionError(f"{name} takes {operands}")


def type_of(value: object) -> object:
    if isinstance(value, tuple):
        return TupleType(tuple(map(type_of, value)))
    assert isinstance(value, np.ndarray)
    return TensorType(value.shape, str(value.dtype))


# Each call of an operator in the random programs, on numbers of its operands' types.
numbers, names, calls = random.Random(0), set(), 0
for generated in programs(60):
    converter = bridge.FromRelay()
    converter.module(generated.module)
    types = {
        converter.memo[expr]: converter.type(t)
        for expr, t in generated.types.items()
        if expr in converter.memo
    }
    for expr in list(converter.memo.values()):
        if not isinstance(expr, ir.Call) or not isinstance(expr.callee, ir.Op):
            continue
        operands = [types[arg] for arg in expr.args]

        def value(type_: object) -> object:
            if isinstance(type_, TupleType):
                return tuple(map(value, type_.parts))
            assert isinstance(type_, TensorType)
            return np.full(type_.shape, numbers.randint(0, 2)).astype(type_.dtype)

        result = apply(expr.callee, map(value, operands), expr.attrs)
        expected = types[expr]
        mine = result_type(expr.callee.name, operands, expr.attrs)
        types_of_call = f"the relation says {mine}, NumPy {type_of(result)} and the package {expected}"
        assert type_of(result) == expected == mine, f"{expr.callee.name} of {operands}: {types_of_call}"
        names.add(expr.callee.name)
        calls += 1
assert len(names) > 25, names
assert calls > 1000, calls
