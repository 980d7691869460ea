"""Relay's operators, one file a family. Importing this package declares none; `load_all` declares them, when the first is asked for."""

from __future__ import annotations

import importlib

FAMILIES = (
    "unary", "binary", "logical", "reduce", "create", "transform", "index", "sort", "image",
    "nn.activation", "nn.conv", "nn.dense", "nn.pool", "nn.norm", "nn.misc", "grad",
)  # fmt: skip


def load_all() -> None:
    """Declares every operator, once."""
    for family in FAMILIES:
        importlib.import_module(f"{__name__}.{family}")
