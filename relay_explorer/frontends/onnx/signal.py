"""Convert ONNX operators of signal processing."""

from __future__ import annotations

from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import integers, normal_axis, operands, optional
from .types import dtype_of

_LARGEST = 1 << 26  # elements of tables that are computed when a model is imported


@converter("DFT", since=17)
def _dft_17(g: Graph, node: Node, inputs: Inputs) -> Expr:
    (x,) = operands(node, inputs, 1)
    return _dft(g, node, x, g.attr(node, "axis", 1), optional(inputs, 1))


@converter("DFT", since=20)
def _dft_20(g: Graph, node: Node, inputs: Inputs) -> Expr:
    (x,) = operands(node, inputs, 1)
    axis = optional(inputs, 2)
    return _dft(
        g, node, x, -2 if axis is None else integers(g, axis, "the axis of DFT")[0], optional(inputs, 1)
    )


def _dft(g: Graph, node: Node, x: Expr, axis: int, length: Expr | None) -> Expr:
    rank = g.context.rank(x)
    axis = normal_axis(axis, rank)
    if axis == rank - 1:
        raise RelayError(
            f"DFT cannot transform axis {axis}, the last one, which holds the real and the imaginary parts"
        )
    inverse, half = bool(g.attr(node, "inverse", 0)), bool(g.attr(node, "onesided", 0))
    shape = g.context.shape(x)
    if inverse and half:
        return _real_inverse(g, x, axis, length)
    if length is not None:
        (count,) = integers(g, length, "dft_length")
        x = _with_extent(x, shape, axis, count)
    else:
        count = _extent(shape, axis)
    bins = count // 2 + 1 if half else count
    real, imaginary = _parts(x, shape[-1], rank)
    order = [*[a for a in range(rank - 1) if a != axis], axis]
    back = [order.index(a) for a in range(rank - 1)]
    moves = order != list(range(rank - 1))
    results = []
    if moves:
        real, imaginary = relay.transpose(real, order), relay.transpose(imaginary, order)
    for part in relay.dft(real, imaginary, inverse):
        if bins < count:
            part = relay.strided_slice(part, [0], [bins], axes=[rank - 2])
        results.append(relay.transpose(part, back) if moves else part)
    return relay.stack(results, rank - 1)


def _real_inverse(g: Graph, x: Expr, axis: int, length: Expr | None) -> Expr:
    """Return the real signal of which the lower half of the frequencies is given: the upper half is its
    conjugate, mirrored.
    """
    shape, rank = g.context.shape(x), g.context.rank(x)
    count = 2 * (_extent(shape, axis) - 1) if length is None else integers(g, length, "dft_length")[0]
    lower = _with_extent(x, shape, axis, count // 2 + 1)
    real, imaginary = _parts(lower, shape[-1], rank)
    order = [*[a for a in range(rank - 1) if a != axis], axis]
    mirrored = []
    for part, sign in ((real, 1.0), (imaginary, -1.0)):
        part = relay.transpose(part, order)
        upper: Expr = relay.strided_slice(part, [1], [count - count // 2], axes=[rank - 2])
        upper = relay.multiply(relay.reverse(upper, rank - 2), const(sign, g.context.dtype(x)))
        mirrored.append(relay.concatenate([part, upper], rank - 2))
    signal = relay.dft(mirrored[0], mirrored[1], True)[0]
    return relay.expand_dims(relay.transpose(signal, [order.index(a) for a in range(rank - 1)]), rank - 1)


def _parts(x: Expr, last: object, rank: int) -> tuple[Expr, Expr]:
    """Return the real and the imaginary parts of numbers whose parts are on the last axis."""
    if last == 1:
        real = relay.squeeze(x, [rank - 1])
        return real, relay.zeros_like(real)
    if last != 2:
        raise RelayError(
            f"the last axis must have 1 element, for real numbers, or 2, for complex ones, not {last}"
        )
    parts = relay.split(x, 2, axis=rank - 1)
    return relay.squeeze(parts[0], [rank - 1]), relay.squeeze(parts[1], [rank - 1])


def _extent(shape: Anything, axis: int) -> int:
    extent = shape[axis]
    if not isinstance(extent, int):
        raise DynamicShapeError(
            f"DFT requires that the extent of the axis that it transforms, {axis}, is known at compile time"
        )
    return extent


def _with_extent(x: Expr, shape: Anything, axis: int, count: int) -> Expr:
    """Return `x` cut, or padded with zeros, to an extent of `count` along an axis."""
    extent = _extent(shape, axis)
    if count < 1:
        raise RelayError(f"dft_length must be positive, not {count}")
    if count < extent:
        return relay.strided_slice(x, [0], [count], axes=[axis])
    if count == extent:
        return x
    return relay.nn.pad(x, [(0, count - extent if a == axis else 0) for a in range(len(shape))])


@converter("STFT", since=17)
def _stft(g: Graph, node: Node, inputs: Inputs) -> Expr:
    import numpy as np

    signal, step = operands(node, inputs, 2)
    window, length = optional(inputs, 2), optional(inputs, 3)
    (hop,) = integers(g, step, "frame_step")
    shape = g.context.shape(signal)
    samples = shape[1]
    if length is not None:
        (size,) = integers(g, length, "frame_length")
    elif window is not None:
        (size,) = g.context.static_shape(window)
    else:
        raise RelayError("STFT requires the input window or frame_length")
    if not isinstance(samples, int):
        raise DynamicShapeError("STFT requires that the length of the signal is known at compile time")
    if hop < 1 or not 0 < size <= samples:
        raise RelayError(
            f"STFT requires a positive frame_step, not {hop}, and a frame_length from 1 to the length of the "
            f"signal, {samples}, not {size}"
        )
    if samples // hop * size > _LARGEST:
        raise RelayError(
            f"the {samples // hop:,} frames of {size:,} samples of STFT exceed the limit of {_LARGEST:,} "
            "elements"
        )
    frames = (samples - size) // hop + 1
    places = np.arange(frames)[:, None] * hop + np.arange(size)[None, :]
    if len(shape) == 3:
        real, imaginary = _parts(signal, shape[2], 3)
    else:
        real, imaginary = signal, relay.zeros_like(signal)
    index = Constant(NDArray.sharing(places.astype("int64")))
    parts: list[Expr] = [relay.take(part, index, axis=1) for part in (real, imaginary)]
    if window is not None:
        parts = [relay.multiply(part, window) for part in parts]
    results = list(relay.dft(parts[0], parts[1]))
    if g.attr(node, "onesided", 1):
        results = [relay.strided_slice(part, [0], [size // 2 + 1], axes=[2]) for part in results]
    return relay.stack(results, 3)


@converter("MelWeightMatrix", since=17)
def _mel_weight_matrix(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Compute triangular filters whose centres are equally far apart on the mel scale."""
    import numpy as np

    values = []
    for name, value in zip(
        ("num_mel_bins", "dft_length", "sample_rate", "lower_edge_hertz", "upper_edge_hertz"),
        operands(node, inputs, 5),
    ):
        known = g.context.constant(value)
        if known is None:
            raise DynamicShapeError(
                f"{name} of MelWeightMatrix must be known at compile time, but the model computes it"
            )
        values.append(float(known.item()))
    bins, length, rate = int(values[0]), int(values[1]), values[2]
    if bins < 1 or length < 1 or bins * length > _LARGEST:
        raise RelayError(
            f"MelWeightMatrix requires positive num_mel_bins and dft_length whose product is at most "
            f"{_LARGEST:,}, not {bins} and {length}"
        )
    low, high = [2595 * np.log10(1 + edge / 700) for edge in values[3:]]
    edges = low + np.arange(bins + 2) * ((high - low) / (bins + 2))
    hertz = 700 * (10 ** (edges / 2595) - 1)
    spectrum = length // 2 + 1
    points = (((length + 1) * hertz) // rate).astype("int64")
    matrix = np.zeros((spectrum, bins))
    for column in range(bins):
        first, centre, last = points[column : column + 3]
        if first == centre:
            if 0 <= centre < spectrum:
                matrix[centre, column] = 1
        else:
            rising = np.arange(first, min(centre + 1, spectrum))
            matrix[rising, column] = (rising - first) / (centre - first)
        if last > centre:
            falling = np.arange(centre, min(last, spectrum))
            matrix[falling, column] = (last - falling) / (last - centre)
    dtype = dtype_of(g.attr(node, "output_datatype", 1))
    return const(matrix.astype(dtype), dtype)
