"""Statistics of the tensors in a program: the range, the mean and a histogram of each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ...ir.ndarray import NDArray
from .format import Values

if TYPE_CHECKING:
    from numpy import ndarray as Array

SAMPLE = 65_536  # elements of a tensor that are examined; of a larger one, elements at equal distances
MOST = 16_000_000  # elements that are examined in one program
BARS = 24  # of a histogram
FEW = 4_096  # elements that are examined without NumPy


def statistics(tensors: Iterable[tuple[int, NDArray]]) -> Iterator[Values]:
    """Iterate over the statistics of the tensors at some nodes, until MOST elements have been examined."""
    examined = 0
    for node, tensor in tensors:
        examined += min(SAMPLE, math.prod(tensor.shape))
        if examined > MOST:
            return
        values = tensor_statistics(node, tensor)
        if values is not None:
            yield values


def tensor_statistics(node: int, tensor: NDArray) -> Values | None:
    """Return the statistics of one tensor; None where it is empty, or large and NumPy is not installed."""
    count = math.prod(tensor.shape)
    if not count:
        return None
    try:
        import numpy  # noqa: F401
    except ImportError:
        return _of_numbers(node, count, tensor.values()) if count <= FEW else None
    return _of_array(node, tensor.shared().reshape(-1))


def _of_array(node: int, array: Array) -> Values:
    import numpy

    count = int(array.size)
    if count > SAMPLE:
        array = array[:: -(-count // SAMPLE)]
    sampled = int(array.size)
    if array.dtype == bool:
        array = array.astype("uint8")
    finite: Array = array
    if array.dtype.kind == "f":
        finite = array[numpy.isfinite(array)]
        if array.dtype.itemsize < 4:
            finite = finite.astype("float32")  # sums of half precision overflow
    zeros = int(sampled - numpy.count_nonzero(array))
    if not finite.size:
        return Values(node, count, sampled, zeros, sampled, "", "", "", ())
    low, high = finite.min().item(), finite.max().item()
    mean = float(finite.mean(dtype="float64"))
    bars: list[int] = []
    if low < high and math.isfinite(float(high) - float(low)):
        wide = finite.astype("float64")
        bars = numpy.histogram(wide, BARS, (float(low), float(high)))[0].tolist()
    return Values(
        node,
        count,
        sampled,
        zeros,
        sampled - int(finite.size),
        _text(low),
        _text(high),
        _text(mean),
        tuple(bars),
    )


def _of_numbers(node: int, count: int, numbers: Sequence[Any]) -> Values:
    finite = [number for number in numbers if math.isfinite(number)]
    zeros = sum(not number for number in numbers)
    if not finite:
        return Values(node, count, count, zeros, count, "", "", "", ())
    low, high = min(finite), max(finite)
    bars = [0] * BARS if low < high and math.isfinite(float(high) - float(low)) else []
    for number in finite if bars else ():
        bars[min(BARS - 1, int((number - low) / (high - low) * BARS))] += 1
    mean = math.fsum(finite) / len(finite)
    odd = count - len(finite)
    return Values(node, count, count, zeros, odd, _text(low), _text(high), _text(mean), tuple(bars))


def _text(number: float) -> str:
    """Return a number with few digits; a whole one in full."""
    if isinstance(number, (bool, int)):
        return str(int(number))
    return f"{number:.4g}"
