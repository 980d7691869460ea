"""Chapter 24: its cells run and print what the text and the answers say. The tools for ARM are installed."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from figures import arm_instructions, file_sizes
from figures.neon_registers import ROLES
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
    assert output(PAGE, "import shutil") == ""
    assert "which this machine cannot run" in output(PAGE, "SENTENCE =")


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
    assert used == {str(n) for n in ROLES["accumulator"][1]}  # as drawn


def test_most_multiply_adds_take_a_lane_and_some_a_replicated_element() -> None:
    loop = output(PAGE, "import re")
    assert (loop.count("v24.s[0]"), loop.count("ldr  s24"), loop.count("ld1r")) == (12, 3, 1)
    assert len(re.findall(r"fmla.*v24\.4s", loop)) == 4


def test_one_loop_on_five_processors() -> None:
    rows = output(PAGE, "print(f\"{'':8} {'tile'").splitlines()[1:]
    assert [re.split(r"\s{2,}", row.strip())[1:] for row in rows] == [
        ["4 × 4", "27", "16", "256"], ["4 × 2", "30", "16", "128"],
        ["4 × 4", "28", "16", "64"], ["4 × 4", "28", "16", "64"], ["4 × 4", "28", "16", "64"],
    ]  # fmt: skip


def test_what_the_board_prints() -> None:
    lines = output(PAGE, "import subprocess").splitlines()
    assert [line.split(":")[0] for line in lines] == ["positive", "very positive", "very negative", "error"]


def test_most_new_sentences_are_understood_there_as_here() -> None:
    new, same, right = map(int, re.findall(r"\d+(?= new| rated)", output(PAGE, "def text(tree)")))
    assert same >= new - 2  # the last bits may tip a sentence that is between two moods
    assert 0.95 < right / new < 1


def test_sizes() -> None:
    sizes = [float(line.split()[0]) for line in output(PAGE, "def kilobytes").splitlines()]
    _, weights, _, nothing, static, dynamic = sizes
    assert weights < static - nothing < nothing < static
    assert dynamic < static / 3
    drawn = (file_sizes.WEIGHTS, file_sizes.LIBRARY, file_sizes.STATIC, file_sizes.DYNAMIC)
    assert drawn == pytest.approx((weights, nothing, static, dynamic), rel=0.1)  # with another compiler, too


def test_the_file_says_for_which_processor_it_is() -> None:
    assert output(PAGE, "MACHINES =").endswith("a program for AArch64\n")


# -- in eight bits


def test_a_dense_layer_in_integers() -> None:
    lines = output(PAGE, "from relay_explorer import quantize").splitlines()
    assert [re.findall(r"(?:nn|qnn)\.\w+", line)[0] for line in lines] == [
        "qnn.quantize", "nn.dense", "nn.bias_add", "qnn.dequantize",
    ]  # fmt: skip


def test_eight_bits_keep_the_accuracy() -> None:
    *boards, constants = output(PAGE, "BOARDS =").splitlines()
    right = int(re.findall(r"(\d+) rated correctly", output(PAGE, "def text(tree)"))[0])
    for line, board in zip(boards, ("Pi 4", "Pi 5"), strict=True):
        rated, new, same = map(int, re.findall(r"(?<=: )\d+|(?<=of )\d+|\d+(?= as in)", line))
        assert line.startswith(board)
        assert abs(rated - right) < new / 100  # a point
        assert same > new - 5
    wide, narrow = map(float, re.findall(r"\d+\.\d+", constants))
    assert narrow < 0.3 * wide


def test_the_loop_of_dot_products() -> None:
    loop = output(PAGE, "MULTIPLY_ADD = ").splitlines()
    names_ = [line.split()[0] for line in loop]
    assert [names_.count(name) for name in ("ld1r", "ldr", "sdot")] == [1, 8, 8]
    assert all(names_[k + 1] == "sdot" for k, name in enumerate(names_) if name == "ldr")


def test_instructions_are_counted_as_drawn() -> None:
    lines = output(PAGE, "from relay_explorer.lower.inspect.executed import executed").splitlines()
    numbers = [int(number.replace(",", "")) for line in lines for number in re.findall(r"[\d,]{5,}", line)]
    (products, all_), (products4, all4), _, (products5, all5) = zip(numbers[::2], numbers[1::2])
    assert products < all_ / 2
    assert products4 == pytest.approx(products * 3 / 4, rel=0.05)
    assert products5 < products / 3
    counted = json.loads(arm_instructions.DATA.read_text("utf-8"))
    four = next(iter(counted.values()))["Pi 4"]
    narrow = four["int8, 16-bit accumulators"]["instructions"]["products"]
    assert narrow < four["float32"]["instructions"]["products"] * 2 / 3
    ours, papers = arm_instructions.ROWS.values()
    drawn = [arm_instructions.total(parts) for parts in ours.values()]
    assert drawn == pytest.approx([all_ / 1000, all4 / 1000, all5 / 1000], rel=0.1)
    assert papers["float32"]["products"] == pytest.approx(
        0.9 * arm_instructions.total(papers["float32"]), rel=0.02
    )
    share = arm_instructions.total(papers["int8, Pi 5"]) / arm_instructions.total(papers["float32"])
    assert f"reduce the count to {share:.0%} on a Pi 5".replace("%", " %") in source(PAGE)
    words = re.search(r"execute ([\d.]+) of ([\d.]+) thousand.*execute (\d+) of (\d+) thousand", source(PAGE))
    assert words is not None
    rows = [parts for row in (ours, papers) for parts in (row["int8, Pi 5"],)]
    exact = [n for parts in rows for n in (parts["kernels"], arm_instructions.total(parts))]
    assert [float(number) for number in words.groups()] == pytest.approx(exact, rel=0.02)


# -- predict, then run


def test_one_input_loads_a_vector_for_each_multiply_add() -> None:
    printed = output(PAGE, "single = relay.parse")
    assert printed.count("fmla") == 8
    assert len(re.findall(r"\bldr\s+q", printed)) + 2 * len(re.findall(r"\bldp\s+q", printed)) == 8


def test_processors_that_run_it() -> None:
    lines = output(PAGE, "PROCESSORS =").splitlines()
    assert [line.split()[1] for line in lines] == ["positive:"] * 3
    more = output(PAGE, "from relay_explorer.lower.targets.target import needed_features").splitlines()
    assert [line.split(":")[1].split() for line in more] == [["dotprod"], [], []]


def test_the_eight_bit_file_is_about_as_large() -> None:
    wide, narrow = (
        float(line.split()[0]) for line in output(PAGE, "if installed(GCC) and files").splitlines()
    )
    assert narrow == pytest.approx(wide, rel=0.01)


def test_without_the_tools_each_cell_says_so(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A cell that depends on an absent tool names it where its output would be."""
    page = {**names(PAGE), "arm": None, "program": Path("/nonexistent")}
    monkeypatch.setattr(page["shutil"], "which", lambda tool: None)
    dependent = [cell for cell in cells(PAGE) if "installed(" in cell and "def installed" not in cell]
    assert len(dependent) == 10
    for cell in dependent:
        exec(cell.replace('folder / "sentiment"', 'folder / "absent"'), page)
        assert "no output here, because this machine has no aarch64-linux-gnu-gcc" in capsys.readouterr().out


def test_answer_the_loop_for_one_input_on_x86() -> None:
    loop = output(PAGE, "on_x86 = ")
    assert loop.count("vfmadd231ps") == loop.count("(%rdi") == 8 * loop.count("vbroadcastss")
    assert "vmov" not in loop
