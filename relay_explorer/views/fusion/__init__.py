"""Record how the fusion pass groups operators into kernels, decision by decision."""

from __future__ import annotations

from ..registry import declare
from ..source import Source
from .format import FusionView


@declare("fusion", "kernels being formed", accepts=("Inference", "Evaluation"))
def build(source: Source) -> FusionView:
    """Build the view of a program's operators being grouped."""
    from .view import fusion_view

    return fusion_view(source.module, title=source.title)
