"""Where the variable of a `let` can be used."""

from __future__ import annotations

from relay_explorer.analysis import let_scopes
from relay_explorer.ir import Call, Let, Op
from relay_explorer.text import parse

PROGRAM = """
def @main(%x: float32) {
  let %a = tanh(%x);
  let %b = exp(%a);
  let %d = %b;
  add(%a, %b)
}
"""


def test_scopes_from_the_outside_in() -> None:
    scopes = let_scopes(parse(PROGRAM)["main"])
    assert [s.variable.name_hint for s in scopes] == ["a", "b", "d"]
    assert [s.let.var for s in scopes] == [s.variable for s in scopes]


def test_who_uses_a_variable() -> None:
    users = {s.variable.name_hint: s.users for s in let_scopes(parse(PROGRAM)["main"])}
    names = {
        v: [u.op.name if isinstance(u, Call) and isinstance(u.op, Op) else type(u).__name__ for u in result]
        for v, result in users.items()
    }
    assert {v: sorted(result) for v, result in names.items()} == {
        "a": ["add", "exp"],
        "b": ["Let", "add"],
        "d": [],
    }


def test_a_variable_that_is_the_result_is_used_by_its_let() -> None:
    (scope,) = let_scopes(parse("def @main(%x: float32) { let %a = tanh(%x); %a }")["main"])
    assert scope.users == (scope.let,)
    assert isinstance(scope.let, Let)
