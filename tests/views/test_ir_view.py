"""The IR explorer's data says of a program what is so."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from inline_snapshot import snapshot

from relay_explorer import models
from relay_explorer.ir import IRModule
from relay_explorer.text import parse
from relay_explorer.views.ir.format import IRView, Node
from relay_explorer.views.ir.view import ir_view
from tests.support.views.check import check
from tests.views.programs import ILL_TYPED, LETS, SHARED, TREES, hostile, program

CONFORMANCE = json.loads((Path(__file__).parents[1] / "data" / "conformance.json").read_text("utf-8"))


def node(view: IRView, label: str) -> Node:
    (found,) = [n for n in view.nodes if n.label == label]
    return found


def operands(view: IRView, label: str) -> list[str]:
    """The labels of a node's operands, in order."""
    target = view.nodes.index(node(view, label))
    edges = sorted((e.operand, e.source) for e in view.edges if e.target == target)
    return [view.nodes[source].label for _, source in edges]


@pytest.mark.parametrize("name", CONFORMANCE)
def test_every_conformance_program_is_a_view(name: str) -> None:
    case = CONFORMANCE[name]
    view = ir_view(parse(case["text"]), name)
    assert check(json.loads(view.to_json())) == []
    if case["well_typed"]:
        assert not [n.label for n in view.nodes if not n.type]
    else:
        assert "not well typed" in view.summary


@pytest.mark.parametrize("name", models.names())
def test_every_model_is_a_view(name: str) -> None:
    view = ir_view(models.load(name), name)
    assert check(json.loads(view.to_json())) == []


def test_resnet50_is_small() -> None:
    text = ir_view(models.load("resnet50"), "resnet50").to_json()
    assert len(text.encode()) < 200_000


def test_types_costs_and_attributes() -> None:
    view = ir_view(
        program(
            "def @main(%x: Tensor[(1, 3, 8, 8), float32], %w: Tensor[(4, 3, 3, 3), float32]) {"
            " nn.conv2d(%x, %w, padding=[1, 1, 1, 1]) }"
        )
    )
    conv = node(view, "nn.conv2d")
    assert conv.type == "Tensor[(1, 4, 8, 8), float32]"
    assert conv.short == "(1, 4, 8, 8) f32"
    assert conv.attributes == "padding=[1, 1, 1, 1]"
    assert conv.flops == 2 * 4 * 8 * 8 * 3 * 3 * 3
    assert conv.bytes == 4 * (3 * 8 * 8 + 4 * 3 * 3 * 3 + 4 * 8 * 8)
    assert conv.params == 4 * 3 * 3 * 3
    assert view.families[conv.family].name == "convolution"
    assert conv.detail.startswith("Convolves the data")
    assert view.totals.params == 4 * 3 * 3 * 3
    assert view.totals.flops == conv.flops


def test_sharing_is_visible() -> None:
    view = ir_view(program(SHARED))
    assert node(view, "add").uses == 2
    assert operands(view, "multiply") == ["tanh", "add"]
    assert view.summary == snapshot(
        "@main: 3 calls, 4 parameters, 36 floating-point operations, 1 result used more than once."
    )


def test_rows_and_nodes_point_at_each_other() -> None:
    view = ir_view(program(SHARED))
    for index, row in enumerate(view.rows):
        if row.node >= 0:
            assert view.nodes[row.node].row == index
    row = view.rows[node(view, "tanh").row]
    assert row.text == "%1 = tanh(%0);"
    named = {t.text: view.nodes[t.ref].label for t in row.tokens if t.ref >= 0}
    assert named == {"%1": "tanh", "tanh": "tanh", "%0": "add"}


def test_a_let_is_its_value() -> None:
    view = ir_view(program(LETS))
    assert operands(view, "%f") == ["%x", "fn %f"]
    assert [n.label for n in view.nodes if n.detail == "Calls a function."] == ["%f"]
    assert operands(view, "if") == ["%c", "add", "%x"]
    assert operands(view, "ref_write")[0] == "ref"
    names = {view.rows[s.row].text.split(" ")[1]: (s.first, s.last) for s in view.scopes}
    first, last = names["%z"]
    assert [view.rows[r].text for r in range(first, last + 1)] == ["add(%z, %x)"]
    assert names["%r"][1] == len(view.rows) - 2


def test_functions_branches_and_closures_are_groups() -> None:
    view = ir_view(program(LETS))
    groups = {g.label: g for g in view.groups}
    assert [groups[label].kind for label in ("@main", "%f", "then", "else")] == [0, 0, 2, 2]
    assert groups["%f"].parent == view.groups.index(groups["@main"])
    inside = [n.label for n in view.nodes if n.group == view.groups.index(groups["%f"])]
    assert inside == ["%a", "tanh", "add"]
    closure = node(view, "fn %f")
    assert closure.group == view.groups.index(groups["@main"])


def test_data_types() -> None:
    view = ir_view(program(TREES))
    assert operands(view, "match")[0] == "%t"
    assert node(view, "%l").type == "Tree[float32]"
    assert operands(view, "%l") == ["%t"]
    assert [n.label for n in view.nodes].count("@sum") == 3
    assert {"Leaf", "Node"} <= {n.label for n in view.nodes}
    assert [g.label for g in view.groups if g.kind == 2] == ["Leaf(%v)", "Node(%l, %r)"]


def test_an_ill_typed_program_is_shown_without_types() -> None:
    view = ir_view(program(ILL_TYPED))
    assert check(view.to_dict()) == []
    assert view.summary == snapshot(
        "@main: 1 call. It is not well typed, so it is shown without types: `nn.dense`: 784 "
        "features and units=128 need a weight (128, 784), not (784, 128)."
    )
    assert node(view, "nn.dense").type == ""
    assert node(view, "%x").type == "Tensor[(1, 784), float32]"
    assert view.totals.flops == 0


def test_an_empty_module() -> None:
    view = ir_view(IRModule())
    assert check(view.to_dict()) == []
    assert view.nodes == ()
    assert view.summary == "The module is empty."


def test_an_operator_passed_as_a_value_is_a_node() -> None:
    view = ir_view(program("def @main(%x: Tensor[(2), float32]) { let %f = fn (%g) { %g(%x) }; %f(tanh) }"))
    assert operands(view, "%f") == ["tanh", "fn %f"]
    assert view.families[node(view, "tanh").family].name == "activation"


def test_one_function_under_two_names() -> None:
    module = program(SHARED)
    module["again"] = module["main"]
    view = ir_view(module)
    assert check(view.to_dict()) == []
    assert [g.label for g in view.groups] == ["@main", "@again"]
    assert len(view.nodes) == 5


def test_names_that_are_markup_are_only_text() -> None:
    view = ir_view(hostile())
    assert check(json.loads(view.to_json())) == []
    assert "<img" in view.title


def test_the_modules_of_a_residual_network() -> None:
    view = ir_view(models.load("resnet50"))
    units = [g for g in view.groups if re.fullmatch(r"unit\d", g.label)]
    assert [g.module for g in units] == [
        f"stage{s}_unit{u}" for s, n in enumerate((3, 4, 6, 3), 1) for u in range(1, n + 1)
    ]
    assert len({g.repeat for g in units}) == 2
    weight = next(n for n in view.nodes if n.label == "%stage2_unit3_2_conv_weight")
    assert view.groups[weight.group].module == "stage2_unit3_2"
    data = next(n for n in view.nodes if n.label == "%data")
    assert view.groups[data.group].label == "@main"


def test_parameter_counts_of_known_networks() -> None:
    """The published sizes; ResNet's and MobileNet's with the running statistics of their normalizations."""
    sizes = {n: ir_view(models.load(n)).totals.params for n in ("lenet", "vgg16", "resnet50", "mobilenet")}
    assert sizes == {
        "lenet": 61_706,
        "vgg16": 138_357_544,
        "resnet50": 25_557_032 + 53_120,
        "mobilenet": 4_231_976 + 21_888,
    }
