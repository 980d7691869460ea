"""ONNX files in the playground: the program of a model, what the page can import, and what it refuses."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import onnx
import pytest

from relay_explorer import relay
from relay_explorer.ir import structural_equal
from relay_explorer.playground.session import Session
from relay_explorer.text import parse
from relay_explorer.views.editing import with_weights_as_parameters
from tests.frontends.onnx.node_tests import generated, with_constants
from tests.playground import models
from tests.playground.onnx_models import imported

ROOT = Path(__file__).parents[2]
# Operators that the importer expands into ONNX's own definitions, which the page does not have;
# `book/playground.md` lists them.
NOT_HERE = {
    "AffineGrid", "Attention", "BlackmanWindow", "CausalConvWithState", "FlexAttention", "HammingWindow",
    "HannWindow", "LinearAttention", "NegativeLogLikelihoodLoss", "SequenceMap", "SoftmaxCrossEntropyLoss",
    "SwiGLU", "Swish",
}  # fmt: skip


def opened(session: Session, content: bytes, name: str = "model.onnx") -> dict[str, Any]:
    result: dict[str, Any] = json.loads(session.open(name, content))
    return result


def ask(session: Session, text: str, view: str, **options: object) -> dict[str, Any]:
    answer = session.answer(json.dumps({"text": text, "view": view, "options": options}))
    result: dict[str, Any] = json.loads(answer)
    return result


def test_a_model_becomes_a_text_in_which_its_weights_are_parameters() -> None:
    answer = opened(Session(), models.layers(), "layers.onnx")
    assert answer["problems"] == []
    text = answer["text"]
    assert text.startswith("// layers.onnx: the weights are parameters; runs use the model's values.\n")
    assert "%fc1.weight: Tensor[(32, 4), float32],\n" in text
    assert "%fc2.bias: Tensor[(3), float32]" in text
    assert "nn.dense(%x, %fc1.weight)" in text
    imported, _ = relay.frontend.from_onnx(models.layers())
    module, values = with_weights_as_parameters(imported)
    assert structural_equal(parse(text), module)
    assert list(values) == ["fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"]


def test_a_model_of_few_numbers_keeps_them() -> None:
    answer = opened(Session(), models.layers(width=2))
    assert answer["text"].startswith("// model.onnx: the model as a program of Relay.\n")
    assert '"dtype": "float32", "values": [' in answer["text"]
    parse(answer["text"])


def test_only_the_text_of_the_model_stands_for_the_model() -> None:
    session = Session()
    text = opened(session, models.layers(), "layers.onnx")["text"]
    answer = ask(session, text, "source")
    assert answer["view"]["title"] == "layers"
    assert "Gemm" in json.dumps(answer["view"])
    edited = text.replace("nn.relu", "tanh")
    answer = ask(session, edited, "source")
    assert answer["view"] is None
    assert "undo it" in str(answer["problems"])
    assert "tanh" in json.dumps(ask(session, edited, "ir")["view"])
    assert opened(session, b"\0")["text"] is None
    assert ask(session, text, "source")["view"]["view"] == "source"


def test_a_run_uses_the_values_of_the_model() -> None:
    session = Session()
    content = models.layers()
    text = opened(session, content)["text"]
    x = [[1.0, -0.5, 2.0, 0.25]]
    imported, _ = relay.frontend.from_onnx(content)
    (expected,) = relay.create_executor("debug", mod=imported).evaluate()(x).numpy().tolist()
    for program in (text, text.replace("// model", "// edited")):
        answer = ask(session, program, "evaluation", args=[json.dumps(x)])
        assert f"{expected[0]:.4g}" in json.dumps(answer["view"])
    changed = text.replace("%fc2.bias: Tensor[(3)", "%fc2.bias: Tensor[(1, 3)").replace(
        "nn.bias_add(%3, %fc2.bias, axis=-1)", "add(%3, %fc2.bias)"
    )
    assert ask(session, changed, "evaluation")["problems"] == []  # filled in: the model has no such value


def test_a_program_that_is_too_long_to_be_edited_is_explored(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("relay_explorer.playground.session.MAX_TEXT", 400)
    session = Session()
    text = opened(session, models.layers())["text"]
    assert "too many to edit" in text
    assert "nn.dense" in json.dumps(ask(session, text, "types")["view"])


@pytest.mark.parametrize("name", models.hostile())
def test_hostile_files_are_answered(name: str) -> None:
    content, message = models.hostile()[name]
    session = Session()
    answer = opened(session, content, '<b>"../\n.onnx')
    if message:
        assert answer["text"] is None
        (problem,) = answer["problems"]
        assert message in problem["message"]
        assert problem["help"]
    else:
        assert answer["problems"] == []
        assert [line[:5] for line in answer["text"].split("\n")[:2]] == ["// <b", "def @"]
        for view in ("types", "ir", "source", "fusion"):
            assert ask(session, answer["text"], view)["view"]["view"] == view
    assert ask(session, "def @main(%x: float32) { %x }", "types")["view"]["view"] == "types"


@pytest.fixture(scope="module")
def parts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the page's archive has beside the package."""
    folder = tmp_path_factory.mktemp("parts")
    shutil.copy(Path(onnx.__file__).with_name("onnx_ml_pb2.py"), folder)
    (folder / "onnx_release.py").write_text(f"OPSET = {onnx.defs.onnx_opset_version()}\n")
    return folder


def here(parts: Path, folder: Path) -> dict[str, str]:
    """The programs of a folder's models, as the page imports them."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.playground.onnx_models", str(parts), str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    result: dict[str, str] = json.loads(done.stdout)
    return result


def test_networks_are_imported_as_with_numpy(parts: Path, tmp_path: Path) -> None:
    networks = {
        "layers": models.layers(),
        "resnet18": models.resnet18(width=8, size=64),
        "attention": models.attention(),
    }
    for name, content in networks.items():
        (tmp_path / f"{name}.onnx").write_bytes(content)
    programs = here(parts, tmp_path)
    for name, content in networks.items():
        assert programs[name].startswith("#[version"), programs[name][:400]
        assert programs[name] == imported(content)
    assert "shape_of" not in programs["attention"]


def rounded(program: str) -> str:
    """A program with five digits of each number: folded sums and cosines may differ in the last bits."""
    return re.sub(r"\d+\.\d+", lambda match: f"{float(match[0]):.5g}", program)


@pytest.mark.slow
def test_all_operators_but_those_that_onnx_expands_are_imported_as_with_numpy(
    parts: Path, tmp_path: Path
) -> None:
    """ONNX's own tests of its operators, each also with constant operands, which are folded."""
    operators: dict[str, set[str]] = {}
    for case in generated():
        for form, suffix in ((case, ""), (with_constants(case), "__constant")):
            if form is not None:
                operators[form.name + suffix] = form.operators
                (tmp_path / f"{form.name}{suffix}.onnx").write_bytes(form.model.SerializeToString())
    programs = here(parts, tmp_path)
    different = {
        name
        for name, program in programs.items()
        if rounded(program) != rounded(imported((tmp_path / f"{name}.onnx").read_bytes()))
    }
    lacking = {name for name in different if operators[name] & NOT_HERE}
    assert different - lacking == set()
    assert {one for name in lacking for one in operators[name] & NOT_HERE} == NOT_HERE
    assert len(programs) - len(different) >= 2_600
