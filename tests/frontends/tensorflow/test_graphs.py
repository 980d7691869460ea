"""What the importer makes of a graph's inputs, outputs, weights and options."""

from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import pytest

from relay_explorer.frontends import from_tensorflow
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Tuple
from relay_explorer.ir.op import Op
from tests.frontends.tensorflow.graphs import Maker, Saved, run


def ops(maker: Maker, **options: object) -> list[str]:
    """Return the operators of the imported graph, as the printed program names them."""
    text = str(maker.imported(**options)[0]["main"])
    return [name for name in ("nn.dense", "nn.matmul", "nn.batch_matmul", "transpose") if f"{name}(" in text]


def test_returns_the_last_node_by_default() -> None:
    maker = Maker()
    maker.placeholder("x", (2,))
    maker.node("Relu", "unused", "x", T="float32")
    maker.node("Neg", "last", "x", T="float32")
    maker.node("NoOp", "done", "^last")
    body = maker.imported()[0]["main"].body
    assert isinstance(body, Call)
    assert isinstance(body.op, Op)
    assert body.op.name == "negative"


def test_returns_all_unused_results_if_the_last_node_is_used() -> None:
    maker = Maker()
    maker.placeholder("x", (2,))
    maker.node("Relu", "a", "z", T="float32")
    maker.node("Neg", "b", "z", T="float32")
    maker.node("Exp", "z", "x", T="float32")
    body = maker.imported()[0]["main"].body
    assert isinstance(body, Tuple)
    assert len(body.fields) == 2


def test_has_only_the_inputs_that_the_requested_results_need() -> None:
    maker = Maker()
    maker.placeholder("labels", (2,))
    maker.placeholder("x", (2,))
    maker.node("Neg", "y", "x", T="float32")
    maker.node("Sub", "loss", "y", "labels", T="float32")
    mod, _ = maker.imported(outputs=["y"])
    assert [param.name_hint for param in mod["main"].params] == ["x"]


def test_drops_assertions_and_ignores_control_inputs() -> None:
    maker = Maker()
    maker.placeholder("x", (2,))
    maker.node("Mystery", "effect", "x")
    maker.node("Neg", "y", "x", "^effect", T="float32")
    (result,) = maker.run({"x": np.array([1, 2], "float32")}, outputs="y")
    np.testing.assert_array_equal(result, [-1, -2])


def test_makes_weights_parameters_and_keeps_small_constants() -> None:
    maker = Maker()
    maker.placeholder("x", (2, 3))
    maker.const("layer/kernel", np.ones((3, 4)), "float32")
    maker.const("shape", [4, 2], "int32")
    maker.node("MatMul", "layer/product", "x", "layer/kernel", T="float32")
    maker.node("Reshape", "y", "layer/product", "shape", T="float32")
    mod, params = maker.imported()
    assert list(params) == ["layer/kernel"]
    assert [param.name_hint for param in mod["main"].params] == ["x", "layer/kernel"]
    assert "reshape" in str(mod["main"])


def test_reads_the_value_of_a_weight_where_an_attribute_needs_it() -> None:
    maker = Maker()
    maker.placeholder("x", (2, 3, 1))
    maker.const("bounds", np.array([[0.0, 1.0]] * 40), "float32")
    maker.const("axes", np.array([2] * 70), "int64")
    maker.node("Sum", "y", "x", "axes", T="float32", keep_dims=False)
    assert maker.run({"x": np.ones((2, 3, 1), "float32")})[0].shape == (2, 3)


def test_takes_an_input_with_a_default_as_input_or_default() -> None:
    maker = Maker()
    maker.placeholder("x", ())
    maker.const("value", 2.0, "float32")
    maker.node("PlaceholderWithDefault", "rate", "value", dtype="float32", shape=())
    maker.node("Mul", "y", "x", "rate", T="float32")
    x = np.float32(3)
    assert maker.run({"x": x}, shape={"x": ()})[0] == 6
    assert maker.run({"x": x, "rate": np.float32(5)}, shape={"x": (), "rate": ()})[0] == 15
    assert [param.name_hint for param in maker.imported()[0]["main"].params] == ["x", "rate"]


def test_gives_axes_of_one_name_one_size() -> None:
    maker = Maker()
    maker.placeholder("x", (None, 2))
    maker.placeholder("y", (None, 2))
    maker.node("AddV2", "z", "x", "y", T="float32")
    mod, _ = maker.imported(shape={"x": ("n", 2), "y": ("n", 2)})
    assert "-> Tensor[(n, 2), float32]" in str(mod["main"]) or "Tensor[(n, 2), float32]" in str(mod)


@pytest.mark.parametrize(
    ("option", "expected"),
    [(True, ["nn.dense", "transpose"]), (False, ["nn.matmul"])],
)
def test_multiplies_matrices_as_requested(option: bool, expected: list[str]) -> None:
    maker = Maker()
    maker.placeholder("x", (2, 3))
    maker.placeholder("w", (3, 4))
    maker.node("MatMul", "y", "x", "w", T="float32")
    assert ops(maker, convert_config={"use_dense": option}) == expected


@pytest.mark.parametrize("flag", [True, False])
def test_takes_the_branch_of_a_constant_predicate(flag: bool) -> None:
    maker = Maker()
    maker.placeholder("x", (2,))
    maker.const("flag", flag, "bool")
    maker.node("Switch", "switch", "x", "flag", T="float32")
    maker.node("Neg", "no", "switch", T="float32")
    maker.node("Exp", "yes", "switch:1", T="float32")
    maker.node("Merge", "y", "no", "yes", T="float32", N=2)
    mod, _ = maker.imported(outputs=["y"])
    assert "if" not in str(mod["main"]).split()
    (value,) = maker.run({"x": np.zeros(2, "float32")}, outputs=["y"])
    np.testing.assert_array_equal(value, [1, 1] if flag else [0, 0])


def test_gives_the_number_of_the_operand_that_a_merge_passed_on() -> None:
    maker = Maker()
    maker.placeholder("x", ())
    maker.placeholder("flag", (), "bool")
    maker.node("Switch", "switch", "x", "flag", T="float32")
    maker.node("Neg", "no", "switch", T="float32")
    maker.node("Exp", "yes", "switch:1", T="float32")
    maker.node("Merge", "y", "yes", "no", T="float32", N=2)
    results = {
        flag: maker.run({"x": np.float32(0), "flag": np.array(flag)}, outputs=["y", "y:1"])[1].item()
        for flag in (True, False)
    }
    assert results == {True: 0, False: 1}


def test_refuses_a_tensor_written_to_an_array_of_another_shape() -> None:
    maker = Maker()
    maker.placeholder("x", (3,))
    maker.const("size", 2, "int32")
    maker.const("zero", 0, "int32")
    maker.node("TensorArrayV3", "array", "size", dtype="float32", element_shape=(2,))
    maker.node("TensorArrayWriteV3", "write", "array", "zero", "x", "array:1", T="float32")
    maker.node("TensorArrayReadV3", "y", "array", "zero", "write", dtype="float32")
    with pytest.raises(RelayError, match="is written to an array whose elements have shape"):
        maker.imported()


def test_finds_the_shape_of_the_elements_of_an_array_from_what_is_written() -> None:
    maker = Maker()
    maker.placeholder("x", (3,))
    maker.const("size", 2, "int32")
    maker.const("zero", 0, "int32")
    maker.node("TensorArrayV3", "array", "size", dtype="float32")
    maker.node("TensorArrayWriteV3", "write", "array", "zero", "x", "array:1", T="float32")
    maker.node("TensorArrayReadV3", "y", "array", "zero", "write", dtype="float32")
    assert maker.run({"x": np.arange(3, dtype="float32")})[0].tolist() == [0, 1, 2]
    assert "static_tensor_float32_3_t" in str(maker.imported()[0])


def test_says_that_nothing_is_written_to_an_array_before_it_is_read() -> None:
    maker = Maker()
    maker.const("size", 2, "int32")
    maker.const("zero", 0, "int32")
    maker.node("TensorArrayV3", "array", "size", dtype="float32")
    maker.node("TensorArrayReadV3", "y", "array", "zero", "array:1", dtype="float32")
    with pytest.raises(RelayError, match="nothing is written to it before this node reads it"):
        maker.imported()


def test_reads_a_concrete_function_with_the_values_that_it_captures() -> None:
    maker = Maker()
    maker.placeholder("x", (2,))
    maker.placeholder("weight", ())
    maker.node("Mul", "y", "x", "weight", T="float32")
    handle = object()

    def tensor(name: str) -> SimpleNamespace:
        return SimpleNamespace(op=SimpleNamespace(name=name), name=f"{name}:0")

    variable = SimpleNamespace(handle=handle, numpy=lambda: np.array(3, "float32"))
    graph = SimpleNamespace(
        as_graph_def=lambda: maker.graph,
        variables=[variable],
        captures=[(handle, tensor("weight"))],
        inputs=[tensor("x"), tensor("weight")],
    )
    function = SimpleNamespace(graph=graph, outputs=[tensor("y")], name="double")
    mod, params = from_tensorflow(function)
    assert [param.name_hint for param in mod["main"].params] == ["x", "weight"]
    (result,) = run(mod, params, {"x": np.array([1, 2], "float32")})
    np.testing.assert_array_equal(result, [3, 6])


def test_needs_neither_tensorflow_nor_numpy_to_be_loaded_before() -> None:
    program = (
        "import sys; from relay_explorer.frontends import from_tensorflow\n"
        f"from_tensorflow({Saved('nested_loops').path!r})\n"
        "assert 'tensorflow' not in sys.modules and 'tvm' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", program], check=True, timeout=120)
