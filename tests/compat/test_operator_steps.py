"""Operators that a program declares for itself, step by step."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from relay_explorer import relay
from relay_explorer.ir.errors import RelayError, TypeInferenceError, UnknownOperatorError
from relay_explorer.ir.op import Op, OpPattern
from relay_explorer.ops.register import register, register_op_attr, register_pattern, register_stateful
from relay_explorer.transform import InferType


@pytest.fixture
def halve() -> Iterator[Any]:
    """Register an operator that has only a name."""
    yield register("test.halve", "Every second element.")
    Op.unregister("test.halve")


def typed(*args: relay.Expr) -> relay.Type:
    call = relay.Call(Op.get("test.halve"), args)
    return InferType()(relay.IRModule.from_expr(call))["main"].body.checked_type


def test_a_registered_operator_has_what_it_was_given(halve: Any) -> None:
    assert (halve.name, halve.description) == ("test.halve", "Every second element.")
    assert halve.num_inputs == -1
    halve.set_num_inputs(2)
    halve.add_argument("data", "Tensor", "The numbers.")
    assert list(halve.inputs or ()) == ["data", "arg1"]
    halve.add_argument("other")
    halve.add_argument("third")
    assert list(halve.inputs or ()) == ["data", "other", "third"]
    assert [a.description for a in halve.arguments] == ["The numbers.", "", ""]
    halve.set_support_level(3)
    halve.set_attrs_type_key("relay.attrs.SoftmaxAttrs")
    register_pattern("test.halve", OpPattern.INJECTIVE)
    register_stateful("test.halve", False)
    assert halve.level == halve.support_level == 3
    assert halve.attrs_type_key == "relay.attrs.SoftmaxAttrs"
    assert halve.pattern == halve.get_attr("TOpPattern") == OpPattern.INJECTIVE
    assert halve.get_attr("TOpIsStateful") is False


def test_a_relation_by_name(halve: Any) -> None:
    halve.set_num_inputs(2)
    halve.add_type_rel("Broadcast")
    assert typed(relay.var("x", shape=(3, 1)), relay.var("y", shape=(4,))) == relay.TensorType((3, 4))
    halve.add_type_rel("BroadcastComp")  # as TVM called it
    assert typed(relay.var("x", shape=(3, 1)), relay.var("y", shape=(4,))).dtype == "bool"  # type: ignore[attr-defined]
    with pytest.raises(UnknownOperatorError, match="no type relation called `Broadcats`"):
        halve.add_type_rel("Broadcats")


def test_identity_of_anything(halve: Any) -> None:
    halve.set_num_inputs(1)
    halve.add_type_rel("Identity")
    pair = relay.Tuple([relay.const(1), relay.const(2.0)])
    assert typed(pair) == relay.TupleType([relay.scalar_type("int32"), relay.scalar_type("float32")])


def test_a_relation_in_python_is_asked_once_the_arguments_are_known(halve: Any) -> None:
    asked: list[list[relay.Type]] = []

    def rule(types: list[relay.Type], attrs: Any) -> relay.Type:
        asked.append(types)
        assert attrs is None
        (data,) = types
        return relay.TensorType((data.shape[0] // 2,), data.dtype)  # type: ignore[attr-defined]

    halve.set_num_inputs(1)
    halve.add_type_rel("Halve", rule)
    x = relay.var("x")
    call = relay.Call(halve, [x])
    body = relay.Tuple([call, relay.add(x, relay.var("y", shape=(8,), dtype="int8"))])
    function = relay.Function([x, relay.var("y")], body)
    with pytest.raises(TypeInferenceError):
        InferType()(relay.IRModule.from_expr(function))  # nobody says what %x is
    assert asked == []
    assert typed(relay.var("x", shape=(8,), dtype="int8")) == relay.TensorType((4,), "int8")


def test_what_a_relation_raises_goes_through(halve: Any) -> None:
    def rule(types: list[relay.Type], attrs: Any) -> relay.Type:
        raise ZeroDivisionError("mine")

    halve.set_num_inputs(1)
    halve.add_type_rel("Halve", rule)
    with pytest.raises(ZeroDivisionError, match="mine"):
        typed(relay.var("x", shape=(8,)))


def test_a_relation_that_gives_no_type_is_refused_in_words(halve: Any) -> None:
    halve.set_num_inputs(1)
    halve.add_type_rel("Halve", lambda types, attrs: 7)
    with pytest.raises(TypeInferenceError, match="the relation `Halve` returned 7, which is not a type"):
        typed(relay.var("x", shape=(8,)))


def test_without_a_relation_the_help_says_how_to_give_one(halve: Any) -> None:
    with pytest.raises(TypeInferenceError) as caught:
        typed(relay.var("x", shape=(8,)))
    assert "`test.halve` was registered without a type relation" in str(caught.value)
    assert 'help: give it one: Op.get("test.halve").relation = …, or .add_type_rel(…) in old code' in str(
        caught.value
    )


def test_a_name_is_taken_once(halve: Any) -> None:
    for name in ("test.halve", "exp"):
        with pytest.raises(RelayError, match=f"the operator `{name}` is already registered"):
            register(name)


def test_properties_yield_to_a_higher_level(halve: Any) -> None:
    register_op_attr("test.halve", "cost", 1)
    register_op_attr("test.halve", "cost", 2, level=11)
    register_op_attr("test.halve", "cost", 3, level=9)
    assert halve.get_attr("cost") == 2
    with pytest.raises(RelayError, match=r"`cost` of `test.halve` is already set, with plevel=11"):
        halve.set_attr("cost", 4, 11)
    halve.reset_attr("cost")
    assert not halve.has_attr("cost")

    def cost() -> int:
        return 5

    register_op_attr("test.halve", "cost")(cost)
    assert halve.get_attr("cost") is cost


def test_a_property_may_come_before_its_operator() -> None:
    register_op_attr("test.later", "cost", 1)
    try:
        assert Op.get("test.later").get_attr("cost") == 1
    finally:
        Op.unregister("test.later")


def test_a_class_of_attributes_that_nobody_declared(halve: Any) -> None:
    with pytest.raises(UnknownOperatorError, match=r"no class of attributes called `relay.attrs.Nothing`"):
        halve.set_attrs_type_key("relay.attrs.Nothing")
