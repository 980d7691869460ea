"""The nodes of an imported model from which the expressions of a program came."""

from __future__ import annotations

from collections.abc import Iterable

from ..frontends.base.source import ModelSource, Node, node_of
from ..ir.expr import Constant, Expr, Function
from ..ir.walk import children
from .format import ModelNode

MAX_SEARCHED = 2_000  # expressions, in the search for the nodes of one


class Provenance:
    """Finds the nodes of the imported model from which an expression came.

    A span refers to one node. A pass that replaces several expressions by one gives it at most one span, so
    the other nodes are those of its origins. A constant that a pass computed came from all that it was
    computed from.
    """

    def __init__(self) -> None:
        self._known: dict[Expr, tuple[Node, ...]] = {}
        self._shown: dict[Node, ModelNode] = {}

    @classmethod
    def of(cls, exprs: Iterable[Expr]) -> Provenance | None:
        """Return the provenance of a program that consists of `exprs`, None if it was not imported."""
        return cls() if any(node_of(expr.span) is not None for expr in exprs) else None

    def nodes(self, expr: Expr) -> tuple[Node, ...]:
        """Return the nodes from which an expression came, that of its own span first, and each once."""
        if expr not in self._known:
            self._known[expr] = tuple(self._search(expr))
        return self._known[expr]

    def _search(self, expr: Expr) -> dict[Node, None]:
        nodes: dict[Node, None] = {}
        seen = {id(expr)}
        pending = [expr]
        for current in pending:  # which grows while it is walked
            node = node_of(current.span)
            if node is not None:
                nodes[node] = None
            sources = current.origin
            if isinstance(expr, Constant) and current is not expr:
                sources = (*sources, *children(current))  # the operands of a call that was folded
            for source in sources:
                if id(source) not in seen and len(pending) < MAX_SEARCHED:
                    seen.add(id(source))
                    pending.append(source)
        return nodes

    def main(self, expr: Expr) -> ModelNode | None:
        """Return the node that represents an expression: that of its span, else of its nearest origin. A
        function that a pass formed out of several expressions, such as a kernel, has none.
        """
        own = node_of(expr.span)
        if own is None and not isinstance(expr, Function):
            nodes = self.nodes(expr)
            own = nodes[0] if nodes else None
        return None if own is None else self.shown(own)

    def shown(self, node: Node) -> ModelNode:
        """Return what a view shows of a node."""
        if node not in self._shown:
            self._shown[node] = ModelNode(node.op, node.name, node.path, node.location)
        return self._shown[node]


def levels(node: Node) -> tuple[str, ...]:
    """Return the path of a node's module by levels. A number and the name before it are one: `layer.3`."""
    result: list[str] = []
    for name in node.scope:
        if result and name.isdigit():
            result[-1] += f".{name}"
        else:
            result.append(name)
    return tuple(result)


def source_of(exprs: Iterable[Expr]) -> ModelSource | None:
    """Return the node list of the model from which `exprs` were imported; None if they were not imported."""
    for expr in exprs:
        if node_of(expr.span) is not None:
            source = expr.span.source if expr.span is not None else None
            return source if isinstance(source, ModelSource) else None
    return None
