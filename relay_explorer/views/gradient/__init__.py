"""A function beside its derivative: the forward pass, the backward pass, and what is stored in between."""

from __future__ import annotations

from ..registry import declare
from ..source import Source
from .format import GradientView


@declare(
    "gradient",
    "what the backward pass computes, and which values are stored for it",
    accepts=("Inference", "Evaluation"),
)
def build(source: Source) -> GradientView:
    """Build the view of a function beside its derivative."""
    from .view import gradient_view

    return gradient_view(source.module, source.title)
