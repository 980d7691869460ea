"""Detection of the environment in which an explorer is displayed."""

from __future__ import annotations

import os
import sys
from enum import Enum
from typing import Any


class Host(Enum):
    """The environments in which an explorer is displayed differently."""

    BOOK = "a page that loads the bundle once, for all its explorers"
    NOTEBOOK = "JupyterLab, Notebook, VS Code, Colab, or an equivalent front end"
    PLAIN = "a terminal, a script, or a kernel without a front end"


def current() -> Host:
    """Return the host of this process."""
    if os.environ.get("RELAY_EXPLORER_BUNDLE") == "shared":
        return Host.BOOK
    return Host.PLAIN if getattr(shell(), "kernel", None) is None else Host.NOTEBOOK


def has_framed_outputs() -> bool:
    """Return whether every output is a frame of its own, which sees no other output."""
    return "google.colab" in sys.modules or "DATABRICKS_RUNTIME_VERSION" in os.environ


def shell() -> Any:
    """Return IPython's shell, if this process has one. IPython itself is not imported for it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None
