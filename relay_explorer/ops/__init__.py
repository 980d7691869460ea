"""Relay's operators, one file for each or for a closely related group, and the tools that declare them.

The names exported here are all that an operator's file needs, inside or outside this package (see
`operator`). The package's own operators are declared when the first of them is used (`load_all`).
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..ir.attrs import Attrs, attr, required
from ..ir.declaration import Gradient, NotApplicable, Precision, Trait
from ..ir.expr import Call, Expr
from ..ir.hooks import provide
from ..ir.op import OpPattern, Relation, RelationError, Reporter
from ..ir.types import TensorType, TupleType, Type
from .arguments import Operand, Operands
from .calls import relay
from .cost import flops_per_input, flops_per_output, no_flops
from .examples import t
from .gradient_tools import SAME, ZERO, composed, slope
from .layouts.layout import NO_LAYOUT_RULE
from .layouts.same import broadcast_layout, elementwise_layout
from .numeric import np
from .operator import call, operator
from .relation import BROADCAST, IDENTITY, check_fields, check_rank, forward, normal_axis, tensor
from .te.library import tvm
from .te.lowered import HOST, Lowered

__all__ = [
    "BROADCAST", "HOST", "IDENTITY", "NO_LAYOUT_RULE", "SAME", "ZERO",
    "Attrs", "Call", "Expr", "Gradient", "Lowered", "NotApplicable", "OpPattern", "Operand", "Operands",
    "Precision", "Relation", "RelationError", "Reporter", "TensorType", "Trait", "TupleType", "Type",
    "attr", "broadcast_layout", "call", "check_fields", "check_rank", "composed", "elementwise_layout",
    "flops_per_input", "flops_per_output", "forward", "no_flops", "normal_axis", "np", "operator", "relay",
    "required", "slope", "t", "tensor", "tvm",
]  # fmt: skip

NAMESPACES = ("", "nn", "image", "vision", "random", "annotation", "qnn")  # of `relay`: `ops.namespaces`


def load_all() -> None:
    """Declare every operator of the package, once."""
    importlib.import_module(f"{__name__}.namespaces")


provide("load_operators", load_all)


def builders(namespace: str) -> dict[str, Callable[..., Any]]:
    """Return the builders of `relay`, or of one of its namespaces, by name."""
    module = importlib.import_module(f"{__name__}.namespaces.{namespace}".rstrip("."))
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType) and not name.startswith("_")
    }
