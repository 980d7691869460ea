"""What `from_pytorch` does around the operators: names, places, converters of the user, files, errors."""

from __future__ import annotations

import os
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

from relay_explorer import relay
from relay_explorer.frontends import from_pytorch
from relay_explorer.frontends.base.errors import ModelFileError, UnsupportedOperatorsError
from relay_explorer.frontends.base.source import Node, node_of
from relay_explorer.frontends.pytorch import archive
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Expr
from relay_explorer.ir.walk import post_order
from tests.frontends.pytorch.helpers import Calls, infos, same, scripted, traced, traced_function

X = torch.linspace(-1, 1, 8).reshape(2, 4)


class Encoder(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layer:
            x = nn.functional.relu(layer(x))
        return x


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.encoder = Encoder()
        self.tied = self.encoder.layer[0]
        self.scale = nn.Parameter(torch.full((4,), 2.0))

    def forward(self, x: Tensor) -> Tensor:
        x = self.tied(self.encoder(x))
        return x * self.scale


@pytest.mark.parametrize("module", [traced(Model(), [X]), scripted(Model())], ids=["traced", "scripted"])
def test_weights_have_their_names_in_state_dict_and_tied_ones_are_one(module: Any) -> None:
    mod = same(module, [X])
    names = [param.name_hint for param in mod["main"].params]
    assert names[0] == "x0"
    assert {re.sub(r"^tied", "encoder.layer.0", name) for name in names[1:]} == {
        "encoder.layer.0.weight", "encoder.layer.0.bias", "encoder.layer.1.weight", "encoder.layer.1.bias",
        "scale",
    }  # fmt: skip
    assert len(names) == 6


def test_friendly_names_have_no_dots() -> None:
    _, params = from_pytorch(traced(Model(), [X]), infos([X]), use_parser_friendly_name=True)
    assert "encoder_layer_1_weight" in params
    assert not any("." in name for name in params)


@pytest.mark.parametrize("module", [traced(Model(), [X]), scripted(Model())], ids=["traced", "scripted"])
def test_every_call_knows_its_node_module_and_line(module: Any) -> None:
    mod, _ = from_pytorch(module, infos([X]))
    nodes = [node_of(call.span) for call in post_order(mod["main"]) if isinstance(call, Call)]
    assert all(node is not None for node in nodes)
    linear = [node for node in nodes if node is not None and node.op == "aten::linear"]
    assert "encoder.layer.1" in {node.path for node in linear}
    places = {node.location.partition(":")[0] for node in nodes if node is not None}
    assert places == {"test_importing.py"}


def test_errors_name_the_node_and_its_place() -> None:
    with pytest.raises(RelayError, match="singular values") as caught:
        from_pytorch(traced(Calls(lambda x: torch.linalg.matrix_norm(x, 2)), [X]), infos([X]))
    assert "aten::linalg_matrix_norm_0" in str(caught.value)
    assert "test_importing.py" in str(caught.value)


def _unsupported(x: Tensor) -> Tensor:
    inverses = torch.linalg.inv(x[:, :2]) + torch.linalg.inv(x[:, 2:])
    result: Tensor = inverses + torch.special.bessel_j0(x[:, :2])
    return result


def test_one_error_names_all_unsupported_operators() -> None:
    with pytest.raises(UnsupportedOperatorsError) as caught:
        from_pytorch(traced(Calls(_unsupported), [X]), infos([X]))
    message = str(caught.value)
    assert re.search(r"aten::(linalg_inv|linalg_inv_ex) \(2 nodes", message)
    assert "aten::special_bessel_j0 (1 node" in message
    assert "convert_map" in message
    assert "test_importing.py" in message


def test_a_converter_of_the_user_gets_the_node_and_its_operands() -> None:
    seen: list[Node] = []

    def inverse(node: Node, inputs: list[Expr]) -> Expr:
        seen.append(node)
        return relay.negative(inputs[0])

    def bessel(node: Node, inputs: list[Expr]) -> Expr:
        return relay.tanh(inputs[0])

    converters = {
        "aten::linalg_inv": inverse,
        "aten::special_bessel_j0": bessel,
        "aten::add": lambda n, i: i[1],
    }
    mod, _ = from_pytorch(traced(Calls(_unsupported), [X]), infos([X]), convert_map=converters)
    assert len(seen) == 2
    assert seen[0].location.startswith("test_importing.py")
    assert "tanh" in str(mod["main"])


def test_old_converters_get_the_arguments_and_their_types() -> None:
    arguments: list[Any] = []

    def add(inputs: list[Any], types: list[str]) -> Expr:
        arguments.extend([inputs[2], types])
        return relay.subtract(inputs[0], inputs[1])

    module = traced(Calls(lambda x, y: torch.add(x, y, alpha=3)), [X, X])
    mod, _ = from_pytorch(module, infos([X, X]), {"aten::add": add})
    assert arguments == [3, ["float32", "float32", "int"]]
    assert "subtract" in str(mod["main"])


def test_the_traced_element_type_is_used_with_a_warning() -> None:
    module = traced(Calls(lambda x: x + 1), [X.long()])
    with pytest.warns(UserWarning, match="traced with int64"):
        mod, _ = from_pytorch(module, [("x", ((2, 4), "float32"))])
    assert str(mod["main"].params[0].type_annotation) == "Tensor[(2, 4), int64]"


def test_a_traced_function_is_imported_like_a_module() -> None:
    same(traced_function(lambda x: x.relu() + 1, X), [X])


@pytest.mark.parametrize(
    ("input_infos", "message"),
    [
        ([], "describes 0 inputs"),
        ([("x", (2, 4)), ("y", (1,))], "describes 2 inputs"),
        ([("x",)], "name and its shape"),
        ([("x", (2, -4))], "negative extent -4"),
        ([("x", 3)], "must be a sequence of extents, not 3"),
    ],
)
def test_wrong_descriptions_of_inputs_are_explained(input_infos: Any, message: str) -> None:
    with pytest.raises(RelayError, match=message):
        from_pytorch(traced(Model(), [X]), input_infos)


def test_a_module_that_is_not_torchscript_is_refused() -> None:
    with pytest.raises(RelayError, match="not Model") as caught:
        from_pytorch(Model(), infos([X]))
    assert "torch.jit.trace" in str(caught.value)


def test_a_quantized_weight_is_a_parameter_of_integers() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        quantized = torch.quantize_per_tensor(torch.ones(3), 0.1, 0, torch.qint8)

    class Quantized(nn.Module):
        weight: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("weight", quantized)

        def forward(self, x: Tensor) -> Tensor:
            result: Tensor = x + self.weight.dequantize()
            return result

    mod = same(traced(Quantized(), [X[0, :3]]), [X[0, :3]])
    (_, weight) = mod["main"].params
    assert str(weight.checked_type) == "Tensor[(3), int8]"


def test_the_graph_is_written_with_the_names_of_nodes(tmp_path: Path) -> None:
    from_pytorch(traced(Model(), [X]), infos([X]), export_renamed_c_graph_path=str(tmp_path))
    (name,) = os.listdir(tmp_path)
    assert name.startswith("tvm_exported_c_graph_")
    assert "%aten::linear_0" in (tmp_path / name).read_text()


# -- files


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "model.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.save(scripted(Model()), str(path))
    return path


def test_a_file_is_imported_like_the_module(saved: Path) -> None:
    mod, params = from_pytorch(saved, infos([X]))
    result = relay.create_executor("debug", mod).evaluate()(X.numpy(), **params)
    with torch.no_grad():
        np.testing.assert_allclose(result.numpy(), Model().eval()(X).numpy(), rtol=1e-5, atol=1e-5)


def test_truncated_and_foreign_files_are_refused(saved: Path, tmp_path: Path) -> None:
    data = saved.read_bytes()
    for name, content in (("cut.pt", data[: len(data) // 2]), ("text.pt", b"hello"), ("empty.pt", b"")):
        path = tmp_path / name
        path.write_bytes(content)
        with pytest.raises(ModelFileError, match="not a TorchScript archive"):
            from_pytorch(path, infos([X]))
    with pytest.raises(ModelFileError, match="no file"):
        from_pytorch(tmp_path / "missing.pt", infos([X]))


def test_weights_without_a_program_are_refused(tmp_path: Path) -> None:
    torch.save(Model().state_dict(), tmp_path / "weights.pt")
    with pytest.raises(ModelFileError, match="no TorchScript code"):
        from_pytorch(tmp_path / "weights.pt", infos([X]))


def test_a_file_without_its_weights_is_refused(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "bare.pt"
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            if "/data/" not in entry.filename:
                new.writestr(entry, old.read(entry))
    with pytest.raises(ModelFileError, match="cannot be read as TorchScript"):
        from_pytorch(path, infos([X]))


def test_zip_bombs_and_paths_outside_are_refused(tmp_path: Path) -> None:
    bomb = tmp_path / "bomb.pt"
    with zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("model/code/__torch__.py", b"\0" * (archive._FREE + (1 << 20)))
    with pytest.raises(ModelFileError, match="zip bomb"):
        from_pytorch(bomb, infos([X]))
    outside = tmp_path / "outside.pt"
    with zipfile.ZipFile(outside, "w") as file:
        file.writestr("../code/x.py", b"")
    with pytest.raises(ModelFileError, match="outside of the archive"):
        from_pytorch(outside, infos([X]))


def test_a_pickle_that_calls_a_function_is_not_executed(saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "executed"
    path = tmp_path / "hostile.pt"
    hostile = b"\x80\x02cos\nmkdir\nq\x00X" + len(str(target)).to_bytes(4, "little") + str(target).encode()
    hostile += b"\x85Rq\x01."
    with zipfile.ZipFile(saved) as old, zipfile.ZipFile(path, "w") as new:
        for entry in old.infolist():
            is_data = entry.filename.endswith("/data.pkl")
            new.writestr(entry.filename, hostile if is_data else old.read(entry))
    with pytest.raises(ModelFileError, match="cannot be read as TorchScript"):
        from_pytorch(path, infos([X]))
    assert not target.exists()
