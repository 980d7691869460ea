"""`tvm.te`: tensor expressions of the installed TVM."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...ir.size import SizeVar
from ..hook import real_tvm
from . import forward

_forward = forward("tvm.te")
_variables: dict[SizeVar, Any] = {}  # TVM's variable for each of ours


def placeholder(shape: Sequence[Any], dtype: Any = None, name: str = "placeholder") -> Any:
    """Create an input of a tensor expression. A size that `te.var` made here becomes TVM's variable of the
    same name.
    """
    sizes = shape if isinstance(shape, (list, tuple)) else [shape]
    return real_tvm("tvm.te").placeholder([_size(extent) for extent in sizes], dtype, name)


def _size(extent: Any) -> Any:
    if not isinstance(extent, SizeVar):
        return extent
    if extent not in _variables:
        _variables[extent] = real_tvm("tvm.te").var(extent.name)
    return _variables[extent]


def __getattr__(name: str) -> Any:
    return _forward(name)
