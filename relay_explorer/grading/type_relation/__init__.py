"""The exercise of chapter 11: the type relation of `distances`.

    distances(points: (*p, n, d), centers: (*c, k, d), count=None)  ->  (*(p ⊔ c), n, k)

The expected result is computed here from shapes alone (`answer`), so that any correct relation passes. An
answer is tested by inferring the types of whole programs with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.attrs import Attrs, attr
from ...ir.errors import TypeInferenceError
from ...ir.expr import Call, Expr, Function, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op, OpPattern, Relation, RelationError, Reporter, Rule
from ...ir.types import Any, Dim, IncompleteType, TensorType, TupleType, Type
from ..answer_values import repr_of

NAME = "distances"
UNKNOWN = Any()


class DistancesAttrs(Attrs, key="exercises.DistancesAttrs"):
    count: int | None = attr(None, "The number of centers; if omitted, that of the second argument.")


def operator(rule: Anything) -> Op:
    """Build the operator `distances` with `rule` as its relation. It is not registered."""
    return Op(
        NAME,
        description="The distance of every point to every center.",
        formula=r"y_{ij} = \lVert p_i - c_j \rVert",
        inputs=("points", "centers"),
        relation=Relation("Distances", rule, "{out} = from {0} to {1}"),
        attrs_class=DistancesAttrs,
        pattern=OpPattern.OUT_ELEMWISE_FUSABLE,
        family="matmul",
    )


def register(rule: Anything) -> Op:
    """Register `distances` with `rule` as its relation, replacing an earlier one, so that programs can use
    it. If a rule raises anything but a RelationError, the program is refused, with a message that says
    what it raised.
    """
    Op.unregister(NAME)
    return Op.register(operator(_guarded(rule)))


def _guarded(rule: Anything) -> Rule:
    from ...typing.solver import MismatchError

    watched = Watched(rule)

    def guarded(types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        try:
            return watched(types, num_inputs, attrs, reporter)
        except (RelationError, MismatchError):
            raise
        except MisuseError as misuse:
            raise RelationError(str(misuse), misuse.hint) from None
        except Exception as error:
            raise RelationError(f"the relation raised {type(error).__name__}: {error}") from error

    return guarded


# -- expected results


@dataclass(frozen=True)
class Case:
    """One call of `distances`. A shape of None is not known, and nothing determines it; `late` says which
    arguments are parameters of an inner function, whose types become known after the relation first ran:
    "p", "c", "pc" or "". `points` or `centers` may also be the word "tuple": an argument that is not a
    tensor.
    """

    points: tuple[Dim, ...] | str | None
    centers: tuple[Dim, ...] | str | None
    count: int | None = None
    late: str = ""
    dtypes: tuple[str, str] = ("float32", "float32")

    def types(self) -> tuple[Type | None, Type | None]:
        """Return the types of the two arguments."""
        return _type(self.points, self.dtypes[0]), _type(self.centers, self.dtypes[1])


def _type(shape: tuple[Dim, ...] | str | None, dtype: str) -> Type | None:
    if isinstance(shape, str):
        return TupleType([TensorType.of((2, 3), dtype)])
    return None if shape is None else TensorType.of(shape, dtype)


@dataclass(frozen=True)
class Refusal:
    """The expected rejection of a program: `says` states what is wrong, `numbers` are the disagreeing ones,
    which the message must name, and `culprits` are the arguments to blame.
    """

    says: str
    culprits: tuple[int, ...]
    numbers: tuple[Dim, ...] = ()


@dataclass(frozen=True)
class Waits:
    """The program does not determine the types, so the relation must wait."""


@dataclass(frozen=True)
class Holds:
    """The types of the result and of the centers."""

    out: TensorType
    centers: TensorType


def answer(case: Case) -> Holds | Refusal | Waits:
    """Return the expected outcome of inference."""
    if isinstance(case.points, str) or isinstance(case.centers, str):
        return Refusal("an argument is a tuple, not a tensor", (0 if isinstance(case.points, str) else 1,))
    if case.points is None:
        return Waits()
    points, centers = case.points, case.centers
    if len(points) < 2:
        return Refusal(f"points needs at least two axes, and has {len(points)}", (0,))
    if centers is None:
        if case.count is None:
            return Waits()
        centers = (case.count, points[-1])
        return Holds(
            TensorType.of((*points[:-1], case.count), case.dtypes[0]), TensorType.of(centers, case.dtypes[0])
        )
    return _both_known(case, points, centers)


def _both_known(case: Case, points: tuple[Dim, ...], centers: tuple[Dim, ...]) -> Holds | Refusal:
    if len(centers) < 2:
        return Refusal(f"centers needs at least two axes, and has {len(centers)}", (1,))
    if case.dtypes[0] != case.dtypes[1]:
        return Refusal(f"the element types differ: {case.dtypes[0]} and {case.dtypes[1]}", (0, 1))
    if _clash(points[-1], centers[-1]):
        return Refusal(
            f"a point has {points[-1]} coordinates, a center {centers[-1]}", (0, 1), (points[-1], centers[-1])
        )
    number = centers[-2]
    if case.count is not None:
        if _clash(number, case.count):
            return Refusal(f"count={case.count}, but there are {number} centers", (1,), (case.count, number))
        number = case.count
    batch = list(_longer(points[:-2], centers[:-2]))
    for back in range(1, min(len(points), len(centers)) - 1):
        a, b = points[-2 - back], centers[-2 - back]
        if _clash(a, b) and 1 not in (a, b):
            return Refusal(f"the batch axes {a} and {b} do not broadcast", (0, 1), (a, b))
        # A static extent larger than 1 takes precedence over `?`, and `?` over 1.
        batch[-back] = max(a, b, key=lambda d: (d != 1, isinstance(d, int)))
    return Holds(
        TensorType.of((*batch, points[-2], number), case.dtypes[0]), TensorType.of(centers, case.dtypes[1])
    )


def _clash(a: Dim, b: Dim) -> bool:
    return isinstance(a, int) and isinstance(b, int) and a != b


def _longer(a: tuple[Dim, ...], b: tuple[Dim, ...]) -> tuple[Dim, ...]:
    return a if len(a) >= len(b) else b


# -- trying an answer


def program(case: Case, rule: Anything) -> tuple[IRModule, Var]:
    """Build a program that calls `distances` as `case` says; return it with its parameter `centers`."""
    types = case.types()
    outer = [Var("points", types[0]), Var("centers", types[1])]
    inner = {letter: Var(name) for letter, name in (("p", "ps"), ("c", "cs")) if letter in case.late}
    used: list[Expr] = [inner.get("p", outer[0]), inner.get("c", outer[1])]
    attrs = DistancesAttrs(count=case.count)
    body: Expr = Call(operator(rule), used, attrs)
    if inner:
        function = Var("f")
        # The results of inner calls: their relations are queued behind that of `distances`.
        passed = [Call(Op.get("nn.relu"), [v]) for letter, v in zip("pc", outer) if letter in inner]
        body = Let(function, Function(list(inner.values()), body), Call(function, passed))
    return IRModule.from_expr(Function(outer, body)), outer[1]


class MisuseError(Exception):
    """The relation did something that no relation may do; `hint` says what to do instead."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class Watched:
    """Record what a learner's relation raises, returns and changes."""

    def __init__(self, rule: Anything) -> None:
        self.rule = rule
        self.refused: RelationError | None = None
        self.half_done = False  # it assigned something, but still waits
        self.assigned = False  # it assigned something
        self.impatient = False  # it refused while an argument was not known
        self.guessed = False  # it assigned an argument's type, although there is no `count`

    def __call__(self, types: Sequence[Type], num_inputs: int, attrs: Anything, reporter: Reporter) -> bool:
        inputs = list(types)
        watched, shown = _Listening(reporter), [repr(t) for t in types]
        mine = list(inputs)  # a change of it is noticed, and does no harm
        try:
            done = self.rule(mine, num_inputs, attrs, watched)
        except RelationError as refusal:
            _check_refusal(refusal)
            self.refused = refusal
            unknown = [t for t in inputs[:num_inputs] if isinstance(t, IncompleteType)]
            self.impatient |= any(t not in watched.targets for t in unknown)
            raise
        finally:
            self.assigned |= bool(watched.targets)
            self.guessed |= attrs.count is None and any(t in watched.targets for t in inputs[:num_inputs])
        if [repr(t) for t in inputs] != shown:
            raise MisuseError(
                "the relation changed one of the types that it received",
                "Types are immutable: create a new one, TensorType(shape, dtype), and assign it.",
            )
        if len(mine) != len(inputs) or any(a is not b for a, b in zip(mine, inputs)):
            raise MisuseError(
                "the relation changed the list of types that it received",
                "A relation may not modify the list of types. It reports what it infers: "
                "reporter.assign(out, …).",
            )
        if done is None:
            raise MisuseError(
                "the relation returned None",
                "Every path must return: True if the relation is done, False if it must wait.",
            )
        if not isinstance(done, bool):
            raise MisuseError(
                f"the relation returned {repr_of(done)}",
                "The return value is True or False. A relation reports what it infers with "
                "reporter.assign(out, …).",
            )
        self.half_done |= not done and bool(watched.targets)
        return done


def _check_refusal(refusal: RelationError) -> None:
    """Refuse a RelationError that the compiler cannot report."""
    culprits: object = refusal.culprits
    if not isinstance(culprits, (tuple, list)) or not all(type(c) is int for c in culprits):
        raise MisuseError(
            f"the relation raised a RelationError with culprits={repr_of(culprits, 100)}",
            "`culprits` is a tuple of argument indices, as in culprits=(0, 1).",
        )
    texts: list[object] = [refusal.message, *refusal.help]
    if not all(isinstance(text, str) for text in texts):
        raise MisuseError(
            f"the relation raised a RelationError with {repr_of(texts)}",
            "RelationError takes a message, then optional suggestions, then culprits=(…).",
        )


class _Listening:
    """A reporter that records which types it assigned."""

    def __init__(self, reporter: Reporter) -> None:
        self.reporter = reporter
        self.targets: list[Type] = []

    def assign(self, target: Type, value: Type) -> None:
        if not isinstance(target, Type) or not isinstance(value, Type):
            wrong = value if isinstance(target, Type) else target
            raise MisuseError(
                f"reporter.assign received {repr_of(wrong)}",
                "reporter.assign(target, value) takes two types: one of those in `types`, and a type like "
                "TensorType(shape, dtype).",
            )
        self.targets.append(target)
        self.reporter.assign(target, value)


class Tried:
    """The outcome of one case: the typed module, or why there is none."""

    def __init__(self, case: Case, rule: Anything) -> None:
        self.rule = Watched(rule)
        self.module, self.centers = program(case, self.rule)
        self.out: Type | None = None
        self.centers_type: Type | None = None
        self.refusal: TypeInferenceError | None = None

    def infer(self) -> Tried:
        """Run inference; errors that the rule should not raise are passed on."""
        from ...typing import infer_types

        try:
            main = infer_types(self.module)["main"]
        except TypeInferenceError as refusal:
            self.refusal = refusal
            return self
        self.out = main.body.checked_type
        self.centers_type = main.params[1].checked_type
        return self

    @property
    def refused_by_rule(self) -> bool:
        """Return whether the relation itself refused, and not only the compiler because types remain
        unknown.
        """
        return self.refusal is not None and "does not say enough" not in self.refusal.message
