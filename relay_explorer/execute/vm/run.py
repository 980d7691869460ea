"""A recorded run of the virtual machine, as plain data (see `record`)."""

from __future__ import annotations

from enum import IntEnum

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from .. import bounded
from .bytecode import VMFunction, VMProgram
from .heap import Change, HeapObject, Reference


class StepKind(IntEnum):
    """What a step is."""

    BEGIN = 0
    DID = 1
    CALL = 2
    TAIL = 3
    RETURN = 4
    END = 5
    FAILURE = 6


@dataclass(slots=True, eq=False)
class Activation:
    """One time that a function is run. `caller` waits for it at its instruction `at` (-1: no caller does).
    `before` had its place until a tail call, the `turn`-th in that place. `entered` and `left` are steps (-1:
    it is never left). `registers` hold what they hold now, `origin` are the steps that wrote them.
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
    following: int = 0  # the instruction to come


@dataclass(frozen=True, slots=True)
class Step:
    """One step, after which `activation` goes on with its instruction `following`. `number` is the
    instruction that is done (-1: the function has just begun; after a return, the call that has its value).
    `because` are the steps that made what was used; `reads` and `wrote` what the registers of the instruction
    held, and hold now. `left` is the activation that ended, `reused` the tensor that had the storage before.

    A change is ("o", thing, text): it appears; ("d", thing): nothing holds it any more; ("t", thing, text):
    what is in it now; ("f", a), ("g", a), ("r", a): an activation comes onto the stack, takes the top one's
    place, leaves; ("w", a, register, held); ("x",): the stack is not known.
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
    """Besides those of every recording: calls of kernels, and the bytes of storage that was asked for."""

    kernels: int = 0
    storage: int = 0


@dataclass(frozen=True)
class MachineRun:
    """A recorded run of `@main` of a program. `steps` are the first ones, and, where some were left out, the
    last one. `runs` has for each function how often each of its instructions ran, in the whole run (0 for
    `ret`, of which a caller's step tells). `stopped`: it did not end within its budget.
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
        """Why it failed, if it did."""
        return self.steps[-1].error
