"""Chapter 9: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import contextlib
import io
import logging
import re

import numpy as np
import pytest
import torch

from figures import first_difference as drawing
from relay_explorer import relay
from relay_explorer.ir import TensorType
from relay_explorer.ir.narrow import as_a
from tests.book.chapters import explorers, names, output, source

PAGE = "ch09_importing"


def test_explorers() -> None:
    assert list(explorers(PAGE)) == ["ch09-source", "ch09-loop"]


def test_the_translation_by_hand_is_nearly_right() -> None:
    assert output(PAGE, "from relay_explorer import relay").rstrip().endswith("largest difference 0.0005")


def test_nodes_of_the_file_become_what_the_text_says() -> None:
    lines = output(PAGE, "def expressions").splitlines()
    assert [line.split() for line in lines if line.startswith("Gemm")] == [
        ["Gemm", "word", "nn.dense", "nn.bias_add"],
        ["Gemm", "mood", "nn.dense", "nn.bias_add"],
    ]
    kinds = [line.split()[0] for line in lines]
    assert [kind for kind in kinds if kind in ("Div", "Erf", "Add", "Mul")] == [
        "Div", "Erf", "Add", "Mul", "Mul",
    ]  # fmt: skip
    assert kinds[-2:] == ["Reshape", "Softmax"]
    listed = [node.op for node in names(PAGE)["mood"].source.nodes]
    assert [op for op in listed if op in ("Shape", "Slice", "Concat")] == ["Shape", "Slice", "Concat"]
    assert not {"Shape", "Slice", "Concat"} & set(kinds)


def test_the_number_of_words_has_a_name() -> None:
    (param, *_) = names(PAGE)["mood"]["main"].params
    assert str(as_a(TensorType, param.type_annotation)) == "Tensor[(n, 4), float32]"
    assert output(PAGE, "for count in").count("same: True") == 3


def test_the_loop_of_tensorflow_is_a_tail_call() -> None:
    summary = explorers(PAGE)["ch09-loop"].view.summary
    assert "160" in summary
    assert "5 tail calls, at most 2 frames" in summary
    assert output(PAGE, "for mod in (doubling") == "NDArray(160.0, float32)\n" * 2


def test_pytorch_knows_lines_of_cells() -> None:
    printed = output(PAGE, "program = ")
    assert printed.startswith("agrees: True\n")
    line = as_a(re.Match, re.search(r"^aten::gelu +cell:12 +- +(.*)$", printed, re.MULTILINE))
    assert line[1] == "multiply multiply erf add multiply"


def test_the_readers_importer() -> None:
    assert output(PAGE, "try:\n    import_program") == "there is no converter for aten.gelu.default\n"
    assert output(PAGE, "from pocket.interpreter") == "as by hand: True\n"


def test_binary_search_finds_the_wrong_converter_as_drawn() -> None:
    lines = output(PAGE, "def formula").splitlines()
    compared = [line.split()[0] for line in lines[:-1]]
    assert lines[-1] == "first: gelu"
    assert list(names(PAGE)["theirs"]) == list(drawing.NAMES)
    assert compared == [drawing.NAMES[middle] for _, _, middle in drawing.comparisons()]


def test_the_right_import_has_no_difference() -> None:
    page = names(PAGE)
    mod, params = relay.frontend.from_exported_program(page["program"])
    with contextlib.redirect_stdout(io.StringIO()):
        assert page["first_difference"](mod, params) is None


def test_answer_a_trace_takes_one_branch() -> None:
    assert output(PAGE, "class Clip").splitlines() == ["traced [0.6 0.8] False", "scripted [0.3 0.4] True"]
    assert "if (%" in output(PAGE, "class Cond")


def test_answer_torch_export_refuses_an_if_on_data(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(logging.getLogger("torch"), "disabled", True)
    page = names(PAGE)
    with contextlib.redirect_stderr(io.StringIO()), pytest.raises(RuntimeError, match="data-dependent"):
        torch.export.export(page["Clip"](), (page["long"],))


def test_answer_two_variables_have_two_of_each_node() -> None:
    page = names(PAGE)
    counted = [
        *page["LOOP"],
        ("zero", "Const", "", {"dtype": 1, "value": 0}),
        ("one", "Const", "", {"dtype": 1, "value": 1}),
        ("enter2", "Enter", "zero", {"frame_name": "loop"}),
        ("step", "Enter", "one", {"frame_name": "loop"}),
        ("merge2", "Merge", "enter2 next2", {}),
        ("switch2", "Switch", "merge2 cond", {}),
        ("count", "Add", "switch2:1 step", {}),
        ("next2", "NextIteration", "count", {}),
        ("exit2", "Exit", "switch2", {}),
    ]
    mod, _ = relay.frontend.from_tensorflow(
        page["graph_def"](counted), shape={"start": ()}, outputs=["exit", "exit2"]
    )
    result = relay.create_executor(mod=mod).evaluate()(np.float32(5))
    assert [float(field.numpy()) for field in result] == [160.0, 5.0]
    assert len(re.findall(r"fn \(%\w+: float32, %\w+: float32\)", str(mod))) == 1


def test_answer_an_operator_of_a_chip() -> None:
    lines = output(PAGE, "@torch.library").splitlines()
    assert lines[0].endswith("cannot be imported: chip::soft_sign (2 nodes")
    assert lines[1] == "same: True"


def test_what_the_exercise_says_of_conv2d() -> None:
    conv = torch.export.export(torch.nn.Conv2d(1, 2, 3).eval(), (torch.ones(1, 1, 5, 5),))
    (node,) = [node for node in conv.graph.nodes if node.op == "call_function"]
    assert str(node.target) == "aten.conv2d.default"
    assert len(node.args) == 3
    assert "aten.conv2d.default" in source(PAGE)
