"""The memory view: the plan in words, and the same program fused, with `let`, in other orders."""

from __future__ import annotations

import json

import pytest
from inline_snapshot import snapshot
from inline_snapshot.extra import raises

from relay_explorer import explore, models
from relay_explorer.ir import IRModule
from relay_explorer.text import parse
from relay_explorer.transform import InferType, gradient
from relay_explorer.views import picture
from relay_explorer.views.memory.format import MemoryMark, MemoryStep, MemoryVariant, MemoryView
from relay_explorer.views.memory.view import memory_view
from tests.analysis.storage_programs import random_function
from tests.support.views.check import check
from tests.views.memories import BLOCK, DATA, SAMPLES, sample, view


def told(step: MemoryStep) -> str:
    return step.say[0].format(*step.say[1:])


def variant(shown: MemoryView, *choices: int) -> MemoryVariant:
    """The plan for a choice on each axis."""
    number = 0
    for (_, names), choice in zip(shown.axes, choices, strict=True):
        number = number * len(names) + choice
    return shown.variants[shown.grid[number]]


def lives(shown: MemoryVariant) -> list[str]:
    return [f"{life.name}: {life.made}-{life.last} in b{life.buffer}" for life in shown.lives]


@pytest.mark.parametrize("name", SAMPLES)
def test_the_kept_samples_are_what_the_plans_are(name: str) -> None:
    kept = (DATA / f"memory_{name}.json").read_text("utf-8")
    assert kept == sample(name), "run `python -m tests.views.memories`"
    assert check(json.loads(kept)) == []


def test_a_block_step_by_step() -> None:
    shown = view("block")
    assert shown.summary == snapshot(
        "8 values in 3 buffers: at most 24.6 kB are live at once, the buffers take 24.6 kB, and "
        "without reuse they would take 65.5 kB. With operators fused, 3 values with a peak of 24.6 "
        "kB."
    )
    steps = shown.variants[0].steps
    assert [told(step) for step in (*steps[:5], *steps[-2:])] == snapshot(
        [
            "No buffer is in use yet. Parameters and constants, 12.8 kB, have memory of their own. 8 "
            "steps follow.",
            """\
%0 nn.relu needs 8.19 kB: **a new buffer**, b0, because none is free.
Live: 8.19 kB.\
""",
            """\
%1 nn.conv2d needs 8.19 kB: **a new buffer**, b1, because none is free.
Live: 16.4 kB.\
""",
            """\
%2 nn.bias_add needs 8.19 kB: **a new buffer**, b2, because none is free.
Live: 24.6 kB, the peak. Dead after this step: %1 nn.conv2d (b1).\
""",
            "%3 nn.relu needs 8.19 kB: **b1 is reused**. It held %1 nn.conv2d, which is dead now and "
            "had the same size.\n"
            "Live: 24.6 kB. Dead after this step: %2 nn.bias_add (b2).",
            "nn.relu needs 8.19 kB: **b0 is reused**. It held %0 nn.relu, which is dead now and had the "
            "same size.\n"
            "Live: 16.4 kB. Dead after this step: %6 add (b2).",
            "The result is computed. At most 24.6 kB were live at once. 3 buffers, 24.6 kB in total, "
            "held all values; without reuse they would have taken **65.5 kB**.",
        ]
    )
    # What skips the branch is needed until the sum.
    assert lives(shown.variants[0])[0] == "%0 nn.relu: 1-7 in b0"


def test_fused_values_are_found_again_in_the_program() -> None:
    shown = view("block")
    fused = variant(shown, 1, 0, 0)
    assert [step.label for step in fused.steps] == [
        "", "relu", "conv2d·bias_add·relu", "conv2d·bias_add·add·relu", "",
    ]  # fmt: skip
    assert lives(fused) == ["%0 nn.relu: 1-3 in b0", "%3 nn.relu: 2-3 in b1", "nn.relu: 3-4 in b2"]
    inside = [(shown.values[value].name, step) for value, step in fused.inside]
    assert inside == [("%1", 2), ("%2", 2), ("%4", 3), ("%5", 3), ("%6", 3)]
    assert told_of(fused) == snapshot(
        "**Operators fused.** 5 values are never stored. Peak 24.6 kB, as before; buffers 24.6 kB, as before."
    )


def told_of(shown: MemoryVariant) -> str:
    return shown.say[0].format(*shown.say[1:])


def test_names_that_live_as_long_as_their_scope_cost_everything() -> None:
    shown = view("block")
    scoped = variant(shown, 0, 1, 0)
    assert {life.last for life in scoped.lives} == {8, 9}, "to the last operation, the result to the end"
    assert scoped.totals.peak == scoped.totals.total == 8 * 8192
    assert told_of(scoped) == snapshot(
        "**One kernel for each operator, names freed where their scope ends, `let` by `let`.** Peak "
        "65.5 kB instead of 24.6 kB; buffers 65.5 kB instead of 24.6 kB."
    )
    # With scopes of its own, a program gives back earlier what is named inside them.
    inner = variant(view("scopes"), 0, 1, 0)
    assert lives(inner)[:3] == ["%t tanh: 1-3 in b0", "%u exp: 2-3 in b1", "add: 3-11 in b2"]


def test_the_order_of_let_can_be_given_up() -> None:
    shown = view("wide")
    peaks = {name: variant(shown, 0, 0, n).totals.peak for n, name in enumerate(shown.axes[2][1])}
    large = 4 * 4096
    assert peaks == {
        "program": 5 * large, "level by level": 5 * large,
        "depth first": 2 * large + 3 * 64, "greedy": 2 * large + 3 * 64,
    }  # fmt: skip
    assert told_of(variant(shown, 1, 0, 0)) == snapshot(
        "**Operators fused, as a graph without `let`.** 3 values are never stored. Peak 16.6 kB "
        "instead of 81.9 kB; buffers 24.9 kB instead of 82.2 kB."
    )
    assert variant(shown, 0, 1, 0) == variant(shown, 0, 1, 3), "with `let`, the order is written down"


def test_views_branches_and_growing_buffers_have_their_sentences() -> None:
    steps = {step.mark: told(step).split("\n")[0] for step in view("wide").variants[0].steps}
    assert steps[MemoryMark.VIEW] == snapshot(
        "%c reshape is %0 sqrt with another shape: **nothing is stored** or copied."
    )
    scopes = view("scopes").variants[0].steps
    texts = [told(step).split("\n")[0] for step in scopes]
    marks = [step.mark for step in scopes]
    assert texts[marks.index(MemoryMark.BRANCH)] == snapshot(
        "%c decides which branch of the `if` is taken. The plan covers both: only one of the "
        "branches runs, so they may share buffers."
    )
    copies = [text for text, mark in zip(texts, marks) if mark == MemoryMark.COPY]
    assert copies == snapshot(
        [
            "The true branch ends: its result is copied to b0, which holds %y if from here on.",
            "The false branch ends: its result is copied to the memory of %y if.",
        ]
    )
    assert texts[marks.index(MemoryMark.GROWN)] == snapshot(
        "%n concatenate needs 512 bytes: **b2 grows** from 256 bytes to 512 bytes and is reused: no "
        "free buffer is large enough, and b2 is the largest of them. It held add, which is dead "
        "now."
    )


def test_rows_that_name_what_is_stored_anyway() -> None:
    shown = view("wide")
    named = {shown.rows[row].text.split(" = ")[0]: shown.values[value].name for row, value in shown.same}
    assert named == {"let %c: Tensor[(4096), float32]": "%0", "%2": "%p.1", "%3": "%p.0"}


def test_random_programs() -> None:
    for seed in range(25):
        shown = memory_view(IRModule.from_expr(random_function(seed)))
        assert check(shown.to_dict()) == []


@pytest.mark.parametrize(
    ("program", "stored"),
    [
        ("(%x: Tensor[(2), float32]) { %x }", []),
        ("() { () }", []),
        ("(%x: Tensor[(2, 3), float32]) { let %y = reshape(%x, newshape=[6]); (%y, %y) }", []),
        ("(%x: Tensor[(0, 4), float32]) { tanh(%x) }", ["tanh"]),
        ("(%x: (int8, (int8, bool))) { (negative(%x.1.0), %x.0) }", ["%2 negative"]),
        ("(%x: Tensor[(2), float32]) { let %u = exp(%x); tanh(%x) }", ["%u exp", "tanh"]),
        (
            "(%x: float32) { let %f = fn (%p: float32, Primitive=1) { exp(tanh(%p)) };"
            " let %y = %f(%x); %f(%y) }",
            ["%y tanh·exp", "tanh·exp"],
        ),
    ],
)
def test_small_programs(program: str, stored: list[str]) -> None:
    shown = memory_view(parse(f"def @main{program}"))
    assert check(shown.to_dict()) == []
    assert [life.name for life in shown.variants[0].lives] == stored
    nothing = "The program computes nothing, so it needs no buffers."
    assert (shown.summary == nothing) == (not stored)


def test_networks_and_a_gradient() -> None:
    """The backward pass needs what the forward pass computed: twice the memory and more."""
    mlp = InferType()(models.load("mlp"))
    back = InferType()(IRModule.from_expr(gradient(mlp["main"], mode="first_order")))
    for module in (models.load("lstm"), back):
        assert check(memory_view(module).to_dict()) == []
    forward, both = (memory_view(m).variants[0].totals for m in (mlp, back))
    assert both.peak > 2 * forward.peak


def test_the_still_picture_tells_the_plan() -> None:
    shown = view("block")
    line = next(line for line in picture.text(shown).splitlines() if "%3 = " in line)
    assert line.endswith("b1, 8,192 bytes, steps 4 to 5")
    drawn = picture.html(shown)
    assert (
        "<li>%0 nn.relu needs 8.19 kB: a new buffer, b0, because none is free. Live: 8.19 kB.</li>" in drawn
    )


def test_explore_shows_it() -> None:
    made = explore(parse(BLOCK), view="memory", title="a block", name="m")
    assert made.to_dict()["view"] == "memory"
    assert repr(made) == snapshot(
        "<Explorer of 'a block' (memory): 8 values in 3 buffers: at most 24.6 kB are live at once, "
        "the buffers take 24.6 kB, and without reuse they would take 65.5 kB. With operators fused, "
        "3 values with a peak of 24.6 kB.>"
    )
    with raises(
        snapshot(
            "RelayError:\n"
            "tree_lstm.relay:41:11: error: memory is planned for operators, kernels, tuples, `let` and "
            "`if`, but this is a value of type `Phrase`\n"
            "  41 | def @main(%sentence: Phrase,\n"
            "     |           ^^^^^^^^^^^^^^^^^\n"
            "help: what lives in other programs is known only when they run: the interpreter runs them"
        )
    ):
        explore(models.load("tree_lstm"), view="memory")
    with raises(snapshot("RelayError: error: the module has no function whose memory can be planned")):
        explore(IRModule(), view="memory")


def test_a_view_that_is_wrong_is_noticed() -> None:
    data = view("block").to_dict()
    data["variants"][0]["lives"][2][3] = 1  # the second bias in the buffer of what it reads
    data["grid"].pop()
    found = check(data)
    assert found == snapshot(
        [
            "grid: has gaps",
            "variant 0, life 2: has a buffer that is in use",
            "variant 0, life 3: has a buffer that is in use",
        ]
    )
    assert "grid: has gaps" in found
