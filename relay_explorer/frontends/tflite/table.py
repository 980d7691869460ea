"""All converters by operator: importing the modules registers them."""

from __future__ import annotations

from . import (
    control,
    convolution,
    create,
    detection,
    elementwise,
    indexing,
    pooling,
    quantizing,
    recurrent,
    reduction,
    resizing,
    shape,
    slicing,
)
from .operation import CONVERTERS

__all__ = [
    "CONVERTERS", "control", "convolution", "create", "detection", "elementwise", "indexing", "pooling",
    "quantizing", "recurrent", "reduction", "resizing", "shape", "slicing",
]  # fmt: skip
