"""Compare imported Keras models with Keras itself, which runs on PyTorch here."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence
from typing import Any

os.environ.setdefault("KERAS_BACKEND", "torch")

import numpy as np

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    import keras as keras  # type: ignore[import-untyped]

from relay_explorer import relay
from relay_explorer.frontends.keras import from_keras as from_keras
from relay_explorer.ir.module import IRModule

layers: Any = keras.layers
ops: Any = keras.ops
Array = np.ndarray[Any, Any]
_RNG = np.random.default_rng(0)


def normal(*shape: int) -> Array:
    """Return random float32 numbers."""
    return _RNG.normal(size=shape).astype(np.float32)


def shuffle_weights(model: Any) -> None:
    """Give all weights random values, those that begin as zeros or ones too."""
    for weight in model.weights:
        if "float" in str(weight.dtype):
            values = _RNG.normal(size=tuple(weight.shape)) * 0.4
            weight.assign(np.abs(values) + 0.5 if "variance" in weight.path else values)


def sample(model: Any, batch: int = 2) -> list[Array]:
    """Return random inputs for a model."""
    result = []
    for tensor in model.inputs:
        shape = [batch, *[5 if extent is None else extent for extent in tensor.shape[1:]]]
        whole = "int" in str(tensor.dtype)
        result.append(_RNG.integers(0, 4, shape).astype(np.int32) if whole else normal(*shape))
    return result


def flat(result: Any) -> list[Array]:
    """Return the arrays in a result."""
    if isinstance(result, dict):
        return [array for key in sorted(result) for array in flat(result[key])]
    if isinstance(result, (list, tuple)):
        return [array for part in result for array in flat(part)]
    if hasattr(result, "detach"):
        return [result.detach().numpy()]
    return [np.asarray(result.numpy())]


def computed(model: Any, inputs: Sequence[Array]) -> list[Array]:
    """Return what Keras computes."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # PyTorch's of NumPy, and Keras's of lists of one input
        return flat(model(list(inputs) if len(inputs) > 1 else inputs[0]))


def to_first(x: Array) -> Array:
    """Move the channels from the last axis to the second."""
    return x.transpose((0, x.ndim - 1, *range(1, x.ndim - 1)))


def run(mod: IRModule, params: Any, inputs: Sequence[Array], executor: str = "debug") -> list[Array]:
    """Run an imported model."""
    weights = [params[var.name_hint].numpy() for var in mod["main"].params[len(inputs) :]]
    return flat(relay.create_executor(executor, mod).evaluate()(*inputs, *weights))


def check(
    model: Any,
    inputs: list[Array] | None = None,
    layouts: Sequence[str] = ("NHWC", "NCHW"),
    tolerance: float = 2e-5,
    executor: str = "debug",
) -> None:
    """Assert that the imported model computes what Keras computes; with "NCHW", that images (rank 4) have
    their channels first.
    """
    shuffle_weights(model)
    inputs = sample(model) if inputs is None else inputs
    expected = computed(model, inputs)
    names = [tensor._keras_history.operation.name for tensor in model.inputs]
    for layout in layouts:
        moves = layout == "NCHW"
        arguments = [to_first(x) if moves and x.ndim == 4 else x for x in inputs]
        shapes = {name: x.shape for name, x in zip(names, arguments)}
        mod, params = from_keras(model, shapes, layout)
        results = run(mod, params, arguments, executor)
        assert len(results) == len(expected)
        for result, wanted in zip(results, expected):
            wanted = to_first(wanted) if moves and wanted.ndim == 4 else wanted
            assert result.shape == wanted.shape
            np.testing.assert_allclose(result, wanted, rtol=tolerance, atol=tolerance)


def check_layer(layer: Any, *shapes: tuple[int | None, ...], dtype: str = "float32", **options: Any) -> None:
    """Check a model of one layer that is called with tensors of the given shapes, without the batch."""
    inputs = [keras.Input(shape, dtype=dtype) for shape in shapes]
    check(keras.Model(inputs, layer(inputs if len(inputs) > 1 else inputs[0])), **options)
