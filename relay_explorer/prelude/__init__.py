"""Relay's standard library, written in Relay: `prelude.rly` contains options, lists and trees, `nat.rly`
natural numbers, `gradient.rly` gradients that are computed on demand; `tensor_array.rly` and
`static_tensor_array.rly` are templates of tensor arrays.
"""

from __future__ import annotations

from ..ir.hooks import provide
from .libraries import LIBRARIES, import_library, library
from .standard import Prelude
from .tensor_arrays import StaticTensorArrayOps, TensorArrayOps, get_tensor_array_shape

provide("import_library", import_library)

__all__ = [
    "LIBRARIES", "Prelude", "StaticTensorArrayOps", "TensorArrayOps", "get_tensor_array_shape",
    "import_library", "library",
]  # fmt: skip
