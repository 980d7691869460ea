"""Converters of the fused cells of recurrent networks."""

from __future__ import annotations

from ....ir.errors import RelayError
from ....ir.expr import Expr, const
from ....ops import namespaces as relay
from ...base.context import Results
from ...base.source import Node
from ..importer import Importer
from ..registry import converts


@converts("LSTMBlockCell")
def _lstm(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert one step of an LSTM; the results are i, cs, f, o, ci, co and h in TensorFlow's names."""
    x, state, hidden, weight, peep_i, peep_f, peep_o, bias = inputs
    peephole = bool(node.attrs.get("use_peephole", False))
    clip = float(node.attrs.get("cell_clip", 3.0))
    dtype = tf.context.dtype(x)
    gates = relay.nn.dense(relay.concatenate([x, hidden], 1), relay.transpose(weight, [1, 0]))
    i, ci, f, o = relay.split(relay.add(gates, bias), 4, 1)
    f = relay.add(f, const(float(node.attrs.get("forget_bias", 1.0)), dtype))
    if peephole:
        i = relay.add(i, relay.multiply(peep_i, state))
        f = relay.add(f, relay.multiply(peep_f, state))
    i, f, ci = relay.sigmoid(i), relay.sigmoid(f), relay.tanh(ci)
    cs = relay.add(relay.multiply(ci, i), relay.multiply(state, f))
    if clip > 0:
        cs = relay.clip(cs, -clip, clip)
    if peephole:
        o = relay.add(o, relay.multiply(peep_o, cs))
    o, co = relay.sigmoid(o), relay.tanh(cs)
    return [i, cs, f, o, ci, co, relay.multiply(co, o)]


@converts("GRUBlockCell")
def _gru(tf: Importer, node: Node, inputs: list[Expr]) -> Results:
    """Convert one step of a GRU; the results are r, u, c and h in TensorFlow's names."""
    x, hidden, weight_gates, weight_state, bias_gates, bias_state = inputs
    dtype = tf.context.dtype(x)
    if dtype not in ("float32", "float16", "float64"):
        raise RelayError(f"a GRU of type {dtype} is not supported")

    def linear(operand: Expr, weight: Expr, bias: Expr) -> Expr:
        return relay.add(relay.nn.dense(operand, relay.transpose(weight, [1, 0])), bias)

    gates = relay.sigmoid(linear(relay.concatenate([x, hidden], 1), weight_gates, bias_gates))
    r, u = relay.split(gates, 2, 1)
    joined = relay.concatenate([x, relay.multiply(r, hidden)], 1)
    c = relay.tanh(linear(joined, weight_state, bias_state))
    h = relay.add(relay.multiply(u, hidden), relay.multiply(relay.subtract(const(1.0, dtype), u), c))
    return [r, u, c, h]
