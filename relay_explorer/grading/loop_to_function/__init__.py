"""The exercise `loop_to_function`: a dataflow loop of TensorFlow 1 becomes a tail-recursive function.

The graph is plain data, with TensorFlow's operators: Enter, Merge, Switch, LoopCond, NextIteration and Exit,
and a few ordinary ones, which `operator` builds in Relay.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any as Anything

from ...ir.expr import Call, Expr, Function, Var, const
from ...ir.lazy_dataclass import dataclass
from ...ir.module import IRModule
from ...ir.types import TensorType

OPERATORS = {
    "Add": "add", "Sub": "subtract", "Mul": "multiply", "Maximum": "maximum", "Less": "less",
    "Greater": "greater", "NotEqual": "not_equal", "LogicalAnd": "logical_and",
}  # fmt: skip
CONTROL = ("Enter", "Merge", "Switch", "LoopCond", "NextIteration", "Exit")


@dataclass(frozen=True)
class Node:
    """A node of the graph. `inputs` are references to values: the name of a node, or, for the two results of
    a Switch, its name with `:0` or `:1`.

    An Enter has a `frame`, the name of its loop, and `is_constant` if its value is the same in every
    iteration. A Const has a `value`, and a Placeholder a `shape`. All numbers are int32.
    """

    name: str
    op: str
    inputs: tuple[str, ...] = ()
    frame: str = ""
    is_constant: bool = False
    value: int = 0
    shape: tuple[int, ...] = ()

    def __str__(self) -> str:
        attrs = []
        if self.op == "Enter":
            attrs = [f'frame="{self.frame}"', *(["is_constant=True"] if self.is_constant else [])]
        elif self.op == "Const":
            attrs = [f"value={self.value}"]
        elif self.op == "Placeholder":
            attrs = [f"shape={self.shape}"]
        call = f"{self.name} = {self.op}({', '.join(self.inputs)})"
        return f"{call} {{{', '.join(attrs)}}}" if attrs else call


class Graph:
    """A dataflow graph: its `nodes`, in any order, the names of its Placeholders (`inputs`), and references
    to the values that it returns (`outputs`).
    """

    def __init__(self, nodes: Sequence[Node], inputs: Sequence[str], outputs: Sequence[str]) -> None:
        self.nodes = tuple(nodes)
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self._by_name = {node.name: node for node in self.nodes}

    def node(self, reference: str) -> Node:
        """Return the node that computes the value of a reference: of `switch_i` for `switch_i:1`."""
        name = reference.partition(":")[0]
        if name not in self._by_name:
            raise KeyError(f"the graph has no node {name!r}")
        return self._by_name[name]

    def frame_of(self, exit_: Node) -> str:
        """Return the frame that an Exit leaves: that of the Enter of its variable."""
        switch = self.node(exit_.inputs[0])
        merge = self.node(switch.inputs[0])
        return self.node(merge.inputs[0]).frame

    def __str__(self) -> str:
        lines = [str(node) for node in self.nodes]
        return "\n".join([*lines, f"returns ({', '.join(self.outputs)})"])

    __repr__ = __str__


def parameter(node: Node) -> Var:
    """Return a new variable for a Placeholder, of its type."""
    if node.op != "Placeholder":
        raise ValueError(f"`parameter` takes a Placeholder, not the {node.op} `{node.name}`")
    return Var(node.name, TensorType.of(node.shape, "int32"))


def operator(node: Node, operands: Sequence[Expr]) -> Expr:
    """Build the call of an ordinary operator, or the constant of a Const."""
    from ...ops import namespaces as relay

    if node.op == "Const":
        return const(node.value, "int32")
    if node.op not in OPERATORS:
        raise ValueError(f"the {node.op} `{node.name}` is no ordinary operator: it is part of a loop")
    result: Expr = getattr(relay, OPERATORS[node.op])(*operands)
    return result


def program(function: Function, *values: Anything) -> IRModule:
    """Return a program that calls the function with these values:
    `explore(program(loop_to_function(fibonacci()), 5), view="evaluation")`.
    """
    return IRModule.from_expr(Function([], Call(function, [const(value, "int32") for value in values])))


def fibonacci() -> Graph:
    """Return the graph of a loop that computes the `n`-th Fibonacci number:
    `i, a, b = 0, 0, 1; while i < n: i, a, b = i + 1, b, a + b`.
    """
    return Graph(
        [
            Node("n", "Placeholder"),
            Node("zero", "Const", value=0),
            Node("one", "Const", value=1),
            Node("enter_i", "Enter", ("zero",), "loop"),
            Node("enter_a", "Enter", ("zero",), "loop"),
            Node("enter_b", "Enter", ("one",), "loop"),
            Node("enter_n", "Enter", ("n",), "loop", is_constant=True),
            Node("merge_i", "Merge", ("enter_i", "next_i")),
            Node("merge_a", "Merge", ("enter_a", "next_a")),
            Node("merge_b", "Merge", ("enter_b", "next_b")),
            Node("less", "Less", ("merge_i", "enter_n")),
            Node("go", "LoopCond", ("less",)),
            Node("switch_i", "Switch", ("merge_i", "go")),
            Node("switch_a", "Switch", ("merge_a", "go")),
            Node("switch_b", "Switch", ("merge_b", "go")),
            Node("step", "Const", value=1),
            Node("add", "Add", ("switch_i:1", "step")),
            Node("sum", "Add", ("switch_a:1", "switch_b:1")),
            Node("next_i", "NextIteration", ("add",)),
            Node("next_a", "NextIteration", ("switch_b:1",)),
            Node("next_b", "NextIteration", ("sum",)),
            Node("exit_a", "Exit", ("switch_a:0",)),
        ],
        ["n"],
        ["exit_a"],
    )
