"""Layers that the models share. A `Builder` collects the parameters of `main` while layers add them."""

from __future__ import annotations

from collections.abc import Sequence

from .. import relay
from ..ir.expr import Expr, Function, Var
from ..ir.module import IRModule

Pair = int | tuple[int, int]
LAYOUTS = {"NCHW": "OIHW", "NHWC": "HWIO"}  # of images, and of the corresponding convolution weights


class Builder:
    """Builds one `main`: `input` and `weight` add its parameters, in the order of the calls.

    Images have the given `layout`; shapes in the arguments here are always (channels, height, width).
    """

    def __init__(self, layout: str = "NCHW", dtype: str = "float32") -> None:
        if layout not in LAYOUTS:
            raise ValueError(f"the layout of images must be {' or '.join(LAYOUTS)}, not {layout}")
        self.params: list[Var] = []
        self.layout = layout
        self.dtype = dtype
        self.channel_axis = layout.index("C")

    def input(self, name: str, shape: tuple[int, ...], dtype: str | None = None) -> Var:
        self.params.append(relay.var(name, shape=shape, dtype=dtype or self.dtype))
        return self.params[-1]

    weight = input

    def image(self, name: str, batch: int, shape: Sequence[int]) -> Var:
        """Add an input of `batch` images of `shape` (channels, height, width)."""
        channels, height, width = shape
        sizes = {"N": batch, "C": channels, "H": height, "W": width}
        return self.input(name, tuple([sizes[axis] for axis in self.layout]))

    def module(self, body: Expr) -> IRModule:
        return IRModule.from_expr(Function(self.params, body))

    def dense(self, data: Expr, name: str, inputs: int, units: int) -> Expr:
        """Add a dense layer from data (batch, inputs) to (batch, units), with a bias."""
        weight = self.weight(f"{name}_weight", (units, inputs))
        bias = self.weight(f"{name}_bias", (units,))
        return relay.nn.bias_add(relay.nn.dense(data, weight, units=units), bias)

    def conv(
        self,
        data: Expr,
        name: str,
        inputs: int,
        channels: int,
        kernel: Pair,
        stride: int = 1,
        padding: Pair = 0,
        groups: int = 1,
        bias: bool = False,
    ) -> Expr:
        """Add a convolution, optionally with a bias."""
        rows, columns = _pair(kernel)
        sizes = {"O": channels, "I": inputs // groups, "H": rows, "W": columns}
        kernel_layout = LAYOUTS[self.layout]
        weight = self.weight(f"{name}_weight", tuple([sizes[axis] for axis in kernel_layout]))
        out: Expr = relay.nn.conv2d(
            data,
            weight,
            strides=(stride, stride),
            padding=_pair(padding),
            groups=groups,
            channels=channels,
            kernel_size=(rows, columns),
            data_layout=self.layout,
            kernel_layout=kernel_layout,
        )
        if not bias:
            return out
        return relay.nn.bias_add(out, self.weight(f"{name}_bias", (channels,)), axis=self.channel_axis)

    def batch_norm(self, data: Expr, name: str, channels: int, epsilon: float = 1e-5) -> Expr:
        """Add batch normalization over the channels, as inference uses it."""
        gamma, beta, mean, variance = (
            self.weight(f"{name}_{part}", (channels,)) for part in ("gamma", "beta", "mean", "var")
        )
        return relay.nn.batch_norm(
            data, gamma, beta, mean, variance, axis=self.channel_axis, epsilon=epsilon
        )[0]

    def conv_norm_relu(
        self,
        data: Expr,
        name: str,
        inputs: int,
        channels: int,
        kernel: Pair,
        stride: int = 1,
        padding: Pair = 0,
        groups: int = 1,
    ) -> Expr:
        out = self.conv(data, f"{name}_conv", inputs, channels, kernel, stride, padding, groups)
        return relay.nn.relu(self.batch_norm(out, f"{name}_bn", channels))

    def norm_relu_conv(
        self, data: Expr, name: str, inputs: int, channels: int, kernel: Pair, padding: Pair = 0
    ) -> Expr:
        """Add batch normalization, ReLU and a convolution, in this order."""
        out = relay.nn.relu(self.batch_norm(data, f"{name}_bn", inputs))
        return self.conv(out, f"{name}_conv", inputs, channels, kernel, padding=padding)

    def max_pool(self, data: Expr, size: int, stride: int, padding: int = 0, ceil_mode: bool = False) -> Expr:
        return relay.nn.max_pool2d(
            data, pool_size=(size, size), strides=(stride, stride), padding=(padding, padding),
            layout=self.layout, ceil_mode=ceil_mode,
        )  # fmt: skip

    def avg_pool(self, data: Expr, size: int, stride: int, padding: int = 0) -> Expr:
        """Add average pooling, which does not count the padding."""
        return relay.nn.avg_pool2d(
            data, pool_size=(size, size), strides=(stride, stride), padding=(padding, padding),
            layout=self.layout, count_include_pad=False,
        )  # fmt: skip

    def global_pool(self, data: Expr) -> Expr:
        """Return the mean of each channel, (batch, channels)."""
        return relay.nn.batch_flatten(relay.nn.global_avg_pool2d(data, layout=self.layout))

    def join(self, parts: Sequence[Expr]) -> Expr:
        """Concatenate images along the channels."""
        return relay.concatenate(list(parts), axis=self.channel_axis)

    def layer_norm(self, data: Expr, name: str, width: int) -> Expr:
        """Add layer normalization over the last axis."""
        return relay.nn.layer_norm(
            data, self.weight(f"{name}_gamma", (width,)), self.weight(f"{name}_beta", (width,))
        )


def pooled(size: int, kernel: int, stride: int, padding: int = 0) -> int:
    """Return the output size of a pooling or convolution: the number of windows that fit."""
    return (size + 2 * padding - kernel) // stride + 1


def _pair(value: Pair) -> tuple[int, int]:
    return value if isinstance(value, tuple) else (value, value)
