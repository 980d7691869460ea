"""What pools compute, against PyTorch."""

from __future__ import annotations

from typing import Any
from typing import Any as Anything

import numpy as np
import pytest
import torch
from torch.nn import functional

from relay_explorer.relay import nn
from tests.ops.meanings import Array, close, evaluate, numbers, rng

COUNTS = [1, 2, 3]


def window(axes: int, seed: object) -> tuple[Array, dict[str, Anything]]:
    """Data and a pool's arguments, its padding at most half its window as PyTorch asks for."""
    random = rng(axes, seed)
    sizes = [int(n) for n in random.integers(2, 4, axes)]
    named = {
        "pool_size": tuple(sizes),
        "strides": tuple([int(n) for n in random.integers(1, 4, axes)]),
        "padding": tuple([int(random.integers(0, size // 2 + 1)) for size in sizes]),
    }
    return numbers(random, (2, 3, *(int(n) for n in random.integers(5, 9, axes)))), named


def torch_pool(kind: str, axes: int, x: Array, named: dict[str, Anything], **more: Anything) -> torch.Tensor:
    pool = getattr(functional, f"{kind}_pool{axes}d")
    found: torch.Tensor = pool(
        torch.tensor(x), named["pool_size"], named["strides"], named["padding"], **more
    )
    return found


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("axes", COUNTS)
def test_pools(axes: int, seed: int) -> None:
    x, named = window(axes, seed)
    for kind in ("max", "avg"):
        build = getattr(nn, f"{kind}_pool{axes}d")
        more = {"count_include_pad": False} if kind == "avg" else {}
        close(evaluate(build, x, **named), torch_pool(kind, axes, x, named, **more))
    build = getattr(nn, f"avg_pool{axes}d")
    close(evaluate(build, x, **named, count_include_pad=True), torch_pool("avg", axes, x, named))


@pytest.mark.parametrize("include", [False, True])
@pytest.mark.parametrize("axes", COUNTS)
def test_windows_that_stick_out(axes: int, include: bool) -> None:
    """In ceil_mode what lies beyond the padding is never counted."""
    x = numbers(rng(axes), (1, 2, *(8,) * axes))
    named = {"pool_size": (3,) * axes, "strides": (2,) * axes, "padding": (1,) * axes}
    wanted = torch_pool("avg", axes, x, named, ceil_mode=True, count_include_pad=include)
    build = getattr(nn, f"avg_pool{axes}d")
    close(evaluate(build, x, **named, ceil_mode=True, count_include_pad=include), wanted)
    wanted = torch_pool("max", axes, x, named, ceil_mode=True)
    close(evaluate(getattr(nn, f"max_pool{axes}d"), x, **named, ceil_mode=True), wanted)


@pytest.mark.parametrize("axes", COUNTS)
def test_dilated_windows(axes: int) -> None:
    x, named = window(axes, "dilated")
    x = numbers(rng(axes), (1, 2, *(9,) * axes))
    wanted = torch_pool("max", axes, x, named, dilation=2)
    close(evaluate(getattr(nn, f"max_pool{axes}d"), x, **named, dilation=2), wanted)
    mean = evaluate(getattr(nn, f"avg_pool{axes}d"), x, pool_size=(2,) * axes, dilation=2)
    corners = [slice(None, -2), slice(2, None)]
    places: list[Any] = [(..., *[corners[bit] for bit in at]) for at in np.ndindex(*(2,) * axes)]
    cells = [x[place] for place in places]
    close(mean, np.mean(cells, 0))


def test_padding_is_never_the_greatest() -> None:
    x = np.full((1, 1, 3, 3), -5.0, "float32")
    named: dict[str, Anything] = {"pool_size": (2, 2), "padding": (1, 1)}
    close(evaluate(nn.max_pool2d, x, **named), np.full((1, 1, 4, 4), -5.0))
    close(evaluate(nn.max_pool2d, x.astype("int8"), **named), np.full((1, 1, 4, 4), -5))


def test_the_mean_of_integers_drops_the_fraction() -> None:
    x = np.array([[[1, 2, 2, -1, -2, 0]]], "int32")
    close(evaluate(nn.avg_pool1d, x, pool_size=2, strides=2), [[[1, 0, -1]]])


@pytest.mark.parametrize("kind", ["max", "avg"])
@pytest.mark.parametrize("axes", COUNTS)
def test_adaptive_pools(axes: int, kind: str) -> None:
    x = numbers(rng(axes, kind), (2, 3, 7, 5, 6)[: axes + 2])
    build, reference = (
        getattr(nn, f"adaptive_{kind}_pool{axes}d"),
        getattr(functional, f"adaptive_{kind}_pool{axes}d"),
    )
    for size in ((3,) * axes, (1,) * axes, (4, 5, 2)[:axes]):
        close(evaluate(build, x, output_size=size), reference(torch.tensor(x), size))
    close(evaluate(build, x), x)
    last = np.moveaxis(x, 1, -1)
    found = evaluate(build, last, output_size=2, layout=("NWC", "NHWC", "NDHWC")[axes - 1])
    close(found, np.moveaxis(reference(torch.tensor(x), 2).numpy(), 1, -1))


@pytest.mark.parametrize("axes", COUNTS)
def test_global_pools(axes: int) -> None:
    x = numbers(rng(axes), (2, 3, 7, 5, 6)[: axes + 2])
    space = tuple(range(2, x.ndim))
    close(evaluate(getattr(nn, f"global_max_pool{axes}d"), x), torch.amax(torch.tensor(x), space, True))
    close(evaluate(getattr(nn, f"global_avg_pool{axes}d"), x), torch.mean(torch.tensor(x), space, True))


def test_layouts_of_pools() -> None:
    x, named = window(2, "layout")
    plain = evaluate(nn.max_pool2d, x, **named)
    found = evaluate(nn.max_pool2d, x.transpose(0, 2, 3, 1), **named, layout="NHWC")
    close(found, plain.transpose(0, 2, 3, 1))
    blocks = numbers(rng("blocks"), (1, 2, 6, 6, 4))
    whole = blocks.transpose(0, 1, 4, 2, 3).reshape(1, 8, 6, 6)
    found = evaluate(nn.avg_pool2d, blocks, pool_size=(3, 3), layout="NCHW4c")
    wanted = functional.avg_pool2d(torch.tensor(whole), 3, 1)
    close(found.transpose(0, 1, 4, 2, 3).reshape(wanted.shape), wanted)


@pytest.mark.parametrize("ceil_mode", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_gradients_of_pools(seed: int, ceil_mode: bool) -> None:
    x = numbers(rng(seed), (2, 3, 8, 8))
    named = {"pool_size": (3, 2), "strides": (2, 1 + seed), "padding": (1, 0)}
    for kind, more in (
        ("max", {}),
        ("avg", {"count_include_pad": False}),
        ("avg", {"count_include_pad": True}),
    ):
        data = torch.tensor(x, requires_grad=True)
        out = getattr(functional, f"{kind}_pool2d")(
            data, named["pool_size"], named["strides"], named["padding"], ceil_mode=ceil_mode, **more
        )
        grad = numbers(rng(seed, kind), tuple(out.shape))
        out.backward(torch.tensor(grad))
        build = getattr(nn, f"{kind}_pool2d_grad")
        assert data.grad is not None
        close(evaluate(build, grad, x, **named, ceil_mode=ceil_mode, **more), data.grad)


def test_the_gradient_goes_to_the_first_of_equal_elements() -> None:
    x, grad = np.ones((1, 1, 2, 2), "float32"), np.full((1, 1, 1, 1), 3.0, "float32")
    close(evaluate(nn.max_pool2d_grad, grad, x, pool_size=(2, 2)), [[[[3, 0], [0, 0]]]])
