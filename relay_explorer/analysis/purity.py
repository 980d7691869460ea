"""Purity: which expressions have an effect. Writing a reference is the only effect in Relay (section 3.2.5 of
the paper).
"""

from __future__ import annotations

from ..ir.adt import Constructor
from ..ir.expr import Call, Expr, Function, GlobalVar, Let, RefWrite, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, post_order


class Purity:
    """The effects that evaluating the expressions of a module may have.

    A call has an effect if the body of its callee has one. A callee that is not statically known (a
    parameter, a value from a data type) may be any function, so its call has an effect if any function of the
    module has one.
    """

    def __init__(self, mod: IRModule) -> None:
        self.functions = {var: f for var, f in mod.functions.items() if isinstance(f, Function)}
        self.anywhere = any(_writes(f) for f in self.functions.values())
        self.impure_globals: set[GlobalVar] = set()
        while self.anywhere:  # until a fixed point is reached
            impure = {
                var
                for var, f in self.functions.items()
                if var not in self.impure_globals and self.has_effect(f.body)
            }
            if not impure:
                break
            self.impure_globals |= impure

    def effects(self, root: Expr) -> set[Expr]:
        """Return all expressions in `root` whose evaluation may have an effect."""
        if not self.anywhere and not _writes(root):
            return set()
        order = post_order(root)
        values = {node.var: node.value for node in order if isinstance(node, Let)}
        impure: set[Expr] = set()  # expressions with an effect; for functions, when called
        bodies: set[Expr] = set()
        changed = True
        while changed:  # a recursive function is assumed pure until an effect is found in it
            changed = False
            for node in order:
                if isinstance(node, Function):
                    if node.body in impure and node not in bodies:
                        bodies.add(node)
                        changed = True
                elif node not in impure and self._has_effect(node, impure, bodies, values):
                    impure.add(node)
                    changed = True
        return impure

    def has_effect(self, expr: Expr) -> bool:
        """Whether evaluating `expr` may have an effect."""
        return expr in self.effects(expr)

    def _has_effect(self, node: Expr, impure: set[Expr], bodies: set[Expr], values: dict[Var, Expr]) -> bool:
        if isinstance(node, RefWrite) or any(part in impure for part in children(node)):
            return True
        if not isinstance(node, Call) or isinstance(node.op, (Op, Constructor)):
            return False
        callee: Expr = node.op
        while isinstance(callee, Var) and callee in values:
            callee = values[callee]
        if isinstance(callee, Function):
            return callee in bodies
        if isinstance(callee, GlobalVar):
            return callee in self.impure_globals or callee not in self.functions
        return True


def _writes(expr: Expr) -> bool:
    return any(isinstance(node, RefWrite) for node in post_order(expr))
