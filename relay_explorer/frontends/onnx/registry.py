"""The converters of ONNX operators, by domain, operator and the opset that introduced each form.

    @converter("Softmax", since=13)
    def softmax(g: Graph, node: Node, inputs: Inputs) -> Expr: ...

For a node the newest form is used that the model's opset has. An optional operand that is absent is None.
"""

from __future__ import annotations

import importlib
from bisect import bisect_right
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from ...ir.expr import Expr
from ...ir.tuple_wrapper import TupleWrapper
from ..base.source import Node

if TYPE_CHECKING:
    from .graph import Graph

Inputs = Sequence[Expr | None]
Results = Expr | TupleWrapper | Sequence[Expr]
OnnxConverter = Callable[["Graph", Node, list[Expr | None]], Results]

DEFAULT = ""  # the domain of the standard's own operators, which `ai.onnx` names too
MICROSOFT = "com.microsoft"
ML = "ai.onnx.ml"

_MODULES = (
    "elementwise", "activations", "convolution", "deformable", "pooling", "normalization", "matrix",
    "reductions", "shapes", "slices", "indexing", "creation", "control", "sequences", "recurrent",
    "quantized", "resize", "vision", "signal", "training", "random_numbers", "attention", "layer_norms",
    "algebra", "uniqueness", "bits", "ml", "contrib", "contrib_attention", "contrib_quantized",
    "contrib_nbits", "contrib_recurrent",
)  # fmt: skip

_forms: dict[tuple[str, str], list[tuple[int, OnnxConverter]]] = {}
_loaded: list[bool] = []


def converter(
    *operators: str, since: int = 1, domain: str = DEFAULT
) -> Callable[[OnnxConverter], OnnxConverter]:
    """Register the decorated function as the converter of `operators` from the opset `since` on."""

    def register(function: OnnxConverter) -> OnnxConverter:
        for operator in operators:
            forms = _forms.setdefault((domain, operator), [])
            assert all(opset != since for opset, _ in forms), f"{operator}-{since} has two converters"
            forms.append((since, function))
            forms.sort(key=lambda form: form[0])
        return function

    return register


def canonical(domain: str) -> str:
    """Return the name by which converters are registered for a domain."""
    return DEFAULT if domain == "ai.onnx" else domain


def find(domain: str, operator: str, opset: int) -> OnnxConverter | None:
    """Return the converter of an operator in an opset of its domain, or None."""
    load()
    forms = _forms.get((canonical(domain), operator))
    if forms is None:
        return None
    index = bisect_right([since for since, _ in forms], opset)
    return forms[index - 1][1] if index else None


def load() -> None:
    """Import the modules that register converters, at the first call."""
    if _loaded:
        return
    for module in _MODULES:
        importlib.import_module(f".{module}", __package__)
    _loaded.append(True)


def registered() -> dict[tuple[str, str], list[int]]:
    """Return the opsets from which on each (domain, operator) has its forms."""
    load()
    return {operator: [since for since, _ in forms] for operator, forms in _forms.items()}
