"""Wrappers that apply layers to sequences: both directions, and each step by itself."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.errors import DynamicShapeError
from .call import Call, Results, Value, layer
from .graph import Step, is_graph
from .recurrent import initial_states, mask_argument, run


@layer("Bidirectional", uses_mask=True)
def _bidirectional(call: Call) -> Results:
    x, mask = call[0], mask_argument(call)
    states = initial_states(call)
    half = len(states) // 2 if states else 0
    forward = run(call, call.layer.forward_layer, x, states[:half] if states else None, mask)
    backward = run(call, call.layer.backward_layer, x, states[half:] if states else None, mask)
    every = bool(call.layer.forward_layer.return_sequences)
    first, second = forward.outputs, backward.outputs
    if every and call.layer.forward_layer.go_backwards:  # the order in which the layers compute
        first, second = relay.reverse(first, 1), relay.reverse(second, 1)
    mode = call.attr("merge_mode")
    result_mask = mask if every else None
    if mode is None:
        outputs = [Value(first, mask=result_mask), Value(second, mask=result_mask)]
    else:
        outputs = [Value(_merged(call, str(mode), first, second), mask=result_mask)]
    if call.attr("return_state", False) or call.layer.forward_layer.return_state:
        return [*outputs, *[Value(state) for state in (*forward.states, *backward.states)]]
    return outputs


def _merged(call: Call, mode: str, first: Expr, second: Expr) -> Expr:
    match mode:
        case "concat":
            return relay.concatenate([first, second], call.context.rank(first) - 1)
        case "sum":
            return relay.add(first, second)
        case "ave":
            return relay.divide(relay.add(first, second), call.number(2.0))
        case "mul":
            return relay.multiply(first, second)
    raise RelayError(f"Bidirectional with merge_mode={mode!r} cannot be imported")


@layer("TimeDistributed")
def _time_distributed(call: Call) -> Results:
    """Apply the layer to all steps at once, as a batch of examples."""
    inner = call.layer.layer
    x = call[0]
    batch, time, *rest = call.context.shape(x)
    example = [extent for extent in rest if isinstance(extent, int)]
    if not isinstance(time, int) or len(example) < len(rest):
        raise DynamicShapeError(
            "TimeDistributed requires that the number and the shape of the steps are known at compile time; "
            f"its operand has type {call.context.type(x)}"
        )
    rows = Value(relay.reshape(x, (-1, *example)))
    if is_graph(inner):
        results = call.importer.run(inner, [rows], (str(inner.name),))
    else:
        results = call.importer.apply(Step(inner, (), {}, []), [rows], {})
    lead = (batch, time) if isinstance(batch, int) else (-1, time)
    return [_split(call, value, lead) for value in results]


def _split(call: Call, value: Value, lead: tuple[int, int]) -> Expr:
    result = call.last(value)
    rest = [extent for extent in call.context.shape(result)[1:] if isinstance(extent, int)]
    if len(rest) + 1 != call.context.rank(result):
        raise DynamicShapeError(
            "the shape of a step's result must be known at compile time, but its type is "
            f"{call.context.type(result)}"
        )
    return relay.reshape(result, (*lead, *rest))
