"""Models that MXNet wrote give its outputs. `tests/data/make/mxnet.py` made the files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import relay_explorer
from relay_explorer import relay
from relay_explorer.frontends import from_mxnet
from relay_explorer.frontends.base.source import ModelSource, node_of
from relay_explorer.ir.errors import RelayError
from relay_explorer.ir.expr import Call, Function, If, Let
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.op import Op
from relay_explorer.ir.walk import post_order

FOLDER = Path(__file__).parents[2] / "data" / "mxnet"
MODELS = ["residual", "attention", "loops", "detector", "tagger", "checkpoint"]


def arrays(name: str) -> tuple[dict[str, Any], list[Any]]:
    """Return the inputs and the outputs of a model."""
    file = np.load(FOLDER / f"{name}.npz")
    inputs = {key: file[key] for key in file.files if not key.startswith("output_")}
    return inputs, [file[f"output_{number}"] for number in range(len(file.files) - len(inputs))]


def imported(name: str, **options: Any) -> tuple[IRModule, dict[str, Any]]:
    inputs, _ = arrays(name)
    return from_mxnet(
        str(FOLDER / f"{name}-symbol.json"),
        {key: value.shape for key, value in inputs.items()},
        arg_params=FOLDER / f"{name}-0000.params",
        **options,
    )


def outputs_of(mod: IRModule, values: dict[str, Any]) -> list[Any]:
    result = relay.create_executor("debug", mod).evaluate()(**values)
    return [value.numpy() for value in (result if isinstance(result, (tuple, list)) else [result])]


@pytest.mark.parametrize("name", MODELS)
def test_a_model_gives_the_outputs_of_mxnet(name: str) -> None:
    inputs, expected = arrays(name)
    mod, params = imported(name)
    results = outputs_of(mod, inputs | params)
    assert len(results) == len(expected)
    for result, output in zip(results, expected):
        assert result.shape == output.shape
        np.testing.assert_allclose(result, output, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_inputs_come_first_and_weights_are_parameters(name: str) -> None:
    inputs, _ = arrays(name)
    mod, params = imported(name)
    names = [var.name_hint for var in mod["main"].params]
    assert names[: len(inputs)] == list(inputs)
    assert sorted(names[len(inputs) :]) == sorted(params)


def test_a_compiled_model_gives_the_outputs_of_mxnet() -> None:
    inputs, (expected,) = arrays("residual")
    mod, params = imported("residual")
    program = relay_explorer.build(mod, params=params)
    np.testing.assert_allclose(program(inputs["data"]), expected, rtol=1e-4, atol=1e-4)


def test_loops_become_functions_that_call_themselves() -> None:
    mod, _ = imported("loops")
    nodes = list(post_order(mod["main"]))
    loops = [node for node in nodes if isinstance(node, Let) and isinstance(node.value, Function)]
    assert any(
        isinstance(part, Call) and part.op is loop.var for loop in loops for part in post_order(loop.value)
    )
    assert any(isinstance(node, If) for node in nodes)


def test_a_long_sequence_is_a_loop_and_not_unrolled() -> None:
    inputs, _ = arrays("loops")
    shapes = {"data0": (200, 3), "data1": (3,), "data2": (3,)}
    mod, params = from_mxnet(FOLDER / "loops-symbol.json", shapes)
    assert sum(isinstance(node, Call) for node in post_order(mod["main"])) < 200
    sequence = np.resize(inputs["data0"], (200, 3))
    result = outputs_of(mod, inputs | {"data0": sequence} | params)[0]
    state, expected = inputs["data1"], []
    for item in sequence:
        expected.append(item + state * inputs["data2"])
        state = np.tanh(state + item)
    np.testing.assert_allclose(result, np.stack(expected), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "loops"])
def test_shapes_of_weights_follow_from_those_of_the_inputs(name: str) -> None:
    inputs, _ = arrays(name)
    mod, _ = imported(name)
    shapes = {key: value.shape for key, value in inputs.items()}
    alone, params = from_mxnet((FOLDER / f"{name}-symbol.json").read_text(), shapes)
    assert params == {}
    assert [var.checked_type for var in alone["main"].params] == [
        var.checked_type for var in mod["main"].params
    ]


def test_a_batch_of_unknown_size_stays_unknown() -> None:
    mod, params = from_mxnet(
        FOLDER / "residual-symbol.json",
        {"data": (relay.Any(), 3, 10, 10)},
        arg_params=FOLDER / "residual-0000.params",
    )
    mod = relay.transform.InferType()(mod)
    assert str(mod["main"].ret_type) == "Tensor[(?, 5), float32]"
    inputs, (expected,) = arrays("residual")
    twice = np.concatenate([inputs["data"]] * 2)
    (result,) = outputs_of(mod, {"data": twice} | params)
    np.testing.assert_allclose(result, np.concatenate([expected] * 2), rtol=1e-4, atol=1e-4)


def test_expressions_point_to_the_nodes_that_they_came_from() -> None:
    mod, _ = imported("residual")
    assert isinstance(mod.source, ModelSource)
    assert mod.source.framework == "MXNet"
    places = {node.op for call in post_order(mod["main"]) if (node := node_of(call.span)) is not None}
    assert {"Convolution", "BatchNorm", "Pooling", "FullyConnected"} <= places


def test_arrays_of_numpy_and_objects_like_those_of_mxnet_are_weights() -> None:
    class Array:
        def __init__(self, value: Any) -> None:
            self.value = value

        def asnumpy(self) -> Any:
            return self.value

    inputs, (expected,) = arrays("checkpoint")
    _, params = imported("checkpoint")
    aux = {key: value.numpy() for key, value in params.items() if "moving" in key}
    args = {key: Array(value.numpy()) for key, value in params.items() if key not in aux}
    mod, weights = from_mxnet(FOLDER / "checkpoint-symbol.json", {"data": (2, 4)}, "float32", args, aux)
    assert weights == params
    np.testing.assert_allclose(outputs_of(mod, inputs | weights)[0], expected, rtol=1e-5, atol=1e-5)


def test_a_symbol_is_anything_that_writes_json() -> None:
    class Symbol:
        name = "net"

        def tojson(self) -> str:
            return (FOLDER / "checkpoint-symbol.json").read_text()

    mod, _ = from_mxnet(Symbol(), {"data": (2, 4)})
    assert mod.source is not None
    assert mod.source.name == "net"


@pytest.mark.parametrize("key", ["attr", "param"])
def test_old_versions_called_attributes_differently_and_hid_statistics(key: str) -> None:
    graph = json.loads((FOLDER / "checkpoint-symbol.json").read_text())
    places: dict[int, int] = {}
    nodes: list[Any] = []
    for number, node in enumerate(graph["nodes"]):
        if "moving" in node["name"]:
            continue
        places[number] = len(nodes)
        node["inputs"] = [[places[source], index] for source, index, _ in node["inputs"] if source in places]
        if "attrs" in node:
            node[key] = node.pop("attrs")
        nodes.append(node)
    old = {"nodes": nodes, "heads": [[places[graph["heads"][0][0]], 0]], "arg_nodes": []}
    inputs, (expected,) = arrays("checkpoint")
    mod, params = from_mxnet(json.dumps(old), {"data": (2, 4)}, arg_params=FOLDER / "checkpoint-0000.params")
    assert "bn_moving_mean" in params
    np.testing.assert_allclose(outputs_of(mod, inputs | params)[0], expected, rtol=1e-5, atol=1e-5)


def test_all_operators_without_a_converter_are_named_at_once() -> None:
    graph = json.loads((FOLDER / "loops-symbol.json").read_text())
    for inner in [node for node in graph["nodes"] if "subgraphs" in node]:
        inner["subgraphs"][0]["nodes"][-1]["op"] = "_of_mine"
    with pytest.raises(
        RelayError, match=r"1 MXNet operator that cannot be imported: _of_mine \(3 nodes, first"
    ):
        from_mxnet(json.dumps(graph), {})


def test_a_converter_of_the_user_takes_precedence() -> None:
    def convert(node: Any, inputs: list[Any]) -> Any:
        assert node.attrs["act_type"] == "tanh"
        return relay.sigmoid(inputs[0])

    mod, _ = imported("checkpoint", convert_map={"Activation": convert})
    names = {
        node.op.name for node in post_order(mod["main"]) if isinstance(node, Call) and isinstance(node.op, Op)
    }
    assert "sigmoid" in names
    assert "tanh" not in names


def test_a_missing_shape_says_how_to_give_it() -> None:
    with pytest.raises(RelayError, match="the shape of the input `data` is not known") as caught:
        from_mxnet(FOLDER / "checkpoint-symbol.json")
    assert "give it: from_mxnet(symbol, shape={'data': (1, 3, 224, 224)})" in caught.value.help
    with pytest.raises(RelayError, match="`shape` names 'image', which the model does not have as an input"):
        from_mxnet(FOLDER / "checkpoint-symbol.json", {"image": (2, 4)})
