"""The recipes of CONTRIBUTING work as they are written."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.ir.op import Op
from relay_explorer.transform import Sequential, gradient
from relay_explorer.typing import infer_types
from tools.layers import LAYERS

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")


def recipe(title: str, folder: Path) -> dict[str, Any]:
    """Run the code of a recipe, as a file of its own, and return its names."""
    section = re.search(rf"^### Recipe: {title}\n(.*?)^### ", TEXT, re.DOTALL | re.MULTILINE)
    assert section is not None
    code = re.search(r"```python\n(.*?)```", section[1], re.DOTALL)
    assert code is not None
    path = folder / f"{title.replace(' ', '_')}.py"
    path.write_text(code[1], "utf-8")
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = sys.modules[path.stem] = module_from_spec(spec)  # where dataclasses look for it
    spec.loader.exec_module(module)
    return vars(module)


@pytest.fixture
def scale(tmp_path: Path) -> Iterator[Any]:
    yield recipe("an operator", tmp_path)["scale"]
    Op.unregister("my.scale")


def test_the_operator_is_typed_differentiated_run_and_compiled(scale: Any) -> None:
    x = relay.var("x", shape=(2, 3))
    module = infer_types(relay.IRModule.from_expr(relay.Function([x], scale(relay.tanh(x), by=0.5))))
    assert "my.scale(%0, by=0.5f)" in str(module)
    data = np.arange(6, dtype="float32").reshape(2, 3) / 4
    expected = np.tanh(data) / 2
    run = relay.create_executor(mod=module).evaluate()
    np.testing.assert_allclose(run(data), expected, rtol=1e-6)
    np.testing.assert_allclose(relay_explorer.build(module)(data), expected, rtol=1e-5)
    backward = relay.IRModule.from_expr(gradient(module["main"], module, mode="first_order"))
    _, (slope,) = relay.create_executor(mod=infer_types(backward)).evaluate()(data)
    np.testing.assert_allclose(slope, (1 - np.tanh(data) ** 2) / 2, rtol=1e-5)


def test_the_pass_rewrites_and_has_a_text_form(tmp_path: Path) -> None:
    recipe("a pass", tmp_path)
    text = "def @main(%x: Tensor[(2), float32]) { copy(copy(%x)) }"
    dropped, kept = (
        str(Sequential(passes)(relay.parse(text))["main"])
        for passes in ("DropCopies", "DropCopies(keep_first=True)")
    )
    assert dropped.count("copy") == 0
    assert kept.count("copy") == 1


def test_folders_that_are_named_exist() -> None:
    for path in re.findall(r"`((?:relay_explorer|tests|tools|benchmarks|figures)/[\w/.]+)`", TEXT):
        if not re.search(r"\bNAME\b|\bname\b|chNN", path):
            assert (ROOT / path).exists(), path


def test_the_picture_has_every_layer_that_stands() -> None:
    svg = (ROOT / "figures/svg/layers.light.svg").read_text("utf-8")
    for layer in LAYERS:
        package = ROOT / "relay_explorer" / layer.name
        if layer.band and (package.is_dir() or package.with_suffix(".py").is_file()):
            assert f">{layer.name}<" in svg


def test_the_scheme_quantizes_a_network(tmp_path: Path) -> None:
    scheme = recipe("a quantization scheme", tmp_path)["SixBits"]()
    x, w, v = (relay.var(name, shape=(8, 8)) for name in ("x", "w", "v"))
    program = relay.IRModule.from_expr(
        relay.Function([x, w, v], relay.nn.dense(relay.nn.relu(relay.nn.dense(x, w)), v))
    )
    random = np.random.default_rng(0)
    values = {name: random.normal(size=(8, 8)).astype("float32") for name in ("x", "w", "v")}
    data = values.pop("x")
    quantization = relay.quantize.trace(program, scheme, values, [{"x": data}])
    expected = relay.create_executor(mod=program).evaluate()(data, **values).numpy()
    actual = relay.create_executor(mod=quantization.realized).evaluate()(data).numpy()
    assert 0 < np.abs(expected - actual).max() < 0.1 * np.abs(expected).max()
    assert [place.why for place in quantization.kept][-1] == "the scheme skips layer 1 (of 2, counted from 0)"
