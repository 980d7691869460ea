"""Reverse-mode differentiation of a straight-line program, from its result back to its inputs.

The gradient rule of an operator maps the derivative with respect to the operator's result to the derivatives
with respect to its arguments. A value that is used several times accumulates the sum over its uses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from ...ir.annotate import set_origin
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Let, Tuple, TupleGetItem, Var, unwrapped
from ...ir.lazy_dataclass import dataclass
from ...ir.op import Op
from ...ir.recorder import Event, active, unrecorded
from ...ir.types import TensorType, TupleType, Type
from ...ir.walk import children, post_order, rebuild
from ...ops.binary.arithmetic import add
from ...ops.gradient_tools import differentiate_by, field_of, ones_of, zeros_of
from ..gradients import gradient_of

# Called when a derivative is complete: maps the expression with respect to which it is taken, and the
# derivative, to the expression to use for the derivative.
Emit = Callable[[Expr, Expr], Expr]


@dataclass(frozen=True, slots=True)
class Visit(Event):
    """The backward pass has visited an expression.

    `came` are the expressions whose gradients contributed to that of `node`, in that order, each as often as
    it did; None stands for the seed, where the derivative begins. `sums` are the expressions that combine
    these contributions: additions, and the tuple of the derivatives of its fields. `derivative` is the total;
    None for a tuple, whose fields are passed on separately. `given` are the derivatives with respect to the
    arguments, as the operator's rule returned them (for a tuple, with respect to its fields), None for an
    argument that needs none; `made` are the new expressions of the rule.
    """

    node: Expr
    came: tuple[Expr | None, ...]
    derivative: Expr | None
    sums: tuple[Expr, ...] = ()
    given: tuple[Expr | None, ...] = ()
    made: tuple[Expr, ...] = ()


class ReverseMode:
    """Differentiates `root`, which is typed, with respect to `variables`.

    `root` may contain any expression, but the paths from the variables to the result must consist of
    operators, tuples and `let`s. Expressions that do not depend on the variables are skipped. A `Visit` is
    emitted for each expression.
    """

    def __init__(self, root: Expr, variables: Sequence[Var], emit: Emit | None = None) -> None:
        self.root = root
        self.wanted = variables
        self.emit: Emit = emit or (lambda expr, derivative: derivative)
        self.order = post_order(root)
        self.values = {node.var: node.value for node in self.order if isinstance(node, Let)}
        self.names: dict[int, Var] = {}  # by the id of a value of a `let`: its variable
        for var, value in self.values.items():
            self.names.setdefault(id(value), var)
        self.active = self._active()
        self.whole: dict[int, list[Expr]] = {}  # by id: the contributions to the derivative of an expression
        self.fields: dict[int, dict[int, list[Expr]]] = {}  # by id: those to the fields of a tuple
        self._recorder = active(Visit)
        self._at: Expr | None = None  # the node that the backward pass has reached
        self._came: dict[Expr, list[Expr | None]] = {}  # if recorded: the sources of the contributions
        self._sums: list[Expr] = []  # the sums that were built for the current node
        self._taken: list[Expr] = []  # the projections of tuples that the current node passes on

    def derivatives(self, seed: Expr | None = None) -> list[Expr | None]:
        """Return the derivative with respect to each of the variables; None where the result does not depend
        on it.

        `seed` is the derivative with which the backward pass begins, of the type of the result; the default
        is ones. For a tuple, the default covers only the first field, as in the reference: the loss comes
        first, and whatever else a program reports comes after it.
        """
        result = self._source(self.root)
        if seed is None:
            self._begin(result)
        else:
            self._give(result, seed)
        for node in reversed(self.order):
            if id(node) in self.active and (id(node) in self.whole or id(node) in self.fields):
                self._back(node)
        return [self._derivative_by(var) for var in self.wanted]

    def _derivative_by(self, var: Var) -> Expr | None:
        self._at, self._sums, self._taken = var, [], []
        total = self._total(var)
        if total is not None:
            self._visit(var, total)
        return total

    # -- which expressions depend on the variables

    def _source(self, expr: Expr) -> Expr:
        """Resolve a name: a variable of a `let` stands for its value."""
        while True:
            if isinstance(expr, Var) and expr in self.values:
                expr = self.values[expr]
            elif isinstance(expr, Let):
                expr = expr.body
            else:
                return expr

    def _active(self) -> set[int]:
        """Return the ids of the expressions that depend smoothly on the variables; conditions and indices do
        not.
        """
        active = {id(var) for var in self.wanted if moves(var._checked_type)}
        for node in self.order:
            if any(id(self._source(part)) in active for part in children(node)) and moves(node._checked_type):
                active.add(id(node))
        return active

    # -- the backward pass

    def _begin(self, result: Expr) -> None:
        type_ = result.checked_type
        if isinstance(type_, TupleType):
            if not type_.fields:
                raise RelayError("the function returns an empty tuple, which has no derivative", result.span)
            first = field_of(self._name(result), 0)
            self._give_field(result, 0, _first_one(first, type_.fields[0]))
        else:
            self._give(result, ones_of(self._name(result), type_))

    def _name(self, node: Expr) -> Expr:
        return self.names.get(id(node), node)

    def _give(self, to: Expr, derivative: Expr) -> None:
        to = self._source(to)
        if self._recorder is not None and not isinstance(to.checked_type, TupleType):
            self._came.setdefault(to, []).append(self._at)
        if isinstance(derivative, Tuple):
            for index, field in enumerate(derivative.fields):
                self._give_field(to, index, field)
        elif isinstance(to.checked_type, TupleType):
            for index in range(len(to.checked_type.fields)):
                field = TupleGetItem(derivative, index)
                if self._at is not None:
                    self._taken += come_from(self._at, [field], [derivative])
                self._give_field(to, index, field)
        else:
            self.whole.setdefault(id(to), []).append(derivative)

    def _give_field(self, to: Expr, index: int, derivative: Expr) -> None:
        if self._recorder is not None:
            self._came.setdefault(to, []).append(self._at)
        self.fields.setdefault(id(to), {}).setdefault(index, []).append(derivative)

    def _field(self, node: Expr, index: int) -> Expr | None:
        """Add up the contributions to the derivative of a field of a tuple."""
        type_ = node.checked_type
        assert isinstance(type_, TupleType)
        return self._sum(node, self.fields.get(id(node), {}).get(index, ()), type_.fields[index])

    def _sum(self, node: Expr, parts: Sequence[Expr], type_: Type) -> Expr | None:
        """Add up the contributions to the derivative of an expression, the origin of the additions."""
        total = _sum(parts, type_)
        if total is not None and len(parts) > 1:
            self._sums += come_from(node, [total], parts)
        return total

    def _total(self, node: Expr) -> Expr | None:
        """Return the whole derivative of an expression; None if nothing contributes to it."""
        type_ = node.checked_type
        if not isinstance(type_, TupleType):
            whole = self._sum(node, self.whole.get(id(node), ()), type_)
            return None if whole is None else self.emit(node, whole)
        if id(node) not in self.fields:
            return None
        name = self._name(node)
        fields = []
        for index, field_type in enumerate(type_.fields):
            field = self._field(node, index)
            fields.append(zeros_of(field_of(name, index), field_type) if field is None else field)
        whole = Tuple(fields)
        parts = [part for field in self.fields[id(node)].values() for part in field]
        self._sums += come_from(node, [whole], [*parts, *self._sums, name])
        return self.emit(node, whole)

    def _visit(
        self,
        node: Expr,
        derivative: Expr | None,
        contributions: Sequence[Expr | None] = (),
        created: Sequence[Expr] = (),
    ) -> None:
        """Emit the event that the backward pass has visited `node`, if a recorder is attached."""
        if self._recorder is None:
            return
        came, sums = tuple(self._came.get(node, ())), tuple(self._sums)
        whole = None if isinstance(derivative, Tuple) else derivative
        self._recorder.emit(Visit(node, came, whole, sums, tuple(contributions), (*created, *self._taken)))

    def _back(self, node: Expr) -> None:
        self._at, self._sums, self._taken = node, [], []
        match node:
            case Var() | Let():
                pass
            case Tuple():
                contributions: list[Expr | None] = [None] * len(node.fields)
                for index, part in enumerate(node.fields):
                    derivative = self._field(node, index)
                    if derivative is not None and id(self._source(part)) in self.active:
                        self._give(part, derivative)
                        contributions[index] = derivative
                self._visit(node, None, contributions)
            case TupleGetItem():
                derivative = self._total(node)
                assert derivative is not None
                self._give_to_field(node, derivative)
                self._visit(node, derivative, [derivative])
            case Call(op=Op()):
                self._back_through(node)
            case _:
                raise _not_straight(node)

    def _give_to_field(self, node: TupleGetItem, derivative: Expr) -> None:
        self._give_field(self._source(node.tuple_value), node.index, derivative)

    def _back_through(self, call: Call) -> None:
        """Propagate the derivative through a call of an operator."""
        derivative = self._total(call)
        assert derivative is not None
        contributions = by_arguments(call, derivative, self._name(call))
        for number, argument in enumerate(call.args):
            by_argument = contributions[number]
            if by_argument is None or id(self._source(argument)) not in self.active:
                contributions[number] = None
            else:
                self._give(argument, by_argument)
        if self._recorder is not None:
            created = come_from(call, contributions, [self._name(call), derivative, *call.args])
            self._visit(call, derivative, contributions, created)


def moves(type_: Type | None) -> bool:
    """Whether values of a type may contain floating-point numbers; other values have no derivatives."""
    if isinstance(type_, TensorType):
        return "float" in type_.dtype
    return not isinstance(type_, TupleType) or any(map(moves, type_.fields))


def by_arguments(call: Call, derivative: Expr, name: Expr) -> list[Expr | None]:
    """Return the derivatives with respect to the arguments of an operator's call, whose value is bound to
    `name`.
    """
    rule = gradient_of(call)
    by_argument: list[Expr | None] = [by if by is None else unwrapped(by) for by in rule(call, derivative)]
    if len(by_argument) != len(call.args):
        raise RelayError(
            f"the gradient of `{call.op}` returns {len(by_argument)} derivatives "
            f"for {len(call.args)} arguments",
            call.span,
        )
    by_argument = list(by_argument) if name is call else with_name(by_argument, call, name)
    come_from(call, by_argument, [call, name, derivative, *call.args])
    return by_argument


def come_from(source: Expr, roots: Iterable[Expr | None], sources: Iterable[Expr]) -> list[Expr]:
    """Set `source` as the origin of all new expressions in `roots`, down to those in `sources` and the fields
    of tuples among them; return the new expressions in post-order.
    """
    existing: set[Expr] = set()
    pending = list(sources)
    while pending:
        expr = pending.pop()
        existing.add(expr)
        if isinstance(expr, Tuple):
            pending += expr.fields
    created: list[Expr] = []
    stack = [(expr, False) for expr in roots if expr is not None][::-1]
    while stack:
        expr, ready = stack.pop()
        if ready:
            set_origin(expr, (source,))
            created.append(expr)
        elif expr not in existing and not isinstance(expr, (Var, Op)):
            existing.add(expr)
            stack.append((expr, True))
            stack += [(part, False) for part in reversed(children(expr))]
    return created


def with_name(roots: Iterable[Expr | None], call: Expr, name: Expr) -> list[Expr | None]:
    """Replace `call` by `name` in the expressions; shared parts stay shared."""
    return _replaced(roots, {id(call): name})


def _replaced(roots: Iterable[Expr | None], memo: dict[int, Expr]) -> list[Expr | None]:
    """Replace the expressions whose identities are keys of `memo`."""
    result: list[Expr | None] = []
    for root in roots:
        if root is None:
            result.append(None)
            continue
        for node in post_order(root):
            if id(node) not in memo:
                memo[id(node)] = rebuild(node, [memo[id(part)] for part in children(node)])
        result.append(memo[id(root)])
    return result


def _sum(parts: Iterable[Expr], type_: Type) -> Expr | None:
    """Add up values of one type; None if there are none."""
    total: Expr | None = None
    for part in parts:
        total = part if total is None else add_along(type_, total, part)
    return total


def add_along(type_: Type, first: Expr, second: Expr) -> Expr:
    """Add two tensors, or two tuples field by field."""
    if isinstance(type_, TupleType):
        return Tuple(
            [
                add_along(field, field_of(first, index), field_of(second, index))
                for index, field in enumerate(type_.fields)
            ]
        )
    return add(first, second)


def _first_one(value: Expr, type_: Type) -> Expr:
    """Build ones for a tensor; for a tuple, ones for its first tensor and zeros for the others."""
    if not isinstance(type_, TupleType) or not type_.fields:
        return ones_of(value, type_)
    first, *others = type_.fields
    rest = [zeros_of(field_of(value, k), t) for k, t in enumerate(others, 1)]
    return Tuple([_first_one(field_of(value, 0), first), *rest])


@differentiate_by
def derivatives_of(arguments: Sequence[Expr], build: Callable[..., Expr], grad: Expr) -> list[Expr | None]:
    """Return the derivatives of `build(*arguments)` with respect to each of the typed arguments: the gradient
    of an operator that is composed of others.
    """
    from ...ir.module import IRModule
    from ...typing import infer_types

    inner = [Var(f"a{number}", argument.checked_type) for number, argument in enumerate(arguments)]
    body = build(*inner)
    typed = infer_types(IRModule.from_expr(Function(inner, body)))["main"]
    seed = Var("seed", typed.body.checked_type)
    with unrecorded(Visit):
        partials = ReverseMode(typed.body, typed.params).derivatives(seed)
    substitution: dict[int, Expr] = {id(v): a for v, a in zip(typed.params, arguments, strict=True)}
    substitution[id(seed)] = grad
    return _replaced(partials, substitution)


def _not_straight(node: Expr) -> RelayError:
    return RelayError(
        f"first-order differentiation goes through operators, tuples and `let`s, but not through "
        f"{_WORDS.get(type(node).__name__, 'this expression')}",
        node.span,
        help=[
            'differentiate it with mode="higher_order", which follows the program while it runs',
            "or run PartialEvaluate or Inline first, if the callee or the condition is static",
        ],
    )


_WORDS = {
    "Call": "a call of a function", "If": "an `if`", "Match": "a `match`", "Function": "a closure",
    "RefCreate": "a reference", "RefRead": "a reference", "RefWrite": "a reference",
}  # fmt: skip
