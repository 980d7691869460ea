"""`tvm.relay.backend.te_compiler`: the cache of compiled functions that old tests empty. Nothing is compiled,
so there is none to keep.
"""

from __future__ import annotations

from typing import Any

from .. import _missing as missing


class TECompiler:
    """The compiler's cache of functions, which is empty."""

    def clear(self) -> None:
        """Forgets what was compiled: nothing."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing.attribute_error("tvm.relay.backend.te_compiler.TECompiler", name, ["clear"], self)


def get() -> TECompiler:
    """Return the compiler's cache."""
    return TECompiler()


__all__ = ["TECompiler", "get"]
