"""The checks of the exercise `kl_threshold`: random histograms, and the exact divergence."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Any as Anything

from ...ir.lazy_dataclass import dataclass
from ..answer_values import integer, repr_of
from ..budget import limited
from ..check import CASE_SECONDS, Exercise, Property, Search, crashed
from ..feedback import Failure
from . import candidates, divergence
from .hints import divergence_hint, threshold_hint

TOLERANCE = 1e-6


@dataclass(frozen=True)
class Case:
    """A histogram, the number of bins that are kept (0 where the answer chooses it), and the levels."""

    counts: tuple[int, ...]
    levels: int
    kept: int = 0

    def __str__(self) -> str:
        if self.kept:
            return f"divergence({list(self.counts)}, kept={self.kept}, levels={self.levels})"
        return f"threshold({list(self.counts)}, levels={self.levels})"


def _judge_divergence(answer: Anything, case: Case) -> Failure | None:
    right = divergence(case.counts, case.kept, case.levels)
    wanted = f"{right:.6g}"
    outcome = limited(CASE_SECONDS, answer, list(case.counts), case.kept, case.levels)
    if outcome.error is not None:
        return crashed(str(case), outcome, wanted, hint=_of_error(outcome.error))
    try:
        result = math.nan if isinstance(outcome.value, (str, bytes)) else float(outcome.value)
    except (TypeError, ValueError):
        result = None
    if result is None or isinstance(outcome.value, (str, bytes)):
        says = "Return a number: the divergence, a float."
        return Failure(str(case), wanted, repr_of(outcome.value, 80), says, printed=outcome.printed)
    if result == right or (math.isfinite(right) and abs(result - right) <= TOLERANCE * max(1.0, right)):
        return None
    says = divergence_hint(case.counts, case.kept, case.levels, result)
    return Failure(str(case), wanted, f"{result:.6g}", says, printed=outcome.printed)


def _of_error(error: BaseException) -> str:
    if isinstance(error, (ZeroDivisionError, ValueError)):
        return (
            "A bin may be empty, and so may all bins of a level. `log(0)` and a division by 0 are errors in "
            "Python: leave out bins in which P is 0, and return infinity where P is not 0, but Q is."
        )
    return ""


def _judge_threshold(answer: Anything, case: Case) -> Failure | None:
    losses = candidates(case.counts, case.levels)
    least = min(losses)
    best = losses.index(least) + case.levels
    wanted = f"{best}, with a divergence of {least:.6g}"
    outcome = limited(CASE_SECONDS, answer, list(case.counts), case.levels)
    if outcome.error is not None:
        return crashed(str(case), outcome, wanted, hint=_of_error(outcome.error))
    size = integer(outcome.value)
    if size is None:
        says = "Return the number of bins that are kept, an integer."
        return Failure(str(case), wanted, repr_of(outcome.value, 80), says, printed=outcome.printed)
    if not case.levels <= size <= len(case.counts):
        says = f"At least as many bins are kept as there are levels, {case.levels}, and at most all."
        return Failure(str(case), wanted, str(size), says, printed=outcome.printed)
    own = losses[size - case.levels]
    if own <= least + TOLERANCE:
        first = next(place for place, loss in enumerate(losses) if loss <= least + TOLERANCE) + case.levels
        if size == first:
            return None
        says = (
            "Several thresholds have the least divergence. Return the smallest of them: its steps are finest."
        )
        return Failure(str(case), wanted, str(size), says, printed=outcome.printed)
    got = f"{size}, with a divergence of {own:.6g}"
    return Failure(
        str(case), wanted, got, threshold_hint(case.counts, case.levels, size), printed=outcome.printed
    )


# -- test cases


def _counts(rng: random.Random, bins: int, empty: float = 0.0) -> tuple[int, ...]:
    counts = [0 if rng.random() < empty else rng.choice((1, 2, 3, 5, 9, 20)) for _ in range(bins)]
    counts[0] = counts[0] or 1
    return tuple(counts)


def _drawn(rng: random.Random, count: int, draw: Callable[[random.Random], Case]) -> Iterator[Case]:
    yield from sorted((draw(rng) for _ in range(max(count // 2, 8))), key=lambda case: len(case.counts))


def _merged(rng: random.Random, count: int) -> Iterator[Case]:
    """Nothing is clipped, and the levels divide the bins."""
    yield Case((3, 1), 1, 2)
    yield Case((3, 1, 2, 2), 2, 4)

    def draw(rng: random.Random) -> Case:
        levels, width = rng.choice((1, 2, 4)), rng.choice((1, 2, 3))
        return Case(_counts(rng, levels * width), levels, levels * width)

    yield from _drawn(rng, count, draw)


def _clipped(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((3, 1, 1), 1, 2)
    yield Case((3, 1, 2, 2, 4), 2, 4)

    def draw(rng: random.Random) -> Case:
        levels, width = rng.choice((1, 2, 4)), rng.choice((1, 2, 3))
        return Case(_counts(rng, levels * width + rng.randint(1, 5)), levels, levels * width)

    yield from _drawn(rng, count, draw)


def _empty(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((3, 0, 1, 0), 2, 4)
    yield Case((3, 0, 0, 0, 1), 2, 4)
    yield Case((3, 1, 0, 0), 2, 4)

    def draw(rng: random.Random) -> Case:
        levels, width = rng.choice((1, 2, 4)), rng.choice((1, 2, 3))
        return Case(_counts(rng, levels * width + rng.randint(0, 4), 0.5), levels, levels * width)

    yield from _drawn(rng, count, draw)


def _uneven(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((3, 1, 2), 2, 3)

    def draw(rng: random.Random) -> Case:
        levels = rng.choice((2, 3, 4))
        size = levels + rng.randint(1, 6)
        return Case(_counts(rng, size + rng.randint(0, 3), 0.2), levels, size)

    yield from _drawn(rng, count, draw)


def _chosen(rng: random.Random, count: int) -> Iterator[Case]:
    yield Case((9, 3, 1), 1)
    yield Case((20, 9, 5, 3, 0, 0, 0, 1), 4)
    yield Case((3, 21, 31), 2)  # only clipping nothing is the best

    def draw(rng: random.Random) -> Case:
        levels = rng.choice((1, 2, 4))
        body = [
            int(60 * math.exp(-place / 3)) + rng.randint(0, 3) for place in range(levels + rng.randint(1, 8))
        ]
        tail = [0] * rng.randint(0, 6) + [rng.randint(1, 3)] * rng.randint(0, 2)
        return Case((*body, *tail), levels)

    yield from _drawn(rng, count // 2, draw)


def _smaller(case: Case) -> Iterator[Case]:
    """Yield cases with fewer bins and smaller counts."""
    for place in reversed(range(len(case.counts))):
        counts = (*case.counts[:place], *case.counts[place + 1 :])
        size = min(case.kept, len(counts)) if place >= case.kept else case.kept - 1
        if len(counts) >= case.levels and (not case.kept or size >= case.levels) and any(counts[: size or 1]):
            yield replace(case, counts=counts, kept=size if case.kept else 0)
    for place, value in enumerate(case.counts):
        if value > 1:
            yield replace(case, counts=(*case.counts[:place], value // 2, *case.counts[place + 1 :]))


def _property(
    name: str,
    says: str,
    cases: Callable[[random.Random, int], Iterable[Case]],
    judge: Callable[[Anything, Case], Failure | None],
) -> Property:
    def test(answer: Anything, rng: random.Random, count: int) -> Failure | None:
        return Search(lambda case: judge(answer, case), _smaller)(cases(rng, count))

    return Property(name, says, test)


EXERCISE = {
    "divergence": Exercise(
        "The divergence of a threshold",
        "divergence(counts, kept, levels)",
        (
            _property("merged", "bins are merged into levels", _merged, _judge_divergence),
            _property("clipped", "clipped values count in the last bin", _clipped, _judge_divergence),
            _property("empty", "bins may be empty", _empty, _judge_divergence),
            _property("uneven", "levels may differ by a bin", _uneven, _judge_divergence),
        ),
    ),
    "threshold": Exercise(
        "The best threshold",
        "threshold(counts, levels)",
        (_property("chosen", "the divergence is the least", _chosen, _judge_threshold),),
    ),
}
