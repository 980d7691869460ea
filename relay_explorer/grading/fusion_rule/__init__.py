"""What the exercise `fusion_rule` gives to a learner: the data flow of a program, at one moment of fusion."""

from __future__ import annotations

from ...analysis.dataflow_graph import DataflowGraph
from ...transform.fuse_ops.groups import Partition


class Flow:
    """The nodes of a program's data flow, which are numbers, and the kernels that they are in by now.

    Patterns are the numbers of `relay.op.OpPattern`, from element-wise (0) to opaque (8).
    """

    def __init__(self, graph: DataflowGraph, partition: Partition) -> None:
        self._graph = graph
        self._partition = partition

    def uses(self, node: int) -> tuple[tuple[int, int], ...]:
        """Who uses the node's value: pairs of a node and the pattern of its use."""
        return tuple((user.index, pattern) for user, pattern in self._graph.nodes[node].uses)

    def post_dominator(self, node: int) -> int:
        """Return the node where all paths from this one first meet. Only nodes that have one may be
        passed.
        """
        dominators = self._partition.dominators
        result = None if dominators is None else dominators.parent[node]
        if result is None:
            raise ValueError(f"node {node} has no post-dominator: its uses never meet")
        return result

    def pattern(self, node: int) -> int:
        """Return the node's own pattern."""
        return self._graph.nodes[node].pattern

    def kernel(self, node: int) -> int:
        """Return the pattern of the kernel that the node is in by now; at first it is alone in it."""
        return self._partition.group_of(self._graph.nodes[node]).pattern
