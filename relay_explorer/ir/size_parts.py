"""Substitute sizes for names in a size, and apply functions of sizes by name."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .size import Applied, Size, SizeVar, Value, extreme, quotient, remainder, whole


def substituted(value: Value, sizes: Mapping[SizeVar, Value]) -> Value:
    """Substitute sizes for the names in `value`."""
    if isinstance(value, SizeVar):
        return sizes.get(value, value)
    if isinstance(value, Applied):
        return applied(value.name, [substituted(arg, sizes) for arg in value.args])
    if not isinstance(value, Size):
        return value
    total: Value = 0
    for factors, factor in value.terms().items():
        product: Value = factor
        for atom, power in factors:
            for _ in range(power):
                product = product * substituted(atom, sizes)
        total = total + product
    return total


FUNCTIONS = {
    "floordiv": 2, "floormod": 2, "round": 1, "floor": 1, "ceil": 1, "trunc": 1, "min": 2, "max": 2,
}  # fmt: skip


def applied(name: str, args: Iterable[Value]) -> Value:
    """Apply one of FUNCTIONS to sizes or numbers, and simplify."""
    values = list(args)
    if name == "floordiv":
        return quotient(*values)
    if name == "floormod":
        return remainder(*values)
    return extreme(name, *values) if name in ("min", "max") else whole(name, *values)
