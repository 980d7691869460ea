"""Chapter 23: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import json
import re

import pytest

from relay_explorer.views.lowering.format import LoweringView
from tests.book.chapters import BOOK, cells, executed, explorers, names, output, shown, source

PAGE = "ch23_gpu"


def view(explorer: str) -> LoweringView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, LoweringView)
    return result


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch23-turn", "ch23-layer"]


def test_nearly_all_would_be_idle() -> None:
    tasks, threads = re.findall(r"[\d,]+(?=\]?$)", output(PAGE, "import numpy"), re.MULTILINE)
    assert int(tasks) < 0.05 * int(threads.replace(",", ""))
    assert threads == "221,184"


# -- watch it


@pytest.mark.parametrize(
    ("explorer", "expected"),
    [
        ("ch23-turn", {10: "Bind", 12: "CacheRead", 13: "ComputeAt", 17: "Bind", 19: "StorageAlign", 20: ""}),
        (
            "ch23-layer",
            {
                10: "Split",
                11: "Split",
                12: "Split",
                27: "CacheRead",
                35: "CacheRead",
                47: "ReverseComputeInline",
            },
        ),
    ],
)
def test_steps_that_it_links_to(explorer: str, expected: dict[int, str]) -> None:
    steps = view(explorer).steps
    assert {step: steps[step - 1].primitive for step in expected} == expected
    links = re.findall(rf"#rx-{explorer}:step=(\d+)", source(PAGE))
    assert [int(step) for step in links] == list(expected)


def test_what_is_said_of_the_loops() -> None:
    turn, layer = view("ch23-turn").steps, view("ch23-layer").steps
    assert [step.primitive for step in turn[6:10]] == ["Bind"] * 4
    assert turn[9].effect.tasks == 262_144
    assert (layer[0].effect.nests, layer[-1].effect.nests) == (3, 1)
    assert "16 × 16" in str(layer[11].say)
    assert "**6 lines of CUDA C**" in str(turn[-1].say)


# -- build it


def test_threads_one_after_another_are_right() -> None:
    assert output(PAGE, "import re\n\ndef one_by_one") == "True\nTrue\n"
    assert output(PAGE, "inputs = sample(256, 256)") == "True\n"


def test_the_code_that_is_read_line_by_line() -> None:
    shift, turn = output(PAGE, "import textwrap"), output(PAGE, 'code = transposed.source("cuda")')
    assert (
        len(re.findall(r"^\S|^  \S", shift, re.MULTILINE)) == 4
    )  # statements; what is folded stands further in
    assert max(map(len, (shift + turn).splitlines())) <= 80
    for word in ("__global__", "__launch_bounds__(256)", "__restrict__", "& 63", "* 256"):
        assert word in shift
    assert turn.count("__syncthreads();") == 1
    assert "__launch_bounds__(128)" in turn


def test_sectors_and_banks() -> None:
    assert re.findall(r"\d+", output(PAGE, "def sectors")) == ["4", "8", "32", "1"]
    assert re.findall(r"(\d) sectors", output(PAGE, "def elements")) == ["4", "4"]
    assert re.findall(r"(\d+)-way", output(PAGE, "from collections")) == ["4", "2", "16"]


def test_a_sum_by_shuffles() -> None:
    printed = output(PAGE, "total = on")
    assert printed.startswith("256 blocks of 1024 threads\n")
    assert "__shfl_down_sync(mask_ptr[0], red_buf0_ptr[0], 16, 32)" in printed
    lines = output(PAGE, "def shuffle_down").splitlines()
    assert lines[-2].split()[-1] == lines[-1].split()[-1] == "496"


def test_the_tile_of_a_product() -> None:
    printed = output(PAGE, "loops = nest(layer")
    assert printed.startswith("32 blocks; words of shared memory: {'p0': '576', 'p1': '1152'}\n")
    assert (576, 1152) == (32 * 18, 64 * 18)
    assert [int(n) for n in re.findall(r": (\d+)$", printed, re.MULTILINE)] == [21, 16]


def test_what_the_compiler_said() -> None:
    data = json.loads((BOOK.parent / "benchmarks" / "gpu_kernels.json").read_text("utf-8"))
    taken = [(u["threads"], u["registers"], u["shared"]) for u in data["kernels"].values()]
    rows = re.findall(
        r"^\| (?:an|the) [^|]* \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", source(PAGE), re.MULTILINE
    )
    assert [tuple(int(n.replace(",", "")) for n in row) for row in rows] == taken
    in_code = re.findall(r'^    "[^"]+": \((\d+), (\d+), (\d+)\),$', source(PAGE), re.MULTILINE)
    assert [tuple(map(int, row)) for row in in_code] == taken
    assert "\n".join(data["ptx"]) in source(PAGE)


def test_what_convolutions_ask_of_memory() -> None:
    data = json.loads((BOOK.parent / "benchmarks" / "gpu_kernels.json").read_text("utf-8"))["sectors"]
    rows = re.findall(
        r"^\| ([^|]* × [^|]*) \| ([\d,]+) \| ([\d,]+) \| ([\d,]+) \|$", source(PAGE), re.MULTILINE
    )
    assert len(rows) == 3
    assert all([int(n.replace(",", "")) for n in numbers] == data[name] for name, *numbers in rows)


def test_occupancy() -> None:
    printed = output(PAGE, "from relay_explorer.lower.targets.device import resident")
    assert re.findall(r"(\d+)% of", printed) == ["100", "100", "100", "50"]


# -- predict, then run


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ('print("block', "block 25, thread 5\n"),
        ('print("stride', "stride 4:        16\nfrom element 1:  5\n"),
        (
            "for length in",
            "32 words: 32-way\n33 words: 1-way\n34 words: 2-way\n48 words: 16-way\n",
        ),
        ("for registers in", "64 registers: 4 blocks, 50%\n65 registers: 3 blocks, 38%\n"),
    ],
)
def test_answers(start: str, expected: str) -> None:
    assert output(PAGE, start) == expected


def test_a_missing_barrier() -> None:
    serial, emulated = output(PAGE, "def without_barrier").splitlines()
    assert serial == "one after another: True"
    assert re.match(r"emulated: \w", emulated)


def test_the_drawings_show_what_the_cells_count() -> None:
    from figures import banks, coalescing, warp_sum

    assert [len(coalescing.touched(stride)) for _, stride in coalescing.PATTERNS] == [4, 8, 32]
    assert [max(map(banks.banks(n).count, banks.banks(n))) for n in (32, 33)] == [16, 1]
    held = re.findall(r"holds (\d+)", output(PAGE, "def shuffle_down"))
    assert list(map(str, warp_sum.sums()[1:])) == held


# -- where it breaks


def test_little_work() -> None:
    (part,) = re.findall(r"([\d.]+)% of an A100", output(PAGE, "word = on"))
    assert float(part) < 10


def test_answer_parts_of_the_kernel_that_depend_on_the_sizes() -> None:
    (code,) = [out for cell, out in zip(cells(PAGE), executed(PAGE)[1], strict=True) if "wider" in cell]
    assert "__launch_bounds__(128)" in code
    assert "blockIdx.x) * 128" in code
    assert re.search(r"%\s+100\)", code)
    assert "max(" in code
    assert "4096" not in code


def test_answer_three_limits() -> None:
    *rows, _ = output(PAGE, "for uses in").splitlines()
    assert [int(row.split()[3]) for row in rows] == [2, 6, 32]
    limits = names(PAGE)["LIMITS"][80]
    assert limits.threads == 2 * 1024
    assert 6 * (24_576 + limits.reserved) < limits.shared < 7 * (24_576 + limits.reserved)
    assert limits.blocks == 32
