"""Rules of SimplifyExpr for sums, products and quotients."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from ...ir.expr import Call, Constant, Expr, const
from ...ir.op import Op
from ...ir.types import TensorType
from ..fold_constant import evaluate
from ..fold_scale_axis.axes import operator_of

if TYPE_CHECKING:
    from . import Rule, Simplifier

_FILLED = ("full", "ones", "zeros")
_NEUTRAL = {"add": 0, "subtract": 0, "multiply": 1, "divide": 1}


def _sides(call: Call) -> list[int]:
    """Return the positions of arguments that may be the second operand."""
    return [1, 0] if operator_of(call) in ("add", "multiply") else [1]


def _scalar(expr: Expr) -> float | None:
    """Return the number that all elements of an expression are, if that is known."""
    match operator_of(expr):
        case "zeros" | "zeros_like":
            return 0.0
        case "ones" | "ones_like":
            return 1.0
    if isinstance(expr, Constant) and not expr.data.shape:
        return float(expr.data.item())
    return None


def neutral(s: Simplifier, call: Call) -> Expr | None:
    """`x + 0`, `x - 0`, `x * 1` and `x / 1` are `x`, if they have its shape."""
    for side in _sides(call):
        other = call.args[1 - side]
        if _scalar(call.args[side]) == _NEUTRAL[operator_of(call)] and s.type(other) == s.type(call):
            return other
    return None


def filled(s: Simplifier, call: Call) -> Expr | None:
    """Replace a tensor filled with one number by that number, if the other operand has the whole shape."""
    result = s.type(call)
    for side in (0, 1):
        full, other = call.args[side], call.args[1 - side]
        if operator_of(full) not in _FILLED or s.type(other) != result:
            continue
        assert isinstance(full, Call)
        assert isinstance(result, TensorType)
        if operator_of(full) == "full":
            value = full.args[0]
            if not isinstance(value, Constant):
                continue
            number: float | int | bool = value.data.item()
        else:
            number = 1 if operator_of(full) == "ones" else 0
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
    """`(x + a) * b` is `x * b + c`, with `c` computed: FoldScaleAxis looks for the product first."""
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
    """`p` and `q` with `a * (x + p * y) * (x + q * y) = a * x * x + b * x * y + c * y * y`."""
    inner = b * b - 4 * a * c
    if inner < 0 or a == 0:
        return None
    p, q = ((b + sign * math.sqrt(inner)) / (2 * a) for sign in (1, -1))
    exact = p == int(p) and q == int(q) and a * (p + q) == b and a * p * q == c
    return (p, q) if exact or not whole else None


IDENTITIES: dict[str, list[Rule]] = {name: [neutral] for name in _NEUTRAL}
_BROADCASTING = (
    "add", "subtract", "multiply", "divide", "maximum", "minimum", "power", "mod", "floor_mod",
    "floor_divide", "trunc_divide", "trunc_mod", "logical_and", "logical_or", "logical_xor", "bitwise_and",
    "bitwise_or", "bitwise_xor", "left_shift", "right_shift",
)  # fmt: skip
RULES: dict[str, list[Rule]] = {name: [filled] for name in _BROADCASTING}
RULES["add"] = [twice, filled, constants_in_a_row, binomial]
RULES["multiply"] += [product_first, constants_in_a_row]
RULES["divide"].insert(0, by_root)
