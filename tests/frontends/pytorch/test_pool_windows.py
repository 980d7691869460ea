"""Pools that round their extents up have the windows that PyTorch gives them."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
import torch
from torch import nn

from relay_explorer import relay
from relay_explorer.frontends import from_pytorch
from relay_explorer.ir.errors import RelayError
from tests.frontends.pytorch.helpers import infos, traced


def pools() -> list[nn.Module]:
    """Return pools in ceil_mode with windows, strides and padding of several sizes."""
    shapes = [(k, s, p) for k, s, p in product((2, 3, 5), (1, 2, 3, 4), (0, 1)) if p <= k // 2]
    largest: list[nn.Module] = [nn.MaxPool2d(k, s, p, ceil_mode=True) for k, s, p in shapes]
    means = [nn.AvgPool2d(k, s, p, True, counted) for k, s, p in shapes for counted in (True, False)]
    return [*largest, *means]


@pytest.mark.parametrize("extents", [(4, 6), (7, 7)])
def test_windows_of_ceil_mode_are_those_of_pytorch(extents: tuple[int, int]) -> None:
    data = torch.from_numpy(np.random.default_rng(0).random((1, 2, *extents)).astype("float32"))
    refusals = []
    for pool in pools():
        try:
            expected = pool(data).numpy()
        except RuntimeError:  # the window is larger than the padded data
            continue
        try:
            module, _ = from_pytorch(traced(pool, [data]), infos([data]))
        except RelayError as error:
            refusals.append(error.message)
            continue
        result = relay.create_executor("debug", module).evaluate()(data.numpy()).numpy()
        np.testing.assert_allclose(result, expected, atol=1e-5, err_msg=str(pool))
    assert len(refusals) <= 8
    assert all(
        "some of the output's extents are rounded up and others down" in message for message in refusals
    )


def test_a_window_larger_than_the_data_is_cut_to_it() -> None:
    """EfficientNet of `transformers` ends with such a pool."""
    pool = nn.AvgPool2d(1280, ceil_mode=True)
    data = torch.ones(1, 3, 7, 7)
    module, _ = from_pytorch(traced(pool, [data]), infos([data]))
    assert "pool_size=[7, 7]" in str(module)
    result = relay.create_executor("debug", module).evaluate()(data.numpy()).numpy()
    np.testing.assert_array_equal(result, pool(data).numpy())
