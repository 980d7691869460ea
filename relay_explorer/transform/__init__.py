"""Passes: the infrastructure, and one pass a file."""

from __future__ import annotations

from .annotate_spans import AnnotateSpans
from .infer_type import InferType, InferTypeLocal
from .infrastructure import Pass, PassContext, PassInfo, Sequential, function_pass, module_pass

__all__ = [
    "AnnotateSpans", "InferType", "InferTypeLocal", "Pass", "PassContext", "PassInfo", "Sequential",
    "function_pass", "module_pass",
]  # fmt: skip


def __getattr__(name: str) -> object:
    if name.startswith("__"):
        raise AttributeError(name)
    raise AttributeError(
        f"there is no pass or tool called relay.transform.{name} yet; there are {', '.join(__all__)}"
    )
