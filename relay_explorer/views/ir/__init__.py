"""The program as text and graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..registry import declare
from ..source import Source
from .format import IRView

if TYPE_CHECKING:
    from ...lower.profiling.measurement import Measurement
    from ...lower.profiling.profile import Profile


@declare("ir", "the program as text and graph", accepts=("Inference", "Evaluation"))
def build(
    source: Source, *, args: Sequence[object] = (), measure: bool | Measurement | Profile = False
) -> IRView:
    """Build the view of a program. With `measure`, its kernels are compiled and timed on `args`, or else on
    random values; or `measure` is a profile or a measurement of the program.
    """
    from .view import ir_view

    run: Measurement | Profile | None = None
    if measure is True:
        from .times import measure as measured

        run = None if source.reproducible else measured(source.module, args)
    elif measure is not False:
        run = measure
    return ir_view(source.module, source.title, source.params, run)
