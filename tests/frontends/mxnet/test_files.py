"""MXNet's files: every format of arrays is read, and a broken file gives a clear error."""

from __future__ import annotations

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from relay_explorer.frontends import from_mxnet
from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.frontends.mxnet import ndarray_file, symbol
from relay_explorer.ir.errors import RelayError

FOLDER = Path(__file__).parents[2] / "data" / "mxnet"
CONTENTS = (FOLDER / "arrays.params").read_bytes()


def test_arrays_of_every_element_type_are_read() -> None:
    values = ndarray_file.read(FOLDER / "arrays.params")
    for kind in ("float16", "float32", "float64", "int8", "uint8", "int32", "int64"):
        assert values[kind].dtype == kind
        assert values[kind].numpy().tolist() == [0, 1, 2]


@pytest.mark.parametrize("name", ["csr", "row_sparse"])
def test_sparse_arrays_become_dense(name: str) -> None:
    values = ndarray_file.read(FOLDER / "arrays.params")
    np.testing.assert_array_equal(values[name].numpy(), np.load(FOLDER / "arrays.npz")[name])


def test_a_scalar_of_the_numpy_interface_is_read() -> None:
    (value,) = ndarray_file.read(FOLDER / "numpy.params").values()
    assert value.shape == ()
    assert value.numpy() == 2.5


def listed(*arrays: bytes, names: tuple[str, ...] = ("x",)) -> bytes:
    """Return a file with arrays that are already written."""
    texts = b"".join([struct.pack("<Q", len(name)) + name.encode() for name in names])
    return (
        struct.pack("<QQQ", 0x112, 0, len(arrays)) + b"".join(arrays) + struct.pack("<Q", len(names)) + texts
    )


FLOATS = np.arange(6, dtype="float32").tobytes()


@pytest.mark.parametrize(
    "written",
    [
        struct.pack("<IIIiii", 2, 2, 3, 1, 0, 0) + FLOATS,  # the first format: a shape of 32-bit numbers
        struct.pack("<IIqqiii", 0xF993FAC8, 2, 2, 3, 1, 0, 0) + FLOATS,
        struct.pack("<IiIqqiii", 0xF993FAC9, 0, 2, 2, 3, 1, 0, 0) + FLOATS,
        struct.pack("<IiIqqiii", 0xF993FACA, 0, 2, 2, 3, 1, 0, 0) + FLOATS,
    ],
)
def test_each_format_of_an_array_is_read(written: bytes) -> None:
    values = ndarray_file.parse(listed(written))
    assert values["x"].numpy().tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_truncated_file_of_arrays_is_refused_wherever_it_ends() -> None:
    for end in range(0, len(CONTENTS), 3):
        with pytest.raises(ModelFileError):
            ndarray_file.parse(CONTENTS[:end])


def test_a_damaged_file_of_arrays_never_fails_otherwise() -> None:
    random = np.random.default_rng(4)
    for _ in range(400):
        damaged = bytearray(CONTENTS)
        for position in random.integers(16, len(CONTENTS), 3):
            damaged[position] = random.integers(256)
        try:
            ndarray_file.parse(bytes(damaged))
        except ModelFileError:
            continue


@pytest.mark.parametrize(
    ("contents", "words"),
    [
        (b"PK\x03\x04" + bytes(40), "is not a file of MXNet arrays: it does not begin with 0x112"),
        (struct.pack("<QQQ", 0x112, 0, 1 << 60), "it cannot have 1152921504606846976 arrays"),
        (listed(struct.pack("<IIIiii", 2, 1 << 31, 1 << 31, 1, 0, 0)), "is truncated or damaged"),
        (listed(struct.pack("<I", 1 << 20)), "an array has 1048576 axes"),
        (listed(struct.pack("<Ii", 0xF993FAC9, 9)), "the unknown kind of storage 9"),
        (listed(struct.pack("<IIiii", 1, 1, 1, 0, 99) + FLOATS), "the unknown element type 99"),
        (listed(struct.pack("<IIiii", 1, 6, 1, 0, 0) + FLOATS, names=()), "1 arrays, but 0 names"),
        (
            listed(*[struct.pack("<IIiii", 1, 6, 1, 0, 0) + FLOATS] * 2, names=("x", "x")),
            "two arrays called 'x'",
        ),
    ],
)
def test_an_absurd_file_of_arrays_says_what_is_wrong(contents: bytes, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        ndarray_file.parse(contents)


def test_a_sparse_array_of_absurd_size_is_refused() -> None:
    array = struct.pack("<IiIqq", 0xF993FAC9, 1, 2, 1, 1)  # one row of one element is stored
    array += struct.pack("<Iqqiii", 2, 1 << 40, 1, 1, 0, 0)  # of a matrix with 2**40 rows
    array += struct.pack("<iIq", 6, 1, 1) + struct.pack("<f", 1) + struct.pack("<q", 0)
    with pytest.raises(ModelFileError, match="too large to be made dense"):
        ndarray_file.parse(listed(array))


def changed(**parts: Any) -> str:
    return json.dumps({"nodes": [{"op": "null", "name": "x", "inputs": []}], "heads": [[0, 0, 0]]} | parts)


RELU = {"op": "relu", "name": "y"}
LOOP = {"in_data_locs": "[0]", "num_out_data": "1"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "is not JSON, or is truncated"),
        (changed(nodes=None), "has no list of nodes"),
        (changed(heads=[]), "has no results"),
        (changed(heads=[[5, 0, 0]]), "an entry of `heads` refers to node 5, which is not before it"),
        (changed(heads=["x"]), "an entry of `heads` refers to a node, but not in the form"),
        (changed(nodes=[3]), "node 0 of the symbol is not an object"),
        (changed(nodes=[{"op": "relu"}]), "has no operator, or no name"),
        (changed(nodes=[RELU | {"inputs": [[0, 0, 0]]}]), "its graph has a cycle"),
        (changed(nodes=[RELU | {"inputs": [[-1, 0, 0]]}]), "its graph has a cycle"),
        (changed(nodes=[RELU | {"inputs": 3}]), "are not a list"),
        (changed(nodes=[RELU | {"inputs": [], "subgraphs": [{}]}]), r"has no list of nodes \(in y\)"),
        ('{"nodes":' + "[" * 100_000, "nested too deeply"),
    ],
)
def test_a_damaged_symbol_says_what_is_wrong(text: str, words: str) -> None:
    with pytest.raises(ModelFileError, match=words):
        symbol.parse(text)


def test_files_that_are_exchanged_or_missing_are_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="a symbol file is JSON"):
        from_mxnet(FOLDER / "residual-0000.params")
    with pytest.raises(ModelFileError, match="No such file"):
        from_mxnet(tmp_path / "missing-symbol.json")
    with pytest.raises(ModelFileError, match="No such file"):
        from_mxnet(changed(), {"x": (1,)}, arg_params=tmp_path / "missing.params")
    (tmp_path / "empty.params").write_bytes(b"")
    with pytest.raises(ModelFileError, match="is empty"):
        from_mxnet(changed(), {"x": (1,)}, arg_params=tmp_path / "empty.params")
    with pytest.raises(TypeError, match="a symbol is a path"):
        from_mxnet(3)


@pytest.mark.parametrize(
    ("node", "words"),
    [
        (RELU | {"inputs": []}, "the node has 0 inputs, but requires at least 1"),
        (RELU | {"op": "Cast", "inputs": [[0, 0, 0]]}, "the node has no attribute `dtype`"),
        (RELU | {"op": "Cast", "inputs": [[0, 0, 0]], "attrs": {"dtype": "text"}}, "is not an element type"),
        (RELU | {"op": "_zeros", "inputs": [], "attrs": {"shape": "(99999, 99999)"}}, "limit is 16,777,216"),
        (RELU | {"op": "_arange", "inputs": [], "attrs": {"stop": "1e15"}}, "the limit is 16,777,216"),
        (RELU | {"op": "_foreach", "inputs": [[0, 0, 0]], "attrs": LOOP}, "0 subgraphs, but requires"),
        (RELU | {"op": "expand_dims", "inputs": [[0, 0, 0]], "attrs": {"axis": "x"}}, "is not a number: 'x'"),
    ],
)  # fmt: skip
def test_a_node_that_makes_no_sense_is_named(node: dict[str, Any], words: str) -> None:
    variable = {"op": "null", "name": "x", "inputs": []}
    text = changed(nodes=[variable, node], heads=[[1, 0, 0]])
    with pytest.raises(Exception, match=words) as caught:
        from_mxnet(text, {"x": (2, 3)})
    assert "while importing node `y`" in str(caught.value)


def test_attributes_that_make_no_sense_give_errors_of_the_importer() -> None:
    random = np.random.default_rng(5)
    absurd = [
        "(0, 0)",
        "-1",
        "0",
        "99999999999",
        "None",
        "abc",
        "1e300",
        "nan",
        "()",
        "(-1, -1)",
        "[5]",
        "inf",
    ]
    cases = json.loads((FOLDER / "operators.json").read_text())
    refused = 0
    for case in [cases[number] for number in random.permutation(len(cases))[:150]]:
        nodes = [node for node in case["symbol"]["nodes"] if node.get("attrs")]
        if not nodes:
            continue
        attrs = nodes[random.integers(len(nodes))]["attrs"]
        attrs[list(attrs)[random.integers(len(attrs))]] = absurd[random.integers(len(absurd))]
        shapes = {name: entry[1] for name, entry in case["inputs"].items()}
        try:
            from_mxnet(json.dumps(case["symbol"]), shapes)
        except RelayError:
            refused += 1
    assert refused > 50


def test_a_recurrent_network_of_absurd_depth_is_refused() -> None:
    text = (
        (FOLDER / "tagger-symbol.json")
        .read_text()
        .replace('"num_layers": "2"', '"num_layers": "99999999999"')
    )
    with pytest.raises(
        RelayError, match="an RNN requires 1 to 1,000 layers and a positive state_size, not 99999999999"
    ):
        from_mxnet(text, {"data": (2, 6, 3)})
