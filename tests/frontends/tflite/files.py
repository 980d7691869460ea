"""The models in `tests/data/tflite`, their inputs, and what TensorFlow Lite computes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from relay_explorer import relay
from relay_explorer.frontends.tflite import from_tflite
from relay_explorer.ir.module import IRModule
from relay_explorer.ir.ndarray import NDArray

FOLDER = Path(__file__).parents[2] / "data" / "tflite"
NAMES = sorted(path.stem for path in FOLDER.glob("*.tflite"))
Array = np.ndarray[Any, Any]


def path_of(name: str) -> Path:
    """Return the path of a model."""
    return FOLDER / f"{name}.tflite"


def inputs_of(name: str) -> list[Array]:
    """Return the inputs of a model."""
    return _arrays(name, "input")


def outputs_of(name: str) -> list[Array]:
    """Return what TensorFlow Lite computes."""
    return _arrays(name, "output")


def reference_of(name: str) -> list[Array]:
    """Return what TensorFlow Lite's reference kernels compute."""
    return _arrays(name, "reference")


def _arrays(name: str, kind: str) -> list[Array]:
    with np.load(FOLDER / f"{name}.npz") as saved:
        return [saved[f"{kind}_{index}"] for index in range(sum(key.startswith(kind) for key in saved))]


def run(
    mod: IRModule, params: dict[str, NDArray], inputs: list[Array], executor: str = "debug"
) -> list[Array]:
    """Run an imported model."""
    weights = [params[var.name_hint].numpy() for var in mod["main"].params[len(inputs) :]]
    return flat(relay.create_executor(executor, mod).evaluate()(*inputs, *weights))


def flat(result: Any) -> list[Array]:
    """Return the arrays in a result."""
    if isinstance(result, (list, tuple)):
        return [array for part in result for array in flat(part)]
    return [np.asarray(result.numpy())]


def imported(name: str) -> list[Array]:
    """Import a model and run it on its inputs."""
    mod, params = from_tflite(path_of(name))
    return run(mod, params, inputs_of(name))
