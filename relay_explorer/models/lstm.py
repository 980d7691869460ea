"""An LSTM whose loop over time is unrolled."""

from __future__ import annotations

from .. import relay
from ..ir.expr import Expr
from ..ir.module import IRModule
from .layers import Builder


def lstm(
    steps: int = 32, inputs: int = 64, hidden: int = 128, batch: int = 1, dtype: str = "float32"
) -> IRModule:
    """Build a network from `steps` inputs (batch, inputs) and the initial state (batch, hidden) to the last
    hidden state (batch, hidden). All steps share the same weights.
    """
    b = Builder(dtype=dtype)
    sequence = [b.input(f"x{t}", (batch, inputs)) for t in range(steps)]
    h: Expr
    c: Expr
    h, c = b.input("h", (batch, hidden)), b.input("c", (batch, hidden))
    w_input, w_hidden = b.weight("w_input", (4 * hidden, inputs)), b.weight("w_hidden", (4 * hidden, hidden))
    bias = b.weight("bias", (4 * hidden,))
    for x in sequence:
        both = relay.add(
            relay.nn.dense(x, w_input, units=4 * hidden), relay.nn.dense(h, w_hidden, units=4 * hidden)
        )
        gates = relay.split(relay.nn.bias_add(both, bias), indices_or_sections=4, axis=1)
        take, forget, new, out = (
            relay.sigmoid(gates[0]),
            relay.sigmoid(gates[1]),
            relay.tanh(gates[2]),
            relay.sigmoid(gates[3]),
        )
        c = relay.add(relay.multiply(forget, c), relay.multiply(take, new))
        h = relay.multiply(out, relay.tanh(c))
    return b.module(h)
