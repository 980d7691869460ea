"""The checks of the exercise `leaky_relu`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any as Anything

from ...ir.adt import Match
from ...ir.equal import difference
from ...ir.errors import RelayError
from ...ir.expr import Call, Expr, Function, Let
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order, rewrite
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, crashed
from ..feedback import Failure
from ..fragments import fragments, has, main_of, properties, snapshot, text, written

VIEW, CAPTION = "ir", "The smallest function that is rewritten incorrectly"
ALPHA = 0.125
RELU, LEAKY = "nn.relu", "nn.leaky_relu"
# Operators that map a tensor to one of the same type: a test program may replace any of them with a ReLU.
_ALIKE = ("exp", "tanh", "sigmoid", "negative", "abs", "sqrt", "floor")
_LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def leaky(function: Function, alpha: float) -> Function:
    """Replace every ReLU of a function with a leaky one."""
    op = Op.get(LEAKY)
    assert op.attrs_class is not None
    attrs = op.attrs_class(alpha=alpha)
    result = rewrite(function, lambda node: Call(op, node.args, attrs) if _calls(node, RELU) else None)  # type: ignore[attr-defined]  # a call
    assert isinstance(result, Function)
    return result


def _calls(node: Expr, name: str) -> bool:
    return isinstance(node, Call) and isinstance(node.op, Op) and node.op.name == name


def _judge(answer: Anything, module: IRModule) -> Failure | None:
    function = main_of(module)
    right = leaky(function, ALPHA)
    before = snapshot(function)
    outcome = limited(CASE_SECONDS, answer, function, ALPHA)
    got, hint = "", ""
    if outcome.error is None:
        got, hint = _compared(module, function, right, outcome.value)
        if snapshot(function) != before:
            got = "the original function has been changed"
            hint = (
                "Expressions are immutable, because others may share them. Create a new "
                "call; the mutator rebuilds the rest."
            )
        if not got:
            return None
    shown = text(module)
    case = (
        f"use_leaky(main, alpha={ALPHA}), where main is\n{shown if len(shown) < 1500 else shown[:1400] + '…'}"
    )
    expected = _function_text(module, right)
    if outcome.error is not None:
        hint = _crash_hint(outcome.error)
        return crashed(case, outcome, expected, program=module, view=VIEW, caption=CAPTION, hint=hint)
    return Failure(case, expected, got, hint, module, VIEW, CAPTION, outcome.printed)


def _function_text(module: IRModule, function: Function) -> str:
    """Write a function as the module's `@main`."""
    functions = {**module.functions, module.get_global_var("main"): function}
    try:
        return text(IRModule(functions, module.type_definitions))
    except (RelayError, TypeError, AttributeError) as error:  # a broken result has no text
        return f"a function that cannot be printed: {error}"


def _compared(module: IRModule, function: Function, right: Function, value: Anything) -> tuple[str, str]:
    """Describe the result, and the mistake that explains it; two empty strings if it is right."""
    if not isinstance(value, Function):
        hint = "The function must return a function: `mutator.visit(function)`."
        if isinstance(value, Expr):
            hint = "The result must be the whole function, not its body."
        return f"{type(value).__name__}: {repr_of(value)}", hint
    try:
        differs = difference(right, value)
    except (AttributeError, TypeError) as error:
        return _function_text(
            module, value
        ), f"The result contains something that is not an expression: {error}"
    if differs is None:
        return "", ""
    return _function_text(module, value), _hint(function, right, value, differs)


def _hint(function: Function, right: Function, got: Function, differs: str) -> str:
    nodes, expected = post_order(got), post_order(right)
    left = sum(_calls(n, RELU) for n in nodes)
    new, due = [n for n in nodes if _calls(n, LEAKY)], [n for n in expected if _calls(n, LEAKY)]
    slopes = {n.attrs["alpha"] for n in new if isinstance(n, Call) and n.attrs is not None}
    if left:
        return _left_hint(got)
    if len(new) > len(due):
        return (
            "A shared ReLU became several. Shared expressions must stay shared, or they are computed twice."
        )
    if len(new) < len(due):
        return (
            "A ReLU is gone: a call inside it was rewritten and then dropped, or the argument "
            "was taken from the old call."
        )
    if slopes - {ALPHA}:
        return f"The slope must be the argument `alpha`, {ALPHA}: `relay.nn.leaky_relu(x, alpha=alpha)`."
    if len(nodes) != len(expected) and len(
        {id(p) for p in function.params} & {id(p) for p in got.params}
    ) < len(function.params):
        return "The parameters must stay the same variables, in the same order."
    return f"Only calls of `nn.relu` may change. Here something else did: {differs}."


def _left_hint(got: Function) -> str:
    """Describe the position of a ReLU that was not replaced."""
    for node in post_order(got):
        for part in children(node):
            if not _calls(part, RELU):
                continue
            if _calls(node, LEAKY):
                return (
                    "A ReLU of a ReLU: the argument of the call that you replace must be "
                    "rewritten, too. `super().visit_call(call)` returns the call with its "
                    "arguments rewritten."
                )
            if isinstance(node, Function) and node is not got:
                return "A nested function has a body, too."
            if isinstance(node, Let):
                return f"A ReLU is left in the {'value' if node.value is part else 'body'} of a `let`."
            if isinstance(node, Call):
                return (
                    "A ReLU is left in the argument of another call: every call's arguments must be visited."
                )
            if not isinstance(node, Function):
                return f"A ReLU is left in a `{type(node).__name__}`: its parts must be visited, too."
    return "The function's body is a ReLU that was not replaced."


def _crash_hint(error: BaseException) -> str:
    if isinstance(error, AttributeError) and "name" in str(error):
        return (
            "Not every callee is an operator: test `isinstance(call.op, relay.Op)` before you read its name."
        )
    return ""


# -- test cases


def _with_relus(rng: random.Random, module: IRModule) -> IRModule:
    """Replace about half of the operators on one tensor with a ReLU."""
    relu = Op.get(RELU)

    def change(node: Expr) -> Expr | None:
        alike = isinstance(node, Call) and isinstance(node.op, Op) and node.op.name in _ALIKE
        return Call(relu, node.args) if alike and rng.random() < 0.6 else None  # type: ignore[attr-defined]  # a call

    return IRModule(
        {var: rewrite(f, change) for var, f in module.functions.items()},  # type: ignore[misc]  # functions stay functions
        module.type_definitions,
    )


def _random(
    rng: random.Random, count: int, accept: Callable[[Expr], bool], least: int = 1
) -> Iterator[IRModule]:
    """Yield random programs with at least `least` ReLUs."""
    for module in fragments(rng, 2 * count, accept):
        result = _with_relus(rng, module)
        if sum(_calls(n, RELU) for n in post_order(main_of(result))) >= least:
            yield result


def _calls_only(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: float32) { nn.relu(%x) }",
        "(%x: float32) { (nn.relu(%x), %x) }",
        "(%x: float32) { add(nn.relu(%x), tanh(%x)) }",
        "(%f: fn (float32) -> float32, %x: float32) { %f(nn.relu(%x)) }",
    )
    yield from _random(rng, count, lambda e: not has(e, Function, Let, Match))


def _nested(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: float32) { nn.relu(nn.relu(%x)) }",
        "(%x: float32) { nn.relu(add(nn.relu(%x), %x)) }",
    )
    yield from _random(rng, count, lambda e: not has(e, Function, Let, Match), 2)


def _everywhere(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: float32) { let %y = nn.relu(%x); %y }",
        "(%x: float32) { let %y = tanh(%x); nn.relu(%y) }",
        "(%x: float32) { fn (%y: float32) { nn.relu(add(%x, %y)) } }",
        _LIST + "def @main(%l: List[float32]) { match (%l) { "
        "Cons(%x, _) => { nn.relu(%x) }, Nil => { nn.relu(1f) } } }",
    )
    yield from _random(rng, count, lambda e: has(e, Function, Let, Match))


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: float32) { %0 = nn.relu(%x); add(%0, %0) }",
        "(%x: float32) { %0 = nn.relu(%x); %1 = tanh(%0); %2 = (%1, %0); (%2, %2) }",
    )
    yield from _random(rng, count, lambda e: len(post_order(e)) > 6)
    rungs = "".join(f"%{n} = add(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f"(%x: float32) {{ %0 = nn.relu(%x); {rungs} negative(%39) }}")[0]


def _untouched(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: float32) { tanh(%x) }",
        "(%x: float32) { nn.leaky_relu(%x, alpha=0.5f) }",
        "(%x: Tensor[(2, 3), float32]) { nn.relu(sum(%x, axis=[1], keepdims=True)) }",
    )
    yield from fragments(rng, count)


def _models(rng: random.Random, count: int) -> Iterator[IRModule]:
    from ... import models

    for name in ("lenet", "dqn", "resnet18"):
        yield models.load(name)


EXERCISE = {
    "": Exercise(
        "Leaky ReLU",
        "use_leaky(function, alpha)",
        properties(
            _judge,
            ("calls", "a ReLU becomes a leaky ReLU", _calls_only),
            ("nested", "so does a ReLU inside another one", _nested),
            ("everywhere", "ReLUs in `let`, functions and `match` are found, too", _everywhere),
            ("shared", "shared expressions stay shared", _shared),
            ("untouched", "nothing else changes", _untouched),
            ("models", "whole networks are rewritten", _models),
        ),
    ),
}
