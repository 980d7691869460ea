"""The rows of a partial evaluation: those of the source program and of the residual program, and the source
row of each evaluated expression.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...ir.expr import Constant, Expr, Function, GlobalVar, If, Let, Var
from ...ir.module import IRModule
from ...ir.walk import children, post_order, rebuild
from ...transform.dead_code_elimination import DeadCodeElimination
from ...transform.infrastructure import PassContext
from ...transform.partial_evaluate.recording import PartialEvaluation
from ..evaluation.rows import types_named
from ..format import RowKind
from ..rows import ProgramRows, program_rows

MAX_SEARCHED = 10_000  # expressions, in the search for the origin of one
_FOLLOW = (RowKind.PARAMETER, RowKind.BRANCH)  # rows that belong to the one before them


class SourceRows:
    """The rows of the evaluated functions in the source program. `row(expr)`, of an expression of the program
    in A-normal form, is the row of its origin.
    """

    def __init__(self, run: PartialEvaluation) -> None:
        self.module = evaluated(run)
        self.program: ProgramRows = program_rows(self.module)
        self._origins: dict[int, Expr | None] = {}

    def given(self, expr: Expr) -> Expr | None:
        """Return the expression of the source program that an expression came from."""
        key = id(expr)
        if key not in self._origins:
            self._origins[key] = self._search(expr)
        return self._origins[key]

    def _search(self, expr: Expr) -> Expr | None:
        visited, pending = {id(expr)}, [expr]
        while pending and len(visited) < MAX_SEARCHED:
            source = pending.pop(0)
            if self.program.row(source) >= 0:
                return source
            for other in source.origin:
                if id(other) not in visited:
                    visited.add(id(other))
                    pending.append(other)
        return None

    def row(self, expr: Expr) -> int:
        before = self.given(expr)
        return -1 if before is None else self.program.row(before)

    def end(self, row: int) -> int:
        return self.program.source[row].end if row >= 0 else -1

    def called(self, expr: Expr) -> str:
        """Return the name of an expression, `%x` or `%3`; "" if it has none."""
        before = self.given(expr)
        return (self.program.name(before) or "") if before is not None else ""

    def branch(self, expr: Expr, number: int) -> int:
        """Return the row at which a branch of an `if` or `match` begins."""
        return branch_row(self.program, self.row(expr), expr, number)


def branch_row(program: ProgramRows, row: int, expr: Expr, number: int) -> int:
    """Return the row of branch `number` of the `if` or `match` in `row`."""
    if row < 0:
        return -1
    if isinstance(expr, If):
        return row if number == 0 else program.source[row].end
    row += 1
    for _ in range(number):
        row = program.source[row].end + 1
    return row if row < len(program.source) else -1


def evaluated(run: PartialEvaluation) -> IRModule:
    """Return the functions that the evaluation entered, and the types that they mention."""
    names = {run.entry.name_hint}
    for frame in run.frames:
        if isinstance(frame.itself.dynamic, GlobalVar):
            names.add(frame.itself.dynamic.name_hint)
    whole = run.module
    functions = {var: f for var, f in whole.functions.items() if var.name_hint in names}
    named = set(types_named(f for f in functions.values() if isinstance(f, Expr)))
    types = {var: data for var, data in whole.type_definitions.items() if var.name_hint in named}
    return IRModule(functions, types, source=whole.source)


class ResidualRows:
    """The rows of the residual program, in which scalars are written where they are used. `needed` says of
    each row whether it is live; `row(var)` is the row of a binding, -1 if it has none.
    """

    def __init__(self, run: PartialEvaluation) -> None:
        function = _numbers_in_place(run.residual)
        self.function = function
        self.program: ProgramRows = program_rows(IRModule({GlobalVar(run.entry.name_hint): function}))
        self.rows = self.program.source
        alive = _alive(run)
        self.lets = {n.var: n for n in post_order(function) if isinstance(n, Let)}
        self.alive = sum(var in alive for var in self.lets)
        self.needed = [True] * len(self.rows)
        for var, let in self.lets.items():
            row = self.row(var)
            if var not in alive and row >= 0:
                last = max(row, self.program.rows[row].end, self._last(row, let.value))
                self.needed[row : last + 1] = [False] * (last + 1 - row)

    def _last(self, row: int, value: Expr) -> int:
        """Return the closing row of the value that a `let` binds: an `if` ends with its other branch."""
        end = self.rows[row].end
        if isinstance(value, If) and end >= 0:
            return max(end, self.rows[end].end)
        return end

    def row(self, var: Expr) -> int:
        return self.program.row(var) if var in self.lets or isinstance(var, Var) else -1

    def name(self, expr: Expr) -> str:
        return self.program.name(expr) or ""

    def births(self, recorded: dict[int, int], last: int) -> list[int]:
        """Return the step after which each row exists. A row that was not recorded appears with the row that
        it belongs to: a parameter or a branch with the row before it, any other with the row after it.
        """
        births = [recorded.get(row, -1) for row in range(len(self.rows))]
        for row, kind in enumerate(self.program.rows):
            if births[row] < 0 and row and kind.kind in _FOLLOW:
                births[row] = births[row - 1]
        births[0] = max(births[0], 0)
        later = last
        for row in range(len(births) - 1, -1, -1):
            if births[row] < 0:
                births[row] = later
            later = births[row]
        return births


def _alive(run: PartialEvaluation) -> set[Var]:
    """Return the variables that DeadCodeElimination leaves."""
    module = IRModule({**run.normal.functions, run.entry: run.residual}, run.normal.type_definitions)
    swept = DeadCodeElimination().transform_module(module, PassContext())
    return {node.var for node in post_order(swept.functions[run.entry]) if isinstance(node, Let)}


def _numbers_in_place(root: Function) -> Function:
    """Return `root` with each variable that is bound to a scalar replaced by the scalar."""
    order = post_order(root)
    numbers = {
        node.var: node.value
        for node in order
        if isinstance(node, Let) and isinstance(node.value, Constant) and not node.value.data.shape
    }
    memo: dict[int, Expr] = {}

    def put(parts: Iterable[Expr]) -> list[Expr]:
        return [
            numbers[part] if isinstance(part, Var) and part in numbers else memo[id(part)] for part in parts
        ]

    for node in order:
        if isinstance(node, Let) and node.var in numbers:
            (memo[id(node)],) = put([node.body])
        else:
            memo[id(node)] = rebuild(node, put(children(node)))
    result = memo[id(root)]
    assert isinstance(result, Function)
    return result
