"""Infer the type of one operator call from the types of its arguments alone."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.attrs import Attrs
from ...ir.errors import RelayError
from ...ir.op import Op
from ...ir.types import IncompleteType, Type, TypeRelation
from ...typing.stand_alone import TypeSolver


def operator_type(op: Op, attrs: Attrs | None, types: Sequence[Type]) -> Type | None:
    """Infer the type of a call of `op` on arguments of these types; None if its type relation rejects them.

    Passes that build expressions of new types use this as they go: inferring each from the leaves would take
    quadratic time.
    """
    solver, out = TypeSolver(), IncompleteType()
    relation = TypeRelation(op, [*types, out], len(types), attrs)  # type: ignore[arg-type]  # the operator has the rule
    try:
        solver.relate(relation)
        done = solver.solve()
    except RelayError:
        return None
    return solver.resolve(out) if done else None
