"""Control flow: `foreach` and `while_loop` become recursive functions, `cond` an `if`."""

from __future__ import annotations

from collections.abc import Sequence

from ...ir.errors import RelayError
from ...ir.expr import Expr, Var, const
from ...ir.show import counted
from ...ir.types import Dim
from ...ops import namespaces as relay
from ..base.context import Results
from ..base.errors import DynamicShapeError, ModelFileError
from ..base.loops import conditional, while_loop
from ..base.recurrence import scan
from .registry import Operation, converts
from .symbol import SymbolGraph
from .tensors import to_shape

LONGEST = 1 << 20  # iterations of a loop


def _subgraph(op: Operation, index: int) -> SymbolGraph:
    if index >= len(op.node.subgraphs):
        count = counted(len(op.node.subgraphs), "subgraph")
        raise ModelFileError(f"the node has {count}, but requires at least {index + 1}")
    return op.node.subgraphs[index]


def _choose(values: Sequence[Expr], places: Sequence[int]) -> list[Expr]:
    if any(not 0 <= place < len(values) for place in places):
        raise ModelFileError(
            f"a subgraph refers to the inputs {tuple(places)} of its node, which has {len(values)}"
        )
    return [values[place] for place in places]


def _truth(op: Operation, value: Expr) -> Expr:
    """Return the one element of a tensor as a truth value."""
    scalar = relay.reshape(value, ())
    return scalar if op.context.dtype(scalar) == "bool" else relay.not_equal(scalar, relay.zeros_like(scalar))


@converts("_foreach")
def foreach(op: Operation) -> Results:
    """Apply a subgraph to the elements along the first axis; return its outputs, stacked, and the states."""
    data_places, state_places = op.attrs.ints("in_data_locs"), op.attrs.ints("in_state_locs", ())
    other_places = op.attrs.ints("remain_locs", ())
    outputs = op.attrs.int("num_out_data")
    graph = _subgraph(op, 0)
    data = op.inputs[: len(data_places)]
    states = op.inputs[len(data_places) : len(data_places) + len(state_places)]
    others = op.inputs[len(data_places) + len(state_places) :]
    places = [*data_places, *state_places, *other_places]
    if sorted(places) != list(range(len(op.inputs))) or not data:
        raise ModelFileError(f"the inputs {places} of the loop's subgraph are not those of its node")

    def run(parts: Sequence[Expr], current: Sequence[Expr]) -> list[Expr]:
        arguments: list[Expr] = [parts[0]] * len(places)
        for place, value in zip(places, [*parts, *current, *others], strict=True):
            arguments[place] = value
        return op.importer.graph(graph, arguments)

    shapes: list[tuple[Dim, ...]] = []

    def step(parts: Sequence[Expr], current: Sequence[Expr]) -> tuple[Expr, list[Expr]]:
        results = run(parts, current)
        shapes[:] = [op.context.shape(value) for value in results[:outputs]]
        return _packed(op, results[:outputs], parts[0]), results[outputs:]

    stacked, final = scan(op.context, data, states, step)
    if outputs == 1:
        return [stacked, *final]
    return [*_unpacked(op, stacked, shapes), *final]


def _packed(op: Operation, values: Sequence[Expr], sample: Expr) -> Expr:
    """Return the outputs of one step as one tensor: several as a vector of all their elements."""
    if len(values) == 1:
        return values[0]
    if not values:
        return relay.zeros((), "float32")
    if len({op.context.dtype(value) for value in values}) > 1:
        raise RelayError("a loop's outputs must all have the same element type")
    return relay.concatenate([relay.reshape(value, (-1,)) for value in values], 0)


def _unpacked(op: Operation, stacked: Expr, shapes: Sequence[tuple[Dim, ...]]) -> list[Expr]:
    results, begin = [], 0
    for shape in shapes:
        size = 1
        for extent in shape:
            if not isinstance(extent, int):
                raise DynamicShapeError(
                    "a loop with several outputs requires that their shapes are known at compile time"
                )
            size *= extent
        part = relay.strided_slice(stacked, [begin], [begin + size], axes=[1])
        results.append(to_shape(part, (op.context.shape(stacked)[0], *shape)))
        begin += size
    return results


@converts("_while_loop")
def while_(op: Operation) -> Results:
    """Run a subgraph while another one's result is true, at most `max_iterations` times. The outputs of the
    iterations are stacked; those that do not take place have zeros.
    """
    test, body = _subgraph(op, 0), _subgraph(op, 1)
    test_places, body_places = op.attrs.ints("cond_input_locs"), op.attrs.ints("func_input_locs")
    variable_places = op.attrs.ints("func_var_locs")
    longest, outputs = op.attrs.int("max_iterations"), op.attrs.int("num_out_data")
    if not 0 < longest <= LONGEST:
        raise RelayError(f"max_iterations must be from 1 to {LONGEST:,}, not {longest}")
    if any(not 0 <= place < len(body_places) for place in variable_places):
        raise ModelFileError("a variable of the loop is not an input of its subgraph")
    variables = [body_places[place] for place in variable_places]  # by the number of the node's input
    first = op.importer.graph(body, _choose(op.inputs, body_places))[:outputs]
    shapes = [op.context.static_shape(value) for value in first]
    dtypes = [op.context.dtype(value) for value in first]
    index = const(0, "int32")

    def inputs(current: Sequence[Expr]) -> list[Expr]:
        values = list(op.inputs)
        for place, value in zip(variables, current, strict=True):
            values[place] = value
        return values

    def running(current: Sequence[Var]) -> Expr:
        values = inputs(current[1 + outputs :])
        (result,) = op.importer.graph(test, _choose(values, test_places))
        return relay.logical_and(relay.less(current[0], const(longest, "int32")), _truth(op, result))

    def step(current: Sequence[Var]) -> Sequence[Expr]:
        number, gathered = current[0], current[1 : 1 + outputs]
        results = op.importer.graph(body, _choose(inputs(current[1 + outputs :]), body_places))
        here = relay.equal(relay.arange(0, longest, dtype="int32"), number)
        following: list[Expr] = [relay.add(number, const(1, "int32"))]
        for array, value, shape in zip(gathered, results[:outputs], shapes):
            place = relay.reshape(here, (longest,) + (1,) * len(shape))
            following.append(relay.where(place, relay.expand_dims(value, 0), array))
        return [*following, *results[outputs:]]

    initial: list[tuple[str, Expr]] = [("index", index)]
    initial += [("outputs", relay.zeros((longest, *shape), dtype)) for shape, dtype in zip(shapes, dtypes)]
    initial += [(f"variable_{place}", op.inputs[place]) for place in variables]
    return while_loop(op.context, op.node.name, initial, running, step)[1:]


@converts("_cond")
def cond(op: Operation) -> Results:
    test, then, otherwise = (_subgraph(op, index) for index in range(3))
    places = [op.attrs.ints(f"{name}_input_locs", ()) for name in ("cond", "then", "else")]
    (value,) = op.importer.graph(test, _choose(op.inputs, places[0]))
    return conditional(
        op.context,
        _truth(op, value),
        lambda: op.importer.graph(then, _choose(op.inputs, places[1])),
        lambda: op.importer.graph(otherwise, _choose(op.inputs, places[2])),
    )
