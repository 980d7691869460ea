"""Reassociation of products and quotients: `a * b / c`, `a * (b / c)` and `(a / c) * b` are equivalent."""

from __future__ import annotations

from collections.abc import Iterator

from ..ir.expr import Call, Expr
from ..ir.op import Op
from .patterns import CallPattern, DFPattern, ExprPattern


def called(pattern: DFPattern) -> str:
    """Return the name of the operator that a call pattern calls; an empty string if it names none."""
    if isinstance(pattern, CallPattern) and isinstance(pattern.op, ExprPattern):
        op = pattern.op.expr
        if isinstance(op, Op):
            return op.name
    return ""


def _calls(expr: Expr, name: str) -> bool:
    return isinstance(expr, Call) and isinstance(expr.op, Op) and expr.op.name == name


def reassociated(pattern: CallPattern, call: Call) -> Iterator[CallPattern]:
    """Iterate over reassociations of `pattern` that may fit `call`: a product with a quotient for the
    quotient of a product, and the reverse.
    """
    args = pattern.args
    if args is None or len(args) != 2:
        return
    outer = called(pattern)
    if outer == "divide" and called(args[0]) == "multiply" and _calls(call, "multiply"):
        if any(_calls(arg, "divide") for arg in call.args):
            yield from _product_of_quotient(pattern, args[0], args[1])
    elif outer == "multiply" and _calls(call, "divide") and any(_calls(a, "multiply") for a in call.args):
        for quotient, factor in ((args[0], args[1]), (args[1], args[0])):
            if called(quotient) == "divide" and isinstance(quotient, CallPattern) and quotient.args:
                above, below = quotient.args
                yield CallPattern(quotient.op, [CallPattern(pattern.op, [above, factor]), below])


def _product_of_quotient(
    pattern: CallPattern, product: DFPattern, divisor: DFPattern
) -> Iterator[CallPattern]:
    """Rewrite `(a * b) / c` as `b * (a / c)`, then as `a * (b / c)`."""
    assert isinstance(product, CallPattern)
    if product.args is None or len(product.args) != 2:
        return
    a, b = product.args
    yield CallPattern(product.op, [b, CallPattern(pattern.op, [a, divisor])])
    yield CallPattern(product.op, [a, CallPattern(pattern.op, [b, divisor])])
