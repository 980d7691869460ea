"""The program before and after each pass of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence

from ...transform.infrastructure import Pass
from ..registry import ViewError, declare
from ..source import Source
from .format import PipelineView


@declare("pipeline", "the program before and after each pass", accepts=("Inference", "Evaluation"))
def build(
    source: Source,
    *,
    passes: Sequence[Pass] | str | None = None,
    against: Sequence[Pass] | str | None = None,
) -> PipelineView:
    """Build the view of a program going through `passes`, and with `against` through other passes too."""
    from .view import pipeline_view

    if not passes:
        raise ViewError(
            "the view 'pipeline' needs passes",
            help=[
                'in Python: explore(module, view="pipeline", passes=[SimplifyInference(), FuseOps()])',
                'on the command line: --passes "SimplifyInference, FuseOps"',
            ],
        )
    return pipeline_view(source.module, passes, against, source.title, not source.reproducible)
