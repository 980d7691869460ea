"""What the partial evaluator knows at compile time: static values, the contents of reference cells, and how
much further a recursion may be unrolled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import islice
from typing import Any as Anything

from ...ir.adt import Constructor
from ...ir.annotate import set_origin
from ...ir.expr import Expr, Function, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.types import Type, TypeVar

# -- values


@dataclass(frozen=True, eq=False)
class Known:
    """A value, as far as it is known: `dynamic` is an expression that computes it in the residual program (a
    variable, or something as small), and `static` what is known of it beforehand, or None.
    """

    dynamic: Expr
    static: Static | None = None


@dataclass(frozen=True, eq=False)
class StaticTensor:
    """A tensor whose numbers are known."""

    array: Anything


@dataclass(frozen=True, eq=False)
class StaticTuple:
    fields: tuple[Known, ...]


@dataclass(frozen=True, eq=False)
class StaticData:
    """A value of a data type whose constructor is known. `made` numbers such values in the order in which
    they were made.
    """

    constructor: Constructor
    fields: tuple[Known, ...]
    made: int


@dataclass(frozen=True, eq=False)
class StaticRef:
    """A cell that the evaluator saw being made; what it holds stands in the Store."""

    made: int


@dataclass(frozen=True, eq=False)
class StaticFunction:
    """A function, with what its free variables were where it was made."""

    function: Function
    env: Env
    made: int


@dataclass(frozen=True, eq=False)
class StaticCallee:
    """An operator or a constructor as a value."""

    callee: Op | Constructor


Static = StaticTensor | StaticTuple | StaticData | StaticRef | StaticFunction | StaticCallee


class Env:
    """What variables stand for: a chain of scopes, the innermost first; and what type parameters do."""

    __slots__ = ("outer", "types", "values")

    def __init__(self, outer: Env | None = None, types: dict[TypeVar, Type] | None = None) -> None:
        self.outer = outer
        self.values: dict[Var, Known] = {}
        inherited = outer.types if outer is not None else {}
        self.types: dict[TypeVar, Type] = {**inherited, **types} if types else inherited

    def lookup(self, var: Var) -> Known | None:
        scope: Env | None = self
        while scope is not None:
            value = scope.values.get(var)
            if value is not None:
                return value
            scope = scope.outer
        return None


class Store:
    """What cells hold, as far as it is known at this point of the residual program."""

    def __init__(self) -> None:
        self._cells: dict[StaticRef, Known] = {}
        self.version = 0  # counts changes

    def read(self, cell: StaticRef) -> Known | None:
        return self._cells.get(cell)

    def write(self, cell: StaticRef, value: Known) -> None:
        self._cells[cell] = value
        self.version += 1

    def forget(self) -> None:
        """Something happened that may have written any cell."""
        if self._cells:
            self._cells = {}
            self.version += 1

    def contents(self, most: int) -> tuple[tuple[StaticRef, Known], ...]:
        """At most so many cells, with what they hold, in the order in which they were written first."""
        return tuple(islice(self._cells.items(), most))

    def saved(self) -> dict[StaticRef, Known]:
        return dict(self._cells)

    def restore(self, cells: dict[StaticRef, Known]) -> None:
        self._cells = dict(cells)
        self.version += 1


# -- the residual program


class Block:
    """The bindings of a block of the residual program, in order. A binding may be lazy: what it binds is
    made only if something asks for its variable.
    """

    def __init__(self) -> None:
        self.bindings: list[tuple[Var, Expr | Callable[[], Anything]]] = []
        self.lazy: set[Var] = set()

    def push(self, value: Expr, name: str, origin: tuple[Expr, ...]) -> Var:
        var = Var(name)
        set_origin(var, origin)
        self.bindings.append((var, value))
        return var

    def push_lazy(self, var: Var, make: Callable[[], Anything]) -> None:
        self.bindings.append((var, make))
        self.lazy.add(var)

    def around(self, result: Expr, values: Sequence[tuple[Var, Expr]]) -> Expr:
        """Wrap the block's `let`s around its result."""
        for var, value in reversed(values):
            result = Let.of(var, value, result, value.span, var.origin)
        return result


# -- fuel

Measure = Anything  # of an argument: an int (smaller is further), a tuple of measures, or None (no measure)


def measure(value: Known) -> Measure:
    """By what an argument may get smaller from one call of a function to the next inside it: a whole number
    by its value, data by when it was made (its parts were made before it).
    """
    match value.static:
        case StaticTensor(array=array):
            if array.ndim == 0 and array.dtype.kind in "iu" and array >= 0:
                return ("number", int(array))
        case StaticTuple(fields=fields):
            return ("fields", *map(measure, fields))
        case StaticData(made=made) | StaticRef(made=made) | StaticFunction(made=made):
            return ("made", made)
    return None


def progress(before: Measure, now: Measure) -> tuple[Measure, bool]:
    """Return the lower of two measures, and whether the second is lower than the first: only then is the
    recursion sure to end. Along a chain of calls the measure can only decrease.
    """
    if before is None or now is None or before[0] != now[0]:
        return None, False
    if before[0] == "fields":
        pairs = [progress(b, n) for b, n in zip(before[1:], now[1:])]
        return ("fields", *(m for m, _ in pairs)), any(fell for _, fell in pairs)
    return (before[0], min(before[1], now[1])), now[1] < before[1]
