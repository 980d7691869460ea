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
    """A partially static value: `dynamic` is an atom, such as a variable, for its value in the residual
    program, and `static` is what is known about it at compile time, or None.
    """

    dynamic: Expr
    static: Static | None = None


@dataclass(frozen=True, eq=False)
class StaticTensor:
    """A tensor whose elements are static."""

    array: Anything


@dataclass(frozen=True, eq=False)
class StaticTuple:
    fields: tuple[Known, ...]


@dataclass(frozen=True, eq=False)
class StaticData:
    """A value of a data type whose constructor is static. `made` numbers such values in the order of their
    creation.
    """

    constructor: Constructor
    fields: tuple[Known, ...]
    made: int


@dataclass(frozen=True, eq=False)
class StaticRef:
    """A cell whose creation the evaluator has seen; its contents are in the Store."""

    made: int


@dataclass(frozen=True, eq=False)
class StaticFunction:
    """A closure: a function, and the values that its free variables had where it was created."""

    function: Function
    env: Env
    made: int


@dataclass(frozen=True, eq=False)
class StaticCallee:
    """An operator or a constructor as a value."""

    callee: Op | Constructor


Static = StaticTensor | StaticTuple | StaticData | StaticRef | StaticFunction | StaticCallee


class Env:
    """The values of variables, in a chain of scopes, the innermost first, and the types of type
    parameters.
    """

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
    """The contents of cells, as far as they are known at the current point of the residual program."""

    def __init__(self) -> None:
        self._cells: dict[StaticRef, Known] = {}
        self.version = 0  # counts changes

    def read(self, cell: StaticRef) -> Known | None:
        return self._cells.get(cell)

    def write(self, cell: StaticRef, value: Known) -> None:
        self._cells[cell] = value
        self.version += 1

    def forget(self) -> None:
        """Forget the contents of all cells, after something that may have written any of them."""
        if self._cells:
            self._cells = {}
            self.version += 1

    def contents(self, most: int) -> tuple[tuple[StaticRef, Known], ...]:
        """Return at most `most` cells with their contents, in the order in which they were first written."""
        return tuple(islice(self._cells.items(), most))

    def saved(self) -> dict[StaticRef, Known]:
        return dict(self._cells)

    def restore(self, cells: dict[StaticRef, Known]) -> None:
        self._cells = dict(cells)
        self.version += 1


# -- the residual program


class Block:
    """The bindings of a block of the residual program, in order. A binding may be lazy: its value is
    generated only if its variable is needed.
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

Measure = Anything  # of an argument: a tagged number or tuple of measures, or None (no measure)


def measure(value: Known) -> Measure:
    """Return the measure by which an argument may decrease from one call of a function to a call inside it: a
    natural number by its value, data by its creation number (its parts were created before it).
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
