"""Data flow, calls, dominators and kernels of a program as graphs of networkx."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..analysis.call_graph import CallGraph
from ..analysis.cost import total_cost
from ..analysis.dataflow_graph import DataflowGraph
from ..analysis.dominators import dominator_tree
from ..ir.errors import RelayError
from ..ir.expr import Expr, Function, Let
from ..ir.module import IRModule
from ..ir.op import OpPattern
from ..ir.show import show_type
from ..ir.walk import post_order
from ..transform import FuseOps, PassContext
from ..transform.fuse_ops.groups import Fusion, Partition
from ..typing import infer_types
from .operands import bound, operands
from .program import Program
from .require import require

ENTRY = EXIT = -1  # the key of the node from which all values come, or to which all results go

Edge = tuple[int, int, int, dict[str, Any]]  # operand, user, operand index, attributes


def dataflow(program: IRModule | Expr, lets: bool = True) -> Any:
    """Return the data flow of a program as a `networkx.MultiDiGraph`."""
    parts = Program(program)
    graph = _empty(parts, "dataflow")
    joined = {} if lets else _joined(parts)
    hidden = () if lets else {expr for expr in parts.order if expr in joined}
    for expr in parts.order:
        if expr not in hidden:
            graph.add_node(parts.node_of[expr], **parts.describe(expr))
    graph.graph["types"] = {expr: copy._checked_type for expr, copy in parts.typed.items()}
    for operand, user, index, attributes in _edges(parts, joined):
        graph.add_edge(operand, user, key=index, **attributes)
    return graph


def _empty(parts: Program, kind: str) -> Any:
    graph = require("networkx").MultiDiGraph(kind=kind, node_of=parts.node_of, program=parts.given)
    if isinstance(parts.given, IRModule):
        graph.graph["type_definitions"] = dict(parts.given.type_definitions)
    return graph


def _joined(parts: Program) -> dict[Expr, Expr]:
    """Return, for each variable that a `let` binds, its value, and for each `let` its body: never another of
    them.
    """
    direct: dict[Expr, Expr] = {}
    for expr in parts.order:
        if isinstance(expr, Let):
            direct[expr.var], direct[expr] = expr.value, expr.body
    joined: dict[Expr, Expr] = {}
    for expr in direct:
        path = [expr]
        while path[-1] in direct and path[-1] not in joined:
            path.append(direct[path[-1]])
        end = joined.get(path[-1], path[-1])
        joined.update(dict.fromkeys([step for step in path if step in direct], end))
    return joined


def _edges(parts: Program, joined: dict[Expr, Expr]) -> Iterator[Edge]:
    """Yield the edges, from each operand to its user."""
    number = parts.node_of
    for expr in parts.order:
        if expr in joined:
            continue
        for operand in operands(expr):
            value = joined.get(operand.value, operand.value)
            if value in number:
                attributes: dict[str, Any] = {"operand": operand.number, "role": operand.role}
                if operand.name:
                    attributes["name"] = operand.name
                yield number[value], number[expr], operand.number, attributes
        for var, source, role in bound(expr):
            if var not in joined:
                value = joined.get(source, source)
                yield number[value], number[var], 0, {"operand": 0, "role": role}


# -- dominators


def dominators(program: IRModule | Expr, post: bool) -> Any:
    """Return the tree of immediate dominators or post-dominators as a `networkx.DiGraph`."""
    flow = dataflow(program)
    end = EXIT if post else ENTRY
    beyond = flow.pred if post else flow.succ
    first = [node for node in flow if not (flow.succ if post else flow.pred)[node]]
    tree = dominator_tree(end, lambda node: first if node == end else list(beyond[node]))
    graph = require("networkx").DiGraph(
        kind="post-dominators" if post else "dominators",
        node_of=flow.graph["node_of"],
        program=flow.graph["program"],
        root=end,
    )
    graph.add_node(end, **_virtual(post))
    graph.add_nodes_from((node, flow.nodes[node]) for node in flow if node in tree)
    for node in flow:
        if node in tree:
            graph.add_edge(tree.immediate(node), node)
    return graph


def _virtual(post: bool) -> dict[str, Any]:
    name = "exit" if post else "entry"
    return {"kind": name.title(), "name": name, "label": name, "family": "control", "scope": ()}


# -- kernels


def kernels(x: IRModule | Expr | Fusion) -> Any:
    """Return the data flow on which `FuseOps` works, with the kernel of each node."""
    module = x.module if isinstance(x, Fusion) else x
    parts = Program(module)
    graph = _empty(parts, "fusion")
    for name, root in parts.roots.items():
        function = parts.typed.get(root, root)
        if root._checked_type is None and function is root:
            raise RelayError(
                f"fusion needs types, and {f'@{name}' if name else 'the program'} is not well typed",
                help=["relay.transform.InferType()(mod) says why"],
            )
        _add_function(graph, parts, root, x if isinstance(x, Fusion) else None)
    graph.add_node(EXIT, **_virtual(post=True))
    for node, held in list(graph.nodes(data="held")):
        if node != EXIT and (held or not graph.succ[node]):
            graph.add_edge(node, EXIT, key=0)
    return graph


def _add_function(graph: Any, parts: Program, root: Expr, fusion: Fusion | None) -> None:
    """Add the nodes and uses of one function."""
    originals = {parts.typed.get(expr, expr): expr for expr in parts.order}
    function = parts.typed.get(root, root)
    flow = DataflowGraph(function)
    if fusion is not None and isinstance(function, Function):
        partition = fusion.partition(function, flow)
    else:
        partition = Partition(flow, FuseOps().limits(PassContext.current()))
    above = partition.dominators.parent if partition.dominators is not None else [None] * len(flow.nodes)
    keys = [parts.node_of[originals[node.expr]] for node in flow.nodes]
    for node, key in zip(flow.nodes, keys):
        end = above[node.index]
        group = partition.group_of(node)
        attributes = {
            "pattern": OpPattern(node.pattern).name,
            "held": node.held,
            "group": keys[group.root.index],
            "post_dominator": EXIT if end is None else keys[end],
        }
        graph.add_node(key, **(parts.describe(originals[node.expr]) | attributes))
    for node, key in zip(flow.nodes, keys):
        for index, (user, pattern) in enumerate(node.uses):
            graph.add_edge(key, keys[user.index], key=index, pattern=OpPattern(pattern).name)


# -- calls


def calls(module: IRModule) -> Any:
    """Return the call graph of a module as a `networkx.DiGraph`."""
    if not isinstance(module, IRModule):
        raise RelayError(f"a call graph needs a module, not a {type(module).__name__}")
    try:
        typed = infer_types(module)
    except RelayError:
        typed = None
    references = CallGraph(module)
    graph = require("networkx").DiGraph(kind="calls")
    for var, function in module.functions.items():
        name = var.name_hint
        attributes: dict[str, Any] = {"kind": "Function", "name": f"@{name}", "label": f"@{name}"}
        attributes |= {"family": "function", "scope": (), "expressions": len(post_order(function))}
        if typed is not None and isinstance(inferred := typed[name], Function):
            cost = total_cost(inferred)
            attributes |= {"type": show_type(inferred.checked_type), "flops": cost.flops}
            attributes |= {"bytes": cost.bytes, "parameters": cost.parameters}
        if function.span is not None:
            attributes["span"] = str(function.span)
        graph.add_node(name, **attributes, expr=function)
    for var in module.functions:
        for callee in references.callees(var):
            graph.add_edge(var.name_hint, callee.name_hint)
    return graph
