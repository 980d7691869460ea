"""What TVM's classes and namespaces had and this package's have under other names, attached for old code."""

from __future__ import annotations

from ..ir.expr import Constant
from ..ops.namespaces import nn


def enable() -> None:
    """Attach the names; doing so twice changes nothing."""
    nn.__dict__["Constant"] = Constant
