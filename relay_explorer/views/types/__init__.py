"""Type inference, recorded and replayed step by step."""

from __future__ import annotations

from ...typing.infer import Inference, record
from ..registry import declare
from ..source import Source
from .format import TypesView


@declare(
    "types",
    "type inference, step by step",
    accepts=("Inference", "Evaluation"),
    default_for=("Inference",),
)
def build(source: Source) -> TypesView:
    """Build the view of an inference; one that was not recorded is run again."""
    from .view import types_view

    module, subject = source.module, source.given
    inference = subject if isinstance(subject, Inference) and subject.events else record(module)
    return types_view(inference, source.title)
