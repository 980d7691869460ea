"""The events of a run in the interpreter.

An activation is a code with its frame. Each instruction emits one event when it is done: `ValueComputed`, or,
where another function or block continues, `FunctionEntered` (a call) or `BranchChosen`. These two are
followed by `ValueReturned` when the value is available, unless the instruction is in tail position.

Frames are those of the running program, so their contents change after an event was emitted. A recorder that
needs values reads them in its `record`.
"""

from __future__ import annotations

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass
from ..ir.recorder import Event
from .code import Block, Code, Instruction
from .values import Closure, Value

Frame = list[Value]


class EvaluationEvent(Event):
    """The base of the interpreter's events."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FunctionEntered(EvaluationEvent):
    """A function begins. It was called at `at`, None where the run starts with it. `tail`: its result is the
    value of the block that called it.
    """

    code: Code
    frame: Frame
    callee: Closure
    at: Instruction | None
    tail: bool


@dataclass(frozen=True, slots=True)
class ValueComputed(EvaluationEvent):
    """The value of `instruction` is in the frame, or in the cell that was written."""

    instruction: Instruction
    frame: Frame


@dataclass(frozen=True, slots=True)
class BranchChosen(EvaluationEvent):
    """An `if` or `match` continues with `block`; the variables of its pattern are in the frame."""

    instruction: Instruction
    frame: Frame
    block: Block
    tail: bool


@dataclass(frozen=True, slots=True)
class ValueReturned(EvaluationEvent):
    """`instruction` (a call, an `if`, a `match`) receives the value that it waited for, from the block
    `done`.
    """

    instruction: Instruction
    value: Value
    done: Block


@dataclass(frozen=True, slots=True)
class RunFinished(EvaluationEvent):
    """The run ends with the value of the block `done`."""

    value: Value
    done: Block


@dataclass(frozen=True, slots=True)
class RunFailed(EvaluationEvent):
    """The run ends with an error at `instruction`."""

    instruction: Instruction
    frame: Frame
    error: RelayError
