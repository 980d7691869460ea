"""Rules of SimplifyExpr for sums, products and quotients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ir.declaration import Trait
from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import Op
from ...ir.types import TensorType
from ..fold_constant import evaluate
from ..fold_scale_axis.axes import calls, operator_of

if TYPE_CHECKING:
    from . import Rules, Simplifier


def _sides(call: Call) -> list[int]:
    """Return the positions of arguments that may be the second operand."""
    return [1, 0] if calls(call, Trait.COMMUTATIVE) else [1]


def _scalar(expr: Expr) -> float | None:
    """Return the number that all elements of an expression equal, if it is known."""
    if calls(expr, Trait.ZEROS, Trait.ONES):
        return float(calls(expr, Trait.ONES))
    if isinstance(expr, Constant) and not expr.data.shape:
        return float(expr.data.item())
    return None


def neutral(s: Simplifier, call: Call) -> Expr | None:
    """`x + 0`, `x - 0`, `x * 1` and `x / 1` are `x`, if they have its shape."""
    identity = 0 if calls(call, Trait.ADDITIVE) else 1
    for side in _sides(call):
        other = call.args[1 - side]
        if _scalar(call.args[side]) == identity and s.type(other) == s.type(call):
            return other
    return None


def _fill(expr: Expr) -> float | int | bool | None:
    """Return the number that fills a tensor which depends on no other tensor."""
    if not isinstance(expr, Call):
        return None
    if operator_of(expr) == "full" and isinstance(expr.args[0], Constant):
        return expr.args[0].data.item()
    return int(calls(expr, Trait.ONES)) if not expr.args and calls(expr, Trait.ZEROS, Trait.ONES) else None


def filled(s: Simplifier, call: Call) -> Expr | None:
    """Replace a tensor filled with one number by that number, if the other operand has the whole shape."""
    result = s.type(call)
    for side in (0, 1):
        full, other = call.args[side], call.args[1 - side]
        number = _fill(full)
        if number is None or s.type(other) != result:
            continue
        assert isinstance(result, TensorType)
        constant = const(number, s.tensor(full).dtype)
        return s.call(operator_of(call), *((constant, other) if side == 0 else (other, constant)))
    return None


def twice(s: Simplifier, call: Call) -> Expr | None:
    """`x + x` is `2 * x`."""
    x, y = call.args
    return s.call("multiply", x, const(2, s.tensor(call).dtype)) if x is y else None


def by_root(s: Simplifier, call: Call) -> Expr | None:
    """`x / sqrt(y)` is `x * rsqrt(y)`."""
    x, root = call.args
    if operator_of(root) != "sqrt" or not s.tensor(call).dtype.startswith("float"):
        return None
    assert isinstance(root, Call)
    return s.call("multiply", x, s.call("rsqrt", root.args[0]))


def _with_constant(expr: Expr, name: str) -> tuple[Expr, Constant] | None:
    """Split a sum, or product, into a value and the constant that is added to it, or multiplies it."""
    if isinstance(expr, Call) and operator_of(expr) == name:
        for side in (1, 0):
            value, constant = expr.args[1 - side], expr.args[side]
            if isinstance(constant, Constant) and not isinstance(value, Constant):
                return value, constant
    return None


def _computed(name: str, a: Constant, b: Constant) -> Constant | None:
    op = Op.get(name)
    result = evaluate(Call(op, [a, b]), op)
    return result if isinstance(result, Constant) else None


def constants_in_a_row(s: Simplifier, call: Call) -> Expr | None:
    """`x + a + b` is `x + c`, and `x * a * b` is `x * c`, with `c` computed."""
    name = operator_of(call)
    outer = _with_constant(call, name)
    inner = _with_constant(outer[0], name) if outer is not None else None
    if outer is None or inner is None:
        return None
    constant = _computed(name, inner[1], outer[1])
    return s.call(name, inner[0], constant) if constant is not None else None


def product_first(s: Simplifier, call: Call) -> Expr | None:
    """`(x + a) * b` is `x * b + c`, with `c` computed, because FoldScaleAxis expects the product first."""
    outer = _with_constant(call, "multiply")
    inner = _with_constant(outer[0], "add") if outer is not None else None
    if outer is None or inner is None or _with_constant(inner[0], "add") is not None:
        return None
    constant = _computed("multiply", inner[1], outer[1])
    return s.call("add", s.call("multiply", inner[0], outer[1]), constant) if constant is not None else None


def _monomial(expr: Expr) -> tuple[float, list[Expr]] | None:
    """Split a product into its numeric factor and its two other factors; None for anything else."""
    factor, values = 1.0, list[Expr]()
    pending = [expr]
    for _ in range(5):
        if not pending:
            break
        part = pending.pop()
        number = _scalar(part) if isinstance(part, Constant) else None
        if number is not None:
            factor *= number
        elif operator_of(part) == "multiply" and len(values) + len(pending) < 2:
            assert isinstance(part, Call)
            pending += part.args
        else:
            values.append(part)
    return (factor, values) if not pending and len(values) == 2 else None


def binomial(s: Simplifier, call: Call) -> Expr | None:
    """Factor `a * x * x + b * x * y + c * y * y` into `a * (x + p * y) * (x + q * y)`, if there are such
    numbers, integers for integer types.
    """
    left, right = call.args
    rows = []
    for total, third in ((left, right), (right, left)):
        if isinstance(total, Call) and operator_of(total) == "add":
            rows = [_monomial(part) for part in (*total.args, third)]
            if all(row is not None for row in rows):
                break
    squares = [row for row in rows if row is not None and row[1][0] is row[1][1]]
    mixed = [row for row in rows if row is not None and row[1][0] is not row[1][1]]
    if len(rows) != 3 or len(squares) != 2 or len(mixed) != 1:
        return None
    (a, (x, _)), (c, (y, _)) = squares
    b, pair = mixed[0]
    if {id(x), id(y)} != {id(part) for part in pair} or s.type(x) != s.type(y):
        return None
    if c == 1 and a > 1:
        (a, x), (c, y) = (c, y), (a, x)
    dtype = s.tensor(call).dtype
    roots = _roots(a, b, c, whole=not dtype.startswith("float"))
    if roots is None or s.type(x) != s.type(call):
        return None
    p, q = roots
    first = s.call("add", x, s.call("multiply", y, const(p, dtype)))
    second = first if p == q else s.call("add", x, s.call("multiply", y, const(q, dtype)))
    return s.call("multiply", const(a, dtype), s.call("multiply", first, second))


def _roots(a: float, b: float, c: float, whole: bool) -> tuple[float, float] | None:
    """Return `p` and `q` with `a * (x + p * y) * (x + q * y) = a * x * x + b * x * y + c * y * y`; None if
    there are none. With `whole`, they must be integers.
    """
    inner = b * b - 4 * a * c
    if inner < 0 or a == 0:
        return None
    p, q = ((b + sign * math.sqrt(inner)) / (2 * a) for sign in (1, -1))
    exact = p == int(p) and q == int(q) and a * (p + q) == b and a * p * q == c
    return (p, q) if exact or not whole else None


IDENTITIES: Rules = {
    "add": [neutral],
    "subtract": [neutral],
    "multiply": [neutral],
    "divide": [neutral],
}
RULES: Rules = {
    Trait.PAIRWISE: [filled],
    "add": [twice, constants_in_a_row, binomial],
    "multiply": [product_first, constants_in_a_row],
    "divide": [by_root],
}
