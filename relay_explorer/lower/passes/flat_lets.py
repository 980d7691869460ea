"""Inlines the operator expressions that a program binds with `let`, so that names are not boundaries between
kernels.
"""

from __future__ import annotations

from ...ir.expr import Call, Constant, Expr, Function, Let, Tuple, TupleGetItem, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.rewrites import emit_rewrite
from ...ir.walk import children, post_order, rebuild
from ...transform.infrastructure import PassContext
from ...transform.infrastructure.function_passes import FunctionPass, rewritten


@dataclass(frozen=True)
class FlatLets(FunctionPass):
    """Substitute a `let`'s value for its variable if only operators compute the value and it is used in the
    function that binds it, so that nothing is computed more often than before. Calls of functions, references
    and matches stay in place (ToGraphNormalForm also moves calls).
    """

    name = "FlatLets"
    opt_level = 3

    def transform_function(self, function: Function, mod: IRModule, ctx: PassContext) -> Function:
        order = post_order(function)
        if not any(isinstance(node, Let) for node in order):
            return function
        values = _values(function, order)
        memo: dict[Expr, Expr] = {}
        for node in order:
            if isinstance(node, Let) and node.var in values:
                emit_rewrite(
                    self.transform_function,
                    node.var,
                    node.value,
                    sentence="A variable bound to a value of operators is replaced by the value.",
                )
                memo[node] = memo[_resolved(node.body, values)]
                continue
            parts = [memo[_resolved(part, values)] for part in children(node)]
            memo[node] = rebuild(node, parts)
        return rewritten(function, memo[function])


def _resolved(node: Expr, values: dict[Var, Expr]) -> Expr:
    """Return the expression that a variable is bound to, through other variables; other nodes are returned as
    they are. The path is compressed: the variables on it then map to the expression directly.
    """
    names: list[Var] = []
    while isinstance(node, Var) and node in values:
        names.append(node)
        node = values[node]
    for name in names:
        values[name] = node
    return node


def _values(function: Function, order: list[Expr]) -> dict[Var, Expr]:
    """Return the variables to substitute, and their values. A value may itself contain a `let` that is
    substituted.
    """
    plain: set[Expr] = set()
    values: dict[Var, Expr] = {}
    within = _functions(function)
    for node in order:
        if isinstance(node, Let):
            same_function = within[node] is not None and within[node.var] is within[node]
            if same_function and node.value in plain and not isinstance(node.value, Op):
                values[node.var] = node.value
                if node.body in plain:
                    plain.add(node)
            continue
        composite = isinstance(node, (Tuple, TupleGetItem)) or (
            isinstance(node, Call) and isinstance(node.op, Op)
        )
        if isinstance(node, (Var, Op, Constant)) or (
            composite and all(part in plain for part in children(node))
        ):
            plain.add(node)
    return values


def _functions(root: Function) -> dict[Expr, Expr | None]:
    """Map each expression to the function whose body contains it, or to None if several functions do."""
    enclosing: dict[Expr, Expr | None] = {root: root}
    pending: list[Expr] = [root]
    while pending:
        node = pending.pop()
        label = node if isinstance(node, Function) else enclosing[node]
        for part in children(node):
            first = part not in enclosing
            if first or enclosing[part] not in (label, None):
                enclosing[part] = label if first else None
                if first or not isinstance(part, Function):  # the contents of a function stay in it
                    pending.append(part)
    return enclosing
