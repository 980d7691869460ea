"""Operations that change tensors in place, and views of tensors."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor

from relay_explorer.frontends import from_pytorch
from relay_explorer.frontends.pytorch.effects import without_out
from relay_explorer.ir.errors import RelayError
from tests.frontends.pytorch.helpers import Calls, infos, same_traced, traced

X = torch.tensor([[-1.5, 0.25, 2.5, -0.5], [0.5, 3.5, -2.5, 1.0], [0.0, -0.25, 0.75, 6.0]])


def writes_through_views(x: Tensor) -> Any:
    y = x.clone()
    y[0] = 5
    y[:, 1:3] *= 2
    z = y.t()
    z[2] += 1
    y.view(-1)[0] = 9
    y[1].fill_(3)
    v = y.unsqueeze(0)
    v.mul_(2)
    left, _ = y.chunk(2, 1)
    left.add_(1)
    y[:, ::2] = 0.5
    return y, z, v


def a_view_follows_its_base(x: Tensor) -> Any:
    y = x * 1
    rows = y[1:]
    wide = y.expand(2, 3, 4)
    y[2, 0] = 7
    return rows, wide


def a_conversion_to_the_same_type_is_the_same_tensor(x: Tensor) -> Any:
    y = x * 1
    z = y.to(torch.float32)
    z += 1
    w = y.float().mul_(2)
    return y, z, w


def masks_and_indices(x: Tensor) -> Any:
    y = x * 1
    y[y > 0] = 0
    y[[0, 2]] = 3.0
    y[:, 1:].clamp_(-0.1, 0.1)
    return y


def shapes_change_in_place(x: Tensor) -> Any:
    y = x * 1
    y.unsqueeze_(0)
    y.squeeze_(0)
    y.t_()
    return y


def results_are_written_to_out(x: Tensor) -> Any:
    y = torch.empty(3, 4)
    torch.add(x, 1, out=y)
    s = torch.empty(3)
    torch.sum(x, 1, out=s)
    return y, s


def copies(x: Tensor) -> Any:
    y = x * 1
    part = y.unbind(0)[1]
    part.add_(y[0])
    z = torch.zeros_like(y)
    z.copy_(y[0])
    return y, z, y.detach()


@pytest.mark.parametrize(
    "function",
    [
        writes_through_views, a_view_follows_its_base, a_conversion_to_the_same_type_is_the_same_tensor,
        masks_and_indices, shapes_change_in_place, results_are_written_to_out, copies,
    ],
    ids=lambda function: function.__name__,
)  # fmt: skip
def test_changes_in_place_are_those_of_pytorch(function: Callable[..., Any]) -> None:
    same_traced(function, X)


def read_after_a_change_of_what_may_be_a_view(x: Tensor) -> Any:
    y = x * 1
    z = y.reshape(12)
    z[0] = 5
    return y, z


def a_diagonal_is_set(x: Tensor) -> Any:
    y = x * 1
    y.diagonal().fill_(0)
    return y


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (read_after_a_change_of_what_may_be_a_view, "may share its storage"),
        (a_diagonal_is_set, "cannot be expressed"),
    ],
)
def test_what_cannot_be_expressed_is_refused(function: Callable[..., Any], message: str) -> None:
    with pytest.raises(RelayError, match=message) as caught:
        from_pytorch(traced(Calls(function), [X]), infos([X]))
    assert "replace the in-place operation" in str(caught.value)


def test_only_overloads_that_write_to_out_are_replaced() -> None:
    assert without_out("aten::sum", "IntList_out") == "dim_IntList"
    assert without_out("aten::to", "dtype_layout") == "dtype_layout"
