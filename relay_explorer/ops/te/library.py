"""TVM's modules, each imported at the first use of one of its names, so that operators can be
declared without TVM. By then `relay_explorer.lower` has checked TVM's version and imported it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..lazy import LazyModule

if TYPE_CHECKING:
    from .tvm_types import Expressions, TensorExpressions, Topi


def _library(name: str) -> Any:
    return LazyModule(name)


tvm: Any = _library("tvm")
te: TensorExpressions = _library("tvm.te")
tirx: Expressions = _library("tvm.tirx")
topi: Topi = _library("tvm.topi")
