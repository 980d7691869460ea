"""Evaluate a graph as TensorFlow does, and as common mistakes would; count how often each operator runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any as Anything

from . import OPERATORS, Graph, Node

ITERATIONS = 10_000  # of one loop; no case needs more
RIGHT, SEQUENTIAL, AFTERWARDS = "right", "sequential", "afterwards"
EARLY, LATE, NEVER = "early", "late", "never"


class EndlessError(Exception):
    """A loop does not end within the limit."""


class Evaluation:
    """The evaluation of a graph. `outputs` are its results, `work` the number of runs of each operator.

    `rule` is RIGHT, or a mistake: SEQUENTIAL updates one variable after the other, AFTERWARDS tests the
    condition after each iteration, EARLY returns the values before the last iteration, LATE those after
    one more, and NEVER those before the first. A loop that takes more than `limit` iterations raises an
    EndlessError.
    """

    def __init__(
        self, graph: Graph, inputs: Sequence[Anything], rule: str = RIGHT, limit: int = ITERATIONS
    ) -> None:
        import numpy as np

        self.graph, self.rule, self.limit, self.numpy = graph, rule, limit, np
        self.work: Counter[str] = Counter()
        values = {name: np.asarray(value, "int32") for name, value in zip(graph.inputs, inputs)}
        self.outputs = tuple([self._value(reference, values) for reference in graph.outputs])

    def _value(self, reference: str, known: dict[str, Anything]) -> Anything:
        if reference not in known:
            node = self.graph.node(reference)
            if node.op == "Exit":
                self._loop(self.graph.frame_of(node), known)
            elif node.op in ("LoopCond", "NextIteration"):
                known[reference] = self._value(node.inputs[0], known)
            elif node.op == "Const":
                known[reference] = self.numpy.asarray(node.value, "int32")
            else:
                operands = [self._value(operand, known) for operand in node.inputs]
                self.work[OPERATORS[node.op]] += 1
                known[reference] = getattr(self.numpy, OPERATORS[node.op])(*operands)
        return known[reference]

    def _loop(self, frame: str, outside: dict[str, Anything]) -> None:
        """Run the loop of a frame, and add the values of its Exits to those `outside`."""
        enters = {n.name: n for n in self.graph.nodes if n.op == "Enter" and n.frame == frame}
        merges = [n for n in self.graph.nodes if n.op == "Merge" and n.inputs[0] in enters]
        names = {merge.name for merge in merges}
        switches = [n for n in self.graph.nodes if n.op == "Switch" and n.inputs[0] in names]
        fixed = {n.name: self._value(n.inputs[0], outside) for n in enters.values()}
        current = {merge.name: fixed[merge.inputs[0]] for merge in merges}
        for number in range(self.limit + 1):
            known = self._iteration(fixed, current, switches)
            goes_on = bool(self._value(switches[0].inputs[1], known)) and self.rule != NEVER
            if not goes_on and self.rule != LATE and not (self.rule == AFTERWARDS and number == 0):
                break
            following = dict(current)
            for merge in merges:
                if self.rule == SEQUENTIAL:
                    known = self._iteration(fixed, following, switches)
                following[merge.name] = self._value(merge.inputs[1], known)
            if self.rule == EARLY:
                ahead = self._iteration(fixed, following, switches)
                if not bool(self._value(switches[0].inputs[1], ahead)):
                    break
            current = following
            if not goes_on and self.rule == LATE:
                break
        else:
            raise EndlessError
        for node in self.graph.nodes:
            if node.op == "Exit" and self.graph.frame_of(node) == frame:
                outside[node.name] = current[self.graph.node(node.inputs[0]).inputs[0]]

    def _iteration(
        self, fixed: dict[str, Anything], current: dict[str, Anything], switches: Sequence[Node]
    ) -> dict[str, Anything]:
        """Return what is known at the start of an iteration."""
        known = {**fixed, **current}
        for switch in switches:
            known[f"{switch.name}:0"] = known[f"{switch.name}:1"] = current[switch.inputs[0]]
        return known
