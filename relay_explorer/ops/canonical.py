"""Canonical forms: operators that are shorthand for expressions of others, and are compiled as those.

A declaration's `canonical` rule maps a typed call, and the operands to use in its place, to an expression of
operators that have none. `canonical_form` applies it; the pass `qnn.transform.CanonicalizeOps` does so for a
whole program, and the compiler runs that pass first. A rule that a user registers for an operator, as TVM's
`register_qnn_canonicalize` does, takes precedence over its declaration.
"""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.declaration import Canonical
from ..ir.expr import Call, Expr
from ..ir.op import Op

PROPERTY = "FTVMQnnCanonicalize"


def canonical_rule(op: Op) -> Canonical | None:
    """Return the rule that builds an operator's canonical form; None where it has none.

    A registered one is a function of the attributes, the operands, and the types of operands and result.
    """
    registered = op.get_attr(PROPERTY)
    if registered is None:
        return op.canonical

    def rule(call: Call, operands: Sequence[Expr]) -> Expr:
        types = [*(arg.checked_type for arg in call.args), call.checked_type]
        form: Expr = registered(call.attrs, list(operands), types)
        return form

    return rule


def canonical_form(call: Call, operands: Sequence[Expr] | None = None) -> Expr | None:
    """Return the canonical form of a typed call; None where its operator has none.

    `operands` replace the call's own operands, as where these were rewritten before. Raise a RelayError where
    the operator has a canonical form, but this call has not.
    """
    rule = canonical_rule(call.op) if isinstance(call.op, Op) else None
    return None if rule is None else rule(call, call.args if operands is None else operands)


def has_canonical_form(expr: Expr) -> bool:
    """Return whether `expr` calls an operator that is compiled through its canonical form."""
    return isinstance(expr, Call) and isinstance(expr.op, Op) and canonical_rule(expr.op) is not None
