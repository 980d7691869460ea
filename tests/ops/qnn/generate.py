"""Random calls of every quantized operator: shapes, layouts and element types; scales of tensors and of
channels, as constants and as parameters of the program.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any as Anything

import numpy as np

from relay_explorer import relay
from relay_explorer.ir.expr import Call, Expr, Function, Tuple, Var, const
from relay_explorer.ir.module import IRModule
from relay_explorer.typing import infer_types

Array = np.ndarray[Anything, Anything]
BYTES = ("int8", "uint8")
UNARY = ("abs", "erf", "exp", "hardswish", "log", "rsqrt", "sigmoid", "sqrt", "tanh")


class Draw:
    """Random parts of a program: its parameters, with their values, and constants."""

    def __init__(self, seed: int, constants: float = 0.5) -> None:
        self.random = np.random.default_rng(seed)
        self.constants = constants
        self.params: list[Var] = []
        self.values: list[Array] = []

    def one(self, *choices: Anything) -> Anything:
        return choices[int(self.random.integers(len(choices)))]

    def size(self, most: int = 5) -> int:
        return int(self.random.integers(1, most + 1))

    def shape(self, rank: int, most: int = 5) -> tuple[int, ...]:
        return tuple([self.size(most) for _ in range(rank)])

    def integers(self, shape: tuple[int, ...], dtype: str) -> Array:
        """Integers of the whole range of a type, its ends among them."""
        limits = np.iinfo(dtype)
        values = self.random.integers(limits.min, limits.max, shape, dtype, endpoint=True)
        ends = self.random.random(shape)
        return np.asarray(np.where(ends < 0.05, limits.min, np.where(ends > 0.95, limits.max, values)), dtype)

    def param(self, value: Array) -> Var:
        """Add a parameter of the program, which gets this value."""
        param = relay.var(f"p{len(self.params)}", shape=value.shape, dtype=str(value.dtype))
        self.params.append(param)
        self.values.append(value)
        return param

    def data(self, shape: tuple[int, ...], dtype: str) -> Var:
        return self.param(self.integers(shape, dtype))

    def fixed(self, value: Array, computed: bool = True) -> Expr:
        """Make a constant or a parameter of a scale or a zero point."""
        if computed and self.random.random() >= self.constants:
            return self.param(value)
        return const(value, str(value.dtype))

    def channels(self, length: int | None) -> tuple[int, ...]:
        """Choose a scalar, a vector of one element, or one of an element per channel."""
        result: tuple[int, ...] = self.one((), (1,), *[(length,)] * 2 * (length is not None))
        return result

    def scale(self, length: int | None = None, low: float = -9, high: float = 1) -> Expr:
        shape = self.channels(length)
        exponents = self.random.uniform(low, high, shape)
        powers = self.random.random() < 0.2
        return self.fixed(np.asarray(2.0 ** (np.round(exponents) if powers else exponents), "float32"))

    def zero(self, dtype: str, length: int | None = None) -> Expr:
        """Make a zero point within the range of the type; often 0."""
        shape = self.channels(length)
        limits = np.iinfo(dtype if dtype in BYTES else "int16")
        values = self.random.integers(limits.min, limits.max, shape, "int64", endpoint=True)
        return self.fixed(np.asarray(values * (self.random.random() < 0.6), "int32"))

    def axis(self, rank: int) -> int:
        return int(self.random.integers(-rank, rank))


def requantize(draw: Draw) -> Expr:
    before, dtype = (
        draw.one("int8", "uint8", "int16", "uint16", "int32", "int64"),
        draw.one("int8", "uint8", "int16", "uint16", "int32"),
    )
    shape = draw.shape(int(draw.random.integers(0, 4)))
    axis = draw.axis(len(shape)) if shape else -1
    length = shape[axis] if shape else None
    return relay.qnn.op.requantize(
        draw.data(shape, before),
        draw.scale(length, -20, 4),
        draw.zero(before, length),
        draw.scale(None, -10, 4),
        draw.zero(dtype),
        axis,
        draw.one("UPWARD", "TONEAREST", "TOEVEN", "None"),
        draw.one("int64", "float32", "float64", "None"),
        dtype,
    )


def quantize(draw: Draw) -> Expr:
    shape, dtype = (
        draw.shape(int(draw.random.integers(0, 4))),
        draw.one("int8", "uint8", "int16", "uint16", "int32"),
    )
    axis = draw.axis(len(shape)) if shape else -1
    length = shape[axis] if shape else None
    values = draw.random.normal(size=shape) * 10.0 ** draw.random.integers(-2, 4)
    special = draw.random.random(shape)
    values = np.where(special < 0.04, np.nan, np.where(special > 0.96, np.inf, values))
    values = np.where((special > 0.5) & (special < 0.54), -np.inf, values)
    return relay.qnn.op.quantize(
        draw.param(values.astype("float32")), draw.scale(length), draw.zero(dtype, length), axis, dtype
    )


def dequantize(draw: Draw) -> Expr:
    shape, dtype = (
        draw.shape(int(draw.random.integers(0, 4))),
        draw.one("int8", "uint8", "int16", "uint16", "int32"),
    )
    axis = draw.axis(len(shape)) if shape else -1
    length = shape[axis] if shape else None
    out = draw.one("float32", "float32", "float16") if dtype in BYTES else "float32"
    return relay.qnn.op.dequantize(
        draw.data(shape, dtype), draw.scale(length), draw.zero(dtype, length), axis, out
    )


def dense(draw: Draw) -> Expr:
    rows, units, features = draw.shape(int(draw.random.integers(1, 3))), draw.size(), draw.size(9)
    dtype, kernel = draw.one("int8", "uint8", "int16"), draw.one(*BYTES)
    return relay.qnn.op.dense(
        draw.data((*rows, features), dtype),
        draw.fixed(draw.integers((units, features), kernel)),
        draw.zero(dtype),
        draw.zero(kernel, units),
        draw.scale(),
        draw.scale(units),
        units,
        draw.one("int32", "int32", "int64"),
    )


def contrib_dense_pack(draw: Draw) -> Expr:
    units, features, dtype, kernel = draw.size(3), draw.size(3), draw.one(*BYTES), draw.one(*BYTES)
    layout, shape = draw.one(("NC4n", (units, features, 4)), ("NC4n2c", (units, features, 4, 2)))
    inputs = features * (2 if "2c" in layout else 1)
    return relay.qnn.op.contrib_dense_pack(
        draw.data((draw.size(), inputs), dtype),
        draw.data(shape, kernel),
        draw.zero(dtype),
        draw.zero(kernel, 4 * units),
        draw.scale(),
        draw.scale(4 * units),
        layout,
    )


def batch_matmul(draw: Draw) -> Expr:
    batch, (m, n, k) = draw.size(3), draw.shape(3)
    dtype, other = draw.one(*BYTES), draw.one(*BYTES)
    return relay.qnn.op.batch_matmul(
        draw.data((draw.one(batch, 1), m, k), dtype),
        draw.data((batch, n, k), other),
        draw.zero(dtype),
        draw.zero(other),
        draw.scale(),
        draw.scale(),
    )


def _arranged(shape: tuple[int, ...], axes: str, layout: str) -> tuple[int, ...]:
    return tuple([shape[axes.index(letter)] for letter in layout])


def conv2d(draw: Draw) -> Expr:
    groups, each, inputs = draw.one((1, 3, 2), (1, 1, 4), (4, 1, 1), (4, 2, 1), (2, 2, 3))
    kernel = draw.shape(2, 3)
    data_layout, kernel_layout = draw.one(
        ("NCHW", "OIHW"), ("NHWC", "HWIO"), ("NHWC", "OHWI"), ("NHWC", "HWOI")
    )
    depthwise = groups == 4 and each == 2 and kernel_layout != "HWIO" and draw.one(True, False)
    weight = (groups, each, *kernel) if depthwise else (groups * each, inputs, *kernel)
    dilation, strides = draw.one((1, 1), (1, 1), (2, 1)), draw.one((1, 1), (2, 2), (1, 2))
    dtype, of_kernel = draw.one("int8", "uint8", "int16"), draw.one("int8", "uint8", "int16")
    extents = [
        size * step + int(draw.random.integers(0, 4)) for size, step in zip(kernel, dilation, strict=True)
    ]
    channels = groups * each
    return relay.qnn.op.conv2d(
        draw.data(_arranged((draw.size(2), groups * inputs, *extents), "NCHW", data_layout), dtype),
        draw.fixed(draw.integers(_arranged(weight, "OIHW", kernel_layout), of_kernel)),
        draw.zero(dtype),
        draw.zero(of_kernel, channels),
        draw.scale(),
        draw.scale(channels),
        kernel_size=kernel,
        channels=channels,
        strides=strides,
        padding=draw.one((0, 0), (1, 1), (0, 1, 2, 0)),
        dilation=dilation,
        groups=groups,
        data_layout=data_layout,
        kernel_layout=kernel_layout,
        out_layout=draw.one("", "", "NCHW", "NHWC"),
        out_dtype=draw.one("int32", "int32", "int64", "int16"),
    )


def conv2d_transpose(draw: Draw) -> Expr:
    groups, each, inputs = draw.one((1, 3, 2), (2, 2, 3), (1, 1, 1))
    kernel, data_layout = (draw.size(3), draw.size(3)), draw.one("NCHW", "NHWC")
    dtype, of_kernel = draw.one("int8", "uint8", "int16"), draw.one(*BYTES)
    channels = groups * each
    return relay.qnn.op.conv2d_transpose(
        draw.data(_arranged((1, groups * inputs, draw.size(4), draw.size(4)), "NCHW", data_layout), dtype),
        draw.fixed(draw.integers((groups * inputs, each, *kernel), of_kernel)),
        draw.zero(dtype),
        draw.zero(of_kernel, channels),
        draw.scale(),
        draw.scale(channels),
        strides=draw.one((1, 1), (2, 2)),
        groups=groups,
        channels=channels,
        kernel_size=kernel,
        data_layout=data_layout,
    )


def binary(name: str) -> Callable[[Draw], Expr]:
    def make(draw: Draw) -> Expr:
        shape, dtype = (
            draw.shape(int(draw.random.integers(1, 4))),
            draw.one("int8", "uint8", "int16", "int32"),
        )
        other = tuple([draw.one(extent, 1) for extent in shape])[draw.one(0, 0, len(shape) - 1) :]
        shapes = [shape, other] if draw.one(True, False) else [other, shape]
        wide = draw.one(0, 1) == 1  # per channel, along an axis that both have
        axis = draw.axis(len(shape)) if len(shape) == len(other) else -1
        lengths = [own[axis] if wide else None for own in shapes]
        parameters = [part for n in lengths for part in (draw.scale(n), draw.zero(dtype, n))]
        build: Callable[..., Call] = getattr(relay.qnn.op, name)
        operands = [draw.data(own, dtype) for own in shapes]
        return build(*operands, *parameters, draw.scale(), draw.zero(dtype), axis, axis)

    return make


def unary(name: str) -> Callable[[Draw], Expr]:
    def make(draw: Draw) -> Expr:
        dtype = draw.one(*BYTES)
        # parameters that the program computes: there, the function may be rounded in another way
        draw.constants = 1.0
        shape = draw.shape(int(draw.random.integers(0, 4)))
        build: Callable[..., Call] = getattr(relay.qnn.op, name)
        return build(
            draw.data(shape, dtype), draw.scale(None, -7, 0), draw.zero(dtype), draw.scale(), draw.zero(dtype)
        )

    return make


def leaky_relu(draw: Draw) -> Expr:
    dtype = draw.one(*BYTES)
    return relay.qnn.op.leaky_relu(
        draw.data(draw.shape(2), dtype),
        draw.one(0.1, 0.0, 1.0, 1.7, -0.3),
        draw.scale(),
        draw.zero(dtype),
        draw.scale(),
        draw.zero(dtype),
    )


def softmax(draw: Draw) -> Expr:
    dtype, shape = draw.one(*BYTES), draw.shape(int(draw.random.integers(1, 4)))
    draw.constants = 1.0
    scale, zero = draw.scale(None, -7, 1), draw.zero(dtype)
    return relay.qnn.op.softmax(
        draw.data(shape, dtype),
        scale,
        zero,
        draw.scale(None, -10, -6),
        draw.zero(dtype),
        draw.axis(len(shape)),
    )


def avg_pool2d(draw: Draw) -> Expr:
    dtype, window = draw.one(*BYTES), draw.shape(2, 3)
    extents = [size + int(draw.random.integers(0, 4)) for size in window]
    return relay.qnn.op.avg_pool2d(
        draw.data((1, *extents, draw.size()), dtype),
        draw.scale(),
        draw.zero(dtype),
        draw.scale(),
        draw.zero(dtype),
        window,
        draw.one((1, 1), (2, 2)),
        draw.one((0, 0), (0, 0), tuple([size // 2 for size in window])),
        (1, 1),
        draw.one(False, True),
        draw.one(False, True),
    )


def concatenate(draw: Draw) -> Expr:
    dtype, rows, count = draw.one("int8", "uint8", "int16", "int32"), draw.size(), draw.size(3)
    same = draw.one(True, False)
    scales, zeros = [draw.scale() for _ in range(count)], [draw.zero(dtype) for _ in range(count)]
    return relay.qnn.op.concatenate(
        [draw.data((rows, draw.size()), dtype) for _ in range(count)],
        scales,
        zeros,
        scales[0] if same else draw.scale(),
        zeros[0] if same else draw.zero(dtype),
        axis=draw.one(1, -1),
    )


MAKERS: dict[str, Callable[[Draw], Expr]] = {
    "requantize": requantize,
    "quantize": quantize,
    "dequantize": dequantize,
    "dense": dense,
    "contrib_dense_pack": contrib_dense_pack,
    "batch_matmul": batch_matmul,
    "conv2d": conv2d,
    "conv2d_transpose": conv2d_transpose,
    "add": binary("add"),
    "subtract": binary("subtract"),
    "mul": binary("mul"),
    "leaky_relu": leaky_relu,
    "softmax": softmax,
    "avg_pool2d": avg_pool2d,
    "concatenate": concatenate,
    **{name: unary(name) for name in UNARY},
}


def program(name: str, seed: int) -> tuple[IRModule, list[Array]]:
    """Make a typed program that calls one operator, and the values of its parameters."""
    draw = Draw(seed)
    body = MAKERS[name](draw)
    assert isinstance(body, Call)
    return infer_types(IRModule.from_expr(Function(draw.params, body))), draw.values


def programs(draws: list[tuple[Draw, Expr]]) -> tuple[IRModule, list[Array]]:
    """Make one program of several expressions, with a tuple as its result."""
    params = [param for draw, _ in draws for param in draw.params]
    values = [value for draw, _ in draws for value in draw.values]
    return IRModule.from_expr(Function(params, Tuple([body for _, body in draws]))), values
