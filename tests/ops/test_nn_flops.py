"""How many operations a call counts, against PyTorch's counter and against definitions."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch.utils.flop_counter import FlopCounterMode

from relay_explorer.ir.expr import Call, Expr
from relay_explorer.ops.nn import activation, misc, pool, softmax
from relay_explorer.ops.nn.convolution import direct as conv
from relay_explorer.ops.nn.convolution import transposed as conv_transpose
from relay_explorer.ops.nn.convolution.backward_weight import conv2d_backward_weight
from relay_explorer.relay import nn
from tests.ops.nn_programs import operands
from tests.ops.tensor_programs import t, type_of


def flops(call: Expr) -> int:
    assert isinstance(call, Call)
    call = operands(call)
    count = call.op.flops(call.attrs, [arg.type_annotation for arg in call.args], type_of(call))  # type: ignore[attr-defined]
    assert isinstance(count, int)
    return count


def pytorch_flops(function: Callable[..., object], *shapes: tuple[int, ...], **options: object) -> int:
    with FlopCounterMode(display=False) as counter:
        function(*[torch.empty(shape, device="meta") for shape in shapes], **options)
    return int(counter.get_total_flops())


F = torch.nn.functional
CASES: list[tuple[Expr, int]] = [
    (
        conv.conv2d(t(2, 6, 9, 9), t(8, 6, 3, 3), 2, 1),
        pytorch_flops(F.conv2d, (2, 6, 9, 9), (8, 6, 3, 3), stride=2, padding=1),
    ),
    (
        conv.conv2d(t(2, 9, 9, 6), t(3, 3, 6, 8), 2, 1, data_layout="NHWC", kernel_layout="HWIO"),
        pytorch_flops(F.conv2d, (2, 6, 9, 9), (8, 6, 3, 3), stride=2, padding=1),
    ),
    (
        conv.conv2d(t(2, 6, 9, 9), t(8, 3, 3, 3), groups=2),
        pytorch_flops(F.conv2d, (2, 6, 9, 9), (8, 3, 3, 3), groups=2),
    ),
    (
        conv.conv2d(t(1, 2, 9, 9, 4), t(2, 2, 3, 3, 4, 4), data_layout="NCHW4c", kernel_layout="OIHW4i4o"),
        pytorch_flops(F.conv2d, (1, 8, 9, 9), (8, 8, 3, 3)),
    ),
    (conv.conv1d(t(2, 6, 9), t(8, 6, 3)), pytorch_flops(F.conv1d, (2, 6, 9), (8, 6, 3))),
    (
        conv.conv3d(t(1, 2, 5, 5, 5), t(4, 2, 3, 3, 3)),
        pytorch_flops(F.conv3d, (1, 2, 5, 5, 5), (4, 2, 3, 3, 3)),
    ),
    (
        conv_transpose.conv2d_transpose(t(2, 6, 4, 4), t(6, 8, 3, 3), 2),
        pytorch_flops(F.conv_transpose2d, (2, 6, 4, 4), (6, 8, 3, 3), stride=2),
    ),
    (
        conv2d_backward_weight(t(2, 8, 7, 7), t(2, 6, 9, 9), kernel_size=3),
        pytorch_flops(F.conv2d, (2, 6, 9, 9), (8, 6, 3, 3)),
    ),
    (nn.dense(t(4, 784), t(10, 784)), pytorch_flops(F.linear, (4, 784), (10, 784))),
    (nn.matmul(t(4, 7), t(7, 5)), pytorch_flops(torch.matmul, (4, 7), (7, 5))),
    (nn.matmul(t(7, 4), t(7, 5), transpose_a=True), pytorch_flops(torch.matmul, (4, 7), (7, 5))),
    (
        nn.batch_matmul(t(3, 4, 7), t(3, 5, 7)),
        pytorch_flops(torch.bmm, (3, 4, 7), (3, 7, 5)),
    ),
    (activation.relu(t(2, 3)), 6),
    (softmax.softmax(t(2, 3)), 5 * 6),
    (nn.batch_norm(t(2, 3), t(3), t(3), t(3), t(3)).tuple_value, 4 * 6),
    (nn.bias_add(t(2, 3), t(3)), 6),
    (pool.max_pool2d(t(1, 2, 4, 4), 2, 2), 4 * 8),
    (misc.batch_flatten(t(2, 3, 4)), 0),
    (nn.upsampling(t(1, 1, 2, 2), 2, 2), 0),
    (nn.upsampling(t(1, 1, 2, 2), 2, 2, method="bilinear"), 8 * 16),
]


@pytest.mark.parametrize(
    ("call", "expected"), CASES, ids=lambda value: getattr(getattr(value, "op", None), "name", "")
)
def test_operations(call: Expr, expected: int) -> None:
    assert flops(call) == expected
