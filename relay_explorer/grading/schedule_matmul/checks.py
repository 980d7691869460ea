"""The checks of the exercise `schedule_matmul`: the result of the schedule, its loops, and their speed."""

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
    explorer,
    host,
    matrices,
    registers,
    runs,
    scheduled,
    serial,
    start_schedule,
)
from .hints import refused_hint, short_message
from .loops import Look, cores, initialization, nested, product_of, statements, tile, vectors
from .speed import SHAPE, STEPS, Step, fastest

COMPILE_SECONDS = 30.0
MAX_COPIES = 2_048  # copies of a statement, unrolled and vectorized: more take very long to compile
WIDTHS = (16, 8, 4)  # lanes of a vector: AVX-512, AVX, ARM
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
    start_schedule(shape)  # imports TVM, which takes a while and must not be stopped halfway
    outcome = limited(CASE_SECONDS, scheduled, shape, answer, lanes)
    if outcome.error is None:
        return outcome.value, None
    return None, _unfinished(outcome, shape, lanes)


def _unfinished(outcome: Outcome, shape: Shape, lanes: int) -> Failure:
    """Build the failure of an answer that raised an error, or returned anything but a schedule."""
    case, expected, error = _case(shape, lanes), "a schedule of the product", outcome.error
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
    cause, scheduled_product = error.__cause__, error.scheduled
    hint = refused_hint(cause)
    if not hint and type(cause).__name__ != "ScheduleError":
        return crashed(case, outcome._replace(error=cause), expected)
    return Failure(
        case, expected, f"a step that TVM rejects: {short_message(cause)}", hint, printed=outcome.printed,
        trace=own_lines(cause), picture=_picture(scheduled_product, "The steps before it"),
    )  # fmt: skip


def _picture(scheduled_product: Scheduled, title: str = "Your schedule, step by step") -> Callable[[], Any]:
    def draw() -> Any:
        try:
            return explorer(scheduled_product, title)
        except RelayError:  # it cannot be compiled
            return explorer(serial(scheduled_product), f"{title}, without parallel loops")

    return draw


# -- results


def _wrong(answer: Answer, shape: Shape, lanes: int | None = None) -> Failure | None:
    """Return how the answer's machine code fails to compute the product of two matrices, with vectors of
    this machine or shorter ones.
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
            "An unrolled or vectorized loop is copied once per iteration. Unroll only short "
            "loops: split them first.", picture=_picture(scheduled_product),
        )  # fmt: skip
    outcome = _ran(Loops(scheduled_product), shape)
    if outcome.error is not None:
        return Failure(
            case, "machine code", f"loops that TVM cannot compile: {short_message(outcome.error)}",
            nested(scheduled_product)
            or ("TVM accepted every step, but cannot compile the result. Leave out some of the "
            "steps."),
            picture=_picture(scheduled_product),
        )  # fmt: skip
    return _compared(outcome.value, scheduled_product, shape, case)


@lru_cache(64)
def _ran(loops: Loops, shape: Shape) -> Outcome:
    """Compile and run; cached, because several properties need it."""
    return limited(COMPILE_SECONDS, _computed, loops.scheduled, shape)


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
        f"{empty} of the {computed.size} elements of C are never written."
        if empty
        else "A step may change the order of the work, but not the result. Which of yours changes "
        "a type, or is called unsafe?"
    )
    return Failure(
        case, f"C[{row}, {column}] = {right[row, column]:g}", got, hint,
        picture=_picture(scheduled_product),
    )  # fmt: skip


Query = tuple[Shape, int | None]  # a shape and, if they are not this machine's, the lanes of a vector


def _result(name: str, says: str, cases: Callable[[random.Random, int], Iterable[Query]]) -> Property:
    def test(answer: Answer, rng: random.Random, count: int) -> Failure | None:
        for shape, lanes in cases(rng, count):
            failure = _wrong(answer, shape, lanes)
            if failure is not None:
                return failure
        return None

    return Property(name, says, test)


def _even(rng: random.Random, count: int) -> Iterator[Query]:
    """Yield sizes that common tiles divide."""
    yield (64, 64, 64), None
    yield (128, 256, 32), None
    for _ in range(min(3, count // 30)):
        yield (64 * rng.randint(1, 3), 64 * rng.randint(1, 4), 16 * rng.randint(1, 8)), None


def _any(rng: random.Random, count: int) -> Iterator[Query]:
    """Yield sizes that they do not divide: some handwritten, or others at random. If the columns are not
    divisible, each element of a tile needs a bounds check, and a large tile takes many seconds to
    compile, so vectors are short there.
    """
    if count <= PROGRAMS:
        yield from (((1, 1, 1), None), ((65, 64, 33), None), ((64, 61, 33), SHORT), ((3, 100, 1), None))
    for _ in range(2 if count > PROGRAMS else 0):
        yield (rng.randint(1, 70), rng.randint(1, 140), rng.randint(1, 40)), SHORT


# -- loops


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


# -- speed


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
    """Explain what may make a correct schedule slow."""
    lanes = host().lanes()
    for look in (vectors, tile, initialization):
        finding = look(scheduled_product, lanes, registers(lanes))
        if finding is not None:
            return finding.hint
    if product_of(scheduled_product).scope == "global":
        return (
            'Are the accumulators kept in registers? `cache_write(product, 0, "local")` '
            "gives them a buffer of their own, and `reverse_compute_at` copies a tile to C "
            "when it is complete."
        )
    return (
        "Are the loops of the tile unrolled, and those of the initialization and of the copy vectorized, too?"
    )


EXERCISE = {
    "": Exercise(
        "Scheduling a matrix multiplication",
        "schedule(sch, product, lanes, registers)",
        (
            _result("result", "the product is right for sizes that are multiples of the tile", _even),
            _result("sizes", "it is right for all other sizes, too", _any),
            _loops(
                "vectors",
                "the loop multiplies and adds vectors",
                "a vectorized loop over adjacent columns",
                vectors,
            ),
            _loops(
                "tile",
                "a tile of accumulators fits the registers",
                "a tile of accumulators inside the loop over k",
                tile,
            ),
            _loops(
                "zeros",
                "accumulators are initialized outside the reduction loop",
                "initialization before the loops over k",
                initialization,
            ),
            _loops("cores", "the cores share the outermost loop", "a parallel outermost loop", cores),
            *(_speed(name, f"it is {step}", step) for name, step in STEPS.items()),
        ),
    ),
}
