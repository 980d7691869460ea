"""A block of `let`s that is built expression by expression: each subexpression is bound to a variable
once.
"""

from __future__ import annotations

from ...ir.adt import Constructor, Match
from ...ir.annotate import set_origin
from ...ir.expr import Expr, Function, GlobalVar, If, Let, Var
from ...ir.op import Op
from ...ir.walk import children, rebuild

_ATOMS = (Var, GlobalVar, Op, Constructor)
_BLOCKS = (Function, If, Let, Match)  # their parts are evaluated inside them, or not at all


class Bindings:
    """The bindings of one block in A-normal form, in the order of evaluation. Variables for parts of
    expressions are called `part`.
    """

    def __init__(self, part: str = "x") -> None:
        self.part = part
        self.bindings: list[tuple[Var, Expr]] = []
        self.atoms: dict[int, Expr] = {}  # by the id of an expression: the atom it is bound to
        self.kept: list[Expr] = []  # keeps the expressions alive, so that their ids stay unique

    def bind(self, var: Var, value: Expr) -> Var:
        """Bind a value, unchanged, to a variable."""
        self.bindings.append((var, value))
        return var

    def atom(self, expr: Expr, name: str = "") -> Expr:
        """Bind `expr` to a variable, after its parts, and return the variable; an expression that is bound
        already is not bound again. The variable is called `name`, and those of the parts have the block's
        default name.
        """
        pending = [(expr, False)]
        while pending:
            node, ready = pending.pop()
            if id(node) in self.atoms or isinstance(node, _ATOMS):
                continue
            if not ready and not isinstance(node, _BLOCKS):
                pending.append((node, True))
                pending += [(part, False) for part in reversed(children(node))]
                continue
            result = node
            if not isinstance(node, _BLOCKS):
                result = rebuild(node, [self.atoms.get(id(part), part) for part in children(node)])
            var = Var((name if node is expr else "") or self.part, None, node.span)
            set_origin(var, node.origin or (node,))
            self.kept.append(node)
            self.atoms[id(node)] = self.bind(var, result)
        return self.atoms.get(id(expr), expr)

    def around(self, result: Expr) -> Expr:
        """Wrap the block's bindings around its result."""
        for var, value in reversed(self.bindings):
            result = Let.of(var, value, result, value.span, (*value.origin, value))
        return result
