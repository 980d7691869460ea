"""Small models as files, for the tests of the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def classifier(path: Path, classes: int = 4, batch: int | str = 1, scale: float = 1.0) -> Path:
    """Write an ONNX model: two matrix products of `x`, with a ReLU between them, and a softmax."""
    generator = np.random.default_rng(7)
    weights = {
        "hidden.weight": generator.standard_normal((6, 5)).astype("float32"),
        "head.weight": scale * generator.standard_normal((5, classes)).astype("float32"),
    }
    nodes = [
        helper.make_node("MatMul", ["x", "hidden.weight"], ["h"], name="/hidden/MatMul"),
        helper.make_node("Relu", ["h"], ["r"], name="/hidden/Relu"),
        helper.make_node("MatMul", ["r", "head.weight"], ["s"], name="/head/MatMul"),
        helper.make_node("Softmax", ["s"], ["y"], name="/head/Softmax", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "classifier",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 6])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, classes])],
        [numpy_helper.from_array(value.astype("float32"), name) for name, value in weights.items()],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, str(path))
    return path


def expected(
    path: Path, x: np.ndarray[tuple[int, ...], np.dtype[np.float32]]
) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
    """What ONNX's reference evaluator computes."""
    from onnx.reference import ReferenceEvaluator

    session = ReferenceEvaluator(str(path))
    (result,) = session.run(None, {"x": x})
    return np.asarray(result, "float32")
