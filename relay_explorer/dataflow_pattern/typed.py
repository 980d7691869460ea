"""The types of expressions, for patterns that ask for them: known ones are read, others inferred when first
asked for, all at once.
"""

from __future__ import annotations

from ..ir.adt import Constructor
from ..ir.annotate import set_checked_type, set_origin
from ..ir.errors import TypeInferenceError
from ..ir.expr import Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.types import Type
from ..ir.walk import children, free_type_vars, free_vars, post_order, rebuild
from ..typing import infer_types


class Types:
    """The types of what is in `root`, which may call functions of `module`."""

    def __init__(self, root: Expr, module: IRModule | None = None) -> None:
        self.root = root
        self.module = module
        self._found: dict[Expr, Type] | None = None
        self._apart: dict[Expr, Type] = {}

    def of(self, expr: Expr) -> Type | None:
        """The type of `expr`; None of operators, constructors and names of functions, which have many or none
        of their own. A TypeInferenceError explains why an expression has no type; that something else in the
        program has none does not matter.
        """
        if expr._checked_type is not None or isinstance(expr, (Op, Constructor, GlobalVar)):
            return expr._checked_type
        if self._found is None:
            self._found = self._all()
        found = self._found.get(expr, self._apart.get(expr))
        if found is None:
            found = self._apart[expr] = infer_expr(expr, self.module).checked_type
        return found

    def _all(self) -> dict[Expr, Type]:
        try:
            typed = infer_expr(self.root, self.module)
        except TypeInferenceError:
            return {}
        return {old: new.checked_type for new in post_order(typed) if new._checked_type for old in new.origin}


def infer_expr(expr: Expr, module: IRModule | None = None) -> Expr:
    """A copy of `expr` in which everything has its type. Its free variables stay the same objects."""
    free = [] if isinstance(expr, Function) else free_vars(expr)
    main = expr if isinstance(expr, Function) else Function(free, expr, None, free_type_vars(expr))
    needed, name = _with_what_it_calls(main, module)
    typed = infer_types(needed)[name]
    if isinstance(expr, Function):
        return typed
    back: dict[Expr, Expr] = {new: old for new, old in zip(typed.params, free) if new is not old}
    return _renamed(typed.body, back) if back else typed.body


def _with_what_it_calls(function: Function, module: IRModule | None) -> tuple[IRModule, str]:
    """`function`, under a name of its own, and those of `module` that it needs, directly or not."""
    needed = IRModule({}, module.type_definitions if module else None)
    pending: list[Expr] = [function] if module else []
    while pending and module is not None:
        for node in post_order(pending.pop()):
            if isinstance(node, GlobalVar) and node in module and node not in needed:
                needed[module.get_global_var(node.name_hint)] = module[node]
                pending.append(module[node])
    name = "main"
    while name in needed:
        name += "_"
    needed[name] = function
    return needed, name


def _renamed(root: Expr, names: dict[Expr, Expr]) -> Expr:
    """`root` with variables exchanged; unlike other rewriting, this keeps the types."""
    memo: dict[Expr, Expr] = dict(names)
    for node in post_order(root):
        if node not in memo:
            new = memo[node] = rebuild(node, [memo[part] for part in children(node)])
            if new is not node and not isinstance(node, Var):
                set_checked_type(new, node._checked_type)
                set_origin(new, node.origin)
    return memo[root]
