"""FuseOps for devices that bound the number of a kernel's arguments."""

from __future__ import annotations

import time
from typing import Any as Anything

import pytest

from relay_explorer import relay
from relay_explorer.compat import tvm
from relay_explorer.ir import Any, Call, Expr, Function, Type, post_order
from relay_explorer.transform import FuseOps, InferType, PassContext, Sequential
from relay_explorer.transform.fuse_ops.arguments import arguments_of

old: Anything = tvm


def sum_of_exponentials(count: int, *shape: int | Any) -> relay.IRModule:
    inputs = [relay.var(f"x{number}", shape=shape) for number in range(count)]
    total: Expr = relay.exp(inputs[0])
    for x in inputs[1:]:
        total = relay.add(total, relay.exp(x))
    return relay.IRModule.from_expr(Function(inputs, total))


def arguments(module: relay.IRModule, limit: int | None = None) -> list[int]:
    """How many arguments each kernel takes, in the order in which they run."""
    config = {} if limit is None else {"relay.max_function_args": limit}
    with PassContext(config=config):
        fused = Sequential([InferType(), FuseOps(1), InferType()])(module)
    return [
        sum(arguments_of(arg.checked_type, strides=True) for arg in node.args)
        + arguments_of(node.checked_type, strides=False)
        for node in post_order(fused["main"])
        if isinstance(node, Call) and isinstance(node.op, Function)
    ]


def test_counts_buffers_and_what_they_need() -> None:
    def count(type_: Type, strides: bool = True) -> int:
        return arguments_of(type_, strides)

    static, dynamic = relay.TensorType((2, 3)), relay.TensorType((2, Any(), Any()))
    assert (count(static), count(static, strides=False)) == (1, 1)
    assert (count(dynamic), count(dynamic, strides=False)) == (6, 3)
    assert count(relay.TupleType([static, relay.TupleType([dynamic])])) == 7


def test_kernels_take_as_many_arguments_as_allowed() -> None:
    module = sum_of_exponentials(10, 4)
    assert arguments(module) == [11]
    assert arguments(module, 11) == [11]
    assert arguments(module, 5) == [5, 5, 5]
    assert sorted(arguments(module, 1)) == [2] * 10 + [3] * 9


def test_a_dimension_of_the_run_time_is_an_argument() -> None:
    assert max(arguments(sum_of_exponentials(10, 4, Any()), 17)) <= 17
    assert arguments(sum_of_exponentials(10, 4, Any()))[0] == 10 * 4 + 2


@pytest.mark.parametrize(
    ("target", "limit"), [("metal", 31), ("opencl", 101), ("cuda -max_function_args=9", 9)]
)
def test_old_codes_target_bounds_them(target: str, limit: int) -> None:
    with old.target.Target(target):
        assert max(arguments(sum_of_exponentials(100, 4))) == limit
        assert arguments(sum_of_exponentials(10, 4), 4)[0] == 4  # the context's own option comes first
    assert arguments(sum_of_exponentials(100, 4)) == [101]
    with old.target.Target("cuda"):
        assert arguments(sum_of_exponentials(100, 4)) == [101]


def test_counting_takes_no_longer_than_a_kernel_is_large() -> None:
    module = sum_of_exponentials(1500, 4)
    began = time.process_time()
    assert max(arguments(module, 16)) == 16
    assert time.process_time() - began < 10
