"""The data of the types view: type inference, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum
from typing import Annotated, ClassVar, Literal, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Sentence, View
from ..schema import Index, OneOf, RowIndex, RowOrNone, Wire, as_object

VariableIndex = Annotated[int, Index("variables")]
RelationIndex = Annotated[int, Index("relations")]
StepIndex = Annotated[int, Index("steps")]


class Mark(IntEnum):
    """The kind of a step of inference."""

    GENERATE = 0
    UNIFY = 1
    SOLVE = 2
    WAIT = 3
    REQUEUE = 4
    REFUSE = 5
    DONE = 6


class Status(IntEnum):
    """The status of a relation."""

    APPEARS = 0
    QUEUED = 1
    RUNNING = 2
    WAITING = 3
    SOLVED = 4
    REFUSED = 5


class Knowledge(IntEnum):
    """How much of a type is known."""

    UNKNOWN = 0
    PART = 1
    KNOWN = 2


class TypeVariable(NamedTuple):
    """A type variable or known type: its name (`α`, `%x`), its row, and what it is the type of."""

    name: str
    row: RowOrNone
    what: str


class RelationBox(NamedTuple):
    """A relation: the operator's name, its row, its formula with the variables substituted
    ("add: γ = β ⊔ α"), and the variables, the output last.
    """

    name: str
    row: RowOrNone
    label: str
    variables: tuple[VariableIndex, ...]


class Appears(NamedTuple):
    """The variable appears."""

    tag: Literal["v"]
    variable: VariableIndex


class Typed(NamedTuple):
    """The type of the variable's class becomes this."""

    tag: Literal["t"]
    variable: VariableIndex
    short: str
    full: str
    known: Annotated[int, OneOf(Knowledge)]


class Unified(NamedTuple):
    """Two classes become one; the representative of the first leads."""

    tag: Literal["u"]
    first: VariableIndex
    second: VariableIndex


class Moved(NamedTuple):
    """The relation has another status."""

    tag: Literal["r"]
    relation: RelationIndex
    status: Annotated[int, OneOf(Status)]


class Queued(NamedTuple):
    """The relation joins the queue at its end."""

    tag: Literal["q"]
    relation: RelationIndex


class Requeued(NamedTuple):
    """The relation moves to, or joins, the front of the queue."""

    tag: Literal["f"]
    relation: RelationIndex


class Popped(NamedTuple):
    """The relation leaves the queue."""

    tag: Literal["p"]
    relation: RelationIndex


Change = Appears | Typed | Unified | Moved | Queued | Requeued | Popped


class Step(NamedTuple):
    """One step of inference: its sentence, the earlier steps whose results it used, and its changes. Applied
    in order to the state after the previous step, they give the state after this one; the first state is
    empty.
    """

    mark: Annotated[int, OneOf(Mark)]
    row: RowOrNone
    say: Sentence
    because: tuple[Annotated[int, Index("steps", order="earlier")], ...]
    changes: tuple[Change, ...]


class ChainLink(NamedTuple):
    """One link of the chain of steps that led to a type."""

    step: StepIndex
    row: RowOrNone
    say: Sentence


@as_object
class Side(NamedTuple):
    """One of two types that disagree, and how it was derived."""

    type: str
    chain: tuple[ChainLink, ...]


@as_object
class Conflict(NamedTuple):
    """Why a program is rejected. If no types disagree, because too little is known, a side has "" for its
    type, and neither side is drawn.
    """

    step: StepIndex
    row: RowOrNone
    say: Sentence
    left: Side
    right: Side
    tries: Annotated[tuple[Sentence, ...], Wire("try")]


class FunctionRows(NamedTuple):
    """A function and its rows."""

    name: str
    first: RowIndex
    last: RowIndex


@dataclass(frozen=True)
class TypesView(View):
    """A recorded inference, step by step. `start` is the step shown first; None is the last."""

    kind: ClassVar[str] = "types"
    variables: Annotated[tuple[TypeVariable, ...], Wire("vars")]
    relations: Annotated[tuple[RelationBox, ...], Wire("rels")]
    steps: tuple[Step, ...]
    functions: tuple[FunctionRows, ...]
    conflict: Conflict | None = None
    start: Annotated[StepIndex | None, Wire(omitted=True)] = None

    def opening(self) -> str:
        if self.start is None:
            return "the two types that disagree" if self.conflict else ""
        mark = self.steps[self.start].mark
        other = [number for number, step in enumerate(self.steps) if step.mark == mark]
        which = "first" if other[0] == self.start else "last" if other[-1] == self.start else "next"
        if mark == Mark.REQUEUE:
            return f"the {which} relation that returns to the queue"
        return f"the {which} relation that is solved"

    def beside(self) -> dict[int, str]:
        """Return, by row, the types of its variables after the last step."""
        types: dict[int, list[str]] = {}
        for row, text in self._final_types():
            types.setdefault(row, []).append(text)
        return {row: ", ".join(texts) for row, texts in types.items()}

    def _final_types(self) -> Iterator[tuple[int, str]]:
        """Iterate over the variables that have a row: the row, and name and type after the last step."""
        parent = list(range(len(self.variables)))
        types: dict[int, str] = {}

        def root(number: int) -> int:
            while parent[number] != number:
                number = parent[number]
            return number

        for step in self.steps:
            for change in step.changes:
                if change[0] == "u":
                    a, b = root(int(change[1])), root(int(change[2]))
                    if a != b:
                        parent[b] = a
                        types.setdefault(a, types.pop(b, ""))
                elif change[0] == "t":
                    types[root(int(change[1]))] = str(change[2])
        for number, variable in enumerate(self.variables):
            if variable.row >= 0:
                yield variable.row, f"{variable.name}: {types.get(root(number)) or '?'}"
