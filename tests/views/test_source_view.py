"""The source view: which expressions came from which nodes of a model, before and after passes."""

from __future__ import annotations

import json

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import explore, models
from relay_explorer.frontends.base.source import Node
from relay_explorer.ir.expr import Call, Expr, Function, Var
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.types import TensorType
from relay_explorer.ops import namespaces as relay
from relay_explorer.text import parse
from relay_explorer.views import picture
from relay_explorer.views.format import spoken
from relay_explorer.views.registry import ViewError
from relay_explorer.views.source_map.format import Fate, SourceNode, SourceView
from relay_explorer.views.source_map.node_list import NodeList
from relay_explorer.views.source_map.view import source_view
from tests.support.views.check import check
from tests.views.imports import DATA, SAMPLES, Model, convolutions, layers, optimized, sample


def view(module: IRModule) -> SourceView:
    shown = source_view(module)
    assert check(json.loads(shown.to_json())) == []
    return shown


def node(shown: SourceView, name: str) -> SourceNode:
    return next(node for node in shown.nodes if node.name.endswith(name))


def lines(shown: SourceView, name: str) -> list[str]:
    """The operators of the lines that came from a node."""
    return [shown.rows[row].text.partition("(")[0] for row in node(shown, name).rows]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_kept_samples_are_what_the_view_makes(name: str) -> None:
    stored = (DATA / f"source_{name}.json").read_text("utf-8")
    assert stored == sample(name), "run `python -m tests.views.imports`"
    assert check(json.loads(stored)) == []


def test_a_node_is_linked_with_all_that_it_became() -> None:
    shown = view(convolutions(1))
    assert lines(shown, "/conv") == ["%0 = nn.conv2d"]
    assert lines(shown, "/norm") == ["%1 = nn.batch_norm", "%2 = %1.0;"]
    assert lines(shown, "head") == ["%5 = add", "nn.relu"]
    assert node(shown, "/norm").became == "nn.batch_norm, .0"
    assert node(shown, "/conv").type == "(1, 3, 8, 8) f32"
    assert shown.totals.unlinked == 1  # the heading of @main


def test_a_node_that_became_nothing_says_why() -> None:
    shown = view(convolutions(1))
    dropped = node(shown, "/drop")
    assert dropped.fate == Fate.NOTHING
    assert dropped.rows == ()
    assert spoken(dropped.say) == snapshot(
        "Dropout /net/layer/0/drop has no expression in the program. It returns its operand unchanged, so "
        "it needs no expression of its own."
    )


def test_weights_and_constants_are_said_to_be_constants() -> None:
    shown = view(convolutions(1))
    weight = node(shown, "layer0.weight")
    assert weight.fate == Fate.CONSTANT
    assert spoken(weight.say) == snapshot("weight layer0.weight became a constant. It is used in %0.")
    assert lines(shown, "/half") == ["%4 = multiply"]


def test_after_passes_a_line_comes_from_all_nodes_that_it_combines() -> None:
    shown = view(optimized(convolutions()))
    # The factor one half of the first layer was folded into the weights of the second.
    half = node(shown, "layer/0/half")
    assert half.fate == Fate.CONSTANT
    assert spoken(half.say).startswith("Constant /net/layer/0/half became part of a constant.")
    assert set(half.rows) <= set(node(shown, "layer1.weight").rows)
    assert any("add" in line for line in lines(shown, "layer/0/norm"))
    assert node(shown, "layer/0/drop").fate == Fate.NOTHING


def test_every_line_that_names_a_node_is_linked_with_it() -> None:
    shown = view(optimized(convolutions()))
    linked = {row for node in shown.nodes for row in node.rows}
    named = {row for row in range(shown.split, len(shown.rows)) if shown.rows[row].imported is not None}
    assert named <= linked


def test_nodes_stand_under_their_modules_level_by_level() -> None:
    shown = view(layers(2))
    heads = [(shown.rows[module.row].depth, module.path) for module in shown.modules]
    assert heads == [
        (0, "weights"),
        (0, "encoder"),
        (1, "encoder.layer.0"),
        (2, "encoder.layer.0.attention"),
        (2, "encoder.layer.0.mlp"),
        (1, "encoder.layer.1"),
        (2, "encoder.layer.1.attention"),
        (2, "encoder.layer.1.mlp"),
    ]


def test_inputs_and_weights_come_first() -> None:
    shown = view(layers(2))
    assert [node.op for node in shown.nodes[:3]] == ["input", "weight", "weight"]


def test_the_rows_of_a_node_list() -> None:
    nodes = [
        Node("Add", "/enc/a/x", ["p", ""], ["q"], scope=("enc", "a")),
        Node("Mul", "/enc/a/y", [f"i{n}" for n in range(9)], ["q"], scope=("enc", "a")),
        Node("Neg", "z", scope=("enc",)),
        Node("Exp", "Exp"),
    ]
    listed = NodeList(nodes)
    shown = ["  " * row.depth + row.text for row in listed.rows]
    assert shown == snapshot(
        [
            "enc  3 nodes",
            "  a  2 nodes",
            "    Add x  (p)",
            "    Mul y  (i0, i1, i2, i3, i4, i5, …)",
            "  Neg z",
            "Exp",
        ]
    )
    assert listed.row_of == [2, 3, 4, 5]


def test_a_program_that_was_not_imported_is_refused() -> None:
    with raises(
        snapshot(
            "ViewError:\n"
            "error: the program was not imported, so there is no model to show beside it\n"
            "help: the view `source` shows what relay.frontend.from_onnx and the other importers "
            "return, also after passes\n"
            "help: the text format does not keep the nodes: show the module itself instead of its text\n"
            "help: on the command line, give the model's file, such as model.onnx"
        )
    ):
        explore(models.load("mlp"), view="source")


def test_the_text_of_an_import_keeps_no_nodes() -> None:
    with pytest.raises(ViewError, match="was not imported"):
        source_view(parse(convolutions(1).astext()))


def test_braces_in_names_do_not_break_sentences() -> None:
    model = Model("odd.onnx")
    x = model.context.variable("{0}", TensorType((2,), "float32"))
    shown = view(model.context.main([x], model.add("{x}", "a{b}.{1}", [x], relay.exp)))
    assert spoken(shown.nodes[1].say) == "{x} /a{b}/{1} became exp."


def test_the_static_picture_shows_both_lists() -> None:
    drawn = picture.svg(view(convolutions(1)))
    assert "the nodes of the ONNX model, and the expressions that each became" in drawn
    assert "nn.batch_norm, .0" in drawn


def test_a_sentence_names_four_expressions_and_counts_the_others() -> None:
    model = Model("long.onnx")
    x = model.context.variable("x", TensorType((2,), "float32"))
    steps = [relay.exp, relay.sqrt, relay.tanh, relay.sigmoid, relay.abs, relay.negative]

    def chain(value: Expr) -> Expr:
        for step in steps:
            value = step(value)
        return value

    shown = view(model.context.main([x], model.add("Chain", "chain", [x], chain)))
    assert spoken(shown.nodes[1].say) == (
        "Chain /chain became 6 expressions: exp, sqrt, tanh, sigmoid, and 2 more."
    )
    assert shown.nodes[1].became == "exp, sqrt, tanh, sigmoid, and 2 more"
    assert shown.summary == "The ONNX model has 1 input and 1 node. Of these, 2 became expressions."


def test_a_constant_may_be_used_in_an_expression_without_a_name() -> None:
    model = Model("result.onnx")
    x = model.context.variable("x", TensorType((2, 2), "float32"))
    inner, outer = model.weight("inner", 2, 2), model.weight("outer", 2, 2)
    v = Var("v", TensorType((2, 2), "float32"))
    function = Function([v], relay.nn.dense(v, inner))
    called = model.add("Call", "call", [x, outer], lambda h, w: relay.nn.dense(Call(function, [h]), w))
    shown = view(model.context.main([x], called))
    assert spoken(node(shown, "inner").say).endswith("It is used in 1 expression without a name.")
    assert spoken(node(shown, "outer").say).endswith("It is used in the program's result.")
