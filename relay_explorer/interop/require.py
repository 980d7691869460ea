"""Import the libraries of this layer when a function first needs them."""

from __future__ import annotations

import importlib
from typing import Any

from .. import _project

_EXTRAS = {"networkx": "graphs", "graphviz": "graphs", "matplotlib": "plot"}


def require(module: str) -> Any:
    """Import and return a module. If it is missing, raise an ImportError with the command to install it."""
    package = module.partition(".")[0]
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        command = f'pip install "{_project.requirement(_EXTRAS[package])}"'
        raise ImportError(f"this needs {package}: {command}", name=package) from None
