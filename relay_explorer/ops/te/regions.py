"""Anchors, detections and regions of interest: the operators around a detector's suppression of boxes."""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from typing import Any

from ..nn.layout import layout_map
from ..vision.proposal import first_anchor
from .boxes import best_first, keep, overlap
from .imperative import Buffers, each, int32, local, loops, together, when
from .library import te, tirx
from .lowered import Lowered
from .reduce import greatest
from .tensors import (
    Tensor,
    Value,
    View,
    cast,
    clamp,
    dims,
    dtype_of,
    every,
    guarded,
    laid_out,
    number,
    packed,
    product,
    reduce_axes,
    select,
    shorter,
    some,
    stage,
    unravel,
)

REAL = "float64"


def _real(value: Any) -> Value:
    return number(value, REAL) if isinstance(value, (int, float)) else value.astype(REAL)


def _is(at: Value, place: int) -> Value:
    return tirx.EQ(at, number(place, dtype_of(at)))


def _table(values: list[float], at: Value) -> Value:
    """One of a few numbers that are known."""
    found = _real(values[-1])
    for n, value in reversed(list(enumerate(values[:-1]))):
        found = select(_is(at, n), _real(value), found)
    return found


def multibox_prior(call: Lowered) -> list[Tensor]:
    x, attrs = call.inputs[0], call.attrs
    rows, columns = dims(x)[2:]
    sizes = [*attrs.sizes, *[attrs.sizes[0]] * (len(attrs.ratios) - 1)]
    ratios = [sqrt(ratio) for ratio in [*[1.0] * len(attrs.sizes), *attrs.ratios[1:]]]
    each_cell = len(sizes)

    def centre(at: Value, axis: int, extent: Any) -> Value:
        step = attrs.steps[axis]
        apart = _real(step) if step > 0 else _real(1) / _real(extent)
        return (at.astype(REAL) + _real(attrs.offsets[axis])) * apart

    def value(_: Value, box: Value, k: Value) -> Value:
        cell, which = te.floordiv(box, each_cell), te.floormod(box, each_cell)
        i, j = te.floordiv(cell, columns), te.floormod(cell, columns)
        size, ratio = _table(sizes, which), _table(ratios, which)
        across = _is(te.floormod(k, 2), 0)
        wide = size * _real(rows) / _real(columns) * ratio
        half = select(across, wide, size / ratio) * _real(0.5)
        middle = select(across, centre(j, 1, columns), centre(i, 0, rows))
        corner = select(k < 2, middle - half, middle + half)
        return cast(clamp(corner, _real(0), _real(1)) if attrs.clip else corner, dtype_of(x))

    return [stage((1, rows * columns * each_cell, 4), value, call.name)]


def multibox_transform_loc(call: Lowered) -> list[Tensor]:
    """Detections are moved to the front as they are found; what is beyond them is 0."""
    (probabilities, loc, anchor), attrs = call.inputs, call.attrs
    images, classes, count = dims(probabilities)
    dtype, first = dtype_of(probabilities), 0 if attrs.keep_background else 1

    def coordinate(anchors: Any, moves: Any, n: Value, j: Value, k: int) -> Value:
        axis = k % 2
        low, high = (anchors[0, j, axis + side].astype(REAL) for side in (0, 2))
        move, grow = (
            moves[n, j * 4 + axis + side].astype(REAL) * _real(attrs.variances[axis + side])
            for side in (0, 2)
        )
        middle = move * (high - low) + (high + low) * _real(0.5)
        half = te.exp(grow) * (high - low) * _real(0.5)
        corner = middle - half if k < 2 else middle + half
        return clamp(corner, _real(0), _real(1)) if attrs.clip else corner

    def body(ins: Buffers, outs: Buffers) -> None:
        (score, moves, anchors), (found, counts) = ins, outs
        with each(images) as n:
            counts[n] = number(0, "int32")
            with each(count) as j:
                for k in range(6):
                    found[n, j, k] = number(0, dtype)
            with each(count) as j:
                best, kind = local(1, REAL), local(1, "int32")
                best[0], kind[0] = _real(-1), number(0, "int32")
                with each(classes - first) as c, when(score[n, c + first, j].astype(REAL) > best[0]):
                    best[0], kind[0] = score[n, c + first, j].astype(REAL), int32(c + first)
                with when(best[0] < _real(attrs.threshold)):
                    kind[0] = number(0, "int32")
                with when(some([kind[0] > 0, number(attrs.keep_background, "bool")])):
                    row = [kind[0] - first, best[0]] + [coordinate(anchors, moves, n, j, k) for k in range(4)]
                    for k, part in enumerate(row):
                        found[n, counts[n], k] = part.astype(dtype)
                    counts[n] = counts[n] + 1

    results = [((images, count, 6), dtype), ((images,), "int32")]
    return loops(results, [probabilities, loc, anchor], body, call.name)


# -- regions of an image, at one size


def _region(rois: Any, r: Value, k: int, scale: float) -> Value:
    return rois[r, k].astype(REAL) * _real(scale)


def _image(rois: Any, r: Value, images: Any) -> Value:
    """The number of the image that a region is of, brought into their range."""
    return clamp(rois[r, 0].astype("int32"), 0, images - 1)


def roi_align(call: Lowered) -> list[Tensor]:
    """How many samples a cell has may depend on the region, so they are added up in loops. A region of no
    image is read from the nearest one (the interpreter raises an error).
    """
    (x, rois), attrs = call.inputs, call.attrs
    layout = layout_map(attrs.layout, "NCHW")
    images, channels, high, wide = View(x, layout).shape
    rows, columns = attrs.pooled_size
    shape, dtype = (dims(rois)[0], channels, rows, columns), dtype_of(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, regions), (found,) = ins, outs
        with together(product(shape)) as place:
            r, c, i, j = unravel(place, shape)
            n, total, best = _image(regions, r, images), local(1, REAL), local(1, REAL)
            down, across = local(1, "int32"), local(1, "int32")
            starts, steps = [], []
            for samples, cells, k in ((down, rows, 2), (across, columns, 1)):
                start = _region(regions, r, k, attrs.spatial_scale)
                length = te.max(_region(regions, r, k + 2, attrs.spatial_scale) - start, _real(1))
                fixed = attrs.sample_ratio > 0
                samples[0] = (
                    int32(attrs.sample_ratio) if fixed else te.ceil(length / _real(cells)).astype("int32")
                )
                starts.append(start)
                steps.append(length / _real(cells))
            total[0], best[0] = _real(0), -tirx.infinity(REAL)
            with each(down[0]) as a, each(across[0]) as b:
                half = _real(0.5)
                y = starts[0] + steps[0] * (_real(i * down[0] + a) + half) / _real(down[0])
                z = starts[1] + steps[1] * (_real(j * across[0] + b) + half) / _real(across[0])

                def read(row: Value, column: Value) -> Value:
                    return data[tuple(packed((n, c, row, column), layout))].astype(REAL)

                sample = _sample(read, (y, z), (high, wide))
                total[0] = total[0] + sample
                best[0] = te.max(best[0], sample)
            mean = total[0] / _real(down[0] * across[0])
            found[r, c, i, j] = cast(mean if attrs.mode == "avg" else best[0], dtype)

    made = loops([(shape, dtype)], [x, rois], body, f"{call.name}_cells")[0]
    return [laid_out(shape, layout, lambda *i: made(*i), call.name)]


def _sample(
    read: Callable[[Value, Value], Value], place: tuple[Value, Value], extents: tuple[Any, Any]
) -> Value:
    """The image between its elements. Beyond the edge elements the value stays, and a whole element further
    it is 0.
    """
    inside, near, far, share = [], [], [], []
    for at, extent in zip(place, extents, strict=True):
        inside.append(te.all(at >= _real(-1), at <= _real(extent)))
        brought = clamp(at, _real(0), _real(extent - 1))
        low = te.floor(brought)
        near.append(low.astype("int32"))
        far.append(te.min(near[-1] + 1, extent - 1))
        share.append(brought - low)
    one = _real(1)
    upper = read(near[0], near[1]) * (one - share[1]) + read(near[0], far[1]) * share[1]
    lower = read(far[0], near[1]) * (one - share[1]) + read(far[0], far[1]) * share[1]
    return select(every(inside), upper * (one - share[0]) + lower * share[0], _real(0))


def roi_pool(call: Lowered) -> list[Tensor]:
    """A cell's extent is data: all elements of the image are asked whether they lie in it, in the loop of a
    reduction that is as long as the image.
    """
    (x, rois), attrs = call.inputs, call.attrs
    layout = layout_map(attrs.layout, "NCHW")
    view = View(x, layout)
    images, channels, high, wide = view.shape
    rows, columns = attrs.pooled_size
    dtype = dtype_of(x)

    def ends(r: Value, k: int, cell: Value, cells: int, extent: Any) -> tuple[Value, Value]:
        first, last = (_nearest(_region(_Read(rois), r, side, attrs.spatial_scale)) for side in (k, k + 2))
        step = te.max(last - first + _real(1), _real(1)) / _real(cells)
        low = first + te.floor(_real(cell) * step)
        top = first + te.ceil(_real(cell + 1) * step)
        return clamp(low, _real(0), _real(extent)), clamp(top, _real(0), _real(extent))

    u, v = reduce_axes([high, wide])

    def seen(r: Value, c: Value, i: Value, j: Value) -> Value:
        (top, bottom), (left, right) = ends(r, 2, i, rows, high), ends(r, 1, j, columns, wide)
        within = [_real(u) >= top, _real(u) < bottom, _real(v) >= left, _real(v) < right]
        element = view(_image(_Read(rois), r, images), c, u, v)
        lowest = number(False, "bool") if dtype == "bool" else tirx.min_value(dtype)
        return guarded(every(within), element, lowest)

    def value(r: Value, c: Value, i: Value, j: Value) -> Value:
        (top, bottom), (left, right) = ends(r, 2, i, rows, high), ends(r, 1, j, columns, wide)
        empty = te.any(top >= bottom, left >= right)
        return guarded(empty, number(0, dtype), found(r, c, i, j))

    shape = (dims(rois)[0], channels, rows, columns)
    found = stage(shape, lambda *i: greatest(seen(*i), [u, v]), f"{call.name}_greatest")
    return [laid_out(shape, layout, value, call.name)]


class _Read:
    """A tensor read like a buffer."""

    def __init__(self, x: Tensor) -> None:
        self.x = x

    def __getitem__(self, index: tuple[Value, ...]) -> Value:
        return self.x(*index)


def _nearest(value: Value) -> Value:
    """The nearest whole number; a half goes away from 0."""
    whole = te.floor(te.abs(value) + _real(0.5))
    return select(value > _real(0), whole, -whole)


# -- the regions that a detector's first stage proposes


def proposal(call: Lowered) -> list[Tensor]:
    (scores, _, info), attrs = call.inputs, call.attrs
    images, _, rows, columns = dims(scores)
    count = len(attrs.scales) * len(attrs.ratios)
    total, wanted, dtype = rows * columns * count, attrs.rpn_post_nms_top_n, dtype_of(scores)
    boxes = stage((images, total, 4), _Anchors(call).corner, f"{call.name}_boxes")
    least = attrs.rpn_min_size

    def value(n: Value, box: Value) -> Value:
        cell, which = te.floordiv(box, count), te.floormod(box, count)
        i, j = te.floordiv(cell, columns), te.floormod(cell, columns)
        high, wide, scale = (info(n, k).astype(REAL) for k in range(3))
        stride = _real(attrs.feature_stride)
        outside = [_real(i) >= te.trunc(high / stride), _real(j) >= te.trunc(wide / stride)]
        # a region that was too small was made larger by its least side on both ends together
        small = [boxes(n, box, k + 2) - boxes(n, box, k) + _real(1) for k in range(2)]
        too_small = [side < scale * _real(least) for side in small]
        return select(some([*outside, *too_small]), _real(-1), scores(n, count + which, i, j).astype(REAL))

    values = stage((images, total), value, f"{call.name}_scores")

    def grown(n: Value, box: Value, k: Value) -> Value:
        small = [
            boxes(n, box, axis + 2) - boxes(n, box, axis) + _real(1) < info(n, 2).astype(REAL) * _real(least)
            for axis in range(2)
        ]
        by = info(n, 2).astype(REAL) * _real(least * 0.5)
        return boxes(n, box, k) + select(some(small), select(k < 2, -by, by), _real(0))

    regions = stage((images, total, 4), grown, f"{call.name}_regions")

    def body(ins: Buffers, outs: Buffers) -> None:
        (box_of, value_of), (found, places, spare, kept) = ins, outs
        with each(images) as n:
            best_first(0, int32(total), lambda j: value_of[n, j], places, spare)
            looked_at = shorter(total, attrs.rpn_pre_nms_top_n) if attrs.rpn_pre_nms_top_n > 0 else total

            def box(j: Value) -> Callable[[int], Value]:
                return lambda k: box_of[n, places[0, j], k]

            def too_close(a: Value, b: Value) -> Value:
                return overlap(box(b), box(a), REAL, 1.0) > _real(attrs.threshold)

            stay = keep(int32(looked_at), None, lambda j: number(True, "bool"), too_close, kept)
            with each(wanted) as m:
                for k in range(5):
                    found[n * wanted + m, k] = number(0, dtype)
                with when(stay[0] > 0):
                    place = places[0, kept[te.floormod(int32(m), stay[0])]]
                    found[n * wanted + m, 0] = n.astype(dtype)
                    for k in range(4):
                        found[n * wanted + m, k + 1] = box_of[n, place, k].astype(dtype)

    scratch = [((1, total), "int32"), ((1, total), "int32"), ((total,), "int32")]
    results = [((images * wanted, 5), dtype), *scratch]
    return loops(results, [regions, values], body, call.name, slice(1), call.target)


class _Anchors:
    """The boxes that predictions make of anchors in each cell."""

    def __init__(self, call: Lowered) -> None:
        self.attrs = call.attrs
        scores, self.moves, self.info = call.inputs
        self.rows, self.columns = dims(scores)[2:]
        self.first = [
            first_anchor(ratio, size, call.attrs.feature_stride)
            for ratio in call.attrs.ratios
            for size in call.attrs.scales
        ]

    def corner(self, n: Value, box: Value, k: Value) -> Value:
        count = len(self.first)
        cell, which = te.floordiv(box, count), te.floormod(box, count)
        i, j = te.floordiv(cell, self.columns), te.floormod(cell, self.columns)
        across = _is(te.floormod(k, 2), 0)
        shift = _real(select(across, j, i) * self.attrs.feature_stride)
        axis = te.floormod(k, 2)
        low, high = (self._known(which, axis + side) + shift for side in (0, 2))
        edge = te.max(select(across, self.info(n, 1), self.info(n, 0)).astype(REAL) - _real(1), _real(0))
        return clamp(self._moved(n, which, i, j, k, low, high), _real(0), edge)

    def _known(self, which: Value, k: Value) -> Value:
        values = [value for anchor in self.first for value in anchor]
        return _table(values, which * 4 + k)

    def _moved(self, n: Value, which: Value, i: Value, j: Value, k: Value, low: Value, high: Value) -> Value:
        axis = te.floormod(k, 2)

        def move(number_: Value) -> Value:
            return self.moves(n, which * 4 + number_, i, j).astype(REAL)

        if self.attrs.iou_loss:
            return select(k < 2, low, high) + move(k)
        one, half = _real(1), _real(0.5)
        size = high - low + one
        centre = low + (size - one) * half + move(axis) * size
        reach = (te.exp(move(axis + 2)) * size - one) * half
        return select(k < 2, centre - reach, centre + reach)
