"""Dominators: the nodes of a graph through which every path to a node passes.

In a graph with a root, `d` dominates `n` if every path from the root to `n` passes through `d`. The nearest
dominator of a node other than the node itself is its immediate dominator, and the immediate dominators form a
tree. Operator fusion and the dominator patterns of `relay_explorer.dataflow_pattern` compute dominators of
programs: there the root is the result, and the edges lead from an expression to its operands, so `d`
dominates `n` if every use of `n` leads to `d`. In the direction of the data flow, `d` *post-dominates* `n`.

The algorithm is that of Lengauer and Tarjan (A Fast Algorithm for Finding Dominators in a Flowgraph, TOPLAS
1979) in its simple form, with path compression: O(m log n) steps for n nodes and m edges, and no recursion.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

from ..ir.expr import Expr
from ..ir.walk import children

N = TypeVar("N", bound=Hashable)


class DominatorTree(Generic[N]):
    """The dominators of the nodes reachable from `root`. `nodes` are these nodes, in depth-first preorder. A
    KeyError is raised for a node that is not reachable.
    """

    def __init__(self, nodes: list[N], parents: list[int]) -> None:
        """Build the tree: `parents[k]`, for k > 0, is the index in `nodes` of the immediate dominator of
        `nodes[k]`.
        """
        self.nodes = nodes
        self._number = {node: k for k, node in enumerate(nodes)}
        self._parents = parents
        # A node's subtree is the interval of `_size[k]` indices from `_first[k]` on.
        self._size = [1] * len(nodes)
        for k in range(len(nodes) - 1, 0, -1):  # a dominator comes before the nodes it dominates
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
        """Return the immediate dominator of `node`; None for the root."""
        k = self._number[node]
        return self.nodes[self._parents[k]] if k else None

    def places(self, node: N) -> range:
        """Return the indices of the nodes that `node` dominates, in a numbering that makes them consecutive
        and puts `node` first.
        """
        k = self._number[node]
        return range(self._first[k], self._first[k] + self._size[k])

    def dominates(self, above: N, below: N) -> bool:
        """Whether every path from the root to `below` passes through `above`. A node dominates itself."""
        return self._first[self._number[below]] in self.places(above)

    def strictly_dominates(self, above: N, below: N) -> bool:
        """Whether `above` dominates `below` and is not `below` itself."""
        return above != below and self.dominates(above, below)


def dominator_tree(root: N, successors: Callable[[N], Iterable[N]]) -> DominatorTree[N]:
    """Compute the dominators of the nodes reachable from `root` along `successors`. Cycles, self-loops and
    repeated edges are allowed.
    """
    nodes, parent, predecessors = _walk(root, successors)
    forest = _Forest(len(nodes))
    semi = forest.semi
    idom = [0] * len(nodes)
    waiting: list[list[int]] = [
        [] for _ in nodes
    ]  # maps a semidominator to the nodes whose dominator is not computed yet
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
        if idom[w] != semi[w]:  # then `idom[w]` is a node with the same dominator
            idom[w] = idom[idom[w]]
    return DominatorTree(nodes, idom)


def post_dominators(expr: Expr) -> DominatorTree[Expr]:
    """Compute the post-dominators of each expression: the expressions through which all its uses pass on
    their paths to the value of `expr`.
    """
    return dominator_tree(expr, children)


class _Forest:
    """A forest of nodes that are linked one by one into trees. `semi[v]` is the best semidominator of `v` so
    far.
    """

    def __init__(self, count: int) -> None:
        self.ancestor = [-1] * count
        self.semi = list(range(count))
        self.label = list(range(count))  # the node with the least `semi` on the compressed path upwards

    def best(self, v: int) -> int:
        """Return the node with the least `semi` on the path from `v` up to the root of its tree, excluding
        that root.
        """
        ancestor, semi, label = self.ancestor, self.semi, self.label
        if ancestor[v] < 0:
            return v
        path = []
        u = v
        while ancestor[ancestor[u]] >= 0:
            path.append(u)
            u = ancestor[u]
        for u in reversed(path):  # from the top, so that the nodes above are already compressed
            above = ancestor[u]
            if semi[label[above]] < semi[label[u]]:
                label[u] = label[above]
            ancestor[u] = ancestor[above]
        return label[v]


def _walk(root: N, successors: Callable[[N], Iterable[N]]) -> tuple[list[N], list[int], list[list[int]]]:
    """Walk the graph depth-first: return the nodes in preorder, the index of each node's parent in the walk,
    and the indices of its predecessors.
    """
    nodes = [root]
    number = {root: 0}
    parent = [0]
    predecessors: list[list[int]] = [[]]
    stack = [(0, iter(successors(root)))]
    while stack:
        at, rest = stack[-1]
        for node in rest:
            index = number.get(node)
            if index is None:
                index = number[node] = len(nodes)
                nodes.append(node)
                parent.append(at)
                predecessors.append([at])
                stack.append((index, iter(successors(node))))
                break
            predecessors[index].append(at)
        else:
            stack.pop()
    return nodes, parent, predecessors
