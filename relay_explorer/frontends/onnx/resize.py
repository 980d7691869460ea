"""Convert ONNX's Resize and Upsample.

Images of which only the spatial axes are resized become one `image.resize`. Everything else is resized axis
by axis, with indices and weights that are computed when the model is imported.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import floor
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Constant, Expr, const
from ...ir.ndarray import NDArray
from ...ir.types import Any
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .resampling import Resampling
from .resize_at_run_time import REAL, AxisAtRunTime, outside, resized_axis
from .tools import as_int64, extent_of, is_float, normal_axes, operands, optional, shape_vector, text

_BY_OPERATOR = ("half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn")
_POLICIES = {"not_larger": relay.minimum, "not_smaller": relay.maximum}
_LARGEST = 1 << 24  # elements of a resized axis
_FEW_TAPS = 4  # up to which elements are gathered; more become a matrix product


@converter("Upsample", since=7)
def _upsample_7(g: Graph, node: Node, inputs: Inputs) -> Expr:
    (x,) = operands(node, inputs, 1)
    method = _mode(text(g.attr(node, "mode"), "nearest"))
    how = Resampling(method, "asymmetric", "floor")
    return _Resize(g, x, how, list(range(g.context.rank(x)))).by_scales(list(g.required(node, "scales")))


@converter("Upsample", since=9)
@converter("Resize", since=10)
def _resize_10(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, scales = operands(node, inputs, 2)
    how = Resampling(_mode(text(g.attr(node, "mode"), "nearest")), "asymmetric", "floor")
    return _Resize(g, x, how, list(range(g.context.rank(x)))).by_operand(scales)


@converter("Resize", since=11)
def _resize(g: Graph, node: Node, inputs: Inputs) -> Expr:
    (x,) = operands(node, inputs, 1)
    how = Resampling(
        _mode(text(g.attr(node, "mode"), "nearest")),
        text(g.attr(node, "coordinate_transformation_mode"), "half_pixel"),
        text(g.attr(node, "nearest_mode"), "round_prefer_floor"),
        g.attr(node, "cubic_coeff_a", -0.75),
        bool(g.attr(node, "exclude_outside", 0)),
        bool(g.attr(node, "antialias", 0)),
    )
    rank = g.context.rank(x)
    listed = g.attr(node, "axes")
    axes = [axis % rank for axis in listed] if listed else list(range(rank))
    normal_axes(axes, rank)
    resize = _Resize(g, x, how, axes)
    resize.outside = g.attr(node, "extrapolation_value", 0.0)
    roi, scales, sizes = optional(inputs, 1), optional(inputs, 2), optional(inputs, 3)
    if how.coordinates == "tf_crop_and_resize":
        if roi is None:
            raise RelayError("Resize with tf_crop_and_resize requires the input roi")
        corners = _floats(g, roi)
        if corners is None:
            resize.roi_at_run_time = relay.cast(roi, REAL)
        else:
            resize.roi = list(zip(corners[: len(axes)], corners[len(axes) :]))
    if sizes is not None and g.context.shape(sizes) != (0,):
        return resize.by_sizes(sizes, text(g.attr(node, "keep_aspect_ratio_policy"), "stretch"))
    if scales is None or g.context.shape(scales) == (0,):
        raise RelayError("Resize requires the input scales or sizes")
    return resize.by_operand(scales)


def _mode(mode: str) -> str:
    if mode in ("linear", "bilinear", "trilinear"):
        return "linear"
    if mode not in ("nearest", "cubic"):
        raise RelayError(f"the mode {mode!r} of Resize is not defined by ONNX")
    return mode


def _floats(g: Graph, expr: Expr) -> list[float] | None:
    value = g.context.constant(expr)
    return None if value is None else [float(element) for element in value.reshape(-1)]


class _Resize:
    """One resize: the data, how, and the axes with their regions of interest."""

    def __init__(self, g: Graph, x: Expr, how: Resampling, axes: Sequence[int]) -> None:
        self.g = g
        self.x = x
        self.how = how
        self.axes = list(axes)
        self.roi = [(0.0, 1.0)] * len(axes)
        self.outside = 0.0
        self.roi_at_run_time: Expr | None = None
        self.shape = g.context.shape(x)

    def by_operand(self, scales: Expr) -> Expr:
        """Resize by scales that are an operand of the node."""
        known = _floats(self.g, scales)
        if known is not None:
            return self.by_scales(known)
        vector = relay.cast(scales, REAL)
        factors = [relay.take(vector, const(index, "int64"), axis=0) for index in range(len(self.axes))]
        return self._axes_at_run_time(
            [(index, self._scaled(index, factor), factor) for index, factor in enumerate(factors)]
        )

    def _scaled(self, index: int, factor: Expr) -> Expr:
        extent = relay.cast(extent_of(self.g, self.x, self.axes[index]), REAL)
        return relay.cast(relay.floor(relay.multiply(extent, factor)), "int64")

    def by_scales(self, scales: Sequence[float]) -> Expr:
        """Resize each axis to its extent times a scale, rounded down."""
        if len(scales) != len(self.axes):
            raise RelayError(f"Resize has {len(scales)} scales for {len(self.axes)} axes")
        if any(not 0 < scale < 1e6 for scale in scales):
            raise RelayError(f"the scales of Resize must be positive and below 1,000,000, not {list(scales)}")
        dynamic = [
            i for i, a in enumerate(self.axes) if not isinstance(self.shape[a], int) and scales[i] != 1.0
        ]
        if not dynamic and self.roi_at_run_time is None:
            counts = [
                None
                if scale == 1.0 and self.how.coordinates != "tf_crop_and_resize"
                else self._count(axis, scale)
                for axis, scale in zip(self.axes, scales)
            ]
            return self._static(counts, scales)
        if dynamic and all(scales[i] == int(scales[i]) and self.how.repeats(int(scales[i])) for i in dynamic):
            result = self.x
            for i in dynamic:
                result = relay.repeat(result, int(scales[i]), self.axes[i])
            rest = _Resize(self.g, result, self.how, [a for i, a in enumerate(self.axes) if i not in dynamic])
            return rest.by_scales([s for i, s in enumerate(scales) if i not in dynamic])
        cropping = self.roi_at_run_time is not None
        changed = [i for i, scale in enumerate(scales) if scale != 1.0 or cropping]
        extents = {i: self._scaled(i, const(scales[i], REAL)) for i in changed}
        if all(scales[i] == int(scales[i]) for i in changed):  # else the operator would derive another scale
            image = self._image_at_run_time({self.axes[i]: count for i, count in extents.items()})
            if image is not None:
                return image
        return self._axes_at_run_time([(i, extents[i], const(scales[i], REAL)) for i in changed])

    def by_sizes(self, sizes: Expr, policy: str) -> Expr:
        """Resize each axis to a given extent, or, with a policy, to one that keeps the aspect ratio."""
        known = self.g.context.known(sizes)
        if known is None:
            value = self.g.context.constant(sizes)
            known = None if value is None else tuple([int(v) for v in value.reshape(-1)])
        if known is not None and len(known) != len(self.axes):
            raise RelayError(f"Resize has {len(known)} sizes for {len(self.axes)} axes")
        known = known or (Any(),) * len(self.axes)
        changed = [
            i for i, a in enumerate(self.axes) if isinstance(known[i], Any) or known[i] != self.shape[a]
        ]
        static = all(isinstance(known[i], int) and isinstance(self.shape[self.axes[i]], int) for i in changed)
        if policy not in ("stretch", *_POLICIES):
            raise RelayError(f"keep_aspect_ratio_policy is {policy!r}, which ONNX does not define")
        if static and self.roi_at_run_time is None:
            if policy != "stretch":
                return self._with_aspect(known, policy)
            counts = [known[i] if i in changed else None for i in range(len(self.axes))]
            extents = [self.shape[axis] for axis in self.axes]
            ratios = [1.0 if c is None else c / e for c, e in zip(counts, extents)]  # type: ignore[operator]  # ints
            if self.how.coordinates == "tf_crop_and_resize":
                counts = [int(e) if c is None else c for c, e in zip(counts, extents)]  # type: ignore[arg-type]  # ints
            return self._static(counts, ratios)  # type: ignore[arg-type]  # ints
        vector = as_int64(self.g, sizes)
        new_counts: dict[int, Expr] = {}
        for i in changed if policy == "stretch" else range(len(self.axes)):
            count = known[i]
            new_counts[i] = const(count, "int64") if isinstance(count, int) else _element(vector, i)
        if policy == "stretch":
            image = self._image_at_run_time({self.axes[i]: count for i, count in new_counts.items()})
            if image is not None:
                return image
        old_extents = {i: relay.cast(extent_of(self.g, self.x, self.axes[i]), REAL) for i in new_counts}
        new_ratios: dict[int, Expr] = {
            i: relay.divide(relay.cast(count, REAL), old_extents[i]) for i, count in new_counts.items()
        }
        if policy != "stretch":
            scale = new_ratios[0]
            for ratio in list(new_ratios.values())[1:]:
                scale = _POLICIES[policy](scale, ratio)
            for i, extent in old_extents.items():
                rounded = relay.floor(relay.add(relay.multiply(extent, scale), const(0.5, REAL)))
                new_counts[i], new_ratios[i] = relay.cast(rounded, "int64"), scale
        return self._axes_at_run_time([(i, new_counts[i], new_ratios[i]) for i in new_counts])

    def _with_aspect(self, known: Sequence[Anything], policy: str) -> Expr:
        """Resize all axes by one scale, the smallest or the largest that a size asks for."""
        extents: list[Anything] = [self.shape[axis] for axis in self.axes]
        ratios = [size / extent for size, extent in zip(known, extents)]
        scale = min(ratios) if policy == "not_larger" else max(ratios)
        counts = [floor(extent * scale + 0.5) for extent in extents]
        return self._static(counts, [scale] * len(counts))

    def _count(self, axis: int, scale: float) -> int:
        extent = self.shape[axis]
        assert isinstance(extent, int)
        return floor(extent * scale)

    # -- extents that are known

    def _static(self, counts: Sequence[int | None], scales: Sequence[float]) -> Expr:
        """Resize axes to `counts` elements; None leaves an axis as it is."""
        if any(count is not None and not 0 < count <= _LARGEST for count in counts):
            extents = [count for count in counts if count is not None]
            raise RelayError(f"the resized extents must be from 1 to {_LARGEST:,}, not {extents}")
        image = self._image(counts, scales)
        if image is not None:
            return image
        dtype = self.g.context.dtype(self.x)
        nearest = self.how.mode == "nearest"
        result = self.x if nearest or is_float(dtype) else relay.cast(self.x, "float32")
        for axis, count, scale, roi in zip(self.axes, counts, scales, self.roi):
            if count is not None:
                result = self._axis(result, axis, count, scale, roi)
        if self.how.coordinates == "tf_crop_and_resize":
            result = self._beyond(result, counts, scales)
        return result if self.g.context.dtype(result) == dtype else relay.cast(result, dtype)

    def _image(self, counts: Sequence[int | None], scales: Sequence[float]) -> Expr | None:
        """Return a resize of images by one operator, or None where it is another resize."""
        how, rank = self.how, len(self.shape)
        resized = {axis: count for axis, count in zip(self.axes, counts) if count is not None}
        if not 3 <= rank <= 5 or not resized or min(resized) < 2 or how.antialias:
            return None
        if how.coordinates not in _BY_OPERATOR:
            return None
        extents = self.shape[2:]
        if not all(isinstance(extent, int) for extent in extents) or not is_float(
            self.g.context.dtype(self.x)
        ):
            return None
        by_axis = dict(zip(self.axes, scales))
        if any(count != by_axis[axis] * self.shape[axis] for axis, count in resized.items()):
            return None  # the operator derives the scale from the extents
        if how.exclude_outside and how.mode != "cubic":
            return None
        size = [resized.get(axis, self.shape[axis]) for axis in range(2, rank)]
        build: Anything = (relay.image.resize1d, relay.image.resize2d, relay.image.resize3d)[rank - 3]
        return build(  # type: ignore[no-any-return]  # a call
            self.x,
            size,
            layout=("NCW", "NCHW", "NCDHW")[rank - 3],
            method="nearest_neighbor" if how.mode == "nearest" else how.mode,
            coordinate_transformation_mode=how.coordinates,
            rounding_method=how.nearest if how.mode == "nearest" else "",
            cubic_alpha=how.cubic,
            cubic_exclude=int(how.exclude_outside),
        )

    def _axis(self, x: Expr, axis: int, count: int, scale: float, roi: tuple[float, float]) -> Expr:
        """Resize one axis."""
        import numpy as np

        extent = self.shape[axis]
        assert isinstance(extent, int)
        if self.how.mode == "nearest":
            return relay.take(x, _constant(self.how.indices(extent, count, scale, roi)), axis=axis)
        dtype = self.g.context.dtype(x)
        places, weights = self.how.taps(extent, count, scale, roi)
        if places.shape[1] > _FEW_TAPS and count * extent > 1 << 26:
            raise RelayError(
                f"Resize with antialias=1 of an axis of {extent} elements to {count} cannot be imported: the "
                "matrix of weights would be too large"
            )
        if places.shape[1] > _FEW_TAPS:
            matrix = np.zeros((count, extent))
            np.add.at(matrix, (np.arange(count)[:, None], places), weights)
            return self._product(x, axis, matrix.astype(dtype))
        total: Expr | None = None
        for tap in range(places.shape[1]):
            if not weights[:, tap].any():
                continue
            share = weights[:, tap].astype(dtype).reshape((-1,) + (1,) * (len(self.shape) - axis - 1))
            part = relay.multiply(relay.take(x, _constant(places[:, tap]), axis=axis), _constant(share))
            total = part if total is None else relay.add(total, part)
        assert total is not None
        return total

    def _product(self, x: Expr, axis: int, matrix: Anything) -> Expr:
        """Multiply the axis by a matrix."""
        rank = len(self.shape)
        order = [*[a for a in range(rank) if a != axis], axis]
        back = [order.index(a) for a in range(rank)]
        moved = relay.transpose(x, order) if order != back or axis != rank - 1 else x
        result = relay.nn.dense(moved, _constant(matrix))
        return relay.transpose(result, back) if axis != rank - 1 else result

    def _beyond(self, result: Expr, counts: Sequence[int | None], scales: Sequence[float]) -> Expr:
        """Replace what lies outside the data, in the region of interest, by the extrapolation value."""
        outside: Expr | None = None
        rank = len(self.shape)
        for axis, count, scale, roi in zip(self.axes, counts, scales, self.roi):
            extent = self.shape[axis]
            if count is None or not isinstance(extent, int):
                continue
            at = self.how.positions(extent, count, scale, roi)
            beyond = (at < 0) | (at > extent - 1)
            if beyond.any():
                mask = _constant(beyond.reshape((-1,) + (1,) * (rank - axis - 1)))
                outside = mask if outside is None else relay.logical_or(outside, mask)
        if outside is None:
            return result
        value = const(self.outside, self.g.context.dtype(result))
        return relay.where(outside, value, result)

    # -- extents that the program computes

    def _image_at_run_time(self, sizes: dict[int, Expr]) -> Expr | None:
        """Return a resize of images by one operator, or None where it is another resize."""
        how = self.how
        if len(self.shape) != 4 or not sizes or min(sizes) < 2 or how.antialias:
            return None
        if how.coordinates not in _BY_OPERATOR or not is_float(self.g.context.dtype(self.x)):
            return None
        if how.exclude_outside and how.mode != "cubic":
            return None
        return relay.image.resize2d(
            self.x,
            shape_vector(self.g, [sizes[a] if a in sizes else extent_of(self.g, self.x, a) for a in (2, 3)]),
            method="nearest_neighbor" if how.mode == "nearest" else how.mode,
            coordinate_transformation_mode=how.coordinates,
            rounding_method=how.nearest if how.mode == "nearest" else "",
            cubic_alpha=how.cubic,
            cubic_exclude=int(how.exclude_outside),
        )

    def _axes_at_run_time(self, changes: Sequence[tuple[int, Expr, Expr]]) -> Expr:
        """Resize axes, of which the index in `axes`, the new extent and the scale are given."""
        context, rank = self.g.context, len(self.shape)
        dtype = context.dtype(self.x)
        work = dtype if is_float(dtype) or self.how.mode == "nearest" else "float32"
        result = self.x if work == dtype else relay.cast(self.x, work)
        beyond: Expr | None = None
        for index, count, scale in changes:
            axis = self.axes[index]
            corners: tuple[Expr, Expr] = (const(self.roi[index][0], REAL), const(self.roi[index][1], REAL))
            if self.roi_at_run_time is not None:
                places = index, index + len(self.axes)
                corners = _element(self.roi_at_run_time, places[0]), _element(self.roi_at_run_time, places[1])
            along = AxisAtRunTime(axis, extent_of(self.g, self.x, axis), count, scale, corners)
            result = resized_axis(result, rank, self.how, along, work)
            if self.how.coordinates == "tf_crop_and_resize":
                mask = outside(self.how, rank, along)
                beyond = mask if beyond is None else relay.logical_or(beyond, mask)
        if beyond is not None:
            result = relay.where(beyond, const(self.outside, work), result)
        return result if work == dtype else relay.cast(result, dtype)


def _element(vector: Expr, index: int) -> Expr:
    return relay.take(vector, const(index, "int64"), axis=0)


def _constant(array: Anything) -> Constant:
    import numpy as np

    return Constant(NDArray.sharing(np.ascontiguousarray(array)))
