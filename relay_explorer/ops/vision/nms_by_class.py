"""Non-maximum suppression class by class, as in ONNX, TensorFlow and TFLite."""

from __future__ import annotations

from itertools import islice
from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr, required
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Expr
from ...ir.op import RelationError, no_flops
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand
from ..examples import t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import call, operator
from ..relation import floating, forward, same_dim, scalar, times
from . import nms_lowering as nms_te
from .boxes import kept, ordered
from .declaring import LENIENT, SUPPRESSION, number

__all__ = ["all_class_non_max_suppression", "regular_non_max_suppression"]


def _all_class(attrs: Anything, boxes: Type, scores: Type, most: Type, iou: Type, low: Type) -> Type:
    b, s = floating(boxes, 0, "boxes"), floating(scores, 1, "scores")
    if attrs.output_format not in ("onnx", "tensorflow"):
        raise RelationError(f'output_format is "{attrs.output_format:.20}", but it is "onnx" or "tensorflow"')
    for operand, (name, type_) in enumerate(
        (("max_output_boxes_per_class", most), ("iou_threshold", iou), ("score_threshold", low)), 2
    ):
        scalar(type_, operand, name)
    fits = len(b.shape) == len(s.shape) == 3 and same_dim(b.shape[2], 4)
    if not fits or not same_dim(b.shape[0], s.shape[0]) or not same_dim(b.shape[1], s.shape[2]):
        raise RelationError(
            "boxes is (batch, boxes, 4) and scores (batch, classes, boxes), not "
            f"{show_shape(b.shape)} and {show_shape(s.shape)}",
            culprits=(0, 1),
        )
    batch, each = b.shape[0], times(s.shape[1], b.shape[1])
    if attrs.output_format == "onnx":
        triples = TensorType.of((times(batch, each), 3), "int64")
        return TupleType([triples, TensorType.of((1,), "int64")])
    return TupleType(
        [
            TensorType.of((batch, each, 2), "int64"),
            TensorType.of((batch, each), "float32"),
            TensorType.of((batch,), "int64"),
        ]
    )


def _best(boxes: Array, scores: Array, most: int, iou: float, low: float) -> Array:
    """Return the indices of the retained boxes of one class in one image, best first."""
    order = np.argsort(-scores, kind="stable")
    order = order[scores[order] > low]
    if iou <= 0:
        return order[:0]
    stay = kept(boxes[order], iou, at_limit=True)
    return order[list(islice(stay, most if most > 0 else None))]


def _all_class_value(attrs: Anything, boxes: Array, scores: Array, *limits: Array) -> tuple[Array, ...]:
    (batch, classes, count), corners = scores.shape, ordered(boxes)
    most, iou, low = int(limits[0]), float(limits[1]), float(limits[2])
    selected = [
        (n, c, box)
        for n in range(batch)
        for c in range(classes)
        for box in _best(corners[n], scores[n, c], most, iou, low).tolist()
    ]
    if attrs.output_format == "onnx":
        rows = np.zeros((batch * classes * count, 3), "int64")
        rows[: len(selected)] = np.array(selected, "int64").reshape(-1, 3)
        return rows, np.array([len(selected)], "int64")
    rows, counts = np.zeros((batch, classes * count, 2), "int64"), np.zeros(batch, "int64")
    values = np.zeros((batch, classes * count), "float32")
    for n, c, box in selected:
        rows[n, counts[n]], values[n, counts[n]] = (c, box), scores[n, c, box]
        counts[n] += 1
    return rows, values, counts


def _regular(attrs: Anything, boxes: Type, scores: Type) -> Type:
    b, s = floating(boxes, 0, "boxes"), floating(scores, 1, "scores")
    fits = len(b.shape) == len(s.shape) == 3 and same_dim(b.shape[2], 4)
    if not fits or not all(map(same_dim, b.shape[:2], s.shape[:2])):
        raise RelationError(
            "boxes is (batch, boxes, 4) and scores (batch, boxes, classes), not "
            f"{show_shape(b.shape)} and {show_shape(s.shape)}",
            culprits=(0, 1),
        )
    if min(attrs.max_detections, attrs.max_detections_per_class, attrs.num_classes) < 0:
        raise RelationError("max_detections, max_detections_per_class and num_classes cannot be negative")
    if isinstance(s.shape[2], int) and attrs.num_classes > s.shape[2]:
        raise RelationError(f"num_classes is {attrs.num_classes}, but scores has {s.shape[2]}", culprits=(1,))
    shape = (b.shape[0], attrs.max_detections)
    row = TensorType.of(shape, "float32")
    return TupleType([TensorType.of((*shape, 4), "float32"), row, row, TensorType.of(shape[:1], "int32")])


def _regular_value(attrs: Anything, boxes: Array, scores: Array) -> tuple[Array, ...]:
    batch, most = len(boxes), attrs.max_detections
    first = scores.shape[2] - attrs.num_classes  # the first class that is not background
    corners, classes = np.zeros((batch, most, 4), "float32"), np.zeros((batch, most), "float32")
    values, counts = np.zeros((batch, most), "float32"), np.zeros(batch, "int32")
    for n in range(batch):
        candidates = []
        for c in range(attrs.num_classes):
            row = scores[n, :, first + c]
            order = np.argsort(-row, kind="stable")
            order = order[row[order] >= attrs.score_threshold]
            stay = kept(boxes[n, order], attrs.iou_threshold, at_limit=False)
            candidates += [(row[p], c, p) for p in order[list(islice(stay, attrs.max_detections_per_class))]]
        candidates = sorted(candidates, key=lambda one: -one[0])[:most]
        counts[n] = len(candidates)
        for at, (score, c, box) in enumerate(candidates):
            corners[n, at], classes[n, at], values[n, at] = boxes[n, box], c, score
    return corners, classes, values, counts


@operator(
    "vision.all_class_non_max_suppression",
    description="Selects boxes by score, class by class, without those that overlap a better one.",
    formula=SUPPRESSION,
    family="image",
    level=5,
    relation=forward(
        "AllClassNMS", "{out} = the class and index of each retained box, and their number", _all_class
    ),
    flops=no_flops,
    reference=_all_class_value,
    gradient=NotApplicable("the choice of boxes does not change smoothly"),
    lowering=nms_te.all_class_non_max_suppression,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 5, 4, name="b"), t(1, 2, 5, name="s"), 3, 0.5, 0.0),
    attrs_key="relay.attrs.AllClassNonMaximumSuppressionAttrs",
    lenient_in_tvm=LENIENT,
)
def all_class_non_max_suppression(
    boxes: Operand,
    scores: Operand,
    max_output_boxes_per_class: Expr | int = -1,
    iou_threshold: Expr | float = -1.0,
    score_threshold: Expr | float = -1.0,
    output_format: Annotated[
        str, attr("onnx", '"onnx" (boxes of all images together) or "tensorflow" (by image).')
    ] = "onnx",
) -> TupleWrapper:
    """Return the retained `boxes` (batch, boxes, 4) for each class of `scores` (batch, classes, boxes).

    "onnx": rows (image, class, box) and their number; "tensorflow": for each image rows (class, box), scores
    and their number. Rows beyond that are 0; no box is retained where `iou_threshold` is not positive.
    """
    arguments = [
        boxes,
        scores,
        number(max_output_boxes_per_class, "int32"),
        number(iou_threshold, "float32"),
        number(score_threshold, "float32"),
    ]
    result = call("vision.all_class_non_max_suppression", arguments, output_format=output_format)
    return TupleWrapper(result, 2 if output_format == "onnx" else 3)


@operator(
    "vision.regular_non_max_suppression",
    description=(
        "Selects the best boxes of all classes, without those that overlap a better one of their class."
    ),
    formula=SUPPRESSION,
    family="image",
    level=5,
    relation=forward("RegularNMS", "{out} = (boxes, classes, scores, number) of `max_detections`", _regular),
    flops=no_flops,
    reference=_regular_value,
    gradient=NotApplicable("the choice of boxes does not change smoothly"),
    lowering=nms_te.regular_non_max_suppression,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 5, 4, name="b"), t(1, 5, 3, name="s"), 2, 4, 2, 0.5, 0.0),
    attrs_key="relay.attrs.RegularNonMaximumSuppressionAttrs",
    results=4,
    lenient_in_tvm=LENIENT,
)
def regular_non_max_suppression(
    boxes: Operand,
    scores: Operand,
    max_detections_per_class: Annotated[
        int, required("The greatest number of boxes selected for one class.")
    ],
    max_detections: Annotated[int, required("The greatest number of boxes selected.")],
    num_classes: Annotated[int, required("The number of classes, without the background.")],
    iou_threshold: Annotated[float, required("The overlap beyond which a box is suppressed.")],
    score_threshold: Annotated[float, required("The least score at which a box is considered.")],
) -> TupleWrapper:
    """Return the `max_detections` best of `boxes` (batch, boxes, 4) by `scores` (batch, boxes, classes):
    corners, classes, scores, and their number. Classes before the last `num_classes` are background.
    """
