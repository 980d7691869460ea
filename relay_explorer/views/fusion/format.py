"""The fusion view, as `frontend/FORMAT.md` describes it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import ClassVar, NamedTuple

from ..format import Interner, Json, Sentence, View


class FusionMark(IntEnum):
    """What a step is."""

    BEGIN = 0
    MERGED = 1
    REFUSED = 2
    NOTHING = 3
    END = 4


class FusionNode(NamedTuple):
    """What can be in a kernel: its row, name and label, its pattern, its type and the bytes of its value, who
    uses it, and whether it must exist as a value. An operator has a `part` of a kernel's name ("" for what
    computes nothing), and what it reads, writes (bytes) and computes (flops) as a kernel of its own.
    """

    row: int
    name: str
    label: str
    pattern: int
    type: str
    bytes: int
    uses: tuple[int, ...]
    held: bool
    part: str
    read: int
    written: int
    flops: int


class PatternWord(NamedTuple):
    """A pattern in the legend."""

    number: int
    letter: str
    name: str
    what: str


class FusionStep(NamedTuple):
    """One decision: may `node` join the kernel of `target`? `launches` and `bytes` are what the program would
    take if its groups were the kernels as they are after this step.
    """

    mark: int
    phase: int
    node: int
    target: int
    say: Sentence
    rule: Sentence = ()
    obstacle: int = -1
    merged: tuple[int, ...] = ()
    launches: int = 0
    bytes: int = 0


class Kernel(NamedTuple):
    """A group at the end: its nodes, and what it moves and computes."""

    name: str
    nodes: tuple[int, ...]
    read: int
    written: int
    flops: int
    result: int


class Variant(NamedTuple):
    """What the pass did under some limits. `launches` and `bytes` are before and after; `order` has the rows
    of the program so that those of each kernel are together, () if they are.
    """

    name: str
    say: Sentence
    patterns: tuple[tuple[int, int], ...]
    dominators: tuple[int, ...]
    steps: tuple[FusionStep, ...]
    kernels: tuple[Kernel, ...]
    launches: tuple[int, int]
    bytes: tuple[int, int]
    order: tuple[int, ...] = ()


class FusedFunction(NamedTuple):
    """A function of the module, its rows, and what the pass makes of it."""

    name: str
    summary: str
    first: int
    last: int
    nodes: tuple[FusionNode, ...]
    variants: tuple[Variant, ...]


@dataclass(frozen=True)
class FusionView(View):
    """Operators being grouped into kernels, function by function, and what would be under other limits. The
    function that is shown first is the first.
    """

    kind: ClassVar[str] = "fusion"
    patterns: tuple[PatternWord, ...]
    functions: tuple[FusedFunction, ...]

    @property
    def nodes(self) -> tuple[FusionNode, ...]:
        """Those of the first function."""
        return self.functions[0].nodes

    @property
    def variants(self) -> tuple[Variant, ...]:
        """Those of the first function."""
        return self.functions[0].variants

    def _fields(self, s: Interner) -> dict[str, Json]:
        return {
            "patterns": [[p.number, s(p.letter), s(p.name), s(p.what)] for p in self.patterns],
            "functions": [_function(f, s) for f in self.functions],
        }


def _function(f: FusedFunction, s: Interner) -> Json:
    return {
        "name": s(f.name), "summary": s(f.summary), "rows": [f.first, f.last],
        "nodes": [
            [
                n.row, s(n.name), s(n.label), n.pattern, s(n.type), n.bytes, list(n.uses), int(n.held),
                s(n.part), n.read, n.written, n.flops,
            ]
            for n in f.nodes
        ],
        "variants": [_variant(v, s) for v in f.variants],
    }  # fmt: skip


def _variant(v: Variant, s: Interner) -> Json:
    return {
        "name": s(v.name), "say": s.sentence(v.say), "patterns": [list(p) for p in v.patterns],
        "dominators": list(v.dominators),
        "steps": [
            [
                int(t.mark), t.phase, t.node, t.target, s.sentence(t.say), s.sentence(t.rule), t.obstacle,
                list(t.merged), t.launches, t.bytes,
            ]
            for t in v.steps
        ],
        "kernels": [[s(k.name), list(k.nodes), k.read, k.written, k.flops, k.result] for k in v.kernels],
        "totals": {"launches": list(v.launches), "bytes": list(v.bytes)},
        "order": list(v.order),
    }  # fmt: skip
