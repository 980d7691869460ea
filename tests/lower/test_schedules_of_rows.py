"""Reductions and what is made of their results, scheduled: whatever their lengths, also where elements are
NaN or infinite.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir.expr import Expr, Var
from relay_explorer.lower.codegen.compile_kernel import generated, scheduled
from relay_explorer.lower.require import tvm
from relay_explorer.lower.schedules import Scheduled
from relay_explorer.lower.targets.target import Target
from tests.lower.test_schedules import check, function

nn = relay.nn


def x(*shape: int) -> Var:
    return relay.var("x", shape=shape, dtype="float32")


ROWS: dict[str, Expr] = {
    "a long row": relay.sum(x(3, 4800), 1),
    "all, in one stretch": relay.sum(x(30, 50)),
    "all, of integers": relay.sum(relay.var("x", shape=(6, 40), dtype="int32")),
    "the last two axes": relay.sum(x(5, 6, 10, 14), (2, 3)),
    "the last two of an odd length": relay.max(x(5, 7, 9), (1, 2)),
    "channels": nn.global_avg_pool2d(x(1, 24, 14, 14)),
    "odd channels": nn.global_avg_pool2d(x(2, 5, 7, 7)),
    "the first and the last": relay.sum(x(4, 6, 8), (0, 2)),
    "groups": relay.variance(x(2, 3, 4, 6, 6), (2, 3, 4), True),
    "many columns": relay.sum(x(9, 40), 0),
    "softmax of half vectors": nn.softmax(x(7, 40)),
    "softmax, odd": nn.softmax(x(7, 37)),
    "logarithms": nn.log_softmax(x(7, 40)),
    "logarithms of the middle": nn.log_softmax(x(3, 10, 14), axis=1),
    "a number for each channel": relay.add(x(2, 6, 3, 8), relay.var("y", shape=(6, 1, 1), dtype="float32")),
}


@pytest.mark.parametrize("name", ROWS)
def test_rows_of_any_length(name: str) -> None:
    assert not check(function(ROWS[name])).refused


def run(body: Expr, data: Any) -> Any:
    kernel = function(body)
    output: Scheduled = scheduled(kernel, "kernel", Target.of("cpu"))
    type_: Any = kernel.body.checked_type
    result = tvm().runtime.tensor(np.full(type_.concrete_shape, 7, type_.dtype))
    generated(output)["kernel"](tvm().runtime.tensor(data), result)
    return result.numpy()


@pytest.mark.parametrize("shape", [(6, 64), (6, 40), (3, 37), (2, 4160)], ids=str)
def test_nan_and_infinities_in_vectors(shape: tuple[int, int]) -> None:
    data = np.random.default_rng(0).standard_normal(shape).astype("float32")
    data[0, [1, 3, -1]] = np.inf, -np.inf, np.nan
    data[1] = -np.inf
    for name in ("max", "min", "argmax", "argmin"):
        expected = getattr(np, name)(data, axis=1)
        assert np.array_equal(run(getattr(relay, name)(x(*shape), 1), data), expected, equal_nan=True), name
    assert np.array_equal(run(relay.max(x(*shape)), data), np.max(data), equal_nan=True)
    columns = np.ascontiguousarray(data.T)
    result = run(relay.max(x(*columns.shape), 0), columns)
    assert np.array_equal(result, columns.max(0), equal_nan=True)


def test_the_test_of_nan_is_one_of_vectors() -> None:
    result = scheduled(function(relay.max(x(8, 64), 1)), "kernel", Target.of("cpu"))
    lanes = Target.of("cpu").lanes()
    assert f"fcmp uno <{lanes} x float>" in generated(result).mod.inspect_source("ll")


def test_a_vector_lies_within_a_row_where_a_number_is_for_each() -> None:
    """Across two rows it would gather that number."""
    y = relay.var("y", shape=(64, 1), dtype="float32")
    result = check(function(relay.add(x(64, 40), y)))
    loops = [line for line in str(result.prim_func).splitlines() if " for " in line]
    assert "fused" not in loops[-1]
    joined = check(function(relay.negative(x(64, 40))))
    assert "T.vectorized" in str(joined.prim_func)
