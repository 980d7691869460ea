"""The kernels of a program, which are the primitive functions that fusion makes of operators."""

from __future__ import annotations

from collections.abc import Iterator

from ...ir.expr import Call, Expr, Function, GlobalVar
from ...ir.module import IRModule
from ...ir.walk import post_order


class Kernels:
    """`number[function]` numbers the kernels from 1 in the order of evaluation, and `inside[expr]` is the
    kernel of an expression. `stands_for(expr)` looks through a kernel that is called once: its parameter
    stands for the argument, and its call for its result.
    """

    def __init__(self, module: IRModule) -> None:
        self.number: dict[Function, int] = {}
        self.inside: dict[Expr, int] = {}
        self.calls: dict[Call, Function] = {}
        self._same: dict[Expr, Expr] = {}
        functions = [function for function in module.functions.values() if isinstance(function, Function)]
        by_name = {var.name_hint: function for var, function in module.functions.items()}
        for expr in dict.fromkeys(expr for function in functions for expr in post_order(function)):
            if not isinstance(expr, Call):
                continue
            op = by_name.get(expr.op.name_hint) if isinstance(expr.op, GlobalVar) else expr.op
            if isinstance(op, Function) and "Primitive" in op.attrs:
                self.calls[expr] = op
                self.number.setdefault(op, len(self.number) + 1)
        for kernel, number in self.number.items():
            self.inside.update(dict.fromkeys(post_order(kernel.body), number))
            calls = [call for call, function in self.calls.items() if function is kernel]
            if len(calls) == 1:
                self._same.update(zip(kernel.params, calls[0].args, strict=True))
                self._same[calls[0]] = kernel.body

    def stands_for(self, expr: Expr) -> Expr:
        """Return what an expression stands for, across the borders of kernels."""
        while expr in self._same:
            expr = self._same[expr]
        return expr

    def operators(self, number: int) -> Iterator[Call]:
        """Iterate over the calls of operators in a kernel."""
        return (
            expr
            for expr, kernel in self.inside.items()
            if kernel == number and isinstance(expr, Call) and expr not in self.calls
        )
