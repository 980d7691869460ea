"""Broken and hostile models end in an error that says what is wrong with them."""

from __future__ import annotations

import contextlib
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends import from_tensorflow
from relay_explorer.frontends.base.errors import ModelFileError, UnsupportedOperatorsError
from relay_explorer.ir.errors import RelayError
from tests.frontends.tensorflow.graphs import DATA, Maker, Saved, fill, fill_shape


def graph_bytes() -> bytes:
    return (DATA / "nested_loops.pb").read_bytes()


@pytest.mark.parametrize("size", [1, 40, 700, 3000])
def test_refuses_a_truncated_graph(size: int) -> None:
    with pytest.raises(RelayError):
        from_tensorflow(graph_bytes()[:size])


@pytest.mark.parametrize("seed", range(40))
def test_ends_in_an_error_or_a_module_for_random_damage(seed: int) -> None:
    random = np.random.default_rng(seed)
    data = bytearray(graph_bytes())
    for _ in range(4):
        data[random.integers(len(data))] = random.integers(256)
    with contextlib.suppress(RelayError):
        from_tensorflow(bytes(data))


def test_refuses_another_format() -> None:
    with pytest.raises(ModelFileError, match="cannot be read as TensorFlow's GraphDef"):
        from_tensorflow(b"PK\x03\x04" + bytes(range(200)))


def test_refuses_an_empty_graph() -> None:
    with pytest.raises(ModelFileError, match="has no nodes"):
        from_tensorflow(b"")


def test_refuses_a_file_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="there is no file or folder"):
        from_tensorflow(str(tmp_path / "model.pb"))


def test_refuses_what_is_no_model() -> None:
    with pytest.raises(RelayError, match="a list is not a TensorFlow model"):
        from_tensorflow([1, 2])


def test_refuses_a_cycle_without_next_iteration() -> None:
    maker = Maker()
    maker.node("Relu", "a", "c", T="float32")
    maker.node("Relu", "b", "a", T="float32")
    maker.node("Relu", "c", "b", T="float32")
    with pytest.raises(ModelFileError, match=r"cycle without a NextIteration node.*`a`"):
        maker.imported()


def test_refuses_an_operand_that_does_not_exist() -> None:
    maker = Maker()
    maker.node("Relu", "a", "nowhere", T="float32")
    with pytest.raises(ModelFileError, match=r"`a` .Relu. of the graph takes the result of `nowhere`"):
        maker.imported()


def test_refuses_two_nodes_of_one_name() -> None:
    maker = Maker()
    maker.placeholder("x", (1,))
    maker.placeholder("x", (1,))
    with pytest.raises(ModelFileError, match="two nodes of the graph have the name `x`"):
        maker.imported()


def test_refuses_a_result_that_a_node_does_not_have() -> None:
    maker = Maker()
    maker.placeholder("x", (1,))
    maker.node("Relu", "y", "x:7", T="float32")
    with pytest.raises(ModelFileError, match=r"`x` .Placeholder. has no result number 7"):
        maker.imported()


def constant(shape: tuple[int, ...], content: bytes = b"", floats: tuple[float, ...] = ()) -> Maker:
    """Return a graph of one constant whose shape and content need not agree."""
    maker = Maker()
    proto = maker.graph.node.add()
    fill(proto, "Const", "c", (), {"dtype": "float32"})
    tensor = proto.attr["value"].tensor
    tensor.dtype = 1
    fill_shape(tensor.tensor_shape, shape)
    tensor.tensor_content = content
    tensor.float_val.extend(floats)
    return maker


def test_refuses_a_tensor_that_is_larger_than_its_content() -> None:
    with pytest.raises(ModelFileError, match="needs 16 bytes, but the file has 4"):
        constant((4,), b"\0\0\0\0").imported()


@pytest.mark.parametrize("shape", [(1 << 40,), (1 << 14, 1 << 14, 1), (1 << 31, 1 << 31, 1 << 31)])
def test_refuses_a_huge_tensor_with_little_content(shape: tuple[int, ...]) -> None:
    with pytest.raises(ModelFileError, match=r"exceeds|has only"):
        constant(shape, floats=(1.0,)).imported()


def test_refuses_a_shape_with_too_many_axes() -> None:
    with pytest.raises(ModelFileError, match="300 axes"):
        constant((1,) * 300, floats=(1.0,)).imported()


def test_repeats_the_last_value_of_a_tensor() -> None:
    (result,) = constant((2, 3), floats=(1.0, 2.0)).run()
    np.testing.assert_array_equal(result, [[1, 2, 2], [2, 2, 2]])


def test_names_all_unsupported_operators_in_one_error() -> None:
    maker = Maker()
    maker.placeholder("x", (2,))
    maker.node("Mystery", "layer/a", "x")
    maker.node("Mystery", "layer/b", "layer/a")
    maker.node("Riddle", "c", "layer/b")
    with pytest.raises(UnsupportedOperatorsError) as raised:
        maker.imported()
    text = str(raised.value)
    assert "Mystery (2 nodes" in text
    assert "Riddle (1 node" in text
    assert "convert_map={" in text


def test_accepts_a_converter_for_an_operator() -> None:
    from relay_explorer import relay

    maker = Maker()
    maker.placeholder("x", (2,))
    maker.node("Mystery", "y", "x", factor=3.0)
    convert_map = {
        "Mystery": lambda node, inputs: relay.multiply(inputs[0], relay.const(node.attrs["factor"]))
    }
    (result,) = maker.run({"x": np.array([1, 2], "float32")}, convert_map=convert_map)
    np.testing.assert_array_equal(result, [3, 6])


def test_names_the_node_in_errors() -> None:
    maker = Maker()
    maker.placeholder("x", (2, 3))
    maker.const("shape", [7], "int32")
    maker.node("Reshape", "block/flat", "x", "shape", T="float32")
    with pytest.raises(RelayError, match=r"while importing node `block/flat` .Reshape."):
        maker.imported()


def test_says_that_the_rank_of_an_input_must_be_given() -> None:
    maker = Maker()
    maker.node("Placeholder", "x", dtype="float32")
    maker.node("Relu", "y", "x", T="float32")
    with pytest.raises(RelayError, match="the rank of the input `x` is unknown") as raised:
        maker.imported(shape={})
    assert "shape={'x':" in str(raised.value)
    mod, _ = maker.imported(shape={"x": (None, 2)})
    assert "%x: Tensor[(?, 2), float32]" in str(mod["main"])


def library(maker: Maker, name: str, *nodes: tuple[str, str, str]) -> None:
    """Add a function of one parameter, `x`; the last of its nodes (operator, name, operand) is its result."""
    function = maker.graph.library.function.add()
    function.signature.name = name
    function.signature.input_arg.add().name = "x"
    function.signature.output_arg.add().name = "y"
    for op, label, operand in nodes:
        proto = function.node_def.add()
        fill(proto, "PartitionedCall" if op.startswith("@") else op, label, [operand], {})
        if op.startswith("@"):
            proto.attr["f"].func.name = op[1:]
    function.ret["y"] = f"{nodes[-1][1]}:output:0"


def calling(name: str) -> Maker:
    """Return a graph that calls a function of its library."""
    maker = Maker()
    maker.placeholder("x", (1,))
    maker.node("PartitionedCall", "call", "x")
    maker.graph.node[-1].attr["f"].func.name = name
    return maker


def test_refuses_a_function_that_calls_itself() -> None:
    maker = calling("f")
    library(maker, "f", ("@f", "again", "x"))
    with pytest.raises(RelayError, match="the function `f` calls itself"):
        maker.imported()


def test_refuses_a_call_of_a_function_that_does_not_exist() -> None:
    with pytest.raises(ModelFileError, match="calls the function `missing`"):
        calling("missing").imported()


def test_limits_the_expansion_of_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    from relay_explorer.frontends.tensorflow import importer

    monkeypatch.setattr(importer, "_MOST_NODES", 500)
    maker = calling("f20")
    library(maker, "f0", ("Relu", "r", "x"))
    for level in range(1, 21):
        below = f"@f{level - 1}"
        library(maker, f"f{level}", (below, "first", "x"), (below, "second", "first:output:0"))
    with pytest.raises(RelayError, match="more than 500 nodes"):
        maker.imported()


def test_refuses_a_loop_without_a_condition() -> None:
    maker = Maker()
    maker.placeholder("x", ())
    maker.node("Enter", "enter", "x", T="float32", frame_name="loop")
    maker.node("Merge", "merge", "enter", "next", T="float32", N=2)
    maker.node("NextIteration", "next", "merge", T="float32")
    with pytest.raises(ModelFileError, match="the loop `loop` has no LoopCond node"):
        maker.imported()


def test_refuses_a_variable_without_a_value() -> None:
    maker = Maker()
    maker.node("VarHandleOp", "v", dtype="float32", shape=(2,), shared_name="v")
    maker.node("ReadVariableOp", "read", "v", dtype="float32")
    with pytest.raises(RelayError, match="Graph is not frozen") as raised:
        maker.imported()
    assert "SavedModel" in str(raised.value)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A copy of a SavedModel."""
    return Path(shutil.copytree(Saved("functions").path, tmp_path / "model"))


def test_refuses_a_saved_model_whose_variables_are_truncated(folder: Path) -> None:
    data = folder / "variables" / "variables.data-00000-of-00001"
    data.write_bytes(data.read_bytes()[:30])
    with pytest.raises(ModelFileError, match="truncated within the variable"):
        from_tensorflow(str(folder))


def test_refuses_a_saved_model_without_the_file_of_its_variables(folder: Path) -> None:
    (folder / "variables" / "variables.data-00000-of-00001").unlink()
    with pytest.raises(ModelFileError, match="is missing, which has the variable"):
        from_tensorflow(str(folder))


@pytest.mark.parametrize("seed", range(30))
def test_ends_in_an_error_or_a_module_for_a_damaged_index(folder: Path, seed: int) -> None:
    index = folder / "variables" / "variables.index"
    data = bytearray(index.read_bytes())
    random = np.random.default_rng(seed)
    data[random.integers(len(data))] = random.integers(256)
    index.write_bytes(bytes(data) if seed % 3 else bytes(data)[: random.integers(len(data))])
    with contextlib.suppress(RelayError):
        from_tensorflow(str(folder))


def test_says_to_give_the_folder_of_a_saved_model(folder: Path) -> None:
    with pytest.raises(RelayError, match="belongs to a SavedModel"):
        from_tensorflow(str(folder / "saved_model.pb"))


def test_refuses_unknown_options() -> None:
    maker = Maker()
    maker.placeholder("x", (1,))
    options: list[dict[str, Any]] = [{"layout": "CHWN"}, {"convert_config": {"use_dens": True}}]
    for option in options:
        with pytest.raises(RelayError):
            maker.imported(**option)
    with pytest.raises(RelayError, match="the graph has no node `z`"):
        maker.imported(outputs=["z:0"])


def nested_loops(depth: int) -> Maker:
    """Return a graph of loops within loops that only look at their variable."""
    maker = Maker()
    value = maker.placeholder("x", ())
    maker.const("one", 1.0, "float32")
    for level in range(depth):
        value = maker.node("Enter", f"enter{level}", value, T="float32", frame_name=f"loop{level}")
    inner = value
    for level in reversed(range(depth)):
        start = f"enter{level}"
        maker.node("Merge", f"merge{level}", start, f"next{level}", T="float32", N=2)
        maker.node("Less", f"less{level}", f"merge{level}", f"merge{level}", T="float32")
        maker.node("LoopCond", f"test{level}", f"less{level}")
        maker.node("Switch", f"switch{level}", f"merge{level}", f"test{level}", T="float32")
        maker.node("Add", f"sum{level}", f"switch{level}:1", inner, T="float32")
        maker.node("NextIteration", f"next{level}", f"sum{level}", T="float32")
        inner = maker.node("Exit", f"exit{level}", f"switch{level}", T="float32")
    return maker


def test_limits_how_deep_loops_are_nested() -> None:
    nested_loops(5).imported()
    with pytest.raises(ModelFileError, match="loops are nested more than 30 deep"):
        nested_loops(40).imported()


def test_limits_how_deep_conditionals_are_nested() -> None:
    maker = Maker()
    value = maker.placeholder("x", ())
    for level in range(300):
        maker.placeholder(f"flag{level}", (), "bool")
        value = maker.node("Switch", f"switch{level}", value, f"flag{level}", T="float32")
    with pytest.raises(ModelFileError, match="conditionals are nested more than 200 deep"):
        maker.imported()


def test_limits_how_deep_functions_are_nested() -> None:
    maker = calling("f40")
    library(maker, "f0", ("Relu", "r", "x"))
    for level in range(1, 41):
        library(maker, f"f{level}", (f"@f{level - 1}", "call", "x"))
    with pytest.raises(RelayError, match="calls of functions are nested more than 30 deep"):
        maker.imported()


def test_limits_the_number_of_results() -> None:
    maker = Maker()
    maker.placeholder("x", (None,))
    maker.node("Unpack", "parts", "x", T="float32", num=1 << 40, axis=0)
    maker.node("Neg", "y", "parts", T="float32")
    with pytest.raises(RelayError, match="the number of tensors would be"):
        maker.imported()


def test_imports_a_long_chain_of_nodes() -> None:
    maker = Maker()
    value = maker.placeholder("x", (1,))
    for index in range(3000):
        value = maker.node("Neg", f"n{index}", value, T="float32")
    mod, _ = maker.imported()
    assert mod["main"].params[0].name_hint == "x"
