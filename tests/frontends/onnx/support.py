"""Make small ONNX models, run them with ONNX Runtime and with Relay's interpreter, and compare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from relay_explorer import relay
from relay_explorer.frontends import from_onnx
from relay_explorer.ir import IRModule

Array = np.ndarray[Any, np.dtype[Any]]
Numbers = float | Sequence[float] | Sequence[Sequence[float]]
Shape = Sequence[int | str | None]


def floats(numbers: Numbers) -> Array:
    """Return an array of type float32."""
    return np.asarray(numbers, "float32")


def value(name: str, shape: Shape | None, dtype: Any = "float32") -> onnx.ValueInfoProto:
    """Declare an input or an output."""
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    return helper.make_tensor_value_info(name, kind, shape)


def model(
    nodes: Sequence[onnx.NodeProto],
    inputs: Sequence[onnx.ValueInfoProto],
    outputs: Sequence[str],
    weights: Mapping[str, Array] | None = None,
    opset: int = 21,
    functions: Sequence[onnx.FunctionProto] = (),
    domains: Sequence[str] = (),
) -> onnx.ModelProto:
    """Make a model; its outputs have no declared shapes."""
    graph = helper.make_graph(
        list(nodes),
        "graph",
        list(inputs),
        [helper.make_tensor_value_info(name, TensorProto.UNDEFINED, None) for name in outputs],
        [numpy_helper.from_array(np.asarray(array), name) for name, array in (weights or {}).items()],
    )
    imports = [helper.make_opsetid("", opset), *[helper.make_opsetid(domain, 1) for domain in domains]]
    return helper.make_model(graph, opset_imports=imports, functions=list(functions), ir_version=10)


def of_node(
    op: str,
    inputs: Sequence[Array | None],
    outputs: int = 1,
    opset: int = 21,
    constants: Sequence[int] = (),
    **attributes: Any,
) -> tuple[onnx.ModelProto, dict[str, Array]]:
    """Make a model of one node; return it and its inputs by name. `constants` are the operands that are
    weights.
    """
    names = ["" if array is None else f"x{index}" for index, array in enumerate(inputs)]
    given = {name: np.asarray(array) for name, array in zip(names, inputs) if array is not None}
    weights = {f"x{index}": given.pop(f"x{index}") for index in constants}
    results = [f"y{index}" for index in range(outputs)]
    node = helper.make_node(op, names, results, name="node", **attributes)
    declared = [value(name, array.shape, array.dtype) for name, array in given.items()]
    return model([node], declared, results, weights, opset), given


def runtime(proto: onnx.ModelProto, inputs: Mapping[str, Array]) -> list[Array]:
    """Run a model with ONNX Runtime."""
    import onnxruntime

    onnxruntime.set_default_logger_severity(3)
    typed = onnx.shape_inference.infer_shapes(proto)
    session = onnxruntime.InferenceSession(typed.SerializeToString(), providers=["CPUExecutionProvider"])
    results: list[Array] = session.run(None, dict(inputs))
    return results


def interpreted(
    mod: IRModule, inputs: Mapping[str, Array], params: Mapping[str, Any] | None = None
) -> list[Array]:
    """Run `@main` with Relay's interpreter; arguments are found by the names of its parameters."""
    given = {**inputs, **(params or {})}
    arguments = [given[var.name_hint] for var in mod["main"].params]
    result: Any = relay.create_executor("debug", mod).evaluate()(*arguments)
    return [item.numpy() for item in (result if isinstance(result, (tuple, list)) else [result])]


def assert_same(
    actual: Sequence[Array], expected: Sequence[Array], rtol: float = 1e-5, atol: float = 1e-5
) -> None:
    """Compare results: number, element types, shapes, values."""
    assert len(actual) == len(expected)
    for one, other in zip(actual, expected):
        assert one.dtype == other.dtype
        assert one.shape == other.shape
        np.testing.assert_allclose(one, other, rtol=rtol, atol=atol)


def check(
    proto: onnx.ModelProto,
    inputs: Mapping[str, Array],
    rtol: float = 1e-5,
    atol: float = 1e-5,
    **options: Any,
) -> IRModule:
    """Import a model, compare its results with ONNX Runtime's, and return the module."""
    mod, params = from_onnx(proto, **options)
    assert_same(interpreted(mod, inputs, params), runtime(proto, inputs), rtol, atol)
    return mod
