"""A constraint: a type relation that must hold between given types, and its state in the solver's queue."""

from __future__ import annotations

from typing import Any as Anything

from ..ir.expr import Expr
from ..ir.op import Relation
from ..ir.types import Type


class Constraint:
    """A relation that must hold between `args`, inputs first; `call` is the expression that requires it."""

    __slots__ = (
        "args", "attrs", "call", "done", "num_inputs", "number", "postponed", "relation", "ticket", "waiting",
    )  # fmt: skip

    def __init__(
        self,
        number: int,
        relation: Relation,
        args: tuple[Type, ...],
        num_inputs: int,
        attrs: Anything,
        call: Expr,
    ) -> None:
        self.number = number
        self.relation = relation
        self.args = args
        self.num_inputs = num_inputs
        self.attrs = attrs
        self.call = call
        self.done = False
        self.waiting = False  # its last run made no progress, and no variable that it reads has changed since
        # Its last run ended because another relation is about to compute the type of an operand.
        self.postponed = False
        self.ticket = (
            0  # its valid entry in the queue: moving it leaves an older ticket behind, which is skipped
        )
