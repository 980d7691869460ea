"""Chapter 25: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import everywhere
from figures import call_frames, dispatch
from relay_explorer.execute.results import to_value
from relay_explorer.execute.vm.bytecode import INSTRUCTIONS
from relay_explorer.views.machine.format import MachineMark, MachineView
from tests.book.chapters import cells, explorers, names, output, pictures, shown, source
from tests.book.test_every_chapter import WIDEST

PAGE = "ch25_running"


def view(explorer: str) -> MachineView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, MachineView)
    return result


def test_what_its_cells_show() -> None:
    assert shown(PAGE) == ["ch25-reader", "ch25-tree", "ch25-lenet", "Axes"]


def test_three_sentences_have_three_lists_of_kernels() -> None:
    lines = output(PAGE, "import numpy as np").splitlines()
    assert len({*lines}) == 3
    assert [len(line.split()) for line in lines] == [5, 13, 29]


# -- watch it


def test_steps_that_it_links_to() -> None:
    links = re.findall(r"#rx-(ch25-\w+):step=(\d+)", source(PAGE))
    marks = [MachineMark(view(name).steps[int(step) - 1].mark) for name, step in links]
    M = MachineMark  # noqa: N806
    assert marks == [
        M.CALL, M.MEMORY, M.MEMORY, M.KERNEL, M.TAIL_CALL, M.CALL, M.TAIL_CALL, M.RETURN, M.MEMORY,
    ]  # fmt: skip
    assert "is reused" in view("ch25-tree").steps[54].say[0]


def test_lenet_has_a_plan_and_the_others_have_none() -> None:
    assert view("ch25-lenet").plan is not None
    assert len(view("ch25-lenet").steps) == 23
    assert (view("ch25-reader").plan, view("ch25-tree").plan) == (None, None)


# -- build it


def test_our_graph_executor_is_right() -> None:
    assert output(PAGE, "ours = GraphExecutor").endswith("equal: True\n")
    assert output(PAGE, "fused = relay").count("COMPUTE") == 8


def test_the_bytecode_that_is_read_line_by_line() -> None:
    lines = output(PAGE, "from relay_explorer.execute.vm.text").splitlines()[1:]
    assert [line.split()[1] for line in lines] == [
        "switch", "ret", "get_field", "get_field", "alloc_storage", "alloc_tensor", "invoke_packed",
        "tail_invoke",
    ]  # fmt: skip
    encode = output(PAGE, 'print(function_text(program.functions["encode"]').splitlines()[1:]
    assert [line.split()[0] for line in encode if "invoke r" in line] == ["5", "6"]


def test_our_machine_is_right() -> None:
    printed = output(PAGE, "from relay_explorer.execute.vm.kernels")
    assert re.findall(r"equal: (\w+) frames: (\d)", printed) == [
        ("True", "0"), ("True", "1"), ("True", "2"), ("True", "3"),
    ]  # fmt: skip


def test_our_machine_knows_half_of_the_instructions() -> None:
    (code,) = [cell for cell in cells(PAGE) if "class VM:" in cell]
    assert len(set(re.findall(r"case b\.(\w+)\(", code))) == 13
    assert len(INSTRUCTIONS) == 26


def test_our_machine_says_what_it_does_not_know() -> None:
    page = names(PAGE)
    program = page["compile_program"](page["many"])
    with pytest.raises(NotImplementedError, match="shape_func"):
        page["machine"](program).run("main", to_value(np.ones((2, 8), "float32")))


def test_the_c_that_the_text_speaks_of() -> None:
    code = output(PAGE, "from relay_explorer.execute.aot")
    for part in (
        "goto start;",
        "switch (r[0]->tag)",
        "keep(",
        "clear(m, ",
        "take(",
        "/* get_field r3, r0, 1 */",
    ):
        assert part in code
    assert "int reader_run(" in output(PAGE, "for line in source.header")


def test_three_executors_agree_and_one_refuses() -> None:
    lines = output(PAGE, "def attempt(").splitlines()
    assert "refused: the graph executor" in lines[1]
    assert len({line.split(maxsplit=1)[1] for line in (lines[0], *lines[2:])}) == 1


def test_the_profile_names_the_readers_kernels() -> None:
    ((title, words),) = pictures(PAGE)
    assert title == "Time of each kernel"
    assert re.search(r"^Bars\. .*×\d+: [\d.]+ µs", words)


def test_three_programs_on_every_target() -> None:
    """What is kept is what the text says; what is refused is refused for these reasons today."""
    kept = names(PAGE)["rows"]
    assert {row["program"] for row in kept} == set(everywhere.PROGRAMS)
    assert len(kept) == 3 * (4 + 3 + 3)
    assert max(row["apart"] for row in kept if "apart" in row) < 1e-5
    runs = {(row["program"], row["target"]) for row in kept if row["how"] in ("here", "qemu", "emulated")}
    assert len(runs) == 9
    letters = everywhere.letters()
    for row in kept:
        if row["how"] == "refused" and row["program"] == "character RNN":
            target = everywhere.TARGETS[row["target"]]
            assert everywhere.run_on(letters, target, row["executor"], None) == {
                "how": "refused", "why": row["why"],
            }  # fmt: skip
    printed = output(PAGE, "import json").splitlines()
    assert len(printed) == 11
    assert max(map(len, printed)) <= WIDEST


# -- predict, then run


def test_answers() -> None:
    assert output(PAGE, "either = relay").split() == [
        "one", "GraphExecutable", "many", "VMExecutable", "reader", "VMExecutable",
        "either", "GraphExecutable",
    ]  # fmt: skip
    assert re.findall(r"[\d,]+(?= frames)", output(PAGE, "long = make_list")) == ["0", "2,000"]
    three = output(PAGE, "three = to_value")
    assert three.startswith("22 instructions\nalloc_storage alloc_tensor invoke_packed switch get_field")
    percent = [
        float(part) for part in re.findall(r"([\d.]+)%", output(PAGE, "from relay_explorer.lower.profiling"))
    ]
    assert 3 < percent[0] < 4
    assert percent[1] < 0.1


def test_the_drawing_of_frames_is_that_of_step_10() -> None:
    """`@main` and two `@encode` wait at instruction 5 when `@encode` is entered for the first word."""
    step = view("ch25-tree").steps[9]
    assert step.frame == len(call_frames.FRAMES) - 1
    assert "waits at instruction 5" in step.say[0]
    assert [frame[0] for frame in call_frames.FRAMES] == ["@main", "@encode", "@encode", "@encode"]


def test_a_step_costs_what_the_prediction_says() -> None:
    """The numbers of the chart, which the text repeats."""
    steps = dispatch.STEPS
    assert round(max(micro["virtual machine"] for micro in steps.values())) == 9
    assert round(steps["a chain of 256 layers"]["graph"], 2) == 0.17
    assert round(steps["a tree of 64 words"]["ahead of time"], 2) == 0.21


def test_relax_recursion_is_measured() -> None:
    """The depths that the text names are in the benchmark's table."""
    rows = Path(everywhere.__file__).with_name("relax_recursion.md").read_text("utf-8")
    assert "| 2,000 | runs | runs |" in rows
    assert "| 4,000 | crashes (signal 11) | runs |" in rows
    assert "| 50,000 | crashes (signal 11) | runs |" in rows


def test_shapes_known_only_at_run_time() -> None:
    assert "shape_func" in output(PAGE, "print(function_text(compile_program(many)")


def test_the_solution_computes_what_lenet_computes() -> None:
    (solution,) = re.findall(r"```\{code-block\} python\n(class Separate.*?)```", source(PAGE), re.DOTALL)
    page = dict(names(PAGE))
    exec(solution, page)
    separate = page["Separate"](page["plan"])
    assert np.array_equal(separate(*page["images"]), page["ours"])
    computed = zip(separate.tensors, page["plan"].places, strict=True)
    assert sum(tensor.nbytes for tensor, place in computed if place.offset >= 0) == 32_416
    assert page["plan"].arena == 24_128
