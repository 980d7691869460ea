"""The checks of the exercise `a_normal_form`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

from ...ir.adt import Constructor, Match
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Tuple, TupleGetItem, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order
from ..check import Exercise
from ..fragments import has, properties, written
from ..pass_checks import PassTask, closed_programs

_ATOMS = (Var, GlobalVar, Constant, Op, Constructor)
_LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def _goal(before: Function, after: Function) -> tuple[str, str]:
    """Check that every operand is a name, and that the same values are computed, each of them once."""
    for node in post_order(after):
        result = _unnamed(node)
        if result is not None:
            return result
    uses = Counter(part for node in post_order(after) for part in children(node))
    twice = next((part for part, count in uses.items() if count > 1 and not isinstance(part, _ATOMS)), None)
    if twice is not None:
        return (
            f"{_said(twice)} is used twice and has no name.",
            "A shared expression gets one binding. If two branches share it, the binding goes before both.",
        )
    old, new = _computed(before), _computed(after)
    if new - old:
        return (
            f"{_kind(new - old)} occurs more often than before.",
            "A shared expression gets one binding. Remember, for each expression, the name "
            "that stands for it.",
        )
    if old - new:
        return f"{_kind(old - new)} is gone.", "Every value gets a binding, even one that is never used."
    return "", ""


def _unnamed(node: Expr) -> tuple[str, str] | None:
    """Find a part of an expression that should be a variable."""
    if isinstance(node, Let):
        if not isinstance(node.value, Let):
            return None
        return (
            f"The value of %{node.var.name_hint} is a `let`.",
            "Put the bindings of the inner `let` first, then the outer one, whose value is the inner result.",
        )
    for part in _operands(node):
        if not isinstance(part, _ATOMS):
            return f"{_said(part)} is used in {_said(node)[0].lower() + _said(node)[1:]}.", _hint(node, part)
    return None


def _operands(node: Expr) -> tuple[Expr, ...]:
    """Return the parts of an expression that are values, not blocks of its own."""
    match node:
        case If():
            return (node.cond,)
        case Match():
            return (node.data,)
        case Function() | Let():
            return ()
    return children(node)


def _hint(node: Expr, part: Expr) -> str:
    if isinstance(node, Call) and node.op is part:
        return "The callee must be a name as well."
    if isinstance(node, (If, Match)):
        return "Bind a condition, and the data of a `match`, to a variable first."
    if isinstance(part, Let):
        return "There is a `let` in an argument: its bindings come first, and its result is the argument."
    if isinstance(node, (Tuple, TupleGetItem)):
        return "The fields of a tuple, and the tuple of a projection, must be names, too."
    return "Bind it to a variable. Do you visit functions, branches and clauses?"


def _said(node: Expr) -> str:
    match node:
        case Call(op=Op(name=name)):
            return f"A call of {name}"
        case Call():
            return "A call of a function"
        case TupleGetItem():
            return "A projection"
        case If():
            return "An `if`"
        case Let():
            return "A `let`"
    return f"A {type(node).__name__}"


def _computed(function: Function) -> Counter[str]:
    """Count the expressions of each kind, except names and `let`s."""
    return Counter(_said(n) for n in post_order(function) if not isinstance(n, (Let, *_ATOMS)))


def _kind(counts: Counter[str]) -> str:
    return next(iter(counts))


TASK = PassTask("a_normal_form", _goal, same_work=True)


def _arguments(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { negative(add(1, 2)) }",
        "() { add(negative(1), negative(2)) }",
        "() { (negative(1), (negative(2), 3)) }",
        "() { (add(1, 2), negative(3)).0 }",
        "() { negative(ref_read(ref(add(1, 2)))) }",
    )
    yield from closed_programs(rng, count, lambda f: _is_plain(f) and not _sharing(f))


def _is_plain(function: Function) -> bool:
    return not has(function.body, Let, If, Function, Match)


def _sharing(function: Function) -> bool:
    uses = Counter(part for node in post_order(function) for part in children(node))
    return any(n > 1 and not isinstance(part, _ATOMS) for part, n in uses.items())


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { %0 = negative(1); (%0, %0) }",
        "() { %0 = negative(1); %1 = add(%0, %0); (%1, %0, negative(%1)) }",
    )
    yield from closed_programs(rng, count, _is_plain)


def _lets(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { let %a = negative(add(1, 2)); negative(%a) }",
        "() { let %a = { let %b = negative(1); add(%b, 2) }; negative(%a) }",
        "() { negative({ let %a = negative(1); %a }) }",
        "() { let %r = ref(1); let %u = ref_write(%r, add(ref_read(%r), 1)); let %v = ref_write(%r, "
        "add(ref_read(%r), 1)); ref_read(%r) }",
        "() { let %r = ref(1); subtract({ let %u = ref_write(%r, 5); ref_read(%r) }, ref_read(%r)) }",
    )
    yield from closed_programs(
        rng, count, lambda f: has(f.body, Let) and not has(f.body, If, Function, Match)
    )


def _functions(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { (fn (%x: int32) { negative(add(%x, 1)) })(2) }",
        "() { let %f = fn (%n: int32) -> int32 { if (less(%n, 1)) { 0 } else { %f(subtract(%n, 1)) } }; "
        "%f(2) }",
        "() { fn (%x: int32) { fn (%y: int32) { add(negative(%x), negative(%y)) } } }",
    )
    yield from closed_programs(rng, count, lambda f: has(f.body, Function) and not has(f.body, If, Match))


def _branches(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { if (less(1, 2)) { negative(add(1, 2)) } else { negative(add(3, 4)) } }",
        '() { %0 = negative(1); if (less(1, 2)) { exp(cast(%0, dtype="float32")) } else { '
        'tanh(cast(%0, dtype="float32")) } }',
        "() { let %r = ref(1); let %u = if (less(2, 1)) { ref_write(%r, negative(2)) } else { () }; "
        "ref_read(%r) }",
        "() { %0 = negative(1); if (less(2, 1)) { %0 } else { %0 } }",
        _LIST + "def @main() { match (Cons(negative(1), Nil)) { Cons(%x, _) => { negative(add(%x, 1)) }, "
        "Nil => { negative(negative(2)) } } }",
    )
    yield from closed_programs(rng, count, lambda f: has(f.body, If, Match))


def _everything(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from closed_programs(rng, count)


def _ladder(rng: random.Random, count: int) -> Iterator[IRModule]:
    for rungs in (3, 40):
        lines = "".join(f"%{n} = subtract(%{n - 1}, %{n - 1}); " for n in range(1, rungs))
        yield written(f"() {{ %0 = negative(1); {lines} negative(%{rungs - 1}) }}")[0]


EXERCISE = {
    "": Exercise(
        "A-normal form",
        "a_normal_form(function)",
        properties(
            TASK.judge,
            ("arguments", "operands are names", _arguments),
            ("shared", "a shared expression has one binding", _shared),
            ("lets", "existing `let` bindings are kept, in the order of evaluation", _lets),
            ("functions", "function bodies are blocks", _functions),
            ("branches", "so are branches and clauses: only shared values are bound before them", _branches),
            ("everything", "every program keeps its type and its value", _everything),
            ("ladder", "each expression is visited once", _ladder),
        ),
    ),
}
