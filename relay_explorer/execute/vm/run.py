"""A recorded run of the virtual machine, as plain data (see `record`)."""

from __future__ import annotations

from enum import IntEnum

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from .. import bounded
from .bytecode import VMFunction, VMProgram
from .heap import Change, HeapObject, Reference


class StepKind(IntEnum):
    """The kinds of steps."""

    BEGIN = 0
    DID = 1
    CALL = 2
    TAIL = 3
    RETURN = 4
    END = 5
    FAILURE = 6


@dataclass(slots=True, eq=False)
class Activation:
    """One execution of a function. `caller` waits for its result at its own instruction `at` (-1: there is no
    caller). `before` is the activation that it replaced by a tail call, and `turn` the number of replacements
    so far. `entered` and `left` are steps (-1: it is never left). `registers` are the current contents of its
    registers, `origin` the steps that wrote them.
    """

    number: int
    function: VMFunction
    caller: int
    at: int
    before: int
    turn: int
    entered: int
    registers: list[Reference]
    origin: list[int]
    left: int = -1
    following: int = 0  # the next instruction


@dataclass(frozen=True, slots=True)
class Step:
    """One step, after which `activation` continues with its instruction `following`. `number` is the
    instruction that was executed (-1: the function has just begun; after a return, the call that receives its
    value). `because` are the steps that computed the operands; `reads` and `wrote` are the contents of the
    instruction's registers, before and after. `left` is the activation that ended, `reused` the tensor that
    occupied the storage before.

    A change is ("o", thing, text): an object is created; ("d", thing): it is freed; ("t", thing, text): its
    content changes; ("f", a), ("g", a), ("r", a): an activation is pushed onto the stack, replaces the top
    one, is popped; ("w", a, register, held): a register is written; ("x",): the stack is unknown.
    """

    kind: StepKind
    activation: int
    number: int
    following: int
    because: tuple[int, ...] = ()
    reads: tuple[Reference, ...] = ()
    wrote: tuple[Reference, ...] = ()
    changes: tuple[Change, ...] = ()
    left: int = -1
    reused: int = -1
    error: RelayError | None = None


@dataclass
class Totals(bounded.Totals):
    """The counts of every recording, and also the calls of kernels and the bytes of storage requested."""

    kernels: int = 0
    storage: int = 0


@dataclass(frozen=True)
class MachineRun:
    """A recorded run of `@main` of a program. `steps` are the first ones, and, where some were left out, the
    last one. `runs` counts for each function how often each of its instructions ran, in the whole run (0 for
    `ret`, which the caller's step reports). `stopped`: it did not end within its budget.
    """

    program: VMProgram
    args: tuple[Reference, ...]
    steps: tuple[Step, ...]
    activations: tuple[Activation, ...]
    things: tuple[HeapObject, ...]
    totals: Totals
    runs: dict[str, list[int]]
    stopped: bool = False

    @property
    def left_out(self) -> int:
        return self.totals.steps - len(self.steps)

    @property
    def error(self) -> RelayError | None:
        """The error that the run ended with, if it failed."""
        return self.steps[-1].error
