"""The commands on files of models: explore, run, compile, profile and opt."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from relay_explorer.cli import main, running
from relay_explorer.cli.inputs import random_input
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.types import TensorType, TupleType
from tests.cli.models import classifier, expected
from tests.support.views.check import check

Output = pytest.CaptureFixture[str]


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Change to an empty folder with a model in it."""
    monkeypatch.chdir(tmp_path)
    classifier(tmp_path / "model.onnx")
    return tmp_path


def data(path: str) -> dict[str, object]:
    """A view that was written as JSON, once it is checked."""
    view: dict[str, object] = json.loads(Path(path).read_text("utf-8"))
    assert check(view) == []
    return view


# -- explore


def test_a_model_is_explored_like_any_program(here: Path, capsys: Output) -> None:
    assert main(["explore", "model.onnx", "--json"]) == 0
    assert capsys.readouterr().out.startswith("model-ir.json: @main: ")
    assert data("model-ir.json")["title"] == "model"


def test_the_source_view_of_a_model(here: Path, capsys: Output) -> None:
    assert main(["explore", "model.onnx", "--view", "source", "-o", "out.html"]) == 0
    assert capsys.readouterr().out.startswith(
        "out.html: The ONNX model has 1 input, 2 weights and 4 nodes. Of these, 5 became expressions and 2"
    )


def test_a_view_that_runs_a_model_gets_inputs(here: Path, capsys: Output) -> None:
    assert main(["explore", "model.onnx", "--view", "evaluation", "--json"]) == 0
    assert "@main returns [[" in capsys.readouterr().out
    np.savez("x.npz", x=np.zeros((1, 6), "float32"))
    assert main(["explore", "model.onnx", "--view", "evaluation", "--input", "x.npz", "--json"]) == 0
    assert main(["explore", "model.onnx", "--view", "types", "--input", "x.npz"]) == 1
    assert "the view `types` has no option --input" in capsys.readouterr().err


def test_two_versions_of_a_model_are_compared(here: Path, capsys: Output) -> None:
    classifier(here / "wide.onnx", classes=9)
    assert main(["explore", "model.onnx", "wide.onnx", "--json"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("--- model\n+++ wide\n")
    assert "bytes of constants           200           300  (+100)" in out
    assert "model-wide.json: A (model) and B (wide) call the same operators, 6 times" in out
    assert data("model-wide.json")["view"] == "compare"
    assert main(["explore", "model.onnx", "wide.onnx", "model.onnx", "--json", "-o", "three.json"]) == 0
    assert "The programs differ: model.onnx has" in capsys.readouterr().out
    assert data("three.json")["view"] == "pipeline"
    assert main(["explore", "model.onnx", "--against", "wide.onnx", "--json", "-o", "against.json"]) == 0
    assert data("against.json")["pairs"] == data("model-wide.json")["pairs"]
    assert main(["explore", "model.onnx", "--against", "FoldConstant", "--json", "-o", "-"]) == 0
    assert "after FoldConstant" in json.loads(capsys.readouterr().out.splitlines()[-1])["summary"]


def test_only_a_view_that_runs_needs_inputs(here: Path, capsys: Output) -> None:
    Path("any.relay").write_text("def @main(%f: fn (int32) -> int32) { %f(1) }")
    assert main(["explore", "any.relay", "--json"]) == 0
    assert main(["explore", "model.onnx", "--shape", "x=n,6", "--json"]) == 0, "of any size"


def test_a_model_compared_with_itself_does_not_differ(here: Path, capsys: Output) -> None:
    assert main(["explore", "model.onnx", "model.onnx", "--json"]) == 0
    assert "the programs are equal up to the names of variables" in capsys.readouterr().out


def test_several_programs_have_no_other_view(here: Path, capsys: Output) -> None:
    assert main(["explore", "model.onnx", "model.onnx", "--view", "ir"]) == 1
    assert "two programs are shown in the view `compare`" in capsys.readouterr().err


# -- run


def test_run_prints_the_top_classes_and_saves_the_results(here: Path, capsys: Output) -> None:
    x = np.random.default_rng(1).standard_normal((1, 6)).astype("float32")
    np.savez("x.npz", x=x)
    command = ["run", "model.onnx", "--executor", "interpreter", "--input", "x.npz"]
    Path("labels.txt").write_text("ant\nbee\ncat\ndog\n")
    assert main([*command, "--top", "2", "--labels", "labels.txt", "--output", "out.npz"]) == 0
    right = expected(here / "model.onnx", x)
    with np.load("out.npz") as saved:
        np.testing.assert_allclose(saved["output"], right, atol=1e-5)
    lines = capsys.readouterr().out.splitlines()
    best = int(right.argmax())
    assert lines[0].startswith("output: float32 (1, 4), from ")
    assert lines[1].split() == ["class", "score", "probability"]
    assert lines[2].split() == [
        str(best), f"{right[0, best]:.4g}", f"{right[0, best]:.1%}", ["ant", "bee", "cat", "dog"][best],
    ]  # fmt: skip
    assert len(lines) == 5


def test_classes_without_probabilities_get_the_softmax_of_their_scores() -> None:
    scores = np.asarray([[1.0, 3.0, 2.0], [0.5, 0.25, 0.25]], "float32")
    softmax = np.exp(3.0) / np.exp([1.0, 2.0, 3.0]).sum()
    lines = [line.split() for line in running._classes(scores, 1, [])]
    assert lines[:3] == [
        ["class", "score", "softmax"], ["example", "0"], ["1", "3", f"{softmax:.1%}"],
    ]  # fmt: skip
    assert list(running._classes(np.zeros((0, 5), "float32"), 1, [])) == []
    lines = [line.split() for line in running._classes(scores[1:], 1, [])]
    assert lines == [["class", "score", "probability"], ["0", "0.5", "50.0%"]]


def test_a_missing_input_is_random_and_says_so(here: Path, capsys: Output) -> None:
    command = ["run", "model.onnx", "--executor", "interpreter", "--top", "0"]
    assert main([*command, "--seed", "1"]) == 0
    first = capsys.readouterr().out
    assert first.startswith("x: random float32 (1, 6)\noutput: float32 (1, 4)")
    assert main([*command, "--seed", "1"]) == 0
    assert capsys.readouterr().out == first
    assert main([*command, "--seed", "2"]) == 0
    assert capsys.readouterr().out != first


def test_a_dynamic_axis_needs_a_size(here: Path, capsys: Output) -> None:
    classifier(here / "dynamic.onnx", batch="n")
    command = ["run", "dynamic.onnx", "--executor", "interpreter"]
    assert main(command) == 1
    assert capsys.readouterr().err == (
        "error: the input `x` has the type Tensor[(n, 6), float32], whose shape is known only at run time\n"
        "help: give the shape: --shape x=1,6\n"
        "help: or the values: --input FILE.npz\n"
    )
    assert main([*command, "--shape", "x=3,6"]) == 0
    assert "output: float32 (3, 4)" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--input", "y=x.npy"], "there is no input `y`\nhelp: the inputs are `x`\n"),
        (["--input", "two.npz"], "`two.npz` has arrays that the program does not take: `a`, `b`"),
        (
            ["--input", "x=two.npz"],
            "`--input x=FILE` needs one array, but `two.npz` has 2 (`a`, `b`)\n"
            "help: use --input two.npz, which matches arrays to inputs by name\n",
        ),
        (
            ["--dtype", "float32", "--dtype", "x=float32"],
            "--dtype float32 without the name of an input applies to all inputs, so it cannot be combined",
        ),
        (["--input", "model.onnx"], "`model.onnx` cannot be read as a .npy or .npz file"),
        (["--input", "nothing.npz"], "nothing.npz: No such file"),
        (["--shape", "1,2"], "--shape 1,2 does not name an input"),
        (["--shape", "x=1,-2"], "'-2' in --shape x=1,-2 is not a dimension"),
    ],
)
def test_inputs_that_cannot_be_used(here: Path, capsys: Output, options: list[str], error: str) -> None:
    np.savez("two.npz", a=np.zeros(1), b=np.zeros(1))
    np.save("x.npy", np.zeros((1, 6), "float32"))
    assert main(["run", "model.onnx", "--executor", "interpreter", *options]) == 1
    assert error in capsys.readouterr().err


def test_random_inputs_are_small_tensors() -> None:
    with pytest.raises(RelayError, match="would take 17,179,869,192 bytes; at most 17,179,869,184 are gene"):
        random_input("x", TensorType(((1 << 31) + 1,), "float32"), 0)
    with pytest.raises(RelayError, match="random values can only be generated for tensors") as caught:
        random_input("x", TupleType([]), 0)
    assert "--view evaluation --arg VALUE" in caught.value.help[0]


def test_pickled_arrays_are_not_loaded(here: Path, capsys: Output) -> None:
    np.save("x.npy", np.asarray([object()], object), allow_pickle=True)
    assert main(["run", "model.onnx", "--executor", "interpreter", "--input", "x=x.npy"]) == 1
    assert "cannot be read as a .npy or .npz file" in capsys.readouterr().err


# -- compile, and what it wrote


@pytest.mark.parametrize(("output", "executor"), [("out.rx", "graph"), ("out.rx", "vm"), ("out.so", "aot")])
def test_a_compiled_model_runs(here: Path, capsys: Output, output: str, executor: str) -> None:
    assert main(["compile", "model.onnx", "-o", output, "--executor", executor]) == 0
    assert f"{output}: " in capsys.readouterr().out
    x = np.random.default_rng(1).standard_normal((1, 6)).astype("float32")
    np.save("x.npy", x)
    assert main(["run", output, "--input", "x=x.npy", "--output", "y.npz"]) == 0
    with np.load("y.npz") as saved:
        np.testing.assert_allclose(saved["output"], expected(here / "model.onnx", x), atol=1e-5)
    if executor == "aot":
        assert "model_run" in (here / "out.h").read_text("utf-8")


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["-o", "x.so", "--executor", "graph"], "a library (.so) is compiled ahead of time"),
        (["-o", "x.rx", "--executor", "aot"], "a program that is compiled ahead of time is a library (.so)"),
        (["-o", "x.dll"], "neither a library (.so) nor an archive (.rx)"),
        (["-o", "no/folder/x.so"], "there is no folder `no/folder`"),
        (["-o", "x.rx", "--target", "toaster"], "toaster"),
    ],
)
def test_outputs_that_cannot_be_written(here: Path, capsys: Output, options: list[str], error: str) -> None:
    assert main(["compile", "model.onnx", *options]) == 1
    assert error in capsys.readouterr().err


def test_a_compiled_program_is_not_explored_but_says_what_it_is_for(here: Path, capsys: Output) -> None:
    assert main(["compile", "model.onnx"]) == 0
    assert (here / "model.rx").is_file()
    assert main(["explore", "model.rx"]) == 1
    assert capsys.readouterr().err == (
        "error: `model.rx` is a compiled program\n"
        "help: run it: relay-explorer run model.rx\n"
        "help: profile it: relay-explorer profile model.rx\n"
    )
    assert main(["run", "model.rx", "--dtype", "float32"]) == 1
    assert "help: leave out --dtype, or give the original model\n" in capsys.readouterr().err


# -- profile


def test_profile_prints_a_table_and_writes_the_run(here: Path, capsys: Output) -> None:
    assert main(["profile", "model.onnx", "--repeat", "2", "-o", "run.json"]) == 0
    out = capsys.readouterr().out
    assert "ms a run" in out
    assert "fused_" in out
    assert main(["explore", "run.json", "--json", "-o", "view.json"]) == 0
    assert data("view.json")["view"] == "run"
    assert main(["profile", "model.onnx", "-o", "run.txt"]) == 1
    error = capsys.readouterr().err
    assert "neither a page (.html) nor a measurement (.json)" in error
    assert "help: choose one by the suffix, for example -o run.html\n" in error


# -- opt


def test_opt_runs_passes_on_a_model(here: Path, capsys: Output) -> None:
    assert main(["opt", "model.onnx", "--passes", "FuseOps", "--no-weights"]) == 0
    text = capsys.readouterr().out
    assert "Primitive=1" in text
    assert len(text) < 5_000


# -- errors of importers


def test_unsupported_operators_are_listed(here: Path, capsys: Output) -> None:
    import onnx
    from onnx import helper

    model = onnx.load("model.onnx")
    model.graph.node.append(helper.make_node("Nonsense", ["y"], ["z"], name="odd", domain="x.y"))
    model.graph.output[0].name = "z"
    model.opset_import.append(helper.make_opsetid("x.y", 1))
    onnx.save(model, "odd.onnx")
    assert main(["explore", "odd.onnx"]) == 1
    error = capsys.readouterr().err
    assert "the model uses 1 ONNX operator that cannot be imported" in error
    assert "Traceback" not in error


def test_a_truncated_model_is_an_error(here: Path, capsys: Output) -> None:
    contents = Path("model.onnx").read_bytes()
    Path("cut.onnx").write_bytes(contents[: len(contents) // 2])
    assert main(["explore", "cut.onnx"]) == 1
    assert "cut.onnx" in capsys.readouterr().err


def test_a_missing_package_says_which_command_installs_it(
    here: Path, capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    import importlib

    real = importlib.import_module

    def without(name: str, package: str | None = None) -> object:
        if name == "onnx":
            raise ModuleNotFoundError("No module named 'onnx'", name="onnx")
        return real(name, package)

    monkeypatch.setattr(importlib, "import_module", without)
    assert main(["explore", "model.onnx"]) == 1
    assert 'importing this model needs onnx: pip install "relay_explorer[onnx]' in capsys.readouterr().err
