"""Count the launches and the memory traffic that the groups of a fusion would need, merge by merge."""

from __future__ import annotations

from collections.abc import Callable, Sequence

Traffic = Callable[[Sequence[int]], tuple[int, int]]  # of a group's nodes: bytes read, bytes written


class Tally:
    """Groups of nodes, each node alone at first, and their cost as kernels: `totals` are launches and
    bytes. A group that computes nothing is not a kernel.
    """

    def __init__(self, computes: Sequence[bool], traffic: Traffic) -> None:
        self._computes = computes
        self._traffic = traffic
        self._group = list(range(len(computes)))
        self._members = {node: [node] for node in range(len(computes))}
        self._moved = {node: sum(traffic([node])) for node, counts in enumerate(computes) if counts}
        self._bytes = sum(self._moved.values())

    @property
    def totals(self) -> tuple[int, int]:
        """Launches, and bytes read and written."""
        return len(self._moved), self._bytes

    def merge(self, nodes: Sequence[int], target: int) -> None:
        """Merge the groups of `nodes` into that of `target`."""
        into = self._group[target]
        old = {self._group[node] for node in nodes} - {into}
        for group in (*old, into):
            self._bytes -= self._moved.pop(group, 0)
        for group in old:
            members = self._members.pop(group)
            self._members[into].extend(members)
            for member in members:
                self._group[member] = into
        if any(self._computes[member] for member in self._members[into]):
            self._moved[into] = sum(self._traffic(self._members[into]))
            self._bytes += self._moved[into]
