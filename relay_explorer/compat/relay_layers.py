"""`tvm.relay.testing.layers`: layers that create their own weights, whose shapes type inference
determines.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import relay
from ..ir.expr import Expr


def _weight(weight: Expr | None, name: str, part: str) -> Expr:
    return relay.var(f"{name}_{part}") if weight is None else weight


def _convolution(operator: Callable[..., Any], what: str) -> Callable[..., Expr]:
    def layer(data: Expr, weight: Expr | None = None, *, name: str = "conv", **kwargs: Any) -> Expr:
        result: Expr = operator(data, _weight(weight, name, "weight"), **kwargs)
        return result

    layer.__doc__ = f"{what}, with a weight called `name`_weight unless one is given."
    return layer


conv1d = _convolution(relay.nn.conv1d, "A convolution in one dimension")
conv2d = _convolution(relay.nn.conv2d, "A convolution")
conv3d = _convolution(relay.nn.conv3d, "A convolution in three dimensions")
conv2d_transpose = _convolution(relay.nn.conv2d_transpose, "A transposed convolution")


def batch_norm_infer(
    data: Expr,
    gamma: Expr | None = None,
    beta: Expr | None = None,
    moving_mean: Expr | None = None,
    moving_var: Expr | None = None,
    *,
    name: str = "bn",
    **kwargs: Any,
) -> Expr:
    """Build batch normalization as inference uses it, and those of its four vectors that are not passed."""
    parts = {"gamma": gamma, "beta": beta, "moving_mean": moving_mean, "moving_var": moving_var}
    scale, shift, mean, variance = [_weight(value, name, part) for part, value in parts.items()]
    normalized: Expr = relay.nn.batch_norm(data, scale, shift, mean, variance, **kwargs)[0]
    return normalized


def dense_add_bias(
    data: Expr,
    weight: Expr | None = None,
    bias: Expr | None = None,
    units: int | None = None,
    *,
    name: str = "fc",
    **kwargs: Any,
) -> Expr:
    """Build a dense layer and its bias."""
    product = relay.nn.dense(data, _weight(weight, name, "weight"), units=units, **kwargs)
    added: Expr = relay.nn.bias_add(product, _weight(bias, name, "bias"), axis=-1)
    return added


def conv_kernel_layout(data_layout: str, is_depthwise: bool = False) -> str:
    """Return the kernel layout that corresponds to an image layout."""
    layouts = {
        "NCHW": "OIHW", "NHWC": "HWOI" if is_depthwise else "HWIO", "NCDHW": "OIDHW", "NDHWC": "DHWIO",
    }  # fmt: skip
    if data_layout not in layouts:
        raise ValueError(
            f"there is no kernel layout for {data_layout}; there is one for {', '.join(layouts)}"
        )
    return layouts[data_layout]


__all__ = [
    "batch_norm_infer", "conv1d", "conv2d", "conv2d_transpose", "conv3d", "conv_kernel_layout",
    "dense_add_bias",
]  # fmt: skip
