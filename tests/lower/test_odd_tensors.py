"""Programs that few write: tensors without elements, unsigned numbers, functions of vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.execute.interpreter import Interpreter
from relay_explorer.ir import Function, IRModule, RelayError, Tuple
from relay_explorer.typing import infer_types

EXECUTORS = (("graph", 3), ("vm", 0), ("aot", 3))


def agree(outputs: list[Any], executors: Any = EXECUTORS, **given: Any) -> None:
    """All of `outputs`, compiled for every executor, are what the interpreter gives."""
    free = {v.name_hint: v for v in relay.analysis.free_vars(Tuple(outputs))}
    module = infer_types(IRModule.from_expr(Function([free[name] for name in given], Tuple(outputs))))
    args = list(given.values())
    expected = Interpreter(module).call("main", args)
    for executor, level in executors:
        result = relay_explorer.build(module, executor=executor, opt_level=level)(*args)
        for a, b in zip(expected, result, strict=True):
            assert (a.dtype, a.shape) == (b.dtype, b.shape)
            np.testing.assert_allclose(b, a, rtol=1e-5, atol=1e-6)


def test_tensors_without_elements() -> None:
    """NumPy's strides of them are its own affair, and loops over nothing are none that schedules know."""
    x, y = relay.var("x", shape=(2, 0, 3)), relay.var("y", shape=(0, 9, 2, 5))
    outputs = [
        relay.exp(x), x + x, relay.sum(x, 1), relay.nn.softmax(x, 1), relay.nn.log_softmax(y, -1),
        relay.variance(y, 1), relay.argsort(y), relay.nn.global_max_pool2d(y), relay.mean(y, 0),
        relay.concatenate([x, relay.ones((2, 2, 3), "float32")], 1),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        agree(
            outputs[:-2] + outputs[-1:], x=np.ones((2, 0, 3), "float32"), y=np.ones((0, 9, 2, 5), "float32")
        )


def test_reductions_over_dynamic_axes_without_elements() -> None:
    x, w = relay.var("x", shape=(relay.Any(), relay.Any())), relay.var("w", shape=(16, relay.Any()))
    outputs = [
        relay.sum(x, 1), relay.prod(x), relay.mean(relay.exp(x), 1, keepdims=True), relay.log(relay.sum(x)),
        relay.all(relay.less(x, relay.const(0.0)), 1), relay.sum(relay.reshape(x, (-1, 16)), 0),
        relay.nn.dense(x, w), relay.sum(relay.nn.softmax(x, 1), 1),
    ]  # fmt: skip
    with np.errstate(all="ignore"):
        for extent in (0, 3):
            ones = np.ones((16, extent), "float32")
            agree(outputs, [("vm", 3)], x=ones, w=ones)


def test_an_intermediate_without_elements() -> None:
    indices = relay.var("indices", shape=(relay.Any(),), dtype="int64")
    empty = relay.reshape(relay.zeros((2, 0, 4), "float32"), [-1])
    agree([relay.take(empty, indices, 0)], [("vm", 3)], indices=np.zeros((0,), "int64"))


def test_unsigned_numbers_wrap() -> None:
    x, y = (relay.var(name, shape=(5,), dtype="uint32") for name in "xy")
    values = np.array([0, 1, 2, 7, 2**32 - 1], "uint32")
    agree([relay.negative(x), relay.negative(x) + y, x - y, y - x], x=values, y=values[::-1].copy())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_functions_of_vectors(dtype: str) -> None:
    """Those that no vector instruction computes are called for one element after another."""
    x = relay.var("x", shape=(3, 1, 16), dtype=dtype)
    functions = (relay.sinh, relay.cosh, relay.asinh, relay.atanh, relay.tan, relay.log2, relay.erf)
    values = np.linspace(-0.9, 0.9, 48).astype(dtype).reshape(3, 1, 16)
    with np.errstate(all="ignore"):
        agree([function(x) for function in functions], x=values)


def test_normalizations_of_other_element_types() -> None:
    """What stands for them is of their element type; where it would mean something else, they stay."""
    outputs, given = [], {}
    for dtype in ("float32", "float64", "int32"):
        x = relay.var(f"x_{dtype}", shape=(2, 3), dtype=dtype)
        given[x.name_hint] = np.arange(1, 7).reshape(2, 3).astype(dtype)
        outputs += [relay.nn.l2_normalize(x, 1e-3, [1]), relay.nn.l2_normalize(x, 0.5, [])]
    agree(outputs, **given)


def test_results_that_are_parameters_and_constants() -> None:
    x = relay.var("x", shape=(2, 3))
    c = relay.const(np.arange(3, dtype="float32"))
    agree([x, x, c, c, relay.reshape(x, (6,)), relay.Tuple([x]).fields[0]], x=np.ones((2, 3), "float32"))


@pytest.mark.parametrize("executor", ["vm", "aot"])
@pytest.mark.parametrize("rows", [2**50, 2**56])
def test_arguments_larger_than_the_memory(executor: str, rows: int) -> None:
    """They can be had all the same: NumPy repeats one number with strides of 0."""
    result = relay_explorer.build(
        relay.parse("def @main(%x: Tensor[(?, 8), float32]) { sum(%x) }"), executor=executor
    )
    huge = np.broadcast_to(np.float32(1), (rows, 8))
    for use in (result, result.time):
        with pytest.raises(RelayError, match="out of memory"):
            use(huge)
    np.testing.assert_allclose(result(np.ones((3, 8), "float32")), 24)


def test_an_argument_of_known_size_larger_than_the_memory() -> None:
    result = relay_explorer.build(relay.parse(f"def @main(%x: Tensor[({2**50}, 8), float32]) {{ %x }}"))
    with pytest.raises(RelayError, match="out of memory"):
        result(np.broadcast_to(np.float32(1), (2**50, 8)))
