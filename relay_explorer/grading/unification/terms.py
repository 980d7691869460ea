"""Random terms, equations and known classes for the exercise `unification`, and how to simplify them."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...ir.types import FuncType, TensorType, TupleType, Type
from . import Classes, Variable, parts, rebuilt, subterms, variables
from .oracle import Equation

Equations = tuple[Equation, ...]
Steps = tuple[tuple[Variable, Type], ...]
PLAIN = (
    TensorType((), "float32"),
    TensorType((), "int32"),
    TensorType((3,), "float32"),
    TensorType((3, 4), "float32"),
)
_NAMES = "abcdefghijklmnopqrstuvwxyz"


def fresh(count: int) -> list[Variable]:
    """Create `count` variables with different names."""
    return [Variable(_NAMES[n] if n < 26 else f"v{n}") for n in range(count)]


def term(rng: random.Random, depth: int, pool: list[Variable], share: float = 0.3) -> Type:
    """Generate a random term; `share` is the probability that a leaf is a variable of the pool."""
    if depth == 0 or rng.random() < 0.15:
        return rng.choice(pool) if pool and rng.random() < share else rng.choice(PLAIN)
    result = [term(rng, depth - 1, pool, share) for _ in range(rng.randint(1, 3))]
    return TupleType(result[: rng.randint(0, 3)]) if rng.random() < 0.5 else FuncType(result[1:], result[0])


def abstracted(
    rng: random.Random, type_: Type, names: dict[Type, Variable], pool: Iterator[Variable]
) -> Type:
    """Replace some parts of `type_` with variables, equal parts with the same one. The result can be
    unified with `type_`, and with every other result for the same `names`.
    """
    if rng.random() < 0.25:
        if type_ not in names:
            names[type_] = next(pool)
        return names[type_]
    return rebuilt(type_, [abstracted(rng, p, names, pool) for p in parts(type_)])


def unifiable(rng: random.Random, depth: int) -> Equation:
    """Generate two terms that can be made equal."""
    pool = fresh(60)
    whole = term(rng, depth, pool[-3:], 0.2)
    rest = iter(pool)
    first: dict[Type, Variable] = {}
    second = first if rng.random() < 0.3 else {}
    return abstracted(rng, whole, first, rest), abstracted(rng, whole, second, rest)


def changed(rng: random.Random, type_: Type) -> Type:
    """Change one thing in `type_`: an element type, a shape, the number of parts, or tuple to function."""
    inside = parts(type_)
    if inside and rng.random() < 0.7:
        at = rng.randrange(len(inside))
        return rebuilt(type_, [changed(rng, p) if n == at else p for n, p in enumerate(inside)])
    if isinstance(type_, TensorType):
        return rng.choice([t for t in PLAIN if t != type_] + [TupleType([type_])])
    if isinstance(type_, TupleType):
        longer = TupleType([*inside, rng.choice(PLAIN)])
        return rng.choice([longer, TupleType(inside[:-1]) if inside else longer, FuncType(inside, PLAIN[0])])
    if isinstance(type_, FuncType):
        return rng.choice([FuncType([*inside[:-1], PLAIN[0]], inside[-1]), TupleType(inside)])
    return type_


def built(steps: Steps) -> Classes:
    """Apply steps to new classes: each makes a variable equal to another, or to a type."""
    classes = Classes()
    for variable, is_ in steps:
        if isinstance(is_, Variable):
            classes.merge(variable, is_)
        else:
            classes.learn(variable, is_)
    return classes


def steps_to_know(rng: random.Random, pool: list[Variable]) -> Steps:
    """Generate steps after which some variables of the pool are known, and some are equal; no type is
    infinite.
    """
    classes, result = Classes(), []
    for number, variable in enumerate(pool[:-1]):
        later = pool[number + 1 :]
        kind = rng.random()
        if kind < 0.45 and classes.known(variable) is None:
            known = term(rng, rng.randint(0, 2), later[-2:], 0.7)
            if not isinstance(known, Variable) and not _cyclic(classes, variable, known):
                result.append((variable, known))
                classes.learn(variable, known)
        elif kind < 0.75:
            other = rng.choice(later)
            if classes.known(variable) is None and classes.known(other) is None:
                result.append((variable, other))
                classes.merge(variable, other)
    return tuple(result)


def simpler_steps(steps: Steps) -> Iterator[Steps]:
    """Yield fewer steps, and steps that determine less."""
    for at in range(len(steps)):
        yield (*steps[:at], *steps[at + 1 :])
    for at, (variable, is_) in enumerate(steps):
        for simpler in simpler_terms(is_):
            if not isinstance(simpler, Variable):
                yield (*steps[:at], (variable, simpler), *steps[at + 1 :])


def _cyclic(classes: Classes, variable: Variable, type_: Type) -> bool:
    pending, root = [type_], classes.find(variable)
    while pending:
        for result in variables(pending.pop()):
            if classes.find(result) is root:
                return True
            known = classes.known(result)
            if known is not None:
                pending.append(known)
    return False


def endless(rng: random.Random, length: int) -> Equations:
    """Generate equations that only an infinite type would satisfy: each variable contains the next, the
    last one the first.
    """
    pool = fresh(length)
    result: list[Equation] = []
    for number, variable in enumerate(pool):
        other = pool[(number + 1) % length]
        wrapped: Type = rng.choice([TupleType([other]), FuncType([other], PLAIN[0]), FuncType([], other)])
        pair: Equation = (variable, wrapped)
        result.append(pair if rng.random() < 0.5 else (wrapped, variable))
    rng.shuffle(result)
    return tuple(result)


# -- simpler ones


def simpler_terms(type_: Type) -> Iterator[Type]:
    """Yield terms that are similar to `type_`, and smaller."""
    if isinstance(type_, Variable):
        return
    if type_ != PLAIN[0]:
        yield PLAIN[0]
    yield from parts(type_)
    inside = parts(type_)
    if isinstance(type_, TupleType) or len(inside) > 1:
        keep = len(inside) if isinstance(type_, TupleType) else len(inside) - 1
        for at in range(keep):
            yield rebuilt(type_, [*inside[:at], *inside[at + 1 :]])
    for at, part in enumerate(inside):
        for smaller in simpler_terms(part):
            yield rebuilt(type_, [*inside[:at], smaller, *inside[at + 1 :]])


def simpler_equations(equations: Equations) -> Iterator[Equations]:
    """Yield fewer equations, equations between parts, and simpler sides."""
    for at in range(len(equations)):
        if len(equations) > 1:
            yield (*equations[:at], *equations[at + 1 :])
    for at, (a, b) in enumerate(equations):
        pairs: list[Equation] = []
        if type(a) is type(b):
            pairs += zip(parts(a), parts(b))
            pairs += _without_one(a, b)
        pairs += [(s, b) for s in simpler_terms(a)] + [(a, s) for s in simpler_terms(b)]
        pairs += (
            [(_put(a, v, PLAIN[0]), _put(b, v, PLAIN[0])) for v in variables(a, b)]
            if len(equations) == 1
            else []
        )
        for pair in pairs:
            yield (*equations[:at], pair, *equations[at + 1 :])


def _without_one(a: Type, b: Type) -> Iterator[Equation]:
    """Remove the n-th part of both sides."""
    keep = 0 if isinstance(a, TupleType) else 1
    for at in range(min(len(parts(a)), len(parts(b))) - keep):
        yield (
            rebuilt(a, [*parts(a)[:at], *parts(a)[at + 1 :]]),
            rebuilt(b, [*parts(b)[:at], *parts(b)[at + 1 :]]),
        )


def _put(type_: Type, variable: Variable, value: Type) -> Type:
    if type_ is variable:
        return value
    return rebuilt(type_, [_put(p, variable, value) for p in parts(type_)])


def copied(type_: Type) -> Type:
    """Copy a term into new objects with the same variables, for code that may change it."""
    if isinstance(type_, TensorType):
        return TensorType.of(type_.shape, type_.dtype)
    return rebuilt(type_, list(map(copied, parts(type_))))


def snapshot(type_: Type) -> list[object]:
    """Return the contents of a term, object by object: after a change they differ."""
    result: list[object] = []
    for part in subterms(type_):
        result.append((id(part), *map(id, parts(part))))
        if isinstance(part, TensorType):
            result.append((part.shape, part.dtype))
    return result
