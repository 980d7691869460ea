"""The solver without a program: the caller supplies the types to unify and the relations between them.

a, b = IncompleteType(), IncompleteType()
solver = TypeSolver()
solver.unify(TupleType([a, b]), TupleType([b, scalar_type("float32")]))
solver.resolve(a)                                      # float32
"""

from __future__ import annotations

from collections import deque

from ..ir.errors import TypeInferenceError
from ..ir.expr import Tuple
from ..ir.op import Relation
from ..ir.substitute import MAX_TYPE_DEPTH, TypeTooLargeError, parts_of, with_parts
from ..ir.types import IncompleteType, Type, TypeRelation
from .solver import MismatchError, RefusalError, Solver
from .variables import InferenceVariable, find, resolve

_NO_EXPR = Tuple([])  # stands in for the expression that requires a relation: here there is none


class TypeSolver:
    """Unifies types and solves relations outside a program. An IncompleteType stands for the same type
    variable wherever it occurs.
    """

    def __init__(self) -> None:
        self.solver = Solver()
        self._unknowns: dict[IncompleteType, InferenceVariable] = {}

    def unify(self, left: Type, right: Type) -> Type:
        """Unify the two types and return the result; raise a TypeInferenceError where they disagree."""
        try:
            return self.resolve(self.solver._unify(self._enter(left), self._enter(right), 0))
        except MismatchError as mismatch:
            inner = f"{resolve(mismatch.left)} is not {resolve(mismatch.right)}"
            raise TypeInferenceError(
                f"{left} and {right} cannot be one type: {mismatch.why or inner}"
            ) from None
        except TypeTooLargeError as problem:
            raise TypeInferenceError(str(problem)) from None

    def relate(self, relation: TypeRelation) -> None:
        """Add a relation, which `solve` runs later. Its `func` is a Relation, or has one as its attribute
        `relation`.
        """
        func = getattr(relation.func, "relation", relation.func)
        if not isinstance(func, Relation):
            raise TypeInferenceError(f"{func!r:.60} is not a type relation")
        self.solver.relate(func, [self._enter(arg) for arg in relation.args], relation.attrs, _NO_EXPR)

    def solve(self) -> bool:
        """Run the relations until all are solved (True), or none can make progress (False). Raise a
        TypeInferenceError where one cannot hold.
        """
        queue = self.solver.queue  # relations added since the last call precede those that wait
        self.solver.queue = deque(sorted(queue, key=lambda entry: entry[0].waiting))
        try:
            self.solver.solve()
        except RefusalError as refusal:
            event = refusal.event
            name = event.relation.relation.name if event.relation else "a relation"
            raise TypeInferenceError(f"{name} cannot hold: {event.message}", help=event.help) from None
        except TypeTooLargeError as problem:
            raise TypeInferenceError(str(problem)) from None
        return all(c.done for c in self.solver.constraints)

    def resolve(self, type_: Type) -> Type:
        """Return the type with every solved variable replaced. Each class of unsolved variables appears as
        one of its IncompleteTypes.
        """
        return self._leave(resolve(self._enter(type_)))

    def _enter(self, type_: Type, depth: int = 0) -> Type:
        """Replace the caller's IncompleteTypes in a type by the solver's variables."""
        if depth > MAX_TYPE_DEPTH:
            raise TypeInferenceError(f"a type is nested deeper than {MAX_TYPE_DEPTH} levels")
        if isinstance(type_, InferenceVariable):
            return type_
        if isinstance(type_, IncompleteType):
            if type_ not in self._unknowns:
                self._unknowns[type_] = self.solver.fresh()
            return self._unknowns[type_]
        parts = parts_of(type_)
        entered = [self._enter(p, depth + 1) for p in parts]
        return type_ if all(a is b for a, b in zip(parts, entered)) else with_parts(type_, entered)

    def _leave(self, type_: Type) -> Type:
        """Replace the solver's variables in a type by the caller's IncompleteTypes."""
        if isinstance(type_, InferenceVariable):
            for incomplete, unknown in self._unknowns.items():
                if find(unknown) is type_:
                    return incomplete
            return type_
        parts = parts_of(type_)
        left = [self._leave(p) for p in parts]
        return type_ if all(a is b for a, b in zip(parts, left)) else with_parts(type_, left)
