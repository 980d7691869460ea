"""Variables introduced once, and used in their scope."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.analysis import well_formed, why_ill_formed

x, y, z, v = (relay.var(name, "int32") for name in "xyzv")
F = relay.Function([x], x)
NONE = relay.prelude.Prelude().mod.get_type("Option")[2]
SOME = relay.prelude.Prelude().mod.get_type("Option")[1]


def some(variable: relay.Var, value: relay.Expr) -> relay.Clause:
    return relay.Clause(relay.PatternConstructor(SOME, [relay.PatternVar(variable)]), value)


GOOD = {
    "a free variable": x,
    "a let": relay.Let(x, v, x),
    "a let that uses itself": relay.Let(x, relay.Function([], x()), x),
    "a shared function": relay.Let(y, F, relay.Let(z, F, v)),
    "a match": relay.Match(NONE(), [some(x, x), relay.Clause(relay.PatternWildcard(), v)]),
}
BAD = {
    "let twice": (relay.Let(x, v, relay.Let(x, v, x)), "`%x` is introduced more than once"),
    "side by side": (
        relay.Tuple([relay.Let(x, v, x), relay.Let(x, v, x)]),
        "`%x` is introduced more than once",
    ),
    "one parameter twice": (relay.Function([x, x], x), "`%x` is introduced more than once"),
    "after its scope": (relay.Tuple([relay.Let(x, v, x), x]), "`%x` is used outside its scope"),
    "before its scope": (relay.Tuple([x, relay.Let(x, v, x)]), "`%x` is used before it is introduced"),
    "in another branch": (
        relay.If(v, relay.Let(x, v, x), x + x),
        "`%x` is used outside its scope",
    ),
    "in two clauses": (
        relay.Match(NONE(), [some(x, x), relay.Clause(relay.PatternVar(x), x)]),
        "`%x` is introduced more than once",
    ),
}


@pytest.mark.parametrize("name", GOOD)
def test_well_formed(name: str) -> None:
    assert well_formed(GOOD[name])


@pytest.mark.parametrize("name", BAD)
def test_ill_formed(name: str) -> None:
    expr, message = BAD[name]
    assert not well_formed(expr)
    result = why_ill_formed(expr)
    assert result is not None
    assert result.message == message


def test_modules() -> None:
    assert well_formed(relay.prelude.Prelude().mod)
    twice = relay.IRModule()
    twice["f"] = F
    twice["g"] = relay.Function([x], relay.Tuple([x]))
    assert not well_formed(twice)


def test_deep_programs() -> None:
    body: relay.Expr = v
    for _ in range(50_000):
        body = relay.Let(relay.var("a"), v, body)
    assert well_formed(body)
