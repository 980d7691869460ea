"""The gradient of every operator that has one, against difference quotients: on the operator's example, and
on random shapes and attributes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Call, Function, Op, TensorType, TupleType, Type, post_order
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import as_expr
from relay_explorer.lower.executor import create_executor
from relay_explorer.ops.gradient_tools import ZERO
from relay_explorer.text import astext, parse
from relay_explorer.transform import gradient
from relay_explorer.typing import infer_types
from tests.ops.examples import EXAMPLES
from tests.ops.gradient_checks import check, variables
from tests.ops.gradient_programs import RANDOM, some
from tests.ops.meanings import Array, rng
from tests.ops.test_compute_every_operator import SPECIAL
from tests.ops.test_examples import name_of, program


def smooth(name: str) -> bool:
    """Whether the operator has a gradient that is more than zero."""
    op = Op.get(name)
    return op.get_attr("FPrimalGradient") is not None and op.gradient is not ZERO


SMOOTH = [call for call in EXAMPLES if smooth(name_of(call))]
# What their examples ask for has no gradient: greatest of what is put in one place; the type that was set.
# The gradient of a simulated quantization ignores its steps: see tests/quantize/test_simulated_quantize.py.
# Scales of quantized tensors are float32; their gradients are in tests/ops/qnn/test_quantize.py.
OTHER_EXAMPLE = {
    "scatter_nd", "full", "dyn.full", "arange", "relay.op.annotation.simulated_quantize",
    "qnn.dequantize", "qnn.simulated_quantize", "qnn.simulated_dequantize",
}  # fmt: skip


def value_for(type_: Type, given: Anything, random: np.random.Generator) -> Anything:
    """Numbers between 0 and 1, where every operator is defined and smooth, or as `given`."""
    if isinstance(type_, TupleType):
        return tuple([value_for(field, given, random) for field in type_.fields])
    assert isinstance(type_, TensorType)
    extents = tuple([dim if isinstance(dim, int) else 2 for dim in type_.shape])
    if given is not None:
        return np.asarray(given, type_.dtype)
    if "float" in type_.dtype:
        return random.uniform(0.2, 0.9, extents)
    return np.asarray(random.integers(0, 2, extents) | (np.indices(extents).sum(0) == 0), type_.dtype)


@pytest.mark.parametrize("call", [c for c in SMOOTH if name_of(c) not in OTHER_EXAMPLE], ids=name_of)
def test_the_gradient_of_an_example(call: Call) -> None:
    text = astext(program(call)).replace("float32", "float64").replace("float16", "float64")
    main = infer_types(parse(text))["main"]
    assert isinstance(main, Function)
    random, special = rng(name_of(call)), SPECIAL.get(name_of(call), {})
    values = [value_for(p.checked_type, special.get(p.name_hint), random) for p in main.params]
    if name_of(call) == "acosh":
        values = [value + 1 for value in values]
    check(main, values, random)


# -- random shapes and attributes


@pytest.mark.parametrize("name", RANDOM)
def test_the_gradient_of_random_calls(name: str) -> None:
    for seed in range(6):
        random = rng(name, seed)
        build, values = RANDOM[name](random)
        params = variables(values)
        function = Function(params, as_expr(build(*params)))
        check(function, values, random)


# -- what the derivatives are where there is a choice, and where there is none


def test_a_product_with_zeros_among_its_factors() -> None:
    for zeros in ([], [1], [1, 3]):
        x = np.array([2.0, 3.0, 5.0, 7.0])
        x[zeros] = 0
        found = derivative(relay.prod, x)
        assert found == [np.prod(np.delete(x, k)) for k in range(4)]


def derivative(build: Callable[..., Anything], x: Array) -> list[float]:
    params = variables([x])
    derived = gradient(Function(params, build(*params)), mode="first_order")
    _, (found,) = create_executor().evaluate(derived)(x)
    numbers: list[float] = found.numpy().tolist()
    return numbers


def test_where_there_is_a_corner() -> None:
    zero = np.zeros(1)
    assert derivative(relay.nn.relu, zero) == [1]
    assert derivative(relay.abs, zero) == [1]
    assert derivative(lambda x: relay.clip(x, 0, 1), zero) == [1]
    assert derivative(lambda x: relay.maximum(x, relay.const(0.0, "float64")), zero) == [1]
    assert derivative(relay.max, np.array([3.0, 1.0, 3.0])) == [0.5, 0, 0.5]


def test_what_is_not_smooth_has_zeros() -> None:
    x = np.array([0.3, -1.2])
    assert derivative(relay.floor, x) == [0, 0]
    assert derivative(lambda x: relay.cast(relay.greater(x, x), "float64"), x) == [0, 0]
    assert derivative(relay.ones_like, x) == [0, 0]


def test_an_operator_without_a_gradient() -> None:
    function = parse(
        '#[version = "0.0.5"]\ndef @main(%x: Tensor[(4), float32]) { unique(%x, sorted=True).0 }'
    )["main"]
    with pytest.raises(RelayError) as refused:
        gradient(function, mode="first_order")
    assert str(refused.value) == (
        "from_string:2:39: error: the operator `unique` has no gradient\n"
        "   2 | def @main(%x: Tensor[(4), float32]) { unique(%x, sorted=True).0 }\n"
        "     |                                       ^^^^^^^^^^^^^^^^^^^^^^^\n"
        "help: use operators that have one instead, or register one, a function of call and grad: "
        'relay.op.get("unique").set_attr("FPrimalGradient", …)'
    )


@pytest.mark.parametrize(
    "body",
    [
        "nn.dense(%x, %w)",
        "mean(%x, axis=[0])",
        "variance(%x, mean(%x, axis=[1], keepdims=True), axis=[1], unbiased=True)",
        "concatenate((%x, %x), axis=1)",
        "nn.softmax(reshape(%x, newshape=[-1, 2]))",
        "nn.cross_entropy(sigmoid(%x), %x)",
        "broadcast_to_like(max(%x, axis=[1], keepdims=True), %x)",
    ],
)
def test_a_batch_whose_size_the_run_tells(body: str) -> None:
    text = f"def @main(%x: Tensor[(?, 4), float64], %w: Tensor[(3, 4), float64]) {{ {body} }}"
    module = infer_types(parse(f'#[version = "0.0.5"]\n{text}'))
    random = rng(body)
    main = module["main"]
    assert isinstance(main, Function)
    check(main, [some(random, 5, 4), some(random, 3, 4)], random)


def test_a_shape_that_must_be_known() -> None:
    x = relay.var("x", TensorType((relay.Any(), 4), "float32"))
    function = Function([x], relay.tile(x, (2, 1)))
    with pytest.raises(RelayError) as refused:
        gradient(function)
    assert str(refused.value) == (
        "error: the gradient of `tile` needs static shapes, but its data is Tensor[(?, 4), "
        "float32]\n"
        "help: give the program's parameters shapes without `?`, or run DynamicToStatic first"
    )


def test_every_gradient_is_differentiable_itself() -> None:
    """Of the gradients of random calls, what they are made of has gradients; but for the maximum's."""
    missing = set()
    for name, make in RANDOM.items():
        build, values = make(rng(name, 0))
        params = variables(values)
        derived = gradient(Function(params, as_expr(build(*params))), mode="first_order")
        missing |= {n for n in operators(derived) if Op.get(n).get_attr("FPrimalGradient") is None}
    assert missing == {"nn.max_pool2d_grad"}


def operators(function: Function) -> set[str]:
    return {n.op.name for n in post_order(function) if isinstance(n, Call) and isinstance(n.op, Op)}
