"""An operator answers every question where it is declared."""

from __future__ import annotations

import pytest

from relay_explorer.ir import Op
from relay_explorer.ir.declaration import Gradient, NotApplicable, Precision

Op.load_all()
OPERATORS = [Op.get(name) for name in Op.list_op_names()]


@pytest.mark.parametrize("op", OPERATORS, ids=lambda op: op.name)
def test_every_question_is_answered(op: Op) -> None:
    assert isinstance(op.gradient, (Gradient, NotApplicable))
    assert op.example is not None
    assert op.description
    assert op.formula
    assert op.relation.formula
    assert op.lowering, "a function, HOST, or CANONICAL"
    assert op.reference is not None
    assert op.layout is not None, "a rule, or NO_LAYOUT_RULE"
    assert isinstance(op.precision, Precision)
    for answer in (op.gradient, op.layout):
        if isinstance(answer, Gradient):
            assert answer.formula
        elif isinstance(answer, NotApplicable):
            assert answer.reason
