"""`tvm.topi.testing`: references for old tests, held against PyTorch's operators."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch.nn import functional

from relay_explorer.compat import tvm
from tests.ops.meanings import close, numbers, rng

reference: Any = tvm.topi.testing  # looked up when asked for


def test_convolutions() -> None:
    random = rng("topi conv")
    for axes, ours, theirs in (
        (1, lambda *a: reference.conv1d_ncw_python(*a, 1), functional.conv1d),
        (2, reference.conv2d_nchw_python, functional.conv2d),
        (3, reference.conv3d_ncdhw_python, functional.conv3d),
    ):
        x, w = numbers(random, (2, 4, *(6, 7, 5)[:axes])), numbers(random, (6, 4, *(3, 2, 3)[:axes]))
        close(ours(x, w, 2, 1), theirs(torch.tensor(x), torch.tensor(w), stride=2, padding=1), 1e-5)


def test_the_gradient_of_a_convolutions_weight() -> None:
    random = rng("topi weight")
    x, w = numbers(random, (2, 4, 7, 6)), torch.tensor(numbers(random, (6, 2, 3, 2)), requires_grad=True)
    y = functional.conv2d(torch.tensor(x), w, stride=2, padding=(1, 0), groups=2)
    dy = numbers(random, tuple(y.shape))
    y.backward(torch.tensor(dy))
    result = reference.conv2d_backward_weight_python(dy, x, (3, 2), 2, (1, 0), groups=2)
    close(result, w.grad, 1e-5)


def test_groups_layouts_and_uneven_padding() -> None:
    random = rng("topi groups")
    x, w = numbers(random, (2, 6, 7, 8)), numbers(random, (4, 3, 3, 2))
    padded = functional.pad(torch.tensor(x), (1, 3, 0, 2))
    expected = functional.conv2d(padded, torch.tensor(w), stride=(2, 1), groups=2)
    close(reference.conv2d_nchw_python(x, w, (2, 1), (0, 1, 2, 3), groups=2), expected, 1e-5)
    last = reference.conv2d_nhwc_python(
        x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), (2, 1), (0, 1, 2, 3), groups=2
    )
    close(last.transpose(0, 3, 1, 2), expected, 1e-5)


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_padding_by_name(padding: str) -> None:
    x, w = numbers(rng(1), (1, 2, 6, 6)), numbers(rng(2), (3, 2, 3, 5))
    result = reference.conv2d_nchw_python(x, w, 1, padding)
    close(result, functional.conv2d(torch.tensor(x), torch.tensor(w), padding=padding.lower()), 1e-5)


def test_other_orders_of_axes() -> None:
    x, w = numbers(rng(3), (2, 3, 6, 5)), numbers(rng(4), (4, 3, 2, 3))
    expected = functional.conv2d(torch.tensor(x), torch.tensor(w)).numpy()
    hwcn = reference.conv2d_hwcn_python(x.transpose(2, 3, 1, 0), w.transpose(2, 3, 1, 0), 1, 0)
    close(hwcn.transpose(3, 2, 0, 1), torch.tensor(expected), 1e-5)
    each = numbers(rng(5), (3, 2, 3, 3))
    deep = functional.conv2d(torch.tensor(x), torch.tensor(each.reshape(6, 1, 3, 3)), groups=3, dilation=2)
    close(reference.depthwise_conv2d_python_nchw(x, each, 1, 0, 2), deep, 1e-5)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(("stride", "padding", "more"), [(1, 0, 0), (2, 1, 1), (3, 2, 2), (2, 3, 0)])
def test_transposed_convolutions(stride: int, padding: int, more: int, groups: int) -> None:
    x, w = numbers(rng(stride, more), (2, 4, 6, 5)), numbers(rng(padding), (4, 3, 3, 3))
    expected = functional.conv_transpose2d(
        torch.tensor(x), torch.tensor(w), stride=stride, padding=padding, output_padding=more, groups=groups
    )
    result = reference.conv2d_transpose_nchw_python(x, w, stride, padding, (more, more), groups)
    close(result, expected, 1e-5)
    nhwc = reference.conv2d_transpose_nhwc_python(
        x.transpose(0, 2, 3, 1), w.transpose(2, 3, 1, 0), "HWOI", stride, padding, (more, more), groups
    )
    close(nhwc.transpose(0, 3, 1, 2), expected, 1e-5)


@pytest.mark.parametrize("pool", ["max", "avg"])
@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("count", [False, True])
def test_pools(pool: str, ceil: bool, count: bool) -> None:
    x = numbers(rng("pool"), (2, 3, 8, 8))
    result = reference.poolnd_python(
        x, (3, 2), (2, 3), (1, 1), (1, 0), (1, 0), pool, count_include_pad=count, ceil_mode=ceil
    )
    data = torch.tensor(x)
    if pool == "max":
        expected = functional.max_pool2d(data, (3, 2), (2, 3), (1, 0), ceil_mode=ceil)
    else:
        expected = functional.avg_pool2d(data, (3, 2), (2, 3), (1, 0), ceil, count)
    close(result, expected, 1e-5)
    last = reference.poolnd_python(
        x.transpose(0, 2, 3, 1), (3, 2), (2, 3), (1, 1), (1, 0), (1, 0), pool, count_include_pad=count,
        ceil_mode=ceil, layout="NHWC",
    )  # fmt: skip
    close(last.transpose(0, 3, 1, 2), expected, 1e-5)


@pytest.mark.parametrize("pool", ["max", "avg"])
@pytest.mark.parametrize("count", [False, True])
def test_gradients_of_pools(pool: str, count: bool) -> None:
    x = torch.tensor(numbers(rng("grad"), (2, 3, 6, 7)), requires_grad=True)
    y = (
        functional.max_pool2d(x, (3, 2), (2, 2), (1, 1))
        if pool == "max"
        else functional.avg_pool2d(x, (3, 2), (2, 2), (1, 1), count_include_pad=count)
    )
    grad = numbers(rng("out"), tuple(y.shape))
    y.backward(torch.tensor(grad))
    assert x.grad is not None
    result = reference.pool_grad_nchw(
        x.detach().numpy(), grad, (3, 2), (2, 2), (1, 1, 1, 1), pool, False, count
    )
    close(result, x.grad, 1e-5)


def test_adaptive_pools() -> None:
    x = numbers(rng("adaptive"), (2, 3, 7, 5))
    close(
        reference.adaptive_pool(x, (3, 2), "avg"),
        functional.adaptive_avg_pool2d(torch.tensor(x), (3, 2)),
        1e-5,
    )
    close(
        reference.adaptive_pool(x, (3, 2), "max"),
        functional.adaptive_max_pool2d(torch.tensor(x), (3, 2)),
        1e-5,
    )


def test_norms() -> None:
    random = rng("norms")
    x, gamma, beta = numbers(random, (2, 6, 4, 5)), numbers(random, (6,)), numbers(random, (6,))
    data, scale, shift = map(torch.tensor, (x, gamma, beta))
    close(
        reference.group_norm_python(x, gamma, beta, 3, 1, (2, 3)),
        functional.group_norm(data, 3, scale, shift),
        1e-4,
    )
    close(
        reference.instance_norm_python(x, gamma, beta, (2, 3)),
        functional.instance_norm(data, None, None, scale, shift),
        1e-4,
    )
    rows = x[:, :, 0, 0]
    close(
        reference.layer_norm_python(rows, gamma, beta, -1),
        functional.layer_norm(torch.tensor(rows), (6,), scale, shift),
        1e-4,
    )
    close(
        reference.lrn_python(abs(x), 3, 1, 2.0, 0.5, 0.75),
        functional.local_response_norm(abs(data), 3, 0.5, 0.75, 2.0),
        1e-4,
    )
    variance = abs(gamma) + 1
    ours = reference.batch_norm(x, gamma, beta, beta, variance, 1, 1e-3, True, True, False, 0.9)
    close(ours[0], functional.batch_norm(data, shift, torch.tensor(variance), scale, shift, eps=1e-3), 1e-4)
    ours = reference.batch_norm(x, gamma, beta, beta, variance, 1, 1e-3, True, True, True, 0.9)
    close(ours[0], functional.batch_norm(data, None, None, scale, shift, True, eps=1e-3), 1e-4)
    np.testing.assert_allclose(ours[1], 0.9 * beta + 0.1 * x.mean((0, 2, 3)), rtol=1e-4)
    unit = reference.l2_normalize_python(x, 1e-9, 1)
    np.testing.assert_allclose((unit**2).sum(1), np.ones((2, 4, 5)), rtol=1e-5)


def test_products_and_losses() -> None:
    random = rng("products")
    a, b = numbers(random, (3, 4, 5)), numbers(random, (3, 6, 5))
    close(reference.batch_matmul(a, b), torch.tensor(a) @ torch.tensor(b).transpose(1, 2), 1e-5)
    x, w, bias = numbers(random, (3, 5)), numbers(random, (4, 5)), numbers(random, (4,))
    expected = functional.relu(functional.linear(*map(torch.tensor, (x, w, bias))))
    close(reference.dense(x, w, bias, use_bias=True, use_relu=True), expected, 1e-5)
    scores, weight = numbers(random, (4, 3, 2)), abs(numbers(random, (3,)))
    targets = np.asarray([[0, 2], [1, 1], [2, 0], [-100, 1]])
    for how in ("mean", "sum", "none"):
        loss = functional.nll_loss(
            torch.tensor(scores), torch.tensor(targets), torch.tensor(weight), reduction=how
        )
        close(reference.nll_loss(scores, targets, weight, how), loss, 1e-5)
    close(reference.softmax_python(a, 2), functional.softmax(torch.tensor(a), 2), 1e-5)
    close(reference.log_softmax_python(a, 0), functional.log_softmax(torch.tensor(a), 0), 1e-5)


def test_spreading_out() -> None:
    x = np.arange(6).reshape(2, 3)
    np.testing.assert_array_equal(
        reference.dilate_python(x, (2, 3), 9),
        [[0, 9, 9, 1, 9, 9, 2], [9] * 7, [3, 9, 9, 4, 9, 9, 5]],
    )


def test_rearranging() -> None:
    x = numbers(rng("blocks"), (2, 8, 4, 6))
    deep = reference.space_to_depth_python(x, 2)
    np.testing.assert_array_equal(reference.depth_to_space_python(deep, 2), x)
    close(reference.depth_to_space_python(x, 2, "CRD"), functional.pixel_shuffle(torch.tensor(x), 2), 1e-7)
    batch = reference.space_to_batch_nd_python(x, (2, 2), (1, 0), (1, 0))
    assert batch.shape == (8, 5, 2, 6)
    np.testing.assert_array_equal(reference.batch_to_space_nd_python(batch, (2, 2), (1, 0), (1, 0)), x)
    assert reference.reorg_python(x, 2).shape == (2, 32, 2, 3)


def test_taking() -> None:
    x = np.arange(24).reshape(2, 3, 4)
    np.testing.assert_array_equal(reference.strided_slice_python(x, [0, 2], [2, -4], [1, -1]), x[:, ::-1])
    np.testing.assert_array_equal(
        reference.strided_slice_python(x, [1, 0], [-1, 2], None, "size", [0, 2]), x[1:, :, :2]
    )
    changed = reference.strided_set_python(x, -1, [0, 1], [2, 2], [1, 1])
    assert (changed[:, 1] == -1).all()
    assert (x >= 0).all()
    np.testing.assert_array_equal(reference.slice_axis_python(x, 2, 1, 3), x[:, :, 1:3])
    np.testing.assert_array_equal(
        reference.gather_nd_python(x, np.array([[0, 1], [2, 0]])), x[[0, 1], [2, 0]]
    )
    hot = reference.one_hot(np.array([0, 2]), 1, 0, 3, 0, "int8")
    np.testing.assert_array_equal(hot, np.array([[1, 0], [0, 0], [0, 1]]))
    masked = reference.sequence_mask(np.ones((3, 2)), np.array([1, 3]), 0, 0)
    np.testing.assert_array_equal(masked, [[1, 1], [0, 1], [0, 1]])
    square = reference.matrix_set_diag(
        np.zeros((3, 4)), np.array([[7, 8, 9], [1, 2, 0]]), (0, 1), "LEFT_RIGHT"
    )
    np.testing.assert_array_equal(square, [[1, 7, 0, 0], [0, 2, 8, 0], [0, 0, 0, 9]])


def test_correlation_of_an_image_with_itself() -> None:
    x = numbers(rng("corr"), (2, 3, 6, 6))
    result = reference.correlation_nchw_python(x, x, 1, 1, 1, 1, 1, True)
    assert result.shape == (2, 9, 6, 6)
    np.testing.assert_allclose(result[:, 4], (x * x).mean(1), rtol=1e-5)
    apart = reference.correlation_nchw_python(x, x, 3, 1, 2, 1, 2, False)
    np.testing.assert_array_equal(apart[:, 4], np.zeros((2, 3, 3)))


def test_images() -> None:
    x = numbers(rng("image"), (1, 2, 4, 5))
    result = reference.resize2d_python(x, (2.0, 2.0), "NCHW", "linear", "half_pixel")
    expected = functional.interpolate(torch.tensor(x), scale_factor=2, mode="bilinear", align_corners=False)
    close(result, expected, 1e-5)
    grid = np.clip(numbers(rng("grid"), (1, 3, 3, 2)), -1, 1)
    result = reference.grid_sample_python(x, grid.transpose(0, 3, 1, 2))
    close(result, functional.grid_sample(torch.tensor(x), torch.tensor(grid), align_corners=True), 1e-5)


def test_an_adaptive_pool_of_one_axis_takes_a_number() -> None:
    x = numbers(rng("adaptive"), (2, 3, 7))
    close(reference.adaptive_pool(x, 2, "avg"), functional.adaptive_avg_pool1d(torch.tensor(x), 2), 1e-5)


def test_a_window_of_padding_alone_has_the_least_number() -> None:
    sizes = (1, 2), (1, 2), (1, 1), (0, 2), (0, 0)
    pooled = reference.poolnd_python(np.ones((1, 1, 1, 2), "float32"), *sizes, "max")
    assert pooled.tolist() == [[[[np.finfo("float32").min, 1]]]]


def test_normalization_in_half_precision_rounds_once() -> None:
    x = numbers(rng("lrn"), (1, 7, 3, 3)).astype("float16")
    exact = reference.lrn_python(x.astype("float64"), 5, 1, 0.5, 1e-5, 0.75)
    assert (reference.lrn_python(x, 5, 1, 0.5, 1e-5, 0.75) == exact.astype("float16")).all()


def test_rows_and_parts_of_images() -> None:
    x, places = numbers(rng("gather"), (3, 4)), np.array([[0, 3], [1, 1], [2, 0]])
    np.testing.assert_array_equal(reference.gather_python(x, 1, places), np.take_along_axis(x, places, 1))
    row = np.array([1.0, 2.0, 4.0])
    np.testing.assert_array_equal(reference.searchsorted_ref(row, np.array([[2.0]]), True, "int32"), [[2]])
    maps = np.array([[[1.0, 0, 0], [0, 1, 0]]], "float32")
    wanted = functional.affine_grid(torch.tensor(maps), [1, 1, 3, 4], align_corners=True)
    close(reference.affine_grid_python(maps, (3, 4)).transpose(0, 2, 3, 1), wanted, 1e-6)
    image = np.arange(16, dtype="float32").reshape(1, 1, 4, 4)
    box = np.array([[0, 0, 1, 1]], "float32")
    whole = reference.crop_and_resize_python(image, box, [0], (4, 4), "NCHW")
    np.testing.assert_allclose(whole, image, rtol=1e-6)
    pooled = reference.roi_align_nchw_python(image, np.array([[0, 0, 0, 4, 4]], "float32"), 2, 1.0, 2)
    assert pooled.shape == (1, 1, 2, 2)


def test_without_scipy_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    def real_tvm(name: str) -> None:
        raise ModuleNotFoundError("No module named 'scipy'", name="scipy.signal")

    monkeypatch.setattr("relay_explorer.compat.topi_testing.installed.real_tvm", real_tvm)
    from relay_explorer.compat.topi_testing import installed

    with pytest.raises(ImportError, match=r"softmax_python needs SciPy: pip install scipy"):
        installed.softmax_python([[0.0]])
