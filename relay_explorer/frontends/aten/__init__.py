"""Converters of PyTorch's ATen operators, one file per family.

The importers of TorchScript (`frontends.pytorch`) and of torch.export (`frontends.torch_export`) share them.
`registry` explains how a converter is declared.
"""

from __future__ import annotations

from .context import Aten
from .registry import aten, bind, call, find, names, schemas, tensor_call
from .values import Int, Number, Scalar, Value

__all__ = [
    "Aten", "Int", "Number", "Scalar", "Value", "aten", "bind", "call", "find", "names", "schemas",
    "tensor_call",
]  # fmt: skip
