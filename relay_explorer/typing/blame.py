"""Find the types and expressions to blame when a relation fails."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.expr import Expr, Tuple
from ..ir.op import RelationError
from ..ir.types import TupleType, Type

Blamed = tuple[Type | None, Expr | None]


def blamed(
    failure: RelationError, operands: Sequence[Expr], args: Sequence[Type], inputs: int
) -> tuple[Blamed, Blamed]:
    """Return the two types that disagree according to `failure`, each with its expression: arguments, or two
    fields of the one tuple at fault.

    `args` are the relation's types, `operands` the expressions of the first of them, `inputs` the number of
    types that are not the output. A relation that names no culprits blames its first two inputs.
    """
    culprits = [c for c in failure.culprits if 0 <= c < len(args)] or list(range(min(2, inputs)))
    both: list[Blamed] = [(args[c], operands[c] if c < len(operands) else None) for c in culprits]
    if failure.fields is not None and len(both) == 1:
        both = [_field(*both[0], number) for number in failure.fields]
    first, second = [*both, (None, None), (None, None)][:2]
    return first, second


def _field(type_: Type | None, expr: Expr | None, number: int) -> Blamed:
    if not isinstance(type_, TupleType):
        return type_, expr
    # A tuple that has a name, or results from a call, has no expressions for its fields: it stands for them.
    return type_.fields[number], expr.fields[number] if isinstance(expr, Tuple) else expr
