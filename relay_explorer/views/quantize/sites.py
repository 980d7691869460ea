"""The quantizers of a program, as the view shows them: the histogram, the range and where it cuts, the
scales.
"""

from __future__ import annotations

from ...ir.expr import Constant
from ...quantize import Quantizer, Statistics, to_integers, to_reals
from ...quantize import Site as QuantizedValue
from ...quantize.quantizer import Parameters
from ..words import counted
from . import sentences as say
from .format import Histogram, Site, Threshold
from .programs import Programs

BINS = 56  # of a histogram that is drawn
MAX_TRIED = 80  # thresholds that are drawn
MAX_SCALES = 4_096
CLIPPED_STEPS = 0.51  # of an error, from which it is no longer that of rounding


def shown_site(site: QuantizedValue, programs: Programs) -> Site:
    """Return what the view shows of a site."""
    how, parameters, seen = site.quantizer, site.parameters, site.statistics
    row = place(site, programs)
    name, role = name_of(site, programs)
    scales = [] if parameters is None else parameters.scale.reshape(-1)[:MAX_SCALES].tolist()
    zeros = [] if parameters is None else parameters.zero_point.reshape(-1)[:MAX_SCALES].tolist()
    low, high = _ends(seen)
    kept_low, kept_high = kept(how, parameters)
    return Site(
        row=row, name=name, role=role, bits=how.bits, signed=how.signed, symmetric=how.symmetric,
        per="channel" if how.axis is not None else "group" if how.group is not None else "tensor",
        rule=say.quoted(site.why), method=parameters.method if parameters is not None else "",
        why=say.quoted(_reason(how, parameters)) if parameters is not None else (),
        low=low, high=high,
        kept_low=kept_low, kept_high=kept_high,
        values=0 if seen is None else int(seen.count), tensors=0 if seen is None else seen.tensors,
        clipped=clipped(seen, how, parameters),
        histogram=_histogram(seen), tried=_tried(parameters),
        scales=tuple(map(_rounded, scales)), zeros=tuple(zeros),
    )  # fmt: skip


def place(site: QuantizedValue, programs: Programs) -> int:
    """Return the row beside which a site is shown: that of its value; of a constant, that of its call."""
    row = -1 if isinstance(site.expr, Constant) else programs.row(site.expr)
    return row if row >= 0 else max(0, programs.row(site.call))


def name_of(site: QuantizedValue, programs: Programs) -> tuple[str, str]:
    """Return what a site is called in sentences, and what it is beside its row."""
    if isinstance(site.expr, Constant):
        name = programs.title(programs.row(site.call)).split(" ")[0]
        return f"{say.OF_WEIGHT}{name}", "weight"
    row = place(site, programs)
    return programs.name(row) or programs.title(row), "value"


def kept(how: Quantizer, parameters: Parameters | None) -> tuple[float, float]:
    """Return the least and the greatest value that the integers represent, of all channels. A symmetric
    threshold may be `steps` from 0, one more than the greatest integer.
    """
    if parameters is None:
        return 0.0, 0.0
    if not how.symmetric:
        return float(parameters.low.min()), float(parameters.high.max())
    scale = float(parameters.scale.max())
    return _rounded(how.lowest * scale), _rounded(how.highest * scale)


def _reason(how: Quantizer, parameters: Parameters) -> str:
    """Return the calibrator's reason, and why a threshold is not the greatest value that is represented."""
    if not parameters.reason or how.steps is None or how.steps == how.highest:
        return parameters.reason
    return f"{parameters.reason}; that is {how.steps} steps from 0, but the greatest integer is {how.highest}"


def _ends(seen: Statistics | None) -> tuple[float, float]:
    if seen is None or not seen.count:
        return 0.0, 0.0
    return float(seen.low.min()), float(seen.high.max())


def _rounded(value: float) -> float:
    """Round to the digits of a float32, so that the JSON is short."""
    return float(f"{value:.6g}")


def clipped(seen: Statistics | None, how: Quantizer, parameters: Parameters | None) -> int:
    """Count the observed values outside the range."""
    if seen is None or parameters is None or not seen.count:
        return 0
    if seen.values is not None:
        step = parameters.scale.max()
        back = to_reals(to_integers(seen.values, how, parameters), how, parameters)
        return int((abs(back - seen.values) > step * CLIPPED_STEPS).sum())
    middles = (seen.edges[:-1] + seen.edges[1:]) / 2
    half = float(parameters.scale.max()) / 2
    low, high = kept(how, parameters)
    outside = (middles < low - half) | (middles > high + half)
    return int(seen.counts[outside].sum())


def _histogram(seen: Statistics | None) -> Histogram | None:
    """Merge the bins of calibration's histogram, from the least value to the greatest, into about BINS."""
    import numpy as np

    if seen is None or not seen.count:
        return None
    filled = np.flatnonzero(seen.counts)
    if not filled.size:
        return None
    first, last = int(filled[0]), int(filled[-1]) + 1
    size = max(1, -(-(last - first) // BINS))
    counts = np.add.reduceat(seen.counts[first:last], np.arange(0, last - first, size))
    width = float(seen.edges[1] - seen.edges[0])
    low = float(seen.edges[first])
    return Histogram(_rounded(low), _rounded(low + width * size * len(counts)), tuple(counts.tolist()))


def _tried(parameters: Parameters | None) -> tuple[Threshold, ...]:
    """Return the thresholds that the method weighed, thinned out to those that are drawn."""
    import numpy as np

    if parameters is None or parameters.curve is None:
        return ()
    thresholds, losses = (np.asarray(part, "float64") for part in parameters.curve)
    finite = np.isfinite(losses)
    thresholds, losses = thresholds[finite], losses[finite]
    if not len(thresholds):
        return ()
    best = int(np.argmin(losses))
    every = -(-len(thresholds) // MAX_TRIED)
    drawn = sorted({*range(0, len(thresholds), every), best, len(thresholds) - 1})
    return tuple(Threshold(_rounded(thresholds[k]), _rounded(losses[k])) for k in drawn)


def noise(seen: Statistics | None, how: Quantizer, parameters: Parameters | None) -> tuple[float, float]:
    """Return the energy that clipping and that rounding lose at a site, in parts of the signal's energy; of a
    constant, the mean of its channels, each in parts of its own.
    """
    import numpy as np

    if seen is None or parameters is None or not seen.count:
        return 0.0, 0.0
    step = float(parameters.scale.max())
    if seen.values is None:
        middles = ((seen.edges[:-1] + seen.edges[1:]) / 2).astype("float64")
        low, high = kept(how, parameters)
        inside = np.clip(middles, low - step / 2, high + step / 2)
        signal = float((np.square(middles) * seen.counts).sum())
        lost = float((np.square(middles - inside) * seen.counts).sum())
        # Within a bin the values vary: rounding loses a twelfth of a squared step, whatever the bin.
        rounded = float(seen.counts[middles == inside].sum()) * step * step / 12
        return (lost / signal, rounded / signal) if signal > 0 else (0.0, 0.0)
    rows = seen.values.reshape(seen.values.shape[0] if seen.values.ndim > 1 else 1, -1).astype("float64")
    error = rows - to_reals(to_integers(seen.values, how, parameters), how, parameters).reshape(rows.shape)
    signals = np.square(rows).sum(axis=1)
    outside = np.abs(error) > step * CLIPPED_STEPS
    parts = [np.square(error * where).sum(axis=1)[signals > 0] for where in (outside, ~outside)]
    clipping, rounding = (float((part / signals[signals > 0]).mean()) if part.size else 0.0 for part in parts)
    return clipping, rounding


def unequal_channels(seen: Statistics | None, how: Quantizer) -> float:
    """Return how much smaller the range of a typical channel is than the one that sets the scale of a
    constant with one scale for all; 1 where that does not apply.
    """
    import numpy as np

    if seen is None or seen.values is None or how.axis is not None or how.group is not None:
        return 1.0
    values = seen.values
    if values.ndim < 2:
        return 1.0
    ranges = np.abs(values.reshape(values.shape[0], -1)).max(axis=1)
    middle = float(np.median(ranges))
    return float(ranges.max()) / middle if middle > 0 else 1.0


def observed_text(site: Site) -> str:
    """Write how many values were seen: `2,048 values in 8 tensors`."""
    return f"{counted(site.values, 'value')} in {counted(site.tensors, 'tensor')}"
