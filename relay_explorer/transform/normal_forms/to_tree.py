"""ToTree: expand a graph into a tree, in which nothing is shared."""

from __future__ import annotations

from typing import Annotated

from ...analysis.effects import effects
from ...ir.adt import Clause, Match, pattern_vars
from ...ir.annotate import set_origin
from ...ir.errors import RelayError
from ...ir.expr import Expr, Function, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.node import with_fields
from ...ir.scopes import LEAVES
from ...ir.trampoline import Steps, run
from ...ir.visitor import ExprMutator
from ...ir.walk import children, post_order, rebuild
from ..infrastructure import AtLeast, Pass, PassContext

LARGEST = 100_000  # expressions; the tree can be exponentially larger than the graph


@dataclass(frozen=True)
class ToTree(Pass):
    """Copy every shared expression for each of its uses, so that the program becomes a tree.

    The result is for inspection, not for execution. The pass expands a graph, so run ToGraphNormalForm first.
    Expressions with side effects are not copied, as they would run more often, and `let`s stay. Raise a
    RelayError for a program that would have more than `largest` expressions.
    """

    name = "ToTree"
    opt_level = 0

    largest: Annotated[int, AtLeast(1)] = LARGEST

    def transform_module(self, mod: IRModule, ctx: PassContext) -> IRModule:
        new = mod.copy()
        acting = effects(mod)
        for var, function in mod.functions.items():
            if isinstance(function, Function):
                if (size := tree_size(function, acting)) > self.largest:
                    raise RelayError(
                        f"expanded into a tree, `@{var.name_hint}` has {size:,} expressions",
                        function.span,
                        help=[f"at most {self.largest:,} are allowed: share fewer subexpressions"],
                    )
                new[var] = _Copier(acting).root(function)
        return new


def tree_size(expr: Expr, acting: set[Expr]) -> int:
    """Count the expressions in the tree of `expr`, without names and constants."""
    sizes: dict[Expr, int] = {}
    once: set[Expr] = set()
    for node in post_order(expr):
        total = 0 if node.__class__ in LEAVES else 1
        for part in children(node):
            if part not in acting or part not in once:
                total += sizes[part]
                once.add(part)
        sizes[node] = total
    return sizes[expr]


class _Copier:
    """Copies from the root down. Variables that a copy binds are new, except in the first copy."""

    def __init__(self, acting: set[Expr]) -> None:
        self.acting = acting
        self.single: dict[Expr, Expr] = {}  # the single copy of each expression that has effects
        self.bound: set[Var] = set()

    def root(self, function: Function) -> Expr:
        return run(self._copy(function, {}))

    def _copy(self, node: Expr, names: dict[Var, Var]) -> Steps[Expr]:
        if isinstance(node, Var):
            return names.get(node, node)
        if node.__class__ in LEAVES:
            return node
        if node in self.single:
            return self.single[node]
        new: Expr
        match node:
            case Function():
                names = self._rename(node.params, names)
                body = yield self._copy(node.body, names)
                new = self._rebuilt(node, [*(names[p] for p in node.params), body])
            case Let():
                names = self._rename([node.var], names)
                value = yield self._copy(node.value, names)
                body = yield self._copy(node.body, names)
                new = self._rebuilt(node, [names[node.var], value, body])
            case Match():
                data = yield self._copy(node.data, names)
                clauses = []
                for clause in node.clauses:
                    inner = self._rename(pattern_vars(clause.lhs), names)
                    rhs = yield self._copy(clause.rhs, inner)
                    clauses.append(Clause(_Renamer(inner).visit_pattern(clause.lhs), rhs, clause.span))
                new = Match(data, clauses, node.complete, node.span)
                set_origin(new, (node,))
            case _:
                parts = []
                for part in children(node):
                    parts.append((yield self._copy(part, names)))
                new = self._rebuilt(node, parts)
        if node in self.acting:
            self.single[node] = new
        return new

    def _rename(self, variables: tuple[Var, ...] | list[Var], names: dict[Var, Var]) -> dict[Var, Var]:
        renamed = dict(names)
        for var in variables:
            renamed[var] = Var(var.name_hint, var.type_annotation, var.span) if var in self.bound else var
            self.bound.add(var)
        return renamed

    def _rebuilt(self, node: Expr, parts: list[Expr]) -> Expr:
        """Build a new node, even where all its parts are unchanged."""
        new = rebuild(node, parts)
        return with_fields(node) if new is node else new


class _Renamer(ExprMutator):
    def __init__(self, names: dict[Var, Var]) -> None:
        super().__init__()
        self.names = names

    def visit_var(self, var: Var) -> Expr:
        return self.names.get(var, var)
