"""The lowerings of non-maximum suppression, which retains only the best of boxes that overlap strongly. Each
step depends on the boxes that earlier steps have retained, so these kernels are written as loops.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..te.imperative import Buffers, each, int32, local, loops, when
from ..te.library import te, tirx
from ..te.lowered import Lowered
from ..te.tensors import (
    NARROW,
    Shape,
    Tensor,
    Value,
    cast,
    dims,
    dtype_of,
    every,
    longer,
    number,
    select,
    shorter,
)
from .lowering import best_first, keep, ordered, overlap

Part = Callable[[Value, int], Value]


def _wide(dtype: str) -> str:
    """Return the element type to compute in: float32 for narrower ones."""
    return "float32" if dtype in NARROW else dtype


def get_valid_counts(call: Lowered) -> list[Tensor]:
    """Move the boxes that score high enough to the front, and fill the rest with -1."""
    (x, threshold), attrs = call.inputs, call.attrs
    images, boxes, width = dims(x)
    dtype = dtype_of(x)

    def body(ins: Buffers, outs: Buffers) -> None:
        (data, limit), (counts, front, places) = ins, outs
        with each(images) as n:
            with each(boxes) as j:
                places[n, j] = number(-1, "int32")
                with each(width) as k:
                    front[n, j, k] = number(-1, dtype)
            counts[n] = number(0, "int32")
            with each(boxes) as j:
                score = data[n, j, attrs.score_index]
                valid = [cast(score, _wide(dtype)) > cast(limit[()], _wide(dtype))]
                if attrs.id_index >= 0:
                    valid.append(data[n, j, attrs.id_index] >= number(0, dtype))
                with when(every(valid)):
                    places[n, counts[n]] = int32(j)
                    with each(width) as k:
                        front[n, counts[n], k] = data[n, j, k]
                    counts[n] = counts[n] + 1

    results = [((images,), "int32"), (dims(x), dtype), ((images, boxes), "int32")]
    return loops(results, [x, threshold], body, call.name)


class _Suppressing:
    """The lowering of `vision.non_max_suppression` for one image.

    `out` receives its boxes sorted by score, -1 in place of removed ones, and `places` the index of each.
    """

    def __init__(self, call: Lowered, ins: Buffers, outs: Buffers, n: Value) -> None:
        self.attrs, self.n = call.attrs, n
        self.dtype = dtype_of(call.inputs[0])
        _, self.boxes, self.width = dims(call.inputs[0])
        self.data, valid, self.numbers, self.most, self.limit = ins
        self.out, self.places, self.spare = outs[:3]
        self.count = local(1, "int32")
        self.count[0] = te.max(te.min(valid[n].astype("int32"), int32(self.boxes)), 0)

    def clear(self) -> None:
        """Fill the results with -1."""
        with each(self.boxes) as j:
            self.places[self.n, j] = number(-1, "int32")
            self.drop(j)

    def drop(self, j: Value) -> None:
        """Fill a box with -1."""
        with each(self.width) as k:
            self.out[self.n, j, k] = number(-1, self.dtype)

    def run(self) -> None:
        """Sort the boxes by score, and remove those that overlap a better one."""
        n, count = self.n, self.count[0]
        limit = cast(self.limit[()], _wide(self.dtype))
        positive = limit > number(0, _wide(self.dtype))
        self.clear()
        with when(positive):
            best_first(n, count, lambda j: self.data[n, j, self.attrs.score_index], self.places, self.spare)
            if self.attrs.top_k > 0:
                with each(self.boxes) as j, when(j >= self.attrs.top_k):
                    self.places[n, j] = number(-1, "int32")
        with when(tirx.Not(positive)), each(count) as j:
            self.places[n, j] = int32(j)
        with each(count) as j, when(self.places[n, j] >= 0), each(self.width) as k:
            self.out[n, j, k] = self.data[n, self.places[n, j], k]
        with when(positive):
            self._suppress(limit)

    def _suppress(self, limit: Value) -> None:
        n, stay, suppressed = self.n, local(1, "int32"), local(1, "bool")
        stay[0] = number(0, "int32")
        with each(self.count[0]) as j:
            suppressed[0] = tirx.EQ(stay[0], self.most[()].astype("int32"))
            with when(every([tirx.Not(suppressed[0]), self._scores(j)])):
                with each(j) as before, when(self._rivals(before, j)):
                    shared = overlap(self._box(j), self._box(before), _wide(self.dtype))
                    suppressed[0] = tirx.any(suppressed[0], shared >= limit)
                stay[0] = stay[0] + select(suppressed[0], number(0, "int32"), number(1, "int32"))
            with when(suppressed[0]):
                self.places[n, j] = number(-1, "int32")
                self.drop(j)

    def _scores(self, j: Value) -> Value:
        return self.out[self.n, j, self.attrs.score_index] > number(0, self.dtype)

    def _rivals(self, before: Value, j: Value) -> Value:
        """Return whether an earlier box can suppress this one, by its score and class."""
        conditions, at = [self._scores(before)], self.attrs.id_index
        if at >= 0:
            kind, own = self.out[self.n, before, at], self.out[self.n, j, at]
            conditions.append(kind >= number(0, self.dtype))
            if not self.attrs.force_suppress:
                conditions.append(tirx.EQ(kind, own))
        return every(conditions)

    def _box(self, j: Value) -> Callable[[int], Value]:
        def corner(k: int) -> Value:
            return cast(self.out[self.n, j, self.attrs.coord_start + k], _wide(self.dtype))

        return lambda k: ordered(corner, k)


def non_max_suppression(call: Lowered) -> list[Tensor]:
    """Suppress boxes image by image."""
    x, attrs = call.inputs[0], call.attrs
    images, boxes, _ = dims(x)
    rows = [(dims(x), dtype_of(x)), ((images, boxes), "int32"), ((images, boxes), "int32")]

    def body(ins: Buffers, outs: Buffers) -> None:
        with each(images) as n:
            step = _Suppressing(call, ins, outs, n)
            step.run()
            if attrs.return_indices:
                _named(step, outs[3], outs[4])
            elif attrs.invalid_to_bottom:
                _to_front(step)

    if not attrs.return_indices:
        return loops(rows, call.inputs, body, call.name, slice(1), call.target)
    indices = [((images, boxes), "int32"), ((images, 1), "int32")]
    return loops([*rows, *indices], call.inputs, body, call.name, slice(3, None), call.target)


def _named(step: _Suppressing, indices: Any, counts: Any) -> None:
    """Write the indices of the retained boxes to the front."""
    n = step.n
    counts[n, 0] = number(0, "int32")
    with each(step.boxes) as j:
        indices[n, j] = number(-1, "int32")
    with each(step.boxes) as j, when(step.places[n, j] >= 0):
        index = step.numbers[n, step.places[n, j]].astype("int32")
        with when(index >= 0):
            indices[n, counts[n, 0]] = index
            counts[n, 0] = counts[n, 0] + 1


def _to_front(step: _Suppressing) -> None:
    """Move boxes whose first element is not negative to the front."""
    n, filled = step.n, local(1, "int32")
    filled[0] = number(0, "int32")
    with each(step.boxes) as j, when(step.out[n, j, 0] >= number(0, step.dtype)):
        with each(step.width) as k:
            step.out[n, filled[0], k] = step.out[n, j, k]
        filled[0] = filled[0] + 1
    with each(step.boxes) as j, when(j >= filled[0]):
        step.drop(j)


# -- class by class


def all_class_non_max_suppression(call: Lowered) -> list[Tensor]:
    """Suppress boxes for each image and class."""
    boxes, scores, most, iou, low = call.inputs
    images, classes, count = dims(scores)
    each_image, dtype = classes * count, _wide(dtype_of(boxes))
    onnx = call.attrs.output_format == "onnx"

    def body(ins: Buffers, outs: Buffers) -> None:
        (corners, score, at_most, limit, least_score), (rows, values, counts, places, spare, retained) = (
            ins,
            outs,
        )
        _clear(rows, values, counts, (images, each_image), onnx)
        with each(images) as n, each(classes) as c:
            best_first(0, int32(count), lambda j: score[n, c, j], places, spare)
            limited = at_most[()].astype("int32")
            most = select(limited > 0, limited, int32(count))
            most = select(limit[()].astype("float64") > number(0, "float64"), most, number(0, "int32"))

            def box(j: Value) -> Callable[[int], Value]:
                return lambda k: ordered(lambda q: cast(corners[n, places[0, j], q], dtype), k)

            def candidate(j: Value) -> Value:
                return score[n, c, places[0, j]].astype("float64") > least_score[()].astype("float64")

            def too_close(a: Value, b: Value) -> Value:
                return overlap(box(b), box(a), dtype) >= cast(limit[()], dtype)

            stay = keep(int32(count), most, candidate, too_close, retained)
            with each(stay[0]) as m:
                index = places[0, retained[m]]
                if onnx:
                    for k, part in enumerate((n, c, index)):
                        rows[counts[0].astype("int32"), k] = part.astype("int64")
                    counts[0] = counts[0] + 1
                else:
                    at = counts[n].astype("int32")
                    rows[n, at, 0], rows[n, at, 1] = c.astype("int64"), index.astype("int64")
                    values[n, at] = score[n, c, index].astype("float32")
                    counts[n] = counts[n] + 1

    scratch = [((1, count), "int32"), ((1, count), "int32"), ((count,), "int32")]
    rows_shape: Shape = (images * each_image, 3) if onnx else (images, each_image, 2)
    values_shape: Shape = (1, 1) if onnx else (images, each_image)
    counts_shape: Shape = (1,) if onnx else (images,)
    results: list[tuple[Shape, str]] = [
        (rows_shape, "int64"), (values_shape, "float32"), (counts_shape, "int64"), *scratch
    ]  # fmt: skip
    returned = slice(0, 3, 2) if onnx else slice(3)
    return loops(results, [boxes, scores, most, iou, low], body, call.name, returned, call.target)


def _clear(rows: Any, values: Any, counts: Any, sizes: tuple[Any, Any], onnx: bool) -> None:
    """Fill the results with zeros."""
    images, each_image = sizes
    if onnx:
        counts[0] = number(0, "int64")
        with each(images * each_image) as j:
            for k in range(3):
                rows[j, k] = number(0, "int64")
        return
    with each(images) as n:
        counts[n] = number(0, "int64")
        with each(each_image) as j:
            values[n, j] = number(0, "float32")
            rows[n, j, 0], rows[n, j, 1] = number(0, "int64"), number(0, "int64")


def regular_non_max_suppression(call: Lowered) -> list[Tensor]:
    """Suppress boxes for each image and class, and sort the retained boxes of all classes by score."""
    (boxes, scores), attrs = call.inputs, call.attrs
    images, count, columns = dims(scores)
    dtype, most, classes = _wide(dtype_of(boxes)), attrs.max_detections, attrs.num_classes
    room = longer(max(classes, 1) * shorter(count, attrs.max_detections_per_class), 1)

    def body(ins: Buffers, outs: Buffers) -> None:
        (
            (corners, score),
            (selected, kinds, values, counts, places, spare, retained, all_, order, spare_all),
        ) = (
            ins,
            outs,
        )
        with each(images) as n:
            filled = local(1, "int32")
            filled[0] = number(0, "int32")
            with each(classes) as c:
                column = columns - classes + c
                best_first(0, int32(count), lambda j: score[n, j, column], places, spare)

                def box(j: Value) -> Callable[[int], Value]:
                    return lambda k: cast(corners[n, places[0, j], k], dtype)

                def candidate(j: Value) -> Value:
                    value = cast(score[n, places[0, j], column], dtype)
                    return value >= number(attrs.score_threshold, dtype)

                def too_close(a: Value, b: Value) -> Value:
                    return overlap(box(b), box(a), dtype) > number(attrs.iou_threshold, dtype)

                max_count = number(attrs.max_detections_per_class, "int32")
                stay = keep(int32(count), max_count, candidate, too_close, retained)
                with each(stay[0]) as m:
                    all_[0, filled[0]], all_[1, filled[0]] = int32(c), places[0, retained[m]]
                    filled[0] = filled[0] + 1
            total = filled[0]
            best_first(
                0, total, lambda m: score[n, all_[1, m], columns - classes + all_[0, m]], order, spare_all
            )
            counts[n] = te.min(total, number(most, "int32"))
            with each(most) as m:
                for k in range(4):
                    selected[n, m, k] = number(0, "float32")
                kinds[n, m], values[n, m] = number(0, "float32"), number(0, "float32")
            with each(counts[n]) as m:
                c, index = all_[0, order[0, m]], all_[1, order[0, m]]
                for k in range(4):
                    selected[n, m, k] = corners[n, index, k].astype("float32")
                kinds[n, m] = c.astype("float32")
                values[n, m] = score[n, index, columns - classes + c].astype("float32")

    row = ((images, most), "float32")
    scratch = [((1, count), "int32"), ((1, count), "int32"), ((count,), "int32")]
    lists = [((2, room), "int32"), ((1, room), "int32"), ((1, room), "int32")]
    results = [((images, most, 4), "float32"), row, row, ((images,), "int32"), *scratch, *lists]
    return loops(results, [boxes, scores], body, call.name, slice(4), call.target)
