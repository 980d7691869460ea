"""ONNX Runtime's LSTM with quantized weights."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper

from relay_explorer.ir.errors import RelayError
from tests.frontends.onnx.against_runtime import check, imported, runtime
from tests.frontends.onnx.support import value

RNG = np.random.default_rng(3)
# With more sequences, the runtime divides them among threads, each of which quantizes its own to their range.
BATCH, FEATURES, HIDDEN = 1, 5, 4
Array = np.ndarray[Any, Any]


def lstm(steps: int, directions: int = 1, by_column: bool = False, **options: Any) -> tuple[Any, Any]:
    """Make a model of one layer and its inputs. `options`: the element type of the weights, whether lengths,
    initial states and peepholes are given, the shape of the input, and the direction.
    """
    kind = options.get("kind", "int8")
    low, high = (-128, 128) if kind == "int8" else (0, 256)
    per = (directions, 4 * HIDDEN) if by_column else (directions,)
    inputs: dict[str, Array] = {
        "x": RNG.standard_normal((steps, BATCH, FEATURES)).astype("float32"),
        "W": RNG.integers(low, high, (directions, FEATURES, 4 * HIDDEN)).astype(kind),
        "R": RNG.integers(low, high, (directions, HIDDEN, 4 * HIDDEN)).astype(kind),
        "B": RNG.standard_normal((directions, 8 * HIDDEN)).astype("float32") * np.float32(0.3),
    }
    if options.get("lengths"):
        inputs["lengths"] = np.full(BATCH, steps, "int32")
    if options.get("more"):
        for name, shape in (("h", (BATCH, HIDDEN)), ("c", (BATCH, HIDDEN)), ("P", (3 * HIDDEN,))):
            inputs[name] = RNG.standard_normal((directions, *shape)).astype("float32") * np.float32(0.3)
    for name in "WR":
        inputs[f"{name}_scale"] = RNG.uniform(0.001, 0.006, per).astype("float32")
        inputs[f"{name}_zero"] = np.full(per, 0 if kind == "int8" else 130, kind)
    order = ["x", "W", "R", "B", "lengths", "h", "c", "P", "W_scale", "W_zero", "R_scale", "R_zero"]
    names = [name if name in inputs else "" for name in order]
    attrs = {"hidden_size": HIDDEN, "direction": options.get("direction", "forward")}
    node = helper.make_node(
        "DynamicQuantizeLSTM", names, ["y", "y_h", "y_c"], domain="com.microsoft", **attrs
    )
    given = {"x": inputs.pop("x")}
    graph = helper.make_graph(
        [node],
        "layer",
        [value("x", options.get("shape", given["x"].shape))],
        [value(name, None) for name in ("y", "y_h", "y_c")],
        [numpy_helper.from_array(array, name) for name, array in inputs.items()],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9), given


@pytest.mark.parametrize("kind", ["int8", "uint8"])
@pytest.mark.parametrize("by_column", [False, True])
def test_the_inputs_and_the_state_are_quantized_to_their_range(kind: str, by_column: bool) -> None:
    check(*lstm(6, kind=kind, by_column=by_column), rtol=1e-6, atol=1e-6)


def test_directions_states_and_peepholes() -> None:
    check(*lstm(5, 2, direction="bidirectional"), rtol=1e-6, atol=1e-6)
    check(*lstm(5, direction="reverse", more=True), rtol=1e-6, atol=1e-6)
    check(*lstm(5, lengths=True), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("shape", [(70, BATCH, FEATURES), ("steps", BATCH, FEATURES)])
def test_a_long_or_dynamic_sequence_is_a_loop(shape: Any) -> None:
    model, given = lstm(70, shape=shape)
    for result, expected in zip(imported(model, given), runtime(model, given), strict=True):
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-6)


def test_the_batch_or_the_length_must_be_known() -> None:
    model, _ = lstm(5, shape=("steps", "batch", FEATURES))
    with pytest.raises(RelayError, match="requires that the batch or the length is known"):
        imported(model, {"x": np.zeros((5, BATCH, FEATURES), "float32")})


def test_a_scale_is_required() -> None:
    model, given = lstm(5)
    model.graph.node[0].input[8] = ""
    with pytest.raises(RelayError, match="is missing"):
        imported(model, given)
