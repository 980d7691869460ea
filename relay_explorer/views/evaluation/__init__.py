"""A recorded run of the interpreter, step by step."""

from __future__ import annotations

from collections.abc import Sequence

from ...execute.record import LIMIT, Evaluation, record
from ..registry import Answering, declare
from ..source import Source
from .format import EvaluationView


@declare(
    "evaluation",
    "a run of @main, step by step",
    accepts=("Inference", "Evaluation"),
    default_for=("Evaluation",),
)
def build(
    source: Source, *, args: Sequence[object] = (), limit: int | None = None
) -> EvaluationView | Answering:
    """Build the view of a recorded run, or run the program with `args` and record the first `limit` steps."""
    from .rerun import Rerun
    from .view import evaluation_view

    run = source.given
    if not isinstance(run, Evaluation):
        source.check_arguments(args)
        run = record(source.any_size, *args, limit=LIMIT if limit is None else limit)
    if source.live:
        return Rerun(run, limit or LIMIT, source.title)
    return evaluation_view(run, source.title)
