"""torchvision's operators, declared here as torchvision declares them, with plain loops as their meaning."""

from __future__ import annotations

from functools import cache
from itertools import product

import torch
from torch import Tensor

from tests.frontends.pytorch.helpers import operators, same_traced

DEFORM_CONV = (
    "deform_conv2d(Tensor input, Tensor weight, Tensor offset, Tensor mask, Tensor bias, SymInt stride_h, "
    "SymInt stride_w, SymInt pad_h, SymInt pad_w, SymInt dilation_h, SymInt dilation_w, SymInt groups, "
    "SymInt offset_groups, bool use_mask) -> Tensor"
)


def sampled(image: Tensor, y: Tensor, x: Tensor) -> Tensor:
    """Interpolate an image (channels, height, width) at a position; elements outside are zero."""
    result = torch.zeros(len(image))
    top, left = y.floor(), x.floor()
    for row, column in product((top, top + 1), (left, left + 1)):
        if 0 <= row < image.shape[1] and 0 <= column < image.shape[2]:
            share = (1 - (y - row).abs()) * (1 - (x - column).abs())
            result += share * image[:, int(row), int(column)]
    return result


def deformed(
    x: Tensor,
    weight: Tensor,
    offset: Tensor,
    mask: Tensor,
    bias: Tensor,
    stride_h: int,
    stride_w: int,
    pad_h: int,
    pad_w: int,
    dilation_h: int,
    dilation_w: int,
    groups: int,
    offset_groups: int,
    use_mask: bool,
) -> Tensor:
    """Convolve windows whose elements are read at shifted positions, one element at a time."""
    batch, channels = x.shape[:2]
    units, inner, rows, columns = weight.shape
    result = bias.reshape(1, -1, 1, 1).repeat(batch, 1, *offset.shape[2:])
    per_offset, per_group = channels // offset_groups, units // groups
    for n, i, j, r, c in product(range(batch), *map(range, (*offset.shape[2:], rows, columns))):
        read = torch.zeros(channels)
        for group in range(offset_groups):
            tap = group * rows * columns + r * columns + c
            part = slice(group * per_offset, (group + 1) * per_offset)
            y = i * stride_h - pad_h + r * dilation_h + offset[n, 2 * tap, i, j]
            across = j * stride_w - pad_w + c * dilation_w + offset[n, 2 * tap + 1, i, j]
            read[part] = sampled(x[n, part], y, across) * (mask[n, tap, i, j] if use_mask else 1)
        for unit in range(units):
            start = unit // per_group * inner
            result[n, unit, i, j] += weight[unit, :, r, c] @ read[start : start + inner]
    return result


@cache
def with_torchvision() -> torch.library.Library | None:
    """Declare the operator if torchvision, which is not among the test packages, has not."""
    if hasattr(torch.ops.torchvision, "deform_conv2d"):
        return None
    library = torch.library.Library("torchvision", "FRAGMENT")
    library.define(DEFORM_CONV)
    library.impl("deform_conv2d", deformed, "CPU")
    return library


def test_deformable_convolution_interpolates_between_the_outermost_elements_and_zero() -> None:
    with_torchvision()
    torch.manual_seed(0)
    x, weight, bias = torch.rand(2, 4, 5, 4), torch.rand(2, 2, 3, 2), torch.rand(2)
    height, width = (5 + 2 - 3) // 2 + 1, 4 + 4 - 2
    offset, mask = 2 * torch.randn(2, 24, height, width), torch.rand(2, 12, height, width)

    def masked(x: Tensor, weight: Tensor, offset: Tensor, mask: Tensor, bias: Tensor) -> Tensor:
        result: Tensor = torch.ops.torchvision.deform_conv2d(
            x, weight, offset, mask, bias, 2, 1, 1, 2, 1, 2, 2, 2, True
        )
        return result

    def unmasked(x: Tensor, weight: Tensor, offset: Tensor, bias: Tensor) -> Tensor:
        none = torch.zeros(2, 1)
        result: Tensor = torch.ops.torchvision.deform_conv2d(
            x, weight, offset, none, bias, 2, 1, 1, 2, 1, 2, 2, 2, False
        )
        return result

    assert "nn.deformable_conv2d" not in operators(same_traced(masked, x, weight, offset, mask, bias))
    same_traced(unmasked, x, weight, offset, bias)
