"""The explorer of partial evaluation: a function evaluated as far as its data are static, decision by
decision, and the residual program as it grows.
"""

from __future__ import annotations

from ...ir.adt import Constructor
from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, Function, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...transform.partial_evaluate.record import (
    LIMIT,
    Branch,
    Built,
    Computed,
    Decided,
    Entered,
    Finished,
    Frame,
    Kept,
    PartialEvaluationEvent,
    Returned,
    Taken,
    Undecided,
)
from ...transform.partial_evaluate.recording import PartialEvaluation, record_partial_evaluation
from ...transform.partial_evaluate.values import Known, StaticRef
from ..evaluation.sentences import gap
from ..format import Row
from ..rows import ProgramRows
from ..words import count, counted
from .format import (
    Bound,
    Cells,
    CellValue,
    Gap,
    Item,
    PartialFrame,
    PartialMark,
    PartialStep,
    PartialTotals,
    PartialView,
    ResidualRow,
    State,
)
from .rows import ResidualRows, SourceRows, branch_row
from .sentences import Narrator
from .values import KnownTexts

MAX_ROWS = 20_000  # of the residual program
EFFECTS, REFUSED = ("cell", "write", "read"), ("function", "endless", "size")
_MARKS = {
    Computed: PartialMark.COMPUTED, Built: PartialMark.BUILT, Taken: PartialMark.BUILT,
    Decided: PartialMark.DECIDED, Undecided: PartialMark.UNDECIDED, Branch: PartialMark.UNDECIDED,
    Returned: PartialMark.RETURNED, Finished: PartialMark.END,
}  # fmt: skip
_NO_ITEM = (Op, Constructor, Constant)


def partial_view(module: IRModule, title: str = "", limit: int = LIMIT) -> PartialView:
    """Build the view of the partial evaluation of `@main` (of the first function, where there is no `@main`),
    whose first `limit` steps are recorded. Raise a RelayError where the residual program is too long to show.
    """
    functions = [var for var, f in module.functions.items() if isinstance(f, Function)]
    main = next((var for var in functions if var.name_hint == "main"), next(iter(functions), None))
    if main is None:
        raise RelayError("the module has no function to evaluate")
    run = record_partial_evaluation(module, main.name_hint, limit)
    return _Builder(run).view(title)


class _Builder:
    """Replays the recording, and collects the sentence and the changes of each event."""

    def __init__(self, run: PartialEvaluation) -> None:
        self.run = run
        self.source = SourceRows(run)
        self.residual = ResidualRows(run)
        if len(self.residual.rows) > MAX_ROWS:
            raise RelayError(
                f"the residual program has {count(len(self.residual.rows))} rows, but an explorer shows "
                f"at most {MAX_ROWS:,}",
                help=["the option relay.PartialEvaluate.max_bindings of the context bounds it"],
            )
        self.split = len(self.source.program.source)
        self.texts = KnownTexts(self.residual.name)
        self.say = Narrator(self.source, self.residual, self.texts)
        self.numbers = {id(frame): number for number, frame in enumerate(run.frames)}
        self.born: dict[int, int] = {}
        self.came: dict[int, int] = {}
        self.open: list[
            tuple[int, dict[int, int]]
        ] = []  # undecided choices: the step of each, and of its branches
        self.cells: dict[int, str] = {}  # the name of each, by its creation number
        self.steps: list[PartialStep] = []

    def view(self, title: str) -> PartialView:
        hole = None
        for event in self.run.events:
            if isinstance(event, Finished) and self.run.left_out:
                hole = Gap(len(self.steps), self.run.left_out)
                self.steps.append(self._gap(event))
            self.steps.append(self._step(event))
        births = self.residual.births(self.born, len(self.steps) - 1)
        rows, items = self._rows()
        residual = tuple(
            ResidualRow(births[row], self.came.get(row, -1), self.residual.needed[row])
            for row in range(len(births))
        )
        totals = self._totals()
        return PartialView(
            title=title or "partial evaluation",
            summary=self._summary(totals),
            rows=rows, split=self.split, items=items, residual=residual,
            frames=tuple(map(self._frame, self.run.frames)),
            steps=tuple(self.steps), totals=totals, start=self._start(), gap=hole,
        )  # fmt: skip

    # -- one step

    def _step(self, event: PartialEvaluationEvent) -> PartialStep:
        number = len(self.steps)
        row = self.source.row(event.at)
        for var in event.made:
            self._add_row(self.residual.row(var), number, row)
        bound, block = list(self._bound(event)), -1
        if isinstance(event, (Decided, Branch)):
            block = self.source.branch(event.at, event.number)
        if isinstance(event, Undecided):
            self.open.append((number, {}))
        if isinstance(event, Branch) and self.open:
            self.open[-1][1][event.number] = number
        if isinstance(event, Kept) and event.reason == "branches" and self.open:
            self._joined(event, number)
        if isinstance(event, Entered) and event.frame.call is None:
            self._written(event.frame, number)
        if isinstance(event, Returned) and event.left.call is None:
            self._closed(event.left, number)
        cells = self._cells(event)
        changes: list[Bound | Cells] = [*bound, *([] if cells is None else [cells])]
        say = self.say(event)
        return PartialStep(_mark(event), row, self._number(event.frame), say, block, tuple(changes))

    def _add_row(self, row: int, step: int, source: int) -> None:
        if row >= 0:
            self.born.setdefault(row, step)
            self.came.setdefault(row, source)

    def _bound(self, event: PartialEvaluationEvent) -> list[Bound]:
        """Return the rows that have a value after an event: that of the expression itself, or of parameters
        and variables.
        """
        frame = self._number(event.frame)
        match event:
            case Entered():
                pairs: list[tuple[Expr, Known]] = list(
                    zip(event.frame.static.function.params, event.frame.args)
                )
            case Decided() | Branch():
                pairs = list(event.bound)
            case _:
                pairs = [(event.at, event.known)] if event.known is not None else []
        bound = []
        for expr, value in pairs:
            row = self.source.row(expr)
            if row < 0 or (isinstance(event, Returned) and event.left.call is None):
                continue
            place = self.residual.row(value.dynamic) if isinstance(value.dynamic, Var) else -1
            where = place + self.split if place >= 0 else -1
            if isinstance(expr, Var) and place >= 0:
                self.came.setdefault(place, row)
            effect = isinstance(event, Kept) and event.reason in EFFECTS
            state = State.EFFECT if effect else self.texts.state(value)
            bound.append(Bound("b", frame, row, state, self.texts.text(value), where))
        return bound

    def _cells(self, event: PartialEvaluationEvent) -> Cells | None:
        """Return the known contents of cells, if they have changed."""
        value = event.known
        if isinstance(event, Kept) and event.reason == "cell" and value is not None:
            assert isinstance(value.static, StaticRef)
            self.cells[value.static.made] = self.texts.text(value)
        if event.cells is None:
            return None
        values = [
            CellValue(self.cells.get(c.made, "a cell"), self.texts.text(held)) for c, held in event.cells
        ]
        return Cells("c", tuple(values))

    # -- rows that belong to others

    def _joined(self, event: Kept, number: int) -> None:
        """Record the rows of an `if` or `match` of the residual program: each branch exists from when it
        begins.
        """
        began, branches = self.open.pop()
        assert event.known is not None
        row = self.residual.row(event.known.dynamic)
        if row < 0:
            return
        self.born[row] = began
        program, last = self.residual.program, row
        value = self.residual.lets[event.known.dynamic].value  # type: ignore[index]
        for place, step in enumerate(branches.values()):
            at = branch_row(program, row, value, place)
            if at > row:
                self.born[at] = step
            last = max(last, program.source[at].end)
        end = program.source[row].end
        self.born[max(end, last)] = number

    def _written(self, frame: Frame, number: int) -> None:
        """Record that a function of the residual program begins."""
        row = self.residual.row(frame.itself.dynamic)
        self._add_row(max(row, 0), number, self.source.row(frame.static.function))

    def _closed(self, frame: Frame, number: int) -> None:
        row = self.residual.row(frame.itself.dynamic)
        if row >= 0:
            self.born.setdefault(self.residual.rows[row].end, number)

    def _rows(self) -> tuple[tuple[Row, ...], tuple[Item, ...]]:
        """Return the rows of both programs, and the items that their tokens name."""
        items: dict[tuple[int, str], int] = {}

        def filled(program: ProgramRows, offset: int) -> list[Row]:
            def ref(expr: Expr) -> int:
                row = -1 if isinstance(expr, _NO_ITEM) else program.row(expr)
                if row < 0:
                    return -1
                return items.setdefault((row + offset, program.name(expr) or ""), len(items))

            return [
                r._replace(node=-1, end=r.end + offset if r.end >= 0 else -1) for r in program.filled(ref)
            ]

        rows = filled(self.source.program, 0) + filled(self.residual.program, self.split)
        return tuple(rows), tuple(Item(*item) for item in items)

    # -- the whole

    def _number(self, frame: Frame) -> int:
        """Return a frame's number; for one that was not recorded, that of its nearest recorded caller."""
        at: Frame | None = frame
        while at is not None and id(at) not in self.numbers:
            at = at.caller
        return 0 if at is None else self.numbers[id(at)]

    def _frame(self, frame: Frame) -> PartialFrame:
        first = self.source.row(frame.static.function)
        last = len(self.steps) - 1
        return PartialFrame(
            self.say.frame(frame), first, self.source.end(first),
            -1 if frame.caller is None else self._number(frame.caller),
            -1 if frame.call is None else self.source.row(frame.call),
            frame.turn, min(frame.first, last), last if frame.last < 0 else min(frame.last, last),
        )  # fmt: skip

    def _gap(self, event: PartialEvaluationEvent) -> PartialStep:
        say = gap(self.run.left_out, len(self.steps), self.run.total)
        return PartialStep(PartialMark.GAP, -1, self._number(event.frame), say)

    def _totals(self) -> PartialTotals:
        run, counts = self.run, self.run.counts
        return PartialTotals(
            run.total, counts.get(Computed, 0), counts.get(Decided, 0), run.inlined,
            len(self.residual.lets), self.residual.alive,
        )  # fmt: skip

    def _summary(self, totals: PartialTotals) -> str:
        name = f"@{self.run.entry.name_hint}"
        computed, decided = counted(totals.computed, "operator"), counted(totals.decided, "choice")
        inlined, needed = counted(totals.inlined, "call"), counted(totals.needed, "binding")
        return (
            f"{name} is evaluated as far as its data are static: {computed} computed, {decided} decided, "
            f"{inlined} inlined. The residual program has {needed}."
        )

    def _start(self) -> int:
        """Return the step that is shown first: in the middle of a recursion, if there is one."""
        marks = [step.mark for step in self.steps]
        for mark in (PartialMark.UNROLLED, PartialMark.DECIDED, PartialMark.COMPUTED, PartialMark.KEPT):
            if mark in marks:
                return marks.index(mark)
        return len(marks) - 1


def _mark(event: PartialEvaluationEvent) -> PartialMark:
    match event:
        case Entered():
            if event.frame.call is None:
                return PartialMark.BEGIN
            return PartialMark.UNROLLED if event.frame.turn else PartialMark.INLINED
        case Kept():
            if event.reason in REFUSED:
                return PartialMark.REFUSED
            return PartialMark.EFFECT if event.reason in EFFECTS else PartialMark.KEPT
    return _MARKS[type(event)]
