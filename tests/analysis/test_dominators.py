"""Dominators of graphs, against networkx and against the definition; post-dominators of programs."""

from __future__ import annotations

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from relay_explorer import relay
from relay_explorer.analysis import dominator_tree, post_dominators
from relay_explorer.analysis.dataflow_graph import DataflowGraph, PostDominators
from relay_explorer.ir.expr import Function
from relay_explorer.testing import generate
from relay_explorer.typing import infer_types

Graph = dict[int, list[int]]
EDGES = st.lists(st.tuples(st.integers(0, 14), st.integers(0, 14)), max_size=40)


def graph_of(edges: list[tuple[int, int]]) -> Graph:
    graph: Graph = {k: [] for k in range(15)}
    for a, b in edges:
        graph[a].append(b)
    return graph


def reached(graph: Graph, without: int | None = None) -> set[int]:
    result, pending = set(), [] if without == 0 else [0]
    while pending:
        node = pending.pop()
        if node not in result:
            result.add(node)
            pending += [n for n in graph[node] if n != without]
    return result


@given(EDGES)
def test_immediate_dominators_are_those_of_networkx(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(edges)
    tree = dominator_tree(0, graph.__getitem__)
    expected = nx.immediate_dominators(nx.DiGraph([(0, 0), *edges]), 0)
    result = {node: tree.immediate(node) for node in tree.nodes}
    assert result.pop(0) is None
    expected.pop(0, None)  # networkx says something of the root too, and has changed its mind about what
    assert result == expected


@given(EDGES)
def test_a_dominator_is_what_no_way_can_avoid(edges: list[tuple[int, int]]) -> None:
    graph = graph_of(edges)
    tree = dominator_tree(0, graph.__getitem__)
    for above in tree.nodes:
        avoiding = reached(graph, without=above)
        for below in tree.nodes:
            assert tree.dominates(above, below) == (below not in avoiding)
            assert tree.strictly_dominates(above, below) == (below not in avoiding and above != below)


def test_the_example_of_the_paper() -> None:
    """The flow graph of figure 1 of Lengauer and Tarjan, and its dominators in figure 2."""
    edges = "R:ABC A:D B:ADE C:FG D:L E:H F:I G:IJ H:EK I:K J:I K:IR L:H"
    graph = {part[0]: part[2:] for part in edges.split()}
    tree = dominator_tree("R", graph.__getitem__)
    result = {node: tree.immediate(node) for node in sorted(graph) if node != "R"}
    assert result == {
        "A": "R", "B": "R", "C": "R", "D": "R", "E": "R", "F": "C", "G": "C", "H": "R", "I": "R", "J": "G",
        "K": "R", "L": "D",
    }  # fmt: skip


def test_what_is_not_reached_has_no_place() -> None:
    tree = dominator_tree(0, {0: [1], 1: [], 2: [1]}.__getitem__)
    assert 2 not in tree
    with pytest.raises(KeyError):
        tree.immediate(2)


def test_a_diamond_ends_where_its_sides_meet() -> None:
    x = relay.var("x", shape=(2,))
    top = relay.exp(x)
    left, right = relay.tanh(top), relay.sqrt(top)
    meet = left + right
    tree = post_dominators(relay.nn.relu(meet))
    assert tree.immediate(top) is meet
    assert tree.immediate(left) is meet
    assert not tree.dominates(left, top)
    assert tree.dominates(tree.root, x)


def test_a_use_outside_of_the_diamond_moves_the_dominator() -> None:
    x = relay.var("x", shape=(2,))
    top = relay.exp(x)
    meet = relay.tanh(top) + relay.sqrt(top)
    out = relay.Tuple([meet, top])
    assert post_dominators(out).immediate(top) is out


def test_a_deep_program() -> None:
    x = relay.var("x", shape=(2,))
    expr: relay.Expr = x
    for _ in range(20_000):
        expr = relay.nn.relu(expr) + x  # every level uses x: without compression this takes minutes
    tree = post_dominators(expr)
    assert tree.immediate(x) is expr
    assert tree.dominates(expr, x)


def test_where_uses_meet_and_how_opaque_the_ways_there_are() -> None:
    """Fusion's tree against its definition: all ways on from a node pass its parent, a held value ends a way,
    and `pattern` is the greatest of all uses on the ways.
    """
    met = 0
    for seed in range(40):
        for function in infer_types(generate(7_000 + seed, size=30).module).functions.values():
            assert isinstance(function, Function)
            graph = DataflowGraph(function)
            result = PostDominators(graph)
            for node in graph.nodes:
                parent = result.parent[node.index]
                ways, pending, kinds, ended = {node.index}, [node], [0], node.held
                while pending:
                    for user, kind in pending.pop().uses:
                        kinds.append(kind)
                        if user.index not in ways and user.index != parent:
                            ways.add(user.index)
                            pending.append(user)
                            ended = ended or user.held
                if parent is not None:
                    met += 1
                    assert not ended
                    assert result.pattern[node.index] == max(kinds)
                elif not node.held:
                    assert ended
    assert met > 500
