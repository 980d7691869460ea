"""A `.pt2` file is read as data: what it contains is checked, and nothing in it is executed."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from relay_explorer.frontends.base.errors import ModelFileError
from relay_explorer.frontends.torch_export import from_exported_program
from relay_explorer.frontends.torch_export.checked import check_name, check_size, check_target
from relay_explorer.ir.errors import RelayError
from tests.frontends.torch_export.exporting import assert_close, computed, exported


class Network(nn.Module):
    """A network with a weight, a constant, a condition and a dynamic axis."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 2)

    def forward(self, x: Tensor) -> Tensor:
        y = self.linear(x) + torch.tensor([1.0, 2.0])
        z: Tensor = torch.cond(y.sum() > 0, lambda v: v + 1, lambda v: v * 2, (y,))
        return z.view(x.shape[0] * 2, 1)


X = torch.randn(4, 4)
MODEL = Network()


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Save the network."""
    path = tmp_path_factory.mktemp("pt2") / "network.pt2"
    torch.export.save(exported(MODEL, (X,), ({0: Dim("n", min=2, max=64)},)), path)
    return path


def entries(path: Path) -> dict[str, bytes]:
    """Return the contents of an archive."""
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def written(folder: Path, contents: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> Path:
    """Write an archive."""
    path = folder / "changed.pt2"
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, data in contents.items():
            archive.writestr(name, data)
    return path


def changed(
    saved: Path, folder: Path, change: Callable[[Any], None], file: str = "models/model.json"
) -> Path:
    """Write the archive with a JSON entry changed."""
    contents = entries(saved)
    (name,) = [name for name in contents if name.endswith(file)]
    data = json.loads(contents[name])
    change(data)
    contents[name] = json.dumps(data).encode()
    return written(folder, contents)


def test_reads_what_pytorch_saves(saved: Path) -> None:
    mod, params = from_exported_program(saved)
    assert set(params) == {"linear.weight", "linear.bias"}
    for x in (X, -torch.rand(3, 4)):
        with torch.no_grad():
            assert_close(computed(mod, params, (x,)), [MODEL(x)], 1e-5)
    assert "?" not in str(mod["main"].params[0].type_annotation)
    assert any(node.path == "linear" for node in mod.source.nodes)  # type: ignore[union-attr]  # a ModelSource


def test_keeps_shared_memory_shared(tmp_path: Path) -> None:
    model = nn.Sequential(nn.Linear(4, 4, bias=False), nn.Linear(4, 4, bias=False))
    model[1].weight = model[0].weight
    torch.export.save(exported(model, (X,)), tmp_path / "tied.pt2")
    mod, params = from_exported_program(tmp_path / "tied.pt2")
    assert len(params) == 1
    with torch.no_grad():
        assert_close(computed(mod, params, (X,)), [model(X)], 1e-5)


class Trap:
    """An object whose pickle writes a file when it is loaded."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return (Path.write_text, (self.path, "executed"))


def test_never_loads_a_pickle(saved: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    poison = io.BytesIO()
    torch.save(Trap(trap), poison)
    contents = entries(saved)
    for name in contents:
        if "sample_inputs" in name:
            contents[name] = poison.getvalue()
    mod, _ = from_exported_program(written(tmp_path, contents))  # example inputs are not needed
    assert mod is not None
    assert not trap.exists()
    config = next(name for name in contents if name.endswith("model_weights_config.json"))
    described = json.loads(contents[config])
    described["config"]["linear.weight"]["use_pickle"] = True
    contents[config] = json.dumps(described).encode()
    contents[next(name for name in contents if name.endswith("weights/weight_0"))] = poison.getvalue()
    with pytest.raises(ModelFileError, match="pickle"):
        from_exported_program(written(tmp_path, contents))
    legacy = {**entries(saved), "network/data/weights/model.pt": pickle.dumps(Trap(trap))}
    with pytest.raises(ModelFileError, match="pickles"):
        from_exported_program(written(tmp_path, legacy))
    assert not trap.exists()


def test_never_evaluates_a_size(saved: Path, tmp_path: Path) -> None:
    trap = tmp_path / "trap"

    def poison(data: Any) -> None:
        sizes = data["graph_module"]["graph"]["tensor_values"]["x"]["sizes"]
        sizes[0]["as_expr"]["expr_str"] = f"open({str(trap)!r}, 'w')"

    with pytest.raises(ModelFileError, match="not arithmetic with sizes"):
        from_exported_program(changed(saved, tmp_path, poison))
    assert not trap.exists()


def test_names_the_node_that_is_malformed(saved: Path, tmp_path: Path) -> None:
    def poison(data: Any) -> None:
        node = data["graph_module"]["graph"]["nodes"][0]
        assert node["target"] == "torch.ops.aten.sym_size.int"
        node["inputs"][0]["arg"] = {}

    with pytest.raises(ModelFileError, match=r"node 0 \(aten\.sym_size\.int\): an argument is malformed"):
        from_exported_program(changed(saved, tmp_path, poison))


def test_never_makes_code_of_a_name(saved: Path, tmp_path: Path) -> None:
    def poison(data: Any) -> None:
        text = json.dumps(data).replace('"x"', '"x=__import__(chr(111)+chr(115))"')
        data.update(json.loads(text))

    with pytest.raises(ModelFileError, match="not an identifier"):
        from_exported_program(changed(saved, tmp_path, poison))


@pytest.mark.parametrize(
    "target",
    ["torch.hub.load", "_operator.attrgetter", "torch.ops.load_library", "torch.ops.aten.add", "os.system"],
)
def test_calls_registered_operators_only(target: str, saved: Path, tmp_path: Path) -> None:
    def poison(data: Any) -> None:
        data["graph_module"]["graph"]["nodes"][1]["target"] = target

    with pytest.raises(ModelFileError, match="not an operator"):
        from_exported_program(changed(saved, tmp_path, poison))


def test_refuses_a_zip_bomb(tmp_path: Path) -> None:
    bomb = {"m/models/model.json": b" " * (64 << 20)}
    with pytest.raises(ModelFileError, match="zip bomb"):
        from_exported_program(written(tmp_path, bomb, zipfile.ZIP_DEFLATED))


def test_refuses_entries_outside_the_archive(saved: Path, tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="outside the archive"):
        from_exported_program(written(tmp_path, {**entries(saved), "../../evil": b""}))


def test_refuses_what_is_no_archive(saved: Path, tmp_path: Path) -> None:
    path = tmp_path / "text.pt2"
    path.write_bytes(b"hello")
    with pytest.raises(ModelFileError, match=r"torch\.export\.save"):
        from_exported_program(path)
    path.write_bytes(saved.read_bytes()[:-200])
    with pytest.raises(ModelFileError, match="cannot be read"):
        from_exported_program(path)
    with pytest.raises(ModelFileError, match="no exported program"):
        from_exported_program(written(tmp_path, {"m/version": b"1"}))


@pytest.mark.parametrize("share", [0.2, 0.5, 0.9])
def test_refuses_damaged_bytes(share: float, saved: Path, tmp_path: Path) -> None:
    contents = entries(saved)
    name = next(name for name in contents if name.endswith("models/model.json"))
    contents[name] = contents[name][: int(len(contents[name]) * share)]
    with pytest.raises(ModelFileError, match="not JSON"):
        from_exported_program(written(tmp_path, contents))


def test_refuses_weights_that_are_missing_or_too_short(saved: Path, tmp_path: Path) -> None:
    contents = entries(saved)
    name = next(name for name in contents if name.endswith("weights/weight_0"))
    with pytest.raises(ModelFileError, match="needs more data"):
        from_exported_program(written(tmp_path, {**contents, name: contents[name][:8]}))
    del contents[name]
    with pytest.raises(ModelFileError, match="no entry"):
        from_exported_program(written(tmp_path, contents))


def test_refuses_absurd_shapes(saved: Path, tmp_path: Path) -> None:
    def enlarge(data: Any) -> None:
        data["config"]["linear.weight"]["tensor_meta"]["sizes"][0]["as_int"] = 1 << 50

    with pytest.raises(ModelFileError, match="natural numbers below"):
        from_exported_program(changed(saved, tmp_path, enlarge, "model_weights_config.json"))


def test_refuses_an_inconsistent_graph(saved: Path, tmp_path: Path) -> None:
    def cut(data: Any) -> None:
        data["graph_module"]["graph"]["nodes"].pop(0)

    with pytest.raises(ModelFileError, match="PyTorch rejects"):
        from_exported_program(changed(saved, tmp_path, cut))


def test_refuses_deep_nesting(tmp_path: Path) -> None:
    with pytest.raises(ModelFileError, match="not JSON"):
        from_exported_program(written(tmp_path, {"m/models/model.json": b"[" * 200_000}))


def test_admits_the_sizes_that_pytorch_writes() -> None:
    for size in (
        "Symbol('s77', positive=True, integer=True)",
        "Mul(Integer(2), Symbol('s0', positive=True, integer=True))",
        "Add(FloorDiv(Symbol('s0', positive=True, integer=True), Integer(2)), Integer(-1))",
        "Pow(Symbol('s1', integer=True), Integer(2))",
        "2*s0 + 1",
    ):
        check_size(size)


@pytest.mark.parametrize(
    "size",
    [
        "__import__('os')", "s0.__class__", "(lambda: 0)()", "Symbol('__import__(1)')", "9**9**9**9",
        "Pow(Integer(9), Pow(Integer(9), Integer(99)))", "[s0 for s0 in s1]", "'text'", "s0 if s1 else s2",
        "Symbol('s0', positive=print(1))", "f'{s0}'", "(" * 300 + ")" * 300,
    ],
)  # fmt: skip
def test_rejects_other_expressions(size: str) -> None:
    with pytest.raises(RelayError):
        check_size(size)


def test_rejects_names_and_targets_that_are_code() -> None:
    check_name("p_linear_weight")
    check_target("torch.ops.aten.add.Tensor")
    check_target("_operator.mul")
    for name in ("a b", "a=1", "", "lambda", "__builtins__", None):
        with pytest.raises(RelayError):
            check_name(name)
    for target in ("torch.ops.aten.add.__class__", "torch.ops.__class__.a.b", "_operator.setitem", None):
        with pytest.raises(RelayError):
            check_target(target)
