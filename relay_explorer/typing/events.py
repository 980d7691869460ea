"""The events of type inference, each with its cause: what the solver and the constraint generator emit.

Explorers replay the events of the real run; there is no second implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ir.expr import Expr, Function, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.recorder import Event
from ..ir.types import Type

if TYPE_CHECKING:
    from .solver import Constraint


class Reason(NamedTuple):
    """Why two types must be one: `kind` says which rule asks for it, `at` is the expression that the rule
    speaks of, `number` that of the argument or clause, from 0.

    `left` and `right` are the expressions whose types they are, where there are such.
    """

    kind: str  # argument · callee · let · branches · condition · clause · pattern · ref · return
    at: Expr
    number: int = -1
    left: Expr | None = None
    right: Expr | None = None


class InferenceEvent(Event):
    """Something that type inference did."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FunctionEntered(InferenceEvent):
    """Inference turns to a global function (or to several that call one another, one event each)."""

    name: str
    function: Function


@dataclass(frozen=True, slots=True)
class Typed(InferenceEvent):
    """`expr` was given a type: one already known (an annotation, a constant), a fresh variable, or a type
    built of both.
    """

    expr: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Named(InferenceEvent):
    """`let` without an annotation gave `value` a name: the variable has the value's type."""

    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Queued(InferenceEvent):
    """A relation was written down and joined the queue at its end."""

    relation: Constraint


@dataclass(frozen=True, slots=True)
class Started(InferenceEvent):
    """A relation was taken from the front of the queue and run. `reads` are its types as it saw them."""

    relation: Constraint
    reads: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Ended(InferenceEvent):
    """The run is over. `done`: the relation holds and is finished; otherwise it went to the end of the
    queue, to wait.
    """

    relation: Constraint
    done: bool


@dataclass(frozen=True, slots=True)
class Unifying(InferenceEvent):
    """Two types must be one, for `reason`. What follows from it is recorded after this."""

    reason: Reason
    left: Type
    right: Type


@dataclass(frozen=True, slots=True)
class Bound(InferenceEvent):
    """The class whose root is variable `root` is now known to be `type` (which may hold variables)."""

    root: int
    type: Type


@dataclass(frozen=True, slots=True)
class Merged(InferenceEvent):
    """The class of variable `loser` was put into that of `winner`."""

    winner: int
    loser: int


@dataclass(frozen=True, slots=True)
class Moved(InferenceEvent):
    """`relation` moved to the front of the queue, since the class of variable `because` changed. `waited`:
    it had been run before, in vain.
    """

    relation: Constraint
    because: int
    waited: bool


@dataclass(frozen=True, slots=True)
class Refused(InferenceEvent):
    """Inference failed.

    `left` and `right` are the types that disagree, `left_expr` and `right_expr` the expressions that have
    them (where there are such).
    """

    message: str
    help: tuple[str, ...]
    at: Expr | None
    left: Type | None
    right: Type | None
    left_expr: Expr | None
    right_expr: Expr | None
    relation: Constraint | None
    reason: Reason | None


@dataclass(frozen=True, slots=True)
class Annotated(InferenceEvent):
    """Every type is known, and written into the program."""

    functions: tuple[str, ...]
