"""Record a partial evaluation: run the evaluator and store its decisions."""

from __future__ import annotations

from collections.abc import Mapping

from ...ir.errors import RelayError
from ...ir.expr import Function, GlobalVar
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.recorder import Recorder
from ...typing import infer_types
from ..infrastructure import PassContext
from ..normal_forms.to_a_normal_form import ToANormalForm
from .evaluator import MAX_BINDINGS, Evaluator
from .record import LIMIT, Entered, Frame, PartialEvaluationEvent


@dataclass(frozen=True)
class PartialEvaluation:
    """A recorded partial evaluation of `@{entry}` of `module`. `normal` is the program in A-normal form that
    was evaluated, `residual` the function that remains. `events` are the first of `total` events, and the
    last one; `counts` are the numbers of events of each kind, and `inlined` is the number of inlined calls.
    """

    module: IRModule
    normal: IRModule
    entry: GlobalVar
    residual: Function
    events: tuple[PartialEvaluationEvent, ...]
    frames: tuple[Frame, ...]
    total: int
    counts: Mapping[type[PartialEvaluationEvent], int]
    inlined: int

    @property
    def left_out(self) -> int:
        return self.total - len(self.events)


def record_partial_evaluation(mod: IRModule, entry: str = "main", limit: int = LIMIT) -> PartialEvaluation:
    """Evaluate one function as PartialEvaluate does, and record the first `limit` events. Raise a RelayError
    if there is no such function, or it is not well typed.
    """
    if limit < 1:
        raise RelayError(f"a recording of {limit} events shows nothing", help=["record at least 1 step"])
    normal = infer_types(ToANormalForm()(mod))
    var = normal.get_global_var(entry)
    function = normal.functions[var]
    if not isinstance(function, Function):
        raise RelayError(f"@{entry} is not a function that could be evaluated")
    most = int(PassContext.current().config.get("relay.PartialEvaluate.max_bindings", MAX_BINDINGS))
    with Recorder(PartialEvaluationEvent, limit=limit) as recorder:
        evaluator = Evaluator(normal, most)
        residual = evaluator.residual(var, function)
    assert evaluator.trace is not None
    events = recorder.events
    frames = tuple(event.frame for event in events if isinstance(event, Entered))
    return PartialEvaluation(
        mod,
        normal,
        var,
        residual,
        tuple(events),
        frames,
        recorder.total,
        recorder.counts,
        evaluator.trace.inlined,
    )
