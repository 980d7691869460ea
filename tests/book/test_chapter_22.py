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
    assert shown(PAGE) == ["ch22-layer", "ch22-run"]


# -- the problem


def test_the_order_decides() -> None:
    assert output(PAGE, "import time").splitlines() == [
        "exchanged is more than five times as fast as naive: True",
        "transposing b gains a smaller factor than the rest: True",
    ]
    assert output(PAGE, "def lines") == "i, j, k:  a 1  b 16  c 1\ni, k, j:  a 1  b 1  c 1\n"


def test_only_the_exchanged_nest_is_vectorized() -> None:
    rows = [line.split() for line in output(PAGE, "import re\n\nX86").splitlines()]
    counts = {row[0]: (int(row[3]), int(row[-1])) for row in rows}
    assert all(counts[name][0] > 0 and counts[name][1] == 0 for name in ("naive", "contiguous"))
    assert counts["exchanged"][0] == 0
    assert counts["exchanged"][1] > 0


def test_caches_are_not_the_only_cause() -> None:
    assert 3 * 4 * 48**2 < 32 << 10  # three matrices in an L1 cache
    assert output(PAGE, "small = [") == "48 × 48, exchanged more than twice as fast: True\n"


# -- watch it


def test_steps_that_it_links_to() -> None:
    layer = view("ch22-layer").steps
    expected = {5: "Reorder", 7: "Parallel", 11: "ComputeAt", 12: "SetScope", 22: ""}
    assert {step: layer[step - 1].primitive for step in expected} == expected
    assert len(layer) == 22
    links = re.findall(r"#rx-(ch22-\w+):step=(\d+)", source(PAGE).replace("\n", " "))
    assert [int(step) for name, step in links if name == "ch22-layer"] == list(expected)


def test_instructions_of_the_innermost_loop() -> None:
    layer = innermost("ch22-layer")
    assert {purpose: layer.count(purpose) for purpose in set(layer)} == {
        "multiply-add": 16, "broadcast": 8, "load": 4, "bookkeeping": 1, "jump": 1,
    }  # fmt: skip


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
    printed = output(PAGE, "expected = sample").splitlines()
    assert len(printed) == 6
    assert all(line.endswith(" right") for line in printed)


def test_the_nest_at_the_end() -> None:
    printed = output(PAGE, "from relay_explorer.lower.inspect import replay")
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
    assert f"{seconds[0] / seconds[-1]:.0f} times as fast as at the beginning" in source(PAGE)
    assert f"at {speeds[-1]:.0%} of the measured peak" in source(PAGE)
    assert seconds[0] > 100 * seconds[-1]


def test_the_estimate_of_the_nests() -> None:
    rows = [
        line.split() for line in output(PAGE, "from relay_explorer.lower.inspect.estimate").splitlines()[1:]
    ]
    packed = next(row for row in rows if row[:2] == ["b", "packed"])
    before = rows[rows.index(packed) - 1]
    assert packed[-1] == "0.99×"
    assert int(packed[-3]) < int(before[-3]) / 3, "b comes through the L2 less often"


def test_tiles() -> None:
    rows = re.findall(r"(\d) × (\d) +(\d+) +([\d.]+) +(True|False)", output(PAGE, "def tile"))
    fitting = [(float(loads), f"{r} × {v}") for r, v, _, loads, fits in rows if fits == "True"]
    assert [tile for _, tile in sorted(fitting)[:2]] == ["4 × 3", "6 × 2"]
    printed = output(PAGE, "from relay_explorer.lower.schedules.blocked")
    assert "at most 10 accumulators" in printed
    assert "at most 20 accumulators" in printed
    assert printed.splitlines()[2] == "4 × 2 accumulators in registers"


def test_lines_fetched() -> None:
    numbers = [
        int(n.replace(",", ""))
        for n in re.findall(r"[\d,]+(?= lines| *$)", output(PAGE, "from collections import O"), re.M)
    ]
    naive, exchanged, tiled, once = numbers
    assert naive > 10 * exchanged
    assert exchanged > 3 * tiled
    assert once == 432


def test_the_readers_c() -> None:
    code = output(PAGE, "image = relay.parse")
    assert code.startswith("void by_rows(const float *restrict p0")
    assert re.findall(r"for \(int (\w+)", code)[-4:] == ["k0", "k1", "i3", "k2"]
    assert output(PAGE, "arrays = [sample").splitlines() == [
        "nest     agrees: True",
        "by_rows  agrees: True",
        "by rows is faster: True",
    ]


# -- predict, then run


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("for rows in (48, 5, 1)", ["48 → 4 × 2", "5 → 5 × 2", "1 → 1 × 8"]),
        ("for number, name in", ["i is allowed", "j is allowed", "k is refused"]),
        ("def fraction_of_peak", ["1 accumulators: 12.5%", "6 accumulators: 75.0%"]),
    ],
)
def test_answers(start: str, expected: list[str]) -> None:
    assert output(PAGE, start).splitlines() == expected


def test_sides_of_the_ridge() -> None:
    printed = output(PAGE, "ridge = resnet").splitlines()
    assert [line.split()[-1] for line in printed[1:]] == ["memory", "arithmetic", "arithmetic"]


# -- where it breaks


def test_sums_that_do_not_fit() -> None:
    spilled = [int(n) for n in re.findall(r"(\d+) stack", output(PAGE, "def spilled"))]
    assert spilled[:2] == [0, 0]
    assert spilled[2] > 8 * 3


def test_a_column_in_one_set() -> None:
    assert re.findall(r"(\d+) of 64", output(PAGE, "def sets")) == ["54", "1", "64"]


def test_the_least_work_for_threads() -> None:
    from relay_explorer.lower.schedules.parts import MIN_PARALLEL_OPERATIONS

    assert f"{MIN_PARALLEL_OPERATIONS:,} operations" in source(PAGE)
