"""ONNX's recurrent layers give ONNX Runtime's results in all their forms."""

from __future__ import annotations

from typing import Any

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

from relay_explorer.frontends import from_onnx
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Let
from relay_explorer.ir.walk import post_order
from tests.frontends.onnx.against_runtime import check, imported, same

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
STEPS, BATCH, FEATURES, HIDDEN = 4, 3, 2, 5


def layer(
    op: str,
    *,
    extents: tuple[Any, Any] = (STEPS, BATCH),
    optional: tuple[str, ...] = (),
    opset: int = 14,
    **attrs: Any,
) -> Any:
    """Make a model of one layer; `optional` names the operands that it has besides the weights."""
    rng = np.random.default_rng(0)
    directions = 2 if attrs.get("direction") == "bidirectional" else 1
    rows = GATES[op] * HIDDEN
    shapes = {
        "W": (directions, rows, FEATURES),
        "R": (directions, rows, HIDDEN),
        "B": (directions, 2 * rows),
        "P": (directions, 3 * HIDDEN),
    }
    batch_first = bool(attrs.get("layout"))
    steps, batch = extents
    state = [batch, directions, HIDDEN] if batch_first else [directions, batch, HIDDEN]
    inputs = {"X": [batch, steps, FEATURES] if batch_first else [steps, batch, FEATURES]}
    for name in ("initial_h", "initial_c"):
        if name in optional:
            inputs[name] = state
    weights = [
        numpy_helper.from_array(rng.uniform(-0.5, 0.5, shape).astype("float32"), name)
        for name, shape in shapes.items()
        if name in ("W", "R") or name in optional
    ]
    declared = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, s) for name, s in inputs.items()]
    if "sequence_lens" in optional:
        declared.append(helper.make_tensor_value_info("sequence_lens", onnx.TensorProto.INT32, [batch]))
    order = ["X", "W", "R", "B", "sequence_lens", "initial_h", "initial_c", "P"][: 8 if op == "LSTM" else 6]
    given = [name if name in ("X", "W", "R") or name in optional else "" for name in order]
    outputs = ["Y", "Y_h", "Y_c"][: 3 if op == "LSTM" else 2]
    node = helper.make_node(op, given, outputs, hidden_size=HIDDEN, **attrs)
    results = [helper.make_tensor_value_info(name, onnx.TensorProto.FLOAT, None) for name in outputs]
    graph = helper.make_graph([node], "layer", declared, results, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=9)


def values(model: Any, steps: int = STEPS, batch: int = BATCH) -> dict[str, Any]:
    """Make inputs for a model."""
    rng = np.random.default_rng(1)
    made: dict[str, Any] = {}
    for info in model.graph.input:
        if info.name == "sequence_lens":
            made[info.name] = np.array([steps, 1, steps - 1][:batch], "int32")
            continue
        dims = [d.dim_value or {"n": steps, "b": batch}[d.dim_param] for d in info.type.tensor_type.shape.dim]
        made[info.name] = rng.standard_normal(dims).astype("float32")
    return made


DIRECTIONS = ("forward", "reverse", "bidirectional")
OPTIONAL = (
    (),
    ("B",),
    ("B", "initial_h"),
    ("B", "sequence_lens"),
    ("B", "sequence_lens", "initial_h", "initial_c", "P"),
)


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
@pytest.mark.parametrize("optional", OPTIONAL, ids="+".join)
def test_every_direction_with_optional_operands(op: str, direction: str, optional: tuple[str, ...]) -> None:
    optional = tuple(name for name in optional if op == "LSTM" or name not in ("initial_c", "P"))
    model = layer(op, optional=optional, direction=direction)
    check(model, values(model))


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_loops_of_long_and_of_dynamic_length(op: str, direction: str) -> None:
    for extents in ((70, BATCH), ("n", BATCH), ("n", "b")):
        model = layer(op, extents=extents, optional=("B", "initial_h"), direction=direction)
        steps = 70 if extents[0] == 70 else 7
        check(model, values(model, steps))


@pytest.mark.parametrize("op", GATES)
def test_sequence_lengths_in_a_loop(op: str) -> None:
    model = layer(op, extents=("n", "b"), optional=("B", "sequence_lens"), direction="bidirectional")
    check(model, values(model, 6))


@pytest.mark.parametrize("op", GATES)
@pytest.mark.parametrize("steps", [4, 70])
def test_compiled_layers(op: str, steps: int) -> None:
    model = layer(op, extents=(steps, BATCH), optional=("B",), direction="bidirectional")
    check(model, values(model, steps), ("compiled",))


@pytest.mark.parametrize("op", GATES)
def test_batch_first_layout_only_reorders(op: str) -> None:
    """Compare with the other layout, because ONNX Runtime does not have this one."""
    attrs: dict[str, Any] = {"optional": ("B", "initial_h"), "direction": "bidirectional"}
    plain = layer(op, **attrs)
    given = values(plain)
    swapped = {name: np.swapaxes(value, 0, 1).copy() for name, value in given.items()}
    results, expected = imported(layer(op, layout=1, **attrs), swapped), imported(plain, given)
    same([results[0].transpose(1, 2, 0, 3)], expected[:1])
    same([np.swapaxes(value, 0, 1) for value in results[1:]], expected[1:])


def test_gru_with_linear_before_reset() -> None:
    model = layer("GRU", optional=("B",), linear_before_reset=1, direction="bidirectional")
    check(model, values(model))


def test_lstm_with_coupled_gates() -> None:
    model = layer("LSTM", optional=("B",), input_forget=1)
    check(model, values(model))


ACTIVATIONS = [
    ("Affine", [0.5], [0.1]), ("Relu", [], []), ("LeakyRelu", [0.2], []), ("ThresholdedRelu", [0.1], []),
    ("Tanh", [], []), ("ScaledTanh", [0.8], [0.9]), ("Sigmoid", [], []), ("HardSigmoid", [0.3], [0.4]),
    ("Elu", [0.7], []), ("Softsign", [], []), ("Softplus", [], []),
]  # fmt: skip


@pytest.mark.parametrize(("name", "alpha", "beta"), ACTIVATIONS)
def test_activation_functions_with_parameters(name: str, alpha: list[float], beta: list[float]) -> None:
    attrs: dict[str, Any] = {"activations": [name]}
    if alpha:
        attrs["activation_alpha"] = alpha
    if beta:
        attrs["activation_beta"] = beta
    model = layer("RNN", optional=("B",), **attrs)
    check(model, values(model), rtol=1e-4)


@pytest.mark.parametrize("op", GATES)
def test_clipped_gates(op: str) -> None:
    model = layer(op, optional=("B",), clip=0.5)
    check(model, values(model))


def test_old_opset() -> None:
    model = layer("LSTM", optional=("B",), opset=7)
    check(model, values(model))


def test_short_sequences_are_unrolled() -> None:
    for steps, loops in ((4, False), (70, True)):
        mod, _ = from_onnx(layer("LSTM", extents=(steps, BATCH)))
        assert any(isinstance(node, Let) for node in post_order(mod["main"].body)) is loops


def test_weights_that_are_inputs() -> None:
    model = layer("LSTM", optional=("B",))
    _, params = from_onnx(model, freeze_params=False)
    assert set(params) == {"W", "R", "B"}
    check(model, values(model), freeze_params=False)


def test_errors_name_the_layer_and_what_is_wrong() -> None:
    with pytest.raises(RelayError, match="the activation function 'Swish' is not supported"):
        from_onnx(layer("RNN", activations=["Swish"]))
    model = layer("LSTM", direction="reverse")
    for attribute in model.graph.node[0].attribute:
        attribute.s = b"bidirectional" if attribute.name == "direction" else attribute.s
    with pytest.raises(RelayError, match="LSTM has direction=bidirectional, but weights for 1 direction"):
        from_onnx(model)
