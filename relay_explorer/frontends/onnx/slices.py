"""Convert ONNX's operators that cut, join and pad tensors."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from ...ir import size
from ...ir.expr import Expr, const
from ...ir.size import Size
from ...ir.types import Any, Dim
from ...ops import namespaces as relay
from ..base.errors import ModelFileError
from ..base.source import Node
from .dynamic_axes import counted
from .graph import Graph
from .registry import Inputs, converter
from .tools import (
    as_int64,
    constant_integers,
    extent_of,
    integers,
    normal_axes,
    normal_axis,
    number,
    operand,
    operands,
    optional,
    text,
)

_FAR = 2**63 - 1


@converter("Slice", since=1)
def _slice_by_attributes(g: Graph, node: Node, inputs: Inputs) -> Expr:
    starts, ends = list(g.required(node, "starts")), list(g.required(node, "ends"))
    axes = list(g.attr(node, "axes") or range(len(starts)))
    return _static_slice(g, operand(node, inputs), starts, ends, axes, [1] * len(starts))


@converter("Slice", since=10)
def _slice(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, starts, ends = operands(node, inputs, 3)
    (count,) = g.context.static_shape(starts)
    given_axes, given_steps = optional(inputs, 3), optional(inputs, 4)
    if given_axes is None:
        axes = list(range(count))
    else:
        known = constant_integers(g, given_axes)
        if known is None:
            return _slice_anywhere(g, x, starts, ends, given_axes, given_steps)
        axes = known
    steps = [1] * count if given_steps is None else constant_integers(g, given_steps)
    begin, end = constant_integers(g, starts), constant_integers(g, ends)
    if begin is not None and end is not None and steps is not None:
        return _static_slice(g, x, begin, end, axes, steps)
    whole = _whole_axes(g, x, begin, ends, axes, steps)
    if whole:
        return x
    return _dynamic_slice(g, x, starts, ends, axes, steps, given_steps)


def _whole_axes(
    g: Graph, x: Expr, begin: list[int] | None, ends: Expr, axes: list[int], steps: list[int] | None
) -> bool:
    """Whether a slice takes everything: it ends where a named axis does."""
    known = g.context.known(ends)
    if begin is None or known is None or steps is None or any(begin) or any(step != 1 for step in steps):
        return False
    shape = g.context.shape(x)
    return all(
        shape[normal_axis(axis, len(shape))] == end and not isinstance(end, Any)
        for axis, end in zip(axes, known)
    )


def _static_slice(
    g: Graph, x: Expr, begin: list[int], end: list[int], axes: list[int], steps: list[int]
) -> Expr:
    """Slice with known bounds, which are clamped as ONNX says; an empty slice is one that runs backwards."""
    shape = g.context.shape(x)
    if not len(begin) == len(end) == len(axes) == len(steps):
        raise ModelFileError(
            "the starts, ends, axes and steps of Slice must have the same length, but there are "
            f"{len(begin)}, {len(end)}, {len(axes)} and {len(steps)}"
        )
    axes = [normal_axis(axis, len(shape)) for axis in axes]
    if len(set(axes)) < len(axes):
        raise ModelFileError(f"Slice names an axis twice: {axes}")
    slices: list[tuple[int, int, int, int]] = []
    for axis, first, last, step in zip(axes, begin, end, steps):
        if step == 0:
            raise ModelFileError("the steps of Slice must not be 0")
        dim = shape[axis]
        if isinstance(dim, int):
            first, last, step = _clamped(dim, first, last, step)
            if (first, last, step) == (0, dim, 1):
                continue
        elif first == 0 and step == 1 and last >= 2**31 - 1:
            continue
        elif step < 0 and first < -1:
            bounds = [const(part, "int64") for part in (begin, end)]
            return _dynamic_slice(g, x, bounds[0], bounds[1], axes, steps, None)
        slices.append((axis, first, min(last, _FAR), step))
    if not slices:
        return x
    chosen = [list(part) for part in zip(*slices)]
    return relay.strided_slice(x, chosen[1], chosen[2], chosen[3], axes=chosen[0])


def _clamped(dim: int, first: int, last: int, step: int) -> tuple[int, int, int]:
    """Return bounds within an axis, as Relay's slices want them: where the slice runs backwards to the first
    element, the end is counted from the end.
    """
    if step < 0:
        first = max(first, -dim)  # unlike Python, ONNX begins at an element even where there is none
    first, last, step = slice(first, last, step).indices(dim)
    if (last - first) * (1 if step > 0 else -1) <= 0:
        return 0, 0, 1
    return first, (last if last >= 0 else -dim - 1), step


def _dynamic_slice(
    g: Graph,
    x: Expr,
    starts: Expr,
    ends: Expr,
    axes: list[int],
    steps: list[int] | None,
    given_steps: Expr | None,
) -> Expr:
    """Slice with bounds that the program computes. Relay's operator takes bounds for the leading axes."""
    rank = g.context.rank(x)
    axes = [normal_axis(axis, rank) for axis in axes]
    last = max(axes) + 1
    if axes == list(range(last)):
        begin, end = as_int64(g, starts), as_int64(g, ends)
        step = const(steps, "int64") if steps is not None else as_int64(g, _given(given_steps))
    else:
        begin = _spread(g, starts, axes, [0] * last)
        end = _spread(g, ends, axes, [_FAR] * last)
        if steps is not None:
            all_steps = [1] * last
            for axis, value in zip(axes, steps):
                all_steps[axis] = value
            step = const(all_steps, "int64")
        else:
            step = _spread(g, _given(given_steps), axes, [1] * last)
    if steps is None or min(steps) < 0:
        begin = _begun(x, begin, last)
    return relay.strided_slice(x, begin, end, step)


def _begun(x: Expr, begin: Expr, count: int) -> Expr:
    """Return the first indices, of which none is before the first element. (A slice of ONNX that runs
    backwards begins at the first element there, one of Relay is empty, as in Python.)
    """
    dims = relay.strided_slice(relay.shape_of(x, "int64"), [0], [count], [1])
    return relay.maximum(begin, relay.negative(dims))


def _slice_anywhere(g: Graph, x: Expr, starts: Expr, ends: Expr, axes: Expr, steps: Expr | None) -> Expr:
    """Slice along axes that the program computes."""
    rank = g.context.rank(x)
    places = counted(g, axes, rank)
    begin = _spread_at(places, as_int64(g, starts), [0] * rank)
    end = _spread_at(places, as_int64(g, ends), [_FAR] * rank)
    if steps is None:
        return relay.strided_slice(x, begin, end, const([1] * rank, "int64"))
    step = _spread_at(places, as_int64(g, steps), [1] * rank)
    return relay.strided_slice(x, _begun(x, begin, rank), end, step)


def _spread_at(places: Expr, values: Expr, default: list[int]) -> Expr:
    return relay.scatter_elements(const(default, "int64"), places, values, 0)


def _given(steps: Expr | None) -> Expr:
    assert steps is not None, "steps that are not static are given"
    return steps


def _spread(g: Graph, values: Expr, axes: list[int], default: list[int]) -> Expr:
    """Return the vector `default` with `values` at the positions `axes`."""
    known = constant_integers(g, values)
    if known is None:
        return _spread_at(const(axes, "int64"), as_int64(g, values), default)
    result = list(default)
    for axis, value in zip(axes, known):
        result[axis] = value
    return const(result, "int64")


@converter("Split", since=1)
def _split(g: Graph, node: Node, inputs: Inputs) -> Sequence[Expr]:
    x = operand(node, inputs)
    shape = g.context.shape(x)
    axis = normal_axis(g.attr(node, "axis", 0), len(shape))
    sizes_operand = optional(inputs, 1)
    if sizes_operand is not None:
        sizes = constant_integers(g, sizes_operand)
        if sizes is None:
            return _dynamic_split(g, node, x, sizes_operand, axis)
    else:
        attribute = g.attr(node, "split")
        sizes = list(attribute) if attribute else None
    dim = shape[axis]
    parts = len(node.outputs)
    if sizes is None:
        parts = g.attr(node, "num_outputs", parts)
        if not isinstance(dim, int):
            return _even_split(g, x, axis, dim, parts)
        each = -(-dim // parts)
        sizes = [min(each, max(0, dim - each * part)) for part in range(parts)]
    if any(part < 0 for part in sizes) or (isinstance(dim, int) and sum(sizes) != dim):
        raise ModelFileError(f"the split sizes {sizes} do not match an axis of extent {dim}")
    if len(sizes) == 1:
        return [x]
    if 0 in sizes:
        ends = [sum(sizes[: index + 1]) for index in range(len(sizes))]
        return [
            relay.strided_slice(x, [end - part], [end], [1], axes=[axis]) for end, part in zip(ends, sizes)
        ]
    if len(set(sizes)) == 1 and isinstance(dim, int) and sizes[0] > 0:
        return list(relay.split(x, len(sizes), axis))
    bounds = [sum(sizes[: index + 1]) for index in range(len(sizes) - 1)]
    return list(relay.split(x, bounds, axis))


def _even_split(g: Graph, x: Expr, axis: int, dim: Dim, parts: int) -> Sequence[Expr]:
    """Split an axis of dynamic extent into parts of which only the last may be smaller."""
    if isinstance(dim, Size):
        each = size.quotient(dim, parts)
        if not isinstance(each, Any) and each * parts == dim:
            return list(relay.split(x, parts, axis))
    total = extent_of(g, x, axis)
    count = const(parts, "int64")
    step = relay.floor_divide(relay.add(total, const(parts - 1, "int64")), count)
    bounds = [relay.multiply(step, const([part], "int64")) for part in range(parts + 1)]
    one = const([1], "int64")
    return [_dynamic_slice(g, x, begin, end, [axis], [1], one) for begin, end in pairwise(bounds)]


def _dynamic_split(g: Graph, node: Node, x: Expr, sizes: Expr, axis: int) -> Sequence[Expr]:
    """Split at places that the program computes: each part is a slice."""
    parts: list[Expr] = []
    ends = relay.cumsum(as_int64(g, sizes), 0)
    one = const([1], "int64")
    for index in range(len(node.outputs)):
        end = relay.take(ends, const([index], "int64"), axis=0)
        begin: Expr = relay.take(ends, const([index - 1], "int64"), axis=0) if index else const([0], "int64")
        parts.append(_dynamic_slice(g, x, begin, end, [axis], [1], one))
    return parts


@converter("Concat")
def _concat(g: Graph, node: Node, inputs: Inputs) -> Expr:
    parts = operands(node, inputs, max(len(inputs), 1))
    axis = normal_axis(g.attr(node, "axis", 1), g.context.rank(parts[0]))
    return parts[0] if len(parts) == 1 else relay.concatenate(parts, axis)


@converter("Pad", since=1)
def _pad_by_attributes(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x = operand(node, inputs)
    pads = list(g.attr(node, "pads") or g.attr(node, "paddings") or [])
    return _padded(g, node, x, pads, number(g, g.attr(node, "value", 0.0), x))


@converter("Pad", since=11)
def _pad(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, pads_operand = operands(node, inputs, 2)
    value, axes = optional(inputs, 2), optional(inputs, 3)
    fill = number(g, 0, x) if value is None else value
    if g.context.rank(fill):
        fill = relay.reshape(fill, ())
    rank = g.context.rank(x)
    places = list(range(rank))
    if axes is not None and constant_integers(g, axes) is None:
        spots = counted(g, axes, rank)
        spots = relay.concatenate([spots, relay.add(spots, const(rank, "int64"))], 0)
        return _dynamic_pad(
            g, node, x, _spread_at(spots, as_int64(g, pads_operand), [0] * (2 * rank)), places, fill
        )
    if axes is not None:
        places = [normal_axis(axis, rank) for axis in integers(g, axes, "the axes of Pad")]
        normal_axes(places, rank)
    pads = constant_integers(g, pads_operand)
    if pads is None:
        return _dynamic_pad(g, node, x, as_int64(g, pads_operand), places, fill)
    if len(pads) != 2 * len(places):
        raise ModelFileError(
            f"pads of Pad must have {2 * len(places)} elements for {len(places)} axes, not {len(pads)}"
        )
    full = [0] * (2 * rank)
    for index, axis in enumerate(places):
        full[axis], full[axis + rank] = pads[index], pads[index + len(places)]
    return _padded(g, node, x, full, fill)


def _padded(g: Graph, node: Node, x: Expr, pads: list[int], fill: Expr) -> Expr:
    """Pad by known amounts; a negative one cuts."""
    rank = g.context.rank(x)
    if len(pads) != 2 * rank:
        raise ModelFileError(f"pads of Pad must have {2 * rank} elements for {rank} axes, not {len(pads)}")
    mode = text(g.attr(node, "mode"), "constant")
    cut = [axis for axis in range(rank) if min(pads[axis], pads[axis + rank]) < 0]
    if cut:
        begin = [max(0, -pads[axis]) for axis in cut]
        end = [min(0, pads[axis + rank]) or _FAR for axis in cut]
        x = _static_slice(g, x, begin, end, cut, [1] * len(cut))
    pairs = [(max(0, pads[axis]), max(0, pads[axis + rank])) for axis in range(rank)]
    if not any(map(any, pairs)):
        return x
    if mode == "wrap":
        return _wrapped(g, x, pairs)
    if mode not in ("constant", "reflect", "edge"):
        raise ModelFileError(f"the mode {mode!r} of Pad is not defined by ONNX")
    return relay.nn.pad(x, pairs, fill if mode == "constant" else 0, pad_mode=mode)


def _wrapped(g: Graph, x: Expr, pairs: list[tuple[int, int]]) -> Expr:
    """Pad as if the tensor repeated."""
    import numpy as np

    for axis, (before, after) in enumerate(pairs):
        if before or after:
            dim = g.context.static_shape(x)[axis]
            places = np.arange(-before, dim + after) % dim
            x = relay.take(x, const(places.tolist(), "int64"), axis=axis)
    return x


def _dynamic_pad(g: Graph, node: Node, x: Expr, pads: Expr, places: list[int], fill: Expr) -> Expr:
    mode = text(g.attr(node, "mode"), "constant")
    rank = g.context.rank(x)
    if places != list(range(rank)):
        spots = const([*places, *[axis + rank for axis in places]], "int64")
        pads = relay.scatter_elements(const([0] * (2 * rank), "int64"), spots, pads, 0)
    if mode == "wrap":
        for axis in range(rank):
            before, after = (relay.take(pads, const(place, "int64"), axis=0) for place in (axis, axis + rank))
            zero = const(0, "int64")
            cut_before, cut_after = relay.minimum(before, zero), relay.minimum(after, zero)
            dim = relay.add(extent_of(g, x, axis), relay.add(cut_before, cut_after))
            first = relay.negative(relay.maximum(before, zero))
            last = relay.add(dim, relay.maximum(after, zero))
            indices = relay.arange(first, last, const(1, "int64"), dtype="int64")
            x = relay.take(x, relay.subtract(relay.floor_mod(indices, dim), cut_before), axis=axis)
        return x
    width = relay.transpose(relay.reshape(pads, (2, rank)), [1, 0])
    return relay.nn.pad(x, width, fill, pad_mode=mode)


@converter("CenterCropPad")
def _center_crop_pad(g: Graph, node: Node, inputs: Inputs) -> Expr:
    """Cut or pad each axis around its middle to the wanted extent."""
    x, shape = operands(node, inputs, 2)
    rank = g.context.rank(x)
    axes = [normal_axis(axis, rank) for axis in g.attr(node, "axes") or range(rank)]
    wanted = constant_integers(g, shape)
    if wanted is None or any(not isinstance(dim, int) for dim in g.context.shape(x)):
        return _dynamic_center(g, x, as_int64(g, shape), axes)
    sizes = g.context.static_shape(x)
    pads = [0] * (2 * rank)
    for axis, target in zip(axes, wanted):
        missing = target - sizes[axis]
        if missing >= 0:
            before = missing // 2
        else:
            before = -((-missing) // 2)
        pads[axis], pads[axis + rank] = before, missing - before
    return _padded(g, node, x, pads, number(g, 0, x))


def _dynamic_center(g: Graph, x: Expr, wanted: Expr, axes: list[int]) -> Expr:
    """Cut or pad around the middle to extents that the program computes."""
    rank = g.context.rank(x)
    dims = relay.shape_of(x, "int64")
    target = relay.scatter_elements(dims, const(axes, "int64"), wanted, 0)
    missing = relay.subtract(target, dims)
    before = relay.divide(missing, const(2, "int64"))  # rounded towards zero
    after = relay.subtract(missing, before)
    zero = const(0, "int64")
    begin = relay.maximum(relay.negative(before), zero)
    end = relay.add(dims, relay.minimum(after, zero))
    cut = relay.strided_slice(x, begin, end, const([1] * rank, "int64"))
    width = relay.stack([relay.maximum(before, zero), relay.maximum(after, zero)], 1)
    return relay.nn.pad(cut, width, number(g, 0, x))


@converter("ReverseSequence")
def _reverse_sequence(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, lengths = operands(node, inputs, 2)
    return relay.reverse_sequence(
        x, lengths, seq_axis=g.attr(node, "time_axis", 0), batch_axis=g.attr(node, "batch_axis", 1)
    )
