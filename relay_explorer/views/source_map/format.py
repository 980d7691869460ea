"""The data of the source view: the nodes of a model, the Relay program, and the links between them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Passage, Remark, Sentence, View
from ..schema import Amount, Index, OneOf, RowIndex, as_object


class Fate(IntEnum):
    """What became of a node: expressions of the program, a constant in it, or no expression."""

    EXPRESSIONS = 0
    CONSTANT = 1
    NOTHING = 2


class Attribute(NamedTuple):
    """An attribute of a node."""

    name: str
    value: str


class SourceNode(NamedTuple):
    """A node of the model: its row in the node list; the framework's operator, its name, the path of its
    module, the place in the user's code; the names of its operands and results; the type of its result; in a
    few words what it `became`; and the rows of the program that came from it, if only in part.
    """

    row: RowIndex
    fate: Annotated[int, OneOf(Fate)]
    op: str
    name: str
    path: str
    location: str
    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    attributes: tuple[Attribute, ...]
    type: str
    became: str
    say: Sentence
    rows: tuple[RowIndex, ...]


class Module(NamedTuple):
    """Successive nodes of one module, or all weights: the row of the heading, the path, the first node
    and the last.
    """

    row: RowIndex
    path: str
    first: Annotated[int, Index("nodes")]
    last: Annotated[int, Index("nodes")]


@as_object
class SourceTotals(NamedTuple):
    """The number of nodes with each fate, and of rows of the program that came from no node."""

    expressions: Amount
    constants: Amount
    nothing: Amount
    unlinked: Amount


@dataclass(frozen=True)
class SourceView(View):
    """The node list of a model, in the rows before `split`, and the Relay program, in the others. `framework`
    is the name of the framework.
    """

    kind: ClassVar[str] = "source"
    step_key: ClassVar[str] = "node"
    framework: str
    split: Amount
    nodes: tuple[SourceNode, ...]
    modules: tuple[Module, ...]
    totals: SourceTotals

    def selected_row(self, state: Mapping[str, str]) -> int:
        """Return the selected line of the program, which is behind the node list."""
        line = state.get("line", "")
        return int(line) + self.split if line.isdecimal() and int(line) < len(self.rows) - self.split else -1

    def select_row(self, row: int, state: Mapping[str, str]) -> dict[str, str]:
        return {"line": str(row - self.split) if row >= self.split else ""}

    def last_step(self, state: Mapping[str, str]) -> int:
        return len(self.nodes)

    def passages(self) -> Iterator[Passage | Remark]:
        notes = {node.row: node.became for node in self.nodes}
        yield Remark(0, f"the nodes of the {self.framework} model, and the expressions that each became")
        left = self.rows[: self.split]
        yield Passage(left, [notes.get(row, "") for row in range(len(left))], half=True)
        yield Remark(0, "the Relay program, and the node that each line came from")
        right = [
            row._replace(end=row.end - self.split if row.end >= 0 else -1) for row in self.rows[self.split :]
        ]
        yield Passage(right, [_named(row.imported) for row in right])


def _named(imported: object) -> str:
    return "" if imported is None else getattr(imported, "name", "") or getattr(imported, "op", "")
