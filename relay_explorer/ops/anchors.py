"""Addresses of the operators' entries in the book's operator reference."""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..ir.op import Op
from .operator import DECLARED

FOLDER = "reference"  # below the book's folder


def anchor(name: str) -> str:
    """Return the anchor of an operator: `op-nn-conv2d` for `nn.conv2d`."""
    return "op-" + re.sub(r"[^a-z0-9]+", "-", name.lower())


def page(family: str) -> str:
    """Return the name of the book's page for a family of operators."""
    return f"{FOLDER}/operators_{family}"


def address(op: Op) -> str:
    """Return the address of an operator in the built book, relative to the folder of the chapters."""
    return f"{page(op.family)}.html#{anchor(op.name)}"


def addresses(names: Iterable[str]) -> dict[str, str]:
    """Return the address of each operator in the reference; operators that a reader declared have none."""
    return {name: address(Op.get(name)) for name in sorted(set(names) & DECLARED)}
