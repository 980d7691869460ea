"""Chapter 21: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

import pytest

from relay_explorer.views.lowering.format import LoweringView
from tests.book.chapters import cells, explorers, output, shown, source

PAGE = "ch21_operators_to_loops"


def view(explorer: str) -> LoweringView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, LoweringView)
    return result


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch21-gate", "ch21-softmax"]


def test_ways_to_split_the_loops() -> None:
    assert output(PAGE, "from math import") == "126 ways to split, 720 orders: 90,720\n"


# -- watch it


def test_steps_that_it_links_to() -> None:
    gate, softmax = view("ch21-gate").steps, view("ch21-softmax").steps
    links = re.findall(r"#rx-(ch21-\w+):step=(\d+)", source(PAGE))
    assert links == [
        ("ch21-gate", "1"), ("ch21-gate", "25"), ("ch21-gate", "2"), ("ch21-gate", "4"),
        ("ch21-softmax", "3"), ("ch21-softmax", "39"),
    ]  # fmt: skip
    assert (len(gate), gate[0].effect.nests, gate[-1].effect.nests) == (25, 3, 1)
    assert (gate[1].primitive, gate[3].primitive) == ("ComputeInline", "RFactor")
    assert softmax[2].primitive == "RFactor"
    assert (len(softmax), softmax[0].effect.nests, softmax[38].effect.nests) == (40, 4, 4)
    assert [operator.name for operator in view("ch21-gate").operators][1] == "add"


def test_lanes_that_it_speaks_of() -> None:
    gate = view("ch21-gate").steps[3].nest
    assert any(not part.is_block and part.extent == 8 for part in gate)
    maximum = view("ch21-softmax").steps[2].say
    assert "4 **partial results**" in str(maximum)
    assert [stage.operator for stage in view("ch21-softmax").stages] == [-1, 0, 0, 0, 0]


# -- build it


def test_formulas_compute_what_the_gate_means() -> None:
    for start in (
        "import re\nimport numpy as np",
        "def run(func",
        "sch = unscheduled()\nsch.compute_inline",
    ):
        assert output(PAGE, start).endswith("True\n")


def test_the_readers_loops() -> None:
    printed = output(PAGE, "def primitives")
    assert re.findall(r"^for \(int (\w+)", printed, re.MULTILINE) == ["i0", "i0"]  # two nests
    assert "s1[i0 * 32 + i1 * 1] = (1 / (1 + exp(-(s0[i0 * 32 + i1 * 1] + p2[0 * 32 + i1 * 1]))))" in printed


def test_one_nest_is_the_c_code() -> None:
    printed = output(PAGE, "from tvm import s_tir")
    assert re.findall(r"^( *)for \w+ < (\d+):", printed, re.MULTILINE) == [
        ("", "4"),
        ("  ", "32"),
        ("    ", "64"),
    ]


def test_what_is_refused_and_what_slips_through() -> None:
    lines = output(PAGE, "def inline_the_sum").splitlines()
    assert [re.split(r"\s{2,}", line)[0] for line in lines] == [
        "refused", "refused", "allowed, right", "allowed, and WRONG",
    ]  # fmt: skip


def test_the_real_one() -> None:
    printed = output(PAGE, "from relay_explorer.lower.compose")
    assert printed.splitlines() == [
        "nn.dense  C  nn_dense",
        "add       B  add",
        "sigmoid   E  sigmoid",
        "decides on the schedule: nn.dense",
    ]
    assert output(PAGE, "scheduled = schedule").startswith("by the rule: reduction\n")


# -- predict, then run


@pytest.mark.parametrize(
    ("start", "answer"),
    [
        ('count("tanh', "3 → 1"),
        ('count("sum', "2 → 1"),
        ('count("mean', "2 → 2"),
        ('count("nn.softmax', "4 → 4"),
        ('count("concatenate', "3 → 1"),
    ],
)
def test_answers(start: str, answer: str) -> None:
    assert output(PAGE, start) == f"{answer}\n"
    (asked,) = [cell for cell in cells(PAGE) if cell.startswith(start)]
    assert f"\n{asked.strip()[7:-2]}\n" in source(PAGE)


def test_answer_on_axes() -> None:
    assert output(PAGE, "pixels = te").split() == [
        "n", "spatial", "c", "spatial", "h", "reduction", "w", "reduction"
    ]  # fmt: skip


def test_answers_on_legality() -> None:
    assert output(PAGE, "requests = {").splitlines() == [
        "allowed reorder k, i",
        "allowed parallel i",
        "refused parallel k",
        "allowed unroll k",
        "allowed inline biased",
    ]


def test_answer_on_nan() -> None:
    assert output(PAGE, "def element") == "te.max(x, 0): [0.]\nte.max(0, x): [nan]\n"


# -- where it breaks


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("left = np", "TVM    [nan  1.]\nNumPy  [nan nan]\nours   [nan nan]\n"),
        ("unequal = element", "x != x  TVM  [0 0]\nx != x NumPy [0 1]\n"),
        ("most = np", "TVM   [1]\nNumPy [0]\n"),
        ("import re\n\nv = te", "add nsw <4 x i32>\n"),
        ("quotient = relay", "[ 3  0 -5]\n"),
        ("ones = np", "float16 accumulator: [2.048e+03]\nours:                4.096e+03\n"),
        ("empty = te", "TVM   [77. 77. 77.]\nours  [0. 0. 0.]\n"),
    ],
)
def test_what_was_met(start: str, expected: str) -> None:
    assert output(PAGE, start) == expected


def test_lanes_are_nearer_to_the_truth() -> None:
    in_order, lanes, exactly = map(float, re.findall(r"[\d.]+$", output(PAGE, "tenth = "), re.MULTILINE))
    assert abs(lanes - exactly) < abs(in_order - exactly) / 10


def test_inlining_stops() -> None:
    assert re.findall(r"(\d+) nests become (\d+)", output(PAGE, "from relay_explorer.lower.schedules.i")) == [
        ("5", "1"),
        ("9", "1"),
        ("17", "2"),
        ("33", "3"),
    ]


# -- exercise


def test_tile_of_two_rows() -> None:
    printed = output(PAGE, "sch = unscheduled()\ni, j")
    assert re.findall(r"< (\d+):", printed)[:5] == ["2", "4", "64", "2", "8"]
    assert printed.endswith("True\n")


def test_means_of_special_inputs() -> None:
    printed = output(PAGE, "for name, row in (")
    assert [line.split()[-1] for line in printed.splitlines()] == ["nan", "60000.0", "1.0", "nan"]
