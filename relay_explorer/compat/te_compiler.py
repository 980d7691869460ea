"""`tvm.relay.backend.te_compiler`: the cache of compiled functions, which old tests clear. There is no such
cache here.
"""

from __future__ import annotations

from typing import Any

from .. import _missing as missing


class TECompiler:
    """Stands for the compiler's cache of functions, which is always empty."""

    def clear(self) -> None:
        """Do nothing: the cache is empty."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise missing.attribute_error("tvm.relay.backend.te_compiler.TECompiler", name, ["clear"], self)


def get() -> TECompiler:
    """Return the compiler's cache."""
    return TECompiler()


__all__ = ["TECompiler", "get"]
