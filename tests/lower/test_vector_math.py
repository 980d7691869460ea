"""Functions that are computed in vectors are as exact as those of the C library, but for the last digits, for
all numbers, and for what is none.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Expr, Function, IRModule, Var
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.require import tvm
from relay_explorer.lower.targets.target import Target
from relay_explorer.typing import infer_types

SPECIAL = [
    math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-8, -1e-8, 1e-40, 88.5, 88.72, -87.4, -103.0, 0.625, -4.0,
    1.0, 0.7071067, 0.7071068, 1.1754944e-38, 3.4028235e38, -3.4028235e38, -1.0, 8.0, 1000.0,
]  # fmt: skip
# Near multiples of π/2, the second as near as a float32 comes, and within each of the ranges of exponents
TURNS = [
    3.1415927, 16367173 * 2.0**72, -11.0, 710.0, 1e5, -123456.78, 2.0**30 + 64, 1e10, 4e16, -3e20, 1e25, 2e33,
]  # fmt: skip
COUNT = 4096
erf = np.vectorize(math.erf)
CASES: dict[str, tuple[Callable[[Any], Any], float, float]] = {
    # reference, error relative to the value, error beside it
    "exp": (np.exp, 3e-7, 1e-44),
    "log": (np.log, 3e-7, 1e-7),
    "tanh": (np.tanh, 3e-7, 1e-44),
    "erf": (erf, 5e-7, 1e-43),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), 3e-7, 1e-37),
    "sin": (np.sin, 3e-7, 1e-44),
    "cos": (np.cos, 3e-7, 1e-44),
    "tan": (np.tan, 5e-7, 1e-44),
}
Array = Any


def run(params: list[Var], bodies: list[Expr], arguments: list[Array]) -> tuple[list[Array], str]:
    """Return the results of one kernel, and its assembly."""
    function = infer_types(IRModule.from_expr(Function(params, relay.Tuple(bodies))))["main"]
    assert isinstance(function, Function)
    executable = generated(scheduled(function, "kernel", Target.of("cpu")))
    outs = [tvm().runtime.tensor(np.full(arguments[0].shape, 7, arguments[0].dtype)) for _ in bodies]
    executable["kernel"](*map(tvm().runtime.tensor, arguments), *outs)
    return [out.numpy() for out in outs], executable.mod.inspect_source("s")


SIGNED = ("sin", "tan")  # of which a zero has the right sign


def agree(name: str, result: Array, expected: Array, relative: float, absolute: float) -> None:
    assert np.array_equal(np.isnan(result), np.isnan(expected)), name
    numbers = ~np.isnan(expected) & ((expected != 0) | (name in SIGNED))
    assert np.array_equal(np.signbit(result)[numbers], np.signbit(expected)[numbers]), name
    assert np.array_equal(result[np.isinf(expected)], expected[np.isinf(expected)]), name
    result, expected = (x[np.isfinite(expected)].astype("float64") for x in (result, expected))
    assert (np.abs(result - expected) <= relative * np.abs(expected) + absolute).all(), name


@pytest.mark.parametrize("size", [COUNT, COUNT - 3], ids=["vectors", "odd"])
def test_it_is_exact_in_all_digits_but_the_last(size: int) -> None:
    dense = np.linspace(-6, 6, size // 2)
    wide = np.linspace(-110, 95, size - size // 2 - len(SPECIAL) - len(TURNS))
    arguments = np.concatenate([SPECIAL, TURNS, dense, wide]).astype("float32")
    x = relay.var("x", shape=(size,))
    results, assembly = run([x], [getattr(relay, name)(x) for name in CASES], [arguments])
    for result, (name, (reference, relative, absolute)) in zip(results, CASES.items(), strict=True):
        assert f"{name}f" not in assembly  # the C library is not called
        with np.errstate(all="ignore"):
            expected = reference(arguments.astype("float64")).astype("float32")
        agree(name, result, expected, relative, absolute)


def test_other_element_types_are_left_to_the_c_library() -> None:
    x = relay.var("x", shape=(8,), dtype="float64")
    arguments = np.linspace(-300, 300, 8)
    names = ("exp", "sin", "cos", "tan")
    results, _ = run([x], [getattr(relay, name)(x) for name in names], [arguments])
    for name, result in zip(names, results, strict=True):
        assert np.allclose(result, getattr(np, name)(arguments), rtol=1e-13), name
