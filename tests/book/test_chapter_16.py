"""Chapter 16: its cells run, and what the text and the folded answers say is so."""

from __future__ import annotations

import re
from collections.abc import Sequence

import pytest

from relay_explorer import models, relay
from relay_explorer.ir.narrow import as_op
from relay_explorer.views.fusion.format import FusionMark, FusionView
from relay_explorer.views.memory.format import MemoryView
from tests.book.chapters import cells, explorers, names, output, pictures, shown, source

PAGE = "ch16_fusion"


def view(explorer: str) -> FusionView:
    result = explorers(PAGE)[explorer].view
    assert isinstance(result, FusionView)
    return result


def say(explorer: str, step: int) -> str:
    """Return the sentence of a step, counted from 1 as readers and addresses do."""
    template, *arguments = view(explorer).variants[0].steps[step - 1].say
    return template.format(*arguments)


def test_what_its_cells_show() -> None:
    assert shown(PAGE) == [
        "ch16-diamond", "ch16-block", "ch16-simpler", "ch16-resnet", "ch16-yours", "Digraph", "ch16-memory",
    ]  # fmt: skip


def test_steps_that_it_links_to_exist() -> None:
    for name, step in re.findall(r"#rx-([\w-]+):step=(\d+)", source(PAGE)):
        assert 1 <= int(step) <= len(view(name).variants[0].steps)


# -- the problem


def test_eight_bytes_for_each_operation_and_a_third_would_do() -> None:
    printed = output(PAGE, "from relay_explorer import models, relay")
    assert "8 bytes for each operation" in printed
    moved, least = (int(n.replace(",", "")) for n in re.findall(r"([\d,]{9,}) (?:bytes are|would)", printed))
    assert moved == pytest.approx(3 * least, rel=0.001)


def test_one_loop_gives_what_three_give() -> None:
    assert output(PAGE, "def apart") == "True\n"


# -- the idea


def test_examples_have_the_patterns_of_the_table() -> None:
    rows = re.findall(r"^\| ([EBIRCO]) \| [\w -]+ \|[^|]+\| (.*) \|$", source(PAGE), re.M)
    assert [letter for letter, _ in rows] == list("EBIRCO")
    numbers = {letter: number for number, letter in names(PAGE)["LETTER"].items()}
    for letter, examples in rows:
        for name in re.findall(r"`([\w.]+)`", examples):
            assert relay.op.get(name).pattern == numbers[letter], name


def test_an_argument_that_is_not_stretched_is_used_element_wise() -> None:
    printed = output(PAGE, "from pocket import bridge, ir")
    assert "13 add     B  meets at 14, used by 14 R\n" in printed
    assert "10 exp     E  meets at 13, used by 13 E\n" in printed
    assert " 8 conv2d  C  meets at 13, used by 9 E, 12 E\n" in printed


# -- watch it


@pytest.mark.parametrize(
    ("explorer", "step", "words"),
    [
        ("ch16-diamond", 2, "nn.conv2d be fused into the kernel of %4 add? **Yes.**"),
        ("ch16-diamond", 3, "Can %4 add be fused into the kernel of %5 mean? **No.**"),
        ("ch16-diamond", 4, "Can %5 mean be fused into the kernel of sqrt? **No.**"),
        ("ch16-block", 2, "nn.conv2d be fused into the kernel of %1 nn.batch_norm? **No.**"),
        ("ch16-simpler", 2, "nn.conv2d be fused into the kernel of %9 multiply? **Yes.**"),
        ("ch16-simpler", 6, "Can %3 multiply be fused into the kernel of %11 add? **No.**"),
    ],
)
def test_steps_say_what_the_text_says_of_them(explorer: str, step: int, words: str) -> None:
    assert words in say(explorer, step)
    assert f"](#rx-{explorer}:step={step})" in source(PAGE)


def test_five_operators_become_one_kernel_at_once() -> None:
    result = view("ch16-diamond").variants[0]
    assert len({*result.steps[1].merged, result.steps[1].target}) == 5
    what_if = [variant.name for variant in view("ch16-diamond").variants]
    assert {"mean were injective", "at most 2 in a kernel"} <= set(what_if)


def test_more_operators_and_fewer_kernels() -> None:
    before, after = view("ch16-block").variants[0], view("ch16-simpler").variants[0]
    assert before.launches[0] < after.launches[0]
    assert before.launches[1] > after.launches[1]
    small = min(after.kernels, key=lambda kernel: kernel.written)
    assert small.written == 4 * 64


def test_rows_of_resnets_kernels_come_together() -> None:
    """Some kernels have other rows between theirs; in the order that the link asks for, none has."""
    shown = view("ch16-resnet")
    variant = shown.variants[0]

    def apart(order: Sequence[int]) -> int:
        place = {row: at for at, row in enumerate(order)}
        result = 0
        for kernel in variant.kernels:
            rows = {place[shown.nodes[n].row] for n in kernel.nodes if shown.nodes[n].row >= 0}
            result += max(rows) - min(rows) >= len(rows)
        return result

    assert apart(range(len(shown.rows))) > 0
    assert apart(variant.order) == 0
    assert "](#rx-ch16-resnet:by=kernel)" in source(PAGE)


def test_resnet_has_twenty_small_kernels_and_poolings_that_stay_alone() -> None:
    kernels = view("ch16-resnet").variants[0].kernels
    assert sum(kernel.name == "add·sqrt·divide·multiply" for kernel in kernels) == 20
    assert {"max_pool2d", "global_avg_pool2d"} <= {kernel.name for kernel in kernels}
    refused = [s for s in view("ch16-resnet").variants[0].steps if s.mark == FusionMark.REFUSED]
    assert refused


def test_the_diamond_is_written_as_the_explorer_prints_it() -> None:
    """Readers compare the page's `%2` with the explorer's."""
    program = re.search(r"^diamond = relay.parse.*?^}", "\n".join(cells(PAGE)), re.M | re.S)
    assert program is not None
    written = re.findall(r"^  (%\d = [\w.]+)\(", program[0], re.M)
    printed = re.findall(r"^  (%\d = [\w.]+)\(", names(PAGE)["diamond"].astext(), re.M)
    assert written == printed
    assert len(written) == 6


# -- build it


def test_the_post_dominators_are_those_of_networkx() -> None:
    lines = output(PAGE, "import networkx as nx").splitlines()
    assert len(lines) == 4
    assert all(line.endswith("the same: True") for line in lines)


def test_the_drawing_has_the_kernels_of_the_explorer() -> None:
    ((title, words),) = pictures(PAGE)
    assert title == "The data flow and its kernels: 9 nodes, 3 frames"
    kernels = re.findall(r"kernel \d: (\S+) around", words)
    assert sorted(kernels) == sorted([k.name for k in view("ch16-diamond").variants[0].kernels])


def test_the_readers_kernels_are_those_of_the_explorer() -> None:
    yours, alone = output(PAGE, "def kernels_of").split("OnlyUsers\n")
    printed = [sorted(line.split()) for line in yours.splitlines()[1:]]
    assert printed == [["add", "conv2d", "exp", "relu", "tanh"], ["mean"], ["sqrt"]]
    kernels = [sorted(k.name.split("·")) for k in view("ch16-diamond").variants[0].kernels]
    assert sorted(kernels) == sorted(printed)
    assert alone.splitlines()[0].strip() == "conv2d"


def test_the_readers_fuser_makes_the_same_decisions_about_the_diamond() -> None:
    yours, packages = (view(name).variants[0] for name in ("ch16-yours", "ch16-diamond"))
    assert [(s.mark, s.target, {*s.merged}) for s in yours.steps] == [
        (s.mark, s.target, {*s.merged}) for s in packages.steps
    ]
    assert len(yours.steps) > 3


def test_the_other_order_puts_transpose_beside_the_convolution() -> None:
    first, second = output(PAGE, "moved = ").splitlines()
    assert "['transpose']" in first
    assert "['conv2d', 'transpose', 'add', 'relu']" in second


def test_what_is_missing_in_ours_is_two_values_for_each_normalization() -> None:
    rows = {
        name: [int(n) for n in numbers]
        for name, *numbers in map(str.split, output(PAGE, "for name in relay.op").splitlines()[1:])
    }
    assert [name for name, row in rows.items() if row[2] == row[3]] == [
        "diamond", "squeezenet", "transformer",
    ]  # fmt: skip
    assert rows["lstm"][2] - rows["lstm"][3] == 1
    normalizations = [
        call
        for call in relay.analysis.costs(relay.transform.InferType()(models.load("resnet18")))
        if call.op.name == "nn.batch_norm"  # type: ignore[attr-defined]  # an operator's call
    ]
    assert rows["resnet18"][2] - rows["resnet18"][3] == 2 * len(normalizations) == 40
    assert rows["diamond"][1] > rows["diamond"][2]


def test_the_function_of_a_kernel() -> None:
    printed = output(PAGE, "import numpy as np")
    assert printed.count("Primitive=1") == 3
    assert printed.endswith("(1, 32, 32) the same: True\n")
    lines = output(PAGE, "first = kernels(diamond)").splitlines()
    text = names(PAGE)["diamond"].source.text.splitlines()
    assert len(lines) == 5
    for line in lines:
        number, name = re.fullmatch(r"line (\d+): (.*)", line).groups()  # type: ignore[union-attr]
        assert f"{name}(" in text[int(number) - 1]


def test_what_fusion_is_worth() -> None:
    lines = output(PAGE, "def moved_bytes").splitlines()[1:]
    result = [[float(n) for n in line.split()[-4:]] for line in lines]
    pairs = dict(zip([line.split()[0] for line in lines[::2]], zip(result[::2], result[1::2])))
    for name in ("resnet18", "mobilenet"):
        (_, _, apart, fused), (_, _, _, after) = pairs[name]
        assert fused > 0.9 * apart
        assert after < 0.7 * apart
    for name in ("squeezenet", "vgg16"):
        assert pairs[name][0] == pairs[name][1]
    assert pairs["transformer"][1][1] > pairs["transformer"][0][1]
    (operators, _, apart, _), (_, kernels, _, after) = pairs["mobilenet"]
    assert (operators, kernels, round(apart), round(after)) == (86, 58, 139, 58)
    assert "58 launches instead of 86, and 58 MB per image instead of 139" in source(PAGE)
    assert pairs["transformer"][1][3] > pairs["transformer"][0][3]


def test_what_is_inside_a_kernel_needs_no_place() -> None:
    shown = explorers(PAGE)["ch16-memory"].view
    assert isinstance(shown, MemoryView)
    names_of_axes = [choices for _, choices in shown.axes]
    assert [choices[1] for choices in names_of_axes[:2]] == ["fused", "at scope's end"]
    first, fused, scoped = (shown.variants[shown.grid[n]] for n in (0, 8, 4))
    picture = 4 * 64 * 56 * 56
    assert (len(first.lives), len(fused.lives), len(fused.inside)) == (12, 2, 10)
    assert first.totals.peak // picture == 2
    assert fused.totals.peak // picture == 1
    assert scoped.totals.arena == scoped.totals.total, "no buffer is used twice"
    assert {"#rx-ch16-memory:plan=1.0.0", "#rx-ch16-memory:plan=0.1.0"} <= set(
        re.findall(r"\]\(([^)]*ch16-memory[^)]*)\)", source(PAGE))
    )


def test_what_networks_need_at_once() -> None:
    lines = output(PAGE, "def plan(module").splitlines()
    result = {name: [float(n) for n in numbers] for name, *numbers in map(str.split, lines[1:-1])}
    shrinks = {name: fused / apart for name, (_, apart, _, fused) in result.items()}
    assert min(shrinks, key=lambda name: shrinks[name]) == "lstm"
    worth = [line.split() for line in output(PAGE, "def moved_bytes").splitlines()[1:]]
    traffic = {above[0]: float(line[-1]) / float(above[-2]) for above, line in zip(worth[::2], worth[1::2])}
    assert all(shrinks[name] > traffic[name] for name in ("resnet18", "mobilenet", "squeezenet"))
    deep = float(lines[-1].split()[-1])
    _, apart, _, fused = result["lstm"]
    assert fused < deep < 0.1 * apart, "most of the gain is there without fusion"
    dense = [call for call in calls_of("lstm") if call == "nn.dense"]
    assert calls_of("lstm")[: len(dense) // 2] == ["nn.dense"] * (len(dense) // 2)


def calls_of(name: str) -> list[str]:
    """Return the operators of a model, in the order of the program."""
    typed = relay.transform.InferType()(models.load(name))["main"]
    steps = relay.analysis.plan_memory(typed).steps
    return [as_op(step.expr.op).name for step in steps if isinstance(step.expr, relay.Call)]


def test_what_is_known_is_folded() -> None:
    counts = re.findall(r"\d+", output(PAGE, 'main = resnet["main"]'))
    assert [int(n) for n in counts] == [62, 45, 25]


# -- predictions and limits


@pytest.mark.parametrize(
    ("start", "kernels"),
    [
        ("BIG = ", ["19.3 MB apart, 6.4 fused", "25.7 MB apart, 6.4 fused"]),
        ('show("nn.relu(nn.conv2d', ["nn.relu", "nn.conv2d nn.relu"]),
        ('show("%0 = nn.conv2d(%x, %w); (nn', ["nn.conv2d", "nn.relu"]),
        ('show("tanh(sum', ["nn.relu sum", "tanh"]),
        ('show("concatenate', ["tanh exp concatenate", "--", "nn.conv2d", "exp concatenate"]),
        ('show("%0 = exp(%x); add', ["exp", "nn.conv2d add"]),
        ('show("""\n  %0 = max', ["max", "subtract exp", "sum", "divide"]),
    ],
)
def test_answers(start: str, kernels: list[str]) -> None:
    assert output(PAGE, start).splitlines() == kernels


def test_predictions_show_the_programs_that_are_run() -> None:
    asked = re.findall(r"```\{code-block\} text\n(.*?)```", source(PAGE), re.S)
    run = "".join(cells(PAGE)).replace(" ", "").replace("\n", "")
    for program in "".join(asked).splitlines():
        assert program.replace(" ", "") in run


def test_the_shift_is_computed_for_each_number() -> None:
    assert output(PAGE, "def size").splitlines() == [
        "negative multiply add", f"stored: {3 * 64} operations;", f"in place: {3 * 64 * 56 * 56:,}",
    ]  # fmt: skip


def test_limits() -> None:
    assert output(PAGE, 'x = relay.var("x"').splitlines() == ["[256, 44]", "[100, 100, 100]"]
    rows = output(PAGE, "for size in").split("rows: ")[1:]
    assert [row.splitlines() for row in rows] == [
        ["2", "nn.dense add"], ["?", "nn.dense", "add"], ["n", "nn.dense add"],
    ]  # fmt: skip


def test_answer_what_the_real_fuser_knows() -> None:
    _, *rows = output(PAGE, "print(f\"{'':12} {'operators':>9} {'one user':>9} {'yours'").splitlines()
    assert [row.split()[-2:] for row in rows] == [["2", "1"], ["3", "1"]]


def test_answer_patterns() -> None:
    rows = output(PAGE, 'for name in ("topk"').splitlines()
    assert dict(row.split() for row in rows) == {
        "topk": "OPAQUE",
        "sigmoid": "ELEMWISE",
        "argmax": "COMM_REDUCE",
        "nn.batch_matmul": "OUT_ELEMWISE_FUSABLE",
        "where": "BROADCAST",
        "strided_slice": "INJECTIVE",
    }
