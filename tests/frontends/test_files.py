"""Recognizing the format of a file by its contents, and opening the model in it."""

from __future__ import annotations

import json
import pickle
import shutil
import struct
import warnings
import zipfile
from pathlib import Path

import numpy as np
import pytest
import torch

from relay_explorer import relay
from relay_explorer.frontends import files
from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.frontends.files import open_model, recognized
from relay_explorer.ir.errors import RelayError
from relay_explorer.lower.profiling import measurement
from tests.cli.models import classifier, expected

DATA = Path(__file__).parents[1] / "data"
SYMBOL = {"nodes": [{"op": "null", "name": "data", "inputs": []}], "arg_nodes": [0], "heads": [[0, 0, 0]]}


class Net(torch.nn.Module):
    """A layer, with a ReLU."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.head = torch.nn.Linear(6, 4)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Apply the layer."""
        return torch.relu(self.head(x))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a file of each format, whose names say nothing about it."""
    place = tmp_path_factory.mktemp("files")
    classifier(place / "onnx.bin")
    net, x = Net().eval(), torch.zeros(2, 6)
    with warnings.catch_warnings():
        warnings.simplefilter(
            "ignore", DeprecationWarning
        )  # TorchScript is deprecated, and its files are there
        torch.jit.trace(net, (x,)).save(place / "torchscript.bin")
    torch.export.save(torch.export.export(net, (x,)), place / "exported.pt2")
    (place / "exported.pt2").rename(place / "exported.bin")
    torch.save(net.state_dict(), place / "state.bin")
    torch.save(net.state_dict(), place / "old.bin", _use_new_zipfile_serialization=False)
    (place / "relay.bin").write_text("def @main(%x: Tensor[(2), float32]) { exp(%x) }")
    (place / "brace.bin").write_text("{")
    (place / "empty_line.bin").write_text("\ndef @main(%ö: Tensor[(2), float32]) { exp(%ö) }", "utf-8")
    (place / "mxnet.bin").write_text(json.dumps(SYMBOL))
    shutil.copy(DATA / "tflite" / "conv_float.tflite", place / "tflite.bin")
    shutil.copy(DATA / "tensorflow" / "convolutional.pb", place / "tensorflow.bin")
    (place / "measurement.bin").write_text(json.dumps(measurement.stored("resnet18").to_dict()))
    with zipfile.ZipFile(place / "keras.bin", "w") as archive:
        for name in ("metadata.json", "config.json", "model.weights.h5"):
            archive.writestr(name, "{}")
    (place / "h5.bin").write_bytes(b"\x89HDF\r\n\x1a\n" + bytes(100))
    return place


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("onnx", files.ONNX),
        ("torchscript", files.TORCHSCRIPT),
        ("exported", files.EXPORTED),
        ("relay", files.RELAY),
        ("brace", files.RELAY),
        ("empty_line", files.RELAY),  # of a message, the first byte would be the tag of a string
        ("mxnet", files.MXNET),
        ("tflite", files.TFLITE),
        ("tensorflow", files.TENSORFLOW),
        ("measurement", files.MEASUREMENT),
        ("keras", files.KERAS),
        ("h5", files.KERAS),
    ],
)
def test_a_format_is_recognized_by_the_contents(folder: Path, name: str, kind: str) -> None:
    assert recognized(folder / f"{name}.bin") == kind


def test_the_folder_of_a_saved_model_is_recognized() -> None:
    assert recognized(DATA / "tensorflow" / "tagger") == files.TENSORFLOW
    with pytest.raises(ModelFileError, match="a part of a TensorFlow SavedModel") as caught:
        recognized(DATA / "tensorflow" / "tagger" / "saved_model.pb")
    assert caught.value.help == ("give the SavedModel's folder instead: its other files contain the weights",)


def test_every_tensorflow_graph_and_tflite_model_of_the_tests_is_recognized() -> None:
    assert {recognized(path) for path in (DATA / "tensorflow").glob("*.pb")} == {files.TENSORFLOW}
    assert {recognized(path) for path in (DATA / "tflite").glob("*.tflite")} == {files.TFLITE}


@pytest.mark.parametrize(
    ("contents", "reason", "remedy"),
    [
        (pickle.dumps({"a": 1}), "a Python pickle, such as torch.save writes", "export the whole model"),
        (b"\x93NUMPY\x01\x00", "a NumPy array, not a model", "--input NAME=FILE.npy"),
        (b"\x1f\x8b\x08\x00", "is compressed with gzip", "unpack it first: gzip -dc FILE > MODEL"),
        (b"GGUF\x03\x00\x00\x00", "weights in the format GGUF", "export the whole model"),
        (
            struct.pack("<Q", 20) + b'{"a":{"dtype":"F32"}' + bytes(16),
            "weights in the format safetensors",
            "export the whole model",
        ),
        (b"PK\x03\x04 and no more", "is a broken zip archive", ""),
        (b'{"weights": [1, 2]}', "is JSON, but neither an MXNet symbol nor a saved measurement", ""),
    ],
)
def test_a_file_without_a_model_is_refused_with_the_reason_and_the_remedy(
    tmp_path: Path, contents: bytes, reason: str, remedy: str
) -> None:
    path = tmp_path / "model.onnx"
    path.write_bytes(contents)
    with pytest.raises(ModelFileError, match=reason) as caught:
        recognized(path)
    assert remedy in " ".join(caught.value.help)


@pytest.mark.parametrize("name", ["state", "old"])
def test_a_state_dict_is_refused_and_never_unpickled(folder: Path, name: str) -> None:
    with pytest.raises(ModelFileError, match=r"torch\.save") as caught:
        open_model(folder / f"{name}.bin")
    assert any("torch.export.save" in hint for hint in caught.value.help)


def test_an_archive_of_something_else_lists_its_entries(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        archive.writestr("readme.txt", "")
    with pytest.raises(ModelFileError, match=r"it contains readme\.txt"):
        recognized(tmp_path / "x.zip")
    np.savez(tmp_path / "x.npz", a=np.zeros(1))
    with pytest.raises(ModelFileError, match="has NumPy arrays, but no model") as caught:
        recognized(tmp_path / "x.npz")
    assert "--input FILE.npz" in caught.value.help[0]


def test_a_hostile_pickle_is_not_executed(tmp_path: Path) -> None:
    marker = tmp_path / "executed"
    payload = b"cpathlib\nPath\n(S'" + str(marker).encode() + b"'\ntR."
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("x/data.pkl", payload)
    for contents in (tmp_path / "x.pt",):
        with pytest.raises(ModelFileError):
            open_model(contents)
    assert not marker.exists()


def test_models_are_opened_and_compute_what_they_did(folder: Path) -> None:
    x = np.random.default_rng(0).standard_normal((1, 6)).astype("float32")
    opened = open_model(folder / "onnx.bin")
    assert opened.format == files.ONNX
    computed = relay.create_executor("debug", opened.mod).evaluate()(x).numpy()
    np.testing.assert_allclose(computed, expected(folder / "onnx.bin", x), atol=1e-5)


def test_the_shapes_of_a_torchscript_program_must_be_given(folder: Path) -> None:
    with pytest.raises(RelayError, match=r"does not record the shapes of its inputs \(`x`\)") as caught:
        open_model(folder / "torchscript.bin")
    assert "give them: --shape x=1,3,224,224" in caught.value.help
    opened = open_model(folder / "torchscript.bin", {"x": (2, 6)})
    assert str(opened.mod["main"].params[0].type_annotation) == "Tensor[(2, 6), float32]"
    assert set(opened.params) == {"head.weight", "head.bias"}


def test_a_named_axis_becomes_a_named_size(folder: Path) -> None:
    module = open_model(folder / "torchscript.bin", {"x": ("n", 6)}).mod
    assert str(module["main"].params[0].type_annotation) == "Tensor[(n, 6), float32]"
    module = open_model(folder / "onnx.bin", {"x": ("?", 6)}).mod
    assert str(module["main"].params[0].type_annotation) == "Tensor[(?, 6), float32]"


def test_an_exported_program_has_its_own_shapes(folder: Path) -> None:
    assert open_model(folder / "exported.bin").format == files.EXPORTED
    with pytest.raises(RelayError, match="has the shapes and element types with which it was exported"):
        open_model(folder / "exported.bin", {"x": (1, 6)})


def test_an_mxnet_symbol_without_weights_is_an_error(folder: Path) -> None:
    with pytest.raises(ModelFileError, match="there are no weights beside"):
        open_model(folder / "mxnet.bin")


def test_a_measurement_is_no_model(folder: Path) -> None:
    with pytest.raises(ModelFileError, match="is a measurement, not a model"):
        open_model(folder / "measurement.bin")


@pytest.mark.parametrize("cut", [1, 2, 7, 100])
def test_the_beginning_of_a_model_is_still_recognized_or_refused(
    folder: Path, tmp_path: Path, cut: int
) -> None:
    contents = (folder / "onnx.bin").read_bytes()
    (tmp_path / "cut").write_bytes(contents[:cut])
    with pytest.raises(RelayError):
        open_model(tmp_path / "cut")
