"""Types of expressions, for patterns that require them. Types that are set already are read; the others are
inferred at the first request, all at once.
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
    """The types of the expressions in `root`, which may call functions of `module`."""

    def __init__(self, root: Expr, module: IRModule | None = None) -> None:
        self.root = root
        self.module = module
        self._types: dict[Expr, Type] | None = None
        self._apart: dict[Expr, Type] = {}

    def of(self, expr: Expr) -> Type | None:
        """Return the type of `expr`; None for operators, constructors and global functions, which are
        polymorphic or have no type of their own. Raise a TypeInferenceError if the expression cannot be
        typed; expressions elsewhere in the program that cannot be typed do not matter.
        """
        if expr._checked_type is not None or isinstance(expr, (Op, Constructor, GlobalVar)):
            return expr._checked_type
        if self._types is None:
            self._types = self._all()
        type_ = self._types.get(expr, self._apart.get(expr))
        if type_ is None:
            type_ = self._apart[expr] = infer_expr(expr, self.module).checked_type
        return type_

    def _all(self) -> dict[Expr, Type]:
        try:
            typed = infer_expr(self.root, self.module)
        except TypeInferenceError:
            return {}
        return {old: new.checked_type for new in post_order(typed) if new._checked_type for old in new.origin}


def infer_expr(expr: Expr, module: IRModule | None = None) -> Expr:
    """Return a copy of `expr` in which every expression has its type. Its free variables remain the same
    objects.
    """
    free = [] if isinstance(expr, Function) else free_vars(expr)
    main = expr if isinstance(expr, Function) else Function(free, expr, None, free_type_vars(expr))
    needed, name = _with_callees(main, module)
    typed = infer_types(needed)[name]
    if isinstance(expr, Function):
        return typed
    back: dict[Expr, Expr] = {new: old for new, old in zip(typed.params, free) if new is not old}
    return _renamed(typed.body, back) if back else typed.body


def _with_callees(function: Function, module: IRModule | None) -> tuple[IRModule, str]:
    """Return a module with `function` under a unique name, and the functions of `module` that it calls,
    directly or indirectly; and that name.
    """
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
    """Rename variables in `root`; unlike other rewriting, this keeps the types."""
    memo: dict[Expr, Expr] = dict(names)
    for node in post_order(root):
        if node not in memo:
            new = memo[node] = rebuild(node, [memo[part] for part in children(node)])
            if new is not node and not isinstance(node, Var):
                set_checked_type(new, node._checked_type)
                set_origin(new, node.origin)
    return memo[root]
