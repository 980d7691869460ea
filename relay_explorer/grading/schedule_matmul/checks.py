"""The checks of the exercise `schedule_matmul`: what the schedule computes, what its loops are, how fast they
run.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import Any

from ...ir.errors import RelayError
from ...lower.schedules import Scheduled
from ..budget import Outcome, limited
from ..check import CASE_SECONDS, PROGRAMS, Exercise, Property, Remark, crashed, own_lines
from ..feedback import Failure
from ..machine_code import Loops
from . import (
    NotAScheduleError,
    Shape,
    StepError,
    begun,
    explorer,
    host,
    matrices,
    registers,
    runs,
    scheduled,
    serial,
)
from .hints import refused_hint, told
from .loops import Look, begins, cores, nested, product_of, statements, tile, vectors
from .speed import SHAPE, STEPS, Step, fastest

COMPILE_SECONDS = 30.0
MAX_COPIES = 2_048  # of a statement's numbers, unrolled and vectorized: more take very long to compile
WIDTHS = (16, 8, 4)  # numbers in a vector: AVX-512, AVX, ARM
SHORT = 4
LOOKED_AT: Shape = (256, 256, 256)

Answer = Callable[..., Any]


def _case(shape: Shape, lanes: int) -> str:
    m, n, k = shape
    return (
        f"C = A · B, with A of {m} × {k} and B of {k} × {n}; lanes = {lanes}, registers = {registers(lanes)}"
    )


def _scheduled(answer: Answer, shape: Shape, lanes: int) -> tuple[Scheduled | None, Failure | None]:
    """Schedule the product by the answer; return the schedule or the failure."""
    begun(shape)  # imports TVM, which takes its time, and must not be stopped halfway
    outcome = limited(CASE_SECONDS, scheduled, shape, answer, lanes)
    if outcome.error is None:
        return outcome.value, None
    return None, _unfinished(outcome, shape, lanes)


def _unfinished(outcome: Outcome, shape: Shape, lanes: int) -> Failure:
    """Build the failure of an answer that raised an error, or returned anything but a schedule."""
    case, expected, error = _case(shape, lanes), "a schedule of it", outcome.error
    if isinstance(error, NotAScheduleError):
        return Failure(
            case,
            expected,
            f"a value of type {error}",
            "Change `sch`, and return nothing.",
            printed=outcome.printed,
        )
    if not isinstance(error, StepError) or error.__cause__ is None:
        return crashed(case, outcome, expected)
    cause, scheduled_product = error.__cause__, error.made
    hint = refused_hint(cause)
    if not hint and type(cause).__name__ != "ScheduleError":
        return crashed(case, outcome._replace(error=cause), expected)
    return Failure(
        case, expected, f"a step that TVM refuses: {told(cause)}", hint, printed=outcome.printed,
        trace=own_lines(cause), picture=_picture(scheduled_product, "The steps before it"),
    )  # fmt: skip


def _picture(scheduled_product: Scheduled, title: str = "Your schedule, step by step") -> Callable[[], Any]:
    def draw() -> Any:
        try:
            return explorer(scheduled_product, title)
        except RelayError:  # no machine code can be made of it
            return explorer(serial(scheduled_product), f"{title}, without parallel loops")

    return draw


# -- what it computes


def _wrong(answer: Answer, shape: Shape, lanes: int | None = None) -> Failure | None:
    """How the answer's machine code fails to give the product of two matrices, with vectors of this machine
    or shorter ones.
    """
    lanes = host().lanes() if lanes is None else lanes
    scheduled_product, failure = _scheduled(answer, shape, lanes)
    if scheduled_product is None:
        return failure
    case = _case(shape, lanes)
    copies = max((s.copies for s in statements(scheduled_product)), default=0)
    if copies > MAX_COPIES:
        return Failure(
            case, f"code with at most {MAX_COPIES:,} copies of a statement", f"{copies:,} copies",
            "An unrolled or vectorized loop is written out turn by turn. Unroll only loops over a few "
            "turns: split "
            "them first.", picture=_picture(scheduled_product),
        )  # fmt: skip
    outcome = _ran(Loops(scheduled_product), shape)
    if outcome.error is not None:
        return Failure(
            case, "machine code", f"loops of which TVM makes none: {told(outcome.error)}",
            nested(scheduled_product)
            or "TVM accepted every step, but cannot compile the result. Leave out some of the steps.",
            picture=_picture(scheduled_product),
        )  # fmt: skip
    return _compared(outcome.value, scheduled_product, shape, case)


@lru_cache(64)
def _ran(loops: Loops, shape: Shape) -> Outcome:
    """Compile and run; cached, because several properties need it."""
    return limited(COMPILE_SECONDS, _computed, loops.made, shape)


def _computed(scheduled_product: Scheduled, shape: Shape) -> Any:
    """Run the machine code, and return C."""
    import numpy as np

    from ...lower.require import tvm

    a, b, right = matrices(shape)
    tensors = [tvm().runtime.tensor(array) for array in (a, b, np.full_like(right, np.nan))]
    runs(scheduled_product)(*tensors)
    return tensors[2].numpy()


def _compared(computed: Any, scheduled_product: Scheduled, shape: Shape, case: str) -> Failure | None:
    import numpy as np

    right = matrices(shape)[2]
    if np.array_equal(computed, right):
        return None
    row, column = (int(at[0]) for at in np.nonzero(computed != right))
    empty = int(np.isnan(computed).sum())
    got = f"C[{row}, {column}] = {computed[row, column]:g}"
    hint = (
        f"{empty} of the {computed.size} numbers of C are never written."
        if empty
        else "Steps change the order of the work, not what is computed. Which of yours changes a type, or "
        "is called unsafe?"
    )
    return Failure(
        case, f"C[{row}, {column}] = {right[row, column]:g}", got, hint,
        picture=_picture(scheduled_product),
    )  # fmt: skip


Asked = tuple[Shape, int | None]  # a shape and, where they are not this machine's, the lanes of a vector


def _result(name: str, says: str, cases: Callable[[random.Random, int], Iterable[Asked]]) -> Property:
    def test(answer: Answer, rng: random.Random, count: int) -> Failure | None:
        for shape, lanes in cases(rng, count):
            failure = _wrong(answer, shape, lanes)
            if failure is not None:
                return failure
        return None

    return Property(name, says, test)


def _even(rng: random.Random, count: int) -> Iterator[Asked]:
    """Sizes that usual tiles divide."""
    yield (64, 64, 64), None
    yield (128, 256, 32), None
    for _ in range(min(3, count // 30)):
        yield (64 * rng.randint(1, 3), 64 * rng.randint(1, 4), 16 * rng.randint(1, 8)), None


def _any(rng: random.Random, count: int) -> Iterator[Asked]:
    """Sizes that they do not divide: some that are written out, or others at random. Where the columns are
    not divided, every number of a tile is asked for whether it exists, and a large one takes many seconds to
    compile: there vectors are short.
    """
    if count <= PROGRAMS:
        yield from (((1, 1, 1), None), ((65, 64, 33), None), ((64, 61, 33), SHORT), ((3, 100, 1), None))
    for _ in range(2 if count > PROGRAMS else 0):
        yield (rng.randint(1, 70), rng.randint(1, 140), rng.randint(1, 40)), SHORT


# -- what its loops are


def _loops(name: str, says: str, expected: str, look: Look) -> Property:
    def test(answer: Answer, rng: random.Random, count: int) -> Failure | None:
        for lanes in WIDTHS:
            scheduled_product, failure = _scheduled(answer, LOOKED_AT, lanes)
            if scheduled_product is None:
                return failure
            finding = look(scheduled_product, lanes, registers(lanes))
            if finding is not None:
                return Failure(
                    _case(LOOKED_AT, lanes), expected, finding.got, finding.hint,
                    picture=_picture(scheduled_product),
                )  # fmt: skip
        return None

    return Property(name, says, test)


# -- how fast it is


def _speed(name: str, says: str, step: Step) -> Property:
    def test(answer: Answer, rng: random.Random, count: int) -> Failure | Remark | None:
        failure = _wrong(answer, SHAPE)
        if failure is not None:
            return failure
        scheduled_product, failure = _scheduled(answer, SHAPE, host().lanes())
        if scheduled_product is None:
            return failure
        speed = fastest(step, scheduled_product)
        if step.reached(speed):
            return Remark(speed)
        return Failure(
            _case(SHAPE, host().lanes()), str(step), str(speed), _slow(scheduled_product),
            picture=_picture(scheduled_product),
        )  # fmt: skip

    return Property(name, says, test)


def _slow(scheduled_product: Scheduled) -> str:
    """Explain what may make a right schedule slow."""
    lanes = host().lanes()
    for look in (vectors, tile, begins):
        finding = look(scheduled_product, lanes, registers(lanes))
        if finding is not None:
            return finding.hint
    if product_of(scheduled_product).scope == "global":
        return (
            'Are the sums kept in registers? `cache_write(product, 0, "local")` gives them a place of '
            "their own, and `reverse_compute_at` copies a tile to C when it is done."
        )
    return "Are the loops of the tile unrolled, those of the zeros and of the copying vectorized too?"


EXERCISE = {
    "": Exercise(
        "Scheduling a product of matrices",
        "schedule(sch, product, lanes, registers)",
        (
            _result("result", "the product is right, for sizes that tiles divide", _even),
            _result("sizes", "and for all others", _any),
            _loops(
                "vectors",
                "it multiplies and adds vectors",
                "a vectorized loop over neighbouring columns",
                vectors,
            ),
            _loops(
                "tile", "a tile of sums fits the registers", "a tile of sums within the loop over k", tile
            ),
            _loops(
                "zeros", "sums begin outside of the loop that adds", "zeros before the loops over k", begins
            ),
            _loops("cores", "the cores share the outermost loop", "a parallel outermost loop", cores),
            *(_speed(name, f"it is {step}", step) for name, step in STEPS.items()),
        ),
    ),
}
