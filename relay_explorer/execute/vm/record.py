"""Record a run of the virtual machine: what each instruction did to registers, calls and memory.

The recorder observes the same machine that runs programs. A recording is bounded like that of the interpreter
(`execute.record`): the first `limit` steps are kept, the rest is counted, and after `budget` steps a run that
has not ended is stopped.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from ...ir.errors import RelayError
from ..bounded import BoundedRecorder, BudgetError, check_bounds
from ..values import Value, show
from .bytecode import (
    AllocStorage,
    Invoke,
    InvokeClosure,
    InvokePacked,
    ReadRef,
    Ret,
    TailInvoke,
    TailInvokeClosure,
    VMFunction,
    VMProgram,
    read,
    written,
)
from .effects import Effects, following, results
from .events import (
    FunctionEntered,
    InstructionExecuted,
    MachineEvent,
    RunFailed,
    RunFinished,
    ValueReturned,
)
from .heap import Heap, Reference
from .machine import Machine
from .run import Activation, MachineRun, Step, StepKind, Totals
from .steps import Registers

LIMIT = 1_500
BUDGET = 300_000


class MachineRecorder(BoundedRecorder[MachineEvent]):
    """Records the first `limit` steps of a run, counts all, and stops the run after `budget` steps."""

    def __init__(self, limit: int = LIMIT, budget: int = BUDGET, text: Callable[[Value], str] = show) -> None:
        super().__init__(MachineEvent, limit, budget)
        self.totals: Totals = Totals()
        self.text = text
        self.steps: list[Step] = []
        self.activations: list[Activation] = []
        self.runs: dict[str, list[int]] = {}
        self.things = Heap(self.text)
        self.effects = Effects(self.things)
        self.changes = self.effects.changes
        self.now: Activation | None = None  # the running activation, as long as it is recorded
        self.depth = 0
        self.function: VMFunction | None = None
        self.args: tuple[Reference, ...] = ()

    def handlers(self) -> Mapping[type[MachineEvent], Callable[[Any], None]]:
        return {
            FunctionEntered: self.entered,
            InstructionExecuted: self.did,
            ValueReturned: self.returned,
            RunFinished: self.finished,
            RunFailed: self.failed,
        }

    # -- the events of the run

    def entered(self, event: FunctionEntered) -> None:
        function, registers, number, tail = event.function, event.registers, event.number, event.tail
        step = self.next_step()
        if number >= 0:
            self._ran(number)
            self.totals.calls += 1
            self.totals.tail_calls += tail
        self.depth += not tail
        self.totals.deepest = max(self.totals.deepest, self.depth)
        self.function = function
        if not self.keeps(step):
            return
        caller = self.now
        held, because = self._initial(caller, number, registers, function, step)
        new = Activation(
            len(self.activations), function, -1, -1, -1, 0, step,
            [None] * len(registers), [-1] * len(registers),
        )  # fmt: skip
        if caller is not None:
            caller.following = -1 if tail else number + 1
            new.caller, new.at = (caller.caller, caller.at) if tail else (caller.number, number)
            if tail:
                new.before, new.turn = caller.number, caller.turn + 1
        self.activations.append(new)
        self.changes.append(("g" if tail else "f", new.number))
        for register, reference in enumerate(held):
            self.effects.write(new, register, reference, step)
        if tail and caller is not None:
            self._leave(caller, step)
        self.now = new
        kind = StepKind.BEGIN if number < 0 else StepKind.TAIL if tail else StepKind.CALL
        self._add(
            kind, new.number, -1, 0, because, tuple(held), left=caller.number if caller and tail else -1
        )

    def did(self, event: InstructionExecuted) -> None:
        function, number, registers = event.function, event.number, event.registers
        step = self.next_step()
        self.function = function
        self._ran(number)
        instruction = function.code[number]
        if isinstance(instruction, InvokePacked):
            self.totals.kernels += 1
        elif isinstance(instruction, AllocStorage):
            self.totals.storage += instruction.size
        if not self.keeps(step):
            return
        now = self._here()
        reads = tuple([now.registers[register] for register in read(instruction)])
        because = tuple(dict.fromkeys([o for r in read(instruction) if (o := now.origin[r]) >= 0]))
        if isinstance(instruction, ReadRef) and type(cell := reads[0]) is int:
            put = self.things.all[cell].wrote
            because = tuple(dict.fromkeys((*because, put))) if put >= 0 else because
        for held in reads:
            self.things.use(held, step)
        reused = self.effects.reused(instruction, now)
        self.effects.do(instruction, now, registers, step)
        now.following = following(instruction, number, registers)
        wrote = tuple([now.registers[register] for register in results(instruction)])
        self._add(StepKind.DID, now.number, number, now.following, because, reads, wrote, reused=reused)

    def returned(self, event: ValueReturned) -> None:
        function, number, value = event.function, event.number, event.value
        step = self.next_step()
        self.function = function
        self.depth -= 1
        if not self.keeps(step):
            return
        ended = self._here()
        now = self.activations[ended.caller]
        held, because = self._result(ended, value, step)
        self.effects.write(now, written(function.code[number])[0], held, step)
        self.changes.append(("r", ended.number))
        self._leave(ended, step)
        self.now, now.following = now, number + 1
        self._add(
            StepKind.RETURN, now.number, number, number + 1, because, (held,), (held,), left=ended.number
        )

    def finished(self, event: RunFinished) -> None:
        value = event.value
        step = self.next_step()
        late = not self.keeps(step)
        now = self._late() if late else self._here()
        if late:
            held: Reference = self.things.adopt(value, step, self.changes)
            because: tuple[int, ...] = ()
        else:
            held, because = self._result(now, value, step)
            self.things.hold(held)  # from now on, the caller holds it
            self._leave(now, step)
        at = -1 if late else now.following
        ret = at if at >= 0 and isinstance(now.function.code[at], Ret) else -1
        self._add(StepKind.END, now.number, ret, -1, because, (held,), (held,))

    def failed(self, event: RunFailed) -> None:
        function, number, error = event.function, event.number, event.error
        step = self.next_step()
        self.function = function
        self._ran(number)
        late = not self.keeps(step)
        now = self._late() if late else self._here()
        registers = () if late else read(function.code[number])
        because = tuple(dict.fromkeys([o for r in registers if (o := now.origin[r]) >= 0]))
        self._add(StepKind.FAILURE, now.number, number, -1, because, error=error)

    # -- calls

    def _initial(
        self, caller: Activation | None, number: int, registers: Registers, function: VMFunction, step: int
    ) -> tuple[list[Reference], tuple[int, ...]]:
        """Return the values that a function starts with: arguments, and the values that its closure
        captured.
        """
        count = len(function.params) + function.captured
        if caller is None:
            held = [
                self.things.adopt(value, step, self.changes, argument=True) for value in registers[:count]
            ]
            self.args = tuple(held)
            return held, ()
        it = caller.function.code[number]
        assert isinstance(it, (Invoke, TailInvoke, InvokeClosure, TailInvokeClosure))
        held = [caller.registers[register] for register in it.arguments]
        closure = caller.registers[it.closure] if isinstance(it, (InvokeClosure, TailInvokeClosure)) else None
        if type(closure) is int:
            held += self.things.all[closure].parts
            self.things.use(closure, step)
        for reference in held:
            self.things.use(reference, step)
        held += [self.things.adopt(value, step, self.changes) for value in registers[len(held) : count]]
        because = dict.fromkeys([o for register in read(it) if (o := caller.origin[register]) >= 0])
        return held[:count], tuple(because)

    def _result(self, ended: Activation, value: Value, step: int) -> tuple[Reference, tuple[int, ...]]:
        """Return the result of an activation."""
        code, at = ended.function.code, ended.following
        it = code[at] if 0 <= at < len(code) else None
        if not isinstance(it, Ret):  # it ended with a tail call of a function from outside
            return self.things.adopt(value, step, self.changes), ()
        held, origin = ended.registers[it.result], ended.origin[it.result]
        self.things.use(held, step)
        return held, (origin,) if origin >= 0 else ()

    def _leave(self, ended: Activation, step: int) -> None:
        ended.left = step
        for held in ended.registers:
            self.things.drop(held, step, self.changes)

    def _late(self) -> Activation:
        """Create the activation in which a run ends whose last steps were not recorded: the contents of its
        registers are unknown.
        """
        assert self.function is not None
        count = self.function.registers
        new = Activation(
            len(self.activations), self.function, -1, -1, -1, 0, len(self.steps), [None] * count, [-1] * count
        )
        self.activations.append(new)
        self.changes[:] = [("x",), ("f", new.number)]
        return new

    # -- steps

    def _add(
        self,
        kind: StepKind,
        activation: int,
        number: int,
        following: int,
        because: tuple[int, ...],
        reads: tuple[Reference, ...] = (),
        wrote: tuple[Reference, ...] = (),
        left: int = -1,
        reused: int = -1,
        error: RelayError | None = None,
    ) -> None:
        changes = tuple(self.changes)
        self.changes.clear()
        self.steps.append(
            Step(kind, activation, number, following, because, reads, wrote, changes, left, reused, error)
        )

    def _here(self) -> Activation:
        assert self.now is not None, "nothing happens before a function is entered"
        return self.now

    def _ran(self, number: int) -> None:
        assert self.function is not None
        counts = self.runs.get(self.function.name)
        if counts is None:
            counts = self.runs[self.function.name] = [0] * len(self.function.code)
        counts[number] += 1


def record_machine(
    program: VMProgram | Machine,
    args: Sequence[Value],
    *,
    limit: int = LIMIT,
    budget: int = BUDGET,
    text: Callable[[Value], str] = show,
) -> MachineRun:
    """Run `@main` of a program, or of the program that a machine has, and record its steps.

    `args` are values as the machine holds them. The first `limit` steps are kept; after `budget` steps a run
    that has not ended is stopped. A run that fails ends with a step of the kind FAILURE. `text` prints
    values.
    """
    check_bounds(limit, budget)
    machine = program if isinstance(program, Machine) else Machine(program)
    recorder = MachineRecorder(limit, budget, text)
    stopped = False
    try:
        with recorder:
            machine.call("main", args)
    except BudgetError:
        stopped = True
    except RelayError:
        if not recorder.steps or recorder.steps[-1].kind is not StepKind.FAILURE:
            raise
    return MachineRun(
        machine.program, recorder.args, tuple(recorder.steps), tuple(recorder.activations),
        tuple(recorder.things.all), recorder.totals, recorder.runs, stopped,
    )  # fmt: skip
