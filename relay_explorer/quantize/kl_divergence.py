"""The threshold at which clipping and rounding change a distribution least, by Kullback-Leibler divergence.

After S. Migacz, *8-bit inference with TensorRT* (2017): for each candidate threshold, the histogram of the
clipped values is compared with that of the same values rounded to as many levels as the integers have.
"""

from __future__ import annotations

from ..ops.numeric import Array, np

SMOOTHING = 1e-4  # the count that an empty bin gets, so that logarithms are finite
MAX_EXACT_BINS = 512  # filled bins: with more, each loses less than 0.002 of a count


def divergences(counts: Array, edges: Array, levels: int = 255) -> tuple[Array, Array]:
    """Compute the divergence between clipped and quantized values for each candidate threshold.

    `counts` is a histogram of an odd number of bins around 0, and `edges` its bounds, one more. A candidate
    keeps the bins up to some distance from the middle. The outermost of them also count what is clipped, and
    the bins are merged into `levels`. Empty bins are smoothed: they get a small count, which the others lose.
    Returns the thresholds in ascending order and, for each, the divergence in nats: infinity where it is
    undefined.

    All candidates are computed together from prefix sums, with a row for each. Where many bins are filled,
    smoothing takes little from each, so p · log p is expanded to first order in that.
    """
    counts = np.asarray(counts, "float64")
    middle = len(counts) // 2
    widths = np.arange(levels // 2, middle + 1)
    thresholds = np.asarray(edges, "float64")[middle + widths + 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        losses = _divergences(counts, middle - widths, middle + widths, levels)
    return thresholds, np.where(np.isfinite(losses), losses, np.inf)


def _divergences(counts: Array, first: Array, last: Array, levels: int) -> Array:
    """Compute the divergences of the candidates that keep the bins from `first` to `last`."""
    length = last - first + 1
    total = counts.sum()
    sums = _prefix(counts)
    below, above = sums[first + 1], total - sums[last + 1]  # the lower end is clipped with its own bin
    low, high = below > 0, counts[last] + above > 0
    only_clipped = high & (counts[last] == 0)

    # The levels: what they sum, over how many bins, without the first bin.
    merged = length // levels
    bounds = np.minimum(first[:, None] + merged[:, None] * np.arange(levels + 1), len(counts))
    bounds[:, 0], bounds[:, -1] = first + 1, last + 1
    filled = _between(_prefix(counts > 0), bounds)
    level = np.where(filled > 0, _between(sums, bounds) / np.maximum(filled, 1), 0.0)

    # The clipped counts that belong to each level, and over how many bins they lie.
    part, bins = _between(sums, bounds), filled.copy()
    part[:, 0] += below
    part[:, -1] += above
    bins[:, 0] += low
    bins[:, -1] += only_clipped
    lost_p = _taken(length, bins.sum(axis=1))
    lost_q = _taken(length, np.where(level > 0, bins, 0).sum(axis=1))
    total_q = (level * bins).sum(axis=1)
    smooth = np.where(level > 0, level - lost_q[:, None], SMOOTHING)
    cross = ((part - lost_p[:, None] * bins) * np.log(smooth)).sum(axis=1)

    entropy = _entropy(counts, first, last, lost_p)
    for end, present in ((below, low), (counts[last] + above, high)):
        left = np.where(present, end - lost_p, 1.0)
        entropy += left * np.log(left) * present
    remaining = total - lost_p * bins.sum(axis=1)
    empty = length - bins.sum(axis=1)
    ratio = np.log(total_q / total)
    return (entropy - cross + remaining * ratio + empty * SMOOTHING * ratio) / total


def _entropy(counts: Array, first: Array, last: Array, lost: Array) -> Array:
    """Sum p · log p over the filled bins between `first` and `last`, each of which has lost a little."""
    filled = np.flatnonzero(counts)
    if len(filled) <= MAX_EXACT_BINS:
        inside = (filled > first[:, None]) & (filled < last[:, None])
        left = np.where(inside, counts[filled] - lost[:, None], 1.0)
        return (left * np.log(left)).sum(axis=1)
    logs = np.log(np.maximum(counts, 1))
    inner = np.stack([first + 1, last], axis=1)
    change = lost * _between(_prefix(logs + (counts > 0)), inner)[:, 0]
    return _between(_prefix(counts * logs), inner)[:, 0] - change


def _taken(length: Array, filled: Array) -> Array:
    """Return the count that each filled bin loses to the empty ones; NaN where that is as much as it has."""
    share = SMOOTHING * (length - filled) / filled
    return np.where(share < 1, share, np.nan)


def _prefix(values: Array) -> Array:
    """Return the sums of the first 0, 1, 2 … values."""
    return np.concatenate([[0.0], np.cumsum(values)])


def _between(prefix: Array, bounds: Array) -> Array:
    """Return the sums between neighbouring bounds of each row."""
    return np.diff(prefix[bounds], axis=1)
