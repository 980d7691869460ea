"""The checks of the exercise `schedule_matmul`: solutions pass, and each common mistake gets its hint.

Nothing here is timed: a pure function of measured seconds decides whether a speed suffices, and is tested.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from relay_explorer.grading import check
from relay_explorer.grading.schedule_matmul import scheduled, serial
from relay_explorer.grading.schedule_matmul import speed as schedule_matmul_speed
from relay_explorer.grading.schedule_matmul.loops import statements
from relay_explorer.grading.schedule_matmul.speed import STEPS, TRIES, Speed, Step, best, timed
from tests.exercises.answers import answer
from tests.exercises.mistakes import Mistake

LOOPS = ("vectors", "tile", "zeros", "cores")


def solution(*changes: tuple[str, str]):  # type: ignore[no-untyped-def]
    return answer("schedule_matmul", "schedule", *changes)


@pytest.mark.parametrize("part", ["result", "sizes", *LOOPS])
def test_solution_passes(part: str) -> None:
    feedback = check("schedule_matmul", solution(), part, programs=40)
    assert feedback.passed, str(feedback)


def test_alternative_solution_passes() -> None:
    """Pack B, split k, leave unrolling to LLVM, and return the schedule."""

    def packed(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
        i, j, k = sch.get_loops(product)
        panel = 2 * lanes
        copy = sch.cache_read(product, 1, "global")
        sch.transform_layout(copy, ("write", 0), lambda k, j: (j // panel, k, j % panel))
        j_tile, column = sch.split(j, [None, panel])
        i_tile, row = sch.split(i, [None, 4])
        k_part, k_step = sch.split(k, [None, 64])
        vector, lane = sch.split(column, [None, lanes])
        sch.reorder(j_tile, i_tile, k_part, k_step, row, vector, lane)
        sch.vectorize(lane)
        sch.parallel(j_tile)
        zeros = sch.decompose_reduction(product, k_part)
        sch.vectorize(sch.get_loops(zeros)[-1])
        return sch

    for part in ("result", *LOOPS):
        feedback = check("schedule_matmul", packed, part, programs=10)
        assert feedback.passed, str(feedback)


# -- common mistakes

SPLIT_ROWS = "sch.split(i, [None, rows])"
ORDER = "sch.reorder(i_tile, j_tile, k, row, vector, lane)"
VECTOR = "    sch.vectorize(lane)\n    # Copy a tile"
PARALLEL = "sch.parallel(tiles)"
ZEROS = "zeros = sch.decompose_reduction(product, k)"
VECTORIZE_ZEROS = "    _, row, vector, lane = sch.get_loops(zeros)\n"
BEGIN = "    i, j, k = sch.get_loops(product)\n"
REJECTED = {
    "passes one factor": Mistake([(SPLIT_ROWS, "sch.split(i, rows)")], "result", "The factors are a list"),
    "vectorizes k": Mistake(
        [(VECTOR, "    sch.vectorize(k)\n    # Copy a tile")], "result", "add to the same one"
    ),
    "parallelizes k": Mistake(
        [(PARALLEL, "sch.parallel(k)")], "result", "Two cores would add to the same element"
    ),
    "fixes both factors": Mistake([(SPLIT_ROWS, "sch.split(i, [8, 8])")], "sizes", "Write `None` for one"),
    "initializes inside the reduction": Mistake(
        [(ZEROS, "zeros = sch.decompose_reduction(product, row)")],
        "result",
        "before all loops that accumulate",
    ),
    "initializes before reordering": Mistake(
        [(BEGIN, BEGIN + "    sch.reorder(k, i, j)\n    sch.decompose_reduction(product, i)\n")],
        "result",
        "before all loops that accumulate",
    ),
    "uses a loop that was split": Mistake([(PARALLEL, "sch.parallel(i)")], "result", "the old one is gone"),
    "names a loop twice": Mistake([(ORDER, "sch.reorder(i_tile, k, i_tile)")], "result", "named once"),
    "reorders loops of two blocks": Mistake(
        [(ORDER, "sch.reorder(i_tile, sch.get_loops(copied)[0])")], "result", "loops of one nest"
    ),
    "names no existing block": Mistake(
        [(ZEROS, 'zeros = sch.get_sblock("zeros")')], "result", "The blocks have names"
    ),
    "passes a number as a loop": Mistake([(PARALLEL, "sch.parallel(0)")], "result", "loop and block objects"),
    "calls no existing primitive": Mistake([(PARALLEL, "sch.paralel(tiles)")], "result", "Is it `parallel`"),
    "calls tile": Mistake([(PARALLEL, "sch.tile(tiles)")], "result", "`split` twice and `reorder`"),
    "expects two of three loops": Mistake(
        [("_, row, column = sch", "row, column = sch")], "result", "takes the last two"
    ),
    "drops unit loops": Mistake([(", preserve_unit_loops=True", "")], "sizes", "`preserve_unit_loops=True`"),
    "changes the element type": Mistake(
        [(ORDER, ORDER + '\n    sch.unsafe_set_dtype(product, 0, "int8")')], "result", "or is called unsafe"
    ),
    "unrolls k": Mistake([(PARALLEL, PARALLEL + "\n    sch.unroll(k)")], "result", "only short loops"),
}


@pytest.mark.parametrize("name", REJECTED)
def test_explains_common_mistake(name: str) -> None:
    mistake = REJECTED[name]
    feedback = check("schedule_matmul", solution(*mistake.changes), mistake.failed_property)
    assert feedback.failure is not None
    assert mistake.hint in feedback.failure.hint, str(feedback)
    assert feedback.picture.view.kind == "lowering"
    assert "site-packages" not in str(feedback)
    assert "tvm_ffi" not in str(feedback)


def test_rejects_other_return_values() -> None:
    feedback = check("schedule_matmul", solution((VECTORIZE_ZEROS, "    return 1\n")))
    assert feedback.failure is not None
    assert (feedback.failure.got, feedback.failure.hint) == (
        "a value of type int",
        "Change `sch`, and return nothing.",
    )


# -- schedules that are right but slow


def unscheduled(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    pass


def vectors_of_rows(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    i, j, k = sch.get_loops(product)
    tile, lane = sch.split(i, [None, lanes])
    sch.reorder(tile, j, k, lane)
    sch.vectorize(lane)


def vectors_far_apart(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    i, j, k = sch.get_loops(product)
    lane, part = sch.split(j, [lanes, None])
    sch.reorder(i, part, k, lane)
    sch.vectorize(lane)


def vectors_of_16(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    i, j, k = sch.get_loops(product)
    part, lane = sch.split(j, [None, 12])
    sch.reorder(i, part, k, lane)
    sch.vectorize(lane)


def tiled(
    sch: Any, product: Any, lanes: int, rows: int, vectors: int, zeros: bool = True
) -> tuple[Any, Any, Any]:
    """Tile the loops, and return the outer ones."""
    i, j, k = sch.get_loops(product)
    i_tile, row = sch.split(i, [None, rows])
    j_tile, vector, lane = sch.split(j, [None, vectors, lanes])
    sch.reorder(i_tile, j_tile, k, row, vector, lane)
    sch.vectorize(lane)
    if zeros:
        sch.decompose_reduction(product, k)
    return i_tile, j_tile, k


def one_vector(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 1, 1)


def too_many_accumulators(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 8, 2)


def flat_tile(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 1, 4)


def initializes_inside(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 4, 2, zeros=False)


def parallel_inner_loop(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    sch.parallel(tiled(sch, product, lanes, 4, 2, zeros=False)[1])


def nested_parallel_loops(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    for loop in tiled(sch, product, lanes, 4, 2, zeros=False)[:2]:
        sch.parallel(loop)


def few_iterations(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiles, *_ = tiled(sch, product, lanes, 4, 2, zeros=False)
    outer, _ = sch.split(tiles, [4, None])
    sch.parallel(outer)


def parallel_after_decomposition(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    sch.parallel(tiled(sch, product, lanes, 4, 2)[0])


SLOW = (
    (unscheduled, "vectors", "Split the columns by `lanes`"),
    (vectors_of_rows, "vectors", "a whole row apart"),
    (vectors_far_apart, "vectors", "adjacent in memory"),
    (vectors_of_16, "vectors", "differs between processors"),
    (one_vector, "tile", "Each multiply-add waits"),
    (too_many_accumulators, "tile", "stored and reloaded"),
    (flat_tile, "tile", "the more square"),
    (initializes_inside, "zeros", "moves the initialization before a loop"),
    (one_vector, "cores", "outermost loop over the cores"),
    (parallel_inner_loop, "cores", "started and joined"),
    (nested_parallel_loops, "cores", "or parallelize only the outer one"),
    (nested_parallel_loops, "result", "Only one loop can be distributed"),
    (parallel_after_decomposition, "cores", "Parallelize loops before that"),
    (few_iterations, "cores", "some cores are idle"),
)


@pytest.mark.parametrize(("schedule", "part", "hint"), SLOW, ids=lambda x: getattr(x, "__name__", None))
def test_hints_at_common_mistake_that_is_slow(schedule, part: str, hint: str) -> None:  # type: ignore[no-untyped-def]
    feedback = check("schedule_matmul", schedule, part)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture.view.kind == "lowering"


# -- speed


def test_steps_are_ratios() -> None:
    """A machine of half the speed earns the same points."""
    for factor in (1, 2):
        slow, fair, good = (
            Speed(0.04 * factor, 0.0002 * factor, s * factor) for s in (0.005, 0.0005, 0.00022)
        )
        reached = {name: [step.reached(s) for s in (slow, fair, good)] for name, step in STEPS.items()}
        assert reached == {
            "faster": [False, True, True], "half": [False, False, True], "level": [False, False, True],
        }  # fmt: skip
    assert not STEPS["level"].reached(Speed(1, 0.6, 1))
    assert STEPS["half"].reached(Speed(1, 0.6, 1))


def test_text_of_a_measurement() -> None:
    speed = Speed(naive=0.03355, ours=0.0003, yours=0.0003355)
    assert str(speed) == (
        "100 times as fast as the original loops, 0.89 of the speed of the compiler's own schedule (100 "
        "billion operations per second, on one core)"
    )


def test_best_of_several_tries_counts() -> None:
    tries = [Speed(1, 0.4, 1), Speed(1, 0.3, 1), Speed(1, 0.6, 1), Speed(1, 9, 1)]
    step = Step(to_ours=0.55)
    assert best(step, iter(tries).__next__).to_ours == 0.6
    never = iter([Speed(1, 0.4, 1), Speed(1, 0.5, 1), Speed(1, 0.45, 1), Speed(1, 0.9, 1)])
    assert best(step, never.__next__).to_ours == 0.5
    assert TRIES == 3


def test_reuses_measurements() -> None:
    """A speed far from the step's threshold is measured only once."""
    cached, far = Speed(1, 0.6, 1), Speed(1, 0.2, 1)
    assert best(Step(to_ours=0.55), iter([]).__next__, cached) is cached
    assert best(Step(to_ours=0.65), iter([Speed(1, 0.7, 1)]).__next__, cached).to_ours == 0.7
    assert best(Step(to_ours=0.5), iter([far]).__next__) is far
    assert best(Step(to_naive=10), iter([Speed(4, 1, 1)]).__next__).to_naive == 4


class Clock:
    """Replace the clock: each kernel takes its `seconds`, and half of them in every third run."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
        self.now, self.calls = 0.0, list[str]()
        monkeypatch.setattr(schedule_matmul_speed, "time", SimpleNamespace(perf_counter=lambda: self.now))
        self.times = timed({name: self._kernel(name, seconds[name]) for name in seconds}, [])

    def _kernel(self, name: str, seconds: float) -> Callable[..., None]:
        def run(*args: object) -> None:
            self.calls.append(name)
            self.now += seconds / (2 if self.calls.count(name) % 3 == 0 else 1)

        return run


def test_shortest_run_of_each_kernel_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """They run alternately."""
    clock = Clock(monkeypatch, naive=0.04, ours=0.0002, yours=0.0003)
    assert clock.times == pytest.approx({"naive": 0.02, "ours": 0.0001, "yours": 0.00015})
    assert Counter(clock.calls) == {"naive": 4, "ours": 120, "yours": 120}
    assert clock.calls[:2] == ["naive", "ours"]
    assert clock.calls.index("yours") < len(clock.calls) - 1 - clock.calls[::-1].index("naive")


def test_runs_slow_kernel_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Counter(Clock(monkeypatch, naive=0.04, ours=0.0002, yours=5).calls)["yours"] == 1
    assert Counter(Clock(monkeypatch, naive=0.04, ours=0.0002, yours=0.06).calls)["yours"] == 2


def test_shows_measured_ratio(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measured ratio stands beside the property, whether it holds or not."""
    measures = iter([Speed(0.04, 0.0002, 0.0004)] * (1 + TRIES))
    monkeypatch.setattr(schedule_matmul_speed, "_BEST", {})
    monkeypatch.setattr(schedule_matmul_speed, "measured", lambda result: next(measures))
    passed = check("schedule_matmul", unscheduled, "half")
    assert passed.passed
    assert "100 times as fast as the original loops, 0.50 of the speed" in str(passed)
    failed = check("schedule_matmul", unscheduled, "level")
    assert failed.failure is not None
    assert "100 times as fast as the original loops, 0.50 of the speed" in failed.failure.got
    assert "Split the columns by `lanes`" in failed.failure.hint


def test_measures_without_parallel_loops() -> None:
    """Only the steps that parallelize loops are left out."""
    result = scheduled((64, 64, 64), solution(), 16)
    single_core = serial(result)
    remaining = [step for step in result.steps if "parallel" not in step]
    assert len(remaining) == len(result.steps) - 1
    assert len(single_core.steps) == len(remaining)
    assert [(s.name, [loop.kind for loop in s.loops][1:]) for s in statements(single_core)] == [
        (s.name, [loop.kind for loop in s.loops][1:]) for s in statements(result)
    ]
    assert {s.loops[0].kind for s in statements(single_core)} == {0}
