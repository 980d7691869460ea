"""Visitors and mutators: order, sharing, depth, provenance."""

from __future__ import annotations

import sys

from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer.ir import (
    Call,
    Expr,
    ExprFunctor,
    ExprMutator,
    ExprVisitor,
    Function,
    If,
    Let,
    Match,
    Op,
    Tuple,
    TupleGetItem,
    post_order,
    rewrite,
    structural_equal,
    var,
)
from relay_explorer.ir.expr import Var
from relay_explorer.ir.narrow import as_call, as_op, as_tuple
from relay_explorer.text import parse

EVERYTHING = """
type L { C(float32, L), N }
def @f(%x: float32) -> float32 { %x }
def @main(%x: float32, %c: bool, %l: L) {
  let %r = ref(%x);
  let %u = ref_write(%r, exp(%x));
  let %g = fn (%a: float32) { add(%a, 1f) };
  %0 = (%x, @f(%x));
  if (%c) { %g(%0.1) } else { match (%l) { C(%h, _) => { %h }, N => { ref_read(%r) } } }
}
"""


class Order(ExprVisitor):
    """Notes each kind of expression, before and after its parts."""

    def __init__(self) -> None:
        super().__init__()
        self.log: list[str] = []

    def visit_call(self, call: Call) -> None:
        self.log.append(f"({as_op(call.op).name}")
        super().visit_call(call)
        self.log.append(f"{as_op(call.op).name})")


def chain(length: int) -> tuple[Var, Expr]:
    x = var("x", shape=())
    body: Expr = x
    for _ in range(length):
        body = Call(Op.get("tanh"), [body])
    return x, body


def test_the_author_decides_the_order() -> None:
    order = Order()
    order.visit(parse("def @main(%x: float32) { add(exp(%x), log(%x)) }")["main"])
    assert order.log == ["(add", "(exp", "exp)", "(log", "log)", "add)"]


def test_a_shared_node_is_visited_once() -> None:
    order = Order()
    order.visit(parse("def @main(%x: float32) { %0 = exp(%x); add(%0, %0) }")["main"])
    assert order.log.count("(exp") == 1


def test_every_kind_of_expression_is_reached() -> None:
    class Kinds(ExprVisitor):
        def __init__(self) -> None:
            super().__init__()
            self.kinds: set[str] = set()

        def visit(self, expr: Expr) -> None:
            self.kinds.add(type(expr).__name__)
            super().visit(expr)

    kinds = Kinds()
    kinds.visit(parse(EVERYTHING)["main"])
    assert kinds.kinds == {
        "Function",
        "Var",
        "Let",
        "RefCreate",
        "RefWrite",
        "RefRead",
        "Call",
        "Op",
        "Constant",
        "Tuple",
        "TupleGetItem",
        "GlobalVar",
        "If",
        "Match",
    }


def test_a_mutator_that_changes_nothing_gives_the_same_object() -> None:
    main = parse(EVERYTHING)["main"]
    assert ExprMutator().visit(main) is main


def test_a_mutator_rebuilds_only_what_is_above_the_change() -> None:
    class Swap(ExprMutator):
        def visit_op(self, op: Op) -> Expr:
            return Op.get("log") if op.name == "exp" else op

    module = parse("def @main(%x: float32) { (exp(%x), tanh(%x)) }")
    main = module["main"]
    changed = Swap().visit(main)
    assert structural_equal(changed, parse("def @main(%x: float32) { (log(%x), tanh(%x)) }")["main"])
    assert as_tuple(changed.body).fields[1] is as_tuple(main.body).fields[1]
    assert as_tuple(changed.body).fields[0].origin == (as_tuple(main.body).fields[0],)
    assert as_tuple(changed.body).fields[0].span is as_tuple(main.body).fields[0].span
    assert str(as_call(as_tuple(main.body).fields[0]).op) == "exp"


def test_mutating_every_kind_of_expression() -> None:
    """Renaming all variables gives an equal program of other objects."""

    class Fresh(ExprMutator):
        def visit_var(self, var_: Expr) -> Expr:
            return var(f"{var_.name_hint}_new", var_.type_annotation)  # type: ignore[attr-defined]  # a Var

    module = parse(EVERYTHING)
    changed = Fresh().visit(module["main"])
    assert structural_equal(changed, module["main"])
    old = {id(n) for n in post_order(module["main"])}
    new = [n for n in post_order(changed) if isinstance(n, (Let, If, Match, Tuple, TupleGetItem, Function))]
    assert new
    assert not any(id(n) in old for n in new)


def test_fifty_thousand_levels() -> None:
    limit = sys.getrecursionlimit()
    x, body = chain(50_000)
    order = Order()
    order.visit(Function([x], body))
    assert len(order.log) == 100_000
    assert sys.getrecursionlimit() == limit


def test_rewrite_needs_no_stack() -> None:
    x, body = chain(100_000)

    def change(node: Expr) -> Expr | None:
        return Call(Op.get("exp"), node.args) if isinstance(node, Call) else None

    rewritten = rewrite(Function([x], body), change)
    assert sum(isinstance(n, Op) for n in post_order(rewritten)) == 1
    assert {as_op(n.op).name for n in post_order(rewritten) if isinstance(n, Call)} == {"exp"}


def test_something_that_is_no_expression() -> None:
    with raises(snapshot("TypeError: ExprVisitor cannot visit a int: it is not a Relay expression")):
        ExprVisitor().visit(5)  # type: ignore[arg-type]  # the point


def test_a_functor_without_a_method_says_which() -> None:
    with raises(snapshot("NotImplementedError: ExprFunctor has no method visit_var")):
        ExprFunctor().visit(var("x"))


def test_rewrite_may_put_in_an_empty_tuple() -> None:
    x, nothing = var("x"), Tuple([])
    assert as_tuple(rewrite(Tuple([x]), lambda expr: nothing if expr is x else None)).fields == (nothing,)
