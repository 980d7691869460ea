"""Dimensions that are not numbers: `?`, known only at run time; names `n`, `m`; arithmetic with them.

A sum of products is kept expanded, so equal sizes compare equal however they were written: `n + n` is `2 *
n`, and `(n + 1) * (n - 1)` is `n * n - 1`. A term that cannot be expanded (a quotient with a remainder, a
rounding, a maximum) is an `Applied`, equal only to one that is written the same. A size that exceeds the
limits below becomes `?`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import ClassVar, TypeAlias, Union

Atom: TypeAlias = "SizeVar | Applied"
Factors = frozenset[tuple[Atom, int]]  # a product of atoms with their powers; empty for the constant term
Number = int | float
Value: TypeAlias = Union[int, float, "Size", "Any"]
Show = Callable[["SizeVar"], str]

_ONE: Factors = frozenset()
MAX_TERMS = 32
MAX_NESTING = 8  # of functions within functions


class Any:
    """A dimension known only at run time. It is a single value, which prints as `?`."""

    _instance: ClassVar[Any | None] = None
    __slots__ = ()

    def __new__(cls) -> Any:
        if cls._instance is None:
            cls._instance = super().__new__(cls)
        return cls._instance

    def _unknown(self, other: object = None) -> Any:
        """Return `?`: arithmetic with an unknown operand has an unknown result."""
        return self

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _unknown
    __floordiv__ = __rfloordiv__ = __mod__ = __rmod__ = _unknown
    __neg__ = __round__ = __floor__ = __ceil__ = _unknown

    def __repr__(self) -> str:
        return "?"

    def __reduce__(self) -> tuple[type[Any], tuple[()]]:
        return (Any, ())


class Size:
    """Base of named sizes and of the results of arithmetic with them. Unordered: their values are unknown."""

    __slots__ = ()
    __hash__ = object.__hash__

    def terms(self) -> Mapping[Factors, Number]:
        """Return the size as a sum: a mapping from each product of atoms to its coefficient."""
        raise NotImplementedError

    @property
    def dtype(self) -> str:
        """The element type: int64 where one of its names has it, else int32; float64 where it may not be an
        integer.
        """
        if not is_whole(self):
            return "float64"
        return "int64" if any(v.dtype == "int64" for v in variables(self)) else "int32"

    def __add__(self, other: object) -> Value:
        return _sum(self, other, 1) if isinstance(other, _OPERANDS) else NotImplemented

    __radd__ = __add__

    def __sub__(self, other: object) -> Value:
        return _sum(self, other, -1) if isinstance(other, _OPERANDS) else NotImplemented

    def __rsub__(self, other: object) -> Value:
        return _sum(other, self, -1) if isinstance(other, _OPERANDS) else NotImplemented

    def __mul__(self, other: object) -> Value:
        return _product(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    __rmul__ = __mul__

    def __neg__(self) -> Value:
        return _product(self, -1)

    def __floordiv__(self, other: object) -> Value:
        return quotient(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    def __rfloordiv__(self, other: object) -> Value:
        return quotient(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    def __mod__(self, other: object) -> Value:
        return remainder(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    def __rmod__(self, other: object) -> Value:
        return remainder(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    def __round__(self, digits: None = None) -> Value:
        return whole("round", self)

    def __floor__(self) -> Value:
        return whole("floor", self)

    def __ceil__(self) -> Value:
        return whole("ceil", self)

    def __repr__(self) -> str:
        return show_size(self, lambda var: var.name)


class SizeVar(Size):
    """A named, unknown dimension. Two are equal only if they are the same object."""

    __slots__ = ("_dtype", "name")

    def __init__(self, name: str, dtype: str = "int32") -> None:
        self.name = name
        self._dtype = dtype

    @property
    def dtype(self) -> str:
        return self._dtype

    def terms(self) -> Mapping[Factors, Number]:
        return {frozenset([(self, 1)]): 1}


class SizeSum(Size):
    """A sum of products that is not a single name. Built by arithmetic, never directly."""

    __slots__ = ("_terms",)

    def __init__(self, terms: dict[Factors, Number]) -> None:
        self._terms = terms

    def terms(self) -> Mapping[Factors, Number]:
        return self._terms

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SizeSum) and self._terms == other._terms

    def __hash__(self) -> int:
        return hash(frozenset(self._terms.items()))


class Applied(Size):
    """A function of sizes that is not a sum of products: `floordiv(n, 2)`, `round(1.5 * n)`, `max(n, m)`."""

    __slots__ = ("args", "depth", "name")

    def __init__(self, name: str, args: tuple[Value, ...], depth: int) -> None:
        self.name = name
        self.args = args
        self.depth = depth

    def terms(self) -> Mapping[Factors, Number]:
        return {frozenset([(self, 1)]): 1}

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Applied) and (self.name, self.args) == (other.name, other.args)

    def __hash__(self) -> int:
        return hash((self.name, self.args))


_OPERANDS = (int, float, Size)


def _terms(value: object) -> Mapping[Factors, Number]:
    if isinstance(value, Size):
        return value.terms()
    assert isinstance(value, (int, float))
    return {_ONE: value}


def _simplified(terms: dict[Factors, Number]) -> Value:
    """Return the simplest form of a sum: a number, an atom, or a SizeSum."""
    nonzero = {factors: factor for factors, factor in terms.items() if factor}
    if not nonzero:
        return 0
    if len(nonzero) > MAX_TERMS:
        return Any()
    if len(nonzero) == 1:
        ((factors, factor),) = nonzero.items()
        if not factors:
            return factor
        if factor == 1 and len(factors) == 1:
            ((atom, power),) = factors
            if power == 1:
                return atom
    return SizeSum(nonzero)


def _sum(a: object, b: object, sign: int) -> Value:
    terms = dict(_terms(a))
    for factors, factor in _terms(b).items():
        terms[factors] = terms.get(factors, 0) + sign * factor
    return _simplified(terms)


def _times(a: Factors, b: Factors, sign: int = 1) -> Factors:
    powers = dict(a)
    for atom, power in b:
        powers[atom] = powers.get(atom, 0) + sign * power
    return frozenset((atom, power) for atom, power in powers.items() if power)


def _product(a: object, b: object) -> Value:
    terms: dict[Factors, Number] = {}
    for left, x in _terms(a).items():
        for right, y in _terms(b).items():
            factors = _times(left, right)
            terms[factors] = terms.get(factors, 0) + x * y
    return _simplified(terms)


def _apply(name: str, *args: Value) -> Value:
    depth = 1 + max([_depth(arg) for arg in args])
    return Any() if depth > MAX_NESTING else Applied(name, args, depth)


def _depth(value: Value) -> int:
    """Return the nesting depth of functions in a size."""
    if isinstance(value, Applied):
        return value.depth
    if not isinstance(value, SizeSum):
        return 0
    return max([_depth(atom) for factors in value.terms() for atom, _ in factors], default=0)


def _divided(term: tuple[Factors, Number], by: tuple[Factors, Number]) -> tuple[Factors, Number] | None:
    """Divide two products; return None where there is a remainder."""
    (factors, factor), (below, divisor) = term, by
    if not (isinstance(factor, int) and isinstance(divisor, int)) or factor % divisor:
        return None
    left = quotient_of(factors, below)
    return None if left is None else (left, factor // divisor)


def quotient_of(factors: Factors, by: Factors) -> Factors | None:
    """Divide two products of names; return None where there is a remainder."""
    left = _times(factors, by, -1)
    return None if any(power < 0 for _, power in left) else left


def _parts(a: object, b: object) -> tuple[Value, Value]:
    """Divide the sum `a` by the product `b`, term by term; return the quotient of the divisible terms, and
    the other terms.
    """
    if b == 0:
        raise ZeroDivisionError("a size is divided by 0")
    if a == b:
        return 1, 0
    divisor = _terms(b)
    if len(divisor) > 1:
        return 0, _sum(a, 0, 1)
    (by,) = divisor.items()
    exact: dict[Factors, Number] = {}
    rest: dict[Factors, Number] = {}
    for term in _terms(a).items():
        divided = _divided(term, by)
        if divided is None:
            rest[term[0]] = term[1]
        else:
            exact[divided[0]] = exact.get(divided[0], 0) + divided[1]
    return _simplified(exact), _simplified(rest)


def quotient(a: Value, b: Value) -> Value:
    """Return `a // b`, rounded down; for numbers as in Python."""
    if isinstance(a, Any) or isinstance(b, Any):
        return Any()
    if not isinstance(a, Size) and not isinstance(b, Size):
        return a // b
    exact, rest = _parts(a, b)
    if isinstance(rest, Size) and isinstance(b, int) and b > 0:
        rest, b = _joined(rest, b)
    if rest == 0:
        return exact
    if isinstance(rest, Size) or isinstance(b, Size):
        return exact + _apply("floordiv", rest, b)
    return exact + rest // b


def _joined(value: Size, by: int) -> tuple[Value, int]:
    """Rewrite `(x // a + c) // by` as `(x + c * a) // (a * by)`: return the numerator and the denominator."""
    terms = dict(value.terms())
    shift = terms.pop(_ONE, 0)
    if len(terms) == 1:
        ((factors, factor),) = terms.items()
        ((atom, power), *more) = factors
        if factor == power == 1 and not more and isinstance(atom, Applied) and atom.name == "floordiv":
            inner, below = atom.args
            if isinstance(below, int) and below > 0:
                return inner + shift * below, below * by
    return value, by


def remainder(a: Value, b: Value) -> Value:
    """Return `a % b`, with the sign of `b`."""
    if isinstance(a, Any) or isinstance(b, Any):
        return Any()
    if not isinstance(a, Size) and not isinstance(b, Size):
        return a % b
    _, rest = _parts(a, b)
    if rest != 0 and (isinstance(rest, Size) or isinstance(b, Size)):
        return _apply("floormod", rest, b)
    return rest % b if rest != 0 else 0


def is_whole(value: object) -> bool:
    """Whether a size or number is certain to be an integer."""
    if not isinstance(value, Size):
        return isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    return all(is_whole(factor) for factor in value.terms().values())


_ROUND: dict[str, Callable[[Number], int]] = {
    "round": round, "floor": math.floor, "ceil": math.ceil, "trunc": math.trunc,
}  # fmt: skip


def whole(how: str, value: Value) -> Value:
    """Convert `value` to an integer by "round", "floor", "ceil" or "trunc"."""
    if isinstance(value, Any):
        return value
    if not isinstance(value, Size):
        return _ROUND[how](value)
    if is_whole(value):
        return _simplified({factors: int(factor) for factors, factor in value.terms().items()})
    return _apply(how, value)


def extreme(name: str, a: Value, b: Value) -> Value:
    """Return the "min" or "max" of two sizes, simplified where their difference is a number."""
    difference = a - b
    if isinstance(difference, (Any, Size)):
        return _apply(name, a, b) if isinstance(difference, Size) else difference
    return a if (difference <= 0) == (name == "min") else b


def variables(value: object) -> list[SizeVar]:
    """Return the distinct names in a size, in order of occurrence."""
    names: dict[SizeVar, None] = {}
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, SizeVar):
            names[part] = None
        elif isinstance(part, Applied):
            pending.extend(reversed(part.args))
        elif isinstance(part, Size):
            atoms = [atom for factors in part.terms() for atom in _ordered(factors)]
            pending.extend(reversed(atoms))
    return list(names)


def _ordered(factors: Factors) -> list[Atom]:
    """Return the atoms of a product in an order that does not depend on their addresses in memory."""
    return [atom for atom, _ in sorted(factors, key=lambda power: (repr(power[0]), power[1]))]


def show_size(value: object, show: Show) -> str:
    """Print a size (`2 * n + 1`); `show` prints its names."""
    if isinstance(value, SizeVar):
        return show(value)
    if isinstance(value, Applied):
        return f"{value.name}({', '.join(show_size(arg, show) for arg in value.args)})"
    if not isinstance(value, Size):
        return str(value)
    text = ""
    terms = sorted(value.terms().items(), key=lambda term: (term[1] < 0, not term[0]))
    for factors, factor in terms:  # subtracted terms last, and the constant after the names
        atoms = [(atom, dict(factors)[atom]) for atom in _ordered(factors)]
        names = [show_size(atom, show) for atom, power in atoms for _ in range(power)]
        size = abs(factor)
        if size != 1 or not names:
            names.insert(0, str(size))
        sign = "-" if factor < 0 else "+"
        product = " * ".join(names)
        text = f"{text} {sign} {product}" if text else ("-" if factor < 0 else "") + product
    return text
