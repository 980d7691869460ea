"""Partial evaluation: what is computed at compile time, and the residual program."""

from __future__ import annotations

from ...transform.partial_evaluate.record import LIMIT
from ..registry import declare
from ..source import Source
from .format import PartialView


@declare("partial", "which parts are evaluated at compile time", accepts=("Inference", "Evaluation"))
def build(source: Source, *, limit: int | None = None) -> PartialView:
    """Build the view of a partial evaluation, of which the first `limit` steps are recorded."""
    from .view import partial_view

    return partial_view(source.module, source.title, LIMIT if limit is None else limit)
