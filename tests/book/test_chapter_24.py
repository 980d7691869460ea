"""Chapter 24: its cells run, and what the text and the answers say is so. The tools for ARM are there."""

from __future__ import annotations

import re

import pytest

from relay_explorer.views.lowering.format import LoweringView
from tests.book.chapters import cells, explorers, names, output, shown, source

PAGE = "ch24_arm"

pytestmark = pytest.mark.slow  # two programs are compiled ahead of time, and one runs under qemu


def view(explorer: str) -> LoweringView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, LoweringView)
    return result


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch24-arm", "ch24-x86"]


def test_it_is_compiled_and_does_not_run_here() -> None:
    assert output(PAGE, "import numpy as np") == ""
    assert "which this machine is not" in output(PAGE, "SENTENCE =")


# -- watch it


def test_two_schedules_that_differ_in_the_vectors() -> None:
    arm, x86 = view("ch24-arm"), view("ch24-x86")
    assert len(arm.steps) == len(x86.steps) == 22
    assert (arm.steps[-1].effect.lanes, x86.steps[-1].effect.lanes) == (4, 16)
    assert re.findall(r"#rx-(ch24-\w+):step=(\d+)", source(PAGE)) == [("ch24-arm", "12")]
    assert arm.steps[11].primitive == "SetScope"


def test_numbers_in_arm_assembly_are_there() -> None:
    lines = [line.text for code in view("ch24-arm").codes for line in code.lines]
    assert any(re.match(r"ldr q\d+, \[x\d+, #\d+\]", line) for line in lines)


# -- build it


def test_the_innermost_loop() -> None:
    lines = [line.split()[0] for line in output(PAGE, "import re").splitlines()]
    assert lines.count("fmla") == 16
    assert sum(name.startswith(("ld1r", "ldr")) for name in lines) == 8
    assert len(lines) == 28
    used = set(re.findall(r"fmla\s+v(\d+)", output(PAGE, "import re")))
    assert used == {str(n) for n in (*range(8), *range(16, 24))}


def test_one_loop_on_five_processors() -> None:
    rows = output(PAGE, "print(f\"{'':8} {'tile'").splitlines()[1:]
    assert [re.split(r"\s{2,}", row.strip())[1:] for row in rows] == [
        ["4 × 4", "27", "16", "256"], ["4 × 2", "30", "16", "128"],
        ["4 × 4", "28", "16", "64"], ["4 × 4", "28", "16", "64"], ["4 × 4", "28", "16", "64"],
    ]  # fmt: skip


def test_what_the_board_prints() -> None:
    lines = output(PAGE, "import shutil").splitlines()
    assert [line.split(":")[0] for line in lines] == ["positive", "very positive", "very negative", "error"]


def test_most_new_sentences_are_understood_there_as_here() -> None:
    new, same, right = map(int, re.findall(r"\d+(?= new| times)", output(PAGE, "def text(tree)")))
    assert same >= new - 2  # the last bits may tip a sentence that is between two moods
    assert 0.95 < right / new < 1


def test_sizes() -> None:
    sizes = [float(line.split()[0]) for line in output(PAGE, "def kilobytes").splitlines()]
    _, weights, _, nothing, static, dynamic = sizes
    assert weights < static - nothing < nothing < static
    assert dynamic < static / 3


def test_the_file_says_for_which_processor_it_is() -> None:
    assert output(PAGE, "MACHINES =").endswith("a program for AArch64\n")


# -- predict, then run


def test_one_input_loads_a_vector_for_each_multiply_add() -> None:
    printed = output(PAGE, "single = relay.parse")
    assert printed.count("fmla") == 8
    assert len(re.findall(r"\bldr\s+q", printed)) + 2 * len(re.findall(r"\bldp\s+q", printed)) == 8


def test_processors_that_run_it() -> None:
    lines = output(PAGE, "for processor in").splitlines()
    assert [line.split()[1] for line in lines] == ["positive:"] * 3
    more = output(PAGE, "from relay_explorer.lower.targets.target import needed_features").splitlines()
    assert [line.split(":")[1].split() for line in more] == [["dotprod"], [], []]


def test_without_the_tools_a_package_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    page = names(PAGE)
    page = {**page, "QEMU": None}
    (code,) = [cell for cell in cells(PAGE) if "def on_board" in cell]
    exec("def on_board" + code.split("def on_board")[1].split("\nfor line")[0], page)
    assert page["on_board"](["awful"]) == []
    assert "apt-get install qemu-user" in capsys.readouterr().out
