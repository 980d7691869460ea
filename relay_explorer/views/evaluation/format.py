"""The data of the evaluation view: a recorded run of the interpreter."""

from __future__ import annotations

from enum import IntEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, View
from ..schema import (
    Amount,
    Count,
    Entity,
    Index,
    OneOf,
    RowIndex,
    RowOrNone,
    Spread,
    Text,
    Wire,
    as_object,
)

Shown = int | str  # an object's index, or the text of a value without identity
Value = Annotated[Shown, Entity("objects")]
ObjectIndex = Annotated[int, Index("objects")]
FrameIndex = Annotated[int, Index("frames")]
NameIndex = Annotated[int, Index("names")]
StepIndex = Annotated[int, Index("steps")]


class EvaluationMark(IntEnum):
    """The kind of a step of an evaluation."""

    BEGIN = 0
    VALUE = 1
    CALL = 2
    TAIL_CALL = 3
    RETURN = 4
    CHOICE = 5
    FUNCTION = 6
    CELL = 7
    FAILURE = 8
    END = 9
    GAP = 10


class NameRow(NamedTuple):
    """An expression that can have a value in a frame: its name ("" if it has none), its row and its kind."""

    name: str
    row: RowOrNone
    what: str


class ObjectKind(IntEnum):
    """The kind of an object. A tensor has at least one dimension, because scalars are written as texts."""

    TENSOR = 0
    TUPLE = 1
    DATA = 2
    CELL = 3
    FUNCTION = 4


class Role(IntEnum):
    """The role of a part in its object: a chain of rests is drawn as a list, subtrees as a tree."""

    CONTENT = 0
    REST = 1
    SUBTREE = 2
    SUBTREES = 3


class ObjectPart(NamedTuple):
    """A part: a field (".0", ".1", …), a captured value ("%x"), or the first content of a cell ("")."""

    name: str
    value: Value
    role: Annotated[int, OneOf(Role)]


class ObjectBox(NamedTuple):
    """An object with identity. `last` is the last step after which it can still be reached."""

    kind: Annotated[int, OneOf(ObjectKind)]
    label: str
    text: str
    type: str
    parts: tuple[ObjectPart, ...]
    row: RowOrNone
    step: Amount
    last: int
    bytes: Amount


class FrameBox(NamedTuple):
    """A stack frame: its function's name and rows, its caller and the row of the call, the frame that it
    replaced by a tail call (`before`), the number of such replacements so far (`turn`), and the steps that
    enter and leave it.
    """

    name: str
    first: RowOrNone
    last: RowOrNone
    caller: Annotated[int, Index("frames", none=True, order="earlier")]
    call_row: RowOrNone
    before: Annotated[int, Index("frames", none=True, order="earlier")]
    turn: Amount
    entered: Amount
    left: Amount


class Appears(NamedTuple):
    """The object appears."""

    tag: Literal["o"]
    object: ObjectIndex


class Called(NamedTuple):
    """The frame is pushed onto the stack."""

    tag: Literal["f"]
    frame: FrameIndex


class Replaced(NamedTuple):
    """The frame replaces the top one (a tail call), so the stack keeps its height."""

    tag: Literal["g"]
    frame: FrameIndex


class Left(NamedTuple):
    """The frame, which is the top one, is popped from the stack."""

    tag: Literal["r"]
    frame: FrameIndex


class Bound(NamedTuple):
    """The name gets this value in the frame."""

    tag: Literal["b"]
    frame: FrameIndex
    name: NameIndex
    value: Value


class Captured(NamedTuple):
    """A captured name gets this value in the frame. It is defined outside the function's rows."""

    tag: Literal["e"]
    frame: FrameIndex
    name: NameIndex
    value: Value


class Taken(NamedTuple):
    """The branch that begins at this row is taken: the row of an `if` or of its `else`, or that of a clause
    of a `match`.
    """

    tag: Literal["k"]
    frame: FrameIndex
    row: RowIndex


class Opened(NamedTuple):
    """The objects that a match inspected, the outermost first."""

    tag: Literal["m"]
    objects: Annotated[tuple[ObjectIndex, ...], Spread()]


class Written(NamedTuple):
    """The cell is written. Its first part and then these values are its history."""

    tag: Literal["w"]
    object: ObjectIndex
    value: Value


class Emptied(NamedTuple):
    """The stack is emptied at a gap."""

    tag: Literal["x"]


EvaluationChange = Appears | Called | Replaced | Left | Bound | Captured | Taken | Opened | Written | Emptied


class EvaluationStep(NamedTuple):
    """One step: its sentence, the earlier steps whose results it used, and its changes. Applied in order to
    the state after the previous step, they give the state after this one; the first state is empty.
    """

    mark: Annotated[int, OneOf(EvaluationMark)]
    row: RowOrNone
    frame: Annotated[int, Index("frames", none=True)]
    say: Sentence
    because: tuple[Annotated[int, Index("steps", order="earlier")], ...]
    changes: tuple[EvaluationChange, ...]


@as_object
class Failure(NamedTuple):
    """Why a run failed."""

    step: StepIndex
    row: RowOrNone
    say: Sentence
    notes: tuple[Sentence, ...]
    tries: Annotated[tuple[Sentence, ...], Wire("try")]


@as_object
class Gap(NamedTuple):
    """Step `step` stands for `left_out` steps that are not in the data."""

    step: StepIndex
    left_out: Annotated[int, Count(), Wire("count")]
    say: Sentence


class Argument(NamedTuple):
    """An argument's name, and its value."""

    name: str
    value: Value


class ArgumentText(NamedTuple):
    """An argument's name, and the text from which its value is parsed."""

    name: str
    text: str


@as_object
class Live(NamedTuple):
    """What a live widget can change: the number of recorded steps, and the arguments as texts."""

    limit: Amount
    args: tuple[ArgumentText, ...]


@dataclass(frozen=True)
class EvaluationView(View):
    """A recorded run, step by step. `totals` are of the whole run. `texts` are the arguments as the
    playground reads them ("": one that is too large to be written).
    """

    kind: ClassVar[str] = "evaluation"
    names: tuple[NameRow, ...]
    objects: tuple[ObjectBox, ...]
    frames: tuple[FrameBox, ...]
    steps: tuple[EvaluationStep, ...]
    args: tuple[Argument, ...]
    result: Value | None
    failure: Failure | None
    gap: Gap | None
    totals: dict[str, Amount]
    start: StepIndex
    live: Live | None = None
    texts: Annotated[tuple[Text, ...], Wire(omitted=True)] = ()

    def opening(self) -> str:
        marks = [step.mark for step in self.steps[: self.start + 1]]
        match marks[-1] if marks else None:
            case EvaluationMark.FAILURE:
                return "where the evaluation stops with an error"
            case EvaluationMark.CHOICE if EvaluationMark.CALL in marks:
                return "the first choice after the deepest call"
            case EvaluationMark.CHOICE if EvaluationMark.TAIL_CALL in marks:
                return "the choice in the second iteration"
            case EvaluationMark.CHOICE:
                return "the first choice"
            case EvaluationMark.CALL:
                return "the deepest call"
            case EvaluationMark.VALUE:
                return "the first value that an operator computes"
        return ""

    def last_values(self) -> dict[int, str]:
        """Return, by row, its last value in any frame."""
        result: dict[int, str] = {}
        for step in self.steps:
            for change in step.changes:
                if change[0] == "b":
                    _, _, name, value = change
                    assert isinstance(name, int)
                    result[self.names[name].row] = (
                        value if isinstance(value, str) else self.objects[value].text
                    )
        result.pop(-1, None)
        return result

    def beside(self) -> dict[int, str]:
        return self.last_values()

    def story(self) -> list[Sentence]:
        return [step.say for step in self.steps]
