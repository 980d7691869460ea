"""The data of the fusion view: how operators are grouped into kernels."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Question, Sentence, View
from ..schema import Amount, Index, OneOf, RowIndex, RowOrNone, SentenceOrNone, Size, Wire, as_object

NodeIndex = Annotated[int, Index("nodes")]
NodeOrNone = Annotated[int, Index("nodes", none=True)]


class FusionMark(IntEnum):
    """The kind of a step."""

    BEGIN = 0
    MERGED = 1
    REFUSED = 2
    NOTHING = 3
    END = 4


class FusionNode(NamedTuple):
    """An expression that can be in a kernel: its row, name and label, its pattern, its type and the bytes of
    its value, its users, and whether its value must be stored (`held`). `part` is what an operator
    contributes to a kernel's name ("" for an expression that computes nothing); `read`, `written` (bytes) and
    `flops` are those of a kernel that consists of this operator alone.
    """

    row: RowOrNone
    name: str
    label: str
    pattern: Amount
    type: str
    bytes: Amount
    uses: tuple[Annotated[int, Index("nodes", order="later")], ...]
    held: bool
    part: str
    read: Amount
    written: Amount
    flops: Amount


class PatternWord(NamedTuple):
    """A pattern in the legend."""

    number: Amount
    letter: str
    name: str
    what: str


class FusionStep(NamedTuple):
    """One decision: can `node` be fused into the kernel of `target`? `launches` and `bytes` are what the
    program would need if its groups after this step were the kernels.
    """

    mark: Annotated[int, OneOf(FusionMark)]
    phase: int
    node: NodeOrNone
    target: NodeOrNone
    say: Sentence
    rule: SentenceOrNone = ()
    obstacle: NodeOrNone = -1
    merged: tuple[NodeIndex, ...] = ()
    launches: Amount = 0
    bytes: Amount = 0


class Kernel(NamedTuple):
    """A group at the end: its nodes, its memory traffic and its operations."""

    name: str
    nodes: Annotated[tuple[NodeIndex, ...], Size(least=1)]
    read: Amount
    written: Amount
    flops: Amount
    result: NodeIndex


class OtherPattern(NamedTuple):
    """A node that has another pattern in a variant."""

    node: NodeIndex
    pattern: Amount


class BeforeAfter(NamedTuple):
    """An amount with one kernel for each operator, and with the kernels of the pass."""

    before: Amount
    after: Amount


@as_object
class Variant(NamedTuple):
    """The result of the pass under some limits. `launches` and `bytes` are given before and after fusion;
    `order` lists the program's rows with those of each kernel together, () if they already are.
    """

    name: str
    say: Sentence
    patterns: tuple[OtherPattern, ...]
    dominators: Annotated[
        tuple[Annotated[int, Index("nodes", none=True, order="later item")], ...], Size("nodes")
    ]
    steps: Annotated[tuple[FusionStep, ...], Size(least=1)]
    kernels: tuple[Kernel, ...]
    launches: Annotated[BeforeAfter, Wire(inside="totals")]
    bytes: Annotated[BeforeAfter, Wire(inside="totals")]
    order: tuple[RowIndex, ...] = ()


@as_object
class FusedFunction(NamedTuple):
    """A function of the module, its rows, and the result of the pass."""

    name: str
    summary: str
    first: Annotated[RowIndex, Wire(span="rows")]
    last: Annotated[RowIndex, Wire(span="rows")]
    nodes: tuple[FusionNode, ...]
    variants: Annotated[tuple[Variant, ...], Size(least=1)]


@dataclass(frozen=True)
class FusionView(View):
    """How operators are grouped into kernels, function by function, and how they would be under other limits.
    The first function is shown first.
    """

    kind: ClassVar[str] = "fusion"
    choice_key: ClassVar[str] = "what"
    patterns: tuple[PatternWord, ...]
    functions: Annotated[tuple[FusedFunction, ...], Size(least=1)]

    def questions(self) -> tuple[Question, ...]:
        return (Question("what if", tuple(variant.name for variant in self.variants)),)

    @property
    def nodes(self) -> tuple[FusionNode, ...]:
        """The nodes of the first function."""
        return self.functions[0].nodes

    @property
    def variants(self) -> tuple[Variant, ...]:
        """The variants of the first function."""
        return self.functions[0].variants

    def beside(self) -> dict[int, str]:
        """Return, by row, the kernel that its operator is fused into."""
        return {
            self.nodes[node].row: f"kernel {number}: {kernel.name}"
            for number, kernel in enumerate(self.variants[0].kernels, 1)
            for node in kernel.nodes
            if self.nodes[node].row >= 0
        }

    first_step: ClassVar[int] = 1

    def story(self) -> list[Sentence]:
        return [step.say for step in self.variants[0].steps]

    def last_step(self, state: Mapping[str, str]) -> int:
        chosen = state.get(self.choice_key, "")
        known = chosen.isdecimal() and int(chosen) < len(self.variants)
        return len(self.variants[int(chosen) if known else 0].steps)
