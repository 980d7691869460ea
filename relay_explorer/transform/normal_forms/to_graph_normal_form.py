"""ToGraphNormalForm: remove `let`s, so that sharing is expressed by the graph alone (Introduction to Relay
IR, in Relay's documentation).
"""

from __future__ import annotations

from ...analysis.effects import effects
from ...ir.expr import Expr, Function, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, free_vars, post_order, rebuild
from ..infrastructure import Contract, Pass, PassContext


@dataclass(frozen=True)
class ToGraphNormalForm(Pass):
    """Replace each variable that a `let` binds by its value: one node, shared by all uses.

    Unused values disappear. A `let` stays where its value has side effects, because a graph has no order in
    which to keep them (TVM's pass lost writes whose results were not used), and around a recursive function.
    A value that only a function's body uses is evaluated in the body from then on, at every call.
    """

    name = "ToGraphNormalForm"
    opt_level = 1
    contract = Contract(gives="graph")

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = mod.copy()
        acting = effects(mod)
        for var, function in mod.functions.items():
            if isinstance(function, Function):
                new[var] = _Graph(function, acting).result()
        return new


def to_graph_normal_form(expr: Expr) -> Expr:
    """Convert an expression to graph normal form. If it uses references itself, the functions that it calls
    are assumed to have effects.
    """
    return _Graph(expr, effects(expr)).result()


class _Graph:
    def __init__(self, root: Expr, acting: set[Expr]) -> None:
        self.root = root
        self.acting = acting
        self.done: dict[Expr, Expr] = {}
        self.values: dict[Var, Expr] = {}  # of the variables that are removed
        self.loops: dict[Var, Expr] = {}  # the final values of variables, in a `let` if they are recursive

    def result(self) -> Expr:
        order = post_order(self.root)
        for node in order:
            if isinstance(node, Let) and node.value not in self.acting:
                self.values[node.var] = node.value
                emit_rewrite(
                    self.result,
                    node.var,
                    node.value,
                    sentence="A variable is replaced by its value, shared by all uses.",
                )
        for node in order:
            if isinstance(node, Var):
                continue  # it is looked up where it is used: its value may come later
            if isinstance(node, Let) and node.var in self.values:
                self.done[node] = self._now(node.body)
            else:
                self.done[node] = rebuild(node, [self._now(part) for part in children(node)])
        return self._now(self.root)

    def _now(self, expr: Expr) -> Expr:
        """Return the replacement of an expression; a variable stands for itself within its own value."""
        current = expr
        while isinstance(current, Var):
            value = self.values.get(current)
            if value is None:
                return current
            if isinstance(value, Var):
                current = value
                continue
            if value not in self.done:
                return current
            return self._around(current, value)
        return self.done[current]

    def _around(self, var: Var, value: Expr) -> Expr:
        """Return the value of a variable, in a `let` of that variable if it is recursive."""
        wrapped = self.loops.get(var)
        if wrapped is None:
            wrapped = self.done[value]
            if isinstance(value, Function) and var in free_vars(wrapped):
                wrapped = Let(var, wrapped, var, value.span)
            self.loops[var] = wrapped
        return wrapped
