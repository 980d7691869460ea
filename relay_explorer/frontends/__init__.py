"""Import models of ONNX, PyTorch, TensorFlow, Keras, TFLite and MXNet.

    from relay_explorer import relay
    mod, params = relay.frontend.from_onnx("model.onnx")

Each importer needs the package that reads its format (the extras `onnx`, `torch`, `keras`, `tflite`), and
loads it only when it is called. TensorFlow's importer needs only protobuf, and MXNet's no other package.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .keras import from_keras
    from .mxnet import from_mxnet
    from .onnx import from_onnx
    from .pytorch import from_pytorch
    from .tensorflow import from_tensorflow
    from .tflite import from_tflite
    from .torch_export import from_exported_program

_PLACES = {
    "from_onnx": ".onnx",
    "from_pytorch": ".pytorch",
    "from_exported_program": ".torch_export",
    "from_tensorflow": ".tensorflow",
    "from_keras": ".keras",
    "from_tflite": ".tflite",
    "from_mxnet": ".mxnet",
}

__all__ = [
    "from_exported_program", "from_keras", "from_mxnet", "from_onnx", "from_pytorch", "from_tensorflow",
    "from_tflite",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    place = _PLACES.get(name)
    if place is None:
        raise AttributeError(f"relay_explorer.frontends has no {name!r}; it has {', '.join(__all__)}")
    value = getattr(importlib.import_module(place, __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
