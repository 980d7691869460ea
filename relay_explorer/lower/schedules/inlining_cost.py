"""Estimates how large the blocks of a kernel become when others are inlined into them.

If a stage is read twice by the next one, and that twice by the one after it, it occurs four times when all
are inlined; after thirty such steps it occurs a billion times. TVM also expands `tanh(x)` into an expression
in which x occurs several times. Inlining is therefore bounded.
"""

from __future__ import annotations

from collections import Counter
from copy import copy
from typing import Any

from ..compose import Composed, block_count

MAX_OCCURRENCES = 1000  # the most loads in a block's body
EXPANSION_FACTOR = 8  # occurrences of the argument of a function such as `tanh` in TVM's expansion
LONG, LONG_OUT = ("sin", "cos", "tan"), 500  # functions with long expansions, and the occurrences in them
SELECT_FACTOR = 2  # the weight of a select, whose condition TVM tries to prove
UNEXPANDED_INTRINSICS = (
    "fabs", "floor", "ceil", "round", "nearbyint", "trunc", "sqrt", "if_then_else",
    "likely", "fma",
)  # fmt: skip


class InliningCost:
    """Counts the loads of each block: from other blocks, by name, and from the kernel's arguments, as ""."""

    def __init__(self, composed: Composed) -> None:
        block_of: dict[Any, str] = {}
        self.reads: dict[str, Counter[str]] = {}
        for stage in composed.stages:
            names = iter(stage.blocks)
            for op in stage.ops:
                own = [next(names, "") for _ in range(block_count(op))] if stage.blocks else [""]
                block_of[op] = own[0]
                counted: Counter[str] = Counter()
                for producer, times in loads(op):
                    counted[block_of.get(producer, "")] += times
                for name in own:
                    self.reads[name] = counted

    def copy(self) -> InliningCost:
        """Return an independent copy."""
        result = copy(self)
        result.reads = dict(self.reads)
        return result

    def bounded(self, name: str, users: list[str]) -> bool:
        """Whether all `users` of a block stay small enough if it is inlined into them."""
        return all(sum(self._after(name, user).values()) <= MAX_OCCURRENCES for user in users)

    def inlined(self, name: str, users: list[str]) -> None:
        """Record that `name` is inlined into `users`."""
        for user in users:
            self.reads[user] = self._after(name, user)

    def _after(self, name: str, user: str) -> Counter[str]:
        reads = Counter(self.reads.get(user, Counter()))
        times = reads.pop(name, 1)
        for read, count in self.reads.get(name, Counter({"": 1})).items():
            reads[read] += times * count
        return reads


def loads(op: Any) -> list[tuple[Any, int]]:
    """Return the operations whose tensors a TE operation reads, and how often each load occurs in the
    generated code.
    """
    bodies = list(op.body) if hasattr(op, "axis") and hasattr(op, "body") else []
    if not bodies:
        return [(tensor.op, 1) for tensor in op.input_tensors]
    reads = []
    pending = [(body, 1) for body in bodies]
    while pending:
        node, times = pending.pop()
        times = min(times, MAX_OCCURRENCES + 1)
        if type(node).__name__ == "Call":
            name = str(getattr(node.op, "name", "")).rpartition(".")[2]
            args = list(node.args)
            if name == "tensor_load":
                reads.append((args.pop(0).op, times))
            elif name not in UNEXPANDED_INTRINSICS:
                times *= LONG_OUT if name in LONG else EXPANSION_FACTOR
            pending += [(arg, times) for arg in args]
        else:
            times *= SELECT_FACTOR if type(node).__name__ == "Select" else 1
            pending += [(part, times) for part in _parts(node)]
    return reads


def _parts(node: Any) -> list[Any]:
    """Return the operands of an expression that is not a call."""
    kind = type(node).__name__
    if kind == "Reduce":
        return list(node.source)
    if kind == "Select":
        return [node.condition, node.true_value, node.false_value]
    if kind == "Cast":
        return [node.value]
    if kind == "Let":  # the variable stands for the value, which is computed once
        return [node.value, node.body]
    return [getattr(node, name) for name in ("a", "b") if hasattr(node, name)]
