"""Files that are broken or hostile get a clear error; nothing is copied, and nothing outside the folder is
read.
"""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from relay_explorer.frontends import from_onnx
from relay_explorer.frontends.base.errors import ModelFileError, UnsupportedOperatorsError
from relay_explorer.frontends.onnx.wire import cut
from relay_explorer.ir.errors import RelayError
from tests.frontends.onnx.support import assert_same, floats, interpreted, model, runtime, value

WIDE = np.arange(4096, dtype="float32").reshape(64, 64) / 4096
INPUT = np.linspace(-1, 1, 128, dtype="float32").reshape(2, 64)


def two_layers() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["h"], name="first"),
        helper.make_node("Add", ["h", "b"], ["y"], name="second"),
    ]
    return model(nodes, [value("x", ["n", 64])], ["y"], {"w": WIDE, "b": WIDE[0]})


def message(source: object) -> str:
    """Return the error with which a model is refused."""
    with pytest.raises(ModelFileError) as caught:
        from_onnx(source)
    return str(caught.value)


def one(op: str = "Relu", name: str = "node", **fields: object) -> onnx.ModelProto:
    return model([helper.make_node(op, ["x"], ["y"], name=name)], [value("x", [2, 3])], ["y"])


# -- reading


@pytest.mark.parametrize("form", ["path", "text path", "bytes", "message"])
def test_reads_paths_bytes_and_messages(tmp_path: Path, form: str) -> None:
    proto = two_layers()
    path = tmp_path / "model.onnx"
    onnx.save(proto, path)
    source = {"path": path, "text path": str(path), "bytes": path.read_bytes(), "message": proto}[form]
    mod, params = from_onnx(source)
    assert params == {}
    assert_same(interpreted(mod, {"x": INPUT}), runtime(proto, {"x": INPUT}))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lists_of_numbers_are_cut_as_raw_data_is(dtype: str) -> None:
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    numbers = WIDE.astype(dtype)
    proto = one("Add")
    proto.graph.node[0].input.append("w")
    proto.graph.input[0].type.tensor_type.elem_type = kind
    proto.graph.input[0].type.tensor_type.shape.CopyFrom(value("x", [2, 64]).type.tensor_type.shape)
    proto.graph.initializer.append(helper.make_tensor("w", kind, [4096], numbers.reshape(-1).tolist()))
    proto.graph.initializer[0].dims[:] = [64, 64]
    rest, weights = cut(memoryview(proto.SerializeToString()))
    assert bytes(weights[0]) == numbers.tobytes()
    assert len(rest) < 1000
    tensor = proto.graph.initializer[0]
    tensor.data_type = TensorProto.COMPLEX64  # whose parts are in the same list
    if dtype == "float32":
        assert cut(memoryview(proto.SerializeToString()))[1] == {}
    tensor.data_type = kind
    tensor.dims[:] = [2, 64]
    assert "is truncated" in message(proto.SerializeToString())


def test_cutting_weights_leaves_a_message_that_is_otherwise_equal() -> None:
    proto = two_layers()
    data = proto.SerializeToString()
    rest, weights = cut(memoryview(data))
    assert list(weights) == [0]
    assert bytes(weights[0]) == WIDE.tobytes()
    parsed = onnx.ModelProto.FromString(rest)
    parsed.graph.initializer[0].raw_data = bytes(weights[0])
    assert parsed == proto


def test_weights_share_the_memory_of_the_bytes() -> None:
    data = two_layers().SerializeToString()
    _, params = from_onnx(data, freeze_params=False)
    weight = params["w"].data
    assert isinstance(weight, memoryview)
    assert weight.obj is data


def test_weights_of_a_file_are_not_read(tmp_path: Path) -> None:
    """Importing a model of 40 MB adds less than 20 MB to the memory that is not the file's."""
    weight = TensorProto(
        name="w", dims=[1000, 10000], data_type=TensorProto.FLOAT, raw_data=bytes(40_000_000)
    )
    proto = model([helper.make_node("MatMul", ["x", "w"], ["y"])], [value("x", [1, 1000])], ["y"])
    proto.graph.initializer.append(weight)
    path = tmp_path / "large.onnx"
    onnx.save(proto, path)
    del proto, weight
    code = (
        "import sys, onnx\n"
        "from relay_explorer.frontends import from_onnx\n"
        "from relay_explorer.frontends.onnx import registry\n"
        "def private():\n"
        "    lines = open('/proc/self/status').read().splitlines()\n"
        "    return next(int(line.split()[1]) for line in lines if line.startswith('RssAnon'))\n"
        "registry.load(); before = private(); kept = from_onnx(sys.argv[1]); print(private() - before)\n"
    )
    out = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True)
    assert int(out.stdout) < 20_000


def test_external_data_is_read_from_the_models_folder(tmp_path: Path) -> None:
    proto = two_layers()
    path = tmp_path / "model.onnx"
    (tmp_path / "weights").mkdir()
    onnx.save(proto, path, save_as_external_data=True, location="weights/data.bin", size_threshold=16)
    mod, _ = from_onnx(path)
    assert_same(interpreted(mod, {"x": INPUT}), runtime(two_layers(), {"x": INPUT}))


# -- what is no model


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", "empty"),
        (b"PK\x03\x04" + bytes(40), "zip archive"),
        (b"\x89HDF\r\n\x1a\n" + bytes(40), "HDF5"),
        (b"\x80\x02}q\x00.", "pickle"),
        (b"name: resnet\nlayers: [1, 2]\n", "is not an ONNX model"),
        (b"\x00\x00\x00\x00TFL3" + bytes(40), "TFLite"),
        (bytes(100), "not an ONNX model"),
        (b"\x08\x0a", "has no graph"),
    ],
)
def test_refuses_what_is_no_onnx_model(content: bytes, expected: str, tmp_path: Path) -> None:
    assert expected in message(content)
    path = tmp_path / "model.onnx"
    path.write_bytes(content)
    assert "model.onnx" in message(path)


def test_refuses_every_truncation() -> None:
    data = two_layers().SerializeToString()
    for length in [*range(200), *range(200, len(data), 997), len(data) - 1]:
        with pytest.raises(RelayError):
            from_onnx(data[:length])


def test_survives_every_changed_byte() -> None:
    """A changed byte gives another model or a RelayError, and never another exception."""
    data = bytearray(one().SerializeToString())
    for position in range(len(data)):
        for change in (0x01, 0x80, 0xFF):
            changed = bytearray(data)
            changed[position] ^= change
            with contextlib.suppress(RelayError):
                from_onnx(bytes(changed))


def test_missing_file_and_wrong_type_are_ordinary_errors(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        from_onnx(tmp_path / "absent.onnx")
    with pytest.raises(TypeError, match="not int"):
        from_onnx(7)
    assert "folder" in message(tmp_path)


# -- inconsistent graphs


def chain(*nodes: onnx.NodeProto, outputs: tuple[str, ...] = ("y",)) -> onnx.ModelProto:
    return model(nodes, [value("x", [2, 3])], outputs)


def test_refuses_a_cycle() -> None:
    first = helper.make_node("Add", ["x", "b"], ["a"], name="first")
    second = helper.make_node("Relu", ["a"], ["b"], name="second")
    assert "cycle: the inputs of `first`, `second`" in message(chain(first, second, outputs=("b",)))
    assert "cycle" in message(chain(helper.make_node("Add", ["x", "y"], ["y"])))


def test_sorts_nodes_that_are_out_of_order() -> None:
    first = helper.make_node("Relu", ["x"], ["a"])
    second = helper.make_node("Neg", ["a"], ["y"])
    mod, _ = from_onnx(chain(second, first))
    x = floats([[-1, 2, 3], [4, -5, 6]])
    assert_same(interpreted(mod, {"x": x}), [-np.maximum(x, 0)])


def test_names_what_is_not_defined() -> None:
    assert "node `node` (Relu) uses %w" in message(chain(helper.make_node("Relu", ["w"], ["y"], name="node")))
    assert "output %z" in message(chain(helper.make_node("Relu", ["x"], ["y"]), outputs=("z",)))


def test_refuses_names_that_are_defined_twice() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], name="n")
    assert "%y is defined twice" in message(chain(node, node))
    assert "%x is defined twice" in message(chain(helper.make_node("Relu", ["x"], ["x"]), outputs=("x",)))
    twice = model([node], [value("x", [2]), value("x", [2])], ["y"])
    assert "two inputs" in message(twice)
    weights = one()
    weights.graph.initializer.extend([numpy_helper.from_array(floats([1]), "w")] * 2)
    assert "initializer %w is defined twice" in message(weights)


def test_finds_errors_in_subgraphs() -> None:
    def branch(name: str) -> onnx.GraphProto:
        node = helper.make_node("Relu", [name], ["z"], name="inner")
        return helper.make_graph([node], "branch", [], [helper.make_tensor_value_info("z", 1, None)])

    node = helper.make_node(
        "If", ["c"], ["y"], name="choice", then_branch=branch("x"), else_branch=branch("lost")
    )
    proto = model([node], [value("c", [], "bool"), value("x", [2])], ["y"])
    assert "uses %lost" in message(proto)


def nested(depth: int) -> onnx.ModelProto:
    """Make a model with subgraphs within one another, from the inside."""
    output = helper.make_tensor_value_info("y", 1, None)
    graph = helper.make_graph([helper.make_node("Relu", ["x"], ["y"])], "g", [], [output])
    empty = helper.make_graph([], "none", [], [])
    for _ in range(depth):
        node = helper.make_node("If", ["c"], ["y"], then_branch=graph, else_branch=empty)
        graph = helper.make_graph([node], "g", [], [output])
    return model(list(graph.node), [value("c", [], "bool"), value("x", [2])], ["y"])


def test_refuses_subgraphs_that_are_nested_too_deeply() -> None:
    assert "subgraphs are nested more than 30 deep" in message(nested(31))
    data = nested(1).graph.SerializeToString()
    for _ in range(200):  # GraphProto.node = 1, NodeProto.attribute = 5, AttributeProto.g = 6
        for field in (6, 5, 1):
            data = bytes([field << 3 | 2]) + varint(len(data)) + data
    assert "is not an ONNX model" in message(bytes([7 << 3 | 2]) + varint(len(data)) + data)


def varint(number: int) -> bytes:
    """Return a number as protobuf writes lengths."""
    result = b""
    while number > 127:
        result += bytes([number & 127 | 128])
        number >>= 7
    return result + bytes([number])


# -- sizes


@pytest.mark.parametrize("shape", [(10**18,), (10**9, 10**9, 10**9), (-3, 4)])
def test_refuses_absurd_shapes_of_inputs(shape: tuple[int, ...]) -> None:
    proto = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", shape)], ["y"])
    assert "%x" in message(proto)


@pytest.mark.parametrize("dims", [[3 * 2**28], [10**18], [2**62, 2**62], [-1]])
def test_refuses_weights_that_are_declared_but_absent(dims: list[int]) -> None:
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], [value("x", [2])], ["y"])
    proto.graph.initializer.append(TensorProto(name="w", dims=dims, data_type=TensorProto.FLOAT))
    assert "%w" in message(proto)


@pytest.mark.parametrize("size", [0, 7, 12, 2000])
def test_refuses_raw_data_of_the_wrong_length(size: int) -> None:
    proto = model([helper.make_node("Add", ["x", "w"], ["y"])], [value("x", [2])], ["y"])
    proto.graph.initializer.append(
        TensorProto(name="w", dims=[2], data_type=TensorProto.FLOAT, raw_data=bytes(size))
    )
    for source in (proto, proto.SerializeToString()):
        assert f"needs 8 bytes, but the file has {size}" in message(source)


def test_refuses_a_constant_of_an_absurd_shape() -> None:
    node = helper.make_node("ConstantOfShape", ["s"], ["y"], name="zeros")
    proto = model([node], [], ["y"], {"s": np.array([10**9, 10**9])})
    with pytest.raises(RelayError, match="too large"):
        from_onnx(proto)


def external(proto: onnx.ModelProto, **entries: str) -> onnx.ModelProto:
    """Say that the first weight is in another file."""
    tensor = proto.graph.initializer[0]
    tensor.ClearField("raw_data")
    tensor.data_location = TensorProto.EXTERNAL
    for key, entry in entries.items():
        tensor.external_data.add(key=key, value=entry)
    return proto


@pytest.mark.parametrize("location", ["/etc/passwd", "../secret.bin", "a/../../secret.bin", "", "x\0y"])
def test_external_data_stays_within_the_folder(location: str, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(WIDE.tobytes())
    path = folder / "model.onnx"
    path.write_bytes(external(two_layers(), location=location).SerializeToString())
    assert "not a path within the model's folder" in message(path)


def test_external_data_may_not_be_a_link_out_of_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "model"
    folder.mkdir()
    (tmp_path / "secret.bin").write_bytes(WIDE.tobytes())
    os.symlink(tmp_path / "secret.bin", folder / "data.bin")
    path = folder / "model.onnx"
    path.write_bytes(external(two_layers(), location="data.bin").SerializeToString())
    assert "leaves the model's folder" in message(path)


@pytest.mark.parametrize(
    ("entries", "expected"),
    [
        ({"offset": "8"}, "needs 16384 bytes"),
        ({"offset": "8", "length": "16384"}, "at bytes 8 to 16392 of 'data.bin', which has only"),
        ({"offset": "-8"}, "truncated"),
        ({"offset": "first"}, "not an integer"),
    ],
)
def test_external_data_must_lie_within_the_file(
    entries: dict[str, str], expected: str, tmp_path: Path
) -> None:
    (tmp_path / "data.bin").write_bytes(WIDE.tobytes())
    path = tmp_path / "model.onnx"
    path.write_bytes(external(two_layers(), location="data.bin", **entries).SerializeToString())
    assert expected in message(path)


def test_external_data_that_is_missing_is_named(tmp_path: Path) -> None:
    proto = external(two_layers(), location="data.bin")
    path = tmp_path / "model.onnx"
    path.write_bytes(proto.SerializeToString())
    assert "there is no file 'data.bin'" in message(path)
    assert "give from_onnx the path" in message(proto)


# -- versions, types and names


def test_refuses_opsets_that_the_package_does_not_define() -> None:
    proto = one()
    proto.opset_import[0].version = 999
    assert "opset 999" in message(proto)
    mod, _ = from_onnx(proto, opset=21)
    assert str(mod["main"]).count("nn.relu") == 1


def test_lists_operators_of_unknown_domains() -> None:
    node = helper.make_node("Relu", ["x"], ["y"], domain="org.example", name="strange")
    proto = model([node], [value("x", [2])], ["y"], domains=["org.example"])
    with pytest.raises(UnsupportedOperatorsError, match=r"org\.example\.Relu \(1 node, first `strange`\)"):
        from_onnx(proto)


def test_refuses_types_that_relay_does_not_have() -> None:
    proto = model(
        [helper.make_node("Identity", ["x"], ["y"])], [helper.make_tensor_value_info("x", 8, [2])], ["y"]
    )
    assert "string" in message(proto)
    unranked = model([helper.make_node("Relu", ["x"], ["y"])], [value("x", None)], ["y"])
    assert "how many axes" in message(unranked)


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "a\nb\r\n%c", "", "x" * 1_000_000, "日本", '"\\', "%x"]
)
def test_imports_hostile_names(name: str) -> None:
    """Names stay data: the program's text can be printed and parsed, and the result is right."""
    node = helper.make_node("Relu", [name or "x"], ["out" + name], name=name)
    proto = model([node], [value(name or "x", [2, name or "n"])], ["out" + name])
    mod, _ = from_onnx(proto)
    assert len(str(mod)) < 3_000_000
    x = floats([[-1, 2, 3], [4, -5, 6]])
    assert_same(interpreted(mod, {name or "x": x}), [np.maximum(x, 0)])
    assert mod.source is not None
    text = mod.source.text
    assert "\n" not in text.splitlines()[-1]


def test_errors_name_the_node() -> None:
    node = helper.make_node("Concat", ["x", "w"], ["y"], name="join", axis=0)
    proto = model([node], [value("x", [2, 3])], ["y"], {"w": np.zeros((2, 4), "float32")})
    with pytest.raises(RelayError, match="while importing node `join`"):
        from_onnx(proto)
