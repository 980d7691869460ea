"""Calls whose attributes, shapes and layouts are other than usual, compiled: as their NumPy meaning."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.ir.expr import Function
from relay_explorer.relay import image, nn, vision
from tests.lower.kernels import Case, agree, case
from tests.ops.meanings import rng


def t(*shape: int, dtype: str = "float32", name: str = "x") -> Any:
    return relay.var(name, shape=shape, dtype=dtype)


def ints(*shape: int, name: str = "i") -> Any:
    return t(*shape, dtype="int32", name=name)


def elements() -> list[Case]:
    x, scalar, column = t(2, 3), t(), t(2, 1, name="y")
    small = t(4, dtype="int8")
    return [
        case(scalar + scalar), case(x + scalar), case(x * column), case(relay.where(x > column, x, column)),
        case(relay.where(t(2, 3, name="c"), x, scalar)),
        case(relay.power(small, t(4, dtype="int8", name="y")),
        [3, -2, 0, 5], [4, 6, 0, 1]), case(relay.clip(small, -300, 2.5)), case(relay.clip(small, 3, 1)),
        case(relay.cast(x, "bool"), [[0.0, -0.0, 0.5], [2, -1, 0]]), case(relay.cast(x, "int64")),
        case(relay.cast(x, "uint8"), [[1.9, 255, 7], [0, 1, 2.5]]), case(relay.cast(x, "float16")),
        case(relay.reinterpret(x, "int32")), case(relay.round(x), [[0.5, 1.5, 2.5], [-0.5, -1.5, 3.49]]),
        case(relay.left_shift(ints(4), ints(4, name="n")), [3, -3, 1, 7], [2, 1, 31, 40]),
        case(relay.right_shift(ints(4), ints(4, name="n")), [9, -9, 1, -7], [2, 1, 31, 40]),
        case(relay.prod(t(3, dtype="int64"))), case(nn.leaky_relu(small, 0.3)),
        case(nn.prelu(t(2, 3, 4), t(4), 2)),
        case(nn.bias_add(t(2, 3, 4), t(4), -1)), case(relay.fast_exp(x)), case(relay.fast_tanh(x * scalar)),
        case(relay.tan(t(5, dtype="float64"))), case(relay.erf(t(5, dtype="float16"))),
        case(relay.full(relay.const(7, "int32"), (2, 2), "float64")), case(relay.arange(9, 2, -1.5)),
        case(relay.one_hot(ints(2, 2), relay.const(3), relay.const(-1), 3, 1, "int32"), [[0, 2], [9, -1]]),
    ]  # fmt: skip


def shapes() -> list[Case]:
    x, y = t(2, 3, 4), t(2, 3, 4, name="y")
    return [
        case(relay.transpose(x, [-1, 0, 1])), case(relay.reshape(x, (0, -1))), case(relay.reshape(x, (-4, 1,
        2, -2))), case(relay.reshape(x, (-3, -1))), case(relay.reverse_reshape(x, (-1, 0))),
        case(relay.reshape(t(1), ())), case(relay.reshape(t(), (1, 1))), case(relay.squeeze(t(1, 3, 1),
        [-1])), case(relay.expand_dims(x, -2, 2)), case(relay.reshape_like(x, t(6, 5, name="l"), 0, 2, 0, 1)),
        case(nn.batch_flatten(t(3))),
        case(relay.layout_transform(t(1, 4, 3, 2), "NCHW", "NHWC2c")),
        case(relay.layout_transform(t(1, 2, 3, 2, 4), "NCHW4c", "NCHW2c")), case(relay.reverse(x, -1)),
        case(relay.reverse_sequence(t(4, 3), ints(3), 0, 1), np.arange(12).reshape(4, 3), [0, 3, 4]),
        case(relay.reverse_sequence(t(4, 3), ints(3), 0, 1), np.arange(12).reshape(4, 3), [-1, 3, 9]),
        case(relay.concatenate([x, y, x], -2)), case(relay.stack([x, y, y], 1)), case(relay.split(x, 2, 2)),
        case(relay.concatenate([t(2, 0), t(2, 3, name="z")], 1)), case(relay.split(x, (1, 3), -1)),
        case(relay.repeat(x, 3, -1)), case(relay.tile(x, (2,))), case(relay.tile(t(3), (2, 2))),
        case(relay.meshgrid([t(2), t(3, name="b"), t(name="c")], indexing="xy")),
        case(relay.broadcast_to(t(3, 1), (2, 3, 4))), case(relay.collapse_sum_to(x, (3, 1))),
        case(relay.collapse_sum_like(x, t(4, name="l"))), case(relay.shape_of(x, "int64")),
        case(relay.ndarray_size(x)), case(relay.matrix_set_diag(t(2, 3, 4), t(2, 3, 3, name="d"), (-1, 1))),
        case(relay.matrix_set_diag(t(3, 4), t(2, 3, name="d"), (0, 1), "LEFT_RIGHT")),
        case(relay.trilu(t(2, 3, 4), -1, True)), case(relay.trilu(t(3, 3), 1, False)),
    ]  # fmt: skip


def places() -> list[Case]:
    x = t(3, 4)
    far, grid, cube = [[-7, 0], [3, 9]], np.arange(12).reshape(3, 4), np.arange(24).reshape(2, 3, 4)
    return [
        *[case(relay.take(x, ints(2, 2), axis, mode=mode), grid, far)
          for axis in (None, 0, -1) for mode in ("clip", "wrap")],
        case(relay.take(x, ints(2), 0, mode="fast"), grid, [2, 0]),
        case(relay.take(t(2, 3, 4), ints(2, 2), 2, batch_dims=1), cube, [[0, 3], [9, -2]]),
        case(relay.gather(x, -1, ints(3, 2)), grid, [[0, -1], [3, 2], [-4, 1]]),
        case(relay.gather_nd(x, ints(1, 2)), grid, [[2, -1]]),
        case(relay.gather_nd(t(2, 3, 4), ints(1, 2, 2), 1), cube, [[[0, 2], [1, 1]]]),
        case(relay.adv_index([x, ints(2, 1), ints(3, name="j")]), grid, [[0], [-1]], [1, 2, -4]),
        *[case(relay.scatter_elements(x, ints(2, 4), t(2, 4, name="u"), 0, how), np.ones((3, 4)),
               [[0, 2, 0, 1], [0, -1, 1, 1]], np.arange(8).reshape(2, 4))
          for how in ("update", "add", "mul", "mean", "min", "max")],
        *[case(relay.scatter_nd(x, ints(2, 3), t(3, name="u"), how), np.ones((3, 4)), [[0, 2, 0], [1, -1, 1]],
               [5, 6, 7]) for how in ("update", "add", "max")],
        case(relay.unravel_index(ints(3), ints(2, name="s")), [0, 7, 11], [3, 4]),
        case(relay.strided_slice(x, [-1, -1], [-10, -10], [-1, -2])), case(relay.strided_slice(x, [1], [99])),
        case(relay.strided_slice(x, [1, 2], [-1, -1], axes=[1, 0], slice_mode="size")),
        case(relay.strided_slice(x, [0, 5], [2, 9])), case(relay.slice_like(x, t(2, 9, name="l"), axes=[0])),
        case(relay.strided_set(x, t(2, 2, name="v"), [0, 3], [3, -5], [2, -2])),
        case(relay.strided_set(x, t(1, 4, name="v"), [-2], [9])),
        case(relay.sequence_mask(t(2, 4, 3), ints(2), 7.5, 1), np.ones((2, 4, 3)), [1, 3]),
        case(relay.sparse_reshape(ints(2, 2), [5, 2], [5, -1]), [[0, 9], [4, 1]]),
        case(relay.sparse_to_dense(ints(3), [4], relay.const(2.5), -1), [3, 0, 3]),
    ]  # fmt: skip


def reductions() -> list[Case]:
    x, whole, truth = t(2, 3, 4), t(2, 3, 4, dtype="int8"), t(2, 3, 4, dtype="bool")
    same = np.array([[1, 3, 3, 0], [2, 2, 1, 2]], "float32")
    least = np.full((2, 4), -np.inf)
    result = [
        case(fold(x, axis, keepdims=keep, exclude=exclude))
        for fold in (relay.sum, relay.max, relay.mean)
        for axis, keep, exclude in (
            (None, False, False),
            (-1, True, False),
            ([0, 2], False, False),
            (1, False, True),
        )
    ]
    return [
        *result, case(relay.sum(whole, 1)), case(relay.mean(whole, 1)), case(relay.prod(whole, -1,
        keepdims=True)), case(relay.max(whole)), case(relay.sum(truth, 0)), case(relay.all(truth, [1, 2])),
        case(relay.min(truth)),
        case(relay.sum(t())), case(relay.mean(t(1000, dtype="float16")), np.full(1000, 100)),
        case(relay.variance(x, [0, 1], unbiased=True)), case(relay.variance(t(64, dtype="float16"), 0)),
        *[case(search(t(2, 4), axis, select_last_index=last), values)
          for search in (relay.argmax, relay.argmin) for axis in (None, 1) for last in (False, True)
          for values in (same, least)],
        case(relay.argmax(truth, 2)), case(relay.argmin(whole, [0, 2], keepdims=True)),
        case(relay.cumsum(whole, 1, "int32", True)), case(relay.cumprod(x, None, exclusive=True)),
        case(relay.cumsum(truth, 0, "bool")), case(relay.cumsum(t(600, dtype="float16"), 0), np.ones(600)),
    ]  # fmt: skip


def orders() -> list[Case]:
    same = np.array([[1, 3, 1, 0, 3], [2, 2, 2, 1, 1]], "float32")
    return [
        *[case(order(t(2, 5), axis, ascending), same)
          for order in (relay.sort, relay.argsort) for axis in (0, -1) for ascending in (True, False)],
        case(relay.argsort(t(33, dtype="int8"), dtype="int64")), case(relay.sort(t(3, 70, dtype="float64"))),
        case(relay.topk(t(2, 5), 3, ret_type="values"), same),
        case(relay.topk(t(2, 5), 0, 0, "indices"), same),
        case(relay.topk(t(2, 5), 2, is_ascend=True, dtype="int64"), same),
        *[case(relay.searchsorted(t(2, 5), t(2, 3, name="v"), right), np.sort(same), [[1, 0, 9], [2, -1,
          1.5]]) for right in (False, True)],
        *[case(relay.unique(t(7), ordered, True), [3, 1, 3, 2, 1, 9, 3]) for ordered in (True, False)],
        case(relay.invert_permutation(ints(5)), [4, 0, 3, 1, 2]),
    ]  # fmt: skip


def products() -> list[Case]:
    a, b = t(2, 3, 4, name="a"), t(2, 5, 4, name="b")
    return [
        case(nn.dense(t(2, 3, 4), t(5, 4, name="w"))), case(nn.dense(t(4), t(5, 4, name="w"))),
        case(nn.dense(t(2, 4, dtype="int8"), t(3, 4, dtype="int8", name="w"), out_dtype="int32")),
        case(nn.matmul(t(2, 4, 3), t(4, 5, name="m"), transpose_a=True)),
        case(nn.matmul(t(3), t(3, 2, name="m"))),
        case(nn.matmul(t(2, 4, 3), t(5, 4, name="m"), transpose_a=True, transpose_b=True)),
        case(nn.batch_matmul(a, b)), case(nn.batch_matmul(a, t(1, 4, 5, name="b"), transpose_b=False)),
        case(nn.batch_matmul(t(1, 4, 3), b, transpose_a=True)), case(relay.einsum([a, b], "bij,bkj->bik")),
        case(relay.einsum([t(3, 3)], "ii")), case(relay.einsum([t(3), t(2, name="v")], "i,j")),
        case(nn.bitserial_dense(ints(2, 9), ints(3, 9, name="w"), data_bits=3, weight_bits=2,
             unipolar=False)),
        case(nn.bitpack(t(2, 64, dtype="uint8"), bits=3, pack_axis=1, bit_axis=0, pack_type="uint16")),
        case(relay.fixed_point_multiply(ints(6), 2**30 + 12345, 3), [-3, 0, 1, 77, 2**30, -(2**31)]),
    ]  # fmt: skip


def convolutions() -> list[Case]:
    x, w = t(2, 4, 7, 6), t(6, 4, 3, 2, name="w")
    return [
        case(nn.conv2d(x, w, (2, 1), (1, 0, 2, 1), (2, 3))),
        case(nn.conv2d(t(2, 7, 6, 4), t(3, 2, 4, 6, name="w"), data_layout="NHWC", kernel_layout="HWIO",
             padding=1)),
        case(nn.conv2d(x, t(6, 2, 3, 2, name="w"), groups=2, channels=6, kernel_size=(3, 2),
             out_layout="NHWC")),
        case(nn.conv2d(x, t(4, 2, 3, 2, name="w"), groups=4, channels=8, kernel_size=(3, 2))),
        case(nn.conv2d(t(1, 2, 5, 5, 2), t(3, 2, 3, 3, 2, 2, name="w"), data_layout="NCHW2c",
                       kernel_layout="OIHW2i2o", channels=6, kernel_size=(3, 3))),
        case(nn.conv2d(t(1, 3, 5, 5, dtype="int8"), t(2, 3, 3, 3, dtype="int8", name="w"),
             out_dtype="int32")),
        case(nn.conv1d(t(2, 9, 3), t(3, 3, 4, name="w"), 2, (1, 2), 2, data_layout="NWC",
             kernel_layout="WIO")),
        case(nn.conv3d(t(1, 2, 5, 4, 3), t(3, 2, 2, 2, 2, name="w"), (2, 1, 1), (1, 0, 1))),
        case(nn.conv2d_transpose(x, t(4, 3, 3, 2, name="w"), (2, 3), (1, 0), (2, 1), output_padding=(1, 2))),
        case(nn.conv2d_transpose(x, t(4, 3, 3, 3, name="w"), (2, 2), (1, 1), groups=2, channels=6,
             kernel_size=3)),
        case(nn.conv1d_transpose(t(1, 5, 4), t(4, 3, 3, name="w"), 2, 2, data_layout="NWC",
             kernel_layout="OIW")),
        case(nn.conv3d_transpose(t(1, 2, 3, 3, 2), t(2, 3, 2, 2, 2, name="w"), (2, 1, 2))),
        case(nn.conv2d_backward_weight(t(2, 6, 3, 3, name="g"), t(2, 4, 7, 6), (2, 2), (1, 1), (2, 1), 2,
                                       kernel_size=(3, 3), channels=6)),
        case(nn.deformable_conv2d(t(1, 4, 6, 6), t(1, 36, 6, 6, name="o"), t(2, 2, 3, 3, name="w"), padding=1,
                                  deformable_groups=2, groups=2, channels=2, kernel_size=(3, 3))),
        case(nn.bitserial_conv2d(t(1, 5, 5, 4, dtype="int32"), ints(6, 4, 3, 3, name="w"), 2, 1, 6, 3, 2, 2,
                                 data_layout="NHWC")),
        case(nn.correlation(t(1, 3, 9, 8), t(1, 3, 9, 8, name="y"), 3, 2, 2, 2, (2, 3), False, "NCHW")),
    ]  # fmt: skip


def pools() -> list[Case]:
    x = t(2, 3, 7, 8)
    whole = t(1, 2, 6, 7, dtype="int8")
    of_two: list[Callable[..., Any]] = [nn.max_pool2d, nn.avg_pool2d]
    result = [
        case(pool(x, (3, 2), (2, 3), (2, 1), (1, 0, 2, 1), ceil_mode=ceil))
        for pool in of_two
        for ceil in (False, True)
    ]
    return [
        *result, case(nn.avg_pool2d(x, 3, 2, padding=1, count_include_pad=True, ceil_mode=True)),
        case(nn.avg_pool2d(t(1, 7, 6, 3), 2, 2, 2, 1, layout="NHWC")),
        case(nn.max_pool2d(whole, 3, 2, padding=1)),
        case(nn.avg_pool2d(whole, 3, 2, padding=1)),
        case(nn.max_pool2d(t(1, 2, 6, 6, 4), 2, 2, layout="NCHW4c")),
        case(nn.avg_pool3d(t(1, 2, 5, 4, 5), 2, 2, padding=(1, 0, 1))),
        case(nn.max_pool1d(t(1, 9, 2), 3, 2, layout="NWC")),
        case(nn.adaptive_avg_pool2d(x, (3, 5))), case(nn.adaptive_max_pool2d(x, (4, 3))),
        case(nn.adaptive_avg_pool2d(x)), case(nn.adaptive_max_pool3d(t(1, 2, 5, 4, 3), 2)),
        case(nn.global_avg_pool2d(t(1, 5, 6, 3), "NHWC")),
        case(nn.max_pool2d_grad(t(2, 3, 4, 4, name="g"), x, (3, 3), (2, 2), (1, 1, 1, 0))),
        case(nn.avg_pool2d_grad(t(2, 3, 4, 5, name="g"), x, 3, 2, 1, ceil_mode=True)),
        case(nn.avg_pool2d_grad(t(2, 3, 4, 4, name="g"), x, 3, 2, (1, 1, 1, 0), count_include_pad=True)),
    ]  # fmt: skip


def normalizations() -> list[Case]:
    x, g, b = t(2, 4, 3, 5), t(4, name="g"), t(4, name="b")
    last = t(5, name="g"), t(5, name="b")
    spread = np.array([0.5, 1, 2, 0.1])
    return [
        case(nn.softmax(x, 1)), case(nn.log_softmax(x, -2)), case(nn.softmax(t(6, dtype="float16"))),
        case(nn.softmax(t(4)), [1000, -1000, 999, -np.inf]), case(nn.fast_softmax(x)),
        case(nn.layer_norm(x, *last)), case(nn.layer_norm(x, g, b, 1, center=False)),
        case(nn.instance_norm(x, *last, axis=3, scale=False)), case(nn.group_norm(x, g, b, 2, 1, 1e-3)),
        case(nn.group_norm(t(2, 5, 4), g, b, 2, -1)), case(nn.lrn(x, 3, 1, 1, 0.1, 0.5)), case(nn.lrn(x, 4,
        3)), case(nn.l2_normalize(x, 1e-5)), case(nn.l2_normalize(x, 2.0, [1, -1])),
        case(nn.batch_norm(t(2, 4), g, b, t(4, name="m"), t(4, name="v"), scale=False), np.ones((2, 4)),
             spread,
             spread, spread, spread),
        case(nn.nll_loss(t(2, 3, 2), ints(2, 2), t(3, name="w"), "mean", 1), -np.ones((2, 3, 2)), [[0, 1],
             [2, 0]],
             [1, 2, 3]),
        case(nn.nll_loss(t(2, 3), ints(2), t(3, name="w"), "none"), -np.ones((2, 3)), [2, 0], [1, 2, 3]),
        case(nn.cross_entropy(t(2, 3), t(2, 3, name="y")), np.full((2, 3), 0.3)),
    ]  # fmt: skip


def surroundings() -> list[Case]:
    x = t(2, 3)
    return [
        case(nn.pad(x, ((1, 0), (0, 2)), 3.5)), case(nn.pad(x, ((-1, 1), (2, -1)))), case(nn.pad(x, ((0, 0),
        (0, 0)))), case(nn.pad(x, ((2, 1), (1, 2)), pad_mode="edge")),
        case(nn.pad(x, ((3, 4), (5, 3)), pad_mode="reflect")),
        case(nn.pad(t(2, dtype="int8"), ((1, 1),), relay.const(7, "int8"))),
        case(nn.mirror_pad(x, ((2, 1), (3, 2)))),
        case(nn.mirror_pad(x, ((1, 1), (2, 2)), "REFLECT")), case(nn.dilate(x, [3, 2], 0.5)),
        case(nn.depth_to_space(t(1, 8, 2, 3), 2, mode="CRD")),
        case(nn.depth_to_space(t(1, 2, 3, 8), 2, "NHWC")),
        case(nn.space_to_depth(t(1, 4, 6, 2), 2, "NHWC")), case(vision.yolo_reorg(t(1, 8, 4, 6), 2)),
        case(nn.space_to_batch_nd(t(2, 3, 4, 2), [2, 3], [[1, 0], [1, 1]], 1.5)),
        case(nn.batch_to_space_nd(t(12, 2, 3, 2), [2, 3], [[1, 0], [0, 2]])), case(nn.fifo_buffer(t(2, 1),
        t(2, 4), -1)), case(relay.sliding_window(t(2, 5, 6), -2, [2, 3], [1, 2])),
        case(relay.stft(t(20), 6, 2, 5, t(4, name="w"), True)),
        case(relay.stft(t(2, 9), 4, onesided=False)), case(relay.dft(t(2, 7), t(2, 7, name="y"))),
    ]  # fmt: skip


def images() -> list[Case]:
    x, result = t(1, 2, 5, 4), []
    modes = ("half_pixel", "align_corners", "asymmetric", "pytorch_half_pixel", "tf_half_pixel_for_nn")
    for mode in modes:
        for method in ("nearest_neighbor", "linear", "cubic")[: 3 if mode == "align_corners" else 2]:
            result.append(case(image.resize2d(x, (7, 3), None, "NCHW", method, mode)))
    rounding = ("round", "floor", "ceil", "round_prefer_floor", "round_prefer_ceil")
    result += [
        case(image.resize1d(t(1, 2, 5), 8, rounding_method=how, method="nearest_neighbor"))
        for how in rounding
    ]
    sampling = [
        ("bilinear", "border"),
        ("nearest", "reflection"),
        ("bicubic", "zeros"),
        ("bilinear", "reflection"),
    ]
    grid = rng("grid").uniform(-1.4, 1.4, (1, 2, 3, 3))
    pixels = rng("pixels").normal(size=(1, 2, 5, 4))
    return [
        *result, case(image.resize2d(t(1, 5, 4, 2), (4, 6), layout="NHWC", method="cubic", cubic_exclude=1)),
        case(image.resize2d(x, (4, 4), [0.1, -0.2, 0.9, 1.3],
             coordinate_transformation_mode="tf_crop_and_resize",
                            extrapolation_value=-1.0)),
        # float32's rounding puts the last column of the nine beyond the image
        *[case(image.crop_and_resize(t(1, 2, 224, 224), t(1, 4, name="b"), ints(1), (9, size), "NCHW"),
               rng("crop").normal(size=(1, 2, 224, 224)), [[0.1, 0.2, 1, 1]], [0]) for size in (9, 1)],
        case(image.resize3d(t(1, 1, 3, 3, 3), (4, 2, 5))),
        case(nn.upsampling(x, 2.5, 1.5, method="bilinear")),
        case(nn.upsampling(x, 2, 3, method="bicubic", align_corners=True)),
        case(nn.upsampling3d(t(1, 1, 2, 3, 2), 2, 2, 3, method="trilinear")),
        *[case(image.grid_sample(x, t(1, 2, 3, 3, name="g"), method, "NCHW", mode, aligned), pixels, grid)
          for method, mode in sampling for aligned in (True, False)],
        case(image.dilation2d(t(1, 5, 6, 2), t(3, 2, 2, name="w"), (1, 2), (1, 0, 2, 1), (2, 1), "NHWC",
             "HWI")),
    ]  # fmt: skip


def regions() -> list[Case]:
    random = rng("regions")
    corners = random.uniform(0, 8, (1, 9, 2))
    boxes = np.concatenate([corners, corners + random.uniform(1, 6, (1, 9, 2))], -1)
    classes, scores = random.integers(0, 2, (1, 9, 1)), random.uniform(-0.2, 1, (1, 9, 1))
    rows = np.concatenate([classes, scores, boxes], -1)
    result, kinds = [], random.uniform(0, 1, (1, 3, 9))
    choices: list[dict[str, Any]] = [
        {}, {"force_suppress": True}, {"top_k": 4}, {"return_indices": False}, {"id_index": -1},
        {"return_indices": False, "invalid_to_bottom": True}, {"max_output_size": 2}, {"iou_threshold": 0.0},
    ]  # fmt: skip
    for options in choices:
        call = vision.non_max_suppression(
            t(1, 9, 6), ints(1), ints(1, 9, name="j"), **{"iou_threshold": 0.3, **options}
        )
        result.append(case(call, rows, [8], np.arange(9)[None] * 10))
    for form in ("onnx", "tensorflow"):
        every = vision.all_class_non_max_suppression(t(1, 9, 4), t(1, 3, 9, name="s"), 2, 0.3, 0.1, form)
        result.append(case(every, boxes, kinds))
    rois = [[0, 1.2, 0.3, 6.7, 5.1], [1, -3, -2, 2, 9], [0, 4, 4, 4, 4]]
    pixels = random.normal(size=(2, 3, 8, 8))
    for mode, ratio, layout in (("avg", 2, "NCHW"), ("max", -1, "NCHW"), ("avg", -1, "NHWC")):
        shape = (2, 3, 8, 8) if layout == "NCHW" else (2, 8, 8, 3)
        call = vision.roi_align(t(*shape), t(3, 5, name="r"), (3, 2), 0.8, ratio, layout, mode)
        result.append(case(call, pixels.reshape(shape), rois))
    return [
        *result, case(vision.roi_pool(t(2, 3, 8, 8), t(3, 5, name="r"), (3, 2), 0.8), pixels, rois),
        case(vision.get_valid_counts(t(1, 9, 6), 0.3, 0, 1), rows), case(vision.get_valid_counts(t(1, 9, 6),
        0.3, -1, 1), rows), case(vision.multibox_prior(t(1, 2, 3, 4), (0.5, 0.3), (1, 2, 0.5), (0.2, 0.3),
        (0.4, 0.6), True)),
        case(vision.regular_non_max_suppression(t(1, 9, 4), t(1, 9, 3, name="s"), 2, 4, 2, 0.3, 0.1), boxes,
             kinds.transpose(0, 2, 1)),
    ]  # fmt: skip


GROUPS = [
    elements, shapes, places, reductions, orders, products, convolutions, pools, normalizations,
    surroundings, images, regions,
]  # fmt: skip


@pytest.mark.parametrize("group", GROUPS, ids=lambda group: group.__name__)
def test_of(group: Callable[[], list[Case]]) -> None:
    """LLVM optimizes the code of those groups whose computations leave it something to misunderstand."""
    optimized = group in (elements, places, reductions, orders)
    agree(group(), {"float16": 1e-2, "float32": 3e-5, "float64": 1e-11}, optimized)


def test_a_resizing_written_without_a_part() -> None:
    """Text leaves out what is as usual; the part that is read is then all."""
    text = "def @main(%x: Tensor[(1, 2, 5, 4), float32]) { image.resize2d(%x, size=[7, 3]) }"
    main = relay.parse(f'#[version = "0.0.5"]\n{text}')["main"]
    assert isinstance(main, Function)
    agree([case(main.body)])


def test_reflects_an_operand_that_is_computed_first() -> None:
    """The operand has so many parts that the kernel stores it before it pads it."""
    count = 50
    parts = [t(1, 16, name=f"x{number}") for number in range(count)]
    whole = relay.transpose(relay.stack([relay.exp(parts[0]), *parts[1:]], 0), (1, 2, 0))
    zero, one = relay.const(0.0), relay.const(1.0)
    kept = relay.where(whole > zero, whole, relay.exp(relay.minimum(whole, zero)) - one)
    padded = nn.pad(kept, ((0, 0), (0, 0), (6, 0)), pad_mode="reflect")
    values = [rng().normal(size=(1, 16)).astype("float32") for _ in range(count)]
    exe = relay_explorer.build(Function(parts, padded), quiet=True)
    assert len(exe.kernels) == 1
    expected = relay.create_executor().evaluate(Function(parts, padded))(*values)
    np.testing.assert_allclose(exe(*values), expected.numpy(), rtol=1e-5)
