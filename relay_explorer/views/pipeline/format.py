"""The pipeline view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View


class Fate(IntEnum):
    """What became of a row or an expression from one stage to the next."""

    KEPT = 0
    REWRITTEN = 1
    ADDED = 2
    REMOVED = 3
    MOVED = 4


class PipelineItem(NamedTuple):
    """An expression of a stage, and those of the stage before from which it came. In the graph it is `part`
    (see `pipeline_flow.Part`), computed from `operands`, in the kernel whose function is the item `kernel`.
    """

    stage: int
    row: int
    label: str
    came_from: tuple[int, ...]
    mark: Fate
    flops: int
    bytes: int
    part: int = 0
    operands: tuple[int, ...] = ()
    kernel: int = -1


class RewriteStep(NamedTuple):
    """A rewrite inside a pass: what its rule says, the rule's name, its file in the package ("" for one of a
    reader's own) and line; the items of the stage before that it is about and those of this stage that it led
    to; what it found and what it made, in a line each ("": nothing), and `how` they belong together where it
    is no rewrite but a decision.
    """

    rule: str
    name: str
    path: str
    line: int
    before: tuple[int, ...]
    after: tuple[int, ...]
    was: str
    how: str
    became: str


class StageTotals(NamedTuple):
    """A stage's size and cost."""

    expressions: int
    operators: int
    kernels: int
    flops: int
    bytes: int


class Stage(NamedTuple):
    """The program after a pass. `align` has pairs of rows, the stage before's and its own, with their fate;
    `ms` is None where pages must not depend on the machine. `rewrites` are the first of the `told` ones
    inside the pass.
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
    rewrites: tuple[RewriteStep, ...] = ()
    told: int = 0


class Ends(NamedTuple):
    """The last programs of two pipelines, aligned as stages are."""

    before: int
    after: int
    say: Sentence
    align: tuple[tuple[int, int, Fate], ...]


@dataclass(frozen=True)
class PipelineView(View):
    """A program going through passes; two pipelines where they are compared. `tree` is the address below
    which the files of the package are shown.
    """

    kind: ClassVar[str] = "pipeline"
    items: tuple[PipelineItem, ...]
    stages: tuple[Stage, ...]
    pipelines: tuple[tuple[str, tuple[int, ...]], ...]
    tree: str = ""
    ends: Ends | None = None

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "items": [
                [
                    i.stage, i.row, s(i.label), list(i.came_from), int(i.mark), i.flops, i.bytes,
                    int(i.part), list(i.operands), i.kernel,
                ]
                for i in self.items
            ],
            "stages": [_stage(stage, s) for stage in self.stages],
            "pipelines": [[s(name), list(stages)] for name, stages in self.pipelines],
            "tree": s(self.tree),
            "ends": None if self.ends is None else _ends(self.ends, s),
        }  # fmt: skip


def _stage(stage: Stage, s: Interner) -> Json:
    return {
        "name": s(stage.name), "what": s(stage.what), "source": s(stage.source), "before": stage.before,
        "rows": [stage.first, stage.last], "same": int(stage.same), "say": s.sentence(stage.say),
        "align": _flat(stage.align), "gone": list(stage.gone), "totals": stage.totals._asdict(),
        "ms": stage.ms, "rewrites": [_rewrite(r, s) for r in stage.rewrites], "told": stage.told,
    }  # fmt: skip


def _flat(align: tuple[tuple[int, int, Fate], ...]) -> list[int]:
    return [value for before, after, fate in align for value in (before, after, int(fate))]


def _rewrite(r: RewriteStep, s: Interner) -> Json:
    return [
        s(r.rule), s(r.name), s(r.path), r.line, list(r.before), list(r.after), s(r.was), s(r.how),
        s(r.became),
    ]  # fmt: skip


def _ends(ends: Ends, s: Interner) -> Json:
    return {
        "before": ends.before, "after": ends.after, "say": s.sentence(ends.say), "align": _flat(ends.align),
    }  # fmt: skip
