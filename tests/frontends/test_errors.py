"""Errors of importers name the place and the remedy."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from relay_explorer import relay
from relay_explorer.frontends.base.context import Context
from relay_explorer.frontends.base.errors import DynamicShapeError
from relay_explorer.frontends.base.loops import conditional, while_loop
from relay_explorer.frontends.base.source import Node
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Expr, Var, const
from relay_explorer.ir.types import Any, TensorType, TupleType, Type


def needs_static_shape(node: Node, inputs: list[Expr]) -> Expr:
    """Convert nothing, as an operator whose conversion needs a static shape."""
    raise DynamicShapeError("the extent of the axis must be known at compile time")


def help_for(**types: Type) -> tuple[str, ...]:
    """Return the help of the error of such an operator in a model with these inputs."""
    context = Context("net", "test", static_shapes="from_test(…, shape={…})")
    inputs: list[Expr] = [context.variable(name, type_) for name, type_ in types.items()]
    with pytest.raises(DynamicShapeError, match="while importing node `last`") as caught:
        context.convert(Node("Hardmax", "last", (), ("y",)), inputs, needs_static_shape)
    return caught.value.help


def test_help_names_the_inputs_with_dynamic_axes_and_the_importers_option() -> None:
    static, dynamic = TensorType((2, 3), "float32"), TensorType((Any(), 3), "float32")
    assert help_for(x=static, ids=dynamic) == ("give `ids` a static shape: from_test(…, shape={…})",)
    assert help_for(pair=TupleType([static, dynamic]), mask=dynamic) == (
        "give `pair`, `mask` static shapes: from_test(…, shape={…})",
    )


def test_help_does_not_ask_for_static_shapes_that_are_given() -> None:
    (text,) = help_for(x=TensorType((2, 3), "float32"))
    assert text == "the inputs have static shapes already: give a converter of Hardmax in convert_map"


def test_a_loop_variable_that_changes_its_type_is_an_error_of_the_loop() -> None:
    context = Context("net", "test")

    def body(variables: Sequence[Var]) -> Sequence[Expr]:
        return [relay.cast(variables[0], "int32")]

    with pytest.raises(RelayError) as caught:
        while_loop(context, "grow", [("x", const(1.0))], lambda _: const(True), body)
    assert caught.value.message == (
        "a variable of the loop `grow` has type float32 before an iteration and type int32 after it; Relay "
        "needs one type for both"
    )


def test_branches_of_different_types_are_an_error_of_the_conditional() -> None:
    with pytest.raises(
        RelayError, match="a result of a conditional has type float32 in one branch and type int"
    ):
        conditional(Context("net", "test"), const(True), lambda: [const(1.0)], lambda: [const(1)])
