"""The checks of the exercise `constant_folding`."""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...ir.adt import Match
from ...ir.expr import Call, Constant, Expr, Function, If, Let, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import post_order
from ..check import Exercise
from ..fragments import has, properties, written
from ..pass_checks import PassTask, closed_programs, operators
from . import evaluate


def _goal(lets: bool, branches: bool) -> PassTask:
    """Check that calls on constants are gone, and, as far as requested, constants behind variables and static
    conditions.
    """

    def goal(before: Function, after: Function) -> tuple[str, str]:
        values = {n.var: n.value for n in post_order(after) if isinstance(n, Let)} if lets else {}

        def known(part: Expr) -> Expr:
            while isinstance(part, Var) and part in values:
                part = values[part]
            return part

        for node in post_order(after):
            if isinstance(node, Call) and isinstance(node.op, Op) and node.args:
                through = [known(arg) for arg in node.args]
                if all(isinstance(arg, Constant) for arg in through):
                    call = Call(node.op, through, node.attrs)
                    if evaluate(call) is not None:
                        return _left(node, node.op)
            if branches and isinstance(node, If) and isinstance(known(node.cond), Constant):
                return (
                    "An `if` with a constant condition is left.",
                    "Replace it with the branch that is taken. The other branch never runs.",
                )
        if not branches and _nullary(before) != _nullary(after):
            return (
                "A call without arguments is gone, or there is a new one.",
                "The tensor that `zeros` creates is larger than the call, so calls without arguments stay.",
            )
        new = operators(after) - operators(before)
        if new:
            return (
                f"There is a new call of {next(iter(new))}.",
                "Only calls with constant arguments may change: they become constants.",
            )
        return "", ""

    return PassTask("fold_constants", goal)


def _nullary(function: Function) -> int:
    """Count the operator calls without arguments."""
    calls = (n for n in post_order(function) if isinstance(n, Call) and isinstance(n.op, Op))
    return sum(not call.args for call in calls)


def _left(call: Call, op: Op) -> tuple[str, str]:
    """Describe a call that could have been evaluated."""
    if any(isinstance(arg, Var) for arg in call.args):
        return (
            f"A call of {op.name} is left whose arguments are variables bound to constants.",
            "At a `let` whose value is a constant, record that its variable stands for the constant.",
        )
    return (
        f"A call of {op.name} with constant arguments is left.",
        "Rewrite the arguments first, then look at them: they may have become constants. Do "
        "you also visit functions and branches?",
    )


_PLAIN, _LETS, _ALL = _goal(False, False), _goal(True, False), _goal(True, True)


def _calls(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { negative(1) }", "() { add(1, 2) }", '() { (add(1, 2), zeros(shape=[2], dtype="float32")) }'
    )
    yield from closed_programs(rng, count, lambda f: not has(f.body, Let, If, Function, Match))


def _chains(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { add(negative(1), 2) }",
        "() { multiply(add(1, 2), add(3, negative(4))) }",
        "() { (fn (%x: int32) { add(%x, add(1, 2)) })(3) }",
    )
    yield from closed_programs(rng, count, lambda f: not has(f.body, Let, If))


def _let_programs(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { let %a = 1; add(%a, 2) }",
        "() { let %a = add(1, 2); let %b = negative(%a); (%a, %b) }",
        "() { let %r = ref(1); let %a = 2; let %u = ref_write(%r, add(%a, 3)); ref_read(%r) }",
    )
    yield from closed_programs(rng, count, lambda f: has(f.body, Let) and not has(f.body, If))


def _branches(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { if (True) { 1 } else { 2 } }",
        "() { if (less(1, 2)) { negative(1) } else { 2 } }",
        "() { let %r = ref(1); let %u = if (greater(1, 2)) { ref_write(%r, 2) } else { () }; ref_read(%r) }",
    )
    yield from closed_programs(rng, count, lambda f: has(f.body, If))


def _everything(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from closed_programs(rng, 2 * count)


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    for rungs in (3, 40):
        lines = "".join(f"%{n} = subtract(%{n - 1}, %{n - 1}); " for n in range(1, rungs))
        yield written(f"() {{ %0 = negative(1); {lines} negative(%{rungs - 1}) }}")[0]
    lines = "".join(f"%{n} = add(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f'() {{ %0 = zeros(shape=[1], dtype="int32"); {lines} negative(%39) }}')[0]


EXERCISE = {
    "": Exercise(
        "Constant folding",
        "fold_constants(function)",
        (
            *properties(_PLAIN.judge, ("calls", "calls with constant arguments are computed", _calls)),
            *properties(_PLAIN.judge, ("chains", "so are calls whose arguments become constants", _chains)),
            *properties(
                _LETS.judge,
                ("lets", "a variable that is bound to a constant is replaced with it", _let_programs),
            ),
            *properties(
                _ALL.judge,
                (
                    "branches",
                    "an `if` with a constant condition is replaced with the branch taken",
                    _branches,
                ),
            ),
            *properties(
                _ALL.judge, ("everything", "every program keeps its type and its value", _everything)
            ),
            *properties(_ALL.judge, ("shared", "shared expressions are visited once", _shared)),
        ),
    ),
}
