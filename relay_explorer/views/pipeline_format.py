"""The pipeline view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from .format import Interner, Json, Sentence, View


class Fate(IntEnum):
    """What became of a row or an expression from one stage to the next."""

    KEPT = 0
    REWRITTEN = 1
    ADDED = 2
    REMOVED = 3
    MOVED = 4


class PipelineItem(NamedTuple):
    """An expression of a stage, and those of the stage before from which it came."""

    stage: int
    row: int
    label: str
    came_from: tuple[int, ...]
    mark: Fate
    flops: int
    bytes: int


class StageTotals(NamedTuple):
    """A stage's size and cost."""

    expressions: int
    operators: int
    kernels: int
    flops: int
    bytes: int


class Stage(NamedTuple):
    """The program after a pass. `align` has pairs of rows, the stage before's and its own, with their fate;
    `ms` is None where pages must not depend on the machine.
    """

    name: str
    what: str
    source: str
    before: int
    first: int
    last: int
    same: bool
    say: Sentence
    align: tuple[tuple[int, int, Fate], ...]
    gone: tuple[int, ...]
    totals: StageTotals
    ms: float | None


@dataclass(frozen=True)
class PipelineView(View):
    """A program going through passes; two pipelines where they are compared."""

    kind: ClassVar[str] = "pipeline"
    items: tuple[PipelineItem, ...]
    stages: tuple[Stage, ...]
    pipelines: tuple[tuple[str, tuple[int, ...]], ...]

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "items": [
                [i.stage, i.row, s(i.label), list(i.came_from), int(i.mark), i.flops, i.bytes]
                for i in self.items
            ],
            "stages": [_stage(stage, s) for stage in self.stages],
            "pipelines": [[s(name), list(stages)] for name, stages in self.pipelines],
        }


def _stage(stage: Stage, s: Interner) -> Json:
    return {
        "name": s(stage.name), "what": s(stage.what), "source": s(stage.source), "before": stage.before,
        "rows": [stage.first, stage.last], "same": int(stage.same), "say": s.sentence(stage.say),
        "align": [value for before, after, fate in stage.align for value in (before, after, int(fate))],
        "gone": list(stage.gone), "totals": stage.totals._asdict(), "ms": stage.ms,
    }  # fmt: skip
