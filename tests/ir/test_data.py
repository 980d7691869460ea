"""Attributes, constants, modules, and how errors look."""

from __future__ import annotations

import numpy as np
import pytest
from inline_snapshot import snapshot

from relay_explorer.ir import (
    Call,
    DictAttrs,
    Function,
    GlobalVar,
    IRModule,
    ModuleError,
    NDArray,
    Op,
    RelayError,
    Source,
    Span,
    TensorType,
    const,
    var,
)
from relay_explorer.ir.attrs import Attrs, Ints, attr, required
from relay_explorer.ir.errors import AttributeSchemaError, Note


class WindowAttrs(Attrs, key="test.WindowAttrs"):
    size: Ints = required("How large the window is.")
    step: int = attr(1, "How far it moves.")
    mode: str = attr("same", "What happens at the border.")


def test_attributes_are_converted_and_read_in_several_ways() -> None:
    attrs = WindowAttrs(size=[2, np.int64(3)])
    assert attrs.size == (2, 3)
    assert attrs["step"] == 1
    assert attrs.keys() == ["size", "step", "mode"]
    assert attrs.changed() == [("size", (2, 3))]
    assert attrs.replace(step=2) == WindowAttrs(size=(2, 3), step=2) != attrs


@pytest.mark.parametrize(
    ("values", "message"),
    [
        (
            {"size": 1, "stride": 2},
            "error: WindowAttrs has no attribute `stride`\nhelp: its attributes are `size`, `step`, `mode`",
        ),
        ({}, "error: attribute `size` is missing\nhelp: give `size=…`: How large the window is."),
        (
            {"size": 1, "step": "two"},
            "error: attribute `step` takes an integer, not 'two'\nhelp: How far it moves.",
        ),
        ({"size": "ab"}, "error: attribute `size` takes integers, not 'ab'\nhelp: How large the window is."),
    ],
)
def test_wrong_attributes(values: dict[str, object], message: str) -> None:
    with pytest.raises(AttributeSchemaError) as caught:
        WindowAttrs(**values)
    assert str(caught.value) == message


def test_attributes_do_not_change() -> None:
    attrs = WindowAttrs(size=1)
    with pytest.raises(AttributeError, match="attributes do not change"):
        attrs.step = 3
    assert attrs.step == 1


def test_true_and_one_are_different_values() -> None:
    assert DictAttrs(a=1) != DictAttrs(a=True)
    assert DictAttrs(a=1) != DictAttrs(a=1.0)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int64", "float16", "float32", "float64"])
def test_arrays_go_through_unchanged(dtype: str) -> None:
    array = (np.arange(6).reshape(2, 3) % 5).astype(dtype)
    constant = const(NDArray.from_numpy(array))
    assert constant.data == const(array, dtype).data
    assert constant.checked_type == TensorType((2, 3), dtype)
    assert constant.data.numpy().dtype == array.dtype
    assert np.array_equal(constant.data.numpy(), array)
    assert constant.data == NDArray.from_list(array.flatten().tolist(), (2, 3), dtype)


@pytest.mark.parametrize(
    ("value", "dtype", "type_"),
    [
        (1, None, "int32"),
        (1.5, None, "float32"),
        (True, None, "bool"),
        (1, "float64", "float64"),
        ([1, 2], None, "Tensor[(2), int32]"),
        ([[1.0]], None, "Tensor[(1, 1), float32]"),
        (np.float64(2), None, "float32"),
        (np.array([1, 2], "int64"), None, "Tensor[(2), int32]"),
        (np.array([1.0], "float64"), None, "Tensor[(1), float32]"),
        (np.array([1.0], "float64"), "float64", "Tensor[(1), float64]"),
        (np.array([1], "int16"), None, "Tensor[(1), int16]"),
        ([1, 2], "uint8", "Tensor[(2), uint8]"),
    ],
)
def test_constants_have_relays_default_types(value: object, dtype: str | None, type_: str) -> None:
    assert str(const(value, dtype).checked_type) == type_


def test_a_number_that_does_not_fit() -> None:
    with pytest.raises(ValueError, match="the number does not fit int8"):
        const(1000, "int8")


def test_a_module_from_an_expression_takes_its_free_variables_as_parameters() -> None:
    x, y = var("x", shape=(2,)), var("y", shape=(2,))
    module = IRModule.from_expr(Call(Op.get("add"), [y, x]))
    assert module["main"].params == (y, x)


def test_a_module_finds_functions_by_name_and_by_variable() -> None:
    x = var("x", shape=())
    module = IRModule.from_expr(Function([x], x))
    assert module[module.get_global_var("main")] is module["main"]
    assert module[GlobalVar("main")] is module["main"]
    assert "main" in module
    assert "other" not in module
    module["other"] = Function([], const(1))
    assert [v.name_hint for v in module.get_global_vars()] == ["main", "other"]


def test_a_function_that_a_module_does_not_have() -> None:
    module = IRModule.from_expr(var("x", shape=()))
    with pytest.raises(ModuleError) as caught:
        module["mian"]
    assert str(caught.value) == snapshot(
        "error: the module has no function `@mian`\nhelp: did you mean `@main`?"
    )


def test_a_module_defines_a_name_once() -> None:
    module = IRModule.from_expr(var("x", shape=()))
    with pytest.raises(ModuleError, match="already defines `@main`"):
        module.add_function(GlobalVar("main"), Function([], const(1)))


def test_a_copy_is_a_module_of_its_own() -> None:
    module = IRModule.from_expr(var("x", shape=()))
    copy = module.copy()
    copy["extra"] = Function([], const(1))
    assert "extra" not in module


def test_an_error_shows_the_line_and_a_caret() -> None:
    source = Source("net.relay", "line one\n  add(%x, %y)\n")
    error = RelayError(
        "they disagree", Span(source, 2, 2, 7, 9), [Note("see here", Span(source, 1, 1, 1, 5))], ["try this"]
    )
    assert str(error) == snapshot(
        "net.relay:2:7: error: they disagree\n"
        "   2 |   add(%x, %y)\n"
        "     |       ^^\n"
        "net.relay:1:1: note: see here\n"
        "   1 | line one\n"
        "     | ^^^^\n"
        "help: try this"
    )


def test_a_very_long_line_is_cut_around_the_caret() -> None:
    source = Source("long.relay", "x" * 5_000_000 + "HERE" + "y" * 5_000_000)
    shown = str(RelayError("what", Span(source, 1, 1, 5_000_001, 5_000_005)))
    assert len(shown) < 600
    line, carets = shown.split("\n")[1:]
    assert line[carets.index("^") : carets.rindex("^") + 1] == "HERE"


def test_element_types_without_bits_have_the_usual_ones() -> None:
    assert TensorType((2,), "int") == TensorType((2,), "int32")
    assert TensorType((2,), "uint") == TensorType((2,), "uint32")
    assert TensorType((2,), "float") == TensorType((2,), "float32")
