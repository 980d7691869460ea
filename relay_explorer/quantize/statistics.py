"""The statistics of a value that calibration collects: the number of elements, their range and histogram."""

from __future__ import annotations

from collections.abc import Sequence

from ..ir.errors import RelayError
from ..ir.lazy_dataclass import dataclass
from ..ir.show import counted
from ..ops.numeric import Array, np
from .quantizer import Quantizer

BINS = 8001  # of a histogram: an odd number, so that 0 is in the middle of a bin
SMALLEST, LARGEST = 1e-30, 1e37  # magnitudes whose histogram can be computed in float32


@dataclass(frozen=True, eq=False)
class Statistics:
    """The values of one site over all runs of the calibration, or those of a constant.

    `low` and `high` have the shape of the scales: one for each channel or group. `counts` are those of BINS
    bins of equal width from `edges[0]`, minus the greatest magnitude, to `edges[-1]`, that magnitude.
    `magnitudes` are the greatest absolute values, in ascending order: all of them, or as many as fit into
    memory. `values` is the tensor itself where it is a constant, else None.
    """

    tensors: int
    count: int
    low: Array
    high: Array
    counts: Array
    edges: Array
    magnitudes: Array
    values: Array | None = None

    @property
    def largest(self) -> float:
        """The greatest absolute value."""
        return float(max(-float(self.low.min()), float(self.high.max()), 0.0))

    def quantile(self, fraction: float) -> float:
        """Return the absolute value that a fraction of all absolute values do not exceed.

        Raise a RelayError where fewer of the greatest values were kept.
        """
        place = min(int(self.count * fraction), self.count - 1) - (self.count - self.magnitudes.size)
        if place < 0:
            raise RelayError(
                f"calibration keeps only the {self.magnitudes.size:,} greatest of {self.count:,} magnitudes, "
                f"too few for the quantile {fraction:g}",
                help=["calibrate with fewer inputs"],
            )
        return float(self.magnitudes[place])

    def __str__(self) -> str:
        low, high = float(self.low.min()), float(self.high.max())
        return f"{self.count:,} values in {counted(self.tensors, 'tensor')}, from {low:.4g} to {high:.4g}"


def ranges(x: Array, quantizer: Quantizer) -> tuple[Array, Array]:
    """Return the least and the greatest value of each channel or group of a tensor."""
    if quantizer.axis is not None:
        others = tuple([axis for axis in range(x.ndim) if axis != quantizer.axis % x.ndim])
        return x.min(axis=others), x.max(axis=others)
    if quantizer.group is not None:
        starts = np.arange(0, x.shape[-1], quantizer.group)
        return np.minimum.reduceat(x, starts, axis=-1), np.maximum.reduceat(x, starts, axis=-1)
    return x.min(), x.max()


def histogram(arrays: Sequence[Array], largest: float, bins: int = BINS) -> tuple[Array, Array]:
    """Count the values of all arrays in bins from minus `largest` to `largest`; return counts and edges. As
    in NumPy, the bins of nothing but zeros go from -0.5 to 0.5.
    """
    # The widths of the bins, and their sum, are normal numbers of float32 only in between.
    wide = "float32" if SMALLEST <= largest <= LARGEST or largest <= 0 else "float64"
    bound = np.dtype(wide).type(largest if largest > 0 else 0.5)
    counts = np.zeros(bins, "int64")
    edges = np.linspace(-bound, bound, bins + 1, dtype=wide).astype("float32")
    for array in arrays:
        counts += np.histogram(array.astype(wide, copy=False), bins=bins, range=(-bound, bound))[0]
    return counts, edges


def of_values(arrays: Sequence[Array], quantizer: Quantizer) -> Statistics:
    """Compute the statistics of tensors that are all in memory."""
    arrays = [array for array in arrays if array.size]
    if not arrays:
        zero = np.zeros((), "float32")
        return Statistics(0, 0, zero, zero, *histogram([], 0.0), np.zeros(0, "float32"))
    both = [ranges(array, quantizer) for array in arrays]
    low = np.min(np.stack([lowest for lowest, _ in both]), axis=0)
    high = np.max(np.stack([highest for _, highest in both]), axis=0)
    largest = max(-float(low.min()), float(high.max()))
    magnitudes = np.sort(np.concatenate([np.abs(array).reshape(-1) for array in arrays]))
    count = sum(array.size for array in arrays)
    return Statistics(len(arrays), count, low, high, *histogram(arrays, largest), magnitudes)


def check_finite(x: Array, where: str, help: str = "") -> None:
    """Raise a RelayError where an array contains NaN or infinity."""
    bad = ~np.isfinite(x)
    if bad.any():
        value = float(x[bad].reshape(-1)[0])
        raise RelayError(
            f"{where}: {int(bad.sum()):,} of {x.size:,} values are not finite, the first of them {value}",
            help=[
                help
                or "run the program on this input before quantizing it, and look for the operator that fails"
            ],
        )
