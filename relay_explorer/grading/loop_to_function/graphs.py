"""Loops as nested expressions, from which the graphs of the exercise are built.

An expression is a tuple: `("var", k)` and `("inv", k)` are the loop's variables and invariants, `("inner",
k)` is a final value of the loop inside, `("exit", k)` one of the outermost loop, `("input", k)` a Placeholder
and `("const", n)` a constant; every other tuple is an operator and its operands.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any as Anything

from ...ir.lazy_dataclass import dataclass
from . import Graph, Node

Expression = tuple[Anything, ...]
LEAVES = ("var", "inv", "inner", "exit", "input", "const")
VARIABLES, INVARIANTS = "iabcdefg", "nmkqrstu"


@dataclass(frozen=True)
class Loop:
    """`while condition: variables = following`. The initial values and the invariants are expressions of the
    surroundings; the loop `inner` runs in each iteration.
    """

    initial: tuple[Expression, ...]
    following: tuple[Expression, ...]
    condition: Expression
    invariants: tuple[Expression, ...] = ()
    inner: Loop | None = None


@dataclass(frozen=True)
class Case:
    """A loop, the values of the Placeholders (a tuple is a vector), and the expressions of what the graph
    returns. The nodes are in an order that `seed` chooses; 0 is the order in which they run.
    """

    inputs: tuple[Anything, ...]
    loop: Loop
    outputs: tuple[Expression, ...]
    seed: int = 0

    def graph(self) -> Graph:
        return _Builder(self).graph()


def parts(expression: Expression) -> Iterator[Expression]:
    """Iterate over an expression and its parts."""
    yield expression
    if expression[0] not in LEAVES:
        for operand in expression[1:]:
            yield from parts(operand)


def mapped(expression: Expression, leaf: Callable[[Expression], Expression]) -> Expression:
    """Replace the leaves of an expression."""
    if expression[0] in LEAVES:
        return leaf(expression)
    return (expression[0], *[mapped(operand, leaf) for operand in expression[1:]])


class _Builder:
    """Builds the nodes of a graph. Equal expressions of one iteration share their node."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.nodes: list[Node] = []
        self.names: set[str] = set()

    def graph(self) -> Graph:
        inputs = [f"x{number}" for number in range(len(self.case.inputs))]
        for name, value in zip(inputs, self.case.inputs):
            self.add(Node(name, "Placeholder", shape=(len(value),) if isinstance(value, tuple) else ()))
        used = {p[1] for output in self.case.outputs for p in parts(output) if p[0] == "exit"}
        shared: dict[Expression, str] = {("input", k): name for k, name in enumerate(inputs)}
        for number, exit_ in self.loop(self.case.loop, shared, "", used).items():
            shared["exit", number] = exit_
        outputs = [self.emit(output, shared) for output in self.case.outputs]
        if self.case.seed:
            random.Random(self.case.seed).shuffle(self.nodes)
        return Graph(self.nodes, inputs, outputs)

    def add(self, node: Node) -> str:
        self.nodes.append(node)
        self.names.add(node.name)
        return node.name

    def unique(self, name: str) -> str:
        number, result = 0, name
        while result in self.names:
            number += 1
            result = f"{name}_{number}"
        return result

    def emit(self, expression: Expression, shared: dict[Expression, str]) -> str:
        """Add the nodes of an expression, and return the reference of its value."""
        if expression not in shared:
            if expression[0] == "const":
                node = Node(self.unique("const"), "Const", value=expression[1])
            else:
                operands = tuple([self.emit(operand, shared) for operand in expression[1:]])
                node = Node(self.unique(expression[0].lower()), expression[0], operands)
            shared[expression] = self.add(node)
        return shared[expression]

    def loop(self, loop: Loop, outside: dict[Expression, str], prefix: str, used: set[int]) -> dict[int, str]:
        """Add a loop, and return the references of its `used` final values."""
        frame = f"{prefix}loop"
        names = [f"{prefix}{VARIABLES[k]}" for k in range(len(loop.initial))]
        entering = [self.emit(value, outside) for value in (*loop.initial, *loop.invariants)]
        enters = [
            self.add(Node(f"enter_{name}", "Enter", (value,), frame)) for name, value in zip(names, entering)
        ]
        fixed = {}
        for k, value in enumerate(entering[len(names) :]):
            node = Node(f"enter_{prefix}{INVARIANTS[k]}", "Enter", (value,), frame, is_constant=True)
            fixed["inv", k] = self.add(node)
        merges = [
            self.add(Node(f"merge_{name}", "Merge", (enter, f"next_{name}")))
            for name, enter in zip(names, enters)
        ]
        test = self.emit(loop.condition, {**fixed, **{("var", k): merge for k, merge in enumerate(merges)}})
        going_on = self.add(Node(f"{prefix}go", "LoopCond", (test,)))
        switches = [
            self.add(Node(f"switch_{name}", "Switch", (merge, going_on)))
            for name, merge in zip(names, merges)
        ]
        body: dict[Expression, str] = {**fixed}
        body |= {("var", k): f"{switch}:1" for k, switch in enumerate(switches)}
        if loop.inner is not None:
            inside = {p[1] for e in loop.following for p in parts(e) if p[0] == "inner"}
            for k, exit_ in self.loop(loop.inner, body, f"{prefix}inner_", inside).items():
                body["inner", k] = exit_
        for name, value in zip(names, [self.emit(value, body) for value in loop.following]):
            self.add(Node(f"next_{name}", "NextIteration", (value,)))
        return {k: self.add(Node(f"exit_{names[k]}", "Exit", (f"{switches[k]}:0",))) for k in sorted(used)}
