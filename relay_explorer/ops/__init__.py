"""Relay's operators, one file for each or for a closely related group.

Importing this package declares none; `load_all` declares them, when the first is asked for.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from types import FunctionType
from typing import Any

from ..ir.hooks import provide

NAMESPACES = ("", "nn", "image", "vision", "random", "annotation")  # of `relay`, in `ops.namespaces`


def load_all() -> None:
    """Declare every operator of the package, once."""
    importlib.import_module(f"{__name__}.namespaces")


provide("load_operators", load_all)


def builders(namespace: str) -> dict[str, Callable[..., Any]]:
    """The builders of `relay`, or of a namespace in it, by name."""
    module = importlib.import_module(f"{__name__}.namespaces.{namespace}".rstrip("."))
    return {name: value for name, value in vars(module).items() if isinstance(value, FunctionType)}
