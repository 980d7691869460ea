"""The root that old Relay code calls `tvm`.

    from relay_explorer.compat import tvm
    from relay_explorer import relay
    mod = tvm.IRModule.from_expr(relay.var("x", shape=(3,)))

It does not hide an installed TVM: that one is still `import tvm`.
"""

from __future__ import annotations

from ... import relay, transform
from ...ir.errors import RelayError as TVMError
from ...ir.module import IRModule
from . import error, ir, nd, runtime, tir

__all__ = ["IRModule", "TVMError", "error", "ir", "nd", "relay", "runtime", "tir", "transform"]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"tvm.{name} is not part of relay_explorer.compat.tvm, which has what Relay programs need: "
        f"{', '.join(__all__)}; "
        "for the rest, the TVM of today is `import tvm`"
    )
