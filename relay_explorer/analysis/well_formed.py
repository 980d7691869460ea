"""Well-formedness: every variable is introduced once, and used only where it is in scope."""

from __future__ import annotations

from typing import NamedTuple

from ..ir.adt import Match, pattern_vars
from ..ir.expr import Expr, Function, Let, Var
from ..ir.module import IRModule
from ..ir.span import Span
from ..ir.walk import children


class IllFormed(NamedTuple):
    """A violation: what is wrong, in one sentence, and the source location."""

    message: str
    span: Span | None


def well_formed(expr: Expr | IRModule) -> bool:
    """Whether each variable is introduced at most once (by a parameter, `let` or pattern), and not used
    outside its scope. Variables that nothing introduces are free, which is allowed.
    """
    return why_ill_formed(expr) is None


def why_ill_formed(expr: Expr | IRModule) -> IllFormed | None:
    """Return the first violation of `well_formed`; None where there is none."""
    check = _Check()
    for root in expr.functions.values() if isinstance(expr, IRModule) else [expr]:
        problem = check.run(root)
        if problem is not None:
            return problem
    return None


class _Leave(NamedTuple):
    """The end of a scope in which these variables were introduced."""

    variables: tuple[Var, ...]


class _Enter(NamedTuple):
    """The start of a scope that introduces variables for `body`."""

    variables: tuple[Var, ...]
    body: tuple[Expr, ...]


class _Check:
    """A traversal in program order, with an explicit stack. A shared expression is visited once, at its first
    occurrence.
    """

    def __init__(self) -> None:
        self.seen: set[Expr] = set()
        self.ever: set[Var] = set()  # all variables introduced so far
        self.free: set[Var] = set()
        self.visible: set[Var] = set()

    def run(self, root: Expr) -> IllFormed | None:
        pending: list[Expr | _Enter | _Leave] = [root]
        while pending:
            step = pending.pop()
            problem = None
            if isinstance(step, _Leave):
                self.visible.difference_update(step.variables)
            elif isinstance(step, _Enter):
                problem = self._introduce(step.variables)
                pending.append(_Leave(step.variables))
                pending.extend(reversed(step.body))
            elif isinstance(step, Var):
                problem = self._use(step)
            elif step not in self.seen:
                self.seen.add(step)
                pending.extend(reversed(_steps(step)))
            if problem is not None:
                return problem
        return None

    def _introduce(self, variables: tuple[Var, ...]) -> IllFormed | None:
        for var in variables:
            if var in self.ever:
                return IllFormed(f"`%{var.name_hint}` is introduced more than once", var.span)
            if var in self.free:
                return IllFormed(f"`%{var.name_hint}` is used before it is introduced", var.span)
            self.ever.add(var)
            self.visible.add(var)
        return None

    def _use(self, var: Var) -> IllFormed | None:
        if var in self.visible:
            return None
        if var in self.ever:
            return IllFormed(f"`%{var.name_hint}` is used outside its scope", var.span)
        self.free.add(var)
        return None


def _steps(expr: Expr) -> list[Expr | _Enter]:
    """Return the operands of an expression, as scopes where they introduce variables."""
    if isinstance(expr, Function):
        return [_Enter(expr.params, (expr.body,))]
    if isinstance(expr, Let):
        return [_Enter((expr.var,), (expr.value, expr.body))]
    if isinstance(expr, Match):
        return [expr.data, *(_Enter(tuple(pattern_vars(c.lhs)), (c.rhs,)) for c in expr.clauses)]
    return list(children(expr))
