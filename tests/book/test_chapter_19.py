"""Chapter 19: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import contextlib
import io
import re

import pytest

from figures.backprop_numbers import backward, forward
from figures.stored_values import lifetimes
from relay_explorer.ir.declaration import Gradient
from relay_explorer.ir.op import Op
from relay_explorer.views.fates import Fate
from relay_explorer.views.gradient.format import GradientView, Kept
from tests.book.chapters import explorers, names, output, shown, source

PAGE = "ch19_gradients"


def view(explorer: str) -> GradientView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, GradientView)
    return result


def say(explorer: str, step: int) -> str:
    """Return the sentence of a step, counted from 1 as readers and addresses do."""
    template, *arguments = view(explorer).steps[step - 1].say
    return template.format(*arguments)


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch19-layer", "ch19-lenet", "ch19-pipeline"]


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (2, "%d_loss, is **one**"),
        (4, "passes %g2 and %g3 to %e subtract"),
        (5, "%d_e is the **sum** of their derivatives"),
        (7, "**%y tanh** in reverse"),
    ],
)
def test_steps_say_what_the_text_says_of_them(step: int, words: str) -> None:
    assert words in say("ch19-layer", step)
    assert f"](#rx-ch19-layer:step={step})" in source(PAGE)


# -- the problem, the idea


def test_no_step_is_right_and_the_smallest_is_worst() -> None:
    slopes = [float(n) for n in re.findall(r"slope +(-?[\d.]+)", output(PAGE, "import numpy as np"))]
    exact = float(re.findall(r"first weight: (\S+)", output(PAGE, "ours = to_relay"))[0])
    errors = [abs(slope - exact) for slope in slopes]
    assert min(errors) > 1e-6
    assert errors[0] > 0.1
    assert errors[-1] > 0.1


def stated_rule(name: str) -> str:
    """Return the formula that the declaration of an operator's gradient states."""
    gradient = Op.get(name).gradient
    assert isinstance(gradient, Gradient)
    return gradient.formula


def test_rules_of_the_table_are_those_of_the_package() -> None:
    rows = re.findall(r"^\| `y = ([^`]+)` \| (.+?) \|", source(PAGE), re.M)
    assert len(rows) == 6
    message = dict(rows)
    assert stated_rule("tanh") == message["tanh(x)"].strip("`") == "dx = dy · (1 − y²)"
    assert stated_rule("nn.dense") == message["nn.dense(x, w)"].replace("`", "") == "dx = dy w, dw = dyᵀ x"


def test_the_layer_keeps_what_the_figure_marks() -> None:
    kept = {v.name: v.kept for v in view("ch19-layer").values if not v.given and v.kept}
    assert kept == {"%y": Kept.NUMBERS, "%e": Kept.NUMBERS, "%q": Kept.SHAPE}
    assert {name: back for name, _, _, back in lifetimes() if back} == {"%y": 10, "%e": 8}


def test_the_example_by_hand() -> None:
    assert forward() == {"x": 3, "w": 2, "t": 5, "h": 6, "e": 1, "q": 1}
    assert backward() == {"q": 1, "e": 2, "h": 2, "t": -2, "x": 4, "w": 6}
    assert output(PAGE, "from pocket import ir") == "by hand: 1.0 [4.0, 6.0, -2.0]\n"


def test_lenet_takes_twice_the_arithmetic_back() -> None:
    shown = view("ch19-lenet")
    assert shown.backward.flops / shown.forward.flops == pytest.approx(2, abs=0.05)
    pictures = [v.bytes for v in shown.values if v.kept == Kept.NUMBERS and not v.given]
    assert pictures[0] == max(pictures)
    assert any(v.label == "nn.relu" for v in shown.values)


# -- build it


def test_both_transformations_agree() -> None:
    printed = output(PAGE, "ours = to_relay")
    assert printed.count("True") == 4
    assert "False" not in printed


def test_derivatives_agree_with_difference_quotients_and_a_hasty_rule_does_not() -> None:
    offs = [float(n) for n in re.findall(r"error ([\de.-]+)", output(PAGE, "def in_float64"))]
    assert len(offs) == 8
    assert max(offs) < 1e-8
    assert float(output(PAGE, "right, one = RULES").split()[-1]) > 0.1


def test_other_passes_simplify_the_backward_pass() -> None:
    counts = [int(n) for n in re.findall(r"(\d+) operators", output(PAGE, 'print("the layer  '))]
    assert counts[1] - counts[2] == 1
    assert "broadcast_to_like" in output(PAGE, 'print("the layer  ').splitlines()[3]
    assert "broadcast_to(" in output(PAGE, 'print("the layer  ').splitlines()[4]
    (left,) = re.findall(r"(\d+) operators", output(PAGE, "derived = simplify"))
    assert int(left) < counts[2]


def test_the_pipeline_shows_where_the_backward_pass_came_from() -> None:
    shown = explorers(PAGE)["ch19-pipeline"].view
    fates = [[mark for _, _, mark in stage.align if mark != Fate.KEPT] for stage in shown.stages[1:]]
    assert fates[0].count(Fate.REMOVED) == 1  # the result row
    assert set(fates[0]) == {Fate.ADDED, Fate.REMOVED}
    assert [len([m for m in marks if m == Fate.REWRITTEN]) for marks in fates[2:]] == [1, 1]
    added = [item for item in shown.items if item.stage == 1 and item.label == "broadcast_to_like"]
    assert [shown.items[n].label for item in added for n in item.came_from] == ["sum"]
    stages = {int(n) for n in re.findall(r"#rx-ch19-pipeline:stage=(\d)", source(PAGE))}
    assert stages == {1, 3, 4} <= set(range(len(shown.stages)))


def test_derivatives_of_derivatives() -> None:
    rows = [line.split()[-3:] for line in output(PAGE, "def slope").splitlines()]
    half = [float(row[1]) for row in rows]
    y = half[0]
    assert half[1:] == pytest.approx([1 - y**2, -2 * y * (1 - y**2), (6 * y**2 - 2) * (1 - y**2)], abs=1e-4)


def test_a_recursion_is_refused_and_then_followed() -> None:
    assert "not through a call of a function" in output(PAGE, "power =")
    assert re.findall(r"slope ([\d.]+)", output(PAGE, "def higher_order")) == ["0.0", "1.0", "12.0", "192.0"]


def test_partial_evaluation_leaves_neither_cells_nor_closures() -> None:
    assert "ref(" in output(PAGE, "shortest =")
    left = output(PAGE, "cube =")
    assert not re.search(r"ref|fn \(\)|@|if ", left)
    assert re.findall(r"(\d+) operators", left) == ["13", "4"]
    printed = output(PAGE, "POWER =").splitlines()
    assert [line.split()[0] for line in printed] == ["none", "references", "references", "none"]
    for line in printed:
        assert line.split(maxsplit=1)[1] + "\n" in source(PAGE)
    assert output(PAGE, "lazy =").splitlines()[0].split() == ["Raw", "One", "Zero"]


def test_the_tree_lstm_learns_its_sentences() -> None:
    losses = [float(n) for n in re.findall(r"loss ([\d.]+)", output(PAGE, "vectors ="))]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < 0.2
    assert output(PAGE, "read =").count("right") == 5
    assert "@pair_grad" in output(PAGE, "from relay_explorer.models.tree_lstm")


def test_the_readers_compiler_learns_digits() -> None:
    """The milestone of part IV."""
    assert output(PAGE, "from pocket.cse import") == "26 kernels\n"
    printed = output(PAGE, "from sklearn.datasets import")
    share, says, label = re.findall(r"(\d+)% of|says (\d)|label is (\d)", printed)
    assert int(share[0]) >= 88
    assert says[1] == label[2]


def test_the_solution_is_a_right_rule() -> None:
    solution = re.search(r"```\{code-block\} python\n(RULES.*?)^```$", source(PAGE), re.DOTALL | re.MULTILINE)
    assert solution is not None
    page = dict(names(PAGE))
    assert "sqrt" not in page["RULES"]
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(compile(solution[1], PAGE, "exec", dont_inherit=True), page)
    del page["RULES"]["sqrt"]
    assert float(printed.getvalue()) < 1e-8


# -- predictions, limits


def test_predictions() -> None:
    assert output(PAGE, 'for op in ("exp"').splitlines() == ["['%a', '%b']", "[]", "['%a']"]
    matches = [float(n) for n in re.findall(r": ([-\d.]+)", output(PAGE, 'derivatives_at("%x * %x + %x"'))]
    assert matches == [7, 108, 2]
    corner = [float(n) for n in re.findall(r": ([-\d.]+)", output(PAGE, 'derivatives_at("nn.relu'))]
    assert corner == [0, 1, 1, 0, 0, 0]
    branch = [float(n) for n in re.findall(r": ([-\d.]+)", output(PAGE, "derivatives_at(\n"))]
    assert branch == [2, 5]


def test_closures_add_up_the_slope_of_a_square() -> None:
    assert output(PAGE, "_, by = program(any_power)") == "derivative: 4.0\n"


def test_memory_for_one_example() -> None:
    rows = output(PAGE, 'for name in ("lenet", "resnet18", "lstm")').splitlines()
    assert len(rows) == 3
    assert all(2 <= float(row.split()[-4]) <= 2.5 for row in rows), rows


def test_a_gradient_without_sums_is_well_typed_and_wrong() -> None:
    errors = [float(line.split()[-1]) for line in output(PAGE, "from unittest import mock").splitlines()]
    assert max(errors[:3]) < 1e-6
    assert errors[3] > 0.1
