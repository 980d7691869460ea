"""The solver: unification, and a queue of relations over the bipartite graph of type variables and relations
(section 3.2 of the paper).

A relation is run when it reaches the front of the queue. It may unify types, and returns whether it is
solved; if not, it moves to the end to wait. Whenever more of a class's type becomes known, the relations that
read it move to the front. When the relation at the front has waited and nothing that it reads has changed
since, no other relation can make progress either: the program's types are ambiguous.

A relation may determine the type of an operand from the others. If another relation computes that operand and
has not run yet, the first one waits; it determines the type only when nothing else makes progress.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from typing import Any as Anything

from ..ir.expr import Expr
from ..ir.op import Relation, RelationError
from ..ir.recorder import active
from ..ir.substitute import MAX_TYPE_DEPTH, TypeTooLargeError, substitute_type
from ..ir.types import (
    Any,
    Dim,
    FuncType,
    GlobalTypeVar,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeVar,
)
from .blame import blamed
from .constraint import Constraint
from .events import (
    Bound,
    Ended,
    InferenceEvent,
    Merged,
    Moved,
    Queued,
    Reason,
    Refused,
    Started,
    Typed,
    Unifying,
)
from .variables import InferenceVariable, find, is_computed_later, occurs_in, resolve, variables_in

LARGEST_DIM = 10**19 - 1  # the largest that the text format can express


class MismatchError(Exception):
    """Two types cannot be unified; holds the innermost parts that disagree."""

    def __init__(self, left: Type, right: Type, why: str = "") -> None:
        super().__init__(why)
        self.left = left
        self.right = right
        self.why = why


class RefusalError(Exception):
    """Inference failed; holds the event that describes the failure."""

    def __init__(self, event: Refused) -> None:
        super().__init__(event.message)
        self.event = event


class _PostponedError(Exception):
    """The running relation would guess the type of an operand that another relation is about to compute."""


class Solver:
    """Type variables, their classes, and the queue of relations. Each step is emitted as an event."""

    def __init__(self) -> None:
        self.recorder = active(InferenceEvent)
        self.unknowns = 0
        self.constraints: list[Constraint] = []
        self.queue: deque[tuple[Constraint, int]] = deque()
        self.running: Constraint | None = None
        self._may_postpone = True

    # -- type variables

    def fresh(self) -> InferenceVariable:
        """Return a new type variable."""
        self.unknowns += 1
        return InferenceVariable(self.unknowns - 1)

    def typed(self, expr: Expr, type_: Type) -> Type:
        """Record that `expr` has `type_`."""
        if self.recorder is not None:
            self.recorder.emit(Typed(expr, type_))
        return type_

    # -- relations

    def relate(self, relation: Relation, args: Sequence[Type], attrs: Anything, call: Expr) -> None:
        """Add a relation: connect it with the type variables that it reads, and queue it."""
        constraint = Constraint(len(self.constraints), relation, tuple(args), len(args) - 1, attrs, call)
        self.constraints.append(constraint)
        for arg in args:
            if arg.__class__ is not TensorType:
                self._connect(constraint, arg)
        self.queue.append((constraint, 0))
        if self.recorder is not None:
            self.recorder.emit(Queued(constraint))

    def _connect(self, constraint: Constraint, type_: Type) -> None:
        if isinstance(type_, InferenceVariable):
            root = find(type_)
            if root.type is None:
                root.relations.append(constraint)
                return
            type_ = root.type
        for root in variables_in(type_):
            root.relations.append(constraint)

    def solve(self) -> None:
        """Run relations until all are solved, or none can make progress. Raise a RefusalError where one
        cannot hold.
        """
        queue = self.queue
        while queue:
            constraint, ticket = queue.popleft()
            if constraint.done or constraint.ticket != ticket:
                continue
            if constraint.waiting:
                queue.appendleft((constraint, ticket))
                postponed = next((c for c, t in queue if c.postponed and not c.done and c.ticket == t), None)
                if postponed is None:
                    return
                constraint = postponed
            self._run(constraint)

    def _run(self, constraint: Constraint) -> None:
        args = [resolve(a) if a.__class__ is not TensorType else a for a in constraint.args]
        recorder = self.recorder
        if recorder is not None:
            recorder.emit(Started(constraint, tuple(args)))
        self.running = constraint
        # One that was postponed and still waits runs because nothing else can. It may determine operands.
        self._may_postpone = not (constraint.postponed and constraint.waiting)
        constraint.waiting, constraint.postponed = True, False
        try:
            done = constraint.relation.rule(args, constraint.num_inputs, constraint.attrs, self)
        except RelationError as failure:
            raise self._relation_refused(constraint, args, failure) from None
        except MismatchError as mismatch:
            raise self._output_refused(constraint, args, mismatch) from None
        except _PostponedError:
            done, constraint.postponed = False, True
        finally:
            self.running = None
        constraint.done = done
        if not done:
            constraint.ticket += 1
            self.queue.append((constraint, constraint.ticket))
        if recorder is not None:
            recorder.emit(Ended(constraint, done, constraint.postponed))

    def assign(self, target: Type, value: Type) -> None:
        """Unify `target` with the `value` that a relation assigns (see `ir.op.Reporter`)."""
        if value.__class__ is TensorType:
            for dim in value.shape:
                if isinstance(dim, int) and dim > LARGEST_DIM:  # a subclass of int, if compat is loaded
                    raise _too_large(dim)
        elif value.__class__ is TupleType:
            for field in value.fields:
                if field.__class__ is TensorType:
                    _check_dims(field)
        if (
            self._may_postpone
            and target.__class__ is InferenceVariable
            and is_computed_later(target, self.running)
        ):
            raise _PostponedError
        self._unify(target, value, 0)

    # -- unification

    def unify(self, left: Type, right: Type, reason: Reason) -> Type:
        """Unify the two types and return the result; raise a RefusalError where they disagree."""
        if left is right:
            return left
        if self.recorder is not None:
            self.recorder.emit(Unifying(reason, left, right))
        try:
            return self._unify(left, right, 0)
        except MismatchError as mismatch:
            raise self._unify_refused(reason, resolve(left), resolve(right), mismatch) from None

    def _unify(self, a: Type, b: Type, depth: int) -> Type:
        if a is b:
            return a
        if a.__class__ is InferenceVariable:
            return self._unify_variable(find(a), b, depth)
        if b.__class__ is InferenceVariable:
            return self._unify_variable(find(b), a, depth)
        if a.__class__ is TensorType and b.__class__ is TensorType:
            return self._unify_tensors(a, b)
        return self._unify_parts(a, b, depth)

    def _unify_variable(self, root: InferenceVariable, other: Type, depth: int) -> Type:
        if isinstance(other, InferenceVariable):
            other_root = find(other)
            if root is other_root:
                return root
            return self._merge(root, other_root, depth)
        bound = root.type
        if bound is None:
            if other.__class__ is not TensorType and occurs_in(root, other):
                raise MismatchError(root, resolve(other), "the type would have to contain itself")
            self._bind(root, other)
            return other
        joined = self._unify(bound, other, depth)
        if joined is not bound and joined != bound:
            self._bind(root, joined)
        return joined

    def _merge(self, a: InferenceVariable, b: InferenceVariable, depth: int) -> Type:
        """Merge two classes, the smaller into the larger (union by size), and unify their known types."""
        if a.size < b.size:
            a, b = b, a
        known_a, known_b = a.type, b.type
        if known_a is not None and known_b is not None:
            joined: Type | None = self._unify(known_a, known_b, depth + 1)
        else:
            joined = known_a if known_b is None else known_b
            if joined is not None and (occurs_in(a, joined) or occurs_in(b, joined)):
                raise MismatchError(a, resolve(joined), "the type would have to contain itself")
        b.parent = a
        a.size += b.size
        if self.recorder is not None:
            self.recorder.emit(Merged(a.number, b.number))
        changed = (b if known_a is not None else a) if (known_a is None) != (known_b is None) else None
        touched = b.relations if changed is b else list(a.relations)
        a.type = joined
        a.relations.extend(b.relations)
        if changed is not None:
            self._touch(a, touched)
        elif joined is not None and joined is not known_a:
            self._bind(a, joined)
        return a

    def _bind(self, root: InferenceVariable, type_: Type) -> None:
        root.type = type_
        if self.recorder is not None:
            self.recorder.emit(Bound(root.number, type_))
        if root.relations:
            self._touch(root, root.relations)

    def _touch(self, root: InferenceVariable, relations: list[Constraint]) -> None:
        """Move the relations that read a changed class to the front of the queue, in their order."""
        bound = root.type
        inner = variables_in(bound) if bound is not None and bound.__class__ is not TensorType else ()
        for constraint in reversed(list(dict.fromkeys(relations))):
            if constraint.done or constraint is self.running:
                continue
            for part in inner:
                part.relations.append(constraint)
            waited = constraint.waiting
            constraint.waiting = False
            constraint.ticket += 1
            self.queue.appendleft((constraint, constraint.ticket))
            if self.recorder is not None:
                self.recorder.emit(Moved(constraint, root.number, waited))
        for part in inner:
            if self.running in relations and self.running is not None:
                part.relations.append(self.running)

    def _unify_tensors(self, a: TensorType, b: TensorType) -> TensorType:
        if a.dtype != b.dtype or len(a.shape) != len(b.shape):
            raise MismatchError(a, b)
        if a.shape == b.shape:
            return a
        joined: list[Dim] = []
        for x, y in zip(a.shape, b.shape):
            if x == y:
                joined.append(x)
            elif isinstance(x, Any) or isinstance(y, Any):
                joined.append(Any())
            else:
                raise MismatchError(a, b)
        shape = tuple(joined)
        return a if shape == a.shape else b if shape == b.shape else TensorType.of(shape, a.dtype)

    def _unify_parts(self, a: Type, b: Type, depth: int) -> Type:
        if depth > MAX_TYPE_DEPTH:
            raise TypeTooLargeError(f"a type is nested deeper than {MAX_TYPE_DEPTH} levels")
        if a.__class__ is not b.__class__:
            raise MismatchError(a, b)
        match a, b:
            case TupleType(), TupleType():
                if len(a.fields) != len(b.fields):
                    raise MismatchError(a, b, f"{len(a.fields)} fields against {len(b.fields)}")
                return TupleType(self._unify_all(a.fields, b.fields, depth))
            case RefType(), RefType():
                return RefType(self._unify(a.value, b.value, depth + 1))
            case TypeCall(), TypeCall():
                if a.func != b.func or len(a.args) != len(b.args):
                    raise MismatchError(a, b)
                return TypeCall(a.func, self._unify_all(a.args, b.args, depth))
            case FuncType(), FuncType():
                return self._unify_functions(a, b, depth)
            case GlobalTypeVar(), GlobalTypeVar() if a == b:
                return a
            case TypeVar(), TypeVar() if a is b:
                return a
        raise MismatchError(a, b)

    def _unify_all(self, a: Sequence[Type], b: Sequence[Type], depth: int) -> list[Type]:
        return [self._unify(x, y, depth + 1) for x, y in zip(a, b)]

    def _unify_functions(self, a: FuncType, b: FuncType, depth: int) -> FuncType:
        if len(a.arg_types) != len(b.arg_types):
            raise MismatchError(a, b, f"{len(a.arg_types)} parameters against {len(b.arg_types)}")
        if len(a.type_params) != len(b.type_params):
            return self._unify_instance(a, b, depth)
        if a.type_params:
            b_open = substitute_type(b, dict(zip(b.type_params, a.type_params)))
            assert isinstance(b_open, FuncType)
            b = b_open
        args = self._unify_all(a.arg_types, b.arg_types, depth)
        return FuncType(
            args, self._unify(a.ret_type, b.ret_type, depth + 1), a.type_params, a.type_constraints
        )

    def _unify_instance(self, a: FuncType, b: FuncType, depth: int) -> FuncType:
        """Instantiate the function type with more type parameters and unify it with the other, whose own type
        parameters, if any, may occur in the instance.
        """
        if len(a.type_params) > len(b.type_params):
            general, special = a, b
        else:
            general, special = b, a
        opened = self._instance(general)
        args = self._unify_all(special.arg_types, opened.arg_types, depth)
        ret = self._unify(special.ret_type, opened.ret_type, depth + 1)
        return FuncType(args, ret, special.type_params, special.type_constraints)

    def _instance(self, function: FuncType) -> FuncType:
        opened = FuncType(function.arg_types, function.ret_type, (), function.type_constraints)
        instance = substitute_type(opened, {p: self.fresh() for p in function.type_params})
        assert isinstance(instance, FuncType)
        return instance

    # -- failures

    def refuse(self, event: Refused) -> RefusalError:
        """Record a failure and return the exception to raise."""
        if self.recorder is not None:
            self.recorder.emit(event)
        return RefusalError(event)

    def _relation_refused(
        self, constraint: Constraint, args: list[Type], failure: RelationError
    ) -> RefusalError:
        (left, left_expr), (right, right_expr) = blamed(
            failure, operand_exprs(constraint.call), [resolve(a) for a in args], constraint.num_inputs
        )
        return self.refuse(
            Refused(
                failure.message,
                failure.help,
                constraint.call,
                left,
                right,
                left_expr,
                right_expr,
                constraint,
                None,
            )
        )

    def _output_refused(
        self, constraint: Constraint, args: list[Type], mismatch: MismatchError
    ) -> RefusalError:
        """Explain a relation whose result type disagrees with the type that a use of the same expression
        requires.
        """
        demanded, actual = resolve(mismatch.left), resolve(mismatch.right)
        message = f"the result is {actual}, but {demanded} is required"
        help_: tuple[str, ...] = ()
        if isinstance(demanded, FuncType) and not isinstance(actual, FuncType):
            message = f"the result is {actual}, but it is called like a function"
            help_ = ("only functions, operators and constructors can be called",)
        elif mismatch.why:
            message += f": {mismatch.why}"
        operands = operand_exprs(constraint.call)
        source = operands[0] if operands else None
        return self.refuse(
            Refused(
                message, help_, constraint.call, demanded, actual, constraint.call, source, constraint, None
            )
        )

    def _unify_refused(
        self, reason: Reason, left: Type, right: Type, mismatch: MismatchError
    ) -> RefusalError:
        return self.refuse(
            Refused(mismatch.why, (), reason.at, left, right, reason.left, reason.right, None, reason)
        )


def _check_dims(type_: TensorType) -> None:
    """Raise a RelationError where a dimension exceeds the largest size of a tensor."""
    for dim in type_.shape:
        if isinstance(dim, int) and dim > LARGEST_DIM:
            raise _too_large(dim)


def _too_large(dim: int) -> RelationError:
    shown = f"{dim:,}" if dim < 10**30 else "a number of more than 30 digits"
    return RelationError(
        f"an axis of the result would have {shown} elements, more than the {LARGEST_DIM:,} that are supported"
    )


def operand_exprs(call: Expr) -> Sequence[Expr]:
    """Return the expressions whose types are a relation's inputs."""
    args = getattr(call, "args", None)
    if args is not None:
        return tuple(args)
    value = getattr(call, "tuple_value", None)
    return () if value is None else (value,)
