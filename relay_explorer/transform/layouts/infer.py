"""Apply the layout rules of operators (`FInferCorrectLayout`); an operator without one keeps its own
layout.
"""

from __future__ import annotations

from ...ir.declaration import NotApplicable
from ...ir.op import Op
from ...ops.layouts.layout import Answer, LayoutRule, Question

PROPERTY = "FInferCorrectLayout"


def _rule(op: Op) -> LayoutRule | None:
    """Return the layout rule that an operator was declared with."""
    return None if isinstance(op.layout, NotApplicable) else op.layout


def has_rule(op: Op) -> bool:
    return _rule(op) is not None or op.has_attr(PROPERTY)


def infer(op: Op, question: Question) -> Answer:
    """Apply the operator's layout rule, a registered one in preference to the declared one. Return None if
    there is no rule, or it does not determine all layouts.
    """
    registered = op.get_attr(PROPERTY)
    if registered is not None:
        answer: Answer = registered(question.attrs, question.new, list(question.old), list(question.types))
    else:
        rule = _rule(op)
        answer = rule(question) if rule is not None else None
    if answer is None or None in (*answer.input_layouts, *answer.output_layouts):
        return None
    return answer
