"""Import the packages of frameworks when an importer first needs them."""

from __future__ import annotations

import importlib
from types import ModuleType

from ... import _project


def require(module: str, extra: str) -> ModuleType:
    """Import a module, and return it; raise an ImportError that names the command which installs `extra`."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != module.partition(".")[0]:
            raise
        raise ImportError(
            f'importing this model needs {module}: pip install "{_project.requirement(extra)}"', name=module
        ) from None
