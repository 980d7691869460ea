"""The blocks of a program are the modules that the names of its parameters and of its nodes say."""

from __future__ import annotations

from itertools import groupby

from inline_snapshot import snapshot

from relay_explorer import models
from relay_explorer.ir.module import IRModule
from relay_explorer.views.ir.view import ir_view
from tests.views.imports import layers
from tests.views.programs import program


def tree(module: IRModule, depth: int = 9) -> str:
    """Return the modules of `@main`, one per line; neighbors with the same modules inside share a line."""
    groups = ir_view(module).groups

    def lines(parent: int, level: int) -> list[str]:
        inside = [number for number, group in enumerate(groups) if group.parent == parent and level < depth]
        out = []
        for below, run in groupby(inside, lambda number: lines(number, level + 1)):
            labels = [groups[number].label for number in run]
            out.append(labels[0] if len(labels) == 1 else f"{labels[0]} … {labels[-1]}")
            out += ["  " + line for line in below]
        return out

    return "\n".join(lines(next(n for n, g in enumerate(groups) if g.label == "@main"), 0))


def test_an_encoder_is_twelve_layers() -> None:
    assert tree(models.load("transformer")) == snapshot("""\
layer1 … layer12
  attention
    query … output
  ffn1 … ffn2\
""")


def test_a_residual_network_is_stages_of_units() -> None:
    assert tree(models.load("resnet50"), depth=2) == snapshot("""\
stem
stage1
  unit1 … unit3
stage2
  unit1 … unit4
stage3
  unit1 … unit6
stage4
  unit1 … unit3
fc\
""")


def test_a_numbered_module_includes_what_follows_it_before_the_next() -> None:
    """The addition and the activation after `unit1` are in it, and those after the last unit too; the pooling
    before the classifier is not.
    """
    view = ir_view(models.load("resnet50"))
    paths = {n.row: view.groups[n.group].module for n in view.nodes if n.group >= 0}
    last = {g.module: g.last for g in view.groups}
    assert [view.rows[last[f"stage4_unit{n}"]].text.split(" = ")[1].split("(")[0] for n in (1, 2, 3)] == [
        "nn.relu"
    ] * 3
    pooling = next(n for n in view.nodes if n.label == "nn.global_avg_pool2d")
    assert paths[pooling.row] == ""


def test_convolutions_with_numbers() -> None:
    assert tree(models.load("vgg16")) == snapshot("""\
conv1
  conv1_1 … conv1_2
conv2
  conv2_1 … conv2_2
conv3
  conv3_1 … conv3_3
conv4
  conv4_1 … conv4_3
conv5
  conv5_1 … conv5_3
fc6 … fc8\
""")
    assert tree(models.load("mobilenet")) == snapshot("""\
stem
block1 … block13
  depthwise … pointwise
fc\
""")


def test_a_module_that_is_interrupted_has_parts() -> None:
    view = ir_view(models.load("inception_v3"))
    main = next(n for n, g in enumerate(view.groups) if g.label == "@main")
    assert [g.label for g in view.groups if g.parent == main] == snapshot(
        [
            "stem1",
            "stem2",
            "stem3",
            "mixed · part 1",
            "shrink_a",
            "mixed · part 2",
            "shrink_b",
            "mixed · part 3",
            "fc",
        ]
    )


def test_imported_modules_are_levels() -> None:
    assert tree(layers(3)) == snapshot("""\
layer.0 … layer.2
  attention … mlp\
""")


def test_names_separated_by_dots() -> None:
    body = "; ".join(
        f"%{2 * n + 1} = nn.dense(%{2 * n}, %body.{n}.fc.weight); %{2 * n + 2} = tanh(%{2 * n + 1})"
        for n in range(8)
    ).replace("%0,", "%x,")
    weights = ", ".join(f"%body.{n}.fc.weight: Tensor[(4, 4), float32]" for n in range(8))
    module = program(f"def @main(%x: Tensor[(4, 4), float32], {weights}) {{ {body}; exp(%16) }}")
    assert tree(module) == snapshot("""\
body
  body.0 … body.7\
""")


def test_the_weights_of_a_recurrence_are_not_its_modules() -> None:
    assert tree(models.load("lstm")) == "block 1 · 1 … block 1 · 32"
    assert tree(models.load("tree_lstm")) == ""
