"""Record an evaluation: each step of the interpreter, with its operands and the steps that caused it.

The recorder observes the same interpreter that runs programs. A recording is bounded: the first `limit` steps
are kept, the rest is counted, and after `budget` steps a run that has not ended is stopped.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any as Anything

from ..ir.errors import RelayError
from ..ir.expr import Call, Expr, GlobalVar
from ..ir.lazy_dataclass import dataclass
from ..ir.module import IRModule
from ..ir.op import Op
from .bounded import BoundedRecorder, BudgetError, Totals, check_bounds
from .code import Block, Code, Instruction, Kind
from .events import (
    BranchChosen,
    EvaluationEvent,
    Frame,
    FunctionEntered,
    RunFailed,
    RunFinished,
    ValueComputed,
    ValueReturned,
)
from .executor import FunctionValue
from .interpreter import Interpreter
from .values import Closure, ConstructorValue, RefValue, Value

LIMIT = 2_000
BUDGET = 1_000_000


_NONE: dict[int, int] = {}  # the slots of an activation that is not recorded


class Activation:
    """One execution of a function. `number` is its index among the recorded ones, -1 where it is not
    recorded.

    `at` is the call that began it, and `caller` the activation that waits for its result (None for the
    first). `before` is the activation that it replaced by a tail call, and `turn` the number of replacements
    so far. `first` and `last` are the steps that enter and leave it (`last` is -1 while it is live), `chosen`
    is the step of its last `if` or `match`. `origin` and `used` map each slot of `frame` to the step that
    filled it, and to the last step that read it.
    """

    __slots__ = (
        "at", "before", "callee", "caller", "chosen", "code", "first", "frame", "last", "number", "origin",
        "turn", "used",
    )  # fmt: skip

    def __init__(
        self, code: Code, frame: Frame, callee: Closure, at: Instruction | None, caller: Activation | None
    ) -> None:
        self.code, self.frame, self.callee, self.at, self.caller = code, frame, callee, at, caller
        self.before: Activation | None = None
        self.turn, self.number, self.first, self.last, self.chosen = 0, -1, -1, -1, -1
        self.origin: dict[int, int] = _NONE
        self.used: dict[int, int] = _NONE

    def recorded(self, number: int, step: int) -> None:
        """Mark the activation as recorded: its slots are tracked from here on."""
        self.number, self.first = number, step
        initial = [*range(len(self.code.function.params)), *(slot for _, slot in self.code.captures)]
        self.origin = dict.fromkeys(initial, step)
        self.used = {}

    def reads(self, slots: Sequence[int], step: int) -> tuple[int, ...]:
        """Record that `step` reads the slots; return the steps that wrote them."""
        if self.number < 0:
            return ()
        self.used.update(dict.fromkeys(slots, step))
        return tuple(dict.fromkeys([self.origin[s] for s in slots if s in self.origin]))

    def causes(self) -> tuple[int, ...]:
        """Return the cause of a value that no step of this activation computed: the last chosen branch."""
        return (self.chosen,) if self.chosen >= 0 else ()


@dataclass(frozen=True, slots=True)
class Step:
    """One step. `activation` is the one that continues after it; `because` are the steps that computed its
    operands.
    """

    activation: Activation
    because: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Entered(Step):
    """A function begins. `replaced` is the activation that it replaces: a tail call."""

    replaced: Activation | None


@dataclass(frozen=True, slots=True)
class Made(Step):
    """`instruction` computed `value`."""

    instruction: Instruction
    value: Value


@dataclass(frozen=True, slots=True)
class Chose(Step):
    """An `if` or `match` continues with its branch `number`, counted from 0."""

    instruction: Instruction
    number: int


@dataclass(frozen=True, slots=True)
class Returned(Step):
    """`instruction` received the value that it waited for; `left` is the activation that returned it, None
    where a branch ended.
    """

    instruction: Instruction
    value: Value
    left: Activation | None


@dataclass(frozen=True, slots=True)
class Finished(Step):
    """The run has its result."""

    value: Value


@dataclass(frozen=True, slots=True)
class Failed(Step):
    """The run ended with `error` at `instruction`."""

    instruction: Instruction
    error: RelayError


@dataclass(frozen=True)
class Evaluation:
    """A recorded run of `@{entry}` of `module` for `args`.

    `steps` are the first ones, and, where some were left out, the last one; `left_out` counts those that
    were. Where the run did not end within its budget, `stopped` is true and there is no last step. `cells`
    are the reference cells that came with the arguments, with their initial contents. `runs` counts over the
    whole run how often each expression was evaluated.
    """

    module: IRModule
    entry: GlobalVar
    args: tuple[Value, ...]
    steps: tuple[Step, ...]
    activations: tuple[Activation, ...]
    totals: Totals
    runs: Mapping[Expr, int]
    cells: tuple[tuple[RefValue, Value], ...] = ()
    stopped: bool = False

    @property
    def left_out(self) -> int:
        return self.totals.steps - len(self.steps)

    @property
    def result(self) -> Value:
        """The value that the run ended with, in the interpreter's form; None where it has none."""
        last = self.steps[-1]
        return last.value if isinstance(last, Finished) else None

    def operators(self) -> Counter[str]:
        """Count the calls of each operator over the whole run."""
        counts: Counter[str] = Counter()
        for node, count in self.runs.items():
            if isinstance(node, Call) and isinstance(node.op, Op):
                counts[node.op.name] += count
        return counts

    @property
    def error(self) -> RelayError | None:
        """The error that the run ended with, if it failed."""
        last = self.steps[-1]
        return last.error if isinstance(last, Failed) else None


class RunRecorder(BoundedRecorder[EvaluationEvent]):
    """Records the first `limit` steps of a run, counts all, and stops the run after `budget` steps."""

    def __init__(self, limit: int = LIMIT, budget: int = BUDGET) -> None:
        super().__init__(EvaluationEvent, limit, budget)
        self.steps: list[Step] = []
        self.activations: list[Activation] = []
        self.now: Activation | None = None
        self.waiting: list[tuple[Instruction, Activation]] = []  # mirrors the interpreter's stack
        self.depth = 0
        self.runs: dict[Expr, int] = {}
        self.wrote: dict[int, int] = {}  # by cell: the last step that wrote it

    def handlers(self) -> Mapping[type[EvaluationEvent], Callable[[Anything], None]]:
        return {
            FunctionEntered: self.entered,
            ValueComputed: self.made,
            BranchChosen: self.chose,
            ValueReturned: self.returned,
            RunFinished: self.finished,
            RunFailed: self.failed,
        }

    # -- the events of the run

    def entered(self, event: FunctionEntered) -> None:
        code, frame, callee, at, tail = event.code, event.frame, event.callee, event.at, event.tail
        caller, step = self.now, self.next_step()
        new = Activation(code, frame, callee, at, caller)
        # A call that ends a branch whose `if` or `match` is still open is not a tail call.
        goes_on = bool(self.waiting) and self.waiting[-1][1] is caller
        replaced = caller if tail and not goes_on else None
        if at is not None:
            self.totals.calls += 1
            self.runs[at.node] = self.runs.get(at.node, 0) + 1
        if replaced is not None:
            self.totals.tail_calls += 1
            new.turn, new.caller = replaced.turn + 1, replaced.caller
            replaced.last = step
        else:
            self.depth += 1
            self.totals.deepest = max(self.totals.deepest, self.depth)
            if caller is not None and at is not None and not tail:
                self.waiting.append((at, caller))
        self.now = new
        if self.keeps(step):
            because = caller.reads(at.operands, step) if caller is not None and at is not None else ()
            new.before = replaced  # not for later steps, lest the last iteration keep all others alive
            new.recorded(len(self.activations), step)
            self.activations.append(new)
            self.steps.append(Entered(new, because, replaced))

    def made(self, event: ValueComputed) -> None:
        instruction, frame = event.instruction, event.frame
        now, step, node = self._here(), self.next_step(), instruction.node
        self.runs[node] = self.runs.get(node, 0) + 1
        if not self.keeps(step):
            return
        because = now.reads(instruction.operands, step)
        if instruction.kind is Kind.CLOSURE:
            because = now.reads([outer for outer, _ in instruction.detail.captures], step)
        now.origin[instruction.target] = step
        value = frame[instruction.target]
        if instruction.kind is Kind.REF:
            self.wrote[id(value)] = step
        elif instruction.kind is Kind.WRITE:
            self.wrote[id(frame[instruction.operands[0]])] = step
        elif instruction.kind is Kind.READ:
            put = self.wrote.get(id(frame[instruction.operands[0]]), -1)
            because = tuple(dict.fromkeys((*because, put))) if put >= 0 else because
        self.steps.append(Made(now, because, instruction, value))

    def chose(self, event: BranchChosen) -> None:
        instruction, block, tail = event.instruction, event.block, event.tail
        now, step, node = self._here(), self.next_step(), instruction.node
        self.runs[node] = self.runs.get(node, 0) + 1
        if not tail:
            self.waiting.append((instruction, now))
        if not self.keeps(step):
            return
        because = now.reads(instruction.operands, step)
        now.chosen = step
        number = _number(instruction, block)
        if instruction.kind is Kind.MATCH:
            now.origin.update(dict.fromkeys(instruction.detail[number].slots.values(), step))
        self.steps.append(Chose(now, because, instruction, number))

    def returned(self, event: ValueReturned) -> None:
        instruction, value, done = event.instruction, event.value, event.done
        ended, step = self._here(), self.next_step()
        _, now = self.waiting.pop()
        left = ended if ended is not now else None
        if left is not None:
            self.depth -= 1
            left.last = step
        self.now = now
        if self.keeps(step):
            because = ended.reads((done.result,), step) or ended.causes()
            now.origin[instruction.target] = step
            self.steps.append(Returned(now, because, instruction, value, left))

    def finished(self, event: RunFinished) -> None:
        value, done = event.value, event.done
        now, step = self._here(), self.next_step()
        self.steps.append(Finished(now, now.reads((done.result,), step), value))

    def failed(self, event: RunFailed) -> None:
        instruction, frame, error = event.instruction, event.frame, event.error
        now, step = self._here(), self.next_step()
        if now.frame is not frame:  # the call exceeded a limit: the error is the caller's
            now = self.waiting[-1][1]
        self.steps.append(Failed(now, now.reads(instruction.operands, step), instruction, error))

    # -- steps

    def _here(self) -> Activation:
        assert self.now is not None, "nothing happens before a function is entered"
        return self.now


def _number(instruction: Instruction, block: Block) -> int:
    """Return the index of the branch `block`."""
    branches = instruction.detail
    if instruction.kind is Kind.MATCH:
        branches = [clause.block for clause in branches]
    return next(number for number, branch in enumerate(branches) if branch is block)


def record(
    mod: IRModule | Expr,
    *args: object,
    entry: str = "main",
    limit: int = LIMIT,
    budget: int = BUDGET,
    **named: object,
) -> Evaluation:
    """Run a function of a module (or an expression) and record its steps.

    Arguments are those that an executor accepts: arrays, numbers, tuples, values that programs returned, and
    expressions, which are evaluated first; a parameter may be given by name. `entry` is the function. The
    first `limit` steps are kept; after `budget` steps a run that has not ended is stopped. A run that fails
    ends with a Failed step. Arguments that the function does not accept raise a RelayError or
    TypeInferenceError, as they do when it is called.
    """
    check_bounds(limit, budget)
    module = mod if isinstance(mod, IRModule) else IRModule.from_expr(mod)
    var = module.get_global_var(entry)
    interpreter = Interpreter(module)
    values = FunctionValue(interpreter, interpreter.evaluate(var), var).arguments(args, named)
    cells = tuple(_cells(values))
    recorder = RunRecorder(limit, budget)
    stopped = False
    try:
        with recorder:
            interpreter.call(entry, values)
    except BudgetError:
        stopped = True
    except RelayError:
        if not recorder.steps or not isinstance(recorder.steps[-1], Failed):
            raise
    steps, activations = tuple(recorder.steps), tuple(recorder.activations)
    return Evaluation(
        module, var, tuple(values), steps, activations, recorder.totals, recorder.runs, cells, stopped
    )


def _cells(values: Sequence[Value]) -> Iterator[tuple[RefValue, Value]]:
    """Iterate over the cells that are reachable from `values`, with their contents."""
    pending = list(values)
    visited: set[int] = set()
    while pending:
        value = pending.pop()
        if id(value) in visited:
            continue
        visited.add(id(value))
        if isinstance(value, RefValue):
            yield value, value.value
            pending.append(value.value)
        elif isinstance(value, tuple):
            pending.extend(value)
        elif isinstance(value, ConstructorValue):
            pending.extend(value.fields)
        elif isinstance(value, Closure):
            pending.extend(value.captured)
