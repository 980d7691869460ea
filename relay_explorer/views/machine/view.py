"""The machine explorer's data: a recorded run of the virtual machine beside the program's rows, and the graph
executor's plan of the same program, if it can run it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...execute.executor import FunctionValue
from ...execute.interpreter import Interpreter
from ...execute.values import Closure, Value
from ...execute.vm import VMClosure, VMFunction, VMProgram, compile_module
from ...execute.vm.bytecode import (
    AllocADT,
    AllocClosure,
    AllocStorage,
    AllocTensor,
    AllocTensorReg,
    AllocTuple,
    Goto,
    If,
    Instruction,
    InvokeHost,
    InvokePacked,
    LoadConst,
    NewRef,
    ReadRef,
    ReshapeTensor,
    Ret,
    ShapeFunc,
    Switch,
    WriteRef,
    read,
    written,
)
from ...execute.vm.heap import Reference
from ...execute.vm.prepare import prepared
from ...execute.vm.record import LIMIT, record_machine
from ...execute.vm.run import MachineRun, Step, StepKind
from ...execute.vm.text import instruction_text
from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ir.module import IRModule
from ...typing import check_types
from ..arguments import parsable_texts
from ..evaluation.sentences import plain, stopped
from ..format import Sentence
from ..memory.format import MemoryView
from ..memory.view import plan_view
from ..values import is_tensor, tensor_text, tensor_type, value_text
from ..words import counted
from . import format as data
from . import sentences as say
from .format import (
    CodeLine,
    Gap,
    KernelBox,
    MachineChange,
    MachineFailure,
    MachineFrame,
    MachineFunction,
    MachineMark,
    MachineObject,
    MachineStep,
    MachineView,
)
from .rows import MachineRows, shown

OPT_LEVEL = 3
LARGEST_PLAN = 400  # steps of a plan that is shown beside the run; the memory explorer shows longer ones
_MARKS: tuple[tuple[MachineMark, tuple[type[Instruction], ...]], ...] = (
    (MachineMark.MEMORY, (AllocStorage, AllocTensor, AllocTensorReg, ReshapeTensor)),
    (MachineMark.KERNEL, (InvokePacked, InvokeHost, ShapeFunc)),
    (MachineMark.MADE, (AllocTuple, AllocADT, AllocClosure)),
    (MachineMark.CELL, (NewRef, ReadRef, WriteRef)),
    (MachineMark.CHOICE, (If, Switch, Goto)),
)
_OF_KIND = {
    StepKind.BEGIN: MachineMark.BEGIN, StepKind.CALL: MachineMark.CALL, StepKind.TAIL: MachineMark.TAIL_CALL,
    StepKind.RETURN: MachineMark.RETURN, StepKind.END: MachineMark.END, StepKind.FAILURE: MachineMark.FAILURE,
}  # fmt: skip


_CHANGES: dict[str, Callable[..., MachineChange]] = {
    "o": data.Appears, "t": data.Filled, "d": data.Freed, "f": data.Called, "g": data.Replaced,
    "r": data.Left, "w": data.Written, "x": data.Unknown,
}  # fmt: skip


def machine_view(
    x: object, args: Sequence[object] = (), title: str = "", limit: int | None = None
) -> MachineView:
    """Build the view of a run of `@main` with `args`: of a module, which is compiled to bytecode here, or of
    the result of `relay_explorer.build`, for the virtual machine or for the graph executor. For a module,
    NumPy computes the kernels. The first `limit` steps are recorded.
    """
    recorded = LIMIT if limit is None else limit
    if isinstance(x, (IRModule, Expr)):
        return _of_module(IRModule.from_expr(x), args, title, recorded)
    from ...lower.runtime.executable import Executable
    from ...lower.runtime.virtual import InterpretedExecutable, VMExecutable

    if not isinstance(x, Executable) or isinstance(x, InterpretedExecutable):
        raise TypeError(
            'the machine explorer takes a module or the result of relay_explorer.build(…, executor="vm"), '
            f"not {type(x).__name__}"
        )
    if isinstance(x, VMExecutable):
        values = x.values(args, {})
        run = record_machine(x.machine, values, limit=recorded, text=look)
        module = x.mod if x.mod is not None else IRModule({})
        rows = MachineRows(shown_of(module, run.program))
        return _Builder(run, rows, title).view(*_planned(x.mod), values)
    if x.mod is None:
        raise RelayError(
            "the program was loaded for the graph executor, and has no bytecode",
            help=['build it again with executor="vm"', 'explore(module, view="memory") shows its memory'],
        )
    return _of_module(x.mod, args, title, recorded, compiled=True)


def _of_module(
    original: IRModule, args: Sequence[object], title: str, limit: int, compiled: bool = False
) -> MachineView:
    module = original.copy()
    check_types(module)
    main = module.get_global_var("main")
    interpreter = Interpreter(module)
    values = FunctionValue(interpreter, interpreter.evaluate(main), main).arguments(args, {})
    ready = module if compiled else prepared(module, OPT_LEVEL)
    program = compile_module(ready)
    run = record_machine(program, values, limit=limit, text=look)
    return _Builder(run, MachineRows(shown(module, original, program)), title).view(*_planned(ready), values)


def shown_of(module: IRModule, program: VMProgram) -> IRModule:
    """Return the part of an optimized program that is shown: all of it that became code."""
    return shown(module, module, program) if "main" in module else module


def _planned(module: IRModule | None) -> tuple[MemoryView | None, Sentence]:
    """Return the graph executor's plan of an optimized program, or the reason why there is none."""
    if module is None:
        return None, ("The program was loaded, so its storage plan is not available.",)
    try:
        # The program is already fused, so there is one plan. In it, rows that the compiled program reads
        # inside another tensor (lower/passes/rows_apart.py) have memory of their own.
        view, steps = plan_view(module, "storage plan", LARGEST_PLAN)
    except RelayError as error:
        reason = error.message[:1].upper() + error.message[1:]
        return None, plain(f"The graph executor cannot run this program. {reason}.")
    if view is None:
        return None, (
            f"The graph executor's plan has {counted(steps, 'step')}: "
            'explore(module, view="memory") shows it.',
        )
    return view, ()


def run_view(run: MachineRun, module: IRModule, title: str = "") -> MachineView:
    """Build the view of a run that was recorded with `look` as its `text`, beside the rows of a module."""
    return _Builder(run, MachineRows(module), title).view(None, ("Only the bytecode was run.",))


def look(value: Value) -> str:
    """Write a value as text: a tensor by its elements."""
    if is_tensor(value):
        return tensor_text(value)
    return value_text(value, closure_name)


def closure_name(closure: Closure) -> str:
    return f"@{closure.code.function.name}" if isinstance(closure, VMClosure) else "fn"


class _Builder:
    """Converts the recording to the data of the view."""

    def __init__(self, run: MachineRun, rows: MachineRows, title: str) -> None:
        self.run, self.rows, self.title = run, rows, title
        self.narrator = say.Narrator(run)
        self.numbers = {name: number for number, name in enumerate(run.program.functions)}
        self.steps: list[MachineStep] = []

    def view(self, plan: MemoryView | None, without: Sentence, args: Sequence[Value] = ()) -> MachineView:
        run = self.run
        late = run.steps[-1] if run.left_out and not run.stopped else None
        for step in run.steps[:-1] if late is not None else run.steps:
            self.steps.append(self._step(step))
        gap = self._gap(late)
        totals = run.totals
        return MachineView(
            title=self.title or "machine",
            summary=self._summary(),
            rows=self.rows.program.rows,
            functions=tuple([self._function(f) for f in run.program.functions.values()]),
            kernels=tuple([KernelBox(k.name, k.text, k.host) for k in run.program.kernels]),
            objects=tuple([self._object(number) for number in range(len(run.things))]),
            frames=tuple([self._frame(number) for number in range(len(run.activations))]),
            steps=tuple(self.steps),
            failure=self._failure(),
            gap=gap,
            totals={
                "steps": totals.steps, "calls": totals.calls, "tail calls": totals.tail_calls,
                "deepest": totals.deepest, "kernels": totals.kernels, "storage": totals.storage,
            },
            start=self._start(gap[0] if gap else -1),
            plan=plan,
            without=without,
            texts=parsable_texts(args),
        )  # fmt: skip

    # -- the program

    def _function(self, function: VMFunction) -> MachineFunction:
        names = [f"%{name}" for name in function.params] + ["captured"] * function.captured
        runs = self.run.runs.get(function.name, [0] * len(function.code))
        sources = function.sources or (None,) * len(function.code)
        code = [
            CodeLine(
                instruction_text(it), self._remark(it), self.rows.rows(source), read(it), written(it),
                -1 if isinstance(it, Ret) else count,
            )
            for it, source, count in zip(function.code, sources, runs)
        ]  # fmt: skip
        return MachineFunction(
            f"@{function.name}", self.rows.header(function), tuple(names), function.registers, tuple(code)
        )

    def _remark(self, it: Instruction) -> str:
        """Return the meaning of an instruction's number: a kernel's name, a constant's elements or type."""
        if isinstance(it, (InvokePacked, InvokeHost, ShapeFunc)):
            return self.run.program.kernels[it.kernel].name
        if isinstance(it, LoadConst):
            data = self.run.program.constants[it.constant].numpy()
            return tensor_text(data) if data.size <= 4 else tensor_type(data)
        return ""

    def _object(self, number: int) -> MachineObject:
        entry, steps = self.run.things[number], len(self.steps)
        freed = entry.freed if 0 <= entry.freed < steps else steps
        start = min(entry.made, steps - 1)
        return MachineObject(
            int(entry.kind), entry.label, entry.size, entry.storage, entry.given, start,
            min(max(entry.last, start), steps - 1), freed,
        )  # fmt: skip

    def _frame(self, number: int) -> MachineFrame:
        a, steps = self.run.activations[number], len(self.steps)
        entered = min(a.entered, steps - 1)
        left = a.left if 0 <= a.left < steps else steps - 1
        return MachineFrame(self.numbers[a.function.name], a.caller, a.at, a.before, a.turn, entered, left)

    # -- steps

    def _step(self, step: Step, late: bool = False) -> MachineStep:
        sentence = self.narrator.say(step)
        changes = tuple([self._change(change) for change in step.changes])
        because = () if late else step.because
        return MachineStep(
            self._mark(step), step.activation, step.number, step.following, sentence, because, changes
        )

    def _change(self, change: tuple[Reference, ...]) -> MachineChange:
        tag, *values = ["…" if part is None else part for part in change]
        return _CHANGES[str(tag)](tag, *values)

    def _mark(self, step: Step) -> MachineMark:
        if step.kind is not StepKind.DID:
            return _OF_KIND[step.kind]
        it = self.run.activations[step.activation].function.code[step.number]
        return next((mark for mark, kinds in _MARKS if isinstance(it, kinds)), MachineMark.LOAD)

    def _gap(self, late: Step | None) -> Gap | None:
        """Build the step that stands for the missing ones; after it comes the one that ends the run."""
        run, number = self.run, len(self.steps)
        if not run.left_out:
            return None
        total = run.totals.steps
        sentence = stopped(number, total) if late is None else say.gap(run.left_out, number, total)
        last = self.steps[-1]
        self.steps.append(MachineStep(MachineMark.GAP, last.frame, -1, -1, sentence, (), ()))
        if late is not None:
            self.steps.append(self._late(late))
        return Gap(number, total - number - (late is not None))

    def _late(self, step: Step) -> MachineStep:
        last = self._step(step, late=True)
        return last._replace(changes=tuple(sorted(last.changes, key=_order)))

    # -- the whole

    def _failure(self) -> MachineFailure | None:
        error = self.run.error
        if error is None:
            return None
        notes = tuple([plain(note.message) for note in error.notes])
        return MachineFailure(notes, tuple(map(plain, error.help)))

    def _start(self, gap: int) -> int:
        """Return the step that is shown first: the error, if there is one; else the highest stack; in a run
        without calls the first kernel; without any, the end or the last recorded step.
        """
        if self.run.error is not None:
            return len(self.steps) - 1
        marks = [step.mark for step in self.steps]
        height, deepest, start = 0, 1, (gap if gap > 0 else len(self.steps)) - 1
        if MachineMark.KERNEL in marks:
            start = min(start, marks.index(MachineMark.KERNEL))
        for number, step in enumerate(self.steps):
            height += sum((c[0] == "f") - (c[0] == "r") for c in step.changes)
            if height > deepest:
                deepest, start = height, number
        return start

    def _summary(self) -> str:
        run, totals = self.run, self.run.totals
        code = sum(len(f.code) for f in run.program.functions.values())
        counts = (
            f"{counted(code, 'instruction')} in {counted(len(run.program.functions), 'function')}; "
            f"{counted(totals.steps, 'step')}, {counted(totals.calls, 'call')}, at most "
            f"{counted(totals.deepest, 'frame')} at once, {counted(totals.kernels, 'kernel launch')}"
        ).replace("launchs", "launches")
        first = len(run.steps) - (run.left_out > 0 and not run.stopped)
        recorded = f" The first {first:,} steps are recorded." if run.left_out else ""
        if run.error is not None:
            return f"@main fails: {run.error.message}. {counts}.{recorded}"
        if run.stopped:
            return f"@main had not ended after {counted(totals.steps, 'step')}, and was stopped.{recorded}"
        value = self.narrator.value(run.steps[-1].reads[0])
        return f"@main returns {value}: {counts}.{recorded}"


def _order(change: MachineChange) -> int:
    """Return the sort key of a change after a gap: the stack is emptied first."""
    return 0 if change[0] == "x" else 1
