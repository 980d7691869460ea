"""The program as the rows of a view, converted from the printer's rows, and the row and the name of each
expression, with the types of the values that rows define.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property

from ..ir.errors import RelayError
from ..ir.expr import Expr, Function, Let
from ..ir.module import IRModule
from ..ir.show import show_type
from ..ir.trampoline import TooDeepError
from ..ir.types import Type
from ..ir.walk import post_order
from ..text import rows as printed
from ..text.printer import program_rows as print_rows
from .format import Row, RowKind, Token
from .provenance import Provenance

MAX_TYPE_LENGTH = 4_000  # characters; a longer type is cut
MANY = 8  # parameters; a longer list is folded, and the row that closes it stays separate

# A token of this class in a row of this kind binds what it names, unless that is bound already.
_BINDERS = frozenset(
    {
        (printed.HEADER, printed.GLOBAL),
        (printed.PARAM, printed.LOCAL),
        (printed.LET, printed.LOCAL),
        (printed.BRANCH, printed.LOCAL),
    }
)


class ProgramRows:
    """The canonical print of a module or an expression.

    `rows` are view rows with all references -1; `row(expr)` is the index of the row that defines an
    expression (or, if no row defines it, of the first that mentions it), -1 for an expression that is not in
    the program; `name(expr)` is the program's name for its value (`%x`, `%3`, `@main`), or None;
    `defines(index)` is the expression that row `index` defines. `filled` returns the rows with references to
    nodes or type variables. `types` are the inferred types of the program's expressions.
    """

    def __init__(
        self, source: list[printed.Row], program: IRModule | Expr, types: Mapping[Expr, Type] | None = None
    ) -> None:
        self.source = _without_brackets(source)
        self._program = program
        self._types = types
        self._row: dict[Expr, int] = {}
        self._name: dict[Expr, str] = {}
        for index, row in enumerate(self.source):
            self._define(index, row)
        for index, row in enumerate(self.source):
            for token in row.tokens:
                if token.expr is not None:
                    self._row.setdefault(token.expr, index)

    @cached_property
    def rows(self) -> tuple[Row, ...]:
        """The rows, without references."""
        return self.filled(lambda expr: -1)

    @cached_property
    def types(self) -> Mapping[Expr, Type]:
        """The types that the expressions carry, or else those that inference finds; none for a program that
        is not well typed.
        """
        if self._types is not None:
            return self._types
        program = self._program if isinstance(self._program, IRModule) else IRModule.from_expr(self._program)
        functions = [function for function in program.functions.values() if isinstance(function, Function)]
        if all(function._checked_type is not None for function in functions):
            return {
                expr: expr._checked_type
                for expr in map(self.defines, range(len(self.source)))
                if expr is not None and expr._checked_type is not None
            }
        return inferred_types(program)

    def _define(self, index: int, row: printed.Row) -> None:
        # The tokens that `let` and patterns bind: what has a row already keeps it.
        for token in row.tokens:
            if token.expr is not None and (row.kind, token.cls) in _BINDERS:
                self._row.setdefault(token.expr, index)
                self._name.setdefault(token.expr, token.text)
        if row.expr is None:
            return
        self._row.setdefault(row.expr, index)
        if row.kind in (printed.BINDING, printed.LET, printed.PARAM):
            name = next((t.text for t in row.tokens if t.cls == printed.LOCAL), None)
        elif row.kind == printed.HEADER:
            name = next((t.text for t in row.tokens if t.cls == printed.GLOBAL), None)
        else:
            name = None
        if name is not None:
            self._name.setdefault(row.expr, name)

    def row(self, expr: Expr) -> int:
        """Return the row that defines `expr`; for a `let`, that of its variable."""
        return self._row.get(expr.var if isinstance(expr, Let) else expr, -1)

    def name(self, expr: Expr) -> str | None:
        """Return the program's name for the value of `expr`."""
        return self._name.get(expr)

    def defines(self, index: int) -> Expr | None:
        """Return the expression that row `index` defines; None for a result that only names a value."""
        expr = self.source[index].expr
        return expr if expr is not None and self._row.get(expr) == index else None

    def filled(
        self, ref: Callable[[Expr], int], node: Callable[[Expr], int] = lambda expr: -1
    ) -> tuple[Row, ...]:
        """Return the rows with `ref(expr)` in each token that names an expression, and `node(expr)` in each
        row that defines one.
        """
        provenance = Provenance.of(row.expr for row in self.source if row.expr is not None)
        rows = []
        types: dict[int, str] = {}  # by identity: expressions share types
        for index, row in enumerate(self.source):
            tokens = tuple([Token(t.cls, t.text, -1 if t.expr is None else ref(t.expr)) for t in row.tokens])
            expr = self.defines(index)
            kind = RowKind.MODULE if row.kind == printed.HEADER and row.expr is None else row.kind
            number = -1 if expr is None else node(expr)
            imported = None if provenance is None or expr is None else provenance.main(expr)
            type_ = None if expr is None or isinstance(expr, Function) else self.types.get(expr)
            if type_ is not None and id(type_) not in types:
                types[id(type_)] = type_text(type_)
            shown = "" if type_ is None else types[id(type_)]
            rows.append(Row(int(kind), row.depth, tokens, number, row.end, shown, imported))
        return tuple(rows)


def type_text(type_: Type) -> str:
    """Return a type as the views print it; a very long one is cut."""
    text = show_type(type_)
    return text if len(text) <= MAX_TYPE_LENGTH else text[: MAX_TYPE_LENGTH - 1] + "…"


def inferred_types(module: IRModule) -> dict[Expr, Type]:
    """Return the types of the expressions of a module; none if it is not well typed."""
    from ..typing.infer import infer_types

    try:
        typed = infer_types(module)
    except (RelayError, TooDeepError):
        return {}
    types: dict[Expr, Type] = {}
    for var, function in module.functions.items():
        other = typed.functions[typed.get_global_var(var.name_hint)]
        if isinstance(function, Expr) and isinstance(other, Expr):
            for old, new in zip(post_order(function), post_order(other)):
                if new._checked_type is not None:
                    types[old] = new._checked_type
    return types


def program_rows(program: IRModule | Expr, types: Mapping[Expr, Type] | None = None) -> ProgramRows:
    """Lay a program out in rows, for any view: `program_rows(module).rows`, then `.row(expr)` for the row of
    an expression. `types` are the program's types, where they are inferred already. Raise a RelayError for a
    program that is nested too deeply.
    """
    try:
        return ProgramRows(print_rows(program), program, types)
    except TooDeepError:
        raise RelayError("the program is nested too deeply to be shown") from None


def _without_brackets(source: list[printed.Row]) -> list[printed.Row]:
    """Move the `) {` that closes a short parameter list to the end of its last row."""
    rows: list[printed.Row] = []
    moved: list[int] = []
    params = 0
    for row in source:
        closes = row.joins == "" and row.expr is None and row.kind in (printed.HEADER, printed.BRANCH)
        if closes and 0 < params <= MANY:
            last = rows[-1]
            rows[-1] = printed.Row(last.kind, last.depth, [*last.tokens, *row.tokens], last.expr, last.joins)
            moved.append(len(rows) - 1)
        else:
            rows.append(printed.Row(row.kind, row.depth, row.tokens, row.expr, row.joins))
            moved.append(len(rows) - 1)
        params = params + 1 if row.kind == printed.PARAM else 0
    for row, index in zip(source, moved, strict=True):
        if row.end >= 0:
            rows[index].end = moved[row.end]
    return rows
