"""Find the common mistake that explains a wrong divergence or threshold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

from . import candidates

Counts = Sequence[int]
_CLOSE = 1e-6
_INFINITE = (
    "A bin in which P is not 0, but Q is, makes the divergence infinite: `math.inf`. Leaving the bin "
    "out would hide that Q gives probability 0 to a value that occurs."
)
_UNEVEN = (
    "Where the levels do not divide the bins, level i has the bins from i * kept // levels up to "
    "(i + 1) * kept // levels."
)


def divergence_hint(counts: Counts, kept: int, levels: int, result: float) -> str:
    """Return the hint of the first mistake that explains a result; otherwise what to compare."""
    explanations = [says for value, says in _mistakes(counts, kept, levels) if _same(value, result)]
    if math.isfinite(result) and math.isinf(_true(counts, kept, levels)):
        explanations = list(dict.fromkeys([_INFINITE, *explanations]))
    if explanations:
        return " Or: ".join(explanations[:2])
    if math.isnan(result):
        return "The result is not a number. Where P is 0, the term is 0: leave it out."
    if kept % levels:
        return _UNEVEN
    return (
        "Work out P and Q for this histogram by hand. P: the bins that are kept, the last of them with "
        "everything that was clipped. Q: the bins that are kept without it, averaged over the non-empty bins "
        "of each level. Divide both by their sums."
    )


def _true(counts: Counts, kept: int, levels: int) -> float:
    """Return the right divergence."""
    inside = list(counts[:kept])
    return _kl([*inside[:-1], inside[-1] + sum(counts[kept:])], _levels(inside, levels))


def _same(value: float, result: float) -> bool:
    return value == result or (math.isfinite(value) and abs(value - result) <= _CLOSE * max(1.0, abs(value)))


def _levels(inside: Counts, levels: int, filled_only: bool = True, wide_last: bool = False) -> list[float]:
    """Return the counts of the levels, spread over their bins."""
    size = len(inside)
    result = [0.0] * size
    width = size // levels
    for level in range(levels):
        first, last = level * size // levels, (level + 1) * size // levels
        if wide_last:
            first, last = level * width, size if level == levels - 1 else (level + 1) * width
        bins = range(first, last)
        chosen = [b for b in bins if inside[b] or not filled_only]
        for b in chosen:
            result[b] = sum(inside[place] for place in bins) / len(chosen)
    return result


def _kl(p: Sequence[float], q: Sequence[float], normal: bool = True, base: float = math.e) -> float:
    total_p, total_q = (sum(p), sum(q)) if normal else (1.0, 1.0)
    result = 0.0
    for a, b in zip(p, q):
        if a:
            if not b:
                return math.inf
            result += a / total_p * math.log(a / total_p / (b / total_q), base)
    return result


def _mistakes(counts: Counts, kept: int, levels: int) -> Iterator[tuple[float, str]]:
    """Yield the results of common mistakes, the most likely first."""
    inside = list(counts[:kept])
    clipped = [*inside[:-1], inside[-1] + sum(counts[kept:])]
    q = _levels(inside, levels)
    yield (
        _kl(inside, q),
        "What lies beyond the threshold is missing from P: clipping moves it into the last bin that is kept.",
    )
    yield (
        _kl(clipped, _levels(clipped, levels)),
        "Only P contains the clipped values. Q does not, because otherwise the divergence would hide what "
        "clipping costs. Merge the bins as they were before clipping.",
    )
    yield (
        _kl(clipped, _levels(inside, levels, filled_only=False)),
        "The count of a level is distributed over its *non-empty* bins: where nothing occurred, Q is 0, too.",
    )
    yield (
        _kl(clipped, q, normal=False),
        "P and Q are distributions: divide each by its own sum before you compare them.",
    )
    yield _kl(q, clipped), "P and Q are swapped: the divergence is the sum of p · log(p / q)."
    for base in (2.0, 10.0):
        yield _kl(clipped, q, base=base), "The logarithm is the natural one: `math.log`."
    yield (
        -_kl(clipped, q),
        "The sign is wrong: the terms are p · log(p / q), and their sum is never negative.",
    )
    yield (
        _kl(clipped, _levels(inside, levels, wide_last=True)),
        _UNEVEN,
    )
    if kept < len(counts):
        yield (
            _kl([inside[0] + sum(counts[kept:]), *inside[1:]], q),
            "Clipping moves what lies beyond the threshold into the *last* bin that is kept, not the first.",
        )
        longer = list(counts[: kept + 1])
        yield (
            _kl([*longer[:-1], longer[-1] + sum(counts[kept + 1 :])], _levels(longer, levels)),
            "One bin too many is kept: the kept bins are `counts[:kept]`, the clipped ones `counts[kept:]`.",
        )
        yield (
            _kl(
                [count / sum(counts) for count in clipped], [value / sum(counts) for value in q], normal=False
            ),
            "Q lacks the clipped values, so its sum is smaller than that of P: divide each by its own sum.",
        )
    finite = sum(
        a / sum(clipped) * math.log(a / sum(clipped) / (b / sum(q))) for a, b in zip(clipped, q) if a and b
    )
    yield finite, _INFINITE


def threshold_hint(counts: Counts, levels: int, kept: int) -> str:
    """Explain a likely cause of a wrong threshold."""
    losses = candidates(counts, levels)
    if kept == losses.index(min(losses)):
        return (
            "You returned an index into the candidates. The first of them keeps `levels` bins: add `levels`."
        )
    if kept == len(counts) and losses[-1] > min(losses):
        return "Clipping nothing is one of the candidates, but not the best one here."
    if losses.index(min(losses)) == len(losses) - 1:
        return "Keeping the whole histogram is a candidate, too, and it is the best one here."
    if kept == levels:
        return "The first candidate is not the best one here: compare all, up to the whole histogram."
    finite = [loss for loss in losses if math.isfinite(loss)]
    if finite and losses[kept - levels] == max(finite):
        return "This threshold has the *greatest* divergence. Look for the least."
    return (
        "Compare the divergences of all candidates, from as many bins as there are levels to the whole "
        "histogram, including both."
    )
