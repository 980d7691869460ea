"""The exercise `schedule_matmul`: right schedules pass, and every usual mistake is told by its name.

Nothing here is timed: what speed is enough, decides a pure function of measured seconds, and that is tested.
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


def mine(*changes: tuple[str, str]):  # type: ignore[no-untyped-def]
    return answer("schedule_matmul", "schedule", *changes)


@pytest.mark.parametrize("part", ["result", "sizes", *LOOPS])
def test_the_solution_passes(part: str) -> None:
    feedback = check("schedule_matmul", mine(), part, programs=40)
    assert feedback.passed, str(feedback)


def test_another_way_of_writing_it_passes() -> None:
    """Packs B, splits k, leaves loops to LLVM to unroll, gives the schedule back."""

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


# -- the usual mistakes

SPLIT_ROWS = "sch.split(i, [None, rows])"
ORDER = "sch.reorder(i_tile, j_tile, k, row, vector, lane)"
VECTOR = "    sch.vectorize(lane)\n    # A tile goes"
SHARED = "sch.parallel(tiles)"
ZEROS = "zeros = sch.decompose_reduction(product, k)"
AFTER_ZEROS = "    _, row, vector, lane = sch.get_loops(zeros)\n"
BEGIN = "    i, j, k = sch.get_loops(product)\n"
REFUSED = {
    "one factor": Mistake([(SPLIT_ROWS, "sch.split(i, rows)")], "result", "The factors are a list"),
    "a vector over k": Mistake(
        [(VECTOR, "    sch.vectorize(k)\n    # A tile goes")], "result", "add to the same one"
    ),
    "cores over k": Mistake(
        [(SHARED, "sch.parallel(k)")], "result", "Two cores would add to the same number"
    ),
    "fixed factors": Mistake([(SPLIT_ROWS, "sch.split(i, [8, 8])")], "sizes", "Write `None` for one"),
    "zeros inside": Mistake(
        [(ZEROS, "zeros = sch.decompose_reduction(product, row)")], "result", "before all loops that add"
    ),
    "zeros before the order": Mistake(
        [(BEGIN, BEGIN + "    sch.reorder(k, i, j)\n    sch.decompose_reduction(product, i)\n")],
        "result",
        "before all loops that add",
    ),
    "a loop that is gone": Mistake([(SHARED, "sch.parallel(i)")], "result", "the old one is gone"),
    "twice in the order": Mistake([(ORDER, "sch.reorder(i_tile, k, i_tile)")], "result", "named once"),
    "loops of two blocks": Mistake(
        [(ORDER, "sch.reorder(i_tile, sch.get_loops(copied)[0])")], "result", "within each other"
    ),
    "no block": Mistake([(ZEROS, 'zeros = sch.get_sblock("zeros")')], "result", "The blocks have names"),
    "no loop": Mistake([(SHARED, "sch.parallel(0)")], "result", "the loops and blocks themselves"),
    "no primitive": Mistake([(SHARED, "sch.paralel(tiles)")], "result", "Is it `parallel`"),
    "tile": Mistake([(SHARED, "sch.tile(tiles)")], "result", "`split` twice and `reorder`"),
    "three of two": Mistake([("_, row, column = sch", "row, column = sch")], "result", "takes the last two"),
    "loops of one turn": Mistake([(", preserve_unit_loops=True", "")], "sizes", "`preserve_unit_loops=True`"),
    "another type": Mistake(
        [(ORDER, ORDER + '\n    sch.unsafe_set_dtype(product, 0, "int8")')], "result", "or is called unsafe"
    ),
    "all written out": Mistake(
        [(SHARED, SHARED + "\n    sch.unroll(k)")], "result", "only loops over a few turns"
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_usual_mistake_is_explained(name: str) -> None:
    mistake = REFUSED[name]
    feedback = check("schedule_matmul", mine(*mistake.changes), mistake.fails)
    assert feedback.failure is not None
    assert mistake.hint in feedback.failure.hint, str(feedback)
    assert feedback.picture.view.kind == "lowering"
    assert "site-packages" not in str(feedback)
    assert "tvm_ffi" not in str(feedback)


def test_only_a_schedule_is_one() -> None:
    feedback = check("schedule_matmul", mine((AFTER_ZEROS, "    return 1\n")))
    assert feedback.failure is not None
    assert (feedback.failure.got, feedback.failure.hint) == (
        "a value of type int",
        "Change `sch`, and return nothing.",
    )


# -- schedules that are right, and slow


def plain(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
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
    """Split the loops into a tile of that size, and the loops outside."""
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


def too_many_sums(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 8, 2)


def a_flat_tile(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 1, 4)


def zeros_within(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiled(sch, product, lanes, 4, 2, zeros=False)


def cores_within(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    sch.parallel(tiled(sch, product, lanes, 4, 2, zeros=False)[1])


def cores_within_cores(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    for loop in tiled(sch, product, lanes, 4, 2, zeros=False)[:2]:
        sch.parallel(loop)


def few_turns(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    tiles, *_ = tiled(sch, product, lanes, 4, 2, zeros=False)
    outer, _ = sch.split(tiles, [4, None])
    sch.parallel(outer)


def cores_too_late(sch, product, lanes, registers):  # type: ignore[no-untyped-def]
    sch.parallel(tiled(sch, product, lanes, 4, 2)[0])


SLOW = (
    (plain, "vectors", "Split the columns by `lanes`"),
    (vectors_of_rows, "vectors", "a whole row apart"),
    (vectors_far_apart, "vectors", "neighbours in memory"),
    (vectors_of_16, "vectors", "not the same on every"),
    (one_vector, "tile", "Each multiply-add waits"),
    (too_many_sums, "tile", "goes to memory and back"),
    (a_flat_tile, "tile", "The more square"),
    (zeros_within, "zeros", "puts the zeros before a loop"),
    (one_vector, "cores", "outermost loop among the cores"),
    (cores_within, "cores", "woken and waited for"),
    (cores_within_cores, "cores", "or share only the outer one"),
    (cores_within_cores, "result", "Cores cannot be shared out twice"),
    (cores_too_late, "cores", "Make loops parallel before"),
    (few_turns, "cores", "some cores have nothing to do"),
)


@pytest.mark.parametrize(("schedule", "part", "hint"), SLOW, ids=lambda x: getattr(x, "__name__", None))
def test_a_usual_mistake_that_makes_it_slow_is_named(schedule, part: str, hint: str) -> None:  # type: ignore[no-untyped-def]
    feedback = check("schedule_matmul", schedule, part)
    assert feedback.failure is not None
    assert hint in feedback.failure.hint, str(feedback)
    assert feedback.picture.view.kind == "lowering"


# -- how fast it is


def test_what_must_be_reached_is_a_ratio() -> None:
    """Twice as slow a machine gives the same points."""
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


def test_what_was_measured_is_said() -> None:
    speed = Speed(naive=0.03355, ours=0.0003, yours=0.0003355)
    assert str(speed) == (
        "100 times as fast as unscheduled, 0.89 of the speed of the compiler's own schedule (100 billion "
        "operations a second, on one core)"
    )


def test_the_best_of_some_tries_counts() -> None:
    tries = [Speed(1, 0.4, 1), Speed(1, 0.3, 1), Speed(1, 0.6, 1), Speed(1, 9, 1)]
    step = Step(to_ours=0.55)
    assert best(step, iter(tries).__next__).to_ours == 0.6
    never = iter([Speed(1, 0.4, 1), Speed(1, 0.5, 1), Speed(1, 0.45, 1), Speed(1, 0.9, 1)])
    assert best(step, never.__next__).to_ours == 0.5
    assert TRIES == 3


def test_what_is_known_is_not_measured_again() -> None:
    """And what is far from a step is measured once for it."""
    known, far = Speed(1, 0.6, 1), Speed(1, 0.2, 1)
    assert best(Step(to_ours=0.55), iter([]).__next__, known) is known
    assert best(Step(to_ours=0.65), iter([Speed(1, 0.7, 1)]).__next__, known).to_ours == 0.7
    assert best(Step(to_ours=0.5), iter([far]).__next__) is far
    assert best(Step(to_naive=10), iter([Speed(4, 1, 1)]).__next__).to_naive == 4


class Clock:
    """Stands for the time: kernels that take so long, and on every third run half of it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, **seconds: float) -> None:
        self.now, self.calls = 0.0, list[str]()
        monkeypatch.setattr(schedule_matmul_speed, "time", SimpleNamespace(perf_counter=lambda: self.now))
        self.found = timed({name: self._kernel(name, seconds[name]) for name in seconds}, [])

    def _kernel(self, name: str, seconds: float) -> Callable[..., None]:
        def run(*args: object) -> None:
            self.calls.append(name)
            self.now += seconds / (2 if self.calls.count(name) % 3 == 0 else 1)

        return run


def test_of_each_the_shortest_run_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    """They run in turns."""
    clock = Clock(monkeypatch, naive=0.04, ours=0.0002, yours=0.0003)
    assert clock.found == pytest.approx({"naive": 0.02, "ours": 0.0001, "yours": 0.00015})
    assert Counter(clock.calls) == {"naive": 4, "ours": 120, "yours": 120}
    assert clock.calls[:2] == ["naive", "ours"]
    assert clock.calls.index("yours") < len(clock.calls) - 1 - clock.calls[::-1].index("naive")


def test_a_slow_one_runs_once(monkeypatch: pytest.MonkeyPatch) -> None:
    assert Counter(Clock(monkeypatch, naive=0.04, ours=0.0002, yours=5).calls)["yours"] == 1
    assert Counter(Clock(monkeypatch, naive=0.04, ours=0.0002, yours=0.06).calls)["yours"] == 2


def test_a_remark_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    """The measured ratio stands beside the property, whether it holds or not."""
    measures = iter([Speed(0.04, 0.0002, 0.0004)] * (1 + TRIES))
    monkeypatch.setattr(schedule_matmul_speed, "_BEST", {})
    monkeypatch.setattr(schedule_matmul_speed, "measured", lambda made: next(measures))
    passed = check("schedule_matmul", plain, "half")
    assert passed.passed
    assert "100 times as fast as unscheduled, 0.50 of the speed" in str(passed)
    failed = check("schedule_matmul", plain, "level")
    assert failed.failure is not None
    assert "100 times as fast as unscheduled, 0.50 of the speed" in failed.failure.got
    assert "Split the columns by `lanes`" in failed.failure.hint


def test_one_core_is_measured() -> None:
    """What shares turns among cores is left out, and nothing else."""
    result = scheduled((64, 64, 64), mine(), 16)
    alone = serial(result)
    left = [step for step in result.steps if "parallel" not in step]
    assert len(left) == len(result.steps) - 1
    assert len(alone.steps) == len(left)
    assert [(s.name, [loop.kind for loop in s.loops][1:]) for s in statements(alone)] == [
        (s.name, [loop.kind for loop in s.loops][1:]) for s in statements(result)
    ]
    assert {s.loops[0].kind for s in statements(alone)} == {0}
