"""An operator answers every question where it is declared."""

from __future__ import annotations

import pytest

from relay_explorer.ir import Op
from relay_explorer.ir.declaration import Gradient, NotApplicable, Precision

Op.load_all()
# Those that still call `declare` name their gradient by a path, or have no example.
DECLARED = [
    op
    for op in map(Op.get, Op.list_op_names())
    if isinstance(op.gradient, (Gradient, NotApplicable)) and op.example is not None
]


def test_most_operators_are_declared_by_their_signature() -> None:
    assert len(DECLARED) >= 176


@pytest.mark.parametrize("op", DECLARED, ids=lambda op: op.name)
def test_every_question_is_answered(op: Op) -> None:
    assert op.description
    assert op.formula
    assert op.relation.formula
    assert op.lowering, "a function, or HOST"
    assert op.compute is not None
    assert op.layout is not None, "a rule, or NO_LAYOUT_RULE"
    assert isinstance(op.precision, Precision)
    for answer in (op.gradient, op.layout):
        if isinstance(answer, Gradient):
            assert answer.formula
        elif isinstance(answer, NotApplicable):
            assert answer.reason
