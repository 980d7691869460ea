"""Single operators at sizes that occur in networks, written in Relay and in PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional as f

from relay_explorer import relay

nn, image = relay.nn, relay.image
Array = Any
RNG = np.random.default_rng(0)


class Case(NamedTuple):
    """An operator of a group, on arrays of these shapes, followed by weights, which are constants when it is
    compiled.
    """

    group: str
    name: str
    arrays: list[Array]
    relay: Callable[..., Any]
    torch: Callable[..., Any]
    weights: tuple[Array, ...] = ()


def a(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype("float32")


def positive(*shape: int) -> Array:
    return np.abs(a(*shape)) + np.float32(0.1)


def whole(*shape: int, below: int = 100) -> Array:
    return RNG.integers(0, below, shape).astype("int32")


def convolution(
    name: str, data: tuple[int, ...], weight: tuple[int, ...], stride: int = 1, pad: int = 0,
    dilation: int = 1, groups: int = 1,
) -> Case:  # fmt: skip
    """Return a convolution over as many axes as the weight has, less two."""
    axes = len(weight) - 2
    ours = (nn.conv1d, nn.conv2d, nn.conv3d)[axes - 1]
    theirs = (f.conv1d, f.conv2d, f.conv3d)[axes - 1]
    return Case(
        "convolutions", name, [a(*data)],
        lambda x, w: ours(x, w, strides=(stride,) * axes, padding=(pad,) * axes, dilation=(dilation,) * axes,
                          groups=groups, channels=weight[0], kernel_size=weight[2:]),
        lambda x, w: theirs(x, w, None, stride, pad, dilation, groups), (a(*weight),),
    )  # fmt: skip


def transposed(name: str, data: tuple[int, ...], weight: tuple[int, ...], stride: int, pad: int) -> Case:
    return Case(
        "convolutions", name, [a(*data)],
        lambda x, w: nn.conv2d_transpose(x, w, strides=(stride, stride), padding=(pad, pad),
                                         channels=weight[1], kernel_size=weight[2:]),
        lambda x, w: f.conv_transpose2d(x, w, None, stride, pad), (a(*weight),),
    )  # fmt: skip


PICTURE = (1, 64, 56, 56)
ROWS = (256, 1024)
HEADS = (12, 128, 64)
ODD = (12, 197, 64)
MOVES = "data movement"


def convolutions() -> list[Case]:
    return [
        convolution("1D, 64 → 64, 128, k 3", (1, 64, 128), (64, 64, 3), pad=1),
        convolution("1D, 256 → 256, 1000, k 5, stride 2", (1, 256, 1000), (256, 256, 5), 2, 2),
        convolution("1D, depthwise, 256, 500, k 9", (1, 256, 500), (256, 1, 9), pad=4, groups=256),
        convolution("1D, 1 → 32, 8000, k 80, stride 4", (1, 1, 8000), (32, 1, 80), 4),
        convolution("3 × 3, 64 → 64, 56 × 56", PICTURE, (64, 64, 3, 3), pad=1),
        convolution("3 × 3, 3 → 10, 64 × 64", (1, 3, 64, 64), (10, 3, 3, 3), pad=1),
        convolution("1 × 1, 64 → 21, 28 × 28", (1, 64, 28, 28), (21, 64, 1, 1)),
        convolution("3 × 3, 128 in 32 groups, 56 × 56", (1, 128, 56, 56), (128, 4, 3, 3), pad=1, groups=32),
        convolution("3 × 3, dilated, 64 → 64, 28 × 28", (1, 64, 28, 28), (64, 64, 3, 3), 1, 2, 2),
        convolution("7 × 7, depthwise, 96, 56 × 56", (1, 96, 56, 56), (96, 1, 7, 7), 1, 3, 1, 96),
        convolution("1 × 7, 128 → 128, 17 × 17", (1, 128, 17, 17), (128, 128, 1, 7)),
        convolution("3D, 3³, 16 → 32, 16³", (1, 16, 16, 16, 16), (32, 16, 3, 3, 3), pad=1),
        transposed("transposed, 4 × 4, 64 → 32, 28 × 28, stride 2", (1, 64, 28, 28), (64, 32, 4, 4), 2, 1),
        transposed(
            "transposed, 2 × 2, 256 → 128, 14 × 14, stride 2", (1, 256, 14, 14), (256, 128, 2, 2), 2, 0
        ),
        transposed("transposed, 3 × 3, 64 → 64, 28 × 28", (1, 64, 28, 28), (64, 64, 3, 3), 1, 1),
    ]


def pools() -> list[Case]:
    big = [a(1, 64, 112, 112)]
    return [
        Case("pooling", "maximum of 3 × 3, stride 2", big,
             lambda x: nn.max_pool2d(x, (3, 3), (2, 2), padding=(1, 1)), lambda x: f.max_pool2d(x, 3, 2, 1)),
        Case("pooling", "mean of 2 × 2", big,
             lambda x: nn.avg_pool2d(x, (2, 2), (2, 2)), lambda x: f.avg_pool2d(x, 2)),
        Case("pooling", "global mean, 2048, 7 × 7", [a(1, 2048, 7, 7)],
             nn.global_avg_pool2d, lambda x: f.adaptive_avg_pool2d(x, 1)),
        Case("pooling", "adaptive, 13 × 13 to 6 × 6", [a(1, 256, 13, 13)],
             lambda x: nn.adaptive_avg_pool2d(x, (6, 6)), lambda x: f.adaptive_avg_pool2d(x, 6)),
    ]  # fmt: skip


def products() -> list[Case]:
    def dense(name: str, rows: int, features: int, units: int, constant: bool = True) -> Case:
        x, w = a(rows, features), a(units, features)
        return Case(
            "matrix products", name, [x] if constant else [x, w], nn.dense, f.linear, (w,) if constant else ()
        )

    def batches(name: str, x: Array, y: Array, left: bool, right: bool) -> Case:
        return Case(
            "matrix products", name, [x, y],
            lambda x, y: nn.batch_matmul(x, y, transpose_a=left, transpose_b=right),
            lambda x, y: torch.bmm(x.mT if left else x, y.mT if right else y),
        )  # fmt: skip

    def matrices(name: str, x: Array, y: Array) -> Case:
        return Case("matrix products", name, [x, y], nn.matmul, torch.matmul)

    return [
        dense("dense 1 × 1024 → 1000", 1, 1024, 1000),
        dense("dense 128 × 768 → 768", 128, 768, 768),
        dense("dense 197 × 192 → 768", 197, 192, 768),
        dense("dense 128 × 768 → 768, dynamic weight", 128, 768, 768, constant=False),
        dense("dense 1 × 1024 → 1024, dynamic weight", 1, 1024, 1024, constant=False),
        matrices("256 × 256 × 256", a(256, 256), a(256, 256)),
        matrices("255 × 250 × 241", a(255, 250), a(250, 241)),
        matrices("1 × 1024 × 1024", a(1, 1024), a(1024, 1024)),
        batches("12 × (128 × 64 × 128), second transposed", a(*HEADS), a(*HEADS), False, True),
        batches("12 × (128 × 128 × 64)", a(12, 128, 128), a(*HEADS), False, False),
        batches("12 × (128 × 64 × 128), both transposed", a(12, 64, 128), a(*HEADS), True, True),
        batches("12 × (197 × 64 × 197), second transposed", a(*ODD), a(*ODD), False, True),
        batches("12 × (197 × 197 × 64)", a(12, 197, 197), a(*ODD), False, False),
    ]


def rows() -> list[Case]:
    wide = [a(*ROWS)]
    channels = (a(64), a(64), a(64), positive(64))

    def reduced(name: str, ours: Callable[..., Any], theirs: Callable[..., Any], inputs: list[Array]) -> Case:
        return Case("reductions", name, inputs, ours, theirs)

    return [
        reduced("softmax, 12 × 128 × 128", nn.softmax, lambda x: f.softmax(x, -1), [a(12, 128, 128)]),
        reduced("softmax, 12 × 197 × 197", nn.softmax, lambda x: f.softmax(x, -1), [a(12, 197, 197)]),
        reduced("softmax of 21 channels", lambda x: nn.softmax(x, axis=1), lambda x: f.softmax(x, 1),
                [a(1, 21, 64, 64)]),
        reduced("log_softmax, 32 × 10000", nn.log_softmax, lambda x: f.log_softmax(x, -1), [a(32, 10000)]),
        Case("reductions", "layer_norm, 128 × 768", [a(128, 768)], nn.layer_norm,
             lambda x, g, b: f.layer_norm(x, (768,), g, b), (a(768), a(768))),
        Case("reductions", "group_norm, 32 groups of 256, 28 × 28", [a(1, 256, 28, 28)],
             lambda x, g, b: nn.group_norm(x, g, b, 32), lambda x, g, b: f.group_norm(x, 32, g, b),
             (a(256), a(256))),
        Case("reductions", "batch_norm, 64, 56 × 56", [a(*PICTURE)], lambda x, *p: nn.batch_norm(x, *p)[0],
             lambda x, g, b, m, v: f.batch_norm(x, m, v, g, b), channels),
        reduced("sum of columns", lambda x: relay.sum(x, 0), lambda x: x.sum(0), wide),
        reduced("sum of rows", lambda x: relay.sum(x, 1), lambda x: x.sum(1), wide),
        reduced("sum of all elements", relay.sum, lambda x: x.sum(), wide),
        reduced("maximum of rows of 333", lambda x: relay.max(x, 1), lambda x: x.amax(1), [a(1000, 333)]),
        reduced("argmax of rows", lambda x: relay.argmax(x, 1), lambda x: x.argmax(1), wide),
        reduced("cumulative sum", lambda x: relay.cumsum(x, 1), lambda x: x.cumsum(1), wide),
    ]  # fmt: skip


def elementwise() -> list[Case]:
    x, y = a(*ROWS), positive(*ROWS)
    half, root = relay.const(0.5), relay.const(0.70710678)
    plain: list[tuple[str, Any, Any, Array]] = [
        ("exp", relay.exp, torch.exp, x), ("log", relay.log, torch.log, y), ("erf", relay.erf, torch.erf, x),
        ("tanh", relay.tanh, torch.tanh, x), ("sigmoid", relay.sigmoid, torch.sigmoid, x),
        ("rsqrt", relay.rsqrt, torch.rsqrt, y), ("sin", relay.sin, torch.sin, x),
        ("gelu", lambda x: x * (half + half * relay.erf(x * root)), f.gelu, x),
        ("relu", nn.relu, f.relu, x),
    ]  # fmt: skip
    one = [Case("element-wise", name, [inputs], ours, theirs) for name, ours, theirs, inputs in plain]
    return [
        *one,
        Case("element-wise", "add", [x, y], relay.add, torch.add),
        Case("element-wise", "add a column", [x, a(256, 1)], relay.add, torch.add),
        Case("element-wise", "power", [y, x], relay.power, torch.pow),
        Case("element-wise", "where", [x > 0, x, y], relay.where, torch.where),
    ]


def moved() -> list[Case]:
    parts = [a(1280, 33), a(1280, 77), a(1280, 101)]
    half_pixel = "half_pixel"
    return [
        Case(MOVES, "transpose 512 × 512", [a(512, 512)], relay.transpose, lambda x: x.T.contiguous()),
        Case(MOVES, "transpose 1000 × 333", [a(1000, 333)], relay.transpose, lambda x: x.T.contiguous()),
        Case(MOVES, "channels last", [a(*PICTURE)], lambda x: relay.transpose(x, (0, 2, 3, 1)),
             lambda x: x.permute(0, 2, 3, 1).contiguous()),
        Case(MOVES, "split heads, 128 × 12 × 64", [a(1, 128, 12, 64)],
             lambda x: relay.transpose(x, (0, 2, 1, 3)), lambda x: x.permute(0, 2, 1, 3).contiguous()),
        Case(MOVES, "concatenate channels", [a(*PICTURE), a(*PICTURE)],
             lambda x, y: relay.concatenate((x, y), 1), lambda x, y: torch.cat((x, y), 1)),
        Case(MOVES, "concatenate rows of 33, 77 and 101", parts,
             lambda *x: relay.concatenate(x, 1), lambda *x: torch.cat(x, 1)),
        Case(MOVES, "pad by 1", [a(*PICTURE)], lambda x: nn.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))),
             lambda x: f.pad(x, (1, 1, 1, 1))),
        Case(MOVES, "every second pixel", [a(1, 64, 112, 112)],
             lambda x: relay.strided_slice(x, (0, 0, 0, 0), (1, 64, 112, 112), (1, 1, 2, 2)),
             lambda x: x[:, :, ::2, ::2].contiguous()),
        Case(MOVES, "take 512 rows of 30000", [a(30000, 256), whole(512, below=30000)],
             lambda x, i: relay.take(x, i, 0), lambda x, i: torch.index_select(x, 0, i)),
        Case(MOVES, "upsampling by 2, nearest", [a(1, 64, 28, 28)],
             lambda x: nn.upsampling(x, 2, 2), lambda x: f.interpolate(x, scale_factor=2)),
        Case(MOVES, "upsampling by 2, bilinear", [a(1, 64, 28, 28)],
             lambda x: image.resize2d(x, size=(56, 56), method="linear",
                                      coordinate_transformation_mode=half_pixel),
             lambda x: f.interpolate(x, scale_factor=2, mode="bilinear")),
    ]  # fmt: skip


def sorted_() -> list[Case]:
    return [
        Case("sorting", "64 rows of 1000", [a(64, 1000)], lambda x: relay.sort(x, 1), lambda x: x.sort(1)[0]),
        Case("sorting", "top 5 of 32 rows of 1000", [a(32, 1000)],
             lambda x: relay.topk(x, 5, ret_type="values"), lambda x: x.topk(5)[0]),
        Case("sorting", "top 200 of 8400", [a(1, 8400)],
             lambda x: relay.topk(x, 200, ret_type="values"), lambda x: x.topk(200)[0]),
    ]  # fmt: skip


def integers() -> list[Case]:
    x, w = (RNG.integers(-100, 100, (n, 768)).astype("int8") for n in (128, 768))
    return [
        Case("integers", "dense 128 × 768 → 768, int8", [x],
             lambda x, w: nn.dense(x, w, out_dtype="int32"), lambda x, w: torch._int_mm(x, w.T), (w,)),
        Case("integers", "128 × 128 × 128, int32", [whole(128, 128), whole(128, 128)],
             nn.matmul, torch.matmul),
    ]  # fmt: skip


def cases() -> list[Case]:
    groups = (convolutions, pools, products, rows, elementwise, moved, sorted_, integers)
    return [case for group in groups for case in group()]
