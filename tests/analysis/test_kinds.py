"""The types of types."""

from __future__ import annotations

import pytest

from relay_explorer import relay
from relay_explorer.analysis import check_kind
from relay_explorer.ir import TypeInferenceError, TypeKind

TENSOR = relay.TensorType((1, 2))
T = relay.TypeVar("t")
SHAPE = relay.TypeVar("s", TypeKind.ShapeVar)
RELATION = relay.TypeRelation(lambda *_: True, [T, TENSOR], 1)
BOX = relay.GlobalTypeVar("Box")


def module(*params: relay.TypeVar) -> relay.IRModule:
    result = relay.IRModule()
    result[BOX] = relay.TypeData(BOX, params, [])
    return result


@pytest.mark.parametrize(
    ("type_", "kind"),
    [
        (T, TypeKind.Type),
        (SHAPE, TypeKind.ShapeVar),
        (TENSOR, TypeKind.Type),
        (relay.TupleType([T, TENSOR, relay.TupleType([])]), TypeKind.Type),
        (relay.FuncType([T], TENSOR, [T, SHAPE], [RELATION]), TypeKind.Type),
        (relay.RefType(TENSOR), TypeKind.Type),
        (RELATION, TypeKind.Constraint),
        (relay.IncompleteType(TypeKind.BaseType), TypeKind.BaseType),
        (BOX, TypeKind.AdtHandle),
        (relay.GlobalTypeVar("v", TypeKind.Type), TypeKind.Type),
    ],
    ids=str,
)
def test_kind(type_: relay.Type, kind: int) -> None:
    assert check_kind(type_) == kind


def test_calls_of_declared_types() -> None:
    assert check_kind(BOX(), module()) == TypeKind.Type
    assert check_kind(BOX(TENSOR), module(T)) == TypeKind.Type
    data = relay.prelude.Prelude().mod
    for declared in data.type_definitions.values():
        assert check_kind(declared, data) == TypeKind.TypeData
    own = relay.TypeData(BOX, [T], [relay.Constructor("Wrap", [BOX(T)], BOX)])
    assert check_kind(own) == TypeKind.TypeData


@pytest.mark.parametrize(
    ("type_", "message"),
    [
        (relay.TupleType([SHAPE]), "a field of a tuple must be of kind Type, but `s` is of kind ShapeVar"),
        (relay.RefType(RELATION), "what a reference holds must be of kind Type, but .* of kind Constraint"),
        (relay.TypeRelation(lambda *_: True, [SHAPE], 0), "an argument of a type relation must be"),
        (relay.FuncType([SHAPE], TENSOR), "a parameter of a function must be of kind Type"),
        (relay.FuncType([], BOX), "the result of a function must be of kind Type, but `Box` is .* AdtHandle"),
        (relay.FuncType([], relay.TupleType([SHAPE])), "a field of a tuple must be"),
        (relay.FuncType([], TENSOR, [], [T]), "a constraint of a function type must be of kind Constraint"),  # type: ignore[list-item]  # of a wrong kind
        (relay.TypeCall(T, []), "only a declared type takes type arguments, and `t` is not one"),
        (relay.TypeCall(relay.GlobalTypeVar("v", TypeKind.Type), []), "what is called must be of kind AdtH"),
        (relay.GlobalTypeVar("Nowhere")(), "the module does not declare the type `Nowhere`"),
        (BOX(), "the type `Box` expects 1 type argument, got 0"),
        (BOX(SHAPE), "an argument of `Box` must be of kind Type"),
        (
            relay.TypeData(BOX, [SHAPE], []),
            "a type parameter of `Box` must be of kind Type, but `s` is of kind ShapeVar",
        ),
        (
            relay.TypeData(BOX, [], [relay.Constructor("W", [], relay.GlobalTypeVar("Bag"))]),
            "the constructor `W` of `Box` makes values of `Bag`",
        ),
        (
            relay.TypeData(BOX, [], [relay.Constructor("W", [SHAPE], BOX)]),
            "an argument of the constructor `W` must be of kind Type",
        ),
    ],
)  # fmt: skip
def test_no_kind(type_: relay.Type, message: str) -> None:
    with pytest.raises(TypeInferenceError, match=message):
        check_kind(type_, module(T))
