"""The importer of ONNX files in a page, which is loaded when the first one is opened.

`frontend/playground_onnx.py` packs it into an archive: the importer itself, protobuf in plain Python, and
onnx's messages, which `onnx_ml_pb2` builds from their descriptors. The package `onnx` itself is compiled
code, which does not run in a page. Its definitions of operators are absent, so an operator that the importer
expands into its definition is reported as one that it does not support.
"""

from __future__ import annotations

import sys
from importlib import import_module
from types import ModuleType

from .. import frontends


def install(archive: str) -> None:
    """Make the importer in an archive, or in a folder, importable, and make `import onnx` find the
    messages.
    """
    if archive not in sys.path:
        sys.path.append(archive)
        frontends.__path__.append(f"{archive}/relay_explorer/frontends")
    if "onnx" in sys.modules:
        return
    onnx, definitions = ModuleType("onnx"), ModuleType("onnx.defs")
    messages = vars(import_module("onnx_ml_pb2"))
    vars(onnx).update({name: value for name, value in messages.items() if name.endswith("Proto")})
    newest = import_module("onnx_release").OPSET
    vars(definitions).update(has=lambda operator, domain="": False, onnx_opset_version=lambda: newest)
    vars(onnx)["defs"] = definitions
    sys.modules["onnx"] = onnx
