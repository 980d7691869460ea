"""The events that the solver and the constraint generator emit, each with its cause.

Explorers replay the events of a real run of inference; there is no second implementation.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ir.expr import Expr, Function, Var
from ..ir.lazy_dataclass import dataclass
from ..ir.recorder import Event
from ..ir.types import Type

if TYPE_CHECKING:
    from .constraint import Constraint


class Reason(NamedTuple):
    """Why two types must be equal: `kind` names the typing rule that requires it, `at` the expression to
    which the rule applies, `number` the index of the argument or clause.

    `left` and `right` are the expressions that have these types, where there are any.
    """

    kind: str  # argument · callee · let · branches · condition · clause · pattern · ref · return
    at: Expr
    number: int = -1
    left: Expr | None = None
    right: Expr | None = None


class InferenceEvent(Event):
    """One event of type inference."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class FunctionEntered(InferenceEvent):
    """Inference enters a global function (or several that call one another, one event each)."""

    name: str
    function: Function


@dataclass(frozen=True, slots=True)
class Typed(InferenceEvent):
    """`expr` receives a type: one that is already known (an annotation, a constant), a fresh type variable,
    or a type built from both.
    """

    expr: Expr
    type: Type


@dataclass(frozen=True, slots=True)
class Named(InferenceEvent):
    """A `let` without annotation binds `value`: the variable has the value's type."""

    var: Var
    value: Expr


@dataclass(frozen=True, slots=True)
class Queued(InferenceEvent):
    """A relation was created and added to the end of the queue."""

    relation: Constraint


@dataclass(frozen=True, slots=True)
class Started(InferenceEvent):
    """A relation was taken from the front of the queue and is run. `reads` are its types at this time."""

    relation: Constraint
    reads: tuple[Type, ...]


@dataclass(frozen=True, slots=True)
class Ended(InferenceEvent):
    """The relation has run. `done`: it holds and is solved; otherwise it moved to the end of the queue to
    wait. `postponed`: it waits until another relation has computed the type of an operand.
    """

    relation: Constraint
    done: bool
    postponed: bool = False


@dataclass(frozen=True, slots=True)
class Unifying(InferenceEvent):
    """Two types are unified, for `reason`. The resulting events follow this one."""

    reason: Reason
    left: Type
    right: Type


@dataclass(frozen=True, slots=True)
class Bound(InferenceEvent):
    """The class whose root is variable `root` is now bound to `type` (which may contain type variables)."""

    root: int
    type: Type


@dataclass(frozen=True, slots=True)
class Merged(InferenceEvent):
    """The class of variable `loser` was merged into that of `winner`."""

    winner: int
    loser: int


@dataclass(frozen=True, slots=True)
class Moved(InferenceEvent):
    """`relation` moved to the front of the queue because the class of variable `because` changed. `waited`:
    an earlier run could not solve it.
    """

    relation: Constraint
    because: int
    waited: bool


@dataclass(frozen=True, slots=True)
class Refused(InferenceEvent):
    """Inference failed.

    `left` and `right` are the types that disagree, `left_expr` and `right_expr` the expressions that have
    them (where there are any).
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
    """All types are known and are written into the program."""

    functions: tuple[str, ...]
