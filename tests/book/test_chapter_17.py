"""Chapter 17: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir.narrow import as_op
from relay_explorer.views.pipeline.format import PipelineView
from tests.book.chapters import explorers, names, output, shown, source

PAGE = "ch17_layouts"


def view(explorer: str) -> PipelineView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, PipelineView)
    return result


def rows(start: str) -> dict[str, list[float]]:
    """Parse the table that a cell prints: the numbers of each row, by the row's name."""
    lines = output(PAGE, start).splitlines()
    match = [re.match(r"\s*(.*?)((?:\s+[\d.,]+)+)$", line) for line in lines]
    return {
        f"{number}:{m[1].strip()}": [float(n.replace(",", "")) for n in m[2].split()]
        for number, m in enumerate(match)
        if m
    }


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch17-layout", "ch17-blocks", "ch17-scale", "ch17-inception"]


def test_stages_that_it_links_to_are_those_that_it_names() -> None:
    words = {
        "folding": "FoldConstant",
        "last folding": "FoldConstant",
        "blocks": "AlterOpLayout",
        "kernels": "FuseOps",
        "CombineParallelConv2D": "CombineParallelConv2d",  # as TVM writes it
    }
    links = re.findall(r"\[`?([\w ]+)`?\]\(#rx-([\w-]+):stage=(\d+)\)", source(PAGE).replace("\n", " "))
    assert len(links) == 9
    for word, name, stage in links:
        assert view(name).stages[int(stage)].name == words.get(word, word)


# -- the problem


def test_channels_of_a_pixel_lie_in_64_pieces_or_4() -> None:
    assert re.findall(r"(\w+): .* (\d+) pieces", output(PAGE, "import numpy")) == [
        ("NCHW", "64"),
        ("NHWC", "4"),
    ]


def test_products_and_convolutions_that_it_speaks_of() -> None:
    printed = output(PAGE, "normalized = relay.parse")
    assert "multiply  by (64, 1, 1):      200,704 operations" in printed
    assert printed.count("192, 1, 1") == 4  # three of the picture, and the one behind the pooling


# -- watch it


def calls(explorer: str, stage: int) -> list[str]:
    """Return the operators that the program of a stage calls."""
    return [item.label for item in view(explorer).items if item.stage == stage]


def transforms(explorer: str, stage: int) -> int:
    return calls(explorer, stage).count("layout_transform")


def test_five_transforms_of_which_two_are_left() -> None:
    names(PAGE)
    for explorer in ("ch17-layout", "ch17-blocks"):
        assert (transforms(explorer, 2), transforms(explorer, 3)) == (5, 2)


def operators(explorer: str, stage: int) -> int:
    return view(explorer).stages[stage].totals.operators


def test_a_normalization_becomes_a_sum() -> None:
    assert [operators("ch17-scale", stage) for stage in (3, 5)] == [4, 3]
    assert operators("ch17-scale", 4) > operators("ch17-scale", 3)


def test_three_convolutions_become_one_with_176_channels() -> None:
    combined = calls("ch17-inception", 2)
    assert combined.count("nn.conv2d") == 4
    assert combined.count("strided_slice") == 3
    stage = view("ch17-inception").stages[2]
    assert "channels=176" in "\n".join(
        row.text for row in view("ch17-inception").rows[stage.first : stage.last + 1]
    )


# -- build it


def test_a_tensor_is_laid_as_the_operator_lays_it() -> None:
    printed = output(PAGE, "import re\n\ndef laid")
    assert printed.count("True") == 3
    assert "NHWC    0 4 8 12 1 5" in printed


def test_transforms_of_resnet() -> None:
    table = rows("def parts_first")
    assert list(table.values()) == [[60, 40], [65, 5], [62, 2]]


def test_those_that_ours_leaves_stand_around_the_pooling() -> None:
    printed = output(PAGE, "ours = T.InferType()").splitlines()
    around = [line for line in printed if "pool" in line and "max" in line]
    assert len(around) == 3


def test_our_converter_keeps_the_meaning() -> None:
    """On a small network, whose values are compared."""
    page = names(PAGE)
    before, after = page["block"], page["lay"](True)(page["T"].InferType()(page["block"]))
    given = page["given"]
    assert page["count"](after, "layout_transform") > 0
    np.testing.assert_allclose(page["run"](after, given), page["run"](before, given), rtol=1e-5, atol=1e-5)


def test_both_folders_of_scales_are_nearly_right() -> None:
    printed = output(PAGE, "def run(module, *args)").splitlines()
    assert len(printed) == 2
    assert all("products left: 0" in line and line.endswith("nearly: True") for line in printed)


def test_densenet_needs_the_way_forward() -> None:
    table = {name.split(":")[1]: numbers for name, numbers in rows("print(f\"{'':13} products").items()}
    assert table["densenet121"] == [121, 62, 1]
    for name in ("resnet18", "mobilenet", "inception_v3"):
        assert table[name][1:] == [0, 0]


def test_the_last_product_of_densenet_is_read_by_a_pooling() -> None:
    page = names(PAGE)
    t = page["T"]
    ready = page["PREPARE"](page["trained"](page["models"].load("densenet121")))
    with t.PassContext(opt_level=3):
        folded = t.FoldConstant()(t.FoldScaleAxis()(ready))
    order = page["parts_first"](folded["main"])
    last = [e for e in order if isinstance(e, relay.Call) and e.op == relay.op.get("multiply")]
    reached, result = set(last), []
    for expr in order:
        if isinstance(expr, relay.Call) and any(arg in reached for arg in expr.args):
            reached.add(expr)
            result.append(as_op(expr.op).name)
    assert "pool" in result[2]
    assert result[:2] == ["add", "nn.relu"]


def test_what_combining_is_worth() -> None:
    table = list(rows("from relay_explorer.analysis.cost").values())
    (block, block_one), (cell, cell_one), (whole, whole_one), squeeze, transformer = (
        (table[n], table[n + 1]) for n in range(0, 10, 2)
    )
    assert (block[:2], block_one[:2]) == ([6, 8], [4, 8])
    assert block_one[2] > block[2]
    assert (cell[:2], cell_one[:2]) == ([4, 4], [1, 3])
    assert whole_one[0] < whole[0]
    assert squeeze[0] == squeeze[1]
    assert transformer[0][1] - transformer[1][1] == 24


# -- predict, then run


@pytest.mark.parametrize(
    ("start", "answers"),
    [
        ("def transforms(body)", ["2", "4", "2", "3", "1"]),
        ("def products(body)", ["gone", "stays", "stays", "gone", "stays", "gone", "stays"]),
    ],
)
def test_answers(start: str, answers: list[str]) -> None:
    assert [line.split()[0] for line in output(PAGE, start).splitlines()] == answers


def test_questions_ask_what_the_cells_run() -> None:
    for start in ("def transforms(body)", "def products(body)"):
        for line in output(PAGE, start).splitlines():
            assert line.split(maxsplit=1)[1] + "\n" in source(PAGE)


def test_words_are_one_product_and_states_are_not() -> None:
    result = output(PAGE, "def reader").splitlines()
    assert result == ["64 layers, 3.15 MB of weights", "33 layers, 2.13 MB of weights"]
    module = names(PAGE)["joined"]
    calls = [e for e in names(PAGE)["parts_first"](module["main"]) if isinstance(e, relay.Call)]
    rows = next(call for call in calls if as_op(call.op).name == "nn.dense")
    assert rows.args[0] is module["main"].params[0]  # nothing is copied


def test_layers_are_combined_and_what_follows_is_not() -> None:
    printed = output(PAGE, "different = relay.parse")
    assert printed.count("nn.conv2d(") == 1
    assert [printed.count(f"{name}(") for name in ("nn.relu", "tanh", "strided_slice")] == [1, 1, 2]


# -- where it breaks


def test_one_layer_pays_for_two_borders() -> None:
    kernels = re.findall(r"(\d+) kernels, ([\d,]+) bytes", output(PAGE, "single = trained"))
    assert [int(count) for count, _ in kernels] == [1, 3]
    before, after = (int(size.replace(",", "")) for _, size in kernels)
    assert after > 2 * before


def test_three_channels_are_not_blocked() -> None:
    assert output(PAGE, "wished = T.InferType()") == "NCHW 1\nNCHW16c 19\n"


def test_a_scale_of_zero() -> None:
    assert output(PAGE, "shifted = relay.parse") == "[3.]\n[nan]\n"


def test_scaled_weights_are_further_apart() -> None:
    first, second = map(float, re.findall(r"[\d.]+(?= times)", output(PAGE, "def spread(module)")))
    assert second > 2 * first
