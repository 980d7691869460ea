"""The program before and after each pass of a pipeline."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from ...transform.infrastructure import Pass
from ..registry import ViewError, declare
from ..source import Source
from .format import PipelineView

#: The pipeline that is shown if none is named: the passes that change most programs, in a compiler's order.
TYPICAL = "SimplifyInference, FoldScaleAxis, EliminateCommonSubexpr, FuseOps"


@declare("pipeline", "the program before and after each pass", accepts=("Inference", "Evaluation"))
def build(
    source: Source,
    *,
    passes: Sequence[Pass] | str | None = None,
    against: object = None,
) -> PipelineView:
    """Build the view of a program going through `passes`, by default TYPICAL, and with `against` through
    other passes too.
    """
    from ..compare import is_pipeline
    from .view import pipeline_view

    if against is not None and not is_pipeline(against):
        raise ViewError(
            "the view 'pipeline' compares pipelines: `against` is a list of passes",
            help=["compare programs: explore(a, against=b), in the view 'compare'"],
        )

    return pipeline_view(
        source.module, passes or TYPICAL, cast(Any, against), source.title, not source.reproducible
    )
