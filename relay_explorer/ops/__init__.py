"""Relay's operators, one file a family.

Importing this package declares none; `load_all` declares them, when the first is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

FAMILIES = (
    "unary", "binary", "logical", "reduce", "create", "transform", "reshape", "join", "broadcast", "slice",
    "index", "scan", "sort", "image", "morphology", "dynamic", "contract", "sparse", "windows", "fixed_point",
    "random", "annotation",
    "nn.activation", "nn.bitserial", "nn.conv", "nn.conv_transpose", "nn.conv_other", "nn.dense", "nn.loss",
    "nn.misc", "nn.packed", "nn.winograd",
    "nn.norm", "nn.norm_other", "nn.pad", "nn.pool", "nn.pool_adaptive", "nn.space", "nn.batch_space",
    "nn.sparse", "nn.dynamic",
    "vision.multibox", "vision.nms", "vision.nms_by_class", "vision.roi", "vision.proposal",
)  # fmt: skip

_IN_NAMESPACE = {"image": "image", "morphology": "image", "random": "random", "annotation": "annotation"}


def namespace(family: str) -> str:
    """The part of `relay` that holds a family's builders: "nn", "image", "vision", "random", "annotation", or
    "" for `relay` itself.
    """
    return _IN_NAMESPACE.get(family, family.rpartition(".")[0])


def load_all() -> None:
    """Declares every operator, once."""
    for family in FAMILIES:
        importlib.import_module(f"{__name__}.{family}")


def builders(family: str) -> dict[str, Callable[..., Any]]:
    """The public functions that a family file defines, by name: the ones that build calls."""
    module = importlib.import_module(f"{__name__}.{family}")
    return {
        name: value
        for name, value in vars(module).items()
        if isinstance(value, FunctionType)
        and value.__module__ == module.__name__
        and not name.startswith("_")
    }
