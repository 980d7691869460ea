"""The fusion view: decisions in words, kernels and their traffic, what-if."""

from __future__ import annotations

import json
import sys
from types import FrameType
from typing import Any

import pytest
from inline_snapshot import snapshot

from relay_explorer import explore, models
from relay_explorer.analysis.dataflow_graph import DataflowGraph
from relay_explorer.ir.module import IRModule
from relay_explorer.testing import generate
from relay_explorer.text import parse
from relay_explorer.transform import SimplifyInference
from relay_explorer.transform.fuse_ops import groups
from relay_explorer.typing import infer_types
from relay_explorer.views import picture
from relay_explorer.views.fusion.format import FusionMark, FusionStep, FusionView
from relay_explorer.views.fusion.view import fusion_view
from tests.support.views.check import check
from tests.views.fusions import DATA, DIAMOND, OBSTACLE, PROGRAMS, sample


def view(text: str) -> FusionView:
    return fusion_view(parse(text))


def told(step: FusionStep) -> str:
    return step.say[0].format(*step.say[1:])


def kernels(shown: FusionView, variant: int = 0) -> list[str]:
    return [kernel.name for kernel in shown.variants[variant].kernels]


def test_a_diamond_becomes_one_kernel() -> None:
    shown = view(DIAMOND)
    assert kernels(shown) == ["conv2d·relu·exp·tanh·add", "mean", "sqrt"]
    assert shown.summary == snapshot("7 operators become 3 kernels, 73% less memory traffic.")
    assert [told(step) for step in shown.variants[0].steps] == snapshot(
        [
            "Every operator is a group of its own: **7 operators**. Each may be fused into the kernel "
            "of its post-dominator, where all its uses meet.",
            "Can %0 nn.conv2d be fused into the kernel of %4 add? **Yes.** Everything between them is "
            "element-wise or broadcast, so it is applied to the elements that %0 nn.conv2d has just "
            "computed, before they are stored. 3 more nodes on the paths are fused too.",
            "Can %4 add be fused into the kernel of %5 mean? **No.** %5 mean is a reduction, so it "
            "reads elements of %4 add other than the one just computed.",
            "Can %5 mean be fused into the kernel of sqrt? **No.** %5 mean is a reduction: its result "
            "is complete only after all of the input has been read, so the operators after it need a "
            "loop of their own.",
            "The result of sqrt is also used outside the kernel, so it must be stored. A kernel ends here.",
            "The groups are kernels now: **3 kernels**.",
        ]
    )


def test_traffic_is_what_crosses_the_kernels_borders() -> None:
    """Of the convolution's kernel: the image and the weight are read, the sum is written."""
    first = view(DIAMOND).variants[0].kernels[0]
    assert first.read == 4 * (16 * 32 * 32 + 16 * 16 * 3 * 3)
    assert first.written == 4 * 16 * 32 * 32
    alone = view(DIAMOND).variants[1]
    assert alone.name == "no fusion"
    assert alone.bytes[0] == alone.bytes[1] == sum(k.read + k.written for k in alone.kernels)


def test_totals_follow_the_merges() -> None:
    """Four merges into one kernel take away four launches; each value that is not stored is neither written
    nor read again.
    """
    steps = view(DIAMOND).variants[0].steps
    assert [step.launches for step in steps] == [7, 3, 3, 3, 3, 3]
    shown = view(DIAMOND)
    alone = [node for node in shown.nodes if node.part]
    assert steps[0].bytes == sum(node.read + node.written for node in alone) == shown.variants[0].bytes[0]
    one_value = 4 * 16 * 32 * 32  # the convolution's is read twice: by relu and by tanh
    assert steps[0].bytes - steps[1].bytes == (1 + 2 + 3 * 2) * one_value
    assert sum(node.flops for node in alone) == sum(k.flops for k in shown.variants[0].kernels)


def test_a_constant_in_place_comes_along_unnamed() -> None:
    shown = view("def @main(%x: Tensor[(4, 4), float32]) { exp(multiply(%x, 2f)) }")
    constant = next(n for n, node in enumerate(shown.nodes) if node.label.startswith("constant"))
    assert shown.nodes[constant].row == -1
    assert kernels(shown) == ["multiply·exp"]
    for variant in shown.variants:
        assert all(constant not in (step.node, *step.merged) for step in variant.steps)
        assert all(constant not in kernel.nodes for kernel in variant.kernels)


def test_an_obstacle_is_named() -> None:
    shown = view(OBSTACLE)
    refused = next(s for s in shown.variants[0].steps if s.mark == FusionMark.REFUSED)
    assert shown.nodes[refused.target].label == "add"
    assert shown.nodes[refused.obstacle].label == "nn.dense"
    assert told(refused) == snapshot(
        "Can %0 exp be fused into the kernel of add? **No.** %1 nn.dense needs many input elements "
        "for each of its own, so all of %0 exp's output must be computed before it begins."
    )


def test_a_tuple_is_explained() -> None:
    shown = view("""
    def @main(%x: Tensor[(4, 4), float32]) {
      %0 = exp(%x);
      %1 = tanh(%x);
      %2 = (%0, %1);
      concatenate(%2, axis=1)
    }
    """)
    assert kernels(shown) == ["exp·tanh·concatenate"]
    steps = shown.variants[0].steps
    assert any("only groups values and computes nothing" in told(step) for step in steps)
    assert any("a tuple inside a kernel already" in told(step) for step in steps)


def test_what_if_is_answered_by_the_pass() -> None:
    shown = view(DIAMOND)
    names = [variant.name for variant in shown.variants]
    assert names[:4] == ["level 1", "no fusion", "at most 2 in a kernel", "at most 4 in a kernel"]
    supposed = shown.variants[names.index("mean were injective")]
    assert [k.name for k in supposed.kernels] == ["conv2d·relu·exp·tanh·add", "mean·sqrt"]
    assert supposed.patterns == ((7, 2),)
    assert all(len(k.nodes) <= 2 for k in shown.variants[2].kernels)


@pytest.mark.parametrize("name", ["lenet", "resnet18", "lstm"])
def test_models(name: str) -> None:
    module = SimplifyInference()(models.load(name))
    shown = fusion_view(module)
    assert check(json.loads(shown.to_json())) == []
    before, after = shown.variants[0].launches
    assert after < before


def test_random_programs_give_views() -> None:
    for seed in range(60):
        module: IRModule = generate(40_000 + seed, size=30).module
        assert check(json.loads(fusion_view(module).to_json())) == [], module


def test_explore_shows_it() -> None:
    shown = explore(DIAMOND, view="fusion", name="conv")
    assert shown.view.kind == "fusion"
    assert "fusion" in shown.to_html()


def test_names_are_text() -> None:
    """Whatever a program calls things stays text in the sentences: braces too."""
    from relay_explorer import relay

    x = relay.var("{0}<b>", shape=(2,), dtype="float32")
    shown = fusion_view(IRModule.from_expr(relay.Function([x], relay.tanh(relay.exp(x)))))
    assert check(json.loads(shown.to_json())) == []


def test_the_still_picture_has_kernels_and_decisions() -> None:
    shown = view(DIAMOND)
    rows = picture.text(shown).splitlines()
    assert [" ".join(row.split()) for row in rows[-4:-1]] == [
        "%4 = add(%2, %3); kernel 1: conv2d·relu·exp·tanh·add",
        "%5 = mean(%4, axis=[1]); kernel 2: mean",
        "sqrt(%5) kernel 3: sqrt",
    ]
    html = picture.html(shown)
    assert '<ol start="1"><li>Every operator is a group of its own: 7 operators.' in html
    assert "Can %4 add be fused into the kernel of %5 mean? No." in html


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_samples_of_the_front_end_are_what_python_gives(name: str) -> None:
    kept = (DATA / f"fusion_{name}.json").read_text(encoding="utf-8")
    assert kept == sample(name), "run `python -m tests.views.fusions`"
    assert check(json.loads(kept)) == []


def places(rows: list[int], of: list[int]) -> list[int]:
    return sorted(of.index(row) for row in rows)


def test_rows_regrouped_by_kernel() -> None:
    """Between the first product and the sum stands the second product, which is a kernel of its own."""
    shown = view(PROGRAMS["apart"])
    (variant, alone, *_) = shown.variants
    assert [shown.rows[row].text.split(" =")[0] for row in variant.order[4:8]] == ["%1", "%0", "%2", "%3"]
    assert alone.order == ()


def test_regrouped_rows_of_a_model_are_together_and_legal() -> None:
    shown = fusion_view(models.load("lstm"))
    assert check(json.loads(shown.to_json())) == []
    variant = shown.variants[0]
    order = list(variant.order)
    for kernel in variant.kernels:
        own = places([shown.nodes[n].row for n in kernel.nodes if shown.nodes[n].row >= 0], order)
        bindings = sorted(set(own))
        assert bindings[-1] - bindings[0] == len(bindings) - 1


def test_effects_keep_their_order() -> None:
    text = """
    def @main(%x: Tensor[(4, 8), float32], %w: Tensor[(8, 8), float32], %r: ref(Tensor[(4, 8), float32])) {
      let %a = nn.dense(%x, %w, units=8);
      let %b = ref_read(%r);
      let %c = ref_write(%r, %x);
      let %d = tanh(%a);
      let %e = ref_read(%r);
      (%b, %d, %e)
    }
    """
    shown = view(text)
    texts = [shown.rows[row].text for row in shown.variants[0].order or range(len(shown.rows))]
    names = [line.split(":")[0].split(" =")[0] for line in texts if line.startswith("let")]
    effects = [name for name in names if name[-1] in "bce"]
    assert effects == ["let %b", "let %c", "let %e"]


def test_a_torn_order_is_found() -> None:
    shown = json.loads(sample("apart"))
    order = shown["functions"][0]["variants"][0]["order"]
    order[4], order[6] = order[6], order[4]
    assert any("which it uses" in problem for problem in check(shown))
    order[0], order[1] = order[1], order[0]
    assert any("is torn" in problem or "does not end" in problem for problem in check(shown))


def test_every_function_that_computes_can_be_chosen() -> None:
    shown = view(PROGRAMS["called"])
    assert [(f.name, f.summary) for f in shown.functions] == snapshot(
        [
            ("@main", "2 operators become 1 kernel, 50% less memory traffic."),
            ("@step", "4 operators become 2 kernels, 31% less memory traffic."),
        ]
    )
    assert shown.summary == shown.functions[0].summary


def ladder(rungs: int) -> str:
    """A chain whose values are used once more, the last one first: regions of any length in one another."""
    lines = [f"  %{k} = exp({'%x' if k == 0 else f'%{k - 1}'});" for k in range(rungs)]
    lines += [f"  %{rungs + k} = add(%{rungs + k - 1}, %{rungs - 1 - k});" for k in range(rungs)]
    return "\n".join(["def @main(%x: Tensor[(4, 8), float32]) {", *lines, f"  %{2 * rungs - 1}", "}"])


def lines_run(text: str) -> int:
    """How many lines of the grouping run for a program."""
    function = infer_types(parse(text))["main"]
    graph, count = DataflowGraph(function), 0

    def trace(frame: FrameType, event: str, _: object) -> Any:
        nonlocal count
        count += event == "line"
        return trace if frame.f_code.co_filename == groups.__file__ else None

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        groups.Partition(graph, groups.Limits(depth=64))
    finally:
        sys.settrace(before)
    return count


def test_fusion_does_not_walk_a_region_that_is_too_large() -> None:
    """It looks at no more nodes than a kernel may have: its work grows as the program does."""
    assert lines_run(ladder(800)) < 2.5 * lines_run(ladder(400))


def test_the_most_opaque_use_is_the_first_one_of_its_kind() -> None:
    """The search ends there, and skips what is known to have none: also then, it finds the same one."""
    text = """
    def @main(%x: Tensor[(4, 8), float32]) {
      %0 = exp(%x);
      %1 = tanh(%0);
      %2 = add(%1, %0);
      %3 = nn.softmax(%2);
      %4 = nn.softmax(%3);
      add(%4, %0)
    }"""
    said = [told(step) for step in view(text).variants[0].steps if step.mark == FusionMark.REFUSED]
    assert said[0].startswith("Can %0 exp be fused into the kernel of add? **No.** %3 nn.softmax needs")


def test_one_operator_becomes_one_kernel() -> None:
    one = "def @main(%x: Tensor[(4), float32]) { tanh(%x) }"
    assert explore(one, view="fusion").view.summary == "1 operator becomes 1 kernel."
    two = "def @main(%x: Tensor[(4), float32]) { exp(tanh(%x)) }"
    assert explore(two, view="fusion").view.summary == snapshot(
        "2 operators become 1 kernel, 50% less memory traffic."
    )
