"""The solver without a program, types of single expressions, and type arguments of operators."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.compat.operator_steps import named_relation
from relay_explorer.ir.errors import TypeInferenceError
from relay_explorer.ir.types import (
    FuncType,
    GlobalTypeVar,
    IncompleteType,
    RefType,
    TensorType,
    TupleType,
    Type,
    TypeCall,
    TypeRelation,
    TypeVar,
    scalar_type,
)
from relay_explorer.transform import InferType, InferTypeLocal
from relay_explorer.typing import TypeSolver

F32 = scalar_type("float32")
INT = scalar_type("int32")


def relation(name: str, *args: Type) -> TypeRelation:
    return TypeRelation(named_relation(name), args, len(args) - 1)  # type: ignore[arg-type]


def tensor(*shape: int) -> TensorType:
    return TensorType(shape)


def test_relations_run_forwards_and_backwards() -> None:
    a, b, c = IncompleteType(), IncompleteType(), IncompleteType()
    solver = TypeSolver()
    solver.relate(relation("Broadcast", tensor(2, 1), a, b))
    solver.relate(relation("Identity", b, c))
    assert not solver.solve()
    assert solver.resolve(b) in (b, c)  # one class, of which one stands for all
    solver.relate(relation("Identity", a, tensor(3)))
    assert solver.solve()
    assert [solver.resolve(t) for t in (a, b, c)] == [tensor(3), tensor(2, 3), tensor(2, 3)]


def test_what_is_learnt_later_reaches_types_that_were_built_before() -> None:
    a, b, whole = IncompleteType(), IncompleteType(), IncompleteType()
    solver = TypeSolver()
    solver.unify(whole, TupleType([a, RefType(b)]))
    assert solver.resolve(whole) == TupleType([a, RefType(b)])
    solver.unify(a, INT)
    solver.unify(b, a)
    assert solver.resolve(whole) == TupleType([INT, RefType(INT)])


def test_a_relation_that_cannot_hold_is_named() -> None:
    solver = TypeSolver()
    solver.relate(relation("Broadcast", tensor(2), tensor(3), IncompleteType()))
    with pytest.raises(TypeInferenceError, match=r"Broadcast cannot hold: the shapes \(2\) and \(3\)"):
        solver.solve()


@pytest.mark.parametrize(
    ("left", "right", "why"),
    [
        (TupleType([INT]), TupleType([F32]), "int32 is not float32"),
        (TupleType([INT]), TupleType([INT, INT]), "1 fields against 2"),
        (GlobalTypeVar("A"), GlobalTypeVar("B"), "A is not B"),
        (TypeCall(GlobalTypeVar("A"), [INT]), TypeCall(GlobalTypeVar("A"), [F32]), "int32 is not float32"),
        (FuncType([INT], INT), FuncType([], INT), "1 parameters against 0"),
    ],
)
def test_types_that_cannot_be_one(left: Type, right: Type, why: str) -> None:
    with pytest.raises(TypeInferenceError, match=why):
        TypeSolver().unify(left, right)


def test_no_type_contains_itself() -> None:
    a = IncompleteType()
    with pytest.raises(TypeInferenceError, match="would have to contain itself"):
        TypeSolver().unify(a, TupleType([a]))


def test_a_type_too_deep_is_refused() -> None:
    deep: Type = INT
    for _ in range(1000):
        deep = TupleType([deep])
    with pytest.raises(TypeInferenceError, match="nested deeper than 128 levels"):
        TypeSolver().unify(deep, deep)


A, B, C = TypeVar("A"), TypeVar("B"), TypeVar("C")


@pytest.mark.parametrize(
    ("general", "special"),
    [
        (FuncType([A, B], C, [A, B, C]), FuncType([A, A], A, [A])),
        (FuncType([A], B, [A, B]), FuncType([C], TupleType([C]), [C])),
        (FuncType([A, TupleType([B, C])], C, [A, B, C]), FuncType([C, TupleType([C, A])], A, [C, A])),
        (FuncType([A], A, [A]), FuncType([INT], INT)),
    ],
)
def test_a_more_generic_function_is_used_as_an_instance(general: FuncType, special: FuncType) -> None:
    for left, right in ((general, special), (special, general)):
        assert TypeSolver().unify(left, right) == special


def test_functions_of_as_many_type_parameters_differ_in_their_names_only() -> None:
    assert TypeSolver().unify(FuncType([A], A, [A]), FuncType([B], B, [B])) == FuncType([C], C, [C])
    with pytest.raises(TypeInferenceError, match="cannot be one type"):
        TypeSolver().unify(FuncType([A, B], C, [A, B, C]), FuncType([B, C], TupleType([A]), [A, B, C]))


concrete = st.recursive(
    st.sampled_from([INT, F32, tensor(2, 3), GlobalTypeVar("T")]),
    lambda sub: st.one_of(
        st.lists(sub, max_size=3).map(TupleType),
        sub.map(RefType),
        st.tuples(st.lists(sub, max_size=2), sub).map(lambda f: FuncType(*f)),
    ),
    max_leaves=8,
)


@given(concrete, st.data())
def test_a_type_with_holes_unifies_with_what_it_was_made_of(type_: Type, data: st.DataObject) -> None:
    class Holes(relay.TypeMutator):
        def visit(self, t: Type) -> Type:
            return IncompleteType() if data.draw(st.booleans()) else super().visit(t)

    holed = Holes().visit(type_)
    solver = TypeSolver()
    assert solver.unify(holed, type_) == type_
    assert solver.resolve(holed) == type_


# -- the type of one expression


def test_an_expression_has_its_types_from_then_on() -> None:
    x, y = relay.var("x", shape=(2, 3)), relay.var("y")
    product = relay.multiply(x, relay.const(2.0))
    body = relay.Let(y, product, relay.Tuple([y, relay.sum(y)]))
    assert InferTypeLocal(body) == TupleType([tensor(2, 3), F32])
    assert body.checked_type == TupleType([tensor(2, 3), F32])
    assert product.checked_type == y.checked_type == tensor(2, 3)


def test_variables_of_patterns_too() -> None:
    module = relay.prelude.Prelude().mod
    cons: Any
    nil: Any
    _, cons, nil = module.get_type("List")
    v = relay.var("v")
    pattern = relay.PatternConstructor(cons, [relay.PatternVar(v), relay.PatternWildcard()])
    match = relay.Match(
        cons(relay.const(1), nil()),
        [relay.Clause(pattern, relay.Tuple([]))],
        complete=False,
    )
    with pytest.raises(TypeInferenceError, match="the type `List` of `Cons` is not declared"):
        InferTypeLocal(match)
    assert InferTypeLocal(match, module) == TupleType([])
    assert v.checked_type == INT


def test_an_ill_typed_expression_is_left_alone() -> None:
    bad = relay.add(relay.const(1), relay.const(1.0))
    with pytest.raises(TypeInferenceError, match="the element types differ"):
        InferTypeLocal(bad)
    assert bad._checked_type is None


def test_an_operator_call_has_its_argument_types_as_type_arguments() -> None:
    x, y = relay.var("x", shape=(10, 10)), relay.var("y", shape=(1, 10))
    typed = InferType()(relay.IRModule.from_expr(relay.add(x, relay.log(y))))
    for module in (typed, InferType()(typed)):
        call: Any = module["main"].body
        assert call.type_args == (tensor(10, 10), tensor(1, 10))
        assert call.args[1].type_args == (tensor(1, 10),)
    assert relay.fromtext(typed.astext())
