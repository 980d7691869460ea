"""A kernel from Relay to machine code, level by level."""

from __future__ import annotations

from collections.abc import Sequence

from ..format import View
from ..registry import Answering, declare
from ..source import Source


@declare(
    "lowering",
    "one kernel of the compiled program at every level, or, with --measure, a timed run",
    accepts=("Inference", "Evaluation", "Executable", "Kernel", "Measurement"),
    default_for=("Measurement",),
)
def build(
    source: Source,
    *,
    args: Sequence[object] = (),
    kernel: str | int | Sequence[str | int] | None = None,
    measure: bool = False,
) -> View | Answering:
    """Build the view of one `kernel`, or of a measured run for `args`."""
    from ...lower.profiling.measurement import Measurement
    from ...lower.runtime.executable import Executable
    from ...lower.runtime.kernel import Kernel
    from .compiled import compiled_view

    subject = source.given
    x = subject if isinstance(subject, (Executable, Kernel, Measurement)) else source.module
    # Builds of the book must give the same page, whether or not a compiler for PTX is installed.
    view, opened = compiled_view(x, kernel, source.asked_title, measure, args, ptx=not source.reproducible)
    return opened if source.live and opened is not None else view
