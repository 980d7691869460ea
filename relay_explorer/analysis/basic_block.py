"""Blocks: stretches of a program that are evaluated together, such as a function's body or a branch.

Basic-block normal form: what several blocks use is bound before them.
"""

from __future__ import annotations

from ..ir.expr import Expr, Function, Let
from ..ir.scopes import LEAVES, Layout, NoNames, Scope
from ..ir.walk import children


def check_basic_block_normal_form(expr: Expr) -> bool:
    """Whether nothing that is computed in one block is used in another, but by the name that a `let` gave."""
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
    """The parts that are evaluated, in order. The scopes that an expression opens have their numbers."""
    match expr:
        case Function():
            return (expr.body,)
        case Let():
            return (expr.value, expr.body)
    return children(expr)


def blocks_of(layout: Layout) -> dict[Scope, Scope]:
    """By scope: its block, the scope in which its bindings stand. The body of a `let` belongs to that of the
    `let`.
    """
    lets = {id(node) for node in layout.order if isinstance(node, Let)}
    found = {layout.root: layout.root}
    for (node, _), scope in layout.inner.items():  # the outer ones first
        found[scope] = found[scope.parent] if node in lets else scope
    return found
