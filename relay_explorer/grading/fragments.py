"""Programs for checking code that reads or rewrites expressions: each is a part of a random program, as the
body of a `@main` whose parameters are the variables that the part uses; the smallest come first.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any as Anything

from ..ir.errors import RelayError
from ..ir.expr import Expr, Function, GlobalVar, Var
from ..ir.module import IRModule
from ..ir.op import Op
from ..ir.walk import children, free_vars, post_order, rewrite
from ..testing import generate, shrink
from .budget import Allowance
from .check import SHRINK_SECONDS, Property
from .feedback import Failure

LARGEST = 70  # maximum number of expressions in a fragment
_TRIES = 400  # smaller programs that are tried
Judge = Callable[[IRModule], Failure | None]
Accept = Callable[[Expr], bool]


def written(*texts: str) -> list[IRModule]:
    """Build handwritten programs from the parameters and the body of `@main`: `(%x: int32) { %x }`."""
    from ..text import parse

    return [parse(f'#[version = "0.0.5"]\n{text}' if "@main" in text else _whole(text)) for text in texts]


def _whole(text: str) -> str:
    return f'#[version = "0.0.5"]\ndef @main{text}'


def fragments(rng: random.Random, count: int, accept: Accept | None = None) -> Iterator[IRModule]:
    """Generate about `count` programs whose `@main` is a part of a random program that `accept` accepts."""
    for number in range(count):
        largest = min(LARGEST, 4 + number)
        result = generate(rng, size=10 + largest // 2)
        functions = list(result.module.functions.values())
        parts = [
            part
            for function in functions
            for part in post_order(function)
            if part in result.types
            and not isinstance(part, (Var, Op, GlobalVar))
            and (accept is None or accept(part))
            and len(post_order(part)) <= largest
        ]
        if not parts:
            continue
        # Of several, choose one of the larger: the small ones are many and similar.
        chosen = max(rng.sample(parts, min(4, len(parts))), key=lambda part: len(post_order(part)))
        yield closed(result.module, chosen, result.types)


def closed(module: IRModule, part: Expr, types: Anything) -> IRModule:
    """Build the module with `part` as the body of `@main`, and a parameter for each of its free variables."""
    params = {var: Var(var.name_hint, types[var]) for var in free_vars(part)}
    body = rewrite(part, lambda node: params.get(node) if isinstance(node, Var) else None)
    functions = {var: f for var, f in module.functions.items() if var.name_hint != "main"}
    used = _used(body, functions)
    remaining = {var: f for var, f in functions.items() if var in used}
    main = Function(list(params.values()), body)
    return IRModule({**remaining, GlobalVar("main"): main}, module.type_definitions)


def _used(body: Expr, functions: dict[GlobalVar, Function]) -> set[GlobalVar]:
    """Return the module's functions that `body` needs."""
    result: set[GlobalVar] = set()
    pending: list[Expr] = [body]
    while pending:
        for node in post_order(pending.pop()):
            if isinstance(node, GlobalVar) and node not in result and node in functions:
                result.add(node)
                pending.append(functions[node])
    return result


def main_of(module: IRModule) -> Function:
    """Return the function that a case tests."""
    main = module["main"]
    assert isinstance(main, Function)
    return main


def has(expr: Expr, *kinds: type[Expr]) -> bool:
    """Return whether `expr` contains an expression of one of these kinds."""
    return any(isinstance(node, kinds) for node in post_order(expr))


def smallest_failure(judge: Judge, cases: Iterable[IRModule]) -> Failure | None:
    """Return the failure of the first failing case, on the smallest program that also fails."""
    failing = next(((case, failure) for case in cases if (failure := judge(case)) is not None), None)
    if failing is None:
        return None
    small, failure = failing
    time = Allowance(SHRINK_SECONDS)

    def fails(module: IRModule) -> bool:
        return time.left() and judge(module) is not None

    if _well_typed(small):
        small = shrink(small, fails, _TRIES)
    else:
        small = next((part for part in _parts(small) if fails(part)), small)
    return judge(small) or failure


def properties(
    judge: Callable[[Anything, IRModule], Failure | None],
    *rows: tuple[str, str, Callable[[random.Random, int], Iterable[IRModule]]],
) -> tuple[Property, ...]:
    """Build a property from each row: its name, its statement, and the programs to test; `judge` checks the
    result of an answer for one.
    """

    def one(name: str, says: str, cases: Callable[[random.Random, int], Iterable[IRModule]]) -> Property:
        def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
            return smallest_failure(lambda module: judge(answer, module), cases(rng, count))

        return Property(name, says, test)

    return tuple(one(*row) for row in rows)


def _well_typed(module: IRModule) -> bool:
    from ..typing import infer_types

    try:
        infer_types(module)
    except RelayError:
        return False
    return True


def _parts(module: IRModule) -> Iterator[IRModule]:
    """Iterate over the parts of `@main`, each as a program of its own, the innermost first."""
    for part in post_order(main_of(module).body):
        used = free_vars(part)
        if children(part) and all(var.type_annotation is not None for var in used):
            yield closed(module, part, {var: var.type_annotation for var in used})


def snapshot(expr: Expr) -> list[tuple[Anything, ...]]:
    """Return the contents of `expr`. Two snapshots differ if it was changed in between."""
    return [
        (node, children(node), getattr(node, "attrs", None), getattr(node, "index", None))
        for node in post_order(expr)
    ]


def text(module: IRModule) -> str:
    """Return the program as feedback shows it: without type comments, even if types are known."""
    shown = re.sub(r" /\* ty=[^*]* \*/", "", module.astext(show_meta_data=False)).strip()
    return shown.removeprefix('#[version = "0.0.5"]').strip()
