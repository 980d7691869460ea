"""Write a copy of an ONNX model in which every node has a name."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any as Anything

from ..base.names import unused
from ..base.require import require
from .types import plain

_PREFIX = "tvm_exported_model_"


def export_renamed(model: object, folder: str | os.PathLike[str]) -> None:
    """Write `model`, which `from_onnx` can read, to a new file in `folder`; nodes without a name are named
    after their operators: `MatMul_0`, `MatMul_1`, …
    """
    onnx = require("onnx", "onnx")
    proto = _copy(onnx, model)
    names = {plain(node.name) for node in proto.graph.node}
    counts: dict[str, int] = {}
    for node in proto.graph.node:
        operator = plain(node.op_type)
        number = counts.get(operator, 0)
        counts[operator] = number + 1
        if not node.name:
            node.name = unused(f"{operator}_{number}", names)
            names.add(node.name)
    os.makedirs(folder, exist_ok=True)
    taken = set(os.listdir(folder))
    number = 0
    while f"{_PREFIX}{number}.onnx" in taken:
        number += 1
    onnx.save(proto, str(Path(folder) / f"{_PREFIX}{number}.onnx"))


def _copy(onnx: Anything, model: Anything) -> Anything:
    if isinstance(model, (str, os.PathLike)):
        return onnx.load(os.fspath(model))
    if isinstance(model, (bytes, bytearray, memoryview)):
        return onnx.ModelProto.FromString(bytes(model))
    proto = getattr(model, "model_proto", model)
    copy = onnx.ModelProto()
    copy.CopyFrom(proto)
    return copy
