"""The types of operators on boxes and regions, and what they say of arguments that do not fit."""

from __future__ import annotations

import pytest

from relay_explorer.ir.expr import Expr, const
from relay_explorer.ir.tuple_wrapper import TupleWrapper
from relay_explorer.ir.types import Any
from relay_explorer.relay import vision
from tests.ops.tensor_programs import ints, refused, t, typed


def test_types() -> None:
    assert typed(vision.multibox_prior(t(2, 3, Any(), 4), (1, 2), (1, 2))) == "Tensor[(1, ?, 4), float32]"
    assert typed(vision.get_valid_counts(t(Any(), 9, 6), 0.5)) == (
        "(Tensor[(?), int32], Tensor[(?, 9, 6), float32], Tensor[(?, 9), int32])"
    )
    assert typed(vision.non_max_suppression(t(2, 9, 6), ints(2), ints(2, 9, name="j"))) == (
        "(Tensor[(2, 9), int32], Tensor[(2, 1), int32])"
    )
    assert typed(vision.all_class_non_max_suppression(t(2, Any(), 4), t(2, 3, Any(), name="s"))) == (
        "(Tensor[(?, 3), int64], Tensor[(1), int64])"
    )
    assert typed(vision.roi_align(t(2, 3, 8, 8), t(Any(), 5, name="r"), (2, 2), 1.0)) == (
        "Tensor[(?, 3, 2, 2), float32]"
    )
    assert typed(vision.yolo_reorg(t(Any(), 8, 4, 6), 2)) == "Tensor[(?, 32, 2, 3), float32]"


P, LOC, ANCHOR = t(1, 3, 5, name="p"), t(1, 20, name="loc"), t(1, 5, 4, name="a")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            vision.multibox_prior(t(2, 3, 4)),
            "the data must be (batch, channels, rows, columns), not Tensor[(2, 3, 4), float32]",
        ),
        (
            vision.multibox_prior(t(2, 3, 4, 4), ratios=(1, 0)),
            "sizes and ratios must each hold at least one number, all of them positive",
        ),
        (
            vision.multibox_transform_loc(P, t(1, 15, name="loc"), ANCHOR),
            "for 5 anchors loc_pred must be (batch, 20), not (1, 15)",
        ),
        (
            vision.multibox_transform_loc(P, LOC, t(1, 6, 4, name="a")),
            "cls_prob has 5 anchors, but anchor has the shape (1, 6, 4)",
        ),
        (
            vision.get_valid_counts(t(2, 9, 5), 0.5, 0, 5),
            "score_index=5 is out of range: each box has 5 elements",
        ),
        (
            vision.non_max_suppression(t(2, 9, 5), ints(2), ints(2, 9, name="j")),
            "coord_start=2 is out of range: each box has 5 elements",
        ),
        (
            vision.non_max_suppression(t(2, 9, 6), ints(3), ints(2, 9, name="j")),
            "valid_count must have one element for each of the 2 images, not Tensor[(3), int32]",
        ),
        (
            vision.non_max_suppression(t(2, 9, 6), ints(2), ints(2, 8, name="j")),
            "indices has the shape (2, 8), but there are (2, 9) boxes",
        ),
        (
            vision.all_class_non_max_suppression(t(2, 9, 4), t(2, 9, 3, name="s")),
            "boxes is (batch, boxes, 4) and scores (batch, classes, boxes), not (2, 9, 4) and (2, 9, 3)",
        ),
        (
            vision.regular_non_max_suppression(t(2, 9, 4), t(2, 9, 3, name="s"), 1, 1, 4, 0.5, 0.5),
            "num_classes is 4, but scores has 3",
        ),
        (
            vision.roi_align(t(2, 3, 8, 8), t(4, 4, name="r"), (2, 2), 1.0),
            "rois has the shape (4, 4), but a region is a row of 5 elements: its image, left, top, right, "
            "bottom",
        ),
        (
            vision.roi_pool(t(2, 3, 8, 8), t(4, 5, name="r"), (2,), 1.0),
            "pooled_size=[2] must be 2 positive numbers",
        ),
        (vision.yolo_reorg(t(1, 6, 4, 4), 2), "the number of channels is 6, which 4 does not divide"),
        (vision.yolo_reorg(t(1, 8, 5, 4), 2), "the height is 5, which 2 does not divide"),
        (
            vision.proposal(
                t(1, 4, 3, 3),
                t(1, 8, 3, 4, name="b"),
                t(1, 3, name="i"),
                [1, 2],
                [1],
                16,
                0.7,
                9,
                9,
                1,
                False,
            ),
            "for 2 anchors per cell, cls_prob is (batch, 4, rows, columns) and bbox_pred (batch, 8, rows, "
            "columns), not (1, 4, 3, 3) and (1, 8, 3, 4)",
        ),
        (
            vision.non_max_suppression(t(2, 9, 6, dtype="uint8"), ints(2), ints(2, 9, name="j")),
            "data must be floating-point, but its elements are uint8",
        ),
        (
            vision.non_max_suppression(t(2, 9, 6), ints(2), ints(2, 9, name="j"), const([1, 2])),
            "max_output_size must be a scalar, but its type is Tensor[(2), int32]",
        ),
    ],
)
def test_what_does_not_fit_is_said(call: Expr | TupleWrapper, message: str) -> None:
    assert refused(call).message.partition(": ")[2] == message
