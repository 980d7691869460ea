"""Random programs for the exercise `partial_evaluator`: integers and Booleans, `let`, `if`, and functions
of the module. A recursive function counts its first parameter down, and terminates below 1.
"""

from __future__ import annotations

import random
from collections.abc import Iterator

from ...ir.expr import Call, Constant, Expr, Function, GlobalVar, If, Let, Tuple, Var
from ...ir.module import IRModule
from ...ir.op import Op
from ...ir.walk import children, post_order
from ..fragments import written

_ARITHMETIC = ("add", "subtract", "maximum", "minimum")
_COMPARISONS = ("less", "less_equal", "greater", "equal")


class Writer:
    """Generate one program, with the choices of `rng`."""

    def __init__(self, rng: random.Random, lets: bool, branches: bool, functions: tuple[str, ...]) -> None:
        self.rng = rng
        self.lets, self.branches, self.functions = lets, branches, functions
        self.names = 0

    def number(self, depth: int, scope: list[str]) -> str:
        """Generate an expression of type int32 over the variables of `scope`."""
        rng, kind = self.rng, self.rng.random()
        if depth == 0 or kind < 0.15:
            return rng.choice(scope) if scope and rng.random() < 0.6 else str(rng.randint(0, 5))
        if kind < 0.3 and self.lets:
            self.names += 1
            name = f"%v{self.names}"
            value = self.operand(depth - 1, scope)
            return f"let {name} = {value}; {self.number(depth - 1, [*scope, name])}"
        if kind < 0.5 and self.branches:
            yes, no = self.number(depth - 1, scope), self.number(depth - 1, scope)
            return f"(if ({self.truth(depth - 1, scope)}) {{ {yes} }} else {{ {no} }})"
        if kind < 0.75 and self.functions:
            name = rng.choice(self.functions)
            known = str(rng.randint(0, 4)) if rng.random() < 0.6 else self.operand(depth - 1, scope)
            if name.startswith("@down") and not known.isdigit():  # counts down from a small number
                known = f"minimum({known}, 3)"
            return f"{name}({known}, {self.operand(depth - 1, scope)})"
        if kind < 0.82:
            return f"multiply({self.operand(depth - 1, scope)}, {rng.randint(0, 3)})"
        if kind < 0.88:
            return f"negative({self.operand(depth - 1, scope)})"
        left, right = self.operand(depth - 1, scope), self.operand(depth - 1, scope)
        return f"{rng.choice(_ARITHMETIC)}({left}, {right})"

    def operand(self, depth: int, scope: list[str]) -> str:
        """Generate an expression that may be an argument, where a `let` may not be."""
        lets, self.lets = self.lets, False
        result = self.number(depth, scope)
        self.lets = lets
        return result

    def truth(self, depth: int, scope: list[str]) -> str:
        return f"{self.rng.choice(_COMPARISONS)}({self.operand(depth, scope)}, {self.operand(depth, scope)})"


def programs(
    rng: random.Random, count: int, lets: bool = False, branches: bool = False, calls: int = 0
) -> Iterator[IRModule]:
    """Yield random programs: with `calls` 1 some functions, with 2 recursive ones too."""
    for number in range(count):
        depth = 1 + number % 4
        yield written(_program(rng, depth, lets, branches, calls))[0]


def _program(rng: random.Random, depth: int, lets: bool, branches: bool, calls: int) -> str:
    parts, names = [], []
    if calls:
        body = Writer(rng, lets, branches, ()).number(min(depth, 2), ["%a", "%b"])
        parts.append(f"def @help(%a: int32, %b: int32) -> int32 {{ {body} }}")
        names.append("@help")
    if calls == 2:
        inner = Writer(rng, False, branches, tuple(names))
        base, step = inner.number(1, ["%b"]), inner.number(1, ["%n", "%b"])
        again = f"@down(subtract(%n, 1), {step})"
        use = rng.choice([again, f"add({again}, %b)", f"subtract({step}, {again})"])
        parts.append(
            f"def @down(%n: int32, %b: int32) -> int32 {{ if (less(%n, 1)) {{ {base} }} else {{ {use} }} }}"
        )
        names.append("@down")
    main = Writer(rng, lets, branches, tuple(names)).number(depth, ["%x", "%y"])
    parts.append(f"def @main(%x: int32, %y: int32) {{ {main} }}")
    return "\n".join(parts)


def ends(module: IRModule) -> bool:
    """Return whether a program certainly terminates: functions call those before them, and themselves with a
    smaller argument, below an `if` that tests whether the first parameter is below 1; `@main` is never
    called.
    """
    before: set[GlobalVar] = set()
    for var, function in module.functions.items():
        if not isinstance(function, Function):
            return False
        order = post_order(function.body)
        if not all(isinstance(n, (Var, Constant, Op, GlobalVar, Call, If, Let, Tuple)) for n in order):
            return False
        calls = [n for n in order if isinstance(n, Call) and isinstance(n.op, GlobalVar)]
        if any(isinstance(n, GlobalVar) for n in order) and not all(
            isinstance(n.op, (Op, GlobalVar)) for n in order if isinstance(n, Call)
        ):
            return False
        own = [call for call in calls if call.op == var]
        if any(call.op not in before for call in calls if call not in own):
            return False
        if own and not _counts_down(function, own):
            return False
        if var.name_hint != "main":
            before.add(var)
    return True


def _counts_down(function: Function, own: list[Call]) -> bool:
    body, first = function.body, function.params[0] if function.params else None
    if first is None or not isinstance(body, If) or not _is(body.cond, "less", first):
        return False
    outside = [*post_order(body.cond), *post_order(body.true_branch)]
    return all(call not in outside and _is(call.args[0], "subtract", first) for call in own)


def _is(expr: Expr, name: str, first: Var) -> bool:
    """Return whether it is `name(first, 1)`."""
    if not isinstance(expr, Call) or not isinstance(expr.op, Op) or expr.op.name != name:
        return False
    left, right = expr.args
    one = isinstance(right, Constant) and not right.data.shape and right.data.item() == 1
    return left is first and one and len(children(expr)) >= 2
