"""The data of the pipeline view: a program going through passes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..compare.format import CompareView
from ..fates import Fate
from ..format import Passage, Question, Remark, Sentence, View, spoken
from ..schema import Amount, Count, Flat, Index, OneOf, RowOrNone, Size, Wire, as_object

ItemIndex = Annotated[int, Index("items")]
StageIndex = Annotated[int, Index("stages")]


class Part(IntEnum):
    """The kind of an expression in the graph."""

    NONE = 0
    COMPUTED = 1
    PARAMETER = 2


class PipelineItem(NamedTuple):
    """An expression of a stage, and those of the stage before from which it came. In the graph it is `part`
    (see `Part`), computed from `operands`, in the kernel whose function is the item `kernel`.
    """

    stage: StageIndex
    row: RowOrNone
    label: str
    came_from: tuple[Annotated[int, Index("items", order="earlier")], ...]
    mark: Annotated[int, OneOf(Fate)]
    flops: Amount
    bytes: Amount
    part: Annotated[int, OneOf(Part)] = 0
    operands: tuple[ItemIndex, ...] = ()
    kernel: Annotated[int, Index("items", none=True)] = -1


class RewriteStep(NamedTuple):
    """A rewrite inside a pass: the sentence of its rule, the rule's name, its file in the package ("" for a
    reader's own rule) and line; the items of the stage before that it matched and the items of this stage
    that resulted; what it matched and what replaced it, in a line each ("": nothing), and `how` they are
    related if it is a decision instead of a rewrite.
    """

    rule: str
    name: str
    path: str
    line: Amount
    before: tuple[ItemIndex, ...]
    after: tuple[ItemIndex, ...]
    was: str
    how: str
    became: str


@as_object
class StageTotals(NamedTuple):
    """A stage's size and cost."""

    expressions: Amount
    operators: Amount
    kernels: Amount
    flops: Amount
    bytes: Amount


class Aligned(NamedTuple):
    """Two rows side by side, of the stage before and of this one (-1: none on that side), and their
    fate. A row that moved occurs twice, once on each side.
    """

    before: RowOrNone
    after: RowOrNone
    fate: Annotated[int, OneOf(Fate)]


@as_object
class Stage(NamedTuple):
    """The program after a pass. `align` has pairs of rows, the stage before's and its own, with their fate;
    `ms` is None where pages must not depend on the machine. `rewrites` are the first of the `told`
    rewrites that the pass reported. `text` is the pass in the text of a pipeline, where it is not its name.
    """

    name: str
    what: str
    source: str
    before: Annotated[int, Index("stages", none=True, order="earlier")]
    first: Annotated[int, Count(), Wire(span="rows")]
    last: Annotated[int, Count(-1), Wire(span="rows")]
    same: bool
    say: Sentence
    align: Annotated[tuple[Aligned, ...], Flat()]
    gone: tuple[ItemIndex, ...]
    totals: StageTotals
    ms: float | None
    rewrites: tuple[RewriteStep, ...] = ()
    told: Amount = 0
    text: Annotated[str | None, Wire(omitted=True)] = None


class Pipeline(NamedTuple):
    """A pipeline's name, and its stages; each begins with stage 0."""

    name: str
    stages: tuple[StageIndex, ...]


@dataclass(frozen=True)
class PipelineView(View):
    """A program going through passes; two pipelines where they are compared. `tree` is the URL below which
    the files of the package are shown, `ends` the final programs of two pipelines side by side.
    """

    kind: ClassVar[str] = "pipeline"
    step_key: ClassVar[str] = "stage"
    choice_key: ClassVar[str] = "pipe"
    items: tuple[PipelineItem, ...]
    stages: Annotated[tuple[Stage, ...], Size(least=1)]
    pipelines: Annotated[tuple[Pipeline, ...], Size(least=1)]
    tree: str = ""
    ends: CompareView | None = None

    def questions(self) -> tuple[Question, ...]:
        return (Question("pipeline", tuple(pipeline.name for pipeline in self.pipelines)),)

    def selected_row(self, state: Mapping[str, str]) -> int:
        """Return the row of the program after the pass that is shown, or of the one before where the pass
        removed it. A token has the number of a pair of rows.
        """
        pairs, number = self._pairs(self._stage(state)), state.get("row", "")
        if state.get("ends") == "1" or not number.isdecimal() or int(number) >= len(pairs):
            return -1
        before, after = pairs[int(number)]
        return after if after >= 0 else before

    def select_row(self, row: int, state: Mapping[str, str]) -> dict[str, str]:
        if row < 0:
            return {"row": ""}
        here = {"stage": str(self._at(state)), "pipe": state.get("pipe", "")}
        others = (
            {"stage": str(at), "pipe": str(pipe) if pipe else ""}
            for pipe, (_, stages) in enumerate(self.pipelines)
            for at in range(len(stages))
        )
        for place in (here, *others):
            for number, (before, after) in enumerate(self._pairs(self._stage(place))):
                if row == (after if after >= 0 else before):
                    return {**place, "row": str(number)}
        return {"row": ""}

    def rows_shown(self, state: Mapping[str, str]) -> range:
        stage = self._stage(state)
        return range(stage.first, stage.last + 1)

    def last_step(self, state: Mapping[str, str]) -> int:
        return len(self._pipeline(state)) - 1

    def _pipeline(self, state: Mapping[str, str]) -> tuple[int, ...]:
        number = state.get("pipe", "")
        known = number.isdecimal() and int(number) < len(self.pipelines)
        return self.pipelines[int(number) if known else 0].stages

    def _stage(self, state: Mapping[str, str]) -> Stage:
        return self.stages[self._pipeline(state)[self._at(state)]]

    def _at(self, state: Mapping[str, str]) -> int:
        """Return the position of the stage that is shown; at first that is the first one with a change."""
        at, last = state.get("stage", ""), self.last_step(state)
        if at.isdecimal():
            return min(int(at), last)
        stages = [self.stages[number] for number in self.pipelines[0].stages]
        changed = [
            [any(fate != Fate.KEPT for _, _, fate in stage.align) for stage in stages],
            [stage.before >= 0 and not stage.same for stage in stages],
        ]
        first = (of.index(True) for of in changed if True in of[1:])
        return next((at for at in first if at > 0), min(1, last))

    def _pairs(self, stage: Stage) -> list[tuple[int, int]]:
        """Return the rows before and after a pass, side by side."""
        if stage.align:
            return [(before, after) for before, after, _ in stage.align]
        return [(row, row) for row in range(stage.first, stage.last + 1)]

    def passages(self) -> Iterator[Passage | Remark]:
        """Iterate over what each pass did, then the program after each pass that changed it, with the fate of
        its rows.
        """
        for name, stages in self.pipelines:
            if len(self.pipelines) > 1:
                yield Remark(0, f"{name}:")
            yield from (Remark(1, spoken(self.stages[number].say)) for number in stages)
        for stage in self.stages:
            if stage.same:
                continue
            yield Remark(0, "" if stage.before < 0 else f"After {stage.name}:")
            notes = [""] * (stage.last + 1 - stage.first)
            for _, after, fate in stage.align:
                if after >= 0 and fate != Fate.KEPT:
                    notes[after - stage.first] = Fate(fate).name.lower()
            yield Passage(self.rows[stage.first : stage.last + 1], notes)
