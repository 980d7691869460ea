"""Non-maximum suppression: of boxes that overlap strongly, only the best is retained. `nms_by_class`
suppresses boxes class by class.
"""

from __future__ import annotations

from typing import Annotated
from typing import Any as Anything

from ...ir.attrs import attr
from ...ir.declaration import NotApplicable, Precision
from ...ir.expr import Expr
from ...ir.op import RelationError, no_flops
from ...ir.show import show_shape
from ...ir.tuple_wrapper import TupleWrapper
from ...ir.types import TensorType, TupleType, Type
from ..arguments import Operand
from ..examples import ints, t
from ..layouts.layout import NO_LAYOUT_RULE
from ..numeric import Array, np
from ..operator import call, operator
from ..relation import floating, forward, integers, same_dim, scalar, tensor
from . import nms_lowering as nms_te
from .boxes import ordered, overlaps
from .declaring import LENIENT, SUPPRESSION, number

__all__ = ["get_valid_counts", "non_max_suppression"]


def _rows(data: Type) -> TensorType:
    """Return the data's type as (batch, boxes, elements of each box)."""
    x = floating(data, 0, "data")
    if len(x.shape) != 3:
        raise RelationError(f"the data must be (batch, boxes, elements of each box), not {x}", culprits=(0,))
    return x


def _column(x: TensorType, name: str, index: int, width: int = 1) -> None:
    """Raise a RelationError where boxes lack the elements that an attribute names."""
    last = x.shape[2]
    if index < 0 or (isinstance(last, int) and index + width > last):
        raise RelationError(
            f"{name}={index} is out of range: each box has {last} elements", "indices begin at 0"
        )


def _valid_counts(attrs: Anything, data: Type, score_threshold: Type) -> Type:
    x = _rows(data)
    scalar(score_threshold, 1, "score_threshold")
    _column(x, "score_index", attrs.score_index)
    if attrs.id_index >= 0:
        _column(x, "id_index", attrs.id_index)
    count, indices = TensorType.of(x.shape[:1], "int32"), TensorType.of(x.shape[:2], "int32")
    return TupleType([count, x, indices])


def _front(rows: Array, valid: Array) -> tuple[Array, int]:
    """Return the `valid` rows, followed by a row of -1 for each of the others, and their count."""
    count = int(valid.sum())
    out = np.full_like(rows, -1)
    out[:count] = rows[valid]
    return out, count


def _counted(attrs: Anything, x: Array, score_threshold: Array) -> tuple[Array, Array, Array]:
    valid = x[..., attrs.score_index] > score_threshold
    if attrs.id_index >= 0:
        valid &= x[..., attrs.id_index] >= 0
    boxes, counts = np.empty_like(x), np.empty(x.shape[0], "int32")
    indices = np.empty(x.shape[:2], "int32")
    for n in range(len(x)):
        boxes[n], counts[n] = _front(x[n], valid[n])
        indices[n], _ = _front(np.arange(x.shape[1], dtype="int32"), valid[n])
    return counts, boxes, indices


def _nms(attrs: Anything, data: Type, valid_count: Type, indices: Type, most: Type, limit: Type) -> Type:
    x, count = _rows(data), integers(valid_count, 1, "valid_count")
    if len(count.shape) != 1 or not same_dim(count.shape[0], x.shape[0]):
        raise RelationError(
            f"valid_count must have one element for each of the {x.shape[0]} images, not {count}",
            culprits=(0, 1),
        )
    integers(scalar(most, 3, "max_output_size"), 3, "max_output_size")
    scalar(limit, 4, "iou_threshold")
    _column(x, "coord_start", attrs.coord_start, 4)
    _column(x, "score_index", attrs.score_index)
    if attrs.id_index >= 0:
        _column(x, "id_index", attrs.id_index)
    if not attrs.return_indices:
        tensor(indices, 2, "indices")  # not used
        return x
    i = integers(indices, 2, "indices")
    if len(i.shape) != 2 or not all(map(same_dim, i.shape, x.shape[:2])):
        raise RelationError(
            f"indices has the shape {show_shape(i.shape)}, but there are {show_shape(x.shape[:2])} boxes",
            "give the index of each box",
            culprits=(0, 2),
        )
    return TupleType([TensorType.of(x.shape[:2], "int32"), TensorType.of((x.shape[0], 1), "int32")])


def _suppressed(attrs: Anything, rows: Array, most: int, limit: float) -> tuple[Array, Array]:
    """Return the `rows` of one image sorted by score, and the original index of each; -1 for those that are
    suppressed.
    """
    scores = rows[:, attrs.score_index]
    order = np.argsort(-scores, kind="stable")
    if attrs.top_k > 0:
        order[attrs.top_k :] = -1
    out = np.where((order >= 0)[:, None], rows[order], -1)
    boxes = ordered(out[:, attrs.coord_start : attrs.coord_start + 4])
    stay = 0
    for j in range(len(out)):
        suppressed = stay == most
        if not suppressed and out[j, attrs.score_index] > 0:
            before = out[:j, attrs.score_index] > 0
            if attrs.id_index >= 0:
                classes = out[:j, attrs.id_index]
                same = attrs.force_suppress | (classes == out[j, attrs.id_index])
                before &= (classes >= 0) & same
            suppressed = bool((overlaps(boxes[j], boxes[:j][before]) >= limit).any())
            stay += not suppressed
        if suppressed:
            out[j], order[j] = -1, -1
    return out, order


def _nms_value(
    attrs: Anything, x: Array, valid: Array, indices: Array, most: Array, limit: Array
) -> Array | tuple[Array, Array]:
    out, order = np.full_like(x, -1), np.full(x.shape[:2], -1, "int64")
    for n, count in enumerate(np.clip(valid, 0, x.shape[1]).tolist()):
        if limit > 0:
            out[n, :count], order[n, :count] = _suppressed(attrs, x[n, :count], int(most), float(limit))
        else:
            out[n, :count], order[n, :count] = x[n, :count], np.arange(count)
    if attrs.return_indices:
        named = np.where(order >= 0, np.take_along_axis(indices, np.maximum(order, 0), 1), -1)
        pairs = [_front(row, row >= 0) for row in named.astype("int32")]
        if not pairs:
            return named.astype("int32"), np.zeros((0, 1), "int32")
        return np.stack([row for row, _ in pairs]), np.array([[count] for _, count in pairs], "int32")
    if attrs.invalid_to_bottom:
        for n in range(len(out)):
            out[n], _ = _front(out[n], out[n, :, 0] >= 0)
    return out


@operator(
    "vision.get_valid_counts",
    description=(
        "Counts the boxes that score above a threshold, moves them to the front and returns their indices."
    ),
    formula=r"\{\, b_i : s_i > t \,\}",
    family="image",
    level=5,
    relation=forward(
        "GetValidCounts", "{out} = (a count for each image, {0}, indices into {0})", _valid_counts
    ),
    flops=no_flops,
    reference=_counted,
    gradient=NotApplicable("the choice of boxes does not change smoothly"),
    lowering=nms_te.get_valid_counts,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 5, 6, name="boxes"), 0.0),
    lenient_in_tvm=(
        "It accepted elements of any type, and did not check that a box has elements at id_index and "
        "score_index."
    ),
)
def get_valid_counts(
    data: Operand,
    score_threshold: Expr | float,
    id_index: Annotated[int, attr(0, "The index, in a box, of its class; -1: it has none.")] = 0,
    score_index: Annotated[int, attr(0, "The index, in a box, of its score.")] = 1,
) -> TupleWrapper:
    """Return the number of boxes of `data` (batch, boxes, elements) that score above `score_threshold`, these
    boxes, followed by -1s, and their indices.
    """
    result = call(
        "vision.get_valid_counts",
        [data, number(score_threshold, "float32")],
        id_index=id_index,
        score_index=score_index,
    )
    return TupleWrapper(result, 3)


@operator(
    "vision.non_max_suppression",
    description="Sorts boxes by score and suppresses those that overlap a better one.",
    formula=SUPPRESSION,
    family="image",
    level=5,
    relation=forward("NMS", "{out} = {0}, or (indices into {0}, their number) with `return_indices`", _nms),
    flops=no_flops,
    reference=_nms_value,
    gradient=NotApplicable("the choice of boxes does not change smoothly"),
    lowering=nms_te.non_max_suppression,
    layout=NO_LAYOUT_RULE,
    precision=Precision.UNLISTED,
    example=lambda build: build(t(1, 5, 6, name="boxes"), ints(1, name="n"), ints(1, 5)),
    attrs_key="relay.attrs.NonMaximumSuppressionAttrs",
    lenient_in_tvm=LENIENT,
)
def non_max_suppression(
    data: Operand,
    valid_count: Operand,
    indices: Operand,
    max_output_size: Expr | int = -1,
    iou_threshold: Expr | float = 0.5,
    force_suppress: Annotated[
        bool, attr(False, "Whether boxes of other classes are suppressed too.")
    ] = False,
    top_k: Annotated[int, attr(-1, "How many of the best boxes are considered; -1: all.")] = -1,
    coord_start: Annotated[int, attr(2, "The index, in a box, of the first of its four coordinates.")] = 2,
    score_index: Annotated[int, attr(1, "The index, in a box, of its score.")] = 1,
    id_index: Annotated[int, attr(0, "The index, in a box, of its class; -1: it has none.")] = 0,
    return_indices: Annotated[
        bool, attr(True, "Whether the result holds the indices of the selected boxes.")
    ] = True,
    invalid_to_bottom: Annotated[bool, attr(False, "Whether the selected boxes move to the front.")] = False,
) -> Anything:
    """Return the first `valid_count` boxes of `data` (batch, boxes, elements), best first, with -1 in
    place of those whose intersection over union with a better one is at least `iou_threshold`. With
    `return_indices` return their indices, looked up in `indices` (batch, boxes), and the number of these
    (batch, 1).
    """
    limits = [number(max_output_size, "int32"), number(iou_threshold, "float32")]
    result = call(
        "vision.non_max_suppression",
        [data, valid_count, indices, *limits],
        force_suppress=force_suppress,
        top_k=top_k,
        coord_start=coord_start,
        score_index=score_index,
        id_index=id_index,
        return_indices=return_indices,
        invalid_to_bottom=invalid_to_bottom,
    )
    return TupleWrapper(result, 2) if return_indices else result
