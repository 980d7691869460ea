"""Variables of expressions: which there are, in which order, and what tells them apart."""

from __future__ import annotations

from relay_explorer import relay
from relay_explorer.ir.walk import all_vars, bound_vars, free_vars

PROGRAM = """
#[version = "0.0.5"]
type Pair { Pair(int32, int32) }
def @main(%p: Pair, %k: int32) {
  let %f = fn (%a: int32) { let %b = add(%a, %k); multiply(%b, %b) };
  match (%p) { Pair(%x, %y) => { add(%f(%x), %y) } }
}
"""


def names(variables: list[relay.Var]) -> str:
    return " ".join(v.name_hint for v in variables)


def test_variables_come_in_the_order_of_the_text() -> None:
    main = relay.fromtext(PROGRAM)["main"]
    assert names(all_vars(main)) == "p k f a b x y"
    assert names(bound_vars(main)) == "p k f a b x y"
    assert names(bound_vars(main.body)) == "f a b x y"
    assert names(free_vars(main.body)) == "k p"


def test_a_binder_comes_before_the_free_variables_of_its_value() -> None:
    x, y, z = relay.var("x"), relay.var("y"), relay.var("z")
    let = relay.Let(x, relay.Tuple([y, x]), z)
    assert all_vars(let) == [x, y, z]
    assert bound_vars(let) == [x]
    assert free_vars(let) == [y, z]


def test_a_deep_program_has_its_variables_found() -> None:
    x = relay.var("x")
    body: relay.Expr = x
    bound = [relay.var(f"v{k}") for k in range(50_000)]
    for var in reversed(bound):
        body = relay.Let(var, x, body)
    assert bound_vars(body) == bound
    assert free_vars(body) == [x]


def test_the_identity_of_a_variable_is_that_of_no_other() -> None:
    x, y = relay.var("x"), relay.var("x")
    assert x.vid == x.vid
    assert hash(x.vid) == hash(x.vid)
    assert x.vid != y.vid
    assert x.vid != x
    assert x.vid.name_hint == "x"
    assert repr(x.vid) == "Id(x)"


def test_a_tensor_type_stands_for_its_element_type() -> None:
    assert relay.const(3, relay.scalar_type("int64")).data.dtype == "int64"
    x = relay.var("x", shape=(2,), dtype=relay.TensorType((7,), "int8"))
    assert x.type_annotation == relay.TensorType((2,), "int8")


def test_a_pattern_prints_as_text() -> None:
    text = """
type Pair { Pair(int32, (int32, bool)), Nothing }
def @main(%p: (Pair,)) {
  match (%p) { (Pair(%x, (_, %b)),) => { 1 }, (Nothing,) => { 2 }, %all => { 3 }, }
}
"""
    body = relay.fromtext('#[version = "0.0.5"]' + text)["main"].body
    assert isinstance(body, relay.Match)
    assert [repr(c.lhs) for c in body.clauses] == ["(Pair(%x, (_, %b)),)", "(Nothing,)", "%all"]
    deep: relay.Pattern = relay.PatternTuple([])
    for _ in range(20_000):
        deep = relay.PatternTuple([deep, relay.PatternWildcard()])
    assert repr(deep).startswith("((((((")
