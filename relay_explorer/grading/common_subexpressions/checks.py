"""The checks of the exercise `common_subexpressions`."""

from __future__ import annotations

import random
from collections.abc import Hashable, Iterator

from ...ir.adt import Match
from ...ir.expr import Call, Constant, Expr, Function, If, Let, Tuple, TupleGetItem
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order, rebuild
from ..check import Exercise
from ..fragments import has, main_of, properties, written
from ..pass_checks import PassTask, closed_programs, operators


def _goal(before: Function, after: Function) -> tuple[str, str]:
    """Check that no computation is left twice, and that none is new."""
    first: dict[Hashable, Expr] = {}
    for node in post_order(after):
        key = _key(node)
        if key is None:
            continue
        earlier = first.setdefault(key, node)
        if earlier is not node:
            return _twice(node)
    new = operators(after) - operators(before)
    if new:
        name = next(iter(new))
        return (
            f"There are more calls of {name} than before.",
            "Keep shared expressions shared: visit each object once.",
        )
    return "", ""


def _key(node: Expr) -> Hashable | None:
    match node:
        case Call(op=Op() as op):
            attrs = repr(node.attrs.items()) if node.attrs is not None else ""
            return op.name, attrs, tuple(map(_argument, node.args))
        case TupleGetItem():
            return id(node.tuple_value), node.index
    return None


def _argument(arg: Expr) -> Hashable:
    if isinstance(arg, Constant) and not arg.data.shape:
        return arg.data
    return id(arg)


def _twice(node: Expr) -> tuple[str, str]:
    if isinstance(node, TupleGetItem):
        return (
            f"Field {node.index} of a tuple is projected twice.",
            "A projection is a computation, too: two projections of the same tuple and index are the same.",
        )
    assert isinstance(node, Call)
    name = getattr(node.op, "name", "")
    if any(isinstance(arg, Constant) for arg in node.args):
        hint = "Constants are objects, too: two constants with the same value are the same argument."
    elif any(isinstance(arg, (Call, TupleGetItem)) for arg in node.args):
        hint = "Visit a call after its arguments: once these have become one, the calls may be equal."
    else:
        hint = (
            "Two calls of an operator with equal attributes and the same arguments are the same computation."
        )
    return f"Two calls of {name} with the same attributes and arguments are left.", hint


TASK = PassTask("share_calls", _goal)


def _doubled(rng: random.Random, module: IRModule) -> IRModule:
    """Duplicate some of the shared expressions of a program."""
    memo: dict[Expr, Expr] = {}

    def copied(part: Expr) -> Expr:
        result = memo[part]
        if isinstance(result, Call) and isinstance(result.op, Op) and rng.random() < 0.6:
            return Call(result.op, result.args, result.attrs)
        if isinstance(result, TupleGetItem) and rng.random() < 0.6:
            return TupleGetItem(result.tuple_value, result.index)
        return result

    main = main_of(module)
    for node in post_order(main):
        shared = isinstance(node, (Call, Tuple, TupleGetItem))
        memo[node] = rebuild(node, [copied(c) if shared else memo[c] for c in children(node)])
    functions = {**module.functions, module.get_global_var("main"): memo[main]}
    return IRModule(functions, module.type_definitions)  # type: ignore[arg-type]  # a function stays a function


def _simple(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        '() { %0 = zeros(shape=[2], dtype="float32"); (exp(%0), exp(%0)) }',
        '() { %0 = zeros(shape=[2], dtype="float32"); add(tanh(%0), tanh(%0)) }',
        '() { %0 = ones(shape=[2], dtype="float32"); (exp(%0), tanh(%0)) }',
    )


def _chains(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        '() { %0 = zeros(shape=[2], dtype="float32"); (tanh(exp(%0)), tanh(exp(%0))) }',
    )
    for module in closed_programs(rng, count, lambda f: not has(f.body, Let, If, Function, Match)):
        yield _doubled(rng, module)


def _constants(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        '() { %0 = zeros(shape=[2], dtype="float32"); (add(%0, 1f), add(%0, 1f)) }',
        '() { %0 = zeros(shape=[2], dtype="float32"); (add(%0, 1f), add(%0, 2f)) }',
        "() { (add(1, 2), add(1, 2), add(2, 1)) }",
        "() { (negative(1), negative(1f)) }",
    )


def _attributes(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        '() { %0 = cumsum(ones(shape=[2, 2], dtype="float32"), axis=0); (sum(%0, axis=[0]), '
        "sum(%0, axis=[1]), sum(%0, axis=[0])) }",
        '() { (zeros(shape=[2], dtype="float32"), zeros(shape=[3], dtype="float32")) }',
        '() { %0 = ones(shape=[2], dtype="float32"); %1 = exp(%0); (subtract(%0, %1), subtract(%1, %0)) }',
    )


def _projections(rng: random.Random, count: int) -> Iterator[IRModule]:
    pair = '%0 = split(cumsum(ones(shape=[4], dtype="float32")), indices_or_sections=2)'
    yield from written(f"() {{ {pair}; (%0.0, %0.0, %0.1) }}", f"() {{ {pair}; (exp(%0.1), exp(%0.1)) }}")


def _everything(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "() { let %r = ref(1); let %f = fn () { let %u = ref_write(%r, add(ref_read(%r), 1)); "
        "ref_read(%r) }; "
        "let %a = %f(); let %b = %f(); (%a, %b) }",
        "() { let %r = ref(1); let %a = ref_read(%r); let %u = ref_write(%r, 2); (%a, ref_read(%r)) }",
        "() { (ref(1), ref(1)) }",
    )
    for module in closed_programs(rng, count):
        yield _doubled(rng, module)


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    lines = "".join(f"%{n} = add(%{n - 1}, %{n - 1}); " for n in range(1, 40))
    yield written(f'() {{ %0 = zeros(shape=[1], dtype="int32"); {lines} negative(%39) }}')[0]


EXERCISE = {
    "": Exercise(
        "Common subexpressions",
        "share_calls(function)",
        properties(
            TASK.judge,
            ("twice", "two equal calls become one", _simple),
            ("attributes", "calls that differ in any way stay separate", _attributes),
            ("chains", "calls become one when their arguments do", _chains),
            ("constants", "equal scalar constants are the same argument", _constants),
            ("projections", "two projections of a tuple become one", _projections),
            ("everything", "every program keeps its side effects", _everything),
            ("shared", "shared expressions are visited once", _shared),
        ),
    ),
}
