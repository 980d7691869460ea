"""Where the book's operator reference says what about which operator."""

from __future__ import annotations

import re

from ..ir.op import Op

FOLDER = "reference"  # below the book's folder


def anchor(name: str) -> str:
    """The anchor of an operator: `op-nn-conv2d` for `nn.conv2d`."""
    return "op-" + re.sub(r"[^a-z0-9]+", "-", name.lower())


def page(family: str) -> str:
    """The page of a family of operators, as the book names it."""
    return f"{FOLDER}/operators_{family}"


def address(op: Op) -> str:
    """The place of an operator in the built book, from the folder in which the chapters are."""
    return f"{page(op.family)}.html#{anchor(op.name)}"
