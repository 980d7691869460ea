"""A recorded run of the virtual machine, instruction by instruction."""

from __future__ import annotations

from collections.abc import Sequence

from ...execute.record import Evaluation
from ...ir.expr import Expr
from ...ir.module import IRModule
from ...typing.infer import Inference
from ..registry import declare
from ..source import Source
from .format import MachineView


@declare(
    "machine",
    "a run of @main on the virtual machine, instruction by instruction",
    accepts=("Inference", "Evaluation", "Executable"),
)
def build(source: Source, *, args: Sequence[object] = (), limit: int | None = None) -> MachineView:
    """Build the view of a run with `args`, of which the first `limit` steps are recorded."""
    from .view import machine_view

    # Where the compiler is not there, as in the playground, nothing is an executable.
    if not isinstance(source.given, (IRModule, Expr, Inference, Evaluation)):
        from ...lower.runtime.executable import Executable

        if isinstance(source.given, Executable):
            return machine_view(source.given, args, source.asked_title or "program", limit)
    source.check_arguments(args)
    return machine_view(source.module, args, source.title, limit)
