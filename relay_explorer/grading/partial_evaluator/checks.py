"""The checks of the exercise `partial_evaluator`."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from typing import Any as Anything

from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Var
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import post_order
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise
from ..feedback import Failure
from ..fragments import main_of, properties, written
from ..pass_checks import PassTask, operators, same, shown_text, with_main
from . import evaluate
from .programs import ends, programs

INPUTS = ((0, 0), (3, -2), (-4, 5))
MAX_CALLS = 1_000
SHARED = 30  # additions of a variable to itself, one after the other


class Functions(dict[str, Function]):
    """Functions by name. A lookup that never ends is stopped at once, with little to undo."""

    left = MAX_CALLS

    def __getitem__(self, name: str) -> Function:
        self.left -= 1
        if self.left < 0:
            raise RecursionError(f"more than {MAX_CALLS:,} calls were unfolded")
        return super().__getitem__(name)


@dataclass(frozen=True)
class SpecializeTask(PassTask):
    """A partial evaluator, which also receives the functions of the module by name. With `frugal`, no
    operator may run more often than before.
    """

    frugal: bool = False

    def judge(self, answer: Anything, module: IRModule) -> Failure | None:
        if not ends(module):
            return None
        main = main_of(module)
        others = {var.name_hint: f for var, f in module.functions.items() if f is not main}

        def specialized(function: Function) -> Anything:
            return answer(function, Functions(others)) if function.params == main.params else function

        return super().judge(specialized, module)

    def _compared(self, module: IRModule, function: Function, value: Anything) -> tuple[str, str]:
        got, hint = super()._compared(module, function, value)
        if got or not isinstance(value, Function):
            return got, hint
        result = with_main(module, value)
        there = {name for f in module.functions.values() for name in operators(_function(f))}
        other = next((name for name in operators(value) if name not in there), None)
        if other is not None:
            return (
                f"{shown_text(result)}\nwhich contains a call of {other}, unlike the program",
                "Dynamic expressions stay as they are; only static ones are computed.",
            )
        for numbers in INPUTS:
            inputs = numbers[: len(function.params)]
            (first, work), (second, now) = _ran(module, inputs), _ran(result, inputs)
            of = f"of {', '.join(map(str, inputs))}" if inputs else ""
            if first is not None and not same(first, second):
                return (
                    f"{shown_text(result)}\nwhich {of} gives {repr_of(second)} instead of {repr_of(first)}",
                    "The result has a different meaning. A variable has the value it was "
                    "bound to: in each call of a function, its parameters have values of "
                    "their own.",
                )
            more = now - work
            if self.frugal and more:
                name = next(iter(more))
                counts = f"{now[name]} times, and not {work[name]}"
                return (
                    f"{shown_text(result)}\nin which {of} {name} is computed {counts}",
                    "Nothing may be computed more often than before. Evaluate what a "
                    "variable stands for once, and use the same object for every use of the "
                    "variable; or keep a `let`.",
                )
        return "", ""


def _function(function: Expr) -> Function:
    assert isinstance(function, Function)
    return function


def _ran(module: IRModule, numbers: tuple[int, ...]) -> tuple[Anything, Counter[str]]:
    """Run `@main`: return its result, and how often each operator is computed; None and an empty count if
    it fails.
    """
    import numpy

    from ...execute.record import record

    args = [numpy.array(n, "int32") for n in numbers]
    outcome = limited(CASE_SECONDS, lambda: record(module, *args, limit=1))
    if outcome.error is not None:
        return None, Counter()
    return outcome.value.result, outcome.value.operators()


def _goal(before: Function, after: Function) -> tuple[str, str]:
    """Check that the static computations are gone."""
    values = {n.var: n.value for n in post_order(after) if isinstance(n, Let)}

    def known(part: Expr) -> Expr:
        while isinstance(part, Var) and part in values:
            part = values[part]
        return part

    for node in post_order(after):
        if isinstance(node, If) and isinstance(known(node.cond), Constant):
            return (
                "An `if` with a static condition is left.",
                "Evaluate the condition first. If the result is a constant, evaluate the "
                "branch that is taken, and only that one.",
            )
        if not isinstance(node, Call):
            continue
        args = [known(arg) for arg in node.args]
        if isinstance(node.op, GlobalVar) and args and isinstance(args[0], Constant):
            return (
                f"A call of @{node.op.name_hint} with a static first argument is left.",
                "Replace it with the evaluated body of the function. There, its parameters "
                "stand for the arguments of this call, after these have been evaluated.",
            )
        constant = isinstance(node.op, Op) and all(isinstance(arg, Constant) for arg in args)
        if constant and evaluate(Call(node.op, args, node.attrs)) is not None:
            hint = "Evaluate the arguments first, then look at them: they may have become constants."
            if any(isinstance(arg, Var) for arg in node.args):
                hint = (
                    "At a `let` whose value is a constant, record that its variable stands for the constant."
                )
            return f"A call of {operator_name(node)} with constant arguments is left.", hint
    return "", ""


def operator_name(call: Call) -> str:
    return call.op.name if isinstance(call.op, Op) else ""


TASK, FRUGAL = (
    SpecializeTask("partial_evaluate", _goal),
    SpecializeTask("partial_evaluate", _goal, frugal=True),
)


def _arithmetic(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: int32) { add(1, 2) }",
        "(%x: int32) { add(%x, add(1, 2)) }",
        "(%x: int32) { let %a = add(1, 2); add(%x, negative(%a)) }",
        "(%x: int32) { let %a = add(%x, 2); let %b = 3; multiply(%a, %b) }",
    )
    yield from programs(rng, count, lets=True)


def _branches(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: int32) { if (less(1, 2)) { %x } else { negative(%x) } }",
        "(%x: int32) { if (less(%x, 2)) { add(1, 2) } else { negative(%x) } }",
        "(%x: int32) { let %a = 3; if (less(%a, 2)) { %x } else { let %b = 1; add(%x, %b) } }",
    )
    yield from programs(rng, count, lets=True, branches=True)


def _functions(rng: random.Random, count: int) -> Iterator[IRModule]:
    help_ = (
        "def @help(%a: int32, %b: int32) -> int32 { if (less(%a, 3)) { add(%b, %a) } else { negative(%b) } }"
    )
    yield from written(
        f"{help_} def @main(%x: int32) {{ @help(1, %x) }}",
        f"{help_} def @main(%x: int32) {{ @help(add(2, 2), %x) }}",
        f"{help_} def @main(%x: int32) {{ add(@help(1, %x), @help(5, negative(%x))) }}",
        f"{help_} def @main(%x: int32) {{ @help(%x, 1) }}",
        f"{help_} def @main(%x: int32) {{ @help(@help(1, 2), %x) }}",
    )
    yield from programs(rng, count, lets=True, branches=True, calls=1)


def _recursion(rng: random.Random, count: int) -> Iterator[IRModule]:
    power = (
        "def @power(%n: int32, %b: int32) -> int32 "
        "{ if (less(%n, 1)) { 1 } else { multiply(%b, @power(subtract(%n, 1), %b)) } }"
    )
    yield from written(
        f"{power} def @main(%x: int32) {{ @power(0, %x) }}",
        f"{power} def @main(%x: int32) {{ @power(3, %x) }}",
        f"{power} def @main(%x: int32) {{ @power(minimum(%x, 2), 3) }}",
        f"{power} def @main(%x: int32) {{ @power(@power(1, 2), %x) }}",
    )
    yield from programs(rng, count, lets=True, branches=True, calls=2)


def _everything(rng: random.Random, count: int) -> Iterator[IRModule]:
    for module in programs(rng, count, lets=True, branches=True, calls=2):
        if len(operators(main_of(module))) > 1:
            yield module


def _once(rng: random.Random, count: int) -> Iterator[IRModule]:
    help_ = "def @twice(%a: int32, %b: int32) -> int32 { add(%a, add(%b, %b)) }"
    yield from written(
        "(%x: int32) { let %a = negative(%x); add(%a, %a) }",
        f"{help_} def @main(%x: int32) {{ @twice(1, negative(%x)) }}",
    )
    yield from programs(rng, count, lets=True, branches=True, calls=2)
    lines = "".join(f"let %a{n + 1} = subtract(%a{n}, %a{n}); " for n in range(SHARED))
    yield from written(f"(%x: int32) {{ let %a0 = %x; {lines} %a{SHARED} }}")


EXERCISE = {
    "": Exercise(
        "A partial evaluator",
        "partial_evaluate(function, functions)",
        (
            *properties(
                TASK.judge,
                ("arithmetic", "static values are computed, through variables too", _arithmetic),
                ("branches", "an `if` with a static condition is decided, any other stays", _branches),
                ("functions", "a call with a static first argument is unfolded", _functions),
                ("recursion", "a recursion that counts down from a static value is unrolled", _recursion),
                ("everything", "every program keeps its type and its value", _everything),
            ),
            *properties(FRUGAL.judge, ("once", "nothing is computed more often than before", _once)),
        ),
    ),
}
