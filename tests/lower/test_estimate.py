"""What a nest of loops is estimated to cost, beside what was measured."""

from __future__ import annotations

import json

import pytest

from benchmarks import schedule_steps
from relay_explorer.lower.inspect.estimate import estimate
from relay_explorer.lower.inspect.footprint import Touch, fetched
from relay_explorer.lower.inspect.operations import counted
from relay_explorer.lower.profiling.measurement import stored
from relay_explorer.lower.require import tvm
from relay_explorer.views.lowering.view import lowering_view
from tests.views.lowerings import DENSE, GPU, LAYER, kernel


def test_the_estimate_counts_what_the_processor_runs() -> None:
    shown = lowering_view(kernel(LAYER))
    result = [step.effect for step in shown.steps]
    # Three loops of 32 × 64 × 128 turns with a multiply-add, two loads, two for the turn, and the sum, which
    # is loaded and stored; then two nests.
    assert result[0].instructions == pytest.approx(7 * 32 * 64 * 128, rel=0.03)
    # 8 tasks a core of 128 turns with 8 multiply-adds, 4 + 2 loads and two for the turn, then the epilogue.
    assert result[-1].instructions == pytest.approx(8 * 128 * 16, rel=0.04)
    assert result[-1].traffic == 4 * (32 * 128 + 8 * 128 * 8 + 64 + 32 * 64), "arguments and result, once"
    assert result[1].traffic == result[0].traffic - 2 * 4 * 32 * 64, (
        "what is inlined is neither stored nor loaded"
    )
    # At first one sum waits for the other: 4 cycles each, of 32 × 64 × 128; later they are in vectors.
    assert result[0].cycles == pytest.approx(4 * 32 * 64 * 128, rel=0.03)
    assert result[-1].cycles == pytest.approx(result[-1].instructions / 3, rel=0.01)
    assert result[0].far == 0, "all of it fits into the second cache"
    open_size = kernel("fn (%x: Tensor[(?, 8), float32], Primitive=1) { exp(%x) }")
    assert {step.effect[4:] for step in lowering_view(open_size).steps} == {(0, 0, 0, 0, 0)}
    gpu = lowering_view(kernel(DENSE, GPU)).steps[-1].effect
    assert gpu.instructions > 0
    assert gpu[6:] == (0, 0, 0), "the caches are a processor's"


def test_the_estimate_of_each_step_is_near_what_was_measured() -> None:
    """The six nests of chapter 22, as they were measured: what each step is worth, within half of it."""
    data = json.loads(schedule_steps.DATA.read_text("utf-8"))
    rows, vectors, lanes = data["tile"]
    nests = schedule_steps.steps_of_the_page()(data["size"], rows, vectors, lanes)
    cycles, seconds = [], list(data["seconds"].values())
    for _, sch in nests:
        result = estimate(sch.mod["main"], data["threads"], (48 << 10, 1 << 20))
        cycles.append(result.cycles)
    for step in range(1, len(seconds)):
        measured = seconds[step - 1] / seconds[step]
        assert cycles[step - 1] / cycles[step] == pytest.approx(measured, rel=0.5), step


def test_the_estimate_of_kernels_of_a_model_is_within_twice_what_was_measured() -> None:
    """A pool, convolutions in blocks and by Winograd, as they ran within ResNet-18."""
    run = stored("resnet18")
    hertz = run.limits.flops / (run.limits.threads * 64)  # two multiply-adds of 16 lanes in a cycle
    for number, rule in ((1, "reduction"), (2, "winograd"), (4, "blocked"), (9, "blocked"), (10, "winograd")):
        assert run.kernels[number].rule == rule
        func = run.remade(number).scheduled.prim_func
        cycles = estimate(func, run.limits.threads, run.caches).cycles
        seconds = min(call.ns for call in run.calls(number)) / 1e9
        assert 0.5 < cycles / hertz / seconds < 2, run.kernels[number].name


def test_choices_that_copies_settle_cost_nothing_and_a_border_one_question() -> None:
    tirx = tvm().tirx
    e, i = (tirx.Var(name, "int32") for name in "ei")
    x = tirx.decl_buffer((8,), "float32", name="x")
    a, b = tirx.BufferLoad(x, [i]), tirx.BufferLoad(x, [i + 1])
    chosen = tirx.Select(e == 0, a, tirx.Select(e == 1, a * 2.0 + b, (a + b) * (a + b)))
    loops = [(i, 8), (e, 3)]
    # Of the three copies one only reads, one multiplies and adds, one adds once and multiplies.
    operations, loads = counted(chosen, loops, [e], {})
    assert operations == pytest.approx((0 + 1 + 2) / 3)
    assert len(loads) == 2, "what is read twice is loaded once"
    assert counted(chosen, loops, [], {})[0] == 2 + 1 + 2, "two questions, where no copy answers them"
    inside = tirx.all(i >= 1, i < 7)
    assert counted(tirx.Select(inside, a + b, a), loops, [], {})[0] == 2, "a question, and a sum"
    assert counted(tirx.Select(i < 8, a + b, a), loops, [], {})[0] == 1, "it is always so"
    assert counted(tirx.Select(a < b, a, b), loops, [], {})[0] == 2, "a question about values is arithmetic"
    v = tirx.Var("v", "int32")
    assert counted(tirx.Select(v < 2, a, a + b), loops, [e], {v: e * 2})[0] == pytest.approx(2 / 3)
    wide = tirx.Select(e == 70, a, a + b)
    assert counted(wide, [(i, 8), (e, 100)], [e], {})[0] == 2, "too many copies to look at one by one"


def test_what_a_cache_holds_is_not_fetched_again() -> None:
    """A product of two matrices of 64 × 64: a row of the first, all of the second."""
    i, j, k = (tvm().tirx.Var(name, "int32") for name in "ijk")
    first = Touch("a", (i, k), 4, (64, 64), 64 * 64 * 4)
    second = Touch("b", (k, j), 4, (64, 64), 64 * 64 * 4)
    loops = [(i, 64), (j, 64), (k, 64)]
    whole = 2 * 64 * 64 * 4
    assert fetched([first, second], loops, {}, whole) == whole, "it fits: once"
    # The second matrix and a row fit: the rows of the first come one by one.
    assert fetched([first, second], loops, {}, 64 * 64 * 4 + 256) == whole
    # A column is 64 lines; with a row it fits, and the next column lies in the same lines.
    assert fetched([first, second], loops, {}, 64 * 64 + 256) == 64 * (256 + 64 * 64 * 4)
    assert fetched([first, second], loops, {}, 1024) == 64 * 64 * (256 + 64 * 64)
    halves = {i: j // 2}  # a block's variable: an expression of the loop's
    assert fetched([first], [(j, 64), (k, 64)], halves, 1 << 20) == 32 * 256
