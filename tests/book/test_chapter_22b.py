"""Chapter 22b: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

import pytest

from relay_explorer.views.lowering.format import LoweringView
from tests.book.chapters import explorers, output, shown, source

PAGE = "ch22b_convolutions"


def view(explorer: str) -> LoweringView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, LoweringView)
    return result


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch22b-block"]


def test_steps_that_it_links_to() -> None:
    block = view("ch22b-block").steps
    links = re.findall(r"#rx-(ch22b-\w+):step=(\d+)", source(PAGE))
    assert links == [("ch22b-block", "1"), ("ch22b-block", "22"), ("ch22b-block", "23")]
    assert (len(block), block[0].effect.nests, block[21].effect.nests) == (23, 4, 1)


def test_instructions_of_the_innermost_loop() -> None:
    (code,) = [code for code in view("ch22b-block").codes if code.name == "assembly"]
    deepest = max(line.depth for line in code.lines)
    purposes = [code.purposes[n.purpose] for n in code.lines if n.depth == deepest and n.purpose >= 0]
    assert (purposes.count("multiply-add"), len(purposes)) == (64, 117)


def test_the_weight_is_packed() -> None:
    assert output(PAGE, "def lines") == "cache lines for eight units of one feature: 8\n"
    assert "Tensor[(8, 64, 8), float32]" in output(PAGE, "layer = built")
    first, elements, last = output(PAGE, "def pack").splitlines()
    assert first == "(8, 64, 8)"
    assert re.findall(r"\d+", elements) == [str(64 * unit) for unit in range(8)]
    assert last == "cache lines, packed: 1"


def test_an_epilogue_saves_bytes() -> None:
    one, four = (
        int(n.replace(",", "")) for n in re.findall(r"[\d,]+$", output(PAGE, "(block_kernel,)"), re.M)
    )
    assert four > 3 * one


def test_winograd() -> None:
    printed = output(PAGE, "from relay_explorer.ops.nn")
    assert printed.endswith("4 products: [17. 31.]\nsix products: [17. 31.]\n")
    transformed = re.findall(r"-?\d+(?=\.)", printed.partition("4 products")[0])
    assert list(map(int, transformed)) == [-2, 5, -2, 1, 1, 5, 3, 0]
    assert " 36 products for 144, 4.00 times fewer" in output(PAGE, "for m in (2, 4, 6):\n    winograd")
    assert re.findall(r"10\^(-\d)", output(PAGE, "rng = np")) == ["-7", "-6", "-5"]


def test_the_table_has_every_rule_for_a_processor() -> None:
    from relay_explorer.lower.schedules import RULES

    rows = re.findall(r"^\| (`.*?): ", source(PAGE), re.MULTILINE)
    assert {rule for row in rows for rule in re.findall(r"`(\w+)`", row)} == {*RULES} - {"gpu"}


def test_what_is_said_of_the_depthwise_layers() -> None:
    printed = output(PAGE, "from collections import Counter").partition("mobilenet")[2]
    (row,) = [line for line in printed.splitlines() if line.startswith("depthwise")]
    count, work, time = map(float, re.findall(r"[\d.]+", row))
    assert count == 13
    assert 2 < work < 4
    assert 1.7 < time / work < 2.6


# -- predict, then run


def test_sizes_that_no_tile_divides() -> None:
    assert output(PAGE, "def begins").splitlines() == [
        "[0, 64, 128, 136], computed twice: 56 of 200",
        "[0, 64, 128, 186], computed twice: 6 of 250",
    ]
    lines = output(PAGE, "from relay_explorer.lower.passes").splitlines()
    wide = {re.findall(r"(\d+) (?:units|channels)", line)[0]: line.split()[-1] for line in lines}
    assert wide == {"97": "104", "64": "64", "10": "16", "1001": "1008", "28": "32", "6": "6"}


def test_the_drawing_of_the_last_tile() -> None:
    from figures.last_tile import BEGINS, SIZE, TILE

    assert (SIZE, TILE, BEGINS) == (241, 64, [0, 64, 128, 177])
    assert "recomputes 15 elements" in source(PAGE)


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("packed = pack", ["index: 2 5 3", "then unit 20, feature 5"]),
        ("m = 3", ["25 instead of 81"]),
        (
            "def rules",
            [
                "56 × 56:   ['winograd']",
                "stride 2:  ['blocked']",
                "7 × 7:     ['blocked']",
                "depthwise: ['depthwise']",
                "dense:     ['reduction']",
            ],
        ),
    ],
)
def test_answers(start: str, expected: list[str]) -> None:
    assert output(PAGE, start).splitlines() == expected


def test_the_least_number_of_tiles() -> None:
    from relay_explorer.lower.passes.layouts import MIN_TILES

    assert MIN_TILES == 12
    assert "at least twelve tiles" in source(PAGE)


# -- exercise


def test_the_solution_is_right() -> None:
    assert output(PAGE, "def filter3") == "2 True\n4 True\n"
