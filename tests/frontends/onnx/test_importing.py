"""What `from_onnx` returns: inputs, shapes, named sizes, weights, the user's converters, and provenance."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper

from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.frontends.base.errors import UnsupportedOperatorsError
from relay_explorer.frontends.base.source import ModelSource, Node
from relay_explorer.ir import Expr, IRModule
from relay_explorer.ir.errors import RelayError
from tests.frontends.onnx.support import Array, assert_same, check, floats, interpreted, model, value

R = np.random.default_rng(5)
WEIGHT = R.standard_normal((4, 3)).astype("float32")


def layer(shape: tuple[int | str | None, ...] = ("batch", 4)) -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="/encoder/layer.0/MatMul"),
        helper.make_node("Relu", ["h"], ["y"], name="/encoder/layer.0/act/Relu"),
    ]
    return model(nodes, [value("x", shape)], ["y"], {"w": WEIGHT})


def main_type(mod: IRModule) -> str:
    """Return the types of the parameters and of the result of `@main`."""
    main = relay.transform.InferType()(mod)["main"]
    return f"{', '.join(str(p.checked_type) for p in main.params)} -> {main.body.checked_type}"


def nodes_of(mod: IRModule) -> dict[str, Node]:
    assert isinstance(mod.source, ModelSource)
    return {node.name: node for node in mod.source.nodes}


# -- shapes and types of inputs


def test_a_named_axis_becomes_a_named_size_and_another_dynamic_axis_is_unknown() -> None:
    assert main_type(from_onnx(layer())[0]) == "Tensor[(batch, 4), float32] -> Tensor[(batch, 3), float32]"
    assert main_type(from_onnx(layer((None, 4)))[0]) == "Tensor[(?, 4), float32] -> Tensor[(?, 3), float32]"


@pytest.mark.parametrize(
    ("shape", "expected"),
    [((5, 4), "5"), ((relay.Any(), 4), "?"), (("n", 4), "n"), ((np.int64(2), 4), "2"), (["?", 4], "?")],
)
def test_shape_gives_the_shapes_of_inputs(shape: Any, expected: str) -> None:
    mod, _ = from_onnx(layer(), {"x": shape})
    assert main_type(mod) == f"Tensor[({expected}, 4), float32] -> Tensor[({expected}, 3), float32]"


def test_the_same_name_is_the_same_size() -> None:
    proto = model(
        [helper.make_node("Add", ["x", "z"], ["y"])], [value("x", ["n", "m"]), value("z", ["n", 1])], ["y"]
    )
    assert main_type(from_onnx(proto)[0]).endswith("Tensor[(n, m), float32]")


def test_dtype_gives_the_element_types_of_inputs() -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", [2])], ["y"])
    assert (
        main_type(from_onnx(proto, dtype={"x": "float16"})[0])
        == "Tensor[(2), float16] -> Tensor[(2), float16]"
    )
    assert main_type(from_onnx(proto, dtype="float16")[0]) == "Tensor[(2), float32] -> Tensor[(2), float32]"


def test_refuses_shapes_of_unknown_inputs_and_of_another_rank() -> None:
    with pytest.raises(AssertionError, match="'z', which the model does not have"):
        from_onnx(layer(), {"z": (1, 2)})
    with pytest.raises(RelayError, match="1 dimension, but the model declares 2"):
        from_onnx(layer(), {"x": (1,)})


def test_named_sizes_survive_the_computation_of_shapes() -> None:
    """A reshape to extents that the model reads from a shape keeps their names."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Gather", ["s", "zero"], ["n"], axis=0),
        helper.make_node("Unsqueeze", ["n", "axis"], ["n1"]),
        helper.make_node("Concat", ["n1", "rest"], ["target"], axis=0),
        helper.make_node("Reshape", ["x", "target"], ["heads"]),
        helper.make_node("Transpose", ["heads"], ["y"], perm=[0, 2, 1, 3]),
    ]
    weights: dict[str, Array] = {
        "zero": np.array(0), "axis": np.array([0]), "rest": np.array([-1, 2, 4])
    }  # fmt: skip
    proto = model(nodes, [value("x", ["n", "t", 8])], ["y"], weights)
    mod = check(proto, {"x": R.standard_normal((3, 5, 8)).astype("float32")})
    assert main_type(mod).endswith("Tensor[(n, 2, t, 4), float32]")


def test_extents_of_minus_one_in_an_expansion_are_replaced() -> None:
    """PyTorch writes `expand(-1, …)` with Where and Equal."""
    nodes = [
        helper.make_node("Shape", ["x"], ["s"]),
        helper.make_node("Equal", ["s", "minus"], ["open"]),
        helper.make_node("Where", ["open", "ones", "s"], ["target"]),
        helper.make_node("Reshape", ["x", "target"], ["y"]),
    ]
    weights = {"minus": np.array([-1, -1]), "ones": np.array([1, 1])}
    mod, _ = from_onnx(model(nodes, [value("x", ["n", 3])], ["y"], weights))
    assert main_type(mod).endswith("-> Tensor[(n, 3), float32]")


# -- weights


def test_frozen_weights_are_constants() -> None:
    mod, params = from_onnx(layer())
    assert params == {}
    assert [p.name_hint for p in mod["main"].params] == ["x"]


def test_weights_become_parameters_in_the_models_order() -> None:
    proto = layer()
    mod, params = from_onnx(proto, freeze_params=False)
    assert [p.name_hint for p in mod["main"].params] == ["x", "w"]
    np.testing.assert_array_equal(params["w"].numpy(), WEIGHT)
    x = R.standard_normal((2, 4)).astype("float32")
    assert_same(interpreted(mod, {"x": x}, params), [np.maximum(x @ WEIGHT, 0)])


def test_weights_among_the_inputs_of_old_models_are_weights() -> None:
    proto = layer()
    proto.graph.input.append(value("w", (4, 3)))
    mod, _ = from_onnx(proto)
    assert [p.name_hint for p in mod["main"].params] == ["x"]


def test_several_outputs_are_a_tuple_and_an_output_may_be_an_input() -> None:
    proto = model([helper.make_node("Neg", ["x"], ["y"])], [value("x", [2])], ["y", "x"])
    x = floats([1, -2])
    assert_same(interpreted(from_onnx(proto)[0], {"x": x}), [-x, x])


def test_nodes_that_no_output_needs_are_left_out() -> None:
    nodes = [helper.make_node("Relu", ["x"], ["y"]), helper.make_node("StringConcat", ["x", "x"], ["z"])]
    mod, _ = from_onnx(model(nodes, [value("x", [2])], ["y"]))
    assert main_type(mod) == "Tensor[(2), float32] -> Tensor[(2), float32]"


# -- operators without a converter, and the user's


def strange() -> onnx.ModelProto:
    nodes = [
        helper.make_node("Scale", ["x"], ["a"], name="first", domain="org.example", by=2.0),
        helper.make_node("Scale", ["a"], ["b"], name="second", domain="org.example", by=3.0),
        helper.make_node("StringNormalizer", ["b"], ["y"], name="third"),
    ]
    return model(nodes, [value("x", [2])], ["y"], domains=["org.example"])


def test_lists_all_unsupported_operators_in_one_error() -> None:
    with pytest.raises(UnsupportedOperatorsError) as caught:
        from_onnx(strange())
    text = str(caught.value)
    assert "org.example.Scale (2 nodes, first `first`); StringNormalizer (1 node, first `third`)" in text
    assert "convert_map={'org.example.Scale': convert}" in text


def test_the_users_converters_are_used() -> None:
    def scale(node: Node, inputs: list[Expr]) -> Expr:
        return relay.multiply(inputs[0], relay.const(node.attrs["by"], "float32"))

    def both(node: Node, inputs: list[Expr]) -> tuple[Expr, ...]:
        return (relay.negative(inputs[0]),)

    mod, _ = from_onnx(strange(), convert_map={"org.example.Scale": scale, "StringNormalizer": both})
    x = floats([1, -2])
    assert_same(interpreted(mod, {"x": x}), [-6 * x])


def test_the_users_converter_takes_precedence() -> None:
    mod, _ = from_onnx(layer(), convert_map={"Relu": lambda node, inputs: relay.tanh(inputs[0])})
    assert "tanh" in str(mod)
    assert "nn.relu" not in str(mod)


def test_an_error_in_the_users_converter_names_the_node() -> None:
    def broken(node: Node, inputs: list[Expr]) -> Expr:
        raise ValueError("not today")

    with pytest.raises(RelayError, match=r"not today[\s\S]*while importing node `/encoder/layer.0/act/Relu`"):
        from_onnx(layer(), convert_map={"Relu": broken})


def test_an_operator_that_needs_a_static_shape_names_the_input_and_the_option() -> None:
    proto = model([helper.make_node("Hardmax", ["x"], ["y"], name="last")], [value("x", ["n"])], ["y"])
    with pytest.raises(RelayError, match="Hardmax requires that the extent of its axis is known") as caught:
        from_onnx(proto)
    (text,) = caught.value.help
    assert text.startswith("give `x` a static shape: from_onnx(…, shape={…}), or --shape INPUT=…")
    assert main_type(from_onnx(proto, {"x": (3,)})[0]).endswith("Tensor[(3), float32]")


# -- options


@pytest.mark.parametrize("transposed", [True, False])
def test_tvms_option_for_batched_products(transposed: bool) -> None:
    proto = model(
        [helper.make_node("MatMul", ["a", "b"], ["y"])], [value("a", [2, 3, 4]), value("b", [2, 4, 5])], ["y"]
    )
    a, b = R.standard_normal((2, 3, 4)).astype("float32"), R.standard_normal((2, 4, 5)).astype("float32")
    mod = check(proto, {"a": a, "b": b}, convert_config={"use_nt_batch_matmul": transposed})
    assert ("transpose(" in str(mod)) == transposed


def test_old_opsets_align_the_second_operand_by_axis() -> None:
    node = helper.make_node("Add", ["x", "b"], ["y"], axis=1, broadcast=1)
    mod, _ = from_onnx(model([node], [value("x", [2, 3, 4]), value("b", [3])], ["y"], opset=6))
    x, b = R.standard_normal((2, 3, 4)).astype("float32"), floats([1, 2, 3])
    assert_same(interpreted(mod, {"x": x, "b": b}), [x + b[:, None]])


# -- provenance


def test_scopes_come_from_names() -> None:
    nodes = nodes_of(from_onnx(layer())[0])
    assert nodes["/encoder/layer.0/MatMul"].scope == ("encoder", "layer", "0")
    assert nodes["/encoder/layer.0/act/Relu"].scope == ("encoder", "layer", "0", "act")


TRACE = """File "/home/ada/net.py", line 11, in forward
    return self.head(self.encoder(x))
  File "/usr/lib/python3/site-packages/torch/nn/modules/linear.py", line 134, in forward
    return F.linear(input, self.weight, self.bias)"""


@pytest.mark.parametrize(
    ("metadata", "expected"),
    [
        (
            {"pkg.torch.onnx.name_scopes": "['', 'encoder', 'encoder.0', 'encoder.0.lin', 'linear']"},
            "encoder.0.lin",
        ),
        (
            {"namespace": ": net.Net/encoder: Sequential/encoder.0: Layer/relu: aten.relu.default"},
            "encoder.0",
        ),
        ({"pkg.torch.onnx.name_scopes": "__import__('os').system('true')"}, ""),
        ({"pkg.torch.onnx.name_scopes": "[" * 5000}, ""),
        ({}, ""),
    ],
)
def test_scopes_come_from_the_metadata_of_pytorchs_exporter(metadata: dict[str, str], expected: str) -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="node_relu")
    for key, entry in {**metadata, "pkg.torch.onnx.stack_trace": TRACE}.items():
        node.metadata_props.add(key=key, value=entry)
    imported = nodes_of(from_onnx(model([node], [value("x", [2])], ["y"]))[0])["node_relu"]
    assert (imported.path, imported.location) == (expected, "net.py:11")


def test_expressions_point_to_their_nodes() -> None:
    mod, _ = from_onnx(layer())
    assert isinstance(mod.source, ModelSource)
    relu: Any = mod["main"].body
    node = mod.source.node(relu.span)
    assert node is not None
    assert node.op == "Relu"
    inner = mod.source.node(relu.args[0].span)
    assert inner is not None
    assert inner.name == "/encoder/layer.0/MatMul"


def test_a_copy_in_which_all_nodes_have_names_is_written_to_a_folder(tmp_path: Path) -> None:
    nodes = [
        helper.make_node("Relu", ["x"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"], name="Relu_2"),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Neg", ["c"], ["y"]),
    ]
    proto = model(nodes, [value("x", [2])], ["y"])
    (tmp_path / "model.onnx").write_bytes(proto.SerializeToString())
    for source in (proto, proto.SerializeToString(), tmp_path / "model.onnx"):
        from_onnx(source, export_node_renamed_model_path=tmp_path / "out")
    copies = sorted((tmp_path / "out").iterdir())
    assert [copy.name for copy in copies] == [f"tvm_exported_model_{number}.onnx" for number in range(3)]
    for copy in copies:
        names = [node.name for node in onnx.load(copy).graph.node]
        assert names == ["Relu_0", "Relu_2", "Relu_2_1", "Neg_0"]
    assert [node.name for node in proto.graph.node] == ["", "Relu_2", "", ""]
