"""Chapter 14: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

import pytest

from relay_explorer import relay
from relay_explorer.ir.equal import structural_equal
from relay_explorer.text import parse
from relay_explorer.transform.fuse_ops.groups import MAX_FUSED
from relay_explorer.views import picture
from relay_explorer.views.pipeline.format import Stage
from tests.book.chapters import explorers, names, output, pipeline, shown, source

PAGE = "ch14_passes"


def stages(explorer: str, pipe: int = 0) -> list[Stage]:
    shown = pipeline(PAGE, explorer)
    return [shown.stages[number] for number in shown.pipelines[pipe][1]]


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch14-small", "ch14-order", "ch14-resnet"]


def test_links_lead_to_the_stages_that_they_name() -> None:
    matches = re.findall(r"\[`?([\w ]+)`?\]\(#rx-([\w-]+):stage=(\d+)(?:&pipe=(\d))?\)", source(PAGE))
    matches = [link for link in matches if link[0] != "moves nothing"]
    assert len(matches) == 4
    for words, explorer, stage, pipe in matches:
        linked = stages(explorer, int(pipe or 0))[int(stage)]
        if words == "changed nothing":
            assert (linked.name, linked.same) == ("BackwardFoldScaleAxis", True)
        else:
            assert (linked.name, linked.same) == (words, False)


def test_the_picture_without_a_script_tells_what_each_pass_did() -> None:
    for explorer in explorers(PAGE):
        text = picture.text(pipeline(PAGE, explorer))
        assert all(f"{stage.name} changed" in text for stage in stages(explorer)[1:])


# -- the problem


def test_half_of_the_numbers_are_wrong_with_tanh() -> None:
    right, same, before, after = (
        re.findall(r"\d\.\d*", line) for line in output(PAGE, "import numpy as np").splitlines()
    )
    assert right == same
    assert [a == b for a, b in zip(before, after, strict=True)] == [False, False, True, True]


# -- watch it


def test_each_pass_of_the_small_pipeline_does_what_is_said() -> None:
    result = stages("ch14-small")
    operators = [stage.totals.operators for stage in result]
    assert not any(stage.same for stage in result)
    # As given and typed; no dropout, no division, no mean; one multiplication; moved; computed; fused.
    assert operators == [9, 9, 8, 7, 6, 5, 7, 4, 4]
    assert result[6].totals.expressions > result[5].totals.expressions
    assert result[-1].totals.kernels == 1


def test_the_division_is_a_constant_until_it_is_used_up() -> None:
    shown = pipeline(PAGE, "ch14-small")
    (at,) = [n for n, item in enumerate(shown.items) if item.label == "divide" and item.stage == 0]
    assert f"](#rx-ch14-small:stage=0&follow={at})" in source(PAGE)
    life = {at}
    for number, item in enumerate(shown.items):
        if life & set(item.came_from):
            life.add(number)
    called = {item.stage: item.label for item in (shown.items[n] for n in life)}
    assert called == {
        0: "divide", 1: "divide", 2: "divide", 3: "constant", 4: "constant", 5: "constant", 6: "constant",
    }  # fmt: skip


def test_the_other_order_leaves_a_multiplication() -> None:
    first, second = stages("ch14-order"), stages("ch14-order", 1)
    assert sorted(s.name for s in first) == sorted(s.name for s in second)
    assert first[-1].totals.operators + 1 == second[-1].totals.operators


def test_the_end_programs_differ_in_the_multiplication() -> None:
    shown = pipeline(PAGE, "ch14-order")
    assert shown.ends is not None
    rows = [pair for pair in shown.ends.pairs if pair.a < 0 or pair.b < 0]
    (only,) = rows
    assert only.a == -1
    assert "multiply(" in shown.ends.b.rows[only.b].text
    assert "](#rx-ch14-order:ends=1)" in source(PAGE)


def test_links_lead_to_the_rewrites_that_they_name() -> None:
    matches = re.findall(r"\(#rx-ch14-small:stage=(\d)&rw=(\d)\)", source(PAGE))
    rewrites = [stages("ch14-small")[int(stage)].rewrites for stage, _ in matches]
    assert [(int(stage), len(message)) for (stage, _), message in zip(matches, rewrites)] == [(4, 1), (6, 2)]
    assert rewrites[0][0].was.startswith("%seen = mean")
    assert [message.rule for message in rewrites[1]] == [
        "Scaling a layer's weight scales its output channels.",
        "The multiplication is removed; its scale is now in the weight.",
    ]


def test_two_passes_make_resnet_worse_for_the_moment() -> None:
    result = stages("ch14-resnet")
    moved = [stage.totals.bytes for stage in result]
    worse = [stage.name for stage, a, b in zip(result[1:], moved, moved[1:]) if b > a]
    assert worse == ["SimplifyInference", "BackwardFoldScaleAxis"]
    assert result[5].totals.operators == result[0].totals.operators
    shown = pipeline(PAGE, "ch14-resnet")
    counts = [
        [sum(i.label == name for i in shown.items if i.stage == stage) for name in ("nn.batch_norm", "add")]
        for stage in (0, 5)
    ]
    assert counts[0][0] == counts[1][1] - counts[0][1] == 20
    table = output(PAGE, "print(f\"{'':22}").splitlines()[1:]
    assert [line.split()[0] for line in table] == ["as", *(stage.name for stage in result[1:])]


# -- build it


def test_the_sweep_leaves_its_input_alone() -> None:
    assert output(PAGE, "class Sweep") == "True False\n"


def test_the_readers_own_pass_is_followed() -> None:
    text = output(PAGE, "from relay_explorer.ir.recorder import Recorder")
    assert text == (
        "RemoveUnused.visit_let: Replace a `let` whose variable is unused by its body.\n  rewrote %seen\n"
    )


def test_random_programs_break_the_sweep_and_never_try_the_roots() -> None:
    text = {
        name: (int(acts), int(breaks))
        for name, acts, breaks in re.findall(
            r"^(\w+) +changes +(\d+) of 100, breaks (\d+)$",
            output(PAGE, "from relay_explorer.testing import generate"),
            re.M,
        )
    }
    assert text["Sweep"][1] > 0
    assert text["NoRoots"] == (0, 0)
    for name in ("DeadCodeElimination", "EliminateCommonSubexpr"):
        assert text[name][0] > 50
        assert text[name][1] == 0


def test_the_smallest_program_writes_in_a_let_that_nobody_uses() -> None:
    page = names(PAGE)
    printed = output(PAGE, "from relay_explorer.grading.budget import limited")
    assert "let %x: () = ref_write(" in printed
    assert re.search(r"the value .* became ", printed)
    assert page["size"](page["least"]) < 12 < page["size"](page["failing"][0])
    assert page["broken"](relay.transform.DeadCodeElimination(), page["least"]) is None


def test_the_readers_pipeline_gives_what_the_packages_gives() -> None:
    assert output(PAGE, "from relay_explorer.ir import structural_equal") == "True\n"
    printed = output(PAGE, "from pocket import bridge, ir")
    assert re.findall(r"^-- (.*)$", printed, re.M) == ["no_ones", "one_relu", "no_roots"]
    assert "sqrt" not in printed.rpartition("-- ")[2]


def test_the_readers_pass_manager_names_the_pass_that_breaks_types() -> None:
    lines = output(PAGE, "@function_pass\ndef no_reshape").splitlines()
    assert lines == [
        "Tensor[(2, 2), float32] does not fit Tensor[(3, 4), float32]",
        "in nn.dense(%x, %w)",
        "after the pass no_reshape",
    ]


def test_levels() -> None:
    rows = [line.split() for line in output(PAGE, "class Names").splitlines()]
    assert [int(level) for level, *_ in rows] == [0, 1, 2, 3]
    assert "EliminateCommonSubexpr" not in rows[2]
    assert rows[3][1:] == [step.info.name for step in names(PAGE)["cleaning"]]
    assert relay.transform.PassContext.current().opt_level == 2
    levels = names(PAGE)["levels"]
    assert {"FastMath", "CombineParallelConv2D"} <= set(levels[4])
    assert "InferType" in levels[0]
    listed = re.findall(r"\w+", output(PAGE, "from textwrap import fill"))
    assert {"ToTree", "CombineSharedDense"} <= set(listed)
    assert not {"FunctionPass", "TypedPass"} & set(listed), "only passes are listed"


def test_the_levels_are_those_of_tvm() -> None:
    """TVM 0.14 registers LazyGradientInit with 2 (lazy_gradient_init.cc)."""
    assert relay.transform.LazyGradientInit.opt_level == 2
    assert "have the same level there" in source(PAGE)


def test_the_watch_names_the_culprit_and_nobody_else() -> None:
    printed = output(PAGE, "class Watch")
    assert printed.count("became") == 1
    assert printed.startswith("NoRoots: ")
    without, expected = output(PAGE, "with T.PassContext(disabled").splitlines()
    assert without == expected


def test_the_file_that_is_left_behind_is_the_program() -> None:
    printed = output(PAGE, "from pathlib import Path")
    message, _, kept = printed.partition("\n")
    assert message.startswith("the pass FastMath failed, at `")
    assert message.endswith("exp(%x)`: TypeError: 'NoneType' object is not subscriptable")
    assert "// To see it again:" in kept
    assert structural_equal(parse(kept), names(PAGE)["layer"]("exp"))
    relay.transform.FastMath()(names(PAGE)["layer"]("exp"))  # the package's own is whole again


def test_the_forms() -> None:
    graph, block, named = output(PAGE, "branches = ").split("which gives ")[1:]
    assert graph.startswith("“graph”:")
    assert block.startswith("“basic-block”:")
    assert named.startswith("“A-normal”:")
    assert [form.count("let ") for form in (graph, block, named)] == [0, 1, 5]
    assert re.search(r"let %\w+ = exp\(%x\);\n  if", block)
    assert re.findall(r"\d+", output(PAGE, "def primitives")) == ["9", "9", "18"]


def test_an_option_reaches_its_pass() -> None:
    matches = [int(n) for n in re.findall(r"(\d+) kernels", output(PAGE, "for limit in"))]
    assert matches[0] == 18 > matches[1] > matches[2] == names(PAGE)["kernels"](names(PAGE)["lenet"])
    assert MAX_FUSED == 256


# -- predictions and limits


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        (
            "named = ",
            "18 kernels after ToANormalForm; 9 when it is a graph again\n"
            "18 when it becomes a graph after fusion\n",
        ),
        ("positive = ", "exp:\ntanh:\n"),
        (
            "both = ",
            "InferType SimplifyInference FoldConstant FoldConstant FuseOps\n"
            "InferType SimplifyInference DeadCodeElimination EliminateCommonSubexpr BackwardFoldScaleAxis "
            "FuseOps\nInferType SimplifyInference FuseOps\n",
        ),
        (
            "for do, undo in",
            "ToANormalForm ToGraphNormalForm True\nFuseOps DefuseOps True\n",
        ),
    ],
)
def test_answers(start: str, expected: str) -> None:
    assert output(PAGE, start) == expected


def test_the_faulty_pass_of_your_own_manager_is_named() -> None:
    assert "after the pass no_reshape" in output(PAGE, "try:\n    sequential(no_reshape, one_relu)")


def test_what_is_left_depends_on_the_order() -> None:
    first, second = output(PAGE, "debug = ").split("}\n")[:2]
    assert "exp" not in first
    assert "let %slow" in second


def test_types_are_asked_for_again_and_again() -> None:
    needing, once, again = (
        int(n.replace(",", ""))
        for n in re.findall(r"(\d[\d,]*) (?:of 6|steps|for all)", output(PAGE, "from relay_explorer.typing"))
    )
    assert needing == 5
    assert again > 5 * once


def test_what_the_exercise_expects() -> None:
    """The first attempt is broken by a zero that stretches; with the type looked at, it holds."""
    page = names(PAGE)
    x, zeros = page["x"], page["is_op"]("zeros")()

    def no_zeros(careful: bool) -> relay.transform.Pass:
        def kept(pre: relay.Call, post: relay.Expr, result: dict[object, list[relay.Expr]]) -> relay.Expr:
            (other,) = result[x]
            return post if careful and other.checked_type != pre.checked_type else other

        def transform(function: relay.Function, mod: object, ctx: object) -> relay.Expr:
            return (x + zeros).rewrite(kept, function)  # type: ignore[no-any-return]

        return relay.transform.function_pass(transform, opt_level=1)  # type: ignore[no-any-return]

    broken = page["broken"]
    bad = [module for module in page["programs"] if broken(no_zeros(False), module)]
    assert bad
    least = [page["smallest"](no_zeros(False), module).astext() for module in bad]
    assert any("zeros(shape=[2, 1, 1]" in text and "zeros(shape=[2, 1, 3]" in text for text in least)
    assert not any(broken(no_zeros(True), module) for module in page["programs"])
