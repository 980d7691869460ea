"""The two definitions of a quantized operator agree bit for bit: its reference implementation in NumPy, and
its canonical form in plain Relay, interpreted and compiled.
"""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.compat.op_attributes import TempOpAttr
from relay_explorer.execute import Interpreter
from relay_explorer.ir.expr import Call, Expr, Function, const
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.types import Type
from relay_explorer.ir.walk import post_order
from relay_explorer.ops.canonical import canonical_form, has_canonical_form
from relay_explorer.typing import infer_types
from tests.ops.qnn.generate import MAKERS, Array, Draw, program, programs

SEEDS = 30


def expanded(module: IRModule) -> IRModule:
    """Replace the call in a program by its canonical form."""
    main = module["main"]
    assert isinstance(main, Function)
    assert isinstance(main.body, Call)
    form = canonical_form(main.body)
    assert form is not None
    result = infer_types(IRModule.from_expr(Function(main.params, form)))
    found = result["main"]
    assert isinstance(found, Function)
    assert found.body.checked_type == main.body.checked_type
    return result


def interpreted(module: IRModule, values: list[Array]) -> Anything:
    return Interpreter(module).call("main", [np.array(value) for value in values])


def same(found: Array, expected: Array) -> None:
    """Fail unless all elements are equal, NaN included, and the types, too."""
    assert found.dtype == expected.dtype
    np.testing.assert_array_equal(found, expected)


def test_the_generator_makes_calls_of_every_operator_with_a_canonical_form() -> None:
    names = [name for name in Op.list_op_names() if Op.get(name).canonical is not None]
    assert [name.removeprefix("qnn.") for name in names] == sorted(MAKERS)


@pytest.mark.parametrize("name", MAKERS)
def test_the_canonical_form_computes_what_the_reference_does(name: str) -> None:
    for seed in range(SEEDS):
        module, values = program(name, seed)
        same(interpreted(expanded(module), values), interpreted(module, values))


@pytest.mark.parametrize("name", MAKERS)
def test_it_consists_of_plain_operators(name: str) -> None:
    module, _ = program(name, 0)
    main = expanded(module)["main"]
    assert isinstance(main, Function)
    assert not any(map(has_canonical_form, post_order(main)))


def test_other_operators_have_none() -> None:
    x = relay.var("x", shape=(2,))
    assert canonical_form(relay.exp(x)) is None
    assert canonical_form(Call(Function([x], x), [x])) is None
    assert not has_canonical_form(x)


def test_a_registered_rule_takes_precedence() -> None:
    """It has TVM's arguments: attributes, operands, and the types of operands and result."""
    x = relay.var("x", shape=(2,), dtype="int8")
    call = relay.qnn.op.abs(x, const(0.1), const(0), const(0.1), const(0))
    module = infer_types(IRModule.from_expr(Function([x], call)))
    seen = []

    def rule(attrs: object, operands: list[Expr], types: list[Type]) -> Expr:
        seen.append((attrs, len(operands), [str(type_) for type_ in types]))
        return relay.abs(operands[0])

    with TempOpAttr("qnn.abs", "FTVMQnnCanonicalize", rule):
        main = relay.qnn.transform.CanonicalizeOps()(module)["main"]
    assert str(main.body) == "free_var %x: Tensor[(2), int8];\nabs(%x)"
    assert seen == [(None, 5, ["Tensor[(2), int8]", *["float32", "int32"] * 2, "Tensor[(2), int8]"])]


@pytest.fixture(scope="module")
def together() -> tuple[IRModule, list[Array], tuple[Array, ...]]:
    """Make a program that calls every operator once, and evaluate it by the reference implementations."""
    draws = [Draw(700 + number) for number in range(len(MAKERS))]
    module, values = programs([(draw, make(draw)) for draw, make in zip(draws, MAKERS.values(), strict=True)])
    return module, values, interpreted(infer_types(module), values)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["graph", "vm"])
def test_kernels_compute_what_the_reference_does(
    kind: str, together: tuple[IRModule, list[Array], tuple[Array, ...]]
) -> None:
    module, values, expected = together
    found = relay.create_executor(kind, mod=module).evaluate()(*values)
    for part, one in zip(found, expected, strict=True):
        same(part.numpy(), one)


@pytest.mark.slow
@pytest.mark.parametrize("name", MAKERS)
def test_kernels_of_more_calls(name: str) -> None:
    draws = [Draw(9000 + number) for number in range(8)]
    module, values = programs([(draw, MAKERS[name](draw)) for draw in draws])
    expected = interpreted(infer_types(module), values)
    for part, one in zip(
        relay.create_executor("graph", mod=module).evaluate()(*values), expected, strict=True
    ):
        same(part.numpy(), one)
