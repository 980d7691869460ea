"""Converters of operators that select elements or boxes by their value."""

from __future__ import annotations

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results, results_of
from ...base.source import Node
from ..importer import MOST_ELEMENTS, Importer, bounded
from ..registry import converts


@converts("TopK", "TopKV2")
def _top_k(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    if node.op == "TopK":
        count: int | Expr = int(node.attrs["k"])
    else:
        value = tf.value(inputs[1])
        count = int(value) if value is not None else inputs[1]
    dtype = str(node.attrs.get("index_type", "int32"))
    return relay.topk(inputs[0], k=count, axis=-1, ret_type="both", is_ascend=False, dtype=dtype)


@converts("InTopK", "InTopKV2")
def _in_top_k(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Whether fewer than k predictions of a row exceed that of its target."""
    predictions, targets = inputs[:2]
    count = tf.integer(inputs[2], "k") if len(inputs) > 2 else int(node.attrs["k"])
    own = relay.gather(predictions, 1, relay.expand_dims(targets, 1))
    better = relay.sum(relay.cast(relay.greater(predictions, own), "int32"), axis=[1])
    return relay.less(better, const(count, "int32"))


@converts("LowerBound", "UpperBound")
def _search(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    right = node.op == "UpperBound"
    dtype = str(node.attrs.get("out_type", "int32"))
    return relay.searchsorted(inputs[0], inputs[1], right=right, dtype=dtype)


@converts("Unique", "UniqueWithCounts")
def _unique(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert the distinct values, in the order in which they occur first."""
    counts = node.op == "UniqueWithCounts"
    results = relay.unique(inputs[0], is_sorted=False, return_counts=counts)
    values, _, inverse, number = (results[index] for index in range(4))
    dtype = str(node.attrs.get("out_idx", "int32"))

    def used(padded: Expr) -> Expr:
        """Return the elements in use of a vector that is as long as the data."""
        return relay.strided_slice(padded, const([0], "int32"), number, slice_mode="size")

    outputs = [used(values), relay.cast(inverse, dtype)]
    return [*outputs, relay.cast(used(results[4]), dtype)] if counts else outputs


@converts("NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3", "NonMaxSuppressionV4",
          "NonMaxSuppressionV5")  # fmt: skip
def _suppress(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    boxes, scores, most = inputs[:3]
    overlap = (
        float(node.attrs.get("iou_threshold", 0.5))
        if node.op == "NonMaxSuppression"
        else float(tf.need(inputs[3], "the threshold of the overlap").item())
    )
    least = -3.4e38
    if len(inputs) > 4:
        least = max(float(tf.need(inputs[4], "the threshold of the score").item()), least)
    if len(inputs) > 5 and float(tf.need(inputs[5], "sigma").item()) != 0.0:
        raise RelayError(f"{node.op} with a soft_nms_sigma other than 0 is not supported")
    rows = relay.concatenate([relay.expand_dims(scores, -1), boxes], 1)
    valid = relay.vision.get_valid_counts(relay.expand_dims(rows, 0), least, id_index=-1, score_index=0)
    known = tf.value(most)
    results = relay.vision.non_max_suppression(
        valid[1],
        valid[0],
        valid[2],
        int(known) if known is not None else most,
        iou_threshold=overlap,
        force_suppress=True,
        top_k=-1,
        coord_start=1,
        score_index=0,
        id_index=-1,
        return_indices=True,
        invalid_to_bottom=False,
    )
    padded, count = relay.squeeze(results[0], [0]), relay.squeeze(results[1], [1])
    indices = relay.strided_slice(padded, const([0], "int32"), count, slice_mode="size")
    if node.op.endswith("V5"):
        chosen = relay.take(scores, indices, axis=0)
        return [indices, chosen, relay.squeeze(count, [0])]
    if not node.op.endswith("V4"):
        return indices
    if node.attrs.get("pad_to_max_output_size"):
        rest = relay.subtract(relay.reshape(relay.cast(most, "int32"), [1]), count)
        widths = relay.reshape(relay.concatenate([relay.zeros_like(rest), rest], 0), [1, 2])
        indices = relay.nn.pad(indices, widths, const(0, "int32"))
    return [indices, relay.squeeze(count, [0])]


@converts("CombinedNonMaxSuppression")
def _suppress_by_class(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert suppression in each class of each image, and the best boxes of all classes together."""
    boxes, scores, per_class, total, overlap, least = inputs
    batch, count, groups, _ = tf.context.static_shape(boxes)
    classes = tf.context.static_shape(scores)[2]
    bounded(count * classes, "the number of scored boxes", MOST_ELEMENTS)
    if groups != 1:
        raise RelayError(f"{node.op} with different boxes for each class is not supported")
    most = tf.integer(total, "the number of boxes")
    known = tf.value(per_class)
    every = relay.transpose(scores, [0, 2, 1])
    retained = relay.vision.all_class_non_max_suppression(
        relay.squeeze(boxes, [2]),
        every,
        int(known) if known is not None else per_class,
        float(tf.need(overlap, "the threshold of the overlap").item()),
        float(tf.need(least, "the threshold of the score").item()),
        output_format="tensorflow",
    )
    rows, row_scores, numbers = retained[0], retained[1], retained[2]
    if node.attrs.get("pad_per_class"):
        most = min(most, tf.integer(per_class, "the number of boxes of each class") * classes)
    available = min(most, count * classes)
    retained_count = relay.cast(numbers, "int32")
    if tf.context.rank(numbers) > 1:
        retained_count = relay.sum(retained_count, axis=[1])
    valid = relay.minimum(retained_count, const(most, "int32"))
    # Rows beyond the number of retained ones have no score.
    places = const([list(range(count * classes))], "int32")
    live = relay.less(places, relay.reshape(retained_count, [-1, 1]))
    dtype = tf.context.dtype(scores)
    ranked = relay.where(live, row_scores, const(-1.0, dtype))
    best, order = results_of(relay.topk(ranked, k=available, axis=1, ret_type="both", dtype="int64"))
    chosen = relay.where(relay.less(best, const(0.0, dtype)), relay.zeros_like(best), best)
    class_of = relay.gather(relay.squeeze(relay.take(rows, const([0], "int32"), axis=2), [2]), 1, order)
    box_of = relay.gather(relay.squeeze(relay.take(rows, const([1], "int32"), axis=2), [2]), 1, order)
    corners = relay.take(relay.squeeze(boxes, [2]), box_of, axis=1, batch_dims=1)
    in_use = relay.less(const([list(range(available))], "int32"), relay.reshape(valid, [batch, 1]))
    corners = relay.where(relay.expand_dims(in_use, 2), corners, relay.zeros_like(corners))
    if node.attrs.get("clip_boxes", True):
        corners = relay.clip(corners, 0.0, 1.0)
    label = relay.cast(class_of, dtype)
    label = relay.where(in_use, label, relay.zeros_like(label))
    missing = most - available
    if missing:
        corners = relay.nn.pad(corners, [[0, 0], [0, missing], [0, 0]], 0.0)
        chosen, label = (relay.nn.pad(part, [[0, 0], [0, missing]], 0.0) for part in (chosen, label))
    return [corners, chosen, label, valid]
