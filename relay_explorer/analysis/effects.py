"""Side effects of expressions: creating, reading or writing a reference."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.adt import Constructor
from ..ir.expr import Call, Expr, Function, RefCreate, RefRead, RefWrite
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order

_REFERENCES = (RefCreate, RefRead, RefWrite)


def effects(program: IRModule | Expr) -> set[Expr]:
    """Return the expressions whose evaluation may create, read or write a reference, including effects of
    their operands.

    A function that is not called has no effect. A call of a function may have any effect, because the callee
    is known only at run time, unless the program has no references at all.
    """
    roots: Iterable[Expr] = program.functions.values() if isinstance(program, IRModule) else (program,)
    orders = [post_order(root) for root in roots]
    if not any(isinstance(node, _REFERENCES) for order in orders for node in order):
        return set()
    effectful: set[Expr] = set()
    for order in orders:
        for node in order:  # operands come before their users
            if _acts(node) or (
                not isinstance(node, Function) and any(part in effectful for part in children(node))
            ):
                effectful.add(node)
    return effectful


def _acts(node: Expr) -> bool:
    if isinstance(node, Call):
        return not isinstance(node.op, (Op, Constructor))
    return isinstance(node, _REFERENCES)
