"""Tensor arrays of the prelude, for tensors of any shape and of one shape, against lists of NumPy arrays."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.ir.errors import ModuleError, TypeInferenceError
from relay_explorer.ir.module import IRModule
from relay_explorer.prelude import (
    Prelude,
    StaticTensorArrayOps,
    TensorArrayOps,
    get_tensor_array_shape,
    library,
)
from relay_explorer.text import parse
from relay_explorer.transform import InferType

NOTHING = "nothing"
ANY = relay.Any()


def plain(value: Any) -> Any:
    """Convert a result to Python lists of NumPy arrays, with NOTHING for an empty element."""
    if not hasattr(value, "constructor"):
        return value.numpy()
    items = []
    while value.constructor.name_hint == "Cons":
        head, value = value.fields
        items.append(plain(head))
    if value.constructor.name_hint == "Nil":
        return items
    return value.fields[0].numpy() if value.fields else NOTHING


def same(result: Any, expected: Any) -> None:
    if isinstance(expected, list):
        assert len(result) == len(expected)
        for one, other in zip(result, expected):
            same(one, other)
    elif isinstance(expected, str):
        assert isinstance(result, str)
    else:
        assert (result.dtype, result.shape) == (expected.dtype, expected.shape)
        np.testing.assert_array_equal(result, expected)


class Arrays:
    """Builds and runs calls on the tensor arrays of an element type, and of a shape unless that is None."""

    def __init__(self, dtype: str, shape: list[Any] | None, batch_dim: int | None = None) -> None:
        self.prelude = Prelude()
        self.dtype = dtype
        self.ops: Any = TensorArrayOps(self.prelude, dtype)
        if shape is not None:
            self.ops = StaticTensorArrayOps(self.prelude, dtype, shape, batch_dim)
        self.ops.register()
        self.static = shape is not None

    def call(self, name: str, *args: Any) -> relay.Expr:
        return self.ops.get_global_var(name)(*args)  # type: ignore[no-any-return]

    def tensor(self, data: np.ndarray) -> relay.Expr:
        name = "tensor_constructor" if self.static else f"tensor{data.ndim}"
        return self.ops.get_ctor(name)(relay.const(data))  # type: ignore[no-any-return]

    def array(self, *places: np.ndarray | None) -> relay.Expr:
        result = self.call("tensor_array", relay.const(len(places)))
        for number, data in enumerate(places):
            if data is not None:
                result = self.call("tensor_array_write", result, relay.const(number), self.tensor(data))
        return result

    def run(self, expr: relay.Expr) -> Any:
        return plain(relay.create_executor(mod=self.prelude.mod).evaluate(expr))


def numbers(dtype: str, *shape: int, start: int = 0) -> np.ndarray:
    return (np.arange(np.prod(shape, dtype=int)) + start).reshape(shape).astype(dtype)


indices = st.lists(st.integers(0, 2), min_size=1, max_size=4)


def ints(values: list[int]) -> relay.Expr:
    return relay.const(np.array(values, "int32"))


@pytest.mark.parametrize("dtype", ["float32", "int8", "bool"])
@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize("shape", [(), (3,), (2, 3), (2, 1, 2), (1, 2, 1, 2), (2, 1, 1, 1, 2)])
def test_everything_on_tensors_of_one_shape(dtype: str, static: bool, shape: tuple[int, ...]) -> None:
    arrays = Arrays(dtype, list(shape) if static else None)
    a, b, c = (numbers(dtype, *shape, start=k) for k in range(3))
    array = arrays.array(a, None, c)
    run, call = arrays.run, arrays.call
    same(run(array), [a, NOTHING, c])
    same(run(call("tensor_array_read", array, relay.const(2))), c)
    full = call("tensor_array_write", array, relay.const(1), arrays.tensor(b))
    same(run(call("tensor_array_stack", full)), np.stack([a, b, c]))
    same(run(call("tensor_array_gather", full, ints([2, 0, 2]))), np.stack([c, a, c]))
    same(run(call("tensor_expand_dims", arrays.tensor(a))), a[None])
    others = arrays.array(c, a)
    same(run(call("tensor_array_scatter", array, ints([1, 0]), others)), [a, c, c])
    if static:
        same(run(call("tensor_get_data", arrays.tensor(b))), b)
    if shape:
        same(run(call("tensor_concatenate", arrays.tensor(a), arrays.tensor(b))), np.concatenate([a, b]))
        same(run(call("tensor_take", arrays.tensor(a), relay.const(1), relay.const(shape[0]))), a[1:])
        name = "tensor_array_unstack" if static else f"tensor_array_unstack_tensor{len(shape)}"
        same(run(call(name, relay.const(a))), list(a))


@pytest.mark.parametrize("static", [False, True])
def test_rows_are_split_and_joined(static: bool) -> None:
    arrays = Arrays("float32", [ANY, 2] if static else None)
    value = numbers("float32", 5, 2)
    array = arrays.array(None, None, None, value)
    split = arrays.call("tensor_array_split", array, arrays.tensor(value), ints([2, 0, 3]))
    same(arrays.run(split), [value[:2], value[2:2], value[2:], value])
    joined = arrays.call("tensor_array_concat", split)
    same(arrays.run(joined), np.concatenate([value, value]))


def test_rows_of_a_value_whose_shape_is_known() -> None:
    arrays = Arrays("float32", [ANY, 2])
    value = numbers("float32", 4, 2)
    arrays.ops.define_tensor_array_split([4, 2], [2], force_update=True)
    known = StaticTensorArrayOps(arrays.prelude, "float32", [4, 2])
    tensor = known.get_ctor("tensor_constructor")(relay.const(value))
    split = arrays.call("tensor_array_split", arrays.array(None, None), tensor, ints([1, 3]))
    same(arrays.run(split), [value[:1], value[1:]])
    with pytest.raises(TypeInferenceError, match=r"Tensor\[\(2\), int32\]"):
        arrays.run(arrays.call("tensor_array_split", arrays.array(None), tensor, ints([1, 2, 1])))


def test_a_function_of_its_own_for_indices_whose_shape_is_known() -> None:
    arrays = Arrays("int32", [2])
    arrays.ops.define_tensor_array_scatter([1])
    scatter = arrays.prelude.mod.get_global_var("tensor_array_scatter_int32_2_indices_1")
    a, b = numbers("int32", 2), numbers("int32", 2, start=5)
    same(arrays.run(scatter(arrays.array(a, a), ints([1]), arrays.array(b))), [a, b])


def test_an_array_of_one_tensor_stacks_to_a_batch_of_one() -> None:
    arrays = Arrays("float32", [2, 3], batch_dim=1)
    a = numbers("float32", 2, 3)
    stack = arrays.call("tensor_array_stack", arrays.array(a))
    assert arrays.ops.get_name("tensor_array_stack") == "tensor_array_stack_float32_batch1_2_3"
    same(arrays.run(stack), a[None])
    module = arrays.prelude.mod
    module["main"] = relay.Function([], stack)
    expected = arrays.prelude.get_type_static("tensor_t", "float32", [1, 2, 3])
    assert InferType()(module)["main"].checked_type.ret_type == expected()  # type: ignore[attr-defined]


dynamic = Arrays("float32", None)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(1, 3)), min_size=1, max_size=4))
@settings(max_examples=25, deadline=None)
def test_tensors_of_different_shapes_in_one_array(shapes: list[tuple[int, int]]) -> None:
    datas = [numbers("float32", rows, columns) for rows, columns in shapes]
    same(dynamic.run(dynamic.array(*datas)), datas)
    if len({columns for _, columns in shapes}) == 1:
        same(dynamic.run(dynamic.call("tensor_array_concat", dynamic.array(*datas))), np.concatenate(datas))


@given(indices)
@settings(max_examples=20, deadline=None)
def test_any_indices_are_gathered(chosen: list[int]) -> None:
    datas = [numbers("float32", 2, start=10 * k) for k in range(3)]
    result = dynamic.run(dynamic.call("tensor_array_gather", dynamic.array(*datas), ints(chosen)))
    same(result, np.stack([datas[k] for k in chosen]))


# -- what is where


def test_an_element_type_costs_nothing_until_it_is_asked_for() -> None:
    prelude = Prelude()
    before = set(prelude.mod.get_global_vars())
    assert not any("tensor" in v.name_hint for v in before)
    assert prelude.tensor_array_int16.name_hint == "tensor_array_int16"
    assert prelude.get_type("tensor_t", "int16").name_hint == "tensor_int16_t"
    names = {v.name_hint for v in set(prelude.mod.get_global_vars()) - before}
    assert names
    assert all(name.endswith("_int16") for name in names)
    _header, *constructors = prelude.mod.get_type("tensor_float64_t")
    assert [c.name_hint for c in constructors] == [
        "tensor_nil_float64", *[f"tensor{rank}_float64" for rank in range(7)],
    ]  # fmt: skip
    assert prelude.mod.copy().get_global_var("tensor_take_uint8").name_hint == "tensor_take_uint8"


def test_a_program_in_text_uses_them() -> None:
    base = IRModule()
    base.import_from_std("tensor_array_int32.rly")  # brings the prelude along
    text = "def @main(%n: int32) { @tensor_array_write_int32(@tensor_array_int32(%n), 1, tensor0_int32(7)) }"
    result = relay.create_executor(mod=parse(text, init_module=base)).evaluate()(2)
    same(plain(result), [NOTHING, np.array(7, "int32")])


@pytest.mark.parametrize("dtype", ["float16", "float64", "int64", "uint8", "bfloat16"])
def test_the_library_of_any_element_type_is_well_typed(dtype: str) -> None:
    source = library(f"tensor_array_{dtype}.rly")
    whole = Prelude().mod
    whole.update(source)
    assert (
        InferType()(whole)[f"tensor_array_read_{dtype}"].checked_type
        == source[f"tensor_array_read_{dtype}"].checked_type
    )


def test_the_shape_of_an_arrays_tensors() -> None:
    arrays = Arrays("float32", [ANY, 3])
    assert get_tensor_array_shape(arrays.array(None), "float32", arrays.prelude) == (ANY, 3)
    scalars = Arrays("float32", [])
    assert get_tensor_array_shape(scalars.array(None), "float32", scalars.prelude) == ()
    assert get_tensor_array_shape(dynamic.array(None), "float32", dynamic.prelude) is None
    assert "main" not in dynamic.prelude.mod
    with pytest.raises(ModuleError, match=r"an array of int8 tensors: its type is List\[tensor_float32_t\]"):
        get_tensor_array_shape(dynamic.array(None), "int8", dynamic.prelude)


def test_what_is_not_there_is_said() -> None:
    prelude = Prelude()
    with pytest.raises(ModuleError, match=r"no function `@tensor_array_read_float32_2`"):
        prelude.get_global_var_static("tensor_array_read", "float32", [2])
    with pytest.raises(ModuleError, match=r"the type `tensor_int8_t` has no constructor `tensor7_int8`"):
        prelude.get_tensor_ctor("tensor7", "int8")
    with pytest.raises(AttributeError, match=r"no function `@tensor_array_nonsense_int8`"):
        _ = prelude.tensor_array_nonsense_int8
    with pytest.raises(ModuleError, match=r"there is no library `tensor_array_float.rly`"):
        IRModule().import_from_std("tensor_array_float.rly")


def test_a_type_of_the_same_name_in_the_program_is_not_overwritten() -> None:
    module = parse("type tensor_int8_t { Mine }")
    prelude = Prelude(module)
    with pytest.raises(
        ModuleError, match=r"both the module and `tensor_array_int8\.rly` define the type `tensor_int8_t`"
    ):
        prelude.get_global_var("tensor_take", "int8")
    assert "tensor_array_int8" not in module


def test_registering_twice_changes_nothing() -> None:
    arrays = Arrays("float32", [2, 3])
    before = dict(arrays.prelude.mod.functions)
    arrays.ops.register()
    StaticTensorArrayOps(arrays.prelude, "float32", [2, 3]).register()
    assert arrays.prelude.mod.functions == before


def test_a_write_beyond_the_end_says_so() -> None:
    tensor = dynamic.tensor(numbers("float32", 1))
    with pytest.raises(relay.RelayError, match="no clause"):
        dynamic.run(dynamic.call("tensor_array_write", dynamic.array(None), relay.const(3), tensor))


def test_a_module_finds_them_by_name_when_asked() -> None:
    module = relay.prelude.Prelude().mod
    name = "tensor_concatenate_int64"
    assert name not in {var.name_hint for var in module.functions}
    assert module[name] is module[module.get_global_var(name)]


def test_old_codes_steps_define_what_they_name() -> None:
    prelude = Prelude()
    ops = TensorArrayOps(prelude, "int8")
    ops.define_tensor_array_read()
    assert ops.get_global_var("tensor_array_read").name_hint == "tensor_array_read_int8"
    assert ops.tensor_type_var.name_hint == "tensor_int8_t"
    static = StaticTensorArrayOps(prelude, "int8", [2])
    static.define_tensor_array_gather()  # and what it uses
    assert static.tensor_type_var.name_hint == "static_tensor_int8_2_t"
    for name in ("tensor_array_gather", "tensor_array_stack", "tensor_array_read", "tensor_expand_dims"):
        assert static.get_global_var(name).name_hint == f"{name}_int8_2"
    with pytest.raises(ModuleError, match="no function `@tensor_array_split_int8_2`"):
        static.get_global_var("tensor_array_split")
    InferType()(prelude.mod)
