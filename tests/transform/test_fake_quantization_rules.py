"""Each rule of FakeQuantizationToInteger, on its own: it converts its operator, whose integers differ by at
most one step from those of the float program.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from relay_explorer import relay
from relay_explorer.ir import Expr, Function, IRModule, Op, const
from relay_explorer.ir.declaration import Trait
from relay_explorer.ir.narrow import as_call
from relay_explorer.transform import FakeQuantizationToInteger
from relay_explorer.transform.fake_quantization import fake_quantized_regions, functions, rules
from relay_explorer.typing import infer_types
from tests.transform.fake_quantized import Region, qnn, run

Example = Callable[[Region], Expr]
PADDING = ((0, 0), (0, 0), (1, 2), (0, 1))


def image(region: Region) -> Expr:
    return region.dequantized((1, 4, 6, 6), "int8", 0.1, 3)


def matrix(region: Region, rows: int, columns: int, *lead: int) -> Expr:
    return region.dequantized((*lead, rows, columns), "int8", 0.05, -2)


def volume(region: Region) -> Expr:
    return region.dequantized((1, 2, 4, 4, 4), "uint8", 0.1, 100)


def positive(region: Region) -> Expr:
    return region.dequantized((4, 9), "uint8", 0.02, -5)


def channels(region: Region, shape: tuple[int, ...], axis: int) -> Expr:
    """Return a weight whose scales differ by output channel."""
    extent = shape[axis]
    return region.dequantized(shape, "int8", np.linspace(0.01, 0.04, extent), np.zeros(extent), axis)


def transposed(region: Region, groups: int = 1) -> Expr:
    weight = channels(region, (4, 3, 3, 3), 1)
    return relay.nn.conv2d_transpose(
        image(region), weight, kernel_size=(3, 3), channels=3 * groups, strides=(2, 2), groups=groups
    )


EXAMPLES: dict[str, list[Example]] = {
    "nn.conv1d": [
        lambda r: relay.nn.conv1d(
            matrix(r, 4, 9, 2), channels(r, (6, 2, 3), 0), 2, (1, 0), 2, 2, channels=6, kernel_size=3
        ),
        lambda r: relay.nn.conv1d(
            matrix(r, 9, 4, 2), channels(r, (3, 4, 5), 2), data_layout="NWC", kernel_layout="WIO"
        ),
    ],
    "nn.conv2d": [
        lambda r: relay.nn.conv2d(image(r), channels(r, (5, 4, 3, 3), 0), kernel_size=(3, 3), padding=(1, 1)),
        lambda r: relay.nn.conv2d(
            image(r), channels(r, (4, 1, 3, 3), 0), kernel_size=(3, 3), groups=4, channels=4
        ),
        lambda r: relay.nn.conv2d(
            relay.transpose(image(r), (0, 2, 3, 1)), channels(r, (3, 3, 4, 5), 3), kernel_size=(3, 3),
            data_layout="NHWC", kernel_layout="HWIO",
        ),
        lambda r: relay.nn.conv2d(  # two outputs of each channel, which share a scale
            relay.transpose(image(r), (0, 2, 3, 1)), channels(r, (3, 3, 4, 2), 2), kernel_size=(3, 3),
            data_layout="NHWC", kernel_layout="HWOI", groups=4, channels=8,
        ),
    ],
    "nn.conv2d_transpose": [transposed, lambda r: transposed(r, groups=2)],
    "nn.dense": [
        lambda r: relay.nn.dense(matrix(r, 3, 8), channels(r, (5, 8), 0)),
        lambda r: relay.nn.dense(matrix(r, 3, 8), relay.transpose(channels(r, (8, 5), 1))),
        lambda r: relay.nn.dense(matrix(r, 3, 8, 2), channels(r, (5, 8), 0)),
    ],
    "nn.matmul": [
        lambda r: relay.nn.matmul(matrix(r, 8, 3), channels(r, (8, 5), 1), transpose_a=True),
        lambda r: relay.nn.matmul(matrix(r, 3, 8), channels(r, (5, 8), 0), transpose_b=True),
    ],
    "nn.batch_matmul": [
        lambda r: relay.nn.batch_matmul(matrix(r, 3, 8, 2), matrix(r, 5, 8, 2)),
        lambda r: relay.nn.batch_matmul(
            matrix(r, 8, 3, 2), matrix(r, 8, 5, 2), transpose_a=True, transpose_b=False
        ),
    ],
    "nn.bias_add": [
        lambda r: relay.nn.bias_add(
            relay.nn.dense(matrix(r, 3, 8), channels(r, (5, 8), 0)),
            const(np.linspace(-1, 1, 5, dtype="float32")),
        ),
        lambda r: relay.nn.bias_add(
            relay.nn.dense(matrix(r, 3, 8), matrix(r, 5, 8)), r.dequantized((5,), "int32", 0.05 * 0.05, 0)
        ),
        lambda r: relay.nn.bias_add(
            relay.nn.dense(matrix(r, 3, 8), matrix(r, 5, 8)), r.dequantized((5,), "int8", 0.02, 1)
        ),
    ],
    "add": [
        lambda r: relay.add(image(r), r.image()),
        lambda r: relay.add(image(r), r.dequantized((6,), "int8", 0.1, 0)),
        lambda r: relay.add(image(r), r.dequantized((1, 4, 6, 6), "int16", 0.01, 0)),
        lambda r: relay.add(const(np.linspace(-1, 1, 6, dtype="float32")), image(r)),
    ],
    "subtract": [
        lambda r: relay.subtract(image(r), image(r)),
        lambda r: relay.subtract(const(np.float32(2.5)), image(r)),
    ],
    "multiply": [
        lambda r: relay.multiply(image(r), r.image()),
        lambda r: relay.multiply(const(np.float32(-0.3)), image(r)),
    ],
    "divide": [
        lambda r: relay.divide(image(r), const(np.float32(1.7))),
        lambda r: relay.divide(image(r), qnn.dequantize(const(np.uint8(200)), const(0.01), const(30))),
    ],
    "negative": [lambda r: relay.negative(image(r))],
    "maximum": [
        lambda r: relay.maximum(image(r), r.image()),
        lambda r: relay.maximum(image(r), const(np.float32(0.33))),
    ],
    "minimum": [lambda r: relay.minimum(const(np.float32(0.33)), image(r))],
    "mean": [
        lambda r: relay.mean(image(r), axis=(1, -1)),
        lambda r: relay.mean(image(r), axis=1, exclude=True, keepdims=True),
        lambda r: relay.mean(image(r)),
    ],
    "sum": [lambda r: relay.sum(image(r), axis=2)],
    "nn.global_avg_pool2d": [lambda r: relay.nn.global_avg_pool2d(image(r))],
    "nn.adaptive_avg_pool1d": [lambda r: relay.nn.adaptive_avg_pool1d(matrix(r, 4, 9, 1), 4)],
    "nn.adaptive_avg_pool2d": [
        lambda r: relay.nn.adaptive_avg_pool2d(image(r), (4, 3)),
        lambda r: relay.nn.adaptive_avg_pool2d(image(r), (1, 1)),
    ],
    "nn.adaptive_avg_pool3d": [
        lambda r: relay.nn.adaptive_avg_pool3d(volume(r), (2, 2, 2))
    ],
    "nn.avg_pool1d": [lambda r: relay.nn.avg_pool1d(matrix(r, 4, 9, 1), (3,), padding=(1,))],
    "nn.avg_pool2d": [
        lambda r: relay.nn.avg_pool2d(image(r), (3, 3), padding=(1, 1)),
        lambda r: relay.nn.avg_pool2d(image(r), (3, 3), padding=(1, 1), count_include_pad=True),
        lambda r: relay.nn.avg_pool2d(image(r), (2, 2), strides=(3, 3), ceil_mode=True),
    ],
    "nn.avg_pool3d": [lambda r: relay.nn.avg_pool3d(volume(r), (2, 2, 2))],
    "image.resize1d": [lambda r: relay.image.resize1d(matrix(r, 4, 9, 1), (5,))],
    "image.resize2d": [
        lambda r: relay.image.resize2d(image(r), (4, 9), method="linear"),
        lambda r: relay.image.resize2d(image(r), (4, 9), method="nearest_neighbor"),
        lambda r: relay.image.resize2d(image(r), (4, 9), method="cubic"),
    ],
    "image.resize3d": [
        lambda r: relay.image.resize3d(volume(r), (3, 3, 3), method="linear")
    ],
    "abs": [lambda r: relay.abs(image(r))],
    "erf": [lambda r: relay.erf(image(r))],
    "exp": [lambda r: relay.exp(r.dequantized((4, 9), "int8", 0.02, 3))],
    "log": [lambda r: relay.log(positive(r))],
    "nn.leaky_relu": [lambda r: relay.nn.leaky_relu(image(r), 0.1)],
    "rsqrt": [lambda r: relay.rsqrt(positive(r))],
    "sigmoid": [lambda r: relay.sigmoid(image(r))],
    "sqrt": [lambda r: relay.sqrt(positive(r))],
    "tanh": [lambda r: relay.tanh(image(r))],
    "nn.relu": [lambda r: relay.nn.relu(image(r))],
    "clip": [lambda r: relay.clip(image(r), -1.23, 4.56), lambda r: relay.clip(image(r), 0, 1e9)],
    "nn.pad": [
        lambda r: relay.nn.pad(image(r), PADDING, np.float32(0.7)),
        lambda r: relay.nn.pad(image(r), PADDING, pad_mode="reflect"),
        lambda r: relay.nn.pad(image(r), PADDING, r.dequantized((), "int8", 0.01, 0)),
    ],
    "concatenate": [lambda r: relay.concatenate([image(r), r.image(), image(r)], 1)],
    "stack": [lambda r: relay.stack([image(r), r.image()], 0)],
    "where": [
        lambda r: relay.where(const(np.arange(6) % 2 == 0), image(r), r.image()),
        lambda r: relay.where(const(np.arange(6) % 2 == 0), image(r), const(np.float32(0.5))),
    ],
}  # fmt: skip
SELECTING: dict[str, Example] = {
    "batch flatten": lambda r: relay.nn.batch_flatten(image(r)),
    "broadcast_to": lambda r: relay.broadcast_to(image(r), (3, 4, 6, 6)),
    "copy": lambda r: relay.copy(image(r)),
    "depth to space": lambda r: relay.nn.depth_to_space(image(r), 2),
    "gather": lambda r: relay.gather(matrix(r, 3, 8), 1, const(np.asarray([[1], [0], [7]], "int32"))),
    "greatest of each window": lambda r: relay.nn.max_pool2d(image(r), (3, 3), padding=(1, 1)),
    "least": lambda r: relay.min(image(r), axis=1),
    "layout": lambda r: relay.layout_transform(image(r), "NCHW", "NCHW4c"),
    "repeat": lambda r: relay.repeat(image(r), 2, 1),
    "sorted": lambda r: relay.sort(image(r), 1),
    "taken": lambda r: relay.take(matrix(r, 3, 8), relay.const([2, 0]), axis=0),
    "top": lambda r: as_call(relay.topk(image(r), 3, 1, "values", False)),
}


def checked(build: Example, seed: int, dtype: str) -> None:
    """Check that an operator is converted, and that no integer is more than one step from that of the float
    program.
    """
    region = Region(seed)
    body = build(region)
    values = run(infer_types(IRModule.from_expr(Function(region.inputs, body))), region.arrays)
    scale = max(float(values.max() - values.min()), 1e-3) / 200
    zero = round(np.iinfo(dtype).min - float(values.min()) / scale + 20)
    end = qnn.quantize(body, const(np.float32(scale)), const(np.int32(zero)), out_dtype=dtype)
    mod = infer_types(IRModule.from_expr(Function(region.inputs, end)))
    (report,) = fake_quantized_regions(mod)
    assert report.converted is not None, report.reason
    converted = infer_types(FakeQuantizationToInteger()(mod))
    difference = run(mod, region.arrays).astype(int) - run(converted, region.arrays).astype(int)
    assert abs(difference).max() <= 1


CASES = [(name, index) for name, builds in EXAMPLES.items() for index in range(len(builds))]


@pytest.mark.parametrize(("name", "index"), CASES)
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_each_operator_with_a_rule_is_converted(name: str, index: int, dtype: str) -> None:
    checked(EXAMPLES[name][index], len(name) + index, dtype)


@pytest.mark.parametrize("build", SELECTING.values(), ids=[*SELECTING])
def test_operators_that_select_are_converted_by_their_traits(build: Example) -> None:
    checked(build, 7, "int8")


def test_every_rule_has_an_example() -> None:
    assert set(EXAMPLES) == set(rules.RULES)
    assert set(functions.OPTIONAL) == {"nn.softmax"}


def test_the_rules_for_traits_cover_what_only_moves_elements() -> None:
    for trait in (Trait.RESHAPE, Trait.TRANSPOSE, Trait.COPY, Trait.SELECTION):
        for name in Op.names_with(trait):
            assert rules.rule_of(Op.get(name), optional=False) is not None, name
