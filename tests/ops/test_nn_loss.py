"""Losses, against PyTorch, and how they refuse."""

from __future__ import annotations

import pytest
import torch

from relay_explorer.ir.expr import Call
from relay_explorer.ir.narrow import as_op
from relay_explorer.ir.types import Any, TensorType
from relay_explorer.ops.nn import loss
from tests.ops.nn_programs import operands
from tests.ops.tensor_programs import ints, refused, t, typed


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("space", [(), (4,), (4, 5)])
def test_nll_loss_is_pytorchs(reduction: str, space: tuple[int, ...]) -> None:
    expected = torch.nn.functional.nll_loss(
        torch.zeros(2, 3, *space),
        torch.zeros(2, *space, dtype=torch.int64),
        torch.ones(3),
        reduction=reduction,
    )
    call = loss.nll_loss(t(2, 3, *space), ints(2, *space), t(3, name="w"), reduction)
    assert typed(call) == str(TensorType(tuple(expected.shape)))


def test_cross_entropy_is_one_number() -> None:
    assert typed(loss.cross_entropy(t(2, 3), t(2, 3, name="y"))) == "float32"
    assert typed(loss.cross_entropy_with_logits(t(Any(), 3), t(2, 3, name="y"))) == "float32"


REFUSED: list[tuple[Call, str, tuple[str, ...]]] = [
    (
        loss.cross_entropy(t(2, 3), t(2)),
        "predictions have shape (2, 3) and targets (2), but both must be the same (examples, classes)",
        ("relay.one_hot turns class numbers into such targets",),
    ),
    (
        loss.cross_entropy(t(2, 3), t(2, 4)),
        "predictions have shape (2, 3) and targets (2, 4), but both must be the same (examples, classes)",
        ("a target is one number for each class",),
    ),
    (
        loss.cross_entropy_with_logits(t(2, 3), t(2, 3, dtype="int32")),
        "predictions hold float32, but targets int32",
        ('convert one: relay.cast(…, "float32")',),
    ),
    (
        loss.nll_loss(t(2, 3), ints(3), t(3)),
        "targets have shape (3), but for predictions (2, 3) must have (2)",
        ("a target is a class number for each example; the classes are axis 1 of the predictions",),
    ),
    (
        loss.nll_loss(t(2, 3), ints(2), t(2)),
        "weights have shape (2), but there are 3 classes",
        ("give one weight for each class",),
    ),
    (
        loss.nll_loss(t(2, 3), t(2), t(3)),
        "targets hold float32, but class numbers are integers",
        ('convert them: relay.cast(…, "int32")',),
    ),
    (
        loss.nll_loss(t(2, 3), ints(2), t(3), "median"),
        'reduction="median" is not a valid reduction',
        ('the reductions are "mean", "sum" and "none"',),
    ),
]


@pytest.mark.parametrize(("call", "message", "help"), REFUSED, ids=[message for _, message, _ in REFUSED])
def test_refusals(call: Call, message: str, help: tuple[str, ...]) -> None:
    error = refused(operands(call))
    assert error.message == f"`{as_op(call.op).name}`: {message}"
    assert error.help == help
