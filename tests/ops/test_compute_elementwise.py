"""What element-wise operators compute, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest
import torch

from relay_explorer.execute import ExecutionError
from relay_explorer.ir.expr import Call
from relay_explorer.ir.op import Op
from relay_explorer.ops import namespaces as logical
from relay_explorer.ops import namespaces as unary
from tests.ops.meanings import FLOATS, INTEGERS, Array, close, evaluate, numbers, rng, shape

Reference = Callable[..., torch.Tensor]
SMOOTH: dict[str, Reference] = {
    "exp": torch.exp, "log": torch.log, "log2": torch.log2, "log10": torch.log10, "sqrt": torch.sqrt,
    "rsqrt": torch.rsqrt, "erf": torch.erf, "sigmoid": torch.sigmoid, "tanh": torch.tanh, "sin": torch.sin,
    "cos": torch.cos, "tan": torch.tan, "sinh": torch.sinh, "cosh": torch.cosh, "asin": torch.asin,
    "acos": torch.acos, "atan": torch.atan, "asinh": torch.asinh, "acosh": torch.acosh, "atanh": torch.atanh,
    "fast_exp": torch.exp, "fast_tanh": torch.tanh, "fast_erf": torch.erf,
}  # fmt: skip
EXACT: dict[str, Reference] = {
    "abs": torch.abs, "sign": torch.sign, "negative": torch.neg, "copy": torch.clone, "floor": torch.floor,
    "ceil": torch.ceil, "round": torch.round, "trunc": torch.trunc,
}  # fmt: skip
TESTS: dict[str, Reference] = {"isnan": torch.isnan, "isfinite": torch.isfinite, "isinf": torch.isinf}
ARITHMETIC: dict[str, Reference] = {
    "add": torch.add, "subtract": torch.subtract, "multiply": torch.multiply, "maximum": torch.maximum,
    "minimum": torch.minimum, "mod": torch.fmod,
    "floor_divide": lambda a, b: torch.div(a, b, rounding_mode="floor"),
    "floor_mod": torch.remainder,
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc"), "trunc_mod": torch.fmod,
}  # fmt: skip
BITS: dict[str, Reference] = {
    "bitwise_and": torch.bitwise_and, "bitwise_or": torch.bitwise_or, "bitwise_xor": torch.bitwise_xor,
    "left_shift": torch.bitwise_left_shift, "right_shift": torch.bitwise_right_shift,
}  # fmt: skip
COMPARISONS: dict[str, Reference] = {
    "equal": torch.eq, "not_equal": torch.ne, "less": torch.lt, "less_equal": torch.le, "greater": torch.gt,
    "greater_equal": torch.ge,
}  # fmt: skip
LOGICAL: dict[str, Reference] = {
    "logical_and": torch.logical_and, "logical_or": torch.logical_or, "logical_xor": torch.logical_xor,
}  # fmt: skip


def call(name: str, *arrays: Array) -> Anything:
    return evaluate(lambda *args: Call(Op.get(name), args), *arrays)


def pair(random: np.random.Generator, dtype: str) -> tuple[Array, Array]:
    """Two tensors that broadcast, either of them the wider on each axis."""
    full = shape(random)
    sides = []
    for _ in range(2):
        kept = tuple([extent if random.random() < 0.6 else 1 for extent in full])
        sides.append(numbers(random, kept[int(random.integers(0, len(kept) + 1)) :], dtype))
    return sides[0], sides[1]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", SMOOTH)
def test_functions_of_a_number(name: str, dtype: str) -> None:
    random = rng(name, dtype)
    for _ in range(4):
        x = numbers(random, shape(random), dtype)
        wanted = SMOOTH[name](torch.tensor(x, dtype=torch.float64)).numpy().astype(dtype)
        close(call(name, x), wanted)


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "int32", "int64"])
@pytest.mark.parametrize("name", EXACT)
def test_sign_and_rounding(name: str, dtype: str) -> None:
    random = rng(name, dtype)
    x = numbers(random, (5, 7), dtype) * 3
    close(call(name, x), EXACT[name](torch.tensor(x)))
    if dtype in FLOATS:
        halves = np.array([-2.5, -1.5, -0.5, 0.0, 0.5, 1.5, 2.5, np.inf, -np.inf], dtype)
        close(call(name, halves), EXACT[name](torch.tensor(halves)))


@pytest.mark.parametrize("name", TESTS)
def test_tests(name: str) -> None:
    x = np.array([0, 1, np.nan, np.inf, -np.inf], "float32")
    close(call(name, x), TESTS[name](torch.tensor(x)))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
@pytest.mark.parametrize("name", ARITHMETIC)
def test_arithmetic_broadcasts(name: str, dtype: str) -> None:
    random = rng(name, dtype)
    for _ in range(5):
        a, b = pair(random, dtype)
        wanted = ARITHMETIC[name](torch.tensor(a), torch.tensor(b))
        close(call(name, a, b), wanted, {"float16": 4e-2, "float32": 1e-5}.get(dtype))


@pytest.mark.parametrize("dtype", [*FLOATS, *INTEGERS])
def test_divide_keeps_the_whole_part_of_integers(dtype: str) -> None:
    a, b = numbers(rng(dtype), (200,), dtype), numbers(rng(dtype, 2), (200,), dtype)
    mode = None if dtype in FLOATS else "trunc"
    close(call("divide", a, b), torch.div(torch.tensor(a), torch.tensor(b), rounding_mode=mode))


@pytest.mark.parametrize("name", ["divide", "mod", "floor_divide", "floor_mod", "trunc_divide", "trunc_mod"])
def test_an_integer_divided_by_zero_is_an_error(name: str) -> None:
    with pytest.raises(ExecutionError, match=f"`{name}` failed: an integer is divided by zero"):
        call(name, np.array([1, 2]), np.array([1, 0]))


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "uint8"])
def test_power(dtype: str) -> None:
    random = rng(dtype)
    a = np.abs(numbers(random, (20,), dtype))
    b = np.abs(numbers(random, (20,), dtype)) if dtype[0] != "f" else numbers(random, (20,), dtype)
    b = b % 3 if dtype[0] != "f" else b
    close(call("power", a, b), torch.pow(torch.tensor(a), torch.tensor(b)))


@pytest.mark.parametrize("dtype", ["int32", "int64", "uint8"])
@pytest.mark.parametrize("name", BITS)
def test_bits(name: str, dtype: str) -> None:
    random = rng(name, dtype)
    a, b = pair(random, dtype)
    b = np.abs(b) % 7 if "shift" in name else b
    close(call(name, a, b), BITS[name](torch.tensor(a), torch.tensor(b)))
    close(call("bitwise_not", a), torch.bitwise_not(torch.tensor(a)))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
@pytest.mark.parametrize("name", COMPARISONS)
def test_comparisons(name: str, dtype: str) -> None:
    a, b = pair(rng(name, dtype), dtype)
    close(call(name, a, b), COMPARISONS[name](torch.tensor(a), torch.tensor(b)))


@pytest.mark.parametrize("name", LOGICAL)
def test_truth_values(name: str) -> None:
    a, b = pair(rng(name, 3), "bool")
    close(call(name, a, b), LOGICAL[name](torch.tensor(a), torch.tensor(b)))
    close(call("logical_not", a), torch.logical_not(torch.tensor(a)))


@pytest.mark.parametrize("kind", ["bool", "float32", "int32"])
def test_where_takes_what_is_not_zero_as_true(kind: str) -> None:
    random = rng(kind)
    condition = numbers(random, (3, 1), kind) * numbers(random, (3, 1), "bool")
    x, y = numbers(random, (1, 4)), numbers(random, (2, 1, 1))
    found = evaluate(logical.where, condition, x, y)
    close(found, torch.where(torch.tensor(condition != 0), torch.tensor(x), torch.tensor(y)))


@pytest.mark.parametrize("dtype", [*FLOATS, "int8", "int32"])
def test_clip(dtype: str) -> None:
    x = numbers(rng(dtype), (40,), dtype)
    close(evaluate(lambda v: unary.clip(v, -1, 2), x), torch.clamp(torch.tensor(x), -1, 2))
    close(evaluate(lambda v: unary.clip(v, -1e30, 1e30), x), x)


def test_zero_axes_and_no_elements() -> None:
    for extents in ((), (0,), (3, 0, 2)):
        x = np.ones(extents, "float32")
        for name in ("exp", "erf", "abs", "add", "greater"):
            found = call(name, *[x] * Op.get(name).num_inputs)
            assert found.shape == extents


def test_overflow_is_a_value_and_no_warning() -> None:
    close(call("exp", np.array([1000.0], "float32")), [np.inf])
    close(call("divide", np.array([1.0, 0.0]), np.array([0.0, 0.0])), [np.inf, np.nan])
    close(call("multiply", np.array([100], "int8"), np.array([2], "int8")), [-56])
