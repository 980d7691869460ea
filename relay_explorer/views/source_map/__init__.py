"""The source view: the framework's node list beside the Relay program that was imported from it."""

from __future__ import annotations

from ..registry import declare
from ..source import Source
from .format import SourceView


@declare(
    "source",
    "the imported model's nodes beside the Relay expressions that they became",
    accepts=("Inference", "Evaluation"),
)
def build(source: Source) -> SourceView:
    """Build the view of an imported program, before or after passes."""
    from .view import source_view

    return source_view(source.module, source.title)
