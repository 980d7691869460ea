"""The data flow of a program at one moment of fusion, as the exercise `fusion_rule` gives it to a learner."""

from __future__ import annotations

from ...analysis.dataflow_graph import DataflowGraph
from ...transform.fuse_ops.groups import Partition


class Flow:
    """The numbered nodes of a program's data flow, and the kernels that currently contain them.

    Patterns are the numbers of `relay.op.OpPattern`, from element-wise (0) to opaque (8).
    """

    def __init__(self, graph: DataflowGraph, partition: Partition) -> None:
        self._graph = graph
        self._partition = partition

    def uses(self, node: int) -> tuple[tuple[int, int], ...]:
        """Return the users of the node's value: pairs of a node and the pattern of its use."""
        return tuple((user.index, pattern) for user, pattern in self._graph.nodes[node].uses)

    def post_dominator(self, node: int) -> int:
        """Return the node where all paths from this one first meet. Only nodes that have one may be
        passed.
        """
        dominators = self._partition.dominators
        result = None if dominators is None else dominators.parent[node]
        if result is None:
            raise ValueError(f"node {node} has no post-dominator: its paths never meet")
        return result

    def pattern(self, node: int) -> int:
        """Return the node's own pattern."""
        return self._graph.nodes[node].pattern

    def kernel(self, node: int) -> int:
        """Return the pattern of the kernel that currently contains the node; at first it is the only one in
        it.
        """
        return self._partition.group_of(self._graph.nodes[node]).pattern
