"""Convert ONNX conditionals and loops: If, Loop and Scan.

A loop becomes a tail-recursive function. What each iteration appends to a scan output goes into a tensor.
Where the number of iterations is known, the tensor has its final size from the start, so that all types are
static and the kernels of the loop are compiled for them. Elsewhere it grows along its first axis, whose
extent is `?`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any as Anything

from ...ir.errors import RelayError
from ...ir.expr import Expr, If, Var, const
from ...ir.types import Any, TensorType, Type
from ...ops import namespaces as relay
from ..base.context import Context
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.loops import conditional, joined, recursion, settled, widened
from ..base.source import Node
from . import lists
from .body import Body
from .graph import Graph
from .registry import converter

_LARGEST = 1 << 26  # elements of a scan output that is allocated before its loop


@converter("If")
def if_then_else(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    then, otherwise = g.required(node, "then_branch"), g.required(node, "else_branch")
    condition = _scalar(g.context, inputs[0], "bool")
    known = g.context.constant(condition)
    if known is not None:
        return g.subgraph(then if known.item() else otherwise, [])
    left, right = g.subgraph(then, []), g.subgraph(otherwise, [])
    for index, (a, b) in enumerate(zip(left, right)):
        left[index], right[index] = _same_lists(g.context, a, b)
    return conditional(g.context, condition, lambda: left, lambda: right)


@converter("Loop")
def loop(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    body: Body = g.required(node, "body")
    limit, condition, initial = inputs[0], inputs[1], list(inputs[2:])
    if len(body.inputs) != len(initial) + 2 or len(body.outputs) < len(initial) + 1:
        raise ModelFileError(
            f"the body of Loop has {len(body.inputs)} inputs and {len(body.outputs)} outputs, which do not "
            f"match the {len(initial)} values that the loop carries"
        )
    builder = _Loop(g, node.name or "loop", body, initial)
    context = g.context
    if limit is not None:
        builder.limit = _scalar(context, limit, "int64")
    # Without an initial condition, ONNX's text ignores the one that the body computes. Its reference
    # implementation and ONNX Runtime do not.
    start = const(True) if condition is None else _scalar(context, condition, "bool")
    known = context.constant(start)
    if known is not None and not known.item():
        builder.limit = const(0, "int64")
    elif known is None or not _is_always_true(body):
        builder.start = start
    if limit is None and builder.start is None:
        raise RelayError("this Loop has neither a trip count nor a condition: it never ends")
    return builder.build()


class _Loop:
    """A Loop while it is converted. `limit` is the trip count and `start` the initial condition, None where
    the loop does not have it. The variables are: the iteration, the condition if there is one, the carried
    values, the scan outputs so far.
    """

    def __init__(self, g: Graph, name: str, body: Body, initial: Sequence[Expr]) -> None:
        self.g = g
        self.context = g.context
        self.name = name
        self.body = body
        self.initial = list(initial)
        self.limit: Expr | None = None
        self.start: Expr | None = None
        self.before = len(g.context.source.nodes)
        self.last: tuple[list[Var], list[Expr], list[Expr], Expr]  # what the last attempt at the types gave

    def build(self) -> list[Expr]:
        """Return the results: the carried values at the end, and the scan outputs."""
        context, carried = self.context, len(self.initial)
        iteration = Var("iteration", TensorType((), "int64"))
        going = Var("condition", TensorType((), "bool"))
        one = const(1, "int64")
        types = self._types(iteration, going)
        params, following, scans, goes_on = self.last
        initial = [_like_list(context, value, type_) for value, type_ in zip(self.initial, types)]

        variables: list[Var] = [iteration]
        values: list[Expr] = [relay.add(iteration, one)]
        starts: list[Expr] = [const(0, "int64")]
        test: Expr | None = None if self.limit is None else relay.less(iteration, self.limit)
        if self.start is not None:
            variables.append(going)
            values.append(goes_on)
            starts.append(self.start)
            test = going if test is None else relay.logical_and(test, going)
        assert test is not None
        variables += params
        values += following
        starts += initial
        count = self._count()
        for index, value in enumerate(scans):
            scan = ScanOutput(context, f"scan_{index}", value, iteration, count)
            variables.append(scan.variable)
            values.append(scan.following)
            starts.append(scan.initial)
        results = recursion(context, self.name, variables, test, values, starts, self.before)
        first = len(variables) - len(scans) - carried
        return list(results[first:])

    def _count(self) -> int | None:
        """Return the number of iterations if it is known, else None."""
        if self.start is not None or self.limit is None:
            return None
        known = self.context.constant(self.limit)
        return None if known is None else max(0, int(known.item()))

    def _names(self) -> list[str]:
        return [name or "value" for name in self.body.inputs[2:]]

    def _body(
        self, iteration: Expr, going: Expr, values: Sequence[Expr]
    ) -> tuple[list[Expr], list[Expr], Expr]:
        """Return the carried values after an iteration, what it appends to the scan outputs, and whether the
        loop goes on.
        """
        outputs = self.g.subgraph(self.body, [iteration, going, *values])
        condition = _scalar(self.context, outputs[0], "bool")
        count = len(self.initial)
        return outputs[1 : 1 + count], outputs[1 + count :], condition

    def _types(self, iteration: Var, going: Var) -> list[Type]:
        """Return types of the carried values that every iteration has."""
        context = self.context
        # The type of an empty sequence's elements becomes known when the body inserts the first.
        empty = [value if lists.known_items(value) == [] else None for value in self.initial]
        types = [context.type(value) for value in self.initial]
        if any(value is not None for value in empty):
            start = [
                value if nothing is not None else Var(name, type_)
                for name, value, nothing, type_ in zip(self._names(), self.initial, empty, types)
            ]
            following, _, _ = self._body(iteration, going, start)
            types = [
                context.type(after) if nothing is not None else type_
                for nothing, after, type_ in zip(empty, following, types)
            ]

        def run(attempt: Sequence[Type]) -> list[Expr]:
            params = [Var(name, type_) for name, type_ in zip(self._names(), attempt)]
            following, scans, goes_on = self._body(iteration, going, params)
            following = [_like_list(context, value, type_) for value, type_ in zip(following, attempt)]
            self.last = (params, following, scans, goes_on)
            return following

        return settled(context, self.name, types, run)


@converter("Scan", since=9)
def scan(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    return _scan(g, node, inputs)


@converter("Scan", since=8)
def scan_batched(g: Graph, node: Node, inputs: list[Anything]) -> Sequence[Expr]:
    """Convert the first form of Scan, which runs once for every element of a batch."""
    context = g.context
    if inputs[0] is not None:
        raise RelayError("Scan with the input sequence_lens cannot be imported")
    operands = inputs[1:]
    batch = context.shape(operands[0])[0]
    if not isinstance(batch, int):
        raise DynamicShapeError("Scan of opset 8 requires that the batch size is known at compile time")
    directions = g.attr(node, "directions", [])
    rows = []
    for index in range(batch):
        parts = [relay.take(operand, const(index, "int64"), axis=0) for operand in operands]
        rows.append(_scan(g, node, parts, directions))
    return [relay.stack(list(column), 0) for column in zip(*rows)]


def _scan(
    g: Graph, node: Node, inputs: list[Anything], directions: Sequence[int] | None = None
) -> Sequence[Expr]:
    context = g.context
    body: Body = g.required(node, "body")
    count: int = g.required(node, "num_scan_inputs")
    states, sequences = list(inputs[: len(inputs) - count]), list(inputs[len(inputs) - count :])
    if count < 1 or len(body.inputs) != len(inputs) or len(body.outputs) < len(states):
        raise ModelFileError(
            f"the body of Scan has {len(body.inputs)} inputs and {len(body.outputs)} outputs, which do not "
            f"match its {len(states)} states and {count} scan inputs"
        )
    outputs = len(body.outputs) - len(states)
    backward = _listed(g, node, "scan_input_directions", count) if directions is None else list(directions)
    backward = backward or [0] * count
    backward_out = _listed(g, node, "scan_output_directions", outputs)
    axes = [
        axis % context.rank(sequence)
        for axis, sequence in zip(_listed(g, node, "scan_input_axes", count), sequences)
    ]
    extents = [context.shape(sequence)[axis] for axis, sequence in zip(axes, sequences)]
    steps = next((extent for extent in extents if isinstance(extent, int)), None)
    if any(isinstance(extent, int) and extent != steps for extent in extents):
        raise RelayError(f"the scan inputs have different lengths: {', '.join(map(str, extents))}")
    before = len(context.source.nodes)
    length: Expr = const(steps, "int64") if steps is not None else _extent(sequences[0], axes[0])
    iteration = Var("iteration", TensorType((), "int64"))
    last = relay.subtract(relay.subtract(length, const(1, "int64")), iteration)

    last_step: list[tuple[list[Var], list[Expr]]] = []

    def step(types: Sequence[Type]) -> list[Expr]:
        params = [Var(name or "state", type_) for name, type_ in zip(body.inputs, types)]
        elements = [
            relay.take(sequence, last if reverse else iteration, axis=axis)
            for sequence, axis, reverse in zip(sequences, axes, backward)
        ]
        results = g.subgraph(body, [*params, *elements])
        last_step[:] = [(params, results)]
        return results[: len(states)]

    settled(context, node.name, [context.type(state) for state in states], step)
    params, results = last_step[0]
    scans = [
        ScanOutput(context, f"scan_{index}", value, iteration, steps, bool(reverse))
        for index, (value, reverse) in enumerate(zip(results[len(states) :], backward_out))
    ]
    final = recursion(
        context,
        node.name or "scan",
        [iteration, *params, *[scan.variable for scan in scans]],
        relay.less(iteration, length),
        [
            relay.add(iteration, const(1, "int64")),
            *results[: len(states)],
            *[scan.following for scan in scans],
        ],
        [const(0, "int64"), *states, *[scan.initial for scan in scans]],
        before,
    )
    finished: list[Expr] = list(final[1:])
    for index, axis in enumerate(_listed(g, node, "scan_output_axes", outputs)):
        place = len(states) + index
        finished[place] = _moved(context, finished[place], axis)
    return finished


class ScanOutput:
    """The tensor to which a loop adds `value` in each iteration.

    `variable` is the loop's variable for it, `initial` its initial value, and `following` that after an
    iteration. With `backward`, later values come first. `count` is the number of iterations, if known.
    """

    def __init__(
        self,
        context: Context,
        name: str,
        value: Expr,
        iteration: Expr,
        count: int | None,
        backward: bool = False,
    ) -> None:
        element = context.tensor(value)
        row = relay.expand_dims(value, 0)
        if count is not None and element.is_static and count * prod(element.concrete_shape) <= _LARGEST:
            type_ = TensorType((count, *element.shape), element.dtype)
            self.variable = Var(name, type_)
            self.initial: Expr = relay.zeros(type_.concrete_shape, element.dtype)
            where = relay.subtract(const(count - 1, "int64"), iteration) if backward else iteration
            index = relay.reshape(where, [1, 1])
            self.following: Expr = relay.scatter_nd(self.variable, index, row, "update")
            return
        self.variable = Var(name, TensorType((Any(), *element.shape), element.dtype))
        parts = [row, self.variable] if backward else [self.variable, row]
        self.following = relay.concatenate(parts, 0)
        if element.is_static:
            self.initial = relay.zeros((0, *element.concrete_shape), element.dtype)
            return
        # How long the other axes are is known when the first value is there.
        shape = [extent if isinstance(extent, int) else Any() for extent in element.shape]
        type_ = TensorType((Any(), *shape), element.dtype)
        self.variable = Var(name, type_)
        parts = [row, self.variable] if backward else [self.variable, row]
        is_first = relay.equal(iteration, const(0, "int64"))
        self.following = If(
            is_first, widened(context, row, type_), widened(context, relay.concatenate(parts, 0), type_)
        )
        self.initial = relay.zeros(
            [0, *[extent if isinstance(extent, int) else 0 for extent in shape]], element.dtype
        )


def _listed(g: Graph, node: Node, name: str, count: int) -> list[int]:
    """Return an attribute that has an integer for each of `count` values, 0 by default."""
    values = list(g.attr(node, name, [])) or [0] * count
    if len(values) != count:
        raise ModelFileError(f"the attribute `{name}` must have {count} elements, not {len(values)}")
    return values


def _moved(context: Context, value: Expr, axis: int) -> Expr:
    """Move the first axis to `axis`."""
    rank = context.rank(value)
    axis %= rank
    if axis == 0:
        return value
    order = [*range(1, axis + 1), 0, *range(axis + 1, rank)]
    return relay.transpose(value, order)


def _extent(value: Expr, axis: int) -> Expr:
    return relay.take(relay.shape_of(value, "int64"), const(axis, "int64"))


def _scalar(context: Context, value: Expr, dtype: str) -> Expr:
    """Return a value of one element as a scalar."""
    type_ = context.tensor(value)
    if type_.dtype != dtype:
        value = relay.cast(value, dtype)
    return relay.reshape(value, []) if type_.shape else value


def _is_always_true(body: Body) -> bool:
    """Whether the condition that a Loop's body computes is true: a constant, or the condition it is given."""
    makers = {name: node for node in body.nodes for name in node.outputs}
    name = body.outputs[0]
    while True:
        weight = body.weights.get(name)
        if weight is not None:
            return all(weight.values())
        if name == body.inputs[1]:
            return True
        node = makers.get(name)
        if node is None:
            return False
        if node.op == "Constant":
            value = node.attrs.get("value", node.attrs.get("value_int"))
            return all(value.values()) if hasattr(value, "values") else bool(value)
        if node.op not in ("Identity", "Cast"):
            return False
        name = node.inputs[0]


def _same_lists(context: Context, a: Expr, b: Expr) -> tuple[Expr, Expr]:
    """Give two sequences, of the branches of a conditional, one type; leave other values unchanged."""
    if (
        lists.argument_of(context.type(a), "List") is None
        or lists.argument_of(context.type(b), "List") is None
    ):
        return a, b
    element = lists.common_elements(context, a, b)
    return lists.with_elements(context, a, element), lists.with_elements(context, b, element)


def _like_list(context: Context, value: Expr, type_: Type) -> Expr:
    """Return a sequence with the elements of the type `type_` of lists; any other value unchanged."""
    element = lists.argument_of(type_, "List")
    own = lists.argument_of(context.type(value), "List")
    if element is None or own is None or own == element:
        return value
    if lists.known_items(value) == []:
        return lists.make_list(context, [], element)
    return lists.with_elements(context, value, element) if joined(own, element) == element else value
