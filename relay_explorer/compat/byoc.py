"""`tvm.relay.testing.byoc`: an annotator that tests of partitioning use."""

from __future__ import annotations

from ..ir.expr import Call, Expr, Var
from ..ir.op import Op
from ..ir.visitor import ExprMutator
from ..ops.annotation import compiler_begin, compiler_end


class CcompilerAnnotator(ExprMutator):
    """Marks each `(a + b - c) * d` as a region of the compiler "ccompiler"."""

    def visit_call(self, call: Call) -> Expr:
        chain = _chain(call)
        if chain is None:
            return super().visit_call(call)
        add, subtract = chain
        a, b = [compiler_begin(self.visit(arg), "ccompiler") for arg in add.args]
        c = self._begun(subtract.args[1])
        d = self._begun(call.args[1])
        difference = Call(subtract.op, [Call(add.op, [a, b]), c])
        return compiler_end(Call(call.op, [difference, d]), "ccompiler")

    def _begun(self, arg: Expr) -> Expr:
        argument: Expr = self.visit(arg)
        return compiler_begin(argument, "ccompiler") if isinstance(argument, Var) else argument


def _chain(call: Call) -> tuple[Call, Call] | None:
    """Return the addition and the subtraction of a chain that a multiplication ends; None where it ends
    none.
    """
    names = []
    node: Expr = call
    calls: list[Call] = []
    while isinstance(node, Call) and isinstance(node.op, Op) and len(calls) < 3:
        names.append(node.op.name)
        calls.append(node)
        node = node.args[0] if node.args else node
    if names[:3] != ["multiply", "subtract", "add"]:
        return None
    return calls[2], calls[1]


__all__ = ["CcompilerAnnotator"]
