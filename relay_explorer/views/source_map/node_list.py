"""The node list of a model as rows, grouped by module."""

from __future__ import annotations

from collections.abc import Sequence

from ...frontends.base.source import Node
from ..format import Row, RowKind, Token, TokenClass
from ..provenance import levels
from ..words import count, counted
from .format import Module

MAX_OPERANDS = 6  # names of operands in a row


WEIGHTS = "weights"


class NodeList:
    """Rows for the nodes of a model: `nodes`, in the order in which they are shown, inputs and weights first;
    `rows`; `row_of`, the row of each node; `modules`, the headings.

    Successive nodes of a module stand under a heading with its path, and those of the modules inside it under
    headings of their own. A level that contains only the next level shares its heading.
    """

    def __init__(self, nodes: Sequence[Node]) -> None:
        self.nodes = sorted(nodes, key=_rank)
        self._scopes = [_scope(node) for node in self.nodes]
        self._rows: list[Row] = []
        self.row_of: list[int] = []
        self._headings: list[tuple[int, str, int, int]] = []
        self._add(0, len(nodes), 0, 0)
        self.rows = tuple(self._rows)
        self.modules = tuple([Module(*heading) for heading in self._headings])

    def _add(self, first: int, end: int, level: int, depth: int) -> None:
        """Add the nodes from `first` to `end`, which share the first `level` levels of their modules."""
        scopes = self._scopes
        while first < end:
            scope = scopes[first]
            if len(scope) == level:
                self._add_node(first, depth)
                first += 1
                continue
            stop = first + 1
            while stop < end and scopes[stop][: level + 1] == scope[: level + 1]:
                stop += 1
            inner = self._shared(first, stop, level + 1)
            if stop - first == 1:
                self._add_node(first, depth)
            else:
                self._add_module(first, stop, level, inner, depth)
            first = stop

    def _shared(self, first: int, end: int, level: int) -> int:
        """Return the number of levels that all these nodes share."""
        scope = self._scopes[first]
        while level < len(scope) and all(
            other[: level + 1] == scope[: level + 1] for other in self._scopes[first:end]
        ):
            level += 1
        return level

    def _add_module(self, first: int, end: int, level: int, inner: int, depth: int) -> None:
        scope = self._scopes[first]
        row = len(self._rows)
        name = ".".join(scope[level:inner])
        weights = self.nodes[end - 1].op == "weight"  # the heading says already what they are
        number = count(end - first) if weights else counted(end - first, "node")
        size = Token(TokenClass.COMMENT, f"  {number}")
        self._rows.append(Row(RowKind.FUNCTION, depth, (Token(TokenClass.GLOBAL, name), size)))
        self._headings.append((row, ".".join(scope[:inner]), first, end - 1))
        self._add(first, end, inner, depth + 1)
        self._rows[row] = self._rows[row]._replace(end=len(self._rows) - 1)

    def _add_node(self, number: int, depth: int) -> None:
        node = self.nodes[number]
        self.row_of.append(len(self._rows))
        tokens = [Token(TokenClass.OPERATOR, node.op, number)]
        name = _below(node)
        if name and name != node.op:
            tokens += [Token(TokenClass.PLAIN, " "), Token(TokenClass.LOCAL, name, number)]
        operands = [operand for operand in node.inputs if operand]
        if operands:
            shown = [_last(operand) for operand in operands[:MAX_OPERANDS]]
            more = ", …" if len(operands) > MAX_OPERANDS else ""
            tokens.append(Token(TokenClass.COMMENT, f"  ({', '.join(shown)}{more})"))
        self._rows.append(Row(RowKind.BINDING, depth, tuple(tokens)))


def _rank(node: Node) -> int:
    return 0 if node.op == "input" else 1 if node.op == "weight" else 2


def _scope(node: Node) -> tuple[str, ...]:
    return (WEIGHTS,) if node.op == "weight" else levels(node)


def _below(node: Node) -> str:
    """Return a node's name without the path of its module, which is in the heading above it."""
    name = node.name.strip("/").replace("/", ".")
    if node.path and name.startswith(f"{node.path}."):
        return name[len(node.path) + 1 :]
    return node.name


def _last(name: str) -> str:
    """Return the last part of a value's name."""
    return name.rpartition("/")[2] or name
