"""The frames that a drawing has around nodes (scopes, kernels, blocks), and frames drawn as one node."""

from __future__ import annotations

from typing import Any

from ..ir.expr import Expr
from ..ir.module import IRModule
from ..ir.show import counted
from ..views.ir.blocks import BLOCK, Groups
from ..views.ir.format import Edge
from ..views.rows import program_rows
from .dataflow import EXIT
from .operands import operands

CLUSTERS = ("scopes", "kernels", "blocks", "none")

Cluster = tuple[str, ...]  # the labels of the frames around a node, the outermost first


def frames(graph: Any, clusters: str) -> dict[Any, Cluster]:
    """Return the frames around each node of a graph of `to_networkx`."""
    if clusters == "none":
        return dict.fromkeys(graph, ())
    if clusters == "kernels":
        return _kernels(graph)
    scopes = {node: tuple(scope) for node, scope in graph.nodes(data="scope", default=())}
    return _with_blocks(graph, scopes) if clusters == "blocks" else scopes


def _kernels(graph: Any) -> dict[Any, Cluster]:
    """Frame the members of each kernel that computes something."""

    def computes(node: Any) -> bool:
        return "pattern" in graph.nodes[node] and "attrs" in graph.nodes[node]

    groups: dict[Any, list[Any]] = {}
    for node, group in graph.nodes(data="group"):
        if group is not None and group != EXIT:
            groups.setdefault(group, []).append(node)
    placed: dict[Any, Cluster] = {}
    kernels = [members for members in groups.values() if any(map(computes, members))]
    for number, members in enumerate(kernels, 1):
        names = [graph.nodes[node]["op"].rpartition(".")[2] for node in members if computes(node)]
        placed.update(dict.fromkeys(members, (f"kernel {number}: {'·'.join(names)}",)))
    return {node: placed.get(node, ()) for node in graph}


def _with_blocks(graph: Any, scopes: dict[Any, Cluster]) -> dict[Any, Cluster]:
    """Add the blocks of the program, inside the frame of their function or branch, as the IR explorer finds
    and names them: the modules of the model, or the repeated parts where no names say what these are.
    """
    program = graph.graph.get("program")
    if program is None:
        return scopes
    module = program if isinstance(program, IRModule) else IRModule.from_expr(program)
    exprs: list[Expr] = list(graph.graph["node_of"])
    index = {expr: number for number, expr in enumerate(exprs)}
    edges = [
        Edge(index[operand.value], index[expr], operand.number)
        for expr in exprs for operand in operands(expr) if operand.value in index
    ]  # fmt: skip
    groups = Groups(program_rows(module), module, exprs, edges)
    placed = {}
    for node, expr in graph.nodes(data="expr"):
        path: list[str] = []
        around = groups.of[index[expr]] if expr in index else -1
        depth = len(scopes[node])
        inner = list(scopes[node])
        while around >= 0:
            group = groups.groups[around]
            if group.kind == BLOCK:
                path.append(group.label)
            else:  # a function or a branch, whose frame has a name of its own
                depth -= 1
                path.append(inner[depth] if depth >= 0 else group.label)
            around = group.parent
        placed[node] = tuple(reversed(path)) if depth <= 0 and path else scopes[node]
    return placed


def folded(graph: Any, placed: dict[Any, Cluster], levels: int) -> tuple[Any, dict[Any, Cluster]]:
    """Return a graph in which each frame of a deeper level is one node, and the frames around its nodes."""
    of = {node: cluster[: levels + 1] if len(cluster) > levels else node for node, cluster in placed.items()}
    members: dict[Any, list[Any]] = {}
    for node in reversed(list(graph)):  # the order of the results
        members.setdefault(of[node], []).append(node)
    result = graph.__class__(**graph.graph)
    around = {}
    for key, nodes in reversed(members.items()):
        around[key] = placed[nodes[0]][:levels]
        if key in graph:
            result.add_node(key, **graph.nodes[key])
        else:
            count = sum("op" in graph.nodes[node] for node in nodes)
            words = {"label": key[-1], "short_type": counted(count, "operation")}
            result.add_node(key, kind="Frame", name=key[-1], family="function", **words)
    for source, target, data in graph.edges(data=True):
        ends = (of[source], of[target])
        if ends == (source, target):
            result.add_edge(source, target, **data)
        elif ends[0] != ends[1] and not result.has_edge(*ends):
            result.add_edge(*ends)
    return result, around
