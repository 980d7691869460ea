"""The buffer and the lifetime of each value."""

from __future__ import annotations

from ..registry import declare
from ..source import Source
from .format import MemoryView


@declare("memory", "the buffer and the lifetime of each value", accepts=("Inference", "Evaluation"))
def build(source: Source) -> MemoryView:
    """Build the view of the storage plans of a function."""
    from .view import memory_view

    return memory_view(source.module, source.title)
