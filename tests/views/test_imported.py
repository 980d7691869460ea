"""What views show of an imported program: the node, module and place of each line, and blocks for modules."""

from __future__ import annotations

import json
from collections import Counter
from typing import Any

import pytest

from relay_explorer import explore, models
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.walk import post_order
from relay_explorer.text import parse
from relay_explorer.views.comparison import comparison_view, matched
from relay_explorer.views.fates import Fate
from relay_explorer.views.format import ModelNode
from relay_explorer.views.ir.format import IRView
from relay_explorer.views.ir.view import ir_view
from relay_explorer.views.pipeline.format import PipelineView
from relay_explorer.views.provenance import Provenance
from tests.support.views.check import check
from tests.views.imports import convolutions, layers, optimized

VIEWS: list[tuple[str, dict[str, Any]]] = [
    ("ir", {}),
    ("costs", {}),
    ("types", {}),
    ("fusion", {}),
    ("memory", {}),
    ("pipeline", {"passes": "SimplifyInference, FoldConstant"}),
]


@pytest.mark.parametrize(("kind", "options"), VIEWS)
def test_rows_name_the_node_that_they_came_from(kind: str, options: dict[str, Any]) -> None:
    view = explore(convolutions(1), view=kind, **options).view
    assert check(json.loads(view.to_json())) == []
    counts = [row.imported for row in view.rows if "nn.conv2d" in row.text]
    assert counts
    assert set(counts) == {ModelNode("Conv", "/net/layer/0/conv", "net.layer.0", "net.py:7")}


def test_other_programs_have_no_nodes_and_the_same_data_as_ever() -> None:
    data = explore(models.load("mlp"), view="ir").to_dict()
    assert {len(row) for row in data["program"]["rows"]} == {6}
    assert {len(node) for node in data["nodes"]} == {12}
    assert {len(group) for group in data["groups"]} == {6}


def groups(module: IRModule) -> list[tuple[str, str, int]]:
    """Label, module and level of each block."""
    view: IRView = ir_view(module)
    assert check(json.loads(view.to_json())) == []

    def level(number: int) -> int:
        parent = view.groups[number].parent
        return 0 if parent < 0 or view.groups[parent].kind != 1 else 1 + level(parent)

    return [(g.label, g.module, level(n)) for n, g in enumerate(view.groups) if g.kind == 1]


def test_blocks_have_the_names_of_modules_level_by_level() -> None:
    assert groups(layers(2)) == [
        ("layer.0", "encoder.layer.0", 0),
        ("attention", "encoder.layer.0.attention", 1),
        ("mlp", "encoder.layer.0.mlp", 1),
        ("layer.1", "encoder.layer.1", 0),
        ("attention", "encoder.layer.1.attention", 1),
        ("mlp", "encoder.layer.1.mlp", 1),
    ]


def test_modules_with_the_same_operations_are_the_same_block() -> None:
    repeats = Counter(group.repeat for group in ir_view(layers(3)).groups if group.kind == 1)
    assert sorted(repeats.values()) == [3, 3, 3]


def test_the_summary_counts_modules() -> None:
    assert "9 modules" in ir_view(layers(3)).summary


def test_without_modules_blocks_are_found_by_repetition() -> None:
    assert "32 repeated blocks" in ir_view(models.load("lstm")).summary


def test_after_passes_blocks_still_have_the_names_of_modules() -> None:
    from relay_explorer.transform import FoldConstant, SimplifyInference

    labels = [label for label, _, _ in groups(FoldConstant()(SimplifyInference()(convolutions())))]
    assert labels == ["layer", "layer.0", "layer.1"]


def test_a_kernel_that_a_pass_formed_has_the_nodes_of_its_parts() -> None:
    module = optimized(convolutions(1))
    kernels = [expr.op for expr in post_order(module["main"]) if isinstance(expr, Call) and expr.op.origin]
    provenance = Provenance()
    names = {node.name.rpartition("/")[2] for kernel in kernels for node in provenance.nodes(kernel)}
    assert {"conv", "norm", "act"} <= names
    assert all(provenance.main(kernel) is None for kernel in kernels)


# -- versions of a program


def fates(view: PipelineView, stage: int = 1) -> Counter[str]:
    return Counter(Fate(fate).name for _, _, fate in view.stages[stage].align)


def test_a_layer_more_is_shown_as_added() -> None:
    view = comparison_view([layers(2), layers(3)], names=["two", "three"])
    assert check(json.loads(view.to_json())) == []
    counts = fates(view)
    assert counts["REMOVED"] == 0
    assert counts["ADDED"] == 6
    assert [stage.name for stage in view.stages] == ["two", "three"]
    assert view.summary == "The programs differ: two has 16 expressions, three has 23 expressions."


def test_versions_without_nodes_are_aligned_by_structure() -> None:
    before, after = (parse(layers(count).astext()) for count in (2, 3))
    counts = fates(comparison_view([before, after]))
    assert counts["REMOVED"] == 0
    assert counts["ADDED"] == 6


def test_a_parameter_of_another_type_is_shown_as_changed() -> None:
    before = parse("def @main(%x: Tensor[(1, 4), float32]) { exp(nn.relu(%x)) }")
    after = parse("def @main(%x: Tensor[(?, 4), float32]) { exp(nn.relu(%x)) }")
    view = comparison_view([before, after], names=["fixed", "any"])
    changed = [(view.rows[a].text, view.rows[b].text) for a, b, fate in view.stages[1].align if fate]
    assert [(a.count("(1, 4)") > 0, b.count("(?, 4)") > 0) for a, b in changed] == [(True, True)]
    assert view.stages[1].say[0].endswith("1 rewritten.")


def test_the_same_program_twice_has_no_difference() -> None:
    view = comparison_view([layers(2), layers(2)], names=["a", "b"])
    assert view.stages[1].same
    assert view.summary.startswith("The programs are the same")


def test_a_program_and_its_optimized_version_are_aligned_by_origin() -> None:
    before = convolutions()
    after = optimized(before)
    assert matched(before, after) is after


def test_a_list_of_modules_is_shown_as_versions() -> None:
    explorer = explore([layers(1), layers(2), layers(3)], title="versions")
    assert explorer.view.kind == "pipeline"
    assert explorer.view.title == "versions"
    with pytest.raises(RelayError, match="shown in the view 'pipeline'"):
        explore([layers(1), layers(2), layers(3)], view="ir")
    assert explore([layers(1), layers(2)]).view.kind == "compare"


def test_matching_never_changes_the_programs() -> None:
    before, after = layers(1), layers(2)
    text = after.astext()
    origins = [expr.origin for expr in post_order(after["main"])]
    matched(before, after)
    assert after.astext() == text
    assert [expr.origin for expr in post_order(after["main"])] == origins
