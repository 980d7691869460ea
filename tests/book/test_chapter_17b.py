"""Chapter 17b: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

from figures.parallel_convs import CHANNELS
from figures.scale_numbers import SCALE, convolved, scaled
from figures.scale_numbers import WEIGHT as ROWS
from relay_explorer import relay
from relay_explorer.ir.narrow import as_op
from tests.book.chapters import names, output, pipeline, shown, source, table

PAGE = "ch17b_scales"


def rows(start: str) -> dict[str, list[float]]:
    return table(PAGE, start)


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch17-scale", "ch17-inception"]


def test_stages_that_it_links_to_are_those_that_it_names() -> None:
    words = {
        "last folding": "FoldConstant",
        "kernels": "FuseOps",
        "CombineParallelConv2D": "CombineParallelConv2d",  # as TVM writes it
    }
    links = re.findall(r"\[`?([\w ]+)`?\]\(#rx-([\w-]+):stage=(\d+)\)", source(PAGE).replace("\n", " "))
    assert len(links) == 6
    for word, name, stage in links:
        assert pipeline(PAGE, name).stages[int(stage)].name == words.get(word, word)


# -- the problem, the idea


def test_products_and_convolutions_that_it_speaks_of() -> None:
    printed = output(PAGE, "import numpy as np")
    assert "multiply  by (64, 1, 1):      200,704 operations" in printed
    assert printed.count("192, 1, 1") == 4  # three of the picture, and the one behind the pooling


def test_the_worked_example() -> None:
    """The drawing's numbers are those of the text, and both sides agree."""
    assert convolved(ROWS) == (7, 7)
    assert (
        convolved(scaled()) == (14, 70) == tuple(s * y for s, y in zip(SCALE, convolved(ROWS), strict=True))
    )
    assert sum(CHANNELS) == 176


def test_the_engineers_gates_are_one_layer() -> None:
    weight = names(PAGE)["models"].load("tree_lstm")["main"].params[3]
    assert weight.type_annotation.concrete_shape == (5 * 150, 300)


# -- watch it


def calls(explorer: str, stage: int) -> list[str]:
    """Return the operators that the program of a stage calls."""
    return [item.label for item in pipeline(PAGE, explorer).items if item.stage == stage]


def operators(explorer: str, stage: int) -> int:
    return pipeline(PAGE, explorer).stages[stage].totals.operators


def test_a_normalization_becomes_a_sum() -> None:
    assert [operators("ch17-scale", stage) for stage in (3, 5)] == [4, 3]
    assert operators("ch17-scale", 4) > operators("ch17-scale", 3)


def test_three_convolutions_become_one_with_176_channels() -> None:
    combined = calls("ch17-inception", 2)
    assert combined.count("nn.conv2d") == 4
    assert combined.count("strided_slice") == 3
    stage = pipeline(PAGE, "ch17-inception").stages[2]
    assert "channels=176" in "\n".join(
        row.text for row in pipeline(PAGE, "ch17-inception").rows[stage.first : stage.last + 1]
    )


# -- build it


def test_both_folders_of_scales_are_nearly_right() -> None:
    printed = output(PAGE, "def post_order").splitlines()
    assert len(printed) == 2
    assert all("multiplications: 0" in line and line.endswith("nearly: True") for line in printed)


def test_densenet_needs_the_way_forward() -> None:
    table = {
        name.split(":")[1]: numbers for name, numbers in rows("print(f\"{'':13} multiplications").items()
    }
    assert table["densenet121"] == [121, 62, 1]
    for name in ("resnet18", "mobilenet", "inception_v3"):
        assert table[name][1:] == [0, 0]


def test_the_last_product_of_densenet_is_read_by_a_pooling() -> None:
    page = names(PAGE)
    t = page["T"]
    ready = page["PREPARE"](page["trained"](page["models"].load("densenet121")))
    with t.PassContext(opt_level=3):
        folded = t.FoldConstant()(t.FoldScaleAxis()(ready))
    order = page["post_order"](folded["main"])
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


def test_answers() -> None:
    printed = output(PAGE, "def multiplications(body)").splitlines()
    assert [line.split()[0] for line in printed] == [
        "gone",
        "stays",
        "stays",
        "gone",
        "stays",
        "gone",
        "stays",
    ]
    for line in printed:
        assert line.split(maxsplit=1)[1] + "\n" in source(PAGE)


def test_slices_cost_where_convolutions_read_them() -> None:
    worse, better = ([row[0:2] for row in pair] for pair in _pairs(rows("def compare(body)")))
    assert worse == [[4, 4], [3, 5]]
    assert better == [[2, 2], [1, 2]]
    table = list(rows("def compare(body)").values())
    assert table[1][2] > table[0][2]
    assert table[3][2] < table[2][2]


def _pairs(table: dict[str, list[float]]) -> list[list[list[float]]]:
    values = list(table.values())
    return [values[:2], values[2:]]


def test_words_are_one_product_and_states_are_not() -> None:
    result = output(PAGE, "def reader").splitlines()
    assert result == ["64 layers, 3.15 MB of weights", "33 layers, 2.13 MB of weights"]
    module = names(PAGE)["joined"]
    calls = [e for e in names(PAGE)["post_order"](module["main"]) if isinstance(e, relay.Call)]
    rows = next(call for call in calls if as_op(call.op).name == "nn.dense")
    assert rows.args[0] is module["main"].params[0]  # nothing is copied


def test_layers_are_combined_and_what_follows_is_not() -> None:
    printed = output(PAGE, "different = relay.parse")
    assert printed.count("nn.conv2d(") == 1
    assert [printed.count(f"{name}(") for name in ("nn.relu", "tanh", "strided_slice")] == [1, 1, 2]


# -- where it breaks


def test_a_scale_of_zero() -> None:
    assert output(PAGE, "shifted = relay.parse") == "[3.]\n[nan]\n"


def test_scaled_weights_are_further_apart() -> None:
    first, second = map(float, re.findall(r"[\d.]+(?= times)", output(PAGE, "def spread(module)")))
    assert second > 2 * first
