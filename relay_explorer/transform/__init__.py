"""Passes: the infrastructure, and one pass a file."""

from __future__ import annotations

from .infer_type import InferType
from .infrastructure import Pass, PassContext, PassInfo, Sequential, function_pass, module_pass

__all__ = ["InferType", "Pass", "PassContext", "PassInfo", "Sequential", "function_pass", "module_pass"]


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"there is no pass or tool called relay.transform.{name} yet; there are {', '.join(__all__)}"
    )
