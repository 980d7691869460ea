"""The evaluation explorer's data: a recorded run, step by step, beside the program's rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from ...execute.code import Kind
from ...execute.record import Activation, Chose, Entered, Evaluation, Failed, Finished, Made, Returned, Step
from ...execute.values import RefValue, Value
from ...ir.adt import Match, Pattern, PatternConstructor, PatternTuple
from ...ir.expr import Constant, Expr, Var
from ...ir.scopes import LEAVES
from ..arguments import parsable_texts
from ..heap import Heap, object_box
from ..words import counted
from . import format as data
from .format import (
    EvaluationChange,
    EvaluationMark,
    EvaluationStep,
    EvaluationView,
    Failure,
    FrameBox,
    Gap,
    Live,
)
from .rows import RunRows
from .sentences import Narrator, gap, plain, stopped

MAX_TEXT_LENGTH = 80
MAX_ITERATIONS = 16  # of a loop, whose frames also show the value that the last one returns
_FIXED = LEAVES - {Var}


_Change = Callable[[int, int, int | str], data.EvaluationChange]


def _bound(frame: int, name: int, value: int | str) -> data.EvaluationChange:
    return data.Bound("b", frame, name, value)


def _captured(frame: int, name: int, value: int | str) -> data.EvaluationChange:
    return data.Captured("e", frame, name, value)


def evaluation_view(evaluation: Evaluation, title: str = "", live: Live | None = None) -> EvaluationView:
    """Build the view of a recorded run; a failed one ends at its error."""
    return _Builder(evaluation).view(title, live)


class _Builder:
    """Replays the recording, and collects the changes of each step."""

    def __init__(self, evaluation: Evaluation) -> None:
        self.evaluation = evaluation
        self.rows = RunRows(evaluation)
        self.heap = Heap(self.rows.function_name, self.rows.captured_names)
        self.heap.held.update({id(cell): held for cell, held in evaluation.cells})
        self.contents: dict[int, Value] = dict(self.heap.held)  # by cell: its current content
        self.replaced: Value = None  # the previous content of the cell that was written last
        self.narrator = Narrator(self.rows, self.heap)
        self.steps: list[EvaluationStep] = []
        self.frames: list[FrameBox] = []
        self.numbers: dict[int, int] = {}  # by activation: the frame
        self.calls: dict[int, Expr | None] = {}  # by frame: the call that receives its result
        self.tail_calls: dict[int, Expr | None] = {}  # by frame: the tail call that entered it
        self.bound: list[set[Expr]] = []  # by frame: the expressions that have a value
        self.blocks: list[set[int]] = []  # by frame: the blocks that it entered
        self.open: list[list[Expr]] = []  # by frame: `if`s and `match`es without a value yet
        self.changes: list[EvaluationChange] = []

    def view(self, title: str, live: Live | None) -> EvaluationView:
        evaluation, recorded = self.evaluation, self.evaluation.steps
        late = recorded[-1] if evaluation.left_out and not evaluation.stopped else None
        for step in recorded[:-1] if late is not None else recorded:
            self._write(step)
        hole = self._gap(late) if evaluation.left_out else None
        if late is not None:
            self._write(late, late=True)
        args = [(self.rows.called(p), v) for p, v in zip(self._params(), evaluation.args)]
        shown = tuple([data.Argument(name, self.heap.shown(value)) for name, value in args])
        result = recorded[-1].value if isinstance(recorded[-1], Finished) else None
        has_result = isinstance(recorded[-1], Finished)
        last = self.heap.last_steps(evaluation.activations, len(self.steps), result, hole is None)
        objects = tuple([object_box(self.heap, number, step) for number, step in enumerate(last)])
        totals = evaluation.totals
        return EvaluationView(
            title=title or "evaluation",
            summary=self._summary(result if has_result else None, has_result),
            rows=self.rows.program.filled(self.rows.reference),
            names=tuple(self.rows.names),
            objects=objects,
            frames=tuple([self._closed(frame) for frame in self.frames]),
            steps=tuple(self.steps),
            args=shown,
            result=self.heap.shown(result) if has_result else None,
            failure=self._failure(),
            gap=hole,
            totals={
                "steps": totals.steps, "calls": totals.calls, "tail calls": totals.tail_calls,
                "deepest": totals.deepest, "objects": len(objects),
            },
            start=self._start(),
            live=live,
            texts=parsable_texts(evaluation.args),
        )  # fmt: skip

    def _params(self) -> tuple[Expr, ...]:
        return tuple(self.evaluation.activations[0].code.function.params)

    # -- one step

    def _write(self, step: Step, late: bool = False) -> None:
        """Add a step. A `late` one follows a gap: it has some changes already, and the steps whose results it
        used are not in the data.
        """
        self.changes = self.changes if late else []
        match step:
            case Entered():
                mark, row = self._entered(step)
            case Made():
                mark, row = self._made(step)
            case Chose():
                mark, row = self._chose(step)
            case Returned():
                mark, row = self._returned(step)
            case Finished():
                mark, row = EvaluationMark.END, self.rows.row(step.activation.code.function)
                self._propagate_result(self._frame(step.activation), step.value)
            case Failed():
                mark, row = EvaluationMark.FAILURE, self.rows.row(step.instruction.node)
            case _:
                raise AssertionError(step)
        say = self.narrator.say(step, self.replaced)
        because = () if late else step.because
        frame = self._frame(step.activation)
        self.steps.append(EvaluationStep(mark, row, frame, say, because, tuple(self.changes)))

    def _entered(self, step: Entered) -> tuple[EvaluationMark, int]:
        new, rows = step.activation, self.rows
        function = new.code.function
        row = rows.row(function)
        self._new_frame(new, len(self.steps))
        frame = self._frame(new)
        self.changes.append(data.Called("f", frame) if step.replaced is None else data.Replaced("g", frame))
        exprs = rows.exprs(new.code)
        for slot in range(len(function.params)):
            self._bind(frame, exprs[slot], new.frame[slot], _bound)
        for _, slot in new.code.captures:
            self._bind(frame, exprs[slot], new.frame[slot], _captured)
        self._enter_block(new, row)
        if new.at is None:
            return EvaluationMark.BEGIN, row
        return (EvaluationMark.CALL if step.replaced is None else EvaluationMark.TAIL_CALL), row

    def _new_frame(self, new: Activation, step: int) -> None:
        rows, function = self.rows, new.code.function
        number = self.numbers[id(new)] = len(self.frames)
        before = self._frame_or_none(new.before)
        caller = self._frame_or_none(new.caller)
        call = self.calls[before] if before >= 0 else new.at.node if new.at is not None else None
        self.calls[number] = call
        self.tail_calls[number] = new.at.node if before >= 0 and new.at is not None else None
        first = rows.row(function)
        call_row = rows.row(call) if call is not None and caller >= 0 else -1
        name = rows.frame_name(new.callee)
        self.frames.append(
            FrameBox(name, first, rows.end(first), caller, call_row, before, new.turn, step, new.last)
        )
        self.bound.append(set())
        self.blocks.append(set())
        self.open.append([])

    def _made(self, step: Made) -> tuple[EvaluationMark, int]:
        instruction, frame = step.instruction, self._frame(step.activation)
        node, row = instruction.node, self.rows.row(instruction.node)
        kind = instruction.kind
        if kind is Kind.REF:
            content = step.activation.frame[instruction.operands[0]]
            self.heap.held[id(step.value)] = self.contents[id(step.value)] = content
        self._bind(frame, node, step.value, _bound, row)
        if kind is Kind.WRITE:
            cell, value = (step.activation.frame[slot] for slot in instruction.operands)
            self.replaced = self.contents.get(id(cell))
            self.contents[id(cell)] = value
            self._hold(cell, value)
        if kind is Kind.CLOSURE:
            return EvaluationMark.FUNCTION, row
        return (EvaluationMark.CELL if kind >= Kind.REF else EvaluationMark.VALUE), row

    def _hold(self, cell: RefValue, value: Value) -> None:
        """Record that the cell holds the value from this step on."""
        self._appear(value, -1)
        self.heap.write(cell, value, len(self.steps))
        if (number := self.heap.number(cell)) >= 0:
            self.changes.append(data.Written("w", number, self.heap.shown(value)))

    def _chose(self, step: Chose) -> tuple[EvaluationMark, int]:
        instruction, now = step.instruction, step.activation
        node, frame = instruction.node, self._frame(now)
        block = self.rows.branch(node, step.number)
        self.open[frame].append(node)
        if isinstance(node, Match):
            clause = instruction.detail[step.number]
            opened = list(_opened(clause.pattern, now.frame[instruction.operands[0]]))
            for value in opened:
                self._appear(value, -1)
            numbers = [n for n in map(self.heap.number, opened) if n >= 0]
            if numbers:
                self.changes.append(data.Opened("m", tuple(numbers)))
        if block >= 0:
            self.changes.append(data.Taken("k", frame, block))
        if isinstance(node, Match):
            for var, slot in clause.slots.items():
                self._bind(frame, var, now.frame[slot], _bound)
        self._enter_block(now, block)
        return EvaluationMark.CHOICE, self.rows.row(node)

    def _returned(self, step: Returned) -> tuple[EvaluationMark, int]:
        node, frame = step.instruction.node, self._frame(step.activation)
        mark = EvaluationMark.VALUE
        if step.left is not None:
            left = self._frame(step.left)
            self._propagate_result(left, step.value)
            self.changes.append(data.Left("r", left))
            mark = EvaluationMark.RETURN
            call = self.calls[left]
            if call is not None and call is not node:
                self._bind(frame, call, step.value, _bound)
        self._settle(frame, step.value, node)
        self._bind(frame, node, step.value, _bound, self.rows.row(node))
        return mark, self.rows.row(node)

    # -- what a step changes

    def _frame(self, activation: Activation) -> int:
        return self.numbers[id(activation)]

    def _frame_or_none(self, activation: Activation | None) -> int:
        return -1 if activation is None else self.numbers.get(id(activation), -1)

    def _appear(self, value: Value, row: int) -> None:
        for number in self.heap.add(value, len(self.steps), row):
            self.changes.append(data.Appears("o", number))

    def _bind(self, frame: int, expr: Expr, value: Value, change: _Change, row: int = -1) -> None:
        """Show the value of an expression, in its row and in the rows that only name it."""
        self._appear(value, row)
        shown = self.heap.shown(value)
        expr = self.rows.same(expr)
        self.bound[frame].add(expr)
        self.changes.append(change(frame, self.rows.name_of(expr), shown))
        for alias in self.rows.aliases_of.get(expr, ()):
            if alias.block in self.blocks[frame]:
                self.changes.append(data.Bound("b", frame, alias.name, shown))

    def _enter_block(self, now: Activation, block: int) -> None:
        """Enter a block: from now on its rows have values, those that only name a value at once."""
        frame = self._frame(now)
        self.blocks[frame].add(block)
        for alias in self.rows.aliases_in.get(block, ()):
            source = alias.source
            if source in self.bound[frame] or source.__class__ in LEAVES:
                slot = now.code.slots.get(source)
                value = now.frame[slot] if slot is not None else _constant(source)
                if value is not None:
                    self._appear(value, -1)
                    self.changes.append(data.Bound("b", frame, alias.name, self.heap.shown(value)))

    def _settle(self, frame: int, value: Value, until: Expr | None = None) -> None:
        """Show the value of the branches that end here: all in the frame, or those inside `until`."""
        pending = self.open[frame]
        if until is not None and until not in pending:
            return
        while pending:
            node = pending.pop()
            if node is until:
                return
            self._bind(frame, node, value, _bound)

    def _propagate_result(self, frame: int, value: Value) -> None:
        """Show a frame's result also as the value of the tail calls that led to it."""
        self._settle(frame, value)
        for _ in range(MAX_ITERATIONS):
            call, frame = self.tail_calls[frame], self.frames[frame].before
            if frame < 0 or call is None:
                return
            self._settle(frame, value)
            self._bind(frame, call, value, _bound)

    # -- the whole

    def _gap(self, late: Step | None) -> Gap:
        """Build the step that stands for the missing ones; after it, the stack shows the frame in which the
        run ended.
        """
        evaluation = self.evaluation
        shown, total = len(self.steps), evaluation.totals.steps
        number = len(self.steps)
        if late is None:
            frame = self.steps[-1].frame
            say = stopped(shown, total)
            self.steps.append(EvaluationStep(EvaluationMark.GAP, -1, frame, say, (), ()))
            return Gap(number, total - shown, say)
        say = gap(evaluation.left_out, shown, total)
        self.steps.append(EvaluationStep(EvaluationMark.GAP, -1, self.steps[-1].frame, say, (), ()))
        self.changes = [data.Emptied("x")]
        self._revive(late.activation)
        return Gap(number, evaluation.left_out, say)

    def _revive(self, now: Activation) -> None:
        """Push a frame onto the empty stack, with all its values."""
        if id(now) not in self.numbers:
            self._new_frame(now, len(self.steps))
        frame = self._frame(now)
        self.changes.append(data.Called("f", frame))
        for slot, expr in enumerate(self.rows.exprs(now.code)):
            if now.frame[slot] is not None and expr.__class__ not in _FIXED:
                self._bind(frame, expr, now.frame[slot], _bound)
        for cell in [thing.value for thing in self.heap.things]:  # written during the gap
            if isinstance(cell, RefValue) and self.contents.get(id(cell), cell.value) is not cell.value:
                self._hold(cell, cell.value)

    def _closed(self, frame: FrameBox) -> FrameBox:
        return frame._replace(left=frame.left if 0 <= frame.left < len(self.steps) else len(self.steps) - 1)

    def _failure(self) -> Failure | None:
        error = self.evaluation.error
        if error is None:
            return None
        notes = tuple([plain(note.message) for note in error.notes])
        last = len(self.steps) - 1
        return Failure(last, self.steps[last].row, plain(error.message), notes, tuple(map(plain, error.help)))

    def _start(self) -> int:
        """Return the step that is shown first: the error, if there is one; else the first choice after the
        deepest point of the recursion, which shows the most; in a loop of tail calls, the choice in its
        second iteration; in a run without calls, the first choice, or else the first value.
        """
        if self.evaluation.error is not None:
            return len(self.steps) - 1
        marks = [step.mark for step in self.steps]
        height, deepest, start = 0, 1, -1
        if EvaluationMark.TAIL_CALL in marks:
            start = marks.index(EvaluationMark.TAIL_CALL)
        for number, step in enumerate(self.steps):
            height += sum((c[0] == "f") - (c[0] == "r") for c in step.changes)
            if height > deepest:
                deepest, start = height, number
        choices = [number for number, mark in enumerate(marks) if mark == EvaluationMark.CHOICE]
        values = [number for number, mark in enumerate(marks) if mark == EvaluationMark.VALUE]
        inside = [start] if start >= 0 else values[:1] or [len(self.steps) - 1]
        return next((number for number in choices if number > start), inside[0])

    def _summary(self, result: Value, ended: bool) -> str:
        totals, name = self.evaluation.totals, self.rows.frame_name(self.evaluation.activations[0].callee)
        calls = counted(totals.calls, "call")
        if totals.tail_calls:
            calls += f", of which {counted(totals.tail_calls, 'tail call')}"
        counts = (
            f"{counted(totals.steps, 'step')}, {calls}, at most {counted(totals.deepest, 'frame')} at once"
        )
        left = self.evaluation.left_out
        shown = len(self.evaluation.steps) - (ended or self.evaluation.error is not None)
        recorded = f" The first {shown:,} steps are recorded." if left else ""
        if self.evaluation.error is not None:
            message = self.evaluation.error.message
            return f"{name} fails: {message}. {counts[:1].upper()}{counts[1:]}.{recorded}"
        if not ended:
            return f"{name} had not ended after {counted(totals.steps, 'step')}, and was stopped.{recorded}"
        value = self.heap.text(result, MAX_TEXT_LENGTH)
        return f"{name} returns {value}: {counts}.{recorded}"


def _constant(expr: Expr) -> Value:
    return expr.data.numpy() if isinstance(expr, Constant) else None


def _opened(pattern: Pattern, value: Value) -> Iterator[Value]:
    """Iterate over the objects that a matching pattern inspects, from the outside in."""
    pending = [(pattern, value)]
    for current, part in pending:  # grows during the iteration
        if isinstance(current, PatternConstructor):
            yield part
            pending.extend(zip(current.patterns, part.fields))
        elif isinstance(current, PatternTuple):
            yield part
            pending.extend(zip(current.patterns, part))
