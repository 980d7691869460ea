"""The program as text and graph."""

from __future__ import annotations

from ..registry import declare
from ..source import Source
from .format import IRView


@declare("ir", "the program as text and graph", accepts=("Inference", "Evaluation"))
def build(source: Source) -> IRView:
    """Build the view of a program."""
    from .view import ir_view

    return ir_view(source.module, source.title)
