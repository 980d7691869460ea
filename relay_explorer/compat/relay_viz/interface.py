"""`tvm.contrib.relay_viz.interface`: what parsers and plotters of old code derive from, and the parser that
is used without one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...ir.adt import Match
from ...ir.expr import (
    Call,
    Constant,
    Expr,
    Function,
    GlobalVar,
    If,
    Let,
    RefCreate,
    RefRead,
    RefWrite,
    Tuple,
    TupleGetItem,
    Var,
)
from ...ir.op import Op


class VizNode:
    """A node of a picture: its identity, the kind of expression, and details as text."""

    def __init__(self, node_id: str, node_type: str, node_detail: str) -> None:
        self.identity = node_id
        self.type_name = node_type
        self.detail = node_detail

    def __repr__(self) -> str:
        return f"VizNode(identity: {self.identity}, type_name: {self.type_name}, detail: {self.detail}"


class VizEdge:
    """An edge of a picture, from an operand to the expression that uses it."""

    def __init__(self, start_node: str, end_node: str) -> None:
        self.start = start_node
        self.end = end_node


class VizParser:
    """Turns an expression into a node, or None for expressions that are not shown, and edges."""

    def get_node_edges(
        self, node: Expr, relay_param: Mapping[str, Any], node_to_id: Mapping[Expr, str]
    ) -> tuple[VizNode | None, list[VizEdge]]:
        raise NotImplementedError(
            f"{type(self).__name__} has no get_node_edges(node, relay_param, node_to_id)"
        )


class VizGraph:
    """Collects nodes and edges of one function, and renders them."""

    def node(self, viz_node: VizNode) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no node(viz_node)")

    def edge(self, viz_edge: VizEdge) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no edge(viz_edge)")

    def render(self) -> str:
        raise NotImplementedError(f"{type(self).__name__} has no render()")


class Plotter:
    """Creates a graph for each function, and renders them all."""

    def create_graph(self, name: str) -> VizGraph:
        raise NotImplementedError(f"{type(self).__name__} has no create_graph(name)")

    def render(self, filename: str) -> None:
        raise NotImplementedError(f"{type(self).__name__} has no render(filename)")


class DefaultVizParser(VizParser):
    """Shows every expression, with types of variables and attributes of calls as details."""

    def get_node_edges(
        self, node: Expr, relay_param: Mapping[str, Any], node_to_id: Mapping[Expr, str]
    ) -> tuple[VizNode | None, list[VizEdge]]:
        for kind, describe in _DESCRIPTIONS.items():
            if isinstance(node, kind):
                title, details, operands = describe(node, relay_param)
                viz_node = VizNode(node_to_id[node], title, "\n".join(details))
                edges = [
                    VizEdge(node_to_id[part], node_to_id[node]) for part in operands if part in node_to_id
                ]
                return viz_node, edges
        return None, []  # operators are shown with their calls


_Description = tuple[str, list[str], list[Expr]]


def _variable(node: Any, params: Mapping[str, Any]) -> _Description:
    details = [f"name_hint: {node.name_hint}"]
    if node.type_annotation is not None:
        details.append(f"type: {node.type_annotation}")
    return ("Var(Param)" if node.name_hint in params else "Var(Input)"), details, []


def _call(node: Any, params: Mapping[str, Any]) -> _Description:
    op = node.op
    details = (
        [f"{key}: {node.attrs[key]}" for key in tuple(node.attrs.keys())] if node.attrs is not None else []
    )
    if isinstance(op, Op):
        return op.name, details, list(node.args)
    title = f"Call {op.name_hint}" if isinstance(op, GlobalVar) else "Call"
    return title, details, [op, *node.args]


def _function(node: Any, params: Mapping[str, Any]) -> _Description:
    details = [f"params: {', '.join(var.name_hint for var in node.params)}"]
    return "Function", details, [node.body]


_DESCRIPTIONS: dict[type, Callable[[Any, Mapping[str, Any]], _Description]] = {
    Var: _variable,
    GlobalVar: lambda node, params: ("GlobalVar", [f"name_hint: {node.name_hint}"], []),
    Constant: lambda node, params: ("Const", [f"shape: {node.data.shape}, dtype: {node.data.dtype}"], []),
    Call: _call,
    Tuple: lambda node, params: ("Tuple", [], list(node.fields)),
    TupleGetItem: lambda node, params: ("TupleGetItem", [f"index: {node.index}"], [node.tuple_value]),
    Function: _function,
    If: lambda node, params: ("If", [], [node.cond, node.true_branch, node.false_branch]),
    Let: lambda node, params: ("Let", [f"var: {node.var.name_hint}"], [node.var, node.value, node.body]),
    Match: lambda node, params: ("Match", [], [node.data, *[clause.rhs for clause in node.clauses]]),
    RefCreate: lambda node, params: ("RefCreate", [], [node.value]),
    RefRead: lambda node, params: ("RefRead", [], [node.ref]),
    RefWrite: lambda node, params: ("RefWrite", [], [node.ref, node.value]),
}

__all__ = ["DefaultVizParser", "Plotter", "VizEdge", "VizGraph", "VizNode", "VizParser"]
