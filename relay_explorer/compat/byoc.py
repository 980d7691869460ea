"""`tvm.relay.testing.byoc`: an annotator that tests of partitioning use."""

from __future__ import annotations

from ..ir.expr import Call, Expr, Var
from ..ir.op import Op
from ..ir.visitor import ExprMutator
from ..ops.annotation import compiler_begin, compiler_end


class CcompilerAnnotator(ExprMutator):
    """Marks each `(a + b - c) * d` as a region of the compiler "ccompiler"."""

    def visit_call(self, call: Call) -> Expr:
        found = _chain(call)
        if found is None:
            return super().visit_call(call)
        add, subtract = found
        a, b = [compiler_begin(self.visit(arg), "ccompiler") for arg in add.args]
        c = self._begun(subtract.args[1])
        d = self._begun(call.args[1])
        difference = Call(subtract.op, [Call(add.op, [a, b]), c])
        return compiler_end(Call(call.op, [difference, d]), "ccompiler")

    def _begun(self, arg: Expr) -> Expr:
        made: Expr = self.visit(arg)
        return compiler_begin(made, "ccompiler") if isinstance(made, Var) else made


def _chain(call: Call) -> tuple[Call, Call] | None:
    """Return the addition and the subtraction before a multiplication, where it ends such a chain."""
    names = []
    node: Expr = call
    found: list[Call] = []
    while isinstance(node, Call) and isinstance(node.op, Op) and len(found) < 3:
        names.append(node.op.name)
        found.append(node)
        node = node.args[0] if node.args else node
    if names[:3] != ["multiply", "subtract", "add"]:
        return None
    return found[2], found[1]


__all__ = ["CcompilerAnnotator"]
