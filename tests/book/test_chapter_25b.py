"""Chapter 25b: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re

from figures import arena_time
from relay_explorer.views.memory.format import MemoryMark, MemoryView
from tests.book.chapters import explorers, names, output, pictures, shown, source

PAGE = "ch25b_memory"


def view() -> MemoryView:
    result = explorers(PAGE)["ch25b-lenet"].view
    assert isinstance(result, MemoryView)
    return result


def test_what_its_cells_show() -> None:
    assert shown(PAGE) == ["Axes", "ch25b-lenet"]


def test_the_peak_in_the_chart_is_nearly_the_arena() -> None:
    ((title, words),) = pictures(PAGE)
    assert title == "At most 23,552 live bytes"
    assert words.startswith("A curve of the live bytes, with its peak at step 1. Steps: 0: 18,816; 1")
    plan = names(PAGE)["shared"]
    assert plan.peak / plan.arena > 0.95


def test_what_sharing_saves() -> None:
    numbers = re.findall(r"[\d,]+(?= bytes|$)", output(PAGE, "import numpy as np"), re.MULTILINE)
    assert numbers == ["84,864", "38,656", "32,576", "24,128"]


def test_the_plan_is_the_one_drawn() -> None:
    plan = arena_time.plan()
    assert (plan.arena, len(plan.buffers), len(plan.steps)) == (24_128, 4, len(arena_time.STEPS))
    lives = [(place.offset, life.made, life.last) for place, life in zip(plan.places, plan.lives)]
    assert [life for life in lives if life[0] >= 0][:4] == [
        (0, 0, 1),
        (18_816, 1, 2),
        (0, 2, 3),
        (18_816, 3, 5),
    ]


def test_steps_that_it_links_to() -> None:
    steps = view().variants[0].steps
    links = [int(step) for step in re.findall(r"\(#rx-ch25b-lenet:step=(\d+)", source(PAGE))]
    M = MemoryMark  # noqa: N806
    assert [steps[step].mark for step in links[:3]] == [M.AGAIN, M.VIEW, M.NEW]
    assert "far too" in source(PAGE)
    assert "16 times" in steps[links[2]].say[0]
    assert links[3] == len(steps) - 1
    assert steps[-1].say[1:5] == ("23.6 kB", "24.1 kB", "32.6 kB", "23.6 kB")


def test_values_that_live_until_their_scope_ends_share_nothing() -> None:
    (scoped,) = [v for v in view().variants if "names freed where their scope ends" in v.say[0]]
    assert scoped.say[1] == "32.6 kB"


# -- build it


def test_the_readers_plan_of_lenet() -> None:
    printed = output(PAGE, "from pocket.printer")
    assert "let %arena = arena(size=23552);" in printed
    assert printed.count(", %arena, offset=") == 5
    assert re.findall(r"@kernel\d", printed) == ["@kernel4", "@kernel8"]
    assert output(PAGE, "args = inputs").endswith("True\n")


def test_the_milestone() -> None:
    """Results are equal; that compiled programs are faster is what the gate tests, on a quiet machine."""
    lines = output(PAGE, "from timeit").splitlines()
    assert [line.partition(":")[0] for line in lines[1:2]] == ["faster than NumPy"]
    assert all("equal: True" in line for line in lines[::2])
    printed = output(PAGE, "from relay_explorer.models import sentiment").splitlines()[1:]
    moods = [re.findall(r"\) +(\w[\w ]*?) +equal: True$", line) for line in printed]
    assert moods == [["positive"], ["very positive"], ["very negative"]]


def test_reference_counts_in_c() -> None:
    code = output(PAGE, "from relay_explorer.execute.aot")
    third = code[code.index("get_field r3, r0, 1") : code.index("alloc_storage")]
    assert third.index("keep(PART(r[0], 1))") < third.index("clear(m, &r[0])")
    sixth = code[code.index("invoke_packed k0") :]
    assert sixth.index("clear(m, &r[2])") < sixth.index("tail_invoke")
    assert "take(&r[3])" in sixth


def test_a_cycle_is_collected() -> None:
    assert output(PAGE, "ring = relay.parse") == "result: 7  live values: 0\n"


# -- predict, then run


def test_answers() -> None:
    assert output(PAGE, "from relay_explorer.execute.vm import bytecode") == (
        "8,064 bytes\n12,000 bytes in 3 allocations\n"
    )
    assert output(PAGE, "import gc") == "100 cells left\n0 after a collection\n"
    assert [re.findall(r"\d+", line) for line in output(PAGE, "from collections import").splitlines()] == [
        ["7", "7"],
        ["5", "127"],
        ["5", "8"],
        ["5", "18"],
    ]
    assert output(PAGE, "def garbage") == "[] ['a', 'b', 'c', 'd']\n"


def test_only_the_first_result_is_in_the_arena() -> None:
    lines = output(PAGE, "layers = ").splitlines()
    launched = [line for line in lines if " kernel" in line]
    assert ["%arena" in line for line in launched] == [True, False, False]


def test_garbage_needs_no_order() -> None:
    garbage = names(PAGE)["garbage"]
    values = {"x": "y", "y": "x", "p": "q", "q": ""}
    assert garbage(values, ["p"]) == ["x", "y"]
    assert garbage(values, ["q", "y"]) == ["p"]
