"""How large the blocks of a kernel become when others are inlined into them.

A stage that is read twice by the next, and that twice by the one after it, occurs four times when all are
inlined: after thirty such steps, a thousand million times. And TVM expands `tanh(x)` into an expression in
which x occurs several times. So inlining is bounded.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

from ..compose import Composed, block_count

LARGEST = 1000  # occurrences, in a block's body, of what it reads
WRITTEN_OUT = 8  # times that the argument of a function such as `tanh` stands in what TVM makes of it
LONG, LONG_OUT = ("sin", "cos", "tan"), 500  # functions that are long, and how many times theirs counts
CHOICE = 2  # so much harder than a sum is a choice between values for TVM, which tries to decide it
PLAIN = ("fabs", "floor", "ceil", "round", "nearbyint", "trunc", "sqrt", "if_then_else", "likely", "fma")


class InliningCost:
    """What each block reads, how often: of the other blocks, by name, and of the arguments, counted as ""."""

    def __init__(self, composed: Composed) -> None:
        made_by: dict[Any, str] = {}
        self.reads: dict[str, Counter[str]] = {}
        for stage in composed.stages:
            names = iter(stage.blocks)
            for op in stage.ops:
                own = [next(names, "") for _ in range(block_count(op))] if stage.blocks else [""]
                made_by[op] = own[0]
                counted: Counter[str] = Counter()
                for maker, times in loads(op):
                    counted[made_by.get(maker, "")] += times
                for name in own:
                    self.reads[name] = counted

    def copy(self) -> InliningCost:
        """Make an independent copy."""
        made = copy(self)
        made.reads = dict(self.reads)
        return made

    def bounded(self, name: str, users: list[str]) -> bool:
        """Whether the blocks that read `name` stay small enough when it is inlined into them."""
        return all(sum(self._after(name, user).values()) <= LARGEST for user in users)

    def inlined(self, name: str, users: list[str]) -> None:
        """Note that `name` is inlined into `users`."""
        for user in users:
            self.reads[user] = self._after(name, user)

    def _after(self, name: str, user: str) -> Counter[str]:
        found = Counter(self.reads.get(user, Counter()))
        times = found.pop(name, 1)
        for read, count in self.reads.get(name, Counter({"": 1})).items():
            found[read] += times * count
        return found


def loads(op: Any) -> list[tuple[Any, int]]:
    """Return the operations whose tensors a TE operation reads, and how often each then occurs in the
    code.
    """
    bodies = list(op.body) if hasattr(op, "axis") and hasattr(op, "body") else []
    if not bodies:
        return [(tensor.op, 1) for tensor in op.input_tensors]
    found = []
    pending = [(body, 1) for body in bodies]
    while pending:
        node, times = pending.pop()
        times = min(times, LARGEST + 1)
        if type(node).__name__ == "Call":
            name = str(getattr(node.op, "name", "")).rpartition(".")[2]
            args = list(node.args)
            if name == "tensor_load":
                found.append((args.pop(0).op, times))
            elif name not in PLAIN:
                times *= LONG_OUT if name in LONG else WRITTEN_OUT
            pending += [(arg, times) for arg in args]
        else:
            times *= CHOICE if type(node).__name__ == "Select" else 1
            pending += [(part, times) for part in _parts(node)]
    return found


def _parts(node: Any) -> list[Any]:
    """Return the operands of an expression that is no call."""
    kind = type(node).__name__
    if kind == "Reduce":
        return list(node.source)
    if kind == "Select":
        return [node.condition, node.true_value, node.false_value]
    if kind == "Cast":
        return [node.value]
    return [getattr(node, name) for name in ("a", "b") if hasattr(node, name)]
