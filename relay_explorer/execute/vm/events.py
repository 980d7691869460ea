"""The events of a run in the virtual machine.

Each instruction emits one event when it is done: `InstructionExecuted`, or, where another function continues,
`FunctionEntered` or `ValueReturned`. `number` is the instruction's index in the function's code. Registers
are those of the running program; a recorder that needs their values reads them in its `record`.
"""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.lazy_dataclass import dataclass
from ...ir.recorder import Event
from ..values import Value
from .bytecode import VMFunction
from .steps import Registers


class MachineEvent(Event):
    """The base of the virtual machine's events."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FunctionEntered(MachineEvent):
    """A function begins. Instruction `number` of the running function called it (-1: the run begins with it).
    `tail`: it replaces that function.
    """

    function: VMFunction
    registers: Registers
    number: int
    tail: bool


@dataclass(frozen=True, slots=True)
class InstructionExecuted(MachineEvent):
    """An instruction is done; its results are in the registers."""

    function: VMFunction
    number: int
    registers: Registers


@dataclass(frozen=True, slots=True)
class ValueReturned(MachineEvent):
    """The caller `function` receives the value that it waited for at its instruction `number`."""

    function: VMFunction
    number: int
    registers: Registers
    value: Value


@dataclass(frozen=True, slots=True)
class RunFinished(MachineEvent):
    """The run ends with a value."""

    value: Value


@dataclass(frozen=True, slots=True)
class RunFailed(MachineEvent):
    """The run ends with an error at an instruction."""

    function: VMFunction
    number: int
    error: RelayError
