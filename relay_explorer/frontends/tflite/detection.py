"""Converters of the selection of boxes: non-maximum suppression, and detection's last step."""

from __future__ import annotations

from typing import Any

from ...ir.errors import RelayError
from ...ir.expr import Expr, const
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import ModelFileError
from ..base.require import require
from .operation import Operation, converter

_MOST_BOXES = 1 << 20


def _custom_options(op: Operation) -> dict[str, Any]:
    """Return the options of a custom operator, a FlexBuffer map of numbers."""
    flexbuffers = require("flatbuffers.flexbuffers", "tflite")

    contents = op.attr("custom_options", b"")
    try:
        entries = flexbuffers.GetRoot(bytearray(contents)).AsMap
        keys = [entries.Keys[index].AsKey for index in range(min(len(entries), 64))]
        values: dict[str, Any] = {}
        for key in keys:
            entry = entries[key]
            if entry.IsBool:
                values[str(key)] = bool(entry.AsBool)
            elif entry.IsFloat:
                values[str(key)] = float(entry.AsFloat)
            elif entry.IsInt:
                values[str(key)] = int(entry.AsInt)
    except Exception as error:  # whatever the package makes of damaged bytes
        raise ModelFileError(
            f"the options of {op.name} are damaged: {error or type(error).__name__}"
        ) from error
    return values


@converter("TFLite_Detection_PostProcess")
def _detection_postprocess(op: Operation) -> Results:
    """Decode boxes relative to anchors, and select the best: their corners, classes, scores and number."""
    options = _custom_options(op)
    try:
        most, classes = int(options["max_detections"]), int(options["num_classes"])
        overlap, least = float(options["nms_iou_threshold"]), float(options["nms_score_threshold"])
        scales = [float(options[f"{name}_scale"]) for name in ("y", "x", "h", "w")]
    except KeyError as error:
        raise ModelFileError(f"TFLite_Detection_PostProcess has no option {error}") from error
    for name, count in (("max_detections", most), ("num_classes", classes)):
        if not 0 < count <= _MOST_BOXES:
            raise ModelFileError(f"{name} must be from 1 to {_MOST_BOXES:,}, not {count}")
    if 0.0 in scales:
        raise ModelFileError(f"y_scale, x_scale, h_scale and w_scale must not be 0, but are {scales}")
    corners = _decoded(op[0], op[2], scales)
    count, columns = op.extents(1, (1, 2))
    if columns < classes:
        raise RelayError(f"num_classes is {classes}, but there are scores for only {columns} classes")
    if options.get("use_regular_nms", False):
        return relay.vision.regular_non_max_suppression(
            corners, op[1], max_detections_per_class=int(options.get("detections_per_class", 100)),
            max_detections=most, num_classes=classes, iou_threshold=overlap, score_threshold=least,
        )  # fmt: skip
    if int(options.get("max_classes_per_detection", 1)) != 1:
        raise RelayError(
            "TFLite_Detection_PostProcess with use_regular_nms=False can be imported only with "
            "max_classes_per_detection=1"
        )
    scores = relay.strided_slice(op[1], [columns - classes], [columns], axes=[2])
    best = relay.max(scores, [2], keepdims=True)
    kind = relay.cast(relay.argmax(scores, 2, keepdims=True), "float32")
    boxes = relay.concatenate([kind, best, corners], 2)
    valid, sorted_boxes, indices = relay.vision.get_valid_counts(boxes, least, id_index=0, score_index=1)
    selected = relay.vision.non_max_suppression(
        sorted_boxes, valid, indices, max_output_size=most, iou_threshold=overlap, force_suppress=True,
        top_k=-1, coord_start=2, score_index=1, id_index=0, return_indices=False, invalid_to_bottom=True,
    )  # fmt: skip
    if count < most:
        selected = relay.nn.pad(selected, ((0, 0), (0, most - count), (0, 0)), const(-1.0, "float32"))
    selected = relay.strided_slice(selected, [0], [most], axes=[1])
    classes_of, scores_of, corners_of = relay.split(selected, (1, 2), 2)
    exists = relay.greater(scores_of, const(0.0, "float32"))
    number = relay.sum(relay.cast(exists, "float32"), [1, 2])
    zero = const(0.0, "float32")
    return [
        relay.where(exists, corners_of, zero),
        relay.squeeze(relay.where(exists, classes_of, zero), [2]),
        relay.squeeze(relay.where(exists, scores_of, zero), [2]),
        number,
    ]


def _decoded(encoded: Expr, anchors: Expr, scales: list[float]) -> Expr:
    """Return the corners (ymin, xmin, ymax, xmax) of boxes given relative to anchors (y, x, h, w)."""
    relative = relay.divide(encoded, const(scales, "float32"))
    y, x, height, width = relay.split(relative, 4, 2)
    anchor_y, anchor_x, anchor_height, anchor_width = relay.split(relay.expand_dims(anchors, 0), 4, 2)
    center_y = relay.add(relay.multiply(y, anchor_height), anchor_y)
    center_x = relay.add(relay.multiply(x, anchor_width), anchor_x)
    half = const(0.5, "float32")
    half_height = relay.multiply(half, relay.multiply(relay.exp(height), anchor_height))
    half_width = relay.multiply(half, relay.multiply(relay.exp(width), anchor_width))
    return relay.concatenate(
        [
            relay.subtract(center_y, half_height), relay.subtract(center_x, half_width),
            relay.add(center_y, half_height), relay.add(center_x, half_width),
        ],
        2,
    )  # fmt: skip


@converter("NON_MAX_SUPPRESSION_V4", "NON_MAX_SUPPRESSION_V5")
def _non_max_suppression(op: Operation) -> Results:
    """Return the indices of the selected boxes, filled up with zeros, their scores (V5) and their number."""
    (most,) = op.ints(2, "max_output_size")
    overlap, least = op.number(3, "iou_threshold"), op.number(4, "score_threshold")
    if op.name == "NON_MAX_SUPPRESSION_V5" and op.number(5, "soft_nms_sigma") != 0.0:
        raise RelayError(f"{op.name} with a soft_nms_sigma other than 0 cannot be imported")
    (count,) = op.extents(0, (0,))
    if not 0 <= most <= _MOST_BOXES:
        raise ModelFileError(f"max_output_size must be from 0 to {_MOST_BOXES:,}, not {most}")
    boxes = relay.concatenate([relay.expand_dims(op[1], 1), op[0]], 1)
    boxes = relay.expand_dims(boxes, 0)
    valid, candidates, indices = relay.vision.get_valid_counts(boxes, least, id_index=-1, score_index=0)
    chosen = relay.vision.non_max_suppression(
        candidates, valid, indices, max_output_size=most, iou_threshold=overlap, force_suppress=True,
        top_k=-1, coord_start=1, score_index=0, id_index=-1, return_indices=True, invalid_to_bottom=False,
    )  # fmt: skip
    places, number = chosen[0], chosen[1]
    places = relay.squeeze(places, [0])
    if count < most:
        places = relay.nn.pad(places, ((0, most - count),), const(-1, "int32"))
    places = relay.strided_slice(places, [0], [most])
    exists = relay.less(relay.arange(0, most, dtype="int32"), relay.reshape(relay.cast(number, "int32"), ()))
    places = relay.where(exists, places, const(0, "int32"))
    number = relay.reshape(relay.cast(number, "int32"), ())
    if op.name == "NON_MAX_SUPPRESSION_V4":
        return [places, number]
    scores = relay.where(exists, relay.take(op[1], places, 0), const(0.0, "float32"))
    return [places, scores, number]
