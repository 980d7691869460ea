"""Choose a range from the observed values, and compute scale and zero point from it.

Each calibrator is a frozen dataclass whose instances are called with statistics and a quantizer. A function
of the same two arguments, which returns `Parameters`, is a calibrator as well:

    def median(statistics, quantizer):
        bound = statistics.quantile(0.5)
        why = f"half of the magnitudes are at most {bound:.3g}"
        return parameters(quantizer, -bound, bound, "median", why)
"""

from __future__ import annotations

import math

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass
from ..ops.numeric import Array, np
from .kl_divergence import divergences
from .quantizer import Parameters, Quantizer, parameters, to_integers, to_reals
from .statistics import Statistics


@dataclass(frozen=True)
class GlobalScale:
    """Use one threshold for all sites, without looking at any value."""

    threshold: float = 8.0

    needs_data = False

    def __post_init__(self) -> None:
        if not 0 < self.threshold < math.inf:
            raise RelayError(f"a threshold is positive and finite, not {self.threshold:g}")

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        why = f"all activations share the threshold {self.threshold:g}"
        return parameters(quantizer, -self.threshold, self.threshold, "global scale", why)


@dataclass(frozen=True)
class MinMax:
    """Cover every value that was seen: from the least to the greatest, of each channel or group."""

    needs_data = True

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        low, high = statistics.low, statistics.high
        why = "it covers every observed value, to within half a step"
        if low.ndim:
            why = f"{_each(low, quantizer)} covers all its values"
        return parameters(quantizer, low, high, "min and max", why)


@dataclass(frozen=True)
class MaxAbs:
    """Cover the greatest magnitude on both sides of 0, of each channel or group."""

    needs_data = True

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        bound = _magnitude(statistics)
        why = f"the greatest magnitude is {float(bound.max()):.4g}"
        if bound.ndim:
            why = f"{_each(bound, quantizer)} covers its greatest magnitude, at most {float(bound.max()):.4g}"
        return parameters(quantizer, -bound, bound, "max", why)


@dataclass(frozen=True)
class PowerOfTwo:
    """Round the greatest magnitude up to a power of two.

    In a scheme whose `steps` and other thresholds are powers of two as well, requantization is then a shift.
    """

    needs_data = True

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        bound = _magnitude(statistics)
        rounded = np.asarray([2.0 ** math.ceil(math.log2(b)) if b > 0 else 1.0 for b in bound.reshape(-1)])
        rounded = rounded.reshape(bound.shape)
        largest, threshold = float(bound.max()), float(rounded.max())
        why = (
            f"{largest:.4g} is rounded up to {threshold:g}, a power of two, so that requantization is a shift"
        )
        if largest == threshold:
            why = f"the greatest magnitude, {largest:g}, is a power of two already"
        elif largest == 0:
            why = "all values are 0"
        return parameters(quantizer, -rounded, rounded, "power of two", why)


@dataclass(frozen=True)
class Percentile:
    """Clip the few greatest magnitudes: `fraction` of all magnitudes are at most the threshold."""

    fraction: float = 0.99999

    needs_data = True

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise RelayError(f"a fraction of the values is above 0 and at most 1, not {self.fraction:g}")

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        bound = statistics.quantile(self.fraction)
        part, largest = f"{100 * self.fraction:g}%", statistics.largest
        why = f"{part} of the magnitudes are at most {bound:.4g}; the greatest is {largest:.4g}"
        low, high = np.maximum(statistics.low, -bound), np.minimum(statistics.high, bound)
        if quantizer.symmetric:
            low, high = np.full_like(low, -bound), np.full_like(high, bound)
        return parameters(quantizer, low, high, "percentile", why)


@dataclass(frozen=True)
class KLDivergence:
    """Choose the threshold at which clipping and rounding change the distribution least (`kl_divergence`).

    The rounded values have `levels` levels: those of the quantizer, unless another number is given.
    """

    levels: int | None = None

    needs_data = True

    def __post_init__(self) -> None:
        if self.levels is not None and self.levels < 2:
            raise RelayError(f"a distribution is rounded to at least 2 levels, not {self.levels}")

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        levels = self.levels or 2 * quantizer.highest + 1
        if quantizer.axis is not None or quantizer.group is not None or levels > len(statistics.counts):
            raise RelayError(
                "KL divergence works only per tensor and with fewer levels than histogram bins; this "
                f"quantizer is {quantizer}",
                help=["use MaxAbs or MinMax for scales per channel, and for more than 8 bits"],
            )
        thresholds, losses = divergences(statistics.counts, statistics.edges, levels)
        best = int(np.argmin(losses))
        bound = float(thresholds[best])
        why = (
            f"the distribution changes least (KL divergence {float(losses[best]):.3g}) when values are "
            f"clipped at {bound:.3g}"
        )
        low, high = max(float(statistics.low), -bound), min(float(statistics.high), bound)
        if quantizer.symmetric:
            low, high = -bound, bound
        return parameters(
            quantizer, np.asarray(low), np.asarray(high), "KL divergence", why, (thresholds, losses)
        )


@dataclass(frozen=True)
class LeastSquares:
    """Choose the threshold, of each channel or group, at which rounding and clipping have the least mean
    square error.

    `candidates` fractions of the greatest magnitude are tried. With few levels, such as those of ternary
    weights, the best threshold lies far below the greatest magnitude.
    """

    candidates: int = 60

    needs_data = True

    def __post_init__(self) -> None:
        if self.candidates < 1:
            raise RelayError(f"at least one candidate must be tried, not {self.candidates}")

    def __call__(self, statistics: Statistics, quantizer: Quantizer) -> Parameters:
        x, weights = _samples(statistics, quantizer)
        bound = np.asarray(_magnitude(statistics), "float64")
        least, chosen = np.full(bound.shape, np.inf), bound
        if not 1e-15 < float(bound.max(initial=0)) < 1e15:  # squares would leave float32
            x = x.astype("float64")
        fractions = np.arange(1, self.candidates + 1) / self.candidates
        losses = []
        for fraction in fractions:
            trial = parameters(quantizer, -bound * fraction, bound * fraction)
            error = (to_reals(to_integers(x, quantizer, trial), quantizer, trial) - x) ** 2 * weights
            loss = _sums(error, quantizer)
            chosen = np.where(loss < least, bound * fraction, chosen)
            least = np.minimum(least, loss)
            losses.append(float(loss.sum()))
        mean = float(least.sum()) / max(statistics.count, 1)
        threshold = f"at {float(chosen.max()):.4g}"
        if chosen.ndim:
            threshold = f"each {'channel' if quantizer.group is None else 'group'} {threshold} or less"
        why = f"clipping {threshold} gives the smallest mean squared error, {mean:.3g}"
        curve = (fractions * float(bound.max()), np.asarray(losses))
        return parameters(quantizer, -chosen, chosen, "least squares", why, curve)


def _samples(statistics: Statistics, quantizer: Quantizer) -> tuple[Array, Array]:
    """Return values and how often each occurs: those of a constant, or the middles of the bins."""
    if statistics.values is not None:
        return statistics.values, np.ones((), "float64")
    if quantizer.axis is not None or quantizer.group is not None:
        raise RelayError(
            "least squares per channel needs every value, but calibration keeps only histograms of "
            f"activations ({quantizer})",
            help=["use MaxAbs or MinMax for activations with a scale per channel"],
        )
    edges = statistics.edges
    return edges[:-1] / 2 + edges[1:] / 2, statistics.counts


def _sums(error: Array, quantizer: Quantizer) -> Array:
    """Sum errors over the elements that share a scale."""
    if quantizer.axis is not None:
        return error.sum(axis=tuple([a for a in range(error.ndim) if a != quantizer.axis % error.ndim]))
    if quantizer.group is not None:
        return np.add.reduceat(error, np.arange(0, error.shape[-1], quantizer.group), axis=-1)
    return np.asarray(error.sum())


def _magnitude(statistics: Statistics) -> Array:
    return np.maximum(np.abs(statistics.low), np.abs(statistics.high))


def _each(values: Array, quantizer: Quantizer) -> str:
    """Write how many channels or groups have a value of their own: `each of 16 channels`."""
    return f"each of {values.size:,} {'channels' if quantizer.group is None else 'groups'}"
