"""One call of every operator: it is typed, its work can be counted, and its text can be read back."""

from __future__ import annotations

import pytest

from relay_explorer.ir.equal import structural_equal
from relay_explorer.ir.expr import Call, Function
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import free_vars
from relay_explorer.text import astext, parse
from relay_explorer.typing import infer_types
from tests.ops.examples import EXAMPLES


def program(call: Call) -> IRModule:
    return IRModule.from_expr(Function(free_vars(call), call))


def name_of(call: Call) -> str:
    assert isinstance(call.op, Op)
    return call.op.name


def test_every_operator_has_an_example() -> None:
    assert set(Op.list_op_names()) == {name_of(call) for call in EXAMPLES}


@pytest.mark.parametrize("call", EXAMPLES, ids=name_of)
def test_its_text_can_be_read_back(call: Call) -> None:
    module = infer_types(program(call))
    again = infer_types(parse(astext(module)))
    assert structural_equal(again, module), astext(module)


@pytest.mark.parametrize("call", EXAMPLES, ids=name_of)
def test_its_work_is_counted(call: Call) -> None:
    main = infer_types(program(call))["main"]
    assert isinstance(main, Function)
    typed = main.body
    assert isinstance(typed, Call)
    assert isinstance(typed.op, Op)
    work = typed.op.flops(typed.attrs, [arg.checked_type for arg in typed.args], typed.checked_type)
    assert isinstance(work, int)
    assert not isinstance(work, bool)
    assert work >= 0
