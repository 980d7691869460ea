"""Converters of functional control flow, and of what remains of dataflow control."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..dataflow import Dataflow, same_value
from ..importer import Importer, bounded
from ..loops import choice, loop, selected
from ..registry import converts


@converts("NoOp", "Assert", "Print", "PrintV2", "ControlTrigger")
def _nothing(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Drop a node that exists for its effect; as the graph's only result it is 0."""
    return inputs[0] if node.op == "Print" else const(0, "int32")


@converts("Switch", "RefSwitch", "_SwitchN")
def _switch(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Pass a value into both branches; the `if` that Merge becomes evaluates only one of them."""
    return [inputs[0]] * bounded(int(node.attrs.get("num_outs", 2)), "the number of branches")


@converts("LoopCond", "NextIteration", "RefNextIteration")
def _passed(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return inputs[0]


@converts("PartitionedCall", "StatefulPartitionedCall")
def _call(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    return tf.call(str(node.attrs["f"]), inputs, node.name)


@converts("If", "StatelessIf")
def _if(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    condition, args = _truth(tf, inputs[0]), inputs[1:]
    then, otherwise = (str(node.attrs[key]) for key in ("then_branch", "else_branch"))
    label = node.name
    return choice(
        tf,
        condition,
        partial(tf.call, then, args, f"{label}/then"),
        partial(tf.call, otherwise, args, f"{label}/else"),
    )


@converts("Case", "StatelessCase")
def _case(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    names = [str(name) for name in node.attrs["branches"]]
    if not names:
        raise RelayError("a Case node has no branches")
    calls = [partial(tf.call, name, inputs[1:], f"{node.name}/{index}") for index, name in enumerate(names)]
    return selected(tf, inputs[0], calls)


@converts("While", "StatelessWhile")
def _while(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    test, body = str(node.attrs["cond"]), str(node.attrs["body"])
    label = node.name
    graph = tf.function(body)
    unchanged = [_returns(graph, index) for index in range(len(inputs))]

    def iteration(values: Sequence[Expr], outside: Sequence[Expr]) -> tuple[Expr, Callable[[], list[Expr]]]:
        (going_on,) = tf.call(test, values, f"{label}/cond")
        return _truth(tf, going_on), lambda: tf.call(body, values, f"{label}/body")

    labels = list(graph.graph.args)
    return loop(tf, label, labels, inputs, unchanged, [], iteration)


def _returns(dataflow: Dataflow, index: int) -> bool:
    """Whether a function returns its parameter `index` as its result `index`."""
    graph = dataflow.graph
    if index >= min(len(graph.args), len(graph.results)):
        return False
    return same_value(graph, graph.results[index]) == (graph.args[index], 0)


def _truth(tf: Importer, condition: Expr) -> Expr:
    """Return a condition as a boolean scalar: numbers are true unless they are zero, tensors unless they are
    empty.
    """
    type_ = tf.context.tensor(condition)
    if type_.shape:
        if not type_.is_static:
            raise RelayError(
                f"a condition of type {type_} is true if the tensor has elements, which is known only at "
                "run time",
                help=["use a boolean scalar as the condition"],
            )
        return const(all(type_.concrete_shape), "bool")
    return condition if type_.dtype == "bool" else relay.not_equal(condition, const(0, type_.dtype))
