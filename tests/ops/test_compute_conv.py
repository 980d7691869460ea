"""What convolutions compute, against PyTorch, and in other layouts against themselves."""

from __future__ import annotations

from typing import Any as Anything

import numpy as np
import pytest
import torch
from torch.nn import functional

from relay_explorer.relay import nn
from tests.ops.meanings import Array, close, evaluate, numbers, rng
from tests.ops.tensor_programs import refused, t

CONV = {1: nn.conv1d, 2: nn.conv2d, 3: nn.conv3d}
TORCH_CONV: dict[int, Anything] = {1: functional.conv1d, 2: functional.conv2d, 3: functional.conv3d}
TRANSPOSE = {1: nn.conv1d_transpose, 2: nn.conv2d_transpose, 3: nn.conv3d_transpose}
TORCH_TRANSPOSE: dict[int, Anything] = {
    1: functional.conv_transpose1d, 2: functional.conv_transpose2d, 3: functional.conv_transpose3d,
}  # fmt: skip
SPACE = "DHW"


def some(random: np.random.Generator, axes: int, low: int, high: int) -> tuple[int, ...]:
    return tuple([int(n) for n in random.integers(low, high, axes)])


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_convolution(axes: int, seed: int) -> None:
    random = rng(axes, seed)
    groups, batch = int(random.integers(1, 4)), int(random.integers(1, 3))
    inputs, outputs = groups * int(random.integers(1, 4)), groups * int(random.integers(1, 4))
    x = numbers(random, (batch, inputs, *some(random, axes, 5, 9)))
    w = numbers(random, (outputs, inputs // groups, *some(random, axes, 1, 4)))
    window = {"padding": some(random, axes, 0, 3), "dilation": some(random, axes, 1, 3), "groups": groups}
    strides = some(random, axes, 1, 4)
    wanted = TORCH_CONV[axes](torch.tensor(x), torch.tensor(w), stride=strides, **window)
    sizes = {"channels": outputs, "kernel_size": w.shape[2:]}
    close(evaluate(CONV[axes], x, w, strides=strides, **window, **sizes), wanted, 1e-4)


def test_padding_that_differs_before_and_after() -> None:
    x, w = numbers(rng("x"), (1, 2, 5, 6)), numbers(rng("w"), (3, 2, 3, 2))
    wanted = functional.conv2d(functional.pad(torch.tensor(x), (1, 3, 0, 2)), torch.tensor(w))
    close(evaluate(nn.conv2d, x, w, padding=(0, 1, 2, 3)), wanted, 1e-4)


@pytest.mark.parametrize(
    ("data_layout", "kernel_layout", "out_layout"),
    [
        ("NHWC", "HWIO", ""),
        ("NCHW4c", "OIHW2i3o", "NCHW3c"),
        ("NHWC", "OHWI", "NCHW"),
        ("HWNC", "OIHW", "NCHW"),
    ],
)
def test_layouts_of_a_convolution(data_layout: str, kernel_layout: str, out_layout: str) -> None:
    from relay_explorer.relay import layout_transform

    x, w = numbers(rng("x"), (2, 4, 5, 6)), numbers(rng("w"), (6, 4, 3, 2))
    plain = evaluate(nn.conv2d, x, w, strides=(2, 1), padding=(1, 1))
    data = evaluate(layout_transform, x, src_layout="NCHW", dst_layout=data_layout)
    kernel = evaluate(layout_transform, w, src_layout="OIHW", dst_layout=kernel_layout)
    found = evaluate(
        nn.conv2d, data, kernel, strides=(2, 1), padding=(1, 1), data_layout=data_layout,
        kernel_layout=kernel_layout, out_layout=out_layout,
    )  # fmt: skip
    close(evaluate(layout_transform, found, src_layout=out_layout or data_layout, dst_layout="NCHW"), plain)


def test_a_depthwise_weight_given_by_input_channels() -> None:
    x, w = numbers(rng("x"), (1, 3, 5, 5)), numbers(rng("w"), (3, 2, 3, 3))
    wanted = functional.conv2d(torch.tensor(x), torch.tensor(w).reshape(6, 1, 3, 3), groups=3)
    close(evaluate(nn.conv2d, x, w, groups=3, channels=6, kernel_size=(3, 3)), wanted, 1e-4)


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_small_integers_are_added_up_in_the_output_type(dtype: str) -> None:
    x = np.full((1, 8, 4, 4), 100, dtype)
    w = np.full((1, 8, 3, 3), 100, dtype)
    close(evaluate(nn.conv2d, x, w, out_dtype="int32"), np.full((1, 1, 2, 2), 720_000))
    found = evaluate(nn.conv2d_transpose, x, w.transpose(1, 0, 2, 3), out_dtype="int32")
    assert found.max() == 720_000


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("axes", [1, 2, 3])
def test_transposed_convolution(axes: int, seed: int) -> None:
    random = rng("transposed", axes, seed)
    groups = int(random.integers(1, 4))
    inputs, each = groups * int(random.integers(1, 4)), int(random.integers(1, 4))
    x = numbers(random, (2, inputs, *some(random, axes, 3, 6)))
    w = numbers(random, (inputs, each, *some(random, axes, 2, 4)))
    strides = some(random, axes, 2, 4)
    more = {
        "output_padding": some(random, axes, 0, 2),
        "dilation": some(random, axes, 1, 3),
        "groups": groups,
    }
    padding = some(random, axes, 0, 2)
    wanted = TORCH_TRANSPOSE[axes](torch.tensor(x), torch.tensor(w), stride=strides, padding=padding, **more)
    found = evaluate(
        TRANSPOSE[axes], x, w, strides=strides, padding=padding, **more, channels=groups * each,
        kernel_size=w.shape[2:], kernel_layout=("IO" if axes == 2 else "OI") + SPACE[-axes:],
    )  # fmt: skip
    close(found, wanted, 1e-4)


@pytest.mark.parametrize("layout", ["IOW", "OIW", "WIO", "WOI", "IWO"])
def test_transposed_convolution_reads_the_weight_by_its_layout(layout: str) -> None:
    x, w = numbers(rng("x"), (1, 3, 4)), numbers(rng("w"), (3, 2, 3))
    wanted = functional.conv_transpose1d(torch.tensor(x), torch.tensor(w), stride=2)
    named = "IOW" if layout == "OIW" else layout  # as the reference named it
    found = evaluate(
        nn.conv1d_transpose, x, w.transpose(["IOW".index(axis) for axis in named]), strides=(2,),
        kernel_layout=layout,
    )  # fmt: skip
    close(found, wanted, 1e-4)


def test_output_padding_is_not_negative() -> None:
    call = nn.conv1d_transpose(t(2, 2, 4), t(2, 2, 4, name="w"), output_padding=(-1,))
    assert "output_padding=[-1] must not be negative" in str(refused(call))


@pytest.mark.parametrize("groups", [1, 2])
def test_the_gradient_of_a_weight(groups: int) -> None:
    random = rng("gradient", groups)
    x = numbers(random, (2, 4, 7, 8))
    w = torch.tensor(numbers(random, (6, 4 // groups, 3, 2)), requires_grad=True)
    window: dict[str, Anything] = {"padding": (1, 2), "dilation": (2, 1), "groups": groups}
    out = functional.conv2d(torch.tensor(x), w, stride=(2, 3), **window)
    grad = numbers(random, tuple(out.shape))
    out.backward(torch.tensor(grad))
    assert w.grad is not None
    found = evaluate(nn.conv2d_backward_weight, grad, x, strides=(2, 3), kernel_size=(3, 2), **window)
    close(found, w.grad, 1e-4)


def deformed(x: Array, offset: Array, w: Array, stride: int, pad: int, groups: int, shared: int) -> Array:
    """A deformable convolution by its definition, one number after the other."""
    height, width = x.shape[2:]
    y = np.zeros((len(x), len(w), *offset.shape[2:]))
    outputs, inputs = len(w) // groups, w.shape[1]

    def at(image: Array, i: float, j: float) -> float:
        if not (0 <= i < height and 0 <= j < width):
            return 0.0
        a, b = int(i), int(j)
        c, d = min(a + 1, height - 1), min(b + 1, width - 1)
        top = image[a, b] * (1 - (j - b)) + image[a, d] * (j - b)
        low = image[c, b] * (1 - (j - b)) + image[c, d] * (j - b)
        return float(top * (1 - (i - a)) + low * (i - a))

    for n, o, i, j in np.ndindex(y.shape):
        for c, u, v in np.ndindex(w.shape[1:]):
            channel = o // outputs * inputs + c
            first = 2 * ((channel * shared // x.shape[1]) * w[0, 0].size + u * w.shape[3] + v)
            down, right = offset[n, first, i, j], offset[n, first + 1, i, j]
            y[n, o, i, j] += w[o, c, u, v] * at(
                x[n, channel], i * stride - pad + u + down, j * stride - pad + v + right
            )
    return y


@pytest.mark.parametrize(("groups", "shared"), [(1, 1), (2, 1), (1, 2)])
def test_deformable_convolution(groups: int, shared: int) -> None:
    random = rng("deformable", groups, shared)
    x, w = numbers(random, (2, 4, 5, 6)), numbers(random, (2, 4 // groups, 3, 2))
    offset = numbers(random, (2, 12 * shared, 3, 4))
    found = evaluate(
        nn.deformable_conv2d, x, offset, w, strides=2, padding=1, deformable_groups=shared, groups=groups
    )
    close(found, deformed(x, offset, w, 2, 1, groups, shared), 1e-4)
    still = evaluate(
        nn.deformable_conv2d, x, offset * 0, w, strides=2, padding=1, deformable_groups=shared, groups=groups
    )
    close(still, evaluate(nn.conv2d, x, w, strides=(2, 2), padding=(1, 1), groups=groups), 1e-4)


@pytest.mark.parametrize("multiply", [True, False])
def test_correlation(multiply: bool) -> None:
    a, b = numbers(rng("a"), (1, 2, 9, 8)), numbers(rng("b"), (1, 2, 9, 8))
    reach, side, stride, step, pad = 3, 3, 2, 2, 1
    found = evaluate(
        nn.correlation, a, b, kernel_size=side, max_displacement=reach, stride1=stride, stride2=step,
        padding=pad, is_multiply=multiply, layout="NCHW",
    )  # fmt: skip
    wide = [np.pad(image, [(0, 0), (0, 0), (pad, pad), (pad, pad)]) for image in (a, b)]
    for q, i, j in np.ndindex(found.shape[1:]):
        y, x = reach + stride * i, reach + stride * j
        down, right = (q // 3 - 1) * step, (q % 3 - 1) * step
        patch = wide[0][0, :, y : y + side, x : x + side]
        other = wide[1][0, :, y + down : y + down + side, x + right : x + right + side]
        wanted = np.mean(patch * other if multiply else np.abs(patch - other))
        np.testing.assert_allclose(found[0, q, i, j], wanted, rtol=1e-4, atol=1e-5)
