"""The checks of the exercise `free_variables`."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any as Anything

from ...ir.adt import Match, pattern_vars
from ...ir.expr import Expr, Function, Let, Var
from ...ir.module import IRModule
from ...ir.walk import bound_vars, children, free_vars, post_order
from ..answer_values import repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, crashed
from ..feedback import Failure
from ..fragments import fragments, has, main_of, properties, snapshot, text, written
from ..renaming import renamed

VIEW, CAPTION = "ir", "The expression is the body of this function"


def _judge(answer: Anything, module: IRModule) -> Failure | None:
    """Return how `answer` fails on the body of `@main`."""
    expr = main_of(module).body
    right = set(free_vars(expr))
    before = snapshot(expr)
    outcome = limited(CASE_SECONDS, answer, expr)
    got, hint = "", ""
    if outcome.error is None:
        got, hint = _compared(expr, right, outcome.value)
        if not got and snapshot(expr) != before:
            got = "the expression has been changed"
            hint = "The function must leave the expression as it is."
        if not got:
            return None
    case = f"free_variables(body), the body in\n{text(module)}"
    if outcome.error is not None:
        hint = _crash_hint(outcome.error)
        more = {"program": module, "view": VIEW, "caption": CAPTION}
        return crashed(case, outcome, _names(right), hint=hint, **more)
    return Failure(case, _names(right), got, hint, module, VIEW, CAPTION, outcome.printed)


def _names(variables: Iterable[Var]) -> str:
    return "{" + ", ".join(sorted(f"%{v.name_hint}" for v in variables)) + "}"


def _compared(expr: Expr, right: set[Var], value: Anything) -> tuple[str, str]:
    """Describe the result, and the mistake that explains it; two empty strings if it is right."""
    if not isinstance(value, (set, frozenset, list, tuple, dict)):
        return (
            f"{repr_of(value)}, a {type(value).__name__}",
            "The function must return a set. Does every path through it end in a `return`?",
        )
    wrong = next((v for v in value if not isinstance(v, Var)), None)
    if wrong is not None:
        description = wrong if isinstance(wrong, str) else f"a {type(wrong).__name__}"
        return (
            f"a set that contains {repr_of(description, 100)}",
            "The elements are variables, `relay.Var`, and neither names nor anything else. "
            "Global functions, operators and constructors are not variables.",
        )
    got = set(value)
    if got == right:
        return "", ""
    missing, extra = right - got, got - right
    if missing:
        return _names(got), _missing_hint(expr, next(v for v in free_vars(expr) if v in missing), got)
    return _names(got), _extra_hint(expr, next(v for v in [*bound_vars(expr), *extra] if v in extra))


def _missing_hint(expr: Expr, var: Var, got: set[Var]) -> str:
    """Describe where the first use of a missing variable is."""
    name = f"`%{var.name_hint}`"
    if expr is var:
        return f"The expression is the variable {name} itself: there it is free."
    if any(b.name_hint == var.name_hint for b in bound_vars(expr)) or any(
        g.name_hint == var.name_hint for g in got
    ):
        return f"Two variables are called {name}. They are two objects: compare the objects, not their names."
    for node in post_order(expr):
        if isinstance(node, Let) and var in free_vars(node.value):
            return f"{name} is used in the value of a `let`. The value is part of the expression, too."
        if var in children(node):
            return f"{name} is used in {_place(node, var)}. {_KINDS.get(type(node).__name__, '')}".strip()
    return f"{name} is used, and nothing binds it."


_KINDS = {
    "Call": "The callee is part of the call, and so are all arguments.",
    "If": "An `if` has three parts: the condition and two branches.",
    "Match": "A `match` has its data, and a right-hand side in every clause.",
    "Let": "A `let` has two parts: the value, and the body, which is the result.",
}


def _place(node: Expr, var: Var) -> str:
    kind = type(node).__name__
    if kind == "Call":
        return "the callee of a call" if getattr(node, "op", None) is var else "an argument of a call"
    return f"a `{kind}`"


def _extra_hint(expr: Expr, var: Var) -> str:
    """Explain what binds a variable that the answer considers free."""
    name = f"`%{var.name_hint}`"
    for node in post_order(expr):
        if isinstance(node, Function) and var in node.params:
            return f"{name} is a parameter of a function in the expression: the function binds it."
        if isinstance(node, Let) and node.var is var:
            if var in free_vars(node.value):
                return (
                    f"{name} is bound by a `let` whose value is a recursive function: in "
                    "Relay, such a value may use the variable of its own `let`."
                )
            return (
                f"{name} is bound by a `let`, so it is not free in the body, and the binding "
                "itself is not a use."
            )
        if isinstance(node, Match):
            for clause in node.clauses:
                if var in pattern_vars(clause.lhs):
                    deep = var not in [getattr(p, "var", None) for p in getattr(clause.lhs, "patterns", ())]
                    where = " Patterns may be nested." if deep else ""
                    return f"{name} is bound by the pattern of a clause.{where}"
    return f"{name} does not occur in the expression at all: is it left from an earlier call?"


def _crash_hint(error: BaseException) -> str:
    if isinstance(error, AttributeError):
        return "Each kind of expression has its own fields: use isinstance to test which kind it is."
    return ""


# -- test cases


_LIST = "type List[A] { Cons(A, List[A]), Nil }\n"


def _plain(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: int32) { %x }",
        "(%x: int32) { (%x, 1) }",
        "(%c: bool, %x: int32, %y: int32) { if (%c) { %x } else { %y } }",
        "(%f: fn (int32) -> int32, %x: int32) { %f(add(%x, %x)) }",
        "(%r: ref(int32), %x: int32) { ref_write(%r, %x) }",
        "(%t: (int32, int32)) { %t.0 }",
    )
    yield from fragments(rng, count, lambda e: not has(e, Function, Let, Match))


def _functions(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%y: int32) { fn (%x: int32) { add(%x, %y) } }",
        "(%y: int32) { fn (%x: int32) { fn (%z: int32) { (%x, %y, %z) } } }",
    )
    yield from fragments(rng, count, lambda e: has(e, Function) and not has(e, Let, Match))


def _lets(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        "(%x: int32, %y: int32) { let %a = add(%x, 1); add(%a, %y) }",
        "(%x: int32) { let %f = fn (%n: int32) -> int32 { if (%n == 0) { %x } else { %f(%n - 1) } }; %f(3) }",
    )
    yield from fragments(rng, count, lambda e: has(e, Let) and not has(e, Match))


def _matches(rng: random.Random, count: int) -> Iterator[IRModule]:
    yield from written(
        _LIST
        + "def @main(%xs: List[int32], %z: int32) { match (%xs) { Cons(%x, _) => { %x }, Nil => { %z } } }",
        _LIST
        + "def @main(%xs: List[int32], %z: int32) "
        + "{ match (%xs) { Cons(%x, Cons(%y, %r)) => { (%x, %y, %r) }, %o => { (%z, %z, %o) } } }",
    )
    yield from fragments(rng, count, lambda e: has(e, Match))


def _names_alike(rng: random.Random, count: int) -> Iterator[IRModule]:
    """Yield programs in which all variables have the same name."""
    for module in [*_functions(rng, count // 3), *_lets(rng, count // 3), *_matches(rng, count // 3)]:
        yield _renamed(module)


def _renamed(module: IRModule) -> IRModule:
    """Rename every variable of `@main` to `%x`."""
    functions = dict(module.functions)
    functions[module.get_global_var("main")] = renamed(main_of(module), lambda var: "x")
    return IRModule(functions, module.type_definitions)


def _shared(rng: random.Random, count: int) -> Iterator[IRModule]:
    """Yield ladders: every rung uses the previous one twice, so there are 2ⁿ paths from top to bottom."""
    for rungs in (2, 8, 40):
        lines = "".join(f"  %{n} = add(%{n - 1}, %{n - 1});\n" for n in range(1, rungs))
        yield written(f"(%x: int32) {{\n  %0 = negative(%x);\n{lines}  negative(%{rungs - 1})\n}}")[0]


EXERCISE = {
    "": Exercise(
        "Free variables",
        "free_variables(expr)",
        properties(
            _judge,
            ("uses", "every use of a variable is found, in any position", _plain),
            ("functions", "a function binds its parameters in its body", _functions),
            ("lets", "a `let` binds its variable", _lets),
            ("matches", "a clause binds the variables of its pattern", _matches),
            ("names", "variables with the same name are distinguished", _names_alike),
            ("shared", "shared expressions are visited once", _shared),
        ),
    ),
}
