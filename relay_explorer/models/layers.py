"""Layers that the models share. A `Builder` collects the parameters of `main` as layers ask for them."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr, Function, Var
from ..ir.module import IRModule


class Builder:
    """Builds one `main`: `input` and `weight` make its parameters, in the order in which they are called."""

    def __init__(self) -> None:
        self.params: list[Var] = []

    def input(self, name: str, shape: tuple[int, ...], dtype: str = "float32") -> Var:
        self.params.append(relay.var(name, shape=shape, dtype=dtype))
        return self.params[-1]

    weight = input

    def module(self, body: Expr) -> IRModule:
        return IRModule.from_expr(Function(self.params, body))

    def dense(self, data: Expr, name: str, inputs: int, units: int) -> Expr:
        """data (batch, inputs) to (batch, units), with a bias."""
        weight = self.weight(f"{name}_weight", (units, inputs))
        bias = self.weight(f"{name}_bias", (units,))
        return relay.nn.bias_add(relay.nn.dense(data, weight, units=units), bias)

    def conv(
        self,
        data: Expr,
        name: str,
        inputs: int,
        channels: int,
        kernel: int,
        stride: int = 1,
        padding: int = 0,
        groups: int = 1,
        bias: bool = False,
    ) -> Expr:
        """A square convolution, NCHW, with a bias if asked for."""
        weight = self.weight(f"{name}_weight", (channels, inputs // groups, kernel, kernel))
        out: Expr = relay.nn.conv2d(
            data,
            weight,
            strides=(stride, stride),
            padding=(padding, padding),
            groups=groups,
            channels=channels,
            kernel_size=(kernel, kernel),
        )
        return relay.nn.bias_add(out, self.weight(f"{name}_bias", (channels,))) if bias else out

    def batch_norm(self, data: Expr, name: str, channels: int) -> Expr:
        """Batch normalization over axis 1, as inference uses it."""
        gamma, beta, mean, variance = (
            self.weight(f"{name}_{part}", (channels,)) for part in ("gamma", "beta", "mean", "var")
        )
        return relay.nn.batch_norm(data, gamma, beta, mean, variance)[0]

    def conv_norm_relu(
        self,
        data: Expr,
        name: str,
        inputs: int,
        channels: int,
        kernel: int,
        stride: int = 1,
        padding: int = 0,
        groups: int = 1,
    ) -> Expr:
        out = self.conv(data, f"{name}_conv", inputs, channels, kernel, stride, padding, groups)
        return relay.nn.relu(self.batch_norm(out, f"{name}_bn", channels))

    def layer_norm(self, data: Expr, name: str, width: int) -> Expr:
        """Layer normalization over the last axis."""
        return relay.nn.layer_norm(
            data, self.weight(f"{name}_gamma", (width,)), self.weight(f"{name}_beta", (width,))
        )
