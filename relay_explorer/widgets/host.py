"""Where an explorer is shown, as far as that can be told."""

from __future__ import annotations

import os
import sys
from enum import Enum
from typing import Any


class Host(Enum):
    """The places that are treated differently."""

    BOOK = "a page that loads the bundle once, for all its explorers"
    COLAB = "Colab"
    VSCODE = "a notebook in VS Code"
    JUPYTER = "JupyterLab or Notebook, or what behaves as they do"
    PLAIN = "a terminal, a script, or a kernel without a front end"


def current() -> Host:
    """The host of this process."""
    if os.environ.get("RELAY_EXPLORER_BUNDLE") == "shared":
        return Host.BOOK
    if "google.colab" in sys.modules:
        return Host.COLAB
    shell = _shell()
    if shell is None or getattr(shell, "kernel", None) is None:
        return Host.PLAIN
    if "__vsc_ipynb_file__" in getattr(shell, "user_ns", {}):
        return Host.VSCODE
    return Host.JUPYTER


def _shell() -> Any:
    """IPython's shell, if this process has one. IPython itself is not imported for it."""
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


def wants_widget(host: Host) -> bool:
    """Whether a live widget is offered beside the HTML.

    Colab and VS Code fetch the code of widgets from a network; the HTML output needs none.
    `RELAY_EXPLORER_WIDGET=0` turns widgets off everywhere.
    """
    return host is Host.JUPYTER and os.environ.get("RELAY_EXPLORER_WIDGET", "1") != "0"
