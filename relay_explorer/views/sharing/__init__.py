"""The same computation as a graph, with `let`, and expanded into a tree."""

from __future__ import annotations

from collections.abc import Sequence

from ..registry import declare
from ..source import Source
from .format import SharingView


@declare(
    "sharing",
    "one computation in three forms (a graph, let bindings, an expanded tree), with the evaluations of each",
    accepts=("Inference", "Evaluation"),
)
def build(source: Source, *, args: Sequence[object] = ()) -> SharingView:
    """Build the view of a computation in three forms, each run for `args`."""
    from .view import sharing_view

    return sharing_view(source.module, args, source.title)
