"""How the fusion pass groups operators into kernels, decision by decision."""

from __future__ import annotations

from ...transform.fuse_ops.groups import Fusion
from ..registry import declare
from ..source import Source
from .format import FusionView


@declare(
    "fusion",
    "how operators are fused into kernels, step by step",
    accepts=("Inference", "Evaluation", "Fusion"),
    default_for=("Fusion",),
)
def build(source: Source) -> FusionView:
    """Build the view of how a program's operators are grouped, by `FuseOps` or by the fuser of a `Fusion`."""
    from .view import fusion_view

    own = source.given.partition if isinstance(source.given, Fusion) else None
    return fusion_view(source.module, title=source.title, own=own)
