"""Which expressions do something besides having a value: make, read or write a reference."""

from __future__ import annotations

from collections.abc import Iterable

from ..ir.adt import Constructor
from ..ir.expr import Call, Expr, Function, RefCreate, RefRead, RefWrite
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order

_REFERENCES = (RefCreate, RefRead, RefWrite)


def effects(program: IRModule | Expr) -> set[Expr]:
    """The expressions whose evaluation may make, read or write a reference, themselves or in a part.

    A function that is only written down does nothing. A call of a function may do anything, unless the
    program has no reference at all: which function is called is known only when it runs.
    """
    roots: Iterable[Expr] = program.functions.values() if isinstance(program, IRModule) else (program,)
    orders = [post_order(root) for root in roots]
    if not any(isinstance(node, _REFERENCES) for order in orders for node in order):
        return set()
    found: set[Expr] = set()
    for order in orders:
        for node in order:  # parts come before the whole
            if _acts(node) or (
                not isinstance(node, Function) and any(part in found for part in children(node))
            ):
                found.add(node)
    return found


def _acts(node: Expr) -> bool:
    if isinstance(node, Call):
        return not isinstance(node.op, (Op, Constructor))
    return isinstance(node, _REFERENCES)
