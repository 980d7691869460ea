"""What the other operators of neural networks compute, against PyTorch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np
import pytest
import torch
from torch.nn import functional

from relay_explorer.execute import ExecutionError
from relay_explorer.relay import nn
from tests.ops.meanings import FLOATS, close, evaluate, numbers, rng

DIGITS = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-11}


@pytest.mark.parametrize("dtype", FLOATS)
def test_activations(dtype: str) -> None:
    x = numbers(rng(dtype), (3, 4, 5), dtype)
    data = torch.tensor(x)
    close(evaluate(nn.relu, x), functional.relu(data))
    close(evaluate(nn.leaky_relu, x, alpha=0.1), functional.leaky_relu(data, 0.1))
    slopes = numbers(rng(dtype, 2), (4,), dtype)
    close(evaluate(nn.prelu, x, slopes), functional.prelu(data, torch.tensor(slopes)))
    last = numbers(rng(dtype, 3), (5,), dtype)
    close(evaluate(nn.prelu, x, last, axis=2), torch.where(data > 0, data, data * torch.tensor(last)))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_relu_of_integers(dtype: str) -> None:
    x = numbers(rng(dtype), (20,), dtype)
    close(evaluate(nn.relu, x), torch.clamp(torch.tensor(x), min=0))


@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("dtype", FLOATS)
def test_softmax(dtype: str, axis: int) -> None:
    x = numbers(rng(dtype, axis), (3, 4, 5), dtype)
    close(evaluate(nn.softmax, x, axis=axis), torch.softmax(torch.tensor(x), axis))
    close(evaluate(nn.fast_softmax, x, axis=axis), torch.softmax(torch.tensor(x), axis))
    close(evaluate(nn.log_softmax, x, axis=axis), torch.log_softmax(torch.tensor(x), axis), DIGITS[dtype])


def test_softmax_does_not_overflow() -> None:
    close(evaluate(nn.softmax, np.array([1000.0, 1000.0], "float32")), [0.5, 0.5])
    close(evaluate(nn.log_softmax, np.array([-1000.0, 0.0], "float32")), [-1000.0, 0.0])


@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
def test_matrix_products(dtype: str) -> None:
    random = rng(dtype)
    x, w = numbers(random, (2, 3, 4), dtype), numbers(random, (5, 4), dtype)
    digits = {**DIGITS, "int32": 0.0}[dtype]
    wanted = torch.tensor(x) @ torch.tensor(w).T
    close(evaluate(nn.dense, x, w), wanted, digits)
    close(evaluate(nn.dense, x[0, 0], w), wanted[0, 0], digits)
    a, b = x[0], w.T.copy()
    for left in (False, True):
        for right in (False, True):
            given = (a.T.copy() if left else a, b.T.copy() if right else b)
            found = evaluate(nn.matmul, *given, transpose_a=left, transpose_b=right)
            close(found, wanted[0], digits)


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("right", [False, True])
@pytest.mark.parametrize("batches", [(3, 3), (1, 3), (3, 1)])
def test_batches_of_matrices(batches: tuple[int, int], left: bool, right: bool) -> None:
    random = rng(batches, left, right)
    a, b = numbers(random, (batches[0], 2, 4)), numbers(random, (batches[1], 4, 5))
    given = (a.swapaxes(1, 2).copy() if left else a, b.swapaxes(1, 2).copy() if right else b)
    found = evaluate(nn.batch_matmul, *given, transpose_a=left, transpose_b=right)
    close(found, torch.matmul(torch.tensor(a), torch.tensor(b)))


def test_products_are_added_up_in_the_output_type() -> None:
    x, w = np.full((1, 100), 100, "int8"), np.full((2, 100), 100, "int8")
    close(evaluate(nn.dense, x, w, out_dtype="int32"), np.full((1, 2), 1_000_000))
    close(evaluate(nn.batch_matmul, x[None], w[None], out_dtype="int32"), np.full((1, 1, 2), 1_000_000))
    close(evaluate(nn.matmul, x, w.T.copy(), out_dtype="float32"), np.full((1, 2), 1e6))


@pytest.mark.parametrize("axis", [0, 1, -1])
def test_bias_add(axis: int) -> None:
    x = numbers(rng(axis), (3, 4, 5))
    bias = numbers(rng(axis, 2), (x.shape[axis],))
    wanted = torch.tensor(x).movedim(axis, -1) + torch.tensor(bias)
    close(evaluate(nn.bias_add, x, bias, axis=axis), wanted.movedim(-1, axis))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm(affine: bool, dtype: str) -> None:
    x = numbers(rng(dtype), (2, 3, 4, 5), dtype)
    gamma, beta, mean, spread = (numbers(rng(dtype, n), (3,), dtype) for n in range(4))
    spread = np.abs(spread) + np.asarray(0.5, dtype)
    scale = torch.tensor(gamma) if affine else None
    shift = torch.tensor(beta) if affine else None
    wanted = functional.batch_norm(
        torch.tensor(x), torch.tensor(mean), torch.tensor(spread), scale, shift, eps=1e-3
    )
    options = {"epsilon": 1e-3, "center": affine, "scale": affine}
    found = evaluate(nn.batch_norm, x, gamma, beta, mean, spread, **options)
    close(found[0], wanted, DIGITS[dtype])
    close(found[1], mean)
    close(found[2], spread)
    last = evaluate(nn.batch_norm, np.moveaxis(x, 1, -1), gamma, beta, mean, spread, axis=-1, **options)
    close(last[0], wanted.movedim(1, -1), DIGITS[dtype])


def test_scale_and_offset_are_left_out_one_by_one() -> None:
    x, two, three = np.array([[-1.0, 1.0]]), np.array([2.0, 2.0]), np.array([3.0, 3.0])
    close(evaluate(nn.layer_norm, x, two, three, epsilon=0.0), [[1, 5]])
    close(evaluate(nn.layer_norm, x, two, three, epsilon=0.0, center=False), [[-2, 2]])
    close(evaluate(nn.layer_norm, x, two, three, epsilon=0.0, scale=False), [[2, 4]])


@pytest.mark.parametrize("axis", [1, -1])
def test_normalizations_of_one_example(axis: int) -> None:
    x = numbers(rng(axis), (2, 6, 4, 5))
    given = np.moveaxis(x, 1, axis)
    gamma, beta = numbers(rng(1), (6,)), numbers(rng(2), (6,))
    affine = (torch.tensor(gamma), torch.tensor(beta))
    cases: list[tuple[Callable[..., Anything], dict[str, Anything], torch.Tensor]] = [
        (nn.instance_norm, {}, functional.instance_norm(torch.tensor(x), None, None, *affine)),
        (nn.group_norm, {"num_groups": 3}, functional.group_norm(torch.tensor(x), 3, *affine)),
        (
            nn.layer_norm,
            {},
            functional.layer_norm(torch.tensor(x).movedim(1, -1), (6,), *affine).movedim(-1, 1),
        ),
    ]
    for build, options, wanted in cases:
        found = evaluate(build, given, gamma, beta, axis=axis, **options)
        close(found, wanted.movedim(1, axis))


@pytest.mark.parametrize("size", [1, 2, 3, 5])
def test_local_response_norm(size: int) -> None:
    x = numbers(rng(size), (2, 6, 3, 4))
    wanted = functional.local_response_norm(torch.tensor(x), size, 0.3, 0.8, 1.5)
    options = {"size": size, "alpha": 0.3, "beta": 0.8, "bias": 1.5}
    close(evaluate(nn.lrn, x, **options), wanted)
    found = evaluate(nn.lrn, np.moveaxis(x, 1, -1), axis=3, **options)
    close(found, wanted.movedim(1, -1))


def test_a_window_over_no_channels() -> None:
    with pytest.raises(ExecutionError, match=r"`nn\.lrn` failed: size=0 must be positive"):
        evaluate(nn.lrn, np.ones((1, 2), "float32"), size=0)


def test_nothing_has_a_softmax_and_a_norm_of_nothing() -> None:
    x = np.ones((2, 0), "float32")
    assert evaluate(nn.softmax, x).shape == evaluate(nn.log_softmax, x).shape == (2, 0)
    assert evaluate(nn.layer_norm, x, x[0], x[0]).shape == (2, 0)


def test_l2_normalize() -> None:
    x = numbers(rng("l2"), (2, 3, 4))
    close(evaluate(nn.l2_normalize, x, eps=1e-9, axis=[1]), functional.normalize(torch.tensor(x), dim=1))
    close(evaluate(nn.l2_normalize, x, eps=1e-9), x / np.linalg.norm(x))
    close(evaluate(nn.l2_normalize, np.zeros(2), eps=4.0), [0, 0])
    close(evaluate(nn.l2_normalize, np.ones(1), eps=4.0), [0.5])


def test_dropout_keeps_everything_when_nothing_is_trained() -> None:
    x = numbers(rng("dropout"), (2, 3))
    kept, mask = evaluate(nn.dropout_raw, x, rate=0.9)
    close(kept, functional.dropout(torch.tensor(x), 0.9, training=False))
    close(mask, np.ones((2, 3)))


@pytest.mark.parametrize(
    ("mode", "named"), [("constant", "constant"), ("edge", "replicate"), ("reflect", "reflect")]
)
def test_pad(mode: str, named: str) -> None:
    x = numbers(rng(mode), (2, 3, 4, 5))
    value = {"value": 1.5} if mode == "constant" else {}
    wanted = functional.pad(torch.tensor(x), (2, 1, 0, 3), named, **value)  # the one option
    widths = ((0, 0), (0, 0), (0, 3), (2, 1))
    close(evaluate(nn.pad, x, pad_width=widths, pad_value=1.5, pad_mode=mode), wanted)


def test_padding_of_less_than_nothing_cuts_off() -> None:
    x = numbers(rng("cut"), (5, 6))
    wanted = functional.pad(torch.tensor(x), (2, -3, -1, 0), value=7.0)
    close(evaluate(nn.pad, x, pad_width=((-1, 0), (2, -3)), pad_value=7.0), wanted)


def test_mirror_pad() -> None:
    x = numbers(rng("mirror"), (3, 4))
    rows, columns = [1, 0, 0, 1, 2, 2], [0, 1, 2, 3, 3, 2, 1]
    found = evaluate(nn.mirror_pad, x, pad_width=((2, 1), (0, 3)))
    close(found, x[np.ix_(rows, columns)])
    found = evaluate(nn.mirror_pad, x, pad_width=((2, 1), (0, 3)), mode="REFLECT")
    close(found, x[np.ix_([2, 1, 0, 1, 2, 1], [0, 1, 2, 3, 2, 1, 0])])


def test_dilate() -> None:
    x = numbers(rng("dilate"), (2, 3), "int8")
    found = evaluate(nn.dilate, x, strides=[1, 3], dilation_value=4.0)
    wanted = np.full((2, 7), 4)
    wanted[:, ::3] = x
    close(found, wanted)


@pytest.mark.parametrize("mode", ["DCR", "CRD"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_channels_become_blocks_of_the_image(layout: str, mode: str) -> None:
    x = numbers(rng(mode), (2, 8, 3, 5))
    order = torch.tensor(x).reshape(2, 4, 2, 3, 5).transpose(1, 2) if mode == "DCR" else torch.tensor(x)
    wanted = functional.pixel_shuffle(order.reshape(2, 8, 3, 5), 2).numpy()
    given = x if layout == "NCHW" else np.moveaxis(x, 1, -1)
    found = evaluate(nn.depth_to_space, given, block_size=2, layout=layout, mode=mode)
    close(found, wanted if layout == "NCHW" else np.moveaxis(wanted, 1, -1))
    if mode == "DCR":
        close(evaluate(nn.space_to_depth, found, block_size=2, layout=layout), given)


def test_space_and_batch() -> None:
    x = numbers(rng("batch"), (2, 3, 5, 4))
    blocks, paddings = [2, 3], [[1, 0], [0, 1]]
    found = evaluate(nn.space_to_batch_nd, x, block_shape=blocks, paddings=paddings, pad_value=9.0)
    wide = np.pad(x, [(0, 0), (1, 0), (0, 1), (0, 0)], constant_values=9.0)
    for n, u, v, i, j in np.ndindex(2, 2, 3, 2, 2):
        close(found[(u * 3 + v) * 2 + n, i, j], wide[n, 2 * i + u, 3 * j + v])
    close(evaluate(nn.batch_to_space_nd, found, block_shape=blocks, crops=paddings), x)


def test_batch_flatten_and_fifo_buffer() -> None:
    x, held = numbers(rng("x"), (2, 3, 4)), numbers(rng("held"), (2, 5, 4))
    close(evaluate(nn.batch_flatten, x), torch.flatten(torch.tensor(x), 1))
    assert evaluate(nn.batch_flatten, np.ones(3, "float32")).shape == (3, 1)
    close(evaluate(nn.fifo_buffer, x, held, axis=1), np.concatenate([held[:, 3:], x], 1))


def test_cross_entropy() -> None:
    random = rng("entropy")
    logits, targets = numbers(random, (4, 5)), np.eye(5, dtype="float32")[random.integers(0, 5, 4)]
    logarithms = torch.log_softmax(torch.tensor(logits), 1)
    wanted = functional.cross_entropy(torch.tensor(logits), torch.tensor(targets))
    close(evaluate(nn.cross_entropy, logarithms.exp().numpy(), targets), wanted)
    close(evaluate(nn.cross_entropy_with_logits, logarithms.numpy(), targets), wanted)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("space", [(), (3, 2)])
def test_nll_loss(space: tuple[int, ...], reduction: str) -> None:
    random = rng(space, reduction)
    predictions, weights = numbers(random, (6, 4, *space)), np.abs(numbers(random, (4,)))
    targets = random.integers(0, 4, (6, *space))
    wanted = functional.nll_loss(
        torch.tensor(predictions),
        torch.tensor(targets),
        torch.tensor(weights),
        ignore_index=2,
        reduction=reduction,
    )
    found = evaluate(nn.nll_loss, predictions, targets, weights, reduction=reduction, ignore_index=2)
    close(found, wanted)
    outside = np.where(targets == 2, -100, targets)
    found = evaluate(nn.nll_loss, predictions, outside, weights, reduction=reduction)
    close(found, wanted)
