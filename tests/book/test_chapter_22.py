"""Chapter 22: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from statistics import median

import pytest

from relay_explorer.views.lowering.format import LoweringView
from tests.book.chapters import BOOK, explorers, output, shown, source

PAGE = "ch22_cpu"


def view(explorer: str) -> LoweringView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, LoweringView)
    return result


def innermost(explorer: str) -> list[str]:
    """Return the purposes of the instructions in the innermost loop."""
    (code,) = [code for code in view(explorer).codes if code.name == "assembly"]
    deepest = max(line.depth for line in code.lines)
    return [code.purposes[n.purpose] for n in code.lines if n.depth == deepest and n.purpose >= 0]


def test_it_shows_nothing_but_explorers() -> None:
    assert shown(PAGE) == ["ch22-layer", "ch22-block", "ch22-run"]


# -- the problem


def test_the_order_decides() -> None:
    assert output(PAGE, "import time") == "more than five times as fast: True\n"
    assert output(PAGE, "def lines") == "i, j, k:  a 1  b 16  c 1\ni, k, j:  a 1  b 1  c 1\n"


# -- watch it


def test_steps_that_it_links_to() -> None:
    layer, block = view("ch22-layer").steps, view("ch22-block").steps
    expected = {5: "Reorder", 7: "Parallel", 11: "ComputeAt", 12: "SetScope", 22: ""}
    assert {step: layer[step - 1].primitive for step in expected} == expected
    assert len(layer) == 22
    links = re.findall(r"#rx-(ch22-\w+):step=(\d+)", source(PAGE).replace("\n", " "))
    assert [int(step) for name, step in links if name == "ch22-layer"] == list(expected)
    assert [int(step) for name, step in links if name == "ch22-block"] == [1, 22, 23]
    assert (len(block), block[0].effect.nests, block[21].effect.nests) == (23, 4, 1)


def test_instructions_of_the_innermost_loops() -> None:
    layer, block = innermost("ch22-layer"), innermost("ch22-block")
    assert {purpose: layer.count(purpose) for purpose in set(layer)} == {
        "multiply-add": 16, "spread": 8, "load": 4, "bookkeeping": 1, "jump": 1,
    }  # fmt: skip
    assert (block.count("multiply-add"), len(block)) == (64, 117)


def test_what_is_said_of_the_roofline() -> None:
    from relay_explorer.lower.profiling.measurement import stored

    run = stored("resnet18")
    intensity = {k.name: k.flops / k.traffic for k in run.kernels if k.flops}
    convolutions = [value for name, value in intensity.items() if "conv2d_NCHWc" in name]
    assert median(convolutions) > run.limits.ridge
    low = [name for name, value in intensity.items() if value <= 1]
    assert {"softmax", "dense", "max_pool"} <= {
        word for word in ("softmax", "dense", "max_pool") if any(word in name for name in low)
    }
    (pool,) = [number for number, kernel in enumerate(run.kernels) if "max_pool" in kernel.name]
    (spent,) = [launch.ns for launch in run.launches if launch.kernel == pool]
    assert run.kernels[pool].traffic / run.limits.bandwidth > spent * 1e-9  # above the slope


# -- build it


def test_every_step_is_right() -> None:
    printed = output(PAGE, "wanted = numbers").splitlines()
    assert len(printed) == 6
    assert all(line.endswith(" right") for line in printed)


def test_the_nest_at_the_end() -> None:
    printed = output(PAGE, "from relay_explorer.lower.inspect.replay")
    assert printed.count("# parallel") == 1
    assert printed.count("# vectorized") == 4
    assert "for i_1 < 6:  # unrolled\n        for j_0_1 < 2:  # unrolled" in printed


def test_the_schedule_is_worth_it() -> None:
    assert output(PAGE, "ends = [runner") == "more than ten times as fast: True\n"


def test_what_the_text_says_of_the_measurement() -> None:
    data = json.loads((BOOK.parent / "benchmarks" / "schedule_steps.json").read_text("utf-8"))
    seconds = list(data["seconds"].values())
    assert seconds == sorted(seconds, reverse=True)
    speeds = [2 * data["size"] ** 3 / second / data["flops"] for second in seconds]
    gains = [later / earlier for earlier, later in pairwise(speeds)]
    assert gains[0] == max(gains)  # vectors are the largest step
    assert gains[3] < gains[2]  # packing is worth less than registers
    assert speeds[0] < 0.01
    assert speeds[-1] > 0.7
    assert data["threads"] == 1 or gains[-1] > 1.4
    assert data["size"] == 768
    assert seconds[0] > 100 * seconds[-1]


def test_the_estimate_of_the_nests() -> None:
    rows = [
        line.split() for line in output(PAGE, "from relay_explorer.lower.inspect.estimate").splitlines()[1:]
    ]
    packed = next(row for row in rows if row[:3] == ["b", "is", "packed"])
    before = rows[rows.index(packed) - 1]
    assert packed[-1] == "0.99×"
    assert int(packed[-3]) < int(before[-3]) / 3, "b comes through the second cache less often"


def test_tiles() -> None:
    rows = re.findall(r"(\d) × (\d) +(\d+) +([\d.]+) +(True|False)", output(PAGE, "def tile"))
    fitting = [(float(loads), f"{r} × {v}") for r, v, _, loads, fits in rows if fits == "True"]
    assert min(fitting)[1] == "6 × 2"
    printed = output(PAGE, "from relay_explorer.lower.schedules.blocked")
    assert "at most 10 sums" in printed
    assert "at most 20 sums" in printed
    assert printed.splitlines()[2] == "4 × 2 sums in registers"


def test_lines_fetched() -> None:
    numbers = [
        int(n.replace(",", ""))
        for n in re.findall(r"[\d,]+(?= lines| *$)", output(PAGE, "from collections import O"), re.M)
    ]
    naive, exchanged, tiled, once = numbers
    assert naive > 10 * exchanged
    assert exchanged > 3 * tiled
    assert once == 432


def test_the_weight_is_packed() -> None:
    assert "Tensor[(8, 64, 8), float32]" in output(PAGE, 'print(kernel.source("relay"))')
    assert re.findall(r"\d+$", output(PAGE, "units = range"), re.MULTILINE) == ["8", "1"]


def test_an_epilogue_saves_bytes() -> None:
    one, four = (
        int(n.replace(",", "")) for n in re.findall(r"[\d,]+$", output(PAGE, "(block_kernel,)"), re.M)
    )
    assert four > 3 * one


def test_winograd() -> None:
    printed = output(PAGE, "from relay_explorer.ops.nn")
    assert printed == "4 products: [17. 31.]\nsix products: [17. 31.]\n"
    assert " 36 products for 144, 4.00 times fewer" in output(PAGE, "for m in (2, 4, 6):\n    own")
    assert re.findall(r"10\^(-\d)", output(PAGE, "rng = np")) == ["-7", "-6", "-5"]


def test_sizes_that_nothing_divides() -> None:
    assert output(PAGE, "def begins") == "[0, 64, 128, 177] to 241\ncomputed twice: 15 of 241\n"
    lines = output(PAGE, "from relay_explorer.lower.passes").splitlines()
    wide = {re.findall(r"(\d+) (?:units|channels)", line)[0]: line.split()[-1] for line in lines}
    assert wide == {"97": "104", "64": "64", "10": "16", "1001": "1008", "28": "32", "6": "6"}


def test_the_table_has_every_rule_for_a_processor() -> None:
    from relay_explorer.lower.schedules import RULES

    assert re.findall(r"^\| `(\w+)`", source(PAGE), re.MULTILINE) == [r for r in RULES if r != "gpu"]


def test_what_is_said_of_the_depthwise_layers() -> None:
    printed = output(PAGE, "from collections import Counter").partition("mobilenet")[2]
    (row,) = [line for line in printed.splitlines() if line.startswith("depthwise")]
    count, work, time = map(float, re.findall(r"[\d.]+", row))
    assert count == 13
    assert 2 < work < 4
    assert 1.7 < time / work < 2.6


# -- predict, then run


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("for rows in (48, 5, 1)", ["48 → 4 × 2", "5 → 5 × 2", "1 → 1 × 8"]),
        ("for number, name in", ["i is allowed", "j is allowed", "k is refused"]),
    ],
)
def test_answers(start: str, expected: list[str]) -> None:
    assert output(PAGE, start).splitlines() == expected


def test_sides_of_the_ridge() -> None:
    printed = output(PAGE, "ridge = resnet").splitlines()
    assert [line.split()[-1] for line in printed[1:]] == ["memory", "arithmetic", "arithmetic"]


# -- where it breaks


def test_sums_that_do_not_fit() -> None:
    spilled = [int(n) for n in re.findall(r"(\d+) to the stack", output(PAGE, "import re\n\ndef spilled"))]
    assert spilled[:2] == [0, 0]
    assert spilled[2] > 20


def test_a_column_in_one_set() -> None:
    assert re.findall(r"(\d+) of 64", output(PAGE, "def sets")) == ["54", "1", "64"]


def test_the_least_work_for_threads() -> None:
    from relay_explorer.lower.schedules.parts import MIN_PARALLEL_OPERATIONS

    assert f"{MIN_PARALLEL_OPERATIONS:,} operations" in source(PAGE)
