"""A block of `let`s that grows by expressions: every subexpression is bound to a variable once."""

from __future__ import annotations

from ...ir.adt import Constructor, Match
from ...ir.annotate import set_origin
from ...ir.expr import Expr, Function, GlobalVar, If, Let, Var
from ...ir.op import Op
from ...ir.walk import children, rebuild

_ATOMS = (Var, GlobalVar, Op, Constructor)
_BLOCKS = (Function, If, Let, Match)  # what they hold is evaluated in them, or not at all


class Bindings:
    """The bindings of one block in A-normal form, in the order of evaluation. Parts of expressions are called
    `part`.
    """

    def __init__(self, part: str = "x") -> None:
        self.part = part
        self.bindings: list[tuple[Var, Expr]] = []
        self.atoms: dict[int, Expr] = {}  # by the id of an expression: what stands for it
        self.kept: list[Expr] = []  # so that ids stay theirs

    def bind(self, var: Var, value: Expr) -> Var:
        """Binds a value, as it is, to a variable."""
        self.bindings.append((var, value))
        return var

    def atom(self, expr: Expr, name: str = "") -> Expr:
        """Bind the value of `expr`, and its parts first, and return the variable; values that are bound
        already are not bound again. The variable is called `name`, those of the parts as the block names
        them.
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
