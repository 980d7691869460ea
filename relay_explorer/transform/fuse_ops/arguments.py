"""Count the arguments of a kernel's function, for devices that limit their number.

A kernel is called with a buffer for each tensor that it reads or writes. A dimension that is known only at
run time is an argument as well, and so is each stride of an input with such a dimension.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from ...analysis.dataflow_graph import DataflowGraph, FlowNode
from ...ir.types import TensorType, TupleType, Type

if TYPE_CHECKING:
    from .groups import Group


class Arguments:
    """Counts the arguments of groups while they are merged."""

    def __init__(self, graph: DataflowGraph, groups: Iterable[Group]) -> None:
        self._inputs: list[list[FlowNode]] = [[] for _ in graph.nodes]
        for node in graph.nodes:
            for user, _ in node.uses:
                self._inputs[user.index].append(node)
        self._members: dict[Group, list[FlowNode]] = {group: [group.root] for group in groups}

    def merge(self, group: Group, into: Group) -> None:
        """Record that the nodes of `group` belong to `into` from now on."""
        self._members[into] += self._members.pop(group)

    def count(self, groups: Iterable[Group], output: FlowNode) -> int:
        """Count the arguments of the kernel that these groups would form, with `output` as its result."""
        members = [node for group in groups for node in self._members[group]]
        inside = {node.index for node in members}
        outside = {
            node.index: node
            for member in members
            for node in self._inputs[member.index]
            if node.index not in inside
        }
        inputs = sum(arguments_of(node.expr.checked_type, strides=True) for node in outside.values())
        return inputs + arguments_of(output.expr.checked_type, strides=False)


def arguments_of(type_: Type, strides: bool) -> int:
    """Count the arguments that pass a value of a type to a kernel; `strides` is true for inputs."""
    total, pending = 0, [type_]
    while pending:
        part = pending.pop()
        if isinstance(part, TupleType):
            pending += part.fields
            continue
        total += 1
        if isinstance(part, TensorType):
            dynamic = sum(not isinstance(extent, int) for extent in part.shape)
            total += dynamic + (len(part.shape) if dynamic and strides else 0)
    return total
