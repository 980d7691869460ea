"""The checks of the exercise `alpha_equivalence`."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything
from typing import NamedTuple

from ...ir.adt import Match
from ...ir.equal import structural_equal
from ...ir.errors import RelayError
from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, Tuple, TupleGetItem, Var, const
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, free_vars, post_order, rebuild
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, crashed
from ..feedback import Failure
from ..fragments import fragments, has, main_of, smallest_failure, snapshot, text, written
from ..renaming import renamed
from . import binders

VIEW, CAPTION = "ir", "The two expressions, each the body of a function"
_LIST = "type List[A] { Cons(A, List[A]), Nil }\n"
_OTHER = {
    "add": "subtract", "subtract": "add", "multiply": "maximum", "maximum": "minimum", "minimum": "add",
    "negative": "abs", "abs": "negative", "exp": "tanh", "tanh": "exp", "sigmoid": "exp", "sqrt": "exp",
    "nn.relu": "tanh", "floor": "abs", "less": "greater_equal", "greater_equal": "less", "equal": "less",
}  # fmt: skip


class Pair(NamedTuple):
    """Two expressions, and whether they are equal; `why` is the reason."""

    left: Expr
    right: Expr
    equal: bool
    why: str


Make = Callable[[Function, random.Random], Pair | None]


def _judge(answer: Anything, module: IRModule, pair: Pair) -> Failure | None:
    for left, right in ((pair.left, pair.right), (pair.right, pair.left)):
        before = snapshot(left), snapshot(right)
        outcome = limited(CASE_SECONDS, answer, left, right)
        got, hint = "", ""
        if outcome.error is None:
            if not isinstance(outcome.value, bool):
                got = f"{repr_of(outcome.value)}, a {type(outcome.value).__name__}"
                hint = "The function must return True or False. Does every path through it end in a `return`?"
            elif outcome.value is not pair.equal:
                got, hint = str(outcome.value), _hint(left, right, pair)
            elif (snapshot(left), snapshot(right)) != before:
                got, hint = "an expression has been changed", "The function must not change the expressions."
            else:
                continue
        program = _both(module, left, right)
        case = f"alpha_equal(left, right), the bodies in\n{text(program)}"
        expected = f"{pair.equal}: {pair.why}"
        if outcome.error is not None:
            hint = (
                "A variable may be free: then no binder has recorded it."
                if isinstance(outcome.error, KeyError)
                else ""
            )
            return crashed(case, outcome, expected, program=program, view=VIEW, caption=CAPTION, hint=hint)
        return Failure(case, expected, got, hint, program, VIEW, CAPTION, outcome.printed)
    return None


def _both(module: IRModule, left: Expr, right: Expr) -> IRModule:
    """Build a module to show: `@left` and `@right`, with the free variables of both as parameters."""
    params = dict.fromkeys([*free_vars(left), *free_vars(right)])
    functions = {var: f for var, f in module.functions.items() if var.name_hint != "main"}
    for name, body in (("left", left), ("right", right)):
        functions[GlobalVar(name)] = Function(list(params), body)
    return IRModule(functions, module.type_definitions)


def _hint(left: Expr, right: Expr, pair: Pair) -> str:
    if pair.equal:
        if left is right:
            return "Every expression is equal to itself, and so is every free variable."
        return (
            "They differ only in the names of bound variables. When two variables are bound, "
            "record that they correspond, and compare uses with that record. Never compare "
            "names."
        )
    mine, others = free_vars(left), free_vars(right)
    if set(mine) != set(others):
        return (
            "A variable that is free on one side is equal to one on the other side only if "
            "that one is free and the same object. It is never equal to a variable that is "
            "bound on one side."
        )
    if len(children(left)) != len(children(right)) or _zipped(left, right):
        return (
            "They have different numbers of parts. `zip` silently stops at the end of the shorter sequence."
        )
    if "different variables" in pair.why:
        return (
            "Variables correspond one-to-one, so look the correspondence up in both "
            "directions. Two variables of one side must not correspond to the same variable "
            "of the other."
        )
    return (
        "Two expressions other than variables must agree in what `same_label` compares, and in "
        "all of their parts."
    )


def _zipped(left: Expr, right: Expr) -> bool:
    """Return whether two tuples or calls with different numbers of parts correspond."""
    sizes = [[len(n.fields) for n in post_order(e) if isinstance(n, Tuple)] for e in (left, right)]
    return sizes[0] != sizes[1]


# -- pairs


def _itself(function: Function, rng: random.Random) -> Pair:
    return Pair(function.body, function.body, True, "they are the same expression")


def _renamed(function: Function, rng: random.Random) -> Pair:
    """Pair the function with a copy in which variables swap names."""
    names = [var.name_hint for node in post_order(function) for var in binders(node)] or ["x"]
    other = renamed(function, lambda var: rng.choice(names))
    return Pair(function, other, True, "only the names of bound variables differ")


def _changed(change: Callable[[Expr, random.Random], Expr | None], why: str) -> Make:
    """Pair a function with copies in which one expression is changed."""

    def make(function: Function, rng: random.Random) -> Pair | None:
        places = [n for n in post_order(function.body) if change(n, random.Random(0)) is not None]
        if not places:
            return None
        place = rng.choice(places)
        new = change(place, rng)
        assert new is not None
        memo: dict[Expr, Expr] = {}
        for node in post_order(function.body):
            memo[node] = new if node is place else rebuild(node, [memo[c] for c in children(node)])
        result = renamed(
            Function(function.params, memo[function.body], function.ret_type), lambda v: v.name_hint
        )
        return None if structural_equal(function, result) else Pair(function, result, False, why)

    return make


def _other_label(node: Expr, rng: random.Random) -> Expr | None:
    """Replace the operator, constant, field index or number of fields of an expression."""
    match node:
        case Call() if isinstance(node.op, Op) and node.op.name in _OTHER:
            return Call(Op.get(_OTHER[node.op.name]), node.args, node.attrs)
        case Constant() if not node.data.shape:
            value = node.data.numpy().item()
            return const(not value if isinstance(value, bool) else value + 3, node.data.dtype)
        case TupleGetItem():
            return TupleGetItem(node.tuple_value, node.index + 1)
        case Tuple() if node.fields:
            return Tuple(node.fields[:-1])
    return None


def _other_use(function: Function, rng: random.Random) -> Pair | None:
    """Pair a function with one that uses another of its parameters in one place."""

    def change(node: Expr, inner: random.Random) -> Expr | None:
        if not isinstance(node, (Call, Tuple)):
            return None
        inputs = list(children(node))
        at = [n for n, part in enumerate(inputs) if isinstance(part, Var)]
        for n in inner.sample(at, len(at)):
            others = [p for p in function.params if p is not inputs[n]]
            if others:
                inputs[n] = inner.choice(others)
                return rebuild(node, inputs)
        return None

    why = "in one place, the two use different variables"
    return _changed(change, why)(function, rng)


def _free(function: Function, rng: random.Random) -> Pair | None:
    """Pair the body with that of a copy whose parameters are other variables with the same names."""
    if not free_vars(function.body):
        return None
    other = renamed(function, lambda var: var.name_hint).body
    return Pair(function.body, other, False, "they use different free variables with the same name")


def _captured(function: Function, rng: random.Random) -> Pair | None:
    """Pair a function that uses a free variable with one that binds this variable."""
    free = free_vars(function.body)
    if not free:
        return None
    y = free[0]
    left = Function([Var(y.name_hint, y.type_annotation)], function.body)
    return Pair(
        left, Function([y], function.body), False, f"%{y.name_hint} is free in one, and bound in the other"
    )


# -- test cases


def _cases(
    texts: Iterable[str], accept: Callable[[Expr], bool] | None, *makes: Make
) -> Callable[[random.Random, int], Iterator[tuple[IRModule, Make]]]:
    def cases(rng: random.Random, count: int) -> Iterator[tuple[IRModule, Make]]:
        for module in written(*texts):
            for make in makes:
                yield module, make
        for number, module in enumerate(fragments(rng, count, accept)):
            yield module, makes[number % len(makes)]

    return cases


def _ladders(rng: random.Random, count: int) -> Iterator[tuple[IRModule, Make]]:
    for rungs in (3, 40):
        lines = "".join(f"%{n} = add(%{n - 1}, %{n - 1}); " for n in range(1, rungs))
        module = written(f"(%x: int32) {{ %0 = negative(%x); {lines} negative(%{rungs - 1}) }}")[0]
        yield module, _renamed


def _property(
    name: str, says: str, cases: Callable[[random.Random, int], Iterable[tuple[IRModule, Make]]]
) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        for module, make in cases(rng, count):
            seed = rng.random()

            def judge(candidate: IRModule, make: Make = make, seed: float = seed) -> Failure | None:
                try:
                    pair = make(main_of(candidate), random.Random(seed))
                except (KeyError, RelayError):  # shrunk so that there is nothing left to compare
                    return None
                return None if pair is None else _judge(answer, candidate, pair)

            failure = smallest_failure(judge, [module])
            if failure is not None:
                return failure
        return None

    return Property(name, says, test)


_SIMPLE = (
    "(%x: int32) { %x }",
    "(%x: int32, %y: int32) { (%x, %y) }",
    "(%x: int32, %y: int32) { subtract(%x, %y) }",
)
_BINDING = (
    "(%x: int32) { let %y = negative(%x); add(%x, %y) }",
    "(%x: int32) { fn (%y: int32) { subtract(%x, %y) } }",
    "(%a: int32) { fn (%x: int32) { fn (%y: int32) { (%x, %y, %a) } } }",
    "(%x: int32) { let %f = fn (%n: int32) -> int32 { if (%n == 0) { %x } else { %f(%n - 1) } }; %f(3) }",
)
_MATCHING = (
    _LIST + "def @main(%l: List[int32], %z: int32) { match (%l) { Cons(%x, _) => { %x }, Nil => { %z } } }",
    _LIST + "def @main(%l: List[int32], %z: int32) "
    "{ match (%l) { Cons(%x, Cons(%y, _)) => { (%y, %x) }, %o => { (%z, %z) } } }",
)
EXERCISE = {
    "": Exercise(
        "Alpha-equivalence",
        "alpha_equal(left, right)",
        (
            _property(
                "renamed",
                "renaming bound variables changes nothing",
                _cases([*_SIMPLE, *_BINDING], lambda e: not has(e, Match), _itself, _renamed),
            ),
            _property(
                "different",
                "expressions with a different operator, constant or number of parts are not equal",
                _cases(
                    [*_SIMPLE, *_BINDING, "(%x: int32) { add(%x, 1) }", "(%t: (int32, int32)) { %t.0 }"],
                    lambda e: not has(e, Match),
                    _changed(_other_label, "one of their parts differs"),
                ),
            ),
            _property(
                "variables",
                "a bound variable equals its counterpart, and no other variable",
                _cases([*_SIMPLE, *_BINDING], lambda e: len(free_vars(e)) > 1, _other_use),
            ),
            _property(
                "free",
                "a free variable equals itself, and no bound variable",
                _cases([*_SIMPLE, *_BINDING], lambda e: bool(free_vars(e)), _free, _captured),
            ),
            _property(
                "matches",
                "patterns bind variables, too",
                _cases(
                    _MATCHING,
                    lambda e: has(e, Match),
                    _renamed,
                    _changed(_other_label, "one of their parts differs"),
                ),
            ),
            _property("shared", "shared expressions are compared once", _ladders),
        ),
    ),
}
