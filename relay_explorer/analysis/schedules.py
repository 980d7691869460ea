"""Schedules: orders in which the operations of a block may be evaluated. All are legal, but need different
amounts of memory.

* `program`: the order of the interpreter: `let` by `let`, a graph from its first operand on.
* `depth first`: each operation just before its result is needed, whatever the order of `let`; of several
  operands, the one with the longest chain of operations first, so that no other result is live meanwhile.
* `level by level`: each operation as soon as its operands are ready, as on a machine with unlimited
  resources.
* `greedy`: of the operations that are ready, the one that frees the most memory; where none frees as much as
  it allocates, the next one in depth-first order.

Each branch of an `if` is ordered as a separate block, and the `if` is one operation around them. A view takes
no memory and no time: where the order is changed, it follows the operation whose result it views.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence

from .straight_line import Operation, StraightLine, Tensor


def ordered(code: StraightLine, schedule: str) -> list[Operation]:
    """Return the operations of a function in the order called `schedule`; branches are ordered in place."""
    rule = SCHEDULES.get(schedule)
    if rule is None:
        names = ", ".join(map(repr, SCHEDULES))
        raise ValueError(f"there is no schedule {schedule!r}: schedules are {names}")
    blocks = [(code.block, code.result)]
    for operations, result in blocks:
        operations[:] = _with_views(operations, rule(_Block(operations, result, code.tensors)))
        for operation in operations:
            blocks += zip(operation.blocks, operation.results)
    return code.block


class _Block:
    """The operations of a block to be ordered, without views; and for each, the operations that it needs."""

    def __init__(
        self, operations: Sequence[Operation], result: tuple[int, ...], tensors: Sequence[Tensor]
    ) -> None:
        self.all = operations
        self.operations = [op for op in operations if not op.is_view]
        self.maker = {t: n for n, op in enumerate(self.operations) for t in op.writes}
        self.needs = [
            list(dict.fromkeys(self.maker[t] for t in op.reads if t in self.maker)) for op in self.operations
        ]
        self.result = [t for t in result if t in self.maker]
        self.tensors = tensors


def _with_views(operations: Sequence[Operation], order: Sequence[Operation]) -> list[Operation]:
    """Return `order` with the views among `operations` inserted."""
    scheduled = set(order)
    after: dict[int, list[Operation]] = {}
    written = {t for op in order for t in op.writes}
    for op in operations:
        if op not in scheduled:
            source = op.reads[0]
            after.setdefault(source if source in written else -1, []).append(op)
    return [
        *after.get(-1, ()),
        *(x for op in order for x in (op, *(v for t in op.writes for v in after.get(t, ())))),
    ]


def _program(block: _Block) -> list[Operation]:
    return list(block.all)


def _depth_first(block: _Block) -> list[Operation]:
    """Order depth-first from the result down; operations on which it does not depend come last, in program
    order.
    """
    level = _level(block)
    needs = [sorted(needed, key=lambda n: -level[n]) for needed in block.needs]
    order: list[int] = []
    visited: set[int] = set()
    for root in [*(block.maker[t] for t in block.result), *range(len(block.operations))]:
        stack = [] if root in visited else [(root, iter(needs[root]))]
        visited.add(root)
        while stack:
            node, parts = stack[-1]
            part = next(parts, None)
            if part is None:
                order.append(node)
                stack.pop()
            elif part not in visited:
                visited.add(part)
                stack.append((part, iter(needs[part])))
    return [block.operations[n] for n in order]


def _level(block: _Block) -> list[int]:
    """Return for each operation the length of the longest chain of operations that ends in it, including
    itself.
    """
    level: list[int] = []
    for needs in block.needs:  # operations come after those that they need
        level.append(1 + max((level[m] for m in needs), default=0))
    return level


def _levels(block: _Block) -> list[Operation]:
    level = _level(block)
    return [block.operations[n] for n in sorted(range(len(level)), key=lambda n: (level[n], n))]


def _greedy(block: _Block) -> list[Operation]:
    return _Greedy(block).order()


class _Greedy:
    """List scheduling. An operation's growth is the memory that it allocates minus the memory that it frees
    by being its last reader. Of the operations whose operands are ready, the one that shrinks the live memory
    most comes next; if all increase it, the first in depth-first order.
    """

    def __init__(self, block: _Block) -> None:
        self.block = block
        self.sizes = [t.bytes for t in block.tensors]
        self.growth = [sum(self.sizes[t] for t in op.writes) for op in block.operations]
        self.waits = [len(needs) for needs in block.needs]
        self.done = [False] * len(block.operations)
        self.users: list[list[int]] = [[] for _ in block.operations]
        self.readers: dict[int, list[int]] = {}
        for n, (op, needs) in enumerate(zip(block.operations, block.needs)):
            for m in needs:
                self.users[m].append(n)
            for tensor in dict.fromkeys(op.reads):
                if tensor in block.maker:
                    self.readers.setdefault(tensor, []).append(n)
        results = set(block.result)
        self.left = {t: len(readers) + (t in results) for t, readers in self.readers.items()}
        first = {op: rank for rank, op in enumerate(_depth_first(block))}
        self.rank = [first[op] for op in block.operations]
        self.ready: list[tuple[int, int, int]] = []  # growth, at most 1; rank in depth-first order; index

    def order(self) -> list[Operation]:
        operations = []
        for tensor, count in self.left.items():
            if count == 1:
                self._one_left(tensor)
        self.ready = [self._entry(n) for n, waits in enumerate(self.waits) if not waits]
        heapq.heapify(self.ready)
        while self.ready:
            entry = heapq.heappop(self.ready)
            n = entry[2]
            if not self.done[n] and entry == self._entry(n):
                operations.append(self.block.operations[n])
                self._take(n)
        return operations

    def _entry(self, n: int) -> tuple[int, int, int]:
        return min(self.growth[n], 1), self.rank[n], n

    def _take(self, n: int) -> None:
        self.done[n] = True
        for tensor in dict.fromkeys(self.block.operations[n].reads):
            if tensor in self.left:
                self.left[tensor] -= 1
                if self.left[tensor] == 1:
                    self._one_left(tensor)
        for user in self.users[n]:
            self.waits[user] -= 1
            if not self.waits[user]:
                heapq.heappush(self.ready, self._entry(user))

    def _one_left(self, tensor: int) -> None:
        """Reduce the growth of the last remaining reader of a tensor, which frees it."""
        for n in self.readers[tensor]:
            if not self.done[n]:
                self.growth[n] -= self.sizes[tensor]
                if not self.waits[n]:
                    heapq.heappush(self.ready, self._entry(n))


SCHEDULES: dict[str, Callable[[_Block], list[Operation]]] = {
    "program": _program,
    "depth first": _depth_first,
    "level by level": _levels,
    "greedy": _greedy,
}
