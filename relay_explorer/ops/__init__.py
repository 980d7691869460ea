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
    "index", "scan", "sort", "image", "dynamic", "contract",
    "nn.activation", "nn.conv", "nn.conv_transpose", "nn.conv_other", "nn.dense", "nn.loss", "nn.misc",
    "nn.norm", "nn.norm_other", "nn.pad", "nn.pool", "nn.pool_adaptive", "nn.space", "nn.batch_space",
)  # fmt: skip


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
