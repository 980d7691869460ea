"""The checks of the exercise `count_operators`: the operator calls, then the learned parameters of a
network.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from math import prod
from typing import Any as Anything

from ...ir.adt import Match
from ...ir.expr import Call, Constant, Expr, Function, Let, Tuple, Var, const
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.types import TensorType, TupleType, Type
from ...ir.walk import children, post_order
from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, crashed
from ..feedback import Failure
from ..fragments import fragments, has, main_of, properties, snapshot, text, written

VIEW, CAPTION = "ir", "The smallest function that is counted incorrectly"
INPUTS = ("data",)
_LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


# -- operators


def operators(function: Function) -> dict[str, int]:
    """Count the calls of each operator, a shared call once."""
    calls = [node.op.name for node in post_order(function) if _is_operator(node)]  # type: ignore[attr-defined]  # it is a call
    return dict(Counter(calls))


def _is_operator(node: Expr) -> bool:
    return isinstance(node, Call) and isinstance(node.op, Op)


def _judge_operators(answer: Anything, module: IRModule) -> Failure | None:
    function = main_of(module)
    right = operators(function)

    def compared(value: Anything) -> tuple[str, str]:
        if not isinstance(value, dict):
            return (
                f"{repr_of(value)}, a {type(value).__name__}",
                "The function must return a dictionary. Does every path through it end in a `return`?",
            )
        wrong = next((key for key in value if not isinstance(key, str)), None)
        if wrong is not None:
            return (
                f"a dictionary with the key {repr_of(wrong, 100)}",
                "The keys are the names of operators: `call.op.name`.",
            )
        got = {name: number for name, number in value.items() if number != 0}
        return ("", "") if got == right else (_table(got), _operators_hint(function, right, got))

    return _judged(answer, module, (function,), "count_operators(main)",
                   _table(right), compared)  # fmt: skip


def _table(counts: dict[str, Anything]) -> str:
    return "{" + ", ".join(f"{name!r}: {counts[name]}" for name in sorted(counts)) + "}"


def _operators_hint(function: Function, right: dict[str, int], got: dict[str, Anything]) -> str:
    """Explain wrong counts by a common mistake."""
    strange = [name for name in got if name not in right]
    if strange:
        if any(n == strange[0] for n in (getattr(v, "name_hint", None) for v in post_order(function))):
            return (
                f"`{strange[0]}` is called, but it is not an operator: test whether `call.op` is "
                "a `relay.Op`."
            )
        return f"`{strange[0]}` is not called here: are counts left from an earlier call?"
    name = next(n for n in right if got.get(n) != right[n])
    count = got.get(name, 0)
    if not isinstance(count, int) or count < right[name]:
        return _where_missed(function, name)
    if count == _paths(function, name):
        return "It is a single call with several users: a shared expression is one object. Count it once."
    return (
        f"`{name}` is called {right[name]} times here. Do you count it at the call and again at the operator?"
    )


def _paths(function: Function, name: str) -> int:
    """Count how often a traversal without a memo visits the operator."""
    paths: dict[Expr, int] = {}
    for node in post_order(function):
        own = int(_is_operator(node) and getattr(node, "op").name == name)  # noqa: B009  # a call
        paths[node] = own + sum(paths[c] for c in children(node))
    return paths[function]


def _where_missed(function: Function, name: str) -> str:
    """Describe the position of the first operator call that was not counted."""
    parents = [
        (node, part)
        for node in post_order(function)
        for part in children(node)
        if _is_operator(part) and getattr(part, "op").name == name  # noqa: B009  # a call
    ]
    for node, part in parents:
        if isinstance(node, Function) and node is not function:
            return "A nested function has a body, too: its calls count."
        if isinstance(node, Let):
            where = "value" if node.value is part else "body"
            return f"The call is in the {where} of a `let`."
        if isinstance(node, Call):
            return "The call is an argument of another call: `super().visit_call(call)` visits the arguments."
        if not isinstance(node, Function):
            return f"The call is in a `{type(node).__name__}`: its parts must be visited, too."
    return "The body of the function is itself such a call."


# -- numbers


def parameters(function: Function, inputs: Sequence[str]) -> int:
    """Count the elements of the parameters that are not inputs, and of the constants."""
    learnt = sum(numbers(p.type_annotation) for p in function.params if p.name_hint not in inputs)
    constants = [node for node in post_order(function) if isinstance(node, Constant)]
    return learnt + sum(prod(c.data.shape) for c in constants)


def numbers(type_: Type | None) -> int:
    """Count the elements of a type; functions, references and data types have none."""
    if isinstance(type_, TensorType):
        return prod(type_.concrete_shape)
    return sum(map(numbers, type_.fields)) if isinstance(type_, TupleType) else 0


def _judge_parameters(answer: Anything, module: IRModule) -> Failure | None:
    function = main_of(module)
    right = parameters(function, INPUTS)

    def compared(value: Anything) -> tuple[str, str]:
        number = integer(value)
        if number is None:
            return (
                f"{repr_of(value)}, a {type(value).__name__}",
                "The function must return an `int`. Does every path through it end in a `return`?",
            )
        return ("", "") if number == right else (repr_of(number), _parameters_hint(function, right, number))

    call = f"count_parameters(main, inputs={INPUTS!r})"
    return _judged(answer, module, (function, INPUTS), call, str(right), compared)


def _parameters_hint(function: Function, right: int, got: int) -> str:
    """Explain a wrong number by a common mistake."""
    params = [p for p in function.params if p.name_hint not in INPUTS]
    inner = {
        p for f in post_order(function) if isinstance(f, Function) and f is not function for p in f.params
    }
    constants = [node for node in post_order(function) if isinstance(node, Constant)]
    held = sum(prod(c.data.shape) for c in constants)
    data = sum(numbers(p.type_annotation) for p in function.params if p.name_hint in INPUTS)
    scalars = [p for p in params if isinstance(p.type_annotation, TensorType) and not p.type_annotation.shape]
    tuples = [p for p in params if isinstance(p.type_annotation, TupleType)]
    off = got - right
    if data and off == data:
        return "A parameter named in `inputs` is an input of the network, not a learned weight."
    if held and off == -held:
        return "Constants in the program are learned, too: use `constant.data.shape`."
    if inner and off == sum(numbers(p.type_annotation) for p in inner):
        return "Parameters of nested functions are not weights: count only those of the function itself."
    if tuples and off < 0:
        return "A parameter may be a tuple: count its fields, each of which may be a tuple again."
    if scalars and off == -len(scalars):
        return "A tensor without axes, such as `float32`, has one element: the empty product is 1."
    if constants and off > 0:
        return "A shared constant is one object: count it once."
    return "Multiply the dimensions of each tensor, and add up the products."


# -- shared helpers


def _judged(
    answer: Anything,
    module: IRModule,
    args: tuple[Anything, ...],
    call: str,
    expected: str,
    compared: Callable[[Anything], tuple[str, str]],
) -> Failure | None:
    """Return the failure of `answer(*args)`, or None; `compared` describes the result and gives a
    hint.
    """
    before = snapshot(args[0])
    outcome = limited(CASE_SECONDS, answer, *args)
    got, hint = "", ""
    if outcome.error is None:
        got, hint = compared(outcome.value)
        if not got and snapshot(args[0]) != before:
            got, hint = "the function has been changed", "A visitor must not change what it visits."
        if not got:
            return None
    shown = text(module)
    case = f"{call}, where main is\n{shown if len(shown) < 1500 else shown[:1400] + '…'}"
    if outcome.error is not None:
        return crashed(case, outcome, expected, program=module, view=VIEW, caption=CAPTION)
    return Failure(case, expected, got, hint, module, VIEW, CAPTION, outcome.printed)


def _calls(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: int32) { %x }",
        "(%x: int32) { negative(%x) }",
        "(%x: int32) { add(%x, add(%x, negative(%x))) }",
        "(%x: int32, %f: fn (int32) -> int32) { %f(%x) + 1 }",
    )
    yield from fragments(rng, count, lambda e: not has(e, Function, Let, Match) and _tree(e))


def _tree(expr: Expr) -> bool:
    """Return whether no call is shared."""
    uses = Counter(part for node in post_order(expr) for part in children(node))
    return not any(n > 1 for part, n in uses.items() if not isinstance(part, (Var, Op)))


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written("(%x: int32) { %0 = negative(%x); add(%0, %0) }")
    yield from fragments(rng, count, lambda e: not has(e, Function, Let, Match) and not _tree(e))
    rungs = "".join(f"%{n} = add(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f"(%x: int32) {{ %0 = negative(%x); {rungs} negative(%39) }}")[0]


def _everywhere(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: int32) { let %y = negative(%x); add(%y, %y) }",
        "(%x: int32) { fn (%y: int32) { add(%x, %y) } }",
        "(%x: int32) { (fn (%y: int32) { negative(%y) })(%x) }",
        _LIST + "def @main(%l: List[int32]) { match (%l) { "
        "Cons(%x, Nil) => { negative(%x) }, Cons(%y, _) => { abs(%y) }, Nil => { add(1, 2) } } }",
    )
    yield from fragments(rng, count, lambda e: has(e, Function, Let, Match))


def _models(rng: random.Random, count: int) -> Iterator[IRModule]:
    from ... import models

    for name in ("lenet", "dqn", "resnet18"):
        yield models.load(name)


def _tensors(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%w: Tensor[(3, 2), float32]) { %w }",
        "(%b: float32) { %b }",
        "(%data: Tensor[(1, 4), float32], %w: Tensor[(3, 4), float32]) { nn.dense(%data, %w) }",
    )
    for number in range(count // 2):
        yield _network(rng, number % 5, tuples=False)


def _tuples(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%w: (Tensor[(3, 2), float32], Tensor[(3), float32])) { %w.0 }",
        "(%w: (float32, (Tensor[(2), float32], Tensor[(5), float32]))) { %w.0 }",
    )
    for number in range(count // 2):
        yield _network(rng, number % 5, tuples=True)


def _constants(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: float32) { add(%x, 1f) }",
        "(%data: Tensor[(2, 2), float32]) { add(%data, 1f) }",
    )
    data = Var("data", TensorType((2,), "float32"))
    one = const([1.0, 2.0], "float32")
    add = Op.get("add")
    yield IRModule.from_expr(Function([data], Call(add, [Call(add, [data, one]), one])))
    yield from (m for m in fragments(rng, count, lambda e: not has(e, Function)) if _static(m))


def _inner(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written("(%x: float32) { fn (%y: Tensor[(3), float32]) { add(%x, %y) } }")
    yield from (m for m in fragments(rng, count, lambda e: has(e, Function)) if _static(m))


def _static(module: IRModule) -> bool:
    """Return whether the size of every parameter of `@main` is known."""
    return all(_known(p.type_annotation) for p in main_of(module).params)


def _known(type_: Type | None) -> bool:
    if isinstance(type_, TensorType):
        return type_.is_static
    return all(map(_known, type_.fields)) if isinstance(type_, TupleType) else True


def _network(rng: random.Random, parts: int, tuples: bool) -> IRModule:
    """Build a function of some parameters, `data` among them, that returns them."""

    def type_(depth: int) -> Type:
        if tuples and depth and rng.random() < 0.5:
            return TupleType([type_(depth - 1) for _ in range(rng.randint(0, 3))])
        return TensorType([rng.randint(1, 5) for _ in range(rng.randint(0, 3))], "float32")

    names = ["data", *(f"w{n}" for n in range(parts))]
    rng.shuffle(names)
    params = [Var(name, type_(2)) for name in names]
    return IRModule.from_expr(Function(params, Tuple(params)))


EXERCISE = {
    "operators": Exercise(
        "count_operators",
        "count_operators(function)",
        properties(
            _judge_operators,
            ("calls", "every operator call is counted, by name", _calls),
            ("shared", "a shared call is counted once", _shared),
            ("everywhere", "calls in `let`, functions and `match` are counted, too", _everywhere),
            ("models", "the counts of whole networks are right", _models),
        ),
    ),
    "parameters": Exercise(
        "count_parameters",
        "count_parameters(function, inputs)",
        properties(
            _judge_parameters,
            ("tensors", "a tensor has as many elements as its dimensions multiply to", _tensors),
            ("tuples", "a tuple has as many elements as its fields together", _tuples),
            ("constants", "each constant counts once", _constants),
            ("inner", "parameters of nested functions do not count", _inner),
            ("models", "the counts of whole networks are right", _models),
        ),
    ),
}
