"""Basic blocks: parts of a program that are evaluated as a unit, such as a function's body or a branch.

In basic-block normal form, a value that several blocks use is bound before them.
"""

from __future__ import annotations

from ..ir.expr import Expr, Function, Let
from ..ir.scopes import LEAVES, Layout, NoNames, Scope
from ..ir.walk import children


def check_basic_block_normal_form(expr: Expr) -> bool:
    """Whether no value computed in one block is used in another, except through a variable that a `let`
    binds.
    """
    layout = Layout(expr, NoNames())
    blocks = blocks_of(layout)
    for node in layout.order:
        here = layout.scope_of[id(node)]
        for number, part in enumerate(evaluated_parts(node)):
            if part.__class__ not in LEAVES:
                used = layout.inner.get((id(node), number), here)
                if blocks[used] is not blocks[layout.scope_of[id(part)]]:
                    return False
    return True


def evaluated_parts(expr: Expr) -> tuple[Expr, ...]:
    """Return the operands that are evaluated, in order; an operand's index is the index of the scope that it
    opens.
    """
    match expr:
        case Function():
            return (expr.body,)
        case Let():
            return (expr.value, expr.body)
    return children(expr)


def blocks_of(layout: Layout) -> dict[Scope, Scope]:
    """Return the block of each scope, as the scope in which the block's bindings are placed. The body of a
    `let` belongs to the block of the `let`.
    """
    lets = {id(node) for node in layout.order if isinstance(node, Let)}
    blocks = {layout.root: layout.root}
    for (node, _), scope in layout.inner.items():  # outer scopes first
        blocks[scope] = blocks[scope.parent] if node in lets else scope
    return blocks
