"""The events of a run in the interpreter.

An activation is a code with its frame. Each instruction emits one event when it is done: `ValueComputed`, or,
where the run goes on elsewhere, `FunctionEntered` (a call) or `BranchChosen`; and then, unless it stood in
the place of a result (a tail call), `ValueReturned` when its value is there.

Frames are those of the running program: what a frame holds later is not what it held when the event was
emitted. A recorder that needs values reads them in its `record`.
"""

from __future__ import annotations

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass
from ..ir.recorder import Event
from .code import Block, Code, Instruction
from .values import Closure, Value

Frame = list[Value]


class EvaluationEvent(Event):
    """Something that the interpreter did."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FunctionEntered(EvaluationEvent):
    """A function begins: called at `at`, None where the run starts with it. `tail`: what it returns is the
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
    """An `if` or `match` goes on with `block`; what its pattern binds is in the frame."""

    instruction: Instruction
    frame: Frame
    block: Block
    tail: bool


@dataclass(frozen=True, slots=True)
class ValueReturned(EvaluationEvent):
    """`instruction` (a call, an `if`, a `match`) has the value that it waited for, from the block `done`."""

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
