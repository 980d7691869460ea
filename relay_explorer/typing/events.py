"""What inference did, event by event, with the cause of each. Explorers replay the events of the real run;
there is no second implementation.

A recorder is off by default: the solver then holds None and tests for it once a step.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from ..ir.expr import Expr, Function, Var
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


class FunctionEntered(NamedTuple):
    """Inference turns to a global function (or to several that call one another, one event each)."""

    name: str
    function: Function


class Typed(NamedTuple):
    """`expr` was given a type: one already known (an annotation, a constant), a fresh variable, or a type
    built of both.
    """

    expr: Expr
    type: Type


class Named(NamedTuple):
    """`let` without an annotation gave `value` a name: the variable has the value's type."""

    var: Var
    value: Expr


class Queued(NamedTuple):
    """A relation was written down and joined the queue at its end."""

    relation: Constraint


class Started(NamedTuple):
    """A relation was taken from the front of the queue and run. `reads` are its types as it saw them."""

    relation: Constraint
    reads: tuple[Type, ...]


class Ended(NamedTuple):
    """The run is over. `done`: the relation holds and is finished; otherwise it went to the end of the
    queue, to wait.
    """

    relation: Constraint
    done: bool


class Unifying(NamedTuple):
    """Two types must be one, for `reason`. What follows from it is recorded after this."""

    reason: Reason
    left: Type
    right: Type


class Bound(NamedTuple):
    """The class whose root is variable `root` is now known to be `type` (which may hold variables)."""

    root: int
    type: Type


class Merged(NamedTuple):
    """The class of variable `loser` was put into that of `winner`."""

    winner: int
    loser: int


class Moved(NamedTuple):
    """`relation` moved to the front of the queue, since the class of variable `because` changed. `waited`:
    it had been run before, in vain.
    """

    relation: Constraint
    because: int
    waited: bool


class Refused(NamedTuple):
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


class Annotated(NamedTuple):
    """Every type is known, and written into the program."""

    functions: tuple[str, ...]


Event = (
    FunctionEntered
    | Typed
    | Named
    | Queued
    | Started
    | Ended
    | Unifying
    | Bound
    | Merged
    | Moved
    | Refused
    | Annotated
)
