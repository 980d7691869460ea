"""The exercise `kl_threshold`: the threshold at which quantization changes a histogram least."""

from __future__ import annotations

import math
from collections.abc import Sequence

from ..answer_values import withheld


@withheld
def divergence(counts: Sequence[int], kept: int, levels: int) -> float:
    """Compute the Kullback-Leibler divergence from a histogram clipped to `kept` bins to the same bins
    quantized to `levels` levels, in nats; infinity where a value that occurs has become impossible.
    """
    inside = list(counts[:kept])
    clipped = [*inside[:-1], inside[-1] + sum(counts[kept:])]
    quantized = [0.0] * kept
    for level in range(levels):
        bins = range(level * kept // levels, (level + 1) * kept // levels)
        filled = [place for place in bins if inside[place]]
        for place in filled:
            quantized[place] = sum(inside[b] for b in bins) / len(filled)
    total_p, total_q = sum(clipped), sum(quantized)
    result = 0.0
    for p, q in zip(clipped, quantized):
        if p:
            if not q:
                return math.inf
            result += p / total_p * math.log(p / total_p / (q / total_q))
    return result


@withheld
def candidates(counts: Sequence[int], levels: int) -> list[float]:
    """Return the divergence of each number of kept bins, from `levels` to all."""
    return [divergence(counts, size, levels) for size in range(levels, len(counts) + 1)]


def histogram(count: int = 64, outliers: int = 2, seed: int = 0) -> list[int]:
    """Return a histogram of magnitudes such as a layer's: most are small, and a few far out."""
    import numpy as np

    rng = np.random.default_rng(seed)
    magnitudes = np.abs(
        np.concatenate([rng.normal(0, count / 6, 4000), rng.uniform(count * 0.8, count, outliers)])
    )
    result: list[int] = np.histogram(magnitudes, bins=count, range=(0, count))[0].tolist()
    return result
