"""Convert ONNX operators that shift bits."""

from __future__ import annotations

from ...ir.errors import RelayError
from ...ir.expr import Expr
from ...ops import namespaces as relay
from ..base.source import Node
from .graph import Graph
from .registry import Inputs, converter
from .tools import operands, text


@converter("BitShift", since=11)
def _bit_shift(g: Graph, node: Node, inputs: Inputs) -> Expr:
    x, amount = operands(node, inputs, 2)
    direction = text(g.required(node, "direction"))
    if direction not in ("LEFT", "RIGHT"):
        raise RelayError(f"the direction {direction!r} of BitShift is neither LEFT nor RIGHT")
    return relay.left_shift(x, amount) if direction == "LEFT" else relay.right_shift(x, amount)
