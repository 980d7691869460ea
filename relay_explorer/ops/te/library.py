"""TVM's modules, each imported at the first use of a name of it, so that operators are declared without TVM.

`relay_explorer.lower` has then checked which version it is, and imported it.
"""

from __future__ import annotations

from typing import Any

from ..lazy import LazyModule

tvm: Any = LazyModule("tvm")
te: Any = LazyModule("tvm.te")
tirx: Any = LazyModule("tvm.tirx")
topi: Any = LazyModule("tvm.topi")
