"""ONNX Runtime's quantized operators that its optimizer and its quantizer write, compared bit for bit."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.frontends.onnx.against_runtime import check
from tests.frontends.onnx.test_contrib import compare, operator

RNG = np.random.default_rng(4)
LIMITS = {"uint8": (0, 256), "int8": (-128, 128)}


def whole(kind: str, *shape: int) -> Any:
    return np.asarray(RNG.integers(*LIMITS[kind], shape), kind)


def exact(op: str, inputs: dict[str, Any], **attrs: Any) -> None:
    """Check that an operator gives exactly the runtime's integers."""
    given = {name: array for name, array in inputs.items() if name.startswith("x")}
    check(operator(op, inputs, **attrs), given, rtol=0, atol=0)


def scale(low: float = 0.01) -> Any:
    return np.asarray(RNG.uniform(low, 5 * low), "float32")


@pytest.mark.parametrize("kind", LIMITS)
def test_where(kind: str) -> None:
    for condition, shape in (((2, 3, 5), (2, 3, 5)), ((3, 1), (5,))):
        inputs = {
            "xc": RNG.random(condition) > 0.5, "xa": whole(kind, 2, 3, 5), "sa": scale(), "za": whole(kind),
            "xb": whole(kind, *shape), "sb": scale(), "zb": whole(kind), "sy": scale(), "zy": whole(kind),
        }  # fmt: skip
        exact("QLinearWhere", inputs)


@pytest.mark.parametrize("kind", LIMITS)
@pytest.mark.parametrize("groups", [1, 4])
@pytest.mark.parametrize("channels_last", [0, 1])
def test_a_convolution_whose_channels_come_last(kind: str, groups: int, channels_last: int) -> None:
    shape = (1, 9, 8, 4) if channels_last else (1, 4, 9, 8)
    inputs = {
        "x": whole(kind, *shape), "sx": scale(), "zx": whole(kind), "w": whole("int8", 8, 4 // groups, 3, 3),
        "sw": np.linspace(0.01, 0.05, 8, dtype="float32"), "zw": np.zeros(8, "int8"), "sy": scale(0.5),
        "zy": whole(kind), "b": RNG.integers(-5000, 5000, 8).astype("int32"),
    }  # fmt: skip
    attrs = {"channels_last": channels_last, "group": groups, "pads": [1, 0, 1, 2], "strides": [2, 1]}
    exact("QLinearConv", inputs, **attrs)


@pytest.mark.parametrize("kind", LIMITS)
def test_a_maximum_whose_channels_come_last(kind: str) -> None:
    x = {"x": whole(kind, 1, 9, 8, 4)}
    exact("NhwcMaxPool", x, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1])
    exact("NhwcMaxPool", x, kernel_shape=[2, 2], strides=[2, 2], ceil_mode=1)


@pytest.mark.parametrize("segments", [False, True])
@pytest.mark.parametrize("mask", [False, True])
def test_quantized_embeddings(segments: bool, mask: bool) -> None:
    def ids(below: int, present: bool) -> Any:
        return RNG.integers(0, below, (2, 4)).astype("int32") if present else None

    inputs: dict[str, Any] = {
        "x": ids(9, True), "xs": ids(2, segments), "w": whole("uint8", 9, 8), "p": whole("uint8", 6, 8),
        "s": whole("uint8", 2, 8) if segments else None, "g": whole("uint8", 8), "b": whole("uint8", 8),
        "xm": ids(2, mask),
    }  # fmt: skip
    for name in "wpsgb":
        inputs[f"{name}_scale"] = scale() if segments or name != "s" else None
    for name in "wpsgb":
        inputs[f"{name}_zero"] = whole("uint8") if segments or name != "s" else None
    compare("QEmbedLayerNormalization", inputs, 2, epsilon=1e-5)
