"""Symbolic sizes of torch.export as Relay's named sizes, and as scalars that a program computes."""

from __future__ import annotations

from typing import Any as Anything
from typing import cast

from ...ir import const, size
from ...ir.expr import Expr
from ...ir.size import SizeVar
from ...ir.types import Any, Dim
from ...ops import namespaces as relay
from ..aten import Aten, Int, Scalar


class Symbols:
    """The symbols of one program. Each has a named size, and a place from which a run computes its value: an
    axis of an input, or an input that is a number.
    """

    def __init__(self, aten: Aten) -> None:
        self._aten = aten
        self._sizes: dict[str, SizeVar] = {}
        self._places: dict[str, Expr] = {}
        self._scalars: dict[Anything, Scalar] = {}

    def dim(self, value: Anything) -> Dim:
        """Return an extent of a tensor, an int or a SymInt, as a dimension of a type."""
        if isinstance(value, int):
            return value
        return self._dim(value.node.expr)

    def _dim(self, expr: Anything) -> Dim:
        if expr.is_Integer:
            return int(expr)
        if expr.is_Symbol:
            if expr.name.startswith("u"):  # decided by data, such as the number of nonzero elements
                return Any()
            if expr.name not in self._sizes:
                self._sizes[expr.name] = SizeVar(expr.name, "int64")
            return self._sizes[expr.name]
        parts = [self._dim(arg) for arg in expr.args]
        value = _computed(type(expr).__name__, parts)
        return value if isinstance(value, (int, size.Size)) else Any()

    def add_axis(self, extent: Anything, tensor: Expr, axis: int) -> None:
        """Note that an axis of an input has a symbolic extent: the symbol in it can be computed from it."""
        if isinstance(extent, int):
            return
        expr = extent.node.expr
        symbols = list(expr.free_symbols)
        if len(symbols) != 1 or symbols[0].name in self._places:
            return
        factor, rest = _linear(expr, symbols[0])
        if factor is None:
            return
        value: Expr = relay.take(relay.shape_of(tensor, dtype="int64"), const(axis, "int64"), axis=0)
        if rest:
            value = relay.subtract(value, const(rest, "int64"))
        if factor != 1:
            value = relay.floor_divide(value, const(factor, "int64"))
        self._places[symbols[0].name] = value

    def add_number(self, value: Anything, scalar: Expr) -> None:
        """Note that an input is a number whose value is symbolic."""
        expr = value.node.expr
        if expr.is_Symbol:
            self._places.setdefault(expr.name, scalar)

    def scalar(self, value: Anything) -> Int | None:
        """Return a SymInt as an int or a scalar that is computed from inputs; None where it is decided by
        data, or by arithmetic that is not handled here.
        """
        expr = value.node.expr
        if expr.is_Integer:
            return int(expr)
        known = self._scalars.get(expr)
        if known is None:
            if not all(symbol.name in self._places for symbol in expr.free_symbols):
                return None
            computed = self._computed(expr)
            if computed is None:
                return None
            known = self._scalars[expr] = self._aten.scalar(computed)
            dim = self._dim(expr)
            if not isinstance(dim, Any):
                self._aten.context.elements.record(known.expr, (dim,))
        return known

    def _computed(self, expr: Anything) -> Expr | None:
        if expr.is_Integer:
            return const(int(expr), "int64")
        if expr.is_Symbol:
            return self._places[expr.name]
        builder = _BUILDERS.get(type(expr).__name__)
        parts = [self._computed(arg) for arg in expr.args]
        if builder is None or any(part is None for part in parts):
            return None
        operands = cast("list[Expr]", parts)
        if type(expr).__name__ == "Pow":
            power = expr.args[1]
            if not (power.is_Integer and 0 < int(power) <= 8):
                return None
            operands = [operands[0]] * int(power)
        result = operands[0]
        for operand in operands[1:]:
            result = builder(result, operand)
        return result


_BUILDERS: dict[str, Anything] = {
    "Add": relay.add,
    "Mul": relay.multiply,
    "Pow": relay.multiply,
    "PowByNatural": relay.multiply,
    "FloorDiv": relay.floor_divide,
    "CleanDiv": relay.floor_divide,
    "Mod": relay.floor_mod,
    "PythonMod": relay.floor_mod,
    "Max": relay.maximum,
    "Min": relay.minimum,
}


def _linear(expr: Anything, symbol: Anything) -> tuple[int | None, int]:
    """Return a and b where `expr` is a·symbol + b with integers, a positive; else (None, 0)."""
    try:
        polynomial = expr.as_poly(symbol)
    except Exception:  # SymPy has errors of several kinds for what is not a polynomial
        return None, 0
    if polynomial is None or polynomial.degree() != 1:
        return None, 0
    a, b = polynomial.all_coeffs()
    if not (a.is_Integer and b.is_Integer and a > 0):
        return None, 0
    return int(a), int(b)


def _computed(kind: str, parts: list[Anything]) -> Anything:
    """Compute with dimensions as a node of SymPy's tree says; `?` where it is not known how."""
    if any(isinstance(part, Any) for part in parts):
        return Any()
    match kind:
        case "Add":
            return sum(parts[1:], parts[0])
        case "Mul":
            product = parts[0]
            for part in parts[1:]:
                product = product * part
            return product
        case "Pow" | "PowByNatural":
            base, power = parts
            if not isinstance(power, int) or not 0 < power <= 8:
                return Any()
            product = base
            for _ in range(power - 1):
                product = product * base
            return product
        case "FloorDiv" | "CleanDiv":
            return size.quotient(parts[0], parts[1])
        case "Mod" | "PythonMod":
            return size.remainder(parts[0], parts[1])
        case "Max" | "Min":
            result = parts[0]
            for part in parts[1:]:
                result = size.extreme(kind.lower(), result, part)
            return result
    return Any()
