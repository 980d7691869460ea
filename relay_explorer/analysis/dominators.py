"""Dominators: which nodes of a graph every way must pass.

In a graph with a root, `d` dominates `n` if every way from the root to `n` passes `d`. The nearest dominator
of a node other than the node itself is its immediate dominator, and these make a tree. Operator fusion and
the dominator patterns of `relay_explorer.dataflow_pattern` ask it of programs: there the root is the result,
and the ways lead from an expression to its parts, so that `d` dominates `n` if whatever uses `n` ends up in
`d`. Seen along the flow of the data, `d` *post-dominates* `n`.

The algorithm is Lengauer's and Tarjan's (A Fast Algorithm for Finding Dominators in a Flowgraph, TOPLAS 1979)
in its simple form, with path compression: O(m log n) steps for n nodes and m edges, and no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from ..ir.expr import Expr
from ..ir.walk import children

N = TypeVar("N", bound=Hashable)


class DominatorTree(Generic[N]):
    """The dominators of the nodes that `root` reaches. `nodes` are these, in the order in which a depth-first
    walk from the root meets them. A node that the root does not reach is a KeyError.
    """

    def __init__(self, nodes: list[N], parents: list[int]) -> None:
        """`parents[k]`, for k > 0, is the number in `nodes` of the immediate dominator of `nodes[k]`."""
        self.nodes = nodes
        self._number = {node: k for k, node in enumerate(nodes)}
        self._parents = parents
        # A node's subtree is an interval of the places from `_first[k]` on, `_size[k]` of them.
        self._size = [1] * len(nodes)
        for k in range(len(nodes) - 1, 0, -1):  # a dominator is met before what it dominates
            self._size[parents[k]] += self._size[k]
        self._first = [0] * len(nodes)
        free = [1] * len(nodes)
        for k in range(1, len(nodes)):
            parent = parents[k]
            self._first[k] = free[parent]
            free[parent] += self._size[k]
            free[k] = self._first[k] + 1

    @property
    def root(self) -> N:
        return self.nodes[0]

    def __contains__(self, node: object) -> bool:
        return node in self._number

    def immediate(self, node: N) -> N | None:
        """The immediate dominator of `node`; None for the root."""
        k = self._number[node]
        return self.nodes[self._parents[k]] if k else None

    def places(self, node: N) -> range:
        """The places of what `node` dominates, in a numbering in which these follow one another; its own is
        the first.
        """
        k = self._number[node]
        return range(self._first[k], self._first[k] + self._size[k])

    def dominates(self, above: N, below: N) -> bool:
        """Whether every way from the root to `below` passes `above`. A node dominates itself."""
        return self._first[self._number[below]] in self.places(above)

    def strictly_dominates(self, above: N, below: N) -> bool:
        """Whether `above` dominates `below` and is not `below` itself."""
        return above != below and self.dominates(above, below)


def dominator_tree(root: N, successors: Callable[[N], Iterable[N]]) -> DominatorTree[N]:
    """The dominators of what can be reached from `root` along `successors`. Cycles, loops and repeated edges
    are allowed.
    """
    nodes, parent, predecessors = _walk(root, successors)
    forest = _Forest(len(nodes))
    semi = forest.semi
    idom = [0] * len(nodes)
    waiting: list[list[int]] = [[] for _ in nodes]  # by semidominator: nodes whose dominator is not found yet
    for w in range(len(nodes) - 1, 0, -1):
        for v in predecessors[w]:
            semi[w] = min(semi[w], semi[forest.best(v)])
        waiting[semi[w]].append(w)
        above = parent[w]
        forest.ancestor[w] = above
        for v in waiting[above]:
            best = forest.best(v)
            idom[v] = best if semi[best] < semi[v] else above
        waiting[above] = []
    for w in range(1, len(nodes)):
        if idom[w] != semi[w]:  # what was found is a node with the same dominator
            idom[w] = idom[idom[w]]
    return DominatorTree(nodes, idom)


def post_dominators(expr: Expr) -> DominatorTree[Expr]:
    """Which expressions everything that uses another one ends up in, on its way to the value of `expr`."""
    return dominator_tree(expr, children)


class _Forest:
    """Nodes by number, linked one by one into trees. `semi[v]` is the best semidominator known of `v`."""

    def __init__(self, count: int) -> None:
        self.ancestor = [-1] * count
        self.semi = list(range(count))
        self.label = list(range(count))  # of the way up that was compressed, the node of least `semi`

    def best(self, v: int) -> int:
        """The node of least `semi` on the way from `v` up to the root of its tree, without that root."""
        ancestor, semi, label = self.ancestor, self.semi, self.label
        if ancestor[v] < 0:
            return v
        way = []
        u = v
        while ancestor[ancestor[u]] >= 0:
            way.append(u)
            u = ancestor[u]
        for u in reversed(way):  # from the top, so that each can rely on what stands above it
            above = ancestor[u]
            if semi[label[above]] < semi[label[u]]:
                label[u] = label[above]
            ancestor[u] = ancestor[above]
        return label[v]


def _walk(root: N, successors: Callable[[N], Iterable[N]]) -> tuple[list[N], list[int], list[list[int]]]:
    """A depth-first walk: the nodes in order, the number of each one's parent in the walk, and the numbers of
    each one's predecessors.
    """
    nodes = [root]
    number = {root: 0}
    parent = [0]
    predecessors: list[list[int]] = [[]]
    stack = [(0, iter(successors(root)))]
    while stack:
        at, rest = stack[-1]
        for node in rest:
            known = number.get(node)
            if known is None:
                known = number[node] = len(nodes)
                nodes.append(node)
                parent.append(at)
                predecessors.append([at])
                stack.append((known, iter(successors(node))))
                break
            predecessors[known].append(at)
        else:
            stack.pop()
    return nodes, parent, predecessors
