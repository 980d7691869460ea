"""The data of the IR view: the program as text and graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, ClassVar, NamedTuple

from ...ir.lazy_dataclass import dataclass
from ..format import Block, ModelNode, View
from ..schema import Amount, Count, Flat, Index, OneOf, RowIndex, RowOrNone, Wire, as_object

SHAPES = ("rect", "round", "hex", "diamond", "circle", "trapezium", "parallelogram", "bar")
HUES = ("blue", "orange", "teal", "red", "purple", "olive", "sky", "pink", "brown", "grey")
Shape = Annotated[str, OneOf(SHAPES)]
Hue = Annotated[str, OneOf(HUES)]
NodeIndex = Annotated[int, Index("nodes")]


class Family(NamedTuple):
    """A family of operators, and how its nodes are drawn. The hue is a color's name in `theme.css`."""

    name: str
    shape: Shape
    hue: Hue


class Node(NamedTuple):
    """An expression. `params` counts the scalars of parameters that it reads, `bytes` the bytes read and
    written, `uses` the outgoing edges (more than one: it is shared); `detail` is the operator's one-line
    description, or "". `imported` is the node of the imported model from which the expression came.
    """

    label: str
    family: Annotated[int, Index("families")]
    row: RowOrNone
    type: str
    short: str
    params: Amount
    flops: Amount
    bytes: Amount
    attributes: str
    group: Annotated[int, Index("groups", none=True)]
    uses: Amount
    detail: str
    imported: Annotated[ModelNode | None, Wire(omitted=True)] = None


class Edge(NamedTuple):
    """`source` produces operand number `operand` of `target`."""

    source: NodeIndex
    target: NodeIndex
    operand: Amount


class Group(NamedTuple):
    """A function (kind 0), a block (1) or a branch (2), and its rows; groups nest. Blocks with the same
    `repeat` consist of the same operations, connected in the same way; sizes may differ. `module` is the path
    of the imported model's module of which the block consists; a block without one is a repeated part.
    """

    label: str
    parent: Annotated[int, Index("groups", none=True, order="earlier")]
    first: RowIndex
    last: RowIndex
    kind: Annotated[int, Count(0)]
    repeat: str = ""
    module: Annotated[str, Wire(omitted=True)] = ""


class Placement(NamedTuple):
    """The device on which an expression is computed, or the compiler that compiles it: "cuda:0", "dsp"."""

    node: NodeIndex
    device: str


class Time(NamedTuple):
    """The measured nanoseconds of the kernels whose most expensive expression is `node`."""

    node: NodeIndex
    ns: Amount


class Values(NamedTuple):
    """The elements of a constant or a parameter: how many there are and how many were examined; of these, how
    many are zero, and how many are no finite number; the least, the greatest and the mean of the finite ones,
    as texts; and how many lie in each of the equal intervals between the least and the greatest.
    """

    node: NodeIndex
    elements: Amount
    examined: Amount
    zeros: Amount
    odd: Amount
    least: str
    greatest: str
    mean: str
    histogram: tuple[Amount, ...]


class Scope(NamedTuple):
    """The variable that the `let` at `row` binds can be used in the rows from `first` to `last`."""

    row: RowIndex
    first: RowIndex
    last: RowIndex


@as_object
class Totals(NamedTuple):
    """Sums over the program, in which each expression counts once."""

    nodes: Amount
    calls: Amount
    params: Amount
    flops: Amount
    bytes: Amount


@dataclass(frozen=True)
class IRView(View):
    """The program as text and graph. The nodes are in the order of evaluation."""

    kind: ClassVar[str] = "ir"
    families: tuple[Family, ...]
    nodes: tuple[Node, ...]
    edges: Annotated[tuple[Edge, ...], Flat()]
    groups: tuple[Group, ...]
    scopes: tuple[Scope, ...]
    totals: Totals
    devices: Annotated[tuple[Placement, ...], Wire(omitted=True)] = ()
    times: Annotated[tuple[Time, ...], Wire(omitted=True)] = ()
    values: Annotated[tuple[Values, ...], Wire(omitted=True)] = ()

    def selected_row(self, state: Mapping[str, str]) -> int:
        """Return the row of the selected node, or the first row of the selected group."""
        node = state.get("sel", "")
        if (block := self.selected_block(state)) is not None:
            return block.first
        return self.nodes[int(node)].row if node.isdecimal() and int(node) < len(self.nodes) else -1

    def select_row(self, row: int, state: Mapping[str, str]) -> dict[str, str]:
        node = self.rows[row].node if row >= 0 else -1
        return {"sel": str(node) if node >= 0 else ""}

    def selected_block(self, state: Mapping[str, str]) -> Block | None:
        number = state.get("sel", "").removeprefix("g")
        selects = state.get("sel", "").startswith("g") and number.isdecimal()
        return self._block(int(number)) if selects and int(number) < len(self.groups) else None

    def select_block(self, wanted: Mapping[str, object]) -> dict[str, str]:
        for number in range(len(self.groups)):
            block = self._block(number)
            if block.name == wanted["group"] and all(
                wanted.get(key, row) == row for key, row in (("row", block.first), ("last", block.last))
            ):
                return {"sel": f"g{number}"}
        raise ValueError(f"the program has no group {wanted['group']!r}")

    def _block(self, number: int) -> Block:
        group = self.groups[number]
        return Block(group.module or group.label, group.first, group.last)

    def beside(self) -> dict[int, str]:
        return {number: self.nodes[row.node].short for number, row in enumerate(self.rows) if row.node >= 0}
